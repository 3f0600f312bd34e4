"""Summary of a trace, in numbers and as a picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.extras import need
from fairwave.staging import open_named, save_figure

if TYPE_CHECKING:
    from fairwave.traces.trace import Trace

BIN = 0.1
"""Width of the bins for percentiles and for the time without service, in seconds."""

SHARES_OF_BINS = (1, 5, 25, 50, 75, 95, 99)


@dataclass(frozen=True)
class Summary:
    """Summary of a trace; rates in b/s over bins of `BIN` seconds, except for the mean, which covers the whole trace.

    Attributes:
        format: Format of the file.
        duration: Duration in seconds.
        steps: Number of runs of constant rate.
        size: Total bytes.
        mean: Mean rate over the whole trace.
        least: Rate of the slowest bin.
        most: Rate of the fastest bin.
        percentiles: Percentiles of the bins' rates.
        without: Share of time without service: runs of rate 0 that last `BIN` or more, at any position.
        longest: Duration of the longest of these runs in seconds; 0 without one.
        left_out: Contents of the file other than rate, delay and loss.
    """

    format: str
    duration: float
    steps: int
    size: int
    mean: float
    least: float
    most: float
    percentiles: dict[int, float]
    without: float
    longest: float
    left_out: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        return {
            "format": self.format, "duration_s": self.duration, "steps": self.steps, "bytes": self.size,
            "mean_bps": self.mean, "bin_s": BIN, "min_bps": self.least, "max_bps": self.most,
            "percentiles_bps": {str(key): value for key, value in self.percentiles.items()},
            "share_without_service": self.without, "longest_without_service_s": self.longest,
            "left_out": list(self.left_out),
        }  # fmt: skip


def summary(trace: Trace) -> Summary:
    """Computes the summary of a trace."""
    _, rates = trace.bin_rates(BIN)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (trace.rates == 0).astype(np.int8), [0]])))
    ends = np.concatenate([[0], np.cumsum(trace.lengths)])
    gaps = (ends[edges[1::2]] - ends[edges[::2]]) / 1e9
    gaps = gaps[gaps >= BIN - 1e-12]
    changes = int((np.diff(trace.rates) != 0).sum())
    found = np.percentile(rates, SHARES_OF_BINS)
    return Summary(
        format=trace.format,
        duration=trace.duration,
        steps=changes + 1,
        size=trace.size,
        mean=float((trace.lengths / 1e9 * trace.rates).sum()) / trace.duration,
        least=float(rates.min()),
        most=float(rates.max()),
        percentiles=dict(zip(SHARES_OF_BINS, map(float, found), strict=True)),
        without=float(gaps.sum()) / trace.duration,
        longest=float(gaps.max()) if gaps.size else 0.0,
        left_out=trace.left_out,
    )


def draw(trace: Trace, path: str | Path, title: str) -> Path:
    """Draws a trace: its rate over time, and the share of time below each rate.

    A file name that ends in `.html` gives a page with the picture. Any other name gives the picture in the format of
    its suffix (`.png`, `.svg`, `.pdf`).
    """
    need("matplotlib", "report")
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib.figure import Figure

    found = summary(trace)
    # Use no more bins than the picture can show.
    width = max(BIN, trace.duration / 2000)
    begins, rates = trace.bin_rates(width)
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(3, 2))
    above.stairs(rates / 1e6, np.append(begins, begins[-1] + width), color="k", linewidth=0.8)
    above.axhline(found.mean / 1e6, color="0.5", linestyle=":", label=f"mean {found.mean / 1e6:.3g} Mb/s")
    above.set(xlabel="time (s)", ylabel="rate (Mb/s)", xlim=(0, trace.duration), ylim=(0, None))
    above.set_title(f"{title}: mean rate of each {width:.3g} s")
    above.legend()
    fine = np.sort(trace.bin_rates(BIN)[1]) / 1e6
    below.step(fine, np.arange(1, len(fine) + 1) / len(fine), "k", where="post")
    below.set(
        xlabel=f"rate of a bin of {BIN * 1e3:g} ms (Mb/s)",
        ylabel="share of bins",
        ylim=(0, 1),
        xlim=(0, None),
    )
    where = Path(path)
    if where.suffix.lower() in {".html", ".htm"}:
        import html

        from fairwave.content_security import PLACE, with_policy

        drawn = io.StringIO()
        figure.savefig(drawn, format="svg")
        picture = drawn.getvalue()
        picture = picture[picture.index("<svg") :]
        page = (
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{PLACE}"><title>{html.escape(title)}</title>'
            f"<h1>{html.escape(title)}</h1>\n{picture}</html>\n"
        )
        with open_named(where) as file:
            file.write(with_policy(page).encode())
    else:
        save_figure(figure, where)
    return where
