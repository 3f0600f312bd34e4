"""Parses questions that are written in a line of text.

- a measure: `mos.voice` (of a flow group), `mos` (of all flows), `utilisation.r1>r2` (of a link direction);
- a precision: `mos.voice:±0.05` (half width of the 95 % interval, in the measure's unit), `goodput.files:±2%` (of
the mean);
- a condition: `mos.voice >= 3.6`, `delay.voice < 150 ms`;
- a condition next to a baseline: `mos.voice >= baseline - 0.1`, `goodput.up >= baseline - 5 %`;
- a key with values: `flow.voice.count=5,10,20`, `flow.voice.count=1..10`, `link.a>b.queue=red,{ discipline = "pie" }`;
- several keys that take the same value: `flow.a.count,flow.b.count=1..10`;
- a range to search: `1..200`, `500 kb/s..5 Mb/s`.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from fairwave import _native
from fairwave.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from fairwave.measuring.measures import Measure
    from fairwave.runs.axes import Label
    from fairwave.scenario import Scenario

Sign = Literal[">=", "<=", ">", "<"]


class AskError(UserError, ValueError):
    """A question that is malformed, or that does not fit this scenario; the message gives the remedy."""


TABLES = ("flow", "link", "topology", "medium", "record", "call", "hosts")
"""Tables of a scenario; its keys begin with one of them."""

LINKS = {
    "utilisation": ("utilisation", "utilisation of {}", "%", 100.0),
    "mean-queue": ("mean_queue_packets", "mean queue of {}", "packets", 1.0),
    "mean-wait": ("mean_wait_s", "mean wait at {}", "ms", 1e3),
    "drop-rate": ("drop_rate", "dropped at {}", "%", 100.0),
}
"""Measures of a link direction: column of the `links` table, title, unit, factor."""


@dataclass(frozen=True)
class MeasureRequest:
    """A measure as it was written.

    Attributes:
        text: As written.
        measure: The measure that the text names.
    """

    text: str
    measure: Measure


@dataclass(frozen=True)
class Precision:
    """The precision that a measure's interval must reach.

    Attributes:
        of: The measure.
        half: Half width of the 95 % interval, in the measure's unit or as a share of the mean.
        relative: Whether it is a share.
    """

    of: MeasureRequest
    half: float
    relative: bool = False

    def wanted(self, mean: float) -> float:
        """The wanted half width at a mean."""
        return self.half * abs(mean) if self.relative else self.half

    def __str__(self) -> str:
        return f"{self.of.text}:±{self.half * 100:g}%" if self.relative else f"{self.of.text}:±{self.half:g}"


@dataclass(frozen=True)
class Condition:
    """A condition on a measure's mean.

    Attributes:
        of: The measure.
        sign: The comparison.
        bound: The bound; with a baseline, the difference that is added to the baseline's value.
        has_baseline: Whether the bound counts from the measure's value in the baseline.
        is_share: Whether `bound` is a share of the baseline's value.
    """

    of: MeasureRequest
    sign: Sign
    bound: float
    has_baseline: bool = False
    is_share: bool = False

    @property
    def direction(self) -> float:
        """1 if more is better for the condition, −1 if less is."""
        return 1.0 if self.sign.startswith(">") else -1.0

    @property
    def with_unit(self) -> str:
        """The condition with the unit of its bound."""
        needless = self.is_share or (self.has_baseline and not self.bound)
        return str(self) if needless else f"{self} {self.of.measure.unit}".rstrip()

    def excess(self, samples: ArrayLike, baseline: ArrayLike | None) -> NDArray[np.float64]:
        """Differences of samples from the origin of the bound, seed by seed: from 0, or from the baseline's value."""
        import numpy as np

        found = np.asarray(samples, dtype=float)
        if baseline is None:
            return found
        return found - np.asarray(baseline, dtype=float) * (1 + (self.bound if self.is_share else 0.0))

    @property
    def line(self) -> float:
        """Value with which `beyond` is compared."""
        return 0.0 if self.is_share else self.bound

    def __str__(self) -> str:
        if not self.has_baseline:
            return f"{self.of.text} {self.sign} {self.bound:g}"
        amount = f"{100 * abs(self.bound):g} %" if self.is_share else f"{abs(self.bound):g}"
        step = f" {'-' if self.bound < 0 else '+'} {amount}" if self.bound else ""
        return f"{self.of.text} {self.sign} baseline{step}"


def measure(text: str, scenario: Scenario | None = None) -> MeasureRequest:
    """Reads a measure.

    Args:
        text: As `mos.voice`.
        scenario: The scenario that must have the flow group or link, when given.

    Raises:
        AskError: There is no such measure, group or link.
    """
    from fairwave.measuring import measures

    name, dot, whose = text.strip().partition(".")
    if name in TABLES:
        raise AskError(
            f"{text.strip()!r} is a key of the scenario, not a measure; write for example 'mos.voice'. A bound on a "
            "key belongs to `fairwave find --vary` of that key"
        )
    if ">" in whose:
        if name not in LINKS:
            raise AskError(
                f"no measure {name!r} of a link; there are {', '.join(LINKS)}, as in 'utilisation.r1>r2'"
            )
        if scenario is not None:
            _known(whose, [link["name"] for link in scenario.plan()["links"]], "link direction")
        column, title, unit, scale = LINKS[name]
        return MeasureRequest(text.strip(), measures.link(column, whose, title.format(whose), unit, scale))
    try:
        found = measures.find(name, whose or None)
    except KeyError as error:
        raise AskError(error.args[0]) from None
    if dot and scenario is not None:
        data = scenario.to_dict()
        names = [flow["name"] for flow in data.get("flow", [])]
        if data.get("call"):
            names = list(dict.fromkeys(flow["name"].rpartition("[")[0] for flow in scenario.plan()["flows"]))
        _known(whose, names, "flow group")
    return MeasureRequest(text.strip(), found)


def _known(name: str, names: list[str], what: str) -> None:
    if name not in names:
        from difflib import get_close_matches

        from fairwave.answers.naming import shortened

        near = get_close_matches(name, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AskError(f"the scenario has no {what} {name!r}; it has {shortened(names)}{hint}")


def precision(text: str, scenario: Scenario | None = None) -> Precision:
    """Reads a precision.

    Raises:
        AskError: It is not a precision.
    """
    found = re.fullmatch(r"\s*(.+?)\s*:\s*(?:±|\+-|\+/-)?\s*(\d*\.?\d+(?:e-?\d+)?)\s*(%?)\s*", text)
    if not found or not float(found[2]) > 0:
        raise AskError(
            f"--until takes MEASURE:±HALF-WIDTH, not {text!r}; for example 'mos.voice:±0.05' or 'goodput.files:±2%'"
        )
    half = float(found[2])
    return Precision(measure(found[1], scenario), half / 100 if found[3] else half, bool(found[3]))


def condition(text: str, scenario: Scenario | None = None) -> Condition:
    """Reads a condition.

    Raises:
        AskError: It is not a condition, or has another unit than the measure.
    """
    found = parts(text)
    of = measure(found[1], scenario)
    sign = cast("Sign", {"≥": ">=", "≤": "<="}.get(found[2], found[2]))
    if found[3]:
        return _parse_relative(of, sign, found[4] or "+", found[5] or "0", found[6] or "")
    return bounded(of, sign, float(found[7]), found[8])


def bounded(of: MeasureRequest, sign: Sign, bound: float, unit: str) -> Condition:
    """A condition with a bound in a unit.

    Raises:
        AskError: The bound is in another unit than the measure's, or outside its scale.
    """
    if unit and unit != of.measure.unit:
        raise _wrong_unit(of, f"'{of.text} {sign} {{}}'", bound, unit)
    least, most = of.measure.limits
    if not least <= bound <= most or math.isinf(bound):
        shown = f" {of.measure.unit}" if of.measure.unit else ""
        ends = f"from {least:g} to {most:g}{shown}" if math.isfinite(most) else f"{least:g}{shown} or more"
        usual = f"{(least + most) / 2:g}" if math.isfinite(most) else "150"
        always = "always" if (bound < least) == sign.startswith(">") else "never"
        raise AskError(
            f"{of.text} is {ends}, so '{of.text} {sign} {bound:g}' {always} holds; "
            f"write for example '{of.text} {sign} {usual}'"
        )
    return Condition(of, sign, bound)


def parts(text: str) -> re.Match[str]:
    """Splits a condition: measure, sign; `baseline` with sign, number and unit; or number and unit.

    Raises:
        AskError: It is not a condition.
    """
    number = rf"(-?{NUMBER})\s*(\S*)"
    beside = rf"(baseline)(?:\s*([-+−])\s*({NUMBER})\s*(\S*))?"
    found = re.fullmatch(rf"\s*(.+?)\s*(>=|<=|≥|≤|>|<)\s*(?:{beside}|{number})\s*", text)
    if not found:
        raise AskError(
            f"a condition is MEASURE >= NUMBER (or <=, >, <), not {text!r}; for example 'mos.voice >= 3.6', or next to "
            "a baseline 'mos.voice >= baseline - 0.1'"
        )
    return found


def _wrong_unit(of: MeasureRequest, form: str, number: float, given: str) -> AskError:
    """The error for a number in another unit than its measure's, with the number in that unit."""
    unit = of.measure.unit or "no unit"
    kinds = (kind for kind in (TIMES, RATES, SIZES) if {given, unit} <= set(kind))
    worth = next((kind[given] / kind[unit] for kind in kinds), 1.0)
    return AskError(f"{of.text} is in {unit}, not in {given}; write {form.format(f'{number * worth:g}')}")


def _parse_relative(of: MeasureRequest, sign: Sign, step: str, number: str, unit: str) -> Condition:
    """A condition next to a baseline: an amount in the measure's unit, or a share of the baseline's value.

    Raises:
        AskError: The amount is in another unit, or larger than the measure's whole scale.
    """
    amount = float(number)
    is_share = unit == "%" and of.measure.unit != "%"
    if unit and not is_share and unit != of.measure.unit:
        raise _wrong_unit(of, f"'{of.text} {sign} baseline {step} {{}}'", amount, unit)
    least, most = of.measure.limits
    if not is_share and amount > most - least:
        raise AskError(
            f"{of.text} is from {least:g} to {most:g}, so no value is {amount:g} from the baseline"
        )
    bound = (amount / 100 if is_share else amount) * (1 if step == "+" else -1)
    return Condition(of, sign, bound or 0.0, has_baseline=True, is_share=is_share)


def variation(text: str, option: str = "--vary") -> tuple[str, dict[Label, Any]]:
    """Reads a key with its values: the key, and label to value, in order.

    Raises:
        AskError: It names no key or no value.
    """
    key, equals, rest = (one.strip() for one in text.partition("="))
    if not equals or not key or not rest:
        raise AskError(
            f"{option} takes KEY=VALUE,VALUE,…, not {text!r}; for example {option} flow.voice.count=5,10,20"
        )
    check_key(key, option)
    found: dict[Label, Any] = {}

    def take(label: Label, value: Any) -> None:
        if label in found:
            raise AskError(f"{option} {key} has the value {label} twice; write each value once")
        found[label] = value

    parts = _parts(rest)
    if not parts:
        raise AskError(
            f"{option} {text!r} has no value between its commas; write for example "
            f"{option} flow.voice.count=5,10,20"
        )
    for part in parts:
        whole = re.fullmatch(rf"({WHOLE})\.\.({WHOLE})", part)
        if whole:
            low, high = int(whole[1]), int(whole[2])
            if not low <= high or high - low >= 100_000:
                raise AskError(
                    f"{option} {key}: {part} is no range from less to more, of at most 100 000 values"
                )
            for one in range(low, high + 1):
                take(one, one)
        elif re.match(r"-?[\d.]*\d\s*[A-Za-z/]*\s*\.\.", part):
            raise AskError(
                f"{option} {key}: {part!r:.60} is no range of whole numbers, LOW..HIGH; write for example "
                "5..20, or the values themselves: 1 Mb/s,1.5 Mb/s,2 Mb/s"
            )
        else:
            value = json.loads(_native.Scenario.override_value(part))
            take(value if isinstance(value, (int, float)) and not isinstance(value, bool) else part, value)
    return key, found


def check_key(key: str, option: str = "--vary") -> None:
    """Rejects a key, or several that are tied by commas, with an empty name or with a repeated key.

    Raises:
        AskError: It is not a valid key.
    """
    from fairwave.runs.axes import tied

    keys = tied(key)
    if not all(keys):
        raise AskError(
            f"{option} {key}: a key is missing next to a comma; write for example "
            f"{option} 'flow.a.count,flow.b.count=1..20'"
        )
    if len(set(keys)) < len(keys):
        twice = next(one for one in keys if keys.count(one) > 1)
        raise AskError(f"{option} ties {twice} to itself; write each key once")


def _parts(text: str) -> list[str]:
    """Splits at commas outside of quotes, brackets and braces."""
    parts, depth, quote, begin = [], 0, "", 0
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [part.strip() for part in [*parts, text[begin:]] if part.strip()]


NUMBER = r"\d*\.?\d+(?:e-?\d+)?"

WHOLE = r"-?\d{1,18}"
"""A whole number of a range. Longer numbers are no plausible counts and would block the conversion."""

TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
RATES = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}
SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1048576.0}
FINENESS = 128
"""Number of equal steps in which a range of quantities is searched."""


def steps(text: str) -> list[Label]:
    """Reads a range to search: whole numbers each, quantities in `FINENESS` equal steps, from less to more.

    Raises:
        AskError: It is not a range.
    """
    ends = text.split("..")
    found = [re.fullmatch(r"\s*(-?\d*\.?\d+)\s*([A-Za-z/]*)\s*", end) for end in ends]
    wrong = AskError(
        f"a range to search is LOW..HIGH, not {text!r}; for example '1..200' or '500 kb/s..5 Mb/s'"
    )
    if len(found) != 2 or found[0] is None or found[1] is None:
        raise wrong
    (low, low_unit), (high, high_unit) = ((one[1], one[2]) for one in found if one is not None)
    low_unit = low_unit or high_unit
    scale = 1.0
    if low_unit != high_unit:
        units = next((kind for kind in (TIMES, RATES, SIZES) if {low_unit, high_unit} <= set(kind)), None)
        if units is None:
            raise wrong
        scale = units[high_unit] / units[low_unit]
    if not low_unit and "." not in low + high:
        if not (re.fullmatch(WHOLE, low) and re.fullmatch(WHOLE, high)):
            raise wrong
        first, last = int(low), int(high)
        if not first < last or last - first >= 1_000_000:
            raise wrong
        return list(range(first, last + 1))
    begin, end = float(low), float(high) * scale
    if not begin < end or not math.isfinite(end):
        raise wrong
    values = [begin + (end - begin) * i / FINENESS for i in range(FINENESS + 1)]
    return [f"{value:.6g} {low_unit}" if low_unit else float(f"{value:.6g}") for value in values]
