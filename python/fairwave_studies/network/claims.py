"""Expectations before the first run, N1 to N14, each with its test.

**How words are read.** Calls are *better* by the mean MOS of all calls of the network; 0.1 of it is *little*. A claim
holds on both networks, or at every failure. All comparisons are made seed by seed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairwave_studies.network import points as p
from fairwave_studies.network import quantities as q
from fairwave_study.claims import Evidence
from fairwave_study.comparisons import LITTLE_MOS, differs, is_above

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

WHOLE, FAILED = tuple(p.NETWORKS), tuple(p.FAILS)

LONGER = 1.05
"""Factor by which a file may take longer."""


def _test_networks(
    grids: tuple[str, ...], test: Callable[[Data, str], Evidence]
) -> Callable[[Data], Evidence]:
    """The same test on several grids; the label of each comparison begins with its network."""

    def evidence(data: Data) -> Evidence:
        return Evidence(
            [
                replace(one, label=f"{p.TITLES[grid]}: {one.label}")
                for grid in grids for one in test(data, grid).comparisons
            ]
        )  # fmt: skip

    return evidence


def _queues(
    measure: Measure, one: str, other: str = p.TAIL_ALL, line: float = 0.0, *,
    grids: tuple[str, ...] = WHOLE, **how: Any,
) -> Callable[[Data], Evidence]:  # fmt: skip
    """One way to place queues against another."""
    return _test_networks(
        grids, lambda data, grid: differs(data.measured(measure, grid), "queues", one, other, line, **how)
    )


def _stays_good(data: Data, grid: str) -> Evidence:
    return is_above(data.measured(q.GOOD, grid).select(queues=p.FQ_ALL).drop_axes("queues"), 90.0)


TESTS: Mapping[str, Callable[[Data], Evidence]] = {
    "N1": _queues(q.MOS, p.SEL_ALL),
    "N2": _queues(q.MOS, p.FQ_ALL),
    "N3": _queues(q.MOS, p.SEL_THREE),
    "N4": _queues(q.MOS, p.FQ_THREE),
    "N5": _queues(q.MOS, p.SEL_THREE, p.SEL_ALL, -LITTLE_MOS),
    "N6": _queues(q.MOS, p.FQ_THREE, p.FQ_ALL, -LITTLE_MOS),
    "N7": _queues(q.MOS, p.SEL_ACCESS),
    "N8": _queues(q.MOS, p.FQ_ACCESS),
    "N9": _queues(q.MOS, p.FQ_ALL, p.SEL_ALL, -LITTLE_MOS),
    "N10": _queues(q.FILES, p.SEL_ALL, factor=LONGER, below=True),
    "N11": _queues(q.FILES, p.FQ_ALL, factor=LONGER, below=True),
    "N12": _queues(q.MOS, p.FQ_ALL, grids=FAILED),
    "N13": _queues(q.MOS, p.SEL_ALL, grids=FAILED),
    "N14": _test_networks(FAILED, _stays_good),
}
