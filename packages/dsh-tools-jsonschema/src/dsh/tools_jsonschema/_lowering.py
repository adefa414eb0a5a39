"""What pydantic says about a type, said in the subset where the subset can say it.

Only spellings change here, never what a schema accepts; what has no spelling in the subset is
left as it is, to be refused with its path.
"""

from __future__ import annotations

from typing import Any, Final

from dsh.tools_jsonschema._plain import is_array, is_object
from dsh.tools_jsonschema._references import definition_key

_IDLE_KEYWORDS: Final = frozenset({"deprecated", "readOnly", "writeOnly"})
_SCHEMA_MAPS: Final = ("$defs", "properties")
_SCHEMA_LISTS: Final = ("anyOf", "prefixItems")
_SCHEMAS: Final = ("items", "additionalProperties")

_TYPE_NAMES: Final = (
    (str, "string"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (type(None), "null"),
)

WRAPPER_KEY: Final = "value"
"""The key under which a root that is no object stands."""


def with_object_root(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the schema with an object at its root, and whether it had to be wrapped for that."""
    definitions = schema.get("$defs", {})
    root = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    key = definition_key(root["$ref"]) if "$ref" in root else None
    if key is not None and key[1] in definitions:
        root = {**definitions[key[1]], **root}
        del root["$ref"]
    is_wrapped = root.get("type") != "object"
    if is_wrapped:
        root = {
            "type": "object",
            "properties": {WRAPPER_KEY: root},
            "required": [WRAPPER_KEY],
            "additionalProperties": False,
        }
    return ({**root, "$defs": definitions} if definitions else root), is_wrapped


def lowered(node: Any) -> Any:
    """Return a copy of a node of pydantic's making, spelt in the subset as far as that goes."""
    if not is_object(node):
        return node
    result: dict[str, Any] = {}
    for keyword, value in node.items():
        if keyword in _SCHEMA_MAPS and is_object(value):
            result[keyword] = {name: lowered(schema) for name, schema in value.items()}
        elif keyword in _SCHEMA_LISTS and is_array(value):
            result[keyword] = [lowered(schema) for schema in value]
        elif keyword in _SCHEMAS:
            if value == {}:  # any value: said by leaving the keyword out
                continue
            result[keyword] = lowered(value)
        elif keyword not in _IDLE_KEYWORDS:
            result[keyword] = value
    return _with_types(result)


def _with_types(node: dict[str, Any]) -> dict[str, Any]:
    """Give an `enum` of no declared type its types: one, one or null, or a union of scalars."""
    if "enum" not in node or node.keys() & {"type", "anyOf", "$ref"}:
        return node
    by_type: dict[str, list[Any]] = {}
    for value in node["enum"]:
        name = next((name for kind, name in _TYPE_NAMES if type(value) is kind), "object")
        by_type.setdefault(name, []).append(value)
    names = list(by_type)
    if len(names) == 1:
        return {**node, "type": names[0]}
    if len(names) == 2 and "null" in names:
        return {**node, "type": names}
    rest = {keyword: value for keyword, value in node.items() if keyword != "enum"}
    return {**rest, "anyOf": [{"type": name, "enum": values} for name, values in by_type.items()]}
