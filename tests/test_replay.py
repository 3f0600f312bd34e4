"""Captures: parsed, repaired and refused files, and a replay that equals the capture."""

from __future__ import annotations

import gzip
import json
import struct

import numpy as np
import pytest

import fairwave
from fairwave import patterns, replay
from fairwave.cli.replay import show_replay
from fairwave.errors import BadInputError
from validation.measured.made_captures import (
    CALL,
    START,
    A,
    B,
    ethernet,
    ip4,
    ip6,
    pcap,
    pcapng,
    rtp,
    tcp,
    udp,
)
from validation.measured.made_streams import RTCP, Talk, every, merge


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    "write",
    [
        pcap,
        lambda path, frames, **how: pcap(path, frames, unit=1, **how),
        pcapng,
        lambda path, frames, **how: pcapng(path, frames, resolution=9, **how),
        lambda path, frames, **how: pcapng(path, frames, resolution=6, offset=100, **how),
    ],
)
def test_every_format_has_the_same_packets(tmp_path, write, order):
    (one,) = replay.read(write(tmp_path / "call", CALL, order=order), True).flows
    assert (one.name, one.packets, one.ip_bytes) == ("udp 10.0.0.1:5004 > 10.0.0.2:6000", 50, 50 * 200)
    assert one.text() == "0:180 20000:180*49"
    assert one.first_ns == START
    assert one.is_rtp


def test_times_in_powers_of_two_are_read(tmp_path):
    frames = [(0, CALL[0][1]), (500_000_000, CALL[1][1])]
    (one,) = replay.read(pcapng(tmp_path / "a", frames, resolution=0x8A), True).flows
    assert one.text() == "0:180 500000:180"


@pytest.mark.parametrize(
    ("frame", "link"),
    [
        (ethernet(ip4(rtp(0)), 0x8100), 1),
        (ethernet(ip4(rtp(0)), 0x88A8, 0x8100), 1),
        (ip4(rtp(0)), 101),
        (struct.pack("<I", 2) + ip4(rtp(0)), 0),
        (struct.pack(">I", 2) + ip4(rtp(0)), 108),
        (bytes(14) + b"\x08\0" + ip4(rtp(0)), 113),
        (b"\x08\0" + bytes(18) + ip4(rtp(0)), 276),
        (ethernet(ip4(rtp(0), length=0)), 1),
    ],
)
def test_packets_are_found_behind_whatever_stands_before_them(tmp_path, frame, link):
    (one,) = replay.read(pcap(tmp_path / "a", [(0, frame)], link=link)).flows
    assert (one.name, one.ip_bytes) == ("udp 10.0.0.1:5004 > 10.0.0.2:6000", 200)


def test_ip_version_6_is_read_with_its_extension_headers(tmp_path):
    options = bytes((17, 0)) + bytes(6)
    frames = [(0, ethernet(ip6(udp(b"abc")))), (1000, ethernet(ip6(options + udp(b"abc"), 0)))]
    (one,) = replay.read(pcap(tmp_path / "a", frames), True).flows
    assert one.name == "udp [::1]:5004 > [::2]:6000"
    assert (one.header, one.text()) == (40, "0:11 1:19")


def test_fragments_count_to_the_flow_of_the_first_and_strangers_are_left_out(tmp_path):
    whole = udp(bytes(2000))
    first, rest = ip4(whole[:1480], ident=9, fragment=0x2000), ip4(whole[1480:], ident=9, fragment=1480 // 8)
    stranger = ip4(bytes(100), ident=8, fragment=7)
    head = struct.pack(">BBHI", 17, 0, 1, 77)
    later = struct.pack(">BBHI", 17, 0, 1480 // 8 << 3, 77)
    frames = [
        ethernet(one)
        for one in (first, rest, stranger, ip6(head + whole[:1480], 44), ip6(later + whole[1480:], 44))
    ]
    capture = replay.read(pcap(tmp_path / "a", list(enumerate(frames))))
    assert {one.name: (one.packets, one.ip_bytes) for one in capture.flows} == {
        "udp 10.0.0.1:5004 > 10.0.0.2:6000": (2, 2008 + 40),
        "udp [::1]:5004 > [::2]:6000": (2, 2008 + 2 * 48),
    }
    assert capture.notes.sentences() == [
        "2 later fragments count to the flow of the first fragment.",
        "1 fragment is left out: the first fragment, which has the ports, was not captured.",
    ]


def test_a_file_that_was_cut_short_is_used_up_to_there(tmp_path):
    whole = pcap(tmp_path / "a", CALL).stat().st_size
    for cut in (whole - 1, whole - 100, whole - len(CALL[0][1]) - 3):
        capture = replay.read(pcap(tmp_path / "a", CALL, cut=cut))
        assert capture.flows[0].packets == 49
        assert "ends within a packet" in capture.notes.sentences()[0]
    data = pcapng(tmp_path / "b", CALL).read_bytes()
    (tmp_path / "b").write_bytes(data[:-10])
    assert replay.read(tmp_path / "b").flows[0].packets == 49


def test_time_that_goes_backward_is_made_up_for_and_a_clock_that_was_set_is_refused(tmp_path):
    frames = [(0, CALL[0][1]), (5_000_000, CALL[1][1]), (2_000_000, CALL[2][1]), (9_000_000, CALL[3][1])]
    capture = replay.read(pcap(tmp_path / "a", frames), True)
    assert capture.flows[0].text() == "0:180 5000:180 0:180 4000:180"
    assert capture.notes.sentences() == [
        "1 packet has an earlier time than the one before (by up to 3 ms): sent together with it."
    ]
    with pytest.raises(replay.CaptureError, match=r"packet 2 was captured 3600 s before .*`reordercap"):
        replay.read(pcap(tmp_path / "a", [(3600 * 10**9, CALL[0][1]), (0, CALL[1][1])]))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"hello world, no capture", "no capture: it begins with"),
        (b"\xd4\xc3\xb2\xa1\0\0", "within its first 24 bytes"),
    ],
)
def test_what_is_no_capture_is_refused(tmp_path, data, said):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(replay.CaptureError, match=said):
        replay.read(tmp_path / "a")


def test_what_cannot_be_replayed_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(replay.CaptureError, match="link of type 189"):
        replay.read(pcap(tmp_path / "a", CALL, link=189))
    with pytest.raises(replay.CaptureError, match="has no time"):
        replay.read(pcapng(tmp_path / "a", CALL, simple=True))
    with pytest.raises(replay.CaptureError, match="no packet of IP among its 1"):
        replay.read(pcap(tmp_path / "a", [(0, bytes(12) + b"\x08\x06" + bytes(28))]))
    data = bytearray(pcap(tmp_path / "a", CALL).read_bytes())
    data[24 + 8 : 24 + 12] = b"\xff\xff\xff\x7f"
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(replay.CaptureError, match="at byte 24 begins a packet that says"):
        replay.read(tmp_path / "a")
    stranger = ethernet(ip4(bytes(100), ident=8, fragment=7))
    with pytest.raises(replay.CaptureError, match="has 2 fragments whose first ones are not there"):
        replay.read(pcap(tmp_path / "a", [(0, stranger), (1000, stranger)]))
    with pytest.raises(FileNotFoundError, match="nowhere': no such file; give a file of pcap"):
        replay.read(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="a folder; give a file of pcap"):
        replay.read(tmp_path)


def test_rtps_missing_numbers_are_a_pattern_whatever_their_order_and_across_their_end(tmp_path):
    numbers = [65533, 65534, 65536, 65535, 65539, 65540, *range(65541, 65560)]
    frames = [(20_000_000 * place, ethernet(ip4(rtp(number)))) for place, number in enumerate(numbers)]
    path = pcap(tmp_path / "a.pcap", frames)
    lost = patterns.read(path)
    assert np.flatnonzero(lost).tolist() == [4, 5]
    assert len(lost) == 27
    with pytest.raises(patterns.PatternError, match="has no flow of RTP"):
        patterns.read(pcap(tmp_path / "b.pcap", [(0, ethernet(ip4(udp(b"abc"))))]))


UDP = {"name": "udp", "header": "20 B"}


def scenario(traffic, seconds=2):
    return fairwave.Scenario.from_dict(
        {
            "name": "replayed", "duration": f"{seconds} s", "hosts": {"clock-skew": "0 ppm", "send-jitter": "0 s"},
            "link": [{"from": "a", "to": "b", "rate": "10 Mb/s", "delay": "1 ms"}],
            "flow": [{"name": "f", "from": "a", "to": "b", "transport": UDP, "traffic": traffic}],
            "record": {"units": ["f"]},
        }
    )  # fmt: skip


def test_what_is_replayed_is_what_was_captured(tmp_path):
    other = [(at + 1, ethernet(ip4(udp(bytes(900), (1, 2))))) for at, _ in CALL[:5]]
    path = pcap(tmp_path / "a.pcap", sorted(CALL + other))
    text = scenario(
        {"kind": "replay", "file": str(path), "select": "udp 10.0.0.1:5004 > 10.0.0.2:6000"}
    ).to_toml()
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    rows = fairwave.load(tmp_path / "s.toml").run().to_polars("units")
    assert rows["created_s"].to_list() == pytest.approx([0.02 * n for n in range(50)])
    assert set(rows["payload"]) == {180}
    smaller = fairwave.load(tmp_path / "s.toml").with_overrides(
        {"flow.f.traffic": {"kind": "replay", "packets": "0:7"}}
    )
    assert smaller.run().to_polars("units")["payload"].to_list() == [7]
    (tmp_path / "s.toml").write_text(text.replace("5004", "5005"), encoding="utf-8")
    with pytest.raises(fairwave.ScenarioError, match=r"has no flow .*did you mean 'udp 10.0.0.1:5004"):
        fairwave.load(tmp_path / "s.toml")


def listed(path, **more):
    asked = {
        "rate": None, "delay": "20 ms", "queue": "drop-tail", "most": 50, "tcp": "transfer", "out": None,
        "losses": None, "select": None, "json": False,
    }  # fmt: skip
    show_replay(path, **asked | more)


def test_the_command_writes_a_scenario_that_runs(tmp_path, capsys):
    data = [(10_000_000 * n, ethernet(ip4(tcp(1000 * n, bytes(1000)), 6))) for n in (0, 1, 1, 2)]
    back = [(5_000_000, ethernet(ip4(tcp(0, b"", (50000, 443)), 6, ends=(B, A))))]
    path = pcap(tmp_path / "night.pcap", sorted(CALL + data + back))
    out = tmp_path / "here" / "slower.toml"
    listed(path, rate="2 Mb/s", out=out, losses=tmp_path / "lost.txt")
    assert "rtp" not in capsys.readouterr().out.lower().split("(rtp)")[0]
    assert patterns.read(tmp_path / "lost.txt").tolist() == [False] * 50
    results = fairwave.load(out).run()
    sizes = results.to_polars("transfers")["size"].to_list()
    assert sizes == [3000], "new bytes alone, and no flow of acknowledgements"
    by_group = dict(
        zip(results.to_polars("flows")["group"], results.to_polars("flows")["units_received"], strict=True)
    )
    assert by_group["rtp-1"] == 50
    listed(path, rate="2 Mb/s", out=out, tcp="packets")
    assert len(fairwave.load(out).run().to_polars("flows")) == 3


def test_the_ways_of_a_conversation_use_the_two_ways_of_the_link(tmp_path):
    """Each way has 80 kb/s: a link of 100 kb/s loses nothing."""
    back = [(at + 7_000_000, ethernet(ip4(udp(frame[42:], (6000, 5004)), ends=(B, A)))) for at, frame in CALL]
    path = pcap(tmp_path / "call.pcap", sorted(CALL + back))
    (tmp_path / "call.pcap.gz").write_bytes(gzip.compress(path.read_bytes()))
    listed(tmp_path / "call.pcap.gz", rate="100 kb/s", out=tmp_path / "slower.toml")
    text = (tmp_path / "slower.toml").read_text()
    assert text.count('path = "reverse"') == 1
    flows = fairwave.load(tmp_path / "slower.toml").run().to_polars("flows")
    assert flows["units_received"].to_list() == [50, 50]
    assert flows["dropped"].sum() + flows["lost"].sum() == 0


def test_each_stream_of_a_port_becomes_a_flow_with_its_name(tmp_path, capsys):
    frames = merge(Talk(count=50).frames(), Talk(count=40, ssrc=9, kind=8).frames(), every(100, RTCP, 10))
    path = pcap(tmp_path / "call.pcap", frames)
    listed(path, rate="1 Mb/s", out=tmp_path / "slower.toml")
    results = fairwave.load(tmp_path / "slower.toml").run().to_polars("flows")
    received = dict(zip(results["group"].cast(str), results["units_received"], strict=True))
    assert received == {"rtp-1": 50, "rtp-2": 40, "udp-3": 10}
    assert "0x00000009" in capsys.readouterr().out
    whole = replay.read(path, True).find("udp 10.0.0.1:5004 > 10.0.0.2:6000")
    assert (whole.packets, len(whole.at_ns)) == (100, 100)


def test_a_pattern_is_that_of_the_stream_that_is_chosen(tmp_path, capsys):
    from fairwave.cli.patterns import show_pattern

    frames = merge(Talk(lost=(5, 6), ssrc=1).frames(), Talk(lost=(1, 2, 3), ssrc=2, begin_ms=10_000).frames())
    path = pcap(tmp_path / "call.pcap", frames)
    for select, lost in ((None, 2), ("2", 3), ("udp 10.0.0.1:5004 > 10.0.0.2:6000 ssrc 0x00000002", 3)):
        show_pattern(path, None, None, json=True, select=select)
        found = json.loads(capsys.readouterr().out)
        assert (found["lost"], found["packets"]) == (lost, 500)
        assert [one["lost"] for one in found["streams"]] == [2, 3]
    show_pattern(path, None, None, json=False)
    assert "Choose another one with --select" in "".join(capsys.readouterr())
    (tmp_path / "lost.txt").write_text("0101")
    with pytest.raises(BadInputError, match="--select is for captures"):
        show_pattern(tmp_path / "lost.txt", None, None, json=False, select="1")


def test_what_the_command_cannot_do_is_said(tmp_path):
    path = pcap(tmp_path / "night.pcap", [(0, ethernet(ip4(udp(b"abc"))))])
    for more, said in (
        ({"out": tmp_path / "a.toml"}, "add for example --rate"),
        ({"rate": "fast"}, "--rate, --delay and --queue"),
        ({"losses": tmp_path / "lost.txt"}, "needs a flow of RTP"),
        ({"select": "9"}, "there are 1 to 1"),
    ):
        with pytest.raises(BadInputError, match=said):
            listed(path, **more)
    listed(path, rate="2 Mb/s")
    with pytest.raises(BadInputError, match="exists already"):
        listed(path, rate="2 Mb/s")
    acknowledgements = pcap(tmp_path / "acks.pcap", [(0, ethernet(ip4(tcp(0, b""), 6)))])
    with pytest.raises(BadInputError, match="has only TCP's acknowledgements"):
        listed(acknowledgements, rate="2 Mb/s")


def test_the_fitted_line_of_a_pattern_is_a_loss_model(tmp_path, capsys):
    from fairwave.cli.patterns import line, show_pattern

    lost = np.tile(np.array([1, 1, 1, *[0] * 97], bool), 100)
    law = patterns.gilbert(lost).law
    assert law is not None
    assert law["model"] == "gilbert"
    assert law["rate"] == pytest.approx(0.03, rel=0.01)
    assert law["run"] == pytest.approx(3, rel=0.01)
    show_pattern(patterns.write(tmp_path / "a.txt", lost), None, None, json=False)
    assert line(law) in capsys.readouterr().out.replace("\n", " ")
    toml = scenario("voice").to_toml().replace('delay = "1 ms"', f'delay = "1 ms"\n{line(law)}')
    assert fairwave.load(toml).to_dict()["link"][0]["loss"]["model"] == "gilbert"
    assert patterns.gilbert(np.zeros(10, bool)).law is None
