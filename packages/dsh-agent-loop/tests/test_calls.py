"""The tool calls of one response: each answered once, in the model's order."""

import threading
from collections.abc import Callable

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from dsh.agent import (
    Agent,
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ContextMessage,
    ImageBlock,
    TextBlock,
    ToolCallBlock,
    ToolCalled,
    ToolExecution,
    ToolResult,
    ToolResultBlock,
    ToolResulted,
    tool,
)
from dsh.agent.testing import ScriptedModel, call, call_raw, reply, say
from dsh.agent_loop import Host

Follow = Callable[..., ScriptedModel]
Offer = Callable[..., None]
Ends = Callable[[Agent], list[tuple[str, str | None]]]


def answers(agent: Agent) -> list[tuple[str, str, str | None]]:
    """Call id, text and code of each result, in the order of the log."""
    found: list[tuple[str, str, str | None]] = []
    for event in agent.session.events:
        if isinstance(event, ToolResulted):
            text = "".join(b.text for b in event.result.content if isinstance(b, TextBlock))
            found.append((event.result.call_id, text, event.code))
    return found


def unanswered(request: ChatRequest) -> list[str]:
    """The call ids of a request that do not have exactly one answer right after them."""
    asked: list[str] = []
    for message in request.messages:
        for block in message.content:
            if isinstance(block, ToolCallBlock):
                asked.append(block.id)
            elif isinstance(block, ToolResultBlock):
                asked.remove(block.call_id)
    return asked


@pytest.mark.guarantee("B-TOOL-38")
async def test_calls_run_one_after_another_unless_their_tools_say_otherwise(
    host: Host, script: Follow, offer: Offer
) -> None:
    """Ordinary calls run in the model's order, each after the one before has ended; a cancel is
    noticed before each."""
    order: list[str] = []

    async def work(execution: ToolExecution) -> str:
        order.append(f"{execution.call_id} begins")
        await trio.lowlevel.checkpoint()
        order.append(f"{execution.call_id} ends")
        if execution.call_id == "d":
            assert execution.agent is not None
            execution.agent.cancel("stop here")
        return "ok"

    offer("work", work)
    script(
        reply(call("work", call_id="a"), call("work", call_id="b")),
        say("and"),
        reply(call("work", call_id="d"), call("work", call_id="e")),
    )
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
        agent.send("go")
        await agent.wait_idle()
    assert order == [f"{each} {what}" for each in "abd" for what in ("begins", "ends")]
    assert [code for _, _, code in answers(agent)] == [None, None, None, "CANCELLED"]


@pytest.mark.guarantee("B-HEAD-13")
@pytest.mark.field_case("B128")
async def test_concurrent_calls_run_at_once_and_are_logged_in_the_models_order(
    host: Host, script: Follow, offer: Offer
) -> None:
    """Neighbouring calls of concurrent tools overlap up to the limit; an ordinary call is a
    barrier; one that fails costs no sibling; results are committed in the order of the calls."""
    running: set[str] = set()
    most: list[int] = []
    gate = {each: trio.Event() for each in "abcdf"}

    async def wait(execution: ToolExecution) -> str:
        running.add(execution.call_id)
        most.append(len(running))
        await gate[execution.call_id].wait()
        running.discard(execution.call_id)
        if execution.call_id == "b":
            raise LookupError("b is broken")
        return execution.call_id

    async def alone(execution: ToolExecution) -> str:
        assert running == set()
        return "alone"

    offer("wait", wait, concurrent=True)
    offer("alone", alone)
    calls = [call("wait", call_id=each) for each in "abcd"]
    script(reply(*calls, call("alone", call_id="e"), call("wait", call_id="f")), say("done"))
    spec = AgentSpec(options=AgentOptions(max_parallel_tool_calls=3))
    handle = await host.agents.create(spec)
    handle.agent.send("go")
    gate["f"].set()
    for each in "cbda":
        await wait_all_tasks_blocked()
        assert answers(handle.agent) == []
        gate[each].set()
    await handle.agent.wait_idle()
    assert max(most) == 3
    assert [(each, code) for each, _, code in answers(handle.agent)] == [
        ("a", None),
        ("b", "TOOL_ERROR"),
        *((each, None) for each in ("c", "d", "e", "f")),
    ]


@pytest.mark.field_case("B075")
async def test_a_cancelled_turn_answers_every_call_and_keeps_what_had_finished(
    host: Host, script: Follow, offer: Offer, ends: Ends
) -> None:
    async def quick(execution: ToolExecution) -> str:
        return "kept"

    async def slow(execution: ToolExecution) -> str:
        await trio.sleep_forever()
        raise AssertionError

    async def stubborn(execution: ToolExecution) -> str:
        try:
            await trio.sleep_forever()
        finally:
            raise OSError("the clean-up failed")

    offer("quick", quick, concurrent=True)
    offer("slow", slow, concurrent=True)
    offer("stubborn", stubborn, concurrent=True)
    offer("later", quick)
    model = script(
        reply(
            call("slow", call_id="a"),
            call("quick", call_id="b"),
            call("stubborn", call_id="c"),
            call("later", call_id="d"),
        ),
        say("well then"),
    )
    handle = await host.agents.create(AgentSpec())
    agent = handle.agent
    agent.send("go")
    await wait_all_tasks_blocked()
    agent.cancel("enough")
    await agent.wait_idle()
    assert ends(agent) == [("aborted", "enough")]
    (a, b, c, d) = answers(agent)
    assert (a[0], a[2]) == ("a", "CANCELLED")
    assert b == ("b", "kept", None)
    assert c[0] == "c"
    assert c[2] in ("CANCELLED", "TOOL_ERROR")
    assert (d[0], d[2]) == ("d", "CANCELLED")
    assert "before it was started" in d[1]
    agent.send("go on")
    await agent.wait_idle()
    assert unanswered(model.requests[-1]) == []


@pytest.mark.guarantee("B-AGT-34")
async def test_context_from_tools_follows_all_results_of_the_step(
    host: Host, script: Follow, offer: Offer
) -> None:
    """Results carry the ids of their calls; what tools add for the model comes after them all."""

    async def hint(execution: ToolExecution) -> ToolResult:
        return ToolResult(content=(TextBlock(text="ok"),), context=f"about {execution.call_id}")

    offer("hint", hint)
    script(reply(call("hint", call_id="a"), call("hint", call_id="b")), say("done"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    events = [e for e in agent.session.events if isinstance(e, ToolResulted | ContextMessage)]
    assert [type(event) for event in events] == [
        ToolResulted,
        ToolResulted,
        ContextMessage,
        ContextMessage,
    ]
    assert [each for each, _, _ in answers(agent)] == ["a", "b"]


@pytest.mark.guarantee("B-AGT-33")
async def test_arguments_are_json_empty_text_is_an_empty_object_and_the_raw_text_is_kept(
    host: Host, script: Follow, offer: Offer
) -> None:
    """Calls with unreadable arguments are answered with an error, and logged as written."""
    seen: list[object] = []

    async def look(execution: ToolExecution) -> str:
        seen.append(execution.arguments)
        return "ok"

    offer("look", look)
    script(
        reply(
            call_raw("look", "", call_id="a"),
            call_raw("look", '{"n": 1}', call_id="b"),
            call_raw("look", '{"n": ', call_id="c"),
        ),
        say("done"),
    )
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert [dict(each) for each in seen] == [{}, {"n": 1}]  # type: ignore[call-overload]
    assert [code for _, _, code in answers(agent)] == [None, None, "INVALID_ARGS"]
    raw = [e.call.arguments for e in agent.session.events if isinstance(e, ToolCalled)]
    assert raw == ["", '{"n": 1}', '{"n": ']


async def test_whatever_a_model_calls_its_next_request_is_well_formed(
    host: Host, script: Follow, offer: Offer
) -> None:
    async def work(execution: ToolExecution) -> str:
        return "ok"

    offer("work", work, concurrent=True)
    model = script(
        reply(
            call("work", call_id="a"),
            call("work", call_id="a"),
            call("work", call_id=""),
            call("nothing", call_id="a-2"),
            call("", call_id="\ud800"),
            call_raw("work", "{", call_id="z"),
        ),
        say("done"),
    )
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    ids = [each for each, _, _ in answers(agent)]
    assert ids == ["a", "a-2", "call-2", "a-2-2", "\ufffd", "z"]
    assert unanswered(model.requests[-1]) == []
    repr(list(model.requests[-1].messages)).encode()


@pytest.mark.field_case("B083")
@pytest.mark.parametrize("text", ["", "0"])
async def test_an_empty_result_is_a_result(
    host: Host, script: Follow, offer: Offer, text: str
) -> None:
    async def empty(execution: ToolExecution) -> str:
        return text

    offer("empty", empty)
    model = script(call("empty"), say("done"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert answers(agent) == [("call-1", text, None)]
    assert unanswered(model.requests[-1]) == []


@pytest.mark.field_case("B129")
async def test_when_a_sibling_ends_the_turn_nothing_runs_on(
    host: Host, script: Follow, offer: Offer, ends: Ends
) -> None:
    ended: list[str] = []

    async def slow(execution: ToolExecution) -> str:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("slow")
        raise AssertionError

    async def fatal(execution: ToolExecution) -> str:
        assert execution.agent is not None
        execution.agent.cancel("a fatal tool")
        return "fatal"

    offer("slow", slow, concurrent=True)
    offer("fatal", fatal, concurrent=True)
    script(reply(call("slow", call_id="a"), call("fatal", call_id="b")))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
        assert ended == ["slow"]
        assert ends(agent) == [("aborted", "a fatal tool")]
        assert [code for _, _, code in answers(agent)] == ["CANCELLED", None]


@pytest.mark.field_case("B235")
async def test_a_tool_that_raises_what_a_loop_might_runs_once(
    host: Host, script: Follow, offer: Offer
) -> None:
    runs: list[str] = []

    async def broken(execution: ToolExecution) -> str:
        runs.append(execution.call_id)
        raise RuntimeError("x")

    offer("broken", broken)
    script(call("broken"), say("done"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert runs == ["call-1"]
    assert answers(agent) == [("call-1", "RuntimeError: x", "TOOL_ERROR")]


@pytest.mark.field_case("B230")
async def test_a_tool_that_starts_a_loop_or_waits_for_its_own_agent_gets_an_error(
    host: Host, script: Follow, offer: Offer
) -> None:
    async def nested(execution: ToolExecution) -> str:
        trio.run(trio.sleep_forever)
        raise AssertionError

    async def threaded(execution: ToolExecution) -> str:
        assert execution.agent is not None
        await trio.to_thread.run_sync(trio.from_thread.run, execution.agent.wait_idle)
        raise AssertionError

    offer("nested", nested)
    offer("threaded", threaded)
    script(reply(call("nested", call_id="a"), call("threaded", call_id="b")), say("done"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    (a, b) = answers(agent)
    assert a[2] == "TOOL_ERROR"
    assert b[2] == "SELF_WAIT"


@pytest.mark.field_case("B234")
async def test_a_tool_is_told_whose_it_is_by_its_execution(
    host: Host, script: Follow, offer: Offer
) -> None:
    seen: list[tuple[str, str]] = []

    async def record(execution: ToolExecution) -> str:
        assert execution.agent is not None
        owner = execution.agent
        seen.append((owner.id, execution.call_id))
        if owner.depth == 0:
            async with host.agents.open(AgentSpec(depth=1, parent=owner)) as child:
                child.send("go")
                await child.wait_idle()
            seen.append((execution.agent.id, execution.call_id))
        return "ok"

    offer("record", record, concurrent=True)
    script(
        reply(call("record", call_id="a"), call("record", call_id="b")),
        *[call("record", call_id="c"), call("record", call_id="c")],
        *[say("done")] * 3,
    )
    async with host.agents.open(AgentSpec()) as parent:
        parent.send("go")
        await parent.wait_idle()
    own = [each for each in seen if each[0] == parent.id]
    assert sorted(own) == [(parent.id, each) for each in ("a", "a", "b", "b")]
    assert len({owner for owner, each in seen if each == "c"}) == 2


async def test_a_thread_that_will_not_end_ends_its_turn_as_lost(
    host: Host, script: Follow, ends: Ends, caplog: pytest.LogCaptureFixture
) -> None:
    release, running = threading.Event(), threading.Event()

    def stuck() -> str:
        """Wait, deaf to being asked to end."""
        running.set()
        release.wait()
        return "late"

    host.tools.register(tool(thread_grace=0.01)(stuck))
    model = script(reply(call("stuck", call_id="a"), call("stuck", call_id="b")), say("after"))
    handle = await host.agents.create(AgentSpec())
    agent = handle.agent
    agent.send("go")
    await trio.to_thread.run_sync(running.wait)
    agent.cancel("enough")
    await agent.wait_idle()
    ((reason, detail),) = ends(agent)
    assert reason == "lost"
    assert "did not end within 0.01 seconds" in (detail or "")
    assert [code for _, _, code in answers(agent)] == ["THREAD_LOST", "CANCELLED"]
    release.set()
    agent.send("go on")
    await agent.wait_idle()
    assert unanswered(model.requests[-1]) == []
    while trio.to_thread.current_default_thread_limiter().borrowed_tokens:
        await trio.lowlevel.checkpoint()


async def test_a_picture_is_a_result(host: Host, script: Follow, offer: Offer) -> None:
    picture = ImageBlock(media_type="image/png", data="AAAA")

    async def look(execution: ToolExecution) -> ToolResult:
        return ToolResult(content=(picture,))

    offer("look", look)
    script(call("look"), say("done"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    (result,) = (e.result for e in agent.session.events if isinstance(e, ToolResulted))
    assert result.content == (picture,)
