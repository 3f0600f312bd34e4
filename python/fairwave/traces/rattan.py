"""rattan's traces: TOML with `StaticBwConfig`, `TraceBwConfig` and `RepeatedBwPatternConfig`, which may be nested."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fairwave.foreign import KINDS, parse_toml
from fairwave.traces.trace import LONGEST, MOST_RATE, Trace, TraceError, is_number, made, nanoseconds

RATTAN = ("StaticBwConfig", "TraceBwConfig", "RepeatedBwPatternConfig")
MOST_STEPS = KINDS["trace"].items or 0


def fits(text: str) -> bool:
    """Whether a text may be rattan's."""
    return re.search(r"^\s*\[+\s*\w+(Config|Pattern)\b", text, re.MULTILINE) is not None


def parse(text: str, name: str, _part: str | None) -> Trace:
    """Parses the trace in a text. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the place.
    """
    table = parse_toml(text, name, "trace")
    steps: list[tuple[float, float]] = []
    add_steps(table, name, "", steps, outermost=True)
    spans, rates = np.array([one for one, _ in steps]), np.array([rate for _, rate in steps])
    if not steps or not rates.max() <= MOST_RATE or not spans.sum() <= LONGEST:
        raise TraceError(
            f"{name}: write steps with rates up to {MOST_RATE:g} b/s, and up to {LONGEST:g} s in all"
        )
    lengths = nanoseconds(spans)
    if (lengths <= 0).any():
        raise TraceError(f'{name} has a step that lasts no time: write for example `duration = "100ms"`')
    return made(name, lengths, np.rint(rates).astype(np.int64), "rattan")


def add_steps(table: Any, name: str, at: str, steps: list[tuple[float, float]], *, outermost: bool) -> None:
    """Adds the steps of a model, seconds and b/s."""
    keys = list(table) if isinstance(table, dict) else []
    if len(keys) != 1 or keys[0] not in RATTAN or not isinstance(table[keys[0]], dict):
        what = ", ".join(keys) if keys else repr(table)
        raise TraceError(
            f"{name}: {at or 'the file'} has {what[:60]}, which describes no steps: write one of {', '.join(RATTAN)}"
        )
    kind, model = keys[0], table[keys[0]]
    here = f"{at}.{kind}".lstrip(".")
    if kind == "StaticBwConfig":
        steps.append((_span(model.get("duration"), name, here), _rate(model.get("bw"), name, here)))
    elif kind == "TraceBwConfig":
        for pair in model.get("pattern") or []:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], list)):
                raise TraceError(
                    f'{name}: {here}.pattern has {pair!r:.60}: write ["100ms", ["16Mbps", "48Mbps"]]'
                )
            length = _span(pair[0], name, here)
            steps.extend((length, _rate(one, name, here)) for one in pair[1])
    else:
        count = model.get("count", 0)
        if (
            not isinstance(count, int)
            or isinstance(count, bool)
            or count < 0
            or (count == 0 and not outermost)
        ):
            raise TraceError(
                f"{name}: {here}.count is {count!r:.60}: write 1 or more (0, for ever, only outermost)"
            )
        own: list[tuple[float, float]] = []
        for place, inner in enumerate(model.get("pattern") or []):
            add_steps(inner, name, f"{here}.pattern[{place}]", own, outermost=False)
        if len(own) * max(count, 1) + len(steps) > MOST_STEPS:
            raise TraceError(f"{name}: {here} makes more than {MOST_STEPS} steps: write fewer")
        steps.extend(own * max(count, 1))


SPANS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
}
PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30}


def _is_short(text: Any) -> bool:
    """Whether this is a text that may be a quantity. Long texts are rejected because matching them takes time."""
    return isinstance(text, str) and len(text) <= 100


def _span(text: Any, name: str, at: str) -> float:
    """Parses a duration such as `1s 500ms`, in seconds."""
    parts = re.findall(r"\s*([\d.]+)\s*([a-zµ]+)\s*", text) if _is_short(text) else []
    known = parts and all(unit in SPANS and is_number(number) for number, unit in parts)
    if not known or re.sub(r"\s*[\d.]+\s*[a-zµ]+\s*", "", text):
        raise TraceError(f'{name}: {at} has a duration of {text!r:.60}: write for example "100ms" or "1s"')
    return sum(float(number) * SPANS[unit] for number, unit in parts)


def _rate(text: Any, name: str, at: str) -> float:
    """Parses a rate such as `12Mbps`, in bits per second."""
    found = (
        re.fullmatch(r"\s*([\d.]+)\s*([kKmMgGtT]?i?)b(?:ps|/s|it/s)\s*", text) if _is_short(text) else None
    )
    if found is None or not is_number(found[1]) or found[2].lower() not in PREFIXES:
        raise TraceError(f'{name}: {at} has a rate of {text!r:.60}: write for example "12Mbps"')
    return float(found[1]) * PREFIXES[found[2].lower()]


def text(trace: Trace) -> str:
    """Formats a trace as the text of a file. Consecutive steps of equal length share a pair."""
    pairs: list[tuple[int, list[str]]] = []
    for length, rate in zip(trace.lengths.tolist(), trace.rates.tolist(), strict=True):
        if not pairs or pairs[-1][0] != length:
            pairs.append((length, []))
        pairs[-1][1].append(f'"{rate}bps"')
    # Whole units only: some parsers of durations accept nothing else.
    rows = [f'  ["{length}ns", [{", ".join(rates)}]],' for length, rates in pairs]
    head = ["[RepeatedBwPatternConfig]", "count = 0", "", "[[RepeatedBwPatternConfig.pattern]]", ""]
    return (
        "\n".join([*head, "[RepeatedBwPatternConfig.pattern.TraceBwConfig]", "pattern = [", *rows, "]"])
        + "\n"
    )
