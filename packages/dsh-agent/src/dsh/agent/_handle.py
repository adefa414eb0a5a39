"""The holder's end of an agent that lives in a task of its own."""

from typing import final

import trio

from dsh.agent._agent import Agent, SelfWaitError
from dsh.agent._managed import ManagedAgent

__all__ = ["AgentHandle"]


@final
class AgentHandle:
    """An agent from ``AgentRegistry.create``: usable from any task, closed by whoever holds it.

    Made by the agent's own task, which reports its end here.
    """

    __slots__ = ("_agent", "_ended", "_task")

    def __init__(self, agent: ManagedAgent) -> None:
        self._agent = agent
        self._ended = trio.Event()
        self._task = trio.lowlevel.current_task()

    @property
    def agent(self) -> Agent:
        """The agent itself."""
        return self._agent

    async def aclose(self) -> None:
        """End the agent and return when nothing of it runs any more.

        As often as you like and from as many tasks: all of them return at that one moment. A
        cancelled caller waits all the same, since the agent's end cannot be called off.

        Raises:
          SelfWaitError: called from one of the agent's own tasks, which would wait for itself.
        """
        if self._is_inside(trio.lowlevel.current_task()):
            raise SelfWaitError(self._agent.id, "the end")
        self._agent.end("the agent was closed")
        with trio.CancelScope(shield=True):
            await self._ended.wait()

    def _is_inside(self, task: trio.lowlevel.Task) -> bool:
        while task is not self._task:
            if task.parent_nursery is None:
                return False
            task = task.parent_nursery.parent_task
        return not self._ended.is_set()

    def mark_ended(self) -> None:
        """Let everyone go who waits for the end; the agent's own task calls it last."""
        self._ended.set()

    async def __aenter__(self) -> Agent:
        return self._agent

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<AgentHandle {self._agent.id}: {self._agent.status}>"
