"""A delegation as a model makes it: the parent's two answers, the tool call, and the whole child.

What the parent's turn would cost anyway is measured beside it, with a tool that does nothing. The
limits are in floors; ``benchmarks.peer`` measures the same turn beside other libraries.
"""

from collections.abc import Sequence
from typing import Final, final

import trio

from benchmarks.floor import floor_case
from benchmarks.harness import Benchmark, Case, Figure, Stopwatch, interleaved
from dsh.agent import (
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    Message,
    OnDelta,
    TextBlock,
    tool,
)
from dsh.agent.testing import call, say
from dsh.agent_loop import open_host
from dsh.subagent import SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import mount_subagent_tool

__all__ = ["BENCHMARK", "turn_case"]

DELEGATIONS: Final = 300
SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}


@tool
async def trivial(description: str, prompt: str) -> str:
    """Do nothing."""
    return "12"


@final
class Model:
    """Plays parent and child, without latency: whoever is told to count answers, or captures."""

    def __init__(self, name: str) -> None:
        self._call = call(name, description="count", prompt="count them")
        self._capture = call("structured_output", count=12)
        self._say = say("12")

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel``."""
        await trio.lowlevel.checkpoint()
        last: Message = request.messages[-1]
        match last.content[0]:
            case TextBlock(text="go"):
                return self._call
            case TextBlock() if any(t.name == "structured_output" for t in request.tools or ()):
                return self._capture
            case _:
                return self._say


def turn_case(called: str, *, schema: dict[str, object] | None = None) -> Case:
    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            async with open_host(options=AgentOptions(model="model")) as host:
                host.models.register(Model(called), "model")
                host.tools.register(trivial)
                subagents = SubagentService()
                subagents.register(SpawnProvider(host.agents))
                config = {"provider": "spawn", "max_children": None, "output_schema": schema}
                mount_subagent_tool(host, subagents, config)
                async with host.agents.open(AgentSpec()) as agent:
                    with watch:
                        for _ in range(DELEGATIONS):
                            agent.send("go")
                            await agent.wait_idle()

        trio.run(main)
        return watch.per(DELEGATIONS)

    return case


def _run(rounds: int) -> Sequence[Figure]:
    measured = interleaved(
        {
            "floor at 100": floor_case(100),
            "a turn with a trivial tool": turn_case("trivial"),
            "a turn that delegates": turn_case("subagent"),
            "a turn that delegates for a structure": turn_case("subagent", schema=SCHEMA),
        },
        rounds=rounds,
    )
    structured = "a turn that delegates for a structure"
    added = measured.median("a turn that delegates") - measured.median("a turn with a trivial tool")
    return (
        *(measured.microseconds(case) for case in measured.samples),
        Figure(name="what delegating adds to the turn", value=added * 1e6, unit="µs"),
        measured.ratio("a turn that delegates", "floor at 100", limit=6),
        measured.ratio(structured, "a turn that delegates", limit=1.5),
    )


BENCHMARK = Benchmark(name="delegate", about="delegations through the tool", run=_run)
