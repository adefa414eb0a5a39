"""The thinnest path through everything: a parent's model delegates, a child answers."""

import trio

from dsh.agent import AgentOptions, AgentSpec
from dsh.agent.testing import ScriptedModel, call, say
from dsh.agent_loop import open_host
from dsh.subagent import SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import SubagentToolConfig, mount_subagent_tool


async def main() -> None:
    """Run one delegation and print what the parent wrote down."""
    async with open_host() as host:
        host.models.register(
            ScriptedModel(
                call("subagent", description="count", prompt="How many files are there?"),
                say("There are 3 files."),  # the child's turn
                say("My helper counted 3 files."),
            ),
            "scripted",
        )
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        mount_subagent_tool(host, subagents, SubagentToolConfig(provider="spawn"))
        async with host.agents.open(AgentSpec(options=AgentOptions(model="scripted"))) as parent:
            parent.send("Count the files.")
            await parent.wait_idle()
            for seq, event in enumerate(parent.session.events):
                print(seq, event)


if __name__ == "__main__":
    trio.run(main)
