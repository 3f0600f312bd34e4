"""Runs a case in both simulators and compares."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import fairwave
from validation.compare.ns2 import references as independent
from validation.compare.ns2 import simulator as ns2
from validation.compare.ns2.measures import extract_window, measure_fairwave, measure_ns2
from validation.compare.ns2.translate import translate
from validation.verdict import Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from validation.compare.ns2.cases import Case

Trace = list[tuple[float, float]]


@dataclass
class Outcome:
    """A case in both simulators: comparisons, and two windows if the case wants them.

    ``references`` compares fairwave with independent results of ns-2, if there are any.
    """

    case: Case
    comparisons: list[Comparison]
    seeds: int
    ours_window: Trace = field(default_factory=list)
    ns2_window: Trace = field(default_factory=list)
    references: list[Comparison] = field(default_factory=list)

    @property
    def disagreeing(self) -> list[Comparison]:
        """The comparisons that do not agree."""
        return [comparison for comparison in self.comparisons if not comparison.agrees]


def run(
    case: Case, seeds: Sequence[int], kept: Path, references: Path, threads: int | None = None
) -> Outcome:
    """Runs ``case`` with these seeds in both simulators.

    ``kept`` is the folder of ns-2's output, so that interrupted work continues and ns-2 never runs twice. ``threads``
    is the number of parallel runs; None means all cores.

    Raises:
        NsError: ns-2 is missing or failed.
        NotInNs2Error: The scenario has something that ns-2 lacks.
        fairwave.ScenarioError: The scenario is wrong.
    """
    scenario = fairwave.load(json.dumps(case.scenario))
    results = scenario.replicate(seeds=list(seeds), threads=threads)
    whole = scenario.with_overrides({"warmup": "0 s"}).replicate(seeds=list(seeds), threads=threads)
    plans = [plan(scenario, seed) for seed in seeds]
    with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as pool:
        theirs = list(pool.map(lambda each: ns2.recall(translate(each, case.bottleneck), kept), plans))
    warmup = plans[0]["warmup_ns"] / 1e9
    ours = measure_fairwave(results, whole, case.bottleneck, warmup)
    compared = compare(ours, [measure_ns2(each) for each in theirs])
    outcome = Outcome(case, [each for each in compared if each.measure not in case.skip], len(seeds))
    if case.reference:
        file, name = case.reference
        outcome.references = independent.compare(ours, references / file, name)
    if case.trace:
        first = plans[0]["flows"][plans[0]["record"]["windows"][0]]["name"]
        outcome.ours_window = extract_window(results, first)
        outcome.ns2_window = [(time, values[0]) for time, values in theirs[0].windows]
    return outcome


def plan(scenario: fairwave.Scenario, seed: int) -> dict[str, Any]:
    """The plan of a scenario for a seed, as data."""
    data: dict[str, Any] = json.loads(scenario.native.exact_plan(seed))
    return data
