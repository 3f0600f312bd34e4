"""The study of layered video from end to end, at the fewest points and for seconds instead of minutes."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairwave.studies import find
from fairwave.studies.video import points, quantities, study
from fairwave.studies.video.points import Extent
from fairwave.studies.video.systems import DVRC

FIGURES = [f"002-{number}" for number in (3, *range(6, 21))]
BEYOND = [
    "002-9-readings",
    "decodable",
    "decodable-reverse",
    "judgements",
    "layers",
    "ablation",
    "round-trips",
]
VERDICTS = {"reproduced", "not reproduced", "undecided"}

FEW = Extent(
    flows=(5, 40),
    crowd=(20,),
    hops=(1, 3),
    layers=(1, 2, 4, 5, 8),
    contention=(10,),
    errors=(0.0, 0.03),
    load=(1, 2),
    length="4 s",
    alone="22 s",
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    out = tmp_path_factory.mktemp("video")
    described = study(FEW)
    short = {points.QUEUE: "4 s", points.HOPS: "15 s"}
    grids = [
        replace(one, base=one.base.with_overrides({"duration": short[one.id]})) if one.id in short else one
        for one in described.grids
    ]
    return replace(described, grids=grids).run(out, replications=2), out


@pytest.fixture(scope="module")
def ledger(outcome):
    return json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))


def test_the_ledger_has_every_figure_of_the_paper_and_every_claim(ledger):
    assert {one["id"] for one in ledger["figures"]} == {*FIGURES, *BEYOND}
    assert [one["id"] for one in ledger["claims"]] == [f"D{number}" for number in range(1, 14)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS
    assert all(one["estimate"] is not None for one in ledger["claims"])


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in (*FIGURES, *BEYOND):
        for kind in ("svg", "png", "csv"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?:', page)
    assert all(f'id="figure-{name}"' in page for name in FIGURES)


def test_every_claim_names_assumptions_that_the_study_lists():
    described = study(FEW)
    listed = {one.id for one in described.assumptions}
    assert {name for claim in described.claims for name in claim.assumptions} <= listed


def test_every_assumption_that_is_swept_names_its_tables():
    described = study(FEW)
    tables = {one.id for one in described.sensitivities}
    named = {name.split(";")[0] for one in described.assumptions for name in one.swept.split(", ") if name}
    assert named <= tables


def test_settings_of_dvrc_leave_other_systems_as_they_are():
    from fairwave.studies.video import sensitivities

    (grid,) = (one for one in sensitivities.grids() if one.id == "cross-settings")
    hashes = {
        transport: {
            point.scenario.hash
            for point in grid.points()
            if point.labels["transport"] == transport
            and point.labels["flows"] == 20
            and point.labels["setting"] in sensitivities.RATE
        }
        for transport in ("DVRC", "TFRC")
    }
    assert (len(hashes["DVRC"]), len(hashes["TFRC"])) == (len(sensitivities.RATE), 1)


def test_one_figure_can_be_made_alone(tmp_path):
    made = study(FEW).run(tmp_path, replications=2, figure="002-7")
    assert [one.id for one in made.drawings] == ["002-7"]
    assert set(made.data.results) == {points.SINGLE}


def test_the_command_line_finds_it():
    assert find("video").name == "video"


def test_the_jitter_over_time_reaches_what_the_simulator_measures(outcome):
    results = outcome[0].data.results[points.SINGLE]
    run = results.to_polars("runs").filter(pl.col("transport").cast(pl.String) == DVRC)["run"][0]
    flows = results.to_polars("flows").filter(
        pl.col("run") == run, pl.col("group").cast(pl.String) == "video"
    )
    largest = quantities.arrivals(results, run)["jitter_s"].max()
    assert largest == pytest.approx(flows["jitter_max_s"][0], rel=1e-6)


def test_no_words_of_an_explanation_are_left_unfilled(ledger):
    assert not [one["id"] for one in ledger["claims"] if "{" in one["explanation"]]


def test_eq_12_and_13_by_hand():
    # Transit 10, 26, 26, 10 ms: |D| = 16, 0, 16; J = 1, 15/16, 15/16·15/16 + 1. The unit that is lost does not count.
    created, transit = np.array([0.0, 0.04, 0.08, 0.12, 0.16]), np.array([0.010, 0.026, np.nan, 0.026, 0.010])
    fates = ["arrived", "arrived", "lost", "arrived", "arrived"]
    found = quantities.with_jitter(
        pl.DataFrame({"created_s": created, "arrived_s": created + transit, "fate": fates})
    )
    assert found["difference_s"].to_list() == pytest.approx([0.016, 0.0, 0.016])
    assert found["jitter_s"].to_list() == pytest.approx([0.001, 0.0009375, 0.00187890625])
    assert found["gap_s"].to_list() == pytest.approx([0.056, 0.08, 0.024])


def test_every_lost_packet_that_was_judged_is_counted_under_one_cause(outcome):
    data = outcome[0].data
    flows = data.results[points.BOUND].to_polars("flows").filter(group="video")
    counted = data.measured(quantities.CAUSES, points.BOUND).frame["value"].sum()
    assert 0 < counted <= (flows["dropped"] + flows["lost"]).sum()


def test_normalised_throughputs_weighted_by_flows_come_to_the_use_of_the_link(outcome):
    data = outcome[0].data
    shares = {
        group: data.measured(quantities.normalised(group, points.MEGABITS), points.FRIENDLY)
        .at(flows=40, tcp=20, transport=DVRC)
        .frame["value"]
        .to_numpy()
        for group in ("video", "ftp")
    }
    together = (40 * shares["video"] + 20 * shares["ftp"]) / 60
    assert np.all((together > 0.85) & (together < 1.02))


def test_points_that_experiments_share_are_simulated_once():
    hashes = [point.scenario.hash for grid in points.grids(points.PAPER) for point in grid.points()]
    assert len(set(hashes)) < len(hashes)


def test_every_split_carries_the_same_video():
    for split in points.SPLITS.values():
        for count in range(1, 9):
            rates = [float(one.split()[0]) for one in split(count)]
            assert len(rates) == count
            assert sum(rates) == pytest.approx(points.TOTAL_KILOBITS, rel=1e-4)
