"""The study of layered video from end to end, at the fewest points and for seconds instead of minutes."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairwave.layers import study as find
from fairwave_studies.video import points, quantities, study
from fairwave_studies.video.points import Extent
from fairwave_studies.video.systems import DVRC
from fairwave_study.folder import Case
from page_links import problems

FIGURES = [f"002-{number}" for number in (3, *range(6, 21))]
BEYOND = [
    "002-3-causes",
    "002-6-cov",
    "002-7-gaps",
    "002-9-readings",
    "002-11-fullness",
    "002-17-others",
    "decodable",
    "decodable-reverse",
    "judgements",
    "layers",
    "ablation",
    "round-trips",
    "mechanisms",
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
    described = study(extent=FEW)
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
    assert [one["id"] for one in ledger["claims"]] == [f"D{number}" for number in range(1, 37)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS
    assert all(one["estimate"] is not None for one in ledger["claims"])


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in (*FIGURES, *BEYOND):
        for kind in ("svg", "png", "csv"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert problems(outcome[1] / "index.html") == []
    assert all(f'id="figure-{name}"' in page for name in FIGURES)


def test_every_claim_names_assumptions_that_the_study_lists():
    described = study(extent=FEW)
    listed = {one.id for one in described.assumptions}
    assert {name for claim in described.claims for name in claim.assumptions} <= listed


def test_every_assumption_that_is_swept_names_its_factor_and_every_factor_is_one():
    described = study(extent=FEW)
    factors = {one.id for one in described.readings.factors}
    swept = {name for one in described.assumptions if one.swept for name in one.swept.split(", ")}
    assert swept <= factors


def test_every_value_of_every_factor_fits_every_grid_and_changes_something():

    few = replace(FEW, flows=(5,), hops=(1,), layers=(4, 8), load=(1,), errors=(0.03,), contention=(5,))
    found = study().readings
    judging = {"sent", "lost", "late"}
    base = [point.scenario.hash for grid in study(extent=few).grids for point in grid.points()]
    for factor in found.factors:
        for value in factor.values[1:]:
            whole = study({factor.id: value.name}, few)
            changed = [point.scenario.hash for grid in whole.grids for point in grid.points()]
            assert (changed != base) == (factor.id not in judging), (factor.id, value.name)
            assert study({factor.id: value.name}, few, essential=True).claims


def test_what_concerns_dvrc_leaves_other_systems_as_they_are():
    (base,) = (one for one in study(extent=FEW).grids if one.id == points.CROSS)
    found = study().readings
    for factor in ("pace", "reaction", "rise", "alpha", "compared", "measured-over", "gains", "ceiling"):
        for value in found.factor(factor).values[1:]:
            grid = found.apply(base, {factor: value.name})
            same = {
                transport: [p.scenario.hash for p in base.points() if p.labels["transport"] == transport]
                == [p.scenario.hash for p in grid.points() if p.labels["transport"] == transport]
                for transport in ("DVRC", "TFRC", "Westwood+")
            }
            assert same == {"DVRC": False, "TFRC": True, "Westwood+": True}, (factor, value.name)


def test_both_comparisons_stay_beside_each_other_whichever_the_reading_takes():
    found = study().readings
    (base,) = (one for one in study(extent=FEW).grids if one.id == points.BOUND)
    grid = found.apply(base, {"compared": "requested rate"})
    assert [one.scenario.hash for one in grid.points()] == [one.scenario.hash for one in base.points()]


@pytest.mark.parametrize(
    "part",
    [
        {},
        {
            "compared": "requested rate",
            "sent": "what left the sender",
            "lost": "all that did not arrive",
            "buffer-unit": "bytes",
            "late": "gap in excess of the sender's",
            "rates": "20 Mb/s",
            "layers": "half as much",
        },
    ],
)
def test_every_claim_can_be_judged_on_the_essential_points_alone(part):
    from fairwave_study.parts import Data

    short = replace(
        FEW, flows=(5, 40), layers=(4, 5, 8), hops=(1,), contention=(5,), length="3 s", alone="22 s"
    )
    described = study(part, short, essential=True)
    data = Data({grid.id: grid.run([1, 2]) for grid in described.grids})
    assert [claim.id for claim in described.claims] == [f"D{number}" for number in range(1, 37)]
    for claim in described.claims:
        assert set(claim.grids) <= set(data.results)
        assert claim.evidence(data).comparisons, claim.id


def test_labels_of_comparisons_do_not_depend_on_the_reading():
    from fairwave_studies.video.claims import MeasuredTerms, tests

    other = {
        "sent": "what left the sender",
        "lost": "all that did not arrive",
        "buffer-unit": "bytes",
        "late": "gap in excess of the sender's",
    }
    assert MeasuredTerms.from_reading({}).index is not MeasuredTerms.from_reading(other).index
    found = [
        {name: () if callable(test) else tuple(test) for name, test in tests(Case(reading)).items()}
        for reading in ({}, other)
    ]
    assert found[0] == found[1]
    assert any(found[0].values())


def test_the_largest_subscription_is_that_of_the_layers_within_a_rate():
    from fairwave_studies.video.claims import MeasuredTerms

    assert MeasuredTerms().subscription(480.0) == 384.0
    assert MeasuredTerms.from_reading({"layers": "five of 200 kb/s"}).subscription(480.0) == 400.0
    assert MeasuredTerms.from_reading({"layers": "half as much"}).subscription(480.0) == 320.0
    assert MeasuredTerms().subscription(1.0) == 128.0


def test_one_figure_can_be_made_alone(tmp_path):
    made = study(extent=FEW).run(tmp_path, replications=2, figure="002-7")
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
    measured = results.to_polars("units").filter((pl.col("run") == run) & (pl.col("created_s") >= 2))
    largest = quantities.with_jitter(measured)["jitter_s"].max()
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
        .select(flows=40, tcp=20, transport=DVRC)
        .frame["value"]
        .to_numpy()
        for group in ("video", "ftp")
    }
    together = (40 * shares["video"] + 20 * shares["ftp"]) / 60
    assert np.all((together > 0.85) & (together < 1.02))


def test_points_that_experiments_share_are_simulated_once():
    hashes = [point.scenario.hash for grid in study().grids for point in grid.points()]
    assert len(set(hashes)) < len(hashes)


def test_every_split_carries_the_same_video():
    for split in points.SPLITS.values():
        for count in range(1, 9):
            rates = [float(one.split()[0]) for one in split(count)]
            assert len(rates) == count
            assert sum(rates) == pytest.approx(points.TOTAL_KILOBITS, rel=1e-4)


def units(**columns):
    """Flows of a run in the simulator's form, one row of one video, and its measure."""
    base = {
        "run": 0, "group": "video", "flow": 0, "units_sent": 0, "units_in_flight": 0, "units_received": 0,
        "units_lost": 0, "units_waiting": 0, "sender_backlog": 0.0, "goodput_bps": 0.0, "packets_sent": 0,
        "packets_retransmitted": 0, "dropped": 0, "lost": 0,
    }  # fmt: skip
    rows = pl.DataFrame([{**base, **columns}], schema_overrides={"sender_backlog": pl.Float64})

    class Flows:
        def to_polars(self, table):
            assert table == "flows"
            return rows

    return Flows()


def value(measure, results):
    return measure.reduce(results)["value"][0]


def test_what_waits_in_a_sender_was_made_and_neither_dropped_nor_delivered():
    # TFRC: of 3532 units made, 500 arrived, 20 were lost, 3000 wait, 12 are in transit; the simulator counts 2993 in
    # flight.
    tfrc = units(
        units_sent=539, units_in_flight=2993, units_received=500, units_lost=20, units_waiting=19,
        sender_backlog=3.0e6, goodput_bps=80e3, packets_sent=532, dropped=15, lost=5,
    )  # fmt: skip
    found = quantities.accounts(tfrc).to_dicts()[0]
    assert found["made"] == 3532
    assert found["never_left"] == pytest.approx(3012, rel=0.001)
    assert value(quantities.NEVER_LEFT, tfrc) == pytest.approx(100 * 3012 / 3532, rel=0.001)
    assert value(quantities.DROPPED_OF_MADE, tfrc) == pytest.approx(100 * 20 / 532 * 520 / 3532, rel=0.01)
    assert value(quantities.MISSING_OF_MADE, tfrc) == pytest.approx(100 * 3032 / 3532, rel=0.001)


def test_over_tcp_all_that_has_not_arrived_waits_and_copies_that_are_lost_are_drops():
    tcp = units(
        units_sent=600, units_in_flight=400, units_received=500, units_waiting=100, sender_backlog=None,
        packets_sent=550, packets_retransmitted=50, dropped=50,
    )  # fmt: skip
    assert value(quantities.NEVER_LEFT, tcp) == pytest.approx(50)
    assert value(quantities.DROPPED_OF_MADE, tcp) == pytest.approx(100 * 50 / 500 * 0.5)
    assert value(quantities.MISSING_OF_MADE, tcp) == pytest.approx(50)


def test_what_is_under_way_over_a_sender_that_holds_nothing_back_is_not_missing():
    dvrc = units(
        units_sent=995, units_in_flight=5, units_received=965, units_lost=30, goodput_bps=1e6, packets_sent=1000,
        lost=30,
    )  # fmt: skip
    assert value(quantities.NEVER_LEFT, dvrc) == 0
    assert value(quantities.DROPPED_OF_MADE, dvrc) == pytest.approx(3.0)
    assert value(quantities.MISSING_OF_MADE, dvrc) == pytest.approx(3.0)
    nothing = units()
    assert np.isnan(value(quantities.NEVER_LEFT, nothing))


def test_buffers_in_bytes_hold_the_same_product_whatever_else_a_reading_takes():
    def capacities(part, grid):
        few = replace(FEW, flows=(5,), hops=(3,), layers=(4,), load=(1,), errors=(0.03,), contention=(5,))
        (found,) = (one for one in study({"buffer-unit": "bytes", **part}, few).grids if one.id == grid)
        topology = found.points()[0].scenario.to_dict()["topology"]
        return {
            link: topology[link]["queue"]["capacity"]["bytes"]
            for link in ("bottleneck", "first-bottleneck", "shared-bottleneck")
            if link in topology
        }

    assert capacities({}, points.SINGLE) == {"bottleneck": 8750}
    assert capacities({}, points.FRIENDLY) == {"bottleneck": 87_500}
    assert capacities({}, points.HOPS) == {"bottleneck": 10_000}
    assert capacities({"hop-delay": "25 ms", "buffers": "twice that"}, points.CHAIN) == {
        "bottleneck": 675_000
    }
    both = {"rates": "5 and 10 Mb/s", "buffers": "rate × one way"}
    assert capacities(both, points.CROSS) == {"first-bottleneck": 25_000, "shared-bottleneck": 50_000}
    assert capacities({"rates": "20 Mb/s"}, points.CROSS) == dict.fromkeys(
        ("first-bottleneck", "shared-bottleneck"), 200_000
    )


def test_every_experiment_is_about_a_claim_and_its_sides_are_readings():
    described = study(extent=FEW)
    found = described.readings
    for one in described.experiments:
        assert one.claim in {claim.id for claim in described.claims}
        assert len({side.label for side in one.sides}) == len(one.sides) >= 2
        assert all(found.complete(side.reading) for side in one.sides)
    for account in described.accounts:
        assert found.complete(account.setup)
