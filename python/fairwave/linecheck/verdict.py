"""Verdict on a measured line: quality of voice and video, reasons, and remedies.

**Voice.** The probes are a call's packets. Each phase is rated in each direction by the E-model after the simulator's
playout buffer (`fairwave.live.rating`), in the bands of ITU-T G.109. The mouth-to-ear delay includes half of the
least round trip †.

**Video.** The idle line is rated by the rate that TCP reached: 2.5 Mb/s, the most that libwebrtc's encoder takes for
1280 × 720, is good; 1.5 Mb/s † is fair. Every phase is rated by delay (ITU-T G.114: 150 ms, 400 ms) and loss (ITU-T
G.1010: 1 %, 3 %). The worst of these counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.bands import Held, scale_of
from fairwave.answers.events import held
from fairwave.answers.naming import listed
from fairwave.answers.verdict import made_of
from fairwave.live.rating import replayed
from fairwave.measuring.measures import GAP_S
from fairwave.measuring.relevance import ROWS
from fairwave.measuring.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.linecheck.fitted_network import Alternative
    from fairwave.linecheck.line import Line, Span

ORDER = ("good", "fair", "poor")

GOOD_RATE, FAIR_RATE = 2.5e6, 1.5e6
"""Rates of IP for a video of 1280 × 720, bit/s."""

GOOD_DELAY_S, FAIR_DELAY_S = 0.15, 0.4
"""One-way delays of ITU-T G.114."""

GOOD_LOSS, FAIR_LOSS = 0.01, 0.03
"""Losses of ITU-T G.1010."""

PACKET_S = (0.005, 0.06)
"""Shortest and longest time between probes for a call, in seconds."""

DOING = {
    "idle": "while the line is idle",
    "down": "while you download",
    "up": "while you upload",
    "recorded": "in what was recorded",
}

COUNTS = ROWS["mos"].relevant.amount
"""Opinion scores that differ by less are reported together."""

BLOATED_S = 0.05
"""Increase of the delay under load (95th percentile) from which on a queue counts as too long, in seconds."""


@dataclass(frozen=True)
class Voice:
    """A call in one direction in one phase.

    Attributes:
        phase: Name of the phase.
        direction: Direction of speech: `up` or `down`.
        mos: MOS by the E-model; None if nothing arrived.
        band: `good`, `fair` or `poor`.
        because: Reasons for a lower score, in words; may be empty.
    """

    phase: str
    direction: str
    mos: float | None
    band: str
    because: str


@dataclass(frozen=True)
class Video:
    """A video in one direction in one phase.

    Attributes:
        phase: Name of the phase.
        direction: Direction of the picture: `up` or `down`.
        band: `good`, `fair` or `poor`.
        limits: Limiting quantities, in words; empty if the band is `good`.
        rate: Available rate, bit/s of IP; NaN if unknown.
    """

    phase: str
    direction: str
    band: str
    limits: str
    rate: float


@dataclass(frozen=True)
class Verdict:
    """Verdict on a line for people.

    Attributes:
        voice: Voice in each phase and direction.
        video: Video in each phase and direction.
        responsiveness: Phase to round trips per minute.
        sentences: Verdicts, reasons and remedies.
    """

    voice: list[Voice]
    video: list[Video]
    responsiveness: dict[str, float]
    sentences: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        return {
            "sentences": self.sentences, "voice": [vars(one) for one in self.voice],
            "video": [vars(one) for one in self.video], "responsiveness_rpm": self.responsiveness,
        }  # fmt: skip


def judge_line(line: Line, rates: dict[str, float], alternatives: Sequence[Alternative] = ()) -> Verdict:
    """Judges a line.

    Args:
        line: The measurement.
        rates: Direction to the rate that load reached, bit/s of IP. Directions without a rate are not rated by it.
        alternatives: Results of the call under other queues, after the result for the line's queue.
    """
    voice = [_voice(line, span, direction) for span in line.spans for direction in line.probes]
    video = [
        _video(line, span, direction, rates.get(direction))
        for span in line.spans
        for direction in line.probes
    ]
    rpm = {span.name: responsiveness(line, span) for span in line.spans}
    sentences = [_describe("Voice", voice), _describe("Video", video)]
    if not rates:
        sentences.append("The rate of the line is not known: video is rated by delay and loss alone.")
    sentences += _help(line, voice, rates, alternatives)
    return Verdict(voice, video, rpm, sentences)


def responsiveness(line: Line, span: Span) -> float:
    """Returns round trips per minute: 60 s over the mean without the longest 5 % (draft-ietf-ippm-responsiveness).

    NaN without a round trip above 0.
    """
    trips = np.sort(line.trips(span))
    kept = trips[: max(math.ceil(0.95 * len(trips)), 1)]
    return 60 / float(kept.mean()) if kept.any() else math.nan


def _voice(line: Line, span: Span, direction: str) -> Voice:
    raised = line.delays_during(span, direction)
    if not len(raised) or np.isnan(raised).all():
        return Voice(span.name, direction, None, "poor", "no packet arrived")
    one_way = line.least_trip_s / 2 if math.isfinite(line.least_trip_s) else 0.0
    results = replayed(raised + one_way, line.interval_s, "g711", None).run()
    (row,) = results.flows.to_pylist()
    mos = row["mos"]
    scale = scale_of("mos")
    assert scale is not None
    if mos is None:
        return Voice(span.name, direction, None, "poor", "the E-model has no value for it")
    gap = row["longest_gap_s"] or 0.0
    cell = held(interval([mos]), f"a gap of {gap:.2f} s" if gap > GAP_S else "")
    band = scale.classify_mean(cell)
    because = made_of("call", results).partition(": ")[2] if band != "good" else ""
    if isinstance(cell, Held):
        because = "; ".join(filter(None, (cell.because, because)))
    return Voice(span.name, direction, float(mos), band, because)


def _video(line: Line, span: Span, direction: str, rate: float | None) -> Video:
    raised = line.delays_during(span, direction)
    if not len(raised) or np.isnan(raised).all():
        return Video(span.name, direction, "poor", "no packet arrived", math.nan)
    one_way = line.least_trip_s / 2 if math.isfinite(line.least_trip_s) else 0.0
    delay = one_way + float(np.quantile(raised[~np.isnan(raised)], 0.95))
    loss = float(np.isnan(raised).mean())
    found = [
        (_band(delay, GOOD_DELAY_S, FAIR_DELAY_S), f"delay {1e3 * delay:.0f} ms"),
        (_band(loss, GOOD_LOSS, FAIR_LOSS), f"loss {100 * loss:.2g} %"),
    ]
    # The rate of a video next to load depends on both, so the measured rate applies to the idle line only.
    if rate is not None and span.name == "idle":
        found.append((_band(-rate, -GOOD_RATE, -FAIR_RATE), f"{rate / 1e6:.3g} Mb/s"))
    worst = max((band for band, _ in found), key=ORDER.index)
    limits = listed([said for band, said in found if band == worst]) if worst != "good" else ""
    return Video(span.name, direction, worst, limits, math.nan if rate is None else rate)


def _band(value: float, good: float, fair: float) -> str:
    return "good" if value <= good else "fair" if value <= fair else "poor"


def _describe(what: str, found: Sequence[Voice] | Sequence[Video]) -> str:
    """Describes the quality in each phase by the worse direction, with the reasons."""
    parts = []
    for phase in dict.fromkeys(one.phase for one in found):
        several = [one for one in found if one.phase == phase]
        worst = max((one.band for one in several), key=ORDER.index)
        those = [one for one in several if one.band == worst]
        where = f" {those[0].direction}ward" if len(those) < len(several) else ""
        if worst == "good":
            those = [min(those, key=_score)]
        details = "; ".join(_detail(one, named=len(those) > 1) for one in those if _detail(one, named=False))
        parts.append(f"{worst}{where} {DOING[phase]}{f' ({details})' if details else ''}")
    return f"{what}: {', '.join(parts)}."


def _score(one: Voice | Video) -> float:
    return math.inf if isinstance(one, Video) or one.mos is None else one.mos


def _detail(one: Voice | Video, *, named: bool) -> str:
    where = f"{one.direction} " if named else ""
    if isinstance(one, Video):
        return f"{where}{one.limits}" if one.limits else ""
    if one.mos is None:
        return f"{where}{one.because}"
    return f"{where}MOS {one.mos:.2f}{f': {one.because}' if one.because else ''}"


def _help(
    line: Line, voice: Sequence[Voice], rates: dict[str, float], alternatives: Sequence[Alternative]
) -> list[str]:
    """Returns sentences on limits and remedies."""
    said = []
    worst = {(one.phase, one.direction): one for one in voice}
    idle = [one for one in voice if one.phase in {"idle", "recorded"} and one.band != "good"]
    for one in idle:
        span = line.span(one.phase)
        assert span is not None
        lost = float(np.isnan(line.delays_during(span, one.direction)).mean())
        if lost > GOOD_LOSS:
            said.append(
                f"{100 * lost:.2g} % of the packets {one.direction}ward are lost {DOING[one.phase]}: look at Wi-Fi, "
                "cables and the provider. Another queue does not help against it."
            )
    for direction in ("up", "down"):
        span = line.span(direction)
        if span is None or direction not in line.probes or direction not in line.loads:
            continue
        raised = line.delays_during(span, direction)
        came = raised[~np.isnan(raised)]
        if not len(came) or not line.loads[direction].carried:
            continue
        longest = float(np.quantile(came, 0.95))
        if longest > BLOATED_S:
            what = "An upload" if direction == "up" else "A download"
            said.append(
                f"What limits it {direction}ward: the queue before the line. {what} raises delays by "
                f"{1e3 * longest:.0f} ms."
            )
        now = worst.get((direction, direction))
        if now is None or now.band == "good" or len(alternatives) < 2:
            continue
        best = max(alternatives[1:], key=lambda one: _known(one.median(direction)))
        alike = [
            one
            for one in alternatives[1:]
            if _known(one.median(direction)) >= _known(best.median(direction)) - COUNTS
        ]
        of_line = alternatives[0].median(direction)
        other = best.median(direction)
        scale = scale_of("mos")
        assert scale is not None
        if not math.isfinite(other) or other < _known(of_line) + COUNTS:
            said.append(f"None of the queues that were tried helps {direction}ward; a faster line may.")
            continue
        lowest = min(best.mos[direction])
        odd = (
            "" if lowest > other - 0.3 else f", in the worst of {len(best.mos[direction])} runs {lowest:.2f}"
        )
        said.append(
            f"What would help: {' or '.join(one.queue for one in alike)} at {100 * best.shaped:.0f} % of the rate, "
            f"in your router. The call {DOING[direction]} would be {scale.band(other)}: MOS {other:.2f}{odd}, in "
            f"place of {of_line:.2f} over the fitted line as it is."
        )
    slow = [f"{direction} {rate / 1e6:.3g} Mb/s" for direction, rate in rates.items() if rate < FAIR_RATE]
    if slow:
        said.append(
            f"For video the line is slow ({listed(slow)}): send a smaller picture, or get a faster line."
        )
    return said


def _known(value: float) -> float:
    return value if math.isfinite(value) else -math.inf
