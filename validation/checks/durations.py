"""``make test-times``: the slowest tests, as a table in ``docs/testing.md``.

The Python tests write their times when ``make test`` runs them (``out/tests/*.xml``). The Rust tests run once more
here, and then the slowest of them alone. All times are CPU time of a test and of the programs that it starts. CPU time
hardly depends on the load of the machine.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from validation import ROOT, writing

PAGE = ROOT / "docs" / "testing.md"
REPORTS = ROOT / "out" / "tests"

#: Number of tests in the table.
LISTED = 10

BEGIN, END = "<!-- written by `make test-times` -->\n", "<!-- end -->\n"

# Only a nightly toolchain reports the time of tests. This variable makes any toolchain accept the option.
_TOLD = {"RUSTC_BOOTSTRAP": "1"}
_TIMES = ("-Z", "unstable-options", "--report-time")


@dataclass(frozen=True)
class Took:
    """The time of one test, or of all tests of one part."""

    name: str
    cpu_s: float
    clock_s: float
    tests: int = 1


def python(report: str) -> list[Took]:
    """The times in a JUnit report. A fixture that several tests share counts for the first of them."""
    found = []
    for case in ET.fromstring(report).iter("testcase"):
        properties = {one.get("name"): one.get("value") for one in case.iter("property")}
        file = (case.get("classname") or "").replace(".", "/") + ".py"
        name = re.sub(r"\s+", " ", case.get("name") or "")
        cpu_s = float(properties.get("cpu_s") or 0)
        found.append(Took(f"{file}::{name}", cpu_s, float(case.get("time") or 0)))
    return found


def times(printed: str) -> list[tuple[str, float]]:
    """Names and times from the output of a program of Rust tests."""
    found = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. ok <([\d.]+)s>$", printed, re.M)
    return [(name, float(took)) for name, took in found]


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rust() -> tuple[list[Took], Took]:
    """The times of the slowest Rust tests, each run alone, and of all tests together."""
    built = subprocess.run(
        ["cargo", "test", "--locked", "--workspace", "--lib", "--tests", "--no-run", "--message-format=json"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    programs = {}
    for line in built.stdout.splitlines():
        said = json.loads(line)
        if said.get("executable") and said["profile"]["test"]:
            programs[said["executable"]] = Path(said["manifest_path"]).parent
    slow: list[tuple[float, str, str]] = []
    count, before = 0, _children_s()
    for program, folder in programs.items():
        done = subprocess.run(
            [program, *_TIMES], cwd=folder, check=True, capture_output=True, text=True, env=os.environ | _TOLD
        )
        found = times(done.stdout)
        count += len(found)
        slow += [(took, program, name) for name, took in found]
    whole = Took("Rust", _children_s() - before, 0.0, count)
    alone = []
    for took, program, name in sorted(slow, reverse=True)[:LISTED]:
        before = _children_s()
        subprocess.run([program, "--exact", name], cwd=programs[program], check=True, capture_output=True)
        alone.append(Took(f"{programs[program].name}: {name}", _children_s() - before, took))
    return alone, whole


def table(slowest: list[Took], parts: list[Took]) -> str:
    """The text for the page."""
    lines = ["| part | tests | CPU time |", "|---|--:|--:|"]
    lines += [f"| {one.name} | {one.tests} | {one.cpu_s:.0f} s |" for one in parts]
    lines += ["", f"The slowest {len(slowest)} tests:", "", "| CPU time | test |", "|--:|---|"]
    for one in slowest:
        name = one.name if len(one.name) <= 130 else f"{one.name[:129]}…"
        shown = name.replace("|", "\\|")
        lines.append(f"| {one.cpu_s:.1f} s | `{shown}` |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes the table."""
    reports = {"Python": REPORTS / "python.xml", "Python, depending on timing": REPORTS / "live.xml"}
    if missing := [path for path in reports.values() if not path.is_file()]:
        names = ", ".join(str(path.relative_to(ROOT)) for path in missing)
        print(f"error: {names} is missing; run `make test` first", file=sys.stderr)
        return 1
    slowest, whole = rust()
    parts = [whole]
    for name, path in reports.items():
        found = python(path.read_text(encoding="utf-8"))
        parts.append(
            Took(name, sum(one.cpu_s for one in found), sum(one.clock_s for one in found), len(found))
        )
        slowest += found
    slowest = sorted(slowest, key=lambda one: one.cpu_s, reverse=True)[:LISTED]
    page = writing.fill(PAGE.read_text(encoding="utf-8"), BEGIN, END, table(slowest, parts))
    PAGE.write_text(page, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0
