"""Enumerations of every make become typed nodes of the subset."""

import enum
from typing import Any, Literal

import pytest

from dsh.tools_jsonschema import (
    OutputSchemaError,
    output_schema_from,
    parse_structured,
    validate_structured_value,
)


def enum_of(*values: Any) -> Any:
    return enum.Enum("Made", {f"member{at}": value for at, value in enumerate(values)})


@pytest.mark.parametrize(
    ("output_type", "node"),
    [
        (enum_of("a", "b"), {"enum": ["a", "b"], "type": "string"}),
        (enum_of(1.5), {"enum": [1.5], "type": "number"}),
        (enum_of(None), {"enum": [None], "type": "null"}),
        (enum_of("a", None), {"enum": ["a", None], "type": ["string", "null"]}),
        (Literal[None, 2], {"enum": [None, 2], "type": ["null", "integer"]}),
        (Literal["a"], {"const": "a", "type": "string"}),
        (
            Literal[1, True],
            {"anyOf": [{"type": "integer", "enum": [1]}, {"type": "boolean", "enum": [True]}]},
        ),
        (
            enum_of(2, 1.5),
            {"anyOf": [{"type": "integer", "enum": [2]}, {"type": "number", "enum": [1.5]}]},
        ),
    ],
)
def test_an_enumeration_declares_the_types_of_its_values(output_type: Any, node: dict[str, Any]):
    schema = output_schema_from(output_type)
    own = {k: v for k, v in schema["properties"]["value"].items() if k != "title"}
    assert own == node
    allowed: list[Any] = [
        value for branch in node.get("anyOf", [node]) for value in values_of(branch)
    ]
    for value in allowed:
        assert validate_structured_value(schema, {"value": value}) == []
        parsed = parse_structured(output_type, {"value": value})
        assert (parsed.value if isinstance(parsed, enum.Enum) else parsed) == value
    assert validate_structured_value(schema, {"value": "other"}) != []


def values_of(node: dict[str, Any]) -> list[Any]:
    return [node["const"]] if "const" in node else node["enum"]


@pytest.mark.parametrize("output_type", [enum_of(), enum_of((1, 2)), enum_of("a", (1,))])
def test_an_enumeration_of_nothing_or_of_containers_is_refused(output_type: Any):
    with pytest.raises(OutputSchemaError) as caught:
        output_schema_from(output_type)
    assert caught.value.violations[0].startswith("schema.properties.value")
