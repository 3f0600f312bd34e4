"""Tests of the assertions of paper 002, D1 to D36, in any reading.

**Meaning of the words.** A link is *used* if it carries at least 95 % of its capacity. Videos *have their share* if
they have at least 90 % of it, or all that they want. A number is *near* a line within 20 % of it and *well below* it
beyond that. An index is *nearly flat* if it changes by less than 0.1 over the sweep. Fairness *falls* if it loses 0.1,
is *high* above 0.9 and *relatively high* or *adequate* above 0.8. Layers are *satisfactory* if goodput and index come
within 10 %, and a link's use if it is 90 %. A *considerable* part is 10 % and more, *few* are less than 5 %, a *low*
drop rate is below 10 %, and *most* are more than half. *Small* deviations leave the smallest more than half of the
largest. These lines were drawn before the first run. For a sentence about a whole sweep, the test compares the mean
over the sweep, without the points of a single flow. Other wordings are judged too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
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
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.comparisons import (
    contrast,
    highest,
    is_above,
    is_at_least,
    is_below,
    is_within,
    join,
    less_steep,
    lowest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data
    from fairwave_study.readings import Reading

    Test = Callable[[Data], Evidence]

FLAT = 0.1
"""Change up to which an index or a fairness counts as flat."""

FILLED = 0.9
"""Share of the videos' possible rate that they must have."""

USED = 95.0
"""Per cent of a link that must be carried for it to be used."""

NEAR = 0.2
"""How far from a line is still near."""

SATISFACTORY, SUFFICES = 0.1, 0.05
"""Shares by which fewer layers may fall short: of the satisfactory value, and of an equally good one."""

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
"""The fewest flows with a meaningful fairness and mean of the sweep."""
MANY = 40
"""The fewest flows of the crowded points."""

FAIR_KILOBITS = 1e3 * q.PAYLOAD_SHARE / 2
"""Half of a link of 1 Mb/s, kb/s of payload."""

TCP_SHARE = q.normalised(q.FTP, p.MEGABITS)
VIDEO_SHARE = q.normalised(q.VIDEO, p.MEGABITS)


@dataclass(frozen=True)
class MeasuredTerms:
    """A reading's meaning of the measured, not simulated, words.

    Attributes:
        index: The video delivery index.
        delayed: The share of delayed packets.
        lost: The packet drop rate.
        compared: Which of the labels of the judging grids is DVRC.
        kilobits: Rate of each layer, kb/s.
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
    def from_reading(cls, reading: Reading) -> MeasuredTerms:
        """The terms of a reading; missing factors keep the base value."""
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
        """Possible rate of this many videos, Mb/s of payload: a fair share next to the transfers, or all they want."""
        fair = self.megabits * flows / (flows + p.FTP_CROSS)
        return min(min(fair, self.first) * q.PAYLOAD_SHARE, flows * sum(self.kilobits) / 1e3)

    def subscription(self, kilobits: float) -> float:
        """The largest number of layers, in kb/s, within a rate; the base layer's at least."""
        sums = np.cumsum(self.kilobits)
        return float(max((one for one in sums if one <= kilobits), default=sums[0]))


def prefix_labels(words: str, evidence: Evidence) -> Evidence:
    """The same, with words before each comparison."""
    return evidence.relabelled(lambda label: f"{words}{label}")


def rename(words: str, evidence: Evidence) -> Evidence:
    """The same with this label, for evidence of a single comparison."""
    return evidence.relabelled(lambda _: words)


def several(measured: Measured, least: int = SEVERAL) -> Measured:
    """Only the points with that many videos or more."""
    return measured.select(flows=[n for n in measured.labels("flows") if n >= least])


def swept(measured: Measured, *, every: bool = False) -> Measured:
    """The mean over the sweep of flows, or each point of it."""
    return several(measured) if every else several(measured).averaged("flows")


def select(measured: Measured, **labels: object) -> Measured:
    """The measure at these labels, without their axes."""
    return measured.select(**labels).drop_axes(*labels)


def _d1(data: Data, grid: str = p.SINGLE, name: str = DVRC) -> Evidence:
    return lowest(data.measured(q.COV, grid), name, [TFRC])


def _d1_many(data: Data) -> Evidence:
    return lowest(several(data.measured(q.COV, p.CROSS)), DVRC, [TFRC])


def _jitter(data: Data) -> Evidence:
    return rename(
        "largest jitter",
        is_below(select(data.measured(q.LARGEST_JITTER, p.SINGLE), transport=DVRC), LIMIT_MS),
    )


def _gaps(data: Data, gaps: Measure = q.UNNOTICED) -> Evidence:
    return rename("gaps below 50 ms", is_above(select(data.measured(gaps, p.SINGLE), transport=DVRC), MOST))


def _d2(data: Data, gaps: Measure = q.UNNOTICED) -> Evidence:
    return _jitter(data) & _gaps(data, gaps)


def _judged(data: Data, compared: str, *measures: Measure) -> Evidence:
    """Most of each of these, in the experiment of Figure 3."""
    return join(
        *(
            rename(one.title, is_above(select(data.measured(one, p.BOUND), reading=compared), MOST))
            for one in measures
        )
    )


def _better_than_chance(data: Data, compared: str) -> Evidence:
    return is_above(select(data.measured(q.INFORMEDNESS, p.BOUND), reading=compared), 0.0)


def _used(data: Data, grid: str = p.CROSS, least: float = USED) -> Evidence:
    return is_above(several(data.measured(q.USE, grid)).select(transport=[DVRC, TFRC]), least)


def _falls_short(data: Data) -> Evidence:
    return lowest(several(data.measured(q.GOODPUT, p.CROSS), MANY), WESTWOOD, [DVRC, TFRC])


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
    return Evidence(parts) & lowest(several(goodput, MANY), WESTWOOD, [DVRC, TFRC])


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
    return prefix_labels("lost: ", lost) & prefix_labels(
        "delayed: ", _delays_most(data, words.delayed, every=every)
    )


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
    often = select(data.measured(q.drains(low, title, words.capacity), p.QUEUE), transport=DVRC)
    return rename("drains under DVRC", is_above(often, 1.0))


def _stays_full(data: Data, words: MeasuredTerms) -> Evidence:
    spare = select(data.measured(q.queue_share(0.75, q.SPARE, words.capacity), p.QUEUE), transport=UDP)
    return rename("time under UDP with less than three quarters full", is_below(spare, 5.0))


def _d9_half(data: Data, words: MeasuredTerms) -> Evidence:
    return _drains(data, words, 0.5, q.TO_A_HALF) & _stays_full(data, words)


def _d10(
    data: Data, index: Measure, *, every: bool = False, grids: Sequence[str] = (p.REVERSE, p.CHAIN)
) -> Evidence:
    def duel(measure: Measure, grid: str) -> Measured:
        return swept(data.measured(measure, grid).select(transport=[DVRC, RTCP]), every=every)

    return join(
        *(
            prefix_labels(f"{grid}, {words}: ", lowest(duel(one, grid), RTCP, [DVRC]))
            for grid in grids
            for words, one in (("goodput", q.GOODPUT), ("index", index), ("fairness", q.FAIRNESS))
        )
    )


def _dvrc_is_friendly(data: Data, *, every: bool = False) -> Evidence:
    share = select(swept(data.measured(TCP_SHARE, p.FRIENDLY), every=every), transport=DVRC)
    return prefix_labels(f"beside {DVRC}: ", is_within(share, 1 - NEAR, 1 + NEAR))


def _tfrc_is_unfriendly(data: Data, *, every: bool = False) -> Evidence:
    share = select(swept(data.measured(TCP_SHARE, p.FRIENDLY), every=every), transport=TFRC)
    return prefix_labels(f"beside {TFRC}: ", is_below(share, 1 - NEAR))


def _d11(data: Data, *, every: bool = False) -> Evidence:
    return _dvrc_is_friendly(data, every=every) & _tfrc_is_unfriendly(data, every=every)


def _d11_order(data: Data) -> Evidence:
    """TCP has more next to DVRC than next to TFRC."""
    return highest(swept(data.measured(TCP_SHARE, p.FRIENDLY)), DVRC, [TFRC])


def _d12(data: Data, share: float, *, leaves: bool = False) -> Evidence:
    rates = select(data.measured(q.flow_goodput(q.VIDEO), p.HOPS), transport=DVRC)
    kept = prefix_labels("DVRC: ", is_above(rates, (1 - NEAR) * share))
    if not leaves:
        return kept
    others = select(data.measured(q.flow_goodput(q.TCP), p.HOPS), transport=DVRC)
    return kept & prefix_labels("TCP: ", is_above(others, (1 - NEAR) * FAIR_KILOBITS))


def _d13(
    data: Data,
    index: Measure,
    *,
    splits: Sequence[str] = (),
    few: Sequence[int] = (4, 5),
    margin: float = SATISFACTORY,
) -> Evidence:
    there = data.measured(q.GOODPUT, p.LAYERS).labels("split")
    return join(
        *(
            prefix_labels(
                f"{words}, {split}: ",
                is_at_least(
                    select(data.measured(one, p.LAYERS), split=split),
                    count,
                    [8],
                    axis="layers",
                    margin=margin,
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
    """DVRC's index is above and its losses are below the rivals'."""
    return prefix_labels(
        "index: ", _index_above(data, words.index, grid, rivals, every=every)
    ) & prefix_labels("lost: ", _loses_less(data, words.lost, rivals, grid, every=every))


def _fair_among(data: Data, *, every: bool = False) -> Evidence:
    return is_above(
        swept(data.measured(q.FAIRNESS, p.REVERSE), every=every).select(transport=[DVRC, TFRC]), FAIR
    )


def _rtcp_worst(data: Data, *, every: bool = False) -> Evidence:
    return lowest(swept(data.measured(q.WORST_CASE, p.REVERSE), every=every), RTCP)


def _d16(data: Data, *, every: bool = False) -> Evidence:
    return prefix_labels("index: ", _fair_among(data, every=every)) & prefix_labels(
        "worst case: ", _rtcp_worst(data, every=every)
    )


def _fair(data: Data, grid: str) -> Evidence:
    return is_above(select(several(data.measured(q.FAIRNESS, grid)), transport=DVRC), FAIR)


def _varies_more(data: Data) -> Evidence:
    tcp, video = (select(data.measured(one, p.SINGLE), transport=DVRC) for one in (q.COV_TCP, q.COV))
    return Evidence([contrast("CoV of TCP − of DVRC", tcp.samples(), video.samples(), q.COV)])


def _coarse_timeouts(data: Data) -> Evidence:
    timeouts = select(data.measured(q.TIMEOUTS, p.SINGLE), transport=DVRC)
    return rename("timeouts of a TCP flow", is_above(timeouts, 1.0))


def _d20(data: Data, index: Measure) -> Evidence:
    reverse, chain = (
        select(swept(data.measured(index, grid)), transport=DVRC) for grid in (p.REVERSE, p.CHAIN)
    )
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
    return is_above(select(several(data.measured(q.FAIRNESS, p.SPREAD)), transport=DVRC), FAIRLY)


def _degrades(data: Data) -> Evidence:
    fairness = select(data.measured(q.FAIRNESS, p.SPREAD), transport=DVRC)
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
    return is_above(select(swept(data.measured(VIDEO_SHARE, p.FRIENDLY)), transport=TFRC), 1.0)


def _base_layer(data: Data, words: MeasuredTerms) -> Evidence:
    """With the most videos and the most file transfers, a video has at most the base layer's rate."""
    rate = select(data.measured(q.flow_goodput(q.VIDEO), p.FRIENDLY), transport=DVRC)
    crowded = select(rate, flows=max(rate.labels("flows")), tcp=max(rate.labels("tcp")))
    return rename("goodput of a video", is_below(crowded, (1 + NEAR) * words.kilobits[0]))


def _tcp_over_hops(data: Data) -> Evidence:
    rates = select(data.measured(q.flow_goodput(q.TCP), p.HOPS), transport=DVRC)
    return is_within(rates, (1 - NEAR) * FAIR_KILOBITS, (1 + NEAR) * FAIR_KILOBITS)


def _rule(data: Data, measure: Measure, side: str) -> Evidence:
    duel = data.measured(measure, p.RULES).select(transport=[DVRC, AIAD])
    return (lowest if side == "below" else highest)(duel, DVRC, [AIAD])


def _late(data: Data, measure: Measure) -> Evidence:
    return is_above(select(swept(data.measured(measure, p.CROSS)), transport=WESTWOOD), CONSIDERABLE)


def data_at(measure: Measure, data: Data) -> Measured:
    """A measure over the sweep with cross traffic, at five flows and more."""
    return several(data.measured(measure, p.CROSS))


def _duel(data: Data, measure: Measure, grid: str) -> Evidence:
    return lowest(swept(data.measured(measure, grid)), RTCP, [DVRC])


def tests(case: Case) -> dict[str, Test | dict[str, Test]]:
    """Claim to its test, or to the tests of its parts."""
    words = MeasuredTerms.from_reading(case.reading)
    index, lost, delayed, compared = words.index, words.lost, words.delayed, words.compared
    duels = {"goodput": q.GOODPUT, "index": index, "fairness": q.FAIRNESS}
    places = {p.REVERSE: "with reverse traffic", p.CHAIN: "over five hops"}
    cross = {"index": partial(data_at, index), "lost": partial(data_at, lost)}
    return {
        "D2": {"jitter": _jitter, "gaps": _gaps},
        "D3": {
            "random losses": lambda data: _judged(data, compared, q.RECALL_RANDOM),
            "losses of any cause": lambda data: _judged(data, compared, q.JUDGED_RANDOM),
        },
        "D4": {"used": _used, "Westwood+ falls short": _falls_short},
        "D5": {
            "highest": partial(_highest_index, index=index),
            "nearly flat": partial(_flat_index, index=index),
        },
        "D6": {
            "loses less than TFRC": partial(_loses_less, lost=lost, rivals=[TFRC]),
            "loses less than Westwood+": partial(_loses_less, lost=lost, rivals=[WESTWOOD]),
            "Westwood+ delays most": partial(_delays_most, delayed=delayed),
        },
        "D9": {"drains": partial(_drains, words=words), "stays full": partial(_stays_full, words=words)},
        "D10": {
            f"{name} {where}": partial(_duel, measure=one, grid=grid)
            for grid, where in places.items()
            for name, one in duels.items()
        },
        "D11": {"near 1 beside DVRC": _dvrc_is_friendly, "well below beside TFRC": _tfrc_is_unfriendly},
        "D14": {
            "random losses": lambda data: _judged(data, compared, q.RECALL_RANDOM),
            "losses of the queue": lambda data: _judged(data, compared, q.RECALL_CONGESTION),
        },
        "D15": {
            "index": partial(_index_above, index=index, grid=p.REVERSE, rivals=[TFRC]),
            "losses": partial(_loses_less, lost=lost, grid=p.REVERSE, rivals=[TFRC]),
        },
        "D16": {"fair": _fair_among, "RTCP/UDP's worst case": _rtcp_worst},
        "D17": {
            name: test
            for rival in (TFRC, RTCP)
            for name, test in (
                (f"index, {rival}", partial(_index_above, index=index, grid=p.CHAIN, rivals=[rival])),
                (f"losses, {rival}", partial(_loses_less, lost=lost, grid=p.CHAIN, rivals=[rival])),
            )
        },
        "D19": {"varies more": _varies_more, "timeouts": _coarse_timeouts},
        "D23": {
            "most in time": lambda data: is_above(select(cross["index"](data), transport=DVRC), MOST / 100),
            "few lost": lambda data: is_below(select(cross["lost"](data), transport=DVRC), LOW),
        },
        "D28": {"adequate": _adequate, "falls beyond 40": _degrades},
        "D30": {
            "satisfactory use": partial(_used, grid=p.REVERSE, least=SATISFIED),
            "RTCP/UDP below TFRC": partial(_goodput_below, grid=p.REVERSE, rivals=[TFRC]),
        },
        "D31": {
            "DVRC's nearly flat": partial(_flat_index, index=index, grid=p.REVERSE),
            **{f"{name}'s falls": partial(_index_falls, index=index, name=name) for name in (TFRC, RTCP)},
        },
        "D32": {
            "small": lambda data: is_above(
                select(swept(data.measured(q.WORST_CASE, p.REVERSE)), transport=DVRC), SMALL
            ),
            "smaller than RTCP/UDP's": lambda data: highest(
                swept(data.measured(q.WORST_CASE, p.REVERSE)), DVRC, [RTCP]
            ),
        },
        "D36": {
            "loses less": lambda data: _rule(data, q.DROPS, "below"),
            "shares more fairly": lambda data: _rule(data, q.FAIRNESS, "above"),
            "drains more": lambda data: _rule(data, q.drains(0.5, q.TO_A_HALF, words.capacity), "above"),
        },
        "D1": _d1,
        "D7": _d7,
        "D8": _d8,
        "D12": partial(_d12, share=words.subscription(FAIR_KILOBITS)),
        "D13": partial(_d13, index=index),
        "D18": partial(_fair, grid=p.CHAIN),
        "D20": partial(_d20, index=index),
        "D21": partial(_fair, grid=p.CROSS),
        "D22": lambda data: lowest(swept(data.measured(q.COV, p.CROSS)), DVRC, [WESTWOOD]),
        "D24": lambda data: is_below(select(swept(data.measured(delayed, p.CROSS)), transport=TFRC), FEW),
        # §5.2: of the packets that are not dropped.
        "D25": partial(_late, measure=q.LATE_OF_RECEIVED),
        "D26": lambda data: is_above(
            swept(data.measured(q.FAIRNESS, p.CROSS)).select(transport=[TFRC, WESTWOOD]), FAIRLY
        ),
        "D27": lambda data: highest(swept(data.measured(q.FAIRNESS, p.CROSS)), DVRC),
        "D29": partial(_swings_less, rival=RENO),
        "D33": _takes_more,
        "D34": partial(_base_layer, words=words),
        "D35": _tcp_over_hops,
    }


def wordings(case: Case) -> dict[str, dict[str, Test]]:
    """Where a sentence is open: the claim's test by each other wording, stricter ones among them."""
    words = MeasuredTerms.from_reading(case.reading)
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
