"""Network effects on packets of a group's flows: losses, delays and their variation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring.measure import BULK, PERCENT, POSITIVE, STREAM, TRANSFER, Applies, measure

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


@measure(
    "missed", "%", PERCENT, title="packets missed", better="lower",
    applies=Applies(STREAM, STREAM | BULK, headline=True, figure="call"),
)  # fmt: skip
def missed(rows: Table, parts: Parts) -> Numbers:
    """Packets that the user misses, in % of packets sent: lost, too late to play or show, or overdue at the end.

    For a call this is the packet loss that the E-model takes. It includes, counted in packets, the time that
    the jitter buffer made up for packets that it still played. For a video it counts packets that were lost
    or arrived after their frame was shown. For other streams it counts packets that were lost. A packet that
    had not arrived at the end and is too old to be of use is overdue, and counts in each case.
    """
    sent, lost = rows.numbers("units_sent"), rows.numbers("units_lost")
    of_call, of_video = (rows.numbers(name) for name in ("missed_ratio", "decodable_ratio"))
    part = np.where(
        ~np.isnan(of_call),
        of_call * sent,
        lost + np.where(np.isnan(of_video), rows.numbers("units_waiting"), rows.numbers("late_units")),
    )
    return parts.share(np.fmin(part, sent), sent, 100)


@measure(
    "waiting", "%", PERCENT, title="overdue at the end", better="lower",
    applies=Applies(STREAM, only_above_zero=True),
)  # fmt: skip
def waiting(rows: Table, parts: Parts) -> Numbers:
    """Packets that were overdue at the end, in % of packets sent: neither arrived nor lost, and too old for use."""
    return parts.share(rows.numbers("units_waiting"), rows.numbers("units_sent"), 100)


@measure("loss", "%", PERCENT, better="lower", applies=Applies(STREAM))
def loss(rows: Table, parts: Parts) -> Numbers:
    """Packets dropped by queues or lost on wires, in % of packets sent; packets queued or in flight do not count."""
    return parts.share(rows.numbers("units_lost"), rows.numbers("units_sent"), 100)


@measure(
    "worst-loss", "%", PERCENT, title="loss of the worst flow", better="lower", scale="loss", applies=Applies(STREAM)
)  # fmt: skip
def worst_loss(rows: Table, parts: Parts) -> Numbers:
    """Loss of the worst of several flows, in %; flows that sent nothing do not count."""
    sent = rows.numbers("units_sent")
    each = np.divide(rows.numbers("units_lost"), sent, out=np.full(len(sent), math.nan), where=sent > 0)
    return parts.mask_single(each, parts.most(each)) * 100


@measure("packet-loss", "%", PERCENT, better="lower", applies=Applies(TRANSFER | BULK))
def packet_loss(rows: Table, parts: Parts) -> Numbers:
    """Data packets that queues dropped or links lost, in % of packets sent, retransmissions included."""
    return parts.share(rows.numbers("dropped") + rows.numbers("lost"), rows.numbers("packets_sent"), 100)


@measure("delay", "ms", POSITIVE, better="lower", applies=Applies(STREAM))
def delay(rows: Table, parts: Parts) -> Numbers:
    """One-way delay of received units, application to application, in ms: mean over units."""
    each, received = rows.numbers("delay_mean_s"), rows.numbers("units_received")
    return parts.share(each * received, np.where(np.isnan(each), 0, received), 1e3)


@measure(
    "delay-p95", "ms", POSITIVE, title="delay, 95th percentile", better="lower", applies=Applies(STREAM, figure="call")
)  # fmt: skip
def delay_p95(rows: Table, parts: Parts) -> Numbers:
    """95th percentile of each flow's one-way delay, mean over flows, in ms."""
    return parts.mean(rows.numbers("delay_p95_s")) * 1e3


@measure("jitter", "ms", POSITIVE, title="jitter (RFC 3550)", better="lower", applies=Applies(STREAM))
def jitter(rows: Table, parts: Parts) -> Numbers:
    """Interarrival jitter of RFC 3550, mean over the units received and over flows, in ms."""
    return parts.mean(rows.numbers("jitter_s")) * 1e3


@measure("late-for-playout", "%", PERCENT, better="lower", applies=Applies(STREAM))
def late_for_playout(rows: Table, parts: Parts) -> Numbers:
    """Packets of calls that arrived too late for playing or were overdue at the end, in % of packets not lost."""
    is_call = ~np.isnan(rows.numbers("missed_ratio"))
    calls = rows.take(is_call)
    kept = calls.numbers("units_sent") - calls.numbers("units_lost")
    return parts.take(is_call).share(calls.numbers("late_units"), kept, 100)
