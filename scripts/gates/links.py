"""What the documentation points at is there: relative links, their anchors, and paths in backticks.

A path is what stands in backticks and begins with a folder of the root, as `scripts/check` does.
Addresses elsewhere are not followed: a gate needs no network.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gates.gate import Gate
from gates.markdown import headings, prose_lines

PAGES: Final = (
    "*.md",
    "docs/**/*.md",
    "packages/**/*.md",
    "examples/**/*.md",
    "benchmarks/**/*.md",
)
FOLDERS: Final = (
    "packages",
    "scripts",
    "docs",
    "examples",
    "benchmarks",
    "tests-integration",
    ".ci",
)

_LINK: Final = re.compile(r"\[[^\]]*\]\((?!\w+:)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")
_PATH: Final = re.compile(rf"`(?P<path>(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./-]*)`")
_CODE: Final = re.compile(r"`[^`]*`")


def check(root: Path) -> list[str]:
    """Return every link and path of every page that leads nowhere, as `page:line: what`."""
    pages = sorted({page for pattern in PAGES for page in root.glob(pattern)})
    return [
        f"{page.relative_to(root)}:{number}: {what}"
        for page in pages
        for number, line in enumerate(prose_lines(page.read_text(encoding="utf-8")), start=1)
        for what in (*_dead_links(page, line), *_dead_paths(root, line))
    ]


def _dead_links(page: Path, line: str) -> Iterator[str]:
    for link in _LINK.finditer(_CODE.sub("", line)):
        target = page.parent / link["path"] if link["path"] else page
        if not target.exists():
            yield f"links to {link['path']}, which is not there"
        elif link["anchor"] and target.suffix == ".md" and link["anchor"] not in _anchors(target):
            yield f"links to a heading #{link['anchor']} that {target.name} does not have"


def _dead_paths(root: Path, line: str) -> Iterator[str]:
    for match in _PATH.finditer(line):
        if not (root / match["path"]).exists():
            yield f"names `{match['path']}`, which is not there"


def _anchors(page: Path) -> set[str]:
    """Return the anchors hosts of Markdown give the headings of *page*."""
    texts = (each.text for each in headings(prose_lines(page.read_text(encoding="utf-8"))))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


GATE: Final = Gate(name="links", check=check)
