"""A function's parameters as the parameters of a tool: their schema, and their validation.

pydantic does both; it loads its parts when they are first used, so they are named, not imported.
Validation is its lax JSON mode: ``"5"`` is an integer where one is asked for
and ``"false"`` a boolean, because a model that is refused may leave the argument out and get the
default instead (B050); a string is never looked into for an object (B038). Unknown keys are
ignored, defaults are the function's own (B-TOOL-32).
"""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, Final, NotRequired, TypeAlias, cast, final, get_type_hints

import pydantic
from typing_extensions import TypedDict

from dsh.agent._tool import InvalidToolError, ToolArgsError, ToolExecution

__all__ = ["Signature"]

Arguments: TypeAlias = dict[str, Any]
"""Keyword arguments of a function known only at run time."""

_MOST_VIOLATIONS: Final = 20
_LONGEST_QUOTE: Final = 200


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """How arguments get from a model to one function."""

    schema: Mapping[str, object]
    execution: str | None
    """The parameter that takes the execution itself, which the model does not see."""
    _adapter: "pydantic.TypeAdapter[Arguments]"

    @classmethod
    def of(cls, function: Callable[..., object], *, name: str) -> "Signature":
        """The signature of *function*, whose parameters are all annotated.

        Raises:
          InvalidToolError: a parameter cannot be passed by name, lacks an annotation, or has one
            that pydantic has no JSON schema for.
        """
        fields: dict[str, object] = {}
        execution: str | None = None
        for parameter in inspect.signature(function).parameters.values():
            hint = _annotation(parameter, function, name)
            if hint is ToolExecution:
                execution = parameter.name
            else:
                fields[parameter.name] = _field(hint, parameter.default)
        make = cast(Callable[[str, dict[str, object]], type[Arguments]], TypedDict)
        shape = pydantic.with_config(pydantic.ConfigDict(extra="ignore"))(make(name, fields))
        try:
            adapter = pydantic.TypeAdapter(shape)
            schema = _untitled(adapter.json_schema())
        except pydantic.PydanticUserError as exc:
            raise InvalidToolError(name, f"has a parameter that is not JSON: {exc}") from exc
        return cls(schema=schema, execution=execution, _adapter=adapter)

    def keywords(self, execution: ToolExecution) -> Arguments:
        """The keyword arguments for one call.

        Raises:
          ToolArgsError: they do not fit; it lists what is wrong, and where.
        """
        try:
            keywords = self._adapter.validate_json(execution.text)
        except pydantic.ValidationError as exc:
            raise ToolArgsError(execution.name, _violations(exc)) from exc
        if self.execution is not None:
            keywords[self.execution] = execution
        return keywords


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """*schema* without the titles that pydantic makes of names: they only cost tokens."""
    for shape in (schema, *schema.get("$defs", {}).values()):
        for part in (shape, *shape.get("properties", {}).values()):
            part.pop("title", None)
    return schema


def _annotation(parameter: inspect.Parameter, function: Callable[..., object], name: str) -> object:
    """The annotation of *parameter*, evaluated; what *function* returns need not be known."""
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise InvalidToolError(
            name, f"has the parameter {parameter} that cannot be passed by its name"
        )
    if parameter.annotation is parameter.empty:
        raise InvalidToolError(name, f"needs an annotation of its parameter {parameter.name!r}")
    annotated = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    known = getattr(inspect.unwrap(function), "__globals__", None)
    try:
        return get_type_hints(annotated, known, include_extras=True)[parameter.name]
    except (NameError, AttributeError, SyntaxError, TypeError) as exc:
        problem = f"has an annotation of its parameter {parameter.name!r} that is none: {exc}"
        raise InvalidToolError(name, problem) from exc


def _field(hint: object, default: object) -> object:
    if default is inspect.Parameter.empty:
        return hint
    if default is None or isinstance(default, bool | int | float | str):
        shown = pydantic.Field(json_schema_extra={"default": default})
        return NotRequired[Annotated[hint, shown]]  # pyright: ignore[reportInvalidTypeForm]
    return NotRequired[hint]


def _violations(error: "pydantic.ValidationError") -> tuple[str, ...]:
    details = error.errors(include_url=False, include_context=False)
    listed = [
        f"{_where(each['loc'])}: {each['msg']}{_got(each['type'], each['input'])}"
        for each in details
    ]
    more = len(listed) - _MOST_VIOLATIONS
    return (*listed[:_MOST_VIOLATIONS], *((f"and {more} more",) if more > 0 else ()))


def _where(path: tuple[int | str, ...]) -> str:
    return ".".join(map(str, path)) or "arguments"


def _got(problem: str, value: object) -> str:
    is_scalar = value is None or isinstance(value, bool | int | float | str)
    return f", not {_quoted(value)}" if is_scalar and problem != "missing" else ""


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
