"""Fit of the video encoders in fairwave: frame sizes and quality.

`python -m fairwave_report.encoder_fit` writes `fit.json` into the folder of the Rust source that uses it. It encodes
the scenes of :mod:`fairwave_video.scenes` with FFmpeg's encoders, with the settings of calls: no B frames, no
look-ahead, one pass, key frames only at the beginning and on request. Each scene is coded in several sizes at several
constant quantisers. Pictures are compared at the original's size, so a small picture has a lower quality.

The fit contains, for each codec, scene and size:
- the luminance PSNR as a straight line over the logarithm of the bits per pixel (of the coded size): delta frames for
  camera scenes, key frames for a screen;
- the ratio of a key frame's size to the size of the frames around it, at the same quantiser;
- the deviation and the correlation of the logarithm of the delta frames' sizes;
- except for a screen: the quantisers that yield these bits per pixel, on the scale of the codec's stream.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from math import log, log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_video import scenes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import av
    from numpy.typing import NDArray

FIT_JSON = Path("crates/fairwave-media/src/encoder/fit.json")
"""The compiled file of the fit."""

SCENES = ("talking-head", "moving", "screen")
"""Encoded scenes."""

SIZES = ((320, 180), (640, 360), (1280, 720))
"""Encoded sizes."""

FRAMES = 120
"""Frames of each scene. For the screen, every third frame, so that it scrolls within them."""

KEY_AT = (0, 60)
"""Frames that are requested as key frames."""

ENCODERS: dict[str, tuple[str, dict[str, str], str, Sequence[int]]] = {
    "vp8": (
        "libvpx",
        {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "error-resilient": "1"},
        "qmin",
        (12, 28, 44, 60),
    ),
    "h264": ("libx264", {"preset": "veryfast", "tune": "zerolatency", "bf": "0"}, "qp", (22, 28, 34, 40)),
    "av1": (
        "libsvtav1",
        {"preset": "10", "svtav1-params": "pred-struct=1:lookahead=0:scd=0:tune=1"},
        "crf",
        (25, 36, 47, 58),
    ),
}
"""FFmpeg's encoder of each codec, its settings, its quantiser option, and the quantisers to encode at."""

COARSER: dict[str, Sequence[int]] = {"vp8": (56,), "h264": (51,), "av1": ()}
"""Further quantisers. The coarsest that libwebrtc allows are 56 of 63, 51, and 52 of 63, which is between others."""

VP8_QUANTISERS = (
    *range(6), 7, 8, 9, 10, 12, 13, 15, *range(17, 22), *range(23, 32), *range(33, 62, 2), *range(64, 128, 3),
)  # fmt: skip
"""Quantiser of VP8's stream, 0 to 127, for each value of libvpx' option (`q_trans`)."""


@dataclass(frozen=True)
class Coded:
    """A scene, coded once.

    Attributes:
        sizes: Bytes per frame.
        keys: Which frames are key frames.
        psnr: Mean of the delta frames, dB, at the size of the original.
    """

    sizes: tuple[int, ...]
    keys: tuple[bool, ...]
    psnr: float


def encode(codec: str, pictures: Sequence[av.VideoFrame], size: tuple[int, int], quantiser: int) -> Coded:
    """Encodes a scene at one quantiser and compares the decoded pictures with the original."""
    import av

    name, settings, option, _ = ENCODERS[codec]
    encoder = av.CodecContext.create(name, "w")
    assert isinstance(encoder, av.VideoCodecContext)
    encoder.width, encoder.height = size
    encoder.pix_fmt = "yuv420p"
    encoder.framerate = scenes.FRAME_RATE  # type: ignore[assignment]
    encoder.gop_size = 9999
    encoder.thread_count = 1
    options = {**settings, option: str(quantiser)}
    if option == "qmin":  # libvpx: equal finest and coarsest quantiser, and an unreachable rate
        options["qmax"] = str(quantiser)
        encoder.bit_rate = 100_000_000
    encoder.options = options
    decoder = av.CodecContext.create({"vp8": "vp8", "h264": "h264", "av1": "libdav1d"}[codec], "r")
    assert isinstance(decoder, av.VideoCodecContext)
    packets = []
    for number, picture in enumerate(pictures):
        # Scale as libwebrtc does: each pixel is the mean of the pixels that it covers.
        small = picture.reformat(*size, "yuv420p", interpolation="AREA")
        small.pts = number
        small.pict_type = (
            av.video.frame.PictureType.I if number in KEY_AT else av.video.frame.PictureType.NONE
        )
        packets.extend(encoder.encode(small))
    packets.extend(encoder.encode(None))
    shown = [frame for packet in packets for frame in decoder.decode(packet)]
    shown.extend(decoder.decode(None))
    quality = [
        _psnr(original, frame)
        for number, (original, frame) in enumerate(zip(pictures, shown, strict=False))
        if number not in KEY_AT and number % 4 == 0
    ]
    keys = tuple(packet.is_keyframe for packet in packets)
    return Coded(tuple(packet.size for packet in packets), keys, float(np.mean(quality)))


def _psnr(original: av.VideoFrame, shown: av.VideoFrame) -> float:
    first = original.reformat(format="gray").to_ndarray().astype(float)
    second = shown.reformat(original.width, original.height, "gray").to_ndarray().astype(float)
    error = float(np.mean((first - second) ** 2))
    return 10 * float(np.log10(255**2 / max(error, 1e-3)))


def _plain(one: Coded) -> NDArray[np.float64]:
    """Returns the bytes of the delta frames, without the first."""
    return np.array([size for size, key in zip(one.sizes, one.keys, strict=True) if not key][1:], float)


def _stream_quantiser(codec: str, quantiser: int) -> int:
    """Returns the quantiser on the scale of the codec's stream, which libwebrtc uses."""
    if codec == "vp8":
        return int(VP8_QUANTISERS[quantiser])
    return 4 * quantiser if codec == "av1" else quantiser


def fit_codec(codec: str, name: str) -> dict[str, Any]:
    """Fits one codec on one scene."""
    step = 3 if name == "screen" else 1
    pictures = list(scenes.scene(name, FRAMES * step))[::step]
    sizes, keys, deviations, correlations = [], [], [], []
    for width, height in SIZES:
        coded = [encode(codec, pictures, (width, height), quantiser) for quantiser in ENCODERS[codec][3]]
        points, quantised = [], []
        for one in coded:
            plain = _plain(one)
            key_frames = [size for size, key in zip(one.sizes, one.keys, strict=True) if key]
            # A screen does not move: its frames have no typical size, and its picture is the last key frame's.
            typical = float(np.mean(key_frames) if name == "screen" else plain.mean())
            points.append((log2(typical * 8 / (width * height)), one.psnr))
            if name != "screen":
                logs = np.log(plain)
                deviations.append(float(logs.std()))
                correlations.append(float(np.corrcoef(logs[:-1], logs[1:])[0, 1]))
            keys.append(log(float(np.mean(key_frames)) / float(plain.mean())))
        bits_of, psnr_of = (np.array(column) for column in zip(*points, strict=True))
        if name != "screen":
            more = [encode(codec, pictures, (width, height), quantiser) for quantiser in COARSER[codec]]
            tried = (*ENCODERS[codec][3], *COARSER[codec])
            quantised = sorted(
                [
                    _stream_quantiser(codec, quantiser),
                    float(f"{_plain(one).mean() * 8 / (width * height):.4g}"),
                ]
                for quantiser, one in zip(tried, [*coded, *more], strict=True)
            )
        slope, at_one = np.polyfit(bits_of, psnr_of, 1)
        worst = max(abs(at_one + slope * bits - psnr) for bits, psnr in points)
        sizes.append(
            {
                "width": width,
                "height": height,
                "psnr-at-one-bit": round(float(at_one), 2),
                "psnr-per-doubling": round(float(slope), 3),
                "worst": round(float(worst), 2),
                "quantisers": quantised,
            }
        )
    return {
        "key-ratio": round(float(np.exp(np.mean(keys))), 2),
        "deviation": round(float(np.mean(deviations)), 3) if deviations else 0.0,
        "correlation": round(float(np.mean(correlations)), 3) if correlations else 0.0,
        "sizes": sizes,
    }


def main(root: Path) -> None:
    """Writes the fit."""
    from fairwave.staging import write_text

    content: dict[str, Any] = {
        "about": "Fitted by `python -m fairwave_report.encoder_fit` to scenes made by fairwave_video.scenes, "
        f"{scenes.SIZE[0]} x {scenes.SIZE[1]} at {scenes.FRAME_RATE}/s, coded by FFmpeg's libvpx, libx264 and SVT-AV1.",
    }
    for codec in ENCODERS:
        content[codec] = {name: fit_codec(codec, name) for name in SCENES}
    write_text(root / FIT_JSON, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
