"""The printed tables of paper 004, for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping.points import DROP_SEL, FRONT, TAIL

if TYPE_CHECKING:
    from collections.abc import Mapping

Cell = tuple[str, str]
"""A column of the paper's tables: queue and victim."""

CELLS: tuple[Cell, ...] = tuple(
    (queue, victim) for queue in ("RED", "AVQ", "REM") for victim in (TAIL, FRONT, DROP_SEL)
)

QUEUEING_MS: Mapping[str, Mapping[str, float]] = {
    "CA1": {TAIL: 83, FRONT: 68, DROP_SEL: 65},
    "CA2": {TAIL: 84, FRONT: 71, DROP_SEL: 67},
    "CA3": {TAIL: 71, FRONT: 75, DROP_SEL: 55},
    "CA4": {TAIL: 58, FRONT: 73, DROP_SEL: 51},
}
"""Table 5: mean queueing delay under RED."""

END_TO_END_MS: Mapping[str, Mapping[str, float]] = {
    "CA1": {TAIL: 123, FRONT: 108, DROP_SEL: 105},
    "CA2": {TAIL: 124, FRONT: 111, DROP_SEL: 107},
    "CA3": {TAIL: 110, FRONT: 114, DROP_SEL: 94},
    "CA4": {TAIL: 97, FRONT: 112, DROP_SEL: 91},
}
"""Table 5: mean end-to-end delay."""

SHARES_CA2 = (34, 31, 35)
"""§4.2: shares of the link for voice, other UDP and TCP in CA2 under Drop-Sel, in %."""

SHARES: Mapping[tuple[str, str, str], tuple[float, float, float]] = {
    ("CA2", "RED", DROP_SEL): SHARES_CA2,
    ("CA6", "AVQ", DROP_SEL): (39, 21, 40),
}
"""§4.2: printed shares of the throughput for voice, other UDP and TCP, in %, by case, queue and victim."""

VARIANCE: Mapping[str, Mapping[str, float]] = {
    "CA1": {TAIL: 22e-3, FRONT: 42e-3, DROP_SEL: 40e-3},
    "CA2": {TAIL: 19e-3, FRONT: 42e-3, DROP_SEL: 48e-3},
    "CA3": {TAIL: 17e-2, FRONT: 34e-3, DROP_SEL: 13e-2},
    "CA4": {TAIL: 25e-2, FRONT: 83e-2, DROP_SEL: 12e-2},
}
"""Table 5: 'end-to-end variance'; the paper gives no unit."""

QUEUE, USER, TOTAL, FIRST, SECOND = "queue", "final user", "total", "R2 queue", "R5 queue"


def _row(*values: float) -> Mapping[Cell, float]:
    return dict(zip(CELLS, values, strict=True))


LOSS_S2: Mapping[str, Mapping[str, Mapping[Cell, float]]] = {
    "CA5": {
        QUEUE: _row(21.03, 23.79, 54.01, 2.36, 24.19, 29.37, 5.23, 26.45, 53.21),
        USER: _row(11.94, 7.13, 4.33, 0.07, 0.40, 0.57, 7.91, 5.88, 3.90),
        TOTAL: _row(32.97, 30.92, 58.34, 2.43, 24.59, 29.94, 13.14, 32.33, 57.11),
    },
    "CA6": {
        QUEUE: _row(7.88, 11.59, 48.17, 1.26, 16.57, 38.94, 3.17, 16.98, 47.82),
        USER: _row(14.19, 13.29, 5.60, 0.12, 0.19, 0.69, 9.05, 11.99, 5.26),
        TOTAL: _row(22.07, 24.88, 53.77, 1.38, 16.76, 39.63, 12.22, 28.97, 53.08),
    },
    "CA7": {
        QUEUE: _row(8.80, 16.14, 0.00, 0.35, 15.51, 0.00, 2.22, 13.64, 0.74),
        USER: _row(11.84, 11.78, 4.24, 0.43, 0.39, 0.00, 8.71, 6.23, 1.41),
        TOTAL: _row(20.64, 27.92, 4.24, 0.78, 15.90, 0.00, 10.93, 19.87, 2.15),
    },
    "CA8": {
        QUEUE: _row(1.21, 4.31, 0.26, 0.18, 5.80, 0.02, 0.72, 5.56, 0.28),
        USER: _row(5.63, 11.29, 3.23, 0.12, 0.07, 0.10, 4.04, 8.19, 2.89),
        TOTAL: _row(6.84, 15.60, 3.49, 0.30, 5.87, 0.12, 4.76, 13.75, 3.17),
    },
}
"""Table 6: lost voice, in % of the sent packets."""

LOSS_S3: Mapping[str, Mapping[str, Mapping[Cell, float]]] = {
    "CA9": {
        FIRST: _row(1.44, 5.16, 0.00, 0.05, 5.65, 0.01, 0.47, 4.81, 0.10),
        SECOND: _row(12.02, 14.12, 0.00, 1.87, 11.99, 0.01, 2.00, 13.82, 0.12),
        USER: _row(8.86, 1.85, 0.00, 0.00, 0.00, 0.00, 8.29, 1.11, 0.20),
        TOTAL: _row(22.32, 21.13, 0.00, 1.92, 17.64, 0.02, 10.76, 19.74, 0.42),
    },
    "CA10": {
        FIRST: _row(0.01, 0.01, 0.00, 0.01, 0.00, 0.00, 0.00, 0.00, 0.00),
        SECOND: _row(9.61, 12.15, 0.00, 2.14, 11.07, 0.03, 1.88, 10.32, 0.05),
        USER: _row(0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00),
        TOTAL: _row(9.62, 12.16, 0.00, 2.15, 11.07, 0.03, 1.88, 10.32, 0.05),
    },
}
"""Table 7: the same in S3."""

FLOWS = ("A1", "A2", "B1", "B2", "B3", "B4", "B5", "B6", "C1", "C2")

WORD_ACCURACY: Mapping[str, Mapping[Cell, float]] = {
    "A1": _row(98.58, 98.18, 99.02, 99.02, 97.88, 99.02, 98.96, 98.31, 98.99),
    "A2": _row(98.73, 98.21, 99.02, 99.02, 98.42, 99.02, 99.00, 98.56, 99.02),
    "B1": _row(98.60, 97.39, 99.02, 99.01, 96.77, 99.02, 98.95, 97.71, 98.97),
    "B2": _row(98.35, 97.57, 99.02, 99.02, 96.49, 99.02, 98.94, 97.82, 98.99),
    "B3": _row(98.50, 96.89, 99.02, 98.99, 96.44, 99.02, 98.90, 97.38, 98.92),
    "B4": _row(78.54, 38.85, 90.50, 98.04, 91.48, 98.59, 85.18, 71.77, 97.19),
    "B5": _row(78.30, 37.81, 90.43, 98.09, 91.34, 98.62, 84.98, 70.79, 96.87),
    "B6": _row(78.55, 39.41, 91.11, 98.10, 94.77, 98.62, 85.40, 72.76, 97.10),
    "C1": _row(96.70, 93.44, 99.02, 98.78, 96.38, 99.02, 97.65, 93.87, 98.56),
    "C2": _row(96.98, 91.42, 99.02, 98.59, 95.53, 99.02, 97.65, 92.88, 98.49),
}
"""Table 8: word accuracy in CA7, %."""

CORRECT_SENTENCES: Mapping[str, Mapping[Cell, float]] = {
    "A1": _row(95.73, 94.78, 97.08, 97.08, 93.79, 97.08, 96.85, 95.06, 96.98),
    "A2": _row(96.20, 94.73, 97.08, 97.08, 95.38, 97.08, 97.00, 95.68, 97.08),
    "B1": _row(95.90, 92.49, 97.08, 97.08, 90.84, 97.08, 96.88, 93.26, 96.90),
    "B2": _row(95.08, 93.11, 97.08, 97.08, 90.41, 97.08, 96.85, 93.66, 97.03),
    "B3": _row(95.55, 91.04, 97.08, 96.98, 90.41, 97.08, 96.70, 92.36, 96.78),
    "B4": _row(53.92, 18.91, 76.47, 94.71, 78.95, 95.88, 76.27, 57.07, 92.96),
    "B5": _row(53.52, 18.86, 76.72, 94.86, 78.47, 96.05, 75.79, 56.67, 92.21),
    "B6": _row(54.09, 19.86, 78.02, 94.81, 86.31, 96.00, 76.20, 57.84, 93.01),
    "C1": _row(90.61, 82.85, 97.08, 96.28, 89.74, 97.08, 93.06, 83.37, 95.70),
    "C2": _row(91.46, 78.80, 97.08, 95.75, 87.81, 97.05, 92.86, 81.62, 95.50),
}
"""Table 9: correct sentences in CA7, %."""
