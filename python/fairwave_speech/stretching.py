"""Speech at a faster or slower tempo: the effect of a jitter buffer's operations on the sound.

The simulator's law (``quality/playout/neteq``) decides the order of units, gaps to conceal, silence, and changes of
tempo by one assumed pitch period each. Core applies them to a waveform
(``crates/fairwave-media/src/speech/stretching.rs``, with its rules and assumptions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairwave import _native
from fairwave_speech.audio import RATE, Samples

SHORTEST, LONGEST = RATE // 400, RATE * 15 // 1000
"""Range of the pitch periods in the search, in samples."""


@dataclass(frozen=True)
class Edits:
    """Changes of length along a line of samples.

    Attributes:
        at: position of each change, ascending.
        change: number of samples that it adds; negative if it removes samples.
    """

    at: NDArray[np.int64]
    change: NDArray[np.int64]

    def move(self, position: NDArray[np.int64]) -> NDArray[np.int64]:
        """New positions of positions in the line."""
        total = np.concatenate([[0], np.cumsum(self.change)])
        moved: NDArray[np.int64] = position + total[np.searchsorted(self.at, position, side="left")]
        return moved


def pitch_period(block: Samples) -> int:
    """The pitch period around the middle of 30 ms of speech, in samples."""
    return _native.stretched_period(block.astype("<i2").tobytes())


def stretch(line: Samples, changes: NDArray[np.int64], silences: NDArray[np.int64]) -> tuple[Samples, Edits]:
    """Change the tempo of a line of speech.

    Args:
        line: speech and its concealment.
        changes: rows of (position in the line before which the tempo changes, samples that the law adds; negative for
            removed ones), by position.
        silences: rows of (first, one past the last sample) of known silence.

    Returns:
        The played sound, and its changes of length.
    """
    heard, edits = _native.stretch(
        line.astype("<i2").tobytes(),
        [(int(place), int(by)) for place, by in changes],
        [(int(first), int(stop)) for first, stop in silences],
    )
    places = np.array(edits, np.int64).reshape(-1, 2)
    return np.frombuffer(heard, "<i2").astype(np.int16), Edits(places[:, 0], places[:, 1])
