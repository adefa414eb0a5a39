"""Schemas that are no schemas, absurd or hostile: accepted in full or refused, nothing else."""

from typing import Any, NoReturn, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dsh.tools_jsonschema import OutputSchemaError, compile_output_schema

KEYWORDS = (
    "$schema", "$defs", "definitions", "$ref", "anyOf", "type", "title", "description", "default",
    "examples", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems",
    "uniqueItems", "prefixItems", "items", "required", "properties", "additionalProperties",
)  # fmt: skip


def explode(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError("a foreign object was called")


HOOKS = (
    "__eq__", "__hash__", "__len__", "__iter__", "__str__", "__repr__", "__bool__", "__lt__",
    "__getattribute__",
)  # fmt: skip


def bomb(base: type) -> Any:
    kind: Any = type(f"{base.__name__.title()}Bomb", (base,), dict.fromkeys(HOOKS, explode))
    return kind.__new__(kind)


FOREIGN: list[Any] = [bomb(base) for base in (object, dict, list, str, int, float)]
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_foreign_object_under_a_keyword_is_refused_and_never_called(keyword: str):
    for foreign in FOREIGN:
        for held in (foreign, [foreign], {"a": foreign}):
            for kind in TYPES:
                schema = {"type": "object", "properties": {"x": {"type": kind, keyword: held}}}
                with pytest.raises(OutputSchemaError):
                    compile_output_schema(schema)
            with pytest.raises(OutputSchemaError):
                compile_output_schema({"type": "object", keyword: held})


ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2.0, 1.5, 1e308, float("inf"), float("nan"), 10**5_000, "", "a",
    "(", "#/$defs/a", "#/definitions/b", "#", "\ud800", "date", "object", "string", [], {}, (),
]  # fmt: skip
odd = st.integers(0, len(ODD) - 1).map(lambda at: ODD[at])


def build(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from(["a", "b", "\udfff"]), schemas, max_size=2)
    listed = st.lists(schemas, max_size=3)
    types = st.sampled_from(TYPES)
    held = st.one_of(schemas, named, listed, types, odd)
    node = st.fixed_dictionaries({"type": types | st.tuples(types, types).map(list)})
    free = st.dictionaries(st.sampled_from((*KEYWORDS, "oneOf", "typ")), held, max_size=3)
    likely = st.fixed_dictionaries({"type": st.just("object"), "properties": named})
    return st.one_of(free, st.tuples(node, free).map(lambda two: two[0] | two[1]), likely)


odd_schemas = st.recursive(odd, build, max_leaves=8)


def accept_or_refuse(examples: int, *, derandomize: bool) -> int:
    accepted: list[int] = []

    @settings(max_examples=examples, deadline=None, derandomize=derandomize, database=None)
    @given(odd_schemas, odd_schemas)
    def accept(node: Any, value: Any) -> None:
        for schema in (node, {"type": "object", "properties": {"a": node}, "$defs": {"a": node}}):
            try:
                validator = compile_output_schema(schema)
            except OutputSchemaError as error:
                check_refusal(error)
                continue
            accepted.append(1)
            Draft202012Validator.check_schema(without_examples(schema))
            for judged in (value, {"a": value}, {"a": {"a": value, "b": [value]}}):
                validator.violations(judged)

    accept()
    return len(accepted)


def check_refusal(error: OutputSchemaError) -> None:
    assert error.violations
    assert all(entry.startswith("schema") for entry in error.violations)
    assert str(error).encode()


def without_examples(node: Any) -> Any:
    """Leave out `examples`, which the draft wants as a list and the subset takes as any data."""
    if type(node) is list:
        return [without_examples(item) for item in cast("list[Any]", node)]
    if type(node) is not dict:
        return node
    entries = cast("dict[str, Any]", node)
    return {k: without_examples(v) for k, v in entries.items() if k != "examples"}


def test_an_odd_schema_is_refused_or_is_one_of_the_draft_and_judges_everything():
    assert accept_or_refuse(500, derandomize=True) > 20


@pytest.mark.fuzz
def test_odd_schemas_by_the_ten_thousand_are_refused_or_are_of_the_draft():
    assert accept_or_refuse(50_000, derandomize=False) > 2_000
