"""What paper 002's authors likely had, for the account at the top of the page; chosen before anything was run."""

from __future__ import annotations

from fairwave_study.accounts import Account

ACCOUNTS = [
    Account(
        "002",
        {"jitter": "none", "headers": "as ns-2 counts", "hosts": "50 packets"},
        "The paper used ns-2 and names no version; where it is silent, the likeliest is what ns-2 does when a "
        "script says "
        "nothing: sendings are not spread, a packet of UDP or TFRC is as large as §4.1 says, and hosts' links hold "
        "50 packets, "
        "since §4.1 adjusts the buffers of routers alone. All else is as its words say, which is the base reading.",
        words={
            "definition": "Three words of §4.2 decide much: of what the index is a part, what is lost, and what is "
            "late. Over "
            "TFRC and Westwood+ a video waits in the sender; whether what waits counts as sent, and as lost, is a "
            "definition "
            "and no property of a network.",
        },
    )
]
"""One paper, one account."""
