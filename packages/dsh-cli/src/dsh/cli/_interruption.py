"""Ctrl-C and SIGTERM: the first ends the command in good order, the second ends the process.

They are taken note of before anything is imported that costs time: an extension module may swallow
a ``KeyboardInterrupt`` that falls into its import. So this imports the standard library alone.
"""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final, final

__all__ = ["INTERRUPTED", "Interruption", "interruptible", "raising"]

INTERRUPTED: Final = 130
"""The exit status of a command that Ctrl-C ended; of any signal, shells say its number and 128."""

_NAMES: Final = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
"""The signals that ask a command to end, and what they are called."""

_SHOW_CURSOR: Final = b"\x1b[?25h"

Act = Callable[[], object]
"""What is done about the first; called from a signal handler, and again where that was in vain."""


@final
class Interruption:
    """Takes the signals, as their handler, and remembers the first."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._act: Act = raising
        self._raised = False

    @property
    def happened(self) -> bool:
        """Whether a signal came."""
        return self._signal is not None

    @property
    def name(self) -> str:
        """What a person calls the signal that came, or else the one that comes mostly."""
        return _NAMES[signal.Signals(self._signal or signal.SIGINT)]

    @property
    def status(self) -> int:
        """The exit status of a command that the signal ended."""
        return INTERRUPTED if self._signal is None else 128 + self._signal

    def __call__(self, number: int, _: FrameType | None) -> None:
        """Act on the first; the second ends the process where it stands.

        The second one asks nobody, so that it works when the first is being waited for by
        something that does not end: logs keep what was written, and children in other processes
        see the end of their input.
        """
        if self.happened:
            if os.isatty(2):
                os.write(2, _SHOW_CURSOR)
            os._exit(128 + number)
        self._signal = number
        self._raised = self._act is raising
        self._act()

    def raise_lost(self) -> None:
        """Raise again what was raised and is not on its way up: something has swallowed it."""
        if self._raised:
            raise KeyboardInterrupt

    @contextmanager
    def acting(self, act: Act) -> Generator[None]:
        """Have it acted on by *act* in the block; at once if it came before."""
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
    """Have the first signal call *act* in the block, the innermost one; a second ends the process.

    Where a signal is ignored, as Ctrl-C is in the background of a script, it stays ignored; where a
    thread other than the main one asks, who has it keeps it.
    """
    before = {number: signal.getsignal(number) for number in _NAMES}
    outer = next((each for each in before.values() if isinstance(each, Interruption)), None)
    interruption = Interruption() if outer is None else outer
    taken = [number for number in _NAMES if outer is None and _take(number, interruption)]
    try:
        with interruption.acting(act):
            yield interruption
    finally:
        for number in taken:
            signal.signal(number, before[number])


def raising() -> None:
    """Interrupt whatever is being done, as Python does by itself."""
    raise KeyboardInterrupt


def _take(number: int, interruption: Interruption) -> bool:
    """Have *interruption* handle a signal, if it may."""
    if signal.getsignal(number) in (signal.SIG_IGN, None):
        return False
    try:
        signal.signal(number, interruption)
    except ValueError:  # only the main thread may
        return False
    return True
