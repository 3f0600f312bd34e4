"""Typical flows of users, from Python: files, pages, arrivals, pauses, conversations."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import fairwave
from fairwave.advice import advise
from fairwave.answers.run_tables import list_conversations
from validation.pages import columns

EXAMPLES = Path(__file__).parents[1] / "examples"


def line(*flows, duration="20 s", rate="10 Mb/s", **more):
    return fairwave.build(
        "line",
        duration,
        topology={
            "preset": "dumbbell",
            "bottleneck": {"rate": rate, "delay": "10 ms", "queue": {"capacity": {"packets": 500}}},
        },
        flows=list(flows),
        **more,
    )


def file(size="1 MB", **more):
    return fairwave.flow("file", "tcp/sack", {"kind": "transfer", "size": size}, **more)


def test_a_file_has_a_completion_time_and_what_is_unfinished_has_none():
    results = line(file(count=2, start={"every": "19.9 s"})).run(1)
    transfers = results.to_polars("transfers")
    assert transfers["fate"].cast(pl.String).to_list() == ["completed", "unfinished"]
    assert transfers["seconds"].null_count() == 1
    took = results.measured("completion", "file").interval().mean
    # Sizes alone take 0.8 s; the handshake, slow start and headers the rest.
    assert 0.9 < took < 1.4
    for same in ("completion-median", "completion-p95"):
        assert results.measured(same, "file").interval().mean == took
    assert results.measured("unfinished", "file").interval().mean == 50
    assert results.measured("slowdown", "file").interval().mean == pytest.approx(took / 0.8, rel=1e-9)


def test_without_files_a_completion_time_is_not_defined():
    results = line(fairwave.flow("voice", "udp", "voice")).run(1)
    assert "transfers" not in results.tables
    assert results.measured("completion", "voice").interval().n == 0


def test_completion_times_can_be_asked_for_until_they_are_precise_and_how_far_they_go():
    files = line(file({"distribution": "exponential", "mean": "200 kB"}, arrivals="4 per s"))
    swept = fairwave.sweep(
        files, {"topology.bottleneck.rate": ["5 Mb/s", "20 Mb/s"]}, until="completion.file:±30%", n=3, most=8
    )
    slow, fast = (cell.interval.mean for cell in swept.cells)
    assert slow > 1.5 * fast
    answer = fairwave.find(
        line(file()), "topology.bottleneck.rate", "1 Mb/s..20 Mb/s", "completion.file <= 2", n=2, most=3
    )
    # A megabyte in two seconds takes 4 Mb/s, and a little more.
    assert "bottleneck.rate = 4." in str(answer) or "bottleneck.rate = 5" in str(answer)


def test_what_is_refused_is_counted():
    calls = fairwave.flow(
        "calls", "udp", "voice",
        arrivals={"rate": "2 per s", "lasts": {"distribution": "exponential", "mean": "5 s"}, "at-most": 3},
    )  # fmt: skip
    results = line(calls, duration="60 s").run(1)
    row = results.to_polars("completions").row(0, named=True)
    assert row["refused"] > row["completed"] > 0
    assert row["mean_s"] is None
    # Erlang B: 3 lines at 10 erlangs turn away 73 %.
    assert 55 < results.measured("refused", "calls").interval().mean < 90


def test_a_conversation_is_one_thing_with_two_directions():
    talk = fairwave.flow("talk", "udp", {"kind": "conversation", "codec": "g729"}, count=2)
    results = line(talk, duration="60 s").run(1)
    assert results.to_polars("flows").height == 4
    rows = results.to_polars("conversations")
    assert rows.height == 2
    assert results.measured("round-trip", "talk").interval().mean == pytest.approx(
        rows["round_trip_s"].mean() * 1e3
    )
    assert results.measured("conversation-mos", "talk").interval().mean == pytest.approx(rows["mos"].mean())
    worse = results.measured("conversation-mos", "talk").interval().mean
    assert worse <= results.measured("conversation-mos-mean", "talk").interval().mean
    shown = {row[0]: row[1:] for row in list_conversations(results, "talk")}
    there, back, whole = (float(cell) for cell in shown["mouth to ear, ms"])
    assert whole == pytest.approx(there + back, rel=1e-2)


def test_every_column_of_transfers_and_conversations_is_documented():
    described = columns.tables()
    results = line(file(), fairwave.flow("talk", "udp", "conversation"), duration="3 s").run(1)
    for name in ("transfers", "completions", "conversations"):
        known = {"run", "group", "flow", *described[name].columns}
        assert set(results.tables[name].column_names) <= known, name


def test_files_that_arrive_offer_their_mean_and_no_greed():
    files = file("125 kB", arrivals="4 per s", count=3)
    calls = fairwave.flow(
        "calls",
        "udp",
        "voice",
        arrivals={"rate": "1 per s", "lasts": {"distribution": "constant", "mean": "2 s"}},
    )
    found = advise(line(files, calls, duration="100 s"))
    bottleneck = next(one for one in found.links if one.name == "r1>r2")
    assert bottleneck.greedy == 0
    assert 3e6 < bottleneck.offered_bps < 5.5e6
    assert found.mistakes == []


@pytest.mark.parametrize(("name", "duration"), [("web-beside-call", "25 s"), ("conversation", "65 s")])
def test_the_examples_run(name, duration):
    scenario = fairwave.load(EXAMPLES / f"{name}.toml").with_overrides({"duration": duration})
    assert scenario.run(1).to_polars("transfers").height > 0


def test_mistakes_say_what_to_write():
    with pytest.raises(fairwave.ScenarioError, match="does not send again what is lost"):
        line(fairwave.flow("file", "udp", {"kind": "transfer", "size": "1 MB"}))
    with pytest.raises(fairwave.ScenarioError, match="2 per s"):
        line(file(arrivals="often"))
