"""The page that lists every situation: the expected, allowed and measured values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from practice.situation import Situation
from practice.situations import AREAS
from validation.writing import counted, folded

Measured = Callable[[Situation], float]

HEAD = ("asked", "expected", "allowed", "measured", "by")

MEASURED = HEAD.index("measured")
"""The column of measured values; all others come from `tests/practice`."""


def page(situations: Sequence[Situation], measured: Measured) -> str:
    """All situations, area by area."""
    asked = {area: [(one, measured(one)) for one in situations if one.area == area] for area in AREAS}
    wrong = sum(not _allowed_as(one, found) for several in asked.values() for one, found in several)
    answered = (
        f"Answers that are not allowed: {wrong}" if wrong else "Fairwave answers each of them as allowed"
    )
    lines = [
        "# Practice",
        "",
        f"**{len(situations)} situations have a known result before anything runs. {answered}.**",
        "The situations are of voice, video, TCP and queues. The answer comes from a standard, a formula or plain experience;",
        "`tests/practice` works it out without fairwave. `make test` fails when fairwave gives an answer that is not allowed.",
        "",
        "✓ allowed, ✗ not allowed.",
        "",
        _line(("area", "verdicts", "exact answers", "answers within limits")),
        "|---|---|--:|--:|",
    ]
    for area, (title, _) in AREAS.items():
        exact = sum(_allowed(one) == "exactly" for one, _ in asked[area])
        right = sum(_allowed_as(one, found) for one, found in asked[area])
        verdicts = counted(["agrees"] * right + ["differs"] * (len(asked[area]) - right))
        counts = map(str, (exact, len(asked[area]) - exact))
        lines.append(_line((f'<a href="#{area}">{title}</a>', verdicts, *counts)))
    lines += [
        "",
        "Where answers are exact, hosts are in step and headers left out. Random losses and arrivals are allowed four standard",
        "deviations. The first column names the scenario in `tests/practice`.",
        "",
    ]
    for area, (title, _) in AREAS.items():
        table = [_line(("situation", *HEAD)), _line(("---",) * (len(HEAD) + 1))]
        table += [_line(row(one, found)) for one, found in asked[area]]
        lines += folded(f"{title}: {len(asked[area])}", table, area)
    return "\n".join(lines).rstrip() + "\n"


def _allowed_as(one: Situation, measured: float) -> bool:
    return one.low <= measured <= one.high


def row(one: Situation, measured: float) -> tuple[str, ...]:
    """A situation's cells."""
    mark = "" if _allowed_as(one, measured) else " ✗"
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
