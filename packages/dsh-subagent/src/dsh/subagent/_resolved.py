"""A request as a backend gets it."""

from dataclasses import dataclass
from typing import Any, final

from dsh.agent import AgentId, AgentOptions, ContentBlock, TextBlock, ToolFilter
from dsh.subagent._parent import DelegatingParent
from dsh.tools_jsonschema import (
    StructuredValueError,
    parse_structured,
    validate_structured_value,
)

__all__ = ["ResolvedRequest"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRequest:
    """A request as a backend gets it: checked, snapshotted, and within its capabilities."""

    provider: str
    """The name under which the backend was asked."""
    prompt: tuple[ContentBlock, ...]
    """What the child is asked; text was made one block."""
    parent: DelegatingParent
    """Who asks. What happens is told to it by the seam."""
    parent_id: AgentId
    """The parent's id when the run was started."""
    parent_call_id: str | None
    """Which tool call of the parent asked for it."""
    label: str | None
    """What a person calls it; no backend reads it."""
    agent_options: AgentOptions
    """How the child calls its model; what is ``None`` in it is the backend's choice."""
    output_schema: dict[str, Any] | None
    """The caller's schema, or the one made from the type it asked for; a JSON schema of the
    subset, the seam's own copy."""
    output_type: Any
    """The type asked for, whatever a ``TypeAdapter`` takes; ``None`` where a schema was."""
    max_depth: int | None
    """The deepest a child may lie; ``None`` is unbounded."""
    tool_filter: ToolFilter | None
    """Which of its host's tools the child may use; ``None`` narrows nothing. What the parent itself
    may not use its child may not either: a backend with ``tool_filter`` sees to that."""
    persona: str | None
    """The system text that stands in for the host's own persona."""

    @property
    def text(self) -> str:
        """The prompt's blocks of text, joined; other blocks are left out."""
        return "".join(block.text for block in self.prompt if isinstance(block, TextBlock))

    def parse(self, structured: object) -> Any:
        """Return the *structured* value as the type that was asked for; ``None`` if none was.

        A backend calls this before it accepts a structured answer, and puts what is returned into
        the result's ``value``.

        Raises:
          StructuredValueError: It is not what was asked for; ``violations`` says where and why.
          Exception: Whatever a validator of the type itself raised that pydantic lets pass.
        """
        if self.output_schema is None:
            return None
        if violations := validate_structured_value(self.output_schema, structured):
            raise StructuredValueError(violations)
        if self.output_type is None:
            return structured
        return parse_structured(self.output_type, structured)
