"""What paper 003's authors likely had, for the account at the top of the page; chosen before the exploration."""

from __future__ import annotations

from fairwave_study.accounts import Account

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

ACCOUNTS = [
    Account(
        "003",
        SETUP,
        "The paper used ns-2 and names no version. §IV says that a blackout of 1 s brings window and threshold to "
        "their minimum, which needs a least timeout well below a second: the one that ns-2 had when the paper was "
        "revised, and not the one that it had when the paper was handed in. Where the text is silent, the likeliest "
        "is what ns-2 does when a script says nothing: sendings are not spread, flows that are started in a loop begin "
        "at one instant, hosts' links hold 50 packets, TFRC's packets have no header, and RED has the parameters of "
        "its day. All else is as the paper's words say, which is the base reading.",
        words={
            "phase effect": "Like flows that begin together, with like delays and sendings that are not spread, meet "
            "in a drop-tail queue in the same order for ever. Who is dropped is then decided by who comes right after "
            "whom, and not by α, β or γ. Floyd and Jacobson (1992) describe it; ns-2 prevents it only when asked.",
            "coarse clock": "A coarse clock makes a timeout last long. It matters where losses end in timeouts: under "
            "errors, during handoffs, and with many flows.",
            "version of the simulator": "The least timeout fell from 1 s to 200 ms between the paper's two dates. "
            "Figure 20's times and all that is said of handoffs depend on it.",
            "definition": "Over how long a rate is taken, whether start-up is in it, what a read finds and when a flow "
            "has recovered are definitions; the paper gives each in words that admit several.",
        },
        closing="The mechanisms that the paper names are at work. A deep decrease empties a small queue (why-S1, "
        "why-S2), γ is what Eq. (16) says (why-S14), recovery times follow from α and δ (why-S15), and after "
        "a short handoff β decides and after a long one α (why-S19). Three things stand between them and the "
        "figures. With Reno's recovery one overflow or one handoff costs several decreases or a timeout, "
        "where the paper argues with one decrease: with SACK what it says of diverse round trips and of short "
        "handoffs comes out (why-S11, why-S19); the effect on short handoffs is small, and the three seeds of "
        "the exploration leave it open. Without jitter a drop-tail queue is a phase effect at work, whatever "
        "β is (why-S20). And 100 flows on 10 Mb/s have windows so small that no α and no β shows (why-S6).",
    )
]
"""One paper, one account."""
