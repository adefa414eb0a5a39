"""Ctrl-C: once ends the run in good order, twice ends the process."""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final, final

import trio

__all__ = ["INTERRUPTED", "Interruption", "interruptible"]

INTERRUPTED: Final = 130
"""The exit status of an interrupted command: 128 and the number of the signal."""

_SHOW_CURSOR: Final = b"\x1b[?25h"


@final
class Interruption:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.happened = False


@contextmanager
def interruptible(cancel: Callable[[], object]) -> Generator[Interruption]:
    """Have Ctrl-C call *cancel* in trio's time; a second one ends the process where it stands.

    The second one asks nobody, so that it works when the first is being waited for by something
    that does not end: logs keep what was written, and children in other processes see the end of
    their input.
    """
    interruption = Interruption()
    token = trio.lowlevel.current_trio_token()

    def handle(_: int, __: FrameType | None) -> None:
        if interruption.happened:
            if os.isatty(2):
                os.write(2, _SHOW_CURSOR)
            os._exit(INTERRUPTED)
        interruption.happened = True
        token.run_sync_soon(cancel)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)
