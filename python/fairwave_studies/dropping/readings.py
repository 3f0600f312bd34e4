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
from fairwave_study.readings import Factor, Reading, plain

RED = Factor("red", values=plain({"1993": 4, "ns-2.35": 3, "ns-2 of 2004": 1}))

RED_UNIT = Factor("red-unit", values=plain({"bytes": 4, "queue in bytes": 2, "packets": 2}))

THRESHOLDS = Factor("thresholds", values=plain({"a third": 3, "a half": 1}))

ALWAYS_ON_LOAD = Factor("load-s1", values=plain({"1.24 of the link": 3, "1.5 of the link": 1}))

ON_OFF_LOAD = Factor(
    "load-s2",
    values=plain(
        {
            "ten calls, mean": 4,
            "ten calls, while on": 2,
            "1.18 of the link, mean": 2,
            "1.1 of the link, mean": 2,
            "1.24 of the link, mean": 1,
        }
    ),
)

ROUTERS_LOAD = Factor(
    "load-s3",
    values=plain(
        {"1.24 of L1, mean": 3, "1.24 of L2, mean": 2, "1.24 of L1, while on": 2, "1.5 of L2, while on": 1}
    ),
)

TRANSFER = Factor("transfer", values=plain({"262 kb/s": 2, "131 kb/s": 1, "524 kb/s": 1}))

TCP = Factor(
    "tcp",
    values=plain(
        {"Reno, 0.2 s": 4, "Tahoe, 0.2 s": 2, "SACK, 0.2 s": 2, "NewReno, 0.2 s": 2, "Reno, 1 s": 1}
    ),
)

BUFFER = Factor("buffer", values=plain({"300 ms": 3, "150 ms": 2, "600 ms": 1}))

AVQ_BUFFER = Factor("avq-buffer", values=plain({"30 ms": 4, "114 ms": 2, "the routers'": 1}))

AVQ_LAW = Factor(
    "avq-law",
    values=plain({"ns-2's, arrival forgotten": 3, "ns-2's, exchanged": 2, "authors', exchanged": 1}),
)

REM = Factor("rem", values=plain({"bytes of 500": 3, "bytes of 1000": 2, "packets of 1000": 1}))

PUNSI = Factor("punsi", values=plain({"class": 3, "flow": 1}))

PERIODS = Factor("periods", values=plain({"constant": 3, "exponential": 1}))

HEADERS = Factor("headers", values=plain({"all": 3, "as ns-2 counts": 2, "payload": 1}), kind="definition")

LOGARITHM = Factor("logarithm", values=plain({"natural": 3, "decimal": 1}), kind="definition")

VICTIM_DROPS = Factor("victim-drops", values=plain({"every drop": 2, "forced drops": 1}))

CLOCK = Factor("clock", values=plain({"10 ms": 4, "100 ms": 2, "500 ms": 1}), kind="coarse clock")

ACKNOWLEDGEMENTS = Factor("acknowledgements", values=plain({"each": 3, "delayed": 1}))

WINDOW = Factor("window", values=plain({"20": 2, "64": 2, "none": 1}))

SEND_JITTER = Factor("send-jitter", values=plain({"none": 3, "1 ms": 1}), kind="phase effect")

BUFFER_UNIT = Factor("buffer-unit", values=plain({"bytes": 2, "packets": 1}))

PHASES = Factor("phases", values=plain({"within a period": 1, "all at 0 s": 1}), kind="phase effect")

TCP_DELAYS = Factor("tcp-delays", values=plain({"39 to 269 ms": 1, "39 ms": 1}))

HOPS = Factor("hops", values=plain({"10 ms": 1, "6.5 ms": 1}))

MIX = Factor("mix", values=plain({"2 to 6 to 2": 2, "equal numbers": 1}), kind="definition")

UNRESPONSIVE = Factor("unresponsive", values=plain({"half each": 2, "as in CA2": 1}))

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
