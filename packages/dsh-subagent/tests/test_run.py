"""A run in its holder's hands: waiting, closing, progress, usage, events."""

from typing import Any

import pytest
import trio

from dsh.agent import AgentId, DelegatedUsage, TextBlock, Usage
from dsh.subagent import (
    Progress,
    Publish,
    ResolvedRequest,
    RunEnded,
    RunReporter,
    RunStarted,
    SubagentResult,
    SubagentRun,
    SubagentRunError,
    SubagentSelfCloseError,
    SubagentService,
    SubagentStartRequest,
    TextProgress,
    ThoughtProgress,
    ToolEndedProgress,
    ToolStartedProgress,
    UsageProgress,
)
from dsh.subagent.testing import (
    ScriptedParent,
    ScriptedProvider,
    fail,
    hang,
    linger,
    reply,
)

Result = SubagentResult[Any]


# closing


@pytest.mark.guarantee("B-SEAM-33")
async def test_closing_cancels_and_returns_at_quiescence(seam: Any, autojump_clock: Any) -> None:
    """However often and however cancelled, a close returns once nothing of the child runs."""
    provider = seam.script(linger(5))
    run = await seam.start()
    with trio.CancelScope() as impatient:
        impatient.cancel()
        await run.aclose()
    assert provider.running == set()
    assert trio.current_time() == 5
    await run.aclose()
    assert (await run.result()).stop_reason == "aborted"
    assert not seam.parent.nursery.child_tasks
    assert repr(run) == "<SubagentRun 'scripted-1' of 'scripted': aborted, quiescent>"


async def test_concurrent_closers_share_one_closing(seam: Any, autojump_clock: Any) -> None:
    provider = seam.script(linger(5))
    run, times = await seam.start(), list[float]()

    async def close() -> None:
        await run.aclose()
        assert provider.running == set()
        times.append(trio.current_time())

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(close)
    assert times == [5, 5, 5]


async def test_a_cancelled_holder_closes_first(seam: Any, autojump_clock: Any) -> None:
    provider = seam.script(linger(5))
    with trio.move_on_after(1) as scope:
        async with await seam.start():
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert (provider.running, trio.current_time()) == (set(), 6)


async def test_a_run_that_settled_early_is_closed_when_its_backend_has_ended(
    seam: Any, autojump_clock: Any
) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id).settle(SubagentResult(stop_reason="completed"))
        with trio.move_on_after(3, shield=True):
            await trio.sleep_forever()
        raise AssertionError("later")

    provider = seam.script(act)
    async with await seam.start() as run:
        assert (await run.result()).completed
        assert (provider.running, trio.current_time()) == ({"scripted-1"}, 0)
    assert (provider.running, trio.current_time()) == (set(), 3)


@pytest.mark.parametrize("where", ["the backend", "a task below", "a child's run"])
async def test_closing_from_inside_raises_at_once_and_cancels_nothing(
    seam: Any, where: str
) -> None:
    runs = list[SubagentRun[object]]()
    published = trio.Event()
    refused = list[SubagentSelfCloseError]()

    async def close() -> None:
        await published.wait()
        try:
            await runs[0].aclose()
        except SubagentSelfCloseError as exc:
            refused.append(exc)

    async def inner(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        await close()
        return SubagentResult(stop_reason="completed")

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        if where == "the backend":
            await close()
        elif where == "a task below":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(close)
        else:
            async with type(seam.parent)() as child:
                request = seam.request(parent=child)
                await seam.service.run("scripted", request)
        return SubagentResult(stop_reason="completed")

    seam.script(act, inner)
    runs.append(await seam.start())
    published.set()
    async with runs[0] as run:
        assert (await run.result()).completed
    (error,) = refused
    assert error.code == "SELF_CLOSE"
    assert "'scripted-1'" in str(error)


@pytest.mark.guarantee("B-SEAM-34")
async def test_a_run_is_one_shot(seam: Any) -> None:
    """There is nothing on a run to talk to its child with."""
    async with await seam.start(reply()) as run:
        public = {name for name in dir(run) if not name.startswith("_")}
    assert public == {"aclose", "cancel", "id", "on_progress", "parent_id", "provider", "result"}


async def test_waiting_is_cancelled_alone(seam: Any, autojump_clock: Any) -> None:
    async with await seam.start(hang()) as run:
        with trio.move_on_after(1):
            await run.result()
        assert repr(run) == "<SubagentRun 'scripted-1' of 'scripted': live>"


# events


@pytest.mark.guarantee("B-SEAM-17", "B-SEAM-18")
@pytest.mark.field_case("B174")
async def test_the_start_is_told_before_anything_the_child_does(seam: Any) -> None:
    """Even a child that is over at once is announced first, to everyone, and ended once."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        report = publish(child_id)
        seam.parent.events.append("the child acts")
        report.progress(TextProgress(text="hello"))
        report.settle(SubagentResult(stop_reason="completed"))
        report.progress(TextProgress(text="too late"))
        return SubagentResult(stop_reason="error")

    async with await seam.start(act):
        seam.parent.events.append("the caller has the run")
    kinds = [e if isinstance(e, str) else type(e).__name__ for e in seam.parent.events]
    assert kinds == [
        "RunStarted",
        "the child acts",
        "TextProgress",
        "RunEnded",
        "the caller has the run",
    ]


@pytest.mark.guarantee("B-SEAM-23")
async def test_a_listener_that_raises_disturbs_nobody(
    seam: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A listener's failure is logged, even where it cannot be rendered, and the run goes on."""

    class UnprintableError(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

    def raise_it(_: object) -> None:
        raise UnprintableError

    heard: list[object] = []
    for event in (RunStarted, RunEnded, TextProgress):
        seam.parent.hooks.on(event, raise_it)
        seam.parent.hooks.on(event, heard.append)
    seam.script(reply("fine", progress=(TextProgress(text="hi"),)))
    assert (await seam.service.run("scripted", seam.request())).text == "fine"
    assert len(heard) == 3
    assert len(caplog.records) == 3
    assert "UnprintableError" in caplog.text


async def test_a_parent_whose_dispatch_raises_is_contained(
    seam: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def dispatch(_: object) -> None:
        raise ValueError("a careless parent")

    monkeypatch.setattr(seam.parent, "dispatch", dispatch)
    seam.script(reply())
    assert (await seam.service.run("scripted", seam.request())).completed
    assert caplog.text.count("a careless parent") >= 2


@pytest.mark.guarantee("B-SEAM-24")
async def test_an_end_event_shares_nothing_that_can_be_changed(seam: Any) -> None:
    """Whoever listens gets frozen values, so the caller's result is its own."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        output: Any = [TextBlock(text="answer")]
        return SubagentResult(stop_reason="completed", output=output)

    async with await seam.start(act) as run:
        result = await run.result()
    (ended,) = seam.parent.heard(RunEnded)
    assert ended.output == result.output == (TextBlock(text="answer"),)
    with pytest.raises(AttributeError):
        ended.output = ()


# progress


@pytest.mark.field_case("B175", "B177", "B178")
async def test_progress_says_whose_it_is(seam: Any) -> None:
    """From the first event on, two children of one provider and their calls are told apart."""
    told = (
        ThoughtProgress(text="hm"),
        ToolStartedProgress(call_id="1", name="grep"),
        ToolEndedProgress(call_id="1", name="grep", is_error=True, text="no such file"),
        TextProgress(text="ok"),
        UsageProgress(usage=Usage(input_tokens=3)),
    )
    seam.script(reply(progress=told))
    for call in ("call-1", "call-2"):
        await seam.service.run("scripted", seam.request(parent_call_id=call))
    first, second = seam.parent.events[:7], seam.parent.events[7:]
    assert {(e.child_id, e.parent_id, e.parent_call_id) for e in first} == {
        ("scripted-1", "parent", "call-1")
    }
    assert {(e.child_id, e.parent_id, e.parent_call_id) for e in second} == {
        ("scripted-2", "parent", "call-2")
    }
    assert [type(e) for e in first] == [RunStarted, *map(type, told), RunEnded]
    assert (first[3].is_error, first[3].text) == (True, "no such file")


async def test_a_holder_hears_what_follows_until_it_stops_listening(
    seam: Any, caplog: pytest.LogCaptureFixture
) -> None:
    reports: list[RunReporter] = []

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        reports.append(publish(child_id))
        reports[0].progress(TextProgress(text="before"))
        await trio.sleep_forever()
        raise AssertionError

    heard: list[str] = []

    def hear(event: Progress) -> None:
        assert isinstance(event, TextProgress)
        heard.append(event.text)

    def raise_it(_: object) -> None:
        raise ValueError("a careless holder")

    async with await seam.start(act) as run:
        run.on_progress(raise_it)
        registration = run.on_progress(hear)
        reports[0].progress(TextProgress(text="while"))
        registration.close()
        reports[0].progress(TextProgress(text="after"))
    assert heard == ["while"]
    assert [event.text for event in seam.parent.heard(TextProgress)] == ["before", "while", "after"]
    assert "a careless holder" in caplog.text


@pytest.mark.parametrize("listener", [trio.sleep_forever, None])
async def test_a_listener_that_could_never_be_called_is_refused(seam: Any, listener: Any) -> None:
    async with await seam.start(hang()) as run:
        with pytest.raises(TypeError, match="a listener of progress is a plain function"):
            run.on_progress(listener)


async def test_progress_of_another_kind_is_the_backends_bug(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        nonsense: Any = {"text": "hello"}
        publish(child_id).progress(nonsense)
        raise AssertionError

    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError, match="progress takes a Progress, not dict"):
            await run.result()


class CarelessParent:
    """A parent whose undo of an adoption is not what it should be."""

    id, cwd, depth = AgentId("careless"), None, 0

    def __init__(self, nursery: trio.Nursery, undo: Any) -> None:
        self.nursery = nursery
        self.undo = undo

    def dispatch(self, event: object) -> None:
        pass

    def adopt(self, cancel_scope: trio.CancelScope) -> Any:
        return self.undo


async def test_an_undo_that_raises_is_its_parents_error_and_holds_up_no_holder(seam: Any) -> None:
    def undo() -> None:
        raise LookupError("lost the scope")

    seam.script(hang())
    closed: list[str] = []
    with pytest.RaisesGroup(pytest.RaisesExc(LookupError, match="lost the scope")):
        async with trio.open_nursery() as nursery:
            run = await seam.start(parent=CarelessParent(nursery, undo))
            with trio.CancelScope(shield=True):
                await run.aclose()
                closed.append((await run.result()).stop_reason)
    assert closed == ["aborted"]


async def test_an_adoption_without_an_undo_is_refused_before_the_backend_is_called(
    seam: Any,
) -> None:
    provider = seam.script(hang())
    async with trio.open_nursery() as nursery:
        with pytest.raises(TypeError, match="adopt of parent 'careless' gave None"):
            await seam.start(parent=CarelessParent(nursery, None))
    assert provider.requests == []


# usage


@pytest.mark.field_case("B172", "B173")
async def test_what_a_child_used_is_told_its_parent_once_before_the_end(seam: Any) -> None:
    """Counted once, for every way to end that has counts, the cut off ones included."""
    used = Usage(input_tokens=9, output_tokens=2)
    seam.script(reply("cut", stop_reason="max_tokens", usage=used))
    result = await seam.service.run("scripted", seam.request())
    assert (result.stop_reason, result.usage) == ("max_tokens", used)
    assert [type(event) for event in seam.parent.events] == [RunStarted, DelegatedUsage, RunEnded]
    (told,) = seam.parent.heard(DelegatedUsage)
    assert told == DelegatedUsage(
        child_id=AgentId("scripted-1"), usage=used, model_requests=0, tool_calls=0
    )


@pytest.mark.field_case("B169")
async def test_usage_is_summed_at_every_level(seam: Any) -> None:
    """Ten tokens each in parent, child and grandchild: the parent's tree has used thirty."""
    ten = Usage(input_tokens=10)

    async def child(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        async with ScriptedParent(id=child_id, depth=1) as agent:
            await seam.service.run("scripted", seam.request(parent=agent))
            below = sum((told.usage for told in agent.heard(DelegatedUsage)), start=Usage())
        return SubagentResult(stop_reason="completed", usage=ten + below)

    seam.script(child, reply(usage=ten))
    result = await seam.service.run("scripted", seam.request())
    assert result.usage == Usage(input_tokens=20)
    told = sum((event.usage for event in seam.parent.heard(DelegatedUsage)), start=Usage())
    assert (ten + told).total_tokens == 30


async def test_a_child_that_breaks_has_still_used_what_it_left(seam: Any) -> None:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        left: Result = SubagentResult(stop_reason="aborted", model_requests=4, tool_calls=1)
        publish(child_id).partial(left)
        raise ValueError

    async with await seam.start(act) as run:
        with pytest.raises(SubagentRunError):
            await run.result()
    (told,) = seam.parent.heard(DelegatedUsage)
    assert (told.usage, told.model_requests, told.tool_calls) == (Usage(), 4, 1)


async def test_nothing_is_told_where_nobody_counted(seam: Any) -> None:
    seam.script(reply())
    await seam.service.run("scripted", seam.request())
    assert seam.parent.heard(DelegatedUsage) == []


# siblings


@pytest.mark.field_case("B128", "B136")
async def test_siblings_share_no_fate_and_no_prompt(seam: Any) -> None:
    """One hangs, one breaks, one answers: each is on its own, and has its own prompt."""
    provider = seam.script(hang(), fail(ValueError("broken")), reply("fine"))
    requests = [seam.request(prompt=str(number)) for number in range(3)]
    stuck, broken, fine = [await seam.service.start("scripted", each) for each in requests]
    async with stuck, broken, fine:
        assert (await fine.result()).text == "fine"
        with pytest.raises(SubagentRunError):
            await broken.result()
        assert repr(stuck).endswith("live>")
    assert [request.text for request in provider.requests] == ["0", "1", "2"]
    ends = {event.child_id: event.stop_reason for event in seam.parent.heard(RunEnded)}
    assert ends == {"scripted-1": "aborted", "scripted-2": "error", "scripted-3": "completed"}


@pytest.mark.field_case("B129")
async def test_a_parent_that_breaks_ends_its_children_before_it_raises(
    autojump_clock: Any,
) -> None:
    """Nothing goes on detached: when the failure is seen, the slow child is gone."""
    service, provider = SubagentService(), ScriptedProvider(linger(5))
    service.register(provider)

    async def fatal_tool() -> None:
        raise ValueError("the tool gave up")

    with pytest.raises(ValueError, match="the tool gave up"):  # noqa: PT012 - the block is it
        async with ScriptedParent() as parent:
            request = SubagentStartRequest(prompt="go", parent=parent)
            async with await service.start("scripted", request):
                await fatal_tool()
    assert (provider.running, trio.current_time()) == (set(), 5)


@pytest.mark.field_case("B131")
async def test_children_of_one_provider_share_nothing(seam: Any) -> None:
    """At once or one after the other, each starts empty and answers its own prompt."""

    async def echo(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        memory = [request.text]
        await trio.lowlevel.checkpoint()
        output = (TextBlock(text=" ".join(memory)),)
        return SubagentResult(stop_reason="completed", output=output)

    seam.script(echo)
    one, two = [
        await seam.service.start("scripted", seam.request(prompt=prompt)) for prompt in "12"
    ]
    async with one, two:
        assert ((await one.result()).text, (await two.result()).text) == ("1", "2")
    later = await seam.service.run("scripted", seam.request(prompt="3"))
    assert later.text == "3"
