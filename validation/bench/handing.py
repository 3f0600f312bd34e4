"""Cost of commands before and after Rust handed over runs in groups, as one set of tables.

Needs checkouts of the versions, each with the `.venv` of its `make setup`:

    python -m validation handing before=FOLDER after=FOLDER now=.

`make bench` keeps these numbers without a new measurement, because it has only the current version. The commands
alternate between the versions. A command has gained if its longest time after is below its shortest before.

A whole exploration takes nine minutes. `explore` was therefore measured by hand, once with each version:
`fairwave study smoothness --explore 1 -n 1 --threads 1`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation import ROOT
from validation.bench import report
from validation.bench.overhead import SHORT
from validation.compare.ns2.simulator import timed

RATES = ",".join(f"{rate} kb/s" for rate in range(1000, 1100))
READING = (
    "from fairwave import layers; from fairwave_study.shelf import judge;"
    " readings = layers.study('smoothness').readings; judge(readings, readings.base(), [1, 2, 3], 1)"
)
COMMANDS = {
    "sweep": (
        "-m",
        "fairwave",
        "sweep",
        "short.toml",
        "--grid",
        f"topology.bottleneck.rate={RATES}",
        "-n",
        "20",
    ),
    "find": (
        *("-m", "fairwave", "find", "short.toml", "--vary", "flow.voice.count=1..60"),
        *("--until", "mos.voice >= 3.6", "-n", "50", "--most", "100"),
    ),
    "compare": (
        *("-m", "fairwave", "compare", "short.toml", "-n", "200", "--no-audio"),
        *("--vary", "topology.bottleneck.queue.discipline=drop-tail,red,codel,fq-codel"),
    ),
    "reading": ("-c", READING),
}
"""Arguments of the interpreter; a command of fairwave also gets `--out`."""


def measure(versions: dict[str, Path], runs: int) -> dict[str, Any]:
    """Measures the processor time of each command with each version, s. The versions alternate."""
    took: dict[str, dict[str, list[float]]] = {name: {one: [] for one in versions} for name in COMMANDS}
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("short.toml").write_text(SHORT)
        # Modules are compiled once and kept, as in an installed package.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, words in COMMANDS.items():
            for turn in range(runs + 1):
                for version, checkout in versions.items():
                    os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled-{version}"
                    out = ("--out", f"{name}-{version}-{turn}") if words[0] == "-m" else ()
                    _, cost = timed([str(checkout / ".venv/bin/python"), *words, *out])
                    # The first run may compile modules.
                    if turn:
                        took[name][version].append(round(cost.cpu, 2))
                        print(name, version, round(cost.cpu, 2), flush=True)
        os.chdir(ROOT)
    return {"commits": {one: _commit(checkout) for one, checkout in versions.items()}, "times_s": took}


def _commit(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Measures the versions and writes the report."""
    parser = argparse.ArgumentParser(prog="python -m validation handing", description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="NAME=FOLDER", help="checkouts: before, after, now")
    parser.add_argument("--runs", type=int, default=7, help="alternating runs of each (default 7)")
    options = parser.parse_args()
    named = dict(one.split("=", 1) for one in options.versions)
    versions = {name: Path(folder).resolve() for name, folder in named.items()}
    target = ROOT / "docs" / "performance.json"
    found = measure(versions, options.runs)
    results = json.loads(target.read_text())
    results["handing"] = {**results.get("handing", {}), **found}
    target.write_text(json.dumps(results, indent=1) + "\n")
    (ROOT / "docs" / "performance.md").write_text(report.markdown(results))
