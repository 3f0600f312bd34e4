"""`fairwave fit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairwave.cli import console
from fairwave.cli.input import refuse_other, variations
from fairwave.errors import BadInputError
from fairwave.fitting.bottleneck import format_least

if TYPE_CHECKING:
    from fairwave import Scenario
    from fairwave.fitting import Fit, Interval

OWN_KEYS = ("queue", "rate", "delay", "loss")
"""Keys of `--vary` that refer to the fitted bottleneck."""


def show_fit(
    file: Path,
    *,
    host: str | None,
    connection: str | None,
    rate: str | None,
    seeds: int,
    vary: list[str],
    out: Path | None,
    draw: Path | None,
    overwrite: bool,
    json: bool,
    sdp: Path | None = None,
) -> None:
    """Fits a network, describes it, writes its scenario, and compares alternatives of it on request."""
    from fairwave import fitting
    from fairwave.captures import CaptureError

    if not file.is_file():
        what = "a folder" if file.is_dir() else "no such file"
        raise BadInputError(f"no file {str(file)!r}: {what}; give a capture or the statistics of a call")
    where = out or file.with_suffix(".fitted.toml")
    if where.exists() and not overwrite:
        raise BadInputError(f"{where} exists already: add --overwrite, or --out FILE to choose another name")
    known = None if rate is None else _rate(rate)
    _check_varied(vary)
    try:
        with console.progress(f"fitting {file.name}", quiet=json) as progress:
            found = fitting.fit(
                file, host=host, connection=connection, rate=known, seeds=seeds, sdp=sdp, progress=progress
            )
    except (FileNotFoundError, CaptureError, ValueError) as error:
        refuse_other(file, "a capture or statistics of a call", ("capture", "dump", "getstats", "rtcstats"))
        raise BadInputError(str(error)) from None
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(_heading(found, file) + found.scenario.to_toml(), encoding="utf-8")
    drawn = None
    if draw is not None:
        from fairwave.fitting.drawing import draw as drawing

        drawn = drawing(found, draw)
    if json:
        console.document({**found.to_dict(), "written": str(where)})
        return
    console.pairs(title(found, file.name), rows(found))
    if found.unknown:
        console.say("\nThe file cannot tell:")
        for one in found.unknown:
            console.say(f"- {one}")
    for one in found.notes:
        console.say(one)
    console.say(f"\nscenario: {where}" + (f"   figure: {drawn}" if drawn else ""))
    if not vary and found.rate is None:
        return
    if not vary:
        console.say(
            "Would another queue have helped? "
            f"fairwave fit {file} --vary queue={found.queue},{'codel' if found.queue == 'fq-codel' else 'fq-codel'}"
        )
        return
    if found.rate is None and any(one.partition("=")[0].strip() == "queue" for one in vary):
        raise BadInputError(
            f"--vary queue=… compares nothing: the rate is not known, because {found.doubt}. If you know the rate of "
            "the line, add --rate, for example --rate '20 Mb/s'"
        )
    from fairwave.cli.comparing import compare_alternatives
    from fairwave.measuring.relevance import USUAL

    keys = [f"link.{found.link}.{one}" if one.partition("=")[0].strip() in OWN_KEYS else one for one in vary]
    compare_alternatives(
        str(where), None, keys, None, None, where.with_suffix(""), 1, 10, [], None, json=False, audio=True,
        playout=None, overwrite=overwrite, relevance=USUAL,
    )  # fmt: skip


def _check_varied(vary: list[str]) -> None:
    """Rejects impossible alternatives of the bottleneck, before a fit that takes minutes."""
    from fairwave import ScenarioError

    for written, (key, values) in zip(vary, variations(vary, "--vary"), strict=True):
        if key not in OWN_KEYS:
            continue
        try:
            for value in values.values():
                _link("1 Mb/s").with_overrides({f"link.a>b.{key}": value})
        except ScenarioError as error:
            raise BadInputError(str(error).replace(" --> objects.json", f" --> --vary {written}")) from None


def _link(rate: str) -> Scenario:
    """Makes a scenario of one link, to check its values."""
    import fairwave

    link = {"from": "a", "to": "b", "rate": rate, "delay": "1 ms"}
    flow = {"name": "flow", "from": "a", "to": "b", "transport": "udp", "traffic": "voice"}
    return fairwave.build("a link", "1 s", links=[link], flows=[flow])


def _rate(text: str) -> float:
    """Parses a rate of the scenario language, in bit/s."""
    import fairwave

    try:
        return float(_link(text).plan()["links"][0]["rate_bps"])
    except (fairwave.ScenarioError, TypeError, KeyError):
        raise BadInputError(f"--rate takes a rate such as '20 Mb/s', not {text!r}") from None


def rows(found: Fit) -> list[tuple[str, str]]:
    """Lists the estimates, a line each."""
    from fairwave.fitting.statistics import estimate_range

    lines = []
    certain = "95 %" if found.kind == "capture" else "fit about as well"
    if found.rate is None:
        lines.append(
            ("rate", f"cannot determine the rate, at least {format_least(found.least_rate)}: {found.doubt}")
        )
        if found.seconds is not None and found.seconds.has_estimate:
            low, high = (one / 1e6 for one in estimate_range(found.seconds))
            span = f"{low:.3g} Mb/s" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g} Mb/s"
            lines.append(("estimate", f"{span}, by the browser"))
    for at, rate in zip(found.rate.from_s, found.rate.rates, strict=True) if found.rate else ():
        since = f"from {at:.3g} s: " if found.rate and len(found.rate.rates) > 1 else ""
        given = f"{rate.value / 1e6:.4g} Mb/s, given"
        lines.append((
            "rate" if not at else "",
            since + (given if found.is_rate_given else format_estimate(rate, 1e6, "Mb/s", certain)),
        ))  # fmt: skip
    lines.append(("round trip", f"{found.round_trip_s * 1e3:.3g} ms without queues"))
    if found.rate is not None:
        lines.append(("queue", _queue(found)))
    if found.rate is None:
        buffer = "not known: no packet waited"
    elif found.buffer:
        buffer = format_estimate(found.buffer, 1e3, "kB", certain)
    elif not found.has_queued:
        buffer = "not known: no packet waited"
    else:
        buffer = f"at least {found.least_buffer / 1e3:.4g} kB"
    lines.append(("buffer", buffer))
    if found.random_loss:
        run = f", {found.loss_run:.2g} in a row" if found.loss_run >= 1.2 else ""
        lines.append(("other losses", format_estimate(found.random_loss, 0.01, "%", certain) + run))
    if found.unseen:
        since = f", from {found.unseen_from_s:.3g} s on" if found.unseen_from_s else ""
        lines.append((
            "unseen traffic", f"like {found.unseen} long transfer{'s' * (found.unseen > 1)} over CUBIC{since}",
        ))  # fmt: skip
    if found.distance is not None:
        lines.append(("distance", f"{found.distance:.2f} (1 or less: alike)"))
    return lines


def title(found: Fit, name: str) -> str:
    """Says how well the fit explains the file."""
    from fairwave.fitting.fitted import UNEXPLAINED

    if found.rate is None:
        return f"what {name} shows of its network"
    return (
        f"the network that explains {name} best"
        if found.is_explained
        else f"{UNEXPLAINED}; the nearest network"
    )


def _queue(found: Fit) -> str:
    if not found.is_explained:
        return f"not known; the scenario has {found.queue}"
    shares = ", ".join(f"{name} {share:.0%}" for name, share in found.families.items() if share >= 0.005)
    return (
        f"{found.queue} ({shares})"
        if found.is_certain
        else f"not certain: {shares}; the scenario has {found.queue}"
    )


def format_estimate(value: Interval, unit: float, name: str, certain: str) -> str:
    """An estimate with its interval; ends of the tried values are open."""
    low, high = f"{value.low / unit:.4g}", f"{value.high / unit:.4g}"
    if value.low == value.high:
        return f"{value.value / unit:.4g} {name} (no interval: one value was tried)"
    low = f"{low} or less" if value.edge in {"low", "both"} else low
    high = f"{high} or more" if value.edge in {"high", "both"} else high
    edge = ", end of the tried values" if value.edge else ""
    return f"{value.value / unit:.4g} {name} ({low} to {high}, {certain}{edge})"


def _heading(found: Fit, file: Path) -> str:
    about = title(found, console.visible(file.name))
    lines = [f"# {about[:1].upper()}{about[1:]}, by `fairwave fit`.", "#"]
    lines += [f"# {name or '    '}: {about}" for name, about in rows(found)]
    lines += (
        ["#", "# The file cannot tell:", *(f"# - {one}" for one in found.unknown)] if found.unknown else []
    )
    return "\n".join(" ".join(line.split()) if line.startswith("#") else line for line in lines) + "\n\n"
