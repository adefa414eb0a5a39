"""The bridge with a whole host behind it, and its example."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from dsh.agent import Agent, AgentOptions, AgentSpec
from dsh.agent.testing import ScriptedModel, assert_no_leaks, say
from dsh.agent_loop import open_host
from dsh.bridge_asyncio import Mode, open_bridge
from dsh.subagent import RunEnded, SubagentService, SubagentStartRequest
from dsh.subagent_spawn import SpawnProvider

EXAMPLE: Final = Path(__file__).parents[1] / "examples" / "from_asyncio.py"
MODES: Final[tuple[Mode, ...]] = ("guest", "thread")


@pytest.mark.parametrize("mode", MODES)
def test_the_example_prints_both_answers(mode: Mode) -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 30
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE, mode],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "What is it? Forty-two. (completed)\nWhy? Well (timeout)\n"
    assert done.stderr == ""


@pytest.mark.parametrize("mode", MODES)
def test_an_asyncio_program_delegates_as_an_agent_of_a_host(mode: Mode) -> None:
    agents: list[Agent] = []

    @asynccontextmanager
    async def compose(subagents: SubagentService) -> AsyncGenerator[Agent]:
        async with open_host() as host:
            host.models.register(ScriptedModel(say("There are 3 files.")), "scripted")
            subagents.register(SpawnProvider(host.agents))
            spec = AgentSpec(options=AgentOptions(model="scripted"))
            async with host.agents.open(spec) as agent:
                agents.append(agent)
                yield agent

    ended: list[RunEnded] = []

    async def main() -> str:
        async with open_bridge(compose, mode=mode) as bridge:
            bridge.on(RunEnded, ended.append)
            assert bridge.parent.id == agents[0].id
            request = SubagentStartRequest(prompt="How many files?", parent=bridge.parent)
            return (await bridge.run("spawn", request)).text

    with assert_no_leaks():
        assert asyncio.run(main(), debug=True) == "There are 3 files."
    (event,) = ended
    assert (event.parent_id, event.stop_reason) == (agents[0].id, "completed")
