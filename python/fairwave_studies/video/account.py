"""What paper 002's authors likely had, for the account at the top of the page; chosen before anything was run."""

from __future__ import annotations

from fairwave_study import texts

ACCOUNTS = texts.accounts(
    __file__, {"002": {"jitter": "none", "headers": "as ns-2 counts", "hosts": "50 packets"}}
)
"""One paper, one account, in the words of `accounts.toml`."""
