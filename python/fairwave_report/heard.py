"""The call that is heard: one of the scenario's own, which says a recording instead of what its source would.

It keeps everything else: codec, packets, whether silences are sent, transport, way, playout buffer and concealment. A
group's only call is changed where it stands. Of several flows, the last leaves its group and becomes the flow group
`CALL`, because the flows of a group all have the same traffic. Measures of the group are then taken over both
(`RecordedCall.whole`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave_speech import RATE, SpeechError, script
from fairwave_speech.codec import heard_as

if TYPE_CHECKING:
    from fairwave.results import Results
    from fairwave.scenario import Scenario
    from fairwave_speech import Recording, Script

CALL = "heard"
"""Name of the flow group that is listened to, where it is not the only call of its group."""

STAND_IN = "G.711"
"""How the codec is called that stands in for those that cannot be coded here."""


@dataclass(frozen=True)
class RecordedCall:
    """A call that says a recording, and the scenario that it is part of.

    Attributes:
        scenario: The scenario that runs.
        group: The flow group of whose calls it is one.
        name: Its own flow group: `group`, unless there are other calls in that.
        number: Its number among the group's calls.
        script: What it says.
        codec: By what its speech is coded, one of `fairwave_speech.codec.CODECS`.
        concealment: One of `fairwave_speech.concealment.METHODS`.
        remark: What one hears otherwise than the scenario has it; empty when there is nothing.
        stream: Of a media session `/audio`, the part of its units' name that tells its streams apart; else empty.
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
        """One call of `group` in `scenario` that says the recording.

        Raises:
            SpeechError: The group has no call that can be singled out, or its packets cannot carry the recording.
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
        codec, why = heard_as(own if isinstance(own, str) else own.get("name", "this codec"), said.frame)
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
        """The first session of a group, whose microphone says the recording: its frames are of one length anyway.

        Raises:
            SpeechError: It has no microphone, or sends nothing in pauses that the simulator draws.
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
        codec, why = heard_as(f"opus-{_kilobits(audio['rate']):g}", said.frame)
        recorded = [*scenario.to_dict().get("record", {}).get("units", []), f"{group}[0]"]
        return cls(
            scenario.with_overrides({"record.units": recorded}), group, group, 0, said, codec, "appendix-i",
            f"heard as {STAND_IN}: {why}" if why else "", "/audio",
        )  # fmt: skip

    @property
    def scenario_codec(self) -> str:
        """The scenario's name of its codec."""
        if self.stream:
            return "opus"
        return str(_groups(self.scenario)[self.name]["traffic"]["codec"])

    @property
    def flow(self) -> str:
        """The name of its units' flow."""
        return f"{self.name}[0]{self.stream}"

    @property
    def changed(self) -> tuple[str, ...]:
        """The flow groups that whatever is to hold for all calls of the group must be said of."""
        return tuple(dict.fromkeys((self.group, self.name)))

    def units(self, results: Results, run: int) -> pl.DataFrame:
        """Its units in one run."""
        mine = (pl.col("run") == run) & (pl.col("flow").cast(pl.String) == self.flow)
        return results.to_polars("units").filter(mine).sort("unit")

    def whole(self, results: Results) -> Results:
        """The results with the call counted among its group again: measures of the group are over all its calls."""
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
    """The last call of the group as a group of its own behind it, and the name of that."""
    known = _groups(scenario)
    if str(known[group].get("path", "")).startswith("each-hop"):
        # Which hop a call crosses follows from its number; written out, its hosts do.
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
    """A node's name with the flow's number in it: `{i}`, `{i+1}`, `{i%3}`, `{i%3+1}`."""

    def value(hole: re.Match[str]) -> str:
        wrapped = number % int(hole[1]) if hole[1] else number
        return str(wrapped + int(hole[2] or 0))

    return re.sub(r"\{i(?:%(\d+))?(?:\+(\d+))?\}", value, node)


def packet_time(traffic: dict[str, Any]) -> float:
    """Seconds of speech in each packet of a `voice` or `recording` source.

    It follows from codec, payload and packet time by the simulator's rules, so the simulator is asked: the first two
    packets of a call are that far apart.

    Raises:
        SpeechError: It is no whole number of samples.
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
    """The `groups` table with the number of flows that were on, and the sums of their goodputs and of the squares.

    Jain's index J of n flows with sum S says the latter: Σx² = S² / (n J).
    """
    names = ("run", "group")
    on = pl.col("goodput_bps").fill_nan(None).drop_nulls()
    sums = flows.group_by(names, maintain_order=True).agg(on.len().alias("_on"), on.sum().alias("_sum"))
    joined = groups.join(sums, on=names, how="left", maintain_order="left")
    squares = pl.col("_sum") ** 2 / (pl.col("_on") * pl.col("jain"))
    return joined.with_columns(pl.when(pl.col("_sum") > 0).then(squares).otherwise(0.0).alias("_squares"))


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """The `groups` table with one row per run and group again: counts are added, Jain's index follows from the sums.

    What does not follow from the parts is null.
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
