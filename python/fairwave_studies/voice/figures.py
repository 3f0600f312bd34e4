"""The figures of papers 000 and 001, and what lies beyond them: how the E-model rates the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.answers.labels import spelled
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import BEYOND, CALLS, FLOWS, FLOWS_OF_001
from fairwave_study.study import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.measuring.measures import Measure
    from fairwave_studies.voice.points import Sweep
    from fairwave_studies.voice.quantities import Sent, ShareDefinition
    from fairwave_study.readings import Reading

FLOWS_LABEL = "calls"
READING_TITLES = ["gap by number", "gap of arrivals", "one-way delay", "excess gap"]
READINGS_NOTE = (
    "In this order: gap to the packet numbered one less, as 001's Algorithm 1 is printed; gap to the "
    "arrival before; "
    "one-way delay; gap in excess of the sender's own."
)


def _by_flows(
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


def _five(paper: str, ftp: int, flows: Sequence[int], words: str, sent: Sent) -> list[Figure]:
    """The five metrics over the number of calls, Figures 2–6 of either paper."""
    return [
        _by_flows(paper, 2, f"Goodput of all calls, {words}", [q.GOODPUT], ftp, flows),
        _by_flows(paper, 3, f"Real-time performance index, {words}", _each(q.index, sent), ftp, flows, READINGS_NOTE,
                  READING_TITLES),
        _by_flows(paper, 4, f"Fairness among calls, {words}", [q.FAIRNESS], ftp, flows,
                  "Calls differ in how much they say, so that even an uncontended path stays below 1."),
        _by_flows(paper, 5, f"Delayed packets, {words}", _each(q.delayed, sent), ftp, flows, READINGS_NOTE,
                  READING_TITLES),
        _by_flows(paper, 6, f"Lost packets, {words}", [q.loss(sent)], ftp, flows,
                  "Over TCP what still waits at the sender in the end was sent by the application and not "
                  "received."),
    ]  # fmt: skip


def _each(family: Callable[[ShareDefinition], Measure], sent: Sent) -> list[Measure]:
    """A quantity by each meaning of *timely*."""
    return [family(q.ShareDefinition(timely, sent)) for timely in q.TIMELY.values()]


def _payloads(sent: Sent) -> list[Figure]:
    """Goodput and index by payload, one pair per transport: 000 Figures 7–14."""
    figures = []
    for place, transport in enumerate(("tcp/vegas", "tcp/westwood", "tcp/real", "udp")):
        fix = {"ftp": 20, "per": 0.01, "transport": transport}
        name = spelled(transport)
        pair = (
            (f"Goodput by payload, {name}", [q.GOODPUT], (), ""),
            (
                f"Real-time performance index by payload, {name}",
                _each(q.index, sent),
                READING_TITLES,
                READINGS_NOTE,
            ),
        )
        for offset, (title, measures, titles, caption) in enumerate(pair):
            number = 7 + 2 * place + offset
            figures.append(
                Figure(
                    id=f"000-{number}",
                    title=f"{title}, 20 file transfers",
                    grid=CALLS,
                    measures=measures,
                    x="flows",
                    series="payload",
                    x_label=FLOWS_LABEL,
                    fix=fix,
                    source=f"paper 000, Figure {number}",
                    caption=caption,
                    panel_titles=titles,
                )
            )
    return figures


def _cross(paper: str, first: int, light: Sequence[int], heavy: Sequence[int]) -> list[Figure]:
    return [
        _by_flows(paper, first, "Goodput of 20 file transfers", [q.FTP_GOODPUT], 20, light,
                  "What the calls leave to the transfers that share R2→R3 with them."),
        _by_flows(paper, first + 1, "Goodput of 60 file transfers", [q.FTP_GOODPUT], 60, heavy,
                  "What the calls leave to the transfers that share R2→R3 with them."),
    ]  # fmt: skip


def _errors(sent: Sent) -> list[Figure]:
    """Goodput and index over the packet error rate: 000 Figures 17–20."""
    figures = []
    for place, flows in enumerate((80, 120)):
        pair = (
            ("Goodput over packet errors", [q.GOODPUT], (), ""),
            (
                "Real-time performance index over packet errors",
                _each(q.index, sent),
                READING_TITLES,
                READINGS_NOTE,
            ),
        )
        for offset, (title, measures, titles, caption) in enumerate(pair):
            number = 17 + 2 * place + offset
            figures.append(
                Figure(
                    id=f"000-{number}",
                    title=f"{title}, {flows} calls, 20 file transfers",
                    grid=CALLS,
                    measures=measures,
                    x="per",
                    x_label="packet error rate",
                    fix={"ftp": 20, "payload": "160 B", "flows": flows},
                    source=f"paper 000, Figure {number}",
                    caption=caption,
                    panel_titles=titles,
                )
            )
    return figures


def _thresholds(paper: str, first: int, contention: Sequence[int], sent: Sent) -> list[Figure]:
    """Index and delayed share over the threshold of timeliness: 000 Figures 21–24, 001 Figures 9–12."""
    figures = []
    for place, flows in enumerate(contention):
        pair = (
            ("Real-time performance index by threshold", q.index_by_threshold),
            ("Delayed packets by threshold", q.delayed_by_threshold),
        )
        for offset, (title, family) in enumerate(pair):
            number = first + 2 * place + offset
            figures.append(
                Figure(
                    id=f"{paper}-{number}",
                    title=f"{title}, {flows} calls, 20 file transfers",
                    grid=CALLS,
                    measures=_each(family, sent),
                    x="threshold",
                    x_label="threshold (ms)",
                    fix={"ftp": 20, "payload": "160 B", "per": 0.01, "flows": flows},
                    source=f"paper {paper}, Figure {number}",
                    caption=READINGS_NOTE,
                    panel_titles=READING_TITLES,
                )
            )
    return figures


def _beyond() -> list[Figure]:
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
            caption="Each call's receiver plays out adaptively; what comes too late for that is lost. Mean over calls.",
        )
        for ftp, words in ((0, "no cross traffic"), (20, "20 file transfers"))
    ]


def _carriers(how: ShareDefinition) -> list[Figure]:
    """What the papers name and do not try: redundant speech, and a TCP-Real that gives up what is too old."""
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
                "'udp, redundant' repeats each packet's speech in the next one; 'tcp/real, partial' neither "
                "sends nor "
                "sends again what is older than 300 ms. Does it carry the call better?"
            ),
            panel_titles=["goodput", "real-time index, as the claims read it", "MOS (E-model)"],
        )
        for ftp, words in ((0, "no cross traffic"), (20, "20 file transfers"))
    ]


def figures(reading: Reading, sweeps: Mapping[str, Sweep]) -> list[Figure]:
    """All figures, in the order of the papers, as far as these sweeps have their numbers of calls."""
    how = q.ways(reading)
    sent = how.sent

    def simulated(ftp: int, wanted: Sequence[int]) -> list[int]:
        known = {flows for one in sweeps.values() if ftp in one["ftp"] for flows in one["flows"]}
        return [flows for flows in wanted if flows in known]

    in_000, in_001 = simulated(0, FLOWS), simulated(10, FLOWS_OF_001)
    return [
        *_five("000", 0, in_000, "no cross traffic", sent),
        *_payloads(sent),
        *_cross("000", 15, simulated(20, FLOWS), simulated(60, FLOWS)),
        *_errors(sent),
        *_thresholds("000", 21, (80, 120), sent),
        *_five("001", 10, in_001, "10 file transfers", sent),
        *_cross("001", 7, simulated(20, FLOWS_OF_001), simulated(60, FLOWS_OF_001)),
        *_thresholds("001", 9, (40, 80), sent),
        *_beyond(),
        *_carriers(how),
    ]
