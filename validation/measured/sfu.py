"""Named cases for servers that forward media: `python -m validation sfu` measures them.

Each case is a small scenario: three people at a server, one path or publisher with a known trouble. The report has the
changes of layer of the troubled picture, its frozen time, and the time of its recovery. Nothing is tuned to a case.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fairwave
from fairwave import Results, Scenario
from fairwave.measuring.statistics import interval
from validation import ROOT, kept, writing

KEPT = "measured/sfu"
SEEDS = 5
SECONDS = 90
BACK = 40
"""When the path is back, s, in the case of a suspension."""


@dataclass(frozen=True)
class Case:
    """A trouble that a server has to cope with.

    Attributes:
        name: Of the case.
        what: Description in a sentence.
        scenario: Three people; the report shows ben's view.
        sender: The person in the reported picture.
        back: When the trouble ends, s; None for one that lasts.
    """

    name: str
    what: str
    scenario: Scenario
    sender: str = "ann"
    back: int | None = None


def meeting(
    links: Mapping[str, Mapping[str, Any]], event: Sequence[Mapping[str, Any]] = (), **server: Any
) -> Scenario:
    """Ann, ben and cho at a server, all with 20 Mb/s each way and 15 ms, unless `links` differs."""
    ends = {
        name: {"rate": "20 Mb/s", "delay": "15 ms"} | dict(links.get(name, {}))
        for name in ("ann", "ben", "cho")
    }
    return fairwave.Scenario.from_dict(
        {
            "name": "a named case of a server",
            "duration": f"{SECONDS} s",
            "call": [{"name": "team", "participants": list(ends), "server": {"node": "sfu", **server}}],
            "link": [{"from": name, "to": "sfu", **link} for name, link in ends.items()],
            "event": list(event),
        }
    )


def rows(results: Results, table: str) -> Any:
    """A table with plain texts."""
    import polars as pl

    return results.to_polars(table).with_columns(pl.col(pl.Categorical).cast(pl.String))


def lowest() -> float:
    """Rate of both lowest layers and of speech to ben, b/s, whole packets, measured on wide paths."""
    sent = rows(meeting({}).run(1), "media_outbound").filter(time_s=SECONDS - 1.0)
    rate = 0.0
    for one in ("ann", "cho"):
        up = sent.filter(group=f"team-{one}-to-sfu", encoding=0)
        bytes_ = up["bytes_sent"].sum() + up["header_bytes_sent"].sum() + 28 * up["packets_sent"].sum()
        rate += 8 * bytes_ / (SECONDS - 1)
    return float(rate)


def cases() -> list[Case]:
    """All of them."""
    least = lowest()

    def fixed(share: float) -> dict[str, Any]:
        return {"control": {"name": "fixed", "rate": f"{round(share * least)} b/s"}}

    def narrow(share: float) -> dict[str, Any]:
        return {"ben": {"reverse": {"rate": f"{round(share * least)} b/s"}}}

    down = [
        {"at": f"{BACK - 10} s", "link": "sfu>ben", "state": "down"},
        {"at": f"{BACK} s", "link": "sfu>ben", "state": "up"},
    ]
    lossy = {"ann": {"loss": {"model": "bernoulli", "rate": 0.05}, "reverse": {"loss": {"model": "none"}}}}
    return [
        Case(
            "above", "The estimate is fixed 20 % above what both lowest layers take", meeting({}, **fixed(1.2)),
            "cho",
        ),
        Case("below", "The estimate is fixed 5 % below it", meeting({}, **fixed(0.95)), "cho"),
        Case("path-above", "The path carries 20 % more than both lowest layers take", meeting(narrow(1.2)), "cho"),
        Case("path-below", "The path carries 5 % less", meeting(narrow(0.95)), "cho"),
        Case(
            "suspension", "A path of 4 Mb/s carries nothing for 10 s",
            meeting({"ben": {"reverse": {"rate": "4 Mb/s"}}}, down), back=BACK,
        ),
        Case("lossy-publisher", "The publisher's path loses 5 % of packets", meeting(lossy)),
        Case(
            "probes-at-capacity", "The path carries 3 Mb/s, and both pictures want 4: probes meet a full path",
            meeting({"ben": {"reverse": {"rate": "3 Mb/s"}}}),
        ),
    ]  # fmt: skip


def recovered(case: Case, results: Results) -> list[tuple[float, float]]:
    """For each run, seconds from the end of the trouble until pictures move, and until they are as large as before."""
    import polars as pl

    assert case.back is not None
    inbound = rows(results, "media_inbound").filter(group=f"team-{case.sender}-to-ben", stream="video")
    found = []
    for run in sorted(set(inbound["run"])):
        of = inbound.filter(run=run).sort("time_s")
        before = of.filter(pl.col("time_s") <= case.back - 11)["frame_height"].max()
        after = of.filter(pl.col("time_s") > case.back)
        shown = after["frames_rendered"].to_list()
        times, heights = after["time_s"].to_list(), after["frame_height"].to_list()
        first = of.filter(pl.col("time_s") <= case.back)["frames_rendered"].max()
        moves = next(
            (at for at, frames in zip(times, shown, strict=True) if frames > first + 5), float("inf")
        )
        large = next(
            (at for at, high in zip(times, heights, strict=True) if at >= moves and high >= before),
            float("inf"),
        )
        found.append((moves - case.back, large - case.back))
    return found


def measured(case: Case) -> dict[str, Any]:
    """The report of a case: means over runs with half widths of 95 % intervals."""
    results = case.scenario.replicate(SEEDS)
    group = f"team-{case.sender}-to-ben"
    found: dict[str, Any] = {"name": case.name, "what": case.what, "picture": f"{case.sender}'s at ben"}
    for name, column in (
        ("layer switches a minute", "switches_per_min"),
        ("seconds without video", "without_s"),
        ("longest, s", "longest_without_s"),
        ("height, pixels", "height"),
    ):
        of = interval(rows(results, "media").filter(group=group, stream="video")[column].to_numpy())
        found[name] = [of.mean, of.high - of.mean]
    if case.back is not None:
        times = recovered(case, results)
        for name, place in (("until it moves, s", 0), ("until it is as large as before, s", 1)):
            found[name] = [max(one[place] for one in times)]
    return found


ASKED = {"five": 300, "fifty": 20, "fifty in a gallery": 20}
"""How many times faster than life conferences are to run."""


def speed() -> dict[str, float]:
    """Simulated seconds for each second of CPU time, the best of three runs."""

    def crowd(rate: str, camera: str) -> Scenario:
        names = [f"p{place}" for place in range(50)]
        call = {
            "name": "all",
            "participants": names,
            "server": {"node": "sfu"},
            "media": {"video": {"most": camera}},
        }
        links = [{"from": one, "to": "sfu", "rate": rate, "delay": "15 ms"} for one in names]
        return fairwave.Scenario.from_dict(
            {"name": "fifty", "duration": "20 s", "call": [call], "link": links}
        )

    lines = {
        "five": fairwave.load(ROOT / "examples" / "conference.toml"),
        "fifty": crowd("20 Mb/s", "2.5 Mb/s"),
        "fifty in a gallery": crowd("4 Mb/s", "700 kb/s"),
    }
    found = {}
    for name, scenario in lines.items():
        simulated = scenario.plan(1)["duration_s"]
        spent = []
        for _ in range(3):
            began = time.process_time()
            scenario.run(1)
            spent.append(time.process_time() - began)
        found[name] = simulated / min(spent)
    return found


def speed_in_words(found: Mapping[str, float]) -> str:
    """What `speed` measured, as Markdown."""
    said = {
        "five": "`examples/conference.toml`",
        "fifty": "50 people on 20 Mb/s, 9 cameras of up to 2.5 Mb/s for each",
        "fifty in a gallery": "50 people on 4 Mb/s, 9 cameras of up to 700 kb/s for each",
    }
    lines = ["| conference | times faster than life | aim | |", "|---|---|---|---|"]
    for name, value in found.items():
        met = "met" if value >= ASKED[name] else "missed"
        lines.append(f"| {said[name]} | {value:.3g} | {ASKED[name]} | {met} |")
    return "\n".join(["Speed, simulated seconds for each second of CPU time of one core:", "", *lines])


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """The report as Markdown."""
    columns = ("layer switches a minute", "seconds without video", "longest, s", "height, pixels")
    lines = [f"| case | picture | {' | '.join(columns)} |", f"|---|---|{'---|' * len(columns)}"]
    for one in found:
        cells = [" ± ".join(f"{value:.3g}" for value in one[column]) for column in columns]
        lines.append(f"| {one['what']} | {one['picture']} | {' | '.join(cells)} |")
    text = [f"{SEEDS} runs of {SECONDS} s each; ± is the half width of a 95 % interval.", "", *lines]
    for one in found:
        if "until it moves, s" in one:
            moves, large = (
                one[name][0] for name in ("until it moves, s", "until it is as large as before, s")
            )
            said = (
                f"After the suspension the picture moves within {moves:.0f} s and is as large as before within "
                f"{large:.0f} s (the slowest run, by samples of 1 s)."
            )
            text += ["", said]
    return "\n".join(text)


def main() -> int:
    """Runs all cases, prints the report and keeps the numbers."""
    writing.parser(__doc__).parse_args()
    kept.write(KEPT, {"cases": [measured(case) for case in cases()], "speed": speed()})
    print(render(ROOT))
    return 0


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    found = kept.read(KEPT)
    return f"# Named cases of conferences\n\n{table(found['cases'])}\n\n{speed_in_words(found['speed'])}\n"
