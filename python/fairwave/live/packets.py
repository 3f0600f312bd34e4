"""Media of programs in the recording of a run in real time: sending and arrival time of each RTP packet.

A recording (`fairwave live … --capture`) shows every sent packet on the sender's interface. If the packet arrives, the
recording shows it again on the receiver's interface, timed by the same clock. So one-way delays need no clock of the
programs, and a packet without the second record was lost. RTP is distinguished from other datagrams by its fixed
header (RFC 3550 §5.1): version 2, and a payload type that RTCP has no packet for.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairwave.foreign import ForeignFileError, gated, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_LITTLE_ENDIAN = b"\x4d\x3c\x2b\x1a"
_NAME, _RESOLUTION = 2, 9
_UDP = 17
_RTP = struct.Struct(">BBHII")


class RecordingError(ForeignFileError):
    """A recording that cannot be read, or that lacks the requested data; the message says what to do."""


@dataclass(frozen=True)
class Datagram:
    """One UDP datagram on the interface of one host.

    Attributes:
        host: The host's name.
        at_s: Time in seconds from the beginning of the run.
        source: Address and port of the sender.
        destination: Address and port of the receiver.
        identification: Identification field of the IP header.
        dscp: Differentiated services code point.
        length: Bytes of the IP packet.
        payload: UDP payload.
    """

    host: str
    at_s: float
    source: tuple[str, int]
    destination: tuple[str, int]
    identification: int
    dscp: int
    length: int
    payload: bytes


@dataclass(frozen=True)
class Stream:
    """One stream of RTP, in the order of its sequence numbers, from its first packet to its last.

    Attributes:
        host: Name of the sending host.
        source: Address and port of the sender.
        destination: Address and port of the receiver.
        payload_type: Payload type of the first packet.
        ssrc: Synchronisation source.
        sequence: Sequence numbers, extended beyond 16 bits, from the first packet's number.
        timestamp: RTP timestamps, in units of the payload's clock, extended beyond 32 bits.
        sent_s: Sending time of each packet at the sender's host, in seconds from the beginning of the run.
        arrived_s: Arrival time at the receiver's host; NaN for packets lost or still on their way at the end.
        length: Bytes of each IP packet.
        payload: RTP payload of each packet, without the header.
    """

    host: str
    source: tuple[str, int]
    destination: tuple[str, int]
    payload_type: int
    ssrc: int
    sequence: NDArray[np.int64]
    timestamp: NDArray[np.int64]
    sent_s: NDArray[np.float64]
    arrived_s: NDArray[np.float64]
    length: NDArray[np.int64]
    payload: tuple[bytes, ...]

    @property
    def delay_s(self) -> NDArray[np.float64]:
        """One-way delay of each packet that arrived, in seconds."""
        delay: NDArray[np.float64] = self.arrived_s - self.sent_s
        return delay[~np.isnan(delay)]

    @property
    def settled(self) -> Stream:
        """The stream up to the last packet that arrived. The fate of later packets is unknown."""
        there = np.flatnonzero(~np.isnan(self.arrived_s))
        count = int(there[-1]) + 1 if len(there) else 0
        names = ("sequence", "timestamp", "sent_s", "arrived_s", "length", "payload")
        return replace(self, **{name: getattr(self, name)[:count] for name in names})

    @property
    def lost(self) -> int:
        """Number of lost packets, counted up to the last packet that arrived."""
        return int(np.isnan(self.settled.arrived_s).sum())

    @property
    def runs_of_loss(self) -> list[int]:
        """Length of each run of consecutive losses, in packets."""
        lost = np.concatenate([[False], np.isnan(self.settled.arrived_s), [False]]).astype(np.int8)
        edges = np.diff(lost)
        runs: list[int] = (np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)).tolist()
        return runs


def datagrams(recording: Path) -> Iterator[Datagram]:
    """Yields every UDP datagram of a recording in file order, without fragments.

    Raises:
        RecordingError: The file is no recording of `fairwave live`.
    """
    data = read_bytes(recording, "live recording")
    names: list[str] = []
    for kind, body in _blocks(data, recording):
        if kind == _INTERFACE:
            names.append(_interface(body, recording))
        elif kind == _PACKET:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            if captured != length or interface >= len(names):
                raise RecordingError(
                    f"{recording}: has a packet that was cut off, or of no interface; "
                    "write it with fairwave live … --capture"
                )
            found = _datagram(names[interface], (high << 32 | low) * 1e-9, body[20 : 20 + captured])
            if found is not None:
                yield found


@gated("live recording", RecordingError)
def streams(recording: Path) -> list[Stream]:
    """Returns the RTP streams of a recording, the longest first.

    Raises:
        RecordingError: The file is no recording of `fairwave live`.
    """
    found: dict[tuple[tuple[str, int], tuple[str, int], int], list[Datagram]] = {}
    for one in datagrams(recording):
        if is_rtp(one):
            found.setdefault((one.source, one.destination, _RTP.unpack_from(one.payload)[4]), []).append(one)
    return sorted(
        (_stream(key, several) for key, several in found.items()), key=lambda one: -len(one.sequence)
    )


@gated("live recording", RecordingError)
def delays(recording: Path) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Returns one-way delays in seconds of delivered datagrams other than RTP (such as RTCP), by address pair.

    Among equal datagrams, only the first counts.

    Raises:
        RecordingError: The file is no recording of `fairwave live`.
    """
    sent: dict[tuple[object, ...], Datagram] = {}
    found: dict[tuple[str, str], list[float]] = {}
    for one in (each for each in datagrams(recording) if not is_rtp(each)):
        before = sent.setdefault((one.source, one.destination, one.payload), one)
        if before.host != one.host:
            found.setdefault((one.source[0], one.destination[0]), []).append(one.at_s - before.at_s)
    return {pair: np.array(several) for pair, several in found.items()}


def is_rtp(datagram: Datagram) -> bool:
    """Whether a datagram is RTP: version 2, and a payload type that RTCP has no packet for."""
    payload = datagram.payload
    if len(payload) < _RTP.size:
        return False
    return payload[0] >> 6 == 2 and not 64 <= payload[1] & 0x7F <= 95


def _blocks(data: bytes, recording: Path) -> Iterator[tuple[int, bytes]]:
    if data[:4] != struct.pack("<I", _SECTION) or data[8:12] != _LITTLE_ENDIAN:
        raise RecordingError(
            f"{recording}: is no recording of a live run; write it with fairwave live … --capture"
        )
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data):
            raise RecordingError(
                f"{recording}: ends within a block, at byte {at}; make the live run once more"
            )
        yield kind, data[at + 8 : at + length - 4]
        at += length


def _interface(body: bytes, recording: Path) -> str:
    """Returns an interface's name. Rejects times in units other than nanoseconds, which live runs never write."""
    name, resolution, at = "", 6, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == _NAME:
            name = value.decode(errors="replace")
        elif code == _RESOLUTION and value:
            resolution = value[0]
        at += 4 + (length + 3) // 4 * 4
    if resolution != 9:
        raise RecordingError(
            f"{recording}: counts time in units of 10^-{resolution} s, but recordings of live runs in nanoseconds; "
            "write it with fairwave live … --capture"
        )
    return name


def _datagram(host: str, at_s: float, packet: bytes) -> Datagram | None:
    if len(packet) < 28 or packet[0] >> 4 != 4 or packet[9] != _UDP:
        return None
    head = (packet[0] & 15) * 4
    fragment = struct.unpack_from(">H", packet, 6)[0] & 0x3FFF
    if fragment or len(packet) < head + 8:
        return None
    source_port, destination_port, length = struct.unpack_from(">HHH", packet, head)
    source, destination = (str(ipaddress.IPv4Address(packet[at : at + 4])) for at in (12, 16))
    return Datagram(
        host,
        at_s,
        (source, source_port),
        (destination, destination_port),
        struct.unpack_from(">H", packet, 4)[0],
        packet[1] >> 2,
        len(packet),
        packet[head + 8 : head + length],
    )


def _stream(key: tuple[tuple[str, int], tuple[str, int], int], several: Sequence[Datagram]) -> Stream:
    """Builds the stream of these datagrams. Each packet appears first at its sender, then at its receiver."""
    sender = several[0].host
    sent = [one for one in several if one.host == sender]
    arrived: dict[int, float] = {}
    received = [one for one in several if one.host != sender]
    for number, one in zip(
        _extended([_RTP.unpack_from(one.payload)[2] for one in received], 16), received, strict=True
    ):
        arrived.setdefault(number, one.at_s)
    numbers = _extended([_RTP.unpack_from(one.payload)[2] for one in sent], 16)
    # The first received packet can differ from the first sent one: align both by the last 16 bits of the number.
    if arrived:
        apart = (numbers[0] - min(arrived)) % 65536
        shift = numbers[0] - min(arrived) - (apart if apart < 32768 else apart - 65536)
        arrived = {number + shift: at for number, at in arrived.items()}
    stamps = _extended([_RTP.unpack_from(one.payload)[3] for one in sent], 32)
    order = np.argsort(np.array(numbers), kind="stable")
    return Stream(
        host=sender,
        source=key[0],
        destination=key[1],
        payload_type=sent[0].payload[1] & 0x7F,
        ssrc=key[2],
        sequence=np.array(numbers, np.int64)[order],
        timestamp=np.array(stamps, np.int64)[order],
        sent_s=np.array([one.at_s for one in sent])[order],
        arrived_s=np.array([arrived.get(number, np.nan) for number in numbers])[order],
        length=np.array([one.length for one in sent], np.int64)[order],
        payload=tuple(_body(sent[index].payload) for index in order),
    )


def _extended(values: Sequence[int], bits: int) -> list[int]:
    """Unwraps counters of `bits` bits: each value is within half a turn of the value before."""
    turn, found = 1 << bits, list(values[:1])
    for value in values[1:]:
        step = (value - found[-1]) % turn
        found.append(found[-1] + (step if step < turn // 2 else step - turn))
    return found


def _body(payload: bytes) -> bytes:
    """Returns the RTP payload: without fixed header, contributing sources, extension and padding."""
    at = 12 + 4 * (payload[0] & 15)
    if payload[0] & 0x10 and len(payload) >= at + 4:
        at += 4 + 4 * int(struct.unpack_from(">H", payload, at + 2)[0])
    end = len(payload) - (payload[-1] if payload[0] & 0x20 else 0)
    return payload[at:end]
