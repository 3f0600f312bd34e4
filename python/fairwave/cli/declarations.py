"""Options of `fairwave run` and `fairwave check`, each declared once.

The library of the command line (`options.as_command`) and the quick reader (`plain`) read the same declarations.
Nothing here imports that library, because it takes longer to start than a small scenario takes to run. Annotations are
read at run time.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated


@dataclass(frozen=True)
class Declaration:
    """An option of a command, or its argument.

    Attributes:
        help: Description in help and pages.
        names: Its names on the command line; empty for an argument.
        metavar: Name of its value in help; empty for the type's usual name.
        completing: The function of `fairwave.cli.completing` that completes its value; empty for none.
    """

    help: str
    names: tuple[str, ...] = ()
    metavar: str = ""
    completing: str = ""


def _option(help: str, *names: str, metavar: str = "", completing: str = "") -> Declaration:  # noqa: A002
    return Declaration(help, names, metavar, completing)


SCENARIO = Declaration(
    "A scenario, .toml or .json, or the name of an example (`fairwave examples`); - reads standard input.",
    metavar="SCENARIO",
)
SETTINGS = _option(
    "Change a key of the scenario: flow.voice.count=20. Repeatable.", "--set", metavar="KEY=VALUE"
)
REPLICATIONS = _option("Independent runs per point.", "--replications", "-n")
FIRST_SEED = _option("First seed.", "--seed")
RUN_FOLDER = _option("Folder for page and tables, as Parquet and CSV.", "--out")
RECORDED_FLOWS = _option("Flows to record unit by unit and sample: voice[0]. Repeatable.", "--record")
THREADS = _option(
    "Threads; all cores if left out. Runs have them first, and parts of a run where runs are fewer;"
    " a run with laws in Python uses one.",
    "--threads",
)
CLUSTER = _option(
    "Make the runs on the workers of a Dask scheduler: tcp://host:8786.", "--cluster", metavar="ADDRESS"
)
LAWS = _option(
    "Laws and measures of your own: a Python file, which is run. A scenario never runs one. Repeatable.",
    "--laws", metavar="FILE.py",
)  # fmt: skip
MEASURES = _option(
    "Show these measures instead of the usual: mos,missed, loss.voice for one flow group, or all. "
    "`fairwave list measures` names them. Repeatable.",
    "--measures", metavar="NAME,…", completing="measures",
)  # fmt: skip
GROUPS = _option(
    "Show these flow groups, or all. If left out: all of up to 20 groups; of more, counts per band and the ten worst. "
    "Repeatable.",
    "--groups", metavar="NAME,…",
)  # fmt: skip
REQUIRE = _option(
    "A condition that the 95 % interval must meet: 'mos.voice >= 3.6', or next to a baseline "
    "'mos.voice >= baseline - 0.1'. The exit status is 0 where all hold, "
    "3 where one fails, 4 where one is undecided. Repeatable.",
    "--require", metavar="CONDITION",
)  # fmt: skip
BASELINE = _option(
    "The scenario, or the folder of its runs, with which --require 'mos.voice >= baseline - 0.1' compares, "
    "seed by seed.",
    "--baseline", metavar="SCENARIO|FOLDER",
)  # fmt: skip
JUNIT = _option("Write the requirements as JUnit XML.", "--junit", metavar="FILE")
FIGURE_STYLE = _option(
    "How figures are drawn: paper, slides, mono, a Matplotlib style sheet, or several: paper,mono.",
    "--style", metavar="STYLE,…",
)  # fmt: skip
FIGURE_FILES = _option(
    "Formats of the figures' files: svg,png,pdf; svg,png if left out.",
    "--figures", metavar="FORMAT,…", completing="figures",
)  # fmt: skip
OVERWRITE = _option("Take over a folder that holds something else.", "--overwrite")
YES = _option("Make very many runs without asking.", "--yes", "-y")
JSON = _option("One JSON document on standard output instead of tables.", "--json")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # __eq__ and __repr__ would take time to make
class RunOptions:
    """Options of `fairwave run`. The declaration of each option has its description."""

    scenario: Annotated[str, SCENARIO]
    seed: Annotated[int, FIRST_SEED] = 1
    replications: Annotated[int, REPLICATIONS] = 1
    out: Annotated[Path | None, RUN_FOLDER] = None
    record: Annotated[list[str], RECORDED_FLOWS] = field(default_factory=list)
    settings: Annotated[list[str], SETTINGS] = field(default_factory=list)
    threads: Annotated[int | None, THREADS] = None
    cluster: Annotated[str | None, CLUSTER] = None
    page: Annotated[
        bool,
        _option(
            "With --out: draw network, queues, windows, goodput and a call on a page.", "--page", "--no-page"
        ),
    ] = True
    capture: Annotated[
        list[str],
        _option(
            "Capture packets for Wireshark: link:r1>r2=up.pcapng (what leaves the link), drops:r1>r2=… "
            "(what its queue drops), host:NODE=…. Repeatable; places with one file share it.",
            "--capture",
            metavar="WHERE=FILE",
        ),
    ] = field(default_factory=list)
    capture_payload: Annotated[
        bool,
        _option(
            "Write payload into captures, too: what calls by G.711 say, else zeros.", "--capture-payload"
        ),
    ] = False
    qlog: Annotated[
        Path | None,
        _option(
            "Write what senders do as qlog, for qvis: windows, round trips, losses. A file per flow.",
            "--qlog",
            metavar="DIR",
        ),
    ] = None
    qlog_flow: Annotated[
        list[str],
        _option(
            "With --qlog: which flows (up, up[0]); all if left out. Repeatable.",
            "--qlog-flow",
            metavar="FLOW",
        ),
    ] = field(default_factory=list)
    stats: Annotated[
        Path | None,
        _option(
            "Write what getStats() answers at both ends of each media session, once per second, and all of it "
            "as a dump of chrome://webrtc-internals.",
            "--stats",
            metavar="DIR",
        ),
    ] = None
    loss_pattern: Annotated[
        list[str],
        _option(
            "Write which packets a link lost (link:r1>r2=losses.txt) or a flow (flow:voice[0]=…). Repeatable.",
            "--loss-pattern",
            metavar="WHERE=FILE",
        ),
    ] = field(default_factory=list)
    measures: Annotated[list[str], MEASURES] = field(default_factory=list)
    groups: Annotated[list[str], GROUPS] = field(default_factory=list)
    speech: Annotated[
        Path | None,
        _option(
            "With --out: a recording to send through the first call and to play on the page. "
            "With --capture-payload: what calls by G.711 say in captures.",
            "--speech",
            metavar="FILE",
        ),
    ] = None
    doubt: Annotated[
        bool,
        _option(
            "Also run what other systems have in place of each default that the scenario uses, one at a time, "
            "and name each default that would change the verdict.",
            "--doubt",
        ),
    ] = False
    require: Annotated[list[str], REQUIRE] = field(default_factory=list)
    baseline: Annotated[str | None, BASELINE] = None
    junit: Annotated[Path | None, JUNIT] = None
    style: Annotated[str | None, FIGURE_STYLE] = None
    figures: Annotated[str | None, FIGURE_FILES] = None
    overwrite: Annotated[bool, OVERWRITE] = False
    yes: Annotated[bool, YES] = False
    laws: Annotated[list[Path], LAWS] = field(default_factory=list)
    json: Annotated[bool, JSON] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # __eq__ and __repr__ would take time to make
class CheckOptions:
    """Options of `fairwave check`. The declaration of each option has its description."""

    scenario: Annotated[str, SCENARIO]
    expand: Annotated[bool, _option("Show every node, link and flow spelled out.", "--expand")] = False
    seed: Annotated[int, _option("Seed for what is drawn.", "--seed")] = 1
    settings: Annotated[list[str], SETTINGS] = field(default_factory=list)
    laws: Annotated[list[Path], LAWS] = field(default_factory=list)
    json: Annotated[bool, JSON] = False
