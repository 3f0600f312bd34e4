"""Paper 002 (Papadimitriou, Tsaoussidis & Mamas): a receiver decides how much of a layered video it can take.

`fairwave study video` regenerates Figures 3 and 6–20 and puts claims D1 to D36 to the test.

- `single.toml`, `cross.toml`, `reverse.toml`, `hops.toml`, `systems`, `points`: what is simulated.
- `quantities`, `figures`, `sweeps`, `beyond`, `tables`: what is measured and shown.
- `claims`, `explanations`: what the paper asserts, and what became of it.
- `assumptions`, `readings`: what it leaves open, how it is closed, and every other way that its words admit.
- `account`, `experiments`: what its authors likely had, and what shows why claims come out as they do.
- `study.toml`, `claims.toml`, `readings.toml`, `assumptions.toml`, `accounts.toml`: the study in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study import texts
from fairwave_study.study import Study

if TYPE_CHECKING:
    from fairwave_studies.video.points import Extent
    from fairwave_study.readings import Reading

TITLE, QUESTION = texts.title(__file__)


def study(extent: Extent | None = None) -> Study:
    """The study under the base reading.

    Args:
        extent: How much to simulate instead of the paper's sweeps.
    """
    return under({}, extent)


def under(reading: Reading, extent: Extent | None = None) -> Study:
    """The whole study under a reading; what that does not name is as in the base reading."""
    from fairwave_studies.video import beyond, figures, sweeps
    from fairwave_studies.video.account import ACCOUNTS
    from fairwave_studies.video.assumptions import ASSUMPTIONS
    from fairwave_studies.video.claims import MeasuredTerms, claims
    from fairwave_studies.video.experiments import EXPERIMENTS
    from fairwave_studies.video.points import PAPER, grids
    from fairwave_studies.video.readings import applied, readings
    from fairwave_studies.video.tables import tables

    found = readings()
    reading = found.complete(reading)
    words = MeasuredTerms.of(reading)
    return Study(
        name="video",
        title=TITLE,
        question=QUESTION,
        grids=[applied(found, one, reading) for one in grids(PAPER if extent is None else extent)],
        figures=[
            *figures.alone(),
            *sweeps.cross(words),
            figures.queues(words.capacity),
            *sweeps.reverse(words),
            *sweeps.friendliness(),
            figures.hops(),
            *sweeps.chain(words),
            *beyond.figures(),
        ],
        tables=tables(),
        claims=claims(reading),
        assumptions=ASSUMPTIONS,
        readings=found,
        accounts=ACCOUNTS,
        experiments=EXPERIMENTS,
    )


def essentials(reading: Reading, extent: Extent | None = None) -> Study:
    """The claims under a reading, and the fewest points on which they rest."""
    from fairwave_studies.video.claims import claims
    from fairwave_studies.video.points import ESSENTIAL, FASTER, needed
    from fairwave_studies.video.readings import applied, readings

    found = readings()
    reading = found.complete(reading)
    if extent is None:
        extent = FASTER if reading["rates"] == "20 Mb/s" else ESSENTIAL
    return Study(
        name="video",
        title=TITLE,
        question=QUESTION,
        grids=[applied(found, one, reading) for one in needed(extent, reading)],
        claims=claims(reading, bare=True),
        readings=found,
    )
