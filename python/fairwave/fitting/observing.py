"""Reads the path toward the capturing host from a capture: arrivals, delays, losses, round trips.

Delays are relative to the least delay. RTP timestamps give them to the accuracy of a sample. TCP timestamps give
round trips, and the least of these counts as the propagation delay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fairwave.captures import CaptureError, Flow
from fairwave.fitting.packet_arrays import (
    FlowPackets,
    Numbered,
    delay_samples,
    find_rest,
    round_trips,
    streams,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.fitting.packet_arrays import CapturedFlows, Numbers

SWAPPED = 3
"""Packets that arrive this close together can have swapped places."""


@dataclass
class Transfer:
    """A captured TCP download.

    Attributes:
        flow: The flow that carries the data.
        first_s: Time of the first segment with data.
        last_s: Time of the last segment with data.
        payload: Bytes of payload that came in.
        segment: Bytes of payload of the largest segment.
        delays_at_s: Arrival times of segments with timestamps.
        delays_s: Delays of these segments, with an arbitrary offset.
        trips_s: Round trips, in seconds.
        holes_s: Times at which the capture shows a hole: segments that another overtook because they were lost.
        lost: Segments in these holes.
    """

    flow: Flow
    first_s: float
    last_s: float
    payload: int
    segment: int
    delays_at_s: Numbers
    delays_s: Numbers
    trips_s: Numbers
    holes_s: Numbers
    lost: int


@dataclass
class Observed:
    """A path as one end sees it.

    Attributes:
        source: The file.
        host: Address of the capturing host.
        lasts_s: Duration of the capture, in seconds.
        at_s: Arrivals of all packets toward the host, in order.
        sizes: Bytes of IP of each packet.
        calls: Streams of RTP, speech first, by flow.
        transfers: TCP downloads, the largest first.
        others: All other flows toward the host.
        round_trip_s: The least captured round trip; None if the capture shows none.
        notes: Repairs that the reader had to make, and omissions.
    """

    source: str
    host: bytes
    lasts_s: float
    at_s: Numbers
    sizes: Numbers
    calls: list[tuple[FlowPackets, list[Numbered]]]
    transfers: list[Transfer]
    others: list[FlowPackets]
    round_trip_s: float | None
    notes: list[str] = field(default_factory=list)

    @property
    def probe(self) -> Numbered | None:
        """The RTP stream whose delays count: the one with the smallest packets."""
        found = [stream for _, several in self.calls for stream in several]
        return min(found, key=lambda stream: (stream.size, stream.ssrc)) if found else None

    def raised(self, at_s: Numbers) -> Numbers:
        """Returns the excess over the least delay at these times, in seconds: the largest of all streams."""
        raised = np.zeros(len(at_s))
        for times, delays in self._delays():
            if len(times) >= 2:
                raised = np.maximum(raised, np.interp(at_s, times, delays - delays.min(), 0.0, 0.0))
        return raised

    def _delays(self) -> list[tuple[Numbers, Numbers]]:
        found = []
        for _, several in self.calls:
            for stream in several:
                known = ~np.isnan(stream.delay_s)
                order = np.argsort(stream.at_s[known], kind="stable")
                found.append((stream.at_s[known][order], stream.delay_s[known][order]))
        found += [(one.delays_at_s, one.delays_s) for one in self.transfers]
        return [keep_order(*one) for one in found]


def keep_order(at_s: Numbers, delay_s: Numbers) -> tuple[Numbers, Numbers]:
    """Leaves out packets that left their order, because a queue keeps the order of a stream.

    These are the packets that a later one overtook, and packets that overtook one of the next `SWAPPED`.
    """
    sent = at_s - delay_s
    if not len(sent):
        return at_s, delay_s
    in_order = sent >= np.maximum.accumulate(sent) - 1e-9
    for ahead in range(1, SWAPPED + 1):
        in_order[:-ahead] &= sent[:-ahead] <= sent[ahead:] + 1e-9
    return (at_s[in_order], delay_s[in_order]) if in_order.sum() >= 2 else (at_s, delay_s)


def holes(one: FlowPackets) -> tuple[Numbers, int]:
    """Returns the time of each hole in the sequence numbers, and the number of segments missing in all holes."""
    expected, found, missing = None, [], 0
    segment = max(1, *one.payloads)
    for at, number, payload in zip(one.at_s, one.numbers, one.payloads, strict=True):
        if payload <= 0:
            continue
        if expected is not None:
            ahead = (number - expected + (1 << 31)) % (1 << 32) - (1 << 31)
            if ahead > 0:
                found.append(at)
                missing += round(ahead / segment)
            elif ahead + payload <= 0:
                continue
        expected = (number + payload) % (1 << 32)
    return np.asarray(found, float), missing


def observed(seen: CapturedFlows, host: bytes | None = None) -> Observed:
    """Observes the path toward the host of a capture.

    Args:
        seen: The capture.
        host: Address of the capturing host; None for the address with the most packets.

    Raises:
        CaptureError: The host received nothing, or only acknowledgements.
    """
    local = host or seen.local()
    toward = [one for flow, one in seen.flows.items() if flow.destination == local]
    if not toward:
        raise CaptureError(f"{seen.path}: no packet goes to {_written(local)}; name another host with --host")
    calls, transfers, others, notes = [], [], [], list(seen.sentences)
    unnumbered = 0
    for one in sorted(toward, key=lambda one: -one.ip_bytes):
        if one.kind == "rtp" and (several := streams(one)):
            calls.append((one, several))
            rest = find_rest(one, several)
            if rest is not None:
                others.append(rest)
        elif one.kind == "tcp":
            transfers.append(_transfer(one, seen.flows.get(_back(one.flow))))
        elif one.kind != "ack":
            others.append(one)
            unnumbered += one.kind == "other" and len(one.at_s) > 100
    if not calls and not transfers:
        raise CaptureError(
            f"{seen.path} has neither RTP nor a TCP download toward {_written(local)}: nothing there shows delays or "
            "losses. Encrypted traffic without RTP headers (QUIC, VPN) cannot be fitted; capture where RTP is visible, "
            "or give the statistics of the browser (getStats() once a second, or a dump of chrome://webrtc-internals)"
        )
    if unnumbered:
        notes.append(
            f"{unnumbered} flow{'s' * (unnumbered > 1)} without numbers (not RTP, not TCP) count as load and say "
            "nothing about delay or loss."
        )
    at = np.concatenate([np.asarray(one.at_s) for one in toward])
    sizes = np.concatenate([np.asarray(one.sizes, float) for one in toward])
    order = np.argsort(at, kind="stable")
    trips = [one.trips_s.min() for one in transfers if len(one.trips_s)]
    return Observed(
        seen.path, local, seen.lasts_s, at[order], sizes[order], calls, transfers, others,
        float(min(trips)) if trips else None, notes,
    )  # fmt: skip


def _back(flow: Flow) -> Flow:
    return Flow(flow.protocol, flow.destination, flow.destination_port, flow.source, flow.source_port)


def _written(address: bytes) -> str:
    import socket

    return socket.inet_ntop(socket.AF_INET if len(address) == 4 else socket.AF_INET6, address)


def _transfer(one: FlowPackets, back: FlowPackets | None) -> Transfer:
    at, payloads = np.asarray(one.at_s), np.asarray(one.payloads)
    data = payloads > 0
    took = round_trips(one, back) if back is not None else np.empty(0)
    return Transfer(
        one.flow, float(at[data][0]), float(at[data][-1]), int(payloads[data].sum()), int(payloads.max()),
        *delay_samples(one), took, *holes(one),
    )  # fmt: skip


def address(text: str, seen: CapturedFlows) -> bytes:
    """Parses an IP address and checks that the capture has it.

    Raises:
        CaptureError: The text is no address, or no packet goes there; the message lists the capture's addresses.
    """
    import ipaddress

    known = sorted({flow.destination for flow in seen.flows}, key=lambda one: (len(one), one))
    listed = _several([_written(one) for one in known])
    try:
        packed = ipaddress.ip_address(text.strip()).packed
    except ValueError:
        raise CaptureError(f"--host takes an IP address, not {text!r}; the capture has {listed}") from None
    if packed not in known:
        raise CaptureError(f"{seen.path} has no packet toward {text}; it has {listed}")
    return packed


def _several(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
