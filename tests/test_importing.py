"""`fairwave import`: every kind of file is recognised by its contents, and the commands that are named can use it."""

from __future__ import annotations

import gzip
import json
import struct

import pytest

from made_graphs import BRITE, format_gml, format_graphml, format_native, format_node_link, format_sndlib_xml

ATLAS = [
    {
        "prb_id": 1,
        "msm_id": 7,
        "type": "ping",
        "sent": 3,
        "rcvd": 2,
        "result": [{"rtt": 10.0}, {"rtt": 30.0}, {"x": "*"}],
    },
    {"prb_id": 2, "type": "ping", "sent": 1, "rcvd": 1, "result": [{"rtt": 20.0}]},
]
IPERF = {
    "start": {}, "intervals": [{"sum": {"bits_per_second": rate, "retransmits": 2}} for rate in (4e6, 6e6)],
    "end": {"sum_sent": {"bytes": 3}},
}  # fmt: skip
FLENT = {
    "metadata": {"FLENT_VERSION": "2", "NAME": "rrul"},
    "x_values": [0, 1],
    "results": {"Ping (ms) ICMP": [10, 14]},
}
SABRE = [{"duration_ms": 1000, "bandwidth_kbps": 800, "latency_ms": 40}] * 2
SCENARIO = """
name = "call"
duration = "2 s"
[[link]]
from = "here"
to = "there"
rate = "1 Mb/s"
delay = "10 ms"
[[flow]]
name = "voice"
from = "here"
to = "there"
transport = "udp"
traffic = { kind = "voice", codec = "g711" }
"""
NETWORK = """
duration = "2 s"
topology = { file = "a.json" }
links = { rate = "1 Gb/s" }
demands = { load = "1 Mb/s", pairs = 2 }
"""


def make_capture() -> bytes:
    """A capture of 50 packets of RTP over raw IPv4, 20 ms apart, without the one with number 7."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for number in range(50):
        if number == 7:
            continue
        rtp = struct.pack("!BBHII", 0x80, 0, number, 160 * number, 99) + bytes(160)
        udp = struct.pack("!HHHH", 5004, 5006, 8 + len(rtp), 0) + rtp
        ip = struct.pack(
            "!BBHHHBBH4s4s",
            0x45,
            0,
            20 + len(udp),
            0,
            0,
            64,
            17,
            0,
            bytes([10, 0, 0, 1]),
            bytes([10, 0, 0, 2]),
        )
        packet = ip + udp
        parts.append(
            struct.pack("<IIII", number // 50, number * 20_000 % 1_000_000, len(packet), len(packet)) + packet
        )
    return b"".join(parts)


FILES = {
    "a.pcap": (make_capture(), "capture", {"flows": 1, "packets": 49, "streams of RTP": 1}, "fairwave replay a.pcap"),
    "a.pcap.gz": (gzip.compress(make_capture()), "capture", {"packets": 49}, "fairwave fit a.pcap.gz"),
    "lost.txt": (b"0 0 1 0\n", "pattern", {"packets": 4, "lost": 1}, "fairwave pattern lost.txt"),
    "a.gml": (format_gml().encode(), "topology", {"nodes": 6, "links without a rate": 1}, "fairwave network"),
    "a.graphml": (format_graphml().encode(), "topology", {"nodes": 6}, "fairwave network"),
    "a.json": (json.dumps(format_node_link()).encode(), "topology", {"nodes": 6}, "fairwave network"),
    "a.native": (format_native().encode(), "topology", {"nodes": 3, "demands": 3}, "fairwave network"),
    "a.xml": (format_sndlib_xml().encode(), "topology", {"nodes": 3, "demands": 3}, "fairwave network"),
    "a.brite": (BRITE.encode(), "topology", {"links": 3, "links without a rate": 1}, "fairwave network"),
    "sabre.json": (json.dumps(SABRE).encode(), "sabre", {"duration (s)": 2, "mean (b/s)": 800_000}, "fairwave trace"),
    "bus.log": (b"1 1 59 10 125000 1000\n2 2 59 10 0 1000\n", "downloads", {"mean (b/s)": 500_000}, "fairwave trace"),
    "up.mahi": (b"1\n5\n9\n12\n", "mahimahi", {"format": "mahimahi"}, "fairwave trace up.mahi"),
    "rates.csv": (b"time_s,rate_mbps\n0,1\n1,3\n", "rates", {"mean (b/s)": 2_000_000}, "fairwave trace rates.csv"),
    "calls.toml": (SCENARIO.encode(), "scenario", {"flow groups": 1}, "fairwave run calls.toml"),
    "net.toml": (NETWORK.encode(), "network", {}, "fairwave network net.toml"),
    "atlas.json": (json.dumps(ATLAS).encode(), "atlas", {"lost": "1 of 4", "median round trip (ms)": 20}, ""),
    "iperf.json": (json.dumps(IPERF).encode(), "iperf", {"mean (b/s)": 5_000_000, "retransmitted segments": 4}, ""),
    "rrul.flent": (json.dumps(FLENT).encode(), "flent", {"test": "rrul", "mean of Ping (ms) ICMP": 12}, ""),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with every file."""
    monkeypatch.chdir(tmp_path)
    for name, (data, *_) in FILES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_recognised_by_its_contents(folder, fairwave, name):
    _, kind, contents, command = FILES[name]
    status, out, err = fairwave("import", name, "--json")
    assert status == 0, err
    found = json.loads(out)
    assert found["kind"] == kind
    assert {key: found["contents"][key] for key in contents} == contents
    assert any(one.startswith(command) for one in found["commands"]) or not command
    assert found["commands"] or found["notes"]
    status, out, err = fairwave("import", name)
    assert status == 0, err
    assert name in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.pcap"], "there is no file 'nothing.pcap'; give the path of a file"),
        (["odd.bin"], "odd.bin is of no kind that fairwave reads"),
        (["page.html"], "page.html is a web page, not a file that fairwave reads; a browser opens it"),
        (["lost.txt", "--strict"], "--strict is for topologies, and lost.txt is a pattern of loss"),
        (["a.gml", "--strict"], "two nodes are called 'GEANT'; give every node a `label` of its own"),
        (["bad.json"], "[0].bandwidth_kbps is 'fast'"),
    ],
)
def test_an_error_is_one_sentence(folder, fairwave, words, said):
    (folder / "odd.bin").write_bytes(b"\x01\x02\x03")
    (folder / "page.html").write_text("<!doctype html>", encoding="utf-8")
    (folder / "bad.json").write_text(json.dumps([SABRE[0] | {"bandwidth_kbps": "fast"}]), encoding="utf-8")
    status, out, err = fairwave("import", *words)
    assert (status, out) == (2, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err
