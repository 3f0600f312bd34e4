"""Numbers of publications next to fairwave's: one row each, with a margin fixed before the run."""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from validation import kept, writing
from validation.verdict import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import fairwave

HEADERS = 28
"""Bytes of IP and UDP that a datagram has besides its payload."""

UDP = {"name": "udp", "header": f"{HEADERS} B", "max-payload": "1472 B"}
"""Datagrams of at most 1500 B."""

FULL = f"{1500 - HEADERS} B"
"""The payload of a datagram of 1500 B."""

BOUNDS = {"": "", "at least": "≥ ", "at most": "≤ "}
"""How a published bound is shown."""


@dataclass(frozen=True)
class Row:
    """One number: the published value, fairwave's, and the allowed difference."""

    part: str
    name: str
    unit: str
    published: float
    ours: Estimate
    margin: float
    relative: bool
    bound: str = ""
    """`at least` or `at most`: the published value is a bound, and only the other side is a difference."""
    memory: bool = False
    """The number was written down without the publication at hand (†)."""

    @property
    def difference(self) -> float:
        """By how much fairwave's mean is above the published value: a part of it, or absolute."""
        gap = self.ours.mean - self.published
        return gap / self.published if self.relative else gap

    @property
    def agrees(self) -> bool:
        """Within the margin, or on the right side of the bound."""
        within = abs(self.difference) <= self.margin
        return within or {"at least": self.difference > 0, "at most": self.difference < 0}.get(
            self.bound, False
        )


DIGITS = {"share": 2, "Mb/s": 1, "calls": 1, "ratio": 2, "MOS": 2, "ms": 1, "kb/s": 0, "stations": 1}
"""Digits after the point, by unit."""

BARE = ("share", "ratio", "MOS")
"""Units that are not written behind the number."""


def line(row: Row, digits: int | None = None) -> str:
    """A row of the page's table."""
    if digits is None:
        digits = DIGITS[row.unit]
    gap = f"{100 * row.difference:+.1f} %" if row.relative else f"{row.difference:+.{max(digits, 2)}f}"
    margin = f"{100 * row.margin:g} %" if row.relative else f"{row.margin:g}"
    if row.bound:
        margin = "bound" if row.margin == 0 else f"bound, {margin}"
    unit = "" if row.unit in BARE else f" {row.unit}"
    ours = f"{row.ours.mean:.{digits}f} ± {row.ours.half:.{digits}f}{unit}"
    published = f"{BOUNDS[row.bound]}{row.published:.{digits}f}{unit}{' †' if row.memory else ''}"
    return f"| {row.name} | {published} | {ours} | {gap} | {margin} | {'✓' if row.agrees else '✗'} |"


def section(
    rows: Sequence[Row],
    part: str,
    title: str,
    source: str,
    digits: int | None = None,
    note: str | None = None,
) -> Iterator[str]:
    """One part of a page: its heading, its rows, and causes of differences."""
    yield f"## {title}"
    yield ""
    yield f"| | {source} | fairwave | difference | margin | |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        if row.part == part:
            yield line(row, digits)
    yield ""
    if note is not None:
        yield note
        yield ""


METHOD = "Sources, settings and margins"
"""The summary of the folded section about the method."""


def arguments(about: str | None) -> argparse.ArgumentParser:
    """The options that ``python -m validation NAME`` has whatever it compares."""
    parser = writing.parser(about)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each row (default 5)")
    parser.add_argument("--threads", type=int, help="runs at once (default: all cores)")
    return parser


def verdict(rows: Sequence[Row]) -> str:
    """The first sentence of a page."""
    alike = sum(row.agrees for row in rows)
    return f"**{alike} of {len(rows)} numbers are within the margins, which were fixed before.**"


def keep(name: str, rows: Sequence[Row], **more: Any) -> None:
    """Keeps the rows' numbers, and what else the page needs, under this name in ``results/``."""
    kept.write(name, {"rows": [asdict(row) for row in rows], **more})


def stored(rows: Sequence[dict[str, Any]]) -> list[Row]:
    """The kept rows."""
    return [Row(**{**one, "ours": Estimate(**one["ours"])}) for one in rows]


def group_flows(
    scenario: fairwave.Scenario, seeds: Sequence[int], threads: int | None
) -> list[dict[str, dict[str, Any]]]:
    """The row of each flow group's last flow, run by run."""
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for flow in scenario.replicate(seeds=list(seeds), threads=threads).flows.to_pylist():
        found.setdefault(flow["run"], {})[flow["group"]] = flow
    return list(found.values())


def goodputs(
    scenario: fairwave.Scenario, seeds: Sequence[int], threads: int | None
) -> list[dict[str, float]]:
    """Bits of payload per second of each flow group, run by run."""
    return [
        {name: flow["goodput_bps"] for name, flow in run.items()}
        for run in group_flows(scenario, seeds, threads)
    ]
