"""Measures over a run's flows and links, each defined once: from tables of rows to one number per run.

The simulator measures what concerns a single flow (delay, jitter, timeliness, R) or a group as such (fairness), and
defines each measure once. Here flows of a group are combined as papers 000–004 do: totals, and shares of what the
application sent. A measure that is not defined for a run (no flow of the group, nothing sent) is null there, never NaN,
and is left out of means, which say how many they left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from fairwave import _native
from fairwave.measuring.measured import Measured
from fairwave.measuring.parts import NO_RUNS, Parts, parted, reduce_groups, reduce_runs
from fairwave.measuring.statistics import LEVEL, Interval, interval
from fairwave.tables import Column, Table, concatenate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import ParamSpec

    from fairwave.measuring.parts import PartValues
    from fairwave.results import Results

    P = ParamSpec("P")
    Numbers = NDArray[np.float64]
    RunValue = Callable[[Table], float]
    """From the rows of one run to a number; NaN where it is not defined."""

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

Reduction = Callable[["Results"], Any]
"""From results to columns `run`, `value` and, for measures with axes of their own, those.

They may be a polars frame or anything else that `fairwave.tables.Table.of` takes. NaN or null is not defined.
"""


Kind = Literal["stream", "transfer", "bulk"]
"""What a group's flows carry: calls, videos and other streams of units; files and pages; endless data."""

STREAM, TRANSFER, BULK = frozenset({"stream"}), frozenset({"transfer"}), frozenset({"bulk"})
EVERY: frozenset[str] = STREAM | TRANSFER | BULK

Figure = Literal["call", "others", ""]
"""A figure of comparisons: what users get, what it does to everyone else, or none."""


@dataclass(frozen=True)
class Applies:
    """To which groups a measure applies, and where people see it: the one place that decides that.

    Attributes:
        to: Kinds of groups of which people see it without asking; for others it is shown when it is asked for.
        beside: Kinds of which a comparison shows it although the group is not compared.
        documents: Kinds of which documents for programs have it although people do not see it.
        least_flows: The smallest number of flows for which the measure is defined. only_above_zero: Whether people
        see it only where it is more than 0 somewhere. headline: Whether a verdict may rest on it. figure: The figure
        of comparisons that draws it.
    """

    to: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    least_flows: int = 1
    only_above_zero: bool = False
    headline: bool = False
    figure: Figure = ""

    def is_worth_a_row(self, means: Iterable[float]) -> bool:
        """Whether people need to see a measure that has these means."""
        return not self.only_above_zero or any(mean > 0 for mean in means)


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
        applies: To which groups it applies, and where people see it.
        has_long_tail: Whether few runs are far above the others as a rule, as of transfers with a long tail of sizes;
            intervals expect that.
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
    applies: Applies = Applies()
    has_long_tail: bool = False

    @property
    def label(self) -> str:
        """Title with unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def interval(self, samples: ArrayLike, level: float = LEVEL) -> Interval:
        """Mean and interval of the measure in some runs, which ends where the measure ends."""
        return interval(samples, level, has_long_tail=self.has_long_tail).clip(self.limits)

    def compute(self, results: Results) -> Measured:
        """The measure in every run of `results`."""
        runs = results.rows("runs")
        if self.table in results.tables:
            found = Table.from_columns(self.reduce(results))
        else:
            found = Table.from_columns({name: [] for name in ("run", *self.axes, "value")})
        left, right = _match_runs(runs["run"], found["run"])
        columns = {name: runs[name].take(left) for name in results.axes}
        columns |= {axis: _or_none(found[axis], right) for axis in self.axes}
        columns |= {"seed": runs["seed"].take(left)}
        value = np.concatenate([found["value"].numbers, [np.nan]])[right]
        # A definition may divide nothing by nothing: whatever is not a number is not defined.
        columns |= {"value": Column(value, ~np.isnan(value))}
        return Measured(self, (*results.axes, *self.axes), Table(columns))


def _match_runs(runs: Column, found: Column) -> tuple[Any, NDArray[np.int64]]:
    """Pairs of a run and a row that was found of it; a run without a value has a row all the same, -1."""
    if np.array_equal(runs.values, found.values):
        return slice(None), np.arange(len(runs))
    of_run: dict[Any, list[int]] = {}
    for at, run in enumerate(found.to_list()):
        of_run.setdefault(run, []).append(at)
    pairs = [(i, at) for i, run in enumerate(runs.to_list()) for at in of_run.get(run, [-1])]
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return left, right


def _or_none(column: Column, rows: NDArray[np.int64]) -> Column:
    """Some rows of a column; none for the row -1."""
    there = rows >= 0
    if not len(column):
        return Column.from_values([None] * len(rows))
    taken = column.take(np.where(there, rows, 0))
    valid = there if taken.valid is None else taken.valid & there
    return replace(taken, valid=None if valid.all() else valid)


@dataclass(frozen=True)
class RowReduction:
    """A number for each run from the rows of a table; those of all flow groups are made in one pass.

    Attributes:
        table: The rows, of results; or the name of a table.
        group: The flow group; all rows when None.
        value: The definition.
    """

    table: str | Callable[[Results], Table]
    group: str | None
    value: PartValues

    def __call__(self, results: Results) -> Table:
        """Columns `run` and `value`: a row for each run in which there are rows."""
        rows = results.rows(self.table) if isinstance(self.table, str) else self.table(results)
        if self.group is None:
            runs, values = reduce_runs(rows, self.value)
        else:
            runs, values = reduce_groups(rows, self.value).get(self.group, NO_RUNS)
        return Table({"run": Column(runs), "value": Column(values)})


def _reduce_flows(group: str | None, value: PartValues) -> Reduction:
    return RowReduction("flows", group, value)


def shown(
    to: frozenset[str] = frozenset(), beside: frozenset[str] = frozenset(), **more: Any
) -> Callable[[Callable[P, Measure]], Callable[P, Measure]]:
    """Says of a measure to which groups it applies and where people see it; arguments as of `Applies`."""
    applies = Applies(to, beside, **more)

    def says(definition: Callable[P, Measure]) -> Callable[P, Measure]:
        @wraps(definition)
        def define(*args: P.args, **kwargs: P.kwargs) -> Measure:
            return replace(definition(*args, **kwargs), applies=applies)

        define.applies = applies  # type: ignore[attr-defined]  # functions have any
        return define

    return says


def _name(what: str, group: str | None) -> str:
    return f"{group} {what}" if group else what


def total(values: Numbers) -> float:
    """The sum; what is not defined is left out."""
    return float(np.nansum(values))


def mean(values: Numbers) -> float:
    """The mean; what is not defined is left out, and nothing has none."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else math.nan


def share(part: Numbers, whole: Numbers, scale: float = 1.0) -> float:
    """Sum over sum; not defined when the whole is nothing."""
    of = total(whole)
    return total(part) / of * scale if of > 0 else math.nan


@cache
def _share(part: tuple[str, ...], whole: str, scale: float = 1.0) -> PartValues:
    """The sum of some columns over that of another."""
    return lambda rows, parts: parts.share(
        np.sum([rows.numbers(name) for name in part], axis=0), rows.numbers(whole), scale
    )


@cache
def _mean(column: str, scale: float = 1.0) -> PartValues:
    return lambda rows, parts: parts.mean(rows.numbers(column)) * scale


@cache
def _most(column: str) -> PartValues:
    return lambda rows, parts: parts.most(rows.numbers(column))


@shown(TRANSFER | BULK, EVERY, figure="others")
def goodput(group: str | None = None) -> Measure:
    """Payload delivered to the group's applications from the first flow's beginning to the last one's end, in Mb/s."""
    reduce = RowReduction("groups", group, _goodput)
    return Measure(
        "goodput", _name("goodput", group), "Mb/s", reduce, "higher", table="groups", limits=POSITIVE
    )


def _goodput(rows: Table, parts: Parts) -> Numbers:
    goodputs = rows.numbers("goodput_bps")
    # A group of which no flow was on has none.
    return np.where(parts.number(~np.isnan(goodputs)) > 0, parts.total(goodputs) / 1e6, math.nan)


@shown(STREAM)
def goodput_per_flow(group: str | None = None) -> Measure:
    """Payload delivered per flow of the group while it was on, mean, in kb/s."""
    return Measure(
        "goodput-per-flow",
        _name("goodput per flow", group),
        "kb/s",
        _reduce_flows(group, _mean("goodput_bps", 1e-3)),
        "higher",
        limits=POSITIVE,
    )


def group_column(
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
    has_long_tail: bool = False,
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
        has_long_tail: Whether few runs are far above the others as a rule.

    Raises:
        ValueError: When used: no group is named and the runs have several.
    """

    def rows_of(results: Results) -> Table:
        rows = results.rows(table)
        if group is None and len(rows["group"].unique()) > 1:
            known = ", ".join(rows["group"].unique())
            raise ValueError(f"{title} is that of one flow group; name one of {known}")
        return rows

    # There is one row for each run and group.
    reduce = RowReduction(rows_of, group, _share((column,), over, scale) if over else _mean(column, scale))
    return Measure(
        id or column, _name(title, group), unit, reduce, better, table=table, limits=limits,
        has_long_tail=has_long_tail,
    )  # fmt: skip


@shown(STREAM, STREAM | BULK, headline=True, figure="call")
def missed(group: str | None = None) -> Measure:
    """Packets that the user misses, in % of packets sent: lost, too late to play or show, or overdue at the end.

    For a call this is the packet loss that the E-model takes. It includes, counted in packets, the time that
    the jitter buffer made up for packets that it still played. For a video it counts packets that were lost
    or arrived after their frame was shown. For other streams it counts packets that were lost. What had not
    arrived at the end and is too old to be of use is overdue, and counts in each case.
    """
    reduce = _reduce_flows(group, _missed)
    return Measure("missed", _name("packets missed", group), "%", reduce, "lower", limits=PERCENT)


def _missed(rows: Table, parts: Parts) -> Numbers:
    sent, lost = rows.numbers("units_sent"), rows.numbers("units_lost")
    of_call, of_video = (rows.numbers(name) for name in ("missed_ratio", "decodable_ratio"))
    part = np.where(
        ~np.isnan(of_call),
        of_call * sent,
        lost + np.where(np.isnan(of_video), rows.numbers("units_waiting"), rows.numbers("late_units")),
    )
    return parts.share(np.fmin(part, sent), sent, 100)


@shown(STREAM, only_above_zero=True)
def waiting(group: str | None = None) -> Measure:
    """Packets that were overdue at the end, in % of packets sent: neither arrived nor lost, and too old for use."""
    reduce = _reduce_flows(group, _waiting)
    return Measure("waiting", _name("overdue at the end", group), "%", reduce, "lower", limits=PERCENT)


def _waiting(rows: Table, parts: Parts) -> Numbers:
    return parts.share(rows.numbers("units_waiting"), rows.numbers("units_sent"), 100)


@shown(STREAM)
def loss(group: str | None = None) -> Measure:
    """Packets that a queue dropped or a wire lost, in % of packets sent; what waits or is on its way is not lost."""
    lost = _share(("units_lost",), "units_sent", 100)
    return Measure("loss", _name("loss", group), "%", _reduce_flows(group, lost), "lower", limits=PERCENT)


@shown(TRANSFER | BULK)
def packet_loss(group: str | None = None) -> Measure:
    """Data packets that queues dropped or links lost, in % of packets sent, retransmissions included."""
    lost = _share(("dropped", "lost"), "packets_sent", 100)
    return Measure(
        "packet-loss", _name("packet loss", group), "%", _reduce_flows(group, lost), "lower", limits=PERCENT
    )


@shown(TRANSFER | BULK, EVERY)
def retransmitted(group: str | None = None) -> Measure:
    """Retransmitted data packets, in % of data packets sent."""
    again = _share(("packets_retransmitted",), "packets_sent", 100)
    return Measure(
        "retransmitted",
        _name("retransmitted", group),
        "%",
        _reduce_flows(group, again),
        "lower",
        limits=PERCENT,
    )


@shown(STREAM)
def delay(group: str | None = None) -> Measure:
    """One-way delay of received units, application to application, in ms: mean over units."""
    return Measure(
        "delay", _name("delay", group), "ms", _reduce_flows(group, _delay), "lower", limits=POSITIVE
    )


def _delay(rows: Table, parts: Parts) -> Numbers:
    each, received = rows.numbers("delay_mean_s"), rows.numbers("units_received")
    return parts.share(each * received, np.where(np.isnan(each), 0, received), 1e3)


@shown(STREAM, figure="call")
def delay_p95(group: str | None = None) -> Measure:
    """95th percentile of each flow's one-way delay, mean over flows, in ms."""
    return Measure(
        "delay-p95",
        _name("delay, 95th percentile", group),
        "ms",
        _reduce_flows(group, _mean("delay_p95_s", 1e3)),
        "lower",
        limits=POSITIVE,
    )


@shown(STREAM)
def jitter(group: str | None = None) -> Measure:
    """Interarrival jitter of RFC 3550, mean over the units received and over flows, in ms."""
    return Measure(
        "jitter",
        _name("jitter (RFC 3550)", group),
        "ms",
        _reduce_flows(group, _mean("jitter_s", 1e3)),
        "lower",
        limits=POSITIVE,
    )


@shown(STREAM)
def late_for_playout(group: str | None = None) -> Measure:
    """Packets of calls that arrived too late for playing or were overdue at the end, in % of packets not lost."""
    return Measure(
        "late-for-playout",
        _name("late for playout", group),
        "%",
        _reduce_flows(group, _late_for_playout),
        "lower",
        limits=PERCENT,
    )


def _late_for_playout(rows: Table, parts: Parts) -> Numbers:
    is_call = ~np.isnan(rows.numbers("missed_ratio"))
    calls = rows.take(is_call)
    kept = calls.numbers("units_sent") - calls.numbers("units_lost")
    return parts.take(is_call).share(calls.numbers("late_units"), kept, 100)


@shown(STREAM, headline=True, figure="call")
def mouth_to_ear(group: str | None = None) -> Measure:
    """Delay from mouth to ear, in ms: packet time, coder, time from making to playing; mean over units, then calls."""
    return Measure(
        "mouth-to-ear",
        _name("mouth to ear", group),
        "ms",
        _reduce_flows(group, _mean("mouth_to_ear_s", 1e3)),
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
        _reduce_flows(group, _mean(f"r_cost_{cause}")),
        "lower",
        limits=POSITIVE,
        scale="r_cost",
    )


@shown(STREAM, headline=True)
def r_factor(group: str | None = None) -> Measure:
    """E-model rating R, 0 to 100 (wideband calls: to 129), mean over the calls that have one."""
    return Measure(
        "r-factor", _name("E-model R", group), "", _reduce_flows(group, _mean("r_factor")), "higher", limits=R
    )


@shown(STREAM, STREAM | BULK, headline=True, figure="call")
def mos(group: str | None = None) -> Measure:
    """Mean opinion score (MOS) estimated by the E-model, 1 to 4.5, mean over the calls that have one."""
    return Measure(
        "mos", _name("MOS (E-model)", group), "", _reduce_flows(group, _mean("mos")), "higher", limits=MOS
    )


def _skip_single(parts: Parts, values: Numbers, worst: Numbers) -> Numbers:
    """That of the flow that has it worst; it does not apply to a single flow."""
    return np.where(parts.number(~np.isnan(values)) > 1, worst, math.nan)


@cache
def _least_of_several(column: str, scale: float = 1.0) -> PartValues:
    def value(rows: Table, parts: Parts) -> Numbers:
        each = rows.numbers(column)
        return _skip_single(parts, each, parts.least(each)) * scale

    return value


@shown(STREAM)
def worst_mos(group: str | None = None) -> Measure:
    """MOS of the worst of several calls."""
    return Measure(
        "worst-mos",
        _name("MOS of the worst call", group),
        "",
        _reduce_flows(group, _least_of_several("mos")),
        "higher",
        limits=MOS,
        scale="mos",
    )


@shown(STREAM)
def worst_loss(group: str | None = None) -> Measure:
    """Loss of the worst of several flows, in %; flows that sent nothing do not count."""
    return Measure(
        "worst-loss",
        _name("loss of the worst flow", group),
        "%",
        _reduce_flows(group, _worst_loss),
        "lower",
        limits=PERCENT,
        scale="loss",
    )


def _worst_loss(rows: Table, parts: Parts) -> Numbers:
    each = _share_of_sent(rows, "units_lost")
    return _skip_single(parts, each, parts.most(each)) * 100


def _share_of_sent(rows: Table, column: str) -> Numbers:
    """What each flow has of what it sent; flows that sent nothing have none."""
    sent = rows.numbers("units_sent")
    found: Numbers = np.divide(rows.numbers(column), sent, out=np.full(len(sent), math.nan), where=sent > 0)
    return found


@shown(BULK, STREAM | BULK)
def worst_goodput(group: str | None = None) -> Measure:
    """Goodput of the worst of several flows, in kb/s."""
    return Measure(
        "worst-goodput",
        _name("goodput of the worst flow", group),
        "kb/s",
        _reduce_flows(group, _least_of_several("goodput_bps", 1e-3)),
        "higher",
        limits=POSITIVE,
    )


@shown(documents=STREAM | BULK)
def index(group: str | None = None, reading: Reading = "delay", threshold_s: float | None = None) -> Measure:
    """Real-time performance index (paper 002: video delivery index): timely units over units sent by the application.

    It is the mean of the flows' own indices, as papers 000 and 001 take it; flows that sent nothing have none.

    Args:
        group: Name of the flow group; all flows when None.
        reading: What *timely* means.
        threshold_s: The threshold in seconds; the scenario's first when None.
    """
    title = _name(f"index ({_describe_reading(reading)})", group)
    return Measure(
        f"index-{reading}",
        title,
        "",
        _timeliness("timely", group, reading, threshold_s),
        "higher",
        table=TIMELINESS,
        limits=RATIO,
        scale="index",
    )


@shown(documents=STREAM | BULK)
def index_gap(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the previous arrival (papers 000, 002), 0 to 1."""
    return index(group, "gap")


@shown(documents=STREAM | BULK)
def index_excess_gap(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the previous arrival in excess of the sender's own, 0 to 1."""
    return index(group, "excess-gap")


@shown(documents=STREAM | BULK)
def index_sequence(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the unit numbered one less (paper 001, Algorithm 1), 0 to 1."""
    return index(group, "sequence")


def delayed(
    group: str | None = None, reading: Reading = "delay", threshold_s: float | None = None
) -> Measure:
    """Units that arrived later than the threshold allows, in % of units sent. Arguments as for `index`."""
    title = _name(f"delayed ({_describe_reading(reading)})", group)
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
    title = _name(f"index ({_describe_reading(reading)})", group)
    return Measure(
        f"index_by_threshold_{reading}",
        title,
        "",
        _split_thresholds("timely", group, reading),
        "higher",
        ("threshold",),
        TIMELINESS,
        RATIO,
        "index",
    )


def delayed_by_threshold(group: str | None = None, reading: Reading = "delay") -> Measure:
    """Delayed units in % of those sent at every threshold of the scenario, the axis `threshold` (in ms)."""
    title = _name(f"delayed ({_describe_reading(reading)})", group)
    reduction = _split_thresholds("delayed", group, reading)
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


@shown(TRANSFER, TRANSFER, figure="call")
def completion(group: str | None = None) -> Measure:
    """Completion time of transfers, or load time of pages, in s: mean over completed ones.

    Unfinished transfers do not count; the measure `unfinished` gives their share.
    """
    return group_column(
        "mean_s", "completion time", group, "s", id="completion", better="lower", limits=POSITIVE, table=COMPLETIONS,
        has_long_tail=True,
    )  # fmt: skip


@shown(TRANSFER, TRANSFER)
def completion_median(group: str | None = None) -> Measure:
    """Median completion time of completed transfers or pages, in s."""
    return group_column(
        "p50_s", "completion time, median", group, "s", id="completion-median", better="lower", limits=POSITIVE,
        table=COMPLETIONS, has_long_tail=True,
    )  # fmt: skip


@shown(TRANSFER, TRANSFER)
def completion_p95(group: str | None = None) -> Measure:
    """95th percentile of the completion times of completed transfers or pages, in s."""
    return group_column(
        "p95_s", "completion time, 95th percentile", group, "s", id="completion-p95", better="lower",
        limits=POSITIVE, table=COMPLETIONS, has_long_tail=True,
    )  # fmt: skip


@shown(TRANSFER, TRANSFER)
def slowdown(group: str | None = None) -> Measure:
    """Completion time divided by the payload's time at the narrowest link's rate, mean over completed transfers."""
    return group_column(
        "slowdown", "slowdown", group, better="lower", limits=POSITIVE, table=COMPLETIONS, has_long_tail=True
    )


@shown(TRANSFER, TRANSFER)
def unfinished(group: str | None = None) -> Measure:
    """Transfers or pages that were unfinished at the end of the run, in % of those begun or refused."""
    return group_column(
        "unfinished", "unfinished", group, "%", 100, better="lower", limits=PERCENT, table=COMPLETIONS,
        over="transfers",
    )  # fmt: skip


@shown(EVERY, EVERY, only_above_zero=True)
def refused(group: str | None = None) -> Measure:
    """Arrivals of flows that were refused because the limit of simultaneous flows was reached, in % of arrivals."""
    return group_column(
        "refused", "refused", group, "%", 100, better="lower", limits=PERCENT, table=COMPLETIONS, over="transfers"
    )  # fmt: skip


SESSIONS = "sessions"


def _session_measure(
    id: str,  # noqa: A002  # it is the measure's id
    title: str,
    group: str | None,
    column: str,
    unit: str,
    better: Literal["higher", "lower"] | None,
    limits: Limits,
    scale: float = 1.0,
) -> Measure:
    reduction = RowReduction(SESSIONS, group, _mean(column, scale))
    return Measure(id, _name(title, group), unit, reduction, better, (), SESSIONS, limits)


@shown(TRANSFER, TRANSFER)
def video_rate(group: str | None = None) -> Measure:
    """Rate of the segments that an adaptive stream fetched, in Mb/s: mean over segments, then streams."""
    return _session_measure("video-rate", "video rate", group, "rate_bps", "Mb/s", "higher", POSITIVE, 1e-6)


@shown(TRANSFER, TRANSFER)
def stalled(group: str | None = None) -> Measure:
    """Time in which an adaptive stream stood still, in % of the time since it began to play, mean over streams."""
    return _session_measure("stalled", "stalled", group, "stall_ratio", "%", "lower", PERCENT, 100)


@shown(TRANSFER)
def stalls(group: str | None = None) -> Measure:
    """Number of times that an adaptive stream stood still after it began to play, mean over streams."""
    return _session_measure("stalls", "stalls", group, "stalls", "", "lower", POSITIVE)


@shown(TRANSFER)
def start_up(group: str | None = None) -> Measure:
    """Time from requesting an adaptive stream's first segment to playing, in s, mean over the streams that play."""
    return _session_measure("start-up", "start-up", group, "start_up_s", "s", "lower", POSITIVE)


@shown(TRANSFER)
def switches(group: str | None = None) -> Measure:
    """Number of times that an adaptive stream's rate changed from one segment to the next, mean over streams."""
    return _session_measure("switches", "changes of rate", group, "switches", "", "lower", POSITIVE)


@shown(TRANSFER)
def experience(group: str | None = None) -> Measure:
    """Quality of experience of an adaptive stream per segment (Yin et al. 2015, Eq. 5), in Mb/s, mean over streams.

    The mean rate, less its changes, less the highest rate for each second of stalls and start-up.
    """
    return _session_measure(
        "experience", "quality of experience", group, "experience_bps", "Mb/s", "higher", UNBOUNDED, 1e-6
    )


MEDIA = "media"

OPINION: Limits = (1.0, 5.0)
"""The grades of ITU-T P.800."""


def _media_measure(
    id: str,  # noqa: A002  # it is the measure's id
    title: str,
    group: str | None,
    streams: tuple[str, ...],
    column: str,
    unit: str,
    better: Literal["higher", "lower"] | None,
    limits: Limits,
    scale: float = 1.0,
) -> Measure:
    """The mean over the streams of media sessions that have the column."""
    value = _mean_of_streams(streams, column, scale)
    return Measure(
        id, _name(title, group), unit, RowReduction(MEDIA, group, value), better, (), MEDIA, limits
    )


@cache
def _mean_of_streams(streams: tuple[str, ...], column: str, scale: float) -> PartValues:
    def value(rows: Table, parts: Parts) -> Numbers:
        is_such = np.any([rows["stream"].is_(one) for one in streams], axis=0)
        return parts.mean(np.where(is_such, rows.numbers(column), math.nan)) * scale

    return value


CAMERAS = ("video", "screen")


@shown(STREAM, STREAM, headline=True, figure="call")
def session_mos(group: str | None = None) -> Measure:
    """MOS of the worst stream of a media session: speech by the E-model, pictures by the encoder's quality and freezes.

    A stream of which nothing arrived counts as 1. Of simulcast encodings the best counts. The mean over sessions.
    """
    return Measure(
        "session-mos", _name("MOS of the worst stream", group), "", RowReduction(MEDIA, group, _session_mos),
        "higher", (), MEDIA, OPINION, "mos",
    )  # fmt: skip


def _session_mos(rows: Table, parts: Parts) -> Numbers:
    scores = rows.with_columns(
        {"part": Column(parts.of_row), "mos": Column(np.fmax(rows.numbers("mos"), 1.0))}
    )
    of_stream, streams = parted(scores, "part", "flow", "stream")
    best = scores.take(streams).with_columns({"mos": Column(of_stream.most(scores.numbers("mos")))})
    of_session, sessions = parted(best, "part", "flow")
    worst = of_session.least(best.numbers("mos"))
    return Parts(best["part"].values[sessions], parts.count).mean(worst)


@shown(STREAM)
def audio_mos(group: str | None = None) -> Measure:
    """MOS of the speech of a media session, by the E-model, mean over sessions."""
    return _media_measure("audio-mos", "MOS of audio", group, ("audio",), "mos", "", "higher", MOS)


@shown(STREAM)
def video_mos(group: str | None = None) -> Measure:
    """MOS of the pictures of a media session: the encoder's quality, with time in freezes as 1; mean over streams."""
    return _media_measure("video-mos", "MOS of video", group, CAMERAS, "mos", "", "higher", OPINION)


@shown(STREAM)
def frozen(group: str | None = None) -> Measure:
    """Time in which the picture of a media session was frozen (webrtc-stats), in % since the first picture."""
    return _media_measure("frozen", "frozen", group, CAMERAS, "freeze_ratio", "%", "lower", PERCENT, 100)


@shown(STREAM)
def freezes(group: str | None = None) -> Measure:
    """Number of freezes of the picture of a media session (webrtc-stats), mean over streams."""
    return _media_measure("freezes", "freezes", group, CAMERAS, "freezes", "", "lower", POSITIVE)


@shown(STREAM)
def video_outage(group: str | None = None) -> Measure:
    """Seconds in which the camera was on and nothing moved: until the first picture, freezes, pauses."""
    return _media_measure(
        "without-video", "without video", group, CAMERAS, "without_s", "s", "lower", POSITIVE
    )


GAP_S = 0.5
"""A longer gap of speech interrupts a call (`fairwave_media::quality::gaps` has the reason)."""


def _speech_measure(
    id: str,  # noqa: A002  # it is the measure's id
    title: str,
    group: str | None,
    unit: str,
    value: PartValues,
    limits: Limits = POSITIVE,
) -> Measure:
    """A number from columns that calls and the speech of media sessions share."""
    return Measure(id, _name(title, group), unit, RowReduction(_speech, group, value), "lower", limits=limits)


def _speech(results: Results) -> Table:
    """A row for each call, and for each stream of a media session, with its gaps and with how long it was on (s)."""
    flows = results.rows("flows")
    media = results.rows(MEDIA) if MEDIA in results.tables else None

    def make(flows: Table) -> Table:
        both = [flows] if media is None else [flows, media]
        names = ("silence_s", "longest_gap_s", "gaps", "measured_s")
        each = [
            {name: rows[name] for name in ("run", "group")}
            | {name: Column(rows.numbers(name)) for name in names}
            for rows in both
        ]
        return concatenate({"speech": Table(columns)} for columns in each)["speech"]

    return flows.derived((_speech, media), make)


@shown(STREAM, only_above_zero=True)
def silence(group: str | None = None) -> Measure:
    """Seconds in which speech was missing for so long that its concealment had faded, mean over calls and sessions.

    For a call this is the part of each gap beyond 60 ms (ITU-T G.711 Appendix I); for a media session it is
    `silentConcealedSamples`.
    """
    return _speech_measure("silence", "silence", group, "s", _mean("silence_s"))


@shown(STREAM, headline=True)
def longest_gap(group: str | None = None) -> Measure:
    """The longest gap in the speech of any call or session of the group, in s: missing without a break."""
    return _speech_measure("longest-gap", "longest gap", group, "s", _most("longest_gap_s"))


@shown(STREAM, only_above_zero=True, headline=True)
def gap_calls(group: str | None = None) -> Measure:
    """Calls and sessions with a gap of speech above 0.5 s, in % of those that there are."""
    return _speech_measure(
        "gap-calls", f"calls with a gap above {GAP_S:g} s", group, "%", _gap_calls, PERCENT
    )  # fmt: skip


def _gap_calls(rows: Table, parts: Parts) -> Numbers:
    longest = rows.numbers("longest_gap_s")
    return parts.mean(np.where(np.isnan(longest), math.nan, longest > GAP_S)) * 100


@shown(STREAM, only_above_zero=True)
def gaps_per_hour(group: str | None = None) -> Measure:
    """Gaps of speech above 0.5 s in an hour of calls and sessions."""
    return _speech_measure("gaps-per-hour", "gaps per hour", group, "/h", _gaps_per_hour)


def _gaps_per_hour(rows: Table, parts: Parts) -> Numbers:
    gaps, times = rows.numbers("gaps"), rows.numbers("measured_s")
    return parts.share(gaps, np.where(np.isnan(gaps), math.nan, times), 3600)


@shown(STREAM, only_above_zero=True)
def longest_freeze(group: str | None = None) -> Measure:
    """The longest time for which a picture of a media session was frozen after the first picture, in s."""
    reduction = RowReduction(MEDIA, group, _most("longest_freeze_s"))
    return Measure(
        "longest-freeze",
        _name("longest freeze", group),
        "s",
        reduction,
        "lower",
        table=MEDIA,
        limits=POSITIVE,
    )


@shown()
def longest_without_video(group: str | None = None) -> Measure:
    """The longest time without a picture that moves though the camera was on, in s, mean over streams."""
    return _media_measure(
        "longest-without-video", "longest time without video", group, CAMERAS, "longest_without_s", "s", "lower",
        POSITIVE,
    )  # fmt: skip


@shown(STREAM)
def layer_switches(group: str | None = None) -> Measure:
    """Changes of the picture's size, or of the layer that a server forwards, each minute; mean over streams."""
    return _media_measure(
        "layer-switches", "layer switches", group, CAMERAS, "switches_per_min", "/min", "lower", POSITIVE
    )


@shown(STREAM)
def frame_rate(group: str | None = None) -> Measure:
    """Pictures shown per second of a media session, mean over streams."""
    return _media_measure("frame-rate", "frame rate", group, CAMERAS, "frame_rate", "/s", "higher", POSITIVE)


@shown(STREAM)
def picture_height(group: str | None = None) -> Measure:
    """Height of the pictures shown of a media session, in pixels, mean over time and streams."""
    return _media_measure(
        "picture-height", "picture height", group, CAMERAS, "height", "pixels", "higher", POSITIVE
    )


@shown(STREAM)
def audio_delay(group: str | None = None) -> Measure:
    """Delay from mouth to ear of the speech of a media session, in ms, mean over sessions."""
    return _media_measure(
        "audio-delay", "mouth to ear", group, ("audio",), "delay_s", "ms", "lower", POSITIVE, 1e3
    )


@shown(STREAM)
def video_delay(group: str | None = None) -> Measure:
    """Delay from capture to rendering of the pictures of a media session, in ms, mean over streams."""
    return _media_measure(
        "video-delay", "capture to screen", group, CAMERAS, "delay_s", "ms", "lower", POSITIVE, 1e3
    )


@shown()
def lip_sync(group: str | None = None) -> Measure:
    """How much later than its sound the picture of a media session is shown, in ms, mean over streams."""
    return _media_measure(
        "lip-sync", "picture behind sound", group, CAMERAS, "lip_sync_s", "ms", None, UNBOUNDED, 1e3
    )


@shown(STREAM)
def concealed(group: str | None = None) -> Measure:
    """Speech that the receiver of a media session made up, in % of what it played, mean over sessions."""
    return _media_measure(
        "concealed", "concealed", group, ("audio",), "concealed_ratio", "%", "lower", PERCENT, 100
    )


@shown(STREAM)
def encoder_target(group: str | None = None) -> Measure:
    """Target of the video encoders of a media session, in kb/s of payload, mean over time and streams."""
    return _media_measure(
        "encoder-target", "target of video", group, CAMERAS, "target_bps", "kb/s", "higher", POSITIVE, 1e-3
    )


CONVERSATIONS = "conversations"


def _conversation_measure(
    id: str,  # noqa: A002  # it is the measure's id
    title: str,
    group: str | None,
    value: PartValues,
    unit: str,
    better: Literal["higher", "lower"] | None,
    limits: Limits,
    scale: str = "",
) -> Measure:
    reduction = RowReduction(CONVERSATIONS, group, value)
    return Measure(id, _name(title, group), unit, reduction, better, (), CONVERSATIONS, limits, scale)


@shown(STREAM)
def round_trip(group: str | None = None) -> Measure:
    """Delay from mouth to ear and back, in ms: sum over both directions of a conversation, mean over conversations."""
    value = _mean("round_trip_s", 1e3)
    return _conversation_measure(
        "round-trip", "round trip, mouth to ear", group, value, "ms", "lower", POSITIVE
    )


@shown(STREAM, headline=True, figure="call")
def conversation_mos(group: str | None = None) -> Measure:
    """MOS of the worse direction of a conversation, by the E-model, mean over conversations."""
    value = _mean("mos")
    return _conversation_measure(
        "conversation-mos", "MOS of the conversation (E-model)", group, value, "", "higher", MOS, "mos"
    )


@shown(STREAM)
def conversation_mos_mean(group: str | None = None) -> Measure:
    """Mean of the MOS of both directions of a conversation, mean over conversations."""
    value = _mean("mos_mean")
    return _conversation_measure(
        "conversation-mos-mean", "MOS, mean of both directions", group, value, "", "higher", MOS, "mos"
    )


@shown(STREAM)
def double_talk(group: str | None = None) -> Measure:
    """Share of the time in which both parties of a conversation talk at once, timed by one clock, in %."""
    value = _mean("double_talk_meant", 100)
    return _conversation_measure(
        "double-talk", "both talk, as meant", group, value, "%", None, PERCENT, "double-talk"
    )


@shown(STREAM)
def double_talk_heard(group: str | None = None) -> Measure:
    """Share of the time in which a party talks while it hears the other party, in %, mean over both parties."""
    return _conversation_measure(
        "double-talk-heard",
        "both talk, as heard",
        group,
        _double_talk_heard,
        "%",
        "lower",
        PERCENT,
        "double-talk",
    )


def _double_talk_heard(rows: Table, parts: Parts) -> Numbers:
    one, other = (rows.numbers(name) for name in ("double_talk_heard_from", "double_talk_heard_to"))
    return 50 * parts.mean(one) + 50 * parts.mean(other)


ROUND_TRIPS = "round_trips"

NOT_MEASURED = "round trips are not measured; name the group in record.round-trips"
"""Why a flow group that is no ping may have none."""

NO_REQUIREMENT = "the group says in no `outcome` what it needs"
"""Why a flow group may have no Quality of Outcome."""


def _round_trip_measure(
    id: str,  # noqa: A002  # it is the measure's id
    title: str,
    group: str | None,
    value: PartValues,
    unit: str = "ms",
    better: Literal["higher", "lower"] = "lower",
    limits: Limits = POSITIVE,
) -> Measure:
    reduction = RowReduction(ROUND_TRIPS, group, value)
    scale = "rtt" if unit == "ms" else ""
    return Measure(id, _name(title, group), unit, reduction, better, (), ROUND_TRIPS, limits, scale)


@shown(EVERY, STREAM | BULK, figure="call")
def rtt(group: str | None = None) -> Measure:
    """Round trip as the sender sees it, in ms: mean over samples, then over flows.

    Pings always measure it; TCP and TFRC do if `record.round-trips` names the group. A sample of TCP is the
    time from a segment's departure until an acknowledgement of new data answers it.
    """
    return _round_trip_measure("rtt", "round trip", group, _mean("mean_s", 1e3))


@shown(EVERY)
def rtt_median(group: str | None = None) -> Measure:
    """Median of each flow's round trips, mean over flows, in ms."""
    return _round_trip_measure("rtt-median", "round trip, median", group, _mean("p50_s", 1e3))


@shown(EVERY, STREAM | BULK)
def rtt_p95(group: str | None = None) -> Measure:
    """95th percentile of each flow's round trips, mean over flows, in ms."""
    return _round_trip_measure("rtt-p95", "round trip, 95th percentile", group, _mean("p95_s", 1e3))


@shown(STREAM)
def ping_loss(group: str | None = None) -> Measure:
    """Ping requests without a reply, in % of requests made: lost in either direction.

    Requests made less than the longest round trip before the end of the run do not count.
    """
    return _round_trip_measure(
        "ping-loss",
        "requests without reply",
        group,
        _share(("unanswered",), "requests", 100),
        "%",
        limits=PERCENT,
    )


@shown(STREAM, headline=True, figure="call")
def responsiveness(group: str | None = None) -> Measure:
    """Round trips per minute of pings (draft-ietf-ippm-responsiveness): 60 s over the mean round trip, mean over flows.

    A flow's mean leaves out its longest 5 % of samples, as in the draft. The draft also probes TLS, HTTP and
    the loaded connections themselves; here all samples are pings. Of other flows it is not defined.
    """
    return _round_trip_measure(
        "responsiveness", "responsiveness", group, _responsiveness, "round trips/min", "higher"
    )


def _responsiveness(rows: Table, parts: Parts) -> Numbers:
    trimmed = np.where(np.isnan(rows.numbers("requests")), math.nan, rows.numbers("trimmed_mean_s"))
    return parts.mean(np.divide(60, trimmed, out=np.full(len(trimmed), math.nan), where=trimmed > 0))


@shown(EVERY, STREAM | BULK)
def qoo(group: str | None = None) -> Measure:
    """Quality of Outcome (draft-ietf-ippm-qoo), 0 to 100, of groups with an `outcome`, mean over flows.

    It is 100 if every percentile of latency and the loss are within the requirement for optimal performance.
    It is 0 if one of them is at or beyond the point of unacceptable performance. Between, it is linear, and
    the worst of them counts.
    """
    reduction = RowReduction("outcomes", group, _mean("score"))
    title = _name("Quality of Outcome", group)
    return Measure("qoo", title, "", reduction, "higher", (), "outcomes", (0.0, 100.0))


def _are_videos(rows: Table) -> NDArray[np.bool_]:
    return ~np.isnan(rows.numbers("decodable_ratio"))


@shown(STREAM, STREAM | BULK, headline=True, figure="call")
def decodable(group: str | None = None) -> Measure:
    """Frames with at least a decodable base layer when they were shown, in %, mean over flows."""
    return Measure(
        "decodable",
        _name("frames decodable when shown", group),
        "%",
        _reduce_flows(group, _mean("decodable_ratio", 100)),
        "higher",
        limits=PERCENT,
    )


@shown(STREAM, headline=True)
def decodable_layers(group: str | None = None) -> Measure:
    """Number of layers in which a frame could be decoded when it was shown, mean over frames and flows."""
    return Measure(
        "decodable-layers",
        _name("layers decodable when shown", group),
        "",
        _reduce_flows(group, _mean("decodable_layers")),
        "higher",
        limits=POSITIVE,
    )


@shown(STREAM)
def late(group: str | None = None) -> Measure:
    """Units of video that arrived after their frame was shown, or had not arrived by then, in % of units sent."""
    return Measure(
        "late", _name("late for showing", group), "%", _reduce_flows(group, _late), "lower", limits=PERCENT
    )


def _late(rows: Table, parts: Parts) -> Numbers:
    is_video = _are_videos(rows)
    videos = rows.take(is_video)
    return parts.take(is_video).share(videos.numbers("late_units"), videos.numbers("units_sent"), 100)


@shown(STREAM, only_above_zero=True)
def sender_wait(group: str | None = None) -> Measure:
    """Longest wait of a unit of video in its sender for the transport's rate, in ms, maximum over flows."""
    reduction = _reduce_flows(group, _sender_wait)
    return Measure(
        "sender-wait", _name("longest wait in the sender", group), "ms", reduction, "lower", limits=POSITIVE
    )


def _sender_wait(rows: Table, parts: Parts) -> Numbers:
    return parts.most(np.where(_are_videos(rows), rows.numbers("sender_wait_max_s"), math.nan)) * 1e3


def link(column: str, name: str, title: str, unit: str = "", scale: float = 1.0) -> Measure:
    """A column of the `links` table for the link direction `name`, for example `mean_queue_packets` of `r2>r3`."""

    def reduce(results: Results) -> dict[str, Any]:
        rows = results.rows("links").only(link=name)
        return {"run": rows["run"].to_list(), "value": rows.numbers(column) * scale}

    return Measure(f"{column}:{name}", title, unit, reduce, table="links", limits=POSITIVE)


def _describe_reading(reading: Reading) -> str:
    words: dict[Reading, str] = {
        "gap": "gap of arrivals",
        "excess-gap": "excess gap",
        "delay": "one-way delay",
        "sequence": "gap by number",
    }
    return words[reading]


def _timely(results: Results, reading: Reading) -> Table:
    """The rows of a reading, each with the number of units that its flow sent, and with its flow's first threshold."""
    flows = results.rows("flows")

    def make(rows: Table) -> Table:
        names = ("run", "group", "flow")
        whole = concatenate({"flows": Table({name: of[name] for name in names})} for of in (flows, rows))[
            "flows"
        ]
        flow = whole.numbered(*names)
        sent = np.full(int(flow.max(initial=-1)) + 1, math.nan)
        sent[flow[: flows.num_rows]] = flows.numbers("units_sent")
        rest = flow[flows.num_rows :]
        found, first = np.unique(rest, return_index=True)
        threshold = rows.numbers("threshold_s")
        firsts = threshold[first][np.searchsorted(found, rest)]
        known = {"units_sent": Column(sent[rest]), "first_threshold_s": Column(firsts)}
        return rows.with_columns(known).take(rows["reading"].is_(reading))

    return results.rows(TIMELINESS).derived((_timely, flows, reading), make)


def _timeliness(part: Part, group: str | None, reading: Reading, threshold_s: float | None) -> Reduction:
    def rows_of(results: Results) -> Table:
        def make(rows: Table) -> Table:
            threshold = rows.numbers("threshold_s")
            if threshold_s is None:
                return rows.take(threshold == rows.numbers("first_threshold_s"))
            return rows.take(np.abs(threshold - threshold_s) < 1e-6)

        return _timely(results, reading).derived((_timeliness, threshold_s), make)

    return RowReduction(rows_of, group, _part(part))


def _split_thresholds(part: Part, group: str | None, reading: Reading) -> Reduction:
    def reduce(results: Results) -> Table:
        rows = _timely(results, reading)
        rows = rows if group is None else rows.only(group=group)
        in_ms = np.round(rows.numbers("threshold_s") * 1e3, 3)
        rows = rows.with_columns({"threshold": Column(in_ms)})
        parts, first = parted(rows, "run", "threshold")
        value = _part(part)(rows, parts)
        return rows.take(first).with_columns({"value": Column(value)})

    return reduce


@cache
def _part(part: Part) -> PartValues:
    """Of what is timely each flow's share of what it sent, averaged over flows; of the rest the share of all."""
    if part != "timely":
        return _share((part,), "units_sent", 100)
    return lambda rows, parts: parts.mean(_share_of_sent(rows, part))


class Definition(Protocol):
    """A measure of a flow group, or of all flows."""

    def __call__(self, group: str | None = None) -> Measure:
        """The measure of ``group``, or of all flows."""
        ...


def _wrap_simulated(name: str, described: dict[str, Any]) -> Definition:
    """A measure that the simulator defines (`crates/fairwave-sim/src/measures`), with its own words."""
    least, most = (
        edge if described[key] is None else described[key]
        for key, edge in (("least", -math.inf), ("most", math.inf))
    )
    kinds = frozenset(described["applies"])
    applies = Applies(kinds, beside=kinds, least_flows=described["least_flows"])

    def define(group: str | None = None) -> Measure:
        better = described["better"]
        measure = group_column(
            described["column"], described["title"], group, described["unit"], described["factor"],
            id=name, better=None if better == "neither" else better, limits=(least, most),
        )  # fmt: skip
        return replace(measure, applies=applies)

    define.__name__ = define.__qualname__ = name.replace("-", "_")
    define.__doc__ = described["about"]
    define.applies = applies  # type: ignore[attr-defined]  # functions have any
    return define


SIMULATED: dict[str, Definition] = {
    name: _wrap_simulated(name, one)
    for one in json.loads(_native.group_measures())
    for name in (one["name"].replace("_", "-"),)
}
"""Measures that the simulator defines, in the order of its list."""


fairness, worst_case_fairness, short_term_fairness, cov, overhead = (
    SIMULATED[name] for name in ("fairness", "worst-case-fairness", "short-term-fairness", "cov", "overhead")
)


STANDARD: dict[str, Definition] = {
    "conversation-mos": conversation_mos,
    "session-mos": session_mos,
    "audio-mos": audio_mos,
    "video-mos": video_mos,
    "frozen": frozen,
    "freezes": freezes,
    "without-video": video_outage,
    "longest-freeze": longest_freeze,
    "longest-without-video": longest_without_video,
    "layer-switches": layer_switches,
    "frame-rate": frame_rate,
    "picture-height": picture_height,
    "audio-delay": audio_delay,
    "video-delay": video_delay,
    "lip-sync": lip_sync,
    "concealed": concealed,
    "encoder-target": encoder_target,
    "mos": mos,
    "r-factor": r_factor,
    "mouth-to-ear": mouth_to_ear,
    "decodable": decodable,
    "decodable-layers": decodable_layers,
    "missed": missed,
    "longest-gap": longest_gap,
    "gap-calls": gap_calls,
    "gaps-per-hour": gaps_per_hour,
    "silence": silence,
    "worst-mos": worst_mos,
    "conversation-mos-mean": conversation_mos_mean,
    "round-trip": round_trip,
    "double-talk": double_talk,
    "double-talk-heard": double_talk_heard,
    "responsiveness": responsiveness,
    "ping-loss": ping_loss,
    "loss": loss,
    "worst-loss": worst_loss,
    "late-for-playout": late_for_playout,
    "late": late,
    "waiting": waiting,
    "sender-wait": sender_wait,
    "delay": delay,
    "delay-p95": delay_p95,
    "jitter": jitter,
    "goodput-per-flow": goodput_per_flow,
    "video-rate": video_rate,
    "stalled": stalled,
    "stalls": stalls,
    "start-up": start_up,
    "switches": switches,
    "experience": experience,
    "completion": completion,
    "completion-median": completion_median,
    "completion-p95": completion_p95,
    "slowdown": slowdown,
    "unfinished": unfinished,
    "goodput": goodput,
    "worst-goodput": worst_goodput,
    "packet-loss": packet_loss,
    "retransmitted": retransmitted,
    "qoo": qoo,
    "rtt": rtt,
    "rtt-median": rtt_median,
    "rtt-p95": rtt_p95,
    **SIMULATED,
    "refused": refused,
    "index": index,
    "index-gap": index_gap,
    "index-excess-gap": index_excess_gap,
    "index-sequence": index_sequence,
    "delayed": delayed,
}
"""Measures that a name finds, in the order in which pages and tables show them; `fairwave.measure` adds to them."""


def list_measures(group: str, kind: Kind, *, beside: bool = False) -> list[Measure]:
    """The measures that documents have of a group of this kind, in order; `beside` where another group is compared."""

    def is_in(applies: Applies) -> bool:
        return kind in (applies.beside if beside else applies.to | applies.documents)

    # Standard definitions declare their groups before they are called; custom ones declare them in the measure.
    wanted = (
        define for define in STANDARD.values() if is_in(getattr(define, "applies", Applies(EVERY, EVERY)))
    )
    return [one for one in (define(group) for define in wanted) if is_in(one.applies)]


OWN: dict[str, Callable[[Results, str | None], list[tuple[str, int]]]] = {}
"""Those of them that are the user's own, each with why it is not defined: reasons, each with how many runs have it."""


SYNONYMS = {
    "mos": ("quality", "score", "opinion", "visqol", "pesq", "polqa", "emodel", "qoe"),
    "r-factor": ("r", "rfactor", "rvalue", "rating"),
    "delay": ("latency", "lag", "owd", "onewaydelay", "networkdelay", "delaymean"),
    "mouth-to-ear": ("m2e", "endtoend", "endtoenddelay", "e2e", "mouthtoear"),
    "rtt": ("ping", "roundtriptime", "srtt", "pingtime"),
    "goodput": ("throughput", "bandwidth", "bitrate", "rate", "speed", "datarate", "bps"),
    "packet-loss": ("plr", "lossrate", "packetlossrate", "lost", "per", "lossratio"),
    "missed": ("discarded", "gone", "effectiveloss", "lossandlate"),
    "jitter": ("pdv", "delayvariation", "ipdv", "variation"),
    "concealed": ("concealment", "plc", "glitches"),
    "frame-rate": ("fps", "framerate"),
    "picture-height": ("resolution", "height"),
    "frozen": ("freeze", "freezetime", "freezing"),
    "stalled": ("rebuffering", "buffering", "stall", "rebufferingratio"),
    "start-up": ("startup", "startupdelay", "joiningtime", "ttff"),
    "experience": ("p1203", "streamingquality"),
    "completion": (
        "fct",
        "flowcompletiontime",
        "downloadtime",
        "pageload",
        "pageloadtime",
        "plt",
        "loadtime",
        "duration",
    ),
    "retransmitted": ("retransmissions", "retransmits", "retrans", "rtx"),
    "fairness": ("jain", "jainindex", "fairnessindex"),
    "lip-sync": ("avsync", "lipsync", "skew"),
    "responsiveness": ("rpm", "workinglatency"),
    "qoo": ("qualityofoutcome",),
    "utilisation.r1>r2": ("utilization", "util", "load", "occupancy", "utilisation"),
    "mean-wait.r1>r2": ("queueingdelay", "queuedelay", "qdelay", "wait", "sojourn", "meanwait"),
    "mean-queue.r1>r2": ("queue", "queuelength", "backlog", "qlen", "buffer", "meanqueue"),
    "drop-rate.r1>r2": ("drops", "dropped", "droprate"),
}
"""What people call measures, letters alone; those of links are written with a link direction."""


def _unknown(name: str, group: str | None) -> str:
    """The message for a measure that does not exist: the one that is meant, or those with the nearest names."""
    from difflib import get_close_matches

    letters = "".join(filter(str.isalnum, name.casefold()))
    same = [one for one in STANDARD if one.replace("-", "") == letters]
    meant = same or [one for one, words in SYNONYMS.items() if letters in words]
    near = meant or get_close_matches(name.casefold().replace(" ", "-").replace("_", "-"), STANDARD, 1)
    every = f"`fairwave list measures` shows all {len(STANDARD)}"
    if not near:
        return f"no measure {name!r}; {every}"
    write = f" Write '{near[0]}.{group}';" if group and ">" not in near[0] else ""
    return f"no measure {name!r}; did you mean {' or '.join(map(repr, near))}?{write} {every}"


def find(name: str, group: str | None = None) -> Measure:
    """The measure of that name.

    Raises:
        KeyError: There is none; the message lists them.
    """
    if name not in STANDARD:
        raise KeyError(_unknown(name, group))
    return STANDARD[name](group)
