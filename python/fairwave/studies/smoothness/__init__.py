"""Paper 003 (Tsaoussidis & Zhang): what does smoothness cost in responsiveness, on wires and over radio?

`fairwave study smoothness` regenerates Figures 2–20, holds Eqs. (1)–(4), (13) and (16) against measurement,
and puts claims S1 to S16
to the test.

- `scenario.toml`, `dynamic.toml`, `systems`, `points`: what is simulated.
- `quantities`, `figures`, `equations`, `tables`: what is measured and shown.
- `claims`, `explanations`: what the paper asserts, and what became of it.
- `assumptions`, `sensitivities`: what it leaves open, and what hangs on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.study.study import Study

if TYPE_CHECKING:
    from fairwave.studies.smoothness.points import Extent

TITLE = "Smoothness and responsiveness: TCP(α, β), γ and δ, TFRC"
QUESTION = (
    "A TCP that backs off gently is smooth, and one that is friendly must then also grow slowly. What does "
    "that cost where load changes, "
    "where packets are lost to radio, after a handoff? Paper 003 (The dynamics of responsiveness and "
    "smoothness in heterogeneous networks) "
    "answers that smoothness pays on wires and costs elsewhere, and proposes to back off before the queue "
    "overflows (γ) instead. Propagation "
    "delays and most settings are lost, so numbers cannot be compared one by one; what the paper asserts can be tested."
)


def study(extent: Extent | None = None) -> Study:
    """The study.

    Args:
        extent: How much to simulate instead of the paper's sweeps; `points.ESSENTIAL` is the least on which
        all claims can be judged.
    """
    from fairwave.studies.smoothness import equations, figures, sensitivities
    from fairwave.studies.smoothness.assumptions import ASSUMPTIONS, CALIBRATIONS
    from fairwave.studies.smoothness.claims import claims
    from fairwave.studies.smoothness.points import PAPER, grids
    from fairwave.studies.smoothness.tables import tables

    return Study(
        name="smoothness",
        title=TITLE,
        question=QUESTION,
        grids=[*grids(PAPER if extent is None else extent), *sensitivities.grids()],
        figures=[*figures.figures(), *equations.figures()],
        tables=tables(),
        claims=claims(),
        assumptions=ASSUMPTIONS,
        calibrations=CALIBRATIONS,
        sensitivities=sensitivities.sensitivities(),
    )
