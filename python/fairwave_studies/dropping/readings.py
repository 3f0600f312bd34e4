"""How else paper 004 can be read: what it leaves open, and what its words or its simulator's version admit.

The order of the values is that of their plausibility, judged by the paper's words, by its simulator and by what its own
printed numbers can be reckoned to by hand. It was set down before the exploration of these readings, but not blind:
some values (transfers of 39 ms in S2, victims in forced drops only, a finer load) were admitted after single runs had
shown what they do to some claims. Their reasons are the paper's words and ns-2's code alone, and no value was put first
for what it does. What a value sets is in `points`, which asks for it by name. Most of it goes together with something
else: a threshold with a law and a unit, a number of calls with a total. What was looked at and is not admitted is in
`REFUSED`, with the reason.
"""

from __future__ import annotations

from fairwave_study import texts
from fairwave_study.readings import Factor, Reading, Value

RED = Factor(
    "red",
    values=(
        Value("1993", plausibility=4),
        Value("ns-2.35", plausibility=3),
        Value("ns-2 of 2004"),
    ),
)

RED_UNIT = Factor(
    "red-unit",
    values=(
        Value("bytes", plausibility=4),
        Value("queue in bytes", plausibility=2),
        Value("packets", plausibility=2),
    ),
)

THRESHOLDS = Factor(
    "thresholds",
    values=(
        Value("a third", plausibility=3),
        Value("a half"),
    ),
)

ALWAYS_ON_LOAD = Factor(
    "load-s1",
    values=(
        Value("1.24 of the link", plausibility=3),
        Value("1.5 of the link"),
    ),
)

ON_OFF_LOAD = Factor(
    "load-s2",
    values=(
        Value("ten calls, mean", plausibility=4),
        Value("ten calls, while on", plausibility=2),
        Value("1.18 of the link, mean", plausibility=2),
        Value("1.1 of the link, mean", plausibility=2),
        Value("1.24 of the link, mean"),
    ),
)

ROUTERS_LOAD = Factor(
    "load-s3",
    values=(
        Value("1.24 of L1, mean", plausibility=3),
        Value("1.24 of L2, mean", plausibility=2),
        Value("1.24 of L1, while on", plausibility=2),
        Value("1.5 of L2, while on"),
    ),
)

TRANSFER = Factor(
    "transfer",
    values=(
        Value("262 kb/s", plausibility=2),
        Value("131 kb/s"),
        Value("524 kb/s"),
    ),
)

TCP = Factor(
    "tcp",
    values=(
        Value("Reno, 0.2 s", plausibility=4),
        Value("Tahoe, 0.2 s", plausibility=2),
        Value("SACK, 0.2 s", plausibility=2),
        Value("NewReno, 0.2 s", plausibility=2),
        Value("Reno, 1 s"),
    ),
)

BUFFER = Factor(
    "buffer",
    values=(
        Value("300 ms", plausibility=3),
        Value("150 ms", plausibility=2),
        Value("600 ms"),
    ),
)

AVQ_BUFFER = Factor(
    "avq-buffer",
    values=(
        Value("30 ms", plausibility=4),
        Value("114 ms", plausibility=2),
        Value("the routers'"),
    ),
)

AVQ_LAW = Factor(
    "avq-law",
    values=(
        Value("ns-2's, arrival forgotten", plausibility=3),
        Value("ns-2's, exchanged", plausibility=2),
        Value("authors', exchanged"),
    ),
)

REM = Factor(
    "rem",
    values=(
        Value("bytes of 500", plausibility=3),
        Value("bytes of 1000", plausibility=2),
        Value("packets of 1000"),
    ),
)

PUNSI = Factor(
    "punsi",
    values=(
        Value("class", plausibility=3),
        Value("flow"),
    ),
)

PERIODS = Factor(
    "periods",
    values=(
        Value("constant", plausibility=3),
        Value("exponential"),
    ),
)

HEADERS = Factor(
    "headers",
    values=(
        Value("all", plausibility=3),
        Value("as ns-2 counts", plausibility=2),
        Value("payload"),
    ),
    kind="definition",
)

LOGARITHM = Factor(
    "logarithm",
    values=(
        Value("natural", plausibility=3),
        Value("decimal"),
    ),
    kind="definition",
)

VICTIM_DROPS = Factor(
    "victim-drops",
    values=(
        Value("every drop", plausibility=2),
        Value("forced drops"),
    ),
)

CLOCK = Factor(
    "clock",
    values=(
        Value("10 ms", plausibility=4),
        Value("100 ms", plausibility=2),
        Value("500 ms"),
    ),
    kind="coarse clock",
)

ACKNOWLEDGEMENTS = Factor(
    "acknowledgements",
    values=(
        Value("each", plausibility=3),
        Value("delayed"),
    ),
)

WINDOW = Factor(
    "window",
    values=(
        Value("20", plausibility=2),
        Value("64", plausibility=2),
        Value("none"),
    ),
)

SEND_JITTER = Factor(
    "send-jitter",
    values=(
        Value("none", plausibility=3),
        Value("1 ms"),
    ),
    kind="phase effect",
)

BUFFER_UNIT = Factor(
    "buffer-unit",
    values=(
        Value("bytes", plausibility=2),
        Value("packets"),
    ),
)

PHASES = Factor(
    "phases",
    values=(
        Value("within a period"),
        Value("all at 0 s"),
    ),
    kind="phase effect",
)

TCP_DELAYS = Factor(
    "tcp-delays",
    values=(
        Value("39 to 269 ms"),
        Value("39 ms"),
    ),
)

HOPS = Factor(
    "hops",
    values=(
        Value("10 ms"),
        Value("6.5 ms"),
    ),
)

MIX = Factor(
    "mix",
    values=(
        Value("2 to 6 to 2", plausibility=2),
        Value("equal numbers"),
    ),
    kind="definition",
)

UNRESPONSIVE = Factor(
    "unresponsive",
    values=(
        Value("half each", plausibility=2),
        Value("as in CA2"),
    ),
)

FACTORS = texts.factors(
    __file__,
    (
    RED, RED_UNIT, THRESHOLDS, ALWAYS_ON_LOAD, ON_OFF_LOAD, ROUTERS_LOAD, TRANSFER, TCP, BUFFER,
    AVQ_BUFFER, AVQ_LAW, REM, PUNSI, PERIODS, HEADERS, LOGARITHM, VICTIM_DROPS, CLOCK, ACKNOWLEDGEMENTS, WINDOW,
    SEND_JITTER, BUFFER_UNIT, PHASES, TCP_DELAYS, HOPS, MIX, UNRESPONSIVE,
    ),
)  # fmt: skip
"""All that is open."""

REFUSED = texts.refused(__file__)
"""What was looked at and is not admitted, and why by the paper's own words."""

BASE: Reading = {one.id: one.values[0].name for one in FACTORS}
"""The most plausible reading."""
