"""Audible call: one call of the scenario that carries a recording instead of generated speech.

It keeps everything else: codec, packets, silence suppression, transport, path, playout buffer and concealment. A
group's only call is changed in place. Of several flows, the last one moves into a new flow group `CALL`, because all
flows of a group have the same traffic. Measures of the group then cover both groups (`RecordedCall.merge_group`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave_speech import RATE, SpeechError, script
from fairwave_speech.codec import audible_codec

if TYPE_CHECKING:
    from fairwave.results import Results
    from fairwave.scenario import Scenario
    from fairwave_speech import Recording, Script

CALL = "heard"
"""Name of the audible call's flow group, unless it is the only call of its group."""

STAND_IN = "G.711"
"""Codec that replaces those that fairwave cannot code."""


@dataclass(frozen=True)
class RecordedCall:
    """A call that carries a recording, and the scenario that it is part of.

    Attributes:
        scenario: The scenario that runs.
        group: The flow group of the chosen call.
        name: Flow group of the audible call: `group`, or `CALL` if the group has further calls.
        number: Its number among the group's calls.
        script: The recording's text.
        codec: Its speech codec, one of `fairwave_speech.codec.CODECS`.
        concealment: One of `fairwave_speech.concealment.METHODS`.
        remark: How the audio differs from the scenario; empty without a difference.
        stream: `/audio` for a media session (the part of the units' name that identifies the stream); else empty.
    """

    scenario: Scenario
    group: str
    name: str
    number: int
    script: Script
    codec: str
    concealment: str
    remark: str
    stream: str = ""

    @classmethod
    def choose(cls, recording: Recording, scenario: Scenario, group: str) -> RecordedCall:
        """Chooses one call of `group` in `scenario` to carry the recording.

        Raises:
            SpeechError: No call of the group can be singled out, or its packets cannot carry the recording.
        """
        if scenario.to_dict().get("load"):
            raise SpeechError(
                "the scenario's [load] says how many calls there are, so none can be singled out; "
                "leave [load] out and give each [[flow]] a count"
            )
        plan = scenario.plan()["flows"]
        calls = [flow for flow in plan if flow["name"].rpartition("[")[0] == group]
        if not calls:
            raise SpeechError(f"the group {group!r} has no flows; give it a count of 1 or more")
        traffic = calls[-1]["traffic"]
        if traffic["kind"] == "media":
            return cls._choose_session(recording, scenario, group, traffic)
        always = calls[-1]["activity"] == 1.0
        said = script(
            recording,
            packet_time(traffic),
            talk="all" if always else "activity",
            **({"pause_s": 0.0} if always else {}),
        )
        own = traffic["codec"]
        codec, why = audible_codec(own if isinstance(own, str) else own.get("name", "this codec"), said.frame)
        table = said.traffic(traffic["codec"], traffic.get("payload"))
        written = _groups(scenario)[group]["traffic"]
        if isinstance(written, dict) and "phase" in written:
            table["phase"] = written["phase"]
        if len(calls) == 1:
            name, carrying = group, scenario.with_overrides({f"flow.{group}.traffic": table})
        else:
            name, carrying = _add_group(scenario, group, calls, table)
        flow = _groups(carrying)[name]
        recorded = [*scenario.to_dict().get("record", {}).get("units", []), f"{name}[0]"]
        return cls(
            carrying.with_overrides({"record.units": recorded}),
            group,
            name,
            len(calls) - 1,
            said,
            codec,
            "silence" if flow.get("concealment") == "none" else "appendix-i",
            f"heard as {STAND_IN}: {why}" if why else "",
        )

    @classmethod
    def _choose_session(
        cls, recording: Recording, scenario: Scenario, group: str, traffic: dict[str, Any]
    ) -> RecordedCall:
        """Lets the microphone of a group's first session carry the recording. All of its frames have the same length.

        Raises:
            SpeechError: It has no microphone, or pauses (dtx) are drawn by the simulator.
        """
        audio = traffic["audio"]
        if audio is False:
            raise SpeechError(f"the sessions of {group!r} have no microphone; leave out audio = false")
        if audio["dtx"]:
            raise SpeechError(
                f"the speakers of {group!r} pause as the simulator draws it; leave out dtx = true"
            )
        frame = _seconds(audio["frame"])
        said = script(recording, frame, talk="all", pause_s=0.0)
        codec, why = audible_codec(f"opus-{_kilobits(audio['rate']):g}", said.frame)
        recorded = [*scenario.to_dict().get("record", {}).get("units", []), f"{group}[0]"]
        return cls(
            scenario.with_overrides({"record.units": recorded}), group, group, 0, said, codec, "appendix-i",
            f"heard as {STAND_IN}: {why}" if why else "", "/audio",
        )  # fmt: skip

    @property
    def scenario_codec(self) -> str:
        """The codec's name in scenarios."""
        if self.stream:
            return "opus"
        return str(_groups(self.scenario)[self.name]["traffic"]["codec"])

    @property
    def flow(self) -> str:
        """Name of the flow of its units."""
        return f"{self.name}[0]{self.stream}"

    @property
    def changed(self) -> tuple[str, ...]:
        """The flow groups that need a setting for all calls of the group."""
        return tuple(dict.fromkeys((self.group, self.name)))

    def units(self, results: Results, run: int) -> pl.DataFrame:
        """Returns its units in one run."""
        mine = (pl.col("run") == run) & (pl.col("flow").cast(pl.String) == self.flow)
        return results.to_polars("units").filter(mine).sort("unit")

    def merge_group(self, results: Results) -> Results:
        """Returns the results with the call counted in its group again, so that measures cover the whole group."""
        if self.name == self.group:
            return results
        tables = dict(results.tables)
        for name, table in results.tables.items():
            if {"group", "flow"} <= set(table.column_names):
                tables[name] = self._renamed(results.to_polars(name)).to_arrow()
        parts = _with_squares(results.to_polars("groups"), results.to_polars("flows"))
        tables["groups"] = _together(self._renamed(parts)).to_arrow()
        return replace(results, tables=tables)

    def _renamed(self, rows: pl.DataFrame) -> pl.DataFrame:
        mine = pl.col("group").cast(pl.String) == self.name
        changes = {"group": pl.when(mine).then(pl.lit(self.group)).otherwise(pl.col("group").cast(pl.String))}
        if "flow" in rows.columns:
            changes["flow"] = pl.when(mine).then(pl.lit(self.number)).otherwise(pl.col("flow"))
        return rows.with_columns(**changes)


def _groups(scenario: Scenario) -> dict[str, dict[str, Any]]:
    return {flow["name"]: flow for flow in scenario.to_dict().get("flow", [])}


def _add_group(
    scenario: Scenario, group: str, calls: list[dict[str, Any]], table: dict[str, Any]
) -> tuple[str, Scenario]:
    """Moves the last call of the group into a new group after it, and returns the new group's name."""
    known = _groups(scenario)
    if str(known[group].get("path", "")).startswith("each-hop"):
        # A call's number determines which hop it crosses. In an expanded preset, its hosts do.
        scenario = scenario.expand_preset()
        known = _groups(scenario)
    name = CALL
    while name in known:
        name += "-call"
    last = len(calls) - 1
    others = {**known[group], "count": last}
    heard = {**known[group], "name": name, "count": 1, "traffic": table}
    for end in ("from", "to"):
        if end in heard:
            heard[end] = _numbered(str(heard[end]), last)
    if "every" in (heard["start"] if isinstance(heard.get("start"), dict) else {}):
        heard["start"] = f"{round(calls[-1]['start_s'] * 1e9)} ns"
    flows = [one for flow in known.values() for one in ([others, heard] if flow["name"] == group else [flow])]
    return name, scenario.with_overrides({"flow": flows})


def _seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}[unit]


def _kilobits(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"b/s": 1e-3, "kb/s": 1.0, "Mb/s": 1e3}[unit]


def _numbered(node: str, number: int) -> str:
    """Fills the flow's number into a node's name: `{i}`, `{i+1}`, `{i%3}`, `{i%3+1}`."""

    def value(hole: re.Match[str]) -> str:
        wrapped = number % int(hole[1]) if hole[1] else number
        return str(wrapped + int(hole[2] or 0))

    return re.sub(r"\{i(?:%(\d+))?(?:\+(\d+))?\}", value, node)


def packet_time(traffic: dict[str, Any]) -> float:
    """Returns the seconds of speech in each packet of a `voice` or `recording` source.

    The simulator derives this time from codec, payload and packet time. So this function asks the simulator, as the
    interval between the first two packets of a call.

    Raises:
        SpeechError: The time is not a whole number of samples.
    """
    from fairwave.scenario import load

    written = {key: traffic[key] for key in ("codec", "payload", "packet-time") if key in traffic}
    two = load(_TWO_PACKETS).with_overrides(
        {"flow.call.traffic": {"kind": "recording", **written, "talk": [[0, 2]]}}
    )
    made = two.run().to_polars("units")["created_s"].to_list()
    time = made[1] - made[0]
    if abs(time * RATE - round(time * RATE)) > 1e-6:
        raise SpeechError(
            f"packets of {time * 1e3:g} ms are no whole number of samples at {RATE} per second; "
            "write for example packet-time = '20 ms'"
        )
    return float(round(time * RATE) / RATE)


_TWO_PACKETS = """
name = "two packets"
duration = "3600 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }
topology = { preset = "dumbbell", bottleneck = { rate = "1 Gb/s", delay = "1 ms" } }
record = { units = ["call[0]"] }

[[flow]]
name = "call"
transport = "udp"
traffic = "voice"
"""


def _with_squares(groups: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Adds the number of active flows, the sum of their goodputs and the sum of squares to the `groups` table.

    Jain's index J of n flows with sum S yields the sum of squares: Σx² = S² / (n J).
    """
    names = ("run", "group")
    on = pl.col("goodput_bps").fill_nan(None).drop_nulls()
    sums = flows.group_by(names, maintain_order=True).agg(on.len().alias("_on"), on.sum().alias("_sum"))
    joined = groups.join(sums, on=names, how="left", maintain_order="left")
    squares = pl.col("_sum") ** 2 / (pl.col("_on") * pl.col("jain"))
    return joined.with_columns(pl.when(pl.col("_sum") > 0).then(squares).otherwise(0.0).alias("_squares"))


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """Merges the rows of each run and group. It adds counts and computes Jain's index from the sums.

    Columns that cannot be computed from the parts are null.
    """
    total, squares, on = (pl.col(name).sum() for name in ("_sum", "_squares", "_on"))
    joint = {
        "transport": pl.col("transport").first(),
        "jain": pl.when(on * squares > 0).then(total**2 / (on * squares)),
        **{name: pl.col(name).sum() for name in ("flows", "units_sent", "units_received")},
    }
    alone = pl.len() == 1
    kept = [name for name in rows.columns if name not in {"run", "group"} and not name.startswith("_")]
    values = [
        pl.when(alone).then(pl.col(name).first()).otherwise(joint.get(name)).alias(name) for name in kept
    ]
    return rows.group_by("run", "group", maintain_order=True).agg(values)
