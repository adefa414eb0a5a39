"""Faults to plant, to see that a sweep bites: each breaks one rule of cancellation.

A sweep that finds nothing may be looking at nothing. Plant a fault around it and see it found::

    with faults.unshielded():
        assert sweep(scenario).failures

``unshielded``, ``checkpoint_after_start`` and ``leaked_tokens`` break trio for everybody; the
others break one function, named as ``monkeypatch.setattr`` names it: *owner*, a class or a module,
and *name*. All are undone at the end of the block.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from math import inf
from typing import TypeAlias, cast

import trio

__all__ = [
    "checkpoint_after_start",
    "delayed",
    "leaked_tokens",
    "raising",
    "retried",
    "skipped",
    "swallowed",
    "unshielded",
]

_Function: TypeAlias = Callable[..., object]
_AsyncFunction: TypeAlias = Callable[..., Awaitable[object]]


@contextmanager
def _replaced(owner: object, name: str, value: object) -> Generator[None]:
    before = vars(owner)[name]  # as it is defined, not as it binds
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _defined(owner: object, name: str) -> _Function:
    return cast(_Function, vars(owner)[name])


def _cancelled() -> bool:
    return trio.current_effective_deadline() == -inf


@contextmanager
def unshielded() -> Generator[None]:
    """No shield holds: a clean-up that awaits is torn by the cancellation it cleans up after."""

    def read(scope: trio.CancelScope) -> bool:
        return False

    def write(scope: trio.CancelScope, value: bool) -> None:
        pass

    with _replaced(trio.CancelScope, "shield", property(read, write)):
        yield


@contextmanager
def checkpoint_after_start() -> Generator[None]:
    """``nursery.start`` takes a checkpoint once it has its value: a cancel there loses a handle."""
    start = cast(_AsyncFunction, _defined(trio.Nursery, "start"))

    async def broken(*args: object, **kwargs: object) -> object:
        value = await start(*args, **kwargs)
        await trio.lowlevel.checkpoint()
        return value

    with _replaced(trio.Nursery, "start", broken):
        yield


@contextmanager
def leaked_tokens() -> Generator[None]:
    """A cancelled borrower of a ``CapacityLimiter`` does not give its token back."""
    release = _defined(trio.CapacityLimiter, "release_on_behalf_of")

    def broken(limiter: trio.CapacityLimiter, borrower: object) -> None:
        if not _cancelled():
            release(limiter, borrower)

    with _replaced(trio.CapacityLimiter, "release_on_behalf_of", broken):
        yield


@contextmanager
def swallowed(owner: object, name: str) -> Generator[None]:
    """The async function ends its cancellation as if it had returned ``None``."""
    function = cast(_AsyncFunction, _defined(owner, name))

    async def broken(*args: object, **kwargs: object) -> object:
        try:
            return await function(*args, **kwargs)
        except BaseException:  # the fault itself
            if _cancelled():
                return None
            raise

    with _replaced(owner, name, broken):
        yield


@contextmanager
def retried(owner: object, name: str) -> Generator[None]:
    """The async function takes a cancellation for a failure to try again: it never ends."""
    function = cast(_AsyncFunction, _defined(owner, name))

    async def broken(*args: object, **kwargs: object) -> object:
        while True:
            try:
                return await function(*args, **kwargs)
            except BaseException as exc:  # the fault itself
                if not isinstance(exc, trio.Cancelled):
                    raise

    with _replaced(owner, name, broken):
        yield


@contextmanager
def skipped(
    owner: object, name: str, *, when: Callable[..., bool] = lambda *args, **kwargs: True
) -> Generator[None]:
    """A cancelled task does not call the function: a step left open, a result thrown away.

    *when* gets the call's arguments and narrows the fault down; an async function stays one.
    """
    function = _defined(owner, name)

    def skips(*args: object, **kwargs: object) -> bool:
        return _cancelled() and when(*args, **kwargs)

    async def broken_async(*args: object, **kwargs: object) -> object:
        if skips(*args, **kwargs):
            return None
        return await cast(_AsyncFunction, function)(*args, **kwargs)

    def broken(*args: object, **kwargs: object) -> object:
        return None if skips(*args, **kwargs) else function(*args, **kwargs)

    with _replaced(owner, name, broken_async if iscoroutinefunction(function) else broken):
        yield


@contextmanager
def delayed(owner: object, name: str) -> Generator[None]:
    """The plain function runs soon after it was called: an announcement that comes too late."""
    function = _defined(owner, name)

    def broken(*args: object) -> None:
        trio.lowlevel.current_trio_token().run_sync_soon(function, *args)

    with _replaced(owner, name, broken):
        yield


@contextmanager
def raising(owner: object, name: str, error: type[Exception] = OSError) -> Generator[None]:
    """A cancelled task's call of the function raises: inside a nursery, so it comes in a group."""
    function = _defined(owner, name)

    def broken(*args: object, **kwargs: object) -> object:
        if _cancelled():
            raise error(f"planted in {name}")
        return function(*args, **kwargs)

    with _replaced(owner, name, broken):
        yield
