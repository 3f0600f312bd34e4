"""Direct estimates of a captured path: rate over time, buffer, and losses that no queue causes.

These estimates need no simulation. Simulation decides on the queue's discipline and on uncaptured traffic
(`choosing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave.fitting.bottleneck import QUEUED_S, Interval, Steps, rate_course, trains
from fairwave.fitting.evidence import NEVER_FULL, confirm
from fairwave.patterns import summary

if TYPE_CHECKING:
    from fairwave.fitting.observing import Observed
    from fairwave.fitting.packet_arrays import Numbers

TOP = 0.8
"""A loss counts as overflow if the delay next to it is at least this share of the largest delay."""

LEAST_LOSSES = 3
"""Smallest number of losses away from a full queue for a loss model."""

ASSUMED_ROUND_TRIP_S = 0.04
"""Round trip to assume if the capture shows none †, in seconds."""


@dataclass(frozen=True)
class PathSeen:
    """Direct estimates.

    Attributes:
        rate: The bottleneck's rate over time; None if the capture shows no full bottleneck.
        doubt: Why the capture shows none; empty if it does.
        least_rate: Lower limit of the rate, bit/s: the most bits that arrived within a second.
        round_trip_s: Propagation delay in both directions together, in seconds.
        round_trip_known: Whether the capture shows the round trip.
        deepest_s: The largest queueing delay (99.9th percentile), in seconds.
        buffer: Bytes that the buffer holds, if overflows were seen.
        least_buffer: Bytes that the buffer holds at least.
        overflows: Number of losses next to the largest delay.
        random_loss: Share of packets lost while the queue is short.
        loss_run: Mean length of runs of these losses, in packets.
        lost_elsewhere: Number of these losses.
    """

    rate: Steps | None
    doubt: str
    least_rate: float
    round_trip_s: float
    round_trip_known: bool
    deepest_s: float
    buffer: Interval | None
    least_buffer: float
    overflows: int
    random_loss: Interval | None
    loss_run: float
    lost_elsewhere: int


def estimated(what: Observed) -> PathSeen:
    """Makes the direct estimates from an observed path."""
    raised = what.raised(what.at_s)
    course = rate_course(*trains(what.at_s, what.sizes, raised), what.lasts_s)
    unclear = NEVER_FULL
    if course is not None:
        course, unclear = confirm(course, what.at_s, what.sizes, raised)
    least = _most_within(what.at_s, what.sizes, 1.0)
    probe_at, probe_raised, lost_at, lost_raised, pattern = _losses(what)
    every = np.concatenate([what.raised(what.at_s[:: max(1, len(what.at_s) // 20_000)]), probe_raised])
    deepest = float(np.quantile(every, 0.999)) if len(every) else 0.0
    top = deepest >= 2 * QUEUED_S
    at_top = lost_raised >= TOP * deepest if top else np.zeros(len(lost_raised), bool)
    buffer = None
    if course is not None:
        at_loss = np.asarray([_rate_at(course, at) for at in lost_at])
        if at_top.sum() >= LEAST_LOSSES:
            held = lost_raised[at_top] * at_loss[at_top] / 8
            low, middle, high = np.quantile(held, [0.05, 0.75, 1.0])
            buffer = Interval(float(middle), float(low), float(high) * 1.02)
    rate = max(one.value for one in course.rates) if course else least
    # If the bottleneck was never full, no loss is an overflow.
    short = np.inf if course is None else max(QUEUED_S, 0.2 * deepest)
    random_loss, run, elsewhere = _elsewhere(probe_at, probe_raised, pattern, short)
    return PathSeen(
        course, unclear, least, what.round_trip_s or ASSUMED_ROUND_TRIP_S, what.round_trip_s is not None, deepest,
        buffer,
        deepest * rate / 8 if course else 0.0, int(at_top.sum()), random_loss, run, elsewhere,
    )  # fmt: skip


def _rate_at(course: Steps, at: float) -> float:
    index = int(np.searchsorted(course.from_s, at, "right")) - 1
    return course.rates[max(index, 0)].value


def _most_within(at_s: Numbers, sizes: Numbers, width: float) -> float:
    """Returns the most bits per second that arrived within one window of `width` seconds."""
    if not len(at_s):
        return 0.0
    carried = np.bincount(np.floor((at_s - at_s[0]) / width).astype(np.int64), sizes)
    return float(8 * carried.max() / width)


def _losses(what: Observed) -> tuple[Numbers, Numbers, Numbers, Numbers, np.ndarray]:
    """Returns times and excess delays of the probe's packets and of all losses, and the probe's loss pattern."""
    probe = what.probe
    lost_at = [one.holes_s for one in what.transfers]
    times, raised, pattern = np.empty(0), np.empty(0), np.empty(0, bool)
    if probe is not None:
        known = ~np.isnan(probe.delay_s)
        place = np.arange(len(probe.lost))
        delay = np.interp(place, place[known], probe.delay_s[known])
        raised = delay - probe.delay_s[known].min()
        times = np.interp(place, place[known], probe.at_s[known])
        pattern = probe.lost
        lost_at.append(times[pattern])
    at = np.sort(np.concatenate(lost_at)) if lost_at else np.empty(0)
    # Delay shortly before a hole shows: the largest at 0, 20 and 50 ms before.
    around = (
        np.max([what.raised(at - back) for back in (0.0, 0.02, 0.05)], axis=0) if len(at) else np.empty(0)
    )
    return times, raised, at, around, pattern


def _elsewhere(
    times: Numbers, raised: Numbers, lost: np.ndarray, below_s: float
) -> tuple[Interval | None, float, int]:
    """Returns the probe's losses while delays are short: share with Wilson's interval, run length and number."""
    if not len(times):
        return None, 1.0, 0
    short = raised < below_s
    packets, count = int(short.sum()), int((lost & short).sum())
    if count < LEAST_LOSSES:
        return None, 1.0, count
    share, z = count / packets, 1.96
    middle = (share + z * z / (2 * packets)) / (1 + z * z / packets)
    half = z / (1 + z * z / packets) * np.sqrt(share * (1 - share) / packets + z * z / (4 * packets**2))
    found = summary(lost & short)
    runs = sum(found.bursts.values())
    run = count / runs if runs else 1.0
    return Interval(share, float(middle - half), float(middle + half)), float(run), count
