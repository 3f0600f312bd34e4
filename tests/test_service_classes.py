"""DSCP, class maps, policers, shapers and routes: messages about mistakes, and results of runs."""

import json
import struct

import pytest

import fairwave
from fairwave.capturing import capture

OFFICE = """
name = "office"
duration = "3 s"

[topology]
preset = "dumbbell"

[topology.bottleneck]
rate = "1 Mb/s"
delay = "10 ms"

[topology.bottleneck.queue]
discipline = "llq"
capacity = { packets = 30 }
classes = [
  { name = "voice", match = { dscp = ["ef"] }, priority = true, police = { rate = "30 %", burst = "3 kB" } },
  { name = "data", weight = 2, queue = "fq-codel" },
]

[[flow]]
name = "call"
transport = "udp"
traffic = "voice"

[[flow]]
name = "upload"
transport = "tcp/reno"
traffic = "bulk"
"""

RING = """
name = "ring"
duration = "6 s"

[[link]]
from = "a"
to = "r1"
rate = "10 Mb/s"
delay = "1 ms"

[[link]]
from = "r1"
to = "r2"
rate = "10 Mb/s"
delay = "5 ms"
queue = "red"

[[link]]
from = "r1"
to = "r3"
rate = "10 Mb/s"
delay = "20 ms"

[[link]]
from = "r3"
to = "r2"
rate = "10 Mb/s"
delay = "20 ms"

[[link]]
from = "r2"
to = "b"
rate = "10 Mb/s"
delay = "1 ms"

[[flow]]
name = "stream"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "cbr", rate = "80 kb/s", payload = "100 B" }
"""
CLASSES = "topology.bottleneck.queue.classes"


def changed(text, key, value):
    return fairwave.load(text).with_overrides({key: value})


def said_of(text, key, value):
    with pytest.raises(fairwave.ScenarioError) as said:
        changed(text, key, value).plan()
    return str(said.value)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("flow.call.dscp", "gold", ["`gold` is no DSCP", "ef"]),
        ("flow.call.dscp", 64, ["0 to 63"]),
        (f"{CLASSES}.data.weight", 0, ["would never send", "weight = 3"]),
        (f"{CLASSES}.voice.weight", 2, ["goes before all weights"]),
        (f"{CLASSES}.voice.priority", False, ["priority = true"]),
        (f"{CLASSES}.voice.police.rate", "0 %", ["above"]),
        (f"{CLASSES}.voice.police.burst", "100 B", ["a bucket of 100 bytes", "200 bytes or more"]),
        (f"{CLASSES}.voice.police.exceed", "shape", ["drop", "transmit", "remark"]),
        (f"{CLASSES}.voice.match.port", 5060, ["port"]),
        (f"{CLASSES}.data.queue", "fifo", ["fifo"]),
        (CLASSES, [], ["1 to 32"]),
        ("topology.bottleneck.queue.victim", "front", ["each class's queue"]),
        ("topology.bottleneck.police", {"rate": "1 Mb/s", "burst": "1 B"}, ["at least one packet"]),
        (
            "topology.bottleneck.police",
            {"rate": "1 Mb/s", "burst": "500 B"},
            ["cannot hold a packet of 1500 bytes"],
        ),
        (
            "topology.bottleneck.shape",
            {"rate": "1 Mb/s", "burst": "500 B"},
            ["cannot hold a packet of 1500 bytes"],
        ),
        ("topology.bottleneck.shape", {"burst": "5 kB"}, ["rate"]),
        ("flow.call.route", ["r1"], ["from"]),
        ("flow.call.failover", "1 h", ["less than `duration`"]),
    ],
)
def test_a_mistake_is_answered_with_what_to_write(key, value, words):
    said = said_of(OFFICE, key, value)
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("flow.stream.route", ["r9"], ["no link touches a node `r9`"]),
        ("flow.stream.route", ["r3", "r1"], ["twice"]),
        ("flow.stream.route-back", ["a", "r3"], ["twice"]),
    ],
)
def test_a_route_that_is_none_is_refused(key, value, words):
    said = said_of(RING, key, value)
    assert all(word in said for word in words), said


def cautions(scenario):
    return " ".join(scenario.cautions())


def test_a_class_that_no_flow_matches_is_named_with_the_code_points_that_come():
    assert cautions(fairwave.load(OFFICE)) == ""
    said = cautions(changed(OFFICE, f"{CLASSES}.voice.match.dscp", ["cs5"]))
    assert "no flow matches `voice`" in said
    assert "df, ef" in said
    remarking = changed(OFFICE, f"{CLASSES}.voice.match.dscp", ["le"])
    police = {"rate": "500 kb/s", "burst": "5 kB", "exceed": {"remark": "le"}}
    assert cautions(remarking) != ""
    assert cautions(remarking.with_overrides({"topology.bottleneck.police": police})) == "", (
        "the policer before it remarks"
    )


def test_priority_without_a_policer_is_warned_of():
    assert "starve" in cautions(changed(OFFICE, f"{CLASSES}.voice.police", None))


def test_each_class_counts_what_it_got():
    run = fairwave.load(OFFICE).run()
    rows = {row["class"]: row for row in run.service_classes.to_pylist() if row["link"] == "r1>r2"}
    assert set(rows) == {"voice", "data"}
    links = {row["link"]: row for row in run.links.to_pylist()}
    assert sum(row["arrivals"] for row in rows.values()) == links["r1>r2"]["arrivals"]
    assert rows["voice"]["policed"] == 0
    assert rows["voice"]["max_wait_s"] < 0.012 < rows["data"]["max_wait_s"]


def test_without_classes_there_is_no_such_table_and_a_dscp_changes_nothing_by_itself():
    plain = changed(OFFICE, "topology.bottleneck.queue", {"discipline": "drop-tail"})
    one, other = plain.run(), plain.with_overrides({"flow.call.dscp": "af41"}).run()
    assert "service_classes" not in one.tables
    assert one.flows.equals(other.flows)


def test_cake_sorts_by_the_dscp():
    queue = {"discipline": "cake", "bandwidth": "900 kb/s", "capacity": {"packets": 1000}}
    cake = changed(OFFICE, "topology.bottleneck.queue", queue)
    as_voice = cake.with_overrides({"flow.upload.dscp": "ef"}).run()
    best = cake.run()
    waits = [
        next(
            row["mean_wait_s"]
            for row in run.tables["classes"].to_pylist()
            if (row["link"], row["class"]) == ("r1>r2", "voice")
        )
        for run in (best, as_voice)
    ]
    assert waits[0] < waits[1], "an upload that bears EF is in the voice tin, too"


def test_captures_hold_the_code_point(tmp_path):
    police = {"rate": "40 kb/s", "burst": "1500 B", "exceed": {"remark": "le"}}
    scenario = changed(OFFICE, f"{CLASSES}.voice.police", police).with_overrides({"flow.call.dscp": "ef"})
    capture(scenario, {"link:r1>r2": tmp_path / "up.pcapng", "link:r2>call-d0": tmp_path / "down.pcapng"})
    assert code_points((tmp_path / "up.pcapng").read_bytes()) == {0, 1, 46}, (
        "the policer remarks before the link"
    )
    assert code_points((tmp_path / "down.pcapng").read_bytes()) == {0, 1, 46}, (
        "and what it remarked stays so; SIP is best effort"
    )


def code_points(pcapng):
    """The code points of the IPv4 packets in a file's enhanced packet blocks."""
    seen, at = set(), 0
    while at < len(pcapng):
        kind, length = struct.unpack_from("<II", pcapng, at)
        if kind == 6:
            assert pcapng[at + 28] >> 4 == 4
            seen.add(pcapng[at + 29] >> 2)
        at += length
    return seen


def outages(failover):
    events = [
        {"at": "2 s", "link": "r1<>r2", "state": "down"},
        {"at": "4 s", "link": "r1<>r2", "state": "up"},
    ]
    scenario = fairwave.load(RING).with_overrides({"event": events})
    return (
        scenario if failover is None else scenario.with_overrides({"flow.stream.failover": failover})
    ).run()


def test_a_failover_loses_what_is_sent_until_then_and_the_outage_counts_it():
    for failover, seconds in (("500 ms", 0.5), ("1 s", 1), (None, 2), ("3 s", 2)):
        run = outages(failover)
        lost = run.flows.to_pylist()[0]["lost"]
        assert abs(lost - 100 * seconds) <= 2, failover
        taken = sum(
            row["lost_waiting"] + row["lost_in_transmission"] for row in run.tables["outages"].to_pylist()
        )
        assert taken == lost


def test_ways_there_and_back_may_differ():
    plan = (
        changed(RING, "flow.stream.route", ["r3"])
        .with_overrides({"flow.stream.transport": "tcp/reno", "flow.stream.traffic": "bulk"})
        .plan()
    )
    text = json.dumps(plan, default=str)
    assert "r1>r3" in text
    run = (
        changed(RING, "flow.stream.route", ["r3"])
        .with_overrides({"flow.stream.transport": "tcp/reno", "flow.stream.traffic": "bulk"})
        .run()
    )
    carried = {row["link"]: row["departures"] for row in run.links.to_pylist()}
    assert carried["r1>r3"] > 0 < carried["r2>r1"]
    assert carried["r1>r2"] == carried["r3>r1"] == 0
