"""An immutable view over append-only lists, made in constant time."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Generic, TypeVar, final, overload

__all__ = ["Chain"]

T = TypeVar("T")


@final
class Chain(Sequence[T], Generic[T]):
    """The first ``n`` items of each of a few lists, one after the other.

    The lists may grow behind the view: it never shows more than it did when it was made. Whoever
    makes one must own the lists and only ever append to them.
    """

    __slots__ = ("_length", "_parts")

    def __init__(self, *parts: tuple[Sequence[T], int]) -> None:
        self._parts = parts
        self._length = parts[0][1] if len(parts) == 1 else sum(part[1] for part in parts)

    def followed_by(self, items: Sequence[T], length: int) -> "Chain[T]":
        """This view and then the first *length* of *items*."""
        return Chain(*self._parts, (items, length)) if length else self

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(islice(items, length) for items, length in self._parts)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._length)))
        position = index + self._length if index < 0 else index
        if 0 <= position < self._length:
            for items, length in self._parts:  # pragma: no branch - one of them holds it
                if position < length:
                    return items[position]
                position -= length
        raise IndexError(f"index {index} of a sequence of {self._length}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence):
            return tuple(self) == tuple(other)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Chain of {self._length}>"
