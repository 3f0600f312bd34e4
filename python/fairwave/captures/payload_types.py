"""Payload types of RTP: static types of RFC 3551, and types of a session description (SDP, RFC 8866)."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fairwave.captures.files import CaptureError
from fairwave.foreign import decode, gated, read_bytes

if TYPE_CHECKING:
    from fairwave.captures.flow import Flow


@dataclass(frozen=True)
class PayloadFormat:
    """Meaning of a payload type.

    Attributes:
        codec: Name of the encoding, as in SDP.
        clock: Clock rate of the timestamps, Hz; 0 if unknown.
        repairs: Payload type that a retransmission repairs (`apt`, RFC 4588 §8.1); None for other formats.
        origin: `RFC 3551`, `SDP` or `timestamps`.
    """

    codec: str
    clock: int
    repairs: int | None = None
    origin: str = "SDP"


_RFC3551 = {
    0: ("PCMU", 8000), 3: ("GSM", 8000), 4: ("G723", 8000), 5: ("DVI4", 8000), 6: ("DVI4", 16000), 7: ("LPC", 8000),
    8: ("PCMA", 8000), 9: ("G722", 8000), 10: ("L16", 44100), 11: ("L16", 44100), 12: ("QCELP", 8000),
    13: ("CN", 8000), 14: ("MPA", 90000), 15: ("G728", 8000), 16: ("DVI4", 11025), 17: ("DVI4", 22050),
    18: ("G729", 8000), 19: ("CN", 8000), 25: ("CelB", 90000), 26: ("JPEG", 90000), 28: ("nv", 90000),
    31: ("H261", 90000), 32: ("MPV", 90000), 33: ("MP2T", 90000), 34: ("H263", 90000),
}  # fmt: skip

STATIC = {one: PayloadFormat(codec, clock, None, "RFC 3551") for one, (codec, clock) in _RFC3551.items()}
"""Static payload types (RFC 3551 §6, tables 4 and 5). G.722 has 8000 Hz there, although it samples at 16 kHz."""

EVENTS = frozenset({"telephone-event", "tone", "cn"})
"""Encodings that interrupt the speech of a call, by their lower-case names. They form no separate stream."""

RETRANSMISSION, FORWARD_ERROR_CORRECTION = "rtx", frozenset({"ulpfec", "flexfec", "flexfec-03", "parityfec"})


@dataclass
class Description:
    """Meaning of payload types and sources, from the session descriptions of a capture or of a file.

    Attributes:
        formats: Payload types by the address and port that receives them.
        everywhere: Payload types of a description without a known address: they hold for every flow.
        groups: For each source that repairs another one: the repaired source and the role, `rtx` or `fec`.
    """

    formats: dict[tuple[bytes, int], dict[int, PayloadFormat]] = field(default_factory=dict)
    everywhere: dict[int, PayloadFormat] = field(default_factory=dict)
    groups: dict[int, tuple[int, str]] = field(default_factory=dict)

    def find(self, flow: Flow, payload_type: int) -> PayloadFormat | None:
        """Returns the meaning of a payload type in a flow: from SDP of the receiver, SDP of the sender, or RFC 3551."""
        for end in ((flow.destination, flow.destination_port), (flow.source, flow.source_port)):
            found = self.formats.get(end, {}).get(payload_type)
            if found is not None:
                return found
        return self.everywhere.get(payload_type) or STATIC.get(payload_type)

    def add(self, text: str, *, everywhere: bool = False) -> None:
        """Adds the media of a session description.

        Args:
            text: The description, or a message that ends with one.
            everywhere: Whether the description holds for every flow, whatever addresses it names.
        """
        address, media_address, port = b"", b"", 0
        formats: dict[int, PayloadFormat] = {}
        for line in (*text[text.find("v=0") :].splitlines(), "m="):
            kind, value = line[:2], line[2:].strip()
            if kind == "c=":
                found = _parse_address(value)
                media_address = found
                address = address or found
            elif kind == "m=":
                if formats:
                    self._keep(media_address or address, port, formats, everywhere=everywhere)
                formats, media_address = {}, b""
                words = value.split()
                port = int(words[1].partition("/")[0]) if len(words) > 3 and words[1][:5].isdigit() else 0
                for word in words[3:]:
                    if word.isdigit() and int(word) in STATIC:
                        formats[int(word)] = STATIC[int(word)]
            elif kind == "a=":
                _add_attribute(value, formats, self.groups)

    def _keep(
        self, address: bytes, port: int, formats: dict[int, PayloadFormat], *, everywhere: bool
    ) -> None:
        if everywhere or not address:
            self.everywhere.update(formats)
        elif len(self.formats) < MOST_ENDS:
            self.formats.setdefault((address, port), {}).update(formats)


MOST_ENDS = 10_000
"""Largest number of addresses and ports with descriptions."""

_MAP = re.compile(r"rtpmap:(\d{1,3}) +([\w.+-]{1,40})/(\d{1,6})")
_REPAIR = re.compile(r"fmtp:(\d{1,3}) .*?\bapt=(\d{1,3})")
_GROUP = re.compile(r"ssrc-group:(FID|FEC-FR|FEC) +(\d{1,10}) +(\d{1,10})")


def _add_attribute(value: str, formats: dict[int, PayloadFormat], groups: dict[int, tuple[int, str]]) -> None:
    if found := _MAP.match(value):
        formats[int(found[1])] = PayloadFormat(found[2], int(found[3]))
    elif found := _REPAIR.match(value):
        one = formats.get(int(found[1]))
        if one is not None:
            formats[int(found[1])] = PayloadFormat(one.codec, one.clock, int(found[2]))
    elif (found := _GROUP.match(value)) and len(groups) < MOST_ENDS:
        groups[int(found[3])] = int(found[2]), "rtx" if found[1] == "FID" else "fec"


def _parse_address(value: str) -> bytes:
    try:
        return ipaddress.ip_address(value.rsplit(maxsplit=1)[-1].partition("/")[0]).packed
    except (ValueError, IndexError):
        return b""


@gated("session description", CaptureError)
def read_description(path: str | Path) -> Description:
    """Reads a file with a session description, such as the SDP of an offer or answer.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file has no description of media.
    """
    if not Path(path).is_file():
        what = "a folder" if Path(path).is_dir() else "no such file"
        raise FileNotFoundError(
            f"no session description {str(path)!r}: {what}; give the SDP of the call as text"
        )
    found = Description()
    text = decode(read_bytes(Path(path), "session description"), str(path))
    if "m=" in text:
        found.add(text, everywhere=True)
    if not found.everywhere:
        raise CaptureError(
            f"{path} describes no media: give the SDP of an offer or answer, with lines such as "
            "m=audio 9 UDP/TLS/RTP/SAVPF 111 and a=rtpmap:111 opus/48000/2"
        )
    return found
