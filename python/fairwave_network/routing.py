"""Routes: shortest by delay, weight or hops; with equal-cost multipath (ECMP) each flow takes one of the shortest.

At each node an equal share of the flows takes each next hop of a shortest path, as routers with ECMP do. A path's share
is the product of these shares. Without ECMP the path is the first in the order of names of nodes.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairwave_network.topology import Link, Topology

MOST_PATHS = 8
"""Number of paths of equal cost that are used, those with the largest shares."""

Path = tuple[str, ...]


def cost(link: Link, by: str) -> int:
    """Returns a link's cost as an integer, so that equal costs are equal: nanoseconds or millionths of a weight.

    By hops, the delay breaks ties, as in the scenario language: a hop counts 1000 s.
    """
    if by == "hops":
        return 10**12 + round(link.delay_s * 1e9)
    return round(link.weight * 1e6) if by == "weight" else max(1, round(link.delay_s * 1e9))


class Routes:
    """Finds paths in a topology.

    Args:
        topology: The network.
        by: `delay`, `weight`, or `hops`: the fewest hops, and among those the least delay.
        ecmp: Whether flows spread over all shortest paths.
    """

    def __init__(self, topology: Topology, by: str = "delay", *, ecmp: bool = False) -> None:
        self._ecmp = ecmp
        self._near: dict[str, list[tuple[str, int]]] = {node: [] for node in topology.nodes}
        for link in topology.links:
            one, other = link.ends
            self._near[one].append((other, cost(link, by)))
            self._near[other].append((one, cost(link, by)))
        for several in self._near.values():
            several.sort()
        self._to: dict[str, dict[str, int]] = {}

    def _distances(self, to: str) -> dict[str, int]:
        """Returns the cost from every node to this one (Dijkstra)."""
        if to not in self._to:
            best = {to: 0}
            open_ = [(0, to)]
            while open_:
                here, node = heapq.heappop(open_)
                if here > best[node]:
                    continue
                for near, more in self._near[node]:
                    if here + more < best.get(near, here + more + 1):
                        best[near] = here + more
                        heapq.heappush(open_, (here + more, near))
            self._to[to] = best
        return self._to[to]

    def paths(self, from_: str, to: str) -> list[tuple[Path, float]]:
        """Returns the paths between two nodes, each with its share of the flows; empty if there is none."""
        left = self._distances(to)
        if from_ not in left:
            return []
        open_: list[tuple[Path, float]] = [((from_,), 1.0)]
        found: list[tuple[Path, float]] = []
        while open_:
            path, share = open_.pop(0)
            here = path[-1]
            if here == to:
                found.append((path, share))
                continue
            nexts = [near for near, more in self._near[here] if left[near] + more == left[here]]
            nexts = nexts if self._ecmp else nexts[:1]
            open_ += [((*path, near), share / len(nexts)) for near in nexts]
            open_.sort(key=lambda one: (-one[1], one[0]))
            del open_[MOST_PATHS * 4 :]
        found.sort(key=lambda one: (-one[1], one[0]))
        kept = found[:MOST_PATHS]
        total = sum(share for _, share in kept)
        return [(path, share / total) for path, share in kept]
