"""Requirements: conditions on runs, judged as *holds*, *fails* or *undecided*, for people and for CI.

A condition holds if the whole 95 % interval of the mean meets it, and fails if none of the interval does. Otherwise it
is undecided; a single run always is. A live run cannot be repeated, so its single value is judged.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast
from xml.etree import ElementTree as ET

from fairwave.answers.bands import runs_to_decide
from fairwave.ask.wording import RATES, SIZES, TIMES, AskError, Condition, Sign, condition
from fairwave.measuring.relevance import USUAL, Relevance
from fairwave.measuring.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from fairwave.ask.finding import Answer
    from fairwave.measuring.statistics import Interval
    from fairwave.results import Results
    from fairwave.scenario import Scenario

Verdict = Literal["holds", "fails", "undecided"]

STATUS: dict[Verdict, int] = {"holds": 0, "fails": 3, "undecided": 4}
"""Exit status of a command for each verdict on its requirements."""


@dataclass(frozen=True)
class Requirement:
    """A condition with its verdict.

    Attributes:
        condition: The condition as written.
        verdict: The verdict.
        found: The mean with its interval, or the result of a search.
        alternative: The alternative of a comparison; empty without one.
        advice: How to decide it, or why nothing can; empty if it is decided.
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
        mean = self.interval.mean if self.interval else None
        return {
            "condition": self.condition,
            "alternative": self.alternative or None,
            "verdict": self.verdict,
            "found": self.found,
            "mean": _finite(mean),
            "interval": self.interval.ends if self.interval else [None, None],
            "identical": bool(self.interval and self.interval.is_identical),
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


def judge(
    wanted: Condition,
    cell: Interval,
    alternative: str = "",
    *,
    alone: bool = False,
    relevance: Relevance = USUAL,
) -> Requirement:
    """Judges a condition by a mean.

    Args:
        wanted: The condition.
        cell: The mean with its 95 % interval; next to a baseline, the interval of `Condition.beyond`.
        alternative: The alternative that was measured.
        alone: Judge the value of a single run, which cannot be repeated.
        relevance: The smallest differences that count; they change the advice, not the bound.
    """
    if cell.n == 0:
        why = "The measure is not defined in these runs."
        return Requirement(str(wanted), "undecided", "not defined", alternative, why, cell)
    found = _shown(wanted, cell)
    if cell.n == 1:
        if alone:
            met = _meets(cell.mean, wanted.sign, wanted.line)
            return Requirement(str(wanted), "holds" if met else "fails", found, alternative, interval=cell)
        left_out = "the others do not define it" if cell.undefined else "try `-n 10`"
        why = f"One run does not show how sure this is: {left_out}."
        return Requirement(str(wanted), "undecided", found, alternative, why, cell)
    ends = [_meets(end, wanted.sign, wanted.line) for end in (cell.low, cell.high)]
    if all(ends):
        return Requirement(str(wanted), "holds", found, alternative, interval=cell)
    if not any(ends):
        return Requirement(str(wanted), "fails", found, alternative, interval=cell)
    counts = relevance.find(wanted.of.measure)
    enough = runs_to_decide(cell, [wanted.line])
    # A share refers to the value itself, which a difference from a baseline does not show.
    least = 0.0 if counts.is_share and wanted.has_baseline else counts.difference(cell.mean, wanted.line)
    if max(cell.high - wanted.line, wanted.line - cell.low) < least:
        what = "Difference" if wanted.has_baseline else "Mean"
        why = f"{what} and bound are alike: differences count from {counts}."
    elif enough:
        why = f"Try `-n {enough}`."
    else:
        why = "The mean lies too close to the bound to decide with 1000 runs."
    return Requirement(str(wanted), "undecided", found, alternative, why, cell)


def _meets(value: float, sign: Sign, bound: float) -> bool:
    return {">=": value >= bound, "<=": value <= bound, ">": value > bound, "<": value < bound}[sign]


def _shown(wanted: Condition, cell: Interval) -> str:
    """A mean with its unit; next to a baseline, the difference."""
    text = f"{cell} {wanted.of.measure.unit}".rstrip()
    if not wanted.has_baseline:
        return text
    beside = str(wanted).rpartition(f" {wanted.sign} ")[2] if wanted.is_share else "baseline"
    return f"{'+' if cell.mean > 0 else ''}{text} from {beside}"


def judge_results(
    wanted: Sequence[Condition],
    results: Results,
    *,
    alone: bool = False,
    baseline: Results | None = None,
    relevance: Relevance = USUAL,
) -> list[Requirement]:
    """Judges conditions by runs, at each point of the varied parameters.

    Args:
        wanted: The conditions.
        results: The runs.
        alone: Judge the value of a single run, which cannot be repeated.
        baseline: Runs with which conditions compare; by default the first point.
        relevance: The smallest differences that count; they change the advice, not the bound.
    """
    found = []
    for one in wanted:
        measured = one.of.measure.compute(results)
        points = measured.points()
        names = [point_name(point) for point in points]
        if not one.has_baseline:
            cells = [measured.interval(**point) for point in points]
            found += [
                judge(one, cell, name, alone=alone, relevance=relevance)
                for cell, name in zip(cells, names, strict=True)
            ]
            continue
        if baseline is None and len(points) < 2:
            raise AskError(
                f"'{one}' needs a baseline: write --baseline old.toml, or compare old.toml with new.toml"
            )
        base = (
            measured.map_seeds(**points[0])
            if baseline is None
            else one.of.measure.compute(baseline).map_seeds()
        )
        for point, name in list(zip(points, names, strict=True))[0 if baseline is not None else 1 :]:
            ours = measured.map_seeds(**point)
            both = sorted(ours.keys() & base.keys())
            beyond = one.excess([ours[seed] for seed in both], [base[seed] for seed in both])
            found.append(judge(one, interval(beyond), name, relevance=relevance))
    return found


def point_name(point: Mapping[str, Any]) -> str:
    """Names a point: its label, or each key with its value if several keys vary."""
    from fairwave.answers.naming import short_key

    if len(point) == 1:
        return str(next(iter(point.values())))
    return ", ".join(f"{short_key(key)} = {label}" for key, label in point.items())


@dataclass(frozen=True)
class KeyCondition:
    """A bound on the key of a search, `flow.voice.count >= 20`: the search's conditions must hold at such a value.

    Attributes:
        text: As written.
        sign: The comparison.
        bound: The bound, in base units (s, b/s, B) or as a plain number.
    """

    text: str
    sign: Sign
    bound: float


def split(texts: Iterable[str], key: str, scenario: Scenario) -> tuple[list[KeyCondition], list[Condition]]:
    """Reads the requirements of a search: those on its key, and those on measures at the limit of its conditions.

    Raises:
        AskError: One is neither.
    """
    from fairwave.runs.axes import tied

    keys, others = [], []
    for text in texts:
        found = re.fullmatch(r"\s*(.+?)\s*(>=|<=|≥|≤|>|<)\s*(.+?)\s*", text)
        if not found or not set(tied(found[1])) <= set(tied(key)):
            others.append(condition(text, scenario))
            continue
        sign = {"≥": ">=", "≤": "<="}.get(found[2], found[2])
        bound = amount(found[3])
        if bound is None:
            raise AskError(f"{text!r} has no number behind {found[2]}; write for example '{found[1]} >= 20'")
        keys.append(KeyCondition(f"{found[1]} {sign} {found[3]}", cast("Sign", sign), bound))
    return keys, others


def amount(label: Any) -> float | None:
    """A value of a search as a number in base units; None for a text that is not a quantity."""
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


def judge_key(wanted: KeyCondition, answer: Answer) -> Requirement:
    """Judges whether the conditions of a search hold at some value that meets a bound on the key.

    It holds if a value that meets the bound is settled to hold. Otherwise it is undecided if such a value may hold:
    one that is open, one between a value that holds and the next that fails, or one beyond an end of the range that
    does not fail.
    """
    way = 1.0 if wanted.sign.startswith(">") else -1.0
    tried = sorted((way * (amount(one.value) or 0.0), one.verdict) for one in answer.tested)
    bound, strict = way * wanted.bound, "=" not in wanted.sign
    settled = [value for value, what in tried if what == "holds"]
    # Beyond the last value that does not fail, values up to the next one may hold; beyond the range, all of them.
    alive = [at for at, (_, what) in enumerate(tried) if what != "fails"]
    beyond = [value for value, _ in tried[alive[-1] + 1 :]] if alive else [-math.inf]
    fails_from = beyond[0] if beyond else math.inf
    verdict: Verdict = "fails"
    if settled and (settled[-1] > bound or (settled[-1] == bound and not strict)):
        verdict = "holds"
    elif bound < fails_from:
        verdict = "undecided"
    where = " and ".join(map(str, answer.regions))
    found = (
        f"{answer.condition} holds on {where}" if where else f"{answer.condition} {NOWHERE[answer.verdict]}"
    )
    advice = _more(answer) if verdict == "undecided" else ""
    return Requirement(wanted.text, verdict, found, advice=advice)


def judge_without_limit(wanted: Condition, answer: Answer) -> Requirement:
    """Judges a measure at the limit of a search that found no value at which its conditions hold."""
    found = f"{answer.condition} {NOWHERE[answer.verdict]}"
    if answer.verdict == "fails":
        return Requirement(str(wanted), "fails", found)
    return Requirement(str(wanted), "undecided", found, advice=_more(answer))


def _more(answer: Answer) -> str:
    """Returns advice that may decide a search."""
    if not answer.open:
        return "Try a wider range."
    return f"Try `--most {answer.enough}`." if answer.enough else "Try a larger `--most`."


NOWHERE = {"fails": "holds nowhere", "open": "is undecided"}
"""Wording for a search without a region."""


def overall(found: Sequence[Requirement]) -> Verdict:
    """Combines verdicts: a failing one decides, then an undecided one."""
    each = {one.verdict for one in found}
    return "fails" if "fails" in each else "undecided" if "undecided" in each else "holds"


def write_junit(path: Path, suite: str, found: Sequence[Requirement]) -> None:
    """Writes requirements as JUnit XML, a test case each. Failed ones are failures, undecided ones errors."""
    write_suites(path, {suite: found})


def write_suites(path: Path, suites: Mapping[str, Sequence[Requirement]]) -> None:
    """Writes the requirements of several suites as JUnit XML."""
    from fairwave.staging import write_text

    root = ET.Element("testsuites")
    for suite, found in suites.items():
        count = {verdict: sum(one.verdict == verdict for one in found) for verdict in STATUS}
        totals = {
            "name": _printable(suite), "tests": str(len(found)), "failures": str(count["fails"]),
            "errors": str(count["undecided"]),
        }  # fmt: skip
        top = ET.SubElement(root, "testsuite", totals)
        for one in found:
            words = {"classname": _printable(suite), "name": _printable(one.name), "time": "0"}
            case = ET.SubElement(top, "testcase", words)
            if one.verdict != "holds":
                kind = "failure" if one.verdict == "fails" else "error"
                words = {"type": one.verdict, "message": _printable(str(one))}
                ET.SubElement(case, kind, words).text = _printable(str(one))
    ET.indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ET.tostring(root, encoding="unicode")
    write_text(path, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


def _printable(text: str) -> str:
    """Removes the control characters that XML does not allow."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "�", text)
