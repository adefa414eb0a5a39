"""What an agent is to everyone but its loop, and how one is asked for.

The loop that runs agents is another package's (``dsh.agent_loop``, or a host's own); here are the
shapes it fills in.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, final

import trio

from dsh.agent._hooks import Hooks
from dsh.agent._ids import AgentId
from dsh.agent._messages import ContentBlock, Usage
from dsh.agent._prompt import Prompt
from dsh.agent._session import Session, SessionPrefix
from dsh.agent._tools import ToolRegistry

__all__ = ["Agent", "AgentOptions", "AgentRegistry", "AgentSpec", "Setup"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """How an agent calls its model; what is ``None`` is the host's default, or the parent's."""

    model: str | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    max_steps: int | None = None


class Agent(Protocol):
    """A running agent: a session log, an inbox, a nursery and a layer of hooks, tools, prompt.

    It is also what a subagent backend needs of a parent (``dsh.subagent.DelegatingParent``).
    """

    @property
    def id(self) -> AgentId: ...
    @property
    def session(self) -> Session: ...
    @property
    def options(self) -> AgentOptions: ...
    @property
    def cwd(self) -> str | None: ...
    @property
    def depth(self) -> int:
        """How many delegations lie between this agent and the one a user talks to."""
        ...

    @property
    def nursery(self) -> trio.Nursery:
        """Where this agent's children live; it closes before the agent has ended."""
        ...

    @property
    def hooks(self) -> Hooks: ...
    @property
    def tools(self) -> ToolRegistry: ...
    @property
    def prompt(self) -> Prompt: ...

    @property
    def usage(self) -> Usage:
        """Tokens of this agent's own requests and of every child that has ended."""
        ...

    def send(self, content: str | tuple[ContentBlock, ...], *, source: str = "user") -> None:
        """Queue a message; it opens the next turn."""
        ...

    def cancel(self, reason: str = "cancelled") -> None:
        """End the running turn and forget what is queued; an idle agent does nothing."""
        ...

    async def wait_idle(self) -> None:
        """Return once nothing is queued and no turn is open."""
        ...

    def dispatch(self, event: object) -> None:
        """Tell this agent's hooks, and its host's."""
        ...

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """Have *cancel_scope* cancelled as soon as this agent begins to end; returns the undo."""
        ...


Setup: TypeAlias = Callable[[Agent], Awaitable[None]]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Everything an agent is created from."""

    options: AgentOptions = AgentOptions()
    id: AgentId | None = None
    cwd: str | None = None
    depth: int = 0
    parent: Agent | None = None
    seed: SessionPrefix | None = None
    setup: Setup | None = None
    """Composes the agent while nobody can see it; raising undoes the whole creation."""


class AgentRegistry(Protocol):
    """Creates a host's agents and finds them; what an in-process backend needs of a host."""

    def open(self, spec: AgentSpec) -> AbstractAsyncContextManager[Agent]:
        """An agent driven by the calling task: ``wait_idle`` runs its turns right there.

        Entering publishes it, leaving ends it and everything below it.
        """
        ...

    def get(self, id: AgentId, /) -> Agent | None:
        """The live agent of that id: published, and not yet ended."""
        ...
