"""A network link by link: loaded links are simulated alone, and their delays and losses are composed along paths.

The decomposition is Parsimon's (Zhao et al., NSDI 2023), including its clusters. A link direction that resembles a
simulated one reuses the results of that link's calls. It scales their waits and losses by its estimated wait
(`linking`). Links with an offered load of `HOT` or more are always simulated. So are links that affect packets other
than by queueing. Links with an inflow of at most their rate are not simulated (`Alone.is_limited`). Each link's
scenario contains the effect of the other links of the paths on TCP, so its flows react to their whole path.

Each link is a separate task, on all cores or on a cluster's workers, and its result is stored by content. After a
change, these links run again: the changed link, the links that it leads to, and those with flows for which it is the
narrowest other link. A variant of a network (a wider link, a failure) reuses the results of the original network.

**Assumptions.** Links are independent: waits and losses of the links of a path are drawn independently, for each call.
A link on which packets would wait less than `NEGLIGIBLE` is not simulated. Its wait is the estimate, exponential if
there is one, and it discards nothing †. The audible quality of a call follows from calls of the link runs, with the
simulator's ratings (`ratings`). Failures in the file are left out.
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
    estimate_link,
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
"""A link is not simulated if its offered load is below the first value and the wait (s) is below the second †."""

ALIKE = Features(odds=0.35, wait=0.35, local=0.25, slower=0.3, bound=0.3, inflow=0.5)
"""Two links resemble each other if their rates and queues are equal and no feature differs by more than this †."""

CALLS = 24
"""Calls that are drawn for each pair and path."""

_ORDERS = np.argsort(np.random.default_rng(33).random((256, RANKS)), axis=1)


@dataclass
class _Simulated:
    """A simulated link: its kind (rate and queue), its features, and its result for each seed."""

    kind: str
    features: Features
    results: list[Link]

    def resembles(self, kind: str, features: Features) -> bool:
        return kind == self.kind and all(
            abs(one - other) <= most for one, other, most in zip(features, self.features, ALIKE, strict=True)
        )


@dataclass
class Decomposition:
    """Results link by link, for a network and its variants, under the same seeds.

    Attributes:
        seeds: Seeds of the link runs; one result for each.
        threads: Parallel runs; all cores when None.
        keep: Store of link runs.
        loaded, simulated: Link directions of the original network: with enough load to simulate, and simulated.
        tasks, spent_s: Requested link runs, and their CPU time in this process, s.
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
        """Returns a result for each network and seed. The first requested network is the original.

        Raises:
            fairwave.ScenarioError: The original network has calls of more than one kind, or none.
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
        """Chooses for each loaded link the run that it uses: a new one, another link's, or a stored one."""
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

        def report_progress(done: float, of: int) -> None:
            if progress is not None:
                progress(done / max(of, 1) * len(networks), len(networks))

        begin = time.process_time()
        tables = replicate(
            runs, threads=self.threads, keep=self.keep, progress=report_progress if progress else None
        )
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
        """Gives links that are not simulated the scaled results of the links that they resemble."""
        for name, like in plan.items():
            if like == name:
                continue
            one = links[name]
            source = found[like] if isinstance(like, str) else like.results
            known = math.log(links[like].wait_s) if isinstance(like, str) else like.features.wait
            factor = math.exp(math.log(one.wait_s) - known)
            found[name] = [each.scale(factor, min(one.load, 1.0)) for each in source]

    def _composed(
        self, network: Network, alone: dict[str, Alone], found: dict[str, list[Link]], at: int, seed: int
    ) -> RunAnswer:
        """Composes the result of one seed: draws calls for each pair, link by link along its path."""
        answer = RunAnswer()
        rates = network.rates()
        links = {}
        for name, bits in network.offered().items():
            one = alone.get(name)
            if name in found:
                links[name] = found[name][at].pool(found[name])
            elif one is not None and one.is_limited:
                links[name] = one.limited_result()
            else:
                links[name] = estimate_link(bits / rates[name], one.wait_s if one is not None else 0.0)
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
        """Draws the calls of a pair under one seed. The random numbers depend only on pair and seed."""
        random = np.random.default_rng([seed, zlib.crc32("\n".join(pair).encode())])
        assert self._rating is not None
        host = send_jitter_s(network.table)
        values = []
        for group in groups:
            lost, late, gap = np.ones(CALLS), np.zeros(CALLS), np.zeros(CALLS)
            total = host * (_ORDERS[random.integers(len(_ORDERS), size=CALLS)] + 0.5) / RANKS
            for name in network.crossed_links(group):
                link = links[name]
                if not len(link.losses):
                    link = estimate_link(link.run.utilisation, link.run.wait_s)
                # A call that lasts longer than a run of the link crosses several runs, each for a part of its time.
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
"""Index of the 95th percentile among `RANKS` sorted values."""


def _together(network: Network, groups: Sequence[Group], values: Numbers) -> PairRun:
    """Merges the calls of a pair's paths, weighted by each path's share of the calls."""
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
    """Returns the loaded link directions between nodes, by name."""
    edges = {f"{a}>{b}": link for link in network.topology.links for a, b in (link.ends, link.ends[::-1])}
    crossing: dict[str, list[Group]] = defaultdict(list)
    calls, files = defaultdict[str, float](float), defaultdict[str, float](float)
    for group in network.groups.values():
        for name in network.crossed_links(group):
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
    """Returns the name of the opposite direction of a link."""
    return ">".join(reversed(name.split(">")))


def _link_value(network: Network, link: Edge, key: str, default: Any) -> Any:
    """Returns the value of a key for a link, or else the default for all links."""
    return link.direction.get(key, network.table.get("links", {}).get(key, default))


def _kind(one: Alone) -> str:
    return repr((one.edge.rate_bps, sorted(one.edge.direction.items(), key=repr)))


def run(
    network: Network, seeds: Sequence[int], *, threads: int | None = None, keep: Keep | None = None,
    progress: Progress | None = None,
) -> list[RunAnswer]:  # fmt: skip
    """Composes the network's result from single links, for each seed."""
    return Decomposition(seeds, threads, keep or Memory()).answer([network], progress)[0]


__all__ = ["Decomposition", "run"]
