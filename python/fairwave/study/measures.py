"""Measures over a run's flows and links, each defined once: from tables of rows to one number per run.

What concerns a single flow (delay, jitter, timeliness, R) or a group as such (fairness) is measured by the simulator,
which defines each measure once; here flows of a group are put together as papers 000–004 do: totals, and shares of what
the application sent. A measure that is not defined for a run (no flow of the group, nothing sent) is null there, never
NaN, and is left out of means, which say how many they left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from fairwave.study.measured import Measured

if TYPE_CHECKING:
    from fairwave.results import Results

Reading = Literal["gap", "excess-gap", "delay", "sequence"]
"""How *timely* is read: gap to the previous arrival (paper 000 §4.3), gap in excess of the sender's own, one-way delay,
gap to the unit numbered one less (paper 001, Algorithm 1 to the letter: late where that one never came)."""

READINGS: tuple[Reading, ...] = ("gap", "excess-gap", "delay", "sequence")

TIMELINESS = "timeliness"

Part = Literal["timely", "delayed"]

Limits = tuple[float, float]
"""Least and most that a measure can be, in its unit; infinite where nothing bounds it."""

UNBOUNDED: Limits = (-math.inf, math.inf)
POSITIVE: Limits = (0.0, math.inf)
RATIO: Limits = (0.0, 1.0)
PERCENT: Limits = (0.0, 100.0)
MOS: Limits = (1.0, 4.5)
"""ITU-T G.107 Annex B: the opinion scores that a rating comes to."""
R: Limits = (0.0, 129.0)
"""ITU-T G.107 and, for wideband calls, G.107.1."""

Reduction = Callable[["Results"], pl.DataFrame]
"""From results to columns `run`, `value` and, for measures with axes of their own, those."""


@dataclass(frozen=True)
class Measure:
    """A number per run.

    Attributes:
        id: Short name, unique within a study.
        title: Name for axes and tables, without unit.
        unit: Unit, empty for a plain number.
        reduce: The definition.
        better: Which direction is good for whoever calls; None when it depends.
        axes: Columns besides `run` and `value` that `reduce` leaves, as the threshold of timeliness.
        table: The table that it reads; where the runs left none, the measure does not apply.
        limits: Least and most that it can be: axes begin at the least, and intervals are drawn no further.
        scale: Measures of the same scale are drawn on the same axis; `id` when empty.
    """

    id: str
    title: str
    unit: str
    reduce: Reduction
    better: Literal["higher", "lower"] | None = None
    axes: tuple[str, ...] = ()
    table: str = "flows"
    limits: Limits = UNBOUNDED
    scale: str = ""

    @property
    def label(self) -> str:
        """Title with unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def _nothing(self) -> pl.DataFrame:
        columns = {"run": pl.Int64, **dict.fromkeys(self.axes, pl.Float64), "value": pl.Float64}
        return pl.DataFrame(schema=columns)

    def over(self, results: Results) -> Measured:
        """The measure in every run of `results`."""
        runs = results.to_polars("runs").select("run", *results.axes, "seed")
        values = (self.reduce(results) if self.table in results.tables else self._nothing()).select(
            "run", *self.axes, pl.col("value").cast(pl.Float64)
        )
        joined = runs.join(values, on="run", how="left", maintain_order="left_right")
        # A definition may divide nothing by nothing: whatever is not a number is not defined.
        frame = joined.select(*results.axes, *self.axes, "seed", pl.col("value").fill_nan(None))
        return Measured(self, (*results.axes, *self.axes), frame)


def _of_group(results: Results, group: str | None, table: str = "flows") -> pl.DataFrame:
    frame = results.to_polars(table)
    return frame if group is None else frame.filter(pl.col("group").cast(pl.String) == group)


def _per_flow(group: str | None, value: pl.Expr) -> Reduction:
    return lambda results: (
        _of_group(results, group).group_by("run", maintain_order=True).agg(value.alias("value"))
    )


def _per_row(table: str, group: str | None, value: pl.Expr) -> Reduction:
    return lambda results: (
        _of_group(results, group, table).group_by("run", maintain_order=True).agg(value.alias("value"))
    )


def _name(what: str, group: str | None) -> str:
    return f"{group} {what}" if group else what


def _share(part: pl.Expr, whole: pl.Expr, scale: float = 1.0) -> pl.Expr:
    """Sum over sum; not defined when the whole is nothing."""
    return pl.when(whole.sum() > 0).then(part.sum() / whole.sum() * scale)


def _mean(column: str, scale: float = 1.0) -> pl.Expr:
    return pl.col(column).fill_nan(None).mean() * scale


def goodput(group: str | None = None) -> Measure:
    """Payload delivered to the group's applications from the first flow's beginning to the last one's end, in Mb/s."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = _of_group(results, group, "groups")
        # A group of which no flow was on has none.
        on = pl.col("goodput_bps").filter(pl.col("goodput_bps").is_not_nan())
        total = pl.when(on.len() > 0).then(on.sum() / 1e6).otherwise(math.nan)
        return rows.group_by("run", maintain_order=True).agg(total.alias("value"))

    return Measure(
        "goodput", _name("goodput", group), "Mb/s", reduce, "higher", table="groups", limits=POSITIVE
    )


def goodput_per_flow(group: str | None = None) -> Measure:
    """Payload delivered per flow of the group while it was on, mean, in kb/s."""
    return Measure(
        "goodput_per_flow",
        _name("goodput per flow", group),
        "kb/s",
        _per_flow(group, _mean("goodput_bps", 1e-3)),
        "higher",
        limits=POSITIVE,
    )


def fairness(group: str | None = None) -> Measure:
    """Jain's index of the flows' goodputs, (Σx)² / (n Σx²): 1 when all have the same, 1/n when one has all."""
    return of_group("jain", "fairness (Jain)", group, id="fairness", better="higher", limits=RATIO)


def worst_case_fairness(group: str | None = None) -> Measure:
    """Smallest over largest goodput among the flows (paper 002)."""
    return of_group("worst_case_fairness", "worst-case fairness", group, better="higher", limits=RATIO)


def short_term_fairness(group: str | None = None) -> Measure:
    """Mean of Jain's index per bin after the warm-up; needs a scenario that records bins."""
    return of_group("short_term_fairness", "short-term fairness", group, better="higher", limits=RATIO)


def cov(group: str | None = None) -> Measure:
    """Coefficient of variation of a flow's goodput over bins after the warm-up, mean over flows; needs bins."""
    return of_group("cov", "coefficient of variation", group, better="lower", limits=POSITIVE)


def overhead(group: str | None = None) -> Measure:
    """Share of the bytes sent (on the wire, data direction) that are not payload delivered, in %."""
    return of_group("overhead", "overhead", group, "%", 100, better="lower", limits=PERCENT)


def of_group(
    column: str,
    title: str,
    group: str | None,
    unit: str = "",
    scale: float = 1.0,
    *,
    id: str = "",  # noqa: A002  # it is the measure's id
    better: Literal["higher", "lower"] | None = None,
    limits: Limits = UNBOUNDED,
    table: str = "groups",
    over: str = "",
) -> Measure:
    """A column of the `groups` table, which the simulator measures over all flows of a group.

    Args:
        column: Name of the column.
        title: Name for axes and tables, without group and unit.
        group: Which group; when None, the one that the runs have.
        unit: Unit after scaling.
        scale: Factor.
        id: Short name; the column's when empty.
        better: Which direction is good.
        limits: Least and most that it can be, after scaling.
        table: Another table with one row per group.
        over: Another column, of which it is a share.

    Raises:
        ValueError: When used: no group is named and the runs have several.
    """

    def reduce(results: Results) -> pl.DataFrame:
        rows = _of_group(results, group, table)
        if group is None and rows["group"].n_unique() > 1:
            known = ", ".join(rows["group"].cast(pl.String).unique(maintain_order=True))
            raise ValueError(f"{title} is that of one flow group; name one of {known}")
        value = pl.col(column) * scale
        if over:
            value = pl.when(pl.col(over) > 0).then(value / pl.col(over))
        return rows.select("run", value.alias("value"))

    return Measure(id or column, _name(title, group), unit, reduce, better, table=table, limits=limits)


def _with_defaults(frame: pl.DataFrame, **columns: float | None) -> pl.DataFrame:
    """The frame with columns that results of an earlier version do not have."""
    missing = {name: value for name, value in columns.items() if name not in frame.columns}
    return frame.with_columns(**{name: pl.lit(value, pl.Float64) for name, value in missing.items()})


def missed(group: str | None = None) -> Measure:
    """Packets that the user misses, in % of those sent: lost, too late to be played or shown, or still in the sender.

    Of a call this is the packet loss that the E-model takes: with the time that the jitter buffer made up for packets
    which it still played, counted in packets. Of a video it is what was lost or came after its frame was shown. Of
    other streams it is what was lost or still waits in the sender.
    """

    def reduce(results: Results) -> pl.DataFrame:
        rows = _with_defaults(
            _of_group(results, group), units_waiting=0, late_units=0, missed_ratio=None, decodable_ratio=None
        )
        sent, lost = pl.col("units_sent"), pl.col("units_lost")
        of_call, of_video = (pl.col(name).fill_nan(None) for name in ("missed_ratio", "decodable_ratio"))
        part = (
            pl.when(of_call.is_not_null())
            .then(of_call * sent)
            .when(of_video.is_not_null())
            .then(lost + pl.col("late_units"))
            .otherwise(lost + pl.col("units_waiting"))
        )
        value = _share(pl.min_horizontal(part, sent), sent, 100)
        return rows.group_by("run", maintain_order=True).agg(value.alias("value"))

    return Measure("missed", _name("packets missed", group), "%", reduce, "lower", limits=PERCENT)


def waiting(group: str | None = None) -> Measure:
    """Packets that their sender still held at the end of the run, too old to be of use, in % of those sent."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = _with_defaults(_of_group(results, group), units_waiting=0)
        value = _share(pl.col("units_waiting"), pl.col("units_sent"), 100)
        return rows.group_by("run", maintain_order=True).agg(value.alias("value"))

    return Measure(
        "waiting", _name("still waiting in the sender", group), "%", reduce, "lower", limits=PERCENT
    )


def loss(group: str | None = None) -> Measure:
    """Packets lost in the network and not sent again, in % of those sent; what the sender still holds is not lost."""
    share = _share(pl.col("units_lost"), pl.col("units_sent"), 100)
    return Measure("loss", _name("loss", group), "%", _per_flow(group, share), "lower", limits=PERCENT)


def packet_loss(group: str | None = None) -> Measure:
    """Data packets dropped by queues or lost by links, in % of those sent, retransmissions included."""
    share = _share(pl.col("dropped") + pl.col("lost"), pl.col("packets_sent"), 100)
    return Measure(
        "packet_loss", _name("packet loss", group), "%", _per_flow(group, share), "lower", limits=PERCENT
    )


def retransmitted(group: str | None = None) -> Measure:
    """Data packets sent again, in % of those sent."""
    share = _share(pl.col("packets_retransmitted"), pl.col("packets_sent"), 100)
    return Measure(
        "retransmitted", _name("retransmitted", group), "%", _per_flow(group, share), "lower", limits=PERCENT
    )


def delay(group: str | None = None) -> Measure:
    """One-way delay of received units, application to application, in ms: mean over units."""
    each = pl.col("delay_mean_s").fill_nan(None)
    received = pl.col("units_received").filter(each.is_not_null()).sum()
    mean = pl.when(received > 0).then((each * pl.col("units_received")).sum() / received * 1e3)
    return Measure("delay", _name("delay", group), "ms", _per_flow(group, mean), "lower", limits=POSITIVE)


def delay_p95(group: str | None = None) -> Measure:
    """95th percentile of each flow's one-way delay, mean over flows, in ms."""
    return Measure(
        "delay_p95",
        _name("delay, 95th percentile", group),
        "ms",
        _per_flow(group, _mean("delay_p95_s", 1e3)),
        "lower",
        limits=POSITIVE,
    )


def jitter(group: str | None = None) -> Measure:
    """Interarrival jitter of RFC 3550, mean over the units received and over flows, in ms."""
    return Measure(
        "jitter",
        _name("jitter (RFC 3550)", group),
        "ms",
        _per_flow(group, _mean("jitter_s", 1e3)),
        "lower",
        limits=POSITIVE,
    )


def late_for_playout(group: str | None = None) -> Measure:
    """Packets of calls that came too late to be played, or still wait in the sender, in % of those not lost."""
    calls = pl.col("missed_ratio").fill_nan(None).is_not_null()
    late, sent, lost = (pl.col(name).filter(calls) for name in ("late_units", "units_sent", "units_lost"))
    share = _share(late, sent - lost, 100)
    return Measure(
        "late_for_playout",
        _name("late for playout", group),
        "%",
        _per_flow(group, share),
        "lower",
        limits=PERCENT,
    )


def mouth_to_ear(group: str | None = None) -> Measure:
    """Delay from mouth to ear, in ms: packet time, coder and from making to playing, mean over units, then calls."""
    return Measure(
        "mouth_to_ear",
        _name("mouth to ear", group),
        "ms",
        _per_flow(group, _mean("mouth_to_ear_s", 1e3)),
        "lower",
        limits=POSITIVE,
    )


CAUSES = ("codec", "delay", "loss", "lateness")
"""What a call's R is less for, in the order in which it is told."""


def r_cost(cause: str, group: str | None = None) -> Measure:
    """Points of R that one of `CAUSES` costs, mean over calls; together with R they make what a perfect call has."""
    return Measure(
        f"r_cost_{cause}",
        _name(f"R lost to {cause}", group),
        "",
        _per_flow(group, _mean(f"r_cost_{cause}")),
        "lower",
        limits=POSITIVE,
        scale="r_cost",
    )


def r_factor(group: str | None = None) -> Measure:
    """E-model rating R, 0 to 100 (wideband calls: to 129), mean over the calls that have one."""
    return Measure(
        "r_factor", _name("E-model R", group), "", _per_flow(group, _mean("r_factor")), "higher", limits=R
    )


def mos(group: str | None = None) -> Measure:
    """Mean opinion score that the E-model estimates, 1 to 4.5, mean over the calls that have one."""
    return Measure(
        "mos", _name("MOS (E-model)", group), "", _per_flow(group, _mean("mos")), "higher", limits=MOS
    )


def _of_worst(column: pl.Expr, worst: Literal["min", "max"], scale: float = 1.0) -> pl.Expr:
    """That of the flow that has it worst; it does not apply to a single flow."""
    applies = column.filter(column.is_not_nan())
    value = applies.min() if worst == "min" else applies.max()
    return pl.when(applies.len() > 1).then(value * scale).otherwise(math.nan)


def worst_mos(group: str | None = None) -> Measure:
    """MOS of the call that has the least, of several."""
    mean = _of_worst(pl.col("mos"), "min")
    return Measure(
        "worst_mos",
        _name("MOS of the worst call", group),
        "",
        _per_flow(group, mean),
        "higher",
        limits=MOS,
        scale="mos",
    )


def worst_loss(group: str | None = None) -> Measure:
    """Loss in % of the flow that loses most, of several; flows that sent nothing have none."""
    share = pl.when(pl.col("units_sent") > 0).then(pl.col("units_lost") / pl.col("units_sent"))
    worst = _of_worst(share.otherwise(math.nan), "max", 100)
    return Measure(
        "worst_loss",
        _name("loss of the worst flow", group),
        "%",
        _per_flow(group, worst),
        "lower",
        limits=PERCENT,
        scale="loss",
    )


def worst_goodput(group: str | None = None) -> Measure:
    """Goodput in kb/s of the flow that gets least, of several."""
    least = _of_worst(pl.col("goodput_bps"), "min", 1e-3)
    return Measure(
        "worst_goodput",
        _name("goodput of the worst flow", group),
        "kb/s",
        _per_flow(group, least),
        "higher",
        limits=POSITIVE,
    )


def index(group: str | None = None, reading: Reading = "delay", threshold_s: float | None = None) -> Measure:
    """Real-time performance index (paper 002: video delivery index): timely units over units sent by the application.

    It is the mean of the flows' own indices, as papers 000 and 001 take it; flows that sent nothing have none.

    Args:
        group: Name of the flow group; all flows when None.
        reading: What *timely* means.
        threshold_s: The threshold in seconds; the scenario's first when None.
    """
    title = _name(f"index ({_in_words(reading)})", group)
    return Measure(
        f"index_{reading}",
        title,
        "",
        _timeliness("timely", group, reading, threshold_s),
        "higher",
        table=TIMELINESS,
        limits=RATIO,
        scale="index",
    )


def index_gap(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the previous arrival (papers 000, 002), 0 to 1."""
    return index(group, "gap")


def index_excess_gap(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the previous arrival in excess of the sender's own, 0 to 1."""
    return index(group, "excess-gap")


def index_sequence(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the unit numbered one less (paper 001, Algorithm 1), 0 to 1."""
    return index(group, "sequence")


def delayed(
    group: str | None = None, reading: Reading = "delay", threshold_s: float | None = None
) -> Measure:
    """Units that arrived later than the threshold allows, in % of those sent. Arguments as for `index`."""
    title = _name(f"delayed ({_in_words(reading)})", group)
    reduction = _timeliness("delayed", group, reading, threshold_s)
    return Measure(
        f"delayed_{reading}",
        title,
        "%",
        reduction,
        "lower",
        table=TIMELINESS,
        limits=PERCENT,
        scale="delayed",
    )


def index_by_threshold(group: str | None = None, reading: Reading = "delay") -> Measure:
    """The real-time index at every threshold of the scenario, which becomes the axis `threshold` (in ms)."""
    title = _name(f"index ({_in_words(reading)})", group)
    return Measure(
        f"index_by_threshold_{reading}",
        title,
        "",
        _by_threshold("timely", group, reading),
        "higher",
        ("threshold",),
        TIMELINESS,
        RATIO,
        "index",
    )


def delayed_by_threshold(group: str | None = None, reading: Reading = "delay") -> Measure:
    """Delayed units in % of those sent at every threshold of the scenario, the axis `threshold` (in ms)."""
    title = _name(f"delayed ({_in_words(reading)})", group)
    reduction = _by_threshold("delayed", group, reading)
    return Measure(
        f"delayed_by_threshold_{reading}",
        title,
        "%",
        reduction,
        "lower",
        ("threshold",),
        TIMELINESS,
        PERCENT,
        "delayed",
    )


COMPLETIONS = "completions"


def completion(group: str | None = None) -> Measure:
    """Completion time of the group's transfers, or load time of its pages, in s: mean over those completed.

    What is unfinished has none and is left out; `unfinished` says how much that is.
    """
    return of_group(
        "mean_s", "completion time", group, "s", id="completion", better="lower", limits=POSITIVE, table=COMPLETIONS
    )  # fmt: skip


def completion_median(group: str | None = None) -> Measure:
    """Median completion time of the group's transfers or pages that were completed, in s."""
    return of_group(
        "p50_s", "completion time, median", group, "s", id="completion_median", better="lower", limits=POSITIVE,
        table=COMPLETIONS,
    )  # fmt: skip


def completion_p95(group: str | None = None) -> Measure:
    """95th percentile of the completion times of the group's transfers or pages that were completed, in s."""
    return of_group(
        "p95_s", "completion time, 95th percentile", group, "s", id="completion_p95", better="lower",
        limits=POSITIVE, table=COMPLETIONS,
    )  # fmt: skip


def slowdown(group: str | None = None) -> Measure:
    """Completion time over the time of the payload alone at the narrowest link's rate, mean over those completed."""
    return of_group("slowdown", "slowdown", group, better="lower", limits=POSITIVE, table=COMPLETIONS)


def unfinished(group: str | None = None) -> Measure:
    """Transfers or pages that were under way when the run ended, in % of those begun or refused."""
    return of_group(
        "unfinished", "unfinished", group, "%", 100, better="lower", limits=PERCENT, table=COMPLETIONS,
        over="transfers",
    )  # fmt: skip


def refused(group: str | None = None) -> Measure:
    """Flows that arrived when as many as may be at work were, and were refused, in % of those that arrived."""
    return of_group(
        "refused", "refused", group, "%", 100, better="lower", limits=PERCENT, table=COMPLETIONS, over="transfers"
    )  # fmt: skip


CONVERSATIONS = "conversations"


def _of_conversations(
    id: str,  # noqa: A002  # it is the measure's id
    title: str,
    group: str | None,
    value: pl.Expr,
    unit: str,
    better: Literal["higher", "lower"] | None,
    limits: Limits,
    scale: str = "",
) -> Measure:
    reduction = _per_row(CONVERSATIONS, group, value)
    return Measure(id, _name(title, group), unit, reduction, better, (), CONVERSATIONS, limits, scale)


def round_trip(group: str | None = None) -> Measure:
    """From mouth to ear and back, in ms: the sum of both directions of a conversation, mean over conversations."""
    value = _mean("round_trip_s", 1e3)
    return _of_conversations("round_trip", "round trip, mouth to ear", group, value, "ms", "lower", POSITIVE)


def conversation_mos(group: str | None = None) -> Measure:
    """MOS of a conversation, which is that of its worse direction by the E-model, mean over conversations."""
    value = _mean("mos")
    return _of_conversations(
        "conversation_mos", "MOS of the conversation (E-model)", group, value, "", "higher", MOS, "mos"
    )


def conversation_mos_mean(group: str | None = None) -> Measure:
    """Mean of the MOS of both directions of a conversation, mean over conversations."""
    value = _mean("mos_mean")
    return _of_conversations(
        "conversation_mos_mean", "MOS, mean of both directions", group, value, "", "higher", MOS, "mos"
    )


def double_talk(group: str | None = None) -> Measure:
    """Share of the time in which both parties of a conversation talk, by one clock, in %: what they mean."""
    value = _mean("double_talk_meant", 100)
    return _of_conversations(
        "double_talk", "both talk, as meant", group, value, "%", None, PERCENT, "double_talk"
    )


def double_talk_heard(group: str | None = None) -> Measure:
    """Share of the time in which a party talks and hears the other, in %, mean over both parties."""
    value = _mean("double_talk_heard_from", 50) + _mean("double_talk_heard_to", 50)
    return _of_conversations(
        "double_talk_heard", "both talk, as heard", group, value, "%", "lower", PERCENT, "double_talk"
    )


def link(column: str, name: str, title: str, unit: str = "", scale: float = 1.0) -> Measure:
    """A column of the `links` table for the link direction `name`, for example `mean_queue_packets` of `r2>r3`."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars("links").filter(pl.col("link").cast(pl.String) == name)
        return rows.select("run", (pl.col(column) * scale).alias("value"))

    return Measure(f"{column}:{name}", title, unit, reduce, table="links", limits=POSITIVE)


def _in_words(reading: Reading) -> str:
    words: dict[Reading, str] = {
        "gap": "gap of arrivals",
        "excess-gap": "excess gap",
        "delay": "one-way delay",
        "sequence": "gap by number",
    }
    return words[reading]


def _joined(results: Results, rows: pl.DataFrame, group: str | None, reading: Reading) -> pl.DataFrame:
    rows = rows.filter(pl.col("reading").cast(pl.String) == reading)
    if group is not None:
        rows = rows.filter(pl.col("group").cast(pl.String) == group)
    flows = results.to_polars("flows").select("run", pl.col("group").cast(pl.String), "flow", "units_sent")
    return rows.with_columns(pl.col("group").cast(pl.String)).join(
        flows, on=["run", "group", "flow"], how="left", maintain_order="left"
    )


def _mean_share(part: str) -> pl.Expr:
    """Each flow's share of what it sent, averaged over flows."""
    share = pl.col(part) / pl.col("units_sent")
    return share.filter(pl.col("units_sent") > 0).mean()


def _timeliness(part: Part, group: str | None, reading: Reading, threshold_s: float | None) -> Reduction:
    def reduce(results: Results) -> pl.DataFrame:
        rows = results.to_polars(TIMELINESS)
        threshold = pl.col("threshold_s")
        if threshold_s is None:
            rows = rows.filter(threshold == threshold.first().over("run", "group", "flow"))
        else:
            rows = rows.filter((threshold - threshold_s).abs() < 1e-6)
        chosen = _joined(results, rows, group, reading)
        return chosen.group_by("run", maintain_order=True).agg(_part(part).alias("value"))

    return reduce


def _by_threshold(part: Part, group: str | None, reading: Reading) -> Reduction:
    def reduce(results: Results) -> pl.DataFrame:
        chosen = _joined(results, results.to_polars(TIMELINESS), group, reading)
        in_ms = (pl.col("threshold_s") * 1e3).round(3).alias("threshold")
        return chosen.group_by("run", in_ms, maintain_order=True).agg(_part(part).alias("value"))

    return reduce


def _part(part: Part) -> pl.Expr:
    return _mean_share(part) if part == "timely" else _share(pl.col(part), pl.col("units_sent"), 100)


STANDARD: dict[str, Callable[[str | None], Measure]] = {
    "goodput": goodput,
    "goodput_per_flow": goodput_per_flow,
    "fairness": fairness,
    "worst_case_fairness": worst_case_fairness,
    "short_term_fairness": short_term_fairness,
    "cov": cov,
    "overhead": overhead,
    "missed": missed,
    "loss": loss,
    "waiting": waiting,
    "packet_loss": packet_loss,
    "retransmitted": retransmitted,
    "delay": delay,
    "delay_p95": delay_p95,
    "jitter": jitter,
    "late_for_playout": late_for_playout,
    "mouth_to_ear": mouth_to_ear,
    "r_factor": r_factor,
    "mos": mos,
    "worst_mos": worst_mos,
    "worst_loss": worst_loss,
    "worst_goodput": worst_goodput,
    "index": index,
    "index_gap": index_gap,
    "index_excess_gap": index_excess_gap,
    "index_sequence": index_sequence,
    "delayed": delayed,
    "completion": completion,
    "completion_median": completion_median,
    "completion_p95": completion_p95,
    "slowdown": slowdown,
    "unfinished": unfinished,
    "refused": refused,
    "round_trip": round_trip,
    "conversation_mos": conversation_mos,
    "conversation_mos_mean": conversation_mos_mean,
    "double_talk": double_talk,
    "double_talk_heard": double_talk_heard,
}
"""Measures that a name finds; `fairwave.measure` adds to them."""

OWN: dict[str, Callable[[Results, str | None], list[tuple[str, int]]]] = {}
"""Those of them that are the user's own, each with why it is not defined: reasons, each with how many runs have it."""


def own(group: str | None = None) -> list[Measure]:
    """The user's own measures, of a flow group; pages and tables show them behind the usual ones."""
    return [STANDARD[name](group) for name in OWN]


def find(name: str, group: str | None = None) -> Measure:
    """The measure of that name.

    Raises:
        KeyError: There is none; the message lists them.
    """
    if name not in STANDARD:
        from difflib import get_close_matches

        near = get_close_matches(name, STANDARD, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise KeyError(f"no measure {name!r}; there are {', '.join(STANDARD)}{hint}")
    return STANDARD[name](group)
