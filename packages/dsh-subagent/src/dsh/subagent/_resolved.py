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
    prompt: tuple[ContentBlock, ...]
    parent: DelegatingParent
    parent_id: AgentId
    parent_call_id: str | None
    label: str | None
    agent_options: AgentOptions
    output_schema: dict[str, Any] | None
    """The caller's schema, or the one made from the type it asked for; a JSON schema of the
    subset, the seam's own copy."""
    output_type: Any
    """The type asked for, whatever a ``TypeAdapter`` takes; ``None`` where a schema was."""
    max_depth: int | None
    tool_filter: ToolFilter | None
    persona: str | None

    @property
    def text(self) -> str:
        """The prompt's text."""
        return "".join(block.text for block in self.prompt if isinstance(block, TextBlock))

    def parse(self, structured: object) -> Any:
        """Return the *structured* value as the type that was asked for.

        A backend asks before it stages a capture, and puts the answer into the result's ``value``.

        Raises:
          StructuredValueError: It is not what was asked for; ``violations`` says where and why.
        """
        if self.output_schema is None:
            return None
        if violations := validate_structured_value(self.output_schema, structured):
            raise StructuredValueError(violations)
        if self.output_type is None:
            return structured
        return parse_structured(self.output_type, structured)
