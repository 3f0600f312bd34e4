"""`fairwave list` and `fairwave check`."""

from __future__ import annotations

import json as json_
from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import BadInputError, groups, kind, scenario

if TYPE_CHECKING:
    from fairwave.scenario import Scenario


KINDS = (
    *("transports", "traffic", "queues", "victims", "losses", "rates", "playouts", "presets"),
    *("codecs", "measures", "studies"),
)
"""Kinds of names, in the order in which they are listed."""


def known_names() -> dict[str, list[tuple[str, str]]]:
    """Everything that can be named, by kind: names with a line about each."""
    from fairwave import reference

    return {kind: reference.listed(kind) for kind in KINDS}


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
        console.out.print(f"\n[bold]{console.escape(one.title)}[/]")
        console.out.print(console.escape(one.about))
        for said in one.notes:
            console.out.print(f"[dim]{console.escape(said)}[/]")
        for title, parameters in one.tables():
            console.table(
                title, ["key", "value", "default", "about"],
                [[console.escape(cell) for cell in row] for row in parameters],
                left=True,
            )  # fmt: skip
        if one.example:
            console.out.print("\n[bold]example[/]" + (f" ({one.how})" if one.how else ""))
            console.out.print(console.escape(one.example), highlight=False)


def show_names(what: str | None, *, json: bool) -> None:
    """Lists names."""
    found = known_names()
    if what is not None:
        if what not in found:
            raise BadInputError(f"there is no list of {what!r}; there are {', '.join(found)}")
        found = {what: found[what]}
    if json:
        console.document(
            {what: [{"name": name, "about": about} for name, about in each] for what, each in found.items()}
        )
        return
    for title, each in found.items():
        console.pairs(title, each or [("none", "")])


def check_scenario(path: str, seed: int, settings: list[str], *, expand: bool, json: bool) -> None:
    """Checks a scenario and says what it comes to."""
    read = scenario(path, settings)
    plan = read.plan(seed)
    warn(read, seed)
    if json:
        console.document(plan if expand else _overview(read.hash, plan) | {"ratings": ratings(read)})
        return
    if expand:
        console.out.print_json(json_.dumps(plan, ensure_ascii=False))
        return
    overview = _overview(read.hash, plan)
    overview |= {f"rating of {name}": said for name, said in ratings(read).items()}
    console.pairs(f"{read.name}: no mistakes", [(key, str(value)) for key, value in overview.items()])


def ratings(read: Scenario) -> dict[str, str]:
    """What has to be known about the ratings of the scenario's calls, by flow group; the others are left out."""
    from fairwave import codecs

    found = {}
    for name, flow in groups(read).items():
        if kind(flow) in {"voice", "recording"}:
            traffic = flow.get("traffic")
            codec = traffic.get("codec", codecs.DEFAULT) if isinstance(traffic, dict) else codecs.DEFAULT
            said = codecs.find(codec, flow.get("concealment", codecs.CONCEALMENT)).remark
            if said:
                found[name] = said
    return found


def warn(read: Scenario, seed: int) -> None:
    """Says on standard error what one may not expect of the scenario's laws."""
    for words in read.cautions(seed):
        console.complain(f"warning: {words}")


def _overview(digest: str, plan: dict[str, Any]) -> dict[str, Any]:
    return {
        "hash": digest,
        "duration_s": plan["duration_s"],
        "nodes": len(plan["nodes"]),
        "link directions": len(plan["links"]),
        "flows": len(plan["flows"]),
        "hosts": _in_words(plan["hosts"]),
    }


def _in_words(hosts: dict[str, Any]) -> str:
    """How far hosts that send are from being in step."""
    said = [
        f"clocks within ±{hosts['clock_skew_ppm']:g} ppm" if hosts["clock_skew_ppm"] else "",
        f"packets leave up to {hosts['send_jitter_s'] * 1e3:g} ms late" if hosts["send_jitter_s"] else "",
    ]
    return ", ".join(filter(None, said)) or "in step"
