"""At which values conditions hold: a scan of the range, then stochastic bisection at each turn.

Every value is tried under the same seeds (common random numbers). At each value the mean of a measure is compared with
its bound. If its one-sided interval lies on one side, the value is settled. Otherwise more seeds follow, twice as many
each time, up to a cap, unless the spread so far shows that the cap would not settle it. Values at which it stays open
are named; they belong to no region.

The search tries the ends of the range and three values between them. Between neighbours that came out differently it
bisects. If all of them came out alike, it looks around the best one (around the worst one, if all hold), unless that
one is an end. So it finds where conditions begin and cease to hold, and regions within the range. A region that is
narrower than a quarter of the range, on a measure that turns more than once, may stay unseen: a sweep shows it.

The confidence is that of the answer as a whole: it is divided among all looks at all values that the search may need
(Bonferroni), and among the conditions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave.arguments import checked
from fairwave.ask.wording import AskError, Condition, condition, steps
from fairwave.measuring.relevance import ANY, Relevance, Relevant, contrast
from fairwave.measuring.relevance import relevance as read_relevance
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

SCAN = 5
"""So many values, spread over the range, are tried first."""

TURNS = 2
"""The search has values enough for this many turns of a condition, each with an open part."""

Verdict = Literal["holds", "fails", "open"]

WORDS: dict[Verdict, str] = {"holds": "holds", "fails": "fails", "open": "undecided"}
"""A verdict as tables show it."""


@dataclass(frozen=True)
class Tested:
    """A value that was tried.

    Attributes:
        value: The value.
        intervals: For each condition, the mean of its measure with the 95 % interval.
        verdicts: For each condition, whether it holds there, at the confidence of the whole answer.
    """

    value: Label
    intervals: Sequence[Interval]
    verdicts: Sequence[Verdict]

    @property
    def verdict(self) -> Verdict:
        """Whether all conditions hold together."""
        return together(self.verdicts)

    @property
    def runs(self) -> int:
        """How many runs there are of this value."""
        return max(one.n + one.undefined for one in self.intervals)


@dataclass(frozen=True)
class Region:
    """Neighbouring values at which all conditions hold.

    Attributes:
        first: The first value that is settled to hold.
        last: The last one.
        fails_before: The nearest value before, at which a condition is settled to fail; None if there is none.
        fails_after: The nearest value after, likewise.
        begins: Where the means cross the bound before `first`, interpolated; `first` if nothing lies between.
        ends: Where they cross it after `last`, likewise.
    """

    first: Label
    last: Label
    fails_before: Label | None
    fails_after: Label | None
    begins: Label
    ends: Label

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}..{self.last}"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "first": self.first,
            "last": self.last,
            "fails_before": self.fails_before,
            "fails_after": self.fails_after,
            "estimate": [self.begins, self.ends],
        }


@dataclass(frozen=True)
class Answer:
    """At which values of a key conditions hold.

    Attributes:
        key: The key that was varied; several that were tied have commas between them.
        conditions: What is to hold together.
        ends: The first and the last value of the range.
        regions: Where all conditions hold, in order; empty if nowhere.
        tested: Every value that was tried, in order.
        remarks: What has to be known: that a measure does not rise or fall throughout, what stays open.
        level: Confidence of the answer as a whole.
        runs: Number of runs that it took.
        relevant: For each condition, the smallest difference of its measure that counts.
        enough: So many runs of a value probably settle one that is open; None if none is, or if 1000 may not do.
    """

    key: str
    conditions: Sequence[Condition]
    ends: tuple[Label, Label]
    regions: Sequence[Region]
    tested: Sequence[Tested]
    remarks: Sequence[str]
    level: float
    runs: int
    relevant: Sequence[Relevant]
    enough: int | None = None

    @property
    def condition(self) -> str:
        """The conditions as they were written, in one text."""
        return " and ".join(map(str, self.conditions))

    @property
    def verdict(self) -> Verdict:
        """Whether the conditions hold at some value, at none, or whether that is open."""
        if self.regions:
            return "holds"
        return "open" if any(one.verdict == "open" for one in self.tested) else "fails"

    @property
    def judged(self) -> Literal["holds", "fails", "undecided"]:
        """The same as a requirement's verdict."""
        return "undecided" if self.verdict == "open" else self.verdict

    @property
    def is_everywhere(self) -> bool:
        """Whether the conditions hold at both ends and nothing that was tried between them fails or is open."""
        return all(one.verdict == "holds" for one in self.tested)

    @property
    def limits(self) -> list[Label]:
        """The edges of regions inside the range; both ends of the range if the conditions hold everywhere."""
        edges = [
            edge
            for region in self.regions
            for edge, end in ((region.first, self.ends[0]), (region.last, self.ends[1]))
            if edge != end
        ]
        return list(dict.fromkeys(edges or (self.ends if self.regions else ())))

    @property
    def open(self) -> list[Label]:
        """The values that stay open."""
        return [one.value for one in self.tested if one.verdict == "open"]

    @property
    def monotone(self) -> bool:
        """Whether nothing speaks against measures that rise or fall throughout."""
        return not any("throughout" in remark for remark in self.remarks)

    def __str__(self) -> str:
        """The answer in sentences, without the last full stop."""
        whole = f"{self.key} = {self.ends[0]}..{self.ends[1]}"
        conditions = " and ".join(one.with_unit for one in self.conditions)
        hold = "holds" if len(self.conditions) == 1 else "hold together"
        if self.is_everywhere:
            said = [f"{conditions} {hold} everywhere on {whole}"]
            return ". ".join(said + [self._cells(one) for one in (self.tested[0], self.tested[-1])])
        if not self.regions:
            return ". ".join([self._nowhere(conditions, whole), *self._nearest(), *self._undecided()])
        at = {one.value: one for one in self.tested}
        several = f", {len(self.regions)} separate ranges" if len(self.regions) > 1 else ""
        said = [f"{conditions} {hold} on {self.key} = {' and '.join(map(str, self.regions))}{several}"]
        for region in self.regions:
            edges = (
                (region.fails_before, region.first, region.begins, self.ends[0]),
                (region.fails_after, region.last, region.ends, self.ends[1]),
            )
            for fails, edge, crossing_, end in edges:
                if edge == end:
                    continue
                said += [self._cells(at[one]) for one in (edge, fails) if one is not None]
                if fails is not None and crossing_ not in {edge, fails}:
                    said.append(f"The best estimate of the limit is {crossing_}")
        return ". ".join(said + self._undecided())

    def _nowhere(self, conditions: str, whole: str) -> str:
        alone = len(self.conditions) == 1
        if self.verdict == "open":
            return (
                f"Undecided whether {conditions} {'holds' if alone else 'hold together'} anywhere on {whole}"
            )
        return f"{conditions} {'holds' if alone else 'hold together'} nowhere on {whole}"

    def _nearest(self) -> list[str]:
        """Where each condition holds by itself, or comes nearest to it."""
        found = []
        for place, one in enumerate(self.conditions):
            alone = [tested.value for tested in self.tested if tested.verdicts[place] == "holds"]
            if alone:
                found.append(
                    f"{one.with_unit} alone holds at {alone[0]}{f' to {alone[-1]}' if alone[1:] else ''}"
                )
                continue
            best = max(self.tested, key=lambda tested: one.direction * tested.intervals[place].mean)
            cell = f"{best.intervals[place]} {one.of.measure.unit}".rstrip()
            found.append(f"{one.of.text} comes nearest at {best.value}: {cell}")
        return found

    def _cells(self, tested: Tested) -> str:
        """The measures at a value: `At 4, loss.voice is 2.1 ± 0.3 %`."""
        cells = [
            f"{one.of.text} is {cell} {one.of.measure.unit}".rstrip()
            for one, cell in zip(self.conditions, tested.intervals, strict=True)
        ]
        return f"At {tested.value}, {' and '.join(dict.fromkeys(cells))}"

    def _undecided(self) -> list[str]:
        if not self.open:
            return []
        which = self.open if len(self.open) <= SCAN else [*self.open[:2], "…", self.open[-1]]
        more = f"try `--most {self.enough}`" if self.enough else "more runs may not decide it"
        return [f"Undecided at {', '.join(map(str, which))}: {more}"]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows of the values that were tried: each measure once, then each condition."""
        measures = {one.of.text: (one.of.measure.label, place) for place, one in enumerate(self.conditions)}
        heads = [
            self.key,
            *(label for label, _ in measures.values()),
            "runs",
            *(one.with_unit for one in self.conditions),
        ]
        rows = [
            [
                str(one.value),
                *(str(one.intervals[place]) for _, place in measures.values()),
                str(one.runs),
                *(WORDS[verdict] for verdict in one.verdicts),
            ]
            for one in self.tested
        ]
        return heads, rows

    def __repr__(self) -> str:
        return f"<fairwave answer: {self}>"

    def _repr_html_(self) -> str:
        """For notebooks: the answer, and each value that was tried."""
        from fairwave.notebook import answer

        return answer(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "key": self.key,
            "condition": self.condition,
            "range": list(self.ends),
            "answer": str(self),
            "verdict": self.verdict,
            "regions": [one.to_dict() for one in self.regions],
            "open": self.open,
            "enough": self.enough,
            "confidence": self.level,
            "monotone": self.monotone,
            "remarks": list(self.remarks),
            "runs": self.runs,
            "relevant": {
                one.of.text: str(counts) for one, counts in zip(self.conditions, self.relevant, strict=True)
            },
            "tested": [
                {
                    "value": one.value,
                    "verdict": one.verdict,
                    "measures": [
                        {
                            "condition": str(wanted),
                            "mean": cell.mean,
                            "interval": cell.ends,
                            "replications": cell.n,
                            "verdict": verdict,
                        }
                        for wanted, cell, verdict in zip(
                            self.conditions, one.intervals, one.verdicts, strict=True
                        )
                    ],
                }
                for one in self.tested
            ],
        }


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """Conditions together: one that fails decides, then one that is open."""
    return "fails" if "fails" in verdicts else "open" if "open" in verdicts else "holds"


@dataclass
class Search:
    """Tries steps of a range for one condition, however their values are measured, and remembers them.

    Attributes:
        sample: Answers, for a step and a number of seeds, with the measure under each seed so far.
        wanted: What is to hold.
        count: How many steps there are.
        begin: Seeds to begin with.
        most: The most seeds of a step.
        level: Confidence of the whole.
        conditions: How many conditions share that confidence.
        relevant: The smallest difference of the measure that counts.
        baseline: The measure under each seed in the baseline, for a condition next to one.
    """

    sample: Callable[[int, int], NDArray[np.float64]]
    wanted: Condition
    count: int
    begin: int = BEGIN
    most: int = MOST
    level: float = LEVEL
    conditions: int = 1
    relevant: Relevant = ANY
    baseline: NDArray[np.float64] | None = None
    known: dict[int, Verdict] = field(default_factory=dict)
    samples: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = [self.begin]
        while sizes[-1] < self.most:
            sizes.append(min(2 * sizes[-1], self.most))
        self.sizes = sizes
        self.fine = max(1, self.count // FINE)
        part = max(self.count / (SCAN - 1), 2.0)
        self.values = min(SCAN + 2 * TURNS * math.ceil(math.log2(part)), max(self.count, 2))
        # Each condition is looked at where any of them was tried.
        self.risk = (1 - self.level) / (self.conditions**2 * self.values * len(sizes))

    def margin(self, step: int) -> NDArray[np.float64]:
        """By how much the condition is met, seed by seed; below zero where it is not."""
        samples = self.samples[step]
        baseline = None if self.baseline is None else self.baseline[: len(samples)]
        return self.wanted.direction * (self.wanted.beyond(samples, baseline) - self.wanted.line)

    def classify(self, step: int) -> Verdict:
        """Whether the condition holds at a step."""
        if step in self.known:
            return self.known[step]
        verdict: Verdict = "open"
        for size in self.sizes:
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
        reach = self._reach(step, self.most)
        return bool(reach is not None and abs(self.mean(step)) * 1.25 < reach)

    def _reach(self, step: int, seeds: int) -> float | None:
        """Half the width of a step's interval after so many seeds, as its spread so far promises."""
        margin = self.margin(step)
        margin = margin[~np.isnan(margin)]
        if len(margin) < 2:
            return None
        return t_quantile(1 - 2 * self.risk, seeds) * float(margin.std(ddof=1)) / math.sqrt(seeds)

    def enough(self, step: int) -> int | None:
        """How many seeds probably settle a step that is open; None where 1000 may not."""
        from fairwave.answers.bands import MORE

        near = abs(self.mean(step))
        for seeds in (one for one in MORE if one > self.most):
            reach = self._reach(step, seeds)
            if reach is not None and reach < near:
                return seeds
        return None

    def compared(self, one: int, other: int, level: float) -> Contrast:
        """The measure at one step compared with another, under the seeds that both have."""
        both = min(len(self.samples[one]), len(self.samples[other]))
        return contrast(self.samples[one][:both], self.samples[other][:both], self.relevant, level)

    def mean(self, step: int) -> float:
        """Mean margin at a step that was tried."""
        return interval(self.margin(step)).mean


def search(trial: Search) -> None:
    """Tries the steps that show where the condition begins and ceases to hold.

    Raises:
        AskError: The measure is not defined at an end of the range.
    """
    last = trial.count - 1
    for step, where in ((0, "first"), (last, "last")):
        trial.classify(step)
        if math.isnan(trial.mean(step)):
            raise AskError(
                f"{trial.wanted.of.text} is not defined at the {where} value of the range; "
                "choose a range in which it is"
            )
    for part in range(1, SCAN - 1):
        trial.classify(round(part * last / (SCAN - 1)))
    _look_around(trial)
    while len(trial.known) < trial.values:
        wide = [
            (there - here, (here + there) // 2)
            for here, there in pairwise(sorted(trial.known))
            if trial.known[here] != trial.known[there] and there - here > trial.fine
        ]
        if not wide:
            return
        trial.classify(max(wide)[1])


def _look_around(trial: Search) -> None:
    """Looks beside the best value if none holds, beside the worst one if all hold, unless that is an end."""
    while len(set(trial.known.values())) == 1 and "open" not in trial.known.values():
        order = sorted(trial.known)
        sign = -1.0 if trial.known[0] == "holds" else 1.0
        means = [sign * trial.mean(step) for step in order]
        at = int(np.nanargmax(means))
        if at in {0, len(order) - 1} or means[at] <= max(means[0], means[-1]):
            return
        gaps = [(order[at] - order[at - 1], at - 1), (order[at + 1] - order[at], at)]
        gap, left = max(gaps)
        if gap <= trial.fine or len(trial.known) >= trial.values:
            return
        trial.classify((order[left] + order[left + 1]) // 2)


def spans(known: Mapping[int, Verdict]) -> list[tuple[int, int, int | None, int | None]]:
    """Runs of steps that hold, with no step between them that fails: first, last, and what fails before and after."""
    found: list[tuple[int, int, int | None, int | None]] = []
    failed: int | None = None
    open_run: tuple[int, int] | None = None
    for step in sorted(known):
        if known[step] == "holds":
            open_run = (step, step) if open_run is None else (open_run[0], step)
        elif known[step] == "fails":
            if open_run is not None:
                found.append((*open_run, failed, step))
            open_run, failed = None, step
    if open_run is not None:
        found.append((*open_run, failed, None))
    return found


def reversals(trial: Search, values: Sequence[Label]) -> list[str]:
    """Where the measure goes the other way by a difference that counts, in words; empty where it does so nowhere."""
    order = sorted(trial.known)
    way = trial.wanted.direction * (trial.mean(order[-1]) - trial.mean(order[0]))
    risk = (1 - trial.level) / max(len(order) - 1, 1)
    said = []
    for here, there in pairwise(order):
        moved = trial.compared(there, here, 1 - 2 * risk)
        if moved.outcome == ("lower" if way > 0 else "higher"):
            gain = moved.difference
            said.append(
                f"{trial.wanted.of.text} does not {'rise' if way > 0 else 'fall'} throughout: from {values[here]} to "
                f"{values[there]} it changes by {gain.mean:+.3g} (± {gain.half_width:.2g}). The condition may turn "
                "between values that were not tried; `fairwave sweep` shows every value"
            )
    ends = trial.compared(order[-1], order[0], trial.level)
    if ends.outcome == "alike":
        differs = ends.difference.text(unit=trial.wanted.of.measure.unit)
        said.append(
            f"the two ends of the range are alike: {trial.wanted.of.text} differs by {differs}, and differences count "
            f"from {trial.relevant}"
        )
    return said


def crossing(trials: Sequence[Search], holds: int, fails: int) -> int:
    """The step nearest to `fails` at which the interpolated means meet all conditions, from one that holds."""
    way = 1 if fails > holds else -1
    found = fails - way
    for trial in trials:
        between = [
            one for one in sorted(trial.known, reverse=way < 0) if way * holds <= way * one <= way * fails
        ]
        for here, there in pairwise(between):
            mine, theirs = trial.mean(here), trial.mean(there)
            if theirs < 0 <= mine:
                step = here + way * math.floor(mine / (mine - theirs) * abs(there - here))
                found = way * min(way * found, way * step)
                break
    return found


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


def baseline_of(
    wanted: Sequence[Condition],
    baseline: Scenario | None,
    seeds: range,
    *,
    threads: int | None = None,
    keep: Keep | None = None,
) -> Results | None:
    """The runs of the baseline; none if no condition compares with one.

    Raises:
        AskError: A condition needs a baseline and there is none, or the baseline lacks the flow group or link.
    """
    from fairwave.ask.wording import measure
    from fairwave.runs.grid import Grid
    from fairwave.scenario import prepared

    beside = [one for one in wanted if one.has_baseline]
    if not beside:
        return None
    if baseline is None:
        raise AskError(f"'{beside[0]}' needs a baseline; name the scenario that it compares with")
    for one in beside:
        measure(one.of.text, baseline)
    return Grid("baseline", prepared(_unrecorded(baseline)), {}).run(list(seeds), threads=threads, keep=keep)


@checked
def find(
    scenario: Scenario,
    key: str | Sequence[str],
    values: str | Sequence[Label],
    until: str | Condition | Sequence[str | Condition],
    *,
    n: int = BEGIN,
    most: int = MOST,
    seed: int = 1,
    level: float = LEVEL,
    threads: int | None = None,
    keep: Keep | None = None,
    tell: Callable[[str], None] | None = None,
    relevant: Mapping[str, float | str] | Relevance | None = None,
    baseline: Scenario | None = None,
) -> Answer:
    """At which values of a key a condition holds.

    Args:
        scenario: What is varied.
        key: The dotted path that is set: `flow.voice.count`. Several take the same value: `("flow.a.count",
            "flow.b.count")`, or one text with commas.
        values: A range, `"1..200"` or `"500 kb/s..5 Mb/s"`, or the values themselves in order.
        until: The condition, `"mos.voice >= 3.6"`, or several that are to hold together.
        n: Seeds to begin with at each value, 2 or more.
        most: The most seeds at a value.
        seed: The first seed.
        level: Confidence of the answer as a whole, in (0, 1).
        threads: How many; all cores when None. Runs have them first, and parts of a run where runs are fewer.
        keep: Where runs are kept.
        tell: Told, now and then, what is tried.
        relevant: Smallest differences that count: `{"mos": 0.2, "goodput": "5 %"}`; the usual ones if left out.
        baseline: The scenario with which conditions such as `"mos.voice >= baseline - 0.1"` compare, under the same
            seeds.

    Raises:
        AskError: The question cannot be understood, or the measure is not defined at an end of the range.
        fairwave.ScenarioError: A value does not fit the scenario.
    """
    from fairwave import arguments
    from fairwave.ask.wording import check_key
    from fairwave.runs.grid import Point, assemble, settings
    from fairwave.runs.keeping import Memory
    from fairwave.runs.replication import replicate
    from fairwave.scenario import prepared

    arguments.check_scenario(scenario, "fairwave.find")
    asked = [until] if isinstance(until, (str, Condition)) else until
    if not isinstance(asked, (list, tuple)) or not all(isinstance(one, (str, Condition)) for one in asked):
        raise AskError(f"until is {until!r:.60}, but must be a text; for example until='mos.voice >= 3.6'")
    if not asked:
        raise AskError("until is empty: nothing would be judged; for example until='mos.voice >= 3.6'")
    if not hasattr(values, "__iter__"):
        raise AskError(
            f"values are {values!r:.60}, but must be a range or a list; for example '1..200' or [1, 5, 10]"
        )
    key = arguments.key_text(key)
    check_key(key, "key")
    wanted = [condition(one, scenario) if isinstance(one, str) else one for one in asked]
    counts = read_relevance(relevant)
    each = steps(values) if isinstance(values, str) else list(values)
    n, most = arguments.whole("n", n), arguments.whole("most", most)
    if len(each) < 2:
        raise AskError("a search needs a range of two values or more")
    if (
        twice := [one for at, one in enumerate(each) if one in each[:at]]
        if not isinstance(values, str)
        else []
    ):
        raise AskError(f"values hold {twice[0]!r} twice; write each value once, in order")
    if n < 2 or most < n:
        raise AskError(f"replications begin with 2 or more and end with no fewer, not {n} and {most}")
    if not 0 < level < 1:
        raise AskError(f"a confidence level lies in (0, 1), not {level}; usual is 0.95")
    kept = keep if keep is not None else Memory()
    reference = baseline_of(wanted, baseline, range(seed, seed + most), threads=threads, keep=kept)
    base = _unrecorded(scenario)
    made: dict[int, Point] = {}

    def point(step: int) -> Point:
        if step not in made:
            changed = base.with_overrides(settings(key, each[step]))
            made[step] = Point({key: each[step]}, prepared(changed))
        return made[step]

    def sampler(one: Condition) -> Callable[[int, int], NDArray[np.float64]]:
        def sample(step: int, seeds: int) -> NDArray[np.float64]:
            if tell is not None:
                tell(f"{key} = {each[step]}, {seeds} seeds")
            chosen = range(seed, seed + seeds)
            jobs = [(point(step).scenario.native, number) for number in chosen]
            results = assemble([point(step)], chosen, replicate(jobs, threads=threads, keep=kept))
            return one.of.measure.over(results).samples()

        return sample

    # Both ends must make sense before anything is run.
    for end in (0, len(each) - 1):
        point(end)
    trials = [
        Search(
            sampler(one),
            one,
            len(each),
            n,
            most,
            level,
            len(wanted),
            counts.of(one.of.measure),
            one.of.measure.over(reference).samples() if reference is not None and one.has_baseline else None,
        )
        for one in wanted
    ]
    for trial in trials:
        search(trial)
    tried = sorted({step for trial in trials for step in trial.known})
    for trial in trials:
        for step in tried:
            trial.classify(step)
    return _answer(key, each, trials, tried)


def _answer(key: str, each: Sequence[Label], trials: Sequence[Search], tried: Sequence[int]) -> Answer:
    """What the trials of all conditions came to."""
    tested = [
        Tested(
            each[step],
            [one.wanted.of.measure.interval(one.samples[step]) for one in trials],
            [one.known[step] for one in trials],
        )
        for step in tried
    ]
    known = {step: one.verdict for step, one in zip(tried, tested, strict=True)}
    regions = [
        Region(
            each[first],
            each[last],
            None if before is None else each[before],
            None if after is None else each[after],
            each[first if before is None else crossing(trials, first, before)],
            each[last if after is None else crossing(trials, last, after)],
        )
        for first, last, before, after in spans(known)
    ]
    remarks = [said for trial in trials for said in reversals(trial, each)]
    enough = [
        one.enough(step) for one in trials for step in tried if known[step] == one.known[step] == "open"
    ]
    return Answer(
        key,
        [one.wanted for one in trials],
        (each[0], each[-1]),
        regions,
        tested,
        remarks,
        trials[0].level,
        sum(max(len(one.samples[step]) for one in trials) for step in tried),
        [one.relevant for one in trials],
        min((one for one in enough if one is not None), default=None),
    )
