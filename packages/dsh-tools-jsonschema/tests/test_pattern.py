"""The patterns a schema may have."""

from typing import Any

import pytest

from dsh.tools_jsonschema import (
    OutputSchemaError,
    assert_supported_output_schema,
    validate_structured_value,
)


def schema_of(pattern: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("[", "is no regular expression: "),
        ("(" * 5_000 + ")" * 5_000, "is too complex a regular expression (RecursionError)"),
        ("a" * 10_001, "has 10001 characters, at most 10000 are accepted"),
        ("((a{999}){999}){999}", "has about 9.99e+08 characters once its repetitions are written"),
        ("(?:(?:[(] {9}|\\) *){99}){ 99,}?", "has about 2.062e+05 characters"),
        ("x{" + "9" * 5_000 + "}", "has about 1e+09 characters once its repetitions are written"),
        (r"\cA", "is no regular expression: "),
        (1, "must be a string, not 1"),
        ("\ud800", "has an unpaired surrogate"),
    ],
)
def test_a_pattern_that_cannot_be_matched_is_refused_with_the_schema(pattern: object, said: str):
    with pytest.raises(OutputSchemaError) as caught:
        assert_supported_output_schema(schema_of(pattern))
    (violation,) = caught.value.violations
    assert violation.startswith(f"schema.properties.x.pattern: {said}")
    assert len(violation) < 400


@pytest.mark.parametrize(
    "pattern",
    [
        "^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        r"^(?:[A-Z0-9]{20}\.){20}[^()]{1,200}[(){9}]{0,9999}$",
        r"^(?:(?:.{0,9999}){0,9999}){0,9999}$",
        r"\{9999\}\{9999\}",
    ],
)
def test_a_pattern_may_repeat_as_long_as_its_matcher_stays_small(pattern: str):
    assert_supported_output_schema(schema_of(pattern))


def test_a_pattern_is_searched_for_anywhere_in_the_string():
    assert validate_structured_value(schema_of("b"), {"x": "abc"}) == []
    assert validate_structured_value(schema_of("^b"), {"x": "abc"}) == [
        'value.x: must match the pattern "^b", but "abc" does not match'
    ]
    assert validate_structured_value(schema_of(r"^\p{Lu}\p{Ll}+$"), {"x": "Änderung"}) == []
