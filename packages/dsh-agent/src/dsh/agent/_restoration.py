"""Putting owner-final things back after every listener had its turn (B-SYS-09)."""

from collections.abc import Set
from typing import Protocol, TypeVar

__all__ = ["restored"]


class Named(Protocol):
    """A tool or a section."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


def restored(canonical: tuple[T, ...], changed: tuple[T, ...], *, final: Set[str]) -> tuple[T, ...]:
    """*changed* with everything of the names *final* exactly as it was in *canonical*.

    What was there is there once, with its definition, directly before the ordinary neighbour that
    followed it and is still there (at the end without one); what was not there is not. The order of
    the ordinary ones is the listeners' business; of several with one name the first one stays.
    """
    ordinary = {item.name: item for item in reversed(changed) if item.name not in final}
    waiting: list[T] = []
    before: dict[str, list[T]] = {}
    for item in canonical:
        if item.name in final:
            waiting.append(item)
        elif item.name in ordinary and waiting:
            before[item.name], waiting = waiting, []
    kept: list[T] = []
    for item in changed:
        if ordinary.pop(item.name, None) is not None:
            kept += [*before.pop(item.name, ()), item]
    return (*kept, *waiting)
