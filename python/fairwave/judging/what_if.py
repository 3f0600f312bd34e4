"""What would have helped: changes of the network that `fit` finds from the same file, each compared with that network.

Changes of which nothing is known are left out, with the reason. All changes run under the same seeds as the fitted
network, and differences are paired by seed. Bounds marked † are choices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairwave.answers.lines import lines
from fairwave.answers.naming import listed
from fairwave.fitting import fit
from fairwave.fitting.fitted import MISFIT, UNEXPLAINED
from fairwave.runs.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.answers.lines import MeasureLine
    from fairwave.fitting import Fit
    from fairwave.runs.replication import Progress

BASELINE = "as fitted"
"""Label of the unchanged network."""

SEEDS = (3, 10)
"""Least and usual number of seeds."""

MOST_SECONDS = 10_800.0
"""Simulated seconds of all runs; longer calls have fewer seeds, down to the least †."""

CAP = 0.7
"""The cap, as a share of the rate that each flow would get †."""

LEAST_CAP_BPS = 150_000.0
"""Lower caps leave no picture †."""

MEASURES = (
    "session-mos",
    "audio-mos",
    "frozen",
    "audio-delay",
    "mos",
    "missed",
    "mouth-to-ear",
    "loss",
    "delay-p95",
)
"""Measures to show if they are defined, the deciding ones first."""

MOST_MEASURES = 4
"""Number of measures of a call."""

MOST_CALLS = 3
"""Number of calls that are measured."""

RANKS = {"better": 0, "worse": 0, "undecided": 1, "alike": 2}
"""Effects with a lower rank decide."""

SIMULCAST = "the fitted network has one receiver, and simulcast serves several receivers of a server"
REPLAYED = "a captured call does not react, its packets keep their sizes and times"
ALONE = "no other traffic competes in the fitted network"


@dataclass(frozen=True)
class Effect:
    """The effect of a change on a measure.

    Attributes:
        change: The change.
        group: The call.
        measure: Id of the measure.
        label: Its title with unit.
        fitted: Its mean over the fitted network.
        changed: Its mean with the change.
        difference: Mean difference, paired by seed.
        low: Lower end of the 95 % interval of the difference.
        high: Upper end.
        outcome: `better`, `worse`, `alike` or `undecided`.
        text: The difference with its interval, as text.
    """

    change: str
    group: str
    measure: str
    label: str
    fitted: float
    changed: float
    difference: float
    low: float
    high: float
    outcome: str
    text: str


@dataclass(frozen=True)
class WhatIf:
    """Changes of the fitted network and their effects.

    Attributes:
        refusal: Why no change was tried; empty if changes were tried.
        effects: The effects, by change and measure.
        left_out: Change to the reason for leaving it out.
        network: The fitted network, in words.
        seeds: Number of seeds of each change.
        scenario: The fitted network's scenario, as TOML.
    """

    refusal: str = ""
    effects: Sequence[Effect] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    network: str = ""
    seeds: int = 0
    scenario: str = ""

    @property
    def sentences(self) -> list[str]:
        """The result first, then the network and the changes that were left out."""
        if self.refusal:
            return [f"No change was tried: {self.refusal}."]
        deciding = self._list_deciding()
        worse = {(one.change, one.group) for one in self.effects if one.outcome == "worse"}
        better = [one for one in deciding if one.outcome == "better"]
        several = len({one.group for one in deciding}) > 1
        parts: dict[str, list[str]] = {}
        for one in better:
            if (one.change, one.group) not in worse:
                name = f"{one.group} " if several else ""
                parts.setdefault(one.change, []).append(f"{name}{one.label} {one.text}")
        helpful = "; ".join(f"{change}: {listed(each)}" for change, each in parts.items())
        if not deciding:
            result = "No change applies to this file."
        elif helpful:
            result = f"It would have helped (mean difference, 95 % interval): {helpful}."
        else:
            result = "No change would certainly have helped."
        for words, names in (
            (
                "Better in one measure and worse in another",
                [one.change for one in better if (one.change, one.group) in worse],
            ),
            ("Undecided", [one.change for one in deciding if one.outcome == "undecided"]),
        ):
            if names:
                result += f" {words}: {listed(list(dict.fromkeys(names)))}."
        found = [result, f"Each change ran over the fitted network ({self.network}) with {self.seeds} seeds."]
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            reasons.setdefault(reason, []).append(name)
        return found + [f"Left out: {listed(names)}, because {reason}." for reason, names in reasons.items()]

    def _list_deciding(self) -> list[Effect]:
        """Returns an effect for each call and change: on the first measure that differs, or else an undecided one."""
        found: dict[tuple[str, str], Effect] = {}
        for one in self.effects:
            key = (one.change, one.group)
            if key not in found or RANKS[one.outcome] < RANKS[found[key].outcome]:
                found[key] = one
        return list(found.values())

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        return {
            "refusal": self.refusal or None, "sentences": self.sentences,
            "effects": [vars(one) for one in self.effects], "left_out": self.left_out,
            "network": self.network or None, "seeds": self.seeds, "scenario": self.scenario or None,
        }  # fmt: skip


def explore_changes(
    path: str | Path,
    *,
    connection: str | None = None,
    sdp: str | Path | None = None,
    progress: Progress | None = None,
) -> WhatIf:
    """Fits a network to a file, and compares changes of it.

    Args:
        path: The file.
        connection: Of statistics with several connections: which one.
        sdp: Of a capture: a file with the session description.
        progress: Called with the number of tried explanations and their total, then with the numbers of completed and
            of all runs.
    """
    from fairwave import RunError, ScenarioError
    from fairwave.captures import CaptureError

    try:
        found = fit(path, connection=connection, sdp=sdp, progress=progress)
    except CaptureError as error:
        return WhatIf(refusal=f"no network can be fitted ({error})")
    try:
        return compare_changes(found, progress)
    except (ScenarioError, RunError) as error:
        return WhatIf(refusal=f"the changes of the fitted network cannot run ({error})")


def compare_changes(found: Fit, progress: Progress | None = None) -> WhatIf:
    """Compares changes of a fitted network."""
    refusal = explain_refusal(found)
    if refusal:
        return WhatIf(refusal=refusal)
    changes, left_out = list_changes(found)
    calls = _list_calls(found)[:MOST_CALLS]
    lasts_s = float(found.scenario.plan()["duration_s"])
    seeds = min(SEEDS[1], max(SEEDS[0], int(MOST_SECONDS / (lasts_s * (len(changes) + 1)))))
    network = _describe(found)
    if not changes:
        return WhatIf(left_out=left_out, network=network, scenario=found.scenario.to_toml())
    grid = Grid("what-if", found.scenario, {"change": {BASELINE: {}, **changes}})
    results = grid.run(range(1, seeds + 1), progress=progress)
    effects = []
    for call in calls:
        chosen = _choose_lines(lines(results, "change", call))
        effects += [_measure_effect(line, change) for change in changes for line in chosen]
    return WhatIf("", effects, left_out, network, seeds, found.scenario.to_toml())


def explain_refusal(found: Fit) -> str:
    """Returns why changes of a fitted network would show nothing; empty if they do."""
    if found.rate is None or found.distance is None:
        return f"the file shows no rate of the link ({found.doubt})"
    if found.distance > MISFIT:
        return f"{UNEXPLAINED} (the nearest network is {found.distance:.1f} units away, at most {MISFIT:g} count)"
    if not _list_calls(found):
        return "the fitted direction carries no call"
    return ""


def list_changes(found: Fit) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Returns the changes that apply, with their overrides, and those that do not, with the reason."""
    changes: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    calls = _list_calls(found)
    others = [name for name in _list_flows(found) if name not in calls]
    if found.kind == "statistics":
        _add_cap(found, changes, left_out)
        changes["forward error correction"] = {"flow.call.transport": {"name": "webrtc", "fec": "flexfec"}}
    else:
        left_out["a cap of the rate"] = left_out["forward error correction"] = REPLAYED
    if others:
        changes["the call first"] = {
            **{f"flow.{name}.dscp": "ef" for name in calls},
            f"link.{found.link}.queue": _prioritise(found),
        }
    else:
        left_out["the call first"] = ALONE
    left_out["simulcast"] = SIMULCAST
    queue = "codel" if found.queue == "fq-codel" else "fq-codel"
    changes[f"another queue ({queue})"] = {f"link.{found.link}.queue": queue}
    if found.kind == "capture":
        if others:
            flows = [one for one in found.scenario.to_dict()["flow"] if one["name"] in calls]
            changes["no other traffic"] = {"flow": flows}
        else:
            left_out["no other traffic"] = ALONE
    return changes, left_out


def _add_cap(found: Fit, changes: dict[str, dict[str, Any]], left_out: dict[str, str]) -> None:
    assert found.rate is not None
    cap = max(CAP * found.rate.rates[0].value / (1 + found.unseen), LEAST_CAP_BPS)
    wanted = found.seconds.most_bps if found.seconds is not None else 0.0
    if cap >= wanted:
        left_out["a cap of the rate"] = f"the session never wanted more than {wanted / 1e6:.2g} Mb/s"
        return
    changes[f"a cap of {cap / 1e6:.2g} Mb/s"] = {"flow.call.traffic.video.most": f"{cap:.6g} b/s"}


def _prioritise(found: Fit) -> dict[str, Any]:
    """Returns a queue that serves the call before other traffic; each class has the fitted buffer."""
    buffer = next(one["queue"]["capacity"] for one in found.scenario.to_dict()["link"])
    classes = [{"name": "call", "match": {"dscp": ["ef"]}}, {"name": "other"}]
    return {"discipline": "priority", "capacity": buffer, "classes": classes}


def _list_flows(found: Fit) -> list[str]:
    return [one["name"] for one in found.scenario.to_dict()["flow"]]


def _list_calls(found: Fit) -> list[str]:
    return [name for name in _list_flows(found) if name == "call" or name.startswith("call-")]


def _choose_lines(found: list[MeasureLine]) -> list[MeasureLine]:
    """Returns the lines of the measures to show, the deciding one first."""
    known = {one.measure.id: one for one in reversed(found) if not one.undefined and one.cells[BASELINE].n}
    return [known[name] for name in MEASURES if name in known][:MOST_MEASURES]


def _measure_effect(line: MeasureLine, change: str) -> Effect:
    contrast = line.contrast("change", change, BASELINE)
    good = line.measure.better
    outcome = contrast.outcome
    word = outcome if outcome not in {"higher", "lower"} else "better" if outcome == good else "worse"
    one = contrast.difference
    text = f"{one.mean:+.3g} ({one.low:+.3g} to {one.high:+.3g})"
    return Effect(
        change, line.group, line.measure.id, line.label, line.cells[BASELINE].mean, line.cells[change].mean,
        one.mean, one.low, one.high, word, text,
    )  # fmt: skip


def _describe(found: Fit) -> str:
    assert found.rate is not None
    rates = [one.value for one in found.rate.rates]
    ends = " to ".join(dict.fromkeys(f"{one / 1e6:.3g}" for one in (min(rates), max(rates))))
    way = "toward this end" if found.link.endswith(">here") else "from this end"
    words = f"{way}, {ends} Mb/s, {found.queue}, distance {found.distance:.2g}"
    if any(one.edge for one in found.rate.rates):
        words += ", the range of the rate is open"
    return words
