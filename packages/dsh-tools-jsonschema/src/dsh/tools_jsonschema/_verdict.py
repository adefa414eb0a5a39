"""From the library's errors to ours: one entry per problem, with its path and what would pass.

The library's own messages are never used: they show whole values as Python spells them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from dsh.tools_jsonschema._dialect import Failure
from dsh.tools_jsonschema._formats import FORMAT_EXAMPLES
from dsh.tools_jsonschema._quote import counted, listed, path_text, shown_as_json

_COMPARISONS: Final = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "greater than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}
_SIZES: Final = {
    "minLength": ("character", "at least"),
    "maxLength": ("character", "at most"),
    "minItems": ("item", "at least"),
    "maxItems": ("item", "at most"),
}
_MOST_ALTERNATIVES: Final = 5


def violation_texts(errors: Iterable[Failure]) -> Iterator[str]:
    """Yield one entry for every problem the errors stand for, in their order."""
    for error in _causes(errors):
        match error.validator:
            case "anyOf":
                yield from _alternatives(error)
            case "required":
                for name in error.validator_value:
                    if name not in error.instance:
                        yield f"{_path(error, name)}: is required but missing"
            case "additionalProperties":
                yield from _extras(error)
            case _:
                yield f"{_path(error)}: {_problem(error)}"


def _causes(errors: Iterable[Failure]) -> Iterator[Failure]:
    """Leave out what says nothing new: beside a wrong type, and `required` for a second name."""
    settled: set[tuple[object, ...]] = set()
    for error in errors:
        place = (id(error.schema), *error.absolute_path)
        if place in settled or (error.validator, *place) in settled:
            continue
        if error.validator == "type":
            settled.add(place)
        elif error.validator == "required":
            settled.add(("required", *place))
        yield error


def _extras(error: Failure) -> Iterator[str]:
    declared: dict[str, Any] = error.schema.get("properties", {})
    accepted = f"; accepted: {listed(declared)}" if declared else ""
    for name in error.instance:
        if name not in declared:
            yield f"{_path(error, name)}: is not an accepted key{accepted}"


def _alternatives(error: Failure) -> Iterator[str]:
    """Explain an `anyOf` by the branches whose type the value has; of the others by their types."""
    accepted: list[str] = []
    fitting: list[list[Failure]] = []
    for branch in _branches(error):
        types = _wrong_types(branch)
        if types is None:
            fitting.append(branch)
        else:
            accepted += types
    if not fitting:
        yield f"{_path(error)}: {_must_be(dict.fromkeys(accepted), error.instance)}"
    elif len(fitting) == 1:
        yield from violation_texts(fitting[0])
    else:
        problems = dict.fromkeys(_problem(branch[0]) for branch in fitting[:_MOST_ALTERNATIVES])
        yield f"{_path(error)}: {'; or '.join(problems)}"


def _branches(error: Failure) -> list[list[Failure]]:
    """Return the errors of each branch of an `anyOf`, every one of which has failed."""
    branches: dict[object, list[Failure]] = {}
    for cause in error.context:
        branches.setdefault(cause.schema_path[0], []).append(cause)
    return [list(_causes(branch)) for branch in branches.values()]


def _wrong_types(branch: list[Failure]) -> list[str] | None:
    """Return the types a branch accepts when the value has none of them."""
    first = branch[0]
    if first.validator == "type" and not first.relative_path:
        return _types(first)
    if first.validator != "anyOf" or first.relative_path:
        return None
    accepted: list[str] = []
    for inner in _branches(first):
        types = _wrong_types(inner)
        if types is None:
            return None
        accepted += types
    return accepted


def _problem(error: Failure) -> str:
    """Say what is wrong with one value under one keyword, its path left to the caller."""
    keyword, rule, value = error.validator, error.validator_value, error.instance
    shown = shown_as_json(value)
    match keyword:
        case "type":
            return _must_be(_types(error), value)
        case "enum":
            return f"must be one of {listed(rule)}, got {shown}"
        case "const":
            return f"must be {shown_as_json(rule)}, got {shown}"
        case "pattern":
            return (
                f"must match the pattern {shown_as_json(rule.pattern)}, but {shown} {error.message}"
            )
        case "format":
            return f"must be {FORMAT_EXAMPLES[rule]}, got {shown}"
        case "uniqueItems":
            return f"must have no two equal items, but {error.message}"
        case _ if keyword in _SIZES:
            noun, bound = _SIZES[keyword]
            return f"has {counted(len(value), noun)}, {bound} {shown_as_json(rule)} accepted"
        case _:
            return f"must be {_COMPARISONS[keyword]} {shown_as_json(rule)}, got {shown}"


def _types(error: Failure) -> list[str]:
    rule: list[str] | str = error.validator_value
    return [rule] if isinstance(rule, str) else rule


def _must_be(types: Iterable[str], value: object) -> str:
    return f"must be {' or '.join(types)}, got {shown_as_json(value)}"


def _path(error: Failure, *below: str) -> str:
    return path_text("value", [*error.absolute_path, *below])
