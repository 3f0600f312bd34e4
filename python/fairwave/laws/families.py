"""The families of laws that Python may add to: the calls that each gets, and the answers.

Methods, names and meanings are those of the traits of fairwave's core. A method that a law leaves as it is
costs nothing. Times are in seconds since the beginning of the run, rates in bits per second, sizes in bytes on
the wire, windows in segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fairwave._native import Random
from fairwave.laws.parameters import NEEDED, parameter, parameters_of

if TYPE_CHECKING:
    from typing import dataclass_transform

    from fairwave._native import Arrival, Buffer, MediaFeedback, Packet, Path, Place, RateSample, Unit, Window
else:

    def dataclass_transform(**_: Any) -> Any:
        """Describes the constructor to type checkers; it does nothing at run time."""
        return lambda law: law


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter,))
class Law:
    """What all families have in common: `Controller`, `Discipline`, `Source`, `LossModel`, `LinkLaw`, `RateController`.

    Class attributes with a type are parameters (see `fairwave.parameter`); the constructor takes them by name, as in
    `Gentle(kept=0.5)`, which is what tests do. What a law remembers it sets up in `begin`.
    """

    family: ClassVar[str] = ""
    hooks: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[tuple[str, ...]] = ()
    _random: ClassVar[Random | None] = None

    def __init__(self, **parameters: Any) -> None:
        for known in parameters_of(type(self), Law):
            value = parameters.pop(known.attribute, known.given.default)
            if value is NEEDED:
                raise TypeError(f"{type(self).__name__} needs the parameter `{known.attribute}`")
            setattr(self, known.attribute, list(value) if known.several and value is not None else value)
        if parameters:
            names = ", ".join(known.attribute for known in parameters_of(type(self), Law)) or "none"
            raise TypeError(
                f"{type(self).__name__} has no parameter `{next(iter(parameters))}`; it has {names}"
            )

    @property
    def random(self) -> Random:
        """The law's own stream of random numbers, under the seed of the run.

        Raises:
            AttributeError: Nobody has given it one, as in a test: `law.random = fairwave.Random(1, "test")`.
        """
        if self._random is None:
            raise AttributeError(
                f"this {type(self).__name__} is part of no run, so it has no random numbers; in a test, give it some: "
                'law.random = fairwave.Random(1, "test")'
            )
        return self._random

    @random.setter
    def random(self, stream: Random) -> None:
        self._random = stream  # type: ignore[misc]  # of the instance

    def check(self) -> None:
        """Refuses parameters that do not go together; ranges are checked already. Called when a scenario is read.

        Raises:
            fairwave.Refusal: They do not.
        """


class Controller(Law):
    """A TCP congestion controller: from acknowledgements, losses and timeouts it sets the sender's window.

    The window is the sender's; a controller changes `window.congestion` and `window.threshold` (segments) in
    place. It never has to clamp to what the receiver allows, and need not care for the inflation of fast
    recovery, which the sender keeps apart. `path` is what the sender knows: `now`, `rtt`, `min_rtt`, `in_use`,
    … (`help(fairwave.Path)`). It must have `on_ack`, `on_loss` and `on_timeout`. With `on_sample` it gets the
    delivery rate of segments. With `pacing` segments leave at its rate. With `marks` queues may mark segments instead
    of dropping them.

    Example:
        @fairwave.controller("halving")
        class Halving(fairwave.Controller):
            '''Doubles per round trip, then adds a segment per round trip; a loss halves it.'''

            increase: float = fairwave.parameter(1.0, above=0, doc="Segments added per round trip.")

            def on_ack(self, path, window):
                window.congestion += 1 if window.in_slow_start else self.increase / window.congestion

            def on_loss(self, path, window):
                window.threshold = window.congestion = max(2.0, path.in_use / 2)

            def on_timeout(self, path, window):
                self.on_loss(path, window)
                window.congestion = 1.0

        A scenario names it `transport = "tcp/halving"`, or `{ name = "tcp/halving", increase = 2.0 }`.

    Attributes:
        recovery: The loss recovery of a connection that does not choose one.
        waves: The receiver measures the rate of each wave of segments and says so: `path.rate`, `path.wave`.
        marks: What segments say of congestion, and how the receiver reports marks, where a connection does not say
            (its key `ecn`): `none`, `classic` (RFC 3168), `accurate` (counted, `path.marked`) or `scalable` (likewise,
            ECT(1)).
    """

    family: ClassVar[str] = "controller"
    hooks: ClassVar[tuple[str, ...]] = (
        "begin", "on_ack", "on_other_ack", "on_loss", "on_mark", "on_sample", "on_recovered", "pacing", "on_timeout",
        "on_restart", "estimate",
    )  # fmt: skip
    needed: ClassVar[tuple[str, ...]] = ("on_ack", "on_loss", "on_timeout")
    recovery: ClassVar[Literal["tahoe", "reno", "newreno", "sack", "rack", "vegas"]] = "sack"
    waves: ClassVar[bool] = False
    marks: ClassVar[Literal["none", "classic", "accurate", "scalable"]] = "none"

    def begin(self, preset: str) -> None:
        """A connection begins; `preset` says whose habits to follow: `rfc`, `linux`, `ns2` or `ns2-2004`."""

    def on_ack(self, path: Path, window: Window) -> None:
        """New data is acknowledged, outside of loss recovery."""
        raise NotImplementedError

    def on_other_ack(self, path: Path, window: Window) -> None:
        """An acknowledgement that does not open the window: a duplicate, or one within loss recovery."""

    def on_loss(self, path: Path, window: Window) -> Literal["congestion", "random"] | None:
        """A loss was found by duplicate or selective acknowledgements; asked once per recovery.

        Sets both fields of the window.

        Returns:
            `congestion`, which None stands for; `random` for an error of the wire, after which the segment is only sent
            again.
        """
        raise NotImplementedError

    def on_mark(self, path: Path, window: Window) -> None:
        """The path has marked a segment: asked at most once for what was in flight at the answer before.

        A law without this method answers a mark as a loss.
        """

    def on_sample(self, path: Path, sample: RateSample, window: Window) -> None:
        """How fast segments are delivered, on every acknowledgement that delivers any, in recovery and outside.

        After `on_ack` or `on_other_ack`. A law with this method has `path.delivered`, `path.lost` and `path.pipe`.
        """

    def on_recovered(self, path: Path, window: Window) -> None:
        """Loss recovery has ended: what was in flight when it began has been delivered."""

    def pacing(self, path: Path, window: Window) -> float:  # noqa: ARG002  # as laws are asked
        """The rate at which segments leave, segments per second; infinite to leave it to acknowledgements.

        Asked whenever a segment is sent; what it does to the window counts for nothing.
        """
        return float("inf")

    def on_timeout(self, path: Path, window: Window) -> Literal["congestion", "random"] | None:
        """The retransmission timer went off. Returns what `on_loss` does."""
        raise NotImplementedError

    def on_restart(self, path: Path, window: Window) -> None:
        """The connection was idle for longer than the timeout and sends again, with the restart window."""

    def estimate(self) -> float:
        """What it estimates, for plots."""
        return float("nan")


class Discipline(Law):
    """A queue discipline: when a packet must go, and which is sent next.

    Capacity and victim rule belong to the queue. It must have `arrive` or `depart`. What it leaves out is as in
    a queue that drops when full. `arrival.packets` and `arrival.bytes` are what waits; `arrival.buffer` can be
    asked for more (`help(fairwave.Buffer)`).

    Example:
        @fairwave.discipline("half-full")
        class HalfFull(fairwave.Discipline):
            '''Drops arrivals at random once the buffer is half full.'''

            chance: float = fairwave.parameter(0.1, least=0, most=1, doc="Share of arrivals dropped.")

            def begin(self, rate, packets, size):
                self.half = (packets or size / 1000) / 2

            def arrive(self, arrival):
                if arrival.packets >= self.half and self.random.chance(self.chance):
                    return "drop"

        A scenario names it `queue = { discipline = "half-full", chance = 0.2, capacity = { packets = 50 } }`.

    Attributes:
        fifo: What it serves leaves in the order in which it arrived.
        by_flow: It asks the buffer for flows: `flow_tally`, `front_of_flow`, ….
        own_victim: Why no victim rule goes with it, as its `victim` chooses: "… drops from the longest flow".
        reaches_capacity: A buffer counted in bytes is full when the backlog has reached the capacity, whatever the size
            of what arrives.
        marks: It marks where packets can be marked; said so that a flow whose marks come from it alone is not warned.
    """

    family: ClassVar[str] = "discipline"
    hooks: ClassVar[tuple[str, ...]] = (
        "begin", "arrive", "exchanged", "overflowed", "rate_changed", "victim", "depart", "average", "deadline",
        "on_timer",
    )  # fmt: skip
    fifo: ClassVar[bool] = True
    by_flow: ClassVar[bool] = False
    own_victim: ClassVar[str | None] = None
    reaches_capacity: ClassVar[bool] = False
    marks: ClassVar[bool] = False

    def begin(self, rate: float, packets: int | None, size: int | None) -> None:
        """The queue of a link of this rate (b/s) begins; its capacity is in packets or in bytes, the other is None."""

    def arrive(self, arrival: Arrival) -> Literal["admit", "drop", "mark"] | Place | None:
        """A packet arrives, which is not in the buffer yet.

        Returns:
            `admit`, which None stands for: it may wait, if there is room. `drop`: one packet must go, and the victim
            rule says which. `mark`: it is marked and may wait, if its transport understands marks
            (`arrival.packet.ecn`); otherwise as `drop`. A place: the packet there goes, and the arrival.
        """

    def exchanged(self, arrival: Packet, victim: Packet) -> None:
        """In the place of an arrival that was to be dropped the victim rule chose `victim`."""

    def rate_changed(self, now: float, rate: float) -> None:
        """The link's rate becomes another (b/s); 0 while it pauses."""

    def overflowed(self) -> None:
        """An arrival found no room, and for that a packet was dropped."""

    def victim(self, buffer: Buffer) -> Place | None:
        """Which packet goes when one must, for a discipline with `own_victim`; the arrival waits at the back.

        Returns:
            Its place; None for the arrival.
        """

    def depart(self, now: float, buffer: Buffer) -> Place | None:
        """The link is free, and packets wait: which one is sent next.

        Before, `buffer.drop(place)` drops others, and `buffer.mark(place)` marks.

        Returns:
            Its place; None for the packet that has waited longest.
        """

    def average(self) -> float:
        """The quantity by which it judges congestion, for plots."""
        return float("nan")

    def deadline(self) -> float | None:
        """When `on_timer` must be called, seconds; None if it need not. Asked after each call of another method."""

    def on_timer(self, now: float, buffer: Buffer) -> None:
        """The deadline has come; it moves on. `buffer.drop(place)` drops packets."""


class Source(Law):
    """An application: it makes units, or, if it is `bulk`, offers at times as much as the transport takes.

    It must have `next_unit`, or `bulk = True` and `next_activity`. It knows nothing of the network, and is
    asked ahead of time.

    Example:
        @fairwave.source("sensor")
        class Sensor(fairwave.Source):
            '''A reading every so often, at times of a Poisson process.'''

            every: fairwave.Duration = fairwave.parameter(0.1, above=0, doc="Mean time between readings.")
            payload: fairwave.Size = 100

            def begin(self, start):
                self.due = start

            def next_unit(self):
                self.due += self.random.exponential(self.every)
                return fairwave.Unit(created=self.due, payload=self.payload)

        A scenario names it `traffic = { kind = "sensor", every = "1 s" }`.

    Attributes:
        bulk: It makes no units but is active in intervals: `next_activity`.
    """

    family: ClassVar[str] = "source"
    hooks: ClassVar[tuple[str, ...]] = ("begin", "next_unit", "next_activity", "units_per_second", "call")
    bulk: ClassVar[bool] = False

    def begin(self, start: float) -> None:
        """The flow begins at `start`."""

    def next_unit(self) -> Unit | None:
        """The next unit; None when there will be no more. `created` never decreases, and is at or after the start."""

    def next_activity(self) -> tuple[float, float] | None:
        """The next interval during which a bulk source offers data.

        Returns:
            Beginning and end (`math.inf` for none); None for no more.
        """

    def units_per_second(self) -> float | None:
        """Units per second, of sources that make units of one size at a fixed rate; asked before it begins."""

    def call(self) -> tuple[str, float] | None:
        """For calls, which are then rated: the codec's name and the speech in each unit, seconds. Asked beforehand."""


class LossModel(Law):
    """How a link loses packets for reasons other than congestion.

    It is asked once per packet, in the order in which packets leave the link. Each direction of a link has an
    instance and a random stream of its own. It must have `lost`.

    Example:
        @fairwave.loss_model("gilbert-elliott")
        class Gilbert(fairwave.LossModel):
            '''Two states that change from packet to packet; the bad one loses all.'''

            to_bad: float = fairwave.parameter(0.01, least=0, most=1, doc="Chance that it turns bad.")
            to_good: float = fairwave.parameter(0.25, above=0, most=1, doc="Chance that it turns good.")

            def begin(self):
                self.bad = False

            def lost(self, now, packet):
                lost = self.bad
                self.bad ^= self.random.chance(self.to_good if self.bad else self.to_bad)
                return lost

        A scenario names it `loss = { model = "gilbert-elliott", to-bad = 0.02 }`.
    """

    family: ClassVar[str] = "loss"
    hooks: ClassVar[tuple[str, ...]] = ("begin", "lost", "cycle")
    needed: ClassVar[tuple[str, ...]] = ("lost",)

    def begin(self) -> None:
        """The link begins."""

    def lost(self, now: float, packet: Packet) -> bool:
        """Whether the packet that leaves the link at `now` is lost. `now` does not decrease from call to call."""
        raise NotImplementedError

    def cycle(self) -> float | None:
        """How long it stays in a state and the next one together, if it changes by itself: what a run costs.

        Returns:
            The mean in seconds; None if it changes with packets only.
        """


class LinkLaw(Law):
    """How fast a link transmits: when the transmission of a packet ends that begins at a given time.

    It must have `end_of`, `capacity` and `nominal`.

    Example:
        @fairwave.link_law("night-and-day")
        class NightAndDay(fairwave.LinkLaw):
            '''One rate in even seconds, another in odd ones; a packet keeps the rate that it begins with.'''

            day: fairwave.Rate = fairwave.parameter(2e6, above=0, doc="Rate in even seconds.")
            night: fairwave.Rate = fairwave.parameter(1e6, above=0, doc="Rate in odd seconds.")

            def end_of(self, start, size):
                return start + 8 * size / (self.night if int(start) % 2 else self.day)

            def capacity(self, begin, end):
                return self.nominal() * (end - begin) / 8

            def nominal(self):
                return (self.day + self.night) / 2

        A scenario names it `rate = { law = "night-and-day", night = "500 kb/s" }`.

    Attributes:
        steady: The time that a packet takes depends on its size alone, and may be kept for the next of that size.
    """

    family: ClassVar[str] = "link"
    hooks: ClassVar[tuple[str, ...]] = ("begin", "end_of", "capacity", "nominal", "highest")
    needed: ClassVar[tuple[str, ...]] = ("end_of", "capacity", "nominal")
    steady: ClassVar[bool] = False

    def begin(self) -> None:
        """The link begins."""

    def end_of(self, start: float, size: int) -> float:
        """When the transmission of `size` bytes ends that begins at `start`; `math.inf` if it never ends."""
        raise NotImplementedError

    def capacity(self, begin: float, end: float) -> float:
        """What could be transmitted from `begin` until `end`, bytes: the whole that a utilisation is a part of."""
        raise NotImplementedError

    def nominal(self) -> float:
        """The nominal rate in b/s, for buffers: the mean of a rate that varies. Called before the run begins."""
        raise NotImplementedError

    def highest(self) -> float:
        """The highest rate, b/s, by which it is estimated what a run costs; `nominal` where it is left out."""
        return self.nominal()


class RateController(Law):
    """A rate controller of media sessions: from feedback it decides how much the sender of a call may send.

    Feedback says of each packet when it arrived. After each call fairwave asks for `target` and, where the law has
    them, `pacing`, `padding`, `window` and `deadline`. Rates count whole IP packets. It must have `on_feedback` and
    `target`.

    Example:
        @fairwave.rate_controller("shy")
        class Shy(fairwave.RateController):
            '''Grows by a few percent per message, and halves where anything is missing.'''

            growth: float = fairwave.parameter(1.02, least=1, doc="Factor per message without loss.")

            def on_limits(self, now, start, least, most):
                self.least, self.most, self.rate = least, most, start

            def on_feedback(self, feedback):
                lost = any(packet.arrived is None for packet in feedback.packets)
                self.rate = min(self.most, max(self.least, self.rate * (0.5 if lost else self.growth)))

            def target(self):
                return self.rate

        A scenario names it `transport = { name = "webrtc", control = "shy" }`, or
        `control = { name = "shy", growth = 1.05 }`.

    Attributes:
        marks: Its packets may be marked instead of dropped (ECT(0)); `packet.marked` tells.
    """

    family: ClassVar[str] = "rate_controller"
    hooks: ClassVar[tuple[str, ...]] = (
        "begin", "on_limits", "on_feedback", "on_report", "on_timer", "deadline", "target", "pacing", "padding",
        "window",
    )  # fmt: skip
    needed: ClassVar[tuple[str, ...]] = ("on_feedback", "target")
    marks: ClassVar[bool] = False

    def begin(self) -> None:
        """A session begins."""

    def on_limits(self, now: float, start: float, least: float, most: float) -> None:
        """The rates (b/s) to begin with and to stay within; called again when what the encoders can use changes."""

    def on_feedback(self, feedback: MediaFeedback) -> None:
        """Feedback has arrived."""
        raise NotImplementedError

    def on_report(self, now: float, fraction_lost: float, round_trip: float | None) -> None:
        """A receiver report has arrived: the share lost since the one before, and the round trip in seconds."""

    def on_timer(self, now: float) -> None:
        """The deadline has come; it moves on."""

    def deadline(self) -> float | None:
        """When `on_timer` must be called, seconds; None if it need not."""

    def target(self) -> float:
        """What all streams may use together, b/s."""
        raise NotImplementedError

    def pacing(self) -> float:
        """At which rate packets leave, b/s; 2.5 times the target where it is left out."""
        return 2.5 * self.target()

    def padding(self) -> float:
        """Up to which rate the session fills up with padding, b/s."""
        return 0.0

    def window(self) -> float:
        """Bytes that may be in flight; no bound where it is left out."""
        return float("inf")
