"""Statistics that browsers write: each series at its own time, the path in use, every format, and bad files."""

import gzip
import json
import resource
import subprocess
import sys

import numpy as np
import pytest

from fairwave import dumps
from fairwave.dumps import DumpError, read_dump
from fairwave.fitting import statistics
from fairwave.replay import CaptureError
from validation.measured.made_dumps import (
    BEGIN_MS,
    counted,
    internals,
    jitsi,
    receiving,
    rtcstats3,
    sending,
    series,
)


@pytest.fixture
def read(tmp_path):
    """Writes contents, plain data or text, and reads them."""

    def write_and_read(contents, name="a.json"):
        text = contents if isinstance(contents, str) else json.dumps(contents)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return read_dump(tmp_path / name)

    return write_and_read


def read_seconds(path, connection=None):
    return statistics.read(path, connection)


def constant(name, since, count, **members):
    return series(name, since, {key: [value] * count for key, value in members.items()})


def test_when_a_stream_ends_the_rate_of_the_others_remains(read):
    dump = read(internals([
        series("OT01V1", 0, {"bytesSent": counted(500_000, 60)}),
        series("OT01V2", 0, {"bytesSent": counted(2_000_000, 30)}),
        constant("CP1", 0, 60, availableOutgoingBitrate=3e6),
    ]))  # fmt: skip
    (connection,) = dump.connections
    assert connection.sent_bps[1:30] == pytest.approx([2.5e6] * 29)
    assert connection.sent_bps[30:] == pytest.approx([5e5] * 30)
    assert [one.end_s for one in connection.sent] == [59, 29]


def test_a_stream_that_appears_late_is_placed_by_its_own_start(read):
    dump = read(internals([
        series("OT01A1", 0, {"bytesSent": counted(40_000, 60)}),
        series("OT01V2", 20, {"bytesSent": counted(800_000, 40)}),
    ]))  # fmt: skip
    (connection,) = dump.connections
    assert connection.sent_bps[1:21] == pytest.approx([4e4] * 20)
    assert connection.sent_bps[21:] == pytest.approx([8.4e5] * 39)


@pytest.mark.parametrize("stamps", [True, False])
def test_a_member_that_appears_later_than_its_object_begins_at_its_own_start(read, stamps):
    heights = [180] * 10 + [360] * 20
    dump = read(internals([
        series("OT01V1", 0, {"bytesSent": counted(5e5, 60), "frameHeight": (30, heights)}, stamps=stamps),
        constant("CP1", 0, 60, state="succeeded"),
    ]))  # fmt: skip
    height = dump.connections[0].sent[0].height
    assert np.isnan(height[:30]).all()
    assert height[30:].tolist() == heights


def test_values_missing_in_the_middle_of_a_series_do_not_shift_the_end(read):
    found = series("OT01V1", 0, {"bytesSent": counted(5e5, 60), "targetBitrate": [1e5] * 60})
    found["OT01V1-targetBitrate"]["values"] = json.dumps([1e5] * 20 + [2e5] * 20)
    target = read(internals([found])).connections[0].sent[0].target_bps
    assert target[0] == 1e5
    assert target[-1] == 2e5


def test_reports_of_the_other_end_that_repeat_keep_their_time(read):
    """RTCP reports every five seconds; the dump repeats the last one every second."""
    stamps = [BEGIN_MS + 5e3 * (at // 5) for at in range(60)]
    remote = series("RIV1", 0, {"timestamp": stamps, "packetsLost": [10 * (at // 5) for at in range(60)],
                                "localId": ["OT01V1"] * 60}, stamps=False)  # fmt: skip
    outbound = series(
        "OT01V1", 0, {"bytesSent": counted(5e5, 60), "packetsSent": [100 * at for at in range(60)]}
    )
    (stream,) = read(internals([outbound, remote])).connections[0].sent
    assert np.nansum(stream.lost) == pytest.approx(110)
    assert stream.loss[5:50] == pytest.approx([0.02] * 45)


def test_the_estimate_follows_the_pair_that_carries_the_call(read):
    dump = read(internals([
        series("OT01V1", 0, {"bytesSent": counted(5e5, 60)}),
        constant("CPaaa", 0, 30, availableOutgoingBitrate=1e6, currentRoundTripTime=0.02),
        constant("CPbbb", 30, 30, availableOutgoingBitrate=3e6, currentRoundTripTime=0.2),
    ]))  # fmt: skip
    (connection,) = dump.connections
    assert connection.available_bps.tolist() == [1e6] * 30 + [3e6] * 30
    assert connection.round_trip_s.tolist() == [0.02] * 30 + [0.2] * 30
    (change,) = connection.pair_changes
    assert (change.at_s, change.before, change.after) == (30, "CPaaa", "CPbbb")


SELECTED = {"selectedCandidatePairId": ["CPwifi"] * 25 + ["CPcell"] * 35}


@pytest.mark.parametrize(
    ("shown_by", "more"),
    [
        ("transport", {}),
        ("the last nomination", {"nominated": True}),
        ("selected", {"selected": True}),
        ("nominated", {"nominated": True}),
        ("bytes", {}),
    ],
)
def test_of_pairs_that_exist_together_the_one_in_use_counts(read, shown_by, more):
    """The pair before stays in the statistics, as a real Chrome keeps it."""
    there, gone = [True] * 60, [True] * 25 + [False] * 35
    came = [False] * 25 + [True] * 35
    carried = np.cumsum([0, *([90_000] * 24), *([0] * 35)]).tolist()
    wifi = {"availableOutgoingBitrate": [1e6] * 60, "bytesSent": carried, "localCandidateId": ["IL1"] * 60}
    cell = {"availableOutgoingBitrate": [3e6] * 60, "bytesSent": np.cumsum([0, *([0] * 24), *([90_000] * 35)]).tolist(),
            "localCandidateId": ["IL2"] * 60}  # fmt: skip
    if more:
        (member,) = more
        wifi[member], cell[member] = gone, came
    if shown_by in {"transport", "the last nomination"}:  # Chrome leaves the first one nominated
        wifi["nominated"] = there
        cell["nominated"] = there if shown_by == "transport" else came
    if shown_by == "the last nomination":
        del wifi["bytesSent"], cell["bytesSent"]
    objects = [series("OT01V1", 0, {"bytesSent": counted(5e5, 60)}),
               series("CPwifi", 0, wifi), series("CPcell", 0, cell),
               constant("IL1", 0, 60, candidateType="host", protocol="udp", networkType="wifi"),
               constant("IL2", 0, 60, candidateType="host", protocol="udp", networkType="cellular")]  # fmt: skip
    if shown_by == "transport":
        objects.append(series("T01", 0, SELECTED))
    (connection,) = read(internals(objects)).connections
    found = connection.available_bps
    assert found[1:25].tolist() == [1e6] * 24
    assert found[26:].tolist() == [3e6] * 34
    (change,) = connection.pair_changes
    assert (change.before, change.after) == ("host udp wifi", "host udp cellular")


def test_a_pair_that_failed_or_only_checks_is_not_in_use(read):
    dump = read(internals([
        series("OT01V1", 0, {"bytesSent": counted(5e5, 60)}),
        constant("CPa", 0, 60, state="succeeded", availableOutgoingBitrate=1e6),
        constant("CPb", 0, 60, state="failed", availableOutgoingBitrate=9e6, nominated=True),
    ]))  # fmt: skip
    assert set(dump.connections[0].available_bps.tolist()) == {1e6}


def test_a_screen_next_to_a_camera_with_layers_are_separate_streams(read):
    def stream(name, rate, height, **texts):
        return series(name, 0, {"bytesSent": counted(rate, 30), "frameHeight": [height] * 30,
                                **{key: [value] * 30 for key, value in texts.items()}})  # fmt: skip

    dump = read(internals([
        stream("OT01V1", 1e5, 180, rid="l", mediaSourceId="SV1"),
        stream("OT01V2", 9e5, 720, rid="h", mediaSourceId="SV1"),
        stream("OT01V3", 5e5, 1080, contentType="screenshare", mediaSourceId="SV2"),
        series("SV1", 0, {"trackIdentifier": ["camera"] * 30}), series("SV2", 0, {"trackIdentifier": ["screen"] * 30}),
    ]))  # fmt: skip
    (connection,) = dump.connections
    low, high, screen = connection.sent
    assert (low.rid, high.rid, low.track_name, high.track_name) == ("l", "h", "camera", "camera")
    assert screen.is_screen
    assert screen.track_name == "screen"
    assert [one.height[-1] for one in connection.sent] == [180, 720, 1080]
    assert connection.sent_bps[-1] == pytest.approx(1.5e6)


def test_a_counter_that_begins_again_makes_no_negative_rate_and_is_noted(read):
    sent = counted(5e5, 30) + counted(5e5, 30, begin=62_500)
    dump = read(internals([series("OT01V1", 0, {"bytesSent": sent, "packetsSent": list(range(30)) * 2})]))
    (connection,) = dump.connections
    assert connection.sent_bps[1:] == pytest.approx([5e5] * 59)
    assert connection.sent[0].restarts_s == [30]
    assert "began again" in dump.notes[0]


def test_losses_that_late_packets_take_back_are_no_restart(read):
    polls = receiving()
    polls[20][0]["packetsLost"] = 10
    (stream,) = read(polls).connections[0].received
    assert np.nansum(stream.lost) == 58
    assert stream.loss.min(initial=0, where=~np.isnan(stream.loss)) == 0
    assert stream.restarts_s == []


def test_an_id_with_another_source_is_another_stream(read):
    polls = sending(40)
    for poll in polls[20:]:
        poll[0]["ssrc"] = 77
    (connection,) = read(polls).connections
    assert [one.ssrc for one in connection.sent] == [1, 77]
    assert connection.sent[0].end_s == 19


def test_records_in_another_order_are_read_by_their_time(tmp_path):
    polls = sending()
    (tmp_path / "a.json").write_text(json.dumps(polls))
    swapped = list(polls)
    swapped[10], swapped[11], swapped[40], swapped[41] = polls[11], polls[10], polls[41], polls[40]
    (tmp_path / "b.json").write_text(json.dumps(swapped))
    right, found = read_seconds(tmp_path / "a.json"), read_seconds(tmp_path / "b.json")
    np.testing.assert_allclose(found.sent_bps, right.sent_bps)
    np.testing.assert_allclose(found.time_s, right.time_s)
    assert any("another order" in one for one in found.notes)


FORMS = {
    "lists of reports": json.dumps,
    "tables by id": lambda polls: json.dumps([{one["id"]: one for one in poll} for poll in polls]),
    "entries of a Map": lambda polls: json.dumps([[[one["id"], one] for one in poll] for poll in polls]),
    "one list of all reports": lambda polls: json.dumps([one for poll in polls for one in poll]),
    "one list of all entries": lambda polls: json.dumps([[one["id"], one] for poll in polls for one in poll]),
    "a line each": lambda polls: "\n".join(map(json.dumps, polls)),
    "a line each, with a time": lambda polls: "\n".join(
        json.dumps({"at_s": 1.0 * at, "stats": poll}) for at, poll in enumerate(polls)
    ),
    "reports without times, in envelopes": lambda polls: json.dumps([
        {"timestamp": poll[0]["timestamp"], "stats": [one | {"timestamp": None} for one in poll]} for poll in polls
    ]),
    "named connections": lambda polls: json.dumps({"call": polls}),
    "named connections in a table": lambda polls: json.dumps({"version": 1, "connections": {"call": polls}}),
    "microseconds": lambda polls: json.dumps([
        [one | {"timestamp": one["timestamp"] * 1e3} for one in poll] for poll in polls
    ]),
    "Jitsi's rtcstats": jitsi,
    "rtcstats, version 3": rtcstats3,
}  # fmt: skip


def test_a_clock_that_was_set_back_is_not_taken_for_another_order(read):
    polls = sending(60)
    for poll in polls[30:]:
        for report in poll:
            report["timestamp"] -= 4_500
    rate = read(polls).connections[0].sent_bps
    assert rate[1:] == pytest.approx([5e5] * 59)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_statistics_reads_alike(tmp_path, form):
    (tmp_path / "a.json").write_text(FORMS[form](sending(rates=(5e5, 1e6))), encoding="utf-8")
    found = read_seconds(tmp_path / "a.json")
    assert found.sent_bps == pytest.approx([1.5e6] * 59)
    assert found.available_bps == pytest.approx([3e6] * 59)
    assert found.round_trip_s == pytest.approx([0.05] * 59)
    assert found.lost[1:-1] == pytest.approx([0.05] * 57, rel=0.01)


@pytest.mark.parametrize("form", [jitsi, rtcstats3])
def test_an_object_left_out_of_a_difference_did_not_change(read, form):
    """A stream that pauses is not in the file; its bytes after the pause belong to the seconds after it."""
    polls = sending(60)
    for at, poll in enumerate(polls):
        active = min(at, 20) + max(at - 40, 0)
        poll[0].update(bytesSent=62_500 * active, packetsSent=60 * active)
    rate = read(form(polls)).connections[0].sent[0].rate_bps
    assert rate[1:21] == pytest.approx([5e5] * 20)
    assert rate[21:40] == pytest.approx([0] * 19)
    assert rate[41:] == pytest.approx([5e5] * 19)


def test_a_removed_object_of_rtcstats_ends_its_stream(read):
    polls = sending(40, rates=(5e5, 1e6))
    for poll in polls[15:]:
        poll[:] = [one for one in poll if one["id"] not in {"OT01V2", "RI2"}]
    (connection,) = read(rtcstats3(polls)).connections
    assert [one.end_s for one in connection.sent] == [39, 14]
    assert connection.sent_bps[20:] == pytest.approx([5e5] * 20)


def test_whole_polls_in_a_file_of_rtcstats_end_the_streams_that_they_leave_out(read):
    """Chrome's download of rtcstats has long names and no differences."""
    polls = sending(40, rates=(5e5, 1e6))
    lines, before = ["RTCStatsDump", json.dumps({"fileFormat": 3})], 0.0
    for at, poll in enumerate(polls):
        reports = {one["id"]: one for one in poll if at < 15 or one["id"] not in {"OT01V2", "RI2"}}
        now = poll[0]["timestamp"]
        lines.append(json.dumps(["getStats", "8-1", reports, now - before]))
        before = now
    dump = read("\n".join(lines))
    (connection,) = dump.connections
    assert dump.format == "rtcstats"
    assert [one.end_s for one in connection.sent] == [39, 14]


def test_texts_of_digits_are_texts(read):
    dump = read(
        internals([series("OT01V1", 0, {"bytesSent": counted(5e5, 9), "rid": [0] * 9, "mid": [1] * 9})])
    )
    (stream,) = dump.connections[0].sent
    assert (stream.rid, stream.track_name) == ("0", "1")


def test_a_compressed_dump_is_read(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(json.dumps(sending()).encode()))
    assert statistics.is_statistics(tmp_path / "a.gz")
    assert read_seconds(tmp_path / "a.gz").sent_bps == pytest.approx([5e5] * 59)


def test_firefox_has_no_estimate_and_is_read_without(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(sending(estimate=None)))
    found = read_seconds(tmp_path / "a.json")
    assert not found.has_estimate
    assert found.sent_bps == pytest.approx([5e5] * 59)
    assert "estimate 1" not in statistics.features(found)


def test_an_old_firefox_has_other_types_names_and_units(read):
    polls = [
        {
            "outbound_rtp_1": {
                "id": "outbound_rtp_1", "type": "outboundrtp", "timestamp": BEGIN_MS + 1e3 * at, "mediaType": "video",
                "isRemote": False, "ssrc": "5", "bytesSent": 62_500 * at, "packetsSent": 60 * at, "framerateMean": 25,
                "remoteId": "outbound_rtcp_1",
            },
            "outbound_rtcp_1": {
                "id": "outbound_rtcp_1", "type": "inboundrtp", "isRemote": True, "timestamp": BEGIN_MS + 1e3 * at,
                "mediaType": "video", "mozRtt": 48, "packetsLost": at, "jitter": 0.002, "ssrc": "5",
            },
        }
        for at in range(30)
    ]  # fmt: skip
    (connection,) = read(polls).connections
    (stream,) = connection.streams
    assert (stream.direction, stream.kind) == ("sent", "video")
    assert connection.round_trip_s == pytest.approx([0.048] * 30)
    assert np.nansum(stream.lost) == 29
    assert stream.frames_per_second[-1] == 25


def test_the_tracks_of_an_old_chrome_belong_to_their_streams(read):
    polls = receiving()
    for at, poll in enumerate(polls):
        poll[0] = {
            key: one
            for key, one in poll[0].items()
            if not key.startswith(("freeze", "totalFreezes", "frameH"))
        }
        poll[0]["trackId"] = "T9"
        poll.append({
            "id": "T9", "type": "track", "timestamp": BEGIN_MS + 1e3 * at, "frameHeight": 480, "freezeCount": at // 10,
            "totalFreezesDuration": 0.5 * (at // 10),
        })  # fmt: skip
    (stream,) = read(polls).connections[0].received
    assert stream.height[-1] == 480
    assert np.nansum(stream.freezes) == 2
    assert np.nansum(stream.frozen_s) == 1.0


def test_a_receiver_shows_what_came_and_its_freezes(read):
    (connection,) = read(receiving()).connections
    (stream,) = connection.received
    assert connection.received_bps[1:] == pytest.approx([8e5] * 29)
    assert stream.loss[1:] == pytest.approx([2 / 102] * 29)
    assert stream.jitter_s[-1] == 0.01
    assert stream.frames_per_second[1:] == pytest.approx([25] * 29)
    assert np.flatnonzero(stream.freezes > 0).tolist() == [10, 20]
    assert np.nansum(stream.frozen_s) == pytest.approx(0.8)


def test_statistics_that_only_receive_without_a_round_trip_cannot_be_fitted(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(receiving()))
    with pytest.raises(CaptureError, match=r"no session with media: needed are .* and a round trip"):
        read_seconds(tmp_path / "a.json")


def test_statistics_that_only_receive_show_the_received_streams(tmp_path):
    polls = receiving()
    for at, poll in enumerate(polls):
        stamp = BEGIN_MS + 1e3 * at
        poll.append({"id": "CP1", "type": "candidate-pair", "timestamp": stamp, "currentRoundTripTime": 0.04})
        poll.append(
            {"id": "OT01A1", "type": "outbound-rtp", "timestamp": stamp, "bytesSent": 0, "packetsSent": 0}
        )
    (tmp_path / "a.json").write_text(json.dumps(polls))
    found = read_seconds(tmp_path / "a.json")
    assert found.is_received
    assert found.sent_bps == pytest.approx([8e5] * 29)
    assert found.lost == pytest.approx([2 / 102] * 29)
    assert found.round_trip_s == pytest.approx([0.04] * 29)
    assert any("sends no media" in one for one in found.notes)


def test_the_reasons_that_limit_the_picture_have_their_seconds(read):
    durations = [
        {"none": min(at, 20), "bandwidth": max(at - 20, 0), "cpu": 0, "other": 0} for at in range(60)
    ]
    as_text = [json.dumps(one) for one in durations]
    for values in (durations, as_text):
        (stream,) = read(internals([
            series("OT01V1", 0, {"bytesSent": counted(5e5, 60), "qualityLimitationDurations": values})
        ])).connections[0].sent  # fmt: skip
        assert {key: np.nansum(one) for key, one in stream.limited_s.items()} == {
            "none": 20, "cpu": 0, "bandwidth": 39, "other": 0,
        }  # fmt: skip


def test_a_reason_without_durations_counts_for_its_interval(read):
    reasons = ["none"] * 30 + ["cpu"] * 30
    (connection,) = read(internals([
        series("OT01V1", 0, {"bytesSent": counted(5e5, 60), "qualityLimitationReason": reasons})
    ])).connections  # fmt: skip
    assert connection.limited_s["cpu"] == 30
    assert connection.limited_s["none"] == 29


def test_concealment_and_the_jitter_buffer_are_shares_and_seconds(read):
    polls = [
        [{"id": "IT01A1", "type": "inbound-rtp", "timestamp": BEGIN_MS + 1e3 * at, "kind": "audio",
          "bytesReceived": 8000 * at, "packetsReceived": 50 * at, "totalSamplesReceived": 48_000 * at,
          "concealedSamples": 4_800 * at, "silentConcealedSamples": 2_400 * at, "jitterBufferDelay": 2_880.0 * at,
          "jitterBufferEmittedCount": 48_000 * at}]
        for at in range(20)
    ]  # fmt: skip
    (stream,) = read(polls).connections[0].received
    assert stream.concealed[1:] == pytest.approx([0.05] * 19)
    assert stream.buffer_s[1:] == pytest.approx([0.06] * 19)


def test_a_pause_of_the_browser_is_a_gap_and_its_growth_spreads_over_it(read):
    polls = sending(60)
    del polls[20:45]
    (connection,) = read(polls).connections
    (gap,) = connection.gaps
    assert (gap.start_s, gap.end_s) == (19, 45)
    assert connection.sent_bps[1:] == pytest.approx([5e5] * 34)


def test_polls_every_ten_seconds_become_values_read_seconds(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(sending(121)[::10]))
    found = read_seconds(tmp_path / "a.json")
    assert found.time_s.tolist() == list(range(1, 121))
    assert found.sent_bps == pytest.approx([5e5] * 120)
    assert found.lost[:-10] == pytest.approx([0.05] * 110, rel=0.05)


def test_of_several_connections_the_one_with_the_most_media_counts_and_the_file_says_so(tmp_path):
    polls = {
        "data": [[one[-1]] for one in sending()],
        "small": sending(rates=(1e5,)),
        "large": sending(rates=(2e6,)),
    }
    (tmp_path / "a.json").write_text(json.dumps(polls))
    found = read_seconds(tmp_path / "a.json")
    assert found.sent_bps[-1] == pytest.approx(2e6)
    assert "3 connections" in found.notes[0]
    assert "--connection" in found.notes[0]
    assert read_seconds(tmp_path / "a.json", "small").sent_bps[-1] == pytest.approx(1e5)
    with pytest.raises(CaptureError, match=r"no connection 'none'; it has data .*; small .*; large"):
        read_seconds(tmp_path / "a.json", "none")


def test_only_statistics_from_before_the_standard_are_refused_by_their_name(read):
    old = {"ssrc_1_send-bytesSent": {"startTime": "2020-01-01T00:00:00Z", "endTime": "2020-01-01T00:00:09Z",
                                     "statsType": "ssrc", "values": "[1, 2]"}}  # fmt: skip
    with pytest.raises(DumpError, match=r'before the standard \(goog…\): choose "standardized"'):
        read(internals([old]))
    with pytest.raises(DumpError, match="before the standard"):
        read([{"Conn-1": {"id": "Conn-1", "type": "googCandidatePair", "timestamp": 1.0, "googRtt": "5"}}])


def test_nonsense_of_a_browser_for_a_detail_is_a_missing_value(read):
    """Firefox wrote −3.8e230 as a frame rate, Chrome −1 as an audio level."""
    polls = sending(20)
    polls[0][0]["framesPerSecond"] = -3.76e230
    polls[1][0]["audioLevel"] = -1
    assert read(polls).connections[0].sent_bps[1:] == pytest.approx([5e5] * 19)


NEGATIVE = json.dumps(internals([{"OT1-bytesSent": {"statsType": "outbound-rtp", "values": "[1, -7]"}}]))


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ("[]", None),
        ("{}", "has no statistics"),
        ('{"a": 1, "a": 2}', "line 1: the key 'a' stands twice"),
        ('{"PeerConnections": {"1": {"stats": {"a-b": {}, "a-b": {}}}}}', "line 1: the key 'a-b' stands twice"),
        ('[[{"type": "outbound-rtp", "timestamp": 17780724e5, "bytesSent": -5}]]', "report 1 has -5 for bytesSent"),
        ('[[{"type": "outbound-rtp", "timestamp": 1e300}]]', "for timestamp"),
        ("[1,\n2", "line 2: no JSON"),
        ('[{"a":\n tru}]', "line 2: no JSON"),
        (NEGATIVE, "OT1-bytesSent, value 2, has -7 for bytesSent: write a value from 0"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_the_place(read, contents, said):
    if said is None:
        assert read(contents).connections == []
    else:
        with pytest.raises(DumpError, match=said):
            read(contents)


def test_a_file_with_too_many_objects_is_refused(read):
    many = [{"id": str(at), "type": "codec", "timestamp": BEGIN_MS} for at in range(20_001)]
    with pytest.raises(DumpError, match="more than 20000 statistics objects"):
        read([many])


MEASURE = """
import resource, sys
from fairwave.dumps import read_dump
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    print(len(read_dump(sys.argv[1]).connections[0].streams))
except ValueError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def measure(path):
    """Output of a reader and its memory in MiB, measured in a separate process."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True
    )
    *said, memory = done.stdout.splitlines()
    assert done.stderr == ""
    return said, int(memory)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_SELF"), reason="needs getrusage")
def test_a_large_dump_takes_little_more_memory_than_its_text(tmp_path):
    """200 streams with values that fairwave does not read, in 40 MB."""
    stats = {}
    for at in range(200):
        stats |= series(f"IT01V{at}", 0, {"bytesReceived": counted(5e5, 900)})
        for member in range(20):
            stats[f"IT01V{at}-[unknown{member}/s]"] = {
                "statsType": "inbound-rtp",
                "values": "[" + "1.25, " * 1600 + "1]",
            }
    (tmp_path / "a.json").write_text(
        json.dumps({"PeerConnections": {"1": {"stats": stats}}}), encoding="utf-8"
    )
    size = (tmp_path / "a.json").stat().st_size / 2**20
    said, memory = measure(tmp_path / "a.json")
    assert said == ["200"]
    assert size > 38
    assert memory < 3 * size


def test_a_gzip_bomb_is_refused_within_the_limit(tmp_path):
    """300 MB of spaces in 0.3 MB."""
    import zlib

    pack, path = zlib.compressobj(6, zlib.DEFLATED, 31), tmp_path / "bomb.json.gz"
    with path.open("wb") as file:
        file.write(pack.compress(b"["))
        for _ in range(300):
            file.write(pack.compress(b" " * 1_000_000))
        file.write(pack.flush())
    (said,), memory = measure(path)
    assert "bomb.json.gz" in said
    assert "at most 250 MB" in said or "times its size" in said
    assert memory < 700


def test_every_kind_of_call_in_every_format_has_its_known_values():
    from pathlib import Path

    from validation.measured import dumps as known

    text = known.render(Path())
    assert "**" not in text
    assert text.count("| right ") > 100


def test_a_dump_of_fairwave_has_the_sums_of_its_streams():
    polls = {"sender": sending(30), "receiver": receiving(30)}
    dump = dumps.from_polls(polls)
    chosen, notes = dump.choose(is_sending=True)
    assert (chosen.name, notes) == ("sender", [])
    assert dump.choose("receiver")[0].received[0].has_media
