"""The standard streams, as a command needs them whoever started it."""

import errno
import io
import os
import sys
from typing import Final

__all__ = ["discard_output", "is_output_full", "prepare_streams"]

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


def is_output_full(error: OSError) -> bool:
    """Whether *error* says that there is no place for what is written."""
    return error.errno in _FULL


def discard_output() -> None:
    """Have what is still to be written go nowhere, Python's own flush at its end included."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
