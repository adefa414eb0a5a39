"""Environments under ``.tools/peers/``: one for each library that is measured beside us."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.worker import ROOT, NotMeasured, clean_environment

__all__ = ["environment"]

TOOLS: Final = ROOT / ".tools"
SECONDS: Final = 300.0


def environment(
    distribution: str, version: str, *, uv: str | None = None, under: Path = TOOLS / "peers"
) -> Path:
    """Make an environment with that distribution, or find it made; returns its Python.

    Raises ``NotMeasured`` when it cannot be installed.
    """
    home = under / f"{distribution}-{version}"
    python = home / "bin" / "python"
    done = home / "installed"  # written last: an environment without it is half made
    if not done.exists():
        uv = uv or os.environ.get("UV") or shutil.which("uv", path=_search_path())
        if uv is None:
            raise NotMeasured("cannot be installed: no uv on PATH or in .tools/")
        _run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)])
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python)]
        _run([*install, f"{distribution}=={version}"])
        done.touch()
    return python


def _search_path() -> str:
    return f"{os.environ.get('PATH', '')}{os.pathsep}{TOOLS / 'uv' / 'bin'}"


def _run(command: Sequence[str]) -> None:
    try:
        subprocess.run(
            command,
            cwd=ROOT,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"cannot be installed in {SECONDS:g} s") from error
    except subprocess.CalledProcessError as error:
        said = str(error.stderr).strip().splitlines() or [f"exit status {error.returncode}"]
        raise NotMeasured(f"cannot be installed: {said[-1]}") from error
    except OSError as error:
        raise NotMeasured(f"cannot be installed: {error}") from error
