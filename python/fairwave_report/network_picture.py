"""Picture of a run's network: nodes, links with their rates and delays, and the utilisation of each link.

A network of few routers is drawn as a row from senders to receivers. A larger mesh is drawn as a map with distances
that follow the numbers of hops (classical scaling, Torgerson 1952). Its rates and delays are in the numbers only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave_report import figures as drawing
from fairwave_report import labels as naming
from fairwave_report import style
from fairwave_report.ways import ways

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from fairwave_report.single import DrawnRun

BUSY = 0.9
"""Links with a higher utilisation are marked."""

NAME = 0.0042
"""Half the width of a letter of a node's name, as a share of the figure's width."""

MOST_IN_ROW = 8
"""More routers than this form a row only if they are a chain."""

MESH = (800.0, 560.0)
"""Size of the map of a mesh, in points."""

TOLD = 4
"""Number of links that the description names, in order of utilisation, for readers who cannot see the picture."""


@dataclass(frozen=True)
class NodePosition:
    """Position of a node.

    Attributes:
        x: From senders (0) to receivers (1).
        y: From bottom (0) to top (1).
        label: The node's name, or the common name of several equal hosts with their number.
    """

    x: float
    y: float
    label: str


def layout(plan: dict[str, Any]) -> tuple[dict[str, str], dict[str, NodePosition]]:
    """Chooses the drawn node of each node on the data's path, and positions the drawn nodes.

    Equal hosts of one node that differ only in their number are drawn as one. Inner nodes form a row, in the order in
    which flows reach them. Hosts are to the left and right of their node.
    """
    neighbours: dict[str, set[str]] = {}
    depths: dict[str, list[float]] = {}
    for flow in plan["flows"]:
        way = [flow["from"], *(link.split(">")[1] for link in flow["forward"])]
        for at, node in enumerate(way):
            depths.setdefault(node, []).append(at / max(len(way) - 1, 1))
        for one, other in pairwise(way):
            neighbours.setdefault(one, set()).add(other)
            neighbours.setdefault(other, set()).add(one)
    members: dict[str, list[str]] = {}
    for node in depths:
        near, stem = neighbours.get(node, set()), re.sub(r"\d+$", "", node)
        key = f"{stem}|{next(iter(near))}" if len(near) == 1 and stem != node else node
        members.setdefault(key, []).append(node)
    stands = {node: several[0] for several in members.values() for node in several}
    labels = {several[0]: _several(several) for several in members.values()}
    depth = {
        several[0]: _mean([met for node in several for met in depths[node]]) for several in members.values()
    }
    inner = sorted(
        (node for node in labels if len(neighbours.get(node, set())) > 1), key=lambda node: depth[node]
    )
    hosts: dict[str, list[str]] = {node: [] for node in inner}
    for node in labels:
        if node not in hosts:
            owner = next(iter(neighbours.get(node, {node})))
            hosts.setdefault(owner if owner in hosts else node, []).append(node)
    if len(inner) > 1 and _mean([depth[node] for node in hosts[inner[0]]] or [0.0]) > _mean(
        [depth[node] for node in hosts[inner[-1]]] or [1.0]
    ):
        inner.reverse()
    straight = all(
        abs(inner.index(one) - inner.index(other)) == 1
        for one in inner
        for other in neighbours[one]
        if other in inner
    )
    places: dict[str, NodePosition] = {}
    for at, node in enumerate(inner):
        across = (at + 1) / (len(inner) + 1)
        places[node] = NodePosition(across, 0.5 if straight else 0.5 + 0.2 * (-1) ** at, labels[node])
    _hang(hosts, inner, depth, labels, places)
    return stands, places


DETOUR, ROW = 0.14, 0.24
"""Heights of the first row of detour nodes, and of each further row above it. Packets reach these only after a failure.
"""


def add_detours(
    detours: Iterable[Sequence[str]], stands: dict[str, str], places: dict[str, NodePosition]
) -> set[str]:
    """Places the nodes that are only on detours between the nodes at which a detour leaves and rejoins the path.

    Args:
        detours: Links of each detour, in order.
        stands: Node to the node that is drawn for it; receives the new ones.
        places: Positions of nodes; receives the new ones.

    Returns:
        The links that are only on detours.
    """
    links: set[str] = set()
    for way in dict.fromkeys(tuple(one) for one in detours):
        nodes = [way[0].split(">")[0], *(link.split(">")[1] for link in way)]
        links.update(way)
        new: list[str] = []
        left = nodes[0]
        for node in nodes:
            if node not in stands:
                new.append(node)
                continue
            begin, end = places[stands[left]], places[stands[node]]
            for at, one in enumerate(new, 1):
                across = begin.x + (end.x - begin.x) * at / (len(new) + 1)
                height = next(
                    (
                        height
                        for height in (DETOUR, DETOUR + ROW, 1 - DETOUR, 1 - DETOUR - ROW)
                        if all(abs(p.x - across) > 0.1 or abs(p.y - height) > 0.1 for p in places.values())
                    ),
                    DETOUR,
                )
                stands[one], places[one] = one, NodePosition(across, height, one)
            new, left = [], node
    return links


def _hang(
    hosts: dict[str, list[str]],
    inner: Sequence[str],
    depth: dict[str, float],
    labels: dict[str, str],
    places: dict[str, NodePosition],
) -> None:
    """Places hosts next to, above and below their node."""
    left: list[str] = []
    right: list[str] = []
    for owner, several in hosts.items():
        if owner in inner[1:-1]:
            # Hosts of an inner node hang above and below it: senders above.
            for height, row in (
                (1.0, [n for n in several if depth[n] < 0.5]),
                (0.0, [n for n in several if depth[n] >= 0.5]),
            ):
                for at, node in enumerate(row):
                    across = places[owner].x + min(0.09, 0.4 / len(inner)) * (at - (len(row) - 1) / 2)
                    # Stagger them, so that names do not overlap.
                    far = 0.42 - 0.14 * (at % 2)
                    places[node] = NodePosition(across, 0.5 + (far if height else -far), labels[node])
            continue
        for node in several:
            here = owner == inner[0] if len(inner) > 1 else depth[node] < 0.5
            (left if here else right).append(node)
    for across, column in ((0.0, left), (1.0, right)):
        for at, node in enumerate(column):
            places[node] = NodePosition(across, 1 - (at + 0.5) / len(column), labels[node])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _several(nodes: Sequence[str]) -> str:
    if len(nodes) == 1:
        return nodes[0]
    stem = re.sub(r"\d+$", "", nodes[0])
    numbers = sorted(int(node.removeprefix(stem)) for node in nodes)
    whole = numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2
    return (
        f"{stem}{numbers[0]}…{numbers[-1]}"
        if whole
        else f"{stem}{', '.join(map(str, numbers[:4]))}{' …' * (len(numbers) > 4)}"
    )


def draw_network(run: DrawnRun, folder: Path) -> drawing.Drawing:
    """Draws nodes and links with their rates and delays. A link's width shows its utilisation."""
    from fairwave.advice import rate_in_words

    plan = run.scenario.plan(run.seed)
    links = {link["name"]: link for link in plan["links"]}
    used = dict(
        run.results.to_polars("links").select(pl.col("link").cast(pl.String), "utilisation").iter_rows()
    )
    stands, places = layout(plan)
    every = ways(run.scenario, run.seed)
    first = {link for way in every if way.is_first for link in way.links}
    detours = add_detours((way.links for way in every if not way.is_first), stands, places) - first
    edges: dict[tuple[str, str], list[str]] = {}
    for name in links:
        one, other = name.split(">")
        if one in stands and other in stands:
            edges.setdefault(tuple(sorted((stands[one], stands[other]))), []).append(name)  # type: ignore[arg-type]
    is_mesh = _is_mesh(edges)
    if is_mesh:
        places = _scaled_hops(list(places.values()), list(places), edges)
    size = (11.4, 8.0) if is_mesh else (11.4, 1.6 + 0.7 * _tallest(places))
    rows = []
    with drawing.canvas("network", size) as canvas:
        axes = canvas.subplots()
        for (one, other), names in edges.items():
            # First the direction that leads to the right.
            names.sort(key=lambda name: places[stands[name.split(">")[0]]].x)
            share = max(used.get(name) or 0.0 for name in names)
            rates = list(dict.fromkeys(rate_in_words(links[name]["rate_bps"]) for name in names))
            media = {links[name]["medium"] for name in names} - {None}
            if media:
                # This is the rate that a member reaches alone.
                rates = [f"{', '.join(sorted(media))}: to {rate}" for rate in rates]
            delays = sorted({links[name]["delay_s"] * 1e3 for name in names})
            delay = f"{delays[0]:.3g} ms" if len(delays) == 1 else f"{delays[0]:.3g}–{delays[-1]:.3g} ms"
            label = "" if is_mesh else f"{' | '.join(rates[:2])}, {delay}"
            dashes = "--" if media else ":" if detours & set(names) else "-"
            _edge(axes, places[one], places[other], label, share, dashes)
            rows += [
                (name, links[name]["rate_bps"], links[name]["delay_s"], used.get(name)) for name in names
            ]
        for place in () if is_mesh else places.values():
            axes.annotate(
                place.label, (place.x, place.y), ha="center", va="center", fontsize=style.points(9.5), zorder=4,
                bbox={"boxstyle": "round,pad=0.35", "facecolor": style.PAPER, "edgecolor": style.INK},
            )  # fmt: skip
        if is_mesh:
            _name_nodes(axes, places, edges)
        axes.set_xlim(-0.08, 1.08)
        axes.set_ylim(0, 1)
        axes.axis("off")
        data = pl.DataFrame(
            rows, ["link", "rate_bps", "delay_s", "utilisation"], orient="row", infer_schema_length=None
        )
        return drawing.save(
            canvas, folder, "network", data, run.results.provenance,
            title="The network",
            caption="The links that data crosses, from senders to receivers. The thicker a line, the busier its "
            f"busier direction. Above {BUSY * 100:g} % the line has a colour; "
            "different rates are shown as forward | reverse."
            + (
                " Dashed links share the medium that stands before their rate, which each could reach alone."
                if plan["media"]
                else ""
            )
            + (" Distances follow the numbers of hops. Rates and delays are in the numbers below." if is_mesh else "")
            + (" Dotted links carry packets only after a failure or on another network." if detours else ""),
            alt=f"The network: {_links_in_words(data)}",
        )  # fmt: skip


def _is_mesh(edges: Iterable[tuple[str, str]]) -> bool:
    """Whether a row would be a tangle: many nodes with several neighbours, and more links than a tree."""
    degrees: dict[str, int] = {}
    several = list(edges)
    for node in (end for edge in several for end in edge):
        degrees[node] = degrees.get(node, 0) + 1
    return sum(one > 1 for one in degrees.values()) > MOST_IN_ROW and len(several) >= len(degrees)


def _scaled_hops(
    known: Sequence[NodePosition], nodes: Sequence[str], edges: Iterable[tuple[str, str]]
) -> dict[str, NodePosition]:
    """Computes positions with distances as close to the numbers of hops as two dimensions allow."""
    at = {node: number for number, node in enumerate(nodes)}
    hops = np.full((len(nodes), len(nodes)), np.inf)
    np.fill_diagonal(hops, 0.0)
    for one, other in edges:
        hops[at[one], at[other]] = hops[at[other], at[one]] = 1.0
    for middle in range(len(nodes)):
        hops = np.minimum(hops, hops[:, middle, None] + hops[middle])
    hops[np.isinf(hops)] = hops[np.isfinite(hops)].max() + 1.0
    centred = np.eye(len(nodes)) - 1.0 / len(nodes)
    values, vectors = np.linalg.eigh(-0.5 * centred @ hops**2 @ centred)
    spots = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    # An eigenvector's sign is arbitrary; rounding makes the same picture of the same network on every machine.
    spots *= np.where(spots[0] < 0, -1.0, 1.0)
    spots -= spots.min(axis=0)
    spots /= np.maximum(spots.max(axis=0), 1e-9)
    return {
        node: NodePosition(round(float(x), 4), round(0.05 + 0.9 * float(y), 4), place.label)
        for node, place, (x, y) in zip(nodes, known, spots, strict=True)
    }


def _name_nodes(axes: Axes, places: dict[str, NodePosition], edges: Iterable[tuple[str, str]]) -> None:
    """Marks nodes, and names them if the name covers nothing."""
    across, down = MESH[0] / 1.16, MESH[1]
    spots = {node: ((one.x + 0.08) * across, (1 - one.y) * down) for node, one in places.items()}
    lines = [(*spots[one], *spots[other]) for one, other in edges]
    points = {places[node].label: spot for node, spot in spots.items()}
    sides: dict[str, Any] = {"start": "left", "middle": "center", "end": "right"}
    for label in naming.place(points, lines, style.points(8), 6.0, (0.0, 0.0, *MESH)):
        axes.text(
            label.x / across - 0.08, 1 - label.y / down, label.text, ha=sides[label.anchor], va="baseline",
            fontsize=style.points(8), zorder=4,
        )  # fmt: skip
    axes.plot(
        [one.x for one in places.values()], [one.y for one in places.values()], "o", color=style.INK, markersize=4,
        zorder=3,
    )  # fmt: skip


def _links_in_words(data: pl.DataFrame) -> str:
    """Describes the links with the highest utilisation, for readers who cannot see the picture."""
    used = data.filter(pl.col("utilisation").is_not_null()).sort("utilisation", descending=True)
    busiest = [f"{row['link']} {100 * row['utilisation']:.0f} %" for row in used.head(TOLD).to_dicts()]
    return (
        f"{data.height} link directions; used most are {', '.join(busiest)}" if busiest else "no link is used"
    )


def _tallest(places: dict[str, NodePosition]) -> int:
    """Returns the number of nodes in the tallest column; three if hosts hang above and below."""
    columns = [place.x for place in places.values()]
    hung = any(0 < place.x < 1 and place.y not in {0.3, 0.5, 0.7} for place in places.values())
    return max([columns.count(x) for x in columns] + [3 if hung else 1])


def _edge(axes: Axes, one: NodePosition, other: NodePosition, label: str, share: float, dashes: str) -> None:
    colour = style.look(0).colour if share > BUSY else style.look(6).colour
    axes.plot(
        [one.x, other.x],
        [one.y, other.y],
        dashes,
        color=colour,
        linewidth=0.8 + 5 * share,
        zorder=1,
    )
    if not label:
        return
    if (
        one.y != other.y
        and min(one.x, other.x) > 0
        and max(one.x, other.x) < 1
        and abs(one.x - other.x) < 0.1
    ):
        label = label.split(",", maxsplit=1)[0]  # little room above and below a row of routers
    text = f"{label}, {share * 100:.0f} %"
    # In the middle of the visible line between the names of its ends.
    left, right = sorted((one, other), key=lambda place: place.x)
    shift = NAME * (len(left.label) - len(right.label)) / 2 * (right.x - left.x > 2 * NAME)
    middle = ((one.x + other.x) / 2 + shift, (one.y + other.y) / 2)
    axes.annotate(
        text,
        middle,
        ha="center",
        va="bottom",
        fontsize=style.points(8),
        zorder=3,
        xytext=(0, 3),
        textcoords="offset points",
        bbox={"boxstyle": "square,pad=0.1", "facecolor": style.PAPER, "edgecolor": "none"},
    )
