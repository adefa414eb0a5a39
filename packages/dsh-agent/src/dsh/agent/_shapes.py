"""Frozen values to JSON and back, by their annotations.

One reader is built per annotation, once. A value is written with its defaults left out; blocks
of a union are told apart by their ``type``. What does not fit is refused with its path.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NewType,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from dsh.agent._errors import HarnessError
from dsh.agent._json import freeze_json, thaw_json
from dsh.agent._messages import (
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)

__all__ = ["ShapeError", "read_shape", "write_shape"]

_TAGS: Final[dict[type, str]] = {
    TextBlock: "text",
    ThinkingBlock: "thinking",
    ImageBlock: "image",
    ToolCallBlock: "tool_call",
    ToolResultBlock: "tool_result",
}

_Reader: TypeAlias = Callable[[object, str], object]
_Hint: TypeAlias = Any
"""An annotation at run time: a class, a generic alias, a union or a NewType; no common type."""

_SCALARS: Final[tuple[_Hint, ...]] = (str, int, bool, NoneType)


class ShapeError(ValueError):
    """Data does not have the shape of the class it should become; the message has the path."""


def write_shape(value: object, *, without: str | None = None) -> object:
    """*value* as lists and dicts, *without* one field of its outermost object."""
    if isinstance(value, tuple):
        return [write_shape(item) for item in cast(Iterable[object], value)]
    if not is_dataclass(value):
        return thaw_json(value)
    kind: type = type(value)
    data: dict[str, object] = {"type": _TAGS[kind]} if kind in _TAGS else {}
    for field, default in _written(kind):
        item: object = getattr(value, field)
        if field != without and (default is MISSING or item != default):
            data[field] = write_shape(item)
    return data


@cache
def _written(kind: type) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, _default(field)) for field in _fields(kind))


def _fields(kind: type) -> tuple[Field[object], ...]:
    assert is_dataclass(kind)
    return cast(tuple[Field[object], ...], fields(kind))


def _default(field: Field[object]) -> object:
    """What goes without saying; a moment is always said, though it has a default."""
    if field.default_factory is MISSING:
        return field.default
    made = field.default_factory()
    return MISSING if made else made


def read_shape(kind: type, data: object, path: str) -> object:
    """An instance of *kind*, a dataclass, from what ``write_shape`` made of one.

    Raises:
      ShapeError: *data* has another shape, or *kind* refuses it.
    """
    return _reader(kind)(data, path)


@cache
def _reader(hint: _Hint) -> _Reader:
    origin: _Hint = get_origin(hint)
    if hint in _SCALARS:
        return _read_scalar(hint)
    if hint is object or origin is Mapping:
        return _read_json if hint is object else _read_mapping
    if origin is Literal:
        return _read_literal(get_args(hint))
    if origin is tuple:
        return _read_tuple(_reader(get_args(hint)[0]))
    if origin is Union or origin is UnionType:
        return _read_union(get_args(hint))
    if is_dataclass(hint):
        return _read_object(cast(type, hint))
    if isinstance(hint, NewType):
        return _reader(hint.__supertype__)
    raise TypeError(f"no reader for {hint!r}")


def _read_scalar(kind: type) -> _Reader:
    def read(data: object, path: str) -> object:
        if type(data) is not kind:
            raise ShapeError(f"{path} is a {type(data).__name__}, not a {kind.__name__}")
        return data

    return read


def _read_json(data: object, path: str) -> object:
    return freeze_json(data, at=path)


def _read_mapping(data: object, path: str) -> object:
    if type(data) is not dict:
        raise ShapeError(f"{path} is a {type(data).__name__}, not an object")
    return freeze_json(cast(object, data), at=path)


def _read_literal(allowed: tuple[object, ...]) -> _Reader:
    def read(data: object, path: str) -> object:
        if data not in allowed:
            raise ShapeError(f"{path} is not one of {', '.join(map(repr, allowed))}")
        return data

    return read


def _read_tuple(item: _Reader) -> _Reader:
    def read(data: object, path: str) -> object:
        if type(data) is not list:
            raise ShapeError(f"{path} is a {type(data).__name__}, not a list")
        items = cast(list[object], data)
        return tuple(item(each, f"{path}[{index}]") for index, each in enumerate(items))

    return read


def _read_union(hints: tuple[_Hint, ...]) -> _Reader:
    tagged = {_TAGS[hint]: _reader(hint) for hint in hints if hint in _TAGS}
    if tagged:
        return _read_tagged(tagged)
    (inner,) = (_reader(hint) for hint in hints if hint is not NoneType)

    def read(data: object, path: str) -> object:
        return None if data is None else inner(data, path)

    return read


def _read_tagged(readers: dict[str, _Reader]) -> _Reader:
    def read(data: object, path: str) -> object:
        tag = cast(dict[str, object], data).get("type") if type(data) is dict else None
        reader = readers.get(tag) if isinstance(tag, str) else None
        if reader is None:
            raise ShapeError(f"{path} is no block of type {', '.join(readers)}")
        return reader(data, path)  # pyright: ignore[reportUnknownArgumentType] # narrowed away

    return read


def _read_object(kind: type) -> _Reader:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in _fields(kind)}
    tag = _TAGS.get(kind)

    def read(data: object, path: str) -> object:
        if type(data) is not dict:
            raise ShapeError(f"{path} is a {type(data).__name__}, not an object")
        values: dict[str, object] = {}
        for key, item in cast(dict[str, object], data).items():
            if key in readers:
                values[key] = readers[key](item, f"{path}.{key}")
            elif not (key == "type" and tag is not None):
                raise ShapeError(f"{path}.{key} is no field of {kind.__name__}")
        if tag is not None and cast(dict[str, object], data).get("type") != tag:
            raise ShapeError(f"{path}.type is not {tag!r}")
        try:
            return kind(**values)
        except (TypeError, HarnessError) as exc:
            raise ShapeError(f"{path}: {exc}") from exc

    return read
