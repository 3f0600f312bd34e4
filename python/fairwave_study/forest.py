"""A claim as a picture: its comparisons with their intervals on one axis, the claimed side to the right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_study.overview import BAD, GOOD, OPEN, SAME

if TYPE_CHECKING:
    from fairwave_study.claims import Comparison, Judgement

MOST = 14
"""Comparisons that are named; beyond this the weakest are, and all are drawn without names."""


def forest(judgement: Judgement) -> str:
    """The picture as SVG for a page; empty if there is no comparison.

    Each comparison is a distance to its line, positive on the claimed side. If units differ, distances are in parts of
    the largest distance in the same unit.
    """
    comparisons = [one for one in judgement.evidence.comparisons if math.isfinite(one.interval().mean)]
    if not comparisons:
        return ""
    units = {one.unit for one in comparisons}
    scales = dict.fromkeys(units, 1.0)
    if len(units) > 1:
        for unit in units:
            scales[unit] = (
                max((abs(_ends(one)[1]) for one in comparisons if one.unit == unit), default=1.0) or 1.0
            )
    comparisons.sort(key=judgement.evidence.standing)
    named = len(comparisons) <= MOST
    widened = judgement.evidence.widened
    height = 0.75 + (0.21 * len(comparisons) if named else min(0.05 * len(comparisons), 2.6))
    height += 0.14 if len(units) > 1 else 0.0
    with drawing.canvas(f"claim-{judgement.claim.id}", (7.6, height)) as canvas:
        axes = canvas.subplots()
        for row, one in enumerate(comparisons):
            low, middle, high = (value / scales[one.unit] for value in _ends(one))
            colour = (
                GOOD if one.holds() else BAD if one.contradicts(widened) else SAME if one.is_alike() else OPEN
            )
            if math.isfinite(low) and math.isfinite(high):
                axes.hlines(row, low, high, colors=colour, linewidth=2.2 if named else 1.0)
            axes.plot(
                [middle], [row], marker="o", markersize=4.5 if named else 2.2, color=colour, linestyle="none"
            )
        axes.axvline(0, color=style.INK, linewidth=0.9)
        axes.set_ylim(len(comparisons) - 0.4, -0.6)
        if named:
            axes.set_yticks(range(len(comparisons)), [_short(one.label) for one in comparisons], fontsize=8)
        else:
            axes.set_yticks([])
            axes.set_ylabel(f"{len(comparisons)} comparisons", fontsize=8.5)
        unit = next(iter(units)) if len(units) == 1 else ""
        of = f" ({unit})" if unit else ", scaled per unit" if len(units) > 1 else ""
        # A long text takes two lines: it would not fit next to long names.
        side = "\n" if len(units) > 1 else " "
        axes.set_xlabel(f"margin to the criterion{of}.{side}Right of 0: met", fontsize=8.5)
        axes.tick_params(labelsize=8)
        axes.grid(visible=False, axis="y")
        import io

        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    return drawing.for_page(buffer.getvalue())


def _ends(one: Comparison) -> tuple[float, float, float]:
    """Low, mean and high end as distances on the claimed side."""
    estimate = one.interval()
    sign = 1.0 if one.side == "above" else -1.0
    low, high = sign * (estimate.low - one.line), sign * (estimate.high - one.line)
    return min(low, high), sign * (estimate.mean - one.line), max(low, high)


def _short(label: str) -> str:
    return label if len(label) <= 64 else f"{label[:61]}…"
