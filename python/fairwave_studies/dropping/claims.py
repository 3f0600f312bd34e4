"""What paper 004 asserts, Q1 to Q18, each with its test.

**How words are read.** Throughputs are *nearly equal* when the largest and the smallest class differ by less than
10 percentage points of what the link carries (the paper's own example, CA2, has 34, 35 and 31 %); a class gets
*about what it needs* within as many points of the link. TCP is *not significantly* reduced when it keeps 95 % of
its throughput, and a class gets *what it needs* when 95 % of what it brings gets through (90 % in Q14). *Almost
nothing* lost is less than 1 % (the paper's largest such cell is 0.74 %). Other UDP is *starved* when it gets less
than half of what Drop-Sel leaves it; its *need* is the smaller of its input and a third of the link. *About twice*
is 1.5 to 2.5 times. The other schemes are Drop-Tail and Drop-Front, which the paper measures. *In general* is on
average over cases and victims: the paper's own Table 6 has exceptions. A sentence is correct as §4.4.2 prints it:
nothing in it was added or substituted; another wording asks for no word missing, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.measuring.measured import Measured
from fairwave.tables import Table
from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import quantities as q
from fairwave_studies.dropping import recognition
from fairwave_studies.dropping.explanations import EXPLANATIONS
from fairwave_studies.dropping.readings import BASE
from fairwave_study.claims import Claim, Comparison, Evidence
from fairwave_study.comparisons import above, at_least, at_most, below, highest, lowest, shrinks_from

if TYPE_CHECKING:
    from fairwave.measuring.measures import Measure
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

NEARLY_EQUAL = 10.0
"""Percentage points between the largest and the smallest share."""
KEPT = 0.05
"""Share of its throughput that TCP may lose without that being significant."""
TWICE = (1.5, 2.5)
"""What 'approximately a double share' is."""
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
    joined = Measured(measure, measured.axes, Table.of(pl.concat(frames)))
    single = [
        axis for axis in joined.axes if axis not in ("victim", "case") and len(joined.labels(axis)) == 1
    ]
    return joined.without(*single)


def _q1(data: Data, unfair: Sequence[str] = ("CA1",)) -> Evidence:
    spread = part(data, q.SPREAD, p.ALWAYS_ON, case=("CA1", "CA2")).at(victim=[p.DROP_SEL, *RIVALS])
    even = below(spread.at(victim=p.DROP_SEL), NEARLY_EQUAL)
    return even & above(spread.at(victim=RIVALS, case=list(unfair)), NEARLY_EQUAL)


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


def _q5(data: Data, punsi: str = p.PUNSI_SCHEME, share_of_need: float | None = None) -> Evidence:
    """Starved under PUNSI; with Drop-Sel within `NEARLY_EQUAL` points of the link of its need, or a share of that."""
    out, into = (
        data.measured(one, p.PUNSI).at(**{"class": "other-udp"}).without("class") for one in (q.OUT, q.IN)
    )
    sel = f"RED, {p.DROP_SEL}"
    if punsi not in out.labels("scheme"):
        return Evidence([])
    starved = shrinks_from(out, "scheme", sel, punsi, factor=0.5)
    needs = []
    link = p.RATE_BPS / 1e6
    for case in out.labels("case"):
        got, asked = (one.samples(case=case, scheme=sel) for one in (out, into))
        need = np.minimum(asked, link * q.FAIR_SHARE)
        room = NEARLY_EQUAL / 100 * link if share_of_need is None else (1 - share_of_need) * need
        needs.append(Comparison(f"{sel} − its need at {case}", got - need + room, unit="Mb/s"))
    return starved & Evidence(needs)


def _q6(data: Data) -> Evidence:
    return lowest(part(data, q.QUEUEING, p.ALWAYS_ON), p.DROP_SEL, RIVALS, axis="victim")


def _q7(data: Data) -> Evidence:
    losses = part(data, q.QUEUE_LOSS, p.ON_OFF, p.ROUTERS, case=p.VOICE_IS_MODEST, victim=p.DROP_SEL)
    return below(losses.without("victim"), ALMOST_NOTHING)


def _q8(data: Data) -> Evidence:
    losses = part(data, q.QUEUE_LOSS, p.ON_OFF, case=p.VOICE_DOMINATES)
    return highest(losses, p.DROP_SEL, RIVALS, axis="victim")


def _q9(data: Data, measure: Measure = q.MOS, over: Sequence[str] = ("case", "victim")) -> Evidence:
    """Averaged over cases and victims, or over fewer of them."""
    opinion = part(data, measure, p.ON_OFF, p.ROUTERS).averaged(*over)
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


Gain = Callable[[str, str, str, Sequence[str]], "np.ndarray[Any, np.dtype[np.float64]]"]


def _gains(data: Data, method: str) -> Gain | None:
    """How much more is understood under Drop-Sel than under a rival, seed by seed; None when nobody listened."""
    found = recognition.heard(data)
    if found.missing:
        return None

    def gain(
        column: str, queue: str, rival: str, flows: Sequence[str]
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        ours, theirs = (
            recognition.accuracy(found, column, queue=queue, victim=victim, flow=flows, method=method)
            for victim in (p.DROP_SEL, rival)
        )
        return ours - theirs

    return gain


def _q11(data: Data, method: str = recognition.METHODS[0], sentences: str = "printed") -> Evidence:
    gain = _gains(data, method)
    if gain is None:
        return Evidence([])
    comparisons = []
    for column, what in (("words", "words"), (sentences, "sentences")):
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


def _through(data: Data, name: str, grid: str, **place: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """What a class gets through of what it brings, seed by seed."""
    place["class"] = name
    out, into = (data.measured(one, grid).samples(**place) for one in (q.OUT, q.IN))
    return out / np.where(into > 0, into, np.nan)


def _q13(data: Data) -> Evidence:
    place = {"case": "CA8", "queue": "RED"}
    through = [
        Comparison(
            f"{title} through under {p.DROP_SEL}",
            100 * _through(data, name, p.ON_OFF, victim=p.DROP_SEL, **place),
            100 * (1 - KEPT),
            unit="%",
        )
        for name, title in q.CLASS_TITLES.items()
        if name != "tcp"
    ]
    tcp = part(data, q.OUT, p.ON_OFF, **place, **{"class": "tcp"})
    return Evidence(through) & at_least(tcp, p.DROP_SEL, RIVALS, axis="victim", margin=KEPT)


def _q14(data: Data) -> Evidence:
    place = {"case": "CA6", "queue": "AVQ", "victim": p.DROP_SEL}
    share = data.measured(q.SHARE, p.ON_OFF)
    tcp, voice = (share.samples(**place, **{"class": name}) for name in ("tcp", "voice"))
    other = 100 * _through(data, "other-udp", p.ON_OFF, **place)
    return Evidence(
        [
            Comparison("|TCP − voice|, share", np.abs(tcp - voice), NEARLY_EQUAL, "below", "%"),
            Comparison("other UDP through", other, 100 - NEARLY_EQUAL, unit="%"),
        ]
    )


def _q15(data: Data) -> Evidence:
    share = data.measured(q.SHARE, p.ON_OFF)
    place = {"case": "CA6", "queue": "AVQ", "victim": p.TAIL}
    tcp, voice = (share.samples(**place, **{"class": name}) for name in ("tcp", "voice"))
    ratio = voice / np.where(tcp > 0, tcp, np.nan)
    low, high = TWICE
    label = "voice over TCP, Drop-Tail"
    return Evidence([Comparison(label, ratio, low), Comparison(label + ", at most", ratio, high, "below")])


def _q16(data: Data) -> Evidence:
    waits = part(data, q.QUEUEING, p.ALWAYS_ON, case=("CA1", "CA2"))
    return lowest(waits, p.FRONT, (p.TAIL,), axis="victim")


def _q17(data: Data, queues: Sequence[str] = ("RED", "REM")) -> Evidence:
    late = part(data, q.LATE_LOSS, p.ON_OFF, case=("CA7", "CA8"), queue=list(queues))
    return lowest(late, p.DROP_SEL, RIVALS, axis="victim")


def _q18(data: Data, printed: bool = False) -> Evidence:
    gain = _gains(data, recognition.METHODS[0])
    if gain is None:
        return Evidence([])
    over = {rival: gain("words", "RED", rival, PLACES["B4–B6"]) for rival in RIVALS}
    if not printed:
        return Evidence(
            [
                Comparison(f"over {p.TAIL}", over[p.TAIL], unit="%"),
                Comparison(f"over {p.FRONT} − over {p.TAIL}", over[p.FRONT] - over[p.TAIL], unit="%"),
            ]
        )
    return Evidence(
        [
            Comparison(f"|over {rival} − {theirs}|", np.abs(over[rival] - theirs), NEARLY_EQUAL, "below", "%")
            for rival, theirs in ((p.FRONT, 51.1), (p.TAIL, 12.2))
        ]
    )


TESTS: Mapping[str, Callable[[Data], Evidence]] = {
    "Q1": _q1, "Q2": _q2, "Q3": _q3, "Q4": _q4, "Q5": _q5, "Q6": _q6, "Q7": _q7, "Q8": _q8, "Q9": _q9, "Q10": _q10,
    "Q11": _q11, "Q12": _q12, "Q13": _q13, "Q14": _q14, "Q15": _q15, "Q16": _q16, "Q17": _q17, "Q18": _q18,
}  # fmt: skip

HEARD = ("Q11", "Q18")
"""Claims about what is understood: judged where calls are recorded and listened to, which costs too much to explore."""

WORDINGS: Mapping[str, Mapping[str, Callable[[Data], Evidence]]] = {
    "Q1": {"the others unequal in CA2, too": lambda data: _q1(data, ("CA1", "CA2"))},
    "Q5": {
        "90 % of what it needs": lambda data: _q5(data, share_of_need=0.9),
        "the other fellow": lambda data: _q5(data, p.OTHER_PUNSI),
    },
    "Q9": {"full G.107": lambda data: _q9(data, q.FULL_MOS)},
    "Q10": {"full G.107": lambda data: _q10(data, q.FULL_MOS)},
    "Q11": {
        "left silent": lambda data: _q11(data, recognition.METHODS[1]),
        "no word missing, either": lambda data: _q11(data, sentences="sentences"),
    },
    "Q12": {"longer than under Drop-Tail, too": lambda data: _q12(data, (p.DROP_SEL, p.TAIL))},
    "Q17": {"with AVQ, too": lambda data: _q17(data, p.QUEUES)},
    "Q18": {"by about as much as printed": lambda data: _q18(data, printed=True)},
}
"""Other wordings of a claim, most of them stricter."""

STATEMENTS: Mapping[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "Q1": (
        ("In CA1 and CA2 Drop-Sel makes the classes' throughputs nearly equal; Drop-Tail and Drop-Front leave "
        "them unequal "
        "in CA1."),
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
        ("PUNSI, which tells classes apart as UDP and TCP only, starves other UDP; Drop-Sel gives it about "
        "what it needs."),
        "§4.2, Figures 7a–b", (p.PUNSI,), ("punsi", "total"),
    ),
    "Q6": (
        "In CA1 to CA4 Drop-Sel has the lowest mean queueing delay.",
        "§4.3.1, Table 5, Figure 8", (p.ALWAYS_ON,), ("red", "total"),
    ),
    "Q7": (
        ("Where voice is below its fair share (CA7 to CA10) it loses almost nothing at the queue under "
        "Drop-Sel."),
        "§4.3.2, Tables 6–7", (p.ON_OFF, p.ROUTERS), ("total", "periods", "routers"),
    ),
    "Q8": (
        "Where voice is above its fair share (CA5, CA6) Drop-Sel drops more of it than the other victims.",
        "§4.3.2, Table 6", (p.ON_OFF,), ("total", "periods"),
    ),
    "Q9": (
        "In general AVQ gives the best mean opinion score and RED the worst.",
        "§4.4.1, Figure 9", (p.ON_OFF, p.ROUTERS), ("avq", "rem", "buffers", "delays", "e-model"),
    ),
    "Q10": (
        "Drop-Sel raises the mean opinion score in CA7 to CA10 and lowers it in CA5 and CA6.",
        "§4.4.1, Figure 9", (p.ON_OFF, p.ROUTERS), ("delays", "avq", "rem", "routers", "e-model"),
    ),
    "Q11": (
        ("In CA7 Drop-Sel's word and sentence accuracy are at least the others' (within a point), most for "
        "B4–B6."),
        "§4.4.2, Tables 8–9", (p.ON_OFF,), ("delays", "speech"),
    ),
    "Q12": (
        ("Drop-Front alone does not give the shortest delay when TCP dominates (CA3, CA4): Drop-Sel's is "
        "shorter."),
        "§4.3.1, Table 5, Figures 8c–d", (p.ALWAYS_ON,), ("red", "transfers"),
    ),
    "Q13": (
        "In CA8 calls and other UDP get the throughput that they need under Drop-Sel, and TCP is not harmed.",
        "§4.2, Figure 5d", (p.ON_OFF,), ("total", "transfers", "periods"),
    ),
    "Q14": (
        "With AVQ in CA6 Drop-Sel gives TCP and voice about equal shares, and other UDP what it needs.",
        "§4.2, Figure 6a", (p.ON_OFF,), ("avq", "total"),
    ),
    "Q15": (
        "With AVQ in CA6 and Drop-Tail voice has about twice TCP's share.",
        "§4.2, Figure 6a", (p.ON_OFF,), ("avq", "transfers"),
    ),
    "Q16": (
        "In CA1 and CA2 Drop-Front's mean queueing delay is shorter than Drop-Tail's.",
        "§3, Table 5", (p.ALWAYS_ON,), ("red",),
    ),
    "Q17": (
        ("In CA7 and CA8 less voice comes too late under Drop-Sel than under the other victims, with RED and "
        "with REM."),
        "§4.3.2, Table 6", (p.ON_OFF,), ("rem", "red", "delays"),
    ),
    "Q18": (
        ("With RED in CA7 Drop-Sel raises the word accuracy of B4 to B6, over Drop-Front's by more than over "
        "Drop-Tail's."),
        "§4.4.2, Table 8", (p.ON_OFF,), ("delays", "speech"),
    ),
}  # fmt: skip
"""The claims in words of ours, where the paper has them, the grids they read, the assumptions on which they hang."""


def claims(reading: Reading = BASE, *, heard: bool = True) -> list[Claim]:
    """All claims, in order.

    Args:
        reading: The reading, of which the logarithm of Eq. (1) changes what is judged.
        heard: With those about what is understood.
    """
    opinion = q.opinion(reading)
    tests = {
        **TESTS,
        "Q9": lambda data: _q9(data, opinion),
        "Q10": lambda data: _q10(data, opinion),
    }
    wordings = {
        **WORDINGS,
        "Q9": {
            "in every case": lambda data: _q9(data, opinion, ("victim",)),
            "in every case and under every victim": lambda data: _q9(data, opinion, ()),
            "full G.107": WORDINGS["Q9"]["full G.107"],
        },
    }
    return [
        Claim(
            name,
            statement,
            f"paper 004 {source}",
            grids,
            tests[name],
            EXPLANATIONS.get(name, {}),
            assumptions,
            wordings.get(name, {}),
        )
        for name, (statement, source, grids, assumptions) in STATEMENTS.items()
        if heard or name not in HEARD
    ]
