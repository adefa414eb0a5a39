"""The table of the subset: which keyword is legal on which type, and what its value must be.

A keyword that is not in this module is refused, which is what lets the package say that
everything accepted is enforced. Keywords that hold schemas (`properties`, `items`, ...) are
walked by `_subset`; here only their place is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from dsh.tools_jsonschema._data import key_problem, scalar_problem
from dsh.tools_jsonschema._formats import FORMATS
from dsh.tools_jsonschema._pattern import pattern_problem
from dsh.tools_jsonschema._plain import is_array, is_object, is_string
from dsh.tools_jsonschema._quote import Segment, listed, shown_as_json

JSON_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
SCALAR_TYPES: Final = frozenset(JSON_TYPES) - {"object", "array"}
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_NUMBERS = frozenset({"number", "integer"})
_STRINGS = frozenset({"string"})
_ARRAYS = frozenset({"array"})
_OBJECTS = frozenset({"object"})

DATA_KEYWORDS: Final = ("default", "examples")
ANNOTATIONS: Final = ("title", "description", *DATA_KEYWORDS)
"""Legal on every node; they constrain nothing."""

CONSTRAINTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "enum": SCALAR_TYPES,
        "const": SCALAR_TYPES,
        "minimum": _NUMBERS,
        "maximum": _NUMBERS,
        "exclusiveMinimum": _NUMBERS,
        "exclusiveMaximum": _NUMBERS,
        "multipleOf": _NUMBERS,
        "minLength": _STRINGS,
        "maxLength": _STRINGS,
        "pattern": _STRINGS,
        "format": _STRINGS,
        "minItems": _ARRAYS,
        "maxItems": _ARRAYS,
        "uniqueItems": _ARRAYS,
        "prefixItems": _ARRAYS,
        "items": _ARRAYS,
        "required": _OBJECTS,
        "properties": _OBJECTS,
        "additionalProperties": _OBJECTS,
    }
)
"""The constraining keywords, each with the types it is legal on, in the order they are judged."""

Problem: TypeAlias = tuple[tuple[Segment, ...], str]
"""Where below the keyword something is wrong, and what."""

Check: TypeAlias = Callable[[object], Iterator[Problem]]


def _a_number(value: object) -> str | None:
    if type(value) is int or type(value) is float:
        return scalar_problem(value)
    return f"must be a number, not {shown_as_json(value)}"


def _check_number(value: object) -> Iterator[Problem]:
    problem = _a_number(value)
    if problem is not None:
        yield (), problem


def _check_factor(value: object) -> Iterator[Problem]:
    problem = _a_number(value)
    if problem is not None:
        yield (), problem
    elif isinstance(value, int | float) and value <= 0:
        yield (), f"must be greater than 0, not {shown_as_json(value)}"


def _check_count(value: object) -> Iterator[Problem]:
    whole = type(value) is int or (type(value) is float and value.is_integer())
    if not whole or (isinstance(value, int | float) and value < 0):
        yield (), f"must be a whole number, 0 or more, not {shown_as_json(value)}"
    elif (problem := scalar_problem(value)) is not None:
        yield (), problem


def _check_flag(value: object) -> Iterator[Problem]:
    if type(value) is not bool:
        yield (), f"must be true or false, not {shown_as_json(value)}"


def _check_text(value: object) -> Iterator[Problem]:
    if not is_string(value):
        yield (), f"must be a string, not {shown_as_json(value)}"
    elif (problem := scalar_problem(value)) is not None:
        yield (), problem


def _check_scalar(value: object) -> Iterator[Problem]:
    if is_array(value) or is_object(value):
        yield (), f"must be a string, a number, a boolean or null, not {shown_as_json(value)}"
    elif (problem := scalar_problem(value)) is not None:
        yield (), problem


def _check_scalars(value: object) -> Iterator[Problem]:
    if not is_array(value) or not value:
        yield (), f"must be a list of at least one JSON scalar, not {shown_as_json(value)}"
        return
    for index, entry in enumerate(list(value)):
        for _, problem in _check_scalar(entry):
            yield (index,), problem


def _check_pattern(value: object) -> Iterator[Problem]:
    ill_formed = list(_check_text(value))
    yield from ill_formed
    if is_string(value) and not ill_formed and (problem := pattern_problem(value)) is not None:
        yield (), problem


def _check_format(value: object) -> Iterator[Problem]:
    if not is_string(value) or value not in FORMATS:
        yield (), f"must be one of {listed(FORMATS)}, not {shown_as_json(value)}"


def _check_dialect(value: object) -> Iterator[Problem]:
    if not is_string(value) or value.removesuffix("#") != DIALECT:
        yield (), f"must be {shown_as_json(DIALECT)}, not {shown_as_json(value)}"


VALUE_CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "$schema": _check_dialect,
        "title": _check_text,
        "description": _check_text,
        "enum": _check_scalars,
        "const": _check_scalar,
        "minimum": _check_number,
        "maximum": _check_number,
        "exclusiveMinimum": _check_number,
        "exclusiveMaximum": _check_number,
        "multipleOf": _check_factor,
        "minLength": _check_count,
        "maxLength": _check_count,
        "pattern": _check_pattern,
        "format": _check_format,
        "minItems": _check_count,
        "maxItems": _check_count,
        "uniqueItems": _check_flag,
    }
)
"""What is wrong with a keyword's value, for the keywords whose value is no schema."""


def accepted_on(kind: str) -> list[str]:
    """Return the constraining keywords legal on a type, in the order of the table."""
    return [keyword for keyword, types in CONSTRAINTS.items() if kind in types]


def required_problems(names: object, declared: object) -> Iterator[Problem]:
    """Report what is wrong with `required`: every name must be a declared property of the node."""
    if not is_array(names):
        yield (), f"must be a list of property names, not {shown_as_json(names)}"
        return
    own = {key for key in declared if is_string(key)} if is_object(declared) else set[str]()
    seen: set[str] = set()
    for index, name in enumerate(list(names)):
        if not is_string(name):
            yield (index,), f"must be a property name, not {shown_as_json(name)}"
        elif (problem := key_problem(name)) is not None:
            yield (index,), problem
        elif name not in own:
            yield (index,), f"names {shown_as_json(name)}, which is not among the node's properties"
        elif name in seen:
            yield (index,), f"names {shown_as_json(name)} a second time"
        else:
            seen.add(name)
