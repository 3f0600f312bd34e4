"""A capture after reading: its flows, each stream of RTP as a flow in the list, and what was repaired or left out."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave.captures.files import CaptureError
from fairwave.captures.flow import TCP, UDP, Flow
from fairwave.captures.notes import Notes
from fairwave.captures.packets import packets
from fairwave.captures.sides import Crossing, find_reverse
from fairwave.captures.sources import FlowContents, SourceCollector
from fairwave.foreign import check_items, gated

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from fairwave.captures.payload_types import Description
    from fairwave.captures.streams import Stream

    Pattern = NDArray[np.bool_]
    Numbers = NDArray[np.integer]

MOST_PACKETS = 20_000_000
"""Most packets of a replayed flow. Shorten a longer flow with editcap."""

OTHER = "other"
"""Last word of the name of a flow's packets that belong to none of its streams."""


@dataclass(eq=False)
class FlowSummary:
    """An entry of the list of flows: a flow, one stream of RTP in it, or its packets apart from the streams.

    Attributes:
        flow: Addresses, ports and protocol.
        name: Name in the list: that of the flow, if necessary with the stream's SSRC, or with `other`.
        stream: The stream of RTP; None for other packets.
        number: Number of the entry from 1, by bytes: the largest first.
        packets: Number of packets.
        ip_bytes: Bytes of IP of all packets.
        first_ns: Capture time of the first packet, in ns since 1970.
        last_ns: Capture time of the last packet, in ns since 1970.
        header: Bytes of the fixed IP header.
        largest: Bytes above that header in the largest packet.
        wanted: New TCP payload in bytes: without bytes that were sent before. 0 for other protocols.
        is_reverse: Whether the packets go toward the near side of the link.
        contents: Number of other packets by protocol, such as STUN; empty if they were not examined.
        at_ns: Times of the packets; empty if they were not kept.
        sizes: Bytes of IP of the packets; empty if they were not kept.
    """

    flow: Flow
    name: str
    stream: Stream | None = None
    number: int = 0
    packets: int = 0
    ip_bytes: int = 0
    first_ns: int = 0
    last_ns: int = 0
    header: int = 20
    largest: int = 0
    wanted: int = 0
    is_reverse: bool = False
    contents: dict[str, int] = field(default_factory=dict)
    at_ns: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    sizes: Numbers = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def lasts_s(self) -> float:
        """Time from the first packet to the last, in seconds."""
        return (self.last_ns - self.first_ns) / 1e9

    @property
    def rate_bps(self) -> float:
        """Bits of IP per second from its first packet to its last; NaN for a single one."""
        return 8 * self.ip_bytes / self.lasts_s if self.last_ns > self.first_ns else math.nan

    @property
    def is_rtp(self) -> bool:
        """Whether the packets are a stream of RTP."""
        return self.stream is not None

    @property
    def is_media(self) -> bool:
        """Whether the packets are a stream of speech or video, not of repairs."""
        return self.stream is not None and self.stream.role == "media"

    @property
    def direction(self) -> Literal["forward", "reverse"]:
        """Direction over the link."""
        return "reverse" if self.is_reverse else "forward"

    def losses(self) -> Pattern | None:
        """Returns the loss pattern from the first packet to the last that arrived; None if the packets are not RTP."""
        return None if self.stream is None else self.stream.lost_packets

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        stream = None if self.stream is None else self.stream.to_dict()
        return {
            "number": self.number, "name": self.name, "packets": self.packets, "bytes": self.ip_bytes,
            "lasts_s": self.lasts_s, "rate_bps": self.rate_bps, "direction": self.direction,
            "rtp": self.is_rtp, "lost": stream["lost"] if stream else None, "stream": stream,
            "contents": self.contents,
        }  # fmt: skip

    def text(self) -> str:
        """Returns the packets in the notation of the source `replay`."""
        if not len(self.at_ns):
            raise CaptureError(f"{self.name} has no packets")
        gaps = np.concatenate([[0], np.diff(self.at_ns)])
        sizes = np.maximum(self.sizes - self.header, 1)
        same = (gaps[1:] == gaps[:-1]) & (sizes[1:] == sizes[:-1])
        starts = np.concatenate([[0], np.flatnonzero(~same) + 1])
        counts = np.diff(np.concatenate([starts, [len(gaps)]]))
        words = []
        for gap, size, count in zip(
            gaps[starts].tolist(), sizes[starts].tolist(), counts.tolist(), strict=True
        ):
            whole, part = divmod(gap, 1000)
            words.append(f"{whole}{f'.{part:03d}' if part else ''}:{size}{f'*{count}' if count > 1 else ''}")
        return " ".join(words)


@dataclass
class Capture:
    """A capture after reading.

    Attributes:
        path: The file.
        flows: Flows and streams of the capture, the largest first.
        notes: Repairs and omissions of the reader.
        first_ns: Capture time of the first IP packet, in ns since 1970.
        last_ns: Capture time of the last IP packet, in ns since 1970.
    """

    path: str
    flows: list[FlowSummary]
    notes: Notes
    first_ns: int
    last_ns: int

    @property
    def streams(self) -> list[Stream]:
        """All streams of RTP, the largest first."""
        return [one.stream for one in self.flows if one.stream is not None]

    @property
    def media(self) -> list[FlowSummary]:
        """The streams of speech and video, the largest first."""
        return [one for one in self.flows if one.is_media]

    def find(self, select: str | None) -> FlowSummary:
        """Returns the entry with this number or name; without `select`, the largest.

        The name of a flow that has several entries stands for all of them.

        Raises:
            CaptureError: There is no such flow; the message says how to list the flows.
        """
        if select is None:
            return self.flows[0]
        wanted = " ".join(select.split())
        parts = []
        for one in self.flows:
            if wanted in (str(one.number), one.name):
                return one
            if wanted == one.flow.name:
                parts.append(one)
        if parts:
            return _join(parts)
        near = get_close_matches(wanted, [one.name for one in self.flows], 1, 0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise CaptureError(
            f"{self.path} has no flow {select!r}: there are 1 to {len(self.flows)}, which `fairwave replay "
            f"{self.path}` lists{hint}"
        )


def _join(parts: list[FlowSummary]) -> FlowSummary:
    """Returns all packets of a flow as one entry."""
    first = parts[0]
    whole = FlowSummary(
        first.flow, first.flow.name, None, first.number, sum(one.packets for one in parts),
        sum(one.ip_bytes for one in parts), min(one.first_ns for one in parts), max(one.last_ns for one in parts),
        first.header, max(one.largest for one in parts), 0, first.is_reverse,
    )  # fmt: skip
    if all(len(one.at_ns) for one in parts):
        at_ns = np.concatenate([one.at_ns for one in parts])
        order = np.argsort(at_ns, kind="stable")
        whole.at_ns, whole.sizes = at_ns[order], np.concatenate([one.sizes for one in parts])[order]
    return whole


@dataclass
class _Tally:
    """Counts of a flow while the capture is read. All but the first three are those of packets that are not RTP."""

    header: int
    first_ns: int
    last_ns: int = 0
    packets: int = 0
    ip_bytes: int = 0
    begin_ns: int = -1
    end_ns: int = 0
    largest: int = 0
    wanted: int = 0
    end: int | None = None
    is_kept: bool = False
    at_ns: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("L"))


@gated("capture", CaptureError)
def read(
    path: str | Path,
    keep: Collection[str] | bool = (),
    progress: Callable[[int, int], None] | None = None,
    description: Description | None = None,
) -> Capture:
    """Reads the flows and streams of a capture.

    Args:
        path: The capture, pcap or pcapng, perhaps compressed with gzip.
        keep: Names of the entries to keep packets of; True for all. Packets of streams are always kept.
        progress: Called now and then with the number of bytes read and the size of the file.
        description: Session description of the media, if the capture lacks its signalling.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file is no capture, or has no IP packet.
    """
    notes, found = Notes(), dict[Flow, _Tally]()
    collector = SourceCollector(str(path), notes, description)
    kept = keep if isinstance(keep, bool) else {" ".join(name.split()[:4]) for name in keep}
    add, get = collector.add, found.get
    for at_ns, flow, length, header, data, above in packets(path, notes, progress):
        one = get(flow)
        if one is None:
            check_items(len(found) + 1, str(path), "capture")
            one = found[flow] = _Tally(header, at_ns)
            one.is_kept = kept if isinstance(kept, bool) else flow.name in kept
        one.packets += 1
        one.ip_bytes += length
        one.last_ns = at_ns
        if flow.protocol == UDP:
            if data and add(at_ns, flow, length, data, above):
                continue
        elif flow.protocol == TCP and len(data) >= 13:
            _count_new(one, data, above)
            collector.add_message(data[(data[12] >> 4) * 4 :])
        if one.begin_ns < 0:
            one.begin_ns = at_ns
        one.end_ns = at_ns
        one.largest = max(one.largest, length)
        if one.is_kept:
            if len(one.at_ns) >= MOST_PACKETS:
                raise CaptureError(
                    f"{path}: {flow.name} has more than {MOST_PACKETS} packets: take a part with `editcap -A … -B …`"
                )
            one.at_ns.append(at_ns)
            one.sizes.append(length)
    if not found:
        raise CaptureError(describe_emptiness(str(path), notes, "the traffic"))
    first_ns = min(one.first_ns for one in found.values())
    contents = collector.finish(first_ns)
    reverse = find_reverse(
        Crossing(flow, one.ip_bytes, one.packets, one.first_ns) for flow, one in found.items()
    )
    flows = [
        entry
        for flow, one in found.items()
        for entry in _list_entries(flow, one, contents.get(flow), is_reverse=flow in reverse)
    ]
    flows.sort(key=lambda one: (-one.ip_bytes, one.first_ns, one.name))
    for number, entry in enumerate(flows, 1):
        entry.number = number
    return Capture(str(path), flows, notes, first_ns, max(one.last_ns for one in found.values()))


def describe_emptiness(name: str, notes: Notes, what: str) -> str:
    """Returns the error for a capture without a packet of IP."""
    if notes.strangers:
        return (
            f"{name} has {notes.strangers} fragments whose first ones are not there, and no other packet of "
            "IP: no port is known; begin the capture before the transfer, or capture without a filter for ports"
        )
    left_out = f" ({' '.join(notes.sentences())})" if notes.sentences() else ""
    return (
        f"{name} has no packet of IP among its {notes.packets} packets{left_out}; "
        f"capture on the interface that carries {what}"
    )


def _list_entries(
    flow: Flow, one: _Tally, contents: FlowContents | None, *, is_reverse: bool
) -> Iterable[FlowSummary]:
    """Yields the entries of a flow: each of its streams, and the rest."""
    streams = contents.streams if contents else []
    others = one.packets - sum(stream.packets for stream in streams)
    is_whole = len(streams) + bool(others) == 1
    for stream in streams:
        name = flow.name if is_whole else stream.name
        sizes = stream.sizes
        yield FlowSummary(
            flow, name, stream, 0, stream.packets, int(sizes.sum()), int(stream.at_ns[0]), int(stream.at_ns[-1]),
            one.header, int(sizes.max()) - one.header, 0, is_reverse, {}, stream.at_ns, sizes,
        )  # fmt: skip
    if not others:
        return
    rest_at = contents.rest_at_ns if contents else []
    rest_sizes = contents.rest_sizes if contents else []
    times = [one.begin_ns, one.end_ns] * (one.begin_ns >= 0) + rest_at
    summary = FlowSummary(
        flow, flow.name if is_whole else f"{flow.name} {OTHER}", None, 0, others,
        one.ip_bytes - sum(int(stream.sizes.sum()) for stream in streams), min(times), max(times), one.header,
        max(one.largest, *rest_sizes, 0) - one.header, one.wanted, is_reverse,
        dict(sorted(contents.others.items(), key=lambda item: -item[1])) if contents and streams else {},
    )  # fmt: skip
    if one.is_kept:
        at_ns = np.concatenate([np.asarray(one.at_ns, np.int64), np.asarray(rest_at, np.int64)])
        sizes = np.concatenate([np.asarray(one.sizes, np.int64), np.asarray(rest_sizes, np.int64)])
        order = np.argsort(at_ns, kind="stable")
        summary.at_ns, summary.sizes = at_ns[order], sizes[order]
    yield summary


def _count_new(one: _Tally, data: bytes, above: int) -> None:
    """Counts the payload of a segment that goes beyond all earlier segments."""
    payload = above - (data[12] >> 4) * 4
    if payload <= 0:
        return
    begin = int.from_bytes(data[4:8], "big")
    end = begin + payload & 0xFFFFFFFF
    if one.end is None:
        one.end, one.wanted = end, payload
        return
    ahead = end - one.end & 0xFFFFFFFF
    if 0 < ahead < 1 << 31:
        one.wanted += min(ahead, payload)
        one.end = end
