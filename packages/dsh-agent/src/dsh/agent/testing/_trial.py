"""One run of a scenario, from a fresh ``trio.run`` to its verdict.

Next: ``_sweep.py``, which decides what to run.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Final, TypeAlias, final

import trio
import trio.testing

from dsh.agent._errors import unwrapped
from dsh.agent.testing._counter import COUNTED, StepCounter, Suspensions
from dsh.agent.testing._cut import Cut
from dsh.agent.testing._leaks import assert_no_leaks
from dsh.agent.testing._stage import SweepStage
from dsh.agent.testing._tasks import below, whereabouts
from dsh.agent.testing._trio_private import deterministic, enclosing_scopes

__all__ = ["Conditions", "HangError", "RouteError", "Scenario", "Trial", "run_trial"]

HANG_SECONDS: Final = 10_000.0
"""Virtual seconds after which a run hangs: far above every time-out a scenario may have."""

Scenario: TypeAlias = Callable[[SweepStage], Awaitable[object]]
"""Builds a host, runs it, checks it: all of it once per run, from nothing to nothing."""


@final
class HangError(AssertionError):
    """A run did not end by itself; ``waiting`` says where each of its tasks was."""

    def __init__(self, what: str, waiting: tuple[str, ...]) -> None:
        super().__init__(f"{what}: " + "; ".join(waiting))
        self.waiting = waiting


@final
class RouteError(AssertionError):
    """A route raised what is the ``__cause__``, or was not live at the step it was to cut."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What every run of a sweep has in common."""

    patience: float = 0.05
    """Real seconds a worker thread is waited for before the virtual clock may jump."""
    limit: int = 20_000
    """Steps after which a run is one that never ends."""
    seen: Suspensions = field(default_factory=dict[tuple[int, int], CodeType])


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of one run."""

    seed: int
    cuts: tuple[Cut, ...]
    counter: StepCounter
    stage: SweepStage
    error: BaseException | None
    """``HangError``, ``RouteError``, ``LeakError``, or what the scenario raised."""


def run_trial(
    scenario: Scenario, *, seed: int, cuts: tuple[Cut, ...], conditions: Conditions
) -> Trial:
    """Run *scenario* once, scheduled by *seed*, cancelled by *cuts*."""
    stage, clock = SweepStage(), trio.testing.MockClock(autojump_threshold=0)
    counter = StepCounter(
        stage,
        cuts,
        clock=clock,
        patience=conditions.patience,
        limit=conditions.limit,
        seen=conditions.seen,
    )
    watchdog = _Watchdog()
    error: BaseException | None = None
    try:
        with deterministic(seed):
            trio.run(_run, scenario, stage, counter, watchdog, clock=clock, instruments=[counter])
    except BaseException as exc:  # noqa: BLE001 - whatever a scenario raises is the finding
        error = unwrapped(exc)
        if isinstance(error, KeyboardInterrupt):
            raise error from None
    verdict = watchdog.verdict(counter) or error or _route_fault(counter)
    if verdict is not None and verdict is not error:
        verdict.__context__ = error
    return Trial(seed=seed, cuts=cuts, counter=counter, stage=stage, error=verdict)


async def _run(
    scenario: Scenario, stage: SweepStage, counter: StepCounter, watchdog: "_Watchdog"
) -> None:
    trio.lowlevel.spawn_system_task(watchdog.watch, trio.lowlevel.current_task())
    with watchdog.rescue, assert_no_leaks():
        async with trio.open_nursery() as counter.background:
            COUNTED.set(stage)
            try:
                await trio.lowlevel.checkpoint()  # so that the first step is a counted one
                await scenario(stage)
            finally:
                stage.paused += 1


@final
class _Watchdog:
    """Ends a run that nothing else would end, and remembers what it was waiting for."""

    def __init__(self) -> None:
        self.rescue = trio.CancelScope()
        self._waiting: tuple[str, ...] = ()

    async def watch(self, main: trio.lowlevel.Task) -> None:
        await trio.sleep(HANG_SECONDS)
        tasks = list(below(main))
        self._waiting = tuple(sorted(whereabouts(task) for task in tasks))
        for task in tasks:
            for scope in enclosing_scopes(task):
                scope.shield = False
        self.rescue.cancel("the sweep's watchdog")

    def verdict(self, counter: StepCounter) -> HangError | None:
        if self._waiting:
            return HangError("the run hangs", self._waiting)
        if counter.stuck:
            busy = sorted({step.name for step in counter.steps[-50:]})
            return HangError(f"the run never ends, after {len(counter.steps)} steps", tuple(busy))
        return None


def _route_fault(counter: StepCounter) -> RouteError | None:
    if counter.faults:
        error = RouteError(f"a route raised {counter.faults[0]!r}")
        error.__cause__ = counter.faults[0]
        return error
    if counter.unmade:
        return RouteError(f"the run does not repeat: {counter.unmade[0]} could not be made")
    return None
