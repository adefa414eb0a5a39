"""What an answer on the wire becomes, whatever the wire."""

import pytest
from conversation import ask, call
from dialects import Dialect
from fake_endpoint import FakeEndpoint

from dsh.agent import (
    ChatModel,
    Delta,
    FinishReason,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    Usage,
)


async def test_text_comes_in_deltas_and_whole(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [dialect.answer(TextBlock(text="grüß Gott\u2028\N{GRINNING FACE}"))]
    heard: list[Delta] = []
    response = await ask(model, heard=heard)
    assert response.content == (TextBlock(text="grüß Gott\u2028\N{GRINNING FACE}"),)
    assert response.finish_reason == "stop"
    assert [type(delta) for delta in heard] == [TextDelta, TextDelta]
    assert "".join(delta.text for delta in heard) == "grüß Gott\u2028\N{GRINNING FACE}"


async def test_thinking_is_kept_apart_from_text(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    blocks = (ThinkingBlock(text="let me see", signature="proof"), TextBlock(text="four"))
    endpoint.replies = [dialect.answer(*blocks)]
    heard: list[Delta] = []
    response = await ask(model, heard=heard)
    thought, text = response.content
    assert isinstance(thought, ThinkingBlock)
    assert thought.text == "let me see"
    assert text == TextBlock(text="four")
    assert "".join(d.text for d in heard if isinstance(d, ThinkingDelta)) == "let me see"


async def test_the_calls_of_one_answer_keep_their_order_and_their_arguments(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    calls = (call("a", '{"n": 2512292042121000001}'), call("b", '{"q": "x"}', name="find"))
    endpoint.replies = [dialect.answer(TextBlock(text="first"), *calls, finish="tool_calls")]
    response = await ask(model)
    assert response.content == (TextBlock(text="first"), *calls)
    assert response.finish_reason == "tool_calls"


async def test_calls_without_ids_get_one_each(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    calls = (call("", '{"n": 1}'), call("", '{"n": 2}'))
    endpoint.replies = [dialect.answer(*calls, finish="tool_calls")]
    response = await ask(model)
    one, two = response.content
    assert one != two
    assert {getattr(one, "id", ""), getattr(two, "id", "")}.isdisjoint({""})


async def test_a_call_without_arguments_is_a_call(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [dialect.answer(call("a", ""), finish="tool_calls")]
    assert (await ask(model)).content == (call("a", ""),)


async def test_usage_counts_nothing_twice(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    usage = Usage(input_tokens=3, output_tokens=5, cache_read_tokens=7, cache_write_tokens=11)
    endpoint.replies = [dialect.answer(TextBlock(text="hi"), usage=usage)]
    assert (await ask(model)).usage == usage


@pytest.mark.field_case("B172", "B173")
async def test_usage_of_a_cut_answer_is_counted_once(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    usage = Usage(input_tokens=2, output_tokens=9)
    endpoint.replies = [dialect.answer(TextBlock(text="cu"), finish="max_tokens", usage=usage)]
    response = await ask(model)
    assert (response.finish_reason, response.usage) == ("max_tokens", usage)


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "max_tokens", "refusal"])
async def test_each_finish_reason_arrives(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, finish: FinishReason
) -> None:
    endpoint.replies = [dialect.answer(TextBlock(text="so"), finish=finish)]
    assert (await ask(model)).finish_reason == finish


@pytest.mark.field_case("B021", "B024")
@pytest.mark.parametrize("finish", ["max_tokens", "refusal"])
async def test_an_answer_without_text_keeps_its_finish_reason_and_is_asked_for_once(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, finish: FinishReason
) -> None:
    endpoint.replies = [dialect.answer(finish=finish)]
    response = await ask(model)
    assert (response.content, response.finish_reason) == ((), finish)
    assert len(endpoint.requests) == 1


async def test_a_finish_reason_of_the_providers_own_trouble_is_an_error(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [dialect.answer(TextBlock(text="hal"), finish="error")]
    response = await ask(model)
    assert (response.finish_reason, response.code) == ("error", "SERVER")
    assert "finish reason" in (response.detail or "")
