"""What a page says first: the verdict in a sentence with its uncertainty, a small picture, and what it hangs on.

One function for each kind of page: `of_run`, `of_comparison`, `of_study`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.report import style
from fairwave.report.bands import SCALES, TONES, Scale, finite, in_words, scale_of
from fairwave.study import measures, watched
from fairwave.study.claims import Verdict
from fairwave.study.statistics import Interval, paired

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.report.comparison import Line
    from fairwave.results import Results
    from fairwave.study.claims import Judgement
    from fairwave.study.ledger import Ledger
    from fairwave.study.measures import Measure


MANY = 5
"""Of more alternatives in one band a sentence tells the best and the range; the picture shows each."""


@dataclass(frozen=True)
class Mark:
    """One mean in a picture of bands.

    Attributes:
        label: Whose it is.
        text: The mean with its interval.
        bands: The bands that the interval touches.
        at: Where the mean lies, in % from the left.
        low: Where the interval begins.
        high: Where it ends.
    """

    label: str
    text: str
    bands: Sequence[str]
    at: float
    low: float
    high: float

    @property
    def tone(self) -> str:
        """The tone in which it is shown: that of its band, undecided where there are several."""
        return TONES[self.bands[0]] if len(self.bands) == 1 else "undecided"

    @property
    def words(self) -> str:
        """Its bands in words."""
        return " or ".join(self.bands)


@dataclass(frozen=True)
class Picture:
    """Means before the bands of their scale."""

    scale: Scale
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Named:
    """A claim in one line.

    Attributes:
        id: Its id, and the end of its anchor.
        text: The claim.
        words: What became of it.
        tone: The tone in which that is shown.
    """

    id: str
    text: str
    words: str
    tone: str


@dataclass(frozen=True)
class Answer:
    """What stands in a page's first screen.

    Attributes:
        sentences: The verdict; the first is the most important one.
        pictures: Means before bands.
        claims: A study's claims, those that do not hold first.
        counts: Tone to how many claims have it.
        sure: How sure all this is: replications, level; empty where there is nothing to be sure of.
    """

    sentences: Sequence[str]
    pictures: Sequence[Picture] = ()
    claims: Sequence[Named] = ()
    counts: Sequence[tuple[str, int]] = ()
    sure: str = ""


def of_comparison(found: Sequence[Line], axis: str, group: str, results: Results) -> Answer:
    """Which alternatives are good, fair and poor for the group that is compared, and by how much the best is ahead.

    It is told by the first measure that has bands and is defined: the opinion score of calls, the frames of a video
    that could be shown, the loss of others; of transfers by their goodput.
    """
    own = {line.measure.id: line for line in found if line.group == group and not line.undefined}
    scale = next((one for one in SCALES if _tells(own.get(one.measure), results, group)), None)
    line = own[scale.measure] if scale else own.get("goodput_per_flow")
    why = next((line.undefined for line in found if line.group == group and line.undefined), "")
    if line is None:
        return Answer([f"Nothing that was measured says how {group} fares."], sure=_sure(results))
    cells = {label: cell for label, cell in line.cells.items() if cell.n}
    name, unit = (scale.name, scale.unit) if scale else ("goodput per flow", line.measure.unit)
    sentences: list[str] = _sorted_in(scale, cells, axis, group, results) if scale else []
    if not scale:
        told = ", ".join(f"{_rounded(cell, unit)} {_by(axis, label)}" for label, cell in cells.items())
        sentences.append(f"{group} gets {told} ({name}).")
    if len(cells) > 1:
        sentences.append(_ahead(line, cells, axis, name, unit))
    if why and scale and scale.measure != "mos":
        sentences.append(f"The calls have no rating: {why}.")
    sentences += _others(found, group, axis)
    pictures = [_picture(scale, {style.title(label): cell for label, cell in cells.items()})] if scale else []
    return Answer(sentences, pictures, sure=f"{_sure(results)} {_beyond(line)}".rstrip())


def _beyond(line: Line) -> str:
    """For how many calls a rating is extrapolated; empty for none, and for other measures."""
    said = next((one for one in line.remarks if one.kind == "extrapolated"), None)
    if said is None:
        return ""
    return (
        f"{said.flows} of {said.of} calls lie outside the ranges of the E-model: their MOS is extrapolated."
    )


def of_run(results: Results, groups: Mapping[str, str], why: Callable[[str], str]) -> Answer:
    """How each flow group fares.

    Args:
        results: The runs.
        groups: Name of each flow group to its kind of traffic.
        why: What a group's rating is less for, in words; empty where it has none.
    """
    sentences: list[str] = []
    marks: dict[str, dict[str, Interval]] = {}
    plain: list[str] = []
    for name, kind in groups.items():
        said = _of_group(name, kind, results)
        if said is None:
            continue
        scale, cell = said
        if scale is None:
            plain.append(f"{name} gets {_rounded(cell, 'Mb/s')}")
            continue
        marks.setdefault(scale.measure, {})[name] = cell
        because = why(name)
        sentences.append(
            f"{_subject(name, scale, results)} {in_words(scale.bands(cell))}: "
            f"{scale.says.format(_rounded(cell, scale.unit))}"
            f"{f' ({because})' if because else ''}."
        )
    if plain:
        sentences.append(f"Of the transfers {_listed(plain)} of goodput.")
    pictures = [_picture(scale, marks[scale.measure]) for scale in SCALES if scale.measure in marks]
    return Answer(sentences or ["No flow was on long enough to be measured."], pictures, sure=_sure(results))


def of_study(
    ledger: Ledger,
    judgements: Sequence[Judgement],
    replications: int,
    called: tuple[str, str] = ("claim", "claims"),
) -> Answer:
    """How many of a study's claims hold and which do not; over all readings, where those were judged."""
    from fairwave.report.readings import TONES as OVERALL

    if not judgements:
        return Answer([f"No {called[0]} was judged: one figure or table was made alone."])
    claims = [
        Named(
            one.claim.id,
            one.claim.statement,
            str(one.about.verdict) if one.about else one.word,
            OVERALL[one.about.verdict] if one.about else one.verdict.name.lower(),
        )
        for one in judgements
    ]
    order = ["not_reproduced", "undecided", "reproduced"]
    claims.sort(key=lambda one: order.index(one.tone))
    counts = Counter(one.tone for one in claims)
    fail, rest, hold = (counts[tone] for tone in order)
    if ledger.exploration is not None:
        readings = len(ledger.exploration.drawn)
        sentence = (
            f"Of {len(claims)} claims {_number(hold, 'holds', 'hold')} in all or most of {readings} readings, "
            f"{_number(fail, 'is', 'are')} contradicted in all or most, and {_number(rest, 'is', 'are')} open or "
            f"{'hangs' if rest == 1 else 'hang'} on the reading."
        )
    else:
        sentence = (
            f"Of {len(claims)} {called[1]} {_held(hold, judgements)}, {_failed(fail, judgements)} not, and "
            f"{_number(rest, 'is', 'are')} undecided."
        )
    few = (
        "; with one replication there is no interval, and nothing can be decided" if replications < 2 else ""
    )
    sure = f"Judged by 95 % intervals over {_number(replications, 'replication', 'replications')} per point{few}."
    return Answer([sentence], claims=claims, counts=[(tone, counts[tone]) for tone in order], sure=sure)


def _held(count: int, judgements: Sequence[Judgement]) -> str:
    """How many hold, or are what their words call it."""
    if word := judgements[0].claim.words.get(Verdict.REPRODUCED):
        return f"{_number(count, 'is', 'are')} {word}"
    return _number(count, "holds", "hold")


def _failed(count: int, judgements: Sequence[Judgement]) -> str:
    return _number(count, "is", "are") if judgements[0].claim.words else _number(count, "does", "do")


def made_of(name: str, results: Results) -> str:
    """What the calls' rating is less for, in words: *delay costs 6 points, loss 9, lateness 3*; empty for others."""
    rating = measures.r_factor(name).over(results).interval()
    costs = {cause: measures.r_cost(cause, name).over(results).interval() for cause in measures.CAUSES}
    if not rating.n or not all(cost.n for cost in costs.values()):
        return ""
    # What costs less than half a point is not worth a word, unless nothing costs more.
    told = {cause: cost.mean for cause, cost in costs.items() if cost.mean >= 0.5}
    if not told:
        return f"R {rating.mean:.0f}: nothing costs a point"
    (first, cost), *others = told.items()
    points = "point" if round(cost) == 1 else "points"
    said = ", ".join(
        [f"{first} costs {cost:.0f} {points}", *(f"{cause} {cost:.0f}" for cause, cost in others)]
    )
    return f"R {rating.mean:.0f}: {said}"


def _tells(line: Line | None, results: Results, group: str) -> bool:
    """Whether a measure is there and says how a group fares: the loss of a transfer, which is sent again, does not."""
    if line is None or not any(cell.n for cell in line.cells.values()):
        return False
    return line.measure.id != "loss" or _has_units(results, group)


def _has_units(results: Results, group: str) -> bool:
    flows = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == group)
    return bool(flows["units_sent"].sum())


def _of_group(name: str, kind: str, results: Results) -> tuple[Scale | None, Interval] | None:
    """By which scale a group is told, and its mean; without a scale, its goodput; None where nothing is defined."""
    if kind.startswith("bulk"):
        cell = measures.goodput(name).over(results).interval()
        return (None, cell) if cell.n else None
    ways: tuple[tuple[str, Measure], ...] = (
        ("mos", measures.mos(name)),
        ("decodable", watched.decodable(name)),
        ("loss", measures.loss(name)),
    )
    for measure, how in ways:
        cell = how.over(results).interval()
        if cell.n:
            return scale_of(measure), cell
    return None


def _sorted_in(
    scale: Scale, cells: Mapping[Any, Interval], axis: str, group: str, results: Results
) -> list[str]:
    """A sentence per band: which alternatives lie in it, with their means."""
    by_bands: dict[tuple[str, ...], list[Any]] = {}
    order = ["good", "fair", "poor"]
    for label, cell in sorted(cells.items(), key=lambda one: -one[1].mean if scale.higher else one[1].mean):
        by_bands.setdefault(tuple(scale.bands(cell)), []).append(label)
    sentences: list[str] = []
    subject = _subject(group, scale, results, named=False)
    for bands in sorted(by_bands, key=lambda one: [order.index(band) for band in one]):
        labels = by_bands[bands]
        told = _listed([_rounded(cells[label], scale.unit) for label in labels])
        where = _by(axis, *labels)
        if len(labels) > MANY:
            ends = (min(cells[label].mean for label in labels), max(cells[label].mean for label in labels))
            told = " to ".join(f"{end:{'.3g' if scale.unit else '.2f'}}" for end in ends)
            told = f"{told} {scale.unit}".rstrip()
            where = f"{_by(axis, *labels[:1])} and {len(labels) - 1} others"
        lead = f"{where[:1].upper()}{where[1:]} {subject if not sentences else _again(subject)}"
        sentences.append(f"{lead} {in_words(bands)}: {scale.says.format(told)}.")
    return sentences


def _again(subject: str) -> str:
    return "they are" if subject.endswith("are") else "it is"


def _ahead(line: Line, cells: Mapping[Any, Interval], axis: str, name: str, unit: str) -> str:
    """By how much the best is ahead of the next, paired by seed; undecided where that may be nothing."""
    sign = -1.0 if line.measure.better == "lower" else 1.0
    first, second = sorted(cells, key=lambda label: -sign * cells[label].mean)[:2]
    one, other = style.title(first), style.title(second)
    difference = paired(line.measured.samples(**{axis: first}), line.measured.samples(**{axis: second}))
    if difference.mean == 0 and difference.half_width == 0:
        return f"{one} and {other} do not differ."
    mean = abs(difference.mean)
    size = Interval(mean, mean - difference.half_width, mean + difference.half_width, difference.n)
    much = f"by {_rounded(size, unit)} {'of' if unit else 'points of'} {name}"
    if difference.n < 2:
        return f"{one} is ahead of the next best, {other}, {much} in this one pair of runs."
    if size.low > 0:
        return f"{one} is ahead of the next best, {other}, {much} (paired by seed)."
    return f"Whether {one} or {other} is better is undecided: they differ {much} (paired by seed)."


def _others(found: Sequence[Line], group: str, axis: str) -> list[str]:
    """What it does to everybody else: the range of each other group's goodput."""
    sentences = []
    for line in found:
        cells = {label: cell for label, cell in line.cells.items() if cell.n}
        if line.group == group or line.measure.id != "goodput" or len(cells) < 2:
            continue
        most, least = max(cells, key=lambda one: cells[one].mean), min(cells, key=lambda one: cells[one].mean)
        # The two were picked out of all pairs: the level makes up for that (Bonferroni).
        pairs = len(cells) * (len(cells) - 1) / 2
        ours, theirs = (line.measured.samples(**{axis: label}) for label in (most, least))
        difference = paired(ours, theirs, 1 - 0.05 / pairs)
        unit = line.measure.unit
        if difference.n >= 2 and difference.low <= 0:
            told = "no difference beyond chance"
        else:
            told = f"most {_by(axis, most)}, least {_by(axis, least)}"
        low, high = (f"{cells[one].mean:.3g}" for one in (least, most))
        span = f"{low} {unit}" if low == high else f"{low} to {high} {unit}"
        sentences.append(f"Meanwhile {line.group} gets {span} of goodput: {told}.")
    return sentences


def _picture(scale: Scale, cells: Mapping[str, Interval]) -> Picture:
    return Picture(
        scale,
        [
            Mark(
                str(label),
                _rounded(cell, scale.unit),
                scale.bands(cell),
                scale.at(cell.mean),
                scale.at(finite(cell.low, cell.mean)),
                scale.at(finite(cell.high, cell.mean)),
            )
            for label, cell in cells.items()
        ],
    )


def _subject(group: str, scale: Scale, results: Results, *, named: bool = True) -> str:
    """Who is good, fair or poor, with the verb: "The call is", "The 21 calls of voice are"."""
    flows = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == group)["flow"].n_unique()
    noun = {"mos": "call", "decodable": "video"}.get(scale.measure, "stream")
    if flows == 1:
        whose = "" if group == noun or not named else f" of {group}"
        return f"{'The' if named else 'the'} {noun}{whose} is"
    return f"The {flows} {noun}s of {group} are" if named else f"the {flows} {noun}s are"


def _by(axis: str, *labels: Any) -> str:
    """Under which alternatives: "over UDP and Vegas", "with discipline codel"."""
    names = _listed([style.title(label) for label in labels])
    if axis == "transport":
        return f"over {names}"
    return f"with {names}" if axis == "alternative" else f"with {axis} {names}"


def _rounded(cell: Interval, unit: str) -> str:
    """A mean with its interval: opinion scores with two decimals, as they are printed everywhere."""
    if unit:
        return f"{cell if cell.n > 1 else f'{cell.mean:.3g}'} {unit}"
    if not math.isfinite(cell.half_width):
        return f"{cell.mean:.2f}"
    spread = f"{cell.half_width:.2f}" if cell.half_width else "0"
    return f"{cell.mean:.2f} ± {spread}"


def _sure(results: Results) -> str:
    """How sure means are."""
    n = len(set(results.provenance.seeds))
    if n < 2:
        return "Of one run alone nothing tells how sure this is; several do: -n 10."
    return f"Means over {n} replications ± half of their 95 % interval."


def _number(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
