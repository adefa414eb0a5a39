"""What a host is composed of."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, final

from dsh.agent import (
    Agent,
    AgentId,
    AgentRegistry,
    AgentSpec,
    Hooks,
    ModelRegistry,
    Prompt,
    ToolRegistry,
)
from dsh.agent_loop._agent import LoopAgent

__all__ = ["Agents", "Host", "open_host"]


@final
class Host:
    """Models, tools, prompt and hooks that every agent of this host shares, and its agents."""

    def __init__(self) -> None:
        self.models = ModelRegistry()
        self.hooks = Hooks()
        self.tools = ToolRegistry(hooks=self.hooks)
        self.prompt = Prompt(hooks=self.hooks)
        self.agents = Agents(self)


@final
class Agents:
    """Creates and lists the agents of a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._live: dict[AgentId, Agent] = {}

    def open(self, spec: AgentSpec) -> AbstractAsyncContextManager[Agent]:
        """See ``dsh.agent.AgentRegistry.open``."""
        return self._open(spec)

    @asynccontextmanager
    async def _open(self, spec: AgentSpec) -> AsyncGenerator[Agent]:
        host = self._host
        agent = LoopAgent(
            spec, models=host.models, hooks=host.hooks, tools=host.tools, prompt=host.prompt
        )
        if spec.setup is not None:
            await spec.setup(agent)
        async with agent.opened():
            self._live[agent.id] = agent
            try:
                yield agent
            finally:
                del self._live[agent.id]

    def get(self, id: AgentId, /) -> Agent | None:
        """The live agent of that id."""
        return self._live.get(id)

    def list(self) -> tuple[Agent, ...]:
        """Every live agent."""
        return tuple(self._live.values())


@asynccontextmanager
async def open_host() -> AsyncGenerator[Host]:
    """A host; leaving it ends every agent it still has."""
    yield Host()


if TYPE_CHECKING:
    _: type[AgentRegistry] = Agents
