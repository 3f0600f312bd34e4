"""Demands: the traffic of each ordered pair of nodes, before scaling.

- `matrix = "topology"`: the demands in the topology's file, as in SNDlib's networks;
- `matrix = "gravity"` (the default): the product of both nodes' weights. `weights` names a numeric attribute; the
  default is a node's number of links †;
- `matrix = "demands.csv"`: columns `from`, `to`, `demand`.
"""

from __future__ import annotations

import csv
import heapq
import io
import itertools
import math
from typing import TYPE_CHECKING, Any

from fairwave import ScenarioError
from fairwave.foreign import check_items, check_lines, count_lines, decode, gated, read_bytes
from fairwave_network.units import error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairwave_network.topology import Topology

Matrix = dict[tuple[str, str], float]

HEADS = ("from", "to", "demand")

MOST_PAIRS = 2_000_000
"""Most pairs of nodes in a matrix that fairwave computes."""


def matrix(topology: Topology, table: dict[str, Any], folder: Path) -> Matrix:
    """Returns the demands of a scenario, sorted by pair, each above 0.

    Raises:
        fairwave.ScenarioError: A demand is negative or has an unknown node, or the file or topology has no demands.
    """
    kind = table.get("matrix", "gravity")
    most = table.get("pairs")
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        raise error("demands.pairs", f"{most!r:.40} is no number of pairs", "write for example pairs = 300")
    if kind == "gravity":
        found = _gravity(_weights(topology, table.get("weights")), most)
    elif kind == "topology":
        if topology.demands is None:
            raise error(
                "demands.matrix", f"{topology.name} has no demands of its own",
                'write matrix = "gravity", or the name of a CSV file with the columns from,to,demand',
            )  # fmt: skip
        found = topology.demands
    elif isinstance(kind, str) and kind.endswith(".csv"):
        found = _from_csv(topology, folder / kind)
    else:
        raise error(
            "demands.matrix", f"{kind!r:.60} is no matrix", 'write "gravity", "topology", or "demands.csv"'
        )
    found = {pair: amount for pair, amount in sorted(found.items()) if amount > 0}
    if not found:
        raise error("demands.matrix", "no pair of nodes has a demand above 0", "write a demand above 0")
    if most is not None:
        kept = sorted(found, key=lambda pair: (-found[pair], pair))[:most]
        found = {pair: found[pair] for pair in sorted(kept)}
    return found


def _gravity(weights: dict[str, float], most: int | None) -> Matrix:
    """Returns the products of the weights of all pairs, or of the `most` pairs with the largest products.

    Pairs with equal products are ordered by name. The whole matrix is built for small networks only.
    """
    above = {name: weight for name, weight in weights.items() if weight > 0}
    pairs = len(above) * (len(above) - 1)
    if most is None and pairs > MOST_PAIRS:
        raise error(
            "demands.pairs", f"{len(above)} nodes have {pairs} pairs, more than {MOST_PAIRS}",
            "write the number of pairs with the largest demands, for example pairs = 300",
        )  # fmt: skip
    if most is None or pairs <= most:
        return {(one, other): above[one] * above[other] for one in above for other in above if one != other}
    return {
        (one, other): above[one] * above[other] for one, other in itertools.islice(_heaviest(above), most)
    }


def _heaviest(weights: dict[str, float]) -> Iterator[tuple[str, str]]:
    """Yields pairs by descending product and then by name, computed lazily."""
    names: dict[float, list[str]] = {}
    for name in sorted(weights):
        names.setdefault(weights[name], []).append(name)
    known = sorted(names, reverse=True)
    # The next candidates are the neighbours of the emitted products in the table of weights.
    front = [(-known[0] * known[0], 0, 0)]
    there = {(0, 0)}
    while front:
        product, alike = front[0][0], []
        while front and front[0][0] == product:
            _, row, column = heapq.heappop(front)
            alike.append(itertools.product(names[known[row]], names[known[column]]))
            for near in ((row + 1, column), (row, column + 1)):
                if max(near) < len(known) and near not in there:
                    there.add(near)
                    heapq.heappush(front, (-known[near[0]] * known[near[1]], *near))
        yield from (pair for pair in heapq.merge(*alike) if pair[0] != pair[1])


def _weights(topology: Topology, attribute: Any) -> dict[str, float]:
    """Returns the weight of each node: a numeric attribute, or its number of links."""
    weights: dict[str, float] = dict.fromkeys(topology.nodes, 0.0)
    if attribute is None:
        for link in topology.links:
            for end in link.ends:
                weights[end] += 1.0
    else:
        for node in topology.nodes.values():
            if attribute not in node.values:
                known = sorted({name for one in topology.nodes.values() for name in one.values})
                raise error(
                    "demands.weights", f"the node {node.label!r} has no number {attribute!r:.40}",
                    f"nodes have {', '.join(known) or 'none'}; leave `weights` out to take the number of links",
                )  # fmt: skip
            weights[node.name] = node.values[attribute]
            if weights[node.name] < 0:
                raise error(
                    "demands.weights", f"{attribute} of {node.label!r} is negative", "write 0 or more"
                )
    return weights


@gated("demands", ScenarioError)
def _rows(path: Path, place: str) -> list[list[str]]:
    data = read_bytes(path, "demands")
    check_lines(data, str(path))
    check_items(count_lines(data), str(path), "demands")
    try:
        return list(csv.reader(io.StringIO(decode(data, str(path)))))
    except csv.Error as why:
        raise error(place, f"{str(path)!r} is no CSV in UTF-8 ({why})", "save it as CSV in UTF-8") from None


def _from_csv(topology: Topology, path: Path) -> Matrix:
    place = "demands.matrix"
    if not path.is_file():
        raise error(
            place, f"there is no file {str(path)!r}", "paths are relative to the folder of the scenario"
        )
    rows = _rows(path, place)
    if not rows or [one.strip().lower() for one in rows[0]] != list(HEADS):
        raise error(f"{path}:1", "the first line does not name the columns", "write from,to,demand")
    found: Matrix = {}
    for number, row in enumerate(rows[1:], 2):
        at = f"{path}:{number}"
        if not row:
            continue
        if len(row) != len(HEADS):
            raise error(at, f"there are {len(row)} columns", "write from,to,demand")
        one, other = (topology.find(name.strip(), at) for name in row[:2])
        try:
            amount = float(row[2])
        except ValueError:
            amount = math.nan
        if not (math.isfinite(amount) and amount >= 0):
            raise error(at, f"the demand is {row[2].strip()!r:.40}", "write a number of 0 or more")
        if one == other:
            raise error(at, f"the demand leads from {one!r} to itself", "remove the line")
        if (one, other) in found:
            raise error(at, f"{one!r} to {other!r} stands twice", "write one line per pair")
        found[one, other] = amount
    return found
