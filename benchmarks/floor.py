"""What bare trio costs per child: the floor that other figures are ratios to.

A holder task starts the child with ``nursery.start``; the child has a cancel scope, a nursery and
a channel of its own, and all children are alive at once before the first one ends.
"""

from collections.abc import Mapping
from typing import Final

import trio

from benchmarks.harness import Case, Sample, Stopwatch, peak_kilobytes, tracked_objects
from benchmarks.imports import import_case

__all__ = ["CASES", "SIZES", "fan_out", "floor_case"]

SIZES: Final = (100, 1_000, 10_000)
LIVE: Final = 500


async def _child(
    send: trio.MemorySendChannel[str],
    gate: trio.Event,
    *,
    task_status: trio.TaskStatus[trio.CancelScope],
) -> None:
    with trio.CancelScope() as scope, send:
        async with trio.open_nursery():
            task_status.started(scope)
            await gate.wait()
            await send.send("done")


async def _holder(children: trio.Nursery, gate: trio.Event, started: list[int]) -> None:
    send, receive = trio.open_memory_channel[str](1)
    with receive:
        await children.start(_child, send, gate)
        started.append(1)
        await receive.receive()


async def fan_out(count: int, *, count_objects: bool = False) -> int:
    """Run *count* children that are alive at once; returns the tracked objects then, or 0."""
    gate, started = trio.Event(), list[int]()
    tracked = 0
    async with trio.open_nursery() as children, trio.open_nursery() as holders:
        for _ in range(count):
            holders.start_soon(_holder, children, gate, started)
        while len(started) < count:
            await trio.lowlevel.checkpoint()
        if count_objects:
            tracked = tracked_objects()
        gate.set()
    return tracked


def floor_case(count: int) -> Case:
    """Seconds per child at *count* children."""

    def case() -> Sample:
        watch = Stopwatch()

        async def main() -> None:
            with watch:
                await fan_out(count)

        trio.run(main)
        return watch.per(count)

    return case


def _live_child() -> Sample:
    async def main() -> tuple[int, int]:
        one = await fan_out(1, count_objects=True)
        return one, await fan_out(LIVE + 1, count_objects=True)

    one, many = trio.run(main)
    with peak_kilobytes(LIVE) as sample:
        trio.run(fan_out, LIVE)
    return {**sample, "objects": (many - one) / LIVE}


def _cancelled() -> Sample:
    """Seconds per live child to cancel them all and see them end."""
    watch = Stopwatch()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(LIVE):
                await nursery.start(_waiting)
            with watch:
                nursery.cancel_scope.cancel()
                with trio.CancelScope(shield=True):
                    while nursery.child_tasks:
                        await trio.lowlevel.checkpoint()

    trio.run(main)
    return watch.per(LIVE)


async def _waiting(*, task_status: trio.TaskStatus[None]) -> None:
    """The child and its holder, waiting."""
    with trio.CancelScope():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            task_status.started()


CASES: Mapping[str, Case] = {
    **{f"fan-out of {count:,}": floor_case(count) for count in SIZES},
    "live child": _live_child,
    "cancel of 1,000": _cancelled,
    # A name of pydantic's, since its package alone imports next to nothing.
    "import": import_case("import trio", "from pydantic import BaseModel"),
}
