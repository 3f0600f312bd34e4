"""Paper 004 (Alvarez-Flores, Ramos-Munoz, Ameigeiras & Lopez-Soler): which packet to drop, and what the caller hears.

`fairwave study dropping` regenerates Figures 4–9 and Tables 5–9 and puts claims Q1 to Q32 to the test. It also
evaluates Voice-Guard, fairwave's answer to the paper's future work, and two queues that the paper names and does not
measure.

- `readings`: how else the paper can be understood; the most plausible reading is the study's.
- `dumbbell.toml`, `routers.toml`, `points`: what is simulated under a reading.
- `calibration`: RED's thresholds from the one cell that is calibrated on.
- `quantities`, `recognition`: what is measured.
- `published`, `figures`, `tables`, `agreement`: what is shown, and what the paper prints beside it.
- `claims`, `explanations`: what the paper asserts, and what became of it.
- `experiments`: mechanisms on and off, which show why.
- `account`: what its authors would take for a fair account.
- `assumptions`: what it leaves open, and which factor varies it.
- `study.toml`, `claims.toml`, `readings.toml`, `assumptions.toml`, `accounts.toml`: the study in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study import texts
from fairwave_study.readings import Readings
from fairwave_study.study import Study

if TYPE_CHECKING:
    from fairwave_studies.dropping.points import Extent
    from fairwave_study.readings import Reading

TITLE, QUESTION = texts.title(__file__)


def study(extent: Extent | None = None) -> Study:
    """The study under the most plausible reading.

    Args:
        extent: How much to simulate instead of the paper's 500 s of every case.
    """
    from fairwave_studies.dropping.readings import BASE

    return whole(BASE, extent)


def whole(reading: Reading, extent: Extent | None = None) -> Study:
    """The study under a reading, with every figure and table."""
    from fairwave_studies.dropping import figures, tables
    from fairwave_studies.dropping.account import accounts
    from fairwave_studies.dropping.assumptions import ASSUMPTIONS, calibrations
    from fairwave_studies.dropping.claims import claims
    from fairwave_studies.dropping.experiments import experiments
    from fairwave_studies.dropping.points import PAPER, grids

    chosen = PAPER if extent is None else extent
    return Study(
        name="dropping",
        title=TITLE,
        question=QUESTION,
        grids=grids(chosen, reading),
        figures=figures.figures(chosen, reading),
        tables=tables.tables(),
        claims=claims(reading),
        assumptions=ASSUMPTIONS,
        calibrations=calibrations(reading),
        readings=all_readings(),
        accounts=accounts(),
        experiments=experiments(),
    )


def essential(reading: Reading) -> Study:
    """The study under a reading, down to what its claims rest on, but for those about what is understood."""
    from fairwave_studies.dropping.claims import claims
    from fairwave_studies.dropping.points import ESSENTIAL, grids

    return Study(
        name="dropping",
        title=TITLE,
        question=QUESTION,
        grids=grids(ESSENTIAL, reading),
        claims=claims(reading, heard=False),
    )


def all_readings() -> Readings:
    """All readings of the paper."""
    from fairwave_studies.dropping.points import SHORTENED
    from fairwave_studies.dropping.readings import FACTORS

    return Readings(FACTORS, whole, essential, shortened=SHORTENED)
