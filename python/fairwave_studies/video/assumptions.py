"""What paper 002 leaves open or says in two ways, how it is closed here, and which factor of `readings` varies it."""

from __future__ import annotations

from fairwave_studies.video.systems import LAYER_KILOBITS, TOTAL_KILOBITS
from fairwave_study.study import Assumption

ASSUMPTIONS = [
    Assumption(
        "layers",
        f"Five layers of {', '.join(str(one) for one in LAYER_KILOBITS)} kb/s, {TOTAL_KILOBITS} kb/s together.",
        "The layer rates are lost. The base of 50 videos fits into 10 Mb/s, and ten whole videos fill it.",
        "layers",
    ),
    Assumption(
        "tes",
        "Frame sizes are drawn from the TES models that come with fairwave, 25 frames a second in groups "
        "IBBPBBPBBPBB, and split over layers in proportion to their rates.",
        "Trace, parameters and group are lost; ours are fitted to real pictures (`docs/video-fit.md`).",
        "group",
    ),
    Assumption(
        "unit",
        "Frames are divided into packets of exactly 1000 bytes; index, delayed, jitter and losses all count "
        "them. A layer is a stream of bytes: what of a frame does not fill a packet shares it with the next frame.",
        "§4.1 and §4.2 say packets, and that their size is fixed; a base layer of less than a packet per "
        "frame could not be sent otherwise.",
        "packets",
    ),
    Assumption(
        "sent",
        "Video delivery index, delayed and lost packets are parts of all that the application made, whether its "
        "transport "
        "sent it or still holds it.",
        "§4.2 divides by packets sent by the application. §5.2 explains the indices of TFRC and Westwood+ by "
        "packets lost "
        "and late alone; the index of what left the sender is shown beside.",
        "sent",
    ),
    Assumption(
        "lost",
        "A packet is lost when a queue or a link drops it; what never leaves its sender is not lost.",
        "§4.2 calls the quantity a drop rate, and §5.2 and §5.3 explain it by congestion and errors. That all that "
        "did not "
        "arrive was lost is a reading of its own, and shown beside.",
        "lost",
    ),
    Assumption(
        "one-stream",
        "TFRC, Westwood+, plain UDP and a Reno flow carry the video as one stream of the rate of all layers.",
        "§4.1: over them it goes at the optimal quality, and adaptation is disabled.",
        "stream",
    ),
    Assumption(
        "pacing",
        "DVRC paces its packets at R; none waits longer than 200 ms. RTCP/UDP and UDP send a frame's packets at once.",
        "§3.1: data are sent on the basis of the determined rate. Of the others nothing is said.",
        "pace",
    ),
    Assumption(
        "gap",
        "A packet is delayed when it arrives more than 75 ms after the one before it.",
        "§4.2: 'packet inter-arrival threshold'. Gaps in excess of the sender's own are a reading of every claim.",
        "late",
    ),
    Assumption(
        "alpha",
        "α_I is one packet of 1000 bytes per second, 8 kb/s, added once per round trip without loss; α_D is "
        "minus as much, at every gap in sequence numbers.",
        "Eq. (11)'s text has the two swapped and names no unit; α is added to R. §3.1 triggers control at every gap.",
        "alpha",
    ),
    Assumption(
        "gains",
        "R̄ and D̄ move by 1/8 and 1/4, and begin at the first rate and half of it.",
        "The gains are not stated; these are RFC 6298's.",
        "gains",
    ),
    Assumption(
        "compare",
        "A loss is judged by the measured receiving rate.",
        "So the text and Figure 2; Eq. (11) prints R(t − 1), the rate that was asked for. Both are shown.",
        "compared",
    ),
    Assumption(
        "measure-over",
        "The receiving rate is measured over 150 ms or a round trip, whichever is longer.",
        "Not stated; 150 ms are the interval of Figure 6.",
        "measured-over",
    ),
    Assumption(
        "timeout",
        "DVRC's timeout is never below 200 ms.",
        "Eq. (3) has no least value; §5.5 has the estimate be TCP's.",
        "timeout",
    ),
    Assumption(
        "headroom",
        "R rises no further than the rate of all layers, and never falls below the base layer's.",
        "§5.4: only what is needed for all layers; a rate that nothing tests is not probed. §3.3 begins at "
        "the base layer's.",
        "ceiling",
    ),
    Assumption(
        "rates-of-5",
        "Bottlenecks of Figures 5a and 5b have 10 Mb/s and 10 ms each.",
        "Lost with the figure. §5.3's '64 to 256 kb/s, each up to 2.5 %' gives 10 Mb/s for 5b.",
        "rates",
    ),
    Assumption(
        "buffers",
        "Routers hold one product of their link's rate and the video's round trip (70 ms on the dumbbell, "
        "80 ms in 5a and 5b, 20 ms and 20 ms per hop in 5c); so do hosts on the dumbbell, others at least 50 packets.",
        "§4.1: 'buffer size adjusted in accordance with the bandwidth-delay product'.",
        "buffers, buffer-unit",
    ),
    Assumption(
        "host-buffers",
        "On the dumbbell hosts' links hold what the routers' do.",
        "All links are equally fast there; with ns-2's 50 packets one TCP can shut all others out.",
        "hosts",
    ),
    Assumption(
        "losses",
        "Packets on the videos' last links are lost in rounds of geometric length, 10 packets on average: "
        "with 0.15 after a packet of the round that was lost, else with 0.01; in both directions.",
        "§4.1's sentence on q is garbled, and the length of rounds is not stated.",
        "losses",
    ),
    Assumption(
        "spread",
        "In Figure 10c one-way delays of the sources' links spread evenly from 5 to 150 ms.",
        "§5.2: 'flow RTTs vary significantly'.",
        "spread",
    ),
    Assumption(
        "bursts",
        "Ten bursty sources of 64, 128, 192 and 256 kb/s (two, three, three and two) are on and off for 500 "
        "ms on average, Pareto with shape 1.5.",
        "§5.3 gives the range of peak rates; times and shape are ns-2's own.",
    ),
    Assumption(
        "rtcp",
        "RTCP/UDP drops a layer on a report of more than 5 % lost and adds one on a regular report of less "
        "than 2 %; early reports come at most once a second.",
        "§4.1: reports 'at periodic intervals and whenever congestion is detected'. No threshold is stated.",
        "reports",
    ),
    Assumption(
        "hop-delay",
        "Each hop of Figure 5c takes 10 ms, access links 5 ms.",
        "Lost with the figure.",
        "hop-delay",
    ),
    Assumption(
        "phase",
        "On the dumbbell every sending of a TCP flow is delayed by up to the time of a packet at the bottleneck.",
        "Without it (ns-2's default) drop-tail shuts some of several like flows out for good (Floyd & Jacobson 1992).",
        "jitter",
    ),
    Assumption(
        "timers",
        "Timers, windows and sizes on the wire are those of ns-2.35; DVRC's header has 32 bytes above UDP and IP.",
        "The paper used ns-2 and names no version; its Figure 1 gives no widths.",
        "minimum-timeout, clock, headers",
    ),
    Assumption(
        "tcp",
        "TCP acknowledges each segment, has a window of at most 64 packets and recovers as Reno does.",
        "§4.1 names TCP Reno and 64 kB; the rest is ns-2's default.",
        "acknowledgements, window, recovery",
    ),
    Assumption(
        "length",
        "Runs of many flows take 60 s, of one 200 s; flows begin within the first second.",
        "§5.5 gives 200 s for one experiment; others are not stated.",
    ),
    Assumption(
        "fill",
        "The fair share of flows at a link is its rate, less headers of full TCP segments, over their "
        "number; videos that want less fill it by having all they want.",
        "§4.2 gives the formula and not whether headers count.",
    ),
    Assumption(
        "split",
        "With other numbers of layers the same video is cut into equal ones; or the base stays and the rest is cut.",
        "§5.2: 'a more extensive set of experiments with a diverse number of layers, not presented here'.",
    ),
]
