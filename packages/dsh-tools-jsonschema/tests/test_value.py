"""How values are judged, and what a violation says."""

import sys
import threading
from typing import Any

import pytest

from dsh.tools_jsonschema import compile_output_schema, validate_structured_value


def each(*values: Any) -> tuple[Any, ...]:
    return values


def judged(node: dict[str, Any], value: object) -> list[str]:
    return validate_structured_value({"type": "object", "properties": {"x": node}}, {"x": value})


@pytest.mark.guarantee("B-SCH-24")
def test_every_problem_is_one_entry_with_its_path():
    """Several problems are found in one pass, each at its own path in dots and indices."""
    inner = {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "integer"}}}}
    schema = {"type": "object", "properties": {"a": inner, "c": {"type": "string"}}}
    assert validate_structured_value(schema, {"a": {"b": [1, 2, "x", None]}, "c": 1}) == [
        'value.a.b[2]: must be integer, got "x"',
        "value.a.b[3]: must be integer, got null",
        "value.c: must be string, got 1",
    ]
    assert validate_structured_value(schema, {}) == []


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("a", "value.a"),
        ("_a1$", "value._a1$"),
        ("", 'value[""]'),
        ("a.b", 'value["a.b"]'),
        ("0", 'value["0"]'),
        ("a b", 'value["a b"]'),
        ('"]', 'value["\\"]"]'),
        ("\n", 'value["\\n"]'),
        ("schlüssel", 'value["schlüssel"]'),
    ],
)
def test_an_odd_key_is_quoted_in_the_path(key: str, path: str):
    schema = {"type": "object", "properties": {key: {"type": "null"}}}
    assert validate_structured_value(schema, {key: 1}) == [f"{path}: must be null, got 1"]


@pytest.mark.guarantee("B-SCH-25", "B-SCH-26")
def test_missing_keys_come_first_then_declared_then_extra_ones():
    """Of an object, missing keys are listed first, then declared ones as declared, then extras."""
    text = {"type": "string"}
    schema = {
        "additionalProperties": False,
        "properties": {"b": text, "a": text, "n": text, "m": {"type": "null"}},
        "required": ["n", "m"],
        "type": "object",
    }
    assert validate_structured_value(schema, {"z": 1, "a": 1, "y": 1, "b": 1, "n": None}) == [
        "value.m: is required but missing",
        "value.b: must be string, got 1",
        "value.a: must be string, got 1",
        "value.n: must be string, got null",
        'value.z: is not an accepted key; accepted: "b", "a", "n", "m"',
        'value.y: is not an accepted key; accepted: "b", "a", "n", "m"',
    ]


@pytest.mark.field_case("B063")
@pytest.mark.guarantee("B-SCH-26")
def test_a_key_with_null_is_present_and_null_must_be_accepted_by_its_type():
    """Null is a value: it satisfies required, and is judged by the type like any other."""
    plain = {"file": {"type": "string"}, "line": {"type": "integer"}}
    schema = {"type": "object", "properties": plain}
    assert validate_structured_value(schema, {}) == []
    assert validate_structured_value(schema, {"file": None, "line": None}) == [
        "value.file: must be string, got null",
        "value.line: must be integer, got null",
    ]
    nullable = {name: {"type": [node["type"], "null"]} for name, node in plain.items()}
    schema = {"type": "object", "properties": nullable, "required": ["file"]}
    assert validate_structured_value(schema, {"file": None, "line": None}) == []
    assert validate_structured_value(schema, {"line": 1}) == ["value.file: is required but missing"]


@pytest.mark.guarantee("B-SCH-27")
def test_undeclared_keys_are_accepted_unless_forbidden_or_described():
    """Extra keys pass by default, each one is a violation when forbidden, or is judged."""
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    value = {"b": 1, "c": "x"}
    assert validate_structured_value(schema, value) == []
    assert validate_structured_value({**schema, "additionalProperties": True}, value) == []
    assert len(validate_structured_value({**schema, "additionalProperties": False}, value)) == 2
    described = {**schema, "additionalProperties": {"type": "string"}}
    assert validate_structured_value(described, value) == ["value.b: must be string, got 1"]


@pytest.mark.guarantee("B-SCH-28")
@pytest.mark.parametrize("name", ["keys", "__class__", "items", "__len__"])
def test_what_python_objects_have_does_not_count_as_present(name: str):
    """Only a key of the object itself satisfies required."""
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    assert validate_structured_value(schema, {}) == [f"value.{name}: is required but missing"]


@pytest.mark.guarantee("B-SCH-29", "B-SCH-30")
def test_numbers_are_integers_by_value_and_booleans_are_no_numbers():
    """1.0 is an integer, 1.5 a number only, True neither; -0.0 is data, NaN is not."""
    integer, number = {"type": "integer"}, {"type": "number"}
    for value in (1, 1.0, -0.0, 0, 10**4_000, 1e300):
        assert judged(integer, value) == judged(number, value) == []
    assert judged(integer, 1.5) == ["value.x: must be integer, got 1.5"]
    assert judged(number, 1.5) == []
    for value in (True, False):
        assert len(judged(integer, value)) == len(judged(number, value)) == 1
    for value in (float("nan"), float("inf"), -float("inf")):
        for node in (integer, number, {"type": "string"}):
            (violation,) = judged(node, value)
            assert violation.startswith("value.x: must be a finite number, not ")


@pytest.mark.guarantee("B-SCH-31")
@pytest.mark.field_case("B070", "B072")
def test_allowed_values_are_compared_as_json_and_listed_in_its_spelling():
    """Equality is JSON's: true is not 1, "1" is not 1, 1.0 is 1; violations spell JSON."""
    assert judged({"type": "boolean", "enum": [True]}, False) == [
        "value.x: must be one of true, got false"
    ]
    assert judged({"type": ["number", "null"], "const": None}, 1) == [
        "value.x: must be null, got 1"
    ]
    assert judged({"type": "integer", "const": 42}, 42.0) == []
    for allowed, value in ((1, True), (0, False), (True, 1), (False, 0.0), ("1", 1), (1, "1")):
        kinds = {
            "anyOf": [{"type": k, "enum": [allowed, None]} for k in ("number", "boolean", "string")]
        }
        assert judged(kinds, allowed) == []
        assert len(judged(kinds, value)) == 1
    assert judged({"type": "integer", "enum": [1]}, 1.0) == []


@pytest.mark.field_case("B070")
def test_unique_items_are_compared_as_json_at_every_depth():
    node = {"type": "array", "uniqueItems": True}
    for unique in each(
        [1, True],
        [0, False],
        ["1", 1],
        [[1], [True]],
        [{"a": 1}, {"a": True}],
        [[], {}],
    ):
        assert judged(node, unique) == []
    for equal in ([1, 1.0], [0, -0.0], [[1], [1.0]], [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]):
        assert judged(node, equal) == [
            "value.x: must have no two equal items, but items 0 and 1 are equal"
        ]
    assert judged({"type": "array", "uniqueItems": False}, [1, 1]) == []


@pytest.mark.field_case("B067")
@pytest.mark.parametrize(
    ("node", "value", "said"),
    [
        ({"type": "array", "maxItems": 3}, [1] * 5, "has 5 items, at most 3 accepted"),
        ({"type": "array", "minItems": 2}, [1], "has 1 item, at least 2 accepted"),
        ({"type": "string", "maxLength": 2}, "abc", "has 3 characters, at most 2 accepted"),
        ({"type": "string", "minLength": 2}, "", "has 0 characters, at least 2 accepted"),
        ({"type": "number", "minimum": 1}, 0.5, "must be at least 1, got 0.5"),
        ({"type": "number", "maximum": 1}, 2, "must be at most 1, got 2"),
        ({"type": "number", "exclusiveMinimum": 1}, 1, "must be greater than 1, got 1"),
        ({"type": "number", "exclusiveMaximum": 1}, 1, "must be less than 1, got 1"),
        ({"type": "number", "multipleOf": 0.5}, 0.7, "must be a multiple of 0.5, got 0.7"),
    ],
)
def test_a_violated_limit_is_stated_with_what_was_there(
    node: dict[str, Any], value: Any, said: str
):
    assert judged(node, value) == [f"value.x: {said}"]


def test_a_big_integer_is_data_and_judged_exactly():
    node = {"type": "integer", "const": 2512292042121000001}
    assert judged(node, 2512292042121000001) == []
    assert judged(node, 2512292042121000000) != []


@pytest.mark.parametrize(
    ("factor", "number", "fits"),
    [
        (0.5, 10**400, True),
        (0.3, 10**400 + 1, False),
        (10**400, 5.0, False),
        (10**400, 0.0, True),
        (1e-300, 1e300, False),
        (3, 10**400 - 1, True),
    ],
)
def test_multiples_of_numbers_too_large_for_a_float_are_judged(
    factor: Any, number: Any, fits: bool
):
    assert (judged({"type": "number", "multipleOf": factor}, number) == []) == fits


def test_nothing_more_is_said_of_a_value_of_the_wrong_type():
    node = {"type": "integer", "enum": [1], "minimum": 5}
    assert judged(node, "a") == ['value.x: must be integer, got "a"']
    assert len(judged(node, 2)) == 2


def test_tuples_of_positions_and_the_items_after_them_are_judged():
    first = {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}
    assert judged(first, ["a", 1, 2]) == judged(first, []) == []
    assert judged(first, [1, 2, "b"]) == [
        "value.x[0]: must be string, got 1",
        'value.x[2]: must be integer, got "b"',
    ]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("date-time", "2024-01-01T10:00:00"), ("date", "2024-02-30"), ("time", "10:00"), ("uuid", "1"),
     ("uri", "/a"), ("uri", "http://[1::2::3]/"), ("email", "a"), ("email", "a@[IPv6:x]")],
)  # fmt: skip
def test_a_format_is_enforced_and_shown_by_example(name: str, wrong: str):
    (violation,) = judged({"type": "string", "format": name}, wrong)
    assert violation.startswith("value.x: must be a")
    assert f'got "{wrong}"' in violation


def test_the_example_in_a_format_violation_has_the_format():
    for name in ("date-time", "date", "time", "uuid", "uri", "email"):
        (violation,) = judged({"type": "string", "format": name}, "")
        example = violation.partition("as in ")[2].partition(", got")[0]
        assert judged({"type": "string", "format": name}, example) == []


def test_one_validator_serves_several_threads():
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^a*$"}}}
    validator = compile_output_schema(schema)
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(validator.violations({"x": "a" * 50})))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[], [], [], []]


def test_a_caller_with_too_little_stack_gets_a_violation():
    node: dict[str, Any] = {"type": "integer"}
    value: Any = 1
    for _ in range(98):
        node, value = {"type": "array", "items": node}, [value]
    validator = compile_output_schema({"type": "object", "properties": {"x": node}})
    assert validator.violations({"x": value}) == []

    def at_depth(frames: int) -> list[str]:
        return at_depth(frames - 1) if frames else validator.violations({"x": value})

    room = sys.getrecursionlimit() - 200
    assert at_depth(room) == ["value: could not be judged, the caller left too little stack"]
