"""Records of a capture file: pcap and pcapng, plain or compressed with gzip.

Supported are pcap (microseconds and nanoseconds, both byte orders, and Kuznetsov's variant with longer records) and
pcapng (draft-ietf-opsawg-pcapng: enhanced and obsolete packet blocks, several sections and interfaces). Simple packet
blocks are rejected because they have no time. The reader keeps one record in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from fairwave.captures.links import LINKS
from fairwave.foreign import ForeignFileError, peek

if TYPE_CHECKING:
    from fairwave.captures.notes import Notes

LONGEST = 1 << 24
"""Largest plausible length of a record or block in bytes. A larger length means that the file is damaged."""

Record = tuple[int, int, int, bytes, int]
"""Time in ns since 1970, link type, original length, captured bytes, and the interface; -1 if it is the only one."""


class CaptureError(ForeignFileError):
    """A file that is not a capture, or that lacks data for a command; the message names the remedy."""


PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000, 0), b"\xa1\xb2\xc3\xd4": (">", 1000, 0),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 0), b"\xa1\xb2\x3c\x4d": (">", 1, 0),
    b"\x34\xcd\xb2\xa1": ("<", 1000, 8), b"\xa1\xb2\xcd\x34": (">", 1000, 8),
}  # fmt: skip
"""First bytes of pcap: byte order, length of a tick in ns, and extra bytes of a record's head."""

PCAPNG = b"\x0a\x0d\x0d\x0a"
"""First bytes of pcapng."""


def is_capture(path: str | Path) -> bool:
    """Whether a file, perhaps compressed, begins like a capture."""
    begin = peek(Path(path), 4)
    return begin in PCAP or begin == PCAPNG


def read_records(file: BinaryIO, name: str, notes: Notes) -> Iterator[Record]:
    """Yields the records of a capture, from its first bytes.

    Raises:
        CaptureError: The file is no capture, is damaged, or has no times.
    """
    magic = file.read(4)
    if magic in PCAP:
        return _read_pcap(file, magic, name, notes)
    if magic == PCAPNG:
        return _read_pcapng(file, magic, name, notes)
    begins = "is empty" if not magic else f"begins with {magic.hex(' ')}"
    raise CaptureError(
        f"{name} is no capture: it {begins}; write pcap or pcapng, for example with "
        "`tcpdump -w FILE` or Wireshark's Save As"
    )


def _read_pcap(file: BinaryIO, magic: bytes, name: str, notes: Notes) -> Iterator[Record]:
    head = file.read(20)
    if len(head) < 20:
        raise CaptureError(f"{name} is no capture: it ends within its first 24 bytes")
    order, unit, extra = PCAP[magic]
    link = struct.unpack(order + "I", head[16:])[0] & 0xFFFF
    if link not in LINKS:
        raise CaptureError(describe_unread(link, name))
    record = struct.Struct(order + "IIII" + "x" * extra)
    at, read, unpack, size = 24, file.read, record.unpack, record.size
    while head := read(size):
        if len(head) < size:
            notes.cut_off = at
            return
        seconds, fraction, captured, original = unpack(head)
        if captured > LONGEST:
            raise CaptureError(_describe_damage(name, at, captured))
        data = read(captured)
        if len(data) < captured:
            notes.cut_off = at
            return
        at += size + captured
        yield seconds * 1_000_000_000 + fraction * unit, link, original, data, -1


def _describe_damage(name: str, at: int, length: int) -> str:
    return (
        f"{name}: at byte {at} begins a packet that says it has {length} bytes: the file is damaged there; keep what "
        "comes before with editcap"
    )


def describe_unread(link: int, name: str) -> str:
    """Returns the error for a capture of an unsupported link type."""
    return (
        f"{name} was captured on a link of type {link}, which is not read; capture on an Ethernet, Linux' `any` "
        "or a tunnel's interface"
    )


_SECTION, _INTERFACE, _OLD, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
_LITTLE, _BIG = b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"


def _read_pcapng(file: BinaryIO, magic: bytes, name: str, notes: Notes) -> Iterator[Record]:
    interfaces: list[tuple[int, int, int, int]] = []
    for at, order, kind, body in _read_blocks(file, magic, name, notes):
        if kind == _SECTION:
            interfaces = []
        elif kind == _INTERFACE:
            interfaces.append(_parse_interface(body, order, name))
        elif kind in (_ENHANCED, _OLD) and len(body) >= 20:
            number, high, low, captured, original = struct.unpack_from(order + "IIIII", body)
            if kind == _OLD:
                number = number & 0xFFFF if order == "<" else number >> 16
            if number >= len(interfaces):
                raise CaptureError(
                    f"{name}: the packet at byte {at} is of interface {number}, which is not described"
                )
            link, mul, div, offset = interfaces[number]
            at_ns = (high << 32 | low) * mul // div + offset
            yield at_ns, link, original, body[20 : 20 + captured], number if len(interfaces) > 1 else -1
        elif kind == _SIMPLE:
            raise CaptureError(
                f"{name}: the packet at byte {at} has no time (a simple packet block), so replay cannot know when "
                "to send it"
            )


def _read_blocks(
    file: BinaryIO, magic: bytes, name: str, notes: Notes
) -> Iterator[tuple[int, str, int, bytes]]:
    """Yields the blocks of a pcapng: place in the file, byte order of the section, type, and body."""
    order, at = "<", 0
    head = magic + file.read(4)
    while head:
        if head[:4] == PCAPNG:
            head += file.read(4)
            if len(head) == 12 and head[8:] not in (_LITTLE, _BIG):
                raise CaptureError(
                    f"{name}: at byte {at} begins no section of a pcapng; the file is damaged there"
                )
            order = "<" if head[8:] == _LITTLE else ">"
        if len(head) < (12 if head[:4] == PCAPNG else 8):
            notes.cut_off = at
            return
        kind, length = struct.unpack(order + "II", head[:8])
        if length < 12 or length % 4 or length > LONGEST:
            raise CaptureError(_describe_damage(name, at, length))
        body = file.read(length - len(head))
        if len(body) < length - len(head):
            notes.cut_off = at
            return
        yield at, order, kind, body[:-4]
        at += length
        head = file.read(8)


def _parse_interface(body: bytes, order: str, name: str) -> tuple[int, int, int, int]:
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
