"""A program cancelled at each await, and at each callback of its loop."""

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any, Literal, cast

import outcome
import pytest

from dsh.subagent.testing import hang, reply

Side = Literal["before", "with"]


async def program(stand: Any) -> str:
    """Everything a program does with a bridge."""
    try:
        async with stand.open() as bridge:
            try:
                await bridge.run("scripted", stand.request(bridge))
            finally:
                assert stand.provider.running == set()
            run = await bridge.start("scripted", stand.request(bridge))
            try:
                async with run:
                    run.on_progress(print)
                    run.cancel("enough")
                    await run.result()
            finally:
                assert stand.provider.running == set()
            run = await bridge.start("scripted", stand.request(bridge))  # left open
        return "done"
    finally:
        assert stand.torn_down or not stand.parent.events


class Cut:
    """Drives a coroutine and cancels its task at the awaits with these numbers."""

    def __init__(self, *numbers: int, side: Side) -> None:
        self.numbers, self.side, self.awaits = numbers, side, 0

    @types.coroutine
    def drive(self, coroutine: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
        resumed: outcome.Outcome[Any] = outcome.Value(None)
        while True:
            try:
                future = cast("asyncio.Future[Any]", resumed.send(cast("Any", coroutine)))
            except StopIteration as stop:
                return stop.value
            self.awaits += 1
            if self.awaits in self.numbers:
                self._cancel_at(future)
            try:
                resumed = outcome.Value((yield future))
            except BaseException as exc:  # noqa: BLE001 - it goes on where it belongs
                resumed = outcome.Error(exc)

    def _cancel_at(self, future: asyncio.Future[Any]) -> None:
        task = asyncio.current_task()
        assert task is not None
        if self.side == "with":  # together with the wake-up, ahead of the task's own
            future.add_done_callback(lambda _: task.cancel())
        else:
            task.get_loop().call_soon(task.cancel)


def awaits_of(stand: Any, cut: Cut) -> int:
    """Run the program with *cut*, see that nothing is left, and count its awaits."""
    each = stand.new(reply(), stand.tidy())
    with suppress(asyncio.CancelledError):
        each.run(lambda: cut.drive(program(each)))
    each.check()
    return cut.awaits


@pytest.mark.parametrize("side", ["before", "with"])
def test_a_program_cancelled_at_any_of_its_awaits_leaves_nothing(stand: Any, side: Side) -> None:
    whole = awaits_of(stand, Cut(side=side))
    assert whole >= 7
    for number in range(1, whole + 1):
        awaits_of(stand, Cut(number, side=side))


@pytest.mark.parametrize("side", ["before", "with"])
def test_a_second_cancellation_cuts_no_clean_up_short(stand: Any, side: Side) -> None:
    for number in range(1, awaits_of(stand, Cut(side=side)) + 1):
        for second in range(number + 1, awaits_of(stand, Cut(number, side=side)) + 1):
            awaits_of(stand, Cut(number, second, side=side))


@pytest.mark.parametrize("mode", ["guest"])  # there, every run takes the same steps
def test_the_sweep_sees_a_closing_that_can_be_cut_short(
    stand: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hasty(event: asyncio.Event) -> None:
        await event.wait()

    monkeypatch.setattr("dsh.bridge_asyncio._run.wait_through", hasty)
    with pytest.raises(AssertionError, match="scripted-"):
        test_a_second_cancellation_cuts_no_clean_up_short(stand, "before")


class CountingLoop(asyncio.SelectorEventLoop):
    """Cancels the only task there is before the callback with that number."""

    number = passed = 0

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:
        return super().call_soon(self._counted, callback, *args, context=context)

    def call_soon_threadsafe(
        self, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.Handle:
        return super().call_soon_threadsafe(self._counted, callback, *args, context=context)

    def _counted(self, callback: Callable[..., object], *args: Any) -> None:
        self.passed += 1
        if self.passed == self.number:
            for task in asyncio.all_tasks(self):
                task.cancel()
        callback(*args)


def test_a_program_cancelled_at_any_callback_of_its_loop_leaves_nothing(stand: Any) -> None:
    number, passed = 0, 1
    while passed > number:
        number += 1
        each, loop = stand.new(reply(), stand.tidy()), CountingLoop()
        loop.number = number
        with suppress(asyncio.CancelledError):
            each.run(lambda: program(each), loop_factory=lambda: loop)  # noqa: B023 - called here
        each.check()
        passed = loop.passed
    assert number > 10


def test_while_everybody_waits_neither_loop_turns(stand: Any) -> None:
    stand.script(hang())
    loop = CountingLoop()

    async def main() -> None:
        async with stand.open() as bridge, await bridge.start("scripted", stand.request(bridge)):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await asyncio.Event().wait()  # whatever the opening set off has come to rest
            before = loop.passed
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await asyncio.Event().wait()
            assert loop.passed - before <= 3  # the timeout and this task itself

    stand.run(main, loop_factory=lambda: loop)
