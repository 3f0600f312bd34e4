"""Families of laws that you can extend in Python: the methods that fairwave calls, and their results.

Methods, names and meanings are the same as in the traits of fairwave's core. A method that a law does not
override costs nothing. Times are in seconds since the beginning of the run, rates in bits per second, sizes in bytes on
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
    """Base of all families: `Controller`, `Discipline`, `Source`, `LossModel`, `LinkLaw`, `RateController`.

    Class attributes with a type are parameters (see `fairwave.parameter`). The constructor takes them by name, as in
    `Gentle(kept=0.5)`; use this in tests. Set up the law's state in `begin`.
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
        """The law's random numbers: a separate stream under the seed of the run.

        Raises:
            AttributeError: The law is part of no run. In a test, set `law.random = fairwave.Random(1, "test")`.
        """
        if self._random is None:
            raise AttributeError(
                f"this {type(self).__name__} is part of no run, so it has no random numbers; in a test, give it some: "
                'law.random = fairwave.Random(1, "test")'
            )
        return self._random

    @random.setter
    def random(self, stream: Random) -> None:
        self._random = stream  # type: ignore[misc]  # sets it for this instance only

    def check(self) -> None:
        """Rejects parameters that do not go together. Ranges are already checked. Called when a scenario is read.

        Raises:
            fairwave.Refusal: The parameters do not go together.
        """


class Controller(Law):
    """A TCP congestion controller: it sets the sender's window after acknowledgements, losses and timeouts.

    The sender has the window; a controller changes `window.congestion` and `window.threshold` (segments) in
    place. The sender applies the receiver's limit and the window inflation of fast recovery, so a controller
    ignores both. `path` is the sender's knowledge of the path: `now`, `rtt`, `min_rtt`, `in_use`,
    … (`help(fairwave.Path)`). `on_ack`, `on_loss` and `on_timeout` are required. `on_sample` receives the
    delivery rate of segments. `pacing` sets the rate at which segments leave. With `marks`, queues may mark segments
    instead of dropping them.

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
        recovery: Default loss recovery of a connection.
        waves: True to let the receiver measure and report the rate of each wave of segments: `path.rate`, `path.wave`.
        marks: ECN codepoint of segments and the receiver's reporting, unless the connection sets its key `ecn`:
            `none`, `classic` (RFC 3168), `accurate` (counted, `path.marked`) or `scalable` (counted, ECT(1)).
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
        """A connection begins. `preset` names the defaults to follow: `rfc`, `linux`, `ns2` or `ns2-2004`."""

    def on_ack(self, path: Path, window: Window) -> None:
        """New data is acknowledged, outside of loss recovery."""
        raise NotImplementedError

    def on_other_ack(self, path: Path, window: Window) -> None:
        """An acknowledgement that does not open the window: a duplicate, or one within loss recovery."""

    def on_loss(self, path: Path, window: Window) -> Literal["congestion", "random"] | None:
        """Duplicate or selective acknowledgements show a loss. Called once per recovery.

        Sets both fields of the window.

        Returns:
            `congestion` (or None), or `random` for a transmission error, after which the sender only retransmits the
            segment.
        """
        raise NotImplementedError

    def on_mark(self, path: Path, window: Window) -> None:
        """The path has marked a segment. Called at most once per window of data.

        A law without this method reacts to a mark as to a loss.
        """

    def on_sample(self, path: Path, sample: RateSample, window: Window) -> None:
        """New delivery rate sample. Called on every acknowledgement that delivers data, in recovery and outside.

        Follows `on_ack` or `on_other_ack`. A law with this method has `path.delivered`, `path.lost` and `path.pipe`.
        """

    def on_recovered(self, path: Path, window: Window) -> None:
        """Loss recovery has ended: all data in flight at its beginning has been delivered."""

    def pacing(self, path: Path, window: Window) -> float:  # noqa: ARG002  # same arguments as other methods
        """Returns the pacing rate in segments per second; infinite to let acknowledgements clock the sender.

        Called whenever a segment is sent. Changes to the window are ignored.
        """
        return float("inf")

    def on_timeout(self, path: Path, window: Window) -> Literal["congestion", "random"] | None:
        """The retransmission timer expired. Returns the same values as `on_loss`."""
        raise NotImplementedError

    def on_restart(self, path: Path, window: Window) -> None:
        """The connection sends again, with the restart window, after it was idle for longer than the timeout."""

    def estimate(self) -> float:
        """Returns the law's main estimate, for plots."""
        return float("nan")


class Discipline(Law):
    """A queue discipline: it decides which packets to discard or mark, and which to send next.

    Capacity and victim rule belong to the queue. `arrive` or `depart` is required. Without a method, the discipline
    acts like drop-tail. `arrival.packets` and `arrival.bytes` describe the waiting packets; `arrival.buffer`
    gives more (`help(fairwave.Buffer)`).

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
        fifo: True if packets leave in order of arrival.
        by_flow: True if the law queries flows of the buffer: `flow_tally`, `front_of_flow`, ….
        own_victim: Reason why victim rules are not allowed, for a law with `victim`: "… drops from the longest flow".
        reaches_capacity: True if a buffer counted in bytes is full when the backlog has reached the capacity,
            regardless of the size of the arrival.
        marks: True if the law marks packets. Then flows that depend on its marks get no warning.
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
        """A link's queue begins: the link's rate (b/s), and the capacity in packets or in bytes (the other is None)."""

    def arrive(self, arrival: Arrival) -> Literal["admit", "drop", "mark"] | Place | None:
        """A packet arrives. It is not in the buffer yet.

        Returns:
            `admit` (or None) to queue the packet if there is room. `drop` to discard a packet of the victim rule's
            choice. `mark` to mark the packet and queue it, if its transport understands marks (`arrival.packet.ecn`);
            otherwise like `drop`. A place to discard the packet there and the arrival.
        """

    def exchanged(self, arrival: Packet, victim: Packet) -> None:
        """The victim rule chose `victim` instead of an arrival that the law had dropped."""

    def rate_changed(self, now: float, rate: float) -> None:
        """The link's rate changes to `rate` (b/s); 0 during a pause."""

    def overflowed(self) -> None:
        """An arrival found no room, so a packet was dropped."""

    def victim(self, buffer: Buffer) -> Place | None:
        """Chooses the packet to drop, for a law with `own_victim`. The arrival waits at the back.

        Returns:
            Place of the packet; None for the arrival.
        """

    def depart(self, now: float, buffer: Buffer) -> Place | None:
        """Chooses the packet to send next. Called when the link is free and packets wait.

        Before it returns, `buffer.drop(place)` drops packets and `buffer.mark(place)` marks them.

        Returns:
            Place of the packet; None for the packet that has waited longest.
        """

    def average(self) -> float:
        """Returns the law's measure of congestion, for plots."""
        return float("nan")

    def deadline(self) -> float | None:
        """Returns the time of the next `on_timer`, in seconds, or None. Called after each other method."""

    def on_timer(self, now: float, buffer: Buffer) -> None:
        """The deadline has come; the law must set a new one. `buffer.drop(place)` drops packets."""


class Source(Law):
    """An application: it makes units, or, with `bulk`, offers unlimited data in intervals.

    `next_unit` is required, or `bulk = True` and `next_activity`. A source knows nothing of the network, and is
    called ahead of time.

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
        bulk: True for a source without units that is active in intervals: `next_activity`.
    """

    family: ClassVar[str] = "source"
    hooks: ClassVar[tuple[str, ...]] = ("begin", "next_unit", "next_activity", "units_per_second", "call")
    bulk: ClassVar[bool] = False

    def begin(self, start: float) -> None:
        """The flow begins at `start`."""

    def next_unit(self) -> Unit | None:
        """Returns the next unit, or None after the last. `created` never decreases, and is at or after the start."""

    def next_activity(self) -> tuple[float, float] | None:
        """Returns the next interval during which a bulk source offers data.

        Returns:
            Begin and end (`math.inf` for no end), or None after the last.
        """

    def units_per_second(self) -> float | None:
        """Returns units per second, for sources with units of one size at a fixed rate. Called before `begin`."""

    def call(self) -> tuple[str, float] | None:
        """Returns codec name and seconds of speech per unit for calls, which are then rated. Called before `begin`."""


class LossModel(Law):
    """Losses on a link for reasons other than congestion.

    Fairwave calls `lost` once per packet, in the order in which packets leave the link. Each direction of a link has a
    separate instance and random stream. `lost` is required.

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
        """Whether the packet that leaves the link at `now` is lost. `now` does not decrease between calls."""
        raise NotImplementedError

    def cycle(self) -> float | None:
        """Returns the mean duration of a state and the next one together, to estimate the cost of a run.

        Returns:
            The mean in seconds; None if states change with packets only.
        """


class LinkLaw(Law):
    """A link law: it returns the time at which each transmission ends, for a given start and size.

    `end_of`, `capacity` and `nominal` are required.

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
        steady: True if the transmission time depends on the size alone, so that it can be cached per size.
    """

    family: ClassVar[str] = "link"
    hooks: ClassVar[tuple[str, ...]] = ("begin", "end_of", "capacity", "nominal", "highest")
    needed: ClassVar[tuple[str, ...]] = ("end_of", "capacity", "nominal")
    steady: ClassVar[bool] = False

    def begin(self) -> None:
        """The link begins."""

    def end_of(self, start: float, size: int) -> float:
        """Returns when a transmission of `size` bytes that begins at `start` ends; `math.inf` if it never ends."""
        raise NotImplementedError

    def capacity(self, begin: float, end: float) -> float:
        """Returns the bytes that could be transmitted from `begin` to `end`, the reference of a utilisation."""
        raise NotImplementedError

    def nominal(self) -> float:
        """Returns the nominal rate in b/s, for buffers: the mean of a varying rate. Called before the run begins."""
        raise NotImplementedError

    def highest(self) -> float:
        """Returns the highest rate in b/s, to estimate the cost of a run. Default: `nominal`."""
        return self.nominal()


class RateController(Law):
    """A rate controller of media sessions: from feedback it decides how much the sender of a call may send.

    Feedback lists the arrival time of each packet. After each call, fairwave calls `target` and, if the law has
    them, `pacing`, `padding`, `window` and `deadline`. Rates count whole IP packets. `on_feedback` and
    `target` are required.

    Example:
        @fairwave.rate_controller("shy")
        class Shy(fairwave.RateController):
            '''Grows by a few percent per message, and halves after a loss.'''

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
        marks: True if packets may be marked instead of dropped (ECT(0)); see `packet.marked`.
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
        """Start rate and limits (b/s). Called again when the range that the encoders can use changes."""

    def on_feedback(self, feedback: MediaFeedback) -> None:
        """Feedback has arrived."""
        raise NotImplementedError

    def on_report(self, now: float, fraction_lost: float, round_trip: float | None) -> None:
        """A receiver report has arrived: the share lost since the report before, and the round trip in seconds."""

    def on_timer(self, now: float) -> None:
        """The deadline has come; the law must set a new one."""

    def deadline(self) -> float | None:
        """Returns the time of the next `on_timer`, in seconds, or None."""

    def target(self) -> float:
        """Returns the rate for all streams together, b/s."""
        raise NotImplementedError

    def pacing(self) -> float:
        """Returns the pacing rate, b/s. Default: 2.5 times the target."""
        return 2.5 * self.target()

    def padding(self) -> float:
        """Returns the rate up to which the session adds padding, b/s."""
        return 0.0

    def window(self) -> float:
        """Returns the limit on bytes in flight. Default: no limit."""
        return float("inf")
