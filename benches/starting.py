"""What a small command costs: processor time of the whole process with its imports."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benches import machine
from benches.overhead import SHORT

COMMANDS = ("check", "run")
RUNS = 11


def measure() -> dict[str, Any]:
    """Median and least processor time of each command on a scenario of one second, in ms."""
    found: dict[str, Any] = {"commit": machine.commit(), "runs": RUNS}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "short.toml"
        file.write_text(SHORT)
        for command in COMMANDS:
            # The first run may compile modules.
            times = [_cpu(command, file) for _ in range(RUNS + 1)][1:]
            found[f"{command}_ms"] = round(statistics.median(times) * 1e3)
            found[f"{command}_least_ms"] = round(min(times) * 1e3)
        bare = [_cpu("", file) for _ in range(RUNS)]
        found["numpy_ms"] = round(statistics.median(bare) * 1e3)
    return found


def _cpu(command: str, file: Path) -> float:
    """Seconds of user and system time; without a command of an interpreter that imports NumPy alone."""
    words = ["-m", "fairwave", command, str(file)] if command else ["-c", "import numpy"]
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
