"""The commands and their options."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from fairwave._native import version as __version__
from fairwave.cli import completing, kernel
from fairwave.cli.declarations import CheckOptions, RunOptions
from fairwave.cli.input import use_laws
from fairwave.cli.options import (
    ASK,
    NAMES,
    OWN,
    PANELS,
    REAL,
    Baseline,
    Cluster,
    FigureFiles,
    FigureStyle,
    FirstSeed,
    HostCapture,
    Json,
    JUnit,
    Laws,
    LineKeyFile,
    Measures,
    Overwrite,
    RecordedFlows,
    Relevant,
    Replications,
    Require,
    RunFolder,
    RunSeed,
    ScenarioFile,
    ScenarioOrFolders,
    Sdp,
    Settings,
    Threads,
    Yes,
    as_command,
    examples,
    given_options,
    refuse_without,
)
from fairwave.cli.repetition import refuse_repetitions
from fairwave.layers import offered

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Will voice and video over this network be good? A packet-level laboratory.",
)
app.add_typer(kernel.app, name="kernel", rich_help_panel=OWN)


class TcpReplay(str, Enum):
    """How to replay a capture's TCP."""

    TRANSFER = "transfer"
    PACKETS = "packets"


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


def run(options: RunOptions) -> None:
    """Run a scenario: rate its flows, then list the results of flows and links."""
    from fairwave.cli.runs import run_scenario

    run_scenario(options)


app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave run examples/home-uplink.toml",
        "fairwave run calls.toml -n 10 --set flow.voice.count=20 --out out/calls",
        "fairwave run new.toml -n 10 --baseline old.toml --require 'mos.voice >= baseline - 0.1'",
        "cat calls.toml | fairwave run - --json",
        "fairwave run calls.toml --capture 'link:r1>r2=up.pcapng' --loss-pattern 'link:r1>r2=losses.txt'",
        "fairwave run examples/rrul.toml --qlog out/qlog --qlog-flow tcp-upload-be[0]",
    ),
)(as_command(RunOptions, run))


@app.command(rich_help_panel=ASK, epilog=examples("fairwave demo", "fairwave demo --out out/mine -n 20"))
def demo(
    out: Annotated[
        Optional[Path], typer.Option(help="Folder for page, tables and audio; out/demo if left out.")
    ] = None,
    replications: Replications = 10,
    overwrite: Overwrite = False,
) -> None:
    """Answer two questions about a call: does it survive an upload, and which transport does it need?"""
    from fairwave.cli.demo import show_demo

    show_demo(out, replications, overwrite=overwrite)


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave live examples/home-uplink.toml",
        "fairwave live calls.toml --set 'flow.download.transport=host/cubic' --beside",
        "fairwave live calls.toml --out out/live --capture all.pcapng",
    ),
)
def live(
    scenario: ScenarioFile,
    seed: RunSeed = 1,
    out: RunFolder = None,
    record: RecordedFlows = None,
    settings: Settings = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Simulate the scenario as well and compare both.")
    ] = False,
    page: Annotated[bool, typer.Option(help="With --out: draw the run on a page.")] = True,
    style: FigureStyle = None,
    figures: FigureFiles = None,
    capture: HostCapture = None,
    require: Require = None,
    junit: JUnit = None,
    overwrite: Overwrite = False,
    laws: Laws = None,
    json: Json = False,
) -> None:
    """Run a scenario in real time, on real packets between network namespaces (Linux)."""
    from fairwave.live import LIVE, require_linux

    require_linux(*LIVE)
    use_laws(laws)
    from fairwave.cli.live import live_scenario

    status = live_scenario(
        scenario, seed, out, record or [], settings or [],
        capture=capture, laws=laws or [], beside=beside, page=page, overwrite=overwrite, json=json,
        require=require or [], junit=junit, style=style, figures=figures,
    )  # fmt: skip
    raise typer.Exit(status)


@app.command(
    rich_help_panel=ASK,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": False},
    epilog=examples(
        "fairwave shell examples/lte-call.toml -- bash",
        "fairwave shell examples/home-uplink.toml --no-flows --at cloud -- iperf3 -s -1 --at nas -- iperf3 -c cloud",
    ),
)
def shell(
    context: typer.Context,
    scenario: ScenarioFile,
    at: Annotated[
        Optional[str],
        typer.Option(
            metavar="HOST",
            help="The host of the first command, the first flow's sender if left out; others: --at HOST -- COMMAND….",
        ),
    ] = None,
    seed: RunSeed = 1,
    settings: Settings = None,
    longest: Annotated[
        float, typer.Option("--for", metavar="SECONDS", help="How long it lasts at most.")
    ] = 3600.0,
    flows: Annotated[bool, typer.Option(help="Run the scenario's flows next to the programs.")] = True,
    capture: HostCapture = None,
    laws: Laws = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell of the accounts only what is wrong.")] = False,
) -> None:
    """Run programs, or a shell, behind a scenario's network (Linux); it ends with the last of them."""
    from fairwave.live import LIVE, require_linux

    require_linux(*LIVE)
    use_laws(laws)
    from fairwave.cli.live import shell as run_shell

    status = run_shell(
        scenario, at, context.args, seed, settings or [],
        longest=longest, capture=capture, laws=laws or [], flows=flows, quiet=quiet,
    )  # fmt: skip
    raise typer.Exit(status)


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave compare examples/contested-call.toml --over udp,tcp/vegas,tfrc",
        "fairwave compare examples/home-uplink.toml --vary 'link.home>isp.queue=drop-tail,red,codel,pie'",
        "fairwave compare calls.toml --vary flow.voice.count=5,10,20 --vary topology.bottleneck.queue=red,codel",
        "fairwave compare old.toml new.toml --require 'mos.voice >= baseline - 0.1'",
        "fairwave compare out/a out/b --out out/a-and-b",
    ),
)
def compare(
    context: typer.Context,
    scenario: ScenarioOrFolders,
    over: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME,…",
            help="Transports of the flow group: udp,tcp/vegas.",
            autocompletion=completing.transports,
        ),
    ] = None,
    vary: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="KEY=A,B,…",
            help="Any key of the scenario with the values that are compared. Repeatable: every combination.",
        ),
    ] = None,
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
            help="The playout buffer of the call on the page: neteq, adaptive, or its fixed delay: '100 ms'; "
            "the scenario's if left out."
        ),
    ] = None,
    out: Annotated[
        Optional[Path], typer.Option(help="Folder for page, tables and audio; out/compare if left out.")
    ] = None,
    seed: FirstSeed = 1,
    replications: Replications = 10,
    settings: Settings = None,
    threads: Threads = None,
    cluster: Cluster = None,
    measures: Measures = None,
    require: Require = None,
    junit: JUnit = None,
    style: FigureStyle = None,
    figures: FigureFiles = None,
    page: Annotated[bool, typer.Option(help="Draw a page; without it, the folder has tables alone.")] = True,
    overwrite: Overwrite = False,
    yes: Yes = False,
    laws: Laws = None,
    relevant: Relevant = None,
    json: Json = False,
) -> None:
    """Run alternatives of a scenario under the same seeds, and compare: table, page, audio.

    With several scenarios, run them under the same seeds and list the keys that differ. The exit status is 3 if one is
    worse than the first by a difference that counts (or fails --require), 4 if that is undecided.

    With folders instead of a scenario, compare the runs that they hold, without running anything.
    """
    use_laws(laws)
    from fairwave.cli.input import run_place
    from fairwave.cli.overlaying import Comparing, compare_folders, compare_scenarios, kind_of
    from fairwave.measuring.relevance import relevance

    counting = relevance(relevant)
    kind = kind_of(scenario)
    if kind != "scenario":
        from fairwave.cli.input import seeds, threads_or_all

        asked = Comparing(
            kind[:-1],
            flow,
            out,
            overwrite,
            measures or [],
            json,
            style,
            figures,
            require or [],
            junit,
            counting,
            page,
        )
        given = given_options(context)
        if kind == "folders":
            compare_folders(scenario, asked, given)
            return
        with run_place(cluster):
            compare_scenarios(
                scenario, asked, seeds(seed, replications), settings or [], threads_or_all(threads),
                yes=yes, given=given,
            )  # fmt: skip
        return
    from fairwave.cli.comparing import compare_alternatives

    with run_place(cluster):
        compare_alternatives(
            scenario[0], over, vary or [], flow, speech if audio else None, out, seed, replications, settings or [],
            threads, json=json, audio=audio, playout=playout, overwrite=overwrite, measures=measures or [], yes=yes,
            require=require or [], junit=junit,
            style=style, figures=figures, relevance=counting, page=page,
        )  # fmt: skip


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave guard new.toml --baseline old.toml",
        "fairwave guard new.toml --baseline old.toml --require 'mos.call >= baseline - 0.2' --junit out/guard.xml",
    ),
)
def guard(
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO…", help="Scenarios, .toml or .json.")],
    baseline: Annotated[
        str,
        typer.Option(
            metavar="REVISION|SCENARIO|FOLDER",
            help="The earlier version: a revision of git (main, HEAD^), a scenario, a folder of its runs, or a folder "
            "with the files of another version.",
        ),
    ],
    require: Require = None,
    relevant: Relevant = None,
    out: Annotated[
        Optional[Path], typer.Option(help="Folder for report, pictures and pages; out/guard if left out.")
    ] = None,
    junit: JUnit = None,
    seed: FirstSeed = 1,
    replications: Replications = 10,
    settings: Settings = None,
    threads: Threads = None,
    laws: Laws = None,
    page: Annotated[
        bool, typer.Option(help="Draw a page and the pictures of the report; without it, tables alone.")
    ] = True,
    overwrite: Overwrite = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Fail if a call gets worse than in an earlier version: for CI, with a report, pictures and JUnit XML.

    Each scenario runs as it is and as the baseline has it, under the same seeds. The exit status is 3 if a call is
    worse by a difference that counts (or fails --require), 4 if that is undecided.
    """
    from fairwave.cli.guarding import GuardOptions, guard_scenarios
    from fairwave.cli.input import seeds, threads_or_all
    from fairwave.measuring.relevance import relevance

    guard_scenarios(
        GuardOptions(
            scenarios, baseline, require or [], out, seeds(seed, replications), settings or [],
            threads_or_all(threads), laws or [], junit, relevance(relevant), overwrite, yes, page, json,
        )
    )  # fmt: skip


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave sweep calls.toml --grid flow.voice.count=5,10,20 --until mos.voice:±0.05",
        "fairwave sweep calls.toml --grid flow.voice.count=1..20 --until mos.voice:±0.1 --show loss.voice --out out/s",
    ),
)
def sweep(
    scenario: ScenarioFile,
    grid: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="KEY=A,B,…",
            help="A key with its values, LOW..HIGH for whole numbers. Repeatable: every combination.",
        ),
    ] = None,
    until: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="MEASURE:±HALF",
            help="Replicate each point until the 95 % interval is this narrow: mos.voice:±0.05, or ±2%. Repeatable.",
        ),
    ] = None,
    show: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="MEASURE",
            help="Another measure to show: loss.voice. Repeatable.",
            autocompletion=completing.measures,
        ),
    ] = None,
    out: Annotated[Optional[Path], typer.Option(help="Folder for page, figures and tables.")] = None,
    seed: FirstSeed = 1,
    replications: Annotated[
        int, typer.Option("--replications", "-n", help="Runs of a point to begin with.")
    ] = 5,
    most: Annotated[int, typer.Option(help="The most runs of a point.")] = 100,
    settings: Settings = None,
    threads: Threads = None,
    cluster: Cluster = None,
    measures: Measures = None,
    require: Require = None,
    baseline: Baseline = None,
    junit: JUnit = None,
    style: FigureStyle = None,
    figures: FigureFiles = None,
    overwrite: Overwrite = False,
    yes: Yes = False,
    laws: Laws = None,
    relevant: Relevant = None,
    json: Json = False,
) -> None:
    """Run every combination of values, each until it is precise enough.

    The exit status is 4 if a point is not as precise as --until asks.
    """
    use_laws(laws)
    from fairwave.cli.asking import sweep_grid
    from fairwave.cli.input import run_place
    from fairwave.measuring.relevance import relevance

    with run_place(cluster):
        sweep_grid(
            scenario, grid or [], until or [], show or [], out, seed, replications, most, settings or [], threads,
            json=json, overwrite=overwrite, measures=measures or [], yes=yes, style=style, figures=figures,
            relevance=relevance(relevant), require=require or [], junit=junit, baseline=baseline,
        )  # fmt: skip


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave find examples/home-uplink.toml --vary flow.call.count=1..200 --until 'mos.call >= 2.5'",
        "fairwave find calls.toml --vary 'topology.bottleneck.rate=200 kb/s..2 Mb/s' --until 'loss.voice <= 1'",
        "fairwave find calls.toml --vary flow.voice.count=1..60 --until 'mos.voice >= 3.6' --until 'loss.voice <= 1'",
    ),
)
def find(
    scenario: ScenarioFile,
    vary: Annotated[
        str,
        typer.Option(
            metavar="KEY=LOW..HIGH",
            help="The key that is searched, and its range. KEY,KEY=LOW..HIGH gives several keys the same value.",
        ),
    ],
    until: Annotated[
        list[str],
        typer.Option(
            metavar="CONDITION",
            help="What is to hold: 'mos.voice >= 3.6' (or <=, >, <). Repeatable: all must hold together.",
        ),
    ],
    out: Annotated[Optional[Path], typer.Option(help="Folder for page, figure, answer and tables.")] = None,
    seed: FirstSeed = 1,
    replications: Annotated[
        int, typer.Option("--replications", "-n", help="Runs of a value to begin with.")
    ] = 3,
    most: Annotated[
        int,
        typer.Option(
            help="The most runs of a value that its own runs decide. A limit takes up to five times as many, from all "
            "values around it."
        ),
    ] = 12,
    settings: Settings = None,
    threads: Threads = None,
    cluster: Cluster = None,
    require: Require = None,
    baseline: Annotated[
        Optional[str],
        typer.Option(
            metavar="SCENARIO",
            help="The scenario with which conditions as 'mos.voice >= baseline - 0.1' compare, seed by seed.",
        ),
    ] = None,
    junit: JUnit = None,
    style: FigureStyle = None,
    figures: FigureFiles = None,
    overwrite: Overwrite = False,
    laws: Laws = None,
    relevant: Relevant = None,
    json: Json = False,
) -> None:
    """Find the values at which conditions hold: how many calls does this line carry?

    The exit status is 0 if they hold at some value, 3 if at none, 4 if that is undecided.
    """
    use_laws(laws)
    from fairwave.cli.asking import find_value
    from fairwave.cli.input import run_place
    from fairwave.measuring.relevance import relevance

    with run_place(cluster):
        find_value(
            scenario,
            vary,
            until,
            out,
            seed,
            replications,
            most,
            settings or [],
            threads,
            json=json,
            overwrite=overwrite,
            require=require or [],
            junit=junit,
            style=style,
            figures=figures,
            relevance=relevance(relevant),
            baseline=baseline,
        )


@app.command(
    "list",
    rich_help_panel=NAMES,
    epilog=examples("fairwave list", "fairwave list presets", "fairwave list queues --json"),
)
def list_(
    what: Annotated[
        Optional[str],
        typer.Argument(
            help="transports, controllers, queues, victims, losses, rates, traffic, playouts, presets, networks, "
            "events, codecs, measures or studies.",
            autocompletion=completing.kinds,
        ),
    ] = None,
    laws: Laws = None,
    json: Json = False,
) -> None:
    """List the names that a scenario can use, and the studies."""
    use_laws(laws)
    from fairwave.cli.inspecting import show_names

    show_names(what, json=json)


@app.command(
    rich_help_panel=NAMES,
    epilog=examples(
        "fairwave explain vegas", "fairwave explain red", "fairwave explain mos", "fairwave explain g729"
    ),
)
def explain(
    name: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="A name of `fairwave list`, a title of a table or a term: vegas, mos, mouth to ear, jitter buffer, …",
            autocompletion=completing.explained,
        ),
    ],
    laws: Laws = None,
    json: Json = False,
) -> None:
    """Explain a name of scenarios: its rule, source, parameters with defaults, and an example."""
    use_laws(laws)
    from fairwave.cli.inspecting import explain_name

    explain_name(" ".join(name), json=json)


def check(options: CheckOptions) -> None:
    """Check a scenario without running it: mistakes, offered load, bandwidth-delay products."""
    from fairwave.cli.inspecting import check_scenario

    check_scenario(options)


app.command(
    rich_help_panel=ASK,
    epilog=examples("fairwave check calls.toml", "fairwave check calls.toml --expand --json"),
)(as_command(CheckOptions, check))


@app.command(
    "trace-packet",
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave trace-packet examples/home-uplink.toml",
        "fairwave trace-packet calls.toml --flow voice --packet 17 --seed 2",
        "fairwave trace-packet calls.toml --flow voice[3] --json",
    ),
)
def trace_packet(
    scenario: ScenarioFile,
    flow: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME",
            help="The flow: voice[0], or voice for the first one of a group. Default: the first flow with a packet "
            "that is discarded, marked or lost, else the first flow.",
        ),
    ] = None,
    packet: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            metavar="N",
            help="The number of the packet among those that the flow sends, from 1. Default: the first packet that is "
            "discarded, marked or lost, else the one with the longest wait.",
        ),
    ] = None,
    seed: RunSeed = 1,
    settings: Settings = None,
    laws: Laws = None,
    json: Json = False,
) -> None:
    """Follow one packet: each step with time, link, queue and the source line that decided it."""
    use_laws(laws)
    from fairwave.cli.packet_path import show_packet

    show_packet(scenario, seed, flow, packet, settings or [], json=json)


@app.command(
    "import",
    rich_help_panel=REAL,
    epilog=examples("fairwave import last-night.pcapng", "fairwave import net.gml --json"),
)
def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A capture, statistics of a call, a topology, a rate trace, a loss pattern, a measurement, a bundle.",
        ),
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a topology with faults instead of repairing it.")
    ] = False,
    json: Json = False,
) -> None:
    """Recognise a file: its contents in a few lines, and the commands that can use it."""
    from fairwave.cli.importing import show_import

    show_import(file, strict=strict, json=json)


@app.command(
    rich_help_panel=REAL,
    epilog=examples("fairwave pattern losses.txt", "fairwave pattern trace.g192 --draw losses.png --json"),
)
def pattern(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A pattern of loss: text of 0 and 1, CSV, ITU-T G.191's, or a capture of RTP.",
        ),
    ],
    draw: Annotated[Optional[Path], typer.Option(metavar="PNG", help="Draw packets and runs.")] = None,
    convert: Annotated[
        Optional[Path],
        typer.Option("--to", metavar="FILE", help="Write it in another format: .txt, .csv, .g192 or .byte."),
    ] = None,
    select: Annotated[
        Optional[str],
        typer.Option(
            metavar="STREAM", help="Of a capture: the stream of RTP. Default: the largest of media."
        ),
    ] = None,
    sdp: Sdp = None,
    json: Json = False,
) -> None:
    """Summarise a pattern of loss: losses, runs, and Gilbert's model fitted to it."""
    from fairwave.cli.patterns import show_pattern

    show_pattern(file, draw, convert, json=json, select=select, sdp=sdp)


@app.command(
    rich_help_panel=REAL,
    epilog=examples(
        "fairwave replay last-night.pcapng",
        "fairwave replay last-night.pcapng --rate '2 Mb/s' --delay '30 ms' --out slower.toml",
        "fairwave replay call.pcap --losses losses.txt --select 1",
    ),
)
def replay(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A capture: pcap or pcapng, or one of them as .gz.")
    ],
    rate: Annotated[
        Optional[str],
        typer.Option(metavar="RATE", help="Write a scenario in which its flows share a link of this rate."),
    ] = None,
    delay: Annotated[str, typer.Option(metavar="TIME", help="One-way delay of that link.")] = "20 ms",
    queue: Annotated[str, typer.Option(metavar="NAME", help="Its queue.")] = "drop-tail",
    most: Annotated[int, typer.Option(min=1, help="Take so many flows, the largest first.")] = 50,
    tcp: Annotated[
        TcpReplay,
        typer.Option(help="What becomes of TCP: a transfer of as many bytes, or its packets as they were."),
    ] = TcpReplay.TRANSFER,
    out: Annotated[
        Optional[Path],
        typer.Option(metavar="TOML", help="Where the scenario goes. Default: beside the capture."),
    ] = None,
    losses: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Write which packets of RTP are missing, as a pattern of loss."),
    ] = None,
    select: Annotated[
        Optional[str], typer.Option(metavar="FLOW", help="The flow whose losses are meant: number or name.")
    ] = None,
    sdp: Sdp = None,
    json: Json = False,
) -> None:
    """List the flows of a capture; write a scenario that replays them over another link."""
    shapes = dict.fromkeys(("--delay", "--queue", "--tcp", "--most"), ("--rate",))
    refuse_without(context, {**shapes, "--select": ("--losses",)})
    from fairwave.cli.replay import show_replay

    show_replay(
        file, rate=rate, delay=delay, queue=queue, most=most, tcp=tcp.value, out=out, losses=losses,
        select=select, json=json, sdp=sdp,
    )  # fmt: skip


@app.command(
    rich_help_panel=REAL,
    epilog=examples(
        "fairwave judge bad-call.pcapng",
        "fairwave judge webrtc-internals.json --connection 1-1",
        "fairwave judge call.pcap --out out/judged",
        "fairwave judge webrtc-internals.json --what-if",
    ),
)
def judge(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A capture (pcap, pcapng), or a browser's statistics: getStats() as JSON, a dump of "
            "chrome://webrtc-internals, a file of rtcstats.",
        ),
    ],
    connection: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME",
            help="Of statistics with several connections: which one. Default: the one with the most media.",
        ),
    ] = None,
    sdp: Sdp = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if", help="Fit a network to the file, and show which changes of it would have helped."
        ),
    ] = False,
    out: Annotated[
        Optional[Path],
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder for the page, the tables, and the verdict as JSON."
        ),
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Judge a recorded call: a verdict, each stream, events with their times, and the limiting factor."""
    from fairwave.cli.judging import show_judgement

    show_judgement(
        file, connection=connection, sdp=sdp, out=out, overwrite=overwrite, json=json, what_if=what_if
    )


@app.command(
    rich_help_panel=REAL,
    epilog=examples(
        "fairwave fit bad-call.pcapng",
        "fairwave fit bad-call.pcapng --vary queue=drop-tail,fq-codel",
        "fairwave fit webrtc-internals.json --draw fit.png",
    ),
)
def fit(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A capture (pcap, pcapng), or a browser's statistics: getStats() as JSON, a dump of "
            "chrome://webrtc-internals, a file of rtcstats.",
        ),
    ],
    vary: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="KEY=A,B,…",
            help="Compare alternatives of the fitted network: queue=drop-tail,fq-codel, or any key of the scenario.",
        ),
    ] = None,
    host: Annotated[
        Optional[str],
        typer.Option(
            metavar="ADDRESS", help="Of a capture: where it was made. Default: the address of most packets."
        ),
    ] = None,
    connection: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME",
            help="Of statistics with several connections: which one. Default: the one that sends the most media.",
        ),
    ] = None,
    rate: Annotated[
        Optional[str],
        typer.Option(
            metavar="RATE", help="The bottleneck's rate, where you know it and the file cannot tell."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=20, help="Runs of each explanation that is tried.")] = 3,
    out: Annotated[
        Optional[Path],
        typer.Option(metavar="TOML", help="Where the scenario goes. Default: beside the file."),
    ] = None,
    draw: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Draw what was seen and the best explanation: PNG, SVG or PDF."),
    ] = None,
    sdp: Sdp = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Find the network that explains a capture or a browser's statistics: rate, buffer, queue, losses."""
    from fairwave.cli.fitting import show_fit

    show_fit(
        file,
        host=host,
        connection=connection,
        rate=rate,
        seeds=seeds,
        vary=vary or [],
        out=out,
        draw=draw,
        overwrite=overwrite,
        json=json,
        sdp=sdp,
    )


@app.command(
    rich_help_panel=REAL,
    epilog=examples(
        "fairwave measure far.example --key-file key.txt",
        "FAIRWAVE_KEY=… fairwave measure far.example --yes --out out/line",
        "fairwave measure far.example --key-file key.txt --vary queue=fq-codel,cake",
        "fairwave measure --irtt line.json",
    ),
)
def measure(
    context: typer.Context,
    host: Annotated[
        Optional[str],
        typer.Argument(
            metavar="HOST[:PORT]",
            help="Where `fairwave reflector` runs; port 8868 if left out. Nothing is sent to any other address.",
        ),
    ] = None,
    irtt: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE", help="Judge what `irtt client -i 20ms -l 172 -o FILE HOST` wrote; send nothing."
        ),
    ] = None,
    key_file: LineKeyFile = None,
    phase: Annotated[
        float, typer.Option("--for", metavar="SECONDS", help="Length of each of the three phases, 2 to 60 s.")
    ] = 10.0,
    most: Annotated[
        float, typer.Option(metavar="MB", help="The most that is sent as load in each direction, in MB.")
    ] = 50.0,
    connections: Annotated[
        int, typer.Option(metavar="N", help="TCP connections that load the line, 1 to 16.")
    ] = 4,
    vary: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="queue=A,B,…",
            help="Queues under which the call is tried over the fitted network; codel,fq-codel,cake if left out.",
        ),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option(metavar="FOLDER", help="Folder for page, tables and the fitted network's scenario."),
    ] = None,
    overwrite: Overwrite = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Measure without asking.")] = False,
    json: Json = False,
) -> None:
    """Measure a line before you call: expected voice and video quality, its causes, and possible improvements."""
    if irtt is not None and host is None:
        sent = ("--key", "--key-file", "--for", "--most", "--connections", "--yes")
        refuse_without(context, dict.fromkeys(sent, ("HOST",)))
    from fairwave.cli.linecheck import show_measure

    show_measure(
        host, irtt=irtt, key_file=key_file, phase_s=phase, most=most, connections=connections, vary=vary or [],
        out=out, overwrite=overwrite, yes=yes, json=json,
    )  # fmt: skip


@app.command(
    rich_help_panel=REAL,
    epilog=examples(
        "fairwave reflector",
        "fairwave reflector --key-file key.txt --for 3600 --most 100",
    ),
)
def reflector(
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; all of this computer if left out.")
    ] = "",
    port: Annotated[int, typer.Option(metavar="PORT", help="Port of TCP and UDP.")] = 8868,
    key_file: LineKeyFile = None,
    seconds: Annotated[
        Optional[float],
        typer.Option("--for", metavar="SECONDS", help="End after so long; never if left out."),
    ] = None,
    most: Annotated[
        float,
        typer.Option(
            metavar="MB", help="The most load that a measurement may ask for in each direction, in MB."
        ),
    ] = 200.0,
    longest: Annotated[
        float, typer.Option(metavar="SECONDS", help="The longest measurement, 12 to 600 s.")
    ] = 120.0,
) -> None:
    """Serve `fairwave measure` at the other end of a line, one measurement at a time, with a key."""
    from fairwave.cli.linecheck import reflect

    reflect(listen, port, key_file, seconds, most, longest)


@app.command(
    rich_help_panel=REAL,
    epilog=examples(
        "fairwave trace examples/lte.csv --draw lte.png",
        "fairwave trace uplink.mahi --out uplink.csv",
        "fairwave trace gym.json --part downlink --out gym.trace --to rattan",
    ),
)
def trace(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A trace of a rate: mahimahi's, Pensieve's, OpenNetLab's or Sabre's JSON, rattan's TOML, CSV, or a "
            "log of HSDPA, of 4G in Ghent or of G-NetTrack.",
        ),
    ],
    form: Annotated[
        Optional[str],
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Its format, where two fit: mahimahi, pensieve, opennetlab, rattan, csv, sabre, "
            "downloads, gnettrack.",
        ),
    ] = None,
    part: Annotated[
        Optional[str],
        typer.Option(help="uplink or downlink, of a file of OpenNetLab or G-NetTrack with both."),
    ] = None,
    draw: Annotated[
        Optional[Path], typer.Option(metavar="FILE", help="Draw it: .png, .svg, .pdf, or .html for a page.")
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Convert it, by the name: .csv, .mahi, .json, .toml, .pensieve."),
    ] = None,
    to: Annotated[
        Optional[str],
        typer.Option("--to", metavar="FORMAT", help="With --out: the format, whatever the name."),
    ] = None,
    json: Json = False,
) -> None:
    """Summarise a trace of a link's rate: mean, percentiles, time without service; draw it, convert it."""
    from fairwave.cli.tracing import show_trace

    show_trace(file, form, part, draw, out, to, json=json)


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave lab",
        "fairwave lab home-call",
        "fairwave lab calls.toml --out calls-lab.html",
        "fairwave lab calls.toml --serve",
    ),
)
def lab(
    context: typer.Context,
    scenario: Annotated[
        Optional[str],
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario, .toml or .json, or the name of an example; - reads standard input; the page's own if "
            "left out.",
        ),
    ] = None,
    settings: Settings = None,
    out: Annotated[
        Optional[Path], typer.Option(help="Write the page there, one HTML file, instead of opening it.")
    ] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Show the page to the devices in your network; the terminal prints the address as a QR code.",
        ),
    ] = False,
    port: Annotated[
        int,
        typer.Option(metavar="PORT", min=0, max=65535, help="With --serve: the port; 0 for any free one."),
    ] = 8867,
    listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="With --serve: the address of this computer to listen on; all of them if left out.",
        ),
    ] = "",
) -> None:
    """Open the lab in a browser: the simulator in a page, with controls, that needs neither server nor network."""
    refuse_without(context, dict.fromkeys(("--port", "--listen"), ("--serve",)))
    from fairwave.cli.lab_page import open_lab, serve_lab

    if serve:
        serve_lab(scenario, settings or [], out, port, listen)
    else:
        open_lab(scenario, settings or [], out)


@app.command(
    "examples",
    rich_help_panel=NAMES,
    epilog=examples(
        "fairwave examples", "fairwave examples home-call", "fairwave examples lte-call --out my-scenarios"
    ),
)
def examples_(
    name: Annotated[
        Optional[str],
        typer.Argument(
            metavar="NAME",
            help="An example whose text is printed; a list of all if left out.",
            autocompletion=completing.example_names,
        ),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option(metavar="FOLDER", help="Copy the example there, or all of them, to change them."),
    ] = None,
    json: Json = False,
) -> None:
    """List the scenarios that come with fairwave. Every command takes their names instead of a file."""
    from fairwave.cli.packaged_examples import show_examples

    show_examples(name, out, json=json)


@app.command(rich_help_panel=NAMES, epilog=examples("fairwave doctor", "fairwave doctor --json"))
def doctor(json: Json = False) -> None:
    """List installed and missing components, the purpose of each missing one, and the command that installs it."""
    from fairwave.cli.doctor import show_components

    show_components(json=json)


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave bundle out/calls",
        "fairwave bundle out/calls --out figure-3.fairwave.zip",
    ),
)
def bundle(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of results that `--out` left.")],
    out: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="The bundle; FOLDER.fairwave.zip if left out."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    json: Json = False,
) -> None:
    """Make one file of results and everything that repeats them: scenario, laws, seeds, build, tables, figures.

    Run it in the working folder of the command that made the results.
    """
    from fairwave.cli.bundling import make_bundle

    make_bundle(folder, out, overwrite=overwrite, json=json)


@app.command(
    rich_help_panel=ASK,
    epilog=examples(
        "fairwave repeat out/calls.fairwave.zip",
        "fairwave repeat figure-3.fairwave.zip --out out/again --json",
        "fairwave repeat figure-3.fairwave.zip --unpack figure-3",
    ),
)
def repeat(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A bundle that `fairwave bundle` made.")],
    out: Annotated[
        Optional[Path],
        typer.Option(metavar="FOLDER", help="Keep the results of the repetition in this empty folder."),
    ] = None,
    unpack: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FOLDER",
            help="Compare every SHA-256, unpack the bundle into this empty folder, run nothing.",
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Run Python code of the bundle, with your rights, and decode its recordings. Read the code first.",
        ),
    ] = False,
    threads: Threads = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Repeat a bundle's command with the same seeds, and compare every table with the bundle's.

    The exit status is 0 if all values are the same, 1 if some differ or the command fails, 2 if the bundle is unusable.
    """
    from fairwave.cli.bundling import repeat_file
    from fairwave.cli.input import threads_or_all

    status = repeat_file(file, out, unpack, threads_or_all(threads), trust=trust, yes=yes, json=json)
    raise typer.Exit(status)


@app.command(rich_help_panel=NAMES, epilog=examples("fairwave schema", "fairwave schema --path"))
def schema(
    laws: Laws = None,
    path: Annotated[
        bool,
        typer.Option("--path", help="Print the path of the installed schema file, for editors, instead."),
    ] = False,
) -> None:
    """Print the JSON Schema of scenarios."""
    from fairwave.cli.schema import show_schema

    show_schema(laws, path=path)


@app.command(
    rich_help_panel=NAMES,
    epilog=examples(
        "fairwave upgrade calls.toml",
        "fairwave upgrade examples/*.toml --write",
        "cat old.toml | fairwave upgrade -",
    ),
)
def upgrade(
    files: Annotated[
        list[str],
        typer.Argument(metavar="SCENARIO…", help="Scenarios, .toml or .json; - reads standard input."),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Change the files, instead of showing the changes as a diff.")
    ] = False,
    laws: Laws = None,
    json: Json = False,
) -> None:
    """Rewrite scenarios in the current version of the language; comments and layout stay."""
    from fairwave.cli.upgrading import upgrade_scenarios

    raise typer.Exit(upgrade_scenarios(files, laws, write=write, json=json))


@app.command(
    rich_help_panel=OWN,
    epilog=examples(
        "fairwave new controller my-aimd",
        "fairwave new measure stood-still",
        "fairwave new discipline fair --rust",
    ),
)
def new(
    kind: Annotated[
        str,
        typer.Argument(
            help="controller, discipline, source, loss-model, link-law, rate-controller or measure.",
            autocompletion=completing.new_kinds,
        ),
    ],
    name: Annotated[
        str, typer.Argument(help="Its name in scenarios: lower-case letters, digits and hyphens.")
    ],
    folder: Annotated[Path, typer.Option("--in", metavar="FOLDER", help="Where the files go.")] = Path(),
    rust: Annotated[
        bool, typer.Option("--rust", help="A Rust program that has it, instead of a Python file.")
    ] = False,
    checkout: Annotated[
        Optional[Path],
        typer.Option(
            "--fairwave",
            metavar="FOLDER",
            help="With --rust: fairwave's sources; those of this installation if left out.",
        ),
    ] = None,
) -> None:
    """Create a custom law or measure: working code, its test, and a scenario that uses it."""
    from fairwave.cli.new import begin

    begin(kind, name, folder, rust=rust, checkout=checkout)


# Commands of the packages above this one: each entry point is a typer application.
for _entry in offered("fairwave.commands").values():
    app.registered_commands += _entry.load().registered_commands
app.registered_commands.sort(key=lambda one: PANELS.index(str(one.rich_help_panel)))

refuse_repetitions(app)
