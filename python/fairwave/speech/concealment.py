"""Packet loss concealment: what a listener hears where a unit is missing.

``appendix-i`` is the waveform substitution of ITU-T G.711 Appendix I (09/1999), made anew from its
published description:

1. The pitch period is the lag of 5 to 15 ms at which the last 20 ms before the gap agree best with what
   came before them (normalised cross-correlation).
2. The gap is filled with the last pitch period over and over; from 10 ms on with the last two, from 20 ms
   on with the last three, so that long gaps do not buzz. Every seam is a triangular overlap of a quarter of
   a period.
3. After 10 ms the substitute fades by 20 % of full scale each 10 ms: after 60 ms there is silence.
4. The first samples after the gap fade in over the substitute: a quarter of a period, and 4 ms more for
   each further 10 ms of gap, at most 10 ms.

The seam at the gap's beginning changes the quarter period *before* it, which a receiver can only do by
playing everything 3.75 ms later (:data:`DELAY_S`). Here that delay is left out of the samples, so that they
stay aligned with the original; add it to the mouth-to-ear delay. Where nothing is missing, samples pass bit
by bit.

**Assumptions**: the period is sought at every lag rather than first at every other one (the
Recommendation's saving of work); gaps need not be whole frames of 10 ms; a gap at the very beginning is
silence.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from fairwave.speech.audio import RATE, Samples
from fairwave.speech.errors import SpeechError

METHODS = ("appendix-i", "silence")
"""Names that :func:`conceal` knows."""

DELAY_S = 0.00375
"""What concealment by Appendix I adds to a receiver's delay, in seconds."""

_SHORTEST, _LONGEST = 40, 120
_TEMPLATE = 160
_FRAME = 80
_HISTORY = _LONGEST * 13 // 4
_SILENT_AFTER = 6 * _FRAME
_LEAST_POWER = 250.0


def conceal(samples: Samples, missing: NDArray[np.bool_], method: str = "appendix-i") -> Samples:
    """Fill in what is missing.

    Args:
        samples: decoded speech, 8 kHz; where ``missing`` is set its value does not matter.
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
    gaps = _gaps(missing)
    if method == "silence" or not len(gaps):
        return np.where(missing, np.int16(0), samples)
    # Floating point with enough zeros in front that the history of the first gap needs no special case.
    line = np.zeros(_HISTORY + len(samples))
    line[_HISTORY:] = np.where(missing, 0, samples)
    touched = missing.copy()
    following = np.append(gaps[1:, 0], len(samples))
    for (first, stop), limit in zip(gaps.tolist(), following.tolist(), strict=True):
        quarter, recover = _fill(line, first + _HISTORY, stop + _HISTORY, limit + _HISTORY)
        touched[max(first - quarter, 0) : first] = True
        touched[stop : stop + recover] = True
    filled = np.clip(np.rint(line[_HISTORY:]), -32768, 32767).astype(np.int16)
    return np.where(touched, filled, samples)


def pitch_period(history: NDArray[np.float64]) -> int:
    """Lag of 5 to 15 ms at which a signal's end agrees best with what came before, in samples at 8 kHz.

    Args:
        history: at least 280 samples (35 ms), the latest last.
    """
    template = history[-_TEMPLATE:]
    # Row r holds the window that lies _LONGEST − r samples before the template.
    windows = sliding_window_view(history[-_TEMPLATE - _LONGEST : -_SHORTEST], _TEMPLATE)
    power = np.maximum(np.einsum("ij,ij->i", windows, windows), _LEAST_POWER)
    agreement = windows @ template / np.sqrt(power)
    # Of equals the shortest lag wins.
    return _SHORTEST + int(np.argmax(agreement[::-1]))


def _fill(line: NDArray[np.float64], first: int, stop: int, limit: int) -> tuple[int, int]:
    """Fill one gap in place; return how many samples before and after it were changed."""
    history = line[first - _HISTORY : first].copy()
    period = pitch_period(history)
    quarter = period // 4
    gap = stop - first
    frames = -(-gap // _FRAME)
    recover = min(quarter + 32 * (frames - 1), _FRAME, limit - stop)
    substitute = _substitute(history, period, quarter, min(gap + recover, _SILENT_AFTER))
    wanted = np.zeros(gap + recover)
    wanted[: len(substitute)] = substitute
    # The fade holds still while the signal returns.
    elapsed = np.minimum(np.arange(gap + recover), max(gap, _FRAME))
    wanted *= np.clip(1.0 - 0.2 * (elapsed - _FRAME) / _FRAME, 0.0, 1.0)
    line[first - quarter : first] = _looped(history, period, quarter, 1)[-quarter:]
    line[first:stop] = wanted[:gap]
    if recover > 0:
        rise = np.arange(1, recover + 1) / recover
        # What fades in may itself end in the next gap's beginning; that gap sees the mixture as its history.
        line[stop : stop + recover] = (1.0 - rise) * wanted[gap:] + rise * line[stop : stop + recover]
    return quarter, recover


def _substitute(history: NDArray[np.float64], period: int, quarter: int, length: int) -> NDArray[np.float64]:
    """Signal made of the last one, two, three periods, before it fades."""
    out = np.empty(length)
    phase, start, before = 0, 0, np.zeros(0)
    for periods, stop in ((1, _FRAME), (2, 2 * _FRAME), (3, length)):
        if start >= length:
            break
        stop = min(stop, length)  # noqa: PLW2901 -- the stage may be cut short
        loop = _looped(history, period, quarter, periods)
        # Each stage yields a quarter period more than it plays, over which the next one fades in.
        piece = loop[(phase + np.arange(stop - start + quarter)) % len(loop)]
        overlap = min(len(before), stop - start)
        rise = np.arange(1, overlap + 1) / quarter
        piece[:overlap] = (1.0 - rise) * before[:overlap] + rise * piece[:overlap]
        out[start:stop] = piece[: stop - start]
        before = piece[stop - start :]
        # The longer loop is entered in its oldest period, at the phase that the shorter one had reached.
        phase = (phase + stop - start) % len(loop) % period
        start = stop
    return out


def _looped(history: NDArray[np.float64], period: int, quarter: int, periods: int) -> NDArray[np.float64]:
    """The last few periods, their end bent so that it runs into their beginning."""
    length = periods * period
    loop: NDArray[np.float64] = history[-length:].copy()
    rise = np.arange(1, quarter + 1) / quarter
    lead = history[-length - quarter : -length]
    loop[-quarter:] = (1.0 - rise) * history[-quarter:] + rise * lead
    return loop


def _gaps(missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of (first missing sample, one past the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2).astype(np.int64)


def gap_lengths_s(missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Lengths of the gaps in seconds, in order."""
    gaps = _gaps(missing)
    return (gaps[:, 1] - gaps[:, 0]) / RATE
