"""From a Python type to a schema of the subset, and from JSON data back to the type.

pydantic does both; what this module adds is the fit: the root becomes an object, and every
refusal, of a type or of a value, names its place. See `_lowering` for what is respelt.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, final, overload

from dsh.tools_jsonschema._data import data_findings
from dsh.tools_jsonschema._errors import OutputSchemaError, StructuredValueError
from dsh.tools_jsonschema._lowering import WRAPPER_KEY, lowered, with_object_root
from dsh.tools_jsonschema._plain import is_array, is_object
from dsh.tools_jsonschema._quote import Segment, clipped, path_text, shown_as_json
from dsh.tools_jsonschema._subset import StructuredOutputSchema, assert_supported_output_schema

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic.json_schema import GenerateJsonSchema

T = TypeVar("T")

_MOST_TYPES: Final = 256
_NOTHING: Final = object()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """What is worked out once per type."""

    adapter: TypeAdapter[Any]
    schema: StructuredOutputSchema
    is_wrapped: bool


def output_schema_from(output_type: object, /) -> StructuredOutputSchema:
    """Return the schema of *output_type*: a model, dataclass, TypedDict or any annotation.

    A type that is no JSON object is wrapped as ``{"value": ...}``; `parse_structured` undoes it.
    The schema is the caller's to change. Types are described as pydantic validates them, by alias.

    Raises:
        OutputSchemaError: The type cannot be described in the subset (a recursive type, a union
            of objects, a callable, ...); each violation has the field's path.
        TypeError: A dict was given, which is a schema already, or text, which is never run.
    """
    return copy.deepcopy(_shape(output_type).schema)


@overload
def parse_structured(output_type: type[T], value: object, /) -> T: ...
@overload
def parse_structured(output_type: object, value: object, /) -> Any: ...
def parse_structured(output_type: object, value: object, /) -> Any:
    """Return JSON data as an instance of *output_type*, unwrapped where its schema wraps.

    Asks the type only, as its own configuration says (a field may coerce, an extra key may be
    ignored); `validate_structured_value` is what judges by the schema. *value* is only read. An
    exception of a validator of the type that pydantic does not take for a refusal passes through.

    Raises:
        StructuredValueError: The type refuses *value*; each violation has the value's path.
        OutputSchemaError: The type cannot be described in the subset.
    """
    shape = _shape(output_type)
    findings = data_findings(value, "value")
    if findings:
        raise StructuredValueError(findings)
    above: tuple[Segment, ...] = ()
    if shape.is_wrapped:
        value, above = _unwrapped(value), (WRAPPER_KEY,)
    from pydantic import ValidationError  # loaded by _shape

    try:
        return shape.adapter.validate_json(json.dumps(value))
    except ValidationError as error:
        raise StructuredValueError(_violations(error, value, above)) from error


def _unwrapped(value: object) -> object:
    if is_object(value) and value.keys() == {WRAPPER_KEY}:
        return value[WRAPPER_KEY]
    raise StructuredValueError(
        [f"value: must be an object with the one key {shown_as_json(WRAPPER_KEY)}"]
    )


def _violations(error: ValidationError, value: object, above: tuple[Segment, ...]) -> list[str]:
    texts: list[str] = []
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        place = [*above, *_place(problem["loc"], value)]
        if problem["type"] == "missing":
            place.append(problem["loc"][-1])
        texts.append(f"{path_text('value', place)}: {clipped(problem['msg'])}")
    return texts


def _place(location: Sequence[Segment], value: object) -> list[Segment]:
    """Return the part of pydantic's location that leads into the value.

    The rest names branches of unions and the like, or the key that is missing.
    """
    place: list[Segment] = []
    for segment in location:
        value = _below(value, segment)
        if value is _NOTHING:
            break
        place.append(segment)
    return place


def _below(value: object, segment: Segment) -> object:
    if is_object(value):
        return value.get(segment, _NOTHING)
    if is_array(value) and isinstance(segment, int) and segment < len(value):
        return value[segment]
    return _NOTHING


def _shape(output_type: object) -> _Shape:
    if is_object(output_type):  # pydantic would take it for a schema of its own
        raise TypeError("wanted a type or an annotation, got a dict; a schema needs no conversion")
    if isinstance(output_type, str):  # pydantic would run it as Python
        raise TypeError("wanted a type or an annotation, got text; read a schema with json.loads")
    try:
        hash(output_type)
    except TypeError:  # an annotation with unhashable metadata
        return _described(output_type)
    return _remembered(output_type)


def _described(output_type: Any) -> _Shape:
    """Describe a type, or refuse it with the paths of what does not fit."""
    from pydantic import TypeAdapter  # costs 140 ms: only who describes types pays
    from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output_type)
        described = adapter.json_schema(schema_generator=_generator())
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise OutputSchemaError([f"schema: {clipped(str(error).partition(chr(10))[0])}"]) from error
    schema, is_wrapped = with_object_root(lowered(described))
    assert_supported_output_schema(schema)
    return _Shape(adapter=adapter, schema=schema, is_wrapped=is_wrapped)


_remembered = lru_cache(maxsize=_MOST_TYPES)(_described)


@cache
def _generator() -> type[GenerateJsonSchema]:
    """Return pydantic's generator, made to say where a type has no JSON schema."""
    from pydantic.json_schema import GenerateJsonSchema  # see _described

    class _Generator(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 -- pydantic's own shape

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            """Describe it by a type that the subset refuses, so that the refusal has a path."""
            return {"type": str(schema.get("type", error_info))}

    return _Generator
