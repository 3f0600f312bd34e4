"""Pictures of all readings of a paper: the matrix of claims and readings, and the share of each factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_study.claims import Verdict
from fairwave_study.shares import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fairwave.provenance import Provenance
    from fairwave_report.figures import Drawing
    from fairwave_study.deciding import FactorShare
    from fairwave_study.overall import Exploration, JudgedReading

GOOD, OPEN, BAD, SAME = (
    next(one.colour for one in style.LOOKS if one.name == name)
    for name in ("green", "orange", "vermilion", "sky")
)
COLOURS = {
    str(Verdict.REPRODUCED): GOOD,
    str(Verdict.UNDECIDED): OPEN,
    str(Verdict.NOT_REPRODUCED): BAD,
    str(Verdict.ALIKE): SAME,
}
"""Verdict to colour."""


def order_readings(exploration: Exploration) -> list[JudgedReading]:
    """The readings drawn, those with most claims first: the order of every strip and matrix."""
    claims = list(exploration.about)

    def worth(one: JudgedReading) -> tuple[int, int]:
        against = sum(verdict == str(Verdict.NOT_REPRODUCED) for verdict in one.verdicts.values())
        return -one.held(claims), against

    return sorted(exploration.drawn, key=worth)


def strip(exploration: Exploration, claim: str) -> list[tuple[str, int, int]]:
    """A claim's verdicts over the ordered readings, in runs of equal ones: tone, start, length."""
    tones = {
        str(Verdict.REPRODUCED): "good",
        str(Verdict.UNDECIDED): "open",
        str(Verdict.NOT_REPRODUCED): "bad",
        str(Verdict.ALIKE): "same",
    }
    found: list[tuple[str, int, int]] = []
    for at, one in enumerate(order_readings(exploration)):
        tone = tones[one.verdicts[claim]]
        if found and found[-1][0] == tone:
            found[-1] = (tone, found[-1][1], found[-1][2] + 1)
        else:
            found.append((tone, at, 1))
    return found


def pictures(
    exploration: Exploration, folder: Path, provenance: Provenance, base: Mapping[str, str] | None = None
) -> list[Drawing]:
    """The matrix and the factors' shares, drawn and written.

    Args:
        exploration: All readings.
        folder: Where pictures and numbers go.
        provenance: Where the numbers come from.
        base: Claim to the base reading's verdict on the study's page; that of the exploration when None.
    """
    return [_matrix(exploration, folder, provenance, base), _shares(exploration, folder, provenance)]


def draw_matrix(axes: Axes, base: Mapping[str, str], columns: Sequence[Mapping[str, str]]) -> None:
    """Claims in rows, readings in columns, a colour per verdict; the base apart on the left.

    Args:
        axes: Where to draw.
        base: Claim to the base reading's verdict.
        columns: The same for each reading, from left to right.
    """
    from matplotlib.colors import ListedColormap

    claims = list(base)
    numbers = {verdict: value for value, verdict in enumerate(COLOURS)}
    gap = max(1, len(columns) // 60)
    left, right = -3 * gap - 0.5, len(columns) - 0.5
    looks: dict[str, Any] = {
        "cmap": ListedColormap(list(COLOURS.values())), "vmin": 0, "vmax": len(COLOURS) - 1, "aspect": "auto",
        "interpolation": "nearest",
    }  # fmt: skip
    for cells, extent in (
        ([[numbers[base[claim]]] for claim in claims], (left, -gap - 0.5)),
        ([[numbers[one[claim]] for one in columns] for claim in claims], (-0.5, right)),
    ):
        axes.imshow(cells, extent=(*extent, len(claims) - 0.5, -0.5), **looks)
    axes.set_xlim(left, right)
    axes.set_yticks(range(len(claims)), claims)
    axes.set_xticks([-2 * gap - 0.5, (len(columns) - 1) / 2], ["base", f"{len(columns)} readings"])
    axes.hlines([row - 0.5 for row in range(1, len(claims))], left, right, colors=style.PAPER, linewidth=1.2)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def legend(figure: Any) -> None:
    """Names the colours of verdicts."""
    from matplotlib.patches import Patch

    words = {str(Verdict.NOT_REPRODUCED): "contradicted"}
    figure.legend(
        handles=[
            Patch(color=colour, label=words.get(verdict, verdict)) for verdict, colour in COLOURS.items()
        ],
        loc="outside upper left",
        ncols=len(COLOURS),
    )


def _matrix(
    exploration: Exploration, folder: Path, provenance: Provenance, given: Mapping[str, str] | None
) -> Drawing:
    claims = list(exploration.about)
    with drawing.canvas("readings-matrix", (9.2, 0.9 + 0.24 * len(claims))) as canvas:
        base = {claim: (given or {}).get(claim, exploration.about[claim].base) for claim in claims}
        draw_matrix(canvas.subplots(), base, [one.verdicts for one in order_readings(exploration)])
        legend(canvas)
        return drawing.save(
            canvas,
            folder,
            "readings-matrix",
            table(exploration),
            provenance,
            title="Every claim in every reading",
            caption=(
                "Each column is a reading of the paper, drawn from all factors at once; those in which most claims "
                "hold stand to the left. The base reading, the most plausible one, is apart"
                + (", with all replications of the study." if given else ".")
            ),
            alt=(
                f"Matrix of {len(claims)} claims and {len(exploration.drawn)} readings; the shares are in the table of "
                "claims over all readings"
            ),
        )  # fmt: skip


def _shares(exploration: Exploration, folder: Path, provenance: Provenance) -> Drawing:
    names = [factor.id for factor in exploration.readings.factors]
    claims = list(exploration.about)
    found = {
        claim: {one.factors[0]: one for one in exploration.about[claim].decided.singles} for claim in claims
    }
    rows = [
        {"claim": claim, "factor": name, "share": found[claim][name].share, "p": found[claim][name].p}
        for claim in claims
        for name in names
    ]
    with drawing.canvas("readings-factors", (9.2, 1.7 + 0.24 * len(claims))) as canvas:
        draw_factors(canvas, names, found)
        return drawing.save(
            canvas,
            folder,
            "readings-factors",
            pl.DataFrame(rows),
            provenance,
            title="Which factors decide which claims",
            caption=(
                "Share of a verdict's variance over the readings that one factor explains alone, in %, if it is "
                "above chance (F test, p < 0.05 after Bonferroni). Pairs and trees are in the table below."
            ),
            alt="Heat map of claims and factors; the numbers are in its data",
        )


def draw_factors(
    canvas: Figure, names: Sequence[str], found: Mapping[str, Mapping[str, FactorShare]]
) -> None:
    """Draws claims in rows and factors in columns; a number where a factor accounts for more than chance.

    Args:
        canvas: Where to draw.
        names: The factors.
        found: Claim to each factor's share.
    """
    axes = canvas.subplots()
    cells = [[shares[name].share for name in names] for shares in found.values()]
    image = axes.imshow(cells, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_yticks(range(len(found)), list(found))
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    for row, shares in enumerate(found.values()):
        for column, name in enumerate(names):
            share = shares[name]
            if share.p < 0.05:
                axes.text(
                    column, row, f"{100 * share.share:.0f}", ha="center", va="center", fontsize=8,
                    color=style.LIGHT_TEXT if share.share > 0.5 else style.DARK_TEXT,
                )  # fmt: skip
    axes.grid(visible=False)
    canvas.colorbar(image, ax=axes, label="share of the verdicts' variance", shrink=0.8)


def table(exploration: Exploration) -> pl.DataFrame:
    """Every reading that was judged: kind, factors' values, verdicts."""
    return pl.DataFrame(
        [{"kind": one.candidate.kind, **one.candidate.reading, **one.verdicts} for one in exploration.judged]
    )


def claims_table(exploration: Exploration) -> pl.DataFrame:
    """Each claim over all readings: verdict, deciding factors, and the nearest reading with another verdict."""
    rows = []
    for name, one in exploration.about.items():
        tree = one.decided.tree
        pairs = [" with ".join(pair.factors) for pair in one.decided.pairs[:2]]
        rows.append(
            {
                "claim": name,
                "over all readings": one.verdict,
                "base reading (same seeds)": one.base,
                **{
                    name: percent(getattr(one, name), one.shares.interval(name))
                    for name in ("reproduced", "alike", "undecided", "contradicted")
                },
                "means as claimed": percent(one.points, one.shares.interval("points")),
                "weighted": (
                    f"{percent(one.weighted.reproduced)} (of {one.weighted.n:.0f} effective)"
                    if one.weighted
                    else None
                ),
                "decided by": ", ".join(one.decided.factors[:4]) or None,
                "pairs": ", ".join(pairs) or None,
                "tree": ", ".join(tree.factors) if tree and tree.useful else None,
                "tree right %": 100 * tree.accuracy if tree else None,
                "guessing right %": 100 * tree.guessing if tree else None,
                "turns at": describe_changes(one.nearest) if one.nearest else None,
                "into": one.turned or None,
            }
        )
        rows += [
            {
                "claim": f"{name}, {part}",
                "over all readings": told.verdict,
                **{
                    word: percent(getattr(told, word), told.interval(word))
                    for word in ("reproduced", "alike", "undecided", "contradicted")
                },
                "means as claimed": percent(told.points, told.interval("points")),
            }
            for part, told in one.parts.items()
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


def best_table(exploration: Exploration) -> pl.DataFrame:
    """Per paper: the reading in which most claims hold together, the authors' likely set-up and the base."""
    several = (
        ("most hold together", exploration.best),
        ("the authors' likely set-up", exploration.likely),
        ("the base", exploration.anew),
    )
    return pl.DataFrame(
        [
            {
                "paper": one.paper,
                "reading": words,
                "claims": one.of,
                "held in the base reading": one.base,
                "held when chosen": one.found,
                "held on other seeds": one.held,
                "which": ", ".join(one.claims) or None,
                "contradicted on other seeds": ", ".join(one.against) or None,
                "differs from the base by": describe_changes(exploration.readings.differs(one.reading))
                or "nothing",
            }
            for words, readings in several
            for one in readings
        ],
        infer_schema_length=None,
    )


def never_table(exploration: Exploration) -> pl.DataFrame:
    """The claims that no reading reproduces, and how near they come."""
    rows = [
        {"claim": name, "contradicted %": 100 * one.contradicted, "comes nearest": one.closest}
        for name, one in exploration.about.items()
        if one.ever == 0
    ]
    return pl.DataFrame(
        rows, schema={"claim": pl.String, "contradicted %": pl.Float64, "comes nearest": pl.String}
    )


def factors_table(exploration: Exploration) -> pl.DataFrame:
    """Every factor with its values and their reasons, in order of plausibility."""
    return pl.DataFrame(
        [
            {
                "factor": factor.id,
                "value": value.name + (" (base)" if rank == 0 else ""),
                "plausibility": value.plausibility,
                "admitted by": value.admits + (f" Flagged: {value.flagged}" if value.flagged else ""),
                "open": factor.open if rank == 0 else None,
                "order": factor.ranking if rank == 0 else None,
                "kind": (factor.kind or None) if rank == 0 else None,
            }
            for factor in exploration.readings.factors
            for rank, value in enumerate(factor.values)
        ],
        infer_schema_length=None,
    )


def describe_changes(changes: Any) -> str:
    """Changes to the base as text: "buffers = 50 kB, red = 1993"."""
    return ", ".join(f"{name} = {value}" for name, value in changes.items())


FEW = 3
"""Changes to the base that a sentence names; more are in the tables and the ledger."""


def sentences(exploration: Exploration, claim: str) -> list[str]:
    """Two sentences about a claim over all readings."""
    one = exploration.about[claim]
    alike = f", {percent(one.alike)} show no difference that counts" if one.alike else ""
    first = (
        f"Of {one.n} readings {percent(one.reproduced, one.shares.interval('reproduced'))} reproduce it, "
        f"{percent(one.contradicted)} contradict it{alike} and {percent(one.undecided)} leave it undecided; in "
        f"{percent(one.points)} all means are on the claimed side."
    )
    if one.parts:
        first += (
            " Its parts are reproduced in "
            + ", ".join(f"{percent(part.reproduced)} ({name})" for name, part in one.parts.items())
            + "."
        )
    tree = one.decided.tree
    if one.nearest is None:
        second = "No reading that was judged turns it."
    else:
        where = f"nearest to the base with {describe_changes(one.nearest)} ({one.turned})"
        if len(one.nearest) > FEW:
            where = f"in no reading that differs from the base in fewer than {len(one.nearest)} factors"
        second = f"It turns {where}"
        if one.decided.factors:
            second += f", and is decided by {_listed(one.decided.factors[:3])}"
        if tree and tree.useful:
            second += (
                f" (a tree on {_listed(tree.factors[:3])} predicts {tree.accuracy:.0%} of unseen readings, "
                f"guessing {tree.guessing:.0%})"
            )
        second += "."
    return [first, second]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
