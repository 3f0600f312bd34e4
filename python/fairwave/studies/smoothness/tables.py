"""Tables: what lies behind the figures in numbers, and Figure 20's recovery times beside the published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave.studies.smoothness import points as p
from fairwave.studies.smoothness import quantities as q
from fairwave.studies.smoothness.claims import FULL, PUBLISHED, calibrated, predicted
from fairwave.study.statistics import interval
from fairwave.study.study import Table

if TYPE_CHECKING:
    from fairwave.study.study import Data


def _recovery(data: Data) -> pl.DataFrame:
    rows = []
    for name, published in PUBLISHED.items():
        row = {"system": name, "published (s)": f"{published:g}"}
        for level in p.LEVELS:
            words = f"to {100 * level:g} %, round trip {calibrated(data, level):.0f} ms (s)"
            row[words] = str(interval(predicted(data, name, level)))
        rows.append(row)
    return pl.DataFrame(rows)


def _wired(data: Data) -> pl.DataFrame:
    rows = []
    for rate, grid in (("10 Mb/s", p.WIRED_10), ("100 Mb/s", p.WIRED_100)):
        goodput, overhead = (data.measured(one, grid) for one in (q.GOODPUT, q.OVERHEAD))
        drops, wait = (data.measured(one, grid) for one in (q.DROPS, q.WAIT))
        flows = goodput.labels("flows")
        for n in dict.fromkeys((flows[0], flows[len(flows) // 2], flows[-1])):
            rows += [
                {
                    "bottleneck": rate,
                    "flows": str(n),
                    "system": name,
                    **{
                        one.measure.label: str(one.interval(flows=n, transport=name))
                        for one in (goodput, overhead, drops, wait)
                    },
                }
                for name in goodput.labels("transport")
            ]
    return pl.DataFrame(rows)


def tables() -> list[Table]:
    """Both tables."""
    return [
        Table(
            "recovery",
            "Recovery from a blackout of 1 s",
            (p.RECOVERY,),
            _recovery,
            "paper 003, Figure 20",
            "Reno's is calibrated on, at each level; the others are predictions. The study's level is "
            f"{100 * FULL:g} %.",
        ),
        Table(
            "wired",
            "On wires",
            (p.WIRED_10, p.WIRED_100),
            _wired,
            caption="At a few, a medium and many flows.",
        ),
    ]
