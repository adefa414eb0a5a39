"""How deep a child lies: read from its parent, moved on by one, refused beyond the cap. Pure."""

from typing import Final

from dsh.subagent import SubagentDepthError

__all__ = ["advanced", "read_depth"]

_DEEPEST: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exact."""


def read_depth(value: object) -> int:
    """Return the depth of a parent.

    Raises:
      TypeError: it is no whole number from 0 to 2**53-1 (B-DRV-03).
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _DEEPEST:
        shown = repr(value) if isinstance(value, bool | int | float) else type(value).__name__
        raise TypeError(f"the parent's depth is {shown}; it must be an int from 0 to 2**53-1")
    return value


def advanced(parent_depth: int, max_depth: int | None) -> int:
    """Return the depth of a child of an agent at *parent_depth*.

    Raises:
      OverflowError: it lies beyond what JSON keeps exact (B-DRV-04).
      SubagentDepthError: it lies deeper than *max_depth* (B-DRV-05).
    """
    if parent_depth == _DEEPEST:
        raise OverflowError("a child of an agent at depth 2**53-1 would lie deeper than that")
    depth = parent_depth + 1
    if max_depth is not None and depth > max_depth:
        raise SubagentDepthError(attempted_depth=depth, max_depth=max_depth)
    return depth
