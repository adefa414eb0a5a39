"""What the figures are to be: ratios of one run, each with its target and its limit."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from benchmarks.results import FLOOR, ORIGINAL, OURS, Results

__all__ = ["TARGETS", "Target", "Verdict", "judged"]

_IN_A_TURN: Final = "HTTP delegation, of 50 in a turn"

Value: TypeAlias = Callable[[Results], float]
"""The figure of a run; NaN if something of it was not measured."""

SLACK: Final = 2.0
"""Twice its target is what a figure must not be beyond, unless the target says otherwise."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure that is to be at most ``target`` and must be at most ``blocking``."""

    name: str
    value: Value
    target: float
    blocking: float = math.nan
    unit: str = ""

    @property
    def limit(self) -> float:
        """What the figure must not be beyond."""
        return SLACK * self.target if math.isnan(self.blocking) else self.blocking


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A target and what was measured."""

    target: Target
    value: float

    @property
    def blocks(self) -> bool:
        """Whether it is beyond its limit; what was not measured is not."""
        return self.value > self.target.limit

    @property
    def words(self) -> str:
        """One of: met, missed, BEYOND its limit, not measured."""
        if math.isnan(self.value):
            return "not measured"
        if self.value <= self.target.target:
            return "met"
        if self.blocks:
            return f"BEYOND {self.target.limit:.3g}"
        return f"missed, {self.value / self.target.target:.2f} of it"


def judged(results: Results) -> list[Verdict]:
    """Every target with its figure, in the order of the list."""
    return [Verdict(target=target, value=target.value(results)) for target in TARGETS]


def _ratio(case: str, base: str, *, of: str = OURS, measure: str = "cpu") -> Value:
    return lambda results: results.ratio((OURS, case), (of, base), measure)


def _floor(case: str, measure: str = "cpu") -> Value:
    return _ratio(case, case, of=FLOOR, measure=measure)


def _best_peer(case: str, measure: str = "cpu") -> Value:
    return lambda results: results.beside_best_peer(case, measure)


def _beyond_model(case: str) -> Value:
    """In floors of a child at 100."""

    def value(results: Results) -> float:
        beyond = results.median(OURS, case) - results.median(OURS, "bare model")
        return beyond / results.median(OURS, "floor of 100")

    return value


def _growth(results: Results) -> float:
    many, few = "fan-out of 10,000", "fan-out of 100"
    ours = results.ratio((OURS, many), (OURS, few))
    return ours / results.ratio((FLOOR, many), (FLOOR, few))


def _median(case: str, measure: str, scale: float = 1.0) -> Value:
    return lambda results: results.median(OURS, case, measure) * scale


def _idle(results: Results) -> float:
    idle = results.median(OURS, "idle agent", "kilobytes")
    return idle / results.median(FLOOR, "live child", "kilobytes")


def _beyond_requests(results: Results) -> float:
    whole = results.median(OURS, "HTTP delegation")
    return (whole - results.median(OURS, "three bare requests")) * 1e3


def _beyond_process(results: Results) -> float:
    return (results.median(OURS, "ACP run") - results.median(OURS, "bare process")) * 1e3


TARGETS: Final = (
    Target(
        name="one-step turn beyond the model ÷ floor",
        value=_beyond_model("one-step turn"),
        target=1.0,
    ),
    Target(name="tool step beyond the model ÷ floor", value=_beyond_model("tool step"), target=1.2),
    Target(
        name="step after 10,000 messages ÷ after 10",
        value=_ratio("step after 10,000 messages", "step after 10 messages"),
        target=1.2,
    ),
    Target(
        name="append and view at 10,000 messages ÷ at 10",
        value=_ratio("append to and view 10,000 messages", "append to and view 10 messages"),
        target=1.2,
    ),
    Target(
        name="ten listeners ÷ none",
        value=_ratio("the same with ten listeners", "scripted delegation"),
        target=1.05,
    ),
    Target(name="idle agent ÷ floor's live child, memory", value=_idle, target=1.3),
    Target(
        name="delegation ÷ fastest peer",
        value=_best_peer("delegation"),
        target=1 / 4,
        blocking=1 / 2,
    ),
    *(
        Target(
            name=f"fan-out of {size} ÷ fastest peer",
            value=_best_peer(f"fan-out of {size}"),
            target=1 / 3,
            blocking=1 / 2,
        )
        for size in ("100", "1,000", "10,000")
    ),
    Target(name="fan-out of 10,000 ÷ floor", value=_floor("fan-out of 10,000"), target=2),
    Target(name="fan-out's growth from 100 to 10,000 ÷ floor's", value=_growth, target=1.3),
    Target(
        name="fan-out's growth, collector off",
        value=_ratio("fan-out of 10,000, no collector", "fan-out of 100, no collector"),
        target=1.3,
    ),
    Target(
        name="memory of a live child ÷ leanest peer",
        value=_best_peer("live child", "kilobytes"),
        target=0.6,
    ),
    Target(
        name="memory of a live child",
        value=_median("live child", "kilobytes"),
        target=18,
        unit="KB",
    ),
    Target(
        name="tracked objects per live child", value=_median("live child", "objects"), target=110
    ),
    Target(
        name="structured child ÷ plain",
        value=_ratio("structured child", "child alone"),
        target=1.75,
    ),
    Target(
        name="structured delegation ÷ plain",
        value=_ratio("structured delegation", "delegation"),
        target=1.5,
    ),
    Target(
        name="child given 10,000 messages ÷ child alone",
        value=_ratio("child given 10,000 messages", "child alone"),
        target=1.2,
    ),
    Target(
        name="child given 10,000 messages ÷ fastest peer",
        value=_best_peer("child given 10,000 messages"),
        target=1 / 30,
    ),
    Target(name="cancel of 1,000 ÷ floor", value=_floor("cancel of 1,000"), target=3),
    Target(
        name="HTTP delegation beyond three requests, CPU",
        value=_beyond_requests,
        target=1,
        unit="ms",
    ),
    *(
        Target(
            name=f"HTTP delegation ÷ the original's, {measure}",
            value=_ratio(_IN_A_TURN, _IN_A_TURN, of=ORIGINAL, measure=measure),
            target=1,
        )
        for measure in ("cpu", "wall")
    ),
    Target(
        name="ACP run beyond a bare process, our CPU", value=_beyond_process, target=15, unit="ms"
    ),
    Target(
        name="memory of a live ACP child",
        value=_median("live ACP child", "kilobytes"),
        target=300,
        unit="KB",
    ),
    Target(name="ACP chunk, our CPU", value=_median("ACP chunk", "cpu", 1e6), target=50, unit="µs"),
    Target(name="import ÷ trio and pydantic", value=_floor("import"), target=1.4),
    Target(name="expensive modules imported with it", value=_median("import", "early"), target=0),
    Target(
        name="dsh --help ÷ importing argparse and rich",
        value=_ratio("dsh --help", "importing argparse and rich"),
        target=1.2,
    ),
)
