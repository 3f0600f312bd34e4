"""How the documentation becomes a site: `make site`.

The pages are the Markdown files of `docs/` as they are read in the repository, with the architecture, the
changelog and the guide for contributors. `validation.pages.site` adds the rendered pages as `results/`; only the
reference of the Python package is made here, from its docstrings.
"""

import os
from pathlib import Path
from typing import Any

from validation.pages.render import PAGES

project = "fairwave"
copyright = "the fairwave authors"  # noqa: A001
html_title = "fairwave"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
# The source has the folders of the repository, so that links between its pages hold in both places.
include_patterns = [
    "docs/**",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "python/fairwave/glossary.md",
    "results/*.md",
]
exclude_patterns = ["docs/_static"]
root_doc = "docs/index"
html_theme = "furo"
html_additional_pages = {"index": "to-docs.html"}
templates_path = ["_static"]
# The site has the fonts of all pages of fairwave.
FONTS = "../python/fairwave_report/templates/fonts"
html_static_path = [
    "_static/site.css",
    *(f"{FONTS}/{one}" for one in ("fonts.css", "Inter.woff2", "JetBrains-Mono.woff2")),
]
html_css_files = ["fonts.css", "site.css"]
html_theme_options = {
    "light_css_variables": {
        "font-stack": '"Inter", sans-serif',
        "font-stack--monospace": '"JetBrains Mono", monospace',
    }
}
html_extra_path = ["../examples"]
html_copy_source = False
html_show_sourcelink = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
default_role = "code"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True


def readable(*event: Any) -> None:
    """Lets the keyboard reach regions that scroll, and gives the captions of the sidebar a level."""
    context = event[3]
    body = context.get("body", "").replace("<pre>", '<pre tabindex="0">')
    scrolls = '<div tabindex="0" role="group" aria-label="Table" class="table-wrapper'
    context["body"] = body.replace('<div class="table-wrapper', scrolls)
    if "furo_navigation_tree" in context:
        sidebar = context["furo_navigation_tree"]
        context["furo_navigation_tree"] = sidebar.replace('role="heading"', 'role="heading" aria-level="2"')


def link_results(app: Any, name: str, source: list[str]) -> None:
    """Adds links to rendered pages: to all from the start page, to its own from a page that reports findings."""
    there = {
        page.name: page for page in PAGES.values() if Path(app.srcdir, "results", f"{page.name}.md").is_file()
    }
    below = os.path.relpath("results", Path(name).parent)
    if name == root_doc and there:
        source[0] += (
            f"\n```{{toctree}}\n:hidden:\n:caption: All numbers\n\nTables and pictures <{below}/index>\n```\n"
        )
    links = [f"[{one.title}]({below}/{one.name}.md)" for one in there.values() if f"docs/{one.about}" == name]
    if links:
        source[0] += f"\n## All numbers\n\nTables and pictures: {', '.join(links)}.\n"


def setup(app: Any) -> None:
    """Called by Sphinx. The theme makes its navigation at a lower priority number, so before."""
    app.connect("source-read", link_results)
    app.connect("html-page-context", readable, priority=900)
