"""Accessibility of a page in a browser, checked by axe-core."""

from itertools import product

import pytest


def list_violations(page, also=lambda _page: []):
    """The serious violations on an open page at two widths, in both themes; `also` returns other faults.

    The page is loaded once: the width and the preferred theme change while it is open.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = []
    for width, scheme in product((1440, 400), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("innerWidth") == width
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
        found += [
            (width, scheme, one["id"], node["html"][:160])
            for one in axe.Axe().run(page).response["violations"]
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]
        found += [(width, scheme, fault) for fault in also(page)]
    return found
