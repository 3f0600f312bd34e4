"""`fairwave study`."""

from __future__ import annotations

from pathlib import Path

from fairwave.cli import console
from fairwave.cli.input import BadInputError, overrides, positive

TONES = {"reproduced": "green", "not reproduced": "red", "undecided": "yellow"}


def run_study(
    name: str,
    out: Path | None,
    replications: int,
    figure: str | None,
    settings: list[str],
    threads: int | None,
    *,
    sensitivity: bool,
    json: bool,
) -> None:
    """Carries a study out and shows the verdicts."""
    from fairwave import studies
    from fairwave.study.conduct import verdict_rows

    positive("--replications", replications)
    try:
        study = studies.find(name)
    except LookupError as error:
        raise BadInputError(str(error)) from None
    known = study.pictured()
    if figure is not None and figure not in known:
        raise BadInputError(f"study {name!r} has no figure {figure!r}; there are {', '.join(known)}")
    folder = out if out is not None else Path("out") / name
    with console.progress(f"study {name}", quiet=json) as progress:
        outcome = study.run(
            folder, replications, figure=figure, sensitivity=sensitivity, threads=threads, progress=progress,
            settings=overrides(settings),
        )  # fmt: skip
    if json:
        console.document({**outcome.ledger.to_dict(), "page": str(outcome.page)})
        return
    rows = [
        [f"{claim}  {statement}", f"[{TONES[str(verdict)]}]{verdict}[/]", estimate]
        for claim, statement, verdict, estimate in verdict_rows(outcome.ledger.claims)
    ]
    if rows:
        console.table(f"{study.title} — {replications} replications", ["claim", "verdict", "hangs on"], rows)
    console.say(f"\n{len(outcome.drawings)} figures, {len(outcome.tables)} tables; page: {outcome.page}")
