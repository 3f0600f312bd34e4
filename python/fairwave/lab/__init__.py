"""The lab: the simulator and its controls in one HTML file, which works from disk without any server or network.

`make lab` builds it (``out/lab.html``) and puts a copy next to this module, which a wheel includes. A scenario
travels in the page's address, behind ``#s=``: its TOML, deflated, in base64 for addresses. In a notebook it is a
widget: :func:`fairwave.lab.widget.widget`.
"""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

from fairwave.staging import write_bytes, write_text

NAME = "lab.html"

_BESIDE = Path(__file__).with_name(NAME)

_PLACE = '<meta name="fairwave-scenario" content="">'


class LabError(RuntimeError):
    """The page has not been built; the message names the command to build it."""


def built() -> Path | None:
    """Returns the page's file, or None if it has not been built."""
    return _BESIDE if _BESIDE.is_file() else None


def page() -> Path:
    """Returns the page's file.

    Raises:
        LabError: The page has not been built.
    """
    found = built()
    if found is None:
        raise LabError(
            "the lab has not been built here: run `make lab` in the checkout (it needs Node 20 and Rust's "
            "wasm32-unknown-unknown)"
        )
    return found


def packed(toml: str) -> str:
    """Encodes a scenario for an address: deflated, in URL-safe base64, without padding."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    squeezed = deflate.compress(toml.encode()) + deflate.flush()
    return base64.urlsafe_b64encode(squeezed).decode().rstrip("=")


def fragment(toml: str) -> str:
    """Returns the end of an address that opens the page on this scenario: ``#s=…``."""
    return f"#s={packed(toml)}"


def opening_on(toml: str) -> str:
    """Returns the page's text, changed to open on a scenario.

    Raises:
        LabError: The page has not been built, or another version built it.
    """
    text = page().read_text(encoding="utf-8")
    if _PLACE not in text:
        raise LabError("the lab that was built is of another version: run `make lab` again")
    return text.replace(_PLACE, _PLACE.replace('content=""', f'content="{packed(toml)}"'))


def write(out: Path, toml: str | None = None) -> Path:
    """Writes the page, changed to open on a scenario if one is given.

    Args:
        out: The file.
        toml: The scenario; None for the page's default scenario.

    Raises:
        LabError: The page has not been built.
        OSError: The file cannot be written.
    """
    write_text(out, page().read_text(encoding="utf-8") if toml is None else opening_on(toml))
    return out


def link_from(folder: Path, toml: str) -> str | None:
    """Returns a link to the lab that opens a scenario, and copies the lab into the folder.

    Returns:
        The link; None if the lab has not been built.
    """
    found = built()
    if found is None:
        return None
    write_bytes(folder / NAME, found.read_bytes())
    return NAME + fragment(toml)
