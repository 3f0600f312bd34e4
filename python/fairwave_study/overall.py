"""What many readings say together: verdicts over all of them, what decides each claim, and where most hold together."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_study import deciding
from fairwave_study.claims import Comparison, Evidence, Verdict
from fairwave_study.moderation import moderated, prior

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave_study.design import Candidate
    from fairwave_study.readings import Reading, Readings
    from fairwave_study.shelf import StoredReading
    from fairwave_study.study import Study

SEEDS = (1, 2, 3)
"""Seeds on which every reading is judged."""

OTHERS = (4, 5, 6)
"""Seeds on which the reading that was chosen on `SEEDS` is judged."""


SCORES: Mapping[str, float] = {
    str(Verdict.REPRODUCED): 1.0,
    str(Verdict.UNDECIDED): 0.5,
    str(Verdict.NOT_REPRODUCED): 0.0,
}
"""What a verdict counts where shares of variance are told."""

MOST = 0.5
"""Part of the readings from which on 'most' is said."""

NEARLY_ALL = 0.95
"""Part of the readings from which on a claim counts as reproduced whatever is read; the rest may be chance."""


@dataclass(frozen=True)
class JudgedReading:
    """A reading with the verdict on every claim.

    Attributes:
        candidate: The reading, and why it was looked at.
        evidence: Claim to its comparisons, spreads moderated.
    """

    candidate: Candidate
    evidence: Mapping[str, Evidence]

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Claim to verdict."""
        return {name: str(one.verdict()) for name, one in self.evidence.items()}

    def held(self, claims: Sequence[str]) -> int:
        """How many of these claims are reproduced."""
        return sum(self.verdicts.get(one) == str(Verdict.REPRODUCED) for one in claims)


@dataclass(frozen=True)
class BestReading:
    """The reading in which most of a paper's claims hold together.

    Attributes:
        paper: The paper's number.
        reading: Factor to value.
        found: Claims reproduced on the seeds on which it was chosen.
        held: Claims reproduced on the others.
        of: Claims of the paper that were judged.
        base: Claims that the base reading reproduces on the seeds on which this one was chosen.
        claims: Ids of those that are reproduced on the others.
    """

    paper: str
    reading: Reading
    found: int
    held: int
    of: int
    base: int
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimOverview:
    """What became of one claim over all readings.

    Attributes:
        claim: Its id.
        n: Readings drawn from all factors at once.
        reproduced: Share of these in which it is reproduced.
        undecided: Share in which it is undecided.
        contradicted: Share in which it is contradicted.
        base: The base reading's verdict, on the seeds of the exploration.
        decided: What decides it.
        nearest: The reading nearest to the base in which its verdict turns; None where it turns in none.
        turned: The verdict there.
        ever: In how many readings it is reproduced, of all that were judged: drawn, base, neighbours and pairs.
        closest: Where it is in none, the decisive comparison that comes nearest to its line:
            its label and the mean, and the line.
    """

    claim: str
    n: int
    reproduced: float
    undecided: float
    contradicted: float
    base: str
    decided: deciding.ClaimDecision
    nearest: Mapping[str, str] | None
    turned: str = ""
    ever: int = 0
    closest: str = ""

    @property
    def verdict(self) -> str:
        """The verdict over all readings, in words."""
        if self.reproduced >= NEARLY_ALL:
            return "reproduced"
        if self.contradicted == 1:
            return "contradicted in every reading"
        if self.reproduced > 0 and self.reproduced > self.contradicted and self.reproduced >= MOST:
            return "reproduced in most readings"
        if self.reproduced <= 1 - NEARLY_ALL and self.contradicted >= MOST:
            return "contradicted in most readings"
        if min(self.reproduced, self.contradicted) > 1 - NEARLY_ALL:
            return "hangs on the reading"
        return "undecided"

    def to_dict(self) -> dict[str, Any]:
        """The claim's `readings` in the ledger."""
        tree = self.decided.tree
        return {
            "n": self.n,
            "verdict": self.verdict,
            "reproduced": self.reproduced,
            "undecided": self.undecided,
            "contradicted": self.contradicted,
            "decided_by": self.decided.by,
            "shares": {
                one.factors[0]: one.share for one in self.decided.singles if one.p < deciding.SIGNIFICANT
            },
            "pairs": [
                {"factors": list(pair.factors), "share": pair.share, "p": pair.p}
                for pair in self.decided.pairs
            ],
            "tree": asdict(tree) if tree else None,
            "nearest": (
                {"factors": dict(self.nearest), "distance": len(self.nearest), "verdict": self.turned}
                if self.nearest is not None
                else None
            ),
            "ever": self.ever,
            "closest": self.closest,
        }


@dataclass(frozen=True)
class Exploration:
    """All readings that were judged, and what they say together.

    Attributes:
        readings: What is open.
        judged: The base first, then its neighbours, those drawn, and pairs.
        about: What became of each claim.
        best: The reading in which most claims hold together, per paper.
        seeds: Seeds on which readings were judged.
        others: Seeds on which the best were judged.
        seconds: Processor time of all readings, in seconds of one core.
    """

    readings: Readings
    judged: Sequence[JudgedReading]
    about: Mapping[str, ClaimOverview]
    best: Sequence[BestReading] = ()
    seeds: Sequence[int] = SEEDS
    others: Sequence[int] = OTHERS
    seconds: float = 0.0

    @property
    def drawn(self) -> list[JudgedReading]:
        """Those drawn from all factors at once."""
        return [one for one in self.judged if one.candidate.kind == "drawn"]


class Spreads:
    """What is known of the spread of each comparison from all readings."""

    def __init__(self, kept: Sequence[StoredReading]) -> None:
        found: dict[tuple[str, str], list[float]] = {}
        freedom: dict[tuple[str, str], int] = {}
        for one in kept:
            for name, evidence in one.claims.items():
                for comparison in evidence.comparisons:
                    samples = comparison.samples[~np.isnan(comparison.samples)]
                    if len(samples) == len(comparison.samples) > 1:
                        place = (name, comparison.label)
                        found.setdefault(place, []).append(float(samples.var(ddof=1)))
                        freedom[place] = len(samples) - 1
        self._priors = {place: prior(variances, freedom[place]) for place, variances in found.items()}

    def moderate(self, name: str, evidence: Evidence) -> Evidence:
        """The comparisons with what all readings tell of their spreads."""
        return Evidence(
            [
                replace(one, spread=moderated(one.samples, *self._priors.get((name, one.label), (0.0, 0.0))))
                for one in evidence.comparisons
            ],
            evidence.rule,
        )


def all_judged(
    candidates: Sequence[Candidate], kept: Mapping[str, StoredReading], spreads: Spreads | None = None
) -> list[JudgedReading]:
    """Readings with what they left, spreads moderated by what all of these tell, or by what is handed in."""
    known = spreads or Spreads([kept[key] for key in dict.fromkeys(one.key for one in candidates)])
    return [
        JudgedReading(
            one, {name: known.moderate(name, evidence) for name, evidence in kept[one.key].claims.items()}
        )
        for one in candidates
    ]


def about_claim(readings: Readings, judged: Sequence[JudgedReading], claim: str) -> ClaimOverview:
    """What became of one claim over all readings."""
    drawn = [one for one in judged if one.candidate.kind == "drawn" and claim in one.verdicts]
    verdicts = [one.verdicts[claim] for one in drawn]
    n = len(verdicts)

    def share(verdict: Verdict) -> float:
        return verdicts.count(str(verdict)) / n if n else math.nan

    base = judged[0].verdicts[claim]
    order = {factor.id: {v.name: rank for rank, v in enumerate(factor.values)} for factor in readings.factors}

    def far(one: JudgedReading) -> tuple[int, int]:
        # As near as can be; among those as near, the more plausible.
        reading = one.candidate.reading
        return readings.distance(reading), sum(order[name][value] for name, value in reading.items())

    ever = len({one.candidate.key for one in judged if one.verdicts.get(claim) == str(Verdict.REPRODUCED)})
    turned = sorted((one for one in judged if one.verdicts.get(claim, base) != base), key=far)
    return ClaimOverview(
        claim,
        n,
        share(Verdict.REPRODUCED),
        share(Verdict.UNDECIDED),
        share(Verdict.NOT_REPRODUCED),
        base,
        deciding.decided(readings, [one.candidate.reading for one in drawn], verdicts, SCORES),
        readings.differs(turned[0].candidate.reading) if turned else None,
        turned[0].verdicts[claim] if turned else "",
        ever,
        "" if ever else _closest(judged, claim),
    )


def _closest(judged: Sequence[JudgedReading], claim: str) -> str:
    """Where a claim that no reading reproduces comes nearest to it: the comparison that still refuses it."""
    best: tuple[float, Comparison] | None = None
    for one in judged:
        decisive = one.evidence[claim].decisive() if claim in one.evidence else None
        if (
            decisive is not None
            and math.isfinite(decisive.room())
            and (best is None or decisive.room() > best[0])
        ):
            best = (decisive.room(), decisive)
    return f"{best[1]} (line: {best[1].line:.3g}, claimed {best[1].side})" if best else ""


def papers(study: Study, base: JudgedReading) -> dict[str, list[str]]:
    """Paper's number to the claims about it that were judged."""
    found: dict[str, list[str]] = {}
    for claim in study.claims:
        if claim.id in base.evidence:
            for paper in dict.fromkeys(re.findall(r"\b00\d\b", claim.source)):
                found.setdefault(paper, []).append(claim.id)
    return found


def most(readings: Readings, judged: Sequence[JudgedReading], claims: Sequence[str]) -> JudgedReading:
    """The reading in which most of these hold; among equals that which contradicts fewest, then the nearest."""

    def worth(one: JudgedReading) -> tuple[int, int, int]:
        against = sum(one.verdicts.get(name) == str(Verdict.NOT_REPRODUCED) for name in claims)
        return one.held(claims), -against, -readings.distance(one.candidate.reading)

    return max(judged, key=worth)
