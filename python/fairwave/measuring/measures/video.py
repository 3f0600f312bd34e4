"""Videos of the transports for layered streams: frames that could be decoded when they were shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring.measure import BULK, PERCENT, POSITIVE, STREAM, Applies, measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


def _are_videos(rows: Table) -> NDArray[np.bool_]:
    return ~np.isnan(rows.numbers("decodable_ratio"))


@measure(
    "decodable", "%", PERCENT, title="frames decodable when shown", better="higher",
    applies=Applies(STREAM, STREAM | BULK, headline=True, figure="call"),
)  # fmt: skip
def decodable(rows: Table, parts: Parts) -> Numbers:
    """Frames with at least a decodable base layer when they were shown, in %, mean over flows."""
    return parts.mean(rows.numbers("decodable_ratio")) * 100


@measure(
    "decodable-layers", "", POSITIVE, title="layers decodable when shown", better="higher",
    applies=Applies(STREAM, headline=True),
)  # fmt: skip
def decodable_layers(rows: Table, parts: Parts) -> Numbers:
    """Number of layers in which a frame could be decoded when it was shown, mean over frames and flows."""
    return parts.mean(rows.numbers("decodable_layers"))


@measure("late", "%", PERCENT, title="late for showing", better="lower", applies=Applies(STREAM))
def late(rows: Table, parts: Parts) -> Numbers:
    """Units of video that arrived after their frame was shown, or had not arrived by then, in % of units sent."""
    is_video = _are_videos(rows)
    videos = rows.take(is_video)
    return parts.take(is_video).share(videos.numbers("late_units"), videos.numbers("units_sent"), 100)


@measure(
    "sender-wait", "ms", POSITIVE, title="longest wait in the sender", better="lower",
    applies=Applies(STREAM, only_above_zero=True),
)  # fmt: skip
def sender_wait(rows: Table, parts: Parts) -> Numbers:
    """Longest wait of a unit of video in its sender for the transport's rate, in ms, maximum over flows."""
    return parts.most(np.where(_are_videos(rows), rows.numbers("sender_wait_max_s"), math.nan)) * 1e3
