"""A child in its own process: what this side of it costs, whatever the agent costs.

The agent is a script of the standard library; its own time counts nowhere, since CPU time is that
of this process.
"""

import json
import sys
import tracemalloc
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import trio

from benchmarks.harness import Case, Sample, Stopwatch
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import AcpConfig, AcpProvider

__all__ = ["CASES"]

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
    def case() -> Sample:
        service = _service(**script)
        with Stopwatch() as watch:
            trio.run(_delegate, service, runs)
        return watch.per(operations)

    return case


async def _bare(runs: int) -> None:
    for _ in range(runs):
        await trio.run_process([sys.executable, "-S", "-E", "-c", ""])


def _process(runs: int) -> Case:
    def case() -> Sample:
        with Stopwatch() as watch:
            trio.run(_bare, runs)
        return watch.per(runs)

    return case


async def _memory() -> Sample:
    """Memory that a live child keeps in this process."""
    service = _service(steps=[{"hang": True}])
    async with ScriptedParent(cwd="/") as parent, AsyncExitStack() as runs:
        await runs.enter_async_context(await service.start("acp", _request(parent)))
        tracemalloc.start()
        try:
            for _ in range(_LIVE):
                await runs.enter_async_context(await service.start("acp", _request(parent)))
            return {"kilobytes": tracemalloc.get_traced_memory()[0] / _LIVE / 1024}
        finally:
            tracemalloc.stop()


CASES: Mapping[str, Case] = {
    "ACP run": _case(_RUNS, _RUNS),
    "bare process": _process(_RUNS),
    "ACP chunk": _case(1, _CHUNKS, steps=[{"flood": _CHUNKS}]),
    "live ACP child": partial(trio.run, _memory),
}
