"""The check for leaks, looking into a real host."""

import pytest
import trio
import trio.testing

from dsh.agent import AgentCreated, AgentOptions, AgentSpec, Section
from dsh.agent.testing import LeakError, ScriptedModel, assert_no_leaks, hang, host_probe
from dsh.agent_loop import open_host


async def test_everything_a_host_still_holds_is_named() -> None:
    async with open_host(options=AgentOptions(model="scripted")) as host:

        async def leave_all() -> None:
            with assert_no_leaks(host_probe(host)):
                host.models.register(ScriptedModel(hang()), "scripted", max_concurrent=1)
                host.hooks.on(AgentCreated, print)
                host.prompt.register(Section(name="rules", text="Be kind."))
                handle = await host.agents.create(AgentSpec())
                handle.agent.send("hello")
                await trio.testing.wait_all_tasks_blocked()

        with pytest.raises(LeakError) as caught:
            await leave_all()
    left = " ".join(caught.value.left)
    for what in ("agent ", "model 'scripted'", "section 'rules'", "AgentCreated", "token", "task"):
        assert what in left, left


async def test_a_host_whose_agent_was_closed_and_listener_taken_back_holds_nothing_new() -> None:
    async with open_host(options=AgentOptions(model="scripted")) as host:
        with assert_no_leaks(host_probe(host)), host.hooks.on(AgentCreated, repr):
            async with host.agents.open(AgentSpec()):
                await trio.lowlevel.checkpoint()
