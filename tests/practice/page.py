"""The page that lists every situation: what is expected, what is allowed, and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from practice.situation import Situation
from practice.situations import AREAS

Measured = Callable[[Situation], float]

HEAD = ("asked", "expected", "allowed", "measured", "by")

MEASURED = HEAD.index("measured")
"""The column that runs decide; all others are what `tests/practice` says."""


def page(situations: Sequence[Situation], measured: Measured) -> str:
    """All situations, area by area."""
    lines = [
        "# Practice",
        "",
        f"{len(situations)} situations of voice, video, TCP and queues whose answer is known before anything is run: from a standard, a",
        "formula or plain experience. What is expected is worked out in `tests/practice` without fairwave, E-model included;",
        "`make test` asks fairwave, and an answer that is not allowed fails. `make docs` writes this page.",
        "",
        "Where answers are exact, hosts are in step and headers left out; random losses and arrivals are allowed four standard deviations.",
        "Scenarios are in `tests/practice`, by the name in the first column.",
    ]
    for area, (title, _) in AREAS.items():
        lines += ["", f"## {title}", "", _line(("situation", *HEAD)), _line(("---",) * (len(HEAD) + 1))]
        lines += [_line(row(one, measured(one))) for one in situations if one.area == area]
    return "\n".join(lines) + "\n"


def row(one: Situation, measured: float) -> tuple[str, ...]:
    """A situation's cells."""
    mark = "" if one.low <= measured <= one.high else " ✗"
    return (
        f"`{one.key}`",
        one.asked,
        _shown(one.expected, one.unit),
        _allowed(one),
        _shown(measured, one.unit) + mark,
        one.source,
    )


def rows(text: str) -> list[tuple[str, ...]]:
    """The situations' cells in a page."""
    lines = (line for line in text.splitlines() if line.startswith("| `"))
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"


def _allowed(one: Situation) -> str:
    if one.high - one.low <= 4e-6 * max(1.0, abs(one.expected)):
        return "exactly"
    return f"{_number(one.low, 5)} to {_number(one.high, 5)}"


def _shown(value: float, unit: str) -> str:
    if unit in ("R", "MOS"):
        return f"{unit} {_number(value)}"
    return f"{_number(value)} {unit}".rstrip()


def _number(value: float, digits: int = 4) -> str:
    short = f"{value:.{digits}g}"
    return short.replace("-", "−") if float(short) != 0.0 else "0"
