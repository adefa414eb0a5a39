"""What a child takes over from its parent's conversation; the difference of spawn and fork."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from dsh.agent import Agent, RequestHeader, SessionPrefix, TextBlock

__all__ = ["FRESH", "Inheritance"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Inheritance:
    """A child's past. Without anything in it the child is fresh."""

    seed: SessionPrefix | None = None
    """The parent's completed turns; the child's log begins with them."""
    header: RequestHeader | None = None
    """What the child's requests carry beside the messages, instead of a fresh assembly."""
    preface: tuple[TextBlock, ...] = ()
    """Said before the task, in the same message."""
    observe: Callable[[Agent], object] | None = None
    """Called with the child while it is composed, to hang listeners on it."""


FRESH = Inheritance()
"""Nothing of the parent's conversation: a child's log is empty before its prompt."""
