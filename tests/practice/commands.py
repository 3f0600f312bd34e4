"""Questions as commands: the regions that hold, the keys that differ, and the exit status for a build."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import fairwave
from practice.situation import IN_STEP, Situation, Table, cbr, exactly, link, near

HOLDS, REFUSED, FAILS, UNDECIDED = 0, 2, 3, 4
"""Exit status of a command by the verdict of its conditions."""

LOSS = ("--until", "loss.a <= 1")
COUNTS = ("--vary", "flow.a.count=1..20")


def scenario(rate: str = "1 Mb/s", delay: str = "10 ms", **flows: int) -> Table:
    """Streams of 100 kb/s over one link, with a number per group."""
    wire = link(rate, delay, packets=5)
    each = [cbr(name, "100 kb/s", 500, count=count) for name, count in (flows or {"a": 1}).items()]
    return {"name": "streams", "duration": "4 s", "hosts": IN_STEP, "link": [wire], "flow": each}


@cache
def _ran(command: str, scenarios: tuple[str, ...], words: tuple[str, ...]) -> tuple[int, str]:
    """Exit status and standard output of a command about these scenarios."""
    from fairwave.cli import main

    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.json" for number in range(len(scenarios))]
        for file, text in zip(files, scenarios, strict=True):
            file.write_text(text, encoding="utf-8")
        named = [str(files[-1]) if word == "BASELINE" else word for word in words]
        given = files[:-1] if "BASELINE" in words else files
        out = ["--out", str(Path(folder) / "out")] if command == "compare" else []
        argv = ["fairwave", command, *map(str, given), *named, *out]
        printed = io.StringIO()
        with (
            mock.patch.object(sys, "argv", argv),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            try:
                main()
                status = 0
            except SystemExit as end:
                status = int(end.code or 0)
        return status, printed.getvalue()


def status(command: str, *words: str, about: tuple[Table, ...] = (scenario(),)) -> int:
    """The exit status of a command."""
    return _ran(command, tuple(map(json.dumps, about)), words)[0]


def run_document(command: str, *words: str, about: tuple[Table, ...] = (scenario(),)) -> Any:
    """The JSON document of a command."""
    return json.loads(_ran(command, tuple(map(json.dumps, about)), (*words, "--json"))[1])


def _found(*words: str, about: Table | None = None) -> Any:
    return run_document("find", *words, about=(about or scenario(),))


def _size(region: Table) -> int:
    """The number of integers in a region."""
    return int(region["last"]) - int(region["first"]) + 1


def _status_of_find(*words: str) -> int:
    return status("find", *words)


def _regions() -> Iterator[Situation]:
    yield Situation(
        "command/last-that-fits", "Streams of 100 kb/s on 1 Mb/s, 1 to 20 of them: the last number with a loss of at most 1 %",
        "", *exactly(10), "10 × 100 kb/s fill the link; of 11 streams 1 part in 11 is lost",
        lambda: _found(*COUNTS, *LOSS)["regions"][0]["last"],
    )  # fmt: skip
    yield Situation(
        "command/next-that-fails", "The same: the next number, which fails", "", *exactly(11), "the same",
        lambda: _found(*COUNTS, *LOSS)["regions"][0]["fails_after"],
    )  # fmt: skip
    yield Situation(
        "command/first-that-holds", "The same: the first number with a utilisation of at least 55 %", "", *exactly(6),
        "each stream uses 10 %", lambda: _found(*COUNTS, "--until", "utilisation.a>b >= 55")["regions"][0]["first"],
    )  # fmt: skip
    yield Situation(
        "command/holds-to-the-end", "The same: the last number of that region, of 1 to 20", "", *exactly(20),
        "a full link stays full", lambda: _found(*COUNTS, "--until", "utilisation.a>b >= 55")["regions"][0]["last"],
    )  # fmt: skip
    yield Situation(
        "command/both-together", "The same: how many numbers meet both conditions", "", *exactly(5), "6 to 10",
        lambda: _size(_found(*COUNTS, *LOSS, "--until", "utilisation.a>b >= 55")["regions"][0]),
    )  # fmt: skip
    yield Situation(
        "command/nowhere", "The same: regions with a delay of at most 9 ms, on a path of 10 ms", "", *exactly(0),
        "no packet is faster than propagation", lambda: len(_found(*COUNTS, "--until", "delay.a <= 9")["regions"]),
    )  # fmt: skip
    yield Situation(
        "command/tied-keys", "Two groups of such streams, as many in each: the last number with a loss of at most 1 %", "",
        *exactly(5), "2 × 5 streams of 100 kb/s fill 1 Mb/s",
        lambda: _found(
            "--vary", "flow.a.count,flow.b.count=1..10", *LOSS, about=scenario(a=1, b=1)
        )["regions"][0]["last"],
    )  # fmt: skip


def _statuses() -> Iterator[Situation]:
    for key, asked, words, expected in (
        ("some-hold", "a search whose condition holds for 1 to 10 streams", LOSS, HOLDS),
        ("none-holds", "a search whose condition holds nowhere", ("--until", "delay.a <= 9"), FAILS),
        ("bound-met", "the same search, which requires that 10 streams fit", (*LOSS, "--require", "flow.a.count >= 10"), HOLDS),
        ("bound-missed", "the same search, which requires that 11 fit", (*LOSS, "--require", "flow.a.count >= 11"), FAILS),
        ("bound-beyond", "a search up to 20 that holds everywhere and requires 21",
         ("--until", "loss.a <= 60", "--require", "flow.a.count >= 21"), UNDECIDED),
        ("nothing-to-require-of", "a search that holds nowhere and requires 5",
         ("--until", "delay.a <= 9", "--require", "flow.a.count >= 5"), FAILS),
    ):  # fmt: skip
        yield Situation(
            f"command/{key}", f"Exit status: {asked}", "", *exactly(expected),
            "0 holds, 3 fails, 4 undecided (docs/asking.md)", lambda words=words: _status_of_find(*COUNTS, *words),
        )  # fmt: skip
    yield Situation(
        "command/one-run", "Exit status: a requirement after a single run", "", *exactly(UNDECIDED),
        "one run has no interval", lambda: status("run", "--require", "loss.a <= 1"),
    )  # fmt: skip
    yield Situation(
        "command/seed-twice", "Exit status: `--seed 1 --seed 2`", "", *exactly(REFUSED),
        "an option with one value has one value", lambda: status("run", "--seed", "1", "--seed", "2"),
    )  # fmt: skip
    yield Situation(
        "command/key-twice", "Exit status: `--vary flow.a.count=1,2 --vary flow.a.count=3`", "", *exactly(REFUSED),
        "one of the two would be lost",
        lambda: status("compare", "--vary", "flow.a.count=1,2", "--vary", "flow.a.count=3"),
    )  # fmt: skip


def _versions() -> Iterator[Situation]:
    old, new = scenario(), scenario(delay="30 ms")
    words = ("-n", "3", "--baseline", "BASELINE", "--require")
    yield Situation(
        "command/cost", "A path of 30 ms instead of 10: what the delay costs next to the baseline", "ms", *near(20, 0.01),
        "propagation, the rest cancels under the same seeds",
        lambda: run_document("run", *words, "delay.a <= baseline + 21", about=(new, old))["requirements"][0]["mean"],
    )  # fmt: skip
    yield Situation(
        "command/cost-allowed", "Exit status: 21 ms more are allowed", "", *exactly(HOLDS), "20 < 21",
        lambda: status("run", *words, "delay.a <= baseline + 21", about=(new, old)),
    )  # fmt: skip
    yield Situation(
        "command/cost-refused", "Exit status: 19 ms more are allowed", "", *exactly(FAILS), "20 > 19",
        lambda: status("run", *words, "delay.a <= baseline + 19", about=(new, old)),
    )  # fmt: skip
    yield Situation(
        "command/differences", "Another delay and another rate: keys in which the scenarios differ", "", *exactly(2),
        "the two that were changed",
        lambda: len(
            run_document("compare", "-n", "2", about=(old, scenario(rate="2 Mb/s", delay="30 ms")))["differences"]
        ),
    )  # fmt: skip
    yield Situation(
        "command/worse", "Exit status: `compare old new`, where the link of the new one carries half of the stream", "",
        *exactly(FAILS), "half of the packets are lost",
        lambda: status("compare", "-n", "2", about=(old, scenario(rate="50 kb/s"))),
    )  # fmt: skip
    yield Situation(
        "command/no-worse", "Exit status: `compare old new`, where the new link has twice the rate", "", *exactly(HOLDS),
        "nothing was lost before, either", lambda: status("compare", "-n", "2", about=(old, scenario(rate="2 Mb/s"))),
    )  # fmt: skip
    yield Situation(
        "command/link-by-name", "`measured(\"utilisation.a>b\")` of 5 streams on 1 Mb/s", "%", *near(50, 1), "5 × 10 %",
        lambda: fairwave.load(json.dumps(scenario(a=5))).replicate(2).measured("utilisation.a>b").interval().mean,
    )  # fmt: skip


def situations() -> Iterator[Situation]:
    """All of them."""
    yield from _regions()
    yield from _statuses()
    yield from _versions()
