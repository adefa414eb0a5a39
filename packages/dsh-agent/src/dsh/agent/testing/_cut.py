"""One cancellation of a sweep: when, and by which route."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

__all__ = ["Cut", "Side"]

Side: TypeAlias = Literal["before", "after"]
"""On which side of a scheduler step a cancel is made.

``before``: together with the wake-up of the task that is about to run, where handles get lost.
``after``: right after it ran, while it is blocked again.
"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Cancel by *route* at scheduler step number *step*, counted from 0."""

    step: int
    route: str
    side: Side = "before"
    """Before the task of that step runs, or right after."""
