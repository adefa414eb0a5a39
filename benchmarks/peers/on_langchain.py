"""langchain's ``create_agent``: an agent is a compiled graph, and all children share one.

What works on any graph is shared with ``on_deepagents``.
"""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from benchmarks.peers.cases import Gate, asyncio_cases

__all__ = ["CASES", "Count", "Scripted", "past", "runs", "shaped", "trivial", "turns"]


class Count(BaseModel):
    """How many there are."""

    v: int


class Scripted(BaseChatModel):
    """Calls the tool named by *calls* when asked to go, and answers whatever else at once."""

    gate: Any
    calls: str | None = None
    arguments: dict[str, object] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, *arguments: Any, **options: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, messages: Any, *arguments: Any, **options: Any) -> ChatResult:
        await self.gate.passes()
        message = AIMessage("12")
        if self.calls and messages[-1].content == "go":
            call = {"name": self.calls, "args": self.arguments, "id": f"call-{len(messages)}"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
async def trivial(prompt: str) -> str:
    """Do nothing."""
    return "12"


def runs(graph: Any, *, past: Any = (), prompt: str = "count them") -> Callable[[], Any]:
    """One run of the graph with these messages before the prompt; returns its last message."""

    async def run() -> Any:
        state = await graph.ainvoke({"messages": [*past, HumanMessage(prompt)]})
        assert state["messages"][-1].content == "12", state
        return state

    return run


def parent(called: str) -> Callable[[], Awaitable[object]]:
    child = children(Gate())

    @tool
    async def delegate(prompt: str) -> str:
        """Have another agent do it."""
        return str((await child())["messages"][-1].content)

    model = Scripted(gate=Gate(), calls=called, arguments={"prompt": "count them"})
    return turns(create_agent(model, [trivial, delegate]))


def turns(graph: Any) -> Callable[[], Awaitable[object]]:
    run = runs(graph, prompt="go")

    async def turn() -> None:
        messages = (await run())["messages"]
        assert [each.type for each in messages] == ["human", "ai", "tool", "ai"]
        assert messages[2].content == "12", messages

    return turn


def children(gate: Gate) -> Callable[[], Awaitable[Any]]:
    return runs(create_agent(Scripted(gate=gate)))


def structured() -> Callable[[], Awaitable[object]]:
    model = Scripted(gate=Gate(), calls="Count", arguments={"v": 12})
    return shaped(create_agent(model, response_format=Count))


def shaped(graph: Any) -> Callable[[], Awaitable[object]]:
    async def child() -> None:
        state = await graph.ainvoke({"messages": [HumanMessage("go")]})
        assert state["structured_response"] == Count(v=12)

    return child


def past(messages: int) -> list[Any]:
    """A past with that many messages."""
    kinds = (HumanMessage, AIMessage)
    return [kind(f"message {number}") for number in range(messages // 2) for kind in kinds]


def given(messages: int) -> Callable[[], Awaitable[object]]:
    return runs(create_agent(Scripted(gate=Gate())), past=past(messages))


CASES = asyncio_cases(
    parent=parent,
    children=children,
    structured=structured,
    given=given,
    imports=("langchain.agents",),
)
