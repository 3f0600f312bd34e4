"""The region in which conditions hold: the result of `find`, and its exit status."""

import json

import pytest

import fairwave as fw

BASE = """
name = "base"
duration = "10 s"
preset = "rfc"

[topology]
preset = "dumbbell"
bottleneck = { rate = "2 Mb/s", delay = "20 ms" }

[[flow]]
name = "call"
transport = "udp"
traffic = "voice"

[[flow]]
name = "up"
transport = "tcp/cubic"
traffic = "bulk"
"""
"""Calls next to a greedy upload: with more calls the queue is shorter and the loss greater."""

CALLS = ("--vary", "flow.call.count=1..40")


@pytest.fixture
def find(fairwave, tmp_path):
    path = tmp_path / "base.toml"
    path.write_text(BASE)

    def ask(*words):
        status, said, complaint = fairwave("find", path, *words, "--json")
        return status, json.loads(said) if said else {}, complaint

    return ask


def test_a_condition_that_begins_to_hold_holds_from_there_to_the_end_of_the_range(find):
    status, told, _ = find(*CALLS, "--until", "delay.call <= 150", "--require", "flow.call.count >= 5")
    assert status == 0
    assert [(one["first"], one["last"]) for one in told["regions"]] == [(3, 40)]
    assert "holds on flow.call.count = 3..40" in told["answer"]
    assert told["required"] == "holds"


@pytest.mark.parametrize(
    "more", [[], ["--require", "flow.call.count >= 5"], ["--require", "mos.call >= 1.1"]]
)
def test_a_condition_that_holds_nowhere_fails(find, more):
    status, told, _ = find(*CALLS, "--until", "delay.call <= 0.15", *more)
    assert status == 3
    assert (told["verdict"], told["regions"]) == ("fails", [])
    assert "delay.call <= 0.15 ms holds nowhere on flow.call.count = 1..40" in told["answer"]
    assert told.get("required", "fails") == "fails"


def test_all_conditions_are_judged_together(find):
    status, told, _ = find(*CALLS, "--until", "mos.call >= 1.1", "--until", "loss.call <= 5")
    assert status == 0
    (region,) = told["regions"]
    assert region["first"] == 1
    assert region["last"] < region["fails_after"] < 25
    assert "mos.call >= 1.1 and loss.call <= 5 % hold together on" in told["answer"]
    assert [one["condition"] for one in told["tested"][0]["measures"]] == [
        "mos.call >= 1.1",
        "loss.call <= 5",
    ]


def test_conditions_that_never_hold_together_name_where_each_holds(find):
    status, told, _ = find(*CALLS, "--until", "loss.call <= 2.5", "--until", "delay.call <= 75")
    assert status == 3
    assert told["regions"] == []
    assert "hold together nowhere" in told["answer"]
    assert "delay.call <= 75 ms alone holds at" in told["answer"]


def test_what_stays_open_is_undecided_and_names_the_number_of_runs(find):
    words = ("--vary", "flow.call.count=1..2", "--until", "delay.call <= 150", "-n", "4", "--most", "4")
    status, told, _ = find(*words)
    assert (status, told["verdict"], told["open"]) == (4, "open", [1, 2])
    assert f"try `--most {told['enough']}`" in told["answer"]
    status, told, _ = find(*words, "--require", "mos.call >= 1.1")
    assert status == 4
    assert told["requirements"][0]["advice"].startswith("Try `--most ")


def test_measures_are_judged_at_each_edge_of_a_region(find):
    status, told, _ = find(*CALLS, "--until", "loss.call <= 5", "--require", "loss.call < 5")
    assert status == 0
    (one,) = told["requirements"]
    assert one["alternative"] == f"call.count = {told['regions'][0]['last']}"
    status, told, _ = find(*CALLS, "--until", "mos.call >= 1.1", "--require", "loss.call <= 5")
    assert status == 3, "everywhere: both ends of the range are judged"
    assert [one["verdict"] for one in told["requirements"]] == ["holds", "fails"]


def test_tied_keys_are_searched_together(find):
    tied = "flow.call.count,flow.up.count"
    status, told, _ = find("--vary", f"{tied}=1..8", "--until", "loss.call <= 4", "--require", f"{tied} >= 1")
    assert status == 0
    assert told["key"] == tied
    read = fw.load(BASE)
    answer = fw.find(read, ("flow.call.count", "flow.up.count"), "1..8", "loss.call <= 4")
    assert answer.to_dict()["regions"] == told["regions"]


def test_a_bound_on_another_key_is_refused(find):
    status, _, complaint = find(*CALLS, "--until", "delay.call <= 150", "--require", "flow.up.count >= 5")
    assert status == 2
    assert "'flow.up.count' is a key of the scenario, not a measure" in complaint


def test_notebooks_show_searches_and_sweeps():
    read = fw.load(BASE)
    answer = fw.find(read, "flow.call.count", [1, 40], "mos.call >= 1.1", n=2, most=2)
    shown = answer._repr_html_()
    assert "flow.call.count = 1..40" in shown
    assert shown.count("<tr>") == 3
    assert "mos.call" in repr(answer)
    found = fw.sweep(read, {"flow.call.count": [1, 2]}, show=["mos.call", "loss.call"], n=2)
    shown = found._repr_html_()
    assert shown.count("<tr>") == 3
    assert "<th scope='col'>call loss (%)</th>" in shown
    assert "count 2" in repr(found)
