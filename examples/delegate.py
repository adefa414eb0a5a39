"""Delegate to a fresh child, and read what came of it."""

import trio

from dsh.agent import AgentOptions, AgentSpec
from dsh.agent.testing import ScriptedModel, say
from dsh.agent_loop import open_host
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent_spawn import SpawnProvider


async def main() -> None:
    """Spawn one child with a time limit."""
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.models.register(ScriptedModel(say("There are 3 files.")), "scripted")
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        async with host.agents.open(AgentSpec()) as parent:
            request = SubagentStartRequest(
                prompt="How many files are there?",
                parent=parent,
                cancel_scope=trio.CancelScope(relative_deadline=60),
            )
            result = await subagents.run("spawn", request)
        print(result.text if result.completed else f"{result.stop_reason}: {result.detail}")


if __name__ == "__main__":
    trio.run(main)
