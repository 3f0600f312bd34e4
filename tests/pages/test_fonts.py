"""Pages look the same on every machine: they bring their fonts."""

import re

import pytest

from fairwave_report.page import _text

BOXES = """
() => [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()).map((one) => {
  const box = one.getBoundingClientRect();
  return [one.tagName, one.textContent.trim().slice(0, 30), box.x, box.y, box.width, box.height].map((part) =>
    typeof part === "number" ? Math.round(part) : part).join("|");
})
"""

WIDTHS = """
(letters) => {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `100px ${getComputedStyle(document.querySelector("main")).fontFamily}`;
  return [...letters].map((one) => context.measureText(one).width);
}
"""

LETTERS = "aWm0123456789äöüßŁéσγαβ±–−×·µ≤≥→↔√²₀†‡…“”§✓✗▶"


def boxes(machines, page, width):
    """Positions of all elements of a page, on each machine."""
    found = {}
    for name, browser in machines.items():
        opened = browser.new_page(viewport={"width": width, "height": 900})
        opened.goto(page.as_uri())
        opened.evaluate("document.fonts.ready")
        opened.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found[name] = opened.evaluate(BOXES)
        opened.close()
    return found


@pytest.mark.parametrize("kind", ["run", "compare", "sweep", "find", "study"])
@pytest.mark.parametrize("width", [1440, 400])
def test_a_page_has_the_same_layout_on_machines_with_other_fonts(machines, pages, kind, width):
    found = boxes(machines, pages[kind], width)
    assert len(found["wide"]) > 100
    assert found["wide"] == found["narrow"]


def test_the_machines_of_these_tests_differ(machines, tmp_path):
    bare = tmp_path / "bare.html"
    bare.write_text("<p><span>The quick brown fox</span></p>", encoding="utf-8")
    found = boxes(machines, bare, 400)
    assert found["wide"] != found["narrow"]


def test_the_fonts_have_all_letters_of_pages(machines, pages):
    found = []
    for browser in machines.values():
        page = browser.new_page()
        page.goto(pages["run"].as_uri())
        page.evaluate("document.fonts.ready")
        found.append(dict(zip(LETTERS, page.evaluate(WIDTHS, LETTERS), strict=True)))
        page.close()
    assert found[0] == found[1]


def test_the_licences_travel_with_the_fonts():
    names = re.findall(r'url\("(.*?)\.woff2"\)', _text("fonts/fonts.css"))
    assert names == ["Inter", "JetBrains-Mono"]
    for name in names:
        assert "SIL OPEN FONT LICENSE Version 1.1" in _text(f"fonts/{name}-OFL.txt")
