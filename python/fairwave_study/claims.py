"""Claims: sentences that measured numbers can confirm, contradict or leave open.

A claim is usually about many points at once ("Real is the fairest at every number of flows"). It is taken apart into
*comparisons*, each a number per seed and a line that the number should lie beyond, and put together again so that
the verdict can be trusted:

- **reproduced**: every comparison's 95 % interval lies on the claimed side. To assert a conjunction no correction is
  needed (an intersection–union test at level α has level α: Berger 1982).
- **not reproduced**: some comparison lies on the other side, in an interval widened for the number of comparisons
  (Bonferroni), since among many comparisons one would otherwise stray there by chance.
- **undecided**: anything else. The intervals straddle the line.

For claims that need a single instance ("at some load …") the two rules change places.

Differences between systems are taken seed by seed (see `fairwave.measuring.statistics`). 'At least' allows for a margin
that counts as equal, by default 1 % of the rival's mean; 'higher', 'highest' and the like allow for none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave.measuring.statistics import LEVEL, Interval, interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave_study.overall import ClaimOverview
    from fairwave_study.study import Data


class Verdict(str, Enum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Comparison:
    """One number per seed, and the line beyond which the claim has it.

    Attributes:
        label: What is compared, and where: "UDP − Vegas at flows 80".
        samples: One number per seed.
        line: Where the claim's side begins.
        side: The claim's side of the line.
        unit: Unit of samples and line.
        or_equal: Whether the line itself belongs to the claim's side.
        spread: The samples' standard deviation and its degrees of freedom where more is known of it than these samples
            tell (see `fairwave_study.moderation`); their own when None.
    """

    label: str
    samples: NDArray[np.float64]
    line: float = 0.0
    side: Literal["above", "below"] = "above"
    unit: str = ""
    or_equal: bool = False
    spread: tuple[float, float] | None = None

    def interval(self, level: float = LEVEL) -> Interval:
        """Mean and interval of the samples."""
        return interval(self.samples, level, self.spread)

    def holds(self, level: float = LEVEL) -> bool:
        """Whether the whole interval lies on the claim's side."""
        near, bound = self._ends(level)
        return near > bound or (self.or_equal and near == bound and math.isfinite(near))

    def contradicts(self, level: float = LEVEL) -> bool:
        """Whether the whole interval lies on the other side."""
        estimate = self.interval(level)
        if self.side == "above":
            return estimate.high < self.line
        return estimate.low > self.line

    def room(self) -> float:
        """How far within the claim's side the interval's nearer end lies, in half-widths."""
        near, bound = self._ends(LEVEL)
        estimate = self.interval()
        scale = max(estimate.half_width, abs(estimate.mean - self.line), 1e-300)
        return -math.inf if math.isinf(scale) or math.isnan(near) else (near - bound) / scale

    def _ends(self, level: float) -> tuple[float, float]:
        estimate = self.interval(level)
        return (estimate.low, self.line) if self.side == "above" else (-estimate.high, -self.line)

    def __str__(self) -> str:
        estimate = self.interval()
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.label}: {estimate.mean:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]{unit}"


@dataclass(frozen=True)
class Evidence:
    """The comparisons that a claim comes down to.

    Attributes:
        comparisons: All of them.
        rule: Whether the claim needs each of them, or any one.
    """

    comparisons: Sequence[Comparison]
    rule: Literal["all", "any"] = "all"

    def __and__(self, other: Evidence) -> Evidence:
        """Both: the comparisons of two conjunctions together."""
        if self.rule == other.rule == "all":
            return Evidence([*self.comparisons, *other.comparisons])
        raise ValueError("only claims that need each of their comparisons can be joined")

    def relabelled(self, label: Callable[[str], str]) -> Evidence:
        """The same with other words for what is compared."""
        return Evidence([replace(one, label=label(one.label)) for one in self.comparisons], self.rule)

    @property
    def widened(self) -> float:
        """The level at which a single comparison may decide for all."""
        return 1 - (1 - LEVEL) / max(len(self.comparisons), 1)

    def verdict(self) -> Verdict:
        """The verdict; undecided when there is nothing to compare."""
        if not self.comparisons:
            return Verdict.UNDECIDED
        if self.rule == "all":
            if all(one.holds() for one in self.comparisons):
                return Verdict.REPRODUCED
            if any(one.contradicts(self.widened) for one in self.comparisons):
                return Verdict.NOT_REPRODUCED
        else:
            if any(one.holds(self.widened) for one in self.comparisons):
                return Verdict.REPRODUCED
            if all(one.contradicts() for one in self.comparisons):
                return Verdict.NOT_REPRODUCED
        return Verdict.UNDECIDED

    def decisive(self) -> Comparison | None:
        """The comparison on which the verdict hangs: the weakest of a conjunction, the strongest otherwise."""
        if not self.comparisons:
            return None
        choose = min if self.rule == "all" else max
        return choose(self.comparisons, key=lambda one: one.room())

    def describe(self, most: int = 4) -> str:
        """How the comparisons came out, those that do not hold by name."""
        total = len(self.comparisons)
        if not total:
            return "Nothing could be compared."
        holding = [one for one in self.comparisons if one.holds()]
        contrary = [one for one in self.comparisons if one.contradicts(self.widened)]
        straddling = [
            one for one in self.comparisons if not one.holds() and not one.contradicts(self.widened)
        ]
        if len(holding) == total:
            parts = [
                "Holds in the one comparison made" if total == 1 else f"Holds in all {total} comparisons"
            ]
        else:
            parts = [f"Holds in {len(holding)} of {total} comparisons"]
        for name, group in (("contrary in", contrary), ("open in", straddling)):
            if group:
                shown = "; ".join(str(one) for one in sorted(group, key=lambda one: one.room())[:most])
                more = f"; and {len(group) - most} more" if len(group) > most else ""
                parts.append(f"{name} {len(group)} ({shown}{more})")
        return ", ".join(parts) + "."


@dataclass(frozen=True)
class Claim:
    """One assertion of a paper, in our words, with its test.

    Attributes:
        id: Short name, "V1".
        statement: One sentence of ours.
        source: Where the paper says so: "paper 000, Figure 2".
        grids: Ids of the grids that the test reads.
        test: Takes the study's data and answers with evidence.
        notes: What to add to the explanation, by verdict: why a claim does not come out, what was tried, and on which
            assumption it hangs. A function of the data where the words hold numbers.
        assumptions: Ids of the assumptions on which the claim may hang.
        wordings: Where the paper contradicts itself or leaves a word open: the test by each reading, by name. They are
            shown beside the verdict, which is that of `test`.
        words: What its verdicts are called, where not as they are: a criterion is met, a claim reproduced.
    """

    id: str
    statement: str
    source: str
    grids: tuple[str, ...]
    test: Callable[[Data], Evidence]
    notes: Mapping[Verdict, str | Callable[[Data], str]] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    wordings: Mapping[str, Callable[[Data], Evidence]] = field(default_factory=dict)
    words: Mapping[Verdict, str] = field(default_factory=dict)

    def judge(self, data: Data) -> Judgement:
        """Tests the claim on measured numbers."""
        evidence = self.test(data)
        verdict = evidence.verdict()
        note = self.notes.get(verdict, "")
        words = note if isinstance(note, str) else note(data)
        wordings = {name: test(data) for name, test in self.wordings.items()}
        return Judgement(self, verdict, evidence, f"{evidence.describe()} {words}".strip(), wordings)


OVERALL_TONES = {
    "reproduced": "reproduced",
    "reproduced in most readings": "reproduced",
    "hangs on the reading": "undecided",
    "contradicted in most readings": "not_reproduced",
    "contradicted in every reading": "not_reproduced",
    "undecided": "undecided",
}
"""Verdict over all readings to the tone in which it is shown."""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict.

    Attributes:
        claim: The claim.
        verdict: What became of it.
        evidence: The comparisons.
        explanation: How they came out, and the claim's note for this verdict.
        wordings: The comparisons by each reading of the claim, by name.
        about: What became of it over all readings of the paper; None where only one was judged.
    """

    claim: Claim
    verdict: Verdict
    evidence: Evidence
    explanation: str
    wordings: Mapping[str, Evidence] = field(default_factory=dict)
    about: ClaimOverview | None = None

    @property
    def word(self) -> str:
        """What the verdict is called."""
        return self.claim.words.get(self.verdict, str(self.verdict))

    @property
    def tone(self) -> str:
        """The tone in which a page shows it: that of its verdict over all readings, where these were judged."""
        return OVERALL_TONES[self.about.verdict] if self.about else self.verdict.name.lower()

    @property
    def words(self) -> tuple[str, ...]:
        """What its verdicts are called: reproduced, not reproduced, undecided."""
        return tuple(self.claim.words.get(verdict, str(verdict)) for verdict in Verdict)

    def to_dict(self) -> dict[str, Any]:
        """The claim's entry in the ledger."""
        return {
            "id": self.claim.id,
            "statement": self.claim.statement,
            "source": self.claim.source,
            **_found(self.evidence),
            "verdict": self.word,
            "explanation": self.explanation,
            "readings": self.about.to_dict() if self.about else None,
            "assumptions": list(self.claim.assumptions),
            "wordings": [
                {"name": name, **_found(evidence), "explanation": evidence.describe()}
                for name, evidence in self.wordings.items()
            ],
            "comparisons": [
                {
                    "label": one.label,
                    "estimate": _number(one.interval().mean),
                    "interval": [_number(one.interval().low), _number(one.interval().high)],
                    "line": _number(one.line),
                    "side": one.side,
                    "holds": one.holds(),
                    "contradicts": one.contradicts(self.evidence.widened),
                }
                for one in self.evidence.comparisons
            ],
        }


def _found(evidence: Evidence) -> dict[str, Any]:
    """Verdict and the estimate on which it hangs, for the ledger."""
    decisive = evidence.decisive()
    estimate = decisive.interval() if decisive else Interval(math.nan, -math.inf, math.inf, 0)
    return {
        "verdict": str(evidence.verdict()),
        "estimate": _number(estimate.mean),
        "interval": [_number(estimate.low), _number(estimate.high)],
        "unit": decisive.unit if decisive else "",
        "of": decisive.label if decisive else "",
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
