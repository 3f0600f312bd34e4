"""Searches a range: chooses the values to try, and finds those at which a condition holds, fails or stays open.

Every run has a different seed, so all runs are independent and runs of different values can be pooled.

The search tries the ends of the range and three values between them. A value is *settled* if its runs alone show on
which side of the bound its mean is, with a risk far below that of the whole answer. The noise is pooled over all
values, or estimated for this value if that is larger. If all settled values came out alike, the search looks around
the best one (around the worst one, if all hold), unless that one is an end.

A *bracket* is the range between neighbouring settled values that came out differently, or between one and an end that
is not settled. Within a bracket the measure is assumed to rise or to fall throughout. All runs in it together estimate
the place at which it crosses the bound (`curves.crossing`). The next runs go to both edges of the range that contains
this place with the confidence of the answer. The search ends if that range has three steps, or after too many runs.

Runs that contradict the direction by more than noise explains get more runs first. If they still do, no curve is fitted
to the bracket: only settled values count there, and the answer reports it (`reversals`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairwave.ask import curves
from fairwave.ask.wording import AskError, Condition
from fairwave.measuring.relevance import ANY, Contrast, Relevant
from fairwave.measuring.statistics import LEVEL, Interval, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave.runs.axes import Label

    Numbers = NDArray[np.float64]

BEGIN = 3
MOST = 12
FINE = 64
"""Resolution of the search, as 1/`FINE` of the range: it ends when the open gap between two values is this small."""

SCAN = 5
"""Number of values, spread over the range, that are tried first."""

BATCH = 2
"""Number of runs that are added at each edge of the range that contains a limit."""

NARROW, LEAST = 3, 2
"""Steps to which a limit must be known, and the fewest steps that a curve may claim."""

SURE, CURVE = 0.01, 0.8
"""Shares of the search's risk: for a value that is settled by its runs alone, and for the limits."""

SUSPECT = 0.01
"""Risk with which runs of a monotone measure seem to reverse. They get more runs before a curve is fitted."""

Verdict = Literal["holds", "fails", "open"]

OF_SIGN: dict[int, Verdict] = {1: "holds", -1: "fails", 0: "open"}


@dataclass
class Runs:
    """The runs of a search: the run numbers of each step. Each number, and therefore each seed, occurs once."""

    at: dict[int, list[int]] = field(default_factory=dict)
    total: int = 0

    def add(self, step: int, count: int) -> list[int]:
        """Adds `count` runs of a step and returns their numbers."""
        new = list(range(self.total, self.total + count))
        self.total += count
        self.at.setdefault(step, []).extend(new)
        return new


@dataclass(frozen=True)
class Bracket:
    """Neighbouring steps between which a condition begins or ceases to hold.

    Attributes:
        first: The first step.
        last: The last one.
        before: On which side the measure is before the limit: 1 if the condition holds there, −1 if it fails.
        is_sure_before: Whether the first step is settled.
        is_sure_after: Whether the last step is settled.
    """

    first: int
    last: int
    before: int
    is_sure_before: bool = True
    is_sure_after: bool = True


@dataclass
class Search:
    """Tries steps of a range for one condition, independent of the source of the values, and stores the results.

    Attributes:
        sample: Returns, for a step and numbers of runs, the measure in each of these runs.
        wanted: The condition.
        count: Number of steps.
        begin: Runs of a value to begin with.
        most: The most runs of a value; a limit takes `SCAN` times as many.
        level: Confidence of the whole.
        conditions: Number of conditions that share this confidence.
        relevant: The smallest difference of the measure that counts.
        baseline: Returns the baseline's measure in runs of these numbers, for a condition next to one.
        runs: The runs; searches for several conditions share them.
        prepare: Called with the next runs to sample, so that they can be made together.
        decided: Steps at which another condition fails, so that this one is not needed.
    """

    sample: Callable[[int, Sequence[int]], Numbers]
    wanted: Condition
    count: int
    begin: int = BEGIN
    most: int = MOST
    level: float = LEVEL
    conditions: int = 1
    relevant: Relevant = ANY
    baseline: Callable[[Sequence[int]], Numbers] | None = None
    runs: Runs = field(default_factory=Runs)
    prepare: Callable[[Sequence[tuple[int, Sequence[int]]]], None] | None = None
    decided: set[int] = field(default_factory=set)
    _values: dict[int, Numbers] = field(default_factory=dict)
    _margins: dict[int, Numbers] = field(default_factory=dict)

    @property
    def fine(self) -> int:
        """The unit of the search, in steps."""
        return max(1, self.count // FINE)

    @property
    def tried(self) -> list[int]:
        """The steps that were tried, in order."""
        return sorted(self.runs.at)

    def add(self, wanted: Mapping[int, int]) -> None:
        """Adds the wanted number of runs at each of these steps."""
        new = [(step, self.runs.add(step, count)) for step, count in wanted.items()]
        if self.prepare is not None:
            self.prepare(new)

    def values(self, step: int) -> Numbers:
        """The measure in each run of a step; NaN if it is not defined."""
        known, numbers = self._values.get(step, np.zeros(0)), self.runs.at[step]
        if len(known) < len(numbers):
            new = numbers[len(known) :]
            found = np.asarray(self.sample(step, new), dtype=float)
            baseline = None if self.baseline is None else self.baseline(new)
            margin = self.wanted.direction * (self.wanted.excess(found, baseline) - self.wanted.line)
            self._values[step] = np.concatenate([known, found])
            self._margins[step] = np.concatenate([self._margins.get(step, np.zeros(0)), margin])
        return self._values[step]

    def margin(self, step: int) -> Numbers:
        """Margins of the condition in all runs with a defined measure; negative if the condition is not met."""
        self.values(step)
        margin = self._margins[step]
        return margin[~np.isnan(margin)]

    def mean(self, step: int) -> float:
        """Mean margin at a step that was tried; NaN if the measure is not defined."""
        margin = self.margin(step)
        return float(margin.mean()) if len(margin) else math.nan

    def noise(self, steps: Sequence[int]) -> tuple[float, int]:
        """Standard deviation of single runs over these steps together, and its degrees of freedom.

        Steps at which all runs are the same do not count: far from the bound a measure may not vary at all.
        """
        squares, freedom = 0.0, 0
        for step in steps:
            margin = self.margin(step)
            if len(margin) > 1 and np.ptp(margin) > 0:
                squares += float(((margin - margin.mean()) ** 2).sum())
                freedom += len(margin) - 1
        return (math.sqrt(squares / freedom) if freedom else 0.0), freedom

    def settled(self) -> dict[int, int]:
        """Each step that was tried: 1 if its runs alone show that the condition holds, −1 that it fails, else 0."""
        deviation, freedom = self.noise(self.tried)
        factor = t_quantile(1 - 2 * self._risk, freedom + 1)
        found = {}
        for step in self.tried:
            margin = self.margin(step)
            if len(margin) < 2:
                found[step] = 0
                continue
            mean = float(margin.mean())
            own = float(margin.std(ddof=1))
            reach = factor * max(own, deviation) / math.sqrt(len(margin)) if deviation else 0.0
            if len(margin) >= 2 * self.begin and self._is_at_an_end(step):
                reach = 0.0
            low, high, includes = mean - reach, mean + reach, "=" in self.wanted.sign
            holds, fails = low > 0 or (low == 0 and includes), high < 0 or (high == 0 and not includes)
            found[step] = 1 if holds else -1 if fails else 0
        return found

    def brackets(self, settled: Mapping[int, int]) -> list[Bracket]:
        """Returns the brackets in which the condition begins or ceases to hold, from the settled values."""
        order = sorted(settled)
        sure = [step for step in order if settled[step]]
        if not sure:
            way = self.mean(order[0]) - self.mean(order[-1])
            return [Bracket(order[0], order[-1], 1 if way > 0 else -1, False, False)]
        found = []
        if sure[0] != order[0] and not self._is_alike(order[0], settled[sure[0]]):
            found.append(Bracket(order[0], sure[0], -settled[sure[0]], False, True))
        found += [
            Bracket(here, there, settled[here])
            for here, there in pairwise(sure)
            if settled[here] != settled[there]
        ]
        if sure[-1] != order[-1] and not self._is_alike(order[-1], settled[sure[-1]]):
            found.append(Bracket(sure[-1], order[-1], settled[sure[-1]], True, False))
        return found

    def _is_alike(self, end: int, sign: int) -> bool:
        """Whether an unsettled end seems to be on the same side as the settled value next to it."""
        margin = self.margin(end)
        deviation, _ = self.noise(self.tried)
        error = max(deviation, float(margin.std())) / math.sqrt(max(len(margin), 1))
        return sign * self.mean(end) > error

    def find_reversal(self, bracket: Bracket) -> tuple[int, int] | None:
        """Finds two steps of a bracket whose means contradict the direction by more than noise; None without such."""
        inside = [step for step in self.tried if bracket.first <= step <= bracket.last]
        deviation, freedom = self.noise(inside)
        if not deviation:
            return None
        pairs = list(
            combinations([(step, self.margin(step)) for step in inside if len(self.margin(step))], 2)
        )
        worst, found = t_quantile(1 - 2 * SUSPECT / max(len(pairs), 1), freedom + 1), None
        for (here, one), (there, other) in pairs:
            rise = bracket.before * (float(other.mean()) - float(one.mean()))
            far = rise / (max(deviation, float(other.std())) * math.sqrt(1 / len(one) + 1 / len(other)))
            if far > worst:
                worst, found = far, (here, there)
        return found

    def limit(self, bracket: Bracket, share: float) -> tuple[int, int]:
        """Returns the steps around a bracket's limit: the last one before it and the first one after it.

        Args:
            bracket: The bracket.
            share: Confidence.

        Returns:
            Two steps; `first − 1` and `last + 1` of the bracket if the limit may be outside.
        """
        first, last, unit = bracket.first, bracket.last, self.fine
        inside = [step for step in self.tried if first <= step <= last and len(self.margin(step))]
        deviation, freedom = self.noise(inside)
        inside = [
            *self._outside(first, -1, bracket.before),
            *inside,
            *self._outside(last, 1, -bracket.before),
        ]
        span = last - first
        begin = first if bracket.is_sure_before else first - unit
        end = last if bracket.is_sure_after else last + unit
        if deviation == 0 or freedom < 3 or span <= unit:
            return (
                first if bracket.is_sure_before else first - 1,
                last if bracket.is_sure_after else last + 1,
            )
        values = [bracket.before * self.margin(step) for step in inside]
        edges, chances = curves.crossing(
            [float(step) for step in inside], values, deviation, float(begin), float(end), float(unit)
        )
        at, behind = curves.narrowest(chances, share, LEAST)
        low = int(edges[at])
        high = int(edges[behind]) if behind < len(edges) else end
        return (low if low >= first else first - 1), (high if high <= last else last + 1)

    def _outside(self, edge: int, way: int, sign: int) -> list[int]:
        """Up to two tried steps beyond an edge of a bracket that continue the curve: no nearer to the bound."""
        order = [step for step in self.tried if way * (step - edge) > 0][::way]
        found: list[int] = []
        least = sign * self.mean(edge)
        for step in order[:2]:
            mean = sign * self.mean(step)
            if math.isnan(mean) or mean < least:
                break
            found.append(step)
            least = mean
        return sorted(found)

    @property
    def _risk(self) -> float:
        """Risk that a value is settled on the wrong side."""
        return (1 - self.level) * SURE / self.conditions

    def _share(self, brackets: Sequence[Bracket]) -> float:
        """Confidence of each limit."""
        return 1 - (1 - self.level) * CURVE / (self.conditions * max(len(brackets), 1))

    def judged(self) -> dict[int, Verdict]:
        """Verdict at each step that was tried, at the confidence of the search."""
        found = self.settled()
        brackets = self.brackets(found)
        for one in brackets:
            if self.find_reversal(one):
                continue
            before, after = self.limit(one, self._share(brackets))
            for step in self.tried:
                if one.first <= step <= before:
                    found[step] = one.before
                elif after <= step <= one.last:
                    found[step] = -one.before
        return {step: OF_SIGN[sign] for step, sign in found.items()}

    def next_runs(self) -> dict[int, int]:
        """Returns the number of further runs for each step; empty when the search has ended."""
        settled = self.settled()
        brackets = self.brackets(settled)
        found: dict[int, int] = {}
        for one in brackets:
            for step in self._refine_bracket(one, self._share(brackets)):
                found[step] = BATCH
        for step, sign in settled.items():
            if not sign and step not in self.decided and self._is_constant(step):
                found[step] = max(2 * self.begin - len(self.runs.at[step]), 1)
        for step, sign in settled.items():
            is_inside = any(one.first <= step <= one.last for one in brackets)
            if not sign and not is_inside and step not in self.decided and self._is_worth_more(step):
                found[step] = min(self.begin, self.most - len(self.runs.at[step]))
        return found

    def _is_at_an_end(self, step: int) -> bool:
        """Whether all runs of a step are at the same end of the measure's scale, as a loss of 0."""
        values = self.values(step)
        return bool(np.ptp(values) == 0) and float(values[0]) in self.wanted.of.measure.limits

    def _is_constant(self, step: int) -> bool:
        """Whether a few runs of a step are all at an end of the scale, so that a few more settle it."""
        return 1 < len(self.margin(step)) < 2 * self.begin and self._is_at_an_end(step)

    def _refine_bracket(self, bracket: Bracket, share: float) -> list[int]:
        """The steps of a bracket that get more runs."""
        first, last = bracket.first, bracket.last
        inside = [step for step in self.tried if first <= step <= last]
        spent = sum(len(self.runs.at[step]) for step in inside)
        if (found := self.find_reversal(bracket)) is not None:
            return [step for step in found if len(self.runs.at[step]) < self.most]
        if spent >= SCAN * self.most or (
            bracket.is_sure_before and bracket.is_sure_after and last - first <= self.fine
        ):
            return []
        before, after = self.limit(bracket, share)
        deviation, freedom = self.noise(inside)
        if (deviation == 0 or freedom < 3) and last - first > self.fine:
            middle = (first + last) // 2
            return [middle] if middle not in self.runs.at else []
        edges = [step for step in (before, after) if first <= step <= last]
        if after - before <= NARROW * self.fine and all(step in self.runs.at for step in edges):
            return self._settle_limit(before, after, deviation)
        return sorted({min(max(step, first), last) for step in (before, after)})

    def _settle_limit(self, before: int, after: int, deviation: float) -> list[int]:
        """Chooses a step between the edges of a narrow limit that `most` runs alone probably settle; empty for none."""
        steps = [step for step in range(before + 1, after) if 0 <= step < self.count]
        if not steps or not {before, after} <= self.runs.at.keys():
            return []
        low, high = self.mean(before), self.mean(after)
        near = {
            step: self.mean(step)
            if step in self.runs.at
            else low + (high - low) * (step - before) / (after - before)
            for step in steps
        }
        step = max(near, key=lambda one: abs(near[one]))
        factor = t_quantile(1 - 2 * self._risk, self.noise(self.tried)[1] + 1)
        size = len(self.runs.at.get(step, ()))
        # A mean between others is a guess, so it gets the benefit of a quarter.
        is_likely = factor * deviation <= 1.25 * abs(near[step]) * math.sqrt(self.most)
        return [step] if size < self.most and is_likely else []

    def _is_worth_more(self, step: int) -> bool:
        """Whether more runs may settle a step by itself."""
        size = len(self.runs.at[step])
        if size >= self.most or not len(self.margin(step)):
            return False
        deviation, freedom = self.noise(self.tried)
        own = max(deviation, float(self.margin(step).std()))
        reach = t_quantile(1 - 2 * self._risk, freedom + 1) * own / math.sqrt(self.most)
        # A mean over few runs is uncertain, so it gets the benefit of one standard error.
        return abs(self.mean(step)) + own / math.sqrt(len(self.margin(step))) >= reach

    def enough(self) -> int | None:
        """The `most` with which a search probably settles all open values; None if 1000 may not be enough."""
        from fairwave.answers.bands import MORE

        brackets = self.brackets(self.settled())
        needed = 0.0
        for one in brackets:
            before, after = self.limit(one, self._share(brackets))
            spent = sum(len(self.runs.at[step]) for step in self.tried if one.first <= step <= one.last)
            needed = max(needed, spent / SCAN * ((after - before) / (NARROW * self.fine)) ** 2)
        if not needed:
            needed = 2.0 * self.most
        return next((one for one in MORE if one > self.most and one >= needed), None)

    def compared(self, one: int, other: int, level: float) -> Contrast:
        """Compares the measure at two steps: independent runs, Welch's interval."""
        ours, theirs = (self.values(step)[~np.isnan(self.values(step))] for step in (one, other))
        means = [float(each.mean()) if len(each) else math.nan for each in (ours, theirs)]
        runs = min(len(ours), len(theirs))
        apart = means[0] - means[1]
        if runs < 2:
            return Contrast(
                Interval(apart, -math.inf, math.inf, runs, level),
                self.relevant,
                self.relevant.difference(*means),
            )
        parts = [float(each.var(ddof=1)) / len(each) for each in (ours, theirs)]
        spread = sum(parts)
        freedom = spread**2 / max(
            sum(part**2 / (len(each) - 1) for part, each in zip(parts, (ours, theirs), strict=True)), 1e-300
        )
        half = t_quantile(level, freedom + 1) * math.sqrt(spread) if spread else 0.0
        return Contrast(
            Interval(apart, apart - half, apart + half, runs, level),
            self.relevant,
            self.relevant.difference(*means),
        )

    def smoothed(self, steps: Sequence[int], before: int) -> Numbers:
        """The monotone curve nearest to the mean margins at steps; `before` is 1 if it falls, −1 if it rises."""
        means = np.array([before * self.mean(step) for step in steps])
        weights = np.array([max(len(self.margin(step)), 1) for step in steps], dtype=float)
        return before * curves.isotonic(means, weights)


def search(trial: Search) -> None:
    """Tries steps until it is known at which the condition begins and ceases to hold.

    Raises:
        AskError: The measure is not defined at an end of the range.
    """
    last = trial.count - 1
    scan = dict.fromkeys([0, last, *(round(part * last / (SCAN - 1)) for part in range(1, SCAN - 1))])
    missing = {step: trial.begin - len(trial.runs.at.get(step, ())) for step in scan}
    trial.add({step: count for step, count in missing.items() if count > 0})
    for step, where in ((0, "first"), (last, "last")):
        if math.isnan(trial.mean(step)):
            raise AskError(
                f"{trial.wanted.of.text} is not defined at the {where} value of the range; "
                "choose a range in which it is"
            )
    ceiling = trial.runs.total + 2 * SCAN * SCAN * trial.most
    while trial.runs.total < ceiling:
        wanted = trial.next_runs()
        if not wanted and (beside := _choose_neighbour(trial)) is not None:
            wanted = {beside: trial.begin}
        if not wanted:
            return
        trial.add(wanted)


def _choose_neighbour(trial: Search) -> int | None:
    """Chooses a step next to the best one if none holds, or the worst one if all hold; None if that one is an end."""
    settled = trial.settled()
    if len(set(settled.values())) > 1 or 0 in settled.values():
        return None
    order = sorted(settled)
    sign = -1.0 if settled[0] > 0 else 1.0
    means = [sign * trial.mean(step) for step in order]
    at = int(np.nanargmax(means))
    deviation, _ = trial.noise(order)
    # Noise alone makes one value the best.
    apart = 2 * deviation * math.sqrt(2 / len(trial.margin(order[at])))
    if at in {0, len(order) - 1} or means[at] <= max(means[0], means[-1]) + apart:
        return None
    gap, left = max((order[at] - order[at - 1], at - 1), (order[at + 1] - order[at], at))
    return (order[left] + order[left + 1]) // 2 if gap > trial.fine else None


def spans(known: Mapping[int, Verdict]) -> list[tuple[int, int, int | None, int | None]]:
    """Spans of steps that hold, without a failing step in between: first, last, and the failing steps around."""
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
    """Describes reversals of the measure by a difference that counts; empty if there are none."""
    order = trial.tried
    way = trial.wanted.direction * (trial.mean(order[-1]) - trial.mean(order[0]))
    pairs = list(combinations(order, 2))
    risk = (1 - trial.level) / max(len(pairs), 1)
    wrong = "lower" if way > 0 else "higher"
    turned = [(here, there, trial.compared(there, here, 1 - 2 * risk)) for here, there in pairs]
    turned = [one for one in turned if one[2].difference.n > 1 and one[2].outcome == wrong]
    said = []
    if turned:
        here, there, moved = max(turned, key=lambda one: abs(one[2].difference.mean))
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
    """The step nearest to `fails` at which monotone curves through the means meet all conditions."""
    way = 1 if fails > holds else -1
    found = fails - way
    for trial in trials:
        between = [one for one in trial.tried if min(holds, fails) <= one <= max(holds, fails)]
        curve = dict(zip(between, trial.smoothed(between, way).tolist(), strict=True))
        for here, there in pairwise(between[::way]):
            mine, theirs = curve[here], curve[there]
            if theirs < 0 <= mine:
                step = here + way * math.floor(mine / (mine - theirs) * abs(there - here))
                found = way * min(way * found, way * step)
                break
    return found
