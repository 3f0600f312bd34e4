"""`fairwave live` and `fairwave shell`."""

from __future__ import annotations

import json as json_
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from fairwave._native import RunError
from fairwave.cli import console
from fairwave.cli.input import drawn_as, layer_or_note, save, scenario, seeds
from fairwave.cli.inspecting import warn
from fairwave.cli.statuses import FAILED, StoppedError
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.live import Live
    from fairwave.scenario import Scenario


def _tell(made: Live) -> None:
    """Prints the accounts and the errors on standard error: standard output belongs to the programs."""
    from fairwave.live import accounts, promise

    for what, value in accounts(made.report):
        console.say(f"  {what + ':':<38}{value}")
    for trouble in made.troubles:
        console.complain(trouble)
    if made.unrecorded:
        console.complain(f"the capture does not hold every packet: {made.unrecorded}")
    if made.broken:
        console.complain(promise(made.report))
    else:
        console.say(promise(made.report))


def live_scenario(
    path: str,
    seed: int,
    out: Path | None,
    record: list[str],
    settings: list[str],
    *,
    capture: Path | None,
    laws: Sequence[Path],
    beside: bool,
    page: bool,
    overwrite: bool,
    json: bool,
    require: Sequence[str] = (),
    junit: Path | None = None,
    style: str | None = None,
    figures: str | None = None,
) -> int:
    """Runs a scenario in real time, prints results and timing accuracy, and returns the exit status."""
    from fairwave.ask.requiring import judge_results
    from fairwave.cli import requiring
    from fairwave.cli.runs import run_document, show
    from fairwave.folders import claimed
    from fairwave.live import live
    from fairwave.live.comparison import simulated

    seeds(seed, 1)
    read = scenario(path, settings)
    warn(read, seed)
    if record:
        read = read.with_overrides(
            {"record.units": record, "record.windows": record, "record.window-interval": "50 ms"}
        )
    wanted = requiring.conditions(
        require,
        junit,
        read,
        has_baseline=False,
        remedy="a live run has none; `fairwave run --baseline` has one",
    )
    other = simulated(read) if beside else None  # before anything runs, because it may be refused
    pages = layer_or_note(needed=bool(style or figures), quiet=json) if out and page else None
    look = drawn_as(style, figures, pages, out)  # refuses invalid names before anything runs
    if pages:
        read = pages.to_draw(read, seed)
    shown, saved, undrawn = None, False, ""
    try:
        with look, claimed(out, "live", read.name, overwrite=overwrite) if out else nullcontext():
            console.say(f"{read.name}: live, for {read.to_dict()['duration']} …", quiet=json)
            made = live(read, seed, recording=capture, laws=laws)
            if made.results is None:
                raise RunError("the live run ended before its time")
            if out:
                _save(made, out, read)
                saved = True
            if out and pages:
                shown, undrawn = _drawn(pages, read, made, seed, out, quiet=json)
    except KeyboardInterrupt:
        console.complain(_stopped(out if saved else None, capture))
        raise StoppedError from None
    rows = _compare_simulated(read, other, seed, made) if other else []
    # A live run cannot be repeated, so its single values are judged.
    required = judge_results(wanted, made.results, alone=True)
    if json:
        told = {"accounts": made.report, "troubles": made.troubles, "unrecorded": made.unrecorded}
        if beside:
            told["beside"] = [vars(row) for row in rows]
        console.document(run_document(read, made.results) | told | requiring.as_data(required))
    else:
        show(read, made.results, 1)
        if beside:
            console.table(
                "live and simulated", ["", "live", "simulated", "margin"], [row.cells for row in rows]
            )
        if out:
            console.say(f"\npage: {shown}   tables: {out}" if shown else f"\ntables: {out}")
        _tell(made)
    if undrawn:
        console.complain(f"the page could not be drawn: {undrawn}; tables and accounts are kept in {out}")
    status = requiring.status_of(required, read.name, junit, json=json)
    return FAILED if made.failed or undrawn else status


def _save(made: Live, out: Path, read: Scenario) -> None:
    """Writes tables and accounts first, so that later steps cannot lose them."""
    from fairwave.staging import write_text

    assert made.results is not None
    save(made.results, out, read)
    write_text(out / "accounts.json", json_.dumps(made.report, indent=2) + "\n")


def _drawn(
    pages: Any, read: Scenario, made: Live, seed: int, out: Path, *, quiet: bool
) -> tuple[Path | None, str]:
    """Writes the page of a live recording. Returns its path, or the reason why there is none."""
    from fairwave.live import accounts, promise

    assert made.results is not None
    told = [f"{what}: {value}" for what, value in accounts(made.report)]
    run = pages.draw_live(read, made.results, seed, promise=promise(made.report), accounts=told)
    console.say("drawing …", quiet=quiet)
    try:
        return pages.drawn(read, made.results, seed, out, [], run=run), ""
    except Exception as error:  # noqa: BLE001  # whatever it is, the run's results are there and must be named
        return None, f"{type(error).__name__}: {error}"


def _stopped(saved: Path | None, capture: Path | None) -> str:
    """Message when the user stops a live run."""
    kept = (
        f"tables and accounts are kept in {saved}"
        if saved
        else "a live run keeps nothing before it ends; the same command begins again"
    )
    cut = f"; {capture} ends in the middle" if capture and not saved else ""
    return f"stopped; {kept}{cut}"


def _compare_simulated(read: Scenario, other: Scenario, seed: int, made: Live) -> list[Any]:
    from fairwave.live.comparison import compared

    assert made.results is not None
    return compared(read, made.results, other.run(seed))


def split(at: str | None, words: Sequence[str]) -> list[tuple[str | None, list[str]]]:
    """The hosts and their commands: `COMMAND…` for the first, then `--at HOST -- COMMAND…` for each other.

    Raises:
        BadInputError: A host without a command.
    """
    found: list[tuple[str | None, list[str]]] = [(at, [])]
    words = list(words)
    while words:
        if words[0] == "--at" and len(words) > 2 and words[2] == "--":
            found.append((words[1], []))
            words = words[3:]
            continue
        found[-1][1].append(words.pop(0))
    if len(found) > 1:
        for host, command in found:
            if not command:
                raise BadInputError(f"--at {host} has no command: write --at {host} -- COMMAND…")
    return found


def shell(
    path: str,
    at: str | None,
    words: Sequence[str],
    seed: int,
    settings: list[str],
    *,
    longest: float,
    capture: Path | None,
    laws: Sequence[Path],
    flows: bool,
    quiet: bool,
) -> int:
    """Runs programs behind a scenario's network, and returns the status of the last."""
    from fairwave.live import live

    if not 0 < longest <= 86_400:
        raise BadInputError(
            f"--for is {longest} s, but must be more than 0 and at most 86400; for example --for 60"
        )
    seeds(seed, 1)
    read = scenario(path, settings)
    commands = []
    for host, command in split(at, words):
        commands.append((host or _first_host(read, seed), command or [os.environ.get("SHELL", "/bin/sh")]))
    if not quiet:
        where = ", ".join(f"{command[0]} at {host}" for host, command in commands)
        console.say(f"{read.name}: {where}; for {longest:g} s at most")
    made = live(read, seed, commands, flows=flows, duration=longest, recording=capture, laws=laws)
    if not quiet or made.failed:
        _tell(made)
    status = made.statuses[-1]
    if status is None:
        console.complain(f"{commands[-1][1][0]} was ended after {longest:g} s: --for SECONDS gives it longer")
        return FAILED
    return status or (FAILED if made.failed else 0)


def _first_host(read: Scenario, seed: int) -> str:
    """Default host of programs: the sender of the first flow, or else the first node."""
    plan = json_.loads(read.native.plan(seed))
    if plan["flows"]:
        return str(plan["flows"][0]["from"])
    return str(plan["nodes"][0])
