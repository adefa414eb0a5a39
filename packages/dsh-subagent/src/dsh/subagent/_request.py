"""What a caller asks for.

Next: `_result.py`, what it gets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, final

import trio
from typing_extensions import TypeVar

from dsh.agent import AgentOptions, ContentBlock, ToolFilter
from dsh.subagent._parent import DelegatingParent

__all__ = ["SubagentStartRequest"]

T_co = TypeVar("T_co", covariant=True, default=object)


@final
@dataclass(frozen=True, kw_only=True)  # slots would break `SubagentStartRequest[T](...)` on 3.11
class SubagentStartRequest(Generic[T_co]):
    """One delegation. What is mutable in it is copied when it is started.

    ``output_schema``, ``max_depth``, ``tool_filter`` and ``persona`` are honoured or refused, never
    ignored: each needs a capability of the provider, and only where it is given.
    """

    prompt: str | Sequence[ContentBlock]
    """What the child is asked: text, or a list or tuple of blocks. A backend refuses at the start
    what it cannot pass on; text and images are what the in-process ones can."""
    parent: DelegatingParent
    """Who asks. The child lives in its nursery, and ends with it at the latest."""
    cancel_scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    """Cancels the start and the child; its deadline bounds both. One scope, one start: whoever
    copies a request gives the copy a scope of its own."""
    label: str | None = None
    """What a person calls this delegation; no backend reads it."""
    parent_call_id: str | None = None
    """Which tool call of the parent asked for it; repeated in every event of the run."""
    agent_options: AgentOptions | None = None
    """How the child calls its model; what is not given is the backend's choice."""
    output_schema: type[T_co] | Mapping[str, object] | None = None
    """A JSON schema of the subset, or a type that one is made from: a pydantic model, a dataclass,
    a ``TypedDict``, whatever pydantic's ``TypeAdapter`` takes. Needs ``output_schema``."""
    max_depth: int | None = None
    """The deepest a child may lie, 0 to 2**53-1; absent is unbounded. An agent that a user talks to
    lies at 0, its child at 1, so 0 forbids every child. Needs ``depth_limit``."""
    tool_filter: ToolFilter | None = None
    """Which of its host's tools the child may use, within what its parent may. Needs
    ``tool_filter``."""
    persona: str | None = None
    """The system text that stands in for the host's own persona. Needs ``persona``."""
