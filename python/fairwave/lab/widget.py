"""The lab as a notebook widget, for Jupyter, marimo and other hosts of ``anywidget``.

The page runs in a separate frame, and the simulator runs in the reader's browser. The notebook gets the result.
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
"""Script that runs in the notebook's page."""


def widget(scenario: Scenario | None = None, height: int = 900) -> Any:
    """Creates the lab, open on a scenario.

    Args:
        scenario: The scenario; None for the page's default scenario.
        height: Height in pixels, above 0.

    Returns:
        An ``anywidget`` widget. Its ``result`` is the latest result: a dictionary with ``digest``, ``scenario`` (JSON)
        and ``voice`` (MOS of each group of calls). Set its ``scenario`` to TOML to open another scenario.

    Raises:
        fairwave.lab.LabError: The page has not been built, or ``anywidget`` is not installed.
        ValueError: The height is not above 0.
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
