"""A child that answers in a shape: from the instruction to the value, or the lack of one."""

from typing import Any

import pytest
import trio
import trio.testing
from home import Home, last_result, offered, result_text, text_of, tool
from pydantic import BaseModel, field_validator

from dsh.agent import (
    ASSEMBLY,
    CONTINUATION,
    MODEL_CALL,
    POST_EXECUTE,
    PRE_EXECUTE,
    Accept,
    Agent,
    AgentCreated,
    AgentDisposed,
    AgentOptions,
    Allow,
    Ask,
    Block,
    ChatRequest,
    Continuation,
    Deny,
    Draft,
    EventLogged,
    ImageBlock,
    ModelCallConfig,
    Next,
    Section,
    StepContext,
    TextBlock,
    ToolCallBlock,
    ToolExecution,
    ToolOutcome,
    ToolResultBlock,
    ToolSchema,
    TurnEnded,
    check_log,
    thaw_json,
)
from dsh.agent.testing import call, call_raw, fail, hang, reply, say, think
from dsh.subagent import SubagentService
from dsh.subagent_fork import ForkProvider
from dsh.subagent_spawn import SpawnProvider
from dsh.tools_jsonschema import OutputSchemaError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"v": {"type": "integer", "description": "The value."}},
    "required": ["v"],
    "additionalProperties": False,
}


def the_tool(request: ChatRequest) -> ToolSchema:
    [found] = [each for each in request.tools or () if each.name == "structured_output"]
    return found


def object_of(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "integer"}}}


def answer(call_id: str = "call-1", **arguments: object) -> Any:
    return call("structured_output", call_id=call_id, **arguments)


# what its model is sent


@pytest.mark.guarantee("B-SO-01", "B-SO-03", "B-SO-13")
@pytest.mark.field_case("B049", "B043")
async def test_a_valid_call_is_the_value(home: Home) -> None:
    """The child is offered one tool with the very schema, and the value of its call comes back."""
    model = home.script(answer(v=7))
    result = await home.run(output_schema=SCHEMA)
    assert (result.completed, result.structured, result.value) == (True, {"v": 7}, {"v": 7})
    offer = the_tool(model.requests[0])
    assert (offer.name, thaw_json(offer.parameters)) == ("structured_output", SCHEMA)
    assert model.requests[0].tool_choice == "auto"


@pytest.mark.guarantee("B-SO-12")
async def test_the_instruction_comes_after_what_the_system_text_says(home: Home) -> None:
    """The instruction is added at the end of the system text, or is all of it."""
    model = home.script(answer(v=1), answer(v=1))
    await home.run(output_schema=SCHEMA)
    home.host.prompt.register(Section(name="deployment:persona", text="We are ACME."))
    await home.run(output_schema=SCHEMA)
    alone, after = (str(request.system) for request in model.requests)
    assert alone.startswith("Report your final answer by calling the tool `structured_output`")
    assert after == f"We are ACME.\n\n{alone}"


async def test_a_line_before_the_task_names_the_tool_too(home: Home) -> None:
    """A structured child reads the tool's name beside its task; any other reads its task alone."""
    model = home.script(answer(v=1), say("plain"))
    await home.run(output_schema=SCHEMA)
    await home.run()
    (asked,), (plain,) = (request.messages[0].content for request in model.requests)
    assert isinstance(asked, TextBlock)
    assert isinstance(plain, TextBlock)
    demand, _, task = asked.text.partition("\n")
    assert "`structured_output`" in demand
    assert task == plain.text


async def test_a_task_that_is_a_picture_has_the_line_before_it_too(home: Home) -> None:
    """A prompt that begins with no text reaches a structured child after a block of that line."""
    model = home.script(answer(v=1))
    picture = ImageBlock(media_type="image/png", data="AAAA")
    await home.run(prompt=[picture, TextBlock(text="What is it?")], output_schema=SCHEMA)
    demand, *rest = model.requests[0].messages[0].content
    assert isinstance(demand, TextBlock)
    assert "`structured_output`" in demand.text
    assert rest == [picture, TextBlock(text="What is it?")]


@pytest.mark.guarantee("B-SO-09", "B-SO-16", "B-SO-37")
async def test_an_agent_without_a_schema_never_sees_the_tool(home: Home) -> None:
    """Beside a structured child others have no such tool: not offered, and unknown when called."""
    model = home.script(answer(v=1), say("plain"))
    block = ToolCallBlock(id="1", name="structured_output", arguments='{"v": 1}')
    async with await home.start(output_schema=SCHEMA) as run:
        await run.result()
        await home.ask("hello")
    assert (model.requests[1].tools, model.requests[1].system) == (None, None)
    for agent in (home.parent, None):
        result = await home.host.tools.execute(block, agent=agent)
        assert (result.is_error, result.code) == (True, "UNKNOWN_TOOL")


@pytest.mark.guarantee("B-SO-11", "B-SO-35")
async def test_listeners_that_replace_everything_do_not_lose_the_demand(home: Home) -> None:
    """Whatever listeners make of the request, tool and instruction are as their owner has them."""
    home.host.tools.register(tool("look"))

    async def wipe(draft: Draft, _: Agent, rest: Next[Draft]) -> Draft:
        await rest(draft)
        forged = ToolSchema(name="structured_output", description="x", parameters={})
        return Draft(parts=(), tools=(forged, forged, draft.tools[0]))

    async def other(
        config: ModelCallConfig, _: StepContext, rest: Next[ModelCallConfig]
    ) -> ModelCallConfig:
        return ModelCallConfig(model="other", options={})

    home.host.hooks.filter(ASSEMBLY, wipe, prepend=True)
    home.host.hooks.filter(MODEL_CALL, other, prepend=True)
    model = home.script(answer(v=1), say("plain"), name="other")
    assert (await home.run(output_schema=SCHEMA)).structured == {"v": 1}
    request = model.requests[0]
    assert offered(request) == ["look", "structured_output"]
    assert thaw_json(the_tool(request).parameters) == SCHEMA
    assert "`structured_output`" in str(request.system)


@pytest.mark.guarantee("B-SO-39")
async def test_a_schema_is_that_of_the_start(home: Home) -> None:
    """What the caller does to the schema later changes neither what is shown nor what is judged."""
    model = home.script(answer(v=1))
    schema = object_of("v")
    async with await home.start(output_schema=schema) as run:
        schema["properties"]["v"]["type"] = "string"
        assert (await run.result()).structured == {"v": 1}
    offer = the_tool(model.requests[0])
    assert thaw_json(offer.parameters) == object_of("v")


@pytest.mark.guarantee("B-SO-02")
async def test_a_schema_outside_the_subset_creates_nothing(home: Home) -> None:
    """A schema that could not be enforced is refused before there is a child."""
    agents = home.host.agents.list()
    with pytest.raises(OutputSchemaError):
        await home.run(output_schema={"type": "object", "if": {}})
    assert home.host.agents.list() == agents


# which call counts


@pytest.mark.guarantee("B-SO-04")
@pytest.mark.field_case("B036", "B038")
async def test_an_invalid_call_hears_every_violation_and_may_try_again(home: Home) -> None:
    """A rejected call is an error result with each violation; the same turn can mend it."""
    model = home.script(answer(w=1, x=2), call_raw("structured_output", r'{"v": a\|b'), answer(v=3))
    result = await home.run(output_schema=SCHEMA)
    assert (result.structured, result.model_requests) == ({"v": 3}, 3)
    told = result_text(model.requests[1])
    assert last_result(model.requests[1]).is_error
    assert all(word in told for word in ("v", "w", "x"))
    assert "JSON" in result_text(model.requests[2])


@pytest.mark.field_case("B029")
async def test_rejected_calls_are_counted_in_the_result(home: Home) -> None:
    home.script(*[answer(v="no")] * 3, answer(v=1))
    result = await home.run(output_schema=SCHEMA)
    assert result.completed
    assert result.detail == "structured_output was rejected 3 times before it was valid"


@pytest.mark.guarantee("B-SO-03")
async def test_an_empty_value_is_a_value(home: Home) -> None:
    """An empty object counts as captured like any other."""
    home.script(answer())
    result = await home.run(output_schema={"type": "object"})
    assert (result.completed, result.structured) == (True, {})


@pytest.mark.guarantee("B-SO-05")
@pytest.mark.field_case("B030")
async def test_a_capture_ends_the_turn(home: Home) -> None:
    """Nothing is asked of the model once it has answered."""
    model = home.script(answer(v=1))
    await home.run(output_schema=SCHEMA)
    model.check()


@pytest.mark.guarantee("B-SO-32", "B-SO-33")
@pytest.mark.field_case("B034")
async def test_calls_before_the_answer_run_and_calls_after_it_do_not(home: Home) -> None:
    """Of one response the first valid answer counts; what comes before runs, the rest is denied."""
    home.host.tools.register(tool("look", "seen"))
    results = list[tuple[str, bool]]()

    def note(event: AgentDisposed) -> None:
        for message in event.agent.session.messages:
            for block in message.content:
                if isinstance(block, ToolResultBlock):
                    text = "".join(b.text for b in block.content if isinstance(b, TextBlock))
                    results.append((text, block.is_error))
        check_log(event.agent.session.events)

    home.host.hooks.on(AgentDisposed, note)
    home.script(
        reply(
            call("look", call_id="1"), answer("2", v=1), answer("3", v=2), call("look", call_id="4")
        )
    )
    assert (await home.run(output_schema=SCHEMA)).structured == {"v": 1}
    assert [is_error for _, is_error in results] == [False, False, True, True]
    assert [text for text, _ in results][:2] == ["seen", "The structured output was recorded."]
    assert "structured_output was not run" in results[2][0]
    assert "look was not run" in results[3][0]


def reviewing(*outcomes: Any) -> Any:
    """A review that gives these outcomes, one for each result."""
    left = list(outcomes)

    async def review(_: Any, outcome: ToolOutcome, rest: Next[Accept | Block]) -> Accept | Block:
        return left.pop(0) if left else await rest(Accept())

    return review


@pytest.mark.guarantee("B-SO-25", "B-SO-26", "B-SO-27")
async def test_a_call_blocked_after_it_ran_was_no_answer(home: Home) -> None:
    """Only a final result that is a success captures what its call had parked."""
    home.host.hooks.filter(POST_EXECUTE, reviewing(Block(feedback="not like this")))
    model = home.script(answer(v=1), say("done"))
    result = await home.run("spawn", output_schema=SCHEMA, agent_options=AgentOptions(max_steps=2))
    assert result.structured is None
    assert result_text(model.requests[1]) == "not like this"
    assert (result.stop_reason, len(model.requests)) == ("error", 3)


@pytest.mark.guarantee("B-SO-30")
async def test_a_parked_value_is_not_promoted_by_a_later_call_with_its_id(home: Home) -> None:
    """Call ids repeat; a value parked by a call that failed is gone with that call."""
    home.host.hooks.filter(POST_EXECUTE, reviewing(Block(feedback="no")))
    home.script(answer("same", v=1), answer("same", v="bad"), answer("same", v=2))
    result = await home.run(output_schema=SCHEMA)
    assert (result.structured, result.detail) == (
        {"v": 2},
        "structured_output was rejected 2 times before it was valid",
    )


@pytest.mark.guarantee("B-SO-30")
async def test_a_call_denied_before_it_ran_promotes_nothing(home: Home) -> None:
    """A capture that a policy denies was no capture."""
    denials = [Deny(reason="later")]

    async def deny(
        decision: Allow | Ask | Deny, _: ToolExecution, rest: Next[Allow | Ask | Deny]
    ) -> Allow | Ask | Deny:
        return denials.pop() if denials else await rest(decision)

    home.host.hooks.filter(PRE_EXECUTE, deny)
    home.script(answer("same", v=1), answer("same", v=2))
    assert (await home.run(output_schema=SCHEMA)).structured == {"v": 2}


@pytest.mark.guarantee("B-SO-28", "B-SO-29")
async def test_a_result_worded_anew_still_commits_what_was_called_with(home: Home) -> None:
    """The outermost, last registered review decides; other content changes no value."""

    def compose(event: Any) -> None:
        content = (TextBlock(text="thanks"),)
        event.agent.hooks.filter(POST_EXECUTE, reviewing(Accept(content=content)), prepend=True)

    home.host.hooks.on(AgentCreated, compose)
    home.script(answer(v=5))
    assert (await home.run(output_schema=SCHEMA)).structured == {"v": 5}


@pytest.mark.guarantee("B-SO-34", "B-SO-22")
async def test_nothing_revives_a_turn_that_has_its_answer(home: Home) -> None:
    """Neither a listener that forces another step nor steering gets past the answer."""

    async def go_on(
        _: Continuation, context: StepContext, rest: Next[Continuation]
    ) -> Continuation:
        context.agent.steer("and another thing")
        return Continuation(go_on=True)

    async def allow(
        _: Allow | Ask | Deny, __: ToolExecution, rest: Next[Allow | Ask | Deny]
    ) -> Allow | Ask | Deny:
        return Allow()

    home.host.hooks.filter(CONTINUATION, go_on, prepend=True)
    home.host.hooks.filter(PRE_EXECUTE, allow, prepend=True)
    home.host.tools.register(tool("look"))
    model = home.script(reply(answer("1", v=1), call("look", call_id="2")))
    assert (await home.run(output_schema=SCHEMA)).structured == {"v": 1}
    model.check()


@pytest.mark.guarantee("B-SO-10")
async def test_two_structured_children_have_a_schema_each(home: Home) -> None:
    """Side by side, each child is shown and held to its own schema, whichever ends first."""
    barrier = trio.Event()

    async def model(request: Any) -> Any:
        [offer] = request.tools
        if "a" in offer.parameters["properties"]:
            await barrier.wait()
            return answer(a=1)
        return answer(b=2)

    home.script(model, model)
    first = await home.start(output_schema=object_of("a"))
    second = await home.start(output_schema=object_of("b"))
    assert (await second.result()).structured == {"b": 2}
    barrier.set()
    assert (await first.result()).structured == {"a": 1}


# no answer


@pytest.mark.guarantee("B-SO-06", "B-SO-20", "B-SO-21")
@pytest.mark.field_case("B027", "B048", "B053")
async def test_a_child_that_ends_in_prose_is_asked_again_and_then_fails(home: Home) -> None:
    """A clean end without the answer is asked again as often as configured, then is an error."""
    service = SubagentService()
    for retries in (0, 1, 2):
        name = f"spawn-{retries}"
        service.register(
            SpawnProvider(home.host.agents, name=name, structured_nudge_retries=retries)
        )
    model = home.script(*[say("v is 7")] * 6)
    for retries in (0, 1, 2):
        before = len(model.requests)
        result = await service.run(f"spawn-{retries}", home.request(output_schema=SCHEMA))
        assert (result.stop_reason, result.text) == ("error", "v is 7")
        assert "no valid call of structured_output" in str(result.detail)
        asked = model.requests[before:]
        assert [each.tool_choice for each in asked] == ["auto"] + ["required"] * retries
        assert result.model_requests == len(asked)
    roles = [each.role for each in asked[-1].messages]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert text_of(asked[-1].messages[-1]).startswith("You finished without calling")


@pytest.mark.guarantee("B-SO-20")
@pytest.mark.field_case("B027")
async def test_the_answer_to_a_nudge_counts(home: Home) -> None:
    """Asked again, a child may still give its answer; both turns are counted."""
    home.script(say("v is 7"), answer(v=7))
    result = await home.run(output_schema=SCHEMA)
    assert (result.structured, result.model_requests) == ({"v": 7}, 2)


@pytest.mark.guarantee("B-SO-07", "B-SO-21")
@pytest.mark.field_case("B047", "B037")
async def test_any_other_end_keeps_its_reason_and_is_not_asked_again(home: Home) -> None:
    """Cut, refused and failed children say so, and no nudge is spent on them."""
    cut = call_raw("structured_output", '{"v": 1}')
    model = home.script(
        reply(cut, finish_reason="max_tokens"),
        say("I cannot help", finish_reason="refusal"),
        fail("401"),
    )
    results = [await home.run(output_schema=SCHEMA) for _ in range(3)]
    assert [each.stop_reason for each in results] == ["max_tokens", "refusal", "error"]
    assert [each.structured for each in results] == [None, None, None]
    assert (results[1].text, results[2].detail) == ("I cannot help", "401")
    model.check()


@pytest.mark.field_case("B028", "B035", "B046")
async def test_an_always_invalid_model_is_bounded_and_says_what_was_wrong(home: Home) -> None:
    def invalid(request: Any) -> Any:
        number = len(request.messages)
        return reply(say(f"analysis {number}"), answer(v=f"bad {number}"))

    model = home.script(*[invalid] * 10)
    result = await home.run(output_schema=SCHEMA, agent_options=AgentOptions(max_steps=3))
    assert (result.stop_reason, result.text) == ("max_steps", "analysis 5")
    assert len(model.requests) == result.model_requests == 3
    detail = str(result.detail)
    for part in ("3 steps", "structured_output", "rejected 3 times", "integer", '"bad 5"'):
        assert part in detail
    assert result.usage is not None


@pytest.mark.guarantee("B-SO-38")
async def test_cancelled_without_its_answer_a_child_is_aborted(home: Home) -> None:
    """A clean end without the answer is told as the cancellation when there was one."""
    scope = trio.CancelScope()

    def cancel(event: EventLogged) -> None:
        if isinstance(event.event, TurnEnded):
            scope.cancel("enough")

    home.host.hooks.on(EventLogged, cancel)
    model = home.script(say("prose"))
    result = await home.run(output_schema=SCHEMA, cancel_scope=scope)
    assert (result.stop_reason, result.detail, result.text) == ("aborted", "enough", "prose")
    model.check()


@pytest.mark.guarantee("B-SO-08")
async def test_a_value_is_reported_whatever_the_end(home: Home) -> None:
    """Captured and then cancelled, a child has both a value and its reason."""

    async def hold(
        verdict: Continuation, context: StepContext, rest: Next[Continuation]
    ) -> Continuation:
        await trio.sleep_forever()
        raise AssertionError

    home.host.hooks.filter(CONTINUATION, hold)
    home.script(answer(v=1))
    async with await home.start(output_schema=SCHEMA) as run:
        await trio.testing.wait_all_tasks_blocked()
        run.cancel("enough")
        result = await run.result()
    assert (result.stop_reason, result.structured, result.value) == ("aborted", {"v": 1}, {"v": 1})


# whose it is


@pytest.mark.guarantee("B-SO-14", "B-SO-15", "B-SO-24")
async def test_the_runtime_is_the_childs_and_ends_with_it(home: Home) -> None:
    """Taking the backend away does not take the tool; with the child nothing of it is left."""
    service, release = SubagentService(), trio.Event()
    registration = service.register(SpawnProvider(home.host.agents))

    async def later(_: Any) -> Any:
        await release.wait()
        return answer(v=1)

    home.script(later)
    before = dict(home.host.tools.visible())
    async with await service.start("spawn", home.request(output_schema=SCHEMA)) as run:
        registration.close()
        child = home.agent(run.id)
        assert list(child.tools.own()) == ["structured_output"]
        assert dict(home.host.tools.visible()) == before
        release.set()
        assert (await run.result()).structured == {"v": 1}
    assert not child.tools.own()


async def test_two_hosts_share_nothing(home: Home) -> None:
    fork = ForkProvider(home.host.agents, name="other")
    service = SubagentService()
    service.register(fork)
    home.script(answer(v=1))
    assert (await service.run("other", home.request(output_schema=SCHEMA))).structured == {"v": 1}


# types


class Summary(BaseModel):
    """A type with a rule that no schema has."""

    title: str

    @field_validator("title")
    @classmethod
    def _is_capitalised(cls, title: str) -> str:
        if not title[:1].isupper():
            raise ValueError("a title begins with a capital letter")
        return title


async def test_a_type_is_held_to_its_own_rules_before_it_counts(home: Home) -> None:
    model = home.script(answer(title="lower"), answer(title="Upper"))
    result = await home.run(output_schema=Summary)
    assert result.value == Summary(title="Upper")
    assert "begins with a capital letter" in result_text(model.requests[1])


@pytest.mark.field_case("B031")
async def test_a_valid_answer_is_judged_once(home: Home) -> None:
    judged = list[str]()

    class Counted(BaseModel):
        title: str

        @field_validator("title")
        @classmethod
        def _note(cls, title: str) -> str:
            judged.append(title)
            return title

    home.script(answer(title="one"))
    async with await home.start(output_schema=Counted) as run:
        assert await run.result() is await run.result()
    assert judged == ["one"]


async def test_a_type_that_is_no_object_is_wrapped(home: Home) -> None:
    home.script(answer(value=[1, 2]))
    result = await home.run(output_schema=list[int])
    assert (result.value, result.structured) == ([1, 2], {"value": [1, 2]})


async def test_thinking_beside_the_call_is_fine(home: Home) -> None:
    home.script(reply(think("hm"), answer(v=1)), hang())
    assert (await home.run(output_schema=SCHEMA)).completed
