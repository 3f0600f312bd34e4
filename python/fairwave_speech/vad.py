"""Voice activity: the frames of a recording that contain speech.

It uses energy with hangover, in frames of the codec. A frame is talk if its level is well above the recording's noise
floor. So are the frames shortly before and after it: soft beginnings and endings of words are not cut, and a pause
within a phrase does not end the talkspurt. A sender with silence suppression stops sending in all other frames.

**Assumptions** (no standard fixes an energy detector's numbers): 5 % of the frames have a level below the floor, and
5 % exceed the voice's level. The threshold is 30 % of the way up between them in dB. It is at least 15 and at most
35 dB under the voice, and never under −70 dBov. Hangover 100 ms, lead 40 ms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairwave_speech.audio import RATE, Samples, _frames
from fairwave_speech.errors import SpeechError

Intervals = NDArray[np.int64]
"""Rows of (first frame, one past the last frame), in order and separate."""

HANGOVER_S = 0.1
LEAD_S = 0.04


def talk_intervals(
    samples: Samples, frame: int, *, hangover_s: float = HANGOVER_S, lead_s: float = LEAD_S
) -> Intervals:
    """Find the frames with speech.

    Args:
        samples: the recording, 8 kHz.
        frame: samples of one frame; the result counts these.
        hangover_s: how long talk goes on after the last loud frame, in seconds.
        lead_s: how long before the first loud frame talk begins, in seconds.

    Returns:
        Talk intervals in whole frames; a recording without a clear floor (steady speech, noise) is one.

    Raises:
        SpeechError: a frame of no samples, a negative time, or a recording shorter than one frame.
    """
    if frame < 1:
        raise SpeechError(f"frame of {frame} samples: must be at least 1; 160 samples are 20 ms")
    if hangover_s < 0.0 or lead_s < 0.0:
        raise SpeechError(f"hangover {hangover_s} s, lead {lead_s} s: neither may be negative")
    frames = _frames(samples, frame)
    if not len(frames):
        raise SpeechError(f"recording of {len(samples)} samples: shorter than one frame of {frame}")
    level = 10.0 * np.log10(np.mean(np.square(frames, dtype=np.float64), axis=1) / 32768.0**2 + 1e-10)
    floor, voice = np.percentile(level, [5.0, 95.0])
    if voice - floor < 6.0:
        return np.array([[0, len(frames)]], np.int64)
    threshold = max(float(np.clip(floor + 0.3 * (voice - floor), voice - 35.0, voice - 15.0)), -70.0)
    loud = np.flatnonzero(level > threshold)
    if not len(loud):
        return np.array([[0, len(frames)]], np.int64)
    second = RATE / frame
    begin = np.maximum(loud - round(lead_s * second), 0)
    end = np.minimum(loud + 1 + round(hangover_s * second), len(frames))
    fresh = np.flatnonzero(np.concatenate([[True], begin[1:] > end[:-1]]))
    last = np.concatenate([fresh[1:] - 1, [len(loud) - 1]])
    return np.stack([begin[fresh], end[last]], axis=1).astype(np.int64)


def activity(intervals: Intervals, frames: int) -> float:
    """Share of the frames that are talk."""
    return float((intervals[:, 1] - intervals[:, 0]).sum() / frames) if frames else 0.0
