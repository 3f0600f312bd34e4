"""Fates of packets, from Python and the command line: counts add up, and waiting packets are not lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fairwave
from fairwave.answers import fates

EXAMPLES = Path(__file__).parents[1] / "examples"

PHANTOM = """
name = "phantom loss"
duration = "10 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "20 ms"
queue = { discipline = "drop-tail", capacity = { packets = 100000 } }
[[flow]]
name = "v"
from = "a"
to = "b"
transport = "rap"
traffic = { kind = "cbr", rate = "100 Mb/s", payload = "1000 B" }
"""
"""A flood into a buffer that never fills."""


@pytest.fixture(scope="module")
def phantom():
    return fairwave.load(PHANTOM).run(1)


def cli(path, *more):
    command = [sys.executable, "-m", "fairwave", "run", str(path), *more]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_flood_into_a_deep_buffer_loses_nothing(phantom):
    (flow,) = phantom.flows.to_pylist()
    assert flow["dropped"] == flow["lost"] == flow["units_lost"] == 0
    assert phantom.measured("loss", "v").interval().mean == 0
    assert "lost" not in str(phantom.answer()).replace("nothing lost", "")
    assert "nothing lost; " in str(phantom.answer())


def test_fates_add_up_to_what_was_made(phantom):
    (flow,) = phantom.flows.to_pylist()
    counts = fates.count_fates(phantom, "v")
    made = flow["units_sent"] + flow["units_in_flight"]
    assert made == 125_000
    assert fates.made(counts) == made
    assert sum(one.share for one in counts) == pytest.approx(1)
    assert {one.words for one in counts} == {
        "arrived",
        "waiting at a>b",
        "waiting in the sender",
        "on the way",
    }


@pytest.mark.parametrize("name", ["wifi-home", "cell-edge", "conference", "web-beside-call", "streamed-clip"])
def test_fates_add_up_over_radio_servers_and_sources_of_all_kinds(name):
    read = fairwave.load((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    results = read.with_overrides({"duration": "12 s", "warmup": "1 s"}).run(1)
    for flow in results.flows.to_pylist():
        rows = [
            row
            for row in results.fates.to_pylist()
            if (row["group"], row["flow"]) == (flow["group"], flow["flow"])
        ]
        assert sum(row["units"] for row in rows) == flow["units_sent"] + flow["units_in_flight"]
        removed = sum(row["units"] for row in rows if row["fate"] in {"dropped", "lost"})
        assert removed == flow["units_lost"]


def test_each_run_of_several_counts(phantom):
    several = fairwave.load(PHANTOM).with_overrides({"flow.v.traffic.rate": "2 Mb/s"}).replicate(3)
    counts = {one.words: one for one in fates.count_fates(several, "v")}
    assert fates.made(list(counts.values())) == pytest.approx(2500, abs=1)
    assert counts["arrived"].units.n == 3


def test_the_terminal_shows_fates_where_something_is_missed(tmp_path):
    path = tmp_path / "phantom.toml"
    path.write_text(PHANTOM)
    out = cli(path)
    assert "v: what became of its packets" in out
    assert "waiting in the sender" in out
    calm = cli(path, "--set", "flow.v.traffic.rate=100 kb/s")
    assert "what became" not in calm


def test_documents_have_the_fates_of_every_group(tmp_path):
    path = tmp_path / "phantom.toml"
    path.write_text(PHANTOM)
    told = json.loads(cli(path, "--json"))["fates"]["v"]
    assert {(one["fate"], one["place"]) for one in told} == {
        ("arrived", ""), ("waiting", "sender"), ("waiting", "a>b"), ("on-the-way", "")
    }  # fmt: skip
    assert sum(one["packets"] for one in told) == 125_000


def test_units_name_where_each_was_dropped_or_waits():
    recorded = fairwave.load(PHANTOM).with_overrides(
        {
            "record.units": ["v[0]"],
            "flow.v.transport": "udp",
            "flow.v.traffic.rate": "2 Mb/s",
            "link.a>b.queue": {"discipline": "drop-tail", "capacity": {"packets": 10}},
        }
    )
    results = recorded.run(1)
    units = results.to_polars("units")
    places = units.group_by("fate", "place").len()
    counts = {(str(fate), str(place)): count for fate, place, count in places.iter_rows()}
    assert counts["waiting", "a>b"] == 10
    assert counts["dropped", "a>b"] == results.flows.to_pylist()[0]["dropped"]
    assert units.filter(units["counted"] == 0).height == results.flows.to_pylist()[0]["units_in_flight"]
