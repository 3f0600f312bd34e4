"""N − 1: each link, or each node, fails in turn, and the network is run again under the same random numbers.

The failure begins at a quarter of the measured time and lasts to the end. Until routes have changed
(`routing.rerouting`, 1 s when left out), what is sent into the failed link is lost. Calls of a node that failed have no
path: they are counted as they are, poor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairwave_network import language, units
from fairwave_network.measuring import NetworkAnswer, run, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.runs.keeping import Keep
    from fairwave.runs.replication import Progress
    from fairwave_network.language import Network

KINDS = ("links", "nodes")


@dataclass(frozen=True)
class Failure:
    """What failed, and the network with it.

    Attributes:
        name: The link `a>b`, or the node.
        links: The links that are down.
        answer: The network with the failure.
    """

    name: str
    links: tuple[str, ...]
    answer: NetworkAnswer


def scenario_of(network: Network, table: dict[str, object]) -> Network:
    """The network in which this fails, with everything else as it was."""
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

    return replace(network, scenario=Scenario.from_dict(data))


def all_of(network: Network, kind: str) -> list[tuple[str, tuple[str, ...], dict[str, object]]]:
    """Every failure of a kind: its name, the links that are down, the table `[[failure]]` without its time."""
    if kind == "links":
        return [(link.name, (link.name,), {"link": list(link.ends)}) for link in network.topology.links]
    return [
        (node, tuple(link.name for link in network.topology.links if node in link.ends), {"node": node})
        for node in network.topology.nodes
    ]


def try_failures(
    network: Network, kind: str, seeds: Sequence[int], *, threads: int | None = None, keep: Keep | None = None,
    progress: Progress | None = None,
) -> list[Failure]:  # fmt: skip
    """Runs every failure; the worst first, by the mean opinion of all calls."""
    every = all_of(network, kind)
    scenarios = [scenario_of(network, table).scenario for _, _, table in every]
    answers = run(network, scenarios, seeds, threads=threads, keep=keep, progress=progress)
    found = [
        Failure(name, links, together(runs)) for (name, links, _), runs in zip(every, answers, strict=True)
    ]
    return sorted(found, key=lambda one: (one.answer.mos.mean, one.name))


__all__ = ["KINDS", "Failure", "all_of", "scenario_of", "try_failures"]
