"""Names of the study's systems and grids: labels that axes, claims and readings share."""

from __future__ import annotations

SMOOTHEST, SMOOTH, STANDARD, RESPONSIVE = (
    "TCP(0.31, 0.875)",
    "TCP(0.583, 0.75)",
    "TCP(1, 0.5)",
    "TCP(1.25, 0.25)",
)
RENO, RENO_RED, GAMMA, GAMMA_DELTA, TFRC = "Reno", "Reno+RED", "Reno+γ", "Reno+γ+δ", "TFRC"
SQRT, IIAD, RAP = "SQRT", "IIAD", "RAP"
"""Smooth alternatives of the time that the paper does not compare."""

RENO_STREAM, GAMMA_STREAM = "Reno, stream", "Reno+γ, stream"
"""The same windows for an unreliable stream: data older than its playback buffer is discarded."""

TCPS = (
    SMOOTHEST,
    SMOOTH,
    STANDARD,
    RESPONSIVE,
    RENO,
    RENO_RED,
    GAMMA,
    GAMMA_DELTA,
    SQRT,
    IIAD,
    RENO_STREAM,
    GAMMA_STREAM,
)
"""All systems that are TCPs."""

WIRED_10, WIRED_100 = "wired-10", "wired-100"
CONSTANT = "constant-rate"
GROWING, SHRINKING = "growing", "shrinking"
ERRORS_10, ERRORS_100 = "errors-10", "errors-100"
MARKOV = "errors-markov"
HANDOFFS = "handoffs"
CONSTANT_ERRORS = "constant-rate-errors"
SPREAD = "spread"
AVOIDANCE = "avoidance"
RECOVERY = "recovery"
BEYOND, BESIDE, BEYOND_READERS = "beyond", "beside-reno", "beyond-readers"
MODEL, SAWTOOTH, USE, KNEE = "model", "sawtooth", "use", "knee"

WITH_ERRORS = (ERRORS_10, ERRORS_100, MARKOV, CONSTANT_ERRORS, RECOVERY)
"""Grids on which packets are lost on the links to the sinks."""

MANY_FLOWS = (
    WIRED_10,
    WIRED_100,
    CONSTANT,
    ERRORS_10,
    ERRORS_100,
    MARKOV,
    CONSTANT_ERRORS,
    SPREAD,
    AVOIDANCE,
    BEYOND,
    BEYOND_READERS,
)
"""Grids with several flows, in constant number."""

BINNED = (GROWING, SHRINKING, AVOIDANCE, BEYOND)
"""Grids on which something is taken per period."""

CROWDS = (ERRORS_100, CONSTANT_ERRORS)
"""Grids on which packet errors meet many flows."""

OVERALL = (WIRED_10, WIRED_100, ERRORS_10, ERRORS_100, MARKOV, SPREAD)
"""Grids for goodput, overhead or long-term fairness."""

READ = (CONSTANT, CONSTANT_ERRORS, BEYOND_READERS)
"""Grids with applications that read."""
