"""The script: the speech of one party of a call, cut into the frames that travel.

One rule assigns samples to units: **unit k of the flow carries talk frame k modulo n**, with the script's n talk frames
in order. It holds for every traffic source.

- The *recording* source sends a unit for each talk frame at the frame's time in the recording, and nothing in
  pauses. After the recording and a pause it starts again: the call is the recording.
- An on/off source (Pareto, exponential) determines when talkspurts begin and end. The speech continues at the end of
  the last talkspurt, so nothing of it is skipped. Pauses come from the source.
- A continuous source carries everything, including pauses, if the script was made with ``talk="all"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairwave_speech.audio import RATE, Recording, Samples
from fairwave_speech.errors import SpeechError
from fairwave_speech.vad import Intervals, talk_intervals

PAUSE_S = 1.0
"""Pause before the recording repeats, in seconds."""


@dataclass(frozen=True)
class Script:
    """A recording cut into frames of talk and silence.

    Attributes:
        recording: the speech.
        frame: samples per frame. One unit carries one frame.
        talk: rows of (first frame, one past the last frame).
        pause_s: pause after the recording before it begins again, in seconds.
    """

    recording: Recording
    frame: int
    talk: Intervals
    pause_s: float = PAUSE_S

    @cached_property
    def frames(self) -> Samples:
        """The talk frames, one per row: unit k carries row k modulo their number."""
        whole = -(-len(self.recording.samples) // self.frame)
        padded = np.zeros(whole * self.frame, np.int16)
        padded[: len(self.recording.samples)] = self.recording.samples
        rows = np.concatenate([np.arange(first, stop) for first, stop in self.talk.tolist()])
        frames: Samples = padded.reshape(whole, self.frame)[rows]
        return frames

    @property
    def frame_s(self) -> float:
        """Length of a frame in seconds."""
        return self.frame / RATE

    @property
    def repeat_after(self) -> int:
        """Frames from the recording's beginning to its next beginning, at least one."""
        whole = -(-len(self.recording.samples) // self.frame)
        return max(whole + round(self.pause_s / self.frame_s), 1)

    @property
    def period_s(self) -> float:
        """Time from the recording's beginning to its next beginning, in seconds."""
        return self.repeat_after * self.frame_s

    def talkspurts(self) -> list[tuple[float, float]]:
        """Talk intervals in seconds from the recording's beginning."""
        return [(first * self.frame_s, stop * self.frame_s) for first, stop in self.talk.tolist()]

    def traffic(
        self, codec: str = "g711", payload: str | None = None, *, repeat: bool = True
    ) -> dict[str, Any]:
        """The traffic source that sends this script, as a scenario's ``traffic`` table.

        Args:
            codec: the codec's name in scenarios.
            payload: size of a packet's payload, such as "160 B"; by default the codec's size for a frame.
            repeat: begin again after the recording and its pause; otherwise it plays once.
        """
        table: dict[str, Any] = {
            "kind": "recording",
            "codec": codec,
            "packet-time": f"{self.frame / 8:g} ms",
            "talk": [[first, stop] for first, stop in self.talk.tolist()],
        }
        if payload is not None:
            table["payload"] = payload
        if repeat:
            table["repeat-after"] = self.repeat_after
        return table


def script(
    recording: Recording, frame_s: float = 0.02, *, talk: str = "activity", pause_s: float = PAUSE_S
) -> Script:
    """Cut a recording into frames.

    Args:
        recording: the speech.
        frame_s: length of a frame in seconds, above 0 and at most 0.5.
        talk: ``"activity"``: send only speech (:mod:`fairwave_speech.vad`); ``"all"``: always.
        pause_s: pause before the recording begins again, in seconds.

    Raises:
        SpeechError: a value out of range, or a recording shorter than one frame.
    """
    frame = round(frame_s * RATE) if np.isfinite(frame_s) else 0
    if not 1 <= frame <= RATE // 2:
        raise SpeechError(f"frame {frame_s} s: must be above 0 and at most 0.5 s; 0.02 s is usual for G.711")
    if not 0.0 <= pause_s <= 3600.0:
        raise SpeechError(f"pause {pause_s} s: must be from 0 to 3600 s")
    if talk == "activity":
        intervals = talk_intervals(recording.samples, frame)
    elif talk == "all":
        if len(recording.samples) < frame:
            raise SpeechError(
                f"{recording.source}: {recording.duration_s:g} s is shorter than one frame of {frame_s:g} s"
            )
        intervals = np.array([[0, -(-len(recording.samples) // frame)]], np.int64)
    else:
        raise SpeechError(f"talk {talk!r}: must be 'activity' or 'all'")
    return Script(recording, frame, intervals, pause_s)
