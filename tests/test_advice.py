"""Known properties of a scenario before it runs."""

import pytest

from fairwave.advice import activities, advise, rate_in_words
from fairwave.scenario import load
from scenarios import CALLS


def test_loads_and_bandwidth_delay_products_are_those_of_the_arithmetic():
    found = advise(load(CALLS))
    bottleneck = next(one for one in found.links if one.name == "r1>r2")
    # Four calls of G.711: 160 B and 40 B of headers each 20 ms.
    assert bottleneck.offered_bps == pytest.approx(4 * 200 * 8 / 0.02)
    assert bottleneck.load == pytest.approx(320 / 300)
    assert (bottleneck.greedy, bottleneck.flows) == (1, 5)
    assert bottleneck.round_trip_s == pytest.approx(0.06)
    assert bottleneck.bdp_packets == pytest.approx(300e3 * 0.06 / 8000)
    assert found.links[0] is bottleneck, "the most loaded comes first"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "r1>r2 is offered 320 kb/s"),
        ({}, "1.3 s at 300 kb/s"),
        (
            {
                "flow.voice.count": 0,
                "topology.bottleneck.rate": "50 Mb/s",
                "flow.files.transport": {"name": "tcp/reno", "receiver-window": 64},
            },
            "the window of 64 segments holds a flow of files to 12.3 Mb/s",
        ),
        ({"flow.voice.timely": "20 ms"}, "nothing of voice can be timely"),
        ({"flow.voice.stop": "900 ms"}, "flows of voice stop within the warm-up (1 s)"),
        ({"warmup": "5 s"}, "the warm-up (5 s) is more than half"),
        (
            {"topology.bottleneck.rate": "10 Mb/s", "topology.source-access": {"rate": "1 Mb/s"}},
            "r1>r2 (10 Mb/s) is no bottleneck: 5 links such as ",
        ),
        (
            {"topology.bottleneck.rate": "50 kb/s"},
            "a single flow of voice offers 80 kb/s, more than r1>r2 has (50 kb/s)",
        ),
        (
            {
                "topology.bottleneck.rate": "100 Mb/s",
                "topology.bottleneck.queue": {"capacity": {"packets": 10}},
            },
            "less than a tenth of its bandwidth-delay product",
        ),
    ],
)
def test_likely_mistakes_are_told_with_their_numbers(changes, says):
    found = advise(load(CALLS).with_overrides(changes))
    assert any(says in one for one in found.mistakes), found.mistakes


STREAMS = """
name = "streams"
duration = "5 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "10 Mb/s", delay = "20 ms" }

[[flow]]
name = "camera"
count = 3
transport = "udp"
traffic = { kind = "cbr", rate = "500 kb/s", payload = "500 B" }

[[flow]]
name = "sensor"
transport = "udp"
traffic = { kind = "cbr", rate = "100 kb/s", payload = "100 B", phase = "zero" }
"""


def step_mistakes(**changes):
    found = advise(
        load(STREAMS).with_overrides({path.replace("__", "."): to for path, to in changes.items()})
    )
    return [one for one in found.mistakes if "in step" in one]


def test_sources_that_begin_at_the_same_moment_of_their_period_are_in_step():
    assert step_mistakes() == [], "sources begin at random moments"
    (said,) = step_mistakes(flow__camera__traffic__phase="zero")
    assert "4 sources (camera, sensor) are in step at r1>r2: each repeats every 8 ms" in said
    assert 'phase = "random"' in said
    assert step_mistakes(preset="ns2"), "ns-2's sources begin at once"


@pytest.mark.parametrize(
    "changes",
    [
        {"flow__camera__start": {"from": "0 s", "to": "1 s"}, "flow__camera__traffic__phase": "zero"},
        {"flow__camera__traffic": {"kind": "voice", "always-on": False, "phase": "zero"}},
        {
            "flow__camera__traffic": {"kind": "cbr", "rate": "400 kb/s", "phase": "zero"},
            "flow__camera__count": 1,
        },
    ],
)
def test_sources_that_start_apart_pause_or_have_other_periods_are_not_in_step(changes):
    assert step_mistakes(**changes) == []


def test_how_much_speakers_talk_is_said_in_words():
    def said(**traffic):
        return activities(load(CALLS).with_overrides({"flow.voice.traffic": {"kind": "voice", **traffic}}))

    assert said() == {"voice": "speakers talk all the time"}
    assert said(codec="g729") == {"voice": "speakers talk 43 % of the time"}
    assert said(silence={"distribution": "exponential", "mean": "3 s"}) == {
        "voice": "speakers talk 25 % of the time"
    }


def test_a_sound_scenario_has_none():
    assert advise(load("examples/home-uplink.toml")).mistakes == []
    # A hundred flows share the link, and ns-2's window of 64 exceeds each flow's part.
    assert advise(load("examples/dumbbell.toml")).mistakes == []


def test_the_window_that_is_advised_is_enough_and_the_one_that_is_not_is_measured():
    scenario = load(CALLS).with_overrides(
        {
            "flow.voice.count": 0,
            "topology.bottleneck.rate": "10 Mb/s",
            "flow.files.transport": {"name": "tcp/reno", "receiver-window": 20},
        }
    )
    (said,) = [one for one in advise(scenario).mistakes if "window" in one]
    most = float(said.split(" to ")[1].split(" Mb/s")[0])
    assert scenario.run().measured("goodput", "files").interval().mean == pytest.approx(most, rel=0.05)


def test_rates_are_told_with_the_unit_that_suits_them():
    assert [rate_in_words(rate) for rate in (300e3, 2.5e6, 1e9, 12)] == [
        "300 kb/s",
        "2.5 Mb/s",
        "1 Gb/s",
        "12 b/s",
    ]


def test_a_bottleneck_that_its_only_access_link_undercuts_is_told():
    text = """name = "undercut"
duration = "10 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "10 Mb/s", delay = "5 ms" }
source-access = { rate = "2 Mb/s" }
[[flow]]
name = "file"
transport = "cubic"
traffic = "bulk"
"""
    (said,) = [one for one in advise(load(text)).mistakes if "no bottleneck" in one]
    assert "can send at most 2 Mb/s, so packets wait there and the queue of r1>r2 stays empty" in said
    assert advise(load(text).with_overrides({"topology.source-access.rate": "10 Mb/s"})).mistakes == []


def test_the_cost_of_a_run_is_told_before_it_is_made():
    assert not advise(load(CALLS)).cost.is_large
    links = {"bottleneck": "1 Gb/s", "access": "1 Gb/s"}
    dear = load(CALLS).with_overrides(
        {
            "duration": "1 h",
            "flow.voice.count": 0,
            **{f"topology.{name}.rate": rate for name, rate in links.items()},
        }
    )
    # 1 Gb/s for an hour is 4.3e8 packets of 1040 B, each over three links, its acknowledgement over three more.
    cost = advise(dear).cost
    assert cost.is_large
    assert 2e9 < cost.packet_hops < 4e9
    assert "packet-hops" in str(cost)
    assert "minutes on one core" in str(cost)
