"""What was measured: samples by subject and case, one for each round, and what is missing why."""

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from benchmarks.harness import Sample

__all__ = ["FLOOR", "ORIGINAL", "OURS", "Key", "Results", "Spread"]

OURS, FLOOR, ORIGINAL = "ours", "floor", "original"
NOT_PEERS: Final = frozenset({OURS, FLOOR, ORIGINAL})
MUST: Final = frozenset({OURS, FLOOR})

Key: TypeAlias = tuple[str, str]
"""A subject and a case."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A median and its neighbourhood; ``rounds`` is how many samples there are."""

    median: float
    least: float
    most: float
    rounds: int


@final
@dataclass(slots=True, kw_only=True)
class Results:
    """Filled by ``benchmarks.rounds``; read by targets and reports.

    ``missing`` says why a case has no figure, ``absent`` why a subject has none at all, ``groups``
    which cases were measured together, ``order`` in which order to show the subjects.
    """

    samples: dict[Key, dict[int, Sample]] = field(default_factory=dict[Key, dict[int, Sample]])
    missing: dict[Key, str] = field(default_factory=dict[Key, str])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    order: dict[str, None] = field(default_factory=dict[str, None])

    def spread(self, subject: str, case: str, measure: str = "cpu") -> Spread | None:
        """Of one measure, in its unit; ``None`` if it was not measured."""
        taken = self.samples.get((subject, case), {}).values()
        values = [sample[measure] for sample in taken if measure in sample]
        if not values:
            return None
        return Spread(
            median=statistics.median(values),
            least=min(values),
            most=max(values),
            rounds=len(values),
        )

    def median(self, subject: str, case: str, measure: str = "cpu") -> float:
        """The median, or NaN if it was not measured."""
        spread = self.spread(subject, case, measure)
        return spread.median if spread else math.nan

    def ratio(self, one: Key, other: Key, measure: str = "cpu") -> float:
        """The median of the rounds' ratios: what slows a whole round down does not count.

        Without a common round it is the ratio of the medians, without a figure NaN.
        """
        mine, theirs = self.samples.get(one, {}), self.samples.get(other, {})
        pairs = [(mine[number], theirs[number]) for number in mine if number in theirs]
        ratios = [a[measure] / b[measure] for a, b in pairs if measure in a and b.get(measure)]
        if ratios:
            return statistics.median(ratios)
        return self.median(*one, measure) / self.median(*other, measure)

    def peers(self, case: str, measure: str = "cpu") -> Mapping[str, float]:
        """The medians of every peer that was measured."""
        return {
            subject: self.median(subject, each, measure)
            for subject, each in self.samples
            if each == case
            and subject not in NOT_PEERS
            and not math.isnan(self.median(subject, each, measure))
        }

    def best_peer(self, case: str, measure: str = "cpu") -> str | None:
        """Who has the least."""
        medians = self.peers(case, measure)
        return min(medians, key=lambda peer: medians[peer]) if medians else None

    def beside_best_peer(self, case: str, measure: str = "cpu") -> float:
        """Ours ÷ that of the peer that has the least; NaN without either."""
        peer = self.best_peer(case, measure)
        return self.ratio((OURS, case), (peer, case), measure) if peer else math.nan

    def unmeasured(self) -> list[str]:
        """Why there is no figure of ours or of the floor, where there should be one."""
        gone = [f"{name}: {why}" for name, why in self.absent.items() if name in MUST]
        return gone + [
            f"{name}, {case}: {why}" for (name, case), why in self.missing.items() if name in MUST
        ]

    def subjects(self, cases: Iterable[str]) -> list[str]:
        """Who was asked for any of the cases."""
        wanted = set(cases)
        asked = {subject for subject, case in (*self.samples, *self.missing) if case in wanted}
        return [subject for subject in self.order if subject in asked]
