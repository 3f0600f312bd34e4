"""Paper 003 (Tsaoussidis & Zhang): what does smoothness cost in responsiveness, on wires and over radio?

`fairwave study smoothness` regenerates Figures 2–20, holds Eqs. (1)–(4), (13) and (16) against measurement, puts claims
S1 to S36 to the test, and asks the paper's questions of SQRT, IIAD and RAP.

- `readings`: how else the paper can be read; `names`: labels that all share.
- `scenario.toml`, `dynamic.toml`, `beside.toml`, `systems`, `points`: what is simulated.
- `quantities`, `figures`, `equations`, `tables`: what is measured and shown.
- `claims`, `explanations`: what the paper asserts, and what became of it.
- `assumptions`: what it leaves open, and which factor of the readings varies it.
- `account`, `experiments`: what its authors likely had, and what shows why claims come out as they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study import texts
from fairwave_study.study import Study

if TYPE_CHECKING:
    from fairwave_studies.smoothness.points import Extent
    from fairwave_study.readings import Reading

TITLE, QUESTION = texts.title(__file__)


def study(extent: Extent | None = None) -> Study:
    """The study under the most plausible reading of the paper.

    Args:
        extent: How much to simulate instead of the paper's sweeps; `points.ESSENTIAL` is the least on which
        all claims can be judged.
    """
    from fairwave_studies.smoothness.readings import READINGS

    return under(READINGS.base(), extent)


def under(reading: Reading, extent: Extent | None = None, *, claims_only: bool = False) -> Study:
    """The study under a reading.

    Args:
        reading: A value for every factor.
        extent: As for :func:`study`.
        claims_only: Leave out figures, tables, assumptions and whatever only they need.
    """
    from fairwave_studies.smoothness import equations, figures
    from fairwave_studies.smoothness.account import ACCOUNTS
    from fairwave_studies.smoothness.assumptions import ASSUMPTIONS, calibrations
    from fairwave_studies.smoothness.claims import claims
    from fairwave_studies.smoothness.experiments import EXPERIMENTS
    from fairwave_studies.smoothness.points import PAPER, grids
    from fairwave_studies.smoothness.readings import READINGS
    from fairwave_studies.smoothness.tables import tables

    made = PAPER if extent is None else extent
    return Study(
        name="smoothness",
        title=TITLE,
        question=QUESTION,
        grids=grids(made, reading),
        figures=[] if claims_only else [*figures.figures(reading), *equations.figures()],
        tables=[] if claims_only else tables(reading),
        claims=claims(reading, both_rates=made.both_rates),
        assumptions=[] if claims_only else ASSUMPTIONS,
        calibrations=[] if claims_only else calibrations(reading),
        readings=READINGS,
        accounts=[] if claims_only else ACCOUNTS,
        experiments=[] if claims_only else EXPERIMENTS,
    )
