"""What a child's answer is, and why it ended: read from its own log."""

import gc

import pytest
import trio
import trio.testing
from home import Home, text_of, tool

from dsh.agent import (
    PROMPT_SUBMIT,
    STEP_RESULT,
    Agent,
    AgentOptions,
    ChatRequest,
    ChatResponse,
    EventLogged,
    Next,
    PromptSubmission,
    Session,
    StepContext,
    TextBlock,
    Tool,
    ToolExecution,
    ToolResult,
    TurnEnded,
    Usage,
)
from dsh.agent.testing import call, fail, hang, reply, say, think
from dsh.subagent import TextProgress, ToolEndedProgress, ToolStartedProgress, UsageProgress

# its answer


@pytest.mark.guarantee("B-DRV-17")
@pytest.mark.field_case("B002")
async def test_all_visible_blocks_of_the_last_message_are_the_answer(home: Home) -> None:
    """The answer is the visible text of the child's own last message, blank blocks left out."""
    home.script(reply(say("  "), say("SUMMARY A, "), think("hm"), say("\n"), say("SUMMARY B")))
    result = await home.run()
    assert result.text == "SUMMARY A, SUMMARY B"
    assert len(result.output) == 2


@pytest.mark.field_case("B003")
async def test_a_tool_result_is_never_the_answer(home: Home) -> None:
    home.host.tools.register(tool("save", "saved ok"))
    home.script(reply(say("REPORT"), call("save")), reply())
    result = await home.run()
    assert (result.stop_reason, result.text) == ("completed", "REPORT")


@pytest.mark.guarantee("B-HEAD-17")
@pytest.mark.field_case("B014")
async def test_streamed_text_counts_where_there_is_no_message(home: Home) -> None:
    """An answer that broke off is kept as partial text, under the reason for its end."""

    def broken(_: ChatRequest) -> ChatResponse:
        raise ConnectionError("the line went dead")

    home.script(fail("the line went dead", partial="Hel"), broken)
    result = await home.run()
    assert (result.stop_reason, result.text) == ("error", "Hel")
    assert result.detail == "the line went dead"
    assert "the line went dead" in str((await home.run()).detail)


@pytest.mark.field_case("B005")
async def test_thoughts_are_no_answer(home: Home) -> None:
    home.script(think("so much to say"))
    result = await home.run()
    assert (result.stop_reason, result.output) == ("no_output", ())
    assert result.detail == "the child ended without visible text; it only thought"


async def test_a_clean_end_without_a_word_is_no_success(home: Home) -> None:
    home.script(reply(), say(" \n "))
    for _ in range(2):
        result = await home.run()
        assert (result.stop_reason, result.completed, result.output) == ("no_output", False, ())
        assert result.detail == "the child ended without visible text"


@pytest.mark.field_case("B006", "B021")
async def test_an_answer_cut_at_the_limit_is_told_as_cut(home: Home) -> None:
    home.script(
        say("PART1-", finish_reason="max_tokens"),
        reply(think("on and on"), finish_reason="max_tokens"),
    )
    cut, silent = await home.run(), await home.run()
    assert (cut.stop_reason, cut.text) == ("max_tokens", "PART1-")
    assert (silent.stop_reason, silent.output) == ("max_tokens", ())
    assert silent.detail == "the answer was cut at the model's output limit"


@pytest.mark.field_case("B010", "B011")
async def test_a_result_holds_the_answer_and_nothing_else_of_the_child(home: Home) -> None:
    home.host.tools.register(tool("look", "sk-SECRET"))
    home.script(call("look"), say("OK"))
    result = await home.run()
    assert result.output == (TextBlock(text="OK"),)
    assert "sk-SECRET" not in repr(result)


# why it ended


@pytest.mark.guarantee("B-DRV-19")
@pytest.mark.field_case("B013")
async def test_a_failing_model_gives_its_own_message(home: Home) -> None:
    """The reason of the child's own last turn is the result's; an error brings its message."""
    home.script(fail("401 bad key", code="AUTHENTICATION"))
    result = await home.run()
    assert (result.stop_reason, result.detail, result.output) == ("error", "401 bad key", ())


@pytest.mark.field_case("B025")
async def test_the_cause_of_an_end_is_not_the_last_thing_said(home: Home) -> None:
    home.host.tools.register(tool("read"))
    home.script(reply(say("Now let me check X"), call("read")), fail("context window exceeded"))
    result = await home.run()
    assert (result.detail, result.text) == ("context window exceeded", "Now let me check X")


async def test_a_cause_is_bounded(home: Home) -> None:
    home.script(fail("x" * 10_000))
    assert (await home.run()).detail == "x" * 4_096


@pytest.mark.field_case("B015", "B235")
async def test_a_tool_that_fails_is_the_childs_to_deal_with(home: Home) -> None:
    calls = list[str]()

    async def execute(execution: ToolExecution) -> ToolResult:
        calls.append(execution.call_id)
        if len(calls) == 1:
            raise RuntimeError("no such directory")
        return ToolResult(content=(TextBlock(text="ok"),))

    home.host.tools.register(
        Tool(name="ls", description="Lists.", parameters={"type": "object"}, execute=execute)
    )
    home.script(call("ls", call_id="1"), call("ls", call_id="2"), say("FOUND"))
    result = await home.run()
    assert (result.stop_reason, result.text, calls) == ("completed", "FOUND", ["1", "2"])


@pytest.mark.field_case("B024")
async def test_a_refusal_is_told_after_one_request(home: Home) -> None:
    model = home.script(reply(finish_reason="refusal"))
    result = await home.run()
    assert (result.stop_reason, result.detail) == ("refusal", "the model refused")
    assert len(model.requests) == 1


@pytest.mark.guarantee("B-HEAD-16")
async def test_a_prompt_blocked_by_policy_is_a_refusal(home: Home) -> None:
    """A child whose prompt a policy blocked is refused, for the reason the policy gives."""

    async def block(
        submission: PromptSubmission, _: Agent, rest: Next[PromptSubmission]
    ) -> PromptSubmission:
        return PromptSubmission(message=submission.message, blocked="not on my watch")

    home.host.hooks.filter(PROMPT_SUBMIT, block)
    model = home.script()
    result = await home.run()
    assert (result.stop_reason, result.detail) == ("refusal", "not on my watch")
    assert model.requests == ()


async def test_a_turn_out_of_steps_says_so(home: Home) -> None:
    home.host.tools.register(tool("look"))
    home.script(reply(say("looking"), call("look")))
    result = await home.run(agent_options=AgentOptions(max_steps=1))
    assert (result.stop_reason, result.text) == ("max_steps", "looking")
    assert result.detail == "the turn was ended after 1 step"


async def test_context_put_in_afterwards_does_not_turn_a_failure_into_success(home: Home) -> None:
    def inject(logged: EventLogged) -> None:
        if isinstance(logged.event, TurnEnded) and logged.event.reason == "error":
            logged.agent.inject("by the way", source="plugin")

    home.host.hooks.on(EventLogged, inject)
    home.script(fail("401"))
    result = await home.run()
    assert (result.stop_reason, result.detail) == ("error", "401")


async def test_a_child_whose_turn_somebody_cancels_is_aborted_with_that_reason(home: Home) -> None:
    home.script(hang("half"))
    async with await home.start() as run:
        await trio.testing.wait_all_tasks_blocked()
        home.agent(run.id).cancel("the user changed their mind")
        result = await run.result()
    assert (result.stop_reason, result.detail) == ("aborted", "the user changed their mind")
    assert result.text == "half"


# siblings and what they cost


@pytest.mark.field_case("B128", "B020")
async def test_a_child_that_fails_leaves_its_siblings_alone(home: Home) -> None:
    def answer(request: ChatRequest) -> ChatResponse:
        prompt = text_of(request.messages[-1])
        if prompt == "bad":
            raise RuntimeError("boom")
        return say(f"{prompt} done")

    home.script(answer, answer, answer)
    runs = [await home.start(prompt=prompt) for prompt in ("one", "bad", "two")]
    results = [await run.result() for run in runs]
    assert [each.stop_reason for each in results] == ["completed", "error", "completed"]
    assert [each.text for each in results] == ["one done", "", "two done"]
    assert "boom" in str(results[1].detail)


@pytest.mark.field_case("B131", "B136", "B133")
async def test_parallel_children_see_their_own_prompt_and_nothing_else(home: Home) -> None:
    def echo(request: ChatRequest) -> ChatResponse:
        return say(" | ".join(text_of(message) for message in request.messages))

    home.script(*[echo] * 4)
    runs = [await home.start(prompt=f"task {number}") for number in range(3)]
    assert [(await run.result()).text for run in runs] == ["task 0", "task 1", "task 2"]
    assert (await home.run(prompt="task 0")).text == "task 0"
    assert home.parent.session.turns == 0


@pytest.mark.field_case("B172", "B173")
async def test_a_cut_answer_is_counted_once(home: Home) -> None:
    cost = Usage(input_tokens=2, output_tokens=9)
    home.script(say("PART", finish_reason="max_tokens", usage=cost))
    seen = list[UsageProgress]()
    home.parent.hooks.on(UsageProgress, seen.append)
    result = await home.run()
    assert (result.usage, result.model_requests) == (cost, 1)
    assert [each.usage for each in seen] == [cost]
    assert home.parent.usage == cost


@pytest.mark.field_case("B169")
async def test_usage_is_summed_over_every_level(home: Home) -> None:
    ten = Usage(input_tokens=6, output_tokens=4)
    costs = dict[str, Usage | None]()

    async def delegate(execution: ToolExecution) -> ToolResult:
        assert execution.agent is not None
        result = await home.run(parent=execution.agent, prompt="deeper")
        costs["grandchild"] = result.usage
        return ToolResult(content=result.output)  # type: ignore[arg-type]

    home.host.tools.register(
        Tool(name="go", description="Go.", parameters={"type": "object"}, execute=delegate)
    )
    home.script(reply(call("go"), usage=ten), say("deep", usage=ten), say("up", usage=Usage()))
    result = await home.run()
    assert costs["grandchild"] == ten
    assert result.usage == ten + ten == home.parent.usage
    assert (result.model_requests, result.tool_calls) == (3, 1)
    assert (home.parent.model_requests, home.parent.tool_calls) == (3, 1)


# what is told meanwhile


@pytest.mark.field_case("B174")
async def test_what_a_child_does_is_told_to_the_parents_scope(home: Home) -> None:
    home.host.tools.register(tool("grep", "3 hits"))
    home.script(call("grep", call_id="c1"), say("done"))
    seen = list[object]()
    for kind in (TextProgress, ToolStartedProgress, ToolEndedProgress):
        home.parent.hooks.on(kind, seen.append)
    result = await home.run(parent_call_id="p7")
    ids = {"child_id": result.child_id, "parent_id": home.parent.id, "parent_call_id": "p7"}
    assert seen == [
        ToolStartedProgress(call_id="c1", name="grep", arguments="{}", **ids),  # type: ignore[arg-type]
        ToolEndedProgress(call_id="c1", name="grep", is_error=False, text="3 hits", **ids),  # type: ignore[arg-type]
        TextProgress(text="done", **ids),  # type: ignore[arg-type]
    ]


async def test_a_listener_that_comes_late_hears_what_follows(home: Home) -> None:
    release, seen = trio.Event(), list[object]()

    async def answer(_: ChatRequest) -> ChatResponse:
        await release.wait()
        return reply(think("hm"), say("done"))

    home.script(answer)
    async with await home.start() as run:
        await trio.testing.wait_all_tasks_blocked()
        run.on_progress(seen.append)
        release.set()
        await run.result()
    assert [type(each).__name__ for each in seen] == [
        "ThoughtProgress",
        "TextProgress",
        "UsageProgress",
    ]


async def test_a_model_that_does_not_stream_is_told_whole(home: Home) -> None:
    async def replace(
        response: ChatResponse, _: StepContext, rest: Next[ChatResponse]
    ) -> ChatResponse:
        return say("in one piece")

    home.host.hooks.filter(STEP_RESULT, replace)
    seen = list[TextProgress]()
    home.parent.hooks.on(TextProgress, seen.append)
    home.script(reply())
    await home.run()
    assert [each.text for each in seen] == ["in one piece"]


async def test_a_child_nobody_listens_to_has_no_listeners(home: Home) -> None:
    home.script(say("done"))
    async with await home.start() as run:
        child = home.agent(run.id)
        assert not child.hooks.hears_itself(EventLogged)
        run.on_progress(lambda _: None)
        assert child.hooks.hears_itself(EventLogged)


# async context


@pytest.mark.field_case("B091", "B099")
async def test_cancelling_the_top_reaches_every_level(home: Home) -> None:
    ended = list[str]()

    async def delegate(execution: ToolExecution) -> ToolResult:
        assert execution.agent is not None
        result = await home.run(parent=execution.agent, prompt="deeper")
        ended.append(result.stop_reason)
        return ToolResult(content=())

    home.host.tools.register(
        Tool(name="go", description="Go.", parameters={"type": "object"}, execute=delegate)
    )
    model = home.script(call("go"), call("go"), hang())
    async with await home.start() as run:
        await trio.testing.wait_all_tasks_blocked()
        assert len(home.host.agents.list()) == 4
        run.cancel("stop")
        assert (await run.result()).stop_reason == "aborted"
    assert len(home.host.agents.list()) == 1
    assert (len(model.requests), ended) == (3, [])


@pytest.mark.field_case("B234")
async def test_a_tool_always_knows_whose_call_it_is(home: Home) -> None:
    callers = dict[str, int]()

    async def who(execution: ToolExecution) -> ToolResult:
        agent = execution.agent
        assert agent is not None
        callers[execution.call_id] = agent.depth
        if agent.depth < 2:
            await home.run(parent=agent, prompt="deeper")
        return ToolResult(content=())

    home.host.tools.register(
        Tool(name="who", description="Who.", parameters={"type": "object"}, execute=who)
    )
    home.script(
        call("who", call_id="top"),
        call("who", call_id="child"),
        call("who", call_id="grandchild"),
        say("3"),
        say("2"),
        call("who", call_id="top again"),
        *[say("x")] * 2,
    )
    await home.ask("go")
    assert callers == {"top": 0, "child": 1, "grandchild": 2, "top again": 0}


# what is left of it


async def test_a_child_that_completed_is_freed_without_the_collector(home: Home) -> None:
    def logs() -> int:
        return sum(type(each) is Session for each in gc.get_objects())

    home.script(say("one"), say("two"))
    await home.run()
    gc.collect()
    before = logs()
    gc.disable()
    try:
        await home.run()
        assert logs() == before
    finally:
        gc.enable()
