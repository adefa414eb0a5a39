"""A delegation over HTTP: what it costs beside three bare requests of the same client."""

import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final

import httpx2
import openai
import trio
from pydantic import SecretStr

from benchmarks.harness import Benchmark, Case, Figure, Stopwatch, interleaved
from dsh.agent import AgentOptions, AgentSpec, OpenedAgent
from dsh.agent_loop import open_host
from dsh.llm_openai import OpenAIConfig, OpenAIModel
from dsh.subagent import SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import SubagentToolConfig, mount_subagent_tool

__all__ = ["BENCHMARK"]

DELEGATIONS: Final = 40
OPTIONS: Final = AgentOptions(model="m")


@contextmanager
def _endpoint() -> Generator[str]:
    command = [sys.executable, "-m", "benchmarks.http_endpoint"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()  # its sign to end


def _bare(url: str) -> Case:
    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            async with openai.AsyncOpenAI(
                api_key="k", base_url=url, http_client=httpx2.AsyncClient()
            ) as client:
                await _ask(client)  # connects
                with watch:
                    for _ in range(3 * DELEGATIONS):
                        await _ask(client)

        trio.run(main)
        return watch.per(DELEGATIONS)

    return case


async def _ask(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "hi"}], stream=True
    )
    async for _ in stream:
        pass


def _delegation(url: str) -> Case:
    config = OpenAIConfig(base_url=url, api_key=SecretStr("k"))

    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            async with OpenAIModel(config) as model, open_host(options=OPTIONS) as host:
                host.models.register(model, "m")
                subagents = SubagentService()
                subagents.register(SpawnProvider(host.agents))
                mount_subagent_tool(
                    host, subagents, SubagentToolConfig(provider="spawn", max_depth=1)
                )
                await _delegate(host.agents.open(AgentSpec()))
                with watch:
                    for _ in range(DELEGATIONS):
                        await _delegate(host.agents.open(AgentSpec()))

        trio.run(main)
        return watch.per(DELEGATIONS)

    return case


async def _delegate(opening: OpenedAgent) -> None:
    async with opening as agent:
        agent.send("go")
        await agent.wait_idle()
        assert agent.model_requests == 3, agent.session.events


def _run(rounds: int) -> Sequence[Figure]:
    with _endpoint() as url:
        cases = {"three bare requests": _bare(url), "a delegation": _delegation(url)}
        measured = interleaved(cases, rounds=rounds)
    beyond = measured.median("a delegation") - measured.median("three bare requests")
    return (
        *(measured.microseconds(case) for case in measured.samples),
        Figure(name="a delegation beyond them", value=beyond * 1e3, unit="ms", limit=1.0),
    )


BENCHMARK = Benchmark(name="http", about="a delegation over HTTP", run=_run)
