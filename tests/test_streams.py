"""Streams of RTP in captures: their identity, numbers and repairs, compared with tshark and with what was sent."""

from __future__ import annotations

import gzip
import re
import shutil
import struct
import subprocess

import numpy as np
import pytest

from fairwave import captures
from validation.measured import captures as measured
from validation.measured.made_captures import A, B, ethernet, ip4, pcap, tcp, udp
from validation.measured.made_streams import DTLS, MS, RTCP, STUN, Talk, back, every, frame, merge, packet

TALKS = {
    "losses": Talk(lost=(3, 4, 50, 200, 201, 202)),
    "jitter": Talk(jitter_ms=15, lost=(9,), seed=5),
    "duplicates": Talk(again=(7, 8, 300), lost=(10,)),
    "reordering": Talk(late=(20, 40, 41), lost=(10, 60)),
    "wrap": Talk(first=65_500, lost=(10, 35, 36, 40)),
    "g722": Talk(kind=9, jitter_ms=8),
    "dvi4-11025": Talk(kind=16, clock=11_025, jitter_ms=15),
    "dvi4-22050": Talk(kind=17, clock=22_050, jitter_ms=15),
    "l16-44100": Talk(kind=11, clock=44_100, jitter_ms=15, size=400),
    "video": Talk(kind=34, clock=90_000, step_ms=33, jitter_ms=20, lost=(100,), late=(50,), size=900),
}

TSHARK = {
    "losses": (494, 6, 0.000, 0.000),
    "jitter": (499, 1, 4.819, 7.072),
    "duplicates": (502, -2, 0.004, 0.068),
    "reordering": (498, 2, 0.362, 7.762),
    "wrap": (496, 4, 0.000, 0.000),
    "g722": (500, 0, 2.606, 3.621),
    "dvi4-11025": (500, 0, 4.891, 6.786),
    "dvi4-22050": (500, 0, 4.887, 6.784),
    "l16-44100": (500, 0, 4.887, 6.784),
    "video": (499, 1, 6.649, 12.173),
}
"""What `tshark -z rtp,streams` of Wireshark 4.0.17 shows: packets, lost, mean and largest jitter in ms.

Its lost packets are those expected less those that arrived, so each duplicate hides a loss. It divides the clock by
1000 without a remainder: it computes the jitter of 11 025, 22 050 and 44 100 Hz with 11, 22 and 44 kHz.
"""

UNEVEN = {"dvi4-11025", "dvi4-22050", "l16-44100"}
tshark = shutil.which("tshark")


def find_streams(tmp_path, frames, **how):
    return captures.read(pcap(tmp_path / "a.pcap", frames), **how).streams


@pytest.mark.parametrize("name", TALKS)
def test_losses_duplicates_and_jitter_are_those_of_tshark(name, tmp_path):
    talk = TALKS[name]
    (stream,) = find_streams(tmp_path, talk.frames())
    arrived, lost, mean, largest = TSHARK[name]
    assert (stream.lost, stream.duplicates) == (len(talk.lost), len(talk.again))
    assert stream.reordered == len(talk.late) - (name == "reordering")
    assert (stream.clock, stream.format.origin) == (talk.clock, "RFC 3551")
    assert stream.packets == arrived
    assert stream.lost - stream.duplicates == lost
    near = 0.03 if name in UNEVEN else 0.0006
    assert 1e3 * stream.mean_jitter_s == pytest.approx(mean, abs=near)
    assert 1e3 * stream.largest_jitter_s == pytest.approx(largest, abs=near)


def list_by_tshark(path):
    """Packets, losses, and jitter of each stream, by SSRC."""
    words = [tshark, "-n", "-r", str(path), "--enable-heuristic", "rtp_udp", "-q", "-z", "rtp,streams"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    found = {}
    for line in said.splitlines():
        ssrc = re.search(r"0x([0-9A-Fa-f]{8})", line)
        cells = re.search(r"(\d+) +(-?\d+) \(-?[\d.]+%\) +([\d. ]+)", line)
        if ssrc and cells:
            times = [float(one) for one in cells[3].split()]
            found[int(ssrc[1], 16)] = int(cells[1]), int(cells[2]), times[-2], times[-1]
    return found


@pytest.mark.skipif(tshark is None, reason="tshark is not installed (apt-get install tshark)")
@pytest.mark.parametrize("name", TALKS)
def test_tshark_shows_what_is_kept(name, tmp_path):
    found = list_by_tshark(pcap(tmp_path / "a.pcap", TALKS[name].frames()))
    assert found[7][:2] == TSHARK[name][:2]
    # Other versions of tshark may divide the clock exactly.
    assert found[7][2:] == pytest.approx(TSHARK[name][2:], abs=0.03 if name in UNEVEN else 0.0006)


def test_media_is_found_among_everything_else_on_its_port(tmp_path):
    talk = Talk(kind=111, clock=48_000, size=80, lost=(400, 401, 700, 900, 901), count=1500)
    others = (every(100, RTCP, 300), every(2500, STUN, 12), every(7000, DTLS, 3))
    capture = captures.read(pcap(tmp_path / "a.pcap", merge(talk.frames(), *others)))
    media, other = capture.flows
    assert media.name == "udp 10.0.0.1:5004 > 10.0.0.2:6000 ssrc 0x00000007"
    assert (media.stream.lost, media.stream.expected, media.stream.clock) == (5, 1500, 48_000)
    assert other.contents == {"rtcp": 300, "stun": 12, "dtls": 3}
    assert capture.find("udp 10.0.0.1:5004 > 10.0.0.2:6000").packets == 1495 + 315


def test_a_new_source_begins_a_new_stream(tmp_path):
    first, second = Talk(lost=(5, 6), ssrc=1), Talk(lost=(1, 2, 3), ssrc=2, begin_ms=10_000)
    found = find_streams(tmp_path, merge(first.frames(), second.frames()))
    assert [(one.lost, one.expected) for one in found] == [(2, 500), (3, 500)]


def test_a_bundle_falls_apart_into_streams_that_keep_their_losses(tmp_path):
    audio = Talk(kind=111, clock=48_000, ssrc=1, size=80, lost=(7,))
    screen, camera = (
        Talk(kind=96, clock=90_000, step_ms=5, count=2000, ssrc=ssrc, size=900, lost=lost)
        for ssrc, lost in ((2, (3, 4)), (3, (9, 10, 11)))
    )
    found = find_streams(tmp_path, merge(*(one.frames() for one in (audio, screen, camera))))
    assert {one.ssrc: (one.lost, one.clock, one.role) for one in found} == {
        1: (1, 48_000, "media"), 2: (2, 90_000, "media"), 3: (3, 90_000, "media"),
    }  # fmt: skip


@pytest.mark.parametrize("clock", [8000, 11_025, 16_000, 22_050, 44_100, 48_000, 90_000])
def test_the_clock_of_a_dynamic_type_is_estimated(clock, tmp_path):
    (stream,) = find_streams(tmp_path, Talk(kind=110, clock=clock, jitter_ms=30).frames())
    assert (stream.clock, stream.format.origin) == (clock, "timestamps")


def test_a_type_with_another_clock_begins_a_stream_and_a_tone_does_not(tmp_path):
    speech = [(20 * MS * n, frame(packet(n, 160 * n))) for n in range(100)]
    tone = [(20 * MS * n, frame(packet(n, 160 * 100, kind=101, payload=bytes(4)))) for n in range(100, 106)]
    more = [(20 * MS * n, frame(packet(n, 160 * n))) for n in range(106, 150)]
    wide = [(20 * MS * n, frame(packet(n, 160 * 150 + 960 * (n - 150), kind=98))) for n in range(151, 300)]
    found = sorted(find_streams(tmp_path, speech + tone + more + wide), key=lambda one: one.place)
    assert [(one.clock, one.expected, one.lost, one.place) for one in found] == [
        (8000, 150, 0, 1), (48_000, 149, 0, 2),
    ]  # fmt: skip
    assert found[0].largest_jitter_s == 0


def shifted(numbers, stamps):
    return [
        (20 * MS * place, frame(packet(*one))) for place, one in enumerate(zip(numbers, stamps, strict=True))
    ]


def test_a_jump_begins_the_numbers_anew_and_loses_nothing(tmp_path):
    numbers = [*range(100, 300), *range(40_000, 40_200), 40_201]
    (stream,) = find_streams(tmp_path, shifted(numbers, [160 * n for n in range(401)]))
    assert (stream.lost, stream.expected, stream.restarts, stream.ignored) == (1, 402, 1, 0)
    assert stream.largest_jitter_s == 0


def test_a_jump_back_begins_anew_too(tmp_path):
    numbers = [*range(5000, 5200), *range(4000, 4200)]
    (stream,) = find_streams(tmp_path, shifted(numbers, [160 * n for n in range(400)]))
    assert (stream.lost, stream.expected, stream.restarts) == (0, 400, 1)


def test_a_single_packet_out_of_place_is_ignored(tmp_path):
    numbers = [*range(100, 300), 30_000, *range(300, 400)]
    (stream,) = find_streams(tmp_path, shifted(numbers, [160 * n for n in range(301)]))
    assert (stream.lost, stream.expected, stream.restarts, stream.ignored) == (0, 300, 0, 1)


def test_a_long_outage_is_a_loss_and_not_a_jump(tmp_path):
    frames = [(20 * MS * n, frame(packet(n, 160 * n))) for n in range(5000) if not 500 <= n < 4000]
    (stream,) = find_streams(tmp_path, frames)
    assert (stream.lost, stream.restarts) == (3500, 0)
    (pause,) = stream.find_pauses()
    assert pause == pytest.approx((499 * 0.02, 80.0, 3500))


def test_packets_that_were_held_back_are_late_and_not_a_jump(tmp_path):
    held = list(range(300, 360))
    order = [*range(300), *range(360, 700), *held, *range(700, 800)]
    (stream,) = find_streams(tmp_path, shifted(order, [160 * n for n in order]))
    assert (stream.lost, stream.restarts, stream.reordered) == (0, 0, 60)


def test_random_bytes_are_no_stream(tmp_path):
    random = np.random.default_rng(1)
    frames = [(MS * n, frame(bytes((128 + n % 64,)) + random.bytes(100))) for n in range(2000)]
    same = [(MS * n + 1, frame(bytes((128, 0)) + bytes(100), (7, 8))) for n in range(500)]
    capture = captures.read(pcap(tmp_path / "a.pcap", merge(frames, same)))
    assert capture.streams == []
    assert {one.packets for one in capture.flows} == {2000, 500}


def repaired(seed=3):
    """A video whose lost packets, and some others, are sent again: frames, and the numbers that were sent again."""
    video = [(n, 3000 * (n // 4), bytes((n % 251,)) * (700 + 13 * (n % 4) + n % 7)) for n in range(1200)]
    again = list(range(11, 1200, 40))
    frames = [
        (25 * MS * n // 3, frame(packet(n, stamp, 2, 96, body))) for n, stamp, body in video if n not in again
    ]
    sent = [(25 * MS * n // 3 + 60 * MS, n, video[n][1], video[n][2]) for n in (*again, *range(12, 1200, 90))]
    return frames, sorted(sent)


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_retransmissions_are_told_apart_by_their_shape(is_encrypted, tmp_path):
    frames, sent = repaired()
    random = np.random.default_rng(2)
    repairs = [
        (
            at,
            frame(
                packet(
                    place, stamp, 9, 97,
                    random.bytes(len(body) + 2) if is_encrypted else struct.pack(">H", number) + body,
                )
            ),
        )
        for place, (at, number, stamp, body) in enumerate(sent)
    ]  # fmt: skip
    if is_encrypted:  # the sizes show it only next to packets of the same frame that arrived
        frames = merge(
            frames, [(25 * MS * n // 3, frame(packet(n, s, 2, 96, b))) for _, n, s, b in sent[::2]]
        )
    found = {one.ssrc: one for one in find_streams(tmp_path, merge(frames, repairs))}
    assert (found[9].role, found[9].repairs, found[9].clock) == ("rtx", 2, 90_000)
    assert found[2].role == "media"


SDP = """v=0
o=- 1 1 IN IP4 10.0.0.2
s=-
c=IN IP4 10.0.0.2
t=0 0
m=audio 6000 UDP/TLS/RTP/SAVPF 111
a=rtpmap:111 opus/48000/2
m=video 6000 UDP/TLS/RTP/SAVPF 96 97 98
a=rtpmap:96 VP8/90000
a=rtpmap:97 rtx/90000
a=fmtp:97 apt=96
a=rtpmap:98 flexfec-03/90000
a=ssrc-group:FEC-FR 2 5
"""


def described():
    """Audio, video, retransmissions of encrypted packets and forward error correction, all on one port."""
    return merge(
        Talk(kind=111, clock=48_000, ssrc=1, size=80).frames(),
        Talk(kind=96, clock=90_000, ssrc=2, size=900, step_ms=5, count=2000).frames(),
        Talk(kind=97, clock=90_000, ssrc=3, size=300, step_ms=300, count=30).frames(),
        Talk(kind=98, clock=90_000, ssrc=5, size=910, step_ms=100, count=90).frames(),
    )


def check_description(found):
    roles = {one.ssrc: (one.format.codec, one.role, one.repairs) for one in found}
    assert roles == {
        1: ("opus", "media", None), 2: ("VP8", "media", None), 3: ("rtx", "rtx", 2), 5: ("flexfec-03", "fec", 2),
    }  # fmt: skip


def test_a_session_description_names_codecs_and_repairs(tmp_path):
    (tmp_path / "call.sdp").write_text(SDP)
    check_description(
        find_streams(tmp_path, described(), description=captures.read_description(tmp_path / "call.sdp"))
    )


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_sip_in_the_capture_describes_its_streams(protocol, tmp_path):
    message = b"INVITE sip:b@10.0.0.2 SIP/2.0\r\nContent-Type: application/sdp\r\n\r\n" + SDP.encode()
    contents = udp(message, (5060, 5060)) if protocol == "udp" else tcp(1, message, (40_000, 5060))
    first = [(0, ethernet(ip4(contents, 17 if protocol == "udp" else 6, ends=(B, A))))]
    check_description(find_streams(tmp_path, [*first, *described()]))


def test_forward_error_correction_that_names_its_media_is_told_apart(tmp_path):
    video = Talk(kind=96, clock=90_000, ssrc=2, size=900, step_ms=5, count=2000)
    flexible = [
        (50 * MS * n + 1, frame(packet(n, 4500 * n, 5, 98, bytes(8) + b"\1\0\0\0" + struct.pack(">I", 2) + bytes(90))))
        for n in range(150)
    ]  # fmt: skip
    plain = [
        (50 * MS * n + 2, frame(packet(n, 4500 * n, 6, 99, struct.pack(">BBH", 0, 0, 100 + 10 * n) + bytes(90))))
        for n in range(2, 150)
    ]  # fmt: skip
    found = find_streams(tmp_path, merge(video.frames(), flexible, plain))
    assert {one.ssrc: (one.role, one.repairs) for one in found} == {
        2: ("media", None), 5: ("fec", 2), 6: ("fec", 2),
    }  # fmt: skip


def test_two_streams_of_the_same_times_are_both_media(tmp_path):
    found = find_streams(tmp_path, merge(Talk(ssrc=1).frames(), Talk(ssrc=2, kind=8, begin_ms=1).frames()))
    assert [one.role for one in found] == ["media", "media"]


def test_packets_of_padding_alone_are_counted(tmp_path):
    media = Talk(kind=96, clock=90_000, ssrc=2).frames()
    probes = [
        (20 * MS * n + 1, frame(packet(600 + n, 900_000, 4, 96, bytes(199) + b"\xc8", flags=0xA0)))
        for n in range(40)
    ]
    found = {one.ssrc: one for one in find_streams(tmp_path, merge(media, probes))}
    assert int(found[4].padding.sum()) == 40
    assert int(found[2].padding.sum()) == 0


def test_relayed_media_is_found(tmp_path):
    channel = [
        (20 * MS * n, frame(struct.pack(">HH", 0x4001, 172) + packet(n, 160 * n, 1))) for n in range(100)
    ]
    indications = [
        (20 * MS * n + 1, frame(
            struct.pack(">HHI12s", 0x17, 188, 0x2112A442, bytes(12)) + struct.pack(">HHQ", 0x12, 8, 0)
            + struct.pack(">HH", 0x13, 172) + packet(n, 160 * n, 2)))
        for n in range(100)
    ]  # fmt: skip
    assert {one.ssrc for one in find_streams(tmp_path, merge(channel, indications))} == {1, 2}


def test_both_directions_are_streams_of_their_own(tmp_path):
    there = Talk(lost=(1, 2)).frames()
    home = [(20 * MS * n + 7 * MS, back(packet(n, 160 * n))) for n in range(200)]
    capture = captures.read(pcap(tmp_path / "a.pcap", merge(there, home)))
    assert [(one.name, one.direction, one.stream.lost) for one in capture.flows] == [
        ("udp 10.0.0.1:5004 > 10.0.0.2:6000", "forward", 2),
        ("udp 10.0.0.2:6000 > 10.0.0.1:5004", "reverse", 0),
    ]


def test_compressed_captures_are_read_and_those_that_end_early_are_used(tmp_path):
    whole = pcap(tmp_path / "a.pcap", Talk(jitter_ms=9).frames()).read_bytes()
    (tmp_path / "a.pcap.gz").write_bytes(gzip.compress(whole))
    assert captures.is_capture(tmp_path / "a.pcap.gz")
    assert captures.read(tmp_path / "a.pcap.gz").streams[0].packets == 500
    two = gzip.compress(whole[:50_000]) + gzip.compress(whole[50_000:])
    (tmp_path / "b").write_bytes(two)
    assert captures.read(tmp_path / "b").streams[0].packets == 500
    (tmp_path / "c").write_bytes(gzip.compress(whole)[:-400])
    cut = captures.read(tmp_path / "c")
    assert 100 < cut.streams[0].packets < 500
    assert "ends within a packet" in cut.notes.sentences()[0]
    (tmp_path / "d").write_bytes(gzip.compress(whole)[:3000] + bytes(500) + gzip.compress(whole)[3500:])
    with pytest.raises(captures.CaptureError, match="compressed and damaged"):
        captures.read(tmp_path / "d")


def test_a_bomb_is_refused_in_one_sentence(tmp_path):
    head = pcap(tmp_path / "a", []).read_bytes()
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(head + bytes(20_000_000)))
    with pytest.raises(captures.CaptureError, match="unpacks to more than 300 times its size") as found:
        captures.read(tmp_path / "bomb.gz")
    assert len(str(found.value).splitlines()) == 1


def test_a_fit_sends_repairs_and_reports_next_to_the_media(tmp_path):
    from fairwave.fitting.observing import observed
    from fairwave.fitting.packet_arrays import read

    frames, sent = repaired()
    repairs = [
        (at, frame(packet(place, stamp, 9, 97, struct.pack(">H", number) + body)))
        for place, (at, number, stamp, body) in enumerate(sent)
    ]
    seen = observed(read(pcap(tmp_path / "a.pcap", merge(frames, repairs, every(100, RTCP, 90)))), B)
    ((_, (video,)),) = seen.calls
    (rest,) = seen.others
    assert (video.clock, int(video.lost.sum())) == (90_000, 30)
    assert len(rest.at_s) == len(repairs) + 90
    assert len(seen.at_s) == len(frames) + len(rest.at_s)


def test_calls_on_every_link_have_the_right_values(tmp_path):
    text = measured.render(tmp_path)
    assert "170 of 170 files" in text
    assert "**" not in text
