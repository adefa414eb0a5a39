"""What was refused for now is asked for again, and how often is told."""

import pytest
import trio
from conversation import ask
from dialects import Dialect
from fake_endpoint import Body, FakeEndpoint, Reply, refusal
from trio.testing import MockClock

from dsh.agent import ChatModel, ChatResponse, ModelError, TextBlock

REPORT = TextBlock(text="REPORT")


@pytest.mark.guarantee("B-LLM-07")
@pytest.mark.field_case("B016")
async def test_a_passing_failure_is_retried_and_counted(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, autojump_clock: MockClock
) -> None:
    """An adapter repeats a request that was refused for now, and its answer says how often."""
    endpoint.replies = [refusal(503, "busy"), refusal(500, "oh"), dialect.answer(REPORT)]
    response = await ask(model)
    assert response == ChatResponse(content=(REPORT,), usage=response.usage, retries=2)
    assert len(endpoint.requests) == 3


async def test_a_lasting_failure_is_retried_as_often_as_configured(
    dialect: Dialect, endpoint: FakeEndpoint, autojump_clock: MockClock
) -> None:
    endpoint.replies = [refusal(503, "busy") for _ in range(9)]
    async with dialect.model(endpoint.url, max_retries=2) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
    assert (caught.value.code, str(caught.value)) == ("SERVER", "HTTP 503: busy (after 2 retries)")
    assert len(endpoint.requests) == 3


async def test_retry_after_says_how_long_to_wait(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, autojump_clock: MockClock
) -> None:
    endpoint.replies = [refusal(429, "slow down", Retry_After="47"), dialect.answer(REPORT)]
    begun = trio.current_time()
    assert (await ask(model)).retries == 1
    assert 47 <= trio.current_time() - begun < 48


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry_After": "121"},
        {"Retry_After": "86400", "X_Should_Retry": "true"},
        {"Retry_After": "inf"},
        {"Retry_After": "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"Retry_After_Ms": "120001"},
    ],
    ids=str,
)
async def test_a_refusal_that_asks_for_more_than_two_minutes_stands(
    dialect: Dialect,
    endpoint: FakeEndpoint,
    model: ChatModel,
    autojump_clock: MockClock,
    headers: dict[str, str],
) -> None:
    endpoint.replies = [refusal(429, "come back tomorrow", **headers)]
    begun = trio.current_time()
    with pytest.raises(ModelError) as caught:
        await ask(model)
    assert (caught.value.code, str(caught.value)) == ("RATE_LIMIT", "HTTP 429: come back tomorrow")
    assert len(endpoint.requests) == 1
    assert trio.current_time() - begun < 1


@pytest.mark.parametrize("wait", ["soon", "nan", "Fri, 31 Dec 99999 23:59:59 GMT"])
async def test_a_wait_that_cannot_be_read_is_none(
    dialect: Dialect,
    endpoint: FakeEndpoint,
    model: ChatModel,
    autojump_clock: MockClock,
    wait: str,
) -> None:
    endpoint.replies = [refusal(503, "busy", Retry_After=wait), dialect.answer(REPORT)]
    begun = trio.current_time()
    assert (await ask(model)).retries == 1
    assert trio.current_time() - begun < 1


@pytest.mark.field_case("B125")
async def test_a_crowd_that_is_rate_limited_is_answered_in_the_end(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, autojump_clock: MockClock
) -> None:
    refused = 0
    enough_refused = trio.Event()

    async def at_most_three(body: Body) -> Reply:
        nonlocal refused
        if endpoint.open_requests > 3:
            refused += 1
            if refused == 5:
                enough_refused.set()
            return refusal(429, "too many")
        await enough_refused.wait()
        return dialect.answer(REPORT)

    endpoint.answer = at_most_three
    answers: list[ChatResponse] = []

    async def one() -> None:
        answers.append(await ask(model))

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(one)
    assert [answer.content for answer in answers] == [(REPORT,)] * 8
    assert sum(answer.retries for answer in answers) >= 5
