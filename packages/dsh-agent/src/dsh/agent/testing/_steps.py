"""What a script is made of: answers, failures, and silence."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from dsh.agent._messages import TextBlock, ThinkingBlock, ToolCallBlock, Usage
from dsh.agent._model import ChatRequest, ChatResponse, FinishReason, ModelError

__all__ = ["Failure", "Hang", "Script", "Step", "call", "call_raw", "fail", "hang", "reply", "say"]
__all__ += ["think"]

_USAGE = Usage(input_tokens=10, output_tokens=5)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """No end to the answer, after *partial* of it."""

    partial: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """*error*, after *partial* of an answer."""

    error: Exception
    partial: str = ""


Step: TypeAlias = ChatResponse | Failure | ModelError | Hang
"""How one request goes."""

Script: TypeAlias = Step | Callable[[ChatRequest], Step | Awaitable[Step]]
"""A step, or a function that makes one from the request; it may be asynchronous."""


def say(text: str, *, finish_reason: FinishReason = "stop", usage: Usage = _USAGE) -> ChatResponse:
    """Answer with *text*."""
    return ChatResponse(content=(TextBlock(text=text),), finish_reason=finish_reason, usage=usage)


def think(text: str, *, signature: str | None = None, usage: Usage = _USAGE) -> ChatResponse:
    """Reason, and say nothing; see ``reply``."""
    block = ThinkingBlock(text=text, signature=signature)
    return ChatResponse(content=(block,), usage=usage)


def call(name: str, /, *, call_id: str = "call-1", **arguments: object) -> ChatResponse:
    """Call the tool *name*; several calls in one answer are a ``reply``."""
    return call_raw(name, json.dumps(arguments), call_id=call_id)


def call_raw(name: str, arguments: str, *, call_id: str = "call-1") -> ChatResponse:
    """Call the tool *name* with exactly this argument text, JSON or not."""
    block = ToolCallBlock(id=call_id, name=name, arguments=arguments)
    return ChatResponse(content=(block,), finish_reason="tool_calls", usage=_USAGE)


def reply(
    *parts: ChatResponse, finish_reason: FinishReason | None = None, usage: Usage = _USAGE
) -> ChatResponse:
    """One answer with the content of all *parts*, in order.

    It finishes with *finish_reason*; unless given, with ``tool_calls`` if a part calls a tool.
    """
    called = any(part.finish_reason == "tool_calls" for part in parts)
    return ChatResponse(
        content=tuple(block for part in parts for block in part.content),
        finish_reason=finish_reason or ("tool_calls" if called else "stop"),
        usage=usage,
    )


def fail(message: str, *, code: str = "SERVER", partial: str = "") -> Failure:
    """Fail the request with a ``ModelError``, after *partial* of an answer."""
    return Failure(error=ModelError(message, code=code), partial=partial)


def hang(partial: str = "") -> Hang:
    """Never finish: send *partial*, if any, then wait to be cancelled."""
    return Hang(partial=partial)
