"""How large a schema may be."""

from typing import Any

import pytest

from dsh.tools_jsonschema import OutputSchemaError, assert_supported_output_schema


def refused(schema: Any) -> tuple[str, ...]:
    with pytest.raises(OutputSchemaError) as caught:
        assert_supported_output_schema(schema)
    return caught.value.violations


def test_a_schema_of_shared_parts_that_stands_for_too_many_is_refused():
    node: dict[str, Any] = {"type": "object"}
    for _ in range(40):
        node = {"type": "object", "properties": {"a": node, "b": node}}
    assert any("has more than 100000 parts" in violation for violation in refused(node))


@pytest.mark.field_case("B059")
def test_a_schema_nested_too_deep_is_refused_with_the_limit_and_its_depth():
    node: dict[str, Any] = {"type": "string"}
    for _ in range(1_999):
        node = {"type": "object", "properties": {"a": node}}
    assert refused(node) == (
        "schema: is nested 2000 levels deep with its references followed, at most 100 are accepted",
    )


def test_depth_is_counted_through_references():
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for at in range(1, 60):
        inner = {"$ref": f"#/$defs/d{at - 1}"}
        definitions[f"d{at}"] = {"type": "array", "items": {"type": "array", "items": inner}}
    properties = {"a": {"$ref": "#/$defs/d59"}}
    schema = {"type": "object", "properties": properties, "$defs": definitions}
    assert "is nested 120 levels deep" in refused(schema)[0]
    properties["a"]["$ref"] = "#/$defs/d40"
    del definitions["d59"], definitions["d58"], definitions["d57"]
    for at in range(50, 57):
        del definitions[f"d{at}"]
    assert_supported_output_schema(schema)
