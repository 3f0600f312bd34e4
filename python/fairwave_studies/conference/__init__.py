"""How do rate controllers of calls do in the cases of RFC 8867? A study with claims of its own.

`fairwave study conference` runs the cases of RFC 8867 §5.1 to §5.8 and §6.1 to §6.3 with every rate controller and
every queue of `points`. No complete table of these cases has been published before.

- `points`: the cases, the controllers, the queues.
- `quantities`: what is measured, after RFC 8868 §3.
- `claims`: what RFC 8836 and RFC 8867 expect, each with its test; written before anything was run.
- `figures`, `tables`: what is shown.
- `study.toml`, `claims.toml`, `assumptions.toml`: the study in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study import texts

if TYPE_CHECKING:
    from fairwave_study.study import Study

TITLE, QUESTION = texts.title(__file__)


def study() -> Study:
    """The study."""
    # Here, and not above: `fairwave rfc8867` is a command in this package, and every command starts with its module.
    from fairwave_studies.conference.claims import CLAIMS
    from fairwave_studies.conference.figures import FIGURES
    from fairwave_studies.conference.points import grids
    from fairwave_studies.conference.tables import TABLES
    from fairwave_study.study import Study

    return Study(
        name="conference",
        title=TITLE,
        question=QUESTION,
        grids=grids(),
        figures=FIGURES,
        tables=TABLES,
        claims=CLAIMS,
        assumptions=tuple(texts.assumptions(__file__)),
    )
