"""The two sides of a captured link: which flows go one way, and which go the other way.

Every flow crosses the place of the capture, so its ends are on different sides. The flows of most bytes decide first;
a flow that contradicts them takes the direction of its first packet. The near side has the host that takes part in most
packets. Of two hosts alone, it has the private address, else the host that sent first.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairwave.captures.flow import Flow

End = tuple[bytes, int]
"""A host, or a port of one if a host sends to itself."""


@dataclass
class Crossing:
    """A flow over the link: its five-tuple, bytes, packets, and the time of its first packet in ns."""

    flow: Flow
    ip_bytes: int
    packets: int
    first_ns: int

    @property
    def ends(self) -> tuple[End, End]:
        """Sender and receiver."""
        flow = self.flow
        if flow.source == flow.destination:
            return (flow.source, flow.source_port), (flow.destination, flow.destination_port)
        return (flow.source, -1), (flow.destination, -1)


@dataclass
class _Sides:
    """Hosts in groups with known relative sides: a forest. Its edges record whether the ends are on different sides."""

    above: dict[End, tuple[End, bool]] = field(default_factory=dict)

    def find(self, end: End) -> tuple[End, bool]:
        """Returns the root of an end, and whether the end is on the root's other side."""
        path, is_other = [], False
        while end in self.above:
            path.append(end)
            end, differs = self.above[end]
            is_other ^= differs
        rest = is_other
        for one in path:
            differs = self.above[one][1]
            self.above[one] = end, rest
            rest ^= differs
        return end, is_other

    def separate(self, one: End, other: End) -> None:
        """Puts two ends on different sides, if they are in different groups."""
        (root, is_other), (root_2, is_other_2) = self.find(one), self.find(other)
        if root != root_2:
            self.above[root_2] = root, not is_other ^ is_other_2


def find_reverse(crossings: Iterable[Crossing]) -> set[Flow]:
    """Returns the flows toward the near side; all others leave it."""
    found = sorted(crossings, key=lambda one: (-one.ip_bytes, one.first_ns, one.flow))
    sides, packets, peers = _Sides(), dict[End, int](), dict[End, set[End]]()
    for one in found:
        sender, receiver = one.ends
        sides.separate(sender, receiver)
        for end, peer in ((sender, receiver), (receiver, sender)):
            packets[end] = packets.get(end, 0) + one.packets
            peers.setdefault(end, set()).add(peer)
    first: dict[frozenset[End], Crossing] = {}
    for one in sorted(found, key=lambda one: one.first_ns):
        first.setdefault(frozenset(one.ends), one)
    near: dict[End, bool] = {}
    for end in sorted(packets, key=lambda end: (len(peers[end]) < 2, -packets[end], end)):
        root, is_other = sides.find(end)
        if root not in near:
            near[root] = is_other ^ (len(peers[end]) == 1 and _is_far(end, next(iter(peers[end])), first))
    reverse = set()
    for one in found:
        sender, receiver = one.ends
        root, is_other = sides.find(sender)
        if sides.find(receiver)[1] == is_other:
            leads = first[frozenset(one.ends)].ends[0] == sender
        else:
            leads = is_other == near[root]
        if not leads:
            reverse.add(one.flow)
    return reverse


def _is_far(end: End, peer: End, first: dict[frozenset[End], Crossing]) -> bool:
    """Whether the first of two hosts that talk with each other alone is on the far side."""
    private = [ipaddress.ip_address(one[0]).is_private for one in (end, peer)]
    if private[0] != private[1]:
        return private[1]
    return first[frozenset((end, peer))].ends[0] != end
