"""The standard streams, as a command needs them whoever started it."""

import errno
import io
import os
import sys
from typing import Final, TextIO

from dsh.cli._printable import written

__all__ = ["discard_output", "is_output_full", "prepare_streams", "say"]

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def prepare_streams() -> bool:
    """Make the standard streams usable; whether there is an output to write to.

    Where input or errors were closed, nothing is read and nothing is kept, and no file that is
    opened later takes their number. What an output has no bytes for is spelt out.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for good
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return bool(sys.stdout)


def say(text: str) -> None:
    """Write *text* to standard error; where that takes it no longer, nothing is kept from then on.

    What it has are notes: a run does not fail because nobody reads them.
    """
    try:
        written(sys.stderr, text)
    except OSError:
        _discard(sys.stderr)


def is_output_full(error: OSError) -> bool:
    """Whether *error* says that there is no place for what is written."""
    return error.errno in _FULL


def discard_output() -> None:
    """Have what is still to be written go nowhere, Python's own flush at its end included."""
    _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
