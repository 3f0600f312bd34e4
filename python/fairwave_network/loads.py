"""Offered load of each link of a network, before any run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairwave.advice import rate_in_words
from fairwave_network.language import load

if TYPE_CHECKING:
    from fairwave_network.language import Network

BUSIEST = 12
"""Number of link directions that are shown, the most loaded first."""

LONGEST = 8
"""Number of routes that are shown, those with the most hops first."""


def list_loads(network: Network) -> list[tuple[str, float, float]]:
    """Returns link directions with offered load and rate (b/s), the most loaded first."""
    rates = network.rates()
    found = [(name, offered, rates[name]) for name, offered in network.offered().items()]
    return sorted(found, key=lambda one: (-one[1] / one[2], one[0]))


def warnings(network: Network) -> list[str]:
    """Returns a sentence for each change to the topology, and for each link direction with more load than its rate."""
    return [f"{network.topology.name}: {change}" for change in network.topology.changes] + [
        f"{name} would carry {rate_in_words(offered)}, {offered / rate:.0%} of its {rate_in_words(rate)}: write a "
        "higher rate or a lower load"
        for name, offered, rate in list_loads(network) if offered > rate
    ]  # fmt: skip


def tables(path: str) -> tuple[list[str], list[tuple[str, list[str], list[list[str]]]]]:
    """Returns `fairwave check`'s output for a network's file: warnings, and tables with title, headers and rows."""
    return summarise(load(Path(path)))


def summarise(network: Network) -> tuple[list[str], list[tuple[str, list[str], list[list[str]]]]]:
    """Returns warnings and tables of a network."""
    loads = list_loads(network)
    rows = [
        [name, rate_in_words(rate), rate_in_words(offered), f"{offered / rate:.0%}"]
        for name, offered, rate in loads
    ]
    more = len(rows) - BUSIEST
    found = [
        (
            "what links would carry" + (f" ({more} more carry less)" if more > 0 else ""),
            ["link", "rate", "offered", "load"], rows[:BUSIEST],
        ),
    ]  # fmt: skip
    shares: dict[tuple[str, ...], float] = {}
    of_pair: dict[tuple[str, str, str], float] = {}
    for group in network.groups.values():
        key = (group.mix.name, *group.pair)
        of_pair[key] = of_pair.get(key, 0.0) + group.per_second
    for group in network.groups.values():
        shares[group.path] = group.per_second / of_pair[(group.mix.name, *group.pair)]
    routes = sorted(shares, key=lambda path: (-len(path), path))
    found.append(
        (
            f"routes: {len(routes)}, the longest first",
            ["from", "to", "share of the flows", "hops", "route"],
            [
                [path[0], path[-1], f"{shares[path]:.0%}", str(len(path) - 1), " ".join(path)]
                for path in routes[:LONGEST]
            ],
        )
    )
    kinds: dict[str, tuple[float, float, int]] = {}
    for group in network.groups.values():
        bits, busy, count = kinds.get(group.mix.name, (0.0, 0.0, 0))
        kinds[group.mix.name] = (bits + group.offered_bps, busy + group.busy, count + 1)
    lasting = {group.mix.name: group.mix.lasts_s is not None for group in network.groups.values()}
    found.append(
        (
            "traffic",
            ["kind", "offered", "flows at once, mean (Erlang)", "flow groups"],
            [
                [
                    name,
                    rate_in_words(bits),
                    f"{busy:.4g}" if lasting[name] else f"{busy:.4g} arrive per s",
                    str(count),
                ]
                for name, (bits, busy, count) in kinds.items()
            ],
        )
    )
    return warnings(network), found
