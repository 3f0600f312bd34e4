"""`fairwave list` and `fairwave check`."""

from __future__ import annotations

import json as json_
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.input import scenario, seeds, use_laws
from fairwave.errors import BadInputError
from fairwave.flow_groups import groups, kind
from fairwave.packaged import find_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairwave.advice import Advice
    from fairwave.cli.declarations import CheckOptions
    from fairwave.defaults import Default
    from fairwave.scenario import Scenario


KINDS = (
    *(
        "transports",
        "controllers",
        "traffic",
        "queues",
        "victims",
        "losses",
        "rates",
        "media",
        "playouts",
        "presets",
        "networks",
        "events",
        "stages",
    ),
    *("codecs", "measures", "studies"),
)
"""Kinds of names, in the order of the list."""

WHEN_ASKED = ("terms",)
"""Kinds that `fairwave list` shows only by name, because they are long."""


def known_names(kinds: Sequence[str] = KINDS) -> dict[str, list[tuple[str, str]]]:
    """Everything that can be named, by kind: names with a line about each."""
    from fairwave import reference

    return {kind: reference.listed(kind) for kind in kinds}


def explain_name(name: str, *, json: bool) -> None:
    """Explains a name."""
    from fairwave import reference

    try:
        found = reference.entries(name)
    except LookupError as error:
        raise BadInputError(error.args[0]) from None
    if json:
        console.document([one.to_dict() for one in found])
        return
    for one in found:
        console.out.print(f"\n[bold]{escape(one.title)}[/]")
        console.out.print(escape(one.about))
        for said in one.notes:
            console.out.print(f"[dim]{escape(said)}[/]")
        for title, parameters in one.tables():
            console.table(
                title, ["key", "value", "default", "about"],
                [[escape(cell) for cell in row] for row in parameters],
                left=True,
            )  # fmt: skip
        if one.example:
            console.out.print("\n[bold]example[/]" + (f" ({one.how})" if one.how else ""))
            console.out.print(escape(one.example), soft_wrap=True)


def show_names(what: str | None, *, json: bool) -> None:
    """Lists names."""
    known = (*KINDS, *WHEN_ASKED)
    if what is not None and what not in known:
        from difflib import get_close_matches

        stages = "stages" if what in {"policers", "shapers", "classes", "police", "shape"} else ""
        near = [stages] if stages else get_close_matches(what, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise BadInputError(f"there is no list of {what!r}; there are {', '.join(known)}{hint}")
    found = known_names(KINDS if what is None else (what,))
    if json:
        console.document(
            {what: [{"name": name, "about": about} for name, about in each] for what, each in found.items()}
        )
        return
    for title, each in found.items():
        console.pairs(title, each or [("none", "")])


def check_scenario(options: CheckOptions) -> None:
    """Checks a scenario and shows its load and its cost."""
    from fairwave.advice import activities, advise, refusal
    from fairwave.defaults import used_defaults

    path, seed, expand, json = options.scenario, options.seed, options.expand, options.json
    use_laws(options.laws)
    seeds(seed, 1)
    read = scenario(path, options.settings)
    file = None if path == "-" else find_scenario(path)
    if not expand and not json and file is not None and _is_network(file):
        _check_network(file, read, seed)
        return
    plan = read.plan(seed)
    if refused := refusal(plan):
        raise BadInputError(f"{path}: {refused}")
    warn(read, seed)
    if json:
        known = {
            "activity": read.activities,
            "ratings": ratings(read),
            "kept": read.kept(),
            "advice": advise(read, seed).to_dict(),
            "defaults": [one.to_dict() for one in used_defaults(read, seed)],
        }
        found = known if not expand else {}
        console.document(plan if expand else _overview(read.hash, plan) | found)
        return
    if expand:
        text = json_.dumps(plan, ensure_ascii=False)
        console.out.print_json(text, ensure_ascii=console.CONTROL.search(text) is not None)
        return
    overview = _overview(read.hash, plan)
    overview |= _merge_groups("speech", activities(read)) | _merge_groups("rating", ratings(read))
    overview["cost of a run"] = str(read.cost(seed))
    console.pairs(f"{read.name}: no mistakes of form", [(key, str(value)) for key, value in overview.items()])
    _show_advice(advise(read, seed))
    _show_defaults(used_defaults(read, seed))


def _merge_groups(what: str, said: Mapping[str, str]) -> dict[str, str]:
    """Descriptions of flow groups. Of many groups, those with the same description share a line."""
    from fairwave.answers.naming import MOST_NAMES, shortened

    if len(said) <= MOST_NAMES:
        return {f"{what} of {name}": text for name, text in said.items()}
    alike: dict[str, list[str]] = {}
    for name, text in said.items():
        alike.setdefault(text, []).append(name)
    return {f"{what} of {shortened(names)}": text for text, names in alike.items()}


def _is_network(path: Path) -> bool:
    """Whether a scenario's file is a network file."""
    from fairwave.scenario import names_a_topology, text_of

    with path.open("rb") as file:
        return names_a_topology(text_of(file, str(path)))


def _check_network(path: Path, read: Scenario, seed: int) -> None:
    """Lists the load of each link of a network, its routes and its traffic."""
    from fairwave.layers import layer

    warnings, tables = layer("networks").tables(str(path))
    plan = read.plan(seed)
    overview = {
        "links": f"{len(plan['links'])} directions",
        "flow groups": str(len(read.to_dict()["flow"])),
        "flows": f"{len(plan['flows'])} (seed {seed})",
        "cost of a run": str(read.cost(seed)),
    }
    console.pairs(f"{read.name}: no mistakes of form", list(overview.items()))
    for title, heads, rows in tables:
        console.table(title, heads, [[escape(cell) for cell in row] for row in rows])
    for said in warnings:
        console.say(f"warning: {said}")


BUSIEST = 12
"""Largest number of link directions in the table, the most loaded first."""


def _show_advice(found: Advice) -> None:
    """Loads, bandwidth-delay products and likely mistakes."""
    from fairwave.advice import rate_in_words

    rows = []
    for one in found.links[:BUSIEST]:
        load = f"{one.load:.0%}" if one.offered_bps else ""
        bulk = f"{one.greedy} bulk" if one.greedy else ""
        buffer = "" if one.buffer is None else f"{one.buffer:g}"
        rows.append(
            [
                escape(one.name), rate_in_words(one.rate_bps), " + ".join(filter(None, [load, bulk])),
                f"{one.round_trip_s * 1e3:.3g}", f"{one.bdp_packets:.3g}", buffer,
            ]
        )  # fmt: skip
    more = len(found.links) - BUSIEST
    caption = (
        "Load: the peak rate of constant-rate sources and media sessions, plus the average rate of files and pages. "
        "Packets of 1000 B."
    )
    console.table(
        "load of the links",
        ["link", "rate", "load", "round trip, ms", "bandwidth × delay, packets", "buffer, packets"], rows,
        caption=f"{caption} {more} more links carry less." if more > 0 else caption,
    )  # fmt: skip
    for words in found.mistakes:
        console.out.print(f"[yellow]likely mistake:[/] {escape(words)}", soft_wrap=True)
    if found.cost.is_large:
        console.out.print(
            f"[yellow]a run is costly:[/] {found.cost}. Shorten `duration`, lower the rates, or simulate fewer flows.",
            soft_wrap=True,
        )


def _show_defaults(found: Sequence[Default]) -> None:
    """Lists the defaults that matter, the systems that have them, and the values of other systems."""
    from fairwave.defaults import HEADS

    console.table(
        "defaults that this scenario uses", HEADS, [[escape(cell) for cell in one.cells] for one in found],
        left=True, caption="`fairwave run … --doubt` runs what other systems have, one at a time.",
    )  # fmt: skip


def ratings(read: Scenario) -> dict[str, str]:
    """Remarks on the ratings of the scenario's calls, by flow group; groups without a remark are left out."""
    from fairwave import codecs

    found = {}
    for name, flow in groups(read).items():
        if kind(flow) in {"voice", "recording", "conversation"}:
            traffic = flow.get("traffic")
            codec = traffic.get("codec", codecs.DEFAULT) if isinstance(traffic, dict) else codecs.DEFAULT
            said = codecs.remark(codec, flow.get("concealment", codecs.CONCEALMENT))
            if advantage := flow.get("advantage"):
                said = f"{said}; advantage: A {advantage:g} is part of R".removeprefix("; ")
            if said:
                found[name] = said
        elif kind(flow) == "media" and (audio := speech_rate(flow.get("traffic"))):
            found[name] = codecs.opus_remark(audio)
    return found


SPEECH_RATE = "32 kb/s"
"""Default rate of Opus in a media session."""


def speech_rate(traffic: object) -> str:
    """The rate of the speech of a media session; empty without a microphone."""
    audio = traffic.get("audio", True) if isinstance(traffic, dict) else True
    if audio is False:
        return ""
    return str(audio.get("rate", SPEECH_RATE)) if isinstance(audio, dict) else SPEECH_RATE


def warn(read: Scenario, seed: int) -> None:
    """Prints on standard error the parameters that `--set` kept of replaced laws, and the limits of the laws.

    `input.scenario` has already warned of keys with a new name.
    """
    for words in read.kept():
        console.say(f"note: {words}")
    known = read.renamed_keys()
    for words in read.cautions(seed):
        if words not in known:
            console.complain(f"warning: {words}")


def _overview(digest: str, plan: dict[str, Any]) -> dict[str, Any]:
    return {
        "hash": digest,
        "duration_s": plan["duration_s"],
        "nodes": len(plan["nodes"]),
        "link directions": len(plan["links"]),
        "flows": len(plan["flows"]),
        "hosts": _describe_hosts(plan["hosts"]),
    }


def _describe_hosts(hosts: dict[str, Any]) -> str:
    """Describes the deviations of sending hosts from being in step."""
    said = [
        f"clocks within ±{hosts['clock_skew_ppm']:g} ppm" if hosts["clock_skew_ppm"] else "",
        f"packets leave up to {hosts['send_jitter_s'] * 1e3:g} ms late" if hosts["send_jitter_s"] else "",
    ]
    return ", ".join(filter(None, said)) or "in step"
