"""Events of a connection: freezes, losses, pauses, changes of the path, limits of the picture, the worst seconds.

:func:`find_events` lists events with their times, :func:`find_limits` gives the limiting factor over time, and
:func:`find_worst` the worst ten seconds. All work on the statistics alone. Bounds marked † are choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave.dumps.streams import RECEIVED, SENT, Span, Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.dumps.connections import Connection
    from fairwave.dumps.recording import Numbers

LOSS = 0.02
"""Share of lost packets from which an interval counts as lossy †."""

CONCEALED = 0.05
"""Share of made-up speech from which an interval counts as concealed †."""

SILENT_S = 2.0
"""A stream that carries nothing for this long pauses †."""

QUEUED_S = 0.2
"""Round trips this much above the least show a long queue †."""

FELL = 0.5
"""An estimate, or a received rate, below this share of its usual value has fallen †."""

USUAL = 0.9
"""The usual value of a series is this quantile."""

SHORTEST_S = 3.0
"""A fallen estimate or rate counts if it lasts this long †."""

WINDOW_S = 10.0
"""Length of the worst part."""


@dataclass(frozen=True, eq=False)
class Event:
    """An event of a stream or of the connection.

    Attributes:
        kind: `freeze`, `loss`, `concealment`, `pause`, `smaller picture`, `path change`, `queue`, `estimate fell` or
            `no statistics`.
        start_s: Its start, in seconds since the beginning of the dump.
        end_s: Its end.
        amount: Its size: seconds frozen, share of packets or of speech, height in pixels, seconds of round trip, bit/s,
            or seconds without statistics.
        words: The event as a phrase without its time.
        stream: Its stream; None for events of the connection.
    """

    kind: str
    start_s: float
    end_s: float
    amount: float
    words: str
    stream: Stream | None = None


@dataclass(frozen=True)
class Limit:
    """A time with a limiting factor.

    Attributes:
        factor: `bandwidth`, `cpu`, `other end` or `other`.
        start_s: Its start, in seconds since the beginning of the dump.
        end_s: Its end.
        evidence: The statistic that shows it.
    """

    factor: str
    start_s: float
    end_s: float
    evidence: str


def find_runs(holds: NDArray[np.bool_], time_s: Numbers) -> list[tuple[int, int, Span]]:
    """Returns the runs of intervals in which a condition holds: first and last index, and the time that they cover."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    return [
        (int(first), int(end) - 1, Span(float(time_s[max(first - 1, 0)]), float(time_s[end - 1])))
        for first, end in zip(edges[::2], edges[1::2], strict=True)
    ]


def find_events(connection: Connection) -> list[Event]:
    """Returns the events of a connection and of its streams, in the order of their starts."""
    found = [
        Event("no statistics", one.start_s, one.end_s, one.end_s - one.start_s, "no statistics")
        for one in connection.gaps
    ]
    found += [
        Event("path change", one.at_s, one.at_s, 0.0, f"the path changed from {one.before} to {one.after}")
        for one in connection.pair_changes
    ]
    found += _queues(connection)
    found += _fallen_estimates(connection)
    for stream in connection.streams:
        if stream.has_media:
            found += [
                *_freezes(stream),
                *_losses(stream),
                *_concealments(stream),
                *_pauses(stream),
                *_shrinks(stream),
            ]
    return sorted(found, key=lambda one: (one.start_s, one.end_s, one.kind))


def _freezes(stream: Stream) -> list[Event]:
    """Freezes. The browser adds the time of a freeze to its counters when the freeze ends."""
    frozen = np.nan_to_num(stream.frozen_s)
    found: list[Event] = []
    for at in np.flatnonzero(frozen > 0).tolist():
        end = float(stream.time_s[at])
        start = max(end - frozen[at], stream.start_s)
        if found and found[-1].end_s >= start - stream.slack_s:
            start = found[-1].start_s
            seconds = found.pop().amount + frozen[at]
        else:
            seconds = frozen[at]
        found.append(
            Event("freeze", start, end, float(seconds), f"the picture froze for {seconds:.2g} s", stream)
        )
    return found


def _losses(stream: Stream) -> list[Event]:
    found = []
    for first, last, span in find_runs(np.nan_to_num(stream.loss) >= LOSS, stream.time_s):
        part = slice(first, last + 1)
        lost, packets = np.nansum(np.maximum(stream.lost[part], 0)), np.nansum(stream.packets[part])
        share = min(1.0, float(lost / max(packets + (lost if stream.direction == RECEIVED else 0), 1.0)))
        found.append(Event("loss", span.start_s, span.end_s, share, f"{share:.1%} of packets lost", stream))
    return found


def _concealments(stream: Stream) -> list[Event]:
    found = []
    for first, last, span in find_runs(np.nan_to_num(stream.concealed) >= CONCEALED, stream.time_s):
        share = float(np.nanmean(stream.concealed[first : last + 1]))
        words = f"{share:.0%} of the speech made up"
        found.append(Event("concealment", span.start_s, span.end_s, share, words, stream))
    return found


def _pauses(stream: Stream) -> list[Event]:
    carried = np.where(np.isnan(stream.packets), stream.rate_bps, stream.packets)
    verb = "sent" if stream.direction == SENT else "arrived"
    busy = np.flatnonzero(carried > 0)
    found = []
    for first, _, span in find_runs(carried == 0, stream.time_s):
        seconds = span.end_s - span.start_s
        # Before the first packet, a stream has not begun yet.
        if seconds >= SILENT_S and len(busy) and first > busy[0]:
            found.append(
                Event(
                    "pause",
                    span.start_s,
                    span.end_s,
                    seconds,
                    f"no packet {verb} for {seconds:.3g} s",
                    stream,
                )
            )
    return found


def _shrinks(stream: Stream) -> list[Event]:
    """Times with a picture below the usual height."""
    height = stream.height
    known = ~np.isnan(height) & (height > 0)
    if not known.any():
        return []
    usual = float(np.quantile(height[known], USUAL))
    found = []
    for first, last, span in find_runs(known & (height < usual), stream.time_s):
        least = float(height[first : last + 1].min())
        words = f"the picture had {least:.0f} instead of {usual:.0f} lines"
        found.append(Event("smaller picture", span.start_s, span.end_s, least, words, stream))
    return found


def _queues(connection: Connection) -> list[Event]:
    trips = connection.round_trip_s
    if np.isnan(trips).all():
        return []
    raised = np.nan_to_num(trips) >= np.nanmin(trips) + QUEUED_S
    found = []
    for first, last, span in find_runs(raised, connection.time_s):
        most = float(np.nanmax(trips[first : last + 1]))
        words = f"round trips of up to {most:.2g} s, instead of {np.nanmin(trips):.2g} s"
        found.append(Event("queue", span.start_s, span.end_s, most, words))
    return found


def _fallen_estimates(connection: Connection) -> list[Event]:
    found = []
    for first, last, span in _falls(connection.available_bps, connection.time_s):
        least = float(np.nanmin(connection.available_bps[first : last + 1]))
        words = f"the bandwidth estimate fell to {least / 1e6:.2g} Mb/s"
        found.append(Event("estimate fell", span.start_s, span.end_s, least, words))
    return found


def _falls(values: Numbers, time_s: Numbers) -> list[tuple[int, int, Span]]:
    """Returns the times with less than half of the usual value, after it was reached once."""
    known = values[~np.isnan(values)]
    if not len(known):
        return []
    usual = float(np.quantile(known, USUAL))
    reached = np.maximum.accumulate(np.nan_to_num(values)) >= FELL * usual
    low = ~np.isnan(values) & (values < FELL * usual) & reached
    return [one for one in find_runs(low, time_s) if one[2].end_s - one[2].start_s >= SHORTEST_S]


def find_limits(connection: Connection) -> list[Limit]:
    """Returns the times in which something limited the picture, with the factor.

    The sender's encoders say so for sent streams. A received picture is limited by the *other end* if its rate falls to
    half of the usual, but neither losses nor queues show a network that is too small.
    """
    found: list[Limit] = []
    for stream in connection.sent:
        limited, step = stream.limited_s, stream.step_s
        evidence = f"qualityLimitationReason of {stream.label}"
        for factor in ("bandwidth", "cpu", "other"):
            if factor in limited:
                holds = np.nan_to_num(limited[factor]) > 0.5 * np.nan_to_num(step, nan=np.inf)
                found += [
                    Limit(factor, span.start_s, span.end_s, evidence)
                    for _, _, span in find_runs(holds, connection.time_s)
                ]
    trips = connection.round_trip_s
    least = np.nan if np.isnan(trips).all() else float(np.nanmin(trips))
    for stream in connection.received:
        if stream.kind != "video":
            continue
        for first, last, span in _falls(stream.rate_bps, stream.time_s):
            part = slice(first, last + 1)
            is_lossy = (np.nan_to_num(stream.loss[part]) >= LOSS).any()
            is_queued = (np.nan_to_num(trips[part]) >= least + QUEUED_S).any()
            if not is_lossy and not is_queued:
                evidence = f"{stream.label} came with less, without losses and without a queue"
                found.append(Limit("other end", span.start_s, span.end_s, evidence))
    return sorted(found, key=lambda one: (one.start_s, one.end_s, one.factor))


def compute_badness(connection: Connection) -> Numbers:
    """Returns how bad each interval was, from 0 (nothing happened) to 1.

    Received streams count by the share of time with a frozen picture, and by five times the share of speech made up.
    Sent streams count by five times the share of packets lost. A round trip of 0.8 s or more counts 0.5 †.
    """
    times = connection.time_s
    found = np.zeros(len(times))
    for stream in connection.streams:
        if stream.direction == SENT:
            found = np.maximum(found, np.clip(5 * np.nan_to_num(stream.loss), 0, 1))
            continue
        found = np.maximum(found, np.clip(5 * np.nan_to_num(stream.concealed), 0, 1))
        starts = np.concatenate([times[:1], times[:-1]])
        for event in _freezes(stream):
            shared = np.minimum(times, event.end_s) - np.maximum(starts, event.start_s)
            spoilt = np.divide(shared, times - starts, out=np.zeros(len(times)), where=times > starts)
            found = np.maximum(found, np.clip(spoilt, 0, 1))
    slow = np.clip(np.nan_to_num(connection.round_trip_s) / 1.6, 0, 0.5)
    return np.maximum(found, np.where(slow >= 0.25, slow, 0))


def find_worst(connection: Connection, window_s: float = WINDOW_S) -> tuple[Span, float] | None:
    """Returns the worst part of this length, and its mean badness; None if nothing bad happened.

    Args:
        connection: The connection.
        window_s: Length in seconds.
    """
    times = connection.time_s
    if len(times) < 2:
        return None
    badness = compute_badness(connection)
    lasted = np.diff(times, prepend=times[0])
    summed = np.cumsum(badness * lasted)
    ends = np.minimum(times + window_s, times[-1])
    amounts = np.interp(ends, times, summed) - summed
    best = int(amounts.argmax())
    if amounts[best] <= 0:
        return None
    start = min(float(times[best]), max(float(times[-1]) - window_s, float(times[0])))
    end = min(start + window_s, float(times[-1]))
    amount = float(np.interp(end, times, summed) - np.interp(start, times, summed))
    return Span(start, end), amount / (end - start)
