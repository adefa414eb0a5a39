"""Thread tools: cancelling waits, asks, and in the end gives up by name."""

import logging
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from dsh.agent import (
    ThreadLostError,
    Tool,
    ToolCallBlock,
    ToolRegistry,
    ToolResult,
    run_in_thread,
    tool,
)

LONG = 60
"""Seconds after which a thread of a failed test gives up by itself."""


class Blocker:
    """A function that blocks a thread until it is let go."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.let_go = threading.Event()
        self.ended = threading.Event()

    def __call__(self) -> str:
        self.began.set()
        try:
            assert self.let_go.wait(LONG)
            return "done"
        finally:
            self.ended.set()

    async def has_begun(self) -> None:
        await trio.to_thread.run_sync(self.began.wait, LONG)

    async def has_ended(self) -> None:
        await trio.to_thread.run_sync(self.ended.wait, LONG)


@pytest.fixture
def blocker() -> Iterator[Blocker]:
    blocker = Blocker()
    yield blocker
    blocker.let_go.set()


def blocking_tool(blocker: Any, **options: Any) -> Tool:
    @tool(**options)
    def block() -> str:
        """Block."""
        return blocker()

    return block


async def execute(made: Tool) -> ToolResult:
    registry = ToolRegistry()
    registry.register(made)
    return await registry.execute(ToolCallBlock(id="c1", name=made.name, arguments=""))


async def test_cancelling_a_thread_tool_waits_for_its_thread(blocker: Blocker) -> None:
    order: list[str] = []

    async def call() -> None:
        try:
            await execute(blocking_tool(blocker))
        finally:
            order.append("call over" if blocker.ended.is_set() else "call over too early")

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await blocker.has_begun()
            scope.cancel()
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
                order.append("let go")
                blocker.let_go.set()
    assert scope.cancelled_caught
    assert order == ["let go", "call over"]
    assert trio.to_thread.current_default_thread_limiter().borrowed_tokens == 0


async def test_a_thread_that_checks_stops_within_one_poll() -> None:
    polls = threading.Semaphore(0)
    began, stopped = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        try:
            while polls.acquire(timeout=LONG):
                trio.from_thread.check_cancelled()
        finally:
            stopped.set()

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(run_in_thread, work, name="worker"))
            await trio.to_thread.run_sync(began.wait, LONG)
            polls.release()
            scope.cancel()
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
                polls.release()
    assert scope.cancelled_caught
    assert stopped.is_set()
    assert trio.to_thread.current_default_thread_limiter().borrowed_tokens == 0


async def test_past_its_grace_a_thread_is_given_up_on_by_name(
    blocker: Blocker, mock_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    results: list[ToolResult] = []

    async def call() -> None:
        results.append(await execute(blocking_tool(blocker, thread_grace=5)))

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await blocker.has_begun()
            scope.cancel()
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
                mock_clock.jump(4.9)
                await wait_all_tasks_blocked()
                assert results == []
                mock_clock.jump(0.2)
    (result,) = results
    assert (result.is_error, result.code) == (True, "THREAD_LOST")
    assert "the thread 'tool block c1' did not end within 5 seconds" in str(result.content)
    assert [(r.levelno, r.message) for r in caplog.records] == [
        (logging.ERROR, "gave up waiting for the thread 'tool block c1'")
    ]
    assert not blocker.ended.is_set()
    limiter = trio.to_thread.current_default_thread_limiter()
    assert limiter.borrowed_tokens == 1
    blocker.let_go.set()
    while limiter.borrowed_tokens:
        await wait_all_tasks_blocked()


async def test_a_thread_tool_past_its_timeout_is_asked_waited_for_and_reported(
    mock_clock: MockClock,
) -> None:
    blocker = Blocker()

    async def jump() -> None:
        await blocker.has_begun()
        await wait_all_tasks_blocked()
        mock_clock.jump(3)
        await wait_all_tasks_blocked()
        blocker.let_go.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(jump)
        result = await execute(blocking_tool(blocker, timeout=2))
    assert (result.code, blocker.ended.is_set()) == ("TIMEOUT", True)


async def test_a_lost_thread_is_a_typed_error_with_its_name(
    blocker: Blocker, mock_clock: MockClock
) -> None:
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def call() -> None:
                with pytest.raises(ThreadLostError) as lost:
                    await run_in_thread(blocker, name="worker", grace=1)
                assert (lost.value.thread_name, lost.value.grace) == ("worker", 1)

            await blocker.has_begun()
            scope.cancel()
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
                mock_clock.jump(2)


async def test_work_cancelled_before_its_thread_began_never_runs() -> None:
    ran: list[str] = []
    limiter = trio.to_thread.current_default_thread_limiter()
    before, limiter.total_tokens = limiter.total_tokens, 1
    try:
        async with limiter:
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(
                        partial(run_in_thread, partial(ran.append, "ran"), name="worker")
                    )
                    await wait_all_tasks_blocked()
                    scope.cancel()
        assert scope.cancelled_caught
        assert ran == []
        assert limiter.borrowed_tokens == 0
    finally:
        limiter.total_tokens = before


async def test_an_error_in_a_cancelled_thread_is_logged(
    blocker: Blocker, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        blocker()
        raise ValueError("too late")

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(run_in_thread, work, name="worker"))
            await blocker.has_begun()
            scope.cancel()
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
                blocker.let_go.set()
    assert scope.cancelled_caught
    assert [r.message for r in caplog.records] == [
        "the thread 'worker' failed after it was cancelled"
    ]
