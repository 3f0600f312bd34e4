"""How else paper 003 can be read: what it leaves open, what admits each way to close it, and which is most plausible.

The order of values was fixed before the readings were explored. Three rules decide it: the paper's own words on the
very experiment come before its words in general; what the paper prints comes before what its simulator does unasked;
and of two simulator versions the one that was out when the manuscript was received (January 2004) comes first. A value
that the words or the tools admit is admitted whatever it does to a claim; one that contradicts another sentence of the
paper is admitted and flagged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.runs.grid import IN_STEP
from fairwave_studies.smoothness import names as n
from fairwave_study.readings import Factor, Readings, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.runs.grid import Grid, Label, Overrides
    from fairwave_studies.smoothness.points import Extent
    from fairwave_study.readings import Reading
    from fairwave_study.study import Study

    Labels = dict[str, Label]
    Changes = Callable[[str, Labels], Overrides]


def tcp_only(changes: Overrides) -> Changes:
    """These changes wherever the flows are TCPs."""
    return lambda _grid, labels: changes if labels.get("transport") in n.TCPS else {}


def on(grids: tuple[str, ...], changes: Overrides) -> Changes:
    """These changes on some grids."""
    return lambda grid, _labels: changes if grid in grids else {}


def _tfrc(preset: str) -> Changes:
    changes = {"flow.main.transport.preset": preset}
    return lambda grid, labels: changes if grid == n.AVOIDANCE and labels["transport"] == n.TFRC else {}


def _without_headers(_grid: str, labels: Labels) -> Overrides:
    known = {*n.TCPS, n.TFRC}
    return {"flow.*.transport.header": "0 B"} if labels.get("transport") in known else {}


def _path(milliseconds: int) -> Changes:
    """A round trip of so many ms wherever the paper does not give or imply another: 10 ms on each access link."""
    changes = {"topology.bottleneck.delay": f"{milliseconds / 2 - 20:g} ms"}
    return lambda grid, _labels: changes if grid not in (n.SPREAD, n.RECOVERY) else {}


def _gamma_at_once(_grid: str, labels: Labels) -> Overrides:
    named = labels.get("transport") in (n.GAMMA, n.GAMMA_DELTA)
    return {"flow.main.transport.at-once": True} if named else {}


def _both_ways(grid: str, _labels: Labels) -> Overrides:
    return {"topology.sink-access.reverse": None} if grid in n.WITH_ERRORS else {}


def _handoffs(grid: str, labels: Labels, *, kind: str) -> Overrides:
    if grid != n.HANDOFFS:
        return {}
    law = {"model": "handoff", "up": "5 s", "down": labels["down"]}
    if kind == "every 5 s":
        law |= {"regular": True}
    return {"topology.sink-access.loss": law}


def on_tcp(grids: tuple[str, ...], **changes: object) -> Changes:
    """What every TCP takes on, on all grids but these."""
    keys = {f"flow.*.transport.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda grid, labels: keys if labels.get("transport") in n.TCPS and grid not in grids else {}


def _as_ns2_counts(_grid: str, labels: Labels) -> Overrides:
    return {"flow.*.transport.header": "0 B"} if labels.get("transport") == n.TFRC else {}


def _joining(when: str, after: str) -> Changes:
    """Flows that join begin so long after each change of their number."""

    def changes(grid: str, _labels: Labels) -> Overrides:
        if grid != n.GROWING:
            return {}
        groups = {"second": 15, "third": 20, "fourth": 25}
        return {
            f"flow.{name}.start": f"{at} s"
            if when == after
            else {"from": f"{at} s", "to": f"{at + float(after):g} s"}
            for name, at in groups.items()
        }

    return changes


def _bursts(milliseconds: int) -> Changes:
    """A bad state of the two-state Markov model that lasts so long on average, at the same share of packets lost."""

    def changes(grid: str, labels: Labels) -> Overrides:
        per = float(labels.get("per", 0.0))
        if grid != n.MARKOV or not per:
            return {}
        good = milliseconds * (1 - per) / per
        return {
            "topology.sink-access.loss": {
                "model": "markov",
                "good": f"{good:g} ms",
                "bad": f"{milliseconds} ms",
            }
        }

    return changes


def _random_phases(grid: str, _labels: Labels) -> Overrides:
    return {"flow.main.traffic.phase": "random"} if grid in n.READ else {}


def _hops(reading: Reading) -> Changes:
    """Where the round trip lies: as the reading has both."""
    trip = float(reading["round-trip"].split()[0])

    def changes(grid: str, _labels: Labels) -> Overrides:
        if grid in (n.SPREAD, n.RECOVERY):
            return {}
        if reading["hops"] == "5 to 15 ms at sources":
            return {"topology.source-access.delay": {"from": "5 ms", "to": "15 ms"}}
        each = f"{trip / 6:g} ms"
        return {f"topology.{link}.delay": each for link in ("bottleneck", "access")}

    return changes


def _in_bytes(reading: Reading, extent: Extent) -> Changes:
    """The bottleneck's buffer, where it is drop-tail, in so many bytes instead of packets of 1000."""
    products = 0.5 if reading["buffers"] == "one way" else 1.0
    trip_ms = float(reading["round-trip"].split()[0])

    def changes(grid: str, labels: Labels) -> Overrides:
        if grid == n.RECOVERY or labels.get("queue") == "RED" or labels.get("transport") == n.RENO_RED:
            return {}
        shortest = 30.0 if grid == n.SPREAD else products * trip_ms
        return {
            "topology.bottleneck.queue.capacity": {
                "bytes": round(_megabits(grid, labels, extent) * shortest * 1e3 / 8)
            }
        }

    return changes


def _megabits(grid: str, labels: Labels, extent: Extent) -> float:
    """The bottleneck's rate at a point, Mb/s."""
    if "bottleneck" in labels:
        return float(str(labels["bottleneck"]).split()[0]) * (
            extent.leavers / 100 if grid == n.SHRINKING else 1
        )
    if grid in (n.CONSTANT, n.AVOIDANCE):
        return float(labels["flows"])
    if grid in n.CROWDS:
        return float(extent.crowd_flows)
    if grid == n.WIRED_100:
        return 100.0
    return 20.0 if grid in (n.BEYOND, n.BESIDE, n.BEYOND_READERS) else 10.0


def _small_access(grid: str, _labels: Labels) -> Overrides:
    if grid in (n.SPREAD, n.RECOVERY):
        return {}
    return {"topology.access.queue.capacity": {"packets": 50}}


def _one_way(grid: str, labels: Labels) -> Overrides:
    if grid in (n.SPREAD, n.RECOVERY):
        return {}
    found: dict[str, object] = {"topology.access.queue.capacity": {"bdp": 0.5}}
    if labels.get("transport") != n.RENO_RED:
        found["topology.bottleneck.queue.capacity"] = {"bdp": 0.5}
    return found


FACTORS = (
    Factor(
        "version",
        "Whose details the transports have: the paper used ns-2 and names no version.",
        (
            Value(
                "ns2-2004",
                "The manuscript was received in January 2004; the least timeout became 200 ms on "
                "2004-10-14 and the first timeout 3 s on 2006-01-21 (ns-2.35, ns-default.tcl).",
                {"preset": "ns2-2004"},
            ),
            Value(
                "ns2",
                "ns-2.35, as it can be had today; the paper was revised in December 2004, after the least "
                "timeout.",
                {"preset": "ns2"},
            ),
            Value(
                "rfc",
                "The paper's reference [1] is RFC 2581; today's RFCs 5681 and 6298 succeed it and what it "
                "took from RFC 2988.",
                {"preset": "rfc", "hosts": IN_STEP},
            ),
        ),
        "Simulations are run before a manuscript is handed in, so the simulator of its date comes first; a "
        "revision may have repeated them with the next; nothing says that a standard's text was followed "
        "where ns-2 differs.",
        "version of the simulator",
    ),
    Factor(
        "recovery",
        "How TCP(α, β) repairs losses.",
        (
            Value("reno", "§IV calls TCP(1, 0.5) Reno; §III counts on windows lowered once per drop."),
            Value(
                "newreno",
                "RFC 2582 was the common TCP of 2004, and ns-2 has GAIMD's parameters in every TCP.",
                tcp_only({"flow.*.transport.recovery": "newreno"}),
            ),
            Value(
                "sack",
                "GAIMD's authors, the paper's [13] and [14], compare over SACK as well.",
                tcp_only({"flow.*.transport.recovery": "sack"}),
                plausibility=0.5,
            ),
        ),
        "The paper names Reno; NewReno is what most simulations of the year ran; SACK is named nowhere.",
    ),
    Factor(
        "round-trip",
        "The round trip without queueing: Figure 1's delays are lost.",
        (
            Value("100 ms", "The only round trip that the paper names (Observation 1).", _path(100)),
            Value(
                "80 ms",
                "The middle of what Figure 3 allows: ten windows of 64 kB do not fill 100 Mb/s, twenty do, "
                "so it lies between 52 and 105 ms.",
                _path(80),
            ),
            Value("60 ms", "Near the lower end of what Figure 3 allows.", _path(60)),
        ),
        "A number that is printed comes before one that is inferred; Figure 20's 19 s, too, ask for a long "
        "round trip.",
    ),
    Factor(
        "buffers",
        "Which buffers hold one delay-bandwidth product, and of which delay.",
        (
            Value(
                "round trip, everywhere",
                "§II sets the routers'; §IV says of the round-trip propagation delay.",
            ),
            Value(
                "round trip, bottleneck only",
                "§IV argues with the bottleneck's buffer alone; ns-2's queues hold 50 packets where a "
                "script sets none.",
                _small_access,
            ),
            Value(
                "one way",
                "§II says delay-bandwidth product and not of which delay.",
                _one_way,
                plausibility=0.25,
                flagged="Eq. (13) then gives k = 1/2 where §IV has 1, and a γ of 4/5 where it has 2/3.",
            ),
        ),
        "§IV is explicit on the delay and §II on the routers; hosts are taken along. A half contradicts "
        "§IV's γ of 2/3.",
    ),
    Factor(
        "headers",
        "What a segment of 1000 bytes takes on the wire.",
        (
            Value(
                "40 B", "§II counts header bytes as overhead; ns-2 adds them by default since November 2001."
            ),
            Value(
                "none", "ns-2's earlier default, which scripts kept with useHeaders_ false.", _without_headers
            ),
            Value(
                "as ns-2 counts",
                "ns-2 adds 40 bytes to TCP's segments, while a packet of its TFRC is as large as the script says.",
                _as_ns2_counts,
            ),
        ),
        "The paper's own definition of overhead has headers in it.",
        "way of counting sizes",
    ),
    Factor(
        "acknowledgements",
        "How many segments an acknowledgement answers: b in Eq. (1).",
        (
            Value(
                "every segment",
                "ns-2's plain sink; Observation 1 refills half of 64 kB in 3.2 s at 100 ms, a segment per round trip.",
            ),
            Value(
                "every second segment",
                "RFC 2581 §4.2, the paper's [1]; ns-2 has a sink for it.",
                tcp_only({"flow.*.transport.delayed-ack": True}),
            ),
        ),
        "§III has a window of 64 kB refilled in 32 round trips of 100 ms, which is b = 1.",
    ),
    Factor(
        "sending",
        "Whether anything random breaks the step of like flows.",
        (
            Value(
                "jitter",
                "Floyd and Jacobson (1992) and ns-2's manual advise a random delay of up to a packet's "
                "time at the bottleneck against an artefact of simulation: like flows that move in step.",
            ),
            Value(
                "none",
                "ns-2 adds none unless asked (overhead_ 0), and the paper mentions none.",
                tcp_only({"flow.*.transport.send-jitter": None}),
            ),
            Value(
                "1 ms",
                "What ns-2's own test suites set on every path, overhead_ 0.001.",
                tcp_only({"flow.*.transport.send-jitter": "1 ms"}),
                plausibility=0.5,
            ),
        ),
        "Hosts have random delays, and authors who study fairness know the artefact; but the default is "
        "the other.",
        "phase effect",
    ),
    Factor(
        "starts",
        "When flows begin.",
        (
            Value(
                "together",
                "§III has N flows from t = 0 (Figures 7 and 8): all within 100 ms.",
                on(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "100 ms"}}),
            ),
            Value(
                "within 1 s",
                "Scripts stagger starts at random, so that handshakes do not collide.",
                on(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "1 s"}}),
            ),
            Value(
                "within 5 s",
                "§II measures from 15 s on, to be in equilibrium, so starts may take some seconds.",
                on(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "5 s"}}),
            ),
            Value(
                "at 0 s",
                "The same words on Figures 7 and 8 to the letter; a script that starts flows in a loop starts "
                "them at one instant.",
                on(n.MANY_FLOWS, {"flow.main.start": "0 s"}),
            ),
        ),
        "The only words on starts are those on Figures 7 and 8.",
        "phase effect",
    ),
    Factor(
        "red",
        "RED's law: largest probability, slope above the upper threshold, spacing of drops.",
        (
            Value(
                "1993", "Reference [7] is Floyd and Jacobson 1993: max_p 1/50, w 0.002, no gentle, no wait."
            ),
            Value(
                "ns2-2004",
                "What ns-2 did in January 2004 where only thresholds were set: max_p 0.1, gentle, wait, "
                "packets counted (bytes_ and queue_in_bytes_ changed on 2004-10-11).",
            ),
            Value("2000", "Floyd's later advice: max_p 0.1, gentle, drops spaced as in 1993."),
        ),
        "The cited paper before the simulator's defaults, and those before advice that is not cited.",
    ),
    Factor(
        "red-thresholds",
        "RED's thresholds, which the paper does not give.",
        (
            Value(
                "a sixth and a half", "Three to one, as its authors have them since 1997, within the buffer."
            ),
            Value("5 and 15", "What the 1993 paper simulates with, and ns-2's numbers until 2001."),
            Value(
                "a quarter and three quarters",
                "A common setting of the time: the average may use most of the buffer.",
            ),
        ),
        "Buffers here hold 38 to 1250 packets: thresholds that follow the buffer come before ones that do not.",
    ),
    Factor(
        "errors",
        "Which direction of the links to the sinks loses packets.",
        (
            Value(
                "data only",
                "§II inserts ns-2's error models into the access links; ns-2 attaches one to a direction.",
            ),
            Value(
                "both directions", "A wireless link loses what it carries, acknowledgements too.", _both_ways
            ),
        ),
        "What the call in ns-2 does comes before what a script may do twice.",
    ),
    Factor(
        "wireless",
        "The rate of the wireless links with 100 flows: Figures 10 and 12 show the same simulations by two "
        "captions.",
        (
            Value("10 Mb/s", "Captions of Figures 12 and 15, and the text on Figure 13."),
            Value("100 Mb/s", "Caption of Figure 10; §II has all links alike unless it says otherwise."),
        ),
        "Two captions and a sentence against one caption.",
        "contradiction of two captions",
    ),
    Factor(
        "rate-of-7",
        "The bottleneck's rate in Figure 7.",
        (
            Value(
                "10 Mb/s",
                "Its caption; at 100 Mb/s twelve windows of 64 kB neither fill the link nor meet a loss, "
                "so that the text would compare four systems that do the same.",
            ),
            Value("100 Mb/s", "The text of Observation 3, and Figure 8's caption."),
        ),
        "The caption tells this figure from its neighbour, whose caption says 100; α and β act on losses "
        "alone.",
        "contradiction of caption and text",
    ),
    Factor(
        "handoffs",
        "When interruptions begin and how long they last.",
        (
            Value(
                "every 5 s",
                "The text on Figures 13 and 14: a handoff every 5 s, of exponential length.",
                lambda grid, labels: _handoffs(grid, labels, kind="every 5 s"),
            ),
            Value(
                "both exponential",
                "§II: a Markov chain in continuous time, each state with exponential sojourns.",
                lambda grid, labels: _handoffs(grid, labels, kind="both exponential"),
            ),
        ),
        "Words on the very experiment come before words on the method.",
    ),
    Factor(
        "bin",
        "The period over which allotted goodput, allotted fairness, short-term fairness and CoV are taken.",
        (
            Value(
                "500 ms", "§II: a time scale of several round trips.", on(n.BINNED, {"record.bin": "500 ms"})
            ),
            Value("1 s", "The success percentage's period (§II).", on(n.BINNED, {"record.bin": "1 s"})),
            Value(
                "200 ms",
                "Two round trips: the least that several can be.",
                on(n.BINNED, {"record.bin": "200 ms"}),
            ),
        ),
        "Five round trips of 100 ms are several; ten are many and two are few.",
        "definition",
    ),
    Factor(
        "success",
        "What a read finds.",
        (
            Value("formula", "§II's formula: the goodput of each second."),
            Value("buffer", "§II's prose: reads of 125 kB from a playback buffer of as much."),
        ),
        "A formula is exact.",
        "definition",
    ),
    Factor(
        "tfrc",
        "Which TFRC.",
        (
            Value(
                "ns-2's", "The paper simulates with ns-2, whose TFRC is by the authors of [6].", _tfrc("ns2")
            ),
            Value(
                "RFC 5348's",
                "The protocol as its authors specify it since (RFC 3448, then 5348).",
                _tfrc("rfc"),
            ),
        ),
        "The simulator's module is what ran.",
    ),
    Factor(
        "gamma",
        "What 'decreased after one RTT' means.",
        (
            Value("one round trip later", "§IV: upon detection the window is decreased after one RTT."),
            Value(
                "at once",
                "The same words as a limit: one decrease per round trip, made when the queue is found half "
                "full, for which Eq. (16) gives the factor.",
                _gamma_at_once,
            ),
        ),
        "'After' is first of all a time.",
    ),
    Factor(
        "figure-20",
        "The round trip of Figure 20's path.",
        (
            Value(
                "calibrated",
                "The one at which Reno takes the 19 s that the paper prints; the others are predicted.",
            ),
            Value("as elsewhere", "The paper names no other path; all four times are then predicted."),
        ),
        "A time that is printed comes before a delay that is not.",
    ),
    Factor(
        "recovered",
        "From which share of its former goodput on a flow has fully recovered.",
        (
            Value("90 %", "'Fully' cannot be read off a plot to more than a tenth."),
            Value("95 %", "A stricter eye."),
            Value("80 %", "A more lenient one."),
        ),
        "The middle of three that an eye may take.",
        "definition",
    ),
    Factor(
        "clock",
        "The granularity of TCP's clock (tcpTick_).",
        (
            Value("10 ms", "ns-2's default by January 2004 (tcl/lib/ns-default.tcl)."),
            Value(
                "100 ms",
                "ns-2's default before (tcpTick_ 0.1), which scripts kept, as its test suites do.",
                on_tcp((), tick="100 ms"),
                plausibility=0.5,
            ),
            Value(
                "500 ms",
                "The timer of 4.3BSD's TCP, whose coarseness §IV sets its fine-grained round trips against.",
                on_tcp((), tick="500 ms"),
                plausibility=0.25,
            ),
        ),
        "The tool's default of the paper's date, then the one before, then what TCPs in the field did.",
        "coarse clock",
    ),
    Factor(
        "window",
        "What limits a window.",
        (
            Value("64 segments", "Observation 2: the standard header allows 64 kB; segments of 1000 bytes."),
            Value(
                "20 segments",
                "ns-2's default (window_ 20), where a script sets maxcwnd_ or nothing.",
                on_tcp((n.RECOVERY,), receiver_window=20),
                plausibility=0.25,
                flagged="Observation 2 lays the jump of Figure 3 to windows of 64 kB.",
            ),
            Value(
                "none",
                "Figure 20 needs more than 64 kB; a script that lifts the limit there may lift it everywhere.",
                on_tcp((n.RECOVERY,), receiver_window=1000),
                plausibility=0.25,
                flagged="Observation 2 lays the jump of Figure 3 to windows of 64 kB.",
            ),
        ),
        "What the paper says; then a default left in force; then what one figure asks for.",
    ),
    Factor(
        "buffer-unit",
        "What the bottleneck's buffer counts, where it is drop-tail.",
        (
            Value("packets", "ns-2's drop-tail queue, whose limit is in packets."),
            Value(
                "bytes",
                "§II and Eq. (13): the delay-bandwidth product, which is so many bytes; ns-2's queue_in_bytes_.",
                plausibility=0.5,
            ),
        ),
        "ns-2's queues have to be told to count bytes, in versions that can.",
        "way of counting sizes",
    ),
    Factor(
        "hops",
        "Where on Figure 1's path the round trip lies.",
        (
            Value("10 ms on each access link", "The delay in the examples of ns-2's manual and tutorial."),
            Value(
                "alike on all three links", "Figure 1 has three links, and the text gives no delay to any."
            ),
            Value(
                "5 to 15 ms at sources",
                "The group's practice elsewhere (paper 002, §4.1) against flows in step; Figure 16 alone is said "
                "to have diverse round trips.",
                plausibility=0.5,
            ),
        ),
        "A common value first; then the simplest; differing delays would be worth a word.",
        "phase effect",
    ),
    Factor(
        "joining",
        "When those flows begin that join in Figure 7.",
        (
            Value("within 100 ms", "Observation 3 gives 15, 20 and 25 s; handshakes take as long."),
            Value("at the instant", "The same times to the letter.", _joining("at", "at")),
            Value(
                "within 1 s",
                "The load increases gradually (Observation 3's heading).",
                _joining("within", "1"),
            ),
        ),
        "Numbers that are printed, with the least spread that a script has; then none; then a word of the heading.",
        "phase effect",
    ),
    Factor(
        "measured",
        "Over what goodput, overhead and long-term fairness are taken.",
        (
            Value(
                "once settled",
                "§II: measurements are often taken 15 s after the start, to see the equilibrium; how long the "
                "paper's runs are is open, and over a long connection what starting up does vanishes.",
            ),
            Value(
                "the whole connection",
                "§II divides data by connection time, and the 15 s are said of allotted throughput.",
                on(n.OVERALL, {"warmup": "0 s"}),
            ),
        ),
        "Both are §II's; the lengths of runs are ours and short, so that the first comes nearer to a long connection.",
        "definition",
    ),
    Factor(
        "bursts",
        "How long the two-state Markov model of §II stays in its bad state on average.",
        (
            Value("20 ms", "Two or three packets of a flow that has 1 Mb/s: the shortest that is a burst."),
            Value(
                "100 ms",
                "Two-state models of radio links have fades of that order; a round trip.",
                _bursts(100),
            ),
        ),
        "§II names the model and no parameter; short bursts are nearest to the random errors that it says are similar.",
    ),
    Factor(
        "application",
        "Whether applications that write 1 Mb/s do so in step.",
        (
            Value("in step", "ns-2's CBR begins when it is started, and all are started together."),
            Value("each at its time", "ns-2's random_ sets CBR's packets apart.", _random_phases),
        ),
        "The default first.",
        "phase effect",
    ),
)


def whole(reading: Reading) -> Study:
    """The complete study under a reading."""
    from fairwave_studies.smoothness import under

    return under(reading)


def essential(reading: Reading) -> Study:
    """Claims alone, at the fewest points on which they rest."""
    from fairwave_studies.smoothness import points, under

    return under(reading, points.ESSENTIAL, claims_only=True)


SHORTENED = (
    "runs of 30 s instead of 40 to 60 s at 10 Mb/s, of 7 to 11 s instead of 20 to 30 s at 100 Mb/s, of 200 s instead "
    "of 300 s with handoffs; two or three numbers of flows instead of seven to ten; error rates of 0, 1 and 5 %; where "
    "packet errors meet a hundred flows of 1 Mb/s each, twenty of as much; Figure 8 begins with 48 flows of 1 Mb/s "
    "each instead of a hundred; spreads to 50 and 300 ms; three round trips of Figure 20 instead of ten."
)
"""What `essential` has less of than `whole`."""

READINGS = Readings(FACTORS, whole, essential, shortened=SHORTENED)


def applied(grid: Grid, reading: Reading, extent: Extent) -> Grid:
    """The grid under a reading, complete: delays and bytes that two factors set together come last.

    Args:
        grid: The grid.
        reading: A value for every factor.
        extent: How much is simulated, and with how many flows.
    """
    grid = READINGS.apply(grid, reading)
    base = READINGS.base()
    later = []
    if reading["hops"] != base["hops"]:
        later.append(_hops(reading))
    if reading["buffer-unit"] != base["buffer-unit"]:
        later.append(_in_bytes(reading, extent))
    return READINGS.changed(grid, *later) if later else grid
