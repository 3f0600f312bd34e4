"""Media sessions of WebRTC: speech, pictures, and their delays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring.measure import MOS, PERCENT, POSITIVE, STREAM, UNBOUNDED, Applies, measure
from fairwave.measuring.parts import Parts, parted
from fairwave.tables import Column

if TYPE_CHECKING:
    from fairwave.measuring.measure import Limits, Numbers
    from fairwave.tables import Table

TABLE = "media"

OPINION: Limits = (1.0, 5.0)
"""The grades of ITU-T P.800."""

SPEECH, CAMERAS = ("audio",), ("video", "screen")
"""Streams of a session."""


def _mean(rows: Table, parts: Parts, streams: tuple[str, ...], column: str) -> Numbers:
    """The mean over the streams of these kinds."""
    is_such = np.any([rows["stream"].is_(one) for one in streams], axis=0)
    return parts.mean(np.where(is_such, rows.numbers(column), math.nan))


@measure(
    "session-mos", "", OPINION, title="MOS of the worst stream", better="higher", table=TABLE, scale="mos",
    applies=Applies(STREAM, STREAM, headline=True, figure="call"),
)  # fmt: skip
def session_mos(rows: Table, parts: Parts) -> Numbers:
    """MOS of the worst stream of a media session: speech by the E-model, pictures by the encoder's quality and freezes.

    A stream without any arrival counts as 1. The best of simulcast encodings counts. The mean over sessions.
    """
    scores = rows.with_columns(
        {"part": Column(parts.of_row), "mos": Column(np.fmax(rows.numbers("mos"), 1.0))}
    )
    of_stream, streams = parted(scores, "part", "flow", "stream")
    best = scores.take(streams).with_columns({"mos": Column(of_stream.most(scores.numbers("mos")))})
    of_session, sessions = parted(best, "part", "flow")
    worst = of_session.least(best.numbers("mos"))
    return Parts(best["part"].values[sessions], parts.count).mean(worst)


@measure("audio-mos", "", MOS, title="MOS of audio", better="higher", table=TABLE, applies=Applies(STREAM))
def audio_mos(rows: Table, parts: Parts) -> Numbers:
    """MOS of the speech of a media session, by the E-model, mean over sessions."""
    return _mean(rows, parts, SPEECH, "mos")


@measure(
    "video-mos", "", OPINION, title="MOS of video", better="higher", table=TABLE, applies=Applies(STREAM)
)
def video_mos(rows: Table, parts: Parts) -> Numbers:
    """MOS of the pictures of a media session: the encoder's quality, with time in freezes as 1; mean over streams."""
    return _mean(rows, parts, CAMERAS, "mos")


@measure("frozen", "%", PERCENT, better="lower", table=TABLE, applies=Applies(STREAM))
def frozen(rows: Table, parts: Parts) -> Numbers:
    """Time in which the picture of a media session was frozen (webrtc-stats), in % since the first picture."""
    return _mean(rows, parts, CAMERAS, "freeze_ratio") * 100


@measure("freezes", "", POSITIVE, better="lower", table=TABLE, applies=Applies(STREAM))
def freezes(rows: Table, parts: Parts) -> Numbers:
    """Number of freezes of the picture of a media session (webrtc-stats), mean over streams."""
    return _mean(rows, parts, CAMERAS, "freezes")


@measure("without-video", "s", POSITIVE, better="lower", table=TABLE, applies=Applies(STREAM))
def video_outage(rows: Table, parts: Parts) -> Numbers:
    """Seconds without motion while the camera was on: before the first picture, freezes, pauses."""
    return _mean(rows, parts, CAMERAS, "without_s")


@measure(
    "longest-freeze", "s", POSITIVE, better="lower", table=TABLE, applies=Applies(STREAM, only_above_zero=True)
)  # fmt: skip
def longest_freeze(rows: Table, parts: Parts) -> Numbers:
    """The longest time for which a picture of a media session was frozen after the first picture, in s."""
    return parts.most(rows.numbers("longest_freeze_s"))


@measure(
    "longest-without-video", "s", POSITIVE, title="longest time without video", better="lower", table=TABLE
)
def longest_without_video(rows: Table, parts: Parts) -> Numbers:
    """The longest time without a moving picture while the camera was on, in s, mean over streams."""
    return _mean(rows, parts, CAMERAS, "longest_without_s")


@measure("layer-switches", "/min", POSITIVE, better="lower", table=TABLE, applies=Applies(STREAM))
def layer_switches(rows: Table, parts: Parts) -> Numbers:
    """Changes of the picture's size, or of the layer that a server forwards, each minute; mean over streams."""
    return _mean(rows, parts, CAMERAS, "switches_per_min")


@measure("frame-rate", "/s", POSITIVE, better="higher", table=TABLE, applies=Applies(STREAM))
def frame_rate(rows: Table, parts: Parts) -> Numbers:
    """Pictures shown per second of a media session, mean over streams."""
    return _mean(rows, parts, CAMERAS, "frame_rate")


@measure("picture-height", "pixels", POSITIVE, better="higher", table=TABLE, applies=Applies(STREAM))
def picture_height(rows: Table, parts: Parts) -> Numbers:
    """Height of the pictures shown of a media session, in pixels, mean over time and streams."""
    return _mean(rows, parts, CAMERAS, "height")


@measure(
    "audio-delay", "ms", POSITIVE, title="mouth to ear", better="lower", table=TABLE, applies=Applies(STREAM)
)
def audio_delay(rows: Table, parts: Parts) -> Numbers:
    """Delay from mouth to ear of the speech of a media session, in ms, mean over sessions."""
    return _mean(rows, parts, SPEECH, "delay_s") * 1e3


@measure(
    "video-delay", "ms", POSITIVE, title="capture to screen", better="lower", table=TABLE, applies=Applies(STREAM)
)  # fmt: skip
def video_delay(rows: Table, parts: Parts) -> Numbers:
    """Delay from capture to rendering of the pictures of a media session, in ms, mean over streams."""
    return _mean(rows, parts, CAMERAS, "delay_s") * 1e3


@measure("lip-sync", "ms", UNBOUNDED, title="picture behind sound", table=TABLE)
def lip_sync(rows: Table, parts: Parts) -> Numbers:
    """Delay of the picture of a media session after its sound, in ms, mean over streams."""
    return _mean(rows, parts, CAMERAS, "lip_sync_s") * 1e3


@measure("concealed", "%", PERCENT, better="lower", table=TABLE, applies=Applies(STREAM))
def concealed(rows: Table, parts: Parts) -> Numbers:
    """Concealed share of the speech that the receiver of a media session played, in %, mean over sessions."""
    return _mean(rows, parts, SPEECH, "concealed_ratio") * 100


@measure(
    "encoder-target", "kb/s", POSITIVE, title="target of video", better="higher", table=TABLE, applies=Applies(STREAM)
)  # fmt: skip
def encoder_target(rows: Table, parts: Parts) -> Numbers:
    """Target of the video encoders of a media session, in kb/s of payload, mean over time and streams."""
    return _mean(rows, parts, CAMERAS, "target_bps") * 1e-3
