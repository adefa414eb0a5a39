"""A host's time: agents live in its nursery, and end when it closes."""

from types import TracebackType
from typing import TYPE_CHECKING, final

import trio

from dsh.agent import AgentFactory, AgentOptions, AgentSpec, Registration, SessionStore
from dsh.agent_loop._agent import LoopAgent
from dsh.agent_loop._errors import raise_bare
from dsh.agent_loop._host import Host

__all__ = ["OpenedHost", "open_host"]


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
            assert isinstance(agent, LoopAgent)
            agent.end("the host closes")
        self._nursery.cancel_scope.cancel("the host closes")
        try:
            return await self._nursery_manager.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            raise_bare(group)
        finally:
            self._host.unwind()


def open_host(
    *, options: AgentOptions = AgentOptions(), sessions: SessionStore | None = None
) -> OpenedHost:
    """A host; leaving the block ends every agent it still has, and nothing registers with it then.

    An error that is alone leaves bare, ``KeyboardInterrupt`` included; never in a group of one.

    Args:
      options: what the options of its agents leave open.
      sessions: keeps their logs, and is closed by whoever opened it, after the host; without it a
        log lives as long as somebody holds it.
    """
    return OpenedHost(Host(options, sessions))


if TYPE_CHECKING:
    _: type[AgentFactory] = OpenedHost
