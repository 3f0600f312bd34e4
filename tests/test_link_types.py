"""Links of captures: packets behind every kind of header, and counts of everything that is left out."""

from __future__ import annotations

import struct

import pytest

from fairwave import captures
from validation.measured.made_captures import (
    CALL,
    START,
    A,
    B,
    block,
    ethernet,
    ip4,
    ip6,
    pcap,
    pcapng,
    rtp,
    tcp,
    udp,
)

NAME = "udp 10.0.0.1:5004 > 10.0.0.2:6000"
IP = ip4(rtp(0))
SESSION = struct.pack(">BBHH", 0x11, 0, 1, len(IP) + 2)
SNAP = b"\xaa\xaa\x03\0\0\0\x08\0"
RADIOTAP = struct.pack("<BBHI", 0, 0, 8, 0)


def wifi(control, flags, *, header=24, contents=b""):
    return RADIOTAP + bytes((control, flags)) + bytes(header - 2) + contents


def gre(kind, contents, flags=0, more=b""):
    return ip4(struct.pack(">BBH", flags, 0, kind) + more + contents, 47, ends=(B, A))


AGGREGATED = b"".join(
    bytes(12)
    + struct.pack(">H", len(SNAP + one))
    + SNAP
    + one
    + bytes(-(14 + len(SNAP + one)) % 4) * (not last)
    for one, last in ((IP, False), (ip4(rtp(1)), True))
)

LINKS = {
    "ethernet": (ethernet(IP), 1),
    "vlan": (ethernet(IP, 0x8100), 1),
    "provider vlan": (ethernet(IP, 0x88A8, 0x8100), 1),
    "802.3 with snap": (bytes(12) + struct.pack(">H", len(IP) + 8) + SNAP + IP, 1),
    "pppoe": (bytes(12) + b"\x88\x64" + SESSION + b"\0\x21" + IP, 1),
    "pppoe in a vlan": (bytes(12) + b"\x81\0\0\5\x88\x64" + SESSION + b"\0\x21" + IP, 1),
    "mpls": (bytes(12) + b"\x88\x47" + b"\0\1\0\x40\0\2\1\x40" + IP, 1),
    "mpls with a pseudowire": (bytes(12) + b"\x88\x47" + b"\0\2\1\x40" + ethernet(IP), 1),
    "mpls with a pseudowire and a control word": (bytes(12) + b"\x88\x47" + b"\0\2\1\x40" + bytes(4) + ethernet(IP), 1),
    "raw": (IP, 101), "raw of BSD": (IP, 12), "raw of OpenBSD": (IP, 14), "ipv4": (IP, 228),
    "null": (struct.pack("<I", 2) + IP, 0), "loop": (struct.pack(">I", 2) + IP, 108),
    "cooked": (bytes(14) + b"\x08\0" + IP, 113),
    "cooked with a vlan": (bytes(14) + b"\x81\0\0\5\x08\0" + IP, 113),
    "cooked 2": (b"\x08\0" + bytes(18) + IP, 276),
    "ppp": (b"\0\x21" + IP, 9), "ppp with address": (b"\xff\3\0\x21" + IP, 9), "ppp, short": (b"\x21" + IP, 9),
    "ppp in hdlc": (b"\xff\3\0\x21" + IP, 50), "cisco hdlc": (b"\x0f\0\x08\0" + IP, 104),
    "pppoe alone": (SESSION + b"\0\x21" + IP, 51),
    "wifi": (wifi(0x08, 1, contents=SNAP + IP)[8:], 105),
    "radiotap": (wifi(0x08, 1, contents=SNAP + IP), 127),
    "radiotap, quality of service": (wifi(0x88, 2, header=26, contents=SNAP + IP), 127),
    "radiotap, four addresses": (wifi(0x88, 3, header=32, contents=SNAP + IP), 127),
    "radiotap with a time stamp and padding": (
        struct.pack("<BBHIQB3x", 0, 0, 20, 3, 1, 0x20) + wifi(0x88, 2, header=28, contents=SNAP + IP)[8:], 127,
    ),
    "radiotap with further fields": (
        struct.pack("<BBHIIB3x", 0, 0, 16, 0x80000002, 0, 0) + wifi(0x08, 1, contents=SNAP + IP)[8:], 127,
    ),
    "ip in ip": (ethernet(ip4(IP, 4, ends=(B, A))), 1),
    "gre": (ethernet(gre(0x0800, IP)), 1),
    "gre with key": (ethernet(gre(0x0800, IP, 0x20, bytes(4))), 1),
    "gre with ethernet": (ethernet(gre(0x6558, ethernet(IP))), 1),
    "pptp": (ethernet(ip4(struct.pack(">BBHHHI", 0x30, 1, 0x880B, len(IP) + 2, 1, 1) + b"\0\x21" + IP, 47)), 1),
    "vxlan": (ethernet(ip4(udp(b"\x08" + bytes(7) + ethernet(IP), (9, 4789)), ends=(B, A))), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", LINKS)
def test_a_packet_is_found_behind_the_headers_of_its_link(name, tmp_path):
    frame, link = LINKS[name]
    (one,) = captures.read(pcap(tmp_path / "a", [(0, frame)], link=link)).flows
    assert (one.name, one.packets, one.ip_bytes, one.largest) == (NAME, 1, 200, 180)


def test_every_packet_of_an_aggregate_of_wifi_counts(tmp_path):
    frame = RADIOTAP + b"\x88\1" + bytes(22) + b"\x80\0" + AGGREGATED
    capture = captures.read(pcap(tmp_path / "a", [(0, frame)], link=127))
    assert (capture.flows[0].packets, capture.flows[0].ip_bytes) == (2, 400)
    assert capture.notes.sentences() == [
        "1 frame of Wi-Fi carries several packets (A-MSDU): each packet counts."
    ]


def test_ip_version_6_in_ip_is_found(tmp_path):
    capture = captures.read(pcap(tmp_path / "a", [(0, ethernet(ip4(ip6(udp(b"abc")), 41)))]))
    assert capture.flows[0].name == "udp [::1]:5004 > [::2]:6000"
    assert "1 packet was in a tunnel (1 IPv6 in IP)" in capture.notes.sentences()[0]


LEFT_OUT = {
    "ARP": ethernet(IP)[:12] + b"\x08\x06" + bytes(28),
    "LLDP": bytes(12) + b"\x88\xcc" + bytes(40),
    "EAPOL": bytes(12) + b"\x88\x8e" + bytes(40),
    "LLC": bytes(12) + struct.pack(">H", 38) + b"\x42\x42\3" + bytes(35),
    "PPPoE discovery": bytes(12) + b"\x88\x63" + bytes(40),
    "LCP": bytes(12) + b"\x88\x64" + SESSION + b"\xc0\x21" + bytes(8),
    "EtherType 0x1234": bytes(12) + b"\x12\x34" + bytes(40),
}


def test_everything_that_is_left_out_is_counted_by_its_name(tmp_path):
    frames = [*CALL, *((10**9 + number, one) for number, one in enumerate(LEFT_OUT.values()))]
    (sentence,) = captures.read(pcap(tmp_path / "a", frames)).notes.sentences()
    assert sentence.startswith("7 packets are not of IP and left out: ")
    assert sentence.endswith(" and 1 more kinds.")
    assert sum(name in sentence for name in LEFT_OUT) == 6


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (wifi(0x08, 0x41, contents=SNAP + IP), "1 encrypted Wi-Fi"),
        (wifi(0x80, 0, contents=bytes(20)), "1 Wi-Fi management"),
        (RADIOTAP + b"\xd4\0" + bytes(8), "1 Wi-Fi control"),
        (
            struct.pack("<BBHIB", 0, 0, 9, 2, 0x50) + wifi(0x08, 1, contents=SNAP + IP)[8:],
            "1 Wi-Fi with a wrong checksum",
        ),
        (wifi(0x48, 1), "1 Wi-Fi data without contents"),
    ],
)
def test_frames_of_wifi_without_a_packet_are_counted(frame, said, tmp_path):
    data = wifi(0x08, 1, contents=SNAP + IP)
    capture = captures.read(pcap(tmp_path / "a", [(0, data), (1000, frame)], link=127))
    assert said in capture.notes.sentences()[0]


def test_packets_cut_by_the_snap_length_are_counted_and_keep_their_size(tmp_path):
    path = pcap(tmp_path / "a", [])
    data = bytearray(path.read_bytes())
    for number in range(20):
        short = ethernet(ip4(rtp(number)))[: 60 if number else 20]
        seconds, rest = divmod(START + 20_000_000 * number, 10**9)
        data += struct.pack("<IIII", seconds, rest // 1000, len(short), 214) + short
    path.write_bytes(data)
    capture = captures.read(path)
    assert (capture.flows[0].packets, capture.flows[0].ip_bytes) == (19, 19 * 200)
    assert capture.notes.sentences() == [
        "20 packets were cut by the capture's snap length: the sizes are those in the headers.",
        "1 packet is left out: the header is damaged or cut.",
    ]


def section(order):
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link, order, ticks=6):
    return block(1, struct.pack(order + "HHIHHB3x", link, 0, 0, 9, 1, ticks), order)


def enhanced(number, at_ns, frame, order, ticks=6):
    time = at_ns * 10**ticks // 10**9
    head = struct.pack(order + "IIIII", number, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
    return block(6, head + frame, order)


def test_interfaces_and_sections_of_a_file_may_differ(tmp_path):
    """Link types, resolutions and byte orders change within the file; USB (189) is not read."""
    data = section("<") + interface(1, "<") + interface(101, "<", 9) + interface(189, "<")
    for number in range(20):
        at = START + 40_000_000 * number
        data += enhanced(0, at, ethernet(ip4(rtp(2 * number))), "<")
        data += enhanced(1, at + 20_000_000, ip4(rtp(2 * number + 1)), "<", 9)
        data += enhanced(2, at + 20_000_000, bytes(64), "<")
    data += section(">") + interface(127, ">", 3)
    for number in range(40, 60):
        data += enhanced(
            0, START + 20_000_000 * number, wifi(0x08, 1, contents=SNAP + ip4(rtp(number))), ">", 3
        )
    (tmp_path / "a").write_bytes(data)
    capture = captures.read(tmp_path / "a")
    (stream,) = capture.streams
    assert (stream.expected, stream.lost) == (60, 0)
    assert stream.largest_jitter_s < 1e-9
    assert capture.notes.sentences() == [
        "20 packets are left out: captured on a link of type 189, which is not read."
    ]


def test_a_file_with_unread_links_alone_is_refused_with_their_type(tmp_path):
    (tmp_path / "a").write_bytes(section("<") + interface(189, "<") + enhanced(0, START, bytes(64), "<"))
    with pytest.raises(captures.CaptureError, match="link of type 189, which is not read"):
        captures.read(tmp_path / "a")


def test_longer_records_of_kuznetsov_s_variant_are_read(tmp_path):
    data = struct.pack("<IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 65535, 1)
    for at, frame in CALL:
        seconds, rest = divmod(START + at, 10**9)
        data += (
            struct.pack("<IIIIIHBB", seconds, rest // 1000, len(frame), len(frame), 1, 0x0800, 0, 0) + frame
        )
    (tmp_path / "a").write_bytes(data)
    assert captures.read(tmp_path / "a").streams[0].packets == 50


def conversation(ends, first=0):
    """A call of two ways, each 80 kb/s; the second end begins 5 ms after the first."""
    here, there = ends
    out = [(20_000_000 * n + first, ethernet(ip4(rtp(n), ends=(here, there)))) for n in range(100)]
    home = [
        (20_000_000 * n + 5_000_000 - first, ethernet(ip4(udp(rtp(n)[8:], (6000, 5004)), ends=(there, here))))
        for n in range(100)
    ]
    return sorted(out + home)


@pytest.mark.parametrize(
    ("frames", "reverse"),
    [
        # Two private hosts: the first to send is on the near side.
        (conversation((A, B)), "udp 10.0.0.2:6000 > 10.0.0.1:5004"),
        # The private address of two hosts is on the near side, whoever sends first.
        (conversation((bytes((198, 41, 0, 4)), B)), "udp 198.41.0.4:5004 > 10.0.0.2:6000"),
    ],
)
def test_the_ways_of_a_conversation_have_their_directions(frames, reverse, tmp_path):
    flows = captures.read(pcap(tmp_path / "a", frames)).flows
    assert {one.name: one.direction for one in flows}[reverse] == "reverse"
    assert sorted(one.direction for one in flows) == ["forward", "reverse"]


def test_all_peers_of_a_host_are_on_its_other_side(tmp_path):
    peers = [bytes((192, 0, 2, last)) for last in range(1, 6)]
    frames = [
        (1_000_000 * place, ethernet(ip4(tcp(0, bytes(100)), 6, ends=ends)))
        for place, ends in enumerate(ends for peer in peers * 3 for ends in ((A, peer), (peer, A)))
    ]
    flows = captures.read(pcap(tmp_path / "a", frames)).flows
    assert len(flows) == 10
    assert all(one.is_reverse == (one.flow.destination == A) for one in flows)


def test_hosts_that_talk_in_a_circle_still_have_two_directions_each(tmp_path):
    c = bytes((10, 0, 0, 3))
    pairs = ((A, B), (B, A), (B, c), (c, B), (c, A), (A, c))
    frames = [(1000 * place, ethernet(ip4(udp(bytes(10)), ends=ends))) for place, ends in enumerate(pairs)]
    flows = captures.read(pcap(tmp_path / "a", frames)).flows
    directions = {(one.flow.source, one.flow.destination): one.is_reverse for one in flows}
    assert all(directions[one, other] != directions[other, one] for one, other in pairs)


def test_pcapng_of_one_interface_is_as_before(tmp_path):
    assert captures.read(pcapng(tmp_path / "a", CALL, resolution=9)).streams[0].packets == 50


def test_a_packet_on_two_interfaces_counts_once_and_a_duplicate_twice(tmp_path):
    data = section("<") + interface(1, "<") + interface(1, "<")
    for number in range(20):
        at = START + 20_000_000 * number
        for place in (0, 1) if number != 7 else (0, 0, 1, 1):
            data += enhanced(place, at + 100_000 * place, ethernet(ip4(rtp(number))), "<")
    (tmp_path / "a").write_bytes(data)
    capture = captures.read(tmp_path / "a")
    assert (capture.streams[0].packets, capture.streams[0].duplicates) == (21, 1)
    (sentence,) = capture.notes.sentences()
    assert sentence.startswith("21 packets were captured on two interfaces: the first copy counts")


def test_a_forwarded_packet_in_a_capture_of_any_counts_once(tmp_path):
    frames = [
        (
            20_000_000 * number + 50_000 * kind,
            struct.pack(">H", kind) + bytes(12) + b"\x08\0" + ip4(rtp(number)),
        )
        for number in range(20)
        for kind in (0, 4)
    ]
    capture = captures.read(pcap(tmp_path / "a", frames, link=113))
    assert (capture.streams[0].packets, capture.streams[0].duplicates) == (20, 0)
    assert capture.notes.copies == 20
