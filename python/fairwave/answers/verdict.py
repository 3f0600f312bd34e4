"""Rates flows in sentences, for the first part of a run, a comparison or a sweep on terminal and pages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairwave.answers import conference, group_measures, unrated_calls
from fairwave.answers.answer import Answer, Mark, Picture
from fairwave.answers.bands import (
    SCALES,
    WORDS,
    Held,
    Scale,
    counted,
    describe_bands,
    enough,
    finite,
    runs_to_decide,
    scale_of,
)
from fairwave.answers.events import Events, held
from fairwave.answers.labels import spelled
from fairwave.answers.naming import VariedAxis, listed
from fairwave.measuring import measures
from fairwave.measuring.relevance import USUAL, Contrast
from fairwave.measuring.remarks import BISTABLE, bistable
from fairwave.measuring.statistics import Interval, best_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairwave.answers.lines import MeasureLine
    from fairwave.measuring.remarks import Remark
    from fairwave.results import Results

MANY = 5
"""Largest number of alternatives of one band in a sentence. Of more it names the best and gives the range."""

FEW = 3
"""Largest number of means that a sentence lists; of more it gives the range."""

MOST_POINTS = 12
"""Largest number of grid points that are listed; of more, a sentence counts those in each band."""

MOST_MARKS = 8
"""Largest number of grid points in a picture."""

ORDER = ("good", "fair", "poor")

Cells = dict[Any, Interval]
"""Alternative to the mean of a measure."""

TELLING = (
    ("conversation-mos", "mos"),
    ("session-mos", "session-mos"),
    ("mos", "mos"),
    ("decodable", "decodable"),
    ("responsiveness", "responsiveness"),
    ("missed", "missed"),
)
"""Measures that can rate a group, each with the scale of its bands; the first defined one counts."""


def judge_comparison(
    found: Sequence[MeasureLine], axis: str, group: str, results: Results, key: str = ""
) -> Answer:
    """Lists the alternatives that are good, fair and poor for the compared group, and the best one.

    The first measure that is defined decides: the opinion score of calls, the frames of a video that could be shown,
    the packets that other flows miss. Files and pages have a completion time, endless data a goodput.
    """
    varied = VariedAxis(axis, group, key)
    own = {line.measure.id: line for line in found if line.group == group and not line.undefined}
    whole = group_measures.is_transfer(results, group)
    scale, line = None, None
    is_unrated = unrated_calls.is_unrated(results, group)
    if not whole:
        for measure, name in _telling(is_unrated):
            line = own.get(measure)
            if line is not None and any(cell.n for cell in line.cells.values()):
                scale = scale_of(name)
                break
            line = None
    if line is None and is_unrated:
        at = {label: {axis: label} for label in measures.missed(group).compute(results).labels(axis)}
        known = [
            *_describe_unrated(at, varied.describe, group, results),
            *_describe_other_groups(found, varied),
        ]
        return Answer(known, sure=_sure(results))
    if line is None:
        names = ("video-rate", "completion") if whole else ("goodput", "goodput-per-flow")
        told = [own[name] for name in names if name in own]
        line = next(
            (one for one in told if any(cell.n for cell in one.cells.values())), told[-1] if told else None
        )
    if line is None:
        said = f"No file or page of {group} was complete when the run ended."
        return Answer([said if whole else f"No measure says how {group} fares."], sure=_sure(results))
    events = Events.collect(results, group)
    cells = {
        label: events.hold(cell, line.measure.id, **{axis: label})
        for label, cell in line.cells.items()
        if cell.n
    }
    name, unit = (scale.name, scale.unit) if scale else (_bare(line), line.measure.unit)
    if scale:
        delays = {label: own["delay"].cells[label] for label in cells} if "delay" in own else {}
        sentences = list_bands(scale, cells, varied.describe, group, results, delays)
    else:
        means = ", ".join(f"{_rounded(cell, unit)} {varied.describe(label)}" for label, cell in cells.items())
        sentences = [f"{group}: {name} {means}."]
    if len(cells) > 1:
        sentences.append(_best(line, cells, varied, name, unit))
    sentences += _describe_kinds(line.remarks)
    if is_unrated:
        left = [label for label in measures.missed(group).compute(results).labels(axis) if label not in cells]
        sentences += _describe_unrated(
            {label: {axis: label} for label in left}, varied.describe, group, results
        )
    sentences += _describe_other_groups(found, varied)
    pictures = [_picture(scale, {spelled(label): cell for label, cell in cells.items()})] if scale else []
    return Answer(sentences, pictures, sure=f"{_sure(results)} {_describe_extrapolation(line)}".rstrip())


MOST_GROUPS = 20
"""Largest number of flow groups or calls that are rated singly. Of more, the bands are counted, the worst named."""

WORST = 10
"""Number of the worst groups that are named then, per kind."""


@dataclass(frozen=True)
class _Faring:
    """Rating of one flow group, or of one call.

    Attributes:
        name: Its name.
        groups: Its flow groups.
        kind: Kind of traffic, one of `_KINDS`.
        rank: Sort key; the smaller, the worse.
        describe: Makes the sentences about it.
        word: Its band, or another word for its quality; empty without.
        value: The mean that ranks groups without bands.
        scale: Its bands.
        marks: Its marks in a picture.
    """

    name: str
    groups: Sequence[str]
    kind: str
    rank: tuple[float, ...]
    describe: Callable[[], list[str]]
    word: str = ""
    value: float = math.nan
    scale: Scale | None = None
    marks: Mapping[str, Interval] = field(default_factory=dict)


_KINDS = {
    "calls": "calls with several participants",
    "rated": "groups of calls and other streams",
    "files": "groups of files and pages",
    "sessions": "groups of adaptive streams",
    "bulk": "groups of endless data",
}
"""Kinds of groups; each kind has a separate ranking."""

_RANGES = {"files": ("take", "s"), "bulk": ("get", "Mb/s of goodput")}
"""Verb and unit for the range of means of groups without bands."""

TOO_LATE, NOT_RATED = "too late for a conversation", "not rated"
"""Words for the quality of a group without a band."""


def judge_run(
    results: Results, groups: Mapping[str, str], why: Callable[[str], str], *, every: bool = False
) -> Answer:
    """Rates each flow group.

    Of more than `MOST_GROUPS` groups, the answer counts those in each band, and has sentences only about the worst of
    each kind. `Answer.left_out` names the others.

    Args:
        results: The runs.
        groups: Name of each flow group to its kind of traffic.
        why: Returns the causes that lower a group's rating, in words; empty without a rating.
        every: Describe every group, however many there are.
    """
    calls = conference.calls(groups)
    of_calls = {group for call in calls for group in call.groups}
    found = [_judge_call(call, results, why) for call in calls]
    found += [
        one
        for name, kind in groups.items()
        if name not in of_calls and (one := _judge_group(name, kind, results, why)) is not None
    ]
    sentences: list[str] = []
    said: list[_Faring] = []
    if len(found) <= MOST_GROUPS or every:
        said = found
    else:
        for kind in _KINDS:
            mine = [one for one in found if one.kind == kind]
            if len(mine) > WORST:
                sentences.append(_counts(kind, mine))
                mine = sorted(mine, key=lambda one: one.rank)[:WORST]
            said += mine
    for one in said:
        sentences += one.describe() if one.kind != "bulk" else []
    if plain := [text for one in said if one.kind == "bulk" for text in one.describe()]:
        sentences.append(f"{listed(plain)} of goodput.")
    marks: dict[str, dict[str, Interval]] = {}
    for one in said:
        if one.scale is not None:
            marks.setdefault(one.scale.measure, {}).update(one.marks)
    pictures = [_picture(scale, marks[scale.measure]) for scale in SCALES if scale.measure in marks]
    named = {group for one in said for group in one.groups}
    left_out = [group for one in found for group in one.groups if group not in named]
    return Answer(
        sentences or ["No flow was on long enough to be measured."], pictures, sure=_sure(results), left_out=left_out
    )  # fmt: skip


def _counts(kind: str, found: Sequence[_Faring]) -> str:
    """Counts the groups of a kind in each band, or gives the range of their means."""
    counts = Counter(one.word for one in found if one.word)
    words = [word for word in (*WORDS, TOO_LATE, NOT_RATED) if counts[word]]
    who = f"the {len(found)} {_KINDS[kind]}"
    if words:
        first = f"Of {who}, {listed([f'{counts[word]} {_are(counts[word])} {word}' for word in words])}"
    else:
        values = [one.value for one in found if not math.isnan(one.value)]
        verb, unit = _RANGES.get(kind, ("", ""))
        span = (
            f"{_three_digits(min(values))} to {_three_digits(max(values))} {unit}" if values and verb else ""
        )
        first = (
            f"{who[:1].upper()}{who[1:]} {verb} {span}" if span else f"There are {who.removeprefix('the ')}"
        )
    return f"{first}. The {WORST} worst follow."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _judge_group(name: str, kind: str, results: Results, why: Callable[[str], str]) -> _Faring | None:
    """Rates a flow group; None if no measure is defined."""
    if kind in group_measures.TRANSFERS:
        if kind == "stream":
            stalled = _mean(measures.stalled, name, results)
            return _Faring(
                name,
                [name],
                "sessions",
                (-_or_worst(stalled),),
                lambda: _describe_sessions(name, kind, results),
            )
        took = _mean(measures.completion, name, results)
        return _Faring(
            name,
            [name],
            "files",
            (-_or_worst(took),),
            lambda: _describe_transfers(name, kind, results),
            value=took,
        )
    scale, cell = (None, None) if kind.startswith("bulk") else _rate_stream(name, results)
    if scale is None and unrated_calls.is_unrated(results, name):
        missed = _mean(measures.missed, name, results)

        def describe() -> list[str]:
            found = unrated_calls.parts(results, name, [{}])
            return [
                unrated_calls.describe(_calls_are(name, results), unrated_calls.explain(results, name), found)
            ]

        # Packets missed alone do not rate a stream, so it ranks behind all poor groups.
        return _Faring(name, [name], "rated", (1.0, -_or_worst(missed)), describe, NOT_RATED)
    if scale is None or cell is None:
        goodput = measures.goodput(name).compute(results).interval()
        if not (kind.startswith("bulk") and goodput.n):
            return None
        return _Faring(
            name, [name], "bulk", (goodput.mean,), lambda: [f"{name} gets {_rounded(goodput, 'Mb/s')}"],
            value=goodput.mean,
        )  # fmt: skip
    return _judge_rated(name, scale, cell, results, why)


def _judge_rated(
    name: str, scale: Scale, cell: Interval, results: Results, why: Callable[[str], str]
) -> _Faring:
    """Rates a group that has bands."""
    delays = {name: measures.delay(name).compute(results).interval()} if scale.measure == "missed" else {}
    if late := _late(delays):
        return _Faring(
            name, [name], "rated", (-1.0, -delays[name].mean),
            lambda: [_too_late(subject(name, scale, results), list(late.values()), [cell], why(name))], TOO_LATE,
        )  # fmt: skip
    cell = _delayed({name: cell}, delays)[name]
    delay = f"delay {_rounded(delays[name], 'ms')}" if delays and delays[name].n else ""

    def describe() -> list[str]:
        because = "; ".join(filter(None, (delay, why(name))))
        kinds = _describe_kinds(bistable(measures.find(scale.measure, name).compute(results), USUAL))
        return [_sentence(subject(name, scale, results), scale, [cell], because), *kinds]

    return _Faring(
        name, [name], "rated", _rank(scale, cell), describe, scale.word(cell), scale=scale, marks={name: cell}
    )


def _rank(scale: Scale, cell: Interval) -> tuple[float, ...]:
    """Sort key: poor first, and within a band the worst mean first, on the common axis of all pictures."""
    at = scale.locate(cell.mean)
    return (float(2 - ORDER.index(scale.classify_mean(cell))), at if scale.higher else 100 - at)


def _mean(define: measures.Definition, name: str, results: Results) -> float:
    return define(name).compute(results).interval().mean


def _or_worst(mean: float) -> float:
    """Returns the mean of a measure that should be low; infinite if undefined, because nothing was completed then."""
    return math.inf if math.isnan(mean) else mean


MOST_PARTICIPANTS = 8
"""Largest number of participants that are described singly; of more, sentences count those in each band."""


def _judge_call(call: conference.Call, results: Results, why: Callable[[str], str]) -> _Faring:
    """Rates each participant of a call by the worst stream that they receive."""
    scale = scale_of("session-mos")
    assert scale is not None
    worst: dict[str, tuple[str, Interval]] = {}
    for receiver, senders in call.pairs.items():
        cells = {
            sender: measures.session_mos(group).compute(results).interval()
            for sender, group in senders.items()
        }
        cells = {
            sender: Events.collect(results, senders[sender]).hold(cell)
            for sender, cell in cells.items()
            if cell.n
        }
        if cells:
            sender = min(
                cells, key=lambda one: (-ORDER.index(scale.classify_mean(cells[one])), cells[one].mean)
            )
            worst[receiver] = (sender, cells[sender])
    if not worst:
        nothing = f"Nothing of the call {call.name} was measured."
        return _Faring(call.name, call.groups, "calls", (math.inf,), lambda: [nothing])
    cells = {receiver: cell for receiver, (_, cell) in worst.items()}
    lowest = min(cells.values(), key=lambda cell: _rank(scale, cell))
    return _Faring(
        call.name, call.groups, "calls", _rank(scale, lowest), lambda: _participants(call, worst, scale, why),
        scale.word(lowest), scale=scale, marks={f"{call.name}: {receiver}": cell for receiver, cell in cells.items()},
    )  # fmt: skip


def _participants(
    call: conference.Call, worst: Mapping[str, tuple[str, Interval]], scale: Scale, why: Callable[[str], str]
) -> list[str]:
    """Describes the quality of each participant of a call, with their worst sender.

    Participants share a sentence if they have the same worst sender in the same band.
    """
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for receiver, (sender, cell) in worst.items():
        alike.setdefault((sender, tuple(scale.bands(cell))), []).append(receiver)
    sentences = []
    ranked = sorted(alike.items(), key=lambda one: min(worst[receiver][1].mean for receiver in one[1]))
    for (sender, _), receivers in ranked if len(worst) <= MOST_PARTICIPANTS else ranked[:FEW]:
        first = min(receivers, key=lambda one: worst[one][1].mean)
        told = why(call.pairs[first][sender])
        because = f"{sender} at {first}: {told}" if told else f"{sender} at {first}"
        who = listed(receivers) if len(receivers) <= MOST_PARTICIPANTS else f"{len(receivers)} participants"
        lead = f"In the call {call.name}, what {who} {'see and hear' if len(receivers) > 1 else 'sees and hears'} is"
        sentences.append(_sentence(lead, scale, [worst[one][1] for one in receivers], because))
    if len(worst) > MOST_PARTICIPANTS:
        counts = counted((scale.word(cell) for _, cell in worst.values()), "{word} for {count}")
        sentences.insert(0, f"Of the {len(worst)} participants, the call {call.name} is {listed(counts)}.")
    return sentences


Comparing = Callable[[str, Any, Any, float], Contrast]
"""Compares two points of a grid, by a measure's id and the points' labels, at a confidence level."""


def judge_points(
    found: Sequence[tuple[str, Cells]],
    under: Callable[..., str],
    group: str,
    results: Results,
    comparing: Comparing | None = None,
) -> Answer:
    """Lists the points of a grid at which the group is good, fair and poor; empty if no measure has bands.

    Args:
        found: Id of a measure and its mean at each point.
        under: Words a list of points: `with voice.count = 5 and 10`.
        group: The flow group.
        results: All runs.
        comparing: Compares two of the points; they are not compared without it.
    """
    cells_of = dict(found)
    is_unrated = unrated_calls.is_unrated(results, group)
    points: dict[Any, dict[str, Any]] = {}
    if is_unrated:
        points = {label: {} for label, cell in cells_of.get("missed", {}).items() if cell.n}
    for measure, name in _telling(is_unrated):
        cells = {label: cell for label, cell in cells_of.get(measure, {}).items() if cell.n}
        scale = scale_of(name)
        if cells and scale:
            delays = {label: cells_of.get("delay", {}).get(label, NOTHING) for label in cells}
            pictures = [_picture(scale, {spelled(label): cell for label, cell in cells.items()})]
            shown_ = pictures if len(cells) <= MOST_MARKS else []
            if len(cells) > MOST_POINTS and not (scale.measure == "missed" and _late(delays)):
                said = _summarise_points(scale, cells, under, group, results)
            else:
                said = list_bands(scale, cells, under, group, results, delays)
            left = {label: point for label, point in points.items() if label not in cells}
            said += _describe_unrated(left, under, group, results, cells_of)
            said += _spread(measure, scale.name, scale.unit, cells, comparing)
            return Answer(said, shown_, sure=_sure_of(cells))
    if points:
        return Answer(
            _describe_unrated(points, under, group, results, cells_of), sure=_sure_of(cells_of["missed"])
        )
    for measure, what, unit in (("completion", "takes {}", "s"), ("goodput", "gets {} of goodput", "Mb/s")):
        cells = {label: cell for label, cell in cells_of.get(measure, {}).items() if cell.n}
        if not cells:
            continue
        if len(cells) <= MANY:
            means = [_rounded(cell, unit) for cell in cells.values()]
            said = [f"{group} {what.format(listed(means))} {under(*cells)}."]
        else:
            least, most = (choose(cells, key=lambda one: cells[one].mean) for choose in (min, max))
            span = what.format(f"{cells[least].mean:.3g} to {cells[most].mean:.3g} {unit}")
            said = [f"{group} {span}: least {under(least)}, most {under(most)}."]
        name = "completion time" if measure == "completion" else measure
        return Answer([*said, *_spread(measure, name, unit, cells, comparing)], sure=_sure_of(cells))
    return Answer([])


def _spread(measure: str, name: str, unit: str, cells: Cells, comparing: Comparing | None) -> list[str]:
    """Whether points are alike, or the difference of the largest and the smallest; empty after one run."""
    if comparing is None or len(cells) < 2:
        return []
    least, most = (choose(cells, key=lambda one: cells[one].mean) for choose in (min, max))
    # These two are chosen from all pairs, so the level is corrected (Bonferroni).
    level = 1 - 0.05 / (len(cells) * (len(cells) - 1) / 2)
    apart = comparing(
        measure, most if most != least else next(one for one in cells if one != least), least, level
    )
    if apart.difference.n < 2:
        return []
    much = f"{_rounded(apart.difference, unit)} {'of' if unit else 'points of'} {name}"
    sure = f"(95 %, paired by seed; differences count from {apart.relevant})"
    if apart.outcome == "alike":
        who = "Both" if len(cells) == 2 else f"All {len(cells)}"
        return [f"{who} points are alike: they differ by {'' if len(cells) == 2 else 'up to '}{much} {sure}."]
    who = "The two points differ" if len(cells) == 2 else "The largest and the smallest value differ"
    perhaps = ", which may not count" if apart.outcome == "undecided" else ""
    return [f"{who} by {much}{perhaps} {sure}."]


def _summarise_points(
    scale: Scale, cells: Cells, under: Callable[..., str], group: str, results: Results
) -> list[str]:
    """Counts the points of each band for many points, and names the best and the worst point."""
    who = subject(group, scale, results, named=False)
    told = listed(counted((scale.word(cell) for cell in cells.values()), "{word} at {count}"))
    first = f"Of {len(cells)} points {who} {told}."
    ranked = sorted(cells, key=lambda label: cells[label].mean, reverse=scale.higher)
    ends = [
        f"{name} {under(label)} ({scale.says.format(_rounded(cells[label], scale.unit))})"
        for name, label in (("best", ranked[0]), ("worst", ranked[-1]))
    ]
    return [first, f"{who[:1].upper()}{who[1:]} {listed(ends)}."]


NOTED = {
    "audio": (
        (measures.audio_delay, "mouth to ear {}", "ms", 150.0),
        (measures.concealed, "{} concealed", "%", 1.0),
    ),
    "video": (
        (measures.frozen, "frozen for {} of the time", "%", 1.0),
        (measures.video_delay, "capture to screen {}", "ms", 400.0),
    ),
}
"""Phrases for streams of a session above a bound: the 150 ms and 400 ms of ITU-T G.114, and 1 %."""


def parts_of(name: str, results: Results) -> str:
    """Describes the quality of sound and picture of media sessions, and its causes; empty for others.

    *audio 2.68: mouth to ear 636 ms; video 4.02: frozen for 5.77 % of the time*.
    """
    parts = []
    for stream, score in (("audio", measures.audio_mos), ("video", measures.video_mos)):
        opinion = score(name).compute(results).interval()
        if not opinion.n:
            continue
        noted = []
        for measure, words, unit, above in NOTED[stream]:
            cell = measure(name).compute(results).interval()
            if cell.n and cell.mean > above:
                noted.append(words.format(f"{_three_digits(cell.mean)} {unit}"))
        parts.append(": ".join([f"{stream} {opinion.mean:.2f}", *([", ".join(noted)] if noted else [])]))
    return "; ".join(parts)


def made_of(name: str, results: Results) -> str:
    """Lists the causes that lower the rating of calls and sessions, in words; empty for others.

    *R 70: delay costs 6 points, loss 9, lateness 3*. For sessions see :func:`parts_of`.
    """
    if said := parts_of(name, results):
        return said
    rating = measures.r_factor(name).compute(results).interval()
    costs = {cause: measures.r_cost(cause, name).compute(results).interval() for cause in measures.CAUSES}
    if not rating.n or not all(cost.n for cost in costs.values()):
        return ""
    # A cause that costs less than half a point is left out, unless no cause costs more.
    told = {cause: cost.mean for cause, cost in costs.items() if cost.mean >= 0.5}
    if not told:
        return f"R {rating.mean:.0f}: nothing costs a point"
    (first, cost), *others = told.items()
    points = "point" if round(cost) == 1 else "points"
    said = ", ".join(
        [f"{first} costs {cost:.0f} {points}", *(f"{cause} {cost:.0f}" for cause, cost in others)]
    )
    return f"R {rating.mean:.0f}: {said}"


def _telling(is_unrated: bool) -> Sequence[tuple[str, str]]:
    """Returns the measures that can rate a group. For unrated calls `missed` is excluded, because it ignores delay."""
    return [one for one in TELLING if one[0] != "missed"] if is_unrated else TELLING


def _describe_unrated(
    points: Mapping[Any, Mapping[str, Any]],
    under: Callable[..., str],
    group: str,
    results: Results,
    known: Mapping[str, Cells] | None = None,
) -> list[str]:
    """Describes the measured quality of calls without a rating, at each of a few points or over the range of many.

    Args:
        points: Label to coordinates on the axes.
        under: Words a list of labels.
        group: The flow group.
        results: All runs.
        known: Measure to its mean at each label; measured over `results` without it.
    """
    labels = list(points)
    sentences: list[str] = []
    for several in [[one] for one in labels] if len(labels) <= FEW else [labels]:
        if known is None:
            found = unrated_calls.parts(results, group, [points[one] for one in several])
        else:
            found = {name: [cells[one] for one in several if one in cells] for name, cells in known.items()}
        where = (
            under(*several) if len(several) <= MANY else f"{under(several[0])} and {len(several) - 1} others"
        )
        reason = "" if sentences else unrated_calls.explain(results, group)
        who = _calls_are(group, results, named=False)
        sentences.append(unrated_calls.describe(f"{where[:1].upper()}{where[1:]} {who}", reason, found))
    return sentences


def _calls_are(group: str, results: Results, *, named: bool = True) -> str:
    """The subject of a sentence about calls, rated or not."""
    scale = scale_of("mos")
    assert scale is not None
    return subject(group, scale, results, named=named)


LATEST_MS = 400.0
"""Longest delay of a conversation by ITU-T G.1010, ms. Later streams are not rated by packets missed alone."""

DELAYED_MS = 150.0
"""ITU-T G.114: up to here, delay harms few applications. Streams with more delay are fair at best."""

NOTHING = Interval(math.nan, -math.inf, math.inf, 0)


def _late(delays: Cells) -> Cells:
    """Returns the delays of streams that are too late for a rating by packets missed."""
    return {label: delay for label, delay in delays.items() if delay.n and delay.mean > LATEST_MS}


def _delayed(cells: Cells, delays: Cells) -> Cells:
    """Returns the packets missed by streams other than calls; a long delay limits them to *fair*."""
    why = f"a delay above {DELAYED_MS:g} ms one way"
    return {
        label: held(cell, why if delays.get(label, NOTHING).mean > DELAYED_MS else "")
        for label, cell in cells.items()
    }


def _too_late(lead: str, delays: Sequence[Interval], missed: Sequence[Interval], because: str = "") -> str:
    delay = listed([_rounded(one, "ms") for one in delays])
    part = listed([_rounded(one, "%") for one in missed])
    said = f"{lead} too late for a conversation: delay {delay}, with {part} of the packets missed"
    return f"{said} ({because})." if because else f"{said}."


def list_bands(
    scale: Scale,
    cells: Cells,
    under: Callable[..., str],
    group: str,
    results: Results,
    delays: Mapping[Any, Interval] | None = None,
) -> list[str]:
    """Makes a sentence per band: its alternatives with their means. With packets missed it also gives the delay."""
    delays = {label: one for label, one in (delays or {}).items() if one.n and scale.measure == "missed"}
    late = _late(delays)
    whole, cells = cells, _delayed({label: one for label, one in cells.items() if label not in late}, delays)
    by_bands: dict[tuple[str, ...], list[Any]] = {}
    ranked = sorted(cells.items(), key=lambda one: -one[1].mean if scale.higher else one[1].mean)
    # Numbers are easier to read in numerical order than from best to worst.
    if all(isinstance(label, (int, float)) for label in cells):
        ranked = list(cells.items())
    for label, cell in ranked:
        by_bands.setdefault(tuple(scale.bands(cell)), []).append(label)
    sentences: list[str] = []
    who = subject(group, scale, results, named=False)
    for bands in sorted(by_bands, key=lambda one: [ORDER.index(band) for band in one]):
        labels = by_bands[bands]
        where = under(*labels)
        if len(labels) > MANY:
            where = f"{under(*labels[:1])} and {len(labels) - 1} others"
        whose = who if not sentences else "they are" if who.endswith("are") else "it is"
        lead = f"{where[:1].upper()}{where[1:]} {whose}"
        because = f"delay {_ends([delays[label] for label in labels], 'ms')}" if delays else ""
        sentences.append(_sentence(lead, scale, [cells[label] for label in labels], because))
    if late:
        where = under(*late)
        lead = f"{where[:1].upper()}{where[1:]} {who}"
        sentences.append(_too_late(lead, list(late.values()), [whole[label] for label in late]))
    return sentences


def _describe_kinds(said: Iterable[Remark]) -> list[str]:
    """Sentences on bistable runs, whose mean describes neither kind."""
    return [f"Bistable: {one.text}." for one in said if one.kind == BISTABLE]


def _ends(cells: Sequence[Interval], unit: str) -> str:
    """Wording of means: each of a few, or the range of many."""
    if len(cells) <= FEW:
        return listed([_rounded(cell, unit) for cell in cells])
    return f"{min(cell.mean for cell in cells):.3g} to {max(cell.mean for cell in cells):.3g} {unit}"


def _sentence(lead: str, scale: Scale, cells: Sequence[Interval], because: str = "") -> str:
    """Makes a sentence with the band and means of alternatives, and advice for undecided ones."""
    bands = [band for band in ORDER if any(band in scale.bands(cell) for cell in cells)]
    if len(cells) > FEW:
        ends = (min(cell.mean for cell in cells), max(cell.mean for cell in cells))
        means = " to ".join(f"{end:{'.3g' if scale.unit else '.2f'}}" for end in ends)
        means = f"{means} {scale.unit}".rstrip()
    else:
        means = listed([_rounded(cell, scale.unit) for cell in cells])
    reasons = dict.fromkeys(cell.because for cell in cells if isinstance(cell, Held))
    said = "; ".join([scale.says.format(means), *list(reasons)[:FEW]])
    if len(bands) == 1:
        return f"{lead} {bands[0]}: {said}{f' ({because})' if because else ''}."
    runs = max(cell.n for cell in cells)
    said = f"{said}; {because}" if because else said
    return f"{lead} {describe_bands(bands, runs)} ({said}). {_try(scale, cells)}"


def _try(scale: Scale, cells: Sequence[Interval]) -> str:
    """Returns advice that may settle an undecided band."""
    wanted = [enough(scale, cell) for cell in cells if len(scale.bands(cell)) > 1]
    if any(one is None for one in wanted):
        return "The mean lies too close to a bound to decide with 1000 runs."
    return f"Try `-n {max(one for one in wanted if one is not None)}`."


def _best(line: MeasureLine, cells: Cells, varied: VariedAxis, name: str, unit: str) -> str:
    """Names the best alternative and its lead, paired by seed, then those that are alike, and those undecided."""
    is_less = line.measure.better == "lower"
    ranked = sorted(cells, key=lambda label: cells[label].mean if is_less else -cells[label].mean)
    first, second = ranked[:2]
    level = best_level(len(ranked))
    ahead = {label: line.contrast(varied.axis, first, label, level) for label in ranked[1:]}
    one, other = varied.name(first), varied.name(second)
    if not varied.is_own_transport and varied.axis != "alternative":
        other = str(second)
    limit = f"differences count from {line.relevance.find(line.measure)}"

    def much(label: Any) -> str:
        # A lead is a positive number, for delays too.
        apart = ahead[label].turned() if is_less else ahead[label]
        by = apart.difference
        if by.is_identical:
            digits = f"{by.mean:.4g} {unit} of" if unit else f"{by.mean:.2f} points of"
            return f"{digits} {name} in each of {by.n} runs"
        return f"{_rounded(by, unit)} {'of' if unit else 'points of'} {name}"

    nearest = ahead[second]
    if nearest.difference.n < 2:
        if nearest.is_little:
            return (
                f"In this one pair of runs {varied.names([first, second])} are alike: they differ by {much(second)}; "
                f"{limit}."
            )
        return f"In this one pair of runs {one} is ahead of {other} by {much(second)}; {limit}."
    sure = f"(95 %, paired by seed; {limit})"
    alike = [label for label in ahead if ahead[label].outcome == "alike"]
    open_ = [label for label in ahead if ahead[label].outcome == "undecided"]
    if not alike and not open_:
        return f"{one} is best, ahead of {other} by {much(second)} {sure}."
    ties = [first, *(label for label in ahead if label in alike or label in open_)]
    single = "" if len(ties) == len(ranked) else "No single best: "
    who = varied.names(ties) if len(ties) <= MANY else f"{one} and {len(ties) - 1} others"
    two = "they" if len(ties) == 2 else "the first two"
    if not open_:
        if all(ahead[label].difference.mean == 0 and ahead[label].difference.is_identical for label in alike):
            return f"{single}{who} are alike: they do not differ."
        far = f"they differ by {much(second)}" if len(ties) == 2 else f"they differ by up to {much(ties[-1])}"
        return f"{single}{who} are alike: {far} {sure}."
    reach = nearest.difference.low > 0 or nearest.difference.high < 0
    if len(ties) == 2 and reach:
        said = f"Undecided: {one} is ahead of {other} by {much(second)}, which may not count {sure}."
    else:
        between = f"{single}undecided" if single else "Undecided"
        said = f"{between} between {who}: {two} differ by {much(second)} {sure}."
    bounds = [sign * ahead[label].counts for label in open_ for sign in (1, -1)]
    wanted = [runs_to_decide(ahead[label].difference, bounds) for label in open_]
    return f"{said} Try `-n {max(filter(None, wanted))}`." if all(wanted) else said


def _describe_other_groups(found: Sequence[MeasureLine], varied: VariedAxis) -> list[str]:
    """Describes the effect on all other groups: the range of each group's rating or goodput."""
    rated = {
        line.group: line.measure.id
        for line in found
        if line.measure.id in ("session-mos", "mos") and not line.undefined
    }
    sentences = []
    for line in found:
        group = line.group
        cells = {label: cell for label, cell in line.cells.items() if cell.n}
        wanted = rated.get(group, "goodput")
        if group == varied.group or line.measure.id != wanted or len(cells) < 2:
            continue
        most, least = max(cells, key=lambda one: cells[one].mean), min(cells, key=lambda one: cells[one].mean)
        # These two are chosen from all pairs, so the level is corrected (Bonferroni).
        pairs = len(cells) * (len(cells) - 1) / 2
        apart = line.contrast(varied.axis, most, least, 1 - 0.05 / pairs)
        told = _compare_extremes(apart, f"most {varied.describe(most)}, least {varied.describe(least)}")
        low, high = (f"{cells[one].mean:.3g}" for one in (least, most))
        unit = line.measure.unit
        span = f"{low} {unit}".rstrip() if low == high else f"{low} to {high} {unit}".rstrip()
        whose = " of the worst stream" if wanted == "session-mos" else ""
        what = f"gets {span} of goodput" if wanted == "goodput" else f"has MOS {span}{whose}"
        sentences.append(f"Meanwhile {group} {what}: {told} (differences count from {apart.relevant}).")
    return sentences


def _compare_extremes(apart: Contrast, ends: str) -> str:
    """Compares the largest of several values with the smallest, in words; `ends` names the two."""
    one = apart.difference
    if one.n < 2:
        return "alike in this one run" if apart.is_little else f"{ends}, in this one run"
    if apart.outcome == "undecided":
        return f"{ends}, which may not count" if one.low > 0 else "no significant difference"
    return "alike" if apart.outcome == "alike" else ends


def _rate_stream(name: str, results: Results) -> tuple[Scale, Interval] | tuple[None, None]:
    """Returns the scale and the mean that rate a group; None if no measure is defined."""
    defined = {measure: measures.find(measure, name) for measure, _ in TELLING}
    for measure, scale in _telling(unrated_calls.is_unrated(results, name)):
        if defined[measure].table not in results.tables:
            continue
        cell = defined[measure].compute(results).interval()
        found = scale_of(scale)
        if cell.n and found:
            return found, Events.collect(results, name).hold(cell, measure)
    return None, None


def _describe_transfers(name: str, kind: str, results: Results) -> list[str]:
    """Describes the completion times and goodput of a group's files or pages."""
    noun = "page" if kind == "web" else "file"
    completion = measures.completion(name).compute(results).interval()
    if not completion.n:
        return [f"No {noun} of {name} was complete when the run ended."]
    count = group_measures.count_transfers(results, name)
    goodput, unfinished = (
        one(name).compute(results).interval() for one in (measures.goodput, measures.unfinished)
    )
    took = f"{_rounded(completion, 's')}{'' if count == 1 else ' each'}"
    got = f", with {_rounded(goodput, 'Mb/s')} of goodput" if goodput.n and noun == "file" else ""
    left = (
        f"; {unfinished.mean:.3g} % were unfinished at the end"
        if unfinished.n and unfinished.mean > 0
        else ""
    )
    who = f"The {noun} of {name} takes" if count == 1 else f"The {noun}s of {name} take"
    return [f"{who} {took}{got}{left}."]


def _describe_sessions(name: str, kind: str, results: Results) -> list[str]:
    """Describes the rate of a group's adaptive streams, and their stalls."""
    rate, stalled, start_up = (
        one(name).compute(results).interval()
        for one in (measures.video_rate, measures.stalled, measures.start_up)
    )
    if not (rate.n and stalled.n and start_up.n):
        return [f"No {kind} of {name} had begun to play when the run ended."]
    rows = results.rows("sessions").only(group=name)
    count = max((part.num_rows for part in rows.parted("run")), default=0)
    still = f"stands still for {stalled.mean:.3g} % of the time" if stalled.mean > 0 else "never stands still"
    who = f"The {kind} of {name}" if count == 1 else f"Each of the {count} {kind}s of {name}"
    return [f"{who} plays in {_rounded(rate, 'Mb/s')} after {_rounded(start_up, 's')} and {still}."]


def _picture(scale: Scale, cells: Mapping[str, Interval]) -> Picture:
    return Picture(
        scale,
        [
            Mark(
                str(label),
                _rounded(cell, scale.unit),
                scale.bands(cell),
                scale.locate(cell.mean),
                scale.locate(finite(cell.low, cell.mean)),
                scale.locate(finite(cell.high, cell.mean)),
            )
            for label, cell in cells.items()
        ],
    )


def subject(group: str, scale: Scale, results: Results, *, named: bool = True) -> str:
    """The rated flows with the verb: "The call is", "The 21 calls of voice are"."""
    flows = results.rows("flows").only(group=group)
    counts = sorted({len(part["flow"].unique()) for part in flows.parted("run")})
    nouns = {"mos": "call", "session-mos": "session", "decodable": "video", "responsiveness": "ping"}
    noun = nouns.get(scale.measure, "stream")
    if noun == "call" and group_measures.is_conversation(results, group):
        noun, counts = "conversation", [count // 2 for count in counts]
    article = "The" if named else "the"
    whose = f" of {group}" if named else ""
    if counts == [1]:
        return f"{article} {noun}{'' if group == noun else whose} is"
    number = f" {counts[0]}" if len(counts) == 1 else ""
    return f"{article}{number} {noun}s{whose} are"


def _bare(line: MeasureLine) -> str:
    """A measure's title without its group."""
    return line.measure.title.removeprefix(f"{line.group} ")


def _three_digits(value: float) -> str:
    """Three digits, or all before the point: 1030, not 1.03e+03."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def _rounded(cell: Interval, unit: str) -> str:
    """A mean with its interval: opinion scores with two decimals, as they are printed everywhere."""
    if unit:
        return cell.text(unit=unit) if cell.n > 1 else f"{_three_digits(cell.mean)} {unit}"
    return cell.text(2)


def _describe_extrapolation(line: MeasureLine) -> str:
    """The number of calls with an extrapolated rating, in words; empty for none, and for other measures."""
    said = next((one for one in line.remarks if one.kind == "extrapolated"), None)
    if said is None:
        return ""
    return (
        f"{said.flows} of {said.of} calls lie outside the ranges of the E-model: their MOS is extrapolated."
    )


ONE_RUN = "One run does not show how sure this is. Try `-n 10`."


def _sure(results: Results) -> str:
    """Confidence of the means, in words."""
    n = len(set(results.provenance.seeds))
    return ONE_RUN if n < 2 else f"Means over {n} runs, each with its 95 % interval."


def _sure_of(cells: Cells) -> str:
    runs = sorted({cell.n for cell in cells.values()})
    if runs[-1] < 2:
        return ONE_RUN
    number = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    return f"Means over {number} runs, each with its 95 % interval."
