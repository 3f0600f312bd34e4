"""The sentences of paper 002 that are put to the test, D1 to D36, in our words."""

from __future__ import annotations

from fairwave_studies.video import points as p

STATEMENTS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "D1": (
        "Beside two TCP flows DVRC's coefficient of variation is below TFRC's (published: 0.1854 against 0.2229).",
        "§5.1", (p.SINGLE,), ("layers", "tes", "alpha", "measure-over", "phase"),
    ),
    "D2": (
        "Beside two TCP flows DVRC's jitter stays below 75 ms, and most gaps between arrivals are below 50 ms.",
        "§5.1, Figure 7", (p.SINGLE,), ("layers", "tes", "unit", "buffers"),
    ),
    "D3": (
        ("At 3 % PER random losses are rightly judged, and congestion is infrequent: most random losses, and most "
         "losses of any cause, fall above the bound."),
        "§3.2, Figure 3", (p.BOUND,), ("gains", "alpha", "measure-over", "compare"),
    ),
    "D4": (
        ("The bandwidth is used: all of it (95 % and more of the link out of R2) with DVRC's and TFRC's videos; "
         "Westwood+'s have less than either's with 40 and 50."),
        "§5.2, Figure 8a", (p.CROSS,), ("rates-of-5", "losses", "fill"),
    ),
    "D5": (
        "DVRC has the highest video delivery index at every number of flows, nearly flat.",
        "§5.2, Figure 9a", (p.CROSS,), ("gap", "sent", "layers", "losses"),
    ),
    "D6": (
        ("DVRC loses a smaller share of its packets than TFRC and than Westwood+, and Westwood+ delays most (means "
         "over 5 "
         "flows and more)."),
        "§5.2, Figure 9b–c", (p.CROSS,), ("gap", "sent", "lost", "losses", "alpha"),
    ),
    "D7": (
        "Worst-case fairness of TFRC and Westwood+ falls from 5 flows to 50.",
        "§5.2, Figure 10b", (p.CROSS,), ("losses", "rates-of-5"),
    ),
    "D8": (
        "With round trips that differ much TFRC loses most of its fairness index (mean over 5 flows and more).",
        "§5.2, Figure 10c", (p.CROSS, p.SPREAD), ("spread", "losses"),
    ),
    "D9": (
        "With 40 flows the queue of R2 drains again and again under DVRC; under UDP it stays full.",
        "§5.2, Figure 11", (p.QUEUE,), ("buffers", "alpha"),
    ),
    "D10": (
        ("RTCP/UDP is below DVRC in goodput, video delivery index and fairness (means over 5 flows and more), with "
        "reverse traffic and over five hops."),
        "§5.3 and §5.5, Figures 12–14 and 18–20", (p.REVERSE, p.CHAIN), ("rtcp", "losses", "gap"),
    ),
    "D11": (
        "TCP's normalised throughput is near 1 beside DVRC and well below beside TFRC (means over the sweep).",
        "§5.4, Figures 15 and 16", (p.FRIENDLY,), ("phase", "fill", "alpha"),
    ),
    "D12": (
        ("One DVRC flow that joins after 10 s keeps its fair share of 1 Mb/s over 1 to 10 hops, as far as whole "
         "layers can (the largest subscription within it)."),
        "§5.5, Figure 17", (p.HOPS,), ("buffers", "layers", "hop-delay"),
    ),
    "D13": (
        "Four or five layers are satisfactory: goodput and video delivery index are within a tenth of those of eight.",
        "§5.2", (p.LAYERS,), ("layers", "split"),
    ),
    "D14": (
        "Congestive and random loss are told apart: at 3 % PER most losses of either cause are judged rightly.",
        "abstract and §3.2", (p.BOUND,), ("gains", "alpha", "measure-over", "compare"),
    ),
    "D15": (
        ("With reverse traffic DVRC's video delivery index is above TFRC's and its losses are below (means over 5 "
        "flows and more)."),
        "§5.3, Figure 13", (p.REVERSE,), ("losses", "gap", "sent"),
    ),
    "D16": (
        ("With reverse traffic DVRC and TFRC are fair among their flows (fairness index above 0.9), and RTCP/UDP has "
         "the lowest worst-case fairness (means over 5 flows and more)."),
        "§5.3, Figure 14", (p.REVERSE,), ("losses", "rtcp"),
    ),
    "D17": (
        ("Over five hops DVRC's video delivery index is above TFRC's and RTCP/UDP's and its losses are below (means "
         "over 5 flows and more)."),
        "§5.5, Figure 19", (p.CHAIN,), ("gap", "sent", "hop-delay"),
    ),
    "D18": (
        "Over five hops all DVRC flows have similar throughputs: a fairness index above 0.9 at 5 flows and more.",
        "§5.5, Figure 20", (p.CHAIN,), ("hop-delay", "alpha"),
    ),
    "D19": (
        "Beside a DVRC flow TCP's rate varies more than DVRC's, and falls now and then by coarse timeouts.",
        "§5.1, Figure 6", (p.SINGLE,), ("phase", "buffers", "timers"),
    ),
    "D20": (
        "DVRC's video delivery index is lower over five hops than with reverse traffic (mean over 5 flows and more).",
        "§5.5, Figures 13a and 19a", (p.REVERSE, p.CHAIN), ("hop-delay", "losses", "gap"),
    ),
    "D21": (
        "DVRC's fairness index is high (above 0.9) whatever the number of flows, from 5 on.",
        "§5.2, Figure 10a", (p.CROSS,), ("losses", "rates-of-5"),
    ),
    "D22": (
        ("With cross traffic DVRC's rates fluctuate little: less than those of Westwood+, a TCP (mean over 5 flows and "
         "more)."),
        "§5.2, Figure 8b", (p.CROSS,), ("layers", "alpha", "measure-over"),
    ),
    "D23": (
        ("DVRC delivers most packets in time and has a low packet drop rate (below 10 %), at every number of flows "
         "from 5 "
         "on."),
        "§5.2, Figure 9", (p.CROSS,), ("sent", "lost", "losses"),
    ),
    "D24": (
        "TFRC delivers a smoothed flow: it delays few packets (below 5 %; mean over 5 flows and more).",
        "§5.2, Figure 9c", (p.CROSS,), ("gap", "sent"),
    ),
    "D25": (
        ("A considerable part of those of Westwood+'s packets that are not dropped arrives later than required (10 "
         "% and "
         "more; mean over 5 flows and more)."),
        "§5.2, Figure 9c", (p.CROSS,), ("gap", "sent", "timers"),
    ),
    "D26": (
        ("TFRC and Westwood+ share relatively fairly by the traditional index (above 0.8; means over 5 flows and "
         "more)."),
        "§5.2, Figure 10a", (p.CROSS,), ("losses", "rates-of-5"),
    ),
    "D27": (
        "DVRC excels in sharing: its fairness index is the highest (means over 5 flows and more).",
        "§5.2, Figure 10a", (p.CROSS,), ("losses", "alpha"),
    ),
    "D28": (
        ("With round trips that differ much DVRC's fairness index stays adequate (above 0.8) and is lower with 50 "
         "flows than "
         "with 40 or fewer."),
        "§5.2, Figure 10c", (p.SPREAD,), ("spread", "alpha"),
    ),
    "D29": (
        "With 40 videos R2's queue swings less under DVRC than under a conventional AIMD protocol, Reno.",
        "§5.2, Figure 11a", (p.RULES,), ("buffers", "alpha", "phase"),
    ),
    "D30": (
        ("With reverse traffic DVRC and TFRC use the link satisfactorily (90 % and more, from 5 flows on), and "
         "RTCP/UDP's "
         "goodput is below TFRC's (mean over 5 flows and more)."),
        "§5.3, Figure 12", (p.REVERSE,), ("rates-of-5", "rtcp"),
    ),
    "D31": (
        ("With reverse traffic DVRC's video delivery index hardly depends on the number of flows, while TFRC's and "
         "RTCP/UDP's fall by more than 0.1 from 5 flows to 50."),
        "§5.3, Figure 13a", (p.REVERSE,), ("gap", "sent", "losses"),
    ),
    "D32": (
        ("With reverse traffic the smallest throughput of a DVRC flow deviates little from the largest (worst-case "
         "fairness "
         "above 0.5, and above RTCP/UDP's; means over 5 flows and more)."),
        "§5.3, Figure 14b", (p.REVERSE,), ("losses", "rtcp"),
    ),
    "D33": (
        "TFRC flows take more than their share beside TCP (means over the sweep).",
        "§5.4, Figure 16", (p.FRIENDLY,), ("phase", "fill"),
    ),
    "D34": (
        "Among 40 TCP flows each of 50 DVRC videos relies on its base layer: it gets no more than that (within 20 %).",
        "§5.4, Figure 15b", (p.FRIENDLY,), ("layers", "alpha"),
    ),
    "D35": (
        "Beside one DVRC flow over 1 to 10 hops the TCP flows have about the link's fair share (within 20 %).",
        "§5.5, Figure 17", (p.HOPS,), ("buffers", "hop-delay"),
    ),
    "D36": (
        ("Against purely additive decrease (AIAD), AIAMD loses less among 40 videos and ten transfers, shares more "
         "fairly, and "
         "drains the queue more often (to half of the buffer)."),
        "§3.2 and §5.2, Figure 11a", (p.RULES,), ("gains", "alpha", "measure-over"),
    ),
}  # fmt: skip
"""Claim to its sentence, where the paper says so, the grids that its tests read, and the assumptions it may hang on."""
