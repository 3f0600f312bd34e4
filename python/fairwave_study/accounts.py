"""A fair account of a paper, for the top of a study's page: an account that its authors would accept.

The account answers four questions from the judged readings. Which claims hold in every reading? Which hold in the
authors' likely set-up? Which are due to a phase effect, a coarse clock, a definition or another cause outside the
described mechanism? Which hold in no reading? A study only names the likely set-up, with reasons, and the kind of each
factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairwave_study.overall import papers, shares_by_value
from fairwave_study.overview import describe_changes
from fairwave_study.shares import percent

if TYPE_CHECKING:
    from fairwave_study.overall import BestReading, Exploration
    from fairwave_study.study import Study


@dataclass(frozen=True)
class Account:
    """A study's contribution to the account of one paper.

    Attributes:
        paper: The paper's number, "002".
        setup: The authors' likely set-up: factor to value. Missing factors keep the base value.
        why: Reasons why the set-up is likely: the paper's words and the tools of its time.
        words: Additions about a kind of cause (`Factor.kind`), by its name.
        closing: A final paragraph; may be empty.
    """

    paper: str
    setup: Mapping[str, str]
    why: str
    words: Mapping[str, str] = field(default_factory=dict)
    closing: str = ""


@dataclass(frozen=True)
class ToldAccount:
    """The section about a paper, as a page shows it.

    Attributes:
        paper: The paper's number.
        parts: Heading to sentences, in order.
    """

    paper: str
    parts: Mapping[str, Sequence[str]]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "paper": self.paper,
            "parts": [{"heading": heading, "sentences": list(told)} for heading, told in self.parts.items()],
        }


def tell_accounts(study: Study, exploration: Exploration) -> list[ToldAccount]:
    """The accounts of a study, one per paper."""
    claims_of = papers(study, exploration.judged[0])
    return [
        _account(one, study, exploration, claims_of[one.paper])
        for one in study.accounts
        if one.paper in claims_of
    ]


def _account(account: Account, study: Study, exploration: Exploration, claims: Sequence[str]) -> ToldAccount:
    about = exploration.about
    by: dict[str, list[str]] = {}
    for name in claims:
        by.setdefault(about[name].verdict, []).append(name)
    n = len(exploration.drawn)
    always = [
        f"{name}: {_statement(study, name)} ({_reproduced(exploration, name)} of {n} readings)"
        for name in by.get("reproduced", [])
    ]
    if mostly := by.get("reproduced in most readings", []):
        shares = ", ".join(f"{name} ({_reproduced(exploration, name)})" for name in mostly)
        always.append(f"In most readings, more than chance would have it: {shares}.")
    never = [
        f"{name}: {_statement(study, name)} Comes nearest with {about[name].closest}."
        for name in claims
        if about[name].ever == 0
    ]
    parts = {
        "Claims that hold in every reading": always
        or ["No claim is reproduced in 95 % or more of the readings, nor in most."],
        "Claims that hold in the authors' likely set-up": _likely(account, exploration),
    }
    for kind, factors in _kinds(exploration).items():
        lines = _claims_by_kind(exploration, claims, factors)
        if lines or kind in account.words:
            parts[f"Effect of a {kind}"] = [
                *([account.words[kind]] if kind in account.words else []),
                *lines,
            ]
    parts["Claims that hold in no reading"] = never or ["Every claim is reproduced in one reading at least."]
    if account.closing:
        parts["Summary"] = [account.closing]
    return ToldAccount(account.paper, parts)


def _statement(study: Study, name: str) -> str:
    return next(one.statement for one in study.claims if one.id == name)


def _reproduced(exploration: Exploration, name: str) -> str:
    shares = exploration.about[name].shares
    return percent(shares.reproduced, shares.interval("reproduced"))


def _likely(account: Account, exploration: Exploration) -> list[str]:
    setup = exploration.readings.differs(exploration.readings.complete(account.setup))
    named = describe_changes(setup) or "the base reading"
    sentences = [f"The likely set-up: {named}. {account.why}"]
    seeds = ", ".join(map(str, exploration.others))

    def counted(one: BestReading) -> str:
        held = ", ".join(one.claims) or "none"
        against = ", ".join(one.against) or "none"
        return f"{one.held} of {one.of} claims hold ({held}); contradicted: {against}"

    for words, several in (
        ("In the likely set-up", exploration.likely),
        ("In the base reading", exploration.anew),
        ("In the reading with most claims", exploration.best),
    ):
        sentences += [f"{words} {counted(one)}." for one in several if one.paper == account.paper]
    return [*sentences, f"All three were judged on seeds {seeds}, which no other judgement uses."]


def _kinds(exploration: Exploration) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for factor in exploration.readings.factors:
        if factor.kind:
            found.setdefault(factor.kind, []).append(factor.id)
    return found


def _claims_by_kind(exploration: Exploration, claims: Sequence[str], factors: Sequence[str]) -> list[str]:
    """Per factor the claims that it decides, with the share of readings that reproduce them, value by value."""
    lines = []
    for factor in factors:
        decided = [name for name in claims if factor in exploration.about[name].decided.factors]
        told = []
        for name in decided:
            shares = shares_by_value(exploration, name, factor)
            listed = ", ".join(f"{percent(one.reproduced)} with {value}" for value, one in shares.items())
            told.append(f"{name} is reproduced in {listed}")
        if told:
            lines.append(f"{factor}: {'; '.join(told)}.")
    return lines
