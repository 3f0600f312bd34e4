"""The full pages of all studies, and all claims at a glance, from the ledgers in ``results/studies``.

``make results`` renders them. ``python -m validation studies FOLDER`` keeps new results: ``FOLDER/NAME`` is the folder
of ``fairwave study NAME --explore 128``.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.provenance import Provenance
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_study import deciding, experiments
from fairwave_study import overview as shown
from fairwave_study.claims import Verdict
from fairwave_study.digest import digest
from fairwave_study.overall import SCORES
from fairwave_study.shares import Shares, percent
from validation import kept

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("voice", "smoothness", "video", "dropping")
OWN = ("today", "future", "conference", "network", "radio")
"""Studies with fairwave's claims: no paper, so no readings."""
TITLES = {
    "000": "Assessment of Internet voice transport with TCP",
    "001": "Evaluation of transport services for VoIP",
    "002": "DVRC and layered video",
    "003": "TCP(α, β), γ and δ",
    "004": "Which packet to drop",
}
"""The subject of each paper."""


def keep(folder: Path) -> None:
    """Keeps ledger, digest and the verdicts of every reading of the studies that were run into `folder`."""
    for name in (*NAMES, *OWN):
        source = folder / name
        if not (source / "ledger.json").is_file():
            continue
        ledger = json.loads((source / "ledger.json").read_text(encoding="utf-8"))
        provenance = ledger["provenance"]
        provenance["scenarios"] = len(provenance["scenarios"])
        provenance["command"] = re.sub(r" --out \S+", "", provenance["command"])
        kept.write(f"studies/{name}", ledger)
        if name in OWN:
            continue
        readings = source / "tables" / "readings.csv"
        kept.write_table(
            f"studies/{name}-readings", pl.read_csv(readings, infer_schema=False, comment_prefix="#")
        )


def explored(name: str) -> tuple[dict[str, Any], pl.DataFrame] | None:
    """A study's ledger and the verdicts of every reading."""
    ledger, readings = f"studies/{name}", f"studies/{name}-readings"
    if not (kept.exists(ledger) and kept.exists(readings)):
        return None
    return kept.read(ledger), kept.read_table(readings)


def overall(told: dict[str, Any]) -> Shares:
    """A claim's shares over the readings drawn, from a ledger of whichever release."""
    return Shares.from_dict(told)


def claims_of(ledger: dict[str, Any], paper: str) -> list[dict[str, Any]]:
    """The claims about a paper that were judged in every reading."""
    return [one for one in ledger["claims"] if paper in one["source"] and one["readings"]]


SHARES = ("reproduced", "alike", "undecided", "contradicted", "points")
"""The shares that a row has, in order of its columns."""


def _known(ledger: dict[str, Any]) -> list[str]:
    """The known shares of some claim. An earlier release did not distinguish *alike* from *undecided*."""
    told = [overall(one["readings"]) for one in ledger["claims"] if one["readings"]]
    return [name for name in SHARES if not all(math.isnan(getattr(one, name)) for one in told)]


def not_explored(ledger: dict[str, Any]) -> str:
    """The common settings of a study's readings, and the reductions of their runs, in words."""
    same = [one["id"] for one in ledger["assumptions"] if not one["swept"]]
    told = (
        f" Assumptions that are not explored, {len(same)} of {len(ledger['assumptions'])}: {', '.join(same)}."
    )
    shortened = ledger["exploration"].get("shortened")
    return (told if same else "") + (
        f" Its runs are smaller than the study's own: {shortened}" if shortened else ""
    )


def sentences(ledger: dict[str, Any], paper: str) -> list[str]:
    """Sentences about reliable claims."""
    claims = claims_of(ledger, paper)
    by: dict[str, list[str]] = {}
    for one in claims:
        by.setdefault(overall(one["readings"]).verdict, []).append(one["id"])
    hanging = by.get("hangs on the reading", [])
    mostly, never = by.get("contradicted in most readings", []), by.get("contradicted in every reading", [])
    counts: dict[str, int] = {}
    for one in claims:
        if overall(one["readings"]).verdict == "hangs on the reading":
            for factor in one["readings"]["decided_by"][:2]:
                counts[factor] = counts.get(factor, 0) + 1
    factors = sorted(counts, key=lambda name: (-counts[name], name))[:3]
    nearly, most = by.get("reproduced", []), by.get("reproduced in most readings", [])
    told = [
        f"{_listed(names)} in {words}"
        for names, words in (
            (nearly, "95 % or more of the readings"),
            (most, "most readings (the interval of the share lies above one half)"),
        )
        if names
    ]
    rely = f"Reproduced: {'; '.join(told)}." if told else "No claim is reproduced in most readings."
    hang = (
        f"{_listed(hanging)} hang on the reading"
        if len(hanging) > 1
        else f"{hanging[0]} hangs on the reading"
        if hanging
        else "None hangs on the reading"
    )
    if factors:
        hang += f", most often on {_listed(factors)}"
    against = [
        f"; {_listed(names)} {'is' if len(names) == 1 else 'are'} contradicted in {words}"
        for names, words in ((mostly, "most readings and reproduced in at most 5 %"), (never, "every one"))
        if names
    ]
    same = by.get("alike in most readings", [])
    against += (
        [f"; {_listed(same)} {'is' if len(same) == 1 else 'are'} alike in most readings"] if same else []
    )
    left = by.get("undecided", [])
    rest = f" {_listed(left)} {'is' if len(left) == 1 else 'are'} undecided." if left else ""
    unheard = [one["id"] for one in ledger["claims"] if paper in one["source"] and not one["readings"]]
    alone = f" {_listed(unheard)}: judged in the base reading alone." if unheard else ""
    return [rely, f"{hang}{''.join(against)}.{rest}{alone}"]


FRESH = (
    ("the base reading", "base_anew"),
    ("the authors' likely set-up", "likely"),
    ("the reading in which most claims hold", "best_reading"),
)
"""The judgements on fresh seeds, and their names in a ledger."""


def fresh(entry: dict[str, Any]) -> str:
    """How many of a paper's claims hold on seeds on which nothing else is judged, as a table."""
    rows = []
    for words, name in FRESH:
        if not (one := entry.get(name)):
            continue
        against = str(len(one["against"])) if "against" in one else "–"
        held = ", ".join(one["claims"]) if one.get("claims") else ""
        chosen = f" ({one['found']} on the seeds that chose it)" if name == "best_reading" else ""
        rows.append(f"| {words} | {one['held']} of {one['of']}{chosen} | {against} | {held} |")
    seeds = ", ".join(map(str, entry["best_reading"]["judged_on"]))
    head = f"| on seeds {seeds}, which nothing else uses | claims that hold | contradicted | which hold |"
    return "\n".join([head, "|---|---|---:|---|", *rows])


def whys(name: str, ledger: dict[str, Any]) -> str:
    """For which claims an experiment shows why, and for which none does."""
    have = {one["claim"] for one in ledger.get("experiments", [])}
    if not have:
        return ""
    every = [one["id"] for one in ledger["claims"]]
    none = [one for one in every if one not in have]
    said = (
        f"Experiments switch a mechanism on and off for {len(have)} of {len(every)} claims and "
        f"[say why](study-{name}.md#why) they come out so"
    )
    return f"{said}; none do for {_listed(none)}." if none else f"{said}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _draw_readings(axes: Axes, ledger: dict[str, Any], table: pl.DataFrame) -> None:
    """Draws the matrix of one study's claims and readings. Readings with most reproduced claims are on the left."""
    # As in the table: the verdict of the whole study, with all its replications.
    base = {one["id"]: one["verdict"] for one in ledger["claims"] if one["readings"]}
    drawn = table.filter(pl.col("kind") == "drawn").select(list(base)).to_dicts()
    drawn.sort(
        key=lambda one: (
            -sum(verdict == str(Verdict.REPRODUCED) for verdict in one.values()),
            sum(verdict == str(Verdict.NOT_REPRODUCED) for verdict in one.values()),
        )
    )
    shown.draw_matrix(axes, base, drawn)


def picture(found: dict[str, tuple[dict[str, Any], pl.DataFrame]], target: Path) -> None:
    """Draws the matrix of all claims and readings."""
    heights = [sum(1 for one in ledger["claims"] if one["readings"]) for ledger, _ in found.values()]
    with drawing.canvas("studies", (9.2, 1.2 + 0.2 * sum(heights) + 0.5 * len(heights))) as canvas:
        several = canvas.subplots(len(found), 1, height_ratios=heights, squeeze=False)
        for axes, (name, (ledger, table)) in zip(several.flat, found.items(), strict=True):
            _draw_readings(axes, ledger, table)
            axes.set_title(name)
        shown.legend(canvas)
        canvas.savefig(target, metadata={"Software": None})


def own() -> Iterator[str]:
    """The results of studies without a paper."""
    for name in OWN:
        if not kept.exists(f"studies/{name}"):
            continue
        ledger = kept.read(f"studies/{name}")
        counts = Counter(one["verdict"] for one in ledger["claims"])
        said = ", ".join(f"{many} {verdict}" for verdict, many in counts.most_common())
        yield f"## [{name}](studies/{name}.md)\n\n{ledger['title']}: {len(ledger['claims'])} claims, {said}."
        rows = ["| claim | verdict | decided by |", "|---|---|---|"]
        for one in ledger["claims"]:
            cells = [f"**{one['id']}** {one['statement']}", one["verdict"], _decided(one)]
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        yield "\n".join(rows)


def _decided(claim: dict[str, Any]) -> str:
    """The comparison on which a verdict hangs."""
    if claim["estimate"] is None or claim["interval"] is None or None in claim["interval"]:
        return claim["of"] or ""
    low, high = claim["interval"]
    return f"{claim['of']}: {claim['estimate']:.3g} [{low:.3g}, {high:.3g}] {claim['unit']}".rstrip()


def page(found: dict[str, tuple[dict[str, Any], pl.DataFrame]]) -> str:
    """The page's text."""
    parts = [
        "# The studies at a glance",
        (
            "Made by `python -m validation studies` from the ledgers in `results/studies/`; do not edit. "
            "[How a study works, and how a claim is judged](judging.md) is on a page of its own."
        ),
        (
            "The claims of the five papers were judged in many readings. A factor is a detail that a paper leaves "
            "open. Each column of the picture is a reading that was drawn from all factors at once. Assumptions "
            "that no factor varies are named with each study. The base reading, apart on the left, takes the most "
            "plausible value of every factor. These values were ranked before the exploration, and the base reading "
            "was judged with all replications of the study. Green: reproduced; blue: alike; orange: undecided; red: "
            "contradicted. Shares have 95 % intervals. *Means as claimed* is the share of readings in which all "
            "means lie on the claimed side, whatever their intervals. *Weighted* is the share reproduced when each "
            "reading counts by the stated plausibility of what decides the claim."
        ),
        "![Claims in rows, readings in columns, a colour per verdict](figures/readings.png)",
    ]
    for name, (ledger, _) in found.items():
        run = ledger["exploration"]
        parts.append(
            f"## [{name}](studies/{name}.md)\n\n{run['drawn']} readings drawn, {run['readings']} judged with the base, "
            f"its neighbours and pairs, under seeds {', '.join(map(str, run['seeds']))}; "
            f"{run['core_seconds'] / 60:.0f} minutes of one core.{not_explored(ledger)}"
        )
        for entry in ledger["papers"]:
            paper = entry["paper"]
            parts.append(f"**Paper {paper}** ({TITLES[paper]}). {' '.join(sentences(ledger, paper))}")
            parts.append(fresh(entry))
        if told_why := whys(name, ledger):
            parts.append(told_why)
        names = _known(ledger)
        heads = [
            "claim",
            "over all readings",
            *names[:-1],
            "means as claimed",
            "weighted",
            "base",
            "decided by",
        ]
        rows = [f"| {' | '.join(heads)} |", f"|---|---|{'---:|' * (len(names) + 1)}---|---|"]
        for one in ledger["claims"]:
            told = one["readings"]
            statement = one["statement"].replace("|", "\\|")
            if told is None:
                rows.append(
                    f"| **{one['id']}** {statement} | base reading only | {'| ' * (len(names) + 1)}{one['verdict']} | |"
                )
                continue
            shares = overall(told)
            cells = [percent(getattr(shares, name), shares.interval(name)) for name in names]
            weighted = told.get("weighted")
            cells.append(percent(Shares.from_dict(weighted).reproduced) if weighted else "–")
            rows.append(
                f"| **{one['id']}** {statement} | {shares.verdict} | {' | '.join(cells)} | {one['verdict']} | "
                f"{', '.join(told['decided_by'][:3])} |"
            )
            for part in told.get("parts", []):
                apart = Shares.from_dict(part)
                cells = [percent(getattr(apart, name), apart.interval(name)) for name in names]
                judged = next(
                    (some["verdict"] for some in one.get("parts", []) if some["name"] == part["name"]), ""
                )
                rows.append(
                    f"| {one['id']}, part: {part['name']} | {apart.verdict} | {' | '.join(cells)} | | {judged} | |"
                )
        parts.append("\n".join(rows))
    return "\n\n".join([*parts, *own()]) + "\n"


def render(folder: Path) -> str:
    """Renders the page of all claims, and its picture."""
    found = {name: one for name in NAMES if (one := explored(name)) is not None}
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    picture(found, folder / "figures" / "readings.png")
    return page(found)


def render_study(name: str, folder: Path, *, quick: bool = False) -> str:
    """Renders the full page of a study, and its pictures.

    Args:
        name: The study.
        folder: Its subfolder ``figures/NAME`` gets the pictures.
        quick: Makes no picture.
    """
    ledger = kept.read(f"studies/{name}")
    if quick:
        return re.sub(r"^!\[.*\n\n", "", digest(ledger), flags=re.M)
    figures = folder / "figures" / name
    with style.using(replace(style.current(), formats=("png",))):
        for one in ledger["experiments"]:
            title = f"Why {one['claim']}: {one['mechanism'].rstrip('.')}"
            experiments.picture(one, figures, Provenance(ledger["provenance"]["version"]), title)
    text = digest(ledger, f"figures/{name}")
    if (both := explored(name)) is None:
        return text
    figures.mkdir(parents=True, exist_ok=True)
    claims = sum(bool(one["readings"]) for one in ledger["claims"])
    with drawing.canvas("readings-matrix", (9.2, 0.9 + 0.24 * claims)) as canvas:
        _draw_readings(canvas.subplots(), *both)
        shown.legend(canvas)
        canvas.savefig(figures / "readings-matrix.png", metadata={"Software": None})
    _draw_factors(both, figures / "readings-factors.png")
    return f"""{text}
## Every claim in every reading

![Claims in rows, readings in columns, a colour per verdict](figures/{name}/readings-matrix.png)

![Share of each claim's verdicts that one factor accounts for](figures/{name}/readings-factors.png)
"""


def _draw_factors(both: tuple[dict[str, Any], pl.DataFrame], target: Path) -> None:
    """Draws which factors decide which claims: the share of the verdicts' variance that each accounts for."""
    ledger, table = both
    claims = [one["id"] for one in ledger["claims"] if one["readings"]]
    names = [one["id"] for one in ledger["factors"]]
    values = {one["id"]: [value["name"] for value in one["values"]] for one in ledger["factors"]}
    drawn = table.filter(pl.col("kind") == "drawn").to_dicts()
    found = {
        claim: {
            one.factors[0]: one
            for one in deciding.shares(values, drawn, [SCORES[row[claim]] for row in drawn])[0]
        }
        for claim in claims
    }
    with drawing.canvas("readings-factors", (9.2, 1.7 + 0.24 * len(claims))) as canvas:
        shown.draw_factors(canvas, names, found)
        canvas.savefig(target, metadata={"Software": None})


def main() -> int:
    """Keeps the results of a folder and returns the exit status."""
    if len(sys.argv) != 2:
        print("write: python -m validation studies FOLDER", file=sys.stderr)
        return 2
    keep(Path(sys.argv[1]))
    return 0
