"""Children over ACP, cancelled at every scheduler step: on a virtual clock with an agent in memory,
and with real processes in real time.

In memory everything of this package runs but `_process` and `_group`: the agent is a task that
reads and writes lines, and takes its time to end.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
import trio
import trio.testing

from dsh.agent.testing import Scenario, SweepReport, SweepStage, assert_no_leaks, sweep
from dsh.subagent import (
    Progress,
    RunEnded,
    RunStarted,
    SubagentService,
    SubagentStartCancelledError,
    SubagentStartRequest,
)
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import AcpConfig, AcpProvider, PermissionOption, PermissionRequest
from dsh.subagent_acp._process import Graces

SCHEMA: Final = {
    "type": "object",
    "properties": {"v": {"type": "integer"}},
    "required": ["v"],
}
OPTIONS: Final = [
    {"optionId": "y", "name": "yes", "kind": "allow_once"},
    {"optionId": "n", "name": "no", "kind": "reject_once"},
]


async def pass_time(seconds: float) -> None:
    with trio.move_on_after(seconds):
        await trio.sleep_forever()


class MemoryAgent:
    """An agent as `AgentProcess` shows it, without a process; *late* in taking the end for one."""

    pid = 0
    survived = False
    stderr_tail = ""

    def __init__(self, replies: Sequence[str], *, asks: bool, late: float) -> None:
        self.stdin, self._in = trio.testing.memory_stream_one_way_pair()
        self._out, self.stdout = trio.testing.memory_stream_one_way_pair()
        self._replies = list(replies)
        self._asks, self._late = asks, late
        self._gone = trio.Event()
        self._scope = trio.CancelScope()
        self._number = 100

    async def live(self) -> None:
        """Be the process: read, answer, and end some time after the end of the input."""
        with self._scope:
            buffer = b""
            async for data in self._in:
                *lines, buffer = (buffer + bytes(data)).split(b"\n")
                for line in lines:
                    await self._take(json.loads(line))
            await pass_time(self._late)
        self._out.close()
        self._gone.set()

    async def _send(self, **message: Any) -> None:
        await self._out.send_all(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _take(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), {"sessionId": "s"}
        if method == "initialize":
            await pass_time(1)
            await self._send(id=message["id"], result={"protocolVersion": 1})
        elif method == "session/new":
            await pass_time(1)
            await self._send(id=message["id"], result=params)
        elif method == "session/prompt" and self._asks:
            self._asks, self._prompt = False, message["id"]
            asked = {**params, "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
            await self._send(id=1, method="session/request_permission", params=asked)
        elif method == "session/prompt":
            await self._answer(message["id"])
        elif method is None:
            await self._answer(self._prompt)

    async def _answer(self, prompt: int) -> None:
        await pass_time(1)
        content = {"type": "text", "text": self._replies.pop(0)}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        await self._send(method="session/update", params={"sessionId": "s", "update": update})
        await self._send(id=prompt, result={"stopReason": "end_turn"})

    async def wait(self) -> None:
        await self._gone.wait()

    @property
    def has_exited(self) -> bool:
        return self._gone.is_set()

    @property
    def exit_status(self) -> str:
        return "exited with status 0"

    async def drain_stderr(self) -> None:
        await self._gone.wait()

    async def end(self, graces: Graces) -> None:
        with trio.move_on_after(graces.eof):
            await self._gone.wait()
        self._scope.cancel("SIGKILL")
        await self._gone.wait()

    async def close(self) -> None:
        self.stdin.close()
        self.stdout.close()


class Machine:
    """Where the agents of one scenario run."""

    def __init__(self, nursery: trio.Nursery, make: Callable[[], MemoryAgent]) -> None:
        self._nursery, self._make = nursery, make
        self.agents: list[MemoryAgent] = []

    async def open_agent_process(self, *_: Any, **__: Any) -> MemoryAgent:
        await pass_time(1)
        agent = self._make()
        self.agents.append(agent)
        self._nursery.start_soon(agent.live)
        return agent

    def running(self) -> list[str]:
        return ["agent" for agent in self.agents if not agent.has_exited]


async def approve(request: PermissionRequest) -> PermissionOption | None:
    await pass_time(1)
    return request.options[0]


def scenario(make: Callable[[], MemoryAgent], patch: pytest.MonkeyPatch, **fields: Any) -> Scenario:
    config = AcpConfig(command="agent", permission=approve, eof_grace=3)

    async def delegate(stage: SweepStage) -> None:
        async with trio.open_nursery() as nursery:
            machine = Machine(nursery, make)
            patch.setattr("dsh.subagent_acp._agent.open_agent_process", machine.open_agent_process)
            subagents = SubagentService()
            subagents.register(AcpProvider(config))
            with stage.scope("shutdown"):
                async with ScriptedParent(cwd="/") as parent:
                    with ExitStack() as stack:
                        stack.enter_context(stage.route("dispose", parent.dispose))
                        stack.enter_context(assert_no_leaks(machine.running))
                        request: Any = SubagentStartRequest(prompt="go", parent=parent, **fields)
                        stack.enter_context(stage.route("request", request.cancel_scope.cancel))
                        try:
                            async with await subagents.start("acp", request) as run:
                                result = await run.result()
                                assert result.stop_reason in ("completed", "aborted"), result
                                if result.completed:
                                    assert result.value or result.text
                        except SubagentStartCancelledError:
                            assert request.cancel_scope.cancel_called
            with stage.settled():
                assert not machine.running()
                started, ended = parent.heard(RunStarted), parent.heard(RunEnded)
                assert len(started) == len(ended) <= 1
                if started:
                    told = [each for each in parent.events if isinstance(each, Progress)]
                    assert not told or parent.events.index(ended[0]) > parent.events.index(told[-1])
            nursery.cancel_scope.cancel()

    return delegate


def makes(*replies: str, asks: bool = False, late: float = 0) -> Callable[[], MemoryAgent]:
    return lambda: MemoryAgent(replies, asks=asks, late=late)


SCENARIOS: Final[dict[str, tuple[Callable[[], MemoryAgent], dict[str, Any]]]] = {
    "answers": (makes("done", late=1), {}),
    "asks": (makes("done", asks=True, late=1), {}),
    "stays": (makes("done", late=1_000_000), {}),
    "structured": (makes("no", '{"v": 1}', late=1), {"output_schema": SCHEMA}),
}


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """The models are imported in a thread the first time, which is no part of a scenario."""
    __import__("acp.schema")


def swept(name: str, patch: pytest.MonkeyPatch, **how: Any) -> SweepReport:
    make, fields = SCENARIOS[name]
    return sweep(scenario(make, patch, **fields), **how)


@pytest.mark.parametrize("name", ["asks", "stays"])
@pytest.mark.guarantee("B-ACP-05", "B-ACP-10")
def test_a_child_may_be_cancelled_at_any_step(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a start or a run over ACP is cancelled, by its scope, its parent or its host, no
    process is left, and what was started has ended once."""
    swept(name, monkeypatch).check()


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_child_may_be_cancelled_at_both_sides_of_any_step_and_twice(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = swept(name, monkeypatch, seeds=(0, 1), sides=("before", "after"), pairs=400)
    report.check()


# Real processes, in real time. Their steps differ from run to run, so this is a walk and no sweep.


class CancelAtStep(trio.abc.Instrument):
    """Cancels together with the wake-up of step number *step* of anybody."""

    def __init__(self, scope: trio.CancelScope, step: float) -> None:
        self._scope, self._left = scope, step
        self.steps = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if self.steps == self._left:
            self._scope.cancel("at a step")
        self.steps += 1


def with_mark(mark: str) -> list[str]:
    """Processes that were started under *mark* and can still run, whatever group they are in."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:  # it ended while we looked, or is not ours to look at
                continue
    return found


async def cut(bench: Any, step: float, script: dict[str, Any]) -> int:
    """Delegate to a real agent, cancelled at *step*; nothing of it is left. Returns its steps."""
    mark, request = str(uuid4()), bench.request()
    service = bench.service(script, env={"MARK": mark}, eof_grace=0.1, term_grace=0.1)
    instrument = CancelAtStep(request.cancel_scope, step)
    trio.lowlevel.add_instrument(instrument)
    try:
        async with await service.start("acp", request) as run:
            result = await run.result()
            assert result.stop_reason in ("completed", "aborted")
    except SubagentStartCancelledError:
        assert request.cancel_scope.cancel_called
    finally:
        trio.lowlevel.remove_instrument(instrument)
    assert with_mark(mark) == []
    return instrument.steps


WITH_HELPER: Final = {"helper": "trap '' TERM; exec sleep 1000", "steps": [{"text": "done"}]}


async def test_no_process_is_left_by_a_start_or_a_run_cancelled_here_and_there(bench: Any) -> None:
    steps = await cut(bench, -1, WITH_HELPER)
    for step in range(0, steps, max(1, steps // 12)):
        await cut(bench, step, WITH_HELPER)


@pytest.mark.sweep
@pytest.mark.parametrize("script", [WITH_HELPER, {"ignore_term": True, "ignore_eof": True}, {}])
async def test_no_process_is_left_by_a_start_or_a_run_cancelled_at_any_step(
    bench: Any, script: dict[str, Any]
) -> None:
    for step in range(await cut(bench, -1, script)):
        await cut(bench, step, script)
