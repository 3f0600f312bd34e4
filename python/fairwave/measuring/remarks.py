"""Remarks on the ratings of calls: assumptions, extrapolations, and reasons for undefined ratings.

The simulator attaches remarks to each flow, in `quality_note` (see `docs/results.md`): parts separated by `; `, each
after a keyword and a colon. This module merges the remarks of flows, so that a table gives each remark once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.measuring import measures
from fairwave.measuring.bistability import Split, find_split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave.measuring.relevance import Relevance
    from fairwave.results import Results

RATINGS = frozenset({"r-factor", "mos"})
"""Ids of the measures that are ratings of calls."""

MARK = "†"
"""Mark of a rating that has remarks."""

DETERMINED = "determined here"
"""Kind of the remark on factors that an experiment of this project determined."""

DETERMINED_MARK = "‡"
"""Mark of a rating that uses such factors."""

NOT_DEFINED = "not defined"
"""Text in place of an undefined rating."""

BISTABLE = "bistable"
"""Kind of the remark on bistable runs."""

_ORDER = (NOT_DEFINED, "assumed", DETERMINED, "extrapolated", "wideband")


@dataclass(frozen=True)
class Remark:
    """One remark.

    Attributes:
        kind: `not defined`, `assumed`, `determined here`, `extrapolated`, `wideband` or `bistable`.
        text: The text after the keyword; if flows differ, the first flow's text.
        flows: Number of flows of all runs to which it applies.
        of: Number of all flows.
    """

    kind: str
    text: str
    flows: int
    of: int

    def __str__(self) -> str:
        share = "" if self.flows == self.of else f" (in {self.flows} of {self.of} calls)"
        if self.kind == "extrapolated" and self.flows > 1:
            return f"extrapolated beyond the E-model's ranges{share}, as for {self.text}"
        return f"{self.kind}: {self.text}{share}"


def mark_of(remark: str) -> str:
    """The mark of a remark: ‡ if it names factors that are determined here, otherwise †."""
    return DETERMINED_MARK if remark.startswith(f"{DETERMINED}:") else MARK


def marks(said: Iterable[Remark | str]) -> str:
    """The marks of these remarks, each once, with a space before: ` †`, ` ‡`, ` † ‡` or nothing."""
    found = {mark_of(str(one)) for one in said}
    return "".join(f" {mark}" for mark in (MARK, DETERMINED_MARK) if mark in found)


def remarks(results: Results, group: str | None = None) -> list[Remark]:
    """Remarks on a group's calls, most important first; on all flows when no group is named."""
    flows = results.rows("flows")
    if group is not None:
        flows = flows.only(group=group)
    first: dict[tuple[str, str], str] = {}
    of: dict[tuple[str, str], set[int]] = {}
    for flow, note in enumerate(flows["quality_note"].to_list()):
        for part in (note or "").split("; "):
            if not part:
                continue
            kind, _, text = part.partition(": ")
            # Delays and losses differ from call to call; any other text repeats.
            same = (kind, "" if kind == "extrapolated" else text)
            first.setdefault(same, text)
            of.setdefault(same, set()).add(flow)
    found = [Remark(same[0], text, len(of[same]), flows.num_rows) for same, text in first.items()]
    return sorted(found, key=lambda one: _ORDER.index(one.kind) if one.kind in _ORDER else len(_ORDER))


def list_notes(results: Results, measure: str, group: str | None = None) -> list[Remark]:
    """Remarks on a measure: those on ratings, and reasons for an undefined custom measure."""
    if measure in RATINGS:
        return remarks(results, group)
    runs = results.rows("runs").num_rows
    reasons = measures.OWN[measure](results, group) if measure in measures.OWN else []
    shares = {why: "" if count == runs else f" (in {count} of {runs} runs)" for why, count in reasons}
    return [Remark(NOT_DEFINED, f"{why}{shares[why]}", count, count) for why, count in reasons]


def bistable(measured: Measured, relevance: Relevance, **labels: Any) -> list[Remark]:
    """Reports runs of two kinds at a point, so that their mean describes neither; empty if there is one kind.

    Args:
        measured: The measure in every run.
        relevance: The smallest differences that count.
        labels: The point, as `Measured.samples` takes it.
    """
    measure = measured.measure
    split = split_of(measured.samples(**labels), measure, relevance)
    return [Remark(BISTABLE, f"{measure.label}, {split}", 1, 1)] if split else []


def split_of(samples: ArrayLike, measure: Measure, relevance: Relevance) -> Split | None:
    """The two kinds of runs that samples of a measure show; None if they are of one kind."""
    values = np.asarray(samples, dtype=float)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    return find_split(defined, relevance.find(measure).difference(float(defined.mean())))


def undefined(results: Results, measure: str, group: str | None = None) -> str:
    """Why a rating is defined for no call of the group, or a custom measure for no run; empty if it is defined."""
    if measure in measures.OWN:
        reasons = measures.OWN[measure](results, group)
        nowhere = sum(count for _, count in reasons) == results.rows("runs").num_rows
        return "; ".join(why for why, _ in reasons) if nowhere else ""
    if measure not in RATINGS:
        return ""
    said = remarks(results, group)
    return "; ".join(one.text for one in said if one.kind == NOT_DEFINED and one.flows == one.of)


ROUND_TRIPS = frozenset({"rtt", "rtt-median", "rtt-p95"})
"""Ids of the round-trip measures. Flows other than pings have them only if the scenario records them."""


def unmeasured(results: Results, measure: str, group: str) -> str:
    """Why a group has no round-trip measure, or no Quality of Outcome; empty if it has."""
    table = "outcomes" if measure == "qoo" else "round_trips" if measure in ROUND_TRIPS else ""
    if not table or (table in results.tables and group in results.rows(table)["group"].unique()):
        return ""
    return measures.NO_REQUIREMENT if measure == "qoo" else measures.NOT_MEASURED


def marked(results: Results, measure: str, group: str | None = None) -> str:
    """The marks of a measure's remarks; empty without any."""
    return marks(list_notes(results, measure, group))
