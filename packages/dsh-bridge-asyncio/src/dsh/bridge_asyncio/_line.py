"""How one side calls the other. Neither ever waits for the other while it runs.

Next: `_carrier.py`, what drives trio.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import final

import trio
from typing_extensions import TypeVarTuple, Unpack

from dsh.bridge_asyncio._errors import BridgeMisuseError

__all__ = ["Line", "running_loop"]

Ts = TypeVarTuple("Ts")


def running_loop() -> asyncio.AbstractEventLoop:
    """Return the asyncio loop that runs here.

    Raises:
      BridgeMisuseError: There is none.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError as exc:
        raise BridgeMisuseError(
            "no asyncio loop runs here; a bridge is for asyncio applications, "
            "trio programs use dsh.subagent itself"
        ) from exc


@final
class Line:
    """Two queues of plain calls; each keeps its order. Both ends may be called from any thread."""

    __slots__ = ("_loop", "_token")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._token: trio.lowlevel.TrioToken | None = None

    def connect(self, token: trio.lowlevel.TrioToken) -> None:
        """Make calls of trio possible."""
        self._token = token

    def demand_asyncio(self) -> None:
        """Refuse a caller that could only wait for itself, or for a loop that is not its own.

        Raises:
          BridgeMisuseError: This is a trio task, another asyncio loop, or none.
        """
        if trio.lowlevel.in_trio_task():
            raise BridgeMisuseError(
                "the bridge was called from a trio task, which it may itself be waiting for; "
                "in trio use the SubagentService that `compose` was given"
            )
        if running_loop() is not self._loop:
            raise BridgeMisuseError(
                "the bridge was called from another asyncio loop than the one it was opened in; "
                "open a bridge there"
            )

    def call_asyncio(self, function: Callable[[Unpack[Ts]], object], *args: *Ts) -> None:
        """Have *function* called by asyncio's loop. A loop that is closed has nobody to tell."""
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            if not self._loop.is_closed():
                raise

    def call_trio(self, function: Callable[[Unpack[Ts]], object], *args: *Ts) -> None:
        """Have *function* called by trio's loop, outside of any task.

        Before `connect`, and once trio has ended, nothing happens: whoever waits is told of that
        end by the bridge.
        """
        if self._token is not None:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(function, *args)
