"""Every decision has one form, and the index is the one list of them.

    # 7. A title

    Status: implemented

    ## Problem
    ## Decision
    ## Alternatives considered
    ## Consequences

A proposal has `Proposal` where the others have `Decision`, and needs no consequences yet. A record
that was rejected says why: `Status: rejected: the reason`; so does one that another replaced.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from gates.gate import Gate
from pages.decisions import FOLDER, INDEX, NAME, PAGE, Record, records

STATUSES: Final = ("proposed", "implemented", "rejected", "superseded")
NEED_A_REASON: Final = frozenset({"rejected", "superseded"})
SECTIONS: Final = ("Problem", "Decision", "Alternatives considered", "Consequences")
PROPOSED: Final = ("Problem", "Proposal", "Alternatives considered")
LEFTOVERS: Final = frozenset({"Proposal", "Plan", "Acceptance", "Acceptance criteria"})

_ROW: Final = re.compile(r"\|\s*\[[^\]]*\]\([^)]*\b\d{4}-[a-z0-9-]+\.md\)")


def check(root: Path) -> list[str]:
    """Return what is wrong with the form of a record, with their numbers and with the index."""
    found = records(root)
    where = [f"{FOLDER}/{record.path.name}" for record in found]
    return [
        *(
            f"{at}: {what}"
            for at, record in zip(where, found, strict=True)
            for what in _form(record)
        ),
        *(
            f"{FOLDER}/{later.path.name}: number {later.number} is taken by {earlier.path.name}"
            for earlier, later in pairwise(found)
            if earlier.path.name[:4] == later.path.name[:4]
        ),
        *PAGE.stale(root),
        *_rows_elsewhere(root),
    ]


def _form(record: Record) -> Iterator[str]:
    name = NAME.fullmatch(record.path.name)
    if name is None:
        yield "is not named NNNN-words-of-the-title.md"
    if record.number is None:
        yield "line 1 is not '# N. Title'"
    elif name and int(name["number"]) != record.number:
        yield f"is number {record.number} in its title"
    if record.status not in STATUSES:
        yield f"line 3 is not 'Status: ' and one of {', '.join(STATUSES)}"
    if record.status in NEED_A_REASON and not record.reason:
        yield f"is {record.status} without a reason; 'Status: {record.status}: because …'"
    yield from _sections(record)


def _sections(record: Record) -> Iterator[str]:
    names = list(record.sections)
    needed = PROPOSED if record.status == "proposed" else SECTIONS
    yield from (f"has no section {name!r}" for name in needed if name not in names)
    if names and names[0] != needed[0]:
        yield f"begins with {names[0]!r}; the first section is {needed[0]!r}"
    present = [name for name in names if name in needed]
    if present != [name for name in needed if name in present]:
        yield f"has its sections as {', '.join(present)}; their order is {', '.join(needed)}"
    if record.status != "proposed":
        yield from (f"still has {name!r}" for name in names if name in LEFTOVERS)
    yield from (f"section {name!r} is empty" for name, text in record.sections.items() if not text)


def _rows_elsewhere(root: Path) -> Iterator[str]:
    """Yield each row of an index of decisions that stands in another file: it would go stale."""
    for path in [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("packages/*/*.md")]:
        if path == root / INDEX:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if _ROW.match(line):
                yield f"{path.relative_to(root)}:{number}: lists a decision; {INDEX} does"


GATE: Final = Gate(name="decisions", check=check)
