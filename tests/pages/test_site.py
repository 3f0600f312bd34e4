"""The site in a browser: its main pages are accessible, at two widths and in both themes."""

import os
from pathlib import Path

import pytest

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


def violations(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return [
        (one["id"], node["html"][:160])
        for one in axe.Axe().run(page).response["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1440, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_anyone_from_reading_the_site(site, chromium, name, width, scheme):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        page = context.new_page()
        page.goto((site / f"{name}.html").as_uri())
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), (
            "the page scrolls sideways"
        )
    finally:
        context.close()


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
