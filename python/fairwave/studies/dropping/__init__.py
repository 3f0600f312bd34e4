"""Paper 004 (Alvarez-Flores, Ramos-Munoz, Ameigeiras & Lopez-Soler): which packet to drop, and what the caller hears.

`fairwave study dropping` regenerates Figures 4–9 and Tables 5–9, puts claims Q1 to Q12 to the test, and evaluates
Voice-Guard, fairwave's answer to the paper's future work.

- `dumbbell.toml`, `routers.toml`, `points`: what is simulated.
- `quantities`, `recognition`: what is measured.
- `published`, `figures`, `tables`, `agreement`: what is shown, and what the paper prints beside it.
- `claims`, `explanations`: what the paper asserts, and what became of it.
- `assumptions`, `sensitivities`: what it leaves open, and what hangs on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.study.study import Study

if TYPE_CHECKING:
    from fairwave.studies.dropping.points import Extent

TITLE = "Which packet to drop: Drop-Sel beside drop-tail and drop-front"
QUESTION = (
    "Calls, other UDP and TCP share the queue of one router, and it has decided that a packet must go. Which? "
    "Paper 004 "
    "(Selective packet dropping for VoIP and TCP flows) answers: the one nearest the front of the class that "
    "holds most of the "
    "queue, whatever decides when (RED, AVQ, REM). Its bottleneck's rate, the offered total and the queues' "
    "parameters are "
    "lost. RED's thresholds are calibrated on one cell of its Table 5; every other number here is a prediction, "
    "and stands "
    "beside the paper's. Voice-Guard is fairwave's own answer to what the paper leaves as future work: it is "
    "Drop-Sel while "
    "voice takes at most a third of the link; while voice takes more (measured over a second, with hysteresis) "
    "and the link "
    "can carry it, packets go from the heavier of the other two classes."
)


def study(extent: Extent | None = None) -> Study:
    """The study.

    Args:
        extent: How much to simulate instead of the paper's 500 s of every case.
    """
    from fairwave.studies.dropping import figures, sensitivities, tables
    from fairwave.studies.dropping.assumptions import ASSUMPTIONS, CALIBRATIONS
    from fairwave.studies.dropping.claims import claims
    from fairwave.studies.dropping.points import PAPER, grids

    chosen = PAPER if extent is None else extent
    return Study(
        name="dropping",
        title=TITLE,
        question=QUESTION,
        grids=[*grids(chosen), *sensitivities.grids(chosen)],
        figures=figures.figures(chosen),
        tables=tables.tables(),
        claims=claims(),
        assumptions=ASSUMPTIONS,
        calibrations=CALIBRATIONS,
        sensitivities=sensitivities.sensitivities(),
    )
