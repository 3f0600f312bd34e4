"""Carrying a study out: run its grids, draw, judge, and leave page, files and ledger, all or nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.folders import CACHE
from fairwave.measuring.relevance import relevance
from fairwave.provenance import Provenance
from fairwave.runs.grid import assemble
from fairwave.runs.keeping import Folder
from fairwave.runs.replication import check_runs, replicate
from fairwave.staging import staging
from fairwave.table_files import write_table
from fairwave_report import chart
from fairwave_report import figures as drawing
from fairwave_report.page import Card, Page, ReadingsView, TableView, WhyView
from fairwave_study.accounts import tell_accounts
from fairwave_study.answer import answer_study
from fairwave_study.claims import OVERALL_TONES, Verdict
from fairwave_study.comparisons import counted_by
from fairwave_study.digest import digest, repeating
from fairwave_study.experiments import carry_out, picture
from fairwave_study.explore import explore
from fairwave_study.forest import forest
from fairwave_study.ledger import Ledger
from fairwave_study.parts import Data

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from fairwave.measuring.relevance import Relevance
    from fairwave.results import Results
    from fairwave.runs.grid import Grid
    from fairwave.runs.replication import Progress
    from fairwave_report.figures import Drawing
    from fairwave_study.claims import Judgement
    from fairwave_study.experiments import FoundExperiment
    from fairwave_study.overall import Exploration
    from fairwave_study.parts import Calibration, Figure, Table
    from fairwave_study.readings import Reading
    from fairwave_study.study import Study


@dataclass(frozen=True)
class Outcome:
    """The outcome of a study.

    Attributes:
        ledger: Verdicts and entries, also in `ledger.json`.
        page: The page.
        data: The results of each grid, to look further into.
        drawings: The figures.
        tables: The tables.
    """

    ledger: Ledger
    page: Path
    data: Data
    drawings: Sequence[Drawing]
    tables: Sequence[TableView]


def conduct(
    study: Study,
    out: str | Path,
    replications: int = 10,
    *,
    figure: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    status: Callable[[str], None] | None = None,
    settings: Mapping[str, Any] | None = None,
    reading: Reading | None = None,
    explored: int | None = None,
    why: bool | None = None,
    relevant: Mapping[str, float | str] | Relevance | None = None,
) -> Outcome:
    """Carries a study out. Arguments as for `fairwave_study.Study.run`."""
    if replications < 1:
        raise ValueError(f"replications are 1 or more, not {replications}; usual is 10")
    say = status or (lambda _: None)
    folder = Path(out)
    study, taken = _take_reading(study, reading)
    counting = relevance(relevant)
    if settings or counting.changes or figure is not None:
        _refuse_more(explored=explored is not None, why=bool(why))
    exploration, experiments = _explore(study, folder, explored, why, threads, progress, status)
    figures, tables = _chosen(study, figure)
    wanted = _needed_grids(study, figures, tables, alone=figure is not None)
    # A single figure runs only its own points, which do not suffice for claims.
    claims = study.claims if figure is None else ()
    grids = [grid for grid in study.grids if grid.id in wanted]
    if figure is not None and figures:
        grids = [figures[0].needs(grid) for grid in grids]
    if settings:
        grids = [replace(grid, base=grid.base.with_overrides(settings)) for grid in grids]
    seeds = range(1, replications + 1)

    say("running")
    keep = Folder(folder / CACHE)
    if keep.stale is not None:
        say(f"{folder} keeps runs of another build of fairwave ({keep.stale}), which are made again")
    data = Data(_run(grids, seeds, keep, threads, progress))
    provenance = Provenance.merge_same(one.provenance for one in data.results.values())

    say("judging claims")
    with counted_by(counting):
        judgements = [claim.judge(data) for claim in claims]
    if exploration is not None:
        judgements = [replace(one, about=exploration.about.get(one.claim.id)) for one in judgements]
    accounts = tell_accounts(study, exploration) if exploration is not None else []
    ledger = Ledger(
        study.name, study.title, provenance, judgements, reading=taken, exploration=exploration,
        accounts=accounts, experiments=experiments, settings=dict(settings or {}),
        relevant={name: str(least) for name, least in counting.changes.items()},
    )  # fmt: skip
    with staging(folder) as partial:
        say("drawing figures")
        drawings = [_draw(one, data, partial / "figures", provenance) for one in figures]
        forests = {one.claim.id: forest(one) for one in judgements}
        base = {one.claim.id: str(one.verdict) for one in judgements}
        read = _read(exploration, partial, provenance, base) if exploration is not None else None
        whys = _whys(experiments, partial / "figures", provenance)
        views = [_tabulate(one, data, partial / "tables", provenance) for one in tables]
        say("writing the page")
        calibrations = [_calibrated(one, data, wanted) for one in study.calibrations]
        shown = [
            *drawings,
            *(read.drawings if read else ()),
            *(one.drawing for some in whys.values() for one in some),
        ]
        _enter(ledger, study, replications, shown, [*(read.tables if read else ()), *views], calibrations)
        clips = list(study.audio()) if study.audio and figure is None else []
        page = Page(
            title=study.title,
            kicker=f"Study: {study.name}" if not study.command else study.command,
            claims_are=study.claims_are,
            lead=study.question,
            answer=answer_study(ledger, judgements, replications, study.claims_are),
            cards=_cards(ledger, replications, data),
            judgements=judgements,
            forests=forests,
            readings=read,
            accounts=[(one.paper, one.parts) for one in accounts],
            whys=whys,
            drawings=drawings,
            tables=views,
            notes=_otherwise(
                settings or {}, counting, study.readings.differs(taken) if study.readings else {}
            ),
            factors=ledger.factors,
            assumptions=ledger.assumptions,
            calibrations=calibrations,
            clips=clips,
            setups=_setups(grids),
            provenance=provenance,
        )
        (partial / "ledger.json").write_text(ledger.to_json(), encoding="utf-8")
        (partial / "digest.md").write_text(
            digest(ledger.to_dict()),
            encoding="utf-8",
        )
        # Last, since the page embeds the files in the folder.
        (partial / "index.html").write_text(page.html(partial), encoding="utf-8")
    return Outcome(ledger, folder / "index.html", data, drawings, views)


def _refuse_more(*, explored: bool, why: bool) -> None:
    """Refuses explorations and experiments of a study that runs with changes."""
    rest = "a study as it is: without a figure, settings and other relevant differences"
    if explored:
        raise ValueError(f"an exploration judges all claims of {rest}")
    if why:
        raise ValueError(f"experiments judge claims of {rest}")


def _needed_grids(
    study: Study, figures: Sequence[Figure], tables: Sequence[Table], *, alone: bool
) -> set[str]:
    """Ids of the grids that these need; with those of claims and calibrations, unless one figure is made alone."""
    found = {grid for one in figures for grid in one.reads()} | {grid for one in tables for grid in one.grids}
    if not alone:
        found |= {grid for claim in study.claims for grid in claim.grids}
        found |= {grid for one in study.calibrations for grid in one.grids}
    return found


def _setups(grids: Sequence[Grid]) -> dict[str, str]:
    """The scenario of each grid's first point, by a name for the point."""
    found = {}
    for grid in grids:
        for point in grid.points()[:1]:
            labels = ", ".join(f"{axis} {label}" for axis, label in point.labels.items())
            found[f"{grid.id}: {labels}" if labels else grid.id] = point.scenario.to_toml()
    return found


def _take_reading(study: Study, reading: Reading | None) -> tuple[Study, dict[str, str]]:
    """The study under a reading, and that reading, complete."""
    if study.readings is None:
        if reading:
            raise ValueError(f"study {study.name!r} has one reading only: nothing in it is open")
        return study, {}
    taken = study.readings.complete(reading or {})
    return (study.readings.whole(taken) if reading else study), taken


def _explore(
    study: Study,
    folder: Path,
    explored: int | None,
    why: bool | None,
    threads: int | None,
    progress: Progress | None,
    status: Callable[[str], None] | None,
) -> tuple[Exploration | None, list[FoundExperiment]]:
    """The exploration and the experiments, as far as they are asked for; experiments go with an exploration."""
    exploration = None
    if explored is not None:
        exploration = explore(study, folder, explored, threads=threads, progress=progress, status=status)
    tries = explored is not None if why is None else why
    return exploration, carry_out(study, folder, threads=threads, status=status) if tries else []


def _whys(
    experiments: Sequence[FoundExperiment], folder: Path, provenance: Provenance
) -> dict[str, list[WhyView]]:
    """Claim to its experiments, a paragraph and a figure each."""
    found: dict[str, list[WhyView]] = {}
    for one in experiments:
        told_of = one.experiment
        title = f"Why {told_of.claim}: {told_of.mechanism.rstrip('.')}"
        drawn = picture(one.to_dict(), folder, provenance, title)
        found.setdefault(told_of.claim, []).append(WhyView(one.paragraph(), drawn))
    return found


def _read(
    exploration: Exploration, folder: Path, provenance: Provenance, base: Mapping[str, str]
) -> ReadingsView:
    """The pictures and tables of all readings."""
    from fairwave_study import overview as shown

    def view(name: str, title: str, frame: pl.DataFrame, caption: str) -> TableView:
        return _write(name, title, frame, folder / "tables", provenance, "", caption)

    n = len(exploration.drawn)
    tables = [
        view(
            "readings-claims",
            "Every claim over all readings",
            shown.claims_table(exploration),
            f"Shares of the {n} readings drawn from all factors at once, each judged under seeds "
            f"{', '.join(map(str, exploration.seeds))}; with 95 % intervals. 'Means as claimed': in so many all means "
            "lie on the claimed side, whatever their intervals, which few seeds can tell where they cannot decide. "
            "'Weighted': reproduced, with readings weighted by the stated plausibility of what decides the claim. "
            "A tree is named where it tells a third or more of the verdicts "
            "that guessing misses; its accuracy is that on readings which it had not seen. 'Turns at' is the reading "
            "nearest to the base with another verdict.",
        ),
        view(
            "readings-best",
            "The reading with most claims",
            shown.best_table(exploration),
            "Chosen under the same seeds as all readings were judged, then judged under seeds "
            f"{', '.join(map(str, exploration.others))}, so that the choice is not its own proof; so are the base "
            "and the authors' likely set-up, where the study names one.",
        ),
        view(
            "readings-never",
            "Claims that hold in no reading",
            shown.never_table(exploration),
            "Claims that none of the readings reproduces, with the failing comparison of the nearest reading.",
        ),
        view(
            "readings-factors-values",
            "Open details, and the values of each factor",
            shown.factors_table(exploration),
            "Values are in order of plausibility, ranked before the exploration. The paper's words admit a flagged "
            "value, but take it with care for the given reason.",
        ),
    ]
    write_table(shown.table(exploration).to_arrow(), folder / "tables" / "readings", provenance)
    strips = {claim: shown.strip(exploration, claim) for claim in exploration.about}
    sentences = {claim: shown.sentences(exploration, claim) for claim in exploration.about}
    return ReadingsView(
        n,
        strips,
        sentences,
        shown.pictures(exploration, folder / "figures", provenance, base),
        tables,
        exploration.readings.shortened,
    )


def _otherwise(settings: Mapping[str, Any], counting: Relevance, differs: Mapping[str, str]) -> list[str]:
    """Notes for the reader about changed assumptions."""
    notes = []
    if differs:
        listed = ", ".join(f"{factor} = {value}" for factor, value in differs.items())
        notes.append(f"This is another reading than the base: {listed}.")
    if settings:
        listed = ", ".join(f"{path} = {value}" for path, value in settings.items())
        notes.append(f"This is the study with changed assumptions: {listed}.")
    if counting.changes:
        listed = ", ".join(f"{name} {least}" for name, least in counting.changes.items())
        notes.append(f"Here differences count from other values than usual: {listed}.")
    return notes


def _chosen(study: Study, wanted: str | None) -> tuple[list[Figure], list[Table]]:
    if wanted is None:
        return list(study.figures), list(study.tables)
    figures = [one for one in study.figures if one.id == wanted]
    tables = [one for one in study.tables if one.id == wanted]
    if not figures and not tables:
        known = study.pictured()
        raise LookupError(f"study {study.name!r} has no figure {wanted!r}; there are {', '.join(known)}")
    return figures, tables


def _run(
    grids: Sequence[Grid], seeds: Sequence[int], keep: Folder, threads: int | None, progress: Progress | None
) -> dict[str, Results]:
    points = {grid.id: grid.points() for grid in grids}
    under = {grid.id: seeds[: grid.most] for grid in grids}
    runs_asked = sum(len(each) * len(under[name]) for name, each in points.items())
    if some := next((each[0] for each in points.values() if each), None):
        check_runs(runs_asked, some.scenario.native, 1)
    jobs = [
        (point.scenario.native, seed)
        for name, each in points.items()
        for point in each
        for seed in under[name]
    ]
    runs = replicate(jobs, threads=threads, keep=keep, progress=progress)
    results, at = {}, 0
    for name, each in points.items():
        count = len(each) * len(under[name])
        results[name] = assemble(each, under[name], runs[at : at + count])
        at += count
    return results


def _draw(figure: Figure, data: Data, folder: Path, provenance: Provenance) -> Drawing:
    import polars as pl

    if figure.draw is not None:
        with drawing.canvas(figure.id, figure.size or drawing.size_for(1)) as canvas:
            numbers = figure.draw(canvas, data)
            return drawing.save(
                canvas, folder, figure.id, numbers, provenance,
                title=figure.title, caption=figure.caption, source=figure.source,
            )  # fmt: skip
    panels: list[drawing.Panel] = []
    parts: list[pl.DataFrame] = []
    for position, measure in enumerate(figure.measures):
        measured = data.measured(measure, figure.grid).select(**figure.fix)
        by = [axis for axis in (figure.x, figure.series) if axis]
        summary = measured.summary(by)
        several = len(figure.measures) > 1
        title = figure.panel_titles[position] if figure.panel_titles else measure.title if several else ""
        panels.append(
            drawing.Panel(
                summary, figure.x, figure.series, measure.label, figure.x_label or figure.x, title,
                figure.kind, dict(figure.lines), figure.y_from_zero, figure.log_x,
                measure.limits, measure.scale or measure.id,
            )
        )  # fmt: skip
        parts.append(
            summary.select(pl.lit(measure.id).alias("measure"), pl.lit(measure.unit).alias("unit"), pl.all())
        )
    with drawing.canvas(figure.id, figure.size or drawing.size_for(len(panels))) as canvas:
        drawing.draw_panels(canvas, panels)
        return drawing.save(
            canvas, folder, figure.id, pl.concat(parts, how="vertical_relaxed"), provenance,
            title=figure.title, caption=figure.caption, source=figure.source,
            alt=f"{_alt(figure)}. {drawing.describe_panels(panels)}",
            chart=chart.chart_panels(panels),
        )  # fmt: skip


def _alt(figure: Figure) -> str:
    what = " and ".join(measure.label for measure in figure.measures)
    by = f", one {figure.kind} per {figure.series}" if figure.series else ""
    return f"{figure.title}: {what} over {figure.x_label or figure.x}{by}"


def _tabulate(table: Table, data: Data, folder: Path, provenance: Provenance) -> TableView:
    frame = table.build(data)
    return _write(table.id, table.title, frame, folder, provenance, table.source, table.caption)


def _write(
    name: str,
    title: str,
    frame: pl.DataFrame,
    folder: Path,
    provenance: Provenance,
    source: str,
    caption: str,
) -> TableView:
    folder.mkdir(parents=True, exist_ok=True)
    files = write_table(frame.to_arrow(), folder / name, provenance)
    names = tuple(f"{folder.name}/{path.name}" for path in reversed(files))
    return TableView(name, title, frame.columns, drawing.table_rows(frame), names, source, caption)


def _enter(
    ledger: Ledger,
    study: Study,
    replications: int,
    drawings: Sequence[Drawing],
    views: Sequence[TableView],
    calibrations: Sequence[Mapping[str, Any]],
) -> None:
    seeds = list(ledger.provenance.seeds)

    def entry(name: str, title: str, source: str, files: Sequence[str]) -> dict[str, Any]:
        command = repeating(study, ledger, replications, figure=name)
        return {
            "id": name,
            "title": title,
            "source": source,
            "files": list(files),
            "command": command,
            "seeds": seeds,
        }

    ledger.figures = [
        entry(one.id, one.title, one.source, [f"figures/{file}" for file in one.files]) for one in drawings
    ]
    ledger.tables = [
        {
            **entry(one.id, one.title, one.source, one.files),
            "caption": one.caption,
            "columns": list(one.columns),
            "rows": [list(row) for row in one.rows],
        }
        for one in views
    ]
    drawn = len(ledger.exploration.drawn) if ledger.exploration else None
    ledger.question, ledger.claims_are = study.question, study.claims_are
    ledger.commands = {
        "all": repeating(study, ledger, len(seeds), explored=drawn),
        "figure": repeating(study, ledger, None, figure="ID"),
    }
    ledger.assumptions = [
        {"id": one.id, "statement": one.statement, "source": one.source, "swept": one.swept}
        for one in study.assumptions
    ]
    if study.readings is not None:
        ledger.factors = [
            {
                "id": factor.id,
                "open": factor.open,
                "ranking": factor.ranking,
                "kind": factor.kind,
                "values": [
                    {
                        "name": value.name,
                        "admits": value.admits,
                        "plausibility": value.plausibility,
                        "flagged": value.flagged,
                    }
                    for value in factor.values
                ],
            }
            for factor in study.readings.factors
        ]
    ledger.calibrations = [dict(one) for one in calibrations]


def _calibrated(one: Calibration, data: Data, wanted: set[str]) -> dict[str, str]:
    return {
        "quantity": one.quantity,
        "target": one.target,
        "source": one.source,
        "setting": one.setting,
        "measured": one.measured(data) if one.measured and set(one.grids) <= wanted else "",
    }


def _cards(ledger: Ledger, replications: int, data: Data) -> list[Card]:
    words = ledger.claims[0].claim.words if ledger.claims else {}
    # Criteria with other names for their verdicts are bounds: nothing is alike there.
    named = [
        (verdict, words.get(verdict, str(verdict))) for verdict in Verdict if not words or verdict in words
    ]
    counts = ledger.verdicts()
    cards = [Card(str(counts.get(word, 0)), word, verdict.name.lower()) for verdict, word in named]
    runs = sum(one.runs.num_rows for one in data.results.values())
    if ledger.exploration is not None:
        over = Counter(about.verdict for about in ledger.exploration.about.values())
        cards = [Card(str(over.get(words, 0)), words, tone) for words, tone in OVERALL_TONES.items()]
        cards.append(Card(str(len(ledger.exploration.judged)), "readings of the paper"))
    cards = cards if ledger.claims else []
    return [
        *cards,
        Card(str(replications), "replications per point"),
        Card(f"{runs:,}".replace(",", " "), "runs"),
    ]


def verdict_rows(judgements: Sequence[Judgement]) -> list[tuple[str, str, Judgement, str]]:
    """Id, statement, judgement and the deciding estimate of each claim, for a terminal."""
    return [(one.claim.id, one.claim.statement, one, one.evidence.decided_by()) for one in judgements]
