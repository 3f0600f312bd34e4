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

from fairwave.foreign import check_items, gated
from fairwave.replay.packets import TCP, UDP, CaptureError, Flow, Notes, packets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

RTP_SHARE = 0.9
"""A flow is RTP if this share of its packets has version 2, one source, and a type that RTCP does not have."""

LEAST_RTP = 50
"""A flow of fewer packets does not count as RTP."""

CLOCKS = (8_000, 16_000, 48_000, 90_000)
"""Clock rates of RTP timestamps, Hz (RFC 3551, RFC 7587). The rate that fits the arrivals counts."""

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
        numbers: RTP or TCP sequence number of each packet; -1 for none.
        stamps: RTP timestamp or TCP TSval of each packet; -1 for none.
        echoes: TCP TSecr of each packet; -1 for none.
        payloads: Bytes above the UDP or TCP header.
        types: RTP payload types.
        sources: RTP SSRCs.
        opened_s: Capture time of the SYN; None if the connection is older than the capture.
    """

    flow: Flow
    at_s: array[float] = field(default_factory=lambda: array("d"))
    sizes: array[int] = field(default_factory=lambda: array("l"))
    numbers: array[int] = field(default_factory=lambda: array("q"))
    stamps: array[int] = field(default_factory=lambda: array("q"))
    echoes: array[int] = field(default_factory=lambda: array("q"))
    payloads: array[int] = field(default_factory=lambda: array("l"))
    types: array[int] = field(default_factory=lambda: array("h"))
    sources: array[int] = field(default_factory=lambda: array("q"))
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
        if len(self.at_s) >= LEAST_RTP and self.flow.protocol == UDP:
            sources = np.asarray(self.sources)
            known = sources[sources >= 0]
            if len(known) >= RTP_SHARE * len(sources):
                return "rtp"
        return "other"


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
def read(path: str | Path, progress: Callable[[int, int], None] | None = None) -> CapturedFlows:
    """Reads the packets of a capture.

    Args:
        path: File in pcap or pcapng format.
        progress: Called now and then with the number of bytes read and the size of the file.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file is no capture, or has no IP packet.
    """
    notes, found, begin, last = Notes(), dict[Flow, FlowPackets](), -1, 0
    for at_ns, flow, length, header, data, above in packets(path, notes, progress, "fitted capture"):
        if begin < 0:
            begin = at_ns
        last = at_ns
        check_items(notes.packets, str(path), "fitted capture")
        if SIGNALLING & {flow.source_port, flow.destination_port}:
            continue
        one = found.get(flow)
        if one is None:
            check_items(len(found) + 1, str(path), "capture")
            one = found[flow] = FlowPackets(flow)
        number = stamp = echo = source = kind = -1
        payload = above - 8
        if flow.protocol == UDP:
            if len(data) >= 20 and data[8] >> 6 == 2 and not 64 <= data[9] & 0x7F <= 95:
                kind = data[9] & 0x7F
                number = data[10] << 8 | data[11]
                stamp = int.from_bytes(data[12:16], "big")
                source = int.from_bytes(data[16:20], "big")
        elif flow.protocol == TCP and len(data) >= 20:
            number = int.from_bytes(data[4:8], "big")
            payload = above - (data[12] >> 4) * 4
            stamp, echo = _timestamps(data)
            if data[13] & SYN and one.opened_s is None:
                one.opened_s = (at_ns - begin) / 1e9
        one.at_s.append((at_ns - begin) / 1e9)
        one.sizes.append(length or header + above)
        one.numbers.append(number)
        one.stamps.append(stamp)
        one.echoes.append(echo)
        one.payloads.append(payload)
        one.types.append(kind)
        one.sources.append(source)
    if begin < 0:
        raise CaptureError(
            f"{path} has no packet of IP among its {notes.packets} packets; "
            "capture on the interface that carries the call"
        )
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
    """Returns the RTP streams of a flow with a recognised clock, smallest packets first (speech)."""
    sources = np.asarray(one.sources)
    found = []
    for ssrc in np.unique(sources[sources >= 0]).tolist():
        chosen = np.flatnonzero(sources == ssrc)
        if len(chosen) >= LEAST_RTP and (stream := _stream(one, ssrc, chosen)) is not None:
            found.append(stream)
    return sorted(found, key=lambda stream: (stream.size, stream.ssrc))


def _unwrapped(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    half = 1 << (bits - 1)
    steps = (np.diff(values) + half) % (1 << bits) - half
    return np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)


def _stream(one: FlowPackets, ssrc: int, chosen: NDArray[np.int64]) -> Numbered | None:
    at = np.asarray(one.at_s)[chosen]
    types = np.asarray(one.types)[chosen]
    numbers = _unwrapped(np.asarray(one.numbers)[chosen], 16)
    stamps = _unwrapped(np.asarray(one.stamps)[chosen], 32)
    numbers -= numbers.min()
    if numbers.max() > 50 * len(numbers):
        return None
    span = stamps[-1] - stamps[0]
    if at[-1] - at[0] < 1 or span <= 0:
        return None
    measured = span / (at[-1] - at[0])
    clock = min(CLOCKS, key=lambda rate: abs(np.log(measured / rate)))
    if abs(measured / clock - 1) > 0.05:
        return None
    count = int(numbers.max()) + 1
    lost = np.ones(count, bool)
    sent, delay, arrived = (np.full(count, np.nan) for _ in range(3))
    # The first copy of a packet counts, and the first packet of a frame.
    order = np.argsort(numbers, kind="stable")
    order = order[np.unique(numbers[order], return_index=True)[1]]
    place = numbers[order]
    lost[place] = False
    arrived[place] = at[order]
    sent[place] = stamps[order] / clock
    first = np.concatenate([[True], np.diff(stamps[order]) != 0])
    delay[place] = np.where(first, at[order] - stamps[order] / clock, np.nan)
    known = np.flatnonzero(~np.isnan(sent))
    sent = np.interp(np.arange(count), known, sent[known])
    values, counts = np.unique(types, return_counts=True)
    return Numbered(
        ssrc, int(values[counts.argmax()]), clock, sent, delay, lost, arrived,
        float(np.mean(np.asarray(one.sizes)[chosen])),
    )  # fmt: skip


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
    at, ticks = np.asarray(data.at_s)[chosen], _unwrapped(stamps[chosen], 32)
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
