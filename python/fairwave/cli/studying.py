"""`fairwave study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairwave.cli import console
from fairwave.cli.input import BadInputError, overrides, positive

if TYPE_CHECKING:
    from fairwave.study.overall import Exploration
    from fairwave.study.readings import Reading
    from fairwave.study.study import Study

TONES = {"reproduced": "green", "not reproduced": "red", "undecided": "yellow"}


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
    json: bool,
) -> None:
    """Carries a study out and shows the verdicts."""
    from fairwave import studies

    positive("--replications", replications)
    try:
        study = studies.find(name)
    except LookupError as error:
        raise BadInputError(str(error)) from None
    known = study.pictured()
    if figure is not None and figure not in known:
        raise BadInputError(f"study {name!r} has no figure {figure!r}; there are {', '.join(known)}")
    if explored is not None and (explored < 1 or figure is not None or settings):
        raise BadInputError(
            "--explore takes the number of readings to draw, 1 or more (128 are usual), and goes without --figure and "
            "--set: it judges all claims of the study as it is"
        )
    if study.readings is None and (reading is not None or explored is not None):
        raise BadInputError(f"study {name!r} has one reading only: nothing in it is open")
    taken = None
    if reading is not None and study.readings is not None:
        try:
            taken = study.readings.read(reading)
        except (ValueError, OSError) as error:
            raise BadInputError(str(error)) from None
    carry_out(
        study, out if out is not None else Path("out") / name, replications, figure, threads,
        settings=settings, reading=taken, explored=explored, json=json,
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
    json: bool,
) -> None:
    """Carries out a study that is at hand, and shows the verdicts."""
    from fairwave.study.conduct import verdict_rows

    with console.progress(study.name if study.command else f"study {study.name}", quiet=json) as progress:
        outcome = study.run(
            folder, replications, figure=figure, threads=threads, progress=progress,
            settings=overrides(settings or []), reading=reading, explored=explored,
            status=None if json else console.say,
        )  # fmt: skip
    if json:
        console.document({**outcome.ledger.to_dict(), "page": str(outcome.page)})
        return
    found = outcome.ledger.exploration
    rows = [
        [
            f"{claim}  {statement}",
            f"[{TONES[str(judged.verdict)]}]{judged.word}[/]",
            *([_over_all(found, claim)] if found is not None else []),
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


def _over_all(exploration: Exploration, claim: str) -> str:
    about = exploration.about.get(claim)
    if about is None:
        return "base reading only"
    return f"{about.verdict} ({about.reproduced:.0%} / {about.undecided:.0%} / {about.contradicted:.0%})"
