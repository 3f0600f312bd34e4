"""`fairwave judge`: calls with known values, from captures and from statistics of browsers."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

import fairwave
from fairwave.capturing import capture
from fairwave.cli.judging import show_judgement
from fairwave.errors import BadInputError
from fairwave.fitting import fit
from fairwave.folders import FolderTakenError
from fairwave.getstats import reports
from fairwave.judging import Effect, WhatIf, compare_changes, explore_changes, judge_file
from fairwave.judging.courses import MOST_STEPS
from fairwave.judging.what_if import SEEDS
from fairwave.live.rating import rated
from validation.measured.made_captures import pcap
from validation.measured.made_dumps import BEGIN_MS, convert_polls, receiving, sending
from validation.measured.made_streams import Talk, merge

VIDEO = "v=0\r\nm=video 9 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\n"


def judge_frames(tmp_path, *talks, sdp=None):
    description = None
    if sdp is not None:
        description = tmp_path / "call.sdp"
        description.write_text(sdp)
    path = pcap(tmp_path / "call.pcap", merge(*(one.frames() for one in talks)))
    return judge_file(path, sdp=description)


def judge_polls(tmp_path, polls):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(convert_polls(polls)))
    return judge_file(path)


def hearing(count=40, *, trip=0.1, made_up=0):
    """A receiver of Opus that makes up a share of its speech, in ‰, from second 10 to 20."""
    return [
        [{"id": "IT01A1", "type": "inbound-rtp", "timestamp": BEGIN_MS + 1e3 * at, "kind": "audio", "ssrc": 5,
          "codecId": "CO1", "bytesReceived": 4_000 * at, "packetsReceived": 50 * at, "packetsLost": 0,
          "jitter": 0.004, "jitterBufferDelay": 1_920 * at, "jitterBufferEmittedCount": 48_000 * at,
          "totalSamplesReceived": 48_000 * at, "concealedSamples": 48 * made_up * min(max(at - 10, 0), 10),
          "concealmentEvents": 5 * min(max(at - 10, 0), 10)},
         {"id": "CO1", "type": "codec", "timestamp": BEGIN_MS + 1e3 * at, "mimeType": "audio/opus"},
         {"id": "CP1", "type": "candidate-pair", "timestamp": BEGIN_MS + 1e3 * at, "state": "succeeded",
          "nominated": True, "currentRoundTripTime": trip}]
        for at in range(count)
    ]  # fmt: skip


def test_a_call_without_losses_is_good_and_has_its_numbers(tmp_path):
    found = judge_frames(tmp_path, Talk(count=500))
    (one,) = found.streams
    assert found.sentences[0] == f"The call was good (speech 0x00000007: MOS {one.mos:.2f})."
    assert one.mos == pytest.approx(rated(np.full(500, 0.05)).mos)
    assert (one.packets, one.lost, one.loss, one.codec, one.word) == (500, 0, 0, "PCMU", "good")
    assert one.jitter_s == pytest.approx(0, abs=1e-9)
    assert one.rate_bps == pytest.approx(80_000, rel=0.01)
    assert math.isnan(one.round_trip_s)
    assert (list(found.incidents), list(found.limits), found.worst) == ([], [], None)


def test_an_outage_and_losses_make_a_call_poor_and_have_their_times(tmp_path):
    lost = (*range(300, 360), *range(500, 700, 5))
    found = judge_frames(tmp_path, Talk(count=1000, lost=lost))
    (one,) = found.streams
    delay = np.full(1000, 0.05)
    delay[list(lost)] = np.nan
    assert one.mos == pytest.approx(rated(delay).mos, abs=0.01)
    assert (one.lost, one.loss) == (100, 0.1)
    assert one.longest_gap_s == pytest.approx(1.2, abs=0.05)
    assert found.word == "poor"
    (gap,) = [event for event in found.incidents if event.kind == "gap"]
    assert (gap.start_s, gap.end_s) == (pytest.approx(5.98), pytest.approx(7.2))
    assert "60 lost" in gap.words
    assert [(one.start_s, one.end_s) for one in found.incidents if one.kind == "loss"] == [(7, 8), (10, 14)]
    assert found.worst.end_s - found.worst.start_s == 10
    assert found.worst.start_s <= 5.98
    assert found.worst.end_s >= 14


def test_a_single_gap_of_speech_leaves_a_call_fair_at_best(tmp_path):
    found = judge_frames(tmp_path, Talk(count=3000, lost=tuple(range(300, 330))))
    (one,) = found.streams
    assert one.mos > 3.6
    assert found.word == "fair"
    assert "a gap of 0.60 s" in found.sentences[0]


def test_the_worst_stream_decides_and_comes_first(tmp_path):
    found = judge_frames(
        tmp_path, Talk(count=500, ssrc=1), Talk(count=500, ssrc=2, lost=tuple(range(50, 450, 4)))
    )
    assert [one.name for one in found.streams] == ["speech 0x00000002", "speech 0x00000001"]
    assert [one.word for one in found.streams] == ["poor", "good"]
    assert found.word == "poor"


def test_a_drift_of_the_clocks_is_no_delay(tmp_path):
    straight, drifting = (
        judge_frames(tmp_path, Talk(count=4000, step_ms=step)).streams[0].mos for step in (20, 20.002)
    )
    assert drifting == pytest.approx(straight, abs=0.02)


def test_a_sender_that_pauses_is_the_other_end_and_no_fault_of_the_network(tmp_path):
    first = Talk(count=200, clock=90_000, kind=96, size=900)
    later = Talk(count=200, clock=90_000, kind=96, size=900, first=300, begin_ms=10_000)
    frames = [(at, frame) for at, frame in first.frames()]
    shifted = [(at, advance(frame, 10 * 90_000)) for at, frame in later.frames()]
    path = pcap(tmp_path / "call.pcap", merge(frames, shifted))
    (tmp_path / "call.sdp").write_text(VIDEO)
    found = judge_file(path, sdp=tmp_path / "call.sdp")
    assert found.word == "good"
    assert [(one.factor, one.start_s, one.end_s) for one in found.limits] == [
        ("other end", pytest.approx(3.98), pytest.approx(10.0))
    ]
    assert [one.words for one in found.incidents] == ["the sender paused for 6.02 s"]
    assert found.worst is None


def advance(frame, ticks):
    """A frame with a later timestamp of RTP."""
    at = 14 + 20 + 8 + 4
    stamp = int.from_bytes(frame[at : at + 4], "big") + ticks
    return frame[:at] + stamp.to_bytes(4, "big") + frame[at + 4 :]


def test_delays_of_a_full_queue_are_a_limit_by_bandwidth(tmp_path):
    frames = []
    for at, frame in Talk(count=1000).frames():
        frames.append((at + 400_000_000 * (5e9 <= at < 8e9), frame))
    path = pcap(tmp_path / "call.pcap", sorted(frames, key=lambda one: one[0]))
    found = judge_file(path)
    (limit,) = found.limits
    assert (limit.factor, limit.start_s, limit.end_s) == ("bandwidth", 5, 8)
    assert "0.4 s above the least" in limit.evidence


def test_a_stream_without_a_known_codec_has_no_mos_but_a_verdict(tmp_path):
    found = judge_frames(
        tmp_path, Talk(count=500, kind=111, clock=48_000, lost=(100, 200, 300, 400, 450, 460, 470))
    )
    (one,) = found.streams
    assert math.isnan(one.mos)
    assert "add --sdp FILE" in one.unknown[0]
    assert (one.rating.measure, one.word) == ("missed", "fair")


def test_a_capture_without_rtp_is_refused(tmp_path):
    from validation.measured.made_captures import ethernet, ip4, tcp

    path = pcap(tmp_path / "web.pcap", [(0, ethernet(ip4(tcp(1, b"hello"), 6)))])
    with pytest.raises(BadInputError, match="no stream of RTP"):
        show_judgement(path, connection=None, sdp=None, out=None, overwrite=False, json=True)


def test_a_long_freeze_leaves_a_call_fair_at_best(tmp_path):
    polls = receiving(600)
    for at, poll in enumerate(polls):
        poll[0].update(packetsLost=0, freezeCount=int(at >= 30), totalFreezesDuration=2.5 * (at >= 30))
    found = judge_polls(tmp_path, polls)
    (one,) = found.streams
    assert (one.freezes, one.frozen_s, one.longest_freeze_s) == (1, 2.5, 2.5)
    assert one.rating.values == (pytest.approx(100 * (1 - 2.5 / 599)),)
    assert found.word == "fair"
    assert "a picture was frozen for 2.5 s" in found.sentences[0]
    assert found.worst.start_s <= 27.5 < 30 <= found.worst.end_s


def pausing(reason):
    """A sender without losses that sends nothing from second 30 to 33."""
    polls = sending(60)
    for at, poll in enumerate(polls):
        carried = at - min(max(at - 30, 0), 3)
        poll[0].update(bytesSent=62_500 * carried, packetsSent=60 * carried, qualityLimitationReason=reason)
        poll[1]["packetsLost"] = 0
    return polls


def test_a_picture_that_bandwidth_stops_leaves_a_call_fair_at_best_and_a_muted_one_does_not(tmp_path):
    stopped = judge_polls(tmp_path, pausing("bandwidth"))
    assert stopped.word == "fair"
    assert "no picture was sent for 3 s" in stopped.sentences[0]
    assert judge_polls(tmp_path, pausing("none")).word == "good"


def test_long_round_trips_leave_a_call_fair_at_best(tmp_path):
    polls = sending(60)
    for at, poll in enumerate(polls):
        poll[1]["packetsLost"] = 0
        poll[2]["currentRoundTripTime"] = 0.9 if 20 <= at < 40 else 0.05
    found = judge_polls(tmp_path, polls)
    assert found.word == "fair"
    assert "round trips of up to 0.9 s" in found.sentences[0]
    for poll in polls:
        poll[2]["currentRoundTripTime"] = min(poll[2]["currentRoundTripTime"], 0.7)
    assert judge_polls(tmp_path, polls).word == "good"


def test_a_calm_picture_is_good(tmp_path):
    polls = receiving(60)
    for poll in polls:
        poll[0].update(packetsLost=0, freezeCount=0, totalFreezesDuration=0)
    found = judge_polls(tmp_path, polls)
    assert found.word == "good"
    assert found.streams[0].rate_bps == pytest.approx(800_000)


def test_speech_of_a_browser_has_a_mos_by_its_delay_and_made_up_speech(tmp_path):
    calm, slow, broken = (
        judge_polls(tmp_path, hearing(trip=trip, made_up=made_up))
        for trip, made_up in ((0.1, 0), (0.9, 0), (0.1, 400))
    )
    assert calm.streams[0].mos == pytest.approx(
        rated(np.full(1950, 0.05 + 0.04), codec="opus-24").mos, abs=0.02
    )
    assert calm.streams[0].round_trip_s == pytest.approx(0.1)
    assert (calm.word, broken.word) == ("good", "fair")
    assert slow.streams[0].mos < calm.streams[0].mos - 0.5
    delay = np.full(1950, 0.05 + 0.04)
    delay[[at for at in range(500, 1000) if at % 5 in {2, 4}]] = np.nan
    assert broken.streams[0].mos == pytest.approx(rated(delay, codec="opus-24").mos, abs=0.02)
    assert broken.worst.start_s == 10


def test_the_browsers_reasons_are_the_limiting_factor(tmp_path):
    polls = sending(60)
    for at, poll in enumerate(polls):
        poll[0]["qualityLimitationReason"] = "cpu" if 20 < at <= 30 else "none"
    found = judge_polls(tmp_path, polls)
    assert [(one.factor, one.start_s, one.end_s) for one in found.limits] == [("cpu", 20, 30)]
    assert "Limited by the CPU from 20 to 30 s." in found.sentences
    assert found.streams[0].loss == pytest.approx(0.05, abs=0.001)
    assert found.word == "poor"


def test_the_command_writes_json_and_a_folder(tmp_path, capsys):
    path = pcap(tmp_path / "call.pcap", Talk(count=500, lost=(3,)).frames())
    out = tmp_path / "out"
    show_judgement(path, connection=None, sdp=None, out=out, overwrite=False, json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["word"], told["streams"][0]["lost"], told["written"]) == ("good", 1, str(out))
    assert told["streams"][0]["round_trip_s"] is None
    assert {one.name for one in out.iterdir()} >= {
        "judgement.json",
        "streams.csv",
        "courses.csv",
        "events.csv",
        "limits.csv",
    }
    assert json.loads((out / "judgement.json").read_text())["sentences"] == told["sentences"]
    other = pcap(tmp_path / "other.pcap", Talk(count=500).frames())
    with pytest.raises(FolderTakenError):
        show_judgement(other, connection=None, sdp=None, out=out, overwrite=False, json=True)


def test_the_terminal_shows_the_verdict_first(tmp_path, capsys):
    path = pcap(tmp_path / "call.pcap", Talk(count=500).frames())
    show_judgement(path, connection=None, sdp=None, out=None, overwrite=False, json=False)
    assert capsys.readouterr().out.lstrip().startswith("The call was good (speech 0x00000007: MOS 4.")


@pytest.mark.parametrize(
    ("name", "contents", "options", "message"),
    [
        ("call.toml", 'duration = "1 s"\n[[flow]]\nname = "a"\n', {}, "is a scenario"),
        ("missing.pcap", None, {}, "no file"),
        ("noise.json", "{}", {}, "no statistics"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path, name, contents, options, message):
    path = tmp_path / name
    if contents is not None:
        path.write_text(contents)
    with pytest.raises(BadInputError, match=message):
        show_judgement(path, connection=None, sdp=None, out=None, overwrite=False, json=True, **options)


def test_options_for_the_other_kind_of_file_are_errors(tmp_path):
    capture = pcap(tmp_path / "call.pcap", Talk(count=10).frames())
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps(convert_polls(receiving(10))))
    with pytest.raises(BadInputError, match="--connection"):
        show_judgement(capture, connection="1-1", sdp=None, out=None, overwrite=False, json=True)
    with pytest.raises(BadInputError, match="--sdp"):
        show_judgement(dump, connection=None, sdp=capture, out=None, overwrite=False, json=True)
    with pytest.raises(BadInputError, match="no connection"):
        show_judgement(dump, connection="nine", sdp=None, out=None, overwrite=False, json=True)


def test_timestamps_that_jump_are_no_delay(tmp_path):
    frames = [
        (at, advance(frame, 80_000_000) if at >= 5e9 else frame) for at, frame in Talk(count=500).frames()
    ]
    (one,) = judge_file(pcap(tmp_path / "call.pcap", frames)).streams
    assert one.mos == pytest.approx(rated(np.full(500, 0.05)).mos)


def read_courses(found, stream):
    return {one.measure: one for one in found.courses if one.stream == stream}


def test_a_captured_stream_has_its_course_second_by_second(tmp_path):
    found = judge_frames(tmp_path, Talk(count=1000, lost=tuple(range(500, 525))))
    courses = read_courses(found, "speech 0x00000007")
    rate, loss = courses["rate"].values, courses["loss"].values
    assert courses["rate"].time_s[:2].tolist() == [0.5, 1.5]
    assert rate[:10] == pytest.approx(80, rel=0.03)
    assert rate[10] == pytest.approx(40, rel=0.03)
    assert (loss[:10] == 0).all()
    assert loss[10] == pytest.approx(50)
    assert courses["jitter"].values == pytest.approx(0, abs=1e-6)
    assert courses["delay"].values == pytest.approx(0, abs=1e-3)


def test_statistics_have_courses_of_streams_and_of_the_connection(tmp_path):
    found = judge_polls(tmp_path, hearing(made_up=400))
    speech, connection = read_courses(found, "received speech 5"), read_courses(found, "")
    assert connection["round trip"].values == pytest.approx(100)
    assert np.nanmax(speech["made up"].values[11:21]) == pytest.approx(40, rel=0.01)
    assert np.nan_to_num(speech["made up"].values[:10]).max() == 0
    assert "frames" not in speech


def test_a_long_call_has_a_course_of_bounded_length(tmp_path):
    found = judge_frames(tmp_path, Talk(count=500, step_ms=20_000))
    assert max(len(one.time_s) for one in found.courses) <= MOST_STEPS


def test_the_page_begins_with_the_verdict_and_shades_limit_and_worst_part(tmp_path):
    pytest.importorskip("matplotlib", reason="pages need the extra report")
    polls = sending(60)
    for at, poll in enumerate(polls):
        poll[0]["qualityLimitationReason"] = "cpu" if 20 < at <= 30 else "none"
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps(convert_polls(polls)))
    out = tmp_path / "out"
    show_judgement(dump, connection=None, sdp=None, out=out, overwrite=False, json=True)
    page = (out / "index.html").read_text()
    verdict = re.search(r'<p class="verdicts"><strong>(.*?)</strong>', page)
    assert verdict[1].startswith("The call was poor")
    assert "Limited by the CPU from 20 to 30 s." in page
    (shades,) = {
        json.dumps([(one["label"], one["from"], one["to"]) for one in chart["panels"][0]["shades"]])
        for chart in map(json.loads, re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page))
    }
    assert ["limited by the CPU", 20, 30] in json.loads(shades)
    assert any(label.startswith("worst") and end - start == 10 for label, start, end in json.loads(shades))
    assert "<td" in page
    assert {"stream-1.csv", "connection.csv"} <= {one.name for one in (out / "figures").iterdir()}


SESSION = """
name = "session"
duration = "30 s"
[[link]]
from = "here"
to = "far"
rate = "1 Mb/s"
delay = "20 ms"
queue = { discipline = "drop-tail", capacity = { bytes = 90000 } }
reverse = { rate = "100 Mb/s", queue = "drop-tail" }
[[flow]]
name = "call"
from = "here"
to = "far"
transport = "webrtc"
traffic = "media"
"""


def list_results(explored):
    return {(one.change, one.measure): one.outcome for one in explored.effects}


def test_a_call_next_to_a_download_would_have_been_better_first_or_alone(tmp_path):
    capture(fairwave.load(DOWNLOAD), {"host:here": tmp_path / "call.pcapng"})
    explored = explore_changes(tmp_path / "call.pcapng")
    assert explored.sentences[0].startswith(
        "It would have helped (mean difference, 95 % interval): the call first"
    )
    results = list_results(explored)
    assert {change for change, _ in results} == {
        "the call first",
        "another queue (fq-codel)",
        "no other traffic",
    }
    assert {results[change, "mos"] for change, _ in results} == {"better"}
    assert set(explored.left_out) == {"a cap of the rate", "forward error correction", "simulcast"}
    for one in explored.effects:
        assert one.low <= one.difference <= one.high
        assert one.difference == pytest.approx(one.changed - one.fitted, abs=1e-6)
    assert explored.seeds == SEEDS[1]


def test_a_session_alone_has_a_cap_and_error_correction_but_nothing_to_go_before(tmp_path):
    dump = tmp_path / "session.json"
    dump.write_text(json.dumps(reports(fairwave.load(SESSION).run(1))[0].sender))
    found = fit(dump, seeds=1)
    explored = compare_changes(replace(found, unseen=0, scenario=drop_others(found.scenario)))
    changes = {change for change, _ in list_results(explored)}
    assert {"forward error correction", "another queue (fq-codel)"} <= changes
    assert any(one.startswith("a cap of") for one in changes)
    assert "no other traffic" in explored.left_out["the call first"]
    assert "the call first" not in changes
    far = compare_changes(replace(found, distance=2.5))
    (sentence,) = far.sentences
    assert sentence.startswith(
        "No change was tried: nothing that was tried explains this (the nearest network is 2.5"
    )
    assert not far.effects


def make_effect(change, measure, outcome):
    return Effect(change, "call", measure, measure, 1.0, 2.0, 1.0, 0.5, 1.5, outcome, "+1 (+0.5 to +1.5)")


def test_a_change_helps_by_any_measure_unless_another_one_gets_worse():
    explored = WhatIf("", [
        make_effect("queue", "missed", "alike"), make_effect("queue", "delay", "better"),
        make_effect("cap", "mos", "better"), make_effect("cap", "frozen", "worse"),
        make_effect("fec", "mos", "alike"), make_effect("fec", "frozen", "undecided"),
        make_effect("first", "mos", "worse"), make_effect("first", "frozen", "undecided"),
    ])  # fmt: skip
    assert explored.sentences[0] == (
        "It would have helped (mean difference, 95 % interval): queue: delay +1 (+0.5 to +1.5). Better in one measure "
        "and worse in another: cap. Undecided: fec."
    )
    assert (
        WhatIf("", explored.effects[4:]).sentences[0]
        == "No change would certainly have helped. Undecided: fec."
    )
    assert WhatIf("").sentences[0] == "No change applies to this file."


def drop_others(scenario):
    return scenario.with_overrides(
        {"flow": [one for one in scenario.to_dict()["flow"] if one["name"] == "call"]}
    )


def test_without_a_full_link_a_sentence_says_why_nothing_was_tried(tmp_path, capsys):
    path = pcap(tmp_path / "call.pcap", Talk(count=500).frames())
    show_judgement(path, connection=None, sdp=None, out=None, overwrite=False, json=True, what_if=True)
    told = json.loads(capsys.readouterr().out)["what_if"]
    assert (told["effects"], told["scenario"]) == ([], None)
    assert told["sentences"] == [f"No change was tried: {told['refusal']}."]
    assert "no rate of the link" in told["refusal"]


def test_a_file_that_is_too_short_to_fit_is_still_judged(tmp_path, capsys):
    path = pcap(tmp_path / "call.pcap", Talk(count=150).frames())
    show_judgement(path, connection=None, sdp=None, out=None, overwrite=False, json=False, what_if=True)
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith("The call was good")
    assert "No change was tried: no network can be fitted" in told


def test_the_page_and_the_folder_have_the_changes_and_the_fitted_network(tmp_path):
    pytest.importorskip("matplotlib", reason="pages need the extra report")
    capture(fairwave.load(DOWNLOAD), {"host:here": tmp_path / "call.pcapng"})
    out = tmp_path / "out"
    show_judgement(
        tmp_path / "call.pcapng", connection=None, sdp=None, out=out, overwrite=False, json=True, what_if=True
    )
    page = (out / "index.html").read_text()
    assert (
        page.index("<strong>The call was")
        < page.index("It would have helped")
        < page.index("What would have")
    )
    assert "the call first" in (out / "what-if.csv").read_text()
    assert fairwave.load((out / "fitted.toml").read_text()).plan()["links"][0]["name"] == "far>here"


DOWNLOAD = """
name = "call and download"
duration = "12 s"
[[link]]
from = "far"
to = "here"
rate = "3 Mb/s"
delay = "20 ms"
queue = { discipline = "drop-tail", capacity = { bytes = 90000 } }
reverse = { rate = "100 Mb/s", queue = "drop-tail" }
[[flow]]
name = "call"
from = "far"
to = "here"
transport = "udp"
traffic = "voice"
[[flow]]
name = "download"
from = "far"
to = "here"
start = "3 s"
transport = "tcp/cubic"
traffic = "bulk"
"""
