"""Live runs: hosts are Linux network namespaces, and one router process carries the links and queues in real time.

    >>> import fairwave
    >>> from fairwave.live import live  # doctest: +SKIP
    >>> made = live(fairwave.load("examples/home-uplink.toml"))  # doctest: +SKIP
    >>> made.report["lateness_p99_s"]  # doctest: +SKIP

Needs Linux, and root or user namespaces.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

from fairwave import _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fairwave._native import RawTables
    from fairwave.results import Results
    from fairwave.scenario import Scenario
    from fairwave.tables import Table


PATIENCE_S = 0.1
"""Longest delay until Ctrl-C takes effect, in seconds."""


@dataclass(frozen=True)
class Live:
    """Result of a run in real time.

    Attributes:
        results: The same tables as `fairwave run` writes; None if the run ended with its last command.
        report: Accuracy of the run: rate error, release lateness, missed deadlines, processor load, packet books.
        statuses: Exit status of each command; None for a command that the end of the run stopped.
        troubles: Error messages from the hosts.
        unrecorded: Why the packet recording is incomplete; None if it is complete or was not requested.
    """

    results: Results | None
    report: dict[str, Any]
    statuses: list[int | None]
    troubles: list[str]
    unrecorded: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the numbers cannot be trusted, or the packet recording is incomplete."""
        return bool(self.broken or self.unrecorded) or not self.report["books_closed"]

    @property
    def broken(self) -> str | None:
        """The broken promise of accuracy, with the remedy; None if every promise was kept."""
        broken: str | None = self.report["broken"]
        return broken


def live(
    scenario: Scenario,
    seed: int = 1,
    commands: Sequence[tuple[str, Sequence[str]]] = (),
    *,
    flows: bool = True,
    duration: float | None = None,
    recording: Path | None = None,
    laws: Sequence[Path] = (),
) -> Live:
    """Makes one run in real time, in a separate process.

    Args:
        scenario: The network and its flows.
        seed: Seed of all random values of the run.
        commands: Programs to start with the run, as host and command words. The run ends with the last of them.
        flows: True to run the scenario's flows; False to carry only the packets of `commands`.
        duration: Longest duration in seconds; replaces the scenario's duration.
        recording: File for all packets (pcapng).
        laws: Files of laws that the scenario names.

    Raises:
        fairwave.RunError: This is not Linux, the kernel refuses a request, or the books do not close.
    """
    require_linux(*LIVE)
    # Imported here: the process of the run imports this module too, and must stay single-threaded.
    from fairwave import tables as tables_
    from fairwave.runs.grid import Point, assemble_runs
    from fairwave.scenario_files import prepared

    ready = prepared(scenario)
    raw, report, statuses, troubles, unrecorded = _run_in_process(
        {
            "scenario": ready.native.to_json(),
            "file": ready.name,
            "seed": seed,
            "commands": [(host, list(command)) for host, command in commands],
            "flows": flows,
            "duration": duration,
            "recording": None if recording is None else str(recording),
            "laws": [str(file) for file in laws],
        }
    )
    results = None
    if raw is not None:
        made = tables_.tables(raw)
        if "flows" in made:  # absent if only the network runs
            made["flows"] = _drop_hidden_columns(made["flows"])
        results = assemble_runs([(Point({}, ready), seed)], [made])
    return Live(results, json.loads(report), statuses, troubles, unrecorded)


def require_linux(what: str, instead: str) -> None:
    """Refuses a command that needs Linux on any other system.

    Args:
        what: What needs it, in words: "a live run".
        instead: What to do on this system.

    Raises:
        fairwave.RunError: This is not Linux.
    """
    if sys.platform != "linux":
        raise _native.RunError(f"{what} needs Linux, and this is {sys.platform}; {instead}")


LIVE = ("a live run (network namespaces, TUN devices)", "simulate the scenario with `fairwave run`")
"""Arguments of `require_linux` for runs in real time."""

UNTOLD = ("timeouts", "fast_retransmits")
"""Flow columns that describe the sender's internals: null for kernel connections and for programs."""


def _drop_hidden_columns(flows: Table) -> Table:
    import numpy as np  # imported here: numpy starts threads, and the process of a run must have one

    told = np.array([not str(one).startswith("host/") for one in flows["transport"].texts], dtype=bool)
    return flows.with_columns({name: replace(flows[name], valid=told) for name in UNTOLD})


def missing() -> str | None:
    """Returns why this machine cannot run in real time, or None if it can."""
    from fairwave.scenario import load

    try:
        live(load(_LEAST))
    except _native.RunError as error:
        return str(error)
    return None


_LEAST = """
name = "least"
duration = "20 ms"
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "1 ms"
[[flow]]
name = "least"
from = "a"
to = "b"
transport = "tcp/sack"
traffic = "bulk"
"""


_Left = tuple["RawTables | None", str, "list[int | None]", "list[str]", "str | None"]


def _run_in_process(job: dict[str, Any]) -> _Left:
    job_from, job_to = os.pipe()
    result_from, result_to = os.pipe()
    command = [sys.executable, "-m", "fairwave.live.host", str(job_from), str(result_to)]
    with os.fdopen(result_from, "rb") as stream:
        host = subprocess.Popen(command, pass_fds=(job_from, result_to))
        try:
            os.close(job_from)
            os.close(result_to)
            with os.fdopen(job_to, "wb") as to:
                to.write(json.dumps(job).encode())
            answer = b"".join(_read(stream))
            status = host.wait()
        except BaseException:
            host.kill()
            host.wait()
            raise
    if not answer:
        raise _native.RunError(f"the live run's process ended with status {status}, and left nothing")
    how, what = pickle.loads(answer)  # safe: written by the process started above
    if how == "made":
        made: _Left = what
        return made
    raise (_native.ScenarioError if how == "ScenarioError" else _native.RunError)(what)


def _read(stream: BinaryIO) -> Iterator[bytes]:
    """Yields data until end of file. Polls, because a signal that another thread takes does not interrupt a read."""
    while True:
        if select.select([stream], [], [], PATIENCE_S)[0]:
            part = os.read(stream.fileno(), 1 << 20)
            if not part:
                return
            yield part


def promise(report: dict[str, Any]) -> str:
    """Says in one sentence whether the promise of accuracy was kept."""
    if report["broken"]:
        return f"The promise of accuracy was not kept: {report['broken']}."
    if report["not_judged"]:
        return f"The promise of accuracy was not judged: {report['not_judged']}."
    released = report["books"]["released"]
    return (
        f"The promise of accuracy was kept: {report['deadlines_missed']} of {released} packets left more than 1 ms "
        "late (at most 1 % may, 95 % confidence)."
    )


def accounts(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the rows of the report for display: label and value."""

    def number(key: str, scale: float, unit: str, digits: int = 2) -> str:
        value = report[key]
        return "not measured" if value is None else f"{value * scale:.{digits}f} {unit}"

    books = report["books"]
    yield "lasted", number("lasted_s", 1, "s")
    yield "rate error, mean over seconds", number("rate_error", 100, "%", 3)
    yield "rate error, worst second", number("rate_error_worst", 100, "%", 3)
    late = " / ".join(number(f"lateness_{which}_s", 1e6, "µs", 0) for which in ("p50", "p99", "worst"))
    yield "release lateness, p50 / p99 / worst", late
    yield "deadlines missed (1 ms)", f"{report['deadlines_missed']} of {books['released']}"
    urgent = "before others (SCHED_FIFO)" if report["urgent"] else "like any other thread"
    yield "router", f"{number('cpu', 100, '% of a core', 1)}, {urgent}"
    yield "clock", "CLOCK_MONOTONIC, common to all hosts"
    counted = ("read", "copied", "released", "dropped", "lost", "queued", "unmapped", "after_end")
    yield "books, packets", ", ".join(f"{books[one]} {one.replace('_', ' ')}" for one in counted)
    yield "books", "closed" if report["books_closed"] else "NOT CLOSED"
    if books["device_dropped"] or books["refused"]:
        yield "in hosts", f"{books['device_dropped']} never read, {books['refused']} refused"
