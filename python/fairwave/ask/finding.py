"""Finds the values at which conditions hold: the question, its answer, and the runs for `fairwave.ask.searching`.

The confidence covers all values and conditions together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fairwave.arguments import checked
from fairwave.ask.searching import (
    BEGIN,
    MOST,
    SCAN,
    Runs,
    Search,
    Verdict,
    crossing,
    reversals,
    search,
    spans,
)
from fairwave.ask.wording import AskError, Condition, condition, steps
from fairwave.measuring.relevance import relevance as read_relevance
from fairwave.measuring.statistics import LEVEL, Interval
from fairwave.runs.axes import key_text
from fairwave.scenario import check_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fairwave.measuring.relevance import Relevance, Relevant
    from fairwave.results import Results
    from fairwave.runs.axes import Label
    from fairwave.runs.grid import Point
    from fairwave.runs.keeping import Keep
    from fairwave.scenario import Scenario

WORDS: dict[Verdict, str] = {"holds": "holds", "fails": "fails", "open": "undecided"}
"""Wording of verdicts in tables."""


@dataclass(frozen=True)
class Tested:
    """A value that was tried.

    Attributes:
        value: The value.
        intervals: For each condition, the mean of its measure with the 95 % interval.
        verdicts: For each condition, whether it holds there, at the confidence of the whole search. The verdict follows
            from the runs of this value, or from a monotone curve through all runs between two values.
        seeds: The seeds of its runs.
    """

    value: Label
    intervals: Sequence[Interval]
    verdicts: Sequence[Verdict]
    seeds: Sequence[int] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether all conditions hold together."""
        return together(self.verdicts)

    @property
    def runs(self) -> int:
        """Number of runs of this value."""
        return max(one.n + one.undefined for one in self.intervals)


@dataclass(frozen=True)
class Region:
    """Neighbouring values at which all conditions hold.

    Attributes:
        first: The first value that is settled to hold.
        last: The last one.
        fails_before: The nearest smaller value that is settled to fail a condition; None if there is none.
        fails_after: The nearest larger value, likewise.
        begins: The point at which the means cross the bound before `first`, interpolated; `first` without a gap.
        ends: The same after `last`.
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
    """The values of a key at which conditions hold.

    Attributes:
        key: The key that was varied; several tied keys are separated by commas.
        conditions: The conditions that must hold together.
        ends: The first and the last value of the range.
        regions: Regions that meet all conditions, in order; may be empty.
        tested: Every value that was tried, in order.
        remarks: Remarks, such as a measure that does not rise or fall throughout, or open values.
        level: Confidence of all results together.
        runs: Number of runs of the search.
        relevant: For each condition, the smallest difference of its measure that counts.
        enough: Number of runs that probably settles an open value; None if no value is open, or if 1000 may not do.
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
        """Whether the conditions hold at some value, at none, or whether this is open."""
        if self.regions:
            return "holds"
        return "open" if any(one.verdict == "open" for one in self.tested) else "fails"

    @property
    def judged(self) -> Literal["holds", "fails", "undecided"]:
        """The same as a requirement's verdict."""
        return "undecided" if self.verdict == "open" else self.verdict

    @property
    def is_everywhere(self) -> bool:
        """Whether the conditions hold at both ends, and no value between them fails or is open."""
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
    def seeds(self) -> list[int]:
        """The seeds of all runs, in order."""
        return sorted(seed for one in self.tested for seed in one.seeds)

    @property
    def open(self) -> list[Label]:
        """The values that stay open."""
        return [one.value for one in self.tested if one.verdict == "open"]

    @property
    def monotone(self) -> bool:
        """Whether all data are compatible with measures that rise or fall throughout."""
        return not any("throughout" in remark for remark in self.remarks)

    def __str__(self) -> str:
        """The result in sentences, without the last full stop."""
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
        """Describes the values at which each single condition holds, or comes nearest to it."""
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
        """For notebooks: the result, and each value that was tried."""
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
    """Combines verdicts: a failing condition decides, then an open one."""
    return "fails" if "fails" in verdicts else "open" if "open" in verdicts else "holds"


def _unrecorded(scenario: Scenario) -> Scenario:
    """The scenario without recorded series, which no measure reads and which cost more than the run."""
    record = scenario.to_dict().get("record", {})
    series = ("goodput", "allotted", "queues", "windows", "window-interval", "units")
    dropped = {f"record.{name}": None for name in series if name in record}
    return scenario.with_overrides(dropped) if dropped else scenario


def runs_at(
    scenario: Scenario,
    key: str,
    value: Label,
    seeds: Sequence[int],
    *,
    threads: int | None = None,
    keep: Keep | None = None,
) -> Results:
    """Returns the runs of a search at one value; with the search's `keep` they are the same runs.

    Args:
        scenario: The scenario of the search.
        key: The dotted path that is set.
        value: Its value.
        seeds: Seeds of the runs.
        threads: Number of threads; all cores when None. Runs use them first, and parts of a run if runs are fewer.
        keep: Store of runs.
    """
    from fairwave.runs.axes import settings
    from fairwave.runs.grid import Point, assemble
    from fairwave.runs.keeping import Memory
    from fairwave.runs.replication import replicate
    from fairwave.scenario_files import prepared

    point = Point({key: value}, prepared(_unrecorded(scenario).with_overrides(settings(key, value))))
    jobs = [(point.scenario.native, one) for one in seeds]
    return assemble(
        [point], seeds, replicate(jobs, threads=threads, keep=keep if keep is not None else Memory())
    )


def baseline_of(
    wanted: Sequence[Condition],
    baseline: Scenario | None,
    seeds: Sequence[int],
    *,
    threads: int | None = None,
    keep: Keep | None = None,
) -> Results | None:
    """The runs of the baseline; none if no condition compares with one.

    Raises:
        AskError: A condition needs a missing baseline, or the baseline lacks the flow group or link.
    """
    from fairwave.ask.wording import measure
    from fairwave.runs.grid import Grid
    from fairwave.scenario_files import prepared

    beside = [one for one in wanted if one.has_baseline]
    if not beside:
        return None
    if baseline is None:
        raise AskError(f"'{beside[0]}' needs a baseline; name the scenario that it compares with")
    for one in beside:
        measure(one.of.text, baseline)
    return Grid("baseline", prepared(_unrecorded(baseline)), {}).run(list(seeds), threads=threads, keep=keep)


ROUNDS = 3
"""Number of times that searches for several conditions continue with the values of the others."""


@dataclass
class _Runner:
    """Makes the runs of a search: varies the scenario for each step, and measures its runs.

    Attributes:
        base: The scenario to vary.
        key: The dotted path that is set.
        each: The values.
        seed: The seed of run 0.
        threads: Number of threads; all cores when None.
        keep: Store of runs.
        tell: Called with a description of the current step.
        wanted: The conditions.
        baseline: Scenario with which conditions next to a baseline compare.
    """

    base: Scenario
    key: str
    each: Sequence[Label]
    seed: int
    threads: int | None
    keep: Keep
    tell: Callable[[str], None] | None
    wanted: Sequence[Condition]
    baseline: Scenario | None
    points: dict[int, Point] = field(default_factory=dict)

    def point(self, step: int) -> Point:
        """The scenario of a step."""
        from fairwave.runs.axes import settings
        from fairwave.runs.grid import Point
        from fairwave.scenario_files import prepared

        if step not in self.points:
            value = self.each[step]
            changed = self.base.with_overrides(settings(self.key, value))
            self.points[step] = Point({self.key: value}, prepared(changed))
        return self.points[step]

    def prepare(self, new: Sequence[tuple[int, Sequence[int]]]) -> None:
        """Makes runs of several steps together, so that each core has one."""
        from fairwave.runs.replication import replicate

        if self.tell is not None:
            self.tell(f"{self.key} = {', '.join(str(self.each[step]) for step, _ in new)}")
        jobs = [
            (self.point(step).scenario.native, self.seed + number)
            for step, numbers in new
            for number in numbers
        ]
        replicate(jobs, threads=self.threads, keep=self.keep)

    def sampler(self, one: Condition) -> Callable[[int, Sequence[int]], NDArray[np.float64]]:
        """Returns a function that measures a condition in runs of a step."""
        from fairwave.runs.grid import assemble
        from fairwave.runs.replication import replicate

        def sample(step: int, numbers: Sequence[int]) -> NDArray[np.float64]:
            seeds = [self.seed + number for number in numbers]
            jobs = [(self.point(step).scenario.native, seed) for seed in seeds]
            results = assemble(
                [self.point(step)], seeds, replicate(jobs, threads=self.threads, keep=self.keep)
            )
            return one.of.measure.compute(results).samples()

        return sample

    def reference(self, one: Condition) -> Callable[[Sequence[int]], NDArray[np.float64]] | None:
        """Returns a function that measures a condition in runs of the baseline; None if it compares with none."""
        if not one.has_baseline:
            return None

        def sample(numbers: Sequence[int]) -> NDArray[np.float64]:
            seeds = [self.seed + number for number in numbers]
            results = baseline_of(self.wanted, self.baseline, seeds, threads=self.threads, keep=self.keep)
            assert results is not None
            return one.of.measure.compute(results).samples()

        return sample


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
    """Finds the values of a key at which a condition holds.

    Args:
        scenario: The scenario to vary.
        key: The dotted path that is set: `flow.voice.count`. Several take the same value: `("flow.a.count",
            "flow.b.count")`, or one text with commas.
        values: A range, `"1..200"` or `"500 kb/s..5 Mb/s"`, or the values themselves in order.
        until: The condition, `"mos.voice >= 3.6"`, or several that must hold together.
        n: Runs of each value to begin with, 2 or more. Each run has its seed.
        most: The most runs of a value that is decided by its runs alone. A limit takes five times as many.
        seed: The first seed.
        level: Confidence of all results together, in (0, 1).
        threads: Number of threads; all cores when None. Runs use them first, and parts of a run if runs are fewer.
        keep: Store of runs.
        tell: Called from time to time with a description of the current step.
        relevant: Smallest differences that count: `{"mos": 0.2, "goodput": "5 %"}`; the usual ones if left out.
        baseline: The scenario with which conditions such as `"mos.voice >= baseline - 0.1"` compare, under the same
            seeds.

    Raises:
        AskError: The question is malformed, or the measure is not defined at an end of the range.
        fairwave.ScenarioError: A value does not fit the scenario.
    """
    from fairwave import arguments
    from fairwave.ask.wording import check_key
    from fairwave.runs.keeping import Memory

    check_scenario(scenario, "fairwave.find")
    asked = [until] if isinstance(until, (str, Condition)) else until
    if not isinstance(asked, (list, tuple)) or not all(isinstance(one, (str, Condition)) for one in asked):
        raise AskError(f"until is {until!r:.60}, but must be a text; for example until='mos.voice >= 3.6'")
    if not asked:
        raise AskError("until is empty: nothing would be judged; for example until='mos.voice >= 3.6'")
    if not hasattr(values, "__iter__"):
        raise AskError(
            f"values are {values!r:.60}, but must be a range or a list; for example '1..200' or [1, 5, 10]"
        )
    key = key_text(key)
    check_key(key, "key")
    wanted = [condition(one, scenario) if isinstance(one, str) else one for one in asked]
    counts = read_relevance(relevant)
    each = steps(values) if isinstance(values, str) else list(values)
    n, most = arguments.check_count("n", n), arguments.check_count("most", most)
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
    runner = _Runner(
        _unrecorded(scenario), key, each, seed, threads, keep if keep is not None else Memory(), tell, wanted, baseline
    )  # fmt: skip
    # An unsuitable baseline and meaningless ends are refused before any other run.
    baseline_of(wanted, baseline, [seed], threads=threads, keep=runner.keep)
    for end in (0, len(each) - 1):
        runner.point(end)
    runs = Runs()
    trials = [
        Search(
            runner.sampler(one), one, len(each), n, most, level, len(wanted),
            counts.find(one.of.measure), runner.reference(one), runs, runner.prepare,
        )
        for one in wanted
    ]  # fmt: skip
    for trial in trials:
        search(trial)
    # The previous searches have not seen all values that this search tried.
    for _ in range(ROUNDS if len(trials) > 1 else 0):
        before = runs.total
        for trial in trials:
            others = [other.judged() for other in trials if other is not trial]
            trial.decided = {step for one in others for step, verdict in one.items() if verdict == "fails"}
            search(trial)
        if runs.total == before:
            break
    return _answer(key, each, trials, seed)


def _answer(key: str, each: Sequence[Label], trials: Sequence[Search], seed: int) -> Answer:
    """Combines the trials of all conditions into the result."""
    runs, tried = trials[0].runs, trials[0].tried
    judged = [one.judged() for one in trials]
    tested = [
        Tested(
            each[step],
            [one.wanted.of.measure.interval(one.values(step)) for one in trials],
            [one[step] for one in judged],
            [seed + number for number in runs.at[step]],
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
        trial.enough()
        for trial, verdicts in zip(trials, judged, strict=True)
        if any(known[step] == verdicts[step] == "open" for step in tried)
    ]
    return Answer(
        key,
        [one.wanted for one in trials],
        (each[0], each[-1]),
        regions,
        tested,
        remarks,
        trials[0].level,
        runs.total,
        [one.relevant for one in trials],
        min((one for one in enough if one is not None), default=None),
    )
