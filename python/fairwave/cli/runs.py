"""`fairwave run`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import (
    BadInputError,
    affordable,
    groups,
    how_many,
    is_clip,
    kept,
    kind,
    measure_names,
    scenario,
    seeds,
    threads_or_all,
    written_playout,
)
from fairwave.cli.inspecting import warn

MOS, R, PERCENT, POSITIVE = (1.0, 4.5), (0.0, 129.0), (0.0, 100.0), (0.0, float("inf"))
"""As in `fairwave.study.measures`, which is read only when it is needed."""

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.report.answer import Answer
    from fairwave.report.heard import Heard
    from fairwave.report.single import Drawn
    from fairwave.report.video import Seen
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
    measures: Sequence[str] = (),
    speech: Path | None = None,
    yes: bool = False,
) -> None:
    """Runs and shows what flows and links came to."""
    from fairwave.capturing import CAPTURE_EXAMPLE, PATTERN_EXAMPLE
    from fairwave.cli.patterns import look_on, pairs, recorded_captures, visible
    from fairwave.folders import claimed
    from fairwave.study.grid import Grid

    chosen, threads = seeds(seed, replications), threads_or_all(threads)
    wanted = pairs(captures, "--capture", CAPTURE_EXAMPLE)
    lost = pairs(patterns, "--loss-pattern", PATTERN_EXAMPLE)
    read = scenario(path, settings)
    warn(read, seed)
    names = measure_names(measures, read)
    affordable(read, replications, seed, yes=yes)
    visible(read, seed, wanted, lost)
    clips = streamed(read) if out else []
    # What a clip's viewer sees needs every unit of the flow.
    record = [*record, *(f"{name}[0]" for name in clips if f"{name}[0]" not in record)]
    if record:
        read = read.with_overrides(
            {"record.units": record, "record.windows": record, "record.window-interval": "50 ms"}
        )
    heard = spoken(read, speech, drawn=bool(out and page)) if speech else None
    made = heard.scenario if heard is not None else read
    with claimed(out, "run", read.name, overwrite=overwrite) if out else nullcontext():
        keep = kept(out)
        with console.progress(f"{read.name} × {replications}", quiet=json) as progress:
            results = Grid("run", made, {}).run(chosen, threads=threads, keep=keep, progress=progress)
        watched = watch(read, results, clips, out) if out and clips else []
        shown = (
            drawn(read, results, seed, out, watched, heard, quiet=json, names=names) if out and page else None
        )
        if out and shown is None:
            results.save(out)
    results = heard.whole(results) if heard is not None else results
    captured = look_on(read, seed, wanted + recorded_captures(read, out), lost, payload=payload, quiet=json)
    if json:
        console.document(run_document(read, results, names) | captured)
        return
    show(read, results, replications, names)
    for film in watched:
        console.say(f"\n{film}")
    if out:
        audio = " with audio" if heard is not None else ""
        console.say(f"\npage{audio}: {shown}   tables: {out}" if shown else f"\ntables: {out}")


def verdict(read: Scenario, results: Results) -> Answer:
    """What page and terminal say first."""
    from fairwave.report.verdict import made_of, of_run

    kinds = {name: kind(flow) for name, flow in groups(read).items()}
    return of_run(results, kinds, lambda name: made_of(name, results))


def spoken(read: Scenario, speech: Path, *, drawn: bool) -> Heard:
    """The first call of the first group of calls, which says the recording.

    Raises:
        BadInputError: There is no page to listen on, no call, or the recording cannot be used.
    """
    from fairwave.report.heard import Heard
    from fairwave.speech import SpeechError
    from fairwave.speech.fetch import speech as recording

    if not drawn:
        raise BadInputError("--speech puts the call on a page: add --out FOLDER, without --no-page")
    calls = [name for name, flow in groups(read).items() if kind(flow) in {"voice", "recording"}]
    if not calls:
        raise BadInputError('--speech needs a call: a flow group with traffic = "voice"')
    try:
        return Heard.of(recording(speech), read, calls[0])
    except SpeechError as error:
        raise BadInputError(str(error)) from None


def drawn(
    read: Scenario,
    saved: Results,
    seed: int,
    out: Path,
    films: list[Seen],
    heard: Heard | None = None,
    *,
    quiet: bool,
    names: Sequence[str] = (),
    run: Drawn | None = None,
) -> Path:
    """Leaves the run as a page, with its tables; with the call that is `heard`, to be listened to.

    It is simulated once more to be drawn, unless `run` is given.
    """
    from fairwave.advice import activities
    from fairwave.report import single
    from fairwave.report.call import of_run as listened
    from fairwave.report.page import TableView

    console.say("drawing …", quiet=quiet)
    results = heard.whole(saved) if heard is not None else saved
    buffer = written_playout(groups(read)[heard.group]) if heard is not None else None
    clips, said = listened(heard, saved, seed, buffer) if heard is not None else ([], [])
    tables, notes = [], []
    summary = _summary(read, results, names)
    for name, flow in groups(read).items():
        mine = [row for row in summary if row["group"] == name and row["usual"]]
        rows = [
            [row["title"].removeprefix(f"{name} "), f"{row['text']} {row['unit']}".rstrip()] for row in mine
        ]
        head = f"{name}: {how_many(flow, activities(read).get(name))}"
        if rows:
            tables.append(TableView(f"group-{name}", head, ["", "mean ± 95 % interval"], rows))
        if both := both_directions(results, name):
            tables.append(TableView(f"both-{name}", f"{name}: both directions", list(BOTH), both))
        notes += [f"{name}: {said}." for said in dict.fromkeys(one for row in mine for one in row["remarks"])]
    links = [[name, *cells] for name, cells in _busy_links(results)]
    if links:
        tables.append(
            TableView("links", "Busiest links", ["link", *(title for _, title, _, _ in LINKS)], links)
        )
    description = str(read.to_dict().get("description", ""))
    run = run or single.drawn(heard.scenario if heard is not None else read, saved, seed)
    answer = verdict(read, results)
    return single.write(
        run, saved, tables, out, title=read.name, lead=description, answer=answer, notes=notes, films=films,
        clips=clips, heard=said,
    )  # fmt: skip


def streamed(read: Scenario) -> list[str]:
    """The groups that stream a clip."""
    return [name for name, flow in groups(read).items() if is_clip(flow)]


def watch(read: Scenario, results: Results, clips: list[str], out: Path) -> list[Seen]:
    """Leaves in `out` what the viewer of each streamed clip sees, and how good it is; the first flow of each group.

    Raises:
        BadInputError: The clip cannot be shown.
    """
    from fairwave.report.video import show as shown
    from fairwave.video import VideoError

    try:
        return [shown(results, name, groups(read)[name], out) for name in clips]
    except VideoError as error:
        raise BadInputError(str(error)) from None


BOTH = ("", "there", "back", "together")
"""Columns of the table that shows a conversation as one thing with two directions."""

_BOTH = (
    ("mouth to ear, ms", "mouth_to_ear_there_s", "mouth_to_ear_back_s", "round_trip_s", 1e3, POSITIVE),
    ("R (E-model)", "r_there", "r_back", "", 1.0, R),
    ("MOS (E-model); together: the worse", "mos_there", "mos_back", "mos", 1.0, MOS),
    ("MOS; together: the mean", "mos_there", "mos_back", "mos_mean", 1.0, MOS),
    (
        "both talk, % of the time, as heard by who listens; together: as meant",
        "double_talk_heard_to", "double_talk_heard_from", "double_talk_meant", 100.0, PERCENT,
    ),
)  # fmt: skip


def both_directions(results: Results, group: str) -> list[list[str]]:
    """The conversations of a group, each direction and both together: means over conversations, then runs."""
    import polars as pl

    from fairwave.study.statistics import interval

    if "conversations" not in results.tables:
        return []
    rows = results.to_polars("conversations").filter(pl.col("group").cast(pl.String) == group)

    def cell(column: str, scale: float, ends: tuple[float, float]) -> str:
        if not column:
            return ""
        each = (
            rows.group_by("run", maintain_order=True).agg(pl.col(column).mean() * scale)[column].drop_nulls()
        )
        return str(interval(each.to_numpy()).within(ends)) if len(each) else "not defined"

    if not rows.height:
        return []
    return [
        [title, *(cell(column, scale, ends) for column in (there, back, whole))]
        for title, there, back, whole, scale, ends in _BOTH
    ]


def _summary(read: Scenario, results: Results, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every measure of every group, in order; `usual` says whether people see it.

    Args:
        read: The scenario.
        results: The runs.
        names: Measures that people are to see instead of the usual.

    Raises:
        BadInputError: No measure has such a name.
    """
    from fairwave.report import shown
    from fairwave.report.comparison import is_worth_a_row
    from fairwave.study.remarks import NOT_DEFINED, told, undefined

    rows = []
    for name in groups(read):
        wanted = shown.of_group(results, name)
        if names:
            asked = shown.asked(results, names, name)
            ids = {one.measure.id for one in asked}
            wanted = [*asked, *(replace(one, usual=False) for one in wanted if one.measure.id not in ids)]
        for one in wanted:
            measure = one.measure
            cell = measure.over(results).interval()
            if cell.n or undefined(results, measure.id, name):
                rows.append(
                    {
                        "group": name, "measure": measure.id, "title": measure.title, "unit": measure.unit,
                        "mean": cell.mean, "interval": [cell.low, cell.high], "undefined": cell.undefined,
                        "remarks": [str(said) for said in told(results, measure.id, name)],
                        "usual": one.usual and (bool(names) or is_worth_a_row(measure, [cell])),
                        "text": str(cell) if cell.n else NOT_DEFINED,
                    }
                )  # fmt: skip
    return rows


def limits(results: Results, group: str) -> dict[str, float]:
    """What held the senders of a group back, as shares of the time that they were on, over all flows and runs.

    Empty for transports that nothing holds back. The largest comes first.
    """
    import polars as pl

    flows = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == group)
    times = {name: float(flows[column].sum()) for column, name in LIMITS}
    whole = sum(times.values())
    shares = {name: time / whole for name, time in times.items() if whole > 0 and time / whole >= LEAST_SHARE}
    return dict(sorted(shares.items(), key=lambda share: -share[1]))


def _busy_links(results: Results, most: int = 8) -> list[tuple[str, list[str]]]:
    """The links that queue most, with means over replications."""
    import polars as pl

    from fairwave.study.statistics import interval

    links = results.to_polars("links").with_columns(pl.col("link").cast(pl.String))
    order = (
        links.group_by("link", maintain_order=True)
        .agg(pl.col("mean_wait_s").mean())
        .sort("mean_wait_s", descending=True, maintain_order=True)
    )
    rows = []
    queueing = order.filter(pl.col("mean_wait_s") > LEAST_WAIT_S)
    for name in queueing["link"].head(most):
        part = links.filter(pl.col("link") == name)
        cells = [interval((part[column] * scale).to_numpy()).within(ends) for column, _, scale, ends in LINKS]
        rows.append((name, [str(cell) for cell in cells]))
    return rows


def show(read: Scenario, results: Results, replications: int, names: Sequence[str] = ()) -> None:
    """Shows the verdict, then what groups and links came to, as tables."""
    from fairwave.advice import activities
    from fairwave.report.verdict import made_of
    from fairwave.study.remarks import MARK

    console.answer(verdict(read, results))
    activity = activities(read)

    several = f"{replications} replications, mean ± 95 % interval" if replications > 1 else "one run"
    by_group: dict[str, list[list[str]]] = {}
    said: dict[str, list[str]] = {}
    for row in (one for one in _summary(read, results, names) if one["usual"]):
        label = row["title"].removeprefix(f"{row['group']} ")
        unit = f" ({row['unit']})" if row["unit"] else ""
        mark = f" {MARK}" if row["remarks"] else ""
        by_group.setdefault(row["group"], []).append([f"{label}{unit}{mark}", row["text"]])
        if row["remarks"]:
            said.setdefault(row["group"], []).extend(row["remarks"])
    for name, rows in by_group.items():
        flow = groups(read)[name]
        if shares := limits(results, name):
            held = ", ".join(f"{share:.0%} {what}" for what, share in shares.items())
            rows.append(["limited by (time)", held])
        transport = flow.get("transport", "")
        how = transport.get("name", "") if isinstance(transport, dict) else transport
        caption = [made_of(name, results), *(f"{MARK} {one}" for one in dict.fromkeys(said.get(name, [])))]
        console.table(
            f"{name}: {how_many(flow, activity.get(name))} over {how} — {several}", ["", "value"], rows,
            caption="\n".join(filter(None, caption)),
        )  # fmt: skip
        if both := both_directions(results, name):
            console.table(f"{name}: both directions", list(BOTH), both)
    links = [[name, *cells] for name, cells in _busy_links(results)]
    if links:
        console.table("busiest links", ["link", *(title for _, title, _, _ in LINKS)], links)


def run_document(read: Scenario, results: Results, names: Sequence[str] = ()) -> dict[str, Any]:
    """The same for programs, with every measure."""
    rows = _summary(read, results, names)
    summary = [{key: value for key, value in row.items() if key not in {"text", "usual"}} for row in rows]
    return {
        "scenario": read.name,
        "verdict": list(verdict(read, results).sentences),
        "summary": summary,
        "limited": {name: limits(results, name) for name in groups(read)},
        "flows": results.to_polars("flows").to_dicts(),
        "links": results.to_polars("links").to_dicts(),
        "provenance": results.provenance.to_dict(),
    }
