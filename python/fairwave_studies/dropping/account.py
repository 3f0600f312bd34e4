"""What the authors of paper 004 would accept as a fair account of it: their likely set-up, and what it comes to."""

from __future__ import annotations

from fairwave_study.accounts import Account


def accounts() -> list[Account]:
    """The account of paper 004."""
    return []
