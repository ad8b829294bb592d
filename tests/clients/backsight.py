"""Backsight asked over its own command line, in JSON: whose a file is, which sessions there are, what is still open."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator


@dataclass(frozen=True)
class Writer:
    """Who wrote lines of a file: a message of a session, or none where the file counts as the user's."""

    session: str | None = None
    message: str | None = None

    def __str__(self) -> str:
        return f"session {self.session}, message {self.message}" if self.session else "the user's"


class Backsight:
    def __init__(self, program: Path, project: Path, home: Path):
        self._program, self._project = program, project
        self._environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}

    def ask(self, *arguments: str) -> dict:
        """The answer; that it is `ok` is for the caller to look at."""
        done = subprocess.run(
            [self._program, "--json", "-C", self._project, *arguments],
            env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        )
        return json.loads(done.stdout)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """A server of the project that outlives the client's runs."""
        command = [self._program, "-C", self._project, "serve", "--port", "0"]
        server = subprocess.Popen(
            command, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        try:
            # It says where it listens, once it does.
            server.stdout.readline()
            yield
        finally:
            server.terminate()
            server.wait(30)

    def writers(self, path: str) -> set[Writer]:
        """Who wrote the lines of a file as it is now, the lines from before the first session left out."""
        hunks = self.ask("blame", path).get("hunks", [])
        return {_writer(hunk) for hunk in hunks if hunk.get("sequence_number") != 1}

    def rows(self) -> list[dict]:
        """Every row with the files it touched, oldest first."""
        rows = self.ask("log", "--reverse", "--limit", "0")["rows"]
        return [{**row, "files": self.ask("show", row["id"]).get("affected_files", [])} for row in rows]

    def doubtful(self) -> set[str]:
        """The files that a row calls its session's and marks as perhaps the user's."""
        rows = self.ask("log", "--limit", "0")["rows"]
        held = (held for row in rows for held in row.get("may_hold", []) if held["of"] == "the user")
        return {path for one in held for path in one["paths"]}

    def sessions(self) -> list[str]:
        return [session["id"] for session in self.ask("session", "list")["sessions"]]

    def open_calls(self) -> list[dict]:
        return self.ask("status").get("open_calls", [])


def _writer(hunk: dict) -> Writer:
    """A row of a session may also hold what it found changed by others."""
    return Writer(hunk.get("session"), hunk.get("message")) if hunk["state"] == "recorded" else Writer()
