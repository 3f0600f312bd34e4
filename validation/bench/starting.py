"""Cost of a small command: processor time of the whole process with its imports.

Modules are compiled once and kept, as in an installed package, regardless of the environment.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation.bench import machine
from validation.bench.overhead import SHORT

COMMANDS = ("check", "run")
RUNS = 11
#: Maximum time of either command, relative to an interpreter that only imports NumPy: load on the machine affects both.
MOST = 2.0


def measure() -> dict[str, Any]:
    """Measures median and minimum processor time of each command on a one-second scenario, ms."""
    found: dict[str, Any] = {"commit": machine.commit(), "runs": RUNS}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "short.toml"
        file.write_text(SHORT)
        for command in COMMANDS:
            # The first run may compile modules.
            times = [_cpu(command, file, Path(folder)) for _ in range(RUNS + 1)][1:]
            found[f"{command}_ms"] = round(statistics.median(times) * 1e3)
            found[f"{command}_least_ms"] = round(min(times) * 1e3)
        bare = [_cpu("", file, Path(folder)) for _ in range(RUNS + 1)][1:]
        found["numpy_ms"] = round(statistics.median(bare) * 1e3)
    return found


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for command in COMMANDS:
        if part[f"{command}_ms"] > MOST * part["numpy_ms"]:
            yield f"{part[f'{command}_ms']} ms of `fairwave {command}`"


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Start-up"
    yield ""
    yield (
        "User and system time of the whole process with its imports, on a call of 1 s; median of"
        f" {part['runs']} in ms and, in brackets, the minimum: `fairwave check` {part['check_ms']}"
        f" [{part['check_least_ms']}], `fairwave run` {part['run_ms']} [{part['run_least_ms']}]. An interpreter that"
        f" only imports NumPy takes {part['numpy_ms']}. The limit is {MOST:g} times that: a machine that is slower or"
        f" busier takes longer for both. Commit {part['commit']}."
    )


def _cpu(command: str, file: Path, folder: Path) -> float:
    """User and system time, s. Without a command: of an interpreter that only imports NumPy."""
    words = ["-m", "fairwave", command, str(file)] if command else ["-c", "import numpy"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
