"""A fresh child: where it begins, what it may use, how it ends."""

from typing import Any

import pytest
import trio
import trio.testing
from home import Home, last_result, offered, result_text, text_of, tool

from dsh.agent import (
    TOOL_GUARD,
    AgentCreated,
    AgentDisposed,
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    EventLogged,
    MessageQueued,
    Section,
    TextBlock,
    ToolCallBlock,
    ToolFilter,
    ToolFinished,
    TurnEnded,
    UnknownToolError,
    Usage,
    check_log,
)
from dsh.agent.testing import call, fail, hang, reply, say
from dsh.subagent import (
    ParentDisposedError,
    RunEnded,
    RunStarted,
    SubagentDepthError,
    SubagentService,
    SubagentStartCancelledError,
    SubagentStartError,
    UnknownProviderError,
)
from dsh.subagent.testing import EVERYTHING, ScriptedParent
from dsh.subagent_spawn import SpawnProvider


@pytest.mark.guarantee("B-SPN-01", "B-DRV-16")
async def test_a_spawned_child_is_asked_nothing_but_its_prompt(home: Home) -> None:
    """The request of a spawned child holds its prompt and no message of its parent."""
    model = home.script(say("hello"), say("done"))
    await home.ask("PARENT-WORDS")
    result = await home.run(prompt="count the files")
    assert (result.completed, result.text) == (True, "done")
    assert [text_of(each) for each in model.requests[1].messages] == ["count the files"]


@pytest.mark.guarantee("B-SPN-02", "B-DRV-11", "B-SPN-04")
async def test_a_child_can_be_found_with_its_lineage_once_it_is_published(home: Home) -> None:
    """When its start is told the child is in the registry, with lineage and its parent's model."""
    home.script(say("done"))
    seen: list[Any] = []

    def note(event: RunStarted) -> None:
        child = home.agent(event.child_id)
        seen.append((child.session.header, child.options.model, child.depth))
        assert not child.session.events

    home.parent.hooks.on(RunStarted, note)
    await home.run()
    [(header, model, depth)] = seen
    assert header.parent_session == home.parent.session.header.id
    assert (header.cwd, header.seed_length) == ("/srv/project", 0)
    assert (model, depth) == ("model", 1)


@pytest.mark.guarantee("B-DRV-07", "B-SPN-03")
async def test_options_are_the_parents_unless_the_request_has_its_own(home: Home) -> None:
    """A child asks the host's models as its parent does, unless the request says otherwise."""
    other = home.script(say("from the other"), name="other")
    model = home.script(say("from the model"))
    plain = await home.run(agent_options=AgentOptions(options={"effort": "high"}))
    assert (plain.text, model.requests[0].options) == ("from the model", {"effort": "high"})
    result = await home.run(agent_options=AgentOptions(model="other"))
    assert (result.text, other.requests[0].model) == ("from the other", "other")


@pytest.mark.field_case("B167")
async def test_a_step_limit_of_the_request_is_the_childs_limit(home: Home) -> None:
    home.host.tools.register(tool("look"))
    home.script(*[call("look") for _ in range(4)])
    result = await home.run(agent_options=AgentOptions(max_steps=4))
    assert (result.stop_reason, result.model_requests, result.tool_calls) == ("max_steps", 4, 4)


@pytest.mark.guarantee("B-SPN-06", "B-DRV-08")
@pytest.mark.field_case("B162", "B163")
async def test_a_persona_is_one_childs_and_no_prompt_is_inherited(home: Home) -> None:
    """A persona stands in for the deployment's in one child; a parent's own text reaches none."""
    home.host.prompt.register(Section(name="deployment:persona", text="We are ACME."))
    home.parent.prompt.register(Section(name="own", text="ORCH-MARK"))
    model = home.script(say("1"), say("2"), say("3"))
    await home.run(persona="You review.")
    await home.run()
    await home.ask("hi")
    assert [each.system for each in model.requests] == [
        "You review.",
        "We are ACME.",
        "We are ACME.\n\nORCH-MARK",
    ]


# what it may use


@pytest.mark.guarantee("B-SPN-07")
@pytest.mark.field_case("B138")
async def test_a_denied_tool_is_neither_shown_nor_run(home: Home) -> None:
    """What the filter denies is missing from the child's request and refuses to run."""
    home.host.tools.register(tool("read"))
    home.host.tools.register(tool("write"))
    model = home.script(call("write"), say("done"))
    await home.run(tool_filter=ToolFilter(deny=("write",)))
    assert offered(model.requests[0]) == ["read"]
    assert last_result(model.requests[1]).is_error


@pytest.mark.guarantee("B-DRV-10", "B-DRV-09")
async def test_a_filter_of_unknown_names_fails_the_start(home: Home) -> None:
    """A composition that fails fails the start, and no child was ever to be seen."""
    home.host.tools.register(tool("read"))
    agents, started = home.host.agents.list(), list[RunStarted]()
    home.parent.hooks.on(RunStarted, started.append)
    with pytest.raises(UnknownToolError, match="did you mean 'read'"):
        await home.run(tool_filter=ToolFilter(allow=("raed",)))
    assert (home.host.agents.list(), started) == (agents, [])


async def test_what_the_parent_may_not_use_no_child_may(home: Home) -> None:
    for name in ("read", "write", "ask"):
        home.host.tools.register(tool(name))
    home.parent.tools.restrict(ToolFilter(deny=("write",)))
    model = home.script(say("1"), say("2"))
    await home.run()
    await home.run(tool_filter=ToolFilter(allow=("read", "write")))
    shown = [offered(request) for request in model.requests]
    assert shown == [["ask", "read"], ["read"]]


@pytest.mark.guarantee("B-DRV-25")
async def test_nothing_scoped_to_the_parent_reaches_the_child(home: Home) -> None:
    """Tools, guards, sections and listeners of a parent are its own; a child starts flat."""
    from_parent = list[object]()
    home.parent.tools.register(tool("own"))
    home.parent.prompt.register(Section(name="own", text="OWN"))
    home.parent.hooks.guard(TOOL_GUARD, lambda _: "no")
    home.parent.hooks.on(ToolFinished, from_parent.append)
    home.host.tools.register(tool("look", "seen"))
    model = home.script(call("look"), say("done"))
    await home.run()
    assert model.requests[0].system is None
    assert offered(model.requests[0]) == ["look"]
    assert result_text(model.requests[1]) == "seen"
    assert from_parent == []


# depth


@pytest.mark.guarantee("B-DRV-05")
@pytest.mark.field_case("B114", "B115")
async def test_a_child_beyond_the_cap_is_not_created(home: Home) -> None:
    """A child deeper than allowed is refused with both numbers before anything exists."""
    agents = home.host.agents.list()
    for depth in (0, -0):
        with pytest.raises(SubagentDepthError) as caught:
            await home.run(max_depth=depth)
        assert (caught.value.attempted_depth, caught.value.max_depth) == (1, 0)
    assert home.host.agents.list() == agents
    home.script(say("done"))
    assert (await home.run(max_depth=1)).completed


@pytest.mark.guarantee("B-DRV-02", "B-DRV-03", "B-DRV-04")
async def test_a_parents_depth_is_judged_before_anything_else(home: Home) -> None:
    """Depth that is none, or cannot grow, fails the start before the cap is looked at."""
    for depth, error in ((True, TypeError), (-1, TypeError), (2**53 - 1, OverflowError)):
        async with ScriptedParent(depth=depth) as parent:
            with pytest.raises(SubagentStartError) as caught:
                await home.run(parent=parent, max_depth=0)
            assert isinstance(caught.value.__cause__, error)


async def test_a_stranger_spawns_with_options_of_its_own_and_without_lineage(home: Home) -> None:
    home.script(say("done"))
    headers = list[Any]()

    def note(event: RunStarted) -> None:
        headers.append(home.agent(event.child_id).session.header)

    async with ScriptedParent(id="stranger", cwd="/srv/other", depth=2) as parent:
        parent.hooks.on(RunStarted, note)
        result = await home.run(parent=parent, agent_options=AgentOptions(model="model"))
    assert result.text == "done"
    assert [(each.cwd, each.parent_session) for each in headers] == [("/srv/other", None)]


async def test_a_prompt_no_agent_can_be_sent_is_refused_at_the_start(home: Home) -> None:
    prompt = (ToolCallBlock(id="1", name="x", arguments="{}"),)
    with pytest.raises(SubagentStartError, match="a ToolCallBlock cannot be sent"):
        await home.run(prompt=prompt)


# being cancelled, and other ends


@pytest.mark.guarantee("B-DRV-06", "B-SPN-09")
async def test_a_request_cancelled_before_its_start_publishes_nothing(home: Home) -> None:
    """A cancelled request is refused, with no child and no event."""
    scope, started = trio.CancelScope(), list[RunStarted]()
    home.parent.hooks.on(RunStarted, started.append)
    scope.cancel()
    with pytest.raises(SubagentStartCancelledError):
        await home.run(cancel_scope=scope)
    assert started == []


@pytest.mark.guarantee("B-DRV-14")
async def test_a_cancellation_on_the_last_step_to_publication_wins(home: Home) -> None:
    """Cancelled after the child exists and before its run does, the start is refused."""
    scope, started = trio.CancelScope(), list[RunStarted]()
    home.parent.hooks.on(RunStarted, started.append)
    home.host.hooks.on(AgentCreated, lambda _: scope.cancel())
    agents = home.host.agents.list()
    with pytest.raises(SubagentStartCancelledError):
        await home.run(cancel_scope=scope)
    assert (home.host.agents.list(), started) == (agents, [])


@pytest.mark.guarantee("B-DRV-22")
async def test_cancelled_with_its_prompt_in_the_queue_a_child_is_aborted(home: Home) -> None:
    """Cancelled before its first turn, a child is aborted with nothing to show."""
    scope = trio.CancelScope()
    home.host.hooks.on(MessageQueued, lambda _: scope.cancel("too late"))
    result = await home.run(cancel_scope=scope)
    assert (result.stop_reason, result.detail, result.output) == ("aborted", "too late", ())
    assert result.model_requests == 0


@pytest.mark.guarantee("B-DRV-20", "B-DRV-18")
@pytest.mark.field_case("B096")
async def test_a_cancelled_child_keeps_what_it_had(home: Home) -> None:
    """Cancelled at work, a child is aborted for the reason given and keeps its partial text."""
    home.host.tools.register(tool("look"))
    home.script(reply(say("so far"), call("look")), hang())
    async with await home.start() as run:
        await trio.testing.wait_all_tasks_blocked()
        run.cancel("enough")
        result = await run.result()
    assert (result.stop_reason, result.detail, result.text) == ("aborted", "enough", "so far")
    assert (result.child_id, result.model_requests, result.tool_calls) == (run.id, 2, 1)
    assert result.usage == Usage(input_tokens=10, output_tokens=5)


@pytest.mark.guarantee("B-DRV-21")
async def test_a_turn_that_had_completed_stays_completed(home: Home) -> None:
    """A child that had answered when it was cancelled has answered."""
    scope = trio.CancelScope()

    def cancel(event: EventLogged) -> None:
        if isinstance(event.event, TurnEnded):
            scope.cancel("late")

    home.host.hooks.on(EventLogged, cancel)
    home.script(say("done"))
    result = await home.run(cancel_scope=scope)
    assert (result.stop_reason, result.text) == ("completed", "done")


@pytest.mark.guarantee("B-DRV-20")
async def test_cancellation_owns_every_end_but_completion(home: Home) -> None:
    """An error that came together with a cancellation is told as the cancellation."""
    scope = trio.CancelScope()

    def cancel(event: EventLogged) -> None:
        if isinstance(event.event, TurnEnded):
            scope.cancel("enough")

    home.host.hooks.on(EventLogged, cancel)
    home.script(fail("401"))
    result = await home.run(cancel_scope=scope)
    assert (result.stop_reason, result.detail) == ("aborted", "enough")


async def test_a_deadline_makes_it_a_timeout(home: Home, autojump_clock: Any) -> None:
    home.script(hang("half"))
    result = await home.run(cancel_scope=trio.CancelScope(relative_deadline=5))
    assert (result.stop_reason, result.text) == ("timeout", "half")
    assert trio.current_time() == 5


@pytest.mark.guarantee("B-SPN-09")
async def test_a_model_that_fails_or_is_cut_ends_its_child_with_its_own_reason(home: Home) -> None:
    """A failing model gives ``error`` and no output, the token ceiling gives ``max_tokens``."""
    home.script(fail("no credit"), say("half an ans", finish_reason="max_tokens"))
    failed, cut = await home.run(), await home.run()
    assert (failed.stop_reason, failed.detail, failed.output) == ("error", "no credit", ())
    assert (cut.stop_reason, cut.text) == ("max_tokens", "half an ans")


# whose it is


@pytest.mark.guarantee("B-SPN-08", "B-DRV-27", "B-DRV-28")
async def test_taking_a_backend_away_spares_its_runs_and_refuses_new_ones(home: Home) -> None:
    """A run outlives the registration of its backend; nothing more can be started with it."""
    service = SubagentService()
    registration = service.register(SpawnProvider(home.host.agents))
    home.script(hang())
    async with await service.start("spawn", home.request()) as run:
        registration.close()
        with pytest.raises(UnknownProviderError):
            await service.start("spawn", home.request())
        await trio.testing.wait_all_tasks_blocked()
        run.cancel()
        assert (await run.result()).stop_reason == "aborted"


@pytest.mark.guarantee("B-DRV-12", "B-DRV-13")
async def test_a_parent_that_ends_takes_no_children_and_keeps_none(home: Home) -> None:
    """A start under an ending parent fails unpublished, and its children end with it."""
    home.script(hang())
    ended, started = list[RunEnded](), list[RunStarted]()
    handle = await home.host.agents.create(AgentSpec(options=AgentOptions(model="model")))
    parent = handle.agent
    parent.hooks.on(RunEnded, ended.append)
    run = await home.start(parent=parent)
    await trio.testing.wait_all_tasks_blocked()
    await handle.aclose()
    assert [(each.child_id, each.stop_reason) for each in ended] == [(run.id, "aborted")]
    assert home.host.agents.get(run.id) is None
    home.host.hooks.on(RunStarted, started.append)
    with pytest.raises(ParentDisposedError):
        await home.start(parent=parent)
    assert started == []


@pytest.mark.guarantee("B-DRV-24", "B-DRV-23")
async def test_a_closed_run_leaves_nothing_of_its_child(home: Home) -> None:
    """Once a run is closed its child is in no registry, and no scope or task of it is left."""
    home.script(hang())
    before = home.host.agents.list()
    run = await home.start()
    await trio.testing.wait_all_tasks_blocked()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run.aclose)
        nursery.start_soon(run.aclose)
    assert home.host.agents.list() == before
    assert not home.parent.nursery.child_tasks


@pytest.mark.guarantee("B-DRV-15")
async def test_a_child_is_published_before_it_does_anything(home: Home) -> None:
    """A start returns at publication, without waiting for anything that the child does."""
    release, asked_at_start = trio.Event(), list[int]()

    async def answer(_: ChatRequest) -> ChatResponse:
        await release.wait()
        return say("done")

    model = home.script(answer)
    home.parent.hooks.on(RunStarted, lambda _: asked_at_start.append(len(model.requests)))
    async with await home.start() as run:
        release.set()
        assert (await run.result()).completed
    assert asked_at_start == [0]


@pytest.mark.guarantee("B-DRV-26")
async def test_a_run_takes_no_messages(home: Home) -> None:
    """A one-shot run has no way to be sent anything or to be resumed."""
    home.script(say("done"))
    async with await home.start() as run:
        for name in ("send", "message", "steer", "resume"):
            assert not hasattr(run, name)


@pytest.mark.guarantee("B-SPN-05")
def test_what_spawn_says_of_itself() -> None:
    """Spawn offers every optional field, and no parent's conversation."""
    assert SpawnProvider.inherits_parent_context is False
    assert SpawnProvider.capabilities == EVERYTHING


@pytest.mark.guarantee("B-DRV-30")
async def test_what_a_caller_changes_after_the_start_changes_nothing(home: Home) -> None:
    """The prompt's blocks and the schema are those of the moment of the start."""
    model = home.script(call("structured_output", v=1))
    prompt = [TextBlock(text="one")]
    schema: dict[str, Any] = {"type": "object", "properties": {"v": {"type": "integer"}}}
    async with await home.start(prompt=prompt, output_schema=schema) as run:
        prompt.append(TextBlock(text="two"))
        schema["properties"]["v"] = {"type": "string"}
        assert (await run.result()).structured == {"v": 1}
    (sent,) = model.requests[0].messages[0].content
    assert isinstance(sent, TextBlock)
    assert sent.text.endswith("\none")  # after the line that asks for the structured answer


async def test_a_spawned_childs_log_is_legal(home: Home) -> None:
    logs = list[Any]()
    home.host.hooks.on(AgentDisposed, lambda event: logs.append(event.agent.session.events))
    home.host.tools.register(tool("look"))
    home.script(call("look"), say("done"))
    await home.run()
    check_log(logs[0])
