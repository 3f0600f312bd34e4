"""The scenarios: two networks, seven ways to place queues, and failures of the most loaded links."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.runs.grid import Grid
from fairwave.scenario import Scenario
from fairwave_network import language, units
from fairwave_network.language import LAN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave_network.language import Network
    from fairwave_study.folder import Case

GERMANY, GEANT = "germany", "geant"
GERMANY_FAILS, GEANT_FAILS = "germany-fails", "geant-fails"
"""Ids of the grids."""

NETWORKS: Mapping[str, Mapping[str, Any]] = {
    GERMANY: {"topology": {"topohub": "sndlib/germany50"}, "demands": {"matrix": "topology"}},
    GEANT: {"topology": {"topohub": "topozoo/Geant2012"}, "demands": {"matrix": "gravity"}},
}
"""Id of a grid to its topology and the shape of its demands."""

FAILS: Mapping[str, str] = {GERMANY_FAILS: GERMANY, GEANT_FAILS: GEANT}
"""Id of a grid of failures to its network."""

TITLES = {
    GERMANY: "Germany", GEANT: "GÉANT", GERMANY_FAILS: "Germany, N − 1", GEANT_FAILS: "GÉANT, N − 1",
}  # fmt: skip

PAIRS, BUSIEST = 150, 0.95

TAIL: Mapping[str, Any] = {"discipline": "drop-tail", "capacity": {"packets": 170}}
SEL: Mapping[str, Any] = {**TAIL, "victim": "drop-sel"}
FQ: Mapping[str, Any] = {"discipline": "fq-codel"}

TAIL_ALL = "drop-tail"
SEL_ALL, SEL_ACCESS, SEL_THREE = "drop-sel", "drop-sel, access", "drop-sel, three links"
FQ_ALL, FQ_ACCESS, FQ_THREE = "fq-codel", "fq-codel, access", "fq-codel, three links"
"""Labels of the axis `queues`: a queue and its place, if it is not on all links. The other links have drop-tail."""

MOST_LOADED, FAILING = 3, 5
"""Number of links with the queue, and number of links that fail in turn."""


def _table(name: str, **more: Any) -> dict[str, Any]:
    given = NETWORKS[name]
    return {
        "name": name, "duration": "22 s", "warmup": "2 s", "preset": "rfc",
        "topology": dict(given["topology"]),
        "links": {"rate": "20 Mb/s", "queue": dict(TAIL)},
        "routing": {"by": "delay", "rerouting": "500 ms"},
        "demands": {**given["demands"], "pairs": PAIRS, "busiest": BUSIEST},
        "mix": [
            {"kind": "calls", "codec": "g711", "share": 0.3},
            {"kind": "downloads", "size": "200 kB", "share": 0.7},
        ],
        **more,
    }  # fmt: skip


@cache
def network(name: str) -> Network:
    """One of `NETWORKS`. Its most loaded access link is offered as much as the most loaded link between nodes."""
    offered: dict[str, float] = {}
    for group in language.parse_table(_table(name), Path()).groups.values():
        for end in (f"{group.pair[0]}>", f">{group.pair[1]}"):
            offered[end] = offered.get(end, 0.0) + group.offered_bps
    rate = units.rate_text(max(offered.values()) / BUSIEST)
    return language.parse_table(
        _table(name, access={"rate": rate, "delay": "1 ms", "queue": dict(TAIL)}), Path()
    )


def most_loaded(name: str, most: int) -> list[str]:
    """Links between nodes with the largest load in one of their directions, the largest first: `a>b` as in the file."""
    offered = network(name).offered()
    loads = {
        link.name: max(offered[link.name], offered[">".join(link.ends[::-1])])
        for link in network(name).topology.links
    }
    return sorted(loads, key=lambda link: (-loads[link], link))[:most]


def _on(links: list[str], queue: Mapping[str, Any]) -> dict[str, Any]:
    return {f"link.{link}.queue": dict(queue) for link in links}


def _queues(name: str) -> dict[str, dict[str, Any]]:
    """The axis `queues`: the changes of each label."""
    every = [f"{link['from']}>{link['to']}" for link in network(name).scenario.to_dict()["link"]]
    access = [link for link in every if LAN in link]
    three = most_loaded(name, MOST_LOADED)
    return {
        TAIL_ALL: {},
        SEL_ALL: _on(every, SEL), SEL_ACCESS: _on(access, SEL), SEL_THREE: _on(three, SEL),
        FQ_ALL: _on(every, FQ), FQ_ACCESS: _on(access, FQ), FQ_THREE: _on(three, FQ),
    }  # fmt: skip


def _failing(grid: str, name: str) -> Grid:
    data = network(name).scenario.to_dict()
    for flow in data["flow"]:
        flow["failover"] = "500 ms"
    queues = _queues(name)
    failed = {
        link.replace(">", "–"): {"event": [{"at": "7 s", "link": link.replace(">", "<>"), "state": "down"}]}
        for link in most_loaded(name, FAILING)
    }
    some = {label: queues[label] for label in (TAIL_ALL, SEL_ALL, FQ_ALL)}
    return Grid(grid, Scenario.from_dict(data), {"queues": some, "failed": failed})


def grids(_: Case) -> list[Grid]:
    """A grid of queues for each network, and one of failures."""
    return [
        *(Grid(name, network(name).scenario, {"queues": _queues(name)}) for name in NETWORKS),
        *(_failing(grid, name) for grid, name in FAILS.items()),
    ]
