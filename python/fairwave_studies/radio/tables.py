"""Tables: every grid in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave.measuring.statistics import interval, paired
from fairwave_studies.radio import points as p
from fairwave_studies.radio import quantities as q
from fairwave_study import texts
from fairwave_study.parts import Table
from fairwave_study.tables import list_points

if TYPE_CHECKING:
    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data


def _table(grid: str, title: str, *shown: Measure) -> Table:
    # Separate names, so that `--figure` can ask for each.
    return list_points(grid, title, shown, name=f"table-{grid}")


WORDS = texts.notes(__file__)
"""Explanations of the claims that failed, in `explanations.toml`."""


def _explain(grid: str, title: str, *shown: Measure) -> Table:
    """A table of trials for claims that failed."""
    return list_points(grid, title, shown, caption=WORDS.fill(grid))


def _gains(data: Data) -> pl.DataFrame:
    """Additional goodput of transports that distinguish kinds of loss, by kind of link; differences per seed."""
    rows = []
    for grid, error, what in ((p.WIFI_LOSS, 0.03, "packets"), (p.CELL_LOSS, 0.1, "blocks")):
        found = data.measured(q.GOODPUT, grid)
        for link in found.labels("link"):
            got = {one: found.samples(link=link, error=error, transport=one) for one in p.TRANSFERS}
            rows.append(
                {
                    "link": str(link),
                    "lost before retransmission": f"{100 * error:g} % of {what}",
                    "Reno (Mb/s)": str(interval(got[p.RENO])),
                    **{
                        f"{p.NAMES[one]} − {p.NAMES[other]} (Mb/s)": str(paired(got[one], got[other]))
                        for one, other in p.DIFFERENCES
                    },
                }
            )
    return pl.DataFrame(rows)


TABLES = (
    Table(
        "gains",
        "In short: the gain from distinguishing losses",
        (p.WIFI_LOSS, p.CELL_LOSS),
        _gains,
        caption=WORDS.fill("gains"),
    ),
    _table(p.HOME, "Wi-Fi at home", q.MOS, q.MOUTH_TO_EAR, q.SEEN),
    _table(p.WIFI_CALLS, "Carriers of calls next to a slow laptop", q.MOS, q.MOUTH_TO_EAR),
    _table(p.WIFI_VIDEO, "Carriers of a video next to a slow laptop", q.SEEN, q.LAYERS, q.MOS),
    _table(p.WIFI_SESSION, "A WebRTC session next to a slow laptop", q.SPEECH, q.FROZEN),
    _table(p.EDGE, "The edge of a cell", q.MOS, q.MOUTH_TO_EAR, q.SEEN),
    _table(p.EDGE_CALLS, "Carriers of calls at the edge of a cell", q.MOS, q.MOUTH_TO_EAR, q.UPDATE),
    _table(p.EDGE_VIDEO, "Carriers of a video at the edge of a cell", q.SEEN, q.LAYERS, q.MOS, q.UPDATE),
    _table(p.EDGE_SESSION, "A WebRTC session at the edge of a cell", q.SPEECH, q.FROZEN, q.UPDATE),
    _table(p.HANDOFF, "Handoffs", q.MOS, q.MOUTH_TO_EAR, q.SEEN, q.LAYERS),
    _table(p.HANDOFF_TRANSFER, "A transfer through handoffs", q.GOODPUT, q.LOST),
    _table(p.WIFI_LOSS, "Losses on Wi-Fi and on wires", q.GOODPUT, q.LOST),
    _table(p.CELL_LOSS, "Losses in a cell and on wires", q.GOODPUT, q.LOST),
    _table(p.VIDEO_LOSS, "A video next to two transfers, with losses", q.LAYERS, q.SEEN, q.GOODPUT),
    _explain(p.WHY_VIDEO, "Why A10 and A11: a video next to a slow laptop, in a FIFO", q.SEEN, q.LAYERS),
    _explain(
        p.WHY_SESSION, "Why A12: a WebRTC session at the edge, with FQ-CoDel", q.SPEECH, q.SESSION_DELAY
    ),
    _explain(p.WHY_EDGE, "Why A15: DualPI2 at the edge, next to Prague", q.MOS, q.MISSED, q.MOUTH_TO_EAR),
    _explain(p.WHY_HANDOFF, "Why A19: a transfer through handoffs of 1 s that lose", q.GOODPUT, q.LOST),
    _explain(p.WHY_ATTEMPT, "Why A25: Wi-Fi with one attempt and losses of 3 %", q.GOODPUT, q.LOST),
    _explain(p.WHY_WIFI, "Why A23 and A28: Wi-Fi with losses of 3 %", q.GOODPUT, q.LOST),
    _explain(p.WHY_CELL, "Why A26 and A28: a cell in which 10 % of the blocks fail", q.GOODPUT, q.LOST),
)
"""In the order of the page."""
