"""Runs on all cores, kept as they end, so that interrupted work resumes where it stopped.

A run is a pure function of scenario and seed. What it leaves can therefore be kept under (version, scenario hash,
seed) and used whenever the same run is asked for again.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.ipc

from fairwave import _native
from fairwave import tables as tables_
from fairwave.scenario import LARGEST_SEED
from fairwave.staging import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairwave._native import RawTables
    from fairwave.tables import Tables

    Progress = Callable[[int, int], None]
    """Told how many runs are done, of how many."""

    Job = tuple[_native.Scenario, int]
    Runner = Callable[[Sequence[Job], int | None], Iterator[tuple[int, RawTables]]]
    """Makes runs and yields each, with its index, as it ends."""


@cache
def engine() -> str:
    """The simulator's version and a digest of its compiled code, which tells two builds of one version apart."""
    digest = hashlib.sha256(Path(str(_native.__file__)).read_bytes()).hexdigest()[:16]
    return f"{_native.version}+{digest}"


KEEP_EVERY = 50
"""So many runs of one scenario are kept at once, so that a process that is killed loses few."""


def check_seed(seed: int) -> None:
    """Refuses what is no seed.

    Raises:
        ValueError: It is negative, or too large for the tables.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"a seed is a whole number from 0 to {LARGEST_SEED}, not {seed}")


def check_runs(runs: int, scenario: _native.Scenario, seed: int) -> None:
    """Refuses so many runs of a scenario when nobody could wait for them, before anything is allocated.

    Raises:
        ValueError: The seed is none.
        fairwave.ScenarioError: They are too many; the message says what they would cost.
    """
    check_seed(seed)
    scenario.check_runs(min(runs, 2**63), seed)


class Keep(Protocol):
    """Where finished runs are kept."""

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are here."""

    def put(self, scenario: str, runs: dict[int, Tables]) -> None:
        """Keeps runs of one scenario by their seed."""


@dataclass
class Memory:
    """Keeps runs for the life of the process."""

    kept: dict[tuple[str, int], Tables] = field(default_factory=dict)

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are here."""
        return self.kept.get((scenario, seed))

    def put(self, scenario: str, runs: dict[int, Tables]) -> None:
        """Keeps runs of one scenario by their seed."""
        self.kept.update({(scenario, seed): tables for seed, tables in runs.items()})


class Folder:
    """Keeps runs in a folder: one file per scenario and batch of seeds.

    What another version left is not used, and is removed: it can never be asked for again.

    Args:
        path: The folder; made when the first run is kept.
        version: What made the runs; the simulator of this process when None.
    """

    def __init__(self, path: Path, version: str | None = None) -> None:
        self._path = path
        self._version = version if version is not None else engine()
        self._loaded: dict[str, dict[int, Tables]] = {}

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are here."""
        if scenario not in self._loaded:
            self._loaded[scenario] = self._read(scenario)
        return self._loaded[scenario].get(seed)

    def put(self, scenario: str, runs: dict[int, Tables]) -> None:
        """Writes runs of one scenario in one step."""
        self._begin()
        seeds = sorted(runs)
        batch = hashlib.sha256(repr(seeds).encode()).hexdigest()[:12]
        stem = f"{_plain(scenario)}-{batch}"
        content = []
        for seed in seeds:
            for name, table in runs[seed].items():
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(
                    sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
                ) as writer:
                    writer.write_table(table)
                content.append((seed, name, sink.getvalue().to_pybytes()))
        whole = pa.table(
            {
                "seed": pa.array([seed for seed, _, _ in content], pa.int64()),
                "name": pa.array([name for _, name, _ in content], pa.string()),
                "table": pa.array([data for _, _, data in content], pa.large_binary()),
            }
        )
        target = self._path / f"{stem}.arrow"
        partial = target.with_suffix(".partial")
        with pa.ipc.new_file(str(partial), whole.schema) as file:
            file.write_table(whole)
        partial.replace(target)
        self._loaded.setdefault(scenario, {}).update(runs)

    def _begin(self) -> None:
        note = self._path / "version.json"
        if note.exists() and json.loads(note.read_text(encoding="utf-8")) == self._version:
            return
        self._path.mkdir(parents=True, exist_ok=True)
        for old in self._path.glob("*.arrow"):
            old.unlink()
        write_text(note, json.dumps(self._version))

    def _read(self, scenario: str) -> dict[int, Tables]:
        note = self._path / "version.json"
        try:
            if json.loads(note.read_text(encoding="utf-8")) != self._version:
                return {}
        except (OSError, ValueError):
            return {}
        found: dict[int, Tables] = {}
        for file in sorted(self._path.glob(f"{_plain(scenario)}-*.arrow")):
            try:
                with pa.ipc.open_file(str(file)) as reader:
                    whole = reader.read_all()
            except (OSError, pa.ArrowInvalid):
                continue  # A damaged file costs its runs, which are made again.
            for row in whole.to_pylist():
                with pa.ipc.open_stream(row["table"]) as stream:
                    found.setdefault(row["seed"], {})[row["name"]] = stream.read_all()
        return found


def _plain(scenario: str) -> str:
    return re.sub(r"[^0-9A-Za-z]", "", scenario)[:40]


def native(jobs: Sequence[Job], threads: int | None) -> Iterator[tuple[int, RawTables]]:
    """The runner that simulates."""
    return _native.Batch(jobs, threads)


def _check(jobs: Sequence[Job], threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads are 1 or more, not {threads}; leave it out for all cores")
    for _, seed in jobs:
        check_seed(seed)


def replicate(
    jobs: Sequence[Job],
    *,
    threads: int | None = None,
    keep: Keep | None = None,
    progress: Progress | None = None,
    runner: Runner = native,
) -> list[Tables]:
    """The tables of every job, in the order of jobs, however they were scheduled.

    Args:
        jobs: Scenario and seed of each run. The same pair twice is run once.
        threads: How many at once; all cores when None.
        keep: Where to look for runs made before and to keep those made now.
        progress: Told how many are done, now and then.
        runner: What makes the runs.

    Raises:
        ValueError: No thread, or a seed that is none.
        fairwave.RunError: A run was refused or failed.
        KeyboardInterrupt: The user stopped; what had ended is kept.
    """
    _check(jobs, threads)
    kept: Keep = keep if keep is not None else Memory()
    wanted: dict[tuple[str, int], Job] = {}
    for scenario, seed in jobs:
        wanted.setdefault((scenario.hash, seed), (scenario, seed))
    missing = [key for key in wanted if kept.get(*key) is None]
    total, done = len(wanted), len(wanted) - len(missing)
    if progress:
        progress(done, total)
    open_seeds: dict[str, set[int]] = {}
    for name, seed in missing:
        open_seeds.setdefault(name, set()).add(seed)
    fresh: dict[str, dict[int, Tables]] = {}
    try:
        for index, raw in runner([wanted[key] for key in missing], threads):
            name, seed = missing[index]
            fresh.setdefault(name, {})[seed] = tables_.tables(raw)
            open_seeds[name].discard(seed)
            if not open_seeds[name] or len(fresh[name]) >= KEEP_EVERY:
                kept.put(name, fresh.pop(name))
            done += 1
            if progress:
                progress(done, total)
    finally:
        for name, runs in fresh.items():
            kept.put(name, runs)
    result = []
    for scenario, seed in jobs:
        found = kept.get(scenario.hash, seed)
        if found is None:
            raise RuntimeError(f"the run of {scenario.name!r} with seed {seed} left nothing")
        result.append(found)
    return result
