"""Flows of a capture: summary, packets for the source `replay`, and losses as a pattern.

A flow is one direction between two addresses and, if the protocol has them, ports. Losses are known for RTP alone,
because its packets are numbered (RFC 3550 §5.1). Missing packets were lost before the place of the capture.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.foreign import check_items, gated
from fairwave.named_files import named_files
from fairwave.replay.packets import TCP, UDP, CaptureError, Flow, Notes, packets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from fairwave.patterns import Pattern

MOST_PACKETS = 20_000_000
"""Most packets of a replayed flow. Shorten a longer flow with editcap."""

RTP_SHARE = 0.9
"""A flow is RTP if this share of its packets has version 2, one source and a type that RTCP does not have."""


@dataclass
class FlowSummary:
    """Summary of a flow of a capture.

    Attributes:
        flow: Addresses, ports and protocol.
        number: Number of the flow from 1, by bytes: the largest first.
        packets: Number of packets.
        ip_bytes: Bytes of IP of all packets.
        first_ns: Capture time of the first packet, in ns since 1970.
        last_ns: Capture time of the last packet, in ns since 1970.
        header: Bytes of the fixed IP header.
        largest: Bytes above that header in the largest packet.
        wanted: New TCP payload in bytes: without bytes that were sent before. 0 for other protocols.
        gaps: Time since the packet before, for each packet in ns; empty if the packets were not kept.
        sizes: Bytes above the fixed IP header, for each packet; empty if the packets were not kept.
    """

    flow: Flow
    number: int = 0
    packets: int = 0
    ip_bytes: int = 0
    first_ns: int = 0
    last_ns: int = 0
    header: int = 20
    largest: int = 0
    wanted: int = 0
    gaps: array[int] = field(default_factory=lambda: array("Q"))
    sizes: array[int] = field(default_factory=lambda: array("L"))
    _rtp: int = 0
    _ssrc: bytes = b""
    _sequence: array[int] = field(default_factory=lambda: array("H"))
    _end: int | None = None

    @property
    def name(self) -> str:
        """Name of the flow in the list of `fairwave replay`."""
        return self.flow.name

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
        """Whether the flow's packets are numbered like RTP."""
        return self.packets >= 10 and self._rtp >= RTP_SHARE * self.packets

    def losses(self) -> Pattern | None:
        """Returns the loss pattern from the first packet to the last that arrived; None if the flow is not RTP."""
        if not self.is_rtp:
            return None
        numbers = np.asarray(self._sequence, np.int64)
        steps = (np.diff(numbers) + 32768) % 65536 - 32768
        numbers = np.concatenate([[0], np.cumsum(steps)])
        numbers -= numbers.min()
        if numbers.max() > 50 * len(numbers):
            return None
        lost = np.ones(int(numbers.max()) + 1, bool)
        lost[numbers] = False
        return lost

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        lost = self.losses()
        return {
            "number": self.number, "name": self.name, "packets": self.packets, "bytes": self.ip_bytes,
            "lasts_s": self.lasts_s, "rate_bps": self.rate_bps, "rtp": self.is_rtp,
            "lost": None if lost is None else int(lost.sum()),
        }  # fmt: skip

    def text(self) -> str:
        """Returns the packets in the notation of the source `replay`."""
        if not len(self.gaps):
            raise CaptureError(f"{self.name} has no packets")
        gaps = np.frombuffer(self.gaps, np.uint64)
        sizes = np.frombuffer(self.sizes, np.dtype(f"u{self.sizes.itemsize}"))
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
        flows: Flows of the capture, the largest first.
        notes: Repairs that the reader had to make.
        first_ns: Capture time of the first IP packet, in ns since 1970.
        last_ns: Capture time of the last IP packet, in ns since 1970.
    """

    path: str
    flows: list[FlowSummary]
    notes: Notes
    first_ns: int
    last_ns: int

    def find(self, select: str | None) -> FlowSummary:
        """Returns the flow with this number or name; without `select`, the largest flow.

        Raises:
            CaptureError: There is no such flow; the message says how to list the flows.
        """
        if select is None:
            return self.flows[0]
        wanted = " ".join(select.split())
        for one in self.flows:
            if wanted in (str(one.number), one.name):
                return one
        near = get_close_matches(wanted, [one.name for one in self.flows], 1, 0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise CaptureError(
            f"{self.path} has no flow {select!r}: there are 1 to {len(self.flows)}, which `fairwave replay "
            f"{self.path}` lists{hint}"
        )


@gated("capture", CaptureError)
def read(
    path: str | Path,
    keep: Collection[str] | bool = (),
    progress: Callable[[int, int], None] | None = None,
) -> Capture:
    """Reads the flows of a capture.

    Args:
        path: The capture, pcap or pcapng.
        keep: Names of the flows to keep packets of; True for all.
        progress: Called now and then with the number of bytes read and the size of the file.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file is no capture, or has no IP packet.
    """
    notes, found = Notes(), dict[Flow, FlowSummary]()
    kept: dict[Flow, bool] = {}
    for at_ns, flow, length, header, data, above in packets(path, notes, progress):
        one = found.get(flow)
        if one is None:
            check_items(len(found) + 1, str(path), "capture")
            one = found[flow] = FlowSummary(flow, first_ns=at_ns, last_ns=at_ns, header=header)
            kept[flow] = keep if isinstance(keep, bool) else flow.name in keep
        if kept[flow]:
            if len(one.gaps) >= MOST_PACKETS:
                raise CaptureError(
                    f"{path}: {one.name} has more than {MOST_PACKETS} packets: take a part with `editcap -A … -B …`"
                )
            one.gaps.append(at_ns - one.last_ns)
            one.sizes.append(max(length - header, 1))
        one.packets += 1
        one.ip_bytes += length
        one.last_ns = at_ns
        one.largest = max(one.largest, length - header)
        if flow.protocol == UDP:
            # Version 2, and a payload type that RTCP has no packet for.
            if len(data) >= 20 and data[8] >> 6 == 2 and not 64 <= data[9] & 0x7F <= 95:
                one._ssrc = one._ssrc or data[16:20]
                if one._ssrc == data[16:20]:
                    one._rtp += 1
                    one._sequence.append(data[10] << 8 | data[11])
        elif flow.protocol == TCP and len(data) >= 13:
            _count_new(one, data, above)
    if not found and notes.strangers:
        raise CaptureError(
            f"{path} has {notes.strangers} fragments whose first ones are not there, and no other packet of "
            "IP: no port is known; begin the capture before the transfer, or capture without a filter for ports"
        )
    if not found:
        raise CaptureError(
            f"{path} has no packet of IP among its {notes.packets} packets; "
            "capture on the interface that carries the traffic"
        )
    flows = sorted(found.values(), key=lambda one: (-one.ip_bytes, one.first_ns, one.name))
    for number, one in enumerate(flows, 1):
        one.number = number
    return Capture(
        str(path), flows, notes, min(one.first_ns for one in flows), max(one.last_ns for one in flows)
    )


def _count_new(one: FlowSummary, data: bytes, above: int) -> None:
    """Counts the payload of a segment that goes beyond all earlier segments."""
    payload = above - (data[12] >> 4) * 4
    if payload <= 0:
        return
    begin = int.from_bytes(data[4:8], "big")
    end = begin + payload & 0xFFFFFFFF
    if one._end is None:
        one._end, one.wanted = end, payload
        return
    ahead = end - one._end & 0xFFFFFFFF
    if 0 < ahead < 1 << 31:
        one.wanted += min(ahead, payload)
        one._end = end


def resolved(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the overrides that put the packets of captures into a scenario's replays.

    Args:
        table: The scenario as plain data.
        folder: Folder to search for the files.

    Returns:
        Overrides; empty if no replay names a file.

    Raises:
        CaptureError: A file is missing, is no capture, or has no such flow; the message names the key.
    """
    laws = list(named_files(table, "replay"))
    by_file: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for path, law in laws:
        by_file.setdefault(law["file"], []).append((path, law))
    changes = {}
    for file, several in by_file.items():
        key = several[0][0]
        try:
            names = {" ".join(str(law.get("select", "1")).split()) for _, law in several}
            capture = read(folder / file, {name for name in names if not name.isdigit()})
            numbered = {capture.find(name).name for name in names if name.isdigit()}
            if missing := {name for name in numbered if not len(capture.find(name).gaps)}:
                capture = read(folder / file, missing | names)
            for path, law in several:
                key = path
                rest = {name: one for name, one in law.items() if name not in {"file", "select"}}
                changes[path] = {**rest, "packets": capture.find(law.get("select")).text()}
        except (FileNotFoundError, CaptureError) as error:
            raise CaptureError(f"{key}.file: {error}") from None
    return changes
