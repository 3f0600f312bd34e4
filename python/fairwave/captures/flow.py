"""A packet of IP, and the flow that it belongs to."""

from __future__ import annotations

import socket
from typing import NamedTuple

UDP, TCP, ICMP, ICMP6 = 17, 6, 1, 58
PROTOCOLS = {UDP: "udp", TCP: "tcp", ICMP: "icmp", ICMP6: "icmp6", 132: "sctp", 50: "esp", 47: "gre"}


WITH_PORTS = frozenset({UDP, TCP, 132})
"""Protocols with ports: UDP, TCP and SCTP."""


class Flow(NamedTuple):
    """Common fields of the packets of one flow: a five-tuple, which has a direction.

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
            _name_end(address, port, self.protocol in WITH_PORTS)
            for address, port in ((self.source, self.source_port), (self.destination, self.destination_port))
        )
        return f"{kind} {source} > {destination}"

    @property
    def back(self) -> Flow:
        """The flow in the other direction."""
        return Flow(self.protocol, self.destination, self.destination_port, self.source, self.source_port)


def _name_end(address: bytes, port: int, has_port: bool) -> str:
    text = name_address(address)
    if not has_port:
        return text
    return f"{text}:{port}" if len(address) == 4 else f"[{text}]:{port}"


def name_address(address: bytes) -> str:
    """Returns an address as text."""
    return socket.inet_ntop(socket.AF_INET if len(address) == 4 else socket.AF_INET6, address)


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
