"""What counts as left behind, and what does not."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
import trio
import trio.testing

from dsh.agent.testing import LeakError, assert_no_leaks
from dsh.agent.testing._leaks import parent_of
from dsh.agent.testing._tasks import whereabouts
from dsh.agent.testing.plugin import WatchProbe, no_leaks

__all__ = ["no_leaks"]


async def test_a_block_whose_tasks_and_threads_have_ended_passes() -> None:
    with assert_no_leaks():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint)
        await trio.to_thread.run_sync(threading.get_ident)


async def test_a_task_that_outlives_the_block_is_named_with_the_line_it_waits_at() -> None:
    async with trio.open_nursery() as nursery:
        with pytest.raises(LeakError, match=r"task .*sleep_forever") as caught, assert_no_leaks():
            nursery.start_soon(trio.sleep_forever)
        nursery.cancel_scope.cancel()
    assert len(caught.value.left) == 1


async def test_what_was_there_before_may_stay_and_may_go() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        stays = threading.Event()
        thread = threading.Thread(target=stays.wait)
        thread.start()
        with assert_no_leaks():
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.testing.wait_all_tasks_blocked()
        stays.set()
        thread.join()


def test_a_thread_that_outlives_the_block_is_named() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="poller")
    with pytest.raises(LeakError, match="thread 'poller'"), assert_no_leaks():
        thread.start()
    release.set()
    thread.join()


async def test_an_abandoned_worker_thread_and_its_token_are_left() -> None:
    release, running = threading.Event(), trio.Event()

    def body() -> None:
        trio.from_thread.run_sync(running.set)
        release.wait()

    async def abandon() -> None:
        await trio.to_thread.run_sync(body, abandon_on_cancel=True)

    async def leave_it() -> None:
        with assert_no_leaks():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(abandon)
                await running.wait()
                nursery.cancel_scope.cancel()

    with pytest.raises(LeakError) as caught:
        await leave_it()
    token, thread = sorted(caught.value.left, reverse=True)
    assert token == "token of trio's default thread limiter"
    assert "body" in thread
    release.set()
    limiter = trio.to_thread.current_default_thread_limiter()
    while limiter.borrowed_tokens:
        await trio.lowlevel.checkpoint()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")
def test_a_child_process_that_was_not_waited_for_is_left() -> None:
    processes: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        command = [sys.executable, "-c", "input()"]
        processes.append(subprocess.Popen(command, stdin=subprocess.PIPE))

    with pytest.raises(LeakError, match=r"process \d+"), assert_no_leaks():
        start()
    processes[0].communicate(b"\n")


async def test_probes_count_equal_names() -> None:
    limiter = trio.CapacityLimiter(3)

    def probe() -> Iterable[str]:
        return ["token"] * limiter.borrowed_tokens

    await limiter.acquire_on_behalf_of("before")

    async def leave_two() -> None:
        with assert_no_leaks(probe):
            await limiter.acquire_on_behalf_of("left")
            await limiter.acquire_on_behalf_of("left too")

    with pytest.raises(LeakError) as caught:
        await leave_two()
    assert caught.value.left == ("token", "token")


def test_an_error_of_the_block_is_the_context_of_the_leak() -> None:
    def fails(held: list[str]) -> None:
        with assert_no_leaks(lambda: held):
            held.append("handle")
            raise ZeroDivisionError

    with pytest.raises(LeakError) as caught:
        fails([])
    assert isinstance(caught.value.__context__, ZeroDivisionError)


def test_the_fixture_watches_the_probes_it_is_given(no_leaks: WatchProbe) -> None:
    held = ["host"]
    no_leaks(lambda: held)
    held.append("agent")
    held.remove("agent")


def test_a_test_that_leaves_something_fails_in_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "from dsh.agent.testing.plugin import no_leaks\n"
        "def test_leaves_a_name(no_leaks):\n"
        "    held = []\n"
        "    no_leaks(lambda: held)\n"
        "    held.append('listener of RunEnded')\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # nothing else is needed
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "1 passed, 1 error" in done.stdout
    assert "LeakError: left behind: listener of RunEnded" in done.stdout


def test_where_the_system_cannot_say_child_processes_are_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsh.agent.testing._leaks._PROC", tmp_path / "no proc")
    with assert_no_leaks():
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process.communicate(b"\n")


def test_a_process_that_ended_while_it_was_looked_at_is_nobodys_child() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert parent_of(process.pid) is None


async def test_a_task_that_has_ended_is_said_to_have() -> None:
    tasks: list[trio.lowlevel.Task] = []

    async def end() -> None:
        await trio.lowlevel.checkpoint()
        tasks.append(trio.lowlevel.current_task())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end, name="brief")
    assert whereabouts(tasks[0]) == "brief (ended)"
