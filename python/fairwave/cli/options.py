"""Options shared by several commands, including commands of packages that plug in."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import typer

from fairwave.cli import completing, declarations
from fairwave.cli.declarations import CheckOptions, RunOptions
from fairwave.cli.input import no_effect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.cli.declarations import Declaration

Options = TypeVar("Options", RunOptions, CheckOptions)


def examples(*lines: str) -> str:
    """Examples below a command's help, one per line."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)])


# Groups of commands in `fairwave --help`, in this order.
ASK = "Ask about a scenario"
WHOLE = "Networks, controllers and papers"
REAL = "Real lines, captures and traces"
NAMES = "Names, files and this installation"
OWN = "Your own laws"
PANELS = (ASK, WHOLE, REAL, NAMES, OWN)


def as_parameter(declared: Declaration) -> Any:
    """Converts a declaration to typer's option or argument."""
    metavar = declared.metavar or None
    if not declared.names:
        return typer.Argument(metavar=metavar, help=declared.help)
    positive, *others = declared.names
    names = (f"{positive}/{others[0]}",) if others == [f"--no-{positive[2:]}"] else declared.names
    complete = getattr(completing, declared.completing) if declared.completing else None
    return typer.Option(*names, metavar=metavar, help=declared.help, autocompletion=complete)


def as_command(kind: type[Options], work: Callable[[Options], None]) -> Callable[..., None]:
    """Makes a function for typer: its parameters are the fields of an options class, its docstring is from `work`."""
    parameters = []
    for one in fields(kind):
        wanted, declared = get_args(one.type)
        if one.default_factory is not MISSING:  # typer has None for a list without values
            wanted = wanted | None
        annotation, default = Annotated[wanted, as_parameter(declared)], one.default
        if default is MISSING:
            default = inspect.Parameter.empty if one.default_factory is MISSING else None
        parameters.append(
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
        )

    def command(**given: Any) -> None:
        work(kind(**{name: value for name, value in given.items() if value is not None}))

    command.__name__, command.__doc__ = work.__name__, work.__doc__
    command.__annotations__ = {}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions have any
    return command


# Typer reads these annotations at run time, under Python 3.10 too, hence Optional.
ScenarioFile = Annotated[str, as_parameter(declarations.SCENARIO)]
ScenarioOrFolders = Annotated[
    list[str],
    typer.Argument(
        metavar="SCENARIO|FOLDER…",
        help="A scenario, .toml or .json, - reads standard input; or two scenarios or more; or two folders "
        "or more that `--out` left.",
    ),
]
Settings = Annotated[list[str] | None, as_parameter(declarations.SETTINGS)]
Replications = Annotated[int, as_parameter(declarations.REPLICATIONS)]
FirstSeed = Annotated[int, as_parameter(declarations.FIRST_SEED)]
RunSeed = Annotated[int, typer.Option(help="The seed.")]
RunFolder = Annotated[Path | None, as_parameter(declarations.RUN_FOLDER)]
RecordedFlows = Annotated[list[str] | None, as_parameter(declarations.RECORDED_FLOWS)]
HostCapture = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write every host's packets for Wireshark: pcapng.")
]
Threads = Annotated[int | None, as_parameter(declarations.THREADS)]
Cluster = Annotated[str | None, as_parameter(declarations.CLUSTER)]
Laws = Annotated[list[Path] | None, as_parameter(declarations.LAWS)]
Measures = Annotated[list[str] | None, as_parameter(declarations.MEASURES)]
Groups = Annotated[list[str] | None, as_parameter(declarations.GROUPS)]
Relevant = Annotated[
    list[str] | None,
    typer.Option(
        "--relevant",
        metavar="MEASURE=DIFFERENCE",
        help="The smallest difference of a measure that counts; values that differ by less are alike: mos=0.2, "
        "'delay=20 ms', 'loss=1 %', 'goodput=5 %'. Repeatable. `docs/results.md` has the usual ones.",
    ),
]
Require = Annotated[list[str] | None, as_parameter(declarations.REQUIRE)]
Baseline = Annotated[str | None, as_parameter(declarations.BASELINE)]
RequiredClaims = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="ID",
        help="A claim or criterion that must hold, or all. The exit status is 0 where all hold, 3 where one fails, 4 "
        "where one is undecided. Repeatable.",
    ),
]
JUnit = Annotated[Path | None, as_parameter(declarations.JUNIT)]
FigureStyle = Annotated[str | None, as_parameter(declarations.FIGURE_STYLE)]
FigureFiles = Annotated[str | None, as_parameter(declarations.FIGURE_FILES)]
Overwrite = Annotated[bool, as_parameter(declarations.OVERWRITE)]
Yes = Annotated[bool, as_parameter(declarations.YES)]
LineKeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="A file with the key that both ends have. Or: the variable FAIRWAVE_KEY, or a prompt.",
    ),
]
Json = Annotated[bool, as_parameter(declarations.JSON)]
Sdp = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Of a capture: session description (SDP) of its codecs. Default: that of SIP in the capture.",
    ),
]


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
        needed: For each option, the options of which it needs one.

    Raises:
        BadInputError: One is given without any of those.
    """
    given = given_options(context)
    for option, others in needed.items():
        if option in given and not set(others) & set(given):
            raise no_effect(option, others)
