"""What only Anthropic's wire has."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from anthropic_wire import named
from conversation import TOOL, answered, ask, asked, call, request, user
from dialects import ANTHROPIC
from fake_endpoint import FakeEndpoint, Reply, fake_endpoint

from dsh.agent import (
    ChatRequest,
    ChatResponse,
    Message,
    ModelError,
    TextBlock,
    ThinkingBlock,
    Usage,
)

MARK = {"type": "ephemeral"}


@pytest.fixture
async def endpoint() -> AsyncGenerator[FakeEndpoint]:
    async with fake_endpoint(ANTHROPIC.refuse) as found:
        yield found


async def answer_to(
    endpoint: FakeEndpoint, reply: Reply, asking: ChatRequest | None = None, **settings: Any
) -> ChatResponse:
    endpoint.replies = [reply]
    async with ANTHROPIC.model(endpoint.url, **settings) as model:
        return await ask(model, asking)


async def sent(endpoint: FakeEndpoint, asking: ChatRequest, **settings: Any) -> dict[str, Any]:
    await answer_to(endpoint, ANTHROPIC.answer(TextBlock(text="ok")), asking, **settings)
    return endpoint.requests[-1]


THOUGHTS = (
    ThinkingBlock(text="let me see", signature="proof-1"),
    ThinkingBlock(text="", signature="proof-of-what-is-secret"),
    call("a"),
)


async def thoughtful(endpoint: FakeEndpoint) -> Message:
    """An answer of the model m-1 with open and redacted reasoning."""
    response = await answer_to(endpoint, ANTHROPIC.answer(*THOUGHTS, finish="tool_calls"))
    return Message(role="assistant", content=response.content, source="model")


async def test_reasoning_goes_back_as_it_came_redacted_or_not(endpoint: FakeEndpoint) -> None:
    thought = await thoughtful(endpoint)
    messages = (user("go"), thought, answered("a", "1"))
    body = await sent(endpoint, request(*messages, tools=(TOOL,)))
    assert body["messages"][1]["content"][:2] == [
        {"type": "thinking", "thinking": "let me see", "signature": "proof-1"},
        {"type": "redacted_thinking", "data": "proof-of-what-is-secret"},
    ]


@pytest.mark.field_case("B077")
async def test_reasoning_of_another_model_or_provider_is_not_sent(endpoint: FakeEndpoint) -> None:
    foreign = ThinkingBlock(text="theirs", signature="not a proof")
    unsigned = ThinkingBlock(text="nobody's")
    thought = await thoughtful(endpoint)
    mixed = Message(role="assistant", content=(foreign, unsigned, *thought.content))
    messages = (user("go"), mixed, answered("a", "1"))
    body = await sent(endpoint, request(*messages, tools=(TOOL,)), model="m-2")
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_use"]


async def test_the_prompt_and_the_conversation_are_marked_for_the_cache(
    endpoint: FakeEndpoint,
) -> None:
    messages = (user("go"), asked(call("a")), answered("a", "1"))
    body = await sent(endpoint, request(*messages, system="You look.", tools=(TOOL,)))
    assert body["system"] == [{"type": "text", "text": "You look.", "cache_control": MARK}]
    assert body["messages"][-1]["content"][-1]["cache_control"] == MARK
    assert json.dumps(body).count("cache_control") == 2


async def test_without_a_system_text_the_tools_are_marked(endpoint: FakeEndpoint) -> None:
    body = await sent(endpoint, request(tools=(TOOL,)), cache="1h")
    assert body["tools"][-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


async def test_nothing_is_marked_where_no_cache_is_wanted(endpoint: FakeEndpoint) -> None:
    body = await sent(endpoint, request(system="You look.", tools=(TOOL,)), cache="off")
    assert "cache_control" not in json.dumps(body)


async def test_an_answer_is_limited_by_the_request_or_else_by_the_settings(
    endpoint: FakeEndpoint,
) -> None:
    assert (await sent(endpoint, request()))["max_tokens"] == 8192
    assert (await sent(endpoint, request(), max_tokens=100))["max_tokens"] == 100
    assert (await sent(endpoint, request(options={"max_tokens": 9})))["max_tokens"] == 9


async def test_a_thinking_budget_comes_on_top_of_the_limit(endpoint: FakeEndpoint) -> None:
    thinking = {"type": "enabled", "budget_tokens": 20_000}
    body = await sent(endpoint, request(options={"thinking": thinking}))
    assert (body["max_tokens"], body["thinking"]) == (28_192, thinking)


@pytest.mark.parametrize(
    ("choice", "wire"), [("auto", "auto"), ("required", "any"), ("none", "none")]
)
async def test_the_tool_choice_has_the_wires_words(
    endpoint: FakeEndpoint, choice: Any, wire: str
) -> None:
    body = await sent(endpoint, request(tools=(TOOL,), tool_choice=choice))
    assert body["tool_choice"] == {"type": wire}


async def test_reasoning_is_off_where_a_tool_is_forced(endpoint: FakeEndpoint) -> None:
    options = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
    forced = request(tools=(TOOL,), tool_choice="required", options=options)
    assert "thinking" not in await sent(endpoint, forced)


async def test_calls_of_tools_that_are_gone_keep_a_declaration(endpoint: FakeEndpoint) -> None:
    body = await sent(endpoint, request(user("go"), asked(call("a")), answered("a", "1")))
    assert [tool["name"] for tool in body["tools"]] == ["look"]
    assert body["tool_choice"] == {"type": "none"}


async def test_schemas_are_sent_as_they_are(endpoint: FakeEndpoint) -> None:
    schema = {
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/C"}, "kind": {"const": "ok"}},
        "$defs": {"C": {"type": "string"}},
    }
    tool = type(TOOL)(name="look", description="Looks.", parameters=schema)
    body = await sent(endpoint, request(tools=(tool,)), cache="off")
    expected = {"name": "look", "description": "Looks.", "input_schema": schema}
    assert body["tools"] == [expected]


async def test_errors_of_tools_are_marked_as_such(endpoint: FakeEndpoint) -> None:
    messages = (user("go"), asked(call("a")), answered("a", "no", is_error=True))
    body = await sent(endpoint, request(*messages, tools=(TOOL,)))
    assert body["messages"][-1]["content"][0]["is_error"] is True


async def test_reasoning_tokens_are_counted_apart(endpoint: FakeEndpoint) -> None:
    usage = Usage(input_tokens=1, output_tokens=2, reasoning_tokens=4)
    reply = ANTHROPIC.answer(TextBlock(text="hi"), usage=usage)
    assert (await answer_to(endpoint, reply)).usage == usage


async def test_a_refusal_says_why(endpoint: FakeEndpoint) -> None:
    start = ANTHROPIC.begun("I")
    details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    end = named("message_delta", delta={"stop_reason": "refusal", "stop_details": details})
    response = await answer_to(endpoint, Reply(chunks=[*start, end, named("message_stop")]))
    assert (response.finish_reason, response.detail) == ("refusal", "Not this.")


async def test_what_the_api_comes_to_say_besides_is_passed_over(endpoint: FakeEndpoint) -> None:
    block = named("content_block_start", index=3, content_block={"type": "server_tool_use"})
    delta = {"type": "citations_delta", "citation": "c"}
    news = [named("news"), block, named("content_block_delta", index=0, delta=delta)]
    whole = ANTHROPIC.answer(TextBlock(text="hi")).chunks
    response = await answer_to(endpoint, Reply(chunks=[whole[0], *news, *whole[1:]]))
    assert response.content == (TextBlock(text="hi"),)


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        (
            {"type": "content_block_start", "index": "0", "content_block": {"type": "text"}},
            "index of a block is a str",
        ),
        (
            {"type": "message_delta", "delta": {}, "usage": {"output_tokens": "many"}},
            "output_tokens is 'many', not a count",
        ),
    ],
)
async def test_an_event_with_something_else_for_a_number_is_malformed(
    endpoint: FakeEndpoint, event: dict[str, object], problem: str
) -> None:
    data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    begun = ANTHROPIC.begun("Hel")
    with pytest.raises(ModelError, match=problem) as caught:
        await answer_to(endpoint, Reply(chunks=[*begun, data]))
    assert caught.value.code == "MALFORMED_RESPONSE"
