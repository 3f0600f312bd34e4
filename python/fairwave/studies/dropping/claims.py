"""What paper 004 asserts, Q1 to Q12, each with its test.

**How words are read.** Throughputs are *nearly equal* when the largest and the smallest class differ by less than 10
percentage points of what the link carries (the paper's own example, CA2, has 34, 35 and 31 %). TCP is *not
significantly*
reduced when it keeps 95 % of its throughput. *Almost nothing* lost is less than 1 % (the paper's largest such
cell is 0.74 %).
Other UDP is *starved* when it gets less than half of what Drop-Sel leaves it, and gets *what it needs* with 90 % of the
smaller of its input and a third of the link. The other schemes are Drop-Tail and Drop-Front, which the paper measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.studies.dropping import points as p
from fairwave.studies.dropping import quantities as q
from fairwave.studies.dropping import recognition
from fairwave.studies.dropping.explanations import EXPLANATIONS
from fairwave.study.claims import Claim, Comparison, Evidence
from fairwave.study.comparisons import above, at_least, at_most, below, highest, lowest, shrinks_from
from fairwave.study.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

NEARLY_EQUAL = 10.0
"""Percentage points between the largest and the smallest share."""
KEPT = 0.05
"""Share of its throughput that TCP may lose without that being significant."""
ALMOST_NOTHING = 1.0
"""% of voice packets."""
RIVALS = (p.TAIL, p.FRONT)


def part(data: Data, measure: Measure, *grids: str, **labels: Any) -> Measured:
    """A measure over the paper's victims in one grid or several of like axes.

    Labels that a grid has not are left out.
    """
    frames = []
    measured = data.measured(measure, grids[0])
    for grid in grids:
        one = data.measured(measure, grid)
        wanted = {"victim": p.PAPERS_VICTIMS, **labels}
        for axis, label in wanted.items():
            several = list(label) if isinstance(label, (list, tuple)) else [label]
            known = one.labels(axis)
            kept = [each for each in several if each in known]
            if not kept:
                break
            one = one.at(**{axis: kept})
        else:
            frames.append(one.frame)
    if not frames:
        raise ValueError(f"{measure.id}: no grid of {', '.join(grids)} has {labels}")
    joined = Measured(measure, measured.axes, pl.concat(frames))
    single = [
        axis for axis in joined.axes if axis not in ("victim", "case") and len(joined.labels(axis)) == 1
    ]
    return joined.without(*single)


def _q1(data: Data) -> Evidence:
    spread = part(data, q.SPREAD, p.ALWAYS_ON, case=("CA1", "CA2"))
    even = below(spread.at(victim=p.DROP_SEL), NEARLY_EQUAL)
    return even & above(spread.at(victim=RIVALS), NEARLY_EQUAL)


def _q2(data: Data) -> Evidence:
    tcp = part(data, q.OUT, p.ALWAYS_ON, case=("CA3", "CA4"), **{"class": "tcp"})
    return at_least(tcp, p.DROP_SEL, RIVALS, axis="victim", margin=KEPT)


def _tcp(data: Data, case: Sequence[str] | str, queue: str) -> Evidence:
    tcp = part(data, q.OUT, p.ON_OFF, case=case, queue=queue, **{"class": "tcp"})
    return at_least(tcp, p.DROP_SEL, RIVALS, axis="victim")


def _q3(data: Data) -> Evidence:
    return _tcp(data, ("CA5", "CA6", "CA7"), "RED")


def _q4(data: Data) -> Evidence:
    avq, rem = _tcp(data, "CA6", "AVQ"), _tcp(data, "CA7", "REM")
    return avq.relabelled(lambda label: f"AVQ: {label}") & rem.relabelled(lambda label: f"REM: {label}")


def _q5(data: Data, punsi: str = p.BY_FLOW) -> Evidence:
    out, into = (
        data.measured(one, p.PUNSI).at(**{"class": "other-udp"}).without("class") for one in (q.OUT, q.IN)
    )
    sel = f"RED, {p.DROP_SEL}"
    starved = shrinks_from(out, "scheme", sel, punsi, factor=0.5)
    needs = []
    for case in out.labels("case"):
        got, asked = (one.samples(case=case, scheme=sel) for one in (out, into))
        wanted = 0.9 * np.minimum(asked, p.RATE_BPS * q.FAIR_SHARE / 1e6)
        needs.append(Comparison(f"{sel} − 90 % of its need at {case}", got - wanted, unit="Mb/s"))
    return starved & Evidence(needs)


def _q6(data: Data) -> Evidence:
    return lowest(part(data, q.QUEUEING, p.ALWAYS_ON), p.DROP_SEL, RIVALS, axis="victim")


def _q7(data: Data) -> Evidence:
    losses = part(data, q.QUEUE_LOSS, p.ON_OFF, p.ROUTERS, case=p.VOICE_IS_MODEST, victim=p.DROP_SEL)
    return below(losses.without("victim"), ALMOST_NOTHING)


def _q8(data: Data) -> Evidence:
    losses = part(data, q.QUEUE_LOSS, p.ON_OFF, case=p.VOICE_DOMINATES)
    return highest(losses, p.DROP_SEL, RIVALS, axis="victim")


def _q9(data: Data, measure: Measure = q.MOS) -> Evidence:
    opinion = part(data, measure, p.ON_OFF, p.ROUTERS)
    return at_least(opinion, "AVQ", axis="queue") & at_most(opinion, "RED", ["REM"], axis="queue")


def _q10(data: Data, measure: Measure = q.MOS) -> Evidence:
    modest = part(data, measure, p.ON_OFF, p.ROUTERS, case=p.VOICE_IS_MODEST)
    dominant = part(data, measure, p.ON_OFF, case=p.VOICE_DOMINATES)
    return highest(modest, p.DROP_SEL, RIVALS, axis="victim") & lowest(
        dominant, p.DROP_SEL, RIVALS, axis="victim"
    )


PLACES: Mapping[str, tuple[str, ...]] = {
    "A1–A2": ("A1", "A2"),
    "B1–B3": ("B1", "B2", "B3"),
    "B4–B6": ("B4", "B5", "B6"),
    "C1–C2": ("C1", "C2"),
}
"""Flows that differ in nothing but chance."""


def _q11(data: Data, method: str = recognition.METHODS[0]) -> Evidence:
    found = recognition.heard(data)
    if found.missing:
        return Evidence([])

    def gain(
        column: str, queue: str, rival: str, flows: tuple[str, ...]
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        ours, theirs = (
            recognition.accuracy(found, column, queue=queue, victim=victim, flow=flows, method=method)
            for victim in (p.DROP_SEL, rival)
        )
        return ours - theirs

    comparisons = []
    for column, what in (("words", "words"), ("sentences", "sentences")):
        for queue in p.QUEUES:
            for rival in RIVALS:
                gains = {name: gain(column, queue, rival, flows) for name, flows in PLACES.items()}
                for name, one in gains.items():
                    label = f"{what}, {queue}: {p.DROP_SEL} − {rival} for {name}"
                    comparisons.append(Comparison(label, one, -1.0, unit="%", or_equal=True))
                far, others = gains["B4–B6"], [one for name, one in gains.items() if name != "B4–B6"]
                label = f"{what}, {queue}: gain over {rival} of B4–B6 − of the others"
                comparisons.append(Comparison(label, far - np.mean(others, axis=0), unit="%"))
    return Evidence(comparisons)


def _q12(data: Data, rivals: Sequence[str] = (p.DROP_SEL,)) -> Evidence:
    waits = part(data, q.QUEUEING, p.ALWAYS_ON, case=("CA3", "CA4"))
    return highest(waits, p.FRONT, rivals, axis="victim")


TESTS: Mapping[str, Callable[[Data], Evidence]] = {
    "Q1": _q1, "Q2": _q2, "Q3": _q3, "Q4": _q4, "Q5": _q5, "Q6": _q6, "Q7": _q7, "Q8": _q8, "Q9": _q9, "Q10": _q10,
    "Q11": _q11, "Q12": _q12,
}  # fmt: skip

READINGS: Mapping[str, Mapping[str, Callable[[Data], Evidence]]] = {
    "Q5": {
        "a fellow is of the same flow": _q5,
        "any UDP packet is a fellow": lambda data: _q5(data, p.BY_CLASS),
    },
    "Q9": {"MOS as printed": _q9, "full G.107": lambda data: _q9(data, q.FULL_MOS)},
    "Q10": {"MOS as printed": _q10, "full G.107": lambda data: _q10(data, q.FULL_MOS)},
    "Q11": {"concealed": _q11, "left silent": lambda data: _q11(data, recognition.METHODS[1])},
    "Q12": {
        "longer than under Drop-Sel": _q12,
        "longer than under Drop-Tail, too": lambda data: _q12(data, (p.DROP_SEL, p.TAIL)),
    },
}

STATEMENTS: Mapping[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "Q1": (
        "In CA1 and CA2 Drop-Sel makes the classes' throughputs nearly equal; Drop-Tail and Drop-Front do not.",
        "§4.2, Figures 4a–b", (p.ALWAYS_ON,), ("total", "transfers", "red"),
    ),
    "Q2": (
        "In CA3 and CA4 Drop-Sel does not significantly reduce TCP's throughput.",
        "§4.2, Figures 4c–d", (p.ALWAYS_ON,), ("total", "transfers"),
    ),
    "Q3": (
        "In CA5 to CA7 TCP's throughput under Drop-Sel is at least that under the other victims, with RED.",
        "§4.2, Figures 5a–c", (p.ON_OFF,), ("total", "transfers", "periods"),
    ),
    "Q4": (
        "So too with AVQ in CA6 and with REM in CA7.",
        "§4.2, Figures 6a–b", (p.ON_OFF,), ("avq", "rem", "transfers"),
    ),
    "Q5": (
        "PUNSI starves other UDP; Drop-Sel gives it what it needs.",
        "§4.2, Figures 7a–b", (p.PUNSI,), ("punsi", "total"),
    ),
    "Q6": (
        "In CA1 to CA4 Drop-Sel has the lowest mean queueing delay.",
        "§4.3.1, Table 5, Figure 8", (p.ALWAYS_ON,), ("red", "total"),
    ),
    "Q7": (
        "Where voice is below its fair share (CA7 to CA10) it loses almost nothing at the queue under Drop-Sel.",
        "§4.3.2, Tables 6–7", (p.ON_OFF, p.ROUTERS), ("total", "periods", "routers"),
    ),
    "Q8": (
        "Where voice is above its fair share (CA5, CA6) Drop-Sel drops more of it than the other victims.",
        "§4.3.2, Table 6", (p.ON_OFF,), ("total", "periods"),
    ),
    "Q9": (
        "AVQ gives the best and RED the worst mean opinion score, in every case and under every victim.",
        "§4.4.1, Figure 9", (p.ON_OFF, p.ROUTERS), ("avq", "rem", "buffers", "delays"),
    ),
    "Q10": (
        "Drop-Sel raises the mean opinion score in CA7 to CA10 and lowers it in CA5 and CA6.",
        "§4.4.1, Figure 9", (p.ON_OFF, p.ROUTERS), ("delays", "avq", "rem", "routers"),
    ),
    "Q11": (
        "In CA7 Drop-Sel's word and sentence accuracy are at least the others' (within a point), most for B4–B6.",
        "§4.4.2, Tables 8–9", (p.ON_OFF,), ("delays", "speech"),
    ),
    "Q12": (
        "Drop-Front alone does not give the shortest delay when TCP dominates (CA3, CA4): Drop-Sel's is shorter.",
        "§4.3.1, Table 5, Figures 8c–d", (p.ALWAYS_ON,), ("red", "transfers"),
    ),
}  # fmt: skip
"""The claims in words of ours, where the paper has them, the grids they read, the assumptions on which they hang."""


def claims() -> list[Claim]:
    """All claims, in order."""
    return [
        Claim(
            name,
            statement,
            f"paper 004 {source}",
            grids,
            TESTS[name],
            EXPLANATIONS.get(name, {}),
            assumptions,
            READINGS.get(name, {}),
        )
        for name, (statement, source, grids, assumptions) in STATEMENTS.items()
    ]
