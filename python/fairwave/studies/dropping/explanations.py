"""Why claims come out as they do: the numbers behind a verdict, the mechanism, and the assumption on which it hangs.

The numbers in these words are computed from the runs; what was tried stands in the sensitivity tables
(`fairwave study dropping --sensitivity`), whose ids are named here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.studies.dropping import points as p
from fairwave.studies.dropping import published, recognition
from fairwave.studies.dropping import quantities as q
from fairwave.studies.dropping.agreement import mean
from fairwave.study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

THREE = p.PAPERS_VICTIMS

TRIED_IN_S1 = (
    "Tried (sensitivity table *always-on*): totals of 4.4 and 6 Mb/s, transfers that count half and twice as "
    "much, RED's "
    "thresholds halved and doubled, RED counting packets, buffers of 150 and 600 ms"
)


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
    place = {"queue": "RED", "victim": p.DROP_SEL}
    shares = _over(("CA1", "CA2"), lambda case: _by_class(data, p.ALWAYS_ON, case=case, **place))
    voice, other, tcp = published.SHARES_CA2
    return (
        f"Under Drop-Sel the classes have, in %: {shares} (paper, CA2: {voice}, {other} and {tcp}). What "
        "Drop-Sel makes equal is the bytes that wait. A class that is thinned at the front of the queue has waited "
        "there without being sent, so it gets less than its part of the queue; where that class is voice (CA2), "
        "whose packets are a sixth of the others', many must go for one of theirs, and it ends below a third while "
        "other UDP gets all that it asks for. "
        f"{TRIED_IN_S1}: reproduced in none."
    )


def _q2(data: Data) -> str:
    tcp = {"class": "tcp", "queue": "RED"}
    got = _over(("CA3", "CA4"), lambda case: _by_victim(data, q.OUT, p.ALWAYS_ON, ".2f", case=case, **tcp))
    lost = _by_victim(data, q.QUEUE_LOSS, p.ALWAYS_ON, ".1f", case="CA3", queue="RED")
    return (
        f"TCP's throughput in Mb/s: {got}. In CA3 voice and other UDP each ask for less than they may have, "
        f"Drop-Sel takes "
        f"nothing from them (voice lost, %: {lost}), and what they no longer lose is missing to TCP. "
        f"{TRIED_IN_S1}: not reproduced in any."
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
        f"TCP's throughput in Mb/s: AVQ in CA6 {avq}; REM in CA7 {rem}. Under AVQ Drop-Sel spares voice (dropped, %: "
        f"{spared}; see Q8), and others pay. Under REM small arrivals are seldom dropped; where another packet "
        f"goes for "
        "a large arrival, the queue loses fewer bytes than that has, so that it grows "
        f"(queueing in ms: {wait}) and REM drops more often."
    )


def _q5(data: Data) -> str:
    other = {"class": "other-udp"}
    cases = ("CA2", p.MOSTLY_UDP)
    schemes = (f"RED, {p.TAIL}", f"RED, {p.DROP_SEL}", p.BY_FLOW, p.BY_CLASS)

    def numbers(case: str) -> str:
        return ", ".join(
            f"{one} {mean(data, q.OUT, p.PUNSI, case=case, scheme=one, **other):.2f}" for one in schemes
        )

    return (
        f"Other UDP's throughput in Mb/s: {_over(cases, numbers)}. PUNSI compares an arrival with ten packets "
        f"of the queue. By flow "
        "a match is rare, since here other UDP comes from twenty sources and more that send five packets a "
        "second each; by "
        "class nearly every UDP packet matches and other UDP is starved. Which of the two its authors mean cannot be "
        "told from the abstract."
    )


def _q6(data: Data) -> str:
    waits = _over(
        p.S1_CASES, lambda case: _by_victim(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    return (
        f"Queueing delay in ms: {waits}. In CA2 the heaviest class is voice. RED, which counts bytes, decides "
        f"mostly on large "
        "arrivals, and Drop-Sel answers each with one small packet of voice, so that the queue must grow until "
        "RED decides often "
        f"enough. {TRIED_IN_S1}: not reproduced in any."
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
        f"Voice dropped by queues under Drop-Sel, in %: {_over(grids, losses)}. It is most under REM in CA7, as in the "
        f"paper ({published.LOSS_S2['CA7'][published.QUEUE]['REM', p.DROP_SEL]:.2f})."
    )


def _q8(data: Data) -> str:
    def losses(case: str) -> str:
        return ", ".join(
            f"{one}: {_by_victim(data, q.QUEUE_LOSS, p.ON_OFF, '.1f', case=case, queue=one)}"
            for one in p.QUEUES
        )

    return (
        f"Voice dropped by queues, in %: {_over(p.VOICE_DOMINATES, losses)}. AVQ keeps the queue short and "
        f"drops when a large "
        "packet arrives; that packet counts as waiting, and in a short queue it often makes its own class the "
        "heaviest, so that "
        "voice is spared."
    )


def _q9(data: Data) -> str:
    def opinions(case: str) -> str:
        grid = p.ON_OFF if case in p.S2_CASES else p.ROUTERS
        return ", ".join(
            f"{one} {mean(data, q.MOS, grid, case=case, queue=one, victim=p.TAIL):.2f}" for one in p.QUEUES
        )

    wait = ", ".join(
        f"{one} {mean(data, q.QUEUEING, p.ON_OFF, case='CA8', queue=one, victim=p.TAIL):.0f}"
        for one in p.QUEUES
    )
    return (
        f"MOS with Drop-Tail: {_over((*p.S2_CASES, *p.S3_CASES), opinions)}. Where sources that do not yield "
        f"fill the link AVQ "
        "keeps its queue short. Where TCP dominates it does not: the windows fill a virtual buffer of 300 ms "
        "before anything is "
        f"dropped (CA8, queueing in ms: {wait}), and the far callers come late. With a virtual buffer of 30 ms "
        f"(sensitivity table "
        "*on-off*) AVQ's delays fall; the paper names no buffer."
    )


def _q10(data: Data) -> str:
    def opinions(case: str) -> str:
        grid = p.ON_OFF if case in p.S2_CASES else p.ROUTERS
        return ", ".join(
            f"{one}: {_by_victim(data, q.MOS, grid, '.2f', case=case, queue=one)}" for one in p.QUEUES
        )

    return (
        f"MOS as printed: {_over((*p.S2_CASES, *p.S3_CASES), opinions)}. It is late packets of the far callers "
        f"that decide in S2, "
        "and no victim rule shortens AVQ's queue; in S3 nothing comes late, and where Drop-Tail loses 1 % the "
        "victims differ by "
        "hundredths."
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
        "queueing left, so that what a victim rule does to the queue's length decides for them; each flow, "
        "queue and victim "
        "rests on thirty sentences, and a point of accuracy is one word in a hundred."
    )


def _q12(data: Data) -> str:
    waits = _over(
        ("CA3", "CA4"), lambda case: _by_victim(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    paper = "; ".join(
        "{:.0f}, {:.0f} and {:.0f}".format(*(published.QUEUEING_MS[case][one] for one in THREE))
        for case in ("CA3", "CA4")
    )
    return f"Queueing delay in ms: {waits} (paper: {paper})."


NOTES: tuple[Callable[[Data], str], ...] = (
    _q1, _q2, _q3, _q4, _q5, _q6, _q7, _q8, _q9, _q10, _q11, _q12,
)  # fmt: skip

EXPLANATIONS: Mapping[str, Mapping[Verdict, Callable[[Data], str]]] = {
    f"Q{number}": dict.fromkeys(Verdict, note) for number, note in enumerate(NOTES, 1)
}
"""By claim. The notes speak of numbers and mechanisms, not of the verdict, and stand whatever it is."""
