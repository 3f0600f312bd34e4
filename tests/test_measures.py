"""Measures: from tables of rows to one number per run."""

import math
import re
from pathlib import Path

import polars as pl
import pytest

from fairwave.measuring import measures
from fairwave.measuring.measures import Measure
from made_up import made_up

ROOT = Path(__file__).parents[1]


def test_goodput_is_the_sum_over_the_group(results):
    assert measures.goodput("voice").compute(results).samples(transport="udp") == pytest.approx(
        [(30_000 + 2 * seed) / 1e6 for seed in (1, 2, 3)]
    )


def test_loss_is_a_share_of_what_the_application_sent(results):
    assert measures.loss("voice").compute(results).samples(transport="tcp/vegas") == pytest.approx(
        [11, 11, 11]
    )


def test_index_is_timely_over_sent_by_each_reading(results):
    for reading, timely in (("gap", 83), ("excess-gap", 88), ("delay", 91), ("sequence", 81)):
        found = measures.index("voice", reading, 0.3).compute(results).samples(transport="udp")
        assert found == pytest.approx([timely / 100] * 3)


def test_index_takes_the_first_threshold_unless_one_is_named(results):
    assert measures.index("voice", "gap").compute(results).samples(transport="udp")[0] == pytest.approx(0.81)


def test_thresholds_become_an_axis(results):
    measured = measures.index_by_threshold("voice", "gap").compute(results)
    assert measured.axes == ("transport", "threshold")
    assert measured.labels("threshold") == [150.0, 300.0]
    assert measured.samples(transport="udp", threshold=300.0) == pytest.approx([0.83] * 3)


def test_a_measure_that_does_not_apply_is_not_a_number(results):
    mos = measures.mos("voice").compute(results)
    assert mos.interval(transport="udp").mean == pytest.approx(4.0)
    assert math.isnan(mos.interval(transport="tcp/vegas").mean)
    assert math.isnan(measures.goodput("nobody").compute(results).interval(transport="udp").mean)


def test_a_table_that_the_runs_did_not_leave_makes_a_measure_not_a_number(results):
    del results.tables["timeliness"]
    assert math.isnan(measures.index("voice").compute(results).interval(transport="udp").mean)


def test_late_for_playout_is_the_share_of_what_arrived_in_calls_alone(results):
    flows = results.to_polars("flows").filter(pl.col("run") == 0)
    expected = 100 * flows["late_units"].sum() / flows["units_received"].sum()
    assert expected > 0
    late = measures.late_for_playout("voice").compute(results)
    assert late.samples(transport="udp")[0] == pytest.approx(expected)
    assert math.isnan(late.interval(transport="tcp/vegas").mean)


def test_mouth_to_ear_and_the_costs_of_r_are_means_over_calls(results):
    flows = results.to_polars("flows").filter(pl.col("run") == 0)
    mouth_to_ear = measures.mouth_to_ear("voice").compute(results).samples(transport="udp")[0]
    assert mouth_to_ear == pytest.approx(1e3 * flows["mouth_to_ear_s"].mean())
    cost = {
        cause: measures.r_cost(cause, "voice").compute(results).samples(transport="udp")[0]
        for cause in measures.CAUSES
    }
    assert cost["delay"] + cost["loss"] == pytest.approx(15.0)
    assert (cost["codec"], cost["lateness"]) == (0.0, 1.0)


def test_delay_weighs_flows_by_what_they_received(results):
    assert measures.delay("voice").compute(results).interval(transport="udp").mean == pytest.approx(50)


def test_fairness_is_what_the_simulator_measured(results):
    expected = results.to_polars("groups")["jain"][0]
    assert measures.fairness("voice").compute(results).samples(transport="udp")[0] == expected


def test_fairness_of_several_groups_at_once_is_refused():
    import polars as pl

    results = made_up()
    groups = results.to_polars("groups")
    results.tables["groups"] = pl.concat([groups, groups.with_columns(group=pl.lit("files"))]).to_arrow()
    with pytest.raises(ValueError, match="name one of voice, files"):
        measures.fairness().compute(results)


def test_an_unknown_measure_is_told_which_there_are():
    with pytest.raises(KeyError, match="no measure 'godput'; did you mean 'goodput'"):
        measures.find("godput")


def test_what_is_not_defined_is_null_and_counted(results):
    mos = measures.mos("voice").compute(results)
    assert mos.frame["value"].null_count() == 3
    assert not mos.frame["value"].is_nan().any()
    averaged = mos.averaged("transport")
    assert averaged.frame["value"].to_list() == pytest.approx([4.0] * 3)
    summary = {row["transport"]: row for row in mos.summary().to_dicts()}
    assert (summary["udp"]["n"], summary["udp"]["undefined"]) == (3, 0)
    assert (summary["tcp/vegas"]["mean"], summary["tcp/vegas"]["n"]) == (None, 0)
    assert summary["tcp/vegas"]["undefined"] == 3


def test_the_rating_is_the_tables_number(results):
    flows = results.to_polars("flows").filter(pl.col("transport").cast(pl.String) == "udp")
    r = measures.r_factor("voice").compute(results).samples(transport="udp")
    assert r == pytest.approx([flows["r_factor"].mean()] * 3)


def test_the_worst_flow_is_told_where_there_are_several(results):
    assert measures.worst_goodput("voice").compute(results).samples(transport="udp") == pytest.approx(
        [(10_000 + seed) / 1e3 for seed in (1, 2, 3)]
    )
    assert measures.worst_loss("voice").compute(results).samples(transport="udp") == pytest.approx(
        [10, 10, 10]
    )
    assert measures.worst_mos("voice").compute(results).samples(transport="udp") == pytest.approx([4.0] * 3)


def test_a_single_flow_has_no_worst(results):
    alone = made_up(flows=1)
    for measure in (measures.worst_goodput, measures.worst_loss, measures.worst_mos):
        assert math.isnan(measure("voice").compute(alone).interval(transport="udp").mean)


def test_packets_missed_are_lost_late_or_waiting_by_what_the_flow_is():
    flows = pl.DataFrame(
        {
            "run": [0, 0, 0],
            "group": ["call", "video", "stream"],
            "flow": [0, 0, 0],
            "units_sent": [100, 100, 100],
            "units_lost": [2, 2, 2],
            "units_waiting": [3, 3, 3],
            "late_units": [8, 8, 0],
            "missed_ratio": [0.12, None, None],
            "decodable_ratio": [None, 0.9, None],
        }
    )
    results = made_up(transports=("udp",), seeds=(1,))
    results.tables["flows"] = flows.to_arrow()
    found = {
        name: measures.missed(name).compute(results).interval().mean for name in ("call", "video", "stream")
    }
    assert found == pytest.approx({"call": 12.0, "video": 10.0, "stream": 5.0})
    assert measures.waiting("stream").compute(results).interval().mean == pytest.approx(3.0)


def test_no_interval_leaves_the_scale_of_its_measure(results):
    for measure in (measures.mos, measures.loss, measures.fairness, measures.missed):
        for row in measure("voice").compute(results).summary().to_dicts():
            least, most = measure("voice").limits
            assert row["low"] is None or least <= row["low"] <= row["high"] <= most


def test_the_page_of_measures_has_every_measure_of_the_list():
    from validation.pages import measures as page

    listed = page.table()
    assert set(re.findall(r"^\| `([\w-]+)` \|", listed, re.MULTILINE)) == set(measures.STANDARD) - set(
        measures.OWN
    )


def test_where_a_measure_is_shown_is_said_once():
    kinds = {
        kind: [one.id for one in measures.list_measures("g", kind)] for kind in ("stream", "transfer", "bulk")
    }
    assert kinds["transfer"][:2] == ["video-rate", "stalled"]
    assert kinds["bulk"][:2] == ["goodput", "worst-goodput"]
    assert kinds["stream"][0] == "conversation-mos"
    for kind, ids in kinds.items():
        assert {"fairness", "refused"} <= set(ids), kind
    beside = [one.id for one in measures.list_measures("g", "transfer", beside=True)]
    assert beside == [
        "video-rate", "stalled", "completion", "completion-median", "completion-p95", "slowdown", "unfinished",
        "goodput", "retransmitted", "fairness", "refused",
    ]  # fmt: skip


def test_labels_of_a_measures_own_axis_may_be_words(results):
    def reduce(results):
        runs = results.rows("runs")["run"].to_list()[1:]  # the first run has none
        return {
            "run": [run for run in runs for _ in "ab"],
            "class": list("ab") * len(runs),
            "value": [1.0, 2.0] * len(runs),
        }

    found = Measure("by_class", "by class", "", reduce, axes=("class",)).compute(results)
    assert found.labels("class") == [None, "a", "b"]
    assert set(found.select(**{"class": "b"}).values) == {2.0}


def test_the_measure_of_the_page_works_as_a_built_in_one(monkeypatch, capsys):
    page = (ROOT / "docs" / "add-a-measure.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(ROOT)
    before = dict(measures.STANDARD)
    try:
        scope = {"__name__": "__main__"}
        exec(compile(code, "add-a-measure.md", "exec"), scope)
        arrived = measures.find("arrived", "voice")
        assert (arrived.label, arrived.limits, arrived.better) == (
            "voice packets arrived (%)",
            (0, 100),
            "higher",
        )
        assert arrived in measures.list_measures("voice", "stream")
        flows = scope["results"].rows("flows").only(group="voice")
        received, sent = (flows.numbers(name).sum() for name in ("units_received", "units_sent"))
        assert scope["results"].measured("arrived", "voice").interval().mean == pytest.approx(
            100 * received / sent, abs=0.5
        )
    finally:
        measures.STANDARD.clear()
        measures.STANDARD.update(before)
    assert "mean" in capsys.readouterr().out


def test_each_measure_of_the_order_exists():
    assert set(measures.ORDER) <= set(measures.STANDARD)
    assert list(measures.STANDARD)[: len(measures.ORDER)] == list(measures.ORDER)
