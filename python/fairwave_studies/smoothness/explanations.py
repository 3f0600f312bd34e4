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
        "The three smoother systems are alike; with ten flows TCP(1.25, 0.25) falls short of them. That is "
        "the paper's own "
        "Eq. (13): with a buffer of one bandwidth-delay product a β below 1/2 lets the queue run empty "
        "whenever flows back "
        "off together. NewReno, which backs off once per window and not once per loss, narrows the gap and "
        "does not close "
        "it (tried: " + _repeat('{"recovery": "newreno"}') + ")."
    ),
    "S2": _otherwise(
        "As long as all windows of 64 kB together fit into path and buffer nothing is ever lost, and "
        "beyond, with a buffer of one bandwidth-delay product, every β of 1/2 and more keeps the link busy "
        "(Eq. 13)."
    ),
    "S6": _otherwise(
        "After 20 s newcomers begin in slow start, up to 64 segments, whatever α and β are, and incumbents "
        "lose to them. At 100 Mb/s (the text's rate, shown beside it) nothing is lost before 20 s, so that "
        "all four are the same."
    ),
    "S7": _otherwise(
        "TCP(0.31, 0.875) takes by far the longest to fill what leavers free, as claimed; the others reach "
        "what 64 kB allow within the 5 s."
    ),
    "S9": _otherwise(
        "Under errors every system's window is small, and overheads differ by fractions of a percentage "
        "point. Which is "
        "highest hangs on how soon a sender that lost its last segments sends again: with a least timeout "
        "of 200 ms the "
        "smoothest comes nearer to the top (tried: " + _repeat('{"version": "ns2"}') + ")."
    ),
    "S15": {
        Verdict.REPRODUCED: (
            "The blackout holds several timeouts, which bring window and threshold to their minimum; from "
            "there the ratios follow from α and δ alone."
        ),
        **_otherwise(
            "With a least timeout of 1 s a single timeout falls to a blackout of 1 s: the threshold is "
            "halved and not brought to its minimum, as §IV says it is, and slow start makes up for half of "
            "the way. With ns-2.35's 200 ms all times come true (tried: "
            + _repeat('{"version": "ns2"}')
            + "): by its own words the paper's Figure 20 was made with "
            "a shorter timeout than ns-2's default when it was handed in."
        ),
    },
    "S19": _otherwise(
        "Most interruptions of 500 ms on average cost a timeout, after which α decides, as the paper says "
        "of longer ones. Its sentence is about a stretch of one run in which interruptions happened to be "
        "short."
    ),
    "S23": _otherwise(
        "TFRC is smoother still. ns-2.35's timers do not change it (tried: "
        + _repeat('{"version": "ns2"}')
        + ")."
    ),
}
