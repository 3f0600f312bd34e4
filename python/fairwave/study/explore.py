"""All readings of a study at once: each is simulated, judged and kept, and then they are looked at together.

What a reading leaves is the samples of every comparison that its claims come down to: small enough to be kept for all
readings, and enough to judge again. One file per reading, so that what is interrupted goes on where it stopped.
Readings are independent, so each core carries out one at a time.

Seeds: every reading is judged on the same few seeds (common random numbers). The reading in which most claims hold
together is chosen on these, and judged on as many others, so that the choice is not its own proof.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.staging import write_text
from fairwave.study import deciding, design
from fairwave.study.claims import Comparison, Evidence, Verdict
from fairwave.study.moderation import moderated, prior
from fairwave.study.replication import Memory, engine, replicate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fairwave.study.design import Candidate
    from fairwave.study.readings import Reading, Readings
    from fairwave.study.replication import Progress
    from fairwave.study.study import Study

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
"""Part of the readings from which on a claim counts as reproduced whatever is read."""


@dataclass(frozen=True)
class Kept:
    """What a reading's claims came down to.

    Attributes:
        reading: Factor to value.
        claims: Claim to its comparisons.
        seconds: Processor time of one core, in seconds.
    """

    reading: Reading
    claims: Mapping[str, Evidence]
    seconds: float


@cache
def version(study: str) -> str:
    """The simulator's version, and a digest of the code that says what this study simulates and how it judges."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in (package / "study", package / "studies" / study):
        for file in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
            digest.update(file.name.encode() + file.read_bytes())
    return f"{engine()}+{digest.hexdigest()[:12]}"


def judge(readings: Readings, reading: Reading, seeds: Sequence[int], threads: int | None = 1) -> Kept:
    """Simulates the points on which the claims rest under one reading, and takes the claims apart."""
    from fairwave.scenario import prepared
    from fairwave.study.grid import Point, assemble
    from fairwave.study.study import Data

    begun = time.process_time()
    study = readings.essential(reading)
    wanted = {grid for claim in study.claims for grid in claim.grids}
    results = {}
    for grid in study.grids:
        if grid.id not in wanted:
            continue
        points = [Point(point.labels, prepared(point.scenario)) for point in grid.points()]
        under = list(seeds)[: grid.most]
        jobs = [(point.scenario.native, seed) for point in points for seed in under]
        results[grid.id] = assemble(points, under, replicate(jobs, threads=threads, keep=Memory()))
    data = Data(results)
    claims = {claim.id: claim.test(data) for claim in study.claims}
    return Kept(dict(reading), claims, time.process_time() - begun)


def _judge_named(name: str, reading: Reading, seeds: Sequence[int]) -> dict[str, Any]:
    """`judge` in a process of its own, which finds the study by its name."""
    from fairwave import studies

    readings = studies.find(name).readings
    if readings is None:
        raise ValueError(f"study {name!r} has one reading only")
    return to_plain(judge(readings, reading, seeds))


def to_plain(kept: Kept) -> dict[str, Any]:
    """As JSON can hold it; a sample that is not defined is null."""

    def number(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    return {
        "reading": dict(kept.reading),
        "seconds": kept.seconds,
        "claims": {
            name: {
                "rule": evidence.rule,
                "comparisons": [
                    {
                        "label": one.label,
                        "samples": [number(value) for value in one.samples],
                        "line": number(one.line),
                        "side": one.side,
                        "unit": one.unit,
                        "or_equal": one.or_equal,
                    }
                    for one in evidence.comparisons
                ],
            }
            for name, evidence in kept.claims.items()
        },
    }


def from_plain(data: Mapping[str, Any]) -> Kept:
    """The contrary of `to_plain`."""

    def number(value: float | None) -> float:
        return math.nan if value is None else value

    claims = {
        name: Evidence(
            [
                Comparison(
                    one["label"],
                    np.asarray([number(value) for value in one["samples"]]),
                    number(one["line"]),
                    one["side"],
                    one["unit"],
                    one["or_equal"],
                )
                for one in entry["comparisons"]
            ],
            entry["rule"],
        )
        for name, entry in data["claims"].items()
    }
    return Kept(data["reading"], claims, data["seconds"])


class Shelf:
    """Keeps what readings left, a file each, under the version that made it."""

    def __init__(self, folder: Path, made_by: str) -> None:
        self._folder = folder
        self._made_by = made_by

    def _file(self, key: str, seeds: Sequence[int]) -> Path:
        name = hashlib.sha256(f"{key}{list(seeds)}".encode()).hexdigest()[:20]
        return self._folder / f"{name}.json"

    def get(self, key: str, seeds: Sequence[int]) -> Kept | None:
        """What this reading left under these seeds, if the same version made it."""
        try:
            found = json.loads(self._file(key, seeds).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return from_plain(found["kept"]) if found.get("version") == self._made_by else None

    def put(self, key: str, seeds: Sequence[int], kept: Mapping[str, Any]) -> None:
        """Keeps it, in one step."""
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": self._made_by, "seeds": list(seeds), "kept": kept}, ensure_ascii=False)
        write_text(self._file(key, seeds), text)


@dataclass(frozen=True)
class Judged:
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
class Best:
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
class About:
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
        closest: Of the readings in which it is not reproduced, the decisive comparison that comes nearest to its line:
            its label and the mean, and the line.
    """

    claim: str
    n: int
    reproduced: float
    undecided: float
    contradicted: float
    base: str
    decided: deciding.Decided
    nearest: Mapping[str, str] | None
    turned: str = ""
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
        if self.reproduced > 0 and self.contradicted > 0:
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
    judged: Sequence[Judged]
    about: Mapping[str, About]
    best: Sequence[Best] = ()
    seeds: Sequence[int] = SEEDS
    others: Sequence[int] = OTHERS
    seconds: float = 0.0

    @property
    def drawn(self) -> list[Judged]:
        """Those drawn from all factors at once."""
        return [one for one in self.judged if one.candidate.kind == "drawn"]


def explore(
    study: Study,
    out: str | Path,
    count: int = 128,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    status: Callable[[str], None] | None = None,
) -> Exploration:
    """Judges every claim of a study in the base reading, in all its neighbours and in `count` drawn from all factors.

    Args:
        study: The study.
        out: Folder in which each reading's evidence is kept (`readings/`), so that what is interrupted goes on.
        count: Readings to be drawn.
        threads: How many readings at once; all cores when None.
        progress: Told how many readings are done, of how many.
        status: Told in words what is being done and how long it will take.

    Raises:
        ValueError: `count` is less than 1, or the study has one reading only.
        fairwave.ScenarioError: A value does not fit the scenario.
        fairwave.RunError: A run was refused or failed.
        KeyboardInterrupt: The user stopped; the readings that had ended are kept.
    """
    if count < 1:
        raise ValueError(f"an exploration draws 1 reading or more, not {count}; 128 are usual")
    if study.readings is None:
        raise ValueError(f"study {study.name!r} has one reading only: nothing in it is open")
    readings = study.readings
    say = status or (lambda _: None)
    shelf = Shelf(Path(out) / "readings", version(study.name))
    candidates = design.design(readings, count)
    run = _Run(study, shelf, threads)
    run.carry_out(candidates, SEEDS, progress, say)
    judged = _judged(candidates, run.kept)
    pairs = _pairs(readings, judged, {one.key for one in candidates})
    if pairs:
        say(f"{len(pairs)} pairs of changes to the base, for claims that no single change turns")
        run.carry_out(pairs, SEEDS, progress, say)
        candidates = [*candidates, *pairs]
        judged = _judged(candidates, run.kept)
    about = {claim: _about(readings, judged, claim) for claim in judged[0].evidence}
    papers = _papers(study, judged[0])
    chosen = {paper: _most(readings, judged, claims) for paper, claims in papers.items()}
    say("the readings in which most claims hold together, on seeds that did not choose them")
    again = list({one.candidate.key: one.candidate for one in chosen.values()}.values())
    apart = _Run(study, shelf, threads)
    apart.carry_out(again, OTHERS, None, lambda _: None)
    anew = {
        one.candidate.key: one
        for one in _judged(again, apart.kept, spreads=_Spreads(list(run.kept.values())))
    }
    best = []
    for paper, claims in papers.items():
        one = chosen[paper]
        fresh = anew[one.candidate.key]
        held = tuple(name for name in claims if fresh.verdicts.get(name) == str(Verdict.REPRODUCED))
        best.append(
            Best(
                paper, one.candidate.reading, one.held(claims), len(held), len(claims), judged[0].held(claims), held
            )
        )  # fmt: skip
    seconds = sum(one.seconds for one in [*run.kept.values(), *apart.kept.values()])
    return Exploration(readings, judged, about, best, seconds=seconds)


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each reading once: the drawn ones may hold the base and its neighbours, too."""
    found: dict[str, Candidate] = {}
    for one in candidates:
        found.setdefault(one.key, one)
    return list(found.values())


@dataclass
class _Run:
    """Carries readings out, as many at once as there are cores, and keeps what they leave."""

    study: Study
    shelf: Shelf
    threads: int | None
    kept: dict[str, Kept] = field(default_factory=dict)

    def carry_out(
        self,
        candidates: Sequence[Candidate],
        seeds: Sequence[int],
        progress: Progress | None,
        say: Callable[[str], None],
    ) -> None:
        missing = []
        wanted = _distinct(candidates)
        for one in wanted:
            found = self.shelf.get(one.key, seeds)
            if found is None:
                missing.append(one)
            else:
                self.kept[one.key] = found
        total = len(wanted)
        workers = self._workers()
        if progress:
            progress(total - len(missing), total)
        if not missing:
            return
        told = False
        begun = time.monotonic()
        for done, (one, plain) in enumerate(self._ended(missing, seeds, workers), start=1):
            self.shelf.put(one.key, seeds, plain)
            self.kept[one.key] = from_plain(plain)
            if progress:
                progress(total - len(missing) + done, total)
            if not told and done >= workers:
                told = True
                minutes = (time.monotonic() - begun) / done * len(missing) / 60
                words = f"about {minutes:.0f} minutes" if minutes >= 1 else "less than a minute"
                say(f"{len(missing)} readings, each under {len(seeds)} seeds, {workers} at once: {words}")

    def _workers(self) -> int:
        import os

        return self.threads or os.cpu_count() or 1

    def _ended(
        self, missing: Sequence[Candidate], seeds: Sequence[int], workers: int
    ) -> Iterator[tuple[Candidate, dict[str, Any]]]:
        from fairwave import studies

        assert self.study.readings is not None
        if workers == 1 or self.study.name not in studies.names():
            for one in missing:
                yield one, to_plain(judge(self.study.readings, one.reading, seeds, self.threads))
            return
        # Fresh processes rather than copies of this one: libraries with threads of their own do not survive that.
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        try:
            open_ = {pool.submit(_judge_named, self.study.name, one.reading, seeds): one for one in missing}
            while open_:
                for ended in wait(open_, return_when=FIRST_COMPLETED).done:
                    one = open_.pop(ended)
                    try:
                        yield one, ended.result()
                    except Exception as error:
                        if hasattr(error, "add_note"):  # from Python 3.11 on
                            error.add_note(f"in the reading {one.key}")
                        raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _Spreads:
    """What is known of the spread of each comparison from all readings."""

    def __init__(self, kept: Sequence[Kept]) -> None:
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


def _judged(
    candidates: Sequence[Candidate], kept: Mapping[str, Kept], spreads: _Spreads | None = None
) -> list[Judged]:
    known = spreads or _Spreads([kept[one.key] for one in _distinct(candidates)])
    return [
        Judged(one, {name: known.moderate(name, evidence) for name, evidence in kept[one.key].claims.items()})
        for one in candidates
    ]


def _pairs(readings: Readings, judged: Sequence[Judged], known: set[str]) -> list[Candidate]:
    """For each claim that no neighbour turns: the base with the two changes that most often turn it together."""
    base = judged[0]
    near = [one for one in judged if one.candidate.kind == "neighbour"]
    drawn = [one for one in judged if one.candidate.kind == "drawn"]
    found: dict[str, Candidate] = {}
    for claim, verdict in base.verdicts.items():
        if any(one.verdicts.get(claim) != verdict for one in near):
            continue
        turned = [one for one in drawn if one.verdicts.get(claim) != verdict]
        if not turned:
            continue
        met: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
        among: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
        for one in drawn:
            changes = sorted(readings.differs(one.candidate.reading).items())
            pairs = [(a, b) for i, a in enumerate(changes) for b in changes[i + 1 :]]
            among.update(pairs)
            if one in turned:
                met.update(pairs)
        often = sorted(met, key=lambda pair: (-met[pair] / (among[pair] + 1), pair))
        for (one_factor, one_value), (other_factor, other_value) in often[:1]:
            reading = {**readings.base(), one_factor: one_value, other_factor: other_value}
            if design.key(reading) not in known and not readings.refuses(reading):
                found.setdefault(design.key(reading), design.Candidate(reading, "pair"))
    return list(found.values())


def _about(readings: Readings, judged: Sequence[Judged], claim: str) -> About:
    drawn = [one for one in judged if one.candidate.kind == "drawn" and claim in one.verdicts]
    verdicts = [one.verdicts[claim] for one in drawn]
    n = len(verdicts)

    def share(verdict: Verdict) -> float:
        return verdicts.count(str(verdict)) / n if n else math.nan

    base = judged[0].verdicts[claim]
    order = {factor.id: {v.name: rank for rank, v in enumerate(factor.values)} for factor in readings.factors}

    def far(one: Judged) -> tuple[int, int]:
        # As near as can be; among those as near, the more plausible.
        reading = one.candidate.reading
        return readings.distance(reading), sum(order[name][value] for name, value in reading.items())

    turned = sorted((one for one in judged if one.verdicts.get(claim, base) != base), key=far)
    return About(
        claim,
        n,
        share(Verdict.REPRODUCED),
        share(Verdict.UNDECIDED),
        share(Verdict.NOT_REPRODUCED),
        base,
        deciding.decided(readings, [one.candidate.reading for one in drawn], verdicts, SCORES),
        readings.differs(turned[0].candidate.reading) if turned else None,
        turned[0].verdicts[claim] if turned else "",
        _closest(judged, claim) if share(Verdict.REPRODUCED) == 0 else "",
    )


def _closest(judged: Sequence[Judged], claim: str) -> str:
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


def _papers(study: Study, base: Judged) -> dict[str, list[str]]:
    """Paper's number to the claims about it that were judged."""
    found: dict[str, list[str]] = {}
    for claim in study.claims:
        if claim.id in base.evidence:
            for paper in dict.fromkeys(re.findall(r"\b00\d\b", claim.source)):
                found.setdefault(paper, []).append(claim.id)
    return found


def _most(readings: Readings, judged: Sequence[Judged], claims: Sequence[str]) -> Judged:
    """The reading in which most of these hold; among equals that which contradicts fewest, then the nearest."""

    def worth(one: Judged) -> tuple[int, int, int]:
        against = sum(one.verdicts.get(name) == str(Verdict.NOT_REPRODUCED) for name in claims)
        return one.held(claims), -against, -readings.distance(one.candidate.reading)

    return max(judged, key=worth)
