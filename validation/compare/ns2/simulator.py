"""Runs ns-2 and reads its output."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from fairwave.staging import write_text
from validation.compare.ns2.case import NsCase
from validation.compare.ns2.tcl import tcl

ABSENT = "ns-2 is not installed (no `ns` on PATH; Debian's package is `ns2`): nothing to compare with"


class NsError(RuntimeError):
    """ns-2 ended with an error. The message has its output."""


def find() -> str | None:
    """The path of ``ns``, or None where ns-2 is not installed."""
    return shutil.which("ns")


@dataclass
class LinkCount:
    """Totals of one link direction so far: packets, wire bytes, packet-seconds of waiting."""

    arrivals: float = 0.0
    departures: float = 0.0
    drops: float = 0.0
    bytes_departed: float = 0.0
    waiting: float = 0.0


@dataclass
class FlowAtLink:
    """Totals of one flow at one link direction."""

    arrivals: float = 0.0
    departures: float = 0.0
    drops: float = 0.0
    bytes_arrived: float = 0.0


@dataclass
class FlowCount:
    """Totals of one flow: payload bytes delivered, packets sent (as ns-2 counts), sent again, timeouts."""

    payload: float = 0.0
    sent: float = 0.0
    retransmitted: float = 0.0
    timeouts: float = 0.0


@dataclass
class Snapshot:
    """All totals at one moment."""

    links: dict[int, LinkCount] = field(default_factory=dict)
    flows: dict[int, FlowCount] = field(default_factory=dict)
    at_link: dict[tuple[int, int], FlowAtLink] = field(default_factory=dict)
    hops: float = 0.0


@dataclass
class NsRun:
    """The output of a run: totals after the warm-up and at the end, bins of payload, samples of windows."""

    case: NsCase
    warm: Snapshot = field(default_factory=Snapshot)
    end: Snapshot = field(default_factory=Snapshot)
    bins: list[tuple[float, list[float]]] = field(default_factory=list)
    windows: list[tuple[float, list[float]]] = field(default_factory=list)


@dataclass(frozen=True)
class Cost:
    """Cost of a process: CPU seconds (user and system), the kernel's part of them, and peak resident bytes."""

    cpu: float
    peak: int
    kernel: float


def timed(command: list[str]) -> tuple[str, Cost]:
    """Runs a command and returns its output and its cost. Raises NsError with its error text if it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, words = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    if process.returncode != 0:
        raise NsError(
            f"`{' '.join(command)}` ended with status {process.returncode}: {words.strip()[-2000:]}"
        )
    return text, Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, usage.ru_stime)


def execute(case: NsCase) -> tuple[NsRun, Cost]:
    """Runs ``case`` in ns-2. Raises NsError where ns-2 is missing or fails."""
    text, cost = _run(tcl(case))
    return parse(case, text), cost


def _run(program: str) -> tuple[str, Cost]:
    path = find()
    if path is None:
        raise NsError(ABSENT)
    with tempfile.TemporaryDirectory(prefix="fairwave-ns2-") as folder:
        script = Path(folder) / "case.tcl"
        script.write_text(program)
        return timed([path, str(script)])


def recall(case: NsCase, kept: Path) -> NsRun:
    """Like `execute`, but uses kept output of the same program in the folder ``kept``, if there is any.

    ns-2 is deterministic: its output is a function of the program, which contains the seed.
    """
    program = tcl(case)
    file = kept / f"{hashlib.sha256(program.encode()).hexdigest()[:32]}.txt"
    if file.exists():
        return parse(case, file.read_text())
    text, _ = _run(program)
    kept.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
    return parse(case, text)


def parse(case: NsCase, text: str) -> NsRun:
    """Parses the output of ns-2."""
    run = NsRun(case)
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "bin":
            values = [float(word) for word in words]
            shares = [flow.payload_share for flow in case.flows]
            run.bins.append(
                (values[0], [value * share for value, share in zip(values[1:], shares, strict=True)])
            )
        elif kind == "window":
            values = [float(word) for word in words]
            run.windows.append((values[0], values[1:]))
        elif kind in ("link", "linkflow", "flow", "hops"):
            snapshot = run.warm if words[0] == "warm" else run.end
            values = [float(word) for word in words[1:]]
            if kind == "link":
                snapshot.links[int(values[0])] = LinkCount(*values[1:])
            elif kind == "linkflow":
                snapshot.at_link[int(values[0]), int(values[1])] = FlowAtLink(*values[2:])
            elif kind == "hops":
                snapshot.hops = values[0]
            else:
                index = int(values[0])
                share = case.flows[index].payload_share
                snapshot.flows[index] = FlowCount(values[1] * share, *values[2:])
    return run
