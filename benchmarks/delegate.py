"""A delegation as a model makes it: the parent's two answers, the tool call, and the whole child.

What the parent's turn would cost anyway is measured beside it, with a tool that does nothing.
"""

from collections.abc import Mapping
from typing import Final, final

import trio

from benchmarks import children
from benchmarks.floor import floor_case
from benchmarks.harness import Case, Sample, Stopwatch
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

__all__ = ["CASES"]

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


def _turn(called: str, *, schema: dict[str, object] | None = None) -> Case:
    def case() -> Sample:
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


CASES: Mapping[str, Case] = {
    "delegation": _turn("subagent"),
    "trivial tool": _turn("trivial"),
    "structured delegation": _turn("subagent", schema=SCHEMA),
    **{
        name: case
        for name, case in children.CASES.items()
        if "child" in name and name != "live child"
    },
    "floor of 100": floor_case(100),
}
