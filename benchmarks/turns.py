"""The loop: what a turn, a tool step and an idle agent cost beside the model's own answer."""

import tracemalloc
from collections.abc import Mapping
from typing import Final, final

import trio
import trio.testing

from benchmarks.floor import floor_case
from benchmarks.harness import Case, Sample, Stopwatch
from dsh.agent import (
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    OnDelta,
    SessionEvent,
    tool,
)
from dsh.agent.testing import call, completed_turn, say
from dsh.agent_loop import open_host

__all__ = ["CASES"]

TURNS: Final = 300
STEPS: Final = 300
IDLE: Final = 1_000
OPTIONS: Final = AgentOptions(model="model", max_steps=10_000)


@tool
async def add(left: int, right: int) -> str:
    """Add two numbers."""
    return str(left + right)


@final
class Model:
    """Calls a tool so many times, then says something; without latency."""

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self._call, self._say = call("add", left=1, right=2), say("done")

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        await trio.lowlevel.checkpoint()
        if not self._calls:
            return self._say
        self._calls -= 1
        return self._call


def _bare_model() -> Sample:
    watch, model = Stopwatch(), Model(0)
    request = ChatRequest(model="model", messages=())

    async def main() -> None:
        with watch:
            for _ in range(TURNS):
                await model.generate(request, on_delta=print)

    trio.run(main)
    return watch.per(TURNS)


def _seed(messages: int) -> tuple[SessionEvent, ...]:
    return tuple(e for turn in range(1, messages // 2 + 1) for e in completed_turn(turn))


def _loop(*, turns: int, calls: int, seed: tuple[SessionEvent, ...] = ()) -> Case:
    def case() -> Sample:
        watch = Stopwatch()

        async def main() -> None:
            async with open_host(options=OPTIONS) as host:
                host.models.register(Model(calls), "model")
                host.tools.register(add)
                async with host.agents.open(AgentSpec(seed=seed or None)) as agent:
                    with watch:
                        for _ in range(turns):
                            agent.send("go")
                            await agent.wait_idle()

        trio.run(main)
        return watch.per(turns + calls)

    return case


def _idle_agent() -> Sample:
    """Memory per agent that has been made and waits, in a task of its own."""

    async def main() -> Sample:
        async with open_host(options=OPTIONS) as host:
            await host.agents.create(AgentSpec())
            tracemalloc.start()
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(IDLE):
                await host.agents.create(AgentSpec())
            await trio.testing.wait_all_tasks_blocked()
            after, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            return {"kilobytes": (after - before) / IDLE / 1024}

    return trio.run(main)


CASES: Mapping[str, Case] = {
    "floor of 100": floor_case(100),
    "bare model": _bare_model,
    "one-step turn": _loop(turns=TURNS, calls=0),
    "tool step": _loop(turns=1, calls=STEPS),
    "step after 10 messages": _loop(turns=1, calls=STEPS, seed=_seed(10)),
    "step after 10,000 messages": _loop(turns=1, calls=STEPS, seed=_seed(10_000)),
    "idle agent": _idle_agent,
}
