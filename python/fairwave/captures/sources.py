"""Collects the sources of RTP in the flows of a capture, and forms their streams.

Any UDP datagram with the fixed header of RTP may be RTP. A source counts if enough of its packets are in sequence
(RFC 3550 §A.1 asks for two); other datagrams look like RTP by chance, with random sources and numbers.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fairwave.captures.datagrams import HEADER, find_payload, find_rtp, name_contents
from fairwave.captures.numbering import MAX_DROPOUT, MAX_MISORDER, number_packets
from fairwave.captures.payload_types import EVENTS, RETRANSMISSION, Description, PayloadFormat
from fairwave.captures.repairs import Candidate, Sample, assign_roles
from fairwave.captures.streams import Stream
from fairwave.foreign import ForeignFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.captures.flow import Flow
    from fairwave.captures.notes import Notes

LEAST_PACKETS = 10
"""A source of fewer packets does not count."""

IN_SEQUENCE = 0.8
"""Share of the steps between a source's packets that RFC 3550 §A.1 must accept."""

MOST_RTP = 20_000_000
"""Largest number of packets of RTP in a capture: they take half a gigabyte."""

MOST_SOURCES = 256
"""Sources of a flow to remember. Beyond them, sources of fewer than `FEW` packets are forgotten."""

FEW = 4

MOST_OF_ALL = 400_000
"""Sources of a capture to remember."""

CLOCKS = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 90000)
"""Clock rates that are recognised by the timestamps of dynamic payload types, Hz."""

CLOCK_TOLERANCE = 0.04
"""Largest relative deviation of measured ticks per second from a clock rate. Neighbouring rates differ by 8 %."""

SAMPLES = 64
"""Number of packets of a source to keep the first bytes of, to recognise forward error correction."""

_RECORD = struct.Struct("<qIIHHHBB")
_FIELDS = np.dtype(
    [
        ("at", "<i8"), ("stamp", "<u4"), ("size", "<u4"), ("sequence", "<u2"), ("payload", "<u2"),
        ("repaired", "<u2"), ("kind", "u1"), ("padding", "u1"),
    ]
)  # fmt: skip


@dataclass
class Source:
    """Packets of one SSRC of a flow as they came."""

    records: bytearray = field(default_factory=bytearray)
    samples: list[Sample] = field(default_factory=list)

    def to_array(self) -> NDArray[np.void]:
        """Returns the packets as an array with named fields."""
        return np.frombuffer(bytes(self.records), _FIELDS)


@dataclass
class FlowContents:
    """Contents of the UDP datagrams of a flow.

    Attributes:
        streams: Streams of RTP, media first, then by time.
        others: Number of datagrams that are not of a stream, by protocol.
        rest_at_ns: Times of datagrams that looked like RTP and are not.
        rest_sizes: Bytes of IP of these.
    """

    streams: list[Stream] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    rest_at_ns: list[int] = field(default_factory=list)
    rest_sizes: list[int] = field(default_factory=list)


_SIP = (b"INVI", b"SIP/", b"ACK ", b"UPDA", b"PRAC")
"""First bytes of the messages of SIP that may have a session description (RFC 3261 §13, RFC 3311)."""


class SourceCollector:
    """Collects the packets of RTP of a capture, source by source, and the session descriptions.

    Attributes:
        description: Session descriptions that were found.
    """

    def __init__(self, name: str, notes: Notes, description: Description | None = None) -> None:
        self.description = description or Description()
        self._name, self._notes = name, notes
        self._sources: dict[Flow, dict[bytes, Source]] = {}
        self._others: dict[Flow, Counter[str]] = {}
        self._packets = self._total = 0

    def add(self, at_ns: int, flow: Flow, length: int, data: bytes, above: int) -> bool:
        """Adds a UDP datagram. Returns whether it may be RTP; then its time and size are kept.

        Raises:
            ForeignFileError: The capture has too many packets of RTP.
        """
        at = find_rtp(data)
        if at < 0:
            self._add_other(flow, data)
            return False
        sources = self._sources.get(flow)
        if sources is None:
            sources = self._sources[flow] = {}
        ssrc = data[at + 8 : at + 12]
        source = sources.get(ssrc)
        if source is None:
            if len(sources) >= MOST_SOURCES and not self._make_room(sources):
                self._notes.unread_sources += 1
                return False
            if self._total >= MOST_OF_ALL:
                self._notes.unread_sources += 1
                return False
            source = sources[ssrc] = Source()
            self._total += 1
        self._packets += 1
        if self._packets > MOST_RTP:
            raise ForeignFileError(
                f"{self._name} has more than {MOST_RTP} packets of RTP: take a part with `editcap -A START -B END`"
            )
        begin = find_payload(data, at) if data[at] & 0x1F else at + 12
        payload = above - begin
        first = data[begin : begin + 2]
        padding = 0
        if data[at] & 0x20:
            # Padding alone: its length, in the last byte, is the length of the payload.
            padding = 2 if len(data) >= above > begin and data[above - 1] == payload else 1
        source.records += _RECORD.pack(
            at_ns, int.from_bytes(data[at + 4 : at + 8], "big"), length, data[at + 2] << 8 | data[at + 3],
            max(payload, 0) & 0xFFFF, first[0] << 8 | first[1] if len(first) == 2 else 0, data[at + 1], padding,
        )  # fmt: skip
        if len(source.samples) < SAMPLES:
            source.samples.append(Sample(at_ns, data[at:begin], data[begin : begin + 24]))
        return True

    def _make_room(self, sources: dict[bytes, Source]) -> bool:
        few = [ssrc for ssrc, one in sources.items() if len(one.records) < FEW * _RECORD.size]
        for ssrc in few:
            self._notes.unread_sources += len(sources.pop(ssrc).records) // _RECORD.size
        self._total -= len(few)
        return bool(few)

    def _add_other(self, flow: Flow, data: bytes) -> None:
        found = self._others.get(flow)
        if found is None:
            found = self._others[flow] = Counter()
        found[name_contents(data)] += 1
        if data[HEADER : HEADER + 4] in _SIP:
            self.add_message(data[HEADER:])

    def add_message(self, data: bytes) -> None:
        """Adds a message of SIP; its session description counts, if it has one."""
        if data[:4] in _SIP and b"\nv=0" in data:
            self._notes.messages += 1
            self.description.add(data.decode("utf-8", errors="replace"))

    def finish(self, begin_ns: int) -> dict[Flow, FlowContents]:
        """Forms the streams of all flows.

        Args:
            begin_ns: Time at which the capture begins.
        """
        found: dict[Flow, FlowContents] = {}
        for flow, others in self._others.items():
            found.setdefault(flow, FlowContents()).others = others
        between: dict[tuple[bytes, bytes], list[Candidate]] = {}
        for flow, sources in self._sources.items():
            contents = found.setdefault(flow, FlowContents())
            for name, source in sources.items():
                records = source.to_array()
                if not _is_in_sequence(records):
                    contents.others["other"] += len(records)
                    contents.rest_at_ns += records["at"].tolist()
                    contents.rest_sizes += records["size"].tolist()
                    continue
                streams = _form_streams(
                    flow, int.from_bytes(name, "big"), records, self.description, begin_ns
                )
                contents.streams += streams
                between.setdefault((flow.source, flow.destination), []).extend(
                    Candidate(one, records, source.samples) for one in streams
                )
            sources.clear()
        for candidates in between.values():
            assign_roles(candidates, self.description)
        for contents in found.values():
            contents.streams.sort(
                key=lambda one: (one.role != "media", int(one.at_ns[0]), one.ssrc, one.place)
            )
        return found


def _is_in_sequence(records: NDArray[np.void]) -> bool:
    """Whether the numbers of a source count up, as in RTP."""
    if len(records) < LEAST_PACKETS:
        return False
    sequence = records["sequence"].astype(np.int64)
    steps = (np.diff(sequence) + 32768) % 65536 - 32768
    fits = (steps < MAX_DROPOUT) & (steps >= -MAX_MISORDER)
    if fits.mean() < IN_SEQUENCE:
        return False
    ahead = steps[fits & (steps > 0)]
    # More than half of the packets count up, and 50 packets bring one at least.
    return len(ahead) > 0.3 * len(steps) and float(ahead.mean()) <= 50


def estimate_clock(stamps: NDArray[np.int64], at_ns: NDArray[np.int64]) -> int | None:
    """Returns the clock rate that the timestamps of some packets show; None if none fits, or in less than a second."""
    if len(stamps) < LEAST_PACKETS or at_ns[-1] - at_ns[0] < 1e9:
        return None
    # Means over the first and the last third, so that the jitter of single packets does not count.
    third = len(stamps) // 3
    ticks = stamps[-third:].mean() - stamps[:third].mean()
    measured = ticks / ((at_ns[-third:] - at_ns[0]).mean() - (at_ns[:third] - at_ns[0]).mean()) * 1e9
    if measured <= 0:
        return None
    clock = min(CLOCKS, key=lambda one: abs(np.log(measured / one)))
    return clock if abs(measured / clock - 1) <= CLOCK_TOLERANCE else None


def _find_formats(
    flow: Flow,
    records: NDArray[np.void],
    stamps: NDArray[np.int64],
    part: NDArray[np.int64],
    known: Description,
) -> dict[int, PayloadFormat]:
    """Returns the meaning of each payload type of a source."""
    types = records["kind"] & 0x7F
    found = {}
    for kind in np.unique(types).tolist():
        what = known.find(flow, kind)
        if what is None or not what.clock:
            chosen = np.flatnonzero(types == kind)
            longest = np.bincount(part[chosen]).argmax()
            chosen = chosen[part[chosen] == longest]
            clock = estimate_clock(stamps[chosen], records["at"][chosen])
            if clock is None:
                continue
            what = PayloadFormat(what.codec if what else f"type {kind}", clock, None, "timestamps")
        found[kind] = what
    for kind, what in list(found.items()):
        # A retransmission has the clock of the repaired stream.
        repaired = known.find(flow, what.repairs) if what.repairs is not None else None
        if what.codec.lower() == RETRANSMISSION and repaired is not None and repaired.clock:
            found[kind] = PayloadFormat(what.codec, repaired.clock, what.repairs, what.origin)
    return found


def _split_by_clock(types: NDArray[np.int64], formats: dict[int, PayloadFormat]) -> list[NDArray[np.int64]]:
    """Returns the packets of each stream of a source: a new clock that stays begins a new stream."""
    clocks = np.zeros(len(types), np.int64)
    for kind, what in formats.items():
        if what.codec.lower() not in EVENTS:
            clocks[types == kind] = what.clock
    edges = np.flatnonzero(np.diff(clocks)) + 1
    parts: list[tuple[int, list[NDArray[np.int64]]]] = []
    for run in np.split(np.arange(len(types)), edges):
        clock = int(clocks[run[0]])
        # Tones, comfort noise and a few packets of another clock interrupt a stream and do not end it.
        if parts and (clock in (0, parts[-1][0]) or len(run) < LEAST_PACKETS):
            parts[-1][1].append(run)
        elif parts and not parts[-1][0]:
            parts[-1] = clock, [*parts[-1][1], run]
        else:
            parts.append((clock, [run]))
    return [np.concatenate(runs) for _, runs in parts]


def _form_streams(
    flow: Flow, ssrc: int, records: NDArray[np.void], known: Description, begin_ns: int
) -> list[Stream]:
    at_ns = records["at"].astype(np.int64)
    numbering = number_packets(records["sequence"].astype(np.int64), records["stamp"].astype(np.int64), at_ns)
    types = (records["kind"] & 0x7F).astype(np.int64)
    formats = _find_formats(flow, records, numbering.stamps, numbering.part, known)
    found = []
    for place, chosen in enumerate(_split_by_clock(types, formats), 1):
        numbers, kinds = numbering.numbers[chosen], set(types[chosen].tolist())
        least = int(numbers[numbers >= 0].min(initial=1 << 62))
        found.append(
            Stream(
                flow, ssrc, place, {kind: what for kind, what in formats.items() if kind in kinds},
                "media", None, begin_ns, at_ns[chosen], records["size"][chosen].astype(np.int32),
                records["payload"][chosen].astype(np.int32), types[chosen].astype(np.uint8),
                (records["kind"][chosen] & 0x80) != 0, records["padding"][chosen] == 2,
                records["repaired"][chosen].astype(np.int32), np.where(numbers >= 0, numbers - least, -1),
                numbering.stamps[chosen], numbering.part[chosen].astype(np.int32),
            )
        )  # fmt: skip
    return found
