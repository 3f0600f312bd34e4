"""Styles that `--style` names, and formats that `--figures` names.

`paper` has the width of the columns of the journals' two-column layouts (IEEE: 3.5 and 7.16 inches), a face that
matches Times, and TrueType letters in PDF. `slides` has the width of a slide of 13.33 by 7.5 inches. `mono` needs no
colour: it uses greys, markers, line styles and hatches. A file is a style sheet for Matplotlib.
"""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fairwave.foreign import ForeignFileError, gated
from fairwave_report.style import FORMATS, LOOKS, MONOCHROME, FigureStyle, SeriesStyle

SERIF = ["STIXGeneral", "Times New Roman", "DejaVu Serif"]

NAMES = {
    "paper": "as wide as a journal's columns, with serifs",
    "slides": "as wide as a slide, with large letters",
    "mono": "without colour",
}
"""Styles that `--style` accepts, in addition to a file."""

EXAMPLES = "write for example --style paper, --style paper,mono or --style thesis.mplstyle"

NOT_OURS = frozenset({"backend", "backend_fallback", "interactive", "toolbar", "savefig.directory"})
"""Settings of a style sheet that are not about figures."""


class StyleError(ForeignFileError):
    """The style or format is unknown. The message lists the known ones."""


@dataclass(frozen=True)
class Asked:
    """How the user asked for a style, for messages.

    Attributes:
        name: The option or argument.
        examples: Values to type.
    """

    name: str
    examples: str


OPTION = Asked("--style", EXAMPLES)
ARGUMENT = Asked("style", "write for example style='paper', style='paper,mono' or style='thesis.mplstyle'")


def read(style: str | None, formats: str | None, asked: Asked = OPTION) -> FigureStyle:
    """Reads the requested style and formats.

    Args:
        style: Names of `NAMES` and at most one Matplotlib style sheet, separated by commas.
        formats: Some of `FORMATS`, separated by commas.
        asked: How the user asked for the style.

    Raises:
        StyleError: A name is unknown, or the file is not a style sheet.
    """
    found = FigureStyle()
    for name in _words(style or "", asked.name, asked.examples) if style is not None else ():
        if name == "paper":
            found = replace(found, settings=_paper(), width=7.16, column=3.5)
        elif name == "slides":
            found = replace(found, settings=_slides(), width=13.0, column=9.0, most_columns=2)
        elif name == "mono":
            found = replace(found, looks=MONOCHROME, is_fixed=True, map="Greys")
        else:
            found = _with_sheet(found, name, asked)
    if formats is None:
        return found
    wanted = _words(formats, "--figures", "write for example --figures pdf,svg")
    for one in wanted:
        if one not in FORMATS:
            raise StyleError(
                f"--figures has no format {one!r}; there are {', '.join(FORMATS)}: write for example --figures pdf,svg"
            )
    return replace(found, formats=tuple(dict.fromkeys(wanted)))


def _words(text: str, option: str, example: str) -> list[str]:
    words = [one.strip() for one in text.split(",") if one.strip()]
    if not words:
        raise StyleError(f"{option} is {text!r}, which names nothing; {example}")
    return words


def _paper() -> dict[str, Any]:
    return {
        "font.family": "serif", "font.serif": SERIF, "mathtext.fontset": "stix", "font.size": 8.0,
        "lines.linewidth": 1.1, "lines.markersize": 3.2, "axes.linewidth": 0.6, "grid.linewidth": 0.4,
        "xtick.major.width": 0.6, "ytick.major.width": 0.6, "hatch.linewidth": 0.4, "savefig.dpi": 400,
    }  # fmt: skip


def _slides() -> dict[str, Any]:
    return {
        "font.size": 15.0, "lines.linewidth": 3.0, "lines.markersize": 8.0, "axes.linewidth": 1.2,
        "grid.linewidth": 0.9, "savefig.dpi": 120,
    }  # fmt: skip


def _with_sheet(style: FigureStyle, name: str, asked: Asked) -> FigureStyle:
    """Applies a style sheet's settings to a style: width, fonts, and colours if the sheet has a colour cycle."""
    settings = _sheet(name, asked)
    found = replace(style, settings={**style.settings, **settings})
    if "figure.figsize" in settings:
        across = float(settings["figure.figsize"][0])
        found = replace(found, width=across, column=across)
    if "axes.prop_cycle" in settings:
        found = replace(found, looks=_cycle(settings["axes.prop_cycle"]), is_fixed=True)
    if {"text.color", "axes.facecolor", "figure.facecolor", "axes.edgecolor"} & set(settings):
        found = replace(found, is_fixed=True)
    if "image.cmap" in settings:
        found = replace(found, map=str(settings["image.cmap"]))
    return found


def _sheet(name: str, asked: Asked) -> dict[str, Any]:
    """Reads the settings of a style sheet."""
    file = Path(name)
    if not file.is_file():
        near = get_close_matches(name, NAMES, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        each = ", ".join(f"{one} ({what})" for one, what in NAMES.items())
        raise StyleError(f"{asked.name} is {name!r}, but there are {each}, or a file; {hint}{asked.examples}")
    return _parsed(file, name, asked)


@gated("style", StyleError)
def _parsed(file: Path, name: str, asked: Asked) -> dict[str, Any]:
    import matplotlib as mpl

    complaints = _Complaints()
    log = logging.getLogger("matplotlib")
    log.addHandler(complaints)
    spoke, log.propagate = log.propagate, False
    try:
        found = mpl.rc_params_from_file(file.resolve(), fail_on_error=False, use_default_template=False)
        settings: dict[str, Any] = {str(key): found[key] for key in found if key not in NOT_OURS}
    except (OSError, UnicodeDecodeError) as error:
        raise StyleError(f"{asked.name}: {name} cannot be read ({error}); {asked.examples}") from None
    finally:
        log.removeHandler(complaints)
        log.propagate = spoke
    wrong = [one for one in complaints.said if not one.startswith("Duplicate")]
    if wrong or not settings:
        why = wrong[0] if wrong else "it sets nothing"
        raise StyleError(
            f"{asked.name}: {name} is no style sheet of Matplotlib's: {why}; a sheet has lines as 'font.size: 9'"
        )
    if settings.get("text.usetex") and shutil.which("latex") is None:
        raise StyleError(
            f"{asked.name}: {name} sets text.usetex, but there is no latex here; install it, or write "
            "'text.usetex: False'"
        )
    return settings


class _Complaints(logging.Handler):
    """Collects Matplotlib's messages about a sheet, because it only warns of a mistake and skips the line."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps the first line of a message."""
        self.said.append(next((one for one in record.getMessage().splitlines() if one.strip()), ""))


def _cycle(cycle: Any) -> tuple[SeriesStyle, ...]:
    """Converts a sheet's property cycle to looks. The default style fills in missing properties."""
    from matplotlib.colors import to_hex

    found = []
    for at, one in enumerate(cycle):
        house = LOOKS[at % len(LOOKS)]
        colour = to_hex(one["color"]) if "color" in one else house.colour
        found.append(
            SeriesStyle(
                f"sheet-{at}", colour, colour, one.get("marker", house.marker), one.get("linestyle", house.line),
                one.get("hatch", ""),
            )
        )  # fmt: skip
    return tuple(found) or LOOKS
