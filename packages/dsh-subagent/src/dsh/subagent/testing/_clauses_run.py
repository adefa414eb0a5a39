"""Clauses of the contract: a published child, its end, and who hears of it.

Next: `_clauses_close.py`.
"""

from functools import partial
from typing import Final

import trio

from dsh.subagent._errors import SubagentRunError
from dsh.subagent._events import RunEnded, RunStarted
from dsh.subagent._progress import TextProgress
from dsh.subagent._run import SubagentRun
from dsh.subagent.testing._bench import Bench, InjectedError, mentions
from dsh.subagent.testing._drive import Behaviour

__all__ = ["RUN_CLAUSES"]


async def answers(bench: Bench) -> None:
    """A child that answers completes, with visible text, and is the child that was published."""
    async with await bench.start() as run:
        result = await run.result()
    bench.expect(result.completed, f"the child ended {result.stop_reason!r}: {result.detail}")
    bench.expect(result.text.strip(), "the answer has no visible text")
    bench.expect(result.child_id == run.id, f"{result.child_id!r} is not {run.id!r}")
    bench.nothing_runs("after its run was closed")


async def serves_again(bench: Bench) -> None:
    """A provider serves as often as it is asked, one after the other and at once, by fresh ids."""
    ids = [str((await bench.service.run(bench.probe.name, bench.request())).child_id)]
    runs = [await bench.start() for _ in range(2)]
    for run in runs:
        async with run:
            result = await run.result()
        bench.expect(result.completed, f"another child ended {result.stop_reason!r}")
        ids.append(run.id)
    bench.expect(len(set(ids)) == 3, f"ids repeat: {ids}")
    bench.nothing_runs("after three runs")


async def failure_is_a_value(bench: Bench) -> None:
    """A child that fails is a result that did not complete, and nothing is raised for it."""
    async with await bench.start(Behaviour.FAIL) as run:
        try:
            result = await run.result()
        except SubagentRunError as exc:
            bench.breach(f"result() raised for a child's own failure: {exc}")
    bench.expect(not result.completed, "a failed child was passed off as completed")
    bench.nothing_runs("after a child had failed")


async def event_order(bench: Bench) -> None:
    """The start is told first, before the child acts; the end last; each of them once."""
    acted: list[str] = []

    def look(moment: str) -> None:
        if bench.has_worked():
            acted.append(moment)

    bench.probe.before_publish = partial(look, "before it was published")
    async with await bench.start() as run:
        await run.result()
    bench.expect(not acted, f"the child worked on its prompt {''.join(acted)}")
    bench.expect(
        bench.lifecycle == [f"start {run.id}", f"end {run.id}"], f"told: {bench.lifecycle}"
    )
    told = bench.parent.events
    bench.expect(isinstance(told[0], RunStarted), f"{told[0]} was told before the start")
    bench.expect(isinstance(told[-1], RunEnded), f"{told[-1]} was told after the end")


async def settles_once(bench: Bench) -> None:
    """A result is one object for good: cancelling and closing later do not change it."""
    run = await bench.start()
    first = await run.result()
    run.cancel("too late")
    await run.aclose()
    bench.expect(await run.result() is first, "the result changed after it had settled")
    ends = [event for event in bench.parent.events if isinstance(event, RunEnded)]
    bench.expect(len(ends) == 1, f"{len(ends)} ends were told")


async def cancelled_after_publication(bench: Bench) -> None:
    """A cancelled child says `aborted`, with the reason, and is gone."""
    async with await bench.start(Behaviour.HANG) as run:
        run.cancel("the kit's reason")
        result = await run.result()
    bench.expect(result.stop_reason == "aborted", f"it ended {result.stop_reason!r}")
    bench.expect("the kit's reason" in (result.detail or ""), f"its detail is {result.detail!r}")
    bench.nothing_runs("after it was cancelled and closed")


async def cancelled_right_at_publication(bench: Bench) -> None:
    """Cancelled in the moment it is published, a child is a run that was aborted, if it is one."""
    request = bench.request(Behaviour.HANG)
    bench.probe.after_publish = lambda: request.cancel_scope.cancel("in that moment")
    async with await bench.service.start(bench.probe.name, request) as run:
        result = await run.result()
    bench.expect(result.stop_reason == "aborted", f"it ended {result.stop_reason!r}")
    bench.nothing_runs("after it was cancelled in the moment of publication")


async def leaves_what_was_said(bench: Bench) -> None:
    """What a child says is told, and is in its result when it is cancelled."""
    said = bench.drive.said()
    if said is None:
        return
    heard, told = trio.Event(), list[str]()

    def listen(event: object) -> None:
        if isinstance(event, TextProgress):
            told.append(event.text)
        if said in "".join(told):
            heard.set()

    async with await bench.start(Behaviour.HANG) as run:
        for event in bench.parent.events:
            listen(event)
        run.on_progress(listen)
        await heard.wait()
        run.cancel()
        result = await run.result()
    bench.expect(
        said in result.text, f"the child had said {said!r}; its result has {result.text!r}"
    )


async def deadline(bench: Bench) -> None:
    """A deadline that passes ends the child, and says `timeout`."""
    request = bench.request(Behaviour.HANG)
    async with await bench.service.start(bench.probe.name, request) as run:
        request.cancel_scope.deadline = trio.current_time() + 0.01
        result = await run.result()
    bench.expect(result.stop_reason == "timeout", f"it ended {result.stop_reason!r}")
    bench.nothing_runs("after its deadline")


async def deadline_above(bench: Bench) -> None:
    """A deadline above the parent is the parent's: the child it ends says `aborted`."""
    run = await bench.start(Behaviour.HANG)
    bench.above.deadline = trio.current_time() + 0.01
    result = await run.result()
    await run.aclose()
    bench.expect(result.stop_reason == "aborted", f"it ended {result.stop_reason!r}")
    await bench.end_parent()


async def _failing_run(bench: Bench, error: BaseException) -> SubagentRunError:
    def strike() -> None:
        raise error

    bench.probe.after_publish = strike
    run = await bench.start(Behaviour.HANG)
    bench.probe.after_publish = None
    async with run, await bench.start() as sibling:
        try:
            await run.result()
            bench.breach("an error after publication was swallowed")
        except SubagentRunError as exc:
            failure = exc
        fine = await sibling.result()
    bench.expect(mentions(failure, InjectedError), f"result() lost the cause: {failure!r}")
    bench.expect(fine.completed, f"a sibling ended {fine.stop_reason!r}")
    bench.expect(bench.parent_error is None, f"it reached the parent: {bench.parent_error!r}")
    bench.nothing_runs("after a backend had failed")
    return failure


async def raises_after_publication(bench: Bench) -> None:
    """An error after publication is the run's own: no sibling and no parent hears of it."""
    await _failing_run(bench, InjectedError("after publication"))


async def group_after_publication(bench: Bench) -> None:
    """A group of one is unwrapped, a mixed one keeps its members."""
    failure = await _failing_run(bench, ExceptionGroup("one", [InjectedError("alone")]))
    bench.expect(
        not isinstance(failure.__cause__, BaseExceptionGroup), f"a group of one: {failure!r}"
    )
    group = ExceptionGroup("two", [InjectedError("one"), KeyError("two")])
    failure = await _failing_run(bench, group)
    bench.expect(mentions(failure, KeyError), f"a mixed group lost a member: {failure!r}")


async def interrupted(bench: Bench) -> None:
    """`KeyboardInterrupt` aborts the run and goes on to the parent, past everybody's handlers."""

    def strike() -> None:
        raise KeyboardInterrupt

    bench.probe.after_publish = strike
    run: SubagentRun[object] = await bench.start(Behaviour.HANG)
    result = await run.result()
    await run.aclose()
    await bench.end_parent()
    bench.expect(result.stop_reason == "aborted", f"it ended {result.stop_reason!r}")
    bench.expect(
        mentions(bench.parent_error, KeyboardInterrupt), "the interrupt did not reach the parent"
    )
    bench.nothing_runs("after an interrupt")


RUN_CLAUSES: Final = (
    answers,
    serves_again,
    failure_is_a_value,
    event_order,
    settles_once,
    cancelled_after_publication,
    cancelled_right_at_publication,
    leaves_what_was_said,
    deadline,
    deadline_above,
    raises_after_publication,
    group_after_publication,
    interrupted,
)
