"""JSON values as data: checked whole, copied and frozen on the way in.

What is JSON here: ``None``, ``bool``, ``int``, ``float``, ``str``, lists and tuples, dicts and
mapping proxies with string keys; nothing that would come back changed from a file. -0.0 and big
integers are data. NaN, infinities, subclasses, cycles and anything else are refused.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, cast, final

from dsh.agent._errors import AgentError

__all__ = ["MAX_DEPTH", "NOTHING", "JsonValueError", "freeze_json", "thaw_json"]

MAX_DEPTH: Final = 200
"""How deep a value may nest: far below where a JSON parser gives up."""

NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
"""The frozen empty object."""

_TOO_BIG: Final = 10**4300
"""Python reads integers back up to 4,300 digits (``sys.get_int_max_str_digits``)."""

_LISTS: Final = frozenset({list, tuple})
_OBJECTS: Final = frozenset({dict, MappingProxyType})


class JsonValueError(AgentError):
    """A value is not JSON; ``path`` says where (``value.rows[2].size``)."""

    code = "NOT_JSON"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


@final
@dataclass(slots=True, eq=False)
class _Open:
    """A container whose items are being copied."""

    source: object
    items: Iterator[tuple[object, object]]
    keys: list[str] | None
    values: list[object]
    key: object = None

    def frozen(self) -> object:
        if self.keys is None:
            return tuple(self.values)
        return MappingProxyType(dict(zip(self.keys, self.values, strict=True)))


def freeze_json(value: object, *, at: str = "value") -> object:
    """A deep, immutable copy of *value*: mapping proxies and tuples all the way down.

    Later changes to *value* do not reach the copy. Iterative, so that no value can exhaust the
    stack; it never calls a method of a foreign object.

    Args:
      value: what should be JSON.
      at: how messages call it.

    Raises:
      JsonValueError: it is not JSON; the message names the first place.
    """
    if (problem := _scalar_problem(value)) is None:
        return value
    if (root := _opened(value)) is None:
        raise JsonValueError(at, problem)
    pending = [root]
    on_path = {id(value)}
    while True:
        top = pending[-1]
        child = _advance(top, pending, at)
        if child is not None:
            if id(child.source) in on_path:
                raise JsonValueError(_path(at, pending), "contains itself")
            if len(pending) == MAX_DEPTH:
                raise JsonValueError(_path(at, pending), f"nests deeper than {MAX_DEPTH} levels")
            on_path.add(id(child.source))
            pending.append(child)
            continue
        pending.pop()
        on_path.discard(id(top.source))
        if not pending:
            return top.frozen()
        pending[-1].values.append(top.frozen())


def _advance(top: _Open, pending: list[_Open], at: str) -> _Open | None:
    """Copy scalars until a container comes, which is returned, or nothing is left."""
    for key, item in top.items:
        top.key = key
        if top.keys is not None:
            if not isinstance(key, str) or type(key) is not str:
                wrong = f"a key is a {type(key).__name__}, not a str"
                raise JsonValueError(_path(at, pending[:-1]), wrong)
            top.keys.append(key)
        if type(item) is str or (problem := _scalar_problem(item)) is None:
            top.values.append(item)
        elif (child := _opened(item)) is not None:
            return child
        else:
            raise JsonValueError(_path(at, pending), problem)
    return None


def _scalar_problem(value: object) -> str | None:
    """Why *value* is no JSON scalar, or ``None``; types are compared exactly."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return None
    if kind is int:
        in_range = -_TOO_BIG < cast(int, value) < _TOO_BIG
        return None if in_range else "is an integer of more than 4,300 digits"
    if kind is float:
        return None if math.isfinite(cast(float, value)) else f"{value} is not JSON"
    return f"a {kind.__name__} is not JSON"


def _opened(value: object) -> _Open | None:
    kind = type(value)
    if kind in _LISTS:
        items = cast(Iterable[object], value)
        return _Open(source=value, items=iter(enumerate(items)), keys=None, values=[])
    if kind in _OBJECTS:
        pairs = cast(dict[object, object], value).items()
        return _Open(source=value, items=iter(pairs), keys=[], values=[])
    return None


def _path(at: str, pending: Iterable[_Open]) -> str:
    steps = (f"[{each.key}]" if each.keys is None else f".{each.key}" for each in pending)
    return at + "".join(steps)


def thaw_json(value: object) -> object:
    """A deep copy of a frozen value in lists and dicts, as ``json.dumps`` and validators like it.

    Meant for what ``freeze_json`` returned, and so for at most ``MAX_DEPTH`` levels.
    """
    if type(value) in _LISTS:
        return [thaw_json(item) for item in cast(Iterable[object], value)]
    if type(value) in _OBJECTS:
        pairs = cast(dict[str, object], value).items()
        return {key: thaw_json(item) for key, item in pairs}
    return value
