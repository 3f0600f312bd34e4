"""The sentences of paper 003 that are put to the test, S1 to S36, in our words."""

from __future__ import annotations

from fairwave_studies.smoothness import names as n

STATEMENTS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "S1": (
        "At 10 Mb/s the goodputs of the four TCP(α, β) are indistinguishable, at every number of flows.",
        "§III, Observation 2, Figure 2", (n.WIRED_10,), ("length",),
    ),
    "S2": (
        ("At 100 Mb/s smooth TCPs have higher goodput than the responsive one (mean over 20 flows and more), and "
         "goodput jumps from 10 to 20 flows."),
        "§III, Observation 2, Figure 3", (n.WIRED_100,), ("window", "length"),
    ),
    "S3": (
        "At 10 Mb/s TCP(0.31, 0.875) has the least overhead, increasingly with flows.",
        "§III, Observation 2, Figure 4", (n.WIRED_10,), ("length",),
    ),
    "S4": (
        "At 100 Mb/s the overheads differ negligibly.",
        "§III, Observation 2, Figure 5", (n.WIRED_100,), ("window", "length"),
    ),
    "S5": (
        "On wires the 90 % application success of smooth TCPs is higher than the responsive one's.",
        "§III, Observation 2, Figure 6", (n.CONSTANT,), ("application",),
    ),
    "S6": (
        ("Until flows join at 15 s smooth TCPs are fairer than the responsive one; after they have doubled twice (20 "
         "s) TCP(1.25, 0.25) is fairest."),
        "§III, Observation 3, Figure 7", (n.GROWING,), ("window", "joining"),
    ),
    "S7": (
        "When flows leave (after 15 s) TCP(1, 0.5) has the highest goodput and TCP(0.31, 0.875) the lowest.",
        "§III, Observation 3, Figure 8", (n.SHRINKING,), ("window", "joining"),
    ),
    "S8": (
        "With packet errors of 5 % the responsive TCP has more goodput than the smooth ones.",
        "§III, Observation 4, Figures 9–10", (n.ERRORS_10, n.ERRORS_100), ("length",),
    ),
    "S9": (
        "Under packet errors the smoothest has (slightly) the highest overhead (mean over error rates).",
        "§III, Observation 4, Figures 11–12", (n.ERRORS_10, n.ERRORS_100), ("length",),
    ),
    "S10": (
        "The 70 % application success of TCP(0.31, 0.875) falls fastest with packet errors.",
        "§III, Observation 4, Figure 15", (n.CONSTANT_ERRORS,), ("application",),
    ),
    "S11": (
        ("Fairness falls with the spread of round trips for all four, and smooth TCP is slightly fairer: the two "
         "smooth ones than the other two (mean over spreads)."),
        "§III, Observation 5, Figure 16", (n.SPREAD,), ("length",),
    ),
    "S12": (
        ("Under RED smooth TCP's advantage among spread round trips is less than under drop-tail, and no more than "
         "0.01 is left of it."),
        "§III, Observation 5, Figure 17", (n.SPREAD,), ("length",),
    ),
    "S13": (
        (
            "Reno+γ has higher short-term fairness and lower CoV than Reno, Reno+RED and TCP(0.31, "
            "0.875) (mean over numbers "
        "of flows)."
        ),
        "§IV, Observation 6, Figures 18–19", (n.AVOIDANCE,), ("extremes", "length"),
    ),
    "S14": (
        "With a buffer of one bandwidth-delay product γ is around 2/3 (within 10 %).",
        "§IV, Eq. (16)", (n.AVOIDANCE,), ("extremes",),
    ),
    "S15": (
        (
            "After a blackout of 1 s, on a path on which Reno takes 19 s, Reno+γ recovers in 19 s, "
            "TCP(0.31, 0.875) in 57 s, "
        "Reno+γ+δ in 10 s (within 10 %)."
        ),
        "§IV, Observation 6, Figure 20", (n.RECOVERY,), ("window-of-20",),
    ),
    "S16": (
        "The goodputs of Figures 18 and 19's systems are indistinguishable.",
        "§IV, Observation 6", (n.AVOIDANCE,), ("length",),
    ),
    "S17": (
        "While a hundred flows are there (until 15 s) a higher β brings higher goodput.",
        "§III, Observation 3, Figure 8", (n.SHRINKING,), ("window", "joining"),
    ),
    "S18": (
        (
            "With handoffs of 1 s on average the responsive TCP has more goodput than smooth ones, and a "
            "smoother rate."
        ),
        "§III, Observation 4, Figure 14", (n.HANDOFFS,), ("window",),
    ),
    "S19": (
        ("With handoffs of 500 ms on average, while they happen to be short, TCP(1, 0.5) has more goodput than "
         "TCP(1.25, 0.25), whose goodput is relatively high: above that of TCP(0.31, 0.875)."),
        "§III, Observation 4, Figure 13 (40 to 60 s)", (n.HANDOFFS,), ("window",),
    ),
    "S20": (
        ("Among spread round trips RED lowers the goodput of smooth TCPs and makes them less fair than drop-tail does "
         "(mean over spreads)."),
        "§III, Observation 5, Figures 16–17", (n.SPREAD,), ("length",),
    ),
    "S21": (
        (
            "By the long-term fairness index every system of Figures 18 and 19 shares highly fairly (0.9 "
            "and more)."
        ),
        "§IV, Observation 6", (n.AVOIDANCE,), ("length",),
    ),
    "S22": (
        (
            "With errors by a two-state Markov model, too, responsive overtakes smooth as errors rise to 5 "
            "% (10 flows)."
        ),
        "§II, and §III, Observation 4", (n.ERRORS_10, n.MARKOV), ("bursts",),
    ),
    "S23": (
        "Reno+γ has higher short-term fairness and lower CoV than even TFRC (mean over numbers of flows).",
        "§IV, Observation 6, Figures 18–19", (n.AVOIDANCE,), ("extremes", "length"),
    ),
    "S24": (
        "Where packet errors are few (1 % and less) smooth TCPs have more goodput than the responsive one.",
        "§III, Observation 4, Figures 9–10 (left)", (n.ERRORS_10, n.ERRORS_100), ("length",),
    ),
    "S25": (
        ("Where packet errors are few (1 % and less) smooth TCPs have more 70 % application success than the "
         "responsive one."),
        "§III, Observation 4, Figure 15 (left)", (n.CONSTANT_ERRORS,), ("application",),
    ),
    "S26": (
        "When flows join, allotted fairness drops for all four (mean over three times).",
        "§III, Observation 3, Figure 7", (n.GROWING,), ("window", "joining"),
    ),
    "S27": (
        "When flows have joined, the fairness of TCP(1.25, 0.25) recovers fastest: within 5 s it gains most.",
        "§III, Observation 3, Figure 7", (n.GROWING,), ("window", "joining"),
    ),
    "S28": (
        "As more flows join, the system becomes increasingly unfair with smooth TCPs: from 15–20 s to 25–30 s.",
        "§III, Observation 3, Figure 7", (n.GROWING,), ("window", "joining"),
    ),
    "S29": (
        "When flows leave, goodput at first decreases for all four (first second, mean over three times).",
        "§III, Observation 3, Figure 8", (n.SHRINKING,), ("window", "joining"),
    ),
    "S30": (
        "When flows have left, the goodput of TCP(1.25, 0.25) comes back fastest: it gains most within 3 s.",
        "§III, Observation 3, Figure 8", (n.SHRINKING,), ("window", "joining"),
    ),
    "S31": (
        "From no packet errors to 5 % smooth TCPs lose more goodput than the responsive one.",
        "§III, Observation 4, Figures 9–10", (n.ERRORS_10, n.ERRORS_100), ("length",),
    ),
    "S32": (
        "With packet errors of 5 % bandwidth is available: none of the four fills nine tenths of the link (10 flows).",
        "§III, Observation 4, Figure 9", (n.ERRORS_10,), ("length",),
    ),
    "S33": (
        "With drop-tail the flows with long round trips get more by smooth TCP than by the others (mean over spreads).",
        "§III, Observation 5, Figure 16", (n.SPREAD,), ("length",),
    ),
    "S34": (
        "RED lowers the goodput of smooth TCPs with long round trips (mean over spreads).",
        "§III, Observation 5, Figure 17", (n.SPREAD,), ("length",),
    ),
    "S35": (
        ("γ backs off before the queue overflows: Reno+γ has fewer packets dropped than Reno (mean over numbers of "
         "flows)."),
        "§IV, Observation 6", (n.AVOIDANCE,), ("extremes", "length"),
    ),
    "S36": (
        ("γ's smoothness is not had at the cost of responsiveness: after a blackout Reno+γ takes no longer than "
         "Reno, and δ makes it faster."),
        "§IV, Observation 6, Figure 20", (n.RECOVERY,), ("window-of-20",),
    ),
}  # fmt: skip
"""Statement, source, the grids that the test reads, and the assumptions on which it may hang beside the factors."""
