"""`fairwave trace`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.cli import console
from fairwave.cli.input import refuse_other
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from pathlib import Path


def show_trace(
    file: Path,
    form: str | None,
    part: str | None,
    draw: Path | None,
    out: Path | None,
    to: str | None,
    *,
    json: bool,
) -> None:
    """Shows a trace of a link's rate, draws it, converts it."""
    from fairwave import traces
    from fairwave.advice import rate_in_words as words

    if to is not None and out is None:
        raise BadInputError(
            "--to says the format of the file that --out names: add for example --out trace.csv"
        )
    if to is not None and to not in traces.FORMATS:
        raise BadInputError(f"there is no format {to!r}: write --to with one of {', '.join(traces.FORMATS)}")
    try:
        trace = traces.read(file, form, part)
        found = traces.summary(trace)
        written = traces.write(out, trace, to) if out else None
    except (FileNotFoundError, traces.TraceError) as error:
        refuse_other(
            file, "a trace of a rate",
            ("opennetlab", "rattan", "mahimahi", "pensieve", "rates", "pattern", "sabre", "downloads", "gnettrack"),
        )  # fmt: skip
        raise BadInputError(str(error)) from None
    drawn = traces.draw(trace, draw, file.name) if draw else None
    if json:
        console.document(found.to_dict())
        return
    few = [f"{key} %: {words(value)}" for key, value in found.percentiles.items()]
    rows = [
        ("format", found.format),
        ("duration", f"{found.duration:g} s, {found.steps} steps"),
        ("lets through", f"{found.size} B, in the mean {words(found.mean)}"),
        (f"per {traces.BIN * 1e3:g} ms", f"from {words(found.least)} to {words(found.most)}"),
        ("percentiles", ", ".join(few)),
        (
            "without service",
            f"{found.without:.2%} of the time, longest {found.longest:g} s (for {traces.BIN * 1e3:g} ms or longer)",
        ),
    ]
    if trace.opportunities is not None:
        count = int(trace.opportunities.sum())
        rows.append(
            (
                "opportunities",
                f"{count} of {traces.OPPORTUNITY} B, at most {int(trace.opportunities.max())} in a ms",
            )
        )
    said = [name for name, values in (("delay", trace.delay), ("loss", trace.loss)) if values is not None]
    if said:
        rows.append(("holds also", f"{' and '.join(said)}, which the rate law `trace` does not use"))
    if found.left_out:
        rows.append(("not read", ", ".join(found.left_out)))
    console.pairs(str(file), rows)
    for path in filter(None, (drawn, written)):
        console.say(f"\nwritten: {path}")
