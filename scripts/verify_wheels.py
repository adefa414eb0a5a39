"""Builds the wheels of the members and installs each alone: `scripts/wheels [PACKAGE ...]`.

Each goes into a clean environment with its dependencies and nothing else: the members it declares
as their own wheels, everything else in the versions of `uv.lock`. There it is imported and its
entry points are loaded, in isolated mode and outside the checkout. With `--into FOLDER` the wheels
that are meant for others are left there, and that is all.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gates.workspace import members
from shipping.metadata import faults
from shipping.order import published
from shipping.workshop import Workshop, find_uv

ROOT: Final = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per member; 0 when each installs alone and imports."""
    workspace = {member.name: member for member in members(ROOT)}
    parser = argparse.ArgumentParser(prog="scripts/wheels")
    parser.add_argument("--uv", default=find_uv(), help="the uv to use")
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="leave the published wheels there, do no more"
    )
    parser.add_argument("name", nargs="*", help="which members; all of them if none")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.name if name not in workspace]
    if unknown:
        parser.error(f"no member named {', '.join(unknown)}; there are {', '.join(workspace)}")
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(uv=options.uv, folder=Path(folder), workspace=workspace)
        try:
            workshop.prepare()
        except subprocess.CalledProcessError as error:
            print(f"FAIL the wheels do not build\n{error.stdout}")
            return 1
        if options.into is not None:
            return _leave(workshop, options.into)
        return _verify(workshop, options.name or [*workspace])


def _leave(workshop: Workshop, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for member in published(workshop.workspace):
        print(shutil.copy(workshop.wheel(member.name), folder))
    return 0


def _verify(workshop: Workshop, names: Sequence[str]) -> int:
    failed = False
    for name in names:
        member = workshop.workspace[name]
        problem = "\n".join(faults(workshop.wheel(name), member)) or workshop.verify(member)
        print(f"FAIL {name}\n{problem}" if problem else f"ok   {name}", flush=True)
        failed = failed or bool(problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
