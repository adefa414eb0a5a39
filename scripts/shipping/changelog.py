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

_ENTRY: Final = re.compile(r"- (?P<about>[a-z-]+(?:, [a-z-]+)*): (?P<text>.+)")


def malformed(text: str, members: Sequence[str]) -> list[str]:
    """Return what is wrong with the entries below `## Unreleased`, however many there are.

    An entry begins with the packages it is about and a colon.
    """
    if text.splitlines().count(NEXT) != 1:
        return [f"{CHANGELOG}: has {text.splitlines().count(NEXT)} sections {NEXT!r}, needs one"]
    return [
        f"{CHANGELOG}: {entry[:50]!r} does not begin with a package and a colon"
        for entry in _entries(text)
        if not (_about(entry) and {*_about(entry)} <= {*members, *OTHERS})
    ]


def silent(text: str, published: Sequence[str]) -> list[str]:
    """Return which published packages the entries below `## Unreleased` do not mention.

    Packages without a change are listed, with commas, in an entry that begins with `unchanged:`.
    """
    said = {name for entry in _entries(text) for name in _mentioned(entry)}
    return [
        f"{CHANGELOG}: {name} has no entry, and is not among those that are {UNCHANGED}"
        for name in published
        if name not in said
    ]


def _entries(text: str) -> Iterator[str]:
    """Yield each entry of the next release on one line."""
    lines = text.splitlines()
    rest = lines[lines.index(NEXT) + 1 :] if NEXT in lines else []
    section = "\n".join(takewhile(lambda line: not line.startswith("## "), rest))
    yield from (" ".join(each.split()) for each in re.split(r"\n(?=- )", section) if each.strip())


def _about(entry: str) -> list[str]:
    found = _ENTRY.fullmatch(entry)
    return found["about"].split(", ") if found else []


def _mentioned(entry: str) -> list[str]:
    about = _about(entry)
    return re.findall(r"dsh-[a-z-]+", entry) if about == [UNCHANGED] else about
