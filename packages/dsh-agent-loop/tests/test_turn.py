"""A turn and its steps: their order, their hooks, and the ways they end."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from dsh.agent import (
    ASSEMBLY,
    CONTINUATION,
    MODEL_CALL,
    PRE_STEP,
    PROMPT_SUBMIT,
    STEP_RESULT,
    TURN_STOP,
    Agent,
    AgentOptions,
    AgentSpec,
    AgentStatusChanged,
    AssistantMessage,
    ChatRequest,
    ChatResponse,
    ContextMessage,
    Continuation,
    Draft,
    EventLogged,
    Message,
    MessageQueued,
    ModelCallConfig,
    Next,
    PromptBlocked,
    PromptSubmission,
    RequestHeader,
    SessionEvent,
    SteeringMessage,
    StepContext,
    StepStarted,
    TextBlock,
    ToolExecution,
    TurnEnded,
    TurnFailed,
    UserMessage,
)
from dsh.agent.testing import ScriptedModel, call, fail, hang, say
from dsh.agent_loop import Host

Follow = Callable[..., ScriptedModel]
Ends = Callable[[Agent], list[tuple[str, str | None]]]
Offer = Callable[..., None]


def kinds(agent: Agent) -> list[str]:
    return [type(event).__name__ for event in agent.session.events]


def context(text: str) -> Message:
    return Message(role="user", content=(TextBlock(text=text),), source="test")


async def noop(execution: ToolExecution) -> str:
    return "ok"


@pytest.mark.guarantee("B-AGT-24")
async def test_a_prompt_is_let_through_replaced_enriched_or_blocked(
    host: Host, script: Follow, ends: Ends
) -> None:
    """Each message passes the submit filter on its own, before anything of it is logged."""

    async def judge(
        value: PromptSubmission, agent: Agent, next: Next[PromptSubmission]
    ) -> PromptSubmission:
        value = await next(value)
        match value.message.content:
            case (TextBlock(text="secret"),):
                return replace(value, blocked="not for models")
            case (TextBlock(text="hello"),):
                return replace(value, message=context("HELLO"), context=(context("be brief"),))
            case _:
                return value

    script(say("ok"))
    host.hooks.filter(PROMPT_SUBMIT, judge)
    async with host.agents.open(AgentSpec()) as agent:
        for text in ("secret", "hello", "plain"):
            agent.send(text)
        await agent.wait_idle()
    assert kinds(agent)[1:5] == ["PromptBlocked", "UserMessage", "ContextMessage", "UserMessage"]
    blocked = agent.session.events[1]
    assert isinstance(blocked, PromptBlocked)
    assert blocked.reason == "not for models"
    assert ends(agent) == [("completed", None)]


@pytest.mark.guarantee("B-AGT-25")
async def test_a_turn_whose_prompts_are_all_blocked_asks_no_model(
    host: Host, script: Follow, ends: Ends
) -> None:
    """If nothing is let through the turn is rejected, with the last reason and without a step."""
    reasons = ["first", "second"]

    async def block(
        value: PromptSubmission, agent: Agent, next: Next[PromptSubmission]
    ) -> PromptSubmission:
        return replace(value, blocked=reasons.pop(0))

    model = script(say("ok"))
    with host.hooks.filter(PROMPT_SUBMIT, block):
        async with host.agents.open(AgentSpec()) as agent:
            agent.send("one")
            agent.send("two")
            await agent.wait_idle()
    assert ends(agent) == [("rejected", "second")]
    assert kinds(agent) == ["TurnStarted", "PromptBlocked", "PromptBlocked", "TurnEnded"]
    assert model.requests == ()


async def test_a_submit_filter_that_raises_costs_its_message_only(
    host: Host, script: Follow, ends: Ends
) -> None:
    async def judge(
        value: PromptSubmission, agent: Agent, next: Next[PromptSubmission]
    ) -> PromptSubmission:
        if value.message.content == (TextBlock(text="bad"),):
            raise LookupError("cannot judge")
        return value

    script(say("ok"))
    host.hooks.filter(PROMPT_SUBMIT, judge)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("bad")
        agent.send("good")
        await agent.wait_idle()
    assert ends(agent) == [("error", "cannot judge"), ("completed", None)]


@pytest.mark.guarantee("B-AGT-26")
async def test_the_stages_of_a_step_come_in_their_order(
    host: Host, script: Follow, offer: Offer
) -> None:
    """Steering, assembly, context, the step's start, configuration, header, request, result,
    answer, calls, the step's end, continuation and stop follow each other."""
    order: list[str] = []

    async def assembly(value: Draft, agent: Agent, next: Next[Draft]) -> Draft:
        order.append("assembly")
        return await next(value)

    async def pre_step(
        value: tuple[Message, ...], at: StepContext, next: Next[tuple[Message, ...]]
    ) -> tuple[Message, ...]:
        order.append("pre-step")
        return (*await next(value), context(f"step {at.step}"))

    async def config(
        value: ModelCallConfig, at: StepContext, next: Next[ModelCallConfig]
    ) -> ModelCallConfig:
        order.append("configuration")
        return await next(value)

    async def result(
        value: ChatResponse, at: StepContext, next: Next[ChatResponse]
    ) -> ChatResponse:
        order.append("result")
        return await next(value)

    async def continuation(
        value: Continuation, at: StepContext, next: Next[Continuation]
    ) -> Continuation:
        order.append("continuation")
        return await next(value)

    def stop(at: StepContext) -> bool:
        order.append("stop")
        return False

    def request(text: ChatResponse) -> Callable[[object], ChatResponse]:
        def answer(request: object) -> ChatResponse:
            order.append("request")
            return text

        return answer

    script(request(call("noop")), request(say("done")))
    offer("noop", noop)
    host.hooks.filter(ASSEMBLY, assembly)
    host.hooks.filter(PRE_STEP, pre_step)
    host.hooks.filter(MODEL_CALL, config)
    host.hooks.filter(STEP_RESULT, result)
    host.hooks.filter(CONTINUATION, continuation)
    host.hooks.stop(TURN_STOP, stop)
    host.hooks.on(EventLogged, lambda event: order.append(type(event.event).__name__))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    before = ["assembly", "pre-step", "ContextMessage", "StepStarted", "configuration"]
    after = ["StepEnded", "continuation", "stop"]
    assert order == [
        *("TurnStarted", "UserMessage", *before, "RequestHeader", "request", "result"),
        *("AssistantMessage", "ToolCalled", "ToolResulted", *after),
        *(*before, "request", "result", "AssistantMessage", *after),
        "TurnEnded",
    ]


@pytest.mark.guarantee("B-AGT-28")
async def test_the_request_filter_changes_model_and_options_and_nothing_else(
    host: Host, script: Follow
) -> None:
    """A listener may replace the configuration of a call; it is handed nothing else of it."""
    model = script(say("ok"))
    host.models.register(model, "other")

    async def config(
        value: ModelCallConfig, at: StepContext, next: Next[ModelCallConfig]
    ) -> ModelCallConfig:
        with pytest.raises(AttributeError):
            value.model = "mutated"  # type: ignore[misc]
        return replace(await next(value), model="other", options={"temperature": 0})

    host.hooks.filter(MODEL_CALL, config)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    (request,) = model.requests
    assert (request.model, dict(request.options)) == ("other", {"temperature": 0})
    (header,) = [e for e in agent.session.events if isinstance(e, RequestHeader)]
    assert (header.model, dict(header.options)) == ("other", {"temperature": 0})


async def test_a_step_result_filter_decides_what_log_and_calls_see(
    host: Host, script: Follow
) -> None:
    async def rewrite(
        value: ChatResponse, at: StepContext, next: Next[ChatResponse]
    ) -> ChatResponse:
        await next(value)
        return say("instead")

    script(call("unknown"))
    host.hooks.filter(STEP_RESULT, rewrite)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    (answer,) = [e for e in agent.session.events if isinstance(e, AssistantMessage)]
    assert answer.message.content == (TextBlock(text="instead"),)
    assert "ToolCalled" not in kinds(agent)


@pytest.mark.guarantee("B-AGT-35")
async def test_a_turn_goes_on_while_its_steps_make_calls(
    host: Host, script: Follow, offer: Offer, ends: Ends
) -> None:
    """Without hooks a step is followed by another exactly if it made calls or was steered."""
    script(call("noop"), call("noop"), say("done"))
    offer("noop", noop)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert kinds(agent).count("StepStarted") == 3
    assert ends(agent) == [("completed", None)]


async def once_more(value: Continuation, at: StepContext, next: Next[Continuation]) -> Continuation:
    value = await next(value)
    return Continuation(go_on=True, reason="check your work") if at.step == 1 else value


async def never_on(value: Continuation, at: StepContext, next: Next[Continuation]) -> Continuation:
    return Continuation(go_on=False)


@pytest.mark.guarantee("B-AGT-36")
async def test_a_reason_to_go_on_is_told_to_the_model_and_steering_overrides_a_stop(
    host: Host, script: Follow, offer: Offer
) -> None:
    """The continuation filter decides on the next step; waiting steering has the last word."""
    model = script(say("first"), say("second"), call("steer"), say("third"))

    async def steer(execution: ToolExecution) -> str:
        assert execution.agent is not None
        execution.agent.steer("do go on")
        return "ok"

    offer("steer", steer)
    async with host.agents.open(AgentSpec()) as agent:
        with agent.hooks.filter(CONTINUATION, once_more):
            agent.send("go")
            await agent.wait_idle()
        said = [e.message for e in agent.session.events if isinstance(e, SteeringMessage)]
        assert [m.source for m in said] == ["continuation"]
        assert said[0].content == (TextBlock(text="check your work"),)
        with agent.hooks.filter(CONTINUATION, never_on):
            agent.send("again")
            await agent.wait_idle()
    assert len(model.requests) == 4


@pytest.mark.guarantee("B-AGT-37", "B-AGT-38")
async def test_a_stop_is_final_and_drops_steering_but_no_message(
    host: Host, script: Follow, offer: Offer, ends: Ends
) -> None:
    """What a stop hook ends is over: undelivered steering and any that comes until the turn has
    closed is dropped, while queued messages open the next turn."""
    script(call("steer"), say("next turn"))

    async def steer(execution: ToolExecution) -> str:
        assert execution.agent is not None
        execution.agent.steer("keep going")
        execution.agent.send("next")
        return "ok"

    def steer_late(event: EventLogged) -> None:
        if isinstance(event.event, TurnEnded) and event.event.turn == 1:
            event.agent.steer("too late")

    offer("steer", steer)
    host.hooks.on(EventLogged, steer_late)
    host.hooks.stop(TURN_STOP, lambda at: at.turn == 1)
    host.hooks.stop(TURN_STOP, lambda at: False)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    said = [e.message.content for e in agent.session.events if isinstance(e, UserMessage)]
    assert said == [(TextBlock(text="go"),), (TextBlock(text="next"),)]
    assert "SteeringMessage" not in kinds(agent)
    assert ends(agent) == [("completed", None)] * 2


async def test_a_failed_turn_is_logged_where_nobody_would_hear_of_it(
    host: Host, script: Follow, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(
        value: ChatResponse, at: StepContext, next: Next[ChatResponse]
    ) -> ChatResponse:
        raise LookupError("no answer")

    script(fail("overloaded"), say("two"), fail("heard of"), fail("a child's"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("one")
        await agent.wait_idle()
        with agent.hooks.filter(STEP_RESULT, broken):
            agent.send("two")
            await agent.wait_idle()
        with host.hooks.on(TurnFailed, lambda event: None):
            agent.send("three")
            await agent.wait_idle()
    async with host.agents.open(AgentSpec(depth=1)) as child:
        child.send("four")
        await child.wait_idle()
    logged = [(r.levelname, r.message, bool(r.exc_info)) for r in caplog.records]
    assert logged == [
        ("WARNING", f"agent {agent.id}: turn 1 failed: overloaded", False),
        ("WARNING", f"agent {agent.id}: turn 2 failed: no answer", True),
    ]


async def test_an_error_that_cannot_be_shown_fails_its_turn_and_no_other(
    host: Host, script: Follow, ends: Ends
) -> None:
    class UnprintableError(Exception):
        code = 404  # a number, as the error of an HTTP client has

        def __str__(self) -> str:
            raise LookupError("no words")

    async def broken(
        value: ChatResponse, at: StepContext, next: Next[ChatResponse]
    ) -> ChatResponse:
        raise UnprintableError

    script(say("one"), say("two"))
    async with host.agents.open(AgentSpec()) as agent:
        with agent.hooks.filter(STEP_RESULT, broken):
            agent.send("one")
            await agent.wait_idle()
        agent.send("two")
        await agent.wait_idle()
    assert ends(agent) == [("error", "UnprintableError"), ("completed", None)]


@pytest.mark.guarantee("B-AGT-39", "B-AGT-46")
async def test_a_hook_that_raises_fails_its_turn_and_no_other(
    host: Host, script: Follow, ends: Ends
) -> None:
    """An error of a filter, a stop hook or a model ends its turn; the next message is served."""
    failed: list[tuple[int, int, str]] = []
    host.hooks.on(TurnFailed, lambda e: failed.append((e.turn, e.step, str(e.error))))

    async def continuation(
        value: Continuation, at: StepContext, next: Next[Continuation]
    ) -> Continuation:
        raise LookupError("no continuation")

    def stop(at: StepContext) -> bool:
        raise LookupError("no stop")

    script(say("one"), say("two"), fail("overloaded", code="SERVER"), say("four"))
    handle = await host.agents.create(AgentSpec())
    agent = handle.agent
    with agent.hooks.filter(CONTINUATION, continuation):
        agent.send("one")
        await agent.wait_idle()
    with agent.hooks.stop(TURN_STOP, stop):
        agent.send("two")
        await agent.wait_idle()
    for text in ("three", "four"):
        agent.send(text)
        await agent.wait_idle()
    details = ["no continuation", "no stop", "overloaded"]
    assert ends(agent) == [*(("error", detail) for detail in details), ("completed", None)]
    assert failed == [(1, 1, details[0]), (2, 1, details[1]), (3, 1, details[2])]
    codes = [e.code for e in agent.session.events if isinstance(e, TurnEnded)]
    assert codes == [None, None, "SERVER", None]


@pytest.mark.guarantee("B-AGT-48")
async def test_a_listener_that_raises_disturbs_neither_turn_nor_other_listeners(
    host: Host, script: Follow, ends: Ends, caplog: pytest.LogCaptureFixture
) -> None:
    """Listeners of what an agent does are contained one by one, and their errors logged."""
    heard: list[SessionEvent] = []

    def broken(event: object) -> None:
        raise LookupError("broken listener")

    for kind in (EventLogged, AgentStatusChanged, MessageQueued):
        host.hooks.on(kind, broken)
    host.hooks.on(EventLogged, lambda event: heard.append(event.event))
    script(say("ok"))
    with caplog.at_level(logging.ERROR, "dsh.agent"):
        async with host.agents.open(AgentSpec()) as agent:
            agent.send("go")
            await agent.wait_idle()
    assert heard == list(agent.session.events)
    assert ends(agent) == [("completed", None)]
    assert "broken listener" in caplog.text


Window = Callable[[Agent], None]


def _in_filter(point: object) -> Window:
    def arm(agent: Agent) -> None:
        async def cancel(value: object, at: object, next: Next[object]) -> object:
            agent.cancel("now")
            return await next(value)

        agent.hooks.filter(point, cancel)  # type: ignore[arg-type]

    return arm


def _at_event(kind: type[SessionEvent]) -> Window:
    def arm(agent: Agent) -> None:
        def cancel(event: EventLogged) -> None:
            if isinstance(event.event, kind):
                agent.cancel("now")

        agent.hooks.on(EventLogged, cancel)

    return arm


@pytest.mark.guarantee("B-AGT-43")
@pytest.mark.parametrize(
    ("arm", "requests"),
    [
        (_in_filter(PROMPT_SUBMIT), 0),
        (_in_filter(ASSEMBLY), 0),
        (_in_filter(PRE_STEP), 0),
        (_in_filter(MODEL_CALL), 0),
        (_in_filter(STEP_RESULT), 1),
        (_in_filter(CONTINUATION), 1),
        (_at_event(UserMessage), 0),
        (_at_event(StepStarted), 0),
        (_at_event(RequestHeader), 0),
        (_at_event(AssistantMessage), 1),
    ],
)
async def test_a_cancel_takes_effect_in_every_window(
    host: Host, script: Follow, ends: Ends, arm: Window, requests: int
) -> None:
    """Wherever in a turn it is cancelled, no model is asked any more, and it ends as aborted."""
    model = script(say("ok"), say("never"))
    async with host.agents.open(AgentSpec()) as agent:
        arm(agent)
        agent.send("go")
        await agent.wait_idle()
    assert ends(agent) == [("aborted", "now")]
    assert len(model.requests) == requests


@pytest.mark.field_case("B099")
async def test_a_model_that_waits_to_try_again_is_cancelled_at_once(
    host: Host, script: Follow, ends: Ends, autojump_clock: trio.testing.MockClock
) -> None:
    class Patient:
        async def generate(self, request: object, *, on_delta: object) -> ChatResponse:
            await wait(3600)
            return say("late")

    wait: Callable[[float], Awaitable[None]] = getattr(trio, "sleep")  # noqa: B009 - a model's
    host.models.register(Patient(), "patient")
    spec = AgentSpec(options=AgentOptions(model="patient"))
    handle = await host.agents.create(spec)
    handle.agent.send("go")
    await wait_all_tasks_blocked()
    handle.agent.cancel("enough")
    await handle.agent.wait_idle()
    assert ends(handle.agent) == [("aborted", "enough")]
    assert trio.current_time() < 3600


@pytest.mark.field_case("B167")
@pytest.mark.parametrize("limit", [1, 3, 120])
async def test_the_configured_number_of_steps_is_the_one_that_counts(
    host: Host, offer: Offer, ends: Ends, limit: int
) -> None:
    host.models.register(ScriptedModel(*[call("noop")] * limit, say("over")), "scripted")
    offer("noop", noop)
    spec = AgentSpec(options=AgentOptions(max_steps=limit))
    async with host.agents.open(spec) as agent:
        agent.send("go")
        await agent.wait_idle()
        assert ends(agent) == [
            ("max_steps", f"the turn was ended after {limit} step" + "s" * (limit > 1))
        ]
        agent.send("again")
        await agent.wait_idle()
    assert ends(agent)[1] == ("completed", None)
    assert agent.model_requests == limit + 1


async def test_a_turn_cancelled_from_above_keeps_what_it_had(
    host: Host, script: Follow, ends: Ends
) -> None:
    script(hang("so far"))
    agents: list[Agent] = []

    async def run() -> None:
        async with host.agents.open(AgentSpec()) as agent:
            agents.append(agent)
            agent.send("go")
            await agent.wait_idle()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel("the user left")
    (agent,) = agents
    assert ends(agent) == [("aborted", None)]
    assert kinds(agent)[-3:] == ["PartialMessage", "StepEnded", "TurnEnded"]


async def test_context_messages_are_logged_in_their_turn(host: Host, script: Follow) -> None:
    async def remind(
        value: tuple[Message, ...], at: StepContext, next: Next[tuple[Message, ...]]
    ) -> tuple[Message, ...]:
        return (context("remember"),)

    model = script(say("ok"))
    host.hooks.filter(PRE_STEP, remind)
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("go")
        await agent.wait_idle()
    assert len(model.requests[0].messages) == 2
    assert [type(e) for e in agent.session.events].count(ContextMessage) == 1


async def test_of_the_prompts_of_one_turn_the_first_to_ask_for_a_tool_decides(
    host: Host, script: Follow
) -> None:
    model = script(say("ok"))
    async with host.agents.open(AgentSpec()) as agent:
        agent.send("one")
        agent.send("two", tool_choice="required")
        agent.send("three", tool_choice="none")
        await agent.wait_idle()
    assert [request.tool_choice for request in model.requests] == ["required"]


async def test_an_error_in_the_clean_up_of_a_cancelled_turn_is_logged_and_the_turn_aborted(
    host: Host, ends: Ends, caplog: pytest.LogCaptureFixture
) -> None:
    class Untidy:
        async def generate(self, request: ChatRequest, *, on_delta: object) -> ChatResponse:
            try:
                await trio.sleep_forever()
            finally:
                raise LookupError("on the way out")

    host.models.register(Untidy(), "scripted")
    async with host.agents.open(AgentSpec()) as agent, trio.open_nursery() as nursery:
        agent.send("go")
        nursery.start_soon(agent.wait_idle)
        await wait_all_tasks_blocked()
        agent.cancel("enough")
    assert ends(agent) == [("aborted", "enough")]
    assert "error while cancelled" in caplog.text
