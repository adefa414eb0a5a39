"""A host with both in-process backends, and a parent that delegates to them."""

from collections.abc import AsyncGenerator

import pytest
from home import Home

from dsh.agent import AgentId, AgentOptions, AgentSpec
from dsh.agent_loop import open_host
from dsh.subagent import SubagentService
from dsh.subagent_fork import ForkProvider
from dsh.subagent_spawn import SpawnProvider


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
