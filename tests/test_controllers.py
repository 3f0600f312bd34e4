"""Each controller does on a fixed path what its source says: the numbers of `docs/controllers.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairwave_report.controllers import CONTROLLERS, Controller, run


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda controller: controller.name)
def test_a_controller_shows_its_characteristic_numbers(controller: Controller) -> None:
    for number in controller.numbers(run(controller)):
        assert number.holds, f"{number.what}: {number.measured:.4g}, predicted {number.predicted:.4g}"


def test_the_page_names_every_controller() -> None:
    page = (Path(__file__).parent.parent / "docs" / "controllers.md").read_text(encoding="utf-8")
    for controller in CONTROLLERS:
        assert f"## {controller.title}\n" in page
