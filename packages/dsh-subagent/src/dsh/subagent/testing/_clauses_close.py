"""Clauses of the contract: closing to quiescence, by whoever and whenever.

Next: `_kit.py`, which goes through all of them.
"""

from typing import Final

import trio

from dsh.subagent._errors import SubagentSelfCloseError
from dsh.subagent._run import SubagentRun
from dsh.subagent.testing._bench import Bench
from dsh.subagent.testing._drive import Behaviour

__all__ = ["CLOSE_CLAUSES"]


async def closes_to_quiescence(bench: Bench) -> None:
    """When a close returns nothing of the child runs, however slowly it cleans up."""
    run = await bench.start(Behaviour.LINGER)
    await run.aclose()
    bench.nothing_runs("when aclose() had returned")
    result = await run.result()
    bench.expect(not result.completed, "a child that was closed at work says completed")


async def closes_though_cancelled(bench: Bench) -> None:
    """A holder that is cancelled still closes to quiescence first."""
    with trio.CancelScope() as holder:
        async with await bench.start(Behaviour.LINGER):
            holder.cancel("the holder is cancelled")
            await trio.lowlevel.checkpoint()
    bench.nothing_runs("when a cancelled holder had left the run's block")


async def closes_concurrently(bench: Bench) -> None:
    """Several closers share one closing, and each returns at quiescence."""
    run = await bench.start(Behaviour.LINGER)

    async def close() -> None:
        await run.aclose()
        bench.nothing_runs("when one of several closers had returned")

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(close)


async def closed_from_inside(bench: Bench) -> None:
    """A run closed by one of its own tasks raises there at once instead of waiting for itself."""
    held, refusals, tried = trio.Event(), [0], trio.Event()
    runs: list[SubagentRun[object]] = []

    async def beside() -> None:
        await held.wait()
        try:
            await runs[0].aclose()
        except SubagentSelfCloseError:
            refusals[0] += 1
        tried.set()

    bench.probe.beside = beside
    async with await bench.start(Behaviour.HANG) as run:
        runs.append(run)
        held.set()
        await tried.wait()
    bench.expect(refusals == [1], "aclose() from inside the run did not raise")
    bench.nothing_runs("after a run was closed from inside and then from outside")


async def parent_disposed_mid_run(bench: Bench) -> None:
    """A parent that ends takes its children with it, and frees whoever waits for them."""
    run = await bench.start(Behaviour.LINGER)
    await bench.end_parent()
    bench.nothing_runs("when the parent had ended")
    result = await run.result()
    bench.expect(result.stop_reason == "aborted", f"the child ended {result.stop_reason!r}")
    bench.expect(bench.parent_error is None, f"it reached the parent: {bench.parent_error!r}")


async def cancelled_from_above(bench: Bench) -> None:
    """Whatever cancels the parent cancels its children, and is no failure of theirs."""
    run = await bench.start(Behaviour.HANG)
    bench.above.cancel("from above")
    result = await run.result()
    await bench.end_parent()
    bench.expect(result.stop_reason == "aborted", f"the child ended {result.stop_reason!r}")
    bench.nothing_runs("when the parent had been cancelled")


async def sibling_isolation(bench: Bench) -> None:
    """Closing one child leaves the other at its work."""
    async with await bench.start(Behaviour.HANG) as one:
        async with await bench.start() as other:
            await one.aclose()
            result = await other.result()
        bench.expect(result.completed, f"a sibling ended {result.stop_reason!r}")
    bench.nothing_runs("after both siblings")


CLOSE_CLAUSES: Final = (
    closes_to_quiescence,
    closes_though_cancelled,
    closes_concurrently,
    closed_from_inside,
    parent_disposed_mid_run,
    cancelled_from_above,
    sibling_isolation,
)
