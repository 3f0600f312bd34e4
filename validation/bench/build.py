"""``make build-times``: the time that each crate takes in the build of `make setup`, as a table in ``docs/testing.md``.

Compiles the bindings for Python once more, from nothing, in a folder of their own, with ``cargo build --timings``. Each
crate has its time by the clock and its CPU time. The CPU time hardly depends on the load of the machine. Cargo's report
with the same numbers as a chart stays in ``out/build-times.html``.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from validation import ROOT, writing
from validation.bench import machine

PAGE = ROOT / "docs" / "testing.md"
BEGIN, END = "<!-- written by `make build-times` -->\n", "<!-- end of build times -->\n"
REPORT = ROOT / "out" / "build-times.html"

#: Number of crates in the table.
LISTED = 15

COMPILE = """
import os, resource, subprocess, sys
words = sys.argv[1:]
status = subprocess.call(words)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if "--crate-name" in words:
    name = words[words.index("--crate-name") + 1]
    with open(os.environ["FAIRWAVE_BUILD_TIMES"], "a") as file:
        file.write(f"{name} {used.ru_utime + used.ru_stime:.2f}\\n")
sys.exit(status)
"""
"""Program that cargo starts in place of the compiler (`RUSTC_WRAPPER`). It notes the CPU time of each crate."""


def measure(folder: Path) -> tuple[dict[str, float], float, float, str]:
    """Builds the bindings from nothing: CPU time by crate, CPU and clock time of all, and cargo's report."""
    wrapper = folder / "compile"
    wrapper.write_text(f"#!{sys.executable}\n{COMPILE}", encoding="utf-8")
    wrapper.chmod(0o755)
    notes = folder / "notes"
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(folder / "target"),
        "CARGO_INCREMENTAL": "0",
        "RUSTC_WRAPPER": str(wrapper),
        "FAIRWAVE_BUILD_TIMES": str(notes),
        "PYO3_PYTHON": sys.executable,
    }
    features = ("--features", "pyo3/extension-module")
    words = ("cargo", "build", "--locked", "--release", "--package", "fairwave-python", "--lib", "--timings")
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*words, *features], cwd=ROOT, env=environment, check=True)
    clock_s, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    crates: defaultdict[str, float] = defaultdict(float)
    for line in notes.read_text().splitlines():
        name, took = line.split()
        crates[name.removeprefix("build_script_").replace("_native", "fairwave_python")] += float(took)
    (report,) = (folder / "target" / "cargo-timings").glob("cargo-timing-*.html")
    return dict(crates), cpu_s, clock_s, report.read_text(encoding="utf-8")


def read_clock(report: str) -> dict[str, float]:
    """Time by the clock of each crate, from cargo's report (`UNIT_DATA`)."""
    found = re.search(r"const UNIT_DATA = (\[.*?\]);\n", report, re.DOTALL)
    if found is None:
        raise RuntimeError("cargo's report has no UNIT_DATA: this version of cargo writes another format")
    clock: defaultdict[str, float] = defaultdict(float)
    for unit in json.loads(found[1]):
        clock[unit["name"].replace("-", "_")] += unit["duration"]
    return dict(clock)


def text(crates: dict[str, float], cpu_s: float, clock_s: float, clock: dict[str, float]) -> str:
    """The table, largest crates first, and what the rest takes."""
    order = sorted(crates, key=lambda name: -crates[name])
    rows = [(f"`{name}`", f"{crates[name]:.1f} s", f"{clock.get(name, 0):.1f} s") for name in order[:LISTED]]
    others = order[LISTED:]
    rows.append((f"{len(others)} others", f"{sum(crates[name] for name in others):.1f} s", ""))
    rows.append(("**all**", f"**{cpu_s:.0f} s**", f"**{clock_s:.0f} s**"))
    lines = [f"Commit {machine.commit()}, {os.cpu_count()} cores:", ""]
    lines += writing.table(("crate", "CPU time", "by the clock"), rows)
    return "\n".join(lines).replace("|---|---|---|", "|---|--:|--:|") + "\n"


def main() -> int:
    """Measures, writes the table and keeps cargo's report."""
    writing.parser(__doc__).parse_args()
    if shutil.which("cargo") is None:
        print(
            "build-times: there is no Rust toolchain: install one, for example with rustup", file=sys.stderr
        )
        return 1
    with tempfile.TemporaryDirectory(prefix="fairwave-build-") as folder:
        crates, cpu_s, clock_s, report = measure(Path(folder))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(report, encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    filled = writing.fill(page, BEGIN, END, text(crates, cpu_s, clock_s, read_clock(report)))
    PAGE.write_text(filled, encoding="utf-8")
    print(f"build-times: {cpu_s:.0f} s of CPU time, {clock_s:.0f} s by the clock; {PAGE.relative_to(ROOT)}")
    return 0
