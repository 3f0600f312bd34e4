"""What paper 003's authors likely had, for the account at the top of the page; chosen before the exploration."""

from __future__ import annotations

from fairwave_study import texts

SETUP = {
    "version": "ns2",
    "buffers": "round trip, bottleneck only",
    "sending": "none",
    "starts": "at 0 s",
    "joining": "at the instant",
    "headers": "as ns-2 counts",
    "red": "ns2-2004",
}
"""What a script of the time has that says no more than the paper does."""

ACCOUNTS = texts.accounts(__file__, {"003": SETUP})
"""One paper, one account, in the words of `accounts.toml`."""
