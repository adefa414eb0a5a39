"""What is sent: accepted by the strictest endpoint, whatever the conversation went through."""

import json
from importlib.metadata import version
from typing import Any

import pytest
from conversation import TOOL, answered, ask, asked, call, request, user
from dialects import Dialect
from fake_endpoint import FakeEndpoint

from dsh.agent import (
    ChatModel,
    ChatRequest,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
)

PICTURE = ImageBlock(media_type="image/png", data="iVBORw0KGgo=")


async def sent(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, asking: ChatRequest
) -> dict[str, Any]:
    """The body of *asking*, which the endpoint has accepted."""
    endpoint.replies = [dialect.answer(TextBlock(text="ok"))]
    assert (await ask(model, asking)).content == (TextBlock(text="ok"),)
    return endpoint.requests[-1]


async def test_a_call_without_a_result_is_answered_with_an_error(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    messages = (user("go"), asked(call("a"), call("b")), answered("a", "seen"), user("well?"))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    (first, seen), (second, excuse) = dialect.results(body)
    assert (first, seen, second) == ("a", "seen", "b")
    assert "interrupted" in excuse


async def test_a_conversation_cut_after_a_call_can_be_sent(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    body = await sent(dialect, endpoint, model, request(user("go"), asked(call("a"))))
    assert [answer[0] for answer in dialect.results(body)] == ["a"]


async def test_results_follow_their_calls_in_the_order_of_the_calls(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    late = (answered("b", "two"), answered("x", "nobody asked"), answered("a", "one"))
    messages = (user("go"), asked(call("a"), call("b")), *late)
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    assert dialect.results(body) == [("a", "one"), ("b", "two")]


async def test_ids_that_come_again_are_told_apart(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    first = (asked(call("a"), call("a")), answered("a", "1"), answered("a", "2"))
    messages = (user("go"), *first, asked(call("a")), answered("a", "3"))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    assert dialect.results(body) == [("a", "1"), ("a-2", "2"), ("a-3", "3")]


@pytest.mark.parametrize(
    ("id", "name", "arguments"),
    [
        ("", "", ""),
        ("call one/2", "look.at it", "{}"),
        ("a", "look", '{"plan": "a\\|b"}'),
        ("a", "look", "[1]"),
        ("a", "look", '{"n": 1e999}'),
        ("i" * 90, "n" * 90, "{" * 5000),
    ],
)
async def test_a_models_slips_do_not_poison_the_next_request(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, id: str, name: str, arguments: str
) -> None:
    messages = (user("go"), asked(call(id, arguments, name=name)), answered(id, "no such tool"))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    assert [text for _, text in dialect.results(body)] == ["no such tool"]


@pytest.mark.field_case("B036")
async def test_arguments_that_are_not_json_come_back_as_they_were_written(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    slip = '{"plan": "a\\|b"}'
    messages = (user("go"), asked(call("a", slip)), answered("a", "not JSON", is_error=True))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    assert dialect.arguments(body) == [{"INVALID_JSON": slip}]


@pytest.mark.field_case("B056")
async def test_big_integers_go_back_as_they_came(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    messages = (user("go"), asked(call("a", '{"id":2512292042121000001}')), answered("a", "ok"))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    assert dialect.arguments(body) == [{"id": 2512292042121000001}]


async def test_what_is_empty_is_left_out_and_neighbours_are_joined(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    blank = Message(role="user", content=(TextBlock(text=" \n"),))
    thought = Message(role="assistant", content=(ThinkingBlock(text="hm"),), source="model")
    nothing = Message(role="assistant", content=(), source="model")
    body = await sent(
        dialect, endpoint, model, request(user("one"), blank, thought, nothing, user("two"))
    )
    (message,) = [each for each in body["messages"] if each["role"] == "user"]
    assert "one" in json.dumps(message)
    assert "two" in json.dumps(message)


async def test_an_empty_result_says_that_it_is(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    empty = Message(role="user", content=(ToolResultBlock(call_id="a", content=()),))
    messages = (user("go"), asked(call("a"), call("b")), empty, answered("b", "  "))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    assert dialect.results(body) == [("a", "(no output)"), ("b", "(no output)")]


@pytest.mark.field_case("B229")
async def test_halves_of_characters_are_replaced(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    messages = (user("x\ud800y"), asked(call("a", '{"t": "\ud801"}')), answered("a", "a\udfffb"))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,), system="\udc00"))
    assert dialect.results(body) == [("a", "a\ufffdb")]
    assert json.dumps(body, ensure_ascii=False).encode().count("\ufffd".encode()) == 4


async def test_pictures_reach_the_model_from_users_and_from_tools(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    shown = Message(role="user", content=(TextBlock(text="what is this?"), PICTURE))
    drawn = ToolResultBlock(call_id="a", content=(PICTURE,))
    messages = (shown, asked(call("a")), Message(role="user", content=(drawn,), source="tool"))
    body = await sent(dialect, endpoint, model, request(*messages, tools=(TOOL,)))
    assert json.dumps(body).count(PICTURE.data) == 2


@pytest.mark.guarantee("B-LLM-09")
async def test_what_is_absent_is_not_sent(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    """Without tools and system text a request has no field for either, not an empty one."""
    body = await sent(dialect, endpoint, model, request(user("hi")))
    assert body.keys().isdisjoint({"tools", "tool_choice", "system", "temperature"})
    assert [message["role"] for message in body["messages"]] == ["user"]


@pytest.mark.field_case("B087", "B088")
async def test_options_are_passed_on_as_they_are(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    options = {"temperature": 0.3, "prompt_cache_key": "K", "x_new": {"a": [1, None]}}
    body = await sent(dialect, endpoint, model, request(options=options))
    assert {name: body[name] for name in options} == options


@pytest.mark.guarantee("B-LLM-08")
async def test_an_endpoint_is_told_who_asks(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    """Every request over HTTP names the adapter and its version as the user agent."""
    await sent(dialect, endpoint, model, request())
    name = f"dsh-llm-{dialect.name}"
    assert endpoint.headers[-1]["user-agent"] == f"{name}/{version(name)}"


async def test_a_prefix_of_a_conversation_is_sent_as_a_prefix(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    messages = (user("go"), asked(call("a"), call("a")), answered("a", "1"), answered("a", "2"))
    done = (*messages, Message(role="assistant", content=(TextBlock(text="done"),)))
    one = await sent(dialect, endpoint, model, request(*done, tools=(TOOL,)))
    two = await sent(dialect, endpoint, model, request(*done, user("and now"), tools=(TOOL,)))
    assert unmarked(two["messages"][: len(one["messages"])]) == unmarked(one["messages"])


def unmarked(value: object) -> object:
    """Without the marks that only say where a cache may cut."""
    return json.loads(json.dumps(value).replace(', "cache_control": {"type": "ephemeral"}', ""))
