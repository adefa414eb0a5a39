"""strands-agents: a parent and its children in one asyncio loop.

The parent forgets its messages after every turn, so that it never pays for a growing history.
"""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from pydantic import BaseModel
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models import Model

from benchmarks.peers.cases import Gate, asyncio_cases

__all__ = ["CASES"]


class Count(BaseModel):
    """How many there are."""

    v: int


class Scripted(Model):
    """Calls the tool named by *calls* when asked to go, and answers whatever else at once."""

    def __init__(self, gate: Gate, calls: str | None = None, **arguments: object) -> None:
        self._gate = gate
        self._calls = calls
        self._arguments = json.dumps(arguments)

    def update_config(self, **model_config: Any) -> None:
        """There is none."""

    def get_config(self) -> Any:
        return {"model_id": "scripted"}

    def structured_output(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        await self._gate.passes()
        called = self._calls if messages[-1]["content"][0].get("text") == "go" else None
        yield {"messageStart": {"role": "assistant"}}
        if called:
            use = {"name": called, "toolUseId": f"call-{len(messages)}"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            delta: Any = {"toolUse": {"input": self._arguments}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            delta = {"text": "12"}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if called else "end_turn"}}


@tool
async def trivial(prompt: str) -> str:
    """Do nothing."""
    return "12"


@tool
async def delegate(prompt: str) -> str:
    """Have another agent do it."""
    return await _child(Scripted(Gate()))


async def _child(model: Model) -> str:
    agent = Agent(model=model, callback_handler=None)
    answer = str(await agent.invoke_async("count them"))
    assert answer.strip() == "12", answer
    return answer


def parent(called: str) -> Callable[[], Awaitable[object]]:
    model = Scripted(Gate(), called, prompt="count them")
    agent = Agent(model=model, tools=[trivial, delegate], callback_handler=None)

    async def turn() -> None:
        await agent.invoke_async("go")
        assert len(agent.messages) == 4
        assert agent.messages[2]["content"][0]["toolResult"]["status"] == "success"
        agent.messages.clear()

    return turn


def children(gate: Gate) -> Callable[[], Awaitable[object]]:
    model = Scripted(gate)
    return lambda: _child(model)


def structured() -> Callable[[], Awaitable[object]]:
    async def child() -> None:
        agent = Agent(model=Scripted(Gate(), "Count", v=12), callback_handler=None)
        result = await agent.invoke_async("go", structured_output_model=Count)
        assert result.structured_output == Count(v=12)

    return child


def given(messages: int) -> Callable[[], Awaitable[object]]:
    past = [
        {"role": role, "content": [{"text": f"message {number}"}]}
        for number in range(messages // 2)
        for role in ("user", "assistant")
    ]

    async def child() -> None:
        agent = Agent(
            model=Scripted(Gate()),
            messages=list(past),
            callback_handler=None,
            conversation_manager=NullConversationManager(),
        )
        await agent.invoke_async("count them")
        assert len(agent.messages) == messages + 2

    return child


CASES = asyncio_cases(
    parent=parent,
    children=children,
    structured=structured,
    given=given,
    imports=("strands",),
)
