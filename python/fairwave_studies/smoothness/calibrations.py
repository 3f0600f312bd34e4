"""The calibration of Figure 20's round trip."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness.claims import PUBLISHED, calibrated, level_of
from fairwave_studies.smoothness.names import RENO
from fairwave_study.parts import Calibration

if TYPE_CHECKING:
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data


def _describe_round_trip(data: Data, *, full: float) -> str:
    levels = ", ".join(
        f"{calibrated(data, level):.0f} ms at {100 * level:g} %" for level in p.LEVELS if level != full
    )
    return (
        f"{calibrated(data, full):.0f} ms of round trip give {RENO} {PUBLISHED[RENO]:g} s to "
        f"{100 * full:g} % of full speed "
        f"(other levels: {levels})"
    )


def calibrations(case: Case) -> list[Calibration]:
    """The calibration to a published number; every other number is a prediction."""
    if case.reading["figure-20"] != "calibrated":
        return []
    return [
        Calibration(
            "Reno's recovery time after a blackout of 1 s",
            f"{PUBLISHED[RENO]:g} s",
            "paper 003, Figure 20",
            "round trip of Figure 20 only; between the simulated ones it is interpolated",
            partial(_describe_round_trip, full=level_of(case.reading)),
            (n.RECOVERY,),
        )
    ]
