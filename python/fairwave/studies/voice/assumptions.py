"""What papers 000 and 001 leave open, how it is closed here, and in which sensitivity table it is varied."""

from __future__ import annotations

from fairwave.study.study import Assumption

ASSUMPTIONS = [
    Assumption(
        "rates",
        "R1→R2 carries 2 Mb/s and R2→R3 3 Mb/s with 10 ms each; access links 10 Mb/s with 5 to 15 ms, "
        "drawn anew in every replication; the calls' sinks hang on 2 Mb/s.",
        "Figure 1 of both papers is lost, and the prose names no rate. Speech at 27 kb/s per call on the "
        "mean then fills R1→R2 from about 75 calls on, where the papers see contention.",
        "path",
    ),
    Assumption(
        "buffers",
        "Drop-tail buffers hold one bandwidth-delay product in packets of 1000 bytes, but at least 50 "
        "packets: 50 at both bottlenecks.",
        "The papers say 'droptail' and no more; 50 is ns-2's own queue limit. The queue counts packets, "
        "so 50 packets of speech wait at most 32 ms at 2 Mb/s.",
        "path",
    ),
    Assumption(
        "timely",
        "Verdicts rest on Algorithm 1 as printed (gap to the previous arrival); the gap in excess of the "
        "sender's own and the one-way delay stand beside it.",
        "The prose argues with one-way delay (000 §4.1.1, §5.1), the algorithm of 001 measures gaps. As "
        "printed, the first packet after every silence longer than the threshold counts as delayed.",
    ),
    Assumption(
        "loss-over-tcp",
        "A packet that the application sent and that never left the TCP sender's buffer within the run is "
        "lost.",
        "Both papers: lost over sent by the application.",
    ),
    Assumption(
        "reading-of-rate",
        "64 kb/s is the rate while talking.",
        "000 also says 'Pareto with a mean rate of 64 kbps'. The other reading is the switch "
        '`flow.voice.traffic.reading = "mean-rate"`: `fairwave study voice --set '
        "flow.voice.traffic.reading=mean-rate` makes the whole study with it.",
        "one-by-one",
    ),
    Assumption(
        "periods",
        "Talkspurts and silences are both Pareto with shape 1.5 and means of 1.00 s and 1.35 s.",
        "000 §4.2 gives shape and means; that silences are Pareto too is ns-2's way.",
        "one-by-one",
    ),
    Assumption(
        "beginning",
        "Every call begins with a silence, as ns-2's Pareto source does.",
        "A stationary beginning leaves about one source in twenty in its first period for the whole run.",
        "one-by-one",
    ),
    Assumption(
        "entering",
        "Calls and file transfers enter uniformly at random in the first second.",
        "000 §4.2: 'probabilistic flows entering times'.",
        "one-by-one",
    ),
    Assumption(
        "sizes",
        "Sizes on the wire are those of ns-2: a voice packet over UDP carries no header, over TCP 40 bytes.",
        "Neither paper counts headers. With them UDP loses its advantage at R1→R2.",
        "one-by-one",
    ),
    Assumption(
        "timers",
        "Timers, windows and first decreases of TCP are those of ns-2.35 (minimum timeout 200 ms, ticks "
        "of 10 ms, no delayed acknowledgements); the receiver's window is 64 segments.",
        "Both papers used ns-2 and name no version or setting.",
        "one-by-one",
    ),
    Assumption(
        "recovery",
        "Vegas and Westwood recover as they do in ns-2 (Vegas's own early retransmit; Reno), TCP-Real as "
        "NewReno does.",
        "The papers do not say; TCP-Real's authors' ns-2 code is not public.",
        "one-by-one",
    ),
    Assumption(
        "real",
        "TCP-Real: a drop of the receiving rate by up to 1 % is none, by up to 1/8 is small; jitter is "
        "low up to half of the largest queueing delay seen; γ is 1/8.",
        "000 §3.1 and §5.1 give the rule and γ, no thresholds.",
        "one-by-one",
    ),
    Assumption(
        "errors",
        "Packet errors strike every packet on the links to the calls' sinks alike, acknowledgements and "
        "SYNs too.",
        "Both papers: Bernoulli, both directions.",
        "one-by-one",
    ),
    Assumption(
        "transfers",
        "File transfers run over Reno with 1000-byte segments and never end.",
        "The papers give neither segment nor file size.",
        "one-by-one",
    ),
    Assumption(
        "playout",
        "For the E-model (beyond the papers) every receiver plays out adaptively and conceals as G.711 "
        "Appendix I.",
    ),
]
