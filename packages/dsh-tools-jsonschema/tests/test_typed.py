"""Schemas from Python types, and their values back."""

import dataclasses
import datetime as dt
import decimal
import enum
import json
import re
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar

import pytest
from annotated_types import Len
from jsonschema import Draft202012Validator
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter, field_validator
from typing_extensions import TypedDict

from dsh.tools_jsonschema import (
    OutputSchemaError,
    StructuredValueError,
    assert_supported_output_schema,
    output_schema_from,
    parse_structured,
    validate_structured_value,
)

T = TypeVar("T")
UTC = dt.UTC
leaked: list[int] = []
MOMENT = dt.datetime(2024, 2, 29, 12, 30, tzinfo=UTC)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    WORD = "word"
    NUMBER = 1
    NOTHING = None


class Place(BaseModel):
    """Where something is."""

    file: str
    line: int | None = None


class Box(BaseModel, Generic[T]):
    content: T


class Finding(BaseModel):
    model_config = ConfigDict(extra="forbid")

    place: Place
    other: Place | None = None
    many: list[Place] = []
    named: dict[str, Place] = {}
    color: Color = Color.RED
    level: Level | None = None
    kind: Literal["bug", "style"] = "bug"
    mixed: Mixed = Mixed.WORD
    odd: Literal["a", 1, None, True] = "a"
    union: int | str | Color | None = None
    amount: decimal.Decimal = decimal.Decimal(1)
    when: dt.datetime | None = None
    day: dt.date = dt.date(2024, 1, 1)
    key: uuid.UUID | None = None
    url: AnyUrl | None = None
    score: Annotated[float, Field(ge=0, lt=1, multiple_of=0.25)] = 0.5
    name: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]+$")] = "abc"
    tags: Annotated[set[str], Len(0, 3)] = set()
    pair: tuple[int, str] = (1, "a")
    rest: tuple[int, ...] = ()
    anything: list[Any] = []
    extra: dict[str, Any] = {}
    old: int = Field(default=0, deprecated=False)
    alias: int = Field(default=0, alias="a-b")
    box: Box[int] = Box(content=1)
    boxes: Box[list[str]] | None = None


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Task:
    title: str
    due: dt.date | None = None
    steps: list[str] = dataclasses.field(default_factory=list[str])


class Answer(TypedDict):
    text: str
    sure: NotRequired[bool]


FULL = Finding.model_validate(
    {
        "place": {"file": "a.py", "line": 3},
        "other": {"file": "b.py"},
        "many": [{"file": "c.py"}],
        "named": {"odd key": {"file": "d.py", "line": None}},
        "color": "blue",
        "level": 2,
        "mixed": None,
        "odd": True,
        "union": "red",
        "amount": "1.50",
        "when": MOMENT,
        "key": uuid.UUID(int=7),
        "url": "https://example.org/",
        "tags": ["x", "y"],
        "rest": [1, 2],
        "anything": [1, {"a": None}],
        "extra": {"k": [1]},
        "a-b": 5,
        "boxes": {"content": ["p"]},
    }
)

ROUND_TRIPS: list[tuple[Any, Any]] = [
    (Finding, FULL),
    (Finding, Finding(place=Place(file="x"))),
    (Place, Place(file="x")),
    (Box[Place], Box[Place](content=Place(file="x"))),
    (Task, Task("t", dt.date(2024, 1, 2), ["a"])),
    (Answer, {"text": "yes", "sure": True}),
    (Point, Point(1, 2)),
    (list[Place], [Place(file="x", line=1)]),
    (dict[str, int], {"a": 1}),
    (int, 3),
    (str, "text"),
    (bool, False),
    (float, 2.5),
    (None, None),
    (int | None, None),
    (Place | None, Place(file="x")),
    (int | str, "1"),
    (Literal["a", 2], 2),
    (Color, Color.BLUE),
    (dt.datetime, MOMENT),
    (dt.time, dt.time(1, 2, tzinfo=UTC)),
    (uuid.UUID, uuid.UUID(int=1)),
    (Annotated[list[int], Len(1)], [1]),
    (Annotated[int, Field(gt=1, json_schema_extra={"title": "unhashable"})], 2),
]


@pytest.mark.parametrize("at", range(len(ROUND_TRIPS)))
def test_a_type_and_its_value_come_back(at: int):
    output_type, value = ROUND_TRIPS[at]
    schema = output_schema_from(output_type)
    assert_supported_output_schema(schema)
    Draft202012Validator.check_schema(schema)
    adapter: TypeAdapter[Any] = TypeAdapter(output_type)
    data = json.loads(adapter.dump_json(value, by_alias=True))
    if set(schema.get("properties", ())) == {"value"}:
        data = {"value": data}
    assert validate_structured_value(schema, data) == []
    assert parse_structured(output_type, data) == value


def test_a_root_that_is_an_object_is_not_wrapped():
    assert set(output_schema_from(Place)["properties"]) == {"file", "line"}
    assert output_schema_from(dict[str, int])["type"] == "object"
    assert output_schema_from(list[int]) == {
        "type": "object",
        "properties": {"value": {"type": "array", "items": {"type": "integer"}}},
        "required": ["value"],
        "additionalProperties": False,
    }


def test_a_schema_from_a_type_is_the_callers_own():
    output_schema_from(Place)["properties"].clear()
    assert set(output_schema_from(Place)["properties"]) == {"file", "line"}


class Node(BaseModel):
    name: str
    next: "Node | None" = None


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Either(BaseModel):
    pet: Cat | Dog


class Tagged(BaseModel):
    inner: Annotated[Cat | Dog, Field(discriminator="kind")]


class Hook(BaseModel):
    deep: list[Callable[[], int]]


@pytest.mark.parametrize(
    ("output_type", "place"),
    [
        (Node, r"schema\.\$defs\.Node\.properties\.next\.anyOf\[0\]\.\$ref: is recursive"),
        (list[Node], r"schema\.\$defs\.Node\.properties\.next\.anyOf\[0\]\.\$ref: is recursive"),
        (Either, r"schema\.properties\.pet\.anyOf: "),
        (Tagged, r'schema\.properties\.inner: unsupported keyword "oneOf"'),
        (Cat | Dog, r"schema\.properties\.value\.anyOf: "),
        (Hook, r'schema\.properties\.deep\.items\.type: .*not "callable"'),
        (Box[bytes], r"schema\.properties\.content\.format: .*not \"binary\""),
        (Box[Any], r"schema\.properties\.content: must declare a type"),
        (dict[Annotated[str, Field(pattern="a")], int], r'schema: .*"patternProperties"'),
        (5, r"schema: Unable to generate"),
        (object(), r"schema: Unable to generate"),
    ],
)
def test_a_type_that_does_not_fit_is_refused_with_the_fields_path(output_type: Any, place: str):
    with pytest.raises(OutputSchemaError) as caught:
        output_schema_from(output_type)
    assert any(re.match(place, violation) for violation in caught.value.violations)
    assert "\n" not in str(caught.value)
    with pytest.raises(OutputSchemaError):
        parse_structured(output_type, {})


def test_what_only_documents_a_field_is_left_out_of_the_schema():
    class Old(BaseModel):
        name: str = Field(deprecated=True, json_schema_extra={"readOnly": True})

    assert output_schema_from(Old)["properties"] == {"name": {"title": "Name", "type": "string"}}


def test_an_annotation_that_cannot_be_hashed_is_described_like_any_other():
    names = Annotated[list[str], Field(max_length=2), ["no hash"]]
    assert output_schema_from(names)["properties"] == {
        "value": {"type": "array", "items": {"type": "string"}, "maxItems": 2}
    }
    assert parse_structured(names, {"value": ["a"]}) == ["a"]


def test_a_default_that_is_no_json_is_left_out_of_the_schema():
    class Odd(BaseModel):
        at: Any = object()
        n: int = Field(default=1)

    with pytest.raises(OutputSchemaError) as caught:
        output_schema_from(Odd)
    assert [v.partition(": ")[0] for v in caught.value.violations] == ["schema.properties.at"]


@pytest.mark.parametrize(
    ("output_type", "value", "paths"),
    [
        (Finding, {"place": {"file": 1}}, ["value.place.file"]),
        (Finding, {"place": {}}, ["value.place.file"]),
        (Finding, {"place": {"file": "x"}, "union": []}, ["value.union"] * 3),
        (Finding, {"place": {"file": "x"}, "union": {}}, ["value.union"] * 3),
        (Finding, {"place": {"file": "x"}, "many": [{"file": "x"}, {}]}, ["value.many[1].file"]),
        (Finding, {"place": {"file": "x"}, "odd key": 1}, ['value["odd key"]']),
        (Finding, {"place": {"file": "x"}, "named": {"a b": 1}}, ['value.named["a b"]']),
        (Finding, {"place": {"file": "x"}, "a-b": "x"}, ['value["a-b"]']),
        (list[int], {"value": [1, "x"]}, ["value.value[1]"]),
        (int, {"value": "x"}, ["value.value"]),
        (int, {}, ["value"]),
        (int, {"value": 1, "more": 2}, ["value"]),
        (int, 1, ["value"]),
        (Answer, {"text": "a", "sure": 7}, ["value.sure"]),
        (Place, {"file": (1,)}, ["value.file"]),
        (Place, float("nan"), ["value"]),
    ],
)
def test_a_value_the_type_refuses_is_a_typed_error_with_paths(
    output_type: Any, value: object, paths: list[str]
):
    with pytest.raises(StructuredValueError) as caught:
        parse_structured(output_type, value)
    assert caught.value.code == "INVALID_STRUCTURED_VALUE"
    assert [v.partition(": ")[0] for v in caught.value.violations] == paths


def test_the_types_own_validators_have_the_last_word():
    class Even(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def is_even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("must be even " + "x" * 5_000)
            return value

    assert validate_structured_value(output_schema_from(Even), {"n": 3}) == []
    with pytest.raises(StructuredValueError) as caught:
        parse_structured(Even, {"n": 3})
    (violation,) = caught.value.violations
    assert violation.startswith("value.n: Value error, must be even")
    assert len(violation) < 250


@pytest.mark.parametrize("schema", [{}, {"type": "object"}])
def test_a_schema_in_the_place_of_a_type_is_named_as_such(schema: dict[str, Any]):
    with pytest.raises(TypeError, match="got a dict; a schema needs no conversion"):
        output_schema_from(schema)


def parsed(output_type: object) -> object:
    return parse_structured(output_type, {})


@pytest.mark.parametrize("ask", [output_schema_from, parsed])
@pytest.mark.parametrize("text", ["leaked.append(1) or int", '{"type": "object"}', "list["])
def test_text_in_the_place_of_a_type_is_refused_and_never_run(ask: Callable[..., Any], text: str):
    with pytest.raises(TypeError, match="got text; read a schema"):
        ask(text)
    assert leaked == []
