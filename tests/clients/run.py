"""`make clients`: runs the real clients through every situation and prints whose changes Backsight says they are.

The whole run is in namespaces of its own: a network with only loopback, so that no client reaches its vendor, and
processes that end with this one, so that nothing is left running.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matrix
from claude_code import ClaudeCode
from client import Client
from codex import Codex
from gemini import Gemini
from matrix import Mark, Outcome
from model import Model
from opencode import OpenCode
from recorder import Fixtures
from situations import ALL, Situation
from stage import Stage
from terminal import TooLate

CLIENTS: list[type[Client]] = [ClaudeCode, Codex, Gemini, OpenCode]
HERE = Path(__file__).resolve().parent
# Set for the process inside the namespaces: the directory for everything.
INSIDE = "BACKSIGHT_CLIENTS_INSIDE"


def main() -> int:
    options = _options()
    if INSIDE not in os.environ:
        return _outside(options.keep)
    worker = os.fork()
    if worker:
        return _be_the_first_process(worker)
    # Ctrl-C ends the first process, and with it all others. A handler is not inherited by the clients, as ignoring is.
    signal.signal(signal.SIGINT, lambda *_: None)
    return _work(options, Path(os.environ[INSIDE]))


def _outside(keep: bool) -> int:
    """Runs everything in namespaces. What was said stays when something is wrong."""
    place = Path(tempfile.mkdtemp(prefix="backsight-clients-"))
    status = _enter_namespaces(place)
    if keep or status == 1:
        print(f"\nEverything that was said is below {place}", file=sys.stderr)
    else:
        shutil.rmtree(place, ignore_errors=True)
    return status


def _work(options: argparse.Namespace, place: Path) -> int:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    started = time.monotonic()
    known = matrix.read_known(HERE / "known.txt")
    outcomes = [_as_known(outcome, known) for outcome in _run_all(options, place)]
    _report(outcomes, known, time.monotonic() - started)
    return 1 if any(outcome.mark is Mark.WRONG for outcome in outcomes) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="the backsight to try")
    parser.add_argument("--tools", type=Path, required=True, help="where the clients are installed")
    parser.add_argument("--only", default="", help="CLIENT, CLIENT:SITUATION or :SITUATION, several with commas")
    parser.add_argument("--record", type=Path, help="write the payloads that were heard into this directory")
    parser.add_argument("--jobs", type=int, default=3, help="how many situations run at once")
    parser.add_argument("--keep", action="store_true", help="keep what was said also when all is right")
    return parser.parse_args()


def _enter_namespaces(place: Path) -> int:
    become_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    enter = ["unshare", *become_root, "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode != 0:
        print("no namespaces can be made here: run it as root, or allow them to users with\n"
              "  sudo sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0",
              file=sys.stderr)
        return 2
    try:
        again = [sys.executable, "-B", *sys.argv]
        return subprocess.run([*enter, *again], env={**os.environ, INSIDE: str(place)}).returncode
    except KeyboardInterrupt:
        return 130


def _be_the_first_process(worker: int) -> int:
    """Takes leave of processes whose parents are gone, so that they do not look alive; all others end with this one."""
    try:
        while True:
            ended, status = os.wait()
            if ended == worker:
                return os.waitstatus_to_exitcode(status)
    except KeyboardInterrupt:
        return 130


def _run_all(options: argparse.Namespace, place: Path) -> list[Outcome]:
    pairs = [(client, situation) for situation in ALL for client in CLIENTS]
    chosen = [pair for pair in pairs if _is_chosen(options.only, *pair)]
    if not chosen:
        print(f"nothing is called `{options.only}`; situations are: {', '.join(map(_slug, ALL))}", file=sys.stderr)
        sys.exit(2)
    model = Model(place / "model")
    say = threading.Lock()

    def run(pair: tuple[type[Client], Situation]) -> tuple[Outcome, Stage | None]:
        outcome, stage = _run_one(*pair, options, place, model)
        with say:
            print(f"{outcome.title}: {outcome.mark.value} ({outcome.seconds:.0f} s)", file=sys.stderr)
        return outcome, stage

    with ThreadPoolExecutor(options.jobs) as workers:
        played = list(workers.map(run, chosen))
    model.close()
    if options.record:
        fixtures = Fixtures(options.record)
        for stage in (stage for _, stage in played if stage):
            stage.record(fixtures)
    return [outcome for outcome, _ in played]


def _is_chosen(only: str, client: type[Client], situation: Situation) -> bool:
    pairs = [choice.partition(":") for choice in only.split(",") if choice]
    return not pairs or any(
        name in ("", client.name) and wanted in ("", _slug(situation)) for name, _, wanted in pairs
    )


def _slug(situation: Situation) -> str:
    """The situation's name as it is typed and as its directory is called."""
    return situation.name.replace(" ", "-")


def _run_one(
    kind: type[Client], situation: Situation, options: argparse.Namespace, place: Path, model: Model
) -> tuple[Outcome, Stage | None]:
    client, started = kind(), time.monotonic()

    def outcome(mark: Mark, reasons: list[str], events: list[str]) -> Outcome:
        seconds = time.monotonic() - started
        return Outcome(client.name, situation.name, mark, tuple(reasons), seconds, tuple(events))

    if situation.name in client.impossible:
        return outcome(Mark.NOT_POSSIBLE, [client.impossible[situation.name]], []), None
    below = place / client.name / _slug(situation)
    stage = Stage(client, _slug(situation), below, options.tools.resolve(), options.program.resolve(), model)
    try:
        stage.set_up(situation.asks)
        situation.play(stage)
    except TooLate as late:
        stage.wrong.append(f"could not be driven: {late}")
    except Exception:
        stage.wrong.append(f"could not be driven: {traceback.format_exc()}")
    mark = Mark.WRONG if stage.wrong else Mark.ASKS if stage.asked else Mark.RIGHT
    return outcome(mark, stage.wrong, stage.heard.names()), stage


def _as_known(outcome: Outcome, known: dict[tuple[str, str], str]) -> Outcome:
    why = known.get((outcome.client, outcome.situation))
    if why is None or outcome.mark is not Mark.WRONG:
        return outcome
    return Outcome(outcome.client, outcome.situation, Mark.KNOWN, (f"known: {why}", *outcome.reasons), outcome.seconds,
                   outcome.events)


def _report(outcomes: list[Outcome], known: dict[tuple[str, str], str], seconds: float) -> None:
    for outcome in outcomes:
        if outcome.mark is not Mark.RIGHT:
            print(f"\n{matrix.explain(outcome)}")
    names = [client.name for client in CLIENTS]
    print(f"\n{matrix.render(outcomes, [situation.name for situation in ALL], names)}")
    for outcome in outcomes:
        if outcome.mark is Mark.RIGHT and (outcome.client, outcome.situation) in known:
            print(f"\n{outcome.title} is right now: take it out of known.txt")
    right = sum(outcome.mark in (Mark.RIGHT, Mark.ASKS) for outcome in outcomes)
    print(f"\n{right} of {len(outcomes)} right, in {seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
