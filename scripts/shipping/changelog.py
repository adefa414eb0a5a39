"""What the changelog has to say before a release."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

CHANGELOG: Final = "CHANGELOG.md"
NEXT: Final = "## Unreleased"
UNCHANGED: Final = "unchanged"
OTHERS: Final = frozenset({"workspace", UNCHANGED})
"""What an entry may be about that is no package."""

_ENTRY: Final = re.compile(r"- (?P<about>[a-z-]+): (?P<text>.+)")


def faults(text: str, members: Sequence[str], published: Sequence[str]) -> list[str]:
    """Return what is missing below `## Unreleased`: entries, and a word on each published package.

    An entry begins with the package it is about and a colon. Packages without a change are listed,
    with commas, in an entry that begins with `unchanged:`.
    """
    return [f"{CHANGELOG}: {what}" for what in _faults(text, members, published)]


def _faults(text: str, members: Sequence[str], published: Sequence[str]) -> Iterator[str]:
    lines = text.splitlines()
    if lines.count(NEXT) != 1:
        yield f"has {lines.count(NEXT)} sections {NEXT!r}, and needs one"
        return
    rest = lines[lines.index(NEXT) + 1 :]
    section = "\n".join(takewhile(lambda line: not line.startswith("## "), rest))
    entries = [" ".join(each.split()) for each in re.split(r"\n(?=- )", section) if each.strip()]
    said: set[str] = set()
    for entry in entries:
        found = _ENTRY.fullmatch(entry)
        about = found["about"] if found else ""
        if found is None or about not in {*members, *OTHERS}:
            yield f"{entry[:50]!r} does not begin with a package and a colon"
        elif about == UNCHANGED:
            said |= {*re.findall(r"dsh-[a-z-]+", found["text"])}
        else:
            said.add(about)
    for name in published:
        if name not in said:
            yield f"{name} has no entry, and is not among those that are {UNCHANGED}"
