"""The checkers others wrote, as gates: what a tool prints is the failure, whole."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gates.gate import Gate


def _gate(name: str, arguments: Sequence[str]) -> Gate:
    def check(root: Path) -> list[str]:
        tool = Path(sys.executable).with_name(arguments[0])
        run = subprocess.run(
            [tool, *arguments[1:]],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return [run.stdout.strip()] if run.returncode else []

    return Gate(name=name, check=check)


LINT: Final = _gate("ruff", ["ruff", "check", "--quiet", "--output-format=concise", "."])
FORMAT: Final = _gate("format", ["ruff", "format", "--quiet", "--diff", "."])
MYPY: Final = _gate("mypy", ["mypy", "--no-error-summary"])
BASEDPYRIGHT: Final = _gate("basedpyright", ["basedpyright"])
