"""Where a host's agents are created, published and found.

Creation is one transaction: build, compose (``spec.setup``) while nobody can see the agent and
outside its nursery, open the nursery, publish. Whatever fails leaves nothing behind. From the last
thing that can fail to publication there is no checkpoint, so that no other task sees a half of it.
"""

import logging
import sys
from collections.abc import Awaitable
from types import TracebackType
from typing import final

import trio

from dsh.agent._agent import Agent, AgentDisposedError, AgentSpec, Setup
from dsh.agent._errors import AgentError
from dsh.agent._handle import AgentHandle
from dsh.agent._ids import AgentId
from dsh.agent._managed import AgentFactory, ManagedAgent
from dsh.agent._points import AgentCreated, AgentDisposed
from dsh.agent._registration import Registration

__all__ = [
    "AgentCreationCancelledError",
    "AgentRegistry",
    "DuplicateAgentError",
    "DuplicateAgentFactoryError",
    "NoAgentFactoryError",
    "OpenedAgent",
]

logger = logging.getLogger("dsh.agent")


class NoAgentFactoryError(AgentError):
    """No loop is there to make agents: none was installed yet, or its host has closed."""

    code = "NO_AGENT_FACTORY"

    def __init__(self) -> None:
        super().__init__(
            "there is no agent factory: open a host first, and create agents before it closes"
        )


class DuplicateAgentFactoryError(AgentError):
    """The registry has a factory already; it stays."""

    code = "DUPLICATE_AGENT_FACTORY"

    def __init__(self) -> None:
        super().__init__("this registry has an agent factory already; close its registration first")


class DuplicateAgentError(AgentError):
    """A live agent has the ``id``; nothing was created."""

    code = "DUPLICATE_AGENT"

    def __init__(self, id: AgentId) -> None:
        super().__init__(f"an agent {id!r} is alive; choose another id, or none to have one made")
        self.id = id


class AgentCreationCancelledError(AgentError):
    """The host, or the parent, began to end while ``id`` was made; nothing was created."""

    code = "AGENT_CREATION_CANCELLED"

    def __init__(self, id: AgentId) -> None:
        super().__init__(
            f"the creation of agent {id!r} was aborted: its host or its parent began to end"
        )
        self.id = id


@final
class AgentRegistry:
    """The agents of a host."""

    def __init__(self) -> None:
        self._factory: AgentFactory | None = None
        self._live: dict[AgentId, Agent] = {}
        self._composing: set[trio.CancelScope] = set()

    def set_factory(self, factory: AgentFactory) -> Registration:
        """Make agents with *factory*. Closing the registration aborts the creations under way.

        Raises:
          DuplicateAgentFactoryError: there is one; nothing changed.
        """
        if self._factory is not None:
            raise DuplicateAgentFactoryError
        self._factory = factory

        def undo() -> None:
            self._factory = None
            for scope in self._composing:
                scope.cancel("the host closes")

        return Registration(undo)

    def open(self, spec: AgentSpec) -> "OpenedAgent":
        """An agent driven by the calling task: its ``wait_idle`` runs the queued turns right there.

        Entering publishes the agent, leaving ends it and everything below it. An error that is
        alone leaves bare, never in a group of one; so does what a task of the agent raises. What is
        listed here is raised on entering; nothing was created.

        Raises:
          NoAgentFactoryError: the host is not open.
          DuplicateAgentError: the id is taken.
          AgentCreationCancelledError: host or parent began to end during ``spec.setup``.
          AgentDisposedError: the parent had begun to end before.
          Exception: whatever ``spec.setup`` raises, or the loop and the store of logs: a seed that
            is no legal log, a directory that is not absolute, an id whose log exists.
        """
        return OpenedAgent(self, spec)

    @trio.lowlevel.enable_ki_protection
    async def create(self, spec: AgentSpec) -> AgentHandle:
        """An agent in a task of its own, in its parent's nursery or else the host's.

        It serves what it is sent until its handle is closed, or its parent or host ends. If it
        crashes that is logged and ends nobody else. Cancelling the call ends the creation, and
        leaves nothing behind. Raises what entering ``open`` raises.
        """
        agent = await self.prepare(spec)
        try:
            nursery = spec.parent.nursery if spec.parent is not None else self._host_nursery()
            handle: AgentHandle = await nursery.start(self._live_on_its_own, agent)
        except BaseException:  # undone, and passed on
            agent.unwind()
            raise
        return handle

    def get(self, id: AgentId, /) -> Agent | None:
        """The live agent of that id: published, and not yet ended."""
        return self._live.get(id)

    def list(self) -> tuple[Agent, ...]:
        """Every live agent, oldest first."""
        return tuple(self._live.values())

    # What follows is the transaction, step by step; ``OpenedAgent`` takes the same steps.

    async def prepare(self, spec: AgentSpec) -> ManagedAgent:
        """Build and compose an agent that nobody can see."""
        if self._factory is None:
            raise NoAgentFactoryError
        if spec.parent is not None and spec.parent.status == "disposed":
            raise AgentDisposedError(spec.parent.id)
        self._assert_free(spec.id)
        agent = self._factory.build(spec)
        if spec.setup is not None:
            await self._compose_or_discard(agent, spec)
        return agent

    async def _compose_or_discard(self, agent: ManagedAgent, spec: AgentSpec) -> None:
        composed = False
        try:
            await self._compose(agent, spec)
            self._assert_free(agent.id)  # of two creations for one id the first to get here wins
            composed = True
        finally:
            if not composed:
                agent.unwind()
                if spec.session is None:  # a log that was handed in stays its owner's
                    await agent.session.aclose()

    async def _compose(self, agent: ManagedAgent, spec: AgentSpec) -> None:
        assert spec.setup is not None
        scope = trio.CancelScope()
        release = spec.parent.adopt(scope) if spec.parent is not None else None
        self._composing.add(scope)
        try:
            composing = _begun(spec.setup, agent)
            if composing is not None:
                with scope:
                    await _interruptible(composing)
        finally:
            self._composing.discard(scope)
            if release is not None:
                release()
        if scope.cancel_called:
            raise AgentCreationCancelledError(agent.id)

    def _assert_free(self, id: AgentId | None) -> None:
        if id is not None and id in self._live:
            raise DuplicateAgentError(id)

    def _host_nursery(self) -> trio.Nursery:
        assert self._factory is not None, "an end of the host ends what it composes"
        return self._factory.nursery

    def publish(self, agent: ManagedAgent) -> None:
        """Show an open agent to everyone."""
        self._live[agent.id] = agent
        agent.dispatch(AgentCreated(agent=agent))

    def withdraw(self, agent: ManagedAgent) -> None:
        """Forget an agent that has ended: its id is free again, then its layers close."""
        del self._live[agent.id]
        try:
            agent.dispatch(AgentDisposed(agent=agent))
        finally:
            agent.unwind()

    @trio.lowlevel.enable_ki_protection
    async def _live_on_its_own(
        self, agent: ManagedAgent, *, task_status: trio.TaskStatus[AgentHandle]
    ) -> None:
        handle = AgentHandle(agent)
        task = trio.lowlevel.current_task()
        published = False
        try:
            self._assert_free(agent.id)
            async with agent:
                task_status.started(handle)
                if task.eventual_parent_nursery is not None:
                    # The caller of create was cancelled: nobody will hold the handle, and trio
                    # would return it all the same if this task did not end cancelled.
                    await trio.sleep_forever()
                published = True
                self.publish(agent)
                await agent.serve()
        except Exception:  # an agent's crash is its own
            if not published:
                raise
            logger.exception("agent %s crashed", agent.id)
        except BaseExceptionGroup as group:
            if not published:
                raise
            crash, others = group.split(Exception)
            assert others is not None, "or it were an ExceptionGroup"
            if crash is not None:
                logger.error("agent %s crashed", agent.id, exc_info=crash)  # noqa: TRY400
            raise others from None
        finally:
            if published:
                self.withdraw(agent)
            handle.mark_ended()


@trio.lowlevel.disable_ki_protection
def _begun(setup: Setup, agent: Agent) -> Awaitable[None] | None:
    return setup(agent)


@trio.lowlevel.disable_ki_protection
async def _interruptible(composing: Awaitable[None]) -> None:
    await composing


@final
class OpenedAgent:
    """An agent in the calling task: ``async with agents.open(spec) as agent``."""

    __slots__ = ("_agent", "_registry", "_spec")

    def __init__(self, registry: AgentRegistry, spec: AgentSpec) -> None:
        self._registry = registry
        self._spec = spec

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> Agent:
        agent = self._agent = await self._registry.prepare(self._spec)
        del self._spec  # what the agent was made from need not live as long as it does
        try:
            await agent.__aenter__()
        except BaseException:  # undone, and passed on
            agent.unwind()
            raise
        try:
            self._registry.publish(agent)
        except BaseException:  # a listener's SystemExit: nobody will leave the agent but us
            await self.__aexit__(*sys.exc_info())
            raise
        return agent

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            return await self._agent.__aexit__(kind, error, traceback)
        finally:
            self._registry.withdraw(self._agent)
