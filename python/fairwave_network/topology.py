"""A topology: nodes with names and positions, links with rates and delays, checked.

| property of a link | first available source |
|---|---|
| rate | `[[link]]`, the edge's `rate` ("100 Mb/s"), its `rate_bps` or `LinkSpeedRaw` (bits per second), `[links]` |
| delay | `[[link]]`, the edge's `delay` ("5 ms") or `delay_ms`, `[links]`, its `dist` (km), the positions of its ends |
| weight | the edge's `weight` |

**Assumptions.** Light in a fibre takes 5 µs for a kilometre (refractive index 1.5). Positions are degrees of longitude
and latitude if the attributes have such names (`Longitude`, `lon`, TopoHub's `pos`). A distance is the great circle's
on a sphere of 6371 km, and a fibre has that length †.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fairwave.extras import need
from fairwave_network import units
from fairwave_network.units import error

if TYPE_CHECKING:
    import networkx as nx

PER_KM = 5e-6
"""Propagation in fibre, seconds per kilometre."""

EARTH_KM = 6371.0

POSITIONS = (("Longitude", "Latitude"), ("longitude", "latitude"), ("lon", "lat"))
"""Attributes that contain degrees."""

OF_A_LINK = ("rate", "rate_bps", "LinkSpeedRaw", "delay", "delay_ms", "dist", "weight")
"""Attributes of an edge that are read."""


@dataclass(frozen=True)
class Node:
    """A node.

    Attributes:
        name: Name in the scenario language: letters, digits, `-`.
        label: Name in the file.
        place: Longitude and latitude in degrees; None if the file has none.
        values: Its numeric attributes, for weights of a gravity model.
    """

    name: str
    label: str
    place: tuple[float, float] | None
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Link:
    """A link in both directions.

    Attributes:
        ends: Names of its nodes.
        rate_bps: Bits per second.
        delay_s: Propagation, seconds.
        weight: For routes by weight.
        direction: Further keys of the scenario for it: `queue`, `loss`.
    """

    ends: tuple[str, str]
    rate_bps: float
    delay_s: float
    weight: float = 1.0
    direction: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of its forward direction, as in results."""
        return f"{self.ends[0]}>{self.ends[1]}"


@dataclass(frozen=True)
class Topology:
    """Nodes and links.

    Attributes:
        name: Name in messages.
        nodes: By name.
        links: In the order of the file.
        demands: The demands in the file, by names of nodes; None if it has none.
    """

    name: str
    nodes: dict[str, Node]
    links: list[Link]
    demands: dict[tuple[str, str], float] | None = None

    def find_link(self, one: str, other: str) -> Link | None:
        """Returns the link between two nodes."""
        ends = {one, other}
        return next((link for link in self.links if set(link.ends) == ends), None)

    def find(self, name: Any, place: str) -> str:
        """Returns the name of a node that a scenario refers to by name or label.

        Raises:
            fairwave.ScenarioError: There is no such node.
        """
        if name in self.nodes:
            return str(name)
        for node in self.nodes.values():
            if node.label == str(name):
                return node.name
        from difflib import get_close_matches

        near = get_close_matches(str(name), self.nodes, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(list(self.nodes)[:8])} …"
        raise error(place, f"{self.name} has no node {name!r:.60}", hint)


def slug(text: str) -> str:
    """Converts a name to the form that the scenario language accepts."""
    return re.sub(r"[^\w]+|_+", "-", text.strip()).strip("-") or "node"


def from_graph(graph: nx.Graph, name: str, common: dict[str, Any], place: str) -> Topology:
    """Builds the topology of a graph.

    Args:
        graph: The graph as read.
        name: Name in messages.
        common: `[links]` of the scenario.
        place: Key of the topology in the scenario.

    Raises:
        fairwave.ScenarioError: The graph is not connected, has loops, parallel edges or duplicate names, or lacks a
            required property of a link.
    """
    nodes, names = _nodes(graph, name, place)
    links: list[Link] = []
    seen: dict[frozenset[str], dict[str, Any]] = {}
    for from_, to, data in graph.edges(data=True):
        ends = (names[from_], names[to])
        words = f"the edge between {nodes[ends[0]].label!r} and {nodes[ends[1]].label!r}"
        if ends[0] == ends[1]:
            raise error(place, f"in {name}, {nodes[ends[0]].label!r} is joined to itself", "remove that edge")
        pair = frozenset(ends)
        if pair in seen:
            if graph.is_directed() and not graph.is_multigraph() and _alike(seen[pair], data):
                continue  # The opposite direction of the same link.
            labels = " and ".join(repr(nodes[end].label) for end in ends)
            raise error(
                place, f"in {name}, {labels} are joined by more than one edge",
                "join them by one edge with the sum of the rates, as routes and results name a link by its ends",
            )  # fmt: skip
        seen[pair] = data
        links.append(_link(ends, data, nodes, common, name, words, place))
    if len(nodes) < 2 or not links:
        raise error(
            place,
            f"{name} has {len(nodes)} nodes and {len(links)} edges",
            "a network has two nodes and an edge or more",
        )
    _check_whole(graph, nodes, names, name, place)
    return Topology(name, nodes, links, _own_demands(graph, names))


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two directions have the same rate, delay and weight."""
    return all(one.get(key) == other.get(key) for key in OF_A_LINK)


def _nodes(graph: nx.Graph, name: str, place: str) -> tuple[dict[str, Node], dict[Any, str]]:
    nodes: dict[str, Node] = {}
    names: dict[Any, str] = {}
    for key, data in graph.nodes(data=True):
        label = str(data.get("label") or data.get("name") or key)
        short = slug(label)
        if short in nodes:
            raise error(
                place, f"in {name}, two nodes are called {label!r}" if nodes[short].label == label
                else f"in {name}, the nodes {nodes[short].label!r} and {label!r} are both {short!r} without signs",
                "give every node a `label` of its own",
            )  # fmt: skip
        values = {
            str(what): float(value) for what, value in data.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        }  # fmt: skip
        nodes[short] = Node(short, label, _place(data), values)
        names[key] = short
    return nodes, names


def _place(data: dict[str, Any]) -> tuple[float, float] | None:
    found = data.get("pos")
    if isinstance(found, (list, tuple)) and len(found) == 2:
        x, y = found
    else:
        pair = next((pair for pair in POSITIONS if all(one in data for one in pair)), None)
        if pair is None:
            return None
        x, y = data[pair[0]], data[pair[1]]
    try:
        place = float(x), float(y)
    except (TypeError, ValueError):
        return None
    return place if all(map(math.isfinite, place)) else None


def kilometres(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Returns the great-circle distance between two points in degrees (haversine formula)."""
    (lon1, lat1), (lon2, lat2) = ([math.radians(value) for value in place] for place in (one, other))
    half = (
        math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    )
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(half)))


def _link(
    ends: tuple[str, str], data: dict[str, Any], nodes: dict[str, Node], common: dict[str, Any], name: str, words: str,
    place: str,
) -> Link:  # fmt: skip
    at = f"{place}, {words} in {name}"
    number = {
        key: float(value)
        for key, value in data.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    if "rate" in data:
        rate = units.rate(data["rate"], f"{at}: rate")
    elif (bits := number.get("rate_bps", number.get("LinkSpeedRaw", 0.0))) > 0:
        rate = units.checked_rate(bits, f"{at}: rate")
    elif "rate" in common:
        rate = units.rate(common["rate"], "links.rate")
    else:
        raise error(at, "it has no `rate`", 'write under [links] for example rate = "100 Mb/s"')
    if "delay" in data:
        delay = units.span(data["delay"], f"{at}: delay")
    elif number.get("delay_ms", -1.0) >= 0:
        delay = number["delay_ms"] / 1e3
    elif "delay" in common:
        delay = units.span(common["delay"], "links.delay")
    elif number.get("dist", -1.0) >= 0:
        delay = number["dist"] * PER_KM
    else:
        delay = PER_KM * _distance(ends, nodes, at)
    weight = number.get("weight", 1.0)
    if not (math.isfinite(weight) and weight > 0):
        raise error(at, f"its weight is {weight:g}", "a weight is a number above 0")
    units.checked_span(delay, f"{at}: delay")
    return Link(ends, rate, delay, weight)


def _distance(ends: tuple[str, str], nodes: dict[str, Node], at: str) -> float:
    places = [nodes[end].place for end in ends]
    for end, found in zip(ends, places, strict=True):
        if found is None:
            raise error(
                at, f"it has neither `delay` nor `dist`, and {nodes[end].label!r} has no position from which "
                "they follow",
                'write under [links] for example delay = "5 ms", or give nodes `Longitude` and `Latitude`',
            )  # fmt: skip
    one, other = places
    assert one is not None
    assert other is not None
    return kilometres(one, other)


def _check_whole(
    graph: nx.Graph, nodes: dict[str, Node], names: dict[Any, str], name: str, place: str
) -> None:
    nx = need("networkx", "network")
    pieces = list(
        nx.weakly_connected_components(graph) if graph.is_directed() else nx.connected_components(graph)
    )
    if len(pieces) > 1:
        least = min(pieces, key=len)
        more = " …" if len(least) > 5 else ""
        shown = ", ".join(sorted(repr(nodes[names[one]].label) for one in least)[:5])
        raise error(
            place, f"{name} is in {len(pieces)} pieces: no path leads from {shown}{more} to the rest",
            "add the edges that are missing, or remove those nodes",
        )  # fmt: skip


def _own_demands(graph: nx.Graph, names: dict[Any, str]) -> dict[tuple[str, str], float] | None:
    """Reads the demands of an SNDlib network in TopoHub's form: node to node to amount."""
    given = graph.graph.get("demands")
    if not isinstance(given, dict) or not given:
        return None
    found = {}
    by_text = {str(key): value for key, value in names.items()}
    for from_, row in given.items():
        for to, amount in row.items() if isinstance(row, dict) else ():
            pair = by_text.get(str(from_)), by_text.get(str(to))
            if pair[0] and pair[1] and pair[0] != pair[1] and amount > 0:
                found[pair[0], pair[1]] = float(amount)
    return found or None


def with_links(topology: Topology, tables: list[dict[str, Any]]) -> Topology:
    """Applies each `[[link]]` table to the link `between` its two nodes."""
    links = list(topology.links)
    for number, table in enumerate(tables):
        at = f"link[{number}]"
        ends = table.get("between")
        if not isinstance(ends, list) or len(ends) != 2:
            raise error(
                f"{at}.between",
                "it does not name two nodes",
                'write for example between = ["Berlin", "Hamburg"]',
            )
        one, other = (topology.find(end, f"{at}.between") for end in ends)
        link = topology.find_link(one, other)
        if link is None:
            raise error(
                f"{at}.between",
                f"no link joins {one!r} and {other!r}",
                "name the ends of a link of the topology",
            )
        rest = {key: value for key, value in table.items() if key not in ("between", "rate", "delay")}
        changed = replace(
            link,
            rate_bps=units.rate(table["rate"], f"{at}.rate") if "rate" in table else link.rate_bps,
            delay_s=units.span(table["delay"], f"{at}.delay") if "delay" in table else link.delay_s,
            direction={**link.direction, **rest},
        )
        links[topology.links.index(link)] = changed
        topology = replace(topology, links=list(links))
    return topology
