"""What a host is composed of."""

from types import TracebackType
from typing import TYPE_CHECKING, Final, final

import trio

from dsh.agent import (
    AgentFactory,
    AgentOptions,
    AgentRegistry,
    AgentSpec,
    Hooks,
    ModelRegistry,
    Prompt,
    Registration,
    SessionStore,
    ToolRegistry,
)
from dsh.agent_loop._agent import LoopAgent
from dsh.agent_loop._errors import raise_bare

__all__ = ["MAX_PARALLEL_TOOL_CALLS", "MAX_STEPS", "Host", "OpenedHost", "open_host"]

MAX_STEPS: Final = 100
"""How many requests a turn may make where nobody says otherwise."""

MAX_PARALLEL_TOOL_CALLS: Final = 16
"""How many calls of one response run at once where nobody says otherwise."""


@final
class Host:
    """Models, tools, prompt and hooks that every agent of this host shares, and its agents."""

    def __init__(self, options: AgentOptions, sessions: SessionStore | None) -> None:
        self.options = options
        """What an agent's own options leave open."""
        self.sessions = sessions
        """Who keeps the logs of its agents, if anybody."""
        self.models = ModelRegistry()
        self.hooks = Hooks()
        self.tools = ToolRegistry()
        self.prompt = Prompt()
        self.agents = AgentRegistry()

    def resolve(self, own: AgentOptions) -> tuple[AgentOptions, int, int]:
        """An agent's options with the host's filled in, and its two limits."""
        host = self.options
        steps = own.max_steps or host.max_steps or MAX_STEPS
        parallel = (
            own.max_parallel_tool_calls or host.max_parallel_tool_calls or MAX_PARALLEL_TOOL_CALLS
        )
        options = AgentOptions(
            model=own.model or host.model,
            options={**host.options, **own.options},
            max_steps=steps,
            max_parallel_tool_calls=parallel,
        )
        return options, steps, parallel


@final
class OpenedHost:
    """A host for the time of a block: ``async with open_host() as host``."""

    __slots__ = ("_host", "_nursery", "_nursery_manager", "_registration")

    def __init__(self, host: Host) -> None:
        self._host = host

    @property
    def nursery(self) -> trio.Nursery:
        """See ``dsh.agent.AgentFactory``."""
        return self._nursery

    def build(self, spec: AgentSpec, /) -> LoopAgent:
        """See ``dsh.agent.AgentFactory``."""
        return LoopAgent(spec, self._host)

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> Host:
        self._nursery_manager = trio.open_nursery()
        self._nursery = await self._nursery_manager.__aenter__()
        self._registration: Registration = self._host.agents.set_factory(self)
        return self._host

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._registration.close()
        for agent in self._host.agents.list():
            if isinstance(agent, LoopAgent):
                agent.end("the host closes")
        self._nursery.cancel_scope.cancel("the host closes")
        try:
            return await self._nursery_manager.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            raise_bare(group)


def open_host(
    *, options: AgentOptions = AgentOptions(), sessions: SessionStore | None = None
) -> OpenedHost:
    """A host; leaving the block ends every agent it still has.

    An error that is alone leaves bare, ``KeyboardInterrupt`` included; never in a group of one.

    Args:
      options: what the options of its agents leave open.
      sessions: keeps their logs; without it a log lives as long as somebody holds it.
    """
    return OpenedHost(Host(options, sessions))


if TYPE_CHECKING:
    _: type[AgentFactory] = OpenedHost
