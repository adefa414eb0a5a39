"""How many instructions a case takes, counted by valgrind: a busy machine does not change that.

``python -m benchmarks.instructions MODULE CASE`` is what runs inside: only the second time counts.
"""

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from benchmarks.harness import Case
from benchmarks.worker import ROOT, NotMeasured, clean_environment

__all__ = ["instructions"]

SECONDS: Final = 300.0
_CONTROL: Final = "callgrind_control"


def instructions(module: str, case: str) -> int:
    """Of one run of the case. Raises ``NotMeasured`` without valgrind, or when it fails."""
    if shutil.which("valgrind") is None or shutil.which(_CONTROL) is None:
        raise NotMeasured("no valgrind on PATH, which counts instructions")
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder, "counted")
        valgrind = ("valgrind", "--tool=callgrind", "--instr-atstart=no")
        python = (sys.executable, "-m", "benchmarks.instructions", module, case)
        try:
            subprocess.run(
                [*valgrind, f"--callgrind-out-file={counted}", *python],
                cwd=ROOT,
                env={**clean_environment(), "PYTHONHASHSEED": "0"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=True,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise NotMeasured(f"valgrind fails: {error}") from error
        found = re.search(r"^totals: (\d+)$", counted.read_text(), re.MULTILINE)
    if found is None:
        raise NotMeasured("valgrind counted nothing")
    return int(found[1])


def _main() -> None:
    module, name = sys.argv[1:]
    case = cast("Mapping[str, Case]", importlib.import_module(module).CASES)[name]
    case()
    _count("on")
    case()
    _count("off")


def _count(state: str) -> None:
    command = [_CONTROL, "-i", state, str(os.getpid())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    _main()
