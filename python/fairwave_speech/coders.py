"""Coders with memory: the codecs of scenarios that ffmpeg's libraries encode and decode, in addition to G.711.

Encoder and decoder carry state from packet to packet, so a call is coded as one stream. Its decoder sees only the
packets that are played. After a gap it continues with its state, as deployed decoders do, so the gap affects the sound
after it too.

- ITU-T G.722 at 64 kb/s, G.726 at 40, 32, 24 and 16 kb/s, G.723.1 at 6.3 kb/s;
- 3GPP AMR at 12.2 kb/s, which is GSM-EFR's coder, too (TS 26.071: the mode is GSM-EFR).

A coder with look-ahead waits for `ahead` samples of the following speech. Here packet k contains the speech of frame k,
so decoded speech has the recording's positions.

**Assumptions**: between talkspurts neither side runs. So a talkspurt begins with the state that the last one left, and
its last samples are coded as if the next one followed immediately. Wideband codecs run at 8 kHz like everything here:
with G.722 you hear the lower band, and the upper band is empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from fairwave.extras import need
from fairwave_speech.audio import RATE, Samples
from fairwave_speech.errors import SpeechError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from av.audio.codeccontext import AudioCodecContext
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Coder:
    """A codec of ffmpeg's libraries.

    Attributes:
        name: name in scenarios.
        library: ffmpeg's name of encoder and decoder.
        frame: samples at 8 kHz that are coded together.
        size: bytes per encoded frame, with the header of its file format.
        ahead: total lag of encoder and decoder, in samples at 8 kHz.
        rate: samples per second that it codes.
        bit_rate: b/s, for encoders that have several; 0 for the others.
        decoding: options that the decoder cannot take from the packets.
    """

    name: str
    library: str
    frame: int
    size: int
    ahead: int = 0
    rate: int = RATE
    bit_rate: int = 0
    decoding: dict[str, str] = field(default_factory=dict)

    payload_per_sample = 0

    @property
    def is_available(self) -> bool:
        """Whether the installed libraries encode and decode it."""
        return _has_both_directions(self.library)

    def encode(self, frames: Samples) -> list[bytes]:
        """Encode each row as a packet.

        Args:
            frames: linear samples, one packet per row, in the order of speaking.

        Raises:
            SpeechError: rows that are not a multiple of the codec's frame, or no such encoder in these libraries.
        """
        spoken = self._whole(frames)
        stream = np.concatenate([spoken.reshape(-1)[self.ahead :], np.zeros(self.ahead, np.int16)])
        data = b"".join(self._encoded(_resampled(stream, self.rate, RATE)))
        size = spoken.shape[1] // self.frame * self.size
        return [data[first : first + size] for first in range(0, len(spoken) * size, size)]

    def decode(self, packets: Sequence[bytes]) -> Samples:
        """Decode consecutive packets to one sequence of samples.

        Raises:
            SpeechError: no such decoder in these libraries.
        """
        need("av", "speech", SpeechError)
        import av.error

        try:
            decoder = self._context("r")
            pieces = [
                piece.to_ndarray().reshape(-1)
                for packet in packets
                for first in range(0, len(packet), self.size)
                for piece in decoder.decode(av.Packet(packet[first : first + self.size]))
            ]
        except (av.error.FFmpegError, ValueError) as error:
            raise self._refused("decoded", error) from error
        samples = np.concatenate(pieces).astype(np.int16) if pieces else np.zeros(0, np.int16)
        return _resampled(samples, RATE, self.rate)

    def transmit(self, frames: Samples, played: NDArray[np.bool_] | None = None) -> Samples:
        """Encode all rows and decode those that are played, as one stream; the others are silent.

        Raises:
            SpeechError: as for :meth:`encode`.
        """
        spoken = self._whole(frames)
        there = np.ones(len(spoken), np.bool_) if played is None else played
        packets = self.encode(spoken)
        decoded = self.decode([packets[row] for row in np.flatnonzero(there)])
        heard = np.zeros(spoken.shape, np.int16)
        heard[there] = decoded.reshape(-1, spoken.shape[1])
        return heard.reshape(frames.shape)

    def _whole(self, frames: Samples) -> Samples:
        rows = np.atleast_2d(frames)
        if rows.shape[1] % self.frame:
            packet, own = (1e3 * samples / RATE for samples in (rows.shape[1], self.frame))
            raise SpeechError(
                f"packets of {packet:g} ms are no whole number of {self.name}'s frames of {own:g} ms; "
                f"cut the script into frames of {own:g} ms, or a multiple"
            )
        return rows

    def _encoded(self, samples: Samples) -> Iterator[bytes]:
        need("av", "speech", SpeechError)
        import av.error
        from av.audio.frame import AudioFrame

        try:
            encoder = self._context("w")
            encoder.open()
            step = encoder.frame_size or self.frame * self.rate // RATE
            for first in range(0, len(samples), step):
                piece = np.ascontiguousarray(samples[first : first + step]).reshape(1, -1)
                frame = AudioFrame.from_ndarray(piece, format="s16", layout="mono")
                frame.sample_rate, frame.pts = self.rate, first
                yield from map(bytes, encoder.encode(frame))
            yield from map(bytes, encoder.encode(None))
        except (av.error.FFmpegError, ValueError) as error:
            raise self._refused("encoded", error) from error

    def _context(self, mode: Literal["r", "w"]) -> AudioCodecContext:
        import av

        context = cast("AudioCodecContext", av.CodecContext.create(self.library, mode))
        context.sample_rate = self.rate
        context.layout = "mono"
        if mode == "w":
            context.format = "s16"
            if self.bit_rate:
                context.bit_rate = self.bit_rate
        else:
            context.options = dict(self.decoding)
        return context

    def _refused(self, what: str, error: Exception) -> SpeechError:
        return SpeechError(
            f"{self.name} cannot be {what} by ffmpeg's libraries here ({error}); choose codec 'g711u' or "
            "'g711a', or install a PyAV whose libraries have "
            f"{self.library!r}"
        )


def _g726(bits: int) -> Coder:
    """A G.726 sample has 2 to 5 bits, which packets do not state. 8 samples are an integer number of bytes."""
    rate = bits * RATE
    decoding = {"bits_per_coded_sample": str(bits)}
    return Coder(f"g726-{rate // 1000}", "g726", 8, bits, bit_rate=rate, decoding=decoding)


_AMR = "libopencore_amrnb"

CODERS: dict[str, Coder] = {
    coder.name: coder
    for coder in (
        Coder("g722", "g722", 1, 1, ahead=11, rate=2 * RATE),
        *(_g726(bits) for bits in (5, 4, 3, 2)),
        Coder("g723.1-6.3", "g723_1", 240, 24, ahead=60, bit_rate=6300),
        # 31 octets of speech after one of contents (RFC 4867 §5.3, its storage format).
        Coder("amr-12.2", _AMR, 160, 32, ahead=40, bit_rate=12200),
        Coder("gsm-efr", _AMR, 160, 32, ahead=40, bit_rate=12200),
    )
}
"""Codecs of scenarios with a coder here, by name."""


@cache
def _has_both_directions(library: str) -> bool:
    try:
        import av.codec.codec
        import av.error
    except ImportError:
        return False
    try:
        return all(av.codec.codec.Codec(library, mode).type == "audio" for mode in ("r", "w"))
    except (ValueError, av.error.FFmpegError):
        return False


def _resampled(samples: Samples, to: int, of: int) -> Samples:
    """Resample in place, without delay."""
    if to == of or not len(samples):
        return samples
    from scipy.signal import resample_poly

    changed = resample_poly(samples.astype(np.float64), to, of)
    limited: Samples = np.clip(np.rint(changed), -32768, 32767).astype(np.int16)
    return limited
