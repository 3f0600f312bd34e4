"""How the documentation becomes a site: `make site`.

The pages are the Markdown files of `docs/` as they are read in the repository, with README, the house, the
changelog and the guide for contributors; only the reference of the Python package is made here, from its docstrings.
"""

project = "fairwave"
copyright = "the fairwave authors"  # noqa: A001
html_title = "fairwave"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
# The source is the whole repository, so that links between its pages hold in both places.
include_patterns = [
    "docs/**",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
]
exclude_patterns = ["docs/_static"]
root_doc = "docs/index"
html_theme = "furo"
html_additional_pages = {"index": "to-docs.html"}
templates_path = ["_static"]
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
