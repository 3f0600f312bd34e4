"""RFC 9743 (BCP 133): the evaluation of a new congestion control, criterion by criterion.

The standard lists the questions and sets no bounds. The bounds here were fixed before any measurement. Most criteria
compare with the standards-track control on the same path under the same seeds: CUBIC (RFC 9438), or Reno with SACK
(RFC 5681, 6675) if CUBIC itself is the subject. According to the standard, current controls do not meet one criterion
(bufferbloat) either. It has an absolute bound, so that they may fail it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.measuring import measures
from fairwave.measuring.measures import POSITIVE, Measure
from fairwave.runs.axes import vary
from fairwave.runs.grid import Grid
from fairwave_evaluation.criterion import (
    Criterion,
    check_above_plus,
    check_above_share,
    check_below_plus,
    check_below_share,
)
from fairwave_evaluation.path import (
    RATE,
    ROUND_TRIP,
    Choice,
    bdp,
    bulk,
    mbps,
    ms,
    named,
    path,
    short,
    utilisation,
    wait,
)
from fairwave_study import texts
from fairwave_study.comparisons import is_above, is_below
from fairwave_study.parts import Assumption
from fairwave_study.study import Study

if TYPE_CHECKING:
    import polars as pl

    from fairwave.results import Results
    from fairwave.scenario import Scenario
    from fairwave_study.claims import Evidence
    from fairwave_study.parts import Data

WORDS = texts.notes(__file__, "controller")
"""Bounds and captions, in `controller.toml`."""

STANDARDS = ("tcp/cubic", "tcp/sack")
"""Controllers for the comparison: the first that is not the subject."""

CALL = {"kind": "voice", "codec": "g711"}


def evaluate_controller(choice: Choice, against: Choice | None = None) -> Study:
    """Returns the report on a congestion control.

    Args:
        choice: The subject, as a scenario names a transport: a name, or a table with parameters. Register your own
            transport first.
        against: The control for the comparison; CUBIC, or Reno with SACK, if None.

    Raises:
        fairwave.ScenarioError: The transport does not exist, or carries no bulk data.
    """
    subject = named(choice, "name")
    if against is None:
        against = next(one for one in STANDARDS if one != subject)
    rival = named(against, "name")
    if rival == subject:
        rival = f"{rival} (compared with)"
    criteria = _ControllerCriteria(subject, choice, rival, against).criteria()
    return Study(
        name=f"evaluate {subject}",
        command=f"fairwave evaluate {subject}",
        title=f"{subject}, as RFC 9743 asks of a new congestion control",
        question=(
            f"Is {subject} safe to use next to others, and does it do its work? RFC 9743 lists what to consider "
            "before a congestion control is used widely. Each criterion here is a scenario, a bound fixed before "
            f"the runs, and a verdict. Most bounds follow from the results of {rival} on the same path. Buffers are "
            "in bandwidth-delay "
            "products, and a "
            f"path has {RATE:g} Mb/s, {ROUND_TRIP:g} ms of round trip and a buffer of one product where nothing else "
            "is said."
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
        "RFC 9743 §3, §5: the standard asks for judgement and gives no numbers",
    ),
    Assumption(
        "tunnels", "Tunnels are not examined", "RFC 9743 §6.2: packets of the laboratory have one header"
    ),
    Assumption(
        "breakers",
        "Circuit breakers are not examined",
        "RFC 9743 §7.1.1: none is simulated; `collapse` is near to it",
    ),
    Assumption("misbehaving", "Misbehaving nodes and attackers are not examined", "RFC 9743 §7.5"),
    Assumption("multipath", "Several paths at once are not examined", "RFC 9743 §7.8: a flow has one route"),
    Assumption(
        "principles",
        "Deviations from RFC 2914 and deployment are for the authors to explain",
        "RFC 9743 §5.3: no measurement answers them",
    ),
)
"""Questions that the report leaves out, with reasons."""


def packets_per_round_trip(round_trip_ms: float, group: str) -> Measure:
    """Returns the data packets that a flow sends per round trip of the empty path, after the warm-up; mean of flows."""

    def reduce(results: Results) -> pl.DataFrame:
        import polars as pl

        flows = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == group)
        each = pl.col("packets_sent") / pl.col("measured_s") * round_trip_ms / 1e3
        return flows.group_by("run", maintain_order=True).agg(each.mean().alias("value"))

    return Measure("per_round_trip", "packets sent per round trip", "", reduce, "lower", limits=POSITIVE)


class _ControllerCriteria:
    """The criteria for one controller and its rival."""

    def __init__(self, subject: str, choice: Choice, rival: str, against: Choice) -> None:
        self.subject, self.choice, self.rival, self.against = subject, choice, rival, against

    def criteria(self) -> list[Criterion]:
        """Returns all criteria, in the standard's order."""
        return [
            self.collapse(),
            self.silence(),
            self.bufferbloat(),
            self.high_loss(),
            self.fairness(),
            self.newcomer(),
            self.short_flows(),
            self.coexistence(),
            self.real_time(),
            self.standard_short_flows(),
            self.tail_drop(),
            self.errors(),
            self.varying_capacity(),
            self.active_queues(),
            self.varying_delay(),
            self.narrow(),
            self.high_delay(),
            self.reordering(),
            self.capacity_step(),
            self.interruption(),
            self.data_centre(),
        ]

    def compare_transports(self, *keys: str) -> dict[str, dict[str, Any]]:
        """Returns the axis of controllers: the subject and its rival as the transport of these groups."""
        return {
            self.subject: {f"flow.{key}.transport": self.choice for key in keys},
            self.rival: {f"flow.{key}.transport": self.against for key in keys},
        }

    def grid(self, name: str, base: Scenario, *groups: str, **axes: Any) -> Grid:
        """Returns a grid of both controllers along further axes."""
        return Grid(name, base, {**axes, "controller": self.compare_transports(*groups)})

    def mine(self, data: Data, measure: Measure, grid: str) -> Any:
        """Returns a measure of the subject alone."""
        return data.measured(measure, grid).select(controller=self.subject).drop_axes("controller")

    def check_least(self, data: Data, measure: Measure, grid: str, share: float) -> Evidence:
        """Checks that the measure is at least this share of the rival's."""
        return check_above_share(data.measured(measure, grid), self.subject, self.rival, "controller", share)

    def check_most(self, data: Data, measure: Measure, grid: str, share: float) -> Evidence:
        """Checks that the measure is at most this multiple of the rival's."""
        return check_below_share(data.measured(measure, grid), self.subject, self.rival, "controller", share)

    # Section 5.1: alone on a path.

    def collapse(self) -> Criterion:
        """Congestion collapse: half of all packets are lost permanently."""
        rate = packets_per_round_trip(ROUND_TRIP, "flow")
        base = path("persistent loss", [bulk("flow", self.choice, 4)], duration_s=120, warmup_s=60)
        grid = self.grid(
            "collapse", base, "flow", loss=vary("topology.bottleneck.loss.rate", (0.1, 0.3, 0.5))
        )
        base_loss = {"topology.bottleneck.loss": {"model": "bernoulli", "rate": 0.1}}
        grid = Grid(grid.id, base.with_overrides(base_loss), grid.axes)
        return Criterion(
            "collapse",
            "RFC 9743 §5.1.1",
            "Congestion that persists",
            WORDS.fill("collapse"),
            grid,
            lambda data: is_below(self.mine(data, rate, "collapse").select(loss=0.5).drop_axes("loss"), 1.0),
            [rate],
            "loss",
            "share of packets lost",
            caption=WORDS.fill("collapse-caption"),
        )

    def silence(self) -> Criterion:
        """Silence: the path fails permanently in both directions."""
        sent = measures.group_column(
            "packets_sent", "packets sent into the void", "flow", table="flows", limits=POSITIVE
        )
        base = path(
            "silence",
            [bulk("flow", self.choice)],
            duration_s=60,
            warmup_s=22,
            bottleneck={
                "outages": [{"from": "20 s", "to": "60 s"}],
                "reverse": {"queue": "drop-tail", "outages": [{"from": "20 s", "to": "60 s"}]},
            },
        )
        return Criterion(
            "silence",
            "RFC 9743 §5.1.1, §5.2",
            "All feedback is lost",
            WORDS.fill("silence"),
            self.grid("silence", base, "flow"),
            lambda data: is_below(self.mine(data, sent, "silence"), 10.5),
            [sent],
            "controller",
            "controller",
            series="controller",
            caption=WORDS.fill("silence-caption"),
        )

    def bufferbloat(self) -> Criterion:
        """Bufferbloat: large buffers."""
        base = path("large buffers", [bulk("flow", self.choice)], duration_s=90, warmup_s=30)
        grid = self.grid(
            "bufferbloat",
            base,
            "flow",
            buffer={n: {"topology.bottleneck.queue.capacity": bdp(n)} for n in (1, 4, 16)},
        )
        return Criterion(
            "bufferbloat",
            "RFC 9743 §5.1.2",
            "Large buffers",
            WORDS.fill("bufferbloat", round_trip=ROUND_TRIP),
            grid,
            lambda data: is_below(self.mine(data, wait(), "bufferbloat"), ROUND_TRIP),
            [wait(), utilisation()],
            "buffer",
            "buffer, bandwidth-delay products",
            log_x=True,
            caption=WORDS.fill("bufferbloat-caption"),
        )

    def high_loss(self) -> Criterion:
        """High loss: small buffers, several flows."""
        loss = measures.packet_loss("flow")
        base = path("small buffers", [bulk("flow", self.choice, 4)])
        grid = self.grid(
            "high-loss",
            base,
            "flow",
            buffer={n: {"topology.bottleneck.queue.capacity": bdp(n)} for n in (0.1, 0.25, 0.5, 1, 1.5)},
        )
        return Criterion(
            "high-loss",
            "RFC 9743 §5.1.3",
            "Losses that it causes",
            WORDS.fill("high-loss", rival=self.rival),
            grid,
            lambda data: check_below_plus(
                data.measured(loss, "high-loss"), self.subject, self.rival, "controller", 1.0
            ),
            [loss, utilisation()],
            "buffer",
            "buffer, bandwidth-delay products",
            log_x=True,
            caption=WORDS.fill("high-loss-caption"),
        )

    def fairness(self) -> Criterion:
        """Fairness among flows of the subject."""
        fair = measures.fairness("flow")
        base = path("among themselves", [bulk("flow", self.choice, 2)], duration_s=120, warmup_s=30)
        grid = self.grid("fairness", base, "flow", flows=vary("flow.flow.count", (2, 4, 16)))
        return Criterion(
            "fairness",
            "RFC 9743 §5.1.4",
            "Fairness among themselves",
            WORDS.fill("fairness"),
            grid,
            lambda data: is_above(self.mine(data, fair, "fairness"), 0.9),
            [fair, utilisation()],
            "flows",
            "flows",
        )

    def newcomer(self) -> Criterion:
        """A newcomer meets a flow that uses the whole link."""
        share = measures.worst_case_fairness("flow")
        base = path(
            "a newcomer",
            [bulk("flow", self.choice, 2, start={"every": "30 s"})],
            duration_s=120,
            warmup_s=60,
        )
        return Criterion(
            "newcomer",
            "RFC 9743 §5.1.4",
            "A newcomer",
            WORDS.fill("newcomer"),
            self.grid(
                "newcomer",
                base,
                "flow",
                buffer={n: {"topology.bottleneck.queue.capacity": bdp(n)} for n in (1, 4)},
            ),
            lambda data: is_above(self.mine(data, share, "newcomer"), 0.5),
            [share],
            "buffer",
            "buffer, bandwidth-delay products",
            caption=WORDS.fill("newcomer-caption"),
        )

    def short_flows(self) -> Criterion:
        """Short flows next to long ones of the same kind."""
        done, rest = measures.completion_median("short"), measures.goodput("long")
        base = path(
            "short flows",
            [bulk("long", self.choice), short("short", self.choice, "30 kB", mbps(RATE / 10))],
            duration_s=90,
            warmup_s=10,
        )
        return Criterion(
            "short-flows",
            "RFC 9743 §5.1.5",
            "Short flows beside long ones",
            WORDS.fill("short-flows", rival=self.rival),
            self.grid("short-flows", base, "long", "short"),
            lambda data: (
                self.check_most(data, done, "short-flows", 1.2)
                & self.check_least(data, rest, "short-flows", 0.8)
            ),
            [done, rest],
            "controller",
            "controller",
            caption=WORDS.fill("short-flows-caption"),
        )

    # Section 5.2: with other controls.

    def coexistence(self) -> Criterion:
        """Coexistence with long flows of the standards-track control."""
        theirs, loss = measures.goodput("theirs"), measures.packet_loss("theirs")
        base = path(
            "beside the standard",
            [bulk("ours", self.choice, 2), bulk("theirs", self.against, 2)],
            duration_s=120,
            warmup_s=30,
        )
        grid = Grid(
            "coexistence",
            base,
            {
                "round trip": {n: _round_trip(n) for n in (20, 100)},
                "buffer": {n: {"topology.bottleneck.queue.capacity": bdp(n)} for n in (0.5, 2)},
                "controller": self.compare_transports("ours"),
            },
        )
        return Criterion(
            "coexistence",
            "RFC 9743 §5.2.1",
            f"Beside {self.rival}",
            WORDS.fill("coexistence", rival=self.rival),
            grid,
            lambda data: (
                self.check_least(data, theirs, "coexistence", 0.5)
                & check_below_plus(
                    data.measured(loss, "coexistence"), self.subject, self.rival, "controller", 1.0
                )
            ),
            [theirs, wait()],
            "buffer",
            "buffer, bandwidth-delay products",
            caption=WORDS.fill("coexistence-caption"),
        )

    def real_time(self) -> Criterion:
        """Real-time traffic: a call and a stream."""
        heard, streamed = measures.mos("call"), measures.goodput("stream")
        base = path(
            "beside real time",
            [
                bulk("long", self.choice),
                {"name": "call", "transport": "udp", "traffic": CALL},
                {
                    "name": "stream",
                    "transport": "tfrc",
                    "traffic": {"kind": "cbr", "rate": "2 Mb/s", "payload": "1000 B"},
                },
            ],
            duration_s=90,
        )
        return Criterion(
            "real-time",
            "RFC 9743 §5.2.2",
            "Beside real-time traffic",
            WORDS.fill("real-time", rival=self.rival),
            self.grid(
                "real-time",
                base,
                "long",
                buffer={n: {"topology.bottleneck.queue.capacity": bdp(n)} for n in (1, 4)},
            ),
            lambda data: (
                check_above_plus(
                    data.measured(heard, "real-time"), self.subject, self.rival, "controller", 0.1
                )
                & self.check_least(data, streamed, "real-time", 0.8)
            ),
            [heard, streamed],
            "buffer",
            "buffer, bandwidth-delay products",
            caption=WORDS.fill("real-time-caption"),
        )

    def standard_short_flows(self) -> Criterion:
        """Short flows of the standards-track control next to a long one."""
        done = measures.completion_median("short")
        base = path(
            "others' short flows",
            [bulk("long", self.choice), short("short", self.against, "30 kB", mbps(RATE / 10))],
            duration_s=90,
            warmup_s=10,
        )
        return Criterion(
            "others-short",
            "RFC 9743 §5.2.3",
            "Others' short flows",
            WORDS.fill("others-short", rival=self.rival),
            self.grid("others-short", base, "long"),
            lambda data: self.check_most(data, done, "others-short", 1.2),
            [done],
            "controller",
            "the long flow",
        )

    # Section 6: general use.

    def tail_drop(self) -> Criterion:
        """Tail drop: rates and round trips of wired paths."""
        base = path("wired paths", [bulk("flow", self.choice)], duration_s=60, warmup_s=20)
        grid = Grid(
            "tail-drop",
            base,
            {
                "rate": {n: {"topology.bottleneck.rate": mbps(n)} for n in (2, 20, 100)},
                "round trip": {n: _round_trip(n) for n in (10, 50, 200)},
                "controller": self.compare_transports("flow"),
            },
        )
        return Criterion(
            "tail-drop",
            "RFC 9743 §6.1, §6.3",
            "Wired paths with tail drop",
            WORDS.fill("tail-drop", rival=self.rival),
            grid,
            lambda data: self.check_least(data, utilisation(), "tail-drop", 0.9),
            [utilisation(), wait()],
            "rate",
            "Mb/s",
            log_x=True,
            caption=WORDS.fill("tail-drop-caption"),
        )

    def errors(self) -> Criterion:
        """Losses that are not caused by congestion."""
        got = measures.goodput("flow")
        base = path(
            "errors",
            [bulk("flow", self.choice)],
            duration_s=90,
            bottleneck={"loss": {"model": "bernoulli", "rate": 0.001}},
        )
        return Criterion(
            "errors",
            "RFC 9743 §6.4",
            "Wireless: errors",
            WORDS.fill("errors", rival=self.rival),
            self.grid(
                "errors", base, "flow", loss=vary("topology.bottleneck.loss.rate", (0.0001, 0.001, 0.01))
            ),
            lambda data: self.check_least(data, got, "errors", 0.9),
            [got],
            "loss",
            "share of packets lost at random",
            log_x=True,
        )

    def varying_capacity(self) -> Criterion:
        """A link with a varying rate."""
        got = measures.goodput("flow")
        steps = [
            {"at": "0 s", "is": mbps(RATE)},
            {"at": "1 s", "is": mbps(RATE / 4)},
            {"at": "2 s", "is": mbps(RATE / 2)},
        ]
        base = path(
            "a rate that changes",
            [bulk("flow", self.choice)],
            duration_s=93,
            warmup_s=30,
            rate={"law": "schedule", "steps": steps, "repeat-after": "3 s"},
        )
        return Criterion(
            "varying-capacity",
            "RFC 9743 §6.4",
            "Wireless: a rate that changes",
            WORDS.fill("varying-capacity", rival=self.rival),
            self.grid(
                "varying-capacity",
                base,
                "flow",
                buffer={n: {"topology.bottleneck.queue.capacity": {"packets": n}} for n in (60, 240)},
            ),
            lambda data: (
                self.check_least(data, got, "varying-capacity", 0.9)
                & self.check_most(data, wait(), "varying-capacity", 1.5)
            ),
            [got, wait()],
            "buffer",
            "buffer, packets",
            caption=WORDS.fill("varying-capacity-caption", rate=RATE, rate_4=RATE / 4, rate_2=RATE / 2),
        )

    # Section 7: special cases.

    def active_queues(self) -> Criterion:
        """Active queue management."""
        from fairwave.reference import listed

        known = [name for name, _ in listed("queues")]
        queues = [one for one in ("red", "codel", "pie", "fq-codel", "fq-pie", "dualpi2") if one in known]
        base = path("active queues", [bulk("flow", self.choice, 4)], buffer={"packets": 1000})
        return Criterion(
            "active-queues",
            "RFC 9743 §7.1",
            "Active queues",
            WORDS.fill("active-queues", rival=self.rival),
            self.grid(
                "active-queues", base, "flow", queue=vary("topology.bottleneck.queue.discipline", queues)
            ),
            lambda data: (
                self.check_least(data, utilisation(), "active-queues", 0.9)
                & check_below_plus(
                    data.measured(wait(), "active-queues"), self.subject, self.rival, "controller", 5.0
                )
            ),
            [utilisation(), wait()],
            "queue",
            "queue discipline",
            caption=WORDS.fill("active-queues-caption"),
        )

    def varying_delay(self) -> Criterion:
        """A path with a varying propagation delay."""
        got = measures.goodput("flow")
        steps = [
            {"at": "0 s", "is": ms(ROUND_TRIP / 4)},
            {"at": "40 s", "is": ms(ROUND_TRIP / 4 + 50)},
            {"at": "80 s", "is": ms(ROUND_TRIP / 4)},
        ]
        base = path(
            "a delay that changes",
            [bulk("flow", self.choice)],
            duration_s=120,
            warmup_s=20,
            bottleneck={"delay": steps},
            buffer=bdp(2),
        )
        return Criterion(
            "varying-delay",
            "RFC 9743 §7.2, §7.7.1",
            "A path that becomes longer, and shorter again",
            WORDS.fill("varying-delay", rival=self.rival),
            self.grid("varying-delay", base, "flow"),
            lambda data: self.check_least(data, got, "varying-delay", 0.9),
            [got],
            "controller",
            "controller",
            caption=WORDS.fill("varying-delay-caption", round_trip_50=ROUND_TRIP + 50, round_trip=ROUND_TRIP),
        )

    def narrow(self) -> Criterion:
        """A narrow link, as in an Internet of things."""
        got, loss = measures.goodput("flow"), measures.packet_loss("flow")
        base = path(
            "a narrow link",
            [bulk("flow", self.choice, 2)],
            rate=0.1,
            round_trip_ms=400,
            buffer={"packets": 10},
            duration_s=300,
            warmup_s=60,
        )
        return Criterion(
            "narrow",
            "RFC 9743 §7.3",
            "A narrow link",
            WORDS.fill("narrow", rival=self.rival),
            self.grid("narrow", base, "flow"),
            lambda data: (
                self.check_least(data, got, "narrow", 0.9)
                & check_below_plus(data.measured(loss, "narrow"), self.subject, self.rival, "controller", 2.0)
            ),
            [got, loss],
            "controller",
            "controller",
            caption=WORDS.fill("narrow-caption"),
        )

    def high_delay(self) -> Criterion:
        """A satellite path with a high delay."""
        got = measures.goodput("flow")
        base = path(
            "a satellite",
            [bulk("flow", self.choice)],
            round_trip_ms=600,
            duration_s=180,
            warmup_s=60,
            bottleneck={"loss": {"model": "bernoulli", "rate": 0.0}},
        )
        return Criterion(
            "high-delay",
            "RFC 9743 §7.4",
            "A satellite",
            WORDS.fill("high-delay", rival=self.rival),
            self.grid("high-delay", base, "flow", loss=vary("topology.bottleneck.loss.rate", (0.0, 0.0001))),
            lambda data: self.check_least(data, got, "high-delay", 0.9),
            [got],
            "loss",
            "share of packets lost at random",
            caption=WORDS.fill("high-delay-caption"),
        )

    def reordering(self) -> Criterion:
        """Reordering: late packets are overtaken."""
        got = measures.goodput("flow")
        base = path(
            "reordering",
            [bulk("flow", self.choice)],
            duration_s=90,
            bottleneck={"reorder": {"share": 0.01, "by": ms(ROUND_TRIP / 10)}},
        )
        return Criterion(
            "reordering",
            "RFC 9743 §7.6",
            "Packets that overtake others",
            WORDS.fill("reordering", rival=self.rival),
            self.grid(
                "reordering",
                base,
                "flow",
                late={f"{by:g} ms": {"topology.bottleneck.reorder.by": ms(by)} for by in (2, ROUND_TRIP / 2)},
            ),
            lambda data: self.check_least(data, got, "reordering", 0.9),
            [got],
            "late",
            "how much later one packet in a hundred comes",
        )

    def capacity_step(self) -> Criterion:
        """A step of capacity: the path changes to a tenth of the rate, and back."""
        got = measures.goodput("flow")
        steps = [
            {"at": "0 s", "is": mbps(RATE)},
            {"at": "30 s", "is": mbps(RATE / 10)},
            {"at": "60 s", "is": mbps(RATE)},
        ]
        base = path(
            "another path and back",
            [bulk("flow", self.choice)],
            rate={"law": "schedule", "steps": steps},
            duration_s=90,
            warmup_s=60,
        )
        return Criterion(
            "capacity-step",
            "RFC 9743 §7.7",
            "A tenth of the rate, and back",
            WORDS.fill("capacity-step", rival=self.rival),
            self.grid("capacity-step", base, "flow"),
            lambda data: self.check_least(data, got, "capacity-step", 0.9),
            [got],
            "controller",
            "controller",
            caption=WORDS.fill("capacity-step-caption"),
        )

    def interruption(self) -> Criterion:
        """An interruption: a link fails for a while."""
        got = measures.goodput("flow")
        down = [{"from": "30 s", "to": "33 s"}]
        base = path(
            "an interruption",
            [bulk("flow", self.choice)],
            duration_s=60,
            warmup_s=33,
            bottleneck={"outages": down, "reverse": {"queue": "drop-tail", "outages": down}},
        )
        return Criterion(
            "interruption",
            "RFC 9743 §7.7",
            "An interruption of three seconds",
            WORDS.fill("interruption", rival=self.rival),
            self.grid("interruption", base, "flow"),
            lambda data: self.check_least(data, got, "interruption", 0.9),
            [got],
            "controller",
            "controller",
        )

    def data_centre(self) -> Criterion:
        """Incast within a data centre: many hosts respond simultaneously."""
        done = measures.completion_p95("answer")
        base = path(
            "within a building",
            [
                {
                    "name": "answer",
                    "count": 16,
                    "transport": self.choice,
                    "traffic": {"kind": "transfer", "size": "256 kB"},
                    "start": {"from": "0 s", "to": "1 ms"},
                }
            ],
            rate=1000.0,
            round_trip_ms=0.2,
            buffer={"packets": 128},
            duration_s=10,
            warmup_s=0,
        )
        return Criterion(
            "data-centre",
            "RFC 9743 §7.9",
            "Sixteen answer at once",
            WORDS.fill("data-centre", rival=self.rival),
            self.grid("data-centre", base, "answer"),
            lambda data: self.check_most(data, done, "data-centre", 1.2),
            [done],
            "controller",
            "controller",
            caption=WORDS.fill("data-centre-caption"),
        )


def _round_trip(round_trip_ms: float) -> dict[str, Any]:
    """Returns the keys that set the common path's round trip."""
    return {
        "topology.bottleneck.delay": ms(round_trip_ms / 4),
        "topology.access.delay": ms(round_trip_ms / 8),
    }
