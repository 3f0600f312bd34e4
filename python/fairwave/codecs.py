"""Speech codecs of calls: network cost, speech quality, and the sources of both.

The facts come from the simulator (`traffic/codec.rs` and `quality/impairment.rs`). This module words them for
`fairwave list`, `fairwave check` and the page of codecs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fairwave import _native

if TYPE_CHECKING:
    pass

DEFAULT = "g711"
"""Default codec of calls."""

CONCEALMENT = "appendix-i"
"""Default concealment of receivers."""

HEADERS = 12 + 8 + 20
"""Bytes of RTP, UDP and IPv4 headers on the wire."""


@dataclass(frozen=True)
class Codec:
    """A codec.

    Attributes:
        codec: Name in scenarios.
        frame_ms: Length of the smallest piece of speech that can be sent, ms.
        packet_ms: Default length of the speech in a packet, ms.
        payload: RTP payload of such a packet, bytes.
        rate_bps: That payload over that time, b/s.
        look_ahead_ms: Look-ahead of the coder, ms.
        format: RFC that defines the payload.
        wideband: Whether it is rated by ITU-T G.107.1.
        ie: Equipment impairment factor Ie (Ie,wb); None if ITU-T G.113 has none.
        bpl: Packet-loss robustness factor Bpl (Bpl,wb); None likewise.
        bpl_without_fec: Bpl of Opus without in-band FEC, if `bpl` includes FEC; None for other codecs.
        assumed: Whether one of the two is assumed; None likewise.
        determined: Whether they are determined by an experiment of this project (`docs/opus.md`); None likewise.
        source: Source of both factors, or the basis of the assumption; None likewise.
    """

    codec: str
    frame_ms: float
    packet_ms: float
    payload: int
    rate_bps: int
    look_ahead_ms: float
    format: str
    wideband: bool
    ie: float | None
    bpl: float | None
    bpl_without_fec: float | None
    assumed: bool | None
    determined: bool | None
    source: str | None

    @property
    def unknown(self) -> str:
        """Why a codec without factors has none."""
        if self.codec.startswith("evs-"):
            return f"no impairment factor for {self.codec} is known on the scales of ITU-T G.107 and G.107.1"
        return f"ITU-T G.113 has no impairment factor for {self.codec}"

    @property
    def remark(self) -> str:
        """Remark on the ratings of its calls; empty if there is none."""
        if self.ie is None:
            return f"not defined †: {self.unknown}"
        if self.assumed:
            return f"assumed: Ie {self.ie:g}, Bpl {self.bpl:g} ({self.source})"
        if self.determined:
            without = (
                "" if self.bpl == self.bpl_without_fec else f", {self.bpl_without_fec:g} without in-band FEC"
            )
            return f"determined here ‡: Ie {self.ie:g}, Bpl {self.bpl:g}{without} ({self.source})"
        return ""

    def __str__(self) -> str:
        size = f"{self.payload} B each {self.packet_ms:g} ms ({self.format})"
        if self.ie is None:
            return f"{size}; {self.remark}"
        band = "wideband, " if self.wideband else ""
        return f"{size}; {band}{self.remark or f'Ie {self.ie:g}, Bpl {self.bpl:g} ({self.source})'}"


@cache
def known(concealment: str = CONCEALMENT) -> tuple[Codec, ...]:
    """Returns every codec, with the concealment of its receiver."""
    return tuple(Codec(**one) for one in _native.codecs(concealment != "none"))


def find(name: str, concealment: str = CONCEALMENT) -> Codec:
    """Returns the codec with this name.

    Raises:
        KeyError: There is no such codec; the message lists the names.
    """
    for one in known(concealment):
        if one.codec == name:
            return one
    raise KeyError(f"no codec {name!r}; there are {', '.join(one.codec for one in known())}")


def opus_remark(rate: str) -> str:
    """Returns the remark on ratings of a media session with Opus at a rate such as `32 kb/s`."""
    ie, bpl, copy = _native.opus_factors(rate)
    return (
        f"determined here ‡: Ie {ie:.3g}, Bpl {bpl:.3g}; a frame that in-band FEC restores counts as {copy:.2g} of a "
        "lost one (libopus and ViSQOL, docs/opus.md)"
    )


def remark(codec: str | dict[str, Any], concealment: str = CONCEALMENT) -> str:
    """Returns the remark on ratings of a scenario's calls; empty if there is none.

    Args:
        codec: The scenario's value: a name, or a table of the codec's numbers.
        concealment: Concealment of receivers.
    """
    if isinstance(codec, str):
        return find(codec, concealment).remark
    called = codec.get("name") or f"the codec of {codec.get('rate')}"
    if codec.get("ie") is None:
        return f"not defined †: `ie`, `bpl` and their `source` are not given for {called}"
    return f"given: Ie {codec['ie']:g}, Bpl {codec['bpl']:g} ({codec['source']})"


def markdown() -> str:
    """All codecs as a table for a page."""
    head = "codec", "frame, ms", "packet, ms", "payload, B", "on the wire, kb/s", "RFC", "Ie", "Bpl", "from"
    rows = [
        (
            f"`{one.codec}`",
            f"{one.frame_ms:g}",
            f"{one.packet_ms:g}",
            str(one.payload),
            f"{(one.payload + HEADERS) * 8 / one.packet_ms:.1f}",
            one.format.removeprefix("RFC "),
            "†"
            if one.ie is None
            else f"{one.ie:g}{' wb' if one.wideband else ''}{' ‡' if one.determined else ''}",
            _robustness(one),
            one.source or f"{one.unknown.replace(f' for {one.codec}', '')}: MOS and R are not defined",
        )
        for one in known()
    ]
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def _robustness(one: Codec) -> str:
    """Table cell of Bpl."""
    if one.bpl is None:
        return "†"
    if one.determined:
        return (
            f"{one.bpl:g} ‡"
            if one.bpl == one.bpl_without_fec
            else f"{one.bpl:g} ‡ (without in-band FEC {one.bpl_without_fec:g})"
        )
    return f"{one.bpl:g}{' †' if one.assumed else ''}"
