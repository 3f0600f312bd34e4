"""Error of an answer link by link: its pairs compared with the network simulated as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave_network.measuring import NetworkAnswer

AT = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Shown quantiles of the errors."""


@dataclass(frozen=True)
class Trust:
    """Errors of an answer link by link, over the pairs that both answers rate.

    Attributes:
        pairs: Number of pairs that both rate.
        mos: Quantiles at `AT` of MOS link by link less MOS as a whole.
        p95: Quantiles at `AT` of the relative error of the 95th percentile of delay.
        mos_off, p95_off: Medians of the absolute errors.
    """

    pairs: int
    mos: Sequence[float]
    p95: Sequence[float]
    mos_off: float
    p95_off: float

    def sentence(self) -> str:
        """Returns both medians in words."""
        return (
            f"Next to the network simulated as a whole, over {self.pairs} pairs: median error {self.mos_off:.2f} MOS, "
            f"and {self.p95_off * 100:.0f} % of the 95th percentile of delay."
        )

    def rows(self) -> list[list[str]]:
        """Returns the quantiles as text, a row per measure."""
        return [
            ["MOS", *(f"{one:+.2f}" for one in self.mos)],
            ["delay, 95th percentile", *(f"{one * 100:+.0f} %" for one in self.p95)],
        ]


HEADS = ["link by link less whole", *(f"{at:.0%}".replace("%", " %") for at in AT)]


def compare_pairs(links: NetworkAnswer, whole: NetworkAnswer) -> Trust:
    """Computes the errors of the first answer."""
    both = [pair for pair in links.pairs if pair in whole.pairs]
    mos = np.array([links.pairs[pair].mos.mean - whole.pairs[pair].mos.mean for pair in both])
    p95 = np.array([links.pairs[pair].p95_s / whole.pairs[pair].p95_s - 1 for pair in both])
    if not both:
        return Trust(0, [np.nan] * len(AT), [np.nan] * len(AT), np.nan, np.nan)
    return Trust(
        len(both), [float(one) for one in np.quantile(mos, AT)], [float(one) for one in np.quantile(p95, AT)],
        float(np.median(np.abs(mos))), float(np.median(np.abs(p95))),
    )  # fmt: skip
