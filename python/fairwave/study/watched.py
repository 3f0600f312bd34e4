"""What the viewers of a video get. Flows that are not video have none of these measures, and tables leave them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave.study.measures import PERCENT, POSITIVE, Measure, _mean, _name, _per_flow, _share

if TYPE_CHECKING:
    from fairwave.study.measures import Reduction

_VIDEO = pl.col("decodable_ratio").fill_nan(None).is_not_null()


def decodable(group: str | None = None) -> Measure:
    """Frames of which at least the base layer could be decoded when they were shown, in %, mean over flows."""
    return Measure(
        "decodable",
        _name("frames decodable when shown", group),
        "%",
        _per_flow(group, _mean("decodable_ratio", 100)),
        "higher",
        limits=PERCENT,
    )


def decodable_layers(group: str | None = None) -> Measure:
    """Layers in which a frame could be decoded when it was shown, mean over frames and flows."""
    return Measure(
        "decodable_layers",
        _name("layers decodable when shown", group),
        "",
        _per_flow(group, _mean("decodable_layers")),
        "higher",
        limits=POSITIVE,
    )


def late(group: str | None = None) -> Measure:
    """Units of video that came after their frame was shown, or were still in the sender then, in % of those sent."""
    share = _share(pl.col("late_units").filter(_VIDEO), pl.col("units_sent").filter(_VIDEO), 100)
    return Measure(
        "late", _name("late for showing", group), "%", _per_flow(group, share), "lower", limits=PERCENT
    )


def sender_wait(group: str | None = None) -> Measure:
    """The longest that a unit of video waited in its sender for the transport's rate, the worst of the flows, in ms."""
    longest = pl.col("sender_wait_max_s").filter(_VIDEO).max() * 1e3
    reduction: Reduction = _per_flow(group, longest)
    return Measure(
        "sender_wait", _name("longest wait in the sender", group), "ms", reduction, "lower", limits=POSITIVE
    )


def of_viewers(group: str | None = None) -> list[Measure]:
    """What tables show of a video, in their order."""
    return [decodable(group), decodable_layers(group), late(group), sender_wait(group)]
