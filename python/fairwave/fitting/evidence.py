"""Decides whether arrivals show a full bottleneck, or a source that sends little over a path that varies.

Packets of a slow source also arrive at a steady rate, and jitter, a longer route or a drifting clock raise their
delays. Only a full bottleneck does all of the following, so a rate needs all of it:

- **Ceiling.** No packets pass faster than the rate while packets wait.
- **Independence.** Packets arrive at the rate, although they were sent faster or slower: delays grow and shrink while
  the arrivals keep their pace. Otherwise the spacing is the sender's, or the delays have another cause.
- **Backlog.** Delays grow by what arrives. A delay that jumps while nothing arrives is a pause of the path.

Sending times follow from the delays. They need no synchronised clocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairwave.fitting.bottleneck import ALIKE, QUEUED_S, TRAIN, Interval, Steps

if TYPE_CHECKING:
    from fairwave.fitting.bottleneck import Numbers

CHUNK_S = 0.03
"""Shortest time of a chunk of arrivals, so that a tick of 1 ms in TCP's timestamps matters little."""

STEADY = 0.1
"""A chunk is steady if the natural logarithm of its rate is at most this far from the claimed rate."""

FASTER = 0.05
"""Largest share of time with faster chunks, of the time with steady and faster chunks."""

LEAST_STEADY = 8
"""Smallest number of steady chunks."""

SENT_SPREAD, SENT_RATIO = 0.03, 2.0
"""Least standard deviation of the logarithm of sending rates, absolute and in units of the arrival rates' deviation."""

JUMP_PACKETS, JUMP_S, JUMPS = 8, 0.002, 0.5
"""A delay jumps if it grows by more than `JUMP_PACKETS` packets' time plus `JUMP_S` from one arrival to the next. At
most the share `JUMPS` of all growth may be jumps."""

SHARE, LEAST_SHARE = 0.6, 0.25
"""Smallest share of time with steady chunks. The smaller one suffices if packets never come in bursts."""

BURST, BURSTS = 0.5, 0.02
"""A packet belongs to a burst if it arrives within this part of the time that the claimed rate needs for it; largest
share of such packets."""

NEVER_FULL = "the link was never full"
VARIED = f"{NEVER_FULL} with what was captured, or its rate varied: packets that waited passed at many rates"


def cut(at_s: Numbers, sizes: Numbers, raised: Numbers) -> Numbers:
    """Cuts arrivals with a queue into chunks of at least `TRAIN` packets and `CHUNK_S` seconds.

    Args:
        at_s: Arrivals in order.
        sizes: Bytes of IP of each packet.
        raised: Excess of the delay over the least delay, in seconds.

    Returns:
        One row for each chunk: begin, duration, bytes, growth of the delay in seconds.
    """
    total = np.concatenate([[0.0], np.cumsum(sizes)])
    empty = np.concatenate([[0], np.cumsum(raised < QUEUED_S)])
    found, first = [], 0
    while first + TRAIN < len(at_s):
        last = max(first + TRAIN, int(np.searchsorted(at_s, at_s[first] + CHUNK_S)))
        if last >= len(at_s):
            break
        if empty[last + 1] == empty[first]:
            took = at_s[last] - at_s[first]
            found.append(
                (at_s[first], took, total[last + 1] - total[first + 1], raised[last] - raised[first])
            )
            first = last
        else:
            # Continue after the last arrival without a queue.
            first = int(np.searchsorted(empty, empty[last + 1], "left"))
    return np.asarray(found, float).reshape(-1, 4)


def confirm(course: Steps, at_s: Numbers, sizes: Numbers, raised: Numbers) -> tuple[Steps | None, str]:
    """Keeps the steps of a course that show a full bottleneck.

    A rate holds over the steps after it that show none. Traffic that was not captured makes such steps: it shares a
    full bottleneck, so that the captured packets pass at many rates.

    Returns:
        The course of the confirmed rates, and an empty text; or None, and why the arrivals show no full bottleneck.
    """
    chunks = cut(at_s, sizes, raised)
    if not len(chunks):
        return None, NEVER_FULL
    rates = np.asarray([one.value for one in course.rates])
    step = np.clip(np.searchsorted(course.from_s, chunks[:, 0], "right") - 1, 0, len(rates) - 1)
    packet_step = np.clip(np.searchsorted(course.from_s, at_s, "right") - 1, 0, len(rates) - 1)
    doubts = []
    for index, rate in enumerate(rates):
        there = packet_step == index
        doubts.append(_doubt(chunks[step == index], float(rate), at_s[there], sizes[there], raised[there]))
    kept = [index for index, why in enumerate(doubts) if not why]
    if kept:
        highest = rates[kept].max()
        # Traffic that was not captured also makes lower rates, so a lower one must hold nearly all the time.
        kept = [
            index
            for index in kept
            if rates[index] >= highest * np.exp(-ALIKE)
            or _steady_share(chunks[step == index], float(rates[index])) >= SHARE
        ]
        took, speed = chunks[:, 1], 8 * chunks[:, 2] / chunks[:, 1]
        faster = took[speed > highest * np.exp(STEADY)].sum()
        if faster <= FASTER * (faster + took[np.isin(step, kept)].sum()):
            return _join(course, kept), ""
        return None, VARIED
    longest = int(np.bincount(step, chunks[:, 1], len(rates)).argmax())
    return None, doubts[longest]


def _steady_share(chunks: Numbers, rate: float) -> float:
    """Returns the share of time with steady chunks."""
    took = chunks[:, 1]
    steady = np.abs(np.log(8 * chunks[:, 2] / took / rate)) <= STEADY
    return float(took[steady].sum() / took.sum())


def _join(course: Steps, kept: list[int]) -> Steps:
    """Returns the course of the kept steps; equal neighbours become one."""
    found = Steps([0.0], [course.rates[kept[0]]])
    for index in kept[1:]:
        last, this = found.rates[-1], course.rates[index]
        if abs(np.log(this.value / last.value)) <= ALIKE:
            found.rates[-1] = Interval(last.value, min(last.low, this.low), max(last.high, this.high))
        else:
            found.from_s.append(course.from_s[index])
            found.rates.append(this)
    return found


def _doubt(chunks: Numbers, rate: float, at_s: Numbers, sizes: Numbers, raised: Numbers) -> str:
    """Returns why the chunks of one step show no full bottleneck with this rate; empty if they do."""
    if not len(chunks):
        return NEVER_FULL
    _, took, carried, growth = chunks.T
    arrived = np.log(8 * carried / took / rate)
    sent = np.log(8 * carried / np.maximum(took - growth, took / 20) / rate)
    steady, faster = np.abs(arrived) <= STEADY, arrived > STEADY
    if steady.sum() < LEAST_STEADY:
        return NEVER_FULL
    waited = np.minimum(raised[1:], raised[:-1]) >= QUEUED_S
    in_burst = np.diff(at_s)[waited] < BURST * 8 * sizes[1:][waited] / rate
    share = SHARE if in_burst.sum() > BURSTS * waited.sum() else LEAST_SHARE
    if took[faster].sum() > FASTER * took[steady | faster].sum() or took[steady].sum() < share * took.sum():
        return VARIED
    if sent[steady].std() < max(SENT_SPREAD, SENT_RATIO * arrived[steady].std()):
        return f"{NEVER_FULL} with what was captured: packets arrived at the pace at which they were sent"
    grown = np.diff(raised)
    jumps = grown > JUMP_PACKETS * 8 * sizes.max() / rate + JUMP_S
    if grown[jumps].sum() > JUMPS * grown[grown > 0].sum():
        return f"{NEVER_FULL}: delays jumped while nothing arrived, so the path paused"
    return ""
