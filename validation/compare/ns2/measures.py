"""The measures of the comparison with ns-2, of both simulators: numbers per run.

Names: ``goodput_mbps/GROUP`` and so on for a group of flows, plain names for the bottleneck.

* ``goodput_mbps/G``: payload delivered to the applications of group G, sum of payload / (T − start)
* ``goodput_steady_mbps/G``: payload delivered in [warm-up, T] / (T − warm-up), sum over flows
* ``jain/G``: Jain's index of the flows' steady goodputs (groups of more than one flow)
* ``cov/G``: mean over flows of standard deviation / mean of the payload per bin after the warm-up
* ``loss_rate/G``: packets of the group that the bottleneck dropped / that arrived there, over [0, T]
* ``drop_rate``, ``drop_rate_steady``: packets dropped / arrived at the bottleneck
* ``mean_queue``, ``mean_queue_steady``: time average of packets that wait, not of the one being sent
* ``utilisation``: bits that left the bottleneck queue after the warm-up / capacity
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from validation.compare.measures import jain, variation

if TYPE_CHECKING:
    from fairwave.results import Results
    from validation.compare.ns2.simulator import NsRun

Rows = list[dict[str, Any]]


def measure_ns2(run: NsRun) -> dict[str, float]:
    """The measures of a run of ns-2."""
    case = run.case
    span = case.duration - case.warmup
    measures: dict[str, float] = {}
    groups: dict[str, list[int]] = {}
    for index, flow in enumerate(case.flows):
        groups.setdefault(flow.group, []).append(index)
    for group, members in groups.items():
        steady = [(run.end.flows[i].payload - run.warm.flows[i].payload) * 8.0 / span for i in members]
        whole = [run.end.flows[i].payload * 8.0 / (case.duration - case.flows[i].start) for i in members]
        measures[f"goodput_mbps/{group}"] = sum(whole) / 1e6
        measures[f"goodput_steady_mbps/{group}"] = sum(steady) / 1e6
        if len(members) > 1:
            measures[f"jain/{group}"] = jain(steady)
        if run.bins:
            counts = [[row[i] for _, row in run.bins] for i in members]
            each = [variation([b - a for a, b in pairwise(row)]) for row in counts]
            measures[f"cov/{group}"] = sum(each) / len(each)
        if case.bottlenecks:
            at = [run.end.at_link.get((case.bottlenecks[0], i)) for i in members]
            arrived = sum(count.arrivals for count in at if count)
            if arrived > 0:
                measures[f"loss_rate/{group}"] = sum(count.drops for count in at if count) / arrived
    if case.bottlenecks:
        link = case.bottlenecks[0]
        end, warm = run.end.links[link], run.warm.links[link]
        measures["drop_rate"] = end.drops / end.arrivals if end.arrivals else 0.0
        later = end.arrivals - warm.arrivals
        measures["drop_rate_steady"] = (end.drops - warm.drops) / later if later else 0.0
        measures["mean_queue"] = end.waiting / case.duration
        measures["mean_queue_steady"] = (end.waiting - warm.waiting) / span
        measures["utilisation"] = (
            (end.bytes_departed - warm.bytes_departed) * 8.0 / (span * case.links[link].rate)
        )
    return measures


def measure_fairwave(
    results: Results, whole: Results, bottleneck: str, warmup: float
) -> list[dict[str, float]]:
    """One dictionary of measures per run, in the order of the runs.

    Args:
        results: The runs.
        whole: The same runs, measured from their beginning.
        bottleneck: The link direction that is measured.
        warmup: Seconds that ``results`` leaves out.
    """
    flows, links = _group_by_run(results, "flows"), _group_by_run(results, "links")
    series = _group_by_run(results, "series") if "series" in results.tables else {}
    whole_flows, whole_links = _group_by_run(whole, "flows"), _group_by_run(whole, "links")
    return [
        _measure_steady(flows[run], links[run], series.get(run, []), bottleneck, warmup)
        | _measure_complete(whole_flows[run], whole_links[run], bottleneck)
        for run in sorted(flows)
    ]


def extract_window(results: Results, flow: str) -> list[tuple[float, float]]:
    """Samples of a flow's congestion window in the first run: seconds, segments."""
    rows = _group_by_run(results, "series").get(0, [])
    return [(row["time_s"], row["value"]) for row in rows if row["kind"] == "window" and row["name"] == flow]


def _group_by_run(results: Results, table: str) -> dict[int, Rows]:
    """Rows of a table by run; dictionary-encoded columns as plain text."""
    frame = results.to_polars(table).with_columns(pl.col(pl.Categorical).cast(pl.String))
    grouped: dict[int, Rows] = {}
    for row in frame.iter_rows(named=True):
        grouped.setdefault(row["run"], []).append(row)
    return grouped


def _measure_steady(
    flows: Rows, links: Rows, series: Rows, bottleneck: str, warmup: float
) -> dict[str, float]:
    measures: dict[str, float] = {}
    for group in dict.fromkeys(flow["group"] for flow in flows):
        members = [flow for flow in flows if flow["group"] == group]
        steady = [flow["goodput_bps"] for flow in members]
        measures[f"goodput_steady_mbps/{group}"] = sum(steady) / 1e6
        if len(members) > 1:
            measures[f"jain/{group}"] = jain(steady)
        names = {f"{group}[{flow['flow']}]" for flow in members}
        bins: dict[str, list[float]] = {}
        for row in series:
            if row["kind"] == "goodput_bps" and row["name"] in names and row["time_s"] > warmup + 1e-9:
                bins.setdefault(row["name"], []).append(row["value"])
        if bins:
            each = [variation(values) for values in bins.values()]
            measures[f"cov/{group}"] = sum(each) / len(each)
    link = _link(links, bottleneck)
    measures["drop_rate_steady"] = link["drop_rate"]
    measures["mean_queue_steady"] = link["mean_queue_packets"]
    measures["utilisation"] = link["utilisation"]
    return measures


def _measure_complete(flows: Rows, links: Rows, bottleneck: str) -> dict[str, float]:
    measures: dict[str, float] = {}
    for group in dict.fromkeys(flow["group"] for flow in flows):
        members = [flow for flow in flows if flow["group"] == group]
        measures[f"goodput_mbps/{group}"] = sum(flow["goodput_bps"] for flow in members) / 1e6
        sent = sum(flow["packets_sent"] for flow in members)
        measures[f"loss_rate/{group}"] = sum(flow["dropped"] for flow in members) / sent if sent else math.nan
    link = _link(links, bottleneck)
    return measures | {"drop_rate": link["drop_rate"], "mean_queue": link["mean_queue_packets"]}


def _link(links: Rows, name: str) -> dict[str, Any]:
    return next(row for row in links if row["link"] == name)
