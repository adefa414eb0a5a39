"""The run: in every round each subject takes one turn at each case, so that noise hurts all alike.

Each subject has a process of its own for a group. The first round warms up and does not count,
unless it took so long that it could not be cheap to repeat.
"""

import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from benchmarks.groups import GROWS, ONCE, Group, python_of
from benchmarks.results import Key, Results
from benchmarks.worker import NotMeasured, Worker

__all__ = ["Limits", "measure"]

VARIABLES: Final = {
    "PYTHONHASHSEED": "0",
    "ANONYMIZED_TELEMETRY": "false",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
"""So that nobody traces to a server while it is measured."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long things may take, in wall seconds, and how many rounds there are at most."""

    rounds: int
    sample: float = 60.0
    """What takes longer, or will by what a tenth of it took, has no figure."""
    case: float = 30.0
    """No further round of a case that took one subject that long in all."""
    warm: float = 10.0
    """A first sample that took longer counts."""


@final
@dataclass(slots=True)
class _Turns:
    """The turns of one group."""

    group: Group
    limits: Limits
    results: Results
    workers: dict[str, Worker] = field(default_factory=dict[str, Worker])
    spent: dict[Key, list[float]] = field(default_factory=dict[Key, list[float]])

    def start(self, subject: str) -> None:
        """Start the subject's process, or say why there is none."""
        python = python_of(subject, Path(sys.executable))
        module = self.group.modules[subject]
        self.workers[subject] = Worker(python, module, variables=VARIABLES)

    def cases(self) -> list[str]:
        """What any worker has, or the group's choice, in its order."""
        if self.group.only:
            return list(self.group.only)
        return list(dict.fromkeys(case for each in self.workers.values() for case in each.cases))

    def take(self, subject: str, case: str, number: int) -> None:
        """Take one turn, unless there is a reason not to."""
        key, worker = (subject, case), self.workers[subject]
        if case not in worker.cases or key in self.results.missing or self._enough(key):
            return
        try:
            if reason := worker.cases[case] or self._too_long(key):
                raise NotMeasured(reason)
            if worker.ended:
                self.start(subject)
            began = time.monotonic()
            sample = self.workers[subject].ask(case, seconds=self.limits.sample)
        except NotMeasured as error:
            self.results.samples.pop(key, None)
            self.results.missing[key] = str(error)
            return
        took = time.monotonic() - began
        self.spent.setdefault(key, []).append(took)
        if number or took > self.limits.warm or case in ONCE:
            self.results.samples.setdefault(key, {})[number] = sample

    def _enough(self, key: Key) -> bool:
        spent, taken = self.spent.get(key, []), self.results.samples.get(key)
        if not taken:
            return False
        return key[1] in ONCE or sum(spent) + spent[-1] > self.limits.case

    def _too_long(self, key: Key) -> str | None:
        subject, case = key
        smaller = GROWS.get(case)
        if smaller is None or key in self.spent:
            return None
        if (subject, smaller) in self.results.missing:
            return f"not tried, because of: {smaller}"
        took = min(self.spent.get((subject, smaller), [0.0]))
        if took * 10 > self.limits.sample:
            return f"over {self.limits.sample:g} s, by ten times: {smaller}"
        return None


def measure(groups: Sequence[Group], limits: Limits) -> Results:
    """Measure the groups one after the other; says on the standard error where it is."""
    results = Results()
    for group in groups:
        print(f"{group.name}: {group.about}", file=sys.stderr, flush=True)
        with _workers(group, limits, results) as turns:
            cases = results.groups[group.name] = turns.cases()
            for number in range(limits.rounds + 1):
                for case in cases:
                    for subject in turns.workers:
                        turns.take(subject, case, number)
    return results


@contextmanager
def _workers(group: Group, limits: Limits, results: Results) -> Generator[_Turns]:
    turns = _Turns(group, limits, results)
    results.order.update(dict.fromkeys(group.modules))
    try:
        for subject in group.modules:
            try:
                turns.start(subject)
            except NotMeasured as error:
                results.absent[subject] = str(error)
        yield turns
    finally:
        for worker in turns.workers.values():
            worker.close()
