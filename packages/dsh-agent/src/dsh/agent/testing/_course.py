"""A sweep under way: which runs there are to make, and what came of those made.

Next: ``_sweep.py``, the door.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, final

from dsh.agent.testing._awaits import await_share
from dsh.agent.testing._cut import Cut, Side
from dsh.agent.testing._report import SweepFailedError, SweepFailure, SweepReport, failure_of
from dsh.agent.testing._trial import Conditions, Scenario, Trial, run_trial

__all__ = ["Course", "Plan"]

Plan: TypeAlias = tuple[int, tuple[Cut, ...]]
"""A seed, and the cuts to make under it."""


@final
class Course:
    """Runs a scenario again and again, until everything is run or too much has failed."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        sides: Sequence[Side],
        max_failures: int,
        conditions: Conditions,
    ) -> None:
        self._scenario, self._sides, self._max_failures = scenario, sides, max_failures
        self._conditions = conditions
        self._steps = self._runs = self._settlements = 0
        self._cuts: Counter[str] = Counter()
        self._failures: list[SweepFailure] = []

    @property
    def given_up(self) -> bool:
        """Whether so many runs failed that no more are made."""
        return len(self._failures) >= self._max_failures

    def baseline(self, seed: int) -> Trial | None:
        """Run uncancelled, twice; ``None`` where that fails already or does not repeat."""
        first, again = self.run(seed), self.run(seed)
        if first is None or again is None:
            return None
        if (moment := _parting(first, again)) is not None:
            self._fail(again, SweepFailedError(f"two runs with seed {seed} part at step {moment}"))
            return None
        self._steps = max(self._steps, len(first.counter.steps))
        self._conditions = replace(self._conditions, limit=10 * self._steps + 1_000)
        return first

    def singles(self, seed: int, baseline: Trial) -> Iterator[Plan]:
        """Cut at every step of *baseline*; yield every second cut that can follow each of them."""
        for cut in self._possible(baseline, start=0):
            if (trial := self.run(seed, cut)) is not None:
                for second in self._possible(trial, start=cut.step):
                    if not _same(trial, cut, second):
                        yield seed, (cut, second)

    def run(self, seed: int, *cuts: Cut) -> Trial | None:
        """Make one run; ``None`` where it failed, or where the sweep has given up."""
        if self.given_up:
            return None
        trial = run_trial(self._scenario, seed=seed, cuts=cuts, conditions=self._conditions)
        self._runs += 1
        self._settlements += trial.stage.settlements
        self._cuts.update(cut.route for cut in trial.stage.made)
        if trial.error is None:
            return trial
        self._fail(trial, trial.error)
        return None

    def report(self, packages: Iterable[str]) -> SweepReport:
        """Sum up; the await points of *packages* are held against those reached."""
        return SweepReport(
            steps=self._steps,
            runs=self._runs,
            settlements=self._settlements,
            cuts=dict(self._cuts),
            failures=tuple(self._failures),
            awaits=await_share(packages, self._conditions.seen),
            complete=not self.given_up,
        )

    def _fail(self, trial: Trial, error: BaseException) -> None:
        self._failures.append(failure_of(trial, error))

    def _possible(self, trial: Trial, *, start: int) -> Iterator[Cut]:
        counter = trial.counter
        for number in range(start, len(counter.steps)):
            live = {"before": counter.steps[number].routes, "after": counter.after[number]}
            for side in self._sides:
                for route in live[side]:
                    yield Cut(step=number, route=route, side=side)


def _parting(first: Trial, again: Trial) -> int | None:
    """The first step at which two runs differ."""
    steps = first.counter.steps, again.counter.steps
    for number, (one, other) in enumerate(zip(*steps, strict=False)):
        if one != other:
            return number
    return None if len(steps[0]) == len(steps[1]) else min(map(len, steps))


def _same(trial: Trial, cut: Cut, second: Cut) -> bool:
    """Whether *second* adds nothing: a scope cancelled again, or a moment before the first."""
    if second.route == cut.route and cut.route in trial.stage.scopes:
        return True
    return second.step == cut.step and (second.side, cut.side) == ("before", "after")
