"""`fairwave network`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.input import kept, positive, run_place, seeds, threads_or_all
from fairwave.cli.options import (
    WHOLE,
    Cluster,
    FirstSeed,
    Json,
    JUnit,
    Overwrite,
    Relevant,
    RunFolder,
    ScenarioFile,
    Threads,
    examples,
)
from fairwave.errors import BadInputError
from fairwave.extras import need_all
from fairwave.packaged import find_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.measuring.relevance import Relevance
    from fairwave_network.language import Network
    from fairwave_network.requiring import NetworkCondition
    from fairwave_network.trusting import Trust

app = typer.Typer()

KINDS = ("links", "nodes")


@app.command(
    rich_help_panel=WHOLE,
    epilog=examples(
        "fairwave network examples/germany.toml",
        "fairwave network examples/germany.toml -n 5 --out out/germany",
        "fairwave network examples/germany.toml --failures links --out out/failures",
    ),
)
def network(
    scenario: ScenarioFile,
    replications: Annotated[int, typer.Option("--replications", "-n", help="Independent runs.")] = 3,
    seed: FirstSeed = 1,
    failures: Annotated[
        Optional[str],
        typer.Option(metavar="links|nodes", help="N − 1: let each link, or each node, fail in turn."),
    ] = None,
    widen: Annotated[
        int, typer.Option(metavar="N", help="So many links are tried with twice their rate; 0 for none.")
    ] = 3,
    link_by_link: Annotated[
        bool,
        typer.Option(
            "--link-by-link", help="Simulate each loaded link alone and compose along paths: less exact."
        ),
    ] = False,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="With --link-by-link: also simulate the whole, and show the errors."),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse a topology with faults (names used twice, pieces) instead of repairing it.",
        ),
    ] = False,
    out: RunFolder = None,
    threads: Threads = None,
    cluster: Cluster = None,
    overwrite: Overwrite = False,
    relevant: Relevant = None,
    require: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="CONDITION",
            help="A condition that the 95 % interval must meet, also after each of --failures: 'good >= 95', "
            "'mos >= 3.6', 'mos.a>b >= 3.6', 'utilisation.a>b <= 80'. The exit status is 0 where all hold, 3 where one "
            "fails, 4 where one is undecided. Repeatable.",
        ),
    ] = None,
    junit: JUnit = None,
    json: Json = False,
) -> None:
    """Answer for a whole network: which pairs have poor calls, which link to widen, what if one fails."""
    need_all("fairwave network", "network")
    if failures is not None and failures not in KINDS:
        raise BadInputError(f"--failures is {failures!r}, but must be links or nodes; write --failures links")
    if widen < 0:
        raise BadInputError(f"--widen is {widen}, but must be 0 or more; for example --widen 3")
    if trust and not link_by_link:
        raise BadInputError("--trust compares with --link-by-link; write both, or neither")
    from fairwave.cli.requiring import check_junit
    from fairwave.measuring.relevance import relevance
    from fairwave_network.requiring import read as conditions

    positive("--replications", replications)
    counting = relevance(relevant)
    chosen, threads = seeds(seed, replications), threads_or_all(threads)
    read = _read(scenario, as_whole=trust or not link_by_link, strict=strict)
    check_junit(require or [], junit)
    wanted = conditions(require or [], read)
    with run_place(cluster):
        _network(
            read, chosen, failures, widen, out, threads, counting, wanted, junit,
            alone=link_by_link, trust=trust, overwrite=overwrite, json=json,
        )  # fmt: skip


def _read(path: str, *, as_whole: bool, strict: bool) -> Network:
    from fairwave_network.language import load

    found = find_scenario(path)
    if found is None:
        from fairwave.cli.input import scenario as elsewhere

        elsewhere(path)  # lists the existing files in its message
    return load(found or path, as_whole=as_whole, strict=strict)


def _network(
    read: Network, chosen: Sequence[int], failures: str | None, widen: int, out: Path | None, threads: int | None,
    relevance: Relevance, wanted: Sequence[NetworkCondition], junit: Path | None, *, alone: bool, trust: bool,
    overwrite: bool, json: bool,
) -> None:  # fmt: skip
    from fairwave.cli.requiring import as_data, settle
    from fairwave.folders import claimed
    from fairwave.runs.memory import Memory
    from fairwave_network import decomposing, trusting, wording
    from fairwave_network.failing import try_failures
    from fairwave_network.loads import warnings
    from fairwave_network.measuring import combine_runs, simulate_whole
    from fairwave_network.requiring import judged
    from fairwave_network.widening import try_widening

    for said in warnings(read):
        console.say(f"warning: {said}", quiet=json)
    with claimed(out, "network", read.name, overwrite=overwrite) if out else nullcontext():
        keep = kept(out)
        links = decomposing.Decomposition(chosen, threads, keep or Memory()) if alone else None
        as_whole = simulate_whole(chosen, threads=threads, keep=keep)
        answers = links.answer if links else as_whole
        words = f"{read.name}, link by link" if alone else f"{read.name} × {len(chosen)}"
        with console.progress(words, quiet=json) as progress:
            found = replace(combine_runs(answers([read], progress)[0]), relevance=relevance)
        with console.progress("wider links", quiet=json) as progress:
            widened = try_widening(read, found, answers, widen, progress=progress) if widen else []
        failed = []
        if failures is not None:
            with console.progress(f"failures of {failures}", quiet=json) as progress:
                failed = try_failures(read, failures, answers, at_once=not alone, progress=progress)
        errors = None
        if trust:
            with console.progress(f"{read.name} × {len(chosen)}", quiet=json) as progress:
                errors = trusting.compare_pairs(found, combine_runs(as_whole([read], progress)[0]))
        if out is not None:
            _leave(read, found, widened, failed, failures or "", chosen, out, errors)
    required = judged(wanted, found, failed)
    if json:
        more: dict[str, Any] = {"link_by_link": links.simulated} if links else {}
        if errors is not None:
            more["errors"] = {"pairs": errors.pairs, "mos": errors.mos, "p95": errors.p95}
        if read.topology.changes:
            more["changes"] = list(read.topology.changes)
        console.document(wording.document(read, found, widened, failed) | more | as_data(required))
        settle(required, read.name, junit, json=json)
        return
    console.answer(wording.answer(read, found, widened, failed, failures or ""))
    if links:
        console.say(
            f"Link by link: {links.simulated} of {len(read.rates())} link directions were simulated, each alone. "
            + (errors.sentence() if errors else "How far off that is, --trust shows.")
        )
    for _, title, heads, rows, caption in wording.tables(read, found, widened, failed):
        console.table(title, heads, [[escape(cell) for cell in row] for row in rows], caption=caption)
    if errors is not None:
        console.table("errors, quantiles over pairs", trusting.HEADS, errors.rows())
    if out is not None:
        console.say(f"\npage and tables: {out / 'index.html'}", quiet=json)
    settle(required, read.name, junit, json=json)


def _leave(
    read: Network, found: Any, widened: Any, failed: Any, kind: str, chosen: Sequence[int], out: Path,
    errors: Trust | None = None,
) -> None:  # fmt: skip
    from hashlib import sha256

    from fairwave.provenance import Provenance
    from fairwave.staging import staging
    from fairwave_network import trusting
    from fairwave_network.paging import leave
    from fairwave_report.page import TableView

    scenario = read.try_scenario()
    hash_ = scenario.hash if scenario else sha256(read.text.encode()).hexdigest()
    provenance = Provenance.collect({hash_: read.name}, list(chosen))
    extra, notes = [], [f"{read.topology.name}: {change}." for change in read.topology.changes]
    if errors is not None:
        extra = [TableView("errors", "Errors, quantiles over pairs", trusting.HEADS, errors.rows())]
        notes.append(errors.sentence())
    with staging(out) as partial:
        leave(read, found, widened, failed, kind, partial, provenance, extra, notes)
