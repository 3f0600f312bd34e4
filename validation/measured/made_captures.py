"""Captures that are written byte by byte: pcap and pcapng with datagrams, segments, fragments."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Frames = Iterable[tuple[int, bytes]]
    """Times in ns since the beginning, and frames."""

A, B = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))
A6, B6 = bytes(15) + b"\1", bytes(15) + b"\2"
START = 1_700_000_000 * 10**9


def udp(payload: bytes, ports: tuple[int, int] = (5004, 6000)) -> bytes:
    """A datagram of UDP."""
    return struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload


def tcp(sequence: int, payload: bytes, ports: tuple[int, int] = (443, 50000)) -> bytes:
    """A segment of TCP without options."""
    return struct.pack(">HHIIBBHHH", *ports, sequence, 0, 5 << 4, 16, 0, 0, 0) + payload


def ip4(
    above: bytes,
    protocol: int = 17,
    ident: int = 0,
    fragment: int = 0,
    length: int | None = None,
    ends: tuple[bytes, bytes] = (A, B),
) -> bytes:
    """A packet of IPv4; `fragment` is the field with flags and offset."""
    length = 20 + len(above) if length is None else length
    return (
        struct.pack(">BBHHHBBH", 0x45, 0, length, ident, fragment, 64, protocol, 0)
        + ends[0]
        + ends[1]
        + above
    )


def ip6(above: bytes, protocol: int = 17) -> bytes:
    """A packet of IPv6."""
    return struct.pack(">IHBB", 6 << 28, len(above), protocol, 64) + A6 + B6 + above


def ethernet(packet: bytes, *tags: int) -> bytes:
    """A frame of Ethernet with VLAN tags of these types."""
    kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    return bytes(12) + b"".join(struct.pack(">HH", tag, 5) for tag in tags) + struct.pack(">H", kind) + packet


def rtp(number: int) -> bytes:
    """A datagram of G.711 over RTP."""
    return udp(struct.pack(">BBHII", 0x80, 0, number & 0xFFFF, number * 160, 7) + bytes(160))


def pcap(
    path: Path, frames: Frames, *, order: str = "<", unit: int = 1000, link: int = 1, cut: int | None = None
) -> Path:
    """A pcap of frames, each with its time in ns since the first."""
    magic = 0xA1B2C3D4 if unit == 1000 else 0xA1B23C4D
    data = bytearray(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link))
    for at, frame in frames:
        seconds, rest = divmod(START + at, 10**9)
        data += struct.pack(order + "IIII", seconds, rest // unit, len(frame), len(frame)) + frame
    path.write_bytes(data[:cut])
    return path


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A block of pcapng."""
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def pcapng(
    path: Path,
    frames: Frames,
    *,
    order: str = "<",
    resolution: int | None = None,
    link: int = 1,
    offset: int = 0,
    simple: bool = False,
) -> Path:
    """The same as pcapng; the resolution is the option's byte."""
    options = b""
    if resolution is not None:
        options += struct.pack(order + "HHB3x", 9, 1, resolution)
    if offset:
        options += struct.pack(order + "HHq", 14, 8, offset)
    data = bytearray(block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order))
    data += block(1, struct.pack(order + "HHI", link, 0, 0) + options, order)
    ticks = {None: 10**6, 9: 10**9, 6: 10**6, 0x8A: 1024}[resolution]
    for at, frame in frames:
        if simple:
            data += block(3, struct.pack(order + "I", len(frame)) + frame, order)
            continue
        time = (START + at - offset * 10**9) * ticks // 10**9
        head = struct.pack(order + "IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
        data += block(6, head + frame, order)
    path.write_bytes(data)
    return path


CALL = [(20_000_000 * n, ethernet(ip4(rtp(n)))) for n in range(50)]
