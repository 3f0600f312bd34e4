"""Benchmarks are run seldom; what they run must be a scenario all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fairwave
from validation.bench import handing, radio, recovery, report, runner, scale

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


def test_many_flows_are_held_to_limits_of_time_memory_and_set_up() -> None:
    def row(flows: int, memory: int, setup_s: float) -> dict[str, float]:
        return {"flows": flows, "bytes_per_flow": memory, "setup_least_s": setup_s}

    met = [row(1000, 7000, 0.01), row(10_000, 4000, 0.05), row(100_000, 4000, 0.5), row(1_000_000, 4000, 5.0)]
    assert scale.exceeded(met, [1.7, 2.1, 1.6, 2.0]) == []
    above = [
        row(1000, 7000, 0.01),
        row(10_000, 4001, 0.05),
        row(100_000, 4000, 0.52),
        row(1_000_000, 4000, 5.0),
    ]
    assert scale.exceeded(above, [1.7, 2.1, 1.61, 2.4]) == [
        "the memory at 10,000 flows, 4,001 bytes",
        "the time at 100,000 flows, 1.61 times",
        "the set-up at 100,000 flows, 5.2 µs",
        "the time at 1,000,000 flows, 2.4 times",
    ]


def test_shared_media_are_measured_with_50_stations_and_with_stations_that_always_send() -> None:
    cases = {name: (scenario, crowd) for name, scenario, crowd in radio._cases()}
    assert sum(crowd for _, crowd in cases.values()) == 2
    for scenario, crowd in cases.values():
        assert len(scenario.plan()["flows"]) == (75 if crowd else len(scenario.to_dict()["flow"]))
    scenario, _ = cases["cell: 10 users always receive, LTE"]
    # Long enough that it takes more than the set-up on a busy machine as well.
    row = radio._cost("short", scenario.with_overrides({"duration": "10 s"}), crowd=False, runs=3)
    assert row["transmissions"] > 9000
    assert row["us"] > 0


def test_the_page_of_performance_is_written_from_the_kept_numbers() -> None:
    docs = Path(__file__).resolve().parents[1] / "docs"
    kept = json.loads((docs / "performance.json").read_text(encoding="utf-8"))
    assert report.markdown(kept) == (docs / "performance.md").read_text(encoding="utf-8")
    assert set(kept["handing"]["times_s"]) == set(handing.COMMANDS) == set(report.HANDED)
