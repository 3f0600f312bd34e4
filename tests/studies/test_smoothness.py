"""The study of smoothness from end to end, at the fewest points and for seconds instead of minutes."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest

from fairwave.layers import study as find
from fairwave_studies.smoothness import names, points, study
from fairwave_studies.smoothness.points import Extent
from fairwave_study.parts import Data
from page_links import problems

PAPER = [f"003-{number}" for number in range(2, 21)]
EQUATIONS = ["003-eq1", "003-eq4", "003-eq13", "003-eq16"]
OURS = [
    "003-markov",
    "003-handoffs",
    "003-alike",
    "003-20-round-trips",
    "003-20-distance",
    "003-beyond",
    "003-beyond-readers",
    "003-beyond-friendly",
]
VERDICTS = {"reproduced", "not reproduced", "undecided", "alike"}

READINGS = study().readings

FEW = Extent(
    flows=(10, 20),
    many_flows=(10, 20),
    readers=(10, 20),
    shares=(10, 20),
    errors=(0.0, 0.05),
    crowd_errors=(0.0, 0.05),
    many_errors=(0.0, 0.05),
    spreads=(50, 150),
    round_trips=(200, 240),
    losses=(0.01, 0.05),
    buffers=(0.5, 1.0),
    smooth="18 s",
    handoffs="70 s",
)
LARGE = (
    names.WIRED_10,
    names.WIRED_100,
    names.CONSTANT,
    names.ERRORS_10,
    names.MARKOV,
    names.ERRORS_100,
    names.CONSTANT_ERRORS,
    names.SPREAD,
    names.BEYOND_READERS,
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
    return hurried(study(extent=FEW)).run(out, replications=2), out


def test_the_ledger_has_every_figure_of_the_paper_and_every_claim(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    figures = [one["id"] for one in ledger["figures"]]
    assert sorted(figures) == sorted(PAPER + EQUATIONS + OURS)
    assert [one for one in figures if one in PAPER] == PAPER
    assert [one["id"] for one in ledger["claims"]] == [f"S{number}" for number in range(1, 37)]
    labels = [compared["label"] for one in ledger["claims"] for compared in one["comparisons"]]
    assert any(label.startswith("10 flows: TCP(") for label in labels)
    assert not [label for label in labels if re.match(r"(.+: )\1", label)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS
    assert all(one["estimate"] is not None for one in ledger["claims"])


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in PAPER + EQUATIONS + OURS:
        for kind in ("svg", "png", "csv"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert problems(outcome[1] / "index.html") == []
    assert all(f'id="figure-{name}"' in page for name in PAPER)


def test_the_one_calibration_is_printed_with_what_was_found(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    (calibration,) = ledger["calibrations"]
    assert calibration["target"] == "19 s"
    assert re.match(r"2\d\d ms of round trip give Reno 19 s", calibration["measured"])


def test_every_claim_names_assumptions_that_the_study_lists(outcome):
    described = study(extent=FEW)
    listed = {one.id for one in described.assumptions}
    assert {name for claim in described.claims for name in claim.assumptions} <= listed


def test_every_assumption_that_is_swept_names_its_factors():
    factors = {one.id for one in READINGS.factors}
    named = {name for one in study(extent=FEW).assumptions for name in one.swept.split(", ") if name}
    assert named == factors


def test_allotted_fairness_falls_when_flows_join(outcome):
    from fairwave_studies.smoothness.quantities import ALLOTTED_FAIRNESS

    fairness = outcome[0].data.measured(ALLOTTED_FAIRNESS, names.GROWING).frame
    before, after = (fairness.filter(pl.col("time") == time)["value"].mean() for time in (15.0, 17.0))
    assert after < before


def test_one_figure_can_be_made_alone(tmp_path):
    outcome = hurried(study(extent=FEW)).run(tmp_path, replications=2, figure="003-20")
    assert [one.id for one in outcome.drawings] == ["003-20"]
    assert set(outcome.data.results) == {names.RECOVERY}


def test_the_command_line_finds_it():
    assert find("smoothness").name == "smoothness"


def test_points_that_experiments_share_are_simulated_once():
    grids = study().grids
    hashes = [point.scenario.hash for grid in grids for point in grid.points()]
    assert len(set(hashes)) < len(hashes)


def test_every_value_of_every_factor_but_those_of_judging_changes_what_is_simulated():
    def simulated(part):
        whole = READINGS.essential(READINGS.complete(part))
        return {point.scenario.hash for grid in whole.grids for point in grid.points()}

    base = simulated({})
    for factor in READINGS.factors:
        for value in factor.values[1:]:
            changed = simulated({factor.id: value.name}) != base
            assert changed == (factor.id not in ("success", "recovered")), (factor.id, value.name)


LATE = {"starts": "within 1 s"}
"""Shortened runs end before five seconds."""

ODD = {
    factor.id: factor.values[-1].name
    for factor in READINGS.factors
    if factor.id not in ("rate-of-7", "wireless")
} | LATE


def test_claims_can_be_judged_under_a_reading_far_from_the_base():
    reading = READINGS.complete(ODD)
    assert READINGS.distance(reading) == len(ODD)
    whole = hurried(study(reading, points.ESSENTIAL))
    kept = (names.GROWING, names.SHRINKING)
    data = Data({grid.id: grid.run([1, 2]) for grid in whole.grids if grid.id not in kept})
    base = {one.id: one for one in study().claims}
    for claim in whole.claims:
        if set(claim.grids) & set(kept):
            continue
        evidence = claim.evidence(data)
        assert evidence.comparisons, claim.id
        for wording in claim.wordings.values():
            wording(data)
        assert claim.statement == base[claim.id].statement


def test_the_readings_of_red_are_those_of_its_papers():
    base = READINGS.base()
    old = points.red(120, base)
    assert (old["max-p"], old["gentle"], old["wait"]) == (0.02, False, False)
    assert (old["min-threshold"], old["max-threshold"]) == (20, 60)
    literal = points.red(120, {**base, "red-thresholds": "5 and 15"})
    assert (literal["min-threshold"], literal["max-threshold"]) == (5, 15)
    assert points.red(120, {**base, "red": "ns2-2004"})["preset"] == "ns2-2004"
