"""deepagents: its parent delegates with the tool it brings, its child is the same kind of agent."""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

from collections.abc import Awaitable, Callable
from typing import Any

from deepagents import create_deep_agent

from benchmarks.peers.cases import Gate, asyncio_cases
from benchmarks.peers.on_langchain import Count, Scripted, past, runs, shaped, trivial, turns

__all__ = ["CASES"]


def parent(called: str) -> Callable[[], Awaitable[object]]:
    child: Any = {
        "name": "child",
        "description": "Counts.",
        "system_prompt": "Count.",
        "model": Scripted(gate=Gate()),
    }
    name, arguments = "trivial", {"prompt": "count them"}
    if called == "delegate":
        name, arguments = "task", {"description": "count them", "subagent_type": "child"}
    model = Scripted(gate=Gate(), calls=name, arguments=arguments)
    return turns(create_deep_agent(model, [trivial], subagents=[child]))


def children(gate: Gate) -> Callable[[], Awaitable[Any]]:
    return runs(create_deep_agent(Scripted(gate=gate)))


def structured() -> Callable[[], Awaitable[object]]:
    model = Scripted(gate=Gate(), calls="Count", arguments={"v": 12})
    return shaped(create_deep_agent(model, response_format=Count))


def given(messages: int) -> Callable[[], Awaitable[object]]:
    return runs(create_deep_agent(Scripted(gate=Gate())), past=past(messages))


CASES = asyncio_cases(
    parent=parent,
    children=children,
    structured=structured,
    given=given,
    imports=("deepagents",),
)
