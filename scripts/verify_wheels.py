"""Builds the wheels of the members and installs each alone: `scripts/wheels [PACKAGE ...]`.

Each goes into a clean environment with its dependencies and nothing else: the members it declares
as their own wheels, everything else in the versions of `uv.lock`. There it is imported and its
entry points are loaded, in isolated mode and outside the checkout.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from gates.workspace import Member, members

ROOT: Final = Path(__file__).resolve().parents[1]
IMPORT: Final = """
import importlib, importlib.metadata, sys
distribution, module = sys.argv[1:]
importlib.import_module(module)
for entry_point in importlib.metadata.distribution(distribution).entry_points:
    entry_point.load()
"""


def dependencies(member: Member, workspace: Mapping[str, Member]) -> list[str]:
    """Return the members that *member* needs, itself first, through whatever they need."""
    found = [member.name]
    for name in found:  # grows while it is walked
        declared: Sequence[str] = workspace[name].manifest["project"].get("dependencies", [])
        names = [re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in declared]
        found += [each for each in names if each in workspace and each not in found]
    return found


def foreign_files(wheel: Path, member: Member) -> list[str]:
    """Return the files of *wheel* that are outside the member's own part of the namespace."""
    portion = member.module.replace(".", "/") + "/"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    return [name for name in names if not name.startswith(portion) and ".dist-info/" not in name]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A folder to build and install in, and the uv that does it."""

    uv: str
    folder: Path
    workspace: Mapping[str, Member]

    @property
    def constraints(self) -> Path:
        """The file with the locked version of everything that is not a member."""
        return self.folder / "constraints.txt"

    def prepare(self) -> None:
        """Build every wheel and write the constraints."""
        self._uv("build", "--all-packages", "--wheel", f"--out-dir={self.folder}")
        self._uv(
            *("export", "--locked", "--all-packages", "--all-groups", "--no-emit-workspace"),
            *("--no-hashes", "--no-annotate", f"--output-file={self.constraints}"),
        )

    def wheel(self, name: str) -> Path:
        """Return the built wheel of the distribution *name*."""
        (found,) = self.folder.glob(f"{name.replace('-', '_')}-*.whl")
        return found

    def verify(self, member: Member) -> str:
        """Install *member* alone and import it; return what went wrong, or nothing."""
        foreign = foreign_files(self.wheel(member.name), member)
        if foreign:
            return f"the wheel ships files outside {member.module}: {', '.join(foreign)}"
        environment = self.folder / member.name
        python = environment / "bin" / "python"
        wheels = [str(self.wheel(name)) for name in dependencies(member, self.workspace)]
        try:
            self._uv("venv", f"--python={sys.executable}", str(environment))
            self._uv(
                *("pip", "install", f"--python={python}", f"--constraints={self.constraints}"),
                *wheels,
            )
            _run(str(python), "-I", "-c", IMPORT, member.name, member.module, cwd=self.folder)
        except subprocess.CalledProcessError as error:
            return str(error.stdout).strip()
        return ""

    def _uv(self, *arguments: str) -> None:
        _run(self.uv, *arguments, "--quiet", cwd=ROOT)


def _run(*command: str, cwd: Path) -> None:
    subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per member; 0 when each installs alone and imports."""
    workspace = {member.name: member for member in members(ROOT)}
    parser = argparse.ArgumentParser(prog="scripts/wheels")
    parser.add_argument("--uv", default="uv", help="the uv to use")
    parser.add_argument("name", nargs="*", help="which members; all of them if none")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.name if name not in workspace]
    if unknown:
        parser.error(f"no member named {', '.join(unknown)}; there are {', '.join(workspace)}")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(uv=options.uv, folder=Path(folder), workspace=workspace)
        try:
            workshop.prepare()
        except subprocess.CalledProcessError as error:
            print(f"FAIL the wheels do not build\n{error.stdout}")
            return 1
        for name in options.name or workspace:
            problem = workshop.verify(workspace[name])
            print(f"FAIL {name}\n{problem}" if problem else f"ok   {name}", flush=True)
            failed = failed or bool(problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
