"""Encoding: pictures in, coded frames with their types and sizes out.

MPEG-4 part 2, the codec of paper 002, by FFmpeg's encoder: groups of 12, IBBPBBPBBPBB, at a constant quantiser, so that
sizes follow the pictures and no rate control hides them. Quantisers are integers. Between adjacent fine quantisers the
rate jumps by a fifth. To meet a rate between two of them, the encoder's rate control alternates between the two. A
scene cut does not begin a new group.

Frames are in display order, as the simulator numbers them. The encoder's order (references first) is kept for the
decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

from fairwave_video.errors import VideoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import av

FRAME_RATE = 25
"""Frames per second, as in paper 002's MPEG-4 traces; a clip of another rate is played at this one."""

GROUP = 12
"""Frames from one I frame to the next."""

B_FRAMES = 2
"""B frames between anchors."""

QUANTISERS = (1.0, 31.0)
"""The finest and the coarsest quantiser of MPEG-4."""

MOST_CODINGS = 8
"""Most codings at a constant quantiser to meet one rate, and most codings between two quantisers."""

_LAMBDA = 118
"""FFmpeg's unit of quality (FF_QP2LAMBDA)."""

_VOP_START = b"\x00\x00\x01\xb6"
"""Start code of a coded picture; the next two bits are its type (ISO/IEC 14496-2 §6.2.5)."""


@dataclass(frozen=True)
class CodedFrame:
    """One coded picture.

    Attributes:
        number: Its position in display order, from 0.
        kind: `I`, `P` or `B`.
        data: The bytes.
    """

    number: int
    kind: str
    data: bytes

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.data)


@dataclass(frozen=True)
class Coded:
    """A coded clip.

    Attributes:
        frames: In display order.
        order: Positions in `frames`, in decoding order.
        header: Configuration for the decoder.
        width: In pixels.
        height: In pixels.
        quantiser: Its quantiser; between two, about their mean.
    """

    frames: tuple[CodedFrame, ...]
    order: tuple[int, ...]
    header: bytes
    width: int
    height: int
    quantiser: float

    @property
    def kinds(self) -> str:
        """The frames' types, one letter each."""
        return "".join(frame.kind for frame in self.frames)

    @property
    def rate(self) -> float:
        """Mean rate in bits per second."""
        return 8 * FRAME_RATE * sum(frame.size for frame in self.frames) / len(self.frames)

    def sizes(self, kind: str) -> list[int]:
        """Bytes of the frames of one type, in order."""
        return [frame.size for frame in self.frames if frame.kind == kind]


def encode(
    pictures: Iterable[av.VideoFrame],
    quantiser: float,
    coarsest: float | None = None,
    rate: float | None = None,
) -> Coded:
    """Codes pictures of one size.

    Args:
        pictures: 4:2:0, in display order.
        quantiser: From 1 (finest) to 31.
        coarsest: If given, the rate control chooses quantisers from `quantiser` to this one.
        rate: Target of the rate control, bits per second.

    Raises:
        VideoError: There is no picture, or a quantiser is out of range.
    """
    low, high = QUANTISERS
    for one in (quantiser, quantiser if coarsest is None else coarsest):
        if not low <= one <= high:
            raise VideoError(f"quantiser {one:g}: must be from {low:g} to {high:g}; for example 4")
    coder: av.VideoCodecContext | None = None
    packets: list[av.Packet[av.VideoStream]] = []
    for number, picture in enumerate(pictures):
        if coder is None:
            coder = _coder(picture.width, picture.height, quantiser, coarsest, rate)
        # A copy, because the caller may reuse the picture, and without the picture type from the source's encoder.
        fresh = picture.reformat(format="yuv420p")
        fresh.pts, fresh.time_base, fresh.pict_type = number, Fraction(1, FRAME_RATE), 0
        packets += coder.encode(fresh)
    if coder is None:
        raise VideoError("no pictures to encode; give a clip that has some")
    packets += coder.encode(None)
    decoding = [CodedFrame(int(packet.pts or 0), _kind(bytes(packet)), bytes(packet)) for packet in packets]
    shown = sorted(decoding, key=lambda frame: frame.number)
    return Coded(
        tuple(shown),
        tuple(frame.number for frame in decoding),
        bytes(coder.extradata or b""),
        coder.width,
        coder.height,
        quantiser if coarsest is None else (quantiser * coarsest) ** 0.5,
    )


def _coder(
    width: int, height: int, quantiser: float, coarsest: float | None, rate: float | None
) -> av.VideoCodecContext:
    import av

    coder = av.CodecContext.create("mpeg4", "w")
    assert isinstance(coder, av.VideoCodecContext)
    coder.width, coder.height, coder.pix_fmt = width, height, "yuv420p"
    coder.framerate, coder.time_base = Fraction(FRAME_RATE), Fraction(1, FRAME_RATE)
    coder.thread_count = 1  # the same bytes on any machine
    coder.options = {
        "qmin": "1",
        "lmin": str(round(quantiser * _LAMBDA)),
        "lmax": str(round((quantiser if coarsest is None else coarsest) * _LAMBDA)),
        "g": str(GROUP),
        "bf": str(B_FRAMES),
        "sc_threshold": "1000000000",
    }
    if rate is not None:
        coder.bit_rate = round(rate)
        # Tolerance of the rate control before it reacts; the quantisers bound it anyway.
        coder.bit_rate_tolerance = 4 * round(rate)
    return coder


def _kind(data: bytes) -> str:
    start = data.find(_VOP_START) + len(_VOP_START)
    return "IPBS"[data[start] >> 6]


def code_rate(pictures: list[av.VideoFrame], rate: float) -> Coded:
    """Returns the clip coded at the constant quantiser with the mean rate nearest to `rate` bits per second.

    Raises:
        VideoError: The finest or the coarsest quantiser does not reach the rate.
    """
    return code_rates(pictures, [rate], between=False)[0]


def code_rates(
    pictures: list[av.VideoFrame], rates: Sequence[float], tolerance: float = 0.02, *, between: bool = True
) -> list[Coded]:
    """Codes the clip at each of several mean rates, with quantisers that are as constant as possible.

    The rate falls with the quantiser, in steps, because the coder rounds it for each type of frame. For each rate the
    quantiser is interpolated between the nearest codings so far, both on logarithmic scales, until the rate or its step
    is reached. If the rate is within a step, quantisers alternate between its two ends.

    Args:
        pictures: 4:2:0, in display order.
        rates: In bits per second.
        tolerance: Greatest relative error of a coding's rate.
        between: Whether quantisers may change within a step; otherwise the nearest coding with a constant one is taken.

    Raises:
        VideoError: The finest or the coarsest quantiser does not reach a rate.
    """
    made = {quantiser: encode(pictures, quantiser) for quantiser in QUANTISERS}
    return [_code_rate(pictures, rate, tolerance, made, between=between) for rate in rates]


def _code_rate(
    pictures: list[av.VideoFrame], rate: float, tolerance: float, made: dict[float, Coded], *, between: bool
) -> Coded:
    finest, coarsest = (made[quantiser] for quantiser in QUANTISERS)
    if not coarsest.rate <= rate <= finest.rate:
        raise VideoError(
            f"rate {rate / 1e3:g} kb/s: at {finest.width} × {finest.height} this clip can be coded at "
            f"{coarsest.rate / 1e3:.0f} to {finest.rate / 1e3:.0f} kb/s; choose a rate between"
        )
    for attempt in range(MOST_CODINGS):
        best = min(made.values(), key=lambda coded: abs(coded.rate - rate))
        above = max(
            (coded for coded in made.values() if coded.rate >= rate), key=lambda coded: coded.quantiser
        )
        below = min(
            (coded for coded in made.values() if coded.rate < rate),
            key=lambda coded: coded.quantiser,
            default=above,
        )
        if abs(best.rate / rate - 1) <= tolerance or below.quantiser / above.quantiser < 1 + 1 / _LAMBDA:
            break
        share = log(above.rate / rate) / log(above.rate / below.rate)
        # Every second attempt takes the middle, so that both ends move.
        share = 0.5 if attempt % 2 else min(max(share, 0.05), 0.95)
        quantiser = above.quantiser * (below.quantiser / above.quantiser) ** share
        made[quantiser] = encode(pictures, quantiser)
    best = min(made.values(), key=lambda coded: abs(coded.rate - rate))
    if not between or abs(best.rate / rate - 1) <= tolerance or above is below:
        return best
    return _mix_quantisers(pictures, rate, tolerance, above, below, best)


def _mix_quantisers(
    pictures: list[av.VideoFrame], rate: float, tolerance: float, above: Coded, below: Coded, best: Coded
) -> Coded:
    """Returns the coding nearest to `rate` among codings with quantisers between `above` and `below`."""
    # A short clip misses the rate control's target, so the target is found by bisection too.
    low, high = below.rate / 4, above.rate * 4
    for _ in range(MOST_CODINGS):
        aim = (low * high) ** 0.5
        coded = encode(pictures, above.quantiser, below.quantiser, aim)
        best = min(best, coded, key=lambda one: abs(one.rate - rate))
        if abs(best.rate / rate - 1) <= tolerance:
            break
        low, high = (low, aim) if coded.rate > rate else (aim, high)
    return best
