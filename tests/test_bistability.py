"""Runs of two kinds are detected, and samples of one kind are not."""

import json

import numpy as np
import pytest

from fairwave.measuring.bistability import find_split
from fairwave_study.claims import Comparison, Evidence

GENERATOR = np.random.default_rng(7)
ONE_KIND = {
    "normal": lambda size: GENERATOR.normal(size=size),
    "uniform": GENERATOR.random,
    "Student, 3 degrees of freedom": lambda size: GENERATOR.standard_t(3, size=size),
    "exponential": lambda size: GENERATOR.exponential(size=size),
    "lognormal, σ 1": lambda size: np.exp(GENERATOR.normal(size=size)),
    "lognormal, σ 1.5": lambda size: np.exp(1.5 * GENERATOR.normal(size=size)),
    "Pareto, shape 1.2": lambda size: 1 + GENERATOR.pareto(1.2, size=size),
}


def two_kinds(n, share=0.3):
    """MOS 4.2 ± 0.1, and 2.2 ± 0.1 in a share of the runs."""
    return np.where(GENERATOR.random(n) < share, 2.2, 4.2) + GENERATOR.normal(0, 0.1, n)


def test_three_of_ten_runs_differ_in_kind():
    found = find_split([4.21, 2.2, 4.3, 4.25, 2.1, 4.2, 4.28, 2.3, 4.22, 4.26], counts=0.1)
    assert (
        str(found)
        == "3 of 10 runs differ in kind: 2.1 to 2.3, the others 4.2 to 4.3; no run is near the mean"
    )
    assert (found.n_low, found.n_high, found.fewer) == (3, 7, 3)


@pytest.mark.parametrize("n", [6, 8, 10, 15, 20, 30])
@pytest.mark.parametrize("name", ONE_KIND)
def test_samples_of_one_kind_hardly_ever_look_bistable(name, n):
    wrong = sum(find_split(one) is not None for one in ONE_KIND[name]((2000, n)))
    assert wrong <= 30, f"{wrong} of 2000 samples"


@pytest.mark.parametrize(("n", "least"), [(10, 0.75), (20, 0.8), (30, 0.85)])
def test_two_kinds_are_found(n, least):
    found = [find_split(two_kinds(n), 0.1) is not None for _ in range(1000)]
    assert np.mean(found) >= least


def test_a_gap_that_does_not_count_and_few_runs_are_no_kinds():
    losses = [0.0] * 7 + [0.07] * 3
    assert find_split(losses, counts=0.0) is not None
    assert find_split(losses, counts=0.5) is None, "one lost packet is no other kind of run"
    assert find_split([1.0, 1.1, 1.2, 5.0, 5.1]) is None, "five runs do not show it"
    assert find_split([1.0] * 9 + [5.0]) is None, "a single run is an outlier"
    assert find_split([1.0] * 10) is None
    assert find_split([np.nan] * 10) is None


def test_the_interval_that_decides_a_criterion_names_runs_that_differ_in_kind():
    samples = np.array([4.21, 2.2, 4.3, 4.25, 2.1, 4.2, 4.28, 2.3, 4.22, 4.26])
    told = Evidence([Comparison("MOS", samples, 3.0)]).decided_by()
    assert told.startswith("MOS: 3.63 [")
    assert ", to be above 3; bistable: 3 of 10 runs differ in kind" in told


SCENARIO = """
name = "an upload in some runs"
duration = "30 s"
warmup = "2 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "2 Mb/s", delay = "15 ms", queue = { capacity = { packets = 200 } } }
[[flow]]
name = "call"
transport = "udp"
traffic = { kind = "voice", codec = "g711" }
[[flow]]
name = "upload"
transport = "tcp/cubic"
traffic = { kind = "transfer", size = "100 MB" }
start = "0 s"
stop = "3 s"
arrivals = { rate = "8 per min", at-most = 1 }
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_run_compare_and_sweep_say_that_runs_differ_in_kind(fairwave, scenario):
    status, said, _ = fairwave("run", scenario, "-n", "10", "--json")
    assert status == 0
    (mos,) = (
        row for row in json.loads(said)["summary"] if row["measure"] == "mos" and row["group"] == "call"
    )
    (note,) = (one for one in mos["remarks"] if one.startswith("bistable"))
    assert note.startswith("bistable: call MOS (E-model), ")
    assert " of 10 runs differ in kind: " in note
    _, said, _ = fairwave("run", scenario, "-n", "10")
    assert "Bistable: call MOS (E-model), 4 of 10 runs differ in kind: 1.22 to 1.42, the others" in " ".join(
        said.split()
    )
    _, said, _ = fairwave(
        "compare", scenario, "--vary", "topology.bottleneck.rate=2 Mb/s,100 Mb/s", "-n", "10"
    )
    assert "Bistable: 2 Mb/s: call MOS" in " ".join(said.split())
    assert "bistable: 100 Mb/s" not in " ".join(said.split())
    _, said, _ = fairwave("sweep", scenario, "--grid", "topology.bottleneck.rate=2 Mb/s,100 Mb/s", "-n", "10")
    assert "bistable: mos.call at" in " ".join(said.split())


def test_runs_of_one_kind_have_no_such_remark(fairwave, scenario):
    _, said, _ = fairwave("run", scenario, "-n", "10", "--set", "topology.bottleneck.rate=100 Mb/s", "--json")
    assert "bistable" not in said
