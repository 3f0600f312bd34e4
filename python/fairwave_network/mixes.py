"""Kinds of traffic of demands: calls, conferences, video, web and downloads, each as flows that arrive and leave.

| kind | traffic | transport | lasts (mean, exponential) |
|---|---|---|---|
| `calls` | voice, G.711 or `codec`; each direction is a flow | UDP | 3 min † |
| `conferences` | microphone and camera of a WebRTC peer | webrtc | 10 min † |
| `video` | an adaptive stream | CUBIC | 5 min † |
| `web` | a user who browses | CUBIC | 5 min † |
| `downloads` | a file, exponential, of mean `size` (1 MB †) | CUBIC | until it is complete |

These keys of the table replace the values of the kind: `traffic`, `transport`, `lasts`, `class`, `dscp`, `playout`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from fairwave import ScenarioError
from fairwave_network import units
from fairwave_network.units import error

KINDS: dict[str, tuple[Any, str, str | None]] = {
    "calls": ("voice", "udp", "3 min"),
    "conferences": ("media", "webrtc", "10 min"),
    "video": ("stream", "tcp/cubic", "5 min"),
    "web": ("web", "tcp/cubic", "5 min"),
    "downloads": ("transfer", "tcp/cubic", None),
}

KEYS = (
    "name",
    "kind",
    "share",
    "busy",
    "lasts",
    "codec",
    "size",
    "traffic",
    "transport",
    "class",
    "dscp",
    "playout",
    "timely",
)

HEADERS = 1.04
"""Bytes on the wire per byte of TCP payload: 52 bytes of headers for 1448."""


@dataclass(frozen=True)
class Mix:
    """One kind of traffic of every demand.

    Attributes:
        name: Part of the flow groups' names: letters, digits and `-`.
        kind: One of `KINDS`.
        flow: The common keys of its flow groups.
        lasts_s: Mean duration of a flow, seconds; None for transfers that last until they are complete.
        bits: Mean rate on the wire while a flow lasts, b/s; for a download its mean size in bits.
        share: Part of the load; None if `busy` sets the number of flows.
        busy: Mean number of flows at once in the whole network; None if `share` sets the amount.
    """

    name: str
    kind: str
    flow: dict[str, Any]
    lasts_s: float | None
    bits: float
    share: float | None
    busy: float | None

    def arrival_rate(self, bits_per_second: float) -> float:
        """Returns the arrivals per second that offer this rate."""
        return bits_per_second / (self.bits * (self.lasts_s or 1.0))

    def offered(self, per_second: float) -> float:
        """Returns the bits per second that this many arrivals per second offer."""
        return per_second * self.bits * (self.lasts_s or 1.0)

    def arrivals(self, per_second: float) -> dict[str, Any]:
        """Returns the table `arrivals` of a flow group."""
        table: dict[str, Any] = {"rate": f"{per_second:.12g} per s"}
        if self.lasts_s is not None:
            table["lasts"] = {"distribution": "exponential", "mean": units.span_text(self.lasts_s)}
            table["steady"] = True
        return table


def read(tables: Any) -> list[Mix]:
    """Reads the mixes of a scenario. The default is calls and downloads, half of the load each †."""
    if tables is None:
        tables = [{"kind": "calls", "share": 0.5}, {"kind": "downloads", "share": 0.5}]
    if not isinstance(tables, list) or not tables:
        raise error("mix", "it is no list of tables", 'write [[mix]] and beneath it kind = "calls"')
    found: list[Mix] = []
    for number, table in enumerate(tables):
        mix = _parse_mix(table, f"mix[{number}]")
        if mix.name in [one.name for one in found]:
            raise error(
                f"mix[{number}].name", f"{mix.name!r} stands twice", "give every mix a `name` of its own"
            )
        found.append(mix)
    return found


def _parse_mix(table: Any, at: str) -> Mix:
    if not isinstance(table, dict):
        raise error(at, "it is no table", 'write [[mix]] and beneath it kind = "calls"')
    for key in table:
        if key not in KEYS:
            raise error(f"{at}.{key}", "there is no such key", f"a mix has {', '.join(KEYS)}")
    kind = table.get("kind")
    if kind not in KINDS:
        raise error(f"{at}.kind", f"{kind!r:.40} is no kind of traffic", f"write one of {', '.join(KINDS)}")
    name = table.get("name", kind)
    if not isinstance(name, str) or not name.replace("-", "").isalnum():
        raise error(f"{at}.name", f"{name!r:.40} is no name", "use letters, digits and `-`")
    if ("share" in table) == ("busy" in table):
        raise error(
            at, "either `share` or `busy` says how much there is of it", 'write for example share = "30 %"'
        )
    traffic, transport, lasts = KINDS[kind]
    if "codec" in table:
        traffic = {"kind": traffic, "codec": table["codec"]}
    if kind == "downloads":
        traffic = {
            "kind": "transfer",
            "size": {"distribution": "exponential", "mean": table.get("size", "1 MB")},
        }
    traffic = table.get("traffic", traffic)
    flow = {"traffic": traffic, "transport": table.get("transport", transport)}
    flow |= {key: table[key] for key in ("class", "dscp", "playout", "timely") if key in table}
    ends = (traffic if isinstance(traffic, str) else traffic.get("kind")) == "transfer"
    lasts_s = None if ends else units.span(table.get("lasts", lasts or "3 min"), f"{at}.lasts")
    if lasts_s is not None and lasts_s <= 0:
        raise error(f"{at}.lasts", "it is 0", 'write for example lasts = "3 min"')
    share = units.share(table["share"], f"{at}.share") if "share" in table else None
    busy = table.get("busy")
    if busy is not None and (
        not isinstance(busy, (int, float)) or isinstance(busy, bool) or not 0 <= busy < 1e7
    ):
        raise error(f"{at}.busy", f"{busy!r:.40} is no number of flows", "write for example busy = 10_000")
    try:
        bits = _unit(repr(flow), ends) if lasts_s is None or lasts_s > 0 else 0.0
    except ScenarioError as wrong:
        raise units.reword_error(wrong, lambda place: f"{at}.{_own_key(place, table)}") from None
    return Mix(name, kind, flow, lasts_s, bits, share, None if busy is None else float(busy))


def _own_key(place: str, table: dict[str, Any]) -> str:
    """Maps a key of a flow group to the key of a mix: `traffic.codec` may be written as `codec`."""
    key = place.partition("].")[2] or place
    last = key.rpartition(".")[2]
    return last if last in table and key.partition(".")[0] not in table else key


@cache
def _unit(flow: str, ends: bool) -> float:
    """Returns the load of one flow, from a single link's plan: mean bits per second on the wire, or all its bits."""
    import ast

    from fairwave.scenario import Scenario

    arrivals: dict[str, Any] = {"rate": "1 per s"}
    if not ends:
        arrivals["lasts"] = {"distribution": "constant", "mean": "100 s"}
    link = {"from": "a", "to": "b", "rate": "1 Gb/s", "delay": "5 ms"}
    group = {"name": "one", "from": "a", "to": "b", "arrivals": arrivals, **ast.literal_eval(flow)}
    scenario = Scenario.from_dict({"name": "mix", "duration": "200 s", "link": [link], "flow": [group]})
    first = scenario.plan(1)["flows"][0]
    if first["volume_bytes"] is not None:
        bits = float(first["volume_bytes"]) * 8 * HEADERS
        return bits if ends else bits / max(float(first["on_s"]), 1e-9)
    if first["offered_bps"] is None:
        raise error(
            "mix.traffic", "bulk data offers whatever the network takes", "write a `transfer` with a size"
        )
    return float(first["offered_bps"]) * scenario.activities.get("one", 1.0)
