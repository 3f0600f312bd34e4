"""Measures that the simulator defines (`crates/fairwave-sim/src/measures`), with its descriptions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.measuring.measure import Applies, register
from fairwave.measuring.measures.columns import group_column

if TYPE_CHECKING:
    from fairwave.measuring.measure import Definition, Measure


def _wrap_simulated(name: str, described: dict[str, Any]) -> Definition:
    """A measure that the simulator defines (`crates/fairwave-sim/src/measures`), with its description."""
    least, most = (
        edge if described[key] is None else described[key]
        for key, edge in (("least", -math.inf), ("most", math.inf))
    )
    kinds = frozenset(described["applies"])
    applies = Applies(kinds, beside=kinds, least_flows=described["least_flows"])

    def define(group: str | None = None) -> Measure:
        better = described["better"]
        measure = group_column(
            described["column"], described["title"], group, described["unit"], described["factor"],
            id=name, better=None if better == "neither" else better, limits=(least, most),
        )  # fmt: skip
        return replace(measure, applies=applies)

    return register(name, define, described["about"], applies)


SIMULATED: dict[str, Definition] = {
    name: _wrap_simulated(name, one)
    for one in json.loads(_native.group_measures())
    for name in (one["name"].replace("_", "-"),)
}
"""Measures that the simulator defines, in the order of its list."""


fairness, worst_case_fairness, short_term_fairness, cov, overhead = (
    SIMULATED[name] for name in ("fairness", "worst-case-fairness", "short-term-fairness", "cov", "overhead")
)
