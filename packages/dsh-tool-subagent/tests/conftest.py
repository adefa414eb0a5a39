"""A real host with a scripted model, and scripted children."""

from collections.abc import AsyncGenerator, Callable

import pytest

from dsh.agent import Agent, AgentOptions, AgentSpec, TextBlock, ToolResultBlock, ToolResulted
from dsh.agent_loop import Host, open_host
from dsh.subagent import SubagentService


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    async with open_host() as opened:
        yield opened


@pytest.fixture
def subagents() -> SubagentService:
    return SubagentService()


@pytest.fixture
async def parent(host: Host) -> AsyncGenerator[Agent]:
    async with host.agents.open(AgentSpec(options=AgentOptions(model="m"))) as agent:
        yield agent


@pytest.fixture
def results(parent: Agent) -> Callable[[], list[ToolResultBlock]]:
    """What the parent's calls came to, in the order of its log."""

    def found() -> list[ToolResultBlock]:
        return [e.result for e in parent.session.events if isinstance(e, ToolResulted)]

    return found


@pytest.fixture
def texts(results: Callable[[], list[ToolResultBlock]]) -> Callable[[], list[str]]:
    """The text of each of the parent's results."""

    def found() -> list[str]:
        return [
            "".join(block.text for block in result.content if isinstance(block, TextBlock))
            for result in results()
        ]

    return found
