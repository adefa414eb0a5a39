"""One model request: what it carries, and what comes of the answer."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from dsh.agent import (
    MODEL_CALL,
    Agent,
    AgentId,
    AgentOptions,
    AgentSpec,
    AssistantMessage,
    ChatRequest,
    ChatResponse,
    DelegatedUsage,
    InvalidAgentOptionsError,
    JsonValueError,
    ModelCallConfig,
    ModelDelta,
    Next,
    OnDelta,
    PartialMessage,
    RequestHeader,
    Section,
    StepContext,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    ToolExecution,
    TurnEnded,
    Usage,
    check_request,
)
from dsh.agent.testing import Script, ScriptedModel, call, fail, hang, reply, say, think
from dsh.agent_loop import AgentLoopError, Host, NoModelError, open_host
from dsh.agent_loop._agent import LoopAgent

Follow = Callable[..., ScriptedModel]
Ends = Callable[[Agent], list[tuple[str, str | None]]]


def end(agent: Agent) -> TurnEnded:
    last = agent.session.events[-1]
    assert isinstance(last, TurnEnded)
    return last


@pytest.mark.guarantee("B-AGT-29")
async def test_without_a_model_a_turn_fails_before_any_call_unless_a_hook_supplies_one(
    ends: Ends,
) -> None:
    """An agent with no model anywhere fails its turn, saying how to set one; a hook may help."""

    async def supply(
        value: ModelCallConfig, at: StepContext, next: Next[ModelCallConfig]
    ) -> ModelCallConfig:
        return ModelCallConfig(model="scripted", options=value.options)

    async with open_host() as host:
        model = ScriptedModel(say("ok"))
        host.models.register(model, "scripted")
        async with host.agents.open(AgentSpec(id=AgentId("a"))) as agent:
            agent.send("go")
            await agent.wait_idle()
            assert (end(agent).reason, end(agent).code) == ("error", NoModelError.code)
            assert "agent 'a' has no model" in (end(agent).detail or "")
            assert model.requests == ()
            agent.hooks.filter(MODEL_CALL, supply)
            agent.send("go")
            await agent.wait_idle()
    assert end(agent).reason == "completed"
    with pytest.raises(TypeError, match="base class"):
        AgentLoopError("no")


@pytest.mark.field_case("B109")
async def test_an_unknown_model_fails_the_turn_at_once_and_by_name(
    host: Host, script: Follow
) -> None:
    script()
    spec = AgentSpec(options=AgentOptions(model="no/such"))
    async with host.agents.open(spec) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert (end(agent).reason, end(agent).code) == ("error", "NO_ADAPTER")
    assert "'no/such'" in (end(agent).detail or "")


@pytest.mark.guarantee("B-LLM-03", "B-AGT-30")
@pytest.mark.parametrize(
    ("step", "code"),
    [
        (fail("gone", code="SERVER", partial="so far"), "SERVER"),
        (
            ChatResponse(content=(TextBlock(text="so far"),), finish_reason="error", detail="gone"),
            "UNKNOWN",
        ),
        (
            ChatResponse(
                content=(TextBlock(text="so far"),), finish_reason="aborted", detail="gone"
            ),
            "ABORTED",
        ),
    ],
)
async def test_a_model_that_fails_by_raising_or_by_saying_so_fails_the_step(
    host: Host, script: Follow, step: object, code: str
) -> None:
    """Both ways of failing end the turn as an error with the code, and keep the visible text."""
    script(step)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert (end(agent).reason, end(agent).detail, end(agent).code) == ("error", "gone", code)
    assert [e.text for e in agent.session.events if isinstance(e, PartialMessage)] == ["so far"]
    assert not [e for e in agent.session.events if isinstance(e, AssistantMessage)]


async def test_what_was_written_of_an_answer_that_was_cut_is_kept(
    host: Host, script: Follow, ends: Ends
) -> None:
    model = script(hang("half an ans"), say("whole"))
    handle = await host.agents.create(AgentSpec())
    handle.agent.send("go")
    await wait_all_tasks_blocked()
    handle.agent.cancel()
    await handle.agent.wait_idle()
    partial = [e.text for e in handle.agent.session.events if isinstance(e, PartialMessage)]
    assert partial == ["half an ans"]
    handle.agent.send("again")
    await handle.agent.wait_idle()
    assert [m.role for m in model.requests[-1].messages] == ["user", "user"]


@pytest.mark.guarantee("B-AGT-31")
async def test_an_answer_is_logged_if_it_says_or_costs_something(
    host: Host, script: Follow, ends: Ends
) -> None:
    """Without content and without usage there is no message in the log; with either there is."""
    script(ChatResponse(content=()), ChatResponse(content=(), usage=Usage(input_tokens=3)))
    async with host.agents.open(AgentSpec()) as agent:
        for _ in range(2):
            agent.send("go")
            await agent.wait_idle()
    (logged,) = [e for e in agent.session.events if isinstance(e, AssistantMessage)]
    assert logged.usage == Usage(input_tokens=3)
    assert ends(agent) == [("completed", None)] * 2


@pytest.mark.guarantee("B-AGT-32")
@pytest.mark.field_case("B006", "B172")
async def test_an_answer_cut_by_the_limit_makes_no_calls_and_ends_the_turn(
    host: Host, script: Follow, ends: Ends
) -> None:
    """A truncated response keeps its text, loses its calls, and ends the turn whatever waits."""
    usage = Usage(output_tokens=9)
    cut = reply(say("PART1-"), call("unknown"), finish_reason="max_tokens", usage=usage)
    model = script(cut, say("next"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
        (answer,) = [e for e in agent.session.events if isinstance(e, AssistantMessage)]
        assert answer.message.content == (TextBlock(text="PART1-"),)
        assert (answer.finish_reason, answer.usage, agent.usage) == ("max_tokens", usage, usage)
        assert ends(agent) == [("max_tokens", None)]
        agent.send("again")
        await agent.wait_idle()
    assert len(model.requests) == 2


@pytest.mark.field_case("B021", "B024")
async def test_a_cut_answer_without_text_and_a_refusal_are_no_success(
    host: Host, script: Follow, ends: Ends
) -> None:
    thought = reply(think("hm" * 1000), finish_reason="max_tokens")
    model = script(thought, ChatResponse(content=(), finish_reason="refusal", detail="unsafe"))
    async with host.agents.open(AgentSpec()) as agent:
        for _ in range(2):
            agent.send("go")
            await agent.wait_idle()
    assert ends(agent) == [("max_tokens", None), ("refusal", "unsafe")]
    assert len(model.requests) == 2


async def test_deltas_are_passed_on_to_whoever_listens(host: Host, script: Follow) -> None:
    script(reply(think("hm"), say("ok")))
    heard: list[object] = []
    async with host.agents.open(AgentSpec()) as agent:
        agent.hooks.on(ModelDelta, lambda event: heard.append((event.agent_id, event.delta)))
        agent.send("go")
        await agent.wait_idle()
    deltas = [ThinkingDelta(text="hm"), TextDelta(text="ok")]
    assert heard == [(agent.id, delta) for delta in deltas]


async def test_the_header_is_logged_when_it_changes_and_vouches_for_the_request(
    host: Host,
) -> None:
    agents: list[Agent] = []

    def checked(request: object) -> ChatResponse:
        check_request(agents[0].session.events, request)  # type: ignore[arg-type]
        return say("ok")

    host.models.register(ScriptedModel(*[checked] * 3), "scripted")
    async with host.agents.open(AgentSpec()) as agent:
        agents.append(agent)
        for _ in range(2):
            agent.send("go")
            await agent.wait_idle()
        agent.prompt.register(Section(name="new", text="Be brief."))
        agent.send("go")
        await agent.wait_idle()
    systems = [e.system for e in agent.session.events if isinstance(e, RequestHeader)]
    assert systems == [None, "Be brief."]
    assert end(agent).reason == "completed"


async def test_a_given_header_is_sent_as_it_is(host: Host, script: Follow) -> None:
    model = script(say("ok"))
    host.prompt.register(Section(name="new", text="Be brief."))
    header = RequestHeader(model="scripted", system="Be verbose.", options={"seed": 1})
    async with host.agents.open(AgentSpec(header=header)) as agent:
        agent.send("go")
        await agent.wait_idle()
    (request,) = model.requests
    assert (request.system, request.tools, dict(request.options)) == (
        "Be verbose.",
        None,
        {"seed": 1},
    )
    assert header.asks_like(agent.session.request_header)


async def test_the_call_filter_has_its_say_on_a_given_header_too(
    host: Host, script: Follow
) -> None:
    model = script(say("ok"))
    asked: list[ModelCallConfig] = []

    async def cool(
        config: ModelCallConfig, context: StepContext, call_next: Next[ModelCallConfig]
    ) -> ModelCallConfig:
        asked.append(config)
        return await call_next(replace(config, options={**config.options, "temperature": 0}))

    host.hooks.filter(MODEL_CALL, cool)
    header = RequestHeader(model="scripted", system="Be verbose.", options={"seed": 1})
    async with host.agents.open(AgentSpec(header=header)) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert asked == [ModelCallConfig(model="scripted", options={"seed": 1})]
    (request,) = model.requests
    assert (request.system, request.tools) == ("Be verbose.", None)
    assert dict(request.options) == {"seed": 1, "temperature": 0}
    assert replace(header, options=request.options).asks_like(agent.session.request_header)


async def test_an_agent_that_composes_nothing_has_no_layers_after_its_turns(
    host: Host, script: Follow, offer: Callable[..., None]
) -> None:
    script(call("look"), say("done"))

    async def look(execution: ToolExecution) -> str:
        return "seen"

    offer("look", look)
    host.prompt.register(Section(name="where", text="You are in {{cwd}}."))
    async with host.agents.open(AgentSpec(cwd="/srv")) as agent:
        assert isinstance(agent, LoopAgent)
        agent.send("go")
        await agent.wait_idle()
        assert agent.hooks_in_force is host.hooks
        assert agent.tools_in_force is host.tools
        assert agent.prompt_in_force is host.prompt


async def test_only_pieces_of_the_answer_that_is_being_written_are_heard(
    host: Host, ends: Ends
) -> None:
    kept: list[OnDelta] = []
    heard: list[object] = []

    class Careless:
        async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
            kept.append(on_delta)
            on_delta(TextDelta(text="part"))
            if len(kept) > 1:
                on_delta(TextDelta(text=3 if len(kept) == 2 else None))  # type: ignore[arg-type]
            return say("whole")

    host.models.register(Careless(), "scripted")
    async with host.agents.open(AgentSpec()) as agent:
        agent.hooks.on(ModelDelta, lambda event: heard.append(event.delta))
        for _ in range(3):
            agent.send("go")
            await agent.wait_idle()
            kept[-1](TextDelta(text="late"))
    assert heard == [TextDelta(text="part")] * 3
    wrong = "a model's delta is a TextDelta or ThinkingDelta with a str, not "
    assert ends(agent) == [
        ("completed", None),
        ("error", f"{wrong}TextDelta(text=3)"),
        ("error", f"{wrong}TextDelta(text=None)"),
    ]


async def test_tallies_include_what_children_cost(host: Host, script: Follow) -> None:
    script(say("ok", usage=Usage(input_tokens=10)))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
        agent.dispatch(
            DelegatedUsage(
                child_id=AgentId("c"),
                usage=Usage(input_tokens=20),
                model_requests=2,
                tool_calls=3,
            )
        )
    assert agent.usage == Usage(input_tokens=30)
    assert (agent.model_requests, agent.tool_calls) == (3, 3)


async def test_an_agents_options_are_its_hosts_where_it_leaves_them_open() -> None:
    defaults = AgentOptions(model="a", options={"seed": 1, "top_p": 1}, max_steps=7)
    async with open_host(options=defaults) as host:
        own = AgentOptions(options={"seed": 2}, max_parallel_tool_calls=2)
        async with host.agents.open(AgentSpec(options=own)) as agent:
            assert agent.options == AgentOptions(
                model="a",
                options={"seed": 2, "top_p": 1},
                max_steps=7,
                max_parallel_tool_calls=2,
            )


def test_options_no_agent_could_work_with_are_refused() -> None:
    with pytest.raises(InvalidAgentOptionsError, match="max_steps must be a positive integer"):
        AgentOptions(max_steps=0)
    with pytest.raises(TypeError, match="max_parallel_tool_calls"):
        AgentOptions(max_parallel_tool_calls=True)
    with pytest.raises(JsonValueError):
        AgentOptions(options={"seed": float("nan")})


@pytest.mark.field_case("B120")
async def test_a_limit_of_requests_is_no_limit_of_agents(host: Host) -> None:
    """Agents nested deeper than the limit do not wait for each other's requests."""
    running: list[int] = [0, 0]

    def level(depth: int) -> Script:
        async def answer(request: ChatRequest) -> ChatResponse:
            running[0] += 1
            running[1] = max(running)
            await trio.lowlevel.checkpoint()
            running[0] -= 1
            return say(f"level {depth}")

        return answer

    host.models.register(
        ScriptedModel(*[level(depth) for depth in range(20)]), "limited", max_concurrent=2
    )
    options = AgentOptions(model="limited")

    async def nest(depth: int, parent: Agent | None) -> None:
        spec = AgentSpec(options=options, depth=depth, parent=parent)
        async with host.agents.open(spec) as agent:
            agent.send("go")
            await agent.wait_idle()
            async with trio.open_nursery() as nursery:
                for _ in range(2 if depth < 3 else 0):
                    nursery.start_soon(nest, depth + 1, agent)

    await nest(0, None)
    assert running[1] <= 2
