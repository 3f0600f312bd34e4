"""From a fairwave plan to ns-2: the same network, the same flows, the same starts, in ns-2's words.

The plan comes from a scenario with the preset ``ns2``. So everything random that the plan has drawn (starts, spread
delays) is the same in both simulators. Each simulator draws only random events during the run.

Differences that ns-2's input language cannot express directly:

* A DropTail queue that may hold P waiting packets is ``queue-limit`` P + 1.
* RED counts its limit in mean packets if its queue is counted in bytes (``queue_in_bytes_``). Another switch says
  whether it drops by size (``bytes_``). Both were off by default before 2004-10-11.
* A flow that stops: ns-2's FTP stops offering data, fairwave's too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from validation.compare.ns2.case import NsCase, NsFlow, NsLink, NsQueue
from validation.compare.unsupported import unsaid

Plan = dict[str, Any]


class NotInNs2Error(ValueError):
    """The scenario has something that ns-2.35 does not have."""


def translate(plan: Plan, bottleneck: str) -> NsCase:
    """The case that runs ``plan`` in ns-2 and measures the queue of the link direction ``bottleneck``.

    Raises NotInNs2Error for features that ns-2.35 lacks.
    """
    names = [link["name"] for link in plan["links"]]
    if bottleneck not in names:
        raise NotInNs2Error(f"no link `{bottleneck}`; there are {', '.join(names[:8])}")
    if any(plan["hosts"].values()):
        raise NotInNs2Error(
            'hosts that are not in step; write `hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }`'
        )
    if missing := unsaid(plan, "ns-2"):
        raise NotInNs2Error(missing)
    record = plan["record"]
    return NsCase(
        name=plan["name"],
        nodes=tuple(plan["nodes"]),
        links=tuple(_link(link) for link in plan["links"]),
        flows=tuple(_flow(flow, plan["groups"]) for flow in plan["flows"]),
        duration=plan["duration_ns"] / 1e9,
        warmup=plan["warmup_ns"] / 1e9,
        seed=plan["seed"],
        bottlenecks=(names.index(bottleneck),),
        bin=record["bin_ns"] / 1e9,
        window_interval=record["window_interval_ns"] / 1e9,
        windows=tuple(record["windows"]),
    )


def quantity(text: str) -> float:
    """A quantity as fairwave writes it, in seconds, bits per second or bytes."""
    match = re.fullmatch(r"([0-9.]+) ?([A-Za-zµ/]+)", text)
    if match is None or match.group(2) not in _UNITS:
        raise NotInNs2Error(f"`{text}` is no quantity")
    return float(match.group(1)) * _UNITS[match.group(2)]


_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_UNITS |= {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12, "B": 1.0, "kB": 1e3, "MB": 1e6}


def _link(link: dict[str, Any]) -> NsLink:
    loss = link["loss"]
    if loss["model"] not in ("none", "bernoulli"):
        raise NotInNs2Error(f"{link['name']}: loss model `{loss['model']}` is not compared; use `bernoulli`")
    if link["rate"]["law"] != "constant":
        raise NotInNs2Error(
            f"{link['name']}: link rate `{link['rate']['law']}` is not compared; use `constant`"
        )
    if any(link.get(key) for key in ("delays", "outages", "jitter", "reorder", "duplicate")):
        raise NotInNs2Error(
            f"{link['name']}: links that change, or whose packets are out of step, are not compared; "
            "leave delays constant"
        )
    return NsLink(
        source=link["from"],
        target=link["to"],
        rate=float(link["rate_bps"]),
        delay=link["delay_ns"] / 1e9,
        queue=_queue(link["queue"], link["name"]),
        loss=loss.get("rate", 0.0),
    )


def _queue(queue: dict[str, Any], where: str) -> NsQueue:
    discipline = queue["discipline"]
    if queue.get("victim", "tail") not in ("tail", "drop-tail"):
        raise NotInNs2Error(f"{where}: victim `{queue['victim']}` is not compared; leave it out")
    capacity = queue["capacity"]
    rule = _QUEUES.get(discipline)
    if rule is None:
        raise NotInNs2Error(f"{where}: ns-2 has no queue `{discipline}`; it has {', '.join(_QUEUES)}")
    return rule(queue, capacity)


def _drop_tail(_queue: dict[str, Any], capacity: dict[str, int]) -> NsQueue:
    if "packets" not in capacity:
        raise NotInNs2Error("ns-2's DropTail is compared by packets; write `capacity = { packets = … }`")
    return NsQueue("DropTail", capacity["packets"] + 1)


def _red(queue: dict[str, Any], capacity: dict[str, int]) -> NsQueue:
    if queue.get("preset") != "ns2" and queue.get("mode", "packets") == "bytes":
        raise NotInNs2Error('RED by bytes is compared with ns-2\'s details only; write `preset = "ns2"`')
    if queue.get("preset") == "ns2" and set(queue) <= {"discipline", "capacity", "preset", "victim"}:
        return NsQueue("RED", _limit(capacity, 500.0))
    # ns-2 has the same automatic values under its preset, so both leave out the same keys.
    mean = quantity(queue.get("mean-packet", "500 B"))
    in_bytes = queue.get("mode", "bytes" if queue.get("preset") == "ns2" else "packets") == "bytes"
    by_size = queue.get("drop-by-size", in_bytes)
    settings = {
        "bytes_": str(by_size).lower(),
        "queue_in_bytes_": str(in_bytes).lower(),
        "mean_pktsize_": f"{mean:.0f}",
        "gentle_": str(queue.get("gentle", True)).lower(),
        "wait_": str(queue.get("wait", queue.get("preset") == "ns2")).lower(),
    }
    for ours, theirs in (
        ("min-threshold", "thresh_"),
        ("max-threshold", "maxthresh_"),
        ("weight", "q_weight_"),
    ):
        if ours in queue:
            settings[theirs] = str(queue[ours])
        elif queue.get("preset") != "ns2":
            raise NotInNs2Error(
                f'RED is compared with `{ours}` given, or with ns-2\'s automatic one (`preset = "ns2"`)'
            )
    if "max-p" in queue:
        settings["linterm_"] = str(1.0 / queue["max-p"])
    if in_bytes:
        return NsQueue("RED", _limit(capacity, mean), settings)
    if "packets" not in capacity:
        raise NotInNs2Error(
            "ns-2's RED by packets has a limit in packets; write `capacity = { packets = … }`"
        )
    return NsQueue("RED", capacity["packets"], settings)


def _limit(capacity: dict[str, int], mean: float) -> int:
    """The limit of a RED that counts bytes, which ns-2 has in mean packets."""
    packets = capacity.get("bytes", 0) / mean
    if packets < 1 or packets != int(packets):
        raise NotInNs2Error(
            "ns-2's RED by bytes has a limit in whole mean packets; write for example "
            f"`capacity = {{ bytes = {max(1, round(packets)) * mean:.0f} }}`"
        )
    return int(packets)


def _rem(queue: dict[str, Any], capacity: dict[str, int]) -> NsQueue:
    settings = {
        "gamma_": str(queue.get("gamma", 0.001)),
        "phi_": str(queue.get("phi", 1.001)),
        "pbo_": str(queue.get("target", 20.0)),
        "pupdtime_": repr(quantity(queue.get("interval", "2 ms"))),
        "inw_": str(queue.get("input-weight", 1.0)),
        "mean_pktsize_": f"{quantity(queue.get('mean-packet', '1000 B')):.0f}",
    }
    if queue.get("mode", "packets") != "packets" or queue.get("alpha", 0.1) != 0.1:
        raise NotInNs2Error("REM is compared by packets, with ns-2's own weight 0.1 of the backlog")
    return NsQueue("REM", capacity["packets"], settings)


def _avq(queue: dict[str, Any], capacity: dict[str, int]) -> NsQueue:
    size = quantity(queue.get("mean-packet", "1000 B"))
    limit = capacity["packets"] if "packets" in capacity else capacity["bytes"] / size
    settings = {
        "gamma_": str(queue.get("gamma", 0.98)),
        "mean_pktsize_": f"{size:.0f}",
        "queue_in_bytes_": "true",
    }
    return NsQueue("Vq", round(limit), settings)


_QUEUES: dict[str, Callable[[dict[str, Any], dict[str, int]], NsQueue]] = {
    "drop-tail": _drop_tail,
    "red": _red,
    "rem": _rem,
    "avq": _avq,
}


def _flow(flow: dict[str, Any], groups: list[str]) -> NsFlow:
    transport, traffic = flow["transport"], flow["traffic"]
    if flow.get("active_ns") is not None or flow.get("at_most") is not None:
        raise NotInNs2Error(
            f"{flow['name']}: pauses and bounds are not compared; leave out `active` and `at-most`"
        )
    agent, sink, agent_settings, sink_settings, share = _transport(transport, flow["name"])
    application, settings = _traffic(traffic, flow["name"])
    if agent == "Agent/UDP":
        agent_settings["packetSize_"] = settings.get("packetSize_", "1000")
    return NsFlow(
        name=flow["name"],
        group=groups[flow["group"]],
        source=flow["from"],
        target=flow["to"],
        forward=tuple(flow["forward"]),
        backward=tuple(flow["backward"]),
        agent=agent,
        sink=sink,
        application=application,
        start=flow["start_ns"] / 1e9,
        stop=None if flow["stop_ns"] is None else flow["stop_ns"] / 1e9,
        agent_settings=agent_settings,
        sink_settings=sink_settings,
        application_settings=settings,
        payload_share=share,
    )


def _traffic(traffic: dict[str, Any], where: str) -> tuple[str, dict[str, str]]:
    kind = traffic["kind"]
    if kind == "bulk":
        return "Application/FTP", {}
    if traffic.get("phase") == "random":
        raise NotInNs2Error(f'{where}: ns-2\'s sources begin at once; write `phase = "zero"`')
    if kind == "cbr":
        payload = quantity(traffic.get("payload", "1000 B"))
        if traffic.get("jitter", 0.0) not in (0.0, 1.0):
            raise NotInNs2Error(f"{where}: ns-2's CBR has a jitter of 0 or 1")
        return "Application/Traffic/CBR", {
            "packetSize_": f"{payload:.0f}",
            "rate_": f"{quantity(traffic['rate']):.0f}",
            "random_": str(int(traffic.get("jitter", 0.0))),
        }
    if kind in ("burst", "voice"):
        if kind == "voice":
            traffic = _voice(traffic, where)
        if traffic.get("first") != "silence":
            raise NotInNs2Error(f'{where}: ns-2\'s sources begin silent; write `first = "silence"`')
        on, off = traffic["on"], traffic["off"]
        settings = {
            "packetSize_": f"{quantity(traffic.get('payload', '1000 B')):.0f}",
            "rate_": f"{quantity(traffic['rate']):.0f}",
            "burst_time_": repr(quantity(on["mean"])),
            "idle_time_": repr(quantity(off["mean"])),
        }
        if on["distribution"] == off["distribution"] == "exponential":
            return "Application/Traffic/Exponential", settings
        if on["distribution"] == off["distribution"] == "pareto" and on.get("shape", 1.5) == off.get(
            "shape", 1.5
        ):
            return "Application/Traffic/Pareto", settings | {"shape_": repr(on.get("shape", 1.5))}
        raise NotInNs2Error(f"{where}: ns-2's sources are on and off alike, both exponential or both Pareto")
    raise NotInNs2Error(f"{where}: ns-2 has no traffic `{kind}`; it has bulk, cbr and burst")


def _voice(traffic: dict[str, Any], where: str) -> dict[str, Any]:
    """Voice by turns, as ns-2's on/off sources have it: packets at the codec's rate while talking."""
    if (
        traffic.get("codec", "g711") != "g711"
        or traffic.get("always-on")
        or traffic.get("comfort-noise")
        or not {"talk", "silence"} <= set(traffic)
        or traffic.get("reading", "peak-rate") != "peak-rate"
    ):
        raise NotInNs2Error(
            f"{where}: voice is compared with G.711, with `talk` and `silence` given, at its peak rate, without "
            "comfort noise"
        )
    payload = traffic.get("payload", "160 B")
    periods = {"on": traffic["talk"], "off": traffic["silence"], "first": traffic.get("first")}
    return {"rate": "64 kb/s", "payload": payload} | periods


#: Agent and sink of each flavour.
_TCPS = {
    "tcp/tahoe": ("Agent/TCP", "Agent/TCPSink"),
    "tcp/reno": ("Agent/TCP/Reno", "Agent/TCPSink"),
    "tcp/aimd": ("Agent/TCP/Reno", "Agent/TCPSink"),
    "tcp/newreno": ("Agent/TCP/Newreno", "Agent/TCPSink"),
    "tcp/sack": ("Agent/TCP/Sack1", "Agent/TCPSink/Sack1"),
    "tcp/vegas": ("Agent/TCP/Vegas", "Agent/TCPSink"),
}

#: Keys of a TCP that ns-2 gets as settings, or that match its fixed behaviour.
_KNOWN = {"name", "preset", "alpha", "beta", "segment", "receiver-window", "send-jitter"}


def _transport(
    transport: dict[str, Any], where: str
) -> tuple[str, str, dict[str, str], dict[str, str], float]:
    name = transport["name"]
    if name == "udp":
        if quantity(transport.get("header", "40 B")) != 0.0:
            raise NotInNs2Error(f'{where}: ns-2\'s UDP adds no header; write `header = "0 B"`')
        return "Agent/UDP", "Agent/LossMonitor", {}, {}, 1.0
    if name == "tfrc":
        segment, header = (
            quantity(transport.get(key, size)) for key, size in (("segment", "1000 B"), ("header", "32 B"))
        )
        if transport.get("preset") != "ns2" or not transport.get("oscillation-damping", True):
            raise NotInNs2Error(f"{where}: compare with the preset `ns2`, whose TFRC damps oscillations")
        if header != 32.0:
            raise NotInNs2Error(f"{where}: ns-2's TFRC has a header of 32 B")
        # Its sink counts headers, like TCP's sink.
        return (
            "Agent/TFRC",
            "Agent/TFRCSink",
            {"packetSize_": f"{segment:.0f}"},
            {},
            segment / (segment + header),
        )
    if name not in _TCPS:
        raise NotInNs2Error(
            f"{where}: ns-2.35 has no transport `{name}`; it has {', '.join(_TCPS)}, tfrc, udp"
        )
    unknown = set(transport) - _KNOWN
    if unknown or transport.get("preset") != "ns2":
        raise NotInNs2Error(
            f"{where}: compare with the preset `ns2` and without {', '.join(sorted(unknown)) or 'more'}"
        )
    agent, sink = _TCPS[name]
    segment = quantity(transport.get("segment", "1000 B"))
    settings = {
        "packetSize_": f"{segment:.0f}",
        "window_": str(transport.get("receiver-window", 64)),
        "overhead_": repr(quantity(transport.get("send-jitter", "0 s"))),
    }
    if name == "tcp/aimd":
        settings |= {
            "increase_num_": str(transport.get("alpha", 1.0)),
            "decrease_num_": str(transport.get("beta", 0.5)),
        }
    elif name == "tcp/vegas":
        # ns-2's Vegas adds no header, and neither does ours with this preset.
        settings |= {"v_alpha_": str(transport.get("alpha", 1.0)), "v_beta_": str(transport.get("beta", 3.0))}
    header = 0.0 if name == "tcp/vegas" else 40.0
    return agent, sink, settings, {}, segment / (segment + header)
