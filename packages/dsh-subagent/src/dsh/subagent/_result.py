"""What came of a child.

Next: `_progress.py` and `_events.py`, what is told on the way.
"""

from dataclasses import dataclass
from typing import Generic, final

from typing_extensions import TypeVar

from dsh.agent import AgentId, ContentBlock, StopReason, TextBlock, Usage

__all__ = ["SubagentResult"]

T_co = TypeVar("T_co", covariant=True, default=object)


@final
@dataclass(frozen=True, kw_only=True)  # slots would break `SubagentResult[T](...)` on 3.11
class SubagentResult(Generic[T_co]):
    """A child's end, whatever it was. A backend fills in what it knows, the seam the rest."""

    stop_reason: StopReason
    """Why it ended, in an open vocabulary: only ``completed`` is success, a word that a reader
    does not know is failure (B-SEAM-28)."""
    output: tuple[ContentBlock, ...] = ()
    """The answer; of a child that did not complete, what it had so far."""
    structured: object = None
    """The structured answer as plain JSON data, not text; ``None`` unless the request had an
    ``output_schema``."""
    value: T_co | None = None
    """`structured` as the requested type; the same as `structured` where a schema was asked for.
    A backend may leave it out: the seam makes it of `structured`, and a completed end that does
    not fit becomes an ``error``. One that a backend gives is taken as it is."""
    detail: str | None = None
    """Why, for a person to read: the reason of a cancellation, the message of an error."""
    usage: Usage | None = None
    """Tokens of the child and of all its descendants; ``None`` where nobody counted."""
    model_requests: int | None = None
    """Of the child and all its descendants; ``None`` where nobody counted."""
    tool_calls: int | None = None
    """Of the child and all its descendants; ``None`` where nobody counted."""
    seconds: float = 0.0
    """From publication to settlement, on trio's clock; the seam measures where this is 0."""
    child_id: AgentId | None = None
    """The seam fills it in."""

    @property
    def completed(self) -> bool:
        """Whether the child did what it was asked."""
        return self.stop_reason == "completed"

    @property
    def text(self) -> str:
        """The visible text of the output."""
        return "".join(block.text for block in self.output if isinstance(block, TextBlock))
