"""Asyncio's end of the line: from the start of trio to its end, and every run in between.

Next: `_side.py`, the other end.
"""

import asyncio
import contextvars
from functools import partial
from typing import TypeVar, final

import outcome

from dsh.agent import Hooks, unwrapped
from dsh.bridge_asyncio._carrier import Mode, carry
from dsh.bridge_asyncio._errors import BridgeClosedError, BridgeCrashedError, BridgeError
from dsh.bridge_asyncio._line import Line
from dsh.bridge_asyncio._parent import BridgeParent
from dsh.bridge_asyncio._record import RunRecord
from dsh.bridge_asyncio._run import BridgeRun
from dsh.bridge_asyncio._side import Compose, TrioSide
from dsh.bridge_asyncio._waiting import wait_through
from dsh.subagent import DelegatingParent, SubagentStartRequest

__all__ = ["Terminal"]

T = TypeVar("T")


@final
class Terminal:
    """Every method is called in asyncio's loop. `close` it once `launch` has returned."""

    def __init__(self, line: Line, compose: Compose, *, cwd: str | None) -> None:
        self.line = line
        self.hooks = Hooks()
        self.crash: BaseException | None = None
        """What killed trio's side; bare, where a nursery made a group of it."""
        self._side = TrioSide(compose, cwd=cwd, line=line)
        self._parent: BridgeParent | None = None
        self._records: set[RunRecord] = set()
        self._closing = False
        self._ready, self._finished = asyncio.Event(), asyncio.Event()

    def launch(self, mode: Mode) -> None:
        """Start trio; raises what `carry` raises."""
        carry(mode, partial(self._side.main, self._on_ready), self.line, self._on_finished)

    async def opened(self) -> BridgeParent:
        """Wait until trio's side is composed; raise what kept it from that."""
        await self._ready.wait()
        if self._parent is None:
            raise self.crash or self._gone()
        return self._parent

    async def started(self, provider: str, request: SubagentStartRequest[T]) -> BridgeRun[T]:
        """Have trio start a run in the calling context; a cancelled start leaves none behind."""
        if self._closing or self._finished.is_set():
            raise self._gone()
        record = RunRecord(provider, request, on_end=self._records.discard)
        self._records.add(record)
        run: BridgeRun[T] = BridgeRun(record, self.line)
        accept = partial(self._side.accept, record)
        self.line.call_trio(contextvars.copy_context().run, accept)
        try:
            await record.opened.wait()
        except asyncio.CancelledError:
            await run.aclose()
            raise
        record.check()
        return run

    async def close(self, *, told: bool) -> None:
        """End everything and return when trio has; raise what killed it.

        An error that was *told* is not raised again; ``KeyboardInterrupt`` and its like always are.
        """
        self._closing = True
        self._side.ask_to_close()
        try:
            await wait_through(self._finished)
        finally:
            if self.crash is not None and not (told and isinstance(self.crash, Exception)):
                raise self.crash

    def _on_ready(self, parent: DelegatingParent) -> None:
        self._parent = BridgeParent(parent, line=self.line, hooks=self.hooks)
        self._ready.set()

    def _on_finished(self, result: outcome.Outcome[None]) -> None:
        if isinstance(result, outcome.Error):
            self.crash = unwrapped(result.error)
        for record in tuple(self._records):
            record.end(self._gone())
        self._ready.set()
        self._finished.set()

    def _gone(self) -> BridgeError:
        return BridgeClosedError() if self.crash is None else BridgeCrashedError(self.crash)
