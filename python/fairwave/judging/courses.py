"""Courses of a recorded call: the measures of each stream over time, for figures and tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave.judging.speech import measure_delays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fairwave.captures import Stream as CapturedStream
    from fairwave.dumps import Connection, Stream

    Numbers = NDArray[np.float64]

MOST_STEPS = 1800
"""Largest number of values of a course; longer calls have longer steps."""

TITLES = {
    "rate": ("Rate", "kb/s"),
    "loss": ("Packets lost", "%"),
    "round trip": ("Round trip", "ms"),
    "jitter": ("Jitter", "ms"),
    "delay": ("Delay above the least", "ms"),
    "made up": ("Speech made up", "%"),
    "frames": ("Pictures", "per second"),
    "height": ("Height of the picture", "pixels"),
    "estimate": ("Bandwidth estimate", "Mb/s"),
}
"""Measure to its title and unit."""


@dataclass(frozen=True, eq=False)
class Course:
    """A measure of a stream over time.

    Attributes:
        stream: Name of the stream; empty for the connection.
        measure: A key of :data:`TITLES`.
        time_s: Seconds since the file begins.
        values: Values in the measure's unit; NaN if unknown.
    """

    stream: str
    measure: str
    time_s: Numbers
    values: Numbers


def measure_capture(stream: CapturedStream, name: str, lasts_s: float, origin_s: float) -> list[Course]:
    """Measures a captured stream over time, in steps of 1 s or longer."""
    step = max(1.0, math.ceil(lasts_s / MOST_STEPS))
    count = math.floor(lasts_s / step) + 1
    at = (stream.at_ns - stream.begin_ns) / 1e9 - origin_s
    place = np.clip(at / step, 0, count - 1).astype(int)
    inside = np.arange(count)
    inside = (inside >= place.min()) & (inside <= place.max())
    # The first and the last step of the stream, and the last one of the file, are not full.
    ends = np.minimum(step * np.arange(1, count + 1), at.max())
    span = np.maximum(ends - np.maximum(step * np.arange(count), at.min()), 0.0)
    full = np.where(inside & (span >= step / 2), span, np.nan)
    first = stream.is_first
    order = np.argsort(stream.numbers[first], kind="stable")
    missing = np.diff(stream.numbers[first][order], prepend=-1) - 1.0
    lost = np.bincount(place[first][order], missing, count)
    packets = np.bincount(place[first], minlength=count)
    found = {
        "rate": np.bincount(place, 8e-3 * stream.sizes, count) / full,
        "loss": np.where(packets + lost > 0, 100 * lost / np.maximum(packets + lost, 1), np.nan),
    }
    delay = measure_delays(stream)
    known = ~np.isnan(delay)
    if known.any():
        highest = np.full(count, -np.inf)
        np.maximum.at(highest, place[known], 1e3 * delay[known])
        found["delay"] = np.where(np.isfinite(highest), highest, np.nan)
        steps = np.abs(np.diff(delay[known]))
        where = place[known][1:]
        found["jitter"] = (
            1e3 * np.bincount(where, steps, count) / _positive(np.bincount(where, minlength=count))
        )
    if stream.clock == PICTURE_CLOCK:
        fresh = np.flatnonzero(np.diff(stream.stamps[first][order], prepend=-1) != 0)
        found["frames"] = np.bincount(place[first][order][fresh], minlength=count) / full
    times = step * (np.arange(count) + 0.5)
    return [
        Course(name, measure, times[inside], values[inside].astype(float))
        for measure, values in found.items()
    ]


PICTURE_CLOCK = 90_000
"""Clock of video, Hz (RFC 3551)."""


def measure_statistics(connection: Connection, names: dict[int, str]) -> list[Course]:
    """Measures the streams and the connection in a browser's statistics over time.

    Args:
        connection: The connection.
        names: Place in the connection's streams to the stream's name, for the streams to measure.
    """
    times = connection.time_s
    found = [
        Course("", "round trip", times, 1e3 * connection.round_trip_s),
        Course("", "estimate", times, connection.available_bps / 1e6),
    ]
    for place, name in names.items():
        stream = connection.streams[place]
        found += [Course(name, measure, times, values) for measure, values in _list_series(stream)]
    return [_thin(one) for one in found if not np.isnan(one.values).all()]


def _list_series(stream: Stream) -> Iterator[tuple[str, Numbers]]:
    yield "rate", stream.rate_bps / 1e3
    yield "loss", 100 * stream.loss
    yield "round trip", 1e3 * stream.round_trip_s
    yield "jitter", 1e3 * stream.jitter_s
    if stream.kind == "audio":
        yield "made up", 100 * stream.concealed
    if stream.kind == "video":
        yield "frames", stream.frames_per_second
        yield "height", stream.height


def _thin(course: Course) -> Course:
    """Averages neighbours of a course with more than `MOST_STEPS` values."""
    width = math.ceil(len(course.time_s) / MOST_STEPS)
    if width <= 1:
        return course
    starts = np.arange(0, len(course.time_s), width)
    known = ~np.isnan(course.values)
    sums = np.add.reduceat(np.where(known, course.values, 0.0), starts)
    return Course(
        course.stream,
        course.measure,
        course.time_s[starts],
        sums / _positive(np.add.reduceat(known, starts, dtype=int)),
    )


def _positive(counts: NDArray[np.integer]) -> Numbers:
    """Returns counts, with NaN in place of 0."""
    return np.where(counts > 0, counts, np.nan)
