"""A tool call from the model's text to its final result; read it from top to bottom.

Arguments, policy, guards, body, review, final result, notification. Whatever goes wrong in a tool
or a listener is a result; only cancellation, ``KeyboardInterrupt`` and ``SystemExit`` get out.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, assert_never

import trio

from dsh.agent._arguments import EMPTY, read_arguments
from dsh.agent._failure import contained, failed
from dsh.agent._hooks import Hooks, HookValueError
from dsh.agent._messages import ToolCallBlock
from dsh.agent._policy import (
    POST_EXECUTE,
    PRE_EXECUTE,
    TOOL_BODY,
    TOOL_GUARD,
    Accept,
    Allow,
    Ask,
    Block,
    Deny,
    ToolFinished,
    ToolOutcome,
    ToolStarted,
)
from dsh.agent._result import final_result
from dsh.agent._tool import Tool, ToolArgsError, ToolBody, ToolExecution, ToolResult

if TYPE_CHECKING:
    from dsh.agent._agent import Agent

__all__ = ["run_call"]

_LISTED: Final = 20  # names; a model that invented one has been shown them all before


@trio.lowlevel.disable_ki_protection
async def run_call(
    call: ToolCallBlock, tools: Mapping[str, Tool], *, hooks: Hooks, agent: "Agent | None"
) -> ToolResult:
    """The final result of *call*; *tools* is what the caller may use, by name.

    Exactly one ``ToolFinished`` is dispatched for every call that is not cancelled.
    """
    text = call.arguments if call.arguments.strip() else EMPTY
    failure: ToolResult | None = None
    arguments: object = text
    try:
        arguments = read_arguments(call.name, text)
    except ToolArgsError as exc:
        failure = failed(str(exc), code=exc.code)
    execution = ToolExecution(
        call_id=call.id, name=call.name, arguments=arguments, text=text, agent=agent
    )
    tool = tools.get(call.name)
    if tool is None:
        result = failed(_unknown(call.name, tools), code="UNKNOWN_TOOL")
    elif failure is not None:
        result = failure
    else:
        result = await _outcome(execution, tool, hooks)
    result = final_result(result)
    if hooks.hears(ToolFinished):
        hooks.dispatch(ToolFinished(execution=execution, result=result))
    return result


def _unknown(name: str, tools: Mapping[str, Tool]) -> str:
    """What a model reads that called something else than it was shown."""
    names = sorted(tools)
    listed = ", ".join(names[:_LISTED]) or "none at all"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"there is no tool named {name!r}; there is: {listed}{more}"


async def _outcome(execution: ToolExecution, tool: Tool, hooks: Hooks) -> ToolResult:
    result: ToolResult | None = None
    if hooks.hears(PRE_EXECUTE) or hooks.hears(TOOL_GUARD):
        result = await contained(_refusal, execution, hooks)
    if result is None:
        result = await contained(_performed, execution, tool, hooks)
    if hooks.hears(POST_EXECUTE):
        result = await contained(_reviewed, execution, result, hooks)
    return result


async def _refusal(execution: ToolExecution, hooks: Hooks) -> ToolResult | None:
    decision = await hooks.run_filter(PRE_EXECUTE, _ALLOW, execution)
    match decision:
        case Allow():
            reason = hooks.denial(TOOL_GUARD, execution)
            if reason is None:
                return None
        case Deny():
            reason = decision.reason
        case Ask():
            reason = f"it needs an approval that nobody here can give: {decision.reason}"
        case _:
            assert_never(decision)
    return failed(f"{execution.name} was denied: {reason}", code="DENIED")


_ALLOW: Allow | Deny | Ask = Allow()


async def _performed(execution: ToolExecution, tool: Tool, hooks: Hooks) -> ToolResult:
    if hooks.hears(TOOL_BODY):
        around = await _wrapped(execution, tool, hooks)
    else:
        around = partial(_timed, tool)
    if hooks.hears(ToolStarted):
        hooks.dispatch(ToolStarted(execution=execution))
    return await around(execution)


async def _wrapped(execution: ToolExecution, tool: Tool, hooks: Hooks) -> ToolBody:
    async def body(given: ToolExecution) -> ToolResult:
        if given is not execution:
            raise HookValueError(TOOL_BODY.name, got=given, expected="the execution it was given")
        return await contained(_timed, tool, execution)

    return await hooks.run_filter(TOOL_BODY, body, execution)


async def _timed(tool: Tool, execution: ToolExecution) -> ToolResult:
    if tool.timeout is None:
        return final_result(await tool.execute(execution))
    with trio.move_on_after(tool.timeout):
        return final_result(await tool.execute(execution))
    return failed(f"{tool.name} was stopped after {tool.timeout:g} seconds", code="TIMEOUT")


async def _reviewed(execution: ToolExecution, result: ToolResult, hooks: Hooks) -> ToolResult:
    outcome = ToolOutcome(execution=execution, result=final_result(result))
    review = await hooks.run_filter(POST_EXECUTE, Accept(), outcome)
    match review:
        case Accept():
            content = result.content if review.content is None else review.content
            return ToolResult(
                content=content,
                is_error=result.is_error,
                code=result.code,
                context=_joined(result.context, review.context),
            )
        case Block():
            context = _joined(result.context, review.context)
            return failed(review.feedback, code="BLOCKED", context=context)
        case _:
            assert_never(review)


def _joined(*contexts: str | None) -> str | None:
    return "\n\n".join(filter(None, contexts)) or None
