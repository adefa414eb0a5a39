"""What becomes of errors in a tool call: a result that the model can read.

Errors are results, cancellation goes on, and a group that holds both is split.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, ParamSpec, TypeVar, cast

import trio

from dsh.agent._errors import HarnessError, message_of
from dsh.agent._messages import TextBlock
from dsh.agent._tool import ToolArgsError, ToolError, ToolResult

__all__ = ["contained", "failed", "failure_of"]

logger = logging.getLogger("dsh.agent")

_PASSING: Final = (trio.Cancelled, KeyboardInterrupt, SystemExit, GeneratorExit)
"""What ends more than a call."""

P = ParamSpec("P")
R = TypeVar("R")


def failed(text: str, *, code: str, context: str | None = None) -> ToolResult:
    """An error result that says *text*."""
    return ToolResult(content=(TextBlock(text=text),), is_error=True, code=code, context=context)


def failure_of(exc: BaseException) -> ToolResult:
    """An error result that says what *exc* says; never raises, whatever *exc* is (B-TOOL-28).

    Our own errors keep their code. A group of one is that one.
    """
    leaves = tuple(_leaves(exc))
    code = leaves[0].code if len(leaves) == 1 and isinstance(leaves[0], HarnessError) else None
    return failed("; ".join(map(_rendered, leaves)), code=code or ToolError.code)


def _leaves(exc: BaseException) -> Iterator[BaseException]:
    pending = [exc]
    while pending:
        each = pending.pop()
        if isinstance(each, BaseExceptionGroup):
            pending.extend(reversed(each.exceptions))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        else:
            yield each


def _rendered(exc: BaseException) -> str:
    name = type(exc).__name__
    text = message_of(exc)
    if text is None:
        return f"{name} (its message cannot be shown)"
    if isinstance(exc, ToolError | ToolArgsError):
        return text
    return f"{name}: {text}" if text else name


async def contained(
    work: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs
) -> R | ToolResult:
    """What *work* returns, or an error result from what it raises.

    Cancellation, ``KeyboardInterrupt`` and ``SystemExit`` pass; errors beside them in a group are
    logged, as there is no result to put them in. What else is no ``Exception``, like the
    cancellation of another event loop in a thread, is a failure that is logged as well.
    """
    try:
        return await work(*args, **kwargs)
    except BaseException as raised:  # a tool's failure is the model's to read (B-TOOL-28)
        passing, error = _split(raised)
        if passing is None:
            level = logging.DEBUG if isinstance(raised, Exception) else logging.ERROR
            logger.log(level, "a tool call failed", exc_info=raised)
            return failure_of(raised)
        if error is not None:
            logger.exception("a tool call failed while being cancelled", exc_info=error)
        if passing is raised:
            raise
        raise passing from raised.__cause__


def _split(raised: BaseException) -> tuple[BaseException | None, BaseException | None]:
    """The part of *raised* that is nobody's to contain, and the rest."""
    if isinstance(raised, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", raised).split(_PASSING)
    return (raised, None) if isinstance(raised, _PASSING) else (None, raised)
