"""Captures, read by tshark and by an independent pcapng reader of the tests."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from collections import Counter

import numpy as np
import polars as pl
import pytest

import fairwave
from fairwave.capturing import capture, lua

SCENARIO = """
name = "captured"
duration = "20 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms", loss = { model = "bernoulli", rate = 0.02 } }
[[flow]]
name = "sack"
transport = "tcp/sack"
traffic = "bulk"
[[flow]]
name = "reno"
transport = "tcp/reno"
traffic = "bulk"
[[flow]]
name = "call"
transport = "udp"
traffic = { kind = "voice", codec = "g729", always-on = true }
[[flow]]
name = "twice"
transport = { name = "udp", redundancy = 1 }
traffic = { kind = "voice", always-on = true }
[[flow]]
name = "reported"
transport = "rtcp"
traffic = { kind = "video", layers = ["50 kb/s", "50 kb/s"] }
[[flow]]
name = "smooth"
transport = "tfrc"
traffic = "bulk"
[[flow]]
name = "adaptive"
transport = "rap"
traffic = "bulk"
[[flow]]
name = "layered"
transport = "dvrc"
traffic = { kind = "video", layers = ["50 kb/s", "50 kb/s"] }
"""

LINK, DROPS = "link:r1>r2", "drops:r1>r2"


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """The run's tables, and the folder with its captures."""
    folder = tmp_path_factory.mktemp("captures")
    read = fairwave.load(SCENARIO)
    plan = read.plan(1)
    ends = {flow["name"]: (flow["from"], flow["to"]) for flow in plan["flows"]}
    places = {LINK: folder / "link.pcapng", DROPS: folder / "link.pcapng"}
    for flow, (sender, receiver) in ends.items():
        name = flow.removesuffix("[0]")
        places[f"host:{sender}"] = folder / f"{name}-sender.pcapng"
        places[f"host:{receiver}"] = folder / f"{name}-receiver.pcapng"
    made = capture(read, places)
    results = read.run(1)
    assert made.digest == results.to_polars("work")["digest"][0], "looking on changes nothing"
    return results, folder


def row_of(results, group):
    flows = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == group)
    return flows.to_dicts()[0]


def link_row(results):
    return results.to_polars("links").filter(pl.col("link").cast(pl.String) == "r1>r2").to_dicts()[0]


def blocks(path):
    """Block types and bodies of a pcapng file (draft-ietf-opsawg-pcapng), read without the library that wrote it."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind = int.from_bytes(data[at : at + 4], "little")
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        assert length % 4 == 0
        assert int.from_bytes(data[at + length - 4 : at + length], "little") == length
        yield kind, data[at + 8 : at + length - 4]
        at += length


def options(data):
    at = 0
    while at + 4 <= len(data):
        code, length = (
            int.from_bytes(data[at : at + 2], "little"),
            int.from_bytes(data[at + 2 : at + 4], "little"),
        )
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + -(-length // 4) * 4


def test_a_file_is_pcapng_with_an_interface_per_place_in_order_of_time_and_short(seen):
    results, folder = seen
    found = list(blocks(folder / "link.pcapng"))
    assert found[0][0] == 0x0A0D0D0A
    interfaces = [dict(options(body[8:])) for kind, body in found if kind == 1]
    assert [one[2].decode() for one in interfaces] == ["r1>r2", "r1>r2 drops"]
    assert all(one[9] == b"\x09" for one in interfaces), "nanoseconds"
    # 20 B of the block and 20 B of IPv4 precede the ports; SIP (5060) is written and not simulated.
    packets = [body for kind, body in found if kind == 6 and body[40:42] != (5060).to_bytes(2, "big")]
    times = [int.from_bytes(b[4:8], "little") << 32 | int.from_bytes(b[8:12], "little") for b in packets]
    assert times == sorted(times)
    assert times[-1] <= 20_000_000_000
    link = link_row(results)
    per_interface = Counter(int.from_bytes(body[:4], "little") for body in packets)
    assert per_interface[0] == link["departures"]
    assert per_interface[1] == link["dropped_overflow"] + link["dropped_early"] > 0
    assert max(int.from_bytes(body[12:16], "little") for body in packets) <= 100, "headers alone"
    commented = [
        body
        for body in packets
        if 1 in dict(options(body[20 + -(-int.from_bytes(body[12:16], "little") // 4) * 4 :]))
    ]
    assert len(commented) == link["lost"] + per_interface[1]


tshark = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(tshark is None, reason="tshark is not installed (apt-get install tshark)")


def dissected(path, *arguments):
    command = [tshark, "-n", "-X", f"lua_script:{lua()}", "-r", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def fields(path, names, wanted=""):
    arguments = ["-T", "fields", "-E", "separator=,", *(part for name in names for part in ("-e", name))]
    text = dissected(path, *(["-Y", wanted] if wanted else []), *arguments)
    return list(csv.reader(io.StringIO(text)))


@needs_tshark
def test_nothing_is_malformed_and_every_flow_is_known_for_what_it_is(seen):
    results, folder = seen
    protocols = {
        "sack": "TCP", "reno": "TCP", "call": "RTP", "twice": "RTP", "reported": "RTP",
        "smooth": "TFRC", "adaptive": "RAP", "layered": "DVRC",
    }  # fmt: skip
    for name, protocol in protocols.items():
        path = folder / f"{name}-sender.pcapng"
        checks = ("-o", "ip.check_checksum:TRUE")
        assert dissected(path, *checks, "-Y", "_ws.malformed || ip.checksum.status == 0") == ""
        shown = Counter(row[0] for row in fields(path, ["_ws.col.Protocol"]))
        known = shown[protocol] + shown["RTCP"]
        assert known >= row_of(results, name)["packets_sent"], (name, shown)
        out = fields(path, ["frame.number"], "frame.packet_flags_direction == 2 && !sip")
        assert len(out) == row_of(results, name)["packets_sent"]
    assert dissected(folder / "link.pcapng", "-Y", "_ws.malformed") == ""


@needs_tshark
def test_tcp_analysis_finds_as_many_segments_sent_again_as_the_table_says(seen):
    results, folder = seen
    for name in ("sack", "reno"):
        again = (
            "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || "
            "tcp.analysis.spurious_retransmission || tcp.analysis.out_of_order"
        )
        # At its sender nothing has been reordered: a packet out of order was sent before.
        rows = fields(folder / f"{name}-sender.pcapng", ["frame.number"], f"({again}) && tcp.dstport == 5001")
        assert len(rows) == row_of(results, name)["packets_retransmitted"] > 0, name


@needs_tshark
def test_a_syn_tells_its_options_and_acknowledgements_their_blocks(seen):
    _, folder = seen
    names = [
        "tcp.options.mss_val",
        "tcp.options.sack_perm",
        "tcp.options.wscale.shift",
        "tcp.options.timestamp.tsval",
    ]
    [syn] = fields(folder / "sack-sender.pcapng", names, "tcp.flags.syn == 1 && tcp.flags.ack == 0")
    assert syn[0] == "1448"
    assert all(syn)
    [syn] = fields(folder / "reno-sender.pcapng", names, "tcp.flags.syn == 1 && tcp.flags.ack == 0")
    assert syn[1] == "", "Reno takes no blocks"
    edges = fields(
        folder / "sack-sender.pcapng", ["tcp.ack", "tcp.options.sack_le"], "tcp.options.sack.count > 0"
    )
    assert edges
    assert all(int(left.split(",")[0]) > int(ack) for ack, left, *_ in edges)


@needs_tshark
@pytest.mark.parametrize(
    ("ecn", "codepoint", "syn", "answer", "others"),
    [
        ("none", "0", "0", "0", {"0"}),
        # RFC 3168 §6.1.1: ECE and CWR, acknowledged by ECE; CWR reports each reduced window.
        ("classic", "2", "3", "1", {"0", "2"}),
        # RFC 9768 §3.1: all three, acknowledged by CWR because the SYN arrived unmarked; counters begin at 5.
        ("accurate", "2", "7", "2", {"5"}),
        ("scalable", "1", "7", "2", {"5"}),
    ],
)
def test_data_says_whether_it_can_be_marked_and_the_handshake_agrees_on_it(
    tmp_path, ecn, codepoint, syn, answer, others
):
    read = fairwave.load(SCENARIO).with_overrides(
        {"flow.sack.transport.ecn": ecn, "flow.sack.transport.prr": True, "duration": "10 s"}
    )
    ends = {flow["name"]: flow["from"] for flow in read.plan(1)["flows"]}
    path = tmp_path / "sack.pcapng"
    capture(read, {f"host:{ends['sack[0]']}": path})
    names = ["ip.dsfield.ecn", "tcp.flags", "tcp.flags.syn", "tcp.flags.ack", "tcp.len"]
    rows = fields(path, names)
    number = {name: [int(row[place], 0) for row in rows] for place, name in enumerate(names)}
    # Not every version of tshark has RFC 9768's name of the three bits.
    number["tcp.flags"] = [flags >> 6 & 7 for flags in number["tcp.flags"]]
    seen = list(zip(*number.values(), strict=True))
    assert [ace for _, ace, syn, ack, _ in seen if syn and not ack] == [int(syn)]
    assert [ace for _, ace, syn, ack, _ in seen if syn and ack] == [int(answer)]
    assert {str(ace) for _, ace, syn, _, _ in seen if not syn} == others
    data = [codepoint for codepoint, *_, length in seen if length]
    again = len(data) - data.count(int(codepoint))
    sent_again = row_of(read.run(1), "sack")["packets_retransmitted"]
    assert sent_again > 0
    assert again == (sent_again if ecn == "classic" else 0), "RFC 3168 §6.1.5"
    assert all(codepoint == 0 for codepoint, *_, length in seen if not length), "acknowledgements and SYNs"


@needs_tshark
def test_rtp_streams_lose_what_ours_lost(seen):
    results, folder = seen
    for name, kind in (("call", "g729"), ("twice", "red"), ("reported", "98")):
        row = row_of(results, name)
        text = dissected(folder / f"{name}-receiver.pcapng", "-q", "-z", "rtp,streams")
        [line] = [line for line in text.splitlines() if "5004" in line]
        cells = line.split()
        ssrc = next(place for place, cell in enumerate(cells) if cell.startswith("0x"))
        assert kind in line.lower(), line
        share = next(place for place, cell in enumerate(cells) if cell.startswith("("))
        received, lost = int(cells[share - 2]), int(cells[share - 1])
        assert share > ssrc
        sequences = [int(one[0]) for one in fields(folder / f"{name}-receiver.pcapng", ["rtp.seq"], "rtp")]
        # Reports of the sender are packets, too, but not RTP packets.
        reports = fields(folder / f"{name}-sender.pcapng", ["frame.number"], "rtcp.pt == 200")
        sent = row["packets_sent"] - len(reports)
        # A receiver cannot detect losses before the first and after the last received packet.
        unseen = sequences[0] + (sent - 1 - sequences[-1])
        assert received == len(sequences)
        assert received + lost + unseen == sent
        gone = row["lost"] + row["dropped"]
        # Half a second of packets may be in flight when the run ends.
        assert 0 <= lost + unseen - gone <= 30
        assert lost > 5


@needs_tshark
def test_reports_tell_the_round_trip_and_the_loss(seen):
    _, folder = seen
    rows = fields(
        folder / "reported-sender.pcapng",
        ["rtcp.ssrc.fraction", "rtcp.ssrc.cum_nr", "rtcp.ssrc.ext_high", "rtcp.ssrc.lsr", "rtcp.ssrc.dlsr"],
        "rtcp.pt == 201",
    )
    assert rows
    cumulative = [int(row[1]) for row in rows]
    assert cumulative == sorted(cumulative)
    assert cumulative[-1] > 0
    names = ["rtcp.timestamp.ntp.msw", "rtcp.timestamp.ntp.lsw", "rtcp.sender.packetcount", "rtcp.sdes.text"]
    reports = fields(folder / "reported-sender.pcapng", names, "rtcp.pt == 200")
    assert reports
    assert int(reports[0][0]) >= 2_208_988_800
    assert reports[0][3].endswith("reported-s0")
    # A receiver's report echoes the middle of the sender's clock.
    middles = {(int(msw) & 0xFFFF) << 16 | int(lsw) >> 16 for msw, lsw, *_ in reports}
    echoed = {int(row[3]) for row in rows if int(row[3])}
    assert echoed <= middles
    assert echoed


@needs_tshark
def test_the_dissector_shows_what_tfrc_and_dvrc_say(seen):
    _, folder = seen
    sequences = [
        int(row[0])
        for row in fields(folder / "smooth-sender.pcapng", ["fairwave_tfrc.seq"], "fairwave_tfrc.type == 0")
    ]
    assert sequences == list(range(len(sequences)))
    rates = fields(folder / "smooth-sender.pcapng", ["fairwave_tfrc.p"], "fairwave_tfrc.type == 1")
    assert any(0 < float(row[0]) < 0.5 for row in rows_with(rates))
    numbers = [
        int(row[0])
        for row in fields(folder / "layered-sender.pcapng", ["fairwave_dvrc.seq"], "fairwave_dvrc.type == 0")
    ]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    acknowledged = fields(
        folder / "adaptive-sender.pcapng", ["fairwave_rap.current"], "fairwave_rap.type == 1"
    )
    assert len(acknowledged) > 10


@needs_tshark
def test_a_datagram_is_as_long_as_its_packet_on_the_wire_where_the_scenario_leaves_room(seen):
    _, folder = seen
    out = "frame.packet_flags_direction == 2 && !sip"
    for name, expected in {
        "call": {"60"},  # G.729: 20 B of payload, 40 B of headers
        "smooth": {"1032"},  # 1000 B and 32 B, including 28 B of IP and UDP
        "adaptive": {"1044"},
    }.items():
        assert {row[0] for row in fields(folder / f"{name}-sender.pcapng", ["ip.len"], out)} == expected
    # Acknowledgements have the scenario's 44 B; TFRC's feedback needs more than 40 B.
    back = "frame.packet_flags_direction == 1 && !sip"
    assert {row[0] for row in fields(folder / "adaptive-sender.pcapng", ["ip.len"], back)} == {"44"}
    assert {row[0] for row in fields(folder / "smooth-sender.pcapng", ["ip.len"], back)} == {"60"}


@needs_tshark
def test_units_are_told_before_the_payload(seen):
    _, folder = seen
    numbers = fields(folder / "smooth-sender.pcapng", ["fairwave_unit.number"], "fairwave_tfrc.type == 0")
    assert [int(row[0]) for row in numbers] == list(range(len(numbers)))
    made = fields(
        folder / "layered-sender.pcapng",
        ["fairwave_dvrc.created", "frame.time_epoch"],
        "fairwave_dvrc.type == 0",
    )
    assert made
    assert all(int(created) <= float(sent) * 1e9 + 1e3 for created, sent in made)


def rows_with(rows):
    return [row for row in rows if row and row[0]]


def test_payload_is_written_if_asked_for(tmp_path):
    read = fairwave.load(SCENARIO).with_overrides({"duration": "1 s"})
    plain, whole = (
        capture(read, {LINK: tmp_path / name}, payload=payload)
        for name, payload in (("plain.pcapng", False), ("whole.pcapng", True))
    )
    assert plain.captures[0].packets == whole.captures[0].packets
    lengths = [
        [
            (int.from_bytes(b[12:16], "little"), int.from_bytes(b[16:20], "little"))
            for kind, b in blocks(tmp_path / name)
            if kind == 6
        ]
        for name in ("plain.pcapng", "whole.pcapng")
    ]
    assert [original for _, original in lengths[0]] == [original for _, original in lengths[1]]
    assert all(kept == original for kept, original in lengths[1])
    assert any(kept < original for kept, original in lengths[0])


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("link:r1>r9", "no link direction `r1>r9`.*did you mean `r1>r2`"),
        ("host:r9", "no node `r9`"),
        ("r1>r2", "does not say where"),
        ("flow:call", "captured at links and hosts"),
    ],
)
def test_a_place_that_is_not_there_is_refused(tmp_path, place, said):
    with pytest.raises(ValueError, match=said):
        capture(fairwave.load(SCENARIO), {place: tmp_path / "x.pcapng"})


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"file/x\.pcapng"):
        capture(fairwave.load(SCENARIO), {LINK: tmp_path / "file" / "x.pcapng"})


def test_the_command_takes_places_with_files(tmp_path, capsys):
    from fairwave.cli.declarations import RunOptions
    from fairwave.cli.runs import run_scenario
    from fairwave.errors import BadInputError

    file = tmp_path / "x.toml"
    file.write_text(fairwave.load(SCENARIO).with_overrides({"duration": "1 s"}).to_toml())
    wanted = [f"{LINK}={tmp_path / 'a.pcapng'}"]
    patterns = [f"{LINK}={tmp_path / 'a.txt'}"]
    run_scenario(RunOptions(scenario=str(file), threads=1, json=True, capture=wanted, loss_pattern=patterns))
    document = json.loads(capsys.readouterr().out)
    assert document["captures"][0]["packets"] == document["patterns"][0]["packets"] > 0
    with pytest.raises(BadInputError, match="--capture takes WHERE=FILE"):
        run_scenario(RunOptions(scenario=str(file), threads=1, json=True, capture=["link:r1>r2"]))


CALLS = """
name = "calls"
duration = "12 s"
[[link]]
from = "a"
to = "b"
rate = "2 Mb/s"
delay = "20 ms"
loss = { model = "bernoulli", rate = 0.02 }
[[flow]]
name = "call"
count = 2
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "voice", always-on = true }
[[flow]]
name = "mobile"
from = "a"
to = "b"
start = "3 s"
stop = "9 s"
transport = "udp"
traffic = { kind = "voice", codec = "amr-12.2", always-on = true }
[[flow]]
name = "talk"
from = "a"
to = "b"
transport = "udp"
traffic = "conversation"
[[flow]]
name = "ping"
from = "a"
to = "b"
transport = "ping"
traffic = "ping"
[[flow]]
name = "echo"
from = "a"
to = "b"
transport = { name = "ping", carrier = "udp" }
traffic = { kind = "ping", interval = "100 ms" }
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The run with calls, their speech, and a capture at the callee without any script."""
    path = tmp_path_factory.mktemp("calls") / "callee.pcapng"
    read = fairwave.load(CALLS)
    speech = (np.sin(np.arange(8000) * 0.3) * 8000).astype(np.int16)
    made = capture(read, {"host:b": path}, payload=True, speech=speech)
    results = read.run(1)
    assert made.digest == results.to_polars("work")["digest"][0]
    return results, speech, path


def unscripted(path, *arguments):
    command = [tshark, "-n", "-r", str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def shown(path, wanted, *names):
    options = [part for name in names for part in ("-e", name)]
    text = unscripted(path, "-Y", wanted, "-T", "fields", "-E", "separator=|", *options)
    return [line.split("|") for line in text.splitlines()]


@needs_tshark
def test_tshark_lists_every_call_and_knows_its_rtp_without_a_script(calls):
    _, _, path = calls
    assert (
        unscripted(path, "-Y", "_ws.malformed || ip.checksum.status == 0", "-o", "ip.check_checksum:TRUE")
        == ""
    )
    dialogs = {}
    for identity, method, status, number in shown(
        path, "sip", "sip.Call-ID", "sip.Method", "sip.Status-Code", "frame.number"
    ):
        dialogs.setdefault(identity, []).append((method or status, int(number)))
    assert len(dialogs) == 4, "two calls, a mobile one, and both directions of a conversation as one"
    for said in dialogs.values():
        assert [what for what, _ in said] == ["INVITE", "100", "180", "200", "ACK", "BYE", "200"]
    # Each RTP stream belongs to the call that set up its port, as in Wireshark's VoIP Calls.
    streams = {}
    for source, frame in shown(path, "rtp", "rtp.ssrc", "rtp.setup-frame"):
        streams.setdefault(source, set()).add(int(frame))
    assert len(streams) == 5
    assert all(len(frames) == 1 for frames in streams.values())
    setups = {number for said in dialogs.values() for what, number in said[:4] if what in {"INVITE", "200"}}
    assert {frame for frames in streams.values() for frame in frames} <= setups
    assert len({frame for frames in streams.values() for frame in frames}) >= 4


@needs_tshark
def test_tshark_s_own_list_of_sip_has_every_call_set_up_and_ended_once(calls):
    """`-z sip,stat` is a tap of Wireshark's; tshark 4.0 has no tap for *VoIP Calls*."""
    _, _, path = calls
    said = unscripted(path, "-q", "-z", "sip,stat")
    counts = {
        name: int(count) for name, count in re.findall(r"^ +(.+?) +: +(\d+) Packets", said, re.MULTILINE)
    }
    each = {"SIP 200 OK": 8, "SIP 180 Ringing": 4, "SIP 100 Trying": 4, "INVITE": 4, "ACK": 4, "BYE": 4}
    assert counts == each, "four calls, each set up and ended; nothing else"
    assert "Number of resent SIP messages: 0" in said
    # The tap pairs each INVITE with its 200: every INVITE has one.
    setup = re.search(r"Average setup time (\d+) ms\s+Min (\d+) ms\s+Max (\d+) ms", said)
    assert setup
    assert all(int(one) < 1000 for one in setup.groups())


@needs_tshark
def test_the_streams_that_tshark_decodes_lose_what_the_run_lost(calls):
    results, _, path = calls
    text = unscripted(path, "-q", "-z", "rtp,streams")
    found = {}
    for line in text.splitlines():
        cells = line.split()
        source = next((at for at, cell in enumerate(cells) if cell.startswith("0x")), None)
        if source is not None:
            share = next(at for at, cell in enumerate(cells) if cell.startswith("("))
            found[int(cells[source], 16)] = (cells[source + 1], int(cells[share - 2]), int(cells[share - 1]))
    flows = results.to_polars("flows").with_columns(pl.col("group").cast(pl.String))
    voice = flows.filter(pl.col("group").is_in(["call", "mobile"])).to_dicts()
    assert len(voice) == 3
    for source, row in enumerate(voice, start=1):
        codec, received, lost = found[source]
        assert codec.lower().startswith("amr" if row["group"] == "mobile" else "g711u"), codec
        gone = row["dropped"] + row["lost"]
        assert gone > 0
        # A receiver cannot detect losses before the first and after the last received packet.
        assert received + gone <= row["packets_sent"]
        assert gone - 3 <= lost <= gone


@needs_tshark
def test_calls_by_g711_carry_the_recording(calls):
    _, speech, path = calls
    codes, _ = fairwave._native.g711("u")
    spoken = np.frombuffer(codes, dtype=np.uint8)[speech.view(np.uint16)]
    rows = shown(path, "rtp.ssrc == 1", "rtp.seq", "rtp.payload")
    assert len(rows) > 500
    for sequence, payload in rows:
        at = int(sequence) * 160
        assert (
            bytes.fromhex(payload.replace(":", ""))
            == np.take(spoken, range(at, at + 160), mode="wrap").tobytes()
        )
    others = shown(path, "rtp.ssrc == 3", "rtp.payload")
    assert others
    assert all("55" not in payload[80:] for payload, *_ in others), "another codec's payload is zeros"


@needs_tshark
def test_pings_are_echoes_that_are_answered(calls):
    results, _, path = calls
    rows = results.to_polars("round_trips").with_columns(pl.col("group").cast(pl.String))
    [row] = rows.filter(pl.col("group") == "ping").to_dicts()
    requests = shown(path, "icmp.type == 8", "icmp.seq", "ip.len", "icmp.checksum.status")
    replies = shown(path, "icmp.type == 0", "icmp.seq")
    assert {(length, status) for _, length, status in requests} == {("84", "1")}
    assert [one[0] for one in replies] == [one[0] for one in requests], "each that came is answered"
    # One reply or two may be in flight at the end.
    assert 0 <= len(replies) - row["samples"] <= 2 + row["unanswered"]
    echoes = shown(path, "udp.dstport == 7 || udp.srcport == 7", "udp.length")
    assert {length for (length,) in echoes} == {"64"}


def test_without_sip_a_capture_has_the_packets_of_the_run_alone(tmp_path):
    read = fairwave.load(CALLS)
    [with_sip] = capture(read, {"host:b": tmp_path / "with.pcapng"}).captures
    [without] = capture(read, {"host:b": tmp_path / "without.pcapng"}, sip=False).captures
    assert with_sip.packets == without.packets
    count = {
        name: sum(kind == 6 for kind, _ in blocks(tmp_path / f"{name}.pcapng"))
        for name in ("with", "without")
    }
    assert count["without"] == without.packets
    assert count["with"] == without.packets + 4 * 7
