"""What an endpoint can do wrong, and the error that becomes of it."""

import json
import os
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, cast

import pytest
import trio
from conversation import ask, call, request
from dialects import Dialect
from fake_endpoint import FakeEndpoint, Reply, refusal
from trio.testing import MockClock

from dsh.agent import ChatModel, Delta, ModelError, TextBlock, TextDelta, ThinkingBlock, Usage


async def failure(model: ChatModel, *, heard: list[Delta] | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(model, heard=heard)
    return caught.value


def no_retries(
    dialect: Dialect, endpoint: FakeEndpoint, **settings: Any
) -> AbstractAsyncContextManager[ChatModel]:
    return dialect.model(endpoint.url, max_retries=0, **settings)


@pytest.mark.guarantee("B-LLM-06")
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "INVALID_REQUEST"),
        (401, "AUTH"),
        (403, "AUTH"),
        (418, "HTTP_418"),
        (429, "RATE_LIMIT"),
        (500, "SERVER"),
        (529, "SERVER"),
        (307, "HTTP_307"),
    ],
)
async def test_a_refusal_has_its_code_and_the_providers_words(
    dialect: Dialect, endpoint: FakeEndpoint, status: int, code: str
) -> None:
    """A status that is no success has its code, and its error says what the provider said."""
    endpoint.replies = [refusal(status, "not like this", Location="http://127.0.0.1:9/elsewhere")]
    async with no_retries(dialect, endpoint) as model:
        error = await failure(model)
    assert error.code == code
    assert str(error) == f"HTTP {status}: not like this"
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTP_PROXY", "gopher://127.0.0.1:9"),
        ("HTTP_PROXY", "http://127.0.0.1:nine"),
        ("SSL_CERT_FILE", os.devnull),
    ],
)
async def test_an_environment_that_no_connection_can_be_made_in_is_named(
    dialect: Dialect,
    endpoint: FakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
) -> None:
    async with no_retries(dialect, endpoint) as model:
        with monkeypatch.context() as unusable:
            unusable.setenv(variable, value)
            error = await failure(model)
        assert error.code == "TRANSPORT"
        assert variable in str(error)
        endpoint.replies = [dialect.answer(TextBlock(text="Here."))]
        assert (await ask(model)).content == (TextBlock(text="Here."),)


@pytest.mark.parametrize(
    "body", [b"", b"<html><body>Bad gateway</body></html>", b'{"error": null}', b'["?"]', b"\xff"]
)
async def test_a_refusal_in_no_known_form_still_has_its_code(
    dialect: Dialect, endpoint: FakeEndpoint, body: bytes
) -> None:
    endpoint.replies = [Reply(chunks=[body], status=502, content_type="text/html")]
    async with no_retries(dialect, endpoint) as model:
        error = await failure(model)
    assert error.code == "SERVER"
    assert "502" in str(error)


async def test_a_refusal_is_quoted_up_to_a_limit(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [refusal(400, "x" * 10_000)]
    error = await failure(model)
    assert len(str(error)) < 600
    assert "10010 characters" in str(error)


@pytest.mark.parametrize("status", [401, 400, 500])
async def test_no_error_shows_the_key_wherever_a_provider_repeats_it(
    dialect: Dialect, endpoint: FakeEndpoint, status: int
) -> None:
    endpoint.replies = [refusal(status, f"Incorrect key: {dialect.key}.")]
    async with no_retries(dialect, endpoint) as model:
        error = await failure(model)
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(model))
    assert "Incorrect key: ***." in shown
    assert dialect.key not in shown


REPORT = TextBlock(text="REPORT")


@pytest.mark.field_case("B013")
async def test_an_error_with_status_200_is_an_error(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    body = b'{"error": {"message": "401 bad key", "type": "authentication_error"}}'
    endpoint.replies = [Reply(chunks=[body], content_type="application/json")]
    error = await failure(model)
    assert (error.code, str(error)) == ("AUTH", "401 bad key")


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json", ""])
@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"{}", b"[" * 5000, b"x" * 300_000, b""])
async def test_something_else_with_status_200_is_malformed(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, kind: str, body: bytes
) -> None:
    endpoint.replies = [Reply(chunks=[body], content_type=kind)]
    error = await failure(model)
    assert error.code == "MALFORMED_RESPONSE"
    assert len(str(error)) < 300


@pytest.mark.field_case("B014")
async def test_an_error_in_mid_stream_keeps_what_came_before(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [Reply(chunks=[*dialect.begun("Hel"), dialect.failed("overloaded")])]
    heard: list[Delta] = []
    error = await failure(model, heard=heard)
    assert (error.code, str(error)) == ("SERVER", "overloaded")
    assert heard == [TextDelta(text="Hel")]
    assert error.response is not None
    assert error.response.content == (TextBlock(text="Hel"),)


async def test_an_error_in_mid_stream_outlives_a_dropped_connection(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    chunks = [*dialect.begun("Hel"), dialect.failed("overloaded")]
    endpoint.replies = [Reply(chunks=chunks, end="drop")]
    assert (await failure(model)).code == "SERVER"


@pytest.mark.parametrize("end", ["drop", "end"])
@pytest.mark.field_case("B014")
async def test_a_stream_that_breaks_off_is_no_answer(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, end: Any
) -> None:
    endpoint.replies = [Reply(chunks=dialect.begun("Hel"), end=end)]
    error = await failure(model)
    assert error.code == "STREAM_CLOSED"
    assert error.response is not None
    assert error.response.content == (TextBlock(text="Hel"),)
    assert len(endpoint.requests) == 1


async def test_half_an_event_is_none(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    stream = b"".join(dialect.answer(TextBlock(text="Hello")).chunks)
    endpoint.replies = [Reply(chunks=[stream[: stream.index(b"llo") + 1]], end="drop")]
    assert (await failure(model)).code == "STREAM_CLOSED"


async def test_an_answer_in_single_bytes_is_the_same_answer(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    whole = b"".join(dialect.answer(TextBlock(text="grüß\N{GRINNING FACE}")).chunks)
    single = [whole[i : i + 1] for i in range(len(whole))]
    endpoint.replies = [Reply(chunks=single)]
    assert (await ask(model)).content == (TextBlock(text="grüß\N{GRINNING FACE}"),)


async def test_a_connection_dropped_after_the_last_event_does_not_matter(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [Reply(chunks=dialect.answer(REPORT).chunks, end="drop")]
    assert (await ask(model)).content == (REPORT,)


async def test_a_stream_left_open_after_the_last_event_is_not_waited_for(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, autojump_clock: MockClock
) -> None:
    endpoint.replies = [Reply(chunks=dialect.answer(REPORT).chunks, end="stall")]
    begun = trio.current_time()
    assert (await ask(model)).content == (REPORT,)
    assert trio.current_time() - begun < 1
    await endpoint.idle.wait()


@pytest.mark.parametrize(
    "garbage",
    [
        b"data: {nonsense\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: 7\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"choices": [7], "type": 3}\n\n',
        b'data: {"choices": [{"delta": {"content": 7}}], "type": "content_block_delta"}\n\n',
        b'data: {"usage": {"prompt_tokens": "many"}, "type": "message_start"}\n\n',
        b'data: {"choices": 7, "type": "content_block_start", "content_block": 7}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [{"index": {}}]}}], '
        b'"type": "content_block_delta", "delta": []}\n\n',
    ],
)
async def test_garbage_in_a_stream_is_malformed(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, garbage: bytes
) -> None:
    endpoint.replies = [Reply(chunks=[*dialect.begun("Hel"), garbage])]
    error = await failure(model)
    assert error.code == "MALFORMED_RESPONSE"
    assert len(str(error)) < 300


ODD: tuple[object, ...] = (None, -1, 1.5, "odd", ["odd"], {"odd": 1})
"""What may stand where something else is due."""


def mutants(value: Any) -> Iterator[object]:
    """*value* with one odd value at a time in every place that it has."""
    yield from ODD
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        for name, inner in fields.items():
            yield from (fields | {name: odd} for odd in mutants(inner))
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        for place, inner in enumerate(items):
            yield from ([*items[:place], odd, *items[place + 1 :]] for odd in mutants(inner))


def odd_streams(stream: bytes) -> Iterator[bytes]:
    """*stream* with one odd value at a time in every event that it has."""
    events = stream.split(b"\n\n")
    for number, event in enumerate(events):
        head, mark, data = event.rpartition(b"data: ")
        if not data.startswith(b"{"):
            continue
        for mutant in mutants(json.loads(data)):
            changed = head + mark + json.dumps(mutant).encode()
            yield b"\n\n".join([*events[:number], changed, *events[number + 1 :]])


async def test_whatever_stands_where_something_else_is_due_is_an_answer_or_a_model_error(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    """A host is told of a provider's nonsense as of any failure, in one vocabulary."""
    blocks = (ThinkingBlock(text="so", signature="proof"), REPORT, call("a", '{"n": 1}'))
    whole = dialect.answer(*blocks, usage=Usage(input_tokens=2), finish="tool_calls")
    streams = list(odd_streams(b"".join(whole.chunks)))
    assert len(streams) > 300
    outcomes = Counter[str]()
    for stream in streams:
        endpoint.replies = [Reply(chunks=[stream])]
        try:
            outcomes[(await ask(model)).finish_reason] += 1
        except ModelError as exc:
            outcomes[exc.code] += 1
    assert outcomes.keys() >= {"tool_calls", "error", "MALFORMED_RESPONSE"}


@pytest.mark.parametrize(
    "garbage",
    [
        Reply(chunks=[b"Incorrect key: KEY."], content_type="text/plain"),
        Reply(chunks=[b'{"headers": {"authorization": "KEY"}}'], content_type="application/json"),
        Reply(chunks=[b"x" * 90 + b"KEY"], content_type="text/plain"),
        Reply(chunks=[b"data: Incorrect key: KEY.\n\n"]),
        Reply(chunks=[b"data: " + b"x" * 90 + b"KEY\n\n"]),
    ],
)
async def test_no_garbage_shows_the_key(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, garbage: Reply
) -> None:
    """Neither whole nor in half, where an echo or a proxy answers in the provider's place."""
    chunks = [each.replace(b"KEY", dialect.key.encode()) for each in garbage.chunks]
    endpoint.replies = [replace(garbage, chunks=chunks)]
    error = await failure(model)
    assert error.code == "MALFORMED_RESPONSE"
    shown = "".join(traceback.format_exception(error)) + repr(error)
    assert dialect.key[:8] not in shown


async def test_a_stream_of_nothing_is_no_answer(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [Reply(chunks=[b": keep-alive\n\n"])]
    assert (await failure(model)).code == "STREAM_CLOSED"


async def test_an_endpoint_that_falls_silent_in_mid_stream_is_given_up(
    dialect: Dialect, endpoint: FakeEndpoint, autojump_clock: MockClock
) -> None:
    endpoint.replies = [Reply(chunks=dialect.begun("Hel"), end="stall")]
    begun = trio.current_time()
    async with dialect.model(endpoint.url, timeout=30) as model:
        error = await failure(model)
    assert error.code == "TIMEOUT"
    assert error.response is not None
    assert error.response.content == (TextBlock(text="Hel"),)
    assert 30 <= trio.current_time() - begun < 32
    await endpoint.idle.wait()


async def test_an_endpoint_that_says_nothing_is_given_up(
    dialect: Dialect, endpoint: FakeEndpoint, autojump_clock: MockClock
) -> None:
    endpoint.replies = [Reply(silent=True, end="stall")]
    async with no_retries(dialect, endpoint, timeout=30) as model:
        assert (await failure(model)).code == "TIMEOUT"
    await endpoint.idle.wait()


async def test_an_endpoint_that_hangs_up_is_no_connection(
    dialect: Dialect, endpoint: FakeEndpoint, autojump_clock: MockClock
) -> None:
    endpoint.replies = [Reply(silent=True, end="drop") for _ in range(3)]
    async with dialect.model(endpoint.url, max_retries=2) as model:
        error = await failure(model)
    assert error.code == "TRANSPORT"
    assert "after 2 retries" in str(error)


async def test_nobody_at_the_address_is_no_connection(dialect: Dialect) -> None:
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    async with dialect.model(f"http://127.0.0.1:{port}", max_retries=0) as model:
        error = await failure(model)
    assert error.code == "TRANSPORT"


async def test_a_wrong_key_is_refused_by_the_endpoint_and_told(
    dialect: Dialect, endpoint: FakeEndpoint
) -> None:
    async with dialect.model(endpoint.url, api_key="sk-of-somebody-else") as model:
        error = await failure(model)
    assert error.code == "AUTH"
    assert "sk-of-somebody-else" not in str(error)


async def test_a_model_answers_again_after_every_failure(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [
        refusal(400, "no"),
        Reply(chunks=dialect.begun("Hel"), end="drop"),
        Reply(chunks=[b"data: ?\n\n"]),
        dialect.answer(REPORT),
    ]
    codes = [(await failure(model)).code for _ in range(3)]
    assert codes == ["INVALID_REQUEST", "STREAM_CLOSED", "MALFORMED_RESPONSE"]
    assert (await ask(model, request())).content == (REPORT,)
