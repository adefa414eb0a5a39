"""``@tool``: a tool made from a typed function."""

import inspect
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeAlias, cast, overload

from dsh.agent._json import JsonValueError, freeze_json, thaw_json
from dsh.agent._messages import ImageBlock, ResultBlock, TextBlock
from dsh.agent._signature import Signature
from dsh.agent._threads import THREAD_GRACE, run_in_thread
from dsh.agent._tool import InvalidToolError, Tool, ToolBody, ToolError, ToolExecution, ToolResult

__all__ = ["tool"]

Function: TypeAlias = Callable[..., object]

_BLOCKS: Final = (TextBlock, ImageBlock)


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    concurrent: bool = False,
    owner_final: bool = False,
    timeout: float | None = None,
    guidance: str | None = None,
    guidance_order: float = 100,
    thread_grace: float = THREAD_GRACE,
) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    concurrent: bool = False,
    owner_final: bool = False,
    timeout: float | None = None,
    guidance: str | None = None,
    guidance_order: float = 100,
    thread_grace: float = THREAD_GRACE,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function: ``@tool``, or ``@tool(name="add", timeout=5)``.

    The parameters' annotations become the JSON schema (``Annotated[int, Field(description=...)]``
    describes one), and arguments are validated against it before the function runs; unknown ones
    are ignored. A parameter annotated ``ToolExecution`` gets the execution. The docstring is the
    description, unless one is given; ``Tool`` says what the other options are for.

    An ``async`` function runs in the calling task. Any other runs in a thread: cancelling waits for
    it, ``trio.from_thread.check_cancelled()`` lets it end early, and after *thread_grace* seconds
    it is given up on with a ``ThreadLostError``. What such a function runs through
    ``trio.from_thread.run`` is not cancelled with it; a function that needs trio should be async.

    What the function returns becomes the result: a ``str``, one or several blocks, a
    ``ToolResult``, or any other JSON value, which is then written as JSON. Raise ``ToolError`` for
    a failure whose message is meant for the model.

    Raises:
      InvalidToolError: parameters that cannot be passed by name or are not JSON, no description,
        or whatever else ``Tool`` refuses.
      TypeError: what is decorated is no function.
    """

    def made(function: Function) -> Tool:
        if not (inspect.isfunction(function) or inspect.ismethod(function)):
            raise TypeError(f"@tool takes a function, not a {type(function).__name__}")
        known_as = name if name is not None else function.__name__
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidToolError(known_as, "needs a function that returns, not one that yields")
        signature = Signature.of(function, name=known_as)
        body = (
            _async_body(cast(Callable[..., Awaitable[object]], function), signature)
            if inspect.iscoroutinefunction(function)
            else _thread_body(function, signature, _grace(known_as, thread_grace))
        )
        return Tool(
            name=known_as,
            description=description if description is not None else inspect.getdoc(function) or "",
            parameters=signature.schema,
            execute=body,
            concurrent=concurrent,
            owner_final=owner_final,
            timeout=timeout,
            guidance=guidance,
            guidance_order=guidance_order,
        )

    return made if function is None else made(function)


def _grace(name: str, grace: float) -> float:
    if not grace >= 0:
        raise InvalidToolError(name, f"needs a thread grace of 0 seconds or more, not {grace!r}")
    return grace


def _async_body(function: Callable[..., Awaitable[object]], signature: Signature) -> ToolBody:
    async def body(execution: ToolExecution) -> ToolResult:
        return _result_of(await function(**signature.keywords(execution)))

    return body


def _thread_body(function: Function, signature: Signature, grace: float) -> ToolBody:
    async def body(execution: ToolExecution) -> ToolResult:
        work = partial(function, **signature.keywords(execution))
        name = f"tool {execution.name} {execution.call_id}"
        return _result_of(await run_in_thread(work, name=name, grace=grace))

    return body


def _result_of(value: object) -> ToolResult:
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, str):
        return ToolResult(content=(TextBlock(text=value),))
    if (blocks := _blocks(value)) is not None:
        return ToolResult(content=blocks)
    try:
        data = thaw_json(freeze_json(value, at="result"))
    except JsonValueError as exc:
        raise ToolError(f"the tool's answer is not JSON: {exc}", code="INVALID_RESULT") from exc
    return ToolResult(content=(TextBlock(text=json.dumps(data, ensure_ascii=False)),))


def _blocks(value: object) -> tuple[ResultBlock, ...] | None:
    if isinstance(value, _BLOCKS):
        return (value,)
    if isinstance(value, tuple | list) and value:
        items = tuple(cast(tuple[object, ...] | list[object], value))
        if all(isinstance(item, _BLOCKS) for item in items):
            return cast(tuple[ResultBlock, ...], items)
    return None
