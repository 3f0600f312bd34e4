"""Speech codecs: a frame after encoder and decoder.

G.711 is memoryless, so its two laws are tables: the encoder's over all 65536 linear values and the decoder's over all
256 codes. Both are core's (``crates/fairwave-media/src/speech/g711.rs``). Tests check them against code points of ITU-T
G.711 tables 1 and 2 and against ffmpeg's libraries. ``linear`` does no coding, which separates effects of the network
from effects of the codec. Codecs with memory are in :mod:`fairwave_speech.coders`.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairwave import _native
from fairwave_speech.audio import RATE, Samples
from fairwave_speech.coders import CODERS
from fairwave_speech.errors import SpeechError

Codes = NDArray[np.uint8]

Played = NDArray[np.bool_]


class Codec(Protocol):
    """Interface of a codec for calls."""

    @property
    def name(self) -> str:
        """Name in options and reports."""

    @property
    def payload_per_sample(self) -> int:
        """Payload bytes per sample; 0 if the ratio is not fixed."""

    @property
    def ahead(self) -> int:
        """Samples after a frame that its encoder needs (look-ahead)."""

    def transmit(self, frames: Samples, played: Played | None = None) -> Samples:
        """Encode frames of linear samples, one per row, and decode the played ones; the shape is unchanged.

        Args:
            frames: linear samples, in the order of speaking.
            played: per row, whether its packet reaches the decoder; default all. Other rows are undefined.
        """


class G711:
    """ITU-T G.711: eight bits a sample, 64 kb/s."""

    payload_per_sample = 1
    ahead = 0

    def __init__(self, law: str) -> None:
        if law not in {"u", "a"}:
            raise SpeechError(f"G.711 law {law!r}: must be 'u' or 'a'")
        self._encode, self._decode = _tables(law)
        self.name = f"g711{law}"

    def encode(self, samples: Samples) -> Codes:
        """Codes as transmitted: with the even bits inverted for A law, with all bits inverted for µ law."""
        codes: Codes = self._encode[samples.view(np.uint16)]
        return codes

    def decode(self, codes: Codes) -> Samples:
        """Linear samples on the 16-bit scale."""
        linear: Samples = self._decode[codes]
        return linear

    def transmit(self, frames: Samples, played: Played | None = None) -> Samples:  # noqa: ARG002  # no memory
        """Quantise like an encoder and a decoder."""
        return self.decode(self.encode(np.ascontiguousarray(frames)))


class Linear:
    """No codec: samples pass unchanged."""

    name = "linear"
    payload_per_sample = 2
    ahead = 0

    def transmit(self, frames: Samples, played: Played | None = None) -> Samples:  # noqa: ARG002  # no memory
        """Return the frames unchanged."""
        return np.array(frames, dtype=np.int16)


CODECS = ("g711u", "g711a", "linear", *CODERS)
"""Names that :func:`codec` knows."""


def codec(name: str) -> Codec:
    """Make a codec by name.

    Args:
        name: one of :data:`CODECS`.

    Raises:
        SpeechError: an unknown name.
    """
    if name == "g711u":
        return G711("u")
    if name == "g711a":
        return G711("a")
    if name == "linear":
        return Linear()
    if name in CODERS:
        return CODERS[name]
    raise SpeechError(f"codec {name!r}: not known; choose one of {', '.join(CODECS)}")


STAND_IN = "g711u"
"""Codec that replaces unavailable ones."""


def audible_codec(name: str, frame: int) -> tuple[str, str]:
    """The codec for the sound of a scenario's call: the same one if these libraries have encoder and decoder.

    Args:
        name: the codec's name in scenarios.
        frame: samples in a packet.

    Returns:
        One of :data:`CODECS`, and the reason if it is not the scenario's; empty if it is.
    """
    if name == "g711":
        return STAND_IN, ""
    coder = CODERS.get(name)
    if coder is None or not coder.is_available:
        return STAND_IN, f"no coder for {name} here"
    if frame % coder.frame:
        packet, own = (1e3 * samples / RATE for samples in (frame, coder.frame))
        return STAND_IN, f"packets of {packet:g} ms are no whole number of {name}'s frames of {own:g} ms"
    return name, ""


@cache
def _tables(law: str) -> tuple[Codes, Samples]:
    """Encoder's table, indexed by the bits of the linear sample, and decoder's table, indexed by the code."""
    codes, decoded = _native.g711(law)
    encode: Codes = np.frombuffer(codes, np.uint8)
    linear: Samples = np.frombuffer(decoded, "<i2").astype(np.int16)
    linear.setflags(write=False)
    return encode, linear
