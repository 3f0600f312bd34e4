"""Why claims of paper 002 come out as they do: a mechanism on and off, under seeds that nothing else uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.claims import TCP_SHARE, of, swept
from fairwave_studies.video.readings import dvrc
from fairwave_studies.video.systems import AIAD, DVRC, RENO, RTCP, TFRC, WESTWOOD
from fairwave_study.experiments import Experiment, Side, paragraph

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


COV_DVRC, COV_TFRC = "CoV of DVRC", "CoV of TFRC"
LOSS_DVRC = "lost of what DVRC sent (%)"


def _d1(found: FoundExperiment) -> str:
    _, never, gentle, both = found.sides()
    return paragraph(f"""
        DVRC's coefficient of variation is {found.each(COV_DVRC)}, TFRC's {found.of(both, COV_TFRC).mean:.2f};
        published are 0.1854 and 0.2229. Two things make DVRC rough. It halves its rate at losses that it takes for
        congestion: without, the coefficient changes by {found.moves(COV_DVRC, never)}. And it answers every gap in
        sequence numbers, of which one overflow of a drop-tail queue leaves several: with one reaction and one packet
        per round trip it changes by {found.moves(COV_DVRC, gentle)}, with both by {found.moves(COV_DVRC, both)}.
        Then DVRC − TFRC is {found.with_interval(both, "DVRC − TFRC")}. The smoothness that §5.1 prints is that of a
        sender that gives way additively alone and seldom, and it is paid for: lost are {found.each(LOSS_DVRC, 1)}
        %.
    """)


INDEX_TFRC, INDEX_DVRC = "index of TFRC", "index of DVRC"
UNSENT_TFRC, UNSENT_WESTWOOD = "TFRC: never sent, of all made (%)", "Westwood+: never sent, of all made (%)"
LATE_BY_GAP, LATE_BY_EXCESS = "DVRC, 50 videos: late by gaps (%)", "DVRC, 50 videos: late by excess gaps (%)"
INDEX_BY_GAP, INDEX_BY_EXCESS = "DVRC, 50 videos: index by gaps", "DVRC, 50 videos: index by excess gaps"


def _d5(found: FoundExperiment) -> str:
    made, left, excess = found.sides()
    return paragraph(f"""
        Of all that was made DVRC's index is {found.of(made, INDEX_DVRC).mean:.2f} and TFRC's
        {found.of(made, INDEX_TFRC).mean:.2f}. Over TFRC {found.of(made, UNSENT_TFRC).mean:.0f} % of the video never
        leaves the sender, over Westwood+ {found.of(made, UNSENT_WESTWOOD).mean:.0f} %, because a video that is not
        adapted asks for more than its share. Whether that counts as sent decides who is highest: that DVRC is, is
        {found.part(made, "highest")} of all made and {found.part(left, "highest")} of what left the sender; a
        definition, and no property of a network. That DVRC's index falls with contention is arithmetic of another
        definition: at the base layer's 128 kb/s packets of 1000 bytes leave 62.5 ms apart, so that a packet that is
        lost makes the next one late by a threshold of 75 ms. With 50 videos {found.of(made, LATE_BY_GAP).mean:.1f} %
        are late and the index is {found.of(made, INDEX_BY_GAP).mean:.2f}; by gaps in excess of the sender's own
        {found.of(made, LATE_BY_EXCESS).mean:.1f} % are, and it is {found.of(made, INDEX_BY_EXCESS).mean:.2f}. That it
        is nearly flat is {found.part(made, "nearly flat")} by gaps and {found.part(excess, "nearly flat")} by
        excess gaps.
    """)


RTCP_HOPS, DVRC_HOPS = "RTCP/UDP over 5 hops (Mb/s)", "DVRC over 5 hops (Mb/s)"
RTCP_REVERSE, DVRC_REVERSE = "RTCP/UDP, reverse traffic (Mb/s)", "DVRC, reverse traffic (Mb/s)"


def _d10(found: FoundExperiment) -> str:
    base, strict, gentle = found.sides()
    return paragraph(f"""
        Over five hops the videos get {found.of(base, RTCP_HOPS).mean:.2f} Mb/s by RTCP/UDP and
        {found.of(base, DVRC_HOPS).mean:.2f} by DVRC; with reverse traffic {found.of(base, RTCP_REVERSE).mean:.2f} and
        {found.of(base, DVRC_REVERSE).mean:.2f}. A sender that drops a layer only above 5 % lost stays where it is
        while five hops of TCP take a few per cent; DVRC gives way at every gap. With thresholds of 2 and 1 % RTCP/UDP
        changes by {found.moves(RTCP_HOPS, strict)} Mb/s over five hops ({found.verdict(strict)}); with one reaction
        and one packet per round trip DVRC changes by {found.moves(DVRC_HOPS, gentle)} ({found.verdict(gentle)}).
        Who gets more hangs on how little loss a sender answers, which the paper leaves open for RTCP/UDP.
    """)


BESIDE_DVRC, BESIDE_TFRC = "TCP's share beside DVRC", "TCP's share beside TFRC"
TIMEOUTS_TFRC = "timeouts of a TCP flow beside TFRC"


def _d11(found: FoundExperiment) -> str:
    base, clock, still, every = found.sides()
    return paragraph(f"""
        TCP's normalised throughput is {found.each(BESIDE_TFRC)} beside TFRC and {found.each(BESIDE_DVRC)} beside
        DVRC. A clock of 500 ms changes it by {found.moves(BESIDE_TFRC, clock)} beside TFRC, and beside DVRC too
        ({found.moves(BESIDE_DVRC, clock)}). With so many flows a window is a few packets, losses end in timeouts
        ({found.each(TIMEOUTS_TFRC, 1)} per flow), and the clock makes each of them long; the videos' protocols have
        no such clock. So Figure 16's starvation is that of coarse timeouts and not of equation-based control. That
        TCP keeps its share beside DVRC is a phase effect: sendings that are not spread change it by
        {found.moves(BESIDE_DVRC, still)}. With both, and videos of half the rate, which ask for less than their
        share, it is {found.with_interval(every, BESIDE_DVRC)} beside DVRC and
        {found.with_interval(every, BESIDE_TFRC)} beside TFRC, and the claim is {found.verdict(every)}
        ({found.verdict(base)} in the base).
    """)


FIVE, ONE = "goodput over 5 hops (kb/s)", "goodput over 1 hop (kb/s)"
TEN, LOSS_FIVE = "goodput over 10 hops (kb/s)", "lost over 5 hops (%)"


def _d12(found: FoundExperiment) -> str:
    base, gentle, unfilled = found.sides()
    return paragraph(f"""
        Over one hop DVRC gets {found.each(ONE, 0)} kb/s, over five {found.each(FIVE, 0)}, over ten
        {found.each(TEN, 0)}. Each hop has a TCP flow that fills its queue and overflows it, so that a flow through
        all of them meets the sum of their losses ({found.of(base, LOSS_FIVE).mean:.0f} % over five). A gentler DVRC
        gains {found.moves(FIVE, gentle, 0)} kb/s over five hops and {found.moves(TEN, gentle, 0)} over ten. Where
        TCP's window is 4 packets, which a hop holds without an overflow, the gain is
        {found.moves(FIVE, unfilled, 0)} and {found.moves(TEN, unfilled, 0)} kb/s at
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
    base, *others = found.sides()
    last = others[-1]
    return paragraph(f"""
        Of the queue's losses {found.each(CONGESTION, 0)} % are taken for congestion, of random ones
        {found.each(RANDOM, 0)} % for random. With the paper's n = 1.5 the bound lies so low that nearly every loss
        falls above it: both shares together, less what a judge has who does not look at all (informedness), come to
        {found.with_interval(base, INFORMED, 0)} %. With n = 0, the bound at the average itself, it is
        {found.with_interval(last, INFORMED, 0)} %: n trades one kind of error for the other, and the rate at a loss
        holds little of its cause. A drop-tail queue drops when it is full, and while it is full the receiver has its
        whole share of the link; the rate falls after the first loss. The verdict is {found.verdict(base)} with n =
        1.5 and {found.verdict(last)} with n = 0.
    """)


LOST_DVRC, LOST_TFRC = "DVRC: lost (%)", "TFRC: lost (%)"
MISSED_DVRC, MISSED_TFRC = "DVRC: did not arrive (%)", "TFRC: did not arrive (%)"


def _d15(found: FoundExperiment) -> str:
    network, missing = found.sides()
    return paragraph(f"""
        In the network DVRC loses {found.of(network, LOST_DVRC).mean:.1f} % of all that was made and TFRC
        {found.of(network, LOST_TFRC).mean:.1f} %; of TFRC's video {found.of(network, MISSED_TFRC).mean:.0f} % did not
        arrive, of DVRC's {found.of(network, MISSED_DVRC).mean:.0f} %. The verdict is {found.verdict(network)} where
        lost is what a queue or a link dropped, and {found.verdict(missing)} where it is all that did not arrive. TFRC
        holds back what it may not send; what the paper calls its losses is, in this set-up, what waits.
    """)


# Further claims, a switch or two each. Quantities are named as they stand in figures.

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


def _by_system(
    measure: Measure, grid: str, name: str, unit: str = "", among: tuple[str, ...] = ACROSS
) -> dict[str, Samples]:  # fmt: skip
    """A measure of each system: "lost, DVRC (%)"."""
    return {f"{name}, {one}{unit}": _at(measure, grid, transport=one) for one in among}


def _few_and_many(
    measure: Measure, grid: str, name: str, unit: str = "", among: tuple[str, ...] = ACROSS
) -> dict[str, Samples]:  # fmt: skip
    """A measure of each system with 5 and with 50 videos."""
    return {
        f"{name}, {one}, {flows} videos{unit}": _at(measure, grid, transport=one, flows=flows)
        for one in among
        for flows in (5, 50)
    }


def _by_flows(measure: Measure, grid: str, name: str, unit: str = "") -> dict[str, Samples]:
    """A measure of DVRC with 5, 20 and 50 videos."""
    return {
        f"{name}, {flows} videos{unit}": _at(measure, grid, transport=DVRC, flows=flows)
        for flows in (5, 20, 50)
    }


def _told(found: FoundExperiment, name: str, digits: int = 2) -> str:
    """A quantity on the first side, and on those that differ from it: "0.97 (0.94: rises with each packet)"."""
    first, *others = [(side, f"{found.of(side, name).mean:.{digits}f}") for side in found.sides()]
    differ = ", ".join(f"{value}: {side}" for side, value in others if value != first[1])
    return f"{first[1]} ({differ})" if differ else first[1]


def _judged(found: FoundExperiment) -> str:
    """The verdicts: "The claim is reproduced (as in the base reading), undecided (…)."."""
    several = ", ".join(f"{found.verdict(side)} ({side})" for side in found.sides())
    return f"The claim is {several}."


def _d4(found: FoundExperiment) -> str:
    _, faster = found.sides()
    return paragraph(f"""
        Westwood+ falls short of TFRC with 50 videos: {_told(found, "goodput, Westwood+, 50 videos (Mb/s)")} Mb/s to
        {_told(found, "goodput, TFRC, 50 videos (Mb/s)")}. That it falls short of DVRC hangs on how fast DVRC comes
        back after it gave way: by a packet per second it has {_told(found, "goodput, DVRC, 50 videos (Mb/s)")}, and
        with 5 videos, which could have more, {_told(found, "goodput, DVRC, 5 videos (Mb/s)")}: a packet per round
        trip changes it by {found.moves("goodput, DVRC, 5 videos (Mb/s)", faster)} Mb/s. {_judged(found)}
    """)


def _d6(found: FoundExperiment) -> str:
    base, *_ = found.sides()
    return paragraph(f"""
        In the network DVRC loses most, {_told(found, "lost, DVRC (%)", 1)} %, because it sends; TFRC loses
        {_told(found, "lost, TFRC (%)", 1)} %. Of TFRC's video {found.of(base, "did not arrive, TFRC (%)").mean:.0f} %
        and of Westwood+'s {found.of(base, "did not arrive, Westwood+ (%)").mean:.0f} % did not arrive, of DVRC's
        {found.of(base, "did not arrive, DVRC (%)").mean:.0f} %: counted so, both parts about losses hold. That
        Westwood+ delays most does not. Late are {_told(found, "late, DVRC (%)", 1)} % of DVRC's packets, whose gaps
        at the base layer are near the threshold (D5), and {_told(found, "late, Westwood+ (%)", 1)} % of all that
        Westwood+'s application made, most of which never leaves. {_judged(found)}
    """)


def _d7(found: FoundExperiment) -> str:
    return paragraph(f"""
        With 50 videos some Westwood+ flow is starved: its worst-case fairness is
        {_told(found, "worst-case fairness, Westwood+, 50 videos")}, and with 5 videos
        {_told(found, "worst-case fairness, Westwood+, 5 videos")}. Starvation is less sure where buffers count bytes.
        TFRC falls from {_told(found, "worst-case fairness, TFRC, 5 videos")} to
        {_told(found, "worst-case fairness, TFRC, 50 videos")} either way. {_judged(found)}
    """)


def _d8(found: FoundExperiment) -> str:
    return paragraph(f"""
        TFRC's index falls from {_told(found, "fairness, cross traffic, TFRC")} with cross traffic to
        {_told(found, "fairness, round trips spread, TFRC")} with spread round trips. The paper lays it to its
        equation, in which the rate goes with the inverse of the round trip, and nothing that is switched here changes
        it. Westwood+ falls from {_told(found, "fairness, cross traffic, Westwood+")} to
        {_told(found, "fairness, round trips spread, Westwood+")}: a part of its fall is a phase effect, which a
        jitter of 1 ms takes away, and then TFRC loses most. {_judged(found)}
    """)


def _d9(found: FoundExperiment) -> str:
    _, faster, _ = found.sides()
    return paragraph(f"""
        A queue drains only if its senders give way by much and come back. With α of a packet per second 40 videos
        rest near the base layer. R2's buffer has room for {_told(found, "time with room in R2's queue (%)", 0)} % of
        the time, and its queue swings by {_told(found, "swing of R2's queue", 0)} packets. With a packet per round
        trip the time with room changes by {found.moves("time with room in R2's queue (%)", faster, 0)} points, and
        the queue drains as in Figure 11a. {_judged(found)}
    """)


def _d16(found: FoundExperiment) -> str:
    return paragraph(f"""
        Who has the worst case hangs on how errors come on the last hop. RTCP/UDP's worst-case fairness is
        {_told(found, "worst-case fairness, RTCP/UDP")}, DVRC's {_told(found, "worst-case fairness, DVRC")}. Where
        every packet of a round but the first may be lost, as §4.1 says word by word, the last hop alone takes more
        than the 5 % (D23) above which RTCP/UDP drops a layer: all its videos rest on the base layer and are alike.
        TFRC's index, {_told(found, "fairness, TFRC")}, suffers instead. {_judged(found)}
    """)


def _d17(found: FoundExperiment) -> str:
    base, _ = found.sides()
    return paragraph(f"""
        As with D15: over five hops DVRC loses {found.of(base, "lost, DVRC (%)").mean:.1f} % in the network and TFRC
        {found.of(base, "lost, TFRC (%)").mean:.1f} %, because TFRC holds its video back; of TFRC's
        {found.of(base, "did not arrive, TFRC (%)").mean:.0f} % did not arrive. RTCP/UDP loses more than DVRC either
        way ({found.of(base, "lost, RTCP/UDP (%)").mean:.1f} %), and DVRC's index is the highest
        ({found.of(base, "index, DVRC").mean:.2f}; RTCP/UDP {found.of(base, "index, RTCP/UDP").mean:.2f}, TFRC
        {found.of(base, "index, TFRC").mean:.2f}). {_judged(found)}
    """)


def _d20(found: FoundExperiment) -> str:
    return paragraph(f"""
        Which path is worse is a matter of the links' rate. With reverse traffic DVRC's index is
        {_told(found, "index, reverse traffic")}, over five hops {_told(found, "index, five hops")}. The bursts of the
        reverse topology keep their rate. On 10 Mb/s {_told(found, "lost, reverse traffic (%)", 1)} % are lost next to
        them, and {_told(found, "late, reverse traffic (%)", 1)} % late; over five hops
        {_told(found, "lost, five hops (%)", 1)} % are lost and {_told(found, "late, five hops (%)", 1)} % late. On 20
        Mb/s the bursts weigh half as much, and five hops are the worse path, as printed. {_judged(found)}
    """)


def _d21(found: FoundExperiment) -> str:
    return paragraph(f"""
        DVRC's index is {_told(found, "fairness, 5 videos")} with 5 videos, {_told(found, "fairness, 20 videos")} with
        20 and {_told(found, "fairness, 50 videos")} with 50. The paper lays it to multiplicative decrease, which has
        a small part in it: without, the index with 20 videos changes by
        {found.moves("fairness, 20 videos", "never halved")}. A faster rise costs more. On every side the index
        stays above the line: it is no single mechanism's. {_judged(found)}
    """)


def _d22(found: FoundExperiment) -> str:
    return paragraph(f"""
        DVRC's coefficient of variation is {_told(found, "CoV, DVRC")}, Westwood+'s {_told(found, "CoV, Westwood+")},
        TFRC's {_told(found, "CoV, TFRC")}. A window that falls to a packet after a timeout is rougher than a rate
        that halves at most; halving itself is a small part ({found.moves("CoV, DVRC")} without). {_judged(found)}
    """)


def _d23(found: FoundExperiment) -> str:
    _, faster, rounds = found.sides()
    return paragraph(f"""
        Lost are {_told(found, "lost, 5 videos (%)", 1)} % with 5 videos and {_told(found, "lost, 50 videos (%)", 1)}
        % with 50. Two readings turn the claim. A rate that rises by a packet per round trip overflows R2 more often
        when many share it ({found.moves("lost, 50 videos (%)", faster, 1)} points with 50). And where every packet
        of a round but the first may be lost, the last hop alone takes
        {found.of(rounds, "lost, 5 videos (%)").mean:.0f} %, whatever the protocol does. {_judged(found)}
    """)


def _d24(found: FoundExperiment) -> str:
    base, _ = found.sides()
    return paragraph(f"""
        TFRC delays little of what it sends: late are {found.of(base, "late, of what left (%)").mean:.1f} % of what
        left the sender. Of all that was made it is {found.of(base, "late, of all made (%)").mean:.1f} %, but for
        another reason: {found.of(base, "never sent (%)").mean:.0f} % of the video never leaves and cannot be late.
        The flow is smooth; the video is not there. {_judged(found)}
    """)


def _d25(found: FoundExperiment) -> str:
    return paragraph(f"""
        Of what arrived over Westwood+ {_told(found, "late, of what arrived, Westwood+ (%)", 1)} % come late, of
        TFRC's {_told(found, "late, of what arrived, TFRC (%)", 1)} %. It is contention: with links of 20 Mb/s, where
        each video has twice the share, fewer come late. {_judged(found)}
    """)


def _d27(found: FoundExperiment) -> str:
    return paragraph(f"""
        DVRC's index is {_told(found, "fairness, DVRC", 3)}; without multiplicative decrease it changes by
        {found.moves("fairness, DVRC", "never halved", 3)}. Whether it is the fairest hangs on the errors of the
        last hop. TFRC's is {_told(found, "fairness, TFRC", 3)}: where errors come in long rounds TFRC's flows measure
        loss rates that differ, as the paper says, and DVRC, which takes such losses for random, excels. Where they
        are short TFRC is as fair. {_judged(found)}
    """)


def _d28(found: FoundExperiment) -> str:
    return paragraph(f"""
        DVRC's index with spread round trips is {_told(found, "fairness, 5 videos")} with 5 videos,
        {_told(found, "fairness, 20 videos")} with 20 and {_told(found, "fairness, 50 videos")} with 50: it rises. A
        share of 10 Mb/s among 50 is between the first layer and the second, so that most videos hold the same,
        whatever their round trip. Layers of half the size leave room above the base layer, and there the mean falls
        as printed. {_judged(found)}
    """)


USED_DVRC, USED_TFRC = (f"satisfactory use: flows 5, transport {one}" for one in (DVRC, TFRC))


def _d30(found: FoundExperiment) -> str:
    base, each, _ = found.sides()
    return paragraph(f"""
        With few videos the link is used a little less than the 90 % that count as satisfactory: to
        {found.with_interval(base, USED_DVRC, 1)} % with 5 DVRC videos and
        {found.with_interval(base, USED_TFRC, 1)} % with 5 over TFRC. The videos have
        {_told(found, "goodput, DVRC, 5 videos (Mb/s)")} and {_told(found, "goodput, TFRC, 5 videos (Mb/s)")} Mb/s. A
        rise with each packet does not help ({found.moves("goodput, DVRC, 5 videos (Mb/s)", each)} Mb/s). With 50
        videos DVRC has {_told(found, "goodput, DVRC, 50 videos (Mb/s)")} Mb/s, and the link is full. {_judged(found)}
    """)


def _d31(found: FoundExperiment) -> str:
    return paragraph(f"""
        DVRC's index falls from {_told(found, "index, DVRC, 5 videos")} to {_told(found, "index, DVRC, 50 videos")}
        for the reason of D5: at the base layer packets leave 62.5 ms apart, and a lost one makes the next one late by
        a threshold of 75 ms. By gaps in excess of the sender's own it falls from
        {_told(found, "DVRC's index by excess gaps, 5 videos")} to
        {_told(found, "DVRC's index by excess gaps, 50 videos")}, nearly flat; but RTCP/UDP's, by the same definition,
        does then not fall by much either. With links of 20 Mb/s 50 videos are above the base layer, and DVRC's index
        is nearly flat by gaps, too. {_judged(found)}
    """)


def _d32(found: FoundExperiment) -> str:
    return paragraph(f"""
        The smallest throughput of a DVRC flow is {_told(found, "worst-case fairness, DVRC")} of the largest,
        RTCP/UDP's {_told(found, "worst-case fairness, RTCP/UDP")}. The size of layers matters to it: layers half as
        large make the smallest share smaller, not larger, and DVRC's lead is gone. {_judged(found)}
    """)


def _d33(found: FoundExperiment) -> str:
    base, clock, _ = found.sides()
    return paragraph(f"""
        TFRC takes more than its share only from a TCP with coarse timeouts. TCP's share beside TFRC is
        {_told(found, "TCP's share beside TFRC")}; a clock of 500 ms changes it by
        {found.moves("TCP's share beside TFRC", clock)}. With so few packets under way most losses end in timeouts,
        {found.of(base, "timeouts of a TCP flow beside TFRC").mean:.0f} per flow, and a coarse clock makes each last
        longer, so that there are fewer of them ({found.of(clock, "timeouts of a TCP flow beside TFRC").mean:.0f}).
        Smaller layers change nothing. It is the mechanism of D11. {_judged(found)}
    """)


def _d34(found: FoundExperiment) -> str:
    return paragraph(f"""
        Among 40 TCP flows each of 50 videos has
        {_told(found, "a video's goodput, 40 TCP flows, 50 videos (kb/s)", 0)} kb/s. A ninetieth of 10 Mb/s is 107
        kb/s of payload, and the base layer 128: what the paper describes is a share of about one layer. With layers
        half as large a video holds more than its base layer. With a clock of 500 ms TCP leaves it more, and keeps
        {_told(found, "TCP's share beside 50 videos")} of its own share. {_judged(found)}
    """)


def _d35(found: FoundExperiment) -> str:
    _, unfilled = found.sides()
    return paragraph(f"""
        What DVRC gives up because of all hops, the TCP flow of each hop takes. Over five hops a TCP flow has
        {_told(found, "a TCP flow, 5 hops (kb/s)", 0)} kb/s and the video
        {_told(found, "the video, 5 hops (kb/s)", 0)}. With a window of 4 packets, which a hop holds without an
        overflow, the video keeps its share (D12), and a TCP flow's changes by
        {found.moves("a TCP flow, 5 hops (kb/s)", unfilled, 0)} kb/s, to about its own. Over one hop the order is
        the other one: the TCP flow has {_told(found, "a TCP flow, 1 hops (kb/s)", 0)} kb/s and the video
        {_told(found, "the video, 1 hops (kb/s)", 0)}. {_judged(found)}
    """)


def _d29(found: FoundExperiment) -> str:
    return paragraph(f"""
        With 40 videos R2's queue is nearly always full (D9), so that it hardly swings under any sender: by
        {_told(found, "swing of R2's queue, DVRC", 0)} packets under DVRC,
        {_told(found, "swing of R2's queue, Reno", 0)} under Reno. Where there is room to swing, on links of 20 Mb/s,
        DVRC's is the larger swing, and so is that of AIAD ({_told(found, "swing of R2's queue, DVRC, AIAD", 0)}): the
        layers, and not the multiplicative decrease, move the queue. {_judged(found)}
    """)


def _d36(found: FoundExperiment) -> str:
    return paragraph(f"""
        That AIAMD loses less is sure: {_told(found, "lost, DVRC (%)", 1)} % to AIAD's
        {_told(found, "lost, DVRC, AIAD (%)", 1)} %. In fairness they are alike, {_told(found, "fairness, DVRC")} and
        {_told(found, "fairness, DVRC, AIAD")}, and a buffer that is nearly always full drains under neither often
        enough to tell them apart. {_judged(found)}
    """)


def _d2(found: FoundExperiment) -> str:
    return paragraph(f"""
        The largest jitter is {_told(found, "largest jitter (ms)", 0)} ms, below 75 ms on every side, though DVRC's
        rate is rough (coefficient of variation {_told(found, "CoV")}). Eq. (13) moves by a sixteenth of each
        difference of gaps, so that single long gaps, of which Figure 7 has many, do not show in it. Neither
        smoothness nor the moment at which packets leave is needed for the claim. {_judged(found)}
    """)


def _d3(found: FoundExperiment) -> str:
    return paragraph(f"""
        Most random losses are judged rightly because most losses of any cause are judged random. With n = 1.5 the
        bound lies low, {_told(found, "losses above the bound (%)", 0)} % of all losses fall above it, and so do
        {_told(found, RANDOM, 0)} % of the random ones. Of the queue's losses {_told(found, CONGESTION, 0)} % are
        taken for congestion (D14). A bound at the average itself gives up the one for the other. {_judged(found)}
    """)


def _d13(found: FoundExperiment) -> str:
    return paragraph(f"""
        Few layers suffice: with 4, 5 and 8 of them goodput is {_told(found, "goodput, 4 layers (Mb/s)")},
        {_told(found, "goodput, 5 layers (Mb/s)")} and {_told(found, "goodput, 8 layers (Mb/s)")} Mb/s, the index
        {_told(found, "index, 4 layers", 3)}, {_told(found, "index, 5 layers", 3)} and
        {_told(found, "index, 8 layers", 3)}. What stays open in the base is one split, whose goodput a rate that
        comes back by a packet per second leaves to chance; by a packet per round trip layers hardly matter.
        {_judged(found)}
    """)


def _d18(found: FoundExperiment) -> str:
    return paragraph(f"""
        Over five hops DVRC's index is {_told(found, "fairness, 5 videos", 3)} with 5 videos,
        {_told(found, "fairness, 20 videos", 3)} with 20 and {_told(found, "fairness, 50 videos", 3)} with 50. The
        paper lays it to multiplicative adjustments at congestion. They are not needed: without, the index with 20
        videos changes by {found.moves("fairness, 20 videos", "never halved", 3)}. {_judged(found)}
    """)


def _d19(found: FoundExperiment) -> str:
    return paragraph(f"""
        TCP's coefficient of variation is {_told(found, "CoV of TCP")}, DVRC's {_told(found, "CoV of DVRC")}. Timeouts
        make the difference: a TCP flow has {_told(found, "timeouts of a TCP flow", 0)} of them in a run. A clock of
        500 ms makes each longer and TCP's rate rougher; a recovery with SACK, which needs fewer, makes it nearly as
        smooth as DVRC's. {_judged(found)}
    """)


def _d26(found: FoundExperiment) -> str:
    return paragraph(f"""
        TFRC's index is {_told(found, "fairness, TFRC", 3)} and Westwood+'s {_told(found, "fairness, Westwood+", 3)}.
        The traditional index forgives a few starved flows (D7). Errors that come in long rounds, which some flows
        meet and others do not, lower both. {_judged(found)}
    """)


FURTHER = [
    Experiment(
        "why-D4", "D4", "How fast DVRC's rate rises.", (AS_BASE, FASTER_ALPHA), _d4,
        _few_and_many(q.GOODPUT, p.CROSS, "goodput", " (Mb/s)"),
    ),
    Experiment(
        "why-D6", "D6", "Which packets are lost; then how errors come.", (AS_BASE, NOT_ARRIVED, LONG_ROUNDS), _d6,
        {
            **_by_system(q.DROPPED_OF_MADE, p.CROSS, "lost", " (%)"),
            **_by_system(q.MISSING_OF_MADE, p.CROSS, "did not arrive", " (%)"),
            **_by_system(q.DELAYED, p.CROSS, "late", " (%)"),
        },
    ),
    Experiment(
        "why-D7", "D7", "What buffers count.", (AS_BASE, IN_BYTES), _d7,
        _few_and_many(q.WORST_CASE, p.CROSS, "worst-case fairness", "", (TFRC, WESTWOOD)),
    ),
    Experiment(
        "why-D8", "D8", "The spread of sendings; then the size of buffers.", (AS_BASE, ONE_JITTER, DEEP), _d8,
        {
            **_by_system(q.FAIRNESS, p.SPREAD, "fairness, round trips spread"),
            **_by_system(q.FAIRNESS, p.CROSS, "fairness, cross traffic"),
        },
    ),
    Experiment(
        "why-D9", "D9", "How fast DVRC's rate rises.", (AS_BASE, FASTER_ALPHA, EACH_PACKET), _d9,
        {
            "swing of R2's queue": _at(q.SWING, p.QUEUE, transport=DVRC),
            "time with room in R2's queue (%)": _at(q.NOT_FULL, p.QUEUE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D16", "D16", "How errors come on the last hop.", (AS_BASE, LONG_ROUNDS), _d16,
        {
            **_by_system(q.FAIRNESS, p.REVERSE, "fairness", "", BACKWARD),
            **_by_system(q.WORST_CASE, p.REVERSE, "worst-case fairness", "", BACKWARD),
        },
    ),
    Experiment(
        "why-D17", "D17", "Which packets are lost.", (AS_BASE, NOT_ARRIVED), _d17,
        {
            **_by_system(q.DROPPED_OF_MADE, p.CHAIN, "lost", " (%)", BACKWARD),
            **_by_system(q.MISSING_OF_MADE, p.CHAIN, "did not arrive", " (%)", BACKWARD),
            **_by_system(q.INDEX, p.CHAIN, "index", "", BACKWARD),
        },
    ),
    Experiment(
        "why-D20", "D20", "The rate of the links.", (AS_BASE, FASTER_LINKS), _d20,
        {
            "index, reverse traffic": _at(q.INDEX, p.REVERSE, transport=DVRC),
            "index, five hops": _at(q.INDEX, p.CHAIN, transport=DVRC),
            "lost, reverse traffic (%)": _at(q.DROPPED_OF_MADE, p.REVERSE, transport=DVRC),
            "lost, five hops (%)": _at(q.DROPPED_OF_MADE, p.CHAIN, transport=DVRC),
            "late, reverse traffic (%)": _at(q.DELAYED, p.REVERSE, transport=DVRC),
            "late, five hops (%)": _at(q.DELAYED, p.CHAIN, transport=DVRC),
        },
    ),
    Experiment(
        "why-D21", "D21", "How fast DVRC's rate rises; then halving on congestion.",
        (AS_BASE, EACH_PACKET, NEVER_HALVED), _d21, _by_flows(q.FAIRNESS, p.CROSS, "fairness"),
    ),
    Experiment(
        "why-D22", "D22", "Halving on congestion.", (AS_BASE, NEVER_HALVED), _d22,
        _by_system(q.COV, p.CROSS, "CoV"),
    ),
    Experiment(
        "why-D23", "D23", "How fast DVRC's rate rises; then how errors come.", (AS_BASE, FASTER_ALPHA, LONG_ROUNDS),
        _d23,
        {
            **_by_flows(q.DROPPED_OF_MADE, p.CROSS, "lost", " (%)"),
            **_by_flows(q.DELAYED, p.CROSS, "late", " (%)"),
        },
    ),
    Experiment(
        "why-D24", "D24", "What counts as sent.", (AS_BASE, LEFT), _d24,
        {
            "late, of all made (%)": _at(q.DELAYED, p.CROSS, transport=TFRC),
            "late, of what left (%)": _at(q.DELAYED_OF_SENT, p.CROSS, transport=TFRC),
            "never sent (%)": _at(q.NEVER_LEFT, p.CROSS, transport=TFRC),
        },
    ),
    Experiment(
        "why-D25", "D25", "The rate of the links.", (AS_BASE, FASTER_LINKS), _d25,
        _by_system(q.LATE_OF_RECEIVED, p.CROSS, "late, of what arrived", " (%)"),
    ),
    Experiment(
        "why-D27", "D27", "How errors come; then halving on congestion.", (AS_BASE, LONG_ROUNDS, NEVER_HALVED), _d27,
        _by_system(q.FAIRNESS, p.CROSS, "fairness"),
    ),
    Experiment(
        "why-D28", "D28", "The size of layers; then how fast DVRC's rate rises.", (AS_BASE, HALF_LAYERS, EACH_PACKET),
        _d28, _by_flows(q.FAIRNESS, p.SPREAD, "fairness"),
    ),
    Experiment(
        "why-D30", "D30", "How fast DVRC's rate rises; then the rate of the links.",
        (AS_BASE, EACH_PACKET, FASTER_LINKS), _d30,
        _few_and_many(q.GOODPUT, p.REVERSE, "goodput", " (Mb/s)", BACKWARD),
    ),
    Experiment(
        "why-D31", "D31", "What is late; then the rate of the links.", (AS_BASE, EXCESS, FASTER_LINKS), _d31,
        {
            **_few_and_many(q.INDEX, p.REVERSE, "index", "", BACKWARD),
            **{
                f"DVRC's index by excess gaps, {flows} videos":
                    _at(q.INDEX_EXCESS, p.REVERSE, transport=DVRC, flows=flows)
                for flows in (5, 50)
            },
        },
    ),
    Experiment(
        "why-D32", "D32", "The size of layers.", (AS_BASE, HALF_LAYERS), _d32,
        _by_system(q.WORST_CASE, p.REVERSE, "worst-case fairness", "", (DVRC, RTCP)),
    ),
    Experiment(
        "why-D33", "D33", "The clock of TCP's timeouts; then the size of layers.", (AS_BASE, COARSE, HALF_LAYERS),
        _d33,
        {
            "TCP's share beside TFRC": _at(TCP_SHARE, p.FRIENDLY, transport=TFRC),
            "timeouts of a TCP flow beside TFRC": _at(q.TIMEOUTS, p.FRIENDLY, transport=TFRC),
        },
    ),
    Experiment(
        "why-D34", "D34", "The size of layers; then the clock of TCP's timeouts.", (AS_BASE, HALF_LAYERS, COARSE),
        _d34,
        {
            "a video's goodput, 40 TCP flows, 50 videos (kb/s)":
                _at(q.per_flow(q.VIDEO), p.FRIENDLY, transport=DVRC, tcp=40, flows=50),
            "TCP's share beside 50 videos": _at(TCP_SHARE, p.FRIENDLY, transport=DVRC, tcp=40, flows=50),
        },
    ),
    Experiment(
        "why-D35", "D35", "Transfers that do not overflow their hop.",
        (AS_BASE, Side("TCP's window of 4 packets", changes=_unfilled)), _d35,
        {
            **{
                f"a TCP flow, {hops} hops (kb/s)": _at(q.per_flow(q.TCP), p.HOPS, transport=DVRC, hops=hops)
                for hops in (1, 5, 10)
            },
            **{
                f"the video, {hops} hops (kb/s)": _at(q.per_flow(q.VIDEO), p.HOPS, transport=DVRC, hops=hops)
                for hops in (1, 5, 10)
            },
        },
    ),
    Experiment(
        "why-D29", "D29", "Recovery; then the rate of the links.", (AS_BASE, WITH_SACK, FASTER_LINKS), _d29,
        {f"swing of R2's queue, {one}": _at(q.SWING, p.RULES, transport=one) for one in (DVRC, RENO, AIAD)},
    ),
    Experiment(
        "why-D36", "D36", "The size of buffers.", (AS_BASE, DEEP), _d36,
        {
            **{f"lost, {one} (%)": _at(q.DROPS, p.RULES, transport=one) for one in (DVRC, AIAD)},
            **{f"fairness, {one}": _at(q.FAIRNESS, p.RULES, transport=one) for one in (DVRC, AIAD)},
        },
    ),
    Experiment(
        "why-D2", "D2", "When packets leave the sender; then one reaction per round trip.",
        (AS_BASE, Side("as frames are made", {"pace": "as frames are made"}), Side("once per round trip", GENTLE)),
        _d2,
        {
            "largest jitter (ms)": _at(q.LARGEST_JITTER, p.SINGLE, transport=DVRC),
            "CoV": _at(q.COV, p.SINGLE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D3", "D3", "The weight n of the deviation in the bound R̄ − n·D̄.",
        (AS_BASE, Side("n = 0", changes=dvrc(aiamd__deviations=0.0))), _d3,
        {
            RANDOM: _at(q.RECALL_RANDOM, p.BOUND, reading=p.TEXT),
            "losses above the bound (%)": _at(q.JUDGED_RANDOM, p.BOUND, reading=p.TEXT),
            CONGESTION: _at(q.RECALL_CONGESTION, p.BOUND, reading=p.TEXT),
        },
    ),
    Experiment(
        "why-D13", "D13", "How fast DVRC's rate rises.", (AS_BASE, FASTER_ALPHA), _d13,
        {
            f"{name}, {layers} layers{unit}": _at(measure, p.LAYERS, layers=layers)
            for name, measure, unit in (("goodput", q.GOODPUT, " (Mb/s)"), ("index", q.INDEX, ""))
            for layers in (4, 5, 8)
        },
    ),
    Experiment(
        "why-D18", "D18", "How fast DVRC's rate rises; then halving on congestion.",
        (AS_BASE, EACH_PACKET, NEVER_HALVED), _d18, _by_flows(q.FAIRNESS, p.CHAIN, "fairness"),
    ),
    Experiment(
        "why-D19", "D19", "The clock of TCP's timeouts; then recovery.", (AS_BASE, COARSE, WITH_SACK), _d19,
        {
            "CoV of TCP": _at(q.COV_TCP, p.SINGLE, transport=DVRC),
            "CoV of DVRC": _at(q.COV, p.SINGLE, transport=DVRC),
            "timeouts of a TCP flow": _at(q.TIMEOUTS, p.SINGLE, transport=DVRC),
        },
    ),
    Experiment(
        "why-D26", "D26", "How errors come on the last hop.", (AS_BASE, LONG_ROUNDS), _d26,
        _by_system(q.FAIRNESS, p.CROSS, "fairness", "", (TFRC, WESTWOOD)),
    ),
]  # fmt: skip
"""Of claims that one more switch explains."""

FIRST = [
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
"""Of the claims that the exploration contradicts most often."""

EXPERIMENTS = sorted([*FIRST, *FURTHER], key=lambda one: int(one.claim.removeprefix("D")))
"""All of them, in the order of the claims."""
