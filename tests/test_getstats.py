"""`getStats()` of a session, checked against W3C's webrtc-stats, and the dump of `chrome://webrtc-internals`."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import fairwave
from fairwave import getstats

SECONDS = 12

CUMULATIVE = {
    "outbound-rtp": {
        "packetsSent", "bytesSent", "headerBytesSent", "retransmittedPacketsSent", "retransmittedBytesSent",
        "nackCount", "pliCount", "firCount", "framesEncoded", "framesSent", "keyFramesEncoded",
        "totalPacketSendDelay",
    },
    "inbound-rtp": {
        "packetsReceived", "bytesReceived", "headerBytesReceived", "packetsDiscarded", "fecPacketsReceived",
        "retransmittedPacketsReceived", "nackCount", "pliCount", "framesReceived", "framesDecoded",
        "framesRendered", "freezeCount", "totalFreezesDuration", "jitterBufferDelay",
        "jitterBufferEmittedCount", "totalSamplesReceived", "concealedSamples", "concealmentEvents",
    },
}  # fmt: skip
"""Members that webrtc-stats defines as totals since the beginning."""

PICTURES = {"framesEncoded", "framesDecoded", "freezeCount", "frameWidth", "keyFramesEncoded"}
SPEECH = {"concealedSamples", "totalSamplesReceived", "concealmentEvents"}


@cache
def results(link="clean", fec=""):
    table = {"from": "a", "to": "b", "rate": "3 Mb/s", "delay": "25 ms"}
    table |= {
        "clean": {},
        "copies": {"duplicate": {"share": 0.2}},
        "loss": {"loss": {"model": "bernoulli", "rate": 0.03}},
        "dead": {"loss": {"model": "bernoulli", "rate": 1.0}},
    }[link]
    transport = {"name": "webrtc"} | ({"fec": fec} if fec else {})
    flow = {"name": "call", "from": "a", "to": "b", "transport": transport, "traffic": "media"}
    whole = {"name": "stats", "duration": f"{SECONDS} s", "link": [table], "flow": [flow]}
    return fairwave.Scenario.from_dict(whole).run()


@cache
def session(link="clean", fec=""):
    (one,) = getstats.reports(results(link, fec))
    return one


def series(samples, kind, media):
    return [
        one for stats in samples for one in stats.values() if one["type"] == kind and one["kind"] == media
    ]


@pytest.mark.parametrize("link", ["clean", "copies", "loss"])
@pytest.mark.parametrize("media", ["audio", "video"])
def test_totals_never_fall(link, media):
    for kind, samples in (("outbound-rtp", session(link).sender), ("inbound-rtp", session(link).receiver)):
        rows = series(samples, kind, media)
        assert len(rows) == SECONDS
        for member in CUMULATIVE[kind]:
            values = [row[member] for row in rows if member in row]
            assert values == sorted(values), member


def test_there_is_a_sample_each_second_in_milliseconds():
    stamps = [row["timestamp"] for row in series(session().receiver, "inbound-rtp", "audio")]
    assert {round(one) for one in np.diff(stamps)} == {1000.0}
    assert stamps[0] == getstats.BEGIN.timestamp() * 1e3 + 1000


def test_members_belong_to_the_kind_of_their_stream():
    for samples, kind in ((session().sender, "outbound-rtp"), (session().receiver, "inbound-rtp")):
        assert not PICTURES & set(series(samples, kind, "audio")[-1])
        assert not SPEECH & set(series(samples, kind, "video")[-1])
        assert {"id", "timestamp", "type", "kind", "ssrc", "mid"} <= set(series(samples, kind, "video")[-1])


def test_lost_packets_are_those_expected_less_those_received_and_copies_make_it_negative():
    # RFC 3550 §6.4.1: duplicates count as received.
    audio = series(session("copies").receiver, "inbound-rtp", "audio")[-1]
    assert audio["packetsLost"] < 0
    sent = series(session("copies").sender, "outbound-rtp", "audio")[-1]["packetsSent"]
    assert audio["packetsLost"] == pytest.approx(-0.2 * sent, rel=0.4)
    assert series(session().receiver, "inbound-rtp", "audio")[-1]["packetsLost"] == 0


def test_loss_of_an_interval_is_not_the_total():
    remote = series(session("loss").sender, "remote-inbound-rtp", "audio")
    last = remote[-1]
    assert 0 <= last["fractionLost"] < 1
    assert last["packetsLost"] == int(last["packetsLost"])
    assert len({row["fractionLost"] for row in remote}) > 2


def test_retransmissions_are_counted_apart_and_within_the_total():
    sent = series(session("loss").sender, "outbound-rtp", "video")[-1]
    received = series(session("loss").receiver, "inbound-rtp", "video")[-1]
    assert 0 < sent["retransmittedPacketsSent"] < sent["packetsSent"]
    assert 0 < received["retransmittedPacketsReceived"] <= sent["retransmittedPacketsSent"]
    assert received["nackCount"] > 0
    # Without losses only padding repeats packets.
    clean = results().to_polars("media").filter(stream="video")
    assert clean["packets_retransmitted"][0] == clean["packets_padding"][0]


def test_parity_is_counted_apart():
    received = series(session("loss", "flexfec").receiver, "inbound-rtp", "video")[-1]
    assert received["fecPacketsReceived"] > 0
    assert series(session().receiver, "inbound-rtp", "video")[-1].get("fecPacketsReceived", 0) == 0


def test_jitter_round_trips_and_buffers_are_in_seconds():
    received = series(session().receiver, "inbound-rtp", "audio")[-1]
    assert 0 <= received["jitter"] < 0.05
    remote = series(session().sender, "remote-inbound-rtp", "video")[-1]
    assert 0.05 <= remote["roundTripTime"] < 0.3
    assert 0 < received["jitterBufferDelay"] / received["jitterBufferEmittedCount"] < 0.3
    assert received["totalSamplesReceived"] == pytest.approx(48_000 * SECONDS, rel=0.05)


def test_the_pair_has_the_estimate_and_the_sums_of_its_streams():
    stats = session().sender[-1]
    pair, streams = stats["candidate-pair"], [one for one in stats.values() if one["type"] == "outbound-rtp"]
    assert pair["packetsSent"] == sum(one["packetsSent"] for one in streams)
    assert pair["availableOutgoingBitrate"] > 300e3
    assert 0.05 <= pair["currentRoundTripTime"] < 0.3


def test_limits_of_quality_last_as_long_as_the_session():
    video = series(session().sender, "outbound-rtp", "video")[-1]
    lasted = video["qualityLimitationDurations"]
    assert set(lasted) == {"none", "cpu", "bandwidth", "other"}
    assert sum(lasted.values()) == pytest.approx(SECONDS, abs=1)
    assert video["qualityLimitationReason"] in lasted


def test_a_receiver_of_nothing_has_no_reports():
    # webrtc-stats §8.5: an inbound-rtp report exists from the first packet on.
    assert session("dead").receiver == []
    assert len(series(session("dead").sender, "outbound-rtp", "video")) == SECONDS
    assert series(session("dead").sender, "remote-inbound-rtp", "video") == []
    assert len(getstats.internals([session("dead")])["PeerConnections"]) == 2


def test_the_dump_has_what_readers_of_webrtc_internals_expect():
    dump = getstats.internals([session()])
    assert set(dump) == {"getUserMedia", "PeerConnections", "UserAgent", "UserAgentData"}
    assert len(dump["PeerConnections"]) == 2
    for connection in dump["PeerConnections"].values():
        assert {"pid", "rid", "url", "rtcConfiguration", "constraints", "updateLog", "stats"} <= set(
            connection
        )
        for name, one in connection["stats"].items():
            assert set(one) == {"startTime", "endTime", "statsType", "values"}
            assert name.rpartition("-")[2]
            assert isinstance(json.loads(one["values"]), list)
            assert one["startTime"].endswith("Z")
    sender = dump["PeerConnections"]["1-1"]["stats"]
    assert json.loads(sender["outbound-video-0-packetsSent"]["values"]) == [
        row["packetsSent"] for row in series(session().sender, "outbound-rtp", "video")
    ]


def test_each_series_of_a_dump_spans_the_samples_that_have_its_member():
    samples = [
        {"V": {"id": "V", "type": "outbound-rtp", "timestamp": 1e12 + 1e3 * at, "bytesSent": at,
               **({"frameHeight": 180 + at} if 3 <= at < 6 else {})}}
        for at in range(10)
    ]  # fmt: skip
    made = getstats.internals([getstats.Session("call", 0, samples, [])])
    found = made["PeerConnections"]["1-1"]["stats"]
    assert json.loads(found["V-timestamp"]["values"])[-1] == 1e12 + 9e3
    height = found["V-frameHeight"]
    assert json.loads(height["values"]) == [183, 184, 185]
    assert (height["startTime"], height["endTime"]) == (
        "2001-09-09T01:46:43.000Z",
        "2001-09-09T01:46:45.000Z",
    )


def test_runs_without_sessions_are_refused_with_what_to_write(tmp_path):
    path = tmp_path / "voice.toml"
    path.write_text(
        'name = "x"\nduration = "2 s"\n[topology]\npreset = "dumbbell"\n'
        'bottleneck = { rate = "1 Mb/s", delay = "5 ms" }\n'
        '[[flow]]\nname = "v"\ntransport = "udp"\ntraffic = "voice"\n'
    )
    command = [sys.executable, "-m", "fairwave", "run", str(path), "--stats", str(tmp_path / "stats")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert 'traffic = "media", transport = "webrtc"' in done.stderr
    assert not (tmp_path / "stats").exists()


def test_files_are_written_per_session_and_once_for_all(tmp_path):
    made = getstats.write(results(), tmp_path / "stats")
    assert [one.name for one in made] == ["call-0.json", "webrtc-internals.json"]
    assert set(json.loads(made[0].read_text())) == {"sender", "receiver"}
