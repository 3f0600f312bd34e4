"""A run as a page: the network, what its links and senders did over time, and a call packet by packet.

What is drawn is one run, that of the first seed, made once more with series recorded; recording changes nothing else
of it. Numbers in tables are those of all replications.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.report import figures as drawing
from fairwave.report import style
from fairwave.report.page import Card, Page, TableView
from fairwave.staging import staging

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from fairwave.results import Results
    from fairwave.scenario import Scenario

LINKS = 4
"""So many queues are drawn, of those on which packets wait longest."""

SENDERS = 6
"""So many senders' windows are drawn: the first of each group."""

BINS = 120
"""Where the scenario says nothing of bins, the run is cut into so many."""

BUSY = 0.9
"""Links that are used more than this are marked."""


@dataclass(frozen=True)
class Drawn:
    """The run that is drawn.

    Attributes:
        scenario: With what is recorded.
        results: Of one run.
        seed: Its seed.
        call: The flow that is drawn packet by packet; empty when there is none.
    """

    scenario: Scenario
    results: Results
    seed: int
    call: str

    def series(self, kind: str) -> pl.DataFrame:
        """Series of one kind: columns `name`, `time_s`, `value`; no rows where there are none."""
        if "series" not in self.results.tables:
            return pl.DataFrame(schema={"name": pl.String, "time_s": pl.Float64, "value": pl.Float64})
        rows = self.results.to_polars("series").filter(pl.col("kind").cast(pl.String) == kind)
        return rows.select(pl.col("name").cast(pl.String), "time_s", "value")


def drawn(scenario: Scenario, results: Results, seed: int) -> Drawn:
    """Runs the first seed once more, with series of the busiest queues, of groups and of senders.

    Raises:
        fairwave.RunError: The run was refused or failed.
    """
    data = scenario.to_dict()
    flows = [flow for flow in data.get("flow", []) if flow.get("count", 1) != 0]
    names = [flow["name"] for flow in flows]
    tcp = [flow["name"] for flow in flows if _name(flow["transport"], "name").startswith("tcp/")]
    calls = [flow["name"] for flow in flows if _name(flow["traffic"], "kind") in {"voice", "recording"}]
    call = f"{calls[0]}[0]" if calls else ""
    record = data.get("record", {})
    seconds = scenario.plan(seed)["duration_s"]
    changes: dict[str, Any] = {
        "record.queues": _busiest(results),
        "record.goodput": None,
        "record.allotted": names,
        "record.windows": [f"{name}[0]" for name in tcp[:SENDERS]],
        "record.window-interval": f"{max(round(seconds / 600 * 1e3), 10)} ms",
        "record.units": [call] if call else [],
    }
    if "bin" not in record:
        changes["record.bin"] = f"{max(round(seconds / BINS * 1e3), 10)} ms"
    recorded = scenario.with_overrides(changes)
    return Drawn(recorded, recorded.run(seed), seed, call)


def _name(value: Any, key: str) -> str:
    return str(value.get(key, "")) if isinstance(value, dict) else str(value)


def _busiest(results: Results) -> list[str]:
    links = results.to_polars("links").with_columns(pl.col("link").cast(pl.String))
    order = links.group_by("link", maintain_order=True).agg(pl.col("mean_wait_s").mean())
    return order.sort("mean_wait_s", descending=True, maintain_order=True)["link"].head(LINKS).to_list()


def write(
    run: Drawn,
    results: Results,
    tables: Sequence[TableView],
    out: Path,
    *,
    title: str,
    lead: str,
    notes: Sequence[str],
) -> Path:
    """Leaves page and figures in the folder `out`, beside the tables of `results`, all or nothing.

    Returns:
        The page.
    """
    with staging(out) as partial:
        results.write_into(partial)
        folder = partial / "figures"
        drawings = [draw_network(run, folder)]
        drawings += [one for one in (draw_series(run, folder), draw_call(run, folder)) if one is not None]
        page = Page(
            title=title,
            kicker="Run",
            lead=lead,
            cards=[
                Card(str(results.runs.num_rows), "runs"),
                Card(str(results.to_polars("flows").select("group", "flow").unique().height), "flows"),
                Card(f"{run.scenario.plan(run.seed)['duration_s']:g} s", "simulated"),
            ],
            drawings=drawings,
            tables=tables,
            notes=notes,
            scenario=run.scenario.to_toml(),
            provenance=results.provenance,
            tables_first=True,
        )
        (partial / "index.html").write_text(page.html(), encoding="utf-8")
    return out / "index.html"


@dataclass(frozen=True)
class Place:
    """Where a node is drawn.

    Attributes:
        x: From senders (0) to receivers (1).
        y: From below (0) to above (1).
        label: Its name, or that of several alike with their number.
    """

    x: float
    y: float
    label: str


def layout(plan: dict[str, Any]) -> tuple[dict[str, str], dict[str, Place]]:
    """Which node stands for each that data crosses, and where those are drawn.

    Hosts that hang on the same node and differ in their number only are drawn as one. Nodes within the network
    stand in a
    row, in the order in which flows meet them; hosts to the left and right of those that they hang on.
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
    places: dict[str, Place] = {}
    for at, node in enumerate(inner):
        across = (at + 1) / (len(inner) + 1)
        places[node] = Place(across, 0.5 if straight else 0.5 + 0.2 * (-1) ** at, labels[node])
    _hang(hosts, inner, depth, labels, places)
    return stands, places


def _hang(
    hosts: dict[str, list[str]],
    inner: Sequence[str],
    depth: dict[str, float],
    labels: dict[str, str],
    places: dict[str, Place],
) -> None:
    """Places hosts beside, above and below what they hang on."""
    left: list[str] = []
    right: list[str] = []
    for owner, several in hosts.items():
        if owner in inner[1:-1]:
            # Those of a node within hang above and below it: senders above.
            for height, row in (
                (1.0, [n for n in several if depth[n] < 0.5]),
                (0.0, [n for n in several if depth[n] >= 0.5]),
            ):
                for at, node in enumerate(row):
                    across = places[owner].x + min(0.09, 0.4 / len(inner)) * (at - (len(row) - 1) / 2)
                    # In steps, so that names do not cover each other.
                    far = 0.42 - 0.14 * (at % 2)
                    places[node] = Place(across, 0.5 + (far if height else -far), labels[node])
            continue
        for node in several:
            here = owner == inner[0] if len(inner) > 1 else depth[node] < 0.5
            (left if here else right).append(node)
    for across, column in ((0.0, left), (1.0, right)):
        for at, node in enumerate(column):
            places[node] = Place(across, 1 - (at + 0.5) / len(column), labels[node])


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


def draw_network(run: Drawn, folder: Path) -> drawing.Drawing:
    """Nodes and links with their rates and delays; links are as thick as they are used."""
    from fairwave.advice import rate_in_words

    plan = run.scenario.plan(run.seed)
    links = {link["name"]: link for link in plan["links"]}
    used = dict(
        run.results.to_polars("links").select(pl.col("link").cast(pl.String), "utilisation").iter_rows()
    )
    stands, places = layout(plan)
    edges: dict[tuple[str, str], list[str]] = {}
    for name in links:
        one, other = name.split(">")
        if one in stands and other in stands:
            edges.setdefault(tuple(sorted((stands[one], stands[other]))), []).append(name)  # type: ignore[arg-type]
    rows = []
    with drawing.canvas("network", (11.4, 1.6 + 0.7 * _tallest(places))) as canvas:
        axes = canvas.subplots()
        for (one, other), names in edges.items():
            # First the direction that leads to the right.
            names.sort(key=lambda name: places[stands[name.split(">")[0]]].x)
            share = max(used.get(name) or 0.0 for name in names)
            rates = list(dict.fromkeys(rate_in_words(links[name]["rate_bps"]) for name in names))
            delays = sorted({links[name]["delay_s"] * 1e3 for name in names})
            delay = f"{delays[0]:.3g} ms" if len(delays) == 1 else f"{delays[0]:.3g}–{delays[-1]:.3g} ms"
            _edge(axes, places[one], places[other], f"{' | '.join(rates[:2])}, {delay}", share)
            rows += [
                (name, links[name]["rate_bps"], links[name]["delay_s"], used.get(name)) for name in names
            ]
        for place in places.values():
            axes.annotate(
                place.label, (place.x, place.y), ha="center", va="center", fontsize=9.5, zorder=4,
                bbox={"boxstyle": "round,pad=0.35", "facecolor": style.PAPER, "edgecolor": style.INK},
            )  # fmt: skip
        axes.set_xlim(-0.08, 1.08)
        axes.set_ylim(0, 1)
        axes.axis("off")
        data = pl.DataFrame(
            rows, ["link", "rate_bps", "delay_s", "utilisation"], orient="row", infer_schema_length=None
        )
        return drawing.save(
            canvas, folder, "network", data, run.results.provenance,
            title="The network",
            caption="What data crosses, from senders to receivers. A line is as thick as its busier direction is "
            f"used, and coloured above {BUSY * 100:g} %; rates that differ are told there | back.",
            alt="Nodes and links of the network, with rates, delays and use",
        )  # fmt: skip


def _tallest(places: dict[str, Place]) -> int:
    """Nodes in the column that has most; where hosts hang above and below, three."""
    columns = [place.x for place in places.values()]
    hung = any(0 < place.x < 1 and place.y not in {0.3, 0.5, 0.7} for place in places.values())
    return max([columns.count(x) for x in columns] + [3 if hung else 1])


def _edge(axes: Axes, one: Place, other: Place, label: str, share: float) -> None:
    colour = style.LOOKS[0].colour if share > BUSY else style.LOOKS[6].colour
    axes.plot([one.x, other.x], [one.y, other.y], "-", color=colour, linewidth=0.8 + 5 * share, zorder=1)
    if (
        one.y != other.y
        and min(one.x, other.x) > 0
        and max(one.x, other.x) < 1
        and abs(one.x - other.x) < 0.1
    ):
        label = label.split(",", maxsplit=1)[0]  # little room above and below a row of routers
    text = f"{label}, {share * 100:.0f} %"
    middle = ((one.x + other.x) / 2, (one.y + other.y) / 2)
    axes.annotate(
        text,
        middle,
        ha="center",
        va="bottom",
        fontsize=8,
        zorder=3,
        xytext=(0, 3),
        textcoords="offset points",
        bbox={"boxstyle": "square,pad=0.1", "facecolor": style.PAPER, "edgecolor": "none"},
    )


PANELS = (
    ("allotted_goodput_bps", "Goodput of each group", "Mb/s", 1e-6),
    ("queue_packets", "Busiest queues", "packets", 1.0),
    ("window", "Congestion windows", "segments", 1.0),
)
"""Series that are drawn, each with title, unit and factor."""


def draw_series(run: Drawn, folder: Path) -> drawing.Drawing | None:
    """Goodput, queues and windows over time, one below the other; none where nothing was recorded."""
    panels = [(title, unit, run.series(kind), scale) for kind, title, unit, scale in PANELS]
    panels = [(title, unit, rows, scale) for title, unit, rows, scale in panels if rows.height]
    if not panels:
        return None
    with drawing.canvas("series", (11.4, 0.6 + 2.3 * len(panels))) as canvas:
        grid = canvas.subplots(len(panels), 1, sharex=True, squeeze=False)
        for axes, (title, unit, rows, scale) in zip(grid.flat, panels, strict=True):
            names = rows["name"].unique(maintain_order=True).to_list()
            for name, look in style.looks(names).items():
                part = rows.filter(pl.col("name") == name)
                axes.plot(
                    part["time_s"], part["value"] * scale, label=name, color=look.colour, linestyle=look.line,
                    linewidth=1.3,
                )  # fmt: skip
            axes.set_title(title)
            axes.set_ylabel(unit)
            _scale(axes, rows, several=unit != "packets")
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        grid.flat[-1].set_xlabel("time (s)")
        data = pl.concat(
            [rows.select(pl.lit(title).alias("panel"), pl.all()) for title, _, rows, _ in panels]
        )
        return drawing.save(
            canvas, folder, "series", data, run.results.provenance,
            title="Over time",
            caption=f"The run with seed {run.seed}. Goodput is summed over the flows of a group; of the links those on "
            "which packets wait longest, of TCP the first sender of each group.",
            alt="Goodput per group, queue lengths and congestion windows over time",
        )  # fmt: skip


def _scale(axes: Axes, rows: pl.DataFrame, *, several: bool) -> None:
    """From zero; logarithmic where the least of several series could not be seen beside the greatest."""
    typical = rows.filter(pl.col("value") > 0).group_by("name").agg(pl.col("value").median())["value"]
    if several and len(typical) > 1 and typical.max() > 50 * typical.min():  # type: ignore[operator]  # numbers
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylim(bottom=0)


def draw_call(run: Drawn, folder: Path) -> drawing.Drawing | None:
    """The first call unit by unit: how long each travelled, when it was played, what was lost; none without a call."""
    if not run.call or "units" not in run.results.tables:
        return None
    units = run.results.to_polars("units").filter(pl.col("flow").cast(pl.String) == run.call)
    if not units.height:
        return None
    data = units.select(
        "unit",
        "created_s",
        ((pl.col("arrived_s") - pl.col("created_s")) * 1e3).alias("network_ms"),
        ((pl.col("played_s") - pl.col("created_s")) * 1e3).alias("played_ms"),
        pl.col("fate").cast(pl.String),
    )
    with drawing.canvas("call", (11.4, 3.4)) as canvas:
        axes = canvas.subplots()
        played = data.filter(pl.col("played_ms").is_not_null())
        axes.plot(
            played["created_s"],
            played["played_ms"],
            ".",
            markersize=2,
            color=style.LOOKS[4].colour,
            label="played",
        )
        for fate, look in (("played", style.LOOKS[1]), ("late", style.LOOKS[0])):
            part = data.filter((pl.col("fate") == fate) & pl.col("network_ms").is_not_null())
            label = "arrived" if fate == "played" else "arrived too late"
            if part.height:
                axes.plot(
                    part["created_s"], part["network_ms"], ".", markersize=2.5, color=look.colour, label=label
                )
        for made in data.filter(pl.col("fate") == "lost")["created_s"]:
            axes.axvline(made, 0, 0.05, color=style.INK, linewidth=0.6)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("made at (s)")
        axes.set_ylabel("ms after it was made")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=4)
        lost = data.filter(pl.col("fate") == "lost").height
        return drawing.save(
            canvas, folder, "call", data, run.results.provenance,
            title=f"The call {run.call}, packet by packet",
            caption=f"When each packet arrived and was played; {lost} of {data.height} were lost: ticks at the foot. "
            f"Seed {run.seed}.",
            alt="Delay from making to arriving and to playing, for each packet of one call",
        )  # fmt: skip
