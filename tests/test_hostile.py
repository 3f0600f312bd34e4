"""Requests of a hostile size, by API and command line: refused immediately, with their cost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

import fairwave
from fairwave.cli import main

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
name = "hostile"
duration = "10 s"
[topology]
preset = "dumbbell"
[[flow]]
name = "a"
transport = "tcp/reno"
traffic = "bulk"
"""


def test_a_billion_replications_are_refused_with_their_cost() -> None:
    with pytest.raises(fairwave.ScenarioError, match=r"1000000000 runs .* 30.0 TB of tables .* of computing"):
        fairwave.load(TEXT).replicate(10**9)


def test_more_replications_than_any_number_holds_are_refused_as_well() -> None:
    with pytest.raises(fairwave.ScenarioError, match="up to 1000000 runs at once"):
        fairwave.load(TEXT).replicate(seeds=range(2**62))  # type: ignore[arg-type]


def test_axes_that_multiply_are_refused_before_their_points_are_made() -> None:
    axes = {f"flow.a.{key}": list(range(1, 2000)) for key in ("count", "stop")}
    with pytest.raises(fairwave.ScenarioError, match=r"3996001 runs .* of tables"):
        fairwave.compare(fairwave.load(TEXT), axes, n=1)


def test_a_few_points_under_too_many_seeds_are_refused() -> None:
    with pytest.raises(fairwave.ScenarioError, match="2000000 runs"):
        fairwave.compare(fairwave.load(TEXT), {"flow.a.count": [1, 2]}, n=1_000_000)


def test_an_override_to_a_hostile_size_is_refused() -> None:
    with pytest.raises(fairwave.ScenarioError, match=r"1000000000 flows would need about 7\.1 TB"):
        fairwave.load(TEXT).with_overrides({"flow.a.count": 10**9})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            ["-n", "1000000000"],
            ["1000000000 runs would leave about 30.0 TB", "help: make fewer replications"],
        ),
        (
            ["--set", "topology.preset=multi-hop", "--set", "topology.hops=1000000"],
            ["3.0 GB of memory", "hops"],
        ),
        (["--set", "duration=10000000000 s"], ["packet-hops, that is", "days of computing"]),
    ],
)
def test_the_command_line_refuses_with_the_cost_and_what_to_write(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    settings: list[str],
    words: list[str],
) -> None:
    file = tmp_path / "hostile.toml"
    file.write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["fairwave", "run", str(file), *settings])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (1, 2)
    said = capsys.readouterr().err
    for word in words:
        assert word in said, said
