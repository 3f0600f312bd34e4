"""From scores to Ie,wb and Bpl,wb of Opus, and their page: ITU-T P.834.1, G.113 and G.107.1.

1. MOS of a condition: the mean over its clips, scaled so that uncoded speech has 4.5, the E-model's best.
2. R on the scale to 129: the inverse of G.107 Annex B, times 1.29.
3. I = R(uncoded) - R(condition) is an impairment in ViSQOL's terms. A line maps it to the scale of G.113 (P.834.1):
   least squares over the codecs of `KNOWN`, without losses.
4. The additional I of losses, compared with the same packets without a loss, has a separate slope: least squares over
the codecs of `ROBUST`. ViSQOL weighs coding noise more than gaps, compared with G.113, so that one line cannot map
both.

Intervals of 95 % are from a bootstrap: it draws speakers' clips with replacement and repeats all steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from validation import kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

KEPT = "measured/opus"
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
    """Factors from one set of clips.

    Attributes:
        slope, offset: The line of step 3.
        loss_slope: The slope of step 4.
        deviation, loss_deviation: Root mean square deviations of references from their known values, without losses
        and with them. impairment: Mapped impairment of each condition, in the order of the conditions. ie: Ie,wb by
        rate in kb/s. bpl: Bpl,wb by rate and whether in-band FEC is on. copy: By rate, the part of a lost frame as
        which a frame counts that a copy replaces.
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


def effective(ie: float, bpl: Any, loss: float, burst: float) -> Any:  # noqa: ANN401
    """Ie,wb,eff of G.107.1 for `loss` percent, of a number or of an array of Bpl,wb."""
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
        conditions: As `results/measured/opus` has them.
        chosen: Places of the clips, some perhaps more than once.
        without: References with this beginning of their names are left out.
    """
    mos = np.array([np.array(one["mos"])[chosen].mean() for one in conditions])
    best = next(value for one, value in zip(conditions, mos, strict=True) if one["codec"] == "direct")
    r = rating(1 + (mos - 1) * (BEST_MOS - 1) / (best - 1))
    raw = WIDER * 100 - r
    coding = np.array([raw[_intact(conditions, one)] for one in conditions])
    references = [
        place
        for place, one in enumerate(conditions)
        if known(one) is not None and not one["codec"].startswith(without)
    ]
    clean = [place for place in references if not conditions[place]["loss"]]
    lossy = [place for place in references if conditions[place]["loss"]]
    target = np.array([known(conditions[place]) for place in clean])
    slope, offset = np.polyfit(raw[clean], target, 1)
    deviation = _root_mean_square(slope * raw[clean] + offset - target)
    loss_slope, loss_deviation = 1.0, 0.0
    if lossy:
        added = (raw - coding)[lossy]
        target = np.array(
            [(known(conditions[place]) or 0.0) - KNOWN[conditions[place]["codec"]] for place in lossy]
        )
        loss_slope = float(added @ target / (added @ added))
        loss_deviation = _root_mean_square(loss_slope * added - target)
    mapped = np.maximum(slope * coding + offset, 0.0) + loss_slope * (raw - coding)
    ie, bpl, copy = {}, {}, {}
    opus = [
        (one, value)
        for one, value in zip(conditions, mapped, strict=True)
        if one["codec"].startswith("opus-")
    ]
    for one, value in opus:
        if not (one["loss"] or one["fec"] or one["reported"]):
            ie[_rate(one)] = float(value)
    for rate, clean_ie in ie.items():
        for fec in (False, True):
            degraded = [
                (one, value)
                for one, value in opus
                if _rate(one) == rate and one["loss"] and one["fec"] == fec
            ]
            if degraded:
                bpl[rate, fec] = _robustness(clean_ie, degraded)
        if (rate, True) in bpl:
            degraded = [
                (one, value) for one, value in opus if _rate(one) == rate and one["loss"] and one["fec"]
            ]
            copy[rate] = _copy(clean_ie, bpl[rate, False], degraded)
        else:
            bpl[rate, True] = bpl[rate, False]
    return Fit(
        float(slope), float(offset), loss_slope, deviation, loss_deviation, mapped, ie, bpl, copy
    )  # fmt: skip


def _root_mean_square(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _intact(conditions: list[dict[str, Any]], condition: dict[str, Any]) -> int:
    """The place of the condition with the same packets and no loss.

    Only packets with in-band FEC depend on reported losses.
    """
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
        fit(conditions, np.concatenate([random.choice(one, len(one)) for one in places]))
        for _ in range(draws)
    ]


def interval(values: list[float]) -> tuple[float, float]:
    """The middle 95 % of a bootstrap."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def factors(scores: dict[str, Any], draws: int = DRAWS) -> dict[str, Any]:
    """All factors with their intervals, and how well references and curves agree.

    Args:
        scores: The scores.
        draws: Of the bootstrap.
    """
    conditions, speakers = scores["conditions"], [clip["speaker"] for clip in scores["clips"]]
    everything = np.arange(len(speakers))
    best, drawn = fit(conditions, everything), bootstrap(conditions, speakers, draws)

    def with_interval(value: Callable[[Fit], float], digits: int) -> list[float]:
        low, high = interval([value(one) for one in drawn])
        return [round(number, digits) for number in (value(best), low, high)]

    def factors_at(rate: int) -> dict[str, list[float]]:
        copies = {"copy": with_interval(lambda one: one.copy[rate], 2)} if rate in best.copy else {}
        return {
            "ie": with_interval(lambda one: one.ie[rate], 1),
            "bpl": with_interval(lambda one: one.bpl[rate, False], 1),
            "bpl_fec": with_interval(lambda one: one.bpl[rate, True], 1),
            **copies,
        }

    return {
        "slope": with_interval(lambda one: one.slope, 2),
        "offset": with_interval(lambda one: one.offset, 1),
        "loss_slope": with_interval(lambda one: one.loss_slope, 2),
        "deviation": round(best.deviation, 1),
        "loss_deviation": round(best.loss_deviation, 1),
        "curve_deviation": round(_curve_deviation(conditions, best), 1),
        "rates": {str(rate): factors_at(rate) for rate in sorted(best.ie)},
    }


def _curve_deviation(conditions: list[dict[str, Any]], one: Fit) -> float:
    """Root mean square deviation of lossy conditions of Opus from G.107.1's equation with the fitted factors."""
    found = [
        value - effective(one.ie[_rate(c)], one.bpl[_rate(c), c["fec"]], c["loss"], c["burst"])
        for c, value in zip(conditions, one.impairment, strict=True)
        if c["codec"].startswith("opus-") and c["loss"]
    ]
    return _root_mean_square(np.array(found))


def keep(scores: dict[str, Any]) -> None:
    """Keeps scores with the factors that fit them."""
    kept.write(KEPT, {**scores, "factors": factors(scores)})


def render(_: Path) -> str:
    """Renders the page from the kept scores."""
    return text(kept.read(KEPT))


def text(scores: dict[str, Any]) -> str:
    """The page."""
    found, conditions = scores["factors"], scores["conditions"]
    everything = np.arange(len(scores["clips"]))
    best = fit(conditions, everything)
    impairments = list(zip(conditions, best.impairment, strict=True))

    def span(values: list[float], digits: int = 1) -> str:
        value, low, high = (f"{one:.{digits}f}" for one in values)
        return f"{value} ({low} to {high})"

    rows = [
        [
            f"{rate} kb/s",
            span(one["ie"]),
            span(one["bpl"]),
            _with_fec(one, span),
            span(one["copy"], 2) if "copy" in one else "none",
        ]
        for rate, one in found["rates"].items()
    ]
    references = [
        [f"`{one['codec']}`", _loss(one), f"{np.mean(one['mos']):.2f}", f"{reference:.1f}", f"{value:.1f}"]
        for one, value in impairments
        if (reference := known(one)) is not None
    ]
    measured = [
        [
            f"`{one['codec']}`",
            "on" if one["fec"] else "off",
            _loss(one),
            f"{np.mean(one['mos']):.2f}",
            f"{value:.1f}",
            f"{effective(best.ie[_rate(one)], best.bpl[_rate(one), one['fec']], one['loss'], one['burst']):.1f}",
        ]
        for one, value in impairments
        if one["codec"].startswith("opus-") and (one["loss"] or not one["fec"])
    ]
    plain = fit(conditions, everything, without="g722")
    speakers = ", ".join(dict.fromkeys(clip["speaker"] for clip in scores["clips"]))
    factor_head = [
        "rate",
        "Ie,wb ‡",
        "Bpl,wb ‡, no in-band FEC",
        "Bpl,wb ‡, in-band FEC",
        "a restored frame counts as ‡",
    ]
    reference_head = ["reference", "lost", "ViSQOL", "Ie,wb,eff of G.113", "after mapping"]
    measured_head = ["codec", "in-band FEC", "lost", "ViSQOL", "Ie,wb,eff", "by the equation"]
    return PAGE.format(
        factors=_table(factor_head, rows),
        references=_table(reference_head, references),
        measured=_table(measured_head, measured),
        library=scores["library"],
        clips=len(scores["clips"]),
        speakers=speakers,
        conditions=len(conditions),
        minutes=f"{scores['cpu_minutes']:.0f}",
        slope=span(found["slope"], 2),
        offset=span(found["offset"]),
        loss_slope=span(found["loss_slope"], 2),
        deviation=found["deviation"],
        loss_deviation=found["loss_deviation"],
        curve_deviation=found["curve_deviation"],
        without=", ".join(f"{plain.ie[rate]:.1f} at {rate} kb/s" for rate in sorted(plain.ie)),
        without_deviation=f"{plain.deviation:.1f}",
    )


def _with_fec(one: dict[str, Any], span: Callable[[list[float]], str]) -> str:
    return span(one["bpl_fec"]) if "copy" in one else "the same: no copies"


def _loss(condition: dict[str, Any]) -> str:
    return f"{condition['loss']:g} %{', in runs' if condition['burst'] > 1 else ''}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


PAGE = """# Impairment factors of Opus

ITU-T G.113 has no impairment factors for Opus. Fairwave determined them by an experiment. ‡ marks these values:
*determined here*. They rate calls by ITU-T G.107.1 wherever Opus is the codec: in `voice`, `conversation` and
`recording`, and in media sessions. In brackets: 95 % intervals.

{factors}

## Rules

- Between two rates of the table, each factor lies on the straight line between their values. Above the last rate
  the factors remain those of the last.
- `opus` without a rate is 32 kb/s in packets of 20 ms, as WebRTC sends speech of one channel
  (`audio_encoder_opus.cc`, `kOpusBitrateFbBps`; RFC 7587 §3.1.1).
- In-band FEC is on by default, as in WebRTC. `in-band-fec = false` of a flow, or of `audio` in a session, switches
  it off.
- Libopus adds no copies at 16 kb/s and below while losses are at most 20 %. There the factors are the same with and
  without.
- A call of `voice` takes Bpl,wb with in-band FEC for all lost packets. A media session simulates the copies. So it
  takes Bpl,wb without, and each restored frame counts as the part of a lost frame in the last column.
- The factors are for packets of 20 ms. Fairwave applies them to other packets too, and to every band: the wideband
  scale cannot value sound above 8 kHz.

## Method

1. *Speech.* {clips} clips of 8 s, 16 kHz, -26 dBov, 50 to 7000 Hz ({speakers}). They come from Debian's packages
   `pocketsphinx-testdata` (LibriVox, public domain), `fillets-ng-data-cs` and `fillets-ng-data-nl` (GPL-2).
   Fairwave downloads them for the experiment and does not contain them.
2. *Codec.* {library}, set as WebRTC sets it for one channel: application VoIP, complexity 9, constrained variable
   rate, no DTX, frames of 20 ms. The encoder knows the loss. The decoder restores a lost frame from the next
   packet if that packet has a copy, and otherwise conceals it (without deep PLC).
3. *Losses.* 1, 3, 10 and 20 % of packets, independently, and 3 and 10 % in runs of twice the length (burst ratio
   2). All codecs lose the same packets.
4. *Score.* ViSQOL 3 in speech mode, aligned sample by sample. Uncoded speech has the E-model's best MOS, 4.5. The
   inverse of G.107 Annex B gives R, times 1.29.
5. *Mapping.* As P.834.1 requires, codecs with known Ie,wb (G.113 Table IV.1) map ViSQOL's impairments to the
   scale: slope {slope}, offset {offset}. The root mean square deviation of the references is {deviation}.
6. *Losses' mapping.* ViSQOL weighs gaps less than G.113 does, compared with coding noise. So what losses add has a
   separate slope, {loss_slope}, from three modes of AMR-WB with known Bpl,wb (Table IV.4). The deviation of these
   references is {loss_deviation}.
7. *Fit.* Ie,wb is the mapped impairment without losses. Bpl,wb has the least squares over the lossy conditions of
   Ie,wb,eff = Ie,wb + (95 - Ie,wb) · Ppl / (Ppl / BurstR + Bpl,wb). The deviation of the conditions from this
   equation is {curve_deviation}.
8. *Intervals.* 1000 bootstrap samples of the clips, drawn within each speaker; each repeats steps 4 to 7.

The experiment has {conditions} conditions and takes {minutes} minutes of one core.
`results/measured/opus.json.gz` keeps every score.

## Limits

- The intervals show what other clips of these speakers would change. They do not contain the error of ViSQOL,
  which the deviations of the references show: it is larger. ViSQOL rates AMR-WB worse than listeners do, and G.722
  better.
- Without G.722 among the references, Ie,wb would be {without} (deviation {without_deviation}).
- Table IV.4 is for listening with both ears, Table IV.1 with one. The concealment of AMR-WB here is that of
  opencore-amr.
- At losses near 20 %, scores fall faster than the equation; near 10 % they fall more slowly.
- The encoder of AMR-WB here is VisualOn's, not the reference code of 3GPP.
- No listening test confirms the factors. Give a custom codec with `ie`, `bpl` and `source` if you have better ones
  ([speech](speech.md#a-codec-of-your-own)).

## References

{references}

## Opus

{measured}
"""
