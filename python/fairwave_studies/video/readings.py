"""What paper 002 leaves open, and every way in which its words or its simulator let each gap be closed.

The order of values, and with it the base reading, is that of plausibility alone. A value is admitted by the paper's
words or by the tools of its time, whatever it does to a claim. One that makes a system of the paper misbehave alone on
an empty path (`tests/studies/test_video_alone.py`) is admitted and flagged: the words decide, and a reader is told.

Two things that other papers leave open are closed here and are no factors: the window of at most 64 kB, which §4.1
states (that ns-2's own limit of 20 packets was left beneath it is a value, that there was none is not), and five
layers, which §4.1 states too, so that finer ones are not what was simulated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairwave_studies.video import points as p
from fairwave_studies.video.systems import (
    AIAD,
    DVRC,
    LAYER_KILOBITS,
    LITERAL,
    ONE_STREAM,
    RENO,
    RTCP,
    TFRC,
    UDP,
    WESTWOOD,
)
from fairwave_study.readings import Factor, Readings, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.runs.grid import Grid, Label, Overrides
    from fairwave_study.readings import Reading
    from fairwave_study.study import Study

    Changes = Callable[[str, dict[str, Label]], Overrides]

TRANSPORT, TRAFFIC = "flow.video.transport", "flow.video.traffic"


def carrier(labels: Mapping[str, Label]) -> str:
    """The system that carries the video at a point; DVRC where no axis says otherwise."""
    found = str(labels.get("transport", labels.get("system", labels.get("mechanism", DVRC))))
    # "AIAMD, bulk" and "DVRC, simulcast" name the carrier first; "DVRC, Eq. (11)" is a system's name.
    first = found if found in (LITERAL, AIAD) else found.partition(",")[0]
    return DVRC if first == "AIAMD" else first


def is_dvrc(labels: Mapping[str, Label]) -> bool:
    """Whether DVRC carries the video, by whichever comparison."""
    return carrier(labels) in (DVRC, LITERAL, AIAD)


def has_frames(grid: str, labels: Mapping[str, Label]) -> bool:
    """Whether what is carried is a video, and not data without end."""
    return grid != p.BULK and not str(labels.get("system", "")).endswith("bulk")


def dvrc(**changes: Any) -> Changes:
    """What DVRC alone takes on; dots as double underscores, dashes as single ones."""
    paths = {
        f"{TRANSPORT}.{key.replace('__', '.').replace('_', '-')}": value for key, value in changes.items()
    }
    return lambda _, labels: paths if is_dvrc(labels) else {}


def _compared(_: str, labels: dict[str, Label]) -> Overrides:
    # Where both comparisons are drawn beside each other, the axis decides.
    fixed = "reading" in labels or carrier(labels) != DVRC
    return {} if fixed else {f"{TRANSPORT}.aiamd.compare": "requested-rate"}


def _remainders(grid: str, labels: dict[str, Label]) -> Overrides:
    return {f"{TRAFFIC}.packet": None} if has_frames(grid, labels) and grid != p.MECHANISMS else {}


def layered(kilobits: Sequence[float]) -> Changes:
    """The video in these layers, and as one stream of as much for systems that do not adapt it."""

    def changes(grid: str, labels: dict[str, Label]) -> Overrides:
        if not has_frames(grid, labels) or grid in (p.LAYERS, p.MECHANISMS):
            return {}
        whole = carrier(labels) in ONE_STREAM
        return {f"{TRAFFIC}.layers": p.layers([sum(kilobits)] if whole else kilobits)}

    return changes


def _in_layers(grid: str, labels: dict[str, Label]) -> Overrides:
    if not has_frames(grid, labels) or carrier(labels) not in ONE_STREAM:
        return {}
    return {f"{TRAFFIC}.layers": p.layers(LAYER_KILOBITS)}


def _group(grid: str, labels: dict[str, Label]) -> Overrides:
    return {f"{TRAFFIC}.group": "IBBPBBPBBPBBPBB"} if has_frames(grid, labels) else {}


LOSSY = (p.CROSS, p.QUEUE, p.RULES, p.REVERSE, p.ADAPTATION, p.LAYERS, p.JUDGED_LOAD, p.MECHANISMS)
"""Grids with correlated losses on the videos' last links."""

THREE = (*LOSSY, p.SPREAD)
"""Grids with the routers of Figures 5a and 5b."""


def lossy(**changes: Any) -> Changes:
    """What the links to the videos' sinks take on where they lose packets."""
    paths = {f"topology.sink-access.loss.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda grid, _: paths if grid in LOSSY else {}


ALONE = p.DUMBBELL


def buffers(bdp: float) -> Changes:
    """So many products of rate and round trip in the routers' buffers."""

    def changes(grid: str, _: dict[str, Label]) -> Overrides:
        links = ("first-bottleneck", "shared-bottleneck") if grid in THREE else ("bottleneck",)
        return {f"topology.{link}.queue.capacity.bdp": bdp for link in links}

    return changes


def _fifty(grid: str, _: dict[str, Label]) -> Overrides:
    return {"topology.access.queue.capacity": {"packets": 50}} if grid in ALONE else {}


def _first_slower(grid: str, _: dict[str, Label]) -> Overrides:
    return {"topology.first-bottleneck.rate": "5 Mb/s"} if grid in THREE else {}


def _both_faster(grid: str, _: dict[str, Label]) -> Overrides:
    links = ("first-bottleneck", "shared-bottleneck")
    return {f"topology.{link}.rate": "20 Mb/s" for link in links} if grid in THREE else {}


TCP_FLOWS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(LOSSY, ("ftp",)),
    p.SPREAD: (),
    p.REVERSE: ("ftp", "ftp-reverse"),
    p.ADAPTATION: ("ftp", "ftp-reverse"),
    p.MECHANISMS: ("ftp", "ftp-reverse"),
    p.HOPS: ("tcp", "tcp-back"),
    p.CHAIN: ("tcp", "tcp-back"),
    p.ROUND_TRIPS: (),
}
"""The groups of file transfers of each grid; `ftp` where nothing else is said."""


def over_tcp(grid: str, labels: Mapping[str, Label]) -> list[str]:
    """The groups whose transport is a TCP at a point."""
    groups = [*TCP_FLOWS.get(grid, ("ftp",))]
    if carrier(labels) in (WESTWOOD, RENO):
        groups.append("video")
    return groups


def tcp(grids: Sequence[str] = (), **changes: Any) -> Changes:
    """What every TCP takes on, in these grids or in all."""
    keys = {key.replace("_", "-"): value for key, value in changes.items()}

    def found(grid: str, labels: dict[str, Label]) -> Overrides:
        if grids and grid not in grids:
            return {}
        return {
            f"flow.{group}.transport.{key}": value
            for group in over_tcp(grid, labels)
            for key, value in keys.items()
        }

    return found


def _as_ns2_counts(_: str, labels: dict[str, Label]) -> Overrides:
    key = {
        DVRC: "lower-headers", LITERAL: "lower-headers", AIAD: "lower-headers", TFRC: "header", RTCP: "header",
        UDP: "header",
    }.get(carrier(labels))  # fmt: skip
    return {f"{TRANSPORT}.{key}": "0 B"} if key else {}


def _hops(milliseconds: int) -> Changes:
    """Hops of so much one way, with buffers for the round trip that follows."""

    def found(grid: str, labels: dict[str, Label]) -> Overrides:
        if grid not in (p.HOPS, p.CHAIN):
            return {}
        trip = 20 + 2 * milliseconds * int(labels.get("hops", 5))
        return {
            "topology.bottleneck.delay": f"{milliseconds} ms",
            "topology.bottleneck.queue.capacity.round-trip": f"{trip} ms",
        }

    return found


def _spread(grid: str, _: dict[str, Label]) -> Overrides:
    near = {"delay": {"from": "5 ms", "to": "75 ms", "spread": "even"}}
    return {"flow.video.source-access": near} if grid == p.SPREAD else {}


def in_bytes(reading: Reading) -> Callable[[str, dict[str, Label]], Overrides]:
    """Buffers of as many bytes as the reading's products are, instead of packets."""
    products = {"rate × one way": 0.5, "twice that": 2.0}.get(reading["buffers"], 1.0)
    second = {"20 Mb/s": 20.0}.get(reading["rates"], p.MEGABITS)
    first = {"5 and 10 Mb/s": 5.0, "20 Mb/s": 20.0}.get(reading["rates"], p.MEGABITS)
    delay = int(reading["hop-delay"].split()[0])

    def capacity(megabits: float, trip_ms: float) -> Overrides:
        return {"bytes": max(1500, round(products * megabits * trip_ms * 1e3 / 8))}

    def found(grid: str, labels: dict[str, Label]) -> Overrides:
        if grid in THREE:
            rates = {"first-bottleneck": first, "shared-bottleneck": second}
            return {f"topology.{link}.queue.capacity": capacity(rate, 80) for link, rate in rates.items()}
        if grid in (p.HOPS, p.CHAIN):
            rate, hops = (1.0, int(labels["hops"])) if grid == p.HOPS else (p.MEGABITS, 5)
            return {"topology.bottleneck.queue.capacity": capacity(rate, 20 + 2 * delay * hops)}
        if grid == p.ROUND_TRIPS:
            return {"topology.bottleneck.queue.capacity": capacity(p.MEGABITS, sum(p.SPREAD_TRIPS_MS) / 2)}
        rate = p.MEGABITS if grid == p.FRIENDLY else 1.0
        return {"topology.bottleneck.queue.capacity": capacity(rate, 70)}

    return found


def _together(grid: str, _: dict[str, Label]) -> Overrides:
    groups = [*TCP_FLOWS.get(grid, ("ftp",)), *(() if grid == p.HOPS else ("video",))]
    return {f"flow.{group}.start": "0 s" for group in groups}


def rtcp(**changes: Any) -> Changes:
    """What RTCP over UDP takes on."""
    paths = {f"{TRANSPORT}.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda _, labels: paths if carrier(labels) == RTCP else {}


FACTORS = (
    Factor(
        "packets",
        "How a frame becomes packets.",
        (
            Value("of 1000 bytes", "§4.1: each frame is divided into packets of a fixed size, and 1000 bytes are the "
                  "size for all flows. A layer is a stream of bytes; what of a frame does not fill a packet "
                  "shares it with the next frame, so that rates stay what they are."),
            Value("and a remainder", "ns-2's UDP agent (`apps/udp.cc`, `sendmsg`) sends what is left of a message in a "
                  "shorter packet; here each layer of each frame is a message.", _remainders),
        ),
        "Twice the paper says that sizes are fixed, and never that a packet is short.",
    ),
    Factor(
        "stream",
        "What TFRC, Westwood+ and plain UDP carry.",
        (
            Value("one stream", "§4.1: over TFRC and Westwood+ the video goes at the optimal quality and adaptation is "
                  "disabled; layers then have no use."),
            Value("all layers", "The same server may cut the same layers and send them all.", _in_layers),
        ),
        "Without adaptation nobody needs layers; a server that cuts them all the same is possible, not likely.",
    ),
    Factor(
        "pace",
        "How DVRC spaces its packets.",
        (
            Value("at R", "§3.1: data are sent out on the basis of the rate determined at the receiving end, which is "
                          "R (§3.3, step 2)."),
            Value("at c_K", "The rate that the receiver asks for is a number of layers (§3.3, step 4): c_K is the "
                            "rate of what is sent.", dvrc(pace="layers")),
            Value("as frames are made", "§3.3's sender joins and leaves layers and is not said to do more; §1: UDP "
                                        "simply sends at the application's rate and pattern.", dvrc(pace="none")),
        ),
        "By the words on transmission; the third has none for it but §3.3's silence.",
    ),
    Factor(
        "reaction",
        "What is one loss event to DVRC.",
        (
            Value("every gap", "§3.1: control is triggered when a packet arrives whose sequence number is greater "
                               "than the expected one; nothing is said of events that are passed over."),
            Value("once per round trip", "§2 describes TFRC so, and §3.2 speaks of loss events and epochs without "
                                         "saying how near each other two may be.", dvrc(reaction="round-trip"),
                  flagged="With α a packet per round trip DVRC alone on a path with room for two layers loses over a "
                          "third of its packets, which §3.2 says it does not."),
        ),
        "The one is printed, the other a habit of other protocols.",
    ),
    Factor(
        "rise",
        "In which steps y(t) is 0.",
        (
            Value("each round trip without loss", "§3.2 takes the conventional parameters of AIAD and AIMD, whose "
                                                  "step is a round trip (its reference Chiu & Jain 1989; TCP)."),
            Value("each packet", "§3.1: every datagram is acknowledged, so every control packet is a step; a packet's "
                                 "share of what a round trip adds, as TCP adds it per "
                                 "acknowledgement.", dvrc(rise="packet")),
        ),
        "Both are customary; a step that only a whole round trip without loss earns is the plainer reading of (6).",
    ),
    Factor(
        "alpha",
        "The unit of α in Eq. (11).",
        (
            Value("a packet per second", "Eq. (11) adds α to R, so that 1 is one of whatever R is counted in; packets "
                                         "are of one size, and a rate in them is packets per second: 8 kb/s. No round "
                                         "trip is in the equation."),
            Value("a packet per round trip", "§3.2: the conventional parameters of AIAD and AIMD, which for a TCP's "
                                             "window are a packet per round trip.", dvrc(aiamd__unit="packet",
                                             aiamd__alpha_rate=None)), ),
        "The first is what the equation's dimensions say, and alone on an empty path it loses little. The "
        "second loses a quarter there: a rate, unlike a window, is not slowed by the queue that it fills.",
    ),
    Factor(
        "compared",
        "Which rate is held against R̄ − n·D̄.",
        (
            Value("receiving rate", "§3.2's text (the currently measured rate) and Figures 2 and 3."),
            Value("requested rate", "Eq. (11) as printed: R(t − 1).", _compared),
        ),
        "The text says so three times and a figure shows it; the equation once.",
    ),
    Factor(
        "measured-over",
        "Over what the receiving rate is measured.",
        (
            Value("150 ms or a round trip", "§4.2 and §5.1 take rates over 150 ms, about two round trips."),
            Value("the epoch", "§3.2: the state variable is the receiving rate updated at the end of each epoch.",
                  dvrc(measure="epoch")),
            Value("a round trip", "The step of the control.", dvrc(measure_over="1 ms")),
            Value("500 ms", "Nothing bounds it from above but the life of an epoch.", dvrc(measure_over="500 ms")),
        ),
        "The only interval that the paper names for rates comes first; then what its definition of the "
        "variable suggests.",
    ),
    Factor(
        "gains",
        "How fast R̄ and D̄ move.",
        (
            Value("1/8 and 1/4", "RFC 6298 §2.3, the customary mean and deviation, which §3.1 takes up for the "
                                 "timeout."),
            Value("0.1 and 0.75", "The paper's own smoothing of round trips, Eq. (2) and (4) as printed.",
                  dvrc(aiamd__mean_gain=0.1, aiamd__deviation_gain=0.75)),
            Value("1/2 and 1/2", "No word bounds them.", dvrc(aiamd__mean_gain=0.5, aiamd__deviation_gain=0.5)),
        ),
        "Custom, then the paper's own numbers for another quantity, then something else altogether.",
    ),
    Factor(
        "ceiling",
        "How far R may rise once all layers are sent.",
        (
            Value("c_k", "§3.3 and §5.4: DVRC takes only what all layers need; a rate that nothing tests is not "
                         "probed."),
            Value("a quarter above", "Eq. (11) names no bound; some room keeps the highest layer from leaving at the "
                                     "first loss.", dvrc(headroom=0.25)),
        ),
        "§5.4 states the purpose; room above it is ours.",
    ),
    Factor(
        "timeout",
        "The shortest silence that DVRC takes for losses, DTO.",
        (
            Value("200 ms at least", "§5.5: DVRC estimates its timeout as TCP does, and TCP's has a least value; that "
                                     "of ns-2 is 200 ms."),
            Value("as printed", "Eq. (3) has no least value.", dvrc(timeout__least="0 s")),
        ),
        "Without a least value the pause between two frames is a timeout on a path shorter than that.",
    ),
    Factor(
        "layers",
        "What the layers add.",
        (
            Value("128 to 384 kb/s", "Lost; multiples of ISDN's 64 kb/s with a base that 50 videos fit into 10 Mb/s."),
            Value("five of 200 kb/s", "A packet of 1000 bytes per frame and layer.", layered([200] * 5)),
            Value("half as much", "64 to 192 kb/s: low-rate MPEG-4 of its day.", layered([64, 64, 64, 128, 192])),
        ),
        "§5.4 wants the base layers alone to go into a crowded link, §5.3's 1–50 videos of 10 Mb/s want "
        "about 1 Mb/s each.",
    ),
    Factor(
        "group",
        "Order of the frames.",
        (
            Value("IBBPBBPBBPBB", "12 frames, the commonest at 25 frames a second."),
            Value("IBBPBBPBBPBBPBB", "15 frames, the commonest at 30.", _group),
        ),
        "§4.1 names I, P and B frames and no group.",
    ),
    Factor(
        "losses",
        "Correlated losses: the sentence that defines q gives it in both cases.",
        (
            Value("q after a loss", "§4.1, and the model's own literature: p unless the packet before was lost."),
            Value("q but for the first", "§4.1 word by word: every packet of a round but the first with q.",
                  lossy(other=0.15)),
            Value("rounds of 100", "The length of rounds is not stated.", lossy(mean_length=100.0)),
        ),
        "Two cases that have the same number are a slip of the pen, and correlated losses need two.",
    ),
    Factor(
        "buffers",
        "Which bandwidth-delay product buffers hold.",
        (
            Value("rate × round trip", "§4.1: adjusted in accordance with the bandwidth-delay product."),
            Value("rate × one way", "The same words with the link's delay one way.", buffers(0.5)),
            Value("twice that", "§4.1 says in accordance with, not equal to.", buffers(2.0)),
        ),
        "The product is commonly taken with the round trip.",
    ),
    Factor(
        "hosts",
        "What the hosts' own links hold where they are as fast as the bottleneck (§5.1, §5.4).",
        (
            Value("as the routers", "§4.1 names one size of buffer, and a host's link is as fast as the router's."),
            Value("50 packets", "ns-2's default (`tcl/lib/ns-default.tcl`, `queue_limit`); §4.1 speaks of routers.",
            _fifty), ),
        "With 50 packets a window of 64 never overflows anything but the bottleneck, and a TCP that fills its own "
        "link sends at just the bottleneck's pace: whoever else then comes finds it full, however its sendings are "
        "spread.",
    ),
    Factor(
        "rates",
        "Rates of the two bottlenecks of Figures 5a and 5b.",
        (
            Value("10 Mb/s", "§5.3: 64 to 256 kb/s are up to 2.5 % of the bottleneck."),
            Value("5 and 10 Mb/s", "§4.1: R1 is the bottleneck for video traffic, R2 another one.", _first_slower),
            Value("20 Mb/s", "§5.3's figure is 5b's alone.", _both_faster),
        ),
        "The one number of the text, applied to both; then what the order of routers suggests.",
    ),
    Factor(
        "minimum-timeout",
        "TCP's shortest timeout.",
        (
            Value("200 ms", "ns-2 since 2004-10-14 (`tcl/lib/ns-default.tcl`, `minrto_`); the paper was sent in in "
                            "2007."),
            Value("1 s", "ns-2 before, and RFC 2988 §2.4; Figure 6's coarse timeouts.", tcp(min_rto="1 s")),
        ),
        "The date speaks for the newer version.",
        "coarse clock",
    ),
    Factor(
        "starts",
        "When flows begin.",
        (
            Value("within a second", "§4.1: results are taken from 2 s on, to leave out what starting up does."),
            Value("together", "No spread is stated.", _together),
        ),
        "Seeds and spread delays are said to avoid synchronisation; flows that begin at once would bring it.",
        "phase effect",
    ),
    Factor(
        "reports",
        "How RTCP/UDP reports and adapts.",
        (
            Value("every 5 s", "RFC 3550 §6.2's minimum; a layer less above 5 % lost, one more below 2 %."),
            Value("reduced minimum", "RFC 3550 §6.2: 360 s over the bandwidth in kb/s.", rtcp(reduced_minimum=True)),
            Value("2 and 1 %", "No threshold is stated.", rtcp(drop_above=0.02, add_below=0.01)),
        ),
        "The standard's default, then its option.",
    ),
    Factor(
        "sent",
        "What the video delivery index and the share of delayed packets are parts of.",
        (
            Value("all that was made", "§4.2 divides by the packets sent by the application: what it made, whether its "
                  "transport sent it or still holds it."),
            Value("what left the sender", "§5.2 explains the indices of TFRC and Westwood+ by packets lost and packets "
                  "late, and never by packets that were not sent.", plausibility=0.5),
        ),
        "The definition comes before an explanation of one figure, and the drop rate is defined in the same words.",
        "definition",
    ),
    Factor(
        "lost",
        "Which packets are lost. The drop rate is their part of all that the application made.",
        (
            Value("in the network", "§5.2 and §5.3 explain TFRC's losses by congestion and link errors, and the "
                                    "quantity "
                  "is called the packet drop rate."),
            Value("all that did not arrive", "§4.2: lost of those that the application sent. A trace of ns-2 that "
                                             "is counted "
                  "at the application's two ends has no other losses: what never left the sender is one.",
                  plausibility=0.5),
        ),
        "A drop is an event in a queue or on a link; what waits in a sender was dropped by nobody, though whoever "
        "counts "
        "what the application sent and received finds it missing.",
        "definition",
    ),
    Factor(
        "late",
        "Which packets are delayed.",
        (
            Value("gap above 75 ms", "§4.2: a packet inter-arrival threshold."),
            Value("gap in excess of the sender's", "§4.2 rests it on delay variation; Eq. (12) compares spacings."),
        ),
        "The one is the definition, the other its reason.",
        "definition",
    ),
    Factor(
        "clock",
        "The granularity of TCP's clock.",
        (
            Value("10 ms", "ns-2's default by then (`tcl/lib/ns-default.tcl`, `tcpTick_`; its test suites note that "
                           "it was "
                           "changed from 0.1)."),
            Value("100 ms", "ns-2's default before (`tcpTick_ 0.1`), which scripts kept.", tcp(tick="100 ms"),
                  plausibility=0.5),
            Value("500 ms", "§5.1 speaks of coarse timeouts: the timer of 500 ms of BSD's TCP, whence the words.",
                  tcp(tick="500 ms"), plausibility=0.5),
        ),
        "The tool's default of the paper's date, then the one before, then what the words call to mind.",
        "coarse clock",
    ),
    Factor(
        "acknowledgements",
        "Which segments TCP's receiver acknowledges.",
        (
            Value("each", "ns-2's `Agent/TCPSink`, the default; the paper names no other."),
            Value("delayed", "RFC 2581 §4.2 and ns-2's `Agent/TCPSink/DelAck`.", tcp(delayed_ack=True),
                  plausibility=0.5),
        ),
        "Delayed acknowledgements have to be asked for in ns-2, and are worth a word to whoever does.",
    ),
    Factor(
        "window",
        "What limits TCP's window.",
        (
            Value("64 packets", "§4.1: at most 64 kB, of packets of 1000 bytes."),
            Value("20 packets", "§4.1 limits the congestion window, ns-2's `maxcwnd_`; its `window_`, the "
                                "receiver's, is 20 "
                                "unless a script says otherwise.", tcp(receiver_window=20), plausibility=0.25),
        ),
        "§4.1 says 64 kB; that a lower limit was left in force is an oversight that its words admit.",
    ),
    Factor(
        "jitter",
        "By how much TCP's sendings are spread.",
        (
            Value("a packet's time on the dumbbell", "Floyd & Jacobson 1992 (phase effects); ns-2's scripts set "
                                                     "`overhead_` "
                  "so. Figure 6 has two TCP flows that both go on; on Figures 5a to 5c delays are spread instead "
                  "(§4.1)."),
            Value("none", "ns-2's default, `overhead_ 0`; the paper names none.", tcp(p.DUMBBELL, send_jitter="0 s")),
            Value("1 ms", "What ns-2's own test suites set, `overhead_ 0.001`, in all topologies.",
                  tcp(send_jitter="1 ms"), plausibility=0.5),
        ),
        "With no spread at all one of two TCP flows can be shut out for good, which Figure 6 does not show; the "
        "default is "
        "as likely by the tool alone.",
        "phase effect",
    ),
    Factor(
        "recovery",
        "How TCP recovers from losses.",
        (
            Value("Reno's", "§4.1 names TCP Reno for file transfers; Westwood+ is a modification of Reno (§2, §5.2)."),
            Value("NewReno's", "Westwood+'s code for ns-2 comes with NewReno's recovery as well; what is compared "
                               "are windows, "
                               "so all have the same.", tcp(recovery="newreno"), plausibility=0.5),
            Value("with SACK", "Deployed by then (RFC 3517), and in ns-2; 'conformant TCP' (§2) is not Reno's "
                               "recovery alone.",
                  tcp(recovery="sack"), plausibility=0.25),
        ),
        "By the names that the paper uses.",
    ),
    Factor(
        "headers",
        "Which headers are on the wire.",
        (
            Value("of every protocol", "UDP and IP beneath DVRC and RTCP, 32 bytes of TFRC, 40 of TCP: what a "
                                       "network carries. "
                                       "§3.1 encapsulates DVRC's header in UDP datagrams."),
            Value("as ns-2 counts", "In ns-2 a packet of UDP or TFRC is as large as the script says, 1000 bytes "
                                    "(§4.1: for all "
                                    "system flows), while TCP's 40 bytes are added (`tcpip_base_hdr_size_`).",
                  _as_ns2_counts),
        ),
        "§4.1's packet size can be that of the payload or of the packet; a header of its own is DVRC's by Figure 1.",
    ),
    Factor(
        "buffer-unit",
        "What buffers count.",
        (
            Value("packets", "ns-2's default for drop-tail (`queue_in_bytes_ false`)."),
            Value("bytes", "§4.1: the bandwidth-delay product, which is so many bytes.", plausibility=0.5),
        ),
        "ns-2's queues have to be told to count bytes.",
    ),
    Factor(
        "hop-delay",
        "How long a hop of Figure 5c takes.",
        (
            Value("10 ms", "Lost with the figure; as the routers of Figures 5a and 5b are assumed to be apart."),
            Value("5 ms", "The least of the delays that §4.1 names.", _hops(5)),
            Value("25 ms", "As the dumbbell's bottleneck, whose round trip of 70 ms §4.1 states.", _hops(25)),
        ),
        "Nothing is known but that ten of them are crossed; the middle of what the other topologies have comes first.",
    ),
    Factor(
        "spread",
        "How far round trips differ in Figure 10c.",
        (
            Value("to 150 ms one way", "§5.2: flow RTTs vary significantly."),
            Value("to 75 ms one way", "The same words, with half of it.", _spread),
        ),
        "The words want much.",
    ),
)  # fmt: skip


SHORTENED = (
    "30 s instead of 60 s where many flows meet (20 s with links of 20 Mb/s) and 100 s instead of 200 s for a single "
    "video; 5, 20 and 50 videos instead of eight numbers; 1, 5 and 10 hops instead of ten; 4, 5 and 8 layers."
)
"""What `essentials` has less of than the whole study."""


def applied(found: Readings, grid: Grid, reading: Reading) -> Grid:
    """The grid under a reading, complete: where buffers count bytes, products in packets give way to them."""
    grid = found.apply(grid, reading)
    before = grid.settings
    if reading["buffer-unit"] == "packets" or before is None:
        return grid
    capacities = in_bytes(reading)

    def settings(labels: dict[str, Label]) -> Overrides:
        kept = {path: value for path, value in before(labels).items() if ".queue.capacity." not in path}
        return {**kept, **capacities(grid.id, labels)}

    return replace(grid, settings=settings)


def readings() -> Readings:
    """All of it."""

    def whole(reading: Reading) -> Study:
        from fairwave_studies.video import under

        return under(reading)

    def essential(reading: Reading) -> Study:
        from fairwave_studies.video import essentials

        return essentials(reading)

    return Readings(FACTORS, whole, essential, shortened=SHORTENED)
