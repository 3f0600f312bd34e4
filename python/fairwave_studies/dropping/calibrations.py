"""The calibration of RED's thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_study.parts import Calibration

if TYPE_CHECKING:
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data


def _describe_wait(data: Data) -> str:
    measured = data.measured(q.QUEUEING, p.ALWAYS_ON)
    if "CA1" not in measured.labels("case"):
        return "not simulated for this figure"
    wait = measured.interval(case="CA1", queue="RED", victim=p.TAIL)
    return f"{wait} ms of queueing delay"


def calibrations(case: Case) -> list[Calibration]:
    """The calibration to a printed number."""
    reading = case.reading
    chosen = p.thresholds(reading)
    return [
        Calibration(
            "mean queueing delay of voice in CA1 under RED with Drop-Tail",
            f"{published.QUEUEING_MS['CA1'][p.TAIL]:g} ms",
            "paper 004, Table 5",
            f"RED's max-threshold, {chosen['max-threshold']:g} packets of {p.MEAN_PACKET} bytes, and "
            f"min-threshold, "
            f"{reading['thresholds']} of it (python -m fairwave_studies.dropping.calibration)",
            _describe_wait,
            (p.ALWAYS_ON,),
        )
    ]
