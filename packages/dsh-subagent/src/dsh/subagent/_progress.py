"""What happens inside a child while it works, as far as its backend can tell.

A backend makes these without ids; the seam stamps all three on the way (field cases B174 to B178).
They reach the parent's scope under their own classes: a listener of `Progress` hears none of them.
"""

from dataclasses import dataclass
from typing import Final, final

from dsh.agent import AgentId, Usage

__all__ = [
    "Progress",
    "TextProgress",
    "ThoughtProgress",
    "ToolEndedProgress",
    "ToolStartedProgress",
    "UsageProgress",
]


_UNSTAMPED: Final = AgentId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What all progress has: whose it is, ``child_id`` and ``parent_id``.

    A backend may have kinds of its own.
    """

    child_id: AgentId = _UNSTAMPED
    parent_id: AgentId = _UNSTAMPED
    parent_call_id: str | None = None
    """Which tool call of the parent asked for the child, if one did."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TextProgress(Progress):
    """More visible ``text`` of the child's current message."""

    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtProgress(Progress):
    """More ``text`` of the child's reasoning."""

    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStartedProgress(Progress):
    """The child's call ``call_id`` of the tool ``name`` is dispatched."""

    call_id: str
    name: str
    arguments: str | None = None
    """The arguments as JSON text, where the backend has them."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEndedProgress(Progress):
    """The child's call ``call_id`` of the tool ``name`` is over.

    ``is_error`` marks a failure; ``text`` is what its model is told.
    """

    call_id: str
    name: str
    is_error: bool
    text: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UsageProgress(Progress):
    """The ``usage`` of the child so far, in all: a later one replaces an earlier one (B173)."""

    usage: Usage
