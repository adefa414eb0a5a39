"""A parent's turn that delegates, cancelled at every scheduler step, by every route.

The parent delegates once, eight times in one response, or twice with children of their own; its
children clean up slowly. After each run the logs are sound, every child has ended, finished answers
are kept, and the same parent and host serve the next prompt.
"""

import logging
from collections.abc import Generator
from functools import partial
from typing import Final, final

import pytest
import trio
from digging import answer

from dsh.agent import (
    Agent,
    AgentCreated,
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    OnDelta,
    Session,
    TextBlock,
    TextDelta,
    ToolFinished,
    ToolResulted,
    TurnEnded,
    check_log,
)
from dsh.agent.testing import SweepReport, SweepStage, assert_no_leaks, host_probe, sweep
from dsh.agent_loop import Host, open_host
from dsh.subagent import RunEnded, RunStarted, SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import mount_subagent_tool

SHAPES: Final = {"one": "dig 1", "eight": "fan 8", "nested": "fan 2 1"}


async def pass_time(seconds: float) -> None:
    """Let virtual seconds go by."""
    with trio.move_on_after(seconds):
        await trio.sleep_forever()


@final
class TidyModel:
    """Delegates as ``digging`` says, and takes a while to close a request that is cancelled."""

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel``."""
        response = answer(request)
        on_delta(TextDelta(text="…"))
        try:
            await pass_time(1)
        finally:
            with trio.CancelScope(shield=True):
                await pass_time(1)
        return response


@final
class Record:
    """What was told of a host's agents and runs, to be held against each other."""

    def __init__(self, host: Host) -> None:
        self.logs: dict[str, Session] = {}
        self.started: list[str] = []
        self.ended: list[str] = []
        self.finished: list[ToolFinished] = []
        host.hooks.on(AgentCreated, self._created)
        host.hooks.on(RunStarted, lambda event: self.started.append(event.child_id))
        host.hooks.on(RunEnded, lambda event: self.ended.append(event.child_id))
        host.hooks.on(ToolFinished, self.finished.append)

    def _created(self, event: AgentCreated) -> None:
        self.logs[event.agent.id] = event.agent.session

    def check(self) -> None:
        """Hold logs, events and results against each other."""
        assert sorted(self.started) == sorted(self.ended), "a run without its end, or two"
        assert len(set(self.ended)) == len(self.ended)
        for log in self.logs.values():
            check_log(log.events)
        for each in self.finished:
            agent = each.execution.agent
            assert agent is not None
            kept = [
                (event.result.call_id, event.result.content)
                for event in agent.session.events
                if isinstance(event, ToolResulted)
            ]
            assert (each.execution.call_id, each.result.content) in kept, "an answer thrown away"


async def delegates(agent: Agent) -> str:
    """What the agent answers to one more delegation."""
    with trio.fail_after(100):
        agent.send("dig 1")
        await agent.wait_idle()
    ends = [event.reason for event in agent.session.events if isinstance(event, TurnEnded)]
    assert ends[-1] == "completed", ends
    (block,) = agent.session.messages[-1].content
    assert isinstance(block, TextBlock)
    return block.text


async def delegating_turn(prompt: str, stage: SweepStage) -> None:
    """One turn of a parent that delegates as *prompt* says."""
    with stage.scope("host shutdown"):
        async with open_host(options=AgentOptions(model="m")) as host:
            host.models.register(TidyModel(), "m", max_concurrent=3)
            subagents = SubagentService()
            subagents.register(SpawnProvider(host.agents))
            mount_subagent_tool(host, subagents, {"provider": "spawn"})
            record = Record(host)
            with assert_no_leaks(host_probe(host)), stage.scope("disposal"):
                async with host.agents.open(AgentSpec()) as parent:
                    with (
                        assert_no_leaks(),
                        stage.scope("request"),
                        stage.route("agent.cancel", parent.cancel),
                        stage.route("a child's cancel", partial(cancel_a_child, host, parent)),
                    ):
                        parent.send(prompt)
                        await parent.wait_idle()
                    with stage.settled():
                        record.check()
                        assert not parent.nursery.child_tasks
                        assert host.agents.list() == (parent,)
                        assert await delegates(parent) == "bottom"
            with stage.settled():
                record.check()
                async with host.agents.open(AgentSpec()) as another:
                    assert await delegates(another) == "bottom"
    record.check()


def cancel_a_child(host: Host, parent: Agent) -> None:
    """Cancel whichever child there is: its parent's turn goes on."""
    for agent in host.agents.list():
        if agent is not parent:
            agent.cancel("not this one")
            return


@pytest.fixture(autouse=True, scope="module")
def silence() -> Generator[None]:
    """Thousands of runs log what goes wrong in them, as they should; nobody reads it."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_cancelled_delegation_leaves_no_child_and_loses_no_answer(shape: str) -> None:
    scenario = partial(delegating_turn, SHAPES[shape])
    report: SweepReport = sweep(scenario, pairs=10)
    report.check()
    assert report.steps > 15


@pytest.mark.sweep
@pytest.mark.parametrize("shape", SHAPES)
def test_no_seed_side_or_pair_of_cancels_does(shape: str) -> None:
    scenario = partial(delegating_turn, SHAPES[shape])
    sweep(scenario, seeds=(0, 1, 2), sides=("before", "after"), pairs=500).check()
