"""Makes runs on all cores and stores each when it ends, so that interrupted work can resume.

A run is a pure function of scenario and seed. Its tables can therefore be stored under (version, scenario hash, seed)
and reused for every request of the same run.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Final

from fairwave import _native, notebook
from fairwave.arguments import check_count, check_seed
from fairwave.runs.memory import Memory
from fairwave.runs.run_batch import RunBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairwave._native import RawTables
    from fairwave.runs.memory import Keep
    from fairwave.tables import Tables

    Progress = Callable[[float, int], None]
    """Called with the numbers of completed and of all runs. Runs in progress count by their simulated time."""

    Job = tuple[_native.Scenario, int]
    Runner = Callable[
        [Sequence[Job], int | None, Callable[[float], None] | None],
        Iterator[tuple[int, RawTables] | RunBatch],
    ]
    """Makes runs and yields each with its index when it ends, or several that ended together.

    Reports runs in progress to `tell`, if given.
    """


MOST_THREADS: Final = 4096
"""Largest number of threads; more would have no effect."""


def check_runs(runs: int, scenario: _native.Scenario, seed: int) -> None:
    """Rejects a number of runs that would take too long, before it allocates anything.

    Raises:
        ValueError: The seed is invalid.
        fairwave.ScenarioError: They are too many; the message gives their cost.
    """
    check_seed(seed)
    scenario.check_runs(min(runs, 2**63), seed)


def native(
    jobs: Sequence[Job],
    threads: int | None,
    tell: Callable[[float], None] | None = None,
    *,
    pack: bool = False,
) -> Iterator[RunBatch]:
    """The runner that simulates on this machine; `pack` also makes the stored form of each run."""
    # The limit is more than the simulator ever uses, and a number that it can read.
    batch = _native.Batch(jobs, None if threads is None else min(threads, MOST_THREADS), tell, pack)
    while (several := batch.several()) is not None:
        yield RunBatch.from_raw(*several)


_runner: ContextVar[Runner] = ContextVar("runner", default=native)


@contextmanager
def runs_made_by(runner: Runner) -> Iterator[None]:
    """Makes all runs within the block with another runner than this machine's cores."""
    before = _runner.set(runner)
    try:
        yield
    finally:
        _runner.reset(before)


def _check(jobs: Sequence[Job], threads: int | None) -> None:
    if threads is not None:
        check_count("threads", threads, example=2)
    for _, seed in jobs:
        check_seed(seed)


def replicate(
    jobs: Sequence[Job],
    *,
    threads: int | None = None,
    keep: Keep | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> list[Tables]:
    """Returns the tables of every job, in the order of jobs, independent of the schedule.

    Args:
        jobs: Scenario and seed of each run. The same pair twice is run once.
        threads: Number of threads; all cores when None. Runs use them first, and parts of a run if runs are fewer.
        keep: Store of earlier runs, and of these runs as each ends.
        progress: Called from time to time with the number of completed runs; a notebook shows a bar by default.
        runner: Makes the runs; when None, this machine or the runner of `runs_made_by`.

    Raises:
        TypeError: Threads or a seed that are not whole numbers.
        ValueError: No thread, or an invalid seed.
        fairwave.RunError: A run was refused or failed.
        KeyboardInterrupt: The user stopped; completed runs are stored.
    """
    _check(jobs, threads)
    kept: Keep = keep if keep is not None else Memory()
    hashes = {id(scenario): scenario.hash for scenario in {id(one): one for one, _ in jobs}.values()}
    wanted: dict[tuple[str, int], Job] = {}
    for scenario, seed in jobs:
        wanted.setdefault((hashes[id(scenario)], seed), (scenario, seed))
    found = {key: kept.get(*key) for key in wanted}
    missing = [key for key, tables in found.items() if tables is None]
    total, before = len(wanted), len(wanted) - len(missing)
    done = before
    with notebook.progress(progress) as told:
        tell = None
        if told:
            told(done, total)

            def tell(ended: float) -> None:
                told(min(max(float(done), before + ended), total), total)

        if missing:
            made = runner or _runner.get()
            put_several = getattr(kept, "put_several", None)
            if made is native:
                made = partial(native, pack=put_several is not None)
            for ended in made([wanted[key] for key in missing], threads, tell):
                several = ended if isinstance(ended, RunBatch) else RunBatch.from_run(*ended)
                runs = [(*missing[index], tables) for index, tables in several.runs()]
                if put_several is not None:
                    put_several(runs, several.packed)
                else:
                    for run in runs:
                        kept.put(*run)
                found.update({(scenario, seed): tables for scenario, seed, tables in runs})
                done += len(runs)
                if told:
                    told(done, total)
    result = []
    for scenario, seed in jobs:
        tables_of_run = found[hashes[id(scenario)], seed]
        if tables_of_run is None:
            raise RuntimeError(f"the run of {scenario.name!r} with seed {seed} left nothing")
        result.append(tables_of_run)
    return result
