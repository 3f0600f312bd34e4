"""The quantities that paper 003 plots, and those that its equations speak of.

The simulator's tables give goodput, overhead, fairness, smoothness, application success and recovery time. Samples of a
sender give the quantities of the equations (rounds of an epoch, the mean window of a sawtooth, the last γ).
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from fairwave.measuring import measures
from fairwave.measuring.measures import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairwave.results import Results

BOTTLENECK = "r1>r2"

SETTLED_S = 60.0
"""From here on a single flow's sawtooth is looked at, seconds: the first decrease, which goes to a half in
ns-2, is over."""

GOODPUT = measures.goodput()
STEADY_GOODPUT = measures.group_column(
    "goodput_bps", "goodput", None, "Mb/s", 1e-6, id="goodput_steady", better="higher"
)
MAIN_GOODPUT, RENO_GOODPUT = measures.goodput("main"), measures.goodput("reno")
OVERHEAD = measures.overhead()
FAIRNESS = measures.fairness()
SHORT_TERM_FAIRNESS = measures.short_term_fairness()
COV = measures.cov()
USE = measures.link("utilisation", BOTTLENECK, "use of the bottleneck", "%", 100)
DROPS = measures.link("drop_rate", BOTTLENECK, "dropped at the bottleneck", "%", 100)
WAIT = measures.link("mean_wait_s", BOTTLENECK, "wait at the bottleneck", "ms", 1e3)


FAR_FROM = 10
"""From this flow on, of Figure 16's twenty, round trips are in the upper half."""


def _far_goodput(results: Results) -> pl.DataFrame:
    far = results.to_polars("flows").filter(pl.col("flow") >= FAR_FROM)
    return far.group_by("run", maintain_order=True).agg((pl.col("goodput_bps").sum() * 1e-6).alias("value"))


FAR_GOODPUT = Measure("goodput_far", "goodput of the far half", "Mb/s", _far_goodput, "higher", table="flows")
"""Rate of the ten flows with the longest round trips at Figure 16's bottleneck."""


def success(share: float, reading: Literal["goodput", "buffer"] = "goodput") -> Measure:
    """Application success percentage: reads that found more than `share` of 125 kB, in % of all flows' reads."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars("playback").filter(
            (pl.col("reading").cast(pl.String) == reading) & ((pl.col("share") - share).abs() < 1e-9)
        )
        reads = pl.col("reads")
        mean = (pl.col("success_percent") * reads).sum() / reads.sum()
        return rows.filter(reads > 0).group_by("run", maintain_order=True).agg(mean.alias("value"))

    title = f"{100 * share:g} % application success"
    return Measure(f"success-{share:g}-{reading}", title, "%", reduce, "higher", table="playback")


SUCCESS = {share: success(share) for share in (0.7, 0.9)}
SUCCESS_BY_BUFFER = {share: success(share, "buffer") for share in (0.7, 0.9)}


def reads(share: float, reading: str) -> Measure:
    """The success percentage as the reading `formula` or `buffer` has it."""
    return (SUCCESS if reading == "formula" else SUCCESS_BY_BUFFER)[share]


def allotted(kind: str, title: str, unit: str, scale: float = 1.0) -> Measure:
    """Rate of all flows together per bin; the bin's end becomes the axis `time` (s)."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars("series").filter(
            (pl.col("kind").cast(pl.String) == kind) & (pl.col("name").cast(pl.String) == "*")
        )
        return rows.select("run", pl.col("time_s").alias("time"), (pl.col("value") * scale).alias("value"))

    return Measure(kind, title, unit, reduce, "higher", ("time",), "series")


ALLOTTED_GOODPUT = allotted("allotted_goodput_bps", "allotted system goodput", "Mb/s", 1e-6)
ALLOTTED_FAIRNESS = replace(allotted("allotted_fairness", "allotted fairness", ""), scale="fairness")


def trace(kind: str, title: str, unit: str, scale: float = 1.0) -> Measure:
    """A series of the one flow that there is, over the axis `time` (s)."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars("series").filter(pl.col("kind").cast(pl.String) == kind)
        return rows.select("run", pl.col("time_s").alias("time"), (pl.col("value") * scale).alias("value"))

    return Measure(f"trace-{kind}", title, unit, reduce, None, ("time",), "series")


ALLOTTED_THROUGHPUT = trace("goodput_bps", "allotted throughput", "Mb/s", 1e-6)


def recovery(level: float) -> Measure:
    """Seconds from the end of the blackout until the flow reaches this share of its former goodput."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars("recovery").filter((pl.col("level") - level).abs() < 1e-9)
        return rows.select("run", pl.col("recovery_s").alias("value"))

    return Measure(
        f"recovery-{level:g}",
        f"recovery to {100 * level:g} %",
        "s",
        reduce,
        "lower",
        table="recovery",
    )


def _sent(results: Results) -> pl.DataFrame:
    rate = pl.col("packets_sent") / pl.col("measured_s")
    flows = results.to_polars("flows").with_columns(rate.alias("value"))
    return flows.group_by("run", maintain_order=True).agg(pl.col("value").mean())


SENT = Measure("sent", "segments sent per second", "1/s", _sent)
"""What Eq. (1) speaks of: segments sent, lost ones among them."""


def _sender_measure(
    id: str,  # noqa: A002  # it is the measure's id
    title: str,
    unit: str,
    reckon: Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], float],
) -> Measure:
    """A number from the samples of a single sender: times, windows, smoothed round trips."""

    def reduce(results: Results) -> pl.DataFrame:
        series = results.to_polars("series").with_columns(pl.col("kind").cast(pl.String))
        rows = []
        for (run,), samples in series.group_by("run", maintain_order=True):
            window, srtt = (samples.filter(pl.col("kind") == kind) for kind in ("window", "srtt_s"))
            both = window.join(srtt, on="time_s", suffix="_rtt").filter(pl.col("time_s") >= SETTLED_S)
            columns = (both[name].to_numpy() for name in ("time_s", "value", "value_rtt"))
            rows.append({"run": run, "value": reckon(*columns)})
        return pl.DataFrame(rows, schema={"run": pl.Int64, "value": pl.Float64})

    return Measure(id, title, unit, reduce, table="series")


def epochs(windows: NDArray[np.float64]) -> list[tuple[int, int]]:
    """First and last sample of each whole congestion epoch: from a decrease (by 2 % and more) to the next."""
    falls = np.flatnonzero(windows[1:] < 0.98 * windows[:-1]) + 1
    # A decrease that is sampled on its way takes two steps; the second ends it.
    first = [at for i, at in enumerate(falls) if i == 0 or at > falls[i - 1] + 2]
    return [(int(begin), int(end) - 1) for begin, end in pairwise(first)]


def rounds(
    times: NDArray[np.float64], windows: NDArray[np.float64], round_trips: NDArray[np.float64]
) -> float:
    """Mean number of round trips in an epoch: the time of each sample in round trips of that time, summed."""
    steps = np.diff(times, append=times[-1]) / round_trips
    found = [float(steps[begin : end + 1].sum()) for begin, end in epochs(windows)]
    return float(np.mean(found)) if found else math.nan


def peak(
    _times: NDArray[np.float64], windows: NDArray[np.float64], _round_trips: NDArray[np.float64]
) -> float:
    """Mean window at which epochs end."""
    found = [float(windows[begin : end + 1].max()) for begin, end in epochs(windows)]
    return float(np.mean(found)) if found else math.nan


def mean_window(
    times: NDArray[np.float64], windows: NDArray[np.float64], round_trips: NDArray[np.float64]
) -> float:
    """Mean window over the round trips of whole epochs."""
    steps = np.diff(times, append=times[-1]) / round_trips
    found = epochs(windows)
    if not found:
        return math.nan
    chosen = np.concatenate([np.arange(begin, end + 1) for begin, end in found])
    return float((windows[chosen] * steps[chosen]).sum() / steps[chosen].sum())


ROUNDS = _sender_measure("rounds", "round trips in an epoch", "", rounds)
PEAK = _sender_measure("peak", "window at the end of an epoch", "segments", peak)
MEAN_WINDOW = _sender_measure("mean-window", "mean window", "segments", mean_window)


def _last_gamma(results: Results) -> pl.DataFrame:
    rows = results.to_polars("series").filter(pl.col("kind").cast(pl.String) == "estimate")
    last = rows.sort("time_s").group_by("run", "name", maintain_order=True).last()
    return last.group_by("run").agg(pl.col("value").mean())


LAST_GAMMA = Measure("gamma", "γ", "", _last_gamma, table="series")
"""The γ of each sampled sender's last decrease, mean over senders."""
