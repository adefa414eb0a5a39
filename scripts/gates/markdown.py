"""As much of CommonMark as the gates need: prose, headings, sections and bullets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, final

_FENCE: Final = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_HEADING: Final = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*?))?[ \t]*$")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """An ATX heading."""

    number: int
    """Its line, counted from 1."""
    level: int
    text: str
    line: str
    """The line as it is written, trailing whitespace aside."""


def prose_lines(text: str) -> list[str]:
    """Return every line of *text*, with those of fenced code blocks (fences too) made empty.

    A fence closes with the same mark, at least as long and with nothing after it; one that never
    closes takes the rest of the text.
    """
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        match = _FENCE.fullmatch(line)
        marks = match["marks"] if match else ""
        lines.append("" if fence or marks else line)
        if not fence:
            fence = marks
        elif match and marks.startswith(fence) and not match["info"].strip():
            fence = ""
    return lines


def headings(lines: Sequence[str]) -> list[Heading]:
    """Return the headings among prose *lines*, in their order."""
    matches = ((number, _HEADING.match(line)) for number, line in enumerate(lines, start=1))
    return [
        Heading(
            number=number,
            level=len(match["marks"]),
            text=match["text"] or "",
            line=match.string.rstrip(),
        )
        for number, match in matches
        if match
    ]


def section(lines: Sequence[str], heading: Heading) -> list[str]:
    """Return the prose *lines* from *heading*, itself left out, to the following heading."""
    return list(takewhile(lambda line: not _HEADING.match(line), lines[heading.number :]))


def bullets(lines: Sequence[str]) -> list[str]:
    """Return the bullets among *lines* that begin with `- ` at column 0, each on one line.

    A bullet ends where the next one begins, or at a line that is neither empty nor indented.
    """
    found: list[list[str]] = []
    inside = False
    for line in lines:
        if line.startswith("- "):
            found.append([line.removeprefix("- ").strip()])
            inside = True
        elif inside and line.startswith((" ", "\t")):
            found[-1].append(line.strip())
        elif line.strip():
            inside = False
    return [" ".join(part for part in each if part) for each in found]
