"""The sentences of paper 002 that are put to the test, D1 to D13, in our words."""

from __future__ import annotations

from fairwave.studies.video import points as p

STATEMENTS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "D1": (
        "Beside two TCP flows DVRC's coefficient of variation is below TFRC's (published: 0.1854 against 0.2229).",
        "§5.1", (p.SINGLE, p.BULK, p.CROSS), ("layers", "tes", "alpha", "measure-over", "phase"),
    ),
    "D2": (
        "Beside two TCP flows DVRC's jitter stays below 75 ms, and most gaps between arrivals are below 50 ms.",
        "§5.1, Figure 7", (p.SINGLE,), ("layers", "tes", "unit", "buffers"),
    ),
    "D3": (
        ("Random loss is told from congestion: at 3 % PER most losses fall above the bound, and most losses of either "
        "cause are judged rightly."),
        "§3.2, Figure 3", (p.BOUND, p.JUDGED), ("gains", "alpha", "measure-over", "compare"),
    ),
    "D4": (
        "DVRC and TFRC fill the link; Westwood+ does with few flows and falls short of both with 40 and 50.",
        "§5.2, Figure 8a", (p.CROSS,), ("rates-of-5", "losses", "fill"),
    ),
    "D5": (
        "DVRC has the highest video delivery index at every number of flows, nearly flat.",
        "§5.2, Figure 9a", (p.CROSS,), ("gap", "sent", "layers", "losses"),
    ),
    "D6": (
        "DVRC loses the smallest share of its packets, Westwood+ delays most (means over 5 flows and more).",
        "§5.2, Figure 9b–c", (p.CROSS,), ("gap", "sent", "losses", "alpha"),
    ),
    "D7": (
        "Worst-case fairness of TFRC and Westwood+ falls from 5 flows to 50; DVRC's holds.",
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
        "One DVRC flow that joins after 10 s keeps its fair share of 1 Mb/s over 1 to 10 hops.",
        "§5.5, Figure 17", (p.HOPS,), ("buffers", "layers", "hop-delay"),
    ),
    "D13": (
        "Four or five layers suffice: goodput and video delivery index are those of eight.",
        "§5.2", (p.LAYERS,), ("layers", "split"),
    ),
}  # fmt: skip
"""Claim to its sentence, where the paper says so, the grids that its tests read, and the assumptions it may hang on."""
