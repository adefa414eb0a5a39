"""What came of a child."""

from dataclasses import dataclass
from typing import Generic, TypeVar, final

from dsh.agent import AgentId, ContentBlock, StopReason, TextBlock, Usage

__all__ = ["SubagentResult"]

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentResult(Generic[T]):
    """A child's end, whatever it was; ``output`` of one that did not complete is partial."""

    stop_reason: StopReason
    output: tuple[ContentBlock, ...] = ()
    structured: object = None
    value: T | None = None
    detail: str | None = None
    usage: Usage | None = None
    model_requests: int | None = None
    tool_calls: int | None = None
    seconds: float = 0.0
    child_id: AgentId | None = None

    @property
    def completed(self) -> bool:
        """Whether the child did what it was asked."""
        return self.stop_reason == "completed"

    @property
    def text(self) -> str:
        """The visible text of the output."""
        return "".join(block.text for block in self.output if isinstance(block, TextBlock))
