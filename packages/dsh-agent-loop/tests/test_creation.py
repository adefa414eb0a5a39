"""An agent's beginning: one transaction, published at one moment."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any, cast

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from dsh.agent import (
    Agent,
    AgentCreated,
    AgentCreationCancelledError,
    AgentDisposed,
    AgentDisposedError,
    AgentFactory,
    AgentHandle,
    AgentId,
    AgentRegistry,
    AgentSpec,
    DuplicateAgentError,
    DuplicateAgentFactoryError,
    InactiveScopeError,
    InvalidAgentOptionsError,
    ManagedAgent,
    NoAgentFactoryError,
    Section,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SessionSink,
    Tool,
    ToolExecution,
    ToolResult,
    ToolsChanged,
    TurnStarted,
    UserMessage,
)
from dsh.agent.testing import ScriptedModel, completed_turn, say
from dsh.agent_loop import Host, OpenedHost, open_host

Follow = Callable[..., ScriptedModel]


@pytest.mark.guarantee("B-AGT-01")
async def test_a_registry_without_a_loop_creates_nothing_and_takes_one_loop_only() -> None:
    """Creating needs exactly one installed factory: none and a second are both refused."""
    registry = AgentRegistry()
    with pytest.raises(NoAgentFactoryError, match="open a host"):
        await registry.create(AgentSpec())
    with pytest.raises(NoAgentFactoryError):
        async with registry.open(AgentSpec()):
            pass
    other = OpenedHost(Host(AgentSpec().options, None))
    async with open_host() as host:
        with pytest.raises(DuplicateAgentFactoryError):
            host.agents.set_factory(other)
    with pytest.raises(NoAgentFactoryError):
        await host.agents.create(AgentSpec())


async def test_a_setup_without_anything_to_wait_for_may_be_a_plain_function(host: Host) -> None:
    def setup(agent: Agent) -> None:
        assert host.agents.list() == ()
        agent.prompt.register(Section(name="mine", text="hello"))

    async with host.agents.open(AgentSpec(setup=setup)) as agent:
        assert set(agent.prompt.sections()) == {"mine"}


@pytest.mark.guarantee("B-AGT-02", "B-AGT-04")
async def test_nobody_sees_an_agent_before_it_is_composed(host: Host, script: Follow) -> None:
    """Setup runs on an agent no registry lists and no event names; then it appears, announced."""
    script(say("hello"))
    order: list[str] = []
    host.hooks.on(AgentCreated, lambda event: order.append(f"created {event.agent.id}"))

    async def setup(agent: Agent) -> None:
        assert host.agents.get(agent.id) is None
        assert host.agents.list() == ()
        await trio.lowlevel.checkpoint()
        order.append(f"set up {agent.id}")

    spec = AgentSpec(id=AgentId("a"), setup=setup)
    async with host.agents.open(spec) as agent:
        assert host.agents.get(agent.id) is agent
        agent.send("hi")
        await agent.wait_idle()
        order.append(agent.status)
    assert order == ["set up a", "created a", "idle"]
    assert host.agents.list() == ()


@pytest.mark.guarantee("B-AGT-05", "B-AGT-09")
@pytest.mark.field_case("B123")
async def test_a_setup_that_raises_leaves_nothing_and_its_error_comes_bare(host: Host) -> None:
    """A failed composition undoes the agent, unheard of by anybody, and its id stays free."""
    heard: list[object] = []
    host.hooks.on(AgentCreated, heard.append)
    host.hooks.on(AgentDisposed, heard.append)

    async def setup(agent: Agent) -> None:
        raise LookupError("no such persona")

    spec = AgentSpec(id=AgentId("a"), setup=setup)
    for _ in range(5):
        with pytest.raises(LookupError, match="no such persona"):
            await host.agents.create(spec)
        with pytest.raises(LookupError, match="no such persona"):
            async with host.agents.open(spec):
                pass
    assert heard == []
    async with host.agents.open(replace(spec, setup=None)) as agent:
        assert host.agents.list() == (agent,)
    assert [type(event) for event in heard] == [AgentCreated, AgentDisposed]


async def _never(agent: Agent) -> None:
    await trio.sleep_forever()


@pytest.mark.guarantee("B-AGT-06")
async def test_a_setup_that_never_ends_can_be_cancelled_by_the_caller(host: Host) -> None:
    """Whoever waits for a creation can give it up; nothing of it stays."""
    async with trio.open_nursery() as outer:
        scope = outer.cancel_scope
        async with trio.open_nursery() as nursery:
            nursery.start_soon(host.agents.create, AgentSpec(setup=_never))
            await wait_all_tasks_blocked()
            scope.cancel()
    assert host.agents.list() == ()


@pytest.mark.guarantee("B-AGT-03", "B-AGT-06", "B-AGT-08")
@pytest.mark.field_case("B113")
async def test_a_setup_ends_when_its_host_or_its_parent_does(no_leaks: None) -> None:
    """A creation cannot outlast its owner: it ends with an error that names the agent."""
    refused: list[AgentCreationCancelledError] = []

    async def create(host: Host, id: str, parent: Agent | None = None) -> None:
        with pytest.raises(AgentCreationCancelledError, match=id) as caught:
            await host.agents.create(AgentSpec(id=AgentId(id), parent=parent, setup=_never))
        refused.append(caught.value)

    async with trio.open_nursery() as nursery, open_host() as host:
        handle = await host.agents.create(AgentSpec())
        nursery.start_soon(create, host, "child", handle.agent)
        await wait_all_tasks_blocked()
        await handle.aclose()
        await wait_all_tasks_blocked()
        assert [error.id for error in refused] == ["child"]
        with pytest.raises(AgentDisposedError):
            await host.agents.create(AgentSpec(parent=handle.agent))
        nursery.start_soon(create, host, "orphan")
        await wait_all_tasks_blocked()
    assert [error.id for error in refused] == ["child", "orphan"]


@pytest.mark.guarantee("B-AGT-07")
async def test_what_cancels_a_creation_does_not_end_the_agent_later(host: Host) -> None:
    """Once its handle is there, an agent no longer depends on the scope it was created in."""
    scope = trio.CancelScope()
    handles: list[AgentHandle] = []
    with scope:
        handles.append(await host.agents.create(AgentSpec()))
    scope.cancel()
    (handle,) = handles
    await trio.testing.wait_all_tasks_blocked()
    assert handle.agent.status == "idle"
    assert host.agents.list() == (handle.agent,)


async def test_a_creation_cancelled_in_its_last_moment_leaves_no_agent(host: Host) -> None:
    heard: list[object] = []
    host.hooks.on(AgentCreated, heard.append)
    with trio.CancelScope() as scope:
        scope.cancel()
        await host.agents.create(AgentSpec())
    assert scope.cancelled_caught
    assert heard == []
    assert host.agents.list() == ()


class NoRoom:
    """A store that takes no log."""

    def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> SessionSink:
        raise OSError("disk full")


@pytest.mark.parametrize("form", ["create", "open"])
@pytest.mark.parametrize("why", ["raises", "is cancelled", "loses its id", "has no store", "late"])
@pytest.mark.guarantee("B-AGT-05", "B-SCOPE-07")
async def test_whatever_fails_a_creation_undoes_what_was_composed(form: str, why: str) -> None:
    """A creation that comes to nothing, at whatever point, takes back every registration of its
    setup and leaves layers that refuse more."""
    agents: list[Agent] = []
    changes: list[tuple[str, bool]] = []
    scope = trio.CancelScope()

    def own(*, final: bool = False) -> Tool:
        return Tool(
            name="own",
            description="o",
            parameters={"type": "object"},
            execute=_unused,
            owner_final=final,
        )

    async def setup(agent: Agent) -> None:
        agents.append(agent)
        agent.tools.register(own())
        agent.prompt.register(Section(name="own", text="t"))
        if why == "raises":
            raise LookupError
        if why == "loses its id":
            winner = await host.agents.create(AgentSpec(id=AgentId("a")))
            stack.push_async_callback(winner.aclose)
        if why in ("is cancelled", "late"):
            scope.cancel()
        if why == "is cancelled":
            await trio.lowlevel.checkpoint()

    spec = AgentSpec(id=AgentId("a"), setup=setup)
    sessions = NoRoom() if why == "has no store" else None
    async with open_host(sessions=sessions) as host, AsyncExitStack() as stack:
        host.hooks.on(ToolsChanged, lambda event: changes.append((event.name, event.registered)))
        with scope, suppress(LookupError, OSError, DuplicateAgentError):
            if form == "create":
                handle = await host.agents.create(spec)
                await handle.aclose()
            else:
                async with host.agents.open(spec):
                    await trio.lowlevel.checkpoint()
        assert changes == [("own", True), ("own", False)]
        host.tools.register(own(final=True))
        for layer in (agents[0].tools, agents[0].prompt):
            assert layer.own() == {}
        with pytest.raises(InactiveScopeError):
            agents[0].tools.register(own())
        with pytest.raises(InactiveScopeError):
            agents[0].hooks.on(ToolsChanged, print)


async def _unused(execution: ToolExecution) -> ToolResult:
    raise NotImplementedError


@pytest.mark.parametrize("form", ["create", "open"])
async def test_an_exit_by_whoever_hears_of_a_creation_leaves_no_agent(form: str) -> None:
    hosts: list[Host] = []

    def leave(created: AgentCreated) -> None:
        raise SystemExit(3)

    async def run() -> None:
        async with open_host() as host:
            hosts.append(host)
            host.hooks.on(AgentCreated, leave)
            if form == "create":
                await host.agents.create(AgentSpec())
            else:
                async with host.agents.open(AgentSpec()):
                    pass

    with pytest.raises(SystemExit):
        await run()
    assert hosts[0].agents.list() == ()


class Quiet:
    """An agent that, left with an error, lets that go on and raises none of its own."""

    def __init__(self, agent: ManagedAgent) -> None:
        self._agent = agent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    async def __aenter__(self) -> Agent:
        return await self._agent.__aenter__()

    async def __aexit__(self, *exc: object) -> None:
        await self._agent.__aexit__(None, None, None)


class QuietFactory:
    """A loop that is not the one of the family."""

    def __init__(self, factory: AgentFactory) -> None:
        self._factory = factory
        self.nursery = factory.nursery

    def build(self, spec: AgentSpec, /) -> ManagedAgent:
        return cast("ManagedAgent", Quiet(self._factory.build(spec)))


async def test_so_it_does_whatever_loop_made_the_agent() -> None:
    def leave(created: AgentCreated) -> None:
        raise SystemExit(3)

    opened = open_host()
    registry = AgentRegistry()
    async with opened as host:
        host.hooks.on(AgentCreated, leave)
        registry.set_factory(QuietFactory(opened))
        with pytest.raises(SystemExit):
            async with registry.open(AgentSpec()):
                raise AssertionError("it was entered")
        assert registry.list() == ()


class Interrupted:
    """A store in which two things go wrong at once, one of them Ctrl-C."""

    def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> SessionSink:
        raise BaseExceptionGroup("both", [KeyboardInterrupt(), OSError("disk full")])


@pytest.mark.parametrize("form", ["create", "open"])
async def test_a_group_that_fails_a_creation_comes_as_it_was_raised(
    form: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_host(sessions=Interrupted()) as host:
        with pytest.RaisesGroup(KeyboardInterrupt, OSError, match="both"):
            if form == "create":
                await host.agents.create(AgentSpec())
            else:
                async with host.agents.open(AgentSpec()):
                    pass
        assert host.agents.list() == ()
    assert caplog.records == []


@pytest.mark.guarantee("B-AGT-11", "B-AGT-15")
async def test_of_two_creations_for_one_id_the_first_to_be_composed_wins(host: Host) -> None:
    """One id is one live agent: the slower creation is refused, and the id is free afterwards."""
    slow = trio.Event()
    refused = trio.Event()

    async def setup(agent: Agent) -> None:
        await slow.wait()

    async def lose() -> None:
        with pytest.raises(DuplicateAgentError, match="'a' is alive"):
            await host.agents.create(AgentSpec(id=AgentId("a"), setup=setup))
        refused.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lose)
        await wait_all_tasks_blocked()
        handle = await host.agents.create(AgentSpec(id=AgentId("a")))
        slow.set()
        await refused.wait()
        assert host.agents.list() == (handle.agent,)
        with pytest.raises(DuplicateAgentError):
            async with host.agents.open(AgentSpec(id=AgentId("a"))):
                pass
        await handle.aclose()
    async with host.agents.open(AgentSpec(id=AgentId("a"))) as again:
        assert host.agents.get(AgentId("a")) is again


@pytest.mark.guarantee("B-AGT-16", "B-AGT-17")
async def test_a_seed_is_inherited_and_turns_go_on_counting(host: Host, script: Follow) -> None:
    """A seeded agent starts from the given log, and numbers its turns after it."""
    model = script(say("first"), say("second"))
    async with host.agents.open(AgentSpec()) as parent:
        parent.send("one")
        await parent.wait_idle()
    seed = parent.session.completed_prefix()
    assert seed is not None
    for given in (seed, tuple(seed.events)):
        async with host.agents.open(AgentSpec(seed=given, parent=None)) as child:
            assert child.session.header.seed_length == len(seed.events)
            assert child.session.turns == 1
    async with host.agents.open(AgentSpec(seed=seed)) as child:
        child.send("two")
        await child.wait_idle()
    started = [e.turn for e in child.session.own_events if isinstance(e, TurnStarted)]
    assert started == [2]
    assert [m.role for m in model.requests[-1].messages] == ["user", "assistant", "user"]


@pytest.mark.guarantee("B-AGT-16")
async def test_a_log_can_be_gone_on_with(host: Host, script: Follow) -> None:
    """An agent made with an existing log appends to that very log, under the log's id."""
    script(say("again"))
    header = SessionHeader(id=SessionId("kept"), cwd="/srv")
    session = Session.resumed(header, completed_turn(1))
    async with host.agents.open(AgentSpec(session=session)) as agent:
        assert (agent.id, agent.cwd) == ("kept", "/srv")
        agent.send("more")
        await agent.wait_idle()
    assert agent.session is session
    assert len([e for e in session.events if isinstance(e, UserMessage)]) == 2
    with pytest.raises(InvalidAgentOptionsError, match="one of the two"):
        AgentSpec(session=session, seed=())


async def test_a_child_made_with_create_lives_in_its_parents_nursery(host: Host) -> None:
    parent = await host.agents.create(AgentSpec(cwd="/srv"))
    child = await host.agents.create(AgentSpec(parent=parent.agent))
    assert child.agent.session.header.parent_session == parent.agent.session.header.id
    assert len(parent.agent.nursery.child_tasks) == 1
    await parent.aclose()
    assert child.agent.status == "disposed"
    assert host.agents.list() == ()


async def test_an_agent_that_is_being_composed_has_no_nursery_yet(host: Host) -> None:
    async def setup(agent: Agent) -> None:
        await trio.lowlevel.checkpoint()
        assert agent.nursery

    with pytest.raises(AgentDisposedError):
        await host.agents.create(AgentSpec(setup=setup))


async def test_a_log_that_was_handed_in_stays_open_when_a_setup_fails(host: Host) -> None:
    session = Session(SessionHeader(id=SessionId("kept")))

    async def setup(agent: Agent) -> None:
        await trio.lowlevel.checkpoint()
        raise LookupError("no such persona")

    with pytest.raises(LookupError):
        await host.agents.create(AgentSpec(session=session, setup=setup))
    assert session.append(TurnStarted(turn=1)) == 0
    await session.aclose()
