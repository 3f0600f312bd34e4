"""All readings of a study at once: each is simulated, judged and kept, and then they are looked at together.

Each reading has a file, so an interrupted exploration continues from them. Readings are independent, so each core
carries out one at a time.

Seeds: every reading is judged on the same few seeds (common random numbers). The reading in which most claims hold
together is chosen on these seeds and confirmed on others. So the choice is not its own proof. The base and the authors'
likely set-up are judged on the other seeds too.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, CancelledError, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import layers
from fairwave_study import design
from fairwave_study.claims import Verdict
from fairwave_study.overall import (
    OTHERS,
    SEEDS,
    BestReading,
    Exploration,
    Spreads,
    judge_all,
    most,
    overview_claim,
    papers,
)
from fairwave_study.shelf import Shelf, StoredReading, from_plain, judge, to_plain, version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairwave.runs.replication import Progress
    from fairwave_study.design import Candidate
    from fairwave_study.overall import JudgedReading
    from fairwave_study.readings import Reading, Readings
    from fairwave_study.study import Study


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
        out: Folder for each reading's evidence (`readings/`). An interrupted exploration continues from it.
        count: Readings to be drawn.
        threads: How many readings at once; all cores when None.
        progress: Told how many readings are done, of how many.
        status: Receives a line of text about each step and its expected duration.

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
    shelf = Shelf(Path(out) / "readings", version(study.name, study.folder))
    setups = {one.paper: readings.complete(one.setup) for one in study.accounts}
    candidates = design.design(readings, count)
    candidates += [design.Candidate(one, "likely") for one in setups.values()]
    run = _ReadingRunner(study, shelf, threads)
    run.carry_out(candidates, SEEDS, progress, say)
    judged = judge_all(candidates, run.kept)
    pairs = _pairs(readings, judged, {one.key for one in candidates})
    if pairs:
        say(f"{len(pairs)} pairs of changes to the base, for claims that no single change turns")
        run.carry_out(pairs, SEEDS, progress, say)
        candidates = [*candidates, *pairs]
        judged = judge_all(candidates, run.kept)
    about = {claim: overview_claim(readings, judged, claim) for claim in judged[0].evidence}
    claims_of = papers(study, judged[0])
    chosen = {paper: most(readings, judged, claims) for paper, claims in claims_of.items()}
    say(
        "the base, the likely set-up and where most claims hold together, on seeds that nothing else is judged on"
    )
    likely = {
        paper: next(one for one in judged if one.candidate.key == design.key(setup))
        for paper, setup in setups.items()
    }
    again = _distinct([one.candidate for one in (judged[0], *likely.values(), *chosen.values())])
    apart = _ReadingRunner(study, shelf, threads)
    apart.carry_out(again, OTHERS, None, lambda _: None)
    spreads = Spreads.from_candidates(candidates, run.kept)
    anew = {one.candidate.key: one for one in judge_all(again, apart.kept, spreads=spreads)}

    def confirmed(paper: str, one: JudgedReading) -> BestReading:
        claims, fresh = claims_of[paper], anew[one.candidate.key]
        held, against = (
            tuple(name for name in claims if fresh.verdicts.get(name) == str(verdict))
            for verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)
        )
        found, base = one.held(claims), judged[0].held(claims)
        return BestReading(paper, one.candidate.reading, found, len(held), len(claims), base, held, against)

    seconds = sum(one.seconds for one in [*run.kept.values(), *apart.kept.values()])
    return Exploration(
        readings,
        judged,
        about,
        [confirmed(paper, one) for paper, one in chosen.items()],
        [confirmed(paper, one) for paper, one in likely.items() if paper in claims_of],
        [confirmed(paper, judged[0]) for paper in claims_of],
        seconds=seconds,
    )


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each reading once: the drawn ones may hold the base and its neighbours, too."""
    found: dict[str, Candidate] = {}
    for one in candidates:
        found.setdefault(one.key, one)
    return list(found.values())


@dataclass
class _ReadingRunner:
    """Carries out readings on all cores and keeps their results."""

    study: Study
    shelf: Shelf
    threads: int | None
    kept: dict[str, StoredReading] = field(default_factory=dict)

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
        return self.threads or os.cpu_count() or 1

    def _ended(
        self, missing: Sequence[Candidate], seeds: Sequence[int], workers: int
    ) -> Iterator[tuple[Candidate, dict[str, Any]]]:
        from fairwave.cluster import executor, lost

        load = _find_loader(self.study)
        pool = executor() if load is not None else None
        if load is None or (pool is None and workers == 1):
            assert self.study.readings is not None
            for one in missing:
                yield one, to_plain(judge(self.study.readings, one.reading, seeds, self.threads))
            return
        if pool is None:
            # Spawned processes: libraries with threads do not survive a fork.
            pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        try:
            made_by = version(self.study.name, self.study.folder)
            open_ = {pool.submit(_judge_elsewhere, load, one.reading, seeds, made_by): one for one in missing}
            while open_:
                for ended in wait(open_, return_when=FIRST_COMPLETED).done:
                    one = open_.pop(ended)
                    try:
                        yield one, ended.result()
                    except CancelledError:
                        raise lost() from None
                    except Exception as error:
                        if hasattr(error, "add_note"):  # from Python 3.11 on
                            error.add_note(f"in the reading {one.key}")
                        raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _pairs(readings: Readings, judged: Sequence[JudgedReading], known: set[str]) -> list[Candidate]:
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


def _find_loader(study: Study) -> Callable[[], Study] | None:
    """A function that loads the study in another process; None if only code makes it."""
    if study.name in layers.studies() and study.folder in (None, layers.folder(study.name)):
        return partial(layers.study, study.name)
    return study.reload


def _judge_elsewhere(
    load: Callable[[], Study], reading: Reading, seeds: Sequence[int], made_by: str
) -> dict[str, Any]:
    """`judge` in another process."""
    study = load()
    if (found := version(study.name, study.folder)) != made_by:
        raise ValueError(
            f"a worker has study {study.name!r} in version {found}, but this is {made_by}: results of different "
            "versions are not mixed; install the same fairwave there"
        )
    if study.readings is None:
        raise ValueError(f"study {study.name!r} has one reading only")
    return to_plain(judge(study.readings, reading, seeds))
