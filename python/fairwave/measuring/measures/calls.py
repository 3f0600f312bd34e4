"""Calls: the E-model's rating, its parts, and the delay from mouth to ear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.measuring.measure import BULK, MOS, POSITIVE, STREAM, Applies, Measure, R, measure, name_of
from fairwave.measuring.measures.columns import mean_of, reduce_flows

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


@measure(
    "mouth-to-ear", "ms", POSITIVE, title="mouth to ear", better="lower",
    applies=Applies(STREAM, headline=True, figure="call"),
)  # fmt: skip
def mouth_to_ear(rows: Table, parts: Parts) -> Numbers:
    """Delay from mouth to ear, in ms: packet time, coder, time from making to playing; mean over units, then calls."""
    return parts.mean(rows.numbers("mouth_to_ear_s")) * 1e3


CAUSES = ("codec", "delay", "loss", "lateness")
"""Causes that lower a call's R, in the order of the text."""


def r_cost(cause: str, group: str | None = None) -> Measure:
    """Points of R that one of `CAUSES` costs, mean over calls; R and all costs add up to R of a perfect call."""
    return Measure(
        f"r_cost_{cause}", name_of(f"R lost to {cause}", group), "", reduce_flows(group, mean_of(f"r_cost_{cause}")),
        "lower", limits=POSITIVE, scale="r_cost",
    )  # fmt: skip


@measure("r-factor", "", R, title="E-model R", better="higher", applies=Applies(STREAM, headline=True))
def r_factor(rows: Table, parts: Parts) -> Numbers:
    """E-model rating R, 0 to 100 (wideband calls: to 129), mean over the calls that have one."""
    return parts.mean(rows.numbers("r_factor"))


@measure(
    "mos", "", MOS, title="MOS (E-model)", better="higher",
    applies=Applies(STREAM, STREAM | BULK, headline=True, figure="call"),
)  # fmt: skip
def mos(rows: Table, parts: Parts) -> Numbers:
    """Mean opinion score (MOS) estimated by the E-model, 1 to 4.5, mean over the calls that have one."""
    return parts.mean(rows.numbers("mos"))


@measure(
    "worst-mos", "", MOS, title="MOS of the worst call", better="higher", scale="mos", applies=Applies(STREAM)
)
def worst_mos(rows: Table, parts: Parts) -> Numbers:
    """MOS of the worst of several calls."""
    each = rows.numbers("mos")
    return parts.mask_single(each, parts.least(each))
