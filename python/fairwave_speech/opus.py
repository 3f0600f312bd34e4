"""Opus in calls: packets with in-band FEC, and a decoder that conceals losses and uses that FEC.

FFmpeg's interface to libopus neither conceals nor reads in-band FEC. So this module calls libopus (RFC 6716, BSD
licence) directly: the library in PyAV's wheel, otherwise the system's.

The encoder has WebRTC's settings for one channel (``audio_encoder_opus.cc``): application VoIP, complexity 9,
constrained variable bit rate, no DTX. It receives the loss that the receiver reports, and adds in-band FEC only above
0 % (`decide_fec` in ``opus_encoder.c``). A decoder reads the copy of a lost frame only from the packet right after it,
as WebRTC's NetEQ does.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from fairwave_speech.errors import SpeechError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave_speech.audio import Samples

RATE: Final = 16_000
"""Samples per second of encoder and decoder here: wideband, the band of ITU-T G.107.1."""

FRAME: Final = RATE // 50
"""Samples in a packet: 20 ms."""

_VOIP = 2048
_BITRATE, _COMPLEXITY, _IN_BAND_FEC, _LOSS = 4002, 4010, 4012, 4014
_LOOK_AHEAD = 4027
_MOST = 1275


@cache
def _library() -> ctypes.CDLL | None:
    """The libopus in PyAV's wheel, or the system's."""
    names: list[str] = []
    try:
        import av

        names += map(str, sorted((Path(av.__file__).parent.parent / "av.libs").glob("libopus-*")))
    except ImportError:
        pass
    found = ctypes.util.find_library("opus")
    for name in [*names, *([found] if found else [])]:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for make in (library.opus_encoder_create, library.opus_decoder_create):
            make.restype = ctypes.c_void_p
        library.opus_get_version_string.restype = ctypes.c_char_p
        return library
    return None


def is_installed() -> bool:
    """Whether libopus is installed."""
    return _library() is not None


def version() -> str:
    """Name and version of the library, as it states them."""
    return bytes(_need().opus_get_version_string()).decode()


def look_ahead() -> int:
    """Delay of decoded speech, in samples."""
    library, encoder = _need(), _encoder()
    answer = ctypes.c_int()
    library.opus_encoder_ctl(encoder, _LOOK_AHEAD, ctypes.byref(answer))
    library.opus_encoder_destroy(encoder)
    return answer.value


def encode(
    samples: Samples, bits_per_second: int, *, in_band_fec: bool = False, loss_percent: int = 0
) -> list[bytes]:
    """The packets of speech, 20 ms each; an incomplete last frame is filled with silence.

    Args:
        samples: 16 kHz, 16 bits.
        bits_per_second: target rate of the payload.
        in_band_fec: whether packets may carry a coarse copy of the frame before.
        loss_percent: share of packets that the receiver reports as lost, 0 to 100.

    Raises:
        SpeechError: libopus is not installed, or refuses a value.
    """
    library, encoder = _need(), _encoder()
    values = (
        (_BITRATE, bits_per_second),
        (_COMPLEXITY, 9),
        (_IN_BAND_FEC, int(in_band_fec)),
        (_LOSS, loss_percent),
    )
    try:
        for request, value in values:
            if library.opus_encoder_ctl(encoder, request, ctypes.c_int(value)) != 0:
                raise SpeechError(f"libopus refuses {value}: rates are 6000 to 510000 b/s, losses 0 to 100 %")
        whole = np.concatenate([samples, np.zeros(-len(samples) % FRAME, np.int16)]).astype(np.int16)
        packet = ctypes.create_string_buffer(_MOST)
        packets = []
        for first in range(0, len(whole), FRAME):
            frame = np.ascontiguousarray(whole[first : first + FRAME])
            size = library.opus_encode(encoder, _pointer(frame), FRAME, packet, _MOST)
            if size < 0:
                raise SpeechError(f"libopus could not encode a frame (error {size})")
            packets.append(packet.raw[:size])
        return packets
    finally:
        library.opus_encoder_destroy(encoder)


def decode(packets: Sequence[bytes | None]) -> Samples:
    """Speech of packets; None is a lost one.

    A lost frame is restored from the next packet, if that packet came and has a copy. Otherwise libopus conceals it.

    Raises:
        SpeechError: libopus is not installed, or cannot decode a packet.
    """
    library = _need()
    error = ctypes.c_int()
    decoder = ctypes.c_void_p(library.opus_decoder_create(RATE, 1, ctypes.byref(error)))
    heard = np.zeros(len(packets) * FRAME, np.int16)
    try:
        for place, packet in enumerate(packets):
            piece = np.zeros(FRAME, np.int16)
            # Without a packet, the request for FEC is the same as concealment. libopus decides by the packet's content.
            source = packet if packet is not None or place + 1 == len(packets) else packets[place + 1]
            from_copy = packet is None and source is not None
            size = 0 if source is None else len(source)
            got = library.opus_decode(decoder, source, size, _pointer(piece), FRAME, int(from_copy))
            if got != FRAME:
                raise SpeechError(f"libopus could not decode packet {place} (answer {got})")
            heard[place * FRAME : (place + 1) * FRAME] = piece
        return heard
    finally:
        library.opus_decoder_destroy(decoder)


def has_copy(packet: bytes) -> bool:
    """Whether a packet carries a copy of the frame before it (in-band FEC), as libopus reads it."""
    library = _need()
    if hasattr(library, "opus_packet_has_lbrr"):
        return bool(library.opus_packet_has_lbrr(packet, len(packet)) == 1)
    return _copy_flag(packet)


def _copy_flag(packet: bytes) -> bool:
    """The same for libraries before 1.5: the second bit of a SILK frame of 20 ms (RFC 6716 §4.2.3, §4.2.4)."""
    return packet[0] < 0x80 and len(packet) > 1 and bool(packet[1] & 0x40)


def _encoder() -> ctypes.c_void_p:
    error = ctypes.c_int()
    return ctypes.c_void_p(_need().opus_encoder_create(RATE, 1, _VOIP, ctypes.byref(error)))


def _pointer(samples: Samples) -> object:
    return samples.ctypes.data_as(ctypes.POINTER(ctypes.c_int16))


def _need() -> ctypes.CDLL:
    library = _library()
    if library is None:
        raise SpeechError("libopus is not installed: pip install 'fairwave[speech]' brings it with PyAV")
    return library
