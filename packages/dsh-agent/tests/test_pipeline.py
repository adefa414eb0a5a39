"""A tool call from the model's text to its final result."""

import json
import logging
from collections.abc import Awaitable, Callable
from types import MappingProxyType
from typing import Any

import pytest
import trio

from dsh.agent import (
    POST_EXECUTE,
    PRE_EXECUTE,
    TOOL_BODY,
    TOOL_GUARD,
    Accept,
    Allow,
    Ask,
    Block,
    Deny,
    HarnessError,
    TextBlock,
    Tool,
    ToolBody,
    ToolCallBlock,
    ToolError,
    ToolExecution,
    ToolFilter,
    ToolFinished,
    ToolResult,
    ToolStarted,
)


def said(text: str, **options: Any) -> ToolResult:
    return ToolResult(content=(TextBlock(text=text),), **options)


def text_of(result: ToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextBlock))


def register(layer: Any, body: Any, name: str = "work", **options: Any) -> None:
    layer.tools.register(
        Tool(
            name=name,
            description="works",
            parameters={"type": "object"},
            execute=body,
            **options,
        )
    )


def answering(answer: Any) -> Callable[[ToolExecution], Awaitable[Any]]:
    async def body(_: ToolExecution) -> Any:
        return answer

    return body


def raising(error: BaseException) -> Callable[[ToolExecution], Awaitable[ToolResult]]:
    async def body(_: ToolExecution) -> ToolResult:
        raise error

    return body


def finished(layer: Any) -> list[ToolFinished]:
    heard: list[ToolFinished] = []
    layer.hooks.on(ToolFinished, heard.append)
    return heard


async def execute(agent: Any, arguments: str = "{}", name: str = "work") -> ToolResult:
    return await agent.tools.execute(
        ToolCallBlock(id="call-1", name=name, arguments=arguments), agent=agent
    )


def decide(layer: Any, decision: Any) -> None:
    async def policy(_: Any, execution: ToolExecution, next: Any) -> Any:
        return decision

    layer.hooks.filter(PRE_EXECUTE, policy)


def review(layer: Any, verdict: Any) -> None:
    async def reviewer(_: Any, outcome: Any, next: Any) -> Any:
        await next(Accept())
        return verdict

    layer.hooks.filter(POST_EXECUTE, reviewer)


async def test_a_call_comes_to_what_the_body_returned(host: Any) -> None:
    agent = host.agent()
    register(host, answering(said("done")))
    assert await execute(agent) == said("done")


@pytest.mark.guarantee("B-TOOL-17", "B-TOOL-24")
@pytest.mark.field_case("B137")
async def test_a_hidden_tool_is_as_unknown_at_dispatch_as_one_that_never_was(host: Any) -> None:
    """A tool that an agent may not use, or that does not exist, is an error result, not run."""
    agent, ran = host.agent(), list[str]()

    async def write(execution: ToolExecution) -> ToolResult:
        ran.append(execution.name)
        return said("written")

    register(host, write, "write")
    agent.tools.restrict(ToolFilter(deny=("write",)))
    heard = finished(agent)
    for name in ("write", "nope"):
        result = await execute(agent, name=name)
        text = f"there is no tool named {name!r}; there is: none at all"
        assert result == said(text, is_error=True, code="UNKNOWN_TOOL")
    assert (await execute(host.agent("b"), name="write")) == said("written")
    assert ran == ["write"]
    assert len(heard) == 2


async def test_a_call_of_an_unknown_tool_is_told_which_there_are(host: Any) -> None:
    async def done(_: ToolExecution) -> ToolResult:
        return said("done")

    agent = host.agent()
    for number in range(22):
        register(host, done, f"tool{number:02}")
    agent.tools.restrict(ToolFilter(deny=("tool01",)))
    (text,) = (await execute(agent, name="tool01")).content
    offered = ", ".join(f"tool{number:02}" for number in range(22) if number != 1)
    twenty = offered.removesuffix(", tool21")
    assert text == TextBlock(text=f"there is no tool named 'tool01'; there is: {twenty} and 1 more")


@pytest.mark.field_case("B138")
async def test_what_is_offered_and_what_runs_come_from_one_registry(host: Any) -> None:
    agent = host.agent()
    for name in ("read", "write"):
        register(host, answering(said(f"host's {name}")), name)
    register(agent, answering(said("own output")), "output")
    agent.tools.restrict(ToolFilter(allow=("read",)))
    assert [schema.name for schema in agent.tools.schemas()] == ["output", "read"]
    assert await execute(agent, name="read") == said("host's read")
    assert await execute(agent, name="output") == said("own output")
    assert (await execute(agent, name="write")).code == "UNKNOWN_TOOL"


@pytest.mark.guarantee("B-TOOL-21")
async def test_each_dispatch_is_an_execution_of_its_own(host: Any) -> None:
    """Two dispatches of one call id are two executions, told apart by the object itself."""
    agent, seen = host.agent(), list[ToolExecution]()

    async def body(execution: ToolExecution) -> ToolResult:
        seen.append(execution)
        return said("")

    register(host, body)
    heard = finished(agent)
    for _ in range(2):
        await execute(agent)
    assert seen[0].call_id == seen[1].call_id
    assert seen[0] != seen[1]
    assert [event.execution for event in heard] == seen


@pytest.mark.guarantee("B-TOOL-22")
async def test_arguments_are_read_once_and_frozen(host: Any) -> None:
    """Policy, guard, body and observers share one frozen reading of the arguments."""
    agent, seen = host.agent(), list[Any]()

    async def policy(decision: Any, execution: ToolExecution, next: Any) -> Any:
        seen.append(execution.arguments)
        return await next(decision)

    async def body(execution: ToolExecution) -> ToolResult:
        arguments: Any = execution.arguments
        seen.append(arguments)
        with pytest.raises(TypeError):
            arguments["a"] = 2
        with pytest.raises(AttributeError):
            arguments["list"].append(3)
        return said("")

    def guard(execution: ToolExecution) -> None:
        seen.append(execution.arguments)

    agent.hooks.filter(PRE_EXECUTE, policy)
    agent.hooks.guard(TOOL_GUARD, guard)
    heard = finished(agent)
    register(host, body)
    await execute(agent, '{"a": 1, "list": [1, -0.0, 1e2, null]}')
    assert len(seen) == 3
    assert all(each is heard[0].execution.arguments for each in seen)
    assert seen[0] == MappingProxyType({"a": 1, "list": (1, -0.0, 100.0, None)})


@pytest.mark.parametrize("text", ["", "  "])
async def test_no_arguments_are_an_empty_object(host: Any, text: str) -> None:
    agent = host.agent()

    async def body(execution: ToolExecution) -> ToolResult:
        return said(f"{execution.arguments} {execution.text}")

    register(host, body)
    assert text_of(await execute(agent, text)) == "{} {}"


NOT_JSON = {
    r'{"plan": "a\|b"}': "Invalid \\escape at line 1, column 12",
    '{"items": ["a", "b"': "line 1, column 20",
    '{"n": %s}' % ("9" * 5000): "Exceeds the limit",
    "[" * 100_000: "nests too deeply",
    '{"n": NaN}': "NaN is not a JSON number",
    '{"n": 1e999}': "arguments.n: inf is not JSON",
    "[" * 300 + "]" * 300: "nests deeper than 200 levels",
}


@pytest.mark.parametrize("text", NOT_JSON, ids=lambda text: text[:12])
@pytest.mark.guarantee("B-TOOL-23")
@pytest.mark.field_case("B036", "B057", "B059")
async def test_arguments_that_are_not_json_run_nothing_and_say_why(host: Any, text: str) -> None:
    """Arguments that are not JSON are an error result, with one notification and no policy."""
    agent = host.agent()
    register(host, raising(AssertionError("ran")))
    decide(agent, Deny(reason="asked"))
    heard = finished(agent)
    result = await execute(agent, text)
    assert (result.is_error, result.code) == (True, "INVALID_ARGS")
    assert NOT_JSON[text] in text_of(result)
    assert [event.result for event in heard] == [result]
    assert heard[0].execution.arguments == text


@pytest.mark.guarantee("B-TOOL-19", "B-TOOL-20")
async def test_guards_come_after_the_policy_and_only_deny(host: Any) -> None:
    """Guards are asked after all policy, the host's first; each may deny, none may allow."""
    agent, asked = host.agent(), list[str]()
    register(host, answering(said("ran")))

    def abstains(_: ToolExecution) -> None:
        asked.append("host")

    def denies(_: ToolExecution) -> str:
        asked.append("agent")
        return "not today"

    agent.hooks.guard(TOOL_GUARD, denies)
    twice = agent.hooks.guard(TOOL_GUARD, denies)
    host.hooks.guard(TOOL_GUARD, abstains)
    decide(agent, Allow())
    twice.close()
    result = await execute(agent)
    assert result == said("work was denied: not today", is_error=True, code="DENIED")
    assert asked == ["host", "agent"]


@pytest.mark.guarantee("B-TOOL-25")
async def test_a_denied_call_is_not_run_but_reviewed_and_notified(host: Any) -> None:
    """A denial skips guards and body; review and notification happen as for any result."""
    agent = host.agent()
    register(host, raising(AssertionError("ran")))
    asked: list[ToolExecution] = []
    agent.hooks.guard(TOOL_GUARD, asked.append)
    decide(agent, Deny(reason="too late"))
    review(agent, Accept(context="and told why"))
    heard = finished(agent)
    result = await execute(agent)
    assert text_of(result) == "work was denied: too late"
    assert result.context == "and told why"
    assert [event.result for event in heard] == [result]
    assert asked == []


@pytest.mark.guarantee("B-TOOL-26")
async def test_a_call_that_needs_an_approval_is_denied(host: Any) -> None:
    """Where nobody can be asked, with or without a calling agent, asking is a denial."""
    agent = host.agent()
    register(host, raising(AssertionError("ran")))
    decide(host, Ask(reason="it deletes files"))
    for caller in (agent, None):
        call = ToolCallBlock(id="1", name="work", arguments="{}")
        result = await agent.tools.execute(call, agent=caller)
        assert result.code == "DENIED"
        assert text_of(result).endswith("it deletes files")


@pytest.mark.field_case("B146")
async def test_a_hosts_policy_is_asked_for_every_agent_and_told_which(host: Any) -> None:
    child, asked = host.agent("child"), list[Any]()

    async def policy(decision: Any, execution: ToolExecution, next: Any) -> Any:
        asked.append(execution.agent.id if execution.agent else None)
        return Deny(reason="no sql") if execution.name == "sql" else await next(decision)

    host.hooks.filter(PRE_EXECUTE, policy)
    register(host, answering(said("ran")), "sql")
    assert (await execute(child, name="sql")).code == "DENIED"
    assert asked == ["child"]


@pytest.mark.guarantee("B-TOOL-35")
async def test_an_agents_listeners_take_part_in_its_calls_only(host: Any) -> None:
    """An agent's listeners see its own calls; a call without an agent sees the host's only."""
    agent, other = host.agent(), host.agent("b")
    register(host, answering(said("")))
    heard, hosts = finished(agent), finished(host)
    await execute(other)
    call = ToolCallBlock(id="1", name="work", arguments="")
    await agent.tools.execute(call)
    assert heard == []
    assert [event.execution.agent for event in hosts] == [other, None]


@pytest.mark.guarantee("B-TOOL-27")
async def test_listeners_wrap_the_body_or_answer_in_its_place(host: Any) -> None:
    """A listener may run something around a body or instead of it, but not on other arguments."""
    agent, other = host.agent(), host.agent("b")
    register(host, answering(said("body")))

    async def around(body: ToolBody, execution: ToolExecution, next: Any) -> ToolBody:
        inner = await next(body)

        async def wrapped(given: ToolExecution) -> ToolResult:
            return said(f"<{text_of(await inner(given))}>")

        return wrapped

    async def instead(body: ToolBody, execution: ToolExecution, next: Any) -> ToolBody:
        return answering(said("cached"))

    async def swapped(body: ToolBody, execution: ToolExecution, next: Any) -> ToolBody:
        async def wrapped(_: ToolExecution) -> ToolResult:
            return await body(ToolExecution(call_id="2", name="work", arguments={}))

        return wrapped

    agent.hooks.filter(TOOL_BODY, around)
    agent.hooks.filter(TOOL_BODY, around)
    assert await execute(agent) == said("<<body>>")
    agent.hooks.filter(TOOL_BODY, instead)
    assert await execute(agent) == said("<<cached>>")
    other.hooks.filter(TOOL_BODY, swapped)
    assert (await execute(other)).code == "HOOK_VALUE"


async def test_a_raising_body_is_a_result_before_anyone_wrapped_around_it(host: Any) -> None:
    agent, seen = host.agent(), list[ToolResult]()
    register(host, raising(ValueError("broken")))

    async def around(body: ToolBody, execution: ToolExecution, next: Any) -> ToolBody:
        async def wrapped(given: ToolExecution) -> ToolResult:
            seen.append(await body(given))
            return seen[0]

        return wrapped

    agent.hooks.filter(TOOL_BODY, around)
    result = await execute(agent)
    assert seen == [result]
    assert text_of(result) == "ValueError: broken"


class OutOfSpaceError(HarnessError):
    code = "OUT_OF_SPACE"


class HostileError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


ERRORS: dict[str, tuple[Exception, str, str]] = {
    "own": (OutOfSpaceError("disk full"), "OutOfSpaceError: disk full", "OUT_OF_SPACE"),
    "told": (ToolError("no such file", code="MISSING"), "no such file", "MISSING"),
    "foreign": (KeyError("k"), "KeyError: 'k'", "TOOL_ERROR"),
    "silent": (ValueError(), "ValueError", "TOOL_ERROR"),
    "hostile": (HostileError(), "HostileError (its message cannot be shown)", "TOOL_ERROR"),
    "one": (ExceptionGroup("g", [ToolError("alone", code="X")]), "alone", "X"),
    "some": (
        ExceptionGroup("g", [ValueError("a"), ExceptionGroup("h", [ToolError("b")])]),
        "ValueError: a; b",
        "TOOL_ERROR",
    ),
}


@pytest.mark.parametrize("which", ERRORS)
@pytest.mark.guarantee("B-TOOL-28")
async def test_whatever_a_body_raises_becomes_a_readable_result(host: Any, which: str) -> None:
    """An error in a body is an error result that names it, with its code where it has one."""
    error, text, code = ERRORS[which]
    agent = host.agent()
    register(host, raising(error))
    assert await execute(agent) == said(text, is_error=True, code=code)


@pytest.mark.parametrize("point", ["policy", "guard", "body", "review"])
async def test_a_listener_that_raises_or_returns_nonsense_fails_the_call_only(
    host: Any, point: str
) -> None:
    def listen(layer: Any, listener: Any) -> None:
        filters = {"policy": PRE_EXECUTE, "body": TOOL_BODY, "review": POST_EXECUTE}
        if point == "guard":
            layer.hooks.guard(TOOL_GUARD, lambda execution: listener())  # pyright: ignore[reportUnknownLambdaType]
        else:

            async def wrapped(*_: Any) -> Any:
                return listener()

            layer.hooks.filter(filters[point], wrapped)

    def fails() -> Any:
        raise ValueError("oops")

    raises, nonsense = host.agent(), host.agent("b")
    register(host, answering(said("ran")))
    listen(raises, fails)
    listen(nonsense, lambda: 5)
    heard = finished(host)
    assert await execute(raises) == said("ValueError: oops", is_error=True, code="TOOL_ERROR")
    assert (await execute(nonsense)).code == "HOOK_VALUE"
    assert len(heard) == 2


@pytest.mark.guarantee("B-TOOL-29")
async def test_a_review_replaces_content_adds_context_or_withholds_the_result(host: Any) -> None:
    """Accepting may replace the content and add context; blocking makes the call an error."""
    register(host, answering(said("secret", context="first")))
    edits, blocks, agent = host.agent("1"), host.agent("2"), host.agent("3")
    review(edits, Accept(content=(TextBlock(text="***"),), context="second"))
    review(blocks, Block(feedback="that was a secret"))
    review(agent, Accept())
    assert await execute(edits) == said("***", context="first\n\nsecond")
    assert await execute(blocks) == said(
        "that was a secret", is_error=True, code="BLOCKED", context="first"
    )
    assert await execute(agent) == said("secret", context="first")


WRONG: dict[str, Any] = {
    "nothing": None,
    "text": "text",
    "a list": ToolResult(content=[TextBlock(text="x")]),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    "a call": ToolResult(content=(ToolCallBlock(id="", name="", arguments=""),)),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    "a flag": said("x", is_error=1),
    "a context": said("x", context=5),
}


@pytest.mark.parametrize("which", WRONG)
@pytest.mark.guarantee("B-TOOL-30")
async def test_a_result_that_could_not_be_logged_is_an_error_before_anyone_sees_it(
    host: Any, which: str
) -> None:
    """A result that is not valid blocks of text becomes an error result before review."""
    agent, reviewed = host.agent(), list[ToolResult]()
    register(host, answering(WRONG[which]))

    async def reviewer(verdict: Any, outcome: Any, next: Any) -> Any:
        reviewed.append(outcome.result)
        return await next(verdict)

    agent.hooks.filter(POST_EXECUTE, reviewer)
    result = await execute(agent)
    assert (result.is_error, result.code) == (True, "INVALID_RESULT")
    assert reviewed == [result]


@pytest.mark.field_case("B229")
async def test_lone_surrogates_in_a_result_are_replaced(host: Any) -> None:
    agent = host.agent()
    register(host, answering(said("a\ud800b \ud83d\ude00", context="\udfff")))
    result = await execute(agent)
    assert result == said("a\ufffdb \U0001f600", context="\ufffd")
    assert json.dumps(text_of(result), ensure_ascii=False).encode()
    unknown = await execute(agent, name="\ud800")
    assert text_of(unknown).encode()


@pytest.mark.guarantee("B-TOOL-31")
async def test_observers_see_the_final_result_and_change_nothing(
    host: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Observers are told the execution and its final result; one that fails is only logged."""
    agent, order = host.agent(), list[str]()
    register(host, answering(said("draft")))
    review(agent, Accept(content=(TextBlock(text="final"),)))

    def fails(event: ToolFinished) -> None:
        with pytest.raises(AttributeError):
            event.result.is_error = True  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
        order.append("finished")
        raise ValueError

    def started(_: ToolStarted) -> None:
        order.append("started")

    agent.hooks.on(ToolFinished, fails)
    agent.hooks.on(ToolStarted, started)
    heard = finished(agent)
    result = await execute(agent)
    assert result == said("final")
    assert [event.result for event in heard] == [result]
    assert order == ["started", "finished"]
    assert [r.message for r in caplog.records] == ["a listener of ToolFinished raised"]


@pytest.mark.guarantee("B-TOOL-33")
async def test_a_tool_that_is_no_typed_function_validates_for_itself(host: Any) -> None:
    """The arguments of a tool made by hand reach its body as they came, if they are JSON."""
    agent = host.agent()

    async def body(execution: ToolExecution) -> ToolResult:
        return said(repr(execution.arguments))

    register(host, body)
    assert await execute(agent, "[1]") == said("(1,)")


async def test_a_tool_that_takes_too_long_is_stopped(host: Any, autojump_clock: Any) -> None:
    agent, ended = host.agent(), list[str]()

    async def body(_: ToolExecution) -> ToolResult:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("body")

    register(host, body, timeout=5)
    result = await execute(agent)
    assert result == said("work was stopped after 5 seconds", is_error=True, code="TIMEOUT")
    assert ended == ["body"]
    assert trio.current_time() >= 5


async def test_cancelling_passes_through_a_call_and_ends_its_body(host: Any) -> None:
    agent, ended = host.agent(), list[str]()
    heard = finished(agent)

    async def body(_: ToolExecution) -> ToolResult:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("body")

    register(host, body)
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(execute, agent)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    assert scope.cancelled_caught
    assert ended == ["body"]
    assert heard == []


async def test_errors_beside_a_cancellation_are_logged_and_the_cancellation_goes_on(
    host: Any, caplog: pytest.LogCaptureFixture
) -> None:
    agent = host.agent()

    async def fails_when_cancelled() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("while ending")

    async def body(_: ToolExecution) -> ToolResult:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fails_when_cancelled)
            nursery.start_soon(trio.sleep_forever)
        return said("never")

    register(host, body)
    with trio.CancelScope() as scope, caplog.at_level(logging.ERROR, "dsh.agent"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(execute, agent)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    assert scope.cancelled_caught
    assert [r.message for r in caplog.records] == ["a tool call failed while being cancelled"]
    assert "while ending" in caplog.text


async def test_a_body_whose_tasks_are_all_cancelled_has_no_error_to_log(
    host: Any, caplog: pytest.LogCaptureFixture
) -> None:
    agent = host.agent()

    async def body(_: ToolExecution) -> ToolResult:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(trio.sleep_forever)
        return said("never")

    register(host, body)
    with trio.CancelScope() as scope, caplog.at_level(logging.ERROR, "dsh.agent"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(execute, agent)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    assert scope.cancelled_caught
    assert caplog.records == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_what_ends_the_program_is_no_result(host: Any, error: BaseException) -> None:
    agent = host.agent()
    register(host, raising(error))
    with pytest.raises(type(error)):
        await execute(agent)


class Stranger(BaseException):
    """As another event loop cancels: no ``Exception``, and nothing of ours."""


@pytest.mark.parametrize(
    "error", [Stranger("elsewhere"), BaseExceptionGroup("of one", [Stranger("elsewhere")])]
)
async def test_what_ends_nobody_elses_work_is_a_result_and_told_to_the_log(
    host: Any, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    agent = host.agent()
    register(host, raising(error))
    result = await execute(agent)
    assert (result.is_error, text_of(result)) == (True, "Stranger: elsewhere")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
