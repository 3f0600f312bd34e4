"""The site in a browser: its main pages are accessible, at two widths and in both themes."""

import os
from pathlib import Path

import pytest

from accessibility import list_violations

PAGES = (
    "docs/index",
    "docs/tutorial",
    "docs/results",
    "docs/conferences",
    "docs/studies/radio",
    "results/index",
    "results/gallery",
    "results/live",
    "results/opinions",
    "results/validation",
    "results/l4s",
)


@pytest.fixture(scope="module")
def site(request):
    """The folder of the site; `FAIRWAVE_SITE` names an existing one."""
    if ready := os.environ.get("FAIRWAVE_SITE"):
        return Path(ready).resolve()
    pytest.importorskip("sphinx", reason="the site is not built: sphinx is not installed")
    made = request.getfixturevalue("made_site").folder
    assert (made / "docs" / "index.html").exists()
    return made


def scrolls_sideways(page):
    fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    return [] if fits else ["the page scrolls sideways"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_nothing_keeps_anyone_from_reading_the_site(site, chromium, name):
    page = chromium.new_page()
    try:
        page.goto((site / f"{name}.html").as_uri())
        assert list_violations(page, also=scrolls_sideways) == []
    finally:
        page.close()


@pytest.mark.slow
@pytest.mark.parametrize("fonts", ["wide", "narrow"])
def test_tables_of_six_narrow_columns_fit_a_phone(site, machines, fonts):
    page = machines[fonts].new_page(viewport={"width": 400, "height": 900})
    page.goto((site / "results" / "cell.html").as_uri())
    page.evaluate("document.fonts.ready")
    wide = "[...document.querySelectorAll('.table-wrapper')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert page.evaluate("document.querySelectorAll('.table-wrapper').length") > 0
    assert page.evaluate(wide) == 0
    page.close()


@pytest.mark.slow
def test_the_sidebar_has_each_page_once(site, chromium):
    page = chromium.new_page()
    page.goto((site / "docs" / "index.html").as_uri())
    found = page.evaluate("[...document.querySelectorAll('.sidebar-tree a')].map((one) => one.href)")
    assert len(found) == len(set(found)) >= 40
    names = page.evaluate(
        "[...document.querySelectorAll('.sidebar-tree a')].map((one) => one.textContent.trim())"
    )
    assert len(names) == len(set(names))
    page.close()
