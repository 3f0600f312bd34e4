"""Why claims come out as they do, in numbers that are taken from the study's own data.

Which reading a claim hangs on is a matter of the exploration of readings; where a reading is worth a look by itself,
the words name the factor and its value, which `fairwave study video --reading FILE` makes from a file such as
`{"reaction": "once per round trip"}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.figures import PUBLISHED_COV
from fairwave_studies.video.systems import DVRC, LITERAL, RENO, TFRC, UDP, WESTWOOD
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.study import Data

    Notes = Mapping[Verdict, str | Callable[[Data], str]]


def _otherwise(words: str | Callable[[Data], str]) -> Notes:
    """For whatever verdict is not the paper's."""
    return {Verdict.NOT_REPRODUCED: words, Verdict.UNDECIDED: words}


def _mean(data: Data, measure: Measure, grid: str, **labels: Any) -> float:
    """The mean over seeds, and over whatever the labels leave open; NaN where nothing is defined."""
    values = data.measured(measure, grid).at(**labels).frame["value"].to_numpy().astype(float)
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else float("nan")


def _several(data: Data, grid: str) -> list[int]:
    return [n for n in data.measured(q.GOODPUT, grid).labels("flows") if n > 1]


def _ends(data: Data, measure: Measure, grid: str, name: str) -> tuple[float, float]:
    """At the fewest flows above one, and at the most."""
    flows = _several(data, grid)
    few, many = (_mean(data, measure, grid, transport=name, flows=n) for n in (min(flows), max(flows)))
    return few, many


def _beside(data: Data, measure: Measure, grid: str, digits: int = 2) -> str:
    """The mean over the sweep, system by system."""
    names = data.measured(measure, grid).labels("transport")
    flows = _several(data, grid)
    return ", ".join(
        f"{name} {_mean(data, measure, grid, transport=name, flows=flows):.{digits}f}" for name in names
    )


def _trails(data: Data, measure: Measure, grid: str, digits: int = 2) -> str:
    """From the fewest flows to the most, system by system."""
    names = data.measured(measure, grid).labels("transport")
    ends = {name: _ends(data, measure, grid, name) for name in names}
    return ", ".join(f"{name} {few:.{digits}f} to {many:.{digits}f}" for name, (few, many) in ends.items())


def _d1(data: Data) -> str:
    video = {name: _mean(data, q.COV, p.SINGLE, transport=name) for name in (DVRC, LITERAL, TFRC, UDP)}
    bulk = {name: _mean(data, q.COV, p.BULK, transport=name) for name in (DVRC, TFRC)}
    return (
        f"DVRC has {video[DVRC]:.4f} and TFRC {video[TFRC]:.4f}; published are {PUBLISHED_COV[DVRC]:.4f} and "
        f"{PUBLISHED_COV[TFRC]:.4f}. Judged by the requested rate (Eq. 11) DVRC has {video[LITERAL]:.4f}. With data "
        f"that never ends DVRC has {bulk[DVRC]:.4f} and TFRC {bulk[TFRC]:.4f}: the rate control alone, without the "
        f"frames of a video, which vary by themselves ({video[UDP]:.4f} over UDP)."
    )


def _d2(data: Data) -> str:
    jitter, below = (_mean(data, one, p.SINGLE, transport=DVRC) for one in (q.LARGEST_JITTER, q.UNNOTICED))
    return f"The largest jitter is {jitter:.0f} ms, and {below:.0f} % of gaps are below 50 ms."


def _judging(data: Data) -> str:
    congestion, random, share, informed = (
        _mean(data, one, p.BOUND, reading=p.TEXT)
        for one in (q.RECALL_CONGESTION, q.RECALL_RANDOM, q.JUDGED_RANDOM, q.INFORMEDNESS)
    )
    return (
        f"Of all losses {share:.0f} % fall above the bound; of those of the queue {congestion:.1f} % are taken for "
        f"congestion, of random ones {random:.0f} % for random (informedness {informed:.1f} %; a judge without regard "
        f"to "
        "the cause has 0). R̄ and D̄ are mean and deviation of the receiving rate at losses, so that the "
        "rate at a loss is compared with that at losses like it. And when a drop-tail queue overflows, the receiver "
        "still gets its full share: a lower rate follows a loss and does not come before it."
    )


def _d4(data: Data) -> str:
    return (
        f"Use of the link out of R2 (%), from few videos to many: {_trails(data, q.USE, p.CROSS, 1)}; goodput of the "
        f"videos (Mb/s): {_trails(data, q.GOODPUT, p.CROSS)}."
    )


def _index(data: Data) -> str:
    return (
        "Index of all that was made, from few videos to many: "
        f"{_trails(data, q.INDEX, p.CROSS)}; of what left the sender: {_trails(data, q.INDEX_OF_SENT, p.CROSS)}; never "
        f"sent, of all made (%): {_trails(data, q.NEVER_LEFT, p.CROSS, 1)}; lost in the network, of what was sent (%): "
        f"{_trails(data, q.DROPS, p.CROSS, 1)}."
    )


def _d6(data: Data) -> str:
    taken = 100 - _mean(data, q.RECALL_CONGESTION, p.CROSS, transport=DVRC)
    return (
        "Parts of all that was made (%), from few videos to many. Lost in the network: "
        f"{_trails(data, q.DROPPED_OF_MADE, p.CROSS, 1)}; lost there or never sent: "
        f"{_trails(data, q.MISSING_OF_MADE, p.CROSS, 1)}; delayed: {_trails(data, q.DELAYED, p.CROSS, 1)}. "
        f"DVRC takes {taken:.0f} % of a queue's losses for random "
        f"(see D14)."
    )


def _d7(data: Data) -> str:
    return f"Worst-case fairness, from few videos to many: {_trails(data, q.WORST_CASE, p.CROSS)}."


def _d8(data: Data) -> str:
    return (
        "Fairness index (means over the sweep) with like round trips: "
        f"{_beside(data, q.FAIRNESS, p.CROSS)}; with "
        f"spread "
        f"ones: {_beside(data, q.FAIRNESS, p.SPREAD)}."
    )


def _d9(data: Data) -> str:
    deep, halves = (
        {n: _mean(data, one, p.QUEUE, transport=n) for n in (DVRC, TFRC, WESTWOOD)}
        for one in (q.DRAINS, q.DRAINS_HALF)
    )
    return (
        f"Under DVRC the queue falls from three quarters to a half {halves[DVRC]:.1f} times a minute and to a quarter "
        f"{deep[DVRC]:.1f} times; under TFRC to a quarter {deep[TFRC]:.1f} and under Westwood+ "
        f"{deep[WESTWOOD]:.1f} "
        f"times. "
        f"Under UDP less than three quarters are full {_mean(data, q.NOT_FULL, p.QUEUE, transport=UDP):.1f} % of the "
        f"time."
    )


def _against(grid: str) -> Callable[[Data], str]:
    def words(data: Data) -> str:
        return (
            f"Means over the sweep. Index of all that was made: {_beside(data, q.INDEX, grid)}; lost in the network, "
            f"of all made (%): {_beside(data, q.DROPPED_OF_MADE, grid, 1)}; lost there or never sent (%): "
            f"{_beside(data, q.MISSING_OF_MADE, grid, 1)}; goodput (Mb/s): {_beside(data, q.GOODPUT, grid)}; "
            "fairness index: "
            f"{_beside(data, q.FAIRNESS, grid)}; worst case: {_beside(data, q.WORST_CASE, grid)}."
        )

    return words


def _d10(data: Data) -> str:
    return (
        f"With reverse traffic: {_against(p.REVERSE)(data)} Over five hops: {_against(p.CHAIN)(data)} A sender that "
        f"adds a "
        "layer with a regular report at most and drops one within a second of heavy loss asks for less than "
        "there is, and loses less of it."
    )


def _d11(data: Data) -> str:
    share = q.normalised(q.FTP, p.MEGABITS)
    measured = data.measured(share, p.FRIENDLY)
    beside = {
        name: " and ".join(
            f"{_mean(data, share, p.FRIENDLY, transport=name, tcp=tcp):.2f}" for tcp in measured.labels("tcp")
        )
        for name in (DVRC, TFRC)
    }
    crowd = " and ".join(map(str, measured.labels("tcp")))
    return f"With {crowd} TCP flows their share is {beside[DVRC]} beside DVRC and {beside[TFRC]} beside TFRC."


def _d12(data: Data) -> str:
    hops = data.measured(q.per_flow(q.VIDEO), p.HOPS).labels("hops")
    first, last = min(hops), max(hops)
    trails = ", ".join(
        f"{name} "
        + " and ".join(
            f"{_mean(data, q.per_flow(q.VIDEO), p.HOPS, transport=name, hops=n):.0f}" for n in (first, last)
        )
        for name in (DVRC, TFRC, RENO)
    )
    return (
        f"Goodput (kb/s) at {first} and {last} hops: {trails}; half of a link is "
        f"{1e3 * q.PAYLOAD_SHARE / 2:.0f}. A "
        f"flow "
        "over N full links meets N times the losses and the round trip of those that it competes with."
    )


def _d13(data: Data) -> str:
    measured = data.measured(q.INDEX, p.LAYERS)
    many = max(measured.labels("flows"))

    def trail(split: str) -> str:
        return ", ".join(
            f"{_mean(data, q.INDEX, p.LAYERS, split=split, layers=n, flows=many):.2f} ({n})"
            for n in measured.labels("layers")
        )

    return (
        f"The index with {many} videos, by the number of layers: "
        + "; ".join(f"{split}: {trail(split)}" for split in measured.labels("split"))
        + "."
    )


def _d19(data: Data) -> str:
    tcp, video, timeouts = (
        _mean(data, one, p.SINGLE, transport=DVRC) for one in (q.COV_TCP, q.COV, q.TIMEOUTS)
    )
    return f"CoV of TCP {tcp:.2f}, of DVRC {video:.2f}; {timeouts:.1f} timeouts of a TCP flow."


def _cov(data: Data) -> str:
    return f"Coefficient of variation, from few videos to many: {_trails(data, q.COV, p.CROSS)}."


def _late(data: Data) -> str:
    return (
        f"Late of what arrived (%), from few videos to many: {_trails(data, q.LATE_OF_RECEIVED, p.CROSS, 1)}; "
        f"of all that was made: {_trails(data, q.DELAYED, p.CROSS, 1)}."
    )


def _rules(data: Data) -> str:
    names = data.measured(q.SWING, p.RULES).labels("transport")

    def each(measure: Measure, digits: int) -> str:
        return ", ".join(
            f"{name} {_mean(data, measure, p.RULES, transport=name):.{digits}f}" for name in names
        )

    return (
        f"With 40 videos R2's queue swings by {each(q.SWING, 1)} packets and drains to a half {each(q.DRAINS_HALF, 1)} "
        f"times a minute; lost of what was sent (%): {each(q.DROPS, 1)}; fairness index: {each(q.FAIRNESS, 3)}."
    )


def _d33(data: Data) -> str:
    share, rate = q.normalised(q.VIDEO, p.MEGABITS), q.per_flow(q.VIDEO)
    crowds = data.measured(share, p.FRIENDLY).labels("tcp")
    most = max(_several(data, p.FRIENDLY))
    told = "; ".join(
        f"{name} {_mean(data, share, p.FRIENDLY, transport=name, tcp=tcp):.2f} beside {tcp}"
        for name in (DVRC, TFRC)
        for tcp in crowds
    )
    crowded = _mean(data, rate, p.FRIENDLY, transport=DVRC, tcp=max(crowds), flows=most)
    return (
        f"The videos' normalised throughput beside TCP flows: {told}. Each of {most} DVRC videos gets {crowded:.0f} "
        f"kb/s beside {max(crowds)}."
    )


EXPLANATIONS: Mapping[str, Notes] = {
    "D1": _otherwise(_d1),
    "D2": _otherwise(_d2),
    "D3": _otherwise(_judging),
    "D4": _otherwise(_d4),
    "D5": _otherwise(_index),
    "D6": _otherwise(_d6),
    "D7": _otherwise(_d7),
    "D8": _otherwise(_d8),
    "D9": _otherwise(_d9),
    "D10": _otherwise(_d10),
    "D11": _otherwise(_d11),
    "D12": _otherwise(_d12),
    "D13": _otherwise(_d13),
    "D14": _otherwise(_judging),
    "D15": _otherwise(_against(p.REVERSE)),
    "D16": _otherwise(_against(p.REVERSE)),
    "D17": _otherwise(_against(p.CHAIN)),
    "D18": _otherwise(_against(p.CHAIN)),
    "D19": _otherwise(_d19),
    "D20": _otherwise(_d10),
    "D21": _otherwise(_d8),
    "D22": _otherwise(_cov),
    "D23": _otherwise(_d6),
    "D24": _otherwise(_late),
    "D25": _otherwise(_late),
    "D26": _otherwise(_d8),
    "D27": _otherwise(_d8),
    "D28": _otherwise(_d8),
    "D29": _otherwise(_rules),
    "D30": _otherwise(_against(p.REVERSE)),
    "D31": _otherwise(_against(p.REVERSE)),
    "D32": _otherwise(_against(p.REVERSE)),
    "D33": _otherwise(_d33),
    "D34": _otherwise(_d33),
    "D35": _otherwise(_d12),
    "D36": _otherwise(_rules),
}
