"""Why claims come out as they do: the numbers behind a verdict, the mechanism, and the factor on which it hangs.

All numbers in these words are computed from the runs of the study that they stand in. What hangs on a reading is said
with the command that shows it. With fewer points than the papers' some numbers do not exist.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.labels import spelled
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import CALLS, TCPS
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.study import Data

UDP, VEGAS, WESTWOOD, REAL = "udp", *TCPS
ALL = (UDP, *TCPS)
PRINTED = q.ShareDefinition()
BY_DELAY = q.ShareDefinition("delay")


def mean(data: Data, measure: Measure, transport: str, flows: int, ftp: int = 0, **labels: Any) -> float:
    """The mean over replications at one point; not a number where it was not simulated or is not defined."""
    point = {"payload": "160 B", "per": 0.01, "flows": flows, "ftp": ftp, "transport": transport, **labels}
    try:
        samples = data.measured(measure, CALLS).samples(**point)
    except ValueError:
        return float("nan")
    defined = samples[~np.isnan(samples)]
    return float(np.mean(defined)) if len(defined) else float("nan")


def _said(values: Iterable[tuple[str, float]], digits: str) -> str:
    return ", ".join(f"{spelled(name)} {value:{digits}}" for name, value in values)


def _under(**reading: str) -> str:
    """The command that makes the study under another reading."""
    return f"`fairwave study voice --reading FILE`, FILE holding `{json.dumps(reading, ensure_ascii=False)}`"


class _Numbers:
    """Means of one measure in words: "UDP 1.97, Vegas 1.52, …"."""

    def __init__(self, data: Data, measure: Measure, digits: str, transports: Iterable[str] = ALL) -> None:
        self._data, self._measure, self._digits, self._transports = data, measure, digits, tuple(transports)

    def __call__(self, flows: int, ftp: int = 0, **labels: Any) -> str:
        values = [
            (one, mean(self._data, self._measure, one, flows, ftp, **labels)) for one in self._transports
        ]
        return _said(values, self._digits)


def _v1(data: Data) -> str:
    fine, coarse = _Numbers(data, q.GOODPUT, ".3f"), _Numbers(data, q.GOODPUT, ".2f")
    return (
        "Where nothing is scarce every TCP repairs what the last hop loses and UDP does not "
        f"(20 calls: {fine(20)} Mb/s). With 120 calls ({coarse(120)} Mb/s) UDP does not back off, and it "
        "carries no "
        f"headers where TCP's segments do; with headers for all: {_under(headers='40 bytes for all')}."
    )


def _v2(data: Data) -> str:
    goodput = _Numbers(data, q.GOODPUT, ".2f")
    return (
        f"Alone at R1→R2, 120 calls: {goodput(120)} Mb/s. Beside 10 file transfers, 60 calls: "
        f"{goodput(60, 10)}; "
        f"80 calls: {goodput(80, 10)} Mb/s. Where buffers count packets, a packet of speech takes as much "
        "room as one of "
        "a transfer, and at R2→R3 the transfers' bursts decide; with buffers that count bytes: "
        f"{_under(buffers='50 kB')}."
    )


def _v3(data: Data) -> str:
    loss = _Numbers(data, q.loss(), ".0f", TCPS)
    return (
        "What is lost over TCP is what still waits in the senders when the run ends, so that the transport "
        "with the "
        f"least goodput loses most: alone, 120 calls: {loss(120)} %; beside 10 transfers, 60 calls: "
        f"{loss(60, 10)} %."
    )


def _v4(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    age = _said([(one, mean(data, q.DELAY, one, 120) / 1e3) for one in ALL], ".1f")
    return (
        f"With 80 calls {index(80)}; with 120 calls {index(120)}. The index counts what the application "
        "sent. A TCP that "
        "backs off keeps speech in its own buffer, where it is lost to the listener. By Algorithm 1 a "
        "packet in time is "
        f"one that follows the one before it soon, however old: with 120 calls packets are {age} s old on "
        "the mean. Over "
        "UDP each loss makes the next packet late, too. An index over what was put on the wire: "
        f"{_under(sent='by the transport')}."
    )


def _v5(data: Data) -> str:
    late = [mean(data, q.delayed(PRINTED), UDP, flows) for flows in (40, 80, 120)]
    lost = [mean(data, q.loss(), UDP, flows) for flows in (40, 80, 120)]
    slow = [mean(data, q.DELAY_P95, UDP, 120, ftp) for ftp in (0, 20)]
    return (
        f"By Algorithm 1 to the letter {late[0]:.1f}, {late[1]:.1f} and {late[2]:.1f} % of UDP's packets "
        "are late with 40, "
        "80 and 120 calls: the first after each silence, and the first after each run of losses "
        f"({lost[0]:.1f}, {lost[1]:.1f} and {lost[2]:.1f} % are lost). The papers blame queueing, but the "
        "95th percentile "
        f"of the delay is {slow[0]:.0f} ms alone and {slow[1]:.0f} ms beside 20 transfers with 120 calls. A "
        "buffer that "
        f"takes 300 ms to drain: {_under(buffers='75 kB', timely='one-way delay')}."
    )


def _v6(data: Data) -> str:
    fine, fairness = _Numbers(data, q.FAIRNESS, ".4f"), _Numbers(data, q.FAIRNESS, ".3f")
    return (
        "Until the path is full everybody gets what they say, and all four are equal (20 calls: "
        f"{fine(20)}). Under "
        f"contention: 80 calls {fairness(80)}; 120 calls {fairness(120)}; beside 10 transfers, 80 calls "
        f"{fairness(80, 10)}."
    )


def _v7(data: Data) -> str:
    fairness = _Numbers(data, q.FAIRNESS, ".3f", TCPS)
    return f"80 calls: {fairness(80)}; 120 calls: {fairness(120)}."


def _v8(data: Data) -> str:
    coarse, fine = _Numbers(data, q.loss(), ".0f"), _Numbers(data, q.loss(), ".2f")
    return (
        f"120 calls: {coarse(120)} %. With few calls UDP loses what the last hop loses, which the TCPs "
        "repair "
        f"(20 calls: {fine(20)} %)."
    )


def _gain(data: Data, transport: str) -> float:
    """By how much longer payloads raise the goodput with 80 calls, in %."""
    short, long = (
        mean(data, q.GOODPUT, transport, 80, 20, payload=payload) for payload in ("160 B", "500 B")
    )
    return 100 * (long / short - 1)


def _v9(data: Data) -> str:
    gains = _said([(one, _gain(data, one)) for one in ALL], "+.0f")
    return (
        f"With 80 calls, in %: {gains}. Headers weigh less in longer packets, a window of as many packets "
        "carries three "
        "times the speech, and buffers that count packets hold three times as much. That Vegas measures "
        "better with "
        "small segments, as the paper has it, does not outweigh this."
    )


def _v10(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    return (
        f"With 80 calls: 160 bytes {index(80, 20)}; 500 bytes {index(80, 20, payload='500 B')}. Over TCP "
        "more speech "
        "gets through (V9), and the index rises with it. A packet error costs more speech when the packet "
        "is longer, "
        "as the paper argues, but no larger share of the packets, and the index counts packets. With errors "
        "that strike "
        f"bytes: {_under(errors='per byte')}."
    )


def _v11(data: Data) -> str:
    left = _Numbers(data, q.FTP_GOODPUT, ".2f")
    return (
        f"With 20 transfers they keep {left(80, 20)} Mb/s beside 80 calls, {left(120, 20)} beside 120: "
        "whatever fills "
        "R1→R2, headers included, brings the same load to R2→R3. With 60 transfers: "
        f"{left(80, 60)}; {left(120, 60)} Mb/s."
    )


def _falls(data: Data, flows: int) -> str:
    def fall(transport: str) -> float:
        none, most = (mean(data, q.GOODPUT, transport, flows, 20, per=per) for per in (0.0, 0.05))
        return 100 * (1 - most / none)

    return _said([(one, fall(one)) for one in ALL], ".0f")


def _v12(data: Data) -> str:
    return (
        f"From no errors to 0.05 goodput falls with 80 calls by {_falls(data, 80)} %, with 120 by "
        f"{_falls(data, 120)} "
        "%. With more calls a window that errors keep small matters less, for the path is full anyway."
    )


def _v13(data: Data) -> str:
    timers = _Numbers(data, q.TIMEOUTS, ".0f", TCPS)
    return (
        f"From no errors to 0.05 goodput falls with 80 calls by {_falls(data, 80)} %, with 120 by "
        f"{_falls(data, 120)} "
        "%. A window that is kept does not help a sender that must wait for its timer: with errors of 0.05 "
        "and 80 calls "
        f"timers repair, in %, {timers(80, 20, per=0.05)} of the losses, since windows are too small for "
        "three duplicate "
        "acknowledgements."
    )


def _v14(data: Data) -> str:
    late = _Numbers(data, q.index(BY_DELAY), ".2f")
    return (
        f"Goodput falls with 80 calls by {_falls(data, 80)} %, that of UDP by the errors themselves. By "
        "one-way delay "
        f"the index with 80 calls is {late(80, 20)}: what is nearly nothing cannot be sensitive."
    )


def _v15(data: Data) -> str:
    index = _Numbers(data, q.index_by_threshold(PRINTED), ".2f")
    return (
        f"As printed, with 80 calls: {index(80, 20, threshold=100.0)} at 100 ms, "
        f"{index(80, 20, threshold=400.0)} at 400. The gaps in question are those of a retransmission "
        "timeout "
        "and of a window that waits for its acknowledgement."
    )


def _v16(data: Data) -> str:
    gains = _said([(one, _gain(data, one)) for one in ALL], "+.0f")
    return (
        f"With 80 calls longer payloads raise goodput, in %, by: {gains}. Whoever has least with short "
        "packets has most "
        "to gain."
    )


def _v17(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f", TCPS)
    return (
        f"At an error rate of 0.05: 80 calls {index(80, 20, per=0.05)}; 120 calls {index(120, 20, per=0.05)}."
    )


def _v18(data: Data) -> str:
    values = ", ".join(
        f"{flows} calls {mean(data, q.index(PRINTED), UDP, flows):.2f}" for flows in (10, 40, 80, 120)
    )
    return f"UDP's index, calls alone: {values}."


def _v19(data: Data) -> str:
    fairness = _Numbers(data, q.FAIRNESS, ".3f")
    return f"Beside 10 transfers: 60 calls {fairness(60, 10)}; 80 calls {fairness(80, 10)}."


def _v20(data: Data) -> str:
    loss = _Numbers(data, q.loss(), ".1f")
    return f"Beside 10 transfers: 40 calls {loss(40, 10)} %; 80 calls {loss(80, 10)} %."


NOTES: tuple[Callable[[Data], str], ...] = (
    _v1, _v2, _v3, _v4, _v5, _v6, _v7, _v8, _v9, _v10, _v11, _v12, _v13, _v14, _v15, _v16, _v17, _v18, _v19, _v20,
)  # fmt: skip

EXPLANATIONS: Mapping[str, Mapping[Verdict, Callable[[Data], str]]] = {
    f"V{number}": dict.fromkeys(Verdict, note) for number, note in enumerate(NOTES, 1)
}
"""By claim. The notes speak of numbers, not of the verdict, and stand whatever it is."""
