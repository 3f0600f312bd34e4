"""The cases in which fairwave's radio links are compared with ns-3's, and the margins.

A case is written once and translated for both: for fairwave into a scenario (:func:`scenario`), for the programs of
this folder into arguments (:func:`arguments`). Margins were written down before the first comparison.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

SECONDS, WARMUP = 6.0, 1.0
"""Length of a run and of its warm-up, s."""

LOSS = 50.0
"""Path loss of all pairs of stations that hear each other, in dB: a ratio of 50 dB and more."""


@dataclass(frozen=True)
class Flow:
    """Packets of one station: always of one size at one distance in time (``interval`` in µs), or TCP's."""

    name: str
    station: int
    up: bool = True
    payload: int = 1472
    interval: float = 300.0
    tcp: bool = False
    dscp: int = 0


@dataclass(frozen=True)
class Measure:
    """One number of a run, over the flows with names that begin with ``group``.

    ``goodput`` in Mb/s, ``share`` of all goodput, ``delay`` (mean) and ``p95`` in ms. ``margin`` is the allowed
    difference, as a part of ns-3's value (``relative``) or in the unit.
    """

    kind: str
    group: str
    margin: float
    relative: bool = True

    @property
    def name(self) -> str:
        """As rows name it."""
        return f"{self.kind}/{self.group}" if self.group else self.kind


@dataclass(frozen=True)
class Scan:
    """Not a measure of one run, but the last of the ``values`` (of ``key``) at which ``measure`` is good."""

    key: str
    values: tuple[float, ...]
    measure: Measure
    at_most: float | None = None
    at_least: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Wifi:
    """A Wi-Fi channel; ``mcs`` by station (the last one for the rest), ``retries``: attempts of a frame at most.

    ``groups``: by station; a station hears its group and the access point. ``up``: like ``mcs``, from stations, if it
    differs. ``bases``: access points, to which stations belong in turn; ``apart``: they do not hear each other.
    ``aggregate``: bytes of an A-MPDU of best effort, and of video if ``video``. ``txop``: of video, in ms.
    """

    standard: str = "802.11a"
    mcs: tuple[int, ...] = (7,)
    queue: int = 100
    aggregate: int = 0
    rts: bool = False
    groups: tuple[int, ...] = ()
    up: tuple[int, ...] = ()
    bases: int = 1
    apart: bool = False
    width: int = 20
    video: bool = False
    txop: float = 4.096
    edca: bool = False
    snr: float | None = None
    error: float = 0.0
    retries: int = 7
    eifs: bool = True
    """Fairwave's stations take overlapping frames for a broken frame. ns-3's take them for noise unless they `lock`."""
    lock: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of 10 MHz; ``cqi`` by user (the last one for the rest)."""

    cqi: tuple[int, ...] = (15,)
    scheduler: str = "round-robin"
    buffer: int = 100_000
    acknowledged: bool = True
    errors: bool = False
    offset: float = 0.0


@dataclass(frozen=True)
class Case:
    """A set-up, its traffic, its measures, and the remaining differences of the simulators."""

    name: str
    title: str
    medium: Wifi | Cell
    flows: tuple[Flow, ...]
    measures: tuple[Measure, ...]
    unlike: str = ""
    scan: Scan | None = None

    @property
    def stations(self) -> int:
        """How many stations or users there are."""
        return max(flow.station for flow in self.flows) + 1


def saturated(
    count: int, name: str = "s", first: int = 0, *, up: bool = True, **more: Any
) -> tuple[Flow, ...]:
    """A flow of each of ``count`` stations; each alone offers more than the channel carries."""
    return tuple(Flow(f"{name}{place}", place, up, **more) for place in range(first, first + count))


def call(station: int, name: str = "call", dscp: int = 0) -> tuple[Flow, ...]:
    """Both directions of G.711 in packets of 20 ms."""
    return tuple(
        Flow(f"{name}-{way}{station}", station, way == "up", payload=160, interval=20_000.0, dscp=dscp)
        for way in ("up", "down")
    )


def calls(count: int) -> tuple[Flow, ...]:
    """``count`` calls, one per station."""
    return tuple(flow for station in range(count) for flow in call(station))


THROUGHPUT = Measure("goodput", "", 0.03)
DELAY, TAIL = Measure("delay", "call-down", 0.10), Measure("p95", "call-down", 0.15)
N = Wifi("802.11n", edca=True)

WIFI = (
    *(
        Case(
            f"dcf-{count}",
            f"{count} stations that always send, 802.11a at 54 Mb/s"
            if count > 1
            else "1 station that always sends, 802.11a at 54 Mb/s",
            Wifi(),
            saturated(count),
            (THROUGHPUT,),
        )
        for count in (1, 2, 5, 10, 20)
    ),
    Case(
        "n-alone",
        "5 stations that always send, 802.11n at 65 Mb/s, no aggregation",
        N,
        saturated(5),
        (THROUGHPUT,),
    ),
    Case(
        "n-ampdu-1",
        "1 station that always sends, 802.11n at 65 Mb/s, A-MPDU",
        replace(N, aggregate=65_535),
        saturated(1, interval=150.0),
        (THROUGHPUT,),
    ),
    Case(
        "n-ampdu-5",
        "5 stations that always send, 802.11n at 65 Mb/s, A-MPDU",
        replace(N, aggregate=65_535),
        saturated(5, interval=150.0),
        (THROUGHPUT,),
    ),
    Case(
        "anomaly-2",
        "a station at 6 Mb/s beside one at 54 Mb/s",
        Wifi(mcs=(0, 7)),
        (*saturated(1, "slow"), *saturated(1, "fast", 1)),
        (THROUGHPUT, Measure("share", "slow", 0.03, relative=False)),
    ),
    Case(
        "anomaly-5",
        "a station at 6 Mb/s beside four at 54 Mb/s",
        Wifi(mcs=(0, 7)),
        (*saturated(1, "slow"), *saturated(4, "fast", 1)),
        (THROUGHPUT, Measure("share", "slow", 0.03, relative=False)),
    ),
    Case(
        "hidden",
        "two stations that do not hear each other, 6 Mb/s, no RTS",
        Wifi(mcs=(0,), groups=(0, 1)),
        saturated(2, interval=2000.0),
        (Measure("goodput", "", 0.10),),
    ),
    Case(
        "hidden-rts",
        "two stations that do not hear each other, 6 Mb/s, RTS and CTS",
        Wifi(mcs=(0,), groups=(0, 1), rts=True),
        saturated(2, interval=2000.0),
        (Measure("goodput", "", 0.10),),
    ),
    Case(
        "edca-share",
        "two stations that always send as voice (CS6) beside two as best effort, 802.11n",
        N,
        (*saturated(2, "voice", dscp=48), *saturated(2, "data", 2)),
        (THROUGHPUT, Measure("share", "voice", 0.03, relative=False)),
    ),
    Case(
        "edca-call",
        "a call as voice (CS6) beside three stations that always send as best effort, 802.11n",
        N,
        (*saturated(3, "data", 1), *call(0, dscp=48)),
        (
            Measure("goodput", "data", 0.03),
            DELAY,
            TAIL,
            Measure("delay", "call-up", 0.10),
            Measure("p95", "call-up", 0.15),
        ),
    ),
    Case(
        "best-effort-call",
        "the same call as best effort",
        N,
        (*saturated(3, "data", 1), *call(0)),
        (
            Measure("goodput", "data", 0.03),
            DELAY,
            TAIL,
            Measure("delay", "call-up", 0.10),
            Measure("p95", "call-up", 0.15),
        ),
    ),
    Case(
        "calls-8",
        "eight calls on 802.11b at 11 Mb/s",
        Wifi("802.11b", (3,)),
        calls(8),
        (DELAY, TAIL, Measure("delay", "call-up", 0.10)),
    ),
    Case(
        "calls",
        "how many calls fit on 802.11b at 11 Mb/s",
        Wifi("802.11b", (3,)),
        calls(8),
        (Measure("most", "calls", 1.0, relative=False),),
        scan=Scan(
            "calls", (8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0), TAIL, at_most=100.0, unit="calls"
        ),
    ),
    Case(
        "fifo",
        "a call beside a TCP download to another station, one FIFO of 100 packets, 802.11a at 54 Mb/s",
        Wifi(),
        (*call(0), Flow("download", 1, up=False, tcp=True)),
        (
            Measure("goodput", "download", 0.05),
            Measure("delay", "call-down", 0.15),
            Measure("p95", "call-down", 0.20),
        ),
        unlike="Both have TCP CUBIC (10 segments at first, SACK, delayed acknowledgements), each its own.",
    ),
    Case(
        "error",
        "one station, one frame in five is lost, 802.11a at 54 Mb/s",
        Wifi(error=0.2),
        saturated(1),
        (THROUGHPUT,),
    ),
    Case(
        "snr",
        "the lowest ratio at which one station keeps half the throughput, 802.11n, index 7",
        replace(N, snr=35.0),
        saturated(1),
        (Measure("least", "snr", 3.0, relative=False),),
        unlike="Each has its own table of errors: fairwave from the sensitivities that the standard demands, ns-3"
        " from simulated receivers.",
        scan=Scan(
            "snr", tuple(float(snr) for snr in range(30, 12, -1)), THROUGHPUT, at_least=15.0, unit="dB"
        ),
    ),
)

LATER = (
    Case(
        "groups-rts",
        "two pairs of stations that do not hear each other, 24 Mb/s, RTS and CTS",
        Wifi(mcs=(4,), groups=(0, 0, 1, 1), rts=True),
        saturated(4, interval=500.0),
        (THROUGHPUT,),
    ),
    Case(
        "lone-rts",
        "a station that none of three others hears, 24 Mb/s, RTS and CTS",
        Wifi(mcs=(4,), groups=(0, 0, 0, 1), rts=True),
        (*saturated(3, interval=500.0), *saturated(1, "lone", 3, interval=500.0)),
        (THROUGHPUT, Measure("share", "lone", 0.03, relative=False)),
    ),
    Case(
        "two-bases",
        "two access points that hear each other, each with two stations that always receive, 802.11n at 65 Mb/s,"
        " A-MPDU",
        replace(N, aggregate=65_535, bases=2),
        saturated(4, up=False, interval=150.0),
        (THROUGHPUT, Measure("share", "s0", 0.03, relative=False)),
    ),
    Case(
        "two-bases-up",
        "two access points that hear each other, each with two stations that always send, 802.11a at 54 Mb/s",
        Wifi(bases=2),
        saturated(4),
        (THROUGHPUT,),
    ),
    Case(
        "two-bases-apart",
        "two access points that do not hear each other, each with a station that hears both and always receives,"
        " 24 Mb/s, RTS and CTS",
        Wifi(mcs=(4,), bases=2, apart=True, rts=True),
        saturated(2, up=False, interval=500.0),
        (THROUGHPUT,),
    ),
    Case(
        "n-40",
        "two stations that always send as video beside two as best effort, 802.11n, 40 MHz, index 4, A-MPDU",
        replace(N, mcs=(4,), width=40, aggregate=65_535, video=True),
        (*saturated(2, "video", dscp=40, interval=150.0), *saturated(2, "data", 2, interval=150.0)),
        (THROUGHPUT, Measure("share", "video", 0.05, relative=False)),
    ),
    Case(
        "up-down",
        "a station that always receives at 54 Mb/s and always sends at 6 Mb/s, 802.11a",
        Wifi(up=(0,)),
        (Flow("down", 0, up=False), Flow("up", 0)),
        (THROUGHPUT, Measure("share", "down", 0.03, relative=False)),
    ),
)
"""Cases that came after the verdicts, with the parts of the law that they show. Margins as those of the first cases."""

CARRIED = Measure("goodput", "", 0.10)
"""The margin of a cell's throughput: fairwave's blocks follow the indicator's efficiency, ns-3's the
nearest modulation and coding scheme does."""

PROBE: dict[str, Any] = {"payload": 100, "interval": 37_000.0}
IDLE = Measure("delay", "s", 2.0, relative=False)
BOTH = (CARRIED, Measure("share", "a", 0.03, relative=False))

CELL = (
    *(
        Case(
            f"{'up' if up else 'down'}-{cqi}",
            f"one user that always {'sends' if up else 'receives'}, CQI {cqi}",
            Cell(cqi=(cqi,)),
            saturated(1, up=up, interval=250.0),
            (CARRIED,),
        )
        for up in (False, True)
        for cqi in (15, 10, 5)
    ),
    Case(
        "rr-equal",
        "two users of CQI 10, round robin, down",
        Cell((10,)),
        (Flow("a", 0, up=False), Flow("b", 1, up=False)),
        BOTH,
    ),
    Case(
        "rr-unequal",
        "users of CQI 15 and 5, round robin, down",
        Cell((15, 5)),
        (Flow("a", 0, up=False, interval=250.0), Flow("b", 1, up=False, interval=250.0)),
        BOTH,
    ),
    Case(
        "pf-equal",
        "two users of CQI 10, proportional fair, down",
        Cell((10,), "proportional-fair"),
        (Flow("a", 0, up=False), Flow("b", 1, up=False)),
        BOTH,
    ),
    Case(
        "pf-unequal",
        "users of CQI 15 and 5, proportional fair, down",
        Cell((15, 5), "proportional-fair"),
        (Flow("a", 0, up=False, interval=250.0), Flow("b", 1, up=False, interval=250.0)),
        BOTH,
    ),
    Case(
        "rr-5",
        "five users of CQI 10, round robin, up",
        Cell((10,)),
        saturated(5, interval=1000.0),
        (CARRIED,),
    ),
    Case(
        "pf-10",
        "ten users of CQI 10, proportional fair, down",
        Cell((10,), "proportional-fair"),
        saturated(10, up=False, interval=2000.0),
        (CARRIED,),
    ),
    Case(
        "idle-down",
        "a packet of 100 B every 37 ms, otherwise idle, down",
        Cell((10,)),
        saturated(1, up=False, **PROBE),
        (IDLE,),
    ),
    Case(
        "idle-up",
        "a packet of 100 B every 37 ms, otherwise idle, up",
        Cell((10,)),
        saturated(1, **PROBE),
        (IDLE,),
        unlike="ns-3 has no scheduling requests: its users report their buffers each interval. fairwave is given a"
        " request each ms and a first grant for all that waits; the time to the grant stays that of the standard.",
    ),
    Case(
        "call-beside",
        "a call beside another user's download, CQI 10, proportional fair",
        Cell((10,), "proportional-fair"),
        (*call(0), Flow("download", 1, up=False)),
        (
            Measure("goodput", "download", 0.10),
            Measure("delay", "call-down", 2.0, relative=False),
            Measure("p95", "call-down", 3.0, relative=False),
        ),
    ),
    Case(
        "deep",
        "a call beside a download of the same user, RLC buffer of 500 kB, CQI 10",
        Cell((10,), buffer=500_000),
        (*call(0), Flow("download", 0, up=False)),
        (Measure("delay", "call-down", 0.15), Measure("p95", "call-down", 0.15)),
    ),
    Case(
        "harq",
        "a packet of 100 B every 37 ms, with errors of the first transmission, down",
        Cell((10,), errors=True, offset=-5.8),
        saturated(1, up=False, **PROBE),
        (IDLE, Measure("p95", "s", 4.0, relative=False)),
        unlike="The share of first transmissions that fail is ns-3's, read from its trace and given to fairwave.",
    ),
)

CASES = {case.name: case for case in (*WIFI, *CELL)}
MORE = {case.name: case for case in LATER}


def variant(name: str, of: str, title: str, **medium: Any) -> Case:
    """A case with another medium, to find the cause of a difference."""
    case = (CASES | MORE)[of]
    flows = medium.pop("flows", case.flows)
    return replace(
        case,
        name=name,
        title=f"{case.title}; {title}",
        medium=replace(case.medium, **medium),
        flows=flows,
        unlike="",
    )


BOTH_SEND = saturated(2, interval=500.0)

VARIANTS = {
    case.name: case
    for case in (
        variant("dcf-10-noise", "dcf-10", "fairwave without EIFS", eifs=False),
        variant("dcf-10-lock", "dcf-10", "ns-3 locks onto overlapping frames", lock=True),
        variant("dcf-20-noise", "dcf-20", "fairwave without EIFS", eifs=False),
        variant("dcf-20-lock", "dcf-20", "ns-3 locks, 100 attempts in both", lock=True, retries=100),
        variant("n-alone-noise", "n-alone", "fairwave without EIFS", eifs=False),
        variant("anomaly-2-noise", "anomaly-2", "fairwave without EIFS", eifs=False),
        variant("edca-share-noise", "edca-share", "fairwave without EIFS", eifs=False),
        variant("hidden-18", "hidden", "but at 18 Mb/s", mcs=(3,), flows=BOTH_SEND),
        variant(
            "hidden-18-100",
            "hidden",
            "but at 18 Mb/s, 100 attempts in both",
            mcs=(3,),
            retries=100,
            flows=BOTH_SEND,
        ),
        variant(
            "hidden-rts-18-100",
            "hidden-rts",
            "but at 18 Mb/s, 100 attempts in both",
            mcs=(3,),
            retries=100,
            flows=BOTH_SEND,
        ),
        variant("n-40-full", "n-40", "TXOP of 4.064 ms", txop=4.064),
        variant("n-40-full-noise", "n-40", "TXOP of 4.064 ms, fairwave without EIFS", txop=4.064, eifs=False),
    )
}
"""Runs after a look at the differences. These rows do not count in the verdicts."""

PARTS = {"cases": CASES, "later": MORE, "variants": VARIANTS}
"""All cases by the part of the kept numbers that they belong to."""


def find(name: str) -> tuple[str, Case]:
    """A case by its name, and its part."""
    return next((part, cases[name]) for part, cases in PARTS.items() if name in cases)


def fix_scan(case: Case, value: float) -> Case:
    """The case of a scan at one of its values."""
    scan = case.scan
    assert scan is not None
    if scan.key == "calls":
        return replace(case, flows=calls(int(value)), scan=None)
    assert isinstance(case.medium, Wifi)
    return replace(case, medium=replace(case.medium, snr=value), scan=None)


def station_value(values: tuple[int, ...], place: int) -> int:
    """The value of a station, or the last value if there are fewer values than stations."""
    return values[min(place, len(values) - 1)]


def starts(case: Case, seed: int) -> list[int]:
    """When the flows begin under a seed, in µs: within 100 ms, after ns-3's users have joined the cell."""
    drawn = random.Random(f"{case.name} {seed}")
    return [drawn.randrange(500_000, 600_000) for _ in case.flows]


def scenario(
    case: Case, seed: int, harq: tuple[float, float] = (0.0, 0.0), seconds: float = SECONDS
) -> dict[str, Any]:
    """The case in fairwave's words; ``harq``: shares of first transmissions and of others that fail."""
    names = [f"s{place}" for place in range(case.stations)]
    medium = case.medium
    links: list[dict[str, Any]]
    bases = _bases(medium, case.stations)
    if isinstance(medium, Wifi):
        air = _wifi(medium, names)
        links = [
            {"from": base, "to": name, "medium": "air", "queue": {"capacity": {"packets": medium.queue}}}
            for name, base in zip(names, bases, strict=True)
        ]
    else:
        air = _cell(medium, names, harq)
        links = [
            {"from": "base", "to": name, "medium": "air", "queue": {"capacity": {"bytes": medium.buffer}}}
            for name in names
        ]
    flows = []
    for flow, start in zip(case.flows, starts(case, seed), strict=True):
        ends = (names[flow.station], bases[flow.station])
        if not flow.up:
            ends = (ends[1], ends[0])
        table: dict[str, Any] = {"name": flow.name, "from": ends[0], "to": ends[1], "dscp": flow.dscp}
        table["start"] = f"{start} us"
        if flow.tcp:
            table |= {"transport": {"name": "tcp/cubic", **TCP}, "traffic": "bulk"}
        else:
            rate = flow.payload * 8e6 / flow.interval
            table["transport"] = {"name": "udp", "header": "28 B", "max-payload": f"{flow.payload} B"}
            table["traffic"] = {
                "kind": "cbr",
                "rate": f"{rate:.0f} b/s",
                "payload": f"{flow.payload} B",
                "phase": "zero",
            }
        flows.append(table)
    return {
        "name": case.name,
        "duration": f"{seconds:g} s",
        "warmup": f"{WARMUP:g} s",
        "hosts": {"clock-skew": "0 ppm", "send-jitter": "0 s"},
        "medium": {"air": air},
        "link": links,
        "flow": flows,
    }


TCP = {
    "preset": "linux",
    "recovery": "sack",
    "quick-acks": 0,
    "header": "52 B",
    "acknowledgement": "52 B",
}
"""The features of ns-3's TCP, and headers of TCP with timestamps and IP."""

STANDARDS = {"802.11a": "802.11g", "802.11b": "802.11b", "802.11n": "802.11n"}


def _bases(medium: Wifi | Cell, stations: int) -> list[str]:
    """The access point of each station."""
    count = medium.bases if isinstance(medium, Wifi) else 1
    return [f"base{place % count or ''}" for place in range(stations)]


def _wifi(medium: Wifi, names: list[str]) -> dict[str, Any]:
    bases = sorted(set(_bases(medium, len(names))))
    air: dict[str, Any] = {
        "law": "wifi",
        "access-points": bases,
        "standard": STANDARDS[medium.standard],
        "edca": medium.edca,
        "fallback": False,
        "retry-limit": medium.retries,
        "eifs": medium.eifs,
        "header": "38 B" if medium.edca else "36 B",
        "driver-buffer": 1 if not medium.aggregate else 123,
        "aggregation": {"frames": 64 if medium.aggregate else 1, "time": "5.484 ms"},
    }
    if medium.edca:
        air["categories"] = {"video": {"txop": f"{medium.txop} ms"}, "voice": {"txop": "2.08 ms"}}
    if medium.width != 20:
        air["width"] = medium.width
    if medium.standard == "802.11a":
        air["band"] = "5 GHz"
    if medium.rts:
        air["rts"] = "1 B"
    if medium.groups:
        grouped = list(zip(names, medium.groups, strict=True))
        air["hears"] = {
            name: [other for other, group in grouped if group == own and other != name]
            for name, own in grouped
        }
    if medium.apart:
        air["hears"] = dict.fromkeys(bases, names)
    air["stations"] = {}
    for place, name in enumerate(names):
        channel: dict[str, Any] = {"mcs": station_value(medium.mcs, place)}
        if medium.snr is not None:
            channel["snr"] = medium.snr
        elif medium.error:
            channel["error"] = medium.error
        air["stations"][name] = {"channel": channel}
        if medium.up:
            air["stations"][name]["uplink"] = channel | {"mcs": station_value(medium.up, place)}
    return air


def _cell(medium: Cell, names: list[str], harq: tuple[float, float]) -> dict[str, Any]:
    return {
        "law": "cell",
        "base-station": "base",
        "resource-blocks": 50,
        "scheduler": medium.scheduler,
        "harq": {"error": harq[0], "repeat-error": harq[1]},
        "rlc": {"mode": "acknowledged" if medium.acknowledged else "unacknowledged"},
        "uplink": {"request": "1 ms", "first": "1500 B"},
        "users": {
            name: {"channel": {"cqi": station_value(medium.cqi, place)}} for place, name in enumerate(names)
        },
    }


def arguments(case: Case, seed: int) -> list[str]:
    """The case as arguments of the program of ``validation/compare/ns3``."""
    medium = case.medium
    told: dict[str, Any] = {
        "seed": seed,
        "stations": case.stations,
        "seconds": SECONDS,
        "warmup": WARMUP,
    }
    if isinstance(medium, Wifi):
        told |= {
            "standard": medium.standard,
            "mcs": ",".join(str(station_value(medium.mcs, place)) for place in range(case.stations)),
            "queue": medium.queue,
            "aggregate": medium.aggregate,
            "rts": int(medium.rts),
            "groups": ",".join(map(str, medium.groups or (0,) * case.stations)),
            "up": ",".join(
                str(station_value(medium.up or medium.mcs, place)) for place in range(case.stations)
            ),
            "bases": medium.bases,
            "apart": int(medium.apart),
            "width": medium.width,
            "video-aggregate": medium.aggregate if medium.video else 0,
            "video-txop": round(1000 * medium.txop),
            "edca": int(medium.edca),
            "snr": 0 if medium.snr is None else medium.snr,
            "loss": LOSS,
            "error": medium.error,
            "retries": medium.retries,
            "locks": int(medium.lock),
        }
    else:
        told |= {
            "cqi": ",".join(str(station_value(medium.cqi, place)) for place in range(case.stations)),
            "scheduler": medium.scheduler,
            "buffer": medium.buffer,
            "acknowledged": int(medium.acknowledged),
            "errors": int(medium.errors),
            "offset": medium.offset,
        }
    flows = ";".join(
        f"{flow.name},{flow.station},{int(flow.up)},{flow.payload},{flow.interval:.0f},{int(flow.tcp)},{flow.dscp},{start}"
        for flow, start in zip(case.flows, starts(case, seed), strict=True)
    )
    return [f"--{key}={value}" for key, value in told.items()] + [f"--flows={flows}"]
