"""Overrides by the name of a law alone: in Python, and on the command line."""

import json

import pytest
from typer.testing import CliRunner

import fairwave
from fairwave.ask.wording import variation
from fairwave.cli import app

QUEUE = "link.home>isp.queue"
HOME = "examples/home-uplink.toml"
SAME = {"packets": 100}


def queue_of(scenario):
    return next(link["queue"] for link in scenario.to_dict()["link"] if link["from"] == "home")


def test_another_discipline_keeps_the_buffer_in_python():
    home = fairwave.load(HOME)
    assert queue_of(home.with_overrides({QUEUE: "codel"})) == {"discipline": "codel", "capacity": SAME}
    assert queue_of(home.with_overrides({QUEUE: {"discipline": "codel"}})) == {"discipline": "codel"}
    assert home.with_overrides({QUEUE: "red"}) == home


def test_another_discipline_keeps_the_buffer_in_a_variation():
    key, values = variation(f"{QUEUE}=drop-tail,red,fq-codel")
    home = fairwave.load(HOME)
    queues = [queue_of(home.with_overrides({key: value})) for value in values.values()]
    assert [queue["discipline"] for queue in queues] == ["drop-tail", "red", "fq-codel"]
    assert all(queue["capacity"] == SAME for queue in queues)


UPLINK = """name = "uplink"
duration = "15 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "2 Mb/s", delay = "10 ms", queue = { capacity = { bytes = 250000 } } }
[[flow]]
name = "upload"
transport = "cubic"
traffic = "bulk"
"""


def test_a_comparison_in_python_keeps_the_buffer():
    key = "topology.bottleneck.queue"
    results = fairwave.compare(
        fairwave.load(UPLINK), {"queue": {one: {key: one} for one in ("drop-tail", "codel")}}, n=1
    )
    links = results.to_polars("links")
    full, short = links.filter(links["link"].cast(str) == "r1>r2")["mean_wait_s"].to_list()
    # 250 kB at 2 Mb/s are a second; fifty packets, the default buffer, would be 0.3 s.
    assert full > 0.5
    assert short < 0.05


def test_check_says_what_was_kept_and_what_dropped():
    told = CliRunner().invoke(app.app, ["check", HOME, "--set", f"{QUEUE}=codel"])
    assert told.exit_code == 0, told.output
    said = " ".join(told.output.split())
    assert "codel instead of red keeps `capacity = { packets = 100 }`" in said
    assert "drops `max-threshold = 15.0` and `min-threshold = 5.0`" in said
    told = CliRunner().invoke(app.app, ["check", HOME, "--set", f"{QUEUE}=codel", "--json"])
    assert json.loads(told.stdout)["kept"][0].startswith(f"`{QUEUE}`: codel instead of red")


@pytest.mark.parametrize(("short", "full"), [("cubic", "tcp/cubic"), ("bbr", "tcp/bbr"), ("udp", "udp")])
def test_a_short_name_is_the_transport_that_it_names(short, full):
    home = fairwave.load(HOME).with_overrides(
        {"flow.backup.transport": "tcp/reno", "flow.backup.traffic": {"kind": "cbr", "rate": "1 Mb/s"}}
    )
    written = home.with_overrides({"flow.backup.transport": short}).to_dict()
    assert next(flow["transport"]["name"] for flow in written["flow"] if flow["name"] == "backup") == full
    assert fairwave._native.Scenario.full_name(short) == full


def test_percent_is_a_ratio_on_the_command_line():
    _, values = variation("link.phone>home.loss=1 %,0.02")
    home = fairwave.load(HOME)
    losses = [
        home.with_overrides({"link.phone>home.loss": value}).to_dict()["link"] for value in values.values()
    ]
    assert [link[1]["loss"] for link in losses] == [
        {"model": "bernoulli", "rate": 0.01},
        {"model": "bernoulli", "rate": 0.02},
    ]
