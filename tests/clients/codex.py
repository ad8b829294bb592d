"""Codex: a provider of our own in its configuration, files written with patches, tools of MCP servers in namespaces."""

from __future__ import annotations

from pathlib import Path

from client import Client
from model import Step, call
from terminal import ENTER, ESCAPE, Terminal

CONFIG = """model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "{approval}"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
multi_agent_v2 = true

[projects."{project}"]
trust_level = "trusted"
"""
RULES = """prefix_rule(pattern = ["touch"], decision = "forbidden")
prefix_rule(pattern = ["cp"], decision = "{asked}")
"""


class Codex(Client):
    name = "codex"
    program = "codex"
    dialog = "Would you like to run"
    allow = ("y",)
    refuse = (ESCAPE,)
    interrupt = (ESCAPE,)

    def prepare(self, home: Path, project: Path, model: str, asks: bool) -> None:
        directory = home / ".codex"
        (directory / "rules").mkdir(parents=True)
        approval = "on-request" if asks else "never"
        (directory / "config.toml").write_text(CONFIG.format(approval=approval, model=model, project=project))
        (directory / "rules/default.rules").write_text(RULES.format(asked="prompt" if asks else "allow"))

    def environment(self, model: str, temporary: str) -> dict[str, str]:
        return {"SCRIPTED_KEY": "dummy-key"}

    def headless(self, prompt: str, resume: bool) -> list[str]:
        return ["exec", *(["resume", "--last"] if resume else []), "--dangerously-bypass-hook-trust", prompt]

    def interactive(self, prompt: str) -> list[str]:
        return ["--dangerously-bypass-hook-trust", prompt]

    def greet(self, terminal: Terminal) -> None:
        """It offers its vendor's newest model first."""
        terminal.wait("the offer of a model", lambda: terminal.shows("Use existing model"), 60)
        terminal.settle()
        terminal.press("2")
        terminal.settle()

    def edit(self, path: str, old: str, new: str) -> list[Step]:
        return [_patch(f"*** Update File: {path}\n@@\n-{old}\n+{new}")]

    def write(self, path: str, text: str) -> Step:
        added = "\n".join(f"+{line}" for line in text.splitlines())
        return _patch(f"*** Add File: {path}\n{added}")

    def shell(self, command: str) -> Step:
        return call("exec_command", {"cmd": command, "yield_time_ms": 30000})

    def background(self, command: str) -> Step:
        return call("exec_command", {"cmd": command, "yield_time_ms": 250})

    def delegate(self, prompt: str) -> list[Step]:
        return [call("collaboration/spawn_agent", {"message": prompt, "task_name": "part", "fork_turns": "none"}),
                call("collaboration/wait_agent", {"timeout_ms": 20000})]

    def mcp(self, tool: str, arguments: dict) -> Step:
        return call(f"mcp__backsight/{tool}", arguments)


def _patch(change: str) -> Step:
    return call("apply_patch", f"*** Begin Patch\n{change}\n*** End Patch\n")
