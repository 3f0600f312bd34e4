"""Options that several commands share, also those of packages that plug commands in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairwave.cli import completing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def examples(*lines: str) -> str:
    """Examples beneath a command's help, one a line."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)])


# Groups of commands in `fairwave --help`, in this order.
ASK = "Ask about a scenario"
WHOLE = "Networks, controllers and papers"
REAL = "Real lines, captures and traces"
NAMES = "Names, files and this installation"
OWN = "Your own laws"
PANELS = (ASK, WHOLE, REAL, NAMES, OWN)

# Typer reads these annotations at run time, under Python 3.10 too, hence Optional.
ScenarioFile = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario, .toml or .json; - reads standard input.")
]
ScenarioOrFolders = Annotated[
    list[str],
    typer.Argument(
        metavar="SCENARIO|FOLDER…",
        help="A scenario, .toml or .json, - reads standard input; or two scenarios or more; or two folders "
        "or more that `--out` left.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key of the scenario: flow.voice.count=20. Repeatable."
    ),
]
Replications = Annotated[int, typer.Option("--replications", "-n", help="Independent runs per point.")]
FirstSeed = Annotated[int, typer.Option(help="First seed.")]
RunSeed = Annotated[int, typer.Option(help="The seed.")]
RunFolder = Annotated[Path | None, typer.Option(help="Folder for page and tables, as Parquet and CSV.")]
RecordedFlows = Annotated[
    list[str] | None,
    typer.Option(help="Flows to record unit by unit and sample: voice[0]. Repeatable."),
]
HostCapture = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write every host's packets for Wireshark: pcapng.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads; all cores if left out. Runs have them first, and parts of a run where runs are fewer;"
        " a run with laws in Python uses one."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Make the runs on the workers of a Dask scheduler: tcp://host:8786.",
    ),
]
Laws = Annotated[
    list[Path] | None,
    typer.Option(
        "--laws",
        metavar="FILE.py",
        help="Laws and measures of your own: a Python file, which is run. A scenario never runs one. Repeatable.",
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        metavar="NAME,…",
        help="Show these measures instead of the usual: mos,missed, loss.voice for one flow group, or all. "
        "`fairwave list measures` names them. Repeatable.",
        autocompletion=completing.measures,
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="NAME,…",
        help="Show these flow groups, or all. If left out: all of up to 20 groups; of more, counts per band and the "
        "ten worst. Repeatable.",
    ),
]
Relevant = Annotated[
    list[str] | None,
    typer.Option(
        "--relevant",
        metavar="MEASURE=DIFFERENCE",
        help="The smallest difference of a measure that counts; values that differ by less are alike: mos=0.2, "
        "'delay=20 ms', 'loss=1 %', 'goodput=5 %'. Repeatable. `docs/results.md` has the usual ones.",
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="CONDITION",
        help="A condition that the 95 % interval must meet: 'mos.voice >= 3.6', or next to a baseline "
        "'mos.voice >= baseline - 0.1'. The exit status is 0 where all hold, "
        "3 where one fails, 4 where one is undecided. Repeatable.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="SCENARIO|FOLDER",
        help="The scenario, or the folder of its runs, with which --require 'mos.voice >= baseline - 0.1' compares, "
        "seed by seed.",
    ),
]
RequiredClaims = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="ID",
        help="A claim or criterion that must hold, or all. The exit status is 0 where all hold, 3 where one fails, 4 "
        "where one is undecided. Repeatable.",
    ),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the requirements as JUnit XML.")
]
FigureStyle = Annotated[
    str | None,
    typer.Option(
        "--style",
        metavar="STYLE,…",
        help="How figures are drawn: paper, slides, mono, a Matplotlib style sheet, or several: paper,mono.",
    ),
]
FigureFiles = Annotated[
    str | None,
    typer.Option(
        "--figures",
        metavar="FORMAT,…",
        help="Formats of the figures' files: svg,png,pdf; svg,png if left out.",
        autocompletion=completing.figures,
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Take over a folder that holds something else.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Make very many runs without asking.")]
LineKeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="A file with the key that both ends have. Or: the variable FAIRWAVE_KEY, or a prompt.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output instead of tables.")]


def given_options(context: typer.Context) -> list[str]:
    """The options that the command line names, each by its first long name."""
    return [
        next(
            (
                name
                for name in (
                    *option.secondary_opts[: context.params.get(str(option.name)) is False],
                    *option.opts,
                )
                if name.startswith("--")
            ),
            option.opts[0],
        )
        for option in context.command.params
        if option.param_type_name == "option"
        and (source := context.get_parameter_source(str(option.name))) is not None
        and source.name == "COMMANDLINE"
    ]


def refuse_without(context: typer.Context, needed: Mapping[str, Sequence[str]]) -> None:
    """Refuses options that have no effect without another.

    Args:
        context: The command line.
        needed: Each option, with those of which it needs one.

    Raises:
        BadInputError: One is given without any of those.
    """
    from fairwave.errors import BadInputError

    given = given_options(context)
    for option, others in needed.items():
        if option in given and not set(others) & set(given):
            raise BadInputError(
                f"{option} has no effect without {' or '.join(others)}: add it, or leave {option} out"
            )


def use_laws(files: list[Path] | None) -> None:
    """Hands in the laws and measures of each file."""
    if files:
        from fairwave.laws import load_laws

        for file in files:
            load_laws(file)
