"""What papers 000 and 001 leave open, how it is closed here, and which factor of `readings` varies it."""

from __future__ import annotations

from fairwave_studies.voice.readings import REFUSED
from fairwave_study import texts
from fairwave_study.study import Assumption

ASSUMPTIONS = [
    *texts.assumptions(__file__),
    *(
        Assumption(f"refused-{number}", f"Not admitted as a reading: {one.what}.", one.why)
        for number, one in enumerate(REFUSED, 1)
    ),
]
"""What is open and closed, in the words of `assumptions.toml`, and what was thought of and not admitted."""
