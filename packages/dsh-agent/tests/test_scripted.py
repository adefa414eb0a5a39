import pytest
import trio
import trio.testing

from dsh.agent import (
    ChatRequest,
    ChatResponse,
    Delta,
    Message,
    ModelError,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolCallBlock,
    Usage,
)
from dsh.agent.testing import (
    ScriptedModel,
    Step,
    call,
    call_raw,
    fail,
    hang,
    reply,
    say,
    think,
)

USER = Message(role="user", content=(TextBlock(text="hi"),))
REQUEST = ChatRequest(model="m", messages=(USER,))


async def ask(model: ScriptedModel, heard: list[Delta] | None = None) -> ChatResponse:
    return await model.generate(REQUEST, on_delta=(heard if heard is not None else []).append)


@pytest.mark.guarantee("B-LLM-10")
async def test_a_script_is_followed_step_by_step_and_requests_are_kept() -> None:
    """A scripted model answers, fails or computes as written, records, and refuses to go on."""

    def echo(request: ChatRequest) -> Step:
        return say(f"{len(request.messages)} messages")

    async def late(request: ChatRequest) -> Step:
        await trio.lowlevel.checkpoint()
        return fail("later", code="RATE_LIMIT")

    model = ScriptedModel(say("one"), echo, late, ModelError("bare", code="AUTH"))
    assert (await ask(model)).content == (TextBlock(text="one"),)
    assert (await ask(model)).content == (TextBlock(text="1 messages"),)
    with pytest.raises(ModelError, match="later") as caught:
        await ask(model)
    assert caught.value.code == "RATE_LIMIT"
    with pytest.raises(ModelError, match="bare"):
        await ask(model)
    with pytest.raises(ModelError, match="request 5, and the steps of the script are 4") as caught:
        await ask(model)
    assert caught.value.code == "EXHAUSTED"
    assert model.requests == (REQUEST,) * 5
    with pytest.raises(AssertionError, match="requests made: 5, steps of the script: 4"):
        model.check()


async def test_one_reply_can_think_speak_and_call_several_tools() -> None:
    answer = reply(
        think("hm", signature="s"),
        say("Reading."),
        call("read", call_id="a", path="x", n=1),
        call_raw("read", "{broken", call_id="b"),
        usage=Usage(input_tokens=7),
    )
    heard: list[Delta] = []
    model = ScriptedModel(answer)
    assert await ask(model, heard) is answer
    assert answer == ChatResponse(
        content=(
            ThinkingBlock(text="hm", signature="s"),
            TextBlock(text="Reading."),
            ToolCallBlock(id="a", name="read", arguments='{"path": "x", "n": 1}'),
            ToolCallBlock(id="b", name="read", arguments="{broken"),
        ),
        finish_reason="tool_calls",
        usage=Usage(input_tokens=7),
    )
    assert heard == [ThinkingDelta(text="hm"), TextDelta(text="Reading.")]


@pytest.mark.guarantee("B-LLM-10")
async def test_a_hanging_step_says_one_thing_and_waits_to_be_cancelled() -> None:
    """A step may send part of an answer and then leave the caller waiting."""
    model = ScriptedModel(hang("half"), fail("broken", partial="quarter"))
    heard: list[Delta] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, model, heard)
        await trio.testing.wait_all_tasks_blocked()
        assert heard == [TextDelta(text="half")]
        nursery.cancel_scope.cancel()
    with pytest.raises(ModelError, match="broken"):
        await ask(model, heard)
    assert heard[1:] == [TextDelta(text="quarter")]
    model.check()


async def test_steps_left_over_fail_at_the_end_of_a_with_block() -> None:
    model = ScriptedModel(say("one"), say("two"))
    with pytest.raises(AssertionError, match="requests made: 1, steps of the script: 2"), model:
        await ask(model)
    with pytest.raises(ZeroDivisionError), ScriptedModel(say("one")):
        raise ZeroDivisionError
    assert repr(model) == "<ScriptedModel 1/2>"
