"""Speech codecs: what a frame becomes on its way through encoder and decoder.

G.711 is memoryless, so its two laws are tables: the encoder's over all 65536 linear values and the decoder's over all
256 codes. Both are core's (``crates/fairwave-media/src/speech/g711.rs``). Tests check them against code points of ITU-T
G.711 tables 1 and 2 and against ffmpeg's libraries. ``linear`` codes nothing and separates what the network does from
what the codec does. Codecs with memory are in :mod:`fairwave_speech.coders`.
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
    """A codec as a call needs it."""

    @property
    def name(self) -> str:
        """Name in options and reports."""

    @property
    def payload_per_sample(self) -> int:
        """Payload bytes of one sample; 0 where the two are not in a fixed proportion."""

    @property
    def ahead(self) -> int:
        """Samples of what follows a frame that its encoder waits for."""

    def transmit(self, frames: Samples, played: Played | None = None) -> Samples:
        """Encode frames of linear samples, one a row, and decode those that are played; the shape stays.

        Args:
            frames: linear samples, in the order in which they are spoken.
            played: per row, whether its packet reaches the decoder; all do if not given. What the others become is
                not defined.
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
        """Codes as they travel: of A law with the even bits inverted, of µ law with all bits inverted."""
        codes: Codes = self._encode[samples.view(np.uint16)]
        return codes

    def decode(self, codes: Codes) -> Samples:
        """Linear samples on the 16-bit scale."""
        linear: Samples = self._decode[codes]
        return linear

    def transmit(self, frames: Samples, played: Played | None = None) -> Samples:  # noqa: ARG002  # no memory
        """Quantise as an encoder and a decoder do."""
        return self.decode(self.encode(np.ascontiguousarray(frames)))


class Linear:
    """No codec: samples pass as they are."""

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
        SpeechError: a name that is none of them.
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
"""What is heard of a call whose own codec is not to be had."""


def heard_as(name: str, frame: int) -> tuple[str, str]:
    """The codec by which a scenario's call is heard: its own, where these libraries encode and decode it.

    Args:
        name: the codec's name in scenarios.
        frame: samples in a packet.

    Returns:
        One of :data:`CODECS`, and why it is not the scenario's own; empty if it is.
    """
    if name == "g711":
        return STAND_IN, ""
    coder = CODERS.get(name)
    if coder is None or not coder.is_there:
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
