"""Speech played faster and slower: what a jitter buffer's operations do to the sound.

The simulator's law (``quality/playout/neteq``) says what is heard in which order: units, gaps to conceal, silence, and
changes of tempo by one assumed pitch period each. Here they happen to a waveform, where the pitch period is whatever
the voice has (libwebrtc ``time_stretch.cc``, ``accelerate.cc``, ``preemptive_expand.cc``; pitch-synchronous
overlap-add):

1. The pitch period is the lag p of 2.5 to 15 ms at which the p samples before the middle of the last 30 ms agree best
   with the p samples after it (normalised cross-correlation).
2. To play faster, the p samples before the middle fade into the p samples after it, and the latter are left out.
   To play slower, they are heard, fade back into themselves, and are heard again.

The waveform changes by as many whole periods as come nearest to what the law has changed. The difference is
carried to the next change, and taken out of the next silence, so that the call never runs ahead of the law or
behind it by more than a period.

**Assumptions**: a tempo is changed even where the voice has no clear pitch, since the law takes it as changed
(libwebrtc asks for a correlation of 0.9 and else tries again 10 ms later).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairwave.speech.audio import RATE, Samples

SHORTEST, LONGEST = RATE // 400, RATE * 15 // 1000
"""Pitch periods that are sought, in samples."""

_BLOCK = 240
"""What a change is made in: the last 30 ms, half of it before the change."""


@dataclass(frozen=True)
class Edits:
    """Changes of length along a line of samples.

    Attributes:
        at: where each begins, ascending.
        change: samples that it adds, or leaves out if negative.
    """

    at: NDArray[np.int64]
    change: NDArray[np.int64]

    def moved(self, position: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where places in the line come to lie."""
        total = np.concatenate([[0], np.cumsum(self.change)])
        moved: NDArray[np.int64] = position + total[np.searchsorted(self.at, position, side="left")]
        return moved


def pitch_period(block: Samples) -> int:
    """The pitch period around the middle of 30 ms of speech, in samples."""
    middle = len(block) // 2
    sound = block.astype(np.float64)
    best, found = -np.inf, LONGEST // 2
    for lag in range(SHORTEST, LONGEST + 1):
        before, after = sound[middle - lag : middle], sound[middle : middle + lag]
        power = float(np.sqrt((before @ before) * (after @ after)))
        agreement = float(before @ after) / power if power > 0.0 else -np.inf
        # A multiple of the period agrees as well; the period itself is the shortest such lag.
        if agreement > best + 1e-3:
            best, found = agreement, lag
    return found


def stretch(line: Samples, changes: NDArray[np.int64], silences: NDArray[np.int64]) -> tuple[Samples, Edits]:
    """Change the tempo of a line of speech.

    Args:
        line: speech and what was made up for it.
        changes: rows of (place in the line before which the tempo is changed, samples that the law adds; negative for
            those that it leaves out), by place.
        silences: rows of (first, one past the last sample) of what is known to be silent.

    Returns:
        What is heard, and where it differs in length.
    """
    at: list[int] = []
    change: list[int] = []
    parts: list[Samples] = []
    done = owed = 0
    events = sorted(
        [(int(place), 0, int(wanted)) for place, wanted in changes]
        + [(int(first), 1, int(stop)) for first, stop in silences]
    )
    for place, kind, value in events:
        if kind == 0:
            owed += value
            middle = place - _BLOCK // 2
            if middle - LONGEST < done or owed == 0:
                continue
            period = pitch_period(line[place - _BLOCK : place])
            if 2 * abs(owed) < period:
                continue
            period *= max(1, min(round(abs(owed) / period), LONGEST // period))
            before, after = line[middle - period : middle], line[middle : middle + period]
            if owed < 0:
                parts += [line[done : middle - period], _fade(before, after)]
                done = middle + period
                at.append(middle)
                change.append(-period)
                owed += period
            else:
                parts += [line[done:middle], _fade(after, before)]
                done = middle
                at.append(middle)
                change.append(period)
                owed -= period
        elif owed and place >= done and value - place > abs(owed):
            if owed > 0:
                parts += [line[done:place], np.zeros(owed, np.int16)]
                done = place
            else:
                parts.append(line[done:place])
                done = place - owed
            at.append(place)
            change.append(owed)
            owed = 0
    parts.append(line[done:])
    heard: Samples = np.concatenate(parts)
    return heard, Edits(np.array(at, np.int64), np.array(change, np.int64))


def _fade(first: Samples, second: Samples) -> Samples:
    """From one into the other, along a line."""
    weight = (np.arange(len(first)) + 1.0) / (len(first) + 1.0)
    mixed = (1.0 - weight) * first + weight * second
    return np.rint(mixed).astype(np.int16)
