from typing import Any

import pytest
import trio
import trio.testing

from dsh.agent import (
    MODEL_ERROR_CODES,
    ChatRequest,
    ChatResponse,
    Delta,
    DuplicateModelError,
    JsonValueError,
    Message,
    ModelError,
    ModelRegistry,
    OnDelta,
    RequestHeader,
    ResponseAssembler,
    SessionId,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolCallBlock,
    ToolSchema,
    UnknownModelError,
    Usage,
    model_error_code,
)
from dsh.agent.testing import ScriptedModel, fail, hang, reply, say


def request(model: str = "m") -> ChatRequest:
    return ChatRequest(model=model, messages=())


def ignore(delta: Delta) -> None:
    pass


@pytest.mark.guarantee("B-LLM-01")
def test_a_model_is_registered_under_all_its_names_or_none() -> None:
    """A name that is taken, or given twice, leaves none of a model's names registered."""
    models = ModelRegistry()
    models.register(ScriptedModel(), "a")
    with pytest.raises(DuplicateModelError, match="'a'") as caught:
        models.register(ScriptedModel(), "b", "a")
    assert (caught.value.code, models.names) == ("DUPLICATE_ADAPTER", ("a",))
    with pytest.raises(DuplicateModelError, match="'c'"):
        models.register(ScriptedModel(), "c", "c")
    with pytest.raises(TypeError, match="at least one name"):
        models.register(ScriptedModel())
    with pytest.raises(ValueError, match="total_tokens must be >= "):
        models.register(ScriptedModel(), "d", max_concurrent=-1)
    assert models.names == ("a",)


async def test_closing_a_registration_takes_all_names_back_once() -> None:
    models = ModelRegistry()
    registration = models.register(ScriptedModel(say("hi")), "a", "b")
    registration.close()
    again = models.register(ScriptedModel(), "a")
    registration.close()
    assert models.names == ("a",)
    again.close()


@pytest.mark.guarantee("B-LLM-02")
async def test_an_unknown_model_is_an_error_that_lists_the_known() -> None:
    """Asking for a model nobody registered says which ones there are."""
    models = ModelRegistry()
    models.register(ScriptedModel(), "a", "b")
    with pytest.raises(UnknownModelError, match="no model named 'm'; registered: a, b") as caught:
        await models.generate(request(), on_delta=ignore)
    assert caught.value.code == "NO_ADAPTER"


@pytest.mark.guarantee("B-LLM-03")
@pytest.mark.parametrize(
    ("response", "code", "message"),
    [
        (say("ha", finish_reason="error"), "UNKNOWN", "the model reported an error"),
        (say("ha", finish_reason="aborted"), "ABORTED", "the model was interrupted"),
        (
            ChatResponse(content=(), finish_reason="error", detail="busy", code="SERVER"),
            "SERVER",
            "busy",
        ),
    ],
    ids=["error", "aborted", "detailed"],
)
async def test_a_failure_that_is_returned_is_raised(
    response: ChatResponse, code: str, message: str
) -> None:
    """It makes no difference whether a model raises its failure or finishes with it."""
    models = ModelRegistry()
    models.register(ScriptedModel(response, fail("no", code="AUTH")), "m", max_concurrent=1)
    with pytest.raises(ModelError, match=message) as caught:
        await models.generate(request(), on_delta=ignore)
    assert (caught.value.code, caught.value.response) == (code, response)
    with pytest.raises(ModelError, match="no") as caught:
        await models.generate(request(), on_delta=ignore)
    assert (caught.value.code, caught.value.response) == ("AUTH", None)


@pytest.mark.guarantee("B-LLM-06")
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "INVALID_REQUEST"),
        (401, "AUTH"),
        (403, "AUTH"),
        (429, "RATE_LIMIT"),
        (500, "SERVER"),
        (503, "SERVER"),
        (599, "SERVER"),
        (404, "HTTP_404"),
        (302, "HTTP_302"),
        (600, "HTTP_600"),
    ],
)
def test_a_status_has_one_code(status: int, code: str) -> None:
    """Every failing HTTP status maps to the code of its kind, or to its own number."""
    assert model_error_code(status) == code
    assert code.startswith("HTTP_") or code in MODEL_ERROR_CODES


@pytest.mark.guarantee("B-LLM-08")
def test_a_request_is_frozen_and_names_its_session() -> None:
    """Nothing that a request carries can change after it was made, and it says whose it is."""
    messages = [Message(role="user", content=(TextBlock(text="hi"),))]
    options = {"stop": ["x"]}
    made = ChatRequest(model="m", messages=messages, options=options, session_id=SessionId("s"))
    messages.clear()
    options["stop"].append("y")
    assert len(made.messages) == 1
    assert made.options == {"stop": ("x",)}
    assert made.session_id == "s"
    with pytest.raises(AttributeError):
        made.model = "n"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(JsonValueError, match=r"options\.stop: a object is not JSON"):
        ChatRequest(model="m", messages=(), options={"stop": object()})


@pytest.mark.guarantee("B-LLM-09")
def test_absent_and_empty_tools_stay_apart() -> None:
    """A request without a list of tools is another one than with an empty list."""
    assert request().tools is None
    assert ChatRequest(model="m", messages=(), tools=()).tools == ()
    assert RequestHeader(model="m").tools is None


def test_a_tool_schema_is_frozen() -> None:
    parameters: dict[str, object] = {"type": "object"}
    schema = ToolSchema(name="t", description="", parameters=parameters)
    parameters["type"] = "array"
    assert schema.parameters == {"type": "object"}


class Gated:
    """Counts how many requests are in it at once; lets them go one by one."""

    def __init__(self) -> None:
        self.inside = self.most = 0
        self.gate = trio.Semaphore(0)

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await self.gate.acquire()
        finally:
            self.inside -= 1
        return say("done")


async def test_a_limit_counts_requests_and_a_cancelled_waiter_leaks_none() -> None:
    models, model = ModelRegistry(), Gated()
    models.register(model, "m", "n", max_concurrent=2)
    done: list[str] = []

    async def ask(name: str, scope: trio.CancelScope) -> None:
        with scope:
            await models.generate(request(name), on_delta=ignore)
            done.append(name)

    async with trio.open_nursery() as nursery:
        scopes = [trio.CancelScope() for _ in range(5)]
        for scope, name in zip(scopes, "mnmnm", strict=True):
            nursery.start_soon(ask, name, scope)
            await trio.testing.wait_all_tasks_blocked()
        assert model.inside == 2
        scopes[2].cancel()  # waits for the limit
        scopes[0].cancel()  # holds a token of it
        await trio.testing.wait_all_tasks_blocked()
        assert model.inside == 2
        for _ in range(3):
            model.gate.release()
            await trio.testing.wait_all_tasks_blocked()
    assert sorted(done) == ["m", "n", "n"]
    assert model.most == 2
    model.gate.release()
    model.gate.release()
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(ask, "m", trio.CancelScope())
    assert len(done) == 5


async def test_one_task_may_hold_several_tokens() -> None:
    models = ModelRegistry()

    class Nested:
        async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
            return await models.generate(ChatRequest(model="in", messages=()), on_delta=on_delta)

    both = ScriptedModel(say("inner"))
    models.register(Nested(), "out", max_concurrent=1)
    models.register(both, "in", max_concurrent=1)
    response = await models.generate(request("out"), on_delta=ignore)
    assert response.content == (TextBlock(text="inner"),)


async def test_a_hanging_request_gives_its_token_back_when_cancelled() -> None:
    models = ModelRegistry()
    models.register(ScriptedModel(hang("half"), say("whole")), "m", max_concurrent=1)
    heard: list[Delta] = []
    with trio.CancelScope() as scope:

        def stop(delta: Delta) -> None:
            heard.append(delta)
            scope.cancel()

        await models.generate(request(), on_delta=stop)
    assert heard == [TextDelta(text="half")]
    assert (await models.generate(request(), on_delta=ignore)).finish_reason == "stop"


@pytest.mark.guarantee("B-LLM-04")
def test_nothing_counts_after_the_finish() -> None:
    """The usage reported before the end is the one that counts, and the end is the end."""
    heard: list[Delta] = []
    answer = ResponseAssembler(heard.append)
    answer.add_text(0, "so")
    answer.set_usage(Usage(input_tokens=1))
    answer.finish("max_tokens")
    answer.add_text(0, " what")
    answer.add_text(1, "more")
    answer.set_usage(Usage(input_tokens=9))
    answer.finish("stop")
    assert answer.response() == ChatResponse(
        content=(TextBlock(text="so"),), finish_reason="max_tokens", usage=Usage(input_tokens=1)
    )
    assert heard == [TextDelta(text="so")]


@pytest.mark.guarantee("B-LLM-05")
def test_blocks_are_put_together_by_index() -> None:
    """Pieces go to their block until it ends, a call without id is named after its place."""
    heard: list[Delta] = []
    answer = ResponseAssembler(heard.append)
    answer.add_call(2, '{"a":', name="read")
    answer.add_thinking(0, "hm")
    answer.add_thinking(0, signature="sig")
    answer.add_text(1, "so")
    answer.add_call(2, "1}")
    answer.add_call(3, id="c", name="write")
    answer.end_block(1)
    answer.add_text(1, " late")
    answer.end_block(1)
    answer.end_block(7)
    answer.add_thinking(1, "of another kind")
    assert answer.response() == ChatResponse(
        content=(
            ThinkingBlock(text="hm", signature="sig"),
            TextBlock(text="so"),
            ToolCallBlock(id="call-2", name="read", arguments='{"a":1}'),
            ToolCallBlock(id="c", name="write", arguments=""),
        ),
        finish_reason="stop",
    )
    assert heard == [ThinkingDelta(text="hm"), TextDelta(text="so")]


def test_a_reply_joins_parts() -> None:
    assert reply(say("a"), say("b"), finish_reason="refusal").finish_reason == "refusal"


async def test_a_model_that_answers_with_no_response_is_told_of_as_malformed() -> None:
    class Mute:
        async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> Any:
            await trio.lowlevel.checkpoint()

    registry = ModelRegistry()
    registry.register(Mute(), "m")
    with pytest.raises(ModelError, match="answered with a NoneType") as caught:
        await registry.generate(request(), on_delta=ignore)
    assert caught.value.code == "MALFORMED_RESPONSE"


def test_a_piece_of_a_call_that_comes_after_its_end_is_ignored() -> None:
    answer = ResponseAssembler(ignore)
    answer.add_call(0, '{"a": 1}', id="c", name="look")
    answer.end_block(0)
    answer.add_call(0, "late", id="d", name="leap")
    answer.finish("tool_calls")
    (call,) = answer.response().content
    assert call == ToolCallBlock(id="c", name="look", arguments='{"a": 1}')
