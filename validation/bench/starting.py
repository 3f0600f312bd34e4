"""Cost of a small command: processor time of the whole process with its imports.

Modules are compiled once and kept, as in an installed package, regardless of the environment.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation.bench import machine
from validation.bench.overhead import SHORT

COMMANDS = ("check", "run")
RUNS = 11
#: Maximum of the minimum time of either command, ms. The median would include load from other programs.
MOST_MS = 250


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
    found["most_ms"] = MOST_MS
    found["exceeded"] = any(found[f"{command}_least_ms"] > MOST_MS for command in COMMANDS)
    return found


def _cpu(command: str, file: Path, folder: Path) -> float:
    """User and system time, s. Without a command: of an interpreter that only imports NumPy."""
    words = ["-m", "fairwave", command, str(file)] if command else ["-c", "import numpy"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
