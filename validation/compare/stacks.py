"""Foreign stacks compared with fairwave's: `python -m validation stacks --out FOLDER`.

Each comparison is a folder: ``setup.md`` (question, margin, verdict), one scenario per alternative, its tables as CSV,
the qlog of its senders, and a figure. `results.json` has all numbers.

Margins were fixed before the first run. Nothing was tuned to a comparison.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

import fairwave
from fairwave import Results, Scenario, capturing
from validation import ROOT, kept

EXAMPLE = ROOT / "examples" / "stacks" / "quinn-beside-call.toml"
KEPT = "compare/stacks"
ABOUT = """`python -m validation stacks --out out/stacks` makes a folder for each comparison: set-up, margin
and verdict, scenarios, tables, qlog and figure. Margins were fixed before the first run. Each comparison
has three seeds. If alternatives differ, the text compares them with their sources."""
WHYS = Path(__file__).with_suffix(".toml")
SEEDS = 3

QUINN, STR0M = "quic/quinn", "webrtc/str0m"
BULK = {"ours": "tcp/cubic", "quinn": QUINN}
CALLS = {
    "ours": {"name": "webrtc", "start": "300 kb/s"},
    "goog_cc": {"name": "webrtc", "start": "300 kb/s", "control": "goog-cc"},
    "goog_cc as libwebrtc sets it": {
        "name": "webrtc",
        "start": "300 kb/s",
        "control": {"name": "goog-cc", "constants": "libwebrtc"},
        "pacing": 1.1,
    },
    "str0m": {"name": STR0M, "start": "300 kb/s"},
    "str0m without its smoother": {"name": STR0M, "start": "300 kb/s", "estimate": "statistics"},
}

Measured = dict[str, float]

FASTER = "times faster than life"
"""Simulated seconds for each second of CPU time; every comparison has it."""


@dataclass(frozen=True)
class Comparison:
    """Alternatives on the same path.

    Attributes:
        name: Folder and figure.
        question: The subject of the comparison, in a sentence.
        margin: The allowed difference, in words, fixed before the first run.
        scenarios: Each alternative.
        measure: Numbers of a run.
        alike: Whether the means of all alternatives are within the margin.
        drawn: Kind of series that the figure shows, its name on the axis, and a factor; None for no figure.
        capacity: Steps of the path's capacity, seconds and Mb/s: one figure has it and all estimates.
    """

    name: str
    question: str
    margin: str
    scenarios: Mapping[str, Scenario]
    measure: Callable[[Results], Measured]
    alike: Callable[[Mapping[str, Measured]], bool]
    drawn: tuple[str, str, float] | None
    capacity: Sequence[tuple[float, float]] = ()


def path(
    rate: str | list[dict[str, str]],
    milliseconds: float,
    queue: Mapping[str, Any],
    flows: Sequence[Any],
    seconds: int,
    **link: Any,
) -> Scenario:
    """Flows over one bottleneck with half of the round trip each way."""
    record = {
        "bin": "500 ms",
        "queues": ["a>b"],
        "goodput": ["*"],
        "windows": ["*"],
        "window-interval": "100 ms",
    }
    line = {"from": "a", "to": "b", "rate": rate, "delay": f"{milliseconds / 2:g} ms", "queue": queue, **link}
    return fairwave.Scenario.from_dict(
        {
            "name": "stacks",
            "duration": f"{seconds} s",
            "preset": "rfc",
            "link": [line],
            "flow": list(flows),
            "record": record,
        }
    )


def flow(name: str, transport: Any, traffic: Any = "bulk", **more: Any) -> dict[str, Any]:
    """A flow from a to b."""
    return {"name": name, "from": "a", "to": "b", "transport": transport, "traffic": traffic, **more}


def room(kilobytes: float, discipline: str = "drop-tail") -> dict[str, Any]:
    """A queue with this capacity."""
    return {"discipline": discipline, "capacity": {"bytes": round(kilobytes * 1000)}}


def rows(results: Results, table: str) -> Any:
    """A table with plain texts."""
    import polars as pl

    return results.to_polars(table).with_columns(pl.col(pl.Categorical).cast(pl.String))


def mean(results: Results, measure: str, group: str | None = None) -> float:
    """Mean of a measure over all replications."""
    values = (
        rows(results, "groups").filter(group=group) if group else rows(results, "links").filter(link="a>b")
    )
    return float(values[measure].drop_nulls().mean() or 0.0)


def alone(results: Results) -> Measured:
    """A bulk flow without others."""
    return {
        "goodput, Mb/s": mean(results, "goodput_bps", "bulk") / 1e6,
        "queueing delay, ms": 1e3 * mean(results, "mean_wait_s"),
        "discarded, %": 100 * mean(results, "drop_rate"),
    }


def shares(results: Results) -> Measured:
    """Two bulk flows in one queue."""
    first, second = (mean(results, "goodput_bps", name) for name in ("ours", "other"))
    return {
        "ours, Mb/s": first / 1e6,
        "other, Mb/s": second / 1e6,
        "share of ours": first / max(1.0, first + second),
        "queueing delay, ms": 1e3 * mean(results, "mean_wait_s"),
    }


def session(results: Results) -> Measured:
    """A media session, without its first ten seconds."""
    import polars as pl

    late = rows(results, "media_transport").filter(pl.col("time_s") > 10)
    series = rows(results, "series").filter(
        (pl.col("kind") == "goodput_bps") & (pl.col("time_s") > 10) & pl.col("name").str.starts_with("call")
    )
    return {
        "estimate, Mb/s": float(late["available_bps"].mean() or 0.0) / 1e6,
        "goodput, Mb/s": float(series["value"].mean() or 0.0) / 1e6,
        "queueing delay, ms": 1e3 * mean(results, "mean_wait_s"),
        "discarded, %": 100 * mean(results, "drop_rate"),
    }


def check_alike(name: str, relative: float) -> Callable[[Mapping[str, Measured]], bool]:
    """All alternatives are within this part of the largest."""

    def alike(measured: Mapping[str, Measured]) -> bool:
        values = [one[name] for one in measured.values()]
        return min(values) >= (1 - relative) * max(values)

    return alike


def even(measured: Mapping[str, Measured]) -> bool:
    """Each pair shares the link two to three at worst."""
    return all(0.4 <= one["share of ours"] <= 0.6 for one in measured.values())


def camera(most: str) -> dict[str, Any]:
    """Video alone, to this rate."""
    return {"kind": "media", "audio": False, "video": {"most": most}}


def comparisons() -> list[Comparison]:
    """All of them."""
    queues = {"a BDP": room(50), "4 BDP": room(200), "fq-codel": room(200, "fq-codel")}
    window, rate = ("window", "window, segments", 1.0), ("goodput_bps", "goodput, Mb/s", 1e-6)
    controls = {"CUBIC": QUINN, "NewReno": {"name": QUINN, "control": "new-reno"}}
    ours = {"CUBIC": "tcp/cubic", "NewReno": {"name": "tcp/sack", "preset": "linux"}}
    found = [
        Comparison(
            f"alone-{name.lower()}",
            f"{name} alone on 10 Mb/s with 40 ms and a buffer of one BDP: fairwave's TCP and quinn's QUIC",
            "goodput within 5 %",
            {
                "ours": path("10 Mb/s", 40, room(50), [flow("bulk", ours[name])], 60),
                "quinn": path("10 Mb/s", 40, room(50), [flow("bulk", controls[name])], 60),
            },
            alone,
            check_alike("goodput, Mb/s", 0.05),
            window,
        )
        for name in controls
    ]
    found += [
        Comparison(
            "share-cubic",
            "Two flows in one queue of 10 Mb/s and 40 ms: fairwave's CUBIC next to quinn's, by queue",
            "either has 40 % to 60 %",
            {
                name: path("10 Mb/s", 40, queue, [flow("ours", "tcp/cubic"), flow("other", QUINN)], 120)
                for name, queue in queues.items()
            },
            shares,
            even,
            rate,
        ),
        Comparison(
            "call-5-mbps",
            "A camera of up to 10 Mb/s on 5 Mb/s, 100 ms, a queue of 500 ms: our GCC, goog_cc's and str0m's estimation",
            "goodput within 20 %",
            {
                name: path("5 Mb/s", 100, room(312.5), [flow("call", one, camera("10 Mb/s"))], 120)
                for name, one in CALLS.items()
            },
            session,
            check_alike("goodput, Mb/s", 0.2),
            rate,
            [(0, 5)],
        ),
        Comparison(
            "rfc8867-5-1",
            "RFC 8867 §5.1, variable capacity of 1, 2.5, 0.6 and 1 Mb/s: our GCC, goog_cc's and str0m's estimation",
            "goodput within 20 %",
            {
                name: path(
                    [{"at": f"{at} s", "is": f"{now} Mb/s"} for at, now in ((0, 1), (40, 2.5), (60, 0.6), (80, 1))],
                    100, room(37.5), [flow("call", one, camera("1.5 Mb/s"))], 100,
                )
                for name, one in CALLS.items()
            },
            session,
            check_alike("goodput, Mb/s", 0.2),
            rate,
            [(0, 1), (40, 2.5), (60, 0.6), (80, 1)],
        ),
    ]  # fmt: skip
    return [*found, *storyboards(), compare_call(), speed()]


def compare_call() -> Comparison:
    """The example: a call next to a quinn download, under two queues."""
    base = fairwave.load(EXAMPLE).with_overrides({"record.goodput": ["*"]})
    queues = {
        name: {"discipline": name, "capacity": {"bytes": 500_000}} for name in ("drop-tail", "fq-codel")
    }

    def call(results: Results) -> Measured:
        return {
            "MOS of the call": results.measured("mos", "call").interval().mean,
            "packets missed, %": results.measured("missed", "call").interval().mean,
            "mouth to ear, ms": results.measured("mouth-to-ear", "call").interval().mean,
            "download, Mb/s": results.measured("goodput", "download").interval().mean,
        }

    def alike(measured: Mapping[str, Measured]) -> bool:
        values = [one["MOS of the call"] for one in measured.values()]
        return max(values) - min(values) <= 0.2

    return Comparison(
        "beside-call",
        "A quinn download next to a call on a home line of 10 Mb/s, by queue",
        "the call's MOS within 0.2",
        {name: base.with_overrides({"link.isp>home.queue": queue}) for name, queue in queues.items()},
        call,
        alike,
        ("goodput_bps", "goodput, Mb/s", 1e-6),
    )


def speed() -> Comparison:
    """How fast sessions run: simulated seconds for each second of CPU time."""
    line = {
        name: path("3 Mb/s", 60, room(110), [flow("call", one, "media")], 60) for name, one in CALLS.items()
    }

    return Comparison(
        "speed",
        "A session of microphone and camera on 3 Mb/s for 60 s: simulated time for each second of CPU time",
        "each at least 50 times faster than life",
        line,
        lambda _: {},
        lambda measured: all(one[FASTER] >= 50 for one in measured.values()),
        None,
    )


BOARDS: Mapping[str, tuple[Any, float, float, str, str, float]] = {
    # Of str0m's tests/bwe: rate, round trip in ms, buffer in kB, sent and desired rate, minimum estimate in Mb/s.
    "underuse": ("10 Mb/s", 20, 200, "1 Mb/s", "10 Mb/s", 5.0),
    "stable": ("3 Mb/s", 40, 100, "2 Mb/s", "5 Mb/s", 2.0),
    "loss": ("5 Mb/s", 40, 100, "2 Mb/s", "5 Mb/s", 1.0),
}


def storyboards() -> list[Comparison]:
    """Storyboards of str0m's tests on fairwave's queues."""

    def board(name: str) -> Scenario:
        rate, trip, kilobytes, sent, desired, _ = BOARDS[name]
        media = {"kind": "media", "audio": False, "video": {"least": sent, "most": sent}}
        transport = {"name": STR0M, "start": sent, "desired": desired}
        loss = {"loss": {"model": "bernoulli", "rate": 0.1}} if name == "loss" else {}
        return path(rate, trip, room(kilobytes), [flow("call", transport, media)], 20, **loss)

    def last(results: Results) -> Measured:
        import polars as pl

        estimates = rows(results, "media_transport").filter(pl.col("time_s") > 11)
        return {"estimate at 12 s, Mb/s": float(estimates["available_bps"][0]) / 1e6, **session(results)}

    def holds(measured: Mapping[str, Measured]) -> bool:
        return all(one["estimate at 12 s, Mb/s"] >= BOARDS[name][-1] for name, one in measured.items())

    least = ", ".join(f"{name} {bound[-1]:g}" for name, bound in BOARDS.items())
    return [
        Comparison(
            "str0m-storyboards",
            "Three storyboards of str0m's tests/bwe on drop-tail queues that are bounded",
            f"str0m's own thresholds for the estimate, Mb/s: {least}",
            {name: board(name) for name in BOARDS},
            last,
            holds,
            ("goodput_bps", "goodput, Mb/s", 1e-6),
        )
    ]


def draw(comparison: Comparison, made: Mapping[str, Results], file: Path) -> None:
    """Each alternative's flows over time."""
    from matplotlib.figure import Figure

    if comparison.capacity:
        draw_together(comparison, made, file)
        return
    if comparison.drawn is None:
        return
    kind, label, factor = comparison.drawn
    figure = Figure(figsize=(8, 2.4 * len(made)), layout="constrained")
    axes = figure.subplots(len(made), 1, sharex=True, squeeze=False)
    for axis, (name, results) in zip(axes[:, 0], made.items(), strict=True):
        first = rows(results, "series").filter(kind=kind)
        if "run" in first.columns and first.height:
            first = first.filter(run=first["run"].min())
        for one in sorted(set(first["name"])):
            line = first.filter(name=one).sort("time_s")
            axis.plot(line["time_s"], factor * line["value"].to_numpy(), label=one, linewidth=1)
        axis.set(title=name, ylabel=label, ylim=(0, None))
        if axis.lines:
            axis.legend(loc="upper right", fontsize="small")
    axes[-1, 0].set_xlabel("time, s")
    figure.savefig(file, dpi=110)


def draw_together(comparison: Comparison, made: Mapping[str, Results], file: Path) -> None:
    """The estimates of all alternatives and the path's capacity in one set of axes, and the received rates below."""
    import polars as pl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    end = 0.0
    for name, results in made.items():
        seen = rows(results, "media_transport")
        seen = seen.filter(run=seen["run"].min()) if "run" in seen.columns else seen
        seen = seen.sort("time_s")
        end = max(end, float(seen["time_s"].max() or 0.0))
        above.plot(seen["time_s"], 1e-6 * seen["available_bps"].to_numpy(), label=name, linewidth=1.2)
        series = rows(results, "series").filter(pl.col("kind") == "goodput_bps")
        series = series.filter(run=series["run"].min()) if "run" in series.columns else series
        one = series.filter(name=series["name"][0]).sort("time_s")
        below.plot(one["time_s"], 1e-6 * one["value"].to_numpy(), label=name, linewidth=1.2)
    times = [at for at, _ in comparison.capacity] + [end]
    steps = [rate for _, rate in comparison.capacity]
    for axis, title in ((above, "estimate, Mb/s"), (below, "goodput, Mb/s")):
        axis.step(
            times,
            [*steps, steps[-1]],
            where="post",
            color="0.4",
            linestyle="--",
            linewidth=1,
            label="capacity",
        )
        axis.set(ylabel=title, ylim=(0, None))
    above.legend(loc="upper right", fontsize="small")
    below.set_xlabel("time, s")
    figure.savefig(file, dpi=110)


def carry_out(comparison: Comparison, out: Path) -> dict[str, Any]:
    """Runs a comparison and writes its folder."""
    folder = out / comparison.name
    folder.mkdir(parents=True, exist_ok=True)
    made, measured = {}, {}
    for name, scenario in comparison.scenarios.items():
        began = time.process_time()
        made[name] = scenario.replicate(SEEDS)
        cpu = time.process_time() - began
        simulated = SEEDS * scenario.plan(1)["duration_s"]
        measured[name] = comparison.measure(made[name]) | {FASTER: simulated / cpu}
    for name, results in made.items():
        place = folder / name.replace(" ", "-")
        place.mkdir(exist_ok=True)
        (place / "scenario.toml").write_text(comparison.scenarios[name].to_toml(), encoding="utf-8")
        capturing.qlog(comparison.scenarios[name], place)
        for table in ("flows", "groups", "links", "series", "media_transport"):
            if table in results.tables:
                rows(results, table).write_csv(place / f"{table}.csv")
    verdict = "alike" if comparison.alike(measured) else "differ"
    (folder / "setup.md").write_text(
        f"{comparison.question}.\n\nMargin: {comparison.margin}. Seeds 1 to {SEEDS}. Verdict: {verdict}.\n",
        encoding="utf-8",
    )
    draw(comparison, made, folder / "figure.png")
    return {
        "name": comparison.name,
        "question": comparison.question,
        "margin": comparison.margin,
        "verdict": verdict,
        "measured": measured,
    }


def explain(name: str) -> str:
    """The explanation of a verdict from the stack's source, written by hand with file and line."""
    whys = tomllib.loads(WHYS.read_text(encoding="utf-8")) if WHYS.exists() else {}
    return " ".join(str(whys.get(name, {}).get("why", "")).split())


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def table(result: Mapping[str, Any]) -> str:
    """A comparison as Markdown."""
    measured = result["measured"]
    columns = list(next(iter(measured.values())))
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    lines += [
        f"| {name} | {' | '.join(_number(one[column]) for column in columns)} |"
        for name, one in measured.items()
    ]
    return "\n".join(
        [
            f"## {result['question']}",
            "",
            f"Margin: {result['margin']}. Verdict: **{result['verdict']}**.",
            "",
            *lines,
            "",
            *([explained, ""] if (explained := explain(result["name"])) else []),
        ]
    )


def main() -> int:
    """Carries all comparisons out."""
    arguments = sys.argv[1:]
    out = Path(arguments[arguments.index("--out") + 1]) if "--out" in arguments else ROOT / "out" / "stacks"
    only = [one for one in arguments if not one.startswith("--") and one != str(out)]
    results = []
    for comparison in comparisons():
        if only and comparison.name not in only:
            continue
        results.append(carry_out(comparison, out))
        print(f"{comparison.name}: {results[-1]['verdict']}", json.dumps(results[-1]["measured"]), flush=True)
    (out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    if "--keep" in arguments:
        kept.write(KEPT, results)
    return 0


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    return "\n".join(["# Foreign stacks compared", "", ABOUT, "", *map(table, kept.read(KEPT))])
