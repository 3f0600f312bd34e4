"""What paper 002 leaves open or says in two ways, how it is closed here, and where it is varied."""

from __future__ import annotations

from fairwave.studies.video import points as p
from fairwave.study.study import Assumption

ALONE, JUDGING, MANY, FAR, QUEUEING, BACK, LONG, FRIENDS, PATH = (
    "single-settings",
    "judging-settings",
    "cross-settings",
    "spread-settings",
    "queue-settings",
    "reverse-settings",
    "chain-settings",
    "friendliness-settings",
    "hop-settings",
)
"""Ids of the sensitivity tables."""

EVERYWHERE = f"{ALONE}, {JUDGING}, {MANY}, {FRIENDS}"

ASSUMPTIONS = [
    Assumption(
        "layers",
        f"Five layers of {', '.join(str(one) for one in p.LAYER_KILOBITS)} kb/s, {p.TOTAL_KILOBITS} kb/s together.",
        "The layer rates are lost. The base of 50 videos fits into 10 Mb/s, and ten whole videos fill it.",
        f"{ALONE}, {MANY}, {FRIENDS}; and the figure on the number of layers",
    ),
    Assumption(
        "tes",
        "Frame sizes are drawn from the TES models that come with fairwave, 25 frames a second in groups "
        "IBBPBBPBBPBB, and split over layers in proportion to their rates.",
        "Trace, parameters and group are lost; ours are fitted to real pictures (`docs/video-fit.md`).",
        f"{ALONE}, {MANY}",
    ),
    Assumption(
        "unit",
        "Index, delayed and jitter count units: the part of one frame that is in one layer, complete when all its "
        "packets are. The share lost counts packets.",
        "§4.2 says packets; a packet of a unit that is incomplete is of no use to the application.",
    ),
    Assumption(
        "sent",
        "What an application makes while its transport holds it back was sent and not received.",
        "§4.2 divides by 'packets sent by the application'. TFRC and Westwood+ carry all layers, so most of it never "
        "leaves the sender; the index of what did leave is shown beside.",
    ),
    Assumption(
        "gap",
        "A unit is delayed when it arrives more than 75 ms after the one before it.",
        "§4.2: 'packet inter-arrival threshold'. Gaps in excess of the sender's own are a reading of every claim.",
    ),
    Assumption(
        "alpha",
        "α_I is one packet per round trip, added once per round trip without loss; α_D is minus one packet per round "
        "trip, once per loss event; losses within a round trip are one event.",
        "Eq. (11)'s text has the two swapped and names no unit.",
        EVERYWHERE,
    ),
    Assumption(
        "gains",
        "R̄ and D̄ move by 1/8 and 1/4, and begin at the first rate and half of it.",
        "The gains are not stated; these are RFC 6298's.",
        EVERYWHERE,
    ),
    Assumption(
        "compare",
        "A loss is judged by the measured receiving rate.",
        "So the text and Figure 2; Eq. (11) prints R(t − 1), the rate that was asked for. Both are shown.",
        EVERYWHERE,
    ),
    Assumption(
        "measure-over",
        "The receiving rate is measured over 150 ms or a round trip, whichever is longer.",
        "Not stated; 150 ms are the interval of Figure 6.",
        EVERYWHERE,
    ),
    Assumption(
        "headroom",
        "R rises no further than a quarter above the rate of all layers, and never falls below the base layer's.",
        "Not stated: without a bound R means nothing once everything is sent.",
        EVERYWHERE,
    ),
    Assumption(
        "rates-of-5",
        "Bottlenecks of Figures 5a and 5b have 10 Mb/s and 10 ms each.",
        "Lost with the figure. §5.3's '64 to 256 kb/s, each up to 2.5 %' gives 10 Mb/s for 5b.",
        MANY,
    ),
    Assumption(
        "buffers",
        "Routers hold one product of their link's rate and the video's round trip (70 ms on the dumbbell, 80 ms in "
        "5a and 5b, 20 ms and 20 ms per hop in 5c); hosts at least 50 packets.",
        "§4.1: 'buffer size adjusted in accordance with the bandwidth-delay product'.",
        f"{MANY}, {QUEUEING}, {PATH}",
    ),
    Assumption(
        "losses",
        "Packets on the videos' last links are lost in rounds of geometric length, 10 packets on average: with 0.15 "
        "after a packet of the round that was lost, else with 0.01; in both directions.",
        "§4.1's sentence on q is garbled, and the length of rounds is not stated.",
        MANY,
    ),
    Assumption(
        "spread",
        "In Figure 10c one-way delays of the sources' links spread evenly from 5 to 150 ms.",
        "§5.2: 'flow RTTs vary significantly'.",
        FAR,
    ),
    Assumption(
        "bursts",
        "Ten bursty sources of 64, 128, 192 and 256 kb/s (two, three, three and two) are on and off for 500 ms on "
        "average, Pareto with shape 1.5.",
        "§5.3 gives the range of peak rates; times and shape are ns-2's own.",
    ),
    Assumption(
        "rtcp",
        "RTCP/UDP drops a layer on a report of more than 5 % lost and adds one on a regular report of less than 2 %; "
        "early reports come at most once a second.",
        "§4.1: reports 'at periodic intervals and whenever congestion is detected'. No threshold is stated.",
        f"{BACK}, {LONG}",
    ),
    Assumption(
        "hop-delay",
        "Each hop of Figure 5c takes 10 ms, access links 5 ms.",
        "Lost with the figure.",
        PATH,
    ),
    Assumption(
        "phase",
        "On the dumbbell every sending of a TCP flow is delayed by up to the time of a packet at the bottleneck.",
        "Without it (ns-2's default) drop-tail shuts some of several like flows out for good (Floyd & Jacobson 1992).",
        f"{ALONE}, {FRIENDS}",
    ),
    Assumption(
        "timers",
        "Timers, windows and sizes on the wire are those of ns-2.35; DVRC's header has 32 bytes above UDP and IP.",
        "The paper used ns-2 and names no version; its Figure 1 gives no widths.",
        MANY,
    ),
    Assumption(
        "length",
        "Runs of many flows take 60 s, of one 200 s; flows begin within the first second.",
        "§5.5 gives 200 s for one experiment; others are not stated.",
        MANY,
    ),
    Assumption(
        "fill",
        "The fair share of flows at a link is its rate, less headers of full TCP segments, over their number; videos "
        "that want less fill it by having all they want.",
        "§4.2 gives the formula and not whether headers count.",
    ),
    Assumption(
        "split",
        "With other numbers of layers the same video is cut into equal ones; or the base stays and the rest is cut.",
        "§5.2: 'a more extensive set of experiments with a diverse number of layers, not presented here'.",
    ),
]
