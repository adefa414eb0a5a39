"""What a turn writes down, step by step."""

import pytest

from dsh.agent import (
    AgentOptions,
    AgentSpec,
    AssistantMessage,
    SteeringMessage,
    TextBlock,
    Tool,
    ToolExecution,
    ToolResult,
    TurnEnded,
    UserMessage,
    check_log,
)
from dsh.agent.testing import ScriptedModel, call, say
from dsh.agent_loop import open_host


@pytest.mark.guarantee("B-AGT-20")
async def test_steering_is_read_by_the_running_turn_before_its_next_request() -> None:
    """What is said to a running agent reaches the model in the turn that is running."""
    async with open_host(options=AgentOptions(model="scripted")) as host:
        model = ScriptedModel(call("steer"), say("done"))
        host.models.register(model, "scripted")

        async def steer(execution: ToolExecution) -> ToolResult:
            assert execution.agent is not None
            execution.agent.steer("only the Python files")
            return ToolResult(content=(TextBlock(text="ok"),))

        host.tools.register(
            Tool(name="steer", description="Steer.", parameters={"type": "object"}, execute=steer)
        )
        async with host.agents.open(AgentSpec()) as agent:
            agent.send("Count the files.")
            await agent.wait_idle()
        kinds = [type(event) for event in agent.session.events]
        assert kinds.index(SteeringMessage) < len(kinds) - 1 - kinds[::-1].index(AssistantMessage)
        assert [e.reason for e in agent.session.events if isinstance(e, TurnEnded)] == ["completed"]
        check_log(agent.session.events)


@pytest.mark.guarantee("B-AGT-23")
async def test_everything_that_is_queued_is_served_as_one_turn() -> None:
    """Messages that wait for an agent are answered together, in order."""
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.models.register(ScriptedModel(say("both")), "scripted")
        async with host.agents.open(AgentSpec()) as agent:
            agent.send("one")
            agent.send("two")
            await agent.wait_idle()
        said = [e.message.content for e in agent.session.events if isinstance(e, UserMessage)]
        assert said == [(TextBlock(text="one"),), (TextBlock(text="two"),)]
        assert agent.session.turns == 1
