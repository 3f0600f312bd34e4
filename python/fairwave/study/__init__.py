"""Studies: a grid of runs, the measures over it, and the claims put to the test."""

from fairwave.study.claims import Claim, Comparison, Evidence, Judgement, Verdict
from fairwave.study.grid import Grid, vary
from fairwave.study.measured import Measured
from fairwave.study.measures import Measure
from fairwave.study.readings import Factor, Reading, Readings, Value
from fairwave.study.statistics import Interval, interval, paired
from fairwave.study.study import Assumption, Calibration, Data, Figure, Study, Table

__all__ = [
    "Assumption",
    "Calibration",
    "Claim",
    "Comparison",
    "Data",
    "Evidence",
    "Factor",
    "Figure",
    "Grid",
    "Interval",
    "Judgement",
    "Measure",
    "Measured",
    "Reading",
    "Readings",
    "Study",
    "Table",
    "Value",
    "Verdict",
    "interval",
    "paired",
    "vary",
]
