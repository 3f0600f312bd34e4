"""Packets of IP of a capture, as a stream: IPv4, IPv6 with extension headers, fragments, and packets within tunnels.

Later fragments count to the flow of the first fragment. The reader keeps no packet in memory.
"""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, cast

from fairwave.captures.copies import COOKED, CopyFilter
from fairwave.captures.files import CaptureError, describe_unread, read_records
from fairwave.captures.flow import UDP, WITH_PORTS, Flow, Packet
from fairwave.captures.links import AGGREGATE, LINKS, SHORT, find_in_tunnel, split_aggregate
from fairwave.foreign import GZIP, KINDS, UnpackedFile, check_span, reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairwave.captures.notes import Notes

BUFFER = 1 << 20
"""Bytes per read operation."""

MOST_FRAGMENTED = 4096
"""Number of packets with outstanding fragments to remember."""

MOST_TUNNELS = 4
"""Deepest nesting of tunnels that is followed."""

BACKWARD_NS = 60 * 10**9
"""Largest backward step of the clock, in ns. After a larger step, nothing shows which times are right."""

_TUNNELS = frozenset({4, 41, 47})
_EXTENSIONS = frozenset({0, 43, 60, 135})
_FRAGMENT, _AUTHENTICATION = 44, 51


def _open(path: str | Path, kind: str) -> tuple[BinaryIO, BinaryIO, UnpackedFile | None]:
    """Returns the file, its contents, and the unpacker if it is compressed."""
    where = Path(path)
    if not where.is_file():
        what = "a folder" if where.is_dir() else "no such file"
        raise FileNotFoundError(f"no capture {str(path)!r}: {what}; give a file of pcap or pcapng")
    file = where.open("rb", buffering=BUFFER)
    begin = file.read(2)
    file.seek(0)
    if begin != GZIP:
        return file, file, None
    inside = UnpackedFile(file, str(path), kind)
    return file, cast("BinaryIO", io.BufferedReader(inside, BUFFER)), inside


class _CaptureClock:
    """Times of packets that never go back, and never span more than the kind of file may."""

    def __init__(self, path: str | Path, kind: str, notes: Notes) -> None:
        self._path, self._kind, self._notes = path, kind, notes
        self._latest, self._begin = 0, -1
        self._span_ns = (KINDS[kind].span_s or math.inf) * 1e9

    def correct(self, at_ns: int) -> int:
        """Returns the time that is used.

        Raises:
            CaptureError: The clock was set back.
            ForeignFileError: The capture lasts too long.
        """
        if at_ns < self._latest:
            self._note_step(self._latest - at_ns)
            at_ns = self._latest
        self._latest = at_ns
        if self._begin < 0:
            self._begin = at_ns
        if at_ns - self._begin > self._span_ns:
            name = f"{self._path}, packet {self._notes.packets}:"
            check_span((at_ns - self._begin) / 1e9, name, self._kind)
        return at_ns

    def _note_step(self, back: int) -> None:
        notes = self._notes
        if back > BACKWARD_NS:
            raise CaptureError(
                f"{self._path}: packet {notes.packets} was captured {back / 1e9:.0f} s before the one in front "
                "of it: the clock was set back, or captures were put together in the wrong order; sort "
                f"it with `reordercap {Path(self._path).name} sorted.pcapng`, or cut it there with editcap"
            )
        notes.backward += 1
        notes.back_s = max(notes.back_s, back / 1e9)


def packets(
    path: str | Path,
    notes: Notes,
    progress: Callable[[int, int], None] | None = None,
    kind: Literal["capture", "fitted capture"] = "capture",
) -> Iterator[Packet]:
    """Yields every IP packet of a capture in file order, with times that never go back.

    Args:
        path: The capture, perhaps compressed with gzip.
        notes: Receives the counts of repairs and omissions.
        progress: Called now and then with the number of bytes read and the size of the file.
        kind: Purpose of reading; it sets the longest allowed duration.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file is no capture or has no times, or its clock was set back.
        ForeignFileError: The capture lasts too long, or unpacks to too many bytes.
    """
    file, contents, unpacked = _open(path, kind)
    size = Path(path).stat().st_size
    with file:
        reach(lambda: f"packet {notes.packets + 1}")
        clock, parser, copies = _CaptureClock(path, kind, notes), _Parser(notes), CopyFilter(notes)
        for when_ns, link, original, data, interface in read_records(contents, str(path), notes):
            notes.packets += 1
            if progress is not None and not notes.packets & 0xFFFF:
                progress(file.tell(), size)
            at_ns = clock.correct(when_ns)
            if len(data) < original:
                notes.shortened += 1
            plain = parser.parse_plain(at_ns, data) if link == 1 else None
            found = parser.parse_frame(at_ns, link, original, data) if plain is None else (plain,)
            if interface < 0 and link not in COOKED:
                yield from found
            else:
                place = interface, COOKED[link](data) if link in COOKED else b""
                yield from (one for one in found if not copies.is_copy(one, place))
        if unpacked is not None and unpacked.is_cut and notes.cut_off is None:
            notes.cut_off = file.tell()
        if notes.unread_links and notes.unread_links.total() == notes.packets:
            raise CaptureError(describe_unread(min(notes.unread_links), str(path)))
        if progress is not None:
            progress(size, size)


class _Header(NamedTuple):
    """Fields of the IP headers: total, header and fixed header bytes, addresses, and fragment fields."""

    length: int
    header: int
    fixed: int
    protocol: int
    source: bytes
    destination: bytes
    place: int
    more: bool
    identification: int


def _parse_ip4(data: bytes, at: int, left: int) -> _Header | None:
    if len(data) < at + 20:
        return None
    # Length 0 marks packets that the network card will segment.
    length = data[at + 2] << 8 | data[at + 3] or left
    fragment = data[at + 6] << 8 | data[at + 7]
    return _Header(
        length, (data[at] & 15) * 4, 20, data[at + 9], data[at + 12 : at + 16], data[at + 16 : at + 20],
        fragment & 0x1FFF, bool(fragment & 0x2000), data[at + 4] << 8 | data[at + 5],
    )  # fmt: skip


def _parse_ip6(data: bytes, at: int, left: int) -> _Header | None:
    if len(data) < at + 40:
        return None
    header, place, more, identification = 40, 0, False, 0
    length = (data[at + 4] << 8 | data[at + 5]) + 40
    length = left if length == 40 else length
    protocol = data[at + 6]
    while not place and (protocol in _EXTENSIONS or protocol in (_FRAGMENT, _AUTHENTICATION)):
        here = at + header
        if len(data) < here + 8:
            break
        if protocol == _FRAGMENT:
            place, more = (data[here + 2] << 8 | data[here + 3]) >> 3, bool(data[here + 3] & 1)
            identification = int.from_bytes(data[here + 4 : here + 8], "big")
            header += 8
        elif protocol == _AUTHENTICATION:
            header += (data[here + 1] + 2) * 4
        else:
            header += (data[here + 1] + 1) * 8
        protocol = data[here]
    source, destination = data[at + 8 : at + 24], data[at + 24 : at + 40]
    return _Header(length, header, 40, protocol, source, destination, place, more, identification)


_PLAIN = (b"\x11", b"\x06")
"""Protocols of plain packets: UDP and TCP."""

_VXLAN = 4789
MOST_REMEMBERED = 200_000
"""Number of flows of plain packets to remember."""


class _Parser:
    """Parses frames, with a memory of flows and of packets with outstanding fragments."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._flows: dict[bytes, Flow] = {}
        self._first: dict[tuple[bytes, bytes, int, int], Flow] = {}

    def parse_plain(self, at_ns: int, data: bytes) -> Packet | None:
        """Parses most frames of most captures: Ethernet, IPv4 without options or fragments, UDP or TCP."""
        if data[12:15] != b"\x08\x00\x45" or data[23:24] not in _PLAIN or len(data) < 38:
            return None
        length = data[16] << 8 | data[17]
        if length < 28 or data[20] & 0x3F or data[21]:
            return None
        ends = data[23:38]
        flow = self._flows.get(ends)
        if flow is None:
            if len(self._flows) >= MOST_REMEMBERED:
                self._flows.clear()
            flow = self._flows[ends] = Flow(
                ends[0], ends[3:7], ends[11] << 8 | ends[12], ends[7:11], ends[13] << 8 | ends[14]
            )
        if flow.destination_port == _VXLAN:
            return None
        return Packet(at_ns, flow, length, 20, data[34 : 14 + length], length - 20)

    def parse_frame(self, at_ns: int, link: int, original: int, data: bytes) -> Iterator[Packet]:
        """Yields the packets of any frame: mostly one, several of an aggregate, none if it is not of IP."""
        find = LINKS.get(link)
        if find is None:
            self._notes.unread_links[link] += 1
            return
        at, name = find(data)
        if name == AGGREGATE:
            self._notes.aggregates += 1
            for place, part in split_aggregate(data, at):
                yield from self._parse_ip(at_ns, part, place, len(part) - place)
        elif name == SHORT:
            self._notes.headless += 1
        elif name:
            self._notes.ignored[name] += 1
        else:
            yield from self._parse_ip(at_ns, data, at, original - at)

    def _parse_ip(self, at_ns: int, data: bytes, at: int, left: int, depth: int = 0) -> Iterator[Packet]:
        """Yields the packet at an offset, or the packet that it carries; none if the header is damaged."""
        version = data[at] >> 4 if len(data) > at else 0
        ip = (
            _parse_ip4(data, at, left)
            if version == 4
            else _parse_ip6(data, at, left)
            if version == 6
            else None
        )
        if ip is None or ip.header < ip.fixed or ip.length < ip.header:
            self._notes.headless += 1
            return
        key = ip.source, ip.destination, ip.protocol, ip.identification
        if ip.place:
            self._notes.fragments += 1
            known = self._first.get(key)
            if known is None:
                self._notes.strangers += 1
                return
            yield Packet(at_ns, known, ip.length, ip.fixed, b"", ip.length - ip.header)
            return
        begin = at + ip.header
        if depth < MOST_TUNNELS and not ip.more and (ip.protocol in _TUNNELS or ip.protocol == UDP):
            inner, tunnel = find_in_tunnel(data, begin, ip.protocol)
            if inner >= 0 and len(data) > inner and data[inner] >> 4 in (4, 6):
                self._notes.tunnels[tunnel] += 1
                yield from self._parse_ip(at_ns, data, inner, left - (inner - at), depth + 1)
                return
        ports = 0, 0
        if ip.protocol in WITH_PORTS and len(data) >= begin + 4:
            ports = data[begin] << 8 | data[begin + 1], data[begin + 2] << 8 | data[begin + 3]
        flow = Flow(ip.protocol, ip.source, ports[0], ip.destination, ports[1])
        if ip.more:
            if len(self._first) >= MOST_FRAGMENTED:
                self._first.pop(next(iter(self._first)))
            self._first[key] = flow
        yield Packet(at_ns, flow, ip.length, ip.fixed, data[begin : at + ip.length], ip.length - ip.header)
