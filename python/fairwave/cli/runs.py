"""`fairwave run`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.cli import console, doubts
from fairwave.cli.input import (
    BadInputError,
    describe_count,
    drawn_as,
    groups,
    is_clip,
    kept,
    kind,
    layer_or_note,
    measure_names,
    save,
    scenario,
    seeds,
    shown_groups,
    threads_or_all,
)
from fairwave.cli.inspecting import warn

MOS, R, PERCENT, POSITIVE = (1.0, 4.5), (0.0, 129.0), (0.0, 100.0), (0.0, float("inf"))
"""As in `fairwave.measuring`, which is read only when it is needed."""

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from fairwave.answers.answer import Answer
    from fairwave.answers.conference import Call
    from fairwave.results import Results
    from fairwave.scenario import Scenario

LEAST_WAIT_S = 1e-5
"""Links on which packets wait less, on average, are not worth a line."""

LIMITS = (
    ("limited_receiver_s", "receiver window"),
    ("limited_congestion_s", "congestion control"),
    ("limited_application_s", "application"),
)
"""What may hold a sender back, in the order in which it is told."""

LEAST_SHARE = 0.005
"""What held the senders back for a smaller share of the time is not worth a word."""

LINKS = (
    ("utilisation", "utilisation %", 100.0, PERCENT),
    ("mean_queue_packets", "mean queue, packets", 1.0, POSITIVE),
    ("drop_rate", "dropped %", 100.0, PERCENT),
    ("mean_wait_s", "mean wait, ms", 1e3, POSITIVE),
)
"""Columns of the table of links: name, title, factor, and the least and most that it can be."""


def run_scenario(
    path: str,
    seed: int,
    replications: int,
    out: Path | None,
    record: list[str],
    settings: list[str],
    threads: int | None,
    *,
    json: bool,
    overwrite: bool = False,
    page: bool = True,
    captures: Sequence[str] = (),
    patterns: Sequence[str] = (),
    payload: bool = False,
    qlog: Path | None = None,
    qlog_flows: Sequence[str] = (),
    stats: Path | None = None,
    measures: Sequence[str] = (),
    only: Sequence[str] = (),
    speech: Path | None = None,
    doubting: bool = False,
    yes: bool = False,
    require: Sequence[str] = (),
    junit: Path | None = None,
    style: str | None = None,
    figures: str | None = None,
    baseline: str | None = None,
) -> None:
    """Runs, and shows the results of flows and links."""
    from fairwave.capturing import CAPTURE_EXAMPLE, PATTERN_EXAMPLE
    from fairwave.cli import requiring
    from fairwave.cli.patterns import (
        logged_flows,
        look_on,
        pairs,
        recorded_captures,
        visible,
        with_sessions,
        write_qlog,
        write_stats,
    )
    from fairwave.folders import claimed
    from fairwave.runs.grid import Grid

    asked = bool(style or figures)
    chosen, threads = seeds(seed, replications), threads_or_all(threads)
    wanted = pairs(captures, "--capture", CAPTURE_EXAMPLE)
    lost = pairs(patterns, "--loss-pattern", PATTERN_EXAMPLE)
    read = scenario(path, settings)
    warn(read, seed)
    names = measure_names(measures, read)
    chosen_groups = shown_groups(only, read, is_used=not json or bool(out and page))
    conditions = requiring.conditions(require, junit, read, has_baseline=baseline is not None)
    read = timed(read, names)
    planned = doubts.afforded(read, replications, seed, doubting=doubting, yes=yes, quiet=json)
    visible(read, seed, wanted, lost)
    logged_flows(read, seed, qlog, qlog_flows)
    with_sessions(read, stats)
    clips = streamed(read) if out else []
    pages = (
        layer_or_note(needed=bool(clips or speech or asked), quiet=json) if out and (page or clips) else None
    )
    look = drawn_as(style, figures, pages, out if page else None)
    read = _recorded(read, record, clips)
    only_captured = payload and bool(captures) and not out
    heard = _spoken(read, speech, drawn=bool(out and page)) if speech and not only_captured else None
    with look, claimed(out, "run", read.name, overwrite=overwrite) if out else nullcontext():
        keep = kept(out)
        before = requiring.baseline_runs(baseline, conditions, chosen, threads, keep)
        with console.progress(f"{read.name} × {replications}", quiet=json) as progress:
            results = Grid("run", heard.scenario if heard is not None else read, {}).run(
                chosen, threads=threads, keep=keep, progress=progress
            )
        watched = pages.watch(read, results, clips, out) if pages and clips else []
        doubted = doubts.made(read, planned, replications, seed, threads, keep, quiet=json)
        shown = None
        if out and page and pages:
            shown = pages.drawn(
                read, results, seed, out, watched, heard, quiet=json, names=names, only=chosen_groups,
                doubted=doubted,
            )  # fmt: skip
        if out and shown is None:
            save(results, out, read)
    results = heard.whole(results) if heard is not None else results
    logged = (write_qlog(read, seed, qlog, qlog_flows, quiet=json) if qlog else {}) | (
        write_stats(results, stats, quiet=json) if stats else {}
    )
    captured = look_on(
        read, seed, wanted + recorded_captures(read, out), lost, payload=payload, quiet=json, speech=speech
    )
    required = requiring.met(conditions, results, before)
    if json:
        document = run_document(read, results, names) | captured | logged | doubts.as_data(doubted)
        console.document(document | requiring.as_data(required))
    else:
        show(read, results, replications, names, chosen_groups)
        doubts.show(doubted)
        for line in (*watched, *_left(out, shown, audio=heard is not None)):
            console.say(f"\n{line}")
    requiring.settle(required, read.name, junit, json=json)


def _left(out: Path | None, page: Path | None, *, audio: bool) -> list[str]:
    """Where page and tables are."""
    if out is None:
        return []
    at = f"page{' with audio' if audio else ''}: {page}   " if page else ""
    return [f"{at}tables: {out}"]


def _recorded(read: Scenario, record: list[str], clips: list[str]) -> Scenario:
    """The scenario that records units and windows of flows; what a clip's viewer sees needs every unit of its flow."""
    flows = [*record, *(f"{name}[0]" for name in clips if f"{name}[0]" not in record)]
    if not flows:
        return read
    return read.with_overrides(
        {"record.units": flows, "record.windows": flows, "record.window-interval": "50 ms"}
    )


def timed(read: Scenario, names: Sequence[str]) -> Scenario:
    """The scenario that measures the round trips that are asked for: of the groups that are named, or of all."""
    from fairwave.measuring.remarks import ROUND_TRIPS

    asked = {one.partition(".")[::2] for one in names if one.partition(".")[0] in ROUND_TRIPS}
    if not asked:
        return read
    whose = [group or "*" for _, group in sorted(asked)]
    recorded = read.to_dict().get("record", {}).get("round-trips", [])
    return read.with_overrides({"record.round-trips": list(dict.fromkeys([*recorded, *whose]))})


def verdict(read: Scenario, results: Results, only: Sequence[str] = ()) -> Answer:
    """What page and terminal say first: of the flow groups `only`; of every group if that is `all`."""
    from fairwave.answers import fates
    from fairwave.answers.answer import LIVE
    from fairwave.answers.conference import find_calls
    from fairwave.answers.verdict import judge_run, made_of

    kinds = {name: kind(flow) for name, flow in groups(read).items()}
    for call in find_calls(results):
        kinds.update(dict.fromkeys(call.groups, "media"))
    every = list(only) == ["all"]
    if only and not every:
        left_out = [name for name in kinds if name not in only]
        kinds = {name: kind for name, kind in kinds.items() if name in only}
    answer = judge_run(
        results,
        kinds,
        lambda name: made_of(name, results) or fates.summed_up(results, name),
        every=bool(only),
    )
    if only and not every:
        answer = replace(answer, left_out=left_out)
    return (
        answer.with_more_runs_by(LIVE) if results.provenance.command.startswith("fairwave live") else answer
    )


def _spoken(read: Scenario, speech: Path, *, drawn: bool) -> Any:
    """The call that says the recording.

    Raises:
        BadInputError: There is no page to listen on, no call, or the recording cannot be used.
    """
    from fairwave.layers import layer

    if not drawn:
        raise BadInputError("--speech puts the call on a page: add --out FOLDER, without --no-page")
    calls = [name for name, flow in groups(read).items() if kind(flow) in {"voice", "recording", "media"}]
    if not calls:
        raise BadInputError('--speech needs a call: a flow group with traffic = "voice"')
    return layer("pages").spoken(read, speech, calls[0])


def streamed(read: Scenario) -> list[str]:
    """The groups that stream a clip."""
    return [name for name, flow in groups(read).items() if is_clip(flow)]


BOTH = ("", "there", "back", "together")
"""Columns of the table that shows a conversation as one thing with two directions."""

_BOTH = (
    ("mouth to ear, ms", "mouth_to_ear_there_s", "mouth_to_ear_back_s", "round_trip_s", 1e3, POSITIVE),
    ("R (E-model)", "r_there", "r_back", "", 1.0, R),
    ("MOS (E-model); together: the worse", "mos_there", "mos_back", "mos", 1.0, MOS),
    ("MOS; together: the mean", "mos_there", "mos_back", "mos_mean", 1.0, MOS),
    (
        "double talk in % of the time, at each listener; together: as generated",
        "double_talk_heard_to", "double_talk_heard_from", "double_talk_meant", 100.0, PERCENT,
    ),
)  # fmt: skip


def list_conversations(results: Results, group: str) -> list[list[str]]:
    """The conversations of a group, each direction and both together: means over conversations, then runs."""
    from fairwave.measuring.measures import mean
    from fairwave.measuring.statistics import interval

    if "conversations" not in results.tables:
        return []
    rows = results.rows("conversations").only(group=group)

    def cell(column: str, scale: float, ends: tuple[float, float]) -> str:
        if not column:
            return ""
        each = [mean(part.numbers(column)) * scale for part in rows.parted("run")]
        each = [one for one in each if not np.isnan(one)]
        return str(interval(each).clip(ends)) if each else "not defined"

    if not rows.num_rows:
        return []
    return [
        [title, *(cell(column, scale, ends) for column in (there, back, whole))]
        for title, there, back, whole, scale, ends in _BOTH
    ]


def summary(
    read: Scenario, results: Results, names: Sequence[str] = (), left_out: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Every measure of every group, in order; `usual` says whether people see it.

    Args:
        read: The scenario.
        results: The runs.
        names: Measures that people are to see instead of the usual.
        left_out: Flow groups that have no rows, unless `names` has a measure of them.

    Raises:
        BadInputError: No measure has such a name.
    """
    from fairwave.answers import conference, group_measures
    from fairwave.measuring.relevance import USUAL
    from fairwave.measuring.remarks import NOT_DEFINED, bistable, list_notes, undefined, unmeasured
    from fairwave.measuring.statistics import interval

    rows = []
    # Matrices show what pairs of a call see and hear; measures that are asked for have rows, too.
    of_calls = [name for call in conference.find_calls(results) for name in call.groups] if names else []
    asked_of = {name.partition(".")[2] for name in names}
    skipped = {name for name in left_out if name not in asked_of}
    for name in dict.fromkeys([*groups(read), *of_calls]):
        if name in skipped:
            continue
        wanted = [] if name in of_calls else group_measures.list_measures(results, name)
        if names:
            asked = group_measures.asked(results, names, name)
            ids = {one.measure.id for one in asked}
            wanted = [*asked, *(replace(one, usual=False) for one in wanted if one.measure.id not in ids)]
        for one in wanted:
            measure = one.measure
            measured = measure.compute(results) if measure.table in results.tables else None
            cell = measured.interval() if measured else interval([])
            why = unmeasured(results, measure.id, name) if names and one.usual else ""
            if cell.n or why or undefined(results, measure.id, name):
                notes = [
                    *list_notes(results, measure.id, name),
                    *(bistable(measured, USUAL) if measured else []),
                ]
                rows.append(
                    {
                        "group": name, "measure": measure.id, "title": measure.title, "unit": measure.unit,
                        "mean": cell.mean, "interval": cell.ends, "identical": cell.is_identical,
                        "undefined": cell.undefined,
                        "remarks": [*map(str, notes), *([why] if why else [])],
                        "usual": one.usual and (bool(names) or measure.applies.is_worth_a_row([cell.mean])),
                        "text": str(cell) if cell.n else NOT_DEFINED,
                    }
                )  # fmt: skip
    return rows


def limits(results: Results, group: str) -> dict[str, float]:
    """What held the senders of a group back, as shares of the time that they were on, over all flows and runs.

    Empty for transports that nothing holds back. The largest comes first.
    """
    flows = results.rows("flows").only(group=group)
    times = {name: float(np.nansum(flows.numbers(column))) for column, name in LIMITS}
    whole = sum(times.values())
    shares = {name: time / whole for name, time in times.items() if whole > 0 and time / whole >= LEAST_SHARE}
    return dict(sorted(shares.items(), key=lambda share: -share[1]))


def busy_links(results: Results, most: int = 8) -> list[tuple[str, list[str]]]:
    """The links that queue most, with means over replications."""
    from fairwave.measuring.measures import mean
    from fairwave.measuring.statistics import interval

    found = [(str(part["link"].to_list()[0]), part) for part in results.rows("links").parted("link")]
    waits = {name: mean(part.numbers("mean_wait_s")) for name, part in found}
    queueing = [(name, part) for name, part in found if waits[name] > LEAST_WAIT_S]
    queueing.sort(key=lambda one: -waits[one[0]])
    rows = []
    for name, part in queueing[:most]:
        cells = [interval(part.numbers(column) * scale).clip(ends) for column, _, scale, ends in LINKS]
        rows.append((name, [str(cell) for cell in cells]))
    return rows


def show(
    read: Scenario,
    results: Results,
    replications: int,
    names: Sequence[str] = (),
    only: Sequence[str] = (),
) -> None:
    """Shows the verdict, then tables of groups and links: of the groups in `only`, or of the worst of many."""
    from fairwave.advice import activities
    from fairwave.answers import conference, fates
    from fairwave.answers.tins import tables as tin_tables
    from fairwave.answers.verdict import made_of
    from fairwave.measuring.remarks import mark_of, marks

    answer = verdict(read, results, only)
    left_out = set(answer.left_out)
    console.answer(answer)
    for title, heads, rows, caption in conference.matrices(results, left_out):
        console.table(title, heads, rows, caption=caption)
    activity, flows = activities(read), groups(read)

    several = f"{replications} replications, mean ± 95 % interval" if replications > 1 else "one run"
    by_group: dict[str, list[list[str]]] = {}
    said: dict[str, list[str]] = {}  # remarks
    for row in (one for one in summary(read, results, names, left_out) if one["usual"]):
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
        if shares := limits(results, name):
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
    links = [[name, *cells] for name, cells in busy_links(results)]
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
    """Shows the measures that `--measures` asks for, a row for each pair, and takes these groups out of `by_group`."""
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
    """The same for programs, with every measure."""
    from fairwave.answers import fates

    rows, names_of = summary(read, results, names), list(groups(read))
    plain = [{key: value for key, value in row.items() if key not in {"text", "usual"}} for row in rows]
    return {
        "scenario": read.name,
        "verdict": list(verdict(read, results).sentences),
        "summary": plain,
        "limited": {name: limits(results, name) for name in names_of},
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
