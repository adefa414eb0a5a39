"""A forked child: what it inherits, what its requests begin with, what it never sees."""

from dataclasses import replace
from typing import Any

import pytest
import trio
import trio.testing
from home import Home, last_result, offered, text_of, tool

from dsh.agent import (
    ASSEMBLY,
    Agent,
    AgentDisposed,
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    CustomEvent,
    Draft,
    Next,
    Section,
    SessionEvent,
    TextBlock,
    Tool,
    ToolExecution,
    ToolFilter,
    ToolResult,
    ToolResultBlock,
    check_log,
    thaw_json,
)
from dsh.agent.testing import Script, call, completed_turn, fail, hang, reply, say
from dsh.subagent import RunStarted, SubagentResult, SubagentStartError
from dsh.subagent.testing import EVERYTHING, ScriptedParent
from dsh.subagent_fork import PREFIX_EVENT, ForkParentError, ForkProvider


def texts(request: ChatRequest) -> list[str]:
    return [text_of(message) for message in request.messages]


def header(request: ChatRequest) -> tuple[object, ...]:
    return request.model, request.system, request.tools, request.options


def logs_of_children(home: Home) -> list[tuple[SessionEvent, ...]]:
    """Filled with the log of each agent that ends."""
    logs = list[tuple[SessionEvent, ...]]()
    home.host.hooks.on(AgentDisposed, lambda event: logs.append(tuple(event.agent.session.events)))
    return logs


def forking(home: Home, *prompts: str, **fields: Any) -> list[SubagentResult[Any]]:
    """Give the host a tool ``fork`` that forks its caller once for each prompt, in turn."""
    results = list[SubagentResult[Any]]()

    async def execute(execution: ToolExecution) -> ToolResult:
        for prompt in prompts:
            request = {"parent": execution.agent, "prompt": prompt} | fields
            results.append(await home.run("fork", **request))
        return ToolResult(content=(TextBlock(text="forked"),))

    home.host.tools.register(
        Tool(name="fork", description="Forks.", parameters={"type": "object"}, execute=execute)
    )
    return results


# what it inherits


@pytest.mark.guarantee("B-FRK-01", "B-FRK-02", "B-FRK-07")
@pytest.mark.field_case("B073", "B078")
async def test_a_fork_begins_with_the_completed_turns_and_its_task(home: Home) -> None:
    """A fork is sent the completed turns, then its task marked as such, and no open call."""
    results = forking(home, "T")
    model = home.script(
        say("plan"), reply(say("now"), call("fork", call_id="open")), say("T done"), say("all done")
    )
    await home.ask("first")
    await home.ask("second")
    child = model.requests[2]
    assert texts(child)[:2] == ["first", "plan"]
    assert [message.role for message in child.messages] == ["user", "assistant", "user"]
    assert texts(child)[2].startswith("You are a subagent. Everything above is background")
    assert texts(child)[2].endswith("The task:\nT")
    assert results[0].text == "T done"


@pytest.mark.guarantee("B-FRK-03", "B-FRK-06", "B-FRK-10")
async def test_the_log_of_a_fork_is_legal_and_begins_with_its_parents(home: Home) -> None:
    """The seed is the parent's log from its first event on, and what follows obeys every rule."""
    logs, headers = logs_of_children(home), list[Any]()

    def note(event: RunStarted) -> None:
        headers.append(home.agent(event.child_id).session.header)

    home.parent.hooks.on(RunStarted, note)
    home.script(say("plan"), say("done"))
    await home.ask("first")
    inherited = tuple(home.parent.session.events)
    await home.run("fork")
    assert logs[0][: len(inherited)] == inherited
    assert headers[0].seed_length == len(inherited)
    check_log(logs[0])


@pytest.mark.guarantee("B-FRK-04")
async def test_a_parent_in_its_first_turn_gives_a_fresh_child(home: Home) -> None:
    """Without a completed turn there is no seed, and the child is as a spawned one."""
    forking(home, "T")
    model = home.script(call("fork"), say("done"), say("all done"))
    logs = logs_of_children(home)
    await home.ask("first")
    assert texts(model.requests[1]) == ["T"]
    check_log(logs[0])


@pytest.mark.guarantee("B-FRK-05")
async def test_any_end_of_a_turn_is_a_boundary(home: Home) -> None:
    """A turn that failed or was cancelled is inherited like any other."""
    model = home.script(fail("401"), hang(), say("done"))
    await home.ask("first")
    home.parent.send("second")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(home.parent.wait_idle)
        await trio.testing.wait_all_tasks_blocked()
        home.parent.cancel("stop")
    await home.run("fork", prompt="T")
    assert texts(model.requests[-1])[:2] == ["first", "second"]
    assert texts(model.requests[-1])[-1].endswith("The task:\nT")


@pytest.mark.guarantee("B-FRK-08")
async def test_a_silent_fork_has_no_answer(home: Home) -> None:
    """What the parent had said is never the child's answer, nor does its turn earn a nudge."""
    model = home.script(say("the parent's words"), reply(), fail("401"))
    await home.ask("first")
    silent = await home.run("fork")
    assert (silent.stop_reason, silent.output) == ("no_output", ())
    failed = await home.run("fork", output_schema={"type": "object"})
    assert (failed.stop_reason, failed.output) == ("error", ())
    model.check()


@pytest.mark.guarantee("B-FRK-09", "B-FRK-12")
@pytest.mark.field_case("B080")
async def test_forks_parent_and_spawns_do_not_touch_each_other(home: Home) -> None:
    """A fork is a snapshot: neither side sees what the other does afterwards, and all go on."""
    release = trio.Event()

    async def wait(_: ChatRequest) -> Any:
        await release.wait()
        return say("forked")

    model = home.script(say("plan"), wait, say("meanwhile"), say("spawned"), say("again"))
    await home.ask("first")
    async with await home.start("fork", prompt="T") as run:
        await trio.testing.wait_all_tasks_blocked()
        await home.ask("second")
        length = len(home.parent.session.events)
        assert (await home.run("spawn", prompt="S")).text == "spawned"
        release.set()
        assert (await run.result()).text == "forked"
    assert len(home.parent.session.events) == length
    await home.ask("third")
    assert texts(model.requests[-1]) == ["first", "plan", "second", "meanwhile", "third"]


@pytest.mark.guarantee("B-DRV-01")
async def test_without_a_past_a_fork_and_a_spawn_are_the_same(home: Home) -> None:
    """Spawn and fork differ in what the child inherits, and the driver is registered nowhere."""
    model = home.script(say("1"), say("2"))
    spawned, forked_too = await home.run("spawn"), await home.run("fork")
    first, second = (replace(each, session_id=None) for each in model.requests)
    assert (first.system, first.tools, tuple(first.messages)) == (
        second.system,
        second.tools,
        tuple(second.messages),
    )
    assert spawned.stop_reason == forked_too.stop_reason == "completed"
    assert home.subagents.list() == ("spawn", "fork")


@pytest.mark.field_case("B080", "B084")
async def test_forks_of_one_turn_have_one_prefix(home: Home) -> None:
    forking(home, "A", "B")
    home.host.tools.register(tool("read", "READ"))
    model = home.script(
        say("plan"),
        reply(say("now"), call("read", call_id="1"), call("fork", call_id="2")),
        say("A done"),
        say("B done"),
        say("all done"),
    )
    await home.ask("first")
    await home.ask("second")
    first, second = model.requests[2:4]
    assert tuple(first.messages)[:-1] == tuple(second.messages)[:-1]
    assert [texts(each)[-1][-1] for each in (first, second)] == ["A", "B"]
    assert "READ" not in repr(tuple(first.messages))


async def test_a_stranger_cannot_be_forked(home: Home) -> None:
    async with ScriptedParent(id="stranger") as parent:
        with pytest.raises(ForkParentError, match="cannot fork 'stranger'"):
            await home.run("fork", parent=parent)


@pytest.mark.parametrize("provider", ["spawn", "fork"])
async def test_an_agent_is_not_taken_for_a_parent_elsewhere_that_has_its_id(
    home: Home, provider: str
) -> None:
    model = home.script(say("a secret"))
    await home.ask("tell me")
    async with ScriptedParent(id="parent") as namesake:
        with pytest.raises(SubagentStartError, match="its host has another agent 'parent'"):
            await home.run(provider, parent=namesake)
    assert (len(model.requests), home.host.agents.list()) == (1, (home.parent,))


@pytest.mark.guarantee("B-FRK-11")
def test_what_fork_says_of_itself() -> None:
    """Fork offers what spawn does, and its parent's conversation."""
    assert ForkProvider.inherits_parent_context is True
    assert ForkProvider.capabilities == EVERYTHING


@pytest.mark.field_case("B075")
async def test_a_parent_cancelled_while_it_forks_can_go_on(home: Home) -> None:
    forking(home, "T")
    model = home.script(say("plan"), call("fork", call_id="open"), hang(), say("fine"))
    await home.ask("first")
    home.parent.send("second")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(home.parent.wait_idle)
        await trio.testing.wait_all_tasks_blocked()
        home.parent.cancel("stop")
    await home.ask("third")
    results = [
        block
        for message in model.requests[-1].messages
        for block in message.content
        if isinstance(block, ToolResultBlock)
    ]
    assert [(each.call_id, each.is_error) for each in results] == [("open", True)]


# the prompt cache


async def forked(home: Home, *steps: Script, **fields: Any) -> tuple[ChatRequest, ChatRequest]:
    """The last request of the parent, and the first of its fork."""
    model = home.script(say("plan"), *steps)
    await home.ask("first")
    await home.run("fork", **fields)
    return model.requests[0], model.requests[1]


@pytest.mark.field_case("B085", "B090")
async def test_a_fork_that_adds_nothing_begins_byte_for_byte_as_its_parent(home: Home) -> None:
    rendered = list[int]()

    def clock(_: Agent) -> str:
        rendered.append(1)
        return f"It is {len(rendered)} o'clock."

    home.host.prompt.register(Section(name="clock", text=clock))
    home.host.tools.register(tool("read"))
    logs = logs_of_children(home)
    parent, child = await forked(home, say("done"))
    assert header(child) == header(parent)
    assert tuple(child.messages)[: len(parent.messages)] == tuple(parent.messages)
    assert len(rendered) == 1
    assert not [event for event in logs[0] if isinstance(event, CustomEvent)]


@pytest.mark.field_case("B087", "B088")
async def test_options_are_inherited_unless_overridden(home: Home) -> None:
    own = {"temperature": 0.3, "prompt_cache_key": "K"}
    spec = AgentSpec(options=AgentOptions(model="model", options=own))
    model = home.script(say("plan"), say("1"), say("2"))
    async with home.host.agents.open(spec) as parent:
        parent.send("first")
        await parent.wait_idle()
        await home.run("fork", parent=parent)
        await home.run("fork", parent=parent, agent_options=AgentOptions(options={"effort": "low"}))
    assert [dict(each.options) for each in model.requests] == [own, own, own | {"effort": "low"}]


@pytest.mark.field_case("B082")
async def test_what_a_fork_is_asked_to_change_is_changed_never_ignored(home: Home) -> None:
    home.host.prompt.register(Section(name="deployment:persona", text="We are ACME."))
    for name in ("read", "write"):
        home.host.tools.register(tool(name))
    other = home.script(say("other"), name="other")
    model = home.script(say("plan"), say("1"), say("2"), call("structured_output", v=1))
    await home.ask("first")
    await home.run("fork", agent_options=AgentOptions(model="other"))
    await home.run("fork", persona="You are SQL.")
    await home.run("fork", tool_filter=ToolFilter(deny=("write",)))
    await home.run(
        "fork", output_schema={"type": "object", "properties": {"v": {"type": "integer"}}}
    )
    assert header(other.requests[0])[1:3] == header(model.requests[0])[1:3]
    assert model.requests[1].system == "You are SQL."
    assert offered(model.requests[2]) == ["read"]
    assert offered(model.requests[3]) == ["read", "structured_output", "write"]
    assert str(model.requests[3].system).startswith("We are ACME.\n\nReport")


async def test_what_is_the_parents_own_is_rendered_away_and_its_cost_is_reported(
    home: Home,
) -> None:
    home.host.prompt.register(Section(name="deployment:persona", text="We are ACME."))
    home.host.tools.register(tool("read"))
    home.parent.prompt.register(Section(name="own", text="I am in charge."))
    logs = logs_of_children(home)
    parent, child = await forked(home, say("done"))
    assert (parent.system, child.system) == ("We are ACME.\n\nI am in charge.", "We are ACME.")
    [report] = [event for event in logs[0] if isinstance(event, CustomEvent)]
    assert (report.kind, thaw_json(report.data)) == (
        PREFIX_EVENT,
        {"tools": 1, "system": len("We are ACME."), "messages": 0},
    )
    check_log(logs[0])


async def test_an_equal_rendering_shares_it_all_and_says_so(home: Home) -> None:
    async def same(draft: Draft, _: Agent, rest: Next[Draft]) -> Draft:
        return await rest(draft)

    home.parent.hooks.filter(ASSEMBLY, same)
    home.host.prompt.register(Section(name="deployment:persona", text="We are ACME."))
    logs = logs_of_children(home)
    await forked(home, say("done"))
    [report] = [event for event in logs[0] if isinstance(event, CustomEvent)]
    assert thaw_json(report.data) == {"tools": 0, "system": len("We are ACME."), "messages": 2}


async def test_different_tools_share_no_text(home: Home) -> None:
    home.host.tools.register(tool("read"))
    home.parent.tools.register(tool("own"))
    logs = logs_of_children(home)
    await forked(home, say("done"))
    [report] = [event for event in logs[0] if isinstance(event, CustomEvent)]
    assert thaw_json(report.data) == {"tools": 0, "system": 0, "messages": 0}


async def test_a_tool_the_parent_lost_meanwhile_is_not_shown_to_its_fork(home: Home) -> None:
    for name in ("read", "write"):
        home.host.tools.register(tool(name))
    model = home.script(say("plan"), say("done"))
    await home.ask("first")
    home.parent.tools.restrict(ToolFilter(deny=("write",)))
    await home.run("fork")
    assert [offered(each) for each in model.requests] == [["read", "write"], ["read"]]


async def test_the_tools_shown_are_resolved_when_they_are_called(home: Home) -> None:
    registration = home.host.tools.register(tool("read"))

    def withdraw(_: ChatRequest) -> ChatResponse:
        registration.close()
        return call("read")

    model = home.script(say("plan"), withdraw, say("done"))
    await home.ask("first")
    await home.run("fork")
    assert offered(model.requests[2]) == ["read"]
    assert last_result(model.requests[2]).is_error


async def test_a_fork_of_a_parent_whose_log_holds_no_request_is_given_the_turns_all_the_same(
    home: Home,
) -> None:
    model = home.script(say("done"))
    async with home.host.agents.open(
        AgentSpec(options=AgentOptions(model="model"), seed=completed_turn(1, "first"))
    ) as parent:
        assert parent.session.request_header is None
        assert (await home.run("fork", parent=parent, prompt="T")).text == "done"
    assert texts(model.requests[0])[:2] == ["first", "re: first"]
