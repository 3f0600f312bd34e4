"""qlog: files that follow the schema, from Python and from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import fairwave
from fairwave.capturing import qlog

SCENARIO = """
name = "logged"
duration = "10 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms", queue = { capacity = { packets = 15 } } }
[[flow]]
name = "up"
count = 2
transport = "tcp/cubic"
traffic = "bulk"
[[flow]]
name = "smooth"
transport = "tfrc"
traffic = "bulk"
[[flow]]
name = "layered"
transport = "dvrc"
traffic = { kind = "video", layers = ["50 kb/s", "50 kb/s"] }
"""

EVENTS = {
    "transport:packet_sent",
    "transport:packet_received",
    "recovery:metrics_updated",
    "recovery:congestion_state_updated",
    "recovery:packet_lost",
    "fairwave:controller",
}


WHOLE, NUMBER, TEXT = (int,), (int, float), (str,)
HEADER = {"packet_type": TEXT, "packet_number": WHOLE}
FRAMES = {
    "crypto": {"frame_type": TEXT, "offset": WHOLE, "length": WHOLE},
    "stream": {"frame_type": TEXT, "stream_id": WHOLE, "offset": WHOLE, "length": WHOLE},
    "ack": {"frame_type": TEXT, "acked_ranges": (list,)},
}
PACKET = {"header": (dict,), "raw": (dict,), "frames": (list,)}
FIELDS = {
    "transport:packet_sent": PACKET,
    "transport:packet_received": PACKET,
    "recovery:metrics_updated": dict.fromkeys(
        ("congestion_window", "ssthresh", "bytes_in_flight", "packets_in_flight"), WHOLE
    )
    | dict.fromkeys(("smoothed_rtt", "latest_rtt", "min_rtt"), NUMBER),
    "recovery:congestion_state_updated": {"old": TEXT, "new": TEXT},
    "recovery:packet_lost": {"header": (dict,), "trigger": TEXT, "fairwave_cause": TEXT},
}
"""Fields of these events in the CDDL of draft-ietf-quic-qlog-quic-events-04, and one of fairwave's."""


def fits(data: dict, allowed: dict, *, needs: tuple[str, ...] = ()) -> None:
    """Only fields of the schema, each with its type; numbers are not negative."""
    assert set(data) <= set(allowed), data
    assert set(needs) <= set(data), data
    for name, value in data.items():
        assert isinstance(value, allowed[name]), (name, value)
        assert not isinstance(value, (int, float)) or value >= 0, (name, value)


def follows_the_schema(name: str, data: dict) -> None:
    """Checks an event's data against the CDDL."""
    if name not in FIELDS:
        return
    fits(data, FIELDS[name])
    if "header" in data:
        fits(data["header"], HEADER, needs=("packet_type",))
    if "raw" in data:
        fits(data["raw"], {"length": WHOLE})
    for frame in data.get("frames", ()):
        allowed = FRAMES[frame["frame_type"]]
        fits(frame, allowed, needs=tuple(allowed))
        for one in frame.get("acked_ranges", ()):
            assert 1 <= len(one) <= 2
            assert sorted(one) == one
    assert data.get("trigger", "time_threshold") in {"reordering_threshold", "time_threshold", "pto_expired"}


def valid(path: Path) -> dict:
    """Checks a file for the fields that draft-ietf-quic-qlog-main-schema (0.3) requires."""
    file = json.loads(path.read_text(encoding="utf-8"))
    assert file["qlog_version"] == "0.3"
    assert file["qlog_format"] == "JSON"
    [trace] = file["traces"]
    assert trace["vantage_point"]["type"] in {"client", "server", "network", "unknown"}
    common = trace["common_fields"]
    assert common["time_format"] == "relative"
    assert isinstance(common["reference_time"], (int, float))
    assert isinstance(common["ODCID"], str)
    last = 0.0
    for event in trace["events"]:
        assert set(event) == {"time", "name", "data"}
        assert event["name"] in EVENTS
        assert isinstance(event["data"], dict)
        assert event["time"] >= last
        last = event["time"]
        follows_the_schema(event["name"], event["data"])
        if event["name"] == "transport:packet_sent":
            assert event["data"]["header"]["packet_type"] == "1RTT"
            assert event["data"]["header"]["packet_number"] >= 0
            assert event["data"]["raw"]["length"] > 0
        if event["name"] == "recovery:packet_lost":
            assert "packet_number" in event["data"]["header"]
        if event["name"] == "recovery:congestion_state_updated":
            assert event["data"]["new"] in {"slow_start", "congestion_avoidance", "recovery", "timeout"}
    return file


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qlog")
    read = fairwave.load(SCENARIO)
    return read.run(1), {one.path.stem: (one, valid(one.path)) for one in qlog(read, folder)}


def named(file, name):
    return [event for event in file["traces"][0]["events"] if event["name"] == name]


def test_every_flow_has_a_file_with_what_the_schema_requires(logged):
    _, files = logged
    assert set(files) == {"up-0", "up-1", "smooth-0", "layered-0"}
    for one, file in files.values():
        assert one.packets == len(file["traces"][0]["events"]) > 100


def test_numbers_are_those_of_the_tables(logged):
    results, files = logged
    rows = results.to_polars("flows").with_columns(pl.col("group").cast(pl.String)).to_dicts()
    for row in rows:
        _, file = files[f"{row['group']}-{row['flow']}"]
        assert len(named(file, "transport:packet_sent")) == row["packets_sent"]
        if row["group"] == "up":
            assert len(named(file, "recovery:packet_lost")) == row["packets_retransmitted"] > 0
    smooth = next(row for row in rows if row["group"] == "smooth")
    assert len(named(files["smooth-0"][1], "recovery:packet_lost")) == smooth["dropped"] + smooth["lost"]


def test_controllers_say_what_they_decide(logged):
    _, files = logged
    told = {name: set() for name in files}
    for name, (_, file) in files.items():
        for event in (*named(file, "recovery:metrics_updated"), *named(file, "fairwave:controller")):
            told[name] |= set(event["data"])
    assert {
        "congestion_window",
        "ssthresh",
        "bytes_in_flight",
        "smoothed_rtt",
        "latest_rtt",
        "min_rtt",
    } <= told["up-0"]
    assert {"rate_bps", "estimate"} <= told["smooth-0"]
    assert "receive_rate_bps" in told["layered-0"]


def test_flows_are_chosen_and_unknown_ones_refused(tmp_path):
    read = fairwave.load(SCENARIO)
    assert [one.path.name for one in qlog(read, tmp_path, ["up"])] == ["up-0.qlog", "up-1.qlog"]
    assert [one.path.name for one in qlog(read, tmp_path / "one", ["smooth"])] == ["smooth-0.qlog"]
    with pytest.raises(ValueError, match="there is no flow `uup`"):
        qlog(read, tmp_path, ["uup"])


def test_the_command_line_writes_them(tmp_path):
    file = tmp_path / "logged.toml"
    file.write_text(SCENARIO, encoding="utf-8")

    def run(*arguments):
        command = [sys.executable, "-m", "fairwave", "run", str(file), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    status, said = run("--qlog", str(tmp_path / "q"), "--qlog-flow", "up[1]")
    assert status == 0, said
    assert [one.name for one in (tmp_path / "q").iterdir()] == ["up-1.qlog"]
    valid(tmp_path / "q" / "up-1.qlog")
    status, said = run("--qlog", str(tmp_path / "q"), "--qlog-flow", "nobody")
    assert status != 0
    assert "there is no flow 'nobody'" in said
    status, said = run("--qlog-flow", "up")
    assert status != 0
    assert "--qlog DIR" in said
    status, said = run("--qlog", str(file))
    assert status != 0
    assert "is a file" in said
