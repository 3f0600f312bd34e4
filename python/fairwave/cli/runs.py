"""`fairwave run`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.cli import console, doubts
from fairwave.cli.input import (
    drawn_as,
    kept,
    layer_or_note,
    measure_names,
    no_effect,
    run_place,
    save,
    scenario,
    seeds,
    shown_groups,
    threads_or_all,
    use_laws,
)
from fairwave.cli.inspecting import warn
from fairwave.errors import BadInputError
from fairwave.flow_groups import describe_count, groups, is_clip, kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from fairwave.answers.conference import Call
    from fairwave.ask.wording import Condition
    from fairwave.cli.declarations import RunOptions
    from fairwave.doubting import Plan
    from fairwave.results import Results
    from fairwave.scenario import Scenario


@dataclass(frozen=True)
class _Request:
    """The request of the options, read and checked before anything runs.

    Attributes:
        read: The scenario to run, with all recordings.
        seeds: One seed per replication.
        threads: Number of threads; all cores if None.
        names: Measures of `--measures`.
        groups: Flow groups of `--groups`.
        conditions: Conditions of `--require`.
        planned: Runs of `--doubt`.
        captures: Places with the files of `--capture`.
        patterns: Places with the files of `--loss-pattern`.
        clips: Flow groups whose clips the page shows.
        pages: The layer that makes pages; None without one.
        look: Context that applies the style of figures.
        heard: The call that carries the recording of `--speech`.
    """

    read: Scenario
    seeds: range
    threads: int | None
    names: list[str]
    groups: list[str]
    conditions: list[Condition]
    planned: Plan | None
    captures: list[tuple[str, str]]
    patterns: list[tuple[str, str]]
    clips: list[str]
    pages: Any
    look: AbstractContextManager[None]
    heard: Any


def run_scenario(options: RunOptions) -> None:
    """Runs a scenario and shows the results of flows and links.

    Raises:
        BadInputError: An option cannot be used.
        fairwave.ScenarioError: The scenario is wrong.
        fairwave.RunError: A run was refused or failed.
    """
    if options.capture_payload and not (options.capture or options.out):
        raise no_effect("--capture-payload", ("--capture", "--out"))
    use_laws(options.laws)
    with run_place(options.cluster):
        _run(options, _check(options))


def _check(options: RunOptions) -> _Request:
    from fairwave.capturing import CAPTURE_EXAMPLE, PATTERN_EXAMPLE
    from fairwave.cli import requiring
    from fairwave.cli.patterns import logged_flows, pairs, visible, with_sessions

    out, seed = options.out, options.seed
    chosen, threads = seeds(seed, options.replications), threads_or_all(options.threads)
    captures = pairs(options.capture, "--capture", CAPTURE_EXAMPLE)
    patterns = pairs(options.loss_pattern, "--loss-pattern", PATTERN_EXAMPLE)
    read = scenario(options.scenario, options.settings)
    warn(read, seed)
    names = measure_names(options.measures, read)
    chosen_groups = shown_groups(options.groups, read, is_used=not options.json or bool(out and options.page))
    has_baseline = options.baseline is not None
    conditions = requiring.conditions(options.require, options.junit, read, has_baseline=has_baseline)
    read = timed(read, names)
    planned = doubts.afforded(
        read, options.replications, seed, doubting=options.doubt, yes=options.yes, quiet=options.json
    )
    visible(read, seed, captures, patterns)
    logged_flows(read, seed, options.qlog, options.qlog_flow)
    with_sessions(read, options.stats)
    clips = streamed(read) if out else []
    pages = None
    if out and (options.page or clips):
        needed = bool(clips or options.speech or options.style or options.figures)
        pages = layer_or_note(needed=needed, quiet=options.json)
    look = drawn_as(options.style, options.figures, pages, out if options.page else None)
    read = _recorded(read, options.record, clips)
    only_captured = options.capture_payload and bool(options.capture) and not out
    heard = None
    if options.speech and not only_captured:
        heard = _spoken(read, options.speech, drawn=bool(out and options.page))
    return _Request(
        read, chosen, threads, names, chosen_groups, conditions, planned, captures, patterns, clips, pages, look, heard
    )  # fmt: skip


def _run(options: RunOptions, asked: _Request) -> None:
    from fairwave.cli import requiring
    from fairwave.cli.patterns import look_on, recorded_captures, write_qlog, write_stats
    from fairwave.folders import claimed
    from fairwave.runs.grid import Grid

    out, json, seed, replications = options.out, options.json, options.seed, options.replications
    read, heard, pages, threads = asked.read, asked.heard, asked.pages, asked.threads
    with asked.look, claimed(out, "run", read.name, overwrite=options.overwrite) if out else nullcontext():
        keep = kept(out)
        before = requiring.baseline_runs(options.baseline, asked.conditions, asked.seeds, threads, keep)
        with console.progress(f"{read.name} × {replications}", quiet=json) as progress:
            grid = Grid("run", heard.scenario if heard is not None else read, {})
            results = grid.run(asked.seeds, threads=threads, keep=keep, progress=progress)
        watched = pages.watch(read, results, asked.clips, out) if pages and asked.clips else []
        doubted = doubts.made(read, asked.planned, replications, seed, threads, keep, quiet=json)
        shown = None
        if out and options.page and pages:
            console.say("drawing …", quiet=json)
            shown = pages.drawn(
                read,
                results,
                seed,
                out,
                watched,
                heard,
                names=asked.names,
                only=asked.groups,
                doubted=doubted,
            )
        if out and shown is None:
            save(results, out, read)
    results = heard.merge_group(results) if heard is not None else results
    logged = (write_qlog(read, seed, options.qlog, options.qlog_flow, quiet=json) if options.qlog else {}) | (
        write_stats(results, options.stats, quiet=json) if options.stats else {}
    )
    captured = look_on(
        read, seed, asked.captures + recorded_captures(read, out), asked.patterns,
        payload=options.capture_payload, quiet=json, speech=options.speech,
    )  # fmt: skip
    required = requiring.met(asked.conditions, results, before)
    if json:
        document = run_document(read, results, asked.names) | captured | logged | doubts.as_data(doubted)
        console.document(document | requiring.as_data(required))
    else:
        show(read, results, replications, asked.names, asked.groups)
        doubts.show(doubted)
        for line in (*watched, *_left(out, shown, audio=heard is not None)):
            console.say(f"\n{line}")
    requiring.settle(required, read.name, options.junit, json=json)


def _left(out: Path | None, page: Path | None, *, audio: bool) -> list[str]:
    """Describes where page and tables are."""
    if out is None:
        return []
    at = f"page{' with audio' if audio else ''}: {page}   " if page else ""
    return [f"{at}tables: {out}"]


def _recorded(read: Scenario, record: list[str], clips: list[str]) -> Scenario:
    """Returns the scenario with recorded units and windows of flows; a shown clip needs every unit of its flow."""
    flows = [*record, *(f"{name}[0]" for name in clips if f"{name}[0]" not in record)]
    if not flows:
        return read
    return read.with_overrides(
        {"record.units": flows, "record.windows": flows, "record.window-interval": "50 ms"}
    )


def timed(read: Scenario, names: Sequence[str]) -> Scenario:
    """Returns the scenario with the round trips that the measures need: of the named groups, or of all."""
    from fairwave.measuring.remarks import ROUND_TRIPS

    asked = {one.partition(".")[::2] for one in names if one.partition(".")[0] in ROUND_TRIPS}
    if not asked:
        return read
    whose = [group or "*" for _, group in sorted(asked)]
    recorded = read.to_dict().get("record", {}).get("round-trips", [])
    return read.with_overrides({"record.round-trips": list(dict.fromkeys([*recorded, *whose]))})


def _spoken(read: Scenario, speech: Path, *, drawn: bool) -> Any:
    """Returns the call that carries the recording.

    Raises:
        BadInputError: There is no page to listen on, no call, or the recording cannot be used.
    """
    from fairwave.layers import layer

    if not drawn:
        raise BadInputError("--speech puts the call on a page: add --out FOLDER, without --no-page")
    calls = [name for name, flow in groups(read).items() if kind(flow) in {"voice", "recording", "media"}]
    if not calls:
        raise BadInputError('--speech needs a call: a flow group with traffic = "voice"')
    return layer("pages").spoken(read, speech, calls[0], console.complain)


def streamed(read: Scenario) -> list[str]:
    """The groups that stream a clip."""
    return [name for name, flow in groups(read).items() if is_clip(flow)]


def show(
    read: Scenario,
    results: Results,
    replications: int,
    names: Sequence[str] = (),
    only: Sequence[str] = (),
) -> None:
    """Shows the verdict, then tables of groups and links, for the groups in `only` or the worst of many."""
    from fairwave.advice import activities
    from fairwave.answers import conference, fates
    from fairwave.answers.run_tables import (
        BOTH,
        LINKS,
        judge_groups,
        list_busy_links,
        list_conversations,
        measure_groups,
        measure_limits,
    )
    from fairwave.answers.tins import tables as tin_tables
    from fairwave.answers.verdict import made_of
    from fairwave.measuring.remarks import mark_of, marks

    answer = judge_groups(read, results, only)
    left_out = set(answer.left_out)
    console.answer(answer)
    for title, heads, rows, caption in conference.matrices(results, left_out):
        console.table(title, heads, rows, caption=caption)
    activity, flows = activities(read), groups(read)

    several = f"{replications} replications, mean ± 95 % interval" if replications > 1 else "one run"
    by_group: dict[str, list[list[str]]] = {}
    said: dict[str, list[str]] = {}  # remarks
    for row in (one for one in measure_groups(read, results, names, left_out) if one["usual"]):
        label = row["title"].removeprefix(f"{row['group']} ")
        unit = f" ({row['unit']})" if row["unit"] else ""
        mark = marks(row["remarks"])
        by_group.setdefault(row["group"], []).append([f"{label}{unit}{mark}", row["text"]])
        if row["remarks"]:
            said.setdefault(row["group"], []).extend(row["remarks"])
    for call in conference.find_calls(results):
        _show_call(call, by_group, said, several)
    for name, rows in by_group.items():
        flow = flows[name]
        if shares := measure_limits(results, name):
            held = ", ".join(f"{share:.0%} {what}" for what, share in shares.items())
            rows.append(["limited by (time)", held])
        transport = flow.get("transport", "")
        how = transport.get("name", "") if isinstance(transport, dict) else transport
        told = [
            made_of(name, results),
            *(f"{mark_of(one)} {one}" for one in dict.fromkeys(said.get(name, []))),
        ]
        console.table(
            f"{name}: {describe_count(flow, activity.get(name))} over {how} — {several}", ["", "value"], rows,
            caption="\n".join(filter(None, told)),
        )  # fmt: skip
        if both := list_conversations(results, name):
            console.table(f"{name}: both directions", list(BOTH), both)
        if counts := fates.missed(results, name):
            console.table(
                f"{name}: what became of its packets", list(fates.HEADS), fates.table(counts),
                caption="Shares are of all packets made. Loss and missed leave out what might still have come in time.",
            )  # fmt: skip
    links = [[name, *cells] for name, cells in list_busy_links(results)]
    if links:
        console.table("busiest links", ["link", *(title for _, title, _, _ in LINKS)], links)
    for link, head, tins in tin_tables(results):
        console.table(f"{link}: CAKE's tins, as `tc -s qdisc` shows them", head, tins)
    if left_out and not only:
        console.note(
            f"{len(left_out)} flow groups are not shown: `fairwave run --groups all` shows every group, "
            f"`--groups {answer.left_out[0]}` this one, `--json` all numbers."
        )


def _show_call(
    call: Call, by_group: dict[str, list[list[str]]], said: dict[str, list[str]], several: str
) -> None:
    """Shows the measures of `--measures`, a row for each pair, and removes these groups from `by_group`."""
    from fairwave.measuring.remarks import mark_of

    ends = {group: f"{one} to the server" for one, group in call.uplinks.items()}
    ends |= {group: f"{one} at {other}" for other, of in call.pairs.items() for one, group in of.items()}
    rows = {name: by_group.pop(name) for name in call.groups if name in by_group}
    if rows:
        titles = list(dict.fromkeys(title for of in rows.values() for title, _ in of))
        cells = [
            [ends[name], *({row[0]: row[1] for row in of}.get(title, "") for title in titles)]
            for name, of in rows.items()
        ]
        notes = dict.fromkeys(note for name in rows for note in said.get(name, []))
        caption = "\n".join(f"{mark_of(note)} {note}" for note in notes)
        console.table(f"{call.name} — {several}", ["", *titles], cells, caption=caption)


def run_document(read: Scenario, results: Results, names: Sequence[str] = ()) -> dict[str, Any]:
    """The same as data for programs, with every measure."""
    from fairwave.answers import fates
    from fairwave.answers.run_tables import judge_groups, measure_groups, measure_limits

    rows, names_of = measure_groups(read, results, names), list(groups(read))
    plain = [{key: value for key, value in row.items() if key not in {"text", "usual"}} for row in rows]
    return {
        "scenario": read.name,
        "verdict": list(judge_groups(read, results).sentences),
        "summary": plain,
        "limited": {name: measure_limits(results, name) for name in names_of},
        "fates": {name: fates.document(results, name) for name in names_of},
        "flows": results.rows("flows").to_dicts(),
        "links": results.rows("links").to_dicts(),
        **{
            name: results.rows(name).to_dicts()
            for name in ("round_trips", "outcomes", "tins")
            if name in results.tables
        },
        "provenance": results.provenance.to_dict(),
    }
