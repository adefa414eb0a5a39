"""Every behaviour of a finished group has a test that proves it, or a reason why there is none.

The inventory is data (`docs/inventory.toml`), the tests say themselves what they prove
(`@pytest.mark.guarantee("B-SEAM-03")`, `@pytest.mark.field_case("B073")`), and the page made of
both (`docs/guarantees.md`) is up to date.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from gates.gate import Gate
from pages.guarantees import PAGE, Proofs, proofs, summary
from pages.inventory import INVENTORY, Group, Inventory, Kind, faults, read_inventory
from pages.marked import Marked, marked_tests

MOST: Final = 3
"""How many behaviours one test may name: a test for more proves none of them well."""
NEXT_SENTENCE: Final = re.compile(r"[.!?][\"'`)]*\s+[\"'`(]*[A-Z]")


def check(root: Path) -> list[str]:
    """Return what the inventory, the marks and the page have against each other."""
    try:
        inventory = read_inventory(root)
    except (ValidationError, ValueError, OSError) as error:
        return [f"{INVENTORY}: {error}"]
    found = marked_tests(root)
    return [
        *(f"{INVENTORY}: {what}" for what in faults(inventory, root)),
        *found.faults,
        *(
            f"{test.path}:{test.line}: {test.name} {what}"
            for test in found.tests
            for what in _claims(test, inventory)
        ),
        *(f"{INVENTORY}: {what}" for what in _gaps(inventory, proofs(found.tests))),
        *PAGE.stale(root),
    ]


def _claims(test: Marked, inventory: Inventory) -> Iterator[str]:
    """Yield what is wrong with what *test* says about itself."""
    for each in test.guarantees:
        if each not in inventory.behaviours:
            yield f"names {each}, which is no behaviour"
    for each in test.field_cases:
        if each not in inventory.field_cases:
            yield f"names {each}, which is no field case"
    if len(test.guarantees) > MOST:
        yield f"names {len(test.guarantees)} behaviours; {MOST} are the limit"
    if test.guarantees and not test.sentence:
        yield "has no docstring, which is the guarantee"
    elif test.guarantees and not _one_sentence(test.sentence):
        yield "has a docstring that is not one sentence with a full stop"
    if test.void:
        yield "is skipped or expected to fail: it proves nothing"


def _one_sentence(text: str) -> bool:
    return text.endswith(".") and not NEXT_SENTENCE.search(text)


def _gaps(inventory: Inventory, by_id: Proofs) -> Iterator[str]:
    """Yield each id with two answers, and each of a finished section with none."""
    sections: dict[str, Group | Kind] = {**inventory.groups, **inventory.kinds}
    for name, section in sections.items():
        for each in section.ids:
            reason, tests = section.not_adopted.get(each), by_id.get(each, ())
            if reason and tests:
                first = f"{tests[0].path}::{tests[0].name}"
                yield f"{each} has a reason ({reason}) and a test ({first}); take one away"
            elif section.finished and not reason and not tests:
                yield f"{each} has neither a test nor a reason, and {name} is finished"


GATE: Final = Gate(name="guarantees", check=check, note=summary)
