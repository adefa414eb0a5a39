"""The door: open a bridge, and delegate through it. Asyncio's side.

Next: `_run.py`, a run that is held.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar, final

from dsh.agent import Registration
from dsh.bridge_asyncio._carrier import Mode
from dsh.bridge_asyncio._errors import BridgeCrashedError
from dsh.bridge_asyncio._line import Line, running_loop
from dsh.bridge_asyncio._parent import BridgeParent
from dsh.bridge_asyncio._run import BridgeRun
from dsh.bridge_asyncio._side import Compose
from dsh.bridge_asyncio._terminal import Terminal
from dsh.subagent import SubagentResult, SubagentStartRequest

__all__ = ["Bridge", "open_bridge"]

T = TypeVar("T")
E = TypeVar("E")


@final
class Bridge:
    """The seam, for asyncio: `run` and `start` are those of ``dsh.subagent.SubagentService``.

    A request is the seam's own, with `parent` as its parent. Its cancel scope is for the deadline;
    whoever cancels from asyncio's side cancels the task that waits, or the run.
    """

    __slots__ = ("_terminal", "parent")

    def __init__(self, terminal: Terminal, parent: BridgeParent) -> None:
        self._terminal = terminal
        self.parent = parent
        """Who delegates; goes into each request."""

    async def run(self, name: str, request: SubagentStartRequest[T]) -> SubagentResult[T]:
        """Start, wait, close: what most callers want. Raises what `start` and `result` raise."""
        async with await self.start(name, request) as run:
            return await run.result()

    async def start(self, name: str, request: SubagentStartRequest[T]) -> BridgeRun[T]:
        """Start a child; returning is its publication, and hands it to the caller.

        Cancelled or failed, it leaves nothing behind: the child, if there is one already, has come
        to rest before the cancellation goes on. The backend sees the caller's context variables.

        Raises:
          BridgeMisuseError: The caller is a trio task, or of another asyncio loop.
          BridgeClosedError, BridgeCrashedError: There is no trio side any more.
          Exception: Whatever ``SubagentService.start`` raises, as it is.
        """
        self._terminal.line.demand_asyncio()
        return await self._terminal.started(name, request)

    def on(self, event: type[E], listener: Callable[[E], object]) -> Registration:
        """Have *listener* called in asyncio's loop with what `parent` is told of this class.

        That is a `dsh.subagent.RunStarted` and a `RunEnded` for each run, and all progress. It is a
        plain function; one that raises is logged and disturbs nobody.
        """
        return self._terminal.hooks.on(event, listener)


@asynccontextmanager
async def open_bridge(
    compose: Compose, *, mode: Mode = "thread", cwd: str | None = None
) -> AsyncGenerator[Bridge]:
    """Bring up trio's side, and take it down when the block is left, however it is left.

    Leaving ends every run, lets *compose* tear down undisturbed, and returns when no task of trio
    and no thread is left; a cancellation of the calling task goes on after that.

    Args:
      compose: Sets trio's side up, in trio; see `Compose`.
      mode: ``"thread"`` runs trio in a thread of its own, ``"guest"`` in asyncio's loop, of which
        there can be one per thread.
      cwd: Where the work of the bridge's own parent lies; unused where *compose* yields a parent.

    Raises:
      BridgeMisuseError: There is no running asyncio loop here, or no place for a guest.
      ValueError: There is no such mode.
      BaseException: What *compose* raised, as it is; also what killed the trio side later, unless
        the block itself ends with the `BridgeCrashedError` that tells of an error.
    """
    terminal = Terminal(Line(running_loop()), compose, cwd=cwd)
    terminal.launch(mode)
    told = False
    try:
        yield Bridge(terminal, await terminal.opened())
    except BaseException as exc:  # passed on, whatever it is
        told = isinstance(exc, BridgeCrashedError) or exc is terminal.crash
        raise
    finally:
        await terminal.close(told=told)
