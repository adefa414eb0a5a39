"""Which schemas are accepted, and what a refusal says."""

import pickle
from collections import OrderedDict
from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest

from dsh.tools_jsonschema import (
    OutputSchemaError,
    StructuredOutputError,
    assert_supported_output_schema,
    compile_output_schema,
    validate_structured_value,
)

NO_SCHEMAS: list[Any] = [
    None, [], "string", 1, datetime(2024, 1, 1), OrderedDict(), MappingProxyType({}), {1},
]  # fmt: skip
ALL_TYPES = '"object", "array", "string", "number", "integer", "boolean", "null"'


def each(*values: Any) -> tuple[Any, ...]:
    return values


def refused(schema: Any) -> tuple[str, ...]:
    with pytest.raises(OutputSchemaError) as caught:
        assert_supported_output_schema(schema)
    return caught.value.violations


def with_property(node: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": node}}


def refused_property(node: Any) -> tuple[str, ...]:
    return tuple(v.removeprefix("schema.properties.x") for v in refused(with_property(node)))


@pytest.mark.guarantee("B-SCH-03", "B-SCH-33")
def test_a_refusal_is_one_typed_error_with_a_stable_code_and_every_violation():
    """A schema outside the subset raises the one error of that meaning, by code and by class."""
    with pytest.raises(StructuredOutputError) as caught:
        validate_structured_value({"type": "object", "oneOf": [], "not": {}}, {})
    assert isinstance(caught.value, ValueError)
    assert type(caught.value) is OutputSchemaError
    assert caught.value.code == OutputSchemaError.code == "UNSUPPORTED_SCHEMA"
    assert len(caught.value.violations) == 2
    assert str(caught.value).startswith("unsupported output schema: schema: ")
    assert "; ".join(caught.value.violations) in str(caught.value)


def test_a_refusal_survives_pickling():
    copy = pickle.loads(pickle.dumps(OutputSchemaError(["schema: is wrong", "schema.x: too"])))
    assert type(copy) is OutputSchemaError
    assert copy.violations == ("schema: is wrong", "schema.x: too")


def test_the_base_of_the_errors_is_never_raised_itself():
    with pytest.raises(TypeError):
        StructuredOutputError(["value: is wrong"])


@pytest.mark.guarantee("B-SCH-04")
def test_every_violation_of_the_tree_is_listed_in_walk_order():
    """One error lists what is wrong anywhere in the schema, in the order of the schema."""
    schema = {
        "type": "object",
        "oneOf": [],
        "properties": {
            "a": {"type": "strin"},
            "b": {"type": "array", "items": {"type": "string", "minimum": 1}, "minItems": -1},
            "c": 7,
        },
        "required": ["d"],
    }
    assert [v.partition(": ")[0] for v in refused(schema)] == [
        "schema",
        "schema.properties.a.type",
        "schema.properties.b.items",
        "schema.properties.b.minItems",
        "schema.properties.c",
        "schema.required[0]",
    ]


@pytest.mark.guarantee("B-SCH-05")
@pytest.mark.parametrize("root", [{"type": "string"}, {"type": ["object", "null"]}])
def test_a_root_that_is_no_object_is_refused_when_nothing_else_is_wrong(root: dict[str, Any]):
    """The root declares an object, which is asked only of a schema that is right otherwise."""
    assert len(refused(root)) == 1
    assert refused(root)[0].startswith('schema: the root must declare type "object", not ')
    assert len(refused({**root, "if": {}})) == 1
    assert "if" in refused({**root, "if": {}})[0]


@pytest.mark.parametrize(
    ("root", "form"), [({"$ref": "#/$defs/A"}, "$ref"), ({"anyOf": [{"type": "null"}]}, "anyOf")]
)
def test_a_root_without_a_type_is_refused_by_the_name_of_its_form(root: dict[str, Any], form: str):
    assert refused({**root, "$defs": {"A": {"type": "object"}}}) == (
        f'schema: the root must declare type "object", not {form}',
    )


@pytest.mark.guarantee("B-SCH-06", "B-SCH-21")
@pytest.mark.parametrize("node", NO_SCHEMAS)
def test_a_node_that_is_no_plain_mapping_is_one_violation(node: object):
    """Whatever stands where a schema should is reported there, once, as a refused schema."""
    assert len(refused(node)) == 1
    assert refused(node)[0].startswith("schema: must be a schema")
    assert len(refused_property(node)) == 1


@pytest.mark.guarantee("B-SCH-07")
@pytest.mark.field_case("B071")
def test_a_node_without_a_type_or_with_an_unknown_one_is_told_the_types():
    """A missing or unknown type is a violation that names the types there are."""
    assert refused_property({}) == (f": must declare a type, one of {ALL_TYPES}",)
    assert refused_property({"type": "int"}) == (f'.type: must be one of {ALL_TYPES}, not "int"',)
    assert refused_property({"typ": "integer"}) == (
        f": must declare a type, one of {ALL_TYPES}",
        ': unsupported keyword "typ"; did you mean "type"?',
    )


@pytest.mark.guarantee("B-SCH-08")
@pytest.mark.parametrize(
    "types", [["string", "integer"], ["string"], ["null", "null"], [], ["string", 1], ["a", "null"]]
)
def test_a_list_of_types_is_refused_unless_it_is_one_type_and_null(types: list[Any]):
    """A union of types has a violation of its own; one type beside null is no union here."""
    (violation,) = refused_property({"type": types})
    assert violation.startswith('.type: must be a single type, or one type and "null"; not ')
    for pair in (["string", "null"], ["null", "object"]):
        assert_supported_output_schema(with_property({"type": pair}))


@pytest.mark.guarantee("B-SCH-09")
@pytest.mark.field_case("B071")
def test_each_unknown_keyword_is_one_violation_with_the_nearest_known_one():
    """No keyword is ever skipped: each one outside the subset is named where it stands."""
    unknown = ["oneOf", "allOf", "not", "if", "contains", "minProperties", "$id", "nullable"]
    violations = refused_property({"type": "integer", **dict.fromkeys(unknown, 1)})
    assert len(violations) == len(unknown)
    for keyword, violation in zip(unknown, violations, strict=True):
        assert violation.startswith(f': unsupported keyword "{keyword}"')
    assert refused({"type": "object", "propertys": {}, "requird": ["a"]}) == (
        'schema: unsupported keyword "propertys"; did you mean "properties"?',
        'schema: unsupported keyword "requird"; did you mean "required"?',
    )


@pytest.mark.guarantee("B-SCH-10")
def test_a_bad_type_leaves_annotations_and_unknown_keywords_checked():
    """Where the type is bad, only what depends on it goes unchecked."""
    node: Any = {"type": "text", "title": 1, "minLength": "x", "oneOf": [], "items": 3}
    assert [v.split(" ")[0] for v in refused_property(node)] == [".type:", ".title:", ":"]


@pytest.mark.guarantee("B-SCH-19")
def test_a_schema_that_contains_itself_is_reported_where_it_repeats():
    """A cycle of objects is a violation at the place that closes it, and the walk ends."""
    node: dict[str, Any] = {"type": "object"}
    node["properties"] = {"a": {"type": "array", "items": node}}
    assert refused(node) == ("schema.properties.a.items: contains itself",)
    properties: dict[str, Any] = {"type": {"type": "string"}}
    properties["properties"] = properties
    assert refused({"type": "object", "properties": properties})


@pytest.mark.guarantee("B-SCH-20")
def test_one_schema_object_may_stand_in_several_places():
    """Only an ancestor makes a cycle; a sibling that is the same object does not."""
    shared = {"type": "string", "maxLength": 1}
    schema = {
        "type": "object",
        "properties": {"a": shared, "b": {"type": "array", "items": shared}},
    }
    assert len(validate_structured_value(schema, {"a": "xx", "b": ["xx"]})) == 2


def test_keys_that_are_no_strings_are_reported_and_never_compared():
    class Key:
        def __hash__(self) -> int:
            return hash("type")

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

    assert refused({Key(): 1}) == (
        "schema: has a key that is no string but a Python Key",
        f"schema: must declare a type, one of {ALL_TYPES}",
    )
    assert "no string" in refused({"type": "object", "properties": {1: {"type": "string"}}})[0]


@pytest.mark.guarantee("B-SCH-23")
def test_a_schema_changed_after_it_was_accepted_changes_nothing():
    """What judges was accepted: a compiled schema is a copy, and a raw one is asked again."""
    schema = with_property({"type": "integer"})
    validator = compile_output_schema(schema)
    schema["properties"]["x"]["type"] = "forged"
    assert validator.violations({"x": 1}) == []
    assert validator.violations({"x": "a"}) == ['value.x: must be integer, got "a"']
    with pytest.raises(OutputSchemaError):
        validate_structured_value(schema, {"x": 1})


@pytest.mark.guarantee("B-SCH-01")
def test_an_accepted_schema_is_read_and_never_changed():
    """The caller's schema stays what it was, so that it can go to a model as it is."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/A"}, "b": {"type": "string", "pattern": "x"}},
        "definitions": {"A": {"type": "integer"}},
    }
    before = repr(schema)
    compile_output_schema(schema)
    assert validate_structured_value(schema, {"a": 1, "b": "x"}) == []
    assert repr(schema) == before
