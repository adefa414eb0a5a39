"""From an accepted schema to what the judge reads: an own copy, in one fixed order.

The copy drops annotations, puts the keywords of a node in the order in which violations are to
be listed, replaces a `$ref` by its definition (shared, not repeated), and patterns by matchers.
Nothing of the caller's schema is kept, so changing it later changes nothing here.
"""

from __future__ import annotations

from typing import Any

from dsh.tools_jsonschema._keywords import CONSTRAINTS
from dsh.tools_jsonschema._pattern import compiled_pattern
from dsh.tools_jsonschema._plain import is_array
from dsh.tools_jsonschema._references import DEFINITION_KEYWORDS, DefinitionKey, definition_key

_ORDER = ("type", "anyOf", *CONSTRAINTS)


def compiled(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the judge's copy of a schema that has passed `assert_supported_output_schema`."""
    return _Compilation(schema).result()


class _Compilation:
    """One copy being made: the nodes met and not yet filled in."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._definitions: dict[DefinitionKey, dict[str, Any]] = {
            (keyword, name): definition
            for keyword in DEFINITION_KEYWORDS
            for name, definition in schema.get(keyword, {}).items()
        }
        self._shared: dict[DefinitionKey, dict[str, Any]] = {}
        self._pending: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def result(self) -> dict[str, Any]:
        root = self._copy(self._schema)
        while self._pending:
            node, copy = self._pending.pop()
            for keyword in _ORDER:
                if keyword in node:
                    copy[keyword] = self._value(keyword, node[keyword])
        return root

    def _copy(self, node: dict[str, Any]) -> dict[str, Any]:
        """Return the copy of *node*, filled in later; a definition has one copy for all."""
        key: DefinitionKey | None = None
        while "$ref" in node:
            key = definition_key(node["$ref"])
            assert key is not None, "an accepted reference is local"
            node = self._definitions[key]
        if key is not None and key in self._shared:
            return self._shared[key]
        copy: dict[str, Any] = {}
        if key is not None:
            self._shared[key] = copy
        self._pending.append((node, copy))
        return copy

    def _value(self, keyword: str, value: Any) -> Any:
        match keyword:
            case "properties":
                return {name: self._copy(schema) for name, schema in value.items()}
            case "anyOf" | "prefixItems":
                return [self._copy(schema) for schema in value]
            case "items":
                return self._copy(value)
            case "additionalProperties":
                return value if isinstance(value, bool) else self._copy(value)
            case "pattern":
                return compiled_pattern(value)
            case "enum" | "required" | "type":
                return list(value) if is_array(value) else value
            case _:
                return value
