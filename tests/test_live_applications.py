"""Real programs over a live network: their set-up, and the evaluation of their recordings and statistics."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fairwave
from fairwave.live import baresip, live, missing, packets, stats
from fairwave.live.packets import RecordingError, streams
from fairwave.live.rating import rate_stream, rated
from fairwave_report import live_call
from fairwave_speech import SpeechError, read, write
from fairwave_speech.codec import codec
from fairwave_speech.recorded import GAP_S, align

EXAMPLES = Path(__file__).parents[1] / "examples" / "live"
ALICE, BOB = ("192.0.2.1", 10000), ("192.0.2.2", 20000)


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def interface(name, resolution=9):
    value = name.encode() + b"\0" * (-len(name) % 4)
    options = struct.pack("<HH", 2, len(name)) + value + struct.pack("<HHB3x", 9, 1, resolution) + b"\0" * 4
    return block(1, struct.pack("<HHI", 101, 0, 0) + options)


def seen(where, at_s, datagram):
    nanos = round(at_s * 1e9)
    head = struct.pack("<IIIII", where, nanos >> 32, nanos & 0xFFFFFFFF, len(datagram), len(datagram))
    return block(6, head + datagram)


def udp(source, destination, payload, dscp=46):
    def address(name):
        return bytes(int(part) for part in name.split("."))

    length = 28 + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, dscp << 2, length, 7, 0, 64, 17, 0)
    ends = address(source[0]) + address(destination[0])
    return ip + ends + struct.pack(">HHHH", source[1], destination[1], 8 + len(payload), 0) + payload


def rtp(sequence, timestamp, payload=b"x" * 160, kind=0, ssrc=99):
    return struct.pack(">BBHII", 0x80, kind, sequence & 0xFFFF, timestamp & 0xFFFFFFFF, ssrc) + payload


START = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


@pytest.fixture
def recording(tmp_path):
    """A recording of these blocks, after a section and the interfaces of alice and bob."""

    def made(*blocks):
        path = tmp_path / "all.pcapng"
        path.write_bytes(START + interface("alice") + interface("bob") + b"".join(blocks))
        return path

    return made


def call(lost=(), packets=20, first=65530, delay=0.03):
    """A call's blocks: packets every 20 ms, some of them lost, with numbers that wrap at 16 bits."""
    found = []
    for number in range(packets):
        datagram = udp(ALICE, BOB, rtp(first + number, 160 * number + 2**32 - 800))
        found.append(seen(0, 1 + 0.02 * number, datagram))
        if number not in lost:
            found.append(seen(1, 1 + 0.02 * number + delay, datagram))
    return found


def test_a_stream_is_read_with_delay_and_loss_over_the_end_of_its_numbers(recording):
    report = udp((ALICE[0], 10001), (BOB[0], 20001), struct.pack(">BBHI", 0x80, 200, 1, 99) + b"\0" * 20)
    file = recording(*call(lost=(0, 5, 6, 19)), seen(0, 2.0, report), seen(1, 2.05, report))
    (stream,) = streams(file)
    assert (stream.host, stream.source, stream.destination, stream.ssrc) == ("alice", ALICE, BOB, 99)
    assert np.array_equal(np.diff(stream.sequence), np.ones(19))
    assert np.array_equal(np.diff(stream.timestamp), np.full(19, 160))
    assert np.flatnonzero(np.isnan(stream.arrived_s)).tolist() == [0, 5, 6, 19]
    # The last may still be in flight.
    assert (len(stream.sequence), len(stream.settled.sequence), stream.lost) == (20, 19, 3)
    assert stream.runs_of_loss == [1, 2]
    assert stream.delay_s == pytest.approx([0.03] * 16)
    assert stream.payload[3] == b"x" * 160
    assert packets.delays(file) == {(ALICE[0], BOB[0]): pytest.approx([0.05])}


def test_rfc_3550_section_5_1_a_packet_is_told_from_a_report_and_from_what_is_no_rtp():
    def datagram_with(payload):
        return packets._datagram("alice", 0.0, udp(ALICE, BOB, payload))

    assert packets.is_rtp(datagram_with(rtp(1, 1)))
    assert packets.is_rtp(datagram_with(rtp(1, 1, kind=0x80 | 97)))
    assert not packets.is_rtp(datagram_with(rtp(1, 1, kind=200)))  # a sender report
    assert not packets.is_rtp(datagram_with(b"\x00\x01" + b"\0" * 18))  # STUN
    assert not packets.is_rtp(datagram_with(b"\x16\xfe\xfd" + b"\0" * 18))  # DTLS
    assert not packets.is_rtp(datagram_with(rtp(1, 1)[:11]))


def test_a_body_is_what_follows_sources_and_extension_without_padding():
    head = struct.pack(">BBHII", 0x80 | 0x20 | 0x10 | 1, 0, 1, 1, 9)
    whole = head + b"CSRC" + struct.pack(">HHI", 0xBEDE, 1, 5) + b"speech" + b"\0\0\3"
    assert packets._body(whole) == b"speech"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "fairwave live … --capture"),
        (b"RIFF" + b"\0" * 40, "fairwave live … --capture"),
        (START + interface("alice")[:-6], "ends within a block"),
        (START + interface("alice", resolution=6), "10^-6"),
        (START + seen(0, 1.0, udp(ALICE, BOB, b"x")), "of no interface"),
    ],
)
def test_what_is_no_recording_of_a_live_run_is_refused(tmp_path, data, said):
    path = tmp_path / "other.pcapng"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=said.replace("^", r"\^")):
        streams(path)


def test_a_call_is_rated_as_the_simulator_rates_what_became_of_its_packets():
    text = """
    name = "call"
    duration = "20 s"
    hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }
    record = { units = ["call[0]"] }
    [[link]]
    from = "a"
    to = "b"
    rate = "1 Gb/s"
    delay = "70 ms"
    loss = { model = "bernoulli", rate = 0.03 }
    [[flow]]
    name = "call"
    from = "a"
    to = "b"
    stop = "19 s"
    transport = "udp"
    traffic = { kind = "recording", codec = "g711", talk = [[0, 900]] }
    """
    results = fairwave.load(text).run()
    (row,) = results.flows.to_pylist()
    units = results.to_polars("units").sort("unit")
    delay = (units["arrived_s"] - units["created_s"]).to_numpy()
    rating = rated(delay)
    assert np.isnan(delay).sum() > 10
    assert rating.r_factor == pytest.approx(row["r_factor"], abs=0.05)
    assert rating.mouth_to_ear_s == pytest.approx(row["mouth_to_ear_s"], abs=1e-3)
    better, later = rated(np.where(np.isnan(delay), 0.07, delay)), rated(delay + 0.2)
    assert later.mos < rating.mos < better.mos


def test_a_stream_is_rated_with_what_its_sender_is_late(recording):
    good = rate_stream(streams(recording(*call()))[0])
    # The second half of the call is sent 150 ms late.
    shifted = []
    for number in range(20):
        datagram = udp(ALICE, BOB, rtp(number, 160 * number))
        at = 1 + 0.02 * number + (0.15 if number >= 10 else 0.0)
        shifted += [seen(0, at, datagram), seen(1, at + 0.03, datagram)]
    worse = rate_stream(streams(recording(*shifted))[0])
    assert worse.mouth_to_ear_s > good.mouth_to_ear_s or worse.late > good.late


def test_what_cannot_be_rated_is_refused():
    with pytest.raises(ValueError, match="0 packets"):
        rated([])
    with pytest.raises(ValueError, match="one clock"):
        rated([0.1, -0.1])


@pytest.fixture(scope="module")
def speech():
    """Ten different talkspurts with pauses: filtered noise that swells and fades."""
    draw = np.random.default_rng(7)
    parts = []
    for _ in range(10):
        noise = np.convolve(draw.normal(0, 1, 8000 + 7), np.ones(8) / 8, "valid")
        swell = 0.3 + np.abs(np.sin(np.arange(8000) / 900))
        parts += [noise * swell * 6000, np.zeros(4000)]
    return np.concatenate(parts).astype(np.int16)


def coded(samples):
    return codec("g711u").transmit(samples.reshape(1, -1)).reshape(-1)


def test_a_recording_is_laid_beside_the_original_talkspurt_by_talkspurt(speech):
    heard = coded(speech)
    # The recording begins 321 ms late, waits 80 ms in the third pause, and omits 40 ms of the sixth.
    third, sixth = 3 * 12000 - 2000, 6 * 12000 - 2000
    parts = [np.zeros(2568), heard[:third], np.zeros(640), heard[third:sixth], heard[sixth + 320 :]]
    found = align(speech, np.concatenate(parts).astype(np.int16))
    assert found.found == 1.0
    assert np.unique(found.lag_s.round(4)).tolist() == [0.321, 0.361, 0.401]
    assert found.lag_s[0] == pytest.approx(0.321)
    assert found.lag_s[-1] == pytest.approx(0.361)
    assert found.gaps.count == 0
    assert found.level_dbov == pytest.approx(align(speech, speech).level_dbov, abs=0.1)
    said, there = found.line()
    assert sorted(said) == said
    assert there[0] - said[0] == pytest.approx(0.321, abs=1e-3)


def test_a_talkspurt_that_the_recording_breaks_off_is_left_out_with_what_follows(speech):
    found = align(speech, coded(speech)[: 5 * 12000 + 4000])
    assert found.found == 1.0
    assert len(found.heard) == len(found.reference) <= 5 * 12000
    loud = np.abs(found.reference) > 1000
    assert np.allclose(found.reference[loud], found.heard[loud], rtol=0.05)


def test_gaps_are_counted_where_the_original_speaks(speech):
    heard = coded(speech)
    heard[2000:2400] = 0  # 50 ms
    heard[14000:14040] = 0  # 5 ms: too short
    heard[26000:26160] = 8  # 20 ms of the least step
    found = align(speech, heard)
    assert found.gaps.count == 2
    assert found.gaps.longest_s == pytest.approx(0.05, abs=0.002)
    assert found.gaps.total_s == pytest.approx(0.07, abs=0.004)
    assert GAP_S == 0.01
    quieter = align(speech, (heard // 2).astype(np.int16))
    assert quieter.level_dbov == pytest.approx(found.level_dbov - 6.0, abs=0.2)


def test_a_recording_of_something_else_is_refused(speech):
    other = (np.random.default_rng(1).normal(0, 2000, 40_000)).astype(np.int16)
    with pytest.raises(SpeechError, match="nothing of the original"):
        align(speech, other)
    with pytest.raises(SpeechError, match="both must last a second"):
        align(speech, speech[:100])


def test_configurations_say_what_a_call_needs(tmp_path):
    made = baresip.Call.from_folder(tmp_path, tmp_path / "said.wav", 9)
    made.write()
    alice, bob = ((tmp_path / name / "config").read_text().splitlines() for name in ("alice", "bob"))
    assert f"audio_source aufile,{tmp_path / 'said.wav'}" in alice
    assert "audio_source aubridge,ear" in bob  # the received sound
    for lines, name in ((alice, "alice"), (bob, "bob")):
        assert "rtp_tos 184" in lines  # EF, by which queues identify voice
        assert f"audio_buffer {baresip.BUFFER_MS[0]}-{baresip.BUFFER_MS[1]}" in lines
        assert f"snd_path {tmp_path / name}" in lines
        assert {f"module {one}.so" for one in baresip.MODULES} <= set(lines)
    assert "answermode=auto" in (tmp_path / "bob" / "accounts").read_text()
    assert "answermode" not in (tmp_path / "alice" / "accounts").read_text()
    assert "regint=0" in (tmp_path / "alice" / "accounts").read_text()
    transport = made.transport()
    assert transport["command"][-4:] == ["-e", "/dial sip:bob@{to}", "-t", "9"]
    assert transport["serve"][-2:] == ["-t", "10"]
    with pytest.raises(RecordingError, match="recorded nothing"):
        _ = made.heard


@pytest.mark.parametrize(
    ("name", "folder", "seconds", "said"),
    [
        ("al ice", "x", 8, "letters, digits and hyphens"),
        ("alice\nmodule evil.so", "x", 8, "letters, digits and hyphens"),
        ("alice", "a,b", 8, "no comma"),
        ("alice", "a\nmodule evil.so", 8, "no comma"),
        ("alice", "x", 0, "at least 1"),
    ],
)
def test_names_and_paths_cannot_add_to_a_configuration(tmp_path, name, folder, seconds, said):
    with pytest.raises(ValueError, match=said):
        baresip.Party(name, tmp_path / folder, None, None, seconds)


def test_where_baresip_is_not_installed_it_says_how_it_is(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert "apt install baresip" in baresip.missing()


def statistics(kind, ssrc, **rest):
    return {"type": kind, "kind": "audio", "ssrc": ssrc, **rest}


def test_what_a_session_says_stands_beside_what_the_router_saw(recording, tmp_path):
    back = udp(BOB, ALICE, struct.pack(">BBHI", 0x80, 201, 1, 98) + b"\0" * 24)
    there = udp(ALICE, BOB, struct.pack(">BBHI", 0x80, 200, 1, 99) + b"\0" * 24)
    reports = [seen(0, 1.1, there), seen(1, 1.14, there), seen(1, 1.2, back), seen(0, 1.23, back)]
    file = recording(*call(lost=(4,)), *reports)
    sender = [
        statistics("outbound-rtp", 99, packetsSent=20, bytesSent=3200),
        statistics("remote-inbound-rtp", 98, packetsLost=1, roundTripTime=0.071),
    ]
    # A second stream of the same kind: retransmissions.
    receiver = [
        statistics("inbound-rtp", 5, packetsReceived=1, packetsLost=0, jitter=0),
        statistics("inbound-rtp", 99, packetsReceived=19, packetsLost=1, jitter=96),
    ]
    path = tmp_path / "send.jsonl"
    path.write_text(
        json.dumps({"at_s": 1.0, "stats": sender}) + "\n" + json.dumps({"at_s": 2.0, "stats": []}) + "\n"
    )
    rows = stats.compare_ends(stats.last(path), receiver, streams(file), packets.delays(file))
    found = {row.what: (row.said, row.seen) for row in rows}
    assert found["packets sent"] == (20, 20)
    assert found["bytes sent"] == (3200, 3200)
    assert found["packets received"] == (19, 19)
    assert found["packets lost"] == found["lost, as reported to the sender"] == (1, 1)
    assert found["round trip, smoothed; median (ms)"] == (pytest.approx(71.0), pytest.approx(70.0))
    assert found["round trip, slowest (ms)"] == (None, pytest.approx(70.0))
    assert found["jitter (ms)"][0] == pytest.approx(2.0)  # 96 of 48 000 units per second
    assert stats._ms(0.002, 48_000) == pytest.approx(2.0)  # a browser's seconds
    with pytest.raises(RecordingError, match="not in the recording"):
        stats.compare_ends([statistics("outbound-rtp", 1)], receiver, streams(file), {})


def test_rfc_3550_section_6_4_1_jitter_grows_by_a_sixteenth_of_each_difference(recording):
    late = [udp(ALICE, BOB, rtp(number, 160 * number)) for number in range(3)]
    blocks = [seen(0, 0.02 * number, one) for number, one in enumerate(late)]
    blocks += [seen(1, 0.1, late[0]), seen(1, 0.12 + 0.016, late[1]), seen(1, 0.14 + 0.016, late[2])]
    (stream,) = streams(recording(*blocks))
    assert stats._jitter_ms(stream, 8000) == pytest.approx(16 / 16 * 15 / 16)


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", '{"at_s": 1}', '{"stats": [3]}', '{"stats": [{"id": 1}]}']
)
def test_lines_that_are_no_statistics_are_refused(tmp_path, line):
    path = tmp_path / "stats.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(RecordingError, match="line 1"):
        stats.last(path)
    with pytest.raises(RecordingError, match="there are no statistics"):
        stats.last(tmp_path / "none.jsonl")
    path.write_text('{"stats": []}\n')
    with pytest.raises(RecordingError, match="not established"):
        stats.last(path)


@pytest.mark.parametrize("program", ["baresip_call.py", "webrtc.py"])
def test_examples_say_what_is_missing(program, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    words = ["--python", str(python)] if program == "webrtc.py" else []
    nowhere = {**os.environ, "PATH": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / program), *words, "--out", str(tmp_path / "out")],
        check=False, capture_output=True, text=True, timeout=60, env=nowhere, cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 1
    assert ("apt install baresip" in ended.stderr) or ("pip install aiortc" in ended.stderr), ended.stderr
    assert not (tmp_path / "out").exists()


def test_the_example_is_a_scenario_that_can_be_simulated_beside_its_live_run():
    from fairwave.live.comparison import simulated

    scenario = fairwave.load(EXAMPLES / "call.toml")
    short = simulated(scenario).with_overrides(
        {"duration": "3 s", "topology.bottleneck.queue.victim": "drop-sel"}
    )
    rows = short.run().flows.to_pylist()
    assert [row["group"] for row in rows].count("download") == 8
    assert next(row for row in rows if row["group"] == "call")["units_lost"] == 0


@pytest.mark.slow
def test_baresip_calls_baresip_and_what_it_hears_is_what_was_said(speech, tmp_path):
    why = baresip.missing() or missing()
    if why:
        pytest.skip(f"no call between telephones can be made here: {why}")
    said = write(tmp_path / "said.wav", speech)
    telephones = baresip.Call.from_folder(tmp_path, said, 8)
    telephones.write()
    changes = {
        "duration": "10 s",
        "flow.call.transport": telephones.transport(),
        "flow.call.traffic": "bulk",
        "flow.echo.count": 0,
        "flow.download.count": 2,
        "topology.bottleneck.queue.victim": "drop-sel",
    }
    file = tmp_path / "all.pcapng"
    made = live(fairwave.load(EXAMPLES / "call.toml").with_overrides(changes), recording=file)
    assert made.report["books_closed"]
    side = live_call.live_side("live", made, file, "call-s0", read(telephones.heard).samples, speech)
    # Queues identify voice by its code point, and Drop-Sel drops from the downloads, the class that uses most.
    assert np.isnan(side.delay_s).sum() == 0
    assert made.report["books"]["dropped"] > 0
    assert len(side.delay_s) > 300
    assert 0.024 < side.delay_s.min() < side.delay_s.mean() < 0.3
    assert side.sound.found == 1.0
    assert side.sound.level_dbov == pytest.approx(align(speech, speech).level_dbov, abs=1.0)
    assert side.delay_s.mean() < side.mouth_to_ear_s < 1.0
    assert 1.0 < side.rating.mos < 4.5
    # The callee's recording equals the packets that it sent back, so the common clock relates sound and time.
    _, back = live_call.find_directions(streams(file), "call-s0")
    sent = codec("g711u").decode(np.frombuffer(b"".join(back.payload), np.uint8)).astype(float)
    recorded = read(telephones.heard).samples.astype(float)
    assert len(sent) == len(recorded)
    # Within G.711's precision: half a step, with 16 steps in each doubling.
    assert (np.abs(sent - recorded) <= np.abs(recorded) / 16 + 16).all()
    # The speech returned to its sender.
    assert align(speech, read(telephones.came_back).samples).found > 0.8
    assert len(side.cells) == len(live_call.MEASURES)
