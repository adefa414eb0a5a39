"""A process and its group: started apart, ended rung by rung, all of it."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from dsh.subagent_acp._group import is_group_alive, wait_ended
from dsh.subagent_acp._process import AgentProcess, Graces, open_agent_process

GRACES = Graces(eof=5, term=5, kill=5)
SHORT = Graces(eof=0.1, term=0.1, kill=5)
LONGER = "trap '' TERM; while :; do sleep 1; done"


def ignore(group: int, number: int) -> None:
    """A signal that does nothing."""


async def opened(words: str) -> AgentProcess:
    return await open_agent_process(["sh", "-c", words], cwd="/", environment=os.environ)


async def ended(process: AgentProcess, graces: Graces = GRACES, *, eof: bool = True) -> None:
    if eof:
        await process.stdin.aclose()
    with trio.fail_after(20):
        await process.end(graces)
    await process.close()


@pytest.mark.guarantee("B-PROC-06")
async def test_a_cooperative_agent_is_sent_no_signal() -> None:
    """An agent that ends at the end of its input ends by itself, with its own status."""
    process = await opened("cat >/dev/null; exit 7")
    assert process.exit_status == "still runs"
    await ended(process)
    assert process.exit_status == "exited with status 7"


@pytest.mark.guarantee("B-PROC-07")
async def test_one_that_ignores_its_input_is_asked_by_sigterm() -> None:
    """An agent that does not end at the end of its input gets SIGTERM after the grace."""
    process = await opened("exec sleep 1000")
    await ended(process, SHORT)
    assert process.exit_status == "was ended by SIGTERM"


@pytest.mark.guarantee("B-PROC-07", "B-PROC-05")
async def test_one_that_traps_sigterm_is_killed() -> None:
    """What ignores SIGTERM as well is killed, and the end is told only when it has come."""
    process = await opened(LONGER)
    await ended(process, SHORT)
    assert process.exit_status == "was ended by SIGKILL"
    assert process.has_exited
    assert not process.survived


@pytest.mark.guarantee("B-PROC-03", "B-PROC-08")
@pytest.mark.parametrize(
    ("words", "status"),
    [("exit 3", "exited with status 3"), ("kill -9 $$", "was killed by signal 9")],
)
async def test_one_that_is_gone_already_is_waited_for_in_no_time(words: str, status: str) -> None:
    """Waiting for a process that has ended, by itself or by a signal, returns at once and sends
    nothing."""
    process = await opened(words)
    await process.wait()
    await process.wait()
    await ended(process, eof=False)
    assert process.exit_status == status


@pytest.mark.guarantee("B-PROC-04")
async def test_a_bounded_wait_leaves_nothing_behind() -> None:
    """A wait that runs out of time changes nothing: the process runs on and can be waited for."""
    process = await opened("read line; exit 4")
    with trio.move_on_after(0.01) as bound:
        await process.wait()
    assert bound.cancelled_caught
    assert not process.has_exited
    await process.stdin.send_all(b"go\n")
    await process.wait()
    await ended(process)
    assert process.exit_status == "exited with status 4"


@pytest.mark.guarantee("B-PROC-09")
async def test_the_end_of_input_has_a_longer_grace_than_signals(bench: Any) -> None:
    """By default an agent has longer to end its own children than to obey a signal."""
    config = bench.config(eof_grace=5, term_grace=2)
    default = type(config)(command="agent")
    assert default.eof_grace > default.term_grace


@pytest.mark.field_case("B102")
@pytest.mark.guarantee("B-HEAD-19")
async def test_helpers_in_the_group_are_gone_as_well() -> None:
    """Whatever an agent has started in its process group ends with it, SIGTERM ignored or not."""
    process = await opened(f'sh -c "{LONGER}" & sleep 1000 & echo $! $$; cat >/dev/null')
    await process.stdout.receive_some()
    await ended(process, Graces(eof=5, term=0.1, kill=5))
    assert process.exit_status == "exited with status 0"
    assert not is_group_alive(process.pid)


async def test_where_the_system_tells_less_a_group_is_looked_at_until_it_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dsh.subagent_acp._group._LINUX", False)
    process = await opened("sleep 1000 & cat >/dev/null")
    assert is_group_alive(process.pid)
    await ended(process)
    assert not is_group_alive(process.pid)
    assert process.exit_status == "exited with status 0"


async def test_a_member_that_ended_since_it_was_seen_is_not_waited_for() -> None:
    process = await opened("exit 0")
    await process.wait()
    with trio.fail_after(20):
        await wait_ended(process.pid)
    await ended(process)


async def test_a_process_that_left_the_group_by_setsid_lives_on(reap: list[int]) -> None:
    """The documented limitation: a session of its own is out of reach, and delays nothing."""
    code = "import os,time; os.setsid(); print(os.getpid(), flush=True); time.sleep(1000)"
    words = shlex.join([sys.executable, "-S", "-E", "-c", code])
    process = await opened(f"{words} & cat >/dev/null")
    pid = int(await process.stdout.receive_some())
    reap.append(pid)
    await ended(process)
    assert process.has_exited
    os.kill(pid, 0)


async def test_a_group_that_survives_sigkill_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    process = await opened("exec sleep 1000")
    with monkeypatch.context() as patch:
        patch.setattr("dsh.subagent_acp._process.signal_group", ignore)
        await ended(process, Graces(eof=0.05, term=0.05, kill=0.05))
    assert process.survived
    assert "survived SIGKILL" in caplog.text
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no way to look behind EPERM")
async def test_a_process_that_may_not_be_signalled_is_not_taken_for_gone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, reap: list[int]
) -> None:
    """One that changed its user (sudo) is out of reach, and that is told as any survival is."""

    def refuse(group: int, number: int) -> None:
        raise PermissionError(group, number)

    process = await opened("sleep 1000 >/dev/null 2>&1 & echo $!; exec cat >/dev/null")
    reap.append(int(await process.stdout.receive_some()))
    with monkeypatch.context() as patch:
        patch.setattr(os, "killpg", refuse)
        await ended(process, Graces(eof=5, term=0.05, kill=0.05))
    assert process.exit_status == "exited with status 0"
    assert process.survived
    assert "survived SIGKILL" in caplog.text


async def test_stderr_never_blocks_an_agent_and_its_end_is_kept() -> None:
    process = await opened("yes complaint 2>/dev/null | head -c 2000000 >&2; echo last >&2")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process.drain_stderr)
        await process.wait()
    await ended(process)
    assert len(process.stderr_tail) < 9_000
    assert process.stderr_tail.endswith("complaint\nlast")


@pytest.mark.field_case("B105")
async def test_an_agent_ends_when_its_host_is_killed(bench: Any) -> None:
    """The pipe of a host that was killed is closed by the system, and the agent reads the end."""
    pids = bench.folder / "pids"
    os.mkfifo(pids)
    config = bench.config({"steps": [{"hang": True}], "pids": str(pids)})
    host = f"""
import trio
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import AcpConfig, AcpProvider
async def main():
    async with ScriptedParent(cwd="/") as parent:
        service = SubagentService()
        service.register(AcpProvider(AcpConfig.model_validate_json({config.model_dump_json()!r})))
        await service.run("acp", SubagentStartRequest(prompt="go", parent=parent))
trio.run(main)
"""
    process = await trio.lowlevel.open_process([sys.executable, "-c", host])
    agent = json.loads(await trio.to_thread.run_sync(pids.read_text))[0]
    await bench.works()
    descriptor = os.pidfd_open(agent)
    process.kill()
    await process.wait()
    with trio.fail_after(10):
        await trio.lowlevel.wait_readable(descriptor)
    os.close(descriptor)


async def test_a_command_that_cannot_be_started_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await open_agent_process([str(tmp_path / "none")], cwd="/", environment={})
