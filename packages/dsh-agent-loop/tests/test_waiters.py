"""Who waits for an agent to be idle is let go at the moment it is, whatever made it so."""

import trio
import trio.testing

from dsh.agent import AgentOptions, AgentSpec
from dsh.agent.testing import ScriptedModel, say
from dsh.agent_loop import open_host


async def test_a_cancel_before_the_agents_own_task_woke_up_lets_its_waiters_go() -> None:
    async with (
        open_host(options=AgentOptions(model="scripted")) as host,
        await host.agents.create(AgentSpec()) as agent,
    ):
        await trio.testing.wait_all_tasks_blocked()
        agent.send("hello")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(agent.wait_idle)
            agent.cancel()
        assert agent.session.turns == 0


async def test_any_number_of_tasks_may_wait_for_one_agent() -> None:
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.models.register(ScriptedModel(say("hi")), "scripted")
        async with await host.agents.create(AgentSpec()) as agent:
            agent.send("hello")
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(agent.wait_idle)
            assert agent.session.turns == 1
