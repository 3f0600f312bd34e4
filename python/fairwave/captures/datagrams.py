"""Contents of a UDP datagram that carries media: RTP among RTCP, STUN, DTLS, ZRTP and TURN on one port.

The first byte tells the protocols apart (RFC 7983 §7), and the second one tells RTCP from RTP (RFC 5761 §4). TURN
relays RTP in ChannelData messages and in indications (RFC 8656 §12, §11).
"""

from __future__ import annotations

HEADER = 8
"""Bytes of the header of UDP, which precede the contents."""

_DATA = 0x0013
"""STUN's attribute with relayed data."""


def name_contents(data: bytes) -> str:
    """Names the protocol of a datagram without RTP, by its first byte; `other` if unknown."""
    first = data[HEADER] if len(data) > HEADER else 0
    if 128 <= first <= 191:
        return "rtcp" if len(data) > HEADER + 1 and 192 <= data[HEADER + 1] <= 223 else "other"
    if first < 4:
        return "stun" if data[HEADER + 4 : HEADER + 8] == b"\x21\x12\xa4\x42" else "other"
    return (
        "zrtp"
        if 16 <= first <= 19
        else "dtls"
        if 20 <= first <= 63
        else "turn"
        if 64 <= first <= 79
        else "other"
    )


def find_rtp(data: bytes) -> int:
    """Returns the offset of the header of RTP in a datagram with its UDP header; -1 without one."""
    if len(data) < HEADER + 12:
        return -1
    first = data[HEADER]
    if 128 <= first <= 191:
        return HEADER if not 192 <= data[HEADER + 1] <= 223 else -1
    at = -1
    if 64 <= first <= 79:
        at = HEADER + 4
    elif (
        first < 4
        and data[HEADER + 1] in (0x16, 0x17)
        and data[HEADER + 4 : HEADER + 8] == b"\x21\x12\xa4\x42"
    ):
        at = _find_relayed(data)
    if at < 0 or len(data) < at + 12 or data[at] >> 6 != 2 or 192 <= data[at + 1] <= 223:
        return -1
    return at


def _find_relayed(data: bytes) -> int:
    """Returns the offset of the data of TURN's Send or Data indication; -1 without such an attribute."""
    at = HEADER + 20
    while len(data) >= at + 4:
        kind, length = data[at] << 8 | data[at + 1], data[at + 2] << 8 | data[at + 3]
        if kind == _DATA:
            return at + 4
        at += 4 + length + (-length % 4)
    return -1


def find_payload(data: bytes, at: int) -> int:
    """Returns the offset of the payload of RTP, after its sources and header extension (RFC 3550 §5.1, §5.3.1)."""
    begin = at + 12 + 4 * (data[at] & 15)
    if data[at] & 0x10:
        if len(data) < begin + 4:
            return len(data)
        begin += 4 + 4 * (data[begin + 2] << 8 | data[begin + 3])
    return begin
