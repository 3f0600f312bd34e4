"""The same scenario and seed produce the same bytes, in the release build as in the debug build.

`crates/fairwave-sim/tests/golden.rs` checks the digests of `tests/golden/digests.json` in debug; `make golden` renews
them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fairwave
from fairwave import _native
from fairwave.tables import tables

FOLDER = Path(__file__).parent / "golden"
GOLDEN: dict[str, list[str]] = json.loads((FOLDER / "digests.json").read_text(encoding="utf-8"))


def digests(threads: int) -> dict[str, list[str]]:
    """Digests of every golden scenario, in the order of the seeds."""
    keys = [(name, place) for name, each in GOLDEN.items() for place in range(len(each))]
    loaded = {name: fairwave.load(FOLDER / f"{name}.toml").native for name in GOLDEN}
    found: dict[str, list[str]] = {name: [""] * len(each) for name, each in GOLDEN.items()}
    for job, raw in _native.Batch([(loaded[name], place + 1) for name, place in keys], threads):
        name, place = keys[job]
        found[name][place] = tables(raw)["work"]["digest"].to_list()[0]
    return found


@pytest.mark.parametrize("threads", [1, 2])
def test_the_release_build_leaves_the_golden_bytes_on_any_number_of_threads(threads: int) -> None:
    assert digests(threads) == GOLDEN


def test_another_process_leaves_the_golden_bytes() -> None:
    program = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); "
        "import test_golden; print(json.dumps(test_golden.digests(1)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == GOLDEN


def test_every_golden_scenario_has_its_digests() -> None:
    assert {file.stem for file in FOLDER.glob("*.toml")} == set(GOLDEN)
