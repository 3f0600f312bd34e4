"""The measures that both simulators are compared by, each a number per run.

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
from collections.abc import Sequence
from itertools import pairwise

from validation.compare.ns2.simulator import NsRun


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index, (Σx)² / (n·Σx²), between 1/n and 1. NaN without deliveries."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares > 0.0 else math.nan


def shares(found: dict[str, float]) -> dict[str, float]:
    """``share/G``: each group's part of the total goodput, from a run's measures. NaN without deliveries."""
    goodputs = {
        name.partition("/")[2]: value for name, value in found.items() if name.startswith("goodput_mbps/")
    }
    total = math.fsum(goodputs.values())
    return {f"share/{group}": value / total if total else math.nan for group, value in goodputs.items()}


def variation(values: Sequence[float]) -> float:
    """Coefficient of variation: population standard deviation over mean. NaN if the mean is 0."""
    mean = sum(values) / len(values) if values else 0.0
    if mean == 0.0:
        return math.nan
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)) / mean


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
