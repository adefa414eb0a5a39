"""What `dsh --help` costs: against Python importing the CLI library and rich, and nothing else."""

import resource
import subprocess
import sys
import time
from collections.abc import Mapping

from benchmarks.harness import Case, Sample

__all__ = ["CASES"]


def _python(*arguments: str) -> Case:
    def case() -> Sample:
        wall, before = time.perf_counter(), _seconds_of_children()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        return {"cpu": _seconds_of_children() - before, "wall": time.perf_counter() - wall}

    return case


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


CASES: Mapping[str, Case] = {
    "dsh --help": _python("-m", "dsh.cli", "--help"),
    "importing argparse and rich": _python("-c", "import argparse, rich.console, rich.live"),
}
