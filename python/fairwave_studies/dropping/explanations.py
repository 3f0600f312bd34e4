"""Why claims come out as they do: the numbers behind a verdict, the mechanism, and the assumption on which it hangs.

All numbers in these texts are computed from the runs. The exploration (`fairwave study dropping --explore N`) shows
each claim in other readings of the paper. The texts name the factors that may decide a claim, with the values for a
file for `--reading`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published, recognition
from fairwave_studies.dropping import quantities as q
from fairwave_studies.dropping.agreement import mean
from fairwave_study import texts
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

WORDS = texts.notes(__file__)
"""The sentences, in `explanations.toml`, with a name for each number in them."""

THREE = p.PAPERS_VICTIMS


def _elsewhere(**values: str) -> str:
    """How to judge the claim under another reading."""
    import json

    return WORDS.fill("elsewhere", reading=json.dumps(values))


OTHER_RED = _elsewhere(**{"red": "ns-2.35", "load-s1": "1.5 of the link"})
OTHER_AVQ = _elsewhere(**{"avq-buffer": "the routers'", "avq-law": "ns-2's, exchanged"})


def _list_victims(data: Data, measure: Measure, grid: str, digits: str, **place: str) -> str:
    """A measure under each of the paper's victims: "Drop-Tail 83, Drop-Front 86, Drop-Sel 64"."""
    return ", ".join(f"{one} {mean(data, measure, grid, victim=one, **place):{digits}}" for one in THREE)


def _list_classes(data: Data, grid: str, **place: str) -> str:
    return ", ".join(
        f"{title} {mean(data, q.SHARE, grid, **place, **{'class': name}):.0f}"
        for name, title in q.CLASS_TITLES.items()
    )


def _list_cases(cases: Iterable[str], words: Callable[[str], str]) -> str:
    return "; ".join(f"{case}: {words(case)}" for case in cases)


def _q1(data: Data) -> str:
    def shares(case: str) -> str:
        return ", ".join(
            f"{one} {mean(data, q.SPREAD, p.ALWAYS_ON, case=case, queue='RED', victim=one):.0f}"
            for one in THREE
        )

    place = {"queue": "RED", "victim": p.DROP_SEL}
    classes = _list_cases(("CA1", "CA2"), lambda case: _list_classes(data, p.ALWAYS_ON, case=case, **place))
    voice, other, tcp = published.SHARES_CA2
    return WORDS.fill(
        "q1",
        classes=classes,
        voice=voice,
        other=other,
        tcp=tcp,
        spreads=_list_cases(("CA1", "CA2"), shares),
        other_red=OTHER_RED,
    )


def _q2(data: Data) -> str:
    tcp = {"class": "tcp", "queue": "RED"}
    got = _list_cases(
        ("CA3", "CA4"), lambda case: _list_victims(data, q.OUT, p.ALWAYS_ON, ".2f", case=case, **tcp)
    )
    lost = _list_victims(data, q.QUEUE_LOSS, p.ALWAYS_ON, ".1f", case="CA3", queue="RED")
    return WORDS.fill("q2", got=got, lost=lost)


def _q3(data: Data) -> str:
    tcp = {"class": "tcp", "queue": "RED"}
    got = _list_cases(
        ("CA5", "CA6", "CA7"), lambda case: _list_victims(data, q.OUT, p.ON_OFF, ".2f", case=case, **tcp)
    )
    return f"TCP's throughput in Mb/s: {got}."


def _q4(data: Data) -> str:
    tcp = {"class": "tcp"}
    avq = _list_victims(data, q.OUT, p.ON_OFF, ".2f", case="CA6", queue="AVQ", **tcp)
    rem = _list_victims(data, q.OUT, p.ON_OFF, ".2f", case="CA7", queue="REM", **tcp)
    spared = _list_victims(data, q.QUEUE_LOSS, p.ON_OFF, ".1f", case="CA6", queue="AVQ")
    wait = _list_victims(data, q.QUEUEING, p.ON_OFF, ".0f", case="CA7", queue="REM")
    return WORDS.fill("q4", avq=avq, rem=rem, spared=spared, wait=wait, other_avq=OTHER_AVQ)


def _q5(data: Data) -> str:
    other = {"class": "other-udp"}
    cases = ("CA2", p.MOSTLY_UDP)
    schemes = (f"RED, {p.TAIL}", f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME, p.OTHER_PUNSI)

    def numbers(case: str) -> str:
        return ", ".join(
            f"{one} {mean(data, q.OUT, p.PUNSI, case=case, scheme=one, **other):.2f}" for one in schemes
        )

    asked = _list_cases(
        cases,
        lambda case: f"{mean(data, q.IN, p.PUNSI, case=case, scheme=f'RED, {p.DROP_SEL}', **other):.2f}",
    )
    return WORDS.fill("q5", throughputs=_list_cases(cases, numbers), asked=asked)


def _q6(data: Data) -> str:
    waits = _list_cases(
        p.S1_CASES, lambda case: _list_victims(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    return WORDS.fill("q6", waits=waits, other_red=OTHER_RED)


def _q7(data: Data) -> str:
    place = {"victim": p.DROP_SEL}
    grids = {"CA7": p.ON_OFF, "CA8": p.ON_OFF, "CA9": p.ROUTERS, "CA10": p.ROUTERS}

    def losses(case: str) -> str:
        return ", ".join(
            f"{one} {mean(data, q.QUEUE_LOSS, grids[case], case=case, queue=one, **place):.2f}"
            for one in p.QUEUES
        )

    return WORDS.fill(
        "q7",
        losses=_list_cases(grids, losses),
        printed=published.LOSS_S2["CA7"][published.QUEUE]["REM", p.DROP_SEL],
    )


def _q8(data: Data) -> str:
    def losses(case: str) -> str:
        return "; ".join(
            f"{one}: {_list_victims(data, q.QUEUE_LOSS, p.ON_OFF, '.1f', case=case, queue=one)}"
            for one in p.QUEUES
        )

    return WORDS.fill("q8", losses=_list_cases(p.VOICE_DOMINATES, losses), other_avq=OTHER_AVQ)


def _opinions(data: Data) -> str:
    def list_queues(case: str) -> str:
        grid = p.ON_OFF if case in p.S2_CASES else p.ROUTERS
        return "; ".join(
            f"{one}: {_list_victims(data, q.MOS, grid, '.2f', case=case, queue=one)}" for one in p.QUEUES
        )

    return _list_cases((*p.S2_CASES, *p.S3_CASES), list_queues)


def _q9(data: Data) -> str:
    wait = ", ".join(
        f"{one} {mean(data, q.QUEUEING, p.ON_OFF, case='CA8', queue=one, victim=p.TAIL):.0f}"
        for one in p.QUEUES
    )
    return WORDS.fill("q9", opinions=_opinions(data), wait=wait, other_avq=OTHER_AVQ)


def _q10(data: Data) -> str:
    return WORDS.fill("q10", opinions=_opinions(data))


def _q11(data: Data) -> str:
    found = recognition.heard(data)
    if found.missing:
        return f"No recognition: {found.missing}"

    def accuracy(queue: str, victim: str, flows: tuple[str, ...]) -> float:
        place = {"queue": queue, "victim": victim, "flow": flows, "method": recognition.METHODS[0]}
        return float(recognition.accuracy(found, "words", **place).mean())

    def words(flows: tuple[str, ...]) -> str:
        return "; ".join(
            f"{queue}: " + ", ".join(f"{victim} {accuracy(queue, victim, flows):.0f}" for victim in THREE)
            for queue in p.QUEUES
        )

    far, others = words(("B4", "B5", "B6")), words(("A1", "A2", "B1", "B2", "B3", "C1", "C2"))
    return WORDS.fill("q11", far=far, others=others, word_accuracy=found.clean.word_accuracy)


def _q12(data: Data) -> str:
    waits = _list_cases(
        ("CA3", "CA4"),
        lambda case: _list_victims(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED"),
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
    tcp = _list_victims(data, q.OUT, p.ON_OFF, ".2f", **place, **{"class": "tcp"})
    return WORDS.fill("q13", through=through, tcp=tcp)


def _q14(data: Data) -> str:
    place = {"case": "CA6", "queue": "AVQ"}
    shares = _list_cases(THREE, lambda victim: _list_classes(data, p.ON_OFF, victim=victim, **place))
    return WORDS.fill("q14", shares=shares, other_avq=OTHER_AVQ)


def _q16(data: Data) -> str:
    waits = _list_cases(
        ("CA1", "CA2"),
        lambda case: _list_victims(data, q.QUEUEING, p.ALWAYS_ON, ".0f", case=case, queue="RED"),
    )
    paper = "; ".join(
        "{:.0f}, {:.0f} and {:.0f}".format(*(published.QUEUEING_MS[case][one] for one in THREE))
        for case in ("CA1", "CA2")
    )
    return f"Queueing delay in ms: {waits} (paper: {paper}). {OTHER_RED}"


def _q17(data: Data) -> str:
    def late(case: str) -> str:
        return "; ".join(
            f"{one}: {_list_victims(data, q.LATE_LOSS, p.ON_OFF, '.1f', case=case, queue=one)}"
            for one in p.QUEUES
        )

    return WORDS.fill("q17", late=_list_cases(("CA7", "CA8"), late))


def _q18(data: Data) -> str:
    found = recognition.heard(data)
    if found.missing:
        return f"No recognition: {found.missing}"
    far = {"queue": "RED", "flow": ("B4", "B5", "B6"), "method": recognition.METHODS[0]}
    accuracy = ", ".join(
        f"{one} {float(recognition.accuracy(found, 'words', victim=one, **far).mean()):.0f}" for one in THREE
    )
    return WORDS.fill("q18", accuracy=accuracy)


def _q19(data: Data) -> str:
    index = _list_cases(
        p.S2_CASES,
        lambda case: _list_victims(data, q.CLASS_FAIRNESS, p.ON_OFF, ".2f", case=case, queue="RED"),
    )
    return WORDS.fill("q19", index=index)


def _q20(data: Data) -> str:
    avq = _list_victims(data, q.CLASS_FAIRNESS, p.ON_OFF, ".2f", case="CA6", queue="AVQ")
    rem = _list_victims(data, q.CLASS_FAIRNESS, p.ON_OFF, ".2f", case="CA7", queue="REM")
    return WORDS.fill("q20", avq=avq, rem=rem)


def _q21(data: Data) -> str:
    def shares(scheme: str) -> str:
        return ", ".join(
            f"{title} {mean(data, q.OUT, p.PUNSI, case=p.MOSTLY_UDP, scheme=scheme, **{'class': name}):.2f}"
            for name, title in q.CLASS_TITLES.items()
        )

    several = (f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME)
    return WORDS.fill("q21", schemes="; ".join(f"{one}: {shares(one)}" for one in several))


def _q22(data: Data) -> str:
    def delays(case: str) -> str:
        place = {"case": case, "queue": "RED"}
        return (
            f"{_list_victims(data, q.MEDIAN, p.ALWAYS_ON, '.0f', **place)}; 90 %: "
            f"{_list_victims(data, q.LATEST_TENTH, p.ALWAYS_ON, '.0f', **place)}"
        )

    return WORDS.fill("q22", delays=_list_cases(p.S1_CASES, delays))


def _q23(data: Data) -> str:
    tcp = {"class": "tcp", "queue": "RED"}
    dropped = _list_cases(
        ("CA3", "CA4"), lambda case: _list_victims(data, q.DROPPED, p.ALWAYS_ON, ".1f", case=case, **tcp)
    )
    sent = _list_cases(
        ("CA3", "CA4"), lambda case: _list_victims(data, q.IN, p.ALWAYS_ON, ".2f", case=case, **tcp)
    )
    return WORDS.fill("q23", dropped=dropped, sent=sent)


def _q24(data: Data) -> str:
    found = _list_cases(
        p.S1_CASES, lambda case: _list_victims(data, q.VARIANCE, p.ALWAYS_ON, ".0f", case=case, queue="RED")
    )
    paper = _list_cases(
        p.S1_CASES, lambda case: ", ".join(f"{one} {published.VARIANCE[case][one]:g}" for one in THREE)
    )
    return WORDS.fill("q24", found=found, paper=paper)


def _q25(data: Data) -> str:
    def share_kept(name: str) -> str:
        return _list_cases(
            p.S1_CASES,
            lambda case: _list_victims(
                data, q.OUT, p.ALWAYS_ON, ".2f", case=case, queue="RED", **{"class": name}
            ),
        )

    return WORDS.fill("q25", kept_tcp=share_kept("tcp"), kept_other_udp=share_kept("other-udp"))


def _totals(data: Data, queue: str) -> str:
    return _list_cases(
        p.S2_CASES, lambda case: _list_victims(data, q.TOTAL_LOSS, p.ON_OFF, ".0f", case=case, queue=queue)
    )


def _q26(data: Data) -> str:
    return WORDS.fill(
        "q26",
        totals_red=_totals(data, "RED"),
        totals_rem=_totals(data, "REM"),
        totals_avq=_totals(data, "AVQ"),
        rem_printed=published.LOSS_S2["CA5"][published.TOTAL]["REM", p.FRONT],
        red_printed=published.LOSS_S2["CA5"][published.TOTAL]["RED", p.FRONT],
    )


def _q27(data: Data) -> str:
    def late(queue: str) -> str:
        return _list_cases(
            p.S2_CASES, lambda case: _list_victims(data, q.LATE_LOSS, p.ON_OFF, ".1f", case=case, queue=queue)
        )

    waits = "; ".join(
        f"{one} {_list_victims(data, q.QUEUEING, p.ON_OFF, '.0f', case='CA5', queue=one)}" for one in p.QUEUES
    )
    return WORDS.fill("q27", schemes="; ".join(f"{one}: {late(one)}" for one in p.QUEUES), waits=waits)


def _q28(data: Data) -> str:
    def losses(measure: Measure, queue: str) -> str:
        return _list_cases(
            ("CA7", "CA8"), lambda case: _list_victims(data, measure, p.ON_OFF, ".1f", case=case, queue=queue)
        )

    return WORDS.fill(
        "q28",
        total_red=losses(q.TOTAL_LOSS, "RED"),
        dropped_avq=losses(q.QUEUE_LOSS, "AVQ"),
        dropped_rem=losses(q.QUEUE_LOSS, "REM"),
        late_avq=losses(q.LATE_LOSS, "AVQ"),
        late_rem=losses(q.LATE_LOSS, "REM"),
    )


def _q29(data: Data) -> str:
    waits = _list_cases(
        ("CA7", "CA8"), lambda case: _list_victims(data, q.QUEUEING, p.ON_OFF, ".0f", case=case, queue="RED")
    )
    return f"Queueing delay of voice in ms: {waits}."


def _q30(data: Data) -> str:
    def losses(measure: Measure, case: str) -> str:
        return "; ".join(
            f"{one}: {_list_victims(data, measure, p.ROUTERS, '.1f', case=case, queue=one)}"
            for one in p.QUEUES
        )

    return WORDS.fill(
        "q30",
        in_all=_list_cases(p.S3_CASES, lambda case: losses(q.TOTAL_LOSS, case)),
        by_queues=_list_cases(p.S3_CASES, lambda case: losses(q.QUEUE_LOSS, case)),
    )


def _q31(data: Data) -> str:
    every = [(case, p.ON_OFF if case in p.S2_CASES else p.ROUTERS) for case in (*p.S2_CASES, *p.S3_CASES)]

    def mean_over_cases(measure: Measure, queue: str) -> float:
        found = [
            mean(data, measure, grid, case=case, queue=queue, victim=victim)
            for case, grid in every
            for victim in THREE
        ]
        return sum(found) / len(found)

    told = "; ".join(
        f"{one} {mean_over_cases(q.QUEUEING, one):.0f} ms and {mean_over_cases(q.TOTAL_LOSS, one):.0f} %"
        for one in p.QUEUES
    )
    return WORDS.fill("q31", told=told)


def _q32(data: Data) -> str:
    found = recognition.heard(data)
    if found.missing:
        return f"No recognition: {found.missing}"
    far = {"flow": ("B4", "B5", "B6"), "method": recognition.METHODS[0]}
    rates = "; ".join(
        f"{queue}: "
        + ", ".join(
            f"{one} {float(recognition.accuracy(found, 'printed', queue=queue, victim=one, **far).mean()):.0f}"
            for one in THREE
        )
        for queue in ("RED", "REM")
    )
    return WORDS.fill("q32", rates=rates)


NOTES: tuple[Callable[[Data], str], ...] = (
    _q1, _q2, _q3, _q4, _q5, _q6, _q7, _q8, _q9, _q10, _q11, _q12, _q13, _q14, _q14, _q16, _q17, _q18,
    _q19, _q20, _q21, _q22, _q23, _q24, _q25, _q26, _q27, _q28, _q29, _q30, _q31, _q32,
)  # fmt: skip


EXPLANATIONS: Mapping[str, Mapping[Verdict, Callable[[Data], str]]] = {
    f"Q{number}": dict.fromkeys(Verdict, note) for number, note in enumerate(NOTES, 1)
}
"""By claim. The notes give numbers and mechanisms, so they hold for any verdict."""
