"""The page of the comparison with ns-2: a matrix of verdicts, a reason for each difference, and all numbers folded."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation import explanations, kept, writing
from validation.compare import closed_forms as opinion
from validation.compare.ns2.cases import cases
from validation.compare.ns2.suite import Outcome
from validation.verdict import MARGIN, RESOLUTION, Comparison, Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from validation.compare.ns2.cases import Case
    from validation.explanations import Explanation

KEPT, WINDOWS = "compare/ns2", "compare/ns2-windows"
EXPLANATIONS = Path(__file__).parents[1] / "explanations.toml"


def data(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Every number of the report."""
    return {
        outcome.case.key: {
            "title": outcome.case.title,
            "seeds": outcome.seeds,
            "measures": {
                comparison.measure: {
                    "fairwave": comparison.ours.to_plain(),
                    "ns2": comparison.theirs.to_plain(),
                    "agrees": comparison.reason or False,
                    "undecided": comparison.undecided,
                }
                for comparison in outcome.comparisons
            },
            "references": {
                comparison.measure: {
                    "fairwave": comparison.ours.to_plain(),
                    "reference": comparison.theirs.to_plain(),
                    "agrees": comparison.reason or False,
                    "undecided": comparison.undecided,
                }
                for comparison in outcome.references
            },
        }
        for outcome in outcomes
    }


def stored(data: dict[str, Any], known: Iterable[Case]) -> list[Outcome]:
    """The outcomes in the numbers of :func:`data`, without their windows, in the order of the cases.

    Cases that are not known any more are left out.
    """

    def comparisons(measures: dict[str, Any], whose: str) -> list[Comparison]:
        return [
            Comparison(measure, Estimate.from_plain(numbers["fairwave"]), Estimate.from_plain(numbers[whose]))
            for measure, numbers in measures.items()
        ]

    return [
        Outcome(
            case,
            comparisons(data[case.key]["measures"], "ns2"),
            data[case.key]["seeds"],
            references=comparisons(data[case.key]["references"], "reference"),
        )
        for case in known
        if case.key in data
    ]


def unexplained(outcomes: Iterable[Outcome], known: list[Explanation]) -> list[tuple[str, str]]:
    """Case and measure of each decided difference without an explanation, those to the references included."""
    return [
        (outcome.case.key, comparison.measure)
        for outcome in outcomes
        for comparison in [*outcome.comparisons, *outcome.references]
        if not comparison.agrees
        and not comparison.undecided
        and explanations.find(known, outcome.case.key, comparison.measure) is None
    ]


def markdown(outcomes: Sequence[Outcome], known: list[Explanation], command: str) -> str:
    """The report."""
    return "\n".join(_lines(outcomes, known, command)) + "\n"


def _lines(outcomes: Sequence[Outcome], known: list[Explanation], command: str) -> Iterator[str]:
    compared = sum(len(outcome.comparisons) for outcome in outcomes)
    disagreeing = [comparison for outcome in outcomes for comparison in outcome.disagreeing]
    undecided = sum(comparison.undecided for comparison in disagreeing)
    decided = len(disagreeing) - undecided
    missing = unexplained(outcomes, known)
    yield "# Comparison with ns-2"
    yield ""
    yield (
        f"**Of {compared} measures in {len(outcomes)} cases, {compared - len(disagreeing)} agree"
        f" ({_share(compared - len(disagreeing), compared)}), {undecided} are undecided and {decided} differ, of which"
        f" {len(missing)} without an explanation.** fairwave (preset `ns2`) and ns-2.35 run the same plan: the same"
        " network, flows and starting times. Each simulator uses its own random numbers during the run."
    )
    yield ""
    yield f"`{command}` measured the numbers of this page."
    yield ""
    for case, measure in missing:
        yield f"- unexplained: `{measure}` in `{case}`"
    yield "## Verdicts"
    yield ""
    yield (
        "✓ agrees, ? undecided, ✗ differs, – not measured. Where the verdicts in a cell differ, the cell counts them."
        " A cell covers all cases of a family, all flows, the whole run and its steady part. Click a family to see its"
        " cases."
    )
    yield ""
    families: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        families.setdefault(outcome.case.family, []).append(outcome)
    yield from writing.matrix(
        "family",
        {
            f'<a href="#{_anchor(family)}">{family}</a>': [found for one in group for found in _verdicts(one)]
            for family, group in families.items()
        },
    )
    yield ""
    used: dict[str, Explanation] = {}
    lines = []
    for outcome in outcomes:
        differing = [found for found in outcome.disagreeing if found.verdict == "differs"]
        for place, found in enumerate(differing):
            about = "" if place else outcome.case.title
            lines.append(f"| {about} | {row(found)} | {_verdict(outcome, found, known, used)} |")
    references = list(_references(outcomes, known, used))
    if lines:
        yield "## Differences"
        yield ""
        yield "| case | measure | fairwave | ns-2 | difference | reason |"
        yield "|---|---|---|---|---|---|"
        yield from lines
        yield ""
    if used:
        yield "## Reasons"
        yield ""
        for one in used.values():
            yield f"### {one.id}"
            yield ""
            yield one.text
            yield ""
    yield from opinion.lines()
    yield ""
    yield "## Method"
    yield ""
    yield from writing.folded("Margins, and what was fixed in advance", _method())
    yield "## All numbers"
    yield ""
    yield from writing.folded("Results made independently", references)
    for family, group in families.items():
        yield from writing.folded(family, _family(group, known, used), _anchor(family))


def _anchor(family: str) -> str:
    return f"family-{family.lower().replace(' ', '-')}"


def _verdicts(outcome: Outcome) -> list[tuple[str, str]]:
    return [(one.measure, one.verdict) for one in outcome.comparisons]


def _method() -> Iterator[str]:
    resolutions = ", ".join(f"{name} {value:g}" for name, value in RESOLUTION.items())
    yield (
        f"**Margin.** A measure agrees if the means differ by at most {MARGIN:.0%}, if each mean lies inside the"
        " other's 95 % interval (Student's, over seeds), or if they differ by less than the resolution of the measure"
        f" ({resolutions}). Otherwise it is *undecided* where the 95 % interval of the difference (Welch's) contains 0:"
        " these seeds cannot distinguish the two simulators. Every other difference has a reason."
    )
    yield ""
    yield (
        "**What was fixed in advance.** The three ways to agree were written down before the first comparison. After a"
        " first look at results came three changes: the category *undecided* (without it, those measures would count"
        " as differing), the numbers of runs (10 for most cases at first), and random delays of segments where a title"
        " or scenario says so, so that ties do not decide."
    )


def _family(
    group: Sequence[Outcome], known: list[Explanation], used: dict[str, Explanation]
) -> Iterator[str]:
    yield from writing.matrix("case", {outcome.case.title: _verdicts(outcome) for outcome in group})
    yield ""
    for outcome in group:
        if outcome.case.trace:
            yield f"![Congestion window over time, {outcome.case.title}]({figure_name(outcome)})"
            yield ""
    yield "| case | measure | fairwave | ns-2 | difference | verdict |"
    yield "|---|---|---|---|---|---|"
    for outcome in group:
        runs = "1 run" if outcome.seeds == 1 else f"{outcome.seeds} runs"
        about = f"{outcome.case.title}, `{outcome.case.key}`, {runs} each"
        for comparison in outcome.comparisons:
            yield f"| {about} | {row(comparison)} | {_verdict(outcome, comparison, known, used)} |"
            about = ""


def _references(
    outcomes: Sequence[Outcome], known: list[Explanation], used: dict[str, Explanation]
) -> Iterator[str]:
    yield (
        "The results in `validation/compare/ns2/references` were made with ns-2 but without fairwave, with other"
        " starting times. The table compares means and intervals over the seeds of each. `cargo test -p fairwave-sim`"
        " compares the TCP dumbbells of that folder with fairwave (Reno, NewReno, SACK, Vegas, AIMD; 10, 50 and 100"
        " flows)."
    )
    yield ""
    yield "| case | measure | fairwave | reference | difference | verdict |"
    yield "|---|---|---|---|---|---|"
    for outcome in outcomes:
        for comparison in outcome.references:
            verdict = _verdict(outcome, comparison, known, used)
            yield f"| {outcome.case.title} | {row(comparison)} | {verdict} |"


def row(comparison: Comparison) -> str:
    """The cells of a comparison: measure, ours, theirs, difference."""
    return f"{comparison.measure} | {_shown(comparison.ours)} | {_shown(comparison.theirs)} | {_difference(comparison)}"


def _verdict(
    outcome: Outcome, comparison: Comparison, known: list[Explanation], used: dict[str, Explanation]
) -> str:
    if comparison.reason:
        return {"margin": "✓", "intervals": "✓ intervals", "resolution": "✓ resolution"}[comparison.reason]
    if comparison.undecided:
        return "? undecided"
    reason = explanations.find(known, outcome.case.key, comparison.measure)
    if reason is None:
        return "✗ unexplained"
    used.setdefault(reason.id, reason)
    return f"✗ [{reason.id}](#{reason.id})"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def figure_name(outcome: Outcome) -> str:
    """The figure of a case's windows, relative to the report."""
    return f"figures/validation-{outcome.case.key.replace('/', '-')}.svg"


def windows(outcome: Outcome) -> dict[str, list[list[float]]]:
    """The congestion windows of one flow in both simulators, as they are kept: time in s, window in segments."""
    until = outcome.case.trace_until
    both = {"ns2": outcome.ns2_window, "fairwave": outcome.ours_window}
    return {name: [[time, value] for time, value in trace if time <= until] for name, trace in both.items()}


def draw(title: str, curves: Mapping[str, Sequence[Sequence[float]]], target: Path) -> None:
    """Draws the congestion windows of one flow in both simulators, on top of each other."""
    import matplotlib as mpl

    mpl.use("Agg")
    # Without a date and with fixed ids a figure changes only when its curves do.
    mpl.rcParams["svg.hashsalt"] = "fairwave"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
    wide: dict[str, Any] = {"color": "#d95f02", "linewidth": 2.5, "alpha": 0.55, "label": "ns-2.35"}
    thin: dict[str, Any] = {"color": "#1b4f72", "linewidth": 1.0, "label": "fairwave"}
    for trace, style in ((curves["ns2"], wide), (curves["fairwave"], thin)):
        axes.plot([time for time, _ in trace], [value for _, value in trace], **style)
    axes.set(xlabel="time (s)", ylabel="window (segments)", title=title)
    axes.margins(x=0)
    axes.legend(loc="lower right")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def _shown(estimate: Estimate) -> str:
    if math.isnan(estimate.mean):
        return "–"
    if math.isinf(estimate.half):
        return f"{estimate.mean:.4g}"
    return f"{estimate.mean:.4g} ± {estimate.half:.2g}"


def _difference(comparison: Comparison) -> str:
    return "" if math.isnan(comparison.difference) else f"{comparison.difference:+.1%}"


def render(folder: Path) -> str:
    """Renders the page and its pictures from the kept numbers."""
    outcomes = stored(kept.read(KEPT), cases())
    curves = kept.read(WINDOWS)
    for outcome in outcomes:
        if outcome.case.trace:
            draw(outcome.case.title, curves[outcome.case.key], folder / figure_name(outcome))
    return markdown(outcomes, explanations.read(EXPLANATIONS), "make validate")
