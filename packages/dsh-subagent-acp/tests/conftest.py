"""What the tests of this package share: agents, a parent, and a way to ask one thing of one."""

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import pytest
import trio

from dsh.subagent import SubagentResult, SubagentRun, SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import AcpConfig, AcpProvider

RAW = Path(__file__).parent / "agents" / "raw.py"


class Bench:
    """One backend, one parent, and what it costs to look at both."""

    def __init__(self, parent: ScriptedParent, folder: Path) -> None:
        self.parent = parent
        self.folder = folder
        self.log = folder / "log"
        self.ready = folder / "ready"
        os.mkfifo(self.ready)
        self._ready = os.open(self.ready, os.O_RDWR | os.O_NONBLOCK)

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self._ready)

    def config(self, script: dict[str, Any] | None = None, **settings: Any) -> AcpConfig:
        """The raw agent, told what to do, with graces of a test."""
        told = {"log": str(self.log), "ready": str(self.ready)} | (script or {})
        given: dict[str, Any] = {
            "command": sys.executable,
            "args": ("-S", "-E", str(RAW), json.dumps(told)),
            "eof_grace": 2,
            "term_grace": 2,
            "startup_timeout": 20,
        }
        return AcpConfig.model_validate(given | settings)

    def service(self, script: dict[str, Any] | None = None, **settings: Any) -> SubagentService:
        """A service with that backend."""
        service = SubagentService()
        service.register(AcpProvider(self.config(script, **settings)))
        return service

    def request(self, prompt: Any = "go", **fields: Any) -> SubagentStartRequest[Any]:
        """A request of the parent."""
        given: dict[str, Any] = {"prompt": prompt, "parent": self.parent}
        return SubagentStartRequest(**(given | fields))

    async def run(
        self,
        script: dict[str, Any] | None = None,
        *,
        request: SubagentStartRequest[Any] | None = None,
        **settings: Any,
    ) -> SubagentResult[Any]:
        """Delegate, wait, close."""
        service = self.service(script, **settings)
        return await service.run("acp", request or self.request())

    async def turn(self, *steps: dict[str, Any], **settings: Any) -> SubagentResult[Any]:
        """Delegate to an agent whose turn has these steps."""
        return await self.run({"steps": list(steps)}, **settings)

    async def start(
        self,
        script: dict[str, Any] | None = None,
        *,
        request: SubagentStartRequest[Any] | None = None,
        **settings: Any,
    ) -> SubagentRun[Any]:
        """Delegate and hold."""
        service = self.service(script, **settings)
        return await service.start("acp", request or self.request())

    def heard(self, method: str | None = None) -> list[dict[str, Any]]:
        """What the agent was sent, in order."""
        if not self.log.exists():
            return []
        messages = [json.loads(line) for line in self.log.read_bytes().splitlines()]
        return [each for each in messages if method is None or each.get("method") == method]

    def children(self) -> list[int]:
        """This process's children that can still run."""
        return children()

    async def kill_children(self) -> None:
        """End what a test has left on purpose."""
        for pid in children():
            os.kill(pid, signal.SIGKILL)
            await trio.to_thread.run_sync(os.waitpid, pid, 0)

    def is_alive(self, pid: int) -> bool:
        """Whether a process can still run; a zombie cannot."""
        return is_alive(pid)

    async def works(self) -> None:
        """Wait until an agent has its prompt, or is where it stays silent."""
        with trio.fail_after(20):
            await trio.lowlevel.wait_readable(self._ready)
        os.read(self._ready, 1)


def is_alive(pid: int) -> bool:
    """Whether a process can still run; a zombie cannot."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def children() -> list[int]:
    """This process's children that can still run."""
    mine: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and is_alive(int(entry.name)):
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == os.getpid():
                mine.append(int(entry.name))
    return mine


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    """A bench; when the test is over no process of its own is left."""
    async with ScriptedParent(cwd=str(tmp_path)) as parent:
        made = Bench(parent, tmp_path)
        yield made
    made.close()
    assert children() == []


@pytest.fixture
def reap() -> Generator[list[int]]:
    """Processes that a test itself has to end."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
