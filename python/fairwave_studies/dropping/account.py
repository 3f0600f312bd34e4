"""What the authors of paper 004 would accept as a fair account of it: their likely set-up, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study import texts

if TYPE_CHECKING:
    from fairwave_study.accounts import Account

SETUP = {"red": "ns-2.35", "red-unit": "queue in bytes", "headers": "as ns-2 counts", "phases": "all at 0 s"}
"""What a script of 2009 has that names no more than the paper does, and RED's unit by the numbers of Table 5."""


def accounts() -> list[Account]:
    """The account of paper 004, in the words of `accounts.toml`."""
    return texts.accounts(__file__, {"004": SETUP})
