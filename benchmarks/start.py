"""What `dsh --help` costs: against Python importing the CLI library and rich, and nothing else."""

import resource
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.harness import Benchmark, Case, Figure, interleaved

__all__ = ["BENCHMARK"]

LIMIT = 1.2


def _python(*arguments: str) -> Case:
    def case() -> float:
        before = _seconds_of_children()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        return _seconds_of_children() - before

    return case


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(rounds: int) -> Sequence[Figure]:
    told, bare = "dsh --help", "importing argparse and rich"
    measured = interleaved(
        {
            told: _python("-m", "dsh.cli", "--help"),
            bare: _python("-c", "import argparse, rich.console, rich.live"),
            "importing argparse": _python("-c", "import argparse"),
        },
        rounds=rounds,
    )
    return [
        *(measured.microseconds(name) for name in measured.samples),
        measured.ratio(told, bare, limit=LIMIT),
    ]


BENCHMARK = Benchmark(name="start", about="the start of the command", run=_run)
