"""`fairwave pattern`, and the captures and patterns that `fairwave run` writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave._native import ScenarioError
from fairwave.cli import console
from fairwave.cli.input import refuse_other
from fairwave.errors import BadInputError
from fairwave.flow_groups import groups, kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fairwave.captures import Capture, FlowSummary
    from fairwave.patterns import Gilbert
    from fairwave.results import Results
    from fairwave.scenario import Scenario

MOST_LENGTHS = 12
"""Largest number of run lengths in the table, the shortest first."""


def show_pattern(
    file: Path,
    draw: Path | None,
    convert: Path | None,
    *,
    json: bool,
    select: str | None = None,
    sdp: Path | None = None,
) -> None:
    """Shows a pattern of loss."""
    from fairwave import captures, patterns

    capture = chosen = None
    try:
        if captures.is_capture(file):
            capture = captures.read(file, description=captures.read_description(sdp) if sdp else None)
            chosen, lost = patterns.choose_stream(capture, select)
        else:
            for option, given in (("--select", select), ("--sdp", sdp)):
                if given:
                    raise BadInputError(f"{option} is for captures, and {file} is none; leave it out")
            lost = patterns.read(file)
    except (FileNotFoundError, captures.CaptureError, patterns.PatternError) as error:
        refuse_other(file, "a pattern of loss", ("capture", "pattern", "rates", "mahimahi", "pensieve"))
        raise BadInputError(str(error)) from None
    found = patterns.summary(lost)
    drawn = patterns.draw(lost, draw, file.name) if draw else None
    written = patterns.write(convert, lost) if convert else None
    if json:
        about = {} if capture is None or chosen is None else _describe_streams(capture, chosen)
        console.document({**found.to_dict(), **about})
        return
    if capture is not None and chosen is not None:
        _show_streams(capture, chosen)
    rows = [("packets", f"{found.packets}"), ("lost", f"{found.lost} ({found.lost / found.packets:.3%})")]
    if found.bursts:
        count = sum(found.bursts.values())
        rows.append(
            ("runs of losses", f"{count}, mean length {found.lost / count:.3g}, longest {max(found.bursts)}")
        )
    if found.gaps:
        mean, median, longest = found.gaps
        rows.append(("between them", f"mean {mean:.4g}, median {median:g}, longest {longest} packets"))
    rows += [("Gilbert's model", _fit(found.fit))]
    if found.fit.law:
        rows += [("in a scenario", line(found.fit.law))]
    console.pairs(str(file), rows)
    if found.bursts:
        lengths = list(found.bursts.items())
        expected = sum(found.bursts.values())
        q = found.fit.q
        cells = [
            [str(length), str(n), f"{expected * q * (1 - q) ** (length - 1):.1f}" if q else "–"]
            for length, n in lengths[:MOST_LENGTHS]
        ]
        more = len(lengths) - MOST_LENGTHS
        caption = f"and {more} greater lengths" if more > 0 else ""
        console.table(
            "packets lost in a row", ["length", "runs", "by Gilbert's model"], cells, caption=caption
        )
    for path in filter(None, (drawn, written)):
        console.say(f"\nwritten: {path}")


def _describe_streams(capture: Capture, chosen: FlowSummary) -> dict[str, Any]:
    """Returns the streams of a capture, and which one the pattern is from, as plain data."""
    return {
        "stream": chosen.name,
        "streams": [one.to_dict() for one in capture.flows if one.is_rtp],
        "notes": capture.notes.sentences(),
    }


def _show_streams(capture: Capture, chosen: FlowSummary) -> None:
    """Lists the streams of a capture if there are several, and says which one follows."""
    from fairwave.cli.replay import list_streams, show_notes

    if len(capture.streams) > 1:
        list_streams(capture)
        console.say(f"The pattern is that of stream {chosen.number}. Choose another one with --select.")
    show_notes(capture)


def line(law: dict[str, Any]) -> str:
    """The scenario line of a fitted model."""
    return f'loss = {{ model = "gilbert", rate = "{law["rate"] * 100:.6g} %", run = {law["run"]:.6g} }}'


def _fit(fit: Gilbert) -> str:
    """A fitted model in words."""

    def phrase(name: str, value: float | None, interval: tuple[float, float] | None, why: str) -> str:
        if value is None:
            return f"{name} not defined ({why})"
        if interval is None:
            return f"{name} = {value:.4g} (from one packet: no interval)"
        return f"{name} = {value:.4g} ({interval[0]:.2g} to {interval[1]:.2g})"

    said = [
        phrase("p", fit.p, fit.p_interval, "no packet follows one that arrived"),
        phrase("q", fit.q, fit.q_interval, "no packet follows one that was lost"),
    ]
    if fit.loss is not None:
        said.append(f"in the long run {fit.loss:.3%} lost")
    elif fit.q == 0:
        said.append("loss in the long run unknown: no packet arrives after a lost one")
    return ", ".join(said)


def pairs(given: Sequence[str], option: str, example: str) -> list[tuple[str, str]]:
    """Splits `WHERE=FILE` values of an option."""
    found = []
    for one in given:
        where, equals, file = one.partition("=")
        if not (equals and where.strip() and file.strip()):
            raise BadInputError(f"{option} takes WHERE=FILE, not {one!r}; for example {option} {example!r}")
        found.append((where.strip(), file.strip()))
    return found


def visible(
    read: Scenario, seed: int, captures: Sequence[tuple[str, str]], patterns: Sequence[tuple[str, str]]
) -> None:
    """Refuses places that the scenario does not have, and files that cannot be written, before anything runs.

    Raises:
        BadInputError: There is one.
    """
    if not captures and not patterns:
        return
    from fairwave import capturing

    try:
        capturing.check(read, captures, patterns, seed=seed)
    except ValueError as error:
        if isinstance(error, ScenarioError):
            raise
        raise BadInputError(str(error)) from None


def recorded_captures(read: Scenario, out: Path | None) -> list[tuple[str, str]]:
    """Returns the captures of the scenario's `record.capture` in the folder `out`. Without one, prints a note."""
    asked = read.to_dict().get("record", {}).get("capture", [])
    if asked and out is None:
        console.say(f"captures of {', '.join(asked)} are written with --out FOLDER")
        return []
    found = []
    for one in asked:
        where, _, file = one.partition("=")
        name = file or re.sub(r"[^\w.-]+", "-", where.replace("*", "all")).strip("-") + ".pcapng"
        found.append((where.strip(), str((out or Path()) / "captures" / name.strip())))
    return found


def look_on(
    read: Scenario,
    seed: int,
    captures: list[tuple[str, str]],
    patterns: list[tuple[str, str]],
    *,
    payload: bool,
    quiet: bool,
    speech: Path | None = None,
) -> dict[str, Any]:
    """Repeats the run with the first seed and writes captures and patterns of loss.

    Returns:
        The files, as plain data; empty if none were requested.
    """
    if not captures and not patterns:
        return {}
    from fairwave import capturing

    console.say(f"capturing the run with seed {seed} …", quiet=quiet)
    said = _choose_speech(read, speech, quiet=quiet) if payload and captures else None
    try:
        seen = capturing.capture(read, captures, patterns, seed=seed, payload=payload, speech=said)
    except ValueError as error:
        raise BadInputError(str(error)) from None
    for one in seen.captures:
        console.say(f"capture: {one.path} ({one.packets} packets)", quiet=quiet)
    for one in seen.patterns:
        console.say(f"pattern of loss: {one.path} ({one.lost} of {one.packets} packets lost)", quiet=quiet)
    if seen.captures:
        first = seen.captures[0].path
        console.say(f"read it with: wireshark {_script(read)}{first}", quiet=quiet)
    return {
        "captures": [{"file": str(one.path), "packets": one.packets} for one in seen.captures],
        "patterns": [
            {"file": str(one.path), "packets": one.packets, "lost": one.lost} for one in seen.patterns
        ],
    }


def logged_flows(read: Scenario, seed: int, folder: Path | None, flows: Sequence[str]) -> None:
    """Refuses flows that the scenario does not have, before anything runs.

    Raises:
        BadInputError: There is one, or flows are named and no folder.
    """
    if flows and folder is None:
        raise BadInputError("--qlog-flow says which flows --qlog writes; add --qlog DIR")
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise BadInputError(
            f"--qlog takes a folder, and {folder} is a file; write for example --qlog out/qlog"
        )
    known = [str(flow["name"]) for flow in read.plan(seed)["flows"]]
    for one in flows:
        if one != "*" and one not in known and one not in {name.rpartition("[")[0] for name in known}:
            raise BadInputError(
                f"--qlog-flow: there is no flow {one!r}; there are for example {', '.join(known[:4])}"
            )


def with_sessions(read: Scenario, folder: Path | None) -> None:
    """Refuses to write statistics of media sessions if there are none, before anything runs.

    Raises:
        BadInputError: No flow is a media session, or the folder is a file.
    """
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise BadInputError(
            f"--stats takes a folder, and {folder} is a file; write for example --stats out/stats"
        )
    if not read.to_dict().get("call") and not any(kind(flow) == "media" for flow in groups(read).values()):
        raise BadInputError(
            "--stats is about media sessions, and no flow is one; write "
            'traffic = "media", transport = "webrtc", or a [[call]]'
        )


def write_stats(results: Results, folder: Path, *, quiet: bool) -> dict[str, Any]:
    """Writes the results of `getStats()` at both ends of each media session.

    Returns:
        The files, as plain data.
    """
    from fairwave import getstats

    written = getstats.write(results, folder)
    console.say(f"statistics: {', '.join(str(one) for one in written)}", quiet=quiet)
    return {"stats": [str(one) for one in written]}


def write_qlog(
    read: Scenario, seed: int, folder: Path, flows: Sequence[str], *, quiet: bool
) -> dict[str, Any]:
    """Repeats the run with the first seed and logs the actions of its senders.

    Returns:
        The files, as plain data.
    """
    from fairwave import capturing

    console.say(f"logging the run with seed {seed} …", quiet=quiet)
    written = capturing.qlog(read, folder, flows or ["*"], seed=seed)
    for one in written:
        console.say(f"qlog: {one.path} ({one.packets} events)", quiet=quiet)
    if written:
        console.say("open it in qvis: https://qvis.quictools.info (files stay on your machine)", quiet=quiet)
    return {"qlog": [{"file": str(one.path), "events": one.packets} for one in written]}


def _choose_speech(read: Scenario, speech: Path | None, *, quiet: bool) -> NDArray[np.int16] | None:
    """Speech of G.711 calls in a capture: the recording; None without such a call, or without a recording."""
    from fairwave.extras import MissingExtraError
    from fairwave.layers import layer

    if not any(_codec(flow) == "g711" for flow in read.to_dict().get("flow", [])):
        return None
    found: NDArray[np.int16] | None = None
    try:
        found = layer("pages").speech(speech, console.complain)
    except MissingExtraError:
        if speech is not None:
            raise
    if found is None:
        console.say("no recording: calls carry zeros; give one with --speech FILE", quiet=quiet)
    return found


def _codec(flow: dict[str, Any]) -> str:
    """The codec of a flow that is a call over RTP; empty for others."""
    traffic = flow.get("traffic", {})
    kind = traffic if isinstance(traffic, str) else traffic.get("kind", "")
    if kind not in {"voice", "recording", "conversation"}:
        return ""
    return "g711" if isinstance(traffic, str) else str(traffic.get("codec", "g711"))


OWN_LAYOUTS = ("tfrc", "rap", "dvrc")
"""Transports whose packets need fairwave's dissector."""


def _script(read: Scenario) -> str:
    """Wireshark's option to load the dissector, if the scenario needs it."""
    from fairwave.capturing import lua

    transports = [flow.get("transport", "") for flow in read.to_dict().get("flow", [])]
    names = {one if isinstance(one, str) else one.get("name", "") for one in transports}
    return f"-X lua_script:{lua()} " if names & set(OWN_LAYOUTS) else ""
