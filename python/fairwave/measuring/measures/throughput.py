"""Throughput of a group's flows, and the cost of retransmissions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring.measure import BULK, EVERY, PERCENT, POSITIVE, STREAM, TRANSFER, Applies, measure

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


@measure(
    "goodput", "Mb/s", POSITIVE, better="higher", table="groups",
    applies=Applies(TRANSFER | BULK, EVERY, figure="others"),
)  # fmt: skip
def goodput(rows: Table, parts: Parts) -> Numbers:
    """Payload delivered to the group's applications from the first flow's beginning to the last one's end, in Mb/s."""
    goodputs = rows.numbers("goodput_bps")
    # The goodput of a group is undefined if none of its flows was on.
    return np.where(parts.number(~np.isnan(goodputs)) > 0, parts.total(goodputs) / 1e6, math.nan)


@measure(
    "goodput-per-flow", "kb/s", POSITIVE, title="goodput per flow", better="higher", applies=Applies(STREAM)
)
def goodput_per_flow(rows: Table, parts: Parts) -> Numbers:
    """Payload delivered per flow of the group while it was on, mean, in kb/s."""
    return parts.mean(rows.numbers("goodput_bps")) * 1e-3


@measure(
    "worst-goodput", "kb/s", POSITIVE, title="goodput of the worst flow", better="higher",
    applies=Applies(BULK, STREAM | BULK),
)  # fmt: skip
def worst_goodput(rows: Table, parts: Parts) -> Numbers:
    """Goodput of the worst of several flows, in kb/s."""
    each = rows.numbers("goodput_bps")
    return parts.mask_single(each, parts.least(each)) * 1e-3


@measure("retransmitted", "%", PERCENT, better="lower", applies=Applies(TRANSFER | BULK, EVERY))
def retransmitted(rows: Table, parts: Parts) -> Numbers:
    """Retransmitted data packets, in % of data packets sent."""
    return parts.share(rows.numbers("packets_retransmitted"), rows.numbers("packets_sent"), 100)
