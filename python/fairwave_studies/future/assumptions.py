"""Why the numbers of the scenarios are what they are."""

from __future__ import annotations

from fairwave_study.study import Assumption

ASSUMPTIONS = (
    Assumption(
        "scenarios",
        "Each idea is tried in its paper's scenario, in the base reading of that paper's study, with "
        "runs of 40 or 60 s.",
        "",
    ),
    Assumption(
        "headers",
        "Each transport has its own headers, as ns-2 counts them: UDP none, TFRC 32 bytes, TCP 40, RAP "
        "44. Pairs of "
        "which one has the idea and the other has not carry the same headers.",
        "papers 000 and 001 used ns-2",
    ),
    Assumption(
        "partial",
        "Partial reliability is that of RFC 3758, timed, over TCP's windows, numbers and recovery. A "
        "full SCTP also delivers "
        "units out of order, bundles chunks, keeps message boundaries, counts bytes and has its own "
        "timer bounds "
        "(1 s at least). So the verdict is about partial reliability, and not about all of SCTP.",
        "RFC 3758, RFC 9260",
    ),
    Assumption(
        "profile",
        "The profile of DCCP is AIAMD on DVRC's wire format with one report per round trip and one per "
        "loss event. DCCP's "
        "handshake and its own headers are not simulated.",
        "docs/protocols/ccid-aiamd.md",
    ),
    Assumption(
        "cuts",
        "A layer that is cut counts as delivered when what was sent of it has arrived; how much it adds "
        "is told by the goodput.",
        "Li 2001, fine granularity scalability",
    ),
    Assumption(
        "gamma",
        "γ acts on RAP, the unreliable stream that increases and decreases as Reno does, with paper "
        "003's threshold of one half.",
        "paper 003 §IV",
    ),
    Assumption(
        "labels",
        "CSFQ's edge and core are one node: the link estimates each flow's rate itself. With one "
        "congested link that is what "
        "labels from an edge router would say.",
        "Stoica, Shenker & Zhang 1998, §4.1",
    ),
    Assumption(
        "buffer",
        "Queues have paper 004's buffer of 300 ms. CSFQ's authors had 51 ms, so it is also tried with 50 ms.",
        "Stoica, Shenker & Zhang 1998, §4",
    ),
    Assumption(
        "shares",
        "AFD and CSFQ share by flow. A call is a flow of little rate, so fairness by flow favours calls "
        "and Drop-Sel's fairness by "
        "class does not.",
        "",
    ),
)
