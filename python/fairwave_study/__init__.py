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
    name: module
    for module, names in {
        "fairwave.measuring.measured": "Measured",
        "fairwave.measuring.measures": "Measure",
        "fairwave.measuring.statistics": "Interval interval paired",
        "fairwave.runs.axes": "vary",
        "fairwave.runs.grid": "Grid",
        "fairwave_study.accounts": "Account",
        "fairwave_study.claims": "Claim Comparison Evidence Judgement Part Verdict",
        "fairwave_study.experiments": "Experiment FoundExperiment Side",
        "fairwave_study.parts": "Assumption Calibration Data Figure Table",
        "fairwave_study.readings": "Factor Reading Readings Value",
        "fairwave_study.shares": "Shares",
        "fairwave_study.study": "Study from_folder",
    }.items()
    for name in names.split()
}
"""Name to its module. A module is imported on first use, so that the command line starts at once."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fairwave_study' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
