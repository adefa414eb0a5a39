"""How a benchmark measures: CPU time, cases taking turns, medians, and ratios of one run.

Absolute times move from run to run and from machine to machine. A ratio of two cases that took
turns in one run does not, or much less, so limits are set on ratios.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

__all__ = ["Benchmark", "Case", "Figure", "Measured", "Stopwatch", "interleaved", "tracked_objects"]

Case: TypeAlias = Callable[[], float]
"""Prepares and runs once; returns the CPU seconds per operation of what a ``Stopwatch`` timed."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the report; beyond ``limit`` the run fails. NaN is what was not measured."""

    name: str
    value: float
    unit: str = ""
    limit: float | None = None

    @property
    def within(self) -> bool:
        """Whether there is no limit, or the value keeps it."""
        return self.limit is None or self.value <= self.limit


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A named set of figures; ``run`` measures in the given number of rounds."""

    name: str
    about: str
    run: Callable[[int], Sequence[Figure]]


@final
class Stopwatch:
    """Times its ``with`` block in CPU seconds of this process, all threads together."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> "Stopwatch":
        gc.collect()
        self._started = time.process_time()
        return self

    def __exit__(self, *exc: object) -> None:
        self.seconds = time.process_time() - self._started

    def per(self, operations: int) -> float:
        """Seconds per operation."""
        return self.seconds / operations


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The samples of each case, one per round, in the order of the rounds."""

    samples: Mapping[str, Sequence[float]]

    def median(self, case: str) -> float:
        """CPU seconds per operation."""
        return statistics.median(self.samples[case])

    def microseconds(self, case: str) -> Figure:
        """The median as a line of context."""
        return Figure(name=case, value=self.median(case) * 1e6, unit="µs")

    def ratio(self, case: str, base: str, *, limit: float | None = None) -> Figure:
        """The median of the rounds' ratios: what slows a whole round down does not count."""
        pairs = zip(self.samples[case], self.samples[base], strict=True)
        value = statistics.median(mine / other for mine, other in pairs)
        return Figure(name=f"{case} ÷ {base}", value=value, limit=limit)


def interleaved(cases: Mapping[str, Case], *, rounds: int) -> Measured:
    """Run the cases in turn, *rounds* times, after one round that does not count."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            seconds = case()
            if number:
                samples[name].append(seconds)
    return Measured(samples=samples)


def tracked_objects() -> int:
    """How many objects the cyclic collector walks; differences of it have no noise."""
    gc.collect()
    return len(gc.get_objects())
