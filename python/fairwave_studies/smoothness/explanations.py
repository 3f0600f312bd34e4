"""Why claims come out as they do, and which factors to turn to see it.

The trials used the points of the essential study. The command next to each repeats it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study import texts
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    Notes = Mapping[Verdict, str]

WORDS = texts.notes(__file__)
"""The sentences, in `explanations.toml`."""

IN_NS2_35 = WORDS.fill("repeat", reading='{"version": "ns2"}')
"""The command that repeats a trial with ns-2.35's least timeout."""

REPRODUCED = "_reproduced"
"""Suffix of texts for reproduced claims; the other texts are shown if the claim is not reproduced."""


def _notes() -> dict[str, Notes]:
    found: dict[str, dict[Verdict, str]] = {}
    for key in WORDS:
        if key == "repeat":
            continue
        words = WORDS.fill(key, **({"repeat": IN_NS2_35} if "repeat" in WORDS.names(key) else {}))
        holds = key.endswith(REPRODUCED)
        shown = (Verdict.REPRODUCED,) if holds else (Verdict.NOT_REPRODUCED, Verdict.UNDECIDED)
        found.setdefault(key.removesuffix(REPRODUCED).upper(), {}).update(dict.fromkeys(shown, words))
    return dict(found)


EXPLANATIONS: Mapping[str, Notes] = _notes()
"""Claim to its words by verdict."""
