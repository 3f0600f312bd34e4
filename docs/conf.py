"""How the documentation becomes a site: `make site`.

The pages are the Markdown files of `docs/` as they are read in the repository, with the architecture, the
changelog and the guide for contributors. `validation.pages.site` adds the rendered pages as `results/`; only the
reference of the Python package is made here, from its docstrings.
"""

import builtins
import os
import re
from pathlib import Path
from typing import Any

from sphinx import addnodes

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
    "_static/versions.js",
    *(f"{FONTS}/{one}" for one in ("fonts.css", "Inter.woff2", "JetBrains-Mono.woff2")),
]
html_css_files = ["fonts.css", "site.css"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
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


GLOSSARY = "python/fairwave/glossary"
LAB_PICTURE = re.compile(r"^!\[[^\]]*\]\([./]*figures/lab\.png\)$", re.M)
LAB_FRAME = """```{{raw}} html
<iframe class="lab" src="{page}" title="The lab: the simulator with controls" loading="lazy"></iframe>
```

<a href="{page}">Open the lab alone</a>."""
NO_LAB = """

```{note}
This site was built without the lab. To put the lab here, run `make lab`, then `make site`.
```"""


def embed_lab(app: Any, name: str, source: list[str]) -> None:
    """Shows the lab in place of its picture, or how to build it."""
    if app.config.lab_page:
        page = os.path.relpath(app.config.lab_page, Path(name).parent)
        source[0] = LAB_PICTURE.sub(LAB_FRAME.format(page=page), source[0])
    else:
        source[0] = LAB_PICTURE.sub(lambda found: found[0] + NO_LAB, source[0])


def index_terms(_: Any, name: str, source: list[str]) -> None:
    """Makes each term and each abbreviation of the glossary a main entry of the index. The search ranks these first."""
    if name == GLOSSARY:
        term = re.compile(r"^- \*\*([^*`<>()]+?)(?: \(([^*`<>()]+)\))?\*\*", re.M)
        source[0] = term.sub(
            lambda found: (
                f"- **{' '.join(filter(None, (entry(found[1]), found[2] and f'({entry(found[2])})')))}**"
            ),
            source[0],
        )


def entry(text: str) -> str:
    """Returns a text that is a main entry of the index."""
    return f"{{index}}`{text} <!{text}>`"


def link_names(_: Any, name: str, source: list[str]) -> None:
    """Links the names in the tables of the page of the Python package to their descriptions."""
    if name == "docs/api":
        source[0] = re.sub(r"(?<=[| ])`(fairwave\.[\w.]+)`(?=[, ])", r"{py:obj}`\1`", source[0])


def mark_examples(*event: Any) -> None:
    """Marks the indented code of an example in a docstring as code, before napoleon takes it for text."""
    lines = event[5]
    lines[:] = [
        part for line in lines for part in (["Example::", ""] if line.strip() == "Example:" else [line])
    ]


def leave_builtins(_: Any, doctree: Any) -> None:
    """Links no built-in type of Python: `bytes` in a signature is no attribute of that name."""
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node.get("refdomain") == "py" and hasattr(builtins, node.get("reftarget", "")):
            node.replace_self(node.children)


def link_rust(app: Any, name: str, source: list[str]) -> None:
    """Links the pages of the Rust crates from the page of the Python package."""
    if name == "docs/api" and app.config.rust_page:
        page = os.path.relpath(app.config.rust_page, "docs")
        source[0] += (
            f'\n## Rust crates\n\n<a href="{page}">The crates of fairwave</a>, from their comments.\n'
        )


def add_navigation(_: Any, name: str, source: list[str]) -> None:
    """Makes the sidebar of the start page's lists: each page once, under the first heading with a link to it."""
    if name != root_doc:
        return
    seen: set[str] = set()
    sections = re.split(r"^## (.+)$", source[0], flags=re.M)[1:]
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        links = re.findall(r"\[([^\]]+)\]\(([^)#:]+)\.md\)", text)
        entries = [f"{title(label)} <{page}>" for label, page in links if page not in seen]
        seen.update(page for _, page in links)
        if entries:
            tree = "\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *entries, "```"])
            source[0] += f"\n{tree}\n"


def title(label: str) -> str:
    """Returns the text of a link as a title of the sidebar: `live runs` as `Live runs`, but `ns-2` as it is."""
    words = " ".join(label.split())
    return words if words.startswith("ns-") else words[0].upper() + words[1:]


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
    app.add_config_value("lab_page", "", "env", str)
    app.add_config_value("rust_page", "", "env", str)
    for change in (add_navigation, link_results, embed_lab, index_terms, link_rust, link_names):
        app.connect("source-read", change)
    app.connect("doctree-read", leave_builtins)
    app.connect("autodoc-process-docstring", mark_examples, priority=400)
    app.connect("html-page-context", readable, priority=900)
