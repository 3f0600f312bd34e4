"""What papers 000 and 001 leave open, how it is closed here, and which factor of `readings` varies it."""

from __future__ import annotations

from fairwave_studies.voice.readings import REFUSED
from fairwave_study.study import Assumption

OPEN = [
    Assumption(
        "rates",
        "R1→R2 carries 2 Mb/s and R2→R3 3 Mb/s; access links 10 Mb/s, and the calls' sinks hang on 2 Mb/s.",
        "Figure 1 of both papers is lost, and the prose names no rate. Speech at 27 kb/s per call on the "
        "mean then fills R1→R2 from about 75 calls on, where the papers see contention. R2→R3's rate is the "
        "factor "
        "shared-bottleneck.",
        "first-bottleneck",
    ),
    Assumption(
        "delays",
        "R1→R2 and R2→R3 have 10 ms each.",
        "Lost with Figure 1; 10 ms is what ns-2's manual and tutorial have in their examples.",
        "hops",
    ),
    Assumption(
        "access",
        "Access links have 5 to 15 ms, drawn anew in every replication.",
        "002 spreads them so in a topology of the same shape.",
        "access",
    ),
    Assumption(
        "buffers",
        "Drop-tail buffers hold 50 packets at both bottlenecks.",
        "The papers say 'droptail' and no more; 50 packets is ns-2's own queue limit. So 50 packets of "
        "speech wait at "
        "most 32 ms at 2 Mb/s.",
        "buffers",
    ),
    Assumption(
        "timely",
        "A packet is delayed when it arrives more than the threshold after the packet numbered one less, "
        "and when that "
        "one never arrived.",
        "001's Algorithm 1 to the letter: the table of arrival times is indexed by sequence number, and a "
        "place that was "
        "never set holds 0. Over TCP packets are taken as they are handed to the application, in order.",
        "timely",
    ),
    Assumption(
        "sent",
        "Shares are of the packets that the application sent; over TCP one that never left the sender's "
        "buffer within "
        "the run is lost.",
        "Both papers: over the number of packets sent by the application.",
        "sent",
    ),
    Assumption(
        "rate-reading",
        "64 kb/s is the rate while talking.",
        "000 also says 'Pareto with a mean rate of 64 kbps'.",
        "rate-reading",
    ),
    Assumption(
        "periods",
        "Talkspurts and silences are both Pareto with shape 1.5 and means of 1.00 s and 1.35 s.",
        "000 §4.2 gives shape and means; that silences are Pareto too is ns-2's way.",
        "periods",
    ),
    Assumption(
        "entering",
        "Calls and file transfers enter uniformly at random in the first second; every call begins with a "
        "silence.",
        "000 §4.2: 'probabilistic flows entering times'. ns-2's Pareto source begins with a silence.",
        "entering",
    ),
    Assumption(
        "headers",
        "Sizes on the wire are those of ns-2: a voice packet over UDP carries no header, over TCP 40 bytes, "
        "over ns-2's "
        "own Vegas none.",
        "Neither paper counts headers.",
        "headers",
    ),
    Assumption(
        "timers",
        "TCP's timers are those of ns-2 in 2005: minimum timeout 200 ms, first timeout 6 s.",
        "Both papers used ns-2 and name no version; 000 cites June 2005, 001 is of 2005.",
        "timers",
    ),
    Assumption(
        "clock",
        "TCP's clock ticks every 10 ms.",
        "ns-2's default in 2005.",
        "clock",
    ),
    Assumption(
        "window",
        "The receiver's window is 64 segments.",
        "Neither paper says; 002 and 003, by the same group, let the window be 64 kB.",
        "window",
    ),
    Assumption(
        "acknowledgements",
        "Every segment is acknowledged.",
        "ns-2's plain sink; neither paper names another.",
        "acknowledgements",
    ),
    Assumption(
        "send-jitter",
        "Segments leave when they are made.",
        "ns-2's default (`overhead_ 0`).",
        "send-jitter",
    ),
    Assumption(
        "recovery",
        "Vegas and Westwood recover as they do in ns-2 (Vegas's own early retransmit; Reno), TCP-Real as "
        "NewReno does.",
        "The papers do not say; TCP-Real's authors' ns-2 code is not public.",
        "recovery",
    ),
    Assumption(
        "real",
        "TCP-Real: a drop of the receiving rate by up to 1 % is none, by up to 1/8 is small; jitter is "
        "low up to half of the largest queueing delay seen; γ is 1/8.",
        "000 §3.1 and §5.1 give the rule and γ, no thresholds.",
        "real",
    ),
    Assumption(
        "errors",
        "Packet errors strike every packet on the links to the calls' sinks alike, acknowledgements and "
        "SYNs too.",
        "Both papers: Bernoulli, both directions, a packet error rate.",
        "errors",
    ),
    Assumption(
        "transfers",
        "File transfers run over Reno with 1000-byte segments and never end.",
        "The papers give neither segment nor file size; 1000 bytes is ns-2's own, and that of 002 and 003.",
    ),
    Assumption(
        "playout",
        "For the E-model (beyond the papers) every receiver plays out adaptively and conceals as G.711 "
        "Appendix I.",
    ),
]
"""What is open and closed."""

ASSUMPTIONS = [
    *OPEN,
    *(
        Assumption(f"refused-{number}", f"Not admitted as a reading: {one.what}.", one.why)
        for number, one in enumerate(REFUSED, 1)
    ),
]
"""The same, and what was thought of and not admitted."""
