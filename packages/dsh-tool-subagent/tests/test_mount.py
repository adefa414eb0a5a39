"""When the tool is there, for whom, and in which words."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dsh.agent import (
    Agent,
    AgentOptions,
    AgentSpec,
    DuplicateToolError,
    Tool,
    ToolExecution,
    ToolFilter,
    ToolResult,
    ToolResultBlock,
)
from dsh.agent.testing import ScriptedModel, call, say
from dsh.agent_loop import Host
from dsh.subagent import SubagentService
from dsh.subagent.testing import EVERYTHING, ScriptedProvider, reply
from dsh.tool_subagent import (
    DuplicateMountError,
    SubagentToolConfig,
    SubagentToolConfigError,
    ToolFilterConfig,
    mount_subagent_tool,
)

Texts = Callable[[], list[str]]
Results = Callable[[], list[ToolResultBlock]]


def offered(agent: Agent | Host) -> list[str]:
    return [schema.name for schema in agent.tools.schemas() or ()]


@pytest.mark.guarantee("B-TSUB-04", "B-TSUB-05")
@pytest.mark.field_case("B246")
async def test_the_tool_comes_and_goes_with_its_provider(
    host: Host, subagents: SubagentService
) -> None:
    """The tool is offered while its own provider is registered, whatever the order of mounting."""
    mount = mount_subagent_tool(host, subagents, {"provider": "worker"})
    assert offered(host) == []
    other = subagents.register(ScriptedProvider(name="other"))
    assert offered(host) == []
    with subagents.register(ScriptedProvider(name="worker")):
        assert offered(host) == ["subagent"]
        other.close()
        assert offered(host) == ["subagent"]
    assert offered(host) == []
    mount.close()
    subagents.register(ScriptedProvider(name="worker"))
    assert offered(host) == []


@pytest.mark.guarantee("B-TSUB-03", "B-SYS-05")
async def test_the_words_fit_what_a_child_knows(
    host: Host, subagents: SubagentService, parent: Agent
) -> None:
    """Description and guidance follow whether children know the conversation, also anew later."""
    model = ScriptedModel(say("a"), say("b"), say("c"))
    host.models.register(model, "m")
    mount_subagent_tool(host, subagents, {"provider": "w", "tool_name": "helper"})
    for knows in (False, True):
        with subagents.register(ScriptedProvider(name="w", inherits_parent_context=knows)):
            parent.send("hi")
            await parent.wait_idle()
    parent.send("hi")
    await parent.wait_idle()
    fresh, inherited, without = model.requests
    assert fresh.tools is not None
    assert inherited.tools is not None
    assert "starts fresh" in fresh.tools[0].description
    assert "already knows this conversation" in inherited.tools[0].description
    assert "Use `helper`" in (fresh.system or "")
    assert fresh.system != inherited.system
    assert without.tools is None
    assert without.system is None


@pytest.mark.guarantee("B-TSUB-06")
async def test_a_provider_that_is_not_there_yet_is_no_error(
    host: Host, subagents: SubagentService, caplog: pytest.LogCaptureFixture
) -> None:
    """Mounting before the provider exists only leaves a note in the log."""
    with caplog.at_level("INFO", logger="dsh.tool_subagent"):
        mount_subagent_tool(host, subagents, {"provider": "late"})
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert "waits for provider 'late'" in caplog.text


@pytest.mark.guarantee("B-TSUB-02")
async def test_mounts_side_by_side_start_children_on_their_own_providers(
    host: Host, subagents: SubagentService, parent: Agent, texts: Texts
) -> None:
    """Several mounts with different tool names coexist, each bound to its own provider."""
    arguments = {"description": "d", "prompt": "p"}
    host.models.register(
        ScriptedModel(call("one", **arguments), call("two", **arguments), say("done")), "m"
    )
    for name in ("one", "two"):
        subagents.register(ScriptedProvider(reply(f"from {name}"), name=name))
        mount_subagent_tool(host, subagents, {"provider": name, "tool_name": name})
    parent.send("go")
    await parent.wait_idle()
    assert texts() == ["from one", "from two"]


@pytest.mark.guarantee("B-TSUB-16")
async def test_two_mounts_of_one_name_are_refused_even_while_waiting(
    host: Host, subagents: SubagentService
) -> None:
    """A second mount of one tool name is refused at once, even while both wait."""
    with mount_subagent_tool(host, subagents, {"provider": "late"}):
        with pytest.raises(DuplicateMountError, match="'subagent'") as caught:
            mount_subagent_tool(host, SubagentService(), {"provider": "later"})
        assert caught.value.code == "DUPLICATE_MOUNT"
    mount_subagent_tool(host, subagents, {"provider": "later"}).close()


async def test_a_name_the_host_uses_already_is_refused_and_nothing_stays(
    host: Host, subagents: SubagentService
) -> None:
    async def body(execution: ToolExecution) -> ToolResult:
        raise NotImplementedError

    taken = Tool(name="subagent", description="d", parameters={"type": "object"}, execute=body)
    subagents.register(ScriptedProvider(name="w"))
    with host.tools.register(taken), pytest.raises(DuplicateToolError):
        mount_subagent_tool(host, subagents, {"provider": "w"})
    mount_subagent_tool(host, subagents, {"provider": "w"})
    assert offered(host) == ["subagent"]


BAD: dict[str, dict[str, object]] = {
    "provider": {"provider": ""},
    "tool_name": {"tool_name": "no spaces"},
    "max_depth": {"max_depth": -1},
    "max_children": {"max_children": 0},
    "timeout": {"timeout": float("inf")},
    "max_result_chars": {"max_result_chars": True},
    "tool_filter": {"tool_filter": {}},
    "tool_filter.allow": {"tool_filter": {"allow": "bash"}},
    "max_dept": {"max_dept": 3},
}


@pytest.mark.guarantee("B-TSUB-14")
@pytest.mark.parametrize("key", BAD)
async def test_a_bad_configuration_fails_when_mounted_and_names_the_key(
    host: Host, subagents: SubagentService, key: str
) -> None:
    """A wrong value is refused at the mount by the name of its key, nothing being mounted."""
    subagents.register(ScriptedProvider(name="w"))
    with pytest.raises(SubagentToolConfigError) as caught:
        mount_subagent_tool(host, subagents, {"provider": "w", **BAD[key]})
    assert caught.value.keys == (key,)
    assert caught.value.code == "INVALID_CONFIG"
    assert offered(host) == []


async def test_a_configuration_built_without_validation_is_still_checked(
    host: Host, subagents: SubagentService
) -> None:
    for depth in (True, 1.5, -1, 2**53):
        config = SubagentToolConfig.model_construct(provider="w", max_depth=depth)
        with pytest.raises(SubagentToolConfigError) as caught:
            mount_subagent_tool(host, subagents, config)
        assert caught.value.keys == ("max_depth",)


@pytest.mark.parametrize("late", [False, True])
async def test_asking_a_provider_for_what_it_cannot_do_is_refused_by_name(
    host: Host, subagents: SubagentService, late: bool
) -> None:
    provider = ScriptedProvider(name="w", capabilities=replace(EVERYTHING, persona=False))
    config = {"provider": "w", "persona": "terse"}
    if late:
        mount_subagent_tool(host, subagents, config)
        with pytest.raises(SubagentToolConfigError, match="persona"):
            subagents.register(provider)
        assert subagents.list() == ()
    else:
        subagents.register(provider)
        with pytest.raises(SubagentToolConfigError, match="persona"):
            mount_subagent_tool(host, subagents, config)
    assert offered(host) == []


@pytest.mark.guarantee("B-TSUB-13")
def test_a_deny_list_grows_no_allow_list_and_an_empty_allow_list_stays() -> None:
    """Leaving one list of a filter out leaves it out, while an empty allow list allows nothing."""
    assert ToolFilterConfig(deny=("bash",)).allow is None
    assert ToolFilterConfig(allow=()).allow == ()
    config = SubagentToolConfig.model_validate({"provider": "w", "tool_filter": {"allow": []}})
    assert config.tool_filter == ToolFilterConfig(allow=(), deny=None)


@pytest.mark.guarantee("B-HEAD-12")
@pytest.mark.field_case("B119")
async def test_at_the_depth_limit_the_tool_is_not_offered(
    host: Host, subagents: SubagentService
) -> None:
    """An agent at the depth limit is not offered the tool, by default three delegations down."""
    subagents.register(ScriptedProvider(name="w"))
    mount_subagent_tool(host, subagents, {"provider": "w"})
    mount_subagent_tool(host, subagents, {"provider": "w", "tool_name": "never", "max_depth": 0})
    mount_subagent_tool(host, subagents, {"provider": "w", "tool_name": "ever", "max_depth": None})
    seen: dict[int, list[str]] = {}
    for depth in (0, 2, 3):
        async with host.agents.open(AgentSpec(depth=depth)) as agent:
            seen[depth] = offered(agent)
    assert seen == {0: ["ever", "subagent"], 2: ["ever", "subagent"], 3: ["ever"]}


async def test_at_the_depth_limit_a_tool_that_comes_later_is_not_offered_either(
    host: Host, subagents: SubagentService
) -> None:
    mount_subagent_tool(host, subagents, {"provider": "w", "max_depth": 1})
    async with (
        host.agents.open(AgentSpec()) as parent,
        host.agents.open(AgentSpec(depth=1)) as child,
    ):
        subagents.register(ScriptedProvider(name="w"))
        assert (offered(parent), offered(child)) == (["subagent"], [])


@pytest.mark.guarantee("B-TSUB-15")
@pytest.mark.field_case("B248")
async def test_an_agent_that_is_denied_the_tool_neither_sees_nor_reaches_it(
    host: Host, subagents: SubagentService, parent: Agent, results: Results
) -> None:
    """The delegation tool obeys restrictions like any other, in the prompt and at dispatch."""
    provider = ScriptedProvider(name="w")
    subagents.register(provider)
    mount_subagent_tool(host, subagents, {"provider": "w"})
    host.models.register(
        ScriptedModel(call("subagent", description="d", prompt="p"), say("done")), "m"
    )
    parent.tools.restrict(ToolFilter(deny=("subagent",)))
    assert offered(parent) == []
    parent.send("go")
    await parent.wait_idle()
    assert [result.is_error for result in results()] == [True]
    assert provider.requests == []


async def test_options_of_the_mount_reach_the_provider(
    host: Host, subagents: SubagentService, parent: Agent, texts: Texts
) -> None:
    provider = ScriptedProvider(reply(structured={"v": 1}), name="w")
    subagents.register(provider)
    schema = {"type": "object", "properties": {"v": {"type": "integer"}}}
    mount_subagent_tool(
        host,
        subagents,
        SubagentToolConfig(
            provider="w",
            model="small",
            max_steps=4,
            persona="terse",
            tool_filter=ToolFilterConfig(deny=("subagent",)),
            output_schema=schema,
            max_depth=5,
            timeout=60,
        ),
    )
    host.models.register(
        ScriptedModel(call("subagent", description="count", prompt="p"), say("done")), "m"
    )
    parent.send("go")
    await parent.wait_idle()
    (request,) = provider.requests
    assert request.agent_options == AgentOptions(model="small", max_steps=4)
    assert (request.persona, request.max_depth, request.label) == ("terse", 5, "count")
    assert request.tool_filter == ToolFilter(deny=("subagent",))
    assert request.output_schema == schema
    assert texts() == ['{"v": 1}']


@pytest.mark.guarantee("B-TSUB-12", "B-TSUB-01")
async def test_what_the_mount_leaves_out_stays_out_of_the_request(
    host: Host, subagents: SubagentService, parent: Agent
) -> None:
    """The model chooses description and prompt alone, and unset options are absent downstream."""
    nothing = ScriptedProvider(name="w", capabilities=replace(EVERYTHING, depth_limit=False))
    subagents.register(nothing)
    mount_subagent_tool(host, subagents, {"provider": "w"})
    schemas = host.tools.schemas()
    assert schemas is not None
    assert schemas[0].parameters["required"] == ("description", "prompt")
    assert schemas[0].parameters["additionalProperties"] is False
    host.models.register(
        ScriptedModel(call("subagent", description="d", prompt="p"), say("done")), "m"
    )
    parent.send("go")
    await parent.wait_idle()
    (request,) = nothing.requests
    absent = (request.persona, request.tool_filter, request.output_schema, request.max_depth)
    assert absent == (None, None, None, None)
    assert request.agent_options == AgentOptions()
