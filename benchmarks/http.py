"""A delegation over HTTP: beside bare requests of the same client, and many in one turn.

``benchmarks.original`` does the latter with the original system, at the same kind of endpoint.
"""

from collections.abc import Mapping
from typing import Final

import httpx2
import openai
import trio
from pydantic import SecretStr

from benchmarks.harness import Case, Sample, Stopwatch
from benchmarks.http_endpoint import endpoint
from dsh.agent import AgentOptions, AgentSpec, OpenedAgent
from dsh.agent_loop import open_host
from dsh.llm_openai import OpenAIConfig, OpenAIModel
from dsh.subagent import SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import SubagentToolConfig, mount_subagent_tool

__all__ = ["CASES"]

DELEGATIONS: Final = 40
OPTIONS: Final = AgentOptions(model="m", max_steps=100)


def _bare() -> Sample:
    watch = Stopwatch()

    async def main(url: str) -> None:
        http = httpx2.AsyncClient()
        async with openai.AsyncOpenAI(api_key="k", base_url=url, http_client=http) as client:
            await _ask(client)  # connects
            with watch:
                for _ in range(3 * DELEGATIONS):
                    await _ask(client)

    with endpoint() as url:
        trio.run(main, url)
    return watch.per(DELEGATIONS)


async def _ask(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "hi"}], stream=True
    )
    async for _ in stream:
        pass


def _delegation(*, turns: int, of: int) -> Case:
    """So many turns, each of an agent of its own that delegates as often, one after the other."""

    def case() -> Sample:
        watch = Stopwatch()

        async def main(url: str) -> None:
            config = OpenAIConfig(base_url=url, api_key=SecretStr("k"))
            async with OpenAIModel(config) as model, open_host(options=OPTIONS) as host:
                host.models.register(model, "m")
                subagents = SubagentService()
                subagents.register(SpawnProvider(host.agents))
                mount_subagent_tool(
                    host, subagents, SubagentToolConfig(provider="spawn", max_depth=1)
                )
                await _turn(host.agents.open(AgentSpec()), 1)
                with watch:
                    for _ in range(turns):
                        await _turn(host.agents.open(AgentSpec()), of)

        with endpoint() as url:
            trio.run(main, url)
        return watch.per(turns * of)

    return case


async def _turn(opening: OpenedAgent, delegations: int) -> None:
    async with opening as agent:
        agent.send(f"delegate {delegations}")
        await agent.wait_idle()
        assert agent.model_requests == 2 * delegations + 1, agent.session.events


CASES: Mapping[str, Case] = {
    "three bare requests": _bare,
    "HTTP delegation": _delegation(turns=DELEGATIONS, of=1),
    "HTTP delegation, of 50 in a turn": _delegation(turns=1, of=50),
}
