"""Mistakes in the Python API: each is answered with what is allowed and what to write instead."""

import numpy as np
import pytest

import fairwave

VARIED = {"flow.voice.count": [1, 2]}


@pytest.fixture(scope="module")
def call():
    """A short call."""
    return fairwave.build(
        "a call", "1 s", topology="dumbbell",
        flows=[fairwave.flow("voice", "udp", "voice"), fairwave.flow("files", "tcp/reno", "bulk")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "kind", "says"),
    [
        (lambda c: fairwave.compare(c, ["flow.voice.count"]), TypeError, "a dictionary of keys to values, not ['flow"),
        (lambda c: fairwave.compare(c, None), TypeError, "{'flow.voice.transport': ['udp', 'tcp/vegas']}"),
        (lambda _: fairwave.compare("calls.toml", VARIED), TypeError, "fairwave.load('calls.toml')"),
        (lambda c: fairwave.compare(c.to_dict(), VARIED), TypeError, "fairwave.Scenario.from_dict"),
        (lambda c: fairwave.compare(c, {"flow.voice.transport": "udp,tcp/vegas"}), TypeError, "['udp', 'tcp/vegas']"),
        (lambda c: fairwave.compare(c, {"flow.voice.count": 3}), TypeError, "write [3]"),
        (lambda c: fairwave.compare(c, {"flow.voice.count": []}), ValueError, "has no values"),
        (lambda c: fairwave.compare(c, {"calls": {"few": 3}}), TypeError, "{'few': {'flow.voice.count': 5}}"),
        (lambda c: fairwave.compare(c, {"seed": [1, 2]}), ValueError, "write seeds=[1, 2]"),
        (lambda c: fairwave.compare(c, VARIED, n=0), ValueError, "n is 0, but must be 1 or more; write"),
        (lambda c: fairwave.compare(c, VARIED, n="3"), TypeError, "n is '3', but must be a whole number"),
        (lambda c: fairwave.compare(c, VARIED, n=True), TypeError, "n is True"),
        (lambda c: fairwave.compare(c, VARIED, seeds=3), TypeError, "seeds are 3, but must be a list"),
        (lambda c: fairwave.compare(c, VARIED, seeds=[]), ValueError, "seeds are empty"),
        (lambda c: c.replicate(0), ValueError, "n is 0"),
        (lambda c: c.replicate(threads="all"), TypeError, "threads is 'all'"),
        (lambda c: c.run("a"), TypeError, "a seed is a whole number"),
        (lambda c: c.plan(-1), ValueError, "a seed is a whole number"),
        (lambda c: c.cautions(10**30), ValueError, "a seed is a whole number"),
        (lambda c: c.with_overrides("a=1"), TypeError, "must be a dictionary"),
        (lambda c: c.with_overrides({"flow.voice.count": {1}}), fairwave.ScenarioError, "of the type set"),
        (lambda c: c.with_overrides({"flow.voice.count": float("nan")}), fairwave.ScenarioError, "no scenario can"),
        (lambda c: c.with_overrides({"flow.voice.count": 10**500}), fairwave.ScenarioError, "no scenario can"),
        (lambda c: c.with_overrides({"flow.voice.count": 10**5000}), fairwave.ScenarioError, "no scenario can"),
        (lambda _: fairwave.Scenario("calls.toml"), TypeError, "fairwave.load('calls.toml')"),
        (lambda _: fairwave.load({"name": "x"}), TypeError, "fairwave.Scenario.from_dict"),
        (fairwave.load, TypeError, "a scenario already"),
        (lambda _: fairwave.load(None), TypeError, "takes a path"),
        (lambda _: fairwave.build("x", "1 s", flows=fairwave.flow("a", "udp", "voice")), TypeError, "flows=[fairwave"),
        (lambda _: fairwave.build("x", "1 s", flows=None), TypeError, "must be a list"),
        (lambda c: fairwave.sweep(c, "flow.voice.count=1,2"), TypeError, "a dictionary of keys to values"),
        (lambda _: fairwave.sweep("calls.toml", VARIED), TypeError, "fairwave.load('calls.toml')"),
        (lambda c: fairwave.sweep(c, VARIED, until=0.05), ValueError, "until='mos.voice:±0.05'"),
        (lambda c: fairwave.sweep(c, VARIED, n=0), ValueError, "n is 0"),
        (lambda _: fairwave.find("calls.toml", "a", "1..3", "mos>=3"), TypeError, "fairwave.load('calls.toml')"),
        (lambda c: fairwave.find(c, "flow.voice.count", 40, "mos.voice >= 3"), ValueError, "'1..200' or [1, 5, 10]"),
        (lambda c: fairwave.find(c, "flow.voice.count", "1..9", 3.6), ValueError, "until='mos.voice >= 3.6'"),
        (lambda c: fairwave.find(c, "flow.voice.count", "1..9", "mos.voice > 9"), ValueError, "from 1 to 4.5"),
        (lambda c: c.run().measured("mos.voice"), KeyError, "measured('mos', 'voice')"),
        (lambda _: fairwave.explain(None), TypeError, "fairwave.explain(\"vegas\")"),
        (lambda _: fairwave.explain("wlan"), LookupError, "markov"),
        (lambda _: fairwave.run, AttributeError, "fairwave.load('calls.toml').run()"),
        (lambda _: fairwave.compair, AttributeError, "did you mean fairwave.compare?"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_to_write(call, ask, kind, says):
    with pytest.raises(kind) as error:
        ask(call)
    assert says in str(error.value.args[0])


def test_results_are_not_saved_onto_a_file(call, tmp_path):
    (tmp_path / "there").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="is a file, but results need a folder"):
        call.run().save(tmp_path / "there")
    assert (tmp_path / "there").read_text(encoding="utf-8") == "mine"


def test_tables_may_be_varied_and_are_labelled_by_their_toml(call):
    tables = [{"name": "tcp/vegas", "alpha": 2.0}, "tcp/reno"]
    results = fairwave.compare(call, {"flow.files.transport": tables}, n=1)
    labels = results.to_polars("runs")["flow.files.transport"].to_list()
    assert labels == ['{ name = "tcp/vegas", alpha = 2.0 }', "tcp/reno"]


def test_numbers_of_numpy_are_numbers(call):
    varied = fairwave.compare(call, {"flow.voice.count": np.array([1, 2])}, seeds=np.arange(1, 3))
    assert varied.to_polars("runs")["flow.voice.count"].to_list() == [1, 1, 2, 2]
    assert call.with_overrides({"flow.voice.count": np.int64(3)}).to_dict()["flow"][0]["count"] == 3


def test_measures_to_show_are_written_as_at_the_command_line(call):
    cells = fairwave.sweep(call, VARIED, show=["loss.voice", "mos.voice"], n=1).cells
    assert [cell.asked for cell in cells] == ["loss.voice", "mos.voice"] * 2


def test_more_threads_than_any_number_holds_are_as_many_as_there_are_runs(call):
    assert call.replicate(2, threads=10**30).runs.num_rows == 2
