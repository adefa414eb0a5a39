"""What is said to an agent, and what becomes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from dsh.agent import (
    Agent,
    AgentOptions,
    AgentSpec,
    AgentStatusChanged,
    ChatRequest,
    ChatResponse,
    ContextMessage,
    EventLogged,
    MessageQueued,
    SessionEvent,
    SessionHeader,
    SteeringMessage,
    StepEnded,
    TextBlock,
    ToolCallBlock,
    ToolExecution,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    UserMessage,
    check_log,
)
from dsh.agent.testing import ScriptedModel, call, hang, say
from dsh.agent_loop import Host, open_host

Follow = Callable[..., ScriptedModel]
Ends = Callable[[Agent], list[tuple[str, str | None]]]


def texts(agent: Agent, kind: type[SessionEvent]) -> list[str]:
    found: list[str] = []
    for event in agent.session.events:
        if isinstance(event, kind) and isinstance(
            event, UserMessage | SteeringMessage | ContextMessage
        ):
            (block,) = event.message.content
            assert isinstance(block, TextBlock)
            found.append(block.text)
    return found


@pytest.mark.guarantee("B-AGT-18")
async def test_a_message_is_taken_as_it_is_when_it_is_sent(host: Host, script: Follow) -> None:
    """Sending queues a snapshot at once, and refuses what is neither text nor text and images."""
    script(say("ok"))
    async with host.agents.open(AgentSpec()) as agent:
        blocks = [TextBlock(text="one")]
        agent.send(blocks)
        blocks.append(TextBlock(text="two"))
        call = ToolCallBlock(id="a", name="b", arguments="{}")
        for wrong in (5, [5], blocks[0], [call], []):
            with pytest.raises(TypeError, match="a message"):
                agent.send(wrong)  # type: ignore[arg-type]
        await agent.wait_idle()
    assert texts(agent, UserMessage) == ["one"]


@pytest.mark.guarantee("B-AGT-19")
async def test_each_accepted_message_is_announced(
    host: Host, script: Follow, offer: Callable[..., None]
) -> None:
    """Listeners hear of every message with its source, and whether it steers a running turn."""
    script(call("steer"), say("ok"))
    heard: list[tuple[str, bool]] = []
    host.hooks.on(MessageQueued, lambda event: heard.append((event.message.source, event.steering)))

    async def steer(execution: ToolExecution) -> str:
        assert execution.agent is not None
        execution.agent.steer("wait", source="editor")
        return "ok"

    offer("steer", steer)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go", source="cron")
        await agent.wait_idle()
    assert heard == [("cron", False), ("editor", True)]


@pytest.mark.guarantee("B-AGT-20")
async def test_steering_is_read_before_the_next_request_or_opens_a_turn(
    host: Host, script: Follow, offer: Callable[..., None], ends: Ends
) -> None:
    """A running turn reads steering at its next step; an idle agent takes it as a message."""
    model = script(call("steer"), say("done"), say("idle too"))

    async def steer(execution: ToolExecution) -> str:
        assert execution.agent is not None
        execution.agent.steer("only Python")
        return "ok"

    offer("steer", steer)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
        last = model.requests[-1].messages[-1].content[0]
        assert isinstance(last, TextBlock)
        assert "only Python" in last.text
        agent.steer("hello")
        await agent.wait_idle()
    assert texts(agent, SteeringMessage) == ["only Python"]
    assert texts(agent, UserMessage) == ["go", "hello"]
    assert ends(agent) == [("completed", None)] * 2


@pytest.mark.guarantee("B-AGT-21")
async def test_context_for_an_idle_agent_is_a_turn_of_its_own(host: Host) -> None:
    """Injecting into a log without an open turn writes a turn of just that, asking no model."""
    async with host.agents.open(AgentSpec()) as agent:
        agent.inject("the build is green", source="ci")
        assert [type(event) for event in agent.session.events] == [
            TurnStarted,
            ContextMessage,
            TurnEnded,
        ]
        await agent.wait_idle()
    assert agent.model_requests == 0


@pytest.mark.guarantee("B-AGT-21")
async def test_context_for_a_running_turn_waits_for_its_next_step(
    host: Host, script: Follow, offer: Callable[..., None]
) -> None:
    """Injected during a turn, context comes between its steps, or at the latest before its end."""
    agents: list[Agent] = []

    def inject_and_say(request: ChatRequest) -> ChatResponse:
        agents[0].inject("late", source="ci")
        return say("end")

    script(call("inject"), inject_and_say)

    async def inject(execution: ToolExecution) -> str:
        agents[0].inject("early", source="ci")
        return "ok"

    offer("inject", inject)
    async with host.agents.open(AgentSpec()) as agent:
        agents.append(agent)
        agent.send("go")
        await agent.wait_idle()
    kinds = [type(event).__name__ for event in agent.session.events]
    assert texts(agent, ContextMessage) == ["early", "late"]
    assert kinds[kinds.index("StepEnded") + 1] == "ContextMessage"
    assert kinds[-2:] == ["ContextMessage", "TurnEnded"]
    assert agent.session.turns == 1


@dataclass
class FullDisk:
    """A sink and its store that cannot write."""

    events: list[SessionEvent] = field(default_factory=list[SessionEvent])
    closed: int = 0

    def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> "FullDisk":
        return self

    def append(self, event: SessionEvent, /) -> None:
        self.events.append(event)

    async def flush(self) -> None:
        await trio.lowlevel.checkpoint()
        raise OSError("disk full")

    async def aclose(self) -> None:
        self.closed += 1
        raise OSError("disk still full")


@pytest.mark.guarantee("B-AGT-22", "B-AGT-41")
async def test_a_log_that_cannot_be_kept_is_reported_and_changes_no_outcome(
    ends: Ends, caplog: pytest.LogCaptureFixture
) -> None:
    """After each turn the log is flushed; a failing flush is heard of at step 0 and logged."""
    disk = FullDisk()
    failed: list[tuple[int, int, str]] = []
    async with open_host(options=AgentOptions(model="scripted"), sessions=disk) as host:
        host.models.register(ScriptedModel(say("ok")), "scripted")
        host.hooks.on(TurnFailed, lambda e: failed.append((e.turn, e.step, str(e.error))))
        handle = await host.agents.create(AgentSpec())
        handle.agent.send("go")
        await handle.agent.wait_idle()
        handle.agent.inject("context", source="ci")
        await handle.agent.wait_idle()
        assert ends(handle.agent) == [("completed", None)] * 2
        assert failed == [(1, 0, "disk full"), (2, 0, "disk full")]
        await handle.aclose()
    assert "could not be flushed" in caplog.text
    assert "could not be closed" in caplog.text
    assert disk.closed == 1
    assert disk.events == list(handle.agent.session.events)


@pytest.mark.guarantee("B-AGT-23")
async def test_all_that_is_queued_is_one_turn(host: Host, script: Follow) -> None:
    """What waits for an agent is served together, in order, as one turn."""
    model = script(say("both"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("one")
        agent.send("two", tool_choice="required")
        await agent.wait_idle()
    assert texts(agent, UserMessage) == ["one", "two"]
    assert agent.session.turns == 1
    assert model.requests[0].tool_choice == "required"


async def test_a_forced_tool_choice_is_for_the_first_request_of_its_turn(
    host: Host, script: Follow, offer: Callable[..., None]
) -> None:
    model = script(call("noop"), say("done"), say("next"))

    async def noop(execution: ToolExecution) -> str:
        return "ok"

    offer("noop", noop)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("one", tool_choice="required")
        await agent.wait_idle()
        agent.send("two")
        await agent.wait_idle()
    assert [request.tool_choice for request in model.requests] == ["required", "auto", "auto"]


@pytest.mark.guarantee("B-AGT-40")
async def test_steering_nobody_read_opens_the_next_turn(host: Host, script: Follow) -> None:
    """What was said too late for a turn is not lost: it becomes an ordinary message."""
    script(say("first"), say("second"))

    def steer_at_the_end(event: EventLogged) -> None:
        if isinstance(event.event, TurnEnded) and event.event.turn == 1:
            event.agent.steer("one more thing")

    host.hooks.on(EventLogged, steer_at_the_end)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert texts(agent, UserMessage) == ["go", "one more thing"]
    assert texts(agent, SteeringMessage) == []
    assert agent.session.turns == 2


async def test_steering_from_a_listener_of_the_steps_end_keeps_the_turn_going(
    host: Host, script: Follow
) -> None:
    script(say("first"), say("second"))

    def steer_once(event: EventLogged) -> None:
        if isinstance(event.event, StepEnded) and event.event.step == 1:
            event.agent.steer("go on")

    host.hooks.on(EventLogged, steer_once)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert texts(agent, SteeringMessage) == ["go on"]
    assert agent.session.turns == 1


@pytest.mark.guarantee("B-AGT-42")
async def test_cancel_ends_the_turn_and_forgets_what_waits(
    host: Host, script: Follow, ends: Ends
) -> None:
    """Cancelling aborts the open turn with its reason, drops both queues, and is nothing to an
    idle agent."""
    script(hang(), say("later"))
    handle = await host.agents.create(AgentSpec())
    agent = handle.agent
    agent.cancel("not yet")
    agent.send("work")
    await wait_all_tasks_blocked()
    agent.send("more")
    agent.steer("faster")
    agent.cancel("enough")
    agent.cancel("really")
    await agent.wait_idle()
    assert ends(agent) == [("aborted", "enough")]
    agent.send("again")
    await agent.wait_idle()
    assert texts(agent, UserMessage) == ["work", "again"]


@pytest.mark.guarantee("B-AGT-44", "B-AGT-45")
async def test_what_is_sent_after_a_cancel_is_served_and_waited_for(
    host: Host, script: Follow, ends: Ends
) -> None:
    """A cancel ends its own turn only: the next message runs, and waiting waits for it."""
    script(hang(), say("served"))
    handle = await host.agents.create(AgentSpec())
    handle.agent.send("work")
    await wait_all_tasks_blocked()
    handle.agent.cancel("enough")
    handle.agent.send("more")
    await handle.agent.wait_idle()
    assert ends(handle.agent) == [("aborted", "enough"), ("completed", None)]
    await handle.aclose()
    await handle.agent.wait_idle()


async def test_cancelled_before_its_turn_opened_a_message_leaves_no_trace(
    host: Host, script: Follow
) -> None:
    script()
    handle = await host.agents.create(AgentSpec())
    handle.agent.send("work")
    handle.agent.cancel()
    await handle.agent.wait_idle()
    host.hooks.on(MessageQueued, lambda event: event.agent.cancel())
    handle.agent.send("work")
    await handle.agent.wait_idle()
    assert len(handle.agent.session.events) == 0


async def test_a_listener_that_cancels_as_work_begins_may_give_other_work(
    host: Host, script: Follow
) -> None:
    script(say("ok"))

    def replace(event: AgentStatusChanged) -> None:
        if event.status == "running":
            event.agent.cancel()
            event.agent.send("better")

    host.hooks.on(AgentStatusChanged, replace)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("work")
        await agent.wait_idle()
    assert texts(agent, UserMessage) == ["better"]
    check_log(agent.session.events)


async def test_status_alternates_between_idle_and_running_and_ends_disposed(
    host: Host, script: Follow
) -> None:
    script(say("one"), say("two"))
    seen: list[str] = []
    host.hooks.on(AgentStatusChanged, lambda event: seen.append(event.status))
    async with host.agents.open(AgentSpec()) as agent:
        for text in ("one", "two"):
            agent.send(text)
            await agent.wait_idle()
    assert seen == ["running", "idle", "running", "idle", "disposed"]


@pytest.mark.field_case("B229")
async def test_text_that_utf8_cannot_carry_is_replaced_where_it_enters(
    host: Host, script: Follow, offer: Callable[..., None]
) -> None:
    model = script(call("bad"), say("a\ud800b"), say("end"))

    async def bad(execution: ToolExecution) -> str:
        return "a\ud800b"

    offer("bad", bad)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("a\ud800b")
        await agent.wait_idle()
        agent.send("again")
        await agent.wait_idle()
    request = repr(list(model.requests[-1].messages))
    assert request.count("a\ufffdb") == 3
    request.encode()
