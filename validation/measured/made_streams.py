"""Captures of RTP that are written packet by packet, with losses, duplicates, reordering and jitter that are known."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from validation.measured.made_captures import A, B, ethernet, ip4, udp

if TYPE_CHECKING:
    from collections.abc import Iterator

Frames = list[tuple[int, bytes]]
"""Times in ns since the beginning, and frames."""

MS = 1_000_000
PORTS = (5004, 6000)
STUN = struct.pack(">HHI12s", 1, 0, 0x2112A442, bytes(12))
DTLS = bytes((22, 254, 253)) + bytes(10)
RTCP = struct.pack(">BBHI", 0x80, 200, 6, 7) + bytes(20)


def packet(
    number: int,
    stamp: int,
    ssrc: int = 7,
    kind: int = 0,
    payload: bytes = bytes(160),
    *,
    marker: bool = False,
    flags: int = 0x80,
) -> bytes:
    """A packet of RTP."""
    head = struct.pack(">BBHII", flags, kind | marker << 7, number & 0xFFFF, stamp & 0xFFFFFFFF, ssrc)
    return head + payload


def frame(contents: bytes, ports: tuple[int, int] = PORTS, ends: tuple[bytes, bytes] = (A, B)) -> bytes:
    """Contents of a datagram in a frame of Ethernet."""
    return ethernet(ip4(udp(contents, ports), ends=ends))


def back(contents: bytes) -> bytes:
    """The same in the other direction."""
    return frame(contents, PORTS[::-1], (B, A))


def draw(seed: int) -> Iterator[float]:
    """Numbers from 0 to 1 that are the same on every machine (Numerical Recipes' generator)."""
    state = seed
    while True:
        state = (1664525 * state + 1013904223) & 0xFFFFFFFF
        yield state / 2**32


@dataclass
class Talk:
    """A stream of packets in equal steps, and what becomes of them on the way.

    Attributes:
        count: Number of packets.
        clock: Ticks per second of the timestamps.
        kind: Payload type.
        ssrc: Source.
        first: Sequence number of the first packet.
        step_ms: Time between packets.
        size: Bytes of payload.
        lost: Numbers from 0 of packets that are lost.
        again: Numbers of packets that arrive twice.
        late: Numbers of packets that arrive after the next one.
        jitter_ms: Largest delay, drawn for each packet.
        seed: Seed of the delays.
        begin_ms: Time of the first packet.
        ends: Addresses of sender and receiver.
        ports: Ports of sender and receiver.
    """

    count: int = 500
    clock: int = 8000
    kind: int = 0
    ssrc: int = 7
    first: int = 100
    step_ms: float = 20.0
    size: int = 160
    lost: tuple[int, ...] = ()
    again: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    jitter_ms: float = 0.0
    seed: int = 1
    begin_ms: float = 0.0
    ends: tuple[bytes, bytes] = field(default=(A, B))
    ports: tuple[int, int] = PORTS

    def frames(self) -> Frames:
        """Times in ns and frames, in order of time."""
        found: Frames = []
        delays = draw(self.seed)
        for number in range(self.count):
            delay = next(delays) * self.jitter_ms
            if number in self.lost:
                continue
            at = self.begin_ms + number * self.step_ms + delay
            if number in self.late:
                at += 1.5 * self.step_ms
            stamp = 12_345 + round(number * self.step_ms * self.clock / 1000)
            one = frame(
                packet(self.first + number, stamp, self.ssrc, self.kind, bytes(self.size)),
                self.ports,
                self.ends,
            )
            found.append((round(at * 1000) * 1000, one))
            if number in self.again:
                found.append((round(at * 1000 + 300) * 1000, one))
        return sorted(found, key=lambda item: item[0])


def every(ms: float, contents: bytes, count: int, begin_ms: float = 3.0) -> Frames:
    """The same contents again and again."""
    return [(round((begin_ms + ms * number) * MS), frame(contents)) for number in range(count)]


def merge(*several: Frames) -> Frames:
    """All frames in order of time."""
    return sorted((one for frames in several for one in frames), key=lambda item: item[0])
