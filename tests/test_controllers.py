"""Each controller behaves on a fixed path as its source predicts: the numbers of the page of controllers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairwave_report.controllers import CONTROLLERS, Controller, render, run


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda controller: controller.name)
def test_a_controller_shows_its_characteristic_numbers(controller: Controller) -> None:
    for number in controller.numbers(run(controller)):
        assert number.holds, f"{number.what}: {number.measured:.4g}, predicted {number.predicted:.4g}"


def test_the_page_has_every_controller_and_every_number_holds(tmp_path: Path) -> None:
    page = render(tmp_path, quick=True)
    for controller in CONTROLLERS:
        assert f"## {controller.title}\n" in page
    assert "**no**" not in page
