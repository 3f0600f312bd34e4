"""The study of dropping from end to end, in runs of 20 s instead of 500."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairwave import _native
from fairwave.studies import find
from fairwave.studies.dropping import agreement, points, published, recognition, study
from fairwave.studies.dropping import quantities as q
from fairwave.studies.dropping.points import Extent

LETTERS = {4: "abcd", 5: "abcd", 6: "ab", 7: "ab", 8: "abcd", 9: "abcdef"}
PAPER = [f"004-{number}{letter}" for number, letters in LETTERS.items() for letter in letters]
TABLES = [f"table-{number}" for number in range(5, 10)]
VERDICTS = {"reproduced", "not reproduced", "undecided"}
SHORT = Extent(duration="20 s", spoken=False)


ONE_OF_EACH = ("004-4b", "004-5c", "004-6a", "004-7b", "004-8c", "004-9e", "guard-CA6")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The whole study, but for figures that differ in nothing but their case: drawing takes longer than simulating."""
    out = tmp_path_factory.mktemp("dropping")
    described = study(SHORT)
    few = [one for one in described.figures if one.id in ONE_OF_EACH]
    return replace(described, figures=few).run(out, replications=2), out


def test_every_figure_and_table_of_the_paper_is_described():
    described = study(SHORT)
    assert [one.id for one in described.figures][: len(PAPER)] == PAPER
    assert [one.id for one in described.tables][: len(TABLES)] == TABLES


def test_the_ledger_has_every_table_and_claim_of_the_paper(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["tables"]][: len(TABLES)] == TABLES
    assert [one["id"] for one in ledger["claims"]] == [f"Q{number}" for number in range(1, 13)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in ONE_OF_EACH:
        for kind in ("svg", "png", "csv"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?:', page)
    assert all(f'id="figure-{name}"' in page for name in ONE_OF_EACH)


def test_the_one_calibration_is_printed_with_what_was_found(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    (calibration,) = ledger["calibrations"]
    assert calibration["target"] == "83 ms"
    assert f"{points.CALIBRATED:g} packets" in calibration["setting"]
    assert calibration["measured"].endswith("ms of queueing delay")


def test_what_claims_hang_on_and_tables_sweep_is_listed():
    described = study(SHORT)
    listed = {one.id for one in described.assumptions}
    assert {name for claim in described.claims for name in claim.assumptions} <= listed
    swept = {name for one in described.assumptions for name in one.swept.split(", ") if name}
    assert swept == {one.id for one in described.sensitivities}


def test_nothing_is_unaccounted_for_per_class_and_cause_in_any_run(outcome):
    data = outcome[0].data
    for grid, results in data.results.items():
        assert set(data.measured(q.UNSETTLED, grid).frame["value"]) == {0.0}, grid
        assert data.measured(q.IN_FLIGHT, grid).frame["value"].min() >= 0, grid
        # What a class lost at queues is what its flows lost there.
        rows = results.to_polars("classes").filter(pl.col("class").cast(pl.String) == "voice")
        at_queues = rows.group_by("run", maintain_order=True).agg(
            (pl.col("dropped_overflow") + pl.col("dropped_early")).sum().alias("dropped")
        )
        of_flows = q.voice(results).group_by("run", maintain_order=True).agg(pl.col("dropped").sum())
        assert at_queues.sort("run")["dropped"].to_list() == of_flows.sort("run")["dropped"].to_list(), grid


def test_queue_late_and_link_make_the_whole_loss(outcome):
    data = outcome[0].data
    whole, *parts = (
        data.measured(one, points.ON_OFF).frame["value"].to_numpy()
        for one in (q.TOTAL_LOSS, q.QUEUE_LOSS, q.LATE_LOSS, q.LINK_LOSS)
    )
    assert np.allclose(whole, sum(parts))
    assert whole.max() > 0


@pytest.mark.parametrize("case", points.CASES)
def test_each_case_offers_its_shares_of_the_load(case):
    if case in points.S3_CASES:
        base, total = points.read("routers.toml"), 6.74e6
    else:
        base, total = points.dumbbell(), 5.24e6
    plan = base.with_overrides(points.shares(case)).plan()
    calls = {"a": 92 / 0.01, "b": 252 / 0.03, "b-near": 252 / 0.03, "b-far": 252 / 0.03, "c": 492 / 0.06}
    offered = dict.fromkeys(("voice", "other-udp", "tcp"), 0.0)
    for flow in plan["flows"]:
        group = flow["name"].split("[")[0]
        rate = 8 * calls[group] if group in calls else {"other": 64e3, "ftp": 262e3}[group]
        offered["voice" if group in calls else {"other": "other-udp", "ftp": "tcp"}[group]] += rate
    for name, percent in zip(offered, points.CASES[case], strict=True):
        # A class is made of whole flows.
        assert abs(100 * offered[name] / total - percent) < (2.6 if name == "tcp" else 1.0), name


def test_ca7_has_the_papers_ten_calls_with_the_far_ones_at_269_ms():
    plan = points.dumbbell(**points.on_off(), **points.shares("CA7")).plan()
    names = {flow["name"] for flow in plan["flows"]}
    assert {name for name in names if not name.startswith(("other", "ftp"))} == set(
        recognition.PLACES.values()
    )
    delays = {link["name"]: 1e3 * link["delay_s"] for link in plan["links"]}
    far = delays["b-far-s0>r1"] + delays["r1>r2"] + delays["r2>b-far-d0"]
    near = delays["a-s0>r1"] + delays["r1>r2"] + delays["r2>a-d0"]
    assert (near, far) == pytest.approx((39, 269))


def test_the_printed_e_model_is_equation_1_and_refuses_what_is_no_delay_or_loss():
    rating, opinion = _native.simplified_quality(0.2773, 0.1)
    assert rating == pytest.approx(94.2 - 11 - 6.6552 - 30 * np.log(2.5))
    assert 1 < opinion < 4.5
    for delay, loss in ((-1.0, 0.0), (0.1, 1.5), (float("nan"), 0.0)):
        with pytest.raises(ValueError, match="fraction from 0 to 1"):
            _native.simplified_quality(delay, loss)


def test_the_variance_from_the_distribution_is_that_of_the_packets():
    heard = {f"flow.{group}.timely": points.THRESHOLDS for group in points.VOICE}
    base = points.dumbbell(Extent("20 s"), **heard, **{"record.units": ["*"]})
    results = base.replicate(1)
    units = results.to_polars("units").filter(~pl.col("flow").cast(pl.String).str.starts_with("other"))
    delays = (1e3 * (units["arrived_s"] - units["created_s"])).drop_nans()
    (found,) = q.VARIANCE.over(results).frame["value"]
    assert found == pytest.approx(delays.var(), rel=0.1)
    cdf = q.CDF.over(results).frame
    at_100 = cdf.filter(pl.col("delay") == 100)["value"][0]
    assert at_100 == pytest.approx((delays <= 100).mean(), abs=1e-9)


def test_a_figure_can_be_made_alone(tmp_path):
    outcome = study(SHORT).run(tmp_path, replications=2, figure="004-4b")
    assert [one.id for one in outcome.drawings] == ["004-4b"]
    assert set(outcome.data.results[points.ALWAYS_ON].to_polars("runs")["case"]) == {"CA2"}


def test_the_command_line_finds_it():
    assert find("dropping").name == "dropping"


def test_two_victims_that_stand_the_other_way_round_are_told_and_losses_alike_are_not():
    assert agreement._way(5.0, 1.0) == 1
    assert agreement._way(1.0, 5.0) == -1
    assert agreement._way(0.05, 0.0) == 0
    swapped = agreement.Order("CA5", "RED", "total", {}, {}, [("Drop-Tail", "Drop-Front")])
    assert not swapped.agrees


def test_rank_correlation_is_one_for_the_same_order_and_leaves_out_what_is_missing():
    assert agreement.spearman([1, 2, 3, 9], [10, 20, 30, 31]) == (1.0, 4)
    assert agreement.spearman([3, 2, 1, float("nan")], [10, 20, 30, 31]) == (-1.0, 3)
    assert np.isnan(agreement.spearman([1, 2], [1, 2])[0])


def test_the_papers_tables_are_whole():
    for tables in (published.LOSS_S2, published.LOSS_S3):
        for case, rows in tables.items():
            for cell in published.CELLS:
                parts = sum(row[cell] for part, row in rows.items() if part != published.TOTAL)
                # Two cells of the paper do not add up to the last digit.
                assert parts == pytest.approx(rows[published.TOTAL][cell], abs=0.02), (case, cell)


def test_calls_of_ca7_are_heard_as_the_network_left_them(monkeypatch, tmp_path):
    pytest.importorskip("pocketsphinx")
    from fairwave.speech.fetch import Recordings

    if Recordings().digit_model() is None or Recordings().prompts() is None:
        pytest.skip("recordings or model have not been fetched")
    monkeypatch.setattr(recognition, "SENTENCES", 1)
    monkeypatch.setattr(points, "QUEUES", ("RED",))
    outcome = study(Extent(duration="30 s", random=False)).run(tmp_path, replications=1, figure="table-8")
    found = recognition.heard(outcome.data)
    assert not found.missing
    assert set(found.frame["flow"]) == set(published.FLOWS)
    near, far = (
        recognition.accuracy(found, "words", flow=flows, victim=points.DROP_SEL, method="appendix-i")[0]
        for flows in (("A1", "A2"), ("B4", "B5", "B6"))
    )
    assert near > far, "31 ms of queueing are soon used up"
