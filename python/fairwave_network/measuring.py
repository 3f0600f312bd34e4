"""Results of a network from the tables of runs: calls, pairs, links.

A call is good from MOS 3.60, fair from 3.10 and poor below (ITU-T G.109, as everywhere in fairwave). A pair's MOS in
a run is the mean of its calls in that run; its interval is over runs. A pair counts in the band that contains its whole
95 % interval. A pair whose interval touches several bands is *undecided*. Calls without a rating (no speech within the
measured time) are not counted.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.bands import WORDS, scale_of
from fairwave.answers.events import held
from fairwave.measuring.measures import GAP_S, MOS, RATIO
from fairwave.measuring.relevance import USUAL, Relevance
from fairwave.measuring.statistics import interval
from fairwave.runs.replication import replicate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairwave.answers.bands import Scale
    from fairwave.measuring.statistics import Interval
    from fairwave.runs.keeping import Keep
    from fairwave.runs.replication import Progress
    from fairwave.scenario import Scenario
    from fairwave_network.language import Network

    Answers = Callable[[Sequence[Network], Progress | None], list[list["RunAnswer"]]]
    """Returns a result for each variant of a network and each seed."""

BANDS = ("good", "fair", "poor")

FLOW_COLUMNS = (
    "mos",
    "units_sent",
    "units_lost",
    "delay_mean_s",
    "delay_p95_s",
    "goodput_bps",
    "late_units",
    "longest_gap_s",
)


@dataclass(frozen=True)
class PairRun:
    """Result of one run for the calls of one pair.

    Attributes:
        calls: Rated calls.
        mos: Their mean opinion.
        worst: The least opinion.
        good, fair, poor: Number of calls in each band; a call with a gap above 0.5 s is fair at best.
        delay_s: Mean one-way delay of their packets, weighted by packets.
        p95_s: Their 95th percentile of delay, mean over calls, weighted by packets.
        loss: Share of their packets that was lost.
        interrupted: Calls with such a gap. Link by link, a call's longest gap is the longest on a link of its path.
        gap_s: The longest gap, s.
    """

    calls: int
    mos: float
    worst: float
    good: int
    fair: int
    poor: int
    delay_s: float
    p95_s: float
    loss: float
    interrupted: int = 0
    gap_s: float = 0.0


@dataclass(frozen=True)
class LinkRun:
    """Result of one run for one link direction: shares from 0 to 1, seconds."""

    utilisation: float
    dropped: float
    wait_s: float


@dataclass
class RunAnswer:
    """One run: pairs and links by name."""

    pairs: dict[tuple[str, str], PairRun] = field(default_factory=dict)
    links: dict[str, LinkRun] = field(default_factory=dict)
    files: dict[str, tuple[int, float, float]] = field(default_factory=dict)
    """Kind of traffic to files completed, mean completion time, 95th percentile (seconds)."""

    @property
    def calls(self) -> Counter[str]:
        """Number of rated calls by band."""
        found: Counter[str] = Counter(dict.fromkeys(BANDS, 0))
        for pair in self.pairs.values():
            found += Counter({"good": pair.good, "fair": pair.fair, "poor": pair.poor})
        return found

    @property
    def mos(self) -> float:
        """Mean opinion of all rated calls."""
        calls = sum(pair.calls for pair in self.pairs.values())
        return sum(pair.mos * pair.calls for pair in self.pairs.values()) / calls if calls else math.nan

    @property
    def good(self) -> float:
        """Share of the rated calls that are good; NaN without any."""
        calls = self.calls
        total = sum(calls.values())
        return calls["good"] / total if total else math.nan


def measure_run(network: Network, tables: Any) -> RunAnswer:
    """Computes the results of a run from its tables."""
    found = RunAnswer()
    scale = scale_of("mos")
    assert scale is not None
    files: dict[str, list[Any]] = {}
    if "flows" in tables:  # missing if no flow arrived
        found.pairs = _pairs(network, tables["flows"], scale)
    if "completions" in tables:
        done = tables["completions"]
        for name, count, mean, p95 in zip(
            done["group"].texts,
            done["completed"].numbers,
            done["mean_s"].numbers,
            done["p95_s"].numbers,
            strict=True,
        ):
            if name in network.groups and count > 0:
                files.setdefault(network.groups[name].mix.name, []).append((count, mean, p95))
    for kind, several in files.items():
        count, mean, p95 = np.array(several).T
        found.files[kind] = (
            int(count.sum()),
            float((mean * count).sum() / count.sum()),
            float((p95 * count).sum() / count.sum()),
        )
    links = tables["links"]
    columns = [links[name].numbers for name in ("utilisation", "drop_rate", "mean_wait_s")]
    for name, *row in zip(links["link"].texts, *columns, strict=True):
        found.links[name] = LinkRun(*(float(one) if math.isfinite(one) else 0.0 for one in row))
    return found


def _pairs(network: Network, flows: Any, scale: Scale) -> dict[tuple[str, str], PairRun]:
    """Returns the rated calls of each pair."""
    names = flows["group"].texts
    values = {name: flows[name].numbers for name in FLOW_COLUMNS}
    order = np.argsort(names, kind="stable")
    sorted_names = names[order]
    starts = np.flatnonzero(np.r_[True, sorted_names[1:] != sorted_names[:-1]][: len(order)])
    by_pair: dict[tuple[str, str], list[Any]] = {}
    for start, end in itertools.pairwise([*starts, len(order)]):
        group = network.groups.get(sorted_names[start])
        if group is not None and group.mix.kind == "calls":
            by_pair.setdefault(group.pair, []).append(order[start:end])
    found = {}
    for pair, several in by_pair.items():
        rows = np.concatenate(several)
        rows = rows[np.isfinite(values["mos"][rows])]
        if not len(rows):
            continue
        mos, sent = values["mos"][rows], values["units_sent"][rows]
        gaps = np.nan_to_num(values["longest_gap_s"][rows])
        bands = Counter(capped(scale.band(float(one)), gap) for one, gap in zip(mos, gaps, strict=True))
        found[pair] = PairRun(
            len(rows), float(mos.mean()), float(mos.min()), bands["good"], bands["fair"], bands["poor"],
            _weighted(values["delay_mean_s"][rows], sent), _weighted(values["delay_p95_s"][rows], sent),
            float(values["units_lost"][rows].sum() / max(sent.sum(), 1)), int((gaps > GAP_S).sum()), float(gaps.max()),
        )  # fmt: skip
    return found


def capped(band: str, gap_s: float) -> str:
    """Returns the band of a call with a gap: fair at best above `GAP_S`."""
    return "fair" if band == "good" and gap_s > GAP_S else band


def _weighted(values: Any, weights: Any) -> float:
    there = np.isfinite(values) & (weights > 0)
    return float((values[there] * weights[there]).sum() / weights[there].sum()) if there.any() else math.nan


def run(
    network: Network, scenarios: Sequence[Scenario], seeds: Sequence[int], *, threads: int | None = None,
    keep: Keep | None = None, progress: Progress | None = None,
) -> list[list[RunAnswer]]:  # fmt: skip
    """Runs scenarios of a network under the same seeds: returns a result for each scenario and seed.

    The tables of a run are evaluated and dropped when it ends, a few scenarios at a time.
    """
    answers: list[list[RunAnswer]] = []
    total = len(scenarios) * len(seeds)
    at_once = max(1, AT_ONCE // len(seeds))
    for first in range(0, len(scenarios), at_once):
        part = scenarios[first : first + at_once]
        before = first * len(seeds)

        def report_progress(done: float, _: int, before: int = before) -> None:
            if progress is not None:
                progress(min(before + done, total), total)

        jobs = [(scenario.native, seed) for scenario in part for seed in seeds]
        several = replicate(
            jobs, threads=threads, keep=keep, progress=report_progress if progress is not None else None
        )
        made = [measure_run(network, tables) for tables in several]
        answers += [made[at : at + len(seeds)] for at in range(0, len(made), len(seeds))]
    return answers


def simulate_whole(seeds: Sequence[int], *, threads: int | None = None, keep: Keep | None = None) -> Answers:
    """Returns a function that simulates each network as a whole."""

    def answers(networks: Sequence[Network], progress: Progress | None) -> list[list[RunAnswer]]:
        scenarios = [network.scenario for network in networks]
        return (
            run(networks[0], scenarios, seeds, threads=threads, keep=keep, progress=progress)
            if networks
            else []
        )

    return answers


AT_ONCE = 16
"""Number of runs with tables in memory at once."""


@dataclass(frozen=True)
class Pair:
    """The calls of one pair over all runs.

    Attributes:
        mos: Mean over runs with its interval.
        band: The band that contains the whole interval, or `undecided`; for a single run, the band of the mean.
        calls: Rated calls in all runs.
        interrupted: Calls with a gap above 0.5 s. gap_s: The longest gap, s.
        loss, delay_s, p95_s: Means over runs.
        worst: The least opinion of a call.
    """

    mos: Interval
    band: str
    calls: int
    interrupted: int
    gap_s: float
    worst: float
    loss: float
    delay_s: float
    p95_s: float


@dataclass(frozen=True)
class NetworkAnswer:
    """Result of the runs of one scenario of a network.

    Attributes:
        runs: One result per seed.
        pairs: By names of nodes, those with a rated call.
        links: Means over runs.
        relevance: The smallest relevant differences to other networks.
    """

    runs: Sequence[RunAnswer]
    pairs: dict[tuple[str, str], Pair]
    links: dict[str, LinkRun]
    relevance: Relevance = USUAL

    @property
    def bands(self) -> Counter[str]:
        """Number of pairs by band, with undecided pairs counted separately."""
        return Counter(dict.fromkeys(WORDS, 0) | Counter(pair.band for pair in self.pairs.values()))

    @property
    def calls(self) -> dict[str, Interval]:
        """Share of the calls in each band, over runs."""
        shares: dict[str, list[float]] = {band: [] for band in BANDS}
        for run_ in self.runs:
            total = sum(run_.calls.values())
            for band in BANDS:
                shares[band].append(run_.calls[band] / total if total else math.nan)
        return {band: interval(several).clip(RATIO) for band, several in shares.items()}

    @property
    def mos(self) -> Interval:
        """Mean opinion of all calls, over runs."""
        return interval([run_.mos for run_ in self.runs]).clip(MOS)


def combine_runs(runs: Sequence[RunAnswer]) -> NetworkAnswer:
    """Combines the results of several seeds."""
    scale = scale_of("mos")
    assert scale is not None
    pairs = {}
    for pair in sorted({pair for one in runs for pair in one.pairs}):
        several = [one.pairs[pair] for one in runs if pair in one.pairs]
        calls = sum(one.calls for one in several)
        interrupted = sum(one.interrupted for one in several)
        gap_s = max(one.gap_s for one in several)
        words = f"{interrupted} of {calls} calls have a gap above {GAP_S:g} s, the longest {gap_s:.2f} s"
        mos = held(interval([one.mos for one in several]).clip(MOS), words if interrupted else "")
        mean = {
            name: float(np.nanmean([getattr(one, name) for one in several]))
            for name in ("loss", "delay_s", "p95_s")
        }
        pairs[pair] = Pair(
            mos, scale.word(mos), calls, interrupted, gap_s, min(one.worst for one in several), **mean
        )
    names = list(runs[0].links) if runs else []
    keys = ("utilisation", "dropped", "wait_s")
    links = {
        name: LinkRun(*(float(np.mean([getattr(one.links[name], key) for one in runs])) for key in keys))
        for name in names
    }
    return NetworkAnswer(runs, pairs, links)
