"""Judges the streams of RTP in a capture.

Thresholds marked † are choices. A stream's losses and delays are those before the place of the capture.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairwave import captures
from fairwave.answers.events import FROZEN_S
from fairwave.dumps.events import LOSS, QUEUED_S, SILENT_S, WINDOW_S, Limit, find_runs
from fairwave.dumps.streams import Span
from fairwave.judging.courses import PICTURE_CLOCK, measure_capture
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
from fairwave.judging.speech import (
    ASSUMED_DELAY_S,
    PACKET_S,
    find_codec,
    measure_delays,
    measure_packet_s,
    score_stream,
)
from fairwave.measuring.measures import GAP_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from fairwave.captures import Description, FlowSummary, Pause, Stream

    Numbers = NDArray[np.float64]

MOST_SECONDS = 1_000_000
"""Longest recording that is divided into seconds."""

MOST_RATED = 1_000_000
"""Largest number of packets of a stream whose speech is rated: more than five hours of 20 ms."""

UNKNOWN_DELAY = (
    "A capture does not show the round trip or the delay of the network: the ratings of speech assume "
    f"{1e3 * ASSUMED_DELAY_S:.0f} ms one way, and delays above the least of each stream."
)
PLACE = (
    "Losses and delays are those before the place of the capture. A stream that was captured where it was sent shows "
    "none."
)


def judge_capture(
    path: Path,
    description: Description | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Judgement:
    """Judges the streams of speech and pictures in a capture.

    Args:
        path: The capture.
        description: Meaning of the payload types, if the capture lacks its signalling.
        progress: Called with the bytes read and the size of the file.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file is no capture, or has no stream of RTP.
    """
    read = captures.read(path, progress=progress, description=description)
    if not read.media:
        raise captures.CaptureError(
            f"{path} has no stream of RTP, so it has no call to judge: `fairwave replay {path}` lists its flows"
        )
    lasts_s = (read.last_ns - read.first_ns) / 1e9
    if lasts_s > MOST_SECONDS:
        raise captures.CaptureError(
            f"{path} covers {lasts_s:.3g} s, but must cover at most {MOST_SECONDS} s: "
            "take a part with `editcap -A … -B …`"
        )
    streams, incidents, limits = [], [], []
    badness = np.zeros(math.ceil(lasts_s) + 1)
    begin_s = min(one.stream.begin_ns for one in read.media if one.stream is not None) / 1e9
    origin_s = read.first_ns / 1e9 - begin_s
    for entry in read.media:
        stream = entry.stream
        assert stream is not None
        name = _name(stream)
        pauses = _split_pauses(stream)
        streams.append(_report(entry, stream, name, pauses[0], _list_repairs(read.streams, stream)))
        incidents += _list_incidents(stream, name, *pauses, origin_s)
        limits += _find_limits(stream, name, pauses[1], origin_s)
        badness = np.maximum(badness, _measure_badness(stream, pauses[0], len(badness), origin_s))
    worst = _find_worst(badness, lasts_s)
    ordered = sort_streams(streams)
    shown = {one.name for one in ordered[:MOST_COURSES]}
    courses = [
        course
        for entry in read.media
        if entry.stream is not None and (name := _name(entry.stream)) in shown
        for course in measure_capture(entry.stream, name, lasts_s, origin_s)
    ]
    return Judgement(
        str(path), "capture", lasts_s, ordered,
        sorted(incidents, key=lambda one: (one.start_s, one.end_s, one.kind)),
        sorted(limits, key=lambda one: (one.start_s, one.end_s, one.factor)),
        worst, 0.0 if worst is None else _mean(badness, worst), (UNKNOWN_DELAY, PLACE), read.notes.sentences(),
        courses,
    )  # fmt: skip


def find_kind(stream: Stream) -> Kind:
    """Returns `picture` or `speech`, by the clock; `stream` without one."""
    if stream.clock is None:
        return "stream"
    return "picture" if stream.clock == PICTURE_CLOCK else "speech"


def _name(stream: Stream) -> str:
    return f"{find_kind(stream)} 0x{stream.ssrc:08x}{f' part {stream.place}' if stream.place > 1 else ''}"


def _list_repairs(streams: list[Stream], stream: Stream) -> list[Stream]:
    """Returns the retransmissions of a stream."""
    return [
        one
        for one in streams
        if one.role == "rtx" and one.flow == stream.flow and one.repairs in {None, stream.ssrc}
    ]


def _split_pauses(stream: Stream) -> tuple[list[Pause], list[Pause]]:
    """Returns pauses of at least 0.5 s by the network, and those that the sender made.

    The sender paused if no packet is missing, and the timestamps advanced by the time of the pause or began anew.
    """
    network: list[Pause] = []
    sender: list[Pause] = []
    at = (stream.at_ns - stream.begin_ns) / 1e9
    for one in stream.find_pauses(GAP_S):
        place = int(np.searchsorted(at, one.begin_s, side="right")) - 1
        passed = math.nan
        if stream.clock:
            passed = float(stream.stamps[place + 1] - stream.stamps[place]) / stream.clock
        is_restart = bool(stream.part[place + 1] != stream.part[place])
        usual = one.end_s - one.begin_s - QUEUED_S
        (sender if not one.lost and (is_restart or passed >= usual) else network).append(one)
    return network, sender


def _report(
    entry: FlowSummary, stream: Stream, name: str, stalls: list[Pause], repairs: list[Stream]
) -> StreamReport:
    kind = find_kind(stream)
    codec = stream.format.codec if stream.format and stream.format.origin != "timestamps" else ""
    loss = stream.lost / max(stream.expected, 1)
    lasts_s = stream.last_s - stream.first_s
    packet_s = measure_packet_s(stream) if kind == "speech" else math.nan
    stalled_s = max((one.end_s - one.begin_s for one in stalls), default=0.0)
    gap_s = max(stalled_s, _longest_loss(stream) * packet_s) if kind == "speech" else math.nan
    unknown = []
    mos = math.nan
    rating = None
    if lasts_s >= SHORTEST_S:
        if kind == "speech":
            rated = find_codec(codec, 8 * float(stream.payload.mean()) / packet_s) if codec else None
            if rated is None:
                unknown.append(
                    f"{name} has no MOS: no rating of {codec} is known" if codec
                    else f"{name} has no MOS: its codec is unknown; add --sdp FILE"
                )  # fmt: skip
            elif not PACKET_S[0] <= packet_s <= PACKET_S[1]:
                unknown.append(f"{name} has no MOS: its packets have {1e3 * packet_s:.3g} ms of speech")
            elif stream.expected > MOST_RATED:
                unknown.append(
                    f"{name} has no MOS: it has {stream.expected} packets, but at most {MOST_RATED} are rated; take a "
                    "part with `editcap -A … -B …`"
                )
            else:
                mos, gap_s = score_stream(stream, rated, packet_s)
        rating = _rate(stream, kind, mos, gap_s, stalled_s, repairs)
        if repairs and stream.lost:
            unknown.append(
                f"{name} has retransmissions: how many of its {stream.lost} losses they repaired is not known"
            )
    return StreamReport(
        name, kind, entry.direction, codec, stream.first_s, stream.last_s, stream.packets, stream.lost, loss,
        stream.rate_bps, math.nan if stream.mean_jitter_s is None else stream.mean_jitter_s, longest_gap_s=gap_s,
        longest_freeze_s=stalled_s if kind == "picture" else math.nan, mos=mos, rating=rating, unknown=unknown,
    )  # fmt: skip


def _rate(
    stream: Stream, kind: str, mos: float, gap_s: float, stalled_s: float, repairs: list[Stream]
) -> Rating:
    """Returns the rating of a stream: the MOS of speech, or else the packets that are missing."""
    because = ""
    if kind == "speech" and gap_s > GAP_S:
        because = f"a gap of {gap_s:.2f} s"
    elif kind != "speech" and stalled_s > FROZEN_S:
        because = f"no packet arrived for {stalled_s:.1f} s"
    if not math.isnan(mos):
        return Rating("mos", (mos,), because)
    repaired = sum(int((one.is_first & ~one.padding).sum()) for one in repairs)
    shares = {100 * max(stream.lost - one, 0) / max(stream.expected, 1) for one in (0, repaired)}
    return Rating("missed", tuple(sorted(shares)), because)


def _longest_loss(stream: Stream) -> int:
    """Returns the number of packets in the longest run of losses."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], stream.lost_packets, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def _count_seconds(stream: Stream, seconds: int, origin_s: float) -> tuple[Numbers, Numbers]:
    """Returns packets and losses of each second. A loss counts when the next packet arrives."""
    first = stream.is_first
    second = np.clip((stream.at_ns[first] - stream.begin_ns) / 1e9 - origin_s, 0, seconds - 1).astype(int)
    numbers = stream.numbers[first]
    order = np.argsort(numbers, kind="stable")
    missing = np.diff(numbers[order], prepend=-1) - 1.0
    lost = np.bincount(second[order], missing, seconds)
    return np.bincount(second, minlength=seconds).astype(float), lost.astype(float)


def _measure_badness(stream: Stream, stalls: list[Pause], seconds: int, origin_s: float) -> Numbers:
    """Returns how bad each second was, 0 to 1: five times the share of losses, and the time without packets."""
    packets, lost = _count_seconds(stream, seconds, origin_s)
    found = np.clip(5 * lost / np.maximum(packets + lost, 1), 0, 1)
    starts = np.arange(seconds) + origin_s
    for one in stalls:
        found = np.maximum(
            found, np.clip(np.minimum(starts + 1, one.end_s) - np.maximum(starts, one.begin_s), 0, 1)
        )
    return found


def _find_worst(badness: Numbers, lasts_s: float) -> Span | None:
    if not badness.any():
        return None
    length = min(int(WINDOW_S), len(badness))
    sums = np.convolve(badness, np.ones(length), "valid")
    start = min(float(sums.argmax()), max(lasts_s - WINDOW_S, 0.0))
    return Span(start, min(start + WINDOW_S, lasts_s))


def _mean(badness: Numbers, span: Span) -> float:
    summed = np.concatenate([[0.0], np.cumsum(badness)])
    ends = np.interp([span.start_s, span.end_s], np.arange(len(summed)), summed)
    return float(ends[1] - ends[0]) / max(span.end_s - span.start_s, 1e-9)


def _list_incidents(
    stream: Stream, name: str, stalls: list[Pause], pauses: list[Pause], origin_s: float
) -> list[Incident]:
    found = []
    seconds = math.ceil(stream.last_s - origin_s) + 1
    packets, lost = _count_seconds(stream, seconds, origin_s)
    share = lost / np.maximum(packets + lost, 1)
    ends = np.arange(1.0, seconds + 1)
    for first, last, _ in find_runs(share >= LOSS, ends):
        part = slice(first, last + 1)
        amount = lost[part].sum() / (packets[part] + lost[part]).sum()
        words = f"{amount:.1%} of packets lost"
        found.append(Incident("loss", float(first), float(last + 1), words, name))
    for one in stalls:
        begin, end = one.begin_s - origin_s, one.end_s - origin_s
        words = f"no packet arrived for {end - begin:.2g} s, {one.lost} lost meanwhile"
        found.append(Incident("gap", begin, end, words, name))
    for one in pauses:
        begin, end = one.begin_s - origin_s, one.end_s - origin_s
        if end - begin < SILENT_S:
            continue  # silence between words, without packets
        found.append(Incident("pause", begin, end, f"the sender paused for {end - begin:.3g} s", name))
    return found


def _find_limits(stream: Stream, name: str, pauses: list[Pause], origin_s: float) -> list[Limit]:
    """Returns times with a full queue (bandwidth), and pauses of a picture's sender (the other end)."""
    found = []
    delay = measure_delays(stream)
    known = np.flatnonzero(~np.isnan(delay))
    if len(known):
        seconds = ((stream.at_ns[known] - stream.begin_ns) / 1e9 - origin_s).astype(int)
        least = np.full(int(seconds.max()) + 1, np.inf)
        np.minimum.at(least, seconds, delay[known])
        raised = np.isfinite(least) & (least >= QUEUED_S)
        for first, last, _ in find_runs(raised, np.arange(1.0, len(least) + 1)):
            most = float(delay[known][(seconds >= first) & (seconds <= last)].max())
            evidence = f"delays of {name} up to {most:.2g} s above the least: packets waited in a queue"
            found.append(Limit("bandwidth", float(first), float(last + 1), evidence))
    if find_kind(stream) == "picture":
        found += [
            Limit("other end", one.begin_s - origin_s, one.end_s - origin_s, f"{name} was not sent, nothing was lost")
            for one in pauses
        ]  # fmt: skip
    return found
