"""Packets of a capture as arrays, flow by flow: the input of all path estimates.

A capture is made at one place. Packets *toward* the capturing host have crossed the path. Their spacing shows the
rate of the bottleneck, their delays show its queue, and missing numbers show its losses. Packets *from* that host have
the path still ahead. Only the replies to them give information about it.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairwave.captures import (
    TCP,
    UDP,
    CaptureError,
    Flow,
    Notes,
    SourceCollector,
    describe_emptiness,
    packets,
)
from fairwave.foreign import check_items, gated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from fairwave.captures import Description, Stream

    Numbers = NDArray[np.float64]

LEAST_RTP = 50
"""A stream of RTP, or a connection, of fewer packets shows no delays."""

TICKS = (0.001, 0.004, 0.01)
"""Ticks of TCP's timestamps in seconds: 1 ms in current Linux and Windows, 4 and 10 ms in older kernels."""

SYN = 0x02
"""TCP's flag that opens a connection."""

SIGNALLING = {5060, 5061}
"""Ports of SIP, which is no traffic of the call."""


@dataclass
class FlowPackets:
    """Packets of one flow.

    Attributes:
        flow: Addresses, ports, protocol.
        at_s: Capture time of each packet, in seconds since the capture began.
        sizes: Bytes of IP of each packet.
        numbers: TCP sequence number of each packet; -1 for none.
        stamps: TCP TSval of each packet; -1 for none.
        echoes: TCP TSecr of each packet; -1 for none.
        payloads: Bytes above the UDP or TCP header.
        streams: Streams of RTP in the flow, media first.
        loose_s: Capture times of the datagrams that belong to no stream, such as RTCP and STUN.
        loose_sizes: Bytes of IP of these.
        opened_s: Capture time of the SYN; None if the connection is older than the capture.
    """

    flow: Flow
    at_s: array[float] = field(default_factory=lambda: array("d"))
    sizes: array[int] = field(default_factory=lambda: array("l"))
    numbers: array[int] = field(default_factory=lambda: array("q"))
    stamps: array[int] = field(default_factory=lambda: array("q"))
    echoes: array[int] = field(default_factory=lambda: array("q"))
    payloads: array[int] = field(default_factory=lambda: array("l"))
    streams: list[Stream] = field(default_factory=list)
    loose_s: array[float] = field(default_factory=lambda: array("d"))
    loose_sizes: array[int] = field(default_factory=lambda: array("l"))
    opened_s: float | None = None

    @property
    def ip_bytes(self) -> int:
        """Bytes of IP of all of them."""
        return sum(self.sizes)

    @property
    def kind(self) -> Literal["rtp", "tcp", "ack", "other"]:
        """Kind of content: RTP, data over TCP, acknowledgements alone, or anything else."""
        if self.flow.protocol == TCP:
            return "tcp" if sum(one > 0 for one in self.payloads) > len(self.payloads) / 4 else "ack"
        return "rtp" if any(one.role == "media" for one in self.streams) else "other"


@dataclass
class CapturedFlows:
    """A capture, flow by flow.

    Attributes:
        path: The file.
        flows: The flows, by addresses and ports.
        lasts_s: Time from the first packet to the last, in seconds.
        sentences: Repairs that the reader had to make, one sentence each.
    """

    path: str
    flows: dict[Flow, FlowPackets]
    lasts_s: float
    sentences: list[str]

    def local(self) -> bytes:
        """Returns the address of the capturing host: the one that takes part in most packets.

        Between equal addresses, the one that received more bytes counts.
        """
        count: dict[bytes, int] = {}
        into: dict[bytes, int] = {}
        for flow, one in self.flows.items():
            for address in (flow.source, flow.destination):
                count[address] = count.get(address, 0) + len(one.at_s)
            into[flow.destination] = into.get(flow.destination, 0) + one.ip_bytes
        most = max(count.values())
        best = [address for address, packets_ in count.items() if packets_ == most]
        # Between equal addresses, choose the one that received more bytes.
        return max(best, key=lambda address: (into.get(address, 0), address))


@gated("fitted capture", CaptureError)
def read(
    path: str | Path,
    progress: Callable[[int, int], None] | None = None,
    description: Description | None = None,
) -> CapturedFlows:
    """Reads the packets of a capture.

    Args:
        path: File in pcap or pcapng format, perhaps compressed with gzip.
        progress: Called now and then with the number of bytes read and the size of the file.
        description: Session description of the media, if the capture lacks its signalling.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file is no capture, or has no IP packet.
    """
    notes, found, begin, last = Notes(), dict[Flow, FlowPackets](), -1, 0
    collector = SourceCollector(str(path), notes, description)
    for at_ns, flow, length, header, data, above in packets(path, notes, progress, "fitted capture"):
        if begin < 0:
            begin = at_ns
        last = at_ns
        check_items(notes.packets, str(path), "fitted capture")
        is_rtp = flow.protocol == UDP and bool(data) and collector.add(at_ns, flow, length, data, above)
        if SIGNALLING & {flow.source_port, flow.destination_port}:
            if flow.protocol == TCP and len(data) >= 20:
                collector.add_message(data[(data[12] >> 4) * 4 :])
            continue
        one = found.get(flow)
        if one is None:
            check_items(len(found) + 1, str(path), "capture")
            one = found[flow] = FlowPackets(flow)
        number = stamp = echo = -1
        payload = above - 8
        if flow.protocol == TCP and len(data) >= 20:
            number = int.from_bytes(data[4:8], "big")
            payload = above - (data[12] >> 4) * 4
            stamp, echo = _timestamps(data)
            if data[13] & SYN and one.opened_s is None:
                one.opened_s = (at_ns - begin) / 1e9
        one.at_s.append((at_ns - begin) / 1e9)
        one.sizes.append(length or header + above)
        one.payloads.append(payload)
        if flow.protocol == UDP and not is_rtp:
            one.loose_s.append((at_ns - begin) / 1e9)
            one.loose_sizes.append(length)
        if flow.protocol == TCP:
            one.numbers.append(number)
            one.stamps.append(stamp)
            one.echoes.append(echo)
    if begin < 0:
        raise CaptureError(describe_emptiness(str(path), notes, "the call"))
    for flow, contents in collector.finish(begin).items():
        if flow in found:
            found[flow].streams = contents.streams
            found[flow].loose_s.extend((at_ns - begin) / 1e9 for at_ns in contents.rest_at_ns)
            found[flow].loose_sizes.extend(contents.rest_sizes)
    return CapturedFlows(str(path), found, (last - begin) / 1e9, notes.sentences())


def _timestamps(data: bytes) -> tuple[int, int]:
    """Returns TSval and TSecr of a segment (RFC 7323 §3.2); -1 if the option is missing or was not captured."""
    at, end = 20, min((data[12] >> 4) * 4, len(data))
    while at < end:
        kind = data[at]
        if kind == 0:
            break
        if kind == 1:
            at += 1
            continue
        if at + 1 >= end or data[at + 1] < 2:
            break
        if kind == 8 and at + 10 <= end:
            return int.from_bytes(data[at + 2 : at + 6], "big"), int.from_bytes(data[at + 6 : at + 10], "big")
        at += data[at + 1]
    return -1, -1


@dataclass
class Numbered:
    """Packets of one RTP stream in sending order.

    Attributes:
        ssrc: Synchronisation source.
        payload_type: RTP payload type of most packets.
        clock: Clock rate of the timestamps, Hz.
        sent_s: Sampling time of each packet by its timestamp; the offset is arbitrary.
        delay_s: `at_s` minus `sent_s`; the offset is arbitrary. NaN for lost packets and after a frame's first packet.
        lost: True for each packet that never arrived.
        at_s: Arrival time of each packet; NaN for lost packets.
        size: Mean bytes of IP per packet.
    """

    ssrc: int
    payload_type: int
    clock: int
    sent_s: Numbers
    delay_s: Numbers
    lost: NDArray[np.bool_]
    at_s: Numbers
    size: float


def streams(one: FlowPackets) -> list[Numbered]:
    """Returns the media streams of a flow with a known clock, smallest packets first (speech)."""
    found = []
    for stream in one.streams:
        if stream.role == "media" and stream.packets >= LEAST_RTP and stream.last_s - stream.first_s >= 1:
            numbered = _number(stream)
            if numbered is not None:
                found.append(numbered)
    return sorted(found, key=lambda stream: (stream.size, stream.ssrc))


def find_rest(one: FlowPackets, several: list[Numbered]) -> FlowPackets | None:
    """Returns the packets of a flow apart from these streams, such as repairs and RTCP; None if there are few."""
    used = {(stream.ssrc, stream.clock) for stream in several}
    others = [
        stream for stream in one.streams if (stream.ssrc, stream.clock) not in used or stream.role != "media"
    ]
    at = np.concatenate([np.asarray(one.loose_s), *((each.at_ns - each.begin_ns) / 1e9 for each in others)])
    sizes = np.concatenate([np.asarray(one.loose_sizes, np.int64), *(each.sizes for each in others)])
    if len(at) < 2:
        return None
    order = np.argsort(at, kind="stable")
    return FlowPackets(one.flow, array("d", at[order]), array("l", sizes[order].tolist()))


def _number(stream: Stream) -> Numbered | None:
    """Arranges the packets of a stream in sending order."""
    if stream.clock is None or stream.stamps[-1] <= stream.stamps[0]:
        return None
    at = (stream.at_ns - stream.begin_ns) / 1e9
    lost = stream.lost_packets
    sent, delay, arrived = (np.full(len(lost), np.nan) for _ in range(3))
    # The first copy of a packet counts, and the first packet of a frame.
    order = np.flatnonzero(stream.is_first)
    order = order[np.argsort(stream.numbers[order], kind="stable")]
    place, stamps = stream.numbers[order], stream.stamps[order]
    arrived[place] = at[order]
    sent[place] = stamps / stream.clock
    first = np.concatenate([[True], np.diff(stamps) != 0])
    delay[place] = np.where(first, at[order] - stamps / stream.clock, np.nan)
    known = np.flatnonzero(~np.isnan(sent))
    sent = np.interp(np.arange(len(lost)), known, sent[known])
    return Numbered(
        stream.ssrc,
        stream.payload_type,
        stream.clock,
        sent,
        delay,
        lost,
        arrived,
        float(np.mean(stream.sizes)),
    )


def _unwrap(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Extends numbers of 32 bits: each step is the shortest one."""
    half = 1 << 31
    steps = (np.diff(values) + half) % (1 << 32) - half
    return np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)


def delay_samples(data: FlowPackets) -> tuple[Numbers, Numbers]:
    """Returns delays of a TCP connection's data by the sender's timestamps (RFC 7323 §3): arrival minus TSval.

    Returns:
        Arrival time and delay of each segment, in seconds; delays have an arbitrary offset. Empty if the segments have
        no timestamps or their tick is not one of `TICKS`.
    """
    stamps = np.asarray(data.stamps)
    chosen = np.flatnonzero((stamps >= 0) & (np.asarray(data.payloads) > 0))
    if len(chosen) < LEAST_RTP:
        return np.empty(0), np.empty(0)
    at, ticks = np.asarray(data.at_s)[chosen], _unwrap(stamps[chosen])
    if at[-1] - at[0] < 1 or ticks[-1] <= ticks[0]:
        return np.empty(0), np.empty(0)
    measured = (at[-1] - at[0]) / (ticks[-1] - ticks[0])
    tick = min(TICKS, key=lambda one: abs(np.log(measured / one)))
    if abs(measured / tick - 1) > 0.05:
        return np.empty(0), np.empty(0)
    return at, at - ticks * tick


def round_trips(data: FlowPackets, answers: FlowPackets) -> Numbers:
    """Measures round trips of a TCP connection at the place of the capture, by timestamps (RFC 7323 §4).

    A round trip lasts from an outgoing reply to the first data that echo its timestamp. One more lasts from the reply
    to a SYN to the next packet. Waiting times of the sender count too, so only the least value shows the path.

    Returns:
        Round trips in seconds. Empty if the segments have no timestamps and the SYN was not captured.
    """
    left: dict[int, float] = {}
    for at, stamp in zip(answers.at_s, answers.stamps, strict=True):
        if stamp >= 0:
            left.setdefault(stamp, at)
    took: list[float] = []
    seen: set[int] = set()
    if answers.opened_s is not None:
        took += [next((at - answers.opened_s for at in data.at_s if at > answers.opened_s), np.inf)]
    for at, echo in zip(data.at_s, data.echoes, strict=True):
        if echo in seen or echo < 0:
            continue
        seen.add(echo)
        begun = left.get(echo)
        if begun is not None and at > begun:
            took.append(at - begun)
    return np.asarray([one for one in took if np.isfinite(one)], float)
