"""What paper 004 leaves open, how it is closed here, and which factor of `readings` varies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_study import texts
from fairwave_study.study import Calibration

if TYPE_CHECKING:
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

ASSUMPTIONS = texts.assumptions(__file__)
"""In the words of `assumptions.toml`."""


def _found(data: Data) -> str:
    measured = data.measured(q.QUEUEING, p.ALWAYS_ON)
    if "CA1" not in measured.labels("case"):
        return "not simulated for this figure"
    wait = measured.interval(case="CA1", queue="RED", victim=p.TAIL)
    return f"{wait} ms of queueing delay"


def calibrations(reading: Reading) -> list[Calibration]:
    """What was set so that a printed number comes out, under a reading."""
    chosen = p.thresholds(reading)
    return [
        Calibration(
            "mean queueing delay of voice in CA1 under RED with Drop-Tail",
            f"{published.QUEUEING_MS['CA1'][p.TAIL]:g} ms",
            "paper 004, Table 5",
            f"RED's max-threshold, {chosen['max-threshold']:g} packets of {p.MEAN_PACKET} bytes, and "
            f"min-threshold, "
            f"{reading['thresholds']} of it (python -m fairwave_studies.dropping.calibration)",
            _found,
            (p.ALWAYS_ON,),
        )
    ]
