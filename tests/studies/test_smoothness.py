"""The study of smoothness from end to end, at the fewest points and for seconds instead of minutes."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest

from fairwave.studies import find
from fairwave.studies.smoothness import points, study
from fairwave.studies.smoothness.points import Extent

PAPER = [f"003-{number}" for number in range(2, 21)]
EQUATIONS = ["003-eq1", "003-eq4", "003-eq13", "003-eq16"]
VERDICTS = {"reproduced", "not reproduced", "undecided"}

FEW = Extent(
    flows=(10, 20),
    readers=(10, 20),
    shares=(10, 20),
    errors=(0.0, 0.05),
    many_errors=(0.0, 0.05),
    spreads=(50, 150),
    round_trips=(120, 130),
    losses=(0.01, 0.05),
    buffers=(0.5, 1.0),
    smooth="18 s",
    handoffs="20 s",
)
LARGE = (
    points.WIRED_10,
    points.WIRED_100,
    points.CONSTANT,
    points.ERRORS_10,
    points.ERRORS_100,
    points.CONSTANT_ERRORS,
    points.SPREAD,
)


def hurried(described):
    """The same study with shorter runs of many flows."""
    short = {"duration": "2500 ms", "warmup": "500 ms"}
    grids = [
        replace(one, base=one.base.with_overrides(short)) if one.id in LARGE else one
        for one in described.grids
    ]
    return replace(described, grids=grids)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    out = tmp_path_factory.mktemp("smoothness")
    return hurried(study(FEW)).run(out, replications=2), out


def test_the_ledger_has_every_figure_of_the_paper_and_every_claim(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["figures"]] == PAPER + EQUATIONS
    assert [one["id"] for one in ledger["claims"]] == [f"S{number}" for number in range(1, 17)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS
    assert all(one["estimate"] is not None for one in ledger["claims"])


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in PAPER + EQUATIONS:
        for kind in ("svg", "png", "csv"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?:', page)
    assert all(f'id="figure-{name}"' in page for name in PAPER)


def test_the_one_calibration_is_printed_with_what_was_found(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    (calibration,) = ledger["calibrations"]
    assert calibration["target"] == "19 s"
    assert re.match(r"12\d ms of round trip give Reno 19 s", calibration["measured"])


def test_every_claim_names_assumptions_that_the_study_lists(outcome):
    described = study(FEW)
    listed = {one.id for one in described.assumptions}
    assert {name for claim in described.claims for name in claim.assumptions} <= listed


def test_every_assumption_that_is_swept_names_its_tables():
    described = study(FEW)
    tables = {one.id for one in described.sensitivities}
    named = {name for one in described.assumptions for name in one.swept.split(", ") if name}
    assert {name for name in named if not any(table.startswith(name) for table in tables)} == set()


def test_allotted_fairness_falls_when_flows_join(outcome):
    from fairwave.studies.smoothness.quantities import ALLOTTED_FAIRNESS

    fairness = outcome[0].data.measured(ALLOTTED_FAIRNESS, points.GROWING).frame
    before, after = (fairness.filter(pl.col("time") == time)["value"].mean() for time in (15.0, 17.0))
    assert after < before


def test_one_figure_can_be_made_alone(tmp_path):
    outcome = hurried(study(FEW)).run(tmp_path, replications=2, figure="003-20")
    assert [one.id for one in outcome.drawings] == ["003-20"]
    assert set(outcome.data.results) == {points.RECOVERY}


def test_the_command_line_finds_it():
    assert find("smoothness").name == "smoothness"


def test_points_that_experiments_share_are_simulated_once():
    hashes = [point.scenario.hash for grid in points.grids(points.PAPER) for point in grid.points()]
    assert len(set(hashes)) < len(hashes)
