"""What is in the site and in what order. A pattern may match nothing: a page can come later.

Markdown has no tables of contents, and a directive in a page would be noise on a host of Markdown,
so the trees are appended while Sphinx reads the pages. A page that no tree holds is a warning.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PAGES: Final = (
    "*.md",
    "docs/**.md",
    "docs/api/*.txt",
    "packages/README.md",
    "packages/*/README.md",
    "examples/**.md",
    "benchmarks/**.md",
)
"""The sources, as patterns of Sphinx: two stars match across folders."""

TREES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "docs/index": {
        "Start": ("README", "docs/tutorial"),
        "How to": ("docs/how-to/*",),
        "Concepts": ("docs/concepts/*", "docs/glossary"),
        "Reference": (
            "packages/README",
            "docs/cli",
            "docs/configuration",
            "docs/errors",
            "docs/packages",
            "docs/guarantees",
        ),
        "API": ("docs/api/*",),
        "Evidence": (
            "docs/security",
            "docs/reliability",
            "docs/performance",
            "benchmarks/*",
            "docs/sweep",
        ),
        "Development": (
            "docs/development",
            "docs/adding-a-package",
            "docs/releasing",
            "examples/*",
            "docs/decisions/README",
            "CONTRIBUTING",
            "SECURITY",
            "CHANGELOG",
        ),
    },
    "packages/README": {"": ("packages/*/README",)},
    "docs/decisions/README": {"": ("docs/decisions/0*",)},
}
"""The pages below a page, as patterns by caption."""


def _append(app: Sphinx, docname: str, source: list[str]) -> None:
    found = sorted(app.env.found_docs)
    for caption, patterns in TREES.get(docname, {}).items():
        pages = [each for pattern in patterns for each in found if fnmatchcase(each, pattern)]
        if pages:
            title = f":caption: {caption}\n" if caption else ""
            entries = "".join(f"/{each}\n" for each in pages)
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n{title}\n{entries}```\n"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Called by Sphinx."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
