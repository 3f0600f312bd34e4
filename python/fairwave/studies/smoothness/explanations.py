"""Why claims come out as they do: what differs, what was tried, on which assumption it hangs.

What was tried stands in the sensitivity tables (`fairwave study smoothness --sensitivity`), whose ids are named here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.study.study import Data

    Notes = Mapping[Verdict, str | Callable[[Data], str]]


def _otherwise(words: str) -> Notes:
    """For whatever verdict is not the paper's."""
    return {Verdict.NOT_REPRODUCED: words, Verdict.UNDECIDED: words}


EXPLANATIONS: Mapping[str, Notes] = {
    "S1": _otherwise(
        "The three smoother systems are alike; with few flows TCP(1.25, 0.25) falls short of them. That is "
        "the paper's own Eq. "
        "(13): with a buffer of one bandwidth-delay product a β below 1/2 lets the queue run empty, and ten "
        "flows often back "
        "off together. Hangs on the buffers: with twice as much, and with NewReno, which backs off once per "
        "window, the gap "
        "shrinks (wired-settings)."
    ),
    "S2": _otherwise(
        "The jump is there. But up to 30 flows all windows of 64 segments together fit into path and buffer, "
        "so that nothing is "
        "lost, and beyond, with a buffer of one bandwidth-delay product, every β of 1/2 and more keeps the "
        "link busy (Eq. 13): "
        "three systems tie and only TCP(1.25, 0.25) is lower. With a quarter of the buffers the order is the "
        "paper's, with "
        "wide gaps (crowded-settings): its runs must have had less buffer than it says, or none to spare."
    ),
    "S3": _otherwise(
        "The smoothest retransmits least wherever there is contention. What is left open is the smallest "
        "difference in the "
        "whole comparison; the gap to the others and its growth with flows hang on the recovery of losses "
        "(wired-settings)."
    ),
    "S4": _otherwise(
        "Up to 30 flows nothing is lost at all. Beyond, the differences stay within a fraction of what "
        "headers cost, but not "
        "everywhere within the half percentage point that counts as negligible here."
    ),
    "S5": _otherwise(
        "The order over the whole range of β is the paper's; where neighbours cannot be told apart they "
        "differ by less than the "
        "replications do. Applications ask for 4 % more than their share once headers are counted, so that "
        "even a perfectly "
        "smooth sender has at most 96 % of a read."
    ),
    "S6": _otherwise(
        "At the 100 Mb/s of the text nothing is lost before 20 s, because 25 windows of 64 segments fit into "
        "path and buffer: all "
        "four are then the same, and no order can be found. At the 10 Mb/s of the caption the first half of "
        "the claim comes "
        "out. After 20 s the present systems are close together; how newcomers fare in their first seconds "
        "hangs more on "
        "what slow start and Reno's recovery do to them than on α and β (load-settings-growing)."
    ),
    "S7": _otherwise(
        "TCP(0.31, 0.875) takes by far the longest to fill what leavers free, as claimed. TCP(1, 0.5) and "
        "TCP(1.25, 0.25) cannot "
        "be told apart, since both have reached what 64 segments allow within the 5 s. At 10 Mb/s the link "
        "stays full whoever "
        "leaves (load-settings-shrinking)."
    ),
    "S8": {
        Verdict.REPRODUCED: (
            "It hangs on Reno's recovery and ns-2's timers: with NewReno or SACK, which back off once per "
            "window, and with the "
            "RFCs' details, where slow timeouts decide, the smoothest keeps its lead up to 5 % of errors "
            "(error-settings)."
        ),
        **_otherwise(
            "Without errors the smoothest leads, and at 5 % it is behind where windows back off once per "
            "loss, as Reno's do. It hangs "
            "on that: with NewReno or SACK, which back off once per window, and with the RFCs' details, "
            "where slow timeouts decide, "
            "the smoothest keeps its lead (error-settings)."
        ),
    },
    "S9": _otherwise(
        "The smoothest has the highest overhead at 4 and 5 % of errors, by a fraction of a percentage point; "
        "at 1 and 2 % all are "
        "alike, as what is retransmitted is then the same for all. It hangs on Reno's recovery: with SACK, "
        "which retransmits "
        "only what was lost, there is no order at all (error-settings)."
    ),
    "S10": _otherwise(
        "By 5 % of errors every system fails almost every read: a window of two or three segments per 80 ms "
        "cannot carry 700 kb/s. "
        "The fall is thus mostly what each had to lose without errors, and the smoothest had most. At 1 % it "
        "still does no worse than the "
        "others, so the paper's sharp turn at dense errors cannot be seen (error-application-settings)."
    ),
    "S11": _otherwise(
        "Fairness falls with the spread for all, as claimed. The order of the four changes with the spread: "
        "the smoothest is not "
        "fairer at small spreads, where its slow additive increase takes longest to even out how flows began. Longer "
        "runs and other recoveries do not bring the order out (spread-settings)."
    ),
    "S12": _otherwise(
        "Under drop-tail there is no advantage to lose (S11), and under RED, which drops by chance instead "
        "of whole runs of "
        "packets, the smoothest is the fairer one: the other way round than claimed. RED does cost goodput "
        "for all but the smoothest, as the "
        "paper says. RED's thresholds, unstated, were varied (spread-settings)."
    ),
    "S13": _otherwise(
        "Reno+γ is much smoother and fairer in the short term than every TCP here, as claimed, but not than "
        "TFRC as RFC 5348 has it. The paper's "
        "TFRC of 2000 had no discounting of old losses by the same rule, nor the same limits to its rate. In "
        "some replications a few "
        "Reno+γ flows, having met a fuller buffer than others, take less than their share for good, which "
        "widens its intervals."
    ),
    "S14": _otherwise(
        "In a single flow γ is within 1 % of Eq. (16) (Figure 003-eq16). Among many, flows that never meet "
        "an empty queue "
        "take its least for empty and decrease less; the means lie above 2/3 for that. It hangs on the order "
        "of starts (smooth-settings)."
    ),
    "S15": {
        Verdict.REPRODUCED: (
            "Whichever share of full speed counts as recovered, one round trip makes all four come true."
        ),
        **_otherwise("The ratios follow from α alone: 1/0.31 and 1/2 of Reno's time."),
    },
    "S16": _otherwise(
        "All but Reno+RED are alike. RED keeps the average queue at half a buffer at most, and windows that "
        "Reno's stalls empty then leave the "
        "link idle. It hangs on RED's parameters, which the paper does not state: with a largest probability "
        "of 0.02 most of the loss is gone "
        "(smooth-settings)."
    ),
}
