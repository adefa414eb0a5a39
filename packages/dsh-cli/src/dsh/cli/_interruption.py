"""Ctrl-C: once ends the command in good order, twice ends the process.

It is taken note of before anything is imported that costs time: an extension module may swallow a
``KeyboardInterrupt`` that falls into its import. So this imports nothing but the standard library.
"""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final, final

__all__ = ["INTERRUPTED", "Interruption", "interruptible", "raising"]

INTERRUPTED: Final = 130
"""The exit status of an interrupted command: what shells call the end by signal 2, 128 more."""

_SHOW_CURSOR: Final = b"\x1b[?25h"

Act = Callable[[], object]
"""What is done about Ctrl-C; called from a signal handler, and again where that was in vain."""


@final
class Interruption:
    """Takes Ctrl-C, as a signal handler, and remembers that it was pressed."""

    def __init__(self) -> None:
        self.happened = False
        self._act: Act = raising
        self._raised = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        """Act on the first; the second ends the process where it stands.

        The second one asks nobody, so that it works when the first is being waited for by
        something that does not end: logs keep what was written, and children in other processes
        see the end of their input.
        """
        if self.happened:
            if os.isatty(2):
                os.write(2, _SHOW_CURSOR)
            os._exit(INTERRUPTED)
        self.happened = True
        self._raised = self._act is raising
        self._act()

    def raise_lost(self) -> None:
        """Raise again what was raised and is not on its way up: something has swallowed it."""
        if self._raised:
            raise KeyboardInterrupt

    @contextmanager
    def acting(self, act: Act) -> Generator[None]:
        """Have it acted on by *act* in the block; at once if it was pressed before."""
        before, self._act = self._act, act
        try:
            if self.happened:
                self._raised = False
                act()
            yield
        finally:
            self._act = before


@contextmanager
def interruptible(act: Act) -> Generator[Interruption]:
    """Have Ctrl-C call *act* in the block, the innermost one counts; a second ends the process.

    Where Ctrl-C is ignored, as in the background of a shell, it stays ignored; where a thread
    other than the main one asks, who has it keeps it.
    """
    before = signal.getsignal(signal.SIGINT)
    interruption = before if isinstance(before, Interruption) else Interruption()
    taken = interruption is not before and _take(interruption)
    try:
        with interruption.acting(act):
            yield interruption
    finally:
        if taken:
            signal.signal(signal.SIGINT, before)


def raising() -> None:
    """Interrupt whatever is being done, as Python does by itself."""
    raise KeyboardInterrupt


def _take(interruption: Interruption) -> bool:
    """Have *interruption* handle the signal, if it may."""
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        return False
    try:
        signal.signal(signal.SIGINT, interruption)
    except ValueError:  # only the main thread may
        return False
    return True
