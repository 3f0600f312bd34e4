"""Why a claim comes out as it does: an experiment with a mechanism on and off, under seeds that nothing else uses.

An experiment has two or more sides. Each is a reading of the paper, plus a change if the paper's words admit no such
value. All sides judge the claim under the same seeds, so the effect of the mechanism is a difference per seed. Further
quantities show the mechanism. The results of each side are kept like those of readings.
"""

from __future__ import annotations

import hashlib
import json
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.measuring.statistics import Interval, paired
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.shelf import QUANTITY, Shelf, StoredReading, judge, to_plain, version

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from fairwave.provenance import Provenance
    from fairwave_report.figures import Drawing
    from fairwave_study.parts import Data
    from fairwave_study.readings import Changes, Reading, Readings
    from fairwave_study.study import Study

FRESH = (21, 22, 23, 24, 25)
"""Seeds of experiments, on which nothing else is judged."""

PANELS = 3
"""Maximum number of quantities in a figure; its data and the ledger have all."""

DRAWN = 10
"""Comparisons that a figure shows at most; beyond this those that the mechanism moves most."""


@dataclass(frozen=True)
class Side:
    """One side of an experiment.

    Attributes:
        label: Short: "clock of 500 ms".
        reading: Factor to value. Missing factors keep the base value.
        changes: Further changes to the scenarios, as a value of a factor sets them; None: no changes.
    """

    label: str
    reading: Reading = field(default_factory=dict)
    changes: Changes | None = None


@dataclass(frozen=True)
class Experiment:
    """A mechanism on and off.

    Attributes:
        id: Short name and stem of its figure: "why-D11".
        claim: Id of the claim that it explains.
        mechanism: The switched mechanism, in one line.
        sides: Two or more; the others are compared with the first.
        quantities: Further numbers, one per seed, from the study's data, by name with unit. Kept results are found by
            this name. So rename a quantity if you measure it in another way.
        words: Writes the paragraph; a study's folder has it in `experiments.toml` (`fairwave_study.paragraphs`).
    """

    id: str
    claim: str
    mechanism: str
    sides: tuple[Side, ...]
    quantities: Mapping[str, Callable[[Data], NDArray[np.float64]]] = field(default_factory=dict)
    words: Callable[[FoundExperiment], str] = lambda _: ""


def _with_interval(found: Interval, form: str) -> str:
    return f"{found.mean:{form}} [{found.low:{form}}, {found.high:{form}}]"


@dataclass(frozen=True)
class FoundExperiment:
    """The results of an experiment.

    Attributes:
        experiment: The experiment.
        evidence: Side's label to the claim's comparisons there.
        quantities: Side's label to further numbers by name.
        seeds: Seeds.
    """

    experiment: Experiment
    evidence: Mapping[str, Evidence]
    quantities: Mapping[str, Mapping[str, Comparison]]
    seeds: Sequence[int] = FRESH

    def verdict(self, side: str) -> str:
        """The claim's verdict on a side."""
        return str(self.evidence[side].verdict())

    def interval(self, side: str, label: str) -> Interval:
        """The mean of a comparison or quantity on a side, with its interval.

        Raises:
            KeyError: There is none of that label.
        """
        return self._comparison(side, label).interval()

    def change(self, label: str, side: str | None = None) -> Interval:
        """How much higher a comparison or quantity is on a side (None: the last) than on the first, seed by seed."""
        labels = self.sides()
        other = side if side is not None else labels[-1]
        return paired(self._comparison(other, label).samples, self._comparison(labels[0], label).samples)

    def sides(self) -> list[str]:
        """The labels of the sides, in order."""
        return [one.label for one in self.experiment.sides]

    def list_sides(self, label: str, digits: int = 2) -> str:
        """A comparison or quantity on every side: "0.59 (base), 0.21 (SACK)"."""
        return ", ".join(f"{self.interval(side, label).mean:.{digits}f} ({side})" for side in self.sides())

    def moves(self, label: str, side: str | None = None, digits: int = 2) -> str:
        """`change` with its interval: "+0.36 [+0.33, +0.39]"."""
        return _with_interval(self.change(label, side), f"+.{digits}f")

    def with_interval(self, side: str, label: str, digits: int = 2) -> str:
        """`of` with its interval: "0.59 [0.56, 0.62]"."""
        return _with_interval(self.interval(side, label), f".{digits}f")

    def part(self, side: str, name: str) -> str:
        """The verdict of a part of the claim on a side."""
        return str(self.evidence[side].parts()[name].verdict())

    def labels(self) -> list[str]:
        """The labels that all sides have in common."""
        several = [[one.label for one in evidence.comparisons] for evidence in self.evidence.values()]
        # A band is two comparisons of one number.
        return [one for one in dict.fromkeys(several[0]) if all(one in others for others in several)]

    def _comparison(self, side: str, label: str) -> Comparison:
        if label in self.quantities[side]:
            return self.quantities[side][label]
        for one in self.evidence[side].comparisons:
            if one.label == label:
                return one
        raise KeyError(f"experiment {self.experiment.id!r} has no {label!r} on side {side!r}")

    def paragraph(self) -> str:
        """The paragraph."""
        return self.experiment.words(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for the ledger."""

        def ends(one: Interval) -> dict[str, Any]:
            return {"estimate": one.mean, "interval": [one.low, one.high]}

        first, *others = (one.label for one in self.experiment.sides)
        names = [*self.labels(), *self.experiment.quantities]
        return {
            "id": self.experiment.id,
            "claim": self.experiment.claim,
            "mechanism": self.experiment.mechanism,
            "words": self.paragraph(),
            "seeds": list(self.seeds),
            "sides": [
                {
                    "label": side.label,
                    "reading": dict(side.reading),
                    "changed": side.changes is not None,
                    "verdict": self.verdict(side.label),
                    "comparisons": [
                        {"label": name, **ends(one.interval()), "line": one.line, "side": one.side}
                        for name in self.labels()
                        for one in (self._comparison(side.label, name),)
                    ],
                    "quantities": [
                        {"name": name, **ends(self.interval(side.label, name))}
                        for name in self.experiment.quantities
                    ],
                }
                for side in self.experiment.sides
            ],
            "differences": [
                {"of": name, "side": side, "from": first, **ends(self.change(name, side))}
                for side in others
                for name in names
            ],
        }


def carry_out(
    study: Study,
    folder: Path,
    *,
    threads: int | None = None,
    status: Callable[[str], None] | None = None,
    only: Sequence[str] | None = None,
) -> list[FoundExperiment]:
    """Carries out a study's experiments, or reads earlier results from `folder/readings`.

    Args:
        study: The study.
        folder: Its folder.
        threads: How many runs at once; all cores when None.
        status: Receives a line of text about each step.
        only: Ids of the experiments that are wanted; all when None.

    Raises:
        ValueError: The study has one reading only, two experiments share an id, or one is about no claim of the study.
    """
    if not study.experiments:
        return []
    if study.readings is None:
        raise ValueError(f"study {study.name!r} has one reading only: nothing can be switched in it")
    ids = [one.id for one in study.experiments]
    if len(set(ids)) < len(ids):
        raise ValueError(f"two experiments of study {study.name!r} share an id: {', '.join(ids)}")
    shelf = Shelf(folder / "readings", version(study.name, study.folder))
    claims = {claim.id for claim in study.claims}
    wanted = [one for one in study.experiments if only is None or one.id in only]
    for one in wanted:
        if one.claim not in claims:
            raise ValueError(
                f"experiment {one.id!r} is about {one.claim!r}, which is no claim of {study.name!r}"
            )
    _simulate(study.readings, wanted, shelf, threads, status)
    found = []
    for one in wanted:
        left = {side.label: _find_kept(study.readings, one, side, shelf) for side in one.sides}
        evidence = {label: kept.claims[one.claim] for label, kept in left.items() if kept is not None}
        quantities = {
            label: {name: kept.claims[f"{QUANTITY}{name}"].comparisons[0] for name in one.quantities}
            for label, kept in left.items()
            if kept is not None
        }
        found.append(FoundExperiment(one, evidence, quantities))
    return found


def _simulate(
    readings: Readings,
    experiments: Sequence[Experiment],
    shelf: Shelf,
    threads: int | None,
    status: Callable[[str], None] | None,
) -> None:
    """Carries out the sides that the shelf lacks. Sides that simulate the same are simulated once."""
    missing: dict[str, list[tuple[Experiment, Side]]] = {}
    for one in experiments:
        for side in one.sides:
            if _find_kept(readings, one, side, shelf) is None:
                missing.setdefault(_same(readings, one, side), []).append((one, side))
    for at, several in enumerate(missing.values(), 1):
        if status:
            ids = ", ".join(dict.fromkeys(one.id for one, _ in several))
            status(f"experiments, side {at} of {len(missing)}: {several[0][1].label} ({ids})")
        side = several[0][1]
        reading = readings.complete(side.reading)
        whole = judge(
            readings, reading, FRESH, threads,
            claims=[one.claim for one, _ in several],
            changes=side.changes,
            quantities={
                f"{one.id} {name}": taken for one, _ in several for name, taken in one.quantities.items()
            },
        )  # fmt: skip
        for one, own in several:
            evidence = {one.claim: whole.claims[one.claim]}
            for name in one.quantities:
                (taken,) = whole.claims[f"{QUANTITY}{one.id} {name}"].comparisons
                evidence[f"{QUANTITY}{name}"] = Evidence([replace(taken, label=name)])
            shelf.put(
                _key(readings, one, own), FRESH, to_plain(StoredReading(reading, evidence, whole.seconds))
            )


def _same(readings: Readings, experiment: Experiment, side: Side) -> str:
    """A name that sides share when they simulate the same.

    A side's change may fit only the scenarios of its claim, so other claims' scenarios are left out.
    """
    reading = readings.complete(side.reading)
    changed = _digest(readings, reading, experiment, side)
    return json.dumps([dict(sorted(reading.items())), changed], ensure_ascii=False)


def _find_kept(readings: Readings, experiment: Experiment, side: Side, shelf: Shelf) -> StoredReading | None:
    return shelf.get(_key(readings, experiment, side), FRESH)


def _key(readings: Readings, experiment: Experiment, side: Side) -> str:
    reading = readings.complete(side.reading)
    return json.dumps(
        {
            "experiment": experiment.claim,
            "quantities": sorted(experiment.quantities),
            "reading": dict(sorted(reading.items())),
            "scenarios": _digest(readings, reading, experiment, side),
        },
        ensure_ascii=False,
    )


def _digest(readings: Readings, reading: Reading, experiment: Experiment, side: Side) -> str:
    """Digest of the scenarios of a side: a change has no name that could serve as key."""
    if side.changes is None:
        return ""
    essential = readings.essential(reading)
    grids = {name for one in essential.claims if one.id == experiment.claim for name in one.grids}
    digest = hashlib.sha256()
    for grid in essential.grids:
        if grid.id in grids:
            for point in readings.changed(grid, side.changes).points():
                digest.update(f"{grid.id}{point.scenario.hash}".encode())
    return digest.hexdigest()[:16]


def picture(found: Mapping[str, Any], folder: Path, provenance: Provenance, title: str) -> Drawing:
    """Draws an experiment: the claim's comparisons on each side, as margins to their lines, and the quantities.

    Args:
        found: The experiment's entry in the ledger.
        folder: Where picture and numbers go.
        provenance: Where the numbers come from.
        title: The picture's title.
    """
    from fairwave_report import figures as drawing
    from fairwave_report import style

    sides = found["sides"]
    looks = list(style.looks([one["label"] for one in sides]).values())
    shown = _choose_labels(found)
    several = _panels(found)
    margins = _margins(found)
    width = 7.4 + 2.0 * len(several)
    height = max(2.0, 1.25 + 0.17 * len(shown) * len(sides))
    with drawing.canvas(found["id"], (width, height)) as canvas:
        ratios = [3.2, *[1.0] * len(several)]
        axes, *others = canvas.subplots(1, len(ratios), squeeze=False, width_ratios=ratios)[0]
        for at, (side, look) in enumerate(zip(sides, looks, strict=True)):
            shift = (at - (len(sides) - 1) / 2) * 0.5 / max(len(sides) - 1, 1)
            for row, label in enumerate(shown):
                low, middle, high = margins[at][label]
                if math.isfinite(low) and math.isfinite(high):
                    axes.hlines(row + shift, low, high, colors=look.colour, linewidth=2.0)
                axes.plot(
                    [middle], [row + shift], marker=look.marker, markersize=5, color=look.colour, linestyle="none",
                    label=f"{side['label']}: {side['verdict']}" if row == 0 else None,
                )  # fmt: skip
        axes.axvline(0, color=style.INK, linewidth=0.9)
        axes.set_yticks(range(len(shown)), [textwrap.fill(one, 44) for one in shown], fontsize=8)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlabel(
            "margin to the claim's line, in parts of the largest. Right of 0: as claimed", fontsize=8.5
        )
        axes.grid(visible=False, axis="y")
        for panel, name in zip(others, several, strict=True):
            for at, (side, look) in enumerate(zip(sides, looks, strict=True)):
                low, mean, high = _ends(_name_change(side["quantities"], "name", name))
                panel.bar([at], [mean], color=look.colour, width=0.7)
                if math.isfinite(high - low):
                    panel.errorbar(
                        [at],
                        [mean],
                        [[mean - low], [high - mean]],
                        color=style.INK,
                        capsize=3,
                        linestyle="none",
                    )
            panel.set_xticks([])
            panel.set_title(textwrap.fill(name, 18), fontsize=8.5)
        _share_axes(dict(zip(several, others, strict=True)))
        canvas.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=1, fontsize=8.5)
        return drawing.save(
            canvas, folder, found["id"], _numbers(found), provenance,
            title=title, caption=f"{found['mechanism']} Means of seeds "
            f"{', '.join(map(str, found['seeds']))} with 95 % intervals.",
            source="", alt=f"{title}: the claim's comparisons on each side; the numbers are in its data",
        )  # fmt: skip


def _name_change(several: Sequence[Mapping[str, Any]], key: str, name: str) -> Mapping[str, Any]:
    """The entry of this name."""
    return next(one for one in several if one[key] == name)


def _ends(one: Mapping[str, Any]) -> tuple[float, float, float]:
    """Low end, mean and high end. A number that a ledger does not have is NaN."""
    low, high = one["interval"]
    mean, low, high = (math.nan if value is None else value for value in (one["estimate"], low, high))
    return low, mean, high


def _panels(found: Mapping[str, Any]) -> list[str]:
    """The quantities to draw: those that differ among the sides, as far as there is room."""
    names = [one["name"] for one in found["sides"][0]["quantities"]]

    def differs(name: str) -> bool:
        return (
            len({_name_change(side["quantities"], "name", name)["estimate"] for side in found["sides"]}) > 1
        )

    return [name for name in names if differs(name)][:PANELS]


def _share_axes(panels: Mapping[str, Axes]) -> None:
    """Gives panels of one quantity the same vertical axis: names alike up to the first comma and in their unit."""
    kinds: dict[tuple[str, str], list[Axes]] = {}
    for name, panel in panels.items():
        kinds.setdefault((name.split(",")[0], name.rpartition("(")[2] if "(" in name else ""), []).append(
            panel
        )
    for alike in kinds.values():
        ends = [panel.get_ylim() for panel in alike]
        for panel in alike:
            panel.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def _choose_labels(found: Mapping[str, Any]) -> list[str]:
    """The comparisons to draw: all, or those that the mechanism moves most."""
    labels = [one["label"] for one in found["sides"][0]["comparisons"]]
    if len(labels) <= DRAWN:
        return labels
    last = [one for one in found["differences"] if one["side"] == found["sides"][-1]["label"]]

    def moved(label: str) -> float:
        low, mean, high = _ends(_name_change(last, "of", label))
        half = (high - low) / 2
        size = abs(mean) / half if half > 0 else abs(mean)
        return 0.0 if math.isnan(size) else size

    most = sorted(labels, key=moved, reverse=True)[:DRAWN]
    return [one for one in labels if one in most]


def _margins(found: Mapping[str, Any]) -> list[dict[str, tuple[float, float, float]]]:
    """Of each side: low end, mean and high end of each comparison, as parts of its largest margin on any side."""

    def margin(one: Mapping[str, Any]) -> tuple[float, float, float]:
        sign = 1.0 if one["side"] == "above" else -1.0
        low, mean, high = (sign * (end - one["line"]) for end in _ends(one))
        return min(low, high), mean, max(low, high)

    absolute = [{one["label"]: margin(one) for one in side["comparisons"]} for side in found["sides"]]
    scales = {}
    for label in absolute[0]:
        sizes = [abs(side[label][1]) for side in absolute]
        scales[label] = max((one for one in sizes if math.isfinite(one)), default=1.0) or 1.0
    return [
        {
            label: (low / scales[label], middle / scales[label], high / scales[label])
            for label, (low, middle, high) in side.items()
        }
        for side in absolute
    ]


def _numbers(found: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl

    rows = []
    for side in found["sides"]:
        for one in (*side["comparisons"], *side["quantities"]):
            low, mean, high = _ends(one)
            name = one["label"] if "label" in one else one["name"]
            rows.append({"side": side["label"], "of": name, "mean": mean, "low": low, "high": high})
    return pl.DataFrame(rows)
