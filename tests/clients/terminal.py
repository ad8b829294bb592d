"""A program in a terminal of its own: what it shows can be read and waited for, keys can be pressed.

The terminal is a real one (a PTY) with a real screen behind it (pyte), which also answers the questions programs ask
their terminal. Every wait has an end.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path
from typing import Callable

import pyte

COLUMNS, ROWS = 120, 40
ENTER, ESCAPE, DOWN, CONTROL_C = "\r", "\x1b", "\x1b[B", "\x03"

# pyte shows these as letters, or fails on them: keyboard protocols, private modes, colours with colons.
_UNKNOWN = re.compile(
    rb"\x1b\[[<>=][0-?]*[ -/]*[@-~]|\x1b\[\?[0-?]*[ -/]*[@-gi-km-~]|\x1b\[[0-9;]*:[0-9;:]*m|\x1b[P_^X].*?\x1b\\",
    re.DOTALL,
)
_UNFINISHED = re.compile(rb"\x1b(?:[P_^X\]][^\x07\x1b]*\x1b?|\[[0-?]*[ -/]*)?$")


class TooLate(Exception):
    """What was waited for did not come."""


class Terminal:
    def __init__(self, arguments: list[str], environment: dict[str, str], directory: Path):
        self._screen = _Screen(self._send)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self._tail = b""
        self._changed = time.monotonic()
        self._fd, inside = pty.openpty()
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        # Not `pty.fork`: other situations have threads in this process. `setsid` becomes the program and keeps its id.
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *arguments], cwd=directory, env=environment, stdin=inside, stdout=inside, stderr=inside
        )
        os.close(inside)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def text(self) -> str:
        """What the screen shows, without empty lines."""
        with self._lock:
            lines = [line.rstrip() for line in self._screen.display]
        return "\n".join(line for line in lines if line)

    def shows(self, *words: str) -> bool:
        text = self.text()
        return any(word in text for word in words)

    def wait(self, what: str, condition: Callable[[], object], seconds: float) -> None:
        """Waits until the condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end or not self.is_alive():
                how = "in time" if self.is_alive() else "before the client ended"
                raise TooLate(f"{what} did not come {how}; the screen:\n{self.text()}")
            time.sleep(0.05)

    def settle(self, seconds: float = 1.0, at_most: float = 4) -> None:
        """Waits until the screen has not changed for so long, from now on."""
        start = time.monotonic()
        while time.monotonic() < min(max(self._changed, start) + seconds, start + at_most):
            time.sleep(0.05)

    def press(self, key: str) -> None:
        self._send(key)

    def type(self, text: str) -> None:
        """Types a line, key by key: clients take what comes at once for a paste, and Enter for a part of it."""
        for key in text:
            self._send(key)
            time.sleep(0.02)
        self.settle(0.5, at_most=2)
        self._send(ENTER)

    def is_alive(self) -> bool:
        return self._reader.is_alive()

    def end(self) -> None:
        """Ends the program and those it started."""
        for name in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, name)
            except ProcessLookupError:
                break
            self._reader.join(3)
            if not self.is_alive():
                break
        os.close(self._fd)
        self._process.kill()
        self._process.wait()

    def _send(self, text: str) -> None:
        try:
            os.write(self._fd, text.encode())
        except OSError:
            pass  # The program has ended; what waits for it will say so.

    def _read(self) -> None:
        while True:
            try:
                if not select.select([self._fd], [], [], 1)[0]:
                    continue
                data = os.read(self._fd, 65536)
            except (OSError, ValueError):
                return
            if not data:
                return
            self._show(data)

    def _show(self, data: bytes) -> None:
        data = self._tail + data
        cut = _UNFINISHED.search(data)
        data, self._tail = (data[: cut.start()], data[cut.start() :]) if cut else (data, b"")
        with self._lock:
            self._stream.feed(_UNKNOWN.sub(b"", data))
        self._changed = time.monotonic()


class _Screen(pyte.Screen):
    """A screen whose answers reach the program."""

    def __init__(self, send: Callable[[str], None]):
        super().__init__(COLUMNS, ROWS)
        self._answer = send

    def write_process_input(self, data: str) -> None:
        self._answer(data)
