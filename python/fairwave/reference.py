"""Explains every name that a scenario can use: rule, source, parameters with units and defaults, and an example.

The description of a law is next to the law's code and comes here through the JSON Schema. So `explain` shows a new law
without a change here. Each example is a complete scenario, ready to run.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fairwave import _native, layers
from fairwave.arguments import checked
from fairwave.plain_data import inline

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[str, str, str, str]
"""Key, form of the value, default and description of a parameter."""

SCHEMA = {
    "transports": ("WrittenTransportConfig", "name"),
    "controllers": ("RateControlConfig", "name"),
    "traffic": ("WrittenTrafficConfig", "kind"),
    "queues": ("WrittenQueueConfig", "discipline"),
    "victims": ("VictimTable", "rule"),
    "losses": ("WrittenLossConfig", "model"),
    "rates": ("WrittenRate", "law"),
    "media": ("WrittenMediumConfig", "law"),
    "jitters": ("WrittenJitterConfig", "model"),
    "playouts": ("WrittenPlayoutConfig", "strategy"),
}
"""Kinds of laws, each with the schema's definition that has them and the key that carries their name."""

ONE = {
    "transports": "transport", "controllers": "rate controller of webrtc", "traffic": "traffic source",
    "queues": "queue discipline", "victims": "victim rule",
    "losses": "loss model", "rates": "rate law of a link", "media": "shared medium",
    "jitters": "jitter of a link", "playouts": "playout buffer", "presets": "network by name",
    "networks": "access network",
    "events": "what happens to links and flows", "stages": "stage of a link",
    "codecs": "codec", "measures": "measure", "studies": "study",
}  # fmt: skip
"""Singular noun for an entry of each kind."""

TERMS = "terms"
"""Kind of the glossary's terms, which a scenario cannot name."""

QUANTITIES = {"Span": "time", "Rate": "rate", "Bytes": "size", "Skew": "ppm or ppb"}


@dataclass(frozen=True)
class Entry:
    """Description of a name.

    Attributes:
        kind: Kind of thing, as in `fairwave list`.
        name: Name in scenarios.
        about: Rule and source.
        parameters: Parameters of this entry alone.
        common: Parameters shared by the entry's family, if there are many.
        notes: Further remarks.
        example: A scenario in TOML, or a command.
        how: How to use the example.
    """

    kind: str
    name: str
    about: str
    parameters: tuple[Row, ...] = ()
    common: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()
    example: str = ""
    how: str = ""

    @property
    def title(self) -> str:
        """Name and kind."""
        return f"{self.name} — {ONE.get(self.kind, 'term of the glossary')}"

    def tables(self) -> list[tuple[str, tuple[Row, ...]]]:
        """Its tables of parameters, with titles."""
        shared = "parameters of every TCP connection"
        return [
            (title, rows) for title, rows in (("parameters", self.parameters), (shared, self.common)) if rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        keys = ("key", "value", "default", "about")
        return {
            "kind": self.kind,
            "name": self.name,
            "about": self.about,
            "parameters": [dict(zip(keys, row, strict=True)) for row in (*self.parameters, *self.common)],
            "notes": list(self.notes),
            "example": self.example,
        }

    def __str__(self) -> str:
        """As text for a terminal."""
        lines = [self.title, self.about, *self.notes]
        for title, rows in self.tables():
            lines += ["", f"{title}:"]
            lines += [f"  {key} ({value}; default {default}): {about}" for key, value, default, about in rows]
        if self.example:
            lines += ["", f"example{f' ({self.how})' if self.how else ''}:", self.example]
        return "\n".join(lines)


@checked
def explain(name: str) -> None:
    """Prints the description of a name: `fairwave.explain("vegas")`. `entries` returns it as data.

    Raises:
        LookupError: The name is unknown; the message lists the nearest names.
    """
    print("\n\n".join(str(one) for one in entries(name)))  # noqa: T201  # that is what it is for


def entries(name: str) -> list[Entry]:
    """Returns every entry with this name, of any kind; `vegas` is short for `tcp/vegas`.

    Raises:
        LookupError: The name is unknown; the message lists the nearest names.
    """
    if not isinstance(name, str):
        raise TypeError(f'explain takes a name, not {name!r}; for example fairwave.explain("vegas")')
    wanted = name.strip().lower()
    found: list[Entry] = []
    wanted = STAGE_NAMES.get(wanted, wanted)
    for kind in ONE:
        if kind == "measures" and found:  # measures take time to import
            continue
        for known in _names(kind):
            if wanted in {known.lower(), known.lower().removeprefix("tcp/")}:
                found.append(_entry(kind, known))  # noqa: PERF401  # two conditions read better apart
    found = found or _titled(name)
    if not found:
        raise LookupError(_instead(name, wanted))
    return found


def _titled(name: str) -> list[Entry]:
    """Finds measures by the titles of fairwave's tables, and terms of the glossary by any of their names."""
    from fairwave import glossary
    from fairwave.ask.wording import LINKS
    from fairwave.measuring import measures

    wanted = {glossary.letters(one) for one in _forms(name)} - {""}
    found = [
        _measure(key)
        for key, make in measures.STANDARD.items()
        if wanted & {glossary.letters(one) for of in (make(None),) for one in (key, of.title, of.label)}
    ]
    found += [
        _link_measure(key)
        for key in LINKS
        if wanted & {glossary.letters(one) for one in (key, *LINK_TITLES[key])}
    ]
    for term in () if found else (one for one in glossary.terms() if wanted & one.names):
        found.append(_term(term))
        found += [_measure(one) for one in term.measures if one in measures.STANDARD]
        found += [_link_measure(one) for one in term.measures if one in LINKS]
    others = [name for name, words in measures.SYNONYMS.items() if wanted & set(words)]
    return found or [_link_measure(one.partition(".")[0]) if ">" in one else _measure(one) for one in others]


def _forms(title: str) -> list[str]:
    """Returns the title and shorter forms of it: without unit, source, link and aggregation."""
    whole = title.partition(";")[0]
    forms = [whole, whole.rpartition(", ")[0], re.sub(r"\s*\([^()]*\)", "", whole)]
    return [title, *(re.sub(r" (?:of|at) (?:a link|\S+>\S+)$", "", one) for one in forms)]


def _link_measure(name: str) -> Entry:
    from fairwave.ask.wording import LINKS

    _, title, unit, _ = LINKS[name]
    about = next((one.sentence for one in _glossary() if name in one.measures), f"{title.format('a link')}.")
    example = f"fairwave sweep SCENARIO --grid flow.voice.count=5,10 --show {name}.r1>r2"
    return Entry("measures", name, about, notes=(f"Of a link direction; unit: {unit}.",), example=example)


def _glossary() -> Any:
    from fairwave import glossary

    return glossary.terms()


def _term(term: Any) -> Entry:
    notes = (f"Measure: `fairwave explain {one}`." for one in term.measures)
    return Entry(TERMS, term.term, term.sentence, notes=(*notes, f"Source: {term.source}."))


STAGE_NAMES = {
    "policer": "police",
    "shaper": "shape",
    "policing": "police",
    "shaping": "shape",
    "class": "classes",
}
"""Common names of a link's stages, with the scenario key of each."""

LINK_TITLES = {
    "utilisation": ("utilisation of a link",),
    "mean-queue": ("mean queue", "queue length"),
    "mean-wait": ("mean wait", "queueing time"),
    "drop-rate": ("dropped", "drops"),
}
"""Titles of the measures of links in fairwave's tables."""


MISTAKEN = (
    "network", "rate", "medium", "transport", "traffic", "queue", "codec", "control", "loss", "preset", "playout",
    "victim",
)  # fmt: skip
"""Keys whose values have other names in other tools. The first two keys that know a word explain it."""


def _instead(name: str, wanted: str) -> str:
    """The message for an unknown name."""
    from difflib import get_close_matches

    if wanted in ONE:
        return f"{name!r} is a kind of names: `fairwave list {wanted}` shows them"
    found = (_native.instead(of, wanted) for of in MISTAKEN)
    if remedies := list(dict.fromkeys(filter(None, found))):
        return f"fairwave has no {name!r}: {'; '.join(remedies[:2])}"
    near = get_close_matches(wanted, list_names(), 3, 0.6)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"nothing is called {name!r}: `fairwave list` shows every name{hint}"


def list_names() -> list[str]:
    """Every name that can be explained, including short forms."""
    each = [name for kind in ONE for name in _names(kind)]
    each += [name for term in _glossary() for name in (term.term, *term.abbreviations)]
    return list(dict.fromkeys([*(name.removeprefix("tcp/") for name in each), *each]))


def listed(kind: str) -> list[tuple[str, str]]:
    """The names of a kind, each with a one-line description."""
    if kind == "studies":
        return [(name, layers.title(name)) for name in layers.studies()]
    if kind == "codecs":
        from fairwave import codecs

        return [(one.codec, str(one)) for one in codecs.known()]
    return [(name, _first_sentence(_describe(kind, name))) for name in _names(kind)]


def _first_sentence(text: str) -> str:
    return text.split(". ", 1)[0].rstrip(".") + "."


def forget() -> None:
    """Clears the caches after laws were registered."""
    _schema.cache_clear()
    _laws.cache_clear()


@cache
def _schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_native.Scenario.schema())
    return found


@cache
def _laws(kind: str) -> dict[str, dict[str, Any]]:
    """The schema of each law of a kind, by name."""
    definition, key = SCHEMA[kind]
    return dict(_alternatives(_schema()["$defs"][definition], key))


def _alternatives(part: dict[str, Any], key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    name = part.get("properties", {}).get(key, {}).get("const")
    if name is not None:
        yield str(name), part
    for inner in [*part.get("oneOf", []), *part.get("anyOf", []), *part.get("allOf", [])]:
        yield from _alternatives(inner, key)
    if "$ref" in part:
        yield from _alternatives(_referred(part), key)


def _referred(part: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _schema()["$defs"][part["$ref"].rpartition("/")[2]]
    return found


def _presets() -> dict[str, str]:
    return {one["const"]: one["description"] for one in _schema()["$defs"]["Preset"]["oneOf"]}


@cache
def _networks() -> dict[str, dict[str, Any]]:
    """The access networks by name, with their links and sources."""
    return {one["name"]: one for one in json.loads(_native.access_networks())}


def _network(name: str) -> Entry:
    """Describes an access network: its keys in both directions, and their sources."""
    data = _networks()[name]
    both = {**data["down"], **data["up"]}
    rows = [
        (f"{key}, {part}", _short(data[part][key]), "–", f"The link {way}.")
        for key in both
        for part, way in (("down", "down to the user"), ("up", "up from the user"))
        if key in data[part]
    ]
    notes = tuple(f"{key}: {source}" for key, source in data["sources"].items())
    notes += ("† marks assumptions. A key that has no way up is the same in both directions.",)
    return Entry(
        "networks",
        name,
        data["about"],
        tuple(rows),
        notes=notes,
        example=_scenario("networks", name),
        how=HOW,
    )


def _short(value: Any) -> str:
    """A value as in a scenario; long lists are abridged."""
    text = inline(value)
    return text if len(text) <= LONG else f"{text[:LONG]} …"


LONG = 160
"""Number of letters of a value that are shown."""


def _names(kind: str) -> list[str]:  # noqa: PLR0911  # one answer a kind
    if kind in SCHEMA:
        return list(_laws(kind))
    if kind == "networks":
        return list(_networks())
    if kind == "presets":
        return list(_presets())
    if kind in {"events", "stages"}:
        return list(EVENTS if kind == "events" else STAGES)
    if kind == TERMS:
        return [one.term for one in _glossary()]
    if kind == "codecs":
        from fairwave import codecs

        return [one.codec for one in codecs.known()]
    if kind == "studies":
        return layers.studies()
    from fairwave.measuring import measures

    return list(measures.STANDARD)


def _describe(kind: str, name: str) -> str:
    if kind in SCHEMA:
        return _flat(_laws(kind)[name].get("description", ""))
    if kind == "networks":
        return str(_networks()[name]["about"])
    if kind == "presets":
        return _flat(_presets()[name])
    if kind in {"events", "stages"}:
        return _flat(_schema()["$defs"][{**EVENTS, **STAGES}[name]]["description"])
    if kind == TERMS:
        return str(next(one.sentence for one in _glossary() if one.term == name))
    from fairwave.measuring import measures

    return _flat((measures.STANDARD[name].__doc__ or "").strip().split("\n\n")[0])


def _flat(text: str) -> str:
    """Joins a documentation comment into one paragraph and turns rustdoc links into plain code spans."""
    return re.sub(r"(?<!\w)\[`?([A-Za-z_][\w:]*)`?\]", r"`\1`", " ".join(text.split()))


def _entry(kind: str, name: str) -> Entry:  # noqa: PLR0911  # one answer a kind
    if kind in SCHEMA:
        return _law(kind, name)
    if kind == "networks":
        return _network(name)
    if kind == "presets":
        links = _schema()["$defs"]["Topology"]["properties"]
        rows = tuple(_row(key, part, required=False) for key, part in links.items() if key != "preset")
        return Entry(kind, name, _describe(kind, name), rows, example=_scenario("presets", name), how=HOW)
    if kind in {"events", "stages"}:
        part = _schema()["$defs"][{**EVENTS, **STAGES}[name]]
        needed = part.get("required", [])
        rows = tuple(_row(key, inner, required=key in needed) for key, inner in part["properties"].items())
        return Entry(kind, name, _describe(kind, name), rows, example=_scenario(kind, name), how=HOW)
    if kind == "codecs":
        from fairwave import codecs

        return Entry(kind, name, f"{codecs.find(name)}.", example=_scenario("codecs", name), how=HOW)
    if kind == "studies":
        study = layers.study(name)
        notes = (f"{len(study.claims)} claims, {len(study.figures)} figures, {len(study.tables)} tables.",)
        return Entry(
            kind, name, f"{study.title}. {study.question}", notes=notes, example=f"fairwave study {name}"
        )
    return _measure(name)


STAGES = {"police": "PoliceConfig", "shape": "ShapeConfig", "classes": "ClassConfig"}
"""Stages of a link before its queue, and the classes of a queue, each with the schema's definition."""

EVENTS = {"event": "Event", "outages": "Outage", "reorder": "Reorder", "duplicate": "Duplicate"}
"""Events of links and flows, each with the schema's definition."""


HOW = "a whole scenario; `fairwave run FILE` runs it"
LIVE = "a whole scenario; `fairwave live FILE` runs it"


def _measure(name: str) -> Entry:
    from fairwave.measuring import measures
    from fairwave.measuring.relevance import USUAL

    found = measures.STANDARD[name]("voice")
    least, most = found.limits
    better = {"higher": "more is better", "lower": "less is better", None: "neither more nor less is better"}[
        found.better
    ]
    notes = (
        f"Unit: {found.unit or 'none'}; from {least:g} to {most:g}; {better}.",
        f"Differences count from {USUAL.find(found)}; `--relevant '{name}=…'` changes that.",
    )
    example = f'fairwave sweep SCENARIO --grid flow.voice.count=5,10 --until "{name}.voice:±2%"'
    return Entry("measures", name, _describe("measures", name), notes=notes, example=example)


def _law(kind: str, name: str) -> Entry:
    part, key = _laws(kind)[name], SCHEMA[kind][1]
    rows = {
        one: _row(one, inner, required=one in part.get("required", []))
        for one, inner in part["properties"].items()
        if one != key
    }
    shared: set[str] = set()
    if name.startswith("tcp/"):
        families = [set(law["properties"]) for other, law in _laws(kind).items() if other.startswith("tcp/")]
        shared = set.intersection(*families)
    own = tuple(row for one, row in rows.items() if one not in shared)
    common = tuple(row for one, row in rows.items() if one in shared)
    notes = _written_by(kind, name)
    how = LIVE if name.startswith("host/") else HOW
    return Entry(
        kind, name, _describe(kind, name), own, common, notes, example=_scenario(kind, name), how=how
    )


def _written_by(kind: str, name: str) -> tuple[str, ...]:
    """Source of a law that is not built in."""
    registering = sys.modules.get("fairwave.laws.registering")
    law = registering.handed_in.get((kind, name)) if registering is not None else None
    if law is None:
        return ()
    import inspect

    try:
        file, line = inspect.getsourcefile(law), inspect.getsourcelines(law)[1]
    except (OSError, TypeError):
        return (f"A class of this session: {law.__qualname__}.",)
    return (f"A class of yours: {law.__qualname__}, {file}, line {line}.",)


def _row(key: str, part: dict[str, Any], *, required: bool) -> Row:
    about = _flat(part.get("description", ""))
    default = "needed" if required else _default(part)
    if key in OF_QUEUES and default == "–":
        default, fallback = OF_QUEUES[key]
        about = about or fallback
    return (
        key,
        _value(part),
        default,
        about or _flat(_referred(part).get("description", "") if "$ref" in part else ""),
    )


def _default(part: dict[str, Any]) -> str:
    """Returns a parameter's default: a value, one value per preset, or words if it follows from other parameters."""
    if part.get("default") is not None:
        return inline(part["default"])
    by_preset = part.get("x-defaults", {})
    if not by_preset:
        return str(part.get("x-default", "–"))
    usual = next((by_preset[one] for one in CURRENT if one in by_preset), None)
    others: dict[str, list[str]] = {}
    for preset, value in by_preset.items():
        if value != usual:
            others.setdefault(inline(value), []).append(preset)
    each = [f"{', '.join(presets)}: {value}" for value, presets in others.items()]
    return "; ".join([inline(usual), *each] if usual is not None else each)


CURRENT = ("linux", "rfc", "http-archive-2025")
"""Default presets and pages: the first one that a parameter has counts."""

OF_QUEUES = {
    "capacity": (
        "{ bdp = 1.0, at-least-packets = 50 }",
        "What the queue holds at most: packets, bytes on the wire, or bandwidth-delay products.",
    ),
    "victim": ("tail", ""),
}
"""Keys that every queue accepts: default and description."""


PLAIN = {"number": "number", "integer": "whole number", "boolean": "true | false", "string": "text"}


def _value(part: dict[str, Any]) -> str:
    """Describes the values that a parameter accepts."""
    if "$ref" in part:
        return QUANTITIES.get(part["$ref"].rpartition("/")[2]) or _value(_referred(part))
    choices = [json.dumps(part["const"])] if "const" in part else [str(one) for one in part.get("enum", [])]
    several = (*part.get("oneOf", []), *part.get("anyOf", []))
    choices += [_value(one).strip('"') for one in several if one.get("type") != "null"]
    if choices:
        return " | ".join(dict.fromkeys(choices))
    kinds = part.get("type", "")
    kind = next((one for one in ([kinds] if isinstance(kinds, str) else kinds) if one != "null"), "")
    if kind == "array":
        return f"list of {_value(part.get('items', {}))}"
    if kind == "object":
        return "{ " + ", ".join(part.get("properties", {})) + " }"
    return PLAIN.get(kind, "value")


def _example(kind: str, name: str) -> dict[str, Any]:
    """Returns the keys of an example besides the name: the law's own example, or the examples of its required keys."""
    law = _laws(kind)[name]
    if "examples" in law:
        return {key: value for key, value in law["examples"][0].items() if key != SCHEMA[kind][1]}
    each = {key: law["properties"].get(key, {}).get("examples") for key in law.get("required", [])}
    return {key: examples[0] for key, examples in each.items() if examples}


def _scenario(kind: str, name: str) -> str:  # noqa: PLR0912, PLR0915  # one branch a kind
    """A small scenario in TOML that uses a name."""
    if kind == "networks":
        lines = [
            'name = "example"',
            'duration = "10 s"',
            f'topology = {{ network = "{name}" }}',
            "",
            "[[flow]]",
        ]
        lines += [
            'name = "video"',
            'transport = "tcp/cubic"',
            'traffic = "bulk"',
            "",
            "[[flow]]",
            'name = "call"',
        ]
        return "\n".join([*lines, 'path = "reverse"', 'transport = "udp"', 'traffic = "voice"']) + "\n"
    given = _example(kind, name) if kind in SCHEMA else {}
    beside = _laws(kind)[name].get("x-beside", {}) if kind in SCHEMA else {}
    table = {SCHEMA[kind][1]: name, **given} if kind in SCHEMA else {}
    written = inline(table if given else name)
    bottleneck = {"rate": '"2 Mb/s"', "delay": '"20 ms"'}
    medium = ""
    flow = {"transport": '"udp"', "traffic": '"voice"'}
    preset = "dumbbell"
    if kind == "transports":
        flow = {"transport": written, "traffic": inline(beside.get("traffic", "bulk"))}
    elif kind == "traffic":
        flow = {"transport": inline(beside.get("transport", "udp")), "traffic": written}
    elif kind == "controllers":
        webrtc = inline({"name": "webrtc", "control": table if given else name})
        flow = {"transport": webrtc, "traffic": '"media"'}
    elif kind == "queues":
        bottleneck["queue"], flow = written, {"transport": '"tcp/sack"', "traffic": '"bulk"'}
    elif kind == "victims":
        bottleneck["queue"] = inline({"capacity": {"packets": 50}, "victim": name})
    elif kind == "losses":
        bottleneck["loss"] = written
    elif kind == "rates":
        bottleneck["rate"] = written
    elif kind == "media":
        bottleneck = {"medium": '"air"'}
        medium = "\n".join(["[medium.air]", *(f"{key} = {inline(value)}" for key, value in table.items())])
    elif kind == "jitters":
        bottleneck["jitter"] = written
    elif kind == "playouts":
        flow["playout"] = written
    elif kind == "codecs":
        flow["traffic"] = inline({"kind": "voice", "codec": name})
    elif kind == "presets":
        preset = name
    elif name == "police":
        bottleneck["police"] = '{ rate = "500 kb/s", burst = "15 kB" }'
    elif name == "shape":
        bottleneck["shape"] = '{ rate = "500 kb/s", burst = "10 kB" }'
    elif name == "classes":
        classes = '{ name = "voice", match = { class = "voice" }, weight = 3 }, { name = "rest" }'
        bottleneck["queue"] = f'{{ discipline = "drr", classes = [{classes}] }}'
    elif name == "reorder":
        bottleneck["reorder"] = '{ share = 0.01, by = "10 ms" }'
    elif name == "duplicate":
        bottleneck["duplicate"] = "{ share = 0.001 }"
    elif name == "outages":
        bottleneck["outages"] = '[{ from = "5 s", to = "6 s" }]'
    link = ", ".join(f"{key} = {value}" for key, value in bottleneck.items())
    lines = ['name = "example"', 'duration = "10 s"', "", "[topology]", f'preset = "{preset}"']
    if preset in {"dumbbell", "multi-hop"}:
        lines.append(f"bottleneck = {{ {link} }}")
    else:
        lines.append(f"shared-bottleneck = {{ {link} }}")
    if medium:
        lines += ["", medium]
    lines += ["", "[[flow]]", 'name = "flow"', *(f"{key} = {value}" for key, value in flow.items())]
    if name == "event":
        lines += ["", "[[event]]", 'at = "5 s"', 'link = "r1>r2"', 'rate = "500 kb/s"']
    return "\n".join(lines) + "\n"
