"""Papers 000 and 001 (Papadimitriou & Tsaoussidis): which transport should carry a call, and what it does to others?

`fairwave study voice` regenerates Figures 2–24 of 000 and 2–12 of 001 and puts claims V1 to V39 to the test.

- `readings`: how the papers can be understood, ranked.
- `scenario.toml`, `points`: what is simulated.
- `quantities`, `figures`, `tables`: what is measured and shown.
- `claims`, `contention`, `varying`, `selecting`: what the papers assert, and its tests.
- `explanations`, `experiments`, `account`: what became of it, why, and what a fair account of either paper is.
- `assumptions`: what they leave open, and which factor varies it.
- `study.toml`, `claims.toml`, `readings.toml`, `assumptions.toml`, `accounts.toml`: the study in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study import texts
from fairwave_study.readings import Readings
from fairwave_study.study import Study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave_studies.voice.points import Sweep
    from fairwave_study.readings import Reading

TITLE, QUESTION = texts.title(__file__)


def study() -> Study:
    """The study under the most plausible reading of the papers."""
    return whole(all_readings().base())


def all_readings() -> Readings:
    """All readings of the papers."""
    from fairwave_studies.voice.readings import FACTORS

    return Readings(FACTORS, whole, essential, shortened=texts.shortened(__file__))


def whole(reading: Reading) -> Study:
    """Every figure, table and claim, under a reading."""
    from fairwave_studies.voice.points import SWEEPS

    return described(reading, SWEEPS)


def essential(reading: Reading) -> Study:
    """The claims alone, on the fewest points on which they rest."""
    from fairwave_studies.voice.claims import claims
    from fairwave_studies.voice.points import ESSENTIAL, brief, grid

    ways = all_readings()
    return Study(
        name="voice",
        title=TITLE,
        question=QUESTION,
        grids=[ways.apply(brief(grid(ESSENTIAL)), reading)],
        claims=claims(reading),
        readings=ways,
    )


def described(reading: Reading, sweeps: Mapping[str, Sweep]) -> Study:
    """The study under a reading, at the points of these sweeps."""
    from fairwave_studies.voice.account import ACCOUNTS
    from fairwave_studies.voice.assumptions import ASSUMPTIONS
    from fairwave_studies.voice.claims import claims
    from fairwave_studies.voice.experiments import EXPERIMENTS
    from fairwave_studies.voice.figures import figures
    from fairwave_studies.voice.points import beyond, grid
    from fairwave_studies.voice.tables import tables

    ways = all_readings()
    return Study(
        name="voice",
        title=TITLE,
        question=QUESTION,
        grids=[ways.apply(one, reading) for one in (grid(sweeps), beyond())],
        figures=figures(reading, sweeps),
        tables=tables(reading),
        claims=claims(reading),
        assumptions=ASSUMPTIONS,
        readings=ways,
        accounts=ACCOUNTS,
        experiments=EXPERIMENTS,
    )
