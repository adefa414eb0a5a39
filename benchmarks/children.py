"""Children in this process: many at once, with a past, with a shape, cancelled.

All children of a case are alive at once: a model holds them until the last one has asked it.
"""

import gc
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, final

import trio
from trio.testing import wait_all_tasks_blocked

from benchmarks.floor import floor_case
from benchmarks.harness import Benchmark, Case, Figure, Stopwatch, interleaved, tracked_objects
from dsh.agent import (
    Agent,
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    OnDelta,
    Session,
    SessionHeader,
    SessionId,
)
from dsh.agent.testing import call, completed_turn, say
from dsh.agent_loop import open_host
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent_fork import ForkProvider
from dsh.subagent_spawn import SpawnProvider

__all__ = ["BENCHMARK", "fan_out_case"]

SIZES: Final = (100, 1_000, 10_000)
ONE_BY_ONE: Final = 200
HISTORY: Final = 10_000
SCHEMA: Final = {"type": "object", "properties": {"v": {"type": "integer"}}, "required": ["v"]}


@final
class Model:
    """Answers at once, or when *gate* opens."""

    def __init__(self, gate: trio.Event | None = None) -> None:
        self.gate = gate
        self.asked = 0
        self._say, self._answer = say("done"), call("structured_output", v=1)

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        self.asked += 1
        if self.gate is None:
            await trio.lowlevel.checkpoint()
        else:
            await self.gate.wait()
        return self._say if request.tools is None else self._answer


@final
class Home:
    """A host with both backends and an idle parent, for the time of a block."""

    def __init__(self, model: Model, *, messages: int = 0) -> None:
        self._model = model
        self._messages = messages

    async def __aenter__(self) -> "Home":
        self._opened = open_host(options=AgentOptions(model="model"))
        host = await self._opened.__aenter__()
        host.models.register(self._model, "model")
        self.subagents = SubagentService()
        self.subagents.register(SpawnProvider(host.agents))
        self.subagents.register(ForkProvider(host.agents))
        events = tuple(
            event for turn in range(1, self._messages // 2 + 1) for event in completed_turn(turn)
        )
        session = Session.resumed(SessionHeader(id=SessionId("parent")), events)
        self._agent = host.agents.open(AgentSpec(session=session))
        self.parent: Agent = await self._agent.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self._agent.__aexit__(*exc)
        await self._opened.__aexit__(*exc)

    async def run(self, provider: str, **fields: Any) -> None:
        request: SubagentStartRequest[Any] = SubagentStartRequest(
            prompt="go", parent=self.parent, **fields
        )
        await self.subagents.run(provider, request)


async def _at_once(count: int, watch: Stopwatch | None = None, *, objects: bool = False) -> int:
    """Run *count* children that are alive at once; returns the tracked objects then, or 0."""
    model = Model(trio.Event())
    tracked = 0
    async with Home(model) as home:
        with watch or Stopwatch():
            async with trio.open_nursery() as holders:
                for _ in range(count):
                    holders.start_soon(home.run, "spawn")
                while model.asked < count:
                    await trio.lowlevel.checkpoint()
                if objects:
                    await wait_all_tasks_blocked()  # a start that is not over has objects, too
                    tracked = tracked_objects()
                assert model.gate is not None
                model.gate.set()
    return tracked


def fan_out_case(count: int, *, collector: bool = True) -> Case:
    def case() -> float:
        watch = Stopwatch()
        if not collector:
            gc.disable()
        try:
            trio.run(_at_once, count, watch)
        finally:
            gc.enable()
        return watch.per(count)

    return case


def _one_by_one(provider: str, *, messages: int = 0, schema: object = None) -> Case:
    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            async with Home(Model(), messages=messages) as home:
                await home.run(provider, output_schema=schema)  # what is made once per schema
                with watch:
                    for _ in range(ONE_BY_ONE):
                        await home.run(provider, output_schema=schema)

        trio.run(main)
        return watch.per(ONE_BY_ONE)

    return case


def _cancelled(count: int) -> Case:
    """CPU seconds per live child to cancel them all and see them end."""

    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            model = Model(trio.Event())
            async with Home(model) as home, trio.open_nursery() as holders:
                for _ in range(count):
                    holders.start_soon(home.run, "spawn")
                while model.asked < count:
                    await trio.lowlevel.checkpoint()
                with watch:
                    holders.cancel_scope.cancel()
                    with trio.CancelScope(shield=True):
                        while holders.child_tasks:
                            await trio.lowlevel.checkpoint()

        trio.run(main)
        return watch.per(count)

    return case


def _floor_cancelled(count: int) -> Case:
    def case() -> float:
        watch = Stopwatch()

        async def main() -> None:
            async with trio.open_nursery() as nursery:
                for _ in range(count):
                    await nursery.start(_waiting)
                with watch:
                    nursery.cancel_scope.cancel()
                    with trio.CancelScope(shield=True):
                        while nursery.child_tasks:
                            await trio.lowlevel.checkpoint()

        trio.run(main)
        return watch.per(count)

    return case


async def _waiting(*, task_status: trio.TaskStatus[None]) -> None:
    """The floor's child and its holder, waiting."""
    with trio.CancelScope():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            task_status.started()


def _objects_per_child(count: int) -> float:
    async def main() -> tuple[int, int]:
        await _at_once(1)
        one = await _at_once(1, objects=True)
        return one, await _at_once(count + 1, objects=True)

    one, many = trio.run(main)
    return (many - one) / count


def _peak_kilobytes_per_child(count: int) -> float:
    trio.run(_at_once, 1)
    tracemalloc.start()
    try:
        trio.run(_at_once, count)
        return tracemalloc.get_traced_memory()[1] / count / 1024
    finally:
        tracemalloc.stop()


def _run(rounds: int) -> Sequence[Figure]:
    few, _, many = SIZES
    measured = interleaved(
        {
            **{f"floor at {n:,}": floor_case(n) for n in SIZES},
            **{f"fan-out at {n:,}": fan_out_case(n) for n in SIZES},
            f"fan-out at {few:,}, no collector": fan_out_case(few, collector=False),
            f"fan-out at {many:,}, no collector": fan_out_case(many, collector=False),
            "a spawn": _one_by_one("spawn"),
            "a fork of 10,000 messages": _one_by_one("fork", messages=HISTORY),
            "a structured child": _one_by_one("spawn", schema=SCHEMA),
            "cancel of 1,000": _cancelled(1_000),
            "floor's cancel of 1,000": _floor_cancelled(1_000),
        },
        rounds=rounds,
    )
    growth = measured.ratio("fan-out at 10,000", "fan-out at 100")
    floor_growth = measured.ratio("floor at 10,000", "floor at 100").value
    return (
        *(measured.microseconds(case) for case in measured.samples),
        measured.ratio("fan-out at 10,000", "floor at 10,000", limit=2),
        replace(
            growth,
            name="fan-out's growth ÷ the floor's growth",
            value=growth.value / floor_growth,
            limit=1.3,
        ),
        measured.ratio(
            "fan-out at 10,000, no collector", "fan-out at 100, no collector", limit=1.3
        ),
        measured.ratio("a fork of 10,000 messages", "a spawn", limit=1.2),
        measured.ratio("a structured child", "a spawn", limit=1.75),
        measured.ratio("cancel of 1,000", "floor's cancel of 1,000", limit=3),
        Figure(name="tracked objects per live child", value=_objects_per_child(1_000), limit=110),
        Figure(
            name="peak memory per live child",
            value=_peak_kilobytes_per_child(1_000),
            unit="KB",
            limit=18,
        ),
    )


BENCHMARK = Benchmark(name="children", about="spawned, forked, structured, cancelled", run=_run)
