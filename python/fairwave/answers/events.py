"""Events that means hide: gaps of speech and frozen pictures.

A call of a minute with a gap of two seconds has a good mean. Its users would not call it good, so its verdict is
*fair* at best. The bounds are fairwave's: no Recommendation has one for single events.

- A gap of speech above 0.5 s. ITU-T P.59 (Table 1) has 0.508 s as the mean duration of mutual silence in a
  conversation. A listener takes a longer gap for the end of a turn.
- A picture that is frozen for more than 1 s: twice as long, because speech continues meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.bands import Held
from fairwave.measuring import measures

if TYPE_CHECKING:
    from fairwave.measuring.measured import Measured
    from fairwave.measuring.statistics import Interval
    from fairwave.results import Results

RATINGS = frozenset({"conversation-mos", "session-mos", "mos"})
"""Measures of calls and sessions that such events limit to *fair*."""

FROZEN_S = 1.0
"""A picture that is frozen for longer is not good."""


@dataclass(frozen=True)
class Events:
    """The gaps and freezes of a flow group in some runs.

    Attributes:
        interrupted: Share of the calls with a gap above `measures.GAP_S`, %.
        gaps: The longest gap, s.
        freezes: The longest freeze, s.
    """

    interrupted: Measured
    gaps: Measured
    freezes: Measured

    @classmethod
    def collect(cls, results: Results, group: str) -> Events:
        """Those of a group."""
        asked = (measures.gap_calls, measures.longest_gap, measures.longest_freeze)
        return cls(*(one(group).compute(results) for one in asked))

    def describe(self, **labels: Any) -> str:
        """The events that keep the calls at a point from being good, in words; empty for none."""
        share = _reduce(np.nanmean, self.interrupted, labels)
        gap, freeze = (_reduce(np.nanmax, one, labels) for one in (self.gaps, self.freezes))
        said = []
        if share > 0:
            who = "each call has" if share >= 100 else f"{share:.3g} % of the calls have"
            said.append(f"{who} a gap above {measures.GAP_S:g} s, the longest {gap:.2f} s")
        if freeze > FROZEN_S:
            said.append(f"a picture was frozen for {freeze:.1f} s")
        return "; ".join(said)

    def hold(self, cell: Interval, measure: str = "mos", **labels: Any) -> Interval:
        """Limits the mean of a rating at a point to *fair* if there are such events; other means are unchanged."""
        return held(cell, self.describe(**labels)) if cell.n and measure in RATINGS else cell


def held(cell: Interval, because: str) -> Interval:
    """A mean that is limited to *fair* for a reason; the mean itself without a reason."""
    if not because or not cell.n:
        return cell
    given = {one.name: getattr(cell, one.name) for one in fields(cell) if one.name != "because"}
    before = cell.because if isinstance(cell, Held) else ""
    return Held(**given, because="; ".join(filter(None, (before, because))))


def _reduce(choose: Any, measured: Measured, labels: dict[str, Any]) -> float:
    values = measured.select(**labels).rows.numbers("value")
    return float(choose(values)) if len(values) and not np.isnan(values).all() else math.nan
