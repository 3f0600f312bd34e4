"""Studies: a grid of runs, the measures over it, and the claims put to the test."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave.measuring.statistics import Interval, interval, paired
    from fairwave.runs.axes import vary
    from fairwave.runs.grid import Grid
    from fairwave_study.accounts import Account
    from fairwave_study.claims import Claim, Comparison, Evidence, Judgement, Part, Verdict
    from fairwave_study.experiments import Experiment, FoundExperiment, Side
    from fairwave_study.parts import Assumption, Calibration, Data, Figure, Table
    from fairwave_study.readings import Factor, Reading, Readings, Value
    from fairwave_study.shares import Shares
    from fairwave_study.study import Study, from_folder

__all__ = [
    "Account",
    "Assumption",
    "Calibration",
    "Claim",
    "Comparison",
    "Data",
    "Evidence",
    "Experiment",
    "Factor",
    "Figure",
    "FoundExperiment",
    "Grid",
    "Interval",
    "Judgement",
    "Measure",
    "Measured",
    "Part",
    "Reading",
    "Readings",
    "Shares",
    "Side",
    "Study",
    "Table",
    "Value",
    "Verdict",
    "from_folder",
    "interval",
    "paired",
    "vary",
]

_HOMES = {
    "Shares": "fairwave_study.shares",
    "FoundExperiment": "fairwave_study.experiments",
    "Part": "fairwave_study.claims",
    "Side": "fairwave_study.experiments",
    "Experiment": "fairwave_study.experiments",
    "Account": "fairwave_study.accounts",
    "Assumption": "fairwave_study.parts",
    "Calibration": "fairwave_study.parts",
    "Claim": "fairwave_study.claims",
    "Comparison": "fairwave_study.claims",
    "Data": "fairwave_study.parts",
    "Evidence": "fairwave_study.claims",
    "Factor": "fairwave_study.readings",
    "Figure": "fairwave_study.parts",
    "Grid": "fairwave.runs.grid",
    "Interval": "fairwave.measuring.statistics",
    "Judgement": "fairwave_study.claims",
    "Measure": "fairwave.measuring.measures",
    "Measured": "fairwave.measuring.measured",
    "Reading": "fairwave_study.readings",
    "Readings": "fairwave_study.readings",
    "Study": "fairwave_study.study",
    "Table": "fairwave_study.parts",
    "Value": "fairwave_study.readings",
    "Verdict": "fairwave_study.claims",
    "from_folder": "fairwave_study.study",
    "interval": "fairwave.measuring.statistics",
    "paired": "fairwave.measuring.statistics",
    "vary": "fairwave.runs.axes",
}
"""Which module has what: each is imported when it is first asked for, so that the command line starts at once."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fairwave_study' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
