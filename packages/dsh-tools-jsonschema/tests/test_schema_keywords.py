"""What may stand under a keyword, and on which type."""

from collections import OrderedDict
from datetime import date
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


def with_property(node: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": node}}


def refused_property(node: Any) -> tuple[str, ...]:
    return tuple(v.removeprefix("schema.properties.x") for v in refused(with_property(node)))


@pytest.mark.guarantee("B-SCH-11")
@pytest.mark.parametrize(
    ("kind", "keyword", "value"),
    [
        ("string", "properties", {}),
        ("array", "required", []),
        ("number", "additionalProperties", False),
        ("object", "items", {"type": "string"}),
        ("object", "enum", [1]),
        ("array", "const", 1),
        ("object", "minimum", 1),
        ("string", "maxItems", 1),
        ("integer", "pattern", "a"),
        (["object", "null"], "enum", [None]),
    ],
)
def test_a_keyword_on_the_wrong_type_is_a_violation(kind: Any, keyword: str, value: object):
    """A constraint that could never apply to its node is refused, not ignored."""
    (violation,) = refused_property({"type": kind, keyword: value})
    assert violation.startswith(f': "{keyword}" is not accepted on type "')


@pytest.mark.guarantee("B-SCH-12")
def test_properties_is_a_plain_mapping_of_schemas():
    """Declared properties are schemas themselves, and a mapping that is none is refused."""
    assert refused_property({"type": "object", "properties": []})[0].startswith(".properties: ")
    assert refused_property({"type": "object", "properties": OrderedDict[str, Any]()})
    (violation,) = refused_property({"type": "object", "properties": {"y": {"type": "x"}}})
    assert violation.startswith(".properties.y.type: ")


@pytest.mark.guarantee("B-SCH-13")
@pytest.mark.parametrize("name", ["toString", "__class__", "keys", "y", 1, None])
def test_a_required_name_is_one_of_the_properties_declared_at_the_node(name: object):
    """Required lists declared names only; what Python objects happen to have is not declared."""
    node = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", name]}
    (violation,) = refused_property(node)
    assert violation.startswith(".required[1]: ")


def test_required_is_a_list_without_repetition():
    node = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert refused_property({**node, "required": "a"})[0].startswith(".required: ")
    assert refused_property({**node, "required": ["a", "a"]})[0].startswith(".required[1]: ")


ILL_FORMED: list[tuple[str, str, list[Any]]] = [
    ("number", "minimum", ["1", True, None, float("nan"), 10**4_300]),
    ("integer", "multipleOf", [0, -1, -0.5, "2", False, float("inf")]),
    ("string", "maxLength", [-1, 1.5, True, "1", None, float("inf"), 10**4_300]),
    ("array", "uniqueItems", [0, None, "true"]),
    ("string", "format", ["ipv4", "", None, ["date"]]),
    ("array", "prefixItems", [[], None, {}]),
    ("object", "required", ["a", None, {}, ["\ud800"]]),
]


@pytest.mark.parametrize(("kind", "keyword", "wrongs"), ILL_FORMED)
def test_an_ill_formed_keyword_is_a_violation_at_the_keyword(
    kind: str, keyword: str, wrongs: list[Any]
):
    for wrong in wrongs:
        (violation,) = refused_property({"type": kind, keyword: wrong})
        assert violation.startswith(f".{keyword}")


@pytest.mark.guarantee("B-SCH-14")
def test_additional_properties_is_a_boolean_or_a_schema():
    """A schema for undeclared keys is checked like any other; nothing else stands for one."""
    for value in (True, False, {"type": "string"}):
        assert_supported_output_schema({"type": "object", "additionalProperties": value})
    for value in (None, 0, "no", {}, {"type": "x"}):
        (violation,) = refused({"type": "object", "additionalProperties": value})
        assert violation.startswith("schema.additionalProperties")


@pytest.mark.guarantee("B-SCH-15", "B-SCH-16")
def test_enum_and_const_hold_json_scalars():
    """Allowed values are scalars, null among them; containers and non-finite numbers are not."""
    for scalar in ("a", 1, 1.5, True, None, 10**30):
        assert_supported_output_schema(with_property({"type": "string", "const": scalar}))
        assert_supported_output_schema(with_property({"type": "string", "enum": [scalar]}))
    for wrong in each(float("nan"), float("inf"), {}, [1], date(2024, 1, 1), "\ud800"):
        assert refused_property({"type": "string", "const": wrong})[0].startswith(".const: ")
        assert refused_property({"type": "string", "enum": [1, wrong]})[0].startswith(".enum[1]: ")
    for wrong in each([], "a", (1,), None):
        assert refused_property({"type": "string", "enum": wrong})[0].startswith(".enum: ")


@pytest.mark.guarantee("B-SCH-17")
def test_annotations_are_strings_or_json_data():
    """Titles and descriptions are text, defaults and examples any JSON data and nothing else."""
    data: list[Any] = []
    data.append(data)
    assert_supported_output_schema(
        with_property({"type": "string", "title": "t", "default": {"a": [1, None]}, "examples": 3})
    )
    for wrong in each(data, date(2024, 1, 1), {1}, print, float("inf"), {"a": (1,)}):
        assert refused_property({"type": "string", "default": wrong})[0].startswith(".default")
        assert refused_property({"type": "string", "examples": [wrong]})[0].startswith(
            ".examples[0]"
        )
    for wrong in each(1, None, b"t"):
        assert refused_property({"type": "string", "title": wrong})[0].startswith(".title: ")
        assert refused_property({"type": "string", "description": wrong})


@pytest.mark.guarantee("B-SCH-18")
def test_items_is_a_schema_when_present():
    """Items constrain every element; without them any element is accepted."""
    assert validate_structured_value(with_property({"type": "array"}), {"x": [1, "a", None]}) == []
    for wrong in each(None, True, {}, [{"type": "string"}]):
        assert refused_property({"type": "array", "items": wrong})[0].startswith(".items: ")
