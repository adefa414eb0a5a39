"""What bare trio costs per child: the floor that other figures are ratios to.

A holder task starts the child with ``nursery.start``; the child has a cancel scope, a nursery and
a channel of its own, and all children are alive at once before the first one ends.
"""

import tracemalloc
from collections.abc import Sequence

import trio

from benchmarks.harness import Benchmark, Case, Figure, Stopwatch, interleaved, tracked_objects

__all__ = ["BENCHMARK", "fan_out", "floor_case"]


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
    """CPU seconds per child at *count* children."""

    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            with watch:
                await fan_out(count)

        trio.run(main)
        return watch.per(count)

    return case


def _objects_per_child(count: int) -> float:
    async def main() -> tuple[int, int]:
        one = await fan_out(1, count_objects=True)
        return one, await fan_out(count + 1, count_objects=True)

    one, many = trio.run(main)
    return (many - one) / count


def _peak_bytes_per_child(count: int) -> float:
    trio.run(fan_out, 1)
    tracemalloc.start()
    try:
        trio.run(fan_out, count)
        return tracemalloc.get_traced_memory()[1] / count
    finally:
        tracemalloc.stop()


def _run(rounds: int) -> Sequence[Figure]:
    sizes = (100, 1_000, 10_000)
    measured = interleaved({f"floor at {n:,}": floor_case(n) for n in sizes}, rounds=rounds)
    return (
        *(measured.microseconds(f"floor at {n:,}") for n in sizes),
        measured.ratio("floor at 10,000", "floor at 100"),
        Figure(name="peak memory per child", value=_peak_bytes_per_child(1_000) / 1024, unit="KB"),
        Figure(name="tracked objects per child", value=_objects_per_child(1_000)),
    )


BENCHMARK = Benchmark(name="floor", about="what bare trio costs per child", run=_run)
