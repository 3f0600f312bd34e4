"""Faults of the system: a command ends with a sentence, and the same command continues from kept runs."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fairwave.cli import main
from fairwave.staging import final_path

HERE = Path(__file__).parent
PLACES = int(os.environ.get("FAIRWAVE_FAULTS", "3"))
"""Places of each kind in each command; `make faults` tries every write and every open."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """The library that makes calls fail."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs Linux and a C compiler")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, HERE / "faults.c", "-ldl"], check=True)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "page", "sweep", "network", "study"])
def test_a_command_whose_nth_call_fails_continues(shim, command):
    done = subprocess.run(
        [sys.executable, str(HERE / "faults.py"), command, str(PLACES)],
        env={**os.environ, "LD_PRELOAD": str(shim)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    tried = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = [f"{one['what']}: {one['wrong']}" for one in tried if one["wrong"]]
    assert wrong == []
    kinds = {"write", "open", "allocation"}
    if find_spec("_testcapi") is None:
        kinds.remove("allocation")
    for kind in kinds:
        last_lines = [one["said"] for one in tried if one["kind"] == kind]
        assert len(last_lines) >= PLACES, kind
        assert any(line.startswith("error: ") for line in last_lines), kind


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "out/.partial-x/flows.parquet"),
            1,
            "error: No space left on device: out; free some space, or name a folder on another disk; nothing is kept",
        ),
        (
            OSError(errno.EIO, "Input/output error"),
            1,
            "error: Input/output error; the disk fails; name a folder",
        ),
        (OSError(errno.EACCES, "Permission denied", "a.toml"), 2, "error: Permission denied: a.toml"),
        (
            ImportError("libx.so: failed to map segment from shared object"),
            1,
            "error: there is not enough memory",
        ),
        (MemoryError(), 1, "error: there is not enough memory; make fewer runs at once"),
    ],
)
def test_what_the_system_lacks_is_said_with_a_remedy(raised, status, said, monkeypatch, capsys):
    def fail(_words):
        raise raised

    monkeypatch.setattr("fairwave.cli._do", fail)
    monkeypatch.setattr("fairwave.folders._last", [])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == status
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("out/.partial-abc/runs.csv", "out"),
        ("/a/out/.cache/.partial-abc.sqlite", "/a/out/.cache"),
        ("out/runs.csv", "out/runs.csv"),
        (".partial-abc", ".partial-abc"),
    ],
)
def test_a_file_on_its_way_is_named_by_its_goal(path, place):
    assert final_path(path) == place
