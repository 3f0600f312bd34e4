"""Statistics of CAKE's tins in the layout of `tc -s qdisc`: a row per statistic, a column per tin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairwave.results import Results

ROWS: tuple[tuple[str, str, float, str], ...] = (
    ("thresh", "thresh_bps", 1e-6, "Mb/s"),
    ("target", "target_s", 1e3, "ms"),
    ("interval", "interval_s", 1e3, "ms"),
    ("pk_delay", "pk_delay_s", 1e3, "ms"),
    ("av_delay", "av_delay_s", 1e3, "ms"),
    ("sp_delay", "sp_delay_s", 1e3, "ms"),
    ("backlog", "backlog", 1.0, "B"),
    ("pkts", "pkts", 1.0, ""),
    ("bytes", "bytes", 1.0, ""),
    ("way_inds", "way_inds", 1.0, ""),
    ("way_miss", "way_miss", 1.0, ""),
    ("way_cols", "way_cols", 1.0, ""),
    ("drops", "drops", 1.0, ""),
    ("marks", "marks", 1.0, ""),
    ("ack_drop", "ack_drop", 1.0, ""),
    ("sp_flows", "sp_flows", 1.0, ""),
    ("bk_flows", "bk_flows", 1.0, ""),
    ("un_flows", "un_flows", 1.0, ""),
    ("max_len", "max_len", 1.0, "B"),
    ("quantum", "quantum", 1.0, "B"),
)
"""Each statistic under its name in `tc`: column of the table `tins`, factor and unit."""

ORDER = ("Bulk", "Best Effort", "Video", "Voice")
"""The tins in the order of `tc`."""


def tables(results: Results) -> list[tuple[str, list[str], list[list[str]]]]:
    """Returns a table for each link with the queue CAKE: its name, head and rows. Means over runs."""
    if "tins" not in results.tables:
        return []
    made = []
    for part in results.rows("tins").parted("link"):
        known = part["tin"].unique()
        tins = [one for one in ORDER if one in known]
        rows = []
        for name, column, factor, unit in ROWS:
            cells = [_cell(part.only(tin=tin).numbers(column) * factor) for tin in tins]
            rows.append([f"{name} ({unit})" if unit else name, *cells])
        made.append((str(part["link"].to_list()[0]), ["", *tins], rows))
    return made


def _cell(values: np.ndarray) -> str:
    """Returns the mean of the defined values, or a dash if there are none."""
    there = values[~np.isnan(values)]
    if not len(there):
        return "–"
    mean = float(there.mean())
    return f"{mean:.0f}" if mean == round(mean) or mean >= 1000 else f"{mean:.4g}"  # digits
