"""`docs/packages.md`: the package graph, and which part of each seam a package is.

A member says its part in its manifest: `[tool.dsh.seams]`, the seam's name to one of the roles.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from packaging.requirements import Requirement

from gates.workspace import Member, members
from pages.page import NOTICE, Page, table

PATH: Final = "docs/packages.md"
ROLES: Final = ("interface", "implementation", "consumer")


def render(root: Path) -> Mapping[str, str]:
    """Return the page."""
    return {PATH: "".join(_page(members(root)))}


def _page(family: Sequence[Member]) -> Iterator[str]:
    yield f"# Packages\n{NOTICE}\n"
    yield (
        "One distribution per package, all in the namespace `dsh`. An arrow points from a package"
        " to one it depends on.\n\n```mermaid\ngraph TD\n"
    )
    names = {member.name for member in family}
    for member in family:
        inner = [each for each in needs(member) if each in names]
        yield f"    {member.name}\n" if not inner else ""
        yield from (f"    {member.name} --> {each}\n" for each in inner)
    yield "```\n\n"
    yield table(
        ("Distribution", "Import", "What it is", "Depends on", "Extras"),
        [
            (
                f"[{member.name}](../packages/{member.path.name}/README.md)"
                + (" (private)" if member.private else ""),
                f"`{member.module}`",
                str(member.manifest["project"].get("description", "")),
                ", ".join(needs(member)),
                ", ".join(_extras(member)),
            )
            for member in family
        ],
    )
    yield (
        "\n## Seams\n\nA seam is an interface with more than one possible implementation. Its"
        " consumers know the interface only.\n\n"
    )
    yield table(
        ("Seam", *(role.capitalize() for role in ROLES)),
        [
            (seam, *(", ".join(parts.get(role, ())) for role in ROLES))
            for seam, parts in seams(family).items()
        ],
    )


def needs(member: Member) -> list[str]:
    """Return the names of the distributions *member* needs, without its extras, sorted."""
    given: list[str] = member.manifest["project"].get("dependencies", [])
    return sorted(Requirement(each).name for each in given)


def _extras(member: Member) -> Iterator[str]:
    extras: dict[str, list[str]] = member.manifest["project"].get("optional-dependencies", {})
    for extra, given in extras.items():
        yield f"{extra}: {', '.join(sorted(Requirement(each).name for each in given))}"


def roles(member: Member) -> Mapping[str, str]:
    """Return the role of *member* by the seam it is part of."""
    tool: Mapping[str, Any] = member.manifest.get("tool", {}).get("dsh", {})
    return cast("Mapping[str, str]", tool.get("seams", {}))


def seams(family: Sequence[Member]) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the distributions of each seam by their role in it."""
    found: dict[str, dict[str, list[str]]] = {}
    for member in family:
        for seam, role in roles(member).items():
            found.setdefault(seam, {}).setdefault(role, []).append(member.name)
    return dict(sorted(found.items()))


def faults(root: Path) -> Iterator[str]:
    """Yield what is wrong with the roles the manifests state."""
    family = members(root)
    needed = {member.name: {*needs(member)} for member in family}
    for seam, parts in seams(family).items():
        for role in parts.keys() - {*ROLES}:
            yield f"{', '.join(parts[role])}: {role!r} is no role; there are {', '.join(ROLES)}"
        interfaces = parts.get("interface", ())
        if len(interfaces) != 1:
            yield f"seam {seam}: one package is its interface, not {len(interfaces)}"
            continue
        (interface,) = interfaces
        implementations, consumers = parts.get("implementation", ()), parts.get("consumer", ())
        for name in [*implementations, *consumers]:
            if interface not in needed[name]:
                yield f"{name}: part of seam {seam}, so it depends on {interface}"
        for name in consumers:
            for other in sorted(needed[name] & {*implementations}):
                yield f"{name}: a consumer of seam {seam} knows {interface}, not {other}"


PAGE: Final = Page(name="packages", owns=PATH, render=render)
