"""The instrument that counts a scenario's scheduler steps and cancels at one of them.

Next: ``_trial.py``, which runs a scenario under it.
"""

import time
from collections import deque
from collections.abc import Coroutine, Iterable
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from inspect import iscoroutine
from pathlib import Path
from types import CodeType
from typing import Final, TypeAlias, final

import trio
import trio.testing

from dsh.agent.testing._cut import Cut, Side
from dsh.agent.testing._stage import SweepStage
from dsh.agent.testing._tasks import BYSTANDER, TRIO
from dsh.agent.testing._trio_private import throw_at_next_step

__all__ = ["COUNTED", "Livelock", "SchedulerStep", "StepCounter", "Suspensions"]

COUNTED: Final[ContextVar[SweepStage | None]] = ContextVar("dsh_sweep", default=None)
"""Set in the scenario's task and inherited by every task below it; trio's own lack it."""

Suspensions: TypeAlias = dict[tuple[int, int], CodeType]
"""Where frames were seen suspended: code by (its id, offset of the instruction)."""


@final
class Livelock(BaseException):
    """Thrown into tasks that step on for ever; no handler for errors may swallow it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerStep:
    """One step: which task (numbered as first seen), where it was suspended, what was live."""

    task: int
    name: str
    code: CodeType | None
    """The innermost frame that is not trio's; ``None`` before a task's first step."""
    line: int
    routes: tuple[str, ...]
    """The names of the routes live before the step."""

    def __str__(self) -> str:
        if self.code is None:
            return f"{self.name}, which has not begun"
        where = f"{Path(self.code.co_filename).name}:{self.line} in {self.code.co_name}"
        return f"{self.name} at {where}"


@final
class StepCounter(trio.abc.Instrument):
    """Counts the steps of the tasks that carry *stage*, and makes *cuts* on the way."""

    def __init__(
        self,
        stage: SweepStage,
        cuts: Iterable[Cut],
        *,
        clock: trio.testing.MockClock,
        patience: float,
        limit: int,
        seen: Suspensions,
    ) -> None:
        self.steps: list[SchedulerStep] = []
        self.after: list[tuple[str, ...]] = []
        """The names of the routes live after each step."""
        self.faults: list[BaseException] = []
        """What routes raised."""
        self.background: trio.Nursery | None = None
        self.stuck = False
        self._stage = stage
        self._cuts = deque(sorted(cuts, key=lambda cut: (cut.step, cut.side == "after")))
        self._clock, self._patience, self._limit = clock, patience, limit
        self._seen = seen
        self._tasks: dict[trio.lowlevel.Task, int] = {}
        self._current: int | None = None
        self._in_flight = self._waited = 0

    @property
    def unmade(self) -> tuple[Cut, ...]:
        """Cuts whose step never came, or whose route was not live at it."""
        return tuple(self._cuts)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._current = None
        if self._stage.paused or task.context.get(COUNTED) is not self._stage:
            return
        self._current = len(self.steps)
        if self._current > self._limit:
            self.stuck = True
            throw_at_next_step(task, Livelock(f"still running after {self._current} steps"))
        code, line = self._look(task)
        self.steps.append(
            SchedulerStep(
                task=self._tasks.setdefault(task, len(self._tasks)),
                name=task.name,
                code=code,
                line=line,
                routes=tuple(self._stage.routes),
            )
        )
        self._cut(self._current, "before")

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if self._current is not None:
            self.after.append(tuple(self._stage.routes))
            self._cut(self._current, "after")
        self._hold_clock()

    def _look(self, task: trio.lowlevel.Task) -> tuple[CodeType | None, int]:
        """Note every frame *task* is suspended in; return the innermost that is not trio's."""
        code, line = None, 0
        for frame, at in task.iter_await_frames():
            self._seen[id(frame.f_code), frame.f_lasti] = frame.f_code
            if not frame.f_code.co_filename.startswith(TRIO):
                code, line = frame.f_code, at
        return code, line

    def _cut(self, step: int, side: Side) -> None:
        while self._cuts and self._cuts[0].step == step and self._cuts[0].side == side:
            route = self._stage.routes.get(self._cuts[0].route)
            if route is None:
                return
            self._stage.made.append(self._cuts.popleft())
            try:
                result = route()
            except Exception as exc:  # noqa: BLE001 - trio drops instruments that raise
                self.faults.append(exc)
            else:
                if iscoroutine(result) and self.background is not None:
                    beside = copy_context()
                    beside.run(BYSTANDER.set, True)
                    beside.run(self.background.start_soon, self._finish, result)

    async def _finish(self, result: Coroutine[object, object, object]) -> None:
        try:
            await result
        except Exception as exc:  # noqa: BLE001 - the scenario goes on; the run reports it
            self.faults.append(exc)

    # Threads live in real time. While a task waits for one, the clock jumps only after `patience`
    # real seconds in which nothing happened at all; and when one starts, trio is held up to that
    # long for its result, so that a short body ends between the same two steps in every run.

    def _hold_clock(self) -> None:
        in_flight = trio.testing.active_thread_count()
        if in_flight != self._in_flight:
            self._in_flight, self._waited = in_flight, min(self._waited, in_flight)
            self._clock.autojump_threshold = self._patience if in_flight else 0

    def before_io_wait(self, timeout: float) -> None:
        begun = self._in_flight - self._waited
        if not begun:
            return
        self._waited = self._in_flight
        deadline = time.monotonic() + self._patience
        # Trio's thread is the one that would be told, so there is nothing to wait on.
        while (
            trio.lowlevel.current_statistics().run_sync_soon_queue_size < begun
            and time.monotonic() < deadline
        ):
            time.sleep(0.0001)
