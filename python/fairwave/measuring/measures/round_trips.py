"""Round trips that senders measure, and indices derived from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring.measure import BULK, EVERY, PERCENT, POSITIVE, STREAM, Applies, measure

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


TABLE = "round_trips"

NOT_MEASURED = "round trips are not measured; name the group in record.round-trips"
"""Why a flow group other than a ping may have none."""

NO_REQUIREMENT = "the group says in no `outcome` what it needs"
"""Why a flow group may have no Quality of Outcome."""


@measure(
    "rtt", "ms", POSITIVE, title="round trip", better="lower", table=TABLE, scale="rtt",
    applies=Applies(EVERY, STREAM | BULK, figure="call"),
)  # fmt: skip
def rtt(rows: Table, parts: Parts) -> Numbers:
    """Round trip as the sender sees it, in ms: mean over samples, then over flows.

    Pings always measure it; TCP and TFRC do if `record.round-trips` names the group. A sample of TCP is the
    time from a segment's departure until an acknowledgement of new data answers it.
    """
    return parts.mean(rows.numbers("mean_s")) * 1e3


@measure(
    "rtt-median", "ms", POSITIVE, title="round trip, median", better="lower", table=TABLE, scale="rtt",
    applies=Applies(EVERY),
)  # fmt: skip
def rtt_median(rows: Table, parts: Parts) -> Numbers:
    """Median of each flow's round trips, mean over flows, in ms."""
    return parts.mean(rows.numbers("p50_s")) * 1e3


@measure(
    "rtt-p95", "ms", POSITIVE, title="round trip, 95th percentile", better="lower", table=TABLE, scale="rtt",
    applies=Applies(EVERY, STREAM | BULK),
)  # fmt: skip
def rtt_p95(rows: Table, parts: Parts) -> Numbers:
    """95th percentile of each flow's round trips, mean over flows, in ms."""
    return parts.mean(rows.numbers("p95_s")) * 1e3


@measure(
    "ping-loss",
    "%",
    PERCENT,
    title="requests without reply",
    better="lower",
    table=TABLE,
    applies=Applies(STREAM),
)
def ping_loss(rows: Table, parts: Parts) -> Numbers:
    """Ping requests without a reply, in % of requests made: lost in either direction.

    Requests made less than the longest round trip before the end of the run do not count.
    """
    return parts.share(rows.numbers("unanswered"), rows.numbers("requests"), 100)


@measure(
    "responsiveness", "round trips/min", POSITIVE, better="higher", table=TABLE,
    applies=Applies(STREAM, headline=True, figure="call"),
)  # fmt: skip
def responsiveness(rows: Table, parts: Parts) -> Numbers:
    """Round trips per minute of pings (draft-ietf-ippm-responsiveness): 60 s over the mean round trip, mean over flows.

    A flow's mean leaves out its longest 5 % of samples, as in the draft. The draft also probes TLS, HTTP and
    the loaded connections themselves; here all samples are pings. Of other flows it is not defined.
    """
    trimmed = np.where(np.isnan(rows.numbers("requests")), math.nan, rows.numbers("trimmed_mean_s"))
    return parts.mean(np.divide(60, trimmed, out=np.full(len(trimmed), math.nan), where=trimmed > 0))


@measure(
    "qoo", "", (0.0, 100.0), title="Quality of Outcome", better="higher", table="outcomes",
    applies=Applies(EVERY, STREAM | BULK),
)  # fmt: skip
def qoo(rows: Table, parts: Parts) -> Numbers:
    """Quality of Outcome (draft-ietf-ippm-qoo), 0 to 100, of groups with an `outcome`, mean over flows.

    It is 100 if every percentile of latency and the loss are within the requirement for optimal performance.
    It is 0 if one of them is at or beyond the point of unacceptable performance. Between, it is linear, and
    the worst of them counts.
    """
    return parts.mean(rows.numbers("score"))
