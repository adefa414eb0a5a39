"""The environment in which a tool prints what a program can read."""

import os
from typing import Final

COLOURS: Final = frozenset(
    {"CLICOLOR_FORCE", "FORCE_COLOR", "FORCE_COLOUR", "MYPY_FORCE_COLOR", "PY_COLORS"}
)
"""What has one tool or another colour its output though no terminal reads it."""


def plain(**more: str) -> dict[str, str]:
    """Return this process's variables and *more*, without what would colour a tool's output."""
    kept = {name: value for name, value in os.environ.items() if name not in COLOURS}
    return {**kept, "NO_COLOR": "1", **more}
