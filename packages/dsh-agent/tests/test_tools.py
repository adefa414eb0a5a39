"""The tool registry: layers, shadowing, restrictions, order."""

import logging
from typing import Any

import pytest

from dsh.agent import (
    UNLISTED_TOOLS,
    UNRESTRICTED,
    DuplicateToolError,
    EmptyToolFilterError,
    InactiveScopeError,
    InvalidToolError,
    OwnerFinalError,
    Tool,
    ToolExecution,
    ToolFilter,
    ToolOrderError,
    ToolRegistry,
    ToolRestriction,
    ToolResult,
    ToolsChanged,
    UnknownToolError,
)


async def nothing(_: ToolExecution) -> ToolResult:
    return ToolResult(content=())


def a_tool(name: str, **options: Any) -> Tool:
    given: dict[str, Any] = {
        "description": f"does {name}",
        "parameters": {"type": "object"},
        "execute": nothing,
    }
    return Tool(name=name, **given | options)


def offered(agent: Any) -> list[str]:
    """What the prompt offers, which is also all that can be called."""
    names = [schema.name for schema in agent.tools.schemas() or ()]
    assert sorted(names) == sorted(agent.tools.visible())
    return names


@pytest.mark.guarantee("B-TOOL-01")
def test_closing_a_registration_takes_the_tool_back(host: Any) -> None:
    """A tool is there until its registration is closed or the layer it was made in ends."""
    with host.tools.register(a_tool("read")):
        assert offered(host) == ["read"]
    assert offered(host) == []
    agent = host.agent()
    agent.tools.register(a_tool("own"))
    agent.tools.close()
    assert offered(agent) == []


@pytest.mark.guarantee("B-TOOL-02")
def test_an_agents_tool_is_that_agents_only(host: Any) -> None:
    """A tool registered with the host is every agent's, one registered with an agent its own."""
    agent, other = host.agent(), host.agent("b")
    host.tools.register(a_tool("read"))
    agent.tools.register(a_tool("own"))
    assert offered(agent) == ["own", "read"]
    assert offered(other) == offered(host) == ["read"]


@pytest.mark.guarantee("B-TOOL-03")
def test_a_name_twice_in_one_layer_is_refused(host: Any) -> None:
    """A second tool of one name is refused, and a host's refusal points at the agent's layer."""
    first = a_tool("read")
    host.tools.register(first)
    agent = host.agent()
    agent.tools.register(a_tool("own"))
    with pytest.raises(DuplicateToolError, match="register with that agent instead"):
        host.tools.register(a_tool("read"))
    with pytest.raises(DuplicateToolError, match=r"the agent already has a tool named 'own'$"):
        agent.tools.register(a_tool("own"))
    assert host.tools.visible()["read"] is first


@pytest.mark.parametrize("order", ["host first", "agent first"])
@pytest.mark.guarantee("B-TOOL-04")
def test_an_agents_tool_shadows_the_hosts_until_it_goes(host: Any, order: str) -> None:
    """An agent's tool stands in front of its host's namesake, whichever came first."""
    agent, hosts, own = host.agent(), a_tool("read"), a_tool("read")
    if order == "host first":
        host.tools.register(hosts)
    registration = agent.tools.register(own)
    if order == "agent first":
        host.tools.register(hosts)
    assert agent.tools.visible()["read"] is own
    assert host.agent("b").tools.visible()["read"] is hosts
    registration.close()
    assert agent.tools.visible()["read"] is hosts


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
@pytest.mark.guarantee("B-TOOL-05")
def test_a_timeout_must_be_positive_and_finite(timeout: float) -> None:
    """A tool whose timeout is no positive, finite number of seconds cannot be made."""
    with pytest.raises(InvalidToolError, match="'read' needs a timeout"):
        a_tool("read", timeout=timeout)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "two words"},
        {"name": "x" * 65},
        {"description": " "},
        {"execute": None},
        {"parameters": {"type": "array"}},
        {"parameters": {"type": "object", "default": object()}},
        {"guidance_order": float("nan")},
    ],
)
def test_a_tool_that_no_model_could_be_offered_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidToolError, match="needs"):
        a_tool(**{"name": "read"} | wrong)


def test_only_tools_can_be_registered(host: Any) -> None:
    with pytest.raises(TypeError, match="must be a Tool, not a str"):
        host.tools.register("read")


@pytest.mark.guarantee("B-TOOL-06")
def test_an_owner_final_tool_of_the_host_is_never_shadowed(host: Any) -> None:
    """A host's owner-final tool cannot be shadowed, nor registered where it is already."""
    agent = host.agent()
    hosts = host.tools.register(a_tool("final", owner_final=True))
    with pytest.raises(OwnerFinalError, match="the host's is owner-final"):
        agent.tools.register(a_tool("final"))
    hosts.close()
    own = agent.tools.register(a_tool("final"))
    with pytest.raises(OwnerFinalError, match="an agent already has one"):
        host.tools.register(a_tool("final", owner_final=True))
    assert offered(host) == []
    own.close()
    host.tools.register(a_tool("final", owner_final=True))


@pytest.mark.guarantee("B-TOOL-07")
def test_changes_are_announced_and_an_objection_undoes_a_registration(host: Any) -> None:
    """Every change of a layer is announced, and a listener that raises undoes a registration."""
    heard: list[tuple[str, bool]] = []
    agent = host.agent()

    def hear(event: ToolsChanged) -> None:
        heard.append((event.name, event.registered))

    host.hooks.on(ToolsChanged, hear)
    host.tools.register(a_tool("read")).close()
    agent.tools.register(a_tool("own")).close()
    assert heard == [("read", True), ("read", False), ("own", True), ("own", False)]

    def objects(event: ToolsChanged) -> None:
        if event.registered:
            raise ValueError("not this one")

    host.hooks.on(ToolsChanged, objects)
    with pytest.raises(ValueError, match="not this one"):
        host.tools.register(a_tool("write"))
    assert offered(host) == []
    assert heard[-1] == ("write", False)


def test_a_listener_that_raises_when_a_tool_goes_is_logged(
    host: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(event: ToolsChanged) -> None:
        if not event.registered:
            raise ValueError

    host.hooks.on(ToolsChanged, fails)
    host.tools.register(a_tool("read")).close()
    assert offered(host) == []
    assert [r.message for r in caplog.records] == ["a listener of ToolsChanged raised"]


@pytest.mark.guarantee("B-TOOL-08")
def test_what_a_model_is_shown_is_detached_and_frozen(host: Any) -> None:
    """A tool's schema is its name, description and parameters, and nobody can change them."""
    parameters: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    host.tools.register(a_tool("read", parameters=parameters, timeout=5, owner_final=True))
    parameters["properties"]["b"] = {}
    (schema,) = host.tools.schemas()
    assert (schema.name, schema.description) == ("read", "does read")
    assert schema.parameters == {"type": "object", "properties": {"a": {"type": "string"}}}
    with pytest.raises(TypeError):
        schema.parameters["type"] = "array"
    assert sorted(schema.__slots__) == ["description", "name", "parameters"]


@pytest.mark.guarantee("B-TOOL-09")
def test_a_layer_leaves_nothing_behind_in_its_host(host: Any) -> None:
    """Once an agent's last tool is gone, its host remembers nothing of it."""
    agent = host.agent()
    host.tools.register(a_tool("read"))
    agent.tools.register(a_tool("own"))
    agent.tools.restrict(ToolFilter(allow=("read",)))
    assert offered(agent) == ["own", "read"]
    agent.tools.close()
    del agent
    assert host.tools._layer._shadows is None  # pyright: ignore[reportPrivateUsage]
    assert len(host.tools._views) == 0  # pyright: ignore[reportPrivateUsage]


@pytest.mark.guarantee("B-TOOL-10", "B-TOOL-11")
def test_only_agents_are_restricted_and_only_by_filters_that_say_something(host: Any) -> None:
    """Restricting a host is refused, and so is a filter that neither allows nor denies."""
    with pytest.raises(TypeError, match=r"agent\.tools"):
        host.tools.restrict(ToolFilter(deny=()))
    with pytest.raises(EmptyToolFilterError, match=r"allow=\(\)"):
        host.agent().tools.restrict(ToolFilter())
    text: Any = "read"
    with pytest.raises(TypeError, match="a tuple of names"):
        host.agent().tools.restrict(ToolFilter(allow=text))
    number: Any = 5
    with pytest.raises(TypeError, match="takes names, not a int"):
        host.agent().tools.restrict(ToolFilter(deny=(number,)))
    with pytest.raises(TypeError, match="by a ToolFilter, not by a int"):
        host.agent().tools.restrict(number)


@pytest.mark.parametrize("field", ["allow", "deny"])
@pytest.mark.guarantee("B-TOOL-12")
@pytest.mark.field_case("B142")
def test_unknown_names_are_all_listed_with_near_ones_and_nothing_changes(
    host: Any, field: str
) -> None:
    """A filter may only name the host's tools; the refusal lists what is unknown and known."""
    agent = host.agent()
    for name in ("read", "bash"):
        host.tools.register(a_tool(name))
    agent.tools.register(a_tool("own"))
    names = ("Read", "bash", " bash ", "nope", "own")
    with pytest.raises(UnknownToolError) as refused:
        agent.tools.restrict(ToolFilter(**{field: names}))
    assert refused.value.names == ("Read", " bash ", "nope", "own")
    assert refused.value.known == ("bash", "read")
    message = str(refused.value)
    assert "'Read' (did you mean 'read'?), ' bash ' (did you mean 'bash'?), 'nope', " in message
    assert offered(agent) == ["bash", "own", "read"]
    assert agent.tools.restriction() == UNRESTRICTED


@pytest.mark.guarantee("B-TOOL-13", "B-TOOL-16")
def test_restrictions_intersect_and_each_is_lifted_alone(host: Any) -> None:
    """Allowed first, then denied; several restrictions intersect; an empty allow hides all."""
    for name in "abcd":
        host.tools.register(a_tool(name))
    agent = host.agent()
    first = agent.tools.restrict(ToolFilter(allow=("a", "b", "c"), deny=("c",)))
    assert offered(agent) == ["a", "b"]
    second = agent.tools.restrict(ToolFilter(deny=("a",)))
    assert offered(agent) == ["b"]
    first.close()
    assert offered(agent) == ["b", "c", "d"]
    second.close()
    with agent.tools.restrict(ToolFilter(allow=())):
        assert offered(agent) == []
        assert agent.tools.schemas() is None
    assert offered(agent) == ["a", "b", "c", "d"]


def test_of_two_equal_restrictions_the_other_one_stays(host: Any) -> None:
    for name in ("a", "b"):
        host.tools.register(a_tool(name))
    agent = host.agent()
    inherited = ToolRestriction(deny=frozenset({"a"}))
    first, second = agent.tools.restrict(inherited), agent.tools.restrict(inherited)
    first.close()
    assert offered(agent) == ["b"]
    second.close()
    assert offered(agent) == ["a", "b"]


@pytest.mark.guarantee("B-TOOL-14")
@pytest.mark.field_case("B139")
def test_restrictions_are_live_over_the_hosts_tools(host: Any) -> None:
    """A tool registered later passes a deny-list and is kept out by an allow-list."""
    agent, other = host.agent(), host.agent("b")
    host.tools.register(a_tool("read"))
    host.tools.register(a_tool("mcp__s__t"))
    agent.tools.restrict(ToolFilter(allow=("mcp__s__t",)))
    other.tools.restrict(ToolFilter(deny=("mcp__s__t",)))
    host.tools.register(a_tool("late"))
    assert offered(agent) == ["mcp__s__t"]
    assert offered(other) == ["late", "read"]


@pytest.mark.guarantee("B-TOOL-15")
def test_an_agents_own_tools_are_never_hidden(host: Any) -> None:
    """A restriction is about the host's tools: an agent's own are offered whatever it says."""
    agent = host.agent()
    host.tools.register(a_tool("read"))
    agent.tools.restrict(ToolFilter(allow=()))
    agent.tools.register(a_tool("read"))
    agent.tools.register(a_tool("own"))
    assert offered(agent) == ["own", "read"]


@pytest.mark.guarantee("B-TOOL-18")
def test_a_restriction_is_compiled_when_it_is_made(host: Any) -> None:
    """Changing a filter's names after restricting changes nothing."""
    agent, names = host.agent(), ["read"]
    for name in ("read", "write"):
        host.tools.register(a_tool(name))
    lists: Any = names
    agent.tools.restrict(ToolFilter(allow=lists))
    names.append("write")
    assert offered(agent) == ["read"]


def test_a_restriction_is_one_value_that_a_child_inherits_and_narrows(host: Any) -> None:
    parent, child = host.agent(), host.agent("b")
    for name in "abc":
        host.tools.register(a_tool(name))
    parent.tools.restrict(ToolFilter(deny=("a",)))
    parent.tools.restrict(ToolFilter(allow=("a", "b", "c")))
    child.tools.restrict(parent.tools.restriction())
    assert child.tools.restriction() == parent.tools.restriction()
    child.tools.restrict(ToolFilter(deny=("c",)))
    assert offered(child) == ["b"]


def test_an_inherited_restriction_may_name_a_tool_that_is_gone(host: Any) -> None:
    parent, child = host.agent(), host.agent("b")
    gone = host.tools.register(a_tool("gone"))
    parent.tools.restrict(ToolFilter(allow=("gone",)))
    gone.close()
    child.tools.restrict(parent.tools.restriction())
    assert offered(child) == []


@pytest.mark.field_case("B147")
def test_what_a_filter_allows_in_vain_is_noted(host: Any, caplog: pytest.LogCaptureFixture) -> None:
    agent = host.agent()
    for name in ("read", "edit"):
        host.tools.register(a_tool(name))
    agent.tools.restrict(ToolFilter(deny=("edit",)))
    with caplog.at_level(logging.WARNING, "dsh.agent"):
        agent.tools.restrict(ToolFilter(allow=("read", "edit")))
    assert [r.message for r in caplog.records] == [
        "allowed, but still hidden by another restriction: ['edit']"
    ]
    assert offered(agent) == ["read"]


def test_agents_with_one_restriction_share_one_tuple_of_tools(host: Any) -> None:
    for name in "abc":
        host.tools.register(a_tool(name))
    one, two, three = (host.agent(name) for name in "123")
    for agent in (one, two):
        agent.tools.restrict(ToolFilter(deny=("a",)))
    assert one.tools.schemas() is two.tools.schemas()
    assert three.tools.schemas() is host.tools.schemas()
    host.tools.register(a_tool("d"))
    assert one.tools.schemas() is two.tools.schemas()
    assert offered(one) == ["b", "c", "d"]


@pytest.mark.guarantee("B-SYS-08")
def test_tools_come_by_name_or_in_the_hosts_order(host: Any) -> None:
    """Tools come by name, or as the host arranged them; an unknown name fails the assembly."""
    for name in "abcd":
        host.tools.register(a_tool(name))
    agent = host.agent()
    assert offered(agent) == ["a", "b", "c", "d"]
    with host.tools.arrange(("d", UNLISTED_TOOLS, "a")):
        assert offered(agent) == ["d", "b", "c", "a"]
        with agent.tools.restrict(ToolFilter(deny=("a",))):
            assert offered(agent) == ["d", "b", "c"]
    assert offered(agent) == ["a", "b", "c", "d"]
    host.tools.arrange((UNLISTED_TOOLS, "nope"))
    with pytest.raises(UnknownToolError, match="'nope'"):
        agent.tools.schemas()
    assert "a" in agent.tools.visible()


@pytest.mark.parametrize(
    "order", [("a",), (UNLISTED_TOOLS, UNLISTED_TOOLS), ("a", "a", UNLISTED_TOOLS)]
)
def test_an_order_that_is_none_is_refused(host: Any, order: tuple[str, ...]) -> None:
    with pytest.raises(ToolOrderError):
        host.tools.arrange(order)


def test_a_second_order_is_refused_and_an_agent_has_none(host: Any) -> None:
    host.tools.arrange((UNLISTED_TOOLS,))
    with pytest.raises(ToolOrderError, match="already"):
        host.tools.arrange((UNLISTED_TOOLS,))
    with pytest.raises(TypeError, match="host"):
        host.agent().tools.arrange((UNLISTED_TOOLS,))


def test_restrictions_that_both_allow_allow_what_both_do() -> None:
    one = ToolRestriction.of(ToolFilter(allow=("a", "b", "c"), deny=("c",)))
    other = ToolRestriction.of(ToolFilter(allow=("b", "c", "d")))
    assert [name for name in "abcd" if (one & other).permits(name)] == ["b"]


def test_an_ended_host_takes_no_order_of_tools() -> None:
    tools = ToolRegistry()
    tools.close()
    with pytest.raises(InactiveScopeError, match="an order of tools"):
        tools.arrange((UNLISTED_TOOLS,))
