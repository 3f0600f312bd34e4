"""Adaptive streams: their rate, their stalls, and the quality of experience."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.measuring.measure import PERCENT, POSITIVE, TRANSFER, UNBOUNDED, Applies, measure

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


TABLE = "sessions"


@measure(
    "video-rate", "Mb/s", POSITIVE, better="higher", table=TABLE, applies=Applies(TRANSFER, TRANSFER)
)  # fmt: skip
def video_rate(rows: Table, parts: Parts) -> Numbers:
    """Rate of the segments that an adaptive stream fetched, in Mb/s: mean over segments, then streams."""
    return parts.mean(rows.numbers("rate_bps")) * 1e-6


@measure("stalled", "%", PERCENT, better="lower", table=TABLE, applies=Applies(TRANSFER, TRANSFER))
def stalled(rows: Table, parts: Parts) -> Numbers:
    """Time that an adaptive stream stalled, in % of the time since it began to play, mean over streams."""
    return parts.mean(rows.numbers("stall_ratio")) * 100


@measure("stalls", "", POSITIVE, better="lower", table=TABLE, applies=Applies(TRANSFER))
def stalls(rows: Table, parts: Parts) -> Numbers:
    """Number of stalls of an adaptive stream after it began to play, mean over streams."""
    return parts.mean(rows.numbers("stalls"))


@measure("start-up", "s", POSITIVE, title="start-up", better="lower", table=TABLE, applies=Applies(TRANSFER))
def start_up(rows: Table, parts: Parts) -> Numbers:
    """Time from requesting an adaptive stream's first segment to playing, in s, mean over the streams that play."""
    return parts.mean(rows.numbers("start_up_s"))


@measure(
    "switches", "", POSITIVE, title="changes of rate", better="lower", table=TABLE, applies=Applies(TRANSFER)
)
def switches(rows: Table, parts: Parts) -> Numbers:
    """Number of times that an adaptive stream's rate changed from one segment to the next, mean over streams."""
    return parts.mean(rows.numbers("switches"))


@measure(
    "experience", "Mb/s", UNBOUNDED, title="quality of experience", better="higher", table=TABLE,
    applies=Applies(TRANSFER),
)  # fmt: skip
def experience(rows: Table, parts: Parts) -> Numbers:
    """Quality of experience of an adaptive stream per segment (Yin et al. 2015, Eq. 5), in Mb/s, mean over streams.

    The mean rate, less its changes, less the highest rate for each second of stalls and start-up.
    """
    return parts.mean(rows.numbers("experience_bps")) * 1e-6
