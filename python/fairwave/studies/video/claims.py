"""What paper 002 asserts, D1 to D13, each with its test.

**How words are read.** Systems *fill the link* when the videos have at least 90 % of their fair share of it, or all
that they want; a number is *near* a line within 20 % of it and *well below* it beyond that; an index is *nearly flat*
when it changes by less than 0.1 over the sweep; fairness *holds* when it falls by less than 0.1; layers *suffice* when
goodput and index come within 5 %. Where a sentence is about a whole sweep, its mean over the sweep is compared, without
the points of a single flow; the stricter reading, every point by itself, stands beside it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairwave.studies.video import points as p
from fairwave.studies.video import quantities as q
from fairwave.studies.video.explanations import EXPLANATIONS
from fairwave.studies.video.statements import STATEMENTS
from fairwave.studies.video.systems import DVRC, LITERAL, RTCP, TFRC, UDP, WESTWOOD
from fairwave.study.claims import Claim, Comparison, Evidence
from fairwave.study.comparisons import above, at_least, below, highest, less_steep, lowest, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairwave.study.measured import Measured
    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

    Test = Callable[[Data], Evidence]

FLAT = 0.1
"""What an index or a fairness may change by and still be called flat."""

FILLED = 0.9
"""Share of what there is for the videos that they must have to fill the link."""

NEAR = 0.2
"""How far from a line is still near."""

SUFFICES = 0.05
"""Share by which fewer layers may fall short."""

MOST = 50.0
"""Per cent beyond which something is most."""

LIMIT_MS = q.THRESHOLD_S * 1e3

SEVERAL = 5
"""The fewest flows among which fairness and a sweep's mean mean anything."""


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


def _d1(data: Data, grid: str = p.SINGLE, name: str = DVRC) -> Evidence:
    return lowest(data.measured(q.COV, grid), name, [TFRC])


def _d1_many(data: Data) -> Evidence:
    return lowest(several(data.measured(q.COV, p.CROSS)), DVRC, [TFRC])


def _d2(data: Data, gaps: Measure = q.UNNOTICED) -> Evidence:
    jitter = data.measured(q.LARGEST_JITTER, p.SINGLE).at(transport=DVRC).without("transport")
    most = data.measured(gaps, p.SINGLE).at(transport=DVRC).without("transport")
    return said("largest jitter", below(jitter, LIMIT_MS)) & said("gaps below 50 ms", above(most, MOST))


def _above_the_bound(data: Data, reading: str = p.TEXT) -> Evidence:
    share = data.measured(q.JUDGED_RANDOM, p.BOUND).at(reading=reading).without("reading")
    return said("losses above the bound", above(share, MOST))


def _d3(data: Data, reading: str = p.TEXT) -> Evidence:
    causes = [
        said(one.title, above(data.measured(one, p.BOUND).at(reading=reading).without("reading"), MOST))
        for one in (q.RECALL_RANDOM, q.RECALL_CONGESTION)
    ]
    return both(_above_the_bound(data, reading), *causes)


def _better_than_chance(data: Data, reading: str = p.TEXT) -> Evidence:
    return above(data.measured(q.INFORMEDNESS, p.BOUND).at(reading=reading).without("reading"), 0.0)


def share_of_link(flows: int) -> float:
    """What there is for so many videos beside the file transfers, Mb/s of payload: a fair share, or all they want."""
    fair = p.MEGABITS * q.PAYLOAD_SHARE * flows / (flows + p.FTP_CROSS)
    return min(fair, flows * p.TOTAL_KILOBITS / 1e3)


def _fills(goodput: Measured, name: str, flows: Sequence[int]) -> Evidence:
    comparisons = [
        Comparison(
            f"{name} over its share with {n} flows",
            goodput.samples(flows=n, transport=name) / share_of_link(n),
            FILLED,
        )
        for n in flows
    ]
    return Evidence(comparisons)


def _d4(data: Data) -> Evidence:
    goodput = several(data.measured(q.GOODPUT, p.CROSS))
    flows = goodput.labels("flows")
    many = [n for n in flows if n >= 40]
    return both(
        _fills(goodput, DVRC, flows),
        _fills(goodput, TFRC, flows),
        _fills(goodput, WESTWOOD, [n for n in flows if n <= 20]),
        lowest(goodput.at(flows=many), WESTWOOD, [DVRC, TFRC]),
    )


def _d4_link(data: Data) -> Evidence:
    use = several(data.measured(q.USE, p.CROSS))
    many = use.at(flows=[n for n in use.labels("flows") if n >= 40])
    return above(use.at(transport=[DVRC, TFRC]), 95.0) & lowest(many, WESTWOOD, [DVRC, TFRC])


def _span(measured: Measured, name: str) -> Evidence:
    """The measure of one system changes by less than `FLAT` from the fewest flows to the most."""
    flows = measured.labels("flows")
    few, many = (measured.samples(flows=n, transport=name) for n in (min(flows), max(flows)))
    label = f"{name} with {min(flows)} flows − with {max(flows)}"
    return Evidence([Comparison(label, few - many, FLAT, "below", measured.measure.unit)])


def _d5(data: Data, index: Measure = q.INDEX) -> Evidence:
    measured = data.measured(index, p.CROSS)
    return highest(measured, DVRC) & _span(measured, DVRC)


def _d6(data: Data, delayed: Measure = q.DELAYED, *, every: bool = False) -> Evidence:
    drops, late = (swept(data.measured(one, p.CROSS), every=every) for one in (q.DROPS, delayed))
    return said("lost: ", lowest(drops, DVRC)) & said("delayed: ", highest(late, WESTWOOD))


def _d7(data: Data) -> Evidence:
    fairness = several(data.measured(q.WORST_CASE, p.CROSS))
    flows = fairness.labels("flows")
    first, last = min(flows), max(flows)
    falling = [
        Comparison(
            f"{name} with {first} flows − with {last}",
            fairness.samples(flows=first, transport=name) - fairness.samples(flows=last, transport=name),
            FLAT,
        )
        for name in (TFRC, WESTWOOD)
    ]
    return Evidence(falling) & _span(fairness, DVRC)


def _d7_steepness(data: Data) -> Evidence:
    fairness = several(data.measured(q.WORST_CASE, p.CROSS))
    return less_steep(fairness, DVRC, along="flows") & highest(fairness.averaged("flows"), DVRC)


def _loss_of_fairness(data: Data, *, every: bool) -> tuple[Measured, Measured]:
    alike, spread = (swept(data.measured(q.FAIRNESS, grid), every=every) for grid in (p.CROSS, p.SPREAD))
    return alike, spread


def _d8(data: Data, *, every: bool = False) -> Evidence:
    alike, spread = _loss_of_fairness(data, every=every)

    def lost(name: str, point: dict[str, object]) -> NDArray[np.float64]:
        return alike.samples(transport=name, **point) - spread.samples(transport=name, **point)

    comparisons = [
        Comparison(
            f"loss of {TFRC} − of {rival}" + "".join(f" at {axis} {label}" for axis, label in point.items()),
            lost(TFRC, point) - lost(rival, point),
        )
        for rival in (DVRC, WESTWOOD)
        for point in alike.points(without=["transport"])
    ]
    return Evidence(comparisons)


def _d9(data: Data, drains: Measure = q.DRAINS) -> Evidence:
    often = data.measured(drains, p.QUEUE).at(transport=DVRC).without("transport")
    full = data.measured(q.NOT_FULL, p.QUEUE).at(transport=UDP).without("transport")
    return said("drains under DVRC", above(often, 1.0)) & said(
        "time under UDP with less than three quarters full", below(full, 5.0)
    )


def _d8_alone(data: Data) -> Evidence:
    """By itself: with spread round trips TFRC's index is the lowest."""
    return lowest(swept(data.measured(q.FAIRNESS, p.SPREAD)), TFRC)


def _d10(
    data: Data,
    *,
    every: bool = False,
    index: Measure = q.INDEX,
    grids: Sequence[str] = (p.REVERSE, p.CHAIN),
) -> Evidence:
    return both(
        *(
            said(f"{grid}, {one.title}: ", lowest(_duel(data, one, grid, every=every), RTCP, [DVRC]))
            for grid in grids
            for one in (q.GOODPUT, index, q.FAIRNESS)
        )
    )


def _duel(data: Data, measure: Measure, grid: str, *, every: bool) -> Measured:
    return swept(data.measured(measure, grid).at(transport=[DVRC, RTCP]), every=every)


TCP_SHARE = q.normalised(q.FTP, p.MEGABITS)
VIDEO_SHARE = q.normalised(q.VIDEO, p.MEGABITS)


def _d11(data: Data, *, every: bool = False) -> Evidence:
    share = swept(data.measured(TCP_SHARE, p.FRIENDLY), every=every)
    beside = {name: share.at(transport=name).without("transport") for name in (DVRC, TFRC)}
    return said(f"beside {DVRC}: ", within(beside[DVRC], 1 - NEAR, 1 + NEAR)) & said(
        f"beside {TFRC}: ", below(beside[TFRC], 1 - NEAR)
    )


def _d11_order(data: Data) -> Evidence:
    """TCP has more beside DVRC than beside TFRC."""
    return highest(swept(data.measured(TCP_SHARE, p.FRIENDLY)), DVRC, [TFRC])


FAIR_KILOBITS = 1e3 * q.PAYLOAD_SHARE / 2
"""Half of a link of 1 Mb/s, kb/s of payload."""


def _d12(data: Data, *, leaves: bool = False) -> Evidence:
    rates = data.measured(q.per_flow(q.VIDEO), p.HOPS).at(transport=DVRC).without("transport")
    kept = said("DVRC: ", above(rates, (1 - NEAR) * FAIR_KILOBITS))
    if not leaves:
        return kept
    others = data.measured(q.per_flow(q.TCP), p.HOPS).at(transport=DVRC).without("transport")
    return kept & said("TCP: ", above(others, (1 - NEAR) * FAIR_KILOBITS))


def _d13(data: Data, splits: Sequence[str] = tuple(p.SPLITS), few: Sequence[int] = (4, 5)) -> Evidence:
    return both(
        *(
            said(
                f"{one.title}, {split}: ",
                at_least(
                    data.measured(one, p.LAYERS).at(split=split).without("split"),
                    count,
                    [8],
                    axis="layers",
                    margin=SUFFICES,
                ),
            )
            for one in (q.GOODPUT, q.INDEX)
            for split in splits
            for count in few
        )
    )


TESTS: dict[str, Test] = {
    "D1": _d1,
    "D2": _d2,
    "D3": _d3,
    "D4": _d4,
    "D5": _d5,
    "D6": _d6,
    "D7": _d7,
    "D8": _d8,
    "D9": _d9,
    "D10": _d10,
    "D11": _d11,
    "D12": _d12,
    "D13": _d13,
}

READINGS: dict[str, dict[str, Test]] = {
    "D1": {
        "judged by the requested rate, as Eq. (11) prints": partial(_d1, name=LITERAL),
        "rate control alone, with data that never ends": partial(_d1, grid=p.BULK),
        "many flows (Figure 8b)": _d1_many,
    },
    "D2": {"gaps in excess of the sender's own": partial(_d2, gaps=q.UNNOTICED_EXCESS)},
    "D3": {
        "only that most losses fall above the bound": _above_the_bound,
        "better than a judge who knows nothing of the cause": _better_than_chance,
        "judged by the requested rate, as Eq. (11) prints": partial(_d3, reading=p.EQUATION),
    },
    "D4": {"use of the link by all flows": _d4_link},
    "D5": {
        "gaps in excess of the sender's own": partial(_d5, index=q.INDEX_EXCESS),
        "of what left the sender": partial(_d5, index=q.INDEX_OF_SENT),
    },
    "D6": {
        "gaps in excess of the sender's own": partial(_d6, delayed=q.DELAYED_EXCESS),
        "at every number of flows": partial(_d6, every=True),
    },
    "D7": {"DVRC's is the highest and changes least": _d7_steepness},
    "D8": {
        "at every number of flows": partial(_d8, every=True),
        "TFRC's is the lowest there": _d8_alone,
    },
    "D9": {"drained to half of the buffer": partial(_d9, drains=q.DRAINS_HALF)},
    "D10": {
        "at every number of flows": partial(_d10, every=True),
        "index of what left the sender": partial(_d10, index=q.INDEX_OF_SENT),
    },
    "D11": {"at every number of flows": partial(_d11, every=True), "TCP has more beside DVRC": _d11_order},
    "D12": {"and leaves TCP its own": partial(_d12, leaves=True)},
    "D13": {
        **{split: partial(_d13, splits=(split,)) for split in p.SPLITS},
        "so do two": partial(_d13, few=(2,)),
    },
}
"""Where a word is open, the claim's test by each other reading."""


SETTLED: dict[str, Test] = {
    "D8": _d8_alone,
    f"D10, {p.REVERSE}": partial(_d10, grids=(p.REVERSE,)),
    f"D10, {p.CHAIN}": partial(_d10, grids=(p.CHAIN,)),
}
"""What sensitivity tables, which replace one grid, test instead of claims that read two."""


def claims() -> list[Claim]:
    """All claims, in order."""
    return [
        Claim(
            id=name,
            statement=statement,
            source=f"paper 002 {source}",
            grids=grids,
            test=TESTS[name],
            notes=EXPLANATIONS.get(name, {}),
            assumptions=assumptions,
            wordings=READINGS.get(name, {}),
        )
        for name, (statement, source, grids, assumptions) in STATEMENTS.items()
    ]
