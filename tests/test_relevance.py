"""A difference that no user notices is not an advantage: alternatives are better, alike or undecided."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fairwave as fairwave_
from fairwave.answers.lines import as_data, caption, lines
from fairwave.answers.verdict import judge_comparison
from fairwave.ask.requiring import judge
from fairwave.ask.searching import Search, reversals
from fairwave.ask.wording import condition
from fairwave.measuring import measures
from fairwave.measuring.relevance import (
    ROWS,
    TABLE,
    USUAL,
    RelevanceError,
    Relevant,
    contrast,
    outcome,
    relevance,
    row_of,
)
from fairwave.measuring.statistics import Interval
from pages.test_answer import calls


def apart(mean, half, n=10):
    return Interval(mean, mean - half, mean + half, n)


@pytest.mark.parametrize(
    ("mean", "half", "expected"),
    [
        (0.30, 0.10, "higher"),
        (-0.30, 0.10, "lower"),
        (0.10, 0.00, "higher"),  # the smallest difference that counts does count
        (0.02, 0.01, "alike"),  # significant and not relevant
        (-0.02, 0.01, "alike"),
        (0.00, 0.00, "alike"),
        (0.12, 0.05, "undecided"),  # significant and perhaps not relevant
        (0.05, 0.30, "undecided"),
    ],
)
def test_the_interval_of_the_difference_decides_between_three_outcomes(mean, half, expected):
    assert outcome(apart(mean, half), 0.1) == expected


def test_one_pair_of_runs_decides_nothing():
    assert outcome(apart(0.0, np.inf, n=1), 0.1) == "undecided"


def test_where_any_difference_counts_only_equal_values_are_alike():
    assert outcome(apart(0.02, 0.01), 0.0) == "higher"
    assert outcome(apart(0.02, 0.03), 0.0) == "undecided"
    assert outcome(apart(0.0, 0.0), 0.0) == "alike"


def test_a_share_is_one_of_the_larger_mean():
    one_percent = contrast([1.01, 1.01, 1.01], [1.0, 1.0, 1.0], Relevant(0.02, is_share=True))
    assert one_percent.counts == pytest.approx(0.0202)
    assert one_percent.outcome == "alike"
    five_percent = contrast([1.0, 1.0], [1.05, 1.05], Relevant(0.02, is_share=True))
    assert five_percent.outcome == "lower"


@pytest.mark.parametrize("name", list(measures.STANDARD))
def test_every_measure_has_a_difference_in_its_unit(name):
    measure = measures.find(name)
    found = USUAL.find(measure)
    assert found.amount > 0
    assert found.is_share or found.unit in {"", measure.unit}


def test_rows_name_each_measure_once():
    named = [one for row in TABLE for one in row.ids]
    assert len(set(named)) == len(named)
    ids = {measures.find(name).id for name in measures.STANDARD}
    assert set(named) <= ids


def test_users_change_a_row_a_measure_and_a_unit():
    found = relevance(["mos=0.2", "delay=0.02 s", "loss=1 %", "goodput=5 %", "worst-goodput=0.1 Mb/s"])
    assert found.find(measures.worst_mos()) == Relevant(0.2)
    assert found.find(measures.mouth_to_ear()).amount == pytest.approx(20)
    assert str(found.find(measures.missed())) == "1 points"
    assert found.find(measures.goodput_per_flow()) == Relevant(0.05, is_share=True)
    assert found.find(measures.worst_goodput()).difference(1e6, 2e6) == pytest.approx(100)
    times = relevance(["completion=100 ms", "silence=0.2 s"])
    assert times.find(measures.completion_p95()).amount == pytest.approx(0.1)
    assert times.find(measures.video_outage()).amount == pytest.approx(0.2)
    assert found.find(measures.jitter()) == row_of(measures.jitter()).relevant
    assert relevance({"mos": 0.2, "goodput": "5 %"}).find(measures.mos()) == Relevant(0.2)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("mos", "MEASURE=DIFFERENCE"),
        ("moss=0.1", "did you mean 'mos'?"),
        ("mos=-1", "0 or more"),
        ("mos=little", "0 or more"),
        ("mos=1 ms", "no unit, not in ms"),
        ("delay=3 Mb/s", "delay is in ms, not in Mb/s"),
        ("goodput=3", "'goodput=2 %'"),
    ],
)
def test_a_difference_that_cannot_be_read_is_refused_with_what_to_write(text, part):
    with pytest.raises(RelevanceError, match=part):
        relevance([text])


def test_a_name_is_changed_once():
    with pytest.raises(RelevanceError, match="two"):
        relevance(["mos=0.1", "mos=0.2"])


def compared(scores, relevant=()):
    results = calls(scores)
    found = lines(results, "transport", "voice", [measures.mos("voice")], relevance=relevance(relevant))
    return found, judge_comparison(found, "transport", "voice", results).sentences[-1]


def test_identical_alternatives_are_alike():
    _, said = compared({"udp": [3.5, 3.9, 3.7], "tfrc": [3.5, 3.9, 3.7]})
    assert said == "UDP and TFRC are alike: they do not differ."


def test_a_significant_difference_that_no_user_notices_is_alike():
    found, said = compared({"udp": [3.52, 3.92, 3.72], "tfrc": [3.5, 3.9, 3.7]})
    assert said == (
        "UDP and TFRC are alike: they differ by 0.02 points of MOS in each of 3 runs (95 %, paired by seed; "
        "differences count from 0.1)."
    )
    assert found[0].best == frozenset()
    (first, second) = as_data(found, "transport")
    assert second["difference_is"] == "alike"
    assert second["relevant_difference"] == 0.1
    assert first["best"] == second["best"] is False


def test_a_smaller_limit_makes_the_same_difference_count():
    found, said = compared({"udp": [3.52, 3.92, 3.72], "tfrc": [3.5, 3.9, 3.7]}, ["mos=0.01"])
    assert said.startswith("UDP is best, ahead of TFRC by 0.02")
    assert "differences count from 0.01" in said
    assert found[0].best == frozenset({"udp"})
    assert "mos 0.01" in caption(found)


def test_a_larger_limit_makes_a_difference_alike():
    scores = {"udp": [3.8, 4.2, 4.0], "tfrc": [3.5, 3.9, 3.7]}
    assert compared(scores)[1].startswith("UDP is best, ahead of TFRC by 0.30")
    assert compared(scores, ["mos=0.5"])[1].startswith("UDP and TFRC are alike")


def test_a_difference_that_is_significant_and_may_not_count_is_undecided():
    _, said = compared({"udp": [3.62, 4.03, 3.81], "tfrc": [3.5, 3.9, 3.7]})
    assert said.startswith("Undecided: UDP is ahead of TFRC by 0.12 ± ")
    assert "which may not count" in said


def test_the_two_best_are_alike_although_a_third_is_worse():
    found, said = compared({"udp": [4.0, 4.1, 4.2], "tfrc": [4.01, 4.11, 4.21], "tcp/vegas": [2.0, 2.1, 2.2]})
    assert said.startswith("No single best: TFRC and UDP are alike")
    assert found[0].best == frozenset({"udp", "tfrc"})


def test_less_delay_is_ahead_by_a_positive_number():
    results = calls({"udp": [4.0, 4.0, 4.0], "tfrc": [4.0, 4.0, 4.0]})
    flows = results.to_polars("flows").with_columns(
        delay_mean_s=np.where(results.to_polars("flows")["transport"] == "udp", 0.05, 0.1)
    )
    results = type(results)({**results.tables, "flows": flows.to_arrow()}, results.axes, results.provenance)
    (line,) = lines(results, "transport", "voice", [measures.delay("voice")])
    assert line.best == frozenset({"udp"})
    assert line.contrast("transport", "tfrc", "udp").outcome == "higher"


def test_the_table_says_from_where_differences_count():
    found, _ = compared({"udp": [3.8, 4.2, 4.0], "tfrc": [3.5, 3.9, 3.7]})
    assert "Differences count from: mos 0.1 (`--relevant` changes them)." in caption(found)


def test_the_rows_that_the_issue_names_have_its_values():
    assert [str(ROWS[name].relevant) for name in ("mos", "delay", "loss", "goodput")] == [
        "0.1", "10 ms", "0.5 points", "2 %",
    ]  # fmt: skip


def compared_delays(*delays):
    call = fairwave_.build(
        "call", "4 s",
        links=[fairwave_.link("a", "b", "10 Mb/s", "10 ms")],
        flows=[fairwave_.flow("call", "udp", "voice", from_="a", to="b")],
    )  # fmt: skip
    return fairwave_.compare(call, {"link.a>b.delay": list(delays)}, n=3)


def test_results_say_how_alternatives_compare():
    results = compared_delays("120 ms", "129 ms", "300 ms")
    assert results.outcome("120 ms", "129 ms", "mos", "call") == "alike"
    assert results.outcome("120 ms", "129 ms", "delay", "call") == "alike"
    assert results.outcome("120 ms", "300 ms", "mos", "call") == "higher"
    assert results.outcome("120 ms", "300 ms", "delay", "call") == "lower"
    assert results.outcome("120 ms", "129 ms", "delay", "call", relevant={"delay": "2 ms"}) == "lower"
    assert "are alike" in str(results.answer("call"))
    assert "is best" in str(results.answer("call", relevant={"mos": 0.001}))


CALL = """
name = "call"
duration = "4 s"
link = [{ from = "a", to = "b", rate = "10 Mb/s", delay = "10 ms" }]
flow = [{ name = "call", from = "a", to = "b", traffic = "voice", transport = "udp" }]
"""


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "call.toml"
    file.write_text(CALL, encoding="utf-8")
    return str(file)


def test_a_sweep_says_that_all_its_points_are_alike(fairwave, scenario):
    words = ("sweep", scenario, "--grid", "link.a>b.delay=120 ms,129 ms", "-n", "3", "--json")
    status, out, _ = fairwave(*words)
    document = json.loads(out)
    assert status == 0
    assert document["verdict"][-1].startswith("Both points are alike: they differ by 0.02")
    assert document["relevant"]["mos"] == "0.1"
    changed = json.loads(fairwave(*words, "--relevant", "mos=0.001")[1])
    assert changed["verdict"][-1].startswith("The two points differ by 0.02")
    assert "differences count from 0.001" in changed["verdict"][-1]


def test_a_grid_of_two_keys_says_how_far_its_points_are_apart(scenario):
    grid = {"link.a>b.delay": ["120 ms", "129 ms"], "flow.call.count": [1, 2]}
    answer = fairwave_.compare(fairwave_.load(scenario), grid, n=3).answer("call")
    assert answer.sentences[-1].startswith("All 4 points are alike: they differ by up to 0.0")


def test_a_search_says_that_its_range_makes_no_difference(fairwave, scenario):
    words = ("find", scenario, "--vary", "flow.call.count=1..8", "--until", "mos.call >= 3", "--json")
    document = json.loads(fairwave(*words)[1])
    assert any("the two ends of the range are alike" in said for said in document["remarks"])
    assert document["relevant"] == {"mos.call": "0.1"}


def test_a_search_minds_no_turn_that_does_not_count():
    def turns(relevant):
        means = {10: 3.5, 50: 3.0, 51: 3.05}
        tried = Search(
            lambda step, numbers: np.full(len(numbers), means[step]), condition("goodput >= 0"), 100,
            relevant=relevant,
        )  # fmt: skip
        tried.add(dict.fromkeys(means, 6))
        return reversals(tried, list(range(100)))

    assert turns(Relevant(0.1)) == []
    assert any("throughout" in said for said in turns(Relevant(0.01)))


def test_a_comparison_refuses_a_difference_of_no_measure(fairwave, scenario):
    status, _, err = fairwave("compare", scenario, "--vary", "flow.call.count=1,2", "--relevant", "moos=1")
    assert status == 2
    assert "did you mean 'mos'?" in err


def test_the_documentation_has_every_row_of_the_table():
    page = (Path(__file__).parents[1] / "docs" / "results.md").read_text(encoding="utf-8")
    section = page.partition("## Differences that count")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", section, flags=re.MULTILINE))
    assert rows == {row.name: str(row.relevant) for row in TABLE}


def test_the_lab_has_the_differences_of_the_table():
    text = (Path(__file__).parents[1] / "lab" / "src" / "relevance.ts").read_text(encoding="utf-8")
    rows = re.findall(r"^  (\w+): \{ amount: ([\d.]+)(, isShare: true)? \},$", text, flags=re.MULTILINE)
    assert {name for name, *_ in rows} >= {"mos", "delay", "loss", "goodput"}
    for name, amount, is_share in rows:
        assert (float(amount), bool(is_share)) == (ROWS[name].relevant.amount, ROWS[name].relevant.is_share)


def test_a_bound_within_what_counts_asks_for_no_more_runs():
    near = judge(condition("mos >= 3.6"), apart(3.61, 0.03))
    assert near.verdict == "undecided"
    assert near.advice == "Mean and bound are alike: differences count from 0.1."
    assert judge(
        condition("mos >= 3.6"), apart(3.61, 0.03), relevance=relevance(["mos=0.01"])
    ).advice.startswith("Try `-n")
    assert judge(condition("mos >= 3.6"), apart(3.55, 0.2)).advice.startswith("Try `-n")


def test_explain_says_from_where_differences_of_a_measure_count(fairwave):
    assert "Differences count from 10 ms" in fairwave("explain", "mouth-to-ear")[1]
    assert "Differences count from 2 %" in fairwave("explain", "goodput")[1]


def test_a_measure_of_a_study_has_the_difference_of_its_scale():
    printed = replace(measures.mos(), id="mos_printed", scale="mos")
    assert row_of(printed).name == "mos"
    assert row_of(replace(printed, scale="", unit="ms")).name == "delay"
    assert row_of(replace(printed, scale="")).name == "other"
