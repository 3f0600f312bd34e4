"""Bad files of untrusted origin: damaged valid files, and files made to use up memory or time."""

from __future__ import annotations

import gzip
import json
import random
import struct
from typing import TYPE_CHECKING

from made_lines import irtt_file, trip
from square import SQUARE, graph
from validation.measured.made_captures import ethernet, ip4, ip6, pcap, pcapng, rtp, udp
from validation.measured.made_dumps import counted, internals, jitsi, rtcstats3, sending, series
from validation.measured.made_streams import RTCP, STUN, Talk, every, merge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALL = {"bytesSent": counted(5e5, 20), "frameHeight": (5, [360] * 15)}
MAHIMAHI = "\n".join(str(3 * number) for number in range(1, 400)) + "\n"
PENSIEVE = "".join(f"{number * 0.5} {1 + number % 3}\n" for number in range(40))
CSV = "time_s,rate_mbps,delay_ms,loss_%\n" + "".join(f"{n},{1 + n % 4},{20 + n},{n % 3}\n" for n in range(40))
OPENNETLAB = json.dumps(
    {
        "uplink": {
            "trace_pattern": [
                {"duration": 200, "capacity": 800 + n, "loss": 0.01, "rtt": 40} for n in range(20)
            ]
        }
    }
)
RATTAN = """[RepeatedBwPatternConfig]
count = 0

[[RepeatedBwPatternConfig.pattern]]

[RepeatedBwPatternConfig.pattern.TraceBwConfig]
pattern = [
  ["100ms", ["16Mbps", "48Mbps"]],
  ["1s 500ms", ["12Mbps"]],
]
"""
SCENARIO = """
name = "calls"
duration = "2 s"
seed = 3

[[link]]
from = "a"
to = "b"
rate = { law = "trace", file = "t.csv" }
delay = "20 ms"
queue = { discipline = "codel", capacity = { packets = 50 } }
loss = { model = "gilbert", rate = "1 %", run = 2 }

[[flow]]
name = "voice"
from = "a"
to = "b"
count = 3
transport = "udp"
traffic = { kind = "voice", codec = "g711" }

[[event]]
at = "1 s"
link = "a>b"
delay = "30 ms"
"""
AS_JSON = {
    "name": "calls", "duration": "2 s", "topology": {"preset": "dumbbell", "bottleneck": {"rate": "2 Mb/s"}},
    "flow": [{"name": "x", "count": 2, "transport": "tcp/cubic", "traffic": "bulk", "start": "100 ms"}],
    "record": {"bin": "100 ms"},
}  # fmt: skip
RESULTS = ("runs.parquet", "flows.parquet", "provenance.json", "SHA256SUMS", ".fairwave", "scenario.toml")
POLICY = {"format": "fairwave policy 1", "steers": "rate", "interval": "50 ms", "layers": [[[0.1] * 10]]}


def statistics(seconds: int = 20, rate: float = 2e6) -> list[dict[str, object]]:
    """The records of getStats() once a second at the sender of a call."""
    return [
        {
            "out": {
                "type": "outbound-rtp", "timestamp": 1e12 + 1000.0 * at, "bytesSent": int(rate / 8 * at),
                "headerBytesSent": 100 * at, "packetsSent": 200 * at, "targetBitrate": rate,
            },
            "far": {"type": "remote-inbound-rtp", "packetsLost": at // 5, "roundTripTime": 0.05},
            "pair": {
                "type": "candidate-pair", "currentRoundTripTime": 0.05 + 0.001 * (at % 7),
                "availableOutgoingBitrate": rate * 1.1,
            },
        }
        for at in range(seconds)
    ]  # fmt: skip


def dump(seconds: int = 20) -> dict[str, object]:
    """The same as a dump of chrome://webrtc-internals."""
    reports = statistics(seconds)
    series: dict[str, object] = {}
    for name, one in reports[0].items():
        for member in one:  # type: ignore[attr-defined]
            if member != "type":
                values = [report[name][member] for report in reports]  # type: ignore[index]
                key = "[timestamp]" if member == "timestamp" else member
                series[f"{name}-{key}"] = {"statsType": one["type"], "values": json.dumps(values)}  # type: ignore[index]
    return {"PeerConnections": {"1-1": {"stats": series}}, "UserAgent": "x"}


def mixed() -> list[tuple[int, bytes]]:
    """Two streams with RTCP, STUN and a call's signalling; with tags, fragments, a tunnel, and IPv6."""
    sdp = b"v=0\r\nc=IN IP4 10.0.0.2\r\nm=audio 6000 RTP/AVP 111 97\r\n"
    sdp += b"a=rtpmap:111 opus/48000\r\na=rtpmap:97 rtx/48000\r\na=fmtp:97 apt=111\r\n"
    invite = udp(b"INVITE sip:b@10.0.0.2 SIP/2.0\r\n\r\n" + sdp, (5060, 5060))
    others = [
        (5, ethernet(ip4(invite))),
        (7, ethernet(ip4(udp(bytes(1500))[:1000], ident=9, fragment=0x2000))),
        (8, ethernet(ip4(bytes(508), ident=9, fragment=125), 0x8100)),
        (9, ethernet(ip4(ip4(rtp(3)), 4))),
        (11, ethernet(ip6(bytes((17, 0)) + bytes(6) + udp(b"abc"), 0))),
    ]
    talks = (Talk(count=40, kind=111, clock=48_000), Talk(count=30, kind=97, ssrc=9))
    return merge(*(one.frames() for one in talks), every(90, RTCP, 8), every(200, STUN, 3), others)


def right_files(kind: str, folder: Path) -> dict[str, bytes]:
    """Valid files that a command of this kind reads, by name."""
    if kind == "trace":
        texts = {
            "m.mahi": MAHIMAHI,
            "p.pensieve": PENSIEVE,
            "c.csv": CSV,
            "o.json": OPENNETLAB,
            "r.toml": RATTAN,
        }
        return {name: text.encode() for name, text in texts.items()}
    if kind == "irtt":
        trips = [trip(number, lost="true_up" if number % 29 == 7 else "false") for number in range(60)]
        return {
            "line.json": irtt_file(folder, trips).read_bytes(),
            "z.json.gz": irtt_file(folder, trips, name="z.json.gz").read_bytes(),
        }
    if kind == "fit":
        frames = [(20_000_000 * n, ethernet(ip4(rtp(n)))) for n in range(300)]
        return {
            "s.json": json.dumps(statistics()).encode(),
            "side.json": json.dumps({"sender": statistics(), "receiver": []}).encode(),
            "d.json": json.dumps(dump()).encode(),
            "i.json": json.dumps(
                internals(
                    [series("OT01V1", 0, CALL), series("CP1", 0, {"currentRoundTripTime": [0.05] * 20})]
                )
            ).encode(),
            "j.jsonl": jitsi(sending(20)).encode(),
            "v.rtcstats": rtcstats3(sending(20)).encode(),
            "z.json.gz": gzip.compress(json.dumps(sending(20)).encode()),
            "c.pcap": pcap(folder / "c.pcap", frames).read_bytes(),
            "c.pcapng": pcapng(folder / "c.pcapng", frames).read_bytes(),
        }
    if kind == "replay":
        frames = [(20_000_000 * n, ethernet(ip4(rtp(n)))) for n in range(60)]
        return {
            "c.pcap": pcap(folder / "c.pcap", frames).read_bytes(),
            "c.pcapng": pcapng(folder / "c.pcapng", frames, resolution=9).read_bytes(),
            "c.pcap.gz": gzip.compress(pcap(folder / "c.pcap", frames).read_bytes()),
            "mixed.pcap": pcap(folder / "mixed.pcap", mixed()).read_bytes(),
        }
    if kind == "judge":
        return right_files("fit", folder) | {
            "mixed.pcap": pcap(folder / "mixed.pcap", mixed()).read_bytes(),
            "speech.pcap": pcap(folder / "speech.pcap", Talk(count=150, lost=(9, 60)).frames()).read_bytes(),
        }
    if kind == "scenario":
        return {"s.toml": SCENARIO.encode(), "s.json": json.dumps(AS_JSON).encode(), "t.csv": CSV.encode()}
    if kind == "results":
        return {name: (folder / "results" / name).read_bytes() for name in RESULTS}
    if kind == "network":
        import networkx as nx

        net = graph()
        nx.write_graphml(net, folder / "net.graphml")
        nx.write_gml(net, folder / "net.gml")
        return {
            "net.graphml": (folder / "net.graphml").read_bytes(),
            "net.gml": (folder / "net.gml").read_bytes(),
            "net.graphml.gz": gzip.compress((folder / "net.graphml").read_bytes()),
            "net.json": json.dumps(nx.node_link_data(net, edges="edges")).encode(),
            "demands.csv": b"from,to,demand\nA,B,3\nB,C,1.5\nD,A,2\n",
            "net.toml": SQUARE.encode(),
        }
    if kind == "pattern":
        words = struct.pack("<40H", *(0x6B21 if n % 7 else 0x6B20 for n in range(40)))
        return {"p.txt": b"0001011\n" * 20, "p.csv": b"packet,lost\n" + b"0,0\n1,1\n" * 20, "p.g192": words}
    from fairwave.policy_files import OBSERVATION

    return {"p.json": json.dumps({**POLICY, "observation": list(OBSERVATION)}).encode()}


NUMBERS = (
    b"-1", b"0", b"1e999", b"-1e308", b"1e308", b"1" + b"0" * 400, b"1" * 5000, b"NaN", b"Infinity", b"nan", b"inf",
    b"0.1e-400", b"9223372036854775808", b"999999999999", b"true", b"null", b"[]", b"{}", b'""', b"1_0", "٣".encode(),
)  # fmt: skip
TEXTS = (
    b"[" * 3000, b"{" * 100, b'{"a":' * 2000, b"\0" * 20, b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b"\\", b"\n" * 50,
    b"<!DOCTYPE a>", b"\r", "\u2028".encode(), b"," * 300, b"a" * 3000, b"]" * 10, b"#", b"\x1f\x8b",
)  # fmt: skip


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The data with one to three damages."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(11):
            case 0:  # flipped bits
                changed = bytearray(data)
                for _ in range(draw.choice((1, 4, 30))):
                    if changed:
                        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
                data = bytes(changed)
            case 1:
                data = data[:at]
            case 2:
                data = data[:at] + draw.choice(TEXTS) + data[at:]
            case 3:
                end = min(len(data), at + draw.choice((1, 8, 200)))
                data = data[:at] + data[end:]
            case 4:  # a part twice
                end = min(len(data), at + draw.choice((4, 60, 2000)))
                data = data[:end] + data[at:end] + data[end:]
            case 5 | 6 | 7 | 8:  # another number, in the place of one
                data = _replace_number(data, draw)
            case 9:  # another byte order or coding
                data = draw.choice(
                    (data[::-1], _as_utf16(data), data.replace(b"\n", b"\r"), data.replace(b'"', b"'"))
                )
            case 10:
                changed = bytearray(data)
                if len(changed) > 8:
                    here = draw.randrange(len(changed) - 4)
                    changed[here : here + 4] = draw.choice(
                        (b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\1\0\0\0")
                    )
                data = bytes(changed)
    return data


def _as_utf16(data: bytes) -> bytes:
    return data.decode("utf-8", errors="replace").encode("utf-16")


def _replace_number(data: bytes, draw: random.Random) -> bytes:
    import re

    places = [one.span() for one in re.finditer(rb"-?\d+(?:\.\d+)?", data)]
    if not places:
        return data
    begin, end = draw.choice(places)
    return data[:begin] + draw.choice(NUMBERS) + data[end:]


def bad_files(
    kind: str, folder: Path, count: int, seed: int = 1
) -> Iterator[tuple[str, bytes, dict[str, bytes]]]:
    """Names and contents of bad files, each with the valid files next to it."""
    draw = random.Random(f"{kind} {seed}")
    right = right_files(kind, folder)
    for _ in range(count):
        name = draw.choice(list(right))
        yield name, damaged(right[name], draw), right
