"""An agent's end: everything below it first, to quiescence, once."""

import logging
from collections.abc import Callable
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from dsh.agent import (
    Agent,
    AgentDisposed,
    AgentDisposedError,
    AgentHandle,
    AgentOptions,
    AgentSpec,
    AgentStatusChanged,
    EventLogged,
    InactiveScopeError,
    Section,
    SelfWaitError,
    Tool,
    ToolExecution,
    ToolResult,
    ToolsChanged,
)
from dsh.agent.testing import ScriptedModel, call, hang, say
from dsh.agent_loop import Host, open_host

Follow = Callable[..., ScriptedModel]
Ends = Callable[[Agent], list[tuple[str, str | None]]]


@pytest.mark.guarantee("B-AGT-13", "B-AGT-14")
async def test_whoever_closes_an_agent_returns_at_its_one_end(host: Host, script: Follow) -> None:
    """Closing again, or from several tasks, waits for one and the same end, in which the driver
    stops first and the registry forgets the agent last."""
    script(hang())
    order: list[str] = []
    handle = await host.agents.create(AgentSpec())
    agent = handle.agent

    async def slow() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.lowlevel.checkpoint()
            order.append(f"child ended, listed: {agent in host.agents.list()}")

    async def close() -> None:
        await handle.aclose()
        order.append("closed")

    agent.hooks.on(AgentDisposed, lambda event: order.append("disposed"))
    agent.nursery.start_soon(slow)
    agent.send("work")
    await wait_all_tasks_blocked()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(close)
        nursery.start_soon(close)
    await handle.aclose()
    assert order == ["child ended, listed: True", "disposed", "closed", "closed"]
    assert host.agents.list() == ()


async def test_closing_is_not_called_off_by_the_caller_being_cancelled(host: Host) -> None:
    handle = await host.agents.create(AgentSpec())
    with trio.CancelScope() as scope:
        scope.cancel()
        await handle.aclose()
    assert host.agents.list() == ()
    assert repr(handle) == f"<AgentHandle {handle.agent.id}: disposed>"


@pytest.mark.guarantee("B-AGT-47")
async def test_a_turn_cut_by_its_agents_end_says_so(host: Host, script: Follow, ends: Ends) -> None:
    """A turn during which its agent was closed ends as disposed, with the reason."""
    script(hang())
    async with await host.agents.create(AgentSpec()) as agent:
        agent.send("work")
        await wait_all_tasks_blocked()
    assert ends(agent) == [("disposed", "the agent was closed")]


@pytest.mark.guarantee("B-AGT-47")
@pytest.mark.parametrize("which", ["its handle", "its parent", "its host"])
async def test_a_served_turn_cut_by_any_end_is_disposed_and_by_cancel_aborted(
    no_leaks: None, ends: Ends, which: str
) -> None:
    """However the end of a served agent comes about, its open turn says that it was disposed; only
    a turn that was cancelled for itself says aborted, even if the agent ends in that moment."""
    async with open_host(options=AgentOptions(model="scripted")) as host:
        host.models.register(ScriptedModel(hang(), hang()), "scripted")
        parent = await host.agents.create(AgentSpec())
        cut = await host.agents.create(AgentSpec(parent=parent.agent))
        cancelled = await host.agents.create(AgentSpec(parent=parent.agent))
        for handle in (cut, cancelled):
            handle.agent.send("work")
        await wait_all_tasks_blocked()
        cancelled.agent.cancel("enough")
        if which == "its handle":
            await cut.aclose()
        elif which == "its parent":
            await parent.aclose()
    assert [reason for reason, _ in ends(cut.agent)] == ["disposed"]
    assert ends(cancelled.agent) == [("aborted", "enough")]


@pytest.mark.parametrize("composed", [True, False])
@pytest.mark.guarantee("B-SCOPE-07", "B-SCOPE-08")
async def test_an_agents_layers_close_when_its_end_was_told(host: Host, composed: bool) -> None:
    """An agent's own listeners hear of its end; then its layers take nothing any more, those it
    never had included."""
    told: list[object] = []
    tool = Tool(name="own", description="o", parameters={"type": "object"}, execute=_never)
    async with host.agents.open(AgentSpec()) as agent:
        if composed:
            agent.hooks.on(AgentDisposed, told.append)
            agent.hooks.on(ToolsChanged, told.append)
            agent.tools.register(tool)
            told.clear()
    if composed:
        assert told == [AgentDisposed(agent=agent), ToolsChanged(name="own", registered=False)]
    register: list[Callable[[], object]] = [
        partial(agent.hooks.on, AgentDisposed, told.append),
        partial(agent.tools.register, tool),
        partial(agent.prompt.register, Section(name="s", text="")),
    ]
    for refused in register:
        with pytest.raises(InactiveScopeError):
            refused()
    assert agent.hooks.listeners == ()


async def _never(execution: ToolExecution) -> ToolResult:
    raise NotImplementedError


async def test_a_scope_it_adopted_is_cancelled_as_soon_as_it_begins_to_end(host: Host) -> None:
    shielded, free = trio.CancelScope(shield=True), trio.CancelScope()
    handle = await host.agents.create(AgentSpec())
    handle.agent.adopt(shielded)
    handle.agent.adopt(free)()
    await handle.aclose()
    assert shielded.cancel_called
    assert not free.cancel_called
    with pytest.raises(AgentDisposedError):
        handle.agent.adopt(trio.CancelScope())


async def test_an_ended_agent_refuses_everything_that_is_said_to_it(host: Host) -> None:
    async with host.agents.open(AgentSpec()) as agent:
        pass
    say_to: list[Callable[[str], None]] = [
        agent.send,
        agent.steer,
        partial(agent.inject, source="test"),
    ]
    for refused in say_to:
        with pytest.raises(AgentDisposedError, match="has ended"):
            refused("hello")
    agent.cancel()
    await agent.wait_idle()
    assert agent.status == "disposed"


async def test_waiting_for_itself_is_refused_at_once(
    host: Host, script: Follow, offer: Callable[..., None]
) -> None:
    script(call("end"), say("done"), call("end"), say("done"))
    refused: list[str] = []
    waits: list[Callable[[], object]] = []

    async def end(execution: ToolExecution) -> str:
        assert execution.agent is not None
        for wait in (execution.agent.wait_idle, *waits):
            with pytest.raises(SelfWaitError) as caught:
                await wait()  # type: ignore[misc]
            refused.append(caught.value.code)

            async def below() -> None:
                with pytest.raises(SelfWaitError):
                    await wait()  # type: ignore[misc]  # noqa: B023

            async with trio.open_nursery() as nursery:
                nursery.start_soon(below)
        return "ended"

    offer("end", end)
    async with host.agents.open(AgentSpec()) as opened:
        opened.send("go")
        await opened.wait_idle()
    handle = await host.agents.create(AgentSpec())
    waits.append(handle.aclose)
    handle.agent.send("go")
    await handle.agent.wait_idle()
    assert refused == ["SELF_WAIT"] * 3


async def test_a_task_beside_the_turn_may_wait_for_it(host: Host, script: Follow) -> None:
    script(hang(), say("second"))
    done: list[str] = []

    async def wait(agent: Agent) -> None:
        await agent.wait_idle()
        done.append(agent.status)

    async with host.agents.open(AgentSpec()) as agent, trio.open_nursery() as nursery:
        agent.send("go")
        nursery.start_soon(wait, agent)
        nursery.start_soon(wait, agent)
        await wait_all_tasks_blocked()
        agent.cancel()
    assert done == ["idle", "idle"]


@pytest.mark.field_case("B132")
async def test_two_tasks_that_drive_one_agent_take_turns(
    host: Host, script: Follow, ends: Ends
) -> None:
    script(say("one"), say("two"))

    async def ask(agent: Agent, text: str) -> None:
        agent.send(text)
        await agent.wait_idle()

    async with host.agents.open(AgentSpec()) as agent, trio.open_nursery() as nursery:
        nursery.start_soon(ask, agent, "first")
        await trio.lowlevel.checkpoint()
        nursery.start_soon(ask, agent, "second")
    assert {reason for reason, _ in ends(agent)} == {"completed"}


async def test_a_turn_that_a_strangers_task_runs_ends_with_the_agent(
    host: Host, script: Follow, ends: Ends
) -> None:
    script(hang())
    async with trio.open_nursery() as nursery, host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        nursery.start_soon(agent.wait_idle)
        await wait_all_tasks_blocked()
    assert ends(agent) == [("disposed", "the agent was closed")]


async def test_a_crash_ends_the_agent_and_nobody_else(
    host: Host, script: Follow, ends: Ends, caplog: pytest.LogCaptureFixture
) -> None:
    script(hang())
    handle = await host.agents.create(AgentSpec())
    other = await host.agents.create(AgentSpec())
    adopted = trio.CancelScope()
    handle.agent.adopt(adopted)

    async def crash() -> None:
        raise LookupError("lost the plot")

    handle.agent.send("work")
    await wait_all_tasks_blocked()
    with caplog.at_level(logging.ERROR, "dsh.agent"):
        handle.agent.nursery.start_soon(crash)
        await handle.agent.wait_idle()
    assert "crashed" in caplog.text
    assert "lost the plot" in caplog.text
    assert handle.agent.status == "disposed"
    assert adopted.cancel_called
    assert ends(handle.agent) == [("disposed", "the agent ended")]
    assert host.agents.list() == (other.agent,)
    await handle.aclose()


async def run_until_both(first: BaseException, second: BaseException) -> None:
    """A host with an agent in which two tasks raise at once."""

    async def leave(error: BaseException) -> None:
        raise error

    async with open_host() as host:
        nursery = (await host.agents.create(AgentSpec())).agent.nursery
        nursery.start_soon(leave, first)
        nursery.start_soon(leave, second)
        await trio.sleep_forever()


async def test_a_crash_is_logged_and_what_ends_the_program_beside_it_goes_on(
    no_leaks: None, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(KeyboardInterrupt):
        await run_until_both(KeyboardInterrupt(), LookupError("lost the plot"))
    (record,) = caplog.records
    assert (record.levelno, record.getMessage()[-7:]) == (logging.ERROR, "crashed")
    assert "lost the plot" in caplog.text


async def test_what_ends_the_program_twice_is_no_crash(
    no_leaks: None, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.RaisesGroup(KeyboardInterrupt, SystemExit, flatten_subgroups=True):
        await run_until_both(KeyboardInterrupt(), SystemExit(3))
    assert caplog.records == []


async def test_a_crash_of_an_opened_agent_reaches_its_opener_bare(host: Host) -> None:
    async def crash() -> None:
        raise LookupError("lost the plot")

    async def run(error: Exception | None) -> None:
        async with host.agents.open(AgentSpec()) as agent:
            if error is not None:
                raise error
            agent.nursery.start_soon(crash)
            await trio.sleep_forever()

    with pytest.raises(LookupError, match="lost the plot"):
        await run(None)
    with pytest.raises(KeyError, match="mine"):
        await run(KeyError("mine"))
    assert host.agents.list() == ()


async def test_leaving_the_host_ends_its_agents_and_bares_its_error(no_leaks: None) -> None:
    statuses: list[str] = []
    hosts: list[Host] = []

    async def run() -> None:
        async with open_host() as host:
            hosts.append(host)
            host.hooks.on(AgentStatusChanged, lambda event: statuses.append(event.status))
            await host.agents.create(AgentSpec())
            await host.agents.create(AgentSpec())
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await run()
    assert statuses == ["disposed", "disposed"]
    assert hosts[0].agents.list() == ()


@pytest.mark.parametrize("own_task", [True, False], ids=["created", "opened"])
@pytest.mark.parametrize("status", ["running", "idle", "disposed"])
async def test_a_listener_that_ends_the_program_holds_up_no_end(
    no_leaks: None, status: str, own_task: bool
) -> None:
    hosts: list[Host] = []
    ended: list[str] = []

    def leave(event: AgentStatusChanged) -> None:
        if event.status == status:
            raise SystemExit(3)

    async def child() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("child")

    async def serve(agent: Agent) -> None:
        agent.nursery.start_soon(child)
        await wait_all_tasks_blocked()
        agent.send("work")
        await agent.wait_idle()

    async def run() -> None:
        async with open_host(options=AgentOptions(model="scripted")) as host:
            hosts.append(host)
            host.models.register(ScriptedModel(say("done")), "scripted")
            host.hooks.on(AgentStatusChanged, leave)
            if own_task:
                async with await host.agents.create(AgentSpec()) as agent:
                    await serve(agent)
            else:
                async with host.agents.open(AgentSpec()) as agent:
                    await serve(agent)

    with trio.fail_after(10), pytest.raises(SystemExit):
        await run()
    assert ended == ["child"]
    assert hosts[0].agents.list() == ()


async def test_nothing_registers_with_a_host_that_has_closed(no_leaks: None) -> None:
    async def work(_: ToolExecution) -> ToolResult:
        return ToolResult(content=())

    tool = Tool(name="work", description="Works.", parameters={"type": "object"}, execute=work)
    heard: list[str] = []
    async with open_host() as host:
        registration = host.tools.register(tool)
        host.hooks.on(ToolsChanged, lambda event: heard.append(event.name))
    assert (dict(host.tools.visible()), heard) == ({}, ["work"])
    registration.close()
    with pytest.raises(InactiveScopeError):
        host.tools.register(tool)
    with pytest.raises(InactiveScopeError):
        host.prompt.register(Section(name="a", text="b"))
    with pytest.raises(InactiveScopeError):
        host.hooks.on(ToolsChanged, print)


async def test_two_errors_leave_the_host_together(no_leaks: None) -> None:
    async def crash() -> None:
        raise KeyboardInterrupt

    async def run() -> None:
        async with open_host() as host:
            handle = await host.agents.create(AgentSpec())
            handle.agent.nursery.start_soon(crash)
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
            raise LookupError

    with pytest.RaisesGroup(KeyboardInterrupt, LookupError):
        await run()


async def test_an_agent_that_ends_with_an_unflushed_log_does_not_spin(host: Host) -> None:
    handle = await host.agents.create(AgentSpec())
    await wait_all_tasks_blocked()
    handle.agent.inject("context", source="test")
    with trio.fail_after(5):
        await handle.aclose()
    assert handle.agent.session.turns == 1


@pytest.mark.field_case("B231")
async def test_an_agent_may_be_watched_and_closed_from_different_tasks(
    host: Host, script: Follow
) -> None:
    script(say("one"), hang())
    handles: list[AgentHandle] = []
    heard: list[object] = []

    async def make() -> None:
        handles.append(await host.agents.create(AgentSpec()))

    async def watch() -> None:
        (handle,) = handles
        with handle.agent.hooks.on(EventLogged, heard.append):
            handle.agent.send("go")
            await handle.agent.wait_idle()
        handle.agent.send("on, unheard")

    for task in (make, watch, lambda: handles[0].aclose()):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(task)
    assert 0 < len(heard) < len(handles[0].agent.session.events)
    assert host.agents.list() == ()
