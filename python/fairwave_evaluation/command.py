"""`fairwave evaluate`."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairwave import _native, policy_files
from fairwave.cli.input import positive, run_place, use_laws
from fairwave.cli.options import (
    WHOLE,
    Cluster,
    Json,
    JUnit,
    Laws,
    Replications,
    RequiredClaims,
    Threads,
    examples,
)
from fairwave.errors import BadInputError
from fairwave.extras import need_all
from fairwave_study.command import carry_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave_study.study import Study


app = typer.Typer()


@app.command(
    rich_help_panel=WHOLE,
    epilog=examples(
        "fairwave evaluate tcp/westwood -n 5",
        "fairwave evaluate '{ name = \"tcp/aimd\", alpha = 0.31, beta = 0.875 }' --figure fairness",
        "fairwave evaluate --queue codel --out out/codel",
    ),
)
def evaluate(
    controller: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONTROLLER]",
            help="A transport that carries bulk data: its name, a table with its parameters, or the file of a policy.",
        ),
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="DISCIPLINE", help="Instead: a queue discipline, likewise.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What it is compared with; CUBIC (for CUBIC: Reno with SACK), and drop-tail, if left out.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for page, figures, data and ledger; out/evaluate-NAME if left out."),
    ] = None,
    replications: Replications = 10,
    figure: Annotated[
        str | None, typer.Option(metavar="CRITERION", help="Make only this criterion's figure.")
    ] = None,
    require: RequiredClaims = None,
    junit: JUnit = None,
    threads: Threads = None,
    cluster: Cluster = None,
    laws: Laws = None,
    json: Json = False,
) -> None:
    """Evaluate a congestion control as RFC 9743 asks, or a queue discipline as RFC 7928 does."""
    need_all("fairwave evaluate", "studies")
    use_laws(laws)
    with run_place(cluster):
        _evaluate(
            controller, queue, against, out, replications, figure, threads, require or [], junit, json=json
        )


def _evaluate(
    controller: str | None,
    queue: str | None,
    against: str | None,
    out: Path | None,
    replications: int,
    figure: str | None,
    threads: int | None,
    require: Sequence[str],
    junit: Path | None,
    *,
    json: bool,
) -> None:
    """Writes RFC 9743's report about a congestion control, or RFC 7928's about a queue discipline."""
    positive("--replications", replications)
    if (controller is None) == (queue is None):
        raise BadInputError(
            "evaluate takes a congestion control (`fairwave evaluate tcp/cubic`) or a queue discipline "
            "(`fairwave evaluate --queue codel`), one of them"
        )
    study = (
        _evaluate_controller(controller, against)
        if controller is not None
        else _evaluate_queue(str(queue), against)
    )
    if figure is not None and figure not in study.pictured():
        raise BadInputError(f"there is no criterion {figure!r}; there are {', '.join(study.pictured())}")
    name = study.name.removeprefix("evaluate ").replace("/", "-")
    carry_out(
        study,
        out if out is not None else Path("out") / f"evaluate-{name}",
        replications,
        figure,
        threads,
        require=require,
        junit=junit,
        json=json,
    )


def _evaluate_controller(controller: str, against: str | None) -> Study:
    from fairwave_evaluation.controller import evaluate_controller

    choice = _choice(controller, "transports", "name")
    return evaluate_controller(choice, None if against is None else _choice(against, "transports", "name"))


def _evaluate_queue(queue: str, against: str | None) -> Study:
    from fairwave_evaluation.discipline import evaluate_discipline

    choice = _choice(queue, "queues", "discipline")
    return evaluate_discipline(choice, None if against is None else _choice(against, "queues", "discipline"))


def _choice(text: str, kind: str, key: str) -> str | dict[str, Any]:
    """Reads the name of an existing law, or a table with its parameters."""
    import difflib

    from fairwave.reference import listed

    if kind == "transports" and text.endswith(".json"):
        try:
            return policy_files.law(text, "window")
        except (policy_files.PolicyError, FileNotFoundError) as error:
            hint = (
                "; a policy that steers a rate: fairwave rfc8867 FILE"
                if "steers a rate" in str(error)
                else ""
            )
            raise BadInputError(f"{error}{hint}") from None
    value = json_.loads(_native.Scenario.override_value(text))
    if not isinstance(value, (str, dict)) or (
        isinstance(value, dict) and not isinstance(value.get(key), str)
    ):
        raise BadInputError(
            f"{text!r} is neither a name nor a table with one; write '{{ {key} = \"NAME\", … }}'"
        )
    family = "transport" if kind == "transports" else "queue"
    name = _native.Scenario.full_name(value if isinstance(value, str) else value[key], family)
    value = name if isinstance(value, str) else {**value, key: name}
    known = [one for one, _ in listed(kind)]
    if name not in known:
        if name.endswith((".toml", ".json", ".py")):
            example = "tcp/cubic" if kind == "transports" else "--queue codel"
            raise BadInputError(
                f"evaluate takes the name of a law, not the file {name!r}; for example fairwave evaluate {example}, or "
                "fairwave compare for a scenario"
            )
        short = {one.rpartition("/")[2]: one for one in known if not one.startswith("host/")}
        near = difflib.get_close_matches(name.rpartition("/")[2], short, 1)
        hint = f"did you mean {short[near[0]]!r}?" if near else f"there are {', '.join(known)};"
        if remedy := _native.instead(family, name):
            hint = f"{remedy};"
        raise BadInputError(
            f"there is no {name!r} among {kind}; {hint} a law of your own is handed in by --laws FILE.py"
        )
    return value
