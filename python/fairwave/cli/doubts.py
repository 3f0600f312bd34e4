"""`fairwave run --doubt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.input import affordable

if TYPE_CHECKING:
    from fairwave.doubting import Doubt, Plan
    from fairwave.runs.memory import Keep
    from fairwave.scenario import Scenario


def afforded(
    read: Scenario, replications: int, seed: int, *, doubting: bool, yes: bool, quiet: bool
) -> Plan | None:
    """Plans the runs of `--doubt`, if requested. Reports their cost, and asks before very many runs.

    Raises:
        BadInputError: The user declines this number of runs, or there is no terminal for the question.
    """
    if not doubting:
        affordable(read, replications, seed, yes=yes)
        return None
    from fairwave import doubting as doubts

    planned = doubts.plan(read, seed)
    defaults = {default.name for default, _ in planned.tried.values()}
    runs = replications * len(planned.axis)
    _, cost = read.native.cost_of_runs(runs, seed)
    console.say(f"doubt: {len(planned.tried)} alternatives of {len(defaults)} defaults; {cost}", quiet=quiet)
    affordable(read, replications + runs, seed, yes=yes)
    return planned


def made(
    read: Scenario,
    planned: Plan | None,
    replications: int,
    seed: int,
    threads: int | None,
    keep: Keep | None,
    *,
    quiet: bool,
) -> Doubt | None:
    """Makes the planned runs."""
    if planned is None:
        return None
    from fairwave import doubting as doubts

    with console.progress(f"doubt: {len(planned.axis)} × {replications}", quiet=quiet) as progress:
        return doubts.doubt(
            read, replications, seed=seed, threads=threads, keep=keep, progress=progress, planned=planned
        )


def show(doubted: Doubt | None) -> None:
    """Prints the defaults that would change the verdict, then every alternative."""
    if doubted is None:
        return
    from fairwave.doubting import HEADS

    first, *others = doubted.sentences()
    console.out.print(f"\n[bold]{escape(first)}[/]", soft_wrap=True)
    for sentence in others:
        console.out.print(escape(sentence), soft_wrap=True)
    if doubted.trials:
        rows = [[escape(cell) for cell in row] for row in doubted.rows()]
        console.table("defaults in doubt", HEADS, rows, left=True)
    for label, why in doubted.impossible.items():
        console.say(f"not possible here: {label} ({why})")


def as_data(doubted: Doubt | None) -> dict[str, Any]:
    """The part of the JSON document."""
    return {"doubt": doubted.to_dict()} if doubted is not None else {}
