"""A folder in which the distributions are built and installed, outside the checkout."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from gates.workspace import Member
from shipping.order import dependencies

ROOT: Final = Path(__file__).resolve().parents[2]
TOGETHER: Final = "together"
IMPORT: Final = """
import importlib, importlib.metadata, sys
distribution, module = sys.argv[1:]
importlib.import_module(module)
for entry_point in importlib.metadata.distribution(distribution).entry_points:
    entry_point.load()
"""


def find_uv() -> str:
    """Return the uv on PATH, or the one that `scripts/bootstrap.sh` installs."""
    return shutil.which("uv") or str(ROOT / ".tools" / "uv" / "bin" / "uv")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A folder to build and install in, and the uv that does it.

    Each environment has the members named for it as wheels, and everything else in the versions of
    `uv.lock`. What is run in one is run in isolated mode and outside the checkout.
    """

    uv: str
    folder: Path
    workspace: Mapping[str, Member]

    @property
    def constraints(self) -> Path:
        """The file with the locked version of everything that is not a member."""
        return self.folder / "constraints.txt"

    def prepare(self) -> None:
        """Build every sdist, from each its wheel, and write the constraints.

        Raises:
          subprocess.CalledProcessError: one does not build; its `stdout` says why.
        """
        self._uv("build", "--all-packages", f"--out-dir={self.folder}")
        self._uv(
            *("export", "--locked", "--all-packages", "--all-groups", "--no-emit-workspace"),
            *("--no-hashes", "--no-annotate", f"--output-file={self.constraints}"),
        )

    def wheel(self, name: str) -> Path:
        """Return the built wheel of the distribution *name*."""
        (found,) = self.folder.glob(f"{name.replace('-', '_')}-*.whl")
        return found

    def artefacts(self, name: str) -> list[Path]:
        """Return the built wheel and sdist of the distribution *name*."""
        (sdist,) = self.folder.glob(f"{name.replace('-', '_')}-*.tar.gz")
        return [self.wheel(name), sdist]

    def verify(self, member: Member) -> str:
        """Install *member* with what it needs, and load it; return what went wrong, or nothing."""
        return self.install(member.name, dependencies(member, self.workspace)) or loads(
            self.python(member.name), member
        )

    def install(self, environment: str, names: Sequence[str]) -> str:
        """Install the wheels of *names* into a new environment, whose dependencies must agree."""
        python = self.python(environment)
        wheels = [str(self.wheel(name)) for name in names]
        try:
            self._uv("venv", f"--python={sys.executable}", str(self.folder / environment))
            self._uv(
                *("pip", "install", f"--python={python}", f"--constraints={self.constraints}"),
                *wheels,
            )
            self._uv("pip", "check", f"--python={python}")
        except subprocess.CalledProcessError as error:
            return str(error.stdout).strip()
        return ""

    def python(self, environment: str) -> Path:
        """Return the Python of an environment."""
        return self.folder / environment / "bin" / "python"

    def _uv(self, *arguments: str) -> None:
        subprocess.run(
            [self.uv, *arguments, "--quiet"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )


def loads(python: Path, member: Member) -> str:
    """Import *member* and load its entry points with that Python; return what went wrong."""
    return run(python, "-I", "-c", IMPORT, member.name, member.module)


def run(*command: Path | str, limit: float = 60) -> str:
    """Run a command outside the checkout, and return what it said if it fails, else nothing.

    *limit* is in seconds; one that takes longer is killed and has failed.
    """
    try:
        finished = subprocess.run(
            command,
            cwd=os.sep,
            env={name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {limit:g} seconds"
    if finished.returncode:
        return finished.stdout.strip() or f"exit status {finished.returncode}, without a word"
    return ""
