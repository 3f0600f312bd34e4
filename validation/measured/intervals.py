"""How often intervals cover the true mean: the tables of the page *intervals*.

`python -m validation intervals` renews the tables of the page from `intervals.parquet`, which holds the measures of
1000 runs of each case, in two alternatives under the same seeds. An experiment draws n of these runs at random and
computes the interval of their mean. The true mean is that of all 1000 runs. `--populate` makes the runs anew (about
five minutes of one core).
"""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.stats import bootstrap

from fairwave.measuring.measures import find
from fairwave.measuring.statistics import means_with_ends, t_quantile
from validation import kept, writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

POPULATIONS = kept.RESULTS / "measured" / "intervals.parquet"

SEEDS = 1000
EXPERIMENTS = 4000
"""Experiments for each number: ten times 400, so that chance moves a coverage by 0.3 points (one standard error)."""

SIZES = (5, 10, 20)
"""Numbers of runs in an experiment."""

BOUNDS = (93.0, 97.0)
"""Bounds of the coverage of a 95 % interval: per cent of experiments that cover the true mean."""

MOST_TIED = 0.25
"""Where more runs than this share have one and the same value, the coverage moves in steps and cannot be 95 %."""

MOST_SKEWED = 2.0
"""Maximum skewness of runs for which the bounds apply."""

HEAD = """
name = "{name}"
duration = "{duration}"
warmup = "2 s"
[topology]
preset = "dumbbell"
bottleneck = {{ rate = "{rate}", delay = "15 ms", {loss}queue = {{ capacity = {{ packets = 100 }} }} }}
"""
CALL = """
[[flow]]
name = "call"
transport = "udp"
traffic = { kind = "voice", codec = "g711" }
"""
FILES = """
[[flow]]
name = "files"
count = 4
transport = "tcp/sack"
traffic = {{ kind = "transfer", size = {{ distribution = "pareto", shape = 1.2, least = "20 kB", most = "{most}" }} }}
arrivals = {{ load = "{load}", at-most = 20 }}
"""
PAGES = """
[[flow]]
name = "pages"
count = 3
transport = "tcp/sack"
traffic = { kind = "web", reading = { distribution = "exponential", mean = "8 s" } }
"""
BULK = """
[[flow]]
name = "bulk"
transport = "tcp/cubic"
traffic = "bulk"
"""
BURSTS = """
[[flow]]
name = "bursts"
count = 4
transport = "udp"
[flow.traffic]
kind = "burst"
rate = "2 Mb/s"
payload = "1000 B"
on = { distribution = "pareto", mean = "0.5 s", shape = 1.5 }
off = { distribution = "exponential", mean = "3 s" }
"""
QUEUES: tuple[str, tuple[str, str]] = ("topology.bottleneck.queue.discipline", ("drop-tail", "codel"))

OF_CALL = ("mos.call", "delay.call", "delay-p95.call", "jitter.call", "missed.call", "goodput.call")
OF_FILES = (
    "completion.files",
    "completion-median.files",
    "completion-p95.files",
    "slowdown.files",
    "goodput.files",
)


@dataclass(frozen=True)
class Case:
    """A scenario with an axis of two alternatives.

    Attributes:
        name: Short name.
        words: Description for a reader.
        scenario: Its text.
        axis: The varied key, with its two values.
        measures: The measures, with their flow groups.
        first_seed: Its runs have this seed and the next ones.
        held_back: Whether it was made after the constants of the interval had been chosen, to test them.
    """

    name: str
    words: str
    scenario: str
    axis: tuple[str, tuple[object, object]]
    measures: tuple[str, ...]
    first_seed: int = 1
    held_back: bool = False


def _head(name: str, duration: str = "30 s", rate: str = "10 Mb/s", loss: str = "") -> str:
    return HEAD.format(name=name, duration=duration, rate=rate, loss=f"loss = {{ {loss} }}, " if loss else "")


CASES = (
    Case(
        "files", "Files of Pareto sizes offer 30 % of the link; a call",
        _head("files") + FILES.format(most="20 MB", load="3 Mb/s") + CALL, QUEUES, OF_FILES + OF_CALL,
    ),
    Case(
        "large files", "Few files, up to 100 MB, offer 20 % of the link; a call",
        _head("large files", rate="5 Mb/s") + FILES.format(most="100 MB", load="1 Mb/s") + CALL, QUEUES,
        OF_FILES + OF_CALL,
    ),
    Case(
        "pages", "Three people browse; a call", _head("pages") + PAGES + CALL, QUEUES,
        ("completion.pages", "completion-p95.pages", "goodput.pages", *OF_CALL),
    ),
    Case(
        "bursts", "Bursts with Pareto lengths fill the link now and then; a call",
        _head("bursts", rate="5 Mb/s") + BURSTS + CALL, QUEUES, OF_CALL,
    ),
    Case(
        "upload", "An upload and a call", _head("upload", "20 s", "5 Mb/s") + BULK + CALL, QUEUES,
        ("goodput.bulk", *OF_CALL),
    ),
    Case(
        "errors", "CUBIC, or Reno with SACK, on a link that loses 0.1 %",
        _head("errors", "20 s", loss='model = "bernoulli", rate = 0.001') + BULK,
        ("flow.bulk.transport", ("tcp/cubic", "tcp/sack")), ("goodput.bulk", "retransmitted.bulk"),
    ),
    Case(
        "rare losses", "A call on a link that loses 0.02 or 0.06 %",
        _head("rare losses", loss='model = "bernoulli", rate = 0.0002') + CALL,
        ("topology.bottleneck.loss.rate", (0.0002, 0.0006)), ("mos.call", "missed.call", "goodput.call"),
    ),
    Case(
        "rare bursts of losses", "A call on a link that loses 0.1 or 0.3 %, five packets in a row",
        _head("rare bursts of losses", loss='model = "gilbert", rate = 0.001, run = 5.0') + CALL,
        ("topology.bottleneck.loss.rate", (0.001, 0.003)), ("mos.call", "missed.call", "goodput.call"),
    ),
    Case(
        "half load", "Files of Pareto sizes up to 50 MB offer half of the link; a call",
        _head("half load", rate="8 Mb/s") + FILES.format(most="50 MB", load="4 Mb/s") + CALL,
        (QUEUES[0], ("drop-tail", "fq-codel")), OF_FILES + OF_CALL, 20_001, held_back=True,
    ),
    Case(
        "low load", "Files of Pareto sizes offer 15 % of the link; a call",
        _head("low load", rate="20 Mb/s") + FILES.format(most="20 MB", load="3 Mb/s") + CALL,
        (QUEUES[0], ("drop-tail", "pie")), OF_FILES + OF_CALL, 20_001, held_back=True,
    ),
    Case(
        "pages and upload", "Three people browse next to an upload; a call",
        _head("pages and upload", rate="6 Mb/s") + PAGES + BULK + CALL, QUEUES,
        ("completion.pages", "goodput.bulk", *OF_CALL), 20_001, held_back=True,
    ),
    Case(
        "losses and upload", "An upload and a call on a link that loses 0.3 %, three packets in a row",
        _head("losses and upload", loss='model = "gilbert", rate = 0.003, run = 3.0') + BULK + CALL,
        ("flow.bulk.transport", ("tcp/cubic", "tcp/sack")), ("goodput.bulk", *OF_CALL), 20_001, held_back=True,
    ),
)  # fmt: skip


def populate() -> None:
    """Makes the runs of all cases and writes their measures."""
    import tempfile

    import fairwave

    frames = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "case.toml"
            path.write_text(case.scenario, encoding="utf-8")
            seeds = list(range(case.first_seed, case.first_seed + SEEDS))
            results = fairwave.compare(fairwave.load(path), {case.axis[0]: list(case.axis[1])}, seeds=seeds)
        for text in case.measures:
            name, _, group = text.partition(".")
            measured = results.measured(name, group)
            sides = [measured.samples(**point) for point in measured.points()]
            frames.append(
                pl.DataFrame(
                    {
                        "case": [case.name] * SEEDS, "measure": [text] * SEEDS, "seed": seeds,
                        "first": sides[0].astype(np.float32), "second": sides[1].astype(np.float32),
                    }
                )
            )  # fmt: skip
        print(case.name, flush=True)
    pl.concat(frames).with_columns(pl.col("case", "measure").cast(pl.Categorical)).write_parquet(
        POPULATIONS, compression="zstd", compression_level=19
    )


@dataclass(frozen=True)
class Population:
    """The values of a measure in all runs of a case.

    Attributes:
        case: Name of the case.
        measure: The measure with its flow group.
        kind: `first` or `second` alternative, or their paired `difference`.
        values: One number per seed.
    """

    case: str
    measure: str
    kind: str
    values: Numbers

    @property
    def has_long_tail(self) -> bool:
        """Whether intervals of the measure expect a long tail. Intervals of differences never do."""
        return self.kind != "difference" and find(self.measure.partition(".")[0]).has_long_tail

    @property
    def skewness(self) -> float:
        """Of the runs."""
        apart = self.values - self.values.mean()
        return float((apart**3).mean() / (apart**2).mean() ** 1.5)

    @property
    def tied(self) -> float:
        """The largest share of runs with one and the same value."""
        return float(np.unique(self.values, return_counts=True)[1].max() / len(self.values))

    @property
    def is_bound(self) -> bool:
        """Whether its intervals have to keep the bounds from 5 runs on."""
        return self.tied <= MOST_TIED and abs(self.skewness) <= MOST_SKEWED


@cache
def populations() -> list[Population]:
    """Every population with runs that differ."""
    frame = pl.read_parquet(POPULATIONS)
    found = []
    for case in CASES:
        for text in case.measures:
            rows = frame.filter(
                pl.col("case").cast(pl.String) == case.name, pl.col("measure").cast(pl.String) == text
            )
            first, second = (rows[side].cast(pl.Float64).to_numpy() for side in ("first", "second"))
            defined = ~np.isnan(first) & ~np.isnan(second)
            first, second = first[defined], second[defined]
            for kind, values in (("first", first), ("second", second), ("difference", first - second)):
                if np.ptp(values) > 1e-6 * np.abs(values).max():
                    found.append(Population(case.name, text, kind, values))
    return found


@dataclass(frozen=True)
class Coverage:
    """How often intervals of samples of one size cover the true mean.

    Attributes:
        population: Of which runs.
        n: Number of runs in a sample.
        student: Coverage of Student's t, per cent of all experiments.
        covered: Coverage of the interval, per cent of the experiments that have one.
        identical: Per cent of experiments in which all runs are equal, so that there is no interval.
        wider: Width of the interval relative to Student's t, median.
    """

    population: Population
    n: int
    student: float
    covered: float
    identical: float
    wider: float

    @property
    def keeps_bounds(self) -> bool:
        """Whether the coverage is within the bounds."""
        return BOUNDS[0] <= self.covered <= BOUNDS[1]


def measure_coverage(population: Population, n: int, experiments: int = EXPERIMENTS) -> Coverage:
    """Draws samples of `n` runs and counts the intervals that cover the mean of all runs."""
    # The page's numbers were drawn when names of measures had underscores.
    name = population.measure.replace("-", "_")
    seed = zlib.crc32(f"{population.case}/{name}/{population.kind}/{n}".encode())
    values, truth = population.values, population.values.mean()
    samples = values[np.random.default_rng(seed).integers(0, len(values), (experiments, n))]
    means, low, high = means_with_ends(samples, has_long_tail=population.has_long_tail)
    half = t_quantile(0.95, n) * samples.std(axis=1, ddof=1) / np.sqrt(n)
    student = np.abs(means - truth) <= half
    there = low < high
    covers = ((low <= truth) & (truth <= high))[there]
    return Coverage(
        population, n, 100 * float(student.mean()), 100 * float(covers.mean()), 100 * float(1 - there.mean()),
        float(np.median((high - low)[there] / (2 * half[there]))),
    )  # fmt: skip


@cache
def coverages() -> list[Coverage]:
    """Every population at every size."""
    return [measure_coverage(one, n) for one in populations() for n in SIZES]


def _measure_rows() -> Iterator[str]:
    """A row per measure and kind: the range over all cases that are bound, before and after."""
    yield "| measure | of | n | populations | Student's t covers | the interval covers | times as wide |"
    yield "|---|---|--:|--:|---|---|--:|"
    names = dict.fromkeys(one.population.measure.partition(".")[0] for one in coverages())
    for name in names:
        for words, kinds in (("mean", ("first", "second")), ("difference", ("difference",))):
            for n in SIZES:
                some = [
                    one
                    for one in coverages()
                    if one.n == n and one.population.kind in kinds and one.population.is_bound
                    and one.population.measure.partition(".")[0] == name
                ]  # fmt: skip
                if some:
                    before, after = (
                        [getattr(one, field) for one in some] for field in ("student", "covered")
                    )
                    wider = np.median([one.wider for one in some])
                    yield (
                        f"| `{name}` | {words} | {n} | {len(some)} | {_range(before)} | {_range(after)} "
                        f"| {wider:.2f} |"
                    )


def _range(values: list[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


COMPARED = (("files", "completion.files", "first"), ("files", "delay.call", "difference"))
"""Populations on which methods are compared: case, measure, kind."""

RESAMPLES = 499
BOOTSTRAPS = 400
"""Experiments with bootstrap intervals, which take long."""


def _bootstrapped(samples: Numbers, seed: int) -> dict[str, tuple[Numbers, Numbers]]:
    """The ends of two bootstrap intervals of each sample: BCa (SciPy's) and bootstrap-t (Efron 1981)."""
    count, n = samples.shape
    generator = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples that are nearly equal have no BCa interval
        bca = bootstrap(
            (samples,), np.mean, axis=1, n_resamples=RESAMPLES, method="BCa", rng=generator
        ).confidence_interval
    drawn = generator.integers(0, n, (RESAMPLES, count, n))
    again = np.take_along_axis(samples[np.newaxis], drawn, axis=2)
    errors = again.std(axis=2, ddof=1)
    pivots = (again.mean(axis=2) - samples.mean(axis=1)) / np.where(errors > 0, errors, np.nan)
    low, high = np.nanquantile(pivots, [0.025, 0.975], axis=0)
    means, spread = samples.mean(axis=1), samples.std(axis=1, ddof=1)
    return {"BCa": (bca.low, bca.high), "bootstrap-t": (means - high * spread, means - low * spread)}


def _methods() -> Iterator[str]:
    """A row per population and size: coverage and median width of each method."""
    yield "| case | measure | of | n | Student's t | BCa | bootstrap-t | fairwave |"
    yield "|---|---|---|--:|---|---|---|---|"
    for which in COMPARED:
        (one,) = (some for some in populations() if (some.case, some.measure, some.kind) == which)
        truth = one.values.mean()
        for n in SIZES:
            drawn = np.random.default_rng(n).integers(0, len(one.values), (BOOTSTRAPS, n))
            samples = one.values[drawn]
            half = t_quantile(0.95, n) * samples.std(axis=1, ddof=1) / np.sqrt(n)
            means, low, high = means_with_ends(samples, has_long_tail=one.has_long_tail)
            ends = {
                "t": (means - half, means + half), **_bootstrapped(samples, n), "own": (low, high)
            }  # fmt: skip
            cells = []
            for low, high in ends.values():
                covered = 100 * np.mean((low <= truth) & (truth <= high))
                cells.append(f"{covered:.0f} % (× {np.median((high - low) / (2 * half)):.2f})")
            yield f"| {one.case} | `{one.measure}` | {one.kind} | {n} | {' | '.join(cells)} |"


def outside() -> list[Coverage]:
    """Where the interval leaves the bounds although its population is bound to them."""
    return [one for one in coverages() if one.population.is_bound and not one.keeps_bounds]


def _outside() -> Iterator[str]:
    """A row per coverage outside the bounds."""
    yield "| case | measure | of | skewness | n | Student's t covers | the interval covers |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for one in outside():
        which = one.population
        yield (
            f"| {which.case} | `{which.measure}` | {which.kind} | {which.skewness:.1f} | {one.n} | {one.student:.1f} % "
            f"| {one.covered:.1f} % |"
        )


def _unbound_rows() -> Iterator[str]:
    """A row per population that is not bound: more skewed, or with many equal runs."""
    yield "| case | measure | of | skewness | equal runs | n = 5 | n = 10 | n = 20 |"
    yield "|---|---|---|--:|--:|---|---|---|"
    for one in populations():
        if not one.is_bound:
            mine = [cell for cell in coverages() if cell.population is one]
            yield (
                f"| {one.case} | `{one.measure}` | {one.kind} | {one.skewness:.1f} | {100 * one.tied:.0f} % | "
                + " | ".join(_cell(cell) for cell in mine)
                + " |"
            )


def _cell(cell: Coverage) -> str:
    none = f" ({cell.identical:.0f} % without)" if cell.identical >= 0.5 else ""
    return f"{cell.student:.0f} → {cell.covered:.1f}{none}"


def _cases() -> Iterator[str]:
    yield "| case | what runs | alternatives |"
    yield "|---|---|---|"
    for case in CASES:
        key, labels = case.axis
        yield f"| {case.name} | {case.words} | `{key}`: {labels[0]}, {labels[1]} |"


def _held_back() -> Iterator[str]:
    """How many coverages keep the bounds in the cases that were not used to choose the constants."""
    names = [case.name for case in CASES if case.held_back]
    some = [one for one in coverages() if one.population.is_bound and one.population.case in names]
    within = sum(one.keeps_bounds for one in some)
    low, high = min(one.covered for one in some), max(one.covered for one in some)
    yield f"The other cases served to choose the constants 15, 8, 3 and 5 %. *{', '.join(names)}* did not: of their"
    yield (
        f"{len(some)} coverages {within} lie in {BOUNDS[0]:g} to {BOUNDS[1]:g} %,"
        f" and all in {low:.1f} to {high:.1f} %."
    )


METHODS = "Coverage in 400 experiments, and the median width compared with Student's."
RUNS = """Each case ran 1000 times in two alternatives under the same seeds. An experiment draws n of these
runs at random. It computes the interval of a mean, or of the paired difference of the two alternatives. The
true mean is the mean of all 1000 runs. Every number comes from 4000 experiments, so chance moves it by 0.3
points."""
TARGET = """The target is 93 to 97 %. The table has all populations with a skewness of at most 2 and without
a value that more than a quarter of the runs share. It shows the lowest and the highest coverage."""
MISSED = """Most cover too often: their distributions are flat or have two peaks, and a sample's skewness is
then no sign of a tail."""
RARE = """No interval of a few runs can cover the mean of these populations in 95 % of the cases. If one run
in fifty decides the mean, ten runs seldom include it. The table shows Student's t → fairwave's interval, in
% of the experiments that have one. *Without*: experiments in which all runs are equal, so that fairwave
shows no interval. Counts of rare events move in steps, so their coverage is often above the target."""

SECTIONS = {
    "Methods compared": (METHODS, _methods),
    "Cases": (RUNS, _cases),
    "Coverage by measure": (TARGET, _measure_rows),
    "Cases that were held back": ("", _held_back),
    "Coverages outside the target": (MISSED, _outside),
    "Strong skewness and rare events": (RARE, _unbound_rows),
}
"""Title of a section to its first sentences and its lines."""


def render(_: Path) -> str:
    """Renders the page from the kept runs."""
    parts = ["# Coverage of intervals", "[Intervals](intervals.md) describes how they are computed."]
    for title, (words, rows) in SECTIONS.items():
        parts += [f"## {title}", *([words] if words else []), "\n".join(rows())]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Counts the coverages outside the target, with `--populate` of new runs; the status of the program."""
    parser = writing.parser(__doc__)
    parser.add_argument("--populate", action="store_true", help="make the runs anew before")
    if parser.parse_args().populate:
        populate()
    bound = sum(one.population.is_bound for one in coverages())
    print(f"{len(outside())} of {bound} coverages lie outside {BOUNDS[0]:g} to {BOUNDS[1]:g} %")
    return 0
