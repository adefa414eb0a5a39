"""The Python of the pages, as programs: the blocks of a page, one after the other.

A block that cannot run has the reason in a comment right above its fence, which readers of the
source see: `<!-- fragment: what the rest is -->`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from markdown_it import MarkdownIt
from markdown_it.token import Token

PAGES: Final = (
    "*.md",
    "docs/**/*.md",
    "packages/**/*.md",
    "examples/**/*.md",
    "benchmarks/**/*.md",
)
LANGUAGE: Final = "python"
OTHERWISE: Final = frozenset({"py", "python3", "pycon", "ipython", "py3"})
"""What else Python is called; a block of such a name would be shown and never run."""
FRAGMENT: Final = re.compile(r"<!-- fragment(?:: (?P<reason>\S.*?))? -->\s*")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block."""

    line: int
    """Of its first line of code, from 1."""
    code: str
    language: str
    mark: re.Match[str] | None
    """The comment above it that calls it a fragment."""


def pages(root: Path) -> Iterator[Path]:
    """Yield every page of the tree at *root*, sorted."""
    yield from sorted({page for pattern in PAGES for page in root.glob(pattern)})


def programs(root: Path) -> Mapping[str, str]:
    """Return the program of each page that has one, by its path, with the lines of the page."""
    found = {page.relative_to(root).as_posix(): _program(page) for page in pages(root)}
    return {path: program for path, program in found.items() if program}


def faults(root: Path) -> Iterator[str]:
    """Yield each block or mark that would let Python stand in a page without being run."""
    for page in pages(root):
        blocks, idle = _read(page)
        where = page.relative_to(root).as_posix()
        for each in blocks:
            if each.language in OTHERWISE:
                yield f"{where}:{each.line}: say {LANGUAGE} rather than {each.language}: it is run"
            if each.mark and not each.mark["reason"]:
                yield f"{where}:{each.line}: why it is a fragment: <!-- fragment: REASON -->"
        for line in idle:
            yield f"{where}:{line}: no {LANGUAGE} block follows that could be a fragment"


def _program(page: Path) -> str:
    lines: list[str] = []
    for each in _read(page)[0]:
        if each.language == LANGUAGE and not each.mark:
            lines += [""] * (each.line - 1 - len(lines)) + each.code.splitlines()
    return "\n".join(lines)


def _read(page: Path) -> tuple[list[Block], list[int]]:
    """Return the blocks of *page*, and the lines of the marks that belong to none."""
    blocks: list[Block] = []
    idle: list[int] = []
    mark: tuple[int, re.Match[str]] | None = None
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "fence":
            language = (token.info.split() or [""])[0]
            taken = mark if language == LANGUAGE else None
            if mark and not taken:
                idle.append(mark[0])
            blocks.append(
                Block(
                    line=line + 1,
                    code=token.content,
                    language=language,
                    mark=taken[1] if taken else None,
                )
            )
        elif mark:
            idle.append(mark[0])
        mark = _mark(token, line)
    return blocks, idle + ([mark[0]] if mark else [])


def _mark(token: Token, line: int) -> tuple[int, re.Match[str]] | None:
    match = FRAGMENT.fullmatch(token.content) if token.type == "html_block" else None
    return (line, match) if match else None
