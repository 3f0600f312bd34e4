"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from fairwave import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Will voice and video over this network be good? A packet-level laboratory.",
)

# Typer reads these annotations at run time, under Python 3.10 too, hence Optional.
ScenarioFile = Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario, .toml or .json.")]
Settings = Annotated[
    Optional[list[str]],
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key of the scenario: flow.voice.count=20. Repeatable."
    ),
]
Replications = Annotated[int, typer.Option("--replications", "-n", help="Independent runs per point.")]
Threads = Annotated[Optional[int], typer.Option(help="Runs at once; all cores if left out.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output instead of tables.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairwave {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Will voice and video over this network be good? A packet-level laboratory."""


@app.command()
def run(
    scenario: ScenarioFile,
    seed: Annotated[int, typer.Option(help="First seed.")] = 1,
    replications: Replications = 1,
    out: Annotated[Optional[Path], typer.Option(help="Folder for the tables, as Parquet and CSV.")] = None,
    record: Annotated[
        Optional[list[str]],
        typer.Option(help="Flows to record unit by unit and sample: voice[0]. Repeatable."),
    ] = None,
    settings: Settings = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Run a scenario and show what its flows and links came to."""
    from fairwave.cli.runs import run_scenario

    run_scenario(scenario, seed, replications, out, record or [], settings or [], threads, json=json)


@app.command()
def compare(
    scenario: ScenarioFile,
    over: Annotated[str, typer.Option(help="Transports, separated by commas: udp,tcp/vegas.")],
    flow: Annotated[
        Optional[str],
        typer.Option(help="The flow group that is compared; the first with voice or video if left out."),
    ] = None,
    speech: Annotated[
        Optional[Path],
        typer.Option(help="A recording to carry through the call; the default prompt if left out."),
    ] = None,
    audio: Annotated[bool, typer.Option(help="Make the call audible, where a recording is at hand.")] = True,
    playout: Annotated[
        Optional[str],
        typer.Option(
            help="The playout buffer of the call that is heard: neteq, adaptive, or its fixed delay: '100 ms'; "
            "the scenario's if left out."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for page, tables and audio.")] = Path("out/compare"),
    seed: Annotated[int, typer.Option(help="First seed.")] = 1,
    replications: Replications = 10,
    settings: Settings = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Run a scenario over several transports under the same seeds, and compare: table, page, audio."""
    from fairwave.cli.comparing import compare_transports

    compare_transports(
        scenario, over, flow, speech if audio else None, out, seed, replications, settings or [], threads,
        json=json, audio=audio, playout=playout,
    )  # fmt: skip


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="Which study; `fairwave list studies` shows them.")],
    out: Annotated[
        Optional[Path], typer.Option(help="Folder for page, figures, data and ledger; out/NAME if left out.")
    ] = None,
    replications: Replications = 10,
    figure: Annotated[Optional[str], typer.Option(help="Make only this figure or table.")] = None,
    reading: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE", help="Another reading of the paper: a JSON object of factors to values."
        ),
    ] = None,
    explore: Annotated[
        Optional[int],
        typer.Option(
            metavar="N",
            help="Judge every claim in N readings of the paper, drawn from all that its words allow; 128 are usual.",
        ),
    ] = None,
    settings: Settings = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Carry out a study: every figure and table of its papers, and a verdict per claim."""
    from fairwave.cli.studying import run_study

    run_study(
        name, out, replications, figure, settings or [], threads, reading=reading, explored=explore, json=json
    )


@app.command("list")
def list_(
    what: Annotated[
        Optional[str],
        typer.Argument(help="transports, queues, losses, rates, traffic, presets, measures or studies."),
    ] = None,
    json: Json = False,
) -> None:
    """Show what a scenario can name, and which studies there are."""
    from fairwave.cli.inspecting import show_names

    show_names(what, json=json)


@app.command()
def check(
    scenario: ScenarioFile,
    expand: Annotated[
        bool, typer.Option("--expand", help="Show every node, link and flow spelled out.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed for what is drawn.")] = 1,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Check a scenario without running it."""
    from fairwave.cli.inspecting import check_scenario

    check_scenario(scenario, seed, settings or [], expand=expand, json=json)


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenarios."""
    from fairwave._native import Scenario

    typer.echo(Scenario.schema())
