"""What a gate is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One rule about the repository.

    A gate reads the tree and says what is wrong with it; it never writes. Whatever generates a file
    is a command of its own, and the gate only compares.
    """

    name: str
    """What `scripts/check NAME` runs, and what its line of result shows."""
    check: Callable[[Path], list[str]]
    """Takes the root of the repository, returns a line per failure: where, what, what would do.

    An empty list is green. Raising is a fault of the gate itself and is shown as a failure too.
    """
    note: Callable[[Path], str] | None = None
    """Takes the root as well, returns what the line of result adds when the gate holds: a count."""
