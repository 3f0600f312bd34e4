"""What the authors of paper 004 would accept as a fair account of it: their likely set-up, and what it comes to."""

from __future__ import annotations

from fairwave_study.accounts import Account

SETUP = {"red": "ns-2.35", "red-unit": "queue in bytes", "headers": "as ns-2 counts", "phases": "all at 0 s"}
"""What a script of 2009 has that names no more than the paper does, and RED's unit by the numbers of Table 5."""


def accounts() -> list[Account]:
    """The account of paper 004."""
    return [
        Account(
            "004",
            SETUP,
            "The paper ran ns-2 and prints no parameters of its queues, so that a script that set thresholds alone had "
            "ns-2's RED of the day, gentle and with drops spaced. Of its two keys for bytes the queue's alone is "
            "set: its Table 5 comes out nearest "
            "then (why-Q6), which is a reason from printed numbers, not from a default. ns-2's TCP adds headers to "
            "the 1500 bytes that §4.1 "
            "gives a segment. §4.1 has all sources of S1 begin at 0 s. For the rest the base reading is what the paper "
            "says or ns-2 does.",
            {
                "phase effect": "Sources at equal distances that begin together meet in the queue for ever, and a "
                "random time at the sender breaks that. Neither is a property of a victim rule.",
                "coarse clock": "A coarse clock makes a transfer pause longer after losses that only a timeout "
                "repairs.",
                "definition": "What a size counts, which logarithm Eq. (1) has and how many calls are of which "
                "application change numbers without any mechanism.",
            },
            "Drop-Sel makes the queue fair, and throughput follows where there is a queue to be fair in (why-Q8). "
            "Five of "
            "the paper's sentences do not hang on the victim rule. That TCP loses nothing where UDP is below its share "
            "is a matter of how much TCP asks for (why-Q2). That Drop-Front makes queues longer is a matter of RED's "
            "slope (why-Q12). The shares of Figure 6a need near transfers and a queue under AVQ that Table 6 rules out "
            "(why-Q14), the double share of Drop-Tail there needs near transfers and many (why-Q15). Which "
            "discipline loses most hangs on how near transfers are, too (why-Q26). Late packets are "
            "told in % of what was sent, which hides that a dropped packet cannot be late (why-Q17).",
        )
    ]
