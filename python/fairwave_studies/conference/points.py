"""The scenarios: the cases of RFC 8867, each with every rate controller and every queue."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fairwave.runs.grid import Grid
from fairwave.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave_study.folder import Case

VARIABLE, SEVERAL, FEEDBACK, COMPETING, ROUND_TRIPS = (
    "variable",
    "several",
    "feedback",
    "competing",
    "round-trips",
)
TCP, TCP_DEEP, WEB, PAUSE, ECN, BOTTLENECKS = "tcp", "tcp-deep", "web", "pause", "ecn", "bottlenecks"
PRIORITY = "priority"

SECTIONS: Mapping[str, str] = {
    VARIABLE: "5.1",
    SEVERAL: "5.2",
    FEEDBACK: "5.3",
    COMPETING: "5.4",
    ROUND_TRIPS: "5.5",
    TCP: "5.6, 300 ms",
    TCP_DEEP: "5.6, 1000 ms",
    WEB: "5.7",
    PAUSE: "5.8",
    PRIORITY: "6.1",
    ECN: "6.2",
    BOTTLENECKS: "6.3",
}
"""Id of a case, also the id of its grid, to its section of RFC 8867."""

MULTIPLE = (SEVERAL, COMPETING, WEB)
"""Cases with several sessions in one group."""

BESIDE_TCP = (TCP, TCP_DEEP, WEB)
"""Cases with sessions that compete with TCP."""

PAUSED = "paused"
"""The session of §5.8 that pauses."""

LINK, SECOND = "a>b", "c>d"
"""The bottleneck, and the second one of §6.3."""

GCC, SCREAM, NADA, TFRC, AIAMD, RTCP = "gcc", "scream", "nada", "tfrc", "aiamd", "rtcp"
_MARKS_SEEN = {"feedback": "rfc8888"}
CONTROLLERS: Mapping[str, Mapping[str, Any]] = {
    GCC: {"control": "gcc"},
    SCREAM: {"control": "scream", **_MARKS_SEEN},
    NADA: {"control": "nada", **_MARKS_SEEN},
    TFRC: {"control": "tfrc", **_MARKS_SEEN},
    AIAMD: {"control": "aiamd", **_MARKS_SEEN},
    RTCP: {"control": "rtcp"},
}
"""Name of a rate controller to its settings for a session, with the feedback that it was made for."""

TODAY = (GCC, SCREAM, NADA)
"""Made for calls; the others adapt the papers' transports to the same media."""

TAIL, SEL, CODEL, PIE = "drop-tail", "drop-tail + drop-sel", "codel", "pie"
FQ_CODEL, CAKE, DUALPI2 = "fq-codel", "cake", "dualpi2"
QUEUES: Mapping[str, Mapping[str, Any]] = {
    TAIL: {"discipline": "drop-tail"},
    SEL: {"discipline": "drop-tail", "victim": "drop-sel"},
    CODEL: {"discipline": "codel"},
    PIE: {"discipline": "pie"},
    FQ_CODEL: {"discipline": "fq-codel"},
    CAKE: {"discipline": "cake"},
    DUALPI2: {"discipline": "dualpi2"},
}
"""Name of a queue to its table, without its capacity, which is the case's."""

MARKING = (CODEL, PIE)
"""Queues that mark only if the scenario asks for it (§6.2). The others mark all traffic that understands marks."""

MEDIA: Mapping[str, Any] = {
    "kind": "media",
    "audio": {"rate": "20 kb/s"},
    "video": {"least": "150 kb/s", "most": "1.5 Mb/s"},
}
"""RFC 8867 §4.3; reaction and error of the encoder are its defaults."""

START = "200 kb/s"
"""The rate at which a session begins: 150 kb/s of video (§4.3), audio and headers. It is the least, too."""

DELAY = 49.0
"""Propagation delay of the bottleneck, milliseconds; the link behind it has the rest of 50 ms, and the jitter."""


def _buffer(megabits: float, milliseconds: float = 300.0) -> dict[str, Any]:
    """A buffer of this many milliseconds at the reference capacity."""
    return {"bytes": round(megabits * 1e6 / 8 * milliseconds / 1e3)}


def _steps(*steps: tuple[float, float]) -> list[dict[str, str]]:
    """A capacity that changes: seconds and megabits per second."""
    return [{"at": f"{at:g} s", "is": f"{rate:g} Mb/s"} for at, rate in steps]


def _session(name: str = "media", **more: Any) -> dict[str, Any]:
    transport = {"name": "webrtc", "start": START, "least": START}
    return {"name": name, "from": "a", "to": "z", "transport": transport, "traffic": dict(MEDIA), **more}


def _tail(last: str = "b") -> dict[str, Any]:
    """The way from the bottleneck to the receiver: fast, with the jitter."""
    return {"from": last, "to": "z", "rate": "100 Mb/s", "delay": "1 ms", "jitter": "gaussian"}


def _bottleneck(rate: str | list[dict[str, str]], capacity: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "from": "a",
        "to": "b",
        "rate": rate,
        "delay": f"{DELAY:g} ms",
        "queue": {"discipline": "drop-tail", "capacity": dict(capacity)},
        **more,
    }


def _case(
    case: str, seconds: int, links: Sequence[Mapping[str, Any]], flows: Sequence[Mapping[str, Any]]
) -> Scenario:
    return Scenario.from_dict(
        {
            "name": f"RFC 8867, {SECTIONS[case]}",
            "duration": f"{seconds} s",
            "preset": "rfc",
            "link": list(links),
            "flow": list(flows),
        }
    )


_RATES = {
    VARIABLE: ((0, 1.0), (40, 2.5), (60, 0.6), (80, 1.0)),
    SEVERAL: ((0, 4.0), (25, 2.0), (50, 3.5), (75, 1.0), (100, 2.0)),
    FEEDBACK: ((0, 2.0), (20, 1.0), (40, 0.5), (60, 2.0)),
}
BACK = ((0, 2.0), (35, 0.8), (70, 2.0))
"""Capacity of the way back in §5.3."""

RATES: Mapping[str, Sequence[tuple[float, float]]] = _RATES
"""Capacity of the bottleneck over time in cases with changes: seconds, Mb/s (Tables 1 to 3)."""


def _variable(case: str) -> Scenario:
    links = [_bottleneck(_steps(*RATES[VARIABLE]), _buffer(1.0)), _tail()]
    return _case(case, 100, links, [_session(stop="99 s")])


def _several() -> Scenario:
    links = [_bottleneck(_steps(*RATES[SEVERAL]), _buffer(2.0)), _tail()]
    return _case(SEVERAL, 125, links, [_session(count=2, stop="124 s")])


def _feedback() -> Scenario:
    reverse = {"rate": _steps(*BACK), "queue": {"discipline": "drop-tail", "capacity": _buffer(1.0)}}
    links = [_bottleneck(_steps(*RATES[FEEDBACK]), _buffer(1.0), reverse=reverse), _tail()]
    back = {**_session("back", stop="99 s"), "from": "z", "to": "a"}
    return _case(FEEDBACK, 100, links, [_session(stop="99 s"), back])


def _competing() -> Scenario:
    links = [_bottleneck("3.5 Mb/s", _buffer(3.5)), _tail()]
    return _case(
        COMPETING, 120, links, [_session(count=3, start={"every": "20 s", "from": "0 s"}, stop="119 s")]
    )


DELAYS = (10, 25, 50, 100, 150)
"""One-way propagation delays of §5.5, milliseconds."""


def _round_trips() -> Scenario:
    links = [{**_bottleneck("4 Mb/s", _buffer(4.0)), "delay": "4 ms"}, _tail()]
    flows = []
    for number, delay in enumerate(DELAYS):
        links.append({"from": f"s{number}", "to": "a", "rate": "100 Mb/s", "delay": f"{delay - 5} ms"})
        flows.append(
            {**_session(f"media{number}", start=f"{10 * number} s", stop="299 s"), "from": f"s{number}"}
        )
    return _case(ROUND_TRIPS, 300, links, flows)


def _tcp(case: str, milliseconds: float) -> Scenario:
    links = [_bottleneck("2 Mb/s", _buffer(2.0, milliseconds)), _tail()]
    tcp = {"name": "tcp", "from": "a", "to": "z", "transport": "tcp/reno", "traffic": "bulk", "stop": "119 s"}
    return _case(case, 120, links, [_session(start="5 s", stop="119 s"), tcp])


def _web() -> Scenario:
    links = [_bottleneck("2 Mb/s", _buffer(2.0)), _tail()]
    resource = {"distribution": "list", "sizes": [f"{size} kB" for size in range(30, 51, 2)]}
    page = {
        "kind": "web",
        "main": resource,
        "object": resource,
        "objects": 2,
        "reading": {"distribution": "exponential", "mean": "10 s"},
    }
    short = {"from": "a", "to": "z", "transport": "tcp/reno", "stop": "299 s"}
    flows = [
        _session(count=2, start="5 s", stop="299 s"),
        {**short, "name": "on", "count": 2, "traffic": {**page, "first": "asks"}},
        {**short, "name": "off", "count": 8, "traffic": {**page, "first": "reads"}},
    ]
    return _case(WEB, 300, links, flows)


def _pause() -> Scenario:
    links = [_bottleneck("3.5 Mb/s", _buffer(3.5)), _tail()]
    flows = [
        _session(count=2, stop="119 s"),
        _session(PAUSED, active=[["0 s", "40 s"], ["60 s", "119 s"]]),
    ]
    return _case(PAUSE, 120, links, flows)


def _priority() -> Scenario:
    # Two cameras of one session: the transport has room for a camera and a screen. Both show a head.
    cameras = {
        **MEDIA,
        "video": {**MEDIA["video"], "priority": 2.0},
        "screen": {**MEDIA["video"], "scene": "talking-head", "priority": 1.0},
    }
    links = [_bottleneck("2 Mb/s", _buffer(2.0)), _tail()]
    return _case(PRIORITY, 120, links, [_session(stop="119 s", traffic=cameras)])


def _bottlenecks() -> Scenario:
    links = [
        {**_bottleneck("2 Mb/s", _buffer(2.0)), "delay": "39 ms"},
        {"from": "b", "to": "c", "rate": "8 Mb/s", "delay": "20 ms", "queue": {"capacity": _buffer(8.0)}},
        {**_bottleneck("1.5 Mb/s", _buffer(1.5)), "from": "c", "to": "d", "delay": "39 ms"},
        {**_tail("d"), "to": "z"},
        {**_tail("b"), "to": "y"},
    ]
    flows = [
        _session(stop="299 s"),
        {**_session("first", stop="299 s"), "to": "y"},
        {**_session("second", stop="299 s"), "from": "c"},
    ]
    return _case(BOTTLENECKS, 300, links, flows)


def scenario(case: str) -> Scenario:
    """A case by its id, with the default controller and a drop-tail queue.

    Raises:
        KeyError: There is no such case.
    """
    makers = {
        VARIABLE: lambda: _variable(VARIABLE),
        SEVERAL: _several,
        FEEDBACK: _feedback,
        COMPETING: _competing,
        ROUND_TRIPS: _round_trips,
        TCP: lambda: _tcp(TCP, 300.0),
        TCP_DEEP: lambda: _tcp(TCP_DEEP, 1000.0),
        WEB: _web,
        PAUSE: _pause,
        PRIORITY: _priority,
        ECN: lambda: _variable(ECN),
        BOTTLENECKS: _bottlenecks,
    }
    return makers[case]()


@cache
def sessions(case: str) -> list[str]:
    """The groups of a case that are media sessions, in order."""
    flows = scenario(case).to_dict()["flow"]
    return [
        str(flow["name"])
        for flow in flows
        if isinstance(flow["traffic"], dict) and flow["traffic"]["kind"] == "media"
    ]


def heard(case: str) -> list[str]:
    """The sessions with rated speech and pictures, without a session that pauses: the pause would spoil its rating."""
    return [group for group in sessions(case) if group != PAUSED]


def bottlenecks(case: str) -> list[str]:
    """The link directions of a case that have its queue."""
    return {FEEDBACK: [LINK, "b>a"], BOTTLENECKS: [LINK, SECOND]}.get(case, [LINK])


def _controllers(case: str) -> dict[str, dict[str, Any]]:
    groups = sessions(case)

    def set_all(table: Mapping[str, Any]) -> dict[str, Any]:
        transport = {"name": "webrtc", "start": START, "least": START, **table}
        return {f"flow.{group}.transport": dict(transport) for group in groups}

    return {name: set_all(table) for name, table in CONTROLLERS.items()}


def _queues(case: str) -> dict[str, dict[str, Any]]:
    # The capacity is the case's, so only the disciplines and their parameters differ.
    found: dict[str, dict[str, Any]] = {}
    table = scenario(case).to_dict()
    capacities: dict[str, Any] = {}
    for link in table["link"]:
        name = f"{link['from']}>{link['to']}"
        if name in bottlenecks(case):
            capacities[name] = link["queue"]["capacity"]
            if case == FEEDBACK:
                capacities["b>a"] = link["reverse"]["queue"]["capacity"]
    keys = {"b>a": f"link.{LINK}.reverse.queue"}
    for name, queue in QUEUES.items():
        own = {**queue, "ecn": True} if case == ECN and name in MARKING else dict(queue)
        found[name] = {
            keys.get(link, f"link.{link}.queue"): {**own, "capacity": capacity}
            for link, capacity in capacities.items()
        }
    return found


def grids(_: Case) -> list[Grid]:
    """A grid per case, in the order of the RFC."""
    return [
        Grid(case, scenario(case), {"queue": _queues(case), "controller": _controllers(case)})
        for case in SECTIONS
    ]
