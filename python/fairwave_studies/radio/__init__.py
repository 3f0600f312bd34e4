"""Which queue, access category and transport keep calls and video good on radio links? What was due to the loss models?

`fairwave study radio` asks the papers' question on Wi-Fi and in a cell, instead of on wires that lose packets.

- `points`: Wi-Fi at home, the edge of a cell, handoffs, and losses before and after retransmission.
- `claims`: what was expected before anything was measured, each with its test.
- `calibrations`: how rates, delays and losses of the wires were set.
- `quantities`, `figures`, `tables`: what is measured and shown.
- `study.toml`, `claims.toml`, `assumptions.toml`: the study in words.
"""

from __future__ import annotations

from fairwave_study import texts
from fairwave_study.study import Study

TITLE, QUESTION = texts.title(__file__)


def study() -> Study:
    """The study."""
    from fairwave_studies.radio.calibrations import CALIBRATIONS
    from fairwave_studies.radio.claims import CLAIMS
    from fairwave_studies.radio.figures import FIGURES
    from fairwave_studies.radio.points import grids
    from fairwave_studies.radio.tables import TABLES

    return Study(
        name="radio",
        title=TITLE,
        question=QUESTION,
        grids=grids(),
        figures=FIGURES,
        tables=TABLES,
        claims=CLAIMS,
        assumptions=texts.assumptions(__file__),
        calibrations=CALIBRATIONS,
    )
