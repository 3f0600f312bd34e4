"""Benchmarks run seldom, but each of their scenarios must be valid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fairwave
from validation import kept
from validation.bench import others, radio, recovery, report, runner, scale, threads
from validation.compare.ns2 import simulator as ns2

RECOVERY = {"rate": "1 Gb/s", "queue": 100, "duration": "1 s", "transport": recovery.TRANSPORTS["rack"]}


@pytest.mark.parametrize(
    ("template", "values"),
    [
        (runner.TEMPLATE, runner.contested(100, 1)),
        (runner.TEMPLATE, scale.values(100, 1)),
        (recovery.TEMPLATE, RECOVERY),
    ],
)
def test_every_place_of_a_template_is_filled(template: Path, values: dict[str, Any], tmp_path: Path) -> None:
    scenario = fairwave.load(runner.scenario(tmp_path, template, **values))
    assert scenario.plan()["flows"]


def test_a_place_that_is_left_is_named(tmp_path: Path) -> None:
    values = scale.values(100, 1)
    del values["queue"]
    with pytest.raises(ValueError, match=r"dumbbell\.toml .* '@queue@"):
        runner.scenario(tmp_path, **values)


def test_many_flows_are_held_to_limits_of_memory_and_set_up() -> None:
    def row(flows: int, memory: int, setup_s: float) -> dict[str, float]:
        return {
            "flows": flows, "bytes_per_flow": memory, "setup_user_s": setup_s, "ns_per_packet_hop": 50.0
        }  # fmt: skip

    met = [row(1000, 7000, 0.1), row(10_000, 4000, 0.037), row(100_000, 4000, 0.37)]
    assert list(scale.list_exceeded({"rows": met})) == []
    above = [row(1000, 7000, 0.1), row(10_000, 4001, 0.037), row(100_000, 4000, 0.4)]
    assert list(scale.list_exceeded({"rows": above})) == [
        "4,001 bytes per flow at 10,000 flows",
        "a set-up of 80 packet-hops per flow at 100,000 flows",
    ]


def test_other_simulators_take_at_least_three_times_as_long() -> None:
    rows = [
        {"flows": 1000, "htsim_times": 3.1, "ns2_times": 2.9},
        {"flows": 2000, "htsim_times": 1.5},
        {"flows": 3000},
    ]
    assert list(others.list_exceeded({"rows": rows})) == [
        "ns-2 takes only 2.9 times as long at 1,000 flows",
        "htsim takes only 1.5 times as long at 2,000 flows",
    ]


@pytest.mark.skipif(ns2.find() is None, reason="ns-2 is not installed")
def test_ns2_runs_the_many_flows() -> None:
    path = ns2.find()
    assert path is not None
    hops, setup, cpu = others.run_other([path, str(others.SCRIPT), "20", "2", "count"])
    assert hops > 1000
    assert setup > 0
    assert cpu >= 0


def test_two_threads_are_compared_with_the_gain_that_the_cost_of_islands_leaves() -> None:
    row = {"case": "c", "same": True, "one_s": 1.0, "cut_on_one_s": 1.25, "gain": 1.5}
    assert list(threads.list_exceeded({"rows": [row]})) == []
    above = {"case": "c", "same": False, "one_s": 1.0, "cut_on_one_s": 1.5, "gain": 1.1}
    assert list(threads.list_exceeded({"rows": [above]})) == [
        "c: the number of threads changes the result",
        "c: two threads gain 1.1 of 1.33 times",
        "c: islands cost 1.50 times the plain loop",
    ]


def test_shared_media_are_measured_with_50_stations_and_with_stations_that_always_send() -> None:
    cases = {name: (scenario, crowd) for name, scenario, crowd in radio._cases()}
    assert sum(crowd for _, crowd in cases.values()) == 2
    for scenario, crowd in cases.values():
        assert len(scenario.plan()["flows"]) == (75 if crowd else len(scenario.to_dict()["flow"]))
    scenario, _ = cases["cell: 10 users always receive, LTE"]
    # Long enough to exceed the set-up time on a busy machine.
    row = radio._cost("short", scenario.with_overrides({"duration": "10 s"}), crowd=False, runs=3)
    assert row["transmissions"] > 9000
    assert row["us"] > 0


def test_the_kept_numbers_render_and_exceed_no_limit() -> None:
    numbers = kept.read(report.KEPT)
    assert report.markdown(numbers).startswith("# Performance\n")
    assert report.list_exceeded(numbers) == []
