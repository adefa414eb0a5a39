"""smolagents: blocking agents, so many children are many threads."""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from smolagents import LogLevel, Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from benchmarks.harness import Case, Stopwatch
from benchmarks.peers.measure import CHILDREN, OPERATIONS, report


class Scripted(Model):
    """Calls the tool named by *calls* when a task is new, and gives the final answer otherwise.

    With *together* it answers only when that many have asked.
    """

    def __init__(self, calls: str | None = None, *, together: int = 1) -> None:
        super().__init__(model_id="scripted")
        self._calls = calls
        self._together = threading.Barrier(together)

    def generate(self, messages: Any, *arguments: Any, **options: Any) -> ChatMessage:
        self._together.wait()
        name, given = "final_answer", {"answer": "12"}
        if self._calls and len(messages) == 2:  # the system prompt and the task
            name, given = self._calls, {"prompt": "count them"}
        function = ChatMessageToolCallFunction(name=name, arguments=given)
        call = ChatMessageToolCall(id=f"call-{len(messages)}", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


@tool
def trivial(prompt: str) -> str:
    """Do nothing.

    Args:
        prompt: What not to do.
    """
    return "12"


def child(model: Model) -> str:
    agent = ToolCallingAgent(tools=[], model=model, verbosity_level=LogLevel.OFF)
    answer = agent.run("count them")
    assert answer == "12", answer
    return answer


@tool
def delegate(prompt: str) -> str:
    """Have another agent do it.

    Args:
        prompt: What to do.
    """
    return child(Scripted())


def one_by_one(prepare: Callable[[], Callable[[], object]]) -> Case:
    def case() -> float:
        watch = Stopwatch()
        operation = prepare()
        with watch:
            for _ in range(OPERATIONS):
                operation()
        return watch.per(OPERATIONS)

    return case


def parent(called: str) -> Callable[[], object]:
    agent = ToolCallingAgent(
        tools=[trivial, delegate], model=Scripted(called), verbosity_level=LogLevel.OFF
    )

    def turn() -> None:
        assert agent.run("go") == "12"
        first, second = agent.memory.steps[1:]
        assert (first.observations, second.is_final_answer) == ("12", True)

    return turn


def fan_out() -> float:
    watch = Stopwatch()
    model = Scripted(together=CHILDREN)
    with watch, ThreadPoolExecutor(CHILDREN) as threads:
        for answered in [threads.submit(child, model) for _ in range(CHILDREN)]:
            answered.result()
    return watch.per(CHILDREN)


if __name__ == "__main__":
    report(
        {
            "delegate": one_by_one(lambda: parent("delegate")),
            "tool": one_by_one(lambda: parent("trivial")),
            "child alone": one_by_one(lambda: lambda: child(Scripted())),
            "fan-out": fan_out,
        }
    )
