"""One agent's process: its group, the tail of what it complains of, and the ladder that ends it.

Next: `_connection.py`, what is said over its pipes.
"""

import logging
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import trio

from dsh.subagent_acp._group import is_group_alive, signal_group, wait_group_gone

__all__ = ["AgentProcess", "Graces", "open_agent_process"]

logger: Final = logging.getLogger("dsh.subagent_acp")

_TAIL: Final = 8_192
"""How many bytes of stderr are kept."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Graces:
    """Seconds each rung of the ladder takes at most."""

    eof: float
    term: float
    kill: float


@final
class AgentProcess:
    """A running agent, the leader of a session and a process group of its own.

    Whoever opened it ends it with `end`, on every path, and keeps `drain_stderr` running meanwhile.
    """

    def __init__(self, process: trio.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdin, self.stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self.pid = process.pid
        self.survived = False
        """Whether something of the group outlived SIGKILL."""
        self._process = process
        self._ended_by: signal.Signals | None = None
        self._tail = bytearray()

    async def wait(self) -> None:
        """Wait until the leader has exited; at once where it has."""
        await self._process.wait()

    @property
    def exit_status(self) -> str:
        """How the leader ended, as the end of a sentence that begins with its name."""
        code = self._process.returncode
        if code is None:
            return "still runs"
        if self._ended_by is not None:
            return f"was ended by {self._ended_by.name}"
        return f"exited with status {code}" if code >= 0 else f"was killed by signal {-code}"

    @property
    def has_exited(self) -> bool:
        """Whether the leader is gone."""
        return self._process.returncode is not None

    @property
    def stderr_tail(self) -> str:
        """The end of what the agent wrote to stderr."""
        return self._tail.decode(errors="replace").strip()

    async def drain_stderr(self) -> None:
        """Read stderr until it is closed, keeping its tail."""
        async for data in self._stderr:
            self._tail += data
            del self._tail[:-_TAIL]

    async def end(self, graces: Graces) -> None:
        """End the whole group: wait for the leader, then SIGTERM, then SIGKILL (B-PROC-06, 07).

        stdin is closed, or about to be, by whoever writes to it. No signal goes to a leader that
        takes the end of its input for the end; what it leaves behind in its group is ended too.
        Returns when nothing of the group runs, or says `survived`: that is logged as an error.

        The id of the group cannot come to mean another one in between, short of all ids being used
        up in the moment after its last member is reaped.
        """
        with trio.move_on_after(graces.eof):
            await self.wait()
        rungs = ((signal.SIGTERM, graces.term), (signal.SIGKILL, graces.kill))
        for rung, grace in rungs:
            if self.has_exited and not is_group_alive(self.pid):
                return
            if not self.has_exited:
                self._ended_by = rung
            signal_group(self.pid, rung)
            with trio.move_on_after(grace):
                await self.wait()
                await wait_group_gone(self.pid)
        if not self.has_exited or is_group_alive(self.pid):
            self.survived = True
            logger.error(
                "process group %d survived SIGKILL for %g s and is given up", self.pid, graces.kill
            )

    async def close(self) -> None:
        """Let go of the pipes; a descendant that left the group may still hold the other ends."""
        with trio.CancelScope(shield=True):  # closing a pipe does not block
            for pipe in (self.stdin, self.stdout, self._stderr):
                await pipe.aclose()


async def open_agent_process(
    command: Sequence[str], *, cwd: str, environment: Mapping[str, str]
) -> AgentProcess:
    """Start *command* in a session of its own, with pipes.

    Raises:
      OSError: there is no such command, or it cannot be executed.
    """
    return AgentProcess(
        await trio.lowlevel.open_process(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
        )
    )
