"""Selection of measured numbers for the tests of papers 000 and 001, and the meaning of the papers' words.

**Meaning of the words.** *High contention* is 80 calls and more in paper 000, 60 and more in 001, whose sweep ends at
80; *low* is up to 40. *Sensitivity* to errors is the slope of a straight line through the sweep; sensitivity to the
threshold is the difference between its ends. For a tendency over all numbers of calls (payloads), the test compares the
means. A *significant* share is 5 %. An excess over a rival's share by up to 5 % is not *excessive*, and a share of up
to 5 % is *slight*. Goodputs within 2 % look equal in a figure of the papers' kind: 'slightly higher' is no lower than
that anywhere, and higher on the mean. A gain or a fall of a goodput, or of an index, by up to 10 % is *slight*, or
*minor*. Fairness within 0.01 is as good. A *satisfactory* index is 0.9, a *noticeable* difference of two indices 0.05.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.measuring.measured import Measured
from fairwave.tables import Table
from fairwave_studies.voice.points import CALLS, TCPS
from fairwave_study.claims import Evidence
from fairwave_study.comparisons import join

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

SIGNIFICANT = 5.0
"""A share of packets that 'a significant proportion' must exceed, in %."""

EQUAL = 0.01
"""Share of a rival's mean that 'at least' and 'at most' count as equal."""

SLIGHT = 0.02
"""Share by which a goodput may be lower and still look the same in a figure."""

MINOR = 0.10
"""Share of a goodput, or of an index, up to which its gain or fall is slight."""

NOTICEABLE = 0.05
"""A difference of two real-time indices that is noticed."""

AS_FAIR = 0.01
"""By how much Jain's index may be lower and still be as good."""

SATISFACTORY = 0.9
"""A real-time index that satisfies."""

LOW = 40
"""Calls that contend little, in either paper."""

UDP, VEGAS, WESTWOOD, REAL = "udp", *TCPS


def part(data: Data, measure: Measure, **labels: Any) -> Measured:
    """A measure over the part of the calls with these labels; axes that come down to one label are left out.

    Takes the listed labels that the grid has: many readings run fewer numbers of calls. Payload and error rate are 160
    bytes and 0.01 by default; `per=None` takes all.
    """
    wanted = {"payload": "160 B", "per": 0.01, **labels}
    measured = data.measured(measure, CALLS)
    for axis, label in wanted.items():
        if label is None:
            continue
        if isinstance(label, (list, tuple)):
            known = measured.labels(axis)
            measured = measured.select(**{axis: [one for one in label if one in known]})
        else:
            measured = measured.select(**{axis: label})
    single = [axis for axis in measured.axes if axis != "transport" and len(measured.labels(axis)) == 1]
    return measured.drop_axes(*single)


def mean_over(measured: Measured, axis: str) -> Measured:
    """The same with one axis averaged away, seed by seed."""
    axes = tuple(one for one in measured.axes if one != axis)
    frame = measured.frame.group_by([*axes, "seed"], maintain_order=True).agg(pl.col("value").mean())
    return Measured(measured.measure, axes, Table.from_columns(frame))


def change(measured: Measured, axis: str, first: Any, last: Any) -> Measured:
    """The measure's gain from one label of an axis to another, at every point with both."""
    axes = tuple(one for one in measured.axes if one != axis)
    early, late = (measured.select(**{axis: label}).drop_axes(axis).frame for label in (first, last))
    joined = late.join(early, on=[*axes, "seed"], how="inner", suffix="_early", maintain_order="left")
    frame = joined.select(*axes, "seed", pl.col("value") - pl.col("value_early"))
    return Measured(measured.measure, axes, Table.from_columns(frame))


def contended(measured: Measured, least: int) -> Measured:
    """Only points with at least this many calls."""
    return measured.select(flows=[flows for flows in measured.labels("flows") if flows >= least])


def high(data: Data, measure: Measure) -> dict[int, Measured]:
    """High contention in either paper, by the number of transfers."""
    alone, cross = part(data, measure, ftp=0), part(data, measure, ftp=10, flows=(60, 80))
    return {0: contended(alone, 80), 10: cross}


def name_traffic(ftp: int, evidence: Evidence) -> Evidence:
    """The same evidence, with labels that begin with the number of transfers."""
    words = f"beside {ftp} transfers" if ftp else "calls alone"
    return evidence.relabelled(lambda one: f"{words}: {one}")


def compare_scenarios(data: Data, measure: Measure, compare: Callable[[Measured], Evidence]) -> Evidence:
    """A comparison alone (000) and with 10 transfers (001)."""
    return join(*(name_traffic(ftp, compare(part(data, measure, ftp=ftp))) for ftp in (0, 10)))


def on_the_mean(measured: Measured, compare: Callable[[Measured], Evidence]) -> Evidence:
    """A comparison of means over the numbers of calls."""
    return compare(mean_over(measured, "flows")).relabelled(lambda one: f"{one}, mean over calls")


def lines(evidence: Evidence, line: float) -> Evidence:
    """The same comparisons with another line, which itself is on the claim's side."""
    return Evidence([replace(one, line=line, or_equal=True, relevant=0.0) for one in evidence.comparisons])


def payload_gain(data: Data, measure: Measure) -> Measured:
    """Gain of the measure from 160 to 500 bytes, mean over numbers of calls, per transport."""
    whole = part(data, measure, ftp=20, payload=("160 B", "500 B"))
    gain = change(whole, "payload", "160 B", "500 B")
    return mean_over(gain, "flows") if "flows" in gain.axes else gain


def short_payload(data: Data, measure: Measure) -> Measured:
    """The measure with 160 bytes, mean over the numbers of calls with which 500 were tried."""
    whole = part(data, measure, ftp=20, payload=("160 B", "500 B"))
    if "flows" in whole.axes:
        longer = whole.select(payload="500 B").labels("flows")
        whole = mean_over(whole.select(flows=longer), "flows")
    return whole.select(payload="160 B").drop_axes("payload")


def select_errors(data: Data, measure: Measure, flows: Sequence[int] = (80, 120)) -> Measured:
    """The measure over packet errors, with light cross traffic."""
    return part(data, measure, ftp=20, per=None, flows=tuple(flows))


def format_labels(evidence: Evidence, template: str) -> Evidence:
    """The same, its comparisons named by this template of the transport."""
    return evidence.relabelled(lambda one: template.format(one.removeprefix("transport ")))
