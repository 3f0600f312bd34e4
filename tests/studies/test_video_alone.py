"""Every system of the video study alone on an empty path: basic requirements before any comparison with others.

No claim of the paper is tested. The tests flag readings that the paper's words allow but that fail here.
"""

from functools import cache

import pytest

from fairwave_studies.video import study
from fairwave_studies.video.points import SINGLE, scenario
from fairwave_studies.video.systems import DVRC, RTCP, TFRC, UDP, WESTWOOD, systems

NARROW = {
    "topology.bottleneck.rate": "300 kb/s",
    "topology.bottleneck.queue.capacity": {"packets": 10},
    "topology.access.rate": "10 Mb/s",
}
"""Room for two layers, 256 kb/s, with their headers, and for 10 packets: four times the path's product."""

DEEP = NARROW | {"topology.bottleneck.queue.capacity": {"packets": 50}}
"""The same with a queue of 1.4 s, with late feedback."""

FAR = {
    "topology.bottleneck.rate": "10 Mb/s",
    "topology.bottleneck.delay": "240 ms",
    "topology.access.rate": "10 Mb/s",
}
"""More than enough, at a round trip of 500 ms."""

OF_DVRC = (
    "packets",
    "pace",
    "reaction",
    "rise",
    "alpha",
    "compared",
    "measured-over",
    "gains",
    "ceiling",
    "timeout",
)
"""Factors that concern DVRC alone."""

READINGS = study().readings

OTHERS = [(one.id, value.name) for one in READINGS.factors if one.id in OF_DVRC for value in one.values[1:]]
"""Every other value alone."""


@cache
def alone(name, path, *values):
    """The video's row, and the layers sent over time, of one system alone for two minutes."""
    changes = {"narrow": NARROW, "deep": DEEP, "far": FAR}[path] | systems((name,))[name]
    for factor, value in values:
        found = READINGS.factor(factor).value(value).changes
        changes |= found(SINGLE, {"transport": name}) if callable(found) else found
    adapts = {"record.windows": ["video"], "record.window-interval": "150 ms"} if name in (DVRC, RTCP) else {}
    ran = scenario("single", **{"duration": "120 s", "flow.ftp.count": 0, **adapts, **changes}).run(seed=1)
    series = ran.series.to_pylist() if adapts else []
    return ran.flows.to_pylist()[0], [
        (one["time_s"], one["value"]) for one in series if one["kind"] == "layers"
    ]


def lost(row):
    return row["dropped"] / row["packets_sent"]


def mean_layers(layers, after=30):
    late = [count for time, count in layers if time > after]
    return sum(late) / len(late)


def longest_at_all(layers):
    """The longest time at all five layers without a break, seconds."""
    longest = run = 0
    for _, count in layers:
        run = run + 1 if count == 5 else 0
        longest = max(longest, run)
    return 0.15 * longest


def test_dvrc_alone_loses_about_what_rtcp_does_where_two_layers_have_room_and_carries_them():
    for path in ("narrow", "deep"):
        row, layers = alone(DVRC, path)
        assert lost(row) < max(0.1, 1.5 * lost(alone(RTCP, path)[0])), (path, lost(row))
        assert row["goodput_bps"] > 0.85 * 256e3, (path, row["goodput_bps"])
        assert 1.5 < mean_layers(layers) < 2.5, path


def test_dvrc_alone_reaches_all_its_layers_over_500_ms_within_a_minute_and_keeps_them():
    row, layers = alone(DVRC, "far")
    assert next(time for time, count in layers if count == 5) < 60
    assert all(count == 5 for time, count in layers if time > 60)
    assert row["dropped"] == 0


@pytest.mark.parametrize(("factor", "value"), OTHERS)
def test_under_every_value_that_is_admitted_dvrc_alone_is_at_least_tolerable(factor, value):
    row, layers = alone(DVRC, "narrow", (factor, value))
    assert lost(row) < 0.3, lost(row)
    assert row["goodput_bps"] > 0.75 * 256e3, row["goodput_bps"]
    assert mean_layers(layers) < 3
    assert longest_at_all(alone(DVRC, "deep", (factor, value))[1]) < 10
    far, layers = alone(DVRC, "far", (factor, value))
    assert far["dropped"] == 0
    assert next(time for time, count in layers if count == 5) < 90


def test_the_combination_that_loses_a_third_alone_is_admitted_and_flagged():
    both = (("reaction", "once per round trip"), ("alpha", "a packet per round trip"))
    row, _ = alone(DVRC, "narrow", *both)
    assert lost(row) > 0.3
    found = study().readings
    assert found.complete(dict(both))["alpha"] == "a packet per round trip"
    flagged = [value.name for factor in found.factors for value in factor.values if value.flagged]
    assert flagged == ["once per round trip"]


def test_rtcp_alone_finds_the_two_layers_that_have_room():
    row, layers = alone(RTCP, "narrow")
    assert lost(row) < 0.1
    assert 1.4 < mean_layers(layers) < 2.5


def test_rtcp_alone_reaches_all_its_layers_over_500_ms_within_a_minute():
    _, layers = alone(RTCP, "far")
    assert next(time for time, count in layers if count == 5) < 60


@pytest.mark.parametrize("name", [TFRC, WESTWOOD])
@pytest.mark.parametrize("path", ["narrow", "deep"])
def test_a_stream_whose_rate_is_controlled_fills_the_narrow_link_and_loses_little(name, path):
    row, _ = alone(name, path)
    assert lost(row) < 0.05, lost(row)
    assert row["goodput_bps"] > 0.85 * 300e3 * 1000 / 1040, row["goodput_bps"]


@pytest.mark.parametrize("name", [TFRC, WESTWOOD, UDP])
def test_a_stream_has_all_it_wants_where_there_is_more_than_enough(name):
    row, _ = alone(name, "far")
    assert row["dropped"] == 0
    assert row["goodput_bps"] > 0.9 * 1024e3, row["goodput_bps"]


def test_udp_alone_sends_on_whatever_is_lost():
    row, _ = alone(UDP, "narrow")
    assert lost(row) == pytest.approx(1 - 300 / 1024, abs=0.05)


@pytest.mark.parametrize("name", [DVRC, TFRC])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_beside_two_tcp_flows_nobody_is_shut_out(name, seed):
    watched = {"duration": "60 s", "record.goodput": ["video", "ftp"]}
    ran = scenario("single", **{**watched, **systems((name,))[name]}).run(seed=seed)
    for flow in ("video[0]", "ftp[0]", "ftp[1]"):
        rates = [
            row["value"]
            for row in ran.series.to_pylist()
            if row["kind"] == "goodput_bps" and row["name"] == flow and row["time_s"] > 2
        ]
        longest = max(len(run) for run in "".join("0" if rate == 0 else "1" for rate in rates).split("1"))
        assert 0.15 * longest < 10, (flow, longest)
