"""Received video of a streamed clip: the decoded pictures, their quality and their layers over time.

`fairwave_video` determines which part of each frame arrived, and decodes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.staging import staging
from fairwave_report import figures as drawing
from fairwave_report import style

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave.results import Results
    from fairwave_video.layers import LayeredClip
    from fairwave_video.received import ReceivedClip
    from fairwave_video.score import Quality


MOST_SECONDS = 60
"""A page contains at most this many seconds of a video."""


@dataclass(frozen=True)
class ViewedClip:
    """A received clip.

    Attributes:
        title: Flow and clip.
        summary: Its quality, a line.
        drawing: Quality and layers over time.
        mp4: The page's video, smaller than the file in the folder.
        file: The file in the folder.
    """

    title: str
    summary: str
    drawing: drawing.Drawing
    mp4: bytes
    file: Path

    def __str__(self) -> str:
        return f"{self.title}: {self.summary}: {self.file}"


def show(results: Results, group: str, flow: dict[str, Any], out: Path) -> ViewedClip:
    """Writes the video that the viewer of a group's first flow receives in the first run into `out`.

    `GROUP-received.mp4` (undecodable frames are frozen), `GROUP-frames` (a row per frame) and `GROUP-quality` (a row
    per second, and a figure), as CSV and Parquet, SVG and PNG.

    Returns:
        Its summary and its content for a page.

    Raises:
        VideoError: The clip or the file cannot be used.
    """
    from fairwave.table_files import write_table
    from fairwave_video import received
    from fairwave_video.coding import FRAME_RATE
    from fairwave_video.layers import bits_per_second, encode_layers
    from fairwave_video.score import score

    traffic = flow["traffic"]
    source = encode_layers(traffic["clip"], [bits_per_second(rate) for rate in traffic["layers"]])
    units = results.to_polars("units").filter(
        (pl.col("run") == 0) & (pl.col("flow").cast(pl.String) == f"{group}[0]")
    )
    # Frames due by the end of the run, as the flow's row counts them.
    rows = results.to_polars("flows").filter((pl.col("run") == 0) & (pl.col("flow") == 0))
    frames_shown = int(rows.filter(pl.col("group").cast(pl.String) == group)["frames"][0])
    delay_s = _seconds(traffic.get("playout-delay", "1 s"))
    watched = received.receive(units.sort("unit"), source, delay_s, frames_shown)
    quality = score(watched.pictures(), watched.originals())
    frames = tabulate_frames(watched, quality)
    seconds = average_seconds(frames)
    with staging(out) as folder:
        received.write(watched.pictures(), folder / f"{group}-received.mp4")
        begin = islice(watched.pictures(), MOST_SECONDS * FRAME_RATE)
        small = received.write(begin, folder / f"{group}-small.mp4", received.SMALL)
        mp4 = small.read_bytes()
        small.unlink()
        write_table(frames.to_arrow(), folder / f"{group}-frames", results.provenance)
        drawn = draw(results, group, traffic["clip"], source, seconds, folder)
    means = frames.select(pl.col("psnr_db", "ssim", "layers_decoded").mean()).row(0, named=True)
    frozen = (frames["layers_decoded"] == 0).sum()
    summary = (
        f"PSNR {means['psnr_db']:.1f} dB, SSIM {means['ssim']:.3f}, {means['layers_decoded']:.2f} of "
        f"{len(source.versions)} layers, {frozen} of {frames.height} frames frozen"
    )
    file = out / f"{group}-received.mp4"
    return ViewedClip(f"{group}[0], clip {traffic['clip']}", summary, drawn, mp4, file)


def tabulate_frames(watched: ReceivedClip, quality: Quality) -> pl.DataFrame:
    """Returns a row per frame: its type, its scores, and the layers sent, in time and decodable."""
    from fairwave_video.coding import FRAME_RATE

    return pl.DataFrame(
        {
            "frame": range(watched.frames),
            "made_s": [watched.start_s + number / FRAME_RATE for number in range(watched.frames)],
            "type": list(watched.kinds),
            "layers_sent": watched.sent,
            "layers_arrived": watched.arrived,
            "layers_decoded": watched.decoded,
            "psnr_db": quality.psnr_db,
            "ssim": quality.ssim,
        }
    )


def average_seconds(frames: pl.DataFrame) -> pl.DataFrame:
    """Returns means over the frames of each second since the first one, and the number of frozen frames."""
    from fairwave_video.coding import FRAME_RATE

    return (
        frames.group_by((pl.col("frame") // FRAME_RATE).alias("second"), maintain_order=True)
        .agg(
            pl.col("psnr_db", "ssim", "layers_sent", "layers_arrived", "layers_decoded").mean(),
            (pl.col("layers_decoded") == 0).sum().cast(pl.Int64).alias("frozen"),
        )
        .select("second", "psnr_db", "ssim", "layers_sent", "layers_arrived", "layers_decoded", "frozen")
    )


def draw(
    results: Results, group: str, clip: str, source: LayeredClip, seconds: pl.DataFrame, folder: Path
) -> drawing.Drawing:
    """Draws PSNR, SSIM, layers and frozen frames per second, one below the other, with a line at each restart."""
    begins = restarts(len(source.kinds), seconds.height)
    looks = style.looks(["sent", "decoded"])
    with drawing.canvas("received", (9.2, 7.4)) as canvas:
        grid = canvas.subplots(4, 1, sharex=True)
        # Draw a mean in the middle of its second.
        at = seconds["second"] + 0.5
        for axes, column, label in ((grid[0], "psnr_db", "PSNR (dB)"), (grid[1], "ssim", "SSIM")):
            axes.plot(at, seconds[column], ".-", color=looks["decoded"].colour)
            axes.set_ylabel(label)
        for name in ("sent", "decoded"):
            look = looks[name]
            axes = grid[2]
            axes.plot(
                at, seconds[f"layers_{name}"], marker=".", linestyle=look.line, color=look.colour, label=name
            )
        grid[2].set_ylabel("layers")
        grid[2].set_ylim(0, len(source.versions) + 0.2)
        grid[2].legend(loc="lower right", ncols=2, facecolor=style.PAPER, framealpha=0.9, frameon=True)
        grid[3].bar(at, seconds["frozen"], width=0.8, color=style.INK)
        grid[3].set_ylabel("frozen frames")
        grid[3].set_ylim(0, max(1, *seconds["frozen"].to_list()) * 1.1)
        for axes in grid:
            for begin in begins:
                axes.axvline(begin, color=style.INK, linewidth=0.8, linestyle=":")
        grid[3].set_xlim(0, seconds.height)
        grid[3].set_xlabel("seconds since the first frame")
        grid[0].set_title(f"{group}: the clip {clip} as it is seen")
        return drawing.save(
            canvas, folder, f"{group}-quality", seconds, results.provenance,
            title=f"{group}: the clip {clip} as it is seen",
            caption="Per second: PSNR and SSIM of luma against the original, layers sent and decoded, frames frozen."
            + describe_repetition(len(source.kinds), begins),
            alt=f"Picture quality, layers and frozen frames in each of {seconds.height} seconds: "
            + _seconds_in_words(seconds),
        )  # fmt: skip


def _seconds_in_words(seconds: pl.DataFrame) -> str:
    """Describes the means over all seconds, and the worst second."""
    psnr, layers = seconds["psnr_db"], seconds["layers_decoded"]
    worst = seconds["second"][psnr.arg_min() or 0]
    return (
        f"PSNR {drawing.format_value(psnr.mean())} dB in the mean, "
        f"least {drawing.format_value(psnr.min())} dB in second {worst}; "
        f"{drawing.format_value(layers.mean())} layers decoded; {seconds['frozen'].sum()} frames frozen"
    )


def restarts(frames: int, seconds: int) -> list[float]:
    """Returns the times at which a clip of this many frames restarts within this many seconds."""
    from fairwave_video.coding import FRAME_RATE

    length = frames / FRAME_RATE
    return [turn * length for turn in range(1, seconds * FRAME_RATE // frames + 1) if turn * length < seconds]


def describe_repetition(frames: int, begins: list[float]) -> str:
    """Returns the caption's remark about a clip that is shown more than once, else nothing."""
    from fairwave_video.coding import FRAME_RATE

    if not begins:
        return ""
    return f" The clip of {frames / FRAME_RATE:.3g} s begins again at each dotted line."


def _seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}[unit]
