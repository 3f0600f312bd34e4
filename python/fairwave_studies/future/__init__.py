"""Does what the papers leave for later help? A study with claims of its own.

`fairwave study future` tries what papers 000 to 004 name as future work or as alternatives and do not measure. Papers
000 and 001: TFRC for small packets, and partial reliability for calls. Paper 002: AIAMD as a DCCP profile, and layers
that are cut anywhere. Paper 003: γ for unreliable streams. Paper 004: AFD and CSFQ next to Drop-Sel. Each is compared
in the scenario of its own paper.

- `voice.toml`, `video.toml`, `streams.toml`, `queues.toml`, `points`: what is simulated.
- `claims`: what was expected before anything was measured, each with its test.
- `figures`, `tables`: what is shown.
- `assumptions`: why the numbers are what they are.
- `study.toml`, `claims.toml`, `assumptions.toml`: the study in words.
"""

from __future__ import annotations

from fairwave_study import texts
from fairwave_study.study import Study

TITLE, QUESTION = texts.title(__file__)


def study() -> Study:
    """The study."""
    from fairwave_studies.future.assumptions import ASSUMPTIONS
    from fairwave_studies.future.claims import CLAIMS
    from fairwave_studies.future.figures import FIGURES
    from fairwave_studies.future.points import grids
    from fairwave_studies.future.tables import TABLES

    return Study(
        name="future",
        title=TITLE,
        question=QUESTION,
        grids=grids(),
        figures=FIGURES,
        tables=TABLES,
        claims=CLAIMS,
        assumptions=ASSUMPTIONS,
    )
