"""Requirements: conditions that runs are to meet, judged as *holds*, *fails* or *undecided*, for people and for CI.

A condition holds if the whole 95 % interval of the mean meets it, and fails if none of the interval does. Otherwise it
is undecided, as it is after a single run. A live run is one run that nothing repeats: its own value is judged.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast
from xml.etree import ElementTree as ET

from fairwave.answers.bands import runs_to_decide
from fairwave.ask.wording import RATES, SIZES, TIMES, AskError, Condition, Sign, condition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fairwave.ask.finding import Answer
    from fairwave.measuring.statistics import Interval
    from fairwave.results import Results
    from fairwave.scenario import Scenario

Verdict = Literal["holds", "fails", "undecided"]

STATUS: dict[Verdict, int] = {"holds": 0, "fails": 3, "undecided": 4}
"""Exit status of a command whose requirements came to this."""


@dataclass(frozen=True)
class Requirement:
    """A condition and what runs say of it.

    Attributes:
        condition: As it was written.
        verdict: What became of it.
        found: The mean with its interval, or what a search found.
        alternative: Which alternative of a comparison it is about; empty without one.
        advice: What may decide it, or why nothing does; empty where it is decided.
        interval: Mean and interval; none for the limit of a search.
    """

    condition: str
    verdict: Verdict
    found: str
    alternative: str = ""
    advice: str = ""
    interval: Interval | None = None

    @property
    def name(self) -> str:
        """The condition with its alternative."""
        return f"{self.condition} [{self.alternative}]" if self.alternative else self.condition

    def __str__(self) -> str:
        """The requirement in a sentence."""
        return f"{self.name}: {self.verdict} ({self.found}).{f' {self.advice}' if self.advice else ''}"

    def to_dict(self) -> dict[str, Any]:
        """As plain data; ends that do not exist are null."""
        ends = [self.interval.low, self.interval.high] if self.interval else [None, None]
        mean = self.interval.mean if self.interval else None
        return {
            "condition": self.condition,
            "alternative": self.alternative or None,
            "verdict": self.verdict,
            "found": self.found,
            "mean": _finite(mean),
            "interval": [_finite(end) for end in ends],
            "advice": self.advice or None,
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def read(texts: Iterable[str], scenario: Scenario | None) -> list[Condition]:
    """Reads requirements.

    Raises:
        AskError: One is no condition, or names a measure, a flow group or a link that is not there.
    """
    return [condition(text, scenario) for text in texts]


def judge(wanted: Condition, cell: Interval, alternative: str = "", *, alone: bool = False) -> Requirement:
    """Judges a condition by a mean.

    Args:
        wanted: The condition.
        cell: The mean with its 95 % interval.
        alternative: Which alternative it is of.
        alone: Judge the value of a single run, as for a live run.
    """
    unit = f" {wanted.of.measure.unit}".rstrip()
    if cell.n == 0:
        why = "The measure is not defined in these runs."
        return Requirement(str(wanted), "undecided", "not defined", alternative, why, cell)
    if cell.n == 1:
        found = f"{cell}{unit}"
        if alone:
            met = _meets(cell.mean, wanted.sign, wanted.bound)
            return Requirement(str(wanted), "holds" if met else "fails", found, alternative, interval=cell)
        left_out = "the others do not define it" if cell.undefined else "try `-n 10`"
        why = f"One run does not show how sure this is: {left_out}."
        return Requirement(str(wanted), "undecided", found, alternative, why, cell)
    found = f"{cell}{unit}"
    ends = [_meets(end, wanted.sign, wanted.bound) for end in (cell.low, cell.high)]
    if all(ends):
        return Requirement(str(wanted), "holds", found, alternative, interval=cell)
    if not any(ends):
        return Requirement(str(wanted), "fails", found, alternative, interval=cell)
    enough = runs_to_decide(cell, [wanted.bound])
    why = (
        f"Try `-n {enough}`." if enough else "The mean lies too close to the bound to decide with 1000 runs."
    )
    return Requirement(str(wanted), "undecided", found, alternative, why, cell)


def _meets(value: float, sign: Sign, bound: float) -> bool:
    return {">=": value >= bound, "<=": value <= bound, ">": value > bound, "<": value < bound}[sign]


def of_results(
    wanted: Sequence[Condition], results: Results, axis: str = "", *, alone: bool = False
) -> list[Requirement]:
    """Judges conditions by runs, at each alternative of an axis."""
    found = []
    for one in wanted:
        measured = one.of.measure.over(results)
        if not axis:
            found.append(judge(one, measured.interval(), alone=alone))
            continue
        found += [
            judge(one, measured.interval(**{axis: label}), str(label), alone=alone)
            for label in measured.labels(axis)
        ]
    return found


@dataclass(frozen=True)
class LimitCondition:
    """What the limit of a search is to meet: `flow.voice.count >= 20`.

    Attributes:
        text: As written.
        sign: How it is compared.
        bound: With what, in base units (s, b/s, B) or as a plain number.
    """

    text: str
    sign: Sign
    bound: float


def split(texts: Iterable[str], key: str, scenario: Scenario) -> tuple[list[LimitCondition], list[Condition]]:
    """Reads the requirements of a search: those of its limit, which name the key, and those of measures at the limit.

    Raises:
        AskError: One is neither.
    """
    limits, others = [], []
    for text in texts:
        found = re.fullmatch(r"\s*(.+?)\s*(>=|<=|≥|≤|>|<)\s*(.+?)\s*", text)
        if not found or found[1] != key:
            others.append(condition(text, scenario))
            continue
        sign = {"≥": ">=", "≤": "<="}.get(found[2], found[2])
        bound = amount(found[3])
        if bound is None:
            raise AskError(f"{text!r} has no number behind {found[2]}; write for example '{key} >= 20'")
        limits.append(LimitCondition(f"{key} {sign} {found[3]}", cast("Sign", sign), bound))
    return limits, others


def amount(label: Any) -> float | None:
    """A value of a search as a number in base units; none for a text that is no quantity."""
    if isinstance(label, (int, float)) and not isinstance(label, bool):
        return float(label)
    found = re.fullmatch(r"\s*(-?\d*\.?\d+(?:e-?\d+)?)\s*([A-Za-z/]*)\s*", str(label))
    if not found:
        return None
    if not found[2]:
        return float(found[1])
    for kind in (TIMES, RATES, SIZES):
        if found[2] in kind:
            return float(found[1]) * kind[found[2]]
    return None


def of_limit(wanted: LimitCondition, answer: Answer) -> Requirement:
    """Judges what the limit of a search is to meet: the limit lies between what holds and what fails."""
    holds, fails = (None if one is None else amount(one) for one in (answer.holds, answer.fails))
    # The limit lies from `low` to `high`; where nothing was found on a side it may be anywhere there.
    low, high = (holds, fails) if answer.upwards else (fails, holds)
    low, high = (-math.inf if low is None else low), (math.inf if high is None else high)
    verdict: Verdict = "undecided"
    if wanted.sign in {">=", ">"}:
        if _meets(low, wanted.sign, wanted.bound):
            verdict = "holds"
        elif high <= wanted.bound:
            verdict = "fails"
    elif _meets(high, wanted.sign, wanted.bound):
        verdict = "holds"
    elif low >= wanted.bound:
        verdict = "fails"
    said = [f"holds at {answer.holds}"] if answer.holds is not None else []
    said += [f"fails at {answer.fails}"] if answer.fails is not None else []
    found = f"{answer.condition} {' and '.join(said)}" if said else f"{answer.condition} is open throughout"
    advice = "Try a larger `--most`, or a wider range." if verdict == "undecided" else ""
    return Requirement(wanted.text, verdict, found, advice=advice)


def overall(found: Sequence[Requirement]) -> Verdict:
    """All together: one that fails decides, then one that is undecided."""
    each = {one.verdict for one in found}
    return "fails" if "fails" in each else "undecided" if "undecided" in each else "holds"


def write_junit(path: Path, suite: str, found: Sequence[Requirement]) -> None:
    """Writes requirements as JUnit XML: a test case each; what fails is a failure, what is undecided an error."""
    from fairwave.staging import write_text

    count = {verdict: sum(one.verdict == verdict for one in found) for verdict in STATUS}
    totals = {
        "name": suite, "tests": str(len(found)), "failures": str(count["fails"]), "errors": str(count["undecided"]),
    }  # fmt: skip
    root = ET.Element("testsuites")
    top = ET.SubElement(root, "testsuite", totals)
    for one in found:
        case = ET.SubElement(top, "testcase", {"classname": suite, "name": _printable(one.name), "time": "0"})
        if one.verdict != "holds":
            kind = "failure" if one.verdict == "fails" else "error"
            words = {"type": one.verdict, "message": _printable(str(one))}
            ET.SubElement(case, kind, words).text = _printable(str(one))
    ET.indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ET.tostring(root, encoding="unicode")
    write_text(path, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


def _printable(text: str) -> str:
    """Text without the control characters that XML does not have."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "�", text)
