"""What paper 002 asserts, D1 to D36, each with its test under any reading.

**How words are read.** A link is *used* when it carries at least 95 % of what it can. Videos *have their share* when
they have at least 90 % of it, or all that they want. A number is *near* a line within 20 % of it and *well below* it
beyond that. An index is *nearly flat* when it changes by less than 0.1 over the sweep. Fairness *falls* when it loses
as much, is *high* above 0.9 and *relatively high* or *adequate* above 0.8. Layers are *satisfactory* when goodput and
index come within 10 %, and a link's use when it is 90 %. A *considerable* part is 10 % and more, *few* are less than 5
%, a *low* drop rate is below 10 %, and *most* are more than half. *Small* deviations leave the smallest more than half
of the largest. These lines were drawn before anything was run. Where a sentence is about a whole sweep, its mean over
the sweep is compared, without the points of a single flow; other wordings stand beside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.explanations import EXPLANATIONS
from fairwave_studies.video.systems import (
    AIAD,
    DVRC,
    LAYER_KILOBITS,
    LITERAL,
    RENO,
    RTCP,
    TFRC,
    UDP,
    WESTWOOD,
)
from fairwave_study import texts
from fairwave_study.claims import Claim, Comparison, Evidence, Part
from fairwave_study.comparisons import above, at_least, below, contrast, highest, less_steep, lowest, within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

    Test = Callable[[Data], Evidence]

FLAT = 0.1
"""What an index or a fairness may change by and still be called flat."""

FILLED = 0.9
"""Share of what there is for the videos that they must have."""

USED = 95.0
"""Per cent of a link that must be carried for it to be used."""

NEAR = 0.2
"""How far from a line is still near."""

SATISFACTORY, SUFFICES = 0.1, 0.05
"""Shares by which fewer layers may fall short: of what is satisfactory, and of what is as good."""

FAIR = 0.9
"""Fairness index above which flows are called fair to each other."""

FAIRLY = 0.8
"""Fairness index above which it is relatively high, or adequate."""

SATISFIED = 90.0
"""Per cent of a link that are satisfactory use."""

CONSIDERABLE, FEW, LOW = 10.0, 5.0, 10.0
"""Per cent: a considerable part, few, and a low drop rate."""

SMALL = 0.5
"""Worst-case fairness above which deviations among flows are small."""

MOST = 50.0
"""Per cent beyond which something is most."""

LIMIT_MS = q.THRESHOLD_S * 1e3

SEVERAL = 5
"""The fewest flows among which fairness and a sweep's mean mean anything."""

FAIR_KILOBITS = 1e3 * q.PAYLOAD_SHARE / 2
"""Half of a link of 1 Mb/s, kb/s of payload."""

TCP_SHARE = q.normalised(q.FTP, p.MEGABITS)
VIDEO_SHARE = q.normalised(q.VIDEO, p.MEGABITS)


@dataclass(frozen=True)
class MeasuredTerms:
    """What a reading makes of the words that are measured, not simulated.

    Attributes:
        index: The video delivery index.
        delayed: The share of delayed packets.
        lost: The packet drop rate.
        compared: Which of the labels of the judging grids is DVRC.
        kilobits: What the layers add, kb/s.
        megabits: The link out of R2, Mb/s.
        first: The link before it, Mb/s.
        capacity: Packets that its buffer holds.
    """

    index: Measure = q.INDEX
    delayed: Measure = q.DELAYED
    lost: Measure = q.DROPPED_OF_MADE
    compared: str = p.TEXT
    kilobits: tuple[float, ...] = LAYER_KILOBITS
    megabits: float = p.MEGABITS
    first: float = p.MEGABITS
    capacity: float = q.CAPACITY

    @classmethod
    def of(cls, reading: Reading) -> MeasuredTerms:
        """The words of a reading; what it does not name is as in the base reading."""
        left, gap = (
            reading.get("sent", "") == "what left the sender",
            reading.get("late", "gap above 75 ms") == "gap above 75 ms",
        )
        index = {
            (True, True): q.INDEX_OF_SENT,
            (True, False): q.INDEX_OF_SENT_EXCESS,
            (False, True): q.INDEX,
            (False, False): q.INDEX_EXCESS,
        }
        delayed = {
            (True, True): q.DELAYED_OF_SENT,
            (True, False): q.DELAYED_OF_SENT_EXCESS,
            (False, True): q.DELAYED,
            (False, False): q.DELAYED_EXCESS,
        }
        rates = reading.get("rates", "10 Mb/s")
        fast = 20.0 if rates == "20 Mb/s" else p.MEGABITS
        buffers = {"rate × one way": 0.5, "twice that": 2.0}.get(reading.get("buffers", ""), 1.0)
        layers = {"five of 200 kb/s": (200.0,) * 5, "half as much": (64.0, 64.0, 64.0, 128.0, 192.0)}
        return cls(
            index[left, gap],
            delayed[left, gap],
            q.MISSING_OF_MADE if reading.get("lost") == "all that did not arrive" else q.DROPPED_OF_MADE,
            p.EQUATION if reading.get("compared") == "requested rate" else p.TEXT,
            layers.get(reading.get("layers", ""), LAYER_KILOBITS),
            fast,
            5.0 if rates == "5 and 10 Mb/s" else fast,
            q.CAPACITY * buffers * fast / p.MEGABITS,
        )

    def share_of_link(self, flows: int) -> float:
        """What so many videos beside the file transfers may have, Mb/s of payload: a fair share, or all they want."""
        fair = self.megabits * flows / (flows + p.FTP_CROSS)
        return min(min(fair, self.first) * q.PAYLOAD_SHARE, flows * sum(self.kilobits) / 1e3)

    def subscription(self, kilobits: float) -> float:
        """The largest number of layers, in kb/s, within a rate; the base layer's at least."""
        sums = np.cumsum(self.kilobits)
        return float(max((one for one in sums if one <= kilobits), default=sums[0]))


def both(*evidence: Evidence) -> Evidence:
    """All of these together."""
    joined = evidence[0]
    for one in evidence[1:]:
        joined = joined & one
    return joined


def said(words: str, evidence: Evidence) -> Evidence:
    """The same, with words before each comparison."""
    return evidence.relabelled(lambda label: f"{words}{label}")


def called(words: str, evidence: Evidence) -> Evidence:
    """The same, with these words for what is compared: where there is one number to compare."""
    return evidence.relabelled(lambda _: words)


def several(measured: Measured, least: int = SEVERAL) -> Measured:
    """Only the points with that many videos or more."""
    return measured.select(flows=[n for n in measured.labels("flows") if n >= least])


def swept(measured: Measured, *, every: bool = False) -> Measured:
    """The mean over the sweep of flows, or each point of it."""
    return several(measured) if every else several(measured).averaged("flows")


def of(measured: Measured, **labels: object) -> Measured:
    """What belongs to these labels, without their axes."""
    return measured.select(**labels).drop_axes(*labels)


def _d1(data: Data, grid: str = p.SINGLE, name: str = DVRC) -> Evidence:
    return lowest(data.measured(q.COV, grid), name, [TFRC])


def _d1_many(data: Data) -> Evidence:
    return lowest(several(data.measured(q.COV, p.CROSS)), DVRC, [TFRC])


def _jitter(data: Data) -> Evidence:
    return called(
        "largest jitter", below(of(data.measured(q.LARGEST_JITTER, p.SINGLE), transport=DVRC), LIMIT_MS)
    )


def _gaps(data: Data, gaps: Measure = q.UNNOTICED) -> Evidence:
    return called("gaps below 50 ms", above(of(data.measured(gaps, p.SINGLE), transport=DVRC), MOST))


def _d2(data: Data, gaps: Measure = q.UNNOTICED) -> Evidence:
    return _jitter(data) & _gaps(data, gaps)


def _judged(data: Data, compared: str, *measures: Measure) -> Evidence:
    """Most of each of these, in the experiment of Figure 3."""
    return both(
        *(
            called(one.title, above(of(data.measured(one, p.BOUND), reading=compared), MOST))
            for one in measures
        )
    )


def _better_than_chance(data: Data, compared: str) -> Evidence:
    return above(of(data.measured(q.INFORMEDNESS, p.BOUND), reading=compared), 0.0)


def _many(measured: Measured, least: int = 40) -> Measured:
    return measured.select(flows=[n for n in measured.labels("flows") if n >= least])


def _used(data: Data, grid: str = p.CROSS, least: float = USED) -> Evidence:
    return above(several(data.measured(q.USE, grid)).select(transport=[DVRC, TFRC]), least)


def _falls_short(data: Data) -> Evidence:
    return lowest(_many(data.measured(q.GOODPUT, p.CROSS)), WESTWOOD, [DVRC, TFRC])


def _d4_share(data: Data, words: MeasuredTerms) -> Evidence:
    goodput = several(data.measured(q.GOODPUT, p.CROSS))
    flows = goodput.labels("flows")
    parts = [
        Comparison(
            f"{name} over its share with {n} flows",
            goodput.samples(flows=n, transport=name) / words.share_of_link(int(n)),
            FILLED,
        )
        for name, most in ((DVRC, max(flows)), (TFRC, max(flows)), (WESTWOOD, 20))
        for n in flows
        if n <= most
    ]
    return Evidence(parts) & lowest(_many(goodput), WESTWOOD, [DVRC, TFRC])


def _span(measured: Measured, name: str) -> Evidence:
    """The measure of one system changes by less than `FLAT` from the fewest flows to the most."""
    flows = measured.labels("flows")
    few, many = (measured.samples(flows=n, transport=name) for n in (min(flows), max(flows)))
    label = f"{name} with {min(flows)} flows − with {max(flows)}"
    return Evidence([Comparison(label, few - many, FLAT, "below", measured.measure.unit)])


def _highest_index(data: Data, index: Measure) -> Evidence:
    return highest(several(data.measured(index, p.CROSS)), DVRC)


def _flat_index(data: Data, index: Measure, grid: str = p.CROSS) -> Evidence:
    return _span(several(data.measured(index, grid)), DVRC)


def _d5(data: Data, index: Measure) -> Evidence:
    return _highest_index(data, index) & _flat_index(data, index)


def _loses_less(
    data: Data, lost: Measure, rivals: Sequence[str], grid: str = p.CROSS, *, every: bool = False
) -> Evidence:
    return lowest(swept(data.measured(lost, grid), every=every), DVRC, rivals)


def _delays_most(data: Data, delayed: Measure, *, every: bool = False) -> Evidence:
    return highest(swept(data.measured(delayed, p.CROSS), every=every), WESTWOOD)


def _d6(data: Data, words: MeasuredTerms, *, every: bool = False) -> Evidence:
    lost = _loses_less(data, words.lost, [TFRC, WESTWOOD], every=every)
    return said("lost: ", lost) & said("delayed: ", _delays_most(data, words.delayed, every=every))


def _d7(data: Data) -> Evidence:
    fairness = several(data.measured(q.WORST_CASE, p.CROSS))
    flows = fairness.labels("flows")
    first, last = min(flows), max(flows)
    return Evidence(
        [
            Comparison(
                f"{name} with {first} flows − with {last}",
                fairness.samples(flows=first, transport=name) - fairness.samples(flows=last, transport=name),
                FLAT,
            )
            for name in (TFRC, WESTWOOD)
        ]
    )


def _d7_holds(data: Data) -> Evidence:
    return _d7(data) & _span(several(data.measured(q.WORST_CASE, p.CROSS)), DVRC)


def _d7_steepness(data: Data) -> Evidence:
    fairness = several(data.measured(q.WORST_CASE, p.CROSS))
    return less_steep(fairness, DVRC, along="flows") & highest(fairness.averaged("flows"), DVRC)


def _d8(data: Data, *, every: bool = False) -> Evidence:
    alike, spread = (swept(data.measured(q.FAIRNESS, grid), every=every) for grid in (p.CROSS, p.SPREAD))

    def lost(name: str, point: Mapping[str, object]) -> NDArray[np.float64]:
        return alike.samples(transport=name, **point) - spread.samples(transport=name, **point)

    return Evidence(
        [
            contrast(
                f"loss of {TFRC} − of {rival}"
                + "".join(f" at {axis} {label}" for axis, label in point.items()),
                lost(TFRC, point),
                lost(rival, point),
                q.FAIRNESS,
            )
            for rival in (DVRC, WESTWOOD)
            for point in alike.points(without=["transport"])
        ]
    )


def _d8_alone(data: Data) -> Evidence:
    """By itself: with spread round trips TFRC's index is the lowest."""
    return lowest(swept(data.measured(q.FAIRNESS, p.SPREAD)), TFRC)


def _drains(data: Data, words: MeasuredTerms, low: float = 0.25, title: str = q.TO_A_QUARTER) -> Evidence:
    often = of(data.measured(q.drains(low, title, words.capacity), p.QUEUE), transport=DVRC)
    return called("drains under DVRC", above(often, 1.0))


def _stays_full(data: Data, words: MeasuredTerms) -> Evidence:
    spare = of(data.measured(q.queue_share(0.75, q.SPARE, words.capacity), p.QUEUE), transport=UDP)
    return called("time under UDP with less than three quarters full", below(spare, 5.0))


def _d9_half(data: Data, words: MeasuredTerms) -> Evidence:
    return _drains(data, words, 0.5, q.TO_A_HALF) & _stays_full(data, words)


def _d10(
    data: Data, index: Measure, *, every: bool = False, grids: Sequence[str] = (p.REVERSE, p.CHAIN)
) -> Evidence:
    def duel(measure: Measure, grid: str) -> Measured:
        return swept(data.measured(measure, grid).select(transport=[DVRC, RTCP]), every=every)

    return both(
        *(
            said(f"{grid}, {words}: ", lowest(duel(one, grid), RTCP, [DVRC]))
            for grid in grids
            for words, one in (("goodput", q.GOODPUT), ("index", index), ("fairness", q.FAIRNESS))
        )
    )


def _beside_dvrc(data: Data, *, every: bool = False) -> Evidence:
    share = of(swept(data.measured(TCP_SHARE, p.FRIENDLY), every=every), transport=DVRC)
    return said(f"beside {DVRC}: ", within(share, 1 - NEAR, 1 + NEAR))


def _beside_tfrc(data: Data, *, every: bool = False) -> Evidence:
    share = of(swept(data.measured(TCP_SHARE, p.FRIENDLY), every=every), transport=TFRC)
    return said(f"beside {TFRC}: ", below(share, 1 - NEAR))


def _d11(data: Data, *, every: bool = False) -> Evidence:
    return _beside_dvrc(data, every=every) & _beside_tfrc(data, every=every)


def _d11_order(data: Data) -> Evidence:
    """TCP has more beside DVRC than beside TFRC."""
    return highest(swept(data.measured(TCP_SHARE, p.FRIENDLY)), DVRC, [TFRC])


def _d12(data: Data, share: float, *, leaves: bool = False) -> Evidence:
    rates = of(data.measured(q.per_flow(q.VIDEO), p.HOPS), transport=DVRC)
    kept = said("DVRC: ", above(rates, (1 - NEAR) * share))
    if not leaves:
        return kept
    others = of(data.measured(q.per_flow(q.TCP), p.HOPS), transport=DVRC)
    return kept & said("TCP: ", above(others, (1 - NEAR) * FAIR_KILOBITS))


def _d13(
    data: Data,
    index: Measure,
    *,
    splits: Sequence[str] = (),
    few: Sequence[int] = (4, 5),
    margin: float = SATISFACTORY,
) -> Evidence:
    there = data.measured(q.GOODPUT, p.LAYERS).labels("split")
    return both(
        *(
            said(
                f"{words}, {split}: ",
                at_least(
                    of(data.measured(one, p.LAYERS), split=split), count, [8], axis="layers", margin=margin
                ),
            )
            for words, one in (("goodput", q.GOODPUT), ("index", index))
            for split in splits or there
            for count in few
        )
    )


def _index_above(
    data: Data, index: Measure, grid: str, rivals: Sequence[str], *, every: bool = False
) -> Evidence:
    return highest(swept(data.measured(index, grid), every=every), DVRC, rivals)


def _better(
    data: Data, words: MeasuredTerms, grid: str, rivals: Sequence[str], *, every: bool = False
) -> Evidence:
    """DVRC's index above and its losses below those of its rivals."""
    return said("index: ", _index_above(data, words.index, grid, rivals, every=every)) & said(
        "lost: ", _loses_less(data, words.lost, rivals, grid, every=every)
    )


def _fair_among(data: Data, *, every: bool = False) -> Evidence:
    return above(
        swept(data.measured(q.FAIRNESS, p.REVERSE), every=every).select(transport=[DVRC, TFRC]), FAIR
    )


def _rtcp_worst(data: Data, *, every: bool = False) -> Evidence:
    return lowest(swept(data.measured(q.WORST_CASE, p.REVERSE), every=every), RTCP)


def _d16(data: Data, *, every: bool = False) -> Evidence:
    return said("index: ", _fair_among(data, every=every)) & said(
        "worst case: ", _rtcp_worst(data, every=every)
    )


def _fair(data: Data, grid: str) -> Evidence:
    return above(of(several(data.measured(q.FAIRNESS, grid)), transport=DVRC), FAIR)


def _varies_more(data: Data) -> Evidence:
    tcp, video = (of(data.measured(one, p.SINGLE), transport=DVRC) for one in (q.COV_TCP, q.COV))
    return Evidence([contrast("CoV of TCP − of DVRC", tcp.samples(), video.samples(), q.COV)])


def _coarse_timeouts(data: Data) -> Evidence:
    timeouts = of(data.measured(q.TIMEOUTS, p.SINGLE), transport=DVRC)
    return called("timeouts of a TCP flow", above(timeouts, 1.0))


def _d20(data: Data, index: Measure) -> Evidence:
    reverse, chain = (of(swept(data.measured(index, grid)), transport=DVRC) for grid in (p.REVERSE, p.CHAIN))
    words = "index with reverse traffic − over five hops"
    return Evidence([contrast(words, reverse.samples(), chain.samples(), index)])


def _from_few_to_many(measured: Measured, name: str, line: float) -> Evidence:
    """From the fewest flows to the most the measure of a system falls by more than the line."""
    flows = measured.labels("flows")
    few, many = (measured.samples(flows=n, transport=name) for n in (min(flows), max(flows)))
    return Evidence(
        [
            Comparison(
                f"{name} with {min(flows)} flows − with {max(flows)}",
                few - many,
                line,
                "above",
                measured.measure.unit,
            )
        ]
    )


def _index_falls(data: Data, index: Measure, name: str) -> Evidence:
    return _from_few_to_many(several(data.measured(index, p.REVERSE)), name, FLAT)


def _adequate(data: Data) -> Evidence:
    return above(of(several(data.measured(q.FAIRNESS, p.SPREAD)), transport=DVRC), FAIRLY)


def _degrades(data: Data) -> Evidence:
    fairness = of(data.measured(q.FAIRNESS, p.SPREAD), transport=DVRC)
    flows = fairness.labels("flows")
    before, most = max(n for n in flows if n <= 40), max(flows)
    return Evidence(
        [
            contrast(
                f"index with {before} flows − with {most}",
                fairness.samples(flows=before),
                fairness.samples(flows=most),
                q.FAIRNESS,
            )
        ]
    )


def _swings_less(data: Data, rival: str) -> Evidence:
    return lowest(data.measured(q.SWING, p.RULES), DVRC, [rival])


def _goodput_below(data: Data, grid: str, rivals: Sequence[str]) -> Evidence:
    return lowest(swept(data.measured(q.GOODPUT, grid)), RTCP, rivals)


def _takes_more(data: Data) -> Evidence:
    return above(of(swept(data.measured(VIDEO_SHARE, p.FRIENDLY)), transport=TFRC), 1.0)


def _base_layer(data: Data, words: MeasuredTerms) -> Evidence:
    """With the most videos beside the most file transfers a video has what the base layer is, or less."""
    rate = of(data.measured(q.per_flow(q.VIDEO), p.FRIENDLY), transport=DVRC)
    crowded = of(rate, flows=max(rate.labels("flows")), tcp=max(rate.labels("tcp")))
    return called("goodput of a video", below(crowded, (1 + NEAR) * words.kilobits[0]))


def _tcp_over_hops(data: Data) -> Evidence:
    rates = of(data.measured(q.per_flow(q.TCP), p.HOPS), transport=DVRC)
    return within(rates, (1 - NEAR) * FAIR_KILOBITS, (1 + NEAR) * FAIR_KILOBITS)


def _rule(data: Data, measure: Measure, side: str) -> Evidence:
    duel = data.measured(measure, p.RULES).select(transport=[DVRC, AIAD])
    return (lowest if side == "below" else highest)(duel, DVRC, [AIAD])


def parts(words: MeasuredTerms) -> dict[str, tuple[Part, ...]]:
    """The parts of those claims that join several assertions."""
    index, lost, delayed, compared = words.index, words.lost, words.delayed, words.compared
    duels = {"goodput": q.GOODPUT, "index": index, "fairness": q.FAIRNESS}
    places = {p.REVERSE: "with reverse traffic", p.CHAIN: "over five hops"}
    cross = {"index": partial(data_at, index), "lost": partial(data_at, lost)}
    return {
        "D2": (Part("jitter", _jitter), Part("gaps", _gaps)),
        "D3": (
            Part("random losses", lambda data: _judged(data, compared, q.RECALL_RANDOM)),
            Part("losses of any cause", lambda data: _judged(data, compared, q.JUDGED_RANDOM)),
        ),
        "D4": (Part("used", _used), Part("Westwood+ falls short", _falls_short)),
        "D5": (
            Part("highest", partial(_highest_index, index=index)),
            Part("nearly flat", partial(_flat_index, index=index)),
        ),
        "D6": (
            Part("loses less than TFRC", partial(_loses_less, lost=lost, rivals=[TFRC])),
            Part("loses less than Westwood+", partial(_loses_less, lost=lost, rivals=[WESTWOOD])),
            Part("Westwood+ delays most", partial(_delays_most, delayed=delayed)),
        ),
        "D9": (Part("drains", partial(_drains, words=words)), Part("stays full", partial(_stays_full, words=words))),
        "D10": tuple(
            Part(f"{name} {where}", partial(_duel, measure=one, grid=grid))
            for grid, where in places.items()
            for name, one in duels.items()
        ),
        "D11": (Part("near 1 beside DVRC", _beside_dvrc), Part("well below beside TFRC", _beside_tfrc)),
        "D14": (
            Part("random losses", lambda data: _judged(data, compared, q.RECALL_RANDOM)),
            Part("losses of the queue", lambda data: _judged(data, compared, q.RECALL_CONGESTION)),
        ),
        "D15": (
            Part("index", partial(_index_above, index=index, grid=p.REVERSE, rivals=[TFRC])),
            Part("losses", partial(_loses_less, lost=lost, grid=p.REVERSE, rivals=[TFRC])),
        ),
        "D16": (Part("fair", _fair_among), Part("RTCP/UDP's worst case", _rtcp_worst)),
        "D17": tuple(
            part
            for rival in (TFRC, RTCP)
            for part in (
                Part(f"index, {rival}", partial(_index_above, index=index, grid=p.CHAIN, rivals=[rival])),
                Part(f"losses, {rival}", partial(_loses_less, lost=lost, grid=p.CHAIN, rivals=[rival])),
            )
        ),
        "D19": (Part("varies more", _varies_more), Part("timeouts", _coarse_timeouts)),
        "D23": (
            Part("most in time", lambda data: above(of(cross["index"](data), transport=DVRC), MOST / 100)),
            Part("few lost", lambda data: below(of(cross["lost"](data), transport=DVRC), LOW)),
        ),
        "D28": (Part("adequate", _adequate), Part("falls beyond 40", _degrades)),
        "D30": (
            Part("satisfactory use", partial(_used, grid=p.REVERSE, least=SATISFIED)),
            Part("RTCP/UDP below TFRC", partial(_goodput_below, grid=p.REVERSE, rivals=[TFRC])),
        ),
        "D31": (
            Part("DVRC's nearly flat", partial(_flat_index, index=index, grid=p.REVERSE)),
            *(
                Part(
                    f"{name}'s falls",
                    partial(_index_falls, index=index, name=name),
                )
                for name in (TFRC, RTCP)
            ),
        ),
        "D32": (
            Part("small", lambda data: above(of(swept(data.measured(q.WORST_CASE, p.REVERSE)), transport=DVRC), SMALL)),
            Part(
                "smaller than RTCP/UDP's",
                lambda data: highest(swept(data.measured(q.WORST_CASE, p.REVERSE)), DVRC, [RTCP]),
            ),
        ),
        "D36": (
            Part("loses less", lambda data: _rule(data, q.DROPS, "below")),
            Part("shares more fairly", lambda data: _rule(data, q.FAIRNESS, "above")),
            Part("drains more", lambda data: _rule(data, q.drains(0.5, q.TO_A_HALF, words.capacity), "above")),
        ),
    }  # fmt: skip


def _late(data: Data, measure: Measure) -> Evidence:
    return above(of(swept(data.measured(measure, p.CROSS)), transport=WESTWOOD), CONSIDERABLE)


def data_at(measure: Measure, data: Data) -> Measured:
    """A measure over the sweep with cross traffic, at five flows and more."""
    return several(data.measured(measure, p.CROSS))


def _duel(data: Data, measure: Measure, grid: str) -> Evidence:
    return lowest(swept(data.measured(measure, grid)), RTCP, [DVRC])


def tests(words: MeasuredTerms) -> dict[str, Test]:
    """The tests of those claims that assert one thing, under what a reading makes of its words."""
    index, delayed = words.index, words.delayed
    return {
        "D1": _d1,
        "D7": _d7,
        "D8": _d8,
        "D12": partial(_d12, share=words.subscription(FAIR_KILOBITS)),
        "D13": partial(_d13, index=index),
        "D18": partial(_fair, grid=p.CHAIN),
        "D20": partial(_d20, index=index),
        "D21": partial(_fair, grid=p.CROSS),
        "D22": lambda data: lowest(swept(data.measured(q.COV, p.CROSS)), DVRC, [WESTWOOD]),
        "D24": lambda data: below(of(swept(data.measured(delayed, p.CROSS)), transport=TFRC), FEW),
        # §5.2: of the packets that are not dropped.
        "D25": partial(_late, measure=q.LATE_OF_RECEIVED),
        "D26": lambda data: above(
            swept(data.measured(q.FAIRNESS, p.CROSS)).select(transport=[TFRC, WESTWOOD]), FAIRLY
        ),
        "D27": lambda data: highest(swept(data.measured(q.FAIRNESS, p.CROSS)), DVRC),
        "D29": partial(_swings_less, rival=RENO),
        "D33": _takes_more,
        "D34": partial(_base_layer, words=words),
        "D35": _tcp_over_hops,
    }


def wordings(words: MeasuredTerms) -> dict[str, dict[str, Test]]:
    """Where a sentence is open: the claim's test by each other wording, stricter ones among them."""
    index, compared = words.index, words.compared
    causes = (q.RECALL_RANDOM, q.RECALL_CONGESTION)
    return {
        "D1": {
            "judged by the requested rate, as Eq. (11) prints": partial(_d1, name=LITERAL),
            "rate control alone, with data that never ends": partial(_d1, grid=p.BULK),
            "many flows (Figure 8b)": _d1_many,
        },
        "D2": {"gaps in excess of the sender's own": partial(_d2, gaps=q.UNNOTICED_EXCESS)},
        "D3": {
            "only that most losses fall above the bound": lambda data: _judged(
                data, compared, q.JUDGED_RANDOM
            ),
            "and most of the queue's below it": lambda data: _judged(
                data, compared, q.JUDGED_RANDOM, *causes
            ),
            "judged by the requested rate, as Eq. (11) prints": lambda data: _judged(
                data, p.EQUATION, q.RECALL_RANDOM, q.JUDGED_RANDOM
            ),
        },
        "D4": {"the videos have their share": partial(_d4_share, words=words)},
        "D5": {
            "of all that was made": partial(_d5, index=q.INDEX),
            "of what left the sender": partial(_d5, index=q.INDEX_OF_SENT),
            "gaps in excess of the sender's own": partial(_d5, index=q.INDEX_OF_SENT_EXCESS),
        },
        "D6": {
            "at every number of flows": partial(_d6, words=words, every=True),
            **{
                name: partial(_d6, words=replace(words, lost=lost))
                for name, lost in (
                    ("lost in the network, of all made", q.DROPPED_OF_MADE),
                    ("all that did not arrive, of all made", q.MISSING_OF_MADE),
                    ("lost in the network, of what left the sender", q.DROPS),
                )
            },
        },
        "D7": {
            "and DVRC's holds": _d7_holds,
            "DVRC's is the highest and changes least": _d7_steepness,
        },
        "D8": {"at every number of flows": partial(_d8, every=True), "TFRC's is the lowest there": _d8_alone},
        "D9": {"drained to half of the buffer": partial(_d9_half, words=words)},
        "D10": {
            "at every number of flows": partial(_d10, index=index, every=True),
            "of what left the sender": partial(_d10, index=q.INDEX_OF_SENT),
            "with reverse traffic alone": partial(_d10, index=index, grids=(p.REVERSE,)),
            "over five hops alone": partial(_d10, index=index, grids=(p.CHAIN,)),
        },
        "D11": {
            "at every number of flows": partial(_d11, every=True),
            "TCP has more beside DVRC": _d11_order,
        },
        "D12": {
            "the share itself, layers or not": partial(_d12, share=FAIR_KILOBITS),
            "and leaves TCP its own": partial(_d12, share=words.subscription(FAIR_KILOBITS), leaves=True),
        },
        "D13": {
            "as good as eight (within 5 %)": partial(_d13, index=index, margin=SUFFICES),
            **{split: partial(_d13, index=index, splits=(split,)) for split in p.SPLITS},
            "so are two": partial(_d13, index=index, few=(2,)),
        },
        "D14": {
            "better than a judge who knows nothing of the cause": partial(
                _better_than_chance, compared=compared
            )
        },
        "D15": {
            "at every number of flows": partial(
                _better, words=words, grid=p.REVERSE, rivals=(TFRC,), every=True
            ),
            **{
                name: partial(_better, words=replace(words, lost=lost), grid=p.REVERSE, rivals=(TFRC,))
                for name, lost in (
                    ("lost in the network", q.DROPPED_OF_MADE),
                    ("lost: all that did not arrive", q.MISSING_OF_MADE),
                )
            },
        },
        "D16": {"at every number of flows": partial(_d16, every=True)},
        "D25": {"of all that was made": partial(_late, measure=q.DELAYED)},
        "D17": {
            "at every number of flows": partial(
                _better, words=words, grid=p.CHAIN, rivals=(TFRC, RTCP), every=True
            ),
            **{
                name: partial(_better, words=replace(words, lost=lost), grid=p.CHAIN, rivals=(TFRC, RTCP))
                for name, lost in (
                    ("lost in the network", q.DROPPED_OF_MADE),
                    ("lost: all that did not arrive", q.MISSING_OF_MADE),
                )
            },
        },
    }


GRIDS: Mapping[str, tuple[str, ...]] = {
    "D1": (p.SINGLE,),
    "D2": (p.SINGLE,),
    "D3": (p.BOUND,),
    "D4": (p.CROSS,),
    "D5": (p.CROSS,),
    "D6": (p.CROSS,),
    "D7": (p.CROSS,),
    "D8": (p.CROSS, p.SPREAD),
    "D9": (p.QUEUE,),
    "D10": (p.REVERSE, p.CHAIN),
    "D11": (p.FRIENDLY,),
    "D12": (p.HOPS,),
    "D13": (p.LAYERS,),
    "D14": (p.BOUND,),
    "D15": (p.REVERSE,),
    "D16": (p.REVERSE,),
    "D17": (p.CHAIN,),
    "D18": (p.CHAIN,),
    "D19": (p.SINGLE,),
    "D20": (p.REVERSE, p.CHAIN),
    "D21": (p.CROSS,),
    "D22": (p.CROSS,),
    "D23": (p.CROSS,),
    "D24": (p.CROSS,),
    "D25": (p.CROSS,),
    "D26": (p.CROSS,),
    "D27": (p.CROSS,),
    "D28": (p.SPREAD,),
    "D29": (p.RULES,),
    "D30": (p.REVERSE,),
    "D31": (p.REVERSE,),
    "D32": (p.REVERSE,),
    "D33": (p.FRIENDLY,),
    "D34": (p.FRIENDLY,),
    "D35": (p.HOPS,),
    "D36": (p.RULES,),
}
"""The grids that the tests of each claim read."""

MORE_GRIDS: Mapping[str, tuple[str, ...]] = {"D1": (p.BULK, p.CROSS)}
"""Grids that only other wordings read."""

STATEMENTS = texts.claims(__file__, GRIDS)
"""The claims in words."""


def claims(reading: Reading, *, bare: bool = False) -> list[Claim]:
    """All claims under a reading, in order; `bare` without other wordings and explanations."""
    words = MeasuredTerms.of(reading)
    found, several_ = tests(words), parts(words)
    others = {} if bare else wordings(words)
    return [
        Claim(
            id=name,
            statement=statement,
            source=f"paper 002 {source}",
            grids=GRIDS[name] if bare else (*GRIDS[name], *MORE_GRIDS.get(name, ())),
            **({"parts": several_[name]} if name in several_ else {"test": found[name]}),
            notes={} if bare else EXPLANATIONS.get(name, {}),
            assumptions=assumptions,
            wordings=others.get(name, {}),
        )
        for name, (statement, source, assumptions) in STATEMENTS.items()
    ]
