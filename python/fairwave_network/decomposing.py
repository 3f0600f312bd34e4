"""A network link by link: loaded links are simulated alone, and their delays and losses are composed along paths.

The decomposition is Parsimon's (Zhao et al., NSDI 2023), with its clusters: a link direction that resembles one which
is simulated takes that one's calls, with waits and losses in proportion to an estimate of the wait (`linking`). Links
that are offered `HOT` of their rate or more are simulated each for itself. So are links that do more to packets than
queue them. Links that cannot get more than their rate are not simulated (`Alone.is_limited`). What other links of the
paths do to TCP is in each link's scenario, so its flows react to their whole path.

Each link is a task of its own, on all cores or on a cluster's workers, and is kept under its content: a changed link
costs only itself, the links that it leads to, and those whose flows it is the narrowest other link of. A variant of a
network (a wider link, a failure) takes over what is known of the network as it is.

**Assumptions.** Links are independent: waits and losses of the links of a path are drawn independently, a call at a
time. A link on which packets would wait less than `NEGLIGIBLE` is not simulated: its wait is the estimate, exponential
where there is one, and it discards nothing †. What a call hears follows from calls of the link runs, whose ratings
are the simulator's (`ratings`). Failures of the file are left out.
"""

from __future__ import annotations

import math
import time
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.bands import scale_of
from fairwave.measuring.measures import GAP_S
from fairwave.runs.memory import Memory
from fairwave.runs.replication import replicate
from fairwave_network import ratings
from fairwave_network.linking import (
    ACK,
    HOT,
    PACKET,
    PER_ACK,
    RANKS,
    SIZE,
    Alone,
    Features,
    Link,
    Rest,
    direct,
    light,
    mean_bits,
    read_link,
    send_jitter_s,
)
from fairwave_network.measuring import BANDS, PairRun, RunAnswer, capped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairwave.runs.keeping import Keep
    from fairwave.runs.replication import Progress
    from fairwave.scenario import Scenario
    from fairwave_network.language import Group, Network
    from fairwave_network.topology import Link as Edge

    Numbers = NDArray[np.float64]

LIGHT, NEGLIGIBLE = 0.5, 1e-4
"""Links that are offered a smaller share and on which packets would wait less, s, are not simulated †."""

ALIKE = Features(odds=0.35, wait=0.35, local=0.25, slower=0.3, bound=0.3, inflow=0.5)
"""Two links resemble each other where no feature differs by more †, and rate and queue are equal."""

CALLS = 24
"""So many calls are drawn for each pair and path."""

_ORDERS = np.argsort(np.random.default_rng(33).random((256, RANKS)), axis=1)


@dataclass
class _Simulated:
    """A link that was simulated: to what kind it belongs, what it is like, and its result for each seed."""

    kind: str
    features: Features
    results: list[Link]

    def resembles(self, kind: str, features: Features) -> bool:
        return kind == self.kind and all(
            abs(one - other) <= most for one, other, most in zip(features, self.features, ALIKE, strict=True)
        )


@dataclass
class Decomposition:
    """Answers link by link, of a network and of its variants, under the same seeds.

    Attributes:
        seeds: Seeds of the link runs; one answer for each.
        threads: Runs at once; all cores when None.
        keep: Where link runs are kept.
        loaded, simulated: Link directions of the network as it is: loaded enough to be simulated, and simulated.
        tasks, spent_s: Link runs that were asked for, and the CPU time that they took in this process, s.
    """

    seeds: Sequence[int]
    threads: int | None = None
    keep: Keep = field(default_factory=Memory)
    loaded: int = 0
    simulated: int = 0
    tasks: int = 0
    spent_s: float = 0.0
    _clusters: list[_Simulated] = field(default_factory=list)
    _rating: ratings.Rating | None = None

    def answer(self, networks: Sequence[Network], progress: Progress | None = None) -> list[list[RunAnswer]]:
        """For each network an answer for each seed. The first network that is asked for is the one as it is.

        Raises:
            fairwave.ScenarioError: That network has calls of more than one kind, or none.
        """
        if self._rating is None:
            ratings.mix_of(networks[0])
        loaded = [_loaded(network) for network in networks]
        plans = [self._planned(links) for links in loaded]
        jobs = [
            (at, name, loaded[at][name].scenario(runs=len(self.seeds)))
            for at, plan in enumerate(plans) for name, like in plan.items() if name == like
        ]  # fmt: skip
        found: list[dict[str, list[Link]]] = [{} for _ in networks]
        for (at, name, _), several in zip(jobs, self._simulate(jobs, networks, progress), strict=True):
            found[at][name] = several
        for at, plan in enumerate(plans):
            self._like(loaded[at], plan, found[at])
        if self._rating is None:
            self.loaded = len(plans[0])
            self.simulated = sum(name == like for name, like in plans[0].items())
            self._clusters = [
                _Simulated(_kind(one), one.features(), found[0][name])
                for name, one in loaded[0].items()
                if plans[0].get(name) == name and one.load < HOT and one.is_plain
            ]  # fmt: skip
            every = [link for name, like in plans[0].items() if name == like for link in found[0][name]]
            self._rating = ratings.rate_calls(networks[0], every, self.threads, self.keep)
        return [
            [self._composed(network, links, several, at, seed) for at, seed in enumerate(self.seeds)]
            for network, links, several in zip(networks, loaded, found, strict=True)
        ]

    def _planned(self, links: dict[str, Alone]) -> dict[str, str | _Simulated]:
        """For each loaded link the one whose run it takes: itself, another of the network, or one that is known."""
        plan: dict[str, str | _Simulated] = {}
        there: list[tuple[str, _Simulated]] = []
        for name in sorted(links, key=lambda name: (-links[name].load, name)):
            one = links[name]
            if one.is_limited or (one.is_plain and one.load < LIGHT and one.wait_s < NEGLIGIBLE):
                continue
            kind, features = _kind(one), one.features()
            plan[name] = name
            if one.load >= HOT or not one.is_plain:
                continue
            like = next((each for each in self._clusters if each.resembles(kind, features)), None)
            other = next((each for each, of in there if of.resembles(kind, features)), None)
            if like is not None:
                plan[name] = like
            elif other is not None:
                plan[name] = other
            else:
                there.append((name, _Simulated(kind, features, [])))
        return plan

    def _simulate(
        self,
        jobs: Sequence[tuple[int, str, Scenario]],
        networks: Sequence[Network],
        progress: Progress | None,
    ) -> list[list[Link]]:
        runs = [(scenario.native, seed) for *_, scenario in jobs for seed in self.seeds]
        if not runs:
            return []

        def told(done: float, of: int) -> None:
            if progress is not None:
                progress(done / max(of, 1) * len(networks), len(networks))

        begin = time.process_time()
        tables = replicate(runs, threads=self.threads, keep=self.keep, progress=told if progress else None)
        self.tasks += len(runs)
        self.spent_s += time.process_time() - begin
        count = len(self.seeds)
        return [
            [
                read_link(one, scenario, networks[at], name)
                for one in tables[first * count : (first + 1) * count]
            ]
            for first, (at, name, scenario) in enumerate(jobs)
        ]

    @staticmethod
    def _like(
        links: dict[str, Alone], plan: dict[str, str | _Simulated], found: dict[str, list[Link]]
    ) -> None:
        """Links that are not simulated take the results of those that they resemble."""
        for name, like in plan.items():
            if like == name:
                continue
            one = links[name]
            source = found[like] if isinstance(like, str) else like.results
            known = math.log(links[like].wait_s) if isinstance(like, str) else like.features.wait
            factor = math.exp(math.log(one.wait_s) - known)
            found[name] = [each.scaled(factor, min(one.load, 1.0)) for each in source]

    def _composed(
        self, network: Network, alone: dict[str, Alone], found: dict[str, list[Link]], at: int, seed: int
    ) -> RunAnswer:
        """The answer of one seed: calls are drawn for each pair, link by link along its path."""
        answer = RunAnswer()
        rates = network.rates()
        links = {}
        for name, bits in network.offered().items():
            one = alone.get(name)
            if name in found:
                links[name] = found[name][at].pooled(found[name])
            elif one is not None and one.is_limited:
                links[name] = one.passed()
            else:
                links[name] = light(bits / rates[name], one.wait_s if one is not None else 0.0)
        answer.links = {name: link.run for name, link in links.items()}
        delays = network.delays()
        parts: dict[tuple[str, str], list[Group]] = defaultdict(list)
        for group in network.groups.values():
            if group.mix.kind == "calls":
                parts[group.pair].append(group)
        for pair, groups in parts.items():
            answer.pairs[pair] = self._pair(network, pair, groups, links, rates, delays, seed)
        return answer

    def _pair(
        self, network: Network, pair: tuple[str, str], groups: Sequence[Group], links: dict[str, Link],
        rates: dict[str, float], delays: dict[str, float], seed: int,
    ) -> PairRun:  # fmt: skip
        """The calls of a pair under one seed. Its random numbers depend on pair and seed alone."""
        random = np.random.default_rng([seed, zlib.crc32("\n".join(pair).encode())])
        assert self._rating is not None
        host = send_jitter_s(network.table)
        values = []
        for group in groups:
            lost, late, gap = np.ones(CALLS), np.zeros(CALLS), np.zeros(CALLS)
            total = host * (_ORDERS[random.integers(len(_ORDERS), size=CALLS)] + 0.5) / RANKS
            for name in network.crossed(group):
                link = links[name]
                if not len(link.losses):
                    link = light(link.run.utilisation, link.run.wait_s)
                # A call that lasts through several runs of the link hears each of them for a part of its time.
                chosen = random.integers(len(link.losses), size=(CALLS, min(link.windows, RANKS)))
                orders = _ORDERS[random.integers(len(_ORDERS), size=CALLS)]
                lost *= 1 - link.losses[chosen].mean(axis=1)
                late += link.late[chosen].mean(axis=1)
                gap = np.maximum(gap, link.gaps[chosen].max(axis=1))
                heard = chosen[:, np.arange(RANKS) % chosen.shape[1]]
                total += link.waits[heard, orders] + (delays[name] + 8 * SIZE / rates[name])
            p95 = np.partition(total, AT_P95, axis=1)[:, AT_P95]
            values.append(
                np.stack(
                    [self._rating.opinion(1 - lost, p95, late), 1 - lost, total.mean(axis=1), p95, gap], 1
                )
            )
        return _together(network, groups, np.concatenate(values))


AT_P95 = math.ceil(0.95 * RANKS) - 1
"""Where the 95th percentile stands among `RANKS` sorted values."""


def _together(network: Network, groups: Sequence[Group], values: Numbers) -> PairRun:
    """The calls of a pair's paths, each path with its share of the calls."""
    scale = scale_of("mos")
    assert scale is not None
    weights = np.repeat([group.per_second for group in groups], CALLS)
    weights = weights / weights.sum()
    span = network.measured_s()[0]
    arrived = sum(group.per_second * (span + (group.mix.lasts_s or 0.0)) for group in groups)
    calls: int = max(1, round(arrived))
    bands = dict.fromkeys(BANDS, 0.0)
    gaps = values[:, 4]
    for one, gap, weight in zip(values[:, 0].tolist(), gaps.tolist(), weights.tolist(), strict=True):
        bands[capped(scale.band(one), gap)] += weight
    fair, poor = (round(bands[band] * calls) for band in ("fair", "poor"))
    opinion, lost, mean_s, p95_s = (float(one) for one in weights @ values[:, :4])
    return PairRun(
        calls,
        opinion,
        float(values[:, 0].min()),
        max(0, calls - fair - poor),
        fair,
        poor,
        mean_s,
        p95_s,
        lost,
        round(float(weights[gaps > GAP_S].sum()) * calls),
        float(gaps.max()),
    )


def _loaded(network: Network) -> dict[str, Alone]:
    """Link directions between nodes that carry something, by name."""
    edges = {f"{a}>{b}": link for link in network.topology.links for a, b in (link.ends, link.ends[::-1])}
    crossing: dict[str, list[Group]] = defaultdict(list)
    calls, files = defaultdict[str, float](float), defaultdict[str, float](float)
    for group in network.groups.values():
        for name in network.crossed(group):
            crossing[name].append(group)
            (calls if direct(group) else files)[name] += group.offered_bps
    rates = network.rates()
    bursts = {name: 2 * max(rates[name] - calls[name], 0.0) if files[name] else 0.0 for name in edges}
    queues = {name: _link_value(network, link, "queue", "drop-tail") for name, link in edges.items()}
    rest = Rest(
        rates, network.delays(), network.offered(), bursts,
        {name: mean_bits(bursts[name], calls[name]) for name in edges},
        {name: mean_bits(files[name], calls[name]) for name in rates},
        {name: files[_back(name)] / PACKET / PER_ACK * ACK * 8 for name in rates}, queues,
        {name: loss for name, link in edges.items() if (loss := _link_value(network, link, "loss", None)) is not None},
    )  # fmt: skip
    return {
        name: Alone(network, name, edges[name], crossing[name], rest)
        for name in sorted(crossing) if name in edges
    }  # fmt: skip


def _back(name: str) -> str:
    """The other direction of a link."""
    return ">".join(reversed(name.split(">")))


def _link_value(network: Network, link: Edge, key: str, default: Any) -> Any:
    """What the scenario says of a link, or of all."""
    return link.direction.get(key, network.table.get("links", {}).get(key, default))


def _kind(one: Alone) -> str:
    return repr((one.edge.rate_bps, sorted(one.edge.direction.items(), key=repr)))


def run(
    network: Network, seeds: Sequence[int], *, threads: int | None = None, keep: Keep | None = None,
    progress: Progress | None = None,
) -> list[RunAnswer]:  # fmt: skip
    """Answers link by link: one for each seed."""
    return Decomposition(seeds, threads, keep or Memory()).answer([network], progress)[0]


__all__ = ["Decomposition", "run"]
