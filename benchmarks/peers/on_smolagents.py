"""smolagents: blocking agents, so many children are many threads."""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

from collections.abc import Callable
from typing import Any

from smolagents import ActionStep, LogLevel, Model, TaskStep, Timing, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from benchmarks.peers.cases import ThreadGate, thread_cases

__all__ = ["CASES"]


class Scripted(Model):
    """Calls the tool named by *calls* when a task is new, and gives the final answer otherwise."""

    def __init__(self, gate: ThreadGate, calls: str | None = None) -> None:
        super().__init__(model_id="scripted")
        self._gate = gate
        self._calls = calls

    def generate(self, messages: Any, *arguments: Any, **options: Any) -> ChatMessage:
        self._gate.passes()
        name, given = "final_answer", {"answer": "12"}
        if self._calls and len(messages) == 2:  # the system prompt and the task
            name, given = self._calls, {"prompt": "count them"}
        function = ChatMessageToolCallFunction(name=name, arguments=given)
        call = ChatMessageToolCall(id=f"call-{len(messages)}", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def _agent(model: Model, *tools: Any) -> ToolCallingAgent:
    return ToolCallingAgent(tools=list(tools), model=model, verbosity_level=LogLevel.OFF)


CHILD = _agent(Scripted(ThreadGate()))


@tool
def trivial(prompt: str) -> str:
    """Do nothing.

    Args:
        prompt: What not to do.
    """
    return "12"


@tool
def delegate(prompt: str) -> str:
    """Have another agent do it.

    Args:
        prompt: What to do.
    """
    answer = str(CHILD.run(prompt))
    assert answer == "12", answer
    return answer


def parent(called: str) -> Callable[[], object]:
    agent = _agent(Scripted(ThreadGate(), called), trivial, delegate)

    def turn() -> None:
        assert agent.run("go") == "12"
        first, second = agent.memory.steps[1:]
        assert (first.observations, second.is_final_answer) == ("12", True)

    return turn


def children(gate: ThreadGate) -> Callable[[], str]:
    model = Scripted(gate)

    def child() -> str:
        answer = _agent(model).run("count them")
        assert answer == "12", answer
        return str(answer)

    return child


def alone() -> Callable[[], object]:
    return lambda: CHILD.run("count them")


def given(messages: int) -> Callable[[], object]:
    model, timing = Scripted(ThreadGate()), Timing(start_time=0.0, end_time=0.0)
    past = [
        step
        for number in range(messages // 2)
        for step in (
            TaskStep(task=f"message {number}"),
            ActionStep(step_number=1, timing=timing, model_output=f"message {number}"),
        )
    ]

    agent = _agent(model)

    def child() -> None:
        agent.memory.steps = list(past)
        assert agent.run("count them", reset=False) == "12"

    return child


CASES = thread_cases(
    parent=parent,
    children=children,
    alone=alone,
    structured="has no schema for an answer",
    given=given,
    imports=("smolagents",),
)
