"""What a client says to Backsight, kept as it comes.

`stand_in` writes a program that keeps what comes on its standard input and then becomes the real one: a client is
installed with it and sees no difference. `Heard` reads what was kept; `Fixtures` writes it down without what differs
each time.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

_STAND_IN = """#!/bin/bash
# Keeps what the client says, then is the real program.
kept={kept}/$(date +%s%N)-$$
case $1 in
hook) cat >"$kept-hook.json" && exec {program} "$@" <"$kept-hook.json" ;;
mcp) env -0 >"$kept-environment" && exec {program} "$@" < <(tee "$kept-mcp.jsonl") ;;
*) exec {program} "$@" ;;
esac
"""


def stand_in(program: Path, at: Path, kept: Path) -> None:
    kept.mkdir()
    at.write_text(_STAND_IN.format(program=shlex.quote(str(program)), kept=shlex.quote(str(kept))))
    at.chmod(0o755)


class Heard:
    """What one client said in one situation, oldest first."""

    def __init__(self, kept: Path):
        self._kept = kept

    def events(self) -> list[dict]:
        """The payloads of its hooks. One that is being written is not among them yet."""
        events = []
        for file in sorted(self._kept.glob("*-hook.json")):
            try:
                events.append(json.loads(file.read_text()))
            except ValueError:
                pass
        return events

    def names(self) -> list[str]:
        return [_name(event) for event in self.events()]

    def has(self, *names: str) -> bool:
        return any(name in names for name in self.names())

    def sessions(self) -> list[str]:
        """The ids of its conversations, each once, in the order they were heard of."""
        return list(dict.fromkeys(filter(None, (_session(event) for event in self.events()))))

    def calls(self) -> list[dict]:
        """What it asked the MCP server."""
        lines = [line for file in sorted(self._kept.glob("*-mcp.jsonl")) for line in file.read_text().splitlines()]
        return [json.loads(line) for line in lines]

    def environments(self) -> list[dict[str, str]]:
        texts = [file.read_text() for file in sorted(self._kept.glob("*-environment"))]
        return [dict(pair.split("=", 1) for pair in text.split("\0") if "=" in pair) for text in texts]


def _session(event: dict) -> str | None:
    return event.get("session_id") or event.get("input", {}).get("sessionID")


def _name(event: dict) -> str:
    """The event as its fixture is named: `PreToolUse.Bash`, `tool.execute.before.edit`."""
    tool = event.get("tool_name") or event.get("input", {}).get("tool") or ""
    tool = re.sub(r"^(mcp_+backsight_+|backsight_)", "mcp.", tool)
    return ".".join(filter(None, (event["hook_event_name"], tool)))


class Fixtures:
    """A directory of payloads: for each event and tool the first payload, and each later one of another shape."""

    def __init__(self, into: Path):
        self._into = into
        self._shapes: dict[Path, set[str]] = {}

    def add(self, heard: Heard, client: str, situation: str, names: dict[str, str]) -> None:
        for event in heard.events():
            self._add(client, _name(event), situation, neutral(event, names))
        for question in heard.calls():
            if question.get("method") in ("initialize", "tools/call"):
                self._add(client, f"mcp.{question['method'].replace('/', '-')}", situation, neutral(question, names))
        for environment in heard.environments():
            self._add(client, "mcp.environment", situation, neutral(environment, names))

    def _add(self, client: str, name: str, situation: str, value: object) -> None:
        place = self._into / client
        shapes = self._shapes.setdefault(place / name, set())
        file = place / (f"{name}.{situation}.json" if shapes else f"{name}.json")
        if _shape(value) not in shapes:
            shapes.add(_shape(value))
            place.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(value, indent=2) + "\n")


def _shape(value: object) -> str:
    """The keys and types of a value."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_shape(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_shape(part) for part in value})) + "]"
    return type(value).__name__


_IDS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "00000000-0000-0000-0000-%012d"),
    (re.compile(r"\b(?:toolu|call|fc)_[0-9a-f]{8}\d{4}\b"), "call_%d"),
    (re.compile(r"\b(?:ses|msg|prt)_[0-9A-Za-z]{20,}\b"), "id_%d"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "%040d"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d+"), "1000%d"),
    (re.compile(r"(?<=PGID: )\d+|(?<=PID: )\d+"), "%d"),
    (re.compile(r"(?<=_unix_ms\": )\d+"), "17670000000%02d"),
)
_TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?"), "2026-01-01T00:00:00.000Z"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d(-\d\d)?(?=-)"), "2026-01-01T00-00"),
    (re.compile(r"/\d{4}/\d\d/\d\d/"), "/2026/01/01/"),
)


def neutral(value: object, names: dict[str, str]) -> object:
    """The same value with its paths named (`{root}`), its ids counted and its times fixed; equal ids stay equal."""
    text = json.dumps(value)
    for path in sorted(names, key=len, reverse=True):
        text = text.replace(path, names[path])
    for pattern, fixed in _TIMES:
        text = pattern.sub(fixed, text)
    for pattern, form in _IDS:
        counted: dict[str, str] = {}
        text = pattern.sub(lambda found: counted.setdefault(found[0], form % (len(counted) + 1)), text)
    return json.loads(text)
