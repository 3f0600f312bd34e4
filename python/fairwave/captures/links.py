"""Finds the packet of IP within a frame: link types of pcap, tags, labels, PPP and Wi-Fi.

Link types follow the registry of pcap (https://www.tcpdump.org/linktypes.html). The functions return the offset of the
IP header. If the frame has no packet of IP, the offset is -1 and the name is the frame's protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Place = tuple[int, str]
"""Offset of the IP header and an empty name, or -1 and the name of the frame's protocol."""

SHORT = "cut within the link's header"
"""Name of a frame that ends before its protocol is known."""

AGGREGATE = "A-MSDU"
"""Name of a frame of Wi-Fi with several packets. The offset leads to the header of the first one."""

_VLAN = frozenset({0x8100, 0x88A8, 0x9100, 0x9200})
_PPPOE, _MPLS = 0x8864, frozenset({0x8847, 0x8848})
_NAMES = {
    0x0806: "ARP", 0x8035: "RARP", 0x8863: "PPPoE discovery", 0x88CC: "LLDP", 0x888E: "EAPOL", 0x88E5: "MACsec",
    0x8899: "Realtek", 0x893A: "IEEE 1905", 0x88E1: "HomePlug", 0x9000: "loopback test", 0x88F7: "PTP",
    0x8808: "Ethernet flow control", 0x8809: "slow protocols (LACP)", 0x0842: "wake on LAN", 0x809B: "AppleTalk",
    0x8137: "IPX", 0x88D9: "LLTD",
}  # fmt: skip
_PPP = {
    0xC021: "LCP", 0xC023: "PAP", 0xC223: "CHAP", 0x8021: "IPCP", 0x8057: "IPv6CP", 0x80FD: "CCP",
    0x00FD: "compressed PPP", 0x002D: "compressed TCP/IP", 0x003D: "multilink PPP",
}  # fmt: skip


def _find_by_type(data: bytes, at: int, kind: int) -> Place:
    """Follows EtherTypes from `kind`. Its contents begin at `at`."""
    while kind in _VLAN or (kind < 0x0600 and data[at : at + 3] == b"\xaa\xaa\x03"):
        at += 4 if kind in _VLAN else 8
        if len(data) < at:
            return -1, SHORT
        kind = data[at - 2] << 8 | data[at - 1]
    if kind not in (0x0800, 0x86DD):
        if kind == _PPPOE:
            return _find_ppp(data, at + 6)
        if kind in _MPLS:
            return _find_below_labels(data, at)
        return -1, "LLC" if kind < 0x0600 else _NAMES.get(kind, f"EtherType 0x{kind:04x}")
    return at, ""


def _find_below_labels(data: bytes, at: int) -> Place:
    """Skips labels of MPLS (RFC 3032) up to the bottom of the stack. IP or a pseudowire's frame follows."""
    while len(data) >= at + 5:
        is_bottom = data[at + 2] & 1
        at += 4
        if is_bottom:
            version = data[at] >> 4
            if version in (4, 6):
                return at, ""
            # A frame of Ethernet, behind a control word (RFC 4385 §3) or not: addresses may begin with 0 too.
            behind = find_ethernet(data, at + 4) if version == 0 else (-1, "")
            return behind if behind[0] >= 0 else find_ethernet(data, at)
    return -1, SHORT


def _find_ppp(data: bytes, at: int = 0) -> Place:
    """Reads PPP's protocol (RFC 1661 §2), with or without the address and control of RFC 1662."""
    if data[at : at + 2] == b"\xff\x03":
        at += 2
    if len(data) < at + 2:
        return -1, SHORT
    if data[at] & 1:
        protocol, at = data[at], at + 1
    else:
        protocol, at = data[at] << 8 | data[at + 1], at + 2
    if protocol in (0x21, 0x57):
        return at, ""
    if protocol in (0x281, 0x283):
        return _find_below_labels(data, at)
    return -1, _PPP.get(protocol, f"PPP 0x{protocol:04x}")


def find_ethernet(data: bytes, at: int = 0) -> Place:
    """Finds the packet of a frame of Ethernet that begins at `at`."""
    if len(data) < at + 14:
        return -1, SHORT
    return _find_by_type(data, at + 14, data[at + 12] << 8 | data[at + 13])


def _find_hdlc(data: bytes) -> Place:
    """PPP in HDLC-like framing, or Cisco's HDLC with a first byte of 0x0f or 0x8f."""
    if data[:1] in (b"\x0f", b"\x8f"):
        if len(data) < 4:
            return -1, SHORT
        kind = data[2] << 8 | data[3]
        return (-1, "Cisco SLARP") if kind == 0x8035 else _find_by_type(data, 4, kind)
    return _find_ppp(data)


def _find_cooked(data: bytes) -> Place:
    """Linux's cooked capture, version 1. Its EtherTypes below 0x0600 name frames without one: 4 is LLC."""
    return _find_by_type(data, 16, data[14] << 8 | data[15]) if len(data) >= 16 else (-1, SHORT)


def _find_cooked_2(data: bytes) -> Place:
    return _find_by_type(data, 20, data[0] << 8 | data[1]) if len(data) >= 20 else (-1, SHORT)


def _find_raw(data: bytes) -> Place:
    version = data[0] >> 4 if data else 0
    return (0, "") if version in (4, 6) else (-1, f"IP of version {version}" if data else SHORT)


def _find_loopback(data: bytes) -> Place:
    """The address family is in the capturing machine's byte order: 2 for IPv4; 10, 24, 28 or 30 for IPv6."""
    family = max(data[0], data[3]) if len(data) >= 4 else 0
    return (4, "") if family in (2, 10, 24, 28, 30) else (-1, f"address family {family}" if data else SHORT)


def _find_radiotap(data: bytes) -> Place:
    """Skips the header of radiotap. Its flags tell frames with errors, and frames with padding behind their header."""
    if len(data) < 8:
        return -1, SHORT
    begin, flags = data[2] | data[3] << 8, _read_radiotap_flags(data)
    if flags & 0x40:
        return -1, "Wi-Fi with a wrong checksum"
    return _find_wifi(data, begin, is_padded=bool(flags & 0x20))


def _read_radiotap_flags(data: bytes) -> int:
    """Returns the field *flags* of radiotap; 0 if it has none. The time stamp alone precedes it, aligned to 8 bytes."""
    at, fields = 8, data[4]
    while data[at - 1] & 0x80 and len(data) >= at + 4:
        at += 4
    if not fields & 2:
        return 0
    if fields & 1:
        at += -at % 8 + 8
    return data[at] if len(data) > at else 0


def _find_wifi(data: bytes, at: int = 0, *, is_padded: bool = False) -> Place:
    """Reads the header of a frame of Wi-Fi (IEEE 802.11-2020 §9.2.4): data frames alone carry packets."""
    if len(data) < at + 24:
        return -1, "Wi-Fi control" if len(data) > at and data[at] & 0x0C == 4 else SHORT
    control, flags = data[at], data[at + 1]
    kind, subtype = control >> 2 & 3, control >> 4
    if kind != 2:
        return -1, ("Wi-Fi management", "Wi-Fi control", "", "Wi-Fi extension")[kind]
    if subtype & 4 or flags & 0x40:
        return -1, "Wi-Fi data without contents" if subtype & 4 else "encrypted Wi-Fi"
    header = 24 + 6 * (flags & 3 == 3)
    is_aggregate = False
    if subtype & 8:
        if len(data) < at + header + 2:
            return -1, SHORT
        is_aggregate = bool(data[at + header] & 0x80)
        header += 2 + 4 * (flags >> 7)
    at += header + (-header % 4 if is_padded else 0)
    return (at, AGGREGATE) if is_aggregate else _find_by_type(data, at, 0)


def split_aggregate(data: bytes, at: int) -> list[tuple[int, bytes]]:
    """Returns the packets of an A-MSDU (IEEE 802.11-2020 §9.3.2.2.2).

    Returns:
        For each packet, the offset of its IP header and the frame up to its end.
    """
    found = []
    while len(data) >= at + 14:
        length = data[at + 12] << 8 | data[at + 13]
        part = data[: at + 14 + length]
        place, name = _find_by_type(part, at + 14, 0)
        if not name:
            found.append((place, part))
        at += 14 + length + (-(14 + length) % 4)
    return found


LINKS: dict[int, Callable[[bytes], Place]] = {
    0: _find_loopback, 108: _find_loopback, 1: find_ethernet, 9: _find_ppp, 50: _find_hdlc, 104: _find_hdlc,
    51: lambda data: _find_ppp(data, 6), 12: _find_raw, 14: _find_raw, 101: _find_raw, 228: _find_raw, 229: _find_raw,
    113: _find_cooked, 276: _find_cooked_2, 105: _find_wifi, 127: _find_radiotap,
}  # fmt: skip
"""Every link type that is read, with its function."""


def find_in_tunnel(data: bytes, at: int, protocol: int) -> tuple[int, str]:
    """Finds the packet within a packet: IP in IP, GRE (RFC 2784, 2890, 2637) and VXLAN (RFC 7348).

    Args:
        data: The frame.
        at: Offset of the contents of the outer IP packet.
        protocol: Number of their protocol.

    Returns:
        Offset of the inner IP header and the name of the tunnel; -1 if there is no tunnel, or no packet of IP within.
    """
    if protocol == 4:
        return at, "IP in IP"
    if protocol == 41:
        return at, "IPv6 in IP"
    if protocol == 47 and len(data) >= at + 4:
        flags, version, kind = data[at], data[at + 1] & 7, data[at + 2] << 8 | data[at + 3]
        begin = at + 4 + 4 * bool(flags & 0x80) + 4 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
        if version == 1:  # PPTP: the key is mandatory, an acknowledgement optional
            place, name = _find_ppp(data, begin + 4 * bool(data[at + 1] & 0x80))
        elif version:
            return -1, ""
        else:
            place, name = find_ethernet(data, begin) if kind == 0x6558 else _find_by_type(data, begin, kind)
        return (-1, "") if name else (place, "GRE")
    if (
        protocol == 17
        and data[at + 2 : at + 4] == b"\x12\xb5"
        and len(data) >= at + 16
        and data[at + 8] & 0x08
    ):
        place, name = find_ethernet(data, at + 16)
        return (-1, "") if name else (place, "VXLAN")
    return -1, ""
