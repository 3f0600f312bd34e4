"""Result files of a network: tables per pair and per link, and GraphML with results as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.extras import need
from fairwave.table_files import write_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.provenance import Provenance
    from fairwave_network.failing import Failure
    from fairwave_network.language import Network
    from fairwave_network.measuring import NetworkAnswer


def list_pairs(network: Network, found: NetworkAnswer, failed: str = "") -> list[dict[str, Any]]:
    """Returns one row per pair. `failed` is empty for the original network."""
    paths = {group.pair: " ".join(group.path) for group in reversed(network.groups.values())}
    return [
        {
            "failed": failed, "from": pair[0], "to": pair[1], "calls": one.calls, "mos": one.mos.mean,
            "mos_low": one.mos.ends[0], "mos_high": one.mos.ends[1],
            "mos_worst_call": one.worst, "band": one.band, "calls_with_gap": one.interrupted,
            "longest_gap_s": one.gap_s, "loss": one.loss,
            "delay_mean_s": one.delay_s, "delay_p95_s": one.p95_s, "path": paths.get(pair, ""),
        }
        for pair, one in found.pairs.items()
    ]  # fmt: skip


def list_links(network: Network, found: NetworkAnswer, failed: str = "") -> list[dict[str, Any]]:
    """Returns one row per link direction."""
    rates, offered = network.rates(), network.offered()
    return [
        {
            "failed": failed, "link": name, "rate_bps": rates.get(name), "offered_bps": offered.get(name, 0.0),
            "utilisation": one.utilisation, "dropped": one.dropped, "mean_wait_s": one.wait_s,
        }
        for name, one in found.links.items()
    ]  # fmt: skip


def write(
    network: Network, found: NetworkAnswer, failures: Sequence[Failure], folder: Path, provenance: Provenance
) -> None:
    """Writes `pairs`, `links` (Parquet and CSV), `network.graphml` and the explicit scenario."""
    import polars as pl

    pairs, links = list_pairs(network, found), list_links(network, found)
    for one in failures:
        pairs += list_pairs(network, one.answer, one.name)
        links += list_links(network, one.answer, one.name)
    if pairs:
        write_table(pl.DataFrame(pairs, infer_schema_length=None).to_arrow(), folder / "pairs", provenance)
    write_table(pl.DataFrame(links, infer_schema_length=None).to_arrow(), folder / "links", provenance)
    need("networkx", "network").write_graphml(graph(network, found), folder / "network.graphml")
    (folder / "scenario.toml").write_text(network.text, encoding="utf-8")
    if scenario := network.try_scenario():
        (folder / "explicit.toml").write_text(scenario.to_toml(), encoding="utf-8")


def graph(network: Network, found: NetworkAnswer) -> Any:
    """Returns the network as a directed NetworkX graph, with results as attributes of nodes and edges.

    A node's MOS is the mean over the pairs that begin there. Fairwave can read the graph: an edge has `rate_bps` and
    `delay_ms`.
    """
    nx = need("networkx", "network")
    made = nx.DiGraph(name=network.name)
    for node in network.topology.nodes.values():
        several = [one.mos.mean for pair, one in found.pairs.items() if pair[0] == node.name]
        place = {"Longitude": node.place[0], "Latitude": node.place[1]} if node.place else {}
        mos = {"mos": sum(several) / len(several)} if several else {}
        made.add_node(node.name, label=node.label, **place, **mos)
    offered = network.offered()
    for link in network.topology.links:
        for one, other in (link.ends, link.ends[::-1]):
            result = found.links.get(f"{one}>{other}")
            values = (
                {
                    "utilisation": result.utilisation,
                    "dropped": result.dropped,
                    "mean_wait_ms": result.wait_s * 1e3,
                }
                if result
                else {}
            )
            made.add_edge(
                one,
                other,
                rate_bps=link.rate_bps,
                delay_ms=link.delay_s * 1e3,
                offered_bps=offered[f"{one}>{other}"],
                **values,
            )
    return made
