"""A topology: nodes with names and positions, links with rates and delays, checked.

The first available source counts:

- rate: `[[link]]`, the edge's `rate` ("100 Mb/s"), its `rate_bps` or `LinkSpeedRaw` (bits per second), its texts such
  as `LinkLabel` (`speeds`), `[links]`;
- delay: `[[link]]`, the edge's `delay` ("5 ms") or `delay_ms`, `[links]`, its `dist` (km), the positions of its ends,
  the median of the other links (`repairing`);
- weight: the edge's `weight`.

**Assumptions.** Light in a fibre takes 5 µs for a kilometre (refractive index 1.5). Positions are degrees of longitude
and latitude if the attributes have such names (`Longitude`, `lon`, TopoHub's `pos`). A distance is the great circle's
on a sphere of 6371 km, and a fibre has that length †.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fairwave.advice import rate_in_words
from fairwave_network import units
from fairwave_network.repairing import (
    Repairs,
    choose_delay,
    find_pieces,
    list_some,
    make_distinct,
    merge_edges,
)
from fairwave_network.speeds import read_described_rate
from fairwave_network.units import error

if TYPE_CHECKING:
    import networkx as nx

PER_KM = 5e-6
"""Propagation in fibre, seconds per kilometre."""

EARTH_KM = 6371.0

POSITIONS = (("Longitude", "Latitude"), ("longitude", "latitude"), ("lon", "lat"))
"""Attributes that contain degrees."""


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
        changes: A sentence for each change to the graph of the file.
    """

    name: str
    nodes: dict[str, Node]
    links: list[Link]
    demands: dict[tuple[str, str], float] | None = None
    changes: tuple[str, ...] = ()

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


def from_graph(
    graph: nx.Graph, name: str, common: dict[str, Any], place: str, *, strict: bool = False
) -> Topology:
    """Builds the topology of a graph, and repairs its faults of form.

    Args:
        graph: The graph as read.
        name: Name in messages.
        common: `[links]` of the scenario.
        place: Key of the topology in the scenario.
        strict: Whether a fault is an error instead of a change.

    Raises:
        fairwave.ScenarioError: The graph lacks a required property of a link, has no link, or has a fault and is read
            strictly.
    """
    repairs = Repairs(name, place, strict)
    nodes, names = _nodes(graph, repairs)
    edges = _join_edges(graph, nodes, names, repairs)
    _keep_largest(nodes, edges, repairs)
    if len(nodes) < 2 or not edges:
        raise error(
            place,
            f"{name} has {len(nodes)} nodes and {len(edges)} edges",
            "a network has two nodes and an edge or more",
        )
    links = _links(edges, nodes, common, repairs)
    kept = {key: node for key, node in names.items() if node in nodes}
    return Topology(name, nodes, links, _own_demands(graph, kept), tuple(repairs.changes))


def _quoted(nodes: dict[str, Node], ends: tuple[str, str]) -> str:
    return " and ".join(repr(nodes[end].label) for end in ends)


def _join_edges(
    graph: nx.Graph, nodes: dict[str, Node], names: dict[Any, str], repairs: Repairs
) -> dict[tuple[str, str], list[tuple[bool, dict[str, Any]]]]:
    """Returns the edges of each link: by its ends, whether they lead from the first to the second, and attributes."""
    found: dict[tuple[str, str], list[tuple[bool, dict[str, Any]]]] = {}
    for from_, to, data in graph.edges(data=True):
        ends = (names[from_], names[to])
        if ends[0] == ends[1]:
            repairs.change(
                f"{nodes[ends[0]].label!r} is joined to itself", "that edge is left out", "remove that edge"
            )
            continue
        forward = ends[::-1] not in found
        found.setdefault(ends if forward else ends[::-1], []).append(
            (forward or not graph.is_directed(), data)
        )
    return found


def _keep_largest(
    nodes: dict[str, Node], edges: dict[tuple[str, str], list[tuple[bool, dict[str, Any]]]], repairs: Repairs
) -> None:
    """Removes all pieces but the largest."""
    pieces = find_pieces(nodes, edges)
    for least in reversed(pieces[1:]):
        shown = list_some(sorted(repr(nodes[one].label) for one in least))
        repairs.change(
            f"the graph is in {len(pieces)} pieces: no path leads from {shown} to the rest",
            "they are left out",
            "add the edges that are missing, or remove those nodes",
        )
    for node in {one for piece in pieces[1:] for one in piece}:
        del nodes[node]
    for ends in [ends for ends in edges if ends[0] not in nodes]:
        del edges[ends]


def _nodes(graph: nx.Graph, repairs: Repairs) -> tuple[dict[str, Node], dict[Any, str]]:
    nodes: dict[str, Node] = {}
    names: dict[Any, str] = {}
    for key, data in graph.nodes(data=True):
        label = str(data.get("label") or data.get("name") or key)
        short = slug(label)
        if short in nodes:
            fault = (
                f"two nodes are called {label!r}" if nodes[short].label == label
                else f"the nodes {nodes[short].label!r} and {label!r} are both {short!r} without signs"
            )  # fmt: skip
            short = make_distinct(short, nodes)
            repairs.change(fault, f"the second is {short!r}", "give every node a `label` of its own")
            label = f"{label} ({short})"
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


def _links(
    edges: dict[tuple[str, str], list[tuple[bool, dict[str, Any]]]], nodes: dict[str, Node], common: dict[str, Any],
    repairs: Repairs,
) -> list[Link]:  # fmt: skip
    """Returns the link between each pair of joined nodes."""
    found = {}
    described: dict[str, list[str]] = {}
    for ends, several in edges.items():
        at = f"{repairs.place}, the edge between {_quoted(nodes, ends)} in {repairs.name}"
        values = [(forward, _values(ends, data, nodes, common, at, described)) for forward, data in several]
        ways = [[one for forward, one in values if forward is way] for way in (True, False)]
        for way in ways:
            if len(way) > 1:
                repairs.change(
                    f"{_quoted(nodes, ends)} are joined by more than one edge",
                    f"one link has the rates of all {len(way)} together, and the shortest delay",
                    "join them by one edge with the sum of the rates, as routes and results name a link by its ends",
                )
        one, *other = [merge_edges(way) for way in ways if way]
        if other and one != other[0]:
            repairs.change(
                f"{_quoted(nodes, ends)} are joined by more than one edge, with different values for both directions",
                "both directions have the lower rate and the longer delay",
                "join them by one edge with the values of both directions",
            )
            delays = [way["delay_s"] for way in (one, *other) if way["delay_s"] is not None]
            one = {
                "rate_bps": min(one["rate_bps"], other[0]["rate_bps"]),
                "delay_s": max(delays) if delays else None,
                "weight": max(one["weight"], other[0]["weight"]),
            }
        found[ends] = one
    for source, links in described.items():
        repairs.change(
            f"the rate of {list_some(links)} is only described",
            source,
            "write `rate` or `LinkSpeedRaw` at each edge",
        )
    _add_delays(found, nodes, repairs)
    return [Link(ends, one["rate_bps"], one["delay_s"], one["weight"]) for ends, one in found.items()]


def _add_delays(
    found: dict[tuple[str, str], dict[str, Any]], nodes: dict[str, Node], repairs: Repairs
) -> None:
    """Adds delays of links whose nodes have no position."""
    delay, origin = choose_delay(one["delay_s"] for one in found.values() if one["delay_s"] is not None)
    without = [ends for ends, one in found.items() if one["delay_s"] is None]
    if not without:
        return
    end = next(end for end in without[0] if nodes[end].place is None)
    edges = list_some([_quoted(nodes, ends) for ends in without], "; ")
    repairs.change(
        f"no `delay` and no `dist` at the edge between {edges}, and {nodes[end].label!r} has no position from which "
        "they follow",
        f"the delay is {delay * 1e3:.3g} ms, {origin}",
        'write under [links] for example delay = "5 ms", or give nodes `Longitude` and `Latitude`',
    )
    for ends in without:
        found[ends]["delay_s"] = delay


def _values(
    ends: tuple[str, str], data: dict[str, Any], nodes: dict[str, Node], common: dict[str, Any], at: str,
    described: dict[str, list[str]],
) -> dict[str, Any]:  # fmt: skip
    """Returns `rate_bps`, `delay_s` (None if unknown) and `weight` of an edge.

    Args:
        ends: Names of its nodes.
        data: Its attributes.
        nodes: All nodes.
        common: `[links]` of the scenario.
        at: Place for messages.
        described: Receives the link if its rate follows from a text, by the sentence about the text.
    """
    number = {
        key: float(value)
        for key, value in data.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    if "rate" in data:
        rate = units.rate(data["rate"], f"{at}: rate")
    elif (bits := number.get("rate_bps", number.get("LinkSpeedRaw", 0.0))) > 0:
        rate = units.checked_rate(bits, f"{at}: rate")
    elif (text := read_described_rate(data)) is not None:
        rate = units.checked_rate(text[0], f"{at}: rate")
        source = f"{text[1]} is read as {rate_in_words(rate)}"
        described.setdefault(source, []).append(f"{nodes[ends[0]].label!r} to {nodes[ends[1]].label!r}")
    elif "rate" in common:
        rate = units.rate(common["rate"], "links.rate")
    else:
        raise error(at, "it has no `rate`", 'write under [links] for example rate = "100 Mb/s"')
    delay: float | None
    if "delay" in data:
        delay = units.span(data["delay"], f"{at}: delay")
    elif number.get("delay_ms", -1.0) >= 0:
        delay = number["delay_ms"] / 1e3
    elif "delay" in common:
        delay = units.span(common["delay"], "links.delay")
    elif number.get("dist", -1.0) >= 0:
        delay = number["dist"] * PER_KM
    else:
        one, other = (nodes[end].place for end in ends)
        delay = None if one is None or other is None else PER_KM * kilometres(one, other)
    weight = number.get("weight", 1.0)
    if not (math.isfinite(weight) and weight > 0):
        raise error(at, f"its weight is {weight:g}", "a weight is a number above 0")
    if delay is not None:
        units.checked_span(delay, f"{at}: delay")
    return {"rate_bps": rate, "delay_s": delay, "weight": weight}


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
