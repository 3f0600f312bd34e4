"""A network link by link: each link is simulated alone, and its delays and losses are composed along paths.

The decomposition is Parsimon's (Zhao et al., NSDI 2023). A link direction becomes a small scenario: its rate, delay
and queue, and the flows that cross it. A flow enters over a link as slow as the slowest before it, and leaves towards
a receiver as far away as in the network, so TCP reacts within its round-trip time. In a second round, flows are
thinned and delayed by what the first round found upstream and downstream: losses there are losses of the entering and
leaving links (so TCP backs off for them), mean waits there are delays.

Each scenario is a task of its own, on all cores or on a cluster's workers, and is kept under its content: a changed
link costs only itself and those links whose conditions it changes. Conditions are rounded (`LOSSES`, `WAIT`), so that
small changes change no other link.

**Assumptions.** Links are independent: waits and losses of the links of a path are drawn independently, a call at a
time. A link that is offered less than `LIGHT` of its rate is not simulated: its wait is that of M/G/1 (Pollaczek and
Khinchine), exponential where there is one, and it discards nothing †. A link is simulated until `FLOWS` flows have
arrived rather than for the network's duration, as arrivals are steady †. What a call hears follows from calls of the
link runs, whose ratings are the simulator's: the cost of delay as a function of the mouth-to-ear time, the cost of
loss as a function of the lost share, MOS as a function of R. Failures of the file are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.bands import scale_of
from fairwave.runs.replication import replicate
from fairwave.scenario import Scenario
from fairwave_network import ratings, units
from fairwave_network.language import LAN
from fairwave_network.measuring import LinkRun, PairRun, RunAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairwave.runs.keeping import Keep
    from fairwave.runs.replication import Progress
    from fairwave_network.language import Group, Network

    Numbers = NDArray[np.float64]

LIGHT = 0.02
"""Links that are offered a smaller share of their rate are not simulated †."""

FLOWS = 400
"""A link is simulated until so many flows have arrived there, in the mean †, but not longer than the network."""

LEAST, WARMUP = 4.0, 1.0
"""Least measured time of a link's run, and the time before it, s †."""

LOSSES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2)
"""Losses up- and downstream are rounded to the nearest of these."""

WAIT = 1e-3
"""Waits up- and downstream are rounded to multiples of this, s."""

PLACE = 0.5e-3
"""Propagation up- and downstream is rounded to multiples of this, s: flows that are alike share a group."""

FAST = 10.0
"""A flow that begins at a link's node enters at so many times the link's rate †."""

CALLS, PACKETS = 24, 128
"""So many calls are drawn for each pair, and so many packets for each call."""

SIZE = 200
"""Bytes of a call's packet on the wire, for the time of transmission †."""

AT = (0.0, 0.5, 0.95, 0.99, 1.0)
"""Shares at which the distribution of a call's waits is known."""


@dataclass
class Conditions:
    """What the first round found on a link: its discarded share and its mean wait, s."""

    loss: float = 0.0
    wait: float = 0.0


@dataclass
class Link:
    """What is known of a link direction in one run.

    Attributes:
        losses: Share of each of its calls' packets that the link lost.
        waits: Of each of its calls the waits at `AT`, s.
        late: Cost of lateness of each of its calls, in points of R.
        heard: Of each of its calls: the lost share with that of the links around it, the cost of loss in points of R,
            the mouth-to-ear time less the 95th percentile of delay (s).
        run: Use, discards, mean wait.
    """

    losses: Numbers
    waits: Numbers
    late: Numbers
    heard: Numbers
    run: LinkRun


def nearest(value: float, of: Sequence[float] = LOSSES) -> float:
    """The value of a list that is nearest."""
    return min(of, key=lambda one: abs(one - value))


def link_scenario(
    network: Network, link: str, crossing: Sequence[Group], known: dict[str, Conditions]
) -> Scenario:
    """The scenario of one link direction with what crosses it."""
    one, other = link.split(">")
    rates = network.rates()
    delays = {frozenset(each.ends): each.delay_s for each in network.topology.links}
    own = next(each for each in network.topology.links if set(each.ends) == {one, other})
    common = {
        key: value for key, value in network.table.get("links", {}).items() if key not in ("rate", "delay")
    }
    links: list[dict[str, Any]] = [
        {
            "from": "x", "to": "y", "rate": units.rate_text(own.rate_bps), "delay": units.span_text(own.delay_s),
            **common, **own.direction,
            "reverse": {"queue": {"discipline": "drop-tail", "capacity": {"packets": 10_000}}},
        }
    ]  # fmt: skip
    merged: dict[tuple[Any, ...], float] = {}
    for group in crossing:
        way = network.crossed(group)
        at = way.index(link)
        before, after = way[:at], way[at + 1 :]
        key = (
            group.mix.name, _rate(before, rates, own.rate_bps), _rounded(before, delays, known), _lost(before, known),
            _rounded(after, delays, known), _lost(after, known),
        )  # fmt: skip
        merged[key] = merged.get(key, 0.0) + group.per_second
    mixes = {group.mix.name: group.mix for group in crossing}
    entries: dict[tuple[Any, ...], str] = {}
    exits: dict[tuple[Any, ...], str] = {}
    flows: list[dict[str, Any]] = []
    big = {"discipline": "drop-tail", "capacity": {"packets": 100_000}}
    for (name, rate, near, lost, far, lost_after), per_second in sorted(merged.items()):
        entry = entries.setdefault((rate, near, lost), f"in-{len(entries)}")
        exit_ = exits.setdefault((far, lost_after), f"out-{len(exits)}")
        mix = mixes[name]
        flows.append(
            {
                "name": f"{name}_{len(flows)}", "from": entry, "to": exit_, **mix.flow,
                "arrivals": mix.arrivals(float(f"{per_second:.9g}")),
            }
        )  # fmt: skip
    for (rate, near, lost), name in entries.items():
        links.append(_side(name, "x", rate, near, lost, big))
    for (far, lost), name in exits.items():
        links.append(_side("y", name, own.rate_bps * FAST, far, lost, big))
    seconds = WARMUP + measured_s(network, sum(group.per_second for group in crossing))
    frame = {"name": "link", "duration": units.span_text(seconds), "warmup": units.span_text(WARMUP)}
    frame |= {key: network.table[key] for key in ("preset", "hosts") if key in network.table}
    return Scenario.from_dict({**frame, "link": links, "flow": flows})


def measured_s(network: Network, per_second: float) -> float:
    """For how long a link is measured at which so many flows arrive in a second, whole seconds."""
    most = units.span(network.table["duration"], "duration") - units.span(
        network.table.get("warmup", "0 s"), "warmup"
    )
    return max(1.0, min(most, max(LEAST, math.ceil(FLOWS / per_second))))


def _side(
    from_: str, to: str, rate: float, delay: float, lost: float, queue: dict[str, Any]
) -> dict[str, Any]:
    table: dict[str, Any] = {
        "from": from_, "to": to, "rate": units.rate_text(rate), "delay": units.span_text(delay), "queue": queue,
    }  # fmt: skip
    if lost > 0:
        table["loss"] = {"model": "bernoulli", "rate": lost}
        table["reverse"] = {"loss": "none"}
    return table


def _rate(before: Sequence[str], rates: dict[str, float], own: float) -> float:
    return min([rates[name] for name in before], default=own * FAST)


def _rounded(way: Sequence[str], delays: dict[frozenset[str], float], known: dict[str, Conditions]) -> float:
    propagation = sum(delays.get(frozenset(name.split(">")), 0.0) for name in way)
    wait = sum(known[name].wait for name in way if name in known)
    return round(propagation / PLACE) * PLACE + round(wait / WAIT) * WAIT


def _lost(way: Sequence[str], known: dict[str, Conditions]) -> float:
    through = math.prod(1 - known[name].loss for name in way if name in known)
    return nearest(1 - through)


def heavy(network: Network) -> list[str]:
    """Link directions that are simulated, in the order of names."""
    rates = network.rates()
    return sorted(
        name for name, bits in network.offered().items() if bits >= LIGHT * rates[name] and LAN not in name
    )


def run(
    network: Network, seeds: Sequence[int], *, rounds: int = 2, threads: int | None = None, keep: Keep | None = None,
    progress: Progress | None = None,
) -> list[RunAnswer]:  # fmt: skip
    """Answers link by link: one for each seed."""
    crossing: dict[str, list[Group]] = {}
    for group in network.groups.values():
        for name in network.crossed(group):
            crossing.setdefault(name, []).append(group)
    names = heavy(network)
    known: dict[str, Conditions] = {}
    found: dict[str, list[Link]] = {}
    total = rounds * len(names) * len(seeds)
    for number in range(rounds):
        scenarios = [link_scenario(network, name, crossing[name], known) for name in names]
        first = number * len(names) * len(seeds)

        def told(done: float, _: int, first: int = first) -> None:
            if progress is not None:
                progress(first + done, total)

        jobs = [(scenario.native, seed) for scenario in scenarios for seed in seeds]
        tables = replicate(jobs, threads=threads, keep=keep, progress=told if progress else None)
        for at, name in enumerate(names):
            several = [
                _link(one, scenarios[at], network) for one in tables[at * len(seeds) : (at + 1) * len(seeds)]
            ]
            found[name] = several
            known[name] = Conditions(
                float(np.mean([one.run.dropped for one in several])),
                float(np.mean([one.run.wait_s for one in several])),
            )
    rating = ratings.of_calls(network, [one for several in found.values() for one in several], threads, keep)
    return [_compose(network, found, at, seed, rating) for at, seed in enumerate(seeds)]


def _link(tables: Any, scenario: Scenario, network: Network) -> Link:
    """What a link's run says of its calls."""
    kinds = {group.mix.name: group.mix.kind for group in network.groups.values()}
    flows, links = tables["flows"], tables["links"]
    data = scenario.to_dict()
    delay = {(one["from"], one["to"]): units.span(one["delay"], "delay") for one in data["link"]}
    ways = {flow["name"]: (flow["from"], flow["to"]) for flow in data["flow"]}
    bases = {
        name: delay[one, "x"] + delay["x", "y"] + delay["y", other] for name, (one, other) in ways.items()
    }
    around = _lost_around(data)
    names = [str(name) for name in flows["group"].texts]
    is_call = np.array([kinds[name.rpartition("_")[0]] == "calls" for name in names], dtype=bool)
    keep = np.flatnonzero(is_call & np.isfinite(flows["mos"].numbers))
    values = {
        what: flows[what].numbers[keep]
        for what in ("units_lost", "units_sent", "r_cost_loss", "r_cost_lateness", "mouth_to_ear_s")
    }
    base = np.array([bases[names[at]] for at in keep])
    columns = [flows[f"delay_{what}_s"].numbers[keep] for what in ("p50", "p95", "p99", "max")]
    waits = np.stack([np.zeros(len(keep)), *(np.maximum(column - base, 0) for column in columns)], axis=1)
    loss = values["units_lost"] / np.maximum(values["units_sent"], 1)
    outside = np.array([around[names[at]] for at in keep])
    own = np.clip(1 - (1 - loss) / np.maximum(1 - outside, 1e-9), 0, 1)
    heard = np.stack([loss, values["r_cost_loss"], values["mouth_to_ear_s"] - columns[1]], axis=1)
    row = list(links["link"].texts).index("x>y")
    use = [
        float(np.nan_to_num(links[name].numbers[row])) for name in ("utilisation", "drop_rate", "mean_wait_s")
    ]
    return Link(own, np.nan_to_num(waits), np.nan_to_num(values["r_cost_lateness"]), heard, LinkRun(*use))


def _lost_around(data: dict[str, Any]) -> dict[str, float]:
    """Of each flow group the loss of the links by which it enters and leaves."""
    rate = {(one["from"], one["to"]): float((one.get("loss") or {}).get("rate", 0.0)) for one in data["link"]}
    return {
        flow["name"]: 1 - (1 - rate[flow["from"], "x"]) * (1 - rate["y", flow["to"]]) for flow in data["flow"]
    }


def light(network: Network, name: str) -> LinkRun:
    """A link that is not simulated: its mean wait is that of M/G/1 (Pollaczek–Khinchine)."""
    rate = network.rates()[name]
    load = min(network.offered()[name] / rate, 0.95)
    # Packets of 1500 B: those of TCP make the wait where there are any †.
    service = 1500 * 8 / rate
    return LinkRun(load, 0.0, load * service / (2 * (1 - load)))


def _compose(
    network: Network, found: dict[str, list[Link]], at: int, seed: int, rating: ratings.Rating
) -> RunAnswer:
    """The answer of one seed: calls are drawn for each pair, link by link along its path."""
    random = np.random.default_rng([seed, 33])
    answer = RunAnswer()
    offered, rates = network.offered(), network.rates()
    for name in offered:
        answer.links[name] = found[name][at].run if name in found else light(network, name)
    delays = {frozenset(link.ends): link.delay_s for link in network.topology.links}
    if network.has_access:
        access = units.span(network.table["access"]["delay"], "access.delay")
        delays |= {frozenset((node, f"{node}{LAN}")): access for node in network.topology.nodes}
    span = units.span(network.table["duration"], "duration") - units.span(
        network.table.get("warmup", "0 s"), "warmup"
    )
    scale = scale_of("mos")
    assert scale is not None
    drawn: dict[tuple[str, str], list[tuple[Group, Numbers]]] = {}
    for group in network.groups.values():
        if group.mix.kind != "calls":
            continue
        lost = np.ones(CALLS)
        late = np.zeros(CALLS)
        total = np.zeros((CALLS, PACKETS))
        for name in network.crossed(group):
            total += delays[frozenset(name.split(">"))] + 8 * SIZE / rates[name]
            link = found[name][at] if name in found else None
            if link is None or not len(link.losses):
                one = answer.links[name]
                waiting = random.random((CALLS, PACKETS)) < one.utilisation
                total += waiting * random.exponential(
                    one.wait_s / max(one.utilisation, 1e-9), (CALLS, PACKETS)
                )
                continue
            chosen = random.integers(len(link.losses), size=CALLS)
            lost *= 1 - link.losses[chosen]
            late += link.late[chosen]
            where = random.random((CALLS, PACKETS))
            total += _quantile(link.waits[chosen], where)
        p95 = np.quantile(total, 0.95, axis=1)
        mos = rating.opinion(1 - lost, p95, late)
        drawn.setdefault(group.pair, []).append(
            (group, np.stack([mos, 1 - lost, total.mean(axis=1), p95], axis=1))
        )
    for pair, parts in drawn.items():
        weights = np.concatenate([np.full(CALLS, group.per_second) for group, _ in parts])
        values = np.concatenate([one for _, one in parts])
        weights /= weights.sum()
        arrived = sum(group.per_second * (span + (group.mix.lasts_s or 0.0)) for group, _ in parts)
        calls: int = max(1, round(arrived))
        bands = dict.fromkeys(("good", "fair", "poor"), 0.0)
        for one, weight in zip(values[:, 0], weights, strict=True):
            bands[scale.band(float(one))] += float(weight)
        fair, poor = (round(bands[band] * calls) for band in ("fair", "poor"))
        opinion, lost_share, mean_s, p95_s = (float(one) for one in weights @ values)
        least, good = float(values[:, 0].min()), max(0, calls - fair - poor)
        answer.pairs[pair] = PairRun(calls, opinion, least, good, fair, poor, mean_s, p95_s, lost_share)
    return answer


def _quantile(known: Numbers, where: Numbers) -> Numbers:
    """Values at shares `where` (a row per call) of distributions of which the values at `AT` are known."""
    upper = np.clip(np.searchsorted(AT, where, side="right"), 1, len(AT) - 1)
    at = np.array(AT)
    low, high = np.take_along_axis(known, upper - 1, 1), np.take_along_axis(known, upper, 1)
    part = (where - at[upper - 1]) / (at[upper] - at[upper - 1])
    found: Numbers = low + (high - low) * part
    return found
