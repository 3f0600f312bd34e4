"""`fairwave study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairwave import layers
from fairwave.cli import console
from fairwave.cli.input import overrides, positive, run_place
from fairwave.cli.options import (
    WHOLE,
    Cluster,
    Json,
    JUnit,
    Relevant,
    Replications,
    RequiredClaims,
    Settings,
    Threads,
    examples,
)
from fairwave.errors import BadInputError
from fairwave.extras import need_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.ask.requiring import Requirement
    from fairwave.measuring.relevance import Relevance
    from fairwave_study.claims import Judgement
    from fairwave_study.overall import Exploration
    from fairwave_study.readings import Reading
    from fairwave_study.study import Study

TONES = {"reproduced": "green", "not reproduced": "red", "undecided": "yellow", "alike": "cyan"}


app = typer.Typer()


def _studies(incomplete: str) -> list[str]:
    """Completes names of studies."""
    return [one for one in layers.studies() if one.startswith(incomplete)]


@app.command(
    rich_help_panel=WHOLE,
    epilog=examples("fairwave study voice", "fairwave study voice --figure 000-2 -n 3 --out out/v"),
)
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="A study's name (`fairwave list studies` shows them), or the folder of your own study.",
            autocompletion=_studies,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for page, figures, data and ledger; out/NAME if left out.")
    ] = None,
    replications: Replications = 10,
    figure: Annotated[str | None, typer.Option(help="Make only this figure or table.")] = None,
    reading: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Another reading of the paper: a JSON object of factors to values."
        ),
    ] = None,
    explore: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Judge every claim in N readings of the paper, drawn from all that its words allow; 128 are usual.",
        ),
    ] = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Carry out the experiments that show why claims come out as they do; --explore does so by itself.",
        ),
    ] = False,
    settings: Settings = None,
    relevant: Relevant = None,
    require: RequiredClaims = None,
    junit: JUnit = None,
    threads: Threads = None,
    cluster: Cluster = None,
    json: Json = False,
) -> None:
    """Carry out a study: every figure and table of its papers, and a verdict per claim."""
    need_all("fairwave study", "studies")
    with run_place(cluster):
        run_study(
            name,
            out,
            replications,
            figure,
            settings or [],
            threads,
            reading=reading,
            explored=explore,
            why=why,
            relevant=relevant or [],
            require=require or [],
            junit=junit,
            json=json,
        )


def _find_study(name: str) -> Study:
    """The installed study of that name, or the study in that folder.

    Raises:
        BadInputError: There is no such study, or the folder has a mistake.
    """
    if name not in layers.studies() and Path(name).is_dir():
        from fairwave_study.study import from_folder

        try:
            return from_folder(Path(name))
        except (LookupError, ValueError) as error:
            raise BadInputError(str(error)) from None
    try:
        study: Study = layers.study(name)
    except LookupError as error:
        raise BadInputError(str(error)) from None
    return study


def run_study(
    name: str,
    out: Path | None,
    replications: int,
    figure: str | None,
    settings: list[str],
    threads: int | None,
    *,
    reading: Path | None = None,
    explored: int | None = None,
    why: bool = False,
    relevant: Sequence[str] = (),
    require: Sequence[str] = (),
    junit: Path | None = None,
    json: bool,
) -> None:
    """Carries a study out and shows the verdicts."""
    from fairwave.measuring.relevance import relevance

    positive("--replications", replications)
    counting = relevance(relevant)
    study = _find_study(name)
    name = study.name
    known = study.pictured()
    if figure is not None and figure not in known:
        raise BadInputError(f"study {name!r} has no figure {figure!r}; there are {', '.join(known)}")
    if explored is not None and (explored < 1 or figure is not None or settings or relevant):
        raise BadInputError(
            "--explore takes the number of readings to draw, 1 or more (128 are usual), and goes without --figure, "
            "--set and --relevant: it judges all claims of the study as it is"
        )
    if study.readings is None and (reading is not None or explored is not None):
        raise BadInputError(f"study {name!r} has one reading only: nothing in it is open")
    if why and (figure is not None or settings or relevant):
        raise BadInputError(
            "--why carries out the study's experiments as they are, and goes without --figure, --set and --relevant"
        )
    if why and not study.experiments:
        raise BadInputError(f"study {name!r} has no experiments; leave --why out")
    taken = None
    if reading is not None and study.readings is not None:
        try:
            taken = study.readings.read(reading)
        except (ValueError, OSError) as error:
            raise BadInputError(str(error)) from None
    carry_out(
        study, out if out is not None else Path("out") / name, replications, figure, threads,
        settings=settings, reading=taken, explored=explored, why=why or None, relevant=counting,
        require=require, junit=junit, json=json,
    )  # fmt: skip


def carry_out(
    study: Study,
    folder: Path,
    replications: int,
    figure: str | None,
    threads: int | None,
    *,
    settings: list[str] | None = None,
    reading: Reading | None = None,
    explored: int | None = None,
    why: bool | None = None,
    relevant: Relevance | None = None,
    require: Sequence[str] = (),
    junit: Path | None = None,
    json: bool,
) -> None:
    """Carries out a study that is at hand, and shows the verdicts."""
    from fairwave.cli import requiring
    from fairwave_study.conduct import verdict_rows

    requiring.check_junit(require, junit)
    ids = required_claims(study, require, figure)
    with console.progress(study.name if study.command else f"study {study.name}", quiet=json) as progress:
        outcome = study.run(
            folder, replications, figure=figure, threads=threads, progress=progress,
            settings=overrides(settings or []), reading=reading, explored=explored, why=why, relevant=relevant,
            status=None if json else console.say,
        )  # fmt: skip
    required = [_required(one) for one in outcome.ledger.claims if one.claim.id in ids]
    if json:
        document = {**outcome.ledger.to_dict(), "page": str(outcome.page)}
        console.document(document | requiring.as_data(required))
        requiring.settle(required, study.name, junit, json=json)
        return
    found = outcome.ledger.exploration
    rows = [
        [
            f"{claim}  {statement}",
            f"[{TONES[str(judged.verdict)]}]{judged.word}[/]",
            *([_describe_overall(found, claim)] if found is not None else []),
            estimate,
        ]
        for claim, statement, judged, estimate in verdict_rows(outcome.ledger.claims)
    ]
    if rows:
        heads = [
            study.claims_are[0],
            "verdict",
            *(["over all readings"] if found is not None else []),
            "hangs on",
        ]
        console.table(f"{study.title} — {replications} replications", heads, rows)
    console.say(f"\n{len(outcome.drawings)} figures, {len(outcome.tables)} tables; page: {outcome.page}")
    requiring.settle(required, study.name, junit, json=json)


def required_claims(study: Study, require: Sequence[str], figure: str | None) -> list[str]:
    """The ids of the claims that `--require` names.

    Raises:
        BadInputError: No claim has such an id, or no claim is judged.
    """
    one, several = study.claims_are
    known = [claim.id for claim in study.claims]
    if require and figure is not None:
        raise BadInputError(
            f"--require needs every {one}, and --figure makes one figure alone; leave one of them out"
        )
    if "all" in require:
        return known
    for name in require:
        if name not in known:
            raise BadInputError(
                f"--require is {name!r}, but there are the {several} {', '.join(known) or 'of no name'}, and all"
            )
    return list(require)


def _required(judged: Judgement) -> Requirement:
    """A claim as a requirement: it holds if it is reproduced, and fails if it is contradicted or alike."""
    from fairwave.answers.bands import runs_to_decide
    from fairwave.ask.requiring import Requirement
    from fairwave_study.claims import Verdict

    decisive = judged.evidence.decisive()
    text = f"{judged.claim.id}  {judged.claim.statement}"
    estimate = f"{judged.word}: {judged.evidence.decided_by()}" if decisive else judged.word
    if judged.verdict is not Verdict.UNDECIDED:
        return Requirement(text, "holds" if judged.verdict is Verdict.REPRODUCED else "fails", estimate)
    cell = decisive.interval() if decisive else None
    enough = runs_to_decide(cell, [decisive.line]) if decisive and cell and cell.n > 1 else 10
    advice = f"Try `-n {enough}`." if enough else "1000 runs may not decide it."
    return Requirement(text, "undecided", estimate, advice=advice)


def _describe_overall(exploration: Exploration, claim: str) -> str:
    about = exploration.about.get(claim)
    if about is None:
        return "base reading only"
    return (
        f"{about.verdict} ({about.reproduced:.0%} / {about.alike:.0%} / {about.undecided:.0%} / "
        f"{about.contradicted:.0%})"
    )
