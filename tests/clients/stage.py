"""One situation with one client: a project, a home directory, the client installed into it, and what came of it.

A stage runs the client and lets the user act; it collects what is wrong instead of stopping at the first thing.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable

import recorder
from backsight import Backsight, Writer
from client import Client
from model import Model, Step
from terminal import Terminal, TooLate

USER = Writer()
# How a line of ours for the model begins.
OUR_LINE = "Backsight (what happened, not an instruction)"
APP = "def price(amount):\n    return amount * 1.19\n\n\nprint(price(10))\n"
# A headless run, where opencode takes the longest to start, and a prompt to a client that runs already.
RUN_SECONDS, SAY_SECONDS = 150, 60


class Stage:
    def __init__(self, client: Client, situation: str, place: Path, tools: Path, program: Path, model: Model):
        self.client, self.situation, self.model = client, situation, model
        self.project, self.home, self._place, self._tools = place / "project", place / "home", place, tools
        self.wrong: list[str] = []
        # Whether something could not be told, and was asked about.
        self.asked = False
        self.before_install: dict[str, bytes | None] = {}
        self._settings: set[str] = set()
        self._prompts = 0
        self._program = place / "bin" / "backsight"
        self.heard = recorder.Heard(place / "heard")
        self.backsight = Backsight(program, self.project, self.home)
        for directory in (self.project / "src", self.home, self._program.parent, place / "tmp"):
            directory.mkdir(parents=True)
        recorder.stand_in(program, self._program, place / "heard")
        self._make_project()

    def set_up(self, asks: bool = False) -> None:
        """Installs Backsight into the client, and sets the client up."""
        self.before_install = files_below(self.project)
        self.client.prepare(self.home, self.project, self.model.url, asks)
        self._checked("install", self.client.name, "--yes", "--command", str(self._program))
        self._settings = files_below(self.project).keys() - self.before_install.keys()

    def uninstall(self) -> None:
        self._checked("install", self.client.name, "--uninstall", "--yes", "--command", str(self._program))

    def run(self, script: list[Step], resume: bool = False) -> None:
        """One prompt, headless, until the client ends."""
        arguments = [self._client_program(), *self.client.headless(self.prompt(script), resume)]
        output = self._place / f"output-{self._prompts}.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                arguments, cwd=self.project, env=self._environment(), stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
            try:
                process.wait(RUN_SECONDS)
            except subprocess.TimeoutExpired:
                raise TooLate(f"the client's end did not come in {RUN_SECONDS} s; it said:\n{_tail(output)}") from None
            finally:
                _end(process)
        if not self.played():
            raise TooLate(f"the client did not ask for every answer of the model; it said:\n{_tail(output)}")

    def open(self, script: list[Step]) -> Terminal:
        """The client in a terminal, with a first prompt."""
        arguments = [self._client_program(), *self.client.interactive(self.prompt(script))]
        terminal = Terminal(arguments, self._environment(), self.project)
        try:
            self.client.greet(terminal)
        except BaseException:
            terminal.end()
            raise
        return terminal

    def say(self, terminal: Terminal, script: list[Step]) -> None:
        """A further prompt in the terminal, until the model has said its last word."""
        terminal.type(self.prompt(script))
        terminal.wait("the end of the next prompt", self.played, SAY_SECONDS)
        terminal.settle()

    def prompt(self, script: list[Step]) -> str:
        """The next prompt; the model learns what it does then."""
        self._prompts += 1
        self.model.teach(self._task(), script)
        return f"Scripted task {self._task()}: please do it."

    def played(self) -> bool:
        """Whether the model has said its last word to the newest prompt."""
        return self.model.has_played(self._task())

    def told(self) -> list[int]:
        """How often our line for the model stands in each request of the newest prompt."""
        return [sent.count(OUR_LINE) for sent in self.model.requests(self._task())]

    def sent(self) -> str:
        """What the model was sent first for the newest prompt."""
        return next(iter(self.model.requests(self._task())), "")

    def another_writes(self, path: str, text: str) -> None:
        """Another agent's session changes a file."""
        (self.project / path).write_text(text)
        self._checked("track", "--session", "another", "--tool", "Edit", "--declare", path)

    def user_writes(self, path: str) -> None:
        (self.project / path).write_text("mine\n")

    def path(self, path: str) -> str:
        """As the tools of the clients want it."""
        return str(self.project / path)

    def text(self, path: str) -> str:
        return (self.project / path).read_text()

    def work(self) -> dict[str, bytes | None]:
        """Every file but the client's settings, to which clients add by themselves."""
        mine = self._settings | self.client.leaves
        return {path: text for path, text in files_below(self.project).items() if path not in mine}

    def has(self, path: str) -> bool:
        return (self.project / path).exists()

    def session(self) -> str:
        """The conversation as the client's hooks call it; the first where sub-agents have their own."""
        sessions = self.heard.sessions()
        if not sessions:
            raise TooLate("no hook was heard")
        return sessions[0]

    def check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.wrong.append(otherwise)

    def is_agents(self, *paths: str) -> str | None:
        """Checks that these were written by one message of the session. Gives the message."""
        messages = set()
        for path in paths:
            writers = self.backsight.writers(path) if self.has(path) else set()
            theirs = {writer.message for writer in writers if writer.session == self.session()}
            self.check(bool(theirs) and len(theirs) == len(writers), f"`{path}` is {_named(writers)}, not the agent's")
            messages |= theirs
        self.check(len(messages) < 2, f"{', '.join(paths)} belong to {len(messages)} messages")
        self.check(None not in messages, f"{', '.join(paths)} belong to no message")
        return next(iter(messages), None)

    def is_users(self, path: str) -> None:
        """Checks that it is the user's, or marked as perhaps the user's."""
        writers, doubtful = self.backsight.writers(path), path in self.backsight.doubtful()
        self.asked |= doubtful
        holds = self.has(path) and (writers == {USER} or doubtful)
        self.check(holds, f"`{path}` is of {_named(writers)}, not the user's")

    def is_over(self) -> None:
        """Checks that no call is open any more, and that Backsight knows of no session but the client's."""
        calls = [f"{call.get('tool')} {call.get('part')}" for call in self.backsight.open_calls()]
        self.check(not calls, f"still open: {', '.join(calls)}")
        invented = set(self.backsight.sessions()) - set(self.heard.sessions())
        self.check(not invented, f"sessions that the client does not have: {', '.join(sorted(invented))}")

    def goes_back(self, message: str | None, gone: list[str], stays: list[str]) -> None:
        """Takes a message back, and checks what is gone and what stays."""
        if message is None:
            return
        revert = ("session", "revert", self.session(), "--message", message)
        doubtful = self.backsight.doubtful()
        answer = self.backsight.ask(*revert)
        asked = {conflict["path"] for conflict in answer.get("error", {}).get("details", {}).get("conflicts", [])}
        if asked and asked <= doubtful:
            self.asked = True
            answer = self.backsight.ask(*revert, "--on-conflict", "skip")
        self.check(answer["ok"], f"the revert said: {answer.get('error', {}).get('message')}")
        for path in set(gone) - asked:
            self.check(not self.has(path), f"`{path}` is still there after its message was taken back")
        for path in stays:
            self.check(self.has(path), f"`{path}` went with a message that is not its own")

    def wait(self, what: str, condition: Callable[[], object], seconds: float) -> None:
        """Waits without a terminal until the condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TooLate(f"{what} did not come in {seconds:g} s")
            time.sleep(0.05)

    def record(self, fixtures: recorder.Fixtures) -> None:
        places = {self.project: "{root}", self.home: "{home}", self._place: "{place}", self._tools: "{tools}"}
        names = {str(path): name for path, name in places.items()}
        # Claude Code names directories after the project's path.
        names |= {re.sub(r"[^a-zA-Z0-9]", "-", path): name for path, name in names.items()}
        fixtures.add(self.heard, self.client.name, self.situation, names)

    def _task(self) -> str:
        return f"{self.client.name}.{self.situation}.{self._prompts}"

    def _client_program(self) -> str:
        return str(self._tools / "node_modules" / ".bin" / self.client.program)

    def _environment(self) -> dict[str, str]:
        temporary = str(self._place / "tmp")
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "COLORTERM": "truecolor", "TMPDIR": temporary, **self.client.environment(self.model.url, temporary),
        }

    def _make_project(self) -> None:
        (self.project / "app.py").write_text(APP)
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "The shop"]):
            who = {"GIT_AUTHOR_NAME": "u", "GIT_AUTHOR_EMAIL": "u@example.org"}
            who |= {"GIT_COMMITTER_NAME": "u", "GIT_COMMITTER_EMAIL": "u@example.org"}
            subprocess.run(["git", *arguments], cwd=self.project, env={**os.environ, **who}, check=True, timeout=30)

    def _checked(self, *arguments: str) -> None:
        answer = self.backsight.ask(*arguments)
        self.check(answer["ok"], f"{arguments[0]} said: {answer.get('error', {}).get('message')}")


def files_below(directory: Path) -> dict[str, bytes | None]:
    """Every file with its bytes and every directory, without Git's and Backsight's own."""
    found: dict[str, bytes | None] = {}
    for root, directories, files in os.walk(directory):
        directories[:] = [name for name in directories if name not in (".git", ".backsight", "node_modules")]
        for name in directories:
            found[os.path.relpath(os.path.join(root, name), directory) + "/"] = None
        for name in files:
            path = Path(root, name)
            found[os.path.relpath(path, directory)] = path.read_bytes()
    return found


def _named(writers: set[Writer]) -> str:
    return " and ".join(sorted(map(str, writers))) or "in no record"


def _tail(file: Path) -> str:
    return file.read_text(errors="replace")[-1500:]


def _end(process: subprocess.Popen) -> None:
    """Ends what the client left in its process group."""
    for name in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, name)
        except ProcessLookupError:
            break
        time.sleep(0.2)
    process.wait()
