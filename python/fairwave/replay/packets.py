"""Reads the packets of a capture as a stream: pcap and pcapng.

Supported are pcap (microseconds and nanoseconds, both byte orders) and pcapng (enhanced and obsolete packet blocks,
several sections and interfaces). Simple packet blocks are rejected because they have no time. The link may be Ethernet
with any VLAN tags (IEEE 802.1Q, 802.1ad), Linux cooked capture, raw IP or BSD loopback. The network is IPv4, or IPv6
with extension headers. Later fragments count to the flow of the first fragment. The reader keeps no packet in memory.
"""

from __future__ import annotations

import math
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from fairwave.foreign import KINDS, ForeignFileError, check_span, reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUFFER = 1 << 20
"""Bytes per read operation."""

LONGEST = 1 << 24
"""Largest plausible length of a record or block in bytes. A larger length means that the file is damaged."""

MOST_FRAGMENTED = 4096
"""Number of packets with outstanding fragments to remember."""

BACKWARD_NS = 60 * 10**9
"""Largest backward step of the clock, in ns. After a larger step, nothing shows which times are right."""

UDP, TCP, ICMP, ICMP6 = 17, 6, 1, 58
PROTOCOLS = {UDP: "udp", TCP: "tcp", ICMP: "icmp", ICMP6: "icmp6", 132: "sctp", 50: "esp", 47: "gre"}

_WITH_PORTS = frozenset({UDP, TCP, 132})
_VLAN = frozenset({0x8100, 0x88A8, 0x9100})
_EXTENSIONS = frozenset({0, 43, 60, 135})
_FRAGMENT, _AUTHENTICATION = 44, 51

_LINKS = {
    0: "loopback", 108: "loopback", 1: "ethernet", 12: "raw", 14: "raw", 101: "raw", 228: "raw", 229: "raw",
    113: "cooked", 276: "cooked 2",
}  # fmt: skip


class CaptureError(ForeignFileError):
    """A file that is not a capture, or that cannot be replayed; the message says what to do."""


class Flow(NamedTuple):
    """Common fields of the packets of one flow.

    Attributes:
        protocol: Number of the protocol above IP.
        source: Address of the sender, 4 or 16 bytes.
        source_port: Port of the sender; 0 if the protocol has no ports.
        destination: Address of the receiver.
        destination_port: Port of the receiver.
    """

    protocol: int
    source: bytes
    source_port: int
    destination: bytes
    destination_port: int

    @property
    def name(self) -> str:
        """Readable form: `udp 10.0.0.1:5004 > 10.0.0.2:6000`."""
        kind = PROTOCOLS.get(self.protocol, f"ip{self.protocol}")
        source, destination = (
            _address(address, port, self.protocol in _WITH_PORTS)
            for address, port in ((self.source, self.source_port), (self.destination, self.destination_port))
        )
        return f"{kind} {source} > {destination}"


def _address(address: bytes, port: int, has_port: bool) -> str:
    text = socket.inet_ntop(socket.AF_INET if len(address) == 4 else socket.AF_INET6, address)
    if not has_port:
        return text
    return f"{text}:{port}" if len(address) == 4 else f"[{text}]:{port}"


class Packet(NamedTuple):
    """One packet of IP.

    Attributes:
        at_ns: Capture time, in nanoseconds since 1970.
        flow: Flow of the packet.
        length: Bytes of IP, header included.
        header: Bytes of the fixed IP header: 20 or 40.
        data: Captured bytes above the IP headers; empty for later fragments.
        above: Bytes above IP in the original packet.
    """

    at_ns: int
    flow: Flow
    length: int
    header: int
    data: bytes
    above: int


@dataclass
class Notes:
    """Repairs that the reader of a capture had to make.

    Attributes:
        packets: Packets read, of any kind.
        ignored: Packets without IP, such as ARP.
        fragments: Later fragments of packets.
        strangers: Fragments without a captured first fragment; they are left out.
        backward: Packets with an earlier time than the packet before.
        back_s: Largest backward step, in seconds.
        cut_off: Byte at which the file ends within a record; None if the file is complete.
    """

    packets: int = 0
    ignored: int = 0
    fragments: int = 0
    strangers: int = 0
    backward: int = 0
    back_s: float = 0.0
    cut_off: int | None = None

    def sentences(self) -> list[str]:
        """Returns one sentence for each kind of repair."""
        said = []
        if self.cut_off is not None:
            said.append(
                f"The file ends within a packet, at byte {self.cut_off}: "
                f"the {self.packets} packets before it are used."
            )
        if self.backward:
            said.append(
                f"{_count(self.backward, 'packet has', 'packets have')} an earlier time than the one before "
                f"(by up to {self.back_s * 1e3:.3g} ms): sent together with it."
            )
        if self.strangers:
            said.append(
                f"{_count(self.strangers, 'fragment is', 'fragments are')} left out: "
                "the first fragment, which has the ports, was not captured."
            )
        if self.ignored:
            said.append(f"{_count(self.ignored, 'packet is', 'packets are')} not of IP and left out.")
        return said


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def is_capture(path: str | Path) -> bool:
    """Whether a file begins like a capture."""
    try:
        with Path(path).open("rb") as file:
            return file.read(4) in _MAGIC or _is_section(path)
    except OSError:
        return False


def _is_section(path: str | Path) -> bool:
    with Path(path).open("rb") as file:
        return file.read(4) == b"\x0a\x0d\x0d\x0a"


_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\x3c\x4d": (">", 1),
}  # fmt: skip


def packets(
    path: str | Path,
    notes: Notes,
    progress: Callable[[int, int], None] | None = None,
    kind: Literal["capture", "fitted capture"] = "capture",
) -> Iterator[Packet]:
    """Yields every IP packet of a capture in file order, with times that never go back.

    Args:
        path: The capture.
        notes: Receives the counts of repairs.
        progress: Called now and then with the number of bytes read and the size of the file.
        kind: Purpose of reading; it sets the longest allowed duration.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file is no capture or has no times, or its clock was set back.
        ForeignFileError: The capture lasts too long.
    """
    where = Path(path)
    if not where.is_file():
        what = "a folder" if where.is_dir() else "no such file"
        raise FileNotFoundError(f"no capture {str(path)!r}: {what}; give a file of pcap or pcapng")
    size = where.stat().st_size
    with where.open("rb", buffering=BUFFER) as file:
        magic = file.read(4)
        file.seek(0)
        if magic in _MAGIC:
            records = _pcap(file, str(path), notes)
        elif magic == b"\x0a\x0d\x0d\x0a":
            records = _pcapng(file, str(path), notes)
        else:
            begins = "is empty" if not magic else f"begins with {magic.hex(' ')}"
            raise CaptureError(
                f"{path} is no capture: it {begins}; write pcap or pcapng, for example with "
                "`tcpdump -w FILE` or Wireshark's Save As"
            )
        reach(lambda: f"packet {notes.packets + 1}")
        first: dict[tuple[bytes, bytes, int, int], Flow] = {}
        latest, begin, span_ns = 0, -1, (KINDS[kind].span_s or math.inf) * 1e9
        for at_ns, link, original, data in records:
            notes.packets += 1
            if progress is not None and not notes.packets & 0xFFFF:
                progress(file.tell(), size)
            if at_ns < latest:
                back = latest - at_ns
                if back > BACKWARD_NS:
                    raise CaptureError(
                        f"{path}: packet {notes.packets} was captured {back / 1e9:.0f} s before the one in front "
                        "of it: the clock was set back, or captures were put together in the wrong order; sort "
                        f"it with `reordercap {where.name} sorted.pcapng`, or cut it there with editcap"
                    )
                notes.backward += 1
                notes.back_s = max(notes.back_s, back / 1e9)
                at_ns = latest  # noqa: PLW2901  # the time that is used
            latest = at_ns
            if begin < 0:
                begin = at_ns
            if at_ns - begin > span_ns:
                check_span((at_ns - begin) / 1e9, f"{path}, packet {notes.packets}:", kind)
            at = _network(link, data)
            found = None if at < 0 else _ip(at_ns, data, at, original - at, first, notes)
            if found is not None:
                yield found
        if progress is not None:
            progress(size, size)


Record = tuple[int, int, int, bytes]
"""Time in ns, type of link, original length, captured bytes."""


def _pcap(file: BinaryIO, name: str, notes: Notes) -> Iterator[Record]:
    head = file.read(24)
    if len(head) < 24:
        raise CaptureError(f"{name} is no capture: it ends within its first 24 bytes")
    order, unit = _MAGIC[head[:4]]
    link = struct.unpack(order + "I", head[20:])[0] & 0xFFFF
    _known(link, name)
    record = struct.Struct(order + "IIII")
    at = 24
    while head := file.read(16):
        if len(head) < 16:
            notes.cut_off = at
            return
        seconds, fraction, captured, original = record.unpack(head)
        if captured > LONGEST:
            raise CaptureError(_damaged(name, at, captured))
        data = file.read(captured)
        if len(data) < captured:
            notes.cut_off = at
            return
        at += 16 + captured
        yield seconds * 10**9 + fraction * unit, link, original, data


def _damaged(name: str, at: int, length: int) -> str:
    return (
        f"{name}: at byte {at} begins a packet that says it has {length} bytes: the file is damaged there; keep what "
        "comes before with editcap"
    )


def _known(link: int, name: str) -> None:
    if link not in _LINKS:
        raise CaptureError(
            f"{name} was captured on a link of type {link}, which is not read; capture on an Ethernet, Linux' `any` "
            "or a tunnel's interface"
        )


_SECTION, _INTERFACE, _OLD, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6


def _pcapng(file: BinaryIO, name: str, notes: Notes) -> Iterator[Record]:
    order, at = "<", 0
    interfaces: list[tuple[int, int, int, int]] = []
    while head := file.read(8):
        if len(head) < 8:
            notes.cut_off = at
            return
        if head[:4] == b"\x0a\x0d\x0d\x0a":
            mark = file.read(4)
            order = "<" if mark == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
            length = struct.unpack(order + "I", head[4:])[0]
            if mark not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise CaptureError(
                    f"{name}: at byte {at} begins no section of a pcapng; the file is damaged there"
                )
            kind, before = _SECTION, 12
        else:
            kind, length = struct.unpack(order + "II", head)
            before = 8
        if length < 12 or length % 4 or length > LONGEST:
            raise CaptureError(_damaged(name, at, length))
        body = file.read(length - before)
        if len(body) < length - before:
            notes.cut_off = at
            return
        body = body[:-4]
        if kind == _INTERFACE:
            interfaces.append(_interface(body, order, name))
        elif kind in (_ENHANCED, _OLD) and len(body) >= 20:
            number, high, low, captured, original = struct.unpack_from(order + "IIIII", body)
            number = number & 0xFFFF if kind == _OLD and order == "<" else number
            number = number >> 16 if kind == _OLD and order == ">" else number
            if number >= len(interfaces):
                raise CaptureError(
                    f"{name}: the packet at byte {at} is of interface {number}, which is not described"
                )
            link, mul, div, offset = interfaces[number]
            _known(link, name)
            ticks = high << 32 | low
            yield ticks * mul // div + offset, link, original, body[20 : 20 + captured]
        elif kind == _SIMPLE:
            raise CaptureError(
                f"{name}: the packet at byte {at} has no time (a simple packet block), so replay cannot know when "
                "to send it"
            )
        at += length


def _interface(body: bytes, order: str, name: str) -> tuple[int, int, int, int]:
    """Returns the link type, a tick's length in ns as a fraction (two numbers), and the time offset in ns."""
    if len(body) < 8:
        raise CaptureError(f"{name}: an interface is described in {len(body)} bytes; the file is damaged")
    link = struct.unpack_from(order + "H", body)[0]
    mul, div, offset, at = 1000, 1, 0, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == 0:
            break
        if code == 9 and value:
            power = value[0] & 0x7F
            mul, div = (10**9, 2**power) if value[0] & 0x80 else (10**9, 10**power)
        elif code == 14 and len(value) == 8:
            offset = struct.unpack(order + "q", value)[0] * 10**9
        at += 4 + (length + 3) // 4 * 4
    return link, mul, div, offset


def _network(link: int, data: bytes) -> int:
    """Returns the offset of the IP header; -1 if the packet is not IP."""
    kind = _LINKS[link]
    if kind == "ethernet":
        at = 12
        while len(data) >= at + 2:
            ether = data[at] << 8 | data[at + 1]
            if ether in _VLAN:
                at += 4
                continue
            return at + 2 if ether in (0x0800, 0x86DD) else -1
        return -1
    if kind == "raw":
        return 0
    if kind == "loopback":
        # Address family in the capturing machine's byte order: 2 for IPv4; 10, 24, 28 or 30 for IPv6.
        family = max(data[0], data[3]) if len(data) >= 4 else 0
        return 4 if family in (2, 10, 24, 28, 30) else -1
    at, place = (16, 14) if kind == "cooked" else (20, 0)
    if len(data) < at:
        return -1
    ether = data[place] << 8 | data[place + 1]
    while ether in _VLAN and len(data) >= at + 4:
        ether = data[at + 2] << 8 | data[at + 3]
        at += 4
    return at if ether in (0x0800, 0x86DD) else -1


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


def _ip4(data: bytes, at: int, left: int) -> _Header | None:
    if len(data) < at + 20:
        return None
    # Length 0 marks packets that the network card will segment.
    length = data[at + 2] << 8 | data[at + 3] or left
    fragment = data[at + 6] << 8 | data[at + 7]
    return _Header(
        length, (data[at] & 15) * 4, 20, data[at + 9], data[at + 12 : at + 16], data[at + 16 : at + 20],
        fragment & 0x1FFF, bool(fragment & 0x2000), data[at + 4] << 8 | data[at + 5],
    )  # fmt: skip


def _ip6(data: bytes, at: int, left: int) -> _Header | None:
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


def _ip(
    at_ns: int,
    data: bytes,
    at: int,
    left: int,
    first: dict[tuple[bytes, bytes, int, int], Flow],
    notes: Notes,
) -> Packet | None:
    version = data[at] >> 4 if len(data) > at else 0
    ip = _ip4(data, at, left) if version == 4 else _ip6(data, at, left) if version == 6 else None
    if ip is None or ip.header < ip.fixed or ip.length < ip.header:
        notes.ignored += 1
        return None
    key = ip.source, ip.destination, ip.protocol, ip.identification
    if ip.place:
        notes.fragments += 1
        known = first.get(key)
        if known is None:
            notes.strangers += 1
            return None
        return Packet(at_ns, known, ip.length, ip.fixed, b"", ip.length - ip.header)
    begin = at + ip.header
    ports = 0, 0
    if ip.protocol in _WITH_PORTS and len(data) >= begin + 4:
        ports = data[begin] << 8 | data[begin + 1], data[begin + 2] << 8 | data[begin + 3]
    flow = Flow(ip.protocol, ip.source, ports[0], ip.destination, ports[1])
    if ip.more:
        if len(first) >= MOST_FRAGMENTED:
            first.pop(next(iter(first)))
        first[key] = flow
    return Packet(at_ns, flow, ip.length, ip.fixed, data[begin : at + ip.length], ip.length - ip.header)
