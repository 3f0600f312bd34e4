"""The measured program ``fwsim``, which runs a scenario file without Python, and the benchmark's scenarios."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation import ROOT
from validation.compare.ns2.simulator import Cost, timed

TEMPLATE = Path(__file__).with_name("dumbbell.toml")


def build() -> str:
    """Builds the release binary and returns its path."""
    command = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "fairwave-sim",
        "--features",
        "fwsim",
        "--bin",
        "fwsim",
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return str(ROOT / "target" / "release" / "fwsim")


@dataclass(frozen=True)
class Run:
    """One run of fwsim: its results and its cost."""

    packet_hops: int
    events: int
    wall: float
    #: Peak memory in bytes. 0 if the system does not report it.
    peak: int
    cost: Cost


def scenario(folder: Path, template: Path = TEMPLATE, **values: object) -> Path:
    """Writes the benchmark's scenario with these values (``flows``, ``rate``, …) to a file in ``folder``."""
    text = template.read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    left = text.find("@")
    if left >= 0:
        raise ValueError(f"{template.name} has a place that nobody fills: {text[left : left + 20]!r}")
    file = folder / template.name
    file.write_text(text)
    return file


def run(
    program: str,
    *arguments: str,
    prefix: tuple[str, ...] = (),
    template: Path = TEMPLATE,
    **values: object,
) -> Run:
    """Runs the benchmark's scenario, or another template, with these values. Default: one thread."""
    with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
        file = scenario(Path(folder), template, **values)
        text, cost = timed([*prefix, program, str(file), "--threads", "1", *arguments])
    said = json.loads(text)
    return Run(said["packet_hops"], said["events"], said["wall_s"], 1024 * (said["peak_kib"] or 0), cost)


def contested(flows: int, seconds: float) -> dict[str, Any]:
    """The experiment of the speed comparison: N Reno flows over 100 Mb/s. Flow i starts at 0.01·i s."""
    return {
        "flows": flows,
        "rate": "100 Mb/s",
        "access": "100 Mb/s",
        "discipline": "drop-tail",
        "queue": 249,
        "interval": "10 ms",
        "transport": "tcp/reno",
        "duration": f"{seconds} s",
    }
