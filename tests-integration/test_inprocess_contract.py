"""Spawn and fork, held to the contract of a backend clause by clause."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest
import trio
from home import text_of

from dsh.agent import (
    Agent,
    AgentOptions,
    AgentRegistry,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    ModelError,
    OnDelta,
)
from dsh.agent.testing import call, say
from dsh.agent_loop import Host, open_host
from dsh.subagent import SubagentProvider
from dsh.subagent.testing import CLAUSES, Behaviour, Drive, check_provider
from dsh.subagent_fork import ForkProvider
from dsh.subagent_spawn import SpawnProvider

BACKENDS: Final[dict[str, Callable[[AgentRegistry], SubagentProvider]]] = {
    "spawn": SpawnProvider,
    "fork": ForkProvider,
}


class Obedient(Drive):
    """Drives children by a model that does what the last message tells it to."""

    host: Host
    requests = 0

    def __init__(self, backend: str) -> None:
        self._backend = backend

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        self.requests += 1
        await trio.lowlevel.checkpoint()
        match text_of(request.messages[-1]).split()[-1]:
            case Behaviour.HANG:
                await trio.sleep_forever()
            case Behaviour.LINGER:
                try:
                    await trio.sleep_forever()
                finally:
                    with trio.move_on_after(0.05, shield=True):
                        await trio.sleep_forever()
            case Behaviour.FAIL:
                raise ModelError("as told", code="SERVER")
            case "structured":
                return call("structured_output", answer="as told")
            case _:
                return say("as told")
        raise AssertionError("unreachable")

    @asynccontextmanager
    async def provider(self) -> AsyncGenerator[SubagentProvider]:
        async with open_host(options=AgentOptions(model="model")) as self.host:
            self.host.models.register(self, "model")
            yield BACKENDS[self._backend](self.host.agents)

    @asynccontextmanager
    async def parent(self) -> AsyncGenerator[Agent]:
        async with self.host.agents.open(AgentSpec()) as agent:
            agent.send("say hello")
            await agent.wait_idle()
            yield agent

    def running(self) -> int:
        return sum(agent.depth > 0 for agent in self.host.agents.list())

    def worked(self) -> int:
        return self.requests

    def structured(self) -> str:
        return "structured"


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize("backend", BACKENDS)
async def test_in_process_backends_keep_the_contract(
    backend: str, clause: str, autojump_clock: object
) -> None:
    drive = Obedient(backend)
    await check_provider(drive.provider, drive, clauses=[clause])
