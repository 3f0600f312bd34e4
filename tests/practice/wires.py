"""Bytes on the wire: headers of IPv6 and Ethernet, the remaining goodput, and the cost of redundancy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from practice.situation import IN_STEP, Situation, Table, about, exactly, flow, link, ran

IPV4, IPV6 = 20, 40
RTP_UDP = 20
ETHERNET = 38
"""IEEE 802.3: preamble and delimiter 8, header 14, check sequence 4, gap 12 B."""


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _calls()
    yield from _capacity()
    yield from _files()


def _speaker(codec: str) -> Table:
    return {"kind": "voice", "codec": codec, "always-on": True}


def _rate(codec: str, header: int, redundancy: int = 0) -> float:
    """Rate of a call on the wire, kb/s."""
    transport: Table = {"name": "udp", "header": f"{header} B"}
    if redundancy:
        transport["redundancy"] = redundancy
    outcome = ran(
        link("100 Mb/s", "1 ms"), flow("call", transport, _speaker(codec)), 30, hosts=IN_STEP, warmup="10 s"
    )
    return outcome.mean("flows", "wire_sent") * 8 / 20 / 1e3


def _calls() -> Iterator[Situation]:
    for codec, shown, payload in (("g711", "G.711", 160), ("g729", "G.729", 20)):
        for key, words, header in (
            ("ipv6", "IPv6", RTP_UDP + IPV6),
            ("ethernet", "IPv4 on Ethernet", RTP_UDP + IPV4 + ETHERNET),
            ("ethernet-ipv6", "IPv6 on Ethernet", RTP_UDP + IPV6 + ETHERNET),
        ):
            yield Situation(
                f"wire/{codec}-{key}", f"{shown}, 20 ms in a packet, by {words}: rate on the wire", "kb/s",
                *about((payload + header) * 8 / 20, 0.002), f"{payload} B and {header} B of headers, 50 times a second (RFC 8200: 40 B; IEEE 802.3: 38 B with preamble and gap)",
                partial(_rate, codec, header),
            )  # fmt: skip
    for copies in (1, 2):
        size = 160 * (1 + copies) + 4 * copies + 1 + 40
        yield Situation(
            f"wire/redundancy-{copies}", f"G.711 that repeats {copies} earlier packet{'s' if copies > 1 else ''} in each: rate at IP", "kb/s",
            *about(size * 8 / 20, 0.002), "RFC 2198 §3: 4 B of header for each repetition, 1 B for the last block",
            partial(_rate, "g711", 40, copies),
        )  # fmt: skip


def _fit(calls: int) -> tuple[float, float]:
    """Loss and utilisation of 1 Mb/s with G.729 calls, percent."""
    group = flow("calls", "udp", _speaker("g729"), count=calls, start={"from": "0 s", "to": "20 ms"})
    outcome = ran(link("1 Mb/s", "10 ms", 50), group, 30, hosts=IN_STEP, warmup="10 s")
    return (
        100 * outcome.share("dropped", "packets_sent"),
        100 * outcome.mean("links", "utilisation", link="a>b"),
    )


def _capacity() -> Iterator[Situation]:
    yield Situation(
        "wire/forty-one", "Forty-one G.729 calls on 1 Mb/s: packets lost", "%",
        *exactly(0), "41·24 = 984 kb/s", lambda: _fit(41)[0],
    )  # fmt: skip
    yield Situation(
        "wire/forty-one-use", "The same: use of the link", "%",
        *about(98.4, 0.002), "41·24 = 984 kb/s", lambda: _fit(41)[1],
    )  # fmt: skip
    yield Situation(
        "wire/forty-five", "Forty-five: packets lost", "%",
        *about(100 * (1 - 1 / 1.08), 0.02), "1 − C/offered, 45·24 = 1080 kb/s", lambda: _fit(45)[0],
    )  # fmt: skip


def _goodput(segment: int, header: int) -> float:
    """Goodput of a transfer over Ethernet of 10 Mb/s, Mb/s."""
    transport: Table = {
        "name": "tcp/newreno",
        "segment": f"{segment} B",
        "header": f"{header} B",
        "receiver-window": 100,
    }
    wire = link("10 Mb/s", "5 ms")
    outcome = ran(wire, flow("file", transport, "bulk"), 10, hosts=IN_STEP, warmup="2 s")
    return outcome.mean("flows", "goodput_bps") / 1e6


def _files() -> Iterator[Situation]:
    for key, words, option in (
        ("plain", "IPv4", 0),
        ("timestamps", "IPv4 with timestamps", 12),
        ("ipv6", "IPv6 with timestamps", 32),
    ):
        segment = 1460 - option
        yield Situation(
            f"wire/ethernet-tcp-{key}", f"A file transfer on Ethernet of 10 Mb/s, {words}: goodput", "Mb/s",
            *about(10 * segment / 1538, 0.002), f"{segment} of 1538 B: MTU 1500 and 38 B of Ethernet (RFC 7323: 12 B of timestamps)",
            partial(_goodput, segment, 1538 - segment),
        )  # fmt: skip
