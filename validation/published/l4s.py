"""CUBIC and Prague in pairs: a laboratory's measurements of Linux compared with fairwave.

**Measurements.** `validation/published/l4s.csv` holds the table of scenario 1 of Pete Heist and Jonathan Morton, *L4S
tests* (`heistp/l4s-tests` on GitHub). They measured Linux of the L4S team as of 4 August 2020 (`L4STeam/linux`,
b256daedc767) in network namespaces. `htb` shapes one bottleneck. Two flows run for three minutes, and the last minute
counts. Each pair was measured once, in either order of starting.

**Settings.** The bottleneck sends 1500 bytes of IP in the time that `htb` takes for the 1514 bytes of Ethernet. Queues
have the sizes and defaults of Linux. Flows have the preset `linux` and start 50 to 150 ms apart, drawn by the seed.
The last third counts. The Prague of 2020 depended on its round trip, so it runs with `rtt-virtual = "0 s"`; *current
Prague* runs without that setting. CUBIC does not ask for marks here; the laboratory does not mention whether its CUBIC
did.

**Margin.** A pair is *alike* if the share of the first flow is within 0.1 of the laboratory's, or between its two
measurements. This was fixed after a look at a dozen rows at most, and nothing was tuned to the table. A third verdict
came later: other pairs are within *chance* if the laboratory's single run is in the range of 95 % of single runs here.
`validation/published/l4s.toml` gives the reasons for all others. The run fails if a reason is missing or not needed.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomllib

import fairwave
from validation import kept, writing
from validation.verdict import Estimate

MEASURED = Path(__file__).with_name("l4s.csv")
REASONS = Path(__file__).with_name("l4s.toml")
KEPT = "published/l4s"

#: Shares that differ by no more are alike.
MARGIN = 0.1
SECONDS = 180
ETHERNET = 14
PACKET = 1500

#: Controller and round trip in milliseconds.
End = tuple[str, int]


@dataclass(frozen=True)
class Row:
    """Two flows at one bottleneck; ``measured`` are the laboratory's goodputs of both, Mb/s, a pair for each order."""

    rate_mbps: int
    queue: str
    first: End
    second: End
    measured: tuple[tuple[float, float], ...]

    @property
    def shares(self) -> list[float]:
        """The first flow's share of the goodput, one per measurement."""
        return [one / (one + other) for one, other in self.measured]

    @property
    def key(self) -> str:
        """Its name where reasons are given."""
        ends = " : ".join(f"{name} {rtt}" for name, rtt in (self.first, self.second))
        return f"{self.rate_mbps} {self.queue}, {ends}"


def rows() -> list[Row]:
    """The laboratory's table: pairs whichever started first are one row."""
    found: dict[tuple[int, str, End, End], list[tuple[float, float]]] = {}
    with MEASURED.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            ends = [(line[f"controller_{i}"], int(line[f"rtt_{i}_ms"])) for i in (1, 2)]
            goodputs = [float(line[f"goodput_{i}_mbps"]) for i in (1, 2)]
            if ends[1] < ends[0]:
                ends.reverse()
                goodputs.reverse()
            key = (int(line["rate_mbps"]), line["queue"], ends[0], ends[1])
            found.setdefault(key, []).append((goodputs[0], goodputs[1]))
    order = {"dualpi2": 0, "pfifo": 1, "fq_codel": 2}
    keys = sorted(found, key=lambda key: (-key[0], order[key[1]], key[3][1], key[2], key[3]))
    return [Row(*key, tuple(found[key])) for key in keys]


def scenario(row: Row, today: bool) -> fairwave.Scenario:
    """The row's scenario, with the current Prague or with Prague of 2020."""
    queue: dict[str, Any] = {
        "dualpi2": {"discipline": "dualpi2", "capacity": {"packets": 10_000}},
        "pfifo": {"discipline": "drop-tail", "capacity": {"packets": 1000 if row.rate_mbps == 50 else 200}},
        "fq_codel": {"discipline": "fq-codel", "capacity": {"packets": 10_240}},
    }[row.queue]
    rate = row.rate_mbps * 1e6 * PACKET / (PACKET + ETHERNET)
    links: list[dict[str, Any]] = [
        {"from": "r1", "to": "r2", "rate": f"{rate:.0f} b/s", "delay": "1 ms", "queue": queue}
    ]
    flows = []
    for place, (name, rtt) in enumerate((row.first, row.second)):
        links += [
            {"from": f"s{place}", "to": "r1", "rate": "1 Gb/s", "delay": f"{rtt / 2 - 1.01:g} ms"},
            {"from": "r2", "to": f"d{place}", "rate": "1 Gb/s", "delay": "10 us"},
        ]
        transport = {"name": f"tcp/{name}", "preset": "linux"}
        if name == "prague" and not today:
            transport["rtt-virtual"] = "0 s"
        flows.append(
            {
                "name": f"flow{place}",
                "from": f"s{place}",
                "to": f"d{place}",
                "transport": transport,
                "traffic": "bulk",
                "start": "0 s" if place == 0 else {"from": "50 ms", "to": "150 ms"},
            }
        )
    return fairwave.Scenario.from_dict(
        {
            "name": "l4s",
            "duration": f"{SECONDS} s",
            "warmup": f"{2 * SECONDS // 3} s",
            "link": links,
            "flow": flows,
        }
    )


@dataclass(frozen=True)
class Outcome:
    """A row and its results: the goodputs' means over seeds, Mb/s, and the first flow's share."""

    row: Row
    goodputs: tuple[float, float]
    share: Estimate
    today: Estimate | None
    """The share with the current Prague, if the row has Prague."""

    @property
    def alike(self) -> bool:
        """Within the margin of the laboratory's share, or between its two."""
        shares = self.row.shares
        return min(shares) - MARGIN <= self.share.mean <= max(shares) + MARGIN

    @property
    def word(self) -> str:
        """`alike`, `chance` or `off`."""
        if self.alike:
            return "alike"
        # A single run's deviation is the mean's deviation times the root of the number of runs.
        single = self.share.half * math.sqrt(self.share.count + 1)
        near = any(abs(share - self.share.mean) <= single for share in self.row.shares)
        return "chance" if near else "off"


def run(row: Row, seeds: Sequence[int], threads: int | None = None) -> Outcome:
    """Runs the row under these seeds."""

    def goodputs(today: bool) -> list[tuple[float, float]]:
        flows = scenario(row, today).replicate(seeds=list(seeds), threads=threads).flows.to_pylist()
        by_run: dict[int, dict[str, float]] = {}
        for flow in flows:
            by_run.setdefault(flow["run"], {})[flow["group"]] = flow["goodput_bps"] / 1e6
        return [(one["flow0"], one["flow1"]) for one in by_run.values()]

    def share(pairs: list[tuple[float, float]]) -> Estimate:
        return Estimate.from_values([one / (one + other) for one, other in pairs])

    then = goodputs(today=False)
    matters = row.queue == "dualpi2" and any(name == "prague" for name, _ in (row.first, row.second))
    means = tuple(sum(column) / len(then) for column in zip(*then, strict=True))
    return Outcome(row, (means[0], means[1]), share(then), share(goodputs(today=True)) if matters else None)


def reasons() -> dict[str, str]:
    """Why rows are not alike, by key."""
    if not REASONS.is_file():
        return {}
    table = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return {key: entry["why"] for entry in table.get("reason", []) for key in entry["rows"]}


def page(outcomes: Sequence[Outcome], seeds: int) -> str:
    """The report."""
    return "\n".join(_lines(outcomes, seeds)).rstrip() + "\n"


SYMBOLS = {"alike": "✓", "chance": "?", "off": "✗"}


def _lines(outcomes: Sequence[Outcome], seeds: int) -> Iterator[str]:
    count = Counter(one.word for one in outcomes)
    about = (__doc__ or "").split("\n\n", 1)
    yield "# Comparison with an L4S laboratory: CUBIC and Prague"
    yield ""
    yield (
        f"**Of {len(outcomes)} pairs of flows, {count['alike']} share the link as the laboratory measured,"
        f" {count['chance']} differ within chance, and {count['off']} differ.** Each pair ran under {seeds} seeds;"
        " intervals have 95 %."
    )
    yield ""
    yield "`make validate` measured the numbers of this page."
    yield ""
    yield "![Share of the first flow, measured and simulated](figures/l4s.png)"
    yield ""
    yield "## Verdicts"
    yield ""
    yield f"✓ alike: the shares differ by at most {MARGIN}. ? within chance. ✗ differs. – not measured."
    yield ""
    places = list(dict.fromkeys((one.row.queue, one.row.rate_mbps) for one in outcomes))
    by_pair: dict[str, dict[tuple[str, int], str]] = {}
    for one in outcomes:
        by_pair.setdefault(_pair(one.row), {})[one.row.queue, one.row.rate_mbps] = SYMBOLS[one.word]
    yield "| pair (round trips) | " + " | ".join(f"{queue}, {rate} Mb/s" for queue, rate in places) + " |"
    yield "|---" * (len(places) + 1) + "|"
    for pair, found in by_pair.items():
        yield f"| {pair} | " + " | ".join(found.get(place, "–") for place in places) + " |"
    yield ""
    yield from _explain_differences(outcomes)
    yield "## Method and all numbers"
    yield ""
    method = about[1].rstrip().splitlines()
    yield from writing.folded("Measurements, settings and margin", method)
    for queue, rate in places:
        chosen = [one for one in outcomes if (one.row.queue, one.row.rate_mbps) == (queue, rate)]
        yield from writing.folded(f"{queue}, {rate} Mb/s", _table(chosen))


def _pair(row: Row) -> str:
    first, second = (f"{name} ({rtt} ms)" for name, rtt in (row.first, row.second))
    return f"{first} : {second}"


def _explain_differences(outcomes: Sequence[Outcome]) -> Iterator[str]:
    known = reasons()
    by_reason: dict[str, list[str]] = {}
    for one in outcomes:
        if one.word == "off":
            by_reason.setdefault(known.get(one.row.key, "**No reason yet.**"), []).append(one.row.key)
    if by_reason:
        yield "## Differences and their reasons"
        yield ""
        for why, keys in by_reason.items():
            yield f"- {'; '.join(f'`{key}`' for key in keys)}: {why}"
        yield ""


def _table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    current = any(one.today for one in outcomes)
    yield (
        "| first : second (round trip) | Linux, Mb/s | fairwave, Mb/s | share of the first: Linux | fairwave |"
        + (" current Prague |" if current else "")
        + " verdict |"
    )
    yield "|---" * (7 if current else 6) + "|"
    for one in outcomes:
        cells = [
            _pair(one.row),
            ", ".join(f"{a:.1f} : {b:.1f}" for a, b in one.row.measured),
            f"{one.goodputs[0]:.1f} : {one.goodputs[1]:.1f}",
            ", ".join(f"{share:.2f}" for share in one.row.shares),
            f"{one.share.mean:.2f} ± {one.share.half:.2f}",
            *([f"{one.today.mean:.2f} ± {one.today.half:.2f}" if one.today else "–"] if current else []),
            "**off**" if one.word == "off" else one.word,
        ]
        yield "| " + " | ".join(cells) + " |"


def stored(found: Sequence[dict[str, Any]]) -> list[Outcome]:
    """The kept outcomes."""

    def outcome(one: dict[str, Any]) -> Outcome:
        row = one["row"]
        (first, first_rtt), (second, second_rtt) = row["first"], row["second"]
        measured = tuple((a, b) for a, b in row["measured"])
        today = one["today"] and Estimate(**one["today"])
        found = Row(row["rate_mbps"], row["queue"], (first, first_rtt), (second, second_rtt), measured)
        return Outcome(found, (one["goodputs"][0], one["goodputs"][1]), Estimate(**one["share"]), today)

    return [outcome(one) for one in found]


def figure(outcomes: Sequence[Outcome], target: Path) -> None:
    """Measured and simulated shares, a point for each pair."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    canvas, axes = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
    marks = {"dualpi2": "o", "pfifo": "s", "fq_codel": "^"}
    for queue, mark in marks.items():
        for rate, fill in ((50, True), (10, False)):
            chosen = [one for one in outcomes if one.row.queue == queue and one.row.rate_mbps == rate]
            if chosen:
                points = axes.plot(
                    [sum(one.row.shares) / len(one.row.shares) for one in chosen],
                    [one.share.mean for one in chosen],
                    mark,
                    label=f"{queue}, {rate} Mb/s",
                    color={"dualpi2": "C0", "pfifo": "C1", "fq_codel": "C2"}[queue],
                )
                if not fill:
                    points[0].set_markerfacecolor("none")
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    axes.fill_between([0, 1], [-MARGIN, 1 - MARGIN], [MARGIN, 1 + MARGIN], color="0.9", zorder=0)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="share of the first flow, Linux", ylabel="fairwave")
    axes.legend(fontsize="small", loc="upper left")
    target.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(target, dpi=110)
    plt.close(canvas)


def problems(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Rows that are not alike without a reason, and reasons that no row needs."""
    known = reasons()
    off = {one.row.key for one in outcomes if one.word == "off"}
    yield from (f"no reason in validation/published/l4s.toml: {key}" for key in sorted(off - known.keys()))
    yield from (f"needs no reason any more: {key}" for key in sorted(known.keys() - off))


def renew(seeds: int = 5, threads: int | None = None) -> int:
    """Runs the table and keeps the numbers; how many rows lack a reason, or have one that they do not need."""
    outcomes = []
    for row in rows():
        outcomes.append(run(row, range(1, seeds + 1), threads))
        print(f"l4s/{row.key}: {outcomes[-1].word}", flush=True)
    kept.write(KEPT, [{**asdict(one), "word": one.word} for one in outcomes])
    return report_problems(outcomes)


def report_problems(outcomes: Sequence[Outcome]) -> int:
    """Prints which rows lack a reason, or have one that they do not need; how many there are."""
    found = list(problems(outcomes))
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{sum(one.alike for one in outcomes)} of {len(outcomes)} alike")
    return len(found)


def render(folder: Path) -> str:
    """Renders the page and its picture from the kept numbers."""
    outcomes = stored(kept.read(KEPT))
    figure(outcomes, folder / "figures" / "l4s.png")
    return page(outcomes, outcomes[0].share.count)
