"""Page of a run: the network, its links and senders over time, and a call packet by packet.

The figures show one run: the first seed, repeated with recorded series. Recording changes nothing else in it. Numbers
in tables cover all replications. A run on real packets cannot be repeated. So it records the series itself
(`to_draw`), and `draw_live` draws those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.staging import staging
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.call import write_audio
from fairwave_report.chart import MOST_POINTS, Chart, ChartPanel, ChartSeries
from fairwave_report.completions import draw_transfers
from fairwave_report.conference import draw_matrices
from fairwave_report.network_picture import draw_network
from fairwave_report.page import Card, Page, TableView
from fairwave_report.session import draw_rates, draw_sessions, first_sessions
from fairwave_report.ways import ways

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.answers.answer import Answer
    from fairwave.results import Results
    from fairwave.scenario import Scenario
    from fairwave_report.listening import Clip
    from fairwave_report.video import ViewedClip
LINKS = 4
"""Number of queues that are drawn: those with the longest waits."""

SENDERS = 6
"""Number of senders with a drawn window: the first of each group."""

ONE_LIVE = "One live run, measured on real packets: another one gives other numbers."
"""Warning about the uncertainty of a live run's numbers."""

BINS = 120
"""Number of bins that the run is cut into, unless the scenario sets them."""


@dataclass(frozen=True)
class DrawnRun:
    """The drawn run.

    Attributes:
        scenario: The scenario with its recordings.
        results: Results of one run.
        seed: Its seed.
        call: The flow that is drawn packet by packet; empty without a call.
        promise: Whether a live run met its timing limits, a sentence; empty for a simulated one.
        accounts: Timing accuracy of a live run, a remark each.
    """

    scenario: Scenario
    results: Results
    seed: int
    call: str
    promise: str = ""
    accounts: Sequence[str] = ()

    @property
    def live(self) -> bool:
        """Whether it used real packets."""
        return bool(self.promise)

    def series(self, kind: str) -> pl.DataFrame:
        """Returns the series of one kind: columns `name`, `time_s`, `value`; no rows without a series."""
        if "series" not in self.results.tables:
            return pl.DataFrame(schema={"name": pl.String, "time_s": pl.Float64, "value": pl.Float64})
        rows = self.results.to_polars("series").filter(pl.col("kind").cast(pl.String) == kind)
        return rows.select(pl.col("name").cast(pl.String), "time_s", "value")


def repeat_run(scenario: Scenario, results: Results, seed: int) -> DrawnRun:
    """Repeats the first seed with series of the busiest queues, of groups and of senders.

    Raises:
        fairwave.RunError: The run was refused or failed.
    """
    queues = dict.fromkeys([*_busiest(results), *_on_the_way(scenario, results, seed)])
    recorded, call = _recorded(scenario, seed, list(queues))
    return DrawnRun(recorded, recorded.run(seed), seed, call)


def to_draw(scenario: Scenario, seed: int) -> Scenario:
    """Adds all recordings for `draw_live` to the scenario. The busiest queues are not known before the run."""
    recorded, _ = _recorded(scenario, seed, ["*"])
    asked, added = (one.to_dict().get("record", {}) for one in (scenario, recorded))
    kept = {key: asked[key] for key in ("goodput", "window-interval") if key in asked}
    for key in ("units", "windows"):
        kept[key] = list(dict.fromkeys([*asked.get(key, []), *added.get(key, [])]))
    return recorded.with_overrides({f"record.{key}": value for key, value in kept.items()})


def draw_live(
    scenario: Scenario, results: Results, seed: int, *, promise: str, accounts: Sequence[str]
) -> DrawnRun:
    """Wraps the recordings of a run of `to_draw`'s scenario on real packets, without a simulation."""
    return DrawnRun(scenario, results, seed, _first_call(scenario), promise, accounts)


def _flows(scenario: Scenario) -> list[dict[str, Any]]:
    return [flow for flow in scenario.to_dict().get("flow", []) if flow.get("count", 1) != 0]


def _first_call(scenario: Scenario) -> str:
    kinds = {"voice", "recording", "conversation"}
    calls = [flow["name"] for flow in _flows(scenario) if _name(flow.get("traffic"), "kind") in kinds]
    return f"{calls[0]}[0]" if calls else ""


def _recorded(scenario: Scenario, seed: int, queues: list[str]) -> tuple[Scenario, str]:
    """Returns the scenario with recordings for all figures, and the call among them."""
    flows = _flows(scenario)
    tcp = [flow["name"] for flow in flows if _name(flow.get("transport"), "name").startswith("tcp/")]
    call = _first_call(scenario)
    record = scenario.to_dict().get("record", {})
    seconds = scenario.plan(seed)["duration_s"]
    changes: dict[str, Any] = {
        "record.queues": queues,
        "record.goodput": None,
        "record.allotted": [flow["name"] for flow in flows],
        "record.windows": [f"{name}[0]" for name in tcp[:SENDERS]],
        "record.window-interval": f"{max(round(seconds / 600 * 1e3), 10)} ms",
        "record.units": [call] if call else [],
    }
    if "bin" not in record:
        changes["record.bin"] = f"{max(round(seconds / BINS * 1e3), 10)} ms"
    return scenario.with_overrides(changes), call


def _name(value: Any, key: str) -> str:
    return str(value.get(key, "")) if isinstance(value, dict) else str(value)


def _on_the_way(scenario: Scenario, results: Results, seed: int) -> list[str]:
    """Returns the links on the paths of the drawn media sessions. Their capacity is drawn with the estimate."""
    names = {f"{group}[{flow}]" for group, flow in first_sessions(results)}
    several = ways(scenario, seed) if names else []
    return [link for way in several if way.flow in names for link in way.links]


def _pings(scenario: Scenario) -> list[str]:
    """Returns the groups of pings. Their goodput is meaningless compared with others."""
    return [flow["name"] for flow in _flows(scenario) if _name(flow.get("transport"), "name") == "ping"]


def _busiest(results: Results) -> list[str]:
    links = results.to_polars("links").with_columns(pl.col("link").cast(pl.String))
    order = links.group_by("link", maintain_order=True).agg(pl.col("mean_wait_s").mean())
    return order.sort("mean_wait_s", descending=True, maintain_order=True)["link"].head(LINKS).to_list()


def write(
    run: DrawnRun,
    results: Results,
    tables: Sequence[TableView],
    out: Path,
    *,
    title: str,
    lead: str,
    answer: Answer,
    notes: Sequence[str],
    films: Sequence[ViewedClip] = (),
    clips: Sequence[Clip] = (),
    heard: Sequence[str] = (),
) -> Path:
    """Writes page and figures into the folder `out`, with the tables of `results`, all or nothing.

    Args:
        run: The drawn run.
        results: All runs.
        tables: Tables of all runs as text.
        out: The folder.
        title: The page's heading.
        lead: The paragraph below the heading.
        answer: The verdict.
        notes: Remarks.
        films: Received videos.
        clips: Audio.
        heard: Remarks about the audio, a paragraph each.

    Returns:
        The page.
    """
    with staging(out) as partial:
        results.write_into(partial)
        folder = partial / "figures"
        drawings = [draw_network(run, folder)]
        rates = draw_rates(run, folder)
        # Their files are already in the page's folder, and their numbers are on the page.
        drawings += [replace(one.drawing, files=()) for one in films]
        drawings += draw_sessions(run, folder)
        drawings += [
            one
            for one in (
                draw_series(run, folder, answer.left_out),
                draw_call(run, folder),
                draw_transfers(run, folder),
            )
            if one is not None
        ]
        write_audio(clips, partial)
        scenario = run.scenario.to_toml()
        (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        page = Page(
            title=title,
            kicker="Live run" if run.live else "Run",
            lead=" ".join(filter(None, (run.promise, lead))),
            answer=replace(answer, sure=ONE_LIVE) if run.live else answer,
            cards=[
                Card(str(results.runs.num_rows), "runs"),
                Card(str(results.to_polars("flows").select("group", "flow").unique().height), "flows"),
                Card(
                    f"{run.scenario.plan(run.seed)['duration_s']:g} s",
                    "in real time" if run.live else "simulated",
                ),
            ],
            drawings=drawings,
            leading=[*draw_matrices(results, folder), *([rates] if rates is not None else [])],
            drawn="The figures show what this live run recorded."
            if run.live
            else f"The figures show the run with seed {run.seed}.",
            tables=tables,
            notes=[
                *([" · ".join(run.accounts)] if run.live else []),
                *notes,
                *(() if clips else heard),
            ],
            films=films,
            clips=clips,
            heard=heard if clips else (),
            scenario=scenario,
            provenance=results.provenance,
            tables_first=True,
            live=run.live,
        )
        (partial / "index.html").write_text(page.html(partial), encoding="utf-8")
    return out / "index.html"


PANELS = (
    ("allotted_goodput_bps", "Goodput of each group", "Mb/s", 1e-6),
    ("group_round_trip_s", "Round trip of each group", "ms", 1e3),
    ("group_delay_s", "One-way delay of each group", "ms", 1e3),
    ("group_loss", "Loss of each group", "%", 100.0),
    ("group_mos", "MOS of each group (E-model)", "", 1.0),
    ("queueing_delay_s", "Queueing delay", "ms", 1e3),
    ("queue_packets", "Busiest queues", "packets", 1.0),
    ("window", "Congestion windows", "segments", 1.0),
)
"""Drawn series, each with title, unit and factor."""

APART = 20.0
"""Series with a larger ratio of medians get separate panels; otherwise the small ones would appear as 0."""

LEAST = {"ms": 0.1, "%": 0.01, "Mb/s": 1e-3, "segments": 1.0, "packets": 1.0}
"""Unit to its smallest relevant value. An axis spans at least this much, and a logarithmic axis begins there."""

UNITS = {"Mb/s": ("kb/s", 1e3, 0.5)}
"""Unit to a smaller unit, its factor, and the value below which a whole panel uses the smaller unit."""


@dataclass(frozen=True)
class SeriesPanel:
    """Series of one kind over time.

    Attributes:
        title: Title of the panel.
        unit: Unit of the values.
        rows: Columns `name`, `time_s`, `value`, the values in the unit.
        names: All series, including those left out, so that each keeps its look.
    """

    title: str
    unit: str
    rows: pl.DataFrame
    names: Sequence[str]

    @property
    def left_out(self) -> list[str]:
        """Series that are not drawn, because they are always below the smallest relevant value."""
        drawn = set(self.rows["name"])
        return [name for name in self.names if name not in drawn]

    @property
    def least(self) -> float:
        """The smallest relevant value."""
        return LEAST.get(self.unit, 0.0)

    @property
    def is_log(self) -> bool:
        """Whether the smallest of several series would be invisible next to the greatest."""
        typical = [max(one, self.least) for one in _typical(self.rows).values()]
        return self.unit != "packets" and len(typical) > 1 and max(typical) > 50 * min(typical)

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the vertical axis."""
        values = self.rows["value"].to_list()
        if self.is_log and (found := drawing.log_ends(values, self.least)) is not None:
            return found
        most = max((one for one in values if one is not None and math.isfinite(one)), default=0.0)
        return 0.0, 1.05 * max(most, self.least)


def _typical(rows: pl.DataFrame) -> dict[str, float]:
    """Returns the median of each series while it is active, without series that never are."""
    on = rows.filter(pl.col("value") > 0).group_by("name", maintain_order=True).agg(pl.col("value").median())
    return dict(on.iter_rows())


OF_GROUPS = " of each group"
"""Part of the title of a series of flow groups."""


def _panels(run: DrawnRun, left_out: Sequence[str] = ()) -> list[SeriesPanel]:
    """Returns the panels from top to bottom. A kind with series too far apart gets several panels."""
    busiest, pings = _busiest(run.results), _pings(run.scenario)
    found = []
    for kind, title, unit, scale in PANELS:
        rows = run.series(kind).with_columns(pl.col("value") * scale)
        if unit == "packets":
            rows = rows.filter(pl.col("name").is_in(busiest))
        if OF_GROUPS in title:
            rows = rows.filter(~pl.col("name").is_in(list(left_out)))
        if unit == "Mb/s":
            rows = rows.filter(~pl.col("name").is_in(pings))
        if not rows.height:
            continue
        every = rows["name"].unique(maintain_order=True).to_list()
        several = _apart(rows) if unit in UNITS else [_counting(rows, unit)]
        for part in several:
            names = part["name"].unique(maintain_order=True).to_list()
            head = title if len(several) == 1 else f"{title.split(' of ')[0]} of {_listed(names)}"
            typical = _typical(part)
            if unit in UNITS and typical and max(typical.values()) < UNITS[unit][2]:
                smaller, factor, _ = UNITS[unit]
                found.append(SeriesPanel(head, smaller, part.with_columns(pl.col("value") * factor), names))
            else:
                found.append(SeriesPanel(head, unit, part, names if unit in UNITS else every))
    return found


def _counting(rows: pl.DataFrame, unit: str) -> pl.DataFrame:
    """Drops delays that are never relevant, unless all are. Other series are always kept."""
    if unit != "ms":
        return rows
    most = pl.col("value").fill_nan(None).max().over("name")
    counting = rows.filter(most >= LEAST[unit])
    return counting if counting.height else rows


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} others"


def _apart(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Splits the series. A new part begins if the ratio to the next lower median exceeds `APART`."""
    typical = sorted(_typical(rows).items(), key=lambda one: -one[1])
    parts: list[list[str]] = [[]]
    for at, (name, median) in enumerate(typical):
        if at and typical[at - 1][1] / median > APART:
            parts.append([])
        parts[-1].append(name)
    parts[-1] += [name for name in rows["name"].unique(maintain_order=True) if name not in dict(typical)]
    return [rows.filter(pl.col("name").is_in(names)) for names in parts]


def draw_series(run: DrawnRun, folder: Path, left_out: Sequence[str] = ()) -> drawing.Drawing | None:
    """Draws goodput, queues and windows over time, one below the other; nothing without recordings.

    Flow groups in `left_out` are not drawn.
    """
    panels = _panels(run, left_out)
    if not panels:
        return None
    marks = run.scenario.plan(run.seed)["marks"]
    with drawing.canvas(
        "series", (11.4, 0.6 + 2.3 * len(panels) + 0.14 * drawing.mark_rows(marks))
    ) as canvas:
        grid = canvas.subplots(len(panels), 1, sharex=True, squeeze=False)
        charts = []
        for axes, panel in zip(grid.flat, panels, strict=True):
            rows = drawing.with_gaps(panel.rows, "name", "time_s")
            looks = style.looks(panel.names)
            drawn = []
            for name in panel.rows["name"].unique(maintain_order=True):
                part, look = rows.filter(pl.col("name") == name), looks[name]
                values = part["value"].to_list()
                if panel.is_log:
                    # A logarithmic axis has no zero, so times without traffic are gaps.
                    values = [one if one is not None and one > 0 else math.nan for one in values]
                axes.plot(
                    part["time_s"], values, label=name, color=look.colour, linestyle=look.line, linewidth=1.3
                )
                drawn.append(ChartSeries(name, look, part["time_s"].to_list(), values))
            axes.set_title(panel.title)
            axes.set_ylabel(f"{panel.unit}, log scale" if panel.is_log else panel.unit)
            if panel.is_log:
                axes.set_yscale("log")
            axes.set_ylim(panel.ends)
            if panel.is_log:
                drawing.plain_numbers(axes.yaxis)
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
            drawing.mark(axes, marks, labels=axes is grid.flat[0])
            charts.append(
                ChartPanel(
                    panel.title, "time (s)", panel.unit, drawn, log_y=panel.is_log,
                    ends=panel.ends,
                    marks=[(one["at_s"], one["label"]) for one in marks],
                )
            )  # fmt: skip
        grid.flat[-1].set_xlabel("time (s)")
        data = pl.concat(
            [
                one.rows.select(pl.lit(one.title).alias("panel"), pl.lit(one.unit).alias("unit"), pl.all())
                for one in panels
            ]
        )
        points = sum(len(one.x) for panel in charts for one in panel.series)
        return drawing.save(
            canvas, folder, "series", data, run.results.provenance,
            title="Over time",
            caption=f"The run with seed {run.seed}. Goodput is summed over the flows of a group; of the links those on "
            "which packets wait longest, of TCP the first sender of each group."
            + (f" {len(left_out)} flow groups that fare better are not drawn." if left_out else "")
            + (" Dotted lines: what happened at known times." if marks else "")
            + "".join(
                f" {one.title}: always below {one.least:g} {one.unit}, and not drawn: {_listed(one.left_out)}."
                for one in panels
                if one.left_out
            ),
            alt=f"Over time, one below the other: {_series_in_words(panels)}",
            chart=Chart(charts, is_linked=True) if points <= MOST_POINTS else None,
        )  # fmt: skip


def _series_in_words(panels: Sequence[SeriesPanel]) -> str:
    """Describes the mean of each line over time."""
    parts = []
    for one in panels:
        means = one.rows.group_by("name", maintain_order=True).agg(pl.col("value").mean())
        each = ", ".join(f"{name} {drawing.format_value(mean)}" for name, mean in means.iter_rows())
        parts.append(f"{one.title} (mean, {one.unit}): {each}")
    return ". ".join(parts)


def _fates(data: pl.DataFrame) -> str:
    """Counts the packets of a call by fate."""
    counts = data["fate"].value_counts(sort=True)
    return ", ".join(f"{count} {fate}" for fate, count in counts.iter_rows())


def draw_call(run: DrawnRun, folder: Path) -> drawing.Drawing | None:
    """Draws the first call unit by unit: transit times, playout times, losses. Draws nothing without a call."""
    if not run.call or "units" not in run.results.tables:
        return None
    units = run.results.to_polars("units").filter(pl.col("flow").cast(pl.String) == run.call)
    if not units.height:
        return None
    data = units.select(
        "unit",
        "created_s",
        ((pl.col("arrived_s") - pl.col("created_s")) * 1e3).alias("network_ms"),
        ((pl.col("played_s") - pl.col("created_s")) * 1e3).alias("played_ms"),
        pl.col("fate").cast(pl.String),
    )
    with drawing.canvas("call", (11.4, 3.4)) as canvas:
        axes = canvas.subplots()
        charts = []
        played = data.filter(pl.col("played_ms").is_not_null())
        charts.append(_marks("played", style.look(4), played, "played_ms"))
        axes.plot(
            played["created_s"],
            played["played_ms"],
            ".",
            markersize=2,
            color=style.look(4).colour,
            label="played",
        )
        for fate, look in (("played", style.look(1)), ("late", style.look(0))):
            part = data.filter((pl.col("fate") == fate) & pl.col("network_ms").is_not_null())
            label = "arrived" if fate == "played" else "arrived too late"
            if part.height:
                axes.plot(
                    part["created_s"], part["network_ms"], ".", markersize=2.5, color=look.colour, label=label
                )
                charts.append(_marks(label, look, part, "network_ms"))
        removed = data.filter(pl.col("fate").is_in(["dropped", "lost"]))
        for made in removed["created_s"]:
            axes.axvline(made, 0, 0.05, color=style.INK, linewidth=0.6)
        axes.set_ylim(bottom=0)
        drawing.mark(axes, run.scenario.plan(run.seed)["marks"], labels=False)
        axes.set_xlabel("made at (s)")
        axes.set_ylabel("time since it was made (ms)")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=4)
        lost = removed.height
        gone = removed.select("created_s", pl.lit(0.0).alias("lost_ms"))
        if gone.height:
            charts.append(_marks("lost", style.look(6), gone, "lost_ms"))
        few = sum(len(one.x) for one in charts) <= MOST_POINTS
        panel = ChartPanel("", "made at (s)", "time since it was made (ms)", charts, ends=(0.0, None))
        return drawing.save(
            canvas, folder, "call", data, run.results.provenance,
            title=f"The call {run.call}, packet by packet",
            caption=f"When each packet arrived and was played; {lost} of {data.height} were lost: ticks at the foot. "
            f"Seed {run.seed}.",
            alt=f"Delay of each of {data.height} packets of {run.call} from making to arriving and to playing: "
            f"{_fates(data)}",
            chart=Chart([panel]) if few else None,
        )  # fmt: skip


def _marks(label: str, look: style.SeriesStyle, rows: pl.DataFrame, column: str) -> ChartSeries:
    """Draws the packets of one kind as marks."""
    rows = rows.sort("created_s")
    return ChartSeries(label, look, rows["created_s"].to_list(), rows[column].to_list(), is_marks=True)
