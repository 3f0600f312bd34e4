"""Picture quality against the original, frame by frame: PSNR and SSIM of luma, by FFmpeg's filters.

PSNR = 10 log₁₀(255² / MSE) in dB, over the luma of a frame. A frame without any error has no finite PSNR and gets
:data:`CEILING_DB`. SSIM: Wang, Bovik, Sheikh & Simoncelli (2004), 1 for equal pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave_video.coding import FRAME_RATE
from fairwave_video.errors import VideoError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import av
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

CEILING_DB = 60.0
"""Highest PSNR of a frame. Above it, differences are invisible."""


@dataclass(frozen=True)
class Quality:
    """Scores per frame.

    Attributes:
        psnr_db: Of luma, in dB.
        ssim: Of luma, up to 1.
    """

    psnr_db: Values
    ssim: Values


def score(shown: Iterable[av.VideoFrame], originals: Iterable[av.VideoFrame]) -> Quality:
    """Compares pictures with their originals, one by one.

    Raises:
        VideoError: Their numbers or their sizes differ.
    """
    psnr, ssim = [], []
    graph: _Graph | None = None
    try:
        for number, (picture, original) in enumerate(zip(shown, originals, strict=True)):
            if (picture.width, picture.height) != (original.width, original.height):
                raise VideoError(
                    f"frame {number}: {picture.width} × {picture.height}, "
                    f"the original {original.width} × {original.height}"
                )
            graph = graph or _Graph(picture.width, picture.height)
            found = graph.compare(picture, original, number)
            psnr.append(found[0])
            ssim.append(found[1])
    except ValueError as error:
        if isinstance(error, VideoError):
            raise
        raise VideoError(f"pictures and originals: {error}") from None
    return Quality(np.asarray(psnr), np.asarray(ssim))


class _Graph:
    """FFmpeg's filters `psnr` and `ssim` in sequence, which receive a pair at a time."""

    def __init__(self, width: int, height: int) -> None:
        from fractions import Fraction

        import av.filter

        self.graph = av.filter.Graph()
        self.inputs = [
            self.graph.add_buffer(
                width=width,
                height=height,
                format=av.VideoFormat("yuv420p"),
                time_base=Fraction(1, FRAME_RATE),
            )
            for _ in range(4)
        ]
        psnr, ssim, sink = self.graph.add("psnr"), self.graph.add("ssim"), None
        sinks = []
        for place, measure in enumerate((psnr, ssim)):
            self.inputs[2 * place].link_to(measure, 0, 0)
            self.inputs[2 * place + 1].link_to(measure, 0, 1)
            sink = self.graph.add("buffersink")
            measure.link_to(sink)
            sinks.append(sink)
        self.sinks = sinks
        self.graph.configure()

    def compare(self, picture: av.VideoFrame, original: av.VideoFrame, number: int) -> tuple[float, float]:
        from fractions import Fraction

        for place, one in enumerate((picture, original, picture, original)):
            fresh = type(one).from_ndarray(one.to_ndarray(), format="yuv420p")
            fresh.pts, fresh.time_base = number, Fraction(1, FRAME_RATE)
            self.inputs[place].push(fresh)
        psnr, ssim = (sink.pull().metadata for sink in self.sinks)
        return min(float(psnr["lavfi.psnr.psnr.y"]), CEILING_DB), float(ssim["lavfi.ssim.Y"])
