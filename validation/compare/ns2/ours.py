"""The measures of :mod:`validation.compare.measures`, from fairwave's result tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from validation.compare.measures import jain, variation

if TYPE_CHECKING:
    from fairwave.results import Results

Rows = list[dict[str, Any]]


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


def window_of(results: Results, flow: str) -> list[tuple[float, float]]:
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
