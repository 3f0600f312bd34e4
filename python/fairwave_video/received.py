"""Received video of a clip: the units of a simulated flow become pictures.

Unit f·k + j is layer j of frame f of k (as the simulator numbers them). When the clip repeats, a frame is the same
picture again. One definition in core determines the decodable layers of a frame at its display time: all packets of its
units, and of the frames that it refers to, must have arrived by then. The frame is shown in the matching version of the
clip.

**Assumptions.** An undecodable frame is concealed by the previous picture (frame freeze); before the first picture
there is grey. The viewer's clock runs a fixed playout delay behind the sender's, so lateness is loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_video.coding import FRAME_RATE, Coded
from fairwave_video.errors import VideoError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import av
    from numpy.typing import NDArray

    from fairwave_video.layers import LayeredClip

GREY = 128
"""Every sample of the picture before the first one."""


PADDING = bytes(64)
"""FFmpeg's decoders read slightly past the end of their input (AV_INPUT_BUFFER_PADDING_SIZE)."""


@dataclass(frozen=True)
class ReceivedClip:
    """The fate of each frame of a streamed clip.

    Attributes:
        source: The clip in layers.
        sent: Layers of each frame that were sent.
        arrived: Layers of each frame that arrived before its display time, counted from the base without a gap.
        decoded: Decodable layers of each frame at its display time.
        start_s: Creation time of the first frame.
    """

    source: LayeredClip
    sent: NDArray[np.int64]
    arrived: NDArray[np.int64]
    decoded: NDArray[np.int64]
    start_s: float

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.decoded)

    @property
    def kinds(self) -> str:
        """The frames' types."""
        return _repeated(self.source.kinds, self.frames)

    def pictures(self) -> Iterator[av.VideoFrame]:
        """Yields the pictures that the viewer sees, in order."""
        import av

        count = len(self.source.kinds)
        shown: av.VideoFrame | None = None
        for begin in range(0, self.frames, count):
            decoders = [pictures(version) for version in self.source.versions]
            for frame in range(begin, min(begin + count, self.frames)):
                # Each version is decoded in parallel, so that any of them is available.
                candidates = [next(decoder) for decoder in decoders]
                if self.decoded[frame]:
                    shown = candidates[self.decoded[frame] - 1]
                if shown is None:
                    first = candidates[0]
                    grey = np.full((first.height * 3 // 2, first.width), GREY, dtype=np.uint8)
                    shown = av.VideoFrame.from_ndarray(grey, format="yuv420p")
                yield shown

    def originals(self) -> Iterator[av.VideoFrame]:
        """Yields the clip's original pictures for comparison, neither coded nor lost."""
        left = self.frames
        while left > 0:
            for picture in self.source.clip.pictures(min(left, len(self.source.kinds))):
                yield picture
                left -= 1


def pictures(version: Coded, keep: set[int] | None = None) -> Iterator[av.VideoFrame]:
    """Decodes a coding, in display order.

    Args:
        version: The coding.
        keep: Frames that the decoder receives; default all.
    """
    from fractions import Fraction

    import av

    decoder = av.CodecContext.create("mpeg4", "r")
    assert isinstance(decoder, av.VideoCodecContext)
    decoder.thread_count = 1
    if version.header:
        decoder.extradata = version.header
    for number in version.order:
        if keep is None or number in keep:
            packet = av.Packet(version.frames[number].data + PADDING)
            packet.pts, packet.time_base = number, Fraction(1, FRAME_RATE)
            yield from decoder.decode(packet)
    yield from decoder.decode(None)


def receive(
    units: Mapping[str, Any] | Any,
    source: LayeredClip,
    playout_delay_s: float = 1.0,
    shown: int | None = None,
) -> ReceivedClip:
    """Determines the frames that a viewer receives from the units of a streamed clip.

    Args:
        units: One flow's units in order: columns `unit`, `created_s`, `arrived_s` (NaN: never) and `fate`.
        source: The clip in the layers in which it was sent.
        playout_delay_s: Display time of a frame after its creation.
        shown: Number of frames with a display time within the run; default all.

    Raises:
        VideoError: There are no units, or their numbers have gaps.
    """
    from fairwave._native import decodable_layers

    layers = len(source.versions)
    number, created, arrived = (
        np.asarray(units[name], dtype=np.float64) for name in ("unit", "created_s", "arrived_s")
    )
    if not len(number) or np.any(number != np.arange(len(number))):
        raise VideoError(
            "units: must be those of one flow, from its first on; ask for them in the scenario: [record] units"
        )
    frames = len(number) // layers
    whole = slice(0, frames * layers)
    arrivals = _nanoseconds(arrived[whole]).reshape(frames, layers)
    shows = _nanoseconds(created[: frames * layers : layers]) + np.uint64(round(playout_delay_s * 1e9))
    in_time = arrivals <= shows[:, None]
    sent = (np.asarray(units["fate"]).astype(str) != "skipped")[whole].reshape(frames, layers)
    # Counted from the base up to the first missing layer.
    got = np.cumprod(in_time, axis=1).sum(axis=1)
    kinds = _repeated(source.kinds, frames)
    count = frames if shown is None else min(shown, frames)
    if not count:
        raise VideoError("the run ends before a frame is shown; give it a longer `duration`")
    decoded = np.frombuffer(
        bytes(
            decodable_layers(kinds, shows.astype("<u8").tobytes(), arrivals.astype("<u8").tobytes(), layers)
        ),
        dtype=np.uint8,
    ).astype(np.int64)
    return ReceivedClip(
        source, sent.sum(axis=1)[:count], got.astype(np.int64)[:count], decoded[:count], float(created[0])
    )


def _nanoseconds(seconds: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Converts to the simulator's integer nanoseconds; NaN becomes its value for never."""
    never = np.isnan(seconds)
    whole = np.rint(np.where(never, 0.0, seconds) * 1e9).astype(np.uint64)
    return np.where(never, np.uint64(2**64 - 1), whole)


def _repeated(kinds: str, frames: int) -> str:
    return (kinds * (frames // len(kinds) + 1))[:frames]


FINEST = {"qp": "1", "preset": "veryfast"}
"""The finest quantiser that players decode. The video's scores match the tables within 0.1 dB."""

SMALL = {"crf": "27", "preset": "medium"}
"""For pages: visually close to the finest, at about a thirtieth of the size."""


def write(shown: Iterator[av.VideoFrame], path: Path, how: Mapping[str, str] = FINEST) -> Path:
    """Writes pictures as a video that players and browsers play: H.264 in mp4, without sound.

    Args:
        shown: The pictures.
        path: The file.
        how: Options of the encoder, `FINEST` or `SMALL`.

    Raises:
        VideoError: The file cannot be written.
    """
    from fractions import Fraction

    import av

    try:
        with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = None
            for number, picture in enumerate(shown):
                if stream is None:
                    stream = container.add_stream("libx264", rate=FRAME_RATE, options=dict(how))
                    stream.width, stream.height, stream.pix_fmt = picture.width, picture.height, "yuv420p"
                    stream.time_base = Fraction(1, FRAME_RATE)
                copy = picture.reformat(format="yuv420p")
                copy = (
                    av.VideoFrame.from_ndarray(copy.to_ndarray(), format="yuv420p")
                    if copy is picture
                    else copy
                )
                copy.pts, copy.time_base, copy.pict_type = number, Fraction(1, FRAME_RATE), 0
                container.mux(stream.encode(copy))
            if stream is not None:
                container.mux(stream.encode(None))
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"{path}: cannot be written ({error})") from error
    return path
