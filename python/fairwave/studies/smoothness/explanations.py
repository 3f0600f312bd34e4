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
        "The three smoother systems are alike; with ten flows TCP(1.25, 0.25) falls short of them. That "
        "is the paper's own Eq. (13): with a buffer of one bandwidth-delay product a β below 1/2 lets the "
        "queue run empty whenever flows back off together. With NewReno, which backs off once per window "
        "and not once per loss, most of the gap goes (wired-settings)."
    ),
    "S2": _otherwise(
        "The jump is there. But up to 30 flows all windows of 64 segments together fit into path and "
        "buffer, so that nothing is lost, and beyond, with a buffer of one bandwidth-delay product, every "
        "β of 1/2 and more keeps the link busy (Eq. 13): three systems tie and only TCP(1.25, 0.25) is "
        "lower. With a quarter of the buffers the order is the paper's, with wide gaps (tried with 50 "
        "flows; crowded-settings): it hangs on the buffers."
    ),
    "S3": _otherwise(
        "What is left open is the smallest difference in the whole comparison; the gap to the others and "
        "its growth with flows hang on the recovery of losses (wired-settings)."
    ),
    "S4": _otherwise(
        "Up to 30 flows nothing is lost at all. Beyond, the differences stay within a fraction of what "
        "headers cost, but not everywhere within the half percentage point that counts as negligible "
        "here."
    ),
    "S5": _otherwise(
        "The order over the whole range of β is the paper's; neighbours that cannot be told apart differ "
        "by less than the replications do."
    ),
    "S6": _otherwise(
        "At the 100 Mb/s of the text nothing is lost before 20 s, because 25 windows of 64 segments fit "
        "into path and buffer: all four are then the same, and no order can be found. At the 10 Mb/s of "
        "the caption the means before 15 s are in the paper's order. After 20 s newcomers begin in slow "
        "start, up to 64 segments, whatever α and β are, and incumbents lose to them: the most responsive "
        "recovers its fairness no faster than the standard TCP. NewReno's recovery was tried and gives "
        "the same picture (load-settings-growing)."
    ),
    "S7": _otherwise(
        "TCP(0.31, 0.875) takes by far the longest to fill what leavers free, as claimed. The other three "
        "cannot be told apart, since they reach what 64 segments allow within the 5 s. At 10 Mb/s the "
        "link stays full whoever leaves, so there is nothing to recover (load-settings-shrinking)."
    ),
    "S8": {
        Verdict.REPRODUCED: (
            "It hangs on Reno's recovery and ns-2's timers: with NewReno or SACK, which back off once per "
            "window, and with the RFCs' details, where slow timeouts decide, the smoothest keeps its lead "
            "over the most responsive up to 5 % of errors (tried with 10 flows; error-settings)."
        ),
        **_otherwise(
            "It hangs on Reno's recovery, which backs off once per loss, and on ns-2's timers: with "
            "NewReno or SACK, and with the RFCs' details, the smoothest keeps its lead (tried with 10 "
            "flows; error-settings)."
        ),
    },
    "S9": _otherwise(
        "The smoothest has more overhead than the standard and the responsive TCP, by a fraction of a "
        "percentage point and from 3 % of errors on, but not more than its neighbour TCP(0.583, 0.75). It "
        "hangs on Reno's recovery: with SACK, which retransmits only what was lost, there is no order at "
        "all (tried with 10 flows; error-settings)."
    ),
    "S10": {
        Verdict.REPRODUCED: (
            "By 5 % of errors every system fails almost every read: two or three segments per 80 ms "
            "cannot carry 700 kb/s. The fall is thus what each had to lose without errors, and the "
            "smoothest had most; it does not fall below the others by much."
        ),
        **_otherwise("By 5 % of errors every system fails almost every read, so that falls hardly differ."),
    },
    "S11": _otherwise(
        "Fairness falls with the spread for all, as claimed, but the four are the same within a "
        "percentage point, and their order changes with the spread: the smoothest is behind at 50 ms, "
        "where its slow increase takes longest to even out how flows began, and in front at 300 ms. "
        "NewReno, SACK and the RFCs' details do not bring the order out (tried at 50 and 300 ms; "
        "spread-settings)."
    ),
    "S12": _otherwise(
        "Under drop-tail there is no advantage to lose (S11), and under RED, which drops packets by "
        "chance and not in runs, the smoothest is the fairer one: the other way round than claimed. So it "
        "is with NewReno's and SACK's recovery (tried at 300 ms; spread-settings). The paper does not "
        "state RED's parameters, on which it may hang."
    ),
    "S13": _otherwise(
        "Reno+γ has about a third of the CoV of every other TCP here, as claimed, but more than TFRC as "
        "RFC 5348 has it. The paper used ns-2's TFRC of its time, which was not tried. In some "
        "replications Reno+γ's flows share much less evenly than in others, which widens its intervals of "
        "fairness; why was not looked into. RED's parameters and the bins are varied in smooth-settings."
    ),
    "S14": _otherwise(
        "A single flow finds the γ of Eq. (16) to within 1 % (Figure 003-eq16). Among many, flows take "
        "the least round trip that they have met for an empty queue's; where it was not, their γ is "
        "larger. The means lie within a few percent above 2/3, and a few intervals reach beyond 5 %. It "
        "may hang on how flows begin (smooth-settings)."
    ),
    "S15": {
        Verdict.REPRODUCED: (
            "Whichever share of full speed counts as recovered, one round trip makes all four come true: "
            "the ratios follow from α and δ alone."
        ),
        **_otherwise("The ratios follow from α and δ alone: 1/0.31 and 1/2 of Reno's time."),
    },
    "S16": _otherwise(
        "All but Reno+RED are alike. RED keeps the average queue short, and what Reno's stalls leave "
        "unsent then leaves the link idle. It hangs on RED's parameters, which the paper does not state: "
        "with a largest probability of 0.02 most of the loss is gone (tried with 30 flows; "
        "smooth-settings)."
    ),
}
