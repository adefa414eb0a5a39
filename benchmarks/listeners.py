"""What listeners cost a delegation: ten that do nothing, against none."""

from collections.abc import Sequence

import trio

from benchmarks.floor import floor_case
from benchmarks.harness import Benchmark, Case, Figure, Stopwatch, interleaved
from dsh.subagent import RunEnded, RunStarted, SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent, ScriptedProvider

__all__ = ["BENCHMARK"]

RUNS = 1_000
LISTENERS = 10


def _ignore(event: object) -> None:
    pass


async def _delegate(service: SubagentService, *, listeners: int) -> None:
    async with ScriptedParent() as parent:
        for number in range(listeners):
            parent.hooks.on((RunStarted, RunEnded)[number % 2], _ignore)
        for _ in range(RUNS):
            await service.run("scripted", SubagentStartRequest(prompt="go", parent=parent))


def _delegations(listeners: int) -> Case:
    def case() -> float:
        watch, service = Stopwatch(), SubagentService()
        service.register(ScriptedProvider())

        async def main() -> None:
            with watch:
                await _delegate(service, listeners=listeners)

        trio.run(main)
        return watch.per(RUNS)

    return case


def _run(rounds: int) -> Sequence[Figure]:
    plain, heard, floor = "a delegation", f"with {LISTENERS} listeners", "floor at 100"
    measured = interleaved(
        {floor: floor_case(100), plain: _delegations(0), heard: _delegations(LISTENERS)},
        rounds=rounds,
    )
    return (
        measured.microseconds(plain),
        measured.ratio(plain, floor),
        measured.ratio(heard, plain, limit=1.05),
    )


BENCHMARK = Benchmark(name="listeners", about="what listeners cost a delegation", run=_run)
