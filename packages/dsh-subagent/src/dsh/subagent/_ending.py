"""Why `serve` raised, read from what left it. Pure: no task, no scope, nothing is done here.

A cancellation rarely leaves a backend alone: nurseries group it with what clean-up raised, and a
clean-up that raises replaces it. So the whole tree is read, group members and ``__context__``
alike. A nursery cancels too, when a child of it fails; that is no cancellation from outside,
unless nothing but `trio.Cancelled` left ``serve``, since a nursery keeps its own to itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, final

import trio

from dsh.agent import unwrapped

__all__ = ["Cancellation", "Ending", "Failure", "Interruption", "ending_of"]

_INTERRUPTS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cancellation:
    """The request's scope did it, or the parent's end."""

    stop_reason: Literal["aborted", "timeout"]
    detail: str
    passing: BaseException | None
    """The `trio.Cancelled` in it, which whoever catches this must let go on."""
    error: BaseException | None
    """What the clean-up raised beside it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Python itself is to stop: ``KeyboardInterrupt`` and its like."""

    passing: BaseException
    error: BaseException | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The backend has a bug, or its transport failed."""

    error: BaseException
    passing: BaseException | None


Ending: TypeAlias = Cancellation | Interruption | Failure


def ending_of(raised: BaseException, *, cancelled: bool, deadline_passed: bool) -> Ending:
    """Read what *raised* means.

    ``cancelled`` says whether the request's scope, or anything around it, is cancelled;
    ``deadline_passed`` whether the deadline of the scope lies in the past.
    """
    interrupts, rest = _split(raised, _INTERRUPTS)
    if interrupts is not None:
        return Interruption(passing=interrupts, error=_split(rest, trio.Cancelled)[1])
    passing, error = _split(rest, trio.Cancelled)
    source = _source(raised, bare=error is None) if cancelled else None
    if source is None:
        # A `Cancelled` that nobody's cancellation explains is part of the bug, and goes no further.
        left = passing if cancelled else None
        return Failure(error=raised if error is None else error, passing=left)
    timeout = deadline_passed and any(each.source == "deadline" for each in _cancels(raised))
    return Cancellation(
        stop_reason="timeout" if timeout else "aborted",
        detail="the deadline passed" if timeout else source.reason or f"cancelled: {source.source}",
        passing=raised if error is None else passing,
        error=error,
    )


def _split(
    error: BaseException | None, kinds: type[BaseException] | tuple[type[BaseException], ...]
) -> tuple[BaseException | None, BaseException | None]:
    """Return the part of *error* that is of these kinds, and the rest."""
    if not isinstance(error, BaseExceptionGroup):
        return (error, None) if isinstance(error, kinds) else (None, error)
    group = cast("BaseExceptionGroup[BaseException]", error)
    found, rest = group.split(kinds)
    if found is None:
        return None, unwrapped(group)  # not `rest`: a split copies, and a cause keeps its identity
    return unwrapped(found), None if rest is None else unwrapped(rest)


def _members(error: BaseException) -> tuple[BaseException, ...]:
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).exceptions
    return ()


def _source(raised: BaseException, *, bare: bool) -> trio.Cancelled | None:
    """Return the cancellation that came from outside, or ``None`` where none did."""
    inner: trio.Cancelled | None = None
    for each in _cancels(raised):
        if each.source != "nursery":
            return each
        inner = inner or each
    return inner if bare else None


def _cancels(raised: BaseException) -> Iterator[trio.Cancelled]:
    pending, seen = [raised], {id(raised)}
    while pending:
        error = pending.pop(0)
        if isinstance(error, trio.Cancelled):
            yield error
        for each in (*_members(error), error.__context__):
            if each is not None and id(each) not in seen:
                seen.add(id(each))
                pending.append(each)
