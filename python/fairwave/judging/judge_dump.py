"""Judges the streams in the statistics of a browser.

Speech is rated by the E-model: the share that the receiver made up, or else the packets lost, with half of the round
trip and the time in the jitter buffer as the delay. Pictures are rated by the share of time without a freeze, as
frames that are not shown (`decodable`), or else by the packets lost. Received streams count; without them, sent ones.

Three events limit a rating to *fair*: a gap or a freeze, as everywhere; a camera that sends nothing for more than 1 s
while bandwidth or the CPU limits it; and round trips above 0.8 s. That is twice the 400 ms one way that ITU-T G.114
names as the limit of planning; a mean over the call hides it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.events import FROZEN_S
from fairwave.dumps import RECEIVED, read_dump
from fairwave.dumps.events import find_events, find_limits, find_worst
from fairwave.dumps.streams import divide, sum_known
from fairwave.judging.courses import measure_statistics
from fairwave.judging.judgement import (
    MOST_COURSES,
    SHORTEST_S,
    Incident,
    Judgement,
    Kind,
    Rating,
    StreamReport,
    sort_streams,
)
from fairwave.judging.speech import ASSUMED_DELAY_S, find_codec, score_packets, spread_losses
from fairwave.live.rating import MOST
from fairwave.measuring.measures import GAP_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.dumps import Connection, Stream
    from fairwave.dumps.events import Event, Limit

PACKET_S = 0.02
"""Speech of a packet †."""

LONG_TRIP_S = 0.8
"""Longest round trip of a good call (ITU-T G.114: 400 ms one way)."""

MADE_UP = 0.9
"""Share of made-up speech from which an interval belongs to a gap †."""

UNKNOWN = (
    "Statistics have counters, not packets: losses between two samples are spread evenly, and packets carry 20 ms of "
    "speech."
)
SENT_ONLY = (
    "The file has no received stream: the streams that this end sends are judged, as the other end reports "
    "them."
)


def judge_dump(path: Path, connection: str | None = None) -> Judgement:
    """Judges the call in a file of statistics.

    Args:
        path: The file.
        connection: Name of the connection; None for the one with the most media.

    Raises:
        FileNotFoundError: There is no such file.
        DumpError: The file has no statistics of media, or no such connection.
    """
    dump = read_dump(path)
    chosen, notes = dump.choose(connection)
    begin_s = float(chosen.time_s[0])
    lasts_s = float(chosen.time_s[-1]) - begin_s
    active = [one for one in chosen.streams if one.has_media]
    decisive = [one for one in active if one.direction == RECEIVED] or active
    events, limits = find_events(chosen), find_limits(chosen)
    streams = [
        _report(chosen, one, _find_troubles(one, events, limits), is_judged=one in decisive) for one in active
    ]
    worst = find_worst(chosen)
    assumptions = [UNKNOWN]
    if np.isnan(chosen.round_trip_s).all():
        assumptions.append(
            f"The round trip is not known: the delay of the network is assumed as {1e3 * ASSUMED_DELAY_S:.0f} ms."
        )
    if active and not any(one.direction == RECEIVED for one in active):
        assumptions.append(SENT_ONLY)
    incidents = [
        Incident(one.kind, one.start_s, one.end_s, one.words, _name(one.stream) if one.stream else "")
        for one in events
    ]
    ordered = sort_streams(streams)
    shown = {one.name for one in ordered[:MOST_COURSES]}
    names = {
        place: _name(one) for place, one in enumerate(chosen.streams) if one.has_media and _name(one) in shown
    }
    return Judgement(
        str(path), dump.format, lasts_s, ordered, incidents, limits,
        None if worst is None else worst[0], 0.0 if worst is None else worst[1], assumptions, [*dump.notes, *notes],
        measure_statistics(chosen, names),
    )  # fmt: skip


def _kind(stream: Stream) -> Kind:
    if stream.is_screen:
        return "screen"
    if stream.kind == "audio":
        return "speech"
    return "picture" if stream.kind == "video" else "stream"


def _name(stream: Stream) -> str:
    which = stream.rid or (stream.ssrc if stream.ssrc is not None else stream.name)
    return f"{stream.direction} {_kind(stream)} {which}"


def _find_troubles(stream: Stream, events: Sequence[Event], limits: Sequence[Limit]) -> list[str]:
    """Finds events other than gaps and freezes that keep a stream from being good."""
    found = []
    trips = [one.amount for one in events if one.kind == "queue" and one.amount > LONG_TRIP_S]
    if trips and _kind(stream) in {"speech", "picture"}:
        found.append(f"round trips of up to {max(trips):.2g} s")
    held_back = [one for one in limits if one.factor in {"bandwidth", "cpu"}]
    pauses = [
        one.amount
        for one in events
        if one.kind == "pause" and one.stream is stream and one.amount > FROZEN_S
        and any(limit.start_s < one.end_s and limit.end_s > one.start_s for limit in held_back)
    ]  # fmt: skip
    if pauses and _kind(stream) == "picture":
        found.append(f"no picture was sent for {max(pauses):.2g} s")
    return found


def _report(
    connection: Connection, stream: Stream, troubles: Sequence[str], *, is_judged: bool
) -> StreamReport:
    kind = _kind(stream)
    codec = stream.codec.partition("/")[2]
    packets = sum_known(stream.packets)
    lost = stream.lost_total
    sent = packets + lost if stream.direction == RECEIVED else packets
    loss = min(max(lost / sent, 0.0), 1.0) if sent > 0 else math.nan
    trips = stream.round_trip_s if stream.direction != RECEIVED else connection.round_trip_s
    trip_s = _average(trips)
    if math.isnan(trip_s):
        trip_s = _average(connection.round_trip_s)
    lasts_s = stream.end_s - stream.start_s
    unknown: list[str] = []
    mos = math.nan
    rating = None
    gap_s = _longest_gap(stream) if kind == "speech" else math.nan
    frozen_s = sum_known(stream.frozen_s) if kind != "speech" else math.nan
    freeze_s = _longest_freeze(stream) if kind != "speech" else math.nan
    if is_judged and lasts_s >= SHORTEST_S:
        if kind == "speech":
            mos = _score(stream, codec, trip_s, unknown)
        rating = _rate(kind, mos, loss, gap_s, frozen_s, freeze_s, lasts_s, troubles)
        if rating is None:
            unknown.append(f"{_name(stream)} is not judged: the file has no losses and no freezes of it")
    return StreamReport(
        _name(stream), kind, stream.direction, codec, stream.start_s, stream.end_s,
        0 if math.isnan(packets) else round(packets), lost, loss, _average(stream.rate_bps), _average(stream.jitter_s),
        trip_s, sum_known(stream.freezes) if kind != "speech" else math.nan, frozen_s, freeze_s, gap_s, mos, rating,
        unknown,
    )  # fmt: skip


def _rate(
    kind: str,
    mos: float,
    loss: float,
    gap_s: float,
    frozen_s: float,
    freeze_s: float,
    lasts_s: float,
    troubles: Sequence[str],
) -> Rating | None:
    """Returns the rating of a stream; None if the file has nothing to rate it by."""
    found = list(troubles)
    if gap_s > GAP_S:
        found.insert(0, f"a gap of {gap_s:.2f} s")
    if freeze_s > FROZEN_S:
        found.insert(0, f"a picture was frozen for {freeze_s:.1f} s")
    because = "; ".join(found)
    if not math.isnan(mos):
        return Rating("mos", (mos,), because)
    if kind != "speech" and not math.isnan(frozen_s):
        return Rating("decodable", (100 * (1 - min(frozen_s / lasts_s, 1.0)),), because)
    return None if math.isnan(loss) else Rating("missed", (100 * loss,), because)


def _score(stream: Stream, codec: str, trip_s: float, unknown: list[str]) -> float:
    """Returns the MOS of speech; NaN with a reason in `unknown`."""
    rate_bps = _average(np.where(stream.packets > 0, stream.rate_bps, np.nan))
    rated = find_codec(codec, rate_bps - 8 * 12 / PACKET_S) if codec and not math.isnan(rate_bps) else None
    missing = stream.concealed
    if np.isnan(missing).all():
        missing = stream.loss
    packets = stream.packets + (np.maximum(stream.lost, 0.0) if stream.direction == RECEIVED else 0.0)
    if rated is None or np.isnan(missing).all() or not np.nansum(packets) >= 1:
        why = (
            "its losses are unknown"
            if rated
            else f"no rating of {codec} is known"
            if codec
            else "its codec is unknown"
        )
        unknown.append(f"{_name(stream)} has no MOS: {why}")
        return math.nan
    network_s = ASSUMED_DELAY_S if math.isnan(trip_s) else trip_s / 2
    buffer_s = float(np.nan_to_num(_average(stream.buffer_s)))
    # A long call has the losses of each interval, with fewer packets.
    fewer = min(1.0, MOST / float(np.nansum(packets)))
    delay = spread_losses(packets * fewer, missing, network_s + buffer_s)
    return score_packets(delay, PACKET_S, rated).mos if len(delay) else math.nan


def _longest_gap(stream: Stream) -> float:
    """Returns the longest run of made-up speech, in seconds; NaN without these counters.

    Intervals that are almost all made up are one gap. Other intervals have their mean per event.
    """
    share, events = stream.concealed, stream.count("concealmentEvents")
    if np.isnan(share).all():
        return math.nan
    made_s = np.nan_to_num(share * stream.step_s)
    single = np.nan_to_num(divide(made_s, events))
    longest, run = float(single.max(initial=0.0)), 0.0
    for amount, one in zip(made_s.tolist(), np.nan_to_num(share).tolist(), strict=True):
        run = run + amount if one >= MADE_UP else 0.0
        longest = max(longest, run)
    return longest


def _longest_freeze(stream: Stream) -> float:
    """Returns the longest freeze, in seconds: of several freezes between two samples their mean. NaN if unknown."""
    frozen = stream.frozen_s
    if np.isnan(frozen).all():
        return math.nan
    return float(np.nanmax(frozen / np.maximum(np.nan_to_num(stream.freezes), 1.0)))


def _average(values: Any) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
