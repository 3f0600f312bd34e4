"""Start-up: a small command imports little, and reads its options as the library of the command line does."""

import json
import subprocess
import sys

import pytest

SCENARIO = """
name = "short"
duration = "1 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "voice"
transport = "udp"
traffic = "voice"
"""

LISTED = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
from fairwave.cli import main
main()
"""

SLOW = {
    "typer",
    "pydantic",
    "importlib.metadata",
    "email",
    "asyncio",
    "pyarrow",
    "pandas",
    "polars",
    "matplotlib",
    "scipy",
}
"""Modules that take tens of milliseconds to import."""


@pytest.mark.parametrize(
    ("command", "others"), [("check", {"numpy", "sqlite3", "difflib"}), ("run", {"sqlite3", "difflib"})]
)
def test_a_small_command_imports_nothing_that_it_does_not_need(tmp_path, command, others):
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO)
    done = subprocess.run(
        [sys.executable, "-c", LISTED, command, file], capture_output=True, text=True, check=True
    )
    assert "voice" in done.stdout
    imported = set(json.loads(done.stderr.splitlines()[-1]))
    assert "rich.table" in imported
    assert imported & (SLOW | others) == set()


@pytest.mark.parametrize(
    "words",
    [
        "run a.toml",
        "run - --json",
        "run a.toml -n 10 --seed 3 --set flow.voice.count=20 --set=duration=2 --out out/calls --no-page --yes",
        "run --threads=2 --record voice[0] a.toml --measures mos,missed --require mos.voice>=3 --json",
        "run a.toml --page --qlog out --qlog-flow up[0] --junit=j.xml --laws a.py --laws b.py --cluster tcp://h:1",
        "run a.toml --capture a=b --capture-payload --speech s.wav --baseline b.toml --style paper,mono --doubt",
        "check a.toml",
        "check --laws a.py a.toml",
        "check --expand a.toml --seed 7 --set x=1 --json",
    ],
)
def test_options_are_read_as_the_library_reads_them(monkeypatch, words):
    from fairwave.cli import app, inspecting, plain, runs

    called = []
    for module, name in ((runs, "run_scenario"), (inspecting, "check_scenario")):
        monkeypatch.setattr(module, name, called.append)
    work = plain.command(words.split())
    assert work is not None
    work()
    app.app(words.split(), standalone_mode=False)
    assert vars(called[0]) == vars(called[1])


@pytest.mark.parametrize(
    "words",
    [
        "",
        "run",
        "run --help",
        "run a.toml b.toml",
        "run a.toml -n",
        "run a.toml -n10",
        "run a.toml -n ten",
        "run a.toml -n -1",
        "run a.toml --json=yes",
        "run a.toml --page --no-page",
        "run a.toml -- --json",
        "check a.toml --out x",
        "sweep a.toml",
    ],
)
def test_whatever_else_is_left_to_the_library(words):
    from fairwave.cli import plain

    assert plain.command(words.split()) is None
