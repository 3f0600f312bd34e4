"""Calibration of the wires: each has the rate, the delay and the losses of the radio link that it replaces.

None of these quantities is a claim's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.measuring import measures
from fairwave_studies.radio import points as p
from fairwave_study.parts import Calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data


def _describe(measure: Measure, grid: str, *links: str) -> Callable[[Data], str]:
    def told(data: Data) -> str:
        found = data.measured(measure, grid)
        return "; ".join(f"{link}: {found.interval(link=link)} {measure.unit}" for link in links)

    return told


def _set(quantity: str, target: str, setting: str, measure: Measure, grid: str, *links: str) -> Calibration:
    return Calibration(
        quantity, target, "the radio link itself", setting, _describe(measure, grid, *links), (grid,)
    )


_DOWN, _UP, _GOODPUT = measures.delay("down"), measures.delay("up"), measures.goodput("transfer")

CALIBRATIONS = (
    _set(
        "goodput of CUBIC without errors", "that on Wi-Fi", f"rate of the wire: {p.WIFI_RATE:g} Mb/s",
        _GOODPUT, p.IDEAL, p.WIFI, p.WIFI_WIRE,
    ),
    _set(
        "goodput of CUBIC without errors", "that in the cell", f"rate of the wire: {p.CELL_RATE:g} Mb/s",
        _GOODPUT, p.IDEAL, p.CELL, p.CELL_WIRE,
    ),
    _set(
        "delay of a call, down", "that in the cell", f"delay of the wire: {p.CELL_DOWN:g} ms",
        _DOWN, p.DELAYED, p.CELL, p.CELL_WIRE,
    ),
    _set(
        "delay of a call, up", "that in the cell", f"delay of the wire: {p.CELL_UP:g} ms",
        _UP, p.DELAYED, p.CELL, p.CELL_WIRE,
    ),
    _set(
        "packets lost where 2 % and 10 % of the blocks fail and none is sent again", "that in the cell",
        f"losses of the wire: {100 * p.PACKET_LOSS[0.02]:g} % and {100 * p.PACKET_LOSS[0.1]:g} %",
        measures.packet_loss("steady"), p.ONCE, *(f"{p.CELL_ONCE}, {error:g}" for error in p.BLOCKS),
    ),
)  # fmt: skip
"""With the measured values from the data."""
