"""Tables: the numbers behind the figures, and Figure 20's recovery times next to the published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave.measuring.statistics import interval
from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness import quantities as q
from fairwave_studies.smoothness.claims import PUBLISHED, calibrated, level_of, predicted
from fairwave_study.parts import Table

if TYPE_CHECKING:
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data


def _recovery(data: Data) -> pl.DataFrame:
    rows = []
    for name, published in PUBLISHED.items():
        row = {"system": name, "published (s)": f"{published:g}"}
        for level in p.LEVELS:
            words = f"to {100 * level:g} %, round trip {calibrated(data, level):.0f} ms (s)"
            times = predicted(data, name, level)
            row[words] = str(interval(times))
            row[f"distance at {100 * level:g} % (%)"] = str(interval(100 * (times / published - 1)))
        rows.append(row)
    return pl.DataFrame(rows)


def _wired(data: Data) -> pl.DataFrame:
    rows = []
    for rate, grid in (("10 Mb/s", n.WIRED_10), ("100 Mb/s", n.WIRED_100)):
        goodput, overhead = (data.measured(one, grid) for one in (q.GOODPUT, q.OVERHEAD))
        drops, wait = (data.measured(one, grid) for one in (q.DROPS, q.WAIT))
        flows = goodput.labels("flows")
        for number in dict.fromkeys((flows[0], flows[len(flows) // 2], flows[-1])):
            rows += [
                {
                    "bottleneck": rate,
                    "flows": str(number),
                    "system": name,
                    **{
                        one.measure.label: str(one.interval(flows=number, transport=name))
                        for one in (goodput, overhead, drops, wait)
                    },
                }
                for name in goodput.labels("transport")
            ]
    return pl.DataFrame(rows)


def _tabulate_extras(data: Data) -> pl.DataFrame:
    goodput, cov, fairness = (
        data.measured(one, n.BEYOND) for one in (q.GOODPUT, q.COV, q.SHORT_TERM_FAIRNESS)
    )
    success = data.measured(q.SUCCESS[0.9], n.BEYOND_READERS)
    ours, theirs = (data.measured(one, n.BESIDE) for one in (q.MAIN_GOODPUT, q.RENO_GOODPUT))
    rows = []
    for name in goodput.labels("transport"):
        row = {"system": name}
        row |= {one.measure.label: str(one.interval(transport=name)) for one in (goodput, cov, fairness)}
        row |= {
            f"{success.measure.label}, errors {per:g}": str(success.interval(transport=name, per=per))
            for per in success.labels("per")
        }
        share = ours.samples(transport=name) / theirs.samples(transport=name)
        row["goodput over Reno's beside it"] = str(interval(share))
        rows.append(row)
    for name in (n.RENO_STREAM, n.GAMMA_STREAM):
        reads = {
            f"{success.measure.label}, errors {per:g}": str(success.interval(transport=name, per=per))
            for per in success.labels("per")
        }
        rows.append({"system": name, **reads})
    return pl.DataFrame(rows)


def tables(case: Case) -> list[Table]:
    """All tables."""
    reading = case.reading
    reno = (
        "Reno's is calibrated on, at each level; the others are predictions."
        if reading["figure-20"] == "calibrated"
        else "On the path of all other figures; all four are predictions."
    )
    return [
        Table(
            "recovery",
            "Recovery from a blackout of 1 s",
            (n.RECOVERY,),
            _recovery,
            "paper 003, Figure 20",
            f"{reno} The reading's level is {100 * level_of(reading):g} %.",
        ),
        Table(
            "wired",
            "On wires",
            (n.WIRED_10, n.WIRED_100),
            _wired,
            caption="At a few, a medium and many flows.",
        ),
        Table(
            "beyond",
            "Beyond the paper: smooth systems of the time",
            (n.BEYOND, n.BEYOND_READERS, n.BESIDE),
            _tabulate_extras,
            caption="What Figure 003-beyond, 003-beyond-readers and 003-beyond-friendly show, in numbers.",
        ),
    ]
