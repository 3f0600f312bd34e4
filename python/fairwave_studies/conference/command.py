"""`fairwave rfc8867`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairwave.cli import console
from fairwave.cli.input import positive, run_place, use_laws
from fairwave.cli.options import WHOLE, Cluster, Json, Laws, Replications, Threads, examples
from fairwave.errors import BadInputError
from fairwave.extras import need_all
from fairwave.file_kinds import reader

COLUMNS = {
    "utilisation": "use",
    "queueing delay (ms)": "queueing ms",
    "goodput per session (Mb/s)": "goodput Mb/s",
    "packets lost (%)": "lost %",
    "MOS of audio": "MOS audio",
    "MOS of video": "MOS video",
    "frozen (%)": "frozen %",
}
"""Labels of measures to heads of columns; the others follow in the JSON."""


app = typer.Typer()


@app.command(
    rich_help_panel=WHOLE,
    epilog=examples(
        "fairwave rfc8867 examples/gym/policy.json --case 5.1",
        "fairwave rfc8867 scream --against gcc --against nada --case 5.3 -n 5",
        'fairwave rfc8867 \'{ name = "fixed", rate = "500 kb/s" }\' --case 5.1 --json',
    ),
)
def rfc8867(
    controller: Annotated[
        str,
        typer.Argument(
            metavar="CONTROLLER",
            help="A rate controller: its name, a table with its parameters, or the file of a policy.",
        ),
    ],
    case: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SECTION", help="Only this section of RFC 8867 (5.1). Repeatable; all if left out."
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Compared controller. Repeatable; gcc if left out."),
    ] = None,
    replications: Replications = 3,
    threads: Threads = None,
    cluster: Cluster = None,
    laws: Laws = None,
    json: Json = False,
) -> None:
    """Put a rate controller of calls into the cases of RFC 8867, next to GCC."""
    need_all("fairwave rfc8867", "studies")
    use_laws(laws)
    positive("--replications", replications)
    with run_place(cluster):
        _place(controller, case or [], against or ["gcc"], replications, threads, json=json)


def _place(
    controller: str,
    case: list[str],
    against: list[str],
    replications: int,
    threads: int | None,
    *,
    json: bool,
) -> None:
    from fairwave_studies.conference import placing

    if "{" not in controller and (
        said := reader(Path(controller), "a rate controller", ("results", "policy"))
    ):
        raise BadInputError(said)
    try:
        cases = placing.cases_of(case)
        controllers = dict(placing.parse_controller(one) for one in (*against, controller))
    except (ValueError, FileNotFoundError) as error:
        raise BadInputError(str(error)) from None
    with console.progress("cases of RFC 8867", quiet=json) as progress:
        rows = placing.rows(cases, controllers, replications, threads, progress)
    if json:
        console.document({"replications": replications, "rows": rows})
        return
    shown: list[dict[str, Any]] = [
        {
            "section": row["section"],
            "controller": row["controller"],
            **{head: row[label]["text"] for label, head in COLUMNS.items() if label in row},
        }
        for row in rows
    ]
    console.table(
        f"RFC 8867, drop-tail, {replications} runs each: means with 95 % intervals",
        list(shown[0]),
        [list(row.values()) for row in shown],
    )
