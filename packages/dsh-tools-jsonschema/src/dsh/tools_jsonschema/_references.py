"""Local references: what they may point at, and that following them always ends.

A definition may be used from anywhere, but not from inside itself: a recursive schema describes
values of any depth, which neither a provider's strict mode nor a bounded judge can promise.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final
from urllib.parse import unquote

from dsh.tools_jsonschema._plain import is_array, is_object, is_string
from dsh.tools_jsonschema._quote import listed, shown_as_json

DEFINITION_KEYWORDS: Final = ("$defs", "definitions")
"""Where definitions live: at the root, under the name of today or the one of older drafts."""

DefinitionKey: TypeAlias = tuple[str, str]
"""The keyword a definition stands under, and its name."""

ROOT: Final[DefinitionKey] = ("", "")
"""Stands for the part of the schema that is no definition."""

_POINTER = re.compile(r"#/(\$defs|definitions)/([^/]+)", re.DOTALL)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One `$ref` of the schema: from which part, at what level of it, to which definition.

    Attributes:
        owner: The definition the reference stands in, or `ROOT`.
        target: The definition it points at.
        level: How many nodes deep it stands in its owner, itself included.
        position: How many findings had been made when it was met, to keep them in walk order.
        where: Its path.
    """

    owner: DefinitionKey
    target: DefinitionKey
    level: int
    position: int
    where: str


def definition_key(reference: str) -> DefinitionKey | None:
    """Return what a local reference points at; `None` when it is not of the two accepted forms."""
    found = _POINTER.fullmatch(reference)
    if found is None:
        return None
    keyword, name = found.groups()
    return keyword, unquote(name).replace("~1", "/").replace("~0", "~")


def string_items(node: object) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a plain dict whose keys are plain strings; the rest is never touched."""
    if is_object(node):
        for key, value in list(node.items()):
            if is_string(key):
                yield key, value


@final
class Definitions:
    """The definitions of one schema, which need not be an accepted one."""

    def __init__(self, schema: object) -> None:
        self._nodes: dict[DefinitionKey, object] = {
            (keyword, name): node
            for keyword, definitions in string_items(schema)
            if keyword in DEFINITION_KEYWORDS
            for name, node in string_items(definitions)
        }

    def keys(self) -> Iterable[DefinitionKey]:
        """Return every definition's keyword and name."""
        return self._nodes.keys()

    def key(self, reference: object) -> DefinitionKey:
        """Return what a reference without a problem points at."""
        key = definition_key(reference) if is_string(reference) else None
        assert key in self._nodes, "ask for the problem first"
        return key

    def problem(self, reference: object) -> str | None:
        """Return why a reference cannot be followed."""
        key = definition_key(reference) if is_string(reference) else None
        if key is None:
            forms = 'must be "#/$defs/NAME" or "#/definitions/NAME", a definition at the root'
            return f"{forms}; not {shown_as_json(reference)}"
        if key not in self._nodes:
            known = listed(name for keyword, name in self._nodes if keyword == key[0])
            return f"{shown_as_json(reference)} is not defined; {key[0]} has: {known or 'nothing'}"
        return None

    def types(self, branch: object) -> frozenset[str]:
        """Return the types a node declares, through its references; none when it is bad.

        A node that is a union itself counts as a type of its own, ``anyOf``.
        """
        for _ in range(len(self._nodes) + 1):
            node = dict(string_items(branch))
            if "$ref" not in node or self.problem(node["$ref"]) is not None:
                declared: object = "anyOf" if "anyOf" in node else node.get("type")
                names = declared if is_array(declared) else [declared]
                return frozenset(name for name in names if is_string(name))
            branch = self._nodes[self.key(node["$ref"])]
        return frozenset()


def recursive(references: list[Reference]) -> list[Reference]:
    """Return the references that lie on a cycle, or between two cycles, of definitions."""
    edges = references
    while True:
        sources = {edge.owner for edge in edges}
        targets = {edge.target for edge in edges}
        kept = [edge for edge in edges if edge.target in sources and edge.owner in targets]
        if len(kept) == len(edges):
            return kept
        edges = kept


def total_level(levels: Mapping[DefinitionKey, int], references: list[Reference]) -> int:
    """Return how deep the schema is once every reference is followed; there is no recursion.

    *levels* has the depth of every part on its own.
    """
    total = dict(levels)
    waiting = dict.fromkeys(levels, 0)
    users: dict[DefinitionKey, list[Reference]] = {}
    for reference in references:
        waiting[reference.owner] += 1
        users.setdefault(reference.target, []).append(reference)
    ready = deque(part for part, count in waiting.items() if count == 0)
    while ready:
        part = ready.popleft()
        for user in users.get(part, ()):
            total[user.owner] = max(total[user.owner], user.level - 1 + total[part])
            waiting[user.owner] -= 1
            if waiting[user.owner] == 0:
                ready.append(user.owner)
    return max(total.values())
