"""What the tests of the loop share: a host, a script for its model, tools of a few lines."""

from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Protocol

import pytest

from dsh.agent import (
    Agent,
    AgentCreated,
    AgentOptions,
    TextBlock,
    Tool,
    ToolExecution,
    ToolResult,
    TurnEnded,
    check_log,
)
from dsh.agent.testing import Script, ScriptedModel, assert_no_leaks
from dsh.agent_loop import Host, open_host


@pytest.fixture
def no_leaks() -> Generator[None]:
    with assert_no_leaks():
        yield


@pytest.fixture
async def host(no_leaks: None) -> AsyncIterator[Host]:
    """An open host. Every log of every agent it ever had must be legal in the end."""
    agents: list[Agent] = []
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.hooks.on(AgentCreated, lambda event: agents.append(event.agent))
        yield host
    for agent in agents:
        check_log(agent.session.events)


@pytest.fixture
def script(host: Host) -> Callable[..., ScriptedModel]:
    """Give the host's agents a model that follows a script."""

    def follow(*steps: Script) -> ScriptedModel:
        model = ScriptedModel(*steps)
        host.models.register(model, "scripted")
        return model

    return follow


class Offer(Protocol):
    def __call__(
        self,
        name: str,
        body: Callable[[ToolExecution], Awaitable[str | ToolResult]],
        *,
        concurrent: bool = False,
    ) -> None: ...


@pytest.fixture
def offer(host: Host) -> Offer:
    """Give the host a tool whose body returns text, or a result."""

    def register(
        name: str,
        body: Callable[[ToolExecution], Awaitable[str | ToolResult]],
        *,
        concurrent: bool = False,
    ) -> None:
        async def execute(execution: ToolExecution) -> ToolResult:
            made = await body(execution)
            if isinstance(made, str):
                return ToolResult(content=(TextBlock(text=made),))
            return made

        host.tools.register(
            Tool(
                name=name,
                description=f"Does {name}.",
                parameters={"type": "object"},
                execute=execute,
                concurrent=concurrent,
            )
        )

    return register


@pytest.fixture
def ends() -> Callable[[Agent], list[tuple[str, str | None]]]:
    """How each turn of an agent ended: reason and detail."""

    def read(agent: Agent) -> list[tuple[str, str | None]]:
        events = agent.session.events
        return [(e.reason, e.detail) for e in events if isinstance(e, TurnEnded)]

    return read
