"""Claims: sentences that measured numbers can confirm, contradict or leave open.

A claim is usually about many points at once ("Real is the fairest at every number of flows"). It consists of
*comparisons*. A comparison has a number per seed, and a line that the number should exceed or stay below. The rules for
combining comparisons make the verdict trustworthy:

- **reproduced**: every comparison's 95 % interval is on the claimed side. A conjunction needs no correction: an
  intersection–union test at level α has level α (Berger 1982).
- **not reproduced**: some comparison is on the other side, in an interval widened for the number of comparisons
  (Bonferroni), since among many comparisons one would otherwise stray there by chance.
- **alike**: every comparison's interval is on the claimed side or is alike, and at least one is alike. Two values are
  alike if the whole interval of their difference is below the smallest difference that counts
  (`fairwave.measuring.relevance`). A claim that one value is higher then does not hold, however certain the difference.
- **undecided**: anything else. The intervals straddle the line.

For claims that need a single instance ("at some load …") the two rules change places.

A comparison with an undefined number under some seed is undecided. Without that seed, the claim would be judged only on
favourable seeds. A claim that joins several assertions is *compound*: each part is judged and reported. The whole is
reproduced if all parts are, and not reproduced if one is not.

Differences between systems are paired by seed (see `fairwave.measuring.statistics`). 'Higher', 'highest' and the like
hold from the smallest difference that counts. 'At least' also holds if the two are alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave.measuring.bistability import find_split
from fairwave.measuring.statistics import LEVEL, Interval, interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave_study.overall import ClaimOverview
    from fairwave_study.parts import Data


class Verdict(str, Enum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    ALIKE = "alike"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Comparison:
    """One number per seed, and the line beyond which the claim has it.

    Attributes:
        label: The compared systems and the point: "UDP − Vegas at flows 80".
        samples: One number per seed.
        line: Where the claim's side begins.
        side: The claim's side of the line.
        unit: Unit of samples and line.
        or_equal: Whether the line itself belongs to the claim's side.
        spread: The samples' standard deviation and its degrees of freedom, if other readings add information (see
            `fairwave_study.moderation`). None: from these samples.
        part: The part of a compound claim; empty if a claim has no parts.
        relevant: The smallest distance from the line that counts if the claim is that two values differ; 0 if the line
            is a bound.
    """

    label: str
    samples: NDArray[np.float64]
    line: float = 0.0
    side: Literal["above", "below"] = "above"
    unit: str = ""
    or_equal: bool = False
    spread: tuple[float, float] | None = None
    part: str = ""
    relevant: float = 0.0
    _intervals: dict[float, Interval] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def undefined(self) -> int:
        """Under how many seeds there is no number."""
        return int(np.isnan(self.samples).sum())

    def interval(self, level: float = LEVEL) -> Interval:
        """Mean and interval of the samples. The interval is unbounded if a sample is undefined."""
        if level not in self._intervals:
            found = interval(self.samples, level, self.spread)
            self._intervals[level] = (
                replace(found, low=-math.inf, high=math.inf) if found.undefined else found
            )
        return self._intervals[level]

    def points(self) -> bool:
        """Whether the mean is on the claim's side, whatever its interval; False if a sample is undefined."""
        mean = math.nan if self.undefined else self.interval().mean
        beyond = mean > self.line if self.side == "above" else mean < self.line
        return beyond or (self.or_equal and mean == self.line)

    def holds(self, level: float = LEVEL) -> bool:
        """Whether the whole interval is on the claim's side, by a distance that counts."""
        near, bound = self._ends(level)
        if self.relevant:
            return near >= bound + self.relevant
        return near > bound or (self.or_equal and near == bound and math.isfinite(near))

    def contradicts(self, level: float = LEVEL) -> bool:
        """Whether the whole interval is on the other side, by a distance that counts."""
        estimate = self.interval(level)
        far = self.line - estimate.high if self.side == "above" else estimate.low - self.line
        return far > 0 and far >= self.relevant

    def is_alike(self, level: float = LEVEL) -> bool:
        """Whether the whole interval is nearer to the line than counts."""
        estimate = self.interval(level)
        return self.line - self.relevant < estimate.low and estimate.high < self.line + self.relevant

    def room(self) -> float:
        """Distance of the mean from the line towards the claim's side, in half-widths of its interval.

        1 and more: the whole interval is on the claim's side; −1 and less: on the other. 0 if the width is unknown, and
        if all samples are equal to the line.
        """
        estimate = self.interval()
        far = (estimate.mean - self.line) * (1 if self.side == "above" else -1)
        if math.isnan(far) or math.isinf(estimate.half_width) or far == 0:
            return 0.0
        return far / estimate.half_width if estimate.half_width > 0 else math.copysign(math.inf, far)

    def _ends(self, level: float) -> tuple[float, float]:
        estimate = self.interval(level)
        return (estimate.low, self.line) if self.side == "above" else (-estimate.high, -self.line)

    def __str__(self) -> str:
        return self.text()

    def text(self, level: float = LEVEL) -> str:
        """The label, and the mean with its interval of this level."""
        estimate = self.interval(level)
        unit = f" {self.unit}" if self.unit else ""
        if missing := self.undefined:
            some = "" if math.isnan(estimate.mean) else f" (mean of the others: {estimate.mean:.3g}{unit})"
            return f"{self.label}: not defined under {missing} of {len(self.samples)} seeds{some}"
        counts = f" (counts from {self.relevant:.3g})" if self.relevant else ""
        if estimate.is_identical:
            return f"{self.label}: {estimate.mean:.3g}{unit} (same in all {estimate.n}){counts}"
        return f"{self.label}: {estimate.mean:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]{unit}{counts}"


@dataclass(frozen=True)
class Evidence:
    """The comparisons that a claim comes down to.

    Attributes:
        comparisons: All of them.
        rule: Whether the claim needs each of them, or any one.
        among: Where these are a part of a claim: how many comparisons the whole claim has.
    """

    comparisons: Sequence[Comparison]
    rule: Literal["all", "any"] = "all"
    among: int = 0

    def __and__(self, other: Evidence) -> Evidence:
        """Both: the comparisons of two conjunctions together."""
        if self.rule == other.rule == "all":
            return Evidence([*self.comparisons, *other.comparisons])
        raise ValueError("only claims that need each of their comparisons can be joined")

    def relabelled(self, label: Callable[[str], str]) -> Evidence:
        """The same evidence with other labels."""
        return replace(self, comparisons=[replace(one, label=label(one.label)) for one in self.comparisons])

    def as_part(self, name: str) -> Evidence:
        """The same as a part of a compound claim.

        Raises:
            ValueError: It is satisfied by any one comparison, which cannot be joined with others.
        """
        if self.rule != "all":
            raise ValueError(f"part {name!r} needs any one of its comparisons; a part needs each of them")
        return Evidence([replace(one, label=f"{name}: {one.label}", part=name) for one in self.comparisons])

    def parts(self) -> dict[str, Evidence]:
        """The parts of a compound claim, each as strict as within the whole; empty if it has none."""
        found: dict[str, list[Comparison]] = {}
        for one in self.comparisons:
            if one.part:
                found.setdefault(one.part, []).append(one)
        return {name: Evidence(some, self.rule, len(self.comparisons)) for name, some in found.items()}

    @property
    def widened(self) -> float:
        """The level at which a single comparison may decide for all."""
        return 1 - (1 - LEVEL) / self.compared

    def points(self) -> bool:
        """Whether the means are on the claim's side: all of them, or any one if one suffices."""
        told = [one.points() for one in self.comparisons]
        return bool(told) and (all(told) if self.rule == "all" else any(told))

    def standing(self, one: Comparison) -> tuple[int, float]:
        """Sort key of a comparison, worst first: contradicting, open, alike or holding, then its room.

        If one comparison suffices, an open one may still decide for the claim. So it ranks before one that is alike.
        """
        alone = self.rule == "any"
        if one.contradicts(LEVEL if alone else self.widened):
            return -1, one.room()
        if one.holds(self.widened if alone else LEVEL):
            return 2, one.room()
        return int(one.is_alike() != alone), one.room()

    def verdict(self) -> Verdict:
        """The verdict; undecided when there is nothing to compare."""
        each, widened = self.comparisons, self.widened
        if self.rule == "all":
            holds = all(one.holds() for one in each)
            fails = any(one.contradicts(widened) for one in each)
            is_alike = all(one.holds() or one.is_alike() for one in each)
        else:
            holds = any(one.holds(widened) for one in each)
            fails = all(one.contradicts() for one in each)
            is_alike = all(one.contradicts() or one.is_alike() for one in each)
        ranked = (
            (holds, Verdict.REPRODUCED),
            (fails, Verdict.NOT_REPRODUCED),
            (is_alike, Verdict.ALIKE),
        )
        return next((verdict for is_so, verdict in ranked if is_so and each), Verdict.UNDECIDED)

    def decisive(self) -> Comparison | None:
        """The comparison on which the verdict hangs: the weakest of a conjunction, the strongest otherwise.

        For a contradicted claim: a comparison that contradicts it. For an undecided claim: an open one.
        """
        if not self.comparisons:
            return None
        choose = min if self.rule == "all" else max
        return choose(self.comparisons, key=self.standing)

    def deciding_level(self, one: Comparison) -> float:
        """The level of the interval that decides a comparison.

        Any one comparison contradicts a conjunction, so that interval is widened for their number. So is the interval
        of a comparison that alone suffices.
        """
        asserts = one.points() == (self.rule == "any") and not one.is_alike()
        return self.widened if asserts else LEVEL

    def decided_by(self) -> str:
        """The comparison on which the verdict hangs, with the interval that decides, and the line.

        Runs that differ in kind are named: their mean describes none of them.
        """
        one = self.decisive()
        if one is None:
            return "–"
        level = self.deciding_level(one)
        line = f"{one.line:.3g} {one.unit}".rstrip()
        wider = (
            f"; {100 * level:.4g} % interval, widened for {self.compared} comparisons"
            if level > LEVEL
            else ""
        )
        split = find_split(one.samples, one.relevant)
        kinds = f"; bistable: {split}" if split else ""
        return f"{one.text(level)}, to be {one.side} {line}{wider}{kinds}"

    @property
    def compared(self) -> int:
        """Number of comparisons of the whole claim."""
        return max(self.among, len(self.comparisons), 1)

    def describe(self, most: int = 4) -> str:
        """How the comparisons came out, those that do not hold by name."""
        total = len(self.comparisons)
        if not total:
            return "Nothing could be compared."
        holding = [one for one in self.comparisons if one.holds()]
        contrary = [one for one in self.comparisons if one.contradicts(self.widened)]
        alike = [one for one in self.comparisons if one.is_alike()]
        straddling = [
            one
            for one in self.comparisons
            if not (one.holds() or one.is_alike() or one.contradicts(self.widened))
        ]
        if len(holding) == total:
            parts = [
                "Holds in the one comparison made" if total == 1 else f"Holds in all {total} comparisons"
            ]
        else:
            parts = [f"Holds in {len(holding)} of {total} comparisons"]
        nearly = [one for one in straddling if replace(one, relevant=0.0).holds()]
        open_ = [one for one in straddling if not replace(one, relevant=0.0).holds()]
        for name, group in (
            ("contrary in", contrary),
            ("alike in", alike),
            ("as claimed but perhaps by less than counts in", nearly),
            ("open in", open_),
        ):
            if group:
                shown = "; ".join(str(one) for one in sorted(group, key=lambda one: one.room())[:most])
                more = f"; and {len(group) - most} more" if len(group) > most else ""
                parts.append(f"{name} {len(group)} ({shown}{more})")
        return ", ".join(parts) + "."


@dataclass(frozen=True)
class Part:
    """One of the assertions that a compound claim joins.

    Attributes:
        name: Short, unique within the claim: "loses least".
        test: Takes the study's data and returns evidence that needs each of its comparisons.
    """

    name: str
    test: Callable[[Data], Evidence]


def _refuse(_: Data) -> Evidence:
    """The test of a compound claim, which its parts carry out."""
    raise ValueError("a claim needs a test or parts")


@dataclass(frozen=True)
class Claim:
    """One assertion of a paper, in our words, with its test.

    Attributes:
        id: Short name, "V1".
        statement: One sentence of ours.
        source: The place in the paper: "paper 000, Figure 2".
        grids: Ids of the grids that the test reads.
        test: Takes the study's data and returns evidence. Left out if the claim has parts.
        notes: Additions to the explanation, by verdict: the reason for the verdict, trials, and the assumption that
            decides. A function of the data if the text holds numbers.
        assumptions: Ids of the assumptions on which the claim may hang.
        wordings: Tests of other meanings, by name, if the paper contradicts itself or leaves a word open. The page
            shows them next to the verdict of `test`.
        words: Other names of the verdicts: a criterion is met, a claim reproduced.
        parts: The parts of a compound claim; the claim is all of them together.
    """

    id: str
    statement: str
    source: str
    grids: tuple[str, ...]
    test: Callable[[Data], Evidence] = _refuse
    notes: Mapping[Verdict, str | Callable[[Data], str]] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    wordings: Mapping[str, Callable[[Data], Evidence]] = field(default_factory=dict)
    words: Mapping[Verdict, str] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()

    def evidence(self, data: Data) -> Evidence:
        """All comparisons of the claim; those of a compound claim know their part.

        Raises:
            ValueError: It has neither test nor parts, both, or a part that needs only one of its comparisons.
        """
        if not self.parts:
            return self.test(data)
        if self.test is not _refuse:
            raise ValueError(
                f"claim {self.id!r} has a test and parts: the test of a compound claim is its parts"
            )
        names = [one.name for one in self.parts]
        if len(set(names)) < len(names):
            raise ValueError(f"claim {self.id!r} has two parts of one name: {', '.join(names)}")
        several = [part.test(data).as_part(part.name) for part in self.parts]
        return Evidence([one for evidence in several for one in evidence.comparisons])

    def judge(self, data: Data) -> Judgement:
        """Tests the claim on measured numbers."""
        evidence = self.evidence(data)
        verdict = evidence.verdict()
        note = self.notes.get(Verdict.UNDECIDED if verdict is Verdict.ALIKE else verdict, "")
        words = note if isinstance(note, str) else note(data)
        wordings = {name: test(data) for name, test in self.wordings.items()}
        return Judgement(self, verdict, evidence, f"{evidence.describe()} {words}".strip(), wordings)


OVERALL_TONES = {
    "reproduced": "reproduced",
    "reproduced in most readings": "reproduced",
    "alike in most readings": "alike",
    "hangs on the reading": "undecided",
    "contradicted in most readings": "not_reproduced",
    "contradicted in every reading": "not_reproduced",
    "undecided": "undecided",
}
"""Verdict over all readings to the tone on pages."""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict.

    Attributes:
        claim: The claim.
        verdict: The verdict.
        evidence: The comparisons.
        explanation: How they came out, and the claim's note for this verdict.
        wordings: The comparisons by each reading of the claim, by name.
        about: The claim over all readings of the paper; None if only one reading was judged.
    """

    claim: Claim
    verdict: Verdict
    evidence: Evidence
    explanation: str
    wordings: Mapping[str, Evidence] = field(default_factory=dict)
    about: ClaimOverview | None = None

    @property
    def word(self) -> str:
        """The name of the verdict."""
        return self.claim.words.get(self.verdict, str(self.verdict))

    @property
    def tone(self) -> str:
        """The tone on a page: that of the verdict over all readings if they were judged."""
        return OVERALL_TONES[self.about.verdict] if self.about else self.verdict.name.lower()

    @property
    def words(self) -> tuple[str, ...]:
        """The names of its verdicts: reproduced, not reproduced, undecided, alike."""
        return tuple(self.claim.words.get(verdict, str(verdict)) for verdict in Verdict)

    def to_dict(self) -> dict[str, Any]:
        """The claim's entry in the ledger."""
        return {
            "id": self.claim.id,
            "statement": self.claim.statement,
            "source": self.claim.source,
            **_found(self.evidence),
            "decided_by": self.evidence.decided_by(),
            "verdict": self.word,
            "explanation": self.explanation,
            "readings": self.about.to_dict() if self.about else None,
            "assumptions": list(self.claim.assumptions),
            "wordings": [
                {"name": name, **_found(evidence), "explanation": evidence.describe()}
                for name, evidence in self.wordings.items()
            ],
            "parts": [
                {"name": name, **_found(evidence), "explanation": evidence.describe()}
                for name, evidence in self.evidence.parts().items()
            ],
            "comparisons": [
                {
                    "label": one.label,
                    "estimate": _number(one.interval().mean),
                    "interval": [_number(one.interval().low), _number(one.interval().high)],
                    "line": _number(one.line),
                    "side": one.side,
                    "holds": one.holds(),
                    "points": one.points(),
                    "contradicts": one.contradicts(self.evidence.widened),
                    "alike": one.is_alike(),
                    "relevant": one.relevant,
                }
                for one in self.evidence.comparisons
            ],
        }


def _found(evidence: Evidence) -> dict[str, Any]:
    """Verdict and the estimate on which it hangs, for the ledger."""
    decisive = evidence.decisive()
    estimate = decisive.interval() if decisive else Interval(math.nan, -math.inf, math.inf, 0)
    level = evidence.deciding_level(decisive) if decisive else LEVEL
    deciding = decisive.interval(level) if decisive else estimate
    return {
        "verdict": str(evidence.verdict()),
        "estimate": _number(estimate.mean),
        "interval": [_number(estimate.low), _number(estimate.high)],
        "deciding_level": level,
        "deciding_interval": [_number(deciding.low), _number(deciding.high)],
        "unit": decisive.unit if decisive else "",
        "of": decisive.label if decisive else "",
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
