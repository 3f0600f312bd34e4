"""How far a value may go before a measure no longer meets a condition: stochastic bisection.

The mean of a measure is taken to rise or fall along the values that are searched, so that the condition holds up to
some value and not beyond it (or the other way round). Every value is tried under the same seeds (common random
numbers).
At each value the mean is compared with the bound. If its one-sided interval lies on one side, the value is settled.
Otherwise more seeds follow, twice as many each time, up to a cap, unless the spread so far shows that the cap would
not settle it. Values at which it stays open lie within what is answered: *holds at least to the one, no longer from
the other on*. The confidence is that of the answer as a whole: it is divided among all looks at all values that the
search may need (Bonferroni).

That the measure rises or falls throughout is checked: further values between those that the search came by are
tried, and the
means of neighbours are compared, paired by seed. Where it fails, the answer says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave.ask.wording import AskError, Condition, condition, steps
from fairwave.measuring.relevance import ANY, Relevance, Relevant, contrast, relevance
from fairwave.measuring.statistics import LEVEL, Interval, interval, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave.measuring.relevance import Contrast
    from fairwave.results import Results
    from fairwave.runs.grid import Label
    from fairwave.runs.keeping import Keep
    from fairwave.scenario import Scenario

BEGIN = 6
MOST = 12
FINE = 64
"""The search ends when what it leaves between two values is this part of the range, or nothing."""

PROBES = 2
"""So many further values are tried to see whether the measure rises or falls throughout."""

Verdict = Literal["holds", "fails", "open"]


@dataclass(frozen=True)
class Tested:
    """What a value came to.

    Attributes:
        value: The value.
        interval: The measure's mean with its 95 % interval.
        verdict: Whether the condition holds there, at the confidence of the whole answer.
    """

    value: Label
    interval: Interval
    verdict: Verdict


@dataclass(frozen=True)
class Answer:
    """How far a value may go.

    Attributes:
        key: What was varied.
        condition: What is to hold.
        holds: The farthest value at which it is settled that the condition holds; None if at none.
        fails: The next value at which it is settled that it does not; None if at none.
        best: The farthest value at which the mean, interpolated between values that were tried, meets the
            condition; None
            if at none.
        upwards: Whether the condition holds below and fails above, as opposed to the other way round.
        tested: Every value that was tried, in order.
        remarks: What has to be known: that the measure does not rise or fall throughout, that the range ends first.
        level: Confidence of the answer as a whole.
        runs: Number of runs that it took.
        relevant: The smallest difference of the measure that counts.
    """

    key: str
    condition: Condition
    holds: Label | None
    fails: Label | None
    best: Label | None
    upwards: bool
    tested: Sequence[Tested]
    remarks: Sequence[str]
    level: float
    runs: int
    relevant: Relevant

    @property
    def monotone(self) -> bool:
        """Whether nothing speaks against a measure that rises or falls throughout."""
        return not any("throughout" in remark for remark in self.remarks)

    def __str__(self) -> str:
        """The answer in a sentence."""
        what, at = str(self.condition), {one.value: one.interval for one in self.tested}
        if self.holds is None and self.fails is None:
            return f"{what}: open throughout; more replications may settle it"
        if self.holds is None:
            assert self.fails is not None
            where = f"{self.key} = {self.fails}"
            found = f"at {where}, the better one, it is {at[self.fails]}"
            return f"{what} holds at neither end of what was searched: {found}"
        if self.fails is None:
            return (
                f"{what} holds at {self.key} = {self.holds} ({at[self.holds]}), the end of what was searched"
            )
        upto, beyond = ("up to", "from") if self.upwards else ("down to", "from")
        best = f", best estimate {self.best}" if self.best not in {None, self.holds} else ""
        return (
            f"{what} holds {upto} {self.key} = {self.holds} ({at[self.holds]}) and fails {beyond} {self.fails} "
            f"({at[self.fails]}) on{best}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "key": self.key,
            "condition": str(self.condition),
            "answer": str(self),
            "holds": self.holds,
            "fails": self.fails,
            "best": self.best,
            "confidence": self.level,
            "monotone": self.monotone,
            "remarks": list(self.remarks),
            "runs": self.runs,
            "relevant": str(self.relevant),
            "tested": [
                {
                    "value": one.value,
                    "mean": one.interval.mean,
                    "interval": [one.interval.low, one.interval.high],
                    "replications": one.interval.n,
                    "verdict": one.verdict,
                }
                for one in self.tested
            ],
        }


@dataclass
class Search:
    """Tries steps of a range, however their values are measured, and remembers them.

    Attributes:
        sample: Answers, for a step and a number of seeds, with the measure under each seed so far.
        wanted: What is to hold.
        count: How many steps there are.
        begin: Seeds to begin with.
        most: The most seeds of a step.
        level: Confidence of the whole.
        relevant: The smallest difference of the measure that counts.
    """

    sample: Callable[[int, int], NDArray[np.float64]]
    wanted: Condition
    count: int
    begin: int = BEGIN
    most: int = MOST
    level: float = LEVEL
    relevant: Relevant = ANY
    known: dict[int, Verdict] = field(default_factory=dict)
    samples: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = [self.begin]
        while sizes[-1] < self.most:
            sizes.append(min(2 * sizes[-1], self.most))
        self.sizes = sizes
        self.fine = max(1, self.count // FINE)
        values = 2 + 2 * math.ceil(math.log2(max(self.count, 2))) + PROBES
        self.risk = (1 - self.level) / (values * len(sizes))

    def margin(self, step: int) -> NDArray[np.float64]:
        """By how much the condition is met, seed by seed; below zero where it is not."""
        return self.wanted.direction * (self.samples[step] - self.wanted.bound)

    def classify(self, step: int, sizes: Sequence[int] | None = None) -> Verdict:
        """Whether the condition holds at a step."""
        if step in self.known and (sizes is None or self.known[step] != "open"):
            return self.known[step]
        verdict: Verdict = "open"
        for size in sizes or self.sizes:
            self.samples[step] = self.sample(step, size)
            # One-sided: each tail has the risk of one look.
            found = interval(self.margin(step), 1 - 2 * self.risk)
            if found.n == 0:
                break
            if found.n > 1 and (found.low > 0 or (found.low == 0 and "=" in self.wanted.sign)):
                verdict = "holds"
            elif found.n > 1 and (found.high < 0 or (found.high == 0 and "=" not in self.wanted.sign)):
                verdict = "fails"
            if verdict != "open" or self._hopeless(step):
                break
        self.known[step] = verdict
        return verdict

    def _hopeless(self, step: int) -> bool:
        """Whether the most seeds would by far not settle a step, were mean and spread to stay what they are."""
        margin = self.margin(step)
        margin = margin[~np.isnan(margin)]
        if len(margin) < 2:
            return False
        reach = t_quantile(1 - 2 * self.risk, self.most) * float(margin.std(ddof=1)) / math.sqrt(self.most)
        return bool(abs(margin.mean()) * 1.25 < reach)

    def compared(self, one: int, other: int, level: float) -> Contrast:
        """The measure at one step compared with another, under the seeds that both have."""
        both = min(len(self.samples[one]), len(self.samples[other]))
        return contrast(self.samples[one][:both], self.samples[other][:both], self.relevant, level)

    def mean(self, step: int) -> float:
        """Mean margin at a step that was tried."""
        return interval(self.margin(step)).mean


def search(trial: Search) -> tuple[int | None, int | None, bool]:
    """The farthest step that holds and the next that fails, and whether what holds lies below."""
    first, last = 0, trial.count - 1
    ends = trial.classify(first), trial.classify(last)
    means = trial.mean(first), trial.mean(last)
    if any(math.isnan(mean) for mean in means):
        where = "first" if math.isnan(means[0]) else "last"
        raise AskError(
            f"{trial.wanted.of.text} is not defined at the {where} value of the range; choose a range in which it is"
        )
    upwards = means[0] >= means[1]

    def at(place: int) -> int:
        return place if upwards else last - place

    good = 0 if ends[0 if upwards else 1] == "holds" else None
    bad = last if ends[1 if upwards else 0] == "fails" else None
    if good is not None and at(last) in trial.known and trial.known[at(last)] == "holds":
        return at(last), None, upwards
    if bad is not None and trial.known[at(0)] == "fails":
        return None, at(0), upwards
    # Ends that are open count as such: the search goes on beside them.
    low, high = (good if good is not None else 0), (bad if bad is not None else last)
    floor, ceiling = low, high
    while ceiling - floor > trial.fine:
        middle = (floor + ceiling) // 2
        verdict = trial.classify(at(middle))
        if verdict == "open":
            # Each side is searched by itself.
            low = _edge(trial, at, floor, middle, "holds")
            high = _edge(trial, at, ceiling, middle, "fails")
            break
        if verdict == "holds":
            floor = low = middle
        else:
            ceiling = high = middle
    good, bad = (
        place if trial.known[at(place)] == what else None for place, what in ((low, "holds"), (high, "fails"))
    )
    return _placed(good, at), _placed(bad, at), upwards


def _edge(trial: Search, at: Callable[[int], int], settled: int, open_: int, wanted: Verdict) -> int:
    """The place nearest to one that is open at which `wanted` is settled, from a settled one on."""
    while abs(open_ - settled) > trial.fine:
        step = (settled + open_) // 2
        if trial.classify(at(step)) == wanted:
            settled = step
        else:
            open_ = step
    return settled


def _placed(place: int | None, at: Callable[[int], int]) -> int | None:
    return None if place is None else at(place)


def probe(trial: Search) -> None:
    """Tries values in the middle of the widest gaps between those that were tried."""
    for _ in range(PROBES):
        tried = sorted(trial.known)
        gaps = [(b - a, (a + b) // 2) for a, b in pairwise(tried) if b - a > 1]
        if not gaps:
            return
        trial.classify(max(gaps)[1], trial.sizes[:1])


def reversals(trial: Search, values: Sequence[Label], upwards: bool) -> list[str]:
    """Where the measure goes the other way by a difference that counts, in words; empty where it does so nowhere."""
    said = []
    order = sorted(trial.known, reverse=not upwards)
    settled = [(place, trial.known[step]) for place, step in enumerate(order)]
    failing = [place for place, verdict in settled if verdict == "fails"]
    holding = [place for place, verdict in settled if verdict == "holds"]
    if failing and holding and failing[0] < holding[-1]:
        a, b = values[order[failing[0]]], values[order[holding[-1]]]
        said.append(
            f"the condition does not turn once: it fails at {a} and holds at {b}, so that the answer is one of several "
            "(the measure does not go one way throughout)"
        )
    risk = (1 - trial.level) / max(len(order) - 1, 1)
    for here, there in pairwise(order):
        moved = trial.compared(there, here, 1 - 2 * risk)
        if moved.outcome == ("higher" if trial.wanted.direction > 0 else "lower"):
            a, b = sorted([values[here], values[there]], key=values.index)
            gain = moved.difference
            change = gain.mean * (1 if upwards else -1)
            said.append(
                f"the measure does not {'fall' if upwards == (trial.wanted.direction > 0) else 'rise'} "
                "throughout: from "
                f"{a} to {b} it changes by {change:+.3g} (± {gain.half_width:.2g})"
            )
    return said


def best(trial: Search, upwards: bool) -> int | None:
    """The farthest step at which the interpolated mean meets the condition; None where it does at none."""
    order = sorted(trial.known, reverse=not upwards)
    means = {step: trial.mean(step) for step in order}
    crossing = next((i for i, step in enumerate(order) if means[step] < 0), None)
    if crossing is None:
        return order[-1]
    if crossing == 0:
        return None
    here, there = order[crossing - 1], order[crossing]
    share = means[here] / (means[here] - means[there])
    return here + math.floor(share * abs(there - here)) * (1 if upwards else -1)


def _unrecorded(scenario: Scenario) -> Scenario:
    """The scenario without the series that no measure reads, which cost more than the run."""
    record = scenario.to_dict().get("record", {})
    series = ("goodput", "allotted", "queues", "windows", "window-interval", "units")
    dropped = {f"record.{name}": None for name in series if name in record}
    return scenario.with_overrides(dropped) if dropped else scenario


def runs_at(
    scenario: Scenario,
    key: str,
    value: Label,
    seeds: range,
    *,
    threads: int | None = None,
    keep: Keep | None = None,
) -> Results:
    """The runs of a search at one value; with the search's `keep` they are those that it made.

    Args:
        scenario: What was searched.
        key: The dotted path that is set.
        value: Its value.
        seeds: Seeds of the runs.
        threads: How many; all cores when None. Runs have them first, and parts of a run where runs are fewer.
        keep: Where runs are kept.
    """
    from fairwave.runs.grid import Point, assemble, settings
    from fairwave.runs.keeping import Memory
    from fairwave.runs.replication import replicate
    from fairwave.scenario import prepared

    point = Point({key: value}, prepared(_unrecorded(scenario).with_overrides(settings(key, value))))
    jobs = [(point.scenario.native, one) for one in seeds]
    return assemble(
        [point], seeds, replicate(jobs, threads=threads, keep=keep if keep is not None else Memory())
    )


def find(
    scenario: Scenario,
    key: str,
    values: str | Sequence[Label],
    until: str | Condition,
    *,
    n: int = BEGIN,
    most: int = MOST,
    seed: int = 1,
    level: float = LEVEL,
    threads: int | None = None,
    keep: Keep | None = None,
    tell: Callable[[str], None] | None = None,
    relevant: Mapping[str, float | str] | Relevance | None = None,
) -> Answer:
    """How far a value may go before a condition no longer holds.

    Args:
        scenario: What is varied.
        key: The dotted path that is set: `flow.voice.count`.
        values: A range, `"1..200"` or `"500 kb/s..5 Mb/s"`, or the values themselves in order.
        until: The condition, `"mos.voice >= 3.6"`.
        n: Seeds to begin with at each value, 2 or more.
        most: The most seeds at a value.
        seed: The first seed.
        level: Confidence of the answer as a whole, in (0, 1).
        threads: How many; all cores when None. Runs have them first, and parts of a run where runs are fewer.
        keep: Where runs are kept.
        tell: Told, now and then, what is tried.
        relevant: Smallest differences that count: `{"mos": 0.2, "goodput": "5 %"}`; the usual ones if left out.

    Raises:
        AskError: The question cannot be understood, or the measure is not defined at an end of the range.
        fairwave.ScenarioError: A value does not fit the scenario.
    """
    from fairwave import arguments
    from fairwave.runs.grid import Point, assemble, settings
    from fairwave.runs.keeping import Memory
    from fairwave.runs.replication import replicate
    from fairwave.scenario import prepared

    arguments.check_scenario(scenario, "fairwave.find")
    if not isinstance(until, (str, Condition)):
        raise AskError(f"until is {until!r:.60}, but must be a text; for example until='mos.voice >= 3.6'")
    if not hasattr(values, "__iter__"):
        raise AskError(
            f"values are {values!r:.60}, but must be a range or a list; for example '1..200' or [1, 5, 10]"
        )
    wanted = condition(until, scenario) if isinstance(until, str) else until
    each = steps(values) if isinstance(values, str) else list(values)
    counts = relevance(relevant).of(wanted.of.measure)
    n, most = arguments.whole("n", n), arguments.whole("most", most)
    if len(each) < 2:
        raise AskError("a search needs a range of two values or more")
    if n < 2 or most < n:
        raise AskError(f"replications begin with 2 or more and end with no fewer, not {n} and {most}")
    if not 0 < level < 1:
        raise AskError(f"a confidence level lies in (0, 1), not {level}; usual is 0.95")
    kept = keep if keep is not None else Memory()
    base = _unrecorded(scenario)
    made: dict[int, Point] = {}

    def sample(step: int, seeds: int) -> NDArray[np.float64]:
        if step not in made:
            made[step] = Point({key: each[step]}, prepared(base.with_overrides(settings(key, each[step]))))
        if tell is not None:
            tell(f"{key} = {each[step]}, {seeds} seeds")
        asked = range(seed, seed + seeds)
        jobs = [(made[step].scenario.native, one) for one in asked]
        results = assemble([made[step]], asked, replicate(jobs, threads=threads, keep=kept))
        return wanted.of.measure.over(results).samples()

    # Both ends must make sense before anything is run.
    for end in (0, len(each) - 1):
        made[end] = Point({key: each[end]}, prepared(base.with_overrides(settings(key, each[end]))))
    trial = Search(sample, wanted, len(each), n, most, level, counts)
    holds, fails, upwards = search(trial)
    probe(trial)
    remarks = reversals(trial, each, upwards)
    ends = trial.compared(len(each) - 1, 0, level)
    if ends.outcome == "alike":
        remarks.append(
            f"the two ends of the range are alike: {wanted.of.text} differs by {ends.difference} "
            f"{wanted.of.measure.unit}".rstrip()
            + f", and differences count from {counts}"
        )
    limits = wanted.of.measure.limits
    tested = [
        Tested(each[step], interval(trial.samples[step]).within(limits), trial.known[step])
        for step in sorted(trial.known)
    ]
    if any(one.verdict == "open" for one in tested):
        remarks.append(
            f"between the two it stays open within {most} replications of each value; more of them may narrow it"
        )
    found = best(trial, upwards)
    return Answer(
        key,
        wanted,
        None if holds is None else each[holds],
        None if fails is None else each[fails],
        None if found is None else each[found],
        upwards,
        tested,
        remarks,
        level,
        sum(len(samples) for samples in trial.samples.values()),
        counts,
    )
