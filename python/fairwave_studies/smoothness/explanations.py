"""Why claims come out as they do, and which factors to turn to see it.

What was tried was tried at the points of the essential study, and is repeated by the command that stands beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave_study.study import Data

    Notes = Mapping[Verdict, str | Callable[[Data], str]]


def _otherwise(words: str) -> Notes:
    """For whatever verdict is not the paper's."""
    return {Verdict.NOT_REPRODUCED: words, Verdict.UNDECIDED: words}


def _repeat(reading: str) -> str:
    """The command that repeats a trial."""
    return f"`fairwave study smoothness --reading FILE`, FILE being `{reading}`"


EXPLANATIONS: Mapping[str, Notes] = {
    "S1": _otherwise(
        "The three smoother systems are alike; with ten flows TCP(1.25, 0.25) falls short of them. That is the "
        "paper's own Eq. (13): with a buffer of one bandwidth-delay product a β below 1/2 lets the queue run empty "
        "whenever flows back off together (why-S1)."
    ),
    "S2": _otherwise(
        "As long as all windows of 64 kB together fit into path and buffer nothing is ever lost, and beyond, with a "
        "buffer of one bandwidth-delay product, every β of 1/2 and more keeps the link busy (Eq. 13; why-S2)."
    ),
    "S6": _otherwise(
        "After 20 s a share of 10 Mb/s is a packet or two per round trip, and timeouts decide it; newcomers begin in "
        "slow start whatever α and β are (why-S6). At 100 Mb/s (the text's rate, shown beside it) nothing is lost "
        "before 20 s, so that all four are the same."
    ),
    "S7": _otherwise(
        "TCP(0.31, 0.875) takes by far the longest to fill what leavers free, as claimed; the others reach what 64 kB "
        "allow within the 5 s."
    ),
    "S9": _otherwise(
        "Under errors every system's window is small, and overheads differ by fractions of a percentage point. Which "
        "is highest hangs on how soon a sender that lost its last segments sends again: try "
        + _repeat('{"version": "ns2"}')
        + ", which has a least timeout of 200 ms."
    ),
    "S11": _otherwise(
        "Reno's timeouts cost most where round trips are long, and a small α is slow to make up for them; with SACK, "
        "which has few, smooth TCP is slightly fairer (why-S11)."
    ),
    "S15": {
        Verdict.REPRODUCED: (
            "The blackout holds several timeouts, which bring window and threshold to their minimum; from there the "
            "ratios follow from α and δ alone."
        ),
        **_otherwise(
            "With a least timeout of 1 s a single timeout falls to a blackout of 1 s: the threshold is halved and not "
            "brought to its minimum, as §IV says it is, and slow start makes up for half of the way (why-S15)."
        ),
    },
    "S19": _otherwise(
        "With Reno's recovery even a short interruption costs a timeout, because it takes several segments of a "
        "window, and after a timeout α decides; with SACK it does not (why-S19)."
    ),
    "S20": _otherwise(
        "With jitter RED and drop-tail share alike among spread round trips. Without it drop-tail is a phase effect "
        "at work, and RED, which breaks it, is the fairer of the two (why-S20)."
    ),
    "S23": _otherwise(
        "TFRC averages over loss intervals and has no sawtooth; γ's is seen in bins of 500 ms, and levelled out in "
        "longer ones (why-S23)."
    ),
    "S36": _otherwise(
        "Before the blackout γ keeps its window close to what the path alone holds, and Reno's is a quarter larger. "
        "Where a single timeout falls to the blackout, half of each is left, and γ has further to go; where several "
        "do, both begin at the minimum (why-S15)."
    ),
}
