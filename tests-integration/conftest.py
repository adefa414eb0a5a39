"""A host with both in-process backends, and a parent that delegates to them."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

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


@pytest.fixture
def plain_http(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ask an endpoint of this machine, without TLS, as if there were no more to a network.

    No proxy, which would be asked for loopback as well. And nobody is trusted: an SDK reads every
    certificate of the machine for each client it makes, which takes longer than most of the tests.
    """
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
