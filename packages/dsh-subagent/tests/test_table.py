"""Every way a backend can end, and what the caller, the holder and the listeners see of it."""

import logging
import sys
from functools import partial
from typing import Any

import pytest
import trio

from dsh.agent import AgentId, DelegatedUsage, TextBlock
from dsh.subagent import (
    ParentDisposedError,
    Publish,
    ResolvedRequest,
    RunEnded,
    RunStarted,
    SubagentDepthError,
    SubagentPublishError,
    SubagentResult,
    SubagentRun,
    SubagentRunError,
    SubagentService,
    SubagentStartCancelledError,
    SubagentStartError,
    SubagentStartRequest,
    TextProgress,
)
from dsh.subagent.testing import (
    Act,
    ScriptedParent,
    ScriptedProvider,
    fail,
    hang,
    refuse,
    reply,
)

Result = SubagentResult[Any]


def ends(parent: ScriptedParent) -> list[str]:
    """The lifecycle events the parent heard, in short."""
    return [
        "start" if isinstance(event, RunStarted) else event.stop_reason
        for event in parent.events
        if isinstance(event, RunStarted | RunEnded)
    ]


def settled(text: str, stop_reason: str = "aborted") -> Result:
    return SubagentResult(stop_reason=stop_reason, output=(TextBlock(text=text),))


def cleaning_up(error: Exception, *, left: Result | None = None) -> Act:
    """Hang; cancelled, leave something and raise."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        report = publish(child_id)
        try:
            await trio.sleep_forever()
        finally:
            if left is not None:
                report.partial(left)
            raise error
        raise AssertionError

    return act


# returns after publication


@pytest.mark.guarantee("B-SEAM-14", "B-SEAM-19")
async def test_what_serve_returns_is_the_result_of_the_run(seam: Any) -> None:
    """A start that is fulfilled hands over a run, whose one end tells reason and answer."""
    async with await seam.start(reply("three files")) as run:
        result = await run.result()
    assert (result.stop_reason, result.text, result.child_id) == (
        "completed",
        "three files",
        "scripted-1",
    )
    (started,) = seam.parent.heard(RunStarted)
    (ended,) = seam.parent.heard(RunEnded)
    assert (started.child_id, started.parent_id, started.provider) == (
        "scripted-1",
        "parent",
        "scripted",
    )
    assert (ended.stop_reason, ended.output) == ("completed", (TextBlock(text="three files"),))


async def test_a_backend_that_returns_nothing_is_told_what_it_should_have(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Any:
        publish(child_id)

    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError, match="gives a SubagentResult, not NoneType"):
            await run.result()


@pytest.mark.guarantee("B-SEAM-31", "B-SEAM-28")
async def test_a_childs_own_failure_is_a_value(seam: Any) -> None:
    """What a child came to is returned, under whatever word its backend has for it."""
    async with await seam.start(reply("half", stop_reason="gave_up", detail="bored")) as run:
        result = await run.result()
    assert (result.stop_reason, result.completed, result.detail) == ("gave_up", False, "bored")


# raises after publication


@pytest.mark.guarantee("B-SEAM-20", "B-SEAM-31")
async def test_a_backend_that_raises_fails_its_run_and_nobody_else(seam: Any) -> None:
    """When a backend breaks, its run's result raises and its end says error, without output."""
    seam.script(fail(ValueError("broken pipe")), reply("the sibling"))
    broken, fine = await seam.start(), await seam.start()
    async with broken, fine:
        for _ in range(2):
            with pytest.raises(SubagentRunError, match=r"'scripted-1'.*broken pipe") as caught:
                await broken.result()
            assert isinstance(caught.value.__cause__, ValueError)
        assert (await fine.result()).text == "the sibling"
    assert not seam.parent.nursery.cancel_scope.cancel_called
    first, _ = seam.parent.heard(RunEnded)
    assert (first.stop_reason, first.output) == ("error", None)
    assert "broken pipe" in first.detail


async def test_a_group_of_one_is_unwrapped(seam: Any) -> None:
    error = ExceptionGroup("outer", [ExceptionGroup("inner", [ValueError("the one")])])
    async with await seam.start(fail(error)) as run:
        with pytest.raises(SubagentRunError, match="ValueError: the one") as caught:
            await run.result()
    assert isinstance(caught.value.__cause__, ValueError)


async def test_a_group_of_several_stays_whole(seam: Any) -> None:
    error = ExceptionGroup("both", [ValueError("one"), KeyError("two")])
    async with await seam.start(fail(error)) as run:
        with pytest.raises(SubagentRunError) as caught:
            await run.result()
    assert caught.value.__cause__ is error


OF_SUCCESS: dict[str, Any] = {"stop_reason": "completed"}
NONSENSE: list[dict[str, Any]] = [
    {"stop_reason": 7},
    {"stop_reason": ""},
    {"output": "text"},
    {"output": ("text",)},
    {"detail": object()},
    {"usage": {"input_tokens": 3}},
    {"model_requests": "many"},
    {"model_requests": -1},
    {"tool_calls": 1.5},
    {"seconds": "long"},
]


@pytest.mark.parametrize("way", ["return", "settle", "partial"])
@pytest.mark.parametrize(
    "fields", [None, *NONSENSE], ids=lambda given: next(iter(given or ["none"]))
)
async def test_a_backend_that_gives_nonsense_has_failed_and_its_parent_counts_none_of_it(
    seam: Any, fields: dict[str, Any] | None, way: str
) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Any:
        report = publish(child_id)
        made: Any = "done" if fields is None else SubagentResult(**OF_SUCCESS | fields)
        if way == "return":
            return made
        report.settle(made) if way == "settle" else report.partial(made)
        raise AssertionError

    named = "SubagentResult" if fields is None else next(iter(fields))
    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError, match=named) as caught:
            await run.result()
    assert isinstance(caught.value.__cause__, TypeError | ValueError)
    assert ends(seam.parent) == ["start", "error"]
    assert seam.parent.heard(DelegatedUsage) == []


@pytest.mark.parametrize("what", ["publish", "progress", "settle"])
async def test_a_thread_comes_back_to_trio_before_it_says_anything(seam: Any, what: str) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Any:
        if what == "publish":
            await trio.to_thread.run_sync(publish, child_id)
        report = publish(child_id)
        tell = partial(report.progress, TextProgress(text="from elsewhere"))
        if what == "settle":
            tell = partial(report.settle, settled("from elsewhere"))
        await trio.to_thread.run_sync(tell)
        raise AssertionError

    with pytest.raises(SubagentStartError if what == "publish" else SubagentRunError) as caught:
        async with await seam.start(act) as run:
            await run.result()
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert seam.parent.heard(TextProgress) == []


class Exotic(BaseException):
    """Neither an Exception nor a reason to stop the interpreter."""


async def test_a_foreign_base_exception_is_contained_too(seam: Any) -> None:
    async with await seam.start(fail(Exotic("from a library"))) as run:
        with pytest.raises(SubagentRunError) as caught:
            await run.result()
    assert isinstance(caught.value.__cause__, Exotic)


async def test_a_bug_that_cancels_siblings_inside_the_backend_is_a_bug(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)

        async def crash() -> None:
            raise ValueError("in a task of its own")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(crash)
            nursery.start_soon(trio.sleep_forever)
            await trio.sleep_forever()
        raise AssertionError

    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError, match="in a task of its own"):
            await run.result()


async def settling(publish: Publish, child_id: AgentId) -> None:
    """Hang; cancelled, leave something and settle with it at once."""
    report = publish(child_id)
    try:
        await trio.sleep_forever()
    finally:
        cancelled = sys.exception()
        assert isinstance(cancelled, trio.Cancelled)
        report.partial(settled("half"))
        report.settle_cancelled(cancelled)


async def test_a_backend_may_settle_before_it_has_cleaned_up(seam: Any) -> None:
    cleaned = trio.Event()

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        try:
            await settling(publish, child_id)
        finally:
            with trio.CancelScope(shield=True):
                await cleaned.wait()
        raise AssertionError

    async with await seam.start(act) as run:
        run.cancel("enough")
        result = await run.result()
        assert (result.stop_reason, result.detail, result.text) == ("aborted", "enough", "half")
        assert "quiescent" not in repr(run)
        cleaned.set()
    assert ends(seam.parent) == ["start", "aborted"]


async def test_a_backend_that_its_own_bug_cancels_does_not_settle_as_cancelled(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        async def crash() -> None:
            raise ValueError("in a task of its own")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(crash)
            await settling(publish, child_id)
        raise AssertionError

    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError, match="in a task of its own"):
            await run.result()
    assert ends(seam.parent) == ["start", "error"]


async def test_a_bug_is_no_cancellation_only_because_the_run_is_being_closed(seam: Any) -> None:
    """The run is cancelled, but the backend's nursery had failed before."""
    crashed = trio.Event()

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)

        async def crash() -> None:
            crashed.set()
            raise ValueError("first")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(crash)
            try:
                await trio.sleep_forever()
            finally:
                run.cancel("second")
        raise AssertionError

    run = await seam.start(act)
    async with run:
        await crashed.wait()
        with pytest.raises(SubagentRunError, match="first"):
            await run.result()


async def test_a_deadline_inside_the_backend_is_a_bug_and_no_timeout(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        with trio.fail_after(0):
            await trio.sleep_forever()
        raise AssertionError

    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError, match="TooSlowError"):
            await run.result()


# cancelled by the request's scope after publication


async def test_a_cancelled_run_says_aborted_and_why(seam: Any) -> None:
    async with await seam.start(hang()) as run:
        run.cancel("no longer needed")
        result = await run.result()
    assert (result.stop_reason, result.detail, result.output) == ("aborted", "no longer needed", ())
    assert ends(seam.parent) == ["start", "aborted"]


async def test_a_passed_deadline_says_timeout(seam: Any, autojump_clock: Any) -> None:
    scope = trio.CancelScope(relative_deadline=30)
    async with await seam.start(hang("so far"), cancel_scope=scope) as run:
        result = await run.result()
    assert (result.stop_reason, result.text, result.seconds) == ("timeout", "so far", 30)


@pytest.mark.parametrize(
    ("left", "expected"),
    [("aborted", "aborted"), ("completed", "completed"), ("lost", "lost"), ("error", "error")],
)
async def test_what_a_backend_left_keeps_its_reason(seam: Any, left: str, expected: str) -> None:
    act = cleaning_up(ValueError("late"), left=settled("had this", left))
    async with await seam.start(act) as run:
        run.cancel("enough")
        result = await run.result()
    assert (result.stop_reason, result.text) == (expected, "had this")


@pytest.mark.parametrize(("left", "expected"), [("aborted", "timeout"), ("completed", "completed")])
async def test_what_was_left_aborted_is_a_timeout_at_the_deadline(
    seam: Any, autojump_clock: Any, left: str, expected: str
) -> None:
    act = cleaning_up(ValueError("late"), left=settled("had this", left))
    async with await seam.start(act, cancel_scope=trio.CancelScope(relative_deadline=1)) as run:
        result = await run.result()
    assert (result.stop_reason, result.text) == (expected, "had this")


async def test_a_clean_up_that_raises_does_not_hide_the_cancellation(
    seam: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with await seam.start(cleaning_up(ValueError("clean-up"))) as run:
        run.cancel("enough")
        result = await run.result()
    assert (result.stop_reason, result.detail) == ("aborted", "enough")
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("dsh.subagent", logging.ERROR)
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "clean-up"


async def test_a_clean_up_that_raises_in_one_of_many_tasks_does_not_either(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)

        async def breaks() -> None:
            try:
                await trio.sleep_forever()
            finally:
                raise ValueError("clean-up")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(breaks)
            nursery.start_soon(trio.sleep_forever)
        raise AssertionError

    async with await seam.start(act) as run:
        await trio.testing.wait_all_tasks_blocked()
        run.cancel("enough")
        result = await run.result()
    assert (result.stop_reason, result.detail) == ("aborted", "enough")


# cancelled from above


@pytest.mark.guarantee("B-SEAM-21")
async def test_a_parent_that_ends_aborts_its_runs_and_frees_a_holder_outside() -> None:
    """The end of a run is told to the parent it was started for, and to its holder anywhere."""
    service = SubagentService()
    service.register(ScriptedProvider(hang("half")))
    parent, other = ScriptedParent(), ScriptedParent(id="other")
    async with other, trio.open_nursery() as outside:
        async with parent:
            run = await service.start("scripted", SubagentStartRequest(prompt="go", parent=parent))
            results: list[Result] = []

            async def hold() -> None:
                results.append(await run.result())

            outside.start_soon(hold)
            await trio.testing.wait_all_tasks_blocked()
        await trio.testing.wait_all_tasks_blocked()
    assert [(each.stop_reason, each.text, each.detail) for each in results] == [
        ("aborted", "half", "the parent ends")
    ]
    assert (ends(parent), ends(other)) == (["start", "aborted"], [])
    assert parent.adopted == set()


async def test_a_crash_of_the_parent_is_a_cancellation_and_no_bug_of_the_child() -> None:
    service = SubagentService()
    service.register(ScriptedProvider(hang()))
    parent = ScriptedParent()

    async def crash() -> None:
        raise ValueError("the parent's own")

    run: SubagentRun[object] | None = None
    with pytest.raises(ValueError, match="the parent's own"):  # noqa: PT012 - the block is it
        async with parent:
            run = await service.start("scripted", SubagentStartRequest(prompt="go", parent=parent))
            await trio.testing.wait_all_tasks_blocked()
            parent.nursery.start_soon(crash)
    assert run is not None
    assert (await run.result()).stop_reason == "aborted"
    assert ends(parent) == ["start", "aborted"]


async def test_errors_beside_the_parents_end_are_logged_and_stay_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    service = SubagentService()
    service.register(ScriptedProvider(cleaning_up(ValueError("clean-up"))))
    async with ScriptedParent() as parent:
        run = await service.start("scripted", SubagentStartRequest(prompt="go", parent=parent))
    assert (await run.result()).stop_reason == "aborted"
    assert [record.levelname for record in caplog.records] == ["ERROR"]


# interrupted


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
async def test_an_interrupt_settles_the_run_and_passes_on(interrupt: type[BaseException]) -> None:
    service = SubagentService()
    error = BaseExceptionGroup("mixed", [interrupt(), ValueError("beside")])
    service.register(ScriptedProvider(fail(error)))
    parent = ScriptedParent()
    run: SubagentRun[object] | None = None
    with pytest.raises(interrupt):  # noqa: PT012 - what leaves the block is the point
        async with parent:
            run = await service.start("scripted", SubagentStartRequest(prompt="go", parent=parent))
            await trio.sleep_forever()
    assert run is not None
    result = await run.result()
    assert (result.stop_reason, result.detail) == ("aborted", interrupt.__name__)
    assert ends(parent) == ["start", "aborted"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
async def test_an_interrupt_before_publication_comes_as_it_is(
    seam: Any, interrupt: type[BaseException]
) -> None:
    with pytest.raises(interrupt):
        await seam.start(refuse(BaseExceptionGroup("one", [interrupt()])))
    assert ends(seam.parent) == []


# raises before publication


@pytest.mark.guarantee("B-SEAM-15", "B-SEAM-16")
async def test_a_failed_start_leaves_nothing_and_tells_nobody(seam: Any) -> None:
    """A backend that fails before publication fails the start; there is no run and no event."""
    with pytest.raises(SubagentStartError, match=r"'scripted'.*no such binary") as caught:
        await seam.start(refuse(OSError("no such binary")))
    assert isinstance(caught.value.__cause__, OSError)
    assert (seam.parent.events, seam.parent.adopted) == ([], set())
    assert not seam.parent.nursery.child_tasks
    assert not seam.parent.nursery.cancel_scope.cancel_called


async def test_a_typed_refusal_of_a_backend_comes_bare(seam: Any) -> None:
    refusal = SubagentDepthError(attempted_depth=3, max_depth=2)
    with pytest.raises(SubagentDepthError) as caught:
        await seam.start(refuse(ExceptionGroup("one", [refusal])))
    assert caught.value is refusal


async def test_a_group_of_several_before_publication_is_wrapped_once(seam: Any) -> None:
    group = ExceptionGroup("both", [ValueError("one"), KeyError("two")])
    with pytest.raises(SubagentStartError) as caught:
        await seam.start(refuse(group))
    assert caught.value.__cause__ is group


async def test_returning_without_publishing_is_a_failed_start(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        return settled("who am I?", "completed")

    with pytest.raises(SubagentStartError, match="without publishing"):
        await seam.start(act)
    assert seam.parent.events == []


# cancelled before publication


async def test_a_request_cancelled_beforehand_never_reaches_the_backend(seam: Any) -> None:
    provider = seam.script(reply())
    scope = trio.CancelScope()
    scope.cancel()
    with pytest.raises(SubagentStartCancelledError):
        await seam.start(cancel_scope=scope)
    assert (provider.requests, seam.parent.events, seam.parent.adopted) == ([], [], set())


@pytest.mark.parametrize("clean_up_raises", [False, True])
async def test_a_start_cancelled_on_the_way_publishes_nothing(
    seam: Any, clean_up_raises: bool
) -> None:
    scope = trio.CancelScope()

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        scope.cancel("changed my mind")
        try:
            await trio.lowlevel.checkpoint()
        finally:
            if clean_up_raises:
                raise ValueError("clean-up")
        raise AssertionError

    with pytest.raises(SubagentStartCancelledError, match="changed my mind"):
        await seam.start(act, cancel_scope=scope)
    assert (seam.parent.events, seam.parent.adopted) == ([], set())


@pytest.mark.parametrize("swallow", ["nothing", "the refusal", "the refusal for a bug"])
async def test_publish_refuses_a_cancelled_start_whatever_the_backend_makes_of_it(
    seam: Any, swallow: str
) -> None:
    scope = trio.CancelScope()

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        scope.cancel()
        try:
            publish(child_id)
        except SubagentStartCancelledError:
            if swallow == "nothing":
                raise
        with pytest.raises(SubagentStartCancelledError):
            publish(child_id)
        if swallow == "the refusal for a bug":
            raise ValueError("confused")
        return settled("nonetheless", "completed")

    with pytest.raises(SubagentStartCancelledError):
        await seam.start(act, cancel_scope=scope)
    assert seam.parent.events == []


@pytest.mark.parametrize("swallow", [False, True])
@pytest.mark.parametrize("clean_up_raises", [False, True])
async def test_a_cancelled_caller_sees_its_own_cancellation(
    seam: Any, swallow: bool, clean_up_raises: bool
) -> None:
    """trio leaves the task where it is when the caller is cancelled: nothing may be published."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        caller.cancel()
        try:
            publish(child_id)
        except SubagentStartCancelledError:
            if clean_up_raises:
                raise ValueError("clean-up") from None
            if not swallow:
                raise
        return settled("nonetheless", "completed")

    with trio.CancelScope() as caller:
        await seam.start(act)
        raise AssertionError("start returned")
    assert caller.cancelled_caught
    assert (seam.parent.events, seam.parent.adopted) == ([], set())


async def test_a_caller_cancelled_while_the_backend_starts_sees_its_own_cancellation(
    seam: Any,
) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        caller.cancel()
        try:
            await trio.lowlevel.checkpoint()
        finally:
            raise ValueError("clean-up")
        raise AssertionError

    with trio.CancelScope() as caller:
        await seam.start(act)
    assert caller.cancelled_caught
    assert seam.parent.events == []


async def test_a_deadline_that_has_passed_counts_at_publication(seam: Any, mock_clock: Any) -> None:
    scope = trio.CancelScope(deadline=mock_clock.current_time() + 1)

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        mock_clock.jump(2)
        publish(child_id)
        raise AssertionError

    with pytest.raises(SubagentStartCancelledError):
        await seam.start(act, cancel_scope=scope)
    assert seam.parent.events == []


# misuse


async def test_publishing_twice_is_refused_and_fails_the_run(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        publish(AgentId("another"))
        raise AssertionError

    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError) as caught:
            await run.result()
    assert isinstance(caught.value.__cause__, SubagentPublishError)
    assert ends(seam.parent) == ["start", "error"]


async def test_publishing_after_serve_has_ended_is_refused(seam: Any) -> None:
    kept: list[Publish] = []

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        kept.append(publish)
        raise OSError

    with pytest.raises(SubagentStartError):
        await seam.start(act)
    with pytest.raises(SubagentPublishError, match="after serve had ended"):
        kept[0](AgentId("late"))
    assert seam.parent.events == []


@pytest.mark.parametrize("child_id", ["", None, 7])
async def test_a_child_needs_an_id(seam: Any, child_id: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, __: AgentId) -> Result:
        publish(child_id)
        raise AssertionError

    with pytest.raises(SubagentStartError, match="a child id is a non-empty str"):
        await seam.start(act)


# an earlier settlement stands


@pytest.mark.parametrize("then", ["returns", "raises", "is cancelled", "settles again"])
async def test_an_earlier_settlement_stands(
    seam: Any, then: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        report = publish(child_id)
        report.settle(settled("first", "completed"))
        if then == "raises":
            raise ValueError("later")
        if then == "is cancelled":
            await trio.sleep_forever()
        if then == "settles again":
            report.settle(settled("second"))
        return settled("third")

    async with await seam.start(act) as run:
        first = await run.result()
    assert (first.stop_reason, first.text) == ("completed", "first")
    assert await run.result() is first
    assert ends(seam.parent) == ["start", "completed"]
    assert [record.levelname for record in caplog.records] == (
        ["ERROR"] if then == "raises" else []
    )


async def test_a_parent_that_takes_no_children_refuses_before_the_backend_is_called() -> None:
    provider = ScriptedProvider()
    service = SubagentService()
    service.register(provider)
    async with ScriptedParent() as parent:
        pass
    with pytest.raises(ParentDisposedError, match="'parent'"):
        await service.start("scripted", SubagentStartRequest(prompt="go", parent=parent))
    assert provider.requests == []
