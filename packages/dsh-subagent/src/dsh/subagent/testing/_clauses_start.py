"""Clauses of the contract: from the request to publication.

Next: `_clauses_run.py`.
"""

from dataclasses import replace
from typing import Final, cast

import trio

from dsh.agent import TextBlock, ToolFilter
from dsh.subagent._errors import (
    ParentDisposedError,
    SubagentDepthError,
    SubagentError,
    SubagentStartCancelledError,
    SubagentStartError,
    UnsupportedCapabilityError,
)
from dsh.subagent._provider import ProviderDescriptor, SubagentCapabilities
from dsh.subagent.testing._bench import Bench, InjectedError
from dsh.subagent.testing._drive import Behaviour

__all__ = ["START_CLAUSES", "mentions"]

_SCHEMA: Final = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_FIELDS: Final = {
    "output_schema": ("output_schema", _SCHEMA),
    "depth_limit": ("max_depth", 100),
    "tool_filter": ("tool_filter", ToolFilter()),
    "persona": ("persona", "You are terse."),
}


def mentions(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether *error* is of that kind, holds one, or comes from one."""
    if error is None or isinstance(error, kind):
        return error is not None
    group = cast("BaseExceptionGroup[BaseException]", error)
    members = group.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return any(mentions(each, kind) for each in (*members, error.__cause__))


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
        await run.aclose()
        bench.breach("start returned a run to a cancelled caller")
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


async def _failing_start(bench: Bench, error: BaseException) -> SubagentError:
    def strike() -> None:
        raise error

    bench.probe.before_publish = strike
    failure = await bench.refused(bench.request(), SubagentError)
    bench.expect(mentions(failure, InjectedError), f"start lost the cause: {failure!r}")
    bench.nothing_happened("after a start that failed")
    bench.expect(bench.parent_error is None, "a failed start reached the parent's nursery")
    return failure


async def raises_before_publication(bench: Bench) -> None:
    """An error before publication fails the start alone; the backend undoes what it has made."""
    failure = await _failing_start(bench, InjectedError("before publication"))
    bench.expect(isinstance(failure, SubagentStartError), f"a foreign error came as {failure!r}")


async def group_before_publication(bench: Bench) -> None:
    """A group of one comes unwrapped; one of several keeps them all."""
    failure = await _failing_start(bench, ExceptionGroup("one", [InjectedError("alone")]))
    bench.expect(
        not isinstance(failure.__cause__, BaseExceptionGroup), f"a group of one: {failure!r}"
    )
    group = ExceptionGroup("two", [InjectedError("one"), KeyError("two")])
    failure = await _failing_start(bench, group)
    bench.expect(mentions(failure, KeyError), f"a mixed group lost a member: {failure!r}")


async def parent_disposed_before_start(bench: Bench) -> None:
    """A parent that has ended takes no children."""
    request = bench.request()
    await bench.end_parent()
    await bench.refused(request, ParentDisposedError)
    bench.expect(bench.probe.served == 0, "serve was called for a parent that had ended")


async def parent_disposed_while_starting(bench: Bench) -> None:
    """A parent that ends under a start, driven from outside, leaves nothing of it."""
    bench.probe.on_serve = lambda _: bench.above.cancel("the parent ends")
    await _overtaken(bench)


async def parent_disposed_at_publication(bench: Bench) -> None:
    """A parent that ends at the last moment has one aborted run, or none."""
    bench.probe.before_publish = lambda: bench.above.cancel("the parent ends")
    await _overtaken(bench)


async def _overtaken(bench: Bench) -> None:
    try:
        run = await bench.start(Behaviour.HANG)
    except (SubagentStartCancelledError, ParentDisposedError):
        bench.expect(not bench.lifecycle, f"a failed start told {bench.lifecycle}")
    else:
        result = await run.result()
        bench.expect(result.stop_reason == "aborted", f"the parent ended: {result.stop_reason!r}")
        await run.aclose()
        own = [f"start {run.id}", f"end {run.id}"]
        bench.expect(bench.lifecycle == own, f"the run told {bench.lifecycle}")
    await bench.end_parent()
    bench.nothing_runs("after the parent had ended mid-start")


async def capability_truth(bench: Bench) -> None:
    """What is declared is honoured, what is not is refused before the backend is called."""
    descriptor = bench.service.get(bench.probe.name)
    assert isinstance(descriptor, ProviderDescriptor)
    for capability, (field, value) in _FIELDS.items():
        request = replace(bench.request(), **{field: value})
        served = bench.probe.served
        if not getattr(descriptor.capabilities, capability):
            await bench.refused(request, UnsupportedCapabilityError)
            bench.expect(bench.probe.served == served, f"serve was called without {capability}")
            continue
        result = await bench.service.run(bench.probe.name, request)
        if capability != "output_schema":
            bench.expect(result.completed, f"with {field} the child ended {result.stop_reason!r}")
        elif result.completed:
            bench.expect(result.value is not None, "completed without the value of its schema")
    if descriptor.capabilities.depth_limit:
        request = bench.request(max_depth=bench.parent.depth)
        await bench.refused(request, SubagentDepthError)
    bench.nothing_runs("after the capabilities were tried")


async def snapshot(bench: Bench) -> None:
    """What the caller changes after the start, and the provider of itself, changes nothing."""
    prompt = [TextBlock(text=bench.drive.prompt(Behaviour.ANSWER))]
    seen: list[str] = []

    def change(request: object) -> None:
        prompt.clear()
        bench.probe.name, bench.probe.capabilities = "renamed", SubagentCapabilities()
        seen.append(getattr(request, "text", ""))

    name, bench.probe.on_serve = bench.probe.name, change
    result = await bench.service.run(name, bench.request(prompt=prompt))
    bench.expect(result.completed, f"the child ended {result.stop_reason!r}: {result.detail}")
    bench.expect(seen == [bench.drive.prompt(Behaviour.ANSWER)], f"the backend was asked {seen}")
    bench.expect(bench.service.list() == (name,), "a renamed provider is registered otherwise")


START_CLAUSES: Final = (
    cancelled_before_start,
    cancelled_while_starting,
    deadline_while_starting,
    cancelled_at_publication,
    caller_cancelled_at_publication,
    cancelled_at_steps,
    raises_before_publication,
    group_before_publication,
    parent_disposed_before_start,
    parent_disposed_while_starting,
    parent_disposed_at_publication,
    capability_truth,
    snapshot,
)
