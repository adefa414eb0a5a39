"""What drives trio: asyncio's own loop, or a thread.

Next: `_side.py`, what is driven.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import outcome
import trio

from dsh.bridge_asyncio._errors import BridgeMisuseError
from dsh.bridge_asyncio._line import Line

__all__ = ["Mode", "carry"]

Mode: TypeAlias = Literal["guest", "thread"]
"""``"thread"``: trio's loop has a thread of its own. ``"guest"``: both loops share asyncio's."""

Main: TypeAlias = Callable[[], Awaitable[None]]
Finished: TypeAlias = Callable[[outcome.Outcome[None]], None]


def carry(mode: Mode, main: Main, line: Line, finished: Finished) -> None:
    """Run *main* in trio; at its end *finished* is called in asyncio's loop, with what it did.

    By then nothing of trio is left, and no thread.

    Raises:
      BridgeMisuseError: This thread has a trio already, so there can be no guest.
      ValueError: There is no such mode.
    """
    match mode:
        case "guest":
            _in_loop(main, finished)
        case "thread":
            _in_thread(main, line, finished)
        case _:  # pyright: ignore[reportUnnecessaryComparison] - not every caller checks types
            raise ValueError(f"mode is {mode!r}; it takes 'guest' or 'thread'")


def _in_loop(main: Main, finished: Finished) -> None:
    if trio.lowlevel.in_trio_run():
        raise BridgeMisuseError(
            "trio runs in this thread already, and a thread carries one guest at a time; "
            "share that bridge, or open this one with mode='thread'"
        )
    loop = asyncio.get_running_loop()
    trio.lowlevel.start_guest_run(
        main,
        run_sync_soon_threadsafe=loop.call_soon_threadsafe,
        run_sync_soon_not_threadsafe=loop.call_soon,
        done_callback=finished,
        host_uses_signal_set_wakeup_fd=True,  # asyncio does, for its signal handlers
    )


def _in_thread(main: Main, line: Line, finished: Finished) -> None:
    def run() -> None:
        line.call_asyncio(over, outcome.capture(trio.run, main))

    def over(result: outcome.Outcome[None]) -> None:
        thread.join()  # that call was its last act
        finished(result)

    # A daemon: a program that never leaves the bridge's block can still come to its end.
    thread = threading.Thread(target=run, name="dsh.bridge_asyncio", daemon=True)
    thread.start()
