"""The scenarios: Wi-Fi at home, the edge of a cell, handoffs, and losses on radio links and on wires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.runs.grid import Grid
from fairwave.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.runs.axes import Label
    from fairwave_study.folder import Case

HOME, WIFI_CALLS, WIFI_VIDEO, WIFI_SESSION = "home", "wifi-calls", "wifi-video", "wifi-session"
EDGE, EDGE_CALLS, EDGE_VIDEO, EDGE_SESSION = "edge", "edge-calls", "edge-video", "edge-session"
HANDOFF, HANDOFF_TRANSFER = "handoff", "handoff-transfer"
WIFI_LOSS, CELL_LOSS, VIDEO_LOSS = "wifi-loss", "cell-loss", "video-loss"
WHY_VIDEO, WHY_SESSION, WHY_EDGE = "why-A11", "why-A12", "why-A15"
WHY_HANDOFF, WHY_ATTEMPT, WHY_WIFI, WHY_CELL = "why-A19", "why-A25", "why-wifi", "why-cell"
IDEAL, DELAYED, ONCE = "without-errors", "delays", "one-attempt"
"""Ids of the grids."""

VIDEO: Mapping[str, Any] = {"kind": "video", "packet": "1000 B"}
"""The layered video of study `video`: five layers of 1.024 Mb/s together, shown one second after it was made."""

CALL: Mapping[str, Any] = {"kind": "voice", "codec": "g711", "always-on": True}

TIMES: Mapping[str, Any] = {"duration": "40 s", "warmup": "10 s", "preset": "rfc"}

UDP, RTCP, TFRC, DVRC, REAL = "udp", "rtcp", "tfrc", "dvrc", "tcp/real"
RENO, WESTWOOD, WESTWOOD_PLUS = "tcp/reno", "tcp/westwood", "tcp/westwood+"
CUBIC, BBR, PRAGUE = "tcp/cubic", "tcp/bbr", "tcp/prague"

CARRIERS = (UDP, TFRC, DVRC, REAL, CUBIC, BBR)
"""The carriers of a call and of a video. The video also uses UDP with a rate adapted by reports (`rtcp`)."""


def transport(name: str) -> str | dict[str, Any]:
    """A transport by its name. TCP acknowledges every segment."""
    return {"name": name, "delayed-ack": False} if name.startswith("tcp/") else name


def _transport_axis(flow: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {name: {f"flow.{flow}.transport": transport(name)} for name in names}


def _flow(
    name: str, to: str, over: str, traffic: Any, start: str = "internet", **more: Any
) -> dict[str, Any]:
    return {
        "name": name, "from": start, "to": to, "transport": transport(over), "traffic": traffic,
        "start": {"from": "0 s", "to": "1 s"}, "dscp": "df", **more,
    }  # fmt: skip


# Wi-Fi at home

NEAR, SLOW, NEIGHBOUR, NEIGHBOURS = "near laptop", "slow laptop", "neighbour", "four neighbours"
"""Who downloads: a laptop of the same home, 4 m or 110 m away, or access points of neighbours on the same channel."""

FIFO, FQ, AIRTIME = "fifo", "fq-codel", "airtime"
"""Queues at the access point. FIFO is drop-tail with 1000 packets, behind it the driver's 123."""

PLAIN, MARKED = "best effort", "marked"
"""Code points: none, or EF for calls and AF41 for video, which Wi-Fi maps to its voice and video categories."""

DISTANCE, FAR = 4.0, 110.0
DEEP: Mapping[str, Any] = {"capacity": {"packets": 1000}}
MARKS = {PLAIN: ("df", "df"), MARKED: ("ef", "af41")}


def _neighbours(count: int) -> list[str]:
    return [f"neighbour{number}" for number in range(1, count + 1)]


def _home(who: str) -> dict[str, Any]:
    """Links, channel and flows of a home next to one kind of download."""
    count = {NEIGHBOUR: 1, NEIGHBOURS: 4}.get(who, 0)
    others = _neighbours(count) or ["laptop"]
    channel = {"distance": FAR if who == SLOW else DISTANCE}
    air = {
        "law": "wifi", "access-point": "router", "standard": "802.11n", "queues": FIFO,
        "channel": {"distance": DISTANCE}, "stations": {other: {"channel": dict(channel)} for other in others},
    }  # fmt: skip
    links = [{"from": "internet", "to": "router", "rate": "100 Mb/s", "delay": "10 ms"}] + [
        {"from": "router", "to": station, "medium": "air", "queue": dict(DEEP)}
        for station in ("phone", "television", *others)
    ]
    # A neighbour's access point contends for the air as a station that sends. Nothing comes back: acknowledgements
    # would wait in the queue of this home's access point.
    busy = {"kind": "cbr", "rate": "60 Mb/s" if count == 1 else "20 Mb/s", "payload": "1460 B"}
    flows = [_flow("call", "phone", UDP, dict(CALL), count=2), _flow("video", "television", UDP, dict(VIDEO))]
    if count:
        flows += [_flow(f"download-{other}", "internet", UDP, busy, other) for other in others]
    else:
        flows += [_flow("download", "laptop", CUBIC, "bulk")]
    return {"medium": {"air": air}, "link": links, "flow": flows}


def _home_scenario(who: str) -> Scenario:
    return Scenario.from_dict({"name": f"Wi-Fi at home, {who}", **TIMES, **_home(who)})


QUEUES = {queues: {"medium.air.queues": queues} for queues in (FIFO, FQ, AIRTIME)}
CODE_POINTS = {
    label: {"flow.call.dscp": call, "flow.video.dscp": video} for label, (call, video) in MARKS.items()
}
TWO_QUEUES = {queues: QUEUES[queues] for queues in (FIFO, AIRTIME)}


def _wifi_session() -> Scenario:
    table = _home(SLOW)
    table["flow"] = [_session("phone"), *table["flow"][2:]]
    return Scenario.from_dict({"name": "WebRTC at home", **TIMES, **table})


def _session(to: str) -> dict[str, Any]:
    media = {"kind": "media", "audio": {"rate": "20 kb/s"}, "video": {"least": "150 kb/s", "most": "1 Mb/s"}}
    return {**_flow("session", to, UDP, media), "transport": {"name": "webrtc", "control": "gcc"}}


# The edge of a cell

TAIL, CODEL, FQ_CODEL, DUALPI2, SHORT = "drop-tail", "codel", "fq-codel", "dualpi2", "drop-tail, 50 packets"
"""Queues of the phone at the base station; drop-tail holds 1000 packets."""

EDGE_QUEUES: Mapping[str, Mapping[str, Any]] = {
    TAIL: {"discipline": "drop-tail", **DEEP},
    SHORT: {"discipline": "drop-tail", "capacity": {"packets": 50}},
    CODEL: {"discipline": "codel", **DEEP},
    FQ_CODEL: {"discipline": "fq-codel"},
    DUALPI2: {"discipline": "dualpi2", **DEEP},
}
NO_UPDATE = "none"


def _mast_queues(queues: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {name: {"link.mast>phone.queue": dict(EDGE_QUEUES[name])} for name in queues}


def _cell(flows: Sequence[Mapping[str, Any]], *users: str, **air: Any) -> dict[str, Any]:
    return {
        "medium": {"air": {"law": "cell", "base-station": "mast", **air}},
        "link": [
            {"from": "internet", "to": "mast", "rate": "1 Gb/s", "delay": "15 ms"},
            *({"from": "mast", "to": user, "medium": "air", "queue": dict(DEEP)} for user in users),
        ],
        "flow": list(flows),
    }


def _edge(own: Sequence[Mapping[str, Any]]) -> Scenario:
    """A phone at 3 dB, next to two downloads at 22 dB in the middle of the cell; `own` are the phone's flows."""
    others = [_flow(f"download-{user}", user, CUBIC, "bulk") for user in ("laptop", "tablet")]
    table = _cell(
        [*own, *others], "phone", "laptop", "tablet",
        channel={"snr": 22.0, "doppler": 5.3}, users={"phone": {"channel": {"snr": 3.0, "doppler": 5.3}}},
    )  # fmt: skip
    return Scenario.from_dict({"name": "the edge of a cell", **TIMES, **table})


def _own(*, update: bool = True) -> list[dict[str, Any]]:
    flows = [
        _flow("call", "phone", UDP, dict(CALL), count=2), _flow("video", "phone", UDP, dict(VIDEO)),
        _flow("update", "phone", CUBIC, "bulk"),
    ]  # fmt: skip
    return flows if update else flows[:2]


def _updates() -> dict[str, dict[str, Any]]:
    silent = _edge(_own(update=False)).to_dict()["flow"]
    return {NO_UPDATE: {"flow": silent}, **_transport_axis("update", (CUBIC, PRAGUE))}


# Handoffs

NONE = "none"
FORWARD_SHORT, LOSE_SHORT = "50 ms, forwarded", "50 ms, lost"
FORWARD_LONG, LOSE_LONG = "1 s, forwarded", "1 s, lost"
HANDOFFS: Mapping[str, tuple[str, str]] = {
    FORWARD_SHORT: ("50 ms", "forward"),
    LOSE_SHORT: ("50 ms", "lose"),
    FORWARD_LONG: ("1 s", "forward"),
    LOSE_LONG: ("1 s", "lose"),
}
"""Label to the gap and to the fate of the packets at the old base station. One handoff every five seconds."""


def _handoffs() -> dict[str, dict[str, Any]]:
    axis: dict[str, dict[str, Any]] = {NONE: {}}
    for label, (gap, buffer) in HANDOFFS.items():
        events = [{"at": f"{at} s", "gap": gap, "buffer": buffer} for at in range(3, 40, 5)]
        axis[label] = {"medium.air.users": {"phone": {"handoffs": events}}}
    return axis


def _moving(flows: Sequence[Mapping[str, Any]], queue: Mapping[str, Any]) -> Scenario:
    table = _cell(flows, "phone", channel={"snr": 12.0, "doppler": 5.3}, **{"resource-blocks": 25})
    table["link"][0]["delay"] = "30 ms"
    table["link"][1]["queue"] = dict(queue)
    return Scenario.from_dict({"name": "handoffs", **TIMES, **table})


# Losses: radio links that send again, the same that do not, and wires

WIRE, BURSTS, RESIDUAL = "wire, random losses", "wire, bursts", "wire, residual losses"
WIFI, WIFI_ONCE = "Wi-Fi", "Wi-Fi, one attempt"
CELL, CELL_ONCE = "cell", "cell, one attempt"
WIFI_WIRE, CELL_WIRE = "wire for Wi-Fi", "wire for the cell"
"""Links with the same losses before retransmission; `RESIDUAL` has those after it."""

LOSSES = (0.01, 0.03, 0.1)
"""How often a frame fails on Wi-Fi."""

BLOCKS = (0.02, 0.1)
"""Share of failed blocks in a cell; 0.1 is the target of link adaptation (3GPP TS 36.213 §7.2.3)."""

ATTEMPTS = 7
RUN = 3.0
BUFFER, DRIVER = 50, 4
"""Packets of the buffer before the last hop, and the part of them in Wi-Fi's driver."""

WIFI_RATE, CELL_RATE = 4.857, 8.777
"""Mb/s of the wires. Calibrated: without errors CUBIC has the same goodput as on Wi-Fi and in the cell."""

CELL_DOWN, CELL_UP = 4.3, 22.4
"""Milliseconds that the cell adds to a call's packets, down and up: calibrated."""

PACKET_LOSS: Mapping[float, float] = {0.02: 0.029, 0.1: 0.146}
"""Share of blocks to share of packets that a cell without retransmission loses: calibrated."""

NAMES = {
    RENO: "Reno", WESTWOOD: "Westwood", WESTWOOD_PLUS: "Westwood+", REAL: "TCP-Real", TFRC: "TFRC", DVRC: "DVRC",
}  # fmt: skip
DIFFERENCES = ((WESTWOOD, RENO), (WESTWOOD_PLUS, RENO), (REAL, RENO), (DVRC, TFRC))
"""Transports that distinguish kinds of loss, or claim to, and the others."""

TRANSFERS = (RENO, WESTWOOD, WESTWOOD_PLUS, REAL, CUBIC, BBR, TFRC, DVRC)
STREAMS = (UDP, RTCP, TFRC, DVRC, REAL, WESTWOOD)

_SERVER: Mapping[str, Any] = {"from": "internet", "to": "edge", "rate": "1 Gb/s", "delay": "35 ms"}
_HOP: Mapping[str, Any] = {"from": "edge", "to": "phone"}


def _wifi(error: float, attempts: int) -> dict[str, Any]:
    """Wi-Fi at its lowest rate, 6.5 Mb/s, with this share of failed frames."""
    air = {
        "law": "wifi", "access-point": "edge", "channel": {"mcs": 0, "error": error}, "retry-limit": attempts,
        "driver-buffer": DRIVER,
    }  # fmt: skip
    queue = {"capacity": {"packets": BUFFER - DRIVER}}
    return {"medium": {"air": air}, "link": [dict(_SERVER), {**_HOP, "medium": "air", "queue": queue}]}


def _lte(error: float, *, again: bool) -> dict[str, Any]:
    """A cell with one user and this share of failed blocks."""
    air: dict[str, Any] = {
        "law": "cell",
        "base-station": "edge",
        "channel": {"cqi": 7},
        "harq": {"error": error},
    }
    if not again:
        air |= {"harq": {"error": error, "retransmissions": 0}, "rlc": {"mode": "unacknowledged"}}
    queue = {"capacity": {"packets": BUFFER}}
    return {"medium": {"air": air}, "link": [dict(_SERVER), {**_HOP, "medium": "air", "queue": queue}]}


def _wire(rate: float, loss: Mapping[str, Any] | None, down: float = 0.0, up: float = 0.0) -> dict[str, Any]:
    """A wire with such losses in both directions, as the papers have them."""
    hop = {
        **_HOP, "rate": f"{rate:.6f} Mb/s", "delay": f"{down:g} ms", "loss": dict(loss or {"model": "none"}),
        "queue": {"capacity": {"packets": BUFFER}}, "reverse": {"delay": f"{up:g} ms"},
    }  # fmt: skip
    return {"medium": {}, "link": [dict(_SERVER), hop]}


def _random(rate: float) -> dict[str, Any]:
    return {"model": "bernoulli", "rate": rate}


def _wifi_hops() -> dict[str, Any]:
    """Axis `link` of the grids with Wi-Fi: each depends on the label of `error`."""

    def hop(of: Callable[[float], dict[str, Any]]) -> Callable[[dict[str, Label]], dict[str, Any]]:
        return lambda labels: of(float(labels["error"]))

    return {
        WIRE: hop(lambda e: _wire(WIFI_RATE, _random(e))),
        BURSTS: hop(lambda e: _wire(WIFI_RATE, {"model": "gilbert", "rate": e, "run": RUN})),
        WIFI_ONCE: hop(lambda e: _wifi(e, 1)),
        WIFI: hop(lambda e: _wifi(e, ATTEMPTS)),
        RESIDUAL: hop(lambda e: _wire(WIFI_RATE * (1 - e), _random(e**ATTEMPTS))),
    }


def _cell_hops() -> dict[str, Any]:
    def hop(of: Callable[[float], dict[str, Any]]) -> Callable[[dict[str, Label]], dict[str, Any]]:
        return lambda labels: of(float(labels["error"]))

    return {
        WIRE: hop(lambda e: _wire(CELL_RATE, _random(PACKET_LOSS[e]), CELL_DOWN, CELL_UP)),
        CELL_ONCE: hop(lambda e: _lte(e, again=False)),
        CELL: hop(lambda e: _lte(e, again=True)),
        RESIDUAL: hop(lambda e: _wire(CELL_RATE * (1 - e), None, CELL_DOWN, CELL_UP)),
    }


def _last_hop(*flows: Mapping[str, Any]) -> Scenario:
    return Scenario.from_dict(
        {"name": "losses on the last hop", **TIMES, **_wifi(0.01, ATTEMPTS), "flow": list(flows)}
    )


def _errors(values: Sequence[float]) -> dict[float, dict[str, Any]]:
    return {value: {} for value in values}


def _calibrated() -> list[Grid]:
    """Sources of the wires' rates, delays and losses: links without errors, and cells without retransmission."""
    ideal = {
        WIFI: _wifi(0.0, ATTEMPTS), CELL: _lte(0.0, again=True),
        WIFI_WIRE: _wire(WIFI_RATE, None), CELL_WIRE: _wire(CELL_RATE, None, CELL_DOWN, CELL_UP),
    }  # fmt: skip
    once = {f"{CELL_ONCE}, {error:g}": _lte(error, again=False) for error in BLOCKS}
    steady = _flow("steady", "phone", UDP, {"kind": "cbr", "rate": "6 Mb/s", "payload": "1460 B"})
    calls = [_flow("down", "phone", UDP, dict(CALL)), _flow("up", "internet", UDP, dict(CALL), "phone")]
    delayed = {name: ideal[name] for name in (CELL, CELL_WIRE)}
    return [
        Grid(IDEAL, _last_hop(_flow("transfer", "phone", CUBIC, "bulk")), {"link": ideal}),
        Grid(DELAYED, _last_hop(*calls), {"link": delayed}),
        Grid(ONCE, _last_hop(steady), {"link": once}),
    ]


AS_IS = "as in the study"
NO_VIDEO, LATER = "without the video", "shown after 3 s"
ALONE, STEADY = "without the update", "steady channel"
PATIENT = "target of 100 ms"
SINGLE, NO_ERRORS = "one packet per frame", "no block fails"
FEW_COLLISIONS, NO_GRANTS, BIG = "few collisions", "uplink without grants", "buffer of 500 packets"
PAPERS_WINDOW = "window of 64 segments"


def _drop_flows(scenario: Scenario, *names: str) -> dict[str, Any]:
    return {"flow": [flow for flow in scenario.to_dict()["flow"] if flow["name"] not in names]}


def _tried() -> list[Grid]:
    """Trials for claims that failed: one change at a time."""
    edge = _edge(_own()).with_overrides(_transport_axis("update", (PRAGUE,))[PRAGUE])
    session = _edge([_session("phone"), _own()[2]])
    patient = {"link.mast>phone.queue": {**EDGE_QUEUES[DUALPI2], "target": "100 ms"}}
    transfer = _flow("transfer", "phone", RENO, "bulk")
    moving = _moving([transfer], {"capacity": {"packets": 100}}).with_overrides(_handoffs()[LOSE_LONG])
    some = _transport_axis("transfer", (RENO, WESTWOOD, WESTWOOD_PLUS, REAL))
    window = {
        name: {"flow.transfer.transport": {**dict(transport(name)), "receiver-window": 64}}  # type: ignore[arg-type]
        for name in some
    }

    def narrow(labels: dict[str, Label]) -> dict[str, Any]:
        return window.get(str(labels["transport"]), {}) if labels["tried"] == PAPERS_WINDOW else {}

    return [
        Grid(
            WHY_VIDEO,
            _home_scenario(SLOW),
            {
                "tried": {AS_IS: {}, LATER: {"flow.video.traffic.playout-delay": "3 s"}},
                "carrier": _transport_axis("video", (UDP, DVRC)),
            },
        ),
        Grid(
            WHY_SESSION,
            session,
            {
                "tried": {
                    AS_IS: {},
                    ALONE: _drop_flows(session, "update"),
                    STEADY: {"medium.air.users": {"phone": {"channel": {"snr": 3.0}}}},
                },
                "queue": _mast_queues((FQ_CODEL,)),
            },
        ),
        Grid(
            WHY_EDGE,
            edge,
            {
                "queue": _mast_queues((DUALPI2, FQ_CODEL)),
                "tried": {
                    AS_IS: {},
                    PATIENT: patient,
                    NO_VIDEO: _drop_flows(edge, "video"),
                    STEADY: {"medium.air.users": {"phone": {"channel": {"snr": 3.0}}}},
                },
            },
            keep=lambda labels: labels["queue"] == DUALPI2 or labels["tried"] != PATIENT,
        ),
        Grid(
            WHY_HANDOFF,
            moving,
            {
                "tried": {AS_IS: {}, STEADY: {"medium.air.channel": {"cqi": 7}}},
                "transport": some,
            },
        ),
        Grid(
            WHY_ATTEMPT,
            _last_hop(transfer).with_overrides(_wifi(0.03, 1)),
            {
                "tried": {AS_IS: {}, FEW_COLLISIONS: {"medium.air.categories.best-effort": {"cw-min": 255}}},
                "transport": some,
            },
        ),
        Grid(
            WHY_WIFI,
            _last_hop(transfer).with_overrides(_wifi(0.03, ATTEMPTS)),
            {
                "tried": {AS_IS: {}, SINGLE: {"medium.air.aggregation": {"frames": 1}}, PAPERS_WINDOW: {}},
                "transport": {**some, TFRC: {"flow.transfer.transport": TFRC}},
            },
            settings=narrow,
        ),
        Grid(
            WHY_CELL,
            _last_hop(transfer).with_overrides(_lte(0.1, again=True)),
            {
                "tried": {
                    AS_IS: {},
                    NO_GRANTS: {"medium.air.uplink": {"request": "0 s", "grant": "0 s", "first": "10 kB"}},
                    NO_ERRORS: {"medium.air.harq": {"error": 0.0}},
                    BIG: {"link.edge>phone.queue": {"capacity": {"packets": 500}}},
                    PAPERS_WINDOW: {},
                },
                "transport": some,
            },
            settings=narrow,
        ),
    ]


def grids(_: Case) -> list[Grid]:
    """All of them."""
    who = {name: _home(name) for name in (NEAR, SLOW, NEIGHBOUR, NEIGHBOURS)}
    slow, transfer = _home_scenario(SLOW), _flow("transfer", "phone", RENO, "bulk")
    edge, two = _edge(_own()), (TAIL, FQ_CODEL)
    moving = [_flow("call", "phone", UDP, dict(CALL), count=2), _flow("video", "phone", UDP, dict(VIDEO))]
    watched = [_flow("video", "phone", UDP, dict(VIDEO)), _flow("transfer", "phone", RENO, "bulk", count=2)]
    loss: dict[str, Any] = {"link": _wifi_hops(), "error": _errors(LOSSES)}
    return [
        Grid(HOME, _home_scenario(NEAR), {"who": who, "queue": QUEUES, "category": CODE_POINTS}),
        Grid(WIFI_CALLS, slow, {"queue": TWO_QUEUES, "carrier": _transport_axis("call", CARRIERS)}),
        Grid(
            WIFI_VIDEO,
            slow,
            {"queue": TWO_QUEUES, "carrier": _transport_axis("video", (UDP, RTCP, *CARRIERS[1:]))},
        ),
        Grid(WIFI_SESSION, _wifi_session(), {"queue": QUEUES}),
        Grid(EDGE, edge, {"update": _updates(), "queue": _mast_queues(tuple(EDGE_QUEUES))}),
        Grid(EDGE_CALLS, edge, {"queue": _mast_queues(two), "carrier": _transport_axis("call", CARRIERS)}),
        Grid(
            EDGE_VIDEO,
            edge,
            {"queue": _mast_queues(two), "carrier": _transport_axis("video", (UDP, RTCP, *CARRIERS[1:]))},
        ),
        Grid(
            EDGE_SESSION, _edge([_session("phone"), _own()[2]]), {"queue": _mast_queues(tuple(EDGE_QUEUES))}
        ),
        Grid(
            HANDOFF,
            _moving(moving, DEEP),
            {"handoff": _handoffs(), "carrier": _transport_axis("video", CARRIERS)},
        ),
        Grid(
            HANDOFF_TRANSFER,
            _moving([transfer], {"capacity": {"packets": 100}}),
            {"handoff": _handoffs(), "transport": _transport_axis("transfer", TRANSFERS)},
        ),
        Grid(WIFI_LOSS, _last_hop(transfer), {**loss, "transport": _transport_axis("transfer", TRANSFERS)}),
        Grid(
            CELL_LOSS,
            _last_hop(transfer),
            {
                "link": _cell_hops(),
                "error": _errors(BLOCKS),
                "transport": _transport_axis("transfer", TRANSFERS),
            },
        ),
        Grid(VIDEO_LOSS, _last_hop(*watched), {**loss, "carrier": _transport_axis("video", STREAMS)}),
        *_tried(),
        *_calibrated(),
    ]
