"""The contents of a topology's file in a few lines, for `fairwave import`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave_network import reading, topology

if TYPE_CHECKING:
    from pathlib import Path

RATES = ("1 Gb/s", "2 Gb/s")
"""Two rates for links without a rate: a link whose rate changes with them has none."""


def describe_topology(path: Path, *, strict: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Returns the contents of a topology's file, and each change that was made on reading.

    Raises:
        fairwave.ScenarioError: The file is damaged, or has a fault and is read strictly.
    """
    graph = reading.from_file(path, str(path))
    found, other = (
        topology.from_graph(graph, path.name, {"rate": rate}, str(path), strict=strict) for rate in RATES
    )
    unknown = sum(one.rate_bps != two.rate_bps for one, two in zip(found.links, other.links, strict=True))
    placed = sum(node.place is not None for node in found.nodes.values())
    contents = {
        "nodes": len(found.nodes), "links": len(found.links), "links without a rate": unknown,
        "nodes with a position": placed, "demands": len(found.demands or {}),
    }  # fmt: skip
    return contents, list(found.changes)
