"""The first difference between a request and the recorded one, in words; pure."""

from typing import Final, cast

from dsh.agent import write_shape
from dsh.llm_replay._recording import Asked

__all__ = ["difference"]

SHOWN: Final = 120
"""How many characters of a value are shown, beginning a little before the difference."""

ABSENT: Final = object()


def difference(recorded: Asked, asked: Asked) -> str | None:
    """Where *asked* first differs from *recorded* and how, or ``None`` where it does not."""
    if recorded == asked:
        return None
    return _first("", _plain(recorded), _plain(asked))


def _plain(asked: Asked) -> dict[str, object]:
    rest = cast("dict[str, object]", write_shape(asked.rest))
    return {**rest, "messages": write_shape(asked.messages)}


def _first(path: str, recorded: object, asked: object) -> str | None:
    if recorded == asked and type(recorded) is type(asked):
        return None
    one, two = _items(path, recorded), _items(path, asked)
    if one is None or two is None or type(recorded) is not type(asked):
        return f"{path}: recorded {_shown(recorded, asked)}, asked {_shown(asked, recorded)}"
    found = (_first(at, one.get(at, ABSENT), two.get(at, ABSENT)) for at in {**one, **two})
    return next((each for each in found if each is not None), None)


def _items(path: str, value: object) -> dict[str, object] | None:
    """What a JSON object or list has, by the path to it; ``None`` for anything else."""
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        return {f"{path}.{name}".removeprefix("."): item for name, item in named.items()}
    if isinstance(value, list):
        return {f"{path}[{n}]": item for n, item in enumerate(cast("list[object]", value))}
    return None


def _shown(value: object, other: object) -> str:
    if value is ABSENT:
        return "nothing"
    if not isinstance(value, str) or not isinstance(other, str):
        return repr(value)[:SHOWN]
    pairs = enumerate(zip(value, other, strict=False))
    common = next((i for i, (a, b) in pairs if a != b), min(len(value), len(other)))
    start = max(common - 20, 0)
    end = start + SHOWN
    return f"{'…' if start else ''}{value[start:end]!r}{'…' if end < len(value) else ''}"
