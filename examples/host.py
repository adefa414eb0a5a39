"""A host of one agent with two tools; its model follows a script, so there is no network."""

import trio

from dsh.agent import AgentOptions, AgentSpec, EventLogged, ToolResulted, tool
from dsh.agent.testing import ScriptedModel, call, reply, say
from dsh.agent_loop import open_host


@tool(concurrent=True)
async def population(city: str) -> int:
    """How many people live in a city."""
    return {"Lyon": 520_000, "Nantes": 320_000}[city]


@tool
def add(numbers: list[int]) -> int:
    """The sum of some numbers; a plain function, so it runs in a thread."""
    return sum(numbers)


def show(told: EventLogged) -> None:
    """Print what the tools came to."""
    if isinstance(told.event, ToolResulted):
        print("tool: ", *(getattr(block, "text", block) for block in told.event.result.content))


async def main() -> None:
    """Ask one question."""
    script = ScriptedModel(
        reply(call("population", city="Lyon"), call("population", city="Nantes", call_id="2")),
        call("add", numbers=[520_000, 320_000]),
        say("Together 840000 people live there."),
    )
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.models.register(script, "scripted")
        host.tools.register(population)
        host.tools.register(add)
        host.hooks.on(EventLogged, show)
        async with host.agents.open(AgentSpec()) as agent:
            agent.send("How many people live in Lyon and Nantes?")
            await agent.wait_idle()
            print("model:", agent.session.messages[-1].text)
            print(f"{agent.model_requests} requests, {agent.usage.total_tokens} tokens")


trio.run(main)
