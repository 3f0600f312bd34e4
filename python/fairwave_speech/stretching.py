"""Speech played faster and slower: what a jitter buffer's operations do to the sound.

The simulator's law (``quality/playout/neteq``) decides the order of units, gaps to conceal, silence, and changes of
tempo by one assumed pitch period each. Core makes them happen to a waveform
(``crates/fairwave-media/src/speech/stretching.rs``, where its rules and assumptions stand).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairwave import _native
from fairwave_speech.audio import RATE, Samples

SHORTEST, LONGEST = RATE // 400, RATE * 15 // 1000
"""Pitch periods that are sought, in samples."""


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
        """New positions of places in the line."""
        total = np.concatenate([[0], np.cumsum(self.change)])
        moved: NDArray[np.int64] = position + total[np.searchsorted(self.at, position, side="left")]
        return moved


def pitch_period(block: Samples) -> int:
    """The pitch period around the middle of 30 ms of speech, in samples."""
    return _native.stretched_period(block.astype("<i2").tobytes())


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
    heard, edits = _native.stretch(
        line.astype("<i2").tobytes(),
        [(int(place), int(by)) for place, by in changes],
        [(int(first), int(stop)) for first, stop in silences],
    )
    places = np.array(edits, np.int64).reshape(-1, 2)
    return np.frombuffer(heard, "<i2").astype(np.int16), Edits(places[:, 0], places[:, 1])
