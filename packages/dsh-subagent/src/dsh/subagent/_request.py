"""What a caller asks for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import trio

from dsh.agent import AgentId, AgentOptions, ContentBlock, TextBlock, ToolFilter

__all__ = ["DelegatingParent", "ResolvedRequest", "SubagentStartRequest"]


class DelegatingParent(Protocol):
    """All the seam needs of whoever delegates; a ``dsh.agent.Agent`` is one."""

    @property
    def id(self) -> AgentId: ...
    @property
    def cwd(self) -> str | None: ...
    @property
    def depth(self) -> int: ...
    @property
    def nursery(self) -> trio.Nursery:
        """Where the child's supervisor lives."""
        ...

    def dispatch(self, event: object) -> None:
        """Tell the parent's scope; never raises."""
        ...

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """Have *cancel_scope* cancelled as soon as the parent begins to end; returns the undo.

        Raises:
          ParentDisposedError: it has begun already.
        """
        ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStartRequest:
    """One delegation. Copying a request means giving the copy a scope of its own."""

    prompt: str | tuple[ContentBlock, ...]
    parent: DelegatingParent
    cancel_scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    label: str | None = None
    agent_options: AgentOptions | None = None
    output_schema: Any = None
    """A JSON schema of the subset, or a type that one can be made from."""
    max_depth: int | None = None
    tool_filter: ToolFilter | None = None
    persona: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRequest:
    """A request as a backend gets it: checked, snapshotted."""

    provider: str
    prompt: tuple[ContentBlock, ...]
    parent: DelegatingParent
    label: str | None
    agent_options: AgentOptions
    output_schema: dict[str, object] | None
    max_depth: int | None
    tool_filter: ToolFilter | None
    persona: str | None

    @property
    def text(self) -> str:
        """The prompt's text."""
        return "".join(block.text for block in self.prompt if isinstance(block, TextBlock))
