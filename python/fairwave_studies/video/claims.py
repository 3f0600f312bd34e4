"""What paper 002 asserts, D1 to D21, each with its test under any reading.

**How words are read.** A link is *used* when it carries at least 95 % of what it can; videos *have their share* when
they have at least 90 % of it, or all that they want; a number is *near* a line within 20 % of it and *well below* it
beyond that; an index is *nearly flat* when it changes by less than 0.1 over the sweep; fairness *falls* when it
loses as much, and is *high* above 0.9; layers are *satisfactory* when goodput and index come within 10 %. Where a
sentence is about a whole sweep, its mean over the sweep is compared, without the points of a single flow; other
wordings stand beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.explanations import EXPLANATIONS
from fairwave_studies.video.statements import STATEMENTS
from fairwave_studies.video.systems import DVRC, LAYER_KILOBITS, LITERAL, RTCP, TFRC, UDP, WESTWOOD
from fairwave_study.claims import Claim, Comparison, Evidence
from fairwave_study.comparisons import above, at_least, below, highest, less_steep, lowest, within

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
        compared: Which of the labels of the judging grids is DVRC.
        kilobits: What the layers add, kb/s.
        megabits: The link out of R2, Mb/s.
        first: The link before it, Mb/s.
        capacity: Packets that its buffer holds.
    """

    index: Measure = q.INDEX_OF_SENT
    delayed: Measure = q.DELAYED_OF_SENT
    compared: str = p.TEXT
    kilobits: tuple[float, ...] = LAYER_KILOBITS
    megabits: float = p.MEGABITS
    first: float = p.MEGABITS
    capacity: float = q.CAPACITY

    @classmethod
    def of(cls, reading: Reading) -> MeasuredTerms:
        """The words of a reading; what it does not name is as in the base reading."""
        left, gap = (
            reading.get("sent", "what left the sender") == "what left the sender",
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


def several(measured: Measured, least: int = SEVERAL) -> Measured:
    """Only the points with that many videos or more."""
    return measured.at(flows=[n for n in measured.labels("flows") if n >= least])


def swept(measured: Measured, *, every: bool = False) -> Measured:
    """The mean over the sweep of flows, or each point of it."""
    return several(measured) if every else several(measured).averaged("flows")


def of(measured: Measured, **labels: object) -> Measured:
    """What belongs to these labels, without their axes."""
    return measured.at(**labels).without(*labels)


def _d1(data: Data, grid: str = p.SINGLE, name: str = DVRC) -> Evidence:
    return lowest(data.measured(q.COV, grid), name, [TFRC])


def _d1_many(data: Data) -> Evidence:
    return lowest(several(data.measured(q.COV, p.CROSS)), DVRC, [TFRC])


def _d2(data: Data, gaps: Measure = q.UNNOTICED) -> Evidence:
    jitter, most = (of(data.measured(one, p.SINGLE), transport=DVRC) for one in (q.LARGEST_JITTER, gaps))
    return said("largest jitter", below(jitter, LIMIT_MS)) & said("gaps below 50 ms", above(most, MOST))


def _judged(data: Data, compared: str, *measures: Measure) -> Evidence:
    """Most of each of these, in the experiment of Figure 3."""
    return both(
        *(said(one.title, above(of(data.measured(one, p.BOUND), reading=compared), MOST)) for one in measures)
    )


def _better_than_chance(data: Data, compared: str) -> Evidence:
    return above(of(data.measured(q.INFORMEDNESS, p.BOUND), reading=compared), 0.0)


def _many(measured: Measured, least: int = 40) -> Measured:
    return measured.at(flows=[n for n in measured.labels("flows") if n >= least])


def _d4(data: Data) -> Evidence:
    use = several(data.measured(q.USE, p.CROSS)).at(transport=[DVRC, TFRC])
    return above(use, USED) & lowest(_many(data.measured(q.GOODPUT, p.CROSS)), WESTWOOD, [DVRC, TFRC])


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


def _d5(data: Data, index: Measure) -> Evidence:
    measured = several(data.measured(index, p.CROSS))
    return highest(measured, DVRC) & _span(measured, DVRC)


def _d6(data: Data, delayed: Measure, *, every: bool = False) -> Evidence:
    drops, late = (swept(data.measured(one, p.CROSS), every=every) for one in (q.DROPS, delayed))
    return said("lost: ", lowest(drops, DVRC)) & said("delayed: ", highest(late, WESTWOOD))


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
            Comparison(
                f"loss of {TFRC} − of {rival}"
                + "".join(f" at {axis} {label}" for axis, label in point.items()),
                lost(TFRC, point) - lost(rival, point),
            )
            for rival in (DVRC, WESTWOOD)
            for point in alike.points(without=["transport"])
        ]
    )


def _d8_alone(data: Data) -> Evidence:
    """By itself: with spread round trips TFRC's index is the lowest."""
    return lowest(swept(data.measured(q.FAIRNESS, p.SPREAD)), TFRC)


def _d9(data: Data, words: MeasuredTerms, low: float = 0.25, title: str = q.TO_A_QUARTER) -> Evidence:
    often = of(data.measured(q.drains(low, title, words.capacity), p.QUEUE), transport=DVRC)
    spare = of(data.measured(q.queue_share(0.75, q.SPARE, words.capacity), p.QUEUE), transport=UDP)
    return said("drains under DVRC", above(often, 1.0)) & said(
        "time under UDP with less than three quarters full", below(spare, 5.0)
    )


def _d10(
    data: Data, index: Measure, *, every: bool = False, grids: Sequence[str] = (p.REVERSE, p.CHAIN)
) -> Evidence:
    def duel(measure: Measure, grid: str) -> Measured:
        return swept(data.measured(measure, grid).at(transport=[DVRC, RTCP]), every=every)

    return both(
        *(
            said(f"{grid}, {words}: ", lowest(duel(one, grid), RTCP, [DVRC]))
            for grid in grids
            for words, one in (("goodput", q.GOODPUT), ("index", index), ("fairness", q.FAIRNESS))
        )
    )


def _d11(data: Data, *, every: bool = False) -> Evidence:
    share = swept(data.measured(TCP_SHARE, p.FRIENDLY), every=every)
    beside = {name: of(share, transport=name) for name in (DVRC, TFRC)}
    return said(f"beside {DVRC}: ", within(beside[DVRC], 1 - NEAR, 1 + NEAR)) & said(
        f"beside {TFRC}: ", below(beside[TFRC], 1 - NEAR)
    )


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


def _better(data: Data, index: Measure, grid: str, rivals: Sequence[str], *, every: bool = False) -> Evidence:
    """DVRC's index above and its losses below those of its rivals."""
    indices, drops = (swept(data.measured(one, grid), every=every) for one in (index, q.DROPS))
    return said("index: ", highest(indices, DVRC, rivals)) & said("lost: ", lowest(drops, DVRC, rivals))


def _d16(data: Data, *, every: bool = False) -> Evidence:
    fairness, worst = (
        swept(data.measured(one, p.REVERSE), every=every) for one in (q.FAIRNESS, q.WORST_CASE)
    )
    return said("index: ", above(fairness.at(transport=[DVRC, TFRC]), FAIR)) & said(
        "worst case: ", lowest(worst, RTCP)
    )


def _fair(data: Data, grid: str) -> Evidence:
    return above(of(several(data.measured(q.FAIRNESS, grid)), transport=DVRC), FAIR)


def _d19(data: Data) -> Evidence:
    tcp, video = (of(data.measured(one, p.SINGLE), transport=DVRC) for one in (q.COV_TCP, q.COV))
    timeouts = of(data.measured(q.TIMEOUTS, p.SINGLE), transport=DVRC)
    varies = Comparison("CoV of TCP − of DVRC", tcp.samples() - video.samples())
    return Evidence([varies]) & said("timeouts of a TCP flow", above(timeouts, 1.0))


def _d20(data: Data, index: Measure) -> Evidence:
    reverse, chain = (of(swept(data.measured(index, grid)), transport=DVRC) for grid in (p.REVERSE, p.CHAIN))
    return Evidence(
        [Comparison("index with reverse traffic − over five hops", reverse.samples() - chain.samples())]
    )


def tests(words: MeasuredTerms) -> dict[str, Test]:
    """Each claim's test under what a reading makes of its words."""
    index, delayed, compared = words.index, words.delayed, words.compared
    return {
        "D1": _d1,
        "D2": _d2,
        "D3": lambda data: _judged(data, compared, q.RECALL_RANDOM, q.JUDGED_RANDOM),
        "D4": _d4,
        "D5": partial(_d5, index=index),
        "D6": partial(_d6, delayed=delayed),
        "D7": _d7,
        "D8": _d8,
        "D9": partial(_d9, words=words),
        "D10": partial(_d10, index=index),
        "D11": _d11,
        "D12": partial(_d12, share=words.subscription(FAIR_KILOBITS)),
        "D13": partial(_d13, index=index),
        "D14": lambda data: _judged(data, compared, q.RECALL_RANDOM, q.RECALL_CONGESTION),
        "D15": partial(_better, index=index, grid=p.REVERSE, rivals=(TFRC,)),
        "D16": _d16,
        "D17": partial(_better, index=index, grid=p.CHAIN, rivals=(TFRC, RTCP)),
        "D18": partial(_fair, grid=p.CHAIN),
        "D19": _d19,
        "D20": partial(_d20, index=index),
        "D21": partial(_fair, grid=p.CROSS),
    }


def wordings(words: MeasuredTerms) -> dict[str, dict[str, Test]]:
    """Where a sentence is open: the claim's test by each other wording, stricter ones among them."""
    index, delayed, compared = words.index, words.delayed, words.compared
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
            "of what the application made": partial(_d5, index=q.INDEX),
            "of what left the sender": partial(_d5, index=q.INDEX_OF_SENT),
            "gaps in excess of the sender's own": partial(_d5, index=q.INDEX_OF_SENT_EXCESS),
        },
        "D6": {
            "gaps in excess of the sender's own": partial(_d6, delayed=q.DELAYED_OF_SENT_EXCESS),
            "at every number of flows": partial(_d6, delayed=delayed, every=True),
        },
        "D7": {
            "and DVRC's holds": _d7_holds,
            "DVRC's is the highest and changes least": _d7_steepness,
        },
        "D8": {"at every number of flows": partial(_d8, every=True), "TFRC's is the lowest there": _d8_alone},
        "D9": {"drained to half of the buffer": partial(_d9, words=words, low=0.5, title=q.TO_A_HALF)},
        "D10": {
            "at every number of flows": partial(_d10, index=index, every=True),
            "of what the application made": partial(_d10, index=q.INDEX),
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
                _better, index=index, grid=p.REVERSE, rivals=(TFRC,), every=True
            )
        },
        "D16": {"at every number of flows": partial(_d16, every=True)},
        "D17": {
            "at every number of flows": partial(
                _better, index=index, grid=p.CHAIN, rivals=(TFRC, RTCP), every=True
            )
        },
    }


MORE_GRIDS: Mapping[str, tuple[str, ...]] = {"D1": (p.BULK, p.CROSS)}
"""Grids that only other wordings read."""


def claims(reading: Reading, *, bare: bool = False) -> list[Claim]:
    """All claims under a reading, in order; `bare` without other wordings and explanations."""
    words = MeasuredTerms.of(reading)
    found, others = tests(words), {} if bare else wordings(words)
    return [
        Claim(
            id=name,
            statement=statement,
            source=f"paper 002 {source}",
            grids=grids if bare else (*grids, *MORE_GRIDS.get(name, ())),
            test=found[name],
            notes={} if bare else EXPLANATIONS.get(name, {}),
            assumptions=assumptions,
            wordings=others.get(name, {}),
        )
        for name, (statement, source, grids, assumptions) in STATEMENTS.items()
    ]
