"""Sphinx's configuration. Everything is built offline: no inventories, no fonts, no scripts."""

from typing import Final

from website.navigation import PAGES

project = "dsh"
author = "The dsh authors"
project_copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "website.navigation",
    "website.reference",
]

root_doc = "docs/index"
include_patterns = list(PAGES)
exclude_patterns = [
    ".*",
    "**/__pycache__",
    "packages/*/src",
    "packages/*/tests",
    "scripts",
    "tests-integration",
]
source_suffix = {".md": "markdown", ".txt": "restructuredtext"}

# Anchors as hosts of Markdown make them; their alerts, and tables of their kind.
myst_heading_anchors = 6
myst_enable_extensions = ["alert", "html_image"]

autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# A word in single backticks in a docstring is a name: linked where there is such a name.
default_role = "py:obj"
nitpicky = True
smartquotes = False
nitpick_ignore_regex: Final = [
    # What lies outside of the family is named and not linked: there is no network to ask.
    (r"py:.*", r"(?!dsh\.).*"),
    # What an annotation names and nobody exports: type variables, and what only we construct.
    (r"py:.*", r"dsh\.(.*\.)?_.*"),
]

html_theme = "furo"
html_title = "dsh"
html_copy_source = False
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["site.css"]
