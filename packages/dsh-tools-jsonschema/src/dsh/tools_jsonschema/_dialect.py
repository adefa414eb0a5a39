"""The dialect the judge speaks: draft 2020-12 of the `jsonschema` library, made total.

Four keywords are not the library's own: `pattern` matches under a time limit, `format` is always
enforced, `uniqueItems` takes linear time where the library's may take quadratic, and `multipleOf`
is exact where the library's raises because a number is too large for a float.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from dsh.tools_jsonschema._formats import FORMATS
from dsh.tools_jsonschema._pattern import match_problem
from dsh.tools_jsonschema._plain import is_array, is_object

if TYPE_CHECKING:
    from jsonschema import ValidationError

Judgement: TypeAlias = Callable[[Any, Any, Any, Any], "Iterator[ValidationError]"]
"""What the library calls for a keyword: (validator, keyword's value, instance, schema)."""


class Failure(Protocol):
    """The library's error as it arrives, everything set; its stubs say that less may be."""

    @property
    def validator(self) -> str:
        """The keyword that failed."""
        ...

    @property
    def validator_value(self) -> Any:
        """What the schema says under the keyword."""
        ...

    @property
    def instance(self) -> Any:
        """The part of the value that failed."""
        ...

    @property
    def schema(self) -> dict[str, Any]:
        """The node of the compiled schema that holds the keyword."""
        ...

    @property
    def message(self) -> str:
        """The problem, for the keywords judged here."""
        ...

    @property
    def context(self) -> Sequence[Failure]:
        """The errors of the branches, for `anyOf`."""
        ...

    @property
    def absolute_path(self) -> Sequence[str | int]:
        """Where in the whole value."""
        ...

    @property
    def relative_path(self) -> Sequence[str | int]:
        """Where below the place that a branch was applied to."""
        ...

    @property
    def schema_path(self) -> Sequence[str | int]:
        """Where in the schema, the branch first."""
        ...


class Judge(Protocol):
    """The library's validator, as much of it as is used."""

    def iter_errors(self, instance: Any) -> Iterator[Failure]:
        """Yield what is wrong with a value, in the order of the compiled schema."""
        ...


@cache
def dialect() -> Callable[[dict[str, Any]], Judge]:
    """Return the library's validator class for the subset, made when first needed."""
    from jsonschema import (
        Draft202012Validator,  # costs 100 ms: only who validates pays
        validators,
    )

    own: dict[str, Judgement] = {
        "pattern": _judgement(str, match_problem),
        "format": _judgement(str, _format_problem),
        "uniqueItems": _judgement(list, _duplicate_problem),
        "multipleOf": _judgement((int, float), _multiple_problem),
    }
    make: Callable[..., object] = validators.extend  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] -- untyped in its stub
    extended = make(Draft202012Validator, own)
    return cast("Callable[[dict[str, Any]], Judge]", extended)


def _judgement(
    kinds: type | tuple[type, ...], problem_of: Callable[[Any, Any], str | None]
) -> Judgement:
    """Make a keyword from what is wrong with a value of the types that it constrains."""
    from jsonschema import ValidationError  # see dialect

    def judge(_validator: Any, rule: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(value, kinds) and type(value) is not bool:
            problem = problem_of(rule, value)
            if problem is not None:
                yield ValidationError(problem)

    return judge


def _format_problem(name: str, text: str) -> str | None:
    return None if FORMATS[name](text) else "has another format"


def _multiple_problem(factor: float, number: float) -> str | None:
    """Judge as the library does: by float division for a float factor, exactly otherwise."""
    try:
        if isinstance(factor, float):
            quotient = number / factor
            whole = int(quotient) == quotient
        else:
            whole = not number % factor
    except OverflowError:
        whole = (Fraction(number) / Fraction(factor)).denominator == 1
    return None if whole else "is no multiple"


def _duplicate_problem(unique: bool, items: list[Any]) -> str | None:
    if not unique:
        return None
    first_places: dict[str, int] = {}
    for index, item in enumerate(items):
        first = first_places.setdefault(canonical_text(item), index)
        if first != index:
            return f"items {first} and {index} are equal"
    return None


def canonical_text(value: object) -> str:
    """Return one text for all JSON values equal to *value*: 1 and 1.0 are, 1 and true are not."""
    parts: list[str] = []
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):  # not JSON: a piece of finished text
            parts += item
        elif is_array(item):
            parts.append("[")
            pending.append(("]",))
            pending += reversed(item)
        elif is_object(item):
            parts.append("{")
            pending.append(("}",))
            for key in sorted(item, reverse=True):
                pending += (item[key], (json.dumps(key), ":"))
        else:
            parts += (_scalar_text(item), ",")
    return "".join(parts)


def _scalar_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and type(value) is not bool:
        return hex(value)
    return json.dumps(value)
