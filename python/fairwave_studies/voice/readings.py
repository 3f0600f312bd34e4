"""How papers 000 and 001 can be read: what they leave open, and what their words and their simulator admit.

The values of each factor stand in the order of plausibility, by the words and the tools of the time and not by what
they do to any claim; but an earlier exploration of fewer factors had been seen. The first ones together are the base
reading. How plausible a value is beside the others of its factor is said in whole numbers, none being 1. What both
papers fix is no factor: 60 s, 160 bytes, a Bernoulli error rate of 0.01 in both directions of the calls' sink links,
drop-tail, transfers over Reno, means of 1.00 s and 1.35 s and shape 1.5.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from fairwave_study.readings import Factor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.runs.grid import Label

TIMELY, SENT = "timely", "sent"
"""Ids of the factors that change only the judging."""

Changes = dict[str, Any]


def _tcp(name: str = "tcp", **keys: Any) -> Callable[[str, dict[str, Label]], Changes]:
    """Sets keys of the calls' transport where that is a TCP, or the one named."""
    changes = {f"flow.voice.transport.{key.replace('_', '-')}": value for key, value in keys.items()}
    return lambda _, labels: changes if str(labels["transport"]).startswith(name) else {}


def _timers(**keys: Any) -> Callable[[str, dict[str, Label]], Changes]:
    """Sets keys of every TCP, the calls' and the transfers'."""
    transfers = {f"flow.ftp.transport.{key.replace('_', '-')}": value for key, value in keys.items()}
    calls = _tcp(**keys)
    return lambda grid, labels: {**transfers, **calls(grid, labels)}


def _buffers(first: Any, shared: Any) -> Changes:
    return {
        "topology.first-bottleneck.queue": {"discipline": "drop-tail", "capacity": first},
        "topology.shared-bottleneck.queue": {"discipline": "drop-tail", "capacity": shared},
    }


def _hops(delay: str) -> Changes:
    return {
        "topology.first-bottleneck.delay": delay,
        "topology.shared-bottleneck.delay": delay,
    }


def _headers(udp: str | None, tcp: str | None) -> Callable[[str, dict[str, Label]], Changes]:
    """Headers of the calls' packets, over UDP and over TCP; None leaves the preset's."""

    def changes(_: str, labels: dict[str, Label]) -> Changes:
        header = udp if str(labels["transport"]).startswith("udp") else tcp
        return {} if header is None else {"flow.voice.transport.header": header}

    return changes


SHORTEST = 160
"""Bytes of the packet that both papers' error rates are given with."""

ACKNOWLEDGEMENT = 40


def _errors_by_byte(_: str, labels: dict[str, Label]) -> Changes:
    """Errors of bytes: the rate is that of a packet of 160, longer packets suffer more and shorter ones less."""
    rate = float(labels.get("per", 0.01))

    def of(size: int) -> float:
        return 1.0 - math.pow(1.0 - rate, size / SHORTEST)

    payload = int(str(labels.get("payload", "160 B")).removesuffix(" B"))
    return {
        "topology.sink-access.loss.rate": of(payload),
        "topology.sink-access.reverse": {"loss": {"model": "bernoulli", "rate": of(ACKNOWLEDGEMENT)}},
    }


FACTORS = (
    Factor(
        TIMELY,
        "What a packet in time is.",
        (
            Value(
                "gap to the packet numbered before",
                "001's Algorithm 1 to the letter: packetTime is indexed by sequence number, and a place "
                "that no packet "
                "has filled holds 0, so that the packet after a lost one counts as delayed.",
                plausibility=4,
            ),
            Value(
                "gap to the arrival before",
                "000 §4.3 speaks of inter-arrival times, which are between packets that arrive.",
                plausibility=2,
            ),
            Value(
                "one-way delay",
                "000 §4.1.1 and §5.1 argue with end-to-end delay, queueing and packets later than 300 ms.",
            ),
            Value(
                "gap beyond the sender's",
                "Paper 002, by the same authors, takes the sender's own gap off (its Eq. 12); a silence is "
                "then no "
                "delay.",
            ),
        ),
        "The algorithm is the only definition that can be executed, and says that the receiver was extended "
        "by it; the "
        "prose's 'inter-arrival' agrees but for losses; delay is what the prose explains results with, but "
        "what no "
        "equation measures; the last is another paper's.",
        kind="definition",
    ),
    Factor(
        SENT,
        "Of which packets shares are taken.",
        (
            Value(
                "by the application",
                "000 §4.3 and 001 §III.B: over the packets sent by the application; over TCP what still "
                "waits at the "
                "sender in the end is then lost.",
                plausibility=3,
            ),
            Value(
                "by the transport",
                "001's Algorithm 1 knows packets by their sequence number; over TCP in ns-2 that is the "
                "segment's, and "
                "what was never put on the wire has none.",
            ),
        ),
        "The first is what is written; the second is what an ns-2 receiver and trace can count.",
        kind="definition",
    ),
    Factor(
        "first-bottleneck",
        "The rate of R1→R2, which Figure 1 showed; that figure is lost.",
        (
            Value(
                "2 Mb/s",
                "Speech at 27 kb/s a call fills it between 70 and 80 calls: 000 §5.1 sees contention with "
                "80 and 120.",
                {"topology.first-bottleneck.rate": "2 Mb/s"},
                plausibility=3,
            ),
            Value(
                "1.2 Mb/s",
                "It fills just above 40 calls, which is where 001 §IV.A sees contention begin.",
                {"topology.first-bottleneck.rate": "1.2 Mb/s"},
                flagged="While 64 kb/s is the mean over talk and silence, 19 calls fill it, where both papers see "
                "low contention.",
                plausibility=2,
            ),
            Value(
                "4 Mb/s",
                "It fills above 40 calls when 64 kb/s is the mean over talk and silence.",
                {"topology.first-bottleneck.rate": "4 Mb/s"},
                flagged="While 64 kb/s is the rate of talking, not even 120 calls fill it, although both papers "
                "call R1 the calls' bottleneck.",
            ),
        ),
        "Both papers share a topology; 2 Mb/s fits the words of both sweeps, 1.2 Mb/s those of 001 best, 4 "
        "Mb/s only "
        "the less plausible reading of the rate.",
    ),
    Factor(
        "shared-bottleneck",
        "The rate of R2→R3, lost with Figure 1.",
        (
            Value(
                "3 Mb/s",
                "R2 is 'another bottleneck' for calls and transfers together: more than the calls alone can "
                "bring, and "
                "little enough for 000 §5.3's harm to transfers.",
                {"topology.shared-bottleneck.rate": "3 Mb/s"},
                plausibility=3,
            ),
            Value(
                "2 Mb/s",
                "The same rate along the way; R2 is then a bottleneck for calls as well.",
                {"topology.shared-bottleneck.rate": "2 Mb/s"},
                plausibility=2,
            ),
            Value(
                "6 Mb/s",
                "Room for the transfers beside the calls; 000 §5.3 sees harm grow with the calls, not "
                "starvation.",
                {"topology.shared-bottleneck.rate": "6 Mb/s"},
                plausibility=2,
            ),
        ),
        "Nothing is known but that both kinds of traffic compete there; in order of how little is added to "
        "that.",
    ),
    Factor(
        "buffers",
        "How much R1 and R2 hold; both papers say drop-tail and no more.",
        (
            Value(
                "50 packets",
                "ns-2's default (`Queue set limit_ 50`), which counts packets.",
                _buffers({"packets": 50}, {"packets": 50}),
                plausibility=4,
            ),
            Value(
                "1 BDP",
                "002, by the same authors over a topology of the same shape, sizes drop-tail queues by the "
                "bandwidth-delay product; in packets of what waits there.",
                _buffers({"bdp": 1.0, "packet": "160 B"}, {"bdp": 1.0, "packet": "1000 B"}),
                plausibility=3,
            ),
            Value(
                "1 BDP in bytes",
                "The same product, counted in bytes as ns-2 does under `queue_in_bytes_`.",
                _buffers({"bdp": 1.0}, {"bdp": 1.0}),
            ),
            Value(
                "50 kB",
                "Fifty packets of 1000 bytes, counted in bytes as ns-2 does under `queue_in_bytes_`: 200 ms "
                "at 2 Mb/s.",
                _buffers({"bytes": 50_000}, {"bytes": 50_000}),
            ),
            Value(
                "75 kB",
                "000 §5.1 lays packets later than 300 ms to the queues; a full one of 75 kB takes 300 ms at "
                "2 Mb/s.",
                _buffers({"bytes": 75_000}, {"bytes": 75_000}),
            ),
        ),
        "A default that nobody mentions comes first, the authors' own practice elsewhere second; buffers in "
        "bytes need "
        "a setting that the papers do not mention, and the largest rests on prose alone.",
    ),
    Factor(
        "rate-reading",
        "Whether 64 kb/s is the rate while talking.",
        (
            Value(
                "while talking",
                "160 bytes are 20 ms of G.711 (000 §4.2); ns-2's Pareto source is given its rate while on.",
                {"flow.voice.traffic.reading": "peak-rate"},
                plausibility=3,
            ),
            Value(
                "on the mean",
                "000 §4.2 and 001 §III.A: Pareto is configured with a mean rate of 64 kb/s.",
                {"flow.voice.traffic.reading": "mean-rate"},
            ),
        ),
        "The first agrees with codec, packet and simulator; the second is the words' plain sense.",
    ),
    Factor(
        "periods",
        "How talkspurts and silences are distributed.",
        (
            Value(
                "Pareto",
                "000 §4.2 gives Pareto and its shape; in ns-2's source both periods have it.",
                {
                    "flow.voice.traffic.talk": {"distribution": "pareto", "mean": "1 s", "shape": 1.5},
                    "flow.voice.traffic.silence": {"distribution": "pareto", "mean": "1.35 s", "shape": 1.5},
                },
                plausibility=4,
            ),
            Value(
                "exponential",
                "000 §4.2 takes the means of on and off from Brady's conversations and applies Pareto to "
                "call holding "
                "times; within a call of a minute the periods may be ns-2's exponential ones.",
                {
                    "flow.voice.traffic.talk": {"distribution": "exponential", "mean": "1 s"},
                    "flow.voice.traffic.silence": {"distribution": "exponential", "mean": "1.35 s"},
                },
            ),
        ),
        "The shape parameter only makes sense for the source's periods: no call ends within the minute.",
    ),
    Factor(
        "entering",
        "When calls and transfers enter, and in which state.",
        (
            Value(
                "first second, silent",
                "000 §4.2: random entering times; ns-2's Pareto source begins with a silence.",
                {"flow.voice.traffic.first": "silence", "flow.*.start": {"from": "0 s", "to": "1 s"}},
                plausibility=3,
            ),
            Value(
                "first 10 s, silent",
                "000 §4.2: random entering times, over how long is open.",
                {"flow.voice.traffic.first": "silence", "flow.*.start": {"from": "0 s", "to": "10 s"}},
            ),
            Value(
                "first second, under way",
                "Conversations that are under way, as a network finds them.",
                {"flow.voice.traffic.first": "stationary", "flow.*.start": {"from": "0 s", "to": "1 s"}},
            ),
        ),
        "The simulator's source begins silent; scripts that spread starts at all most often do so over a "
        "second.",
    ),
    Factor(
        "headers",
        "What a packet of 160 bytes of speech takes on the wire.",
        (
            Value(
                "as ns-2",
                "ns-2 adds 40 bytes to TCP's segments (but its Vegas's), none to UDP's packets; neither "
                "paper "
                "counts headers.",
                _headers("0 B", None),
                plausibility=4,
            ),
            Value(
                "none",
                "000 §4.2 sets the packet size at 160 bytes, for every transport alike; ns-2 before November "
                "2001, and later under `useHeaders_ false`, added nothing to TCP's segments either.",
                _headers("0 B", "0 B"),
                plausibility=2,
            ),
            Value(
                "as ns-2, UDP with 40 bytes",
                "000 §2 mentions what IP, UDP and RTP headers add; in ns-2 a script must add them to the size "
                "of UDP's packets by hand, while TCP's come by themselves and its Vegas has none.",
                _headers("40 B", None),
            ),
            Value(
                "40 bytes for all",
                "000 §2 mentions what IP, UDP or TCP and RTP headers add.",
                _headers("40 B", "40 B"),
            ),
        ),
        "What the simulator does unless told otherwise; then the words; then what a careful script adds; then "
        "what real packets carry.",
        kind="way of counting sizes",
    ),
    Factor(
        "timers",
        "Of which ns-2 the timers are. 000 was published in 2006 and cites June 2005; 001 is of 2005.",
        (
            Value(
                "ns-2 of 2005",
                "Since 2004-10-14 the shortest timeout is 200 ms; until 2006-01-21 the first one is 6 s "
                "(notes in "
                "ns-2's own test suites).",
                _timers(min_rto="200 ms", initial_rto="6 s"),
                plausibility=3,
            ),
            Value(
                "ns-2 before October 2004",
                "Westwood's and TCP-Real's code were written for older versions: the shortest timeout is 1 "
                "s, "
                "the first 6 s.",
                _timers(min_rto="1 s", initial_rto="6 s"),
                plausibility=2,
            ),
            Value(
                "ns-2.35",
                "The last version: 200 ms and 3 s.",
                _timers(min_rto="200 ms", initial_rto="3 s"),
            ),
        ),
        "The version of the year; then older ones, to which add-on protocols tie their users; then what "
        "came later.",
        kind="coarse clock",
    ),
    Factor(
        "clock",
        "How coarse TCP's clock is, by which it measures round trips and sets its timer (`tcpTick_`).",
        (
            Value(
                "10 ms",
                "ns-2's default in 2005.",
                _timers(tick="10 ms"),
                plausibility=3,
            ),
            Value(
                "100 ms",
                "ns-2's default until it was changed 'to reflect a changing reality' (its test suites), and "
                "that of the versions for which Westwood's and TCP-Real's code were written.",
                _timers(tick="100 ms"),
                plausibility=2,
            ),
            Value(
                "500 ms",
                "The clock of 4.3BSD's TCP (RFC 2001's author, 000's [4]); 002, by the same authors, speaks of "
                "TCP's coarse timeouts.",
                _timers(tick="500 ms"),
            ),
        ),
        "The simulator of the year; older ones, to which add-on protocols tie their users; then what TCPs in "
        "the field did.",
        kind="coarse clock",
    ),
    Factor(
        "window",
        "How many segments the receiver's window has; neither paper says.",
        (
            Value(
                "64 segments",
                "002 and 003, by the same group, let the window be 64 kB of 1000-byte segments.",
                _timers(receiver_window=64),
                plausibility=3,
            ),
            Value(
                "20 segments",
                "ns-2's default (`window_ 20`).",
                _timers(receiver_window=20),
                plausibility=2,
            ),
            Value(
                "none",
                "No word limits it; scripts set a `window_` that never binds (here 1000 segments).",
                _timers(receiver_window=1000),
            ),
        ),
        "The group's stated practice; the default; then a limit that binds nobody.",
    ),
    Factor(
        "acknowledgements",
        "Which segments are acknowledged; b in 000's Eq. (1).",
        (
            Value(
                "each",
                "ns-2's plain sink, which acknowledges every segment.",
                _timers(delayed_ack=False),
                plausibility=3,
            ),
            Value(
                "delayed",
                "ns-2's other sink acknowledges every second segment, or one within 100 ms; 000's Eq. (1) "
                "leaves b open, and RFC 2581 asks for it.",
                _timers(delayed_ack=True),
            ),
        ),
        "What a script gets that says TCPSink before what it must ask for.",
    ),
    Factor(
        "send-jitter",
        "Whether TCP's segments leave at random times after they are made (`overhead_`).",
        (
            Value(
                "none",
                "ns-2's default; neither paper mentions one.",
                _timers(send_jitter="0 s"),
                plausibility=3,
            ),
            Value(
                "1 ms",
                "ns-2's manual, after Floyd and Jacobson (1992), advises a random delay of about a packet's time "
                "at the bottleneck against phase effects at drop-tail queues.",
                _timers(send_jitter="1 ms"),
            ),
        ),
        "The default before advice that neither paper says to have followed.",
        kind="phase effect",
    ),
    Factor(
        "hops",
        "The delay of R1→R2 and of R2→R3, lost with Figure 1.",
        (
            Value(
                "10 ms",
                "The delay in the examples of ns-2's manual and tutorial.",
                _hops("10 ms"),
                plausibility=3,
            ),
            Value(
                "20 ms",
                "The bottleneck's delay in another tutorial of the time, NS by Example.",
                _hops("20 ms"),
            ),
            Value(
                "50 ms",
                "The longest with which an idle path stays below 150 ms, where 000's Table II has delay begin "
                "to be noticed.",
                _hops("50 ms"),
            ),
        ),
        "Common values first; then as long as the papers' own guidelines let it be.",
    ),
    Factor(
        "access",
        "The delays of the access links, on which the phases hang in which packets meet at R1 and R2.",
        (
            Value(
                "5 to 15 ms",
                "002 §4 spreads them so in a topology of the same shape.",
                {"topology.access.delay": {"from": "5 ms", "to": "15 ms"}},
                plausibility=2,
            ),
            Value(
                "10 ms for all",
                "A script that makes its links in a loop gives them one delay; neither paper says that they "
                "differ.",
                {"topology.access.delay": "10 ms"},
            ),
        ),
        "The authors' practice elsewhere; then the simplest script.",
        kind="phase effect",
    ),
    Factor(
        "recovery",
        "How the calls' TCPs repair losses.",
        (
            Value(
                "each its own",
                "Vegas its early retransmit, Westwood as Reno (000 §2 calls it a change to Reno), TCP-Real "
                "as NewReno.",
                plausibility=3,
            ),
            Value(
                "all as NewReno",
                "Westwood's code for ns-2 came with NewReno as well; to compare window rules alone.",
                lambda _, labels: (
                    {"flow.voice.transport.recovery": "newreno"}
                    if str(labels["transport"]).startswith("tcp")
                    else {}
                ),
            ),
            Value(
                "Real as Reno", "TCP-Real's authors' code is not public.", _tcp("tcp/real", recovery="reno")
            ),
        ),
        "Each protocol as its authors describe it; then what add-on code did.",
    ),
    Factor(
        "real",
        "TCP-Real's thresholds: which drop of the receiving rate is none, which is small, and which jitter "
        "is low.",
        (
            Value(
                "1/100, 1/8, 1/2",
                "000 §3.1: no drop, a small one, another; what rounding moves is none, and what γ takes "
                "bounds the "
                "small.",
                _tcp("tcp/real", hold=0.01, cut=0.125, jitter=0.5),
                plausibility=3,
            ),
            Value(
                "small up to 1/2",
                "A drop is large when congestion control would have halved.",
                _tcp("tcp/real", hold=0.01, cut=0.5, jitter=0.5),
            ),
            Value(
                "no drop up to 1/20",
                "Waves of a few segments measure no finer.",
                _tcp("tcp/real", hold=0.05, cut=0.125, jitter=0.5),
            ),
            Value(
                "jitter low up to 1/4",
                "000 §5.1 takes a loss for random only with low jitter.",
                _tcp("tcp/real", hold=0.01, cut=0.125, jitter=0.25),
            ),
        ),
        "In order of how little is added to 'no', 'small' and 'low'.",
    ),
    Factor(
        "errors",
        "Whether longer packets meet more errors.",
        (
            Value(
                "per packet",
                "Both papers: Bernoulli with a packet error rate, which ns-2 applies to packets whatever "
                "their size.",
                plausibility=4,
            ),
            Value(
                "per byte",
                "000 §5.2: longer packets are more sensitive to errors; ns-2's error model counts bytes "
                "when told so. "
                "The rate is then that of 160 bytes.",
                _errors_by_byte,
            ),
        ),
        "A packet error rate is a rate of packets; only the explanation of one figure asks for the other.",
    ),
)
"""All that is open, each with its values in order of plausibility."""


class Refused(NamedTuple):
    """A way to close a gap that is not admitted."""

    what: str
    why: str


REFUSED = (
    Refused("all flows enter at once", "000 §4.2 has probabilistic entering times."),
    Refused("speech without silences", "Both papers alternate between ON and OFF."),
    Refused(
        "selective acknowledgements (SACK) for the calls' TCPs",
        "Both papers name versions Vegas, Westwood and Real and nothing else; ns-2's Vegas and Westwood know none.",
    ),
    Refused("another TCP than Reno for the transfers", "000 §4.2 and 001 §III.A name it."),
    Refused("RED, ECN or any other queue", "Both papers: drop-tail routers in all experiments."),
    Refused("errors in bursts, or in one direction only", "Both papers: Bernoulli, forward and reverse."),
    Refused("other thresholds of Vegas than 1 and 3", "000 §3.3 gives them."),
    Refused(
        "γ other than 1/8",
        "000 §3.1 gives 1/8; it may be adaptive, but no rule is given by which it would adapt.",
    ),
    Refused("one call that lasts longer or shorter than the run", "Both papers: 60 s, one flow per call."),
)
"""What was thought of and not admitted, with the words that rule it out."""
