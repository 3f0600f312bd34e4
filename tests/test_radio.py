"""Radio links compared with ns-3's: cases, verdicts and the page. ns-3 is not needed."""

from __future__ import annotations

import sys

import pytest

import fairwave
from validation import kept as results
from validation.compare.ns3 import radio, radio_cases
from validation.compare.ns3 import simulator as ns3
from validation.compare.ns3.radio_cases import CASES, CELL, LATER, VARIANTS, WIFI


def test_there_are_at_least_twelve_cases_of_each_kind():
    assert len(WIFI) >= 12
    assert len(CELL) >= 12
    assert len(CASES) == len(WIFI) + len(CELL)


@pytest.mark.parametrize("name", radio.ALL)
def test_both_are_told_the_same_flows(name):
    _, case = radio_cases.find(name)
    scenario = radio_cases.scenario(case, 3)
    fairwave.Scenario.from_dict(scenario)
    told = dict(one.removeprefix("--").split("=", 1) for one in radio_cases.arguments(case, 3))
    assert told["seed"] == "3"
    flows = [flow.split(",") for flow in told["flows"].split(";")]
    for (label, station, up, payload, interval, tcp, dscp, start), flow in zip(
        flows, scenario["flow"], strict=True
    ):
        assert label == flow["name"]
        assert f"s{station}" == (flow["from"] if up == "1" else flow["to"])
        assert f"{start} us" == flow["start"]
        assert int(dscp) == flow["dscp"]
        if tcp == "0":
            traffic = flow["traffic"]
            assert traffic["payload"] == f"{payload} B"
            assert float(traffic["rate"].removesuffix(" b/s")) == pytest.approx(
                8e6 * int(payload) / int(interval), rel=1e-4
            )


def test_every_flow_that_saturates_offers_more_than_the_channel_carries():
    assert 1472 * 8 / CASES["dcf-1"].flows[0].interval > 36
    assert 1472 * 8 / CASES["n-ampdu-1"].flows[0].interval > 65


def test_a_measure_agrees_within_its_margin_is_undecided_or_differs():
    measure = radio_cases.Measure("goodput", "", 0.03)
    verdicts = [
        radio.judged(measure, {"ours": ours, "theirs": [10.0, 10.2, 9.8]})[3]
        for ours in ([10.2, 10.1, 10.3], [7.0, 14.0, 11.0], [12.0, 12.1, 12.2])
    ]
    assert verdicts == ["agrees", "undecided", "differs"]
    share = radio_cases.Measure("share", "slow", 0.03, relative=False)
    assert radio.judged(share, {"ours": [0.52, 0.52], "theirs": [0.5, 0.5]})[3] == "agrees"


def test_every_case_with_a_difference_has_a_reason():
    kept, reasons = radio.read()["cases"], radio.explained()["case"]
    differ = {
        case.name
        for case in CASES.values()
        for measure in case.measures
        if radio.judged(measure, kept[case.name]["measures"][measure.name])[3] == "differs"
    }
    assert differ <= set(reasons)
    assert set(reasons) <= set(CASES)
    others = radio.explained()
    for part, known in (("later", LATER), ("variants", VARIANTS.values())):
        differ = {
            case.name
            for case in known
            for measure in case.measures
            if radio.judged(measure, radio.read()[part][case.name]["measures"][measure.name])[3] == "differs"
        }
        assert differ == set(others[part.removesuffix("s")])


@pytest.mark.parametrize(
    "name",
    [
        "hidden",
        "anomaly-2",
        "edca-call",
        "pf-unequal",
        "idle-up",
        "deep",
        "groups-rts",
        "lone-rts",
        "n-40",
        "two-bases-apart",
    ],
)
def test_fairwave_gives_the_kept_numbers(name):
    part, case = radio_cases.find(name)
    (run,) = radio.ours(case, [1])
    kept = radio.read()[part][name]["measures"]
    for measure in case.measures:
        assert radio.value(measure, run) == pytest.approx(kept[measure.name]["ours"][0], rel=1e-4)


def test_fairwaves_side_alone_can_run_again(monkeypatch, tmp_path):
    numbers = radio.read()
    goodput = numbers["later"]["groups-rts"]["measures"]["goodput"]
    theirs, own = goodput["theirs"], goodput["ours"]
    goodput["ours"] = [0.0]
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    results.write(radio.KEPT, numbers)
    monkeypatch.setattr(sys, "argv", ["radio", "--ours", "--case", "groups-rts"])
    radio.main()
    again = radio.read()["later"]["groups-rts"]["measures"]["goodput"]
    assert again["theirs"] == theirs
    assert again["ours"] == pytest.approx(own, rel=1e-4)


def test_a_scan_looks_at_the_last_value_that_is_good():
    case = radio_cases.fix_scan(CASES["calls"], 2)
    (run,) = radio.ours(case, [1])
    assert radio.good(CASES["calls"], run)
    (run,) = radio.ours(radio_cases.fix_scan(CASES["calls"], 16), [1])
    assert not radio.good(CASES["calls"], run)


def test_without_ns3_the_command_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(ns3, "find", lambda _python: None)
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["radio"])
    with pytest.raises(SystemExit, match=r"pip install 'ns3==3\.44"):
        radio.main()
    assert not list(tmp_path.iterdir())
