"""The quantities that paper 002 plots, and the scores of a judge of losses.

The simulator measures flows, groups and links; this module combines them as in §4.2 of the paper. All measures begin at
2 s: for units the time of creation counts, for packets the time of sending.

**Packets of the application.** §4.2 divides by the packets sent by the application. This includes units that the
transport still holds at the end of a run. Over TFRC and TCP, which make a video wait, many flows on a link leave most
units waiting. The simulator counts as *in flight* every unit that may still arrive. That is up to a round trip's worth
over a transport that holds nothing back, and the whole backlog over one that does. So the application's units are
`units_sent` + `units_in_flight`. The units that never left the sender are its backlog (TFRC, DVRC), or all that have
not arrived (TCP, which sends them until they do).
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from fairwave.measuring import measures
from fairwave.measuring.measures import Measure
from fairwave.tables import Table
from fairwave_studies.video.points import SHARING, SPREAD_TRIPS_MS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.results import Results

VIDEO, FTP, TCP = "video", "ftp", "tcp"

R2 = "r2>r3"
"""The link out of router R2, which video and cross traffic share."""

THRESHOLD_S, NOTICEABLE_S = 0.075, 0.05
"""Gaps beyond which playback is 'notably degraded', and below which 'jitter effects are not noticeable'."""

PAYLOAD_SHARE = 1000 / 1040
"""Payload share of the bytes that full TCP segments put on the wire."""


def _goodput(group: str) -> Measure:
    return measures.group_column(
        "goodput_bps", "goodput", group, "Mb/s", 1e-6, id=f"goodput-{group}", better="higher"
    )


GOODPUT = _goodput(VIDEO)
FAIRNESS = measures.group_column("jain", "fairness (Jain)", VIDEO, id="fairness", better="higher")
WORST_CASE = measures.worst_case_fairness(VIDEO)
COV = measures.cov(VIDEO)
DROPS = measures.packet_loss(VIDEO)
LOST_UNITS = measures.loss(VIDEO)
JITTER = measures.jitter(VIDEO)
DELAY = measures.delay(VIDEO)
USE = measures.link("utilisation", R2, "use of the link out of R2", "%", 100)


def _video_rows(results: Results, table: str = "flows") -> pl.DataFrame:
    return results.to_polars(table).filter(pl.col("group").cast(pl.String) == VIDEO)


ON_THE_WAY_S = 0.1
"""Approximate time of a packet in the network, seconds: separates packets in the network from those in the sender."""


def accounts(results: Results) -> pl.DataFrame:
    """The fate of all units of the videos' application, per run.

    Columns: `run`; in units `made`, `received`, `lost` (in the network, not sent again) and `never_left`; `drop_rate`:
    packets dropped by queues and links, repetitions included, per packet that left, repetitions not included.
    """
    rows = _video_rows(results)
    undelivered = pl.col("units_waiting") + pl.col("units_in_flight")
    backlog, on_the_way = pl.col("sender_backlog"), pl.col("goodput_bps") * ON_THE_WAY_S / 8
    total = backlog + on_the_way
    held = pl.when(backlog.is_null()).then(1.0).when(total > 0).then(backlog / total).otherwise(0.0)
    flows = rows.select(
        "run",
        (pl.col("units_sent") + pl.col("units_in_flight")).alias("made"),
        pl.col("units_received").alias("received"),
        pl.col("units_lost").alias("lost"),
        (undelivered * held).alias("never_left"),
        (pl.col("packets_sent") - pl.col("packets_retransmitted")).alias("first"),
        (pl.col("dropped") + pl.col("lost")).alias("dropped"),
    )
    wanted = ("made", "received", "lost", "never_left", "first", "dropped")
    sums = flows.group_by("run", maintain_order=True).agg(pl.col(one).sum() for one in wanted)
    rate = pl.when(pl.col("first") > 0).then(pl.col("dropped") / pl.col("first")).otherwise(0.0)
    return sums.select("run", "made", "received", "lost", "never_left", rate.alias("drop_rate"))


def _part_of_made(name: str, title: str, part: pl.Expr) -> Measure:
    def reduce(results: Results) -> pl.DataFrame:
        share = pl.when(pl.col("made") > 0).then(part / pl.col("made") * 100).otherwise(math.nan)
        return accounts(results).select("run", share.alias("value"))

    return Measure(name, title, "%", reduce, "lower", limits=measures.PERCENT)


DROPPED_OF_MADE = _part_of_made(
    "dropped-of-made",
    "packets lost in the network, of all made",
    pl.col("drop_rate") * (pl.col("made") - pl.col("never_left")),
)
MISSING_OF_MADE = _part_of_made(
    "missing-of-made", "lost or never sent, of all made", pl.col("lost") + pl.col("never_left")
)
NEVER_LEFT = _part_of_made("never-left", "never sent, of all made", pl.col("never_left"))


def _share_of_made(part: Literal["timely", "delayed"], reading: Literal["gap", "excess-gap"]) -> Measure:
    """Units in time, or late, of all that the application made."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = _video_rows(results, "timeliness").filter(
            (pl.col("reading").cast(pl.String) == reading)
            & ((pl.col("threshold_s") - THRESHOLD_S).abs() < 1e-6)
        )
        counted = rows.group_by("run", maintain_order=True).agg(pl.col(part).sum().alias("count"))
        joined = accounts(results).join(counted, on="run", how="left", maintain_order="left")
        share = pl.when(pl.col("made") > 0).then(pl.col("count") / pl.col("made")).otherwise(math.nan)
        return joined.select("run", (share * (1 if part == "timely" else 100)).alias("value"))

    words = "" if reading == "gap" else ", excess gaps"
    timely = part == "timely"
    return Measure(
        f"{part}-of-made-{reading}",
        f"{'index' if timely else 'delayed'} (of all made{words})",
        "" if timely else "%",
        reduce,
        "higher" if timely else "lower",
        table="timeliness",
        limits=measures.RATIO if timely else measures.PERCENT,
        scale="index" if timely else "delayed",
    )


INDEX = _share_of_made("timely", "gap")
INDEX_EXCESS = _share_of_made("timely", "excess-gap")
DELAYED = _share_of_made("delayed", "gap")
DELAYED_EXCESS = _share_of_made("delayed", "excess-gap")


def _frame_measure(column: str, title: str, unit: str = "", scale: float = 1.0) -> Measure:
    """A column that is measured over the frames of each video, mean over videos."""

    def reduce(results: Results) -> pl.DataFrame:
        known = pl.col(column).filter(pl.col(column).is_not_nan())
        mean = (known.mean() * scale).fill_null(math.nan)
        return _video_rows(results).group_by("run", maintain_order=True).agg(mean.alias("value"))

    return Measure(column, title, unit, reduce, "higher")


DECODABLE = _frame_measure("decodable_ratio", "frames that can be decoded", "%", 100)
DECODABLE_LAYERS = _frame_measure("decodable_layers", "decodable layers per frame")


def timely_of_received(threshold_s: float, reading: Literal["gap", "excess-gap"]) -> Measure:
    """Units that arrived within the threshold, in % of those that arrived."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = _video_rows(results, "timeliness").filter(
            (pl.col("reading").cast(pl.String) == reading)
            & ((pl.col("threshold_s") - threshold_s).abs() < 1e-6)
        )
        timely, all_ = pl.col("timely").sum(), (pl.col("timely") + pl.col("delayed")).sum()
        share = pl.when(all_ > 0).then(timely / all_ * 100).otherwise(math.nan)
        return rows.group_by("run", maintain_order=True).agg(share.alias("value"))

    words = {"gap": "gaps", "excess-gap": "excess gaps"}[reading]
    title = f"{words} up to {threshold_s * 1e3:g} ms"
    return Measure(
        f"within-{threshold_s * 1e3:g}-{reading}", title, "%", reduce, "higher", table="timeliness"
    )


LATE_OF_RECEIVED = Measure(
    "late-of-received",
    "late, of what arrived",
    "%",
    lambda results: (
        timely_of_received(THRESHOLD_S, "gap")
        .reduce(results)
        .select("run", (100 - pl.col("value")).alias("value"))
    ),
    "lower",
    table="timeliness",
)

UNNOTICED = timely_of_received(NOTICEABLE_S, "gap")
UNNOTICED_EXCESS = timely_of_received(NOTICEABLE_S, "excess-gap")


def _frame(measure: Measure, results: Results) -> pl.DataFrame:
    """A measure of each run as a polars frame: columns `run` and `value`."""
    return Table.from_columns(measure.reduce(results)).to_polars()


def _share_of_sent(part: Literal["timely", "delayed"], reading: Literal["gap", "excess-gap"]) -> Measure:
    """Units in time, or late, as a share of those put on the network, without those that the sender holds back."""

    def reduce(results: Results) -> pl.DataFrame:
        timely = _frame(timely_of_received(THRESHOLD_S, reading), results)
        lost = _frame(DROPS, results).rename({"value": "lost"})
        arrived = 1 - pl.col("lost") / 100
        share = pl.col("value") / 100 * arrived if part == "timely" else (100 - pl.col("value")) * arrived
        joined = timely.join(lost, on="run", how="left", maintain_order="left")
        return joined.select("run", share.alias("value"))

    words = "" if reading == "gap" else ", excess gaps"
    name, unit = ("index", "") if part == "timely" else ("delayed", "%")
    title = f"{name} (of what left the sender{words})"
    better: Literal["higher", "lower"] = "higher" if part == "timely" else "lower"
    limits = measures.RATIO if part == "timely" else measures.PERCENT
    return Measure(
        f"{part}-of-sent-{reading}",
        title,
        unit,
        reduce,
        better,
        table="timeliness",
        limits=limits,
        scale="index" if part == "timely" else "delayed",
    )


INDEX_OF_SENT = _share_of_sent("timely", "gap")
INDEX_OF_SENT_EXCESS = _share_of_sent("timely", "excess-gap")
DELAYED_OF_SENT = _share_of_sent("delayed", "gap")
DELAYED_OF_SENT_EXCESS = _share_of_sent("delayed", "excess-gap")


def normalised(group: str, megabits: float) -> Measure:
    """Normalised throughput: a flow's mean goodput over B/n, its share among the n flows of all groups forward.

    B is the bottleneck's capacity for payload in full TCP segments.
    """

    def reduce(results: Results) -> pl.DataFrame:
        groups = results.to_polars("groups").with_columns(pl.col("group").cast(pl.String))
        everybody = groups.group_by("run", maintain_order=True).agg(pl.col("flows").sum().alias("n"))
        share = megabits * 1e6 * PAYLOAD_SHARE / pl.col("n")
        own = groups.filter(pl.col("group") == group).join(everybody, on="run", how="left")
        value = pl.col("goodput_bps") / pl.col("flows") / share
        return own.select("run", value.alias("value"))

    return Measure(f"normalised-{group}", f"normalised throughput, {group}", "", reduce, table="groups")


def flow_goodput(group: str) -> Measure:
    """Mean goodput of a group's flows, kb/s."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars("groups").filter(pl.col("group").cast(pl.String) == group)
        value = pl.col("goodput_bps") / pl.col("flows") / 1e3
        return rows.select("run", value.alias("value"))

    return Measure(
        f"per-flow-{group}", f"goodput per flow, {group}", "kb/s", reduce, "higher", table="groups"
    )


def trace(kind: str, name: str, title: str, unit: str, scale: float = 1.0) -> Measure:
    """A series of a flow or a link over the axis `time` (s)."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars("series").filter(
            (pl.col("kind").cast(pl.String) == kind) & (pl.col("name").cast(pl.String) == name)
        )
        return rows.select("run", pl.col("time_s").alias("time"), (pl.col("value") * scale).alias("value"))

    return Measure(f"{kind}-{name}", title, unit, reduce, None, ("time",), "series")


RATE = {
    name: trace("goodput_bps", name, f"goodput of {name}", "kb/s", 1e-3)
    for name in ("video[0]", "ftp[0]", "ftp[1]")
}
RECEIVING = trace("receive_bps", "video[0]", "receiving rate", "kb/s", 1e-3)
BOUND = trace("bound_bps", "video[0]", "R̄ − n·D̄", "kb/s", 1e-3)
QUEUE = trace("queue_packets", R2, "queue of R2", "packets")
LAYERS = trace("layers", "video[0]", "layers sent", "")

JUDGEMENTS = ("congestion_as_congestion", "congestion_as_random", "random_as_congestion", "random_as_random")


def _ratio(id: str, title: str, part: str, *whole: str) -> Measure:  # noqa: A002  # it is the measure's id
    def reduce(results: Results) -> pl.DataFrame:
        rows = _video_rows(results)
        total = pl.sum_horizontal(pl.col(one).sum() for one in whole)
        share = pl.when(total > 0).then(pl.col(part).sum() / total * 100).otherwise(math.nan)
        return rows.group_by("run", maintain_order=True).agg(share.alias("value"))

    return Measure(id, title, "%", reduce, "higher")


CC, CR, RC, RR = JUDGEMENTS
RECALL_CONGESTION = _ratio("recall-congestion", "recall of congestion", CC, CC, CR)
RECALL_RANDOM = _ratio("recall-random", "recall of random loss", RR, RR, RC)
PRECISION_CONGESTION = _ratio("precision-congestion", "precision of congestion", CC, CC, RC)
PRECISION_RANDOM = _ratio("precision-random", "precision of random loss", RR, RR, CR)
SCORES = (PRECISION_CONGESTION, RECALL_CONGESTION, PRECISION_RANDOM, RECALL_RANDOM)


def _informedness(results: Results) -> pl.DataFrame:
    congestion, random = (_frame(one, results) for one in (RECALL_CONGESTION, RECALL_RANDOM))
    joined = congestion.join(random, on="run", suffix="_random", maintain_order="left")
    return joined.select("run", (pl.col("value") + pl.col("value_random") - 100).alias("value"))


INFORMEDNESS = Measure("informedness", "informedness", "%", _informedness, "higher")
"""Both recalls together less 100 %: 0 for a judge without regard to the cause, 100 for one who is always right."""


def _judged_random(results: Results) -> pl.DataFrame:
    rows = _video_rows(results)
    total = pl.sum_horizontal(pl.col(one).sum() for one in JUDGEMENTS)
    share = pl.when(total > 0).then((pl.col(CR) + pl.col(RR)).sum() / total * 100).otherwise(math.nan)
    return rows.group_by("run", maintain_order=True).agg(share.alias("value"))


JUDGED_RANDOM = Measure("judged-random", "losses above the bound", "%", _judged_random)
"""Of all losses that the receiver judged, whatever their cause."""


def _causes(results: Results) -> pl.DataFrame:
    names = {
        CC: "dropped by a queue, taken for congestion",
        CR: "dropped by a queue, taken for random",
        RC: "lost on the link, taken for congestion",
        RR: "lost on the link, taken for random",
    }
    rows = (
        _video_rows(results).group_by("run", maintain_order=True).agg(pl.col(one).sum() for one in JUDGEMENTS)
    )
    return rows.rename(names).unpivot(index="run", variable_name="losses", value_name="value")


CAUSES = Measure("causes", "losses", "packets", _causes, None, ("losses",))


def with_jitter(units: pl.DataFrame) -> pl.DataFrame:
    """The units of one run that arrived, in order of arrival: `time`, `gap_s`, `difference_s` and `jitter_s`.

    |D(i, j)| of Eq. (12) between each unit and the next; J of Eq. (13) after it, J ← 15/16 J + 1/16 |D| from zero on.
    """
    transit = pl.col("arrived_s") - pl.col("created_s")
    arrived = units.filter(pl.col("fate").cast(pl.String) == "arrived").sort("arrived_s", maintain_order=True)
    found = arrived.select(
        pl.col("arrived_s").alias("time"),
        pl.col("arrived_s").diff().alias("gap_s"),
        transit.diff().abs().fill_null(0.0).alias("difference_s"),
    )
    # The first difference is a zero of ours, so that the mean begins at zero.
    smoothed = pl.col("difference_s").ewm_mean(alpha=1 / 16, adjust=False)
    return found.with_columns(smoothed.alias("jitter_s"))[1:]


def arrivals(results: Results, run: int) -> pl.DataFrame:
    """What `with_jitter` finds in a run."""
    return with_jitter(results.to_polars("units").filter(pl.col("run") == run))


def _largest_jitter(results: Results) -> pl.DataFrame:
    rows = []
    for (run,), units in results.to_polars("units").group_by("run", maintain_order=True):
        found = with_jitter(units).filter(pl.col("time") >= 2)["jitter_s"].to_numpy()
        rows.append({"run": run, "value": float(found.max()) * 1e3 if len(found) else math.nan})
    return pl.DataFrame(rows, schema={"run": pl.Int64, "value": pl.Float64})


LARGEST_JITTER = Measure("largest-jitter", "largest jitter", "ms", _largest_jitter, "lower", table="units")
"""The most that J of Eq. (13) comes to after 2 s."""


def round_trips_ms() -> NDArray[np.float64]:
    """Round trips without queueing of the flows that differ in them, ms, flow by flow."""
    return np.linspace(*SPREAD_TRIPS_MS, SHARING)


def _round_trip_rows(results: Results) -> pl.DataFrame:
    rows = _video_rows(results).sort("run", "flow")
    trips = pl.Series("round trip", round_trips_ms().round(1))
    return rows.select(
        "run",
        trips.gather(rows["flow"].to_list()).alias("round trip"),
        (pl.col("goodput_bps") / 1e3).alias("value"),
    )


BY_ROUND_TRIP = Measure("by-round-trip", "goodput", "kb/s", _round_trip_rows, None, ("round trip",))


def _exponent(results: Results) -> pl.DataFrame:
    trips = np.log(round_trips_ms())
    rows = []
    for (run,), flows in _video_rows(results).sort("run", "flow").group_by("run", maintain_order=True):
        rates = flows["goodput_bps"].to_numpy()
        slope = float(np.polyfit(trips, np.log(rates), 1)[0]) if (rates > 0).all() else math.nan
        rows.append({"run": run, "value": slope})
    return pl.DataFrame(rows, schema={"run": pl.Int64, "value": pl.Float64})


EXPONENT = Measure("exponent", "exponent of the round trip in goodput", "", _exponent)
"""Slope of log goodput over log round trip: 0 is fair to all, −1 a rate that is inverse to the round trip."""


def _time_at_layers(results: Results) -> pl.DataFrame:
    rows = results.to_polars("series").filter(
        (pl.col("kind").cast(pl.String) == "layers") & (pl.col("time_s") >= 2)
    )
    count = rows.group_by("run", pl.col("value").cast(pl.Int64).alias("layers"), maintain_order=True).len()
    every = rows.select(pl.col("run").unique(maintain_order=True)).join(
        pl.DataFrame({"layers": list(range(1, 6))}), how="cross"
    )
    share = pl.col("len").fill_null(0) / pl.col("len").sum().over("run") * 100
    return every.join(count, on=["run", "layers"], how="left", maintain_order="left").select(
        "run", "layers", share.alias("value")
    )


TIME_AT_LAYERS = Measure(
    "time-at-layers", "time at so many layers", "%", _time_at_layers, None, ("layers",), "series"
)


def _mean_layers(results: Results) -> pl.DataFrame:
    rows = results.to_polars("series").filter(
        (pl.col("kind").cast(pl.String) == "layers") & (pl.col("time_s") >= 2)
    )
    return rows.group_by("run", maintain_order=True).agg(pl.col("value").mean())


def _layer_changes(results: Results) -> pl.DataFrame:
    rows = results.to_polars("series").filter(
        (pl.col("kind").cast(pl.String) == "layers") & (pl.col("time_s") >= 2)
    )
    per_flow_ = (
        rows.sort("run", "name", "time_s")
        .group_by("run", "name", maintain_order=True)
        .agg(
            (
                (pl.col("value").diff() != 0).sum() / (pl.col("time_s").max() - pl.col("time_s").min()) * 60
            ).alias("value")
        )
    )
    return per_flow_.group_by("run", maintain_order=True).agg(pl.col("value").mean())


MEAN_LAYERS = Measure("mean-layers", "layers sent, mean", "", _mean_layers, "higher", table="series")
LAYER_CHANGES = Measure(
    "layer-changes", "changes of layers", "1/min", _layer_changes, "lower", table="series"
)


CAPACITY = 100.0
"""Packets that R2's buffer holds: 10 Mb/s times 80 ms."""


def _queue(results: Results) -> pl.DataFrame:
    return results.to_polars("series").filter(
        (pl.col("kind").cast(pl.String) == "queue_packets") & (pl.col("time_s") >= 2)
    )


@cache
def queue_share(below: float, title: str, capacity: float = CAPACITY) -> Measure:
    """Share of the time after 2 s with fewer than `below` of its capacity (packets) in the queue of R2, %."""

    def reduce(results: Results) -> pl.DataFrame:
        return (
            _queue(results)
            .group_by("run", maintain_order=True)
            .agg(((pl.col("value") < below * capacity).mean() * 100).alias("value"))
        )

    return Measure(f"queue-below-{below:g}", title, "%", reduce, None, (), "series")


@cache
def drains(low: float, title: str, capacity: float = CAPACITY) -> Measure:
    """How often per minute the queue of R2 falls below `low` of its capacity after three quarters of it were full."""

    def reduce(results: Results) -> pl.DataFrame:
        found = []
        for (run,), series in _queue(results).group_by("run", maintain_order=True):
            times, queue = (series.sort("time_s")[name].to_numpy() for name in ("time_s", "value"))
            # 1 full, −1 drained, nothing in between; a drain is a change from 1 to −1.
            state = np.where(queue > 0.75 * capacity, 1, np.where(queue < low * capacity, -1, 0))
            state = state[state != 0]
            count = int(((state[1:] == -1) & (state[:-1] == 1)).sum())
            found.append({"run": run, "value": count / (times[-1] - times[0]) * 60})
        return pl.DataFrame(found, schema={"run": pl.Int64, "value": pl.Float64})

    return Measure(f"drains-{low:g}", title, "1/min", reduce, None, (), "series")


TO_A_QUARTER, TO_A_HALF = "drains of R2's queue", "drains of R2's queue to a half"
SPARE = "time with less than three quarters of R2's buffer full"
DRAINS, DRAINS_HALF = drains(0.25, TO_A_QUARTER), drains(0.5, TO_A_HALF)
NOT_FULL = queue_share(0.75, SPARE)


def _timeouts(results: Results) -> pl.DataFrame:
    rows = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == FTP)
    mean = pl.col("timeouts").cast(pl.Float64).mean()
    return rows.group_by("run", maintain_order=True).agg(mean.alias("value"))


TIMEOUTS = Measure("timeouts", "timeouts of a TCP flow", "", _timeouts, "lower")
COV_TCP = measures.cov(FTP)


def _swing(results: Results) -> pl.DataFrame:
    return _queue(results).group_by("run", maintain_order=True).agg(pl.col("value").std().alias("value"))


SWING = Measure(
    "queue-swing", "swing of R2's queue (standard deviation)", "packets", _swing, "lower", table="series"
)
