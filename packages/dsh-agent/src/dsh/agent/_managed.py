"""What a loop brings: agents that can be opened, served and ended, and the factory of them."""

from types import TracebackType
from typing import Protocol

import trio

from dsh.agent._agent import Agent, AgentSpec

__all__ = ["AgentFactory", "ManagedAgent"]


class ManagedAgent(Agent, Protocol):
    """An agent as its registry sees it. Entering opens its nursery, leaving ends it."""

    async def __aenter__(self) -> Agent:
        """Open the nursery, without a checkpoint."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """End the agent and everything in its nursery; return at quiescence.

        A group of one leaves as its one error.
        """
        ...

    async def serve(self) -> None:
        """Run the turns of whatever is sent, until cancelled."""
        ...

    def end(self, reason: str) -> None:
        """Begin to end: refuse what comes, cancel the scopes adopted, then the nursery.

        Plain and repeatable; whoever entered the agent leaves it next.
        """
        ...

    def unwind(self) -> None:
        """Close its layers of hooks, tools and prompt: nothing registers with it any more.

        Plain and repeatable; the last thing that happens to an agent, even to one whose creation
        failed.
        """
        ...


class AgentFactory(Protocol):
    """A loop, seen from the registry that creates agents with it."""

    @property
    def nursery(self) -> trio.Nursery:
        """Where agents live that were created without a parent: the host's."""
        ...

    def build(self, spec: AgentSpec, /) -> ManagedAgent:
        """An agent made from *spec*, unpublished; nothing of it runs."""
        ...
