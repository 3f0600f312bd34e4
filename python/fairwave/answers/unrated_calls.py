"""Calls whose codec has no impairment factor: they have delay, loss, lateness and gaps, but no rating.

*Good*, *fair* and *poor* are words for the rating of the E-model. Packets missed ignore delay, so they never replace
the rating: such a call is *not rated*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.measuring import measures
from fairwave.measuring.remarks import remarks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.measuring.statistics import Interval
    from fairwave.results import Results

PARTS = (
    ("mouth-to-ear", "mouth to ear {}", "ms"),
    ("missed", "{} of the packets missed after playout", "%"),
    ("loss", "{} lost", "%"),
    ("late-for-playout", "{} of the others late", "%"),
    ("longest-gap", "longest gap {}", "s"),
)
"""Measures of a call that need no rating, each with its wording and unit."""


def is_unrated(results: Results, group: str) -> bool:
    """Whether a group's flows are calls, and some of them have no rating although they sent speech."""
    flows = results.rows("flows").only(group=group)
    if "quality_note" not in flows:
        return False
    notes, sent = flows["quality_note"].to_list(), flows.numbers("units_sent")
    return any(
        (note or "").startswith("not defined") and count > 0 for note, count in zip(notes, sent, strict=True)
    )


def explain(results: Results, group: str) -> str:
    """Why calls of a group have no rating."""
    return "; ".join(one.text for one in remarks(results, group) if one.kind == "not defined")


def parts(results: Results, group: str, points: Sequence[Mapping[str, Any]]) -> dict[str, list[Interval]]:
    """Measure to its mean at each of some points."""
    found = {}
    for name, *_ in PARTS:
        measured = measures.find(name, group).compute(results)
        found[name] = [measured.interval(**point) for point in points]
    return found


def describe(lead: str, reason: str, found: Mapping[str, Sequence[Interval]]) -> str:
    """Makes a sentence: the unrated calls, the reason, and the means at one point, or the ranges over several."""
    said = {}
    for name, words, unit in PARTS:
        means = [cell.mean for cell in found.get(name, ()) if cell.n]
        if means:
            low, high = f"{min(means):.3g}", f"{max(means):.3g}"
            said[name] = words.format(f"{low if low == high else f'{low} to {high}'} {unit}")
    causes = [said.pop(name) for name in ("loss", "late-for-playout") if name in said]
    if causes and "missed" in said:
        said["missed"] += f" ({', '.join(causes)})"
    because = f" ({reason})" if reason else ""
    return f"{lead} not rated{because}: {', '.join(said.values())}."
