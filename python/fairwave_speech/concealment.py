"""Packet loss concealment: the sound in place of a missing unit.

``appendix-i`` is the waveform substitution of ITU-T G.711 Appendix I (09/1999), implemented in core
(``crates/fairwave-media/src/speech/concealment.rs``, with its rules and assumptions). The lab's page uses the same
code. The seam at a gap's beginning changes the quarter period *before* it. A receiver can do that only by playing
everything 3.75 ms later (:data:`DELAY_S`). Here that delay is left out of the samples, so that they stay aligned with
the original; add it to the mouth-to-ear delay. Samples outside gaps pass bit by bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairwave import _native
from fairwave_speech.audio import RATE, Samples
from fairwave_speech.errors import SpeechError

METHODS = ("appendix-i", "silence")
"""Names that :func:`conceal` knows."""

DELAY_S = 0.00375
"""Additional receiver delay of concealment by Appendix I, in seconds."""


def conceal(samples: Samples, missing: NDArray[np.bool_], method: str = "appendix-i") -> Samples:
    """Fill in the missing samples.

    Args:
        samples: decoded speech, 8 kHz; values of samples with ``missing`` set are ignored.
        missing: one flag per sample.
        method: ``"appendix-i"``, or ``"silence"`` to leave gaps empty.

    Returns:
        Speech of the same length, aligned with ``samples``.

    Raises:
        SpeechError: an unknown method, or flags that do not match the samples.
    """
    if method not in METHODS:
        raise SpeechError(f"concealment {method!r}: not known; choose one of {', '.join(METHODS)}")
    if missing.shape != samples.shape or samples.ndim != 1:
        raise SpeechError(
            f"{missing.shape} flags for {samples.shape} samples: need one flag for each, in a line"
        )
    if method == "silence" or not missing.any():
        return np.where(missing, np.int16(0), samples)
    heard = _native.conceal(samples.astype("<i2").tobytes(), missing.tobytes())
    return np.frombuffer(heard, "<i2").astype(np.int16)


def pitch_period(history: NDArray[np.float64]) -> int:
    """Lag of 5 to 15 ms with the best match of a signal's end to its past, in samples at 8 kHz.

    Args:
        history: at least 280 samples (35 ms), the latest last.
    """
    return _native.pitch_period(history.tolist())


def _gaps(missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of (first missing sample, one past the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2).astype(np.int64)


def gap_lengths_s(missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Lengths of the gaps in seconds, in order."""
    gaps = _gaps(missing)
    return (gaps[:, 1] - gaps[:, 0]) / RATE
