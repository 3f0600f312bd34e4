"""Answers from results alone, without their scenario: the verdict in words, and differences of alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.answers import fates, group_measures, naming, verdict
from fairwave.answers.events import Events
from fairwave.measuring import measures
from fairwave.measuring.relevance import USUAL, Contrast, Relevance, Relevant, contrast
from fairwave.measuring.statistics import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from fairwave.answers.answer import Answer
    from fairwave.ask.wording import MeasureRequest
    from fairwave.measuring.statistics import Interval
    from fairwave.notebook import PageView
    from fairwave.results import Results
    from fairwave.scenario import Scenario


def answer(results: Results, group: str | None = None, relevance: Relevance = USUAL) -> Answer:
    """Rates the flows, in the wording of the terminal and of pages.

    Args:
        results: Runs with or without axes.
        group: The flow group that is compared; with axes the first that carries a stream if left out.
        relevance: The smallest differences that count.

    Raises:
        LookupError: There is no such group.
    """
    groups = _groups(results)
    if group is not None:
        check_group(results, group)
    if not results.axes:
        kinds = {name: _traffic(results, name) for name in ([group] if group else groups)}
        return verdict.judge_run(
            results, kinds, lambda name: verdict.made_of(name, results) or fates.summed_up(results, name)
        )
    chosen = group or _compared(results)
    if len(results.axes) == 1:
        from fairwave.answers.lines import lines

        (axis,) = results.axes
        key = axis if "." in axis else ""
        found = lines(results, axis, chosen, relevance=relevance)
        return verdict.judge_comparison(found, axis, chosen, results, key)
    return _answer_grid(results, chosen, relevance)


def _traffic(results: Results, group: str) -> str:
    """The kind of a group's traffic for the verdict: `stream` is an adaptive stream."""
    if "sessions" in results.tables and group in results.rows("sessions")["group"].unique():
        return "stream"
    kind = group_measures.kind_of(results, group)
    return "" if kind == "stream" else kind


def _answer_grid(results: Results, group: str, relevance: Relevance) -> Answer:
    """Rates the points of several axes."""
    usual = {
        "transfer": [measures.completion(group), measures.goodput(group)],
        "bulk": [measures.goodput(group)],
        "stream": [*group_measures.headline(group), measures.delay(group)],
    }[group_measures.kind_of(results, group)]
    points = {
        ", ".join(f"{naming.short_key(axis)} = {label}" for axis, label in point.items()): point
        for point in usual[0].compute(results).points()
    }
    taken = {one.id: one.compute(results) for one in usual}
    events = Events.collect(results, group)
    found = [
        (name, {label: events.hold(measured.interval(**at), name, **at) for label, at in points.items()})
        for name, measured in taken.items()
    ]

    def comparing(measure: str, one: Any, other: Any, level: float) -> Contrast:
        ours, theirs = (taken[measure].map_seeds(**points[label]) for label in (one, other))
        return _compare_pairs(ours, theirs, relevance.find(taken[measure].measure), level)

    return verdict.judge_points(
        found, naming.VariedAxis("alternative", group).describe, group, results, comparing
    )


def _compare_pairs(
    ours: Mapping[int, float], theirs: Mapping[int, float], relevant: Relevant, level: float = LEVEL
) -> Contrast:
    """Compares two alternatives under the seeds that both have."""
    seeds = sorted(ours.keys() & theirs.keys())
    return contrast([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds], relevant, level)


def compared(
    results: Results,
    one: Any,
    other: Any,
    measure: str,
    group: str | None,
    at: dict[str, Any],
    relevance: Relevance = USUAL,
) -> Contrast:
    """Compares `one` with `other`: their difference, paired by seed, and the smallest difference that counts.

    Args:
        results: Runs of alternatives.
        one: Label of an alternative.
        other: Label of the alternative that is subtracted.
        measure: Name of the measure.
        group: The flow group; all flows when None.
        at: Labels of the other axes.
        relevance: The smallest differences that count.

    Raises:
        LookupError: There are no alternatives, or none with such a label; the message lists the labels.
    """
    measured = results.measured(measure, group)
    if not results.axes:
        raise LookupError(
            "these runs have no alternatives; compare some first: fairwave.compare(scenario, "
            '{"flow.voice.transport": ["udp", "tcp/vegas"]})'
        )
    free = [axis for axis in results.axes if axis not in at]
    for axis in free:
        labels = measured.labels(axis)
        if one in labels and other in labels:
            rest = [name for name in free if name != axis and len(measured.labels(name)) > 1]
            if rest:
                example = ", ".join(f"at={{{name!r}: {measured.labels(name)[0]!r}}}" for name in rest[:1])
                raise LookupError(
                    f"say where on {', '.join(rest)} the two are compared; for example {example}"
                )
            ours, theirs = (measured.map_seeds(**at, **{axis: label}) for label in (one, other))
            if not ours.keys() & theirs.keys():
                raise LookupError(
                    f"{one!r} and {other!r} have no seed in common, so their runs cannot be paired"
                )
            return _compare_pairs(ours, theirs, relevance.find(measured.measure))
    known = "; ".join(f"{axis}: {', '.join(repr(label) for label in measured.labels(axis))}" for axis in free)
    raise LookupError(f"no axis has both {one!r} and {other!r}; there are {known}")


def difference(
    results: Results, one: Any, other: Any, measure: str, group: str | None, at: dict[str, Any]
) -> Interval:
    """The mean of `one` − `other`, paired by seed; arguments as of `compared`."""
    return compared(results, one, other, measure, group, at).difference


def page(
    results: Results, out: Path, scenario: Scenario | None, group: str | None, relevance: Relevance = USUAL
) -> PageView:
    """Writes the page of runs or of a comparison; arguments and errors as for `Results.page`."""
    from fairwave.folders import check_folder
    from fairwave.layers import layer
    from fairwave.notebook import PageView

    check_folder(out)
    if group is not None:
        check_group(results, group)
    if len(results.axes) > 1:
        raise LookupError(
            f"a page shows one axis, and {', '.join(results.axes)} vary; for several, "
            "`fairwave sweep --out FOLDER` writes a page"
        )
    pages = layer("pages")
    if results.axes:
        (axis,) = results.axes
        key = axis if "." in axis else ""
        title = ", ".join(dict.fromkeys(results.provenance.scenarios.values()))
        from fairwave.answers.lines import lines

        chosen = group or _compared(results)
        made = pages.write_comparison(
            results, axis, chosen, out, found=lines(results, axis, chosen, relevance=relevance),
            title=title, key=key, scenario=scenario.to_toml() if scenario is not None else "",
        )  # fmt: skip
        return PageView(made)
    if scenario is None:
        raise TypeError(
            "results.page needs the scenario of these runs: results.page('out/page', scenario=call)"
        )
    return PageView(pages.drawn(scenario, results, results.provenance.seeds[0], out, []))


def plot(
    results: Results,
    measure: str | Sequence[str],
    group: str | None,
    kind: str | None,
    over: str | None,
    at: Mapping[str, Any] | None,
    style: str | None,
    save: str | Path | None,
) -> Figure:
    """Draws measures; arguments and errors as for `Results.plot`."""
    from fairwave.extras import need_all
    from fairwave.layers import layer

    texts = [measure] if isinstance(measure, str) else measure
    if not isinstance(texts, (list, tuple)) or not texts or not all(isinstance(one, str) for one in texts):
        raise TypeError(
            f"measure is {measure!r:.60}, but must be a text or a list of texts; write for example 'mos.voice'"
        )
    for name, value, example in (
        ("group", group, "voice"), ("kind", kind, "violin"), ("style", style, "paper"),
        ("over", over, next(iter(results.axes), "flow.voice.count")),
    ):  # fmt: skip
        if value is not None and not isinstance(value, str):
            raise TypeError(
                f"{name} is {value!r:.60}, but must be a text; write for example {name}={example!r}"
            )
    if at is not None and not isinstance(at, Mapping):
        raise TypeError(
            f"at is {at!r:.60}, but must be a dictionary of axes to labels; write for example "
            "at={'flow.voice.count': 10}"
        )
    if save is not None and not isinstance(save, (str, PathLike)):
        raise TypeError(f"save is {save!r:.60}, but must be a path; write for example save='mos.pdf'")
    wanted = [asked(results, one, group) for one in dict.fromkeys(texts)]
    need_all("results.plot", "report")
    made: Figure = layer("pages").figure(
        results, wanted, kind, over, dict(at or {}), style, Path(save) if save is not None else None
    )
    return made


def asked(results: Results, text: str, group: str | None) -> MeasureRequest:
    """Reads the name of a measure, as `--require` does: `mos.voice`, `mos`, `utilisation.r1>r2`.

    Args:
        results: The runs.
        text: The measure.
        group: The flow group, if the text does not name it.

    Raises:
        fairwave.ask.AskError: There is no such measure, or text and group name two groups.
        LookupError: The runs have no such flow group or link direction; the message lists the existing ones.
    """
    from fairwave.ask.wording import AskError, measure

    if group is not None and not isinstance(group, str):
        raise TypeError(f"group is {group!r:.60}, but must be a text; write for example group='voice'")
    name, dot, whose = text.strip().partition(".")
    if group is not None and dot and whose != group:
        raise AskError(f"{text!r} names {whose!r}, and group is {group!r}; name one of them")
    found = measure(f"{name}.{group}" if group is not None else text)
    whose = found.text.partition(".")[2]
    if ">" in whose:
        _check_link(results, whose)
    elif whose:
        check_group(results, whose)
    return found


def _check_link(results: Results, name: str) -> None:
    """Rejects a link direction that is in no run."""
    found = [str(one) for one in results.rows("links")["link"].unique()]
    if name not in found:
        raise LookupError(f"no link direction {name!r} in these runs, which have {naming.shortened(found)}")


def _compared(results: Results) -> str:
    """Returns the flow group that is compared by default: the first that carries a stream."""
    groups = _groups(results)
    return next((one for one in groups if group_measures.kind_of(results, one) == "stream"), groups[0])


def _groups(results: Results) -> list[str]:
    return [str(one) for one in results.rows("groups")["group"].unique()]


def check_group(results: Results, group: str) -> None:
    """Rejects a flow group that is in no run.

    Raises:
        LookupError: There is no such group; the message lists the existing ones.
    """
    found = {
        str(one)
        for name in ("flows", "groups")
        if name in results.tables and "group" in results.rows(name).column_names
        for one in results.rows(name)["group"].unique()
    }
    if group not in found and found:
        from difflib import get_close_matches

        near = get_close_matches(group, found, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise LookupError(
            f"no flow group {group!r} in these runs, which have {naming.shortened(sorted(found))}{hint}"
        )
