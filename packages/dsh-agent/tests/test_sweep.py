"""The sweep on a host of one page: it passes where the host is right, and bites where it is not."""

import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import final

import pytest
import trio

from dsh.agent.testing import (
    Cut,
    HangError,
    LeakError,
    RouteError,
    SweepFailedError,
    SweepStage,
    assert_no_leaks,
    faults,
    replay,
    sweep,
)
from dsh.agent.testing._awaits import await_share
from dsh.agent.testing._counter import SchedulerStep
from dsh.agent.testing._trio_private import deterministic


async def pass_time(seconds: float) -> None:
    """Let virtual seconds go by; the clock of a sweep jumps when everybody waits."""
    with trio.move_on_after(seconds):
        await trio.sleep_forever()


@final
class Worker:
    """A child: started with ``nursery.start``, and slow to clean up."""

    def __init__(self, desk: "Desk") -> None:
        self.scope = trio.CancelScope()
        self.ended = trio.Event()
        self.desk = desk

    async def serve(self, *, task_status: trio.TaskStatus["Worker"]) -> None:
        with self.scope:
            self.desk.announce("worker began")
            task_status.started(self)
            try:
                await pass_time(2)
            finally:
                with trio.CancelScope(shield=True):
                    await pass_time(1)
                self.desk.record("worker ended")
                self.ended.set()

    async def aclose(self) -> None:
        self.scope.cancel()
        with trio.CancelScope(shield=True):
            await self.ended.wait()


@final
class Desk:
    """A host: turns with a worker, a limited resource, two results."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        self.limiter = trio.CapacityLimiter(1)
        self.log: list[str] = []
        self.turn_scope = trio.CancelScope()

    def record(self, what: str) -> None:
        self.log.append(what)

    def announce(self, what: str) -> None:
        self.record(what)

    def cancel(self) -> None:
        self.turn_scope.cancel("asked to")

    async def turn(self) -> None:
        self.turn_scope = trio.CancelScope()
        self.record("turn began")
        try:
            with self.turn_scope:
                await self.work()
        finally:
            self.record("turn ended")

    async def work(self) -> None:
        worker = await self.nursery.start(Worker(self).serve)
        self.record("worker there")
        try:
            self.record(f"model said {await self.ask()}")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.tool, "fast", 1.0)
                nursery.start_soon(self.tool, "slow", 5.0)
        finally:
            await worker.aclose()

    async def ask(self) -> str:
        me = object()
        await self.limiter.acquire_on_behalf_of(me)
        try:
            await pass_time(1)
            return "hello"
        finally:
            self.limiter.release_on_behalf_of(me)

    async def tool(self, name: str, seconds: float) -> None:
        finished = False
        self.record(f"{name} began")
        try:
            await pass_time(seconds)
            finished = True
        finally:
            self.answer(name, finished)

    def answer(self, name: str, finished: bool) -> None:
        self.record(f"{name} {'answered' if finished else 'stopped'}")

    def held(self) -> Iterable[str]:
        """See ``dsh.agent.testing.Probe``."""
        return ["limiter token"] * self.limiter.borrowed_tokens

    def check(self) -> None:
        for what in ("turn", "worker"):
            assert self.log.count(f"{what} began") == self.log.count(f"{what} ended"), self.log
        for tool in ("fast", "slow"):
            ends = self.log.count(f"{tool} answered") + self.log.count(f"{tool} stopped")
            assert self.log.count(f"{tool} began") == ends, self.log
        assert "model said None" not in self.log, self.log
        for before, after in pairwise(self.log):
            assert before != "turn began" or after in {"worker began", "turn ended"}, self.log


async def a_turn(stage: SweepStage) -> None:
    """Run a turn, look at the strictest moment, run another one on the same host."""
    with stage.scope("host"):
        async with trio.open_nursery() as nursery:
            desk = Desk(nursery)
            with (
                assert_no_leaks(desk.held),
                stage.scope("scope"),
                stage.route("cancel", lambda: desk.cancel()),
            ):
                await desk.turn()
            with stage.settled():
                desk.check()
                if not stage.made:
                    assert "slow answered" in desk.log
                with trio.fail_after(60):
                    await desk.turn()
                assert desk.log[-1] == "turn ended"
                assert desk.log.count("slow answered") >= 1
                assert not desk.turn_scope.cancelled_caught
    desk.check()


def test_a_host_that_cleans_up_passes_at_every_step_by_every_route() -> None:
    report = sweep(a_turn, seeds=(0, 1), sides=("before", "after"), pairs=150)
    report.check()
    assert report.complete
    assert report.steps > 10
    assert report.cuts.keys() == {"host", "scope", "cancel"}
    assert report.runs > 2 * report.steps


def _ends_a_turn(_desk: Desk, what: str) -> bool:
    return what == "turn ended"


PLANTED: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "an unshielded close": faults.unshielded,
    "a checkpoint after nursery.start": faults.checkpoint_after_start,
    "a leaked limiter token": faults.leaked_tokens,
    "a step left open": lambda: faults.skipped(Desk, "record", when=_ends_a_turn),
    "a run not closed": lambda: faults.skipped(Worker, "aclose"),
    "a finished result thrown away": lambda: faults.skipped(Desk, "answer"),
    "a cancellation swallowed": lambda: faults.swallowed(Desk, "ask"),
    "a cancellation retried": lambda: faults.retried(Desk, "ask"),
    "an announcement too late": lambda: faults.delayed(Desk, "announce"),
    "a raise inside a nursery": lambda: faults.raising(Desk, "answer"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_the_sweep_finds_a_planted_fault(fault: str) -> None:
    with PLANTED[fault]():
        report = sweep(a_turn, max_failures=1)
    assert report.failures, f"{fault} was not found in {report}"


def test_a_failure_names_a_call_that_fails_alike() -> None:
    with faults.checkpoint_after_start():
        failure = sweep(a_turn, max_failures=1).failures[0]
        with pytest.raises(LeakError, match=r"task .*serve"):
            replay(a_turn, *failure.cuts, seed=failure.seed)
    (cut,) = failure.cuts
    assert failure.recipe == f"replay(scenario, {cut!r}, seed=0)"
    replay(a_turn, *failure.cuts, seed=failure.seed)


async def a_hang(stage: SweepStage) -> None:
    with stage.scope():
        try:
            await pass_time(1)
        finally:
            with trio.CancelScope(shield=True):
                if stage.made:
                    await trio.sleep_forever()


def test_a_hang_behind_a_shield_is_a_failure_that_says_where_each_task_waits() -> None:
    with pytest.raises(HangError, match=r"test_sweep.py:\d+ in a_hang, waiting in sleep_forever"):
        replay(a_hang, Cut(step=1, route="scope"))


def test_a_scenario_that_steps_on_for_ever_is_ended_and_named() -> None:
    async def scenario(stage: SweepStage) -> None:
        with stage.scope(), stage.settled() if stage.made else nullcontext():
            await pass_time(1)
        while stage.made:
            await trio.lowlevel.checkpoint()

    report = sweep(scenario, max_failures=1)
    assert report.failures[0].kind == "HangError"
    assert "never ends" in report.failures[0].message


def test_a_second_cancel_finds_what_one_cannot() -> None:
    async def scenario(stage: SweepStage) -> None:
        closed = False
        with stage.scope("outer"):
            with stage.scope("inner"):
                await pass_time(1)
            await trio.lowlevel.checkpoint()
            closed = True
        with stage.settled():
            assert closed or [cut.route for cut in stage.made] != ["inner", "outer"]

    sweep(scenario).check()
    assert sweep(scenario, pairs=100).failures


def test_a_scenario_that_differs_from_run_to_run_is_refused() -> None:
    runs = iter(range(10))

    async def scenario(stage: SweepStage) -> None:
        for _ in range(next(runs)):
            await trio.lowlevel.checkpoint()

    with pytest.raises(SweepFailedError, match="part at step"):
        sweep(scenario).check()


def test_a_sweep_that_checks_nothing_fails() -> None:
    async def scenario(stage: SweepStage) -> None:
        with stage.scope():
            await pass_time(1)

    report = sweep(scenario)
    assert not report.failures
    with pytest.raises(SweepFailedError, match="nothing was checked"):
        report.check()


def test_steps_inside_settled_are_neither_counted_nor_cut() -> None:
    async def scenario(stage: SweepStage) -> None:
        with stage.scope() as scope, stage.settled():
            await pass_time(1)
            assert not scope.cancel_called or stage.made[0].step == 0

    report = sweep(scenario, sides=("before", "after"))
    report.check()
    assert report.steps == 1


def test_a_route_may_be_asynchronous_and_is_waited_for() -> None:
    async def scenario(stage: SweepStage) -> None:
        async with trio.open_nursery() as nursery:
            desk = Desk(nursery)
            worker = await nursery.start(Worker(desk).serve)
            with stage.route("disposal", worker.aclose):
                await worker.ended.wait()
            with stage.settled():
                assert desk.log[-1] == "worker ended"

    report = sweep(scenario, sides=("before", "after"))
    report.check()
    assert report.cuts["disposal"] > 0


def test_a_route_that_raises_fails_the_run() -> None:
    async def scenario(stage: SweepStage) -> None:
        def cancel() -> None:
            raise LookupError("no such agent")

        with stage.route("broken", cancel), stage.settled() if stage.made else nullcontext():
            await pass_time(1)

    with pytest.raises(RouteError, match="no such agent"):
        replay(scenario, Cut(step=1, route="broken"))


def test_a_cut_that_cannot_be_made_is_not_passed_over() -> None:
    with pytest.raises(RouteError, match="could not be made"):
        replay(a_turn, Cut(step=10_000, route="host"))


async def test_two_live_routes_cannot_share_a_name() -> None:
    stage = SweepStage()
    with stage.scope("host"), pytest.raises(ValueError, match="'host'"), stage.scope("host"):
        pass


def test_the_virtual_clock_waits_for_a_thread() -> None:
    async def scenario(stage: SweepStage) -> None:
        with stage.scope(), trio.fail_after(1):
            await trio.to_thread.run_sync(threading.Event().wait, 0.002)
        with stage.settled():
            pass

    report = sweep(scenario, sides=("before", "after"))
    report.check()


def test_a_thread_that_waits_for_the_end_of_a_grace_ends_in_virtual_time() -> None:
    async def scenario(stage: SweepStage) -> None:
        release = threading.Event()
        with stage.scope():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.to_thread.run_sync, release.wait, 10)
                with trio.CancelScope(shield=True):
                    await pass_time(30)
                    release.set()
        with stage.settled():
            pass

    sweep(scenario, thread_patience=0.25).check()  # more than a busy machine needs to end a thread


def test_the_share_of_await_points_names_those_that_no_run_was_suspended_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "swept_module.py").write_text(
        "import trio\n"
        "async def reached(limiter):\n"
        "    async with limiter, trio.open_nursery() as nursery:\n"
        "        nursery.start_soon(trio.lowlevel.checkpoint)\n"
        "    await trio.lowlevel.checkpoint(); await trio.lowlevel.checkpoint()\n"
        "async def missed(channel):\n"
        "    async for value in channel:\n"
        "        pass\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    module = import_module("swept_module")

    async def scenario(stage: SweepStage) -> None:
        with stage.scope():
            await module.reached(trio.CapacityLimiter(1))
        with stage.settled():
            pass

    report = sweep(scenario, packages=["swept_module"])
    report.check(share=0.75)
    assert "3 of 4 await points (75%)" in str(report)
    assert "await points" not in str(sweep(scenario))
    assert report.awaits.points == 4
    assert [str(point) for point in report.awaits.missed] == ["swept_module.py:7 async for"]
    with pytest.raises(SweepFailedError, match=r"75%.*missed: swept_module.py:7"):
        report.check(share=0.9)


def test_an_asynchronous_route_that_raises_fails_the_run() -> None:
    async def scenario(stage: SweepStage) -> None:
        async def cancel() -> None:
            await trio.lowlevel.checkpoint()
            raise LookupError("no such agent")

        with stage.route("broken", cancel), stage.settled() if stage.made else nullcontext():
            await pass_time(1)

    with pytest.raises(RouteError, match="no such agent"):
        replay(scenario, Cut(step=1, route="broken"))


def test_a_cut_by_a_route_that_is_not_live_cannot_be_made() -> None:
    with pytest.raises(RouteError, match="could not be made"):
        replay(a_turn, Cut(step=0, route="nobody"))


def test_a_scenario_of_other_steps_from_run_to_run_is_refused() -> None:
    runs = iter(range(10))

    async def scenario(stage: SweepStage) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint, name=f"run {next(runs)}")

    with pytest.raises(SweepFailedError, match="part at step"):
        sweep(scenario).check()


def test_ctrl_c_during_a_sweep_ends_it() -> None:
    async def scenario(stage: SweepStage) -> None:
        await trio.lowlevel.checkpoint()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(scenario)


def test_a_step_before_the_first_line_of_a_task_says_so() -> None:
    step = SchedulerStep(task=0, name="child", code=None, line=0, routes=())
    assert str(step) == "child, which has not begun"


def test_the_share_of_a_package_there_is_none_of_is_refused() -> None:
    with pytest.raises(ModuleNotFoundError, match="no package named 'nowhere_at_all'"):
        await_share(["nowhere_at_all"], {})


def test_a_trio_without_what_the_sweep_needs_is_refused_by_its_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.delattr("trio._core._run._r")
        with pytest.raises(RuntimeError, match=r"trio [0-9.]+ has no '_r'"), deterministic(1):
            pass
    monkeypatch.setattr("trio._core._run._r", object())
    with pytest.raises(TypeError, match="does not shuffle with a"), deterministic(1):
        pass


def test_a_shield_that_is_put_up_later_does_not_hold_either() -> None:
    with faults.unshielded():
        scope = trio.CancelScope()
        scope.shield = True
        assert not scope.shield


async def test_a_function_that_swallows_its_cancellation_still_fails() -> None:
    class Service:
        async def work(self) -> None:
            await trio.lowlevel.checkpoint()
            raise LookupError("its own error")

    with faults.swallowed(Service, "work"), pytest.raises(LookupError, match="its own error"):
        await Service().work()
