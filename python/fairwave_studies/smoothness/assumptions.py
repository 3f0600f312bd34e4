"""What paper 003 leaves open or says in two ways, how it is closed here, and which factor of the readings varies it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness.claims import PUBLISHED, calibrated, level_of
from fairwave_studies.smoothness.names import RENO
from fairwave_study import texts
from fairwave_study.study import Calibration

if TYPE_CHECKING:
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

ASSUMPTIONS = texts.assumptions(__file__)
"""What is open and closed, in the words of `assumptions.toml`."""


def _found(data: Data, *, full: float) -> str:
    levels = ", ".join(
        f"{calibrated(data, level):.0f} ms at {100 * level:g} %" for level in p.LEVELS if level != full
    )
    return (
        f"{calibrated(data, full):.0f} ms of round trip give {RENO} {PUBLISHED[RENO]:g} s to "
        f"{100 * full:g} % of full speed "
        f"(other levels: {levels})"
    )


def calibrations(reading: Reading) -> list[Calibration]:
    """What is set so that a published number comes out; every other number is a prediction."""
    if reading["figure-20"] != "calibrated":
        return []
    return [
        Calibration(
            "Reno's recovery time after a blackout of 1 s",
            f"{PUBLISHED[RENO]:g} s",
            "paper 003, Figure 20",
            "round trip of Figure 20 only; between the simulated ones it is interpolated",
            partial(_found, full=level_of(reading)),
            (n.RECOVERY,),
        )
    ]
