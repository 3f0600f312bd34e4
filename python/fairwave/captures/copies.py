"""Packets that a capture has twice, because they passed two interfaces of the capturing host.

A capture of several interfaces, or of Linux' `any`, shows a forwarded packet once on each. Such copies are equal above
the header of IP, and at most `WINDOW_NS` apart. A packet that the network duplicated arrives twice at the same
interface, so it is no copy. Interfaces have numbers in pcapng. In Linux' cooked captures, direction and interface are
part of the header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.captures.flow import Flow, Packet
    from fairwave.captures.notes import Notes

WINDOW_NS = 2 * 10**9
"""Longest time between copies: a packet may wait in the capturing host's queue."""

MOST = 100_000
"""Largest number of packets to remember."""

COOKED: dict[int, Callable[[bytes], bytes]] = {
    113: lambda data: data[:2],
    276: lambda data: data[4:8] + data[10:11],
}
"""Link types of Linux' cooked capture, with the part of the header that tells interfaces and directions apart."""

Place = tuple[int, bytes]
"""An interface: its number in the file, and part of the frame's header."""


class CopyFilter:
    """Recognises copies of packets on further interfaces; the first copy counts."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._seen: dict[tuple[Flow, int, bytes], dict[Place, int]] = {}
        self._first: dict[tuple[Flow, int, bytes], int] = {}

    def is_copy(self, packet: Packet, place: Place) -> bool:
        """Whether this packet was captured before on another interface; counts it in the notes if so."""
        key = packet.flow, packet.length, packet.data[:64]
        self._forget(packet.at_ns)
        places = self._seen.get(key)
        if places is None:
            self._seen[key] = {place: 1}
            self._first[key] = packet.at_ns
            return False
        here = places[place] = places.get(place, 0) + 1
        is_copy = any(count >= here for other, count in places.items() if other != place)
        self._notes.copies += is_copy
        return is_copy

    def _forget(self, now_ns: int) -> None:
        """Forgets the oldest packets."""
        while self._first:
            key = next(iter(self._first))
            if len(self._first) <= MOST and now_ns - self._first[key] <= WINDOW_NS:
                return
            del self._first[key], self._seen[key]
