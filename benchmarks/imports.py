"""What importing costs, in an interpreter of its own: seconds, and how many modules it loads.

The start of the interpreter does not count.
"""

import json
import subprocess
import sys
from typing import Final

from benchmarks.harness import Case, Sample

__all__ = ["import_case"]

LATE: Final = ("openai", "anthropic", "acp", "jsonschema")
"""Expensive modules that are to be imported at first use."""

_SCRIPT: Final = """
import json, sys, time
wall, cpu, before = time.perf_counter(), time.process_time(), len(sys.modules)
{statements}
taken = dict(cpu=time.process_time() - cpu, wall=time.perf_counter() - wall)
early = sum(name in sys.modules for name in {late})
print(json.dumps(dict(taken, modules=len(sys.modules) - before, early=early)))
"""


def import_case(*statements: str) -> Case:
    """Execute these once; ``early`` is how many of the expensive modules came with them."""
    script = _SCRIPT.format(statements="\n".join(statements), late=LATE)

    def case() -> Sample:
        run = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, text=True
        )
        sample: Sample = json.loads(run.stdout.splitlines()[-1])
        return sample

    return case
