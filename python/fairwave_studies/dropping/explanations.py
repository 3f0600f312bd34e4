"""Why claims come out as they do: the numbers behind a verdict, the mechanism, and the assumption on which it hangs.

The numbers in these words are computed from the runs. What other readings of the paper make of a claim is the
exploration's to say (`fairwave study dropping --explore N`), and can be looked at one by one: the factors on which a
claim is likely to hang are named with the values to put into a file for `--reading`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published, recognition
from fairwave_studies.dropping import quantities as q
from fairwave_studies.dropping.agreement import mean
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.study import Data

THREE = p.PAPERS_VICTIMS


def _elsewhere(**values: str) -> str:
    """How to judge the claim under another reading."""
    import json

    return f"To judge it under another reading: `fairwave study dropping --reading FILE` with {json.dumps(values)}."


OTHER_RED = _elsewhere(**{"red": "ns-2.35", "load-s1": "1.5 of the link"})
OTHER_AVQ = _elsewhere(**{"avq-buffer": "the routers'", "avq-law": "ns-2's, exchanged"})


def _by_victim(data: Data, measure: Measure, grid: str, digits: str, **place: str) -> str:
    """A measure under each of the paper's victims: "Drop-Tail 83, Drop-Front 86, Drop-Sel 64"."""
    return ", ".join(f"{one} {mean(data, measure, grid, victim=one, **place):{digits}}" for one in THREE)


def _by_class(data: Data, grid: str, **place: str) -> str:
    return ", ".join(
        f"{title} {mean(data, q.SHARE, grid, **place, **{'class': name}):.0f}"
        for name, title in q.CLASS_TITLES.items()
    )


def _over(cases: Iterable[str], words: Callable[[str], str]) -> str:
    return "; ".join(f"{case}: {words(case)}" for case in cases)


def _q1(data: Data) -> str:
    def shares(case: str) -> str:
        return ", ".join(
            f"{one} {mean(data, q.SPREAD, p.ALWAYS_ON, case=case, queue='RED', victim=one):.0f}"
            for one in THREE
        )

    place = {"queue": "RED", "victim": p.DROP_SEL}
    classes = _over(("CA1", "CA2"), lambda case: _by_class(data, p.ALWAYS_ON, case=case, **place))
    voice, other, tcp = published.SHARES_CA2
    return (
        f"Under Drop-Sel the classes have, in %: {classes} (paper, CA2: {voice}, {other} and {tcp}). "
        f"Between the largest "
        f"and the smallest class are, in points: {_over(('CA1', 'CA2'), shares)}. What Drop-Sel makes "
        f"equal is the bytes "
        "that wait. A class that is thinned at the front of the queue has waited there without being sent, "
        "so it gets "
        "less than its part of the queue; where that class is voice (CA2), whose packets are a sixth of the others', "
        f"many must go for one of theirs. {OTHER_RED}"
    )


def _q2(data: Data) -> str:
    tcp = {"class": "tcp", "queue": "RED"}
    got = _over(("CA3", "CA4"), lambda case: _by_victim(data, q.OUT, p.ALWAYS_ON, ".2f", case=case, **tcp))
    lost = _by_victim(data, q.QUEUE_LOSS, p.ALWAYS_ON, ".1f", case="CA3", queue="RED")
    return (
        f"TCP's throughput in Mb/s: {got}. In CA3 voice and other UDP each ask for less than they may "
        f"have; what Drop-Sel "
        f"spares them (voice lost, %: {lost}) is missing to TCP. See why-Q2."
    )


def _q3(data: Data) -> str:
    tcp = {"class": "tcp", "queue": "RED"}
    got = _over(
        ("CA5", "CA6", "CA7"), lambda case: _by_victim(data, q.OUT, p.ON_OFF, ".2f", case=case, **tcp)
    )
    return f"TCP's throughput in Mb/s: {got}."


def _q4(data: Data) -> str:
    tcp = {"class": "tcp"}
    avq = _by_victim(data, q.OUT, p.ON_OFF, ".2f", case="CA6", queue="AVQ", **tcp)
    rem = _by_victim(data, q.OUT, p.ON_OFF, ".2f", case="CA7", queue="REM", **tcp)
    spared = _by_victim(data, q.QUEUE_LOSS, p.ON_OFF, ".1f", case="CA6", queue="AVQ")
    wait = _by_victim(data, q.QUEUEING, p.ON_OFF, ".0f", case="CA7", queue="REM")
    return (
        f"TCP's throughput in Mb/s: AVQ in CA6 {avq}; REM in CA7 {rem}. Voice dropped in CA6 under AVQ, in %: {spared} "
        "(see Q8): what Drop-Sel leaves to voice others lack. Under REM small arrivals are seldom "
        "dropped; where another "
        "packet goes for a large arrival, the queue loses fewer bytes than that has, so that it grows "
        f"(queueing in ms: {wait}) and REM drops more often. {OTHER_AVQ}"
    )


def _q5(data: Data) -> str:
    other = {"class": "other-udp"}
    cases = ("CA2", p.MOSTLY_UDP)
    schemes = (f"RED, {p.TAIL}", f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME, p.OTHER_PUNSI)

    def numbers(case: str) -> str:
        return ", ".join(
            f"{one} {mean(data, q.OUT, p.PUNSI, case=case, scheme=one, **other):.2f}" for one in schemes
        )

    asked = _over(
        cases,
        lambda case: f"{mean(data, q.IN, p.PUNSI, case=case, scheme=f'RED, {p.DROP_SEL}', **other):.2f}",
    )
    return (
        f"Other UDP's throughput in Mb/s: {_over(cases, numbers)}; it brings {asked}. PUNSI compares an "
        f"arrival with one "
        "of ten packets of the queue. By flow a match is rare, since here other UDP comes from many "
        "sources that send a "
        "few packets a second each; by class nearly every UDP packet matches."
    )


def _q6(data: Data) -> str:
    waits = _over(
        p.S1_CASES, lambda case: _by_victim(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    return (
        f"Queueing delay in ms: {waits}. RED, which counts bytes, decides mostly on large arrivals; where "
        f"the heaviest "
        "class is voice, Drop-Sel answers each with one small packet, so that the queue grows until RED "
        "decides often "
        f"enough. {OTHER_RED}"
    )


def _q7(data: Data) -> str:
    place = {"victim": p.DROP_SEL}
    grids = {"CA7": p.ON_OFF, "CA8": p.ON_OFF, "CA9": p.ROUTERS, "CA10": p.ROUTERS}

    def losses(case: str) -> str:
        return ", ".join(
            f"{one} {mean(data, q.QUEUE_LOSS, grids[case], case=case, queue=one, **place):.2f}"
            for one in p.QUEUES
        )

    return (
        f"Voice dropped by queues under Drop-Sel, in %: {_over(grids, losses)} (paper: at most "
        f"{published.LOSS_S2['CA7'][published.QUEUE]['REM', p.DROP_SEL]:.2f}, in CA7 with REM). REM drops "
        "by its price, "
        "however short the queue; in a short queue the arrival itself often makes its class the heaviest."
    )


def _q8(data: Data) -> str:
    def losses(case: str) -> str:
        return "; ".join(
            f"{one}: {_by_victim(data, q.QUEUE_LOSS, p.ON_OFF, '.1f', case=case, queue=one)}"
            for one in p.QUEUES
        )

    return (
        f"Voice dropped by queues, in %: {_over(p.VOICE_DOMINATES, losses)}. AVQ keeps the queue short and "
        f"drops when a "
        "large packet arrives; that packet counts as waiting, and in a short queue it often makes its own class the "
        f"heaviest, so that voice is spared. {OTHER_AVQ}"
    )


def _q9(data: Data) -> str:
    def opinions(case: str) -> str:
        grid = p.ON_OFF if case in p.S2_CASES else p.ROUTERS
        return "; ".join(
            f"{one}: {_by_victim(data, q.MOS, grid, '.2f', case=case, queue=one)}" for one in p.QUEUES
        )

    wait = ", ".join(
        f"{one} {mean(data, q.QUEUEING, p.ON_OFF, case='CA8', queue=one, victim=p.TAIL):.0f}"
        for one in p.QUEUES
    )
    return (
        f"MOS: {_over((*p.S2_CASES, *p.S3_CASES), opinions)}. How long AVQ's queue becomes where windows "
        f"fill it is what "
        f"its virtual buffer says (CA8, Drop-Tail, queueing in ms: {wait}); the paper names none. {OTHER_AVQ}"
    )


def _q10(data: Data) -> str:
    def opinions(case: str) -> str:
        grid = p.ON_OFF if case in p.S2_CASES else p.ROUTERS
        return "; ".join(
            f"{one}: {_by_victim(data, q.MOS, grid, '.2f', case=case, queue=one)}" for one in p.QUEUES
        )

    return (
        f"MOS as printed: {_over((*p.S2_CASES, *p.S3_CASES), opinions)}. Where next to nothing is lost "
        f"under any victim, "
        "they differ by hundredths."
    )


def _q11(data: Data) -> str:
    found = recognition.heard(data)
    if found.missing:
        return f"Nobody listened: {found.missing}"

    def accuracy(queue: str, victim: str, flows: tuple[str, ...]) -> float:
        place = {"queue": queue, "victim": victim, "flow": flows, "method": recognition.METHODS[0]}
        return float(recognition.accuracy(found, "words", **place).mean())

    def words(flows: tuple[str, ...]) -> str:
        return "; ".join(
            f"{queue}: " + ", ".join(f"{victim} {accuracy(queue, victim, flows):.0f}" for victim in THREE)
            for queue in p.QUEUES
        )

    far, others = words(("B4", "B5", "B6")), words(("A1", "A2", "B1", "B2", "B3", "C1", "C2"))
    return (
        f"Word accuracy in %: B4–B6 {far}; all others {others}; "
        f"nothing lost {found.clean.word_accuracy:.0f}. B4 to B6 have 31 ms of "
        "queueing left, so that what a victim rule does to the queue's length decides for them. It is not judged "
        "in the exploration of readings: listening costs more than all simulation."
    )


def _q12(data: Data) -> str:
    waits = _over(
        ("CA3", "CA4"), lambda case: _by_victim(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    paper = "; ".join(
        "{:.0f}, {:.0f} and {:.0f}".format(*(published.QUEUEING_MS[case][one] for one in THREE))
        for case in ("CA3", "CA4")
    )
    return f"Queueing delay in ms: {waits} (paper: {paper}). See why-Q12."


def _q13(data: Data) -> str:
    place = {"case": "CA8", "queue": "RED"}
    through = ", ".join(
        f"{title} {mean(data, q.OUT, p.ON_OFF, **place, **{'victim': p.DROP_SEL, 'class': name}):.2f} of "
        f"{mean(data, q.IN, p.ON_OFF, **place, **{'victim': p.DROP_SEL, 'class': name}):.2f}"
        for name, title in q.CLASS_TITLES.items()
    )
    tcp = _by_victim(data, q.OUT, p.ON_OFF, ".2f", **place, **{"class": "tcp"})
    return f"Through under Drop-Sel, in Mb/s: {through}. TCP's throughput: {tcp}."


def _q14(data: Data) -> str:
    place = {"case": "CA6", "queue": "AVQ"}
    shares = _over(THREE, lambda victim: _by_class(data, p.ON_OFF, victim=victim, **place))
    return f"Shares in %: {shares} (paper, Drop-Sel: VoIP 39, other UDP 21, TCP 40). {OTHER_AVQ}"


def _q16(data: Data) -> str:
    waits = _over(
        ("CA1", "CA2"), lambda case: _by_victim(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    paper = "; ".join(
        "{:.0f}, {:.0f} and {:.0f}".format(*(published.QUEUEING_MS[case][one] for one in THREE))
        for case in ("CA1", "CA2")
    )
    return f"Queueing delay in ms: {waits} (paper: {paper}). {OTHER_RED}"


def _q17(data: Data) -> str:
    def late(case: str) -> str:
        return "; ".join(
            f"{one}: {_by_victim(data, q.LATE_LOSS, p.ON_OFF, '.1f', case=case, queue=one)}"
            for one in p.QUEUES
        )

    return (
        f"Voice that comes too late, in % of what was sent: {_over(('CA7', 'CA8'), late)}. What a queue has dropped "
        "cannot "
        "be late; see why-Q17."
    )


def _q18(data: Data) -> str:
    found = recognition.heard(data)
    if found.missing:
        return f"Nobody listened: {found.missing}"
    far = {"queue": "RED", "flow": ("B4", "B5", "B6"), "method": recognition.METHODS[0]}
    accuracy = ", ".join(
        f"{one} {float(recognition.accuracy(found, 'words', victim=one, **far).mean()):.0f}" for one in THREE
    )
    return (
        f"Word accuracy of B4 to B6 in %: {accuracy}. The paper's gains are 51.1 over Drop-Front and 12.2 "
        f"over Drop-Tail, "
        "in points by its Table 8. It is not judged in the exploration of readings: listening costs more than all "
        "simulation."
    )


def _q19(data: Data) -> str:
    index = _over(
        p.S2_CASES, lambda case: _by_victim(data, q.CLASS_FAIRNESS, p.ON_OFF, ".2f", case=case, queue="RED")
    )
    return (
        f"Jain's index of the three classes: {index}. Where a class asks for less than its third (other UDP in CA6 and "
        "CA8) no rule makes the index 1."
    )


def _q20(data: Data) -> str:
    avq = _by_victim(data, q.CLASS_FAIRNESS, p.ON_OFF, ".2f", case="CA6", queue="AVQ")
    rem = _by_victim(data, q.CLASS_FAIRNESS, p.ON_OFF, ".2f", case="CA7", queue="REM")
    return f"Jain's index of the three classes: AVQ in CA6 {avq}; REM in CA7 {rem}."


def _q21(data: Data) -> str:
    def shares(scheme: str) -> str:
        return ", ".join(
            f"{title} {mean(data, q.OUT, p.PUNSI, case=p.MOSTLY_UDP, scheme=scheme, **{'class': name}):.2f}"
            for name, title in q.CLASS_TITLES.items()
        )

    several = (f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME)
    return (
        f"Throughput in Mb/s: {'; '.join(f'{one}: {shares(one)}' for one in several)}. Half of the 66 % is voice "
        "here, the "
        "paper does not divide them."
    )


def _q22(data: Data) -> str:
    def delays(case: str) -> str:
        place = {"case": case, "queue": "RED"}
        return (
            f"{_by_victim(data, q.MEDIAN, p.ALWAYS_ON, '.0f', **place)}; 90 %: "
            f"{_by_victim(data, q.LATEST_TENTH, p.ALWAYS_ON, '.0f', **place)}"
        )

    return (
        f"Median end-to-end delay in ms: {_over(p.S1_CASES, delays)}. Where TCP dominates Drop-Front's delays are the "
        "most "
        "spread: many short, many long (see why-Q22)."
    )


def _q23(data: Data) -> str:
    tcp = {"class": "tcp", "queue": "RED"}
    dropped = _over(
        ("CA3", "CA4"), lambda case: _by_victim(data, q.DROPPED, p.ALWAYS_ON, ".1f", case=case, **tcp)
    )
    sent = _over(("CA3", "CA4"), lambda case: _by_victim(data, q.IN, p.ALWAYS_ON, ".2f", case=case, **tcp))
    return (
        f"TCP dropped, in %: {dropped}; what it sends, in Mb/s: {sent}. The front packet is a call's more often than "
        "the "
        "arrival on which RED decides, which is large. With RED's step at the maximum threshold Drop-Front has runs of "
        "drops besides (why-Q12)."
    )


def _q24(data: Data) -> str:
    found = _over(
        p.S1_CASES, lambda case: _by_victim(data, q.VARIANCE, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    paper = _over(
        p.S1_CASES, lambda case: ", ".join(f"{one} {published.VARIANCE[case][one]:g}" for one in THREE)
    )
    return (
        f"Variance in ms²: {found}. The paper's, without a unit: {paper}. Drop-Sel takes what waits from one class "
        "only, so "
        "that voice, which is not that class in CA1, CA3 and CA4, waits evenly."
    )


def _q25(data: Data) -> str:
    def kept(name: str) -> str:
        return _over(
            p.S1_CASES,
            lambda case: _by_victim(
                data, q.OUT, p.ALWAYS_ON, ".2f", case=case, queue="RED", **{"class": name}
            ),
        )

    return (
        f"Throughput in Mb/s of TCP: {kept('tcp')}; of other UDP: {kept('other-udp')}. In CA1 other UDP offers half "
        "of the "
        "load: a rule that makes the classes equal (Q1) must take from it, so that the two sentences of the paper "
        "exclude "
        "each other there."
    )


def _totals(data: Data, queue: str) -> str:
    return _over(
        p.S2_CASES, lambda case: _by_victim(data, q.TOTAL_LOSS, p.ON_OFF, ".0f", case=case, queue=queue)
    )


def _q26(data: Data) -> str:
    return (
        f"Voice lost in all, in %: RED {_totals(data, 'RED')}; REM {_totals(data, 'REM')}; AVQ "
        f"{_totals(data, 'AVQ')}. REM "
        "drops until what it admits fits the link: its price rises with every interval in which too much comes. RED's "
        "chance rests where its average does. Where a large arrival is exchanged for a call's small packet REM must "
        "drop "
        "many, which under Drop-Front and Drop-Sel are voice; the paper's own Table 6 has REM beyond RED under "
        "Drop-Front "
        f"in CA5 ({published.LOSS_S2['CA5'][published.TOTAL]['REM', p.FRONT]:.1f} and "
        f"{published.LOSS_S2['CA5'][published.TOTAL]['RED', p.FRONT]:.1f} %)."
    )


def _q27(data: Data) -> str:
    def late(queue: str) -> str:
        return _over(
            p.S2_CASES, lambda case: _by_victim(data, q.LATE_LOSS, p.ON_OFF, ".1f", case=case, queue=queue)
        )

    waits = "; ".join(
        f"{one} {_by_victim(data, q.QUEUEING, p.ON_OFF, '.0f', case='CA5', queue=one)}" for one in p.QUEUES
    )
    return (
        f"Voice late, in %: {'; '.join(f'{one}: {late(one)}' for one in p.QUEUES)}. Queueing in CA5, in ms: {waits}. "
        "AVQ's "
        "row is calibrated: its buffer of 30 ms was chosen by it."
    )


def _q28(data: Data) -> str:
    def losses(measure: Measure, queue: str) -> str:
        return _over(
            ("CA7", "CA8"), lambda case: _by_victim(data, measure, p.ON_OFF, ".1f", case=case, queue=queue)
        )

    return (
        f"In %, in all with RED: {losses(q.TOTAL_LOSS, 'RED')}; dropped with AVQ: {losses(q.QUEUE_LOSS, 'AVQ')}, with "
        "REM: "
        f"{losses(q.QUEUE_LOSS, 'REM')}; late with AVQ: {losses(q.LATE_LOSS, 'AVQ')}, with REM: "
        f"{losses(q.LATE_LOSS, 'REM')}."
    )


def _q29(data: Data) -> str:
    waits = _over(
        ("CA7", "CA8"), lambda case: _by_victim(data, q.QUEUEING, p.ON_OFF, ".0f", case=case, queue="RED")
    )
    return f"Queueing delay of voice in ms: {waits}."


def _q30(data: Data) -> str:
    def losses(measure: Measure, case: str) -> str:
        return "; ".join(
            f"{one}: {_by_victim(data, measure, p.ROUTERS, '.1f', case=case, queue=one)}" for one in p.QUEUES
        )

    return (
        f"Voice lost in all, in %: {_over(p.S3_CASES, lambda case: losses(q.TOTAL_LOSS, case))}. Dropped by queues, "
        "in %: "
        f"{_over(p.S3_CASES, lambda case: losses(q.QUEUE_LOSS, case))}."
    )


def _q31(data: Data) -> str:
    every = [(case, p.ON_OFF if case in p.S2_CASES else p.ROUTERS) for case in (*p.S2_CASES, *p.S3_CASES)]

    def over_all(measure: Measure, queue: str) -> float:
        found = [
            mean(data, measure, grid, case=case, queue=queue, victim=victim)
            for case, grid in every
            for victim in THREE
        ]
        return sum(found) / len(found)

    told = "; ".join(
        f"{one} {over_all(q.QUEUEING, one):.0f} ms and {over_all(q.TOTAL_LOSS, one):.0f} %"
        for one in p.QUEUES
    )
    return f"Queueing and loss in all, over cases and victims: {told}."


def _q32(data: Data) -> str:
    found = recognition.heard(data)
    if found.missing:
        return f"Nobody listened: {found.missing}"
    far = {"flow": ("B4", "B5", "B6"), "method": recognition.METHODS[0]}
    rates = "; ".join(
        f"{queue}: "
        + ", ".join(
            f"{one} {float(recognition.accuracy(found, 'printed', queue=queue, victim=one, **far).mean()):.0f}"
            for one in THREE
        )
        for queue in ("RED", "REM")
    )
    return (
        f"Correct sentences of B4 to B6 in %: {rates} (paper, B4: RED 54, 19 and 76; REM 76, 57 and 93). It is not "
        "judged "
        "in the exploration of readings."
    )


NOTES: tuple[Callable[[Data], str], ...] = (
    _q1, _q2, _q3, _q4, _q5, _q6, _q7, _q8, _q9, _q10, _q11, _q12, _q13, _q14, _q14, _q16, _q17, _q18,
    _q19, _q20, _q21, _q22, _q23, _q24, _q25, _q26, _q27, _q28, _q29, _q30, _q31, _q32,
)  # fmt: skip


EXPLANATIONS: Mapping[str, Mapping[Verdict, Callable[[Data], str]]] = {
    f"Q{number}": dict.fromkeys(Verdict, note) for number, note in enumerate(NOTES, 1)
}
"""By claim. The notes speak of numbers and mechanisms, not of the verdict, and stand whatever it is."""
