"""The playout buffer: when each unit is played, and which come too late for it.

Times are virtual and the clocks of both ends agree, so one-way delay is known exactly. A *talkspurt* is a
run of units each made one frame after the one before. The delay between making and playing a unit is
constant within a talkspurt, so that speech is never stretched, and may change between talkspurts, where it
lengthens or shortens a silence.

- :class:`Fixed`: every unit is played a fixed time after it was made.
- :class:`Adaptive`: the first unit of a talkspurt that arrives sets the talkspurt's delay to the running
  mean of the delay plus four times its running deviation (R. Ramjee, J. Kurose, D. Towsley, H. Schulzrinne,
  *Adaptive playout mechanisms for packetized audio applications in wide-area networks*, INFOCOM 1994,
  algorithm 1).

**Assumptions**: estimates start at the first delay with a deviation of zero; a unit that comes after its
time, exactly in time counts as played; a talkspurt that would begin before the last one has been played
waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fairwave.speech.errors import SpeechError

Times = NDArray[np.float64]


class Fate(IntEnum):
    """What became of a unit."""

    PLAYED = 0
    """It was there when its time came."""
    LATE = 1
    """It arrived, but after its time."""
    LOST = 2
    """It never arrived."""


@dataclass(frozen=True)
class Fixed:
    """Play every unit ``delay_s`` seconds after it was made."""

    delay_s: float = 0.1

    def __post_init__(self) -> None:
        """Refuse a delay that is negative or longer than a minute."""
        if not 0.0 <= self.delay_s <= 60.0:
            raise SpeechError(f"playout delay {self.delay_s} s: must be from 0 to 60 s; 0.1 s is usual")


@dataclass(frozen=True)
class Adaptive:
    """Ramjee's algorithm 1.

    Attributes:
        alpha: weight of the past in mean and deviation, from 0 up to but not 1 (paper: 0.998002).
        deviations: how many deviations above the mean (paper: 4).
        floor_s: least delay, in seconds.
        ceiling_s: most delay, in seconds.
    """

    alpha: float = 0.998002
    deviations: float = 4.0
    floor_s: float = 0.0
    ceiling_s: float = 60.0

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if not 0.0 <= self.alpha < 1.0:
            raise SpeechError(f"alpha {self.alpha}: must be at least 0 and below 1; the paper's is 0.998002")
        if not 0.0 <= self.deviations <= 100.0:
            raise SpeechError(f"deviations {self.deviations}: must be from 0 to 100; the paper's is 4")
        if not 0.0 <= self.floor_s <= self.ceiling_s <= 60.0:
            raise SpeechError(
                f"delay from {self.floor_s} to {self.ceiling_s} s: must lie within 0 to 60 s, in order"
            )


Playout = Fixed | Adaptive


@dataclass(frozen=True)
class Schedule:
    """When units are played.

    Attributes:
        talkspurt: per unit, the number of its talkspurt from 0.
        delay_s: per talkspurt, from making to playing, in seconds.
        fate: per unit, a :class:`Fate`.
    """

    talkspurt: NDArray[np.int64]
    delay_s: Times
    fate: NDArray[np.int8]

    def playout_s(self, created_s: Times) -> Times:
        """Per unit, when it is or would have been played."""
        return created_s + self.delay_s[self.talkspurt]


def talkspurts(created_s: Times, frame_s: float) -> NDArray[np.int64]:
    """Number units by talkspurt: a gap of more than one and a half frames begins a new one."""
    if not len(created_s):
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.cumsum(np.diff(created_s) > 1.5 * frame_s)]).astype(np.int64)


def schedule(created_s: Times, arrived_s: Times, frame_s: float, playout: Playout) -> Schedule:
    """Decide when units are played and what becomes of each.

    Args:
        created_s: when each unit was made, in seconds, ascending.
        arrived_s: when each arrived, NaN if it did not.
        frame_s: time between units of a talkspurt, in seconds.
        playout: the buffer's policy.
    """
    spurt = talkspurts(created_s, frame_s)
    count = int(spurt[-1]) + 1 if len(spurt) else 0
    if isinstance(playout, Fixed):
        delay = np.full(count, playout.delay_s)
    else:
        delay = _adapt(created_s, arrived_s, spurt, count, playout)
    first = np.searchsorted(spurt, np.arange(count))
    last = np.searchsorted(spurt, np.arange(count), side="right") - 1
    free = -np.inf
    for index in range(count):
        delay[index] = max(delay[index], free - created_s[first[index]])
        free = created_s[last[index]] + delay[index] + frame_s
    lost = np.isnan(arrived_s)
    # A nanosecond is the simulator's grain; doubles of seconds are compared no finer than that.
    late = np.nan_to_num(arrived_s, nan=np.inf) > created_s + delay[spurt] + 1e-9
    fate = np.where(lost, Fate.LOST, np.where(late, Fate.LATE, Fate.PLAYED)).astype(np.int8)
    return Schedule(spurt, delay, fate)


def _adapt(created: Times, arrived: Times, spurt: NDArray[np.int64], count: int, policy: Adaptive) -> Times:
    """Delay per talkspurt, set when its first unit to arrive does."""
    delay = np.full(count, np.nan)
    mean, deviation, begun = 0.0, 0.0, False
    there = np.flatnonzero(~np.isnan(arrived))
    order = there[np.argsort(arrived[there], kind="stable")]
    network = (arrived - created).tolist()
    spurts = spurt.tolist()
    chosen: list[float] = delay.tolist()
    past, fresh = policy.alpha, 1.0 - policy.alpha
    for unit in order.tolist():
        sample = network[unit]
        if not begun:
            mean, begun = sample, True
        mean = past * mean + fresh * sample
        deviation = past * deviation + fresh * abs(mean - sample)
        number = spurts[unit]
        if np.isnan(chosen[number]):
            chosen[number] = min(max(mean + policy.deviations * deviation, policy.floor_s), policy.ceiling_s)
    # Of a talkspurt that was lost whole nothing is played: it takes the delay of the one before.
    previous = next((value for value in chosen if not np.isnan(value)), policy.floor_s)
    for number, value in enumerate(chosen):
        previous = value if not np.isnan(value) else previous
        chosen[number] = previous
    return np.array(chosen)
