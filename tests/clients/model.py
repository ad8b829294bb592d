"""A model that says what it was told to say: an HTTP server on loopback that speaks the clients' dialects.

A prompt names its task (`Scripted task codex.edit.1: ...`), and the task has a script: one step for each answer, a step
being the tool calls of that answer. The server keeps no conversation: which step is next follows from what the client
sends, so that retries, resumed sessions and sub-agents need nothing of their own. How an answer is spelled is in
dialects.py.
"""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import dialects

TASK = re.compile(r"Scripted task ([\w.-]+):")


@dataclass(frozen=True)
class Call:
    """A tool call. Arguments are a text only where the client's tool takes free text (Codex's `apply_patch`)."""

    tool: str
    arguments: dict | str


@dataclass(frozen=True)
class Step:
    """One answer of the model: calls, or words when there are none. It comes `after` that many seconds."""

    calls: tuple[Call, ...] = ()
    words: str = "All done."
    after: float = 0


def call(tool: str, arguments: dict | str) -> Step:
    return Step((Call(tool, arguments),))


def together(*steps: Step) -> Step:
    """One answer with all the calls of the steps."""
    return Step(tuple(call for step in steps for call in step.calls))


class Model:
    """The server. What it was asked is kept below `log`, one file for a request."""

    def __init__(self, log: Path):
        self._scripts: dict[str, list[Step]] = {}
        self._played: set[str] = set()
        self._requests: dict[str, list[str]] = {}
        self._log = log
        self._lock = threading.Lock()
        self._asked = 0
        log.mkdir(parents=True)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def teach(self, task: str, script: list[Step]) -> None:
        self._scripts[task] = script

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def has_played(self, task: str) -> bool:
        """Whether the script's last step was followed by the closing words."""
        return task in self._played

    def requests(self, task: str) -> list[str]:
        """What the model was sent during a task, one text for each request."""
        with self._lock:
            return list(self._requests.get(task, []))

    def answer(self, turns: list[dialects.Turn], sent: str) -> Step:
        task, answered = _position(turns)
        with self._lock:
            self._requests.setdefault(task, []).append(sent)
        script = self._scripts.get(task, [])
        if answered < len(script):
            return script[answered]
        self._played.add(task)
        return Step()

    def keep(self, path: str, body: object) -> None:
        with self._lock:
            self._asked += 1
            name = f"{self._asked:04d}{re.sub(r'[^a-zA-Z0-9]+', '-', path)[:60]}.json"
        (self._log / name).write_text(json.dumps(body, indent=1))


def _position(turns: list[dialects.Turn]) -> tuple[str, int]:
    """The task that was named last, and how often the model has answered since."""
    task, answered = "", 0
    for turn in turns:
        named = TASK.findall(turn.text) if turn.by_user else []
        if named:
            task, answered = named[-1], 0
        elif not turn.by_user:
            answered += 1
    return task, answered


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._whole(200, {})

        def do_GET(self) -> None:
            self._whole(*((200, dialects.MODELS) if "models" in self.path else (404, {})))

        def do_POST(self) -> None:
            body = json.loads(self._body() or b"{}")
            model.keep(self.path, body)
            if "count_tokens" in self.path or "countTokens" in self.path:
                return self._whole(200, {"input_tokens": 100, "totalTokens": 100})
            dialect = dialects.of(self.path)
            if dialect is None:
                return self._whole(404, {})
            tells = dialect.offers_tools(body)
            step = model.answer(dialect.turns(body), json.dumps(body)) if tells else Step(words=dialect.ASIDE)
            time.sleep(step.after)
            if dialect.streams(self.path, body):
                return self._stream(dialect.stream(step, body))
            self._whole(200, dialect.whole(step, body))

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def _whole(self, status: int, answer: dict) -> None:
            text = b"" if self.command == "HEAD" else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self._send(text)

        def _stream(self, events: list[dict]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            self._send(b"".join(_event(event) for event in events))

        def _send(self, text: bytes) -> None:
            try:
                self.wfile.write(text)
            except (BrokenPipeError, ConnectionResetError):
                pass  # The client was interrupted and asks no more.

    return Handler


def _event(event: dict | str) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    named = f"event: {event['type']}\n" if "type" in event else ""
    return f"{named}data: {json.dumps(event)}\n\n".encode()
