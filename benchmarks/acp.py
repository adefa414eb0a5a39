"""A child in its own process: what this side of it costs, whatever the agent costs.

The agent is a script of the standard library; its own time counts nowhere, since CPU time is that
of this process. The limits are absolute: there is no floor to compare with but the process itself.
"""

import json
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import trio

from benchmarks.harness import Benchmark, Case, Figure, Stopwatch, interleaved
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import AcpConfig, AcpProvider

__all__ = ["BENCHMARK"]

_AGENT = Path(__file__).parents[1] / "packages/dsh-subagent-acp/tests/agents/raw.py"
_RUNS, _LIVE, _CHUNKS = 10, 20, 20_000


def _service(**script: Any) -> SubagentService:
    args = ("-S", "-E", str(_AGENT), json.dumps(script))
    service = SubagentService()
    service.register(AcpProvider(AcpConfig(command=sys.executable, args=args)))
    return service


def _request(parent: ScriptedParent) -> SubagentStartRequest[object]:
    return SubagentStartRequest(prompt="go", parent=parent)


async def _delegate(service: SubagentService, runs: int) -> None:
    async with ScriptedParent(cwd="/") as parent:
        for _ in range(runs):
            result = await service.run("acp", _request(parent))
            assert result.completed, result


def _case(runs: int, operations: int, **script: Any) -> Case:
    def case() -> float:
        service = _service(**script)
        with Stopwatch() as watch:
            trio.run(_delegate, service, runs)
        return watch.per(operations)

    return case


async def _bare(runs: int) -> None:
    for _ in range(runs):
        await trio.run_process([sys.executable, "-S", "-E", "-c", ""])


def _process(runs: int) -> Callable[[], float]:
    def case() -> float:
        with Stopwatch() as watch:
            trio.run(_bare, runs)
        return watch.per(runs)

    return case


async def _memory() -> float:
    """Bytes that a live child keeps in this process."""
    service = _service(steps=[{"hang": True}])
    async with ScriptedParent(cwd="/") as parent, AsyncExitStack() as runs:
        await runs.enter_async_context(await service.start("acp", _request(parent)))
        tracemalloc.start()
        try:
            for _ in range(_LIVE):
                await runs.enter_async_context(await service.start("acp", _request(parent)))
            return tracemalloc.get_traced_memory()[0] / _LIVE
        finally:
            tracemalloc.stop()


def _run(rounds: int) -> Sequence[Figure]:
    trio.run(_delegate, _service(), 1)  # imports the models
    cases = {
        "a whole run": _case(_RUNS, _RUNS),
        "a bare process": _process(_RUNS),
        "a chunk": _case(1, _CHUNKS, steps=[{"flood": _CHUNKS}]),
    }
    measured = interleaved(cases, rounds=rounds)
    whole, chunk = measured.median("a whole run"), measured.median("a chunk")
    return (
        Figure(name="a whole run, our CPU", value=whole * 1e3, unit="ms", limit=15),
        Figure(
            name="a bare process, our CPU", value=measured.median("a bare process") * 1e3, unit="ms"
        ),
        Figure(name="a chunk of text, our CPU", value=chunk * 1e6, unit="µs", limit=50),
        Figure(name="memory of a live child", value=trio.run(_memory) / 1024, unit="KB", limit=300),
    )


BENCHMARK = Benchmark(name="acp", about="a child over the Agent Client Protocol", run=_run)
