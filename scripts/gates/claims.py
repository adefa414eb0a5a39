"""What a README says is missing, against what is there; and what the source says is missing.

The claim that something is missing is a sentence of one of a few forms with the thing's name in
backticks: `` `dsh.subagent_acp` does not exist yet``, ``there is no `dsh.subagent_acp` ``. A claim
with a qualification (`` `run` is not implemented on Windows``) is a limitation like any other.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gates.workspace import Member

_NAME: Final = r"`(?P<name>[^`]+)`"
_KIND: Final = r"(?:\s+(?:package|module|backend|provider|function|class|tool|command|capability))?"
_VERB: Final = r"(?:\s+(?:is|are|does|do|has|have))?(?:\s+(?:still|currently|as yet|yet))?"
_ABSENT: Final = (
    r"(?:not\s+(?:yet\s+)?(?:exist|implemented|written|there|available|built)|no\s+code"
    r"|missing|unimplemented|planned|deferred|empty|to\s+come)"
)
_UNQUALIFIED: Final = (
    r"(?!\s+(?:on|for|in|with|when|where|while|under|beyond|by|to|at|from|over)\b)"
)
_CLAIMS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_NAME}{_KIND}{_VERB}\s+{_ABSENT}\b(?:\s+yet)?{_UNQUALIFIED}",
        rf"\bthere\s+is\s+(?:still\s+|as\s+yet\s+|currently\s+)?no\s+{_NAME}{_UNQUALIFIED}",
        rf"\bno\s+{_NAME}{_KIND}\s+yet\b",
        rf"\b(?:until|once|when)\s+{_NAME}{_KIND}\s+(?:exists|is\s+(?:there|written|implemented))\b",
    )
)
_UNSUPPORTED: Final = re.compile(
    rf"{_NAME}{_KIND}{_VERB}\s+(?:not\s+(?:yet\s+)?supported|unsupported|refused){_UNQUALIFIED}",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(
    r"\bnothing\s+is\s+implemented\b|\bthe\s+package\s+(?:has\s+no\s+code|is\s+empty)\b",
    re.IGNORECASE,
)
_MARKER: Final = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


def false_claims(
    prose: str, limits: Sequence[str], member: Member, all_: Sequence[Member]
) -> list[str]:
    """Return what *member*'s README calls missing although it is there.

    Args:
        prose: The README without its code blocks; it may not say that a package with code has none.
        limits: The bullets of its limitations, each on one line.
        member: Whose README it is.
        all_: Every member of the workspace.
    """
    failures: list[str] = []
    if has_code(member) and (match := _NOTHING.search(prose)):
        failures.append(f"says {match[0]!r}, but {member.module} has code")
    for bullet in limits:
        named = [match["name"] for claim in _CLAIMS for match in claim.finditer(bullet)]
        failures += [
            f"calls `{name}` missing, but it exists: {bullet!r}"
            for name in dict.fromkeys(named)
            if _exists(name, member, all_)
        ]
        if unsupported := {match["name"] for match in _UNSUPPORTED.finditer(bullet)}:
            failures += [
                f"calls `{name}` unsupported, but {member.module} declares it: {bullet!r}"
                for name in sorted(unsupported & capabilities(member))
            ]
    return failures


def unmentioned_markers(limits: Sequence[str], member: Member) -> list[str]:
    """Return `file:line: …` of every TODO, FIXME and XXX whose file no limitation names."""
    named = "\n".join(limits)
    return [
        f"{path.relative_to(member.path)}:{number}: {match[0]} that no limitation mentions; do it, "
        f"or name `{path.name}` in a bullet"
        for path in member.sources
        if path.name not in named
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := _MARKER.search(line))
    ]


def has_code(member: Member) -> bool:
    """Whether there is more in the package than an `__init__.py` with a docstring."""
    return any(_statements(path) for path in member.sources)


def capabilities(member: Member) -> set[str]:
    """Return the capabilities that some `SubagentCapabilities(...)` of the package switches on."""
    return {
        keyword.arg
        for path in member.sources
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call) and _last_name(node.func) == "SubagentCapabilities"
        for keyword in node.keywords
        if keyword.arg and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    }


def _exists(name: str, member: Member, all_: Sequence[Member]) -> bool:
    name = name.partition("(")[0]
    if name in {public for path in member.sources for public in _public(path)}:
        return True
    if name in capabilities(member):
        return True
    dotted = name.replace("-", "_").replace("dsh_", "dsh.", 1)
    return any(_resolves(dotted, each) for each in all_)


def _resolves(dotted: str, member: Member) -> bool:
    """Whether *dotted* is the package, one of its modules or one of its public names."""
    if dotted == member.module:
        return has_code(member)
    if not dotted.startswith(member.module + "."):
        return False
    parts = dotted.removeprefix(member.module + ".").split(".")
    path = member.source.joinpath(*parts)
    if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
        return True
    door = member.source.joinpath(*parts[:-1])
    doors = (door / "__init__.py", door.with_suffix(".py"))
    return any(parts[-1] in _public(each) for each in doors if each.is_file())


def _public(path: Path) -> Iterator[str]:
    for node in _tree(path).body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id="__all__")], value=ast.List() | ast.Tuple() as names
            ):
                yield from (
                    str(name.value) for name in names.elts if isinstance(name, ast.Constant)
                )
            case _:
                pass


def _statements(path: Path) -> list[ast.stmt]:
    tree = _tree(path)
    return tree.body[1:] if ast.get_docstring(tree) is not None else tree.body


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
