"""Papers 000 and 001 (Papadimitriou & Tsaoussidis): which transport should carry a call, and what it does to others?

`fairwave study voice` regenerates Figures 2–24 of 000 and 2–12 of 001 and puts claims V1 to V15 to the test.

- `scenario.toml`, `points`: what is simulated.
- `quantities`, `figures`, `tables`: what is measured and shown.
- `claims`, `explanations`: what the papers assert, and what became of it.
- `assumptions`, `sensitivities`: what they leave open, and what hangs on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.study.study import Study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave.studies.voice.points import Sweep

TITLE = "Voice over UDP, Vegas, Westwood and TCP-Real"
QUESTION = (
    "Calls cross a bottleneck of their own, then one that they share with file transfers, then a lossy "
    "last hop. Which transport carries them best, and which leaves most to the others? Papers 000 "
    "(Assessment of Internet voice transport with TCP) and 001 (Evaluation of transport services for "
    "VoIP) answer: TCP-Real, and not UDP. Their topology's rates and delays are lost, so numbers cannot "
    "be compared with theirs; what they assert can be tested."
)


def study(sweeps: Mapping[str, Sweep] | None = None) -> Study:
    """The study.

    Args:
        sweeps: What to simulate instead of the papers' scenarios; all claims can be judged on `points.ESSENTIAL`.
    """
    from fairwave.studies.voice.assumptions import ASSUMPTIONS
    from fairwave.studies.voice.claims import claims
    from fairwave.studies.voice.figures import figures
    from fairwave.studies.voice.points import CALLS, SWEEPS, grid
    from fairwave.studies.voice.sensitivities import grids, sensitivities
    from fairwave.studies.voice.tables import tables

    chosen = SWEEPS if sweeps is None else sweeps
    return Study(
        name="voice",
        title=TITLE,
        question=QUESTION,
        grids=[grid(CALLS, chosen), *grids()],
        figures=figures(chosen),
        tables=tables(),
        claims=claims(),
        assumptions=ASSUMPTIONS,
        sensitivities=sensitivities(),
    )
