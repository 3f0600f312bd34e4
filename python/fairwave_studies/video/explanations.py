"""Explanations of the claims' verdicts, with numbers from the study's data.

The exploration shows the reading that decides a claim. If a single reading matters, the text names the factor and its
value. `fairwave study video --reading FILE` takes them from a file such as `{"reaction": "once per round trip"}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.systems import DVRC, LITERAL, RENO, TFRC, UDP, WESTWOOD
from fairwave_studies.video.traces import PUBLISHED_COV
from fairwave_study import texts
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

    Notes = Mapping[Verdict, str | Callable[[Data], str]]

WORDS = texts.notes(__file__)
"""The sentences, in `explanations.toml`, with a name for each number in them."""


def _otherwise(words: str | Callable[[Data], str]) -> Notes:
    """For whatever verdict is not the paper's."""
    return {Verdict.NOT_REPRODUCED: words, Verdict.UNDECIDED: words}


def _mean(data: Data, measure: Measure, grid: str, **labels: Any) -> float:
    """The mean over seeds and open labels; NaN if nothing is defined."""
    values = data.measured(measure, grid).select(**labels).frame["value"].to_numpy().astype(float)
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else float("nan")


def _several(data: Data, grid: str) -> list[int]:
    return [n for n in data.measured(q.GOODPUT, grid).labels("flows") if n > 1]


def _ends(data: Data, measure: Measure, grid: str, name: str) -> tuple[float, float]:
    """At the fewest flows above one, and at the most."""
    flows = _several(data, grid)
    few, many = (_mean(data, measure, grid, transport=name, flows=n) for n in (min(flows), max(flows)))
    return few, many


def _list_systems(data: Data, measure: Measure, grid: str, digits: int = 2) -> str:
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
    return WORDS.fill(
        "d1",
        video_dvrc=video[DVRC],
        video_tfrc=video[TFRC],
        published_cov_dvrc=PUBLISHED_COV[DVRC],
        published_cov_tfrc=PUBLISHED_COV[TFRC],
        video_literal=video[LITERAL],
        bulk_dvrc=bulk[DVRC],
        bulk_tfrc=bulk[TFRC],
        video_udp=video[UDP],
    )


def _d2(data: Data) -> str:
    jitter, below = (_mean(data, one, p.SINGLE, transport=DVRC) for one in (q.LARGEST_JITTER, q.UNNOTICED))
    return WORDS.fill("d2", jitter=jitter, below=below)


def _judging(data: Data) -> str:
    congestion, random, share, informed = (
        _mean(data, one, p.BOUND, reading=p.TEXT)
        for one in (q.RECALL_CONGESTION, q.RECALL_RANDOM, q.JUDGED_RANDOM, q.INFORMEDNESS)
    )
    return WORDS.fill("judging", share=share, congestion=congestion, random=random, informed=informed)


def _d4(data: Data) -> str:
    return WORDS.fill(
        "d4",
        trails_use_1=_trails(data, q.USE, p.CROSS, 1),
        trails_goodput=_trails(data, q.GOODPUT, p.CROSS),
    )


def _index(data: Data) -> str:
    return WORDS.fill(
        "index",
        trails_index=_trails(data, q.INDEX, p.CROSS),
        trails_index_of_sent=_trails(data, q.INDEX_OF_SENT, p.CROSS),
        trails_never_left_1=_trails(data, q.NEVER_LEFT, p.CROSS, 1),
        trails_drops_1=_trails(data, q.DROPS, p.CROSS, 1),
    )


def _d6(data: Data) -> str:
    taken = 100 - _mean(data, q.RECALL_CONGESTION, p.CROSS, transport=DVRC)
    return WORDS.fill(
        "d6",
        trails_dropped_of_made_1=_trails(data, q.DROPPED_OF_MADE, p.CROSS, 1),
        trails_missing_of_made_1=_trails(data, q.MISSING_OF_MADE, p.CROSS, 1),
        trails_delayed_1=_trails(data, q.DELAYED, p.CROSS, 1),
        taken=taken,
    )


def _d7(data: Data) -> str:
    return f"Worst-case fairness, from few videos to many: {_trails(data, q.WORST_CASE, p.CROSS)}."


def _d8(data: Data) -> str:
    return WORDS.fill(
        "d8",
        beside_fairness_cross=_list_systems(data, q.FAIRNESS, p.CROSS),
        beside_fairness_spread=_list_systems(data, q.FAIRNESS, p.SPREAD),
    )


def _d9(data: Data) -> str:
    deep, halves = (
        {n: _mean(data, one, p.QUEUE, transport=n) for n in (DVRC, TFRC, WESTWOOD)}
        for one in (q.DRAINS, q.DRAINS_HALF)
    )
    return WORDS.fill(
        "d9",
        halves_dvrc=halves[DVRC],
        deep_dvrc=deep[DVRC],
        deep_tfrc=deep[TFRC],
        deep_westwood=deep[WESTWOOD],
        not_full_udp=_mean(data, q.NOT_FULL, p.QUEUE, transport=UDP),
    )


def _explain_rivals(grid: str) -> Callable[[Data], str]:
    def words(data: Data) -> str:
        return WORDS.fill(
            "against",
            beside_index=_list_systems(data, q.INDEX, grid),
            beside_dropped_of_made_1=_list_systems(data, q.DROPPED_OF_MADE, grid, 1),
            beside_missing_of_made_1=_list_systems(data, q.MISSING_OF_MADE, grid, 1),
            beside_goodput=_list_systems(data, q.GOODPUT, grid),
            beside_fairness=_list_systems(data, q.FAIRNESS, grid),
            beside_worst_case=_list_systems(data, q.WORST_CASE, grid),
        )

    return words


def _d10(data: Data) -> str:
    return WORDS.fill(
        "d10", against_reverse=_explain_rivals(p.REVERSE)(data), against_chain=_explain_rivals(p.CHAIN)(data)
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
    return WORDS.fill("d11", crowd=crowd, beside_dvrc=beside[DVRC], beside_tfrc=beside[TFRC])


def _d12(data: Data) -> str:
    hops = data.measured(q.flow_goodput(q.VIDEO), p.HOPS).labels("hops")
    first, last = min(hops), max(hops)
    trails = ", ".join(
        f"{name} "
        + " and ".join(
            f"{_mean(data, q.flow_goodput(q.VIDEO), p.HOPS, transport=name, hops=n):.0f}"
            for n in (first, last)
        )
        for name in (DVRC, TFRC, RENO)
    )
    return WORDS.fill("d12", first=first, last=last, trails=trails, half_a_link=1e3 * q.PAYLOAD_SHARE / 2)


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
    return WORDS.fill("cov", trails_cov=_trails(data, q.COV, p.CROSS))


def _late(data: Data) -> str:
    return WORDS.fill(
        "late",
        trails_late_of_received_1=_trails(data, q.LATE_OF_RECEIVED, p.CROSS, 1),
        trails_delayed_1=_trails(data, q.DELAYED, p.CROSS, 1),
    )


def _rules(data: Data) -> str:
    names = data.measured(q.SWING, p.RULES).labels("transport")

    def list_rules(measure: Measure, digits: int) -> str:
        return ", ".join(
            f"{name} {_mean(data, measure, p.RULES, transport=name):.{digits}f}" for name in names
        )

    return WORDS.fill(
        "rules",
        each_swing_1=list_rules(q.SWING, 1),
        each_drains_half_1=list_rules(q.DRAINS_HALF, 1),
        each_drops_1=list_rules(q.DROPS, 1),
        each_fairness_3=list_rules(q.FAIRNESS, 3),
    )


def _d33(data: Data) -> str:
    share, rate = q.normalised(q.VIDEO, p.MEGABITS), q.flow_goodput(q.VIDEO)
    crowds = data.measured(share, p.FRIENDLY).labels("tcp")
    most = max(_several(data, p.FRIENDLY))
    told = "; ".join(
        f"{name} {_mean(data, share, p.FRIENDLY, transport=name, tcp=tcp):.2f} next to {tcp}"
        for name in (DVRC, TFRC)
        for tcp in crowds
    )
    crowded = _mean(data, rate, p.FRIENDLY, transport=DVRC, tcp=max(crowds), flows=most)
    return WORDS.fill("d33", told=told, most=most, crowded=crowded, crowd=max(crowds))


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
    "D15": _otherwise(_explain_rivals(p.REVERSE)),
    "D16": _otherwise(_explain_rivals(p.REVERSE)),
    "D17": _otherwise(_explain_rivals(p.CHAIN)),
    "D18": _otherwise(_explain_rivals(p.CHAIN)),
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
    "D30": _otherwise(_explain_rivals(p.REVERSE)),
    "D31": _otherwise(_explain_rivals(p.REVERSE)),
    "D32": _otherwise(_explain_rivals(p.REVERSE)),
    "D33": _otherwise(_d33),
    "D34": _otherwise(_d33),
    "D35": _otherwise(_d12),
    "D36": _otherwise(_rules),
}
