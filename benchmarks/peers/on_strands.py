"""strands-agents: a parent and its children in one asyncio loop.

The parent forgets its messages after every turn, so that it never pays for a growing history.
"""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from strands import Agent, tool
from strands.models import Model

from benchmarks.harness import Case, Stopwatch
from benchmarks.peers.measure import CHILDREN, OPERATIONS, report


class Scripted(Model):
    """Calls the tool named by *calls* when asked to go, and answers whatever else at once.

    With *together* it answers only when that many have asked.
    """

    def __init__(self, calls: str | None = None, *, together: int = 1) -> None:
        self._calls = calls
        self._awaited = together
        self._gate = asyncio.Event()

    def update_config(self, **model_config: Any) -> None:
        """There is none."""

    def get_config(self) -> Any:
        return {"model_id": "scripted"}

    def structured_output(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        self._awaited -= 1
        if self._awaited <= 0:
            self._gate.set()
        await self._gate.wait()
        await asyncio.sleep(0)
        called = self._calls if messages[-1]["content"][0].get("text") == "go" else None
        yield {"messageStart": {"role": "assistant"}}
        if called:
            use = {"name": called, "toolUseId": f"call-{len(messages)}"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            delta: Any = {"toolUse": {"input": json.dumps({"prompt": "count them"})}}
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


async def child(model: Model) -> str:
    answer = str(await Agent(model=model, callback_handler=None).invoke_async("count them"))
    assert answer.strip() == "12", answer
    return answer


@tool
async def delegate(prompt: str) -> str:
    """Have another agent do it."""
    return await child(Scripted())


def one_by_one(prepare: Callable[[], Callable[[], Awaitable[object]]]) -> Case:
    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            operation = prepare()
            with watch:
                for _ in range(OPERATIONS):
                    await operation()

        asyncio.run(main())
        return watch.per(OPERATIONS)

    return case


def parent(called: str) -> Callable[[], Awaitable[object]]:
    agent = Agent(model=Scripted(called), tools=[trivial, delegate], callback_handler=None)

    async def turn() -> None:
        await agent.invoke_async("go")
        assert len(agent.messages) == 4
        assert agent.messages[2]["content"][0]["toolResult"]["status"] == "success"
        agent.messages.clear()

    return turn


def fan_out() -> float:
    watch = Stopwatch()

    async def main() -> None:
        model = Scripted(together=CHILDREN)
        with watch:
            await asyncio.gather(*(child(model) for _ in range(CHILDREN)))

    asyncio.run(main())
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
