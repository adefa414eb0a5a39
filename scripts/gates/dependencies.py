"""Each member declares what it imports, and imports what it declares.

The source may use the dependencies and the extras of its manifest, the tests also the group `test`.
A dependency that is needed but never imported is written down in the manifest with its reason:
`[tool.dsh.unimported]`, the distribution to the reason. A package that imports nothing at all, or
says that it is unfinished (`[tool.dsh] unfinished`), may declare what it will need.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final, cast

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gates.gate import Gate
from gates.workspace import Member, members


@cache
def _installed() -> Mapping[str, set[str]]:
    """Return the distributions a top-level import may come from, by its name."""
    return {
        module: {str(canonicalize_name(each)) for each in distributions}
        for module, distributions in packages_distributions().items()
    }


def check(root: Path) -> list[str]:
    """Return each import without a declaration, and each declaration without an import."""
    return [
        f"{member.path.relative_to(root).as_posix()}{what}"
        for member in members(root)
        for what in _faults(member)
    ]


def _faults(member: Member) -> Iterator[str]:
    group: list[object] = member.manifest.get("dependency-groups", {}).get("test", [])
    allowed = _declared(member) | _optional(member) | {canonicalize_name(member.name)}
    source = _imports(member, member.sources)
    tests = _imports(member, sorted((member.path / "tests").rglob("*.py")))
    yield from _undeclared(source, allowed, "its dependencies")
    allowed |= _names([each for each in group if isinstance(each, str)])
    yield from _undeclared(tests, allowed, "its group `test`")

    idle, excused = _idle(member), _excused(member)
    if source and not member.unfinished:
        yield from (f": {name} is declared and never imported" for name in sorted(idle - excused))
    for name in sorted(excused - idle):
        yield f": [tool.dsh.unimported] names {name}, which is imported or not declared"


def never_imported(member: Member) -> set[str]:
    """Return the dependencies of *member* that its source does not use, without an excuse."""
    return _idle(member) - _excused(member)


def _idle(member: Member) -> set[str]:
    source = _imports(member, member.sources)
    imported = {name for candidates in source.values() for name in candidates}
    return (_declared(member) | _optional(member)) - imported


def _excused(member: Member) -> set[str]:
    reasons = cast(
        "Mapping[str, str]", member.manifest.get("tool", {}).get("dsh", {}).get("unimported", {})
    )
    return {canonicalize_name(name) for name, reason in reasons.items() if reason.strip()}


def _declared(member: Member) -> set[str]:
    return _names(member.manifest["project"].get("dependencies", []))


def _optional(member: Member) -> set[str]:
    extras = member.manifest["project"].get("optional-dependencies", {}).values()
    return {name for extra in extras for name in _names(extra)}


def _names(requirements: Sequence[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def _undeclared(
    imports: Mapping[tuple[str, str], set[str]], allowed: set[str], where: str
) -> Iterator[str]:
    for (place, module), candidates in imports.items():
        if candidates.isdisjoint(allowed):
            known = " or ".join(sorted(candidates))
            yield f"/{place}: imports {module}; {known} is not among {where}"


def _imports(member: Member, files: Sequence[Path]) -> dict[tuple[str, str], set[str]]:
    """Return the distributions each import may come from, by `file:line` and the module's name."""
    local = {path.stem for path in files if "tests" in path.parts}
    found: dict[tuple[str, str], set[str]] = {}
    for path in files:
        where = path.relative_to(member.path).as_posix()
        for line, module in _modules(ast.parse(path.read_text(encoding="utf-8"))):
            top, *rest = module.split(".")
            if top in sys.stdlib_module_names or top in local:
                continue
            if top == "dsh":
                part = rest[0].replace("_", "-") if rest else ""
                found[f"{where}:{line}", module] = {f"dsh-{part}"}
            else:
                found[f"{where}:{line}", module] = _installed().get(top, {canonicalize_name(top)})
    return found


def _modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, each.name) for each in names)
            case ast.ImportFrom(module="dsh", names=names):
                yield from ((node.lineno, f"dsh.{each.name}") for each in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module
            case _:
                pass


GATE: Final = Gate(name="dependencies", check=check)
