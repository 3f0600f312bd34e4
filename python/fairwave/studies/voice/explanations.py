"""Why claims come out as they do: the numbers behind a verdict, the mechanism, and the assumption on which it hangs.

The numbers in these words are computed from the runs; what they mean was found by looking at them and at the
sensitivity tables. With fewer points than the papers' (sensitivity tables, tests) some numbers do not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.report import style
from fairwave.studies.voice import quantities as q
from fairwave.studies.voice.points import CALLS, TCPS
from fairwave.study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

UDP, VEGAS, WESTWOOD, REAL = "udp", *TCPS
ALL = (UDP, *TCPS)


def mean(data: Data, measure: Measure, transport: str, flows: int, ftp: int = 0, **labels: Any) -> float:
    """The mean over replications at one point; not a number where it was not simulated."""
    point = {"payload": "160 B", "per": 0.01, "flows": flows, "ftp": ftp, "transport": transport, **labels}
    try:
        samples = data.measured(measure, CALLS).samples(**point)
    except ValueError:
        return float("nan")
    return float(np.nanmean(samples)) if len(samples) else float("nan")


def _said(values: Iterable[tuple[str, float]], digits: str) -> str:
    return ", ".join(f"{style.title(name)} {value:{digits}}" for name, value in values)


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
        "Where nothing is scarce every TCP repairs the 1 % that the last hop loses and UDP does not, which is just "
        f"what 'at least' forgives (20 calls: {fine(20)} Mb/s). Where R1→R2 is full UDP has far more than any TCP "
        f"(120 calls: {coarse(120)} Mb/s): it does not back off, and here it carries no headers. So the claim holds "
        "under contention, which is where the papers look."
    )


def _v2(data: Data) -> str:
    goodput = _Numbers(data, q.GOODPUT, ".2f")
    return (
        f"Alone at R1→R2 Westwood is lowest (120 calls: {goodput(120)} Mb/s). Beside 10 file transfers TCP-Real is "
        f"(60 calls: {goodput(60, 10)}; 80 calls: {goodput(80, 10)} Mb/s): its window falls by an eighth whenever a "
        "wave comes in more slowly than the one before, and at R2→R3 the transfers' bursts see to that. When drops "
        "up to 1/2 count as small (sensitivity table *one-by-one*) it yields less."
    )


def _v3(data: Data) -> str:
    loss = _Numbers(data, q.LOSS, ".0f", TCPS)
    return (
        "What is lost over TCP is what still waits in the senders when the run ends, so that the transport with the "
        f"least goodput loses most: Westwood alone at R1→R2 (120 calls: {loss(120)} %), TCP-Real beside 10 file "
        f"transfers (60 calls: {loss(60, 10)} %)."
    )


def _v4(data: Data) -> str:
    def of_received(transport: str) -> float:
        delayed, lost = (mean(data, one, transport, 120) for one in (q.DELAYED[q.PRINTED], q.LOSS))
        return 100 * (1 - delayed / (100 - lost))

    index = _Numbers(data, q.INDEX[q.PRINTED], ".2f")
    age = _said([(one, mean(data, q.DELAY, one, 120) / 1e3) for one in ALL], ".1f")
    arrived = _said([(one, of_received(one)) for one in ALL], ".0f")
    return (
        "The index counts what the application sent. A TCP that backs off keeps speech in its own buffer, where it "
        f"is lost to the listener, so that goodput decides: with 120 calls {index(120)}. Of the packets that arrive "
        f"nearly all are timely as printed ({arrived} %): lateness cannot outweigh loss. By one-way delay TCP is "
        f"worse still, for packets are {age} s old on the mean. The claim would need senders that discard what "
        "they cannot send, or an index over the packets that were put on the wire."
    )


def _v5(data: Data) -> str:
    late = [mean(data, q.DELAYED[q.PRINTED], UDP, flows) for flows in (40, 120)]
    slow = [mean(data, q.DELAY_P95, UDP, 120, ftp) for ftp in (0, 20)]
    return (
        "As printed the only late packets of UDP are the first after each silence "
        f"({late[0]:.1f} % with 40 calls, {late[1]:.1f} % with 120): in a full queue packets wait long but evenly, so "
        "that the gaps between them do not grow. By one-way delay nothing exceeds 300 ms either, for 50 packets of "
        "speech drain from R1→R2 in 32 ms and 50 of the transfers' from R2→R3 in 139 ms (95th percentile with 120 "
        f"calls: {slow[0]:.0f} ms alone, {slow[1]:.0f} ms beside 20 transfers). The papers blame queueing; for 300 ms "
        "of it buffers must hold several bandwidth-delay products, as the sensitivity table of paths shows."
    )


def _v6(data: Data) -> str:
    fine, fairness = _Numbers(data, q.FAIRNESS, ".4f"), _Numbers(data, q.FAIRNESS, ".3f")
    return (
        f"Until the path is full everybody gets what they say, and all four are equal (20 calls: {fine(20)}); none "
        f"is then strictly the fairest. Of the TCPs TCP-Real is the fairest under contention (80 calls: "
        f"{fairness(80)}; 120 calls: {fairness(120)}). With 120 calls UDP, whose losses strike all alike, is fairer."
    )


def _v7(data: Data) -> str:
    fairness = _Numbers(data, q.FAIRNESS, ".3f", TCPS)
    return f"80 calls: {fairness(80)}; 120 calls: {fairness(120)}. It is no weakness of Vegas alone."


def _v8(data: Data) -> str:
    coarse, fine = _Numbers(data, q.LOSS, ".0f"), _Numbers(data, q.LOSS, ".2f")
    return (
        f"UDP loses least under contention (120 calls: {coarse(120)} %). With few calls it loses what the last hop "
        f"loses, 1 %, which the TCPs repair (20 calls: {fine(20)} %). The papers say that UDP's loss is not "
        "excessive, and so it is; 'no higher' it is not."
    )


def _v9(data: Data) -> str:
    def gain(transport: str) -> float:
        short, long = (
            mean(data, q.GOODPUT, transport, 80, 20, payload=payload) for payload in ("160 B", "500 B")
        )
        return 100 * (long / short - 1)

    gains = _said([(one, gain(one)) for one in ALL], "+.0f")
    return (
        f"With 80 calls, in %: {gains}. Vegas gains as the other TCPs do: 40 bytes of header are a fifth of a packet "
        "with 160 bytes of speech and a fourteenth of one with 500, a window of as many packets carries three times "
        "the speech, and buffers that count packets hold three times as much. That Vegas measures better with small "
        "segments, as the paper has it, does not outweigh this."
    )


def _v10(data: Data) -> str:
    index = _Numbers(data, q.INDEX[q.PRINTED], ".2f")
    return (
        f"With 80 calls: 160 bytes {index(80, 20)}; 500 bytes {index(80, 20, payload='500 B')}. Over TCP more speech "
        "gets through (V9), and the index rises with it. A packet error costs more speech when the packet is longer, "
        "as the paper argues, but no larger share of the packets, and the index counts packets."
    )


def _v11(data: Data) -> str:
    left = _Numbers(data, q.FTP_GOODPUT, ".2f")
    return (
        f"With 20 transfers and 120 calls all leave much the same ({left(120, 20)} Mb/s): whatever fills R1→R2, "
        "headers included, brings the same load to R2→R3. Before that TCP-Real yields most "
        f"(80 calls: {left(80, 20)} Mb/s). With 60 transfers UDP leaves least by far, and Westwood, not TCP-Real, "
        f"most (80 calls: {left(80, 60)}; 120 calls: {left(120, 60)} Mb/s)."
    )


def _falls(data: Data, flows: int) -> str:
    def fall(transport: str) -> float:
        none, most = (mean(data, q.GOODPUT, transport, flows, 20, per=per) for per in (0.0, 0.05))
        return 100 * (1 - most / none)

    return _said([(one, fall(one)) for one in ALL], ".0f")


def _v12(data: Data) -> str:
    return (
        f"From no errors to 0.05 goodput falls with 80 calls by {_falls(data, 80)} %, with 120 by {_falls(data, 120)} "
        "%. With 120 calls a window that errors keep small matters less, for the path is full anyway. By one-way "
        "delay the index over TCP is nearly 0 at every error rate and has no room to fall."
    )


def _v13(data: Data) -> str:
    timers = _Numbers(data, q.TIMEOUTS, ".0f", TCPS)
    return (
        f"From no errors to 0.05 goodput falls with 80 calls by {_falls(data, 80)} %, with 120 by {_falls(data, 120)} "
        "%. TCP-Real suffers though it tells random loss from congestion. A window that is kept does not help a sender "
        "that must wait for its timer: with errors of 0.05 and 80 calls timers repair, in %, "
        f"{timers(80, 20, per=0.05)} of the losses, since windows are too small for three duplicate acknowledgements."
    )


def _v14(data: Data) -> str:
    return (
        f"Goodput falls with 80 calls by {_falls(data, 80)} %, that of UDP by the errors themselves. By one-way delay "
        "the index over TCP is nearly 0 with and without errors; what is nothing cannot be sensitive, and the claim "
        "turns into its contrary."
    )


def _v15(data: Data) -> str:
    index = _Numbers(data, q.INDEX_BY_THRESHOLD[q.PRINTED], ".2f")
    return (
        f"As printed, with 80 calls: {index(80, 20, threshold=100.0)} at 100 ms, "
        f"{index(80, 20, threshold=400.0)} at 400. The gaps in question are those of a retransmission timeout, 200 ms "
        "at least, and of a window that waits for its acknowledgement. By one-way delay it is UDP that gains, from "
        "100 to 150 ms, where its queues drain; over TCP packets are seconds old."
    )


NOTES: tuple[Callable[[Data], str], ...] = (
    _v1, _v2, _v3, _v4, _v5, _v6, _v7, _v8, _v9, _v10, _v11, _v12, _v13, _v14, _v15,
)  # fmt: skip

EXPLANATIONS: Mapping[str, Mapping[Verdict, Callable[[Data], str]]] = {
    f"V{number}": dict.fromkeys(Verdict, note) for number, note in enumerate(NOTES, 1)
}
"""By claim. The notes speak of numbers, not of the verdict, and stand whatever it is."""
