"""Verdicts over many readings: each claim's verdict, its deciding factors, and the best reading of each paper."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairwave_study import deciding
from fairwave_study.claims import Comparison, Evidence, Verdict
from fairwave_study.moderation import moderated, prior
from fairwave_study.shares import Shares, weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave_study.design import Candidate
    from fairwave_study.readings import Reading, Readings
    from fairwave_study.shelf import StoredReading
    from fairwave_study.study import Study

SEEDS = (1, 2, 3)
"""Seeds on which every reading is judged."""

OTHERS = (11, 12, 13, 14, 15)
"""Seeds that nothing else is judged on: here the base, the likely readings and those chosen on `SEEDS` are judged."""


SCORES: Mapping[str, float] = {
    str(Verdict.REPRODUCED): 1.0,
    str(Verdict.UNDECIDED): 0.5,
    str(Verdict.ALIKE): 0.5,
    str(Verdict.NOT_REPRODUCED): 0.0,
}
"""Score of each verdict in shares of variance."""


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
        against: Ids of those that are contradicted on the others.
    """

    paper: str
    reading: Reading
    found: int
    held: int
    of: int
    base: int
    claims: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without its paper and seeds."""
        return {
            "factors": dict(self.reading),
            "held": self.held,
            "of": self.of,
            "found": self.found,
            "base": self.base,
            "claims": list(self.claims),
            "against": list(self.against),
        }


@dataclass(frozen=True)
class ClaimOverview:
    """A claim over all readings.

    Attributes:
        claim: Its id.
        n: Readings drawn from all factors at once.
        reproduced: Share of these readings that reproduce it.
        undecided: Share of undecided readings.
        contradicted: Share of contradicting readings.
        base: The base reading's verdict, on the seeds of the exploration.
        decided: The factors that decide it.
        nearest: The reading nearest to the base with another verdict; None if there is none.
        turned: The verdict there.
        ever: In how many readings it is reproduced, of all that were judged: drawn, base, neighbours and pairs.
        closest: Where it is in none, the decisive comparison that comes nearest to its line:
            its label and the mean, and the line.
        points: Share of the readings drawn in which all of its means are on the claimed side.
        weighted: The shares with readings weighted by the stated plausibility of their values.
        parts: The shares of each part of a compound claim.
        alike: Share of readings in which it is alike.
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
    points: float = math.nan
    weighted: Shares | None = None
    parts: Mapping[str, Shares] = field(default_factory=dict)
    alike: float = 0.0

    @property
    def shares(self) -> Shares:
        """Its shares, each reading counted once."""
        return Shares(self.n, self.reproduced, self.undecided, self.contradicted, self.points, self.alike)

    @property
    def verdict(self) -> str:
        """The verdict over all readings, in words."""
        return self.shares.verdict

    def to_dict(self) -> dict[str, Any]:
        """The claim's `readings` in the ledger."""
        tree = self.decided.tree
        return {
            **self.shares.to_dict(),
            "verdict": self.verdict,
            "base": self.base,
            "weighted": self.weighted.to_dict() if self.weighted else None,
            "parts": [
                {"name": name, "verdict": one.verdict, **one.to_dict()} for name, one in self.parts.items()
            ],
            "decided_by": self.decided.factors,
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
    """All judged readings and their joint verdicts.

    Attributes:
        readings: All readings of the study.
        judged: The base first, then its neighbours, those drawn, and pairs.
        about: Claim to its overview.
        best: The reading in which most claims hold together, per paper.
        likely: The authors' likely reading, per paper; empty if the study names none.
        anew: The base reading on the other seeds, per paper.
        seeds: Seeds on which readings were judged.
        others: Seeds on which the best were judged.
        seconds: Processor time of all readings, in seconds of one core.
    """

    readings: Readings
    judged: Sequence[JudgedReading]
    about: Mapping[str, ClaimOverview]
    best: Sequence[BestReading] = ()
    likely: Sequence[BestReading] = ()
    anew: Sequence[BestReading] = ()
    seeds: Sequence[int] = SEEDS
    others: Sequence[int] = OTHERS
    seconds: float = 0.0

    @property
    def drawn(self) -> list[JudgedReading]:
        """Those drawn from all factors at once."""
        return [one for one in self.judged if one.candidate.kind == "drawn"]


class Spreads:
    """The common spread of each comparison, from the readings drawn from all factors.

    If two readings differ only in a factor that does not affect a comparison, their samples are equal. They count once.
    For the same reason the base's neighbours are left out.
    """

    def __init__(self, drawn: Sequence[StoredReading]) -> None:
        found: dict[tuple[str, str], dict[bytes, float]] = {}
        freedom: dict[tuple[str, str], int] = {}
        for one in drawn:
            for name, evidence in one.claims.items():
                for comparison in evidence.comparisons:
                    samples = comparison.samples
                    if len(samples) > 1 and not comparison.undefined:
                        place = (name, comparison.label)
                        found.setdefault(place, {})[samples.tobytes()] = float(samples.var(ddof=1))
                        freedom[place] = len(samples) - 1
        self._priors = {
            place: prior(list(variances.values()), freedom[place]) for place, variances in found.items()
        }

    @classmethod
    def from_candidates(cls, candidates: Sequence[Candidate], kept: Mapping[str, StoredReading]) -> Spreads:
        """From those candidates that were drawn."""
        keys = dict.fromkeys(one.key for one in candidates if one.kind == "drawn")
        return cls([kept[key] for key in keys])

    def moderate(self, name: str, evidence: Evidence) -> Evidence:
        """The comparisons with spreads moderated by all readings."""
        return replace(
            evidence,
            comparisons=[
                replace(one, spread=moderated(one.samples, *self._priors.get((name, one.label), (0.0, 0.0))))
                for one in evidence.comparisons
            ],
        )


def judge_all(
    candidates: Sequence[Candidate], kept: Mapping[str, StoredReading], spreads: Spreads | None = None
) -> list[JudgedReading]:
    """Readings with their results. The drawn readings, or `spreads`, moderate the spreads."""
    known = spreads or Spreads.from_candidates(candidates, kept)
    return [
        JudgedReading(
            one, {name: known.moderate(name, evidence) for name, evidence in kept[one.key].claims.items()}
        )
        for one in candidates
    ]


def overview_claim(readings: Readings, judged: Sequence[JudgedReading], claim: str) -> ClaimOverview:
    """The overview of one claim over all readings."""
    drawn = [one for one in judged if one.candidate.kind == "drawn" and claim in one.verdicts]
    verdicts = [one.verdicts[claim] for one in drawn]
    points = [one.evidence[claim].points() for one in drawn]
    plain = Shares.from_verdicts(verdicts, points)
    taken = [one.candidate.reading for one in drawn]
    decided = deciding.decided(readings, taken, verdicts, SCORES)
    apart = [one.evidence[claim].parts() for one in drawn]
    names = list(judged[0].evidence[claim].parts())
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
        len(verdicts),
        plain.reproduced,
        plain.undecided,
        plain.contradicted,
        base,
        decided,
        readings.differs(turned[0].candidate.reading) if turned else None,
        turned[0].verdicts[claim] if turned else "",
        ever,
        "" if ever else _closest(judged, claim),
        plain.points,
        Shares.from_verdicts(verdicts, points, weights(readings, taken, decided.factors)),
        {
            name: Shares.from_verdicts(
                [str(one[name].verdict()) for one in apart if name in one],
                [one[name].points() for one in apart if name in one],
            )
            for name in names
        },
        plain.alike,
    )


def shares_by_value(exploration: Exploration, claim: str, factor: str) -> dict[str, Shares]:
    """A claim's shares among the readings drawn, by value of a factor, in the order of its values."""
    found = {}
    for value in exploration.readings.factor(factor).values:
        some = [one for one in exploration.drawn if one.candidate.reading[factor] == value.name]
        some = [one for one in some if claim in one.verdicts]
        found[value.name] = Shares.from_verdicts(
            [one.verdicts[claim] for one in some], [one.evidence[claim].points() for one in some]
        )
    return found


def _closest(judged: Sequence[JudgedReading], claim: str) -> str:
    """Where a claim that no reading reproduces comes nearest to it: the comparison that still refuses it.

    A reading that leaves the claim undecided is nearer than one that contradicts it. Ties go to the reading with the
    mean furthest towards the claimed side, in half-widths of its interval.
    """
    best: tuple[tuple[int, float], Comparison] | None = None
    for one in judged:
        evidence = one.evidence.get(claim)
        decisive = evidence.decisive() if evidence else None
        if evidence is None or decisive is None or not math.isfinite(decisive.interval().half_width):
            continue
        standing = evidence.standing(decisive)
        if best is None or standing > best[0]:
            best = standing, decisive
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
    """The reading in which most of these claims hold. Ties: the fewest contradicted, then the nearest."""

    def worth(one: JudgedReading) -> tuple[int, int, int]:
        against = sum(one.verdicts.get(name) == str(Verdict.NOT_REPRODUCED) for name in claims)
        return one.held(claims), -against, -readings.distance(one.candidate.reading)

    return max(judged, key=worth)
