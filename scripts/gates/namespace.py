"""The namespace `dsh` is shared: no portion may claim it, and each is complete in itself."""

import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

from gates.gate import Gate
from gates.workspace import Member, members, read_toml

CLAIMS: Final = frozenset({"dsh.py", "dsh/__init__.py", "dsh/__init__.pyi"})


def check(root: Path) -> list[str]:
    """Say which members break the namespace or lack a file every member has."""
    found = members(root)
    failures = [failure for member in found for failure in _member(member, root)]
    return failures + _development_group(root, found) + intruders(sys.path)


def _member(member: Member, root: Path) -> list[str]:
    where = member.path.relative_to(root)
    failures: list[str] = []
    if member.path.name != member.name:
        failures.append(f"{where}: the folder is not named after its distribution {member.name!r}")
    failures += [
        f"{stray.relative_to(root)}: hides every other portion of the namespace; delete it"
        for stray in sorted(member.path.glob("src/dsh/__init__.py*"))
    ]
    portions = sorted(
        path.name for path in member.path.glob("src/*/*") if path.name != "__pycache__"
    )
    if portions != [member.source.name]:
        failures.append(f"{where}/src: has {portions}, expected {member.module} alone")
    required = ("README.md", "LICENSE", (member.source / "py.typed").relative_to(member.path))
    failures += [
        f"{where / name}: missing" for name in required if not (member.path / name).is_file()
    ]
    return failures


def _development_group(root: Path, found: list[Member]) -> list[str]:
    listed: list[object] = read_toml(root / "pyproject.toml")["dependency-groups"]["dev"]
    return [
        f"pyproject.toml: {member.name} is missing in the dev group, so plain `uv sync` skips it"
        for member in found
        if member.name not in listed
    ]


def intruders(path: Sequence[str]) -> list[str]:
    """Name the distributions on *path* that claim `dsh` as a package of their own.

    One `dsh/__init__.py`, from wherever, makes every portion of ours `ModuleNotFoundError`.
    """
    return [
        f"the environment: {name} {distribution.version} claims the package `dsh` and is no part "
        f"of this workspace; uninstall it"
        for distribution in distributions(path=list(path))
        if (name := distribution.metadata["Name"]) == "dsh" or _claims(distribution)
    ]


def _claims(distribution: Distribution) -> bool:
    return any(file.as_posix() in CLAIMS for file in distribution.files or ())


GATE: Final = Gate(name="namespace", check=check)
