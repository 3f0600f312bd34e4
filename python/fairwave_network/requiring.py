"""`--require` for a network: conditions on all calls, on the calls of a pair of nodes, and on a link.

- `mos >= 3.6`: the mean opinion of all calls; `mos.berlin>hamburg >= 3.6`: of the calls of one pair;
- `good >= 95`, `poor <= 1`: the share of the calls in a band, in %;
- `utilisation.a>b <= 80`, `drop-rate.a>b <= 1` (in %), `mean-wait.a>b <= 20` (in ms): a link direction.

With failures, each condition is also judged after each failure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from fairwave.ask.wording import LINKS, AskError, Condition, MeasureRequest, Sign, bounded, parts
from fairwave.measuring.measures import MOS, PERCENT, POSITIVE, Measure
from fairwave.measuring.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.ask.requiring import Requirement
    from fairwave.results import Results
    from fairwave_network.failing import Failure
    from fairwave_network.language import Network
    from fairwave_network.measuring import NetworkAnswer, RunAnswer

LINK_COLUMNS = {
    "utilisation": ("utilisation", 100.0),
    "drop-rate": ("dropped", 100.0),
    "mean-wait": ("wait_s", 1e3),
}
"""Measure of a link direction to the attribute of a run's link and its factor."""

SHARES = ("good", "poor")


@dataclass(frozen=True)
class NetworkCondition:
    """A condition and the source of its measure.

    Attributes:
        condition: The condition.
        name: The measure without pair or link.
        where: The pair, or the link direction; empty for all calls.
    """

    condition: Condition
    name: str
    where: str

    def value(self, run: RunAnswer) -> float:
        """Returns the measure in one run; NaN if it is undefined there."""
        if self.name in SHARES:
            calls = run.calls
            total = sum(calls.values())
            return 100 * calls[self.name] / total if total else math.nan
        if self.name in LINK_COLUMNS:
            attribute, scale = LINK_COLUMNS[self.name]
            link = run.links.get(self.where)
            return float(getattr(link, attribute)) * scale if link is not None else math.nan
        if not self.where:
            return run.mos
        one, other = self.where.split(">")
        pair = run.pairs.get((one, other)) or run.pairs.get((other, one))
        return pair.mos if pair is not None else math.nan


def read(texts: Sequence[str], network: Network) -> list[NetworkCondition]:
    """Reads requirements, before any run.

    Raises:
        AskError: A condition is invalid, or names an unknown measure, pair or link.
    """
    return [_read(text, network) for text in texts]


def _read(text: str, network: Network) -> NetworkCondition:
    found = parts(text)
    name, _, where = found[1].strip().partition(".")
    known = ("mos", *SHARES, *LINK_COLUMNS)
    if name not in known:
        raise AskError(
            f"a network has no measure {name!r}; it has {', '.join(known)}; write for example 'good >= 95' or "
            "'mos.a>b >= 3.6'"
        )
    if found[3]:
        raise AskError(f"{text!r} needs a baseline, and `fairwave network` has none; write a number")
    if name in LINK_COLUMNS:
        _check(where, sorted(network.rates()), "link direction", f"{name}.")
        _, title, unit, _ = LINKS[name]
        measure = Measure(
            name, title.format(where), unit, _empty, limits=PERCENT if unit == "%" else POSITIVE
        )
    elif name in SHARES:
        if where:
            raise AskError(f"{name} is of all calls; write '{name} {found[2]} {found[7]}'")
        measure = Measure(name, f"{name} calls", "%", _empty, limits=PERCENT)
    else:
        if where:
            pairs = sorted(
                {">".join(group.pair) for group in network.groups.values() if group.mix.kind == "calls"}
            )
            turned = ">".join(reversed(where.split(">")))
            _check(turned if turned in pairs else where, pairs, "pair with calls", "mos.")
        measure = Measure("mos", "MOS", "", _empty, limits=MOS)
    sign = cast("Sign", {"≥": ">=", "≤": "<="}.get(found[2], found[2]))
    condition = bounded(MeasureRequest(found[1].strip(), measure), sign, float(found[7]), found[8])
    return NetworkCondition(condition, name, where)


def _empty(_: Results) -> dict[str, Any]:
    """A network reads its measures from `RunAnswer`, not from tables."""
    return {"run": [], "value": []}


def _check(where: str, known: Sequence[str], what: str, before: str) -> None:
    if where in known:
        return
    from difflib import get_close_matches

    near = get_close_matches(where, known, 1)
    shown = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    hint = f"; did you mean {before}{near[0]}?" if near else ""
    raise AskError(f"the network has no {what} {where!r}; it has {shown or 'none'}{hint}")


def judged(
    wanted: Sequence[NetworkCondition], found: NetworkAnswer, failures: Sequence[Failure] = ()
) -> list[Requirement]:
    """Judges conditions by the original network and after each failure."""
    from fairwave.ask.requiring import judge

    answers = [("", found), *((f"without {one.name}", one.answer) for one in failures)]
    return [
        judge(
            one.condition, interval([one.value(run) for run in answer.runs]), name, relevance=answer.relevance
        )
        for one in wanted
        for name, answer in answers
    ]
