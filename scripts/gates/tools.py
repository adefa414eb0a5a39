"""The checkers others wrote, as gates: what a tool prints is the failure, whole."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gates.gate import Gate
from gates.plain import plain

NONE: Final[Mapping[str, str]] = {}


def tool(name: str, arguments: Sequence[str], *, variables: Mapping[str, str] = NONE) -> Gate:
    """Return the gate that runs a command of this environment in the root of the repository."""

    def check(root: Path) -> list[str]:
        command = Path(sys.executable).with_name(arguments[0])
        run = subprocess.run(
            [command, *arguments[1:]],
            cwd=root,
            env=plain(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return [run.stdout.strip()] if run.returncode else []

    return Gate(name=name, check=check)


LINT: Final = tool("ruff", ["ruff", "check", "--quiet", "--output-format=concise", "."])
FORMAT: Final = tool("format", ["ruff", "format", "--quiet", "--diff", "."])
MYPY: Final = tool("mypy", ["mypy", "--no-error-summary"])
BASEDPYRIGHT: Final = tool("basedpyright", ["basedpyright"])
