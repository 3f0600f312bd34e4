"""How else paper 004 can be read: what it leaves open, and what its words or its simulator's version admit.

The order of the values is that of their plausibility, judged by the paper's words, by its simulator and by what its own
printed numbers can be reckoned to by hand. It was set down before the exploration of these readings, but not blind:
some values (transfers of 39 ms in S2, victims in forced drops only, a finer load) were admitted after single runs had
shown what they do to some claims; their reasons are the paper's words and ns-2's code alone, and no value was put first
for what it does. What a value sets is in `points`, which asks for it by name: most of it goes together with something
else (a threshold with a law and a unit, a number of calls with a total), so that it cannot stand here alone. What was
looked at and is not admitted is in `REFUSED`, with the reason.
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
            plausibility=4,
        ),
        Value(
            "ns-2.35",
            "ns-2's defaults when the paper was written (tcl/lib/ns-default.tcl): gentle, `wait`, max_p 0.1, "
            "the "
            "weight reckoned from the link's rate.",
            plausibility=3,
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
            plausibility=4,
        ),
        Value(
            "queue in bytes",
            "ns-2 has two keys, `queue_in_bytes_` and `bytes_`: the queue is measured in bytes, and a "
            "packet's chance "
            "does not hang on its size.",
            plausibility=2,
        ),
        Value(
            "packets",
            "ns-2's default before 2004-10-11, and the unit of Floyd & Jacobson's simulations.",
            plausibility=2,
        ),
    ),
    "The paper is of 2009 and §3 speaks of bytes. Where one of the two keys is set by hand it is the "
    "queue's.",
)

THRESHOLDS = Factor(
    "thresholds",
    "RED's minimum threshold beside the calibrated maximum.",
    (
        Value(
            "a third",
            "Floyd's advice of 1997, and ns-2's rule, where only one of the two is given.",
            plausibility=3,
        ),
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
            plausibility=3,
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
            plausibility=4,
        ),
        Value(
            "ten calls, while on",
            "The same ten calls as 13 % of what is offered while every source is on.",
            plausibility=2,
        ),
        Value(
            "1.18 of the link, mean",
            "Table 6 and §4.2 of CA6 with AVQ and Drop-Sel: 38.94 % of voice is dropped, and voice has 39 % of the "
            "throughput at 54 % of the load. 39 / (54 · 0.6106) of a full link is offered.",
            plausibility=2,
        ),
        Value(
            "1.1 of the link, mean",
            "§4.2 of the same cell: other UDP gets what it needs, 21 % of the throughput, at 19 % of the load: 21/19 "
            "of a full link is offered.",
            plausibility=2,
        ),
        Value(
            "1.24 of the link, mean",
            "The total that CA2 fixes for S1, as the mean of S2: CA7 then has eleven or twelve calls where "
            "§4.4.2 says "
            "ten.",
        ),
    ),
    "Ten calls are printed, so that they come before what is reckoned from two printed shares, and that before what "
    "is carried over from S1. An average is what §4.2 "
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
            plausibility=3,
        ),
        Value(
            "1.24 of L2, mean",
            "S1's excess over the link that all flows share (L2), as the mean over the run.",
            plausibility=2,
        ),
        Value(
            "1.24 of L1, while on",
            "The same excess over L1 by half of the sources, while every source is on.",
            plausibility=2,
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
            plausibility=2,
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
            plausibility=4,
        ),
        Value(
            "Tahoe, 0.2 s",
            "ns-2's `Agent/TCP`, which a script that names no flavour makes, has no fast recovery.",
            plausibility=2,
        ),
        Value("SACK, 0.2 s", "ns-2's Sack1, what hosts of 2009 did.", plausibility=2),
        Value("NewReno, 0.2 s", "ns-2's NewReno.", plausibility=2),
        Value("Reno, 1 s", "ns-2's Reno before 2004-10-14, when its shortest timeout was 1 s."),
    ),
    "The flavour that papers of the time take when they name none, with the timers of the version of the "
    "day; then the simulator's plain one, and what "
    "hosts did; an installation five years old last.",
)

BUFFER = Factor(
    "buffer",
    "How much the routers' buffers hold.",
    (
        Value(
            "300 ms",
            "What waits longer is of no use (§3: 300 ms), and Table 5's mean of 83 ms must have room.",
            plausibility=3,
        ),
        Value(
            "150 ms",
            "A round trip of S1 with its queueing (78 + 83 ms): a bandwidth-delay product.",
            plausibility=2,
        ),
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
            plausibility=4,
        ),
        Value(
            "114 ms",
            "ns-2's default queue limit of 50 packets of AVQ's default 1000 bytes, at 3.5 Mb/s.",
            plausibility=2,
        ),
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
            plausibility=3,
        ),
        Value(
            "ns-2's, exchanged",
            "ns-2's adaptation, with a virtual queue that holds what the real one does: the arrival comes "
            "in, the "
            "victim goes out.",
            plausibility=2,
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
            plausibility=3,
        ),
        Value(
            "bytes of 1000",
            "ns-2's `mean_pktsize_` of REM, bytes counted as for AVQ and RED.",
            plausibility=2,
        ),
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
            plausibility=3,
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
            "constant",
            "§4.1: the ON period lasts 180 seconds, the OFF period 100; no distribution, no mean.",
            plausibility=3,
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
            plausibility=3,
        ),
        Value(
            "as ns-2 counts",
            "§4.1 has segments of 1500 bytes, and ns-2's TCP puts 40 bytes of headers on what it is told; to UDP and "
            "RTP it adds nothing.",
            plausibility=2,
        ),
        Value(
            "payload",
            "92 bytes are 80 of G.711 and RTP's 12: the headers of UDP and IP come on top (28 bytes), and of "
            "TCP and IP "
            "on a segment of 1500 (40 bytes, as ns-2 does).",
        ),
    ),
    "A packet size is that of a packet; ns-2 sends just so much for UDP, and a segment is what TCP's key asks for.",
    kind="definition",
)

LOGARITHM = Factor(
    "logarithm",
    "Which logarithm Eq. (1) has.",
    (
        Value(
            "natural",
            "Cole & Rosenbluth, from whom §4.4.1 takes the setup, have the natural one.",
            plausibility=3,
        ),
        Value("decimal", "Eq. (1) prints 'log'."),
    ),
    "The printed formula is quoted from a source that is known.",
    kind="definition",
)

VICTIM_DROPS = Factor(
    "victim-drops",
    "In which of RED's drops the victim rule is asked.",
    (
        Value(
            "every drop",
            "§3: whenever the AQM scheme drops, it executes the victim selection; so in Figure 1.",
            plausibility=2,
        ),
        Value(
            "forced drops",
            "ns-2.35's queue/red.cc asks its rule (`drop_front_`, `drop_rand_`) only where the average is beyond the "
            "maximum threshold or the buffer is full; what chance drops is the arrival. Who adds a rule beside "
            "these gets that.",
        ),
    ),
    "The paper says every drop; the simulator's place for such rules says otherwise.",
)

CLOCK = Factor(
    "clock",
    "The granularity of TCP's clock.",
    (
        Value("10 ms", "ns-2's default (`tcpTick_`) when the paper was written.", plausibility=4),
        Value(
            "100 ms",
            "ns-2's default before; its test suites set it and say that the default was changed. Scripts that were "
            "handed down have it.",
            plausibility=2,
        ),
        Value("500 ms", "The clock of BSD's TCP, which ns-2's coarse timer is modelled on."),
    ),
    "No clock is named: the default of the day, the default before, then what the model was taken from.",
    kind="coarse clock",
)

ACKNOWLEDGEMENTS = Factor(
    "acknowledgements",
    "How many segments an acknowledgement answers.",
    (
        Value("each", "ns-2's plain sink.", plausibility=3),
        Value("delayed", "RFC 1122 asks for it, hosts did so, and ns-2 has a sink for it."),
    ),
    "The paper speaks of no sink: the plain one comes first.",
)

WINDOW = Factor(
    "window",
    "The receiver's window, in segments.",
    (
        Value("20", "ns-2's default (`window_`).", plausibility=2),
        Value(
            "64",
            "64 kB and more, the most that TCP can announce without scaling; this study's until now.",
            plausibility=2,
        ),
        Value("none", "A window that never limits, which many scripts set so that congestion alone decides."),
    ),
    "The paper names no window, and the default of the simulator comes first where nothing is named.",
)

SEND_JITTER = Factor(
    "send-jitter",
    "Whether senders add a random time to each packet.",
    (
        Value(
            "none",
            "ns-2 adds none unless asked (`overhead_` 0, `random_` 0), and the paper asks for none.",
            plausibility=3,
        ),
        Value(
            "1 ms",
            "Floyd & Jacobson 1992 and ns-2's manual advise a random time of up to a packet's against phases; 1500 "
            "bytes take 1.2 ms on the paper's links of 10 Mb/s.",
        ),
    ),
    "The paper mentions random starts and nothing else against phases.",
    kind="phase effect",
)

BUFFER_UNIT = Factor(
    "buffer-unit",
    "In what the buffers of RED and REM are counted.",
    (
        Value(
            "bytes",
            "§3 counts what waits in bytes, and ns-2's RED counts its limit in the unit of its queue.",
            plausibility=2,
        ),
        Value(
            "packets",
            "ns-2's `limit_` counts packets, and REM and RED in packets take it so: as many as 500-byte packets "
            "fill the same time.",
        ),
    ),
    "The unit that the paper's own rule counts in comes first.",
)

PHASES = Factor(
    "phases",
    "How the sources of S1 begin.",
    (
        Value(
            "within a period",
            "§4.1 has all begin at 0 s, which for sources at equal distances makes one burst for ever, as large as "
            "there are sources; their number is not printed, and 64 kb/s each is ours.",
        ),
        Value("all at 0 s", "§4.1, word for word: all sources of S1 start at 0 s."),
    ),
    "The words say 0 s of sources whose number we chose: the burst would be our doing as much as theirs.",
    kind="phase effect",
)

TCP_DELAYS = Factor(
    "tcp-delays",
    "How far the transfers of S2 come.",
    (
        Value("39 to 269 ms", "§4.1: in S2 the end-to-end delays range from 39 to 269 ms, evenly here."),
        Value(
            "39 ms",
            "The sentence speaks of the voice applications; of what it does not speak S2 is as S1, where nothing "
            "else than 39 ms is named.",
        ),
    ),
    "The second half of the sentence names no application; its first half does.",
)

HOPS = Factor(
    "hops",
    "The delay of each link of S3.",
    (
        Value("10 ms", "Figure 3 is lost: a round number, with which the farthest sender is 60 ms away."),
        Value("6.5 ms", "S1's 39 ms over the six links from R0 to a sink node."),
    ),
    "Neither is printed; Table 7 has hardly a late packet, so that ways are short.",
)

MIX = Factor(
    "mix",
    "How many calls are of applications A, B and C.",
    (
        Value("2 to 6 to 2", "§4.4.2 of CA7, taken for every case.", plausibility=2),
        Value("equal numbers", "But for CA7 nothing is said, and Table 1 prefers none of the three."),
    ),
    "One case is printed, and workloads of one paper are usually made by one script.",
    kind="definition",
)

UNRESPONSIVE = Factor(
    "unresponsive",
    "How voice and other UDP share the 66 % of Figure 7b.",
    (
        Value("half each", "§4.2 calls them one, unresponsive UDP.", plausibility=2),
        Value(
            "as in CA2", "Figure 7b is told as 7a for better clarification, and 7a has twice as much voice."
        ),
    ),
    "Nothing divides them, so that equal parts come first.",
)

FACTORS = (
    RED, RED_UNIT, THRESHOLDS, ALWAYS_ON_LOAD, ON_OFF_LOAD, ROUTERS_LOAD, TRANSFER, TCP, BUFFER,
    AVQ_BUFFER, AVQ_LAW, REM, PUNSI, PERIODS, HEADERS, LOGARITHM, VICTIM_DROPS, CLOCK, ACKNOWLEDGEMENTS, WINDOW,
    SEND_JITTER, BUFFER_UNIT, PHASES, TCP_DELAYS, HOPS, MIX, UNRESPONSIVE,
)  # fmt: skip
"""All that is open."""

REFUSED: tuple[tuple[str, str], ...] = (
    (
        "RED's automatic thresholds in ns-2 (5 and 15 packets of 500 bytes)",
        "They hold 17 ms at 3.5 Mb/s, and Table 5 prints a mean wait of 83 ms.",
    ),
    (
        "ns-2's default buffer of 50 packets",
        "CA1's packets have 564 bytes in the mean: 50 of them are 64 ms, and Table 5 prints 83 ms of mean wait.",
    ),
    (
        "Links of 45 ms in S3, S2's 269 ms over six hops",
        (
            "Far calls would have 31 ms left for two queues; Table 7 prints not one late packet in CA10, where R5 "
            "drops 9.61 % of voice."
        ),
    ),
    (
        "Other UDP in sources of 448 kb/s, the default of ns-2's CBR",
        "CA8's 6 % are two thirds of one such source: whole sources cannot make Table 3's shares.",
    ),
    (
        "The loads of 1.1 and 1.18 in S1",
        "They are reckoned from cells of S2; S1 has a cell of its own, CA2, which gives 1.24.",
    ),
    (
        "The second packet as the front, as ns-2's `drop_front_` takes it",
        "§3 and Figure 1: the packet nearest to the front.",
    ),
    ("Marks instead of drops", "§3: the adopted policy is to drop packets instead of marking."),
    (
        "Another rate of the dumbbell than 3.5 Mb/s",
        (
            "No number of the paper gives one. Loads, thresholds and buffers are parts of the rate here, so that "
            "another rate would change only how large a packet is beside them."
        ),
    ),
)
"""What was looked at and is not admitted, and why by the paper's own words."""

BASE: Reading = {one.id: one.values[0].name for one in FACTORS}
"""The most plausible reading."""
