"""From scores to Ie,wb and Bpl,wb of Opus, and the page `docs/opus.md`: ITU-T P.834.1, G.113 and G.107.1.

1. MOS of a condition: the mean over its clips, scaled so that uncoded speech has 4.5, the E-model's best.
2. R on the scale to 129: the inverse of G.107 Annex B, times 1.29.
3. I = R(uncoded) - R(condition) is an impairment in ViSQOL's terms. A line maps it to the scale of G.113 (P.834.1): least squares over the codecs
   of `KNOWN`, without losses.
4. What losses add to I, compared with the same packets without a loss, has a separate slope: least squares over the codecs of `ROBUST`. ViSQOL weighs
   coding noise more than gaps, compared with G.113, so that one line cannot map both.
5. Ie,wb is the mapped impairment without losses, at least 0. Bpl,wb fits G.107.1's Ie,wb,eff to the mapped impairments of lossy conditions by least
   squares.

Intervals of 95 % are from a bootstrap: it draws speakers' clips with replacement and repeats all steps.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.staging import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

BEST_MOS = 4.5
WIDER = 1.29
"""R of G.107.1 is to 129 (§7)."""

MOST = 95.0
"""Of Ie,wb,eff = Ie,wb + (95 - Ie,wb) Ppl / (Ppl / BurstR + Bpl,wb): G.107.1 Eq. 7-15."""

KNOWN = {
    "direct": 0.0, "g722-64": 13.0, "g722-56": 20.0, "g722-48": 31.0,
    "amr-wb-6.60": 41.0, "amr-wb-8.85": 26.0, "amr-wb-12.65": 13.0, "amr-wb-14.25": 10.0, "amr-wb-15.85": 7.0,
    "amr-wb-18.25": 5.0, "amr-wb-19.85": 3.0, "amr-wb-23.05": 1.0, "amr-wb-23.85": 8.0,
}  # fmt: skip
"""Ie,wb of G.113 Appendix IV, Table IV.1."""

ROBUST = {"amr-wb-12.65": 4.3, "amr-wb-23.05": 4.6, "amr-wb-23.85": 4.9}
"""Bpl,wb of G.113 Appendix IV, Table IV.4."""

DRAWS = 1000
LEAST_BPL, MOST_BPL = 0.5, 60.0


@dataclass(frozen=True)
class Fit:
    """What one set of clips says.

    Attributes:
        slope, offset: The line of step 3.
        loss_slope: The slope of step 4.
        deviation, loss_deviation: Root mean square deviations of references from their known values, without losses and with them.
        impairment: Mapped impairment of each condition, in the order of the conditions.
        ie: Ie,wb by rate in kb/s.
        bpl: Bpl,wb by rate and whether in-band FEC is on.
        copy: By rate, the part of a lost frame as which a frame counts that a copy replaces.
    """

    slope: float
    offset: float
    loss_slope: float
    deviation: float
    loss_deviation: float
    impairment: NDArray[np.float64]
    ie: dict[int, float]
    bpl: dict[tuple[int, bool], float]
    copy: dict[int, float]


def effective(ie: float, bpl: float | NDArray[np.float64], loss: float, burst: float) -> Any:  # noqa: ANN401  # a number or an array
    """Ie,wb,eff of G.107.1 for `loss` percent."""
    return ie + (MOST - ie) * loss / (loss / burst + bpl)


@cache
def _annex_b() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r = np.linspace(6.6, 100.0, 20_000)
    return 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6, r


def rating(mos: NDArray[np.float64]) -> NDArray[np.float64]:
    """R, to 129, of a mean opinion score of at most 4.5."""
    scores, r = _annex_b()
    return WIDER * np.interp(mos, scores, r)


def known(condition: dict[str, Any]) -> float | None:
    """Ie,wb,eff of a condition by G.113 and G.107.1; none if it is not a reference."""
    codec, loss = condition["codec"], condition["loss"]
    if codec not in KNOWN or (loss and codec not in ROBUST):
        return None
    return float(effective(KNOWN[codec], ROBUST.get(codec, 1.0), loss, condition["burst"]))


def fit(conditions: list[dict[str, Any]], chosen: NDArray[np.intp], *, without: str = "-") -> Fit:
    """All steps for these clips.

    Args:
        conditions: As `docs/opus.json` has them.
        chosen: Places of the clips, some perhaps more than once.
        without: References whose name begins so are left out.
    """
    mos = np.array([np.array(one["mos"])[chosen].mean() for one in conditions])
    best = next(value for one, value in zip(conditions, mos, strict=True) if one["codec"] == "direct")
    r = rating(1 + (mos - 1) * (BEST_MOS - 1) / (best - 1))
    raw = WIDER * 100 - r
    coding = np.array([raw[_intact(conditions, one)] for one in conditions])
    references = [place for place, one in enumerate(conditions) if known(one) is not None and not one["codec"].startswith(without)]
    clean = [place for place in references if not conditions[place]["loss"]]
    lossy = [place for place in references if conditions[place]["loss"]]
    target = np.array([known(conditions[place]) for place in clean])
    slope, offset = np.polyfit(raw[clean], target, 1)
    deviation = _root_mean_square(slope * raw[clean] + offset - target)
    loss_slope, loss_deviation = 1.0, 0.0
    if lossy:
        added = (raw - coding)[lossy]
        target = np.array([known(conditions[place]) - KNOWN[conditions[place]["codec"]] for place in lossy])
        loss_slope = float(added @ target / (added @ added))
        loss_deviation = _root_mean_square(loss_slope * added - target)
    mapped = np.maximum(slope * coding + offset, 0.0) + loss_slope * (raw - coding)
    ie, bpl, copy = {}, {}, {}
    opus = [(one, value) for one, value in zip(conditions, mapped, strict=True) if one["codec"].startswith("opus-")]
    for one, value in opus:
        if not (one["loss"] or one["fec"] or one["reported"]):
            ie[_rate(one)] = float(value)
    for rate in ie:
        for fec in (False, True):
            lossy = [(one, value) for one, value in opus if _rate(one) == rate and one["loss"] and one["fec"] == fec]
            if lossy:
                bpl[rate, fec] = _robustness(ie[rate], lossy)
        if (rate, True) in bpl:
            lossy = [(one, value) for one, value in opus if _rate(one) == rate and one["loss"] and one["fec"]]
            copy[rate] = _copy(ie[rate], bpl[rate, False], lossy)
        else:
            bpl[rate, True] = bpl[rate, False]
    return Fit(
        float(slope), float(offset), loss_slope, deviation, loss_deviation, mapped, ie, bpl, copy
    )  # fmt: skip


def _root_mean_square(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _intact(conditions: list[dict[str, Any]], condition: dict[str, Any]) -> int:
    """The place of the condition without a loss: the same packets, of which only those with in-band FEC depend on reported losses."""
    reported = condition["reported"] if condition["fec"] else 0
    wanted = (condition["codec"], condition["fec"], 0, reported)
    return [(one["codec"], one["fec"], one["loss"], one["reported"]) for one in conditions].index(wanted)


def _rate(condition: dict[str, Any]) -> int:
    return int(condition["codec"].removeprefix("opus-"))


def _robustness(ie: float, lossy: list[tuple[dict[str, Any], float]]) -> float:
    """Bpl,wb with the least squares of deviations."""
    tried = np.geomspace(LEAST_BPL, MOST_BPL, 400)
    errors = sum((effective(ie, tried, one["loss"], one["burst"]) - value) ** 2 for one, value in lossy)
    return float(tried[np.argmin(errors)])


def _copy(ie: float, bpl: float, lossy: list[tuple[dict[str, Any], float]]) -> float:
    """The weight of copies with the least squares of deviations, over independent losses.

    Of them a share `loss` has no copy, because the next packet is lost too.
    """
    tried = np.linspace(0, 1, 101)
    errors = np.zeros_like(tried)
    for one, value in lossy:
        if one["burst"] == 1:
            alone = one["loss"] / 100
            counted = one["loss"] * (alone + tried * (1 - alone))
            errors += (effective(ie, bpl, counted, 1.0) - value) ** 2
    return float(tried[np.argmin(errors)])


def bootstrap(conditions: list[dict[str, Any]], speakers: list[str], draws: int = DRAWS) -> list[Fit]:
    """Fits of clips that are drawn with replacement, within each speaker."""
    random = np.random.default_rng(1)
    places = [np.flatnonzero(np.array(speakers) == speaker) for speaker in dict.fromkeys(speakers)]
    return [
        fit(conditions, np.concatenate([random.choice(one, len(one)) for one in places])) for _ in range(draws)
    ]
