"""Where an agent works, and where it has its configuration."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

__all__ = ["config_directory", "unusable"]


def unusable(directory: str) -> str | None:
    """Say why an agent cannot work in *directory*; ``None`` where it can (B-HEAD-19)."""
    if not os.path.isabs(directory):
        return f"{directory!r} is not an absolute path"
    if not os.path.isdir(directory):
        return f"{directory!r} is not an existing directory"
    if not os.access(directory, os.X_OK):
        return f"{directory!r} cannot be entered"
    return None


@contextmanager
def config_directory(wanted: Path | Literal["isolated"] | None) -> Generator[str | None]:
    """Hold a configuration directory for the block, and give its path.

    A pinned one is given as it is, neither made nor removed (B-PROC-11). An isolated one is fresh,
    private to this user, and removed afterwards with whatever the agent left in it; what cannot be
    removed stays, and disturbs nobody (B-PROC-10).
    """
    if wanted != "isolated":
        yield None if wanted is None else str(wanted)
        return
    directory = tempfile.mkdtemp(prefix="dsh-acp-")
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
