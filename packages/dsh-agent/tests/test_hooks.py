"""Hooks: four kinds, two layers."""

from dataclasses import dataclass
from typing import Any

import pytest

from dsh.agent import (
    Agent,
    Filter,
    Guard,
    Hooks,
    HookValueError,
    InactiveScopeError,
    Next,
    Section,
    Stop,
    ToolRegistry,
    UnknownToolError,
    tool,
)


@dataclass(frozen=True)
class Happened:
    what: str


@dataclass(frozen=True)
class HappenedMore(Happened):
    pass


TEXT: Filter[str, None] = Filter("text", accepts=str)
GUARD: Guard[str] = Guard("guard")
STOP: Stop[str] = Stop("stop")


@pytest.mark.guarantee("B-SCOPE-02", "B-SCOPE-03")
def test_a_hosts_listener_hears_all_and_an_agents_only_its_own() -> None:
    """A host's listener hears every agent and the host; an agent's hears that agent alone."""
    host = Hooks()
    one, other = Hooks(host), Hooks(host)
    heard: list[tuple[str, str]] = []
    host.on(Happened, lambda e: heard.append(("host", e.what)))
    one.on(Happened, lambda e: heard.append(("one", e.what)))
    for hooks, what in ((one, "in one"), (other, "in other"), (host, "in host")):
        hooks.dispatch(Happened(what))
    assert heard == [
        ("host", "in one"), ("one", "in one"), ("host", "in other"), ("host", "in host"),
    ]  # fmt: skip


@pytest.mark.guarantee("B-SCOPE-05")
def test_a_childs_events_do_not_reach_its_parents_listeners(host: Any) -> None:
    """An agent's layer lies directly in its host's, so nothing of a child reaches its parent."""
    parent, child = host.agent("parent"), host.agent("child")
    heard: list[Happened] = []
    parent.hooks.on(Happened, heard.append)
    child.hooks.dispatch(Happened("child"))
    assert heard == []


@pytest.mark.guarantee("B-SCOPE-01", "B-SCOPE-09")
async def test_what_is_composed_in_an_agents_layer_holds_at_once_and_there_alone(host: Any) -> None:
    """Whatever is registered with an agent belongs to it, from that very moment on."""
    agent, other = host.agent(), host.agent("b")

    def guard(_: str) -> str:
        return "no"

    agent.hooks.guard(GUARD, guard)
    agent.prompt.register(Section(name="s", text="t"))
    assert agent.hooks.denial(GUARD, "x") == "no"
    assert other.hooks.denial(GUARD, "x") is None
    assert "s" in agent.prompt.sections()
    assert "s" not in other.prompt.sections()


@pytest.mark.guarantee("B-SCOPE-07")
def test_closing_a_layer_undoes_everything_registered_in_it(host: Any) -> None:
    """Closing an agent's layer takes back its listeners, tools, sections, and closes only once."""
    agent: Agent = host.agent()

    @tool
    async def lookup() -> str:
        """Look something up."""
        return ""

    heard: list[object] = []
    agent.hooks.on(Happened, heard.append)
    held = [agent.tools.register(lookup), agent.prompt.register(Section(name="s", text="t"))]
    for _ in range(2):
        agent.tools.close()
        agent.prompt.close()
        agent.hooks.close()
    agent.hooks.dispatch(Happened("late"))
    for registration in held:
        registration.close()
    assert heard == []
    assert agent.tools.visible() == {}
    assert agent.prompt.sections() == {}


@pytest.mark.guarantee("B-SCOPE-08")
def test_registering_in_a_closed_layer_is_refused_and_names_what_was_registered(host: Any) -> None:
    """Registering with an agent that has ended is a typed error that says what was refused."""
    agent: Agent = host.agent()
    agent.hooks.close()
    agent.prompt.close()
    agent.tools.close()
    with pytest.raises(InactiveScopeError, match="Happened") as refused:
        agent.hooks.on(Happened, print)
    assert refused.value.code == "INACTIVE_EFFECT"
    with pytest.raises(InactiveScopeError, match="prompt section 's'"):
        agent.prompt.register(Section(name="s", text=""))
    with pytest.raises(InactiveScopeError, match="restriction"):
        agent.tools.restrict(agent.tools.restriction())


def test_a_listener_hears_exactly_the_class_it_asked_for() -> None:
    hooks, heard = Hooks(), list[Happened]()
    hooks.on(Happened, heard.append)
    hooks.dispatch(HappenedMore("more"))
    assert heard == []


def test_a_raising_listener_is_logged_and_disturbs_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class HostileError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def hostile(_: Happened) -> None:
        raise HostileError

    hooks, heard = Hooks(), list[Happened]()
    hooks.on(Happened, hostile)
    hooks.on(Happened, heard.append)
    hooks.dispatch(Happened("x"))
    assert heard == [Happened("x")]
    assert [r.message for r in caplog.records] == ["a listener of Happened raised"]


def test_an_announcement_lets_the_first_failure_out() -> None:
    def objects(_: Happened) -> None:
        raise ValueError("no")

    hooks, heard = Hooks(), list[Happened]()
    hooks.on(Happened, objects)
    hooks.on(Happened, heard.append)
    with pytest.raises(ValueError, match="no"):
        hooks.announce(Happened("x"))
    assert heard == []


def test_who_registers_or_leaves_during_a_dispatch_counts_from_the_next_one() -> None:
    hooks, heard = Hooks(), list[str]()

    def first(_: Happened) -> None:
        heard.append("first")
        second.close()
        hooks.on(Happened, lambda _: heard.append("third"))

    hooks.on(Happened, first)
    second = hooks.on(Happened, lambda _: heard.append("second"))
    hooks.dispatch(Happened("x"))
    assert heard == ["first", "second"]


def test_one_function_registered_twice_is_two_registrations() -> None:
    hooks, heard = Hooks(), list[Happened]()
    hear = heard.append
    with hooks.on(Happened, hear):
        hooks.on(Happened, hear)
        hooks.dispatch(Happened("both"))
    hooks.dispatch(Happened("one"))
    assert [e.what for e in heard] == ["both", "both", "one"]


@pytest.mark.parametrize("listener", [None, "text"])
def test_a_listener_that_cannot_be_called_is_refused(listener: Any) -> None:
    with pytest.raises(TypeError, match="callable"):
        Hooks().on(Happened, listener)


def test_a_listener_that_would_have_to_be_awaited_is_refused() -> None:
    async def listener(_: Happened) -> None:
        pass

    hooks = Hooks()
    with pytest.raises(TypeError, match="plain function"):
        hooks.on(Happened, listener)
    with pytest.raises(TypeError, match="plain function"):
        hooks.guard(GUARD, listener)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert not hooks.hears(Happened)


def marking(mark: str) -> Any:
    async def listener(value: str, _: None, next: Next[str]) -> str:
        return f"{mark}({await next(value + mark)})"

    return listener


async def test_filters_wrap_the_value_hosts_outermost_first_registered_first() -> None:
    host = Hooks()
    agent = Hooks(host)
    agent.filter(TEXT, marking("c"))
    agent.filter(TEXT, marking("d"))
    host.filter(TEXT, marking("b"))
    host.filter(TEXT, marking("a"), prepend=True)
    assert await agent.run_filter(TEXT, "", None) == "a(b(c(d(abcd))))"


@pytest.mark.parametrize("where", ["returned", "passed on"])
async def test_a_filter_that_gives_nonsense_is_a_typed_error(where: str) -> None:
    async def nonsense(value: str, _: None, next: Next[Any]) -> Any:
        return 5 if where == "returned" else await next(5)

    hooks = Hooks()
    hooks.filter(TEXT, nonsense)
    hooks.filter(TEXT, marking("inner"))
    with pytest.raises(HookValueError, match="'text' gave a int; it must give a str"):
        await hooks.run_filter(TEXT, "value", None)


def test_a_guards_denial_stands_and_abstaining_denies_nothing() -> None:
    hooks = Hooks()
    hooks.guard(GUARD, lambda _: None)
    assert hooks.denial(GUARD, "x") is None
    hooks.guard(GUARD, lambda _: "first")
    hooks.guard(GUARD, lambda _: "second")
    assert hooks.denial(GUARD, "x") == "first"


def test_guards_and_stops_that_give_nonsense_are_typed_errors() -> None:
    def nonsense(_: str) -> Any:
        return 0

    hooks = Hooks()
    hooks.guard(GUARD, nonsense)
    hooks.stop(STOP, nonsense)
    with pytest.raises(HookValueError, match="a reason or None"):
        hooks.denial(GUARD, "x")
    with pytest.raises(HookValueError, match="a bool"):
        hooks.stopped(STOP, "x")


def test_one_stop_is_enough() -> None:
    hooks = Hooks()
    hooks.stop(STOP, lambda _: False)
    assert not hooks.stopped(STOP, "x")
    hooks.stop(STOP, lambda _: True)
    hooks.stop(STOP, lambda _: False)
    assert hooks.stopped(STOP, "x")


def test_a_layer_says_whether_anybody_listens() -> None:
    host = Hooks()
    agent = Hooks(host)
    assert not agent.hears(Happened)
    with host.on(Happened, print):
        assert agent.hears(Happened)
    assert not agent.hears(Happened)


def test_a_registry_of_its_own_needs_no_host() -> None:
    assert ToolRegistry().schemas() is None
    with pytest.raises(UnknownToolError, match="it has: none"):
        raise UnknownToolError(("x",), known=())


def test_points_name_themselves() -> None:
    assert [repr(each) for each in (TEXT, GUARD, STOP)] == [
        "<Filter text>",
        "<Guard guard>",
        "<Stop stop>",
    ]


def test_a_registration_may_be_closed_after_its_layer() -> None:
    hooks = Hooks()
    registration = hooks.on(Happened, print)
    hooks.close()
    registration.close()
    assert not hooks.hears(Happened)
