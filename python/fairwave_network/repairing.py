"""Repairs of a graph that describes a network and has faults of form, each with a sentence.

Graphs of the Topology Zoo name two nodes alike, join nodes by several edges or to themselves, have several pieces, and
lack positions. Fairwave repairs them and lists each change, or refuses the graph if the user wants it strictly.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairwave_network.units import error

if TYPE_CHECKING:
    from collections.abc import Iterable

STRICTLY = "or leave out strict, so that fairwave repairs it"

DELAY_S = 5e-3
"""Delay of links without a delay if no link of the graph has one †: 1000 km of fibre."""


@dataclass
class Repairs:
    """The changes to a graph while it is read.

    Attributes:
        name: Name of the graph in messages.
        place: Key of the topology in the scenario.
        strict: Whether the first fault is an error.
        changes: A sentence for each change.
    """

    name: str
    place: str
    strict: bool = False
    changes: list[str] = field(default_factory=list)

    def change(self, fault: str, change: str, remedy: str) -> None:
        """Notes a change.

        Args:
            fault: What is wrong in the file.
            change: What fairwave does about it.
            remedy: What the user can do in the file.

        Raises:
            fairwave.ScenarioError: The graph is read strictly.
        """
        if self.strict:
            raise error(self.place, f"in {self.name}, {fault}", f"{remedy}, {STRICTLY}")
        self.changes.append(f"{fault}: {change}")


def make_distinct(name: str, known: Iterable[str]) -> str:
    """Returns the name with the smallest number that makes it distinct."""
    taken = set(known)
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"


def find_pieces(nodes: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Returns the connected pieces of a graph, the largest first; those of one size in the order of the file."""
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    pieces, found = [], set()
    for node in near:
        if node in found:
            continue
        piece, waiting = [], [node]
        found.add(node)
        while waiting:
            here = waiting.pop()
            piece.append(here)
            for other in near[here]:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        pieces.append(piece)
    return sorted(pieces, key=len, reverse=True)


MOST_NAMES = 20
"""Largest number of names in a sentence about a change."""


def list_some(names: list[str], separator: str = ", ") -> str:
    """Joins names; of many, those that are left out are counted."""
    more = len(names) - MOST_NAMES
    return separator.join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def choose_delay(known: Iterable[float]) -> tuple[float, str]:
    """Returns the delay for links that have none, seconds, and its origin."""
    values = list(known)
    if values:
        return statistics.median(values), "the median of the other links"
    return DELAY_S, "fairwave's default, as no link has one"


def merge_edges(edges: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns rate (sum), delay and weight (smallest) of parallel edges with `rate_bps`, `delay_s`, `weight`."""
    delays = [edge["delay_s"] for edge in edges if edge["delay_s"] is not None]
    return {
        "rate_bps": sum(edge["rate_bps"] for edge in edges),
        "delay_s": min(delays) if delays else None,
        "weight": min(edge["weight"] for edge in edges),
    }
