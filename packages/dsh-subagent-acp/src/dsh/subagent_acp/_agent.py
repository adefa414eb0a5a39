"""A running agent: a process and a connection to it, for the length of a block.

Whatever leaves the block, the ladder is walked to its end before it is left: the tasks that keep
the pipes moving are shielded until then, since an agent that cannot write cannot end itself either.
Next: `_session.py`, the conversation.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import trio

from dsh.subagent_acp._connection import Connection
from dsh.subagent_acp._errors import AcpConnectionError, AcpStartError
from dsh.subagent_acp._process import AgentProcess, Graces, open_agent_process

__all__ = ["Agent", "open_agent"]

_PATIENCE: Final = 1.0
"""Seconds between the end of an agent's output and of its process, either first, before the
connection is given up; also how long what it wrote last may take to be read."""


class Agent:
    """A process and a connection to it."""

    def __init__(self, process: AgentProcess, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self._read_all = trio.Event()

    async def pump(self, scope: trio.CancelScope) -> None:
        """Keep everything moving until *scope* is cancelled."""
        with scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write)
                nursery.start_soon(self.process.drain_stderr)
                nursery.start_soon(self._read)
                nursery.start_soon(self._watch)

    async def end(self, graces: Graces) -> None:
        """Say nothing more, end the process, and read what it said last."""
        self.connection.close()
        await self.process.end(graces)
        with trio.move_on_after(_PATIENCE):
            await self._read_all.wait()

    async def _write(self) -> None:
        if await self.connection.write(self.process.stdin):
            return
        with trio.move_on_after(_PATIENCE):  # its end tells more, and so does what it said last
            await self.process.wait()
            await self._read_all.wait()
        self._give_up("closed its input")

    async def _read(self) -> None:
        await self.connection.read(self.process.stdout)
        self._read_all.set()
        with trio.move_on_after(_PATIENCE):
            await self.process.wait()
        self._give_up("closed its output")

    async def _watch(self) -> None:
        await self.process.wait()
        with trio.move_on_after(_PATIENCE):  # a descendant may hold its output open for ever
            await self._read_all.wait()
        self._give_up("ended")

    def _give_up(self, how: str) -> None:
        if self.process.has_exited:
            how = self.process.exit_status
        self.connection.fail(AcpConnectionError(f"the agent {how}"))


@asynccontextmanager
async def open_agent(
    command: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    graces: Graces,
    max_line_bytes: int,
    repeat: Callable[[str], str],
) -> AsyncGenerator[Agent]:
    """Start *command* and hold it for the block; after the block its whole group is gone.

    Of the command and of what the agent says, messages have what *repeat* makes of it.

    Raises:
      AcpStartError: there is no such command, or it cannot be executed.
    """
    try:
        process = await open_agent_process(command, cwd=cwd, environment=environment)
    except (OSError, ValueError) as exc:  # ValueError: a null byte in an argument or a variable
        raise AcpStartError([repeat(each) for each in command], "start", str(exc)) from exc
    agent = Agent(process, Connection(max_line_bytes=max_line_bytes, repeat=repeat))
    pumping = trio.CancelScope(shield=True)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(agent.pump, pumping)
            try:
                yield agent
            finally:
                with trio.CancelScope(shield=True):  # bounded by the graces
                    await agent.end(graces)
                pumping.cancel("the agent has ended")
    finally:
        await process.close()
