"""The first lines of a study's page: the number of claims that hold, and those that do not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairwave.answers.answer import Answer, ClaimLine
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave_study.claims import Judgement
    from fairwave_study.ledger import Ledger


def answer_study(
    ledger: Ledger,
    judgements: Sequence[Judgement],
    replications: int,
    called: tuple[str, str] = ("claim", "claims"),
) -> Answer:
    """How many of a study's claims hold and which do not; over all readings, where those were judged."""
    if not judgements:
        return Answer([f"No {called[0]} was judged: one figure or table was made alone."])
    claims = [
        ClaimLine(
            one.claim.id,
            one.claim.statement,
            str(one.about.verdict) if one.about else one.word,
            one.tone,
            "" if one.about else one.evidence.decided_by(),
        )
        for one in judgements
    ]
    order = ["not_reproduced", "undecided", "alike", "reproduced"]
    claims.sort(key=lambda one: order.index(one.tone))
    counts = Counter(one.tone for one in claims)
    fail, rest, same, hold = (counts[tone] for tone in order)
    alike = f"{_number(same, 'is', 'are')} alike, " if same else ""
    if ledger.exploration is not None:
        readings = len(ledger.exploration.drawn)
        sentence = (
            f"Of {len(claims)} claims {_number(hold, 'holds', 'hold')} in all or most of {readings} readings, "
            f"{_number(fail, 'is', 'are')} contradicted in all or most, {alike}and {_number(rest, 'is', 'are')} open "
            f"or {'hangs' if rest == 1 else 'hang'} on the reading."
        )
    else:
        sentence = (
            f"Of {len(claims)} {called[1]} {_held(hold, judgements)}, {_failed(fail, judgements)} not, {alike}and "
            f"{_number(rest, 'is', 'are')} undecided."
        )
    few = (
        "; with one replication there is no interval, and nothing can be decided" if replications < 2 else ""
    )
    sure = f"Judged by 95 % intervals over {_number(replications, 'replication', 'replications')} per point{few}."
    return Answer([sentence], claims=claims, counts=[(tone, counts[tone]) for tone in order], sure=sure)


def _held(count: int, judgements: Sequence[Judgement]) -> str:
    """Number of claims that hold, or that match the word."""
    if word := judgements[0].claim.words.get(Verdict.REPRODUCED):
        return f"{_number(count, 'is', 'are')} {word}"
    return _number(count, "holds", "hold")


def _failed(count: int, judgements: Sequence[Judgement]) -> str:
    return _number(count, "is", "are") if judgements[0].claim.words else _number(count, "does", "do")


def _number(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
