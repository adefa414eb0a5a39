"""JSON values as data: checked whole, copied and frozen on the way in.

What is JSON here: ``None``, ``bool``, ``int``, ``float``, ``str``, lists and tuples, dicts and
mapping proxies with string keys; nothing that would come back changed from a file. -0.0 and big
integers are data. NaN, infinities, subclasses, cycles and anything else are refused.
"""

import math
from collections.abc import Iterable, Mapping
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


def freeze_json(value: object, *, at: str = "value") -> object:
    """A deep, immutable copy of *value*: mapping proxies and tuples all the way down.

    Later changes to *value* do not reach the copy. It never calls a method of a foreign object.

    Args:
      value: what should be JSON.
      at: how messages call it.

    Raises:
      JsonValueError: it is not JSON; the message names the first place.
    """
    try:
        return _frozen(value, set())
    except _Refusal as refusal:
        raise JsonValueError(at + "".join(reversed(refusal.steps)), refusal.problem) from None
    except RecursionError:  # at ``MAX_DEPTH`` calls, of a caller that is deep itself
        raise JsonValueError(at, "nests deeper than the stack its caller has left") from None


@final
class _Refusal(Exception):  # noqa: N818 - a `JsonValueError` once it is known where
    """Why a value is not JSON; ``steps`` lead to the place, the last one first."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.steps: list[str] = []


def _frozen(value: object, on_path: set[int]) -> object:
    """Copy *value*; the containers around it have the ids *on_path*."""
    kind = type(value)
    if kind is str:
        return value
    if kind not in _OBJECTS and kind not in _LISTS:
        if (problem := _scalar_problem(value)) is not None:
            raise _Refusal(problem)
        return value
    if id(value) in on_path:
        raise _Refusal("contains itself")
    if len(on_path) == MAX_DEPTH:
        raise _Refusal(f"nests deeper than {MAX_DEPTH} levels")
    on_path.add(id(value))
    copy = _frozen_object(value, on_path) if kind in _OBJECTS else _frozen_list(value, on_path)
    on_path.discard(id(value))
    return copy


def _frozen_object(value: object, on_path: set[int]) -> MappingProxyType[str, object]:
    items: dict[str, object] = {}
    for key, item in cast(dict[str, object], value).items():
        if type(key) is not str:
            raise _Refusal(f"a key is a {type(key).__name__}, not a str")
        try:
            items[key] = _frozen(item, on_path)
        except _Refusal as refusal:
            refusal.steps.append(f".{key}")
            raise
    return MappingProxyType(items)


def _frozen_list(value: object, on_path: set[int]) -> tuple[object, ...]:
    items: list[object] = []
    for index, item in enumerate(cast(Iterable[object], value)):
        try:
            items.append(_frozen(item, on_path))
        except _Refusal as refusal:
            refusal.steps.append(f"[{index}]")
            raise
    return tuple(items)


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
