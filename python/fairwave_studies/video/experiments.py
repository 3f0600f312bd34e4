"""Why claims of paper 002 come out as they do: a mechanism on and off, under seeds that nothing else uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.claims import TCP_SHARE, select, swept
from fairwave_studies.video.readings import dvrc
from fairwave_studies.video.systems import AIAD, DVRC, RENO, RTCP, TFRC, WESTWOOD
from fairwave_study.experiments import Experiment, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave.runs.axes import Label, Overrides
    from fairwave_study.parts import Data
    from fairwave_study.readings import Changes

    Samples = Callable[[Data], NDArray[np.float64]]

GENTLE = {"reaction": "once per round trip", "alpha": "a packet per round trip"}
"""DVRC that reacts once to the losses of a round trip and counts α in packets per round trip: admitted and flagged."""


def _sample(measure: Measure, grid: str, **labels: object) -> Samples:
    """A measure at a point of a grid; averages over open labels, without points of a single flow."""

    def samples(data: Data) -> NDArray[np.float64]:
        found = data.measured(measure, grid)
        if "flows" in found.axes and "flows" not in labels:
            found = swept(found)
        found = select(found, **labels)
        for axis in found.axes:
            found = found.averaged(axis)
        return found.samples()

    return samples


def _weighed(n: float) -> Changes:
    """The weight n in the bound, and runs long enough to count the queue's losses."""
    rule = dvrc(aiamd__deviations=n)

    def changes(grid: str, labels: dict[str, Label]) -> Overrides:
        found = rule(grid, labels) if callable(rule) else rule
        return {**found, "duration": "400 s"}

    return changes


def _unfilled(_grid: str, _labels: dict[str, Label]) -> Overrides:
    """TCP windows that a hop holds without an overflow."""
    return {f"flow.{group}.transport.receiver-window": 4 for group in ("tcp", "tcp-back")}


COV_DVRC, COV_TFRC = "CoV of DVRC", "CoV of TFRC"
LOSS_DVRC = "lost of what DVRC sent (%)"


INDEX_TFRC, INDEX_DVRC = "index of TFRC", "index of DVRC"
UNSENT_TFRC, UNSENT_WESTWOOD = "TFRC: never sent, of all made (%)", "Westwood+: never sent, of all made (%)"
LATE_BY_GAP, LATE_BY_EXCESS = "DVRC, 50 videos: late by gaps (%)", "DVRC, 50 videos: late by excess gaps (%)"
INDEX_BY_GAP, INDEX_BY_EXCESS = "DVRC, 50 videos: index by gaps", "DVRC, 50 videos: index by excess gaps"


RTCP_HOPS, DVRC_HOPS = "RTCP/UDP over 5 hops (Mb/s)", "DVRC over 5 hops (Mb/s)"
RTCP_REVERSE, DVRC_REVERSE = "RTCP/UDP, reverse traffic (Mb/s)", "DVRC, reverse traffic (Mb/s)"


BESIDE_DVRC, BESIDE_TFRC = "TCP's share beside DVRC", "TCP's share beside TFRC"
TIMEOUTS_TFRC = "timeouts of a TCP flow beside TFRC"


FIVE, ONE = "goodput over 5 hops (kb/s)", "goodput over 1 hop (kb/s)"
TEN, LOSS_FIVE = "goodput over 10 hops (kb/s)", "lost over 5 hops (%)"


INFORMED, CONGESTION, RANDOM = (
    "informedness (%)",
    "queue's losses taken for congestion (%)",
    "random losses taken for random (%)",
)


LOST_DVRC, LOST_TFRC = "DVRC: lost (%)", "TFRC: lost (%)"
MISSED_DVRC, MISSED_TFRC = "DVRC: did not arrive (%)", "TFRC: did not arrive (%)"


# Further claims, with one or two switches each. Quantities have the names that figures show.

AS_BASE = Side("base")
NEVER_HALVED = Side("never halved", changes=dvrc(aiamd__deviations=1000.0))
FASTER_ALPHA = Side("a packet per round trip", {"alpha": "a packet per round trip"})
EACH_PACKET = Side("rises with each packet", {"rise": "each packet"})
FASTER_LINKS = Side("links of 20 Mb/s", {"rates": "20 Mb/s"})
LONG_ROUNDS = Side("losses after the first of a round", {"losses": "q but for the first"})
COARSE = Side("clock of 500 ms", {"clock": "500 ms"})
HALF_LAYERS = Side("layers half as large", {"layers": "half as much"})
WITH_SACK = Side("recovery with SACK", {"recovery": "with SACK"})
NOT_ARRIVED = Side("all that did not arrive", {"lost": "all that did not arrive"})
LEFT = Side("of what left the sender", {"sent": "what left the sender"})
EXCESS = Side("excess gaps", {"late": "gap in excess of the sender's"})
IN_BYTES = Side("buffers in bytes", {"buffer-unit": "bytes"})
ONE_JITTER = Side("jitter of 1 ms", {"jitter": "1 ms"})
DEEP = Side("buffers twice as large", {"buffers": "twice that"})

ACROSS, BACKWARD = (DVRC, TFRC, WESTWOOD), (DVRC, TFRC, RTCP)


def _samples(
    measure: Measure, grid: str, name: str, unit: str = "", among: tuple[str, ...] = ACROSS
) -> dict[str, Samples]:  # fmt: skip
    """A measure of each system: "lost, DVRC (%)"."""
    return {f"{name}, {one}{unit}": _sample(measure, grid, transport=one) for one in among}


def _few_and_many(
    measure: Measure, grid: str, name: str, unit: str = "", among: tuple[str, ...] = ACROSS
) -> dict[str, Samples]:  # fmt: skip
    """A measure of each system with 5 and with 50 videos."""
    return {
        f"{name}, {one}, {flows} videos{unit}": _sample(measure, grid, transport=one, flows=flows)
        for one in among
        for flows in (5, 50)
    }


def _sample_flows(measure: Measure, grid: str, name: str, unit: str = "") -> dict[str, Samples]:
    """A measure of DVRC with 5, 20 and 50 videos."""
    return {
        f"{name}, {flows} videos{unit}": _sample(measure, grid, transport=DVRC, flows=flows)
        for flows in (5, 20, 50)
    }


FURTHER = [
    Experiment(
        "why-D4", "D4", "How fast DVRC's rate rises.", (AS_BASE, FASTER_ALPHA),
        _few_and_many(q.GOODPUT, p.CROSS, "goodput", " (Mb/s)"),
    ),
    Experiment(
        "why-D6", "D6", "Which packets are lost; then how errors come.", (AS_BASE, NOT_ARRIVED, LONG_ROUNDS),
        {
            **_samples(q.DROPPED_OF_MADE, p.CROSS, "lost", " (%)"),
            **_samples(q.MISSING_OF_MADE, p.CROSS, "did not arrive", " (%)"),
            **_samples(q.DELAYED, p.CROSS, "late", " (%)"),
        },
    ),
    Experiment(
        "why-D7", "D7", "What buffers count.", (AS_BASE, IN_BYTES),
        _few_and_many(q.WORST_CASE, p.CROSS, "worst-case fairness", "", (TFRC, WESTWOOD)),
    ),
    Experiment(
        "why-D8", "D8", "The spread of sendings; then the size of buffers.", (AS_BASE, ONE_JITTER, DEEP),
        {
            **_samples(q.FAIRNESS, p.SPREAD, "fairness, round trips spread"),
            **_samples(q.FAIRNESS, p.CROSS, "fairness, cross traffic"),
        },
    ),
    Experiment(
        "why-D9", "D9", "How fast DVRC's rate rises.", (AS_BASE, FASTER_ALPHA, EACH_PACKET),
        {
            "swing of R2's queue": _sample(q.SWING, p.QUEUE, transport=DVRC),
            "time with room in R2's queue (%)": _sample(q.NOT_FULL, p.QUEUE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D16", "D16", "How errors come on the last hop.", (AS_BASE, LONG_ROUNDS),
        {
            **_samples(q.FAIRNESS, p.REVERSE, "fairness", "", BACKWARD),
            **_samples(q.WORST_CASE, p.REVERSE, "worst-case fairness", "", BACKWARD),
        },
    ),
    Experiment(
        "why-D17", "D17", "Which packets are lost.", (AS_BASE, NOT_ARRIVED),
        {
            **_samples(q.DROPPED_OF_MADE, p.CHAIN, "lost", " (%)", BACKWARD),
            **_samples(q.MISSING_OF_MADE, p.CHAIN, "did not arrive", " (%)", BACKWARD),
            **_samples(q.INDEX, p.CHAIN, "index", "", BACKWARD),
        },
    ),
    Experiment(
        "why-D20", "D20", "The rate of the links.", (AS_BASE, FASTER_LINKS),
        {
            "index, reverse traffic": _sample(q.INDEX, p.REVERSE, transport=DVRC),
            "index, five hops": _sample(q.INDEX, p.CHAIN, transport=DVRC),
            "lost, reverse traffic (%)": _sample(q.DROPPED_OF_MADE, p.REVERSE, transport=DVRC),
            "lost, five hops (%)": _sample(q.DROPPED_OF_MADE, p.CHAIN, transport=DVRC),
            "late, reverse traffic (%)": _sample(q.DELAYED, p.REVERSE, transport=DVRC),
            "late, five hops (%)": _sample(q.DELAYED, p.CHAIN, transport=DVRC),
        },
    ),
    Experiment(
        "why-D21", "D21", "How fast DVRC's rate rises; then halving on congestion.",
        (AS_BASE, EACH_PACKET, NEVER_HALVED), _sample_flows(q.FAIRNESS, p.CROSS, "fairness"),
    ),
    Experiment(
        "why-D22", "D22", "Halving on congestion.", (AS_BASE, NEVER_HALVED),
        _samples(q.COV, p.CROSS, "CoV"),
    ),
    Experiment(
        "why-D23", "D23", "How fast DVRC's rate rises; then how errors come.", (AS_BASE, FASTER_ALPHA, LONG_ROUNDS),
        {
            **_sample_flows(q.DROPPED_OF_MADE, p.CROSS, "lost", " (%)"),
            **_sample_flows(q.DELAYED, p.CROSS, "late", " (%)"),
        },
    ),
    Experiment(
        "why-D24", "D24", "What counts as sent.", (AS_BASE, LEFT),
        {
            "late, of all made (%)": _sample(q.DELAYED, p.CROSS, transport=TFRC),
            "late, of what left (%)": _sample(q.DELAYED_OF_SENT, p.CROSS, transport=TFRC),
            "never sent (%)": _sample(q.NEVER_LEFT, p.CROSS, transport=TFRC),
        },
    ),
    Experiment(
        "why-D25", "D25", "The rate of the links.", (AS_BASE, FASTER_LINKS),
        _samples(q.LATE_OF_RECEIVED, p.CROSS, "late, of what arrived", " (%)"),
    ),
    Experiment(
        "why-D27", "D27", "How errors come; then halving on congestion.", (AS_BASE, LONG_ROUNDS, NEVER_HALVED),
        _samples(q.FAIRNESS, p.CROSS, "fairness"),
    ),
    Experiment(
        "why-D28", "D28", "The size of layers; then how fast DVRC's rate rises.", (AS_BASE, HALF_LAYERS, EACH_PACKET),
        _sample_flows(q.FAIRNESS, p.SPREAD, "fairness"),
    ),
    Experiment(
        "why-D30", "D30", "How fast DVRC's rate rises; then the rate of the links.",
        (AS_BASE, EACH_PACKET, FASTER_LINKS),
        _few_and_many(q.GOODPUT, p.REVERSE, "goodput", " (Mb/s)", BACKWARD),
    ),
    Experiment(
        "why-D31", "D31", "The meaning of late; then the rate of the links.", (AS_BASE, EXCESS, FASTER_LINKS),
        {
            **_few_and_many(q.INDEX, p.REVERSE, "index", "", BACKWARD),
            **{
                f"DVRC's index by excess gaps, {flows} videos":
                    _sample(q.INDEX_EXCESS, p.REVERSE, transport=DVRC, flows=flows)
                for flows in (5, 50)
            },
        },
    ),
    Experiment(
        "why-D32", "D32", "The size of layers.", (AS_BASE, HALF_LAYERS),
        _samples(q.WORST_CASE, p.REVERSE, "worst-case fairness", "", (DVRC, RTCP)),
    ),
    Experiment(
        "why-D33", "D33", "The clock of TCP's timeouts; then the size of layers.", (AS_BASE, COARSE, HALF_LAYERS),
        {
            "TCP's share beside TFRC": _sample(TCP_SHARE, p.FRIENDLY, transport=TFRC),
            "timeouts of a TCP flow beside TFRC": _sample(q.TIMEOUTS, p.FRIENDLY, transport=TFRC),
        },
    ),
    Experiment(
        "why-D34", "D34", "The size of layers; then the clock of TCP's timeouts.", (AS_BASE, HALF_LAYERS, COARSE),
        {
            "a video's goodput, 40 TCP flows, 50 videos (kb/s)":
                _sample(q.flow_goodput(q.VIDEO), p.FRIENDLY, transport=DVRC, tcp=40, flows=50),
            "TCP's share beside 50 videos": _sample(TCP_SHARE, p.FRIENDLY, transport=DVRC, tcp=40, flows=50),
        },
    ),
    Experiment(
        "why-D35", "D35", "Transfers that do not overflow their hop.",
        (AS_BASE, Side("TCP's window of 4 packets", changes=_unfilled)),
        {
            **{
                f"a TCP flow, {hops} hops (kb/s)": _sample(q.flow_goodput(q.TCP), p.HOPS, transport=DVRC, hops=hops)
                for hops in (1, 5, 10)
            },
            **{
                f"the video, {hops} hops (kb/s)": _sample(q.flow_goodput(q.VIDEO), p.HOPS, transport=DVRC, hops=hops)
                for hops in (1, 5, 10)
            },
        },
    ),
    Experiment(
        "why-D29", "D29", "Recovery; then the rate of the links.", (AS_BASE, WITH_SACK, FASTER_LINKS),
        {f"swing of R2's queue, {one}": _sample(q.SWING, p.RULES, transport=one) for one in (DVRC, RENO, AIAD)},
    ),
    Experiment(
        "why-D36", "D36", "The size of buffers.", (AS_BASE, DEEP),
        {
            **{f"lost, {one} (%)": _sample(q.DROPS, p.RULES, transport=one) for one in (DVRC, AIAD)},
            **{f"fairness, {one}": _sample(q.FAIRNESS, p.RULES, transport=one) for one in (DVRC, AIAD)},
        },
    ),
    Experiment(
        "why-D2", "D2", "When packets leave the sender; then one reaction per round trip.",
        (AS_BASE, Side("as frames are made", {"pace": "as frames are made"}), Side("once per round trip", GENTLE)),
        {
            "largest jitter (ms)": _sample(q.LARGEST_JITTER, p.SINGLE, transport=DVRC),
            "CoV": _sample(q.COV, p.SINGLE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D3", "D3", "The weight n of the deviation in the bound R̄ − n·D̄.",
        (AS_BASE, Side("n = 0", changes=dvrc(aiamd__deviations=0.0))),
        {
            RANDOM: _sample(q.RECALL_RANDOM, p.BOUND, reading=p.TEXT),
            "losses above the bound (%)": _sample(q.JUDGED_RANDOM, p.BOUND, reading=p.TEXT),
            CONGESTION: _sample(q.RECALL_CONGESTION, p.BOUND, reading=p.TEXT),
        },
    ),
    Experiment(
        "why-D13", "D13", "How fast DVRC's rate rises.", (AS_BASE, FASTER_ALPHA),
        {
            f"{name}, {layers} layers{unit}": _sample(measure, p.LAYERS, layers=layers)
            for name, measure, unit in (("goodput", q.GOODPUT, " (Mb/s)"), ("index", q.INDEX, ""))
            for layers in (4, 5, 8)
        },
    ),
    Experiment(
        "why-D18", "D18", "How fast DVRC's rate rises; then halving on congestion.",
        (AS_BASE, EACH_PACKET, NEVER_HALVED), _sample_flows(q.FAIRNESS, p.CHAIN, "fairness"),
    ),
    Experiment(
        "why-D19", "D19", "The clock of TCP's timeouts; then recovery.", (AS_BASE, COARSE, WITH_SACK),
        {
            "CoV of TCP": _sample(q.COV_TCP, p.SINGLE, transport=DVRC),
            "CoV of DVRC": _sample(q.COV, p.SINGLE, transport=DVRC),
            "timeouts of a TCP flow": _sample(q.TIMEOUTS, p.SINGLE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D26", "D26", "How errors come on the last hop.", (AS_BASE, LONG_ROUNDS),
        _samples(q.FAIRNESS, p.CROSS, "fairness", "", (TFRC, WESTWOOD)),
    ),
]  # fmt: skip
"""Of claims that one more switch explains."""

FIRST = [
    Experiment(
        "why-D1", "D1", "Halving on congestion, and one reaction per gap, on and off.",
        (
            Side("as printed"), Side("never halved", changes=dvrc(aiamd__deviations=1000.0)),
            Side("once per round trip", GENTLE), Side("both", GENTLE, dvrc(aiamd__deviations=1000.0)),
        ),
        {
            COV_DVRC: _sample(q.COV, p.SINGLE, transport=DVRC), COV_TFRC: _sample(q.COV, p.SINGLE, transport=TFRC),
            LOSS_DVRC: _sample(q.DROPS, p.SINGLE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D5", "D5", "The meaning of sent, and of late.",
        (
            Side("of all made"), Side("of what left the sender", {"sent": "what left the sender"}),
            Side("excess gaps, of all made", {"late": "gap in excess of the sender's"}),
        ),
        {
            INDEX_DVRC: _sample(q.INDEX, p.CROSS, transport=DVRC),
            INDEX_TFRC: _sample(q.INDEX, p.CROSS, transport=TFRC),
            UNSENT_TFRC: _sample(q.NEVER_LEFT, p.CROSS, transport=TFRC),
            UNSENT_WESTWOOD: _sample(q.NEVER_LEFT, p.CROSS, transport=WESTWOOD),
            LATE_BY_GAP: _sample(q.DELAYED, p.CROSS, transport=DVRC, flows=50),
            LATE_BY_EXCESS: _sample(q.DELAYED_EXCESS, p.CROSS, transport=DVRC, flows=50),
            INDEX_BY_GAP: _sample(q.INDEX, p.CROSS, transport=DVRC, flows=50),
            INDEX_BY_EXCESS: _sample(q.INDEX_EXCESS, p.CROSS, transport=DVRC, flows=50),
        },
    ),
    Experiment(
        "why-D10", "D10", "The smallest loss that a sender reacts to.",
        (
            Side("as printed"), Side("RTCP/UDP at 2 and 1 %", {"reports": "2 and 1 %"}),
            Side("DVRC once per round trip", GENTLE),
        ),
        {
            RTCP_HOPS: _sample(q.GOODPUT, p.CHAIN, transport=RTCP),
            DVRC_HOPS: _sample(q.GOODPUT, p.CHAIN, transport=DVRC),
            RTCP_REVERSE: _sample(q.GOODPUT, p.REVERSE, transport=RTCP),
            DVRC_REVERSE: _sample(q.GOODPUT, p.REVERSE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D11", "D11", "A clock of 500 ms, no spread of sendings, and videos of half the rate.",
        (
            Side("the base"), Side("clock of 500 ms", {"clock": "500 ms"}), Side("no jitter", {"jitter": "none"}),
            Side("both and half layers", {"clock": "500 ms", "jitter": "none", "layers": "half as much"}),
        ),
        {
            BESIDE_DVRC: _sample(TCP_SHARE, p.FRIENDLY, transport=DVRC),
            BESIDE_TFRC: _sample(TCP_SHARE, p.FRIENDLY, transport=TFRC),
            TIMEOUTS_TFRC: _sample(q.TIMEOUTS, p.FRIENDLY, transport=TFRC),
        },
    ),
    Experiment(
        "why-D12", "D12", "A gentler DVRC, and transfers that do not overflow their hop.",
        (
            Side("as printed"), Side("once per round trip", GENTLE),
            Side("TCP's window of 4 packets", changes=_unfilled),
        ),
        {
            ONE: _sample(q.flow_goodput(q.VIDEO), p.HOPS, transport=DVRC, hops=1),
            FIVE: _sample(q.flow_goodput(q.VIDEO), p.HOPS, transport=DVRC, hops=5),
            TEN: _sample(q.flow_goodput(q.VIDEO), p.HOPS, transport=DVRC, hops=10),
            LOSS_FIVE: _sample(q.DROPS, p.HOPS, transport=DVRC, hops=5),
        },
    ),
    Experiment(
        "why-D14", "D14", "The weight n of the deviation in the bound R̄ − n·D̄, over 400 s.",
        tuple(Side(f"n = {n:g}", changes=_weighed(n)) for n in (1.5, 0.75, 0.0)),
        {
            CONGESTION: _sample(q.RECALL_CONGESTION, p.BOUND, reading=p.TEXT),
            RANDOM: _sample(q.RECALL_RANDOM, p.BOUND, reading=p.TEXT),
            INFORMED: _sample(q.INFORMEDNESS, p.BOUND, reading=p.TEXT),
        },
    ),
    Experiment(
        "why-D15", "D15", "Which packets are lost.",
        (Side("in the network"), Side("all that did not arrive", {"lost": "all that did not arrive"})),
        {
            LOST_DVRC: _sample(q.DROPPED_OF_MADE, p.REVERSE, transport=DVRC),
            LOST_TFRC: _sample(q.DROPPED_OF_MADE, p.REVERSE, transport=TFRC),
            MISSED_DVRC: _sample(q.MISSING_OF_MADE, p.REVERSE, transport=DVRC),
            MISSED_TFRC: _sample(q.MISSING_OF_MADE, p.REVERSE, transport=TFRC),
        },
    ),
]  # fmt: skip
"""Of the claims that the exploration contradicts most often."""

EXPERIMENTS = sorted([*FIRST, *FURTHER], key=lambda one: int(one.claim.removeprefix("D")))
"""All of them, in the order of the claims."""
