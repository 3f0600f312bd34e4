"""The path that a capture shows, by direct estimates: rate over time, buffer, losses that no queue makes.

These need no simulation. Which discipline the queue has, and whether unseen traffic shared it, is decided by simulation
(`choosing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave.fitting.bottleneck import QUEUED_S, Interval, Steps, rate_course, trains
from fairwave.patterns import summary

if TYPE_CHECKING:
    from fairwave.fitting.observing import Observed
    from fairwave.fitting.packet_arrays import Numbers

TOP = 0.8
"""A loss is at the queue's top when the delay next to it is so much of the largest one."""

LEAST_LOSSES = 3
"""Fewer losses away from a full queue give no loss model."""

ASSUMED_ROUND_TRIP_S = 0.04
"""Round trip where the capture shows none †."""


@dataclass(frozen=True)
class PathSeen:
    """Direct estimates.

    Attributes:
        rate: The bottleneck's rate over time; None where it was never full.
        least_rate: The rate that it has at least, bit/s: the most that arrived within a second.
        round_trip_s: Propagation there and back.
        round_trip_known: Whether the capture shows it.
        deepest_s: The largest queueing delay.
        buffer: Bytes that the buffer holds, if overflows were seen.
        least_buffer: Bytes that it holds at least.
        overflows: Losses next to the largest delay.
        random_loss: Share of packets that is lost while the queue is short.
        loss_run: Their mean length of runs.
        lost_elsewhere: How many they were.
    """

    rate: Steps | None
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
    """Direct estimates from what was observed."""
    ended, rates, carried = trains(what.at_s, what.sizes, what.raised(what.at_s))
    course = rate_course(ended, rates, carried, what.lasts_s)
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
    random_loss, run, elsewhere = _elsewhere(probe_at, probe_raised, pattern, deepest)
    return PathSeen(
        course, least, what.round_trip_s or ASSUMED_ROUND_TRIP_S, what.round_trip_s is not None, deepest, buffer,
        deepest * rate / 8, int(at_top.sum()), random_loss, run, elsewhere,
    )  # fmt: skip


def _rate_at(course: Steps, at: float) -> float:
    index = int(np.searchsorted(course.from_s, at, "right")) - 1
    return course.rates[max(index, 0)].value


def _most_within(at_s: Numbers, sizes: Numbers, width: float) -> float:
    """The most bits that arrived within one window of so many seconds, per second."""
    if not len(at_s):
        return 0.0
    carried = np.bincount(np.floor((at_s - at_s[0]) / width).astype(np.int64), sizes)
    return float(8 * carried.max() / width)


def _losses(what: Observed) -> tuple[Numbers, Numbers, Numbers, Numbers, np.ndarray]:
    """Times and raised delays of the probe's packets and of all losses; which of the probe's were lost."""
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
    # The delay shortly before a hole is seen: the largest within the last 50 ms.
    around = (
        np.max([what.raised(at - back) for back in (0.0, 0.02, 0.05)], axis=0) if len(at) else np.empty(0)
    )
    return times, raised, at, around, pattern


def _elsewhere(
    times: Numbers, raised: Numbers, lost: np.ndarray, deepest: float
) -> tuple[Interval | None, float, int]:
    """Losses of the probe while the queue is short: their share, with Wilson's interval, and their runs."""
    if not len(times):
        return None, 1.0, 0
    short = raised < max(QUEUED_S, 0.2 * deepest)
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
