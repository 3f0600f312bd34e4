"""Makes the n-th write, open or allocation of a command fail, and has the same command continue.

`python tests/faults.py COMMAND COUNT` runs under `LD_PRELOAD` of `faults.c`, imports everything once, and makes each
attempt in a copy of itself. After each fault it asks: did the command end with a sentence? Does the folder still
hold every run that had been kept, and no half-written results? Does the same command, started again, leave exactly the
files of an undisturbed run?
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import faulthandler
import hashlib
import importlib
import json
import os
import pkgutil
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import fairwave
from fairwave.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCENARIO = """
name = "faults"
duration = "1 s"
[topology]
preset = "dumbbell"
[[flow]]
name = "voice"
count = 2
transport = "udp"
traffic = "voice"
"""
NETWORK = """
name = "faults"
duration = "1 s"
topology = { file = "net.json" }
links = { rate = "2 Mb/s", delay = "1 ms" }
demands = { load = "400 kb/s" }
[[mix]]
kind = "calls"
share = 1
"""
NODES = '{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}'

WORDS = {
    "run": ["run", "faults.toml", "-n", "2", "--out", "OUT", "--no-page"],
    "page": ["run", "faults.toml", "-n", "2", "--out", "OUT"],
    "sweep": ["sweep", "faults.toml", "--grid", "flow.voice.count=1,2", "-n", "2", "--out", "OUT"],
    "network": ["network", "network.toml", "-n", "1", "--widen", "0", "--out", "OUT"],
    "study": ["study", "faults", "--out", "OUT"],
}
"""Each command that writes a folder. The study is a small one of this file."""

KINDS = {"open": 1, "write": 2, "allocation": 3}


def study() -> None:
    """A study of one claim, in place of a study that takes days."""
    from fairwave.measuring import measures
    from fairwave_study import Claim, Figure, Grid, Study, comparisons, vary
    from fairwave_study.claims import Verdict

    loss = measures.loss("voice")

    def rises(data: object) -> object:
        return comparisons.rises(data.measured(loss, "main"), "flows")  # type: ignore[attr-defined]

    grid = Grid("main", fairwave.load("faults.toml"), {"flows": vary("flow.voice.count", [1, 2])})
    Study(
        name="faults", title="Faults", question="Which?", grids=[grid],
        figures=[Figure("a", "Loss", "main", [loss], x="flows", series=None)],
        claims=[Claim("F1", "Loss rises | with flows.", "nowhere", ("main",), rises,
                      dict.fromkeys(Verdict, lambda data: "That is so."))],
    ).run(Path(sys.argv[-1]), 2)  # fmt: skip


def attempt(command: str, folder: Path, arm: Callable[[], object] | None = None) -> tuple[int, str, int]:
    """Runs a command in a copy of this process.

    Returns:
        Its status, its standard error, and the number of counted calls.
    """
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as counted:
        child = os.fork()
        if child == 0:
            status = 70
            try:
                os.chdir(folder)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(said.fileno(), 2)
                faulthandler.disable()
                # With its whole path, by which the faults recognise it.
                sys.argv = [
                    "fairwave",
                    *(str(folder / "out") if word == "OUT" else word for word in WORDS[command]),
                ]
                if command == "study":
                    import fairwave.cli as commands

                    commands._do = lambda _: study()  # type: ignore[assignment]
                if arm is not None:
                    arm()
                try:
                    main()
                    status = 0
                except SystemExit as end:
                    status = end.code if isinstance(end.code, int) else 1 if end.code else 0
                except BaseException:  # noqa: BLE001 -- as a user sees it
                    disarm()
                    import traceback

                    traceback.print_exc()
                    status = 71
                count = disarm()
                sys.stderr.flush()
                os.write(counted.fileno(), str(count).encode())
            finally:
                os._exit(status)
        _, how = os.waitpid(child, 0)
        said.seek(0)
        counted.seek(0)
        words = said.read().decode(errors="replace")
        return os.waitstatus_to_exitcode(how), words, int(counted.read() or b"0")


SHIM = ctypes.CDLL(None)


def armed(kind: str, place: Path, number: int, code: int, *, lasting: bool) -> Callable[[], object]:
    """Returns a function that arms the fault; number 0 only counts."""
    if kind == "allocation":
        import _testcapi

        if number == 0:
            return lambda: None
        return lambda: _testcapi.set_nomemory(number, 0 if lasting else number + 1)
    return lambda: SHIM.faults_arm(
        str(place).encode(), KINDS[kind], ctypes.c_long(number), code, int(lasting)
    )


def disarm() -> int:
    """Disarms faults; returns the number of counted calls."""
    if "_testcapi" in sys.modules:
        sys.modules["_testcapi"].remove_mem_hooks()
    SHIM.faults_counted.restype = ctypes.c_long
    count: int = SHIM.faults_counted()
    SHIM.faults_arm(b"", 0, ctypes.c_long(0), 0, 0)
    return count


def contents(out: Path) -> dict[str, str]:
    """The files of a folder by name, each with its SHA-256; for kept runs, their keys and digests."""
    found = {}
    for file in sorted(path for path in out.rglob("*") if path.is_file()):
        name = str(file.relative_to(out))
        if file.name.startswith("runs.sqlite"):
            found[name] = str(sorted(kept(out)))
        else:
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def kept(out: Path) -> set[tuple[str, int, bytes]]:
    """The complete runs that a folder keeps."""
    from fairwave.runs.keeping import engine
    from fairwave.runs.runs_file import is_whole

    found = set()
    for file in out.rglob("runs.sqlite"):
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as one,
        ):
            for row in one.execute("select * from runs"):
                assert is_whole(engine(), *row), f"{file} has a run that is not whole"
                found.add((row[0], row[1], row[2]))
    return found


def taken_as_whole(out: Path, right: dict[str, str]) -> str:
    """Describes errors in results that load after a fault; empty if they are complete, or do not load."""
    try:
        fairwave.Results.load(out)
    except (FileNotFoundError, fairwave.DamagedResultsError):
        return ""
    now = contents(out)
    wrong = [
        name for name in right if name.endswith((".parquet", ".csv", "SUMS")) and now.get(name) != right[name]
    ]
    return f"half-written results are taken as whole: {wrong}" if wrong else ""


def prepare() -> None:
    """Imports the modules of commands, so that copies of this process need not, and computes constants."""
    for package in ("fairwave", "fairwave_network", "fairwave_report", "fairwave_study"):
        for one in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not one.name.endswith(("__main__", ".host", ".child", ".gallery")):
                try:
                    importlib.import_module(one.name)
                except ImportError:
                    continue
    modules = ["jinja2", "networkx", "polars", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet"]
    modules += ["matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"]
    modules += ["tomllib", "typer._adapters", "pydantic.type_adapter"]
    for name in modules:
        with suppress(ImportError):
            importlib.import_module(name)
    from PIL import Image

    from fairwave.provenance import commit
    from fairwave.runs.keeping import engine
    from fairwave_report import page

    engine()
    commit()
    Image.preinit()
    page._template()


def numbers(most: int, count: int) -> list[int]:
    """All numbers up to `most` if they are at most `count`; else a third of `count` at each end, the rest between."""
    if most <= count:
        return list(range(1, most + 1))
    third = count // 3
    first, last = range(1, third + 1), range(most - third + 1, most + 1)
    step = (most - 2 * third) / (count - 2 * third)
    return sorted({*first, *last, *(third + 1 + int(step * index) for index in range(count - 2 * third))})


def faults(command: str, kind: str, count: int) -> Iterator[dict[str, object]]:
    """Tries every fault, and yields each with its errors."""
    root = Path(tempfile.mkdtemp(prefix="faults-"))
    for name, text in (("faults.toml", SCENARIO), ("network.toml", NETWORK), ("net.json", NODES)):
        (root / name).write_text(text, encoding="utf-8")
    out = root / "out"
    status, said, most = attempt(command, root, armed(kind, out, 0, 0, lasting=False))
    assert status == 0, said
    right = contents(out)
    if kind == "allocation":
        most = 2_000_000
        tried = sorted({int(most ** (index / count)) for index in range(1, count + 1)})
        ways = [(errno.ENOMEM, False)]
    else:
        tried = numbers(most, count)
        ways = (
            [(errno.ENOSPC, True), (errno.EIO, False)]
            if kind == "write"
            else [(errno.EMFILE, False), (errno.EMFILE, True)]
        )
    for number in tried:
        for code, lasting in ways:
            shutil.rmtree(out, ignore_errors=True)
            what = f"{command}: {kind} {number} of {most}, {errno.errorcode[code]}{' from then on' if lasting else ''}"
            status, said, _ = attempt(command, root, armed(kind, out, number, code, lasting=lasting))
            wrong = []
            last = said.strip().splitlines()[-1] if said.strip() else ""
            if status not in {0, 1} or "Traceback" in said or (status and "error: " not in said):
                wrong.append(f"ended with {status}: {said[-1500:]}")
            before = kept(out) if out.exists() else set()
            if out.exists() and (half := taken_as_whole(out, right)):
                wrong.append(half)
            status, again, _ = attempt(command, root)
            if status != 0:
                wrong.append(f"did not continue, {status}: {again[-1500:]}")
            elif contents(out) != right:
                now = contents(out)
                names = sorted(name for name in right.keys() | now.keys() if right.get(name) != now.get(name))
                wrong.append(f"left other files: {names[:8]}")
            if not before <= kept(out):
                wrong.append("lost runs that had been kept")
            yield {"kind": kind, "what": what, "said": last, "wrong": wrong}
    shutil.rmtree(root, ignore_errors=True)


def run() -> None:
    """Tries faults, and prints one line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=WORDS)
    parser.add_argument("count", type=int, help="how many places at most; all if there are fewer")
    asked = parser.parse_args()
    prepare()
    for kind in KINDS:
        if kind == "allocation" and find_spec("_testcapi") is None:
            continue
        for one in faults(asked.command, kind, asked.count):
            sys.stdout.write(json.dumps(one) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    run()
