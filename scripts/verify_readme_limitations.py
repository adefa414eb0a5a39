"""Every package README says what the package lacks, in one place and honestly.

The rule stands in `packages/README.md`. Run it alone, as a script of Python, or as a gate,
`scripts/check readme_limitations`. It reads and never writes.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gates.claims import false_claims, unmentioned_markers
from gates.gate import Gate
from gates.markdown import Heading, bullets, headings, prose_lines, section
from gates.workspace import PACKAGES, Member, members

CANONICAL_HEADING: Final = "## Known Limitations and Deferred Work"
MAX_WORDS: Final = 80
"""A longer bullet explains; explanations belong above it or in `docs/`."""

NO_LIMITATIONS: Final[Mapping[str, str]] = MappingProxyType({})
"""Packages that have nothing to limit, each with the reason; such a README has no section."""

_LIKE: Final = re.compile(
    r"\blimitations?\b|deferred work|what is not here|^deferred|^non-goals?\b", re.IGNORECASE
)


def is_limitations_like(text: str) -> bool:
    """Whether a heading of this *text* competes with the canonical one."""
    return _LIKE.search(text) is not None


def check_package(path: Path, *, whitelist: Mapping[str, str] = NO_LIMITATIONS) -> list[str]:
    """Return what is wrong with the README of the package in the folder *path*."""
    (member,) = [each for each in members(path.parents[1]) if each.path == path]
    return _check_member(member, members(path.parents[1]), whitelist)


def check(root: Path, *, whitelist: Mapping[str, str] = NO_LIMITATIONS) -> list[str]:
    """Return what is wrong with the README of any member, and with the whitelist."""
    workspace = members(root)
    folders = {member.path.name for member in workspace}
    failures = [
        f"NO_LIMITATIONS: {name!r} is no package; there are {', '.join(sorted(folders))}"
        for name in whitelist
        if name not in folders
    ]
    failures += [
        f"NO_LIMITATIONS: {name!r} has no reason"
        for name, reason in whitelist.items()
        if not reason.strip()
    ]
    for member in workspace:
        failures += _check_member(member, workspace, whitelist)
    return failures


def _check_member(
    member: Member, workspace: list[Member], whitelist: Mapping[str, str]
) -> list[str]:
    where = f"{PACKAGES}/{member.path.name}"
    readme = member.path / "README.md"
    if not readme.is_file():
        return [f"{where}/README.md: missing"]
    prose = prose_lines(readme.read_text(encoding="utf-8"))
    like = [heading for heading in headings(prose) if is_limitations_like(heading.text)]
    if member.path.name in whitelist:
        limits: list[str] = []
        failures = [f":{each.number}: has {each.line!r}, but is whitelisted" for each in like]
    else:
        limits, failures = _section(prose, like)
    failures += [
        f": {claim}" for claim in false_claims("\n".join(prose), limits, member, workspace)
    ]
    return [
        *(f"{where}/README.md{failure}" for failure in failures),
        *(f"{where}/{marker}" for marker in unmentioned_markers(limits, member)),
    ]


def _section(prose: list[str], like: list[Heading]) -> tuple[list[str], list[str]]:
    """Return the bullets of the section, and what is wrong with it."""
    canonical = [heading for heading in like if heading.line == CANONICAL_HEADING]
    failures = [
        f":{each.number}: {each.line!r} competes with {CANONICAL_HEADING!r}; keep that one alone"
        for each in like
        if each not in canonical[:1]
    ]
    if not canonical:
        return [], [*failures, f": has no heading {CANONICAL_HEADING!r}"]
    heading = canonical[0]
    limits = bullets(section(prose, heading))
    if not limits:
        failures.append(f":{heading.number}: no bullet, a line that begins with '- ', follows")
    failures += [
        f":{heading.number}: a bullet of {count} words, {MAX_WORDS} are the limit: {limit!r}"
        for limit in limits
        if (count := len(limit.split())) > MAX_WORDS
    ]
    failures += [
        f":{later.number}: {later.line!r} follows the limitations, which come last"
        for later in headings(prose)
        if later.number > heading.number and later not in like
    ]
    return limits, failures


GATE: Final = Gate(name="readme_limitations", check=check)


def main() -> int:
    """Check this repository: print every failure, or how many READMEs hold; 1 or 0."""
    root = Path(__file__).resolve().parents[1]
    failures = check(root)
    print("\n".join(failures) or f"{len(members(root))} READMEs state their limitations")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
