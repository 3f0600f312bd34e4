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
}

ACCOUNTS = (Account("000", SETUP, WHY, WORDS), Account("001", SETUP, WHY, WORDS))
"""One per paper."""
