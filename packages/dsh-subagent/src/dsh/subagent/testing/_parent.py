"""A parent and nothing else, for tests of backends and of hosts."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar, final

import trio

from dsh.agent import AgentId, Hooks, unwrapped
from dsh.subagent._errors import ParentDisposedError
from dsh.subagent._parent import DelegatingParent

__all__ = ["ScriptedParent"]

E = TypeVar("E")


@final
class ScriptedParent:
    """The least that can delegate: ``async with ScriptedParent() as parent``.

    Leaving the block ends it and everything below it, and lets an error out bare where there is
    only one. ``id``, ``cwd`` and ``depth`` are what it was given. ``events`` is all that was
    dispatched to it, in order; ``hooks`` hears the same. ``adopted`` are the scopes it cancels when
    it begins to end, which is when it is ``disposed``.
    """

    def __init__(self, *, id: str = "parent", cwd: str | None = None, depth: int = 0) -> None:
        self.id = AgentId(id)
        self.cwd = cwd
        self.depth = depth
        self.hooks = Hooks()
        self.events: list[object] = []
        self.adopted: set[trio.CancelScope] = set()
        self.disposed = False
        self._manager: AbstractAsyncContextManager[trio.Nursery] | None = None
        self._nursery: trio.Nursery | None = None

    @property
    def nursery(self) -> trio.Nursery:
        """Where its children live."""
        if self._nursery is None:
            raise RuntimeError(f"{self!r} is not open: use it in `async with`")
        return self._nursery

    def dispatch(self, event: object) -> None:
        """Write *event* down and tell the hooks."""
        self.events.append(event)
        self.hooks.dispatch(event)

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """See `DelegatingParent.adopt`."""
        if self.disposed:
            raise ParentDisposedError(self.id)
        self.adopted.add(cancel_scope)
        return lambda: self.adopted.discard(cancel_scope)

    def dispose(self) -> None:
        """Begin to end: take no more children and cancel those there are."""
        self.disposed = True
        for scope in tuple(self.adopted):
            scope.cancel("the parent ends")
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel("the parent ends")

    def heard(self, kind: type[E]) -> list[E]:
        """The events of that class, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    async def __aenter__(self) -> "ScriptedParent":
        self._manager = trio.open_nursery()
        self._nursery = await self._manager.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self.dispose()
        assert self._manager is not None
        try:
            return await self._manager.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            bare = unwrapped(group)
            if bare is error:
                return False
            if bare is group:
                raise
        raise bare

    def __repr__(self) -> str:
        state = "disposed" if self.disposed else "open" if self._nursery else "not open"
        return f"<ScriptedParent {self.id!r}: {state}>"


if TYPE_CHECKING:
    _: type[DelegatingParent] = ScriptedParent
