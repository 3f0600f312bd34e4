"""The figures of papers 000 and 001, and figures beyond them: the E-model's rating of the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.answers.labels import spelled
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import BEYOND, CALLS, FLOWS, FLOWS_OF_001
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.measuring.measures import Measure
    from fairwave_studies.voice.quantities import Sent, ShareDefinition
    from fairwave_study.folder import Case

FLOWS_LABEL = "calls"
ERRORS_LABEL = "packet error rate"
THRESHOLD_LABEL = "threshold (ms)"
READING_TITLES = ["gap by number", "gap of arrivals", "one-way delay", "excess gap"]
READINGS_NOTE = (
    "In this order: gap to the packet numbered one less, as 001's Algorithm 1 is printed; gap to the arrival "
    "before; one-way delay; gap in excess of the sender's."
)
AS_READ = "The claims use packets in time; their other meanings are in Figure {}."
"""Note under the papers' one-panel figures, with the place of the other meanings."""

BY_FLOWS, BY_PAYLOAD, BY_ERRORS, BY_THRESHOLD = (
    "timely-calls",
    "timely-payloads",
    "timely-errors",
    "timely-thresholds",
)
"""How the ids of the figures begin that show every meaning of *timely*."""


def _call_figure(
    paper: str,
    number: int,
    title: str,
    measures: Sequence[Measure],
    ftp: int,
    flows: Sequence[int],
    caption: str = "",
    panel_titles: Sequence[str] = (),
) -> Figure:
    return Figure(
        id=f"{paper}-{number}",
        title=title,
        grid=CALLS,
        measures=measures,
        x="flows",
        x_label=FLOWS_LABEL,
        fix={"ftp": ftp, "payload": "160 B", "per": 0.01, "flows": list(flows)},
        source=f"paper {paper}, Figure {number}",
        caption=caption,
        panel_titles=panel_titles,
    )


def _five(paper: str, ftp: int, flows: Sequence[int], words: str, how: ShareDefinition) -> list[Figure]:
    """The five metrics over the number of calls, Figures 2–6 of either paper."""
    others = f"{BY_FLOWS}-{ftp:02}"
    return [
        _call_figure(paper, 2, f"Goodput of all calls, {words}", [q.GOODPUT], ftp, flows),
        _call_figure(paper, 3, f"Average real-time performance, {words}", [q.index(how)], ftp, flows,
                  AS_READ.format(others)),
        _call_figure(paper, 4, f"Fairness index, {words}", [q.FAIRNESS], ftp, flows,
                  "Calls talk for different times, so even an uncontended path stays below 1."),
        _call_figure(paper, 5, f"Delayed packets rate, {words}", [q.delayed(how)], ftp, flows, AS_READ.format(others)),
        _call_figure(paper, 6, f"Packet loss rate, {words}", [q.loss(how.sent)], ftp, flows,
                  "Over TCP, packets that still wait at the sender at the end count as sent and not received."),
    ]  # fmt: skip


def _meanings_of(family: Callable[[ShareDefinition], Measure], sent: Sent) -> list[Measure]:
    """A quantity by each meaning of *timely*."""
    return [family(q.ShareDefinition(timely, sent)) for timely in q.TIMELY.values()]


def _payloads(how: ShareDefinition) -> list[Figure]:
    """Goodput and index by payload, one pair per transport: 000 Figures 7–14."""
    figures = []
    for place, transport in enumerate(("tcp/vegas", "tcp/westwood", "tcp/real", "udp")):
        name = spelled(transport)
        others = AS_READ.format(f"{BY_PAYLOAD}-{name.lower()}")
        pair = (
            (f"Goodput by payload, {name}", q.GOODPUT, ""),
            (f"Average real-time performance by payload, {name}", q.index(how), others),
        )
        for offset, (title, measure, caption) in enumerate(pair):
            number = 7 + 2 * place + offset
            figures.append(
                Figure(
                    id=f"000-{number}",
                    title=f"{title}, 20 file transfers",
                    grid=CALLS,
                    measures=[measure],
                    x="flows",
                    series="payload",
                    x_label=FLOWS_LABEL,
                    fix={"ftp": 20, "per": 0.01, "transport": transport},
                    source=f"paper 000, Figure {number}",
                    caption=caption,
                )
            )
    return figures


def _cross(paper: str, first: int, light: Sequence[int], heavy: Sequence[int]) -> list[Figure]:
    return [
        _call_figure(paper, first, "Goodput of 20 file transfers", [q.FTP_GOODPUT], 20, light,
                  "The goodput of the transfers that share R2→R3 with the calls."),
        _call_figure(paper, first + 1, "Goodput of 60 file transfers", [q.FTP_GOODPUT], 60, heavy,
                  "The goodput of the transfers that share R2→R3 with the calls."),
    ]  # fmt: skip


def _errors(how: ShareDefinition) -> list[Figure]:
    """Goodput and index over the packet error rate: 000 Figures 17–20."""
    figures = []
    for place, flows in enumerate((80, 120)):
        others = AS_READ.format(f"{BY_ERRORS}-{flows}")
        pair = (
            ("Goodput over packet errors", q.GOODPUT, ""),
            ("Average real-time performance over packet errors", q.index(how), others),
        )
        for offset, (title, measure, caption) in enumerate(pair):
            number = 17 + 2 * place + offset
            figures.append(
                Figure(
                    id=f"000-{number}",
                    title=f"{title}, {flows} calls, 20 file transfers",
                    grid=CALLS,
                    measures=[measure],
                    x="per",
                    x_label=ERRORS_LABEL,
                    fix={"ftp": 20, "payload": "160 B", "flows": flows},
                    source=f"paper 000, Figure {number}",
                    caption=caption,
                )
            )
    return figures


def _thresholds(paper: str, first: int, contention: Sequence[int], how: ShareDefinition) -> list[Figure]:
    """Index and delayed share over the threshold of timeliness: 000 Figures 21–24, 001 Figures 9–12."""
    figures = []
    for place, flows in enumerate(contention):
        pair = (
            ("Average real-time performance by threshold", q.index_by_threshold),
            ("Delayed packets rate by threshold", q.delayed_by_threshold),
        )
        for offset, (title, family) in enumerate(pair):
            number = first + 2 * place + offset
            figures.append(
                Figure(
                    id=f"{paper}-{number}",
                    title=f"{title}, {flows} calls, 20 file transfers",
                    grid=CALLS,
                    measures=[family(how)],
                    x="threshold",
                    x_label=THRESHOLD_LABEL,
                    fix={"ftp": 20, "payload": "160 B", "per": 0.01, "flows": flows},
                    source=f"paper {paper}, Figure {number}",
                    caption=AS_READ.format(f"{BY_THRESHOLD}-{flows}"),
                )
            )
    return figures


def _meanings(sent: Sent, in_000: Sequence[int], in_001: Sequence[int]) -> list[Figure]:
    """The papers' figures by each meaning of *timely*: a panel for each."""
    beside = {"payload": "160 B", "per": 0.01}
    index, delayed = _meanings_of(q.index, sent), _meanings_of(q.delayed, sent)
    index_by, delayed_by = (
        _meanings_of(q.index_by_threshold, sent),
        _meanings_of(q.delayed_by_threshold, sent),
    )
    calls, errors, thresholds = ("flows", FLOWS_LABEL), ("per", ERRORS_LABEL), ("threshold", THRESHOLD_LABEL)

    def figure(
        name: str, title: str, measures: Sequence[Measure], x: tuple[str, str], fix: Mapping[str, Any], source: str,
        series: str = "transport",
    ) -> Figure:  # fmt: skip
        return Figure(
            name, f"{title}, by each meaning of a packet in time", CALLS, measures, x[0], series, x[1], fix,
            source=source, caption=READINGS_NOTE, panel_titles=READING_TITLES,
        )  # fmt: skip

    figures = []
    for paper, ftp, flows, words in (
        ("000", 0, in_000, "no cross traffic"),
        ("001", 10, in_001, "10 file transfers"),
    ):
        fix = {"ftp": ftp, **beside, "flows": list(flows)}
        name = f"{BY_FLOWS}-{ftp:02}"
        figures += [
            figure(name, f"Real-time performance, {words}", index, calls, fix, f"paper {paper}, Figure 3"),
            figure(
                f"{name}-delayed",
                f"Delayed packets, {words}",
                delayed,
                calls,
                fix,
                f"paper {paper}, Figure 5",
            ),
        ]
    for place, transport in enumerate(("tcp/vegas", "tcp/westwood", "tcp/real", "udp")):
        name, fix = spelled(transport), {"ftp": 20, "per": 0.01, "transport": transport}
        figures.append(
            figure(
                f"{BY_PAYLOAD}-{name.lower()}", f"Real-time performance by payload, {name}", index, calls, fix,
                f"paper 000, Figure {8 + 2 * place}", "payload",
            )
        )  # fmt: skip
    for place, contention in enumerate((80, 120)):
        fix = {"ftp": 20, "payload": "160 B", "flows": contention}
        title = f"Real-time performance over packet errors, {contention} calls"
        source = f"paper 000, Figure {18 + 2 * place}"
        figures.append(figure(f"{BY_ERRORS}-{contention}", title, index, errors, fix, source))
    for contention, source in (
        (40, "paper 001, Figures 9 and 10"),
        (80, "papers 000, Figures 21 and 22; 001, Figures 11 and 12"),
        (120, "paper 000, Figures 23 and 24"),
    ):
        fix = {"ftp": 20, **beside, "flows": contention}
        name, words = f"{BY_THRESHOLD}-{contention}", f"by threshold, {contention} calls"
        figures += [
            figure(name, f"Real-time performance {words}", index_by, thresholds, fix, source),
            figure(f"{name}-delayed", f"Delayed packets {words}", delayed_by, thresholds, fix, source),
        ]
    return figures


def _extra_figures() -> list[Figure]:
    return [
        Figure(
            id=f"emodel-{ftp:02}",
            title=f"How the calls are rated, {words}",
            grid=CALLS,
            measures=[q.MOS, q.R_FACTOR, q.DELAY_P95],
            x="flows",
            x_label=FLOWS_LABEL,
            fix={"ftp": ftp, "payload": "160 B", "per": 0.01},
            source="beyond the papers; ITU-T G.107",
            caption="Each call's receiver plays out adaptively; packets that come too late are lost. Mean over calls.",
        )
        for ftp, words in ((0, "no cross traffic"), (20, "20 file transfers"))
    ]


def _carriers(how: ShareDefinition) -> list[Figure]:
    """Ideas that the papers name and do not try: redundant speech, and a TCP-Real that discards old data."""
    return [
        Figure(
            id=f"beyond-{ftp:02}",
            title=f"Redundant speech and partial reliability, {words}",
            grid=BEYOND,
            measures=[q.GOODPUT, q.index(how), q.MOS],
            x="flows",
            x_label=FLOWS_LABEL,
            fix={"ftp": ftp},
            source="beyond the papers; 000 §4.1.3 and §6, RFC 2198, RFC 3758",
            caption=(
                "'udp, redundant' repeats each packet's speech in the next one; 'tcp/real, partial' does not send "
                "or resend data older than 300 ms."
            ),
            panel_titles=["goodput", "real-time index, as the claims read it", "MOS (E-model)"],
        )
        for ftp, words in ((0, "no cross traffic"), (20, "20 file transfers"))
    ]


def figures(case: Case) -> list[Figure]:
    """All figures, in the order of the papers, with the simulated numbers of calls."""
    how = q.define_shares(case.reading)

    def simulated(ftp: int, wanted: Sequence[int]) -> list[int]:
        known = {flows for one in case.extent.values() if ftp in one["ftp"] for flows in one["flows"]}
        return [flows for flows in wanted if flows in known]

    in_000, in_001 = simulated(0, FLOWS), simulated(10, FLOWS_OF_001)
    return [
        *_five("000", 0, in_000, "no cross traffic", how),
        *_payloads(how),
        *_cross("000", 15, simulated(20, FLOWS), simulated(60, FLOWS)),
        *_errors(how),
        *_thresholds("000", 21, (80, 120), how),
        *_five("001", 10, in_001, "10 file transfers", how),
        *_cross("001", 7, simulated(20, FLOWS_OF_001), simulated(60, FLOWS_OF_001)),
        *_thresholds("001", 9, (40, 80), how),
        *_meanings(how.sent, in_000, in_001),
        *_extra_figures(),
        *_carriers(how),
    ]
