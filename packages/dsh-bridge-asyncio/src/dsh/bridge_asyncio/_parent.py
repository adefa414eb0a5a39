"""Who delegates for the asyncio application. Trio's side.

Next: `_side.py`, which opens it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, final

import trio

from dsh.agent import AgentId, Hooks
from dsh.bridge_asyncio._line import Line
from dsh.subagent import DelegatingParent, ParentDisposedError

__all__ = ["BridgeParent", "open_root"]


@final
class BridgeParent:
    """The parent of a bridge's requests; what its scope is told reaches `Bridge.on` as well.

    It stands for whatever the composition yielded, or for a root of the bridge's own. Asyncio's
    side puts it into requests and reads its ``id``, ``cwd`` and ``depth``; all else is the seam's.
    """

    __slots__ = ("_hooks", "_inner", "_line")

    def __init__(self, inner: DelegatingParent, *, line: Line, hooks: Hooks) -> None:
        self._inner, self._line, self._hooks = inner, line, hooks

    @property
    def id(self) -> AgentId:
        """See `DelegatingParent.id`."""
        return self._inner.id

    @property
    def cwd(self) -> str | None:
        """See `DelegatingParent.cwd`."""
        return self._inner.cwd

    @property
    def depth(self) -> int:
        """See `DelegatingParent.depth`."""
        return self._inner.depth

    @property
    def nursery(self) -> trio.Nursery:
        """See `DelegatingParent.nursery`."""
        return self._inner.nursery

    def dispatch(self, event: object) -> None:
        """Tell the parent it stands for, and asyncio's side if anybody there listens."""
        if self._hooks.hears(type(event)):
            self._line.call_asyncio(self._hooks.dispatch, event)
        self._inner.dispatch(event)

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """See `DelegatingParent.adopt`."""
        return self._inner.adopt(cancel_scope)


@final
class Root:
    """A parent that is nobody's child and nobody's agent."""

    __slots__ = ("_adopted", "_ending", "cwd", "depth", "id", "nursery")

    def __init__(self, nursery: trio.Nursery, cwd: str | None) -> None:
        self.id = AgentId("bridge")
        self.cwd = cwd
        self.depth = 0
        self.nursery = nursery
        self._adopted: set[trio.CancelScope] = set()
        self._ending = False

    def dispatch(self, event: object) -> None:
        """Nobody in trio listens here."""

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """See `DelegatingParent.adopt`."""
        if self._ending:
            raise ParentDisposedError(self.id)
        self._adopted.add(cancel_scope)
        return lambda: self._adopted.discard(cancel_scope)

    def end(self) -> None:
        """Begin to end: take no more children and cancel those there are."""
        self._ending = True
        for scope in (*self._adopted, self.nursery.cancel_scope):
            scope.cancel("the bridge ends")


@asynccontextmanager
async def open_root(cwd: str | None) -> AsyncGenerator[Root]:
    """A root with a nursery of its own; leaving ends it and everything below it."""
    async with trio.open_nursery() as nursery:
        root = Root(nursery, cwd)
        try:
            yield root
        finally:
            root.end()


if TYPE_CHECKING:
    _: type[DelegatingParent] = BridgeParent
    _root: type[DelegatingParent] = Root
