"""The playout buffer: the playing time of each unit, and the units that are not played.

The law is the simulator's (``quality/playout``), so the sound matches the call's rating.

- :class:`Neteq`: libwebrtc's deployed jitter buffer NetEQ, which plays faster and slower within talkspurts. The
  default, as in scenarios.
- :class:`Fixed`: the same offset from making to playing throughout the call.
- :class:`Adaptive`: an offset per talkspurt from the delays seen so far (R. Ramjee, J. Kurose, D. Towsley,
  H. Schulzrinne, *Adaptive playout mechanisms for packetized audio applications in wide-area networks*,
  INFOCOM 1994).

A talkspurt is a run of units each made one frame after the one before.

**Assumptions**: the law's; in addition, a talkspurt without any arrival takes the offset of the one before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairwave import _native
from fairwave_speech.audio import RATE
from fairwave_speech.errors import SpeechError

Times = NDArray[np.float64]

_NEVER = np.uint64(2**64 - 1)


class Fate(IntEnum):
    """Fate of a unit."""

    PLAYED = 0
    """It had arrived by its playing time."""
    LATE = 1
    """It arrived, but was not played."""
    LOST = 2
    """It never arrived."""


@dataclass(frozen=True)
class Neteq:
    """A jitter buffer that follows the delays of the packets and stretches speech.

    Attributes:
        min_delay_s: least target, in seconds, from 0 to 10.
        max_delay_s: greatest target, in seconds, from ``min_delay_s`` to 10; no limit if not given.
    """

    min_delay_s: float = 0.0
    max_delay_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        most = 10.0 if self.max_delay_s is None else self.max_delay_s
        if not (0.0 <= self.min_delay_s <= most <= 10.0 and most > 0.0):
            raise SpeechError(
                f"delays from {self.min_delay_s} to {self.max_delay_s} s: need 0 ≤ least ≤ most ≤ 10 s; usual: 0, None"
            )

    def table(self) -> dict[str, Any]:
        """The scenario language's table of this policy."""
        limits = {"min-delay": self.min_delay_s, "max-delay": self.max_delay_s}
        written = {key: f"{round(value * 1e9)} ns" for key, value in limits.items() if value is not None}
        return {"strategy": "neteq", **written}


@dataclass(frozen=True)
class Fixed:
    """The same offset throughout the call.

    Attributes:
        delay_s: offset beyond the reference, in seconds, from 0 to 60.
        reference: ``"first"``: the network delay of the first unit to arrive, which a receiver knows;
            ``"minimum"``: the least network delay of the call; ``"creation"``: none, so that ``delay_s`` is
            a budget for network and waiting together (paper 004: 0.3 s).
    """

    delay_s: float = 0.06
    reference: str = "first"

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        if not 0.0 <= self.delay_s <= 60.0:
            raise SpeechError(f"playout delay {self.delay_s} s: must be from 0 to 60 s; 0.06 s is usual")
        if self.reference not in {"first", "minimum", "creation"}:
            raise SpeechError(
                f"playout reference {self.reference!r}: must be 'first', 'minimum' or 'creation'"
            )

    def table(self) -> dict[str, Any]:
        """The scenario language's table of this policy."""
        return {"strategy": "fixed", "delay": f"{round(self.delay_s * 1e9)} ns", "reference": self.reference}


@dataclass(frozen=True)
class Adaptive:
    """An offset per talkspurt: estimated mean delay plus a margin.

    Attributes:
        estimator: ``"average"``: algorithm 1; ``"spike"``: algorithm 4, which follows spikes of delay.
        safety: margin in estimated deviations, 0 or more (paper: 4).
        least_s: least margin, in seconds, from 0 to 60.
    """

    estimator: str = "spike"
    safety: float = 4.0
    least_s: float = 0.01

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        if self.estimator not in {"average", "spike"}:
            raise SpeechError(f"estimator {self.estimator!r}: must be 'average' or 'spike'")
        if not (0.0 <= self.safety < float("inf") and 0.0 <= self.least_s <= 60.0):
            raise SpeechError(
                f"safety {self.safety}, least {self.least_s} s: need safety ≥ 0 and 0 to 60 s; usual: 4, 0.01"
            )

    def table(self) -> dict[str, Any]:
        """The scenario language's table of this policy."""
        return {
            "strategy": "adaptive",
            "estimator": self.estimator,
            "safety": self.safety,
            "least": f"{round(self.least_s * 1e9)} ns",
        }


Playout = Neteq | Fixed | Adaptive | Mapping[str, Any]
"""A policy, or the ``playout`` table of a scenario's flow."""


class PieceKind(IntEnum):
    """Kinds of pieces in the played sound."""

    UNIT = 0
    """The speech of the unit with this index."""
    SHORTENED = 1
    """This many samples are removed before this position."""
    LENGTHENED = 2
    """This many samples are repeated before this position."""
    CONCEALED = 3
    """This many samples are concealment."""
    SILENCE = 4
    """This many samples are known silence."""


@dataclass(frozen=True)
class StretchedPlayout:
    """Output of a buffer that stretches speech.

    Attributes:
        begins_s: playing time of the first piece, in seconds.
        kind: per piece, a :class:`PieceKind`.
        value: per piece, the unit's index, or samples at 8 kHz.
    """

    begins_s: float
    kind: NDArray[np.uint8]
    value: NDArray[np.int64]


@dataclass(frozen=True)
class Schedule:
    """Playing times of units.

    Attributes:
        talkspurt: per unit, the number of its talkspurt from 0.
        delay_s: per talkspurt, the offset from making to playing, in seconds; if it changes within the talkspurt, the
            mean over the played units.
        fate: per unit, a :class:`Fate`.
        played_s: per unit, its playing time; NaN if it is not played.
        heard: output of a buffer that stretches; None if units are played unchanged at their times.
    """

    talkspurt: NDArray[np.int64]
    delay_s: Times
    fate: NDArray[np.int8]
    played_s: Times
    heard: StretchedPlayout | None = None

    def playout_s(self, created_s: Times) -> Times:
        """Per unit, its actual or due playing time."""
        return np.where(np.isnan(self.played_s), created_s + self.delay_s[self.talkspurt], self.played_s)


def talkspurts(created_s: Times, frame_s: float) -> NDArray[np.int64]:
    """Number units by talkspurt: a gap of more than one and a half frames begins a new one."""
    if not len(created_s):
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.cumsum(np.diff(created_s) > 1.5 * frame_s)]).astype(np.int64)


def schedule(created_s: Times, arrived_s: Times, frame_s: float, playout: Playout | None = None) -> Schedule:
    """Determine the playing time and the fate of each unit.

    Args:
        created_s: creation time of each unit, in seconds from 0 on, ascending.
        arrived_s: arrival time of each unit; NaN if it did not arrive.
        frame_s: time between units of a talkspurt, in seconds.
        playout: the buffer's policy; the scenario language's default if not given.

    Raises:
        SpeechError: a policy that cannot be used.
    """
    table = playout.table() if isinstance(playout, Neteq | Fixed | Adaptive) else playout
    try:
        fates, due, pieces = _native.play(
            _nanoseconds(created_s),
            _nanoseconds(arrived_s),
            round(frame_s * 1e9),
            None if table is None else json.dumps(dict(table)),
        )
    except (ValueError, TypeError, OverflowError) as error:
        raise SpeechError(
            f"{error}; write for example playout = {{ strategy = 'fixed', delay = '60 ms' }}"
        ) from error
    fate = np.frombuffer(fates, np.int8)
    moment = np.frombuffer(due, "<u8")
    spurt = talkspurts(created_s, frame_s)
    played = np.where(fate == Fate.PLAYED, moment / 1e9, np.nan)
    delay = np.full(int(spurt[-1]) + 1 if len(spurt) else 0, np.nan)
    if pieces is None:
        there = moment != _NEVER
        delay[spurt[there]] = moment[there] / 1e9 - created_s[there]
    else:
        there = fate == Fate.PLAYED
        count = np.bincount(spurt[there], minlength=len(delay))
        total = np.bincount(spurt[there], (played - created_s)[there], len(delay))
        delay[count > 0] = total[count > 0] / count[count > 0]
    # A talkspurt without any arrival takes the offset of the one before, or else of the first.
    known = np.flatnonzero(~np.isnan(delay))
    if len(known):
        before = known[np.maximum(np.searchsorted(known, np.arange(len(delay)), side="right") - 1, 0)]
        delay = delay[before]
    return Schedule(spurt, np.nan_to_num(delay), fate, played, None if pieces is None else _heard(*pieces))


def _heard(begins: int, kinds: bytes, values: bytes) -> StretchedPlayout:
    kind = np.frombuffer(kinds, np.uint8)
    value = np.frombuffer(values, "<u8").astype(np.int64)
    samples = np.rint(value * (RATE / 1e9)).astype(np.int64)
    return StretchedPlayout(begins / 1e9, kind, np.where(kind == PieceKind.UNIT, value, samples))


def _nanoseconds(seconds: Times) -> bytes:
    """Times for the binding: 64-bit nanoseconds, all ones for never."""
    there = ~np.isnan(seconds)
    whole = np.rint(np.where(there, seconds, 0.0) * 1e9).astype("<u8")
    return np.where(there, whole, _NEVER).astype("<u8").tobytes()
