"""Clauses of the contract: starts that are cancelled.

Next: `_clauses_start.py`.
"""

from typing import Final

import trio

from dsh.subagent._errors import SubagentStartCancelledError
from dsh.subagent.testing._bench import Bench

__all__ = ["CANCEL_CLAUSES"]


async def cancelled_before_start(bench: Bench) -> None:
    """A request that is cancelled already never reaches the backend."""
    request = bench.request()
    request.cancel_scope.cancel()
    await bench.refused(request, SubagentStartCancelledError)
    bench.expect(bench.probe.served == 0, "serve was called for a cancelled request")
    bench.nothing_happened("after a start that was cancelled beforehand")


async def cancelled_while_starting(bench: Bench) -> None:
    """The scope is cancelled as soon as the backend is called: nothing is published or done."""
    request = bench.request()
    bench.probe.on_serve = lambda _: request.cancel_scope.cancel("while starting")
    await bench.refused(request, SubagentStartCancelledError)
    bench.nothing_happened("after a start that was cancelled on its way")


async def deadline_while_starting(bench: Bench) -> None:
    """A deadline that passes before publication counts, whether or not trio has noticed it."""
    request = bench.request()

    def expire(_: object) -> None:
        request.cancel_scope.deadline = trio.current_time()

    bench.probe.on_serve = expire
    await bench.refused(request, SubagentStartCancelledError)
    bench.nothing_happened("after a start whose deadline had passed")


async def cancelled_at_publication(bench: Bench) -> None:
    """`publish` refuses a cancelled start; the backend lets that pass, undoes all, does no more."""
    request = bench.request()
    bench.probe.before_publish = lambda: request.cancel_scope.cancel("at publication")
    await bench.refused(request, SubagentStartCancelledError)
    bench.nothing_happened("after `publish` had refused a cancelled start")


async def caller_cancelled_at_publication(bench: Bench) -> None:
    """A caller that is cancelled at the last moment sees its `Cancelled`, and leaves no child."""
    with trio.CancelScope() as caller:
        bench.probe.before_publish = caller.cancel
        run = await bench.start()
        await run.aclose()  # pragma: no cover - the seam sees to it, whatever the backend does
        bench.breach("start returned a run to a cancelled caller")  # pragma: no cover - as above
    bench.expect(caller.cancelled_caught, "the caller's own cancellation did not surface")
    bench.nothing_happened("after the caller of start was cancelled")


class _CancelAtStep(trio.abc.Instrument):
    """Cancels together with the wake-up of step number *step*: where handles get lost."""

    def __init__(self, scope: trio.CancelScope, step: int) -> None:
        self._scope, self._step = scope, step

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if self._step == 0:
            self._scope.cancel("at a step of the start")
        self._step -= 1


async def cancelled_at_steps(bench: Bench) -> None:
    """Wherever a start is cancelled, there is a run with its events, or nothing at all."""
    for step in (0, 1, 2, 3, 4, 5, 8, 13, 21, 34):
        request, told = bench.request(), len(bench.lifecycle)
        instrument = _CancelAtStep(request.cancel_scope, step)
        trio.lowlevel.add_instrument(instrument)
        try:
            run = await bench.service.start(bench.probe.name, request)
        except SubagentStartCancelledError:
            bench.expect(
                len(bench.lifecycle) == told, f"a start cancelled at step {step} told events"
            )
        else:
            await run.aclose()
            own = [f"start {run.id}", f"end {run.id}"]
            bench.expect(
                bench.lifecycle[told:] == own,
                f"a run cancelled at step {step} told {bench.lifecycle[told:]}",
            )
        finally:
            trio.lowlevel.remove_instrument(instrument)
        bench.nothing_runs(f"after a start that was cancelled at step {step}")


CANCEL_CLAUSES: Final = (
    cancelled_before_start,
    cancelled_while_starting,
    deadline_while_starting,
    cancelled_at_publication,
    caller_cancelled_at_publication,
    cancelled_at_steps,
)
