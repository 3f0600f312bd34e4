"""Page about a network: the map, its failures, the worst pairs, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.extras import need
from fairwave_network import wording
from fairwave_network.language import LAN
from fairwave_network.writing import write
from fairwave_report.atlas import Atlas, State, WorstPair
from fairwave_report.page import Card, Page, TableView

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.provenance import Provenance
    from fairwave_network.failing import Failure
    from fairwave_network.language import Network
    from fairwave_network.measuring import NetworkAnswer
    from fairwave_network.widening import Widened


def leave(
    network: Network, found: NetworkAnswer, widened: Sequence[Widened], failures: Sequence[Failure], kind: str,
    folder: Path, provenance: Provenance, extra: Sequence[TableView] = (), notes: Sequence[str] = (),
) -> None:  # fmt: skip
    """Writes page, tables and graph into a folder."""
    write(network, found, failures, folder, provenance)
    files = {"worst": ("pairs.csv", "pairs.parquet"), "links": ("links.csv", "links.parquet")}
    tables = [
        TableView(id_, title[:1].upper() + title[1:], heads, rows, files.get(id_, ()), caption=caption)
        for id_, title, heads, rows, caption in wording.tables(network, found, widened, failures)
    ]
    topology = network.topology
    map_ = atlas(network, found, failures, kind)
    draw(map_, found, folder / "figures" / "network.png")
    page = Page(
        title=network.name, kicker="Network", lead=str(network.table.get("description", "")),
        answer=wording.answer(network, found, widened, failures, kind), notes=list(notes),
        atlas=map_,
        cards=[
            Card(str(len(topology.nodes)), "nodes"), Card(str(len(topology.links)), "links"),
            Card(str(len(found.pairs)), "pairs with calls"), Card(str(len(found.runs)), "runs"),
            *([Card(str(len(failures)), "failures")] if failures else []),
        ],
        tables=[*tables, *extra], provenance=provenance, scenario=network.text,
    )  # fmt: skip
    (folder / "index.html").write_text(page.html(folder), encoding="utf-8")


def atlas(network: Network, found: NetworkAnswer, failures: Sequence[Failure], kind: str) -> Atlas:
    """Returns the map of the results and the failures."""
    nodes = network.topology.nodes
    degrees = all(node.place is not None for node in nodes.values())
    places = {node.name: node.place for node in nodes.values() if node.place} if degrees else _drawn(network)
    states = [_state("", found, (), len(found.pairs))]
    states += [_state(one.name, one.answer, one.links, len(found.pairs)) for one in failures]
    worst = []
    for pair in wording.worst_pairs(found):
        one = found.pairs[pair]
        parts = wording.list_delays(network, found, pair)
        words = f"MOS {one.mos}, {one.loss:.2%} of the packets lost, 95th percentile of delay {one.p95_s * 1e3:.1f} ms"
        worst.append(
            WorstPair(
                f"{pair[0]} → {pair[1]}", [name for name, *_ in parts if LAN not in name], words.replace("%", " %"),
                [
                    (name, _arising(delay, wait, dropped))
                    for name, delay, wait, dropped in parts
                ],
            )
        )  # fmt: skip
    return Atlas(
        places, [link.name for link in network.topology.links], states, worst, degrees=degrees, kind=kind
    )


def _arising(delay: float, wait: float, dropped: float) -> str:
    return f"{delay * 1e3:.2f} ms propagation, {wait * 1e3:.2f} ms mean wait, {dropped * 100:.2f} % discarded"


def _state(name: str, found: NetworkAnswer, failed: Sequence[str], pairs: int) -> State:
    head = f"{name.replace('>', '–')} fails" if name else "Nothing fails"
    missing = pairs - len(found.pairs)
    words = (
        f"{head}: calls are {wording.count_bands(found.bands)} of the pairs; MOS of all calls {found.mos}."
        + (f" {missing} pairs had no rated call." if missing > 0 else "")
    )
    return State(
        name.replace(">", "–"), words, failed,
        {link: (one.utilisation, one.dropped) for link, one in found.links.items()},
        {pair: (one.mos.mean, one.band) for pair, one in found.pairs.items()},
    )  # fmt: skip


def draw(map_: Atlas, found: NetworkAnswer, path: Path) -> None:
    """Draws the map into a file: links by utilisation, nodes by the mean opinion of the calls that begin there."""
    import matplotlib.pyplot as plt

    from fairwave_report import style

    opinions: dict[str, list[float]] = {}
    for pair, one in found.pairs.items():
        opinions.setdefault(pair[0], []).append(one.mos.mean)
    colours = {"good": "#00674a", "fair": "#b58900", "poor": "#a63a06", "none": "#8a9299"}
    steps = ("#9db4c4", "#5f9bc4", "#e0a100", "#dd6a13", "#b3261e")
    settings: Any = style.settings("network")
    with plt.rc_context(settings):
        figure, axes = plt.subplots(figsize=(7.2, 7.2), layout="constrained")
        for half in map_.halves:
            step = map_.step(map_.states[0].links.get(half.name, (0.0, 0.0))[0])
            axes.plot(
                [half.x1, half.x2], [-half.y1, -half.y2], color=steps[step], lw=0.8 + step, zorder=1 + step
            )
        for name, (x, y) in map_.nodes.items():
            several = opinions.get(name)
            band = map_.band(sum(several) / len(several) if several else None)
            axes.plot(x, -y, "o", color=colours[band], markersize=5, zorder=10)
        sides: dict[str, Any] = {"start": "left", "middle": "center", "end": "right"}
        for label in map_.labels:
            axes.text(
                label.x, -label.y, label.text, ha=sides[label.anchor], va="baseline", fontsize=7, zorder=11
            )
        axes.set_aspect("equal")
        axes.set_axis_off()
        for step, words in enumerate(map_.keys[0][1]):
            axes.plot([], [], color=steps[step], lw=0.8 + step, label=words)
        for band, words in (
            ("good", "good from MOS 3.60"),
            ("fair", "fair from 3.10"),
            ("poor", "poor below 3.10"),
            ("none", "no call begins there"),
        ):
            axes.plot([], [], "o", color=colours[band], label=words)
        figure.legend(
            title="links used; calls that begin at a node",
            fontsize=7,
            title_fontsize=7,
            loc="outside lower center",
            ncols=3,
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120, metadata={"Software": None})
        plt.close(figure)


def _drawn(network: Network) -> dict[str, tuple[float, float]]:
    """Computes positions for a file without them, with distances that follow the numbers of hops."""
    nx = need("networkx", "network")
    graph = nx.Graph([link.ends for link in network.topology.links])
    return {name: (float(x), float(y)) for name, (x, y) in nx.kamada_kawai_layout(graph).items()}
