"""Ask two children that know the conversation so far, at once."""

import trio

from dsh.agent import AgentOptions, AgentSpec, ChatRequest, ChatResponse, TextBlock
from dsh.agent.testing import ScriptedModel, say
from dsh.agent_loop import open_host
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent_fork import ForkProvider


def answer(request: ChatRequest) -> ChatResponse:
    """Say how long the conversation is, and end with the task."""
    block = request.messages[-1].content[-1]
    task = block.text if isinstance(block, TextBlock) else ""
    return say(f"after {len(request.messages) - 1} messages: {task}")


async def main() -> None:
    """Fork a parent twice and print both answers, in the order of the asking."""
    model = ScriptedModel(say("Noted."), answer, answer)
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.models.register(model, "scripted")
        subagents = SubagentService()
        subagents.register(ForkProvider(host.agents))
        async with host.agents.open(AgentSpec()) as parent:
            parent.send("We release on Friday.")
            await parent.wait_idle()
            tasks = ("Draft the announcement.", "List the risks.")
            requests = [SubagentStartRequest(prompt=task, parent=parent) for task in tasks]
            runs = [await subagents.start("fork", request) for request in requests]
            for run in runs:
                async with run:
                    print((await run.result()).text)


if __name__ == "__main__":
    trio.run(main)
