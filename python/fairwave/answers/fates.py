"""Fates of each group's packets, from the records of a run: played, late, dropped, lost, waiting or on the way.

Every packet that an application made has one fate, and a group's fates add up to the packets that it made. Shares such
as `loss` and `missed` leave out packets that could still have arrived in time when the run ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.measuring.measures import missed as missed_of
from fairwave.measuring.statistics import Interval, interval

if TYPE_CHECKING:
    from fairwave.results import Results

LEAST_SHARE = 0.0005
"""Smallest share of a group's packets that is mentioned."""

USED = frozenset({"played", "arrived"})
"""Fates of packets that their user got in time."""

REMOVED = frozenset({"dropped", "lost"})
"""Fates of packets that the network removed."""

HEADS = ("", "packets", "share of all made")
"""Heads of :func:`table`."""

ORDER = ("played", "arrived", "late", "dropped", "lost", "waiting", "on-the-way")


@dataclass(frozen=True)
class FateCount:
    """Number of packets of a group with the same fate at the same place.

    Attributes:
        fate: `played` (of calls), `arrived`, `late`, `dropped`, `lost`, `waiting` or `on-the-way`.
        place: The link that dropped, lost or holds the packets; `sender`; empty for fates without a place.
        units: Packets of all flows of the group: mean over runs.
        share: Mean share of the packets that the group made in a run.
    """

    fate: str
    place: str
    units: Interval
    share: float

    @property
    def words(self) -> str:
        """*dropped at r1>r2*, *lost on a>b*, *waiting in the sender*, *on the way*."""
        name = self.fate.replace("-", " ")
        if not self.place or self.fate == "on-the-way":
            return name
        if self.place == "sender":
            return f"{name} in the sender"
        return f"{name} {'on' if self.fate == 'lost' else 'at'} {self.place}"


def count_fates(results: Results, group: str) -> list[FateCount]:
    """Returns the fates of a group's packets; empty for groups without application packets, such as bulk data.

    Packets on the way are one count for all links.
    """
    if "fates" not in results.tables:
        return []
    runs = results.rows("runs")["run"].to_list()
    rows = results.rows("fates").only(group=group)
    counts: dict[tuple[str, str], np.ndarray] = {}
    place_of_run = {run: place for place, run in enumerate(runs)}
    columns = (rows[name].to_list() for name in ("run", "fate", "place", "units"))
    for run, fate, place, units in zip(*columns, strict=True):
        key = (fate, "" if fate == "on-the-way" else place)
        counts.setdefault(key, np.zeros(len(runs)))[place_of_run[run]] += units
    if not counts:
        return []
    made = np.sum(list(counts.values()), axis=0)
    return [
        FateCount(
            fate, place, interval(of_runs.tolist()).clip((0.0, np.inf)), float(of_runs.sum() / made.sum())
        )
        for (fate, place), of_runs in sorted(
            counts.items(), key=lambda one: (ORDER.index(one[0][0]), one[0][1])
        )
    ]


def missed(results: Results, group: str) -> list[FateCount]:
    """Returns the fates of a group's packets if its users missed some; empty for other groups."""
    part = missed_of(group).compute(results).interval()
    return count_fates(results, group) if part.n and part.mean > 0 else []


def made(counts: list[FateCount]) -> float:
    """Number of packets that the group made, mean over runs."""
    return sum(one.units.mean for one in counts)


def summed_up(results: Results, group: str) -> str:
    """The fates of unused packets, in a few words; empty if users missed none.

    *nothing lost; 98 % waiting in the sender, 0.8 % waiting at a>b*.
    """
    counts = missed(results, group)
    told = [
        f"{100 * one.share:.2g} % {one.words}"
        if one.share < 0.995
        else f"{100 * one.share:.3g} % {one.words}"
        for one in counts
        if one.fate not in USED and one.share >= LEAST_SHARE
    ]
    if not told:
        return ""
    nothing = "" if any(one.fate in REMOVED for one in counts) else "nothing lost; "
    return nothing + ", ".join(told)


def table(counts: list[FateCount]) -> list[list[str]]:
    """Rows of the table *what became of its packets*: fate, packets, share."""
    whole = made(counts)
    rows = [["made", f"{whole:.0f}", ""]]
    for one in counts:
        units = str(one.units) if one.units.n > 1 else f"{one.units.mean:.0f}"
        rows.append([one.words, units, f"{100 * one.share:.3g} %"])
    return rows


def document(results: Results, group: str) -> list[dict[str, Any]]:
    """Fates of any group as plain data: fate, place, packets, share."""
    return [
        {"fate": one.fate, "place": one.place, "packets": one.units.mean, "share": one.share}
        for one in count_fates(results, group)
    ]
