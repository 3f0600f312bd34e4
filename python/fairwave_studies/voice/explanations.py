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
        "times the speech, and buffers that count packets hold three times as much."
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


def _v21(data: Data) -> str:
    goodput = _Numbers(data, q.GOODPUT, ".2f")
    return (
        f"Alone: 40 calls {goodput(40)}; 120 calls {goodput(120)} Mb/s. Beside 10 transfers: 40 "
        f"calls {goodput(40, 10)}; 80 calls {goodput(80, 10)} Mb/s."
    )


def _v22(data: Data) -> str:
    goodput, drops = _Numbers(data, q.GOODPUT, ".2f", TCPS), _Numbers(data, q.FIRST_DROPS, ".0f", TCPS)
    return (
        f"Alone, 80 calls: {goodput(80)} Mb/s; R1 drops {drops(80)} %. In ns-2 Vegas's segments carry no header and "
        f"Real's 40 bytes; without headers for anyone: {_under(headers='none')}."
    )


def _v23(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    return (
        f"Beside 10 transfers: 40 calls {index(40, 10)}; 80 calls {index(80, 10)}. What a TCP that gives way to "
        "transfers does not send is lost to the listener."
    )


def _v24(data: Data) -> str:
    values = ", ".join(
        f"{flows} calls {mean(data, q.index(PRINTED), UDP, flows, 10):.2f}" for flows in (10, 40, 60, 80)
    )
    return f"UDP's index beside 10 transfers: {values}."


def _v25(data: Data) -> str:
    late, lost = _Numbers(data, q.delayed(PRINTED), ".1f", TCPS), _Numbers(data, q.loss(), ".0f", TCPS)
    return (
        f"Late, alone with 120 calls: {late(120)} %; beside 10 transfers with 80: {late(80, 10)} %. By Algorithm 1 "
        f"only a packet that comes can come late, and of Westwood's most never leave the sender (lost, alone with "
        f"120 calls: {lost(120)} %)."
    )


def _v26(data: Data) -> str:
    wait, drops = _Numbers(data, q.FIRST_WAIT, ".0f"), _Numbers(data, q.FIRST_DROPS, ".0f")
    return (
        f"With 120 calls packets wait {wait(120)} ms at R1 and {drops(120)} % are dropped. A buffer of 50 packets "
        "is full under every transport; its packets take longer to send where they carry headers."
    )


def _index_gains(data: Data) -> str:
    def gain(transport: str) -> float:
        short, long = (
            mean(data, q.index(PRINTED), transport, 80, 20, payload=payload) for payload in ("160 B", "500 B")
        )
        return long - short

    return _said([(one, gain(one)) for one in ALL], "+.2f")


def _v27(data: Data) -> str:
    return f"With 80 calls the index changes from 160 to 500 bytes by: {_index_gains(data)}."


def _v28(data: Data) -> str:
    gains = _said([(one, _gain(data, one)) for one in (REAL, UDP)], "+.0f")
    return (
        f"With 80 calls, in %: {gains}. R2's buffer counts packets, so that longer ones carry more past it; with "
        f"buffers in bytes and more room at R2: {_under(buffers='50 kB', **{'shared-bottleneck': '6 Mb/s'})}."
    )


def _v29(data: Data) -> str:
    def fall(transport: str, payload: str) -> float:
        none, some = (
            mean(data, q.index(PRINTED), transport, 80, 20, payload=payload, per=per) for per in (0.0, 0.01)
        )
        return none - some

    short, long = (_said([(one, fall(one, payload)) for one in ALL], ".3f") for payload in ("160 B", "500 B"))
    return (
        f"From no errors to 0.01 the index falls with 160 bytes by {short}; with 500 by {long}. A packet error rate "
        f"strikes packets of any length alike; with errors that strike bytes: {_under(errors='per byte')}."
    )


def _v30(data: Data) -> str:
    return (
        f"With 80 calls the index changes from 160 to 500 bytes by: {_index_gains(data)}. Where R2's buffer counts "
        "packets, longer ones raise it."
    )


def _v31(data: Data) -> str:
    def each(ftp: int) -> str:
        values = []
        for one in TCPS:
            theirs, calls = mean(data, q.FTP_GOODPUT, one, 120, ftp), mean(data, q.GOODPUT, one, 120, ftp)
            values.append(f"{spelled(one)} {1e3 * theirs / ftp:.0f} and {1e3 * calls / 120:.0f}")
        return ", ".join(values)

    return (
        f"A transfer's and a call's kb/s beside 120 calls: with 20 transfers {each(20)}; with 60 {each(60)}."
    )


def _v32(data: Data) -> str:
    return (
        f"From no errors to 0.05 goodput falls with 80 calls by {_falls(data, 80)} %, with 120 by "
        f"{_falls(data, 120)} %."
    )


def _v33(data: Data) -> str:
    index = ", ".join(
        f"{flows} calls {mean(data, q.index(PRINTED), UDP, flows, 20, per=0.0):.2f} to "
        f"{mean(data, q.index(PRINTED), UDP, flows, 20, per=0.05):.2f}"
        for flows in (80, 120)
    )
    return (
        f"Goodput falls with 80 calls by {_falls(data, 80)} %. UDP's index from no errors to 0.05: {index}. By "
        f"Algorithm 1 to the letter each lost packet makes the next one late; by arrivals: "
        f"{_under(timely='gap to the arrival before')}."
    )


def _v34(data: Data) -> str:
    late = _Numbers(data, q.delayed_by_threshold(PRINTED), ".1f", TCPS)
    return f"With 80 calls: {late(80, 20, threshold=100.0)} % at 100 ms, {late(80, 20, threshold=200.0)} % at 200."


def _v35(data: Data) -> str:
    index = _Numbers(data, q.index_by_threshold(PRINTED), ".2f", (VEGAS, REAL))
    return (
        f"With 80 calls {index(80, 20, threshold=100.0)} at 100 ms, {index(80, 20, threshold=200.0)} at 200; with 40 "
        f"{index(40, 20, threshold=100.0)} and {index(40, 20, threshold=200.0)}. Beside 20 transfers most of the "
        "speech waits in the sender, whatever the threshold."
    )


def _v36(data: Data) -> str:
    values = ", ".join(f"{flows} calls {mean(data, q.loss(), UDP, flows):.0f} %" for flows in (40, 80, 120))
    return f"UDP loses, alone: {values}."


def _v37(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    return f"Alone: 80 calls {index(80)}; 120 calls {index(120)}. Beside 10 transfers, 80 calls: {index(80, 10)}."


def _v38(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".3f")
    return f"Alone: 40 calls {index(40)}; 120 calls {index(120)}."


def _distance(data: Data, flows: int) -> float:
    """How far UDP's goodput lies from its mean over runs, in % of it."""
    point = {"payload": "160 B", "per": 0.01, "flows": flows, "ftp": 0, "transport": UDP}
    try:
        samples = data.measured(q.GOODPUT, CALLS).samples(**point)
    except ValueError:
        return float("nan")
    return float(100 * np.mean(np.abs(samples - samples.mean())) / samples.mean())


def _v39(data: Data) -> str:
    far = ", ".join(f"{flows} calls {_distance(data, flows):.1f} %" for flows in (10, 40, 80, 120))
    return (
        f"From their mean runs lie, by UDP's goodput alone: {far}. Talkspurts with a shape of 1.5 have no "
        "variance, so that few calls say more in one minute than in another; where the path is full it is as full in "
        "every run."
    )


NOTES: tuple[Callable[[Data], str], ...] = (
    _v1, _v2, _v3, _v4, _v5, _v6, _v7, _v8, _v9, _v10, _v11, _v12, _v13, _v14, _v15, _v16, _v17, _v18, _v19, _v20, _v21,
    _v22, _v23, _v24, _v25, _v26, _v27, _v28, _v29, _v30, _v31, _v32, _v33, _v34, _v35, _v36, _v37, _v38, _v39,
)  # fmt: skip

SAME = {
    "V3": "V2", "V10": "V9", "V21": "V2", "V22": "V4", "V23": "V4", "V27": "V9", "V28": "V9", "V30": "V9", "V33": "V14",
}  # fmt: skip
"""Claims that come out as they do by the mechanism of another, whose experiment shows it."""


def _told(name: str, note: Callable[[Data], str]) -> Callable[[Data], str]:
    """The note, and whose experiment shows the mechanism."""
    if name not in SAME:
        return note
    return lambda data: f"{note(data)} The mechanism is that of {SAME[name]}, which an experiment shows."


EXPLANATIONS: Mapping[str, Mapping[Verdict, Callable[[Data], str]]] = {
    f"V{number}": dict.fromkeys(Verdict, _told(f"V{number}", note)) for number, note in enumerate(NOTES, 1)
}
"""By claim. The notes speak of numbers, not of the verdict, and stand whatever it is."""
