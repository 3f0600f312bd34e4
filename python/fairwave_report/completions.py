"""Files and pages of the drawn run: completion time by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave_report import figures as drawing
from fairwave_report import style

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave_report.single import DrawnRun


LEAST = 2
"""With a single transfer the table suffices; a figure would be an empty box."""


def draw_transfers(run: DrawnRun, folder: Path) -> drawing.Drawing | None:
    """Draws completion time by size, one mark per completed transfer. Draws nothing for fewer than two."""
    if "transfers" not in run.results.tables:
        return None
    rows = run.results.to_polars("transfers").with_columns(
        pl.col("group").cast(pl.String), pl.col("fate").cast(pl.String)
    )
    done = rows.filter(pl.col("fate") == "completed")
    if done.height < LEAST:
        return None
    data = rows.select("group", "flow", "transfer", "began_s", "size", "seconds", "fate")
    with drawing.canvas("transfers", (11.4, 3.6)) as canvas:
        axes = canvas.subplots()
        for name, look in style.looks(done["group"].unique(maintain_order=True).to_list()).items():
            part = done.filter(pl.col("group") == name).sort("size")
            axes.plot(
                part["size"] / 1e3,
                part["seconds"],
                "o",
                markersize=3.5,
                alpha=0.7,
                color=look.colour,
                label=name,
            )
            alone = part["seconds"] / part["slowdown"]
            axes.plot(part["size"] / 1e3, alone, "-", linewidth=0.9, color=look.colour)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("size (kB)")
        axes.set_ylabel("completion time (s)")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        rest = rows.height - done.height
        return drawing.save(
            canvas, folder, "transfers", data, run.results.provenance,
            title="How long each transfer took",
            caption=f"Completed: {done.height}. Unfinished or refused: {rest}; they have no time. Lines: "
            f"the payload alone at the rate of the narrowest link on the way. Seed {run.seed}.",
            alt="Completion time of each transfer by its size",
        )  # fmt: skip
