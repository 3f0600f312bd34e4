"""Gaps of speech, of calls and of media sessions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring.measure import PERCENT, POSITIVE, STREAM, Applies, measure
from fairwave.tables import Column, Table, concatenate

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.results import Results

GAP_S = 0.5
"""A longer gap of speech interrupts a call (`fairwave_media::quality::gaps` has the reason)."""


def _speech(results: Results) -> Table:
    """A row for each call, and for each stream of a media session, with its gaps and its active time (s)."""
    flows = results.rows("flows")
    media = results.rows("media") if "media" in results.tables else None

    def make(flows: Table) -> Table:
        both = [flows] if media is None else [flows, media]
        names = ("silence_s", "longest_gap_s", "gaps", "measured_s")
        each = [
            {name: rows[name] for name in ("run", "group")}
            | {name: Column(rows.numbers(name)) for name in names}
            for rows in both
        ]
        return concatenate({"speech": Table(columns)} for columns in each)["speech"]

    return flows.derived((_speech, media), make)


@measure(
    "silence", "s", POSITIVE, better="lower", rows=_speech, applies=Applies(STREAM, only_above_zero=True)
)
def silence(rows: Table, parts: Parts) -> Numbers:
    """Seconds without speech after its concealment had faded, mean over calls and sessions.

    For a call this is the part of each gap beyond 60 ms (ITU-T G.711 Appendix I); for a media session it is
    `silentConcealedSamples`.
    """
    return parts.mean(rows.numbers("silence_s"))


@measure("longest-gap", "s", POSITIVE, better="lower", rows=_speech, applies=Applies(STREAM, headline=True))
def longest_gap(rows: Table, parts: Parts) -> Numbers:
    """The longest gap in the speech of any call or session of the group, in s: missing without a break."""
    return parts.most(rows.numbers("longest_gap_s"))


@measure(
    "gap-calls", "%", PERCENT, title=f"calls with a gap above {GAP_S:g} s", better="lower", rows=_speech,
    applies=Applies(STREAM, only_above_zero=True, headline=True),
)  # fmt: skip
def gap_calls(rows: Table, parts: Parts) -> Numbers:
    """Calls and sessions with a gap of speech above 0.5 s, in % of all calls and sessions."""
    longest = rows.numbers("longest_gap_s")
    return parts.mean(np.where(np.isnan(longest), math.nan, longest > GAP_S)) * 100


@measure(
    "gaps-per-hour", "/h", POSITIVE, better="lower", rows=_speech, applies=Applies(STREAM, only_above_zero=True)
)  # fmt: skip
def gaps_per_hour(rows: Table, parts: Parts) -> Numbers:
    """Gaps of speech above 0.5 s in an hour of calls and sessions."""
    gaps, times = rows.numbers("gaps"), rows.numbers("measured_s")
    return parts.share(gaps, np.where(np.isnan(gaps), math.nan, times), 3600)
