"""The measures of paper 004: throughput of classes, waiting and losses of voice.

Loss of voice is split as in the paper's Tables 6 and 7, in % of the packets that were sent. A *queue* drops a packet,
or the packet is *late* (longer than 300 ms on the way), or a *link* loses it, which no link does here. Queueing delay
is the mean wait of voice packets that get through a queue.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from fairwave import _native
from fairwave.measuring import measures
from fairwave.measuring.measures import Measure
from fairwave_studies.dropping.points import BOTTLENECK, ROUTER_RATES_BPS

if TYPE_CHECKING:
    from fairwave.results import Results
    from fairwave_study.readings import Reading

VOICE_GROUPS = ("a", "b", "b-near", "b-far", "c")
CLASSES = ("voice", "other-udp", "tcp")
CLASS_TITLES = {"voice": "VoIP", "other-udp": "other UDP", "tcp": "TCP"}

FAIR_SHARE = 1 / 3
"""Of the link, for one of three classes (004 §4.4.1)."""


def voice(results: Results, table: str = "flows") -> pl.DataFrame:
    """The rows of voice flows."""
    return results.to_polars(table).filter(pl.col("group").cast(pl.String).is_in(VOICE_GROUPS))


def _class_rows(results: Results, link: str | None) -> pl.DataFrame:
    rows = results.to_polars("classes").with_columns(pl.col("link", "class").cast(pl.String))
    wanted = (BOTTLENECK, *ROUTER_RATES_BPS) if link is None else (link,)
    return rows.filter(pl.col("link").is_in(wanted))


def _seconds(results: Results) -> pl.DataFrame:
    """The length of each run."""
    return results.to_polars("flows").group_by("run", maintain_order=True).agg(pl.col("stop_s").max())


def _throughput(column: str, link: str) -> measures.Reduction:
    def reduce(results: Results) -> pl.DataFrame:
        rows = _class_rows(results, link).join(_seconds(results), on="run", how="left", maintain_order="left")
        return rows.select("run", "class", (pl.col(column) * 8e-6 / pl.col("stop_s")).alias("value"))

    return reduce


def throughput(link: str = BOTTLENECK) -> Measure:
    """Throughput of each class on a link, Mb/s on the wire; axis `class`."""
    return Measure(
        f"out:{link}", "throughput", "Mb/s", _throughput("wire_served", link), "higher", ("class",), "classes"
    )


def arriving(link: str = BOTTLENECK) -> Measure:
    """Input of each class to a link's queue, Mb/s on the wire; axis `class`."""
    return Measure(
        f"in:{link}", "input", "Mb/s", _throughput("wire_arrived", link), None, ("class",), "classes"
    )


OUT, IN = throughput(), arriving()
TOTAL_OUT = measures.link("utilisation", BOTTLENECK, "use of the bottleneck", "%", 100)


def _share(results: Results) -> pl.DataFrame:
    rows: pl.DataFrame = _throughput("wire_served", BOTTLENECK)(results)
    whole = pl.col("value").sum().over("run")
    return rows.with_columns((100 * pl.col("value") / whole).alias("value"))


SHARE = Measure("share", "share of the throughput", "%", _share, None, ("class",), "classes")
"""Each class's part of the bottleneck's throughput."""


def _dropped(results: Results) -> pl.DataFrame:
    dropped = pl.col("dropped_overflow") + pl.col("dropped_early")
    part = pl.when(pl.col("arrivals") > 0).then(100 * dropped / pl.col("arrivals")).otherwise(math.nan)
    return _class_rows(results, BOTTLENECK).select("run", "class", part.alias("value"))


DROPPED = Measure(
    "dropped",
    "dropped at the bottleneck",
    "%",
    _dropped,
    "lower",
    ("class",),
    "classes",
    limits=measures.PERCENT,
)
"""Share of each class's packets that the bottleneck's queue drops; axis `class`."""


def _jain(results: Results) -> pl.DataFrame:
    rows = _share(results).group_by("run", maintain_order=True)
    x = pl.col("value")
    return rows.agg((x.sum().pow(2) / (x.len() * x.pow(2).sum())).alias("value"))


CLASS_FAIRNESS = Measure(
    "class_fairness",
    "fairness among classes (Jain)",
    "",
    _jain,
    "higher",
    table="classes",
    limits=measures.RATIO,
    scale="fairness",
)
"""Jain's index of the three classes' throughputs."""


def _spread(results: Results) -> pl.DataFrame:
    rows = _share(results).group_by("run", maintain_order=True)
    return rows.agg((pl.col("value").max() - pl.col("value").min()).alias("value"))


SPREAD = Measure("spread", "largest − smallest share", "%", _spread, "lower", table="classes")
"""Between the class that gets most and the one that gets least, in % of the throughput."""


def _wait(results: Results) -> pl.DataFrame:
    rows = _class_rows(results, None).filter(pl.col("class") == "voice")
    return rows.group_by("run", maintain_order=True).agg((pl.col("mean_wait_s").sum() * 1e3).alias("value"))


QUEUEING = Measure("queueing", "queueing delay of voice", "ms", _wait, "lower", table="classes")
"""Mean wait of voice packets that get through, at all scarce links together."""


def _delay(results: Results) -> pl.DataFrame:
    applies = pl.col("delay_mean_s").is_not_nan()
    total = (pl.col("delay_mean_s").fill_nan(0) * pl.col("units_received")).sum()
    received = pl.col("units_received").filter(applies).sum()
    value = pl.when(received > 0).then(1e3 * total / received).otherwise(math.nan)
    return voice(results).group_by("run", maintain_order=True).agg(value.alias("value"))


END_TO_END = Measure("end_to_end", "end-to-end delay of voice", "ms", _delay, "lower")
"""Mean over received voice packets."""


def _counts(results: Results) -> pl.DataFrame:
    """Received voice packets per threshold: run, delay (ms), within, received."""
    rows = voice(results, "timeliness").filter(pl.col("reading").cast(pl.String) == "delay")
    delay = (pl.col("threshold_s") * 1e3).round(3).alias("delay")
    counted = rows.group_by("run", delay, maintain_order=True).agg(
        pl.col("timely").sum().alias("within"), (pl.col("timely") + pl.col("delayed")).sum().alias("received")
    )
    return counted.sort("run", "delay")


def _distribution(results: Results) -> pl.DataFrame:
    share = pl.col("within") / pl.col("received")
    return _counts(results).select("run", "delay", share.alias("value"))


CDF = Measure(
    "cdf", "share of received voice packets", "", _distribution, None, ("delay",), measures.TIMELINESS
)
"""Share of received voice packets with an end-to-end delay of at most the axis `delay` (ms)."""


def _quantile(part: float) -> measures.Reduction:
    """By straight lines between thresholds; the last one where fewer have come by then."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = _counts(results).with_columns((pl.col("within") / pl.col("received")).alias("share"))
        before = pl.col("share").shift(1).over("run").fill_null(0.0)
        least = pl.col("delay").shift(1).over("run").fill_null(pl.col("delay") - 1)
        rows = rows.with_columns(before.alias("before"), least.alias("least"))
        reached = rows.filter(pl.col("share") >= part).group_by("run", maintain_order=True).first()
        rise = (part - pl.col("before")) / (pl.col("share") - pl.col("before"))
        found = reached.select(
            "run", (pl.col("least") + rise * (pl.col("delay") - pl.col("least"))).alias("value")
        )
        every = rows.group_by("run", maintain_order=True).agg(
            pl.col("delay").last().alias("last"), pl.col("received").last()
        )
        joined = every.join(found, on="run", how="left", maintain_order="left")
        known = pl.when(pl.col("received") > 0).then(pl.col("value").fill_null(pl.col("last")))
        return joined.select("run", known.otherwise(math.nan).alias("value"))

    return reduce


MEDIAN = Measure(
    "delay_median", "median end-to-end delay of voice", "ms", _quantile(0.5), "lower", (), measures.TIMELINESS
)
"""Half of the received voice packets took no longer."""
LATEST_TENTH = Measure(
    "delay_p90",
    "end-to-end delay that 90 % of voice keeps",
    "ms",
    _quantile(0.9),
    "lower",
    (),
    measures.TIMELINESS,
)
"""Nine of ten received voice packets took no longer."""


def _variance(results: Results) -> pl.DataFrame:
    """From the distribution: packets between two thresholds count in their middle."""
    edges = _counts(results)
    before = pl.col("within").shift(1, fill_value=0).over("run")
    middle = (pl.col("delay") + pl.col("delay").shift(1).over("run").fill_null(pl.col("delay") - 4)) / 2
    bins = edges.with_columns((pl.col("within") - before).alias("packets"), middle.alias("middle"))
    # Larger delays count at the last threshold.
    beyond = bins.group_by("run", maintain_order=True).agg(
        (pl.col("received").last() - pl.col("within").last()).alias("packets"),
        pl.col("delay").last().alias("middle"),
    )
    whole = pl.concat([bins.select("run", "packets", "middle"), beyond.select("run", "packets", "middle")])
    weight, x = pl.col("packets"), pl.col("middle")
    moments = whole.group_by("run", maintain_order=True).agg(
        ((weight * x).sum() / weight.sum()).alias("mean"),
        ((weight * x * x).sum() / weight.sum()).alias("square"),
    )
    return moments.select("run", (pl.col("square") - pl.col("mean").pow(2)).alias("value"))


VARIANCE = Measure(
    "variance", "variance of the end-to-end delay", "ms²", _variance, "lower", (), measures.TIMELINESS
)
"""Over received voice packets, from the distribution in steps of 4 to 20 ms."""


def _sent(results: Results) -> pl.DataFrame:
    return voice(results).group_by("run", maintain_order=True).agg(pl.col("units_sent").sum().alias("sent"))


def _queue_loss(link: str | None) -> measures.Reduction:
    def reduce(results: Results) -> pl.DataFrame:
        rows = (
            _class_rows(results, link).filter(pl.col("class") == "voice").group_by("run", maintain_order=True)
        )
        dropped = rows.agg((pl.col("dropped_overflow") + pl.col("dropped_early")).sum().alias("dropped"))
        joined = _sent(results).join(dropped, on="run", how="left", maintain_order="left")
        return joined.select("run", (100 * pl.col("dropped") / pl.col("sent")).alias("value"))

    return reduce


def _share_of_sent(column: str) -> measures.Reduction:
    share = pl.when(pl.col("units_sent").sum() > 0).then(
        100 * pl.col(column).sum() / pl.col("units_sent").sum()
    )
    return lambda results: (
        voice(results).group_by("run", maintain_order=True).agg(share.otherwise(math.nan).alias("value"))
    )


QUEUE_LOSS = Measure(
    "queue_loss",
    "voice dropped by queues",
    "%",
    _queue_loss(None),
    "lower",
    table="classes",
    limits=measures.PERCENT,
)
FIRST_LOSS = Measure(
    "first_loss",
    "voice dropped at R2",
    "%",
    _queue_loss("r2>r3"),
    "lower",
    table="classes",
    limits=measures.PERCENT,
)
SECOND_LOSS = Measure(
    "second_loss",
    "voice dropped at R5",
    "%",
    _queue_loss("r5>r6"),
    "lower",
    table="classes",
    limits=measures.PERCENT,
)
LATE_LOSS = Measure(
    "late_loss", "voice late", "%", _share_of_sent("late_units"), "lower", limits=measures.PERCENT
)
LINK_LOSS = Measure(
    "link_loss", "voice lost by links", "%", _share_of_sent("lost"), "lower", limits=measures.PERCENT
)


def _total(results: Results) -> pl.DataFrame:
    parts: list[pl.DataFrame] = [one.reduce(results) for one in (QUEUE_LOSS, LATE_LOSS, LINK_LOSS)]
    return pl.concat(parts).group_by("run", maintain_order=True).agg(pl.col("value").sum())


TOTAL_LOSS = Measure(
    "total_loss", "voice lost in all", "%", _total, "lower", table="classes", limits=measures.PERCENT
)
"""Queue, late and link together."""


def _printed_mos(decimal: bool) -> measures.Reduction:
    def opinion(delay: float, loss: float) -> float:
        if math.isnan(delay) or math.isnan(loss):
            return math.nan
        part = min(loss / 100, 1.0)
        if decimal:
            # Converts a loss so that the natural logarithm gives the decimal result: lg(1 + 15p) = ln(1 + 15p').
            part = ((1 + 15 * part) ** (1 / math.log(10)) - 1) / 15
        return _native.simplified_quality(delay / 1e3, part)[1]

    def reduce(results: Results) -> pl.DataFrame:
        joined = _delay(results).join(_total(results), on="run", suffix="_loss", maintain_order="left")
        values = [opinion(delay, loss) for delay, loss in joined.select("value", "value_loss").iter_rows()]
        return joined.select("run", pl.Series("value", values, dtype=pl.Float64))

    return reduce


MOS = Measure(
    "mos_printed",
    "MOS as printed",
    "",
    _printed_mos(decimal=False),
    "higher",
    table="classes",
    limits=measures.MOS,
    scale="mos",
)
"""Paper 004's Eq. (1)–(2) for mean delay and total loss of all voice, natural logarithm, and G.107's map to MOS."""


DECIMAL_MOS = replace(
    MOS, id="mos_decimal", title="MOS as printed, decimal logarithm", reduce=_printed_mos(decimal=True)
)
"""The same with the decimal logarithm."""


def opinion(reading: Reading) -> Measure:
    """MOS as printed, by the reading's logarithm."""
    return DECIMAL_MOS if reading["logarithm"] == "decimal" else MOS


def _full_mos(results: Results) -> pl.DataFrame:
    applies = pl.col("mos").filter(pl.col("mos").is_not_nan())
    return (
        voice(results)
        .group_by("run", maintain_order=True)
        .agg(applies.mean().fill_null(math.nan).alias("value"))
    )


FULL_MOS = Measure("mos_g107", "MOS, full G.107", "", _full_mos, "higher", limits=measures.MOS, scale="mos")
"""ITU-T G.107 per call with its loss, burst ratio, playout and G.711 Appendix I; mean over calls."""


def _unsettled(results: Results) -> pl.DataFrame:
    """Per class at scarce links: packets that neither left, were dropped nor wait."""
    rows = _class_rows(results, None)
    rest = (
        pl.col("arrivals")
        - pl.col("served")
        - pl.col("dropped_overflow")
        - pl.col("dropped_early")
        - pl.col("waiting")
    )
    return rows.group_by("run", maintain_order=True).agg(rest.abs().sum().alias("value"))


UNSETTLED = Measure("unsettled", "packets unaccounted for", "", _unsettled, "lower", table="classes")
"""Arrivals less served, dropped and waiting, absolute, over classes and scarce links: 0 in every run."""


def _rows_in_flight(results: Results) -> pl.DataFrame:
    rest = pl.col("packets_sent") - pl.col("units_received") - pl.col("dropped") - pl.col("lost")
    return voice(results).group_by("run", maintain_order=True).agg(rest.sum().alias("value"))


IN_FLIGHT = Measure("in_flight", "voice packets on their way at the end", "", _rows_in_flight)
"""Sent minus received, dropped and lost: the packets still in queues and on wires at the end of the run."""
