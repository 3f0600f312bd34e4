"""The lab as a widget, for Jupyter, marimo and whatever else shows widgets by ``anywidget``.

The page runs in a frame of its own; the simulator runs in the reader's browser. The notebook gets the result.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import lab
from fairwave.extras import need

if TYPE_CHECKING:
    from fairwave.scenario import Scenario

SCRIPT = Path(__file__).with_name("widget.js")
"""What the notebook's page runs."""


def widget(scenario: Scenario | None = None, height: int = 900) -> Any:
    """The lab on a scenario.

    Args:
        scenario: What it opens on; the page's own if not given.
        height: In pixels, above 0.

    Returns:
        An ``anywidget`` widget. Its ``result`` is what came out last: a dictionary with ``digest``, ``scenario`` (JSON)
        and ``voice`` (of each group of calls its opinion score); its ``scenario`` takes TOML and opens it.

    Raises:
        fairwave.lab.LabError: The page has not been built, or ``anywidget`` is not installed.
        ValueError: A height that is not above 0.
    """
    if height <= 0:
        raise ValueError(f"height {height}: must be above 0; write for example height=900")
    need("anywidget", "lab", lab.LabError)
    import anywidget
    import traitlets

    class Lab(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]  # untyped
        """The page in a frame."""

        _esm = SCRIPT
        page = traitlets.Unicode().tag(sync=True)
        scenario = traitlets.Unicode("").tag(sync=True)
        height = traitlets.Int(900).tag(sync=True)
        result = traitlets.Dict().tag(sync=True)

    toml = "" if scenario is None else scenario.to_toml()
    text = lab.opening_on(toml) if toml else lab.page().read_text(encoding="utf-8")
    return Lab(page=base64.b64encode(text.encode()).decode(), scenario=toml, height=height)
