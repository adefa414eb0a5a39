"""What listeners cost a delegation: ten that do nothing, against none."""

from collections.abc import Mapping

import trio

from benchmarks.harness import Case, Sample, Stopwatch
from dsh.subagent import RunEnded, RunStarted, SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent, ScriptedProvider

__all__ = ["CASES"]

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
    def case() -> Sample:
        watch, service = Stopwatch(), SubagentService()
        service.register(ScriptedProvider())

        async def main() -> None:
            with watch:
                await _delegate(service, listeners=listeners)

        trio.run(main)
        return watch.per(RUNS)

    return case


CASES: Mapping[str, Case] = {
    "scripted delegation": _delegations(0),
    "the same with ten listeners": _delegations(LISTENERS),
}
