"""The set-up that the authors of papers 000 and 001 likely had, for the fair account at the top of the page."""

from __future__ import annotations

from fairwave_study import texts

SETUP = {"first-bottleneck": "1.2 Mb/s"}
"""Beside the base reading."""

ACCOUNTS = texts.accounts(__file__, {"000": SETUP, "001": SETUP})
"""One per paper, in the words of `accounts.toml`."""
