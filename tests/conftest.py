"""Common fixtures."""

import functools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer.main

from made_up import made_up
from once import once

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser):
    parser.addoption(
        "--budget", type=float, metavar="S", help="skip tests that have not begun after S seconds"
    )


def pytest_configure(config):
    config.begun = time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.cpu_before_s = _cpu_s()
    budget = item.config.getoption("--budget")
    if budget is not None and time.monotonic() - item.config.begun > budget:
        pytest.skip(f"not begun within {budget:g} s: left to `make test`")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    # `validation.checks.durations` reads it. CPU time is nearly independent of the machine's load.
    if call.when == "teardown":
        item.user_properties.append(("cpu_s", f"{_cpu_s() - item.cpu_before_s:.2f}"))
    return (yield)


def _cpu_s():
    """CPU time of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.fixture(scope="session", autouse=True)
def commands_are_built_once():
    """Typer builds all commands for each command line, which takes longer than most command lines of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session")
def made_site(tmp_path_factory):
    """The documentation as a site: its folder, and Sphinx's output."""

    def make(folder):
        words = ["-m", "validation", "site", "--quick", "--out", str(folder / "site")]
        done = subprocess.run([sys.executable, *words], cwd=ROOT, check=False, capture_output=True, text=True)
        said = {"status": done.returncode, "complaints": done.stderr}
        (folder / "said.json").write_text(json.dumps(said), encoding="utf-8")

    folder = once(tmp_path_factory, "site", make)
    said = json.loads((folder / "said.json").read_text(encoding="utf-8"))
    return SimpleNamespace(folder=folder / "site" / "latest", **said)


@pytest.fixture
def results():
    """Made-up runs over two transports."""
    return made_up()


@pytest.fixture
def fairwave(monkeypatch, capsys):
    """Runs a command line; returns exit status, standard output and standard error."""
    from fairwave.cli import main

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["fairwave", *map(str, words)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run
