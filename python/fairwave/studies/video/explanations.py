"""Why claims come out as they do: what differs, what was tried, on which assumption it hangs.

What was tried stands in the sensitivity tables (`fairwave study video --sensitivity`), whose ids are named here.
Numbers of the study itself are taken from its data. Those of the tables are of one run of them, made once because it
takes hours, and say so: see `TRIED`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.studies.video import points as p
from fairwave.studies.video import quantities as q
from fairwave.studies.video.figures import PUBLISHED_COV
from fairwave.studies.video.systems import DVRC, LITERAL, RENO, RTCP, TFRC, UDP, WESTWOOD
from fairwave.study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

    Notes = Mapping[Verdict, str | Callable[[Data], str]]


TRIED = "in the tables' run of seeds 1 to 5"
"""Where the numbers come from that stand in these words and not in the study's data."""


def _otherwise(words: str | Callable[[Data], str]) -> Notes:
    """For whatever verdict is not the paper's."""
    return {Verdict.NOT_REPRODUCED: words, Verdict.UNDECIDED: words}


def _mean(data: Data, measure: Measure, grid: str, **labels: Any) -> float:
    """The mean over seeds, and over whatever the labels leave open."""
    return float(np.nanmean(data.measured(measure, grid).at(**labels).frame["value"].to_numpy()))


def _ends(data: Data, measure: Measure, grid: str, name: str) -> tuple[float, float]:
    """At the fewest flows above one, and at the most."""
    flows = [n for n in data.measured(measure, grid).labels("flows") if n > 1]
    few, many = (_mean(data, measure, grid, transport=name, flows=n) for n in (min(flows), max(flows)))
    return few, many


def _d1(data: Data) -> str:
    video = {name: _mean(data, q.COV, p.SINGLE, transport=name) for name in (DVRC, LITERAL, TFRC, UDP)}
    bulk = {name: _mean(data, q.COV, p.BULK, transport=name) for name in (DVRC, TFRC)}
    return (
        f"DVRC has {video[DVRC]:.4f} and TFRC {video[TFRC]:.4f}, published are {PUBLISHED_COV[DVRC]:.4f} and "
        f"{PUBLISHED_COV[TFRC]:.4f}. It hangs on what "
        "a loss is judged by. By the text it is the receiving rate; by Eq. (11) as printed it is the rate that was "
        f"asked for, and so DVRC has {video[LITERAL]:.4f}, below TFRC. (Then "
        f"hardly any loss is taken for congestion: see D3.) With data that never ends DVRC has {bulk[DVRC]:.4f} and "
        f"TFRC {bulk[TFRC]:.4f}, in the paper's order: what varies is the number of layers, besides the frames (the "
        f"video over UDP has {video[UDP]:.4f}). Tried, {TRIED}: frames of one size 0.23 against 0.26; eight equal "
        "layers, other layer rates and buffers leave the two level or TFRC ahead (single-settings)."
    )


def _d3(data: Data) -> str:
    congestion, random, share, informed = (
        _mean(data, one, p.BOUND, reading=p.TEXT)
        for one in (q.RECALL_CONGESTION, q.RECALL_RANDOM, q.JUDGED_RANDOM, q.INFORMEDNESS)
    )
    return (
        f"{share:.0f} % of all losses fall above the bound, as the paper's Figure 3 shows it, but so do those of "
        f"the queue: of them {congestion:.1f} % are taken for congestion, of the random ones {random:.0f} % for "
        f"random (informedness {informed:.1f} %; a judge without regard to the cause has 0). It follows from the "
        "rule. R̄ and D̄ are mean and deviation of the receiving rate at losses, most of which are congestion's, "
        "so the rate at a loss of the queue is compared with its own mean; if it were normal, 1.5 mean deviations "
        "below would be met by 12 % of losses of whatever cause. And when a drop-tail queue overflows, the "
        f"receiver still gets its full share: a lower rate follows a loss and does not come before it. Tried, {TRIED} "
        "(judging-settings): n of 0 and 0.5, gains halved and quadrupled, rates over 50 ms to 2 s, α from a "
        "quarter of a packet to four, a quarter and twice the buffer, other videos. The most congestion was found "
        "with n = 0: 15 %, with 54 % of random losses judged rightly."
    )


def _d4(data: Data) -> str:
    goodput = {
        n: {name: _mean(data, q.GOODPUT, p.CROSS, transport=name, flows=n) for name in (TFRC, WESTWOOD)}
        for n in _some(data)
    }
    few, many = goodput[min(goodput)], goodput[max(goodput)]
    use = min(
        _mean(data, q.USE, p.CROSS, transport=name, flows=n)
        for n in goodput
        for name in (DVRC, TFRC, WESTWOOD)
    )
    return (
        f"The link as a whole is full everywhere ({use:.0f} % and more, file transfers included); of the videos "
        "DVRC's take their share and more. TFRC and Westwood+ do not with few flows: their last links lose about 1 "
        f"% at random, which both take for congestion, and with {min(goodput)} videos have {few[TFRC]:.1f} and "
        f"{few[WESTWOOD]:.1f} Mb/s. With {max(goodput)} videos {many[TFRC]:.1f} and {many[WESTWOOD]:.1f} Mb/s: "
        "there Westwood+ falls short, as the paper says. Without packet errors the claim is open (cross-settings)."
    )


def _some(data: Data) -> list[int]:
    return [n for n in data.measured(q.GOODPUT, p.CROSS).labels("flows") if n > 1]


def _d5(data: Data) -> str:
    few, many = _ends(data, q.INDEX, p.CROSS, DVRC)
    lost = _ends(data, q.DROPS, p.CROSS, DVRC)
    return (
        f"DVRC's index is the highest at every number of flows, but not flat: it falls from {few:.2f} to {many:.2f} "
        f"as its losses grow from {lost[0]:.1f} to {lost[1]:.1f} %. TFRC and Westwood+ carry all layers, most of "
        "which wait in the sender for ever; of what left the sender the three are close together (figure "
        "002-9-readings). Tried: with α_I of a quarter of a packet it loses half as much, and counted by excess "
        "gaps the claim is then open (cross-settings)."
    )


def _d6(data: Data) -> str:
    lost = {name: _ends(data, q.DROPS, p.CROSS, name) for name in (DVRC, TFRC, WESTWOOD)}
    words = ", ".join(f"{name} from {few:.1f} to {many:.1f} %" for name, (few, many) in lost.items())
    taken = 100 - _mean(data, q.RECALL_CONGESTION, p.CROSS, transport=DVRC)
    return (
        f"Losses grow with the number of flows: {words}. DVRC takes {taken:.0f} % of a queue's losses for random "
        "(see D3) and then gives way by one packet per round trip, the same that a round trip without loss adds; "
        "so it stays where about every other round trip has a loss. Westwood+ does delay the most on average; with "
        f"the most flows DVRC does. Tried, {TRIED}: with α_I of a quarter of a packet, or α_D of four, losses come "
        "down to 5.3 and 8.4 % on average (from 10.8; TFRC 4.7, Westwood+ 5.3), and goodput by a quarter and a fifth "
        "(cross-settings)."
    )


def _d7(data: Data) -> str:
    fairness = data.measured(q.WORST_CASE, p.CROSS)
    flows = [n for n in fairness.labels("flows") if n > 1]
    trail = ", ".join(f"{_mean(data, q.WORST_CASE, p.CROSS, transport=DVRC, flows=n):.2f}" for n in flows)
    ends = {name: _ends(data, q.WORST_CASE, p.CROSS, name) for name in (TFRC, WESTWOOD)}
    others = " and ".join(f"{name} from {few:.2f} to {many:.2f}" for name, (few, many) in ends.items())
    return (
        f"{others}, as the paper says. DVRC's is {trail} at {', '.join(map(str, flows))} flows: where all layers "
        "fit everybody has the same, where they do not it falls as well; from 20 flows on it holds, and ends the "
        "highest. With α_I of a quarter of a packet, which gives all fewer layers from the start, or of either "
        "sign, or with n of 0 or 0.5, the claim is open (cross-settings)."
    )


def _d9(data: Data) -> str:
    halves, deep = (_mean(data, one, p.QUEUE, transport=DVRC) for one in (q.DRAINS_HALF, q.DRAINS))
    other = {name: _mean(data, q.DRAINS, p.QUEUE, transport=name) for name in (TFRC, WESTWOOD)}
    return (
        f"Under UDP the queue stays full. Under DVRC it falls from three quarters to a half {halves:.1f} times a "
        f"minute and to a quarter {deep:.1f} times; under Westwood+ {other[WESTWOOD]:.0f} times. The base layers of "
        "40 videos alone want half of the link, file transfers what is left, and most losses of the queue are not "
        f"taken for congestion (see D3). It hangs on α: {TRIED}, with an increase of a quarter of a packet, or a "
        "decrease of four, the queue drains 14 and 55 times a minute; with half the layer rates 4 times "
        "(queue-settings)."
    )


def _d10(data: Data) -> str:
    parts = []
    for grid, words in ((p.REVERSE, "with reverse traffic"), (p.CHAIN, "over five hops")):
        index, lost = (
            {
                name: _mean(data, one, grid, transport=name, flows=_several(data, grid))
                for name in (DVRC, RTCP)
            }
            for one in (q.INDEX, q.DROPS)
        )
        parts.append(
            f"{words} {index[RTCP]:.2f} against {index[DVRC]:.2f} (lost: {lost[RTCP]:.1f} against {lost[DVRC]:.1f} %)"
        )
    return (
        "In goodput and fairness RTCP/UDP is below DVRC, as the paper says. Its index is above: "
        f"{'; '.join(parts)}. A sender that adds a layer every five seconds and drops one within a second of a loss "
        "above 5 % asks for less than there is, and loses less of it. Reports at RFC 3550's reduced minimum "
        f"interval add layers faster: {TRIED}, its index then falls to 0.81 and 0.72, its fairness rises to 0.99, "
        "and the claim is open. It stays contradicted with other thresholds, without early reports, and if it "
        "begins with all layers (reverse-settings, chain-settings)."
    )


def _several(data: Data, grid: str) -> list[int]:
    return [n for n in data.measured(q.INDEX, grid).labels("flows") if n > 1]


def _d11(data: Data) -> str:
    share = q.normalised(q.FTP, p.MEGABITS)
    beside = {
        name: [
            _mean(data, share, p.FRIENDLY, transport=name, tcp=tcp)
            for tcp in data.measured(share, p.FRIENDLY).labels("tcp")
        ]
        for name in (DVRC, TFRC)
    }
    words = {name: " and ".join(f"{one:.2f}" for one in shares) for name, shares in beside.items()}
    crowd = " and ".join(map(str, data.measured(share, p.FRIENDLY).labels("tcp")))
    return (
        f"It is the other way round: with {crowd} TCP flows their share is {words[DVRC]} beside DVRC and "
        f"{words[TFRC]} beside TFRC. AIAMD adds a packet per round trip as Reno does, but halves on one in ten of "
        "the losses on which Reno does (see D3), so TCP gives way until DVRC has all layers. TFRC takes less than "
        f"its share. Tried, {TRIED}: with α_I of a quarter of a packet TCP has 1.06 beside DVRC, with α_D of "
        "four packets 0.91. Beside TFRC it has between 1.19 and 1.34 whatever was tried (friendliness-settings)."
    )


def _d12(data: Data) -> str:
    rates = data.measured(q.per_flow(q.VIDEO), p.HOPS)
    hops = rates.labels("hops")
    first, last = min(hops), max(hops)
    at = {
        name: [_mean(data, q.per_flow(q.VIDEO), p.HOPS, transport=name, hops=n) for n in (first, last)]
        for name in (DVRC, TFRC, RENO)
    }
    others = "; ".join(f"{name} {at[name][0]:.0f} and {at[name][1]:.0f}" for name in (TFRC, RENO))
    base = p.LAYER_KILOBITS[0]
    return (
        f"At {first} hop DVRC has {at[DVRC][0]:.0f} kb/s, more than its share of {1e3 * q.PAYLOAD_SHARE / 2:.0f}; at "
        f"{last} hops {at[DVRC][1]:.0f}, what is left of the base layer of {base} kb/s, below which it never asks. A "
        f"flow over N full links meets N times the losses and N times the round trip of those that it competes with. "
        f"In its place ({first} and {last} hops): {others} kb/s. So DVRC does keep more than anybody else, but not a "
        "fair share. Tried: hops of 5 and 20 ms, a quarter and twice the buffers, other α, n, gains and windows of "
        "measurement; none keeps it (hop-settings)."
    )


def _d13(data: Data) -> str:
    many = max(data.measured(q.INDEX, p.LAYERS).labels("flows"))
    equal, base = tuple(p.SPLITS)

    def trail(split: str) -> str:
        counts = [n for n in (1, 2, 4, 5, 8) if n in data.measured(q.INDEX, p.LAYERS).labels("layers")]
        return ", ".join(
            f"{_mean(data, q.INDEX, p.LAYERS, split=split, layers=n, flows=many):.2f} ({n})" for n in counts
        )

    return (
        f"Goodput is that of eight layers everywhere. The index with {many} videos, by the number of layers: "
        f"{trail(equal)} with layers alike; {trail(base)} with a base of {p.LAYER_KILOBITS[0]} kb/s. With fewer "
        f"flows five are within 5 %. What counts is how low the base layer is: {many} videos of four or five equal "
        f"layers want {many * p.TOTAL_KILOBITS / 4e3:.1f} or {many * p.TOTAL_KILOBITS / 5e3:.1f} Mb/s at the least, "
        f"of a link of {p.MEGABITS:g}."
    )


_D8 = (
    "It hangs on how long round trips are and on α: that TFRC's index is the lowest is open where delays reach 50 "
    "or 300 ms instead of 150, with a quarter of the buffers and by Eq. (11) as printed, and contradicted with α_I "
    "of a quarter of a packet, as DVRC then is the less fair (spread-settings)."
)

EXPLANATIONS: Mapping[str, Notes] = {
    "D1": _otherwise(_d1),
    "D3": _otherwise(_d3),
    "D4": _otherwise(_d4),
    "D5": _otherwise(_d5),
    "D6": _otherwise(_d6),
    "D7": _otherwise(_d7),
    "D8": {Verdict.REPRODUCED: _D8},
    "D9": _otherwise(_d9),
    "D10": _otherwise(_d10),
    "D11": _otherwise(_d11),
    "D12": _otherwise(_d12),
    "D13": _otherwise(_d13),
}
