"""Why claims come out as they do: the numbers behind a verdict, the mechanism, and the factor on which it hangs.

All numbers in these texts are computed from the study's runs. If a reading decides a claim, the text has the command
that shows it. With fewer points than the papers' some numbers do not exist.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.labels import spelled
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import CALLS, TCPS
from fairwave_study import texts
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

WORDS = texts.notes(__file__)
"""The sentences, in `explanations.toml`, with a name for each number in them."""

UDP, VEGAS, WESTWOOD, REAL = "udp", *TCPS
ALL = (UDP, *TCPS)
PRINTED = q.ShareDefinition()
BY_DELAY = q.ShareDefinition("delay")


def mean(data: Data, measure: Measure, transport: str, flows: int, ftp: int = 0, **labels: Any) -> float:
    """The mean over replications at one point; NaN if it was not simulated or is undefined."""
    point = {"payload": "160 B", "per": 0.01, "flows": flows, "ftp": ftp, "transport": transport, **labels}
    try:
        samples = data.measured(measure, CALLS).samples(**point)
    except ValueError:
        return float("nan")
    defined = samples[~np.isnan(samples)]
    return float(np.mean(defined)) if len(defined) else float("nan")


def _list_values(values: Iterable[tuple[str, float]], digits: str) -> str:
    return ", ".join(f"{spelled(name)} {value:{digits}}" for name, value in values)


def _command_for(**reading: str) -> str:
    """The command that makes the study under another reading."""
    return WORDS.fill("under", reading=json.dumps(reading, ensure_ascii=False))


class _Numbers:
    """Means of one measure in words: "UDP 1.97, Vegas 1.52, …"."""

    def __init__(self, data: Data, measure: Measure, digits: str, transports: Iterable[str] = ALL) -> None:
        self._data, self._measure, self._digits, self._transports = data, measure, digits, tuple(transports)

    def __call__(self, flows: int, ftp: int = 0, **labels: Any) -> str:
        values = [
            (one, mean(self._data, self._measure, one, flows, ftp, **labels)) for one in self._transports
        ]
        return _list_values(values, self._digits)


def _v1(data: Data) -> str:
    fine, coarse = _Numbers(data, q.GOODPUT, ".3f"), _Numbers(data, q.GOODPUT, ".2f")
    return WORDS.fill(
        "v1",
        fine_20=fine(20),
        coarse_120=coarse(120),
        under_40_bytes_for_all=_command_for(headers="40 bytes for all"),
    )


def _v2(data: Data) -> str:
    goodput = _Numbers(data, q.GOODPUT, ".2f")
    return WORDS.fill(
        "v2",
        goodput_120=goodput(120),
        goodput_60_10=goodput(60, 10),
        goodput_80_10=goodput(80, 10),
        under_50_kb=_command_for(buffers="50 kB"),
    )


def _v3(data: Data) -> str:
    loss = _Numbers(data, q.loss(), ".0f", TCPS)
    return WORDS.fill("v3", loss_120=loss(120), loss_60_10=loss(60, 10))


def _v4(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    age = _list_values([(one, mean(data, q.DELAY, one, 120) / 1e3) for one in ALL], ".1f")
    return WORDS.fill(
        "v4",
        index_80=index(80),
        index_120=index(120),
        age=age,
        under_by_the_transport=_command_for(sent="by the transport"),
    )


def _v5(data: Data) -> str:
    late = [mean(data, q.delayed(PRINTED), UDP, flows) for flows in (40, 80, 120)]
    lost = [mean(data, q.loss(), UDP, flows) for flows in (40, 80, 120)]
    slow = [mean(data, q.DELAY_P95, UDP, 120, ftp) for ftp in (0, 20)]
    return WORDS.fill(
        "v5",
        late_0=late[0],
        late_1=late[1],
        late_2=late[2],
        lost_0=lost[0],
        lost_1=lost[1],
        lost_2=lost[2],
        slow_0=slow[0],
        slow_1=slow[1],
        under_75_kb=_command_for(buffers="75 kB", timely="one-way delay"),
    )


def _v6(data: Data) -> str:
    fine, fairness = _Numbers(data, q.FAIRNESS, ".4f"), _Numbers(data, q.FAIRNESS, ".3f")
    return WORDS.fill(
        "v6",
        fine_20=fine(20),
        fairness_80=fairness(80),
        fairness_120=fairness(120),
        fairness_80_10=fairness(80, 10),
    )


def _v7(data: Data) -> str:
    fairness = _Numbers(data, q.FAIRNESS, ".3f", TCPS)
    return f"80 calls: {fairness(80)}; 120 calls: {fairness(120)}."


def _v8(data: Data) -> str:
    coarse, fine = _Numbers(data, q.loss(), ".0f"), _Numbers(data, q.loss(), ".2f")
    return WORDS.fill("v8", coarse_120=coarse(120), fine_20=fine(20))


def _gain(data: Data, transport: str) -> float:
    """By how much longer payloads raise the goodput with 80 calls, in %."""
    short, long = (
        mean(data, q.GOODPUT, transport, 80, 20, payload=payload) for payload in ("160 B", "500 B")
    )
    return 100 * (long / short - 1)


def _v9(data: Data) -> str:
    gains = _list_values([(one, _gain(data, one)) for one in ALL], "+.0f")
    return WORDS.fill("v9", gains=gains)


def _v10(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    return WORDS.fill(
        "v10",
        index_80_20=index(80, 20),
        index_80_20_500_b=index(80, 20, payload="500 B"),
        under_per_byte=_command_for(errors="per byte"),
    )


def _v11(data: Data) -> str:
    left = _Numbers(data, q.FTP_GOODPUT, ".2f")
    return WORDS.fill(
        "v11",
        left_80_20=left(80, 20),
        left_120_20=left(120, 20),
        left_80_60=left(80, 60),
        left_120_60=left(120, 60),
    )


def _falls(data: Data, flows: int) -> str:
    def fall(transport: str) -> float:
        none, most = (mean(data, q.GOODPUT, transport, flows, 20, per=per) for per in (0.0, 0.05))
        return 100 * (1 - most / none)

    return _list_values([(one, fall(one)) for one in ALL], ".0f")


def _v12(data: Data) -> str:
    return WORDS.fill("v12", falls_80=_falls(data, 80), falls_120=_falls(data, 120))


def _v13(data: Data) -> str:
    timers = _Numbers(data, q.TIMEOUTS, ".0f", TCPS)
    return WORDS.fill(
        "v13",
        falls_80=_falls(data, 80),
        falls_120=_falls(data, 120),
        timers=timers(80, 20, per=0.05),
    )


def _v14(data: Data) -> str:
    late = _Numbers(data, q.index(BY_DELAY), ".2f")
    return WORDS.fill("v14", falls_80=_falls(data, 80), late_80_20=late(80, 20))


def _v15(data: Data) -> str:
    index = _Numbers(data, q.index_by_threshold(PRINTED), ".2f")
    return WORDS.fill(
        "v15", index_80_20_100=index(80, 20, threshold=100.0), index_80_20_400=index(80, 20, threshold=400.0)
    )


def _v16(data: Data) -> str:
    gains = _list_values([(one, _gain(data, one)) for one in ALL], "+.0f")
    return WORDS.fill("v16", gains=gains)


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
    return WORDS.fill(
        "v21",
        goodput_40=goodput(40),
        goodput_120=goodput(120),
        goodput_40_10=goodput(40, 10),
        goodput_80_10=goodput(80, 10),
    )


def _v22(data: Data) -> str:
    goodput, drops = _Numbers(data, q.GOODPUT, ".2f", TCPS), _Numbers(data, q.FIRST_DROPS, ".0f", TCPS)
    return WORDS.fill(
        "v22", goodput_80=goodput(80), drops_80=drops(80), under_none=_command_for(headers="none")
    )


def _v23(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    return WORDS.fill("v23", index_40_10=index(40, 10), index_80_10=index(80, 10))


def _v24(data: Data) -> str:
    values = ", ".join(
        f"{flows} calls {mean(data, q.index(PRINTED), UDP, flows, 10):.2f}" for flows in (10, 40, 60, 80)
    )
    return f"UDP's index beside 10 transfers: {values}."


def _v25(data: Data) -> str:
    late, lost = _Numbers(data, q.delayed(PRINTED), ".1f", TCPS), _Numbers(data, q.loss(), ".0f", TCPS)
    return WORDS.fill("v25", late_120=late(120), late_80_10=late(80, 10), lost_120=lost(120))


def _v26(data: Data) -> str:
    wait, drops = _Numbers(data, q.FIRST_WAIT, ".0f"), _Numbers(data, q.FIRST_DROPS, ".0f")
    return WORDS.fill("v26", wait_120=wait(120), drops_120=drops(120))


def _index_gains(data: Data) -> str:
    def gain(transport: str) -> float:
        short, long = (
            mean(data, q.index(PRINTED), transport, 80, 20, payload=payload) for payload in ("160 B", "500 B")
        )
        return long - short

    return _list_values([(one, gain(one)) for one in ALL], "+.2f")


def _v27(data: Data) -> str:
    return WORDS.fill("v27", index_gains=_index_gains(data))


def _v28(data: Data) -> str:
    gains = _list_values([(one, _gain(data, one)) for one in (REAL, UDP)], "+.0f")
    return WORDS.fill(
        "v28",
        gains=gains,
        under_50_kb_and_room=_command_for(buffers="50 kB", **{"shared-bottleneck": "6 Mb/s"}),
    )


def _v29(data: Data) -> str:
    def fall(transport: str, payload: str) -> float:
        none, some = (
            mean(data, q.index(PRINTED), transport, 80, 20, payload=payload, per=per) for per in (0.0, 0.01)
        )
        return none - some

    short, long = (
        _list_values([(one, fall(one, payload)) for one in ALL], ".3f") for payload in ("160 B", "500 B")
    )
    return WORDS.fill("v29", short=short, long=long, under_per_byte=_command_for(errors="per byte"))


def _v30(data: Data) -> str:
    return WORDS.fill("v30", index_gains=_index_gains(data))


def _v31(data: Data) -> str:
    def list_transports(ftp: int) -> str:
        values = []
        for one in TCPS:
            theirs, calls = mean(data, q.FTP_GOODPUT, one, 120, ftp), mean(data, q.GOODPUT, one, 120, ftp)
            values.append(f"{spelled(one)} {1e3 * theirs / ftp:.0f} and {1e3 * calls / 120:.0f}")
        return ", ".join(values)

    return WORDS.fill("v31", each_20=list_transports(20), each_60=list_transports(60))


def _v32(data: Data) -> str:
    return WORDS.fill("v32", falls_80=_falls(data, 80), falls_120=_falls(data, 120))


def _v33(data: Data) -> str:
    index = ", ".join(
        f"{flows} calls {mean(data, q.index(PRINTED), UDP, flows, 20, per=0.0):.2f} to "
        f"{mean(data, q.index(PRINTED), UDP, flows, 20, per=0.05):.2f}"
        for flows in (80, 120)
    )
    return WORDS.fill(
        "v33",
        falls_80=_falls(data, 80),
        index=index,
        under_gap_to_the_arrival_before=_command_for(timely="gap to the arrival before"),
    )


def _v34(data: Data) -> str:
    late = _Numbers(data, q.delayed_by_threshold(PRINTED), ".1f", TCPS)
    return f"With 80 calls: {late(80, 20, threshold=100.0)} % at 100 ms, {late(80, 20, threshold=200.0)} % at 200."


def _v35(data: Data) -> str:
    index = _Numbers(data, q.index_by_threshold(PRINTED), ".2f", (VEGAS, REAL))
    return WORDS.fill(
        "v35",
        index_80_20_100=index(80, 20, threshold=100.0),
        index_80_20_200=index(80, 20, threshold=200.0),
        index_40_20_100=index(40, 20, threshold=100.0),
        index_40_20_200=index(40, 20, threshold=200.0),
    )


def _v36(data: Data) -> str:
    values = ", ".join(f"{flows} calls {mean(data, q.loss(), UDP, flows):.0f} %" for flows in (40, 80, 120))
    return f"UDP loses, alone: {values}."


def _v37(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".2f")
    return WORDS.fill("v37", index_80=index(80), index_120=index(120), index_80_10=index(80, 10))


def _v38(data: Data) -> str:
    index = _Numbers(data, q.index(PRINTED), ".3f")
    return f"Alone: 40 calls {index(40)}; 120 calls {index(120)}."


def _distance(data: Data, flows: int) -> float:
    """Distance of UDP's goodput from its mean over runs, in % of it."""
    point = {"payload": "160 B", "per": 0.01, "flows": flows, "ftp": 0, "transport": UDP}
    try:
        samples = data.measured(q.GOODPUT, CALLS).samples(**point)
    except ValueError:
        return float("nan")
    return float(100 * np.mean(np.abs(samples - samples.mean())) / samples.mean())


def _v39(data: Data) -> str:
    far = ", ".join(f"{flows} calls {_distance(data, flows):.1f} %" for flows in (10, 40, 80, 120))
    return WORDS.fill("v39", far=far)


NOTES: tuple[Callable[[Data], str], ...] = (
    _v1, _v2, _v3, _v4, _v5, _v6, _v7, _v8, _v9, _v10, _v11, _v12, _v13, _v14, _v15, _v16, _v17, _v18, _v19, _v20, _v21,
    _v22, _v23, _v24, _v25, _v26, _v27, _v28, _v29, _v30, _v31, _v32, _v33, _v34, _v35, _v36, _v37, _v38, _v39,
)  # fmt: skip

SAME = {
    "V3": "V2", "V10": "V9", "V21": "V2", "V22": "V4", "V23": "V4", "V27": "V9", "V28": "V9", "V30": "V9", "V33": "V14",
}  # fmt: skip
"""Claims with the same mechanism as another claim, whose experiment shows it."""


def _add_experiment(name: str, note: Callable[[Data], str]) -> Callable[[Data], str]:
    """The note, and the claim whose experiment shows the mechanism."""
    if name not in SAME:
        return note
    return lambda data: f"{note(data)} The mechanism is that of {SAME[name]}, which an experiment shows."


EXPLANATIONS: Mapping[str, Mapping[Verdict, Callable[[Data], str]]] = {
    f"V{number}": dict.fromkeys(Verdict, _add_experiment(f"V{number}", note))
    for number, note in enumerate(NOTES, 1)
}
"""By claim. The notes give numbers, so they hold for any verdict."""
