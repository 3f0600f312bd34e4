"""A network's file: topology, demands and mixes become an explicit scenario, which the scenario language checks.

The file is TOML or JSON. Its `topology` names a file or a topology of TopoHub; `docs/networks.md` has all keys. Every
demand becomes one flow group for each kind of traffic and path, called `KIND_FROM_TO` (with `_2` and so on for further
paths of equal cost). So a run's results include tables per pair.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import ScenarioError
from fairwave.file_kinds import described
from fairwave.foreign import gated
from fairwave.scenario import Scenario, plain, text_of
from fairwave_network import demands, mixes, reading, units
from fairwave_network import topology as topologies
from fairwave_network.routing import MOST_PATHS, Routes
from fairwave_network.units import error

if TYPE_CHECKING:
    from fairwave_network.mixes import Mix
    from fairwave_network.routing import Path as Way
    from fairwave_network.topology import Link, Topology

KEYS: dict[str, tuple[str, ...] | None] = {
    "version": None, "name": None, "description": None, "duration": None, "warmup": None, "seed": None,
    "preset": None, "hosts": None, "record": None, "topology": ("file", "topohub", "strict"), "links": None,
    "link": None, "access": None, "routing": ("by", "ecmp", "rerouting"),
    "demands": ("matrix", "weights", "pairs", "load", "busiest"), "mix": None, "failure": None,
}  # fmt: skip
"""Keys of a network's file, and keys of those tables that the scenario language does not have."""

COMMON = ("version", "name", "description", "duration", "warmup", "seed", "preset", "hosts", "record")
"""Keys that a network passes to its explicit scenario."""

REROUTING = "1 s"
"""Time until routes avoid a failed link †."""

LAN = "-lan"
"""Suffix of the hosts of a node with an access link: `Berlin-lan`."""


@dataclass(frozen=True)
class Group:
    """The flows of one kind of traffic between one pair of nodes on one path.

    Attributes:
        mix: The kind of traffic.
        pair: From and to.
        path: The nodes, both ends included.
        per_second: Arrivals per second.
    """

    mix: Mix
    pair: tuple[str, str]
    path: Way
    per_second: float

    @property
    def offered_bps(self) -> float:
        """Mean rate on the wire, bits per second."""
        return self.mix.offered(self.per_second)

    @property
    def busy(self) -> float:
        """Mean number of its flows at once (Erlang); for downloads, arrivals per second."""
        return self.per_second * (self.mix.lasts_s or 1.0)


@dataclass(frozen=True)
class Network:
    """A network that can be run.

    Attributes:
        name: Its name.
        topology: Nodes and links.
        groups: Flow groups by name.
        has_access: Whether the hosts of a node are behind an access link.
        text: The file's text.
        table: The file as plain data.
        written: An explicit scenario that replaces the one derived from the other attributes.
    """

    name: str
    topology: Topology
    groups: dict[str, Group]
    has_access: bool
    text: str
    table: dict[str, Any]
    written: Scenario | None = None

    @cached_property
    def scenario(self) -> Scenario:
        """The explicit scenario.

        Raises:
            fairwave.ScenarioError: A link or a kind of traffic is wrong, or there are too many flows to run at once.
        """
        if self.written is not None:
            return self.written
        try:
            return Scenario.from_dict(_explicit(self.table, self.topology, self.groups, self.has_access))
        except ScenarioError as found:
            raise units.reword_error(found, lambda place: _own_place(place, self)) from None

    def try_scenario(self) -> Scenario | None:
        """Returns the explicit scenario, or None if the network is too large to run as a whole."""
        try:
            return self.scenario
        except ScenarioError:
            return None

    def crossed_links(self, group: Group) -> list[str]:
        """Returns the names of the link directions on the path of a group's data, in order."""
        return crossed_links(group.path, has_access=self.has_access)

    def offered(self) -> dict[str, float]:
        """Returns the offered load of each link direction, bits per second on the wire."""
        found = {f"{a}>{b}": 0.0 for link in self.topology.links for a, b in (link.ends, link.ends[::-1])}
        for group in self.groups.values():
            for link in self.crossed_links(group):
                found[link] = found.get(link, 0.0) + group.offered_bps
        return found

    def rates(self) -> dict[str, float]:
        """The rate of each link direction between nodes, bits per second."""
        found = {}
        for link in self.topology.links:
            one, other = link.ends
            found[f"{one}>{other}"] = found[f"{other}>{one}"] = link.rate_bps
        if self.has_access:
            access = units.rate(self.table["access"]["rate"], "access.rate")
            for node in self.topology.nodes:
                found[f"{node}{LAN}>{node}"] = found[f"{node}>{node}{LAN}"] = access
        return found

    def delays(self) -> dict[str, float]:
        """Returns the propagation delay of each link direction, seconds."""
        found = {
            f"{a}>{b}": link.delay_s for link in self.topology.links for a, b in (link.ends, link.ends[::-1])
        }
        if self.has_access:
            access = units.span(self.table["access"]["delay"], "access.delay")
            for node in self.topology.nodes:
                found[f"{node}{LAN}>{node}"] = found[f"{node}>{node}{LAN}"] = access
        return found

    def measured_s(self) -> tuple[float, float]:
        """Returns the measured time and the warm-up before it, seconds."""
        before = units.span(self.table.get("warmup", "0 s"), "warmup")
        return units.span(self.table["duration"], "duration") - before, before


def crossed_links(path: Way, *, has_access: bool) -> list[str]:
    """Returns the names of the link directions of a path."""
    nodes = [f"{path[0]}{LAN}", *path, f"{path[-1]}{LAN}"] if has_access else list(path)
    return [f"{one}>{other}" for one, other in itertools.pairwise(nodes)]


def is_network(table: Any) -> bool:
    """Whether a scenario's plain data is a network's file."""
    topology = table.get("topology") if isinstance(table, dict) else None
    return isinstance(topology, dict) and ("file" in topology or "topohub" in topology)


def parse(content: str) -> dict[str, Any]:
    """Parses the file's text as plain data. Empty if it is neither TOML nor JSON."""
    return plain(content)


@gated("network", ScenarioError)
def load(path: str | Path, *, as_whole: bool = True, strict: bool = False) -> Network:
    """Reads a network's file; `as_whole` and `strict` as for `parse_table`.

    Raises:
        FileNotFoundError: The file does not exist.
        fairwave.ScenarioError: The file is not a network or has an error. The message states place and remedy.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"no network's file {str(path)!r}: give the path of a .toml or .json file")
    with Path(path).open("rb") as file:
        text = text_of(file, str(path))
    return parse_text(text, Path(path).parent, str(path), as_whole=as_whole, strict=strict)


def parse_text(text: str, folder: Path, name: str, *, as_whole: bool = True, strict: bool = False) -> Network:
    """Reads a network from a file's text. `folder` is the base of file names in it."""
    table = parse(text)
    if not is_network(table):
        if said := described(text.encode(), name, "a network"):
            raise ScenarioError(f"error: {said}")
        raise error(
            name, "it names no topology",
            'write topology = { topohub = "sndlib/germany50" }, or topology = { file = "net.graphml" }',
        )  # fmt: skip
    return parse_table(table, folder, text, as_whole=as_whole, strict=strict)


def parse_table(
    table: dict[str, Any], folder: Path, text: str = "", *, as_whole: bool = True, strict: bool = False
) -> Network:
    """Reads a network from plain data in the shape of its TOML.

    Args:
        table: The data.
        folder: Base of file names in the data.
        text: The file's text, for pages.
        as_whole: Whether it will run as a whole. If so, the explicit scenario is checked immediately.
        strict: Whether a fault of the topology is an error; `topology.strict` has the same effect.

    Raises:
        fairwave.ScenarioError: The data has an error. The message states place and remedy.
    """
    _check_keys(table)
    topology = _topology(table, folder, strict=strict)
    matrix = demands.matrix(topology, table.get("demands", {}), folder)
    kinds = mixes.read(table.get("mix"))
    routing = table.get("routing", {})
    by = routing.get("by", "delay")
    if by not in ("delay", "weight", "hops"):
        raise error("routing.by", f"{by!r:.40} is no measure of a path", 'write "delay", "weight" or "hops"')
    if not isinstance(routing.get("ecmp", False), bool):
        raise error("routing.ecmp", "it is neither true nor false", "write ecmp = true")
    routes = Routes(topology, by, ecmp=routing.get("ecmp", False))
    has_access = "access" in table
    if has_access and not {"rate", "delay"} <= set(table["access"]):
        raise error(
            "access", "it lacks `rate` or `delay`", 'write access = { rate = "1 Gb/s", delay = "1 ms" }'
        )
    ways = {pair: routes.paths(*pair) for pair in matrix}
    rates = _arrivals(table.get("demands", {}), matrix, kinds, ways, topology)
    groups: dict[str, Group] = {}
    for mix in kinds:
        for pair, paths in ways.items():
            for number, (path, share) in enumerate(paths, 1):
                per_second = rates.get((mix.name, pair), 0.0) * share
                if per_second > 0:
                    suffix = f"_{number}" if number > 1 else ""
                    groups[f"{mix.name}_{pair[0]}_{pair[1]}{suffix}"] = Group(mix, pair, path, per_second)
    if not groups:
        raise error(
            "demands",
            "nothing is offered",
            'write a load above 0, load = "1 Gb/s", and a mix with a share above 0',
        )
    name = str(table.get("name", topologies.slug(topology.name)))
    failures(table, topology)
    network = Network(name, topology, groups, has_access, text, table)
    if as_whole:
        _ = network.scenario
    return network


def _check_keys(table: dict[str, Any]) -> None:
    from difflib import get_close_matches

    for key, value in table.items():
        if key not in KEYS:
            near = get_close_matches(key, KEYS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"a network has {', '.join(KEYS)}"
            raise error(key, "there is no such key in a network's file", hint)
        if (known := KEYS[key]) is None:
            continue
        if not isinstance(value, dict):
            raise error(key, "it is no table", f"its keys are {', '.join(known)}")
        for one in value:
            if one not in known:
                raise error(f"{key}.{one}", "there is no such key", f"{key} has {', '.join(known)}")
    for key in ("links", "access"):
        if not isinstance(table.get(key, {}), dict):
            raise error(key, "it is no table", f'write [{key}] and beneath it rate = "100 Mb/s"')
    for key in ("link", "failure"):
        if not isinstance(table.get(key, []), list) or not all(
            isinstance(one, dict) for one in table.get(key, [])
        ):
            raise error(key, "it is no list of tables", f"write [[{key}]] and beneath it its keys")


def _topology(table: dict[str, Any], folder: Path, *, strict: bool) -> Topology:
    given, common = table["topology"], table.get("links", {})
    if ("file" in given) == ("topohub" in given):
        raise error("topology", "it names both a file and a topology of TopoHub", "write one of the two")
    key = "file" if "file" in given else "topohub"
    if not isinstance(given[key], str):
        raise error(f"topology.{key}", "it is no text", 'write for example topohub = "sndlib/germany50"')
    place = f"topology.{key}"
    graph = (
        reading.from_file(folder / given[key], place)
        if key == "file"
        else reading.from_topohub(given[key], place)
    )
    if not isinstance(given.get("strict", False), bool):
        raise error("topology.strict", "it is neither true nor false", "write strict = true")
    topology = topologies.from_graph(
        graph, given[key], common, place, strict=strict or given.get("strict", False)
    )
    return topologies.with_links(topology, table.get("link", []))


def _arrivals(
    table: dict[str, Any], matrix: demands.Matrix, kinds: list[Mix], ways: dict[tuple[str, str], Any],
    topology: Topology,
) -> dict[tuple[str, tuple[str, str]], float]:  # fmt: skip
    """Returns the arrivals per second of each kind of traffic and pair, scaled to the load."""
    total = sum(matrix.values())
    shares = sum(mix.share or 0.0 for mix in kinds)
    found: dict[tuple[str, tuple[str, str]], float] = {}
    for mix in kinds:
        if mix.busy is not None:
            whole = mix.busy / (mix.lasts_s or 1.0)
            found |= {(mix.name, pair): whole * amount / total for pair, amount in matrix.items()}
    if shares <= 0:
        return found
    if ("load" in table) == ("busiest" in table):
        raise error(
            "demands", "either `load` or `busiest` says how much traffic there is",
            'write load = "2 Gb/s" for all pairs together, or busiest = "80 %" of the most loaded link',
        )  # fmt: skip
    load = units.rate(table["load"], "demands.load") if "load" in table else None
    if load is None:
        load = _load_of_busiest(
            units.share(table["busiest"], "demands.busiest"), matrix, kinds, ways, topology, found
        )
    for mix in kinds:
        if mix.share is not None:
            whole = mix.arrival_rate(load * mix.share / shares)
            found |= {(mix.name, pair): whole * amount / total for pair, amount in matrix.items()}
    return found


def _load_of_busiest(
    share: float, matrix: demands.Matrix, kinds: list[Mix], ways: dict[tuple[str, str], Any], topology: Topology,
    fixed: dict[tuple[str, tuple[str, str]], float],
) -> float:  # fmt: skip
    """Returns the load at which the most loaded link is offered this share of its rate."""
    total = sum(matrix.values())
    rates = {frozenset(link.ends): link.rate_bps for link in topology.links}
    growing: dict[tuple[str, str], float] = {}
    there: dict[tuple[str, str], float] = {}
    for pair, amount in matrix.items():
        already = sum(mix.offered(fixed[mix.name, pair]) for mix in kinds if (mix.name, pair) in fixed)
        for path, part in ways[pair]:
            for hop in itertools.pairwise(path):
                growing[hop] = growing.get(hop, 0.0) + amount / total * part
                there[hop] = there.get(hop, 0.0) + already * part
    load = min((share * rates[frozenset(hop)] - there[hop]) / part for hop, part in growing.items())
    if load <= 0:
        raise error(
            "demands.busiest", f"traffic with `busy` alone offers a link more than {share:.0%} of its rate",
            "write a larger share, or fewer flows under `busy`",
        )  # fmt: skip
    return load


def _explicit(
    table: dict[str, Any], topology: Topology, groups: dict[str, Group], has_access: bool
) -> dict[str, Any]:
    """Returns the explicit scenario's plain data."""
    common = {key: value for key, value in table.get("links", {}).items() if key not in ("rate", "delay")}
    frame: dict[str, Any] = {key: table[key] for key in COMMON if key in table}
    frame.setdefault("name", topologies.slug(topology.name))
    links = [
        {
            "from": link.ends[0], "to": link.ends[1], "rate": units.rate_text(link.rate_bps),
            "delay": units.span_text(link.delay_s), **common, **link.direction,
        }
        for link in topology.links
    ]  # fmt: skip
    if has_access:
        links += [{"from": f"{node}{LAN}", "to": node, **table["access"]} for node in topology.nodes]
    events = failures(table, topology)
    flows = []
    for name, group in groups.items():
        one, other = group.pair
        ends = (f"{one}{LAN}", f"{other}{LAN}") if has_access else (one, other)
        inner = list(group.path) if has_access else list(group.path[1:-1])
        flow = {
            "name": name,
            "from": ends[0],
            "to": ends[1],
            **group.mix.flow,
            "arrivals": group.mix.arrivals(group.per_second),
        }
        if inner:
            flow |= {"route": inner, "route-back": inner[::-1]}
        if events:
            flow["failover"] = table.get("routing", {}).get("rerouting", REROUTING)
        flows.append(flow)
    made: dict[str, Any] = {**frame, "link": links, "flow": flows}
    if events:
        made["event"] = events
    return made


def _own_place(place: str, network: Network) -> str:
    """Maps a key of the explicit scenario to the key of the network's file."""
    found = re.match(r"(link|flow|event)\[(\d+)\]\.?(.*)", place)
    if found is None:
        return place
    kind, number, key = found[1], int(found[2]), found[3]
    if kind == "event":
        return "failure"
    if kind == "flow" and number < len(network.groups):
        group = list(network.groups.values())[number]
        return f"mix {group.mix.name!r}, {group.pair[0]} to {group.pair[1]} ({key})"
    if kind == "link" and number < len(network.topology.links):
        return _place_of_link(network.topology.links[number], key, network)
    return f"access.{key}" if kind == "link" else place


def _place_of_link(link: Link, key: str, network: Network) -> str:
    """Maps a key of a link between nodes to its source: `[[link]]`, `[links]`, or the edge."""
    first = re.split(r"[.\[]", key)[0]
    if first in link.direction or first not in {"rate", "delay", *network.table.get("links", {})}:
        tables = [set(map(str, one.get("between", ()))) for one in network.table.get("link", [])]
        at = next((at for at, ends in enumerate(tables) if ends == set(link.ends)), None)
        return f"the link {link.ends[0]}–{link.ends[1]}, {key}" if at is None else f"link[{at}].{key}"
    if first in {"rate", "delay"}:
        return f"{first} of the link {link.ends[0]}–{link.ends[1]}"
    return f"links.{key}"


def failures(table: dict[str, Any], topology: Topology) -> list[dict[str, Any]]:
    """Converts `[[failure]]` to events: a `link` or a `node` fails `at` a time, and is `back` at another."""
    events = []
    for number, one in enumerate(table.get("failure", [])):
        at = f"failure[{number}]"
        for key in one:
            if key not in ("link", "node", "at", "back"):
                raise error(f"{at}.{key}", "there is no such key", "a failure has link or node, at, back")
        if ("link" in one) == ("node" in one) or "at" not in one:
            raise error(
                at, "it names no `link` or `node`, or not `at` when", 'write node = "Berlin", at = "20 s"'
            )
        if "node" in one:
            node = topology.find(one["node"], f"{at}.node")
            failed = [link for link in topology.links if node in link.ends]
        else:
            ends = one["link"]
            if not isinstance(ends, list) or len(ends) != 2:
                raise error(f"{at}.link", "it does not name two nodes", 'write link = ["Berlin", "Hamburg"]')
            link = topology.find_link(*(topology.find(end, f"{at}.link") for end in ends))
            if link is None:
                raise error(
                    f"{at}.link", f"no link joins {ends[0]!r} and {ends[1]!r}", "name the ends of a link"
                )
            failed = [link]
        for link in failed:
            name = f"{link.ends[0]}<>{link.ends[1]}"
            events.append({"at": one["at"], "link": name, "state": "down"})
            if "back" in one:
                events.append({"at": one["back"], "link": name, "state": "up"})
    return events


__all__ = ["KEYS", "MOST_PATHS", "Group", "Network", "load", "parse_table", "parse_text"]
