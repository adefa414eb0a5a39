"""What every case is measured with: a stopwatch for CPU and wall time, and counts without noise.

It runs in the process that is measured, a peer's too, and so imports the standard library only.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TypeAlias, final

__all__ = ["Case", "Sample", "Stopwatch", "peak_kilobytes", "tracked_objects"]

Sample: TypeAlias = Mapping[str, float]
"""One measurement: ``cpu`` and ``wall`` in seconds per operation, or ``kilobytes``, ``objects``."""

Case: TypeAlias = Callable[[], Sample]
"""Prepares, runs once and says what that took."""


@final
class Stopwatch:
    """Times its ``with`` block: CPU seconds of this process, all threads together, and wall."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def __enter__(self) -> "Stopwatch":
        gc.collect()
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *exc: object) -> None:
        self.cpu = time.process_time() - self._cpu
        self.wall = time.perf_counter() - self._wall

    def per(self, operations: int) -> Sample:
        """Seconds per operation."""
        return {"cpu": self.cpu / operations, "wall": self.wall / operations}


@contextmanager
def peak_kilobytes(operations: int) -> Generator[dict[str, float]]:
    """Put ``kilobytes`` into what it yields: the block's peak of traced memory per operation."""
    sample: dict[str, float] = {}
    gc.collect()
    tracemalloc.start()
    try:
        yield sample
        sample["kilobytes"] = tracemalloc.get_traced_memory()[1] / operations / 1024
    finally:
        tracemalloc.stop()


def tracked_objects() -> int:
    """How many objects the cyclic collector walks; differences of it have no noise."""
    gc.collect()
    return len(gc.get_objects())
