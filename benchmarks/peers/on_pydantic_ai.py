"""pydantic-ai: an agent is a definition, so all children share one."""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.peers.cases import Gate, asyncio_cases

__all__ = ["CASES"]


class Count(BaseModel):
    """How many there are."""

    v: int


def scripted(gate: Gate, calls: str | None = None, **arguments: object) -> FunctionModel:
    """A model that calls the tool named by *calls* when asked to go, else answers at once."""

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await gate.passes()
        asked = messages[-1].parts[-1]
        if calls and getattr(asked, "content", None) == "go":
            name = calls if calls != "output" else info.output_tools[0].name
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        return ModelResponse(parts=[TextPart("12")])

    return FunctionModel(answer)


async def trivial(prompt: str) -> str:
    """Do nothing."""
    return "12"


def parent(called: str) -> Callable[[], Awaitable[object]]:
    child = children(Gate())

    async def delegate(prompt: str) -> str:
        """Have another agent do it."""
        return str(await child())

    model = scripted(Gate(), called, prompt="count them")
    agent: Any = Agent(model, tools=[trivial, delegate])

    async def turn() -> None:
        result = await agent.run("go")
        assert result.output == "12"
        assert len(result.all_messages()) == 4

    return turn


def children(gate: Gate) -> Callable[[], Awaitable[object]]:
    agent = Agent(scripted(gate))

    async def child() -> str:
        result = await agent.run("count them")
        assert result.output == "12", result
        return result.output

    return child


def structured() -> Callable[[], Awaitable[object]]:
    agent = Agent(scripted(Gate(), "output", v=12), output_type=Count)

    async def child() -> None:
        assert (await agent.run("go")).output == Count(v=12)

    return child


def given(messages: int) -> Callable[[], Awaitable[object]]:
    agent = Agent(scripted(Gate()))
    past = [
        message
        for number in range(messages // 2)
        for message in (
            ModelRequest.user_text_prompt(f"message {number}"),
            ModelResponse(parts=[TextPart(f"message {number}")]),
        )
    ]

    async def child() -> None:
        result = await agent.run("count them", message_history=past)
        assert len(result.all_messages()) == messages + 2

    return child


CASES = asyncio_cases(
    parent=parent,
    children=children,
    structured=structured,
    given=given,
    imports=("pydantic_ai",),
)
