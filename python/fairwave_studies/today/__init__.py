"""Do the papers' mechanisms still help beside what is deployed today? A study with claims of its own.

`fairwave study today` lets calls and a layered video share a line with CUBIC, BBR and Prague. The queues are drop-tail,
CoDel, FQ-CoDel, CAKE and DualPI2, with and without Drop-Sel and Voice-Guard (paper 004). UDP, TCP-Real (000), γ and γ+δ
(003) and DVRC (002) carry the calls and the video.

- `scenario.toml`, `points`: what is simulated.
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
    from fairwave_studies.today.assumptions import ASSUMPTIONS
    from fairwave_studies.today.claims import CLAIMS
    from fairwave_studies.today.figures import FIGURES
    from fairwave_studies.today.points import grids
    from fairwave_studies.today.tables import TABLES

    return Study(
        name="today",
        title=TITLE,
        question=QUESTION,
        grids=grids(),
        figures=FIGURES,
        tables=TABLES,
        claims=CLAIMS,
        assumptions=ASSUMPTIONS,
    )
