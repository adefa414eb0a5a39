"""One version for the family, written in one place: `[project] version` of the root manifest.

Each member repeats it, so that it builds alone from its sdist, and asks for the other members in
the range that `span` makes of it. `scripts/release --set VERSION` writes all of them anew; this
gate finds any that is otherwise.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

from gates.gate import Gate
from gates.workspace import Member, members, read_toml

FORM: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
MEND: Final = "write it with `scripts/release --set VERSION`"

_VERSION: Final = re.compile(r'^version = "[^"]*"', re.MULTILINE)
_RANGE: Final = re.compile(r'"(?P<name>dsh-[a-z-]+(?:\[[a-z,-]+\])?)>=[\d.]+,<[\d.]+"')


def version(root: Path) -> str:
    """Return the version of the family; one that is not three numbers is a ValueError."""
    given = str(read_toml(root / "pyproject.toml").get("project", {}).get("version", ""))
    return _checked(given)


def span(version: str) -> str:
    """Return the versions that a member of *version* works with, as a requirement has them.

    Up to 1.0 the second number is the one that may break others, from then on the first is.
    """
    major, minor, _ = map(int, _checked(version).split("."))
    return f">={major}.{minor},<{major + 1}" if major else f">=0.{minor},<0.{minor + 1}"


def check(root: Path) -> list[str]:
    """Return each version and each range between members that does not follow the root's."""
    try:
        wanted = version(root)
    except ValueError as error:
        return [f"pyproject.toml: {error}"]
    family = members(root)
    return [
        f"{member.path.relative_to(root).as_posix()}/pyproject.toml: {what}; {MEND}"
        for member in family
        for what in _faults(member, wanted, {each.name for each in family})
    ]


def write(root: Path, version: str) -> list[str]:
    """Write *version* into every manifest, and the ranges with it; return which files changed."""
    wanted = span(version)
    changed: list[str] = []
    for path in (
        root / "pyproject.toml",
        *(each.path / "pyproject.toml" for each in members(root)),
    ):
        before = path.read_text(encoding="utf-8")
        after = _VERSION.sub(f'version = "{version}"', before, count=1)
        after = _RANGE.sub(lambda found: f'"{found["name"]}{wanted}"', after)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path.relative_to(root).as_posix())
    return changed


def _checked(given: str) -> str:
    if not FORM.fullmatch(given):
        raise ValueError(f"the version {given!r} is not three numbers, such as 0.1.0")
    return given


def _faults(member: Member, wanted: str, family: set[str]) -> Iterator[str]:
    given = member.manifest["project"].get("version", "")
    if given != wanted:
        yield f"its version is {given!r}, the root's is {wanted!r}"
    for requirement in map(Requirement, _requirements(member.manifest)):
        if (
            requirement.name in family
            and requirement.specifier != Requirement(f"x{span(wanted)}").specifier
        ):
            yield f"asks for {str(requirement)!r} instead of {span(wanted)!r}"


def _requirements(manifest: Mapping[str, Any]) -> list[str]:
    """Return every requirement of a manifest: its dependencies, its extras, its groups."""
    project = manifest["project"]
    extras: Mapping[str, list[str]] = project.get("optional-dependencies", {})
    groups: Mapping[str, list[object]] = manifest.get("dependency-groups", {})
    return [
        *project.get("dependencies", []),
        *(each for extra in extras.values() for each in extra),
        *(each for group in groups.values() for each in group if isinstance(each, str)),
    ]


GATE: Final = Gate(name="versions", check=check)
