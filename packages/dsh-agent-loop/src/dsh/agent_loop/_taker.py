"""What a turn needs of the agent that takes it."""

from typing import Protocol

from dsh.agent import (
    Agent,
    AgentStatus,
    Hooks,
    ModelRegistry,
    Prompt,
    RequestHeader,
    ToolRegistry,
    Usage,
)
from dsh.agent_loop._inbox import Inbox

__all__ = ["TurnTaker"]


class TurnTaker(Agent, Protocol):
    """An agent of this loop, as its turns see it."""

    @property
    def inbox(self) -> Inbox:
        """What waits for it."""
        ...

    @property
    def models(self) -> ModelRegistry:
        """Its host's models."""
        ...

    @property
    def header(self) -> RequestHeader | None:
        """What its requests carry instead of a fresh assembly."""
        ...

    @property
    def max_steps(self) -> int:
        """How many requests a turn may make."""
        ...

    @property
    def max_parallel_tool_calls(self) -> int:
        """How many calls of one response may run at once."""
        ...

    @property
    def end_reason(self) -> str | None:
        """Why it ends, once it has begun to."""
        ...

    @property
    def hooks_in_force(self) -> Hooks:
        """Its own layer, or its host's where it has none."""
        ...

    @property
    def tools_in_force(self) -> ToolRegistry:
        """Its own layer, or its host's where it has none."""
        ...

    @property
    def prompt_in_force(self) -> Prompt:
        """Its own layer, or its host's where it has none."""
        ...

    def count_request(self) -> None:
        """Add a model request."""
        ...

    def count_call(self) -> None:
        """Add a tool call."""
        ...

    def count_usage(self, usage: Usage) -> None:
        """Add what one request cost."""
        ...

    def become(self, status: AgentStatus) -> None:
        """Take on a status, and say so."""
        ...
