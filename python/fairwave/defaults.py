"""Defaults that a scenario uses: the systems that have them, and the values of other systems.

Only defaults that matter for the scenario are listed: defaults of its transports, traffic and playout buffers, and of
queues that can hold packets. A value that the scenario sets is not a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairwave.scenario import Scenario

BUSY = 0.5
"""Load below which packets rarely wait on a link, unless a flow uses all remaining capacity."""


@dataclass(frozen=True)
class Alternative:
    """Another plausible value of a default.

    Attributes:
        value: The value, in words.
        systems: The systems and standards that have it.
        changes: The overrides that apply it.
    """

    value: str
    systems: str
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Default:
    """A default value that the scenario uses.

    Attributes:
        name: Name of the parameter, such as `shortest timeout`.
        value: The value, in words.
        used_by: Flow groups or links that use it.
        systems: The systems and standards that have it.
        alternatives: Other plausible values.
    """

    name: str
    value: str
    used_by: tuple[str, ...]
    systems: str
    alternatives: tuple[Alternative, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As a table, for JSON."""
        return {
            "name": self.name, "value": self.value, "used_by": list(self.used_by), "systems": self.systems,
            "alternatives": [{"value": one.value, "systems": one.systems} for one in self.alternatives],
        }  # fmt: skip

    @property
    def cells(self) -> list[str]:
        """A row of the table of defaults."""
        from fairwave.answers.naming import shortened

        others = "; ".join(f"{one.value} ({one.systems})" for one in self.alternatives)
        return [self.name, self.value, shortened(self.used_by), self.systems, others]


HEADS = ["default", "value", "used by", "systems that have it", "other systems"]
"""Columns of `Default.cells`."""


@dataclass(frozen=True)
class Known:
    """A key of a table of flows, with its default and the values of other systems.

    Attributes:
        key: Key below the flow group.
        name: Name of the parameter.
        value: The default, in words.
        systems: The systems that have it.
        others: Other values: in words, the systems, and the keys below the flow group that apply it.
    """

    key: str
    name: str
    value: str
    systems: str
    others: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()


# Sources of Linux' values: net/ipv4/tcp_input.c, tcp_output.c and include/net/tcp.h of 6.x.
TCP = (
    Known(
        "transport.initial-window", "first window", "10 segments", "Linux, Windows and macOS (RFC 6928)",
        (
            ("4 segments", "RFC 5681", {"transport.initial-window": 4}),
            ("32 segments", "some CDNs (Rüth and Hohlfeld 2018)", {"transport.initial-window": 32}),
        ),
    ),
    Known(
        "transport.segment", "segment", "1448 B", "Linux on Ethernet (1500 B with IP, TCP and timestamps)",
        (("1000 B", "ns-2", {"transport.segment": "1000 B"}),),
    ),
    Known(
        "transport.min-rto", "shortest timeout", "200 ms", "Linux 6.x",
        # Linux bounds the deviation from below instead of the timeout. RFC 6298 bounds the timeout.
        (("1 s", "RFC 6298", {"transport.min-rto": "1 s", "transport.tick": "1 ms"}),),
    ),
    Known(
        "transport.ack-delay", "longest delay of an acknowledgement", "40 ms", "Linux 6.x",
        (("500 ms", "RFC 5681, at most", {"transport.ack-delay": "500 ms"}),),
    ),
    Known(
        "transport.recovery", "loss detection", "by time (RACK-TLP)", "Linux 6.x (RFC 8985)",
        (("by duplicates (SACK)", "RFC 6675", {"transport.recovery": "sack"}),),
    ),
    Known(
        "transport.pacing", "pacing", "none", "Linux with the queue fq_codel at the host",
        (("segments paced", "Linux with the queue fq at the host", {"transport.pacing": True}),),
    ),
    Known(
        "transport.ecn", "ECN", "not requested", "Linux and Windows",
        (("requested", "macOS and iOS (RFC 3168)", {"transport.ecn": "classic"}),),
    ),
)  # fmt: skip

CUBIC = (
    Known(
        "transport.hystart", "end of CUBIC's first slow start", "HyStart++", "Windows and RFC 9406; Linux has HyStart",
        (("only by a loss", "RFC 9438", {"transport.hystart": False}),),
    ),
)  # fmt: skip

CODEC = Known(
    "traffic.codec", "voice codec", "G.711", "telephony (SIP)",
    (
        ("Opus, 32 kb/s", "browsers (RFC 7874)", {"traffic.codec": "opus-32"}),
        ("G.729", "telephony on narrow lines", {"traffic.codec": "g729"}),
    ),
)  # fmt: skip

PLAYOUT = Known(
    "playout", "playout buffer", "NetEQ", "libwebrtc: Chrome, Edge, Safari, Firefox",
    (
        ("60 ms for the whole call", "a telephone with a fixed buffer", {
            "playout": {"strategy": "fixed", "delay": "60 ms"},
        }),
        ("a new offset per talkspurt", "Ramjee et al. 1994", {"playout": {"strategy": "adaptive"}}),
    ),
)  # fmt: skip

MARK = Known(
    "dscp", "code point of calls", "EF", "SIP telephones (RFC 4594)",
    (("DF", "browsers, and most calls from the internet", {"dscp": "df"}),),
)  # fmt: skip
"""The default class matters only if a queue or a Wi-Fi link reads code points."""

TRAFFIC: Mapping[str, tuple[Known, ...]] = {
    "voice": (
        CODEC,
        PLAYOUT,
    ),
    "conversation": (
        CODEC,
        PLAYOUT,
    ),
    "recording": (PLAYOUT,),
    "web": (
        Known(
            "traffic.page", "web page", "2.4 MB in 77 requests at the median", "HTTP Archive, desktop, July 2025",
            (("57 kB in 6.6 requests on average", "3GPP2 C.R1002 of 2004", {"traffic.page": "3gpp2-2004"}),),
        ),
        Known(
            "traffic.reading", "time between pages", "30 s on average", "3GPP2 C.R1002 of 2004",
            (
                ("10 s", "a user who leaves after a glance (Liu, White and Dumais 2010)", {
                    "traffic.reading": {"distribution": "exponential", "mean": "10 s"},
                }),
            ),
        ),
    ),
    "stream": (
        Known(
            "traffic.abr", "choice of the stream's rate", "BOLA", "dash.js",
            (("BBA-2", "Netflix (Huang et al. 2014)", {"traffic.abr": "bba-2"}),),
        ),
        Known("traffic.ladder", "rates of the stream", "0.3 to 4.3 Mb/s", "Pensieve (Mao et al. 2017), up to 1080p"),
        Known(
            "traffic.buffer", "the player's buffer", "60 s", "dash.js for long content",
            (("30 s", "hls.js", {"traffic.buffer": "30 s"}),),
        ),
    ),
    "media": (
        Known(
            "transport.control", "rate control of the session", "GCC", "libwebrtc: Chrome, Edge, Safari, Firefox",
            (("SCReAM", "RFC 8298", {"transport.control": "scream"}),),
        ),
        Known(
            "transport.start", "first rate of the session", "300 kb/s", "libwebrtc",
            (("1 Mb/s", "a service that remembers the last call", {"transport.start": "1 Mb/s"}),),
        ),
        Known("traffic.video", "camera", "VP8, 1280 × 720, 30 frames/s, up to 2.5 Mb/s", "libwebrtc"),
    ),
}  # fmt: skip
"""For each kind of traffic, the keys that affect its quality."""


def used_defaults(scenario: Scenario, seed: int = 1) -> list[Default]:
    """The defaults that matter for this scenario, with the systems that have them.

    Args:
        scenario: The scenario.
        seed: The seed of the plan in which loads are computed.

    Raises:
        fairwave.ScenarioError: The scenario cannot be planned.
    """
    table = scenario.to_dict()
    plan = scenario.plan(seed)
    return [
        *_list_tcp(table, plan),
        *_list_traffic(table, plan),
        *_list_queues(scenario, plan),
        *_list_media(table),
        *_list_hosts(table),
    ]


def _list_tcp(table: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[Default]:
    flows = [
        flow for flow in table.get("flow", [])
        if str(flow["transport"]["name"]).startswith("tcp/") and "preset" not in flow["transport"]
    ]  # fmt: skip
    if not flows or "preset" in table:
        return
    names = tuple(str(flow["name"]) for flow in flows)
    yield Default(
        "details of TCP", 'preset = "linux"', names, "Linux 6.x",
        (Alternative('preset = "rfc"', "the RFCs alone", {"preset": "rfc"}),),
    )  # fmt: skip
    planned = {flow["name"].rpartition("[")[0]: flow["transport"] for flow in plan["flows"]}
    marks = any(link["queue"].get("discipline") != "drop-tail" for link in plan["links"])
    for known in TCP:
        yield from _left_out(
            known,
            [flow for flow in flows if _applies(known, planned.get(str(flow["name"]), {}), marks=marks)],
        )
    cubic = [flow for flow in flows if flow["transport"]["name"] == "tcp/cubic"]
    for known in CUBIC:
        yield from _left_out(known, cubic)


PACED = ("tcp/bbr", "tcp/bbr1", "tcp/prague", "tcp/policy")
"""Controllers that have a rate."""

MARKED = ("tcp/prague", "tcp/dctcp")
"""Controllers that request marks."""

BY_DUPLICATES = ("tcp/tahoe", "tcp/reno", "tcp/newreno", "tcp/aimd", "tcp/vegas", "tcp/real")
"""Controllers whose recovery does not depend on the preset."""


def _applies(known: Known, transport: Mapping[str, Any], *, marks: bool) -> bool:
    """Whether the default applies to a transport and matters for it. ECN matters only if some queue can mark."""
    name = transport.get("name", "")
    if known.key == "transport.pacing":
        return name not in PACED
    if known.key == "transport.ecn":
        return marks and name not in MARKED
    if known.key == "transport.recovery":
        return name not in BY_DUPLICATES
    return True


def _list_traffic(table: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[Default]:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for flow in table.get("flow", []):
        kinds.setdefault(str(flow["traffic"]["kind"]), []).append(flow)
    if _looks_at_code_points(table, plan):
        calls = [
            flow for flow in table.get("flow", []) if flow["traffic"]["kind"] in CALLS and "class" not in flow
        ]
        yield from _left_out(MARK, calls)
    merged: dict[str, tuple[Known, list[Mapping[str, Any]]]] = {}
    for kind, flows in kinds.items():
        for known in TRAFFIC.get(kind, ()):
            merged.setdefault(known.name, (known, []))[1].extend(flows)
    for known, flows in merged.values():
        yield from _left_out(known, flows)


CALLS = ("voice", "conversation", "recording")
"""Kinds of traffic with class `voice`."""


def _looks_at_code_points(table: Mapping[str, Any], plan: Mapping[str, Any]) -> bool:
    """Whether some queue or some Wi-Fi serves packets by their code points."""
    if any(medium.get("law") == "wifi" for medium in (table.get("medium") or {}).values()):
        return True
    return any(
        "classes" in link["queue"] or link["queue"].get("discipline") == "cake" for link in plan["links"]
    )


def _left_out(known: Known, flows: Sequence[Mapping[str, Any]]) -> Iterator[Default]:
    """The default, if some of these flow groups leave its key out."""
    first, *rest = known.key.split(".")

    def leaves_out(flow: Mapping[str, Any]) -> bool:
        within: Any = flow.get(first)
        if known.key == "traffic.page" and {"main", "object", "objects"} <= within.keys():
            return False
        return within is None if not rest else rest[0] not in (within or {})

    names = tuple(str(flow["name"]) for flow in flows if leaves_out(flow))
    if not names:
        return
    others = tuple(
        Alternative(
            value, systems, {f"flow.{name}.{key}": to for name in names for key, to in changes.items()}
        )
        for value, systems, changes in known.others
    )
    yield Default(known.name, known.value, names, known.systems, others)


def _list_queues(scenario: Scenario, plan: Mapping[str, Any]) -> Iterator[Default]:
    """Lists the default queues of links on which packets wait."""
    table = scenario.to_dict()
    expanded = scenario.expand_preset().to_dict() if "topology" in table else table
    busy = _busy(scenario, plan)
    disciplines: dict[str, str] = {}
    buffers: dict[str, str] = {}
    for link in expanded.get("link", []):
        for source, sink, spec in _directions(link):
            name = f"{source}>{sink}"
            if name not in busy or "medium" in link:
                continue
            queue = spec if isinstance(spec, dict) else {"discipline": spec} if spec else {}
            if "discipline" not in queue:
                disciplines[name] = name
            if "capacity" not in queue and queue.get("discipline", "drop-tail") == "drop-tail":
                buffers[name] = name
    if disciplines:
        names = tuple(disciplines)
        yield Default(
            "queue", "drop-tail", names, "most routers and switches",
            tuple(
                Alternative(value, systems, {f"link.{name}.queue.discipline": value for name in names})
                for value, systems in (
                    ("fq-codel", "OpenWrt and most Linux distributions"), ("pie", "DOCSIS 3.1 cable modems"),
                )
            ),
        )  # fmt: skip
    if buffers:
        names = tuple(buffers)
        yield Default(
            "buffer", "one bandwidth-delay product, at least 50 packets", names,
            "rule of thumb (Villamizar and Song 1994)",
            (
                Alternative(
                    "four times as much", "home routers (Gettys and Nichols 2011)",
                    {f"link.{name}.queue.capacity": {"bdp": 4.0, "at-least-packets": 50} for name in names},
                ),
            ),
        )  # fmt: skip


def _directions(link: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yields both directions of a link: from, to and queue. The reverse direction defaults to the forward queue."""
    there = link.get("queue")
    yield link["from"], link["to"], there
    yield link["to"], link["from"], (link.get("reverse") or {}).get("queue", there)


def _busy(scenario: Scenario, plan: Mapping[str, Any]) -> set[str]:
    """Link directions that are the slowest on a flow's path and carry bulk data or a load of at least `BUSY`."""
    from fairwave.advice import advise

    rates = {link["name"]: float(link["rate_bps"]) for link in plan["links"]}
    slowest = {min(flow["forward"], key=rates.__getitem__) for flow in plan["flows"] if flow["forward"]}
    return {
        one.name
        for one in advise(scenario, int(plan["seed"])).links
        if one.name in slowest and (one.greedy or one.load >= BUSY)
    }


def _list_media(table: Mapping[str, Any]) -> Iterator[Default]:
    """Shared media: the generation of a Wi-Fi, the access point's queues, a cell's scheduler."""
    for name, medium in (table.get("medium") or {}).items():
        if medium.get("law") == "wifi":
            if "standard" not in medium:
                yield Default(
                    "Wi-Fi", "802.11n, 20 MHz, 1 stream", (name,), "access points of 2009 to 2013",
                    (
                        Alternative(
                            "802.11ax, 80 MHz, 2 streams", "access points from 2019 on",
                            {
                                f"medium.{name}.standard": "802.11ax", f"medium.{name}.width": 80,
                                f"medium.{name}.streams": 2,
                            },
                        ),
                    ),
                )  # fmt: skip
            if "queues" not in medium:
                yield Default(
                    "queues of the access point", "fifo", (name,), "access points without airtime fairness",
                    (
                        Alternative(
                            "airtime", "Linux from 5.x on (mac80211, Høiland-Jørgensen et al. 2017)",
                            {f"medium.{name}.queues": "airtime"},
                        ),
                    ),
                )  # fmt: skip
        if medium.get("law") == "cell" and "scheduler" not in medium:
            yield Default(
                "scheduler of the cell", "proportional-fair", (name,), "most base stations",
                (Alternative("round-robin", "equal shares", {f"medium.{name}.scheduler": "round-robin"}),),
            )  # fmt: skip


def _list_hosts(table: Mapping[str, Any]) -> Iterator[Default]:
    if "preset" in table and str(table["preset"]).startswith("ns2"):
        return
    if "send-jitter" not in (table.get("hosts") or {}):
        yield Default(
            "send jitter of hosts", "up to 1 ms", ("all hosts",), "kernels with 1000 ticks per second",
            (
                Alternative("none", "ns-2", {"hosts.send-jitter": "0 s"}),
                Alternative("up to 4 ms", "kernels with 250 ticks per second", {"hosts.send-jitter": "4 ms"}),
            ),
        )  # fmt: skip
