"""Which queue helps calls in a whole network, where is it enough, and what if a link fails?

`fairwave study network` asks the question of paper 004 on two real topologies. It needs `fairwave[network]`.

- `points`: the networks, the queues and where they are, the failures.
- `claims`: what was expected before anything was measured, each with its test.
- `figures`, `tables`: what is shown.
- `study.toml`, `claims.toml`, `assumptions.toml`: the study in words.
"""

from __future__ import annotations

from fairwave.extras import need_all
from fairwave_study import texts
from fairwave_study.study import Study

TITLE, QUESTION = texts.title(__file__)


def study() -> Study:
    """The study."""
    need_all("fairwave study network", "network")
    from fairwave_studies.network.claims import CLAIMS
    from fairwave_studies.network.figures import FIGURES
    from fairwave_studies.network.points import grids
    from fairwave_studies.network.tables import TABLES

    return Study(
        name="network",
        title=TITLE,
        question=QUESTION,
        grids=grids(),
        figures=FIGURES,
        tables=TABLES,
        claims=CLAIMS,
        assumptions=texts.assumptions(__file__),
    )
