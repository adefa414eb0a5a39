"""`docs/inventory.toml`: the behaviours and reported faults, and what became of each."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, final

from pydantic import BaseModel, ConfigDict, Field

from gates.workspace import read_toml

INVENTORY: Final = "docs/inventory.toml"
DECISIONS: Final = "docs/decisions"
AWAITED: Final = ("background", "resume", "workflow", "budgets")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    finished: bool
    """Whether every id must have a test or a reason by now."""
    not_adopted: Mapping[str, str] = Field(default_factory=dict, alias="not-adopted")
    """The reason by id, for what no test will prove."""


@final
class Group(_Section):
    """Behaviours that belong together; their ids are the group's name and a number."""

    title: str
    ids: tuple[str, ...]
    seed: frozenset[str]
    """The ids that may be dropped only as superseded, or until there are workflows."""


@final
class Kind(_Section):
    """Reported faults of one kind: the id of each and the thread that prompted it."""

    cases: Mapping[str, str]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids in the order of the file."""
        return tuple(self.cases)


@final
class Inventory(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: Mapping[str, Group]
    kinds: Mapping[str, Kind]

    @property
    def behaviours(self) -> frozenset[str]:
        """Every id a test may name as its guarantee."""
        return frozenset(each for group in self.groups.values() for each in group.ids)

    @property
    def field_cases(self) -> frozenset[str]:
        """Every id a test may name as the reported fault it answers."""
        return frozenset(each for kind in self.kinds.values() for each in kind.ids)


def read_inventory(root: Path) -> Inventory:
    """Return the inventory of the tree at *root*.

    Raises:
        ValueError: the file is not TOML or not of this form; the message says where.
    """
    return Inventory.model_validate(read_toml(root / INVENTORY))


def faults(inventory: Inventory, root: Path) -> Iterator[str]:
    """Yield what is wrong with the inventory itself, whatever the tests say."""
    for name, group in inventory.groups.items():
        expected = tuple(f"{name}-{number:02}" for number in range(1, len(group.ids) + 1))
        if group.ids != expected:
            yield f"{name}: the ids are not {name}-01 and on, without a gap"
        for unknown in sorted({*group.seed, *group.not_adopted} - {*group.ids}):
            yield f"{name}: {unknown} is not one of its ids"
        for each, reason in group.not_adopted.items():
            if what := _wrong(reason, root, behaviour=True, seed=each in group.seed):
                yield f"{each}: {what}"
    known: set[str] = set()
    for name, kind in inventory.kinds.items():
        for unknown in sorted({*kind.not_adopted} - {*kind.ids}):
            yield f"{name}: {unknown} is not one of its cases"
        for repeated in sorted(known & {*kind.ids}):
            yield f"{name}: {repeated} is of another kind already"
        known |= {*kind.ids}
        for each, reason in kind.not_adopted.items():
            if what := _wrong(reason, root, behaviour=False, seed=False):
                yield f"{each}: {what}"


def _wrong(reason: str, root: Path, *, behaviour: bool, seed: bool) -> str:
    """Return what is wrong with *reason*, or nothing."""
    word, _, rest = reason.partition(": ")
    if word in {"superseded", "decided-otherwise"}:
        if word == "superseded" and not behaviour:
            return "only a behaviour is superseded; say decided-otherwise"
        if word == "decided-otherwise" and seed:
            return "marked as seed: only superseded by a decision, or awaiting workflow"
        if not (re.fullmatch(r"\d{4}-[\w-]+\.md", rest) and (root / DECISIONS / rest).is_file()):
            return f"no decision {rest!r} in {DECISIONS}"
        return ""
    if word == "awaits" and rest in AWAITED:
        if seed and rest != "workflow":
            return "marked as seed: only superseded by a decision, or awaiting workflow"
        return ""
    if word == "no-such-part":
        return "marked as seed: it cannot be no such part" if seed else ""
    return (
        f"unknown reason {reason!r}; there are superseded: FILE, decided-otherwise: FILE,"
        f" awaits: {'|'.join(AWAITED)} and no-such-part"
    )
