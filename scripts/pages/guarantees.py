"""`docs/guarantees.md`: the behaviours of the inventory, each beside the tests that prove it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from pages.inventory import DECISIONS, Group, Inventory, Kind, read_inventory
from pages.marked import Marked, marked_tests
from pages.page import NOTICE, Page, table

PATH: Final = "docs/guarantees.md"

Proofs = Mapping[str, Sequence[Marked]]


def proofs(tests: Sequence[Marked]) -> Proofs:
    """Return the tests that count, by the id of each behaviour or case they name."""
    by_id: dict[str, list[Marked]] = {}
    for test in tests:
        for each in () if test.void else dict.fromkeys(test.guarantees + test.field_cases):
            by_id.setdefault(each, []).append(test)
    return by_id


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How far a part of the inventory has come; the three add up to all of it."""

    proven: int
    not_adopted: int
    open: int

    @classmethod
    def of(cls, sections: Sequence[Group | Kind], proven: Proofs) -> "Count":
        """Count over *sections*."""
        ids = {each for section in sections for each in section.ids}
        reasons = {each for section in sections for each in section.not_adopted}
        return cls(
            proven=len(ids & {*proven}),
            not_adopted=len(ids & reasons - {*proven}),
            open=len(ids - reasons - {*proven}),
        )

    def __str__(self) -> str:
        parts = f"{self.proven} proven, {self.not_adopted} not adopted, {self.open} open"
        return f"{self.proven + self.not_adopted + self.open} ({parts})"


def summary(root: Path) -> str:
    """Return the counts in one line."""
    inventory, by_id = read_inventory(root), proofs(marked_tests(root).tests)
    behaviours = Count.of(list(inventory.groups.values()), by_id)
    cases = Count.of(list(inventory.kinds.values()), by_id)
    return f"behaviours: {behaviours}; field cases: {cases}"


def render(root: Path) -> Mapping[str, str]:
    """Return the page."""
    inventory, by_id = read_inventory(root), proofs(marked_tests(root).tests)
    return {PATH: "".join(_page(inventory, by_id))}


def _page(inventory: Inventory, by_id: Proofs) -> Iterator[str]:
    yield f"# Guarantees\n{NOTICE}\n"
    yield (
        "What this family promises, each promise with the test that proves it, then what was"
        " reported against other systems\nand how it stands here. The numbers are those of"
        " [inventory.toml](inventory.toml).\n\n"
    )
    groups, kinds = list(inventory.groups.values()), list(inventory.kinds.values())
    yield f"- Behaviours: {Count.of(groups, by_id)}\n- Field cases: {Count.of(kinds, by_id)}\n"
    yield "\n## Behaviours\n"
    for name, group in inventory.groups.items():
        yield f"\n### {name}: {group.title}\n\n{Count.of([group], by_id)}\n\n"
        tests = dict.fromkeys(test for each in group.ids for test in by_id.get(each, ()))
        rows = [(test.sentence, _link(test), _named(test, group)) for test in tests]
        if rows:
            yield table(("Guarantee", "Test", "Ids"), rows) + "\n"
        yield from _left(group, by_id, {each: each for each in group.ids})
    yield "\n## Field cases\n"
    for name, kind in inventory.kinds.items():
        yield f"\n### {name}\n\n{Count.of([kind], by_id)}\n\n"
        links = {each: f"[{each}]({url})" for each, url in kind.cases.items()}
        rows = [
            (links[each], test.sentence, _link(test))
            for each in kind.ids
            for test in by_id.get(each, ())
        ]
        if rows:
            yield table(("Case", "Answer", "Test"), rows) + "\n"
        yield from _left(kind, by_id, links)


def _left(section: Group | Kind, by_id: Proofs, shown: Mapping[str, str]) -> Iterator[str]:
    """Yield what of *section* is not adopted and what is open."""
    reasons: dict[str, list[str]] = {}
    for each, reason in section.not_adopted.items():
        reasons.setdefault(reason, []).append(shown.get(each, each))
    for reason, ids in reasons.items():
        yield f"- Not adopted, {_reason(reason)}: {', '.join(ids)}\n"
    rest = [shown[each] for each in section.ids if each not in {*by_id, *section.not_adopted}]
    if rest:
        yield f"- Open: {', '.join(rest)}\n"


def _reason(reason: str) -> str:
    word, _, rest = reason.partition(": ")
    if word in {"superseded", "decided-otherwise"}:
        return f"{word.replace('-', ' ')} by [{rest}]({DECISIONS.removeprefix('docs/')}/{rest})"
    return f"{word.replace('-', ' ')}: {rest}" if rest else word.replace("-", " ")


def _named(test: Marked, group: Group) -> str:
    return ", ".join(each for each in test.guarantees if each in group.ids)


def _link(test: Marked) -> str:
    return f"[{test.path}::{test.name}](../{test.path})"


PAGE: Final = Page(name="guarantees", owns=PATH, render=render)
