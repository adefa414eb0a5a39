"""Delegation through the tool, with real agents, providers and logs all the way down."""

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from digging import ONE, DiggingModel
from trio.testing import MockClock

from dsh.agent import (
    TOOL_GUARD,
    Agent,
    AgentCreated,
    AgentOptions,
    AgentSpec,
    ChatModel,
    ChatRequest,
    ChatResponse,
    OnDelta,
    Session,
    StepStarted,
    TextBlock,
    TextDelta,
    Tool,
    ToolExecution,
    ToolFilter,
    ToolResult,
    ToolResultBlock,
    ToolResulted,
    TurnStarted,
    Usage,
    UserMessage,
    check_log,
)
from dsh.agent.testing import ScriptedModel, call, fail, reply, say
from dsh.agent_loop import Host, open_host
from dsh.subagent import (
    RunEnded,
    RunStarted,
    SubagentService,
    SubagentStartRequest,
    TextProgress,
    ToolEndedProgress,
    ToolStartedProgress,
)
from dsh.subagent_fork import ForkProvider
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import mount_subagent_tool


@dataclass
class Stage:
    """A host with a parent, and everything that was told on it."""

    host: Host
    parent: Agent
    told: list[object] = field(default_factory=list[object])
    logs: list[Session] = field(default_factory=list[Session])

    async def asked(self, prompt: str) -> str:
        """What the parent answers in the end."""
        self.parent.send(prompt)
        await self.parent.wait_idle()
        (block,) = self.parent.session.messages[-1].content
        assert isinstance(block, TextBlock)
        return block.text


@asynccontextmanager
async def stage(
    model: ChatModel,
    *,
    provider: str = "spawn",
    limit: int | None = None,
    options: AgentOptions | None = None,
    **config: object,
) -> AsyncGenerator[Stage]:
    async with open_host() as host:
        host.models.register(model, "m", max_concurrent=limit)
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        subagents.register(ForkProvider(host.agents))
        mount_subagent_tool(host, subagents, {"provider": provider, "max_depth": 9, **config})
        logs: list[Session] = []
        host.hooks.on(AgentCreated, lambda event: logs.append(event.agent.session))
        spec = AgentSpec(options=options or AgentOptions(model="m"))
        async with host.agents.open(spec) as parent:
            set_up = Stage(host, parent, logs=logs)
            for kind in (
                RunStarted,
                RunEnded,
                TextProgress,
                ToolStartedProgress,
                ToolEndedProgress,
            ):
                host.hooks.on(kind, set_up.told.append)
            yield set_up
            assert not parent.nursery.child_tasks
        assert host.agents.list() == ()
    for log in logs:
        check_log(log.events)


@pytest.mark.field_case("B120")
async def test_a_limit_of_two_requests_and_five_levels_do_not_deadlock() -> None:
    model = DiggingModel()
    async with stage(model, limit=2) as set_up:
        with trio.fail_after(10):
            assert await set_up.asked("fan 4 5") == "bottom bottom bottom bottom"
    assert model.most_under_way == 2
    assert len(set_up.logs) == 1 + 4 * 6


@pytest.mark.field_case("B169")
async def test_usage_rolls_up_through_every_level_exactly_once() -> None:
    children: list[Agent] = []
    async with stage(DiggingModel()) as set_up:
        set_up.host.hooks.on(AgentCreated, lambda event: children.append(event.agent))
        await set_up.asked("dig 2")
    parent, (child, grandchild) = set_up.parent, children
    assert grandchild.usage == ONE
    assert child.usage == Usage(input_tokens=27, output_tokens=3)
    assert parent.usage == Usage(input_tokens=45, output_tokens=5)
    counts = [(a.model_requests, a.tool_calls) for a in (parent, child, grandchild)]
    assert counts == [(5, 2), (3, 1), (1, 0)]


@pytest.mark.field_case("B174", "B175", "B177")
async def test_the_tree_can_be_rebuilt_from_events_while_it_grows() -> None:
    async with stage(DiggingModel()) as set_up:
        await set_up.asked("fan 2 1")
    parent = set_up.parent.id
    started = [event for event in set_up.told if isinstance(event, RunStarted)]
    below = {event.child_id: (event.parent_id, event.parent_call_id) for event in started}
    assert len(below) == 4
    children = [child for child, (above, _) in below.items() if above == parent]
    assert sorted(below[child][1] or "" for child in children) == ["c0", "c1"]
    assert sorted(above for above, _ in below.values() if above != parent) == sorted(children)
    for child in below:
        mine = [e for e in set_up.told if getattr(e, "child_id", None) == child]
        assert isinstance(mine[0], RunStarted)
        assert isinstance(mine[-1], RunEnded)
        assert any(isinstance(event, TextProgress) for event in mine)
    tools = [
        type(event).__name__
        for event in set_up.told
        if isinstance(event, ToolStartedProgress | ToolEndedProgress)
    ]
    assert sorted(tools) == ["ToolEndedProgress"] * 2 + ["ToolStartedProgress"] * 2


@pytest.mark.field_case("B114")
@pytest.mark.parametrize("provider", ["spawn", "fork"])
async def test_delegation_ends_at_the_depth_limit(provider: str) -> None:
    async with stage(DiggingModel(), provider=provider, max_depth=2) as set_up:
        if provider == "fork":
            await set_up.asked("hello")  # a fork inherits completed turns: let there be one
        said = await set_up.asked("dig 5")
    assert len(set_up.logs) == 3
    deepest = set_up.logs[-1]
    results = [e.result for e in deepest.own_events if isinstance(e, ToolResulted)]
    (result,) = results
    assert result.is_error
    (text,) = result.content
    assert isinstance(text, TextBlock)
    if provider == "fork":  # it is still offered the tool: same prompt as its parent
        assert "delegation ends at depth 2" in text.text
        assert "Do the task yourself" in said
    else:
        assert "there is no tool named 'subagent'" in text.text


@pytest.mark.field_case("B144", "B146")
@pytest.mark.parametrize("provider", ["spawn", "fork"])
async def test_what_a_parent_may_not_use_no_descendant_may(provider: str) -> None:
    ran: list[str] = []
    guarded: list[str] = []

    async def body(execution: ToolExecution) -> ToolResult:
        ran.append(execution.name)
        return ToolResult(content=(TextBlock(text="ran"),))

    def guard(execution: ToolExecution) -> str | None:
        assert execution.agent is not None
        if execution.name != "sql":
            return None
        guarded.append(execution.agent.id)
        return "no databases here"

    script = (
        say("ready"),
        call("subagent", description="d", prompt="go deeper"),
        call("subagent", description="d", prompt="use them"),
        call("bash"),
        call("sql"),
        say("neither worked"),
        say("so it is"),
        say("done"),
    )
    async with stage(ScriptedModel(*script), provider=provider) as set_up:
        for name in ("bash", "sql"):
            tool = Tool(name=name, description=name, parameters={"type": "object"}, execute=body)
            set_up.host.tools.register(tool)
        set_up.host.hooks.guard(TOOL_GUARD, guard)
        set_up.parent.tools.restrict(ToolFilter(deny=("bash",)))
        await set_up.asked("ready?")
        assert await set_up.asked("go") == "done"
    assert ran == []
    grandchild = set_up.logs[2]
    assert guarded == [grandchild.header.id]
    results = [e.result for e in grandchild.own_events if isinstance(e, ToolResulted)]
    assert [result.is_error for result in results] == [True, True]
    assert [e.code for e in grandchild.own_events if isinstance(e, ToolResulted)] == [
        "UNKNOWN_TOOL",
        "DENIED",
    ]


@pytest.mark.field_case("B010")
async def test_the_parent_is_told_the_answer_and_nothing_of_how_it_came_about() -> None:
    secret = "sk-SECRET " * 500

    async def leak(execution: ToolExecution) -> ToolResult:
        return ToolResult(content=(TextBlock(text=secret),))

    model = ScriptedModel(
        call("subagent", description="d", prompt="look"),
        call("leak"),
        say("OK"),
        say("fine"),
    )
    async with stage(model) as set_up:
        tool = Tool(name="leak", description="l", parameters={"type": "object"}, execute=leak)
        set_up.host.tools.register(tool)
        await set_up.asked("go")
    last = model.requests[-1].messages
    (result,) = last[-1].content
    assert result == ToolResultBlock(call_id="call-1", content=(TextBlock(text="OK"),))
    assert "sk-SECRET" not in str(list(last))


@pytest.mark.field_case("B131")
async def test_children_of_one_provider_share_nothing() -> None:
    model = DiggingModel()
    async with stage(model) as set_up:
        await set_up.asked("fan 2")
        await set_up.asked("fan 1")
    childrens = [r for r in model.requests if len(r.messages) == 1 and "dig" in str(r.messages[0])]
    assert len(childrens) == 3
    assert len({log.header.id for log in set_up.logs}) == 4


@pytest.mark.field_case("B083")
async def test_a_child_that_says_nothing_still_answers_its_call() -> None:
    model = ScriptedModel(call("subagent", description="d", prompt="p"), say(""), say("ok"))
    async with stage(model) as set_up:
        assert await set_up.asked("go") == "ok"
    (result,) = model.requests[-1].messages[-1].content
    assert isinstance(result, ToolResultBlock)
    assert result.is_error
    (text,) = result.content
    assert isinstance(text, TextBlock)
    assert text.text.startswith("The subagent ended without an answer.")


@pytest.mark.field_case("B250", "B096")
async def test_a_child_whose_context_overflows_leaves_its_text_its_id_and_its_cost() -> None:
    def look(said: str) -> ChatResponse:
        return reply(say(said), call("look"))

    model = ScriptedModel(
        call("subagent", description="d", prompt="p"),
        look("found one"),
        look("found two"),
        fail("context too long", code="INVALID_REQUEST"),
        say("ok"),
    )
    async with stage(model) as set_up:
        assert await set_up.asked("go") == "ok"
    (result,) = model.requests[-1].messages[-1].content
    assert isinstance(result, ToolResultBlock)
    (text,) = result.content
    assert isinstance(text, TextBlock)
    assert text.text.splitlines() == [
        "The subagent failed.",
        "Cause: context too long",
        f"Subagent: {set_up.logs[1].header.id}",
        "<partial_output>",
        "found two",
        "</partial_output>",
    ]
    assert len(model.requests) == 5
    assert set_up.parent.model_requests == 2 + 3


@pytest.mark.guarantee("B-SEAM-17")
async def test_a_child_can_be_found_when_its_start_is_told() -> None:
    """Whoever hears that a run has started finds the in-process child in its host's registry."""
    found: list[bool] = []
    async with stage(DiggingModel()) as set_up:
        agents = set_up.host.agents
        set_up.host.hooks.on(
            RunStarted, lambda event: found.append(agents.get(event.child_id) is not None)
        )
        await set_up.asked("fan 2 1")
    assert found == [True] * 4


@pytest.mark.field_case("B132")
async def test_two_tasks_that_run_one_agent_take_turns() -> None:
    async with stage(DiggingModel()) as set_up, trio.open_nursery() as nursery:
        nursery.start_soon(set_up.asked, "fan 2")
        nursery.start_soon(set_up.asked, "dig 1")
    turns = [e.turn for e in set_up.parent.session.events if isinstance(e, TurnStarted)]
    assert turns == list(range(1, len(turns) + 1))
    said = [e.message for e in set_up.parent.session.events if isinstance(e, UserMessage)]
    assert len(said) == 2


@pytest.mark.field_case("B133")
async def test_a_parents_steps_are_its_own() -> None:
    options = AgentOptions(model="m", max_steps=3)
    async with stage(DiggingModel(), options=options) as set_up:
        assert await set_up.asked("fan 2 2") == "bottom bottom"
    steps = [e for e in set_up.parent.session.events if isinstance(e, StepStarted)]
    assert len(steps) == 2
    assert set_up.parent.model_requests == 2 + 2 * 5


class StreamingModel:
    """Delegates; its children write a word a second, for ever or as often as they are told."""

    def __init__(self, words: int | None = None) -> None:
        self.words = words
        self.under_way = 0
        self.writes = trio.Event()

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel``."""
        if request.tools and len(request.messages) == 1 and "delegate" in str(request.messages[0]):
            return call("subagent", description="d", prompt="write")
        self.under_way += 1
        try:
            for _ in range(self.words) if self.words is not None else itertools.count():
                on_delta(TextDelta(text="word "))
                self.writes.set()
                with trio.move_on_after(1):
                    await trio.sleep_forever()
            await trio.sleep_forever()
        finally:
            self.under_way -= 1
        raise AssertionError


@pytest.mark.field_case("B092")
@pytest.mark.parametrize("stop", ["cancel", "close"])
async def test_a_child_ends_with_the_turn_that_asked_for_it(
    stop: str, autojump_clock: MockClock
) -> None:
    model = StreamingModel()
    ended: list[RunEnded] = []
    async with stage(model) as set_up:
        set_up.host.hooks.on(RunEnded, ended.append)
        handle = await set_up.host.agents.create(AgentSpec(options=AgentOptions(model="m")))
        handle.agent.send("delegate")
        await model.writes.wait()
        before = trio.current_time()
        if stop == "cancel":
            handle.agent.cancel("enough")
            await handle.agent.wait_idle()
            assert handle.agent.status == "idle"
        await handle.aclose()
        assert trio.current_time() == before
    assert [event.stop_reason for event in ended] == ["aborted"]
    assert model.under_way == 0


@pytest.mark.field_case("B093")
async def test_whoever_stops_watching_leaves_no_child_behind(autojump_clock: MockClock) -> None:
    model = StreamingModel()
    async with stage(model) as set_up:
        opened = set_up.host.agents.open(AgentSpec(options=AgentOptions(model="m")))
        send, receive = trio.open_memory_channel[object](100)
        async with send, receive, opened as agent, trio.open_nursery() as nursery:
            agent.hooks.on(TextProgress, send.send_nowait)
            agent.send("delegate")
            nursery.start_soon(agent.wait_idle)
            async for _ in receive:
                break
            assert len(set_up.host.agents.list()) == 3
            nursery.cancel_scope.cancel()
        assert set_up.host.agents.list() == (set_up.parent,)
        assert model.under_way == 0


@pytest.mark.field_case("B111")
@pytest.mark.parametrize("words", [9, 1])
async def test_a_limit_on_silence_spares_a_child_that_is_working(
    words: int, autojump_clock: MockClock
) -> None:
    async with stage(StreamingModel(words)) as set_up:
        subagents = SubagentService()
        subagents.register(SpawnProvider(set_up.host.agents))
        silence = trio.CancelScope(relative_deadline=3)

        def postpone(_: object) -> None:
            silence.deadline = trio.current_time() + 3

        request = SubagentStartRequest(prompt="write", parent=set_up.parent, cancel_scope=silence)
        async with await subagents.start("spawn", request) as run:
            run.on_progress(postpone)
            result = await run.result()
    assert (result.stop_reason, result.detail) == ("timeout", "the deadline passed")
    assert result.text == "word " * words
    assert result.seconds == words - 1 + 3
