"""The compiled part: scenarios in, tables out."""

import json
import math

import pytest

import fairwave
from fairwave import _native
from scenarios import CALLS


@pytest.fixture(scope="module")
def calls():
    return fairwave.load(CALLS)


def test_equal_scenarios_have_equal_hashes_however_they_are_written(calls):
    assert fairwave.load(calls.to_json()).hash == fairwave.load(calls.to_toml()).hash == calls.hash
    assert calls.with_overrides({"duration": "7 s"}).hash != calls.hash


def test_overrides_reach_named_groups(calls):
    changed = calls.with_overrides({"flow.voice.count": 7})
    assert len([flow for flow in changed.plan()["flows"] if flow["name"].startswith("voice[")]) == 7


def test_an_expanded_preset_has_links_instead_and_runs_the_same(calls):
    expanded = calls.expand_preset()
    assert "topology" not in expanded.to_dict()
    assert expanded.plan()["links"] == calls.plan()["links"]
    digest = calls.run().tables["work"]["digest"]
    assert expanded.run().tables["work"]["digest"] == digest


def test_keywords_are_overrides(calls):
    assert calls.with_(flow__voice__count=7) == calls.with_overrides({"flow.voice.count": 7})


def test_a_mistake_names_place_and_remedy():
    with pytest.raises(fairwave.ScenarioError, match=r"did you mean `rate`\?") as caught:
        fairwave.load(CALLS.replace("rate =", "rat ="))
    assert "(topology.bottleneck.rat)" in str(caught.value)


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match=r"no scenario file 'nowhere\.toml'"):
        fairwave.load("nowhere.toml")


def test_the_same_seed_leaves_the_same_tables_on_any_number_of_threads(calls):
    alone, together = calls.replicate(4, threads=1), calls.replicate(4, threads=4)
    for name in alone.tables:
        assert alone.to_polars(name).equals(together.to_polars(name)), name


def test_seeds_differ(calls):
    delays = fairwave.compare(calls, {}, seeds=[1, 2]).measured("delay", "voice").samples()
    assert delays[0] != delays[1]


def test_what_is_sent_is_received_or_lost(calls):
    flows = calls.run().to_polars("flows").filter(group="voice")
    assert (flows["units_sent"] == flows["units_received"] + flows["units_lost"]).all()
    assert flows["units_sent"].sum() > 0


def test_units_are_left_when_they_are_asked_for(calls):
    recorded = calls.with_overrides({"record.units": ["voice[0]"]}).run().to_polars("units")
    assert recorded["flow"].cast(str).unique().to_list() == ["voice[0]"]
    arrived = recorded.filter(recorded["arrived_s"].is_not_nan())
    assert (arrived["arrived_s"] > arrived["created_s"]).all()
    with pytest.raises(LookupError, match=r"\[record\]"):
        calls.run().units  # noqa: B018


def test_comparing_pairs_alternatives_under_the_same_seeds(calls):
    results = fairwave.compare(calls, {"flow.voice.transport": ["udp", "tfrc"]}, n=3)
    runs = results.to_polars("runs")
    assert runs["seed"].to_list() == [1, 2, 3, 1, 2, 3]
    assert runs["flow.voice.transport"].to_list() == ["udp"] * 3 + ["tfrc"] * 3
    loss = results.measured("loss", "voice")
    assert not math.isnan(loss.interval(**{"flow.voice.transport": "tfrc"}).mean)


def test_an_axis_may_name_its_labels_and_what_they_change(calls):
    load = {"light": {"flow.voice.count": 1}, "heavy": {"flow.voice.count": 6}}
    loss = fairwave.compare(calls, {"load": load}, n=2).measured("loss", "voice")
    assert loss.interval(load="heavy").mean > loss.interval(load="light").mean


def test_names_list_what_the_schema_allows():
    names = _native.names()
    assert {"udp", "tfrc"} <= {name for name, _ in names["transports"]}
    assert {"drop-tail", "red"} <= {name for name, _ in names["queues"]}
    assert {"voice", "bulk"} <= {name for name, _ in names["traffic"]}
    assert {"bernoulli"} <= {name for name, _ in names["losses"]}
    assert {"constant"} <= {name for name, _ in names["rates"]}
    assert {"neteq", "fixed", "adaptive"} == {name for name, _ in names["playouts"]}
    assert all(about for each in names.values() for _, about in each)


def test_the_schema_is_one():
    assert json.loads(_native.Scenario.schema())["$schema"].startswith("https://json-schema.org/")


def test_a_batch_that_is_cancelled_begins_no_further_runs(calls):
    batch = _native.Batch([(calls.native, seed) for seed in range(200)], 1)
    next(batch)
    batch.cancel()
    assert len(list(batch)) < 199


def test_every_column_is_documented(calls):
    from pathlib import Path

    from validation.pages import columns

    page = (Path(__file__).parents[1] / "docs" / "results.md").read_text(encoding="utf-8")
    common = page.partition("**Common columns.**")[2].partition("\n\n")[0]
    recorded = calls.with_overrides(
        {"record.units": ["*"], "record.bin": "1 s", "record.queues": ["*"], "record.window-interval": "1 s"}
    ).run()
    described = columns.tables()
    for name, table in recorded.tables.items():
        section = page.partition(f"\n## `{name}`")[2].partition("\n## ")[0]
        assert section, f"docs/results.md has no section about {name}"
        known = set(described[name].columns) if name in described else set()
        if name == "groups":
            known = {one["column"] for one in json.loads(_native.group_measures())}
        text = common if name in described else common + section
        missing = [one for one in table.column_names if one not in known and f"`{one}`" not in text]
        assert not missing, f"no page describes {missing} of {name}"
