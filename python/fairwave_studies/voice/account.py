"""The set-up that the authors of papers 000 and 001 likely had, for the fair account at the top of the page."""

from __future__ import annotations

from fairwave_study.accounts import Account

SETUP = {"first-bottleneck": "1.2 Mb/s"}
"""Beside the base reading."""

WHY = (
    "Both papers describe one topology, in the same words, and 001 sees contention begin above 40 calls: "
    "calls of 27 kb/s on the mean then fill R1→R2 at a little more than 1.1 Mb/s. That fits 000's words, too, "
    "which name 80 and 120 calls as contended. All else is what ns-2 of 2005 does where a script says nothing, or "
    "what the same authors say in paper 002."
)

WORDS = {
    "definition": (
        "Neither paper says whether a packet in time is one that follows soon upon the packet before or one that is "
        "young, nor whether shares are of what the application made or of what was put on the wire."
    ),
    "way of counting sizes": (
        "ns-2 adds 40 bytes to a segment of Westwood and Real, a fifth of one with 160 bytes of speech, and none to "
        "one of its Vegas or to a packet of UDP. What the papers say of Vegas beside Real, and of longer payloads, is "
        "said of these 40 bytes as much as of congestion control: see the experiments of V4, V9 and V11."
    ),
}

CLOSING = (
    "The mechanisms that the papers name are at work where they say so: Westwood's estimate keeps a bottleneck "
    "overflowed where halving would not (V2, V16), and Real gives way before it loses (V4). What decides the order of "
    "the transports beside these is which of the two bottlenecks binds, and how bytes are counted. Both were in "
    "Figure 1 and in the scripts, and neither is in the text."
)

ACCOUNTS = (Account("000", SETUP, WHY, WORDS, CLOSING), Account("001", SETUP, WHY, WORDS, CLOSING))
"""One per paper."""
