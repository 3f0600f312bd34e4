"""How else paper 004 can be read: what it leaves open, and what its words or its simulator's version admit.

The order of the values is that of their plausibility, judged by the paper's words, by its simulator and by what its own
printed numbers can be reckoned to by hand, before any claim is judged under them. What a value sets is in `points`,
which asks for it by name: most of it goes together with something else (a threshold with a law and a unit, a number of
calls with a total), so that it cannot stand here alone.
"""

from __future__ import annotations

from fairwave_study.readings import Factor, Reading, Value

RED = Factor(
    "red",
    "Which RED the paper's is.",
    (
        Value(
            "1993",
            "§2 takes RED from Floyd & Jacobson 1993 (its reference 1): max_p 1/50, weight 0.002, from the "
            "maximum "
            "threshold on every packet goes, and a drop may follow on a drop.",
        ),
        Value(
            "ns-2.35",
            "ns-2's defaults when the paper was written (tcl/lib/ns-default.tcl): gentle, `wait`, max_p 0.1, "
            "the "
            "weight reckoned from the link's rate.",
        ),
        Value(
            "ns-2 of 2004",
            "ns-2 before the weight was reckoned from the rate: gentle, `wait`, max_p 0.1, weight 0.002.",
        ),
    ),
    "The paper names one source for RED and no other parameters; a default of the simulator is plausible "
    "where nothing "
    "is named, and an old default less than the one of the day.",
)

RED_UNIT = Factor(
    "red-unit",
    "What RED counts.",
    (
        Value(
            "bytes",
            "ns-2's default since 2004-10-11, and §3 counts a class's packets in bytes: queue and drops go "
            "by size.",
        ),
        Value(
            "queue in bytes",
            "ns-2 has two keys, `queue_in_bytes_` and `bytes_`: the queue is measured in bytes, and a "
            "packet's chance "
            "does not hang on its size.",
        ),
        Value("packets", "ns-2's default before 2004-10-11, and the unit of Floyd & Jacobson's simulations."),
    ),
    "The paper is of 2009 and §3 speaks of bytes. Where one of the two keys is set by hand it is the "
    "queue's.",
)

THRESHOLDS = Factor(
    "thresholds",
    "RED's minimum threshold beside the calibrated maximum.",
    (
        Value("a third", "Floyd's advice of 1997, and ns-2's rule, where only one of the two is given."),
        Value("a half", "Floyd & Jacobson 1993 §VI: the maximum threshold is at least twice the minimum."),
    ),
    "A third is ns-2's rule and the advice of the years before the paper; twice is the least that its "
    "reference allows. "
    "ns-2's automatic thresholds (5 and 15 packets of 500 bytes) are not admitted: they hold 17 ms at 3.5 "
    "Mb/s, and "
    "Table 5 prints 83.",
)

ALWAYS_ON_LOAD = Factor(
    "load-s1",
    "What all sources of S1 offer together.",
    (
        Value(
            "1.24 of the link",
            "§4.2: in CA2 other UDP has 31 % of the link, which §4.2 later calls what it needs, with a share "
            "of 25 % of "
            "the load: the load is 31/25 of the link.",
        ),
        Value(
            "1.5 of the link",
            "§4.4.2: CA7's ten calls are 13 % of the load, 5.24 Mb/s while on, if S1 is loaded as S2 is "
            "(§4.1 describes "
            "the two with the same words).",
        ),
    ),
    "The first is reckoned from two numbers that the paper prints of S1 itself, the second from one that it "
    "prints of S2.",
)

ON_OFF_LOAD = Factor(
    "load-s2",
    "What Table 3's shares are shares of.",
    (
        Value(
            "ten calls, mean",
            "§4.4.2: CA7 has ten calls, Table 3: they are 13 %. §4.2 plots mean throughputs, in and out, of "
            "which "
            "shares are taken: of the mean over the run, silences counted.",
        ),
        Value(
            "ten calls, while on", "The same ten calls as 13 % of what is offered while every source is on."
        ),
        Value(
            "1.24 of the link, mean",
            "The total that CA2 fixes for S1, as the mean of S2: CA7 then has eleven or twelve calls where "
            "§4.4.2 says "
            "ten.",
        ),
    ),
    "Ten calls are printed, so that they come before what is carried over from S1. An average is what §4.2 "
    "measures and "
    "plots; what sources offer while on it never mentions.",
)

ROUTERS_LOAD = Factor(
    "load-s3",
    "What the sources of S3 offer together.",
    (
        Value(
            "1.24 of L1, mean",
            "§4.1 says that R2 congests, and half of the sources are behind it: they offer S1's excess over L1, "
            "as the mean over the run, as in S2.",
        ),
        Value(
            "1.24 of L2, mean",
            "S1's excess over the link that all flows share (L2), as the mean over the run.",
        ),
        Value(
            "1.24 of L1, while on",
            "The same excess over L1 by half of the sources, while every source is on.",
        ),
        Value("1.5 of L2, while on", "What CA7's ten calls make of the dumbbell's bottleneck, over L2."),
    ),
    "§4.1 sets the rates of both links so that R2 and R5 congest. Only with the first does the half of the sources "
    "that is behind R2 offer more than L1 carries in the mean, as S1's do at its bottleneck; with the last it does "
    "not even while everybody is on.",
)

TRANSFER = Factor(
    "transfer",
    "How much of the load a file transfer stands for while it is on.",
    (
        Value(
            "262 kb/s",
            "Four calls: 'several' TCP sources (§4.4.2) then share a quarter of S1's load, each with a "
            "window of a few "
            "segments at its fair rate.",
        ),
        Value("131 kb/s", "Two calls: a segment or two per round trip at the fair rate."),
        Value("524 kb/s", "Eight calls: two transfers in CA1."),
    ),
    "TCP has no rate of its own and the paper prints no number of transfers. In the middle windows are "
    "neither "
    "below two segments, where TCP lives on timeouts, nor is a class a single transfer.",
)

TCP = Factor(
    "tcp",
    "Which TCP carries the transfers.",
    (
        Value(
            "Reno, 0.2 s",
            "ns-2's Reno with its timers since 2004-10-14; the paper is of 2009 and names no flavour.",
        ),
        Value("SACK, 0.2 s", "ns-2's Sack1, what hosts of 2009 did."),
        Value("NewReno, 0.2 s", "ns-2's NewReno."),
        Value("Reno, 1 s", "ns-2's Reno before 2004-10-14, when its shortest timeout was 1 s."),
    ),
    "The flavour that papers of the time take when they name none, with the timers of the version of the "
    "day; then what "
    "hosts did; an installation five years old last.",
)

BUFFER = Factor(
    "buffer",
    "How much the routers' buffers hold.",
    (
        Value(
            "300 ms",
            "What waits longer is of no use (§3: 300 ms), and Table 5's mean of 83 ms must have room.",
        ),
        Value("150 ms", "A round trip of S1 with its queueing (78 + 83 ms): a bandwidth-delay product."),
        Value("600 ms", "A round trip of S2's farthest application (538 ms)."),
    ),
    "The paper's own bound first, then a bandwidth-delay product of either scenario; S1's is that of the "
    "table that is "
    "calibrated on.",
)

AVQ_BUFFER = Factor(
    "avq-buffer",
    "How much AVQ's queues hold, real and virtual: in ns-2 one size is that of both (`buflim_` 1).",
    (
        Value(
            "30 ms",
            "Table 6 prints at most 0.69 % of late voice under AVQ, and §4.1 leaves the far callers 31 ms of "
            "queueing: "
            "its queue can hold little more. §4.4.1 says that it keeps delays low.",
        ),
        Value("114 ms", "ns-2's default queue limit of 50 packets of AVQ's default 1000 bytes, at 3.5 Mb/s."),
        Value("the routers'", "The same buffer as under the other disciplines."),
    ),
    "Only the first can be reconciled with what Table 6 prints of late packets under AVQ; that row is then a "
    "calibration, "
    "not a prediction. A default is next, and one size for every queue last, since it contradicts the row "
    "most.",
)

AVQ_LAW = Factor(
    "avq-law",
    "Whose AVQ, and what it makes of a victim that is not the arrival.",
    (
        Value(
            "ns-2's, arrival forgotten",
            "ns-2.35's queue/vq.cc, the paper's simulator: where the front goes instead of the arrival the "
            "virtual "
            "queue takes back the arrival and knows nothing of the other.",
        ),
        Value(
            "ns-2's, exchanged",
            "ns-2's adaptation, with a virtual queue that holds what the real one does: the arrival comes "
            "in, the "
            "victim goes out.",
        ),
        Value(
            "authors', exchanged",
            "Kunniyur & Srikant's pseudo-code (the paper's reference 8): every arrival lowers the virtual "
            "capacity, "
            "dropped or not.",
        ),
    ),
    "The paper ran ns-2, whose AVQ has a drop-front of its own, so its authors had a rule before them; then "
    "the rule that "
    "keeps both queues alike; last the pseudo-code, under which load that does not yield drives the capacity "
    "to nothing.",
)

REM = Factor(
    "rem",
    "What REM counts in, and its mean packet.",
    (
        Value(
            "bytes of 500",
            "A quarter of the packets of CA1 and more are calls' of 92 to 492 bytes: 500 is what ns-2 takes "
            "for the "
            "mean in RED, and one mean for all disciplines is one mean for all.",
        ),
        Value("bytes of 1000", "ns-2's `mean_pktsize_` of REM, bytes counted as for AVQ and RED."),
        Value("packets of 1000", "ns-2's defaults of REM as they are (`qib_` false)."),
    ),
    "The mean turns a rate into packets, so it is a fact about the traffic, and 500 is nearer to it than "
    "1000. Counting "
    "packets takes a call's for one of ten times the size, which whoever sets the mean would not leave so.",
)

PUNSI = Factor(
    "punsi",
    "Whom PUNSI takes for a fellow of an arriving UDP packet.",
    (
        Value(
            "class",
            "§4.2: PUNSI considers two classes only, so that calls and other UDP are one; it does not tell "
            "them apart.",
        ),
        Value("flow", "It is built on CHOKe (§2), which compares flows."),
    ),
    "§4.2 says class of PUNSI itself, §2 only from what it comes.",
)

PERIODS = Factor(
    "periods",
    "How long calls and other UDP are on and off in S2 and S3.",
    (
        Value(
            "constant", "§4.1: the ON period lasts 180 seconds, the OFF period 100; no distribution, no mean."
        ),
        Value(
            "exponential",
            "§4.1 names means for file transfers only, but its reference 27 models sessions by means.",
        ),
    ),
    "For file transfers the same paragraph says average and names a law; for these it says how long they "
    "last.",
)

HEADERS = Factor(
    "headers",
    "What Table 1's and §4.1's packet sizes count.",
    (
        Value(
            "all",
            "Table 1: packets of 92, 252 and 492 bytes; §4.1: TCP and other UDP of 1500: sizes on the wire.",
        ),
        Value(
            "payload",
            "92 bytes are 80 of G.711 and RTP's 12: the headers of UDP and IP come on top (28 bytes), and of "
            "TCP and IP "
            "on a segment of 1500 (40 bytes, as ns-2 does).",
        ),
    ),
    "A packet size is that of a packet; ns-2 sends just so much for UDP.",
)

LOGARITHM = Factor(
    "logarithm",
    "Which logarithm Eq. (1) has.",
    (
        Value("natural", "Cole & Rosenbluth, from whom §4.4.1 takes the setup, have the natural one."),
        Value("decimal", "Eq. (1) prints 'log'."),
    ),
    "The printed formula is quoted from a source that is known.",
)

FACTORS = (
    RED, RED_UNIT, THRESHOLDS, ALWAYS_ON_LOAD, ON_OFF_LOAD, ROUTERS_LOAD, TRANSFER, TCP, BUFFER,
    AVQ_BUFFER, AVQ_LAW, REM, PUNSI, PERIODS, HEADERS, LOGARITHM,
)  # fmt: skip
"""All that is open."""

BASE: Reading = {one.id: one.values[0].name for one in FACTORS}
"""The most plausible reading."""
