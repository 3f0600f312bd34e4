"""RFC 7928: characterisation of a queue discipline, section by section.

The standard names scenarios and measures and requires a comparison with drop-tail. It sets no bounds. The bounds here
were fixed before any measurement: an active queue must halve the wait, keep nine tenths of drop-tail's goodput, and
leave no flow worse off than drop-tail does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.building import build, link
from fairwave.measuring import measures
from fairwave.measuring.measures import POSITIVE, RATIO, Measure
from fairwave.runs.axes import vary
from fairwave.runs.grid import Grid
from fairwave_evaluation.criterion import (
    Criterion,
    check_above_plus,
    check_above_share,
    check_below_plus,
    check_below_share,
)
from fairwave_evaluation.path import PACKET, Choice, bulk, mbps, ms, named, path, utilisation, wait
from fairwave_evaluation.trade_off import trade_off
from fairwave_study import texts
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.parts import Assumption
from fairwave_study.study import Study

if TYPE_CHECKING:
    import polars as pl

    from fairwave.results import Results
    from fairwave.scenario import Scenario
    from fairwave_study.parts import Data

WORDS = texts.notes(__file__, "discipline")
"""Bounds and captions, in `discipline.toml`."""

RATE = 10.0
"""Rate of the bottleneck, Mb/s."""

ROUND_TRIP = 100.0
"""Round trip of the empty path, ms: category I in §6.2."""

PRODUCT = round(RATE * 1e6 * ROUND_TRIP / 1e3 / 8 / PACKET)
"""Bandwidth-delay product in full packets; also the buffer (§3.2)."""

ROOM = 2 * PRODUCT
"""S of §8.2.1: bandwidth-delay product and buffer together, packets."""

LEVELS = {"mild": round(0.036 * ROOM), "medium": round(0.081 * ROOM), "heavy": round(0.114 * ROOM)}
"""Number of flows with which drop-tail loses 0.1, 0.5 and 1 % (§8.2.2–8.2.4)."""

AGGRESSIVE = "tcp/cubic"
"""A control that is more aggressive than the standard (§3.3)."""

BACKGROUND = "tcp/ledbat++"
"""A control for less than best effort (§3.3): LEDBAT's successor."""

STANDARD = "tcp/sack"
"""NewReno with selective acknowledgements (§3.3)."""

HALF, MOST, ALIKE = 0.5, 0.9, 1.1
"""Bounds relative to drop-tail: sufficiently low wait, sufficient goodput, acceptable completion time."""


def evaluate_discipline(choice: Choice, against: Choice | None = None) -> Study:
    """Returns the report on a queue discipline.

    Args:
        choice: The subject, as a scenario names a queue: a name, or a table with parameters. Register your own queue
            first.
        against: The queue for the comparison; drop-tail (CoDel for drop-tail itself) if None.

    Raises:
        fairwave.ScenarioError: The discipline does not exist, or its parameters are wrong.
    """
    subject = named(choice, "discipline")
    if against is None:
        against = "codel" if subject == "drop-tail" else "drop-tail"
    rival = named(against, "discipline")
    if rival == subject:
        rival = f"{rival} (compared with)"
    criteria = _DisciplineCriteria(subject, choice, rival, against).criteria()
    return Study(
        name=f"evaluate {subject}",
        command=f"fairwave evaluate --queue {subject}",
        title=f"{subject}, characterised as RFC 7928 asks",
        question=(
            f"What does {subject} do to flows that share a link? RFC 7928 lists the scenarios for a comparison of a "
            f"queue discipline with {rival}. Each criterion here is one of them, with a bound fixed before the runs "
            "and a verdict. "
            f"The link has {RATE:g} Mb/s, {ROUND_TRIP:g} ms of round trip and a buffer of {PRODUCT} packets where "
            "nothing else is said."
        ),
        grids=[one.grid for one in criteria],
        figures=[one.figure() for one in criteria],
        claims=[one.claim() for one in criteria],
        assumptions=NOT_EXAMINED,
        claims_are=("criterion", "criteria"),
    )


NOT_EXAMINED = (
    Assumption(
        "lines",
        "The lines are fairwave's own",
        "RFC 7928 names scenarios and measures, and gives no numbers to pass",
    ),
    Assumption("pages", "A page comes over one connection, not six", "RFC 7928 §7.2"),
    Assumption(
        "web",
        "What web pages ask for takes no room on the way up",
        "the laboratory's requests are no packets",
    ),
    Assumption("stability", "The control law is not analysed", "RFC 7928 §8.3: that is for its authors"),
    Assumption(
        "cost",
        "What it costs to build is not examined",
        "RFC 7928 §11; `make bench` has its cost per packet here",
    ),
    Assumption("operators", "Parameters are taken as they are given", "RFC 7928 §12"),
)
"""Questions that the report leaves out, with reasons."""


def _total() -> Measure:
    return measures.goodput()


def _less_over_more(first: str, second: str) -> Measure:
    """Returns the lower of two groups' goodputs over the higher."""

    def reduce(results: Results) -> pl.DataFrame:
        import polars as pl

        rows = results.to_polars("groups").with_columns(pl.col("group").cast(pl.String))
        each = rows.group_by("run", maintain_order=True).agg(
            pl.col("goodput_bps").filter(pl.col("group") == first).sum().alias("one"),
            pl.col("goodput_bps").filter(pl.col("group") == second).sum().alias("two"),
        )
        least, most = pl.min_horizontal("one", "two"), pl.max_horizontal("one", "two")
        return each.select("run", pl.when(most > 0).then(least / most).alias("value"))

    return Measure(
        "less_over_more", "lesser over greater goodput", "", reduce, "higher", table="groups", limits=RATIO
    )


def _waits(*links: str) -> Measure:
    """Returns the sum of the mean waits of several links."""

    def reduce(results: Results) -> pl.DataFrame:
        import polars as pl

        rows = results.to_polars("links").filter(pl.col("link").cast(pl.String).is_in(links))
        return rows.group_by("run", maintain_order=True).agg(
            (pl.col("mean_wait_s").sum() * 1e3).alias("value")
        )

    return Measure("waits", "mean waits together", "ms", reduce, "lower", table="links", limits=POSITIVE)


class _DisciplineCriteria:
    """The criteria for one discipline and its rival."""

    def __init__(self, subject: str, choice: Choice, rival: str, against: Choice) -> None:
        self.subject, self.choice, self.rival, self.against = subject, choice, rival, against

    def criteria(self) -> list[Criterion]:
        """Returns all criteria, in the standard's order."""
        return [
            self.friendly(),
            self.initial_windows(),
            self.aggressive(),
            self.unresponsive(),
            self.unresponsive_mix(),
            self.less_than_best_effort(),
            self.round_trips(),
            self.bursts(),
            self.levels(),
            self.varying_congestion(),
            self.varying_capacity(),
            self.mix(),
            self.two_way_traffic(),
            self.serial_bottlenecks(),
        ]

    def queues(
        self, key: str = "topology.bottleneck.queue", packets: int = PRODUCT
    ) -> dict[str, dict[str, Any]]:
        """Returns the axis of disciplines: the subject and its rival, at the bottleneck."""

        def table(choice: Choice) -> dict[str, Any]:
            chosen = {"discipline": choice} if isinstance(choice, str) else dict(choice)
            return {"capacity": {"packets": packets}, **chosen}

        return {self.subject: {key: table(self.choice)}, self.rival: {key: table(self.against)}}

    def path(self, name: str, flows: list[Any], **more: Any) -> Scenario:
        """Returns the common path with the standard's numbers."""
        return path(
            name, flows, **{"rate": RATE, "round_trip_ms": ROUND_TRIP, "buffer": {"packets": PRODUCT}, **more}
        )

    def grid(self, name: str, base: Scenario, **axes: Any) -> Grid:
        """Returns a grid of both disciplines along further axes."""
        return Grid(name, base, {**axes, "queue": self.queues()})

    def check_least(self, data: Data, measure: Measure, grid: str, share: float) -> Evidence:
        """Checks that the measure is at least this share of the rival's."""
        return check_above_share(data.measured(measure, grid), self.subject, self.rival, "queue", share)

    def check_most(self, data: Data, measure: Measure, grid: str, share: float) -> Evidence:
        """Checks that the measure is at most this multiple of the rival's."""
        return check_below_share(data.measured(measure, grid), self.subject, self.rival, "queue", share)

    def halved(
        self, name: str, section: str, title: str, grid: Grid, along: str = "", caption: str = ""
    ) -> Criterion:
        """Criterion: the wait is halved, and nine tenths of the goodput are kept."""
        return Criterion(
            name,
            section,
            title,
            WORDS.fill("halved", rival=self.rival, most=MOST),
            grid,
            lambda data: (
                self.check_most(data, wait(), name, HALF) & self.check_least(data, _total(), name, MOST)
            ),
            [wait(), _total()],
            along or "queue",
            series="queue",
            caption=caption,
            draw=trade_off(name, wait(), _total(), "queue", along),
        )

    def friendly(self) -> Criterion:
        """TCP-friendly load: one flow of NewReno."""
        base = self.path(
            "one standard flow", [bulk("flow", {"name": STANDARD, "initial-window": 3})], duration_s=90
        )
        return self.halved(
            "friendly", "RFC 7928 §5.1.1", "A TCP-friendly sender", self.grid("friendly", base)
        )

    def initial_windows(self) -> Criterion:
        """A file with an initial window of 3 or 10 next to a long flow."""
        done = measures.completion_median("file")
        base = self.path(
            "initial windows",
            [
                bulk("long", STANDARD),
                {
                    "name": "file",
                    "count": 5,
                    "transport": {"name": STANDARD, "initial-window": 3},
                    "traffic": {"kind": "transfer", "size": "50 kB"},
                    "arrivals": "1 per s",
                    "start": "20 s",
                },
            ],
            duration_s=80,
        )
        return Criterion(
            "initial-windows",
            "RFC 7928 §5.1.2",
            "Files of fifty packets",
            WORDS.fill("initial-windows", alike=ALIKE, rival=self.rival),
            self.grid("initial-windows", base, window=vary("flow.file.transport.initial-window", (3, 10))),
            lambda data: self.check_most(data, done, "initial-windows", ALIKE),
            [done],
            "window",
            "initial window, segments",
            series="queue",
            caption=WORDS.fill("initial-windows-caption"),
        )

    def aggressive(self) -> Criterion:
        """Aggressive load: one flow of CUBIC."""
        base = self.path("an aggressive flow", [bulk("flow", AGGRESSIVE)], duration_s=90)
        return self.halved(
            "aggressive", "RFC 7928 §5.2", "An aggressive sender (CUBIC)", self.grid("aggressive", base)
        )

    def unresponsive(self) -> Criterion:
        """Unresponsive load: more than the link's rate, without congestion control."""
        base = self.path(
            "unresponsive",
            [
                {
                    "name": "flood",
                    "transport": "udp",
                    "traffic": {"kind": "cbr", "rate": mbps(1.5 * RATE), "payload": "1000 B"},
                }
            ],
            duration_s=60,
            warmup_s=10,
        )
        return Criterion(
            "unresponsive",
            "RFC 7928 §5.3",
            "An unresponsive sender alone",
            WORDS.fill("unresponsive", alike=ALIKE, rival=self.rival, most=MOST),
            self.grid("unresponsive", base),
            lambda data: (
                self.check_most(data, wait(), "unresponsive", ALIKE)
                & self.check_least(data, utilisation(), "unresponsive", MOST)
            ),
            [wait(), utilisation()],
            "queue",
            series="queue",
            caption=WORDS.fill("unresponsive-caption"),
        )

    def unresponsive_mix(self) -> Criterion:
        """Unresponsive traffic takes three quarters of the link over UDP, next to one flow of NewReno."""
        got = measures.goodput("flow")
        base = self.path(
            "unresponsive and responsive",
            [
                bulk("flow", STANDARD),
                {
                    "name": "stream",
                    "transport": "udp",
                    "traffic": {"kind": "cbr", "rate": mbps(0.75 * RATE), "payload": "1000 B"},
                },
            ],
            duration_s=90,
        )
        return Criterion(
            "unresponsive-mix",
            "RFC 7928 §5.3",
            "Responsive beside unresponsive",
            WORDS.fill("unresponsive-mix", rival=self.rival, most=MOST),
            self.grid("unresponsive-mix", base),
            lambda data: (
                self.check_most(data, wait(), "unresponsive-mix", HALF)
                & self.check_least(data, got, "unresponsive-mix", MOST)
            ),
            [wait(), got],
            "queue",
            series="queue",
            caption=WORDS.fill("unresponsive-mix-caption"),
        )

    def less_than_best_effort(self) -> Criterion:
        """A background flow next to NewReno."""
        ours, theirs = measures.goodput("background"), measures.goodput("flow")
        base = self.path(
            "less than best effort",
            [bulk("flow", STANDARD), bulk("background", BACKGROUND)],
            duration_s=120,
        )

        def test(data: Data) -> Evidence:
            low, high = (
                data.measured(one, "less-than-best-effort").samples(queue=self.subject)
                for one in (ours, theirs)
            )
            return Evidence([Comparison("background − 0.5 × flow", low - 0.5 * high, 0.0, "below", "Mb/s")])

        return Criterion(
            "less-than-best-effort",
            "RFC 7928 §5.4",
            "Less than best effort",
            WORDS.fill("less-than-best-effort", background=BACKGROUND),
            self.grid("less-than-best-effort", base),
            test,
            [ours, theirs],
            "queue",
            series="queue",
            caption=WORDS.fill("less-than-best-effort-caption"),
        )

    def round_trips(self) -> Criterion:
        """Two flows with different round trips."""
        share = _less_over_more("one", "two")

        def sources(round_trip_ms: float) -> dict[str, Any]:
            return {"delay": ms(round_trip_ms / 2 - 1.5)}

        base = self.path(
            "round trips",
            [
                bulk("one", STANDARD, source_access=sources(ROUND_TRIP)),
                bulk("two", STANDARD, source_access=sources(50)),
            ],
            bottleneck={"delay": "1 ms"},
            access={"delay": "500 us"},
            duration_s=150,
            warmup_s=30,
            buffer={"packets": PRODUCT},
        )
        others = (5, 20, 50, 200, 560)
        return Criterion(
            "round-trips",
            "RFC 7928 §6",
            "Fairness between round trips",
            WORDS.fill("round-trips", most=MOST, rival=self.rival),
            self.grid("round-trips", base, other={n: {"flow.two.source-access": sources(n)} for n in others}),
            lambda data: self.check_least(data, share, "round-trips", MOST),
            [share],
            "other",
            "round trip of the second flow, ms",
            series="queue",
            log_x=True,
            caption=WORDS.fill("round-trips-caption", round_trip=ROUND_TRIP),
        )

    def bursts(self) -> Criterion:
        """Pages, video in bursts, a steady stream, a long flow: the cases of the standard's Figure 2."""
        done, lost = measures.completion_median("web"), measures.loss("stream")
        web = {
            "kind": "web",
            "main": "18 kB",
            "object": "10 kB",
            "objects": 50,
            "reading": {"distribution": "exponential", "mean": "3 s"},
        }
        base = self.path(
            "bursts",
            [
                {
                    "name": "web",
                    "count": 3,
                    "transport": {"name": STANDARD, "initial-window": 10},
                    "traffic": web,
                },
                {
                    "name": "stream",
                    "transport": "udp",
                    "traffic": {"kind": "cbr", "rate": "1 Mb/s", "payload": "1000 B"},
                },
                {
                    "name": "video",
                    "count": 0,
                    "transport": "udp",
                    "traffic": {
                        "kind": "burst",
                        "on": {"distribution": "exponential", "mean": "100 ms"},
                        "off": {"distribution": "exponential", "mean": "900 ms"},
                        "rate": "20 Mb/s",
                        "payload": "1000 B",
                    },
                },
                bulk("long", STANDARD, 0),
            ],
            duration_s=120,
            warmup_s=20,
        )
        cases = {
            "I": (0, 0),
            "II": (0, 1),
            "III": (1, 0),
            "IV": (1, 1),
        }
        axis = {
            name: {"flow.video.count": video, "flow.long.count": long}
            for name, (video, long) in cases.items()
        }
        return Criterion(
            "bursts",
            "RFC 7928 §7.2",
            "Bursts",
            WORDS.fill("bursts", alike=ALIKE, rival=self.rival),
            self.grid("bursts", base, case=axis),
            lambda data: (
                self.check_most(data, done, "bursts", ALIKE)
                & check_below_plus(data.measured(lost, "bursts"), self.subject, self.rival, "queue", 1.0)
            ),
            [done, lost],
            "case",
            "case of the standard's Figure 2",
            series="queue",
            caption=WORDS.fill("bursts-caption"),
        )

    def levels(self) -> Criterion:
        """Mild, medium and heavy congestion."""
        base = self.path(
            "levels of congestion", [bulk("flow", STANDARD, LEVELS["mild"])], duration_s=90, warmup_s=30
        )
        level = {name: {"flow.flow.count": count} for name, count in LEVELS.items()}
        return self.halved(
            "levels",
            "RFC 7928 §8.2.2–8.2.4",
            "Mild, medium and heavy congestion",
            self.grid("levels", base, level=level),
            "level",
            caption=WORDS.fill(
                "levels-caption",
                levels_mild=LEVELS["mild"],
                levels_medium=LEVELS["medium"],
                levels_heavy=LEVELS["heavy"],
            ),
        )

    def varying_congestion(self) -> Criterion:
        """Congestion varies from mild to medium to heavy and back."""
        begun, phase = 20, 20
        more, most = (
            [[f"{begun + 60 * k + after} s", f"{begun + 60 * k + 60} s"] for k in (0, 1)]
            for after in (phase, 2 * phase)
        )
        flows = [
            bulk("mild", STANDARD, LEVELS["mild"]),
            {
                "name": "medium",
                "count": LEVELS["medium"] - LEVELS["mild"],
                "transport": STANDARD,
                "traffic": "bulk",
                "active": more,
            },
            {
                "name": "heavy",
                "count": LEVELS["heavy"] - LEVELS["medium"],
                "transport": STANDARD,
                "traffic": "bulk",
                "active": most,
            },
        ]
        base = self.path("varying congestion", flows, duration_s=begun + 120, warmup_s=begun)
        return self.halved(
            "varying-congestion",
            "RFC 7928 §8.2.5",
            "Congestion that varies",
            self.grid("varying-congestion", base),
            caption=WORDS.fill("varying-congestion-caption"),
        )

    def varying_capacity(self) -> Criterion:
        """The rate alternates between 100 and 10 Mb/s."""

        def schedule(phase_ms: int) -> dict[str, Any]:
            steps = [{"at": "0 s", "is": "100 Mb/s"}, {"at": ms(phase_ms), "is": "10 Mb/s"}]
            return {"law": "schedule", "steps": steps, "repeat-after": ms(2 * phase_ms)}

        base = self.path(
            "varying capacity",
            [bulk("flow", STANDARD, 5)],
            rate=schedule(20_000),
            duration_s=140,
            warmup_s=20,
        )
        packets = 10 * PRODUCT
        axes = {
            "phase": {
                name: {"topology.bottleneck.rate": schedule(length)}
                for name, length in (("20 s", 20_000), ("100 ms", 100))
            },
            "queue": self.queues(packets=packets),
        }
        return self.halved(
            "varying-capacity",
            "RFC 7928 §8.2.6",
            "Capacity that varies",
            Grid("varying-capacity", base, axes),
            "phase",
            caption=WORDS.fill("varying-capacity-caption", packets=packets),
        )

    def mix(self) -> Criterion:
        """A traffic mix: a call, pages, a stream, a video, long flows."""
        heard, done = measures.conversation_mos("call"), measures.completion_median("web")
        web = {
            "kind": "web",
            "main": "18 kB",
            "object": "10 kB",
            "objects": 50,
            "reading": {"distribution": "exponential", "mean": "10 s"},
        }
        base = self.path(
            "a mix",
            [
                {"name": "call", "transport": "udp", "traffic": "conversation"},
                {
                    "name": "web",
                    "count": 6,
                    "transport": {"name": STANDARD, "initial-window": 10},
                    "traffic": web,
                },
                {
                    "name": "stream",
                    "transport": "udp",
                    "traffic": {"kind": "cbr", "rate": "500 kb/s", "payload": "1000 B"},
                },
                {
                    "name": "video",
                    "transport": "tfrc",
                    "traffic": {"kind": "cbr", "rate": "2 Mb/s", "payload": "1000 B"},
                },
                bulk("long", STANDARD, 5),
            ],
            duration_s=120,
            warmup_s=20,
        )
        return Criterion(
            "mix",
            "RFC 7928 §9.1",
            "A mix of applications",
            WORDS.fill("mix", rival=self.rival, alike=ALIKE),
            self.grid("mix", base),
            lambda data: (
                check_above_plus(data.measured(heard, "mix"), self.subject, self.rival, "queue", 0.1)
                & self.check_most(data, done, "mix", ALIKE)
            ),
            [heard, done, wait()],
            "queue",
            series="queue",
            caption=WORDS.fill("mix-caption"),
        )

    def two_way_traffic(self) -> Criterion:
        """Mild congestion in both directions."""
        base = self.path(
            "both ways",
            [bulk("down", STANDARD, LEVELS["mild"]), bulk("up", STANDARD, LEVELS["mild"], path="reverse")],
            duration_s=90,
            warmup_s=30,
        )
        both = {
            name: {**there, "topology.bottleneck.reverse.queue": there["topology.bottleneck.queue"]}
            for name, there in self.queues().items()
        }
        down, up = measures.goodput("down"), measures.goodput("up")
        return Criterion(
            "both-ways",
            "RFC 7928 §9.2",
            "Traffic both ways",
            WORDS.fill("both-ways", most=MOST, rival=self.rival),
            Grid("both-ways", base, {"queue": both}),
            lambda data: (
                self.check_least(data, down, "both-ways", MOST)
                & self.check_least(data, up, "both-ways", MOST)
            ),
            [down, up, wait()],
            "queue",
            series="queue",
            caption=WORDS.fill("both-ways-caption"),
        )

    def serial_bottlenecks(self) -> Criterion:
        """Two bottlenecks one after the other."""
        half = max(1, LEVELS["mild"] // 2)
        hosts = ms(ROUND_TRIP / 8)
        links = [
            link("left", "middle", mbps(RATE), ms(ROUND_TRIP / 8)),
            link("middle", "right", mbps(RATE), ms(ROUND_TRIP / 8)),
            link("a{i}", "left", "10 Gb/s", hosts, count=half),
            link("b{i}", "middle", "10 Gb/s", hosts, count=half),
            link("right", "c{i}", "10 Gb/s", hosts, count=half),
            link("right", "d{i}", "10 Gb/s", hosts, count=half),
        ]
        base = build(
            "in a row",
            "90 s",
            warmup="30 s",
            preset="rfc",
            links=links,
            flows=[
                bulk("through", STANDARD, half, from_="a{i}", to="c{i}"),
                bulk("joining", STANDARD, half, from_="b{i}", to="d{i}"),
            ],
        )
        tables = {name: next(iter(table.values())) for name, table in self.queues().items()}
        axes = {
            "queue": {
                name: {"link.left>middle.queue": table, "link.middle>right.queue": table}
                for name, table in tables.items()
            }
        }
        waited, got = _waits("left>middle", "middle>right"), measures.goodput("through")
        return Criterion(
            "in-a-row",
            "RFC 7928 §10",
            "One after the other",
            WORDS.fill("in-a-row", rival=self.rival, most=MOST),
            Grid("in-a-row", base, axes),
            lambda data: (
                self.check_most(data, waited, "in-a-row", HALF)
                & self.check_least(data, got, "in-a-row", MOST)
            ),
            [waited, got],
            "queue",
            series="queue",
            caption=WORDS.fill("in-a-row-caption"),
        )
