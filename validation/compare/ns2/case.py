"""The input of ns-2: a topology, flows and measures, in ns-2's terms.

The values follow the defaults that ns-2.35 reads from ``ns-default.tcl``; a field that is not given has ns-2's
default. Rates are bits per second, times seconds, sizes bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class NsQueue:
    """A queue of ns-2.

    ``kind`` is the Tcl class after ``Queue/`` (``DropTail``, ``RED``, ``REM``, ``Vq``). ``limit`` is ns-2's
    ``queue-limit`` in packets: a DropTail of limit L holds at most L − 1 waiting packets and the one in transmission.
    ``settings`` are instance variables that differ from ns-2's defaults.
    """

    kind: str = "DropTail"
    limit: int = 50
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NsLink:
    """One direction of a link. ``loss`` is the probability that a packet is lost after its transmission."""

    source: int
    target: int
    rate: float
    delay: float
    queue: NsQueue = NsQueue()
    loss: float = 0.0


@dataclass(frozen=True)
class NsFlow:
    """One flow: an agent pair and an application above it.

    ``agent`` and ``sink`` are Tcl class names (``Agent/TCP/Reno``, ``Agent/TCPSink``), ``application``
    likewise (``Application/FTP``). ``payload_share`` converts the sink's ``bytes_`` to payload bytes: ns-2
    counts 1040 bytes for a TCP packet of 1000. ``forward`` and ``backward`` are indices of links, in order.
    """

    name: str
    group: str
    source: int
    target: int
    forward: tuple[int, ...]
    backward: tuple[int, ...]
    agent: str
    sink: str
    application: str
    start: float
    stop: float | None = None
    agent_settings: dict[str, str] = field(default_factory=dict)
    sink_settings: dict[str, str] = field(default_factory=dict)
    application_settings: dict[str, str] = field(default_factory=dict)
    payload_share: float = 1.0


@dataclass(frozen=True)
class NsCase:
    """One run of ns-2.

    ``bottlenecks`` are indices of the links with a measured queue; drops and arrivals are counted per flow. ``bin``
    (seconds, 0 for none) is the width of the bins for each sink's bytes. ``window_interval`` (seconds, 0 for none) is
    the sampling interval of the congestion windows of the flows ``windows``.
    """

    name: str
    nodes: tuple[str, ...]
    links: tuple[NsLink, ...]
    flows: tuple[NsFlow, ...]
    duration: float
    warmup: float
    seed: int
    bottlenecks: tuple[int, ...] = ()
    bin: float = 0.0
    window_interval: float = 0.0
    windows: tuple[int, ...] = ()
    #: Count the departures of every link (for speed comparisons; slows ns-2 down).
    count_hops: bool = False
    #: Measure nothing at all: the plain run that is timed.
    plain: bool = False
