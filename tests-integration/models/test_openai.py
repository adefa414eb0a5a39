"""What only the chat-completions wire has."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import trio
from conversation import TOOL, answered, ask, call, request, user
from dialects import OPENAI
from fake_endpoint import FakeEndpoint, Reply, fake_endpoint
from openai_wire import DONE, chunk

from dsh.agent import (
    ChatRequest,
    ChatResponse,
    Message,
    ModelError,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolSchema,
    Usage,
)


@pytest.fixture
async def endpoint() -> AsyncGenerator[FakeEndpoint]:
    async with fake_endpoint(OPENAI.refuse) as found:
        yield found


async def sent(endpoint: FakeEndpoint, asking: ChatRequest, **settings: Any) -> dict[str, Any]:
    endpoint.replies = [OPENAI.answer(TextBlock(text="ok"))]
    async with OPENAI.model(endpoint.url, **settings) as model:
        await ask(model, asking)
    return endpoint.requests[-1]


def tool(**parameters: object) -> ToolSchema:
    return ToolSchema(name="look", description="Looks.", parameters=parameters)


def parameters(body: dict[str, Any]) -> object:
    return body["tools"][0]["function"]["parameters"]


@pytest.mark.field_case("B061", "B064")
async def test_references_and_constants_are_lowered_and_nothing_else(
    endpoint: FakeEndpoint,
) -> None:
    city = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    offered = tool(
        type="object",
        properties={"to": {"$ref": "#/$defs/City", "title": "T"}, "kind": {"const": "ok"}},
        additionalProperties=False,
    )
    original = {**offered.parameters, "$defs": {"City": city}}
    body = await sent(endpoint, request(tools=(tool(**original),)))
    assert parameters(body) == {
        "type": "object",
        "properties": {"to": {**city, "title": "T"}, "kind": {"enum": ["ok"]}},
        "additionalProperties": False,
    }


@pytest.mark.field_case("B068")
async def test_a_schema_that_cannot_be_lowered_is_refused_by_the_name_of_its_tool(
    endpoint: FakeEndpoint,
) -> None:
    tree = {"$ref": "#/$defs/T", "$defs": {"T": {"items": {"$ref": "#/$defs/T"}}}}
    with pytest.raises(ModelError, match=r"tool 'look' refers to itself \(#/\$defs/T\)") as caught:
        await sent(endpoint, request(tools=(tool(**tree),)))
    assert caught.value.code == "INVALID_REQUEST"
    assert endpoint.requests == []


async def test_a_schema_is_sent_as_it_is_where_that_is_wanted(endpoint: FakeEndpoint) -> None:
    asking = request(tools=(tool(const={"a": [1]}),))
    with pytest.raises(ModelError, match="unsupported keyword in parameters: const"):
        await sent(endpoint, asking, lower_schemas=False)
    assert parameters(endpoint.requests[-1]) == {"const": {"a": [1]}}


async def test_strict_mode_is_not_asked_for_so_that_optional_keys_stay_optional(
    endpoint: FakeEndpoint,
) -> None:
    offered = tool(type="object", properties={"b": {"type": "string"}}, required=[])
    body = await sent(endpoint, request(tools=(offered,)))
    assert body["tools"][0]["function"].keys() == {"name", "description", "parameters"}


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
async def test_the_tool_choice_is_passed_on(endpoint: FakeEndpoint, choice: Any) -> None:
    body = await sent(endpoint, request(tools=(TOOL,), tool_choice=choice))
    assert body["tool_choice"] == choice


async def test_the_model_and_the_limit_on_tokens_go_by_the_endpoints_names(
    endpoint: FakeEndpoint,
) -> None:
    asking = request(options={"max_tokens": 9})
    body = await sent(endpoint, asking, model="org/m:7b", max_tokens_field="max_completion_tokens")
    assert (body["model"], body["max_completion_tokens"]) == ("org/m:7b", 9)
    assert "max_tokens" not in body


def thoughtful(text: str, *blocks: ToolCallBlock, signature: str | None = None) -> Message:
    thought = ThinkingBlock(text=text, signature=signature)
    content = (thought, *(blocks or (TextBlock(text="so"),)))
    return Message(role="assistant", content=content, source="model")


async def test_reasoning_goes_back_within_its_turn_only(endpoint: FakeEndpoint) -> None:
    past = (user("go"), thoughtful("old"), user("again"))
    messages = (*past, thoughtful("new", call("a")), answered("a", "1"))
    body = await sent(endpoint, request(*messages, tools=(TOOL,)))
    assert [m.get("reasoning_content") for m in body["messages"] if m["role"] == "assistant"] == [
        None,
        "new",
    ]
    never = await sent(endpoint, request(*messages, tools=(TOOL,)), send_reasoning="never")
    assert "reasoning_content" not in json.dumps(never)


@pytest.mark.field_case("B077")
async def test_reasoning_that_another_provider_signed_is_not_sent(endpoint: FakeEndpoint) -> None:
    messages = (user("go"), thoughtful("theirs", call("a"), signature="x"), answered("a", "1"))
    body = await sent(endpoint, request(*messages, tools=(TOOL,)))
    assert "theirs" not in json.dumps(body)


def streamed(*deltas: dict[str, object], finish: str = "tool_calls") -> Reply:
    return Reply(chunks=[*map(chunk, deltas), chunk({}, finish), DONE])


def piece(arguments: str, **fields: object) -> dict[str, object]:
    names = {"name": fields.pop("name")} if "name" in fields else {}
    return {**fields, "function": {**names, "arguments": arguments}}


@pytest.mark.parametrize(
    "deltas",
    [
        # each call under the same index, told apart by its id
        [
            {"tool_calls": [piece('{"n":', index=0, id="a", name="look")]},
            {"tool_calls": [piece(" 1}", index=0)]},
            {"tool_calls": [piece('{"n": 2}', index=0, id="b", name="look")]},
        ],
        # no index at all, the calls in one chunk
        [
            {
                "tool_calls": [
                    piece('{"n": 1}', id="a", name="look"),
                    piece('{"n": 2}', id="b", name="look"),
                ]
            }
        ],
        # the id again with every piece, the name with none but the first
        [
            {"tool_calls": [piece('{"n": 1', index=0, id="a", name="look")]},
            {"tool_calls": [piece("", index=1, id="b", name="look")]},
            {"tool_calls": [piece("}", index=0, id="a"), piece('{"n": 2}', index=1, id="b")]},
        ],
    ],
)
async def test_parallel_calls_are_told_apart_however_a_server_numbers_them(
    endpoint: FakeEndpoint, deltas: list[dict[str, object]]
) -> None:
    endpoint.replies = [streamed(*deltas)]
    async with OPENAI.model(endpoint.url) as model:
        response = await ask(model)
    assert response.content == (call("a", '{"n": 1}'), call("b", '{"n": 2}'))


async def test_calls_that_end_with_stop_are_calls(endpoint: FakeEndpoint) -> None:
    endpoint.replies = [OPENAI.answer(call("a"), finish="stop")]
    async with OPENAI.model(endpoint.url) as model:
        assert (await ask(model)).finish_reason == "tool_calls"


async def test_a_refusal_in_words_is_one(endpoint: FakeEndpoint) -> None:
    endpoint.replies = [streamed({"refusal": "I will not."}, finish="stop")]
    async with OPENAI.model(endpoint.url) as model:
        response = await ask(model)
    assert response.finish_reason == "refusal"
    assert response.content == (TextBlock(text="I will not."),)


async def test_reasoning_tokens_are_counted_apart(endpoint: FakeEndpoint) -> None:
    usage = Usage(input_tokens=1, output_tokens=2, reasoning_tokens=4)
    endpoint.replies = [OPENAI.answer(TextBlock(text="hi"), usage=usage)]
    async with OPENAI.model(endpoint.url) as model:
        assert (await ask(model)).usage == usage


async def test_an_empty_stream_that_says_it_is_done_is_an_empty_response(
    endpoint: FakeEndpoint,
) -> None:
    endpoint.replies = [Reply(chunks=[DONE])]
    async with OPENAI.model(endpoint.url) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
    assert caught.value.code == "EMPTY_RESPONSE"


async def test_an_answer_without_a_finish_reason_has_stopped(endpoint: FakeEndpoint) -> None:
    endpoint.replies = [Reply(chunks=[chunk({"content": "hi"}), DONE])]
    async with OPENAI.model(endpoint.url) as model:
        assert (await ask(model)).finish_reason == "stop"


def whole(message: dict[str, object], finish: str = "stop") -> Reply:
    """An answer that is not streamed."""
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    body = json.dumps({"id": "c", "choices": choices, "usage": usage}).encode()
    return Reply(chunks=[body[:9], body[9:]], content_type="application/json")


async def test_an_answer_may_come_whole(endpoint: FakeEndpoint) -> None:
    made = [piece('{"n": 1}', id="a", name="look"), piece('{"n": 2}', id="b", name="look")]
    endpoint.replies = [whole({"content": "So.", "tool_calls": made}, "tool_calls")]
    async with OPENAI.model(endpoint.url, stream=False) as model:
        response = await ask(model)
    assert response == ChatResponse(
        content=(TextBlock(text="So."), call("a", '{"n": 1}'), call("b", '{"n": 2}')),
        finish_reason="tool_calls",
        usage=Usage(input_tokens=3, output_tokens=2),
    )
    assert endpoint.requests[-1]["stream"] is False
    assert "stream_options" not in endpoint.requests[-1]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(chunks=[b'{"error": {"message": "no", "code": 503}}']), "SERVER"),
        (Reply(chunks=[b"<html>"]), "MALFORMED_RESPONSE"),
        (Reply(chunks=[b'{"choices": 7}']), "MALFORMED_RESPONSE"),
        (Reply(chunks=[b'{"choices": [']), "MALFORMED_RESPONSE"),
        (Reply(chunks=[b'{"choices": ['], end="drop"), "STREAM_CLOSED"),
        (Reply(chunks=[b"{}"]), "STREAM_CLOSED"),
    ],
)
async def test_a_whole_answer_that_is_none_has_its_code(
    endpoint: FakeEndpoint, reply: Reply, code: str
) -> None:
    endpoint.replies = [reply]
    async with OPENAI.model(endpoint.url, stream=False) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
    assert caught.value.code == code


async def test_a_whole_answer_can_be_cancelled(endpoint: FakeEndpoint) -> None:
    endpoint.replies = [Reply(chunks=[b"{"], end="stall")]
    async with OPENAI.model(endpoint.url, stream=False) as model:
        with trio.fail_after(5), trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask, model)
                await endpoint.stalled.wait()
                scope.cancel()
    assert scope.cancelled_caught
    await endpoint.idle.wait()
