"""Mistakes in a command line: commands, options and numbers that do not exist, and the correct forms."""

from __future__ import annotations

import re
import shlex
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.packaged import find_example

if TYPE_CHECKING:
    from collections.abc import Sequence

NUMBERS = {"int": ("a whole number", "10"), "float": ("a number", "60")}
"""Value that options of a type take, with an example."""

COMMANDS = {
    "run": (
        "simulate",
        "sim",
        "start",
        "execute",
        "exec",
        "go",
        "play",
        "plot",
        "draw",
        "figure",
        "page",
        "report",
    ),
    "live": ("emulate", "emulation", "real", "testbed"),
    "shell": ("ssh", "bash", "mininet"),
    "compare": ("diff", "comparison", "versus", "vs"),
    "guard": ("ci", "regression", "baseline", "assert", "gate"),
    "sweep": ("grid", "vary", "batch", "experiment"),
    "find": ("search", "limit", "bisect", "dimension", "size"),
    "list": ("ls", "names", "show", "laws"),
    "explain": ("describe", "doc", "docs", "man", "info", "what", "glossary", "define"),
    "check": ("validate", "lint", "test", "verify", "dry-run", "inspect"),
    "judge": ("score", "analyse", "analyze", "verdict"),
    "fit": ("calibrate", "identify", "estimate", "infer"),
    "replay": ("pcap", "capture", "wireshark"),
    "import": ("recognise", "recognize", "detect"),
    "measure": ("ping", "speedtest", "probe", "irtt", "iperf", "iperf3"),
    "reflector": ("server", "serve", "responder", "daemon"),
    "trace": ("mahimahi", "rate"),
    "pattern": ("loss", "losses", "gilbert"),
    "demo": ("showcase", "tour", "intro"),
    "examples": ("example", "samples", "scenarios"),
    "lab": ("gui", "ui", "web", "browser", "open"),
    "new": ("init", "create", "scaffold", "generate", "template"),
    "evaluate": ("assess", "rfc9743", "rfc7928"),
    "network": ("topology", "topohub", "backbone"),
    "study": ("studies", "paper", "reproduce"),
    "upgrade": ("update", "migrate", "convert", "modernise", "modernize"),
    "doctor": ("diagnose", "status", "env", "environment", "setup", "config", "install"),
    "--version": ("version", "ver", "about"),
}
"""Names of other tools' commands, under the equivalent command of fairwave."""

OPTIONS = (
    ("--vary", "--grid", "--over", "--param", "--parameter", "--sweep", "--range"),
    (
        "--replications",
        "--runs",
        "--reps",
        "--repeat",
        "--repetitions",
        "--replicates",
        "--count",
        "--num",
        "--seeds",
    ),
    ("--seed", "--random-seed", "--rng"),
    ("--out", "--output", "--output-dir", "--outdir", "--dir", "--folder", "-o", "--to", "--save"),
    ("--set", "--override", "--define", "-D", "-s", "--key", "--with", "--duration", "--time"),
    ("--threads", "--jobs", "-j", "--workers", "--parallel", "--cores", "--processes"),
    ("--measures", "--measure", "--metrics", "--metric", "--show"),
    ("--until", "--condition", "--where", "--require", "--assert", "--expect"),
    ("--overwrite", "--force", "-f", "--clobber"),
    ("--yes", "--assume-yes", "--no-confirm"),
    ("--figures", "--format", "--formats", "--plot", "--draw", "--page"),
    ("--capture", "--pcap", "--tcpdump", "--wireshark"),
    ("--for", "--longest", "--timeout", "--duration", "--time", "--seconds"),
    ("--flow", "--group", "--select"),
    ("--cluster", "--dask", "--remote"),
    ("--laws", "--law", "--plugin", "--include"),
    ("--quiet", "-q", "--silent"),
)
"""Options that other tools use for the same task; the first one that the command has is suggested."""


def refuse(error: Exception, words: Sequence[str]) -> int | None:
    """Explains a mistake in the command line and returns its exit status; None for any other error."""
    from fairwave.cli.console import complain

    status = getattr(error, "exit_code", None)
    if not isinstance(status, int):
        return None
    said = getattr(error, "format_message", None)
    message = str(said()).rstrip(".") if callable(said) else ""
    if message:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "fairwave"
        message = (
            _number(error) or _superfluous(message) or _command(message, words, context)
            or _option(error, context) or message
        )  # fmt: skip
        end = "" if message.endswith("?") else ";"
        complain(f"{message}{end} `{command} --help` shows what it takes")
    elif callable(show := getattr(error, "show", None)):
        show()  # no command: show the help
    return status


def _superfluous(message: str) -> str | None:
    """Explains superfluous words; None for another mistake."""
    found = re.search(r"unexpected extra argument(?:\(s\)|s)? \((.*)\)", message)
    if found is None:
        return None
    return (
        f"nothing takes {found[1]!r}; join several values by commas (--over udp,tcp/vegas), a key and its value by = "
        "(--set KEY=VALUE), and quote what holds spaces or >"
    )


def _number(error: Exception) -> str | None:
    """Explains a wrong value of an option that takes a number; None for another mistake."""
    option, why = getattr(error, "param", None), getattr(error.__cause__, "errors", None)
    if option is None or not callable(why):
        return None
    found = why()[0]
    what, example = NUMBERS.get(str(found["type"]).partition("_")[0], ("", ""))
    if not what:
        return None
    given = str(found["input"])
    shown = given if len(given) <= 40 else f"{given[:20]}… ({len(given)} characters)"
    return f"{option.opts[0]} is {shown!r}, but must be {what}; for example {option.opts[0]} {example}"


def _command(message: str, words: Sequence[str], context: Any) -> str | None:
    """Suggests a command for one that does not exist; None for another mistake."""
    found = re.search(r"No such command '(.*?)'", message)
    if found is None:
        return None
    from fairwave.extras import install
    from fairwave.layers import COMMANDS as OF_LAYERS

    name = found[1]
    if context is not None and context.parent is not None:
        known = ", ".join(context.command.commands)
        return f"there is no command {context.command_path} {name!r}; there are {known}"
    if name in OF_LAYERS:
        return f"the command {name!r} is not installed; {install(OF_LAYERS[name])}"
    if Path(name).exists() or re.search(r"[/\\]|\.\w{2,6}$", name) or find_example(name) is not None:
        return _file(name)
    meant = next((command for command, others in COMMANDS.items() if name.lower() in others), None)
    commands = list(context.command.commands) if context is not None else []
    near = [meant] if meant else get_close_matches(name.lower(), commands, 1, 0.6)
    rest = " ".join(map(shlex.quote, words[list(words).index(name) + 1 :])) if name in words else ""
    said = f"there is no command {name!r}"
    if not near:
        return said
    shown = f"fairwave {near[0]} {rest}".strip()
    return f"{said}; did you mean `{shown if len(shown) < 80 else f'fairwave {near[0]}'}`?"


def _file(name: str) -> str:
    """Suggests a command for a file that was given without one."""
    from fairwave.file_kinds import reader

    if find_example(name) is not None:
        return f"{name} is an example; a command comes first: type fairwave run {name}"
    if not Path(name).exists():
        return f"{name!r} is neither a command nor a file; to run a scenario, type fairwave run FILE.toml"
    if Path(name).is_dir():
        return f"{name} is a folder; a command comes first, for example fairwave run SCENARIO.toml"
    return reader(Path(name), "a command") or f"a command comes first: type fairwave run {shlex.quote(name)}"


def _option(error: Exception, context: Any) -> str | None:
    """Suggests an option for one that the command does not have; None for another mistake."""
    option = getattr(error, "option_name", None)
    if option is None or context is None:
        return None
    has = [
        name
        for one in context.command.params
        for name in (*one.opts, *one.secondary_opts)
        if name.startswith("-")
    ]
    long = [name for name in has if name.startswith("--")]
    takes = {name: one.metavar or "" for one in context.command.params for name in one.opts}
    equals = [name for kind in OPTIONS if option in kind for name in kind if name in has]
    near = equals[:1] or get_close_matches(option, long, 3, 0.6)
    said = f"{context.command_path} has no option {option}"
    if near:
        shown = " or ".join(f"{name} {takes.get(name, '')}".strip() for name in near)
        return f"{said}; did you mean {shown}?"
    elsewhere = [
        name
        for name, other in (context.parent.command.commands.items() if context.parent else ())
        if any(option in one.opts for one in other.params)
    ]
    if elsewhere:
        return f"{said}, which belongs to {', '.join(f'`{name}`' for name in elsewhere)}"
    return said
