"""A debugger of nothing: it pauses at its beginning and ends when it is told to go on."""

import json
import sys


def read():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if not line.strip():
            return json.loads(sys.stdin.buffer.read(length))
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)


def say(message):
    body = json.dumps({"seq": 0, **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def event(name, **body):
    say({"type": "event", "event": name, "body": body})


VARIABLES = [
    {"name": "number", "value": "42", "type": "int", "variablesReference": 0},
    {"name": "password", "value": "'hunter2-hunter2'", "type": "str", "variablesReference": 0},
]
BODIES = {
    "initialize": {"supportsConfigurationDoneRequest": True},
    "threads": {"threads": [{"id": 1, "name": "main"}]},
    "stackTrace": {"stackFrames": [{"id": 1, "name": "work", "line": 1, "source": {"path": "toy.txt"}}]},
    "scopes": {"scopes": [{"name": "Locals", "variablesReference": 1, "expensive": False}]},
    "variables": {"variables": VARIABLES},
}

while True:
    request = read()
    command = request["command"]
    body = BODIES.get(command, {})
    if command == "launch":
        # A program that is a list of variables has those.
        with open(request["arguments"]["program"], encoding="utf-8") as program:
            text = program.read()
        if text.startswith("["):
            BODIES["variables"] = {"variables": json.loads(text)}
        # What the configuration sends along comes back as output.
        event("output", category="stdout", output=json.dumps(request["arguments"], sort_keys=True) + "\n")
    say({"type": "response", "request_seq": request["seq"], "success": True, "command": command, "body": body})
    if command == "launch":
        event("initialized")
    elif command == "configurationDone":
        event("stopped", reason="entry", threadId=1, allThreadsStopped=True)
    elif command == "continue":
        event("exited", exitCode=0)
        event("terminated")
    elif command == "disconnect":
        sys.exit(0)
