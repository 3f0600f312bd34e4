"""Remarks next to the ratings of calls, from the simulator's notes to tables in the terminal."""

import json
import re

import polars as pl
import pytest

from fairwave import codecs
from fairwave.measuring import measures
from fairwave.measuring.remarks import marked, remarks, undefined
from fairwave.results import Results
from fairwave.scenario import load
from made_up import made_up

SCENARIO = """
name = "codecs"
duration = "3 s"

[topology]
preset = "dumbbell"
bottleneck = {{ rate = "2 Mb/s", delay = "{delay}" }}

[[flow]]
name = "call"
count = 2
transport = "udp"
traffic = {{ kind = "voice", codec = "{codec}", always-on = true }}
"""


def scenario(codec="g711", delay="10 ms"):
    return SCENARIO.format(codec=codec, delay=delay)


@pytest.fixture
def run(tmp_path):
    def run(text):
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return load(path).run()

    return run


def noted(*notes):
    results = made_up(transports=("udp",), seeds=(1,), flows=len(notes))
    flows = results.to_polars("flows").with_columns(quality_note=pl.Series(notes))
    results.tables["flows"] = flows.to_arrow()
    return results


def test_a_note_that_all_calls_share_is_said_once():
    said = remarks(noted("assumed: Ie 7, Bpl 10 (why)", "assumed: Ie 7, Bpl 10 (why)"), "voice")
    assert [str(one) for one in said] == ["assumed: Ie 7, Bpl 10 (why)"]


def test_calls_that_are_extrapolated_for_different_reasons_are_counted_together():
    said = remarks(
        noted("", "extrapolated: delay 620 ms outside 0–500 ms; assumed: x", "extrapolated: loss 30 %", "")
    )
    assert [str(one) for one in said] == [
        "assumed: x (in 1 of 4 calls)",
        "extrapolated beyond the E-model's ranges (in 2 of 4 calls), as for delay 620 ms outside 0–500 ms",
    ]


def test_a_rating_is_undefined_only_where_no_call_has_one():
    why = "not defined: no speech was sent"
    assert undefined(noted(why, why), "mos", "voice") == "no speech was sent"
    assert undefined(noted(why, ""), "mos", "voice") == ""
    assert undefined(noted(why, why), "loss", "voice") == ""


def test_only_ratings_with_remarks_are_marked():
    assert marked(noted("assumed: x", ""), "mos") == " †"
    assert marked(noted("assumed: x", ""), "loss") == ""
    assert marked(noted("", ""), "mos") == ""


def test_factors_that_are_determined_here_have_a_mark_of_their_own():
    assert marked(noted("determined here: x", ""), "mos") == " ‡"
    assert marked(noted("determined here: x; wideband: y", ""), "mos") == " † ‡"


def test_results_of_a_version_without_notes_have_no_remarks():
    assert remarks(made_up()) == []


def test_a_codec_without_factors_has_null_ratings_and_says_why(run, tmp_path):
    results = run(scenario("ilbc-20"))
    flows = results.flows
    assert flows["mos"].null_count == flows["r_factor"].null_count == 2
    assert flows["delay_mean_s"].null_count == 0
    why = "not defined: ITU-T G.113 has no impairment factor for ilbc-20"
    assert flows["quality_note"].to_pylist() == [why] * 2
    assert measures.mos("call").compute(results).frame["value"].to_list() == [None]
    kept = Results.load(results.save(tmp_path / "out"))
    assert kept.flows["mos"].null_count == 2
    assert not re.search(r"\bnan\b", (tmp_path / "out" / "flows.csv").read_text(), re.IGNORECASE)


def test_no_table_has_a_value_that_is_not_a_number(run):
    for codec in ("g711", "ilbc-20"):
        for name, table in run(scenario(codec)).tables.items():
            frame = pl.from_arrow(table)
            for column in frame.select(pl.selectors.float()).iter_columns():
                assert not column.is_nan().any(), f"{name}.{column.name}"


def test_a_silent_call_is_not_rated(run):
    silent = scenario().replace(
        "always-on = true", 'first = "silence", silence = { distribution = "constant", mean = "1000 s" }'
    )
    flows = run(silent).flows
    assert flows["units_sent"].to_pylist() == [0, 0]
    assert flows["mos"].to_pylist() == [None, None]
    assert flows["quality_note"].to_pylist() == ["not defined: no speech was sent"] * 2


def test_a_wideband_call_is_rated_on_its_own_scale(run):
    flows = run(scenario("g722")).flows
    assert all(100 < r < 129 for r in flows["r_factor"].to_pylist())
    assert all(4 < mos < 4.5 for mos in flows["mos"].to_pylist())
    assert flows["quality_note"][0].as_py().endswith("wideband: R to 129 (G.107.1)")


def test_a_long_delay_is_extrapolated_and_says_so(run):
    flows = run(scenario(delay="700 ms")).flows
    assert flows["quality_note"][0].as_py().startswith("extrapolated: delay 7")
    assert all(0 <= r < 70 for r in flows["r_factor"].to_pylist())


@pytest.mark.parametrize(
    ("codec", "mark", "cell"), [("ilbc-20", "not defined:", "not defined"), ("g728", "assumed:", "")]
)
def test_run_and_compare_mark_ratings_and_say_why(codec, mark, cell, tmp_path, fairwave):
    path = tmp_path / "scenario.toml"
    path.write_text(scenario(codec))
    for words in (
        ["run", path],
        ["compare", path, "--over", "udp", "-n", "2", "--out", tmp_path / "out", "--no-audio"],
    ):
        _, printed, _ = fairwave(*words)
        line = next(line for line in printed.splitlines() if "MOS (E-model) †" in line)
        assert cell in line
        assert mark in printed
    assert mark in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_check_says_which_factors_are_assumed(tmp_path, fairwave):
    path = tmp_path / "scenario.toml"
    for codec, said in (
        ("g711", {}),
        ("g728", {"call": "assumed: Ie 7, Bpl 10"}),
        ("ilbc-30", {"call": "not defined"}),
    ):
        path.write_text(scenario(codec))
        found = json.loads(fairwave("check", path, "--json")[1])["ratings"]
        assert found.keys() == said.keys()
        assert all(found[name].startswith(start) for name, start in said.items())


def test_list_names_codecs_and_marks_assumed_factors(fairwave):
    found = {
        one["name"]: one["about"] for one in json.loads(fairwave("list", "codecs", "--json")[1])["codecs"]
    }
    assert len(found) == 53
    assert found["gsm-hr"].startswith("15 B each 20 ms (RFC 5993)")
    assert "assumed" in found["g728"]
    assert "assumed" not in found["g729"]
    assert "not defined" in found["ilbc-20"]


def test_without_concealment_pcm_bears_losses_worse():
    assert codecs.find("g711").bpl == 25.1
    assert codecs.find("g711", "none").bpl == 4.3
    with pytest.raises(KeyError, match=r"no codec 'g712'; there are g711"):
        codecs.find("g712")


def test_the_table_has_every_codec():
    rows = codecs.markdown().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [one.codec for one in codecs.known()]
