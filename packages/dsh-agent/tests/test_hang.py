"""A bound that no shield holds up."""

from typing import Any

import pytest
import trio

from dsh.agent.testing import HangError, ends_within


async def test_what_ends_in_time_gives_its_value(autojump_clock: Any) -> None:
    async def answer() -> int:
        with trio.move_on_after(1):
            await trio.sleep_forever()
        return 42

    assert await ends_within(2, answer) == 42


async def test_a_shielded_wait_is_ended_and_named(autojump_clock: Any) -> None:
    async def stuck() -> None:
        with trio.CancelScope(shield=True):
            await trio.Event().wait()

    async def parent() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stuck)

    with pytest.raises(HangError, match=r"not over after 5 s: .*in stuck") as caught:
        await ends_within(5, parent)
    assert len(caught.value.waiting) == 2


async def test_what_breaks_on_the_way_out_does_not_hide_the_hang(autojump_clock: Any) -> None:
    async def stuck() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("on the way out")

    with pytest.raises(HangError) as caught:
        await ends_within(5, stuck)
    assert isinstance(caught.value.__cause__, ExceptionGroup)


async def test_an_error_is_no_hang(autojump_clock: Any) -> None:
    async def fail() -> None:
        raise ValueError("at once")

    with pytest.RaisesGroup(pytest.RaisesExc(ValueError, match="at once")):
        await ends_within(5, fail)


async def test_shields_around_the_call_are_left_alone(autojump_clock: Any) -> None:
    with trio.CancelScope(shield=True) as around:
        with pytest.raises(HangError):
            await ends_within(5, trio.sleep_forever)
        assert around.shield


async def test_tasks_beside_the_call_keep_their_shields_and_are_not_named(
    autojump_clock: Any,
) -> None:
    beside = trio.CancelScope(shield=True)

    async def work() -> None:
        with beside:
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        with pytest.raises(HangError) as caught:
            await ends_within(5, trio.sleep_forever)
        assert len(caught.value.waiting) == 1
        assert beside.shield
        beside.cancel()
