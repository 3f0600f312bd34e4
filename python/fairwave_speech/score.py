"""Similarity of received and original speech: ViSQOL, and segmental signal-to-noise ratio.

ViSQOL (A. Hines, J. Skoglund, A. Kokaram, N. Harte, *ViSQOL: an objective speech quality model*, EURASIP J.
Audio, Speech and Music Processing 2015; version 3 in speech mode) compares spectrograms patch by patch and
maps the similarity to a mean opinion score. It is meant for clips of 5 to 10 s, so a call is scored in
clips and the mean is quoted. Call and reference are already aligned sample by sample. So ViSQOL's alignment is
switched off: it could only find a position that fits better than the true one, and takes most of the time.

It needs the extra ``fairwave[scoring]``; all else works without. PESQ is left out, as its licence is not free.

**Assumptions**: signals at 8 kHz are resampled to the 16 kHz that ViSQOL expects; clips with little speech are left
out.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from fairwave_speech.audio import RATE, Samples, _frames, active_level_dbov
from fairwave_speech.errors import SpeechError

CLIP_S = 8.0
"""Length of a clip, in seconds."""

_LEAST_SPEECH_S = 1.0
_VISQOL_RATE = 16000


@dataclass(frozen=True)
class VisqolScore:
    """Score of a call.

    Attributes:
        mos: mean of the clips' mean opinion scores (MOS-LQO, 1 to 5).
        clips: score of each clip.
    """

    mos: float
    clips: tuple[float, ...]


def is_visqol_installed() -> bool:
    """Whether ViSQOL and the runtime of its model are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("visqol", "ai_edge_litert"))


def visqol(
    reference: Samples, heard: Samples, *, clip_s: float = CLIP_S, most: int | None = None
) -> VisqolScore:
    """Score the received sound against the original.

    A clip without any received sound scores 1, the least of the scale.

    Args:
        reference: the original, aligned with ``heard`` (as in :class:`~fairwave_speech.call.RenderedCall`).
        heard: the received sound, 8 kHz.
        clip_s: length of a clip, 2 to 30 s.
        most: number of clips to score, spread evenly over the call; default all.

    Raises:
        SpeechError: ViSQOL is not installed, lengths differ, a value is out of range, or there is less than a
            second of speech in every clip.
    """
    _check(reference, heard)
    if not 2.0 <= clip_s <= 30.0:
        raise SpeechError(f"clips of {clip_s} s: must be from 2 to 30 s; 8 s is what ViSQOL is made for")
    if most is not None and most < 1:
        raise SpeechError(f"at most {most} clips: must be at least 1")
    api = visqol_api()
    starts = _clips(reference, round(clip_s * RATE))
    if not starts:
        raise SpeechError(f"no clip of {clip_s:g} s holds a second of speech; score a longer call")
    if most is not None and len(starts) > most:
        starts = [starts[int(index)] for index in np.linspace(0, len(starts) - 1, most)]
    scores = tuple(
        # ViSQOL scales by the level of the received sound and has no score for silence: use the least of its scale.
        float(
            api.measure_from_arrays(_wide(reference[begin:end]), _wide(heard[begin:end]), _VISQOL_RATE).moslqo
        )
        if heard[begin:end].any()
        else 1.0
        for begin, end in starts
    )
    return VisqolScore(float(np.mean(scores)), scores)


def segmental_snr_db(
    reference: Samples,
    heard: Samples,
    *,
    frame_s: float = 0.02,
    floor_db: float = -10.0,
    ceiling_db: float = 35.0,
) -> float:
    """Segmental signal-to-noise ratio: mean over frames of their ratios, each limited to floor and ceiling.

    Frames without speech (40 dB under the active level) do not count. Identical signals reach the ceiling.

    Args:
        reference: the original.
        heard: the received sound, aligned.
        frame_s: length of a frame in seconds.
        floor_db: least ratio of a frame.
        ceiling_db: greatest ratio of a frame.

    Raises:
        SpeechError: lengths differ, a value is out of range, or there is no speech.
    """
    _check(reference, heard)
    size = round(frame_s * RATE) if np.isfinite(frame_s) else 0
    if not 1 <= size <= len(reference) or not floor_db < ceiling_db:
        raise SpeechError(
            f"frames of {frame_s} s from {floor_db} to {ceiling_db} dB: need a frame within the signal, "
            "and the floor below the ceiling"
        )
    signal = _power(_frames(reference, size).astype(np.float64))
    noise = _power(_frames(reference, size).astype(np.float64) - _frames(heard, size))
    speech = signal > 10.0 ** ((active_level_dbov(reference) - 40.0) / 10.0) * 32768.0**2
    if not speech.any():
        raise SpeechError("the reference has no speech, so there is no signal to compare with")
    ratio = 10.0 * np.log10(signal[speech] / np.maximum(noise[speech], 1e-12))
    return float(np.clip(ratio, floor_db, ceiling_db).mean())


def _check(reference: Samples, heard: Samples) -> None:
    if reference.shape != heard.shape or reference.ndim != 1 or not len(reference):
        raise SpeechError(
            f"reference of shape {reference.shape}, heard {heard.shape}: both must be the same length, and not empty"
        )


def _power(frames: NDArray[np.float64]) -> NDArray[np.float64]:
    power: NDArray[np.float64] = np.mean(np.square(frames), axis=1)
    return power


def _clips(reference: Samples, size: int) -> list[tuple[int, int]]:
    """Begin and end of consecutive clips with enough speech. A short rest joins the last clip."""
    count = max(len(reference) // size, 1)
    edges = [(index * size, (index + 1) * size) for index in range(count)]
    edges[-1] = (edges[-1][0], len(reference))
    loud = 32768.0**2 * 10.0 ** ((active_level_dbov(reference) - 30.0) / 10.0)
    frame = RATE // 100
    return [
        (begin, end)
        for begin, end in edges
        if np.count_nonzero(_power(_frames(reference[begin:end], frame).astype(np.float64)) > loud)
        >= _LEAST_SPEECH_S * 100
    ]


def _wide(samples: Samples) -> NDArray[np.float64]:
    """The signal at ViSQOL's rate, full scale 1."""
    wide: NDArray[np.float64] = resample_poly(samples / 32768.0, _VISQOL_RATE // RATE, 1)
    return wide


@cache
def visqol_api() -> Any:  # noqa: ANN401 -- the package is optional
    """ViSQOL in speech mode for signals at 16 kHz that are aligned sample by sample.

    Raises:
        SpeechError: ViSQOL is not installed.
    """
    try:
        from visqol import VisqolApi

        api = VisqolApi()
        with _quiet():
            api.create(
                mode="speech",
                use_lattice_model=True,
                disable_global_alignment=True,
                disable_realignment=True,
                search_window=1,
            )
    except ImportError as error:
        raise SpeechError(f"ViSQOL is not there ({error}): pip install 'fairwave[scoring]'") from error
    return api


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppresses the greeting of the model's runtime, which writes to the error stream without Python."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 -- the descriptor is needed
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
