"""A delegation over HTTP: beside bare requests of the same client, and many in one turn.

``benchmarks.original`` does the latter with the original system, at the same kind of endpoint.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import httpx2
import openai
import trio
from openai.types.chat import ChatCompletionMessageParam
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
MESSAGES: Final[list[ChatCompletionMessageParam]] = [{"role": "user", "content": "hi"}]


def _requests(ask: Callable[[openai.AsyncOpenAI], Awaitable[None]]) -> Case:
    """As many requests as a delegation makes, with the same client and no agent."""

    def case() -> Sample:
        watch = Stopwatch()

        async def main(url: str) -> None:
            http = httpx2.AsyncClient()
            async with openai.AsyncOpenAI(api_key="k", base_url=url, http_client=http) as client:
                await ask(client)  # connects
                with watch:
                    for _ in range(3 * DELEGATIONS):
                        await ask(client)

        with endpoint() as url:
            trio.run(main, url)
        return watch.per(DELEGATIONS)

    return case


async def _bare(client: openai.AsyncOpenAI) -> None:
    """Ask as the SDK's users do, who are given objects."""
    stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
    async for _ in stream:
        pass


async def _unparsed(client: openai.AsyncOpenAI) -> None:
    """Send what our model sends, as it does, and read the answer without understanding it."""
    body = {"model": "m", "messages": MESSAGES, "stream": True}
    raw = await client.chat.completions.with_raw_response.create(
        model="", messages=[], stream=True, extra_body=body
    )
    async for _ in raw.http_response.aiter_bytes():
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
    "three bare requests": _requests(_bare),
    "three requests, answers not parsed": _requests(_unparsed),
    "HTTP delegation": _delegation(turns=DELEGATIONS, of=1),
    "HTTP delegation, of 50 in a turn": _delegation(turns=1, of=50),
}
