"""Tests of the assertions of paper 004, Q1 to Q32. Compound assertions are judged part by part.

**Meaning of the words.** Throughputs are *nearly equal* if the largest and the smallest class differ by less than 10
percentage points of the carried traffic. The paper's example, CA2, has 34, 35 and 31 %. A class gets *about what it
needs* within 10 points of the link. TCP is *not significantly* reduced, *not harmed* and *not noticeably* affected if
it keeps 90 % of its throughput. A class gets *what it needs* if 95 % of its input gets through. In CA6, with a printed
share, it gets what it needs if it has its share of the load (within a tenth). *Almost nothing* lost is less than 1 %
(the paper's largest such cell is 0.74 %). *Drastically* less is less than half. A class's *need* is the smaller of its
input and a third of the link. *About twice* is 1.5 to 2.5 times. *More equitable* is a higher Jain index over the three
classes. Losses within 0.1 points are alike, since the paper prints zeros. One distribution of delays is lower than
another if its median and its ninetieth percentile are. The other schemes are Drop-Tail and Drop-Front, which the paper
measures. *In general* is on average over cases and victims: the paper's Table 6 has exceptions. A sentence is correct
as in §4.4.2: no word was added or substituted. Another wording also requires that no word is missing.
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
from fairwave_studies.dropping.agreement import ALIKE
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.comparisons import contrast, highest, is_above, is_at_least, is_at_most, is_below, lowest

if TYPE_CHECKING:
    from fairwave.measuring.measures import Measure
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data

NEARLY_EQUAL = 10.0
"""Percentage points between the largest and the smallest share."""
KEPT = 0.10
"""Share of its throughput that a class may lose without that being significant, harm or noticeable."""
THROUGH = 95.0
"""% of its input that gets through if a class gets what it needs."""
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
            one = one.select(**{axis: kept})
        else:
            frames.append(one.frame)
    if not frames:
        raise ValueError(f"{measure.id}: no grid of {', '.join(grids)} has {labels}")
    joined = Measured(measure, measured.axes, Table.from_columns(pl.concat(frames)))
    single = [
        axis for axis in joined.axes if axis not in ("victim", "case") and len(joined.labels(axis)) == 1
    ]
    return joined.drop_axes(*single)


def _nearly_equal(data: Data, grid: str, **place: Any) -> Evidence:
    return is_below(part(data, q.SPREAD, grid, victim=p.DROP_SEL, **place).drop_axes("victim"), NEARLY_EQUAL)


def _unequal(data: Data, *cases: str) -> Evidence:
    return is_above(part(data, q.SPREAD, p.ALWAYS_ON, case=cases, victim=RIVALS), NEARLY_EQUAL)


def _more_equitable(data: Data, queue: str, cases: Sequence[str], *, averaged: bool = False) -> Evidence:
    fairness = part(data, q.CLASS_FAIRNESS, p.ON_OFF, case=cases, queue=queue)
    return highest(fairness.averaged("case") if averaged else fairness, p.DROP_SEL, RIVALS, axis="victim")


def _q2(data: Data) -> Evidence:
    return _q2_within(data, KEPT)


def _q2_within(data: Data, margin: float) -> Evidence:
    tcp = part(data, q.OUT, p.ALWAYS_ON, case=("CA3", "CA4"), **{"class": "tcp"})
    return is_at_least(tcp, p.DROP_SEL, RIVALS, axis="victim", margin=margin)


def _tcp(data: Data, case: Sequence[str] | str, queue: str, margin: float = 0.01) -> Evidence:
    tcp = part(data, q.OUT, p.ON_OFF, case=case, queue=queue, **{"class": "tcp"})
    return is_at_least(tcp, p.DROP_SEL, RIVALS, axis="victim", margin=margin)


def _q3(data: Data) -> Evidence:
    return _tcp(data, ("CA5", "CA6", "CA7"), "RED")


def _tcp_in_two_cases(data: Data, margin: float = KEPT) -> Evidence:
    avq, rem = _tcp(data, "CA6", "AVQ", margin), _tcp(data, "CA7", "REM", margin)
    return avq.relabelled(lambda label: f"AVQ: {label}") & rem.relabelled(lambda label: f"REM: {label}")


SEL_SCHEME, TAIL_SCHEME = f"RED, {p.DROP_SEL}", f"RED, {p.TAIL}"


def _scheme(
    data: Data, measure: Measure, case: str, scheme: str, name: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A class's number in Figure 7, seed by seed."""
    return data.measured(measure, p.PUNSI).samples(case=case, scheme=scheme, **{"class": name})


def _penalised(
    data: Data,
    punsi: str = p.PUNSI_SCHEME,
    against: Sequence[str] = (SEL_SCHEME, TAIL_SCHEME),
    factor: float = 1.0,
) -> Evidence:
    """Under PUNSI, other UDP has less in CA2 than a given part of its throughput under the other scheme."""
    if punsi not in data.measured(q.OUT, p.PUNSI).labels("scheme"):
        return Evidence([])
    ours = _scheme(data, q.OUT, "CA2", punsi, "other-udp")
    return Evidence(
        [
            Comparison(
                f"{punsi} − {factor:g} × {one}",
                ours - factor * _scheme(data, q.OUT, "CA2", one, "other-udp"),
                0.0,
                "below",
                "Mb/s",
            )
            for one in against
        ]
    )


def _need(data: Data, share_of_need: float | None = None) -> Evidence:
    """Other UDP with Drop-Sel in CA2: within `NEARLY_EQUAL` points of the link of its need, or with a share of that."""
    link = p.RATE_BPS / 1e6
    got, asked = (_scheme(data, one, "CA2", SEL_SCHEME, "other-udp") for one in (q.OUT, q.IN))
    need = np.minimum(asked, link * q.FAIR_SHARE)
    room = NEARLY_EQUAL / 100 * link if share_of_need is None else (1 - share_of_need) * need
    return Evidence([Comparison(f"{SEL_SCHEME} − its need at CA2", got - need + room, unit="Mb/s")])


def _voice_as_tcp(data: Data) -> Evidence:
    voice, tcp = (_scheme(data, q.SHARE, "CA2", SEL_SCHEME, name) for name in ("voice", "tcp"))
    return Evidence([Comparison("|voice − TCP|, share", np.abs(voice - tcp), NEARLY_EQUAL, "below", "%")])


def _drastically(data: Data) -> Evidence:
    """Voice and other UDP together under PUNSI against half of what Drop-Sel leaves them, in Figure 7b."""
    ours, theirs = (
        _scheme(data, q.OUT, p.MOSTLY_UDP, scheme, "voice")
        + _scheme(data, q.OUT, p.MOSTLY_UDP, scheme, "other-udp")
        for scheme in (p.PUNSI_SCHEME, SEL_SCHEME)
    )
    return Evidence([Comparison(f"PUNSI − 0.5 × {SEL_SCHEME}", ours - 0.5 * theirs, 0.0, "below", "Mb/s")])


def _fair_share(data: Data) -> Evidence:
    spread = data.measured(q.SPREAD, p.PUNSI).samples(case=p.MOSTLY_UDP, scheme=SEL_SCHEME)
    return Evidence([Comparison("largest − smallest share", spread, NEARLY_EQUAL, "below", "%")])


def _waits(data: Data, *cases: str) -> Evidence:
    return lowest(part(data, q.QUEUEING, p.ALWAYS_ON, case=cases), p.DROP_SEL, RIVALS, axis="victim")


def _loses_no_more(measured: Measured, one: Any, rivals: Sequence[Any], axis: str = "victim") -> Evidence:
    """Losses of `one` are at most each rival's, where `ALIKE` points more count as equal."""
    found = lowest(measured, one, rivals, axis=axis)
    return Evidence(
        [Comparison(c.label, c.samples, ALIKE, c.side, c.unit, or_equal=True) for c in found.comparisons]
    )


def _q7(data: Data) -> Evidence:
    losses = part(data, q.QUEUE_LOSS, p.ON_OFF, p.ROUTERS, case=p.VOICE_IS_MODEST)
    return _loses_no_more(losses, p.DROP_SEL, RIVALS)


def _almost_nothing(data: Data) -> Evidence:
    losses = part(data, q.QUEUE_LOSS, p.ON_OFF, p.ROUTERS, case=p.VOICE_IS_MODEST, victim=p.DROP_SEL)
    return is_below(losses.drop_axes("victim"), ALMOST_NOTHING)


def _q8(data: Data) -> Evidence:
    losses = part(data, q.QUEUE_LOSS, p.ON_OFF, case=p.VOICE_DOMINATES)
    return highest(losses, p.DROP_SEL, RIVALS, axis="victim")


def _avq_best(data: Data, measure: Measure = q.MOS, over: Sequence[str] = ("case", "victim")) -> Evidence:
    """Averaged over cases and victims, or over fewer of them."""
    return is_at_least(part(data, measure, p.ON_OFF, p.ROUTERS).averaged(*over), "AVQ", axis="queue")


def _red_worst(data: Data, measure: Measure = q.MOS, over: Sequence[str] = ("case", "victim")) -> Evidence:
    opinion = part(data, measure, p.ON_OFF, p.ROUTERS).averaged(*over)
    return is_at_most(opinion, "RED", ["AVQ", "REM"], axis="queue")


def _q9(data: Data, measure: Measure = q.MOS, over: Sequence[str] = ("case", "victim")) -> Evidence:
    return _avq_best(data, measure, over) & _red_worst(data, measure, over)


def _raises(data: Data, measure: Measure = q.MOS) -> Evidence:
    modest = part(data, measure, p.ON_OFF, p.ROUTERS, case=p.VOICE_IS_MODEST)
    return highest(modest, p.DROP_SEL, RIVALS, axis="victim")


def _lowers(data: Data, measure: Measure = q.MOS) -> Evidence:
    dominant = part(data, measure, p.ON_OFF, case=p.VOICE_DOMINATES)
    return lowest(dominant, p.DROP_SEL, RIVALS, axis="victim")


def _q10(data: Data, measure: Measure = q.MOS) -> Evidence:
    return _raises(data, measure) & _lowers(data, measure)


PLACES: Mapping[str, tuple[str, ...]] = {
    "A1–A2": ("A1", "A2"),
    "B1–B3": ("B1", "B2", "B3"),
    "B4–B6": ("B4", "B5", "B6"),
    "C1–C2": ("C1", "C2"),
}
"""Flows that differ in nothing but chance."""


UNDERSTOOD = q.SHARE
"""Recognition is a share in %, so its differences count like those of any share."""

Gain = Callable[[str, str, str, Sequence[str]], "np.ndarray[Any, np.dtype[np.float64]]"]


def _gains(data: Data, method: str) -> Gain | None:
    """Advantage in recognition under Drop-Sel over a rival, per seed; None if no call was recorded."""
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


def _understood(data: Data, column: str, method: str = recognition.METHODS[0]) -> Evidence:
    """Under Drop-Sel as much is understood as under the others, place by place, within a point."""
    gain = _gains(data, method)
    if gain is None:
        return Evidence([])
    return Evidence(
        [
            Comparison(
                f"{column}, {queue}: {p.DROP_SEL} − {rival} for {name}",
                gain(column, queue, rival, flows),
                -1.0,
                unit="%",
                or_equal=True,
            )
            for queue in p.QUEUES
            for rival in RIVALS
            for name, flows in PLACES.items()
        ]
    )


def _farthest(data: Data, *columns: str, method: str = recognition.METHODS[0]) -> Evidence:
    """The gain of B4 to B6 exceeds the gain of the others."""
    gain = _gains(data, method)
    if gain is None:
        return Evidence([])
    comparisons = []
    for column in columns:
        for queue in p.QUEUES:
            for rival in RIVALS:
                gains = {name: gain(column, queue, rival, flows) for name, flows in PLACES.items()}
                far, others = gains["B4–B6"], [one for name, one in gains.items() if name != "B4–B6"]
                label = f"{column}, {queue}: gain over {rival} of B4–B6 − of the others"
                comparisons.append(contrast(label, far, np.mean(others, axis=0), UNDERSTOOD))
    return Evidence(comparisons)


def _q11(data: Data, method: str = recognition.METHODS[0], sentences: str = "printed") -> Evidence:
    each = [_understood(data, column, method) for column in ("words", sentences)]
    return each[0] & each[1] & _farthest(data, "words", sentences, method=method)


def _q12(data: Data, rivals: Sequence[str] = (p.DROP_SEL,)) -> Evidence:
    waits = part(data, q.QUEUEING, p.ALWAYS_ON, case=("CA3", "CA4"))
    return highest(waits, p.FRONT, rivals, axis="victim")


def _share_through(data: Data, name: str, grid: str, **place: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The share of a class's input that gets through, per seed."""
    place["class"] = name
    out, into = (data.measured(one, grid).samples(**place) for one in (q.OUT, q.IN))
    return out / np.where(into > 0, into, np.nan)


CA8_RED = {"case": "CA8", "queue": "RED"}


def _gets_through(data: Data, name: str) -> Evidence:
    """The share of a class's input that gets through in CA8 under Drop-Sel."""
    through = 100 * _share_through(data, name, p.ON_OFF, victim=p.DROP_SEL, **CA8_RED)
    return Evidence([Comparison(f"{q.CLASS_TITLES[name]} through", through, THROUGH, unit="%")])


def _tcp_unharmed(data: Data) -> Evidence:
    return _tcp(data, "CA8", "RED", KEPT)


CA6_AVQ = {"case": "CA6", "queue": "AVQ", "victim": p.DROP_SEL}


def _equal_in_ca6(data: Data) -> Evidence:
    share = data.measured(q.SHARE, p.ON_OFF)
    tcp, voice = (share.samples(**CA6_AVQ, **{"class": name}) for name in ("tcp", "voice"))
    return Evidence([Comparison("|TCP − voice|, share", np.abs(tcp - voice), NEARLY_EQUAL, "below", "%")])


def _udp_share_in_ca6(data: Data) -> Evidence:
    """Other UDP's part of the throughput minus its part of the load; a tenth may be missing."""
    other = data.measured(q.SHARE, p.ON_OFF).samples(**CA6_AVQ, **{"class": "other-udp"})
    return Evidence([Comparison("other UDP, share", other, 0.9 * p.CASES["CA6"][1], unit="%")])


def _udp_gets_through(data: Data) -> Evidence:
    through = 100 * _share_through(data, "other-udp", p.ON_OFF, **CA6_AVQ)
    return Evidence([Comparison("other UDP through", through, THROUGH, unit="%")])


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


MODEST_S2 = ("CA7", "CA8")


def _late(data: Data, *queues: str) -> Evidence:
    late = part(data, q.LATE_LOSS, p.ON_OFF, case=MODEST_S2, queue=list(queues))
    return lowest(late, p.DROP_SEL, RIVALS, axis="victim")


def _less(data: Data, measure: Measure, *queues: str) -> Evidence:
    """In CA7 and CA8 no more of a loss under Drop-Sel than under the others, where losses alike count as equal."""
    return _loses_no_more(
        part(data, measure, p.ON_OFF, case=MODEST_S2, queue=list(queues)), p.DROP_SEL, RIVALS
    )


def _far_gain(data: Data, column: str, queue: str, rival: str) -> Evidence:
    gain = _gains(data, recognition.METHODS[0])
    if gain is None:
        return Evidence([])
    far = gain(column, queue, rival, PLACES["B4–B6"])
    return Evidence([contrast(f"over {rival}", far, np.zeros_like(far), UNDERSTOOD)])


def _far_more(data: Data) -> Evidence:
    gain = _gains(data, recognition.METHODS[0])
    if gain is None:
        return Evidence([])
    front, tail = (gain("words", "RED", rival, PLACES["B4–B6"]) for rival in (p.FRONT, p.TAIL))
    return Evidence([contrast(f"over {p.FRONT} − over {p.TAIL}", front, tail, UNDERSTOOD)])


def _gains_as_printed(data: Data, column: str, printed: Mapping[tuple[str, str], float]) -> Evidence:
    """B4 to B6 gain about as much as printed, by queue and rival."""
    gain = _gains(data, recognition.METHODS[0])
    if gain is None:
        return Evidence([])
    return Evidence(
        [
            Comparison(
                f"|{queue}, over {rival} − {theirs}|",
                np.abs(gain(column, queue, rival, PLACES["B4–B6"]) - theirs),
                NEARLY_EQUAL,
                "below",
                "%",
            )
            for (queue, rival), theirs in printed.items()
        ]
    )


SENTENCES_GAINED = {("RED", p.TAIL): 76.47 - 53.92, ("REM", p.TAIL): 92.96 - 76.27}
"""§4.4.2: what B4 gains in correct sentences over Drop-Tail, in points."""


def _lower_delays(data: Data, *cases: str) -> Evidence:
    found = Evidence([])
    for name, measure in (("median", q.MEDIAN), ("90th percentile", q.LATEST_TENTH)):
        one = lowest(part(data, measure, p.ALWAYS_ON, case=cases), p.DROP_SEL, RIVALS, axis="victim")
        found = found & one.relabelled(lambda label, name=name: f"{name}: {label}")  # type: ignore[misc]
    return found


def _tcp_spared(data: Data) -> Evidence:
    dropped = part(data, q.DROPPED, p.ALWAYS_ON, case=("CA3", "CA4"), **{"class": "tcp"})
    return lowest(dropped, p.FRONT, (p.TAIL, p.DROP_SEL), axis="victim")


def _tcp_sends_more(data: Data) -> Evidence:
    sent = part(data, q.IN, p.ALWAYS_ON, case=("CA3", "CA4"), **{"class": "tcp"})
    return highest(sent, p.FRONT, (p.TAIL, p.DROP_SEL), axis="victim")


def _variance(data: Data, one: str, rivals: Sequence[str], *cases: str) -> Evidence:
    return lowest(part(data, q.VARIANCE, p.ALWAYS_ON, case=cases), one, rivals, axis="victim")


def _keeps_rate(data: Data, name: str) -> Evidence:
    out = part(data, q.OUT, p.ALWAYS_ON, **{"class": name})
    return is_at_least(out, p.DROP_SEL, RIVALS, axis="victim", margin=KEPT)


def _average_queue(data: Data, measure: Measure, over: Sequence[str] = ("victim",), **place: Any) -> Measured:
    return part(data, measure, p.ON_OFF, **place).averaged(*over)


def _red_loses_most(data: Data, over: Sequence[str] = ("victim",)) -> Evidence:
    return highest(_average_queue(data, q.TOTAL_LOSS, over), "RED", axis="queue")


def _red_late(data: Data) -> Evidence:
    return highest(_average_queue(data, q.LATE_LOSS), "RED", axis="queue")


def _red_waits(data: Data) -> Evidence:
    return highest(_average_queue(data, q.QUEUEING), "RED", axis="queue")


def _ca6_late(data: Data) -> Evidence:
    """§4.3.2's example: late under Drop-Tail in CA6, most under RED, then REM, then AVQ."""
    late = part(data, q.LATE_LOSS, p.ON_OFF, case="CA6", victim=p.TAIL).drop_axes("victim", "case")
    return highest(late, "RED", ["REM"], axis="queue") & highest(late, "REM", ["AVQ"], axis="queue")


def _avq_late(data: Data) -> Evidence:
    return is_below(part(data, q.LATE_LOSS, p.ON_OFF, queue="AVQ"), ALMOST_NOTHING)


def _avq_least(data: Data, measure: Measure) -> Evidence:
    measured = part(data, measure, p.ON_OFF, p.ROUTERS).averaged("case", "victim")
    return lowest(measured, "AVQ", axis="queue")


def _q29(data: Data) -> Evidence:
    waits = part(data, q.QUEUEING, p.ON_OFF, case=MODEST_S2, queue="RED")
    return lowest(waits, p.DROP_SEL, RIVALS, axis="victim")


def _sel_in_s3(data: Data) -> Evidence:
    return _loses_no_more(part(data, q.TOTAL_LOSS, p.ROUTERS), p.DROP_SEL, RIVALS)


def _front_in_s3(data: Data) -> Evidence:
    """Drop-Front drops more voice than Drop-Tail, as in every row of Table 6."""
    return highest(part(data, q.QUEUE_LOSS, p.ROUTERS), p.FRONT, (p.TAIL,), axis="victim")


Test = Callable[["Data"], Evidence]

TESTS: Mapping[str, Test | Mapping[str, Test]] = {
    "Q1": {
        "equal in CA1": lambda data: _nearly_equal(data, p.ALWAYS_ON, case=("CA1",)),
        "equal in CA2": lambda data: _nearly_equal(data, p.ALWAYS_ON, case=("CA2",)),
        "others unequal in CA1": lambda data: _unequal(data, "CA1"),
    },
    "Q2": _q2,
    "Q3": _q3,
    "Q4": {
        "AVQ in CA6": lambda data: _tcp(data, "CA6", "AVQ", KEPT),
        "REM in CA7": lambda data: _tcp(data, "CA7", "REM", KEPT),
    },
    "Q5": {
        "PUNSI penalises other UDP": _penalised,
        "Drop-Sel gives it what it needs": _need,
        "voice and TCP equal": _voice_as_tcp,
    },
    "Q6": {
        "CA1 and CA2": lambda data: _waits(data, "CA1", "CA2"),
        "CA3 and CA4": lambda data: _waits(data, "CA3", "CA4"),
    },
    "Q7": _q7,
    "Q8": _q8,
    "Q11": {
        "words": lambda data: _understood(data, "words"),
        "sentences": lambda data: _understood(data, "printed"),
        "most for B4–B6": lambda data: _farthest(data, "words", "printed"),
    },
    "Q12": _q12,
    "Q13": {
        "calls": lambda data: _gets_through(data, "voice"),
        "other UDP": lambda data: _gets_through(data, "other-udp"),
        "TCP unharmed": _tcp_unharmed,
    },
    "Q14": {"TCP and voice equal": _equal_in_ca6, "other UDP has its share": _udp_share_in_ca6},
    "Q15": _q15,
    "Q16": _q16,
    "Q17": {"RED": lambda data: _late(data, "RED"), "REM": lambda data: _late(data, "REM")},
    "Q18": {
        "over Drop-Tail": lambda data: _far_gain(data, "words", "RED", p.TAIL),
        "more over Drop-Front": _far_more,
    },
    "Q19": lambda data: _more_equitable(data, "RED", p.S2_CASES, averaged=True),
    "Q20": {
        "AVQ in CA6": lambda data: _more_equitable(data, "AVQ", ("CA6",)),
        "REM in CA7": lambda data: _more_equitable(data, "REM", ("CA7",)),
    },
    "Q21": {"PUNSI takes half or more": _drastically, "Drop-Sel nearly equal": _fair_share},
    "Q22": {
        "CA1": lambda data: _lower_delays(data, "CA1"),
        "CA2 to CA4": lambda data: _lower_delays(data, "CA2", "CA3", "CA4"),
    },
    "Q23": {"drops less of TCP": _tcp_spared, "TCP sends more": _tcp_sends_more},
    "Q24": {
        "Drop-Tail least in CA1 and CA2": lambda data: _variance(
            data, p.TAIL, (p.FRONT, p.DROP_SEL), "CA1", "CA2"
        ),
        "Drop-Front least in CA3": lambda data: _variance(data, p.FRONT, (p.TAIL, p.DROP_SEL), "CA3"),
        "Drop-Sel least in CA4": lambda data: _variance(data, p.DROP_SEL, RIVALS, "CA4"),
    },
    "Q25": {
        "TCP": lambda data: _keeps_rate(data, "tcp"),
        "other UDP": lambda data: _keeps_rate(data, "other-udp"),
    },
    "Q26": _red_loses_most,
    "Q27": {
        "RED longest queue": _red_waits,
        "RED most late": _red_late,
        "RED, REM, AVQ in CA6": _ca6_late,
        "AVQ almost none late": _avq_late,
    },
    "Q28": {
        "in all, RED": lambda data: _less(data, q.TOTAL_LOSS, "RED"),
        "dropped, AVQ and REM": lambda data: _less(data, q.QUEUE_LOSS, "AVQ", "REM"),
        "late, AVQ and REM": lambda data: _less(data, q.LATE_LOSS, "AVQ", "REM"),
    },
    "Q29": _q29,
    "Q30": {"Drop-Sel loses least": _sel_in_s3, "Drop-Front drops more than Drop-Tail": _front_in_s3},
    "Q31": {
        "shortest queue": lambda data: _avq_least(data, q.QUEUEING),
        "least lost in all": lambda data: _avq_least(data, q.TOTAL_LOSS),
    },
    "Q32": {
        "RED": lambda data: _far_gain(data, "printed", "RED", p.TAIL),
        "REM": lambda data: _far_gain(data, "printed", "REM", p.TAIL),
    },
}
"""Claim to its test, or to the tests of its parts."""

HEARD = ("Q11", "Q18", "Q32")
"""Claims about recognition. They need recorded calls, which cost too much for an exploration."""

WORDINGS: Mapping[str, Mapping[str, Test]] = {
    "Q1": {"the others unequal in CA2, too": lambda data: _unequal(data, "CA1", "CA2")},
    "Q2": {"within 5 %": lambda data: _q2_within(data, 0.05)},
    "Q4": {"at least the others'": lambda data: _tcp_in_two_cases(data, 0.01)},
    "Q5": {
        "90 % of what it needs": lambda data: _need(data, 0.9),
        "less than half of what Drop-Sel leaves it": lambda data: _penalised(
            data, against=(SEL_SCHEME,), factor=0.5
        ),
        "the other fellow": lambda data: _penalised(data, p.OTHER_PUNSI),
    },
    "Q7": {"almost nothing": _almost_nothing},
    "Q9": {"full G.107": lambda data: _q9(data, q.FULL_MOS)},
    "Q10": {"full G.107": lambda data: _q10(data, q.FULL_MOS)},
    "Q11": {
        "left silent": lambda data: _q11(data, recognition.METHODS[1]),
        "no word missing, either": lambda data: _q11(data, sentences="sentences"),
    },
    "Q12": {"longer than under Drop-Tail, too": lambda data: _q12(data, (p.DROP_SEL, p.TAIL))},
    "Q14": {"95 % of other UDP through": _udp_gets_through},
    "Q17": {"with AVQ, too": lambda data: _late(data, *p.QUEUES)},
    "Q18": {
        "by about as much as printed": lambda data: _gains_as_printed(
            data, "words", {("RED", p.FRONT): 51.1, ("RED", p.TAIL): 12.2}
        )
    },
    "Q19": {"in every case": lambda data: _more_equitable(data, "RED", p.S2_CASES)},
    "Q26": {"under every victim": lambda data: _red_loses_most(data, ())},
    "Q32": {"by about as much as printed": lambda data: _gains_as_printed(data, "printed", SENTENCES_GAINED)},
}
"""Other wordings of a claim, most of them stricter."""


def tests(case: Case) -> dict[str, Test | Mapping[str, Test]]:
    """Claim to its test, or to the tests of its parts. The reading decides the logarithm of Eq. (1)."""
    opinion = q.opinion(case.reading)
    found: dict[str, Test | Mapping[str, Test]] = {
        **TESTS,
        "Q9": {
            "AVQ best": lambda data: _avq_best(data, opinion),
            "RED worst": lambda data: _red_worst(data, opinion),
        },
        "Q10": {
            "raises in CA7 to CA10": lambda data: _raises(data, opinion),
            "lowers in CA5 and CA6": lambda data: _lowers(data, opinion),
        },
    }
    return {name: test for name, test in found.items() if not (case.essential and name in HEARD)}


def wordings(case: Case) -> dict[str, Mapping[str, Test]]:
    """Claim to its other wordings, most of them stricter."""
    opinion = q.opinion(case.reading)
    return {
        **WORDINGS,
        "Q9": {
            "in every case": lambda data: _q9(data, opinion, ("victim",)),
            "in every case and under every victim": lambda data: _q9(data, opinion, ()),
            "full G.107": WORDINGS["Q9"]["full G.107"],
        },
    }
