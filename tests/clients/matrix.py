"""The result: one mark for each client and situation, a table of them, and the reasons below it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Mark(Enum):
    RIGHT = "right"
    # The client does not tell whose it is: both are named, and a revert takes nothing without being told to.
    ASKS = "right (asks)"
    WRONG = "wrong"
    KNOWN = "wrong (known)"
    NOT_POSSIBLE = "not possible"


@dataclass(frozen=True)
class Outcome:
    client: str
    situation: str
    mark: Mark
    reasons: tuple[str, ...]
    seconds: float
    # The hooks that were heard, in their order.
    events: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.client}, {self.situation}"


def read_known(file: Path) -> dict[tuple[str, str], str]:
    """What is known to be wrong: lines of `CLIENT: SITUATION: why`."""
    lines = [line.strip() for line in file.read_text().splitlines()]
    parts = [line.split(": ", 2) for line in lines if line and not line.startswith("#")]
    return {(client, situation): why for client, situation, why in parts}


def render(outcomes: list[Outcome], situations: list[str], clients: list[str]) -> str:
    marks = {(outcome.client, outcome.situation): outcome.mark.value for outcome in outcomes}
    rows = [["", *clients]]
    rows += [[name, *(marks.get((client, name), "-") for client in clients)] for name in situations
             if any(outcome.situation == name for outcome in outcomes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def explain(outcome: Outcome) -> str:
    """What is wrong or not possible, and what the client said."""
    lines = [f"{outcome.title}: {outcome.mark.value}"]
    for reason in outcome.reasons:
        said, *shown = reason.splitlines()
        lines += _wrap(said)
        lines += [f"    | {line}" for line in shown]
    if outcome.events:
        lines += _wrap("heard: " + ", ".join(outcome.events))
    return "\n".join(lines)


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 79, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
