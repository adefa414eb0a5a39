"""What a sweep found: figures, failures, and how to see each failure again."""

import traceback
from dataclasses import dataclass
from typing import final

from dsh.agent.testing._awaits import AwaitShare
from dsh.agent.testing._cut import Cut
from dsh.agent.testing._trial import Trial

__all__ = ["SweepFailedError", "SweepFailure", "SweepReport", "failure_of"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFailure:
    """One run under ``seed`` that failed. It keeps text only, so that nothing of it stays alive.

    ``message`` and ``traceback`` are those of the error.
    """

    seed: int
    cuts: tuple[Cut, ...]
    """What the run was cancelled by; empty for a baseline run."""
    where: str
    """The task and line that was about to run at the first cut."""
    kind: str
    """The class of the error: ``LeakError``, ``HangError``, or whatever the scenario raised."""
    message: str
    traceback: str

    @property
    def recipe(self) -> str:
        """The call that runs exactly this again, with *scenario* the swept one."""
        return f"replay(scenario{''.join(f', {cut!r}' for cut in self.cuts)}, seed={self.seed})"

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}\n    cut {self.where}\n    {self.recipe}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """The outcome of a sweep; ``print`` it, then ``check`` it."""

    steps: int
    """Scheduler steps of an uncancelled run: the numbers a single cut can have."""
    runs: int
    """How often the scenario was run."""
    settlements: int
    """How many runs came to a ``settled`` block, where scenarios check."""
    cuts: dict[str, int]
    """How many cancels were made by each route."""
    failures: tuple[SweepFailure, ...]
    """Each run that failed, in the order they were made."""
    awaits: AwaitShare
    """The share of the await points of the swept packages that some run was suspended at."""
    complete: bool
    """Whether everything planned was run; not so after ``max_failures`` failures."""

    def check(self, *, share: float = 0.0) -> None:
        """Raise unless every run passed and at least *share* of the await points were reached.

        Raises:
          SweepFailedError: names each failure with its recipe, or the points missed, or says that
            no run ever came to a ``settled`` block.
        """
        if self.failures:
            raise SweepFailedError(f"{self}\n" + "\n".join(str(each) for each in self.failures))
        if not self.settlements:
            raise SweepFailedError(f"{self}; no run came to a `settled` block: nothing was checked")
        if self.awaits.share < share:
            missed = ", ".join(str(point) for point in self.awaits.missed)
            raise SweepFailedError(f"{self}, {share:.0%} are asked for; missed: {missed}")

    def __str__(self) -> str:
        made = ", ".join(f"{count} by {route}" for route, count in sorted(self.cuts.items()))
        ended = "" if self.complete else ", given up early"
        reached = f"{self.awaits}, " if self.awaits.points else ""
        return (
            f"steps: {self.steps}, runs: {self.runs}{ended} ({made or 'nothing cut'}), "
            f"{reached}failures: {len(self.failures)}"
        )


@final
class SweepFailedError(AssertionError):
    """A sweep found something; the message is its report."""


def failure_of(trial: Trial, error: BaseException) -> SweepFailure:
    """Describe *trial*, which failed with *error*."""
    return SweepFailure(
        seed=trial.seed,
        cuts=trial.cuts,
        where=_where(trial),
        kind=type(error).__name__,
        message=str(error),
        traceback="".join(traceback.format_exception(error)),
    )


def _where(trial: Trial) -> str:
    steps = trial.counter.steps
    if not trial.cuts or trial.cuts[0].step >= len(steps):
        return "nowhere"
    cut, step = trial.cuts[0], steps[trial.cuts[0].step]
    return f"{cut.side} step {cut.step} of {len(steps)}, {step}"
