"""A host with both in-process backends, and a parent that delegates to them."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import pytest

from dsh.agent import Agent, AgentId, AgentOptions, AgentSpec
from dsh.agent.testing import Script, ScriptedModel
from dsh.agent_loop import Host, open_host
from dsh.subagent import SubagentResult, SubagentRun, SubagentService, SubagentStartRequest
from dsh.subagent_fork import ForkProvider
from dsh.subagent_spawn import SpawnProvider


@dataclass
class Home:
    """A host, its backends ``spawn`` and ``fork``, and an idle parent of the model ``model``."""

    host: Host
    subagents: SubagentService
    parent: Agent

    def script(self, *steps: Script, name: str = "model") -> ScriptedModel:
        """Have the model of that name answer with *steps*, parent and children alike."""
        model = ScriptedModel(*steps)
        self.host.models.register(model, name)
        return model

    async def ask(self, prompt: str) -> None:
        """Have the parent serve *prompt*."""
        self.parent.send(prompt)
        await self.parent.wait_idle()

    def request(self, **fields: Any) -> SubagentStartRequest[Any]:
        """A request of the parent."""
        return SubagentStartRequest(**{"prompt": "go", "parent": self.parent} | fields)

    async def start(self, provider: str = "spawn", **fields: Any) -> SubagentRun[Any]:
        """Start a child of the parent."""
        return await self.subagents.start(provider, self.request(**fields))

    async def run(self, provider: str = "spawn", **fields: Any) -> SubagentResult[Any]:
        """Run a child of the parent to its end."""
        return await self.subagents.run(provider, self.request(**fields))


@pytest.fixture
async def home() -> AsyncGenerator[Home]:
    async with open_host() as host:
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        subagents.register(ForkProvider(host.agents))
        spec = AgentSpec(
            id=AgentId("parent"), options=AgentOptions(model="model"), cwd="/srv/project"
        )
        async with host.agents.open(spec) as parent:
            yield Home(host, subagents, parent)
