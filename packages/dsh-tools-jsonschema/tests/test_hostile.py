"""Values that are no JSON, absurd or hostile: always a list of violations, never an exception."""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from datetime import date
from types import MappingProxyType
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh.tools_jsonschema import compile_output_schema, validate_structured_value

ANY_OBJECT = {"type": "object", "properties": {"x": {"type": "integer", "enum": [1, 2]}}}
RICH = {
    "type": "object",
    "properties": {
        "x": {"anyOf": [{"$ref": "#/$defs/P"}, {"type": "null"}]},
        "y": {"type": "array", "uniqueItems": True, "items": {"type": "number", "multipleOf": 0.1}},
        "z": {"type": ["string", "null"], "pattern": "a+$", "format": "email", "maxLength": 9},
    },
    "required": ["x"],
    "additionalProperties": False,
    "$defs": {"P": {"type": "object", "additionalProperties": {"type": "integer"}}},
}


def explode(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError("a foreign object was called")


class NamelessMeta(type):
    """A metaclass that will not even tell the name of its classes."""

    def __getattribute__(cls, name: str) -> Any:
        explode()


HOOKS = (
    "__eq__", "__hash__", "__len__", "__iter__", "__str__", "__repr__", "__bool__", "__getitem__",
    "__contains__", "__getattr__", "__getattribute__", "__format__", "__int__", "__float__",
    "__index__", "__lt__", "__reduce_ex__",
)  # fmt: skip
Bomb: Any = type("Bomb", (), dict.fromkeys(HOOKS, explode))
DictBomb: Any = type("DictBomb", (dict,), dict.fromkeys((*HOOKS, "items", "keys", "get"), explode))
ListBomb: Any = type("ListBomb", (list,), dict.fromkeys(HOOKS, explode))
StrBomb: Any = type("StrBomb", (str,), dict.fromkeys((*HOOKS, "encode", "isascii"), explode))
IntBomb: Any = type("IntBomb", (int,), dict.fromkeys((*HOOKS, "bit_length"), explode))
Nameless: Any = NamelessMeta("Nameless", (), {})


class Liar:
    """An object that says it is a dict."""

    @property
    def __class__(self) -> type[dict[Any, Any]]:  # type: ignore[override]
        return dict


def bombs() -> Iterator[Any]:
    for kind in (Bomb, DictBomb, ListBomb, StrBomb, IntBomb, Nameless, Liar):
        yield kind.__new__(kind) if kind is not Nameless else type.__call__(Nameless)


FOREIGN: list[Any] = [
    (1,), {1}, frozenset(), b"x", bytearray(), date(2024, 1, 1), 1j, object(), print, ..., int,
    OrderedDict(), defaultdict(int), MappingProxyType({}), range(3), memoryview(b"x"), *bombs(),
]  # fmt: skip


@pytest.mark.guarantee("B-SCH-22", "B-SCH-32")
@pytest.mark.parametrize("at", range(len(FOREIGN)))
def test_a_foreign_object_is_a_violation_wherever_it_stands_and_is_never_called(at: int):
    """What is no plain JSON is named by its class, and none of its methods is used."""
    foreign = FOREIGN[at]
    for value, path in (
        (foreign, "value"),
        ({"x": foreign}, "value.x"),
        ({"q": [1, {"r": foreign}]}, "value.q[1].r"),
    ):
        (violation,) = validate_structured_value(ANY_OBJECT, value)
        assert violation.startswith(f"{path}: must be JSON data, not a Python ")


@pytest.mark.guarantee("B-SCH-22")
def test_a_key_that_is_no_string_is_a_violation_and_is_never_compared():
    """A foreign key is reported on its object, whatever its hash pretends to be."""

    class Key(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            explode()

    for key, name in (
        (1, "int"),
        (None, "NoneType"),
        ((), "tuple"),
        (b"x", "bytes"),
        (Key("x"), "Key"),
    ):
        assert validate_structured_value(RICH, {key: 1}) == [
            f"value: has a key that is no string but a Python {name}"
        ]


def test_an_unpaired_surrogate_is_a_violation_that_can_be_printed():
    for value in ({"z": "a\ud800"}, {"\udfff": 1}, {"x": {"q": ["\ud800"]}}):
        violations = validate_structured_value(RICH, value)
        assert len(violations) == 1
        assert "surrogate" in violations[0].encode().decode()


@pytest.mark.field_case("B059")
@pytest.mark.parametrize("depth", [201, 2_000, 100_000])
@pytest.mark.parametrize("kind", [list, dict])
def test_a_value_nested_too_deep_is_a_violation_with_the_limit_and_its_depth(
    depth: int, kind: type
):
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    assert validate_structured_value(ANY_OBJECT, value) == [
        f"value: is nested {depth} levels deep, at most 200 are accepted"
    ]


def test_a_value_nested_to_the_limit_is_data():
    value: Any = 1
    for _ in range(199):
        value = [value]
    assert validate_structured_value(ANY_OBJECT, {"q": value}) == []


def test_cycles_are_violations_where_they_close():
    array: list[Any] = [1]
    array.append({"a": array})
    assert validate_structured_value(ANY_OBJECT, {"q": array}) == ["value.q[1].a: contains itself"]
    shared = [1]
    assert validate_structured_value(ANY_OBJECT, {"q": shared, "r": [shared, shared]}) == []


def test_shared_parts_that_stand_for_too_many_values_are_a_violation():
    value: Any = [1]
    for _ in range(100):
        value = [value, value]
    (violation,) = validate_structured_value(ANY_OBJECT, {"q": value})
    assert violation.startswith("value: has more than 1000000 parts")


def test_an_integer_of_too_many_digits_is_a_violation_and_is_never_printed():
    assert validate_structured_value(ANY_OBJECT, {"q": 10**4_300 - 1}) == []
    for value in (10**4_300, -(10**5_000), 1 << 1_000_000):
        (violation,) = validate_structured_value(ANY_OBJECT, {"q": value})
        assert violation.startswith(
            "value.q: must have at most 4300 digits, not an integer of about "
        )


def test_where_the_process_prints_fewer_digits_fewer_are_accepted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.get_int_max_str_digits", lambda: 640)
    assert len(validate_structured_value(ANY_OBJECT, {"q": 10**640})) == 1
    monkeypatch.setattr("sys.get_int_max_str_digits", lambda: 0)
    assert validate_structured_value(ANY_OBJECT, {"q": 10**4_000}) == []


def test_an_object_whose_keys_are_all_odd_is_told_of_each():
    assert len(validate_structured_value(ANY_OBJECT, {1: 1, 2: 2, "q": (1,)})) == 3


def test_messages_are_bounded_however_long_keys_and_values_are():
    long = "k" * 1_000_000
    values: list[Any] = [{long: 1}, {"z": long}, {"x": {long: {long: long}}}, {"x": 10**4_000}]
    deep: Any = "leaf"
    for _ in range(150):
        deep = {long[:5_000]: deep}
    for value in (*values, {"x": deep}, {"x": {"a": deep}}):
        violations = validate_structured_value(RICH, value)
        assert violations
        assert max(map(len, violations)) < 2_000
    enum = {"type": "string", "enum": [long, *map(str, range(10_000))]}
    (violation,) = validate_structured_value(
        {"type": "object", "properties": {"x": enum}}, {"x": long + "!"}
    )
    assert len(violation) < 600


def test_the_path_of_a_place_very_deep_down_is_cut_in_the_middle():
    value: Any = float("nan")
    for at in range(400):
        value = {"key": value} if at % 2 else [value]
    at_place, too_deep = validate_structured_value(ANY_OBJECT, value)
    assert at_place.startswith("value.key[0].key[0]")
    assert "…" in at_place
    assert at_place.endswith(".key[0]: must be a finite number, not NaN")
    assert len(at_place) < 1_100
    assert too_deep.startswith("value: is nested 400 levels deep")


def test_a_path_of_few_but_long_keys_is_cut_in_the_middle_too():
    value: Any = float("nan")
    for at in range(30):
        value = {f"{'k' * 150}{at}": value}
    (violation,) = validate_structured_value(ANY_OBJECT, value)
    path, _, problem = violation.partition(": ")
    assert problem == "must be a finite number, not NaN"
    assert path.startswith(f"value.{'k' * 150}29.kkk")
    assert path.endswith(f"kkk1.{'k' * 150}0")
    assert len(path) == len("value…") + 1_000


def test_at_most_a_thousand_violations_are_listed():
    array = {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "string"}}}}
    for value in ([1] * 5_000, [(1,)] * 5_000):
        violations = validate_structured_value(array, {"x": value})
        assert len(violations) == 1_001
        assert violations[-1] == "value: has more than 1000 violations"
    assert len(validate_structured_value(array, {"x": [1] * 1_000})) == 1_000


def test_many_items_are_compared_in_linear_time():
    unique = {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}}
    items: list[Any] = [{"n": at} for at in range(20_000)]
    begun = time.process_time()
    assert validate_structured_value(unique, {"x": [*items, {"n": 19_999}]}) == [
        "value.x: must have no two equal items, but items 19999 and 20000 are equal"
    ]
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("pattern", ["(a|a)*$", "(a|aa)+$"])
def test_a_pattern_that_would_never_end_is_a_violation_in_time(pattern: str):
    schema = {
        "type": "object",
        "properties": {"x": {"type": "array", "items": {"type": "string", "pattern": pattern}}},
    }
    text = "a" * 200 + "!"
    begun = time.process_time()
    violations = validate_structured_value(schema, {"x": [text] * 50})
    assert time.process_time() - begun < 3
    assert len(violations) == 50
    assert "took longer than 0.25 s to match" in violations[0]
    assert "the patterns of one value may take 1.0 s together" in violations[-1]
    assert validate_structured_value(schema, {"x": ["aa"]}) == []


anything = st.recursive(
    st.integers(0, len(FOREIGN) - 1).map(lambda at: FOREIGN[at])
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["x", "y", "z", "", 1, None]), inner, max_size=4)
        | st.tuples(inner)
    ),
    max_leaves=8,
)


@pytest.mark.guarantee("B-SCH-22")
def test_no_value_makes_the_judge_raise():
    """Whatever is judged, the answer is a list of texts."""
    validator = compile_output_schema(RICH)

    @settings(max_examples=400, deadline=None, derandomize=True, database=None)
    @given(st.lists(anything, min_size=1, max_size=1))
    def judge(values: list[Any]) -> None:
        for violations in (validator.violations(values[0]), validator.violations({"x": values[0]})):
            assert all(type(entry) is str and entry.startswith("value") for entry in violations)

    judge()
