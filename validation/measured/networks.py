"""Networks link by link compared with the whole, their cost, and a plan for a country.

Keeps the numbers in ``networks.json`` and writes them into the page. ``--only`` measures some parts and keeps the
others; ``--none`` only writes the page. Times are CPU times on one thread.
"""

from __future__ import annotations

import json
import random
import resource
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx

from fairwave_network import decomposing, failing, language, measuring, mixes, trusting, widening
from validation import ROOT, kept, writing

if TYPE_CHECKING:
    from fairwave_network.language import Network
    from fairwave_network.measuring import NetworkAnswer

KEPT = "measured/networks"
ABOUT = """The first network is Germany50 with 100 Mb/s on its 88 links, 10 000 calls at once, files of 1 MB
up to 95 % on the busiest link, 65 s. The second is `examples/germany.toml` (8 s). The others carry its
traffic on `sndlib/polska` and `topozoo/Abilene` (gravity, `busiest = "90 %"`, 22 s)."""

FAILED = 10
"""Number of links that fail in turn, from the beginning of the file."""

FEW, MANY = 3, 8
"""Numbers of seeds."""

EXAMPLE = ROOT / "examples" / "germany.toml"

LARGE: dict[str, Any] = {
    "name": "germany-large", "duration": "65 s", "warmup": "5 s", "topology": {"topohub": "sndlib/germany50"},
    "links": {"rate": "100 Mb/s", "queue": {"discipline": "drop-tail", "capacity": {"packets": 850}}},
    "demands": {"matrix": "topology", "busiest": "95 %"},
    "mix": [
        {"kind": "calls", "codec": "g711", "busy": 10_000},
        {"kind": "downloads", "size": "1 MB", "share": "100 %"},
    ],
}  # fmt: skip
"""Germany50 as required: 50 nodes, 88 links, 100 Mb/s, 10 000 calls, 60 s."""

CASES = ("Germany, 10 000 calls", "Germany, the example", "Poland", "Poland, 8 seeds", "Abilene")

CHAINS = {
    "topozoo/Bellcanada": "92 %",
    "topozoo/Digex": "90 %",
    "topozoo/PionierL3": "90 %",
    "topozoo/Darkstrand": "90 %",
    "topozoo/Atmnet": "90 %",
}
MESHES = {
    "sndlib/polska": "90 %",
    "sndlib/france": "90 %",
    "sndlib/ta1": "90 %",
    "sndlib/norway": "90 %",
    "sndlib/geant": "90 %",
}
"""Networks with mostly two links per node, and others: the offered load of their busiest link."""

COUNTRY: dict[str, Any] = {"cities": 10, "towns": 49, "calls": 100_000, "pairs": 2000}
"""1000 links: cities in a ring with chords; around each a ring of towns, each joined to its city as well."""

TIMES = 10
"""Size of the planned country, relative to the largest network here."""

MACHINES, CORES, PRICE = 100, 16, 0.05
"""Machines, cores of each, and the price of a core for an hour in US dollars †."""


def network(case: str) -> Network:
    """A network of the table."""
    if case == CASES[0]:
        return language.parse_table(LARGE, ROOT)
    if case == CASES[1]:
        return language.load(EXAMPLE)
    return load_topohub("topozoo/Abilene" if case == "Abilene" else "sndlib/polska", "90 %", "22 s")


def load_topohub(name: str, busiest: str, duration: str) -> Network:
    """A topology of TopoHub with the traffic and the links of the example."""
    table = language.parse(EXAMPLE.read_text(encoding="utf-8"))
    table |= {
        "duration": duration,
        "topology": {"topohub": name},
        "demands": {"matrix": "gravity", "busiest": busiest},
    }
    return language.parse_table(table, ROOT)


def megabytes() -> float:
    """The most memory that this process has had, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _errors(found: NetworkAnswer, whole: NetworkAnswer) -> dict[str, Any]:
    trust = trusting.compare_pairs(found, whole)
    return {
        "pairs": trust.pairs, "mos_off": trust.mos_off, "mos": [trust.mos[0], trust.mos[-1]],
        "p95_off": trust.p95_off, "p95": [trust.p95[0], trust.p95[-1]],
    }  # fmt: skip


def case(name: str) -> dict[str, Any]:
    """One network both ways, with a link that is changed and each link that fails."""
    read = network(name)
    count = MANY if "8 seeds" in name else FEW
    seeds, others = list(range(1, count + 1)), list(range(count + 1, 2 * count + 1))
    clock = time.process_time
    begin = clock()
    links = decomposing.Decomposition(seeds, threads=1)
    found = measuring.combine_runs(links.answer([read])[0])
    made: dict[str, Any] = {"links_s": clock() - begin, "links_mb": megabytes(), "simulated": links.simulated}
    made["directions"] = len(read.rates())
    offered = read.offered()
    by_load = sorted(
        read.topology.links, key=lambda link: max(offered[way] for way in _ways(link)) / link.rate_bps
    )
    # The median link first. A variant does not use results of the previous one, but its runs are kept.
    for key, link in (("median", by_load[len(by_load) // 2]), ("changed", by_load[-1])):
        begin = clock()
        links.answer([widening.widen_link(read, link.name)])
        made |= {key: link.name, f"{key}_s": clock() - begin}
    begin = clock()
    failed = [link.name for link in read.topology.links[:FAILED]]
    links.answer([failing.reroute(read, [link]) for link in failed])
    made |= {"failures": len(failed), "failures_s": clock() - begin}
    begin = clock()
    whole = measuring.combine_runs(measuring.run(read, [read.scenario], seeds, threads=1)[0])
    made |= {"whole_s": clock() - begin, "whole_mb": megabytes(), "links": _errors(found, whole)}
    other = measuring.combine_runs(measuring.run(read, [read.scenario], others, threads=1)[0])
    return made | {"chance": _errors(other, whole)}


def side_by_side(name: str) -> dict[str, Any]:
    """A network of `CHAINS` or `MESHES` both ways."""
    read = load_topohub(name, {**CHAINS, **MESHES}[name], "62 s")
    seeds, others = list(range(1, MANY + 1)), list(range(MANY + 1, 2 * MANY + 1))
    begin = time.process_time()
    links = decomposing.Decomposition(seeds, threads=1)
    found = measuring.combine_runs(links.answer([read])[0])
    links_s, begin = time.process_time() - begin, time.process_time()
    whole = measuring.combine_runs(measuring.run(read, [read.scenario], seeds, threads=1)[0])
    whole_s = time.process_time() - begin
    other = measuring.combine_runs(measuring.run(read, [read.scenario], others, threads=1)[0])
    degrees = Counter(end for link in read.topology.links for end in link.ends)
    both = [pair for pair in found.pairs if pair in whole.pairs]
    return {
        "nodes": len(degrees), "of_two": sum(degree == 2 for degree in degrees.values()),
        "directions": len(read.rates()), "simulated": links.simulated, "links_s": links_s, "whole_s": whole_s,
        "links": _errors(found, whole), "chance": _errors(other, whole),
        "poor": [sum(answer.pairs[pair].band == "poor" for pair in both) for answer in (found, whole)],
    }  # fmt: skip


def _ways(link: Any) -> tuple[str, str]:
    return link.name, ">".join(link.ends[::-1])


def country(cities: int, towns: int, calls: int, pairs: int) -> dict[str, Any]:
    """A synthetic country link by link: rates are the least of 1, 2, 5 × 10ⁿ Mb/s that load a link by at most 90 %."""
    draw = random.Random(33)
    graph = nx.Graph()
    for city in range(cities):
        for step in (1, 2):
            graph.add_edge(f"c{city}", f"c{(city + step) % cities}", delay_ms=0.5 + 0.5 * step)
        for town in range(towns):
            graph.add_edge(f"c{city}", f"c{city}t{town}", delay_ms=0.2)
            graph.add_edge(f"c{city}t{town}", f"c{city}t{(town + 1) % towns}", delay_ms=0.15)
    nodes = sorted(graph)
    chosen: set[tuple[str, str]] = set()
    while len(chosen) < pairs:
        one, other = draw.sample(nodes, 2)
        chosen.add((one, other))
    clock = time.process_time
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "net.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")), encoding="utf-8")
        lines = [f"{one},{other},{draw.expovariate(1.0):.6f}" for one, other in sorted(chosen)]
        (here / "demands.csv").write_text("\n".join(["from,to,demand", *lines]), encoding="utf-8")
        bits = calls * mixes.read([{"kind": "calls", "busy": 1}])[0].bits
        table: dict[str, Any] = {
            "name": "country", "duration": "22 s", "warmup": "2 s", "topology": {"file": "net.json"},
            "links": {"rate": "1 Tb/s", "queue": {"discipline": "drop-tail", "capacity": {"packets": 1000}}},
            # Files offer as much as calls.
            "demands": {"matrix": "demands.csv", "load": f"{bits / 1e9:.6f} Gb/s"},
            "mix": [{"kind": "calls", "busy": calls}, {"kind": "downloads", "size": "1 MB", "share": 1.0}],
        }  # fmt: skip
        offered = language.parse_table(table, here, as_whole=False).offered()
        for one, other in graph.edges:
            need = max(offered[f"{one}>{other}"], offered[f"{other}>{one}"]) / 0.9
            graph.edges[one, other]["rate_bps"] = min(
                rate
                for rate in (step * 10**power for power in range(6, 13) for step in (1, 2, 5))
                if rate >= need
            )
        (here / "net.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")), encoding="utf-8")
        begin = clock()
        read = language.parse_table(table, here, as_whole=False)
    read_s, begin = clock() - begin, clock()
    links = decomposing.Decomposition([1], threads=1)
    found = measuring.combine_runs(links.answer([read])[0])
    return {
        "nodes": len(graph), "links": graph.number_of_edges(), "pairs": len(found.pairs), "calls": calls,
        "hops": sum(len(group.path) - 1 for group in read.groups.values()) / len(read.groups),
        "read_s": read_s, "answer_s": clock() - begin, "runs_s": links.spent_s,
        "loaded": links.loaded, "simulated": links.simulated, "tasks": links.tasks, "mb": megabytes(),
        "good": found.bands["good"],
    }  # fmt: skip


def _range(values: list[float], unit: str = "") -> str:
    return " to ".join(f"{one * 100:+.0f} %" if unit else f"{one:+.2f}" for one in values).replace("-", "−")


def page(kept: dict[str, Any]) -> str:
    """The section of the page."""
    rows = []
    measured = [name for name in CASES if name in kept["cases"]]
    for name in measured:
        one = kept["cases"][name]
        for words, key in (("link by link", "links"), ("other seeds", "chance")):
            errors = one[key]
            faster = (
                f"{one['links_s']:.1f} s and {one['whole_s']:.1f} s: {one['whole_s'] / one['links_s']:.1f} ×"
            )
            rows.append(
                f"| {name}, {words} | {errors['pairs']} | {errors['mos_off']:.2f} | {_range(errors['mos'])} | "
                f"{errors['p95_off'] * 100:.0f} % | {_range(errors['p95'], '%')} | {faster if key == 'links' else ''} |"
            )
    others = []
    for name in measured:
        one = kept["cases"][name]
        others.append(
            f"| {name} | {one['simulated']} of {one['directions']} | "
            f"{one['median_s']:.1f} s, {one['median_s'] / one['links_s'] * 100:.0f} % | "
            f"{one['changed_s']:.1f} s, {one['changed_s'] / one['links_s'] * 100:.0f} % | "
            f"{one['failures_s']:.0f} s for {one['failures']} | "
            f"{one['failures'] * one['whole_s'] / one['failures_s']:.0f} × | {one['links_mb']:.0f} and "
            f"{one['whole_mb']:.0f} MB |"
        )
    return "\n".join(
        [
            *HEAD,
            *rows,
            *_aims(kept["cases"].get(CASES[0])),
            *OTHER_HEAD,
            *others,
            "",
            *_chains_table(kept.get("beside", {})),
            *(_planned(kept["country"]) if "country" in kept else []),
            "",
        ]
    )


def _aims(one: dict[str, Any] | None) -> list[str]:
    """Requirements on the first network, next to the results."""
    if one is None:
        return []
    errors = one["links"]
    faster = one["whole_s"] / one["links_s"]
    median, changed = one["median_s"] / one["links_s"], one["changed_s"] / one["links_s"]
    found = [
        ("20 times faster", f"{faster:.1f} ×", faster >= 20),
        ("median error of MOS at most 0.1", f"{errors['mos_off']:.2f}", errors["mos_off"] <= 0.1),
        (
            "that of the 95th percentile at most 15 %",
            f"{errors['p95_off'] * 100:.0f} %",
            errors["p95_off"] <= 0.15,
        ),
        ("a changed link of median load in 10 % of the time", f"{median * 100:.0f} %", median <= 0.1),
        ("the busiest link too", f"{changed * 100:.0f} %", changed <= 0.1),
    ]
    words = [f"{aim}: {value}, {'reached' if is_so else 'not reached'}" for aim, value, is_so in found]
    return ["", f"Aims on the first network: {'; '.join(words)}."]


HEAD = (
    "CPU time on one thread, with 3 seeds where nothing else is said. Every second row compares the whole network with",
    "itself under as many other seeds: so much of an error is chance.",
    "",
    (
        "| network, next to the whole | pairs | median error of MOS | MOS, 5 % to 95 % of pairs "
        "| median error of the 95th percentile of delay | 5 % to 95 % of pairs | CPU time, links and whole |"
    ),
    "|---|---|---|---|---|---|---|",
)
OTHER_HEAD = (
    "",
    (
        "| network | link directions simulated | link of median load widened: time, share of the first answer "
        "| busiest link widened "
        "| each link fails | faster than whole networks | memory, links and whole |"
    ),
    "|---|---|---|---|---|---|---|",
)


def _chains_table(kept: dict[str, Any]) -> list[str]:
    """The table of chains and meshes."""
    if not kept:
        return []
    rows = []
    for kind, names in (("chains", CHAINS), ("mesh", MESHES)):
        for name in names:
            if (one := kept.get(name)) is None:
                continue
            links, chance = one["links"], one["chance"]
            rows.append(
                f"| {kind}: `{name}` | {one['of_two']} of {one['nodes']} | {one['simulated']} of {one['directions']} | "
                f"{links['pairs']} | {links['mos_off']:.2f}, {chance['mos_off']:.2f} | {links['p95_off'] * 100:.0f} %, "
                f"{chance['p95_off'] * 100:.0f} % | {_range(links['p95'], '%')} | {one['poor'][0]} and "
                f"{one['poor'][1]} | {one['links_s']:.0f} and {one['whole_s']:.0f} s |"
            )
    return [*BESIDE_HEAD, *rows, *BESIDE_FOOT]


BESIDE_HEAD = (
    "### Chains and meshes",
    "",
    f"The example's links (20 Mb/s) and traffic on ten networks of TopoHub: 62 s, {MANY} seeds, gravity. The busiest",
    "link is offered 90 % of its rate, in Bellcanada 92 %. Of each error, the second number compares the whole network",
    "with itself under as many other seeds. In a network with chains most traffic of a link comes over one other link.",
    "",
    (
        "| network | nodes with two links | link directions simulated | pairs | median error of MOS: link by link, "
        "other seeds | of the 95th percentile of delay | 5 % to 95 % of pairs, link by link | poor pairs: link by link "
        "and whole | CPU time: links and whole |"
    ),
    "|---|---|---|---|---|---|---|---|---|",
)


BESIDE_FOOT = (
    "",
    "A pair is poor if its whole interval is. In the whole network a pair with a call in a single run has no interval,",
    "and counts by the mean of that run. So the counts of poor pairs differ more than the opinions.",
    "",
)


def _planned(one: dict[str, Any]) -> list[str]:
    """The plan for a country, from the cost of the largest network here."""
    links, calls = one["links"], one["calls"]
    seeds, cores = 3, MACHINES * CORES
    tasks = one["loaded"] * TIMES * seeds
    tasks_s = one["runs_s"] / one["tasks"] * tasks
    read_s, rest_s = one["read_s"] * TIMES, (one["answer_s"] - one["runs_s"]) * TIMES
    planned_s = tasks_s / cores + rest_s * seeds + read_s
    dollars = (tasks_s + rest_s * seeds + read_s) / 3600 * PRICE
    return [
        "### A country",
        "",
        f"The largest network that ran here: a synthetic country of {links:,} links, {one['nodes']:,} nodes",
        f"and {calls:,} calls at once, next to files that offer as much, over {one['pairs']:,} pairs with",
        f"{one['hops']:.1f} hops in the mean; one thread, one seed. {one['simulated']} link directions stand for",
        f"the {one['loaded']:,} that are loaded. The plan is for {TIMES} times as much of everything, with {seeds}",
        "seeds and each loaded link direction by itself. It takes the measured",
        "costs per task, per link and per pair. It was not run.",
        "",
        f"| | measured: {links:,} links | planned: {links * TIMES:,} links, {calls * TIMES:,} calls |",
        "|---|---|---|",
        f"| tasks (link runs) | {one['tasks']:,} | {tasks:,} |",
        f"| CPU time of tasks | {one['runs_s']:.0f} s | {tasks_s / 3600:.1f} h |",
        f"| planning and composing, per seed | {rest_s / TIMES:.1f} s | {rest_s:.0f} s |",
        f"| reading the network | {read_s / TIMES:.1f} s | {read_s:.0f} s |",
        f"| memory | {one['mb'] / 1e3:.1f} GB | {one['mb'] * TIMES / 1e3:.0f} GB where results are composed |",
        f"| time | {one['read_s'] + one['answer_s']:.0f} s | {planned_s:.0f} s on {MACHINES} × {CORES} cores |",
        f"| money, {PRICE:.2f} US dollars for a core hour † | | {dollars:.2f} US dollars |",
    ]  # fmt: skip


def main() -> None:
    """Measures the chosen parts and keeps the numbers."""
    options = writing.parser(__doc__)
    options.add_argument("--only", help="parts of the names of networks, or country; comma-separated")
    asked = (options.parse_args().only or "").split(",")
    found = kept.read(KEPT) if kept.exists(KEPT) else {"cases": {}}
    for name in (*CASES, *CHAINS, *MESHES, "country"):
        if not any(part.lower() in name.lower() for part in asked):
            continue
        print(name, flush=True)
        # Each in a separate process, so that its peak memory is its own.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            if name == "country":
                found["country"] = process.submit(country, **COUNTRY).result()
            elif name in CHAINS or name in MESHES:
                found.setdefault("beside", {})[name] = process.submit(side_by_side, name).result()
            else:
                found["cases"][name] = process.submit(case, name).result()
        kept.write(KEPT, found)


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    return f"# Networks link by link and as a whole\n\n{ABOUT}\n\n{page(kept.read(KEPT))}\n"
