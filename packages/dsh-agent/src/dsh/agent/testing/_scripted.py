"""A chat model that follows a script and remembers what it was asked."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, final

import trio

from dsh.agent._messages import TextBlock, ToolCallBlock, Usage
from dsh.agent._model import ChatRequest, ChatResponse, ModelError, OnDelta, TextDelta

__all__ = ["ScriptedModel", "call", "fail", "hang", "say"]

Step: TypeAlias = ChatResponse | ModelError | None
"""An answer, a failure, or ``None``: no answer ever."""

Script: TypeAlias = Step | Callable[[ChatRequest], Step]


def say(text: str) -> ChatResponse:
    """Answer with *text*."""
    return ChatResponse(
        content=(TextBlock(text=text),), usage=Usage(input_tokens=10, output_tokens=5)
    )


def call(name: str, /, *, call_id: str = "call-1", **arguments: object) -> ChatResponse:
    """Call the tool *name*."""
    block = ToolCallBlock(id=call_id, name=name, arguments=json.dumps(arguments))
    return replace(say(""), content=(block,), finish_reason="tool_calls")


def fail(message: str, *, code: str = "SERVER") -> ModelError:
    """Fail the request."""
    return ModelError(message, code=code)


def hang() -> None:
    """Never answer."""


@final
class ScriptedModel:
    """Answers each request with the next step of its script; records every request."""

    def __init__(self, *script: Script) -> None:
        self.requests: list[ChatRequest] = []
        self._script = list(script)

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """Follow the script."""
        await trio.lowlevel.checkpoint()
        self.requests.append(request)
        if not self._script:
            raise ModelError("the script has no further step", code="EXHAUSTED")
        step = self._script.pop(0)
        if callable(step):
            step = step(request)
        if step is None:
            await trio.sleep_forever()
        if isinstance(step, ModelError):
            raise step
        for block in step.content:
            if isinstance(block, TextBlock):
                on_delta(TextDelta(text=block.text))
        return step
