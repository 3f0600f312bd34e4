"""Finds defaults that would change the verdict: plausible alternatives of each, one at a time, under the same seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.answers.bands import Held, describe_bands, scale_of
from fairwave.answers.events import Events
from fairwave.answers.naming import listed
from fairwave.answers.verdict import TELLING
from fairwave.arguments import checked
from fairwave.defaults import Alternative, Default, used_defaults
from fairwave.measuring.relevance import Contrast, Relevance, contrast
from fairwave.measuring.relevance import relevance as read_relevance
from fairwave.scenario import check_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairwave.answers.bands import Scale
    from fairwave.measuring.measured import Measured
    from fairwave.measuring.statistics import Interval
    from fairwave.results import Results
    from fairwave.runs.memory import Keep
    from fairwave.runs.replication import Progress
    from fairwave.scenario import Scenario

AXIS = "default"
"""The axis of the results: the unchanged scenario, and each alternative."""

AS_IT_IS = "as it is"
"""Its first label."""

PLAIN = ("completion", "video-rate", "goodput")
"""Measures for groups without bands; the first defined one counts."""


@dataclass(frozen=True)
class Effect:
    """Effect of an alternative on a flow group.

    Attributes:
        group: The flow group.
        measure: Id of the measure that rates the group.
        name: The measure in words.
        unit: Its unit.
        before: Its mean with the scenario's default.
        after: Its mean with the alternative.
        bands: The bands before and after, in words; None for a measure without bands.
        compared: The difference, paired by seed.
    """

    group: str
    measure: str
    name: str
    unit: str
    before: Interval
    after: Interval
    bands: tuple[str, str] | None
    compared: Contrast

    @property
    def is_relevant(self) -> bool:
        """Whether the difference counts: with several runs by its interval, with one run by its amount."""
        if not self.after.n:
            return False
        if self.compared.difference.n < 2:
            return not self.compared.is_little
        return self.compared.outcome in {"higher", "lower"}

    @property
    def changes_verdict(self) -> bool:
        """Whether the band changes by a difference that is not negligible or by gaps, or the difference counts."""
        moved = self.bands is not None and self.bands[0] != self.bands[1]
        return self.is_relevant or (moved and (self._gaps_differ or not self.compared.is_little))

    @property
    def _gaps_differ(self) -> bool:
        """Whether gaps or freezes limit the mean to *fair* with only one of the two values."""
        return isinstance(self.before, Held) != isinstance(self.after, Held)

    def describe(self) -> str:
        """`call: fair to poor (MOS 3.46 to 2.94)`."""
        means = f"{self.name} {self._rounded(self.before)} to {self._rounded(self.after)}"
        if self.bands and self.bands[0] != self.bands[1]:
            gaps = [one.because for one in (self.before, self.after) if isinstance(one, Held)]
            because = f"; {gaps[-1]}" if gaps and self._gaps_differ else ""
            return f"{self.group}: {self.bands[0]} to {self.bands[1]} ({means}{because})"
        return f"{self.group}: {means}" + (f" ({self.bands[0]})" if self.bands else "")

    def _rounded(self, cell: Interval) -> str:
        return f"{cell.mean:.3g} {self.unit}".rstrip() if cell.n else "not defined"

    def to_dict(self) -> dict[str, Any]:
        """As a table, for JSON."""
        difference = self.compared.difference
        return {
            "group": self.group, "measure": self.measure, "unit": self.unit,
            "before": self.before.mean, "after": self.after.mean,
            "bands": list(self.bands or ()), "difference": difference.mean,
            "difference_interval": difference.ends, "relevant_difference": self.compared.counts,
            "changes_verdict": self.changes_verdict,
        }  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """An alternative that was run.

    Attributes:
        default: The default.
        alternative: The value in its place.
        effects: The effect on each flow group.
    """

    default: Default
    alternative: Alternative
    effects: tuple[Effect, ...]

    @property
    def changed(self) -> list[Effect]:
        """The effects that change the verdict."""
        return [one for one in self.effects if one.changes_verdict]

    @property
    def label(self) -> str:
        """Default and value: `shortest timeout: 1 s`."""
        return _label(self.default, self.alternative)


@dataclass(frozen=True)
class Doubt:
    """The defaults that would change the verdict of a scenario.

    Attributes:
        trials: Each alternative that was run.
        impossible: Alternatives that the scenario does not allow, with the reason.
        results: All runs; the axis `default` has the scenario under the label `as it is`, and each alternative.
        replications: Runs of each.
    """

    trials: tuple[Trial, ...]
    impossible: Mapping[str, str]
    results: Results
    replications: int

    @property
    def changing(self) -> list[Trial]:
        """The alternatives that change the verdict, those that change a band first."""
        found = [one for one in self.trials if one.changed]
        return sorted(
            found, key=lambda one: not any(len(set(effect.bands or ())) > 1 for effect in one.changed)
        )

    def sentences(self) -> list[str]:
        """Sentences about the defaults that would change the verdict, or that none does."""
        if not self.trials:
            return ["This scenario uses no default that has a plausible alternative."]
        doubted = {one.default.name for one in self.trials}
        several = ((len(self.trials), "alternative"), (len(doubted), "default"), (self.replications, "run"))
        tried, defaults, runs = (f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in several)
        how = f"({tried} of {defaults}, {runs} each)"
        if not self.changing:
            return [f"No default changes the verdict {how}."]
        names = listed(list(dict.fromkeys(one.default.name for one in self.changing)))
        first = f"The verdict depends on defaults: {names} {how}."
        return [
            first,
            *(
                f"With {one.alternative.value} ({one.alternative.systems}) instead of {one.default.value} as "
                f"{one.default.name}: {'; '.join(effect.describe() for effect in one.changed)}."
                for one in self.changing
            ),
        ]

    def rows(self) -> list[list[str]]:
        """A row per alternative: default, alternative, systems and effect."""
        return [
            [
                f"{one.default.name}: {one.default.value}", one.alternative.value, one.alternative.systems,
                "; ".join(effect.describe() for effect in one.changed) or "no change",
            ]
            for one in self.trials
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """As a table, for JSON."""
        return {
            "replications": self.replications,
            "verdict_depends_on": list(dict.fromkeys(one.default.name for one in self.changing)),
            "trials": [
                {
                    "default": one.default.name, "value": one.default.value, "used_by": list(one.default.used_by),
                    "alternative": one.alternative.value, "systems": one.alternative.systems,
                    "changes": dict(one.alternative.changes), "changes_verdict": bool(one.changed),
                    "effects": [effect.to_dict() for effect in one.effects],
                }
                for one in self.trials
            ],
            "impossible": dict(self.impossible),
        }  # fmt: skip

    def __str__(self) -> str:
        """The sentences, one a line."""
        return "\n".join(self.sentences())


HEADS = ("default", "alternative", "systems that have it", "changes of the verdict")
"""Columns of `Doubt.rows`."""


@dataclass(frozen=True)
class Plan:
    """The runs of `doubt`.

    Attributes:
        base: The scenario, with its topology written out if an alternative needs links.
        tried: Label to default and alternative.
        impossible: Alternatives that the scenario does not allow, with the reason.
    """

    base: Scenario
    tried: Mapping[str, tuple[Default, Alternative]]
    impossible: Mapping[str, str]

    @property
    def axis(self) -> dict[Any, Mapping[str, Any]]:
        """Labels with their overrides."""
        return {AS_IT_IS: {}, **{label: one.changes for label, (_, one) in self.tried.items()}}


def plan(scenario: Scenario, seed: int = 1) -> Plan:
    """The alternatives of all defaults that the scenario uses.

    Raises:
        fairwave.ScenarioError: The scenario cannot be planned.
    """
    from fairwave._native import ScenarioError

    # Links of a topology have names only if it is written out. The runs are the same.
    base = scenario.expand_preset() if "topology" in scenario.to_dict() else scenario
    tried, impossible = {}, {}
    for default in used_defaults(scenario, seed):
        for one in default.alternatives:
            label = _label(default, one)
            try:
                base.with_overrides(dict(one.changes)).plan(seed)
            except ScenarioError as error:
                impossible[label] = str(error).partition("\n")[0]
            else:
                tried[label] = (default, one)
    return Plan(base, tried, impossible)


@checked
def doubt(
    scenario: Scenario,
    n: int = 10,
    *,
    seed: int = 1,
    threads: int | None = None,
    relevant: Iterable[str] | Mapping[str, float | str] | Relevance | None = None,
    keep: Keep | None = None,
    progress: Progress | None = None,
    planned: Plan | None = None,
) -> Doubt:
    """Runs the plausible alternatives of each default that the scenario uses, one at a time, under the same seeds.

    Args:
        scenario: The scenario.
        n: Runs of the scenario, and of each alternative.
        seed: The first seed.
        threads: Threads; all cores if left out.
        relevant: Smallest differences that count, instead of the usual ones: `{"mos": 0.2}`.
        keep: Store of runs.
        progress: Called with the number of completed runs.
        planned: Result of `plan`, if available.

    Raises:
        TypeError: An argument does not fit; the message lists the valid ones.
        fairwave.ScenarioError: The scenario cannot be planned.
        fairwave.RunError: A run failed.
        fairwave.measuring.relevance.RelevanceError: `relevant` cannot be read.
    """
    from fairwave.runs.grid import Grid

    check_scenario(scenario, "fairwave.doubt")
    relevance = read_relevance(relevant)

    wanted = planned or plan(scenario, seed)
    seeds = list(range(seed, seed + n))
    results = Grid("doubt", wanted.base, {AXIS: wanted.axis}).run(
        seeds, threads=threads, keep=keep, progress=progress
    )
    telling = _telling(results)
    trials = tuple(
        Trial(default, one, _effects(results, telling, label, relevance))
        for label, (default, one) in wanted.tried.items()
    )
    return Doubt(trials, wanted.impossible, results, n)


def _label(default: Default, alternative: Alternative) -> str:
    return f"{default.name}: {alternative.value}"


def _telling(results: Results) -> dict[str, tuple[Measured, Scale | None]]:
    """The measure that decides the verdict of each flow group, and its bands."""
    from fairwave.answers import group_measures, unrated_calls

    found: dict[str, tuple[Measured, Scale | None]] = {}
    for group in dict.fromkeys(str(one) for one in results.rows("groups")["group"].to_list()):
        # Packets missed do not rate calls without a rating.
        bare = {"missed"} if unrated_calls.is_unrated(results, group) else set()
        telling = [(name, "" if name in bare else scale) for name, scale in TELLING]
        candidates: Sequence[tuple[str, str]] = (
            *(() if group_measures.is_transfer(results, group) else telling), *((name, "") for name in PLAIN)
        )  # fmt: skip
        for name, scale in candidates:
            measured = results.measured(name, group)
            if measured.interval(**{AXIS: AS_IT_IS}).n:
                found[group] = (measured, scale_of(scale) if scale else None)
                break
    return found


def _effects(
    results: Results,
    telling: Mapping[str, tuple[Measured, Scale | None]],
    label: str,
    relevance: Relevance,
) -> tuple[Effect, ...]:
    return tuple(
        _effect(group, measured, scale, Events.collect(results, group), label, relevance)
        for group, (measured, scale) in telling.items()
    )


def _effect(
    group: str, measured: Measured, scale: Scale | None, events: Events, label: str, relevance: Relevance
) -> Effect:
    measure = measured.measure
    before, after = (
        events.hold(measured.interval(**{AXIS: one}), measure.id, **{AXIS: one}) for one in (AS_IT_IS, label)
    )
    ours, theirs = (measured.samples(**{AXIS: one}) for one in (label, AS_IT_IS))
    bands: tuple[str, str] | None = None
    if scale is not None and after.n:
        bands = (describe_bands(scale.bands(before), before.n), describe_bands(scale.bands(after), after.n))
    name = scale.name if scale is not None else measure.title.removeprefix(f"{group} ")
    compared = contrast(ours, theirs, relevance.find(measure))
    return Effect(group, measure.id, name, measure.unit, before, after, bands, compared)
