"""The cancellation sweep: a scenario, cancelled at every one of its scheduler steps in turn.

The technique: an instrument counts the steps of the scenario's own tasks and makes the cancel
inside its callback, so that the cancellation arrives together with a wake-up. Every yield to the
scheduler is one step; trio runs unpatched, deterministically, on a virtual clock.
"""

import random
from collections.abc import Iterable, Sequence

from dsh.agent.testing._course import Course, Plan
from dsh.agent.testing._cut import Cut, Side
from dsh.agent.testing._report import SweepReport
from dsh.agent.testing._trial import Conditions, Scenario, run_trial

__all__ = ["replay", "sweep"]


def sweep(
    scenario: Scenario,
    *,
    seeds: Sequence[int] = (0,),
    sides: Sequence[Side] = ("before",),
    pairs: int = 0,
    packages: Iterable[str] = (),
    max_failures: int = 10,
    thread_patience: float = 0.05,
) -> SweepReport:
    """Run *scenario* uncancelled, then cancelled at each step by each route that is live there.

    A run is a ``trio.run`` of its own with a virtual clock that jumps when everybody waits: call
    this from a plain function, not from inside trio. The scenario is called anew for each run; it
    must do the same thing each time (models that are functions of the request, no wall clock, no
    random), which is checked by running the baseline of each seed twice. It declares its routes on
    the ``SweepStage`` it is given, and checks whatever must hold by raising.

    A run fails when the scenario raises, when a task, thread, process or thread-limiter token is
    left at its end, when it hangs (10,000 virtual seconds with a shield, say) or steps on without
    end, or when a route raises. A worker thread that waits for ever cannot be ended by anything.

    Args:
      scenario: builds a host, runs it, checks it, closes it.
      seeds: orders of scheduling; the number of steps hardly depends on it, the order of tasks
        does. Two or three find most of what there is.
      sides: cancel ``before`` a step (with the wake-up), ``after`` it (while blocked), or both.
      pairs: how many runs with two cancels to make, the second at the same step or later, by any
        route. Where there are more pairs than that, a fixed sample. Only pairs find a clean-up
        that a second cancellation tears.
      packages: import names whose await points are counted against those reached.
      max_failures: give up after so many failed runs.
      thread_patience: real seconds a worker thread may take before the virtual clock moves on.

    Returns:
      The report; it raises nothing by itself: ``check`` does.
    """
    course = Course(
        scenario,
        sides=sides,
        max_failures=max_failures,
        conditions=Conditions(patience=thread_patience),
    )
    doubles: list[Plan] = []
    for seed in seeds:
        if (baseline := course.baseline(seed)) is not None:
            doubles += course.singles(seed, baseline)
    if len(doubles) > pairs:
        doubles = random.Random(0).sample(doubles, pairs)
    for seed, cuts in doubles:
        course.run(seed, *cuts)
    return course.report(packages)


def replay(scenario: Scenario, *cuts: Cut, seed: int = 0, thread_patience: float = 0.05) -> None:
    """Run *scenario* once with exactly these *cuts*: the recipe of a failure, in a debugger.

    Raises:
      BaseException: what made the run fail, with its own traceback.
    """
    conditions = Conditions(patience=thread_patience)
    trial = run_trial(scenario, seed=seed, cuts=cuts, conditions=conditions)
    if trial.error is not None:
        raise trial.error
