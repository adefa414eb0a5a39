"""What a peer's script prints: one JSON object of its cases, in CPU seconds per operation."""

import json
from collections.abc import Mapping
from typing import Final

from benchmarks.harness import Case, interleaved

__all__ = ["CHILDREN", "OPERATIONS", "report"]

OPERATIONS: Final = 20
CHILDREN: Final = 100
REPETITIONS: Final = 3


def report(cases: Mapping[str, Case]) -> None:
    """Warm up, measure in turn, and print the medians as the last line of the output."""
    measured = interleaved(cases, rounds=REPETITIONS)
    print(json.dumps({case: measured.median(case) for case in cases}))
