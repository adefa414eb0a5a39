"""Cancelling a request ends it at once, wherever it is, and leaves nothing open."""

import pytest
import trio
from conversation import ask
from dialects import Dialect
from fake_endpoint import FakeEndpoint, Reply, refusal
from trio.testing import MockClock

from dsh.agent import ChatModel, Delta, TextBlock, TextDelta


async def cancelled_when(event: trio.Event, model: ChatModel, heard: list[Delta]) -> bool:
    """Whether a request that is cancelled once *event* is set ends as cancelled."""
    with trio.fail_after(5), trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: ask(model, heard=heard))
            await event.wait()
            scope.cancel()
    return scope.cancelled_caught


async def test_before_the_answer_begins(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [Reply(silent=True, end="stall")]
    assert await cancelled_when(endpoint.stalled, model, [])
    await endpoint.idle.wait()


async def test_in_mid_stream(dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel) -> None:
    endpoint.replies = [Reply(chunks=dialect.begun("Hel"), end="stall")]
    heard: list[Delta] = []
    assert await cancelled_when(endpoint.stalled, model, heard)
    assert heard in ([], [TextDelta(text="Hel")])
    await endpoint.idle.wait()


@pytest.mark.field_case("B099")
async def test_in_the_wait_before_a_retry(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel, autojump_clock: MockClock
) -> None:
    endpoint.replies = [refusal(429, "later", Retry_After="100")]
    begun = trio.current_time()
    with trio.move_on_after(30) as scope:
        await ask(model)
    assert scope.cancelled_caught
    assert trio.current_time() - begun == 30


async def test_before_it_is_sent(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await ask(model)
    assert scope.cancelled_caught
    assert endpoint.requests == []


async def test_others_of_the_same_model_go_on(
    dialect: Dialect, endpoint: FakeEndpoint, model: ChatModel
) -> None:
    endpoint.replies = [Reply(chunks=dialect.begun("Hel"), end="stall")]
    assert await cancelled_when(endpoint.stalled, model, [])
    endpoint.replies = [dialect.answer(TextBlock(text="still here"))]
    assert (await ask(model)).content == (TextBlock(text="still here"),)
