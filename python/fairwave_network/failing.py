"""N − 1: each link or node fails in turn, and the network runs again under the same random numbers.

The failure begins at a quarter of the measured time and lasts to the end. Until routes have changed
(`routing.rerouting`, 1 s by default), packets into the failed link are lost. Calls of a failed node have no path, and
their rating is poor. Link by link, the failure exists from the beginning and routes have changed already; pairs without
a path have no calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairwave import ScenarioError
from fairwave_network import language, units
from fairwave_network.measuring import NetworkAnswer, combine_runs
from fairwave_network.routing import Routes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.runs.replication import Progress
    from fairwave_network.language import Network
    from fairwave_network.measuring import Answers

KINDS = ("links", "nodes")


@dataclass(frozen=True)
class Failure:
    """A failure and its result.

    Attributes:
        name: The link `a>b`, or the node.
        links: The links that are down.
        answer: Result with the failure.
    """

    name: str
    links: tuple[str, ...]
    answer: NetworkAnswer


def scenario_of(network: Network, table: dict[str, object]) -> Network:
    """Returns the network with this failure and everything else unchanged."""
    begin = units.span(network.table.get("warmup", "0 s"), "warmup")
    end = units.span(network.table["duration"], "duration")
    failed = {**network.table, "failure": [{**table, "at": units.span_text(begin + (end - begin) / 4)}]}
    events = language.failures(failed, network.topology)
    data = network.scenario.to_dict()
    data["event"] = events
    after = network.table.get("routing", {}).get("rerouting", language.REROUTING)
    for flow in data["flow"]:
        flow["failover"] = after
    from fairwave.scenario import Scenario

    try:
        return replace(network, written=Scenario.from_dict(data))
    except ScenarioError as found:
        raise units.reword_error(found, units.place_in_link) from None


def list_failures(network: Network, kind: str) -> list[tuple[str, tuple[str, ...], dict[str, object]]]:
    """Returns every failure of a kind: its name, the links that are down, the table `[[failure]]` without its time."""
    if kind == "links":
        return [(link.name, (link.name,), {"link": list(link.ends)}) for link in network.topology.links]
    return [
        (node, tuple(link.name for link in network.topology.links if node in link.ends), {"node": node})
        for node in network.topology.nodes
    ]


def reroute(network: Network, links: Sequence[str]) -> Network:
    """Returns the network after these links failed and routes changed, to the fewest hops and then the least delay.

    The simulator chooses the same routes. Pairs without a path have no traffic.
    """
    left = replace(
        network.topology, links=[link for link in network.topology.links if link.name not in links]
    )
    routes = Routes(left, "hops")
    down = {name for link in links for name in (link, ">".join(reversed(link.split(">"))))}
    groups = {}
    for name, group in network.groups.items():
        if down.isdisjoint(network.crossed_links(group)):
            groups[name] = group
        elif paths := routes.paths(*group.pair):
            groups[name] = replace(group, path=paths[0][0])
    return replace(network, groups=groups)


def try_failures(
    network: Network, kind: str, answers: Answers, *, at_once: bool = True, progress: Progress | None = None
) -> list[Failure]:
    """Tries every failure and returns the worst first, by the mean opinion of all calls.

    Args:
        network: The network.
        kind: `links` or `nodes`.
        answers: Makes the runs.
        at_once: Whether the failure happens within the run. If not, runs begin after routes have changed.
        progress: Callback with the number of failures that are done.
    """
    every = list_failures(network, kind)
    made = [scenario_of(network, table) if at_once else reroute(network, links) for _, links, table in every]
    found = [
        Failure(name, links, combine_runs(runs))
        for (name, links, _), runs in zip(every, answers(made, progress), strict=True)
    ]
    return sorted(found, key=lambda one: (one.answer.mos.mean, one.name))


__all__ = ["KINDS", "Failure", "list_failures", "reroute", "scenario_of", "try_failures"]
