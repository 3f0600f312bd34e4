"""Papers 000 and 001 (Papadimitriou & Tsaoussidis): which transport should carry a call, and what it does to others?

`fairwave study voice` regenerates Figures 2–24 of 000 and 2–12 of 001 and puts claims V1 to V39 to the test.

- `readings`: how the papers can be understood, ranked.
- `scenario.toml`, `points`: what is simulated.
- `quantities`, `figures`, `tables`: what is measured and shown.
- `statements`, `claims`, `contention`, `varying`, `selecting`: what the papers assert, and its tests.
- `explanations`, `experiments`, `account`: what became of it, why, and what a fair account of either paper is.
- `assumptions`: what they leave open, and which factor varies it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study.readings import Readings
from fairwave_study.study import Study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave_studies.voice.points import Sweep
    from fairwave_study.readings import Reading

TITLE = "Voice over UDP, Vegas, Westwood and TCP-Real"
QUESTION = (
    "Calls cross a bottleneck of their own, then one that they share with file transfers, then a lossy "
    "last hop. Which transport carries them best, and which leaves most to the others? Papers 000 "
    "(Assessment of Internet voice transport with TCP) and 001 (Evaluation of transport services for "
    "VoIP) answer: TCP-Real, and not UDP. Their topology's rates and delays are lost, and their text prints "
    "no "
    "measured number, so numbers cannot be compared with theirs; what they assert can be tested."
)

SHORTENED = (
    "Runs of 40 s instead of 60, with 40, 80 and 120 calls (001: 40, 60 and 80; beside 60 transfers 40 and 120), "
    "payloads of 160 and 500 bytes, and error rates of 0, 0.01 and 0.05."
)
"""What the exploration makes smaller."""


def study() -> Study:
    """The study under the most plausible reading of the papers."""
    return whole(all_readings().base())


def all_readings() -> Readings:
    """All readings of the papers."""
    from fairwave_studies.voice.readings import FACTORS

    return Readings(FACTORS, whole, essential, shortened=SHORTENED)


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
