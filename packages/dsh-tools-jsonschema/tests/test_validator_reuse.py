"""A validator that is kept judges by its own schema and no other."""

import pytest

from dsh.tools_jsonschema import (
    OutputSchemaError,
    compile_output_schema,
    validate_structured_value,
)


def plain(kind: str) -> dict[str, object]:
    return {"type": "object", "properties": {"v": {"type": kind}}}


def test_an_equal_schema_is_compiled_once() -> None:
    assert compile_output_schema(plain("integer")) is compile_output_schema(plain("integer"))


def test_a_schema_that_changed_is_another_schema() -> None:
    schema = plain("integer")
    assert validate_structured_value(schema, {"v": "x"})
    schema["properties"]["v"]["type"] = "string"  # type: ignore[index] # pyright: ignore[reportIndexIssue]
    assert validate_structured_value(schema, {"v": "x"}) == []
    assert validate_structured_value(plain("integer"), {"v": "x"})


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "object", "required": ("v",), "properties": {"v": {"type": "string"}}},
        {"type": "object", "properties": {1: {"type": "string"}}},
        {"type": "object", "properties": {"v": {"type": b"string"}}},
    ],
)
def test_what_only_looks_like_a_kept_schema_is_refused(odd: dict[str, object]) -> None:
    alike = {"type": "object", "required": ["v"], "properties": {"v": {"type": "string"}}}
    compile_output_schema(alike)
    compile_output_schema({"type": "object", "properties": {"1": {"type": "string"}}})
    with pytest.raises(OutputSchemaError):
        compile_output_schema(odd)


def test_a_flag_where_a_number_was_is_another_schema() -> None:
    def bounded(minimum: object) -> dict[str, object]:
        return {"type": "object", "properties": {"v": {"type": "integer", "minimum": minimum}}}

    assert validate_structured_value(bounded(1), {"v": 0})
    with pytest.raises(OutputSchemaError):
        compile_output_schema(bounded(True))


def test_a_schema_shared_with_itself_a_million_times_is_judged_as_before() -> None:
    node: dict[str, object] = {"type": "string"}
    for _ in range(40):  # shared, so that it is small; written out it would not fit anywhere
        node = {"type": "object", "properties": {"a": node, "b": node}}
    with pytest.raises(OutputSchemaError):
        compile_output_schema(node)
