"""Runs simulations on the workers of a Dask scheduler.

Within `on(address)`, the scheduler's workers make every run. A run is a pure function of scenario and seed, so the
results have the same bytes as on one machine. Fairwave refuses workers with another build of fairwave, because their
results might differ. If a worker dies, other workers repeat its unfinished runs. Finished runs are stored on this
machine as they arrive, so you can resume an interrupted command.

The workers must load your custom laws: `dask worker ADDRESS --preload my_laws.py`.

Start a cluster with `dask scheduler`, and on each machine `dask worker ADDRESS`. Both come with `fairwave[cluster]`.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.extras import need
from fairwave.runs.keeping import engine
from fairwave.runs.replication import runs_made_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from fairwave._native import RawTables
    from fairwave.runs.replication import Job

PATIENCE = 30.0
"""Time limit for the scheduler's first reply, and then for its first worker, in seconds."""

CLOSING = 5.0
"""Time limit for closing the connection, in seconds."""

AHEAD = 3
"""Tasks per worker thread that are submitted ahead: enough to keep it busy, few enough to cancel."""

MOST_PER_TASK = 32
"""Largest number of runs per task. A scheduler needs about 1 ms per task, as long as a short run."""

WORKERS_LAWS = (
    "start every worker with `dask worker ADDRESS --preload my_laws.py`, with the file that --laws names here"
)

Made = list[tuple[int, "RawTables | str"]]
"""Number of a run and its tables, or the reason why there are none."""


class Unsuitability(str):
    """Why a worker cannot make a run that others can make."""

    __slots__ = ()


class ClusterError(ConnectionError):
    """A scheduler that does not respond, or unusable workers; the message gives the remedy."""


class ClusterLostError(ClusterError):
    """A scheduler that stopped responding. Completed runs remain in the results folder, if there is one."""


_executor: list[Callable[[], Executor]] = []


@contextmanager
def on(address: str) -> Iterator[None]:
    """Makes all runs within the block on the workers of a Dask scheduler.

    Args:
        address: Address of the scheduler: `tcp://host:8786`, or `host:8786`.

    Raises:
        ClusterError: The address does not respond, there are no workers, they have another build of fairwave, or Dask's
            scheduler is not installed here.
    """
    distributed = need("distributed", "cluster", ClusterError)
    _ask(address)
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise _unreachable(address, error) from None
    with _quiet(), _closing(client):
        with _rewording_errors(address):
            _check(client, address)
        _executor.append(lambda: client.get_executor(pure=False))
        try:
            with runs_made_by(_Runner(client, address)):
                yield
        finally:
            _executor.pop()


def _ask(address: str) -> None:
    """Checks that a scheduler responds. Dask's client would wait forever for an open port that stays silent.

    Raises:
        ClusterError: No scheduler responds.
    """
    distributed = need("distributed", "cluster", ClusterError)

    async def identity() -> Any:
        async def answer() -> Any:
            security = distributed.Security().get_connection_args("client")
            async with distributed.rpc(address, timeout=PATIENCE, connection_args=security) as remote:
                return await remote.identity()

        return await asyncio.wait_for(answer(), PATIENCE)

    # In a thread, because a notebook already runs a loop.
    with ThreadPoolExecutor(1) as thread:
        try:
            found = thread.submit(asyncio.run, identity()).result()
            kind = found["type"]
        except Exception as error:  # noqa: BLE001  # whatever speaks there, it is no scheduler
            raise _unreachable(address, error) from None
    if kind != "Scheduler":
        raise ClusterError(
            f"{address!r} is the address of a {str(kind).lower()}, not of the scheduler; give the address that "
            "`dask scheduler` showed when it started, as tcp://host:8786"
        )


def _unreachable(address: str, error: BaseException) -> ClusterError:
    said = _first_line(error) if str(error) else f"no answer within {PATIENCE:g} s"
    return ClusterError(
        f"no Dask scheduler answers at {address!r} ({said}); start one with `dask scheduler` and "
        "workers with `dask worker ADDRESS`, and give its address, for example tcp://host:8786"
    )


@contextmanager
def _closing(client: Any) -> Iterator[None]:
    """Closes the client at the end, even if the scheduler is already gone."""
    try:
        yield
    finally:
        with suppress(OSError, CancelledError):
            client.close(timeout=CLOSING)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences Dask's log of a lost scheduler; fairwave reports it."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


@contextmanager
def _rewording_errors(address: str) -> Iterator[None]:
    """Turns Dask's exceptions for a lost scheduler into `ClusterLostError`."""
    from distributed.client import ClosedClientError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError, ClosedClientError):
        raise lost(address) from None


def lost(address: str = "") -> ClusterLostError:
    """Returns the error for a scheduler that stopped responding."""
    where = f"the Dask scheduler at {address}" if address else "the Dask scheduler"
    return ClusterLostError(
        f"{where} no longer answers: it ended, or the network to it failed; start it and its workers again"
    )


def executor() -> Executor | None:
    """The runner that calls functions on the workers, within `on`; None elsewhere."""
    return _executor[-1]() if _executor else None


def _check(client: Any, address: str) -> None:
    """Refuses a cluster without workers, or with workers of another build."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {address} has no workers after {PATIENCE:g} s; start some with `dask worker {address}`"
        ) from None
    try:
        builds: dict[str, str] = client.run(engine)
    except (ImportError, AttributeError) as error:
        raise _missing_package(address, error) from None
    for worker, build in sorted(builds.items()):
        _same(build, worker)


def _missing_package(address: str, error: ImportError | AttributeError) -> ClusterError:
    """Returns the error for workers that lack fairwave, one of its dependencies, or parts of this version."""
    lacks = (
        f"the package {error.name!r}" if isinstance(error, ModuleNotFoundError) else f"this version ({error})"
    )
    return ClusterError(f"workers of {address} lack {lacks}: install the same fairwave there")


def _same(build: str, worker: str) -> None:
    if build != engine():
        raise ClusterError(
            f"the worker {worker} has fairwave {build}, but this is {engine()}: results of different builds are not "
            "mixed; install the same one there"
        )


class _Runner:
    """Makes runs on a cluster's workers."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address

    def __call__(
        self, jobs: Sequence[Job], threads: int | None, tell: Callable[[float], None] | None = None
    ) -> Iterator[tuple[int, RawTables]]:
        """Like `fairwave.runs.replication.native`; the number of concurrent runs depends on the workers."""
        del threads, tell
        distributed = need("distributed", "cluster", ClusterError)
        with _rewording_errors(self._address):
            at_once = max(1, sum(self._client.nthreads().values()))
        size = max(1, min(MOST_PER_TASK, len(jobs) // (4 * AHEAD * at_once)))
        texts: dict[str, str] = {}
        for scenario, _ in jobs:
            if scenario.hash not in texts:
                texts[scenario.hash] = scenario.to_json()
        parts = [range(at, min(at + size, len(jobs))) for at in range(0, len(jobs), size)]
        waiting = iter(parts)
        ended = distributed.as_completed(loop=self._client.loop)
        open_: set[Any] = set()

        def hand_over() -> None:
            part = next(waiting, None)
            if part is not None:
                asked = [(number, texts[jobs[number][0].hash], *_named(jobs[number])) for number in part]
                with _rewording_errors(self._address):
                    future = self._client.submit(_make, asked, engine(), pure=False)
                open_.add(future)
                ended.add(future)

        for _ in range(AHEAD * at_once):
            hand_over()
        try:
            for future in ended:
                open_.discard(future)
                made = self._made(future)
                if isinstance(made, str):
                    _same(made, "that joined later")
                    return
                hand_over()
                for number, tables in made:
                    if isinstance(tables, Unsuitability):
                        raise self._unfit(tables, texts[jobs[number][0].hash])
                    if isinstance(tables, str):
                        raise _native.RunError(tables)
                    yield number, tables
        finally:
            # A lost scheduler has no tasks to cancel.
            with suppress(OSError, CancelledError):
                if self._client.status == "running":
                    self._client.cancel(list(open_), force=True)

    def _unfit(self, said: Unsuitability, text: str) -> ClusterError | _native.RunError:
        """Why a worker could not make a run: it lacks a law, unless the scenario cannot be read here either."""
        try:
            _native.Scenario.from_text(text)
        except _native.ScenarioError as error:
            return _native.RunError(str(error))
        return ClusterError(said.replace("ADDRESS", self._address))

    def _made(self, future: Any) -> Made | str:
        """Returns the result of a task."""
        import distributed

        try:
            with _rewording_errors(self._address):
                made: Made | str = future.result()
        except distributed.KilledWorker as error:
            raise _native.RunError(
                "runs were given up, as every worker that tried to make them died (is there memory enough?): "
                f"{_first_line(error)}"
            ) from None
        except (ImportError, AttributeError) as error:
            raise _missing_package(self._address, error) from None
        return made


def _named(job: Job) -> tuple[str, int]:
    scenario, seed = job
    return scenario.hash, seed


def _make(asked: Sequence[tuple[int, str, str, int]], build: str) -> Made | str:
    """Makes runs on a worker. Returns the worker's build instead if it differs from `build`."""
    if engine() != build:
        return engine()
    made: Made = []
    for number, text, meant, seed in asked:
        made.append((number, _run_one(text, meant, seed)))
    return made


def _run_one(text: str, meant: str, seed: int) -> RawTables | str:
    try:
        scenario = _native.Scenario.from_text(text)
    except _native.ScenarioError as error:
        # The client read this scenario and serialised it without files, so only a law can be unknown here.
        return Unsuitability(
            f"a worker does not know a law of this scenario: {WORKERS_LAWS}. The worker says:\n{error}"
        )
    if scenario.hash != meant:
        # A scenario's hash holds the code of laws written in Python.
        return Unsuitability(f"a worker has other laws of these names than this process: {WORKERS_LAWS}")
    try:
        ((_, tables),) = _native.Batch([(scenario, seed)], 1)
    except (_native.RunError, _native.ScenarioError) as error:
        return str(error)
    return tables


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
