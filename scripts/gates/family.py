"""`packages/README.md` is the family's table: every member once, with its role and its place.

Packages that are never published stand apart, under a heading of their own.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gates.gate import Gate
from gates.markdown import headings, prose_lines, section
from gates.workspace import members

TABLE: Final = "packages/README.md"
PRODUCT: Final = "Product packages"
SUPPORT: Final = "Test support"

_ROW: Final = re.compile(
    r"\| \[(?P<name>dsh-[a-z-]+)\]\([^)]*\) \|(?P<role>[^|]*)\|(?P<on>[^|]*)\|"
)


def check(root: Path) -> list[str]:
    """Return which members lack a row, or have it in the wrong table, twice or half empty."""
    table = root / TABLE
    if not table.is_file():
        return [f"{TABLE}: missing"]
    lines = prose_lines(table.read_text(encoding="utf-8"))
    rows = [
        (heading.text, row)
        for heading in headings(lines)
        for row in map(_ROW.fullmatch, section(lines, heading))
        if row
    ]
    expected = {each.name: SUPPORT if each.private else PRODUCT for each in members(root)}
    return [f"{TABLE}: {what}" for what in _faults(rows, expected)]


def _faults(rows: list[tuple[str, re.Match[str]]], expected: dict[str, str]) -> Iterator[str]:
    listed = [row["name"] for _, row in rows]
    for name, heading in expected.items():
        if listed.count(name) != 1:
            yield f"{name} has {listed.count(name)} rows; it needs one, below {heading!r}"
    for heading, row in rows:
        name = row["name"]
        if name not in expected:
            yield f"{name} has a row and is no member"
        elif heading != expected[name]:
            yield f"{name} stands below {heading!r}; it belongs below {expected[name]!r}"
        if not (row["role"].strip() and row["on"].strip()):
            yield f"{name} has no role, or does not say what it registers on"


GATE: Final = Gate(name="family", check=check)
