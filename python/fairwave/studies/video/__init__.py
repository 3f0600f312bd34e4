"""Paper 002 (Papadimitriou, Tsaoussidis & Mamas): a receiver decides how much of a layered video it can take.

`fairwave study video` regenerates Figures 3 and 6–20 and puts claims D1 to D13 to the test.

- `single.toml`, `cross.toml`, `reverse.toml`, `hops.toml`, `systems`, `points`: what is simulated.
- `quantities`, `figures`, `sweeps`, `beyond`, `tables`: what is measured and shown.
- `claims`, `statements`, `explanations`: what the paper asserts, and what became of it.
- `assumptions`, `sensitivities`: what it leaves open, and what hangs on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.study.study import Study

if TYPE_CHECKING:
    from fairwave.studies.video.points import Extent

TITLE = "DVRC and layered video: a receiver-centric rate control"
QUESTION = (
    "A video in cumulative layers can be sent at several rates. Who decides how many layers, and by what? Paper 002 (A "
    "receiver-centric rate control scheme for layered video streams in the Internet) lets the receiver decide, by a "
    "rate that halves on congestion and gives way by one packet on random loss, and tells the two apart by the "
    "history of its receiving rate. It says that this is smoother than TFRC, fairer and friendlier, and loses less. "
    "Its layer rates, traces and several delays are lost, so numbers cannot be compared one by one; what it asserts "
    "can be tested, and the judgement of losses can be scored against the truth."
)


def study(extent: Extent | None = None) -> Study:
    """The study.

    Args:
        extent: How much to simulate instead of the paper's sweeps; `points.ESSENTIAL` is the least on which
        all claims can be judged.
    """
    from fairwave.studies.video import beyond, figures, sensitivities, sweeps
    from fairwave.studies.video.assumptions import ASSUMPTIONS
    from fairwave.studies.video.claims import claims
    from fairwave.studies.video.points import PAPER, grids
    from fairwave.studies.video.tables import tables

    return Study(
        name="video",
        title=TITLE,
        question=QUESTION,
        grids=[*grids(PAPER if extent is None else extent), *sensitivities.grids()],
        figures=[
            *figures.alone(),
            *sweeps.cross(),
            figures.queues(),
            *sweeps.reverse(),
            *sweeps.friendliness(),
            figures.hops(),
            *sweeps.chain(),
            *beyond.figures(),
        ],
        tables=tables(),
        claims=claims(),
        assumptions=ASSUMPTIONS,
        sensitivities=sensitivities.sensitivities(),
    )
