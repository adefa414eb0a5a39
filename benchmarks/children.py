"""Children in this process: many at once, with a past, with a shape, cancelled.

All children of a case are alive at once: a model holds them until the last one has asked it.
"""

import gc
from collections.abc import Mapping
from typing import Any, Final, final

import trio
from trio.testing import wait_all_tasks_blocked

from benchmarks.floor import SIZES
from benchmarks.harness import Case, Sample, Stopwatch, peak_kilobytes, tracked_objects
from benchmarks.imports import import_case
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

__all__ = ["CASES"]

ONE_BY_ONE: Final = 200
LIVE: Final = 500
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


def _fan_out(count: int, *, collector: bool = True) -> Case:
    def case() -> Sample:
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
    def case() -> Sample:
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
    """Seconds per live child to cancel them all and see them end."""

    def case() -> Sample:
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


def _live_child() -> Sample:
    async def main() -> tuple[int, int]:
        await _at_once(1)
        one = await _at_once(1, objects=True)
        return one, await _at_once(LIVE + 1, objects=True)

    one, many = trio.run(main)
    with peak_kilobytes(LIVE) as sample:
        trio.run(_at_once, LIVE)
    return {**sample, "objects": (many - one) / LIVE}


CASES: Mapping[str, Case] = {
    "child alone": _one_by_one("spawn"),
    "structured child": _one_by_one("spawn", schema=SCHEMA),
    **{
        f"child given {messages:,} messages": _one_by_one("fork", messages=messages)
        for messages in (1_000, 10_000)
    },
    **{f"fan-out of {count:,}": _fan_out(count) for count in SIZES},
    **{
        f"fan-out of {count:,}, no collector": _fan_out(count, collector=False)
        for count in (SIZES[0], SIZES[-1])
    },
    "cancel of 1,000": _cancelled(1_000),
    "live child": _live_child,
    "import": import_case(
        "import dsh.subagent, dsh.agent_loop, dsh.subagent_spawn, dsh.subagent_fork"
    ),
}
