"""Why claims come out as they do: what differs, what was tried, on which assumption it hangs.

What was tried stands in the sensitivity tables (`fairwave study video --sensitivity`), whose ids are named here.
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


EXPLANATIONS: Mapping[str, Notes] = {}
