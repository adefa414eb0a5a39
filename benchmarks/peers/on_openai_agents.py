"""openai-agents: an agent is a definition, and one that is a tool of its parent is shared."""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

import json
from collections.abc import Awaitable, Callable
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic import BaseModel

from benchmarks.peers.cases import Gate, asyncio_cases

__all__ = ["CASES"]


class Count(BaseModel):
    """How many there are."""

    v: int


class Scripted(Model):
    """Calls the tool named by *calls* when asked to go, and answers *text* otherwise."""

    def __init__(self, gate: Gate, calls: str | None = None, *, text: str = "12") -> None:
        self._gate = gate
        self._calls = calls
        self._text = text
        self._asked = 0

    async def get_response(
        self, system_instructions: Any, input: Any, *arguments: Any, **options: Any
    ) -> ModelResponse:
        await self._gate.passes()
        self._asked += 1
        if self._calls and input[-1].get("content") == "go":
            call = ResponseFunctionToolCall(
                arguments=json.dumps(ARGUMENTS[self._calls]),
                call_id=f"call-{self._asked}",
                name=self._calls,
                type="function_call",
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        said = ResponseOutputText(annotations=[], text=self._text, type="output_text")
        message = ResponseOutputMessage(
            id="m", content=[said], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError


ARGUMENTS = {"trivial": {"prompt": "count them"}, "delegate": {"input": "count them"}}


@function_tool
async def trivial(prompt: str) -> str:
    """Do nothing."""
    return "12"


def parent(called: str) -> Callable[[], Awaitable[object]]:
    child = Agent(name="child", model=Scripted(Gate()))
    delegate = child.as_tool("delegate", "Have another agent do it.")
    agent: Any = Agent(name="parent", model=Scripted(Gate(), called), tools=[trivial, delegate])

    async def turn() -> None:
        result = await Runner.run(agent, "go")
        assert [item.type for item in result.new_items] == [
            "tool_call_item",
            "tool_call_output_item",
            "message_output_item",
        ]
        assert getattr(result.new_items[1], "output") == "12", result.new_items  # noqa: B009

    return turn


def children(gate: Gate) -> Callable[[], Awaitable[object]]:
    agent = Agent(name="child", model=Scripted(gate))

    async def child() -> None:
        result = await Runner.run(agent, "count them")
        assert result.final_output == "12", result

    return child


def structured() -> Callable[[], Awaitable[object]]:
    agent = Agent(name="child", model=Scripted(Gate(), text='{"v": 12}'), output_type=Count)

    async def child() -> None:
        assert (await Runner.run(agent, "count them")).final_output == Count(v=12)

    return child


def given(messages: int) -> Callable[[], Awaitable[object]]:
    agent = Agent(name="child", model=Scripted(Gate()))
    past: list[Any] = [
        {"role": role, "content": f"message {number}"}
        for number in range(messages // 2)
        for role in ("user", "assistant")
    ]

    async def child() -> None:
        result = await Runner.run(agent, [*past, {"role": "user", "content": "count them"}])
        assert len(result.to_input_list()) == messages + 2

    return child


CASES = asyncio_cases(
    parent=parent,
    children=children,
    structured=structured,
    given=given,
    imports=("agents",),
)
