"""Why claims of paper 002 come out as they do: a mechanism on and off, under seeds that nothing else uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.claims import TCP_SHARE, of, swept
from fairwave_studies.video.readings import dvrc
from fairwave_studies.video.systems import DVRC, RTCP, TFRC, WESTWOOD
from fairwave_study.experiments import Experiment, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave.runs.grid import Label, Overrides
    from fairwave_study.experiments import FoundExperiment
    from fairwave_study.readings import Changes
    from fairwave_study.study import Data

    Samples = Callable[[Data], NDArray[np.float64]]

GENTLE = {"reaction": "once per round trip", "alpha": "a packet per round trip"}
"""DVRC that answers the losses of a round trip once and counts α in packets per round trip: admitted and flagged."""


def _at(measure: Measure, grid: str, **labels: object) -> Samples:
    """A measure at a point of a grid; what the labels leave open is averaged, but for points of a single flow."""

    def samples(data: Data) -> NDArray[np.float64]:
        found = data.measured(measure, grid)
        if "flows" in found.axes and "flows" not in labels:
            found = swept(found)
        found = of(found, **labels)
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


def _sides(found: FoundExperiment) -> list[str]:
    return [one.label for one in found.experiment.sides]


def _each(found: FoundExperiment, name: str, digits: int = 2) -> str:
    """A quantity on every side: "0.59 (every gap), 0.21 (once)"."""
    return ", ".join(f"{found.of(side, name).mean:.{digits}f} ({side})" for side in _sides(found))


def _moves(found: FoundExperiment, name: str, side: str | None = None, digits: int = 2) -> str:
    """How much a quantity is higher on a side than on the first, with its interval."""
    change = found.change(name, side)
    return f"{change.mean:+.{digits}f} [{change.low:+.{digits}f}, {change.high:+.{digits}f}]"


def _with_interval(found: FoundExperiment, side: str, name: str, digits: int = 2) -> str:
    told = found.of(side, name)
    return f"{told.mean:.{digits}f} [{told.low:.{digits}f}, {told.high:.{digits}f}]"


def _part(found: FoundExperiment, side: str, name: str) -> str:
    return str(found.evidence[side].parts()[name].verdict())


def _paragraph(text: str) -> str:
    """A paragraph that is written over several lines, as one."""
    return " ".join(text.split())


COV_DVRC, COV_TFRC = "CoV of DVRC", "CoV of TFRC"
LOSS_DVRC = "lost of what DVRC sent (%)"


def _d1(found: FoundExperiment) -> str:
    _, never, gentle, both = _sides(found)
    return _paragraph(f"""
        DVRC's coefficient of variation is {_each(found, COV_DVRC)}, TFRC's
        {found.of(both, COV_TFRC).mean:.2f}; published are 0.1854 and 0.2229. Two things make DVRC rough. It halves
        its rate at losses that it takes for congestion: without, the coefficient changes by
        {_moves(found, COV_DVRC, never)}. And it answers every gap in sequence numbers, of which one overflow of a
        drop-tail queue leaves several: with one reaction and one packet per round trip it changes by
        {_moves(found, COV_DVRC, gentle)}, with both by {_moves(found, COV_DVRC, both)}. Then DVRC − TFRC is
        {_with_interval(found, both, "DVRC − TFRC")}. The smoothness that §5.1 prints is that of a sender that
        gives way additively alone and seldom, and it is paid for: lost are {_each(found, LOSS_DVRC, 1)} %.
    """)


INDEX_TFRC, INDEX_DVRC = "index of TFRC", "index of DVRC"
UNSENT_TFRC, UNSENT_WESTWOOD = "TFRC: never sent, of all made (%)", "Westwood+: never sent, of all made (%)"
LATE_BY_GAP, LATE_BY_EXCESS = "DVRC, 50 videos: late by gaps (%)", "DVRC, 50 videos: late by excess gaps (%)"
INDEX_BY_GAP, INDEX_BY_EXCESS = "DVRC, 50 videos: index by gaps", "DVRC, 50 videos: index by excess gaps"


def _d5(found: FoundExperiment) -> str:
    made, left, excess = _sides(found)
    return _paragraph(f"""
        Of all that was made DVRC's index is {found.of(made, INDEX_DVRC).mean:.2f} and TFRC's
        {found.of(made, INDEX_TFRC).mean:.2f}. Over TFRC {found.of(made, UNSENT_TFRC).mean:.0f} % of the video never
        leaves the sender, over Westwood+ {found.of(made, UNSENT_WESTWOOD).mean:.0f} %, because a video that is not
        adapted asks for more than its share. Whether that counts as sent decides who is highest: that DVRC is, is
        {_part(found, made, "highest")} of all made and {_part(found, left, "highest")} of what left the sender; a
        definition, and no property of a network. That DVRC's index falls with contention is arithmetic of another
        definition: at the base layer's 128 kb/s packets of 1000 bytes leave 62.5 ms apart, so that a packet
        that is lost makes the next one late by a threshold of 75 ms. With 50 videos
        {found.of(made, LATE_BY_GAP).mean:.1f} % are late and the index is {found.of(made, INDEX_BY_GAP).mean:.2f};
        by gaps in excess of the sender's own {found.of(made, LATE_BY_EXCESS).mean:.1f} % are, and it is
        {found.of(made, INDEX_BY_EXCESS).mean:.2f}. That it is nearly flat is {_part(found, made, "nearly flat")} by
        gaps and {_part(found, excess, "nearly flat")} by excess gaps.
    """)


RTCP_HOPS, DVRC_HOPS = "RTCP/UDP over 5 hops (Mb/s)", "DVRC over 5 hops (Mb/s)"
RTCP_REVERSE, DVRC_REVERSE = "RTCP/UDP, reverse traffic (Mb/s)", "DVRC, reverse traffic (Mb/s)"


def _d10(found: FoundExperiment) -> str:
    base, strict, gentle = _sides(found)
    return _paragraph(f"""
        Over five hops the videos get {found.of(base, RTCP_HOPS).mean:.2f} Mb/s by RTCP/UDP and
        {found.of(base, DVRC_HOPS).mean:.2f} by DVRC; with reverse traffic
        {found.of(base, RTCP_REVERSE).mean:.2f} and {found.of(base, DVRC_REVERSE).mean:.2f}. A sender that drops a
        layer only above 5 % lost stays where it is while five hops of TCP take a few per cent; DVRC gives way at
        every gap. With thresholds of 2 and 1 % RTCP/UDP changes by {_moves(found, RTCP_HOPS, strict)} Mb/s over five
        hops ({found.verdict(strict)}); with one reaction and one packet per round trip DVRC changes by
        {_moves(found, DVRC_HOPS, gentle)} ({found.verdict(gentle)}). Who gets more hangs on how little loss a sender
        answers, which the paper leaves open for RTCP/UDP.
    """)


BESIDE_DVRC, BESIDE_TFRC = "TCP's share beside DVRC", "TCP's share beside TFRC"
TIMEOUTS_TFRC = "timeouts of a TCP flow beside TFRC"


def _d11(found: FoundExperiment) -> str:
    base, clock, still, every = _sides(found)
    return _paragraph(f"""
        TCP's normalised throughput is {_each(found, BESIDE_TFRC)} beside TFRC and {_each(found, BESIDE_DVRC)} beside
        DVRC. A clock of 500 ms changes it by {_moves(found, BESIDE_TFRC, clock)} beside TFRC, and beside DVRC too
        ({_moves(found, BESIDE_DVRC, clock)}). With so many flows a window is a few packets, losses end in timeouts
        ({_each(found, TIMEOUTS_TFRC, 1)} per flow), and the clock makes each of them long; the videos' protocols
        have no such clock. So Figure 16's starvation is that of coarse timeouts and not of equation-based control.
        That TCP keeps its share beside DVRC is a phase effect: sendings that are not spread change it by
        {_moves(found, BESIDE_DVRC, still)}. With both, and videos of half the rate, which ask for less than their
        share, it is {_with_interval(found, every, BESIDE_DVRC)} beside DVRC and
        {_with_interval(found, every, BESIDE_TFRC)} beside TFRC, and the claim is {found.verdict(every)}
        ({found.verdict(base)} in the base).
    """)


FIVE, ONE = "goodput over 5 hops (kb/s)", "goodput over 1 hop (kb/s)"
TEN, LOSS_FIVE = "goodput over 10 hops (kb/s)", "lost over 5 hops (%)"


def _d12(found: FoundExperiment) -> str:
    base, gentle, unfilled = _sides(found)
    return _paragraph(f"""
        Over one hop DVRC gets {_each(found, ONE, 0)} kb/s, over five {_each(found, FIVE, 0)}, over ten
        {_each(found, TEN, 0)}. Each hop has a TCP flow that fills its queue and overflows it, so that a flow through
        all of them meets the sum of their losses ({found.of(base, LOSS_FIVE).mean:.0f} % over five). A gentler DVRC
        gains {_moves(found, FIVE, gentle, 0)} kb/s over five hops and {_moves(found, TEN, gentle, 0)} over ten. Where
        TCP's window is 4 packets, which a hop holds without an overflow, the gain is
        {_moves(found, FIVE, unfilled, 0)} and {_moves(found, TEN, unfilled, 0)} kb/s at
        {found.of(unfilled, LOSS_FIVE).mean:.1f} % lost, and the claim is {found.verdict(unfilled)}. Figure 17's
        share, which does not depend on the number of hops, needs transfers that do not overflow their hop; a window
        of 64 kB on 1 Mb/s does.
    """)


INFORMED, CONGESTION, RANDOM = (
    "informedness (%)",
    "queue's losses taken for congestion (%)",
    "random losses taken for random (%)",
)


def _d14(found: FoundExperiment) -> str:
    base, *others = _sides(found)
    last = others[-1]
    return _paragraph(f"""
        Of the queue's losses {_each(found, CONGESTION, 0)} % are taken for congestion, of random ones
        {_each(found, RANDOM, 0)} % for random. With the paper's n = 1.5 the bound lies so low that nearly every loss
        falls above it: both shares together, less what a judge has who does not look at all (informedness), come to
        {_with_interval(found, base, INFORMED, 0)} %. With n = 0, the bound at the average itself, it is
        {_with_interval(found, last, INFORMED, 0)} %: n trades one kind of error for the other, and the rate at a loss
        holds little of its cause. A drop-tail queue drops when it is full, and while it is full the receiver has its
        whole share of the link; the rate falls after the first loss. The verdict is {found.verdict(base)} with
        n = 1.5 and {found.verdict(last)} with n = 0.
    """)


LOST_DVRC, LOST_TFRC = "DVRC: lost (%)", "TFRC: lost (%)"
MISSED_DVRC, MISSED_TFRC = "DVRC: did not arrive (%)", "TFRC: did not arrive (%)"


def _d15(found: FoundExperiment) -> str:
    network, missing = _sides(found)
    return _paragraph(f"""
        In the network DVRC loses {found.of(network, LOST_DVRC).mean:.1f} % of all that was made and TFRC
        {found.of(network, LOST_TFRC).mean:.1f} %; of TFRC's video {found.of(network, MISSED_TFRC).mean:.0f} % did not
        arrive, of DVRC's {found.of(network, MISSED_DVRC).mean:.0f} %. The verdict is {found.verdict(network)} where
        lost is what a queue or a link dropped, and {found.verdict(missing)} where it is all that did not arrive. TFRC
        holds back what it may not send; what the paper calls its losses is, in this set-up, what waits.
    """)


EXPERIMENTS = [
    Experiment(
        "why-D1", "D1", "Halving on congestion, and one reaction per gap, on and off.",
        (
            Side("as printed"), Side("never halved", changes=dvrc(aiamd__deviations=1000.0)),
            Side("once per round trip", GENTLE), Side("both", GENTLE, dvrc(aiamd__deviations=1000.0)),
        ), _d1,
        {
            COV_DVRC: _at(q.COV, p.SINGLE, transport=DVRC), COV_TFRC: _at(q.COV, p.SINGLE, transport=TFRC),
            LOSS_DVRC: _at(q.DROPS, p.SINGLE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D5", "D5", "What counts as sent, and what as late.",
        (
            Side("of all made"), Side("of what left the sender", {"sent": "what left the sender"}),
            Side("excess gaps, of all made", {"late": "gap in excess of the sender's"}),
        ), _d5,
        {
            INDEX_DVRC: _at(q.INDEX, p.CROSS, transport=DVRC), INDEX_TFRC: _at(q.INDEX, p.CROSS, transport=TFRC),
            UNSENT_TFRC: _at(q.NEVER_LEFT, p.CROSS, transport=TFRC),
            UNSENT_WESTWOOD: _at(q.NEVER_LEFT, p.CROSS, transport=WESTWOOD),
            LATE_BY_GAP: _at(q.DELAYED, p.CROSS, transport=DVRC, flows=50),
            LATE_BY_EXCESS: _at(q.DELAYED_EXCESS, p.CROSS, transport=DVRC, flows=50),
            INDEX_BY_GAP: _at(q.INDEX, p.CROSS, transport=DVRC, flows=50),
            INDEX_BY_EXCESS: _at(q.INDEX_EXCESS, p.CROSS, transport=DVRC, flows=50),
        },
    ),
    Experiment(
        "why-D10", "D10", "How little loss a sender answers.",
        (
            Side("as printed"), Side("RTCP/UDP at 2 and 1 %", {"reports": "2 and 1 %"}),
            Side("DVRC once per round trip", GENTLE),
        ), _d10,
        {
            RTCP_HOPS: _at(q.GOODPUT, p.CHAIN, transport=RTCP), DVRC_HOPS: _at(q.GOODPUT, p.CHAIN, transport=DVRC),
            RTCP_REVERSE: _at(q.GOODPUT, p.REVERSE, transport=RTCP),
            DVRC_REVERSE: _at(q.GOODPUT, p.REVERSE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D11", "D11", "A clock of 500 ms, no spread of sendings, and videos of half the rate.",
        (
            Side("the base"), Side("clock of 500 ms", {"clock": "500 ms"}), Side("no jitter", {"jitter": "none"}),
            Side("both and half layers", {"clock": "500 ms", "jitter": "none", "layers": "half as much"}),
        ), _d11,
        {
            BESIDE_DVRC: _at(TCP_SHARE, p.FRIENDLY, transport=DVRC),
            BESIDE_TFRC: _at(TCP_SHARE, p.FRIENDLY, transport=TFRC),
            TIMEOUTS_TFRC: _at(q.TIMEOUTS, p.FRIENDLY, transport=TFRC),
        },
    ),
    Experiment(
        "why-D12", "D12", "A gentler DVRC, and transfers that do not overflow their hop.",
        (
            Side("as printed"), Side("once per round trip", GENTLE),
            Side("TCP's window of 4 packets", changes=_unfilled),
        ), _d12,
        {
            ONE: _at(q.per_flow(q.VIDEO), p.HOPS, transport=DVRC, hops=1),
            FIVE: _at(q.per_flow(q.VIDEO), p.HOPS, transport=DVRC, hops=5),
            TEN: _at(q.per_flow(q.VIDEO), p.HOPS, transport=DVRC, hops=10),
            LOSS_FIVE: _at(q.DROPS, p.HOPS, transport=DVRC, hops=5),
        },
    ),
    Experiment(
        "why-D14", "D14", "The weight n of the deviation in the bound R̄ − n·D̄, over 400 s.",
        tuple(Side(f"n = {n:g}", changes=_weighed(n)) for n in (1.5, 0.75, 0.0)), _d14,
        {
            CONGESTION: _at(q.RECALL_CONGESTION, p.BOUND, reading=p.TEXT),
            RANDOM: _at(q.RECALL_RANDOM, p.BOUND, reading=p.TEXT),
            INFORMED: _at(q.INFORMEDNESS, p.BOUND, reading=p.TEXT),
        },
    ),
    Experiment(
        "why-D15", "D15", "Which packets are lost.",
        (Side("in the network"), Side("all that did not arrive", {"lost": "all that did not arrive"})), _d15,
        {
            LOST_DVRC: _at(q.DROPPED_OF_MADE, p.REVERSE, transport=DVRC),
            LOST_TFRC: _at(q.DROPPED_OF_MADE, p.REVERSE, transport=TFRC),
            MISSED_DVRC: _at(q.MISSING_OF_MADE, p.REVERSE, transport=DVRC),
            MISSED_TFRC: _at(q.MISSING_OF_MADE, p.REVERSE, transport=TFRC),
        },
    ),
]  # fmt: skip
"""All of them."""
