"""Ask for an answer in a shape: a pydantic model goes in, a validated value comes out."""

import trio
from pydantic import BaseModel, Field

from dsh.agent import AgentOptions, AgentSpec
from dsh.agent.testing import ScriptedModel, call
from dsh.agent_loop import open_host
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent_spawn import SpawnProvider


class Summary(BaseModel):
    """What is wanted of the child."""

    title: str
    points: list[str] = Field(min_length=1)


async def main() -> None:
    """Have a child fill in a summary; its first attempt is not valid."""
    model = ScriptedModel(
        call("structured_output", title="Docs", points=[]),
        call("structured_output", title="Docs", points=["They are short."]),
    )
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.models.register(model, "scripted")
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        async with host.agents.open(AgentSpec()) as parent:
            request = SubagentStartRequest(
                prompt="Summarise ./docs", parent=parent, output_schema=Summary
            )
            result = await subagents.run("spawn", request)
        if result.value is not None:
            print(result.value.title, result.value.points, result.detail)


if __name__ == "__main__":
    trio.run(main)
