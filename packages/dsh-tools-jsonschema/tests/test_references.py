"""Unions, references and definitions of the subset."""

from typing import Any

import pytest

from dsh.tools_jsonschema import (
    OutputSchemaError,
    assert_supported_output_schema,
    validate_structured_value,
)


def each(*values: Any) -> tuple[Any, ...]:
    return values


def refused(schema: Any) -> tuple[str, ...]:
    with pytest.raises(OutputSchemaError) as caught:
        assert_supported_output_schema(schema)
    return caught.value.violations


def schema_of(node: Any, **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": node}, "$defs": definitions}


@pytest.mark.field_case("B069")
@pytest.mark.parametrize("keyword", ["$defs", "definitions"])
def test_definitions_are_read_under_their_name_of_today_and_of_older_drafts(keyword: str):
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": f"#/{keyword}/City", "description": "where"}},
        keyword: {"City": {"type": "object", "properties": {"zip": {"type": "string"}}}},
    }
    assert validate_structured_value(schema, {"x": {"zip": "1"}}) == []
    assert validate_structured_value(schema, {"x": {"zip": 1}}) == [
        "value.x.zip: must be string, got 1"
    ]


@pytest.mark.field_case("B069")
def test_a_reference_to_nothing_names_what_is_defined():
    assert refused(schema_of({"$ref": "#/$defs/Y"}, X={"type": "string"})) == (
        'schema.properties.x.$ref: "#/$defs/Y" is not defined; $defs has: "X"',
    )
    assert "nothing" in refused(schema_of({"$ref": "#/definitions/X"}))[0]


@pytest.mark.parametrize(
    "reference",
    ["#", "#/properties/x", "#X", "https://example.org/x", "#/$defs/X/items", "", 1, None],
)
def test_a_reference_that_is_not_local_is_refused(reference: object):
    (violation,) = refused(schema_of({"$ref": reference}, X={"type": "string"}))
    assert violation.startswith('schema.properties.x.$ref: must be "#/$defs/NAME"')


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("a/b", "a~1b"),
        ("a~b", "a~0b"),
        ("~1", "~01"),
        ("a b", "a%20b"),
        ("ä", "ä"),
        ("ä", "%C3%A4"),
    ],
)
def test_the_name_in_a_reference_is_unescaped(name: str, reference: str):
    schema = schema_of({"$ref": f"#/$defs/{reference}"}, **{name: {"type": "string"}})
    assert validate_structured_value(schema, {"x": 1}) == ["value.x: must be string, got 1"]


def test_recursive_definitions_are_refused_at_each_reference_that_closes_a_cycle():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/B"}, "y": {"type": "y"}}}
    back = {"type": "array", "items": {"$ref": "#/$defs/A"}}
    violations = refused(schema_of({"$ref": "#/$defs/A"}, A=node, B=back))
    assert [v.partition(": ")[0] for v in violations] == [
        "schema.$defs.A.properties.next.$ref",
        "schema.$defs.A.properties.y.type",
        "schema.$defs.B.items.$ref",
    ]
    assert "is recursive" in violations[0]
    assert "is recursive" in refused(schema_of({"$ref": "#/$defs/A"}, A={"$ref": "#/$defs/A"}))[0]


def test_definitions_are_checked_whether_used_or_not():
    assert refused(schema_of({"type": "string"}, A={"type": "x"}))[0].startswith("schema.$defs.A")
    assert refused(schema_of({"type": "string"}, A=7))[0].startswith("schema.$defs.A: must be")
    assert refused({"type": "object", "$defs": []})[0].startswith("schema.$defs: ")
    assert refused(schema_of({"type": "object", "$defs": {}}))[0].startswith(
        'schema.properties.x: unsupported keyword "$defs"'
    )


@pytest.mark.parametrize("form", [{"$ref": "#/$defs/A"}, {"anyOf": [{"type": "string"}]}])
def test_a_reference_or_a_union_stands_alone_but_for_annotations(form: dict[str, Any]):
    definitions = {"A": {"type": "string"}}
    assert_supported_output_schema(
        schema_of({**form, "title": "t", "default": "a", "description": "d"}, **definitions)
    )
    for beside in each({"type": "string"}, {"minLength": 1}, {"properties": {}}):
        (violation,) = refused(schema_of({**form, **beside}, **definitions))
        assert "is not accepted beside" in violation


def test_a_union_has_one_branch_beside_null_or_scalars_only():
    place = {"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"]}
    text, number, null = {"type": "string"}, {"type": "number"}, {"type": "null"}
    for branches in ([place, null], [null, place], [text, number], [text], [text, number, null]):
        assert_supported_output_schema(schema_of({"anyOf": branches}))
    for branches in ([place, text], [place], [place, place, null], [text, {"type": "array"}]):
        (violation,) = refused(schema_of({"anyOf": branches}))
        assert violation.startswith("schema.properties.x.anyOf: must be one branch beside")
    for wrong in each([], None, {"type": "string"}):
        assert refused(schema_of({"anyOf": wrong}))[0].startswith("schema.properties.x.anyOf: ")


def test_a_union_sees_the_type_behind_a_reference():
    color = {"type": "string", "enum": ["red"]}
    union = {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "integer"}]}
    schema = schema_of(union, C={"$ref": "#/$defs/D"}, D=color)
    assert validate_structured_value(schema, {"x": "red"}) == []
    assert validate_structured_value(schema, {"x": "blue"}) == [
        'value.x: must be one of "red", got "blue"'
    ]
    assert validate_structured_value(schema, {"x": None}) == [
        "value.x: must be string or integer, got null"
    ]
    assert refused(schema_of(union, C={"type": "object"}))


def test_a_union_sees_no_type_behind_a_reference_that_leads_back_to_itself():
    union = {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "integer"}]}
    (violation,) = refused(schema_of(union, A={"$ref": "#/$defs/A"}))
    assert violation.startswith("schema.$defs.A.$ref: is recursive")


def test_an_optional_object_is_explained_by_its_own_violations():
    place = {"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"]}
    schema = schema_of({"anyOf": [place, {"type": "null"}]})
    assert validate_structured_value(schema, {"x": {}}) == ["value.x.z: is required but missing"]
    assert validate_structured_value(schema, {"x": 1}) == ["value.x: must be object or null, got 1"]


def test_a_value_that_fits_the_type_of_several_branches_is_told_of_each():
    branches = [{"type": "string", "maxLength": 1}, {"type": "string", "pattern": "^a"}]
    (violation,) = validate_structured_value(schema_of({"anyOf": branches}), {"x": "bb"})
    assert violation == (
        "value.x: has 2 characters, at most 1 accepted; "
        'or must match the pattern "^a", but "bb" does not match'
    )


def test_an_optional_of_an_optional_names_every_type():
    union = {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "null"}]}
    assert validate_structured_value(schema_of(union), {"x": 1}) == []
    assert validate_structured_value(schema_of(union), {"x": 1.5}) == [
        "value.x: must be string or integer or null, got 1.5"
    ]
    dated = {"anyOf": [{"type": "string", "format": "date"}, {"type": "integer"}]}
    nested = schema_of({"anyOf": [{"type": "null"}, dated]})
    (violation,) = validate_structured_value(nested, {"x": "soon"})
    assert violation.startswith("value.x: must be a date")


def test_only_the_dialect_that_is_judged_may_be_declared():
    dialect = "https://json-schema.org/draft/2020-12/schema"
    assert_supported_output_schema({"$schema": dialect, "type": "object"})
    assert refused({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})
    assert refused(schema_of({"$schema": dialect, "type": "string"}))
