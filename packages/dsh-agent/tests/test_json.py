import math
from collections import OrderedDict
from enum import IntEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh.agent import JsonValueError, freeze_json, thaw_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_freezing_and_thawing_gives_an_equal_value(value: object) -> None:
    frozen = freeze_json(value)
    assert thaw_json(frozen) == value
    assert freeze_json(frozen) == frozen


def test_a_frozen_value_is_detached_and_immutable() -> None:
    value = {"rows": [{"n": 1}]}
    frozen = freeze_json(value)
    value["rows"].append({"n": 2})
    assert frozen == {"rows": ({"n": 1},)}
    assert isinstance(frozen, MappingProxyType)


def test_minus_zero_and_big_integers_are_data() -> None:
    frozen = freeze_json([-0.0, 10**4300 - 1])
    assert isinstance(frozen, tuple)
    assert math.copysign(1, frozen[0]) == -1  # pyright: ignore[reportUnknownArgumentType]
    assert frozen[1] == 10**4300 - 1


class Colour(IntEnum):
    RED = 1


@pytest.mark.guarantee("B-SES-02")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1, math.nan]}, r"value\.a\[1\]: nan is not JSON"),
        (math.inf, "value: inf is not JSON"),
        ({"a": {1: 2}}, r"value\.a: a key is a int, not a str"),
        ([(), {1}], r"value\[1\]: a set is not JSON"),
        ({"c": Colour.RED}, r"value\.c: a Colour is not JSON"),
        (OrderedDict[str, int](a=1), "value: a OrderedDict is not JSON"),
        ([b""], r"value\[0\]: a bytes is not JSON"),
        ([10**4300], "more than 4,300 digits"),
    ],
)
def test_what_is_not_json_is_refused_with_its_path(value: object, message: str) -> None:
    """Anything that would come back changed from a file is refused where it is."""
    with pytest.raises(JsonValueError, match=message):
        freeze_json(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    value: dict[str, object] = {}
    value["a"] = [value]
    with pytest.raises(JsonValueError, match=r"value\.a\[0\]: contains itself"):
        freeze_json(value)
    shared = [1]
    assert freeze_json([shared, shared]) == ((1,), (1,))


def test_a_value_nested_too_deep_is_refused_and_no_stack_overflows() -> None:
    value: object = 1
    for _ in range(200):
        value = [value]
    thaw_json(freeze_json(value))
    for _ in range(100_000):
        value = [value]
    with pytest.raises(JsonValueError, match="nests deeper than 200 levels"):
        freeze_json(value)
    while isinstance(value, list):  # taken apart here, since freeing it would recurse
        value = value[0]  # pyright: ignore[reportUnknownVariableType]


def test_the_name_of_the_value_starts_the_path() -> None:
    with pytest.raises(JsonValueError, match=r"options\.x") as caught:
        freeze_json({"x": object()}, at="options")
    assert caught.value.path == "options.x"


def test_a_caller_that_left_too_little_stack_is_told_so() -> None:
    value: object = 1
    for _ in range(150):
        value = [value]

    def deep() -> None:
        try:
            deep()
        except RecursionError:
            freeze_json(value)

    with pytest.raises(JsonValueError, match="nests deeper than the stack its caller has left"):
        deep()
