"""A recording of the far end of a real call, compared with the original: positions, levels and gaps.

The alignment of a telephone's recording with the original is unknown: the start is arbitrary, and the phone's buffer
starts late, runs dry and catches up. So fairwave searches it for each talkspurt of the original, by the greatest
normalised cross-correlation near the talkspurt before. It compares the talkspurts at these positions, as
:class:`fairwave_speech.call.RenderedCall` aligns its reference: changes within a talkspurt count, the length of a pause
does not. The sound of a simulated call is treated the same way, so both measurements are comparable.

**Assumptions**: a talkspurt longer than `LONGEST_S` is cut. A piece with a correlation below `LEAST` counts as not
found and takes the offset of the one before. A gap is at least `GAP_S` of digital silence (no sample beyond G.711's
least step) while the original speaks: concealed frames are no gaps, but faded ones are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import correlate

from fairwave_speech.audio import RATE, Samples, active_level_dbov
from fairwave_speech.errors import SpeechError
from fairwave_speech.vad import talk_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_S = 4.0
"""Longest piece that is searched as a whole, in seconds."""

NEAR_S = 0.6
"""Greatest distance of a piece from the offset of the piece before, in seconds."""

LEAST = 0.25
"""Least normalised cross-correlation of a found piece."""

GAP_S = 0.01
"""Shortest silence that is a gap, in seconds."""

SILENT = 8
"""Samples up to this are silence: the least step of G.711's µ law on the scale of 16 bits."""

QUIET = 4 * SILENT
"""The original does not speak at levels up to this, because a codec may turn them into silence."""

_FRAME = RATE // 50


@dataclass(frozen=True)
class Piece:
    """A talkspurt of the original and its position in the recording, in samples.

    Attributes:
        begin: Its first sample in the original.
        length: Its length.
        heard: Its first sample in the recording.
        alike: Normalised cross-correlation there, at most 1.
    """

    begin: int
    length: int
    heard: int
    alike: float

    @property
    def found(self) -> bool:
        """Whether it was found."""
        return self.alike >= LEAST


@dataclass(frozen=True)
class Silences:
    """Silence while the original speaks.

    Attributes:
        count: Number of silences.
        longest_s: The longest, in seconds; 0 without any.
        total_s: Their sum.
    """

    count: int
    longest_s: float
    total_s: float


@dataclass(frozen=True)
class AlignedRecording:
    """A recording and its original, piece by piece.

    Attributes:
        heard: The recording, 8 kHz, to the end of the last complete talkspurt.
        reference: The original's pieces at their positions in the recording, silence in between, as long as `heard`.
        pieces: Their positions.
    """

    heard: Samples
    reference: Samples
    pieces: tuple[Piece, ...]

    @property
    def found(self) -> float:
        """Share of the pieces that were found."""
        return float(np.mean([piece.found for piece in self.pieces]))

    @property
    def lag_s(self) -> NDArray[np.float64]:
        """Lag of each found piece in the recording behind the original, in seconds."""
        return np.array([(one.heard - one.begin) / RATE for one in self.pieces if one.found])

    @property
    def level_dbov(self) -> float:
        """The recording's active level, in dB relative to overload (a square wave's; of a sine 3 dB below)."""
        return active_level_dbov(self.heard)

    @property
    def speech(self) -> NDArray[np.bool_]:
        """Mask of the recording's samples at which the original speaks, without its silences of `GAP_S` and more."""
        mask = np.zeros(len(self.heard), np.bool_)
        for piece in self.pieces:
            mask[max(piece.heard, 0) : max(piece.heard + piece.length, 0)] = True
        return mask & ~_silence(self.reference, round(GAP_S * RATE), QUIET)

    @property
    def gaps(self) -> Silences:
        """Silence while the original speaks."""
        lengths = _runs(_silence(self.heard, round(GAP_S * RATE), SILENT) & self.speech)
        lengths = lengths[lengths >= round(GAP_S * RATE)]
        return Silences(len(lengths), float(lengths.max(initial=0)) / RATE, float(lengths.sum()) / RATE)

    def line(self) -> tuple[list[float], list[float]]:
        """Corresponding seconds of the original and of the recording, ascending."""
        found = [piece for piece in self.pieces if piece.found]
        ends = [(one.begin + part, one.heard + part) for one in found for part in (0, one.length)]
        said, heard = (np.maximum.accumulate([pair[side] for pair in ends]) / RATE for side in (0, 1))
        return said.tolist(), heard.tolist()


def align(original: Samples, heard: Samples) -> AlignedRecording:
    """Finds each talkspurt of the original in a recording.

    Args:
        original: The transmitted speech, 8 kHz; speech after the end of the recording is left out.
        heard: The recording.

    Raises:
        SpeechError: One of them is shorter than a second, or nothing of the original is in the recording.
    """
    if min(len(original), len(heard)) < RATE:
        raise SpeechError(
            f"original of {len(original) / RATE:g} s, recording of {len(heard) / RATE:g} s: both must last a second"
        )
    whole = _correlation(heard, original)
    lag = int(whole.argmax()) - (len(original) - 1)
    pieces: list[Piece] = []
    for begin, end in _pieces(original):
        if begin + lag >= len(heard):
            break
        piece = _find(original[begin:end], heard, begin, lag)
        if piece.heard + piece.length > len(heard):
            break
        pieces.append(piece)
        lag = piece.heard - piece.begin if piece.found else lag
    if not any(piece.found for piece in pieces):
        raise SpeechError(
            "nothing of the original is in the recording; take the recording of this call, and its original"
        )
    # A talkspurt that the recording cuts off cannot be compared.
    heard = heard[: pieces[-1].heard + pieces[-1].length]
    reference = np.zeros(len(heard), np.int16)
    for piece in pieces:
        first = max(-piece.heard, 0)
        reference[piece.heard + first : piece.heard + piece.length] = original[
            piece.begin + first : piece.begin + piece.length
        ]
    return AlignedRecording(heard, reference, tuple(pieces))


def _pieces(original: Samples) -> list[tuple[int, int]]:
    """The original's talkspurts, long ones cut, in samples."""
    longest = round(LONGEST_S * RATE)
    found: list[tuple[int, int]] = []
    for first, stop in (talk_intervals(original, _FRAME) * _FRAME).tolist():
        parts = -(-(stop - first) // longest)
        edges = [first + (stop - first) * part // parts for part in range(parts + 1)]
        found += pairwise(edges)
    return found


def _find(said: Samples, heard: Samples, begin: int, lag: int) -> Piece:
    """Finds a piece near the offset of the one before."""
    near = round(NEAR_S * RATE)
    first = max(begin + lag - near, 0)
    window = heard[first : begin + lag + near + len(said)]
    if len(window) < len(said):
        return Piece(begin, len(said), begin + lag, 0.0)
    product = _correlation(window, said)[len(said) - 1 : len(window)]
    sums = np.concatenate([[0.0], np.cumsum(np.square(window, dtype=np.float64))])
    energy = sums[len(said) :] - sums[: -len(said)]
    own = float(np.square(said, dtype=np.float64).sum())
    alike = product / np.sqrt(np.maximum(energy, 1.0) * max(own, 1.0))
    best = int(alike.argmax())
    if alike[best] < LEAST:
        return Piece(begin, len(said), begin + lag, float(alike[best]))
    return Piece(begin, len(said), first + best, float(alike[best]))


def _correlation(long: Samples, short: Samples) -> NDArray[np.float64]:
    """Cross-correlation for every lag; index `len(short) - 1` is lag 0."""
    found: NDArray[np.float64] = correlate(long.astype(np.float64), short.astype(np.float64), "full", "fft")
    return found


def _silence(samples: Samples, least: int, loudest: int) -> NDArray[np.bool_]:
    """Mask of runs of at least `least` samples without a sample above `loudest`."""
    quiet = np.abs(samples.astype(np.int32)) <= loudest
    edges = np.flatnonzero(np.diff(np.concatenate([[False], quiet, [False]]).astype(np.int8)))
    mask = np.zeros(len(samples), np.bool_)
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - begin >= least:
            mask[begin:end] = True
    return mask


def _runs(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Lengths of the runs of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    lengths: NDArray[np.int64] = edges[1::2] - edges[::2]
    return lengths
