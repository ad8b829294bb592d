"""What a client is to the situations: how it is set up and started, and how a model tells it to act.

One file for each client implements this. Tools have a method each, which gives the step of a model's script that uses
the tool; what a client cannot do is in `impossible`, with the reason.
"""

from __future__ import annotations

import json
from pathlib import Path

from model import Step
from terminal import Terminal

class Client:
    # As `backsight install` and the matrix call it, and the program npm installs.
    name: str
    program: str
    # Situations that cannot be had with this client, and why.
    impossible: dict[str, str] = {}
    # What the client itself writes into a project.
    leaves: set[str] = set()
    # What its permission dialog shows, the keys that allow and refuse, and the keys that interrupt a running tool.
    dialog: str
    allow: tuple[str, ...]
    refuse: tuple[str, ...]
    interrupt: tuple[str, ...]

    def prepare(self, home: Path, project: Path, model: str, asks: bool) -> None:
        """Writes the user's settings. `asks`: the user is asked before a shell command, else everything may be done."""
        raise NotImplementedError

    def environment(self, model: str, temporary: str) -> dict[str, str]:
        return {}

    def headless(self, prompt: str, resume: bool) -> list[str]:
        raise NotImplementedError

    def interactive(self, prompt: str) -> list[str]:
        raise NotImplementedError

    def greet(self, terminal: Terminal) -> None:
        """Answers what the client asks at its start."""

    def edit(self, path: str, old: str, new: str) -> list[Step]:
        raise NotImplementedError

    def write(self, path: str, text: str) -> Step:
        raise NotImplementedError

    def shell(self, command: str) -> Step:
        raise NotImplementedError

    def background(self, command: str) -> Step:
        """A command that the client leaves running while the model goes on."""
        raise NotImplementedError

    def delegate(self, prompt: str) -> list[Step]:
        """A sub-agent with this prompt, until it has ended."""
        raise NotImplementedError

    def mcp(self, tool: str, arguments: dict) -> Step:
        raise NotImplementedError


def write_json(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=2) + "\n")
