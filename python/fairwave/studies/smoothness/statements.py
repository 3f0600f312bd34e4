"""The sentences of paper 003 that are put to the test, S1 to S16, in our words."""

from __future__ import annotations

from fairwave.studies.smoothness import points as p

STATEMENTS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "S1": (
        "At 10 Mb/s the goodputs of the four TCP(α, β) are indistinguishable, at every number of flows.",
        "§III, Observation 2, Figure 2", (p.WIRED_10,), ("buffers", "recovery", "round-trip", "length"),
    ),
    "S2": (
        "At 100 Mb/s smoother is higher (mean over 20 flows and more), and goodput jumps from 10 to 20 flows.",
        "§III, Observation 2, Figure 3", (p.WIRED_100,), ("buffers", "window", "recovery", "round-trip"),
    ),
    "S3": (
        "At 10 Mb/s TCP(0.31, 0.875) has the least overhead, increasingly with flows.",
        "§III, Observation 2, Figure 4", (p.WIRED_10,), ("round-trip", "recovery"),
    ),
    "S4": (
        "At 100 Mb/s the overheads differ negligibly.",
        "§III, Observation 2, Figure 5", (p.WIRED_100,), ("round-trip", "recovery"),
    ),
    "S5": (
        "On wires the 90 % application success grows with β.",
        "§III, Observation 2, Figure 6", (p.CONSTANT,), ("recovery", "application"),
    ),
    "S6": (
        "Until flows join at 15 s smoother is fairer; after they have doubled twice (20 s) TCP(1.25, 0.25) is fairest.",
        "§III, Observation 3, Figure 7", (p.GROWING,), ("window", "bin", "starts", "rate-of-7"),
    ),
    "S7": (
        "When flows leave (after 15 s) TCP(1, 0.5) has the highest goodput and TCP(0.31, 0.875) the lowest.",
        "§III, Observation 3, Figure 8", (p.SHRINKING,), ("window", "bin", "round-trip"),
    ),
    "S8": (
        "With packet errors rising to 5 % responsive overtakes smooth in goodput.",
        "§III, Observation 4, Figures 9–10", (p.ERRORS_10, p.ERRORS_100), ("recovery", "errors", "wireless"),
    ),
    "S9": (
        "Under packet errors the smoothest has (slightly) the highest overhead (mean over error rates).",
        "§III, Observation 4, Figures 11–12", (p.ERRORS_10, p.ERRORS_100), ("recovery", "errors", "wireless"),
    ),
    "S10": (
        "The 70 % application success of TCP(0.31, 0.875) falls fastest with packet errors.",
        "§III, Observation 4, Figure 15", (p.CONSTANT_ERRORS,), ("recovery", "errors", "application"),
    ),
    "S11": (
        "Fairness falls with the spread of round trips, and the smoothest is slightly fairer (mean over spreads).",
        "§III, Observation 5, Figure 16", (p.SPREAD,), ("recovery", "length"),
    ),
    "S12": (
        "Under RED the smoothest's advantage among spread round trips is gone.",
        "§III, Observation 5, Figure 17", (p.SPREAD,), ("red",),
    ),
    "S13": (
        "Reno+γ has the highest short-term fairness and the lowest CoV of Reno, Reno+RED, TCP(0.31, 0.875) and TFRC.",
        "§IV, Observation 6, Figures 18–19", (p.AVOIDANCE,), ("bin", "red", "gamma"),
    ),
    "S14": (
        "With a buffer of one bandwidth-delay product γ settles near 2/3 (within 5 %).",
        "§IV, Eq. (16)", (p.AVOIDANCE,), ("gamma", "starts"),
    ),
    "S15": (
        (
            "After a blackout of 1 s, with the round trip that gives Reno 19 s, Reno+γ recovers in 19 s, "
            "TCP(0.31, 0.875) in 57 s, Reno+γ+δ in 10 s (within 10 %)."
        ),
        "§IV, Observation 6, Figure 20", (p.RECOVERY,), ("recovered", "window-of-20"),
    ),
    "S16": (
        "The goodputs of Figures 18 and 19's systems are indistinguishable.",
        "§IV, Observation 6", (p.AVOIDANCE,), ("red", "length"),
    ),
}  # fmt: skip
"""Statement, source, the grids that the test reads, and the assumptions on which it may hang."""
