"""The smallest difference of each measure that counts, and the three ways in which two values compare.

Many runs make any difference significant. A difference of 0.01 MOS is then certain, and no user notices it. Each
measure therefore has a smallest difference d that counts. The interval of the paired difference decides:

- *higher* or *lower*: the whole interval is at d or beyond;
- *alike*: the whole interval is below d on both sides;
- *undecided*: anything else. The difference may be significant and still not count.

:data:`TABLE` has d for every measure. `--relevant 'mos=0.2'` and, in Python, `relevant={"mos": 0.2}` change it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from fairwave.errors import UserError
from fairwave.measuring.statistics import LEVEL, interval, paired

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairwave.measuring.measures import Measure
    from fairwave.measuring.statistics import Interval

Outcome = Literal["higher", "lower", "alike", "undecided"]
"""Result of the comparison of two values."""


@dataclass(frozen=True)
class Relevant:
    """A smallest difference that counts.

    Attributes:
        amount: In its unit, or a share of the larger of two means.
        unit: Its unit; empty for plain numbers and shares.
        is_share: Whether it is a share.
    """

    amount: float
    unit: str = ""
    is_share: bool = False

    def difference(self, *means: float) -> float:
        """The difference that counts between these means, in its unit."""
        return self.amount * max((abs(mean) for mean in means), default=0.0) if self.is_share else self.amount

    def convert(self, unit: str) -> Relevant:
        """The same in another unit of its kind."""
        if self.is_share or self.unit in {"", unit}:
            return self
        from fairwave.ask.wording import RATES, TIMES

        kind = next(kind for kind in (TIMES, RATES) if {self.unit, unit} <= set(kind))
        return Relevant(self.amount * kind[self.unit] / kind[unit], unit)

    def __str__(self) -> str:
        """In words: `0.1`, `10 ms`, `0.5 points` of a percentage, `2 %` of the larger value."""
        if self.is_share:
            return f"{100 * self.amount:g} %"
        return f"{self.amount:g} {'points' if self.unit == '%' else self.unit}".rstrip()


ANY = Relevant(0.0)
"""Every difference counts."""


@dataclass(frozen=True)
class RelevanceRow:
    """A row of the table.

    Attributes:
        name: Name for changes by the user: `mos`.
        relevant: The smallest difference that counts.
        ids: Measures that have this row.
        units: Units whose other measures have this row.
        why: The reason.
    """

    name: str
    relevant: Relevant
    ids: tuple[str, ...]
    units: tuple[str, ...]
    why: str


TABLE: tuple[RelevanceRow, ...] = (
    RelevanceRow(
        "mos", Relevant(0.1),
        ("mos", "worst-mos", "session-mos", "audio-mos", "video-mos", "conversation-mos", "conversation-mos-mean"), (),
        "Listening tests with some tens of people do not resolve less.",
    ),
    RelevanceRow("r-factor", Relevant(2), ("r-factor",), (), "At R 70, 2 points of R are 0.1 MOS (ITU-T G.107)."),
    RelevanceRow("qoo", Relevant(2), ("qoo",), (), "2 of 100 points."),
    RelevanceRow(
        "delay", Relevant(10, "ms"), ("delay",), ("ms",), "10 ms cost 0.24 points of R (ITU-T G.107, below 177 ms).",
    ),
    RelevanceRow(
        "jitter", Relevant(2.5, "ms"), ("jitter",), (),
        "A jitter buffer holds about four times the jitter, so 2.5 ms are 10 ms of delay.",
    ),
    RelevanceRow(
        "loss", Relevant(0.5, "%"), ("loss",), ("%",), "Half of the 1 % that ITU-T G.1010 allows video.",
    ),
    RelevanceRow(
        "index", Relevant(0.005), ("index-delay", "index-gap", "index-excess-gap", "index-sequence"), (),
        "0.5 % of the packets, as of loss.",
    ),
    RelevanceRow(
        "fairness", Relevant(0.01), ("fairness", "worst-case-fairness", "short-term-fairness"), (),
        "One of 100 flows without a share.",
    ),
    RelevanceRow(
        "silence", Relevant(0.1, "s"), ("silence", "without-video", "longest-without-video"), ("s",),
        "A fifth of the gap of 0.5 s that interrupts a call.",
    ),
    RelevanceRow("freezes", Relevant(0.5), ("freezes", "stalls", "switches"), ("/min", "/h"), "Half an event."),
    RelevanceRow(
        "goodput", Relevant(0.02, is_share=True), ("goodput",), ("Mb/s", "kb/s"),
        "Headers and the ends of a run move a goodput by about as much.",
    ),
    RelevanceRow(
        "completion", Relevant(0.02, is_share=True),
        ("completion", "completion-median", "completion-p95", "start-up"), (), "As of goodput.",
    ),
    RelevanceRow("other", Relevant(0.02, is_share=True), (), (), "As of goodput."),
)  # fmt: skip
"""Smallest differences that count. A measure without a row has the row of its scale or unit, or else *other*."""

ROWS = {row.name: row for row in TABLE}

_OF_ID = {one: row for row in TABLE for one in row.ids}
_OF_UNIT = {one: row for row in TABLE for one in row.units}


def row_of(measure: Measure) -> RelevanceRow:
    """The table row of a measure."""
    named = _OF_ID.get(measure.id) or ROWS.get(measure.scale)
    return named or _OF_UNIT.get(measure.unit) or ROWS["other"]


class RelevanceError(UserError, ValueError):
    """A difference that cannot be read; the message gives the remedy."""


@dataclass(frozen=True)
class Relevance:
    """The table with the user's changes.

    Attributes:
        changes: Name of a row or id of a measure to its smallest difference.
    """

    changes: Mapping[str, Relevant] = field(default_factory=dict)

    def find(self, measure: Measure) -> Relevant:
        """The smallest difference of a measure that counts; a change of the measure precedes one of its row."""
        row = row_of(measure)
        found = self.changes.get(measure.id) or self.changes.get(row.name) or row.relevant
        return found.convert(measure.unit)

    def named(self, measures: Iterable[Measure]) -> dict[str, str]:
        """Name of the row, or of the measure that was changed alone, to its difference in words."""
        found: dict[str, str] = {}
        for one in measures:
            row = row_of(one)
            name = one.id if one.id in self.changes else row.name
            found.setdefault(name, str(self.changes.get(name) or row.relevant))
        return found


USUAL = Relevance()
"""The table without changes."""

EXAMPLE = "for example 'mos=0.2', 'delay=20 ms', 'loss=1 %' or 'goodput=5 %'"


def relevance(given: Iterable[str] | Mapping[str, float | str] | Relevance | None) -> Relevance:
    """Reads changes: texts in the form of `--relevant`, or a mapping of names to numbers or texts.

    Raises:
        RelevanceError: One cannot be read, or does not name a measure; the message gives the remedy.
    """
    if given is None or isinstance(given, Relevance):
        return given or USUAL
    if isinstance(given, Mapping):
        pairs = [(str(name), str(value)) for name, value in given.items()]
    else:
        pairs = []
        for text in [given] if isinstance(given, str) else given:
            name, equals, value = str(text).partition("=")
            if not equals:
                raise RelevanceError(
                    f"a smallest difference that counts is MEASURE=DIFFERENCE, not {text!r}; {EXAMPLE}"
                )
            pairs.append((name.strip(), value.strip()))
    changes: dict[str, Relevant] = {}
    for name, value in pairs:
        key, row, unit = _meant(name)
        if key in changes:
            raise RelevanceError(f"{name} has two smallest differences; give one")
        changes[key] = _amount(name, value, row, unit)
    return Relevance(changes)


def _meant(name: str) -> tuple[str, RelevanceRow, str]:
    """Resolves a name: the row's name or the measure's id, the row, and the unit of plain numbers."""
    from fairwave.measuring import measures

    if name in ROWS:
        unit = measures.find(name).unit if name in measures.STANDARD else ""
        return name, ROWS[name], unit
    try:
        found = measures.find(name)
    except KeyError:
        from difflib import get_close_matches

        near = get_close_matches(name, [*ROWS, *measures.STANDARD], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise RelevanceError(
            f"no measure {name!r} for a smallest difference that counts; there are {', '.join(ROWS)}, and each measure "
            f"of `fairwave list measures`{hint}"
        ) from None
    return found.id, row_of(found), found.unit


def _amount(name: str, text: str, row: RelevanceRow, unit: str) -> Relevant:
    """Reads `0.2`, `20 ms`, `1 %` (points, if the measure is in %) or `5 %` (of the larger value)."""
    from fairwave.ask.wording import RATES, TIMES

    found = re.fullmatch(r"(\d*\.?\d+(?:e-?\d+)?)\s*(\S*)", text.strip())
    if not found:
        raise RelevanceError(f"{name}={text} is no difference of 0 or more; {EXAMPLE}")
    amount, given = float(found[1]), found[2]
    if unit == "%":
        if given in {"", "%", "points"}:
            return Relevant(amount, "%")
    elif given == "%":
        return Relevant(amount / 100, is_share=True)
    elif given in {"", unit}:
        if not given and row.relevant.is_share and amount:
            usual = f"{name}={row.relevant}"
            raise RelevanceError(f"{name}={text} has no unit; write a share of the larger value: '{usual}'")
        return Relevant(amount, unit)
    units = {unit, *row.units} - {""}
    if units and any({given} | units <= set(kind) for kind in (TIMES, RATES)):
        return Relevant(amount, given)
    raise RelevanceError(
        f"{name} is in {unit or ' or '.join(row.units) or 'no unit'}, not in {given}; {EXAMPLE}"
    )


def outcome(difference: Interval, relevant: float) -> Outcome:
    """Compares the first of two values with the second, by the interval of their difference.

    Args:
        difference: Paired difference of the two.
        relevant: The smallest difference that counts, in the same unit; with 0 any difference counts.
    """
    if difference.n < 2:
        return "undecided"
    if difference.low > 0 and difference.low >= relevant:
        return "higher"
    if difference.high < 0 and difference.high <= -relevant:
        return "lower"
    if (-relevant < difference.low and difference.high < relevant) or difference.low == 0 == difference.high:
        return "alike"
    return "undecided"


@dataclass(frozen=True)
class Contrast:
    """Two values of a measure, compared.

    Attributes:
        difference: The first less the second, paired by seed.
        relevant: The smallest difference that counts.
        counts: The same in the measure's unit, between these two.
    """

    difference: Interval
    relevant: Relevant
    counts: float

    @property
    def outcome(self) -> Outcome:
        """Result of the comparison of the first with the second."""
        return outcome(self.difference, self.counts)

    @property
    def is_little(self) -> bool:
        """Whether the mean difference does not count, regardless of its interval."""
        return abs(self.difference.mean) < self.counts or self.difference.mean == 0

    def turned(self) -> Contrast:
        """The second compared with the first."""
        one = self.difference
        return replace(self, difference=replace(one, mean=-one.mean, low=-one.high, high=-one.low))


def contrast(ours: ArrayLike, theirs: ArrayLike, relevant: Relevant, level: float = LEVEL) -> Contrast:
    """Compares two alternatives.

    Args:
        ours: One number per seed.
        theirs: One number per seed, in the same order of seeds.
        relevant: The smallest difference that counts.
        level: Confidence level in (0, 1).
    """
    means = [interval(one).mean for one in (ours, theirs)]
    defined = [mean for mean in means if not math.isnan(mean)]
    return Contrast(paired(ours, theirs, level), relevant, relevant.difference(*defined))


def note(named: Mapping[str, str]) -> str:
    """The sentence below a table; empty without measures."""
    if not named:
        return ""
    listed = ", ".join(f"{name} {words}" for name, words in named.items())
    return f"Differences count from: {listed} (`--relevant` changes them)."
