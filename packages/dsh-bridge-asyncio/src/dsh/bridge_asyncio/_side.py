"""Trio's main task: compose, serve asyncio's side, close. Trio's side.

Next: `_bridge.py`, whom it serves.
"""

import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TypeAlias, cast, final

import trio

from dsh.bridge_asyncio._holder import hold
from dsh.bridge_asyncio._line import Line
from dsh.bridge_asyncio._parent import open_root
from dsh.bridge_asyncio._record import RunRecord
from dsh.subagent import DelegatingParent, SubagentService

__all__ = ["Compose", "TrioSide"]

Compose: TypeAlias = Callable[
    [SubagentService], AbstractAsyncContextManager[DelegatingParent | None]
]
"""Sets trio's side up and tears it down, in trio: registers backends, opens a host.

It yields the parent that the bridge delegates for, or ``None`` for one of the bridge's own.
"""


@final
class TrioSide:
    """Everything that lives in trio, below `main`; the other methods are called in trio as well."""

    __slots__ = (
        "_close_asked",
        "_closing",
        "_compose",
        "_cwd",
        "_line",
        "_nursery",
        "_scope",
        "_subagents",
    )

    def __init__(self, compose: Compose, *, cwd: str | None, line: Line) -> None:
        self._compose, self._cwd, self._line = compose, cwd, line
        self._close_asked = False
        self._closing = trio.Event()
        self._scope = trio.CancelScope()
        self._subagents = SubagentService()
        # Invariant: it is set exactly while runs can be started.
        self._nursery: trio.Nursery | None = None

    async def main(self, ready: Callable[[DelegatingParent], object]) -> None:
        """Compose, call *ready* in asyncio's loop, serve until `close`, and end all of it.

        What the composition raises passes on, in the groups that nurseries make of it.
        """
        self._line.connect(trio.lowlevel.current_trio_token())
        if self._close_asked:  # pragma: no cover - only where trio starts later than we close
            return
        with self._scope:
            async with (
                self._composed() as given,
                self._parent(given) as parent,
                trio.open_nursery() as nursery,
            ):
                self._nursery = nursery
                self._line.call_asyncio(ready, parent)
                try:
                    await self._closing.wait()
                finally:
                    self._nursery = None
                nursery.cancel_scope.cancel("the bridge closes")

    def ask_to_close(self) -> None:
        """Begin to close; from asyncio's side, at any time."""
        self._close_asked = True
        self._line.call_trio(self._close)

    def accept(self, record: RunRecord) -> None:
        """Serve *record* in a task of its own, in the calling context.

        Where it is too late for that, the bridge tells it when trio's side has ended.
        """
        if self._nursery is not None:
            work = partial(hold, line=self._line, closing=self._closing)
            self._nursery.start_soon(work, record, self._subagents)

    def _close(self) -> None:
        self._closing.set()
        if self._nursery is None:
            self._scope.cancel("the bridge closes")  # while it still composes

    def _composed(self) -> AbstractAsyncContextManager[DelegatingParent | None]:
        composed = self._compose(self._subagents)
        if isinstance(cast("object", composed), AbstractAsyncContextManager):
            return composed
        if inspect.iscoroutine(composed):
            composed.close()
        raise TypeError(
            f"compose returned a {type(composed).__name__}; it must return an async context "
            "manager, as a generator under @contextlib.asynccontextmanager does"
        )

    def _parent(
        self, given: DelegatingParent | None
    ) -> AbstractAsyncContextManager[DelegatingParent]:
        return open_root(self._cwd) if given is None else nullcontext(given)
